"""Traps that the events of other packages have met, one each."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate import Status

G = 9.81
BALL = {
    "floor": pi.event(
        "z", direction=-1, then=lambda t, x, v, e: (x, v * [1, 1, -e]), params={"e": 0.5}, keep=60
    ),
}


def drop(events, height=1.0, n=1000, dt=0.01, **options):
    options = {"save": "final", "on_failure": "ignore", **options}
    x0 = np.stack([0 * np.asarray(height), 0 * np.asarray(height), height], axis=-1)
    return pi.integrate(
        pi.systems.projectile, x0, np.zeros(3), dt=dt, n_steps=n, events=events, **options
    )


def test_a_terminal_event_has_the_last_state_although_times_were_asked_for():
    """SciPy #10319: with t_eval the state of the event was not there."""
    ground = {"ground": pi.event("z", direction=-1, stop=True)}
    sol = pi.integrate(
        pi.systems.projectile, [0.0, 0, 1000], [0.0, 0, 0], dt=0.1, n_steps=400, events=ground,
        times=np.linspace(0, 40, 100),
    )  # fmt: skip
    assert 0 <= sol.final[2] < 1e-9
    assert abs(float(sol.stopped_at) - np.sqrt(2000 / G)) < 1e-12
    assert np.array_equal(sol.y[-1], sol.final)
    assert not sol.valid[-1]


@pytest.mark.parametrize("height", [0.5 * G * (7 * 0.25) ** 2, 0.5 * G * 0.25**2])
def test_a_stop_on_a_step_is_one_event_and_times_stay_increasing(height):
    """SciPy #17066 and #19418: an event at the border of a step gave the same time twice."""
    ground = {"ground": pi.event("z", direction=-1, stop=True)}
    sol = drop(ground, height, dt=0.25, n=12, save="all")
    assert np.all(np.diff(sol.t) > 0)
    assert sol.events["ground"].count == 1
    assert sol.status == Status.STOPPED
    assert sol.at(0.1).shape == (6,)


def test_every_trajectory_has_its_own_first_event():
    """torchdiffeq #201: an event of one trajectory stops the whole batch."""
    height = np.array([0.5, 1.0, 2.0])
    sol = drop({"ground": pi.event("z", direction=-1, stop=True)}, height)
    assert abs(sol.stopped_at - np.sqrt(2 * height / G)).max() < 1e-13
    alone = [drop({"ground": pi.event("z", direction=-1, stop=True)}, h) for h in height]
    assert same_bits(sol.final, np.array([one.final for one in alone]))


def test_a_run_that_begins_in_a_root_goes_forwards():
    """diffrax #713: from a root of the other direction time went back to it."""
    cross = {"up": pi.event("x", direction=1, keep=5)}
    sol = pi.integrate(pi.systems.oscillator, 0.0, -1.0, dt=0.02, n_steps=400, events=cross)
    assert sol.events["up"].count == 1
    assert abs(sol.events["up"].t[0] - np.pi) < 1e-6


def test_the_state_of_an_event_is_that_of_its_time():
    """The state is that of the event, not that of the end of its step."""
    stop = {"stop": pi.event(lambda t, x, v: t - 1.2345, stop=True)}
    sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=50, method="dop853", events=stop)
    assert abs(float(sol.stopped_at) - 1.2345) < 1e-14
    assert abs(sol.final - [np.cos(1.2345), -np.sin(1.2345)]).max() < 1e-13


@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
def test_no_ball_falls_through_the_floor(e):
    """DifferentialEquations.jl #138, #696: after many bounces, or one without recoil, it fell
    through; here it is ZENO, above the floor."""
    floor = {
        "floor": pi.event(
            "z", direction=-1, then=lambda t, x, v, e: (x, v * [1, 1, -e]), params={"e": e},
            max_per_step=40, keep=1,
        )
    }  # fmt: skip
    sol = drop(floor, np.array([0.1, 1.0, 5.0]), n=3000, save="all")
    assert sol["z"].min() > -1e-14
    assert (sol.status == Status.ZENO).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_no_ball_comes_to_rest_below_a_moving_floor(dtype):
    """Its last hops, lower than the rounding of the floor, were lost, and it fell. In single
    precision some still do: then the event is unresolved."""
    r, n = np.random.default_rng(28), 400
    low, fast, e = r.uniform(0, 0.1, n), r.uniform(1, 8, n), r.uniform(0.6, 0.9, n)
    floor = pi.event(
        lambda t, x, v, low, fast: x - low * np.sin(fast * t), direction=-1,
        then=lambda t, x, v, low, fast, e: (
            x, (1 + e) * low * fast * np.cos(fast * t) - e * v
        ), params={"low": low, "fast": fast, "e": e},
    )  # fmt: skip
    sol = pi.integrate(
        pi.acceleration(lambda t, x, v: 0 * x - G, dof=1), r.uniform(0.5, 2, n), 0.0, dt=0.003,
        n_steps=1300, events={"floor": floor}, dtype=dtype, save="final", on_failure="ignore",
    )  # fmt: skip
    fell = (sol.final[:, 0] < low * np.sin(fast * 3.9) - 1e-5) & (sol.status == Status.OK)
    assert not np.any(fell & ~sol.events["floor"].unresolved)
    assert dtype == "float32" or not np.any(fell)


@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("dt", [0.001, 0.005, 1 / 60])
def test_a_ball_that_falls_through_in_single_precision_tells(e, dt):
    """Hops of a few roundings take whole steps: a tenth of all balls fell without a word."""
    w = np.repeat([0.3, 1.0, 3.0, 10.0, 100.0], 8)
    floor = pi.event(
        lambda t, x, v, w: 1.876 * (x - w), direction=-1, keep=0,
        then=lambda t, x, v, e: (x, -e * v), params={"w": w, "e": e},
    )  # fmt: skip
    fall = pi.acceleration(lambda t, x, v: 0 * x - G, dof=1)
    sol = pi.integrate(
        fall, w + np.tile(np.linspace(0.1, 1.5, 8), 5), 0.0, dt=dt, n_steps=round(4 / dt),
        events={"floor": floor}, dtype=np.float32, save="final", on_failure="ignore",
    )  # fmt: skip
    fell = sol.final[:, 0] < w - 1e-4 * np.maximum(w, 1)
    assert not np.any(fell & ~sol.events["floor"].unresolved)


@pytest.mark.parametrize("dt", [0.01, 0.1, 0.5])
def test_bounces_within_one_step_are_all_located(dt):
    """After a bounce the height is a rounding above zero: the root of the chord is there, and the
    next bounce is not."""
    sol = drop(BALL, 1.0, n=round(1.5 / dt), dt=dt)
    expected = np.sqrt(2 / G) * (1 + 2 * np.cumsum(0.5 ** np.arange(1, 7)))
    assert abs(sol.events["floor"].t[1:7] - expected).max() < 1e-12


def test_the_same_event_happens_again():
    """DifferentialEquations.jl #138: a callback failed to trigger after some bounces."""
    sol = drop(BALL, 1.0, n=150)
    t, first = sol.events["floor"].t, np.sqrt(2 / G)
    expected = first * (1 + 2 * np.cumsum(0.5 ** np.arange(1, 4)))
    assert abs(t[1:4] - expected).max() < 1e-12


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_no_trajectory_of_a_batch_is_passed_over(n):
    """DiffEqGPU #191: most trajectories of a batch ignored their callback."""
    height = np.linspace(0.5, 3.0, n)
    sol = drop({"ground": pi.event("z", direction=-1, stop=True)}, height, workers=2)
    assert (sol.status == Status.STOPPED).all()
    assert abs(sol.stopped_at - np.sqrt(2 * height / G)).max() < 1e-13


def test_events_do_not_change_the_run():
    """Looking for events changes neither steps nor saves."""
    start = {"dt": 0.01, "n_steps": 300, "method": "rk4"}
    plain = pi.integrate(pi.systems.lorenz, **start)
    seen = pi.integrate(
        pi.systems.lorenz, **start, events={"plane": pi.event(lambda t, y: y[2] - 27, keep=9)}
    )
    assert same_bits(plain.y, seen.y)
    assert seen.events["plane"].count > 2


@pytest.mark.parametrize("direction", [-1, 1])
def test_the_state_is_on_the_side_not_yet_crossed_in_both_directions(direction):
    """DifferentialEquations.jl #551: now on the one side of a condition, now on the other."""
    level = np.linspace(-0.9, 0.9, 41)
    cross = {
        "cross": pi.event(
            lambda t, x, v, level: x - level, direction, params={"level": level}, keep=3
        )
    }
    sol = pi.integrate(pi.systems.oscillator, dt=0.05, n_steps=300, events=cross, save="final")
    side = sol.events["cross"]["x"] - level[:, np.newaxis]
    assert (sol.events["cross"].count >= 2).all()
    assert np.all((side * direction <= 0) | np.isnan(side))
    assert np.nanmax(abs(side)) < 1e-15


def test_what_a_rule_keeps_is_of_its_trajectory():
    """heyoka's callbacks share what they keep among all: here parameters are of each."""
    e = np.array([0.3, 0.6, 0.9])
    bounce = {
        "floor": pi.event(
            "z", -1, then=lambda t, x, v, e: (x, v * [1, 1, -e]), params={"e": e}, keep=2
        )
    }
    sol = drop(bounce, np.ones(3), n=110)
    first = np.sqrt(2 / G)
    assert abs(sol.events["floor"].t[:, 0] - first).max() < 1e-13
    second = first * (1 + 2 * e)
    there = second < 1.1
    assert abs(sol.events["floor"].t[there, 1] - second[there]).max() < 1e-12
    assert np.isnan(sol.events["floor"].t[~there, 1]).all()


# ---- compensated runs ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def carried():
    height = np.linspace(0.3, 4, 9)
    x0 = np.stack([0 * height, 0 * height, height], axis=-1)
    events = {
        "b": pi.event(
            "z", -1, keep=7, then=lambda t, x, v, e: (x, v * [1, 1, -e]), params={"e": 0.9}
        ),
        "far": pi.event(lambda t, x, v: x[0] - 6.0, stop=True),
    }

    def run(n=900, **options):
        options = {"compensated": True, "save": "final"} | options
        return pi.integrate(
            pi.systems.projectile_drag, x0, [1.0, 0, 0], dt=0.01, n_steps=n, events=events,
            on_failure="ignore", **options,
        )  # fmt: skip

    return run


def told(sol):
    b = sol.events["b"]
    parts = sol.stopped_at, sol.final, sol.status, b.t, b.y, b.count
    return [np.asarray(part).tobytes() for part in parts]


@pytest.mark.parametrize(
    "options", [{"save": "all"}, {"save": 9}, {"workers": 3}, {"bound": 1e6}], ids=str
)
def test_compensated_runs_have_events_whatever_the_split(carried, options):
    assert told(carried(**options)) == told(carried())


@pytest.mark.parametrize("cut", [1, 44, 256, 800])
def test_compensated_runs_with_events_are_resumed_to_the_bit(carried, cut):
    assert told(carried(cut).resume(n_steps=900 - cut)) == told(carried())


def test_compensated_events_are_those_of_a_plain_run_to_rounding(carried):
    a, b = carried().events["b"], carried(compensated=False).events["b"]
    assert np.nanmax(abs(a.t - b.t)) < 1e-13  # some hundred roundings of a time of 9


# ---- two zeros in a step -------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0.5, 1.5, 3.0, 4.0])
def test_two_zeros_in_a_step_are_found(dt):
    """SciPy #9228, CyRK #98: (t + 6)(t + 2)(t - 2), of whose three zeros two are in one step."""
    cubic = pi.rhs(dim=1)(lambda t, y: (3 * t * t + 12 * t - 4,))
    sol = pi.integrate(
        cubic, [-120.0], t0=-8.0, dt=dt, n_steps=round(12 / dt), events={"z": pi.event("y", keep=9)}
    )
    assert sol.events["z"].count == 3
    assert abs(sol.events["z"].t[:3] - [-6, -2, 2]).max() < 1e-12


@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("dt", [0.05, 0.1, 0.3])
def test_both_sides_of_an_extreme(direction, dt):
    """How deep an extreme lies within a step does not matter, nor where: arccos is exact."""
    level = np.linspace(0.9, 0.99999, 50)
    dip = {
        "dip": pi.event(
            lambda t, x, v, level: x - level, direction, params={"level": level}, keep=3
        )
    }
    sol = pi.integrate(
        pi.systems.oscillator, -1.0, 0.0, dt=dt, n_steps=round(6 / dt), method="dop853", events=dip
    )
    at = np.arccos(level)
    exact = np.stack([np.pi - at, np.pi + at], axis=-1)
    exact = exact[:, [0, 1] if direction == 0 else [int(direction < 0)]]
    assert (sol.events["dip"].count == exact.shape[1]).all()
    # dop853 has an error of some 1e-10 in x at dt = 0.3; near the top time has that over sin(at).
    error = abs(sol.events["dip"].t[:, : exact.shape[1]] - exact) * np.sin(at)[:, np.newaxis]
    assert error.max() < (1e-11 if dt == 0.3 else 1e-14) + 1e-14


def test_a_touch_is_no_crossing():
    """heyoka's double roots: x - 1 touches zero at the top of each turn, or not quite."""
    touch = {"touch": pi.event(lambda t, x, v: x - 1.0 - 1e-9, keep=0)}
    sol = pi.integrate(pi.systems.oscillator, dt=0.07, n_steps=500, method="dop853", events=touch)
    assert sol.events["touch"].count == 0


def hops():
    """Balls that bounce, and dip above a level of their own at the top of each hop."""
    height = np.linspace(0.5, 3, 40)
    level = 0.9999 * height * 0.81
    events = {
        "floor": pi.event(
            "z", -1, keep=9, then=lambda t, x, v: (x, v * [1, 1, -0.9]), max_per_step=9
        ),
        "top": pi.event(lambda t, x, v, level: x[2] - level, keep=9, params={"level": level}),
        "far": pi.event(lambda t, x, v: x[0] - 2.0, stop=True),
    }
    x0 = np.stack([0 * height, 0 * height, height], axis=-1)
    return x0, {"dt": 0.06, "events": events, "on_failure": "ignore"}


def hop(n=150, save="final", **options):
    x0, usual = hops()
    return pi.integrate(
        pi.systems.projectile, x0, [0.3, 0, 0], n_steps=n, save=save, **usual, **options
    )


def all_of(sol):
    parts = [sol.final, sol.stopped_at]
    for one in sol.events.values():
        parts += [one.t, one.y, one.count]
    return [np.asarray(part).tobytes() for part in parts]


@pytest.mark.parametrize(
    "options", [{"save": "all"}, {"save": 7}, {"workers": 2}, {"bound": 1e6}], ids=str,
)  # fmt: skip
def test_dips_do_not_depend_on_the_split(options):
    sol = hop()
    top = sol.events["top"].t[:, 1:3]  # after the first fall through the level
    assert np.all(np.diff(top) > 0)
    assert (np.diff(top) < 0.06).any()  # both in a step
    assert all_of(hop(**options)) == all_of(sol)


@pytest.mark.parametrize("cut", [1, 13, 16, 40, 90])
def test_dips_are_those_of_one_run_after_resume_and_by_hand(cut):
    sol = hop()
    assert all_of(hop(cut).resume(n_steps=150 - cut)) == all_of(sol)
    x0, usual = hops()
    usual.pop("on_failure")
    stepper = pi.Stepper(pi.systems.projectile, x0, [0.3, 0, 0], method="rk4", **usual)
    for n in (cut, 1, 1, 148 - cut):
        stepper.step(n)
    for name, one in sol.events.items():
        assert np.array_equal(stepper.events[name].t, one.t, equal_nan=True)
        assert np.array_equal(stepper.events[name].count, one.count)


@pytest.mark.parametrize("first", [False, True])
def test_what_happens_before_a_lane_leaves_its_bound_is_not_lost(first):
    # Both within the steps that the core makes in one call: z passes 0 at t = 0.09; x, where it
    # moves, leaves 100 in the step to t = 0.12.
    run = {"dt": 0.02, "n_steps": 12, "bound": 100.0, "on_failure": "ignore", "save": "final"}
    start = ([95.0, 0, -4.5], [50.0 if first else 0, 0, 50.0])
    there = {"up": pi.event("z", direction=1, stop=True)}
    sol = pi.integrate(pi.systems.projectile(g=0.0), *start, **run, events=there)
    assert sol.status == pi.Status.STOPPED
    assert abs(sol.stopped_at - 0.09) < 1e-12
    assert abs(sol.final[2]) < 1e-12
    counted = {"up": pi.event("z", direction=1)}
    sol = pi.integrate(pi.systems.projectile(g=0.0), *start, **run, events=counted)
    assert sol.events["up"].count == 1
    assert sol.status == (pi.Status.OUT_OF_BOUNDS if first else pi.Status.OK)


def test_the_step_in_which_a_lane_would_leave_its_bound_has_its_events_first():
    # A wall within the step that would leave: it holds, wherever the core begins to make steps, and
    # whether the lane has jumped before. Without a jump, what happens in that step is not counted.
    free = pi.acceleration(lambda t, x, v: 0 * x, dof=1)
    kick = pi.event(lambda t, y: y[0] - 1.05, direction=1, then=lambda t, y: (y[0] + 1e-6, y[1]))
    wall = pi.event(lambda t, y: y[0] - 1.52, direction=1, then=lambda t, y: (y[0], -y[1]))
    passed = pi.event(lambda t, y: y[0] - 1.52, direction=1)
    run = {"dt": 0.1, "bound": 1.55, "on_failure": "ignore"}
    for events in ({"kick": kick, "wall": wall}, {"wall": wall}):
        whole = pi.integrate(free, [[0, 1.0]], n_steps=20, events=events, **run)
        parts = pi.integrate(free, [[0, 1.0]], n_steps=12, events=events, **run).resume(n_steps=8)
        stepper = pi.Stepper(free, [[0, 1.0]], dt=0.1, bound=1.55, events=events)
        stepper.step(20)
        assert whole.status[0] == parts.status[0] == pi.Status.OK
        assert abs(whole.final[0, 0] - 1.04) < 2e-6
        assert np.array_equal(parts.final, whole.final)
        assert np.array_equal([*stepper.x, *stepper.v], whole.final[0])
    gone = pi.integrate(free, [[0, 1.0]], n_steps=20, events={"passed": passed}, **run)
    jumped = pi.integrate(free, [[0, 1.0]], n_steps=20, events={"k": kick, "passed": passed}, **run)
    assert gone.status[0] == jumped.status[0] == pi.Status.OUT_OF_BOUNDS
    assert gone.failed_step[0] == jumped.failed_step[0] == 16
    assert gone.events["passed"].count[0] == jumped.events["passed"].count[0] == 0


def test_attributes_of_a_function_count_as_in_solve_ivp():
    """A stop that is written the way of SciPy and read by nobody runs through the floor."""

    def hit(t, x, v):
        return x

    hit.direction, hit.terminal = -2.5, 2
    sol = pi.integrate(pi.systems.oscillator, 1.0, 0.0, dt=0.1, n_steps=100, method="dop853",
                       events={"e": pi.event(hit, keep=5)})  # fmt: skip
    assert abs(float(sol.stopped_at) - 2.5 * np.pi) < 1e-12  # cos t falls at pi / 2, 5 pi / 2
    assert sol.events["e"].count == 2
    own = pi.event(hit, direction=0, stop=False)
    assert (own.direction, own.stop) == (0, 0)
    hit.terminal = np.True_
    assert pi.event(hit).stop == pi.event("x", stop=np.True_).stop == 1
    hit.direction, hit.terminal = 0, None
    assert (pi.event(hit).direction, pi.event(hit).stop) == (0, 0)
    hit.direction = "down"
    with pytest.raises(ValueError, match="direction must be -1, 0 or 1, got 'down'"):
        pi.event(hit)


@pytest.mark.parametrize(
    "options",
    [{"watch": {"f": pi.watch.last(lambda t, x, v, force: force)}},
     {"watch": {"f": pi.watch.reduce(lambda kept, t, x, v, force: kept + force, 0.0)}},
     {"across": {"f": pi.across.mean(lambda t, x, v, force: force)}},
     {"events": {"f": pi.event("x", then=lambda t, x, v, force: (x, v + force))}}],
)  # fmt: skip
def test_a_function_may_not_take_what_the_drive_changes(options):
    """It would see the system's own value."""
    driven = {"dt": 0.1, "n_steps": 5, "drive": {"force": np.arange(5.0)}}
    with pytest.raises(ValueError, match="takes force, but the force alone sees"):
        pi.integrate(pi.systems.constant_force, 0.0, 0.0, **driven, **options)
    pi.integrate(pi.systems.constant_force, 0.0, 0.0, dt=0.1, n_steps=5, **options)


def test_a_bridge_or_a_tangent_that_jumps_may_not_need_what_the_drive_changes():
    """Chances of crossings, and saltation matrices, were those of the system's own value."""
    driven = {"dt": 0.1, "n_steps": 5}
    walk = pi.sde(dim=1, mu=0.0, s=1.0)(lambda t, y, mu, s: (mu, s))
    over = {"events": {"e": pi.event("y", level=1.0, bridge=True)}, "seed": 1}
    with pytest.raises(ValueError, match="or a jump of tangents takes s, but"):
        pi.integrate(walk, **driven, **over, drive={"s": np.ones(5)})
    pi.integrate(walk, **driven, **over, drive={"mu": np.ones(5)})
    bounce = {"events": {"e": pi.event("x", then=lambda t, x, v: (x, -v))}}
    tangent = pi.systems.constant_force.tangent(1)
    with pytest.raises(ValueError, match="or a jump of tangents takes force, but"):
        pi.integrate(tangent, **driven, **bounce, drive={"force": np.ones(5)})
    pi.integrate(pi.systems.constant_force, **driven, **bounce, drive={"force": np.ones(5)})


@pytest.mark.parametrize(
    ("dt", "harmonics", "zeros"),  # in steps
    [
        (0.2871289470621469, [-0.143522674, -0.488442681 - 0.659595442j,
         -0.937020153 + 1.348276964j, -0.564842183 - 1.304636993j], [2.9146, 4.2216, 4.9232]),
        (0.2932737535563296, [0.015969045, 1.373487905 + 0.654210414j, 0.001887794 - 0.000558283j,
         0.258558834 + 0.599718077j], [2.37998, 4.8190, 4.9151]),
        (0.2902546329112089, [-2.739083257, 1.807406928 - 1.137872609j, -0.474492587 - 1.728106441j,
         0.924771749 + 0.756502041j], [4.2093, 4.2195]),
    ],
)  # fmt: skip
def test_two_zeros_in_a_step_where_a_curve_bends_to_the_other_side(dt, harmonics, zeros):
    """The parabola through three states shows nothing of them."""

    def wave(t):
        return sum(c.real * np.cos(k * t) - c.imag * np.sin(k * t) for k, c in enumerate(harmonics))

    clock = pi.rhs(lambda t, y: [1.0 + 0 * y[0]], dim=1)
    event = {"q": pi.event(lambda t, y: wave(t), keep=6)}
    sol = pi.integrate(clock, [0.0], dt=dt, n_steps=7, events=event)
    assert sol.events["q"].count == len(zeros)
    np.testing.assert_allclose(sol.events["q"].t[: len(zeros)] / dt, zeros, atol=1e-4)
