"""A run to a tolerance that is cut and resumed has the bits of one long run."""

import pickle

import numpy as np
import pytest
from conftest import same_bits
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pyintegrate as pi

N = 9
RANDOM = np.random.default_rng(7)
RELAY = pi.acceleration(lambda t, x, v: -x + 0.5 * np.sign(np.sin(3 * t)), dof=1)
SYSTEMS = {
    "lorenz": (pi.systems.lorenz, [8 * RANDOM.normal(size=(N, 3))], True),
    "pendulum": (pi.systems.pendulum, [RANDOM.normal(size=(N, 2))], False),
    "partly stiff": (
        pi.systems.van_der_pol(mu=10.0 ** np.linspace(-1, 3, N)),
        [RANDOM.normal(size=(N, 2))], True,
    ),
    "branches": (RELAY, RANDOM.normal(size=(2, N, 1)), False),
    "some fail": (pi.rhs(lambda t, y: y * y - 0.3, dim=1), [RANDOM.normal(size=(N, 1))], True),
}  # fmt: skip
METHODS = ["auto", "dop853", "tsitouras54", "radau_iia5", "rodas5p", "kvaerno43", "heun2"]
NUMBERS = (
    "final", "status", "failed_step", "steps_taken", "rejected", "evaluations", "last_step",
    "stopped_at",
)  # fmt: skip


def told(sol):
    """All that both runs must agree in, by name."""
    found = {name: np.asarray(getattr(sol, name)) for name in NUMBERS} | dict(sol.watched)
    for name, one in sol.events.items():
        found |= {f"{name}.{part}": getattr(one, part)
                  for part in ("t", "y", "count", "unresolved")}  # fmt: skip
    return found


def what_happens(system, draw, first_order):
    """Watches and events of the first component; a jump, or an event that stops."""
    q = system.state_names[0]
    watch = {"mean": pi.watch.mean(q), "most": pi.watch.maximum(q), "turns": pi.watch.periods(q)}
    then = (lambda t, y: [0.9 * y[0], *y[1:]]) if first_order else lambda t, x, v: (x, -0.9 * v)
    events = {
        "seen": pi.event(q, keep=5),
        "then": draw(st.sampled_from([
            pi.event(q, level=0.7, stop=3), pi.event(q, level=0.2, direction=-1, then=then, keep=2)
        ])),
    }  # fmt: skip
    return {"watch": watch, "events": events}


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_run_in_parts_has_the_bits_of_one(data):
    draw = data.draw
    system, start, first_order = SYSTEMS[draw(st.sampled_from([*SYSTEMS]))]
    methods = METHODS if first_order else [*METHODS, "dormand_prince_rkn86"]
    method = draw(st.sampled_from(methods))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    run = {
        "method": method, "dtype": dtype, "on_failure": "ignore",
        "rtol": draw(st.sampled_from([1e-4, np.logspace(-4.4, -2, N)])),
        "max_steps": draw(st.sampled_from([200, 10**6])),
        "first_step": draw(st.sampled_from([None, 1e-3])),
        "breaks": draw(st.sampled_from([None, [1.0, 2.5, -1.5]])),
    }  # fmt: skip
    watched = draw(st.booleans())
    run |= what_happens(system, draw, first_order) if watched else {}
    end = draw(st.floats(0.5, 12)) * draw(st.sampled_from([1, -1, np.linspace(0.3, 1, N)]))
    cuts = sorted(draw(st.lists(st.floats(1e-6, 1), min_size=1, max_size=3)))
    whole = pi.solve(system, *start, t_end=end, **run)
    # Steps of a few rounding units of the time are made of its rounding errors (docs/tolerance.md).
    assume(np.all(abs(whole.last_step) > 100 * np.finfo(dtype).eps * abs(whole.t_end)))
    part = pi.solve(system, *start, t_end=end * cuts[0], workers=2, **run)
    for cut in [*cuts[1:], 1.0]:
        part = part.resume(t_end=end * cut)
        if not watched:
            part = pickle.loads(pickle.dumps(part))
    found = told(part)
    for name, value in told(whole).items():
        assert same_bits(np.asarray(found[name]), np.asarray(value)), name


@pytest.mark.parametrize("method", ["auto", "radau_iia5"])
def test_no_test_for_stiffness_is_lost_and_no_jacobian(method):
    """Near its end a run does not ask whether it is stiff; one that goes on does."""
    run = {"save": "all", "rtol": 1e-5, "method": method}
    whole = pi.solve(pi.systems.van_der_pol(mu=300.0), t_end=400.0, **run)
    for cut in (0.3, 1.0, 3.0, 200.0):
        part = pi.solve(pi.systems.van_der_pol(mu=300.0), t_end=cut, **run)
        joined = pi.concatenate(part, part.resume(t_end=400.0))
        assert joined.digest() == whole.digest()
        assert same_bits(joined.stiff_spans, whole.stiff_spans)
        assert same_bits(joined.at([0.2, 0.9, 399.0]), whole.at([0.2, 0.9, 399.0]))


@pytest.mark.parametrize("cut", [0.0, 1e-6])
def test_a_start_that_has_failed_plans_no_step(cut):
    run = {"bound": 1.5, "save": "all", "on_failure": "ignore"}
    start = [[2.0, 0.0], [np.nan, 0.0], [1.0, 0.0]]
    whole = pi.solve(pi.systems.van_der_pol, start, t_end=1.0, **run)
    part = pi.solve(pi.systems.van_der_pol, start, t_end=cut, **run)
    assert not whole.last_step[:2].any()
    assert pi.concatenate(part, part.resume(t_end=1.0)).digest() == whole.digest()


def test_what_stopped_it_is_forgotten_and_it_stays():
    """Without its events a stopped one would run on; one that goes on does so from its mark."""
    run = {"events": {"down": pi.event("x", stop=1)}, "rtol": 1e-5}
    sol = pi.solve(pi.systems.lorenz, SYSTEMS["lorenz"][1][0], t_end=0.5, **run)
    assert 0 < np.count_nonzero(sol.status == pi.Status.STOPPED) < N
    with pytest.warns(UserWarning, match="further steps are neither watched nor stopped"):
        further = pickle.loads(pickle.dumps(sol)).resume(t_end=1.0)
    stopped = sol.status == pi.Status.STOPPED
    assert same_bits(further.final[stopped], sol.final[stopped])
    free = pi.solve(pi.systems.lorenz, SYSTEMS["lorenz"][1][0], t_end=1.0, rtol=1e-5)
    assert same_bits(further.final[~stopped], free.final[~stopped])


def test_what_is_known_of_the_noise_of_a_quantity_goes_on():
    """A condition that changes beside a number makes pieces by what the steps before told."""
    watch = {
        "v": pi.watch.variance("theta"), "first": pi.watch.first_time(lambda t, x, v: x < 0)
    }  # fmt: skip
    run = {"rtol": 1e-7, "watch": watch, "events": {"twice": pi.event("theta", stop=2)}}
    start = np.linspace(0.7, 1.2, 400), 0.0
    whole = pi.solve(pi.systems.pendulum, *start, t0=50.0, t_end=57.0, **run)
    for cut in (51.0, 51.5, 52.0):
        part = pi.solve(pi.systems.pendulum, *start, t0=50.0, t_end=cut, **run)
        assert same_bits(part.resume(t_end=57.0).watched["v"], whole.watched["v"])
    slow = {
        "down": pi.event(lambda t, x, v: (x < -0.2) & (v > 0)),
        "steep": pi.event(lambda t, x, v: np.sin(3 * x) > -0.766, keep=9),
        "brake": pi.event(lambda t, x, v: np.sin(5 * t) - 0.5, then=lambda t, x, v: (x, 0.9 * v)),
    }
    start = np.linspace(0.5, 2.5, 400), 0.0
    run = {"rtol": 1e-7, "events": slow}
    whole = pi.solve(pi.systems.pendulum, *start, t_end=-2.7, **run)
    for cut in (-0.94, -1.5):
        part = pi.solve(pi.systems.pendulum, *start, t_end=cut, **run).resume(t_end=-2.7)
        assert all(same_bits(part.events[name].t, whole.events[name].t) for name in slow)


def test_after_of_a_run_without_a_step_has_no_direction_yet():
    """Its start has been compared as if it went forwards, also for events with after=."""
    watch = {"mean": pi.watch.mean("theta", after=0.1)}
    still = pi.solve(pi.systems.pendulum, t_end=0.0, watch=watch)
    long = pi.solve(pi.systems.pendulum, t_end=1.0, watch=watch)
    assert still.resume(t_end=1.0).watched["mean"] == long.watched["mean"]
    with pytest.raises(ValueError, match="t_end lies backwards of a run without a step"):
        still.resume(t_end=-1.0)
    pi.solve(pi.systems.pendulum, t_end=0.0, watch="energy_drift").resume(t_end=-1.0)
