"""The conditions of one order, for any family: their number, residuals, and whether they hold."""

from fractions import Fraction
from math import lcm, sqrt
from typing import NamedTuple

import numpy as np


class Conditions(NamedTuple):
    """The conditions of one order.

    Attributes
    ----------
    order, number : int
        The order, and the number of its conditions.
    largest : Fraction
        The largest residual.
    hold : bool
        Whether rounded coefficients explain every residual.
    norm : float
        If all lower orders hold: the 2-norm of the principal error, that is, of the residuals
        as coefficients of elementary differentials (trees), commutators (words) or
        derivatives of the solution (multistep).
    """

    order: int
    number: int
    largest: Fraction
    hold: bool
    norm: float


def collect(number, rounding, residuals):
    """Conditions from (residual, sum of the terms without signs, symmetry) of each."""
    largest = max((abs(r) for r, _, _ in residuals), default=Fraction(0))
    # Each term is a product of `number` coefficients; a few sums in double precision bound it.
    hold = all(abs(r) <= 2 * number * rounding * bound for r, bound, _ in residuals)
    norm = sqrt(sum((float(r) / symmetry) ** 2 for r, _, symmetry in residuals))
    return Conditions(number, len(residuals), largest, hold, norm)


# ---- sums over trees -----------------------------------------------------------------------------
# A quantity is an array of two rows: in whole numbers, and the same without signs in floats, as a
# bound.
def common_scale(*rows):
    """The least number that makes all the fractions whole."""
    return lcm(*(x.denominator for row in rows for x in row))


def size(x):
    return abs(float(x))


def both(table, scale):
    """A vector or a matrix of fractions as a quantity, in units of 1 / scale."""
    table = np.array(table, object)
    units = (lambda x: int(x * scale)), size
    return np.array([np.frompyfunc(unit, 1, 1)(table) for unit in units], object)


def applied(matrix, vector):
    return (matrix @ vector[..., np.newaxis])[..., 0]
