"""What a run is asked to watch, or to look for, and cannot be: said before anything runs."""

import ctypes

import numpy as np
import pytest

import pyintegrate as pi

w = pi.watch
DOUBLES = ctypes.POINTER(ctypes.c_double)


def integrate(system=pi.systems.oscillator, x=(1.0, 2.0), v=0.0, **options):
    return pi.integrate(system, x, v, dt=0.1, n_steps=10, **options)


def solve(system=pi.systems.oscillator, x=(1.0, 2.0), v=0.0, **options):
    return pi.solve(system, x, v, t_end=1.0, **options)


def by_hand(system=pi.systems.oscillator, x=(1.0, 2.0), v=0.0, **options):
    return pi.Stepper(system, x, v, dt=0.1, **options)


VERBS = pytest.mark.parametrize("verb", [integrate, solve, by_hand])


@VERBS
@pytest.mark.parametrize(
    "kind", [w.mean, w.maximum, w.integral, pi.event], ids=lambda k: k.__name__
)
def test_a_quantity_that_is_not_real(verb, kind):
    argument = "events" if kind is pi.event else "watch"
    for function in (
        lambda t, x, v: 1j * x, lambda t, x, v: "x", lambda t, x, v: (x, v),
        lambda t, x, v: map(abs, (x, v)),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match="complex|real number|one number"):
            verb(**{argument: {"q": kind(function)}})


@VERBS
def test_a_quantity_or_a_jump_that_is_random(verb):
    draw = np.random.default_rng(1).normal
    for argument, asked in [
        ("watch", w.mean(lambda t, x, v: x + draw())),
        ("events", pi.event(lambda t, x, v: x + draw())),
        ("events", pi.event("x", then=lambda t, x, v: (x, draw() * v))),
    ]:
        with pytest.raises(TypeError, match="another formula when it is called again"):
            verb(**{argument: {"q": asked}})


@VERBS
@pytest.mark.parametrize(("function", "value"), [
    (lambda t, x, v: np.sqrt(1.5 - x), "nan"), (lambda t, x, v: 1 / (x - 2), "inf"),
], ids=["nan", "inf"])  # fmt: skip
def test_a_quantity_that_is_not_finite_at_the_start(verb, function, value):
    words = rf"event 'q' is {value} at the start of trajectory 1, t = 0: expected a finite number"
    with pytest.raises(ValueError, match=words):
        verb(events={"fine": pi.event("x"), "q": pi.event(function)})
    with pytest.raises(ValueError, match=r"at the start, t = 3: .*; after= lets it start later"):
        verb(x=2.0, t0=3.0, events={"q": pi.event(function)})
    with pytest.raises(ValueError, match="at the start of trajectory 1, 0, t = 0"):
        verb(x=[[1.0], [2.0]], events={"q": pi.event(function)})
    verb(events={"q": pi.event(function, after=0.05)})
    verb(events={"q": pi.event(lambda t, x, v: function(t, x, v) > 0)})


def test_chunks_of_dask_are_checked_at_their_own_starts():
    da = pytest.importorskip("dask.array")
    event = {"q": pi.event(lambda t, x, v: np.sqrt(0.5 - x) - 0.65)}
    x = da.from_array(np.array([0.1, 0.2, 0.1, 0.7]), chunks=2)
    run = {"dt": 0.1, "n_steps": 30, "save": "final", "events": event}
    good = pi.dask.integrate(pi.systems.oscillator, x[:2], 0.0, **run)
    assert good.events["q"].count.compute().tolist() == [1, 1]
    bad = pi.dask.integrate(pi.systems.oscillator, x, 0.0, **run)
    with pytest.raises(ValueError, match="event 'q' is nan at the start of trajectory 1"):
        bad.events["q"].count.compute()


def test_a_start_or_a_parameter_that_is_no_number_is_a_failure_of_its_trajectory():
    for verb in (integrate, solve):
        sol = verb(x=[np.nan, 1.0], events={"x": pi.event("x")}, on_failure="ignore")
        assert sol.status[0] == pi.Status.NOT_FINITE
        assert sol.status[1] == pi.Status.OK
        k = pi.systems.spring(k=[np.nan, 1.0])
        event = pi.event(lambda t, x, v, k: k * x)
        assert verb(k, events={"x": event}, on_failure="ignore").status[1] == pi.Status.OK


def test_energies_and_invariants_are_asked_at_the_start_too():
    events = {
        "e": pi.event("energy"), "l": pi.event("angular_momentum"), "d": pi.event("energy_error"),
    }  # fmt: skip
    for options in ({"dt": 0.1, "n_steps": 2}, {"dtype": np.float32, "dt": 0.1, "n_steps": 2}):
        pi.integrate(pi.systems.kepler, events=events, **options)
    with pytest.raises(ValueError, match="event 'e' is (-inf|nan) at the start"):
        pi.integrate(pi.systems.kepler, [0.0, 0.0], [1.0, 0.0], dt=0.1, n_steps=2, events=events)


@VERBS
def test_more_than_can_be_kept(verb):
    with pytest.raises(MemoryError, match=r"GB|TB|PB|bytes"):
        verb(x=np.ones(10**4), events={"x": pi.event("x", keep=1 << 32)})
    with pytest.raises(ValueError, match="keep"):
        pi.event("x", keep=1 << 60)


@VERBS
def test_a_quantity_alone(verb):
    with pytest.raises(ValueError, match=r"got 'energy'; .* pi\.watch\.maximum\('energy'\)"):
        verb(watch={"E": "energy"})


@VERBS
def test_one_name_twice(verb):
    with pytest.raises(ValueError, match="watch lists 'energy_drift' twice"):
        verb(watch=["energy_drift", "energy_drift"])
    with pytest.raises(ValueError, match=r"'a\.time'|'a' could be a result of another"):
        verb(watch={"a": w.maximum("x"), "a.time": w.mean("x")})


@VERBS
@pytest.mark.parametrize("then", [
    lambda t, x, v: x, lambda t, x, v: (x, v, v), lambda t, x, v: ((x, x), v),
])  # fmt: skip
def test_a_rule_of_the_wrong_shape(verb, then):
    with pytest.raises(ValueError, match=r"numbers?, expected \(x, v\), all 2 components"):
        verb(events={"x": pi.event("x", then=then)})


@pytest.mark.parametrize("kind", [w.histogram, w.density])
def test_a_histogram_without_a_range(kind):
    with pytest.raises(TypeError, match="range"):
        kind("x", 10)
    for wrong in (None, 3.0, (1.0,), (1.0, 1.0), (2.0, 1.0), (0.0, np.nan), "ab"):
        with pytest.raises((TypeError, ValueError), match="range"):
            kind("x", 10, wrong)


def called():
    return pi.rhs(trace=False, dim=2)(lambda t, y: np.stack([y[1], -y[0]]))


def pointed():
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, DOUBLES, DOUBLES, DOUBLES)
    def turn(t, y, d, p):
        d[0], d[1] = y[1], -y[0]
        return 0

    return pi.c_function(turn, dim=2)


@VERBS
@pytest.mark.parametrize("make", [called, pointed])
def test_without_a_formula_all_works_that_needs_none(verb, make):
    system = make()
    run = {"system": system, "x": np.array([[1.0, 0.0], [0.5, 0.0]]), "v": None}
    name = system.state_names[0]
    watch = {"far": w.max_abs(name), "area": w.integral(lambda t, y: y[0] * y[1])}
    events = {
        "up": pi.event(lambda t, y: y[0] - 0.9, direction=-1, then=lambda t, y: (y[0], 2 * y[1])),
        "end": pi.event(name, stop=True, values=lambda t, y: (t, y[1])),
    }
    sol = verb(**run, watch=watch, events=events)
    if verb is by_hand:
        sol.step(10)
    assert sol.events["up"].count.tolist() == [1, 0]
    assert abs(sol.watched["far"] - [1.0, 0.5]).max() < 1e-15  # of a state on a polynomial
    for quantity in ("energy", "energy_error", "phase", "angular_momentum"):
        for argument in ({"watch": {"q": w.mean(quantity)}}, {"events": {"q": pi.event(quantity)}}):
            with pytest.raises(ValueError, match="no energy|no phase|no quantity"):
                verb(**run, **argument)


@VERBS
@pytest.mark.parametrize("kind", [w.mean, w.maximum, w.integral, w.slope, w.periods, w.windings],
                         ids=lambda k: k.__name__)  # fmt: skip
def test_a_function_that_is_nan_at_the_start_of_all_trajectories(verb, kind):
    def below(t, x, v):
        return np.sqrt(0.5 - x)

    words = r"watch\['q'\] is nan at the start of trajectory 0, t = 0 and of all others"
    with pytest.raises(ValueError, match=words):
        verb(watch={"fine": kind("x"), "q": kind(below)})
    with pytest.raises(ValueError, match=r"at the start, t = 3, and a NaN stays.*after="):
        verb(x=2.0, t0=3.0, watch={"q": kind(below)})
    verb(watch={"q": kind(below, after=0.5)}, x=2.0)
    verb(watch={"q": pi.watch.last(below)}, x=2.0)  # of which it does not stay


@VERBS
def test_a_function_that_is_nan_at_the_start_of_some(verb):
    """There it stays, and tells its step: a trajectory is no error of the others."""
    sol = verb(x=[0.2, 1.0, np.nan], watch={"q": w.maximum(lambda t, x, v: np.sqrt(0.5 - x))},
               **({} if verb is by_hand else {"on_failure": "ignore"}))  # fmt: skip
    assert np.isnan(sol.watched["q"][1:]).all()
    assert np.isfinite(sol.watched["q"][0])
    assert sol.watched["q.nan_step"][:2].tolist() == [-1, 0]
    verb(x=[np.nan, np.nan], watch={"q": w.maximum(lambda t, x, v: x * x)},
         **({} if verb is by_hand else {"on_failure": "ignore"}))  # fmt: skip


def test_a_chunk_of_dask_is_not_the_whole_batch():
    da = pytest.importorskip("dask.array")
    x = da.from_array(np.array([1.0, 2.0, 0.1, 0.2]), chunks=2)
    sol = pi.dask.integrate(pi.systems.oscillator, x, 0.0, dt=0.1, n_steps=10, save="final",
                            watch={"q": w.mean(lambda t, x, v: np.sqrt(0.5 - x))})  # fmt: skip
    assert np.isnan(sol.watched["q"].compute()).tolist() == [True, True, False, False]
