"""Watches and events of runs to a tolerance: each accepted step, and where it crosses zero."""

import pickle

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate import Status

G, EPS = 9.81, np.finfo(float).eps
PAIRS = [name for name in pi.methods if pi.methods[name].embedded]
STOP = {"ground": pi.event("z", direction=-1, stop=True)}
FLOOR = pi.event(
    "z", direction=-1, then=lambda t, x, v, e: (x, v * [1, 1, -e]), params={"e": 0.5}, keep=60
)


def drop(events, height=1.0, t_end=1.3, **options):
    height = np.asarray(height)
    x0 = np.stack([0 * height, 0 * height, height], axis=-1)
    options = {"on_failure": "ignore", **options}
    return pi.solve(pi.systems.projectile, x0, np.zeros(3), t_end=t_end, events=events, **options)


def start(n=40):
    return np.random.default_rng(0).normal(size=(n, 3)) + [0, 0, 20]


# ---- watches -------------------------------------------------------------------------------------
WATCHES = {
    "mean": pi.watch.mean("x"), "rms": pi.watch.rms("x"), "variance": pi.watch.variance("x"),
    "std": pi.watch.std("x"), "slope": pi.watch.slope("x"), "integral": pi.watch.integral("x"),
    "maximum": pi.watch.maximum("x"), "max_abs": pi.watch.max_abs("x"), "last": pi.watch.last("x"),
    "first": pi.watch.first("y"), "late": pi.watch.mean("x", after=0.5),
    "right": pi.watch.time_within(lambda t, y: y[0] > 0),
    "own": pi.watch.reduce(lambda kept, t, y: kept + t * y[1], 0.0),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_phase_drift_of_more_than_half_a_turn(dtype):
    """As the analysis of all steps has it; its mean is the trapezoids', off by 1e-4."""
    x0, v0 = [1.0, 0.0], np.stack([np.zeros(5), np.linspace(0.6, 0.9, 5)], axis=-1)
    kinds = {"last": pi.watch.last, "largest": pi.watch.max_abs, "mean": pi.watch.mean}
    watch = {name: kind("phase_drift") for name, kind in kinds.items()}
    run = {"rtol": 1e-3, "watch": watch, "dtype": dtype}
    sol = pi.solve(pi.systems.kepler, x0, v0, t_end=1500.0, save="all", **run)
    drift, end = pi.analysis.phase_drift(sol), (sol.steps_taken, np.arange(5))
    assert np.count_nonzero(abs(drift[end]) > np.pi) == 3
    within = {"rtol": 1e-12 if dtype is np.float64 else 1e-5}  # the phase of one state
    np.testing.assert_allclose(sol.watched["last"], drift[end], **within)
    np.testing.assert_allclose(sol.watched["largest"], np.nanmax(abs(drift), axis=0), **within)
    mean = [np.trapezoid(drift[: n + 1, i], sol.t[: n + 1, i]) / 1500 for n, i in zip(*end)]
    np.testing.assert_allclose(sol.watched["mean"], mean, rtol=1e-4)
    resumed = pi.solve(pi.systems.kepler, x0, v0, t_end=700.0, **run).resume(t_end=1500.0)
    assert all(same_bits(resumed.watched[name], sol.watched[name]) for name in watch)


@pytest.mark.parametrize("t_end", [2.0, -0.3])
def test_a_watch_is_that_of_the_motion_between_the_steps_too(t_end):
    """Against many times of it on Boole's rule; the extremes of such times are off by 1e-8."""
    watch = {key: one for key, one in WATCHES.items() if t_end > 0 or key != "late"}
    run = {"t_end": t_end, "rtol": 1e-7}
    sol = pi.solve(pi.systems.lorenz, start(), watch=watch, save="all", **run)
    t = np.linspace(0, t_end, 40001)
    x, y = np.moveaxis(pi.solve(pi.systems.lorenz, start(), times=t, **run).y[..., :2], -1, 0)
    weights = np.tile([14, 32, 12, 32], 10000)
    weights = np.r_[7, weights[1:], 7] * 4 / 90 / 40000
    mean = weights @ x
    spread = weights @ (x - mean) ** 2
    line = np.polynomial.polynomial.polyfit(t, x, 1, w=np.sqrt(weights))
    expected = {
        "mean": mean, "rms": np.sqrt(weights @ x**2), "integral": t_end * mean,
        "variance": spread, "std": np.sqrt(spread), "slope": line[1], "slope.intercept": line[0],
        "maximum": x.max(0), "max_abs": abs(x).max(0), "last": x[-1], "first": y[0],
    }  # fmt: skip
    if t_end > 0:
        expected["late"] = np.trapezoid(x[10000:], t[10000:], axis=0) / 1.5
    for name, value in expected.items():
        assert sol.watched[name] == pytest.approx(value, rel=1e-5, abs=1e-5), name
    held = np.trapezoid(1.0 * (x > 0), t, axis=0) * np.sign(t_end)
    assert sol.watched["right"] == pytest.approx(held, abs=20 * abs(t_end) / 40000)
    own = [(sol.t[:n, i] * sol.y[:n, i, 1]).sum() for i, n in enumerate(sol.counts)]
    assert sol.watched["own"] == pytest.approx(own, rel=1e-12)
    assert np.array_equal(sol.watched["mean.count"], sol.counts)


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_components_have_the_numbers_of_sampled_quantities(rtol):
    """A component is known by its polynomial, anything else at points: within their errors."""
    w, floats = pi.watch, {"rtol": rtol, "atol": 1e-3 * rtol}
    linear, sampled = (
        {
            "mean": w.mean(q, after=2.0), "integral": w.integral(q), "most": w.maximum(q),
            "least": w.minimum(q), "size": w.max_abs(q), "spread": w.variance(q),
        }
        for q in ("x", lambda t, y: y[0] + 1e-300 * y[0] * y[0])
    )  # fmt: skip
    for system in (pi.systems.lorenz, pi.systems.rossler):
        a, b = (pi.solve(system, start(), t_end=7.0, **floats, watch=one).watched
                for one in (linear, sampled))  # fmt: skip
        for name in linear:
            off = a.get(f"{name}.error", 0.0) + b.get(f"{name}.error", 0.0)
            assert np.all(abs(a[name] - b[name]) <= off + 1e-10 * abs(a[name])), name
            if f"{name}.count" in a:
                assert np.array_equal(a[f"{name}.count"], b[f"{name}.count"])


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_no_later_extreme_is_beyond_that_of_the_whole_motion(rtol):
    """All swings of a pendulum are equal but for errors, which decide: each is looked at closely.
    The polynomial is one, its values differ by the rounding of sums of some ten terms."""
    first = np.random.default_rng(1).uniform(-0.5, 1.5, (100, 2))
    for kind in (pi.watch.maximum, pi.watch.minimum, pi.watch.max_abs):
        watch = {str(after): kind("theta", after=after) for after in np.linspace(0.1, 28.0, 12)}
        watch["all"] = kind("theta")
        sol = pi.solve(pi.systems.pendulum, first, t_end=30.0, rtol=rtol, watch=watch)
        size = abs(sol.watched["all"])
        for late in watch:
            beyond = sol.watched[late] - sol.watched["all"]
            assert np.all(beyond * np.sign(sol.watched["all"]) <= 1e-14 * size), late


@pytest.mark.parametrize(
    ("name", "first", "t_end", "event"),
    [
        ("lorenz", start(), 10.0, {"quantity": "z", "level": 27.0}),
        ("henon_heiles", [[0.0, 0.1, 0.5, 0.0]] * 9, 30.0, {"quantity": "x"}),
    ],
)
def test_events_of_a_component_keep_the_states_of_the_motion(name, first, t_end, event):
    """However many are kept: those that are not need no states, nor the other components."""
    none, few, all_of_them = (
        pi.solve(pi.systems[name], first, t_end=t_end, events={"e": pi.event(keep=k, **event)})
        .events["e"]
        for k in (0, 3, 60)
    )  # fmt: skip
    assert np.array_equal(none.count, few.count)
    assert np.array_equal(none.count, all_of_them.count)
    assert same_bits(few.y, all_of_them.y[:, :3])
    kept = ~np.isnan(all_of_them.t)
    times = np.where(kept, all_of_them.t, t_end).T
    y = np.moveaxis(pi.solve(pi.systems[name], first, t_end=t_end, times=times).y, 0, 1)
    assert kept.sum() > 40
    assert all_of_them.y[kept] == pytest.approx(y[kept], rel=1e-12, abs=1e-12)


def test_states_that_count():
    """All that are kept, those on both sides of a jump among them; from a time on: those after."""
    watch = {"all": pi.watch.mean("z"), "late": pi.watch.maximum(lambda t, x, v: v @ v, after=0.7)}
    watch["some"] = pi.watch.mean("z", after=0.7)
    watch["nan"] = pi.watch.mean(lambda t, x, v: np.sqrt(x[2] - 0.5))
    sol = drop({"floor": FLOOR}, [1.0, 1.1], save="all", watch=watch)
    t, z = sol.t, sol.y[..., 2]
    assert np.array_equal(sol.watched["all.count"], sol.counts)
    assert np.array_equal(sol.watched["some.count"], (t >= 0.7).sum(axis=0))
    first = [int(np.argmax(z[:, i] < 0.5)) for i in range(2)]
    assert sol.watched["nan.nan_step"].tolist() == first
    assert sol.watched["all.nan_step"].tolist() == sol.watched["late.nan_step"].tolist() == [-1, -1]


@pytest.mark.parametrize("t0", [0.0, -50.0, 1000.0])
def test_conditions_change_once_at_a_zero_however_tight_the_tolerance(t0):
    """At 1e-11 a zero is enclosed so closely that rounding, of the time above all, is what is seen
    there. Exact motions, at 20,001 times: none of these turns back nearer to zero than 1e-4."""
    phase, omega = np.random.default_rng(0).uniform(-3, 3, 60), 1.6108739606336506
    conditions = {
        "product": lambda t, x, v: x * np.cos(omega * t) > 0.43,
        "both": lambda t, x, v: (x > 0.3) & (np.cos(omega * t) > 0.1),
    }
    zero = pi.event(lambda t, x, v: x * np.cos(omega * t) - 0.43, direction=1)
    sol = pi.solve(
        pi.systems.oscillator, np.cos(phase), -np.sin(phase), t0=t0, t_end=t0 + 20.0, rtol=1e-11,
        atol=1e-13, events={k: pi.event(f) for k, f in conditions.items()} | {"zero": zero},
        watch={k: pi.watch.entries(f) for k, f in conditions.items()}, save="final",
    )  # fmt: skip
    t = np.linspace(0.0, 20.0, 20_001)
    for name, condition in conditions.items():
        holds = condition(t0 + t, np.cos(t + phase[:, None]), None)
        enters = (holds[:, 1:] & ~holds[:, :-1]).sum(axis=1)
        assert np.array_equal(sol.watched[name], enters)
        assert np.array_equal(sol.events[name].count, enters + holds[:, 0])
        assert not sol.events[name].unresolved.any()
        if name == "product":
            assert np.array_equal(sol.events["zero"].count, enters)


CONDITIONS = {  # of x = cos t, v = -sin t: where each begins and ends to hold in a turn
    "v > 0": (lambda t, x, v: v > 0, [(np.pi, 2 * np.pi)]),
    "|v| < 1/2": (lambda t, x, v: abs(v) < 0.5,
                  [(0.0, np.pi / 6), (5 * np.pi / 6, 7 * np.pi / 6), (11 * np.pi / 6, 2 * np.pi)]),
    "both": (lambda t, x, v: (x > 0) & (v > 0), [(1.5 * np.pi, 2 * np.pi)]),
    "either": (lambda t, x, v: (x > 0.5) | (v > 0.5),
               [(0.0, np.pi / 3), (7 * np.pi / 6, 2 * np.pi)]),
    "at once": (lambda t, x, v: (x > v) & (x + v > 0) & (np.maximum(x, v) < 0.9),
                [(np.arccos(0.9), np.pi / 4), (7 * np.pi / 4, 2 * np.pi - np.arccos(0.9))]),
}  # fmt: skip


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_change_where_what_they_compare_is_zero(name, rtol):
    """Three turns from rest; the states are off by at most 30 rtol, and so are the moments, by ten
    times as much where what is compared has a tenth of the speed."""
    condition, turn = CONDITIONS[name]
    spans = [(a + 2 * np.pi * k, b + 2 * np.pi * k) for k in range(3) for a, b in turn]
    begins = np.array([a for a, _ in spans if not any(abs(a - b) < 1e-9 for _, b in spans)])
    t_end = 6 * np.pi - 1e-3
    sol = pi.solve(
        pi.systems.oscillator, np.ones(3), 0.0, t_end=t_end, rtol=rtol, atol=1e-3 * rtol,
        events={"on": pi.event(condition, keep=20)}, save="final",
        watch={"on": pi.watch.time_within(condition), "n": pi.watch.entries(condition)},
    )  # fmt: skip
    found = sol.events["on"]
    assert np.all(found.count == len(begins))
    assert not found.unresolved.any()
    assert abs(found.t[:, : len(begins)] - begins).max() < 300 * rtol
    assert np.all(sol.watched["n"] == len(begins[begins > 0]))
    within = sum(min(b, t_end) - min(a, t_end) for a, b in spans)
    assert sol.watched["on"] == pytest.approx(within, abs=300 * rtol * len(spans))


def test_rounding_of_large_times_is_known_to_watches():
    """The cosine is off by 3 t0 EPS = 7e-7 at each moment, the mean by far less."""
    t0, t = 1e9, np.linspace(0.0, 20.0, 200_001)
    sol = pi.solve(
        pi.systems.oscillator, 1.0, 0.0, t0=t0, t_end=t0 + 20.0, rtol=1e-9, atol=1e-12,
        watch={"mean": pi.watch.mean(lambda t, x, v: x - 0.3 * np.cos(3 * t))},
    )  # fmt: skip
    exact = np.trapezoid(np.cos(t) - 0.3 * np.cos(3 * (t0 + t)), t) / 20.0
    off = 3 * t0 * EPS
    assert abs(sol.watched["mean"] - exact) <= off
    assert sol.watched["mean.error"] <= 4 * off


SMALL = {
    "phase": "phase_drift",
    "cosine": lambda t, x, v: np.cos(v) - 1,
    "times a number": lambda t, x, v: 9.81 * (1 - np.cos(v)),
    "of large": lambda t, x, v: 1e3 - 1e3 * np.cos(v),
}


@pytest.mark.parametrize("quantity", SMALL)
@pytest.mark.parametrize("name", ["oscillator", "pendulum"])
def test_small_differences_of_large_numbers_are_known_to_their_rounding(name, quantity):
    """At rest, or at the bottom, no change of the state shows the rounding: all was NaN."""
    start = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    watch = {kind: getattr(pi.watch, kind)(SMALL[quantity]) for kind in ("maximum", "mean")}
    run = {"t_end": 20.0, "method": "dop853", "watch": watch}
    near, far = (pi.solve(pi.systems[name], start, rtol=r, atol=r / 1e3, **run).watched
                 for r in (1e-12, 1e-9))  # fmt: skip
    for kind in watch:
        assert near[kind] == pytest.approx(far[kind], rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("wave", [
    lambda t, x: np.floor(4 * x) * 2.0**-52,
    lambda t, x: np.where(np.floor(t) - 2 * np.floor(np.floor(t) / 2) == 1, 2.0, 1.0),
    lambda t, x: np.where(np.floor(t) % 2 == 1, 2.0, 1.0),
])  # fmt: skip
def test_no_jump_is_taken_for_rounding(wave):
    """Of multiples of a last digit, or of whole numbers that are compared."""
    watch = {"mean": pi.watch.mean(lambda t, x, v: wave(t, x) + 0 * x)}
    sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=20 * np.pi, rtol=1e-8, watch=watch)
    t = (np.arange(2_000_000) + 0.5) * (20 * np.pi / 2_000_000)
    exact = wave(t, np.cos(t)).mean()
    assert sol.watched["mean"] == pytest.approx(exact, rel=3e-6)


def test_long_steps_hide_nothing_from_watches():
    """Steps of two radians of x = cos t. The error of the states at 1e-6 is about 1e-6."""
    w, t_end = pi.watch, 200.0
    watch = {
        "square": w.mean(lambda t, x, v: x * x), "size": w.integral(lambda t, x, v: np.abs(x)),
        "T": w.periods("x"), "turns": w.windings("phase"), "least": w.minimum("x"),
        "in": w.time_within(lambda t, x, v: x > 0.9), "enters": w.entries(lambda t, x, v: x > 0.9),
        "first": w.first_time(lambda t, x, v: x < -0.5),
        "both": w.time_within(lambda t, x, v: (x > 0.9) & (v > 0)),
    }  # fmt: skip
    sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=t_end, rtol=1e-6, atol=1e-6, watch=watch)
    plain = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=t_end, rtol=1e-6, atol=1e-6)
    assert same_bits(sol.final, plain.final)
    assert sol.steps_taken < 130
    angle = np.arccos(0.9)
    exact = {
        "square": 0.5 + np.sin(2 * t_end) / (4 * t_end),
        "T": 2 * np.pi, "turns": t_end / (2 * np.pi), "least": -1.0, "in": 64 * angle - angle,
        "enters": 31, "first": 2 * np.pi / 3, "both": 31 * angle,
        "size": 2 * 64 + np.sin(t_end),  # 127.5 half turns: up to 63.5 pi, then 0.508 from there
    }  # fmt: skip
    for name, value in exact.items():
        assert sol.watched[name] == pytest.approx(value, rel=1e-5), name


@pytest.mark.parametrize("level", [0.3, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_no_crossing_of_a_long_step_is_missed(level, rtol):
    """Of cos(t + phase) up to t = 20, half a tolerance and more away from grazing the ends."""
    phase = np.random.default_rng(1).uniform(0, 2 * np.pi, 300)
    angle = np.arccos(level)
    crossings = (2 * np.pi * np.arange(5)[:, np.newaxis] + [-angle, angle]).ravel()
    after = crossings[:, np.newaxis] - phase
    clear = (abs(after) > 1e-3).all(0) & (abs(after - 20) > 1e-3).all(0)
    sol = pi.solve(
        pi.systems.oscillator, np.cos(phase), -np.sin(phase), t_end=20.0, rtol=rtol, atol=rtol,
        events={"x": pi.event("x", level=level)},
    )  # fmt: skip
    count = ((after > 0) & (after < 20)).sum(0)
    assert clear.sum() > 290
    assert np.array_equal(sol.events["x"].count[clear], count[clear])
    assert not sol.events["x"].unresolved.any()


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-10])
def test_linear_quantities_are_seen_as_others_are(rtol):
    """The same zeros, extremes and means, once as a polynomial of the step and once by values."""
    start = np.random.default_rng(5).uniform(0.5, 1, (50, 3)) * [10, 10, 30]
    found = [
        pi.solve(
            pi.systems.lorenz, start, t_end=3.0, rtol=rtol, atol=rtol, save="final",
            events={"e": pi.event(q, keep=30)},
            watch={"mean": pi.watch.mean(q), "most": pi.watch.maximum(q)},
        )
        for q in (
            lambda t, y: y[2] / 2 - y[0] - 13,
            lambda t, y: y[2] / 2 - y[0] - 13 + 1e-300 * y[1] * y[1],
        )
    ]  # fmt: skip
    a, b = found
    assert a.events["e"].count.tolist() == b.events["e"].count.tolist()
    assert a.events["e"].count.sum() > 15
    assert np.nanmax(abs(a.events["e"].t - b.events["e"].t)) < 100 * rtol
    for name in ("mean", "most"):
        assert abs(a.watched[name] - b.watched[name]).max() < 100 * rtol


def test_kicks_faster_than_the_motion_are_all_met():
    kick = pi.event(lambda t, x, v: np.sin(3 * np.pi * t), then=lambda t, x, v: (x, v + 1e-3),
                    keep=70)  # fmt: skip
    sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=20.1, events={"kick": kick})
    assert sol.events["kick"].count == 60
    assert abs(sol.events["kick"].t[:60] - np.arange(1, 61) / 3).max() < 1e-13


def test_watches_of_named_quantities_agree_with_the_analyses():
    sol = pi.solve(
        pi.systems.pendulum, np.linspace(0.5, 2, 5), 0.0, t_end=20.0, rtol=1e-6, save="all",
        watch=["energy_drift"],
    )  # fmt: skip
    error = np.nanmax(abs(sol.energy_error()), axis=0)
    assert (sol.watched["energy_drift.largest"] >= error * (1 - 1e-9)).all()  # within steps as well
    assert (sol.watched["energy_drift.largest"] < 3 * error).all()
    oscillator = pi.solve(
        pi.systems.oscillator, t_end=100.0, rtol=1e-10,
        watch={"T": pi.watch.periods("x"), "turns": pi.watch.windings("phase")},
    )  # fmt: skip
    assert abs(oscillator.watched["T"] - 2 * np.pi) < 1e-8
    assert abs(oscillator.watched["turns"] - 100 / (2 * np.pi)) < 1e-9


def test_over_no_time_a_mean_is_the_only_value():
    sol = pi.solve(pi.systems.lorenz, start(3), t_end=0.0, watch=WATCHES)
    assert same_bits(sol.watched["mean"], sol.initial[:, 0])
    assert np.all(sol.watched["variance"] == 0)
    assert np.isnan(sol.watched["slope"]).all()
    assert np.all(sol.watched["mean.count"] == 1)
    assert np.all(sol.watched["late.count"] == 0)


@pytest.mark.parametrize("start", [1.0, 1e6])
def test_nothing_is_left_of_an_exact_line(start):
    """Sums of squares cancel: 1e-5 of 2000 would be left of them."""
    line = pi.rhs(dim=1)(lambda t, y: (2 + 0 * y[0],))
    sol = pi.solve(line, [start], t_end=1000.0, watch={"s": pi.watch.slope("y")})
    assert sol.watched["s.residual"] < 4 * EPS * start + 2000 * 4 * EPS
    assert abs(sol.watched["s"] - 2) < 8 * EPS * (1 + start / 1000)
    assert abs(sol.watched["s.intercept"] - start) <= 4 * EPS * (start + 2000)


@pytest.mark.parametrize("verb", [pi.solve, pi.integrate])
def test_a_batch_of_nobody_has_seen_nothing(verb):
    how = {"dt": 0.1} if verb is pi.integrate else {}
    sol = verb(pi.systems.lorenz, np.ones((2, 0, 3)), t_end=1.0, **how,
               watch={"m": pi.watch.mean("x")}, events={"x": pi.event("x")})  # fmt: skip
    assert sol.watched["m"].shape == sol.stopped_at.shape == (2, 0)
    assert sol.events["x"].y.shape == (2, 0, 1, 3)


# ---- events --------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", PAIRS)
def test_an_event_is_as_exact_as_the_steps_of_every_pair(method):
    """x = cos t falls through zero at pi/2, and on the way back; v at 2 pi, where it stops."""
    event = {"x": pi.event("x", keep=2), "end": pi.event("v", direction=-1, stop=True, keep=1)}
    sol = pi.solve(
        pi.systems.oscillator, 1.0, 0.0, t_end=9.0, rtol=1e-6, atol=1e-6, method=method,
        events=event, max_steps=10**7,
    )  # fmt: skip
    assert sol.status == Status.STOPPED
    assert sol.stopped_by == "end"
    exact = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=2 * np.pi, rtol=1e-6, atol=1e-6,
                     method=method, max_steps=10**7)  # fmt: skip
    error = abs(exact.final - exact.initial).max() + 1e-14  # what the steps have lost by then
    assert abs(sol.events["x"].t - np.pi * np.array([0.5, 1.5])).max() < 5 * error
    assert abs(float(sol.stopped_at) - 2 * np.pi) < 5 * error
    # Rounding, and a secant's; what stops is on the side before.
    assert abs(sol.events["x"]["x"]).max() < 1e-14
    assert sol.final[1] >= 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("system", ["compiled", "byte code", "called"])
def test_events_of_all_kinds_of_forces(system, dtype):
    def force(t, x, v):
        return -x

    made = {
        "compiled": pi.systems.oscillator(omega=1.0), "byte code": pi.acceleration(force),
        "called": pi.acceleration(trace=False)(force),
    }  # fmt: skip
    x0 = np.linspace(0.5, 2, 37).astype(dtype)
    sol = pi.solve(made[system], x0, np.zeros_like(x0), t_end=5.0, rtol=2e-5, dtype=dtype,
                   events={"x": pi.event("x", stop=2)})  # fmt: skip
    assert abs(sol.stopped_at - 1.5 * np.pi).max() < 2e-3
    assert np.all(sol.events["x"].count == 2)


def test_looking_changes_no_step():
    events = {"plane": pi.event(lambda t, y: y[2] - 27, keep=9)}
    run = {"t_end": 3.0, "save": "all"}
    plain = pi.solve(pi.systems.lorenz, start(), **run)
    looked = pi.solve(
        pi.systems.lorenz, start(), events=events, watch={"m": WATCHES["mean"]}, **run
    )
    assert same_bits(plain.y, looked.y)
    assert looked.events["plane"].count.min() > 2
    found = looked.events["plane"].y[..., 2]
    assert abs(found[np.isfinite(found)] - 27).max() < 1e-11  # a rounding of t, at that speed


def test_nothing_depends_on_the_neighbours_or_on_the_threads():
    events = {"plane": pi.event(lambda t, y: y[2] - 27, keep=3), "far": pi.event("x", stop=2)}
    run = {"t_end": 3.0, "events": events, "watch": WATCHES}
    whole = pi.solve(pi.systems.lorenz, start(200), **run)
    parts = [
        (slice(None), pi.solve(pi.systems.lorenz, start(200), workers=3, **run)),
        (slice(5, 6), pi.solve(pi.systems.lorenz, start(200)[5:6], **run)),
        (slice(100, 177), pi.solve(pi.systems.lorenz, start(200)[100:177], **run)),
    ]
    assert set(whole.status) == {Status.STOPPED, Status.OK}
    for part, sol in parts:
        assert same_bits(whole.final[part], sol.final)
        assert same_bits(whole.stopped_at[part], sol.stopped_at)
        assert same_bits(whole.events["plane"].y[part], sol.events["plane"].y)
        for name in whole.watched:
            assert same_bits(whole.watched[name][part], sol.watched[name]), name


def test_who_stops_makes_room(monkeypatch):
    """Of 64 lanes one goes on fifty times as far as the others, which would wait for it."""
    monkeypatch.setattr("pyintegrate.user_system.callback._LANES_A_CALL", 64)
    asked = []

    @pi.acceleration(trace=False, end=1.0)
    def oscillator(t, x, v, end):
        asked.append(np.size(x))
        return -x

    system = oscillator(end=np.where(np.arange(640) % 64, 1.0, 50.0))
    over = pi.event(lambda t, x, v, end: t - end, stop=True)
    sol = pi.solve(system, 1.0, 0.0, t_end=100.0, max_step=0.5, events={"over": over})
    np.testing.assert_allclose(sol.stopped_at, system.params["end"], rtol=1e-12)
    assert sol.evaluations.sum() > 0.2 * sum(asked)


# ---- traps of other packages ---------------------------------------------------------------------
def test_a_terminal_event_has_the_last_state_although_times_were_asked_for():
    """SciPy #10319."""
    sol = drop(STOP, 1000.0, t_end=40.0, times=np.linspace(0, 40, 100))
    assert 0 <= sol.final[2] < 1e-9
    assert abs(float(sol.stopped_at) - np.sqrt(2000 / G)) < 1e-11
    assert same_bits(sol.y[-1], sol.final)
    assert list(sol.valid) == list(sol.t <= sol.stopped_at)


def test_times_stay_increasing_and_the_event_is_one():
    """SciPy #17066: the time of an event at the end of a step came twice."""
    t_end = 0.5
    sol = drop(STOP, 0.5 * G * t_end**2, t_end=t_end, save="all", first_step=0.25, max_step=0.25)
    assert np.all(np.diff(sol.t) > 0)
    assert sol.events["ground"].count == 1
    assert sol.at(0.1).shape == (6,)


def test_a_run_that_begins_in_a_root_goes_on():
    """SciPy #9228, diffrax #713: a zero at the start is no event."""
    sol = pi.solve(pi.systems.oscillator, 0.0, 1.0, t_end=4.0,
                   events={"x": pi.event("x", stop=True)})  # fmt: skip
    assert abs(float(sol.stopped_at) - np.pi) < 1e-5


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_two_zeros_in_one_long_step_are_found(level):
    """x = cos t is above the level for less than a step of order 9."""
    sol = pi.solve(
        pi.systems.oscillator, 1.0, 0.0, t_end=20.0, rtol=1e-7, method="verner98",
        events={"top": pi.event(lambda t, x, v: x - level, keep=9)}, save="all",
    )  # fmt: skip
    angle = np.arccos(level)
    expected = np.r_[angle, [2 * np.pi * k + s * angle for k in (1, 2, 3) for s in (-1, 1)]]
    assert np.diff(sol.t).max() > 2 * np.arccos(0.99)
    assert sol.events["top"].count == 7
    assert abs(sol.events["top"].t[:7] - expected).max() < 1e-5


# ---- jumps ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["auto", "dop853", "tsitouras54", "kvaerno43"])
def test_a_ball_bounces_as_it_should(method):
    sol = drop({"floor": FLOOR}, method=method, save="all")
    expected = np.sqrt(2 / G) * (1 + 2 * np.cumsum(0.5 ** np.arange(1, 5)))
    assert abs(sol.events["floor"].t[1:5] - expected).max() < 1e-12
    assert sol["z"].min() >= 0
    twice = np.flatnonzero(np.diff(sol.t) == 0)  # both sides of a jump are steps that are kept
    assert len(twice) == 5
    assert same_bits(sol["vz"][twice + 1], -0.5 * sol["vz"][twice])


def test_nothing_interpolates_across_a_jump():
    sol = drop({"floor": FLOOR}, save="all")
    first = np.sqrt(2 / G)
    t = np.array([0.2, 0.44, 0.46, 0.6])
    up = t > first
    z = np.where(up, 0.5 * G * first * (t - first) - G / 2 * (t - first) ** 2, 1 - G / 2 * t * t)
    assert abs(sol.at(t)[:, 2] - z).max() < 1e-12
    assert abs(drop({"floor": FLOOR}, times=t)["z"] - z).max() < 1e-12


@pytest.mark.parametrize("method", ["tsitouras54", "bogacki_shampine32", "verner98", "radau_iia5"])
def test_the_step_after_a_jump_is_one_from_there(method):
    """Also of methods that begin with the last slope of the step before, which is another's."""
    decay = pi.rhs(dim=1)(lambda t, y: (-y[0],))
    up = pi.event(lambda t, y: y[0] - 0.5, direction=-1, then=lambda t, y: 8 * y)
    run = {"rtol": 1e-6, "atol": 1e-9, "method": method}
    sol = pi.solve(decay, [1.0], t_end=2.0, events={"up": up}, save="all", **run)
    (landing,) = 1 + np.flatnonzero(sol.t[1:] == sol.t[:-1])
    t0, t_end = sol.t[landing : landing + 2]
    step = pi.solve(decay, sol.y[landing], t0=t0, t_end=t_end, first_step=t_end - t0, **run)
    assert step.steps_taken == 1
    # Radau's method begins elsewhere, and ends within some hundredths of the tolerance.
    close = 1e-7 if method == "radau_iia5" else 1e-14
    assert sol.y[landing + 1] == pytest.approx(step.final, rel=close)


def test_after_a_stop_there_are_no_states_and_the_event_is_named():
    sol = drop({"floor": pi.event("z", direction=-1, stop=True)}, save="all")
    with pytest.raises(ValueError, match="outside the times .* of the run, stopped by 'floor'$"):
        sol.at(2.9)


def test_a_watch_sees_both_sides_of_a_jump():
    """The integral of the speed is the way: each parabola by the trapezoidal rule of its ends is
    exact for v, which is linear between the jumps."""
    sol = drop({"floor": FLOOR}, watch={"way": pi.watch.integral("vz")})
    assert abs(sol.watched["way"] - (sol.final[2] - 1.0)) < 1e-11  # of bounces, each to rounding


@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
def test_no_ball_falls_through_the_floor(e):
    floor = pi.event("z", direction=-1, then=lambda t, x, v, e: (x, v * [1, 1, -e]),
                     params={"e": e}, max_per_step=40)  # fmt: skip
    sol = drop({"floor": floor}, np.array([0.1, 1.0, 5.0]), t_end=30.0, save="all")
    assert np.nanmin(sol["z"]) > -1e-14
    assert (sol.status == Status.ZENO).all()
    assert "max_per_step" in sol.failures()
    assert "last step" not in sol.failures()  # the next may be longer than the run


def test_many_honest_bounces_are_no_zeno():
    floor = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -1]), keep=1)
    sol = drop({"floor": floor}, 0.01, t_end=100.0)
    assert sol.status == Status.OK
    assert sol.events["floor"].count == round(100.0 / (2 * np.sqrt(0.02 / G)))


def test_a_jump_to_what_is_no_number_fails_there():
    bad = pi.event("z", direction=-1, then=lambda t, x, v: (x, v / 0.0))
    sol = drop({"floor": bad})
    assert sol.status == Status.NOT_FINITE
    assert np.isfinite(sol.final).all()


def test_an_ensemble_of_balls_with_a_restitution_each():
    """The bouncing balls of DiffEqGPU: x'' = -g from 50, and v -> -e v at the ground."""
    e = np.linspace(0.7, 1.0, 100)  # the first comes to rest at t = 18
    floor = pi.event(
        "x", direction=-1, then=lambda t, x, v, e: (x, -e * v), params={"e": e}, keep=4
    )
    ball = pi.acceleration(lambda t, x, v: 0 * x - 9.8)
    sol = pi.solve(ball, np.full(100, 50.0), 0.0, t_end=15.0, events={"floor": floor}, rtol=1e-8)
    first = np.sqrt(100 / 9.8)
    second = first * (1 + 2 * e)
    assert np.all(sol.status == Status.OK)
    assert abs(sol.events["floor"].t[:, 0] - first).max() < 1e-12
    assert np.nanmax(abs(sol.events["floor"].t[:, 1] - second)) < 1e-11


# ---- discontinuous forces ------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["auto", "dop853", "bogacki_shampine32", "kvaerno43"])
def test_discontinuous_forces_do_not_hang(method):
    """Dry friction, with and without an event at rest: steps shrink at the jump of the force, and
    either pass or say why not."""
    slide = pi.acceleration(lambda t, x, v: -x - np.sign(v))
    options = {"t_end": 10.0, "max_steps": 20000, "on_failure": "ignore", "method": method}
    sol = pi.solve(slide, [5.3, 2.2, 0.1], 0.0, rtol=1e-6, atol=1e-6, **options)
    assert np.all(sol.steps_taken + sol.rejected <= 20000)
    ends = [Status.OK, Status.TOO_MANY_STEPS, Status.STEP_TOO_SMALL, Status.NOT_CONVERGED]
    assert np.isin(sol.status, ends).all()
    rest = {"turn": pi.event("v", keep=1, stop=True)}
    sol = pi.solve(slide, 5.3, -1e-9, rtol=1e-6, atol=1e-6, events=rest, **options)
    assert abs(float(sol.stopped_at) - np.pi) < 1e-3  # half a period about x = 1
    assert abs(sol.final[0] + 3.3) < 1e-3


# ---- going on ------------------------------------------------------------------------------------
def test_resume_carries_watches_and_events_on():
    events = {"plane": pi.event(lambda t, y: y[2] - 27, keep=50), "far": pi.event("x", stop=1)}
    run = {"events": events, "watch": {"m": WATCHES["integral"], "n": WATCHES["mean"]}}
    part = pi.solve(pi.systems.lorenz, start(), t_end=1.0, rtol=1e-10, **run)
    before = part.events["plane"].count.copy()
    both = part.resume(t_end=2.0)
    whole = pi.solve(pi.systems.lorenz, start(), t_end=2.0, rtol=1e-10, **run)
    assert np.array_equal(part.events["plane"].count, before)  # the first keeps its own
    assert np.array_equal(both.events["plane"].count, whole.events["plane"].count)
    assert np.array_equal(both.status, whole.status)
    assert same_bits(both.events["plane"].t, whole.events["plane"].t)
    assert same_bits(both.watched["m"], whole.watched["m"])
    assert np.all(both.watched["n.count"] >= part.watched["n.count"])
    stopped = part.status == Status.STOPPED
    assert stopped.any()
    assert same_bits(both.final[stopped], part.final[stopped])


def test_pickles_keep_what_was_seen_and_say_what_they_forget():
    sol = drop({"floor": FLOOR}, watch={"far": pi.watch.maximum("z")})
    again = pickle.loads(pickle.dumps(sol))
    assert same_bits(again.watched["far"], sol.watched["far"])
    assert same_bits(again.events["floor"].y, sol.events["floor"].y)
    assert same_bits(again.stopped_at, sol.stopped_at)
    with pytest.warns(UserWarning, match=r"unpickled.*\(floor, far\)"):
        again.resume(t_end=1.4)


def test_jumps_in_last_steps_are_counted_among_the_most_steps():
    # Each jump, at a turning point, cuts the step that was to be the last.
    jump = pi.event("v", then=lambda t, y: (y[0] * 1.01, y[1]), keep=3)
    run = {"rtol": 2e-5, "atol": 1e-5, "method": "tsitouras54", "dtype": "float32"}
    rng = np.random.default_rng(0)
    start, t0 = rng.normal(size=(17, 2)) * 2, rng.normal(size=17)
    t_end = t0 + rng.uniform(0.1, 15, 17) * rng.choice([-1, 1], 17)
    sol = pi.solve(
        pi.systems.oscillator, start, t0=t0, t_end=t_end, max_steps=300, save="final",
        events={"jump": jump}, on_failure="ignore", **run,
    )  # fmt: skip
    assert sol.steps_taken.max() <= 300


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_ball_that_comes_to_rest_is_zeno_in_both_precisions(dtype):
    # All bounces lie before t = sqrt(2 h / g) (1 + e) / (1 - e) = 1.92 s: the run cannot reach 5 s.
    bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.5]))
    sol = pi.solve(
        pi.systems.projectile, [0, 0, 2.0], [1.0, 0, 0], t_end=5.0, events={"b": bounce},
        dtype=dtype, on_failure="ignore",
    )  # fmt: skip
    assert sol.status == pi.Status.ZENO
    assert sol.events["b"].count < 200


@pytest.mark.parametrize("rtol", [1e-6, 1e-11])
def test_a_wall_against_which_a_drive_pushes_is_not_passed(rtol):
    """After its last hops a mass went through the wall and back within a long step."""
    r, n = np.random.default_rng(9), 150
    driven = pi.acceleration(lambda t, x, v, F, w: F * np.cos(w * t) - x, F=1.0, w=2.0)
    params = {"s": r.uniform(-0.5, 1, n), "e": r.uniform(0.3, 0.95, n)}
    wall = pi.event(
        lambda t, x, v, s: x - s, 1, params=params, then=lambda t, x, v, s, e: (s, -e * v)
    )
    sol = pi.solve(
        driven(F=r.uniform(0.1, 2, n), w=r.uniform(1.3, 3, n)), params["s"] - r.uniform(0, 1, n),
        r.normal(size=n), times=np.linspace(0, 20, 2001), rtol=rtol, atol=rtol / 100,
        t_end=20.0, events={"wall": wall}, on_failure="ignore",
    )  # fmt: skip
    assert (sol["x"] - params["s"]).max() < 1e-12
    assert not sol.events["wall"].unresolved.any()


def test_rounding_leads_no_event_away_from_its_zero():
    """In single precision the parts of steps of this pair are rounded by some 5e-5: the search for
    the side before the zero ended 5e-3 away from it."""
    r = np.random.default_rng(0)
    k, power = r.uniform(0.2, 2, 500), r.uniform(3, 6, 500)
    heat = pi.rhs(dim=2, k=1.0, power=4.0)(
        lambda t, y, k, power: (k * (power * y[1] - y[0]), 0 * y[0])
    )
    switch = {
        "off": pi.event(lambda t, y: y[0] - 1.3, 1, keep=99, then=lambda t, y: [y[0], 0 * y[1]]),
        "on": pi.event(
            lambda t, y: y[0] - 0.7, -1, keep=99, then=lambda t, y: [y[0], 0 * y[1] + 1]
        ),
    }
    sol = pi.solve(
        heat(k=k, power=power), np.float32([1, 1]), t_end=8.0, rtol=2e-5, atol=1e-5,
        method="verner87", events=switch,
    )  # fmt: skip
    assert np.nanmax(abs(sol.events["off"].y[..., 0] - 1.3)) < 1e-3
    assert np.nanmax(abs(sol.events["on"].y[..., 0] - 0.7)) < 1e-3


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_quantities_with_jumps_are_integrated(rtol):
    """floor(a t + b) over steps with many jumps, against sums; what is left is the jumps' places,
    each known to 2e-3 `rtol` of the state. No wave beyond a jump counts as an extreme."""
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.2, 1.5, 2000), rng.uniform(0, 1, 2000)
    path = pi.rhs(lambda t, y, a, b: (1.0 + 0.0 * y[0], y[2], -y[1]), dim=3, a=1.0, b=0.0)

    def quantity(t, y, a, b):
        return np.floor(a * y[0] + b)

    def until(u):
        whole = np.floor(u)
        return whole * (whole - 1) / 2 + (u - whole) * whole

    sol = pi.solve(
        path(a=a, b=b), [0.0, 1.0, 0.0], t_end=20.0, rtol=rtol, atol=1e-3 * rtol,
        watch={"sum": pi.watch.integral(quantity), "most": pi.watch.maximum(quantity)},
    )  # fmt: skip
    exact = (until(20 * a + b) - until(b)) / a
    assert abs(sol.watched["sum"] - exact).max() < rtol
    assert np.array_equal(sol.watched["most"], np.floor(20 * a + b))


@pytest.mark.parametrize("method", ["bogacki_shampine32", "radau_iia5"])
@pytest.mark.parametrize("jump", [np.sign, lambda u: np.heaviside(u, 0.5)])
def test_a_value_of_its_own_at_a_jump_makes_no_wave(jump, method):
    """The zero is found exactly, so that sign is 0 in the middle of the piece that encloses it."""
    sol = pi.solve(
        pi.systems.pendulum, np.linspace(0.3, 1.2, 50), 0.5, t_end=6.0, method=method,
        watch={"most": pi.watch.maximum(lambda t, x, v: jump(x - 0.1)),
               "least": pi.watch.minimum(lambda t, x, v: jump(x - 0.1))},
    )  # fmt: skip
    assert np.all(sol.watched["most"] == jump(1.0))
    assert np.all(sol.watched["least"] == jump(-1.0))


def test_noise_at_a_jump_makes_no_wave():
    """In single precision a motion that turns near a jump is on both of its sides by rounding."""
    rng = np.random.default_rng(0)
    sol = pi.solve(
        pi.systems.duffing, rng.uniform(-1.2, 1.2, 80), rng.uniform(-1, 1, 80), t_end=6.0,
        rtol=1e-4, atol=1e-7, method="bogacki_shampine32", dtype=np.float32,
        watch={"most": pi.watch.maximum(lambda t, x, v: np.rint(5 * v)),
               "least": pi.watch.minimum(lambda t, x, v: np.rint(3 * x))},
    )  # fmt: skip
    assert all(np.all(sol.watched[name] % 1 == 0) for name in ("most", "least"))


def test_events_see_each_jump_and_no_other():
    """floor(5 cos(t)) goes through zero where cos(t) does, six times to 20."""
    step = pi.event(lambda t, x, v: np.floor(5 * x), keep=0)
    sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=20.0, events={"step": step})
    assert sol.events["step"].count == 6
    assert not sol.events["step"].unresolved


@pytest.mark.parametrize("method", ["auto", "tsitouras54", "radau_iia5"])
def test_periods_do_not_depend_on_what_is_watched_beside_them(method):
    """A kink at the zero is enclosed so closely that single precision sees its own rounding."""
    system = pi.systems.oscillator(omega=np.linspace(0.3, 1.7, 400))
    run = {"t_end": 9.0, "rtol": 1e-4, "atol": 1e-5, "method": method, "dtype": np.float32}
    alone, beside = (
        pi.solve(system, 1.0, 0.2, watch={"x": pi.watch.periods("x"), **more}, **run).watched
        for more in ({}, {"size": pi.watch.mean(lambda t, x, v: abs(x))})
    )
    assert np.array_equal(alone["x.count"], beside["x.count"])
    np.testing.assert_allclose(alone["x"], beside["x"], rtol=1e-4)


def test_squares_that_overflow_are_not_divided_further():
    """Where y' = y^2 grows without bound: with 2048 pieces of every step this takes an hour."""
    system = pi.rhs(dim=1)(lambda t, y: y * y)
    sol = pi.solve(
        system, np.ones((1000, 1)), t_end=1.3, method="rodas5p", max_steps=4000,
        on_failure="ignore", watch={"rms": pi.watch.rms(lambda t, y: y[0] ** 12)},
    )  # fmt: skip
    assert np.isnan(sol.watched["rms"]).all()
