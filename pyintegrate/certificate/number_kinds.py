"""Kinds of number for calculations in plain Python: floats, many digits, dual numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..values.types import Any, Callable


class Numbers(NamedTuple):
    """A kind of number: how it is made from a fraction or a float, and its functions."""

    make: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]


FLOATS = Numbers(float, math.sin, math.cos, math.sqrt)


def many_digits(digits):
    """Numbers of mpmath with `digits` digits.

    Parameters
    ----------
    digits : int

    Returns
    -------
    Numbers

    Raises
    ------
    ImportError
        Without mpmath, which is needed only for development.
    """
    try:
        from mpmath import MPContext, libmp
    except ImportError as error:
        raise ImportError(
            "the order of methods of order 7 and up is measured with mpmath, which is not"
            " installed: pip install mpmath"
        ) from error
    context = MPContext()
    context.dps = digits

    def make(value):
        if isinstance(value, float):
            return context.mpf(value)
        bits = libmp.from_rational(value.numerator, value.denominator, context.prec)
        return context.make_mpf(bits)

    return Numbers(make, context.sin, context.cos, context.sqrt)


class Dual:
    """value + gradient . epsilon with epsilon^2 = 0: arithmetic that differentiates."""

    __array_priority__ = 1

    def __init__(self, value, gradient=0.0):
        self.value, self.gradient = value, gradient

    @staticmethod
    def _of(other):
        return other if isinstance(other, Dual) else Dual(other)

    def __add__(self, other):
        other = self._of(other)
        return Dual(self.value + other.value, self.gradient + other.gradient)

    def __mul__(self, other):
        other = self._of(other)
        return Dual(
            self.value * other.value, self.gradient * other.value + self.value * other.gradient
        )

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -self._of(other)

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self * self._of(other).function(lambda x: 1 / x, lambda x: -1 / (x * x))

    def __rtruediv__(self, other):
        return self._of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def function(self, f, derivative):
        return Dual(f(self.value), derivative(self.value) * self.gradient)


def duals_over(numbers):
    """Dual numbers whose values and gradients are numbers of some kind, perhaps dual themselves.

    Examples
    --------
    >>> twice = duals_over(DUALS)
    >>> x = Dual(Dual(0.5, 1.0), Dual(1.0, 0.0))
    >>> print(twice.sin(x).gradient.gradient == -math.sin(0.5))  # the second derivative
    True
    """
    return Numbers(
        numbers.make,
        lambda x: x.function(numbers.sin, numbers.cos),
        lambda x: x.function(numbers.cos, lambda v: -numbers.sin(v)),
        lambda x: x.function(numbers.sqrt, lambda v: 0.5 / numbers.sqrt(v)),
    )


DUALS = duals_over(FLOATS)
