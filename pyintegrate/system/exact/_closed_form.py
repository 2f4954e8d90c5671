"""The calling convention of a closed form: float64 whatever comes, nan instead of a warning."""

import functools

import numpy as np

from ...trace.expression import Symbol


def closed_form(function):
    """Make `function` compute in float64, in silence, and return components of one shape."""

    @functools.wraps(function)
    def evaluate(*arguments, **parameters):
        if isinstance(arguments[0], list) and isinstance(arguments[0][0], Symbol):  # traced
            return function(*arguments, **parameters)
        positional = [_as_float64(argument) for argument in arguments]
        keywords = {name: np.asarray(value, np.float64) for name, value in parameters.items()}
        with np.errstate(all="ignore"):
            result = function(*positional, **keywords)
        if isinstance(result, tuple):
            return tuple(np.stack(np.broadcast_arrays(*result)))
        return result

    return evaluate


def some(mask):
    """Whether it may hold anywhere: of a symbol nobody knows (a phase that is watched)."""
    return isinstance(mask, Symbol) or np.any(mask)


def every(mask):
    """Whether it is known to hold everywhere."""
    return not isinstance(mask, Symbol) and np.all(mask)


def _as_float64(argument):
    if isinstance(argument, (tuple, list)):  # the components of a state
        return tuple(np.asarray(component, np.float64) for component in argument)
    return np.asarray(argument, np.float64)
