"""Harmonic oscillator.   x'' = -omega^2 x

x(t) = x0 cos(omega (t - t0)) + v0 sin(omega (t - t0)) / omega.
"""

import numpy as np

from ._closed_form import closed_form, direction


@closed_form
def exact(t, y0, t0, *, omega):
    """Position and velocity at the times `t`.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial x and v, of the batch shape.
    omega : array_like
        Broadcasts against the batch; 0 is a free particle.

    Returns
    -------
    tuple of ndarray
        x and v, of shape ``(len(t), *batch)``.
    """
    x, v = y0
    h = t - t0
    cosine, sine = np.cos(omega * h), np.sin(omega * h)
    return x * cosine + v * np.where(omega == 0, h, sine / omega), v * cosine - omega * x * sine


@closed_form
def phase(y, t, *, omega):
    """Phase atan2(-v / omega, x), which grows by omega (t - t0); of the broadcast shape."""
    x, v = y
    return direction(-v / np.abs(omega), x)


def phase_is_uniform(*, omega):
    """Always."""
    return True


@closed_form
def period(y0, *, omega):
    """Period 2 pi / omega of any motion, of the batch shape."""
    x, v = y0
    return 2 * np.pi / np.abs(omega) + 0 * (x + v)
