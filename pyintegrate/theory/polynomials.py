"""Where a polynomial changes sign, certified: integers in, isolated zeros out.

A polynomial is a list of integers or fractions, the lowest coefficient first, or NumPy's of these.
"""

from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np
from numpy.polynomial import Polynomial

from .conditions import common_scale

# Zeros closer than this, relative, count as one: a bound that is touched, not crossed.
_RESOLUTION = Fraction(1, 2**80)
# Coefficients of thousands of digits, products of many, are rounded to this many bits.
_BITS = 512
# The search begins on (0, _STEP) and doubles it; no method's limit is a simple fraction of this
# number, so that zeros do not fall on ends of intervals.
_STEP = Fraction(1597, 987)


def polynomial(coefficients):
    """NumPy's polynomial with these coefficients, exactly."""
    return Polynomial(np.array([*coefficients], object))


def mirrored(p):
    """p(-x)"""
    return polynomial(c * (-1) ** i for i, c in enumerate(p))


def unsigned(p):
    """The polynomial with the magnitudes of the coefficients."""
    return polynomial(map(abs, p))


def trimmed(p):
    """The polynomial without coefficients of 0 at its end."""
    while len(p) > 1 and not p[-1]:
        p = p[:-1]
    return p


def whole(p):
    """The same zeros and signs with integer coefficients, without those of 0 at the end."""
    p = trimmed([Fraction(c) for c in p])
    common = common_scale(p)
    return [c.numerator * (common // c.denominator) for c in p]


def sign_at(p, x):
    """The sign of p(x) for integer coefficients and a fraction x."""
    value, scale = 0, 1
    for coefficient in reversed(p):
        value = value * x.numerator + coefficient * scale
        scale *= x.denominator
    return (value > 0) - (value < 0)


def sign_near_zero(p):
    """The sign of p(x) for small positive x."""
    lowest = next((c for c in p if c), 0)
    return (lowest > 0) - (lowest < 0)


def sign_changes(p, stop=None):
    """Isolated zeros of p on (0, stop), in order: (low, high, the sign beyond).

    Moved from an interval to (0, infinity), a polynomial has as many changes of sign between its
    coefficients as it has zeros there, or an even number more (Descartes' rule; Collins, Akritas
    1976): none or one is decisive; intervals with more are halved.
    """
    p = whole(p)
    # Cauchy's bound for all zeros.
    beyond = 1 + max(Fraction(abs(c), abs(p[-1])) for c in p)
    stop = beyond if stop is None else min(stop, beyond)
    low, high = Fraction(0), min(_STEP, stop)
    while low < stop:
        yield from _zeros(p, low, high)
        low, high = high, min(2 * high, stop)


def _moved(p, low, high):
    """Coefficients of (1 + x)^n p((high + low x) / (1 + x)), times a positive number."""
    unit, degree = lcm(low.denominator, high.denominator), len(p) - 1
    start, width = int(low * unit), int((high - low) * unit)
    scaled = [c * unit ** (degree - n) for n, c in enumerate(p)]
    within = _of(scaled, start, width)  # unit^n p(low + width x), between 0 and 1
    return _of(within[::-1], 1, 1)


def _of(p, a, b):
    """The coefficients of p(a + b x), by Horner's rule."""
    found = []
    for coefficient in reversed(p):
        found = [a * x + b * y for x, y in zip([*found, 0], [0, *found])]
        found[0] += coefficient
    return found


def _zeros(p, low, high):
    moved = _moved(p, low, high)
    changes = sum(x != y for x, y in pairwise(c > 0 for c in moved if c))
    if changes == 1 or (changes and high - low < _RESOLUTION * high):
        yield low, high, sign_near_zero(moved)
    elif changes:
        middle = (low + high) / 2
        yield from _zeros(p, low, middle)
        if not sign_at(p, middle):
            yield middle, middle, sign_near_zero(_moved(p, middle, high)[::-1])
        yield from _zeros(p, middle, high)


def refine(p, low, high):
    """The zero of odd order in [low, high], to the precision of a double and some bits more."""
    p = whole(p)
    before = sign_at(p, low)
    return bisected(low, high, lambda x: sign_at(p, x) == before)


def bisected(low, high, holds):
    """Where a condition ceases that holds at `low` and not at `high`."""
    while high - low > high / 2**60:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return (low + high) / 2


def first_exit(bounds, tolerance):
    """The first x > 0 beyond which one of the polynomials is positive, or None.

    A bound that is exceeded by less than `tolerance` is touched, not crossed: two Verlet steps of
    h/2 are as stable as one of h, though half their trace touches -1, and rounding must not
    decide. If it is exceeded by more, the zero itself is computed.
    """
    if any(sign_near_zero(p) > 0 for p in bounds):
        return Fraction(0)
    exits = []
    for p in bounds:
        if not any(p):
            continue
        scale = Fraction(2**_BITS) / max(map(abs, p))
        p = [round(c * scale) for c in p]
        lowered = [p[0] - round(tolerance * scale), *p[1:]]
        end = next((high for _, high, sign in sign_changes(lowered) if sign > 0), None)
        if end is None:
            continue
        while p[0] == 0:
            p = p[1:]
        zeros = [zero for zero in sign_changes(p, end) if zero[2] > 0]
        if zeros:
            exits.append(refine(p, *zeros[-1][:2]))
    return min(exits, default=None)
