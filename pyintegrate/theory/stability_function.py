"""R(z) = P(z) / Q(z) of a one-step method, exactly: the factor of y in a step of y' = lambda y.

References
----------
Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.3.
"""

from fractions import Fraction

import numpy as np
from numpy.polynomial.polynomial import polyroots, polysub

from .conditions import both, common_scale
from .polynomials import first_exit, mirrored, polynomial, trimmed, unsigned
from .rosenbrock import SCALE, in_slopes

# Rounding of a coefficient that should be zero, in units of the products of coefficients.
_LEFT = 1000


def stability_function(method):
    """Numerator and denominator of R(z).

    Parameters
    ----------
    method : Method

    Returns
    -------
    P, Q : list of Fraction
        The lowest coefficient first; Q[0] is 1.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> P, Q = stability_function(pi.methods["implicit_midpoint"])
    >>> print(*P, "/", *Q)
    1 1/2 / 1 -1/2
    """
    return _FAMILIES[method.family](method)


def has_stability_function(method):
    """Whether a step of y' = lambda y multiplies y by a known rational function."""
    return method.family in _FAMILIES


def _runge_kutta(method):
    exact, rounding = method.exact_coefficients
    # Of an explicit method no coefficient is a 0 that rounding has changed.
    return _of_table(exact["A"], exact["b"], rounding if method.implicit else 0)


def _rosenbrock(method):
    """R(z) is that of the Runge-Kutta method with the matrix alpha + gamma."""
    exact, rounding = method.exact_coefficients
    alpha, gamma, b, _ = in_slopes(exact)
    return _of_table((alpha + gamma) * Fraction(1, SCALE), b * Fraction(1, SCALE), rounding)


def _of_table(A, b, rounding):
    """R(z) = 1 + z b (1 - z A)^-1 1 = det(1 - z A + z 1 b) / det(1 - z A)."""
    A = np.array(A, object)
    return tuple(
        _reversed_characteristic(matrix, rounding) for matrix in (A - np.array(b, object), A)
    )


def _reversed_characteristic(matrix, rounding):
    """det(1 - z M), by Faddeev and LeVerrier, in integers."""
    scale = common_scale(*matrix)
    whole, sizes = both(matrix, scale)
    # The size of the terms of coefficient k is largest^k: what is far below is only rounding.
    largest = max(1.0, sizes.sum(axis=1).max())
    found, power, unit = [Fraction(1)], 0 * whole, np.eye(len(whole), dtype=int).astype(object)
    coefficient = Fraction(1)
    for k in range(1, len(whole) + 1):
        # B_k = M B_(k-1) + c_(k-1) 1, c_k = -trace(M B_k) / k
        power = whole @ (power + int(coefficient * scale ** (k - 1)) * unit)
        coefficient = Fraction(-np.trace(power), k * scale**k)
        negligible = _LEFT * float(rounding) * largest**k
        found.append(coefficient if abs(coefficient) > negligible else Fraction(0))
    return trimmed(found)


_FAMILIES = {
    "explicit_rk": _runge_kutta,
    "implicit_rk": _runge_kutta,
    "rosenbrock": _rosenbrock,
}


def excess(method):
    """|P(iy)|^2 - |Q(iy)|^2 as a polynomial in s = y^2: positive where oscillations grow.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> excess(pi.methods["implicit_euler"]), excess(pi.methods["gauss4"])
    ([Fraction(0, 1), Fraction(-1, 1)], [Fraction(0, 1)])
    """
    P, Q = map(polynomial, stability_function(method))
    change = P * mirrored(P) - Q * mirrored(Q)  # at x = iy even powers alternate in sign
    bound = unsigned(P) ** 2 + unsigned(Q) ** 2
    found, rounding = [], float(method.exact_coefficients[1])
    for s, (c, most) in enumerate(zip(change.coef[::2], bound.coef[::2])):
        # Up to the order R equals exp, and for symmetric methods |R(iy)| is 1.
        within = 2 * s <= method.order and abs(c) < Fraction(1, 10**9)
        negligible = abs(c) <= _LEFT * rounding * float(most)
        found.append(Fraction(0) if within or negligible else c * (-1) ** s)
    return trimmed(found)


def sum_and_difference(method):
    """P + Q and P - Q at -x, without coefficients that are only rounding.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sum_and_difference(pi.methods["trapezoidal"])
    ([Fraction(2, 1)], [Fraction(0, 1), Fraction(-1, 1)])
    """
    allowed = _LEFT * float(method.exact_coefficients[1])
    P, Q = map(mirrored, stability_function(method))
    bound = unsigned(P) + unsigned(Q)
    return tuple(
        [one if abs(one) > allowed * float(most) else Fraction(0) for one, most in zip(p, bound)]
        for p in (P + Q, P - Q)
    )


def boundary(method, zeta):
    """All z with R(z) = zeta, a number on the unit circle.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> boundary(pi.methods["explicit_euler"], -1.0).round(12).tolist()
    [-2.0]
    """
    P, Q = ([float(c) for c in p] for p in stability_function(method))
    return polyroots(polysub(P, zeta * np.array(Q)))


def a_stable(method):
    """Whether |R| is at most 1 on the whole left half plane, where it has no poles.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> [a_stable(pi.methods[name]) for name in ("radau_iia5", "symplectic_dirk4")]
    [True, False]
    """
    poles = polyroots([float(c) for c in stability_function(method)[1]])
    within = bool((poles.real > 0).all())
    return within and first_exit([excess(method)], Fraction(0)) is None


def limit_at_infinity(method):
    """R(infinity), or None if it is infinite.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> [limit_at_infinity(pi.methods[name]) for name in ("radau_iia5", "implicit_midpoint")]
    [Fraction(0, 1), Fraction(-1, 1)]
    """
    P, Q = stability_function(method)
    if len(P) > len(Q):
        return None
    return P[-1] / Q[-1] if len(P) == len(Q) else Fraction(0)
