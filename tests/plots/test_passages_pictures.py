"""Pictures of sections, maps, diagrams, times and scans hold their numbers, under their names."""

import pickle
from functools import partial

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

pytestmark = pytest.mark.usefixtures("no_side_effects")
DAMPED = pi.systems.spring(k=15.0, b=0.5)


def dots(ax):
    (points,) = ax.collections
    return points.get_offsets().T


def labels(ax):
    return ax.get_xlabel(), ax.get_ylabel()


def test_a_section_is_drawn_over_what_varies():
    section = pi.analysis.crossings(pi.systems.henon_heiles, "x", dt=0.05, t_end=100.0)
    ax = section.plot(title="order", s=9)
    assert labels(ax) == ("y", "vy")
    assert ax.get_title("left") == "order"
    assert np.array_equal(dots(ax), [section["y"], section["vy"]])
    assert np.array_equal(dots(pi.plots.section(section, ("x", "vy")))[1], section["vy"])
    with pytest.raises(ValueError, match="components must be some of t, x"):
        section.plot(components=("x", "z"))
    with pytest.raises(ValueError, match="two names"):
        section.plot(components="x")
    _, own = matplotlib.pyplot.subplots()
    assert section.plot(ax=own) is own


def test_a_section_of_one_component_is_drawn_over_time():
    """Where v = 0, v is rounding."""
    section = pi.analysis.crossings(DAMPED, "v", dt=0.05, t_end=20.0)
    ax = section.plot()
    assert labels(ax) == ("time [s]", "x [m]")
    assert np.array_equal(dots(ax), [section.t, section["x"]])


def test_a_return_map_has_its_diagonal():
    section = pi.analysis.crossings(DAMPED, "v", direction=-1, dt=0.05, t_end=20.0)
    found = pi.analysis.return_map(section)
    ax = found.plot()
    assert np.array_equal(dots(ax), [found.now, found.then])
    assert labels(ax) == ("x [m]", "next x [m]")
    (line,) = ax.get_lines()
    assert np.array_equal(*line.get_data())


def test_a_bifurcation_diagram_is_over_its_parameter():
    found = pi.analysis.bifurcation(pi.systems.driven_pendulum,
                                    {"amplitude": np.linspace(0.5, 1, 5)}, "omega",
                                    period=3 * np.pi, dt=0.1, transient=50.0, keep=4)  # fmt: skip
    ax = found.plot()
    assert np.array_equal(dots(ax), [np.repeat(found.at, 4), found.values.ravel()])
    assert labels(ax)[1] == "ω once a period [rad/s]"
    assert labels(ax)[0].startswith("amplitude")


@pytest.fixture(scope="module")
def leaving():
    angle, speed = np.linspace(-3, 3, 9), np.linspace(-9, 9, 7)[:, np.newaxis]
    walls = {"left": lambda t, x, v: -np.pi - x, "right": lambda t, x, v: x - np.pi}
    return pi.analysis.escape_times(pi.systems.pendulum, walls, angle, speed, dt=0.02, t_end=3.0)


def test_times_are_colours_and_grey_where_there_is_none(leaving):
    ax = leaving.plot()
    shown = np.ma.asarray(ax.collections[0].get_array()).reshape(7, 9)
    assert np.array_equal(np.ma.getmaskarray(shown), ~leaving.passed)
    assert np.array_equal(shown.compressed(), leaving.t[leaving.passed])
    assert labels(ax) == ("initial θ [rad]", "initial ω [rad/s]")
    assert ax.collections[0].colorbar.ax.get_ylabel() == "time of the passage [s]\n(grey: none)"


def test_exits_are_classes_of_a_heat_map(leaving):
    ax = pi.plots.heatmap(leaving.solution, leaving.exit)
    assert np.array_equal(ax.collections[0].get_array(), leaving.exit)
    assert ax.collections[0].colorbar.get_ticks().tolist() == [-1, 0, 1]


def test_who_remains_is_a_curve():
    found = pi.analysis.first_passages(pi.systems.pendulum, "theta", np.linspace(0.1, 3, 40), 0.0,
                                       dt=0.02, t_end=1.0)  # fmt: skip
    ax = found.plot()
    (line,) = ax.get_lines()
    x, y = line.get_data()
    assert y[0] == 1.0
    assert y[-1] == pytest.approx(1 - found.passed.mean())
    assert np.array_equal(x[1:-1], np.sort(found.t[found.passed]))
    assert labels(ax) == ("time [s]", "part that remains")
    assert found.plot(log=True).get_yscale() == "log"


def test_a_scan_of_two_axes_has_the_first_to_the_right():
    k, b = np.linspace(1, 90, 4), np.linspace(0, 3, 6)
    found = pi.scan(pi.systems.spring, {"k": k, "b": b}, pi.watch.rms("x"), dt=0.1, t_end=3.0)
    ax = found.plot()
    assert labels(ax) == ("k [N/m]", "b [kg/s]")
    shown = np.asarray(ax.collections[0].get_array()).reshape(6, 4)
    assert np.array_equal(shown, found.values.T)
    assert ax.collections[0].colorbar.ax.get_ylabel() == "rms of x [m]"


def turning_back(t, x, v):
    return (v > 0) & (t > 0)


@pytest.mark.parametrize(("measure", "text", "scale"), [
    (pi.watch.max_abs("energy_error"), "largest |energy error|", "log"),
    (pi.watch.slope("omega"), "slope of ω [rad/s/s]", "linear"),
    (pi.watch.slope("energy_error"), "slope of energy error [1/s]", "linear"),
    (pi.watch.last("phase_drift"), "last of phase drift [rad]", "linear"),
    (pi.watch.periods("theta"), "mean period of θ [s]", "linear"),
    (pi.event("theta"), "first time of θ = 0 [s]", "linear"),
    (pi.event("theta", level=0.25), "first time of θ = 0.25 [s]", "linear"),
    (pi.event("theta", level=[0.1, 0.2, 0.3]), "first time of θ = its level [s]", "linear"),
    (pi.event("theta", keep=0), "crossings of θ = 0", "linear"),
    (pi.event(turning_back), "first time of turning back [s]", "linear"),
    (lambda sol: sol.x[-1], "quantity", "linear"),
    (partial(lambda sol: sol.x[-1]), "quantity", "linear"),
])  # fmt: skip
def test_a_scan_of_one_axis_is_a_line(measure, text, scale):
    found = pi.scan(pi.systems.pendulum, {"theta": [0.5, 1.0, 2.0]}, measure, dt=0.05, t_end=9.0)
    ax = found.plot()
    (line,) = ax.get_lines()
    assert np.array_equal(line.get_data(), [found["theta"], found.values])
    assert labels(ax) == ("initial θ [rad]", text)
    assert labels(pickle.loads(pickle.dumps(found)).plot()) == labels(ax)
    assert ax.get_yscale() == scale
    assert found.plot(label="mine", c="r").get_ylabel() == "mine"


def test_values_between_gaps_are_visible():
    every = lambda sol: np.where(np.arange(4) % 2, np.nan, 1.0)  # noqa: E731
    found = pi.scan(pi.systems.spring, {"k": [1.0, 2, 3, 4]}, every, dt=0.1, t_end=1.0)
    assert found.plot().get_lines()[0].get_marker() == "o"


def test_a_scan_of_three_axes_says_how_to_be_drawn():
    axes = {"k": [1.0, 2.0], "b": [0.1], "x": [1.0]}
    found = pi.scan(pi.systems.spring, axes, pi.watch.last("x"), dt=0.1, t_end=1.0)
    with pytest.raises(ValueError, match="one number over one or two"):
        found.plot()


def test_stopped_trajectories_are_shown():
    angle, speed = np.linspace(-3, 3, 9), np.linspace(-9, 9, 7)[:, np.newaxis]
    stop = {"down": pi.event("theta", stop=True)}
    sol = pi.integrate(pi.systems.pendulum, angle, speed, dt=0.02, t_end=3.0, save="final",
                       events=stop)  # fmt: skip
    ax = pi.plots.heatmap(sol, "omega")
    assert not np.ma.getmaskarray(ax.collections[0].get_array()).any()


# ---- orbits of a section -------------------------------------------------------------------------

SWINGS = np.linspace(0.5, 2.5, 5)


def hues(ax):
    """The colour of each point."""
    (points,) = ax.collections
    ax.figure.canvas.draw()
    return points.get_facecolors()


def passing(system=pi.systems.pendulum, start=SWINGS):
    return pi.analysis.crossings(system, "omega", start, 0.0, dt=0.05, t_end=20.0, direction=0)


@pytest.mark.parametrize("count", [2, 5, 6, 9])
def test_each_orbit_of_a_section_has_a_colour(count):
    section = passing(start=np.linspace(0.5, 2.5, count))
    ax = section.plot(components=("theta", "omega"))
    colours, colour_of = hues(ax), {}
    for colour, orbit in zip(colours, section.trajectory, strict=True):
        assert colour_of.setdefault(orbit, tuple(colour)) == tuple(colour)
    assert len(set(colour_of.values())) == min(count, 6)
    names = ax.get_legend_handles_labels()[1]
    if count > 6:
        assert ax.get_title("right") == "9 orbits in 6 colours"
        assert not names
    else:
        assert names == [f"trajectory {i}" for i in range(count)]
    assert len({tuple(one) for one in hues(section.plot(c="k"))}) == 1
    assert not passing(start=1.0).plot().get_legend_handles_labels()[1]


def test_the_parameters_of_orbits_are_in_the_legend_of_a_section():
    lengths = np.linspace(0.5, 3, 4)
    section = passing(pi.systems.pendulum(length=lengths), 1.0)
    names = section.plot().get_legend_handles_labels()[1]
    assert names == [f"length = {length:.4g} m" for length in lengths]


def test_several_systems_of_a_bifurcation_diagram_are_told_apart():
    swings = pi.systems.duffing(delta=[0.2, 0.4])
    run = {"period": 2 * np.pi / 1.2, "dt": 0.05, "transient": 50.0, "keep": 4}
    found = pi.analysis.bifurcation(swings, {"gamma": [0.2, 0.25, 0.3]}, "x", **run)
    ax = found.plot()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["δ = 0.2 1/s", "δ = 0.4 1/s"]
    (points,) = ax.collections
    colours = points.get_facecolors().reshape(3, 2, 4, 4)
    for number, line in enumerate(ax.get_lines()):
        assert np.allclose(colours[:, number], matplotlib.colors.to_rgba(line.get_color()))


def test_the_axis_of_a_bifurcation_diagram_says_where_it_was_taken():
    drives = {"c": np.linspace(2, 4, 3)}
    options = {"dt": 0.05, "t_end": 100.0, "transient": 60.0}
    for quantity, section, text in [
        ("x", "y", "x where y = 0"),
        (lambda t, y: y[0] + y[1], "y", "quantity where y = 0"),
        ("x", lambda t, y: y[1] - y[0], "x at its section"),
    ]:
        found = pi.analysis.bifurcation(
            pi.systems.rossler, drives, quantity, section=section, **options
        )
        assert labels(found.plot()) == ("c", text)
    found = pi.analysis.bifurcation(
        pi.systems.pendulum,
        {"length": [1.0, 2.0]},
        "theta",
        1.0,
        0.0,
        dt=0.05,
        t_end=9.0,
        transient=0.0,
    )
    assert labels(found.plot())[1] == "θ at its maxima [rad]"
    found = pi.analysis.bifurcation(  # over starts: its picture took them for a parameter
        pi.systems.rossler, {"x": [1.0, 2.0]}, "z", dt=0.05, t_end=9.0, transient=0.0
    )
    assert labels(found.plot()) == ("x", "z at its maxima")


# ---- basins --------------------------------------------------------------------------------------


def wells(count=20):
    x, v = np.linspace(-2, 2, count), np.linspace(-2, 2, 16)[:, np.newaxis]
    sol = pi.integrate(
        pi.systems.duffing(gamma=0.0, delta=0.5), x, v, dt=0.1, t_end=60.0, save="final"
    )
    return pi.analysis.basin(sol)


def test_basins_are_colours_with_a_legend_of_attractors():
    found = wells()
    ax = found.plot(title="Which well?")
    assert labels(ax) == ("initial x [m]", "initial v [m/s]")
    assert np.array_equal(np.asarray(ax.collections[0].get_array()).reshape(16, 20), found.label)
    (legend,) = ax.figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert len(texts) == len(found.attractors) == 2
    for text, place, part in zip(texts, found.attractors, found.share(), strict=True):
        text = text.replace("\N{MINUS SIGN}", "-")
        assert text == f"x = {place[0]:.3g} m, v = 0 m/s: {100 * part:.3g} %"
    assert max(ax.get_xlim()) > 2
    assert max(ax.get_ylim()) > 2
    (dots,) = ax.get_lines()
    assert np.allclose(dots.get_xydata(), found.attractors)
    ax.figure.canvas.draw()
    assert legend.get_window_extent().y1 < ax.bbox.y0
    _, own = matplotlib.pyplot.subplots()
    assert found.plot(ax=own, legend=False) is own
    assert own.get_legend() is None


def test_of_many_attractors_the_commonest_are_named():
    label = np.repeat(np.arange(-1, 9), 6).reshape(10, 6)
    places = np.arange(9.0)[:, np.newaxis]
    found = pi.analysis.Basins(label, places, ("x",), pi.systems.spring)
    ax = found.plot()
    texts = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert texts[:2] == ["x = 0 m: 10 %", "x = 1 m: 10 %"]
    assert texts[-2:] == ["4 others: 40 %", "none: 10 %"]
    with pytest.raises(ValueError, match=r"two axes, and this one has the shape \(60,\)"):
        pi.analysis.Basins(label.ravel(), places, ("x",), pi.systems.spring).plot()
