"""Predator and prey.   x' = a x - b x y,   y' = -c y + d x y   (Lotka 1925, Volterra 1926)

The orbits are closed curves around (c / d, a / b), but no closed form gives them in time. Small
ones are circles, run at the frequency sqrt(a c), in the coordinates
(d x - c) / sqrt(c) and (b y - a) / sqrt(a).
"""

import numpy as np

from ._closed_form import closed_form, direction


@closed_form
def phase(y, t, *, a, b, c, d):
    """Angle around the equilibrium, growing along the motion, uniformly for small orbits.

    Parameters
    ----------
    y : tuple of array_like
        Prey and predator.
    t : array_like
        Not used.
    a, b, c, d : array_like
        Positive; broadcast against the batch.

    Returns
    -------
    ndarray
        Radians, of the broadcast shape.
    """
    prey, predator = y
    return direction((b * predator - a) * np.sqrt(c), (d * prey - c) * np.sqrt(a))
