"""The C kernels compute what the readable NumPy twins compute, to a few units in the last place."""

from itertools import product

import numpy as np
import pytest
import reference
from reference import (
    COVERING_IN_BOTH,
    DTYPES,
    KERNEL_METHODS,
    KERNELS,
    PAIRS,
    POINT_METHODS,
    in_turn,
    names,
    states,
    with_coefficients,
    with_factors,
)

import pyintegrate as pi

DT = 2.0**-8  # exact in every dtype: what is compared is the arithmetic, not the rounding of dt
# Ulps: a step of s stages makes about 2 s roundings in each component, fused in C and not in the
# twin, of opposite signs mostly; later stages repeat those of earlier ones.
ONE_STEP = 8

every_method = pytest.mark.parametrize("method", POINT_METHODS, ids=str)


def reach(method):
    """The largest sum of magnitudes by which slopes are multiplied before they cancel."""
    return max(np.sum(np.abs(row)) for rows in method.coefficients.values()
               for row in np.atleast_2d(rows))  # fmt: skip


def distance(method, system, y, n_steps, twin=None, dt=DT):
    """Largest distance of kernel and twin, in ulps of the numbers that were added on the way."""
    options = {"dt": dt, "n_steps": n_steps, "t0": 0.25, "method": method, "on_failure": "raise"}
    found = pi.integrate(system, y, save="final", **options).final
    expected = reference.integrate(twin or method, system, y, 0.25, dt, n_steps)
    assert found.dtype == expected.dtype == y.dtype
    slope = abs(system.rhs(0.25, y)).max(axis=-1)
    size = np.maximum(abs(y).max(axis=-1), abs(found).max(axis=-1)) + dt * reach(method) * slope
    if method.starts_from_positions:  # velocities divide what positions are rounded by
        size = size / dt
    return (abs(found - expected).max(axis=-1) / (np.finfo(y.dtype).eps * size)).max()


@every_method
def test_a_step_is_that_of_the_twin(method):
    found = {
        f"{system.name}-{dtype.__name__}": distance(method, system, states(system, (50,), dtype), 1)
        for one, system in PAIRS
        if one is method
        for dtype in in_turn(DTYPES, method, system)
    }
    assert {name: ulps for name, ulps in found.items() if not ulps <= ONE_STEP} == {}


@pytest.mark.parametrize(
    ("method", "system", "dtype"), COVERING_IN_BOTH, ids=names(COVERING_IN_BOTH)
)
def test_twenty_steps_are_those_of_the_twin(method, system, dtype):
    assert distance(method, system, states(system, (50,), dtype), 20) <= 20 * ONE_STEP


@pytest.mark.parametrize(("method", "system"), KERNELS, ids=names(KERNELS))
def test_parameters_and_batches_are_those_of_the_twin(method, system):
    varied = with_factors(system, 1 + np.arange(6).reshape(3, 2) / 10)
    assert distance(method, varied, states(system, (3, 2)), 3) <= 3 * ONE_STEP


def mutations(method):
    """The method with each of its numbers wrong in turn, in the sixth digit."""
    c = method.coefficients
    for name, numbers in c.items():
        for place in product(*map(range, np.shape(numbers))):
            wrong = np.array(numbers)
            wrong[place] *= 1 + 1e-5
            needed = name != "A" or place[0] < method.evaluations
            needed &= name != "c" or 0 < place[0] < method.evaluations
            if wrong[place] and needed:
                yield with_coefficients(method, {**c, name: wrong.tolist()})


@pytest.mark.parametrize("method", KERNEL_METHODS, ids=str)
def test_the_twin_would_notice_a_wrong_coefficient(method):
    # A force that sees position, velocity and time, strongly.
    system = pi.systems.duffing(alpha=-4.0, gamma=20.0, omega=9.0)
    y = states(system, (50,))
    found = [distance(method, system, y, 3, twin, dt=0.125) for twin in mutations(method)]
    assert found
    assert min(found) > 1000 * ONE_STEP


def test_the_twin_would_notice_a_wrong_formula():
    y = states(pi.systems.kepler, (50,))
    order = pi.methods["semi_implicit_euler_drift_kick"]
    assert distance(pi.methods["semi_implicit_euler"], pi.systems.kepler, y, 1, order) > 1e9
