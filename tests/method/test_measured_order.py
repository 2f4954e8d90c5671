"""Halving the step divides the error by 2^order, on nonlinear problems, within 0.1.

(The harmonic oscillator super-converges and proves nothing.) The truth is in closed form, with any
number of digits: Kepler's ellipse, by Kepler's equation, and the pendulum, by elliptic functions.
It starts anywhere: at a turning point, errors of odd order would vanish by symmetry.
"""

from functools import cache
from math import log2
from types import SimpleNamespace

import numpy as np
import pytest
import reference
from mpmath import asin, cos, ellipfun, ellipk, findroot, mpf, sin, sqrt, workdps
from reference import POINT_METHODS, declared, multistep

import pyintegrate as pi

DIGITS = 60
START = mpf(3) / 4
g = mpf(9.81)  # the double

problems = pytest.mark.parametrize("name", ["kepler", "pendulum"])


# ---- the truth -----------------------------------------------------------------------------------


def ellipse(e, t):
    """Kepler's problem of mu = 1 on an ellipse of semi-major axis 1, from the pericentre."""
    b, E = sqrt(1 - e * e), findroot(lambda E: E - e * sin(E) - t, t)
    r = 1 - e * cos(E)
    return [cos(E) - e, b * sin(E), -sin(E) / r, b * cos(E) / r]


def swing(angle, t):
    """A pendulum of length 1 from rest at an angle."""
    k = sin(angle / 2)
    m, u = k * k, ellipk(k * k) - sqrt(g) * t
    return [2 * asin(k * ellipfun("sn", u, m=m)), -2 * sqrt(g) * k * ellipfun("cn", u, m=m)]


@cache
def truth(name, span):
    """States a span after the start, (4, dim), of many digits."""
    motion, unit = (ellipse, 10) if name == "kepler" else (swing, 2)
    with workdps(DIGITS):
        return np.array([motion(mpf(n) / unit, START + span) for n in (1, 2, 3, 4)])


@problems
def test_the_truth_is_the_exact_solution_of_the_system(name):
    start, end = (truth(name, span).astype(np.float64) for span in (0, 4))
    assert pi.systems[name].exact([4.0], start)[0] == pytest.approx(end, abs=1e-13)


def norm(error):
    return sqrt(sum(e * e for e in error.flat))


# ---- in float64, over many steps: methods whose errors stand above rounding ----------------------

SPAN, ROUNDING = 4, 1e-11


def rounding(method):
    """The error of thousands of steps in doubles.

    Multistep methods add what several states were rounded by, and those for x'' twice.
    """
    return 100 * ROUNDING if method.family == "multistep" else ROUNDING


def error(method, name, n_steps):
    sol = pi.integrate(
        pi.systems[name], truth(name, 0).astype(np.float64), dt=SPAN / n_steps, n_steps=n_steps,
        method=method, save="final",
    )  # fmt: skip
    return sol.final - truth(name, SPAN)


def measured_order(method, name):
    """log2 of how much the error falls at half the step, its next order removed.

    The error is c h^p + d h^(p + 1) + ...: 2^(p + 1) e(h/2) - e(h) is free of the second term.
    """
    n_steps = 32
    while norm(error(method, name, 4 * n_steps)) > 100 * rounding(method) and n_steps < 8192:
        n_steps *= 2
    coarse, middle, fine = (error(method, name, n) for n in (n_steps, 2 * n_steps, 4 * n_steps))
    scale = 2 ** (method.order + 1)
    return log2(norm(scale * middle - coarse) / norm(scale * fine - middle))


@problems
@pytest.mark.parametrize("method", [m for m in POINT_METHODS if m.order <= 4], ids=str)
def test_the_measured_order_is_the_declared_one(method, name):
    assert measured_order(method, name) == pytest.approx(method.order, abs=0.1)


@problems
@pytest.mark.parametrize("method", [m for m in POINT_METHODS if m.order >= 5], ids=str)
def test_methods_of_higher_order_reach_rounding(method, name):
    # Of order 5 with half the constant of Fehlberg's: (1/64)^5 / 300 a unit of time, times ten.
    # Of multistep methods, which evaluate the force once or twice a step, ten times that.
    assert norm(error(method, name, 1024)) < (1e-8 if method.family == "multistep" else 1e-9)
    assert norm(error(method, name, 4096)) < rounding(method)


# ---- by the twin of many digits, over a single step: all of them ---------------------------------


def pull(t, x, v=None):
    return -x / np.sum(x * x, axis=-1, keepdims=True) ** mpf(1.5)


def gravity(t, x, v=None):
    return -g * np.vectorize(sin, otypes=[object])(x)


def with_many_digits(method):
    def real(x):
        return [real(a) for a in x] if isinstance(x, list) else mpf(x.numerator) / x.denominator

    numbers = method.exact_coefficients[0]
    return reference.with_coefficients(
        method, {name: real(value) for name, value in numbers.items()}
    )


def local_error(method, name, h):
    acceleration, dof = (pull, 2) if name == "kepler" else (gravity, 1)

    def rhs(t, y):
        x, v = y[..., :dof], y[..., dof:]
        return np.concatenate([v, acceleration(t, x)], axis=-1)

    system = SimpleNamespace(rhs=rhs, acceleration=acceleration, dof=dof)
    if method.family == "multistep":
        return norm(after_the_truth(method, name, system, h) - truth(name, h))
    end = reference.integrate(method, system, truth(name, 0), mpf(0), h, 1)
    return norm(end - truth(name, h))


def after_the_truth(method, name, system, h):
    """The state that a multistep method makes of exact ones before."""
    c, power, dof = method.coefficients, h**method.derivative, system.dof
    states = [truth(name, -j * h) for j in reversed(range(len(c["alpha"]) - 1))]

    def force(t, state):
        return system.rhs(t, state) if method.derivative == 1 else system.acceleration(t, state)

    v = states[-1][..., dof:]
    if method.derivative == 2:
        states = [state[..., :dof] for state in states]
    slopes = [force(0, state) for state in states]
    new = multistep.step(force, power, 0, states, slopes, c["alpha"], c["beta"], c["predictor"])
    if method.derivative == 1:
        return new
    slopes.append(force(0, new))
    return np.concatenate([new, v + h * multistep.weighted(c["velocity"], slopes)], axis=-1)


def local_order(method, name):
    """The error of one step is c h^(p + 1) + ...; h is so small that the error is about 1e-35.

    The 50 digits of coefficients leave less, and the next term is small beside the first, also for
    Verner's method of order 6 with its numbers up to 400.
    """
    with workdps(DIGITS):
        h = mpf(2) ** -(110 // (method.order + 1))
        method = with_many_digits(method)
        ratio = local_error(method, name, h) / local_error(method, name, h / 2)
        return log2(ratio) - 1


# Velocities that are differences of positions have no error of their own in a step.
ONE_STEP = [m for m in POINT_METHODS if not m.starts_from_positions]


@problems
@pytest.mark.parametrize("method", ONE_STEP, ids=str)
def test_the_local_order_is_the_declared_one(method, name):
    assert local_order(method, name) == pytest.approx(method.order, abs=0.1)


# ---- the tests themselves ------------------------------------------------------------------------


def test_orders_would_notice_a_wrong_coefficient():
    A = pi.methods["rk4"].coefficients["A"]
    wrong = declared(pi.RungeKutta(A, [1 / 6 + 1e-4, 1 / 3 - 1e-4, 1 / 3, 1 / 6]), 4)
    assert measured_order(wrong, "kepler") < 2
    assert local_order(wrong, "kepler") < 2
    w = 1.351  # cut to four digits
    kicks, drifts = [w / 2, (1 - w) / 2, (1 - w) / 2, w / 2], [w, 1 - 2 * w, w]
    steps = [s for pair in zip(kicks, [*drifts, 0], strict=True)
             for s in zip(("kick", "drift"), pair, strict=True) if s[1]]  # fmt: skip
    wrong = declared(pi.Composition(steps), 4)
    assert measured_order(wrong, "kepler") < 3
    assert local_order(wrong, "kepler") < 3
