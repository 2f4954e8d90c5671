"""Where the roots of a polynomial are, exactly: inside the unit circle, on it, or outside.

A polynomial is a list of pairs (real, imaginary) of fractions, the lowest coefficient first.

References
----------
Miller (1971), J. Inst. Math. Appl. 8, 397-406; Hairer, Norsett, Wanner (1993), Solving Ordinary
Differential Equations I, III.3 and III.10.
"""

from fractions import Fraction
from math import gcd, lcm

import numpy as np

# How far rounding may move a root off the circle, and how far two that meet from each other.
_NEAR, _APART = 1e-6, 1e-4


def is_stable(polynomial):
    """Whether no root lies outside the unit circle, and those on it are simple.

    Miller's reduction: for a polynomial f with f*(z) = z^n conj(f(1 / conj z)), the polynomial
    f1 = (f*(0) f - f(0) f*) / z has one root less inside, and as many on the circle. If it
    vanishes, the roots are mirror images in the circle; they lie on it and are simple if those
    of the derivative lie inside.

    Parameters
    ----------
    polynomial : list of (Fraction, Fraction)

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_stable([(c, 0) for c in f]) for f in ([-1, 0, 1], [1, -2, 1], [-2, 1])]
    [True, False, False]
    """
    f, strictly = _whole(np.array(polynomial, object).T), False
    while len(f.T) > 1:
        first, last = f[:, :1], f[:, -1:]
        reduced = _times(_bar(last), f[:, 1:]) - _times(first, _bar(f[:, -2::-1]))
        if not reduced.any():
            if strictly or not last.any():
                return False
            powers = np.arange(len(f.T)).astype(object)
            f, strictly = _whole((powers * f)[:, 1:]), True
        elif (first**2).sum() < (last**2).sum():
            f = _whole(reduced)
        else:
            return False
    return bool(f.any())


def zero_stable(alpha, derivative):
    """Whether errors of a multistep method stay bounded as h goes to 0, by the roots of alpha.

    None outside the unit circle; those on it simple, or at most double if the method is for
    second derivatives. Roots within 1e-6 of the circle count as on it, and those nearer than 1e-4
    to each other as one.

    Parameters
    ----------
    alpha : sequence of Fraction
    derivative : {1, 2}

    Returns
    -------
    bool

    Examples
    --------
    >>> zero_stable([1, -2, 1], 2), zero_stable([1, -2, 1], 1)
    (True, False)
    """
    roots = np.roots([float(a) for a in reversed(alpha)])
    edge = roots[np.abs(roots) > 1 - _NEAR]
    near = np.abs(edge[:, np.newaxis] - edge) < _APART
    return bool(np.all(np.abs(roots) <= 1 + _NEAR) and np.all(near.sum(axis=0) <= derivative))


# ---- arithmetic: of the real and the imaginary parts, each in a row ------------------------------


def _times(a, b):
    return np.array([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]])


def _bar(a):
    return a * np.array([[1], [-1]], object)


def _whole(f):
    """The same roots with integers, as small as possible."""
    common = lcm(*(Fraction(x).denominator for x in f.flat))
    whole = [int(x * common) for x in f.flat]
    shared = gcd(*whole) or 1
    return np.array([x // shared for x in whole], object).reshape(f.shape)
