"""Pictures of motions that jump: gaps at the jumps, and no truth beyond the first of them."""

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend comes first)

from pyintegrate.plots.curves import jumps_between  # noqa: E402

BOUNCE = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.8]), keep=9)
START = [0, 0, 2.0], [1, 0, 0.0]
FALL = np.sqrt(4 / 9.81)  # seconds from 2 m; it goes 1 m/s along x
pytestmark = pytest.mark.filterwarnings("ignore::pyintegrate.RecordWarning")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def solved(bounce=BOUNCE, t_end=3.0):
    return pi.solve(pi.systems.projectile, *START, t_end=t_end, events={"floor": bounce})


def stepped(**settings):
    settings = {"dt": 0.01, "t_end": 3.0, "events": {"floor": BOUNCE}} | settings
    return pi.integrate(pi.systems.projectile, *START, **settings)


def parts_of(line):
    return [np.asarray(part, dtype=float) for part in line.get_data()]


def runs(line):
    """The pieces of a line between its gaps: (n, 2) each."""
    points = np.stack(parts_of(line), axis=-1)
    gaps = np.flatnonzero(np.isnan(points[:, 0]))
    return [piece[np.isfinite(piece[:, 0])] for piece in np.split(points, gaps)]


@pytest.mark.parametrize("t_end", [3.0, -3.0])
@pytest.mark.parametrize("keep", [9, 1, 0])
def test_a_solved_flight_is_whole_and_parted_at_its_bounces(keep, t_end):
    bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.8]), keep=keep)
    sol = solved(bounce, t_end)
    moments = sol.t[1:][sol.t[1:] == sol.t[:-1]]
    assert len(moments) == sol.events["floor"].count == 3
    borders = [0.0, *moments, t_end]
    pictures = (
        pi.plots.trajectory(sol, components="z", exact=False),
        pi.plots.trajectory(sol, components=("x", "z"), exact=False),  # x = t, if v = 1
        pi.plots.energy(sol, exact=False),
    )
    for ax in pictures:
        pieces = runs(ax.get_lines()[0])
        assert len(pieces) == len(borders) - 1
        for piece, begin, end in zip(pieces, borders[:-1], borders[1:], strict=True):
            # Positions are those of uniform motion to rounding.
            np.testing.assert_allclose(piece[[0, -1], 0], [begin, end], atol=1e-12)


@pytest.mark.parametrize("components", ["z", ("x", "z")])
def test_a_solved_flight_is_drawn_as_high_as_it_is(components):
    """Its one step is from impact to impact: a chord would slide along the floor."""
    sol = solved()
    moments = sol.t[1:][sol.t[1:] == sol.t[:-1]]
    ax = pi.plots.trajectory(sol, components=components, exact=False)
    x, z = parts_of(ax.get_lines()[0])
    assert np.count_nonzero(np.isfinite(z)) >= 200
    for begin, end in zip(moments[:-1], moments[1:], strict=True):
        height = 9.81 * (end - begin) ** 2 / 8
        flight = z[(x > begin) & (x < end)]
        # 8 pieces at least: the highest point is at most half a piece, 1/8 of the way, off.
        assert (1 - 1 / 64) * height < flight.max() < height * (1 + 1e-12)
        assert flight.min() > -1e-9
    batch = pi.solve(
        pi.systems.projectile(g=[9.81, 5.0]), [[0, 0, 2.0], [0, 0, 1.0]], [1, 0, 0.0], t_end=3.0,
        save="all", events={"floor": BOUNCE},
    )  # fmt: skip
    for index, line in enumerate(pi.plots.trajectory(batch, components="z", exact=False).lines):
        t, z = parts_of(line)
        fall = batch.events["floor"].t[index, 0]
        half = np.nanargmin(np.abs(t - fall / 2))
        assert t[half] == pytest.approx(fall / 2, rel=0.1)
        start, g = [(2.0, 9.81), (1.0, 5.0)][index]
        np.testing.assert_allclose(z[half], start - g * t[half] ** 2 / 2, rtol=1e-9)


@pytest.mark.parametrize("keep", [0, 1, 2])
def test_states_after_the_last_jump_that_was_kept_are_dots(keep):
    bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.8]), keep=keep)
    sol = stepped(events={"floor": bounce})
    for ax in (
        pi.plots.trajectory(sol, components="z", exact=False),
        pi.plots.trajectory(sol, components=("x", "z"), exact=False),
        pi.plots.energy(sol, exact=False),
    ):
        (line,) = ax.get_lines()
        assert line.get_marker() == "."
        assert sum(map(len, runs(line))) == len(sol)
    (line,) = pi.plots.energy(stepped(), exact=False).get_lines()
    assert line.get_marker() == "None"


def test_thinned_times_of_a_solved_run_are_not_joined_across_a_jump():
    sol = solved()
    before = np.flatnonzero(sol.t[1:] == sol.t[:-1])  # the save before each jump
    for left_out in (before, before + 1, np.append(before, before + 1)):
        t = np.delete(sol.t, left_out)
        jumps = jumps_between(sol, (), t)
        for moment in sol.t[before]:
            assert jumps[(t[:-1] <= moment) & (moment <= t[1:])].all()
    assert jumps_between(sol, (), sol.t).sum() == len(before)


@pytest.mark.parametrize("make", [stepped, solved])
def test_no_ghost_goes_on_after_a_jump(make):
    sol = make()
    for ax in (
        pi.plots.trajectory(sol, components="z"),
        pi.plots.trajectory(sol, components=("x", "z")),
        pi.plots.energy(sol),
        *sol.plot(),
    ):
        for line in ax.get_lines():
            if line.get_label() == "exact":
                x, y = parts_of(line)
                known = x[np.isfinite(x) & np.isfinite(y)]
                assert 0.9 * FALL < known.max() < FALL


@pytest.mark.parametrize("quantity", ["position", "energy"])
@pytest.mark.parametrize("so_far", [True, False])
def test_no_error_from_the_exact_motion_is_drawn_after_a_jump(quantity, so_far):
    # Of Euler's method, whose errors are visible from the first step on.
    sol = stepped(method="explicit_euler", watch="energy_drift", save=4)
    ax = pi.plots.error(sol, quantity=quantity, so_far=so_far)
    x, y = parts_of(ax.get_lines()[0])
    known = x[np.isfinite(y)]
    assert len(known) > 5
    assert known.max() < sol.events["floor"].t[0]
    if quantity == "position":  # a reference that jumps as well goes on
        fine = stepped(dt=0.005, save=8)
        (line, *_) = pi.plots.error(sol, reference=fine).get_lines()
        assert np.isfinite(parts_of(line)[1][-1])


def test_runs_that_jump_at_times_of_their_own_do_not_share_a_truth():
    methods = ["explicit_euler", "semi_implicit_euler"]
    sols = [stepped(method=method, dt=0.001) for method in methods]
    lines = pi.plots.error(*sols, so_far=False).get_lines()
    ends = [x[np.isfinite(y)].max() for x, y in map(parts_of, lines[:2])]
    firsts = [sol.events["floor"].t[0] for sol in sols]
    assert firsts[0] > firsts[1] + 0.9e-3  # by one step
    np.testing.assert_allclose(ends, firsts, atol=1.001e-3)  # the save before each


def test_heat_maps_have_no_errors_of_another_motion():
    x0 = [[[0, 0, z] for z in (1.0, 100.0)], [[0, 0, z] for z in (2.0, 200.0)]]
    sol = pi.integrate(
        pi.systems.projectile, x0, [1, 0, 0.0], dt=0.01, t_end=1.0, method="explicit_euler",
        events={"floor": BOUNCE}, watch="energy_drift", save=20,
    )  # fmt: skip
    for values in ("position_error", "energy_error"):
        image = np.ma.filled(pi.plots.heatmap(sol, values).collections[0].get_array(), np.nan)
        assert np.isnan(np.reshape(image, (2, 2))).tolist() == [[True, False]] * 2


def test_one_method_to_two_tolerances_is_compared_in_pictures():
    methods = [("dop853", pi.tolerance(1e-9)), ("dop853", pi.tolerance(1e-4))]
    c = pi.compare(pi.systems.pendulum, methods=methods, t_end=20.0)
    axes = c.plot()
    texts = [one.get_text() for one in axes[0, 0].figure.legends[0].get_texts()]
    assert [text.rpartition(" to ")[2] for text in texts[1:]] == ["1e-09", "0.0001"]
    # The same again, as one method at two steps of which the label says nothing.
    pi.compare(pi.systems.pendulum, methods=methods, t_end=20.0).plot(labels={"dop853": "one"})


def crosses(ax):
    return [line.get_xydata()[0] for line in ax.get_lines() if line.get_marker() == "x"]


def line_of(ax, sol):
    """The points of the curve of a solution that are drawn."""
    (one,) = (one for one in ax.get_lines() if one.get_label() == sol.method.title)
    return one.get_xydata()[np.isfinite(one.get_ydata())]


@pytest.mark.parametrize("components", ["z", ("x", "z")])
def test_no_ghost_falls_on_below_the_ground_where_a_stone_has_landed(components):
    floor = {"floor": pi.event("z", direction=-1, stop=True)}
    sol = pi.integrate(
        pi.systems.projectile, [0.0, 0, 1], [1.0, 0, 0], dt=0.01, n_steps=200, events=floor
    )
    ax = pi.plots.trajectory(sol, components=components)
    (ghost,) = (one for one in ax.get_lines() if one.get_label() == "exact")
    x, z = ghost.get_xydata()[np.isfinite(ghost.get_ydata())].T
    # To the last time before the landing at 0.45 s, at 1 m/s: they are at most 0.01 s apart.
    assert sol.stopped_at - 0.01 <= x.max() <= sol.stopped_at
    assert z.min() >= 0
    path = line_of(ax, sol)  # ends on the ground
    assert path[-1] == pytest.approx([float(sol.stopped_at), 0], abs=1e-12)
    assert not crosses(ax)  # to land is no failure


@pytest.mark.parametrize("components", ["theta", ("theta", "omega")])
def test_solved_motions_of_fewer_steps_than_others_have_not_failed(components):
    swings = pi.systems.pendulum(length=[0.1, 4.0])
    sol = pi.solve(swings, 1.0, 0.0, t_end=5.0, save="all")
    assert sol.counts[0] != sol.counts[1]
    assert not crosses(pi.plots.trajectory(sol, components=components))
    failed = pi.solve(swings, 1.0, 0.0, t_end=5.0, save="all", max_steps=20, on_failure="ignore")
    assert failed.n_failed == 1
    assert len(crosses(pi.plots.trajectory(failed, components=components))) == 1
