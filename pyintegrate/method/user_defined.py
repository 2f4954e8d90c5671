"""What all user-defined methods share: their numbers checked, their order computed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .method import Method

ROUNDED = 1e-12  # sums of decimals that were rounded somewhere


def table(name, value, ndim):
    """Doubles, and the same numbers as they were given in nested lists."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of numbers: {error}") from None
    if array.dtype == object and all(isinstance(x, int | float | Fraction) for x in array.flat):
        given = array.tolist()
    elif array.dtype.kind in "iuf":
        given = array.astype(np.float64).tolist()
    else:
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}")
    try:
        array = array.astype(np.float64)
    except OverflowError:
        raise ValueError(f"{name} must hold numbers that a double can hold") from None
    if array.ndim != ndim or not array.size:
        raise ValueError(
            f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, got shape {array.shape}"
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite")
    return array, given


def of_order(order, maker, arguments, **fields):
    """A Method of a given or computed order, which maker(*arguments, order) makes again."""
    method = Method(order=1 if order is None else order, made_by=(), **fields)
    if order is None:
        from ..theory.order_conditions import order as computed

        # Consistent, as was checked; and immutable once it is handed out.
        order = method.__dict__["order"] = max(computed(method), 1)
    method.__dict__["made_by"] = (maker, (*arguments, order))
    return method
