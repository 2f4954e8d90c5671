"""The order of a method measured on nonlinear problems: in doubles, or in many digits."""

from fractions import Fraction
from math import log2

import numpy as np

from ..integration import integrate
from ..system.catalogue import systems
from . import twin
from .number_kinds import many_digits

# Beyond this order doubles leave no octave between the error of a coarse step and rounding.
_HIGHEST_IN_DOUBLES = 6
_ROUNDING = 2e-12  # of some thousand steps, a hundredth of what is measured
_SETTLED = 0.06  # halving the step again changes the quotient by half as much, then a quarter, ...
_CLOSE = 0.09  # to the declared order
_DIGITS = 50  # of the irrational coefficients in csrc/methods/


def measured_order(method, problem):
    """log2 |y(h) - y(h/2)| / |y(h/2) - y(h/4)| at a fixed time, once h is small enough.

    In doubles it is computed for smaller and smaller steps to time 1, by the C core if it
    has the problem. For methods of high order, and for those whose principal error is small beside
    the next, rounding dominates before the quotient settles. Then, and if it settles at another
    value than the declared order, it is computed in many digits, where any step is small
    enough: with four, eight and sixteen steps to shorter and shorter times; a multistep
    method takes so many that the first ones, made by its starter, do not matter.

    Parameters
    ----------
    method : Method
    problem : twin.Problem

    Returns
    -------
    order : float
    digits : int
        The digits used: 16 in doubles.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> order, digits = measured_order(pi.methods["rk4"], twin.KEPLER)
    >>> round(order, 1), digits
    (4.0, 16)
    """
    found = []
    if method.order <= _HIGHEST_IN_DOUBLES:
        found = _until_settled(_orders_in_doubles(method, problem))
        if _settled(found) and abs(found[-1] - method.order) < _CLOSE:
            return found[-1], 16
    try:
        found, digits = _until_settled(_orders_in_many_digits(method, problem)), _DIGITS
    except ImportError:
        if not found:
            raise
        digits = 16  # the best available
    return (found[-1] if found else np.nan), digits


def _until_settled(orders):
    found = []
    for order in orders:
        found.append(order)
        if _settled(found):
            break
    return found


def _settled(orders):
    """Whether the last order differs little from the two before."""
    return len(orders) > 2 and max(orders[-3:]) - min(orders[-3:]) < _SETTLED


def _quotient(coarse, middle, fine):
    first, second = float(max(abs(coarse - middle))), float(max(abs(middle - fine)))
    return log2(first / second) if 0 < second < first < np.inf else 0.0


def _orders_in_doubles(method, problem):
    states = [_in_doubles(method, problem, n) for n in (4, 8)]
    for n in (2**i for i in range(4, 14)):
        states = [*states[-2:], _in_doubles(method, problem, n)]
        error = max(abs(states[-1] - states[-2]))
        if not error > _ROUNDING * max(abs(states[-1])):
            return
        yield _quotient(*states)


def _in_doubles(method, problem, n_steps):
    if problem.name not in systems:
        return twin.run(method, problem, 1 / n_steps, n_steps)
    solution = integrate(
        systems[problem.name], problem.initial, dt=1 / n_steps, n_steps=n_steps, method=method,
        save="final", on_failure="ignore",
    )  # fmt: skip
    return solution.final


def _orders_in_many_digits(method, problem):
    numbers = many_digits(_DIGITS + 10)
    first = 4 if method.self_starting else 16 * method.stages
    for time in (Fraction(1, 4**i) for i in range(2, 12)):
        states = [twin.run(method, problem, numbers.make(time / n), n, numbers)
                  for n in (first, 2 * first, 4 * first)]  # fmt: skip
        # The coefficients themselves have _DIGITS digits.
        if not max(abs(states[1] - states[2])) > 10.0 ** (4 - _DIGITS) * float(time):
            return
        yield _quotient(*states)
