"""Events against closed forms, their order, and traps that others have met.

An event's time has the error of the method at that time, and rounding: tolerances are those of the
method's order, or a few roundings of the time where the method is exact.
"""

import numpy as np
import pytest
from conftest import same_bits
from reference import states

import pyintegrate as pi
from pyintegrate import Status

G = 9.81
PROJECTILE = pi.systems.projectile
EPS = np.finfo(float).eps


def throw(events, n=1000, dt=0.01, start=((0, 0, 1.0), (3.0, 0, 4.0)), **options):
    options = {"save": "final", "on_failure": "ignore", **options}
    return pi.integrate(
        PROJECTILE, *map(np.array, start), dt=dt, n_steps=n, events=events, **options
    )


def landing(z=1.0, v=4.0):
    return (v + np.sqrt(v * v + 2 * G * z)) / G


GROUND = {"ground": pi.event("z", direction=-1, stop=True)}


# ---- where and when ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["velocity_verlet", "rk4", "dormand_prince54", "gauss2",
                                    "yoshida4", "nystrom4"])  # fmt: skip
@pytest.mark.parametrize("dt", [0.01, 0.3, 0.7])
def test_a_landing_is_exact_where_the_method_is(method, dt):
    sol = throw(GROUND, method=method, dt=dt, n=200)
    assert abs(float(sol.stopped_at) - landing()) < 50 * EPS  # of some hundred steps
    assert 0 <= sol.final[2] < 1e-14  # on the side not yet crossed
    assert sol.status == Status.STOPPED
    assert sol.n_failed == 0
    assert sol.failed_step == -1
    assert str(sol.stopped_by) == "ground"


@pytest.mark.parametrize(("method", "order"), [
    ("explicit_euler", 1), ("midpoint", 2), ("velocity_verlet", 2), ("rk4", 4), ("yoshida4", 4),
    ("gauss4", 4), ("dormand_prince54", 5), ("yoshida6", 6), ("dop853", 8),
])  # fmt: skip
def test_the_time_of_an_event_has_the_order_of_the_method(method, order):
    error = []
    start = np.array([2.0, 0.0])
    quarter = pi.systems.pendulum.period(start) / 4
    for n in (16, 32) if order < 6 else (5, 10):
        event = {"bottom": pi.event("theta", direction=-1, stop=True)}
        sol = pi.integrate(pi.systems.pendulum, start, dt=quarter / (n - 0.4), n_steps=n + 8,
                           method=method, events=event, save="final")  # fmt: skip
        error.append(abs(float(sol.stopped_at) - quarter))
    assert np.log2(error[0] / error[1]) > order - 0.7


def test_apsides_of_kepler():
    start = np.array([1.0, 0.0, 0.0, 1.2])  # the pericentre
    period = pi.systems.kepler.period(start)
    apsis = {"apocentre": pi.event(lambda t, x, v: x @ v, direction=-1),
             "pericentre": pi.event(lambda t, x, v: x @ v, direction=1, keep=3)}  # fmt: skip
    sol = pi.integrate(pi.systems.kepler, start, dt=period / 500, n_steps=1600, events=apsis,
                       method="dop853", save="final")  # fmt: skip
    assert abs(sol.events["apocentre"].t[0] / period - 0.5) < 1e-12
    assert np.all(abs(sol.events["pericentre"].t / period - [1, 2, 3]) < 1e-12)
    assert sol.events["apocentre"].count == 3
    assert "3 events of 1 trajectory" in repr(sol.events)
    assert sol.events["apocentre"].overflow


def test_a_batch_is_each_trajectory_by_itself():
    z, v = np.linspace(0.1, 5, 300), np.linspace(-3, 9, 300)
    x0 = np.stack([0 * z, 0 * z, z], axis=-1)
    v0 = np.stack([1 + 0 * v, 0 * v, v], axis=-1)
    sol = throw(GROUND, start=(x0, v0))
    assert np.all(abs(sol.stopped_at / landing(z, v) - 1) < 50 * EPS)
    for workers, save in ((3, "final"), (1, "all"), (2, 7)):
        again = throw(GROUND, start=(x0, v0), workers=workers, save=save)
        assert same_bits(again.stopped_at, sol.stopped_at)
        assert same_bits(again.final, sol.final)
    one = throw(GROUND, start=(x0[77], v0[77]))
    assert same_bits(one.stopped_at, sol.stopped_at[77])
    assert same_bits(one.final, sol.final[77])


def test_saves_after_a_stop_repeat_its_state_and_are_not_valid():
    sol = throw(GROUND, save="all", watch={"high": pi.watch.maximum("z"), "n": pi.watch.mean("z")})
    steps = int(landing() / 0.01)
    assert sol.valid.sum() == steps + 1
    assert same_bits(sol.y[steps + 1 :], np.broadcast_to(sol.final, sol.y[steps + 1 :].shape))
    assert sol.watched["n.count"] == steps + 1
    assert np.array_equal(sol.watched["high"], sol["z"].max())
    with np.errstate(all="raise"):
        assert abs(pi.analysis.energy_drift(sol).final) < 1e-13


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precisions(dtype):
    sol = throw(GROUND, dtype=dtype)
    assert sol.final.dtype == dtype
    assert abs(float(sol.stopped_at) / landing() - 1) < 300 * np.finfo(dtype).eps
    assert sol.final[2] >= 0


# ---- which ---------------------------------------------------------------------------------------


def cosine(events, n=700, x=1.0, v=0.0, dt=0.1, **options):
    options = {"save": "final", "method": "dop853", **options}
    return pi.integrate(pi.systems.oscillator, x, v, dt=dt, n_steps=n, events=events, **options)


def test_directions_and_all_are_counted():
    events = {name: pi.event("x", direction=d, keep=4) for name, d in
              (("falls", -1), ("both", 0), ("rises", 1))}  # fmt: skip
    sol = cosine(events)
    for name, first, step in (("falls", 0.5, 2), ("both", 0.5, 1), ("rises", 1.5, 2)):
        times = np.pi * (first + step * np.arange(4))
        assert np.all(abs(sol.events[name].t - times) < 1e-12)
        assert sol.events[name].count == np.floor((70.0 / np.pi - first) / step) + 1
    assert np.all(abs(sol.events["both"]["v"]) - 1 < 1e-12)
    assert sol.events["both"].y.shape == (4, 2)
    assert sol.events["both"].first.y.shape == (2,)


def test_backwards_in_time_a_direction_is_that_of_the_steps():
    sol = cosine({"e": pi.event("x", direction=-1, keep=2)}, dt=-0.1)
    assert np.all(abs(sol.events["e"].t + np.pi * np.array([0.5, 2.5])) < 1e-12)
    sol = throw(GROUND, dt=-0.01, start=((0, 0, 1.0), (3.0, 0, -4.0)))
    assert abs(float(sol.stopped_at) + landing()) < 8 * EPS


def test_a_zero_at_the_start_is_no_event():
    """SciPy #9228 and its like: one that begins on the plane has not crossed it."""
    sol = cosine({"e": pi.event("x", keep=2)}, x=0.0, v=1.0)
    assert np.all(abs(sol.events["e"].t - np.pi * np.array([1, 2])) < 1e-12)
    sol = throw(GROUND, start=((0, 0, 0.0), (1.0, 0, 5.0)))
    assert abs(float(sol.stopped_at) - landing(0.0, 5.0)) < 8 * EPS
    sol = throw(GROUND, dt=1.5, start=((0, 0, 0.0), (1.0, 0, 5.0)))  # it lands in the first step
    assert abs(float(sol.stopped_at) - landing(0.0, 5.0)) < 8 * EPS


def test_a_zero_at_a_step_is_one_event():
    quantity = pi.event(lambda t, x, v: t - 5.0, keep=5)
    sol = cosine({"e": quantity}, dt=0.5, n=20)
    assert sol.events["e"].count == 1
    assert abs(sol.events["e"].t[0] - 5.0) < 8 * EPS
    last = cosine({"e": pi.event(lambda t, x, v: t - 10.0)}, dt=0.5, n=20)
    assert last.events["e"].count == 1  # at the last step


def test_grazing_is_no_crossing():
    sol = cosine({"e": pi.event(lambda t, x, v: x - 1.0)}, dt=np.pi / 50)
    assert sol.events["e"].count <= 1  # by rounding


def test_several_events_in_a_step_in_their_order():
    events = {name: pi.event(lambda t, x, v, at: t - at, params={"at": at}, stop=name == "c")
              for name, at in (("b", 0.9), ("d", 0.99), ("a", 0.85), ("c", 0.95))}  # fmt: skip
    sol = cosine(events, dt=1.0, n=3)
    assert [int(sol.events[k].count) for k in "abcd"] == [1, 1, 1, 0]
    assert abs(float(sol.stopped_at) - 0.95) < 8 * EPS
    assert np.isnan(sol.events["d"].t[0])


def test_it_stops_at_the_nth_event():
    sol = cosine({"e": pi.event("x", stop=3, keep=5)})
    assert abs(float(sol.stopped_at) - 2.5 * np.pi) < 1e-12
    assert sol.events["e"].count == 3
    assert np.isnan(sol.events["e"].t).tolist() == [False] * 3 + [True] * 2


def test_a_condition_is_the_first_step_where_it_holds():
    event = pi.event(lambda t, x, v: x * x + v < -0.5, keep=2)
    sol = cosine({"e": event})
    full = cosine(None, save="all")
    holds = full.x**2 + full.v < -0.5
    steps = np.flatnonzero(holds[1:] & ~holds[:-1])[:2] + 1
    assert same_bits(sol.events["e"].t, full.t[steps])
    assert same_bits(sol.events["e"].y, full.y[steps])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "gauss4"])
@pytest.mark.parametrize(("bound", "save"), [(None, "final"), (None, 7), (2.5, "final")])
def test_conditions_occur_alike_with_values_and_without(method, bound, save, dtype):
    """Those without are read off the states that are shown, the others are found in segments."""
    start = np.random.default_rng(8).uniform(-1.2, 1.2, (300, 4)).astype(dtype)
    start[:5, 0] = np.nan

    def run(**more):
        events = {
            "high": pi.event(lambda t, x, v: x @ x > 4, stop=2, keep=1, **more),
            "low": pi.event(lambda t, x, v: x[0] < -1.3, stop=True, **more),
            "lost": pi.event(lambda t, x, v: x[0] * 0 != 0, **more),
            "beyond": pi.event(lambda t, x, v: v[0] > 2.5, stop=True, **more),
        }
        return pi.integrate(
            pi.systems.henon_heiles, start, dt=0.05, n_steps=400, method=method, events=events,
            dtype=dtype, bound=bound, save=save, on_failure="ignore",
        )  # fmt: skip

    shown, made = run(), run(values=lambda t, x, v: (*x, *v))
    assert len({*shown.status.tolist()}) > 2
    assert not shown.events["lost"].count.any()  # what is not finite is no step
    for key in ("final", "status", "failed_step", "stopped_at", "stopped_by"):
        assert same_bits(getattr(shown, key), getattr(made, key)), key
    for key, event in shown.events.items():
        assert same_bits(event.t, made.events[key].t)
        assert same_bits(event.count, made.events[key].count)
        assert same_bits(event.y, made.events[key].values)


def test_nan_is_no_event():
    sol = cosine({"e": pi.event(lambda t, x, v: np.sqrt(x - 0.5) - 0.1, direction=-1)}, dt=0.01)
    assert sol.events["e"].count > 0
    sol = cosine({"e": pi.event(lambda t, x, v: np.sqrt(x) * 0 - 1)})
    assert sol.events["e"].count == 0


def test_values_are_kept_in_place_of_states():
    event = pi.event("x", keep=2, values=lambda t, x, v, a: (t * a, v), params={"a": [1.0, 2.0]})
    sol = cosine({"e": event}, x=[1.0, 1.0])
    e = sol.events["e"]
    assert e.values.shape == (2, 2, 2)
    assert np.allclose(e.values[..., 0], e.t * np.array([[1.0], [2.0]]), rtol=1e-15, atol=0)
    assert same_bits(e.values[..., 1], e["v"])


def test_energy_and_parameters_are_quantities():
    damped = pi.systems.spring(k=4.0, b=[0.2, 0.4], m=1.0)
    event = {"half": pi.event(lambda t, x, v, k, m: (m * v * v + k * x * x) / 2 - 1.0, stop=True),
             "e": pi.event("energy_error")}  # fmt: skip
    sol = pi.integrate(damped, 1.0, 0.0, dt=0.01, n_steps=3000, events=event, save="final")
    assert np.all(abs(damped.energy(sol.final) - 1.0) < 1e-14)
    assert sol.stopped_at[0] > sol.stopped_at[1] > 0


# ---- jumps ---------------------------------------------------------------------------------------


BOUNCE = {"then": lambda t, x, v, e: (x, v * [1, 1, -e])}


@pytest.mark.parametrize("method", ["velocity_verlet", "rk4", "yoshida4", "gauss2"])
def test_an_elastic_ball_bounces_at_its_times_and_keeps_its_energy(method):
    bounce = {"b": pi.event("z", -1, keep=100, params={"e": 1.0}, **BOUNCE)}
    sol = throw(bounce, n=3000, start=((0, 0, 1.0), (1.0, 0, 0.0)), method=method, save="all")
    first, flight = np.sqrt(2 / G), 2 * np.sqrt(2 / G)
    times = sol.events["b"].t
    times = times[~np.isnan(times)]
    assert len(times) == sol.events["b"].count == 33
    # Each bounce is rounded to the side before, some 1e-16 of a second early.
    assert np.all(abs(times - (first + flight * np.arange(33))) < 1e-13 * np.arange(1, 34))
    assert np.all(sol["z"] >= 0)
    assert np.all(abs(sol.energy_error()) < 33 * 1e-14)


def test_many_bounces_keep_the_energy():
    bounce = {"b": pi.event("z", -1, params={"e": 1.0}, **BOUNCE)}
    sol = throw(bounce, n=2_000_000, start=((0, 0, 1.0), (1.0, 0, 0.0)), save=1000)
    assert sol.events["b"].count > 20_000
    assert np.all(sol["z"] >= 0)
    assert abs(sol.energy_error()[-1]) < 22_000 * 1e-14


def test_a_ball_that_comes_to_rest_is_zeno_or_stopped_by_another_event():
    start = ((0, 0, 1.0), (1.0, 0, 0.0))
    bounce = {"b": pi.event("z", -1, params={"e": 0.5}, **BOUNCE)}
    with pytest.warns(pi.IntegrationWarning, match="more events in a step than max_per_step"):
        sol = throw(bounce, start=start, on_failure="warn")
    assert sol.status == Status.ZENO
    rest = np.sqrt(2 / G) * (1 + 2 * 0.5 / (1 - 0.5))  # the sum of the flights
    assert 0 <= rest - 0.01 * sol.failed_step + 0.01 < 0.02
    assert sol.final[2] >= 0
    slow = pi.event(lambda t, x, v: np.where(x[2] < 1e-3, abs(v[2]), 1.0) < 1e-2, stop=True)
    sol = throw({**bounce, "rest": slow}, start=start)
    assert sol.status in (Status.STOPPED, Status.ZENO)


def test_steps_after_a_jump_are_those_of_a_run_from_there():
    """Back on the grid: the rest of the step, then whole steps, to the bit."""
    bounce = {"b": pi.event("z", -1, params={"e": 0.9}, values=lambda t, x, v: v[2], **BOUNCE)}
    sol = throw(bounce, n=120, start=((0, 0, 1.0), (1.0, 0, 0.0)), save="all", method="rk4")
    t, y = sol.events["b"].first.t, sol.events["b"].first.y.copy()
    step = int(np.ceil(t / 0.01))
    y[5] *= -0.9
    rest = pi.integrate(PROJECTILE, y, dt=step * 0.01 - t, n_steps=1, method="rk4").final
    assert np.allclose(rest, sol.y[step], rtol=1e-14, atol=1e-15)
    on = pi.integrate(PROJECTILE, sol.y[step], dt=0.01, n_steps=120 - step, method="rk4")
    until = int(np.flatnonzero(sol.steps == 120)[0])
    assert same_bits(on.y[: until - step][:40], sol.y[step:until][:40])


def test_first_order_systems_jump_too():
    @pi.rhs(dim=1, state_names=("charge",), initial=[0.0])
    def leaks(t, y, current=1.0):
        return [current - 0.1 * y[0]]

    fire = {"spike": pi.event(lambda t, y: y[0] - 1.0, 1, then=lambda t, y: 0.0 * y, keep=50)}
    sol = pi.integrate(leaks, dt=0.05, n_steps=1000, events=fire, save="all", method="dop853")
    interval = -10 * np.log(1 - 0.1)
    spikes = sol.events["spike"].t
    assert np.all(abs(np.diff(spikes[~np.isnan(spikes)]) / interval - 1) < 1e-12)
    assert sol["charge"].max() < 1


# ---- along with everything else ------------------------------------------------------------------


def told(sol):
    parts = [sol.stopped_at, sol.final, sol.status]
    for e in sol.events.values():
        parts += [e.t, e.y, e.count, e.values]
    return [np.asarray(part).tobytes() for part in parts]


@pytest.fixture(scope="module")
def bouncing():
    z = np.linspace(0.3, 4, 90)
    x0 = np.stack([0 * z, 0 * z, z], axis=-1)
    events = {
        "b": pi.event("z", -1, keep=7, params={"e": np.linspace(0.6, 1, 90)}, **BOUNCE),
        "far": pi.event(lambda t, x, v: x[0] - 6.0, stop=True),
        "top": pi.event("vz", -1, keep=2, values=lambda t, x, v: x[2]),
    }
    return lambda n=900, **options: throw(events, n=n, start=(x0, [1.0, 0, 0]), **options)


@pytest.mark.parametrize("options", [{"save": "all"}, {"save": 9}, {"workers": 3}, {"bound": 1e6},
                                     {"save": 400, "components": ("z",)}], ids=str)  # fmt: skip
def test_nothing_else_changes_a_bit_of_them(bouncing, options):
    assert told(bouncing(**options)) == told(bouncing())


@pytest.mark.parametrize("cut", [1, 44, 256, 800])
def test_a_resumed_run_goes_on_to_the_same_bits(bouncing, cut):
    assert told(bouncing(cut).resume(n_steps=900 - cut)) == told(bouncing())


def test_a_stopped_trajectory_stays_stopped():
    sol = throw(GROUND, n=150)
    again = sol.resume(n_steps=10)
    assert same_bits(again.final, sol.final)
    assert again.status == Status.STOPPED
    assert again.stopped_at == sol.stopped_at


def test_an_interrupt_keeps_what_was_complete(bouncing):
    def press(done, total):
        if done > 300:
            raise KeyboardInterrupt

    for save in ("final", 7):
        with pytest.raises(KeyboardInterrupt) as caught:
            bouncing(1 << 20, save=save, progress=press, workers=2)
        part = caught.value.solution
        assert told(part) == told(bouncing(part.n_steps))


def test_a_force_that_raises_in_a_part_of_a_step_is_not_called_again():
    """Parts of the step went on to be made, for as long as they were asked for: Ctrl-C had to wait
    for all of them."""
    calls = []

    @pi.acceleration(trace=False)
    def force(t, x, v):
        calls.append(t)
        if len(calls) > 60:
            raise KeyboardInterrupt
        return -np.sin(x)

    wave = {"wave": pi.event(lambda t, x, v: np.sin(9 * x) - 0.1)}
    with pytest.raises(KeyboardInterrupt):
        pi.integrate(force, np.linspace(1, 2, 20), 0.0, dt=8.0, n_steps=1, events=wave)
    assert len(calls) == 61


def test_traced_forces_and_driven_ones_have_events():
    @pi.acceleration(k=4.0)
    def spring(t, x, v, k):
        return -k * x

    event = {"e": pi.event("x", keep=3)}
    sol = pi.integrate(spring, 1.0, 0.0, dt=0.05, n_steps=200, events=event, method="dop853")
    assert np.all(abs(sol.events["e"].t - np.pi / 2 * np.array([0.5, 1.5, 2.5])) < 1e-11)
    k = np.repeat([4.0, 9.0], 100)
    driven = pi.integrate(spring, 1.0, 0.0, dt=0.05, n_steps=200, events=event, drive={"k": k})
    assert np.all(abs(driven.events["e"].t - sol.events["e"].t) < 1e-5)


# ---- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("events", "words"), [
    ([lambda t, y: y[0]], "events have names here"), ({}, "has 0 events"),
    ({"a": lambda t, y: y[0]}, r"must come from pi.event, got .* write pi.event\("),
    ({"a": "z"}, "got 'z': write pi.event\\(...\\) of the function, or of a component's name"),
    ({"a": pi.event("height")}, "no quantity 'height'; it has x, y, z"),
    ({"a": pi.event(lambda t, x, v: x)}, "expected one number"),
    ({"a": pi.event(lambda t, x, v: float(x[0]))}, "cannot be traced"),
    ({"a": pi.event("z", then=lambda t, x, v: x)}, r"returns 3 numbers, expected \(x, v\), all 6"),
    ({"a": pi.event("z", then=lambda t, x, v: None)}, "<lambda>.. returns what is no real number"),
    ({"a": pi.event("z", then=lambda t, x, v, e: (x, v))}, "takes 'e', .* params="),
    ({"a": pi.event("z", params={"g": 1.0})}, "'g' is one of the system's"),
    ({"a": pi.event("z", params={"e": [1.0, 2.0]}, **BOUNCE)}, r"params\['e'\] of event 'a'"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_wrong_events_are_refused_before_anything_runs(events, words):
    with pytest.raises((TypeError, ValueError), match=words):
        throw(events, start=(np.zeros((3, 3)), np.ones(3)))


@pytest.mark.parametrize("options", [
    {"direction": 2}, {"direction": True}, {"stop": -1}, {"stop": "yes"}, {"keep": -1},
    {"keep": 1.5}, {"then": 3}, {"values": "x"}, {"params": [1]}, {"max_per_step": 0},
], ids=str)  # fmt: skip
def test_wrong_options_of_an_event_are_refused(options):
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        pi.event("z", **options)


def test_an_event_does_not_become_another_one():
    with pytest.raises(AttributeError, match="terminal"):
        pi.event("z").terminal = True  # as of a function for SciPy: nothing would stop


def test_what_cannot_be_kept_is_refused_with_a_size_and_the_cure():
    with pytest.raises(MemoryError, match="kept states of events .* GB here: take a smaller keep="):
        throw({"a": pi.event("z", keep=1 << 31)}, start=(np.zeros((1000, 3)), np.ones(3)))


def test_a_method_with_a_memory_says_what_to_use():
    with pytest.raises(ValueError, match="remembers earlier states"):
        throw(GROUND, method="adams_bashforth4")


def test_nobody_is_asked_for_an_event_that_is_none():
    start = states(pi.systems.lorenz, (5,))
    sol = pi.integrate(pi.systems.lorenz, start, dt=0.01, n_steps=10)
    assert len(sol.events) == 0
    with pytest.raises(KeyError, match="integrate with events"):
        sol.events["ground"]
    assert np.isnan(sol.stopped_at).all()
    assert set(sol.stopped_by.ravel()) == {""}


@pytest.mark.parametrize("flat", [-1, 1])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_zero_beside_a_kink_is_located_to_rounding(side, flat):
    """Where the slope changes, a search that converges slowly was taken for one that has come to
    rounding: the time was off by up to 1/300 of the step."""
    zero = np.linspace(0.02, 0.09, 1000)
    kink = zero + side * np.geomspace(1e-7, 1e-3, 1000)
    here, there = (200.0, 0.1) if flat == 1 else (0.1, 200.0)  # slopes at the zero, and beyond

    def quantity(t, x, v, zero, kink):
        return here * (x - zero) + (there - here) * side * np.maximum(side * (x - kink), 0)

    event = pi.event(quantity, params={"zero": zero, "kink": kink})
    sol = pi.integrate(
        pi.systems.constant_force(force=0), 0.0, 1.0, dt=0.1, n_steps=1, events={"e": event}
    )
    assert not sol.events["e"].unresolved.any()
    np.testing.assert_allclose(sol.events["e"].first.t, zero, rtol=1e-11)


def test_a_quantity_that_jumps_through_zero_has_its_event_there():
    """Its slope on one side is no kink's: most such events were lost."""
    zero = np.linspace(0.02, 0.09, 1000)
    event = pi.event(lambda t, x, v, zero: np.where(x < zero, x - 1, x), params={"zero": zero})
    sol = pi.integrate(
        pi.systems.constant_force(force=0), 0.0, 1.0, dt=0.1, n_steps=1, events={"e": event}
    )
    assert not sol.events["e"].unresolved.any()
    np.testing.assert_allclose(sol.events["e"].first.t, zero, rtol=1e-8)


@pytest.mark.parametrize("method", ["bogacki_shampine32", "rk45", "dop853", "rodas5p"])
def test_zeros_at_chebyshev_points_are_found(method):
    """There a bound that excludes zeros holds with equality: rounding decided."""

    @pi.rhs(dim=1)
    def clock(t, y):
        return [1 + 0 * y[0]]

    nodes = 0.5 - 0.5 * np.cos(np.arange(17) * np.pi / 16)
    first, last = (nodes[k].ravel() for k in np.triu_indices(17, 1))
    numbers = {"a": 1 + first, "b": 1 + last}  # two of a step, among them its ends
    for quantity in (
        lambda t, y, a, b: (t - a) * (t - b),
        lambda t, y, a, b: (y[0] - a) * (y[0] - b) * (1 + y[0] ** 2),
    ):
        zeros = {"z": pi.event(quantity, keep=3, params=numbers)}
        run = {"t_end": 3.1, "method": method, "first_step": 1.0, "max_step": 1.0}
        found = pi.solve(clock, np.zeros((len(first), 1)), events=zeros, **run).events["z"]
        assert (found.count == 2).all()
        assert np.allclose(found.t[:, :2].T, [*numbers.values()], rtol=1e-12)
