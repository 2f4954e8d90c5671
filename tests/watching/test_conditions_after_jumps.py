"""Conditions that a jump makes hold: they happen at its time, in the state that follows."""

import numpy as np
import pytest

import pyintegrate as pi

G = 9.81
BOUNCE = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.8]), keep=99)
REST = pi.event(lambda t, x, v: (v[2] > 0) & (v[2] < 0.05) & (x[2] < 1e-6), stop=True)
START = np.array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 2.5]]), [1.0, 0, 0]
RUNS = {
    "integrate": lambda **run: pi.integrate(pi.systems.projectile, *START, dt=0.1, **run),
    "solve": lambda **run: pi.solve(pi.systems.projectile, *START, **run),
    "solve at times": lambda **run: pi.solve(
        pi.systems.projectile, *START, times=np.linspace(0, run["t_end"], 50), **run
    ),
}
ORDERS = pytest.mark.parametrize("order", [1, -1], ids=["bounce first", "bounce last"])


@ORDERS
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_slow_bounce_stops_a_ball_before_it_is_zeno(run, order):
    """The k-th bounce leaves at v0 0.8^k, v0 = sqrt(2 g z0): the first below 0.05 m/s is the end.
    It comes at v0 / g (1 + 2 (0.8 + ... + 0.8^(k-1)))."""
    events = dict([("floor", BOUNCE), ("rest", REST)][::order])
    sol = run(t_end=9.0, events=events)
    speed = np.sqrt(2 * G * START[0][:, 2])
    k = np.ceil(np.log(0.05 / speed) / np.log(0.8)).astype(int)
    assert (sol.status == pi.Status.STOPPED).all()
    assert (sol.stopped_by == "rest").all()
    assert (sol.events["floor"].count == k).all()
    assert (sol.events["rest"].count == 1).all()
    when = speed / G * (1 + 2 * (0.8 - 0.8**k) / (1 - 0.8))
    # Each of the 25 bounces at a time of some roundings, which the speeds divide (up to 100).
    np.testing.assert_allclose(sol.stopped_at, when, rtol=1e-11)
    np.testing.assert_allclose(sol.final[:, 5], speed * 0.8**k, rtol=1e-9)
    assert (sol.stopped_at == sol.events["floor"].t[np.arange(3), k - 1]).all()


@ORDERS
def test_all_states_of_solve_have_each_side_of_a_jump_once(order):
    """The last two are those before and after the bounce that ends it; so are all that watches see,
    and a second rule at the same time adds the state that follows it."""
    again = pi.event(lambda t, x, v: v[2] > 0, then=lambda t, x, v: (x, v + [0, 1, 0]))
    for further, sides in (({}, 2), ({"again": again}, 3)):
        events = dict([("floor", BOUNCE), ("rest", REST), *further.items()][::order])
        sol = pi.solve(
            pi.systems.projectile, START[0][:1], START[1], t_end=9.0, events=events, save="all",
            watch={"m": pi.watch.mean("z")},
        )  # fmt: skip
        assert sol.status[0] == pi.Status.STOPPED
        t = sol.t[: sol.counts[0], 0]
        _, times = np.unique(t, return_counts=True)
        bounces = int(sol.events["floor"].count[0])
        assert times.max() == sides
        assert (times > 1).sum() == bounces
        assert sol.watched["m.count"][0] == sol.counts[0]
        np.testing.assert_array_equal(sol.y[sol.counts[0] - 1], sol.final)
        assert np.all(np.any(np.diff(sol.y[: sol.counts[0], 0], axis=0), axis=-1))


def test_a_stepper_does_the_same_to_the_bit():
    events = {"floor": BOUNCE, "rest": REST}
    stepper = pi.Stepper(pi.systems.projectile, *START, dt=0.1, method="rk4", events=events)
    stepper.step(90)
    whole = RUNS["integrate"](t_end=9.0, events=events)
    np.testing.assert_array_equal(stepper.y, whole.final)
    np.testing.assert_array_equal(stepper.stopped_at, whole.stopped_at)


@ORDERS
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_it_happens_once_and_only_where_it_begins_to_hold(run, order):
    """Rising: from each bounce to the top. High: never by a jump. Two rules wait for one jump."""
    turned = {
        "floor": BOUNCE,
        "rising": pi.event(lambda t, x, v: v[2] > 0, keep=9),
        "fast": pi.event(lambda t, x, v: v[0] > 0, keep=9),
        "high": pi.event(lambda t, x, v: x[2] > 100),
        "first": pi.event(lambda t, x, v: v[2] > 0, then=lambda t, x, v: (x, v + [0, 1, 0])),
        "second": pi.event(lambda t, x, v: v[2] > 0, then=lambda t, x, v: (x, v + [0, 1, 0])),
    }
    sol = run(t_end=1.7, events=dict(list(turned.items())[::order]))
    bounces = sol.events["floor"].count
    assert list(bounces) == [2, 2, 1]
    for name in ("rising", "first", "second"):
        assert (sol.events[name].count == bounces).all()
    known = sol.events["rising"].t[:, :3]
    np.testing.assert_array_equal(known, sol.events["floor"].t[:, :3])
    assert (sol.events["fast"].count == 1).all()  # at the start
    assert (sol.events["fast"].first.t == 0).all()
    assert not sol.events["high"].count.any()
    np.testing.assert_array_equal(sol.final[:, 4], 2.0 * bounces)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_condition_that_holds_no_more_after_the_jump_has_not_happened(run):
    falling = {"floor": BOUNCE, "deep": pi.event(lambda t, x, v: x[2] < -1e-3)}
    sol = run(t_end=2.0, events=falling)
    assert not sol.events["deep"].count.any()
