"""Stability of multistep methods, from the roots of their characteristic polynomial.

On y' = lambda y, or x'' = -omega^2 x, a solution is a sum of powers zeta^n of the roots of a
polynomial whose coefficients are polynomials in z = lambda h, or in (omega h)^2.

References
----------
Hairer, Wanner (1996), Solving Ordinary Differential Equations II, V.1; for second derivatives
Lambert, Watson (1976), J. Inst. Math. Appl. 18, 189-202.
"""

from fractions import Fraction
from math import inf

import numpy as np

from ..errors import quiet
from .polynomials import bisected
from .root_condition import is_stable

# The first search in z on [0, infinity): z = t / (1 - t) at this many t, then some of them exactly.
_LOOKS, _EXACT_LOOKS = 1024, 32
_GROWS = 1e-6  # growth above what rounding causes for double roots on the circle
_SOON = Fraction(1, 1024)  # a method that is unstable here counts as unstable at once


def characteristic(numbers, derivative):
    """Coefficients of zeta^0, zeta^1, ..., each a polynomial in z, or in -z^2 = (omega h)^2.

    Parameters
    ----------
    numbers : dict of lists
        alpha, beta and predictor, as any kind of number.
    derivative : {1, 2}

    Returns
    -------
    list of lists

    Examples
    --------
    >>> leapfrog = {"alpha": [-1, 0, 1], "beta": [0, 2, 0], "predictor": []}
    >>> characteristic(leapfrog, 1)
    [[-1, 0], [0, -2], [1, 0]]
    """
    alpha, beta, predictor = numbers["alpha"], numbers["beta"], numbers["predictor"]
    if derivative == 2:
        return [[a, b] for a, b in zip(alpha, beta)]
    if not predictor:
        return [[a, -b] for a, b in zip(alpha, beta)]
    # The new f is that of y + h sum predictor_j f_j.
    last, slopes = beta[-1], [*predictor, 0 * beta[-1]]
    found = [[a, -b, -last * w] for a, b, w in zip(alpha, beta, slopes)]
    found[-1][1] = found[-1][1] + last
    found[-2][1] = found[-2][1] - last
    return found


def growth(method, z):
    """The largest root |zeta| of the characteristic polynomial.

    Parameters
    ----------
    method : Method
    z : array_like of complex
        lambda h, or (omega h)^2 for second derivatives.

    Returns
    -------
    ndarray
        Of the shape of z; inf if a root is infinite.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(f"{growth(pi.methods['bdf2'], -2.0):.4f}")  # sqrt(1/7)
    0.3780
    """
    z = np.asarray(z, complex)
    rows = np.array(characteristic(method.coefficients, method.derivative), float)
    rows = rows[np.flatnonzero(rows.any(axis=1))[0] :]
    coefficients = np.stack([np.polyval(row[::-1], z) for row in rows], axis=-1)
    size = len(rows) - 1
    with quiet():
        companion = np.zeros((*z.shape, size, size), complex)
        companion[..., range(1, size), range(size - 1)] = 1
        companion[..., :, -1] = -coefficients[..., :-1] / coefficients[..., -1:]
        poles = ~np.isfinite(companion).all(axis=(-2, -1))
        companion[poles] = 0
        found = np.abs(np.linalg.eigvals(companion)).max(axis=-1)
    return np.where(poles, inf, found)[()]


def limit(method, direction):
    """The first y > 0 at which the method is unstable on y' = lambda y, lambda h = y direction.

    Searched for in doubles on (0, infinity), then by bisection in exact arithmetic.

    Parameters
    ----------
    method : Method
    direction : {"imaginary", "real"}
        lambda h = iy or -y; for second derivatives omega h = y, whatever the direction.

    Returns
    -------
    float
        0 if it is unstable at once, inf if it never is.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> limit(pi.methods["adams_bashforth2"], "real")
    1.0
    """
    exact, _ = method.exact_coefficients
    rows = characteristic(exact, method.derivative)
    while not any(rows[0]):
        rows = rows[1:]

    def point(y):
        """The real and the imaginary part of what the coefficients are polynomials in."""
        if method.derivative == 2:
            return y * y, 0
        return (0, y) if direction == "imaginary" else (-y, 0)

    def stable(y):
        """Exactly, at a fraction."""
        real, imaginary = point(y)
        square = real * real - imaginary * imaginary  # one of them is 0
        powers = (Fraction(1), 0), (real, imaginary), (square, 0)
        return is_stable([
            tuple(sum((c * power[i] for c, power in zip(row, powers)), Fraction(0))
                  for i in (0, 1))
            for row in rows
        ])  # fmt: skip

    if not stable(_SOON):
        return 0.0
    looks = [Fraction(2 * i + 1, 2 * (_LOOKS - i) - 1) for i in range(_LOOKS)]
    real, imaginary = point(np.array(looks, float))
    seen = growth(method, real + 1j * imaginary)
    unstable = np.flatnonzero(~(seen <= 1 + _GROWS))
    end = int(unstable[0]) if unstable.size else _LOOKS
    low, high = _SOON, looks[end] if end < _LOOKS else None
    for y in looks[: end : max(end // _EXACT_LOOKS, 1)]:
        if y <= low:
            continue
        if not stable(y):
            high = y
            break
        low = y
    if high is None:
        return inf
    return float(bisected(low, high, stable))


def boundary(method, zeta):
    """The z for which zeta, a number on the unit circle, is a root: rho(zeta) / sigma(zeta)."""
    alpha, beta = (method.coefficients[name][::-1] for name in ("alpha", "beta"))
    with quiet():
        return np.array([np.polyval(alpha, zeta) / np.polyval(beta, zeta)])
