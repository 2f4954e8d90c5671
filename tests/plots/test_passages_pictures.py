"""Pictures of sections, maps, diagrams, times and scans hold their numbers, under their names."""

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
    with pytest.raises(ValueError, match="no component 'z'"):
        section.plot(components=("x", "z"))
    with pytest.raises(ValueError, match="two names"):
        section.plot(components="x")
    _, own = matplotlib.pyplot.subplots()
    assert section.plot(ax=own) is own


def test_a_return_map_has_its_diagonal():
    section = pi.analysis.crossings(DAMPED, "v", direction=-1, dt=0.05, t_end=20.0)
    found = pi.analysis.return_map(section)
    ax = found.plot()
    assert np.array_equal(dots(ax), [found.now, found.then])
    assert labels(ax) == ("x [m]", "next x [m]")
    (line,) = ax.get_lines()
    assert np.array_equal(*line.get_data())
    assert not found.plot(diagonal=False).get_lines()


def test_an_orbit_diagram_is_over_its_parameter():
    found = pi.analysis.orbit_diagram(pi.systems.driven_pendulum,
                                      {"amplitude": np.linspace(0.5, 1, 5)}, "omega",
                                      period=3 * np.pi, dt=0.1, t_end=99.0, after=50.0)  # fmt: skip
    ax = found.plot()
    assert np.array_equal(dots(ax), [found.at, found.values])
    assert labels(ax)[1] == "ω [rad/s]"
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


def test_exits_are_named(leaving):
    ax = leaving.plot(exits=True)
    bar = ax.collections[0].colorbar
    assert [text.get_text() for text in bar.ax.get_yticklabels()] == ["none", "left", "right"]
    ax.figure.canvas.draw()


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


@pytest.mark.parametrize(("measure", "text", "scale"), [
    (pi.watch.max_abs("energy_error"), "largest |energy error|", "log"),
    (pi.watch.slope("omega"), "slope of ω [rad/s/s]", "linear"),
    (pi.watch.periods("theta"), "period of θ [s]", "linear"),
    (pi.event("theta"), "first time of theta = 0 [s]", "linear"),
    (pi.event("theta", keep=0), "crossings of theta = 0", "linear"),
    (lambda sol: sol.x[-1], "", "linear"),
])  # fmt: skip
def test_a_scan_of_one_axis_is_a_line(measure, text, scale):
    found = pi.scan(pi.systems.pendulum, {"theta": [0.5, 1.0, 2.0]}, measure, dt=0.05, t_end=9.0)
    ax = found.plot()
    (line,) = ax.get_lines()
    assert np.array_equal(line.get_data(), [found["theta"], found.values])
    assert labels(ax) == ("initial θ [rad]", text)
    assert ax.get_yscale() == scale
    assert found.plot(label="mine", c="r").get_ylabel() == "mine"


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
