"""Logarithmic axes of coordinates that have a constant ratio."""

import numpy as np

SPAN = 3.0  # largest over least, from which a logarithmic axis says more than a linear one
EVEN = 1e-3  # of a ratio: rounded coordinates are spaced evenly all the same


def log_spaced(values):
    """Whether coordinates are those of a logarithmic axis, as of ``numpy.geomspace``.

    Parameters
    ----------
    values : ndarray
        (n,).

    Returns
    -------
    bool
        True where three or more positive numbers have the same ratio, one after the other.

    Examples
    --------
    >>> log_spaced(np.geomspace(1e-3, 1, 9)), log_spaced(np.linspace(1e-3, 1, 9))
    (True, False)
    """
    values = np.asarray(values, float)
    if len(values) < 3 or not (np.isfinite(values) & (values > 0)).all():
        return False
    ways = np.diff(np.log(values))
    return bool(abs(ways.sum()) > np.log(SPAN) and np.ptp(ways) <= EVEN * abs(ways.mean()))


def edges(values):
    """The edges of cells around coordinates (n,), n + 1: half way, by ratio on logarithmic axes.

    Examples
    --------
    >>> edges(np.array([1.0, 4.0, 16.0])), edges(np.array([1.0, 2.0, 3.0]))
    (array([ 0.5,  2. ,  8. , 32. ]), array([0.5, 1.5, 2.5, 3.5]))
    """
    by_ratio = log_spaced(values)
    values = np.log2(values) if by_ratio else np.asarray(values, float)
    half = np.diff(values) / 2
    first, last = (half[0], half[-1]) if len(half) else (0.5, 0.5)
    middle = values[:-1] + half
    found = np.concatenate([values[:1] - first, middle, values[-1:] + last])
    return np.exp2(found) if by_ratio else found
