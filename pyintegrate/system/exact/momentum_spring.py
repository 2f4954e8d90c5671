r"""Spring in momentum form.   x' = w p,   p' = -k x - b w p   (w: inverse mass, 0 = immovable)

With gamma = b w / 2 and kappa^2 = gamma^2 - k w the matrix A = [[0, w], [-k, -b w]] has the
eigenvalues lambda = -gamma +- kappa, and (Hirsch & Smale 1974, chapter 3)

    exp(A h) = exp(-gamma h) (cosh(kappa h) + (A + gamma) sinh(kappa h) / kappa)        (1)
             = (exp(l1 h) (A - l2) + exp(l2 h) (l1 - A)) / (2 kappa)                    (2)

(1) is smooth through critical damping, kappa = 0, and covers oscillation, kappa^2 < 0. For
kappa h > 1, (2) separates the slow eigenvalue from the fast one, and does not overflow.
"""

import numpy as np

from ._closed_form import closed_form, direction, known


@closed_form
def exact(t, y0, t0, *, k, b, inverse_mass):
    """Position and momentum at the times `t`.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial x and p, of the batch shape.
    k, b, inverse_mass : array_like
        Any sign; broadcast against the batch.

    Returns
    -------
    tuple of ndarray
        x and p, of shape ``(len(t), *batch)``.
    """
    x, p = y0
    h, w = t - t0, inverse_mass
    gamma, square = b * w / 2, _kappa_squared(k, b, w)
    kappa = np.sqrt(np.abs(square))

    angle = kappa * h
    cosh = np.where(square < 0, np.cos(angle), np.cosh(angle))
    sinh = np.where(square < 0, np.sin(angle), np.sinh(angle))
    sinh_over_kappa = np.where(kappa == 0, h, sinh / kappa)
    decay = np.exp(-gamma * h)
    x1 = decay * (x * cosh + (w * p + gamma * x) * sinh_over_kappa)
    p1 = decay * (p * cosh - (gamma * p + k * x) * sinh_over_kappa)

    large = -(gamma + np.copysign(kappa, gamma))  # no cancellation; the product of both is k w
    small = k * w / large
    l1, l2 = np.maximum(large, small), np.minimum(large, small)
    e1, e2 = np.exp(l1 * h), np.exp(l2 * h)
    x2 = (e1 * (w * p - l2 * x) + e2 * (l1 * x - w * p)) / (2 * kappa)
    p2 = (e1 * (l1 * p - k * x) + e2 * (k * x - l2 * p)) / (2 * kappa)

    apart = (square > 0) & (np.abs(angle) > 1)
    return np.where(apart, x2, x1), np.where(apart, p2, p1)


@closed_form
def phase(y, t, *, k, b, inverse_mass):
    """Phase atan2(-w p / omega, x), omega = sqrt(k w) undamped; of the broadcast shape."""
    x, p = y
    square = k * inverse_mass
    omega = np.sqrt(np.where(square > 0, square, np.nan))
    return direction(-inverse_mass * p / omega, x)


@closed_form
def exact_phase(t, y0, t0, *, k, b, inverse_mass):
    """Phase of the exact motion at the times `t`; of shape ``(len(t), *batch)``.

    Decay does not rotate a state, and sin and cos of an angle are 2 T and 1 - T^2, T the tangent of
    half the angle, up to a positive factor: one tangent suffices if the spring oscillates.
    """
    x, p = y0
    h, w = t - t0, inverse_mass
    square = _kappa_squared(k, b, w)
    if known(square) and not np.all(square < 0):
        return phase(exact(t, y0, t0, k=k, b=b, inverse_mass=w), t, k=k, b=b, inverse_mass=w)
    gamma, kappa = b * w / 2, np.sqrt(-square)
    tangent = np.tan(kappa / 2 * h)
    sine, cosine = 2 * tangent, (1 - tangent) * (1 + tangent)
    to_x, to_p = (w * p + gamma * x) / kappa, (gamma * p + k * x) / kappa
    w_omega = w / np.sqrt(k * w)
    return direction(w_omega * to_p * sine - w_omega * p * cosine, to_x * sine + x * cosine)


def phase_is_uniform(*, b, **_):
    """Only without damping."""
    return not np.any(b)


@closed_form
def period(y0, *, k, b, inverse_mass):
    """Period 2 pi / sqrt(k w - (b w / 2)^2) of the damped motion, inf without oscillation."""
    x, p = y0
    square = _kappa_squared(k, b, inverse_mass)
    return 2 * np.pi / np.sqrt(np.maximum(-square, 0)) + 0 * (x + p)


def _kappa_squared(k, b, w):
    """Square of half the difference of the eigenvalues, negative if they are complex."""
    return (b * w / 2) ** 2 - k * w
