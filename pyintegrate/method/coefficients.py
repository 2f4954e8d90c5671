"""The coefficients of a method as fractions: as its table writes them, or from its doubles.

A double holds 1/6 or sqrt(2) to 16 digits only. Proofs about a method, above all of its order, use
the numbers that its author wrote.
"""

import json
import re
from fractions import Fraction
from itertools import zip_longest

# Fewer digits than a double has are exact; more are an irrational number, rounded.
_DIGITS_OF_A_DOUBLE = 16
# The error of a double that is no short fraction: published tables have about 15 digits.
_DOUBLE = Fraction(1, 10**14)


def exact_coefficients(method):
    """The coefficients of a method as fractions, and their relative rounding error.

    Parameters
    ----------
    method : Method

    Returns
    -------
    coefficients : dict of (nested) lists of Fraction
        With the keys and shapes of ``method.coefficients``.
    rounding : Fraction
        0 if the numbers are exact; else a bound, such as 1e-49 for 50 digits.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> exact_coefficients(pi.methods["rk4"])[0]["b"][0]
    Fraction(1, 6)
    """
    if method.family in ("noise", "rigid_body"):
        raise ValueError(
            f"{method.name!r} has no table of coefficients to prove its order from;"
            " pi.analysis.convergence measures it"
        )
    doubles = method.coefficients
    pairs = {name: _pairs(method, name) for name in doubles}
    rounding = max(error for value in pairs.values() for _, error in _flat(value))
    return {name: _filled(value, doubles[name]) for name, value in pairs.items()}, rounding


def _filled(pairs, doubles):
    """The numbers of pairs, with the zeros that C tables omit at the end of a row."""
    if isinstance(doubles, list):
        return [_filled(*both) for both in zip_longest(pairs or [], doubles)]
    return pairs[0] if pairs else Fraction(0)


def exact_embedded(method):
    """The weights of the error estimate as fractions, each with its rounding error.

    Parameters
    ----------
    method : Method

    Returns
    -------
    list of (list of Fraction, Fraction)
        None, one, or two if the estimate combines two; for a Nystrom pair the weights of the
        positions and those of the velocities.
    """
    found = []
    _, rounding = exact_coefficients(method)
    for name in ("b_embedded", "b_embedded2", "velocity_embedded"):
        if pairs := _pairs(method, name):
            weights = [weight for weight, _ in pairs]
            weights += [Fraction(0)] * (method.stages - len(weights))
            found.append((weights, max(rounding, *(error for _, error in pairs))))
    return found


def _pairs(method, name):
    """The numbers of a field, each with its error; an empty list for a missing one."""
    written = method.written
    if not isinstance(written, str):
        return nested(as_meant, written.get(name, []))
    name = name.lower()
    return nested(_literal, _field(written, name)) if f".{name} = " in written else []


def nested(function, value):
    """The function of every number in nested lists; pairs of (number, error) are tuples."""
    if isinstance(value, list):
        return [nested(function, item) for item in value]
    return function(value)


def _flat(value):
    return [x for item in value for x in _flat(item)] if isinstance(value, list) else [value]


def _field(text, field):
    """``.b = {1/6., {2}}`` in a descriptor, as nested lists of strings."""
    start = text.index("{", text.index(f".{field} = "))
    quoted = re.sub(r"[^{},\s]+", r'"\g<0>"', text[start:])
    found, _ = json.JSONDecoder().raw_decode(quoted.translate(str.maketrans("{}", "[]")))
    return found


def _literal(text):
    """``-1/6.`` or ``0.70710678...``: the number and its relative error."""
    try:
        numerator, _, denominator = text.partition("/")
        value = Fraction(numerator) / Fraction(denominator or 1)
    except ValueError:
        raise ValueError(f"{text!r} in a method's table: write a number, or a/b.") from None
    digits = 0 if denominator else len(numerator.lstrip("-0.").replace(".", ""))
    return value, Fraction(1, 10 ** (digits - 1)) if digits > _DIGITS_OF_A_DOUBLE else Fraction(0)


def as_meant(number):
    """The number that a user meant: the short fraction that rounds to it, or itself, rounded.

    Fractions with denominators up to 1e6 are 1e-12 apart, doubles 1e-16: the probability that a
    double is close to one by chance is one in ten thousand.

    Parameters
    ----------
    number : float, int or Fraction

    Returns
    -------
    number, rounding : Fraction
        The intended number, and its possible relative error.

    Examples
    --------
    >>> print(*as_meant(1 / 3))
    1/3 0
    """
    exact = Fraction(number)
    if not isinstance(number, float):
        return exact, Fraction(0)
    short = exact.limit_denominator(10**6)
    return (short, Fraction(0)) if float(short) == number else (exact, _DOUBLE)
