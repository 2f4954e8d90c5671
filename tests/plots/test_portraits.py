"""Pictures of the map of a motion: what they show is what was computed."""

import numpy as np
import pytest

import pyintegrate as pi

BOX = {"x": (-2, 2), "v": (-1.5, 1.5)}


def labels(ax):
    return list(ax.get_legend_handles_labels()[1])


def test_a_phase_plane_names_all_that_it_shows():
    sol = pi.integrate(pi.systems.duffing(gamma=0.0), [0.5, 1.5], 0.5, dt=0.05, t_end=5.0)
    ax = pi.plots.phase_plane(pi.systems.duffing, BOX, solution=sol, title="two wells")
    names = labels(ax)
    assert {"stable focus", "saddle", "stable manifold", "unstable manifold"} < set(names)
    assert ax.get_title(loc="right") == "without its drive: γ = 0"
    assert ax.get_xlim() == (-2, 2)
    marks = {line.get_label(): line.get_xydata() for line in ax.lines}
    assert marks["stable focus"] == pytest.approx(np.array([[-1, 0], [1, 0]]), abs=1e-12)


def test_motions_of_many_turns_are_seen_among_the_field_lines():
    well = pi.systems.duffing(gamma=0.0, delta=0.2)
    sol = pi.integrate(well, 1.4, 0.0, dt=0.01, t_end=60.0)
    ax = pi.plots.phase_plane(well, BOX, solution=sol, n=50, length=0)
    (line,) = [one for one in ax.lines if len(one.get_xdata()) > 2000]
    assert line.get_linewidth() > 1


def test_a_box_may_name_its_axes_in_any_order():
    turned = {"v": (-1.5, 1.5), "x": (-2, 2)}
    pictures = [pi.plots.phase_plane(pi.systems.duffing, box) for box in (BOX, turned)]
    first, second = (
        np.concatenate([path.vertices for path in ax.collections[0].get_paths()]) for ax in pictures
    )
    assert np.array_equal(first, second)


def test_a_frozen_field_says_when():
    ax = pi.plots.phase_plane(pi.systems.duffing, BOX, t=0.0, length=0, nullclines=False)
    assert ax.get_title(loc="right") == "the field at t = 0"
    assert not {"stable manifold", "dx/dt = 0"} & set(labels(ax))


@pytest.mark.parametrize(
    ("system", "box", "told"),
    [
        (pi.systems.lorenz, [(0, 1)] * 3, "3 components"),
        (pi.systems.spring(k=[1.0, 2.0]), BOX, r"\(2,\)"),
        (pi.systems.spring, {"x": (0, 1)}, "bound both x and v"),
    ],
)
def test_a_phase_plane_is_of_one_motion_of_two_components(system, box, told):
    with pytest.raises(ValueError, match=told):
        pi.plots.phase_plane(system, box)


def test_equilibria_over_a_parameter_and_in_a_line():
    systems = pi.systems.duffing(gamma=0.0, alpha=np.linspace(-1, 1, 5))
    found = pi.analysis.equilibria(systems, {"x": (-2, 2)}, n=64)
    ax = found.plot()
    drawn = sum(np.isfinite(line.get_ydata()).sum() for line in ax.lines)
    assert drawn == found.count.sum()
    one = pi.analysis.equilibria(pi.systems.logistic, {"n": (-10, 200)}, n=16)
    assert one.plot().get_xlabel() == "n"
    with pytest.raises(ValueError, match="one parameter"):
        pi.analysis.equilibria(pi.systems.spring(k=np.ones((2, 2))), {"x": (0, 1)}, 4).plot()


def test_what_analyses_find_has_a_picture_of_the_same_name():
    well = pi.systems.duffing(gamma=0.0, delta=0.2)
    found = {
        "equilibria": pi.analysis.equilibria(well, BOX, n=50),
        "periodic_orbits": pi.analysis.periodic_orbits(pi.systems.van_der_pol, [2.0, 0.0], 6.5),
        "bifurcation": pi.analysis.bifurcation(
            well, {"delta": [0.2, 0.3]}, "x", dt=0.1, transient=1.0, keep=5
        ),
        "continue_equilibria": pi.analysis.continue_equilibria(well, "alpha", (-1, 1), [1.0, 0.0]),
        "ftle": pi.analysis.ftle(well, {"x": [0.0, 1.0], "v": [0.0, 1.0]}, 1.0, dt=0.1),
        "frequencies": pi.analysis.frequencies(
            pi.systems.pendulum, x0=[0.5, 1.0], v0=0.0, dt=0.05, t_end=50.0
        ),
        "attractors": pi.analysis.attractors(well, BOX, dt=0.1, n=100),
    }
    for name, result in found.items():
        drawn = getattr(pi.plots, name)(result)
        assert drawn.get_xlabel() == result.plot().get_xlabel() != "", name


def test_orbits_are_closed_and_those_that_are_not_left_out():
    guesses = [[2.0, 0.0], [0.0, 0.0]]  # the second rests
    found = pi.analysis.periodic_orbits(pi.systems.van_der_pol, guesses, 6.5)
    lines = pi.plots.periodic_orbits(found).lines
    (line,) = (one for one in lines if np.isfinite(one.get_xdata()).any())
    points = np.transpose(line.get_data())
    assert points[-1] == pytest.approx(points[0], abs=1e-6)  # solved to 1e-9
    with pytest.raises(ValueError, match="no orbit closed"):
        pi.analysis.periodic_orbits(pi.systems.van_der_pol, [0.0, 0.0], 6.5).plot()


def test_attractors_have_the_colour_of_their_starts():
    found = pi.analysis.attractors(pi.systems.duffing(gamma=0.0), BOX, dt=0.1, n=100)
    ax = pi.plots.attractors(found)
    for number in range(2):
        starts, points = ax.lines[2 * number : 2 * number + 2]
        assert starts.get_color() == points.get_color()
        assert len(starts.get_xdata()) == np.count_nonzero(found.label == number)
    assert [text.get_text().split(":")[0] for text in ax.get_legend().get_texts()]


def test_a_colour_of_many_attractors_does_not_bear_the_name_of_one():
    @pi.acceleration(b=0.3)
    def valleys(t, x, v, b):
        return -3 * np.sin(2 * np.pi * x) - b * v

    box = {"x": (-5, 5), "v": (-3, 3)}
    found = pi.analysis.attractors(valleys, box, dt=0.05, n=200)
    count, share = len(found.share()), found.share()
    assert count > 6
    ax = pi.plots.attractors(found)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"{count - 5} others: {100 * share[5:].sum():.3g} %" in texts
    none = np.mean(found.label < 0)
    assert (f"none: {100 * none:.3g} %" in texts) is bool(none)
    assert len(texts) == 6 + bool(none)


@pytest.mark.parametrize(("low", "high"), [(0, 7), (-7, 0), (-7, 7)])
def test_nullclines_on_the_border_are_shown(low, high):
    """theta' = omega is 0 along omega = 0; omega' along theta = -pi, 0 and pi."""
    box = {"omega": (low, high), "theta": (-np.pi, np.pi)}
    ax = pi.plots.phase_plane(pi.systems.pendulum, box, length=0)
    across, up = (
        [line.vertices for line in one.get_paths()] for one in ax.collections
        if type(one).__name__ == "QuadContourSet"
    )  # fmt: skip
    (line,) = across
    assert np.ptp(line[:, 0]) == pytest.approx(2 * np.pi)
    assert line[:, 1] == pytest.approx(0, abs=1e-6)
    assert {*np.concatenate(up)[:, 0].round(3)} == {-3.142, 0.0, 3.142}
    assert ax.get_xlim() == (-np.pi, np.pi)
    assert ax.get_ylim() == (low, high)
