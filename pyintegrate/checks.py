"""Checks of single arguments that several modules need."""

from __future__ import annotations

import operator

import numpy as np

from .memory import MAX_AXES


def numbers(name, value):
    """An array of real numbers; complex, object, string and ragged ones are refused."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of numbers: {error}") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}")
    if array.ndim > MAX_AXES:
        raise ValueError(f"{name} has {array.ndim} axes, and at most {MAX_AXES} are supported")
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


def whole_steps(n_steps):
    """A number of steps, such that a double can hold it."""
    n_steps = integer("n_steps", n_steps, 0)
    if n_steps > 1 << 53:
        raise ValueError(f"n_steps must be at most 2**53, got {n_steps}")
    return n_steps


def places_of(components, system):
    """The numbers of named components; None stands for all."""
    if components is None:
        return None
    names = system.state_names
    given = (components,) if isinstance(components, str) else components
    try:
        given = tuple(given)
        known = set(given) <= set(names)
    except TypeError:
        raise TypeError(f"components must be names of components, got {components!r}") from None
    if not given or len(set(given)) < len(given) or not known:
        raise ValueError(
            f"components must be some of {', '.join(names)}, each once, got {components!r}"
        )
    return tuple(names.index(name) for name in given)
