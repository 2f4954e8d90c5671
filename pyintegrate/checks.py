"""Checks of single arguments that several modules need."""

from __future__ import annotations

import operator

import numpy as np


def numbers(name, value):
    """An array of real numbers; complex, object, string and ragged ones are refused."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of numbers: {error}") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}")
    return array


def integer(name, value, least):
    """An int of at least `least`; a bool is not one."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got {value}")
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return value
