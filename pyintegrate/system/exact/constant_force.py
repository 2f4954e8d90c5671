"""Constant force.   m x'' = F

x(t) = x0 + v0 (t - t0) + F (t - t0)^2 / (2 m).
"""

from ._closed_form import closed_form


@closed_form
def exact(t, y0, t0, *, force, mass):
    """Position and velocity at the times `t`.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial x and v, of the batch shape.
    force, mass : array_like
        Broadcast against the batch.

    Returns
    -------
    tuple of ndarray
        x and v, of shape ``(len(t), *batch)``.
    """
    x, v = y0
    h = t - t0
    a = force / mass
    return x + h * (v + h * a / 2), v + h * a
