"""A condition that holds at the start occurs there, before the first step."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

START = np.array([[-5.0], [1.0], [-0.25]])  # a condition holds in the first and the last
N, DT = 16, 1 / 8  # every state of y' = 1 is exact


@pi.rhs(dim=1)
def line(t, y):
    return (1 + 0 * y[0],)


def integrate(**run):
    return pi.integrate(line, START, t0=3.0, dt=DT, n_steps=N, **run)


def in_parts(cuts):
    def run(**run):
        sol = pi.integrate(line, START, t0=3.0, dt=DT, n_steps=cuts[0], **run)
        for cut in cuts[1:]:
            sol = sol.resume(n_steps=cut)
        return sol

    return run


def step(**run):
    run.pop("save", None)
    stepper = pi.Stepper(line, START, t0=3.0, dt=DT, **run)
    for _ in range(N):
        stepper.step()
    return stepper


def solve(**run):
    return pi.solve(line, START, t0=3.0, t_end=3.0 + N * DT, **run)


RUNS = pytest.mark.parametrize("run", [
    integrate, in_parts([0, 1, 15]), in_parts([1, 15]), step, solve,
])  # fmt: skip


def end_of(run):
    return getattr(run, "final", None) if hasattr(run, "final") else run.y


@RUNS
@pytest.mark.parametrize("save", ["all", "final"])
def test_it_stops_jumps_or_is_counted_at_the_start(run, save):
    holds = START[:, 0] < 0
    for more, end in (
        ({}, START + N * DT),
        ({"stop": True}, np.where(START < 0, START, START + N * DT)),
        ({"then": lambda t, y: (y[0] + 10,)}, START + N * DT + 10 * (START < 0)),
    ):
        sol = run(save=save, events={"low": pi.event(lambda t, y: y[0] < 0, **more)})
        low = sol.events["low"]
        assert same_bits(low.t[:, 0], np.where(holds, 3.0, np.nan))
        assert same_bits(low.y[:, 0], np.where(START < 0, START, np.nan))
        assert (low.count == holds).all()
        np.testing.assert_allclose(end_of(sol), end, rtol=1e-15)
        stopped = np.where(holds & ("stop" in more), pi.Status.STOPPED, pi.Status.OK)
        assert (sol.status == stopped).all()
        assert same_bits(np.isnan(sol.stopped_at), stopped == pi.Status.OK)


@pytest.mark.filterwarnings("ignore:.*exceeded the bound")
@pytest.mark.parametrize("more", [{}, {"stop": 2}, {"values": lambda t, y: y[0]}])
@RUNS
def test_it_occurs_though_the_first_step_leaves_the_bound(run, more):
    """As the second does; the first begins beyond it."""
    events = {"high": pi.event(lambda t, y: abs(y[0]) > 0.5, **more)}
    for sol in run(bound=1.05, events=events), integrate(bound=1.05, events=events, times=[3.1]):
        assert list(sol.status) == [pi.Status.OUT_OF_BOUNDS] * 3
        assert same_bits(sol.events["high"].t[:2, 0], [np.nan, 3.0])
        assert list(sol.events["high"].count[:2]) == [0, 1]


@RUNS
def test_a_condition_may_be_one_of_a_vector_or_known(run):
    holds = {"vector": lambda t, y: y < 0, "list": lambda t, y: [y[0] < 0]}
    known = {"always": lambda t, y: True, "never": lambda t, y: np.bool_(False)}
    found = run(events={name: pi.event(one) for name, one in (holds | known).items()}).events
    for name in holds:
        assert same_bits(found[name].t[:, 0], np.where(START[:, 0] < 0, 3.0, np.nan))
    assert same_bits(found["always"].t[:, 0], np.full(3, 3.0))
    assert not found["never"].count.any()


@RUNS
def test_one_that_ceases_or_is_a_zero_does_not_occur_at_the_start(run):
    events = {
        "ends": pi.event(lambda t, y: y[0] < 0, direction=-1),
        "zero": pi.event(lambda t, y: t - 3),
        "never": pi.event(lambda t, y: y[0] < -9),
    }
    sol = run(events=events)
    assert list(sol.events["ends"].count) == [0, 0, 1]
    assert not sol.events["zero"].count.any()
    assert not sol.events["never"].count.any()


@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "gauss4"])
def test_the_first_step_is_not_needed(method):
    """The force is NaN where the condition holds: it stops, or jumps to where there is a force."""
    system = pi.acceleration(initial=[1, 0])(lambda t, x, v: np.sqrt(x))
    x, v = np.array([-1.0, 1.0]), np.zeros(2)
    for more in ({"stop": True}, {"then": lambda t, x, v: (x + 2, v)}):
        events = {"low": pi.event(lambda t, x, v: x < 0, **more)}
        sol = pi.integrate(system, x, v, dt=DT, n_steps=N, method=method, events=events)
        assert list(sol.status) == [pi.Status.STOPPED if "stop" in more else 0, 0]
        if "then" in more:
            assert same_bits(sol.final[0], sol.final[1])
    events = {"low": pi.event(lambda t, x, v: x < 0)}
    with pytest.warns(pi.IntegrationWarning):
        sol = pi.integrate(system, x, v, dt=DT, n_steps=N, method=method, events=events)
    assert list(sol.status) == [pi.Status.NOT_FINITE, 0]
    assert sol.n_failed == 1


def test_a_stepper_that_is_reset_begins_anew():
    stepper = pi.Stepper(
        line, START, dt=DT, events={"low": pi.event(lambda t, y: y[0] < 0, keep=3)}
    )
    stepper.step(4)
    stepper.reset(np.array([False, True, False]), [-7.0])
    stepper.step(4)
    assert list(stepper.events["low"].count) == [1, 1, 1]
    assert list(stepper.events["low"].t[:, 0]) == [0, 4 * DT, 0]
