"""Kinds of number for calculations in plain Python: floats, complex ones, many digits."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction
from typing import NamedTuple

from ..values.types import Any, Callable


class Numbers(NamedTuple):
    """A kind of number: how it is made from a fraction or a float, its functions, a small one.

    Central differences over the small one are good to two thirds of the digits.
    """

    make: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    small: Any


FLOATS = Numbers(float, math.sin, math.cos, math.sqrt, 1e-5)
# What becomes of an imaginary part whose square vanishes is a derivative, to the last digit.
COMPLEX = Numbers(complex, cmath.sin, cmath.cos, cmath.sqrt, 1e-5)
TINY = 1e-100


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

    small = make(Fraction(1, 10 ** (digits // 3)))
    return Numbers(make, context.sin, context.cos, context.sqrt, small)
