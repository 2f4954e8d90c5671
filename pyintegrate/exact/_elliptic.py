"""Jacobi's elliptic functions and integrals by the arithmetic-geometric mean.

All take the complementary parameter m1 = 1 - m = k'^2 in [0, 1], not m: near m1 = 0, where a
pendulum stands on its head, only m1 keeps its digits.

References: Bulirsch (1965), Numer. Math. 7, 78; DLMF sections 19.8 and 22.20.
"""

import numpy as np


def quarter_period(m1):
    """Complete elliptic integral K(m), inf where m1 = 0; of the shape of `m1`."""
    a, b = _means(m1)[-1]
    return np.where(m1 == 0, np.inf, np.pi / (a + b))


def jacobi(u, m1):
    """sn, cn and dn of (u | m), three arrays of the broadcast shape.

    Descending Landen transformations for sc = sn / cn instead of the amplitude: every operation
    on positive numbers, so that cn and dn are good in relative terms where they are small.
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


def uniform_angle(amplitude, m1):
    """pi F(amplitude | m) / (2 K): the angle that grows uniformly with u and equals the amplitude
    at multiples of pi / 2.
    """
    turns = np.round(amplitude / (2 * np.pi))
    return uniform_direction(np.sin(amplitude), np.cos(amplitude), m1) + 2 * np.pi * turns


def uniform_direction(sin, cos, m1):
    """The uniform angle of an amplitude in [-pi, pi] given as sine and cosine, times any length.

    Landen's phi_(n+1) = 2 phi_n - delta_n, tan(delta) = (a - b) sin cos / (a cos^2 + b sin^2): the
    angle is the limit of phi_n / 2^n, so amplitude - sum delta_n / 2^(n+1). The directions of
    phi_n are turned by products, and a small delta is its series: two or three arctangents remain.
    """
    angle, scale = np.arctan2(sin, cos), 1.0
    length = np.sqrt(sin * sin + cos * cos)
    length = np.where(length == 0, 1, length)
    s, c = sin / length, cos / length
    means = _means(m1)
    for n, (a, b) in enumerate(means, start=1):
        scale /= 2
        cc, ss, sc = c * c, s * s, s * c
        opposite, adjacent = (a - b) * sc, a * cc + b * ss
        tangent = opposite / np.where(adjacent == 0, 1, adjacent)
        if np.all(np.abs(a - b) < 2e-3 * a):  # the next term of the series is below rounding
            square = tangent * tangent
            angle = angle - scale * tangent * (1 - square * (1 / 3 - square * (1 / 5 - square / 7)))
        else:
            angle = angle - scale * np.arctan2(opposite, adjacent)
        if n < len(means):
            length = np.sqrt(opposite * opposite + adjacent * adjacent)
            length = np.where(length == 0, 1, length)
            opposite, adjacent, sc = opposite / length, adjacent / length, 2 * sc
            c, s = (cc - ss) * adjacent + sc * opposite, sc * adjacent - (cc - ss) * opposite
    return angle


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
