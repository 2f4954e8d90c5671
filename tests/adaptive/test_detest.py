"""The error follows the tolerance on the problems of DETEST."""

from functools import cache

import detest
import numpy as np
import pytest

import pyintegrate as pi

scipy_integrate = pytest.importorskip("scipy.integrate")
TOLERANCES = 10.0 ** -np.arange(4, 13, 2)


@cache
def reference(name):
    """By SciPy's DOP853 at its smallest tolerance, which is good to 1e-12 or so."""
    f, start = detest.right_hand_side(name), detest.PROBLEMS[name][1]
    found = scipy_integrate.solve_ivp(
        f, (0.0, detest.T_END), start, method="DOP853", rtol=3e-14, atol=1e-16
    )
    return found.y[:, -1]


def errors(name, method):
    """At each tolerance in one batch, relative to the larger of 1 and the solution."""
    start = detest.PROBLEMS[name][1]
    sol = pi.solve(detest.system(name), np.tile(start, (len(TOLERANCES), 1)), t_end=detest.T_END,
                   rtol=TOLERANCES, atol=TOLERANCES, method=method)  # fmt: skip
    assert not sol.status.any()
    exact = reference(name)
    return abs(sol.final - exact).max(axis=-1) / np.maximum(1, abs(exact).max())


@pytest.mark.parametrize("name", detest.PROBLEMS)
def test_the_error_falls_with_the_tolerance(name):
    """Within a factor of 10 a decade overall: from 1e-4 to 1e-12 the error falls by 7 to 9 digits,
    unless it is so small (the references are good to 1e-12) that it cannot be seen to."""
    found = np.maximum(errors(name, "auto"), 1e-12)
    fallen = np.log10(found[0] / found[-1])
    assert fallen >= 6 or found[-1] <= 3e-12
    assert np.all(found <= 3e5 * TOLERANCES)  # D5: steps' errors add up, and grow with t


@pytest.mark.parametrize("method", [m for m in pi.methods if pi.methods[m].embedded])
def test_every_pair_reaches_what_is_asked(method):
    order = pi.methods[method].order
    tolerances = [1e-3, 1e-5] if order < 4 else [1e-4, 1e-7]
    each = np.repeat(tolerances, 2).reshape(2, 2)  # the last axis is that of the components
    sol = pi.solve(pi.systems.oscillator, [[1.0, 0.0]] * 2, t_end=10.0, rtol=each, atol=each,
                   method=method)  # fmt: skip
    error = abs(sol.final - [np.cos(10.0), -np.sin(10.0)]).max(axis=-1)
    assert np.all(error <= 100 * np.array(tolerances))
    assert error[1] < error[0]
