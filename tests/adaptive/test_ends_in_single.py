"""Ends of a run in single precision: times that are the same in float32 are the same time."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

RUN = {"rtol": 1e-4, "atol": 1e-6, "dtype": np.float32}
# Rounded up, down, and earlier than the start.
ENDS = [0.1, 0.7, -0.6]


@pytest.mark.parametrize("end", ENDS)
def test_it_resumes_to_its_own_end_and_from_there_on(end):
    sol = pi.solve(pi.systems.pendulum, t_end=end, **RUN)
    again = sol.resume(t_end=end)
    assert same_bits(again.final, sol.final)
    assert again.steps_taken == sol.steps_taken
    assert again.last_step == sol.last_step
    assert same_bits(again.resume(t_end=2 * end).final, sol.resume(t_end=2 * end).final)
    before = np.nextafter(np.float32(end), np.float32(0))
    with pytest.raises(ValueError, match="before the end"):
        sol.resume(t_end=float(before))


@pytest.mark.parametrize("end", ENDS)
def test_the_ends_may_be_asked_for_in_either_precision(end):
    single = np.linspace(0, end, 5, dtype=np.float32)
    run = {"t0": np.float32(0.3 * end), "t_end": end, **RUN}
    times = np.array([0.3 * end, *single[2:]])
    sol = pi.solve(pi.systems.pendulum, times=times, **run)
    assert same_bits(sol.y[-1], sol.final)
    assert same_bits(sol.y[0], sol.initial)
    steps = pi.solve(pi.systems.pendulum, **run)
    for t in (end, float(np.float32(end))):
        assert abs(steps.at(t) - steps.final).max() < 1e-6
    beyond = np.nextafter(np.float32(end), np.float32(2 * end))
    with pytest.raises(ValueError, match="between t0 and t_end"):
        pi.solve(pi.systems.pendulum, times=[beyond], **run)
    with pytest.raises(ValueError, match="outside"):
        steps.at(beyond)


@pytest.mark.parametrize("end", ENDS)
def test_the_ends_of_fixed_steps_too(end, tmp_path):
    run = {"dt": end / 7, "t_end": end, "dtype": np.float32}
    asked = np.linspace(0, end, 5, dtype=np.float32)
    sol = pi.integrate(pi.systems.pendulum, times=asked, **run)
    assert same_bits(sol.t, asked.astype(np.float64))
    whole = pi.integrate(pi.systems.pendulum, **run)
    assert same_bits(sol.y, whole.at(asked))
    assert abs(sol.y[-1] - whole.final).max() < 1e-6
    sol.save(tmp_path / "a.npz")
    assert same_bits(pi.load(tmp_path / "a.npz").y, sol.y)
    beyond = np.nextafter(np.nextafter(asked[-1], 2 * asked[-1]), 2 * asked[-1])
    with pytest.raises(ValueError, match="outside the run"):
        pi.integrate(pi.systems.pendulum, times=[beyond], **run)
    with pytest.raises(ValueError, match="outside the saved"):
        whole.at(beyond)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_way_changes_no_step(dtype):
    """Some go on, others stay where they are: each keeps the step that it would try."""
    mu = np.array([1.0, 900.0, 2.0, 950.0])
    run = {"t_end": 30.0, "rtol": 1e-4, "atol": 1e-4, "dtype": dtype, "max_steps": 2000}
    first = pi.solve(pi.systems.van_der_pol(mu=mu), on_failure="ignore", **run)
    assert np.isfinite(first.stiff_since).tolist() == [False, True, False, True]
    second = first.resume(t_end=[30.0, 30.0, 31.0, 31.0])
    assert same_bits(second.last_step[:2], first.last_step[:2])
    third, direct = second.resume(t_end=32.0), first.resume(t_end=32.0)
    assert same_bits(third.final[:2], direct.final[:2])
    joined = pi.concatenate(first, second)
    assert same_bits(joined.last_step, second.last_step)
    assert same_bits(joined.resume(t_end=32.0).final, third.final)


def test_one_that_failed_keeps_its_last_step():
    blow_up = pi.rhs(dim=1)(lambda t, y: (y[0] * y[0],))
    sol = pi.solve(blow_up, [[1.0], [-1.0]], t_end=2.0, on_failure="ignore")
    later = sol.resume(t_end=3.0)
    assert sol.status[0] == later.status[0] != pi.Status.OK
    assert same_bits(later.last_step[0], sol.last_step[0])
    assert later.failures().split("Its last step")[1] == sol.failures().split("Its last step")[1]


@pytest.mark.parametrize(
    "given", [{"x0": [1e300, 1.0], "v0": 0.0}, {"breaks": [1e300]}, {"times": [1e-300, 0.1]}]
)
def test_numbers_out_of_its_range_are_rounded_without_a_word(given):
    """As those of fixed steps: one that is infinite fails by its status."""
    with np.errstate(all="raise"):
        sol = pi.solve(pi.systems.pendulum, t_end=0.5, on_failure="ignore", **RUN, **given)
    assert sol.n_failed == ("x0" in given)


@pytest.mark.parametrize("then", [None, lambda t, x, v: (x, -v)], ids=["seen", "jump"])
@pytest.mark.parametrize("t0", [0.0, -3.0, 256.0])
def test_an_event_at_a_break_is_not_lost(then, t0):
    """The step to the break ended at it, less the rounding error of the time, which the next one
    forgot: what changed sign between them was seen by neither."""
    free = pi.acceleration(lambda t, x, v: 0 * x, dof=1)
    for method in ("verner98", "dormand_prince54", "rodas5p"):
        for when in t0 + np.array([0.5, 1.0, 3.375]):
            at = {"at": pi.event(lambda t, x, v, c: t - c, then=then, params={"c": when})}
            sol = pi.solve(
                free, 0.625, 2.0, t0=t0, t_end=t0 + 8, dtype=np.float32, method=method, rtol=1e-4,
                breaks=[when], events=at,
            )  # fmt: skip
            assert sol.events["at"].count == 1, (method, when)


def test_the_times_of_steps_add_up_to_that_of_the_run():
    """The rounding error of the time was left out at the end of each step, not at its beginning."""
    held = {"held": pi.watch.time_within(lambda t, x, v: abs(x) >= 0)}
    sol = pi.solve(
        pi.systems.oscillator, t0=1000.0, t_end=1008.0, rtol=1e-4, dtype=np.float32, watch=held
    )
    assert abs(sol.watched["held"] - 8) < 1e-12
