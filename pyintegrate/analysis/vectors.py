"""Lengths of many vectors at once, and products with matrices: the last axes are theirs."""

import numpy as np


def norm(x, **keepdims):
    """Euclidean lengths (...) of vectors (..., k).

    Examples
    --------
    >>> norm(np.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [5.0, 1.0]
    """
    return np.linalg.norm(x, axis=-1, **keepdims)


def applied(matrix, x):
    """The vectors (..., k) that matrices (..., k, m) make of vectors (..., m).

    Examples
    --------
    >>> applied(np.diag([2.0, 3.0]), np.array([[1.0, 1.0], [0.0, 1.0]])).tolist()
    [[2.0, 3.0], [0.0, 3.0]]
    """
    return (matrix @ x[..., np.newaxis])[..., 0]
