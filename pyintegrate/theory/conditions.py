"""The conditions of one order, whatever the family: how many, how far off, and do they hold."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import NamedTuple


class Conditions(NamedTuple):
    """The conditions of one order.

    Attributes
    ----------
    order, number : int
        Of which order they are, and how many.
    largest : Fraction
        The largest residual.
    hold : bool
        Whether every residual is within what rounded coefficients explain.
    norm : float
        Where all lower orders hold: the 2-norm of the principal error, that is of the residuals
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
