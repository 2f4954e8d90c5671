"""The conditions of one order, for any family: their number, residuals, and whether they hold."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import NamedTuple


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
# A quantity is a pair: in whole numbers, and the same without signs in floats, as a bound.
def sparse(matrix, unit):
    """Rows of (column, number), in a unit, without zeros."""
    return [[(j, unit(x)) for j, x in enumerate(row) if x] for row in matrix]


def size(x):
    return abs(float(x))


def times(matrices, vectors):
    """Products of sparse matrices and vectors, pair by pair."""
    return tuple(
        [sum(x * vector[j] for j, x in row) for row in matrix]
        for matrix, vector in zip(matrices, vectors, strict=True)
    )


def dot(weights, vectors):
    return tuple(
        sum(x * y for x, y in zip(*pair, strict=True))
        for pair in zip(weights, vectors, strict=True)
    )


def multiplied(start, factors):
    """Pairs of vectors multiplied, component by component."""
    for factor in factors:
        start = tuple(
            [x * y for x, y in zip(*pair, strict=True)] for pair in zip(start, factor, strict=True)
        )
    return start
