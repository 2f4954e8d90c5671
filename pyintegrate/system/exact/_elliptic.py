"""Jacobi's elliptic functions and integrals by the arithmetic-geometric mean.

All take the complementary parameter m1 = 1 - m = k'^2 in [0, 1], not m: near m1 = 0, at the
separatrix of a pendulum, only m1 keeps its digits.

References: Bulirsch (1965), Numer. Math. 7, 78; DLMF sections 19.8 and 22.20.
"""

import numpy as np

DOUBLINGS = 10  # enough if m1 is the square of a rounding error


def quarter_period(m1):
    """Complete elliptic integral K(m), inf if m1 = 0; of the shape of `m1`."""
    a, b = _means(m1)[-1]
    return np.where(m1 == 0, np.inf, np.pi / (a + b))


def jacobi(u, m1):
    """sn, cn and dn of (u | m), three arrays of the broadcast shape.

    Descending Landen transformations for sc = sn / cn instead of the amplitude: all operations
    are on positive numbers, so that small cn and dn have small relative errors.
    """
    means = _means(np.where(m1 == 0, 1, m1))
    a, b = means[-1]
    angle = u * (a + b) / 2
    sc, dn = 2 * np.tan(angle) / (a + b), 1.0
    for a, b in reversed(means):
        weight = sc * sc * (a + b) / 2
        sc, dn = sc / dn, (1 + b * weight) / (1 + a * weight)
    cn = np.copysign(1 / np.sqrt(1 + sc * sc), np.cos(angle))
    sech = 1 / np.cosh(u)
    return (
        np.where(m1 == 0, np.tanh(u), cn * sc),
        np.where(m1 == 0, sech, cn),
        np.where(m1 == 0, sech, dn),
    )


def uniform_direction(sin, cos, m1, less=0.0):
    """The uniform angle of an amplitude in [-pi, pi] given as sine and cosine, times any length.

    `less` times pi is taken away: at once, so that a small difference has all its digits.

    Landen's tan(phi_(n+1) - phi_n) = (b / a) tan(phi_n): the angle is the limit of phi_n / 2^n. Of
    phi_n in (0, pi) + turns pi only y = a cot(phi_n) is kept, Bulirsch's variable, which becomes
    y - a b / y; if y is negative phi_n has passed pi / 2, and doubling adds one more turn.
    """
    size = np.abs(sin)
    with np.errstate(all="ignore"):
        y = cos / size + 0.0  # nan if there is no direction; a zero is positive
        a, b, turns = 1.0, np.sqrt(m1), 0.0
        for _ in range(DOUBLINGS):  # a and b are not halved: they double, as the angle does
            turns = 2 * turns + np.where(y < 0, 1.0, 0.0)
            product = a * b
            a, b = a + b, 2 * np.sqrt(product)
            y = y - product / y
        turns = turns + np.where(y < 0, 1.0, 0.0) - less * 2.0**DOUBLINGS
        angle = (np.arctan2(np.copysign(a, y), np.abs(y)) + np.pi * turns) * 0.5**DOUBLINGS
        side = np.copysign(1.0, sin)
        return side * angle - (1 - side) * np.pi * less


def _means(m1):
    """Pairs (a, b) of the arithmetic-geometric mean of 1 and k', until a - b < 1e-8 a.

    The next pair would agree to the last digit. 16 pairs are enough for the smallest positive m1.
    """
    a, b = np.ones_like(m1), np.sqrt(m1)
    pairs = [(a, b)]
    while np.any(a - b > 1e-8 * a) and len(pairs) < 16:
        a, b = (a + b) / 2, np.sqrt(a * b)
        pairs.append((a, b))
    return pairs
