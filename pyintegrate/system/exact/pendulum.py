r"""Plane pendulum.   theta'' = -omega0^2 sin(theta),   omega0^2 = g / length

With s = sin(theta / 2), c = cos(theta / 2), p = theta' / (2 omega0) and u = omega0 (t - t0),

    s' = c p,   c' = -s p,   p' = -s c      (Euler's equations of a free top),

so that m = s^2 + p^2 is constant: m < 1 is libration, m > 1 rotation, m = 1 the separatrix.
At the bottom s = 0 and p^2 = m, and the motion is (s, c, p) = (k sn, dn, k cn)(u | m), k^2 = m.
The addition theorems of sn, cn and dn give the state at u from any state at 0, without its
place on the orbit. With S, C, D = sn, cn, dn(u | m),

    s(u) = (s C D + c p S) / (c^2 + s^2 C^2),   and so on.

This is real for every m: for m > 1, with kappa = sqrt(m), S, C, D = sn / kappa, dn, cn of
(kappa u | 1 / m). If g / length is negative the pendulum swings about the top.

References: Whittaker (1904), Analytical Dynamics, section 44; DLMF 22.8 and 22.17.
"""

import numpy as np

from ._closed_form import closed_form
from ._elliptic import jacobi, quarter_period, uniform_direction


@closed_form
def exact(t, y0, t0, *, g, length):
    """Angle (continuous over the turns) and angular velocity at the times `t`.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial theta and omega, of the batch shape.
    g, length : array_like
        Broadcast against the batch.

    Returns
    -------
    tuple of ndarray
        theta and omega, of shape ``(len(t), *batch)``.
    """
    theta, omega = y0
    omega0, s, c, p, kappa, m1, rotates = _half_angle_state(theta, omega, g / length)

    # Whole cycles first: theta / 2 turns by less than pi in the rest.
    u = kappa * omega0 * (t - t0)
    cycle = np.where(rotates, 2, 4) * quarter_period(m1)
    cycles = np.round(u / cycle)
    u = u - np.where(cycles == 0, 0, cycles * cycle)

    sn, cn, dn = jacobi(u, m1)
    S, C, D = sn / kappa, np.where(rotates, dn, cn), np.where(rotates, cn, dn)
    denominator = c * c + (s * C) ** 2
    s1 = s * C * D + c * p * S
    c1 = c * D - s * p * S * C
    p1 = p * C - s * c * S * D

    turns = np.where(rotates, np.copysign(cycles, cycles * p), 0)
    half_angle = np.arctan2(s1 * c - c1 * s, c1 * c + s1 * s)
    return theta + 2 * (np.pi * turns + half_angle), 2 * omega0 * p1 / denominator


@closed_form
def phase(y, t, *, g, length):
    """Angle variable: 2 pi / period times the time since the turning point at positive theta, or
    since the bottom if the pendulum rotates.

    Uniform in time; atan2(-omega / omega0, theta) for small oscillations. Has the broadcast shape.
    """
    theta, omega = y
    # One tangent gives sine and cosine, and costs much less than these.
    tangent = np.tan(theta / 4)
    scale = 2 / (1 + tangent * tangent)
    sin, cos = tangent * scale, scale - 1
    _, s, c, p, _, m1, rotates = _from_the_bottom(sin, cos, omega, g / length)
    # The sine of the amplitude is s, its cosine p, or c if the pendulum rotates.
    angle = uniform_direction(
        np.copysign(s, s * np.where(rotates, p, c)), np.where(rotates, c, p), m1,
        less=np.where(rotates, 0.0, 0.5),
    )  # fmt: skip
    return np.where(rotates, 2 * angle, angle)


def phase_is_uniform(*, g, length):
    """Always."""
    return True


@closed_form
def period(y0, *, g, length):
    """Time of a full oscillation, or of a whole turn; inf on the separatrix; of the batch shape.

    A state on the separatrix up to rounding counts as on it: else a last digit decides the period.
    """
    theta, omega = y0
    omega0, s, c, p, kappa, m1, rotates = _half_angle_state(theta, omega, g / length)
    span = np.where(rotates, 2, 4) * quarter_period(m1) / (kappa * omega0)
    apart = np.minimum(np.abs(c - p), np.abs(c + p))
    return np.where(apart <= 4 * np.finfo(np.float64).eps, np.inf, span)


def _half_angle_state(theta, omega, square):
    """omega0, s, c and p; kappa, the complementary parameter in [0, 1], and whether it rotates.

    The angle is taken from the stable equilibrium.
    """
    return _from_the_bottom(np.sin(theta / 2), np.cos(theta / 2), omega, square)


def _from_the_bottom(sin, cos, omega, square):
    """The same from sine and cosine of half the angle.

    If gravity is negligible omega0 is not needed, and is kept away from 0: p would overflow.
    """
    least = np.maximum(1e-30 * np.abs(omega), np.finfo(np.float64).tiny)
    omega0 = np.maximum(np.sqrt(np.abs(square)), least)
    p = omega * (0.5 / omega0)
    hanging = square >= 0
    s, c = np.where(hanging, sin, -cos), np.where(hanging, cos, sin)
    m1, m = (c - p) * (c + p), s * s + p * p
    rotates = m1 < 0
    kappa = np.where(rotates, np.sqrt(m), 1)
    return omega0, s, c, p, kappa, np.where(rotates, -m1 / m, m1), rotates
