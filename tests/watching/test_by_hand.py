"""``pi.Stepper(watch=, events=)`` keeps what ``pi.integrate`` keeps, to the bit."""

import pickle

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

LENGTH = np.linspace(0.5, 2.0, 23)
WATCH = {
    "far": pi.watch.maximum(lambda t, x, v, length: length * x),
    "near": pi.watch.minimum("theta"),
    "swing": pi.watch.max_abs("energy_error"),
    "mean": pi.watch.mean("omega"),
    "rms": pi.watch.rms("omega", every=3),
    "std": pi.watch.std("theta", every=3),
    "drift": pi.watch.slope("energy_error"),
    "late": pi.watch.mean("theta", after=0.5),
    "turns": pi.watch.windings("phase"),
    "period": pi.watch.periods("theta"),
    "where": pi.watch.histogram("theta", 5, (-3.2, 3.2)),
    "work": pi.watch.integral("omega"),
    "ahead": pi.watch.last("phase_drift"),
}
BOUNCE = {
    "floor": pi.event(
        "z", direction=-1, then=lambda t, x, v, e: (x, v * [1, 1, -e]), params={"e": 0.8}, keep=5
    ),
    "done": pi.event("x", direction=1, stop=True, params=None),
}


def pendulums(**options):
    options = {"dt": 0.01, "method": "rk4", "watch": WATCH} | options
    return pi.Stepper(pi.systems.pendulum(length=LENGTH), 2.0, 0.0, **options)


def balls(**options):
    options = {"dt": 0.01, "method": "velocity_verlet", "events": BOUNCE} | options
    x0 = np.zeros((19, 3))
    x0[:, 0], x0[:, 2] = -np.linspace(0.3, 2.5, 19), 1.0
    return pi.systems.projectile, x0, [1.0, 0.0, 0.0], options


def check_watched(stepper, sol):
    assert list(stepper.watched) == list(sol.watched)
    for name, value in sol.watched.items():
        assert np.array_equal(stepper.watched[name], value, equal_nan=True), name


def check_events(stepper, sol, lanes=slice(None)):
    for name, one in sol.events.items():
        here = stepper.events[name]
        for part in ("t", "y", "count", "overflow", "unresolved"):
            a, b = getattr(here, part)[lanes], getattr(one, part)[lanes]
            assert np.array_equal(a, b, equal_nan=True), (name, part)
    assert np.array_equal(stepper.stopped_at[lanes], sol.stopped_at[lanes], equal_nan=True)
    assert np.array_equal(stepper.stopped_by[lanes], sol.stopped_by[lanes])
    assert np.array_equal(stepper.status[lanes], sol.status[lanes])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("pieces", [[400], [1] * 20 + [7, 300, 73]], ids=["at once", "in pieces"])
def test_watches_are_those_of_a_run(pieces, dtype):
    system = pi.systems.pendulum(length=LENGTH)
    sol = pi.integrate(system, 2.0, 0.0, dt=0.01, n_steps=400, watch=WATCH, save="final",
                       dtype=dtype)  # fmt: skip
    stepper = pendulums(dtype=dtype)
    for n in pieces:
        stepper.step(n)
    assert np.array_equal(stepper.y, sol.final)
    check_watched(stepper, sol)


@pytest.mark.parametrize("pieces", [[200], [1] * 30 + [70, 100]], ids=["at once", "in pieces"])
def test_events_are_those_of_a_run(pieces):
    system, x0, v0, options = balls()
    sol = pi.integrate(system, x0, v0, n_steps=200, save="final", **options)
    stepper = pi.Stepper(system, x0, v0, **options)
    for n in pieces:
        stepper.step(n)
    assert (sol.status == pi.Status.STOPPED).sum() > 3
    assert (stepper.failed_step == -1).all()
    assert np.array_equal(stepper.y, sol.final)
    check_events(stepper, sol)


def test_a_pair_of_events_in_the_first_step_is_that_of_a_run():
    down_and_up = {"pair": pi.event("x", level=0.999, keep=2)}
    run = {"dt": 0.3, "t0": -0.14, "method": "rk4", "events": down_and_up}
    force = pi.acceleration(lambda t, x, v: 1.0)
    sol = pi.integrate(force, [1.0], -0.14, n_steps=1, **run)
    assert sol.events["pair"].count == 2
    stepper = pi.Stepper(force, [1.0], -0.14, **run)
    for _ in range(2):
        stepper.step()
        check_events(stepper, sol)
        stepper = pi.Stepper(force, [3.0], 0.0, **run)
        stepper.reset(True, 1.0, -0.14)


def test_what_has_stopped_stays_until_it_is_reset():
    system, x0, v0, options = balls()
    stepper = pi.Stepper(system, x0, v0, **options)
    stepper.step(200)
    there, when = stepper.y.copy(), stepper.stopped_at
    stopped = stepper.status == pi.Status.STOPPED
    assert stopped.any()
    stepper.step(10)
    assert np.array_equal(stepper.y[stopped], there[stopped])
    assert np.array_equal(stepper.stopped_at[stopped], when[stopped])
    stopped = stepper.status == pi.Status.STOPPED
    others = stepper.events["floor"].t[~stopped]
    stepper.reset(stopped)
    assert (stepper.status == pi.Status.OK).all()
    assert np.isnan(stepper.stopped_at).all()
    assert (stepper.events["floor"].count[stopped] == 0).all()
    assert np.array_equal(stepper.events["floor"].t[~stopped], others, equal_nan=True)


def test_a_reset_trajectory_is_watched_as_one_that_begins_there():
    stepper = pendulums()
    stepper.step(30)
    mask = np.arange(23) % 2 == 0
    before = {name: value.copy() for name, value in stepper.watched.items()}
    stepper.reset(mask, 1.0, 0.5)
    for name, value in stepper.watched.items():
        if not name.endswith(".edges"):
            assert np.array_equal(value[~mask], before[name][~mask], equal_nan=True), name
    stepper.step(120)
    sol = pi.integrate(
        pi.systems.pendulum(length=LENGTH), 1.0, 0.5, dt=0.01, n_steps=120, t0=30 * 0.01,
        watch=WATCH, save="final",
    )  # fmt: skip
    for name in ("far", "near", "swing", "mean", "rms", "std", "work", "where", "turns", "period",
                 "rms.count", "period.count"):  # fmt: skip
        assert np.allclose(stepper.watched[name][mask], sol.watched[name][mask], rtol=1e-12,
                           equal_nan=True, atol=0), name  # fmt: skip
    # The sums are those of 120 energies, each to rounding of the phase and of the energy.
    assert np.allclose(
        stepper.watched["ahead"][mask], sol.watched["ahead"][mask], atol=1e-12, rtol=0
    )
    assert np.allclose(
        stepper.watched["drift"][mask], sol.watched["drift"][mask], atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_reset_trajectory_has_the_energy_and_phase_of_the_parameters_there(dtype):
    watch = {name: pi.watch.max_abs(name) for name in ("energy_error", "phase_drift")}
    options = {"dt": 1 / 64, "method": "rk4", "dtype": dtype, "watch": watch}
    stepper = pi.Stepper(pi.systems.spring(k=1.0, b=0.0), [1.0, 1.0], 0.0, **options)
    stepper.params["k"][...] = 4.0
    stepper.reset([True, False], 1.0, 0.0)
    other = pi.Stepper(pi.systems.spring(k=4.0, b=0.0), 1.0, 0.0, **options)
    for one in (stepper, other):
        one.step(9)
    for name in watch:
        assert stepper.watched[name][0] == other.watched[name]
        assert stepper.watched[name][1] > 0.1  # of one that goes on with another spring


def test_a_reset_trajectory_does_not_depend_on_parameters_of_others():
    """Its own were rounded to float32 if that of another had been written."""
    watch = {"off": pi.watch.max_abs("energy_error")}
    options = {"dt": 1 / 64, "method": "rk4", "dtype": np.float32, "watch": watch}
    both, alone = (
        pi.Stepper(pi.systems.pendulum(length=0.7), start, 0.0, **options)
        for start in ([1.0, 1.0], 1.0)
    )
    both.params["length"][1] = 0.9
    for one in (both, alone):
        one.reset()
        one.step(9)
    assert both.watched["off"][0] == alone.watched["off"]


@pytest.mark.parametrize("kind", ["watches", "events"])
def test_snapshots_carry_them(kind):
    if kind == "watches":
        stepper, other = pendulums(), pendulums()
    else:
        system, x0, v0, options = balls()
        stepper, other = (pi.Stepper(system, x0, v0, **options) for _ in range(2))
    stepper.step(77)
    there = pickle.loads(pickle.dumps(stepper.snapshot()))
    stepper.step(100)
    after = stepper.snapshot()
    for one in (stepper, other):
        one.restore(there)
        one.step(100)
        again = one.snapshot()
        for a, b in zip(again.arrays, after.arrays, strict=True):
            lanes = stepper.status.size
            assert np.array_equal(a[..., :lanes], b[..., :lanes], equal_nan=True)
    plain = pi.Stepper(pi.systems.pendulum(length=LENGTH), 2.0, 0.0, dt=0.01, method="rk4")
    with pytest.raises(ValueError, match="not like this Stepper"):
        plain.restore(there)


@pytest.mark.parametrize(
    ("made", "other"),
    [
        ({"watch": {"a": pi.watch.maximum("x")}}, {"watch": {"a": pi.watch.minimum("x")}}),
        ({"watch": {"a": pi.watch.total("x")}}, {"watch": {"a": pi.watch.total("v")}}),
        ({"watch": {"a": pi.watch.mean("x")}}, {"watch": {"a": pi.watch.mean("x", every=2)}}),
        (
            {"watch": {"a": pi.watch.mean("x", after=1)}},
            {"watch": {"a": pi.watch.mean("x", after=2)}},
        ),
        ({"events": {"a": pi.event("x")}}, {"events": {"a": pi.event("v")}}),
        ({"events": {"a": pi.event("x", level=0.1)}}, {"events": {"a": pi.event("x", level=0.2)}}),
        ({"events": {"a": pi.event("x")}}, {"events": {"a": pi.event("x", stop=True)}}),
        ({"across": {"a": pi.across.mean("x")}}, {"across": {"a": pi.across.mean("v")}}),
        ({"across": {"a": pi.across.mean("x")}}, {"across": {"a": pi.across.mean("x", by=[0, 1])}}),
        ({"method": "bdf2", "start": "rk4"}, {"method": "bdf2", "start": "heun3"}),
    ],
)
def test_a_snapshot_of_what_only_has_the_same_names_is_refused(made, other):
    def stepper(options):
        return pi.Stepper(pi.systems.spring, [1.0, 0.5], 0.0, dt=0.1, **options)

    snapshot = pickle.loads(pickle.dumps(stepper(made).snapshot()))
    stepper(made).restore(snapshot)
    with pytest.raises(ValueError, match="another start=, or with other watches, events or stat"):
        stepper(other).restore(snapshot)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parameters_that_change_are_those_that_are_watched(dtype):
    stepper = pi.Stepper(
        pi.systems.spring(k=2.1), 1.0, 0.0, dt=0.01, dtype=dtype,
        watch={"k": pi.watch.last(lambda t, x, v, k: k)},
    )  # fmt: skip
    stepper.step()
    assert stepper.watched["k"] == 2.1
    before = stepper.snapshot()
    stepper.params["k"][...] = 3.5
    stepper.step()
    assert stepper.watched["k"] == 3.5
    stepper.params["k"][...] = 4.5
    stepper.reset()
    assert stepper.watched["k"] == 4.5
    stepper.restore(before)
    stepper.step()
    assert stepper.watched["k"] == 2.1


def test_a_state_that_is_put_across_is_no_event():
    stepper = pi.Stepper(pi.systems.oscillator, 0.5, 0.0, dt=0.01, events={"zero": pi.event("x")})
    stepper.step(5)
    stepper.x = -0.5
    stepper.step(5)
    assert stepper.events["zero"].count == 0
    stepper.x[...], stepper.v[...] = 0.005, -1.0
    stepper.step()
    assert stepper.events["zero"].count == 1


def test_halves_of_steps_are_not_watched():
    stepper = pi.Stepper(pi.systems.oscillator, dt=0.01, watch={"x": pi.watch.mean("x")})
    with pytest.raises(ValueError, match="whole steps"):
        stepper.kick()
    assert not pi.Stepper(pi.systems.oscillator, dt=0.01).watched
    assert np.isnan(pi.Stepper(pi.systems.oscillator, dt=0.01).stopped_at)


def test_what_integrate_refuses_is_refused():
    with pytest.raises(TypeError, match="must come from pi.watch"):
        pi.Stepper(pi.systems.oscillator, dt=0.01, watch={"x": 1})
    with pytest.raises(ValueError, match="no quantity"):
        pi.Stepper(pi.systems.oscillator, dt=0.01, events={"x": pi.event("nothing")})


@pytest.mark.parametrize("lanes", [1, 20_000], ids=["one tile", "several"])
@pytest.mark.parametrize("steps", [1, 2, 10_000])
def test_an_interrupted_block_is_undone_for_watches_too(lanes, steps):
    """A force that fails in the middle of a call leaves sums of the steps that are done."""

    class Stop(Exception):
        pass

    left = [np.inf]

    @pi.acceleration(trace=False, initial=[1.0, 0.0])
    def force(t, x, v):
        left[0] -= 1
        if left[0] < 0:
            raise Stop
        return -x

    x0 = np.full((lanes, 1), 1.0)
    watch = {"n": pi.watch.count(lambda t, x, v: x < 2)}
    stepper = pi.Stepper(force, x0, 0.0, dt=0.01, watch=watch)
    stepper.step(3)
    left[0] = 1000
    stepper.step(1)
    calls = 1000 - left[0]
    left[0] = (min(steps, 350) - 1) * calls + calls // 2
    with pytest.raises(Stop):
        stepper.step(steps)
    assert stepper.n < 4 + steps
    assert np.all(stepper.watched["n"] == stepper.n + 1)


def test_a_stepper_watches_analyses_by_name():
    """Each stands for several watches; they are those of one run."""
    names, run = ["energy_drift", "phase_drift", "period_error"], {"dt": 0.1, "method": "rk4"}
    stepper = pi.Stepper(pi.systems.kepler, watch=names, **run)
    stepper.step(n=200)
    whole = pi.integrate(pi.systems.kepler, n_steps=200, watch=names, save="final", **run)
    assert "phase_drift.largest" in stepper.watched
    assert list(stepper.watched) == list(whole.watched)
    assert all(same_bits(stepper.watched[name], whole.watched[name]) for name in whole.watched)
