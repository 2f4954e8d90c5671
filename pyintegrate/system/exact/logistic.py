"""Logistic growth.   n' = r n (1 - n / K)

n(t) = n0 / (e^(-z) + (1 - e^(-z)) n0 / K),   z = r (t - t0)   (Verhulst 1838).
"""

import numpy as np

from ._closed_form import closed_form


@closed_form
def exact(t, y0, t0, *, r, capacity):
    """Population at the times `t`, nan beyond a blow-up in finite time.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial n, of the batch shape.
    r, capacity : array_like
        Broadcast against the batch.

    Returns
    -------
    tuple of ndarray
        n, of shape ``(len(t), *batch)``.
    """
    (n,) = y0
    z = r * (t - t0)
    fraction = n / capacity
    decay, lost = np.exp(-np.abs(z)), -np.expm1(-np.abs(z))
    # Numerator and denominator, multiplied by e^z where z < 0 so that neither overflows.
    grown = n * np.where(z < 0, decay, 1)
    # Two forms of 1 - (1 - e^z) n0 / K: one keeps its digits where n0 is near K, one where n0 >> K.
    near = np.where(np.abs(fraction) < 2, 1 - fraction + fraction * decay, 1 - fraction * lost)
    denominator = np.where(z < 0, near, decay + fraction * lost)
    n1 = np.where(denominator < 0, np.nan, grown / denominator)
    return (np.where((n == 0) | (fraction == 1), n + 0 * fraction * z, n1),)
