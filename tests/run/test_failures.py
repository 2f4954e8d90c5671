"""A trajectory that fails is frozen at its last good state, at the step where it fails, whatever is
saved and however the run is cut; the others do not notice.
"""

import pickle
import re
import warnings

import numpy as np
import pytest
from conftest import same_bits
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import KERNEL_METHODS, KERNELS_IN_BOTH, names, states

import pyintegrate as pi
from pyintegrate import Status

SAVES = ["all", "final", 1, 7, 300]
CASE = ("method", "system", "dtype")
kernel = pytest.mark.parametrize(CASE, KERNELS_IN_BOTH, ids=names(KERNELS_IN_BOTH))
both = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f64", "f32"])
every_method = pytest.mark.parametrize("method", KERNEL_METHODS, ids=str)


def run(system, y, method="rk4", dt=0.1, n_steps=400, **options):
    options = {"on_failure": "ignore", **options}
    return pi.integrate(system, y, dt=dt, n_steps=n_steps, method=method, **options)


def one_by_one(system, y, n_steps, **options):
    """The first step that each trajectory does not complete, and the last good states."""
    sol = run(system, y, n_steps=0, save="final", **options)
    for _ in range(n_steps):
        sol = sol.resume(n_steps=1)
    return sol.failed_step, sol.status, sol.final


def stiff_springs(dtype):
    """Oscillators at omega dt = 0.1 .. 50, beyond the stability limit of any explicit method.

    They grow by a factor of 10 .. 1e9 a step and overflow at steps between 5 and 400.
    """
    omega = np.geomspace(1, 500, 21)
    return pi.systems.oscillator(omega=omega), states(pi.systems.oscillator, (21,), dtype)


# ---- blow-up -------------------------------------------------------------------------------------


@both
@every_method
def test_a_blow_up_is_found_at_its_very_step(method, dtype):
    system, y = stiff_springs(dtype)
    failed, status, last = one_by_one(system, y, 400, method=method)
    assert set(status) == {Status.OK, Status.NOT_FINITE}
    assert len(set(failed)) > 3
    for save in SAVES:
        sol = run(system, y, method, save=save)
        assert sol.failed_step.tolist() == failed.tolist()
        assert sol.status.tolist() == status.tolist()
        assert same_bits(sol.final, last)
        assert np.isfinite(sol.y).all()


@both
@every_method
def test_saves_from_the_failure_on_repeat_the_last_good_state(method, dtype):
    system, y = stiff_springs(dtype)
    whole = run(system, y, method)
    for i, step in enumerate(whole.failed_step):
        if step > 1:
            frozen = whole.y[step:, i]
            assert same_bits(frozen, np.broadcast_to(whole.y[step - 1, i], frozen.shape))
            assert not same_bits(whole.y[step - 1, i], whole.y[step - 2, i])
    for save in SAVES:
        sol = run(system, y, method, save=save)
        assert same_bits(sol.y, whole.y[sol.steps])
        column = sol.steps[:, np.newaxis]
        assert np.array_equal(sol.valid, (sol.failed_step < 0) | (column < sol.failed_step))


def test_a_blow_up_within_the_stages_is_found_as_well():
    y = states(pi.systems.lorenz, (40,))
    failed, status, last = one_by_one(pi.systems.lorenz, y, 60, dt=0.14)
    assert set(status) == {Status.OK, Status.NOT_FINITE}
    sol = run(pi.systems.lorenz, y, dt=0.14, n_steps=60)
    assert sol.failed_step.tolist() == failed.tolist()
    assert same_bits(sol.final, last)


@every_method
def test_the_time_of_a_trajectory_goes_with_it_when_its_failure_is_looked_for(method):
    driven = pi.systems.duffing(alpha=1.0, beta=-1.0, gamma=0.4)  # leaves the well, or does not
    options = {"method": method, "dt": 0.02, "t0": np.linspace(0, 3, 40)}
    y = states(driven, (40,))
    failed, status, last = one_by_one(driven, y, 300, **options)
    assert set(status) == {Status.OK, Status.NOT_FINITE}
    for save in SAVES:
        sol = run(driven, y, n_steps=300, save=save, **options)
        assert sol.failed_step.tolist() == failed.tolist()
        assert same_bits(sol.final, last)


def test_the_failing_step_would_move_with_a_wrong_coefficient():
    system, y = stiff_springs(np.float64)
    wrong = pi.Composition([("kick", 0.5), ("drift", 0.9), ("kick", 0.5), ("drift", 0.1)])
    right = run(system, y, "velocity_verlet").failed_step
    assert not np.array_equal(run(system, y, wrong).failed_step, right)


# ---- states and parameters that are not finite ---------------------------------------------------


@kernel
def test_a_bad_state_fails_at_step_0_and_its_neighbours_do_not_notice(method, system, dtype):
    y = states(system, (20,), dtype)
    clean = run(system, y, method, dt=0.01, n_steps=20)
    for component in range(system.dim):
        spoilt = y.copy()
        spoilt[7, component] = (np.nan, np.inf, -np.inf)[component % 3]
        sol = run(system, spoilt, method, dt=0.01, n_steps=20)
        assert sol.status.tolist() == [int(i == 7) * Status.NOT_FINITE for i in range(20)]
        assert sol.failed_step.tolist() == [-(i != 7) for i in range(20)]
        assert same_bits(sol.y[:, 7], np.tile(spoilt[7], (21, 1)))
        assert same_bits(np.delete(sol.y, 7, axis=1), np.delete(clean.y, 7, axis=1))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_has_three_kinds(bad):
    sol = run(pi.systems.lorenz, [1.0, bad, 1.0], n_steps=3)
    assert (sol.status, sol.failed_step) == (Status.NOT_FINITE, 0)


@kernel
def test_a_bad_parameter_fails_at_the_step_it_spoils(method, system, dtype):
    y = states(system, (20,), dtype)
    clean = run(system, y, method, dt=0.01, n_steps=20)
    for name, value in system.params.items():
        values = np.tile(np.asarray(value), (20,) + (1,) * np.ndim(value))
        values[7] = np.nan
        spoilt = system(**{name: values})
        failed, _, last = one_by_one(spoilt, y, 20, method=method, dt=0.01)
        sol = run(spoilt, y, method, dt=0.01, n_steps=20)
        assert failed[7] > 0 or np.ndim(value)  # the times of a profile are only compared
        assert sol.failed_step.tolist() == failed.tolist()
        assert same_bits(sol.final, last)
        assert same_bits(np.delete(sol.y, 7, axis=1), np.delete(clean.y, 7, axis=1))


def test_numbers_too_large_for_float32_fail_at_step_0_in_float32_alone():
    y = np.array([[1e39, 0.0], [1.0, 0.0]])
    sol = run(pi.systems.oscillator, y, n_steps=3, dtype=np.float32)
    assert sol.failed_step.tolist() == [0, -1]
    assert run(pi.systems.oscillator, y, n_steps=3).failed_step.tolist() == [-1, -1]


# ---- bounds --------------------------------------------------------------------------------------


@kernel
def test_a_bound_is_looked_at_after_every_step(method, system, dtype):
    y = states(system, (30,), dtype)
    free = run(system, y, method, dt=0.01, n_steps=300)
    size = abs(free.y).max(axis=-1)
    bound = float(np.median(size.max(axis=0)))  # half of the trajectories exceed it
    beyond = size > bound
    expected = np.where(beyond.any(axis=0), beyond.argmax(axis=0), -1)
    last = np.maximum(np.where(expected < 0, 300, expected - 1), 0)  # its start, if that is beyond
    for save in SAVES:
        sol = run(system, y, method, dt=0.01, n_steps=300, save=save, bound=bound)
        assert sol.failed_step.tolist() == expected.tolist()
        assert set(sol.status[expected >= 0]) == {Status.OUT_OF_BOUNDS}
        kept = np.minimum(sol.steps[:, np.newaxis], last)
        assert same_bits(sol.y, free.y[kept, np.arange(30)])


def test_a_trajectory_that_comes_back_within_the_bound_has_failed_all_the_same():
    # x = sin(t) exceeds 0.99 for 0.28 s of each turn: 28 of the 256 steps between two looks.
    sol = run(pi.systems.oscillator, [0.0, 1.0], dt=0.01, n_steps=10_000, save="final", bound=1.0)
    assert sol.status == Status.OK
    sol = run(pi.systems.oscillator, [0.0, 0.995], dt=0.01, n_steps=300, save="final", bound=0.994)
    assert sol.failed_step == 0  # its velocity, at the start
    sol = run(pi.systems.oscillator(omega=2), [0.0, 1.0], dt=0.01, n_steps=300, save="final",
              bound=1.0)  # fmt: skip
    assert sol.status == Status.OK
    sol = run(pi.systems.oscillator(omega=0.5), [0.0, 1.0], dt=0.01, n_steps=628, save="final",
              bound=1.9999)  # fmt: skip
    assert sol.status == Status.OUT_OF_BOUNDS
    assert sol.failed_step == np.ceil((np.pi - np.arccos(1.9999 / 2) * 2) / 0.01)


@both
def test_the_bound_itself_is_within(dtype):
    still, edge = pi.systems.constant_force(force=0.0), dtype(0.1)
    sol = run(still, np.array([edge, 0], dtype), dt=1.0, n_steps=3, bound=0.1)
    assert sol.status == Status.OK
    sol = run(still, np.array([np.nextafter(edge, dtype(1)), 0]), dt=1.0, n_steps=3, bound=0.1)
    assert sol.status == Status.OUT_OF_BOUNDS
    assert sol.failed_step == 0


def test_nan_is_not_finite_whatever_the_bound():
    sol = run(pi.systems.oscillator, [[5.0, np.nan], [5.0, 0.0]], n_steps=3, bound=1.0)
    assert sol.status.tolist() == [Status.NOT_FINITE, Status.OUT_OF_BOUNDS]


# ---- company -------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    bad=st.lists(st.booleans(), min_size=1, max_size=150),
    save=st.sampled_from(["all", "final", 5]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_any_number_of_failures_anywhere_leaves_the_others_alone(bad, save, dtype):
    bad = np.array(bad)
    y = states(pi.systems.oscillator, bad.shape, dtype)
    mixed = pi.systems.oscillator(omega=np.where(bad, 300.0, 3.0))
    sol = run(mixed, y, n_steps=120, save=save)
    clean = run(pi.systems.oscillator(omega=3.0), y, n_steps=120, save=save)
    assert np.array_equal(sol.status != Status.OK, bad)
    assert same_bits(sol.y[:, ~bad], clean.y[:, ~bad])
    alone = run(pi.systems.oscillator(omega=300.0), y, n_steps=120, save=save)
    assert same_bits(sol.y[:, bad], alone.y[:, bad])
    assert np.array_equal(sol.failed_step[bad], alone.failed_step[bad])


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("save", ["all", "final", 50])  # "all" is a record written past the caches
def test_half_of_a_large_batch_may_fail(save, workers):
    n = 5001
    y = states(pi.systems.oscillator, (n,))
    omega = np.where(np.arange(n) % 2, np.linspace(60, 600, n), 1.0)
    sol = run(pi.systems.oscillator(omega=omega), y, n_steps=250, save=save, workers=workers)
    odd = np.arange(n) % 2 == 1
    assert np.array_equal(sol.status != Status.OK, odd)
    few = [1, 3, 1777, 4999]
    failed, _, last = one_by_one(pi.systems.oscillator(omega=omega[few]), y[few], 250)
    assert sol.failed_step[few].tolist() == failed.tolist()
    assert same_bits(sol.final[few], last)
    clean = run(pi.systems.oscillator(omega=1.0), y[~odd], n_steps=250, save=save)
    assert same_bits(sol.y[:, ~odd], clean.y)


# ---- going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("cut", [0, 1, 40, 255, 256, 257])
def test_a_resumed_run_fails_like_one_long_run(cut, save):
    system, y = stiff_springs(np.float64)
    y[3, 1] = np.nan
    long = run(system, y)
    start = run(system, y, n_steps=cut, save=save)
    early = (long.failed_step >= 0) & (long.failed_step <= cut)
    assert np.array_equal(start.failed_step, np.where(early, long.failed_step, -1))
    sol = start.resume(n_steps=400 - cut)
    assert np.array_equal(sol.failed_step, long.failed_step)
    assert np.array_equal(sol.status, long.status)
    assert same_bits(sol.y, long.y[sol.steps])
    assert np.array_equal(sol.valid, long.valid[sol.steps])


# ---- what is said --------------------------------------------------------------------------------


def test_one_warning_names_counts_index_step_and_time():
    y = np.tile([0.0, 1.0], (2, 5, 1))
    y[1, 2, 0], y[0, 4] = np.nan, [7.0, 0.0]
    with pytest.warns(pi.IntegrationWarning) as caught:
        sol = run(pi.systems.oscillator, y, dt=0.5, n_steps=4, bound=6.0, t0=2.0, on_failure="warn")
    assert len(caught) == 1
    text = str(caught[0].message)
    for part in ("2 of 10 trajectories failed", "1 stopped being finite", "1 exceeded the bound",
                 "(0, 4) at step 0 (t = 2)", "last good state"):  # fmt: skip
        assert part in text
    assert caught[0].filename == __file__
    assert sol.failures() == text


def test_the_report_gives_the_time_of_the_first_failure_of_that_trajectory():
    y, dt = [[0.0, 1.0], [0.0, 3.0]], np.array([0.5, 0.25])
    moving = pi.systems.constant_force(force=0.0)
    sol = run(moving, y, dt=dt, n_steps=20, bound=3.0)
    assert sol.failed_step.tolist() == [7, 5]
    assert "first trajectory 1 at step 5 (t = 1.25)" in sol.failures()


def test_a_single_trajectory_is_not_numbered():
    sol = run(pi.systems.oscillator, [0.0, np.inf], n_steps=3)
    assert sol.failures().startswith(
        "1 of 1 trajectories failed (1 stopped being finite); it failed"
    )
    assert run(pi.systems.oscillator, [0.0, 1.0], n_steps=3).failures() == "no trajectory failed"


def test_raise_gives_what_was_computed():
    y = [[0.0, 1.0], [np.nan, 1.0]]
    with pytest.raises(pi.IntegrationError, match="1 of 2 trajectories failed") as caught:
        run(pi.systems.oscillator, y, n_steps=30, on_failure="raise")
    expected = run(pi.systems.oscillator, y, n_steps=30)
    assert same_bits(caught.value.solution.y, expected.y)
    assert caught.value.solution.failures() == expected.failures()
    assert issubclass(pi.IntegrationError, RuntimeError)


@pytest.mark.parametrize("on_failure", ["warn", "raise", "ignore"])
def test_a_run_without_failures_is_silent(on_failure):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sol = run(pi.systems.oscillator, [0.0, 1.0], n_steps=30, on_failure=on_failure)
    assert sol.n_failed == 0


def test_a_resumed_run_speaks_of_its_failures_again():
    with pytest.warns(pi.IntegrationWarning, match=re.escape("at step 0")):
        sol = run(pi.systems.oscillator, [0.0, np.nan], n_steps=3, on_failure="warn")
    with pytest.warns(pi.IntegrationWarning, match=re.escape("at step 0")):
        sol.resume(n_steps=3)


def test_pickles_of_equal_runs_are_equal_whatever_lay_in_the_memory_before():
    y = np.stack([np.linspace(0.0, 2.0, 100), np.zeros(100)], axis=-1)
    found = set()
    for junk in range(1, 5):
        before = [np.full(len(y), junk) for _ in range(50)]
        del before
        found.add(pickle.dumps(run(pi.systems.oscillator, y, n_steps=3, bound=1.5, save="final")))
    assert len(found) == 1
