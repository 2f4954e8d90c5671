"""Trajectories that leave a bound, and make room for others: each as if it were alone.

The reference is a run without a bound that saves every step: the first state beyond, and the state
before it, bit for bit.
"""

import numpy as np
import pytest

import pyintegrate as pi

METHODS = [
    "semi_implicit_euler", "velocity_verlet", "forest_ruth4", "rk4", "tsitouras54", "dop853",
    "runge_kutta_nystrom4", "implicit_midpoint", "sdirk3", "adams_bashforth3",
]  # fmt: skip
BOUND, STEPS = 1.5, 300


def batch(n, dtype):
    rng = np.random.default_rng(7)
    start = rng.uniform(-0.9, 0.9, (n, 4)).astype(dtype)
    start[: n // 8] *= 0.05  # these stay
    start[n // 3] = np.nan
    start[n // 2, 2] = BOUND + 1
    return start, rng.uniform(0.02, 0.05, n).astype(dtype)


def alone(saved, bound):
    """First step beyond the bound or not finite, -1: none; and the last state before it."""
    with np.errstate(invalid="ignore"):
        beyond = ~(np.abs(saved) <= bound).all(axis=-1)
    first = np.where(beyond.any(axis=0), beyond.argmax(axis=0), -1)
    last = np.where(first < 0, len(saved) - 1, np.maximum(first - 1, 0))
    return first, np.take_along_axis(saved, last[np.newaxis, :, np.newaxis], axis=0)[0]


@pytest.mark.parametrize("method", METHODS)
def test_each_leaves_as_if_it_were_alone(method):
    start, dt = batch(600, np.float64)
    run = {"dt": dt, "n_steps": STEPS, "method": method, "on_failure": "ignore"}
    free = pi.integrate(pi.systems.henon_heiles, start, **run, save=1)
    first, final = alone(np.asarray(free.y), BOUND)
    left = pi.integrate(pi.systems.henon_heiles, start, **run, save="final", bound=BOUND)
    assert 200 < (first > 0).sum() < 590
    np.testing.assert_array_equal(left.failed_step, first)
    np.testing.assert_array_equal(left.final.view(np.int64), final.view(np.int64))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("compensated", [False, True])
def test_no_bit_depends_on_who_is_beside(dtype, compensated):
    start, dt = batch(3000, dtype)
    run = {"n_steps": STEPS, "method": "rk4", "on_failure": "ignore", "save": "final"}
    run |= {"bound": BOUND, "dtype": dtype, "compensated": compensated}
    whole = pi.integrate(pi.systems.henon_heiles, start, dt=dt, **run)
    order = np.random.default_rng(1).permutation(len(start))
    for part in (order, order[:701], slice(None, None, 7), slice(5, 6)):
        some = pi.integrate(pi.systems.henon_heiles, start[part], dt=dt[part], workers=2, **run)
        np.testing.assert_array_equal(some.failed_step, whole.failed_step[part])
        np.testing.assert_array_equal(some.final, whole.final[part])
        np.testing.assert_array_equal(some.status, whole.status[part])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parameters_go_along(dtype):
    """Who stays moves to the place of who leaves, with numbers of its own."""
    mu = np.random.default_rng(3).uniform(0.1, 4.0, 700).astype(dtype)
    run = {"dt": 0.02, "n_steps": STEPS, "on_failure": "ignore", "save": "final", "bound": 2.5}
    run["dtype"] = dtype
    start = np.array([1.0, 0.5], dtype)
    whole = pi.integrate(pi.systems.van_der_pol(mu=mu), start, **run)
    assert 100 < whole.n_failed < 600
    for part in (slice(0, 699, 41), slice(699, 700)):
        some = pi.integrate(pi.systems.van_der_pol(mu=mu[part]), start, **run)
        np.testing.assert_array_equal(some.failed_step, whole.failed_step[part])
        np.testing.assert_array_equal(some.final, whole.final[part])


def test_who_comes_back_has_left():
    # x = cos t is beyond 0.9 until t = 0.45 and again later; v = -sin t beyond it in between.
    start = [[0.1, 0.0], [0.0, 0.95], [0.95, 0.0]]
    sol = pi.integrate(
        pi.systems.oscillator, start, dt=0.01, n_steps=314, method="rk4", bound=0.94,
        on_failure="ignore", save="final",
    )  # fmt: skip
    assert sol.status.tolist() == [pi.Status.OK, *2 * [pi.Status.OUT_OF_BOUNDS]]
    assert sol.failed_step.tolist() == [-1, 0, 0]
    ahead = pi.integrate(
        pi.systems.oscillator, [0.67, 0.67], dt=0.01, n_steps=300, method="rk4", bound=0.94,
        on_failure="ignore", save="final",
    )  # fmt: skip
    # |x| = 0.9475 sin(t + pi/4) is beyond 0.94 near t = pi/4 only: for 0.25.
    assert abs(ahead.failed_step - 66) <= 1
