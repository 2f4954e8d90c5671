"""The calling convention of a closed form: float64 for any argument, nan instead of a warning."""

import functools

import numpy as np


def closed_form(function):
    """Make `function` compute in float64, without warnings, and return components of one shape."""

    @functools.wraps(function)
    def evaluate(*arguments, **parameters):
        if any(isinstance(a, list) and not known(a[0]) for a in arguments):  # traced
            return function(*arguments, **parameters)
        positional = [_as_float64(argument) for argument in arguments]
        keywords = {name: np.asarray(value, np.float64) for name, value in parameters.items()}
        with np.errstate(all="ignore"):
            result = function(*positional, **keywords)
        if isinstance(result, tuple):
            return tuple(np.stack(np.broadcast_arrays(*result)))
        return result

    return evaluate


def known(value):
    """Whether the value is numbers, not the symbols of a watched phase."""
    return isinstance(value, np.ndarray | np.generic | float | int | list)


def direction(y, x):
    """The angle of a point in the plane, nan at the origin: a motion at rest has no phase."""
    return np.where((x == 0) & (y == 0), np.nan, np.arctan2(y, x))


def _as_float64(argument):
    if isinstance(argument, (tuple, list)):  # the components of a state
        return tuple(np.asarray(component, np.float64) for component in argument)
    return np.asarray(argument, np.float64)
