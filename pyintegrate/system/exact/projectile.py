"""Projectile in vacuum.   r'' = (0, 0, -g)

r(t) = r0 + v0 (t - t0) - (0, 0, g) (t - t0)^2 / 2   (Galilei 1638).
"""

from ._closed_form import closed_form


@closed_form
def exact(t, y0, t0, *, g):
    """Position and velocity at the times `t`.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial x, y, z, vx, vy and vz, of the batch shape.
    g : array_like
        Broadcasts against the batch.

    Returns
    -------
    tuple of ndarray
        x, y, z, vx, vy and vz, of shape ``(len(t), *batch)``.
    """
    x, y, z, vx, vy, vz = y0
    h = t - t0
    return x + h * vx, y + h * vy, z + h * (vz - h * g / 2), vx, vy, vz - h * g
