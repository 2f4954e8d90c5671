"""Rossler's attractor.   x' = -y - z,   y' = x + a y,   z' = b + z (x - c)

It has no closed form. The motion turns around the origin of the x-y plane, and the angle there is
the usual phase of its chaotic oscillation (Rosenblum, Pikovsky & Kurths 1996, Phys. Rev. Lett. 76,
1804).
"""

import numpy as np

from ._closed_form import closed_form


@closed_form
def phase(y, t, *, a, b, c):
    """Angle in the x-y plane, growing along the attractor of the default parameters.

    Parameters
    ----------
    y : tuple of array_like
        x, y and z.
    t, a, b, c : array_like
        Not used.

    Returns
    -------
    ndarray
        Radians, of the broadcast shape.
    """
    x, y, _ = y
    return np.arctan2(y, x)
