"""Jumps whose quantity passes on: impulses at a time or a place happen once, bounces as ever."""

import itertools

import numpy as np
import pytest

import pyintegrate as pi

FREE = pi.acceleration(lambda t, x, v: 0 * x, dof=1)


def kick_at(when, **options):
    return {"kick": pi.event(lambda t, x, v: t - when, then=lambda t, x, v: (x, v + 1), **options)}


@pytest.mark.parametrize("when", [1.0, 1.003, 0.99])
@pytest.mark.parametrize("options", [{}, {"save": 7}, {"dtype": np.float32}], ids=str)
def test_an_impulse_at_a_time_happens_once(when, options):
    """On the grid of steps and between them."""
    run = {"dt": 0.01, "n_steps": 300} | options
    sol = pi.integrate(FREE, np.zeros(5), np.arange(5.0), events=kick_at(when), **run)
    assert (sol.status == pi.Status.OK).all()
    assert (sol.events["kick"].count == 1).all()
    # 300 additions to numbers up to 14, each to half a rounding.
    close = 300 * 7 * np.finfo(sol.y.dtype).eps
    assert abs(sol.final[:, 0] - (3 * np.arange(5) + 3 - when)).max() < close


def test_an_impulse_at_a_place_happens_whenever_it_comes_by():
    """An oscillator that is kicked at each passage: its speed there grows by the same each time."""
    push = {"push": pi.event("x", then=lambda t, x, v: (x, v + 0.1 * np.sign(v)), keep=9)}
    sol = pi.integrate(
        pi.systems.oscillator, 1.0, 0.0, dt=0.02, n_steps=1450, method="dop853", events=push
    )
    assert sol.status == pi.Status.OK
    assert sol.events["push"].count == 9
    assert abs(sol.events["push"].t - (0.5 + np.arange(9)) * np.pi).max() < 1e-10
    assert abs(abs(sol.events["push"]["v"]) - 1 - 0.1 * np.arange(9)).max() < 1e-10


@pytest.mark.parametrize("method", ["auto", "dop853", "bogacki_shampine32", "kvaerno43"])
@pytest.mark.parametrize("options", [
    {}, {"save": "all"}, {"times": [0.5, 1.5]}, {"first_step": 0.25, "max_step": 0.25},
    {"dtype": np.float32},
], ids=str)  # fmt: skip
def test_an_impulse_happens_once_to_a_tolerance_too(method, options):
    """Between steps and on their borders; forwards and backwards in time."""
    for when, t_end in ((1.0, 3.0), (1.003, 3.0), (-1.0, -3.0)):
        if options.get("times") and t_end < 0:
            continue
        kick = kick_at(when, direction=0, keep=9)
        run = {"t_end": t_end, "events": kick, "method": method, "rtol": 1e-4} | options
        sol = pi.solve(FREE, np.zeros(5), np.arange(5.0), **run)
        assert (sol.status == pi.Status.OK).all()
        assert (sol.events["kick"].count == 1).all()
        close = 300 * np.finfo(sol.y.dtype).eps  # some roundings of numbers up to 14
        x = np.arange(5) * t_end + (t_end - when)
        assert abs(sol.final[:, 0] - x).max() < close


def test_kicks_at_a_place_to_a_tolerance():
    """As those of fixed steps: each passage is kicked once, and the next is not missed."""
    push = {"push": pi.event("x", then=lambda t, x, v: (x, v + 0.1 * np.sign(v)), keep=9)}
    sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=28.9, rtol=1e-9, events=push)
    assert sol.status == pi.Status.OK
    assert sol.events["push"].count == 9
    assert abs(sol.events["push"].t - (0.5 + np.arange(9)) * np.pi).max() < 1e-6


@pytest.mark.parametrize("later", [0.0, 4e-16, 2e-15, 2e-13, 1e-9])
@pytest.mark.parametrize("method", ["auto", "verner98", "rodas5p"])
def test_a_run_to_a_tolerance_that_ends_at_an_impulse_or_soon_after_has_one(method, later):
    """The rest of the run is shorter than the step whose end the impulse was located to."""
    push = {"push": pi.event("x", then=lambda t, x, v: (x, v + 0.1 * np.sign(v)), keep=9)}
    options = {"rtol": 1e-7, "events": push, "method": method}
    at = float(pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=3.0, **options).events["push"].t[0])
    cut = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=at * (1 + later), **options)
    assert cut.events["push"].count <= 1
    assert cut.resume(t_end=28.9).events["push"].count == 9


def test_what_a_jump_passes_over_is_no_event():
    """A quantity begins anew after it: zeros it was carried across have not been passed."""
    events = {
        "carried": pi.event(lambda t, x, v: t - 1.0, then=lambda t, x, v: (x + 5, v)),
        "there": pi.event(lambda t, x, v: x - 3.0),
        "beyond": pi.event(lambda t, x, v: x - 6.5),
    }
    for sol in (
        pi.integrate(FREE, 0.0, 1.0, dt=0.15, n_steps=20, events=events),
        pi.solve(FREE, 0.0, 1.0, t_end=3.0, events=events),
    ):
        assert {name: int(one.count) for name, one in sol.events.items()} == {
            "carried": 1, "there": 0, "beyond": 1,
        }  # fmt: skip
        assert abs(float(sol.events["beyond"].t[0]) - 1.5) < 1e-14


@pytest.mark.parametrize("cut", [99, 100, 101])
def test_a_run_that_is_cut_at_an_impulse_is_resumed_to_the_same_bits(cut):
    run = {"dt": 0.01, "events": kick_at(1.0, keep=3)}
    whole = pi.integrate(FREE, 0.0, 1.0, n_steps=200, **run)
    parts = pi.integrate(FREE, 0.0, 1.0, n_steps=cut, **run).resume(n_steps=200 - cut)
    stepper = pi.Stepper(FREE, 0.0, 1.0, **run)
    stepper.step(cut)
    stepper.step(200 - cut)
    assert np.array_equal(parts.final, whole.final)
    assert np.array_equal([stepper.x, stepper.v], whole.final)
    assert parts.events["kick"].count == whole.events["kick"].count == 1


def test_a_jump_to_before_the_place_comes_by_again():
    """A thousandth of a step away from zero is not at zero."""
    back = {"b": pi.event("x", direction=1, then=lambda t, x, v: (x - 1e-5, 0.25 * v), keep=9)}
    sol = pi.integrate(FREE, -0.005, 1.0, dt=0.01, n_steps=1, events=back)
    assert sol.events["b"].count == 5
    flights = 1e-5 * 4.0 ** np.arange(1, 5)
    assert np.allclose(np.diff(sol.events["b"].t[:5]), flights, rtol=1e-6, atol=0)


def test_what_comes_to_rest_does_not_fall_through():
    floor = {"floor": pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.5]))}
    sol = pi.integrate(
        pi.systems.projectile, [0.0, 0, 1], 0.0, dt=0.05, n_steps=200, events=floor,
        on_failure="ignore",
    )  # fmt: skip
    assert sol.status == pi.Status.ZENO
    assert (sol["z"] >= 0).all()


def _beside(then):
    """What may jump at the moment of an impulse that doubles the speed of x = t."""
    return {
        "a condition of the time": pi.event(lambda t, x, v, at: t >= at, then=then),
        "one that the impulse makes hold": pi.event(lambda t, x, v: v > 1.5, then=then),
        "another place": pi.event(lambda t, x, v, at: x - at, then=then),
        "a condition of the place": pi.event(lambda t, x, v, at: x >= at, then=then),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", [1, -1], ids=["impulse first", "impulse last"])
@pytest.mark.parametrize("beside", _beside(None))
def test_what_jumps_at_its_moment_does_not_repeat_an_impulse(beside, order, dtype):
    other = _beside(lambda t, x, v: (x, v + 10))[beside]
    for when in (1.0, 1.003, 0.99):
        free = pi.acceleration(lambda t, x, v, at: 0 * x, dof=1, at=when)()
        own = pi.event(lambda t, x, v, at: t - at, then=lambda t, x, v: (x, v + 1))
        events = dict([("impulse", own), ("other", other)][::order])
        run = {"events": events, "dtype": dtype}
        stepper = pi.Stepper(free, 0.0, 1.0, dt=0.01, **run)
        stepper.step(300)
        ends = {
            "dt = 0.01": pi.integrate(free, 0.0, 1.0, dt=0.01, n_steps=300, **run),
            "dt = 1/4": pi.integrate(free, 0.0, 1.0, dt=0.25, n_steps=12, method="dop853", **run),
            "solve": pi.solve(free, 0.0, 1.0, t_end=3.0, rtol=1e-4, **run),
            "kept": pi.solve(free, [0.0], [1.0], t_end=3.0, rtol=1e-4, save="all", **run),
            "kvaerno43": pi.solve(free, 0.0, 1.0, t_end=3.0, rtol=1e-4, method="kvaerno43", **run),
            "short": pi.solve(free, 0.0, 1.0, t_end=3.0, rtol=1e-4, max_step=0.25, **run),
            "by hand": stepper,
        }  # fmt: skip
        for name, sol in ends.items():
            assert np.all(sol.status == pi.Status.OK), name
            counts = sol.events["impulse"].count, sol.events["other"].count
            assert np.ravel(counts).tolist() == [1, 1], name
            speed = sol.v if sol is stepper else sol.final[..., 1]
            assert np.ravel(speed).tolist() == [12.0], name


@pytest.mark.parametrize("dt", [0.01, 0.25, 0.3])
def test_a_condition_happens_once_where_its_own_jump_leaves_it(dt):
    once = {"c": pi.event(lambda t, x, v: x >= 1, then=lambda t, x, v: (x, v + 10))}
    for sol in (
        pi.integrate(FREE, 0.0, 1.0, dt=dt, n_steps=round(3 / dt), events=once),
        pi.solve(FREE, 0.0, 1.0, t_end=3.0, max_step=dt, events=once),
    ):
        assert sol.events["c"].count == 1
        assert sol.final[1] == 11.0


@pytest.mark.parametrize("order", [1, -1], ids=["seen first", "jump first"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("t0", [0.0, 256.0, 1000.3])
@pytest.mark.parametrize("sense", [1, -1])
def test_what_is_seen_at_the_moment_of_a_jump_is_seen_once(order, dtype, t0, sense):
    """An event before the jump at the same time was counted twice, since the state of the jump is
    one before its zero; on short steps beside a break up to 16 times."""
    for by in (0.25, 0.3, 1.0, 2.7):
        when = t0 + sense * by
        seen = pi.event(lambda t, x, v, at: t - at, params={"at": when})
        holds = pi.event(lambda t, x, v, at, s: s * t >= s * at, params={"at": when, "s": sense})
        for beside in (seen, holds):
            events = dict([("beside", beside), *kick_at(when).items()][::order])
            run = {"t0": t0, "events": events, "dtype": dtype, "save": "final"}
            to = {"t_end": t0 + 8 * sense, "rtol": 1e-4} | run
            for sol in (
                pi.integrate(FREE, 0.0, 1.0, dt=0.125 * sense, n_steps=64, **run),
                pi.solve(FREE, 0.0, 1.0, **to),
                pi.solve(FREE, 0.0, 1.0, method="dormand_prince54", breaks=[when], **to),
            ):
                assert [sol.events[name].count for name in ("beside", "kick")] == [1, 1], by
                assert sol.final[1] == 2


SAME = {
    "x": "x",
    "1e8 x": lambda t, x, v: 1e8 * x,
    "x / 3": lambda t, x, v: x / 3,
    "x (1 + v^2)": lambda t, x, v: x * (1 + v * v),
    "sin x": lambda t, x, v: np.sin(x),
}


@pytest.mark.parametrize("quantity", SAME)
def test_of_one_moment_what_is_named_first_comes_first(quantity):
    """Zeros of different formulas differ by rounding there, which decided what a wall hid."""
    fall = pi.acceleration()(lambda t, x, v: -1 + 0 * x)
    seen = pi.event(SAME[quantity], direction=-1)
    wall = pi.event("x", direction=-1, then=lambda t, x, v: (x, -0.8 * v))
    start = np.linspace(0.2, 1.0, 100), 0.0
    for events, part in (({"seen": seen, "wall": wall}, 1), ({"wall": wall, "seen": seen}, 0)):
        for sol in (
            pi.integrate(fall, *start, dt=0.01, n_steps=250, events=events),
            pi.solve(fall, *start, t_end=2.5, events=events),
        ):
            assert np.array_equal(sol.events["seen"].count, part * sol.events["wall"].count)


@pytest.mark.parametrize("method", ["dop853", "verner98", "fehlberg78"])
@pytest.mark.parametrize("deep", [1e-4, 1e-6, 1e-8])
def test_nearly_double_zeros_are_kept_in_order(deep, method):
    """Their places are in doubt until they are placed, and the later one was kept first."""
    events = {
        name: pi.event(lambda t, x, v: x * v, level=deep - 0.5, keep=9) for name in ("a", "b", "c")
    }
    for end in (7.0, -7.0):
        run = {"t_end": end, "rtol": 3e-7, "method": method}
        sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, events=events, **run)
        for event in sol.events.values():
            assert (np.diff(event.t[: event.count]) * end > 0).all()


@pytest.mark.parametrize("named_first", [True, False])
def test_a_place_in_doubt_does_not_change_the_order(named_first):
    """A polynomial of exp(k x) has its zero beside that of x, by more than its error tells."""
    steep = pi.event(lambda t, x, v, k: np.exp(k * x) - np.exp(2 * k), params={"k": 4.0}, stop=1)
    events = {"steep": steep, "plain": pi.event(lambda t, x, v: (x - 2) * (1 + x * x), keep=0)}
    events = {name: events[name] for name in (events if named_first else [*events][::-1])}
    for sol in (
        pi.integrate(FREE, np.linspace(0, 1, 50), 1.0, dt=0.05, n_steps=60, events=events),
        pi.solve(FREE, np.linspace(0, 1, 50), 1.0, t_end=6.0, rtol=1e-5, events=events),
    ):
        assert (sol.events["steep"].count == 1).all()
        assert (sol.events["plain"].count == 1 - named_first).all()


def test_an_event_is_placed_beside_those_that_are_counted():
    """Corrections of one that is only counted were taken for those of the next."""
    moments = np.linspace(0.3, 4.7, 100)
    events = {
        "counted": pi.event(lambda t, x, v: np.exp(3 * x) - 40, keep=0),
        "kept": pi.event(
            lambda t, x, v, at: np.exp(4 * x) - np.exp(4 * at), params={"at": moments}
        ),
    }
    sol = pi.solve(FREE, 0 * moments, 1.0, t_end=5.0, rtol=1e-5, method="tsit5", events=events)
    assert (sol.events["counted"].count == 1).all()
    assert abs(sol.events["kept"].t[:, 0] - moments).max() < 1e-12


@pytest.mark.parametrize("method", ["auto", "dop853", "kvaerno43"])
def test_a_condition_does_not_begin_again_at_a_later_jump_of_its_step(method):
    """It began to hold within the step, and was counted again at the jump of another event."""
    events = {"holds": pi.event(lambda t, x, v: t >= 3), **kick_at(5.0)}
    sol = pi.solve(FREE, 0.0, 1.0, t_end=8.0, method=method, events=events)
    assert [sol.events[name].count for name in ("holds", "kick")] == [1, 1]


def test_a_place_that_a_jump_leaves_is_met_again_at_the_end_of_its_step():
    """The step ended at the place, a rounding before it, and was taken to have stayed there."""

    @pi.rhs(dim=2)
    def free(t, y):
        return y[1], 0 * y[0]

    halves = {"half": pi.event(lambda t, y: y[0] - 0.5, then=lambda t, y: (y[0] / 2, y[1]))}
    sol = pi.integrate(free, [-0.5, 0.5], dt=1.0, n_steps=7, t0=1.0, events=halves)
    assert sol.events["half"].count in (10, 11)  # at 3, 3.5, 4, ..., the last at the end


@pytest.mark.parametrize("verb", ["integrate", "solve"])
def test_a_condition_that_two_jumps_undo_and_renew_occurs_again(verb):
    """Both hold at the start, and each turns the motion: the second makes the first hold again."""
    events = {
        "slow": pi.event(lambda t, x, v: (x > 0) & (v < 0), then=lambda t, x, v: (x, -v)),
        "far": pi.event(lambda t, x, v: x > 0.5, then=lambda t, x, v: (x, -v / 2)),
    }
    run = {"integrate": {"dt": 0.5, "n_steps": 1}, "solve": {"t_end": 0.5}}[verb]
    sol = getattr(pi, verb)(FREE, 1.0, -1.0, events=events, **run)
    assert [sol.events[name].count for name in events] == [2, 1]
    assert sol.final[1] == 0.5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("t0", [0.0, 1000.0])
def test_a_jump_soon_after_an_event_hides_no_other(dtype, t0):
    """In single precision at large times only what is at one moment is taken for it."""
    events = {
        "place": pi.event("x"),
        "turn": pi.event(
            lambda t, x, v, c: t - c, params={"c": t0 + 1.005}, then=lambda t, x, v: (x, -v)
        ),
    }
    run = {"t0": t0, "dtype": dtype, "events": events}
    for sol in (
        pi.solve(FREE, -1.0, 1.0, t_end=t0 + 3, rtol=1e-4, max_step=0.1, **run),
        pi.integrate(FREE, -1.0, 1.0, dt=0.25, n_steps=12, **run),
    ):
        assert [sol.events[name].count for name in events] == [2, 1]


@pytest.mark.parametrize("verb", ["integrate", "solve"])
@pytest.mark.parametrize(("to", "passes"), [(-3, 1), (3, 0)])
def test_a_jump_takes_another_event_of_its_moment_through_its_zero_or_back(verb, to, passes):
    """The jump comes first; where it leads the second quantity is far from zero."""
    events = {
        "first": pi.event("x", direction=-1, then=lambda t, x, v: (x + to, v)),
        "second": pi.event("x", direction=-1),
    }
    run = {"integrate": {"dt": 0.05, "n_steps": 24}, "solve": {"t_end": 1.2}}[verb]
    sol = getattr(pi, verb)(FREE, 1.0, -1.0, events=events, **run)
    assert [sol.events[name].count for name in events] == [1, passes]


def test_a_jump_to_the_turning_point_of_its_quantity_occurs_once():
    """It leads to x = 0, from where v returns: rounding made further zeros beside the first."""
    speed = np.linspace(0.1, 0.9, 300)
    up = pi.event("v", level=speed + 0.2, then=lambda t, x, v: (0 * x, v))
    sol = pi.solve(pi.systems.oscillator, -1.5, speed, t_end=2.5, events={"up": up})
    assert (sol.events["up"].count == 1).all()


@pytest.mark.parametrize("end", [2.0, 1.3])
def test_what_a_jump_brings_about_where_the_run_ends_is_told_and_counted_later(end):
    events = {
        "kick": pi.event(lambda t, x, v: t >= end, then=lambda t, x, v: (x, v + 1)),
        "fast": pi.event(lambda t, x, v: v > 1.5),
    }
    for sol, later in (
        (pi.integrate(FREE, 0.0, 1.0, dt=end / 4, n_steps=4, events=events), {"n_steps": 1}),
        (pi.solve(FREE, 0.0, 1.0, t_end=end, events=events), {"t_end": end + 1}),
    ):
        assert sol.events["kick"].count == 1
        assert sol.events["fast"].unresolved or sol.events["fast"].count == 1
        fast = sol.resume(**later).events["fast"]
        assert (fast.count, fast.unresolved) == (1, False)


def test_a_jump_placed_later_than_it_was_sought_still_comes_first():
    """It is placed by a step of the method, and what is only seen by the polynomial of its step."""

    def place(t, x, v):
        return x - 0.3 * v

    kick = pi.event(place, keep=1, then=lambda t, x, v: (x, v + 0.3))
    start = np.linspace(0.5, 1.5, 100), 0.0
    sol = pi.solve(
        pi.systems.oscillator, *start, t_end=3.0, rtol=1e-4, method="tsit5",
        events={"kick": kick, "seen": pi.event(place)},
    )  # fmt: skip
    assert np.nanmax(abs(sol.events["kick"].t - sol.events["seen"].t)) < 1e-12


@pytest.mark.parametrize("run", [
    {"rtol": 1e-9, "atol": 1e-9, "method": "tsit5"}, {"rtol": 1e-6, "atol": 1e-6},
    {"dt": 0.05, "n_steps": 120}, {"dt": 0.05, "n_steps": 120, "dtype": np.float32},
], ids=str)  # fmt: skip
def test_a_ball_comes_to_rest_at_a_wall_that_rounding_moves(run):
    """On whatever side of zero the rounding of the place puts it there: in either direction the
    same. It hits the wall before half a period, 3.2, and each flight is shorter than the last."""
    b, e = np.meshgrid(np.linspace(-0.4, 0.4, 7), [0.3, 0.5])
    pull = pi.rhs(lambda t, y: (y[1], 1 - y[0]), dim=2)
    start = np.stack([-b / 1.876 - 0.2, 0 * b], axis=-1)

    def end(direction):
        hit = pi.event(
            lambda t, y, b: 1.876 * y[0] + b, direction=direction, keep=0,
            then=lambda t, y, e: (y[0], -e * y[1]), params={"b": b, "e": e},
        )  # fmt: skip
        solve, to = (pi.integrate, {}) if "dt" in run else (pi.solve, {"t_end": 6.0})
        return solve(pull, start, events={"hit": hit}, on_failure="ignore", **run, **to)

    both, rising = end(0), end(1)
    assert (rising.status == pi.Status.ZENO).all()
    assert abs(rising.final[..., 0] + b / 1.876).max() < (1e-7 if "dtype" in run else 1e-14)
    assert both.final.tobytes() == rising.final.tobytes()
    assert (both.events["hit"].count == rising.events["hit"].count).all()


@pytest.mark.parametrize("then", [None, lambda t, y: -y], ids=["seen", "then"])
@pytest.mark.parametrize("dt", [0.1, 0.2, 0.15])
def test_a_clock_ticks_once_and_more_in_each_step(dt, then):
    """Its quantity is the same at the ends of all steps."""
    T = np.array([0.1, 0.05])
    tick = pi.event(
        lambda t, y, T: np.mod(t - 0.3 * T, T) - T / 2, direction=-1, then=then, params={"T": T}
    )
    rest = pi.rhs(lambda t, y: 0 * y, dim=1)
    start = np.ones((2, 1))
    sol = pi.integrate(rest, start, dt=dt, n_steps=round(6 / dt), events={"tick": tick})
    assert (sol.events["tick"].count == [60, 120]).all()
    assert (sol.final == 1.0).all()


@pytest.mark.parametrize(("T", "clock"), [
    (0.1, lambda t, y, T: np.where(np.mod(t - 0.5 * T, T) < 0.3 * T, 1.0, -1.0)),
    (0.1, lambda t, y, T: np.where(np.mod(t - 0.3 * T, T) < 0.05 * T, 1.0, -1.0)),
    (0.2 / 29, lambda t, y, T: np.where(np.mod(t - 0.3 * T, T) < 0.5 * T, 1.0, -1.0)),
], ids=["pulses", "short pulses", "many"])  # fmt: skip
def test_a_clock_that_few_points_in_a_step_do_not_show_ticks_every_time(T, clock):
    tick = pi.event(clock, direction=-1, then=lambda t, y: y + 1, params={"T": T}, keep=0)
    rest = pi.rhs(lambda t, y: 0 * y, dim=1)
    sol = pi.integrate(rest, [0.0], dt=0.1, n_steps=60, events={"tick": tick})
    assert sol.final[0] == round(6 / T)


@pytest.mark.parametrize("cut", [50, 60, 73])
def test_where_a_run_is_cut_does_not_tell_which_steps_are_searched_beside_a_clock(cut):
    """A wave whose period is a step is the same at the ends of all: it is seen in those steps alone
    in which something else may occur."""
    events = {
        "tick": pi.event(lambda t, x, v: np.mod(t, 1) - 0.505, then=lambda t, x, v: (x, v + 1)),
        "wave": pi.event(lambda t, x, v: np.sin(200 * np.pi * t + 0.4) - 0.9),
    }
    run = {"dt": 0.01, "events": events, "save": "final"}
    whole = pi.integrate(FREE, 0.0, 1.0, n_steps=200, **run)
    parts = pi.integrate(FREE, 0.0, 1.0, n_steps=cut, **run).resume(n_steps=200 - cut)
    assert np.array_equal(parts.final, whole.final)
    assert parts.events["wave"].count == whole.events["wave"].count


@pytest.mark.parametrize(("clock", "direction"), [
    (lambda t, y, T: np.mod(t, T) - T / 2, -1), (lambda t, y, T: 0.4 * T - np.mod(t, T), 1),
    (lambda t, y, T: np.floor(t / T) % 2 - 0.5, 0),
    (lambda t, y, T: np.sign(np.sin(np.pi * t / T)), 0),
], ids=["down", "up", "floor", "sign"])  # fmt: skip
@pytest.mark.parametrize("run", [
    {"rtol": 1e-10}, {"rtol": 1e-10, "method": "rodas5p"}, {"dt": 0.003, "n_steps": 665},
    {"dt": 0.003, "n_steps": 665, "dtype": np.float32},
], ids=str)  # fmt: skip
def test_a_clock_that_jumps_through_zero_ticks_more_than_once(clock, direction, run):
    """A sampled controller: the state is exact between the ticks."""
    plant = pi.rhs(lambda t, y, T: (y[1] - y[0], 0 * y[1]), dim=2, T=np.float64(0.01))
    T, end = np.array([0.01, 0.017, 0.3]), 1.995
    tick = pi.event(clock, direction=direction, then=lambda t, y: (y[0], 3 - y[0]), keep=0)
    solve = pi.integrate if "dt" in run else pi.solve
    run = run if "dt" in run else run | {"t_end": end}
    sol = solve(plant(T=T), np.tile([0.0, 3.0], (3, 1)), events={"tick": tick}, save="final", **run)
    count = np.floor(end / T)
    y, u = np.zeros(3), np.full(3, 3.0)
    for k in range(int(count.max())):
        ticks = k < count
        y, u = np.where(ticks, [u + (y - u) * np.exp(-T), 3 - u - (y - u) * np.exp(-T)], [y, u])
    rest = np.exp(count * T - end)
    exact = np.stack([u + (y - u) * rest, u], axis=-1)
    assert (sol.events["tick"].count == count).all()
    assert abs(sol.final - exact).max() < (1e-4 if "dtype" in run else 1e-9)


@pytest.mark.parametrize(
    "run",
    [{"t_end": 1.95}, {"dt": 0.003, "n_steps": 650}, {"dt": 0.05, "n_steps": 39}],
    ids=["solve", "within steps", "at their ends"],
)
def test_clocks_that_tick_together_all_tick(run):
    rest = pi.rhs(lambda t, y: 0 * y, dim=2)
    solve = pi.integrate if "dt" in run else pi.solve
    one = pi.event(lambda t, y: t % 0.1 - 0.05, -1, then=lambda t, y: (y[0] + 1, y[1]))
    two = pi.event(lambda t, y: t % 0.2 - 0.1, -1, then=lambda t, y: (y[0], y[1] + 1))
    for events in ({"one": one, "two": two}, {"two": two, "one": one}):
        assert solve(rest, [0.0, 0.0], events=events, save="final", **run).final.tolist() == [19, 9]


@pytest.mark.parametrize(
    "run",
    [{"t_end": 1002.36}, {"dt": 0.0035, "n_steps": 657}, {"dt": 0.001, "n_steps": 2300}],
    ids=str,
)
def test_a_wave_and_a_clock_that_tick_together_both_tick(run):
    """One passes through zero and the other jumps, in every order, at times that round."""
    motion = pi.rhs(lambda t, y, T: (-y[0], 0 * y[1], 0 * y[2] * T), dim=3, T=0.1)
    T = np.array([0.25, 0.1, 1 / 3])
    waves = {
        "wave": (lambda t, y, T: np.sin(np.pi * t / T), 0),
        "stair": (lambda t, y, T: t / T - np.rint(t / T), 1),  # passes through zero as well
        "clock": (lambda t, y, T: np.mod(t, T) - T / 2, -1),
        "floor": (lambda t, y, T: t / T - np.floor(t / T) - 0.5, -1),
    }
    solve = pi.integrate if "dt" in run else pi.solve
    start = np.tile([1.0, 0.0, 0.0], (3, 1))
    for a, b in itertools.permutations(waves.values(), 2):
        events = {
            "a": pi.event(*a, then=lambda t, y: (y[0], y[1] + 1, y[2])),
            "b": pi.event(*b, then=lambda t, y: (y[0], y[1], y[2] + 1)),
            "apart": pi.event(lambda t, y, T: np.cos(2 * np.pi * t / T), 1, then=lambda t, y: y),
        }
        sol = solve(motion(T=T), start, t0=1000.06, events=events, save="final", **run)
        count = np.floor(1002.36 / T) - np.floor(1000.06 / T)
        assert (sol.final.reshape(3, 3)[:, 1:] == count[:, np.newaxis]).all(), (a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("t0", [-2.861, 0.003, 2.6, 20.7])
def test_in_the_rest_of_a_step_no_wave_passes_its_zero_again(t0, dtype):
    """Beside the jump of another, closer than a rounding of the step, not of its rest."""
    motion = pi.rhs(lambda t, y, T: (np.cos(t) + 0 * T,), dim=1, T=0.1)
    T = np.array([0.1, 0.125, 0.25, 0.07]).astype(np.float32)
    for dt in np.array([0.005, 0.0117, 0.003, 0.0055990483]).astype(np.float32):
        events = {
            "a": pi.event(lambda t, y, T: np.sin(np.pi * t / T), then=lambda t, y: (y[0] + 0.1,)),
            "b": pi.event(lambda t, y, T: np.sin(2 * np.pi * t / T), 1, then=lambda t, y: y),
        }
        run = {"dt": float(dt), "n_steps": int(3.111 / dt), "t0": float(np.float32(t0))}
        sol = pi.integrate(motion(T=T), [0.0], events=events, dtype=dtype, **run)
        end = run["t0"] + run["dt"] * run["n_steps"]
        count = np.floor(end / T) - np.floor(run["t0"] / T)
        assert (sol.events["a"].count == count).all()
        assert (sol.events["b"].count == count).all()


@pytest.mark.parametrize("method", ["tsitouras54", "dop853", "rodas5p"])
def test_to_a_tolerance_in_single_precision_no_wave_passes_its_zero_again(method):
    """States put it before that by the rounding of a step that is longer than the next."""
    motion = pi.rhs(lambda t, y, T: (np.cos(t) - y[0] + 0 * T,), dim=1, T=0.1)
    T = np.repeat([0.1, 0.125, 0.25, 0.07, 0.05], 50).astype(np.float32)
    events = {
        "a": pi.event(lambda t, y, T: t / T - np.rint(t / T), 1, then=lambda t, y: (y[0] + 0.1,)),
        "b": pi.event(lambda t, y, T: np.mod(t, T) - T / 2, -1, then=lambda t, y: (0.9 * y[0],)),
    }
    run = {"rtol": 1e-4, "atol": 1e-4, "method": method, "dtype": np.float32}
    start = np.tile(np.linspace(-2, 2, 50), 5)[:, np.newaxis]
    sol = pi.solve(motion(T=T), start, t0=20.7113, t_end=23.7114, events=events, **run)
    count = np.floor(23.7114 / T) - np.floor(20.7113 / T)
    assert (sol.events["a"].count == count).all()
    assert (sol.events["b"].count == count).all()


def test_of_waves_with_zeros_in_common_none_is_missed():
    """Polynomials at a rough tolerance put zeros of one moment at two."""
    rest = pi.rhs(lambda t, y: (np.cos(t) - y[0], 0 * y[1]), dim=2)
    jumps = [lambda t, y: (y[0] + 1, y[1]), lambda t, y: (y[0] / 2, y[1] + 1)]
    waves = [lambda t, y: np.sin(np.pi * t / 0.1), lambda t, y: np.sin(np.pi * t / 0.1 * 3)]
    events = {k: pi.event(waves[i], then=jumps[i], keep=0) for i, k in enumerate("ab")}
    run = {"t_end": 1.41, "rtol": 1e-4, "atol": 1e-4, "method": "verner65"}
    t0 = np.linspace(-1.033, -1.001, 2000)
    sol = pi.solve(rest, np.tile([0.3, 0.0], (2000, 1)), t0=t0, events=events, **run)
    assert (sol.events["a"].count == 25).all()
    assert (sol.events["b"].count == 73).all()


@pytest.mark.parametrize("quantity", [
    lambda t, y: np.floor(2 * y[0] - 0.1) + 0.3, lambda t, y: np.where(y[0] < 0.05, -1.0, 2.0),
    lambda t, y: y[0] >= 0.05, lambda t, y: np.sign(y[0] - 0.05) + 0.1,
], ids=["stairs", "branches", "condition", "small between"])  # fmt: skip
@pytest.mark.parametrize("run", [
    {"t_end": 14.0, "rtol": 1e-4, "atol": 1e-4, "method": "auto"},
    {"t_end": 14.0, "rtol": 1e-6, "method": "tsitouras54"},
    {"t_end": 14.0, "rtol": 1e-4, "atol": 1e-4, "method": "radau_iia5"},
    {"t_end": 14.0, "rtol": 1e-4, "atol": 1e-4, "method": "radau_iia5", "dtype": np.float32},
    {"dt": 0.002, "n_steps": 7000, "method": "dop853"},
], ids=["auto", "tsitouras54", "radau_iia5", "float32", "fixed steps"])  # fmt: skip
def test_each_passage_of_a_jump_is_one_event(quantity, run):
    """The polynomial of a step and the states of the method pass it at times that differ by the
    tolerance; the jump leaves the motion as it is, so that x = -cos(t) rises to 0.05 twice."""
    passes = pi.event(quantity, direction=1, then=lambda t, y: (y[0], y[1], y[2] + 1))
    motion = pi.rhs(dim=3)(lambda t, y: (y[1], -y[0], 0 * y[2]))
    start = np.linspace([-1.5, 0, 0], [-0.3, 0, 0], 60)
    solve = pi.integrate if "dt" in run else pi.solve
    sol = solve(motion, start, events={"passes": passes}, save="final", **run)
    assert (sol.events["passes"].count == 2).all()
    assert (sol.final[:, 2] == 2).all()


def test_a_jump_that_is_small_where_it_is_located_is_left_again():
    """sign(x - 0.3) + 0.1 is 0.1 there: it was taken to be at its zero for ever."""

    def passages(quantity):
        event = pi.event(quantity, then=lambda t, x, v: (x, v), keep=0)
        run = {"dt": 0.2, "n_steps": 150, "method": "rk4", "events": {"x": event}}
        return pi.integrate(pi.systems.oscillator, np.linspace(0.5, 2, 60), 0.3, **run).events["x"]

    signs, smooth = (
        passages(lambda t, x, v: np.sign(x - 0.3) + 0.1),
        passages(lambda t, x, v: x - 0.3),
    )
    assert (signs.count == smooth.count).all()


@pytest.mark.parametrize("centre", [0.0, 30.0, 100.0])
@pytest.mark.parametrize("run", [
    {"method": "rk4", "dt": 0.1, "n_steps": 300},
    {"method": "semi_implicit_euler", "dt": 0.005, "n_steps": 6000},
    {"method": "bogacki_shampine32", "t_end": 30.0, "rtol": 1e-4, "atol": 1e-4},
], ids=lambda run: run["method"])  # fmt: skip
def test_passages_of_a_jump_in_single_precision(run, centre):
    """Rounding moves them within the rest of a step: they were repeated, or all later ones lost."""
    pull = pi.acceleration(lambda t, x, v, c: c - x, dof=1, c=centre)
    solve = pi.integrate if "dt" in run else pi.solve
    for jump in (
        lambda t, x, v, a: np.sign(x - a) + 0.2,
        lambda t, x, v, a: np.where(x < a, -1.0, 2.0 + v),
    ):
        event = pi.event(jump, 1, then=lambda t, x, v: (x, v), params={"a": centre - 0.23})
        start = np.linspace(0.6, 1.5, 40) + centre
        sol = solve(pull(), start, 0.2, events={"x": event}, dtype=np.float32, **run)
        assert (sol.events["x"].count == 5).all()


def test_a_steep_passage_in_single_precision_is_no_jump():
    """On pieces that are known but for rounding it looked like one, and was repeated."""
    steep = pi.event(lambda t, x, v: (x - 3) / (1e-3 + np.abs(x - 3)), then=lambda t, x, v: (x, v))
    pull = pi.acceleration(lambda t, x, v: 3 - x, dof=1)
    run = {"dt": 0.03, "n_steps": 950, "method": "velocity_verlet", "dtype": np.float32}
    x = pi.integrate(pull(), np.linspace(3.6, 4.5, 100), 0.2, events={"x": steep}, **run).events[
        "x"
    ]
    assert ((x.count == 9) | x.unresolved).all()


def test_a_passage_that_rounding_repeats_backwards_is_none():
    """Polynomials of single precision go to and fro there: it was placed far away, untold."""
    pull = pi.acceleration(lambda t, x, v: -x, dof=1)
    event = pi.event(lambda t, x, v: np.where(x < 0.2, -1.0, 2.0), 1, then=lambda t, x, v: (x, v))
    run = {"t_end": 98.0, "rtol": 1e-4, "atol": 1e-4, "method": "dop853", "dtype": np.float32}
    sol = pi.solve(pull(), np.linspace(0.6, 1.5, 4000), -0.25, events={"x": event}, **run)
    assert (sol.events["x"].count == 15).all()


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_a_clock_ticks_on_after_a_tick_at_a_time_near_zero(rtol):
    """Its quantity rounds more than that time: three of 28 ticks were found."""
    tick = pi.event(lambda t, x, v: np.mod(t - 0.4962, 0.5) - 0.25, 1, then=lambda t, x, v: (x, v))
    start, run = np.linspace(1, 2, 9), {"t0": 0.96, "t_end": -13.5, "rtol": rtol, "atol": rtol}
    sol = pi.solve(pi.systems.oscillator, start, 0.0, method="dop853", events={"t": tick}, **run)
    assert (sol.events["t"].count == 28).all()
    assert not sol.events["t"].unresolved.any()
