"""Tangents are the derivative of the discrete motion, for every method, and symplectic where it is.

The derivative comes from the method in plain Python (pyintegrate/certificate/twin.py): what becomes
of imaginary parts whose square vanishes. Of some methods with 60 digits.
"""

from fractions import Fraction

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.certificate import number_kinds, twin

MANY_DIGITS = ("rk4", "velocity_verlet", "gauss4", "adams_bashforth4", "yoshida6")
# The parameter is a component that rests: g of the pendulum a position, a of the predators.
PENDULUM = twin.Problem("", 2, (1.0, 9.81, 0.5, 0.0), lambda q, m: [-q[1] * m.sin(q[0]), 0.0])
PREDATORS = twin.Problem(
    "", 0, (10.0, 5.0, 1.5),
    lambda y, m: [y[2] * y[0] - y[0] * y[1], y[0] * y[1] - 3.0 * y[1], 0.0])  # fmt: skip
METHODS = [
    name for name, m in pi.methods.items() if m.family in twin.RUNS and m.requires != "n_body"
]


def exact(method, problem, h, n_steps, order):
    """The end, and its derivative by the start; components in another order."""
    many = method.name in MANY_DIGITS or method.family == "rosenbrock"
    numbers, tiny = (
        (number_kinds.many_digits(60), 1e-30) if many else (number_kinds.COMPLEX, number_kinds.TINY)
    )
    start = [numbers.make(x) for x in problem.initial]
    ends = np.array([
        twin.run(method, problem, numbers.make(h), n_steps, numbers, start + 1j * tiny * unit)
        for unit in np.eye(len(start))
    ]).astype(complex)  # fmt: skip
    return ends[0].real[order], (ends.imag / tiny).T[np.ix_(order, order)]


@pytest.mark.parametrize("method", METHODS)
def test_tangents_are_the_derivative_of_the_discrete_motion(method):
    system, parameter, problem, order = pi.systems.pendulum, "g", PENDULUM, [0, 2, 1]
    if method == METHODS[0] or pi.methods[method].requires == "first_order":
        system, parameter, problem, order = pi.systems.lotka_volterra, "a", PREDATORS, [0, 1, 2]
    both = system.tangent(2, parameter)
    y0, h = both.initial, 0.0625
    y0[both.places[:, 0]] = [problem.initial[i] for i in order[:2]]
    n_steps = pi.methods[method].stages + 1 if pi.methods[method].family == "multistep" else 2
    end = pi.integrate(both, y0, dt=h, n_steps=n_steps, method=method, save="final").final
    y, tangents = both.parts(end)
    expected, derivative = exact(pi.methods[method], problem, h, n_steps, order)
    # Rounding of some hundred operations; of implicit methods what Newton's leaves.
    np.testing.assert_allclose(y, expected[:2], rtol=0, atol=1e-13 * abs(expected).max())
    atol = 1e-12 * abs(derivative).max()
    np.testing.assert_allclose(tangents, derivative[:2], rtol=0, atol=atol)


@pytest.mark.parametrize("method", [m for m in METHODS if pi.methods[m].symplectic])
def test_symplectic_methods_have_symplectic_tangents(method):
    """M^T J M = J, of two components det M = 1, over ten thousand steps."""
    both = pi.systems.pendulum.tangent(2)
    n_steps = 1000 if pi.methods[method].family == "implicit_rk" else 10_000
    sol = pi.integrate(both, dt=0.05, n_steps=n_steps, method=method, save="final")
    M = both.parts(sol.final)[1]
    # M grows as the time does, and the products in det M with its square: 500^2 roundings' worth.
    assert abs(np.linalg.det(M) - 1) < 1e-15 * abs(M).max() ** 2
    assert abs(M).max() > 10


@pytest.mark.parametrize("method", ["velocity_verlet", "yoshida6", "blanes_moan4", "gauss4"])
def test_tangents_of_two_degrees_of_freedom_are_symplectic(method):
    """M^T J M = J over ten thousand steps, of an orbit among islands."""
    both = pi.systems.henon_heiles.tangent(4)
    dt, n_steps = (0.1, 400) if method == "gauss4" else (0.02, 10_000)
    sol = pi.integrate(both, dt=dt, n_steps=n_steps, method=method, save="final")
    M = both.parts(sol.final)[1]
    J = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(2))
    # Each entry is a sum of products of two entries of M, which grow as the time does.
    assert abs(M.T @ J @ M - J).max() < 1e-13 * abs(M).max() ** 2
    assert abs(M).max() > 4


@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "dop853"])
def test_sensitivities_are_central_differences_of_many_digits(method):
    """(y(p + e) - y(p - e)) / (2 e) of the method's own steps in 50 digits: e^2 is 1e-30."""
    many, h, n_steps, e = number_kinds.many_digits(50), 0.0625, 4, Fraction(1, 10**15)
    sol = pi.integrate(
        pi.systems.pendulum(g=9.81, length=1.0), 1.0, 0.5, dt=h, n_steps=n_steps, method=method,
        sensitivity=("x0", "v0", "g"), save="final",
    )  # fmt: skip
    for name, place in (("x0", 0), ("g", 1), ("v0", 2)):
        ends = []
        for sign in (1, -1):
            start = [many.make(x) for x in PENDULUM.initial]
            start[place] += sign * many.make(e)
            ends.append(twin.run(pi.methods[method], PENDULUM, many.make(h), n_steps, many, start))
        difference = (ends[0] - ends[1]) / (2 * many.make(e))
        found = np.ravel(sol.sensitivity[name][-1])
        np.testing.assert_allclose(found, difference[[0, 2]].astype(float), rtol=0, atol=1e-12)
