"""Damped spring.   m x'' = -k x - b v

The momentum form with the momentum per mass, v, instead of the momentum.
"""

import numpy as np

from . import momentum_spring
from ._closed_form import closed_form


@closed_form
def exact(t, y0, t0, *, k, b, m):
    """Position and velocity at the times `t`.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial x and v, of the batch shape.
    k, b, m : array_like
        Any sign; broadcast against the batch.

    Returns
    -------
    tuple of ndarray
        x and v, of shape ``(len(t), *batch)``.
    """
    return momentum_spring.exact(t, y0, t0, k=k / m, b=b / m, inverse_mass=1)


@closed_form
def phase(y, t, *, k, b, m):
    """Phase atan2(-v / omega, x), omega = sqrt(k / m) undamped; of the broadcast shape."""
    return momentum_spring.phase(y, t, k=k / m, b=b / m, inverse_mass=1)


@closed_form
def exact_phase(t, y0, t0, *, k, b, m):
    """Phase of the exact motion at the times `t`; of shape ``(len(t), *batch)``."""
    return momentum_spring.exact_phase(t, y0, t0, k=k / m, b=b / m, inverse_mass=1)


def phase_is_uniform(*, k, b, m):
    """Only without damping."""
    return not np.any(b)


@closed_form
def period(y0, *, k, b, m):
    """Period 2 pi / sqrt(k / m - (b / 2 m)^2) of the damped motion, inf without oscillation."""
    return momentum_spring.period(y0, k=k / m, b=b / m, inverse_mass=1)
