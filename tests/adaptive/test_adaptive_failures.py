"""Trajectories that cannot arrive say why, when and with which step; the others do not care."""

import os
import pickle
import signal
import threading

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate import Status
from pyintegrate.adaptive.adaptive_run import AdaptiveRun

RUN = {"rtol": 1e-6, "atol": 1e-9, "on_failure": "ignore"}
blow_up = pi.rhs(dim=1)(lambda t, y: [y[0] ** 2])  # y = 1 / (1 / y0 - t)


def test_a_solution_that_ends_before():
    sol = pi.solve(blow_up, [[0.1], [1.0], [0.2]], t_end=2.0, **RUN)
    assert sol.status[0] == sol.status[2] == Status.OK
    assert sol.status[1] in (Status.STEP_TOO_SMALL, Status.NOT_FINITE)
    assert np.allclose(sol.final[[0, 2], 0], [1 / 8.0, 1 / 3.0], rtol=1e-5)
    assert sol.t.shape == (1, 3)
    assert sol.t[0, 1] == pytest.approx(1.0, abs=1e-5)
    assert np.isfinite(sol.final).all()
    assert not sol.valid[0, 1]
    assert sol.valid[0, [0, 2]].all()


@pytest.mark.parametrize("method", ["auto", "dormand_prince54", "tsitouras54", "rodas5p"])
def test_a_fall_into_a_centre_ends_there(method):
    """Steps that shrink without a rejection led through it, with any energy."""
    angle = np.linspace(0.1, 6, 60)
    start = np.stack([np.cos(angle), np.sin(angle), 0 * angle, 0 * angle], axis=-1)
    sol = pi.solve(pi.systems.kepler, start, t_end=2.2, method=method, **RUN | {"rtol": 1e-9})
    assert (sol.status == Status.STEP_TOO_SMALL).all()
    assert sol.t == pytest.approx(np.pi / 8**0.5, abs=1e-6)


def test_too_many_steps_and_what_to_do():
    stiff = pi.rhs(dim=1)(lambda t, y: [-1e6 * (y[0] - np.cos(t))])
    sol = pi.solve(stiff, [0.0], t_end=10.0, max_steps=500, method="verner87", **RUN)
    assert sol.status == Status.TOO_MANY_STEPS
    assert sol.steps_taken + sol.rejected == 500
    assert "stiff" in sol.failures()
    assert "last step" in sol.failures()


@pytest.mark.parametrize("method", ["verner87", "dop853", "tsitouras54", "heun2"])
def test_too_many_steps_say_whether_it_is_stiff(method):
    """Decay at the rates 1000 and 2000 to a slow motion, and a motion without any decay."""
    k = np.array([1000.0, 2000.0])
    stiff = pi.rhs(dim=1, k=1.0)(lambda t, y, k: [-k * (y[0] - np.cos(t))])
    options = {"max_steps": 500, "on_failure": "ignore", "method": method, "rtol": 1e-4}
    sol = pi.solve(stiff(k=k), [1.0], t_end=100.0, **options)
    assert "It is stiff there" in sol.failures()
    assert "radau_iia5" in sol.failures()
    for system in (pi.systems.oscillator, pi.systems.lorenz):
        sol = pi.solve(system, t_end=1e6, **options)
        assert "It is not stiff" in sol.failures()
    called = pi.acceleration(trace=False)(lambda t, x, v: -x)
    sol = pi.solve(called, 1.0, 0.0, t_end=1e6, **(options | {"max_steps": 20}))
    assert "max_steps" in sol.failures()


def test_a_stiff_problem_is_right_or_says_that_it_is_not():
    sol = pi.solve(pi.systems.van_der_pol(mu=100.0), t_end=20.0, rtol=1e-6, atol=1e-9)
    exact = pi.solve(pi.systems.van_der_pol(mu=100.0), t_end=20.0, rtol=1e-10, atol=1e-12)
    assert sol.status == Status.OK
    assert abs(sol.final - exact.final).max() < 1e-5


@pytest.mark.parametrize("method", ["auto", "verner87", "radau_iia5"])
def test_a_jump_beyond_the_bound_is_not_kept(method):
    """A ball on the floor, whose bounces become larger: lanes that stay within the bound are as
    without it; the others keep the state before the step that was thrown beyond."""

    def thrown(rate, **more):
        bounce = pi.event(
            "x", direction=-1, then=lambda t, x, v, k: (x, -k * v), params={"k": rate}
        )
        ball = pi.acceleration(lambda t, x, v: -1.0)
        return pi.solve(ball, 1.0, 0.0, t_end=9.0, events={"bounce": bounce}, method=method,
                        on_failure="ignore", **more)  # fmt: skip

    rate = np.array([1.0, 1.2, 3.0, 40.0])
    free, held = thrown(rate), thrown(rate, bound=4.0)
    assert list(held.status) == [Status.OK, Status.OK, *[Status.OUT_OF_BOUNDS] * 2]
    assert np.array_equal(held.final[:2], free.final[:2])
    assert abs(free.final[2:]).max() > 4.0
    x, v = held.final[2:].T
    assert np.allclose(x + v * v / 2, 1.0, rtol=1e-6)  # as it fell for the first time
    assert (held.t[-1, 2:] < np.sqrt(2)).all()


@pytest.mark.parametrize("method", ["auto", "verner87", "dop853", "radau_iia5"])
def test_events_of_a_step_that_a_bound_takes_back_have_not_occurred(method):
    levels = {
        f"{k}": pi.event(lambda t, y, k: y[0] - k, params={"k": k}) for k in (9, 45, 49.9, 60)
    }
    sol = pi.solve(blow_up, [[0.9], [1.0], [1.1]], t_end=2.0, bound=50.0, events=levels,
                   method=method, on_failure="ignore")  # fmt: skip
    for level, found in sol.events.items():
        assert np.array_equal(found.count, sol.final[:, 0] > float(level))
        assert (found.t[found.count > 0, 0] <= sol.t[-1][found.count > 0]).all()


def test_bounds_starts_and_parameters():
    bounded = pi.solve(blow_up, [[0.1], [1.0]], t_end=2.0, bound=50.0, **RUN)
    assert list(bounded.status) == [Status.OK, Status.OUT_OF_BOUNDS]
    assert abs(bounded.final).max() <= 50.0
    seen = {"passes": pi.event(lambda t, y: y[0] - 0.5)}
    watched = pi.solve(blow_up, [[0.1], [1.0]], t_end=2.0, bound=50.0, events=seen, **RUN)
    for name in ("final", "status", "t", "steps_taken", "rejected"):
        assert np.array_equal(getattr(watched, name), getattr(bounded, name))
    start = pi.solve(
        pi.systems.lorenz, [[1, 1, np.nan], [1, 1, 1], [1, np.inf, 1]], t_end=1.0, **RUN
    )
    assert list(start.status) == [Status.NOT_FINITE, Status.OK, Status.NOT_FINITE]
    assert list(start.failed_step) == [0, -1, 0]
    spoiled = pi.solve(pi.systems.pendulum(length=[1.0, np.nan]), t_end=1.0, **RUN)
    assert list(spoiled.status) == [Status.OK, Status.NOT_FINITE]
    assert spoiled.failures().endswith(" Its start, or the force there, is not finite.")
    fixed = pi.integrate(
        pi.systems.pendulum(length=[1.0, np.nan]), dt=0.5, n_steps=2, on_failure="ignore"
    )
    assert list(spoiled.failed_step) == list(fixed.failed_step) == [-1, 1]  # the start is good


@pytest.mark.parametrize("method", ["auto", "dop853", "prince_dormand87", "verner98"])
def test_a_slope_that_is_no_number_is_not_forgotten_by_a_later_stage(method):
    ends = pi.rhs(dim=1)(lambda t, y: [np.where(y[0] > 2, np.nan, 1.0)])
    sol = pi.solve(ends, [0.0], t_end=5.0, method=method, **RUN)
    assert sol.status == Status.NOT_FINITE
    assert sol.final[0] <= 2


def test_a_discontinuous_force_does_not_hang():
    system = pi.acceleration(lambda t, x, v: -np.sign(x) - np.sign(v) * 0.1)
    sol = pi.solve(system, 1.0, 0.3, t_end=20.0, max_steps=20000, **RUN)
    assert sol.steps_taken + sol.rejected <= 20000
    assert sol.status in (Status.OK, Status.TOO_MANY_STEPS, Status.STEP_TOO_SMALL)


def test_warnings_and_errors():
    with pytest.warns(pi.IntegrationWarning, match="1 of 2 trajectories failed"):
        pi.solve(blow_up, [[0.1], [1.0]], t_end=2.0)
    with pytest.raises(pi.IntegrationError) as caught:
        pi.solve(blow_up, [[0.1], [1.0]], t_end=2.0, on_failure="raise")
    assert caught.value.solution.status[0] == Status.OK


def test_saves_after_a_failure_repeat_the_last_state():
    times = np.linspace(0, 2.0, 10)  # 1, where the solution ends, is between
    sol = pi.solve(blow_up, [[0.1], [1.0]], t_end=2.0, times=times, **RUN)
    assert list(sol.valid[:, 1]) == [t < 1.0 for t in times]
    assert np.array_equal(sol.y[-1, 1], sol.final[1])
    assert sol.valid[:, 0].all()


def test_a_failed_trajectory_stays_when_the_others_go_on():
    sol = pi.solve(blow_up, [[0.1], [1.0]], t_end=2.0, **RUN)
    further = sol.resume(t_end=3.0)
    assert list(further.status == Status.OK) == [True, False]
    assert np.array_equal(further.final[1], sol.final[1])
    assert further.final[0, 0] == pytest.approx(1 / 7.0, rel=1e-5)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_keeps_what_has_arrived(workers):
    """Short ways are first, and then those that would take hours."""
    seen = threading.Event()

    def progress(done, total):
        if done >= 40 and not seen.is_set():
            seen.set()
            os.kill(os.getpid(), signal.SIGINT)

    t_end = np.where(np.arange(80) < 40, 1.0, 1e9)
    with pytest.raises(KeyboardInterrupt) as caught:
        pi.solve(pi.systems.pendulum, np.linspace(0.5, 1, 80), 0.0, t_end=t_end, progress=progress,
                 workers=workers, max_steps=2_000_000_000, times=[0.0, 0.5, 1.0])  # fmt: skip
    sol = caught.value.solution
    assert sol.valid[:, :40].all()
    assert np.all((abs(sol.y) <= 10).all(axis=(0, 2)))  # also of those that were not begun
    assert np.array_equal(sol.y[-1, :40], sol.final[:40])
    whole = pi.solve(pi.systems.pendulum, np.linspace(0.5, 1, 80)[:40], 0.0, t_end=1.0)
    assert np.all(sol.status[:40] == Status.OK)
    assert np.all(sol.status[40:] == Status.CANCELLED)
    assert np.array_equal(sol.final[:40], whole.final)
    assert np.isfinite(sol.final).all()


def interrupted():
    """Two trajectories, of which one has arrived."""

    def progress(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        pi.solve(pi.systems.lorenz, LORENZ, t_end=[0.5, 1e9], save="all", max_steps=1 << 30,
                 progress=progress)  # fmt: skip
    return caught.value.solution


LORENZ = np.array([[1.0, 1, 1], [1, 2, 3]])


def test_steps_of_an_interrupted_run_are_put_together_when_they_are_asked_for(monkeypatch):
    """Trajectories that are far ahead of the others make the array of all steps larger than what
    was computed, and perhaps than the memory."""

    def no_memory(run):
        raise MemoryError("72 GB")

    monkeypatch.setattr(AdaptiveRun, "kept", no_memory)
    sol = interrupted()
    assert list(sol.status) == [Status.OK, Status.CANCELLED]
    assert np.isfinite(sol.final).all()
    with pytest.raises(MemoryError, match="72 GB"):
        sol.y  # noqa: B018


def test_steps_of_an_interrupted_run_are_those_of_a_whole_one():
    sol, n = interrupted(), 20
    again = pickle.loads(pickle.dumps(sol))
    whole = pi.solve(pi.systems.lorenz, LORENZ, t_end=[0.5, sol.t[n, 1]], save="all")
    for part in (sol, again):
        assert part.counts[0] == whole.counts[0] > 5
        assert part.counts[1] > n
        assert part.y[:n].tobytes() == whole.y[:n].tobytes()
        assert part.t[:n].tobytes() == whole.t[:n].tobytes()


def test_an_exception_of_a_force_comes_out():
    def force(t, x, v):
        if np.any(t > 0.5):
            raise ArithmeticError("enough")
        return -x

    with pytest.raises(ArithmeticError, match="enough"):
        pi.solve(pi.acceleration(trace=False)(force), 1.0, 0.0, t_end=2.0)
