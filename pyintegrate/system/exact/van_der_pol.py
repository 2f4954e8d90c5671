"""Van der Pol's oscillator.   x'' = mu (1 - x^2) x' - x

Neither the motion nor its limit cycle has a closed form; the cycle goes around the origin once per
period.
"""

from ._closed_form import closed_form, direction


@closed_form
def phase(y, t, *, mu):
    """Angle around the origin, growing along the limit cycle, uniformly for small mu.

    Parameters
    ----------
    y : tuple of array_like
        x and v.
    t, mu : array_like
        Not used.

    Returns
    -------
    ndarray
        Radians, of the broadcast shape.
    """
    x, v = y
    return direction(-v, x)
