"""Checks of single arguments that several modules need."""

import operator
from itertools import combinations, islice

import numpy as np

from .. import _core
from .memory import MAX_AXES

_TRUTH = (bool, np.bool_)
DOUBLE = np.dtype(np.float64)
MOST_COMPONENTS = _core.limits["components"]


def numbers(name, value):
    """An array of real numbers; complex, object, string and ragged arrays are refused."""
    if type(value) is np.ndarray and value.dtype is DOUBLE and value.ndim <= MAX_AXES:
        return value
    if has_unit(value):
        raise TypeError(f"{name} has a unit, {value!r}: give its number in the unit of the system")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of numbers: {error}") from None
    refuse_masked(f"{name} has", value)
    if array.dtype.kind not in "iuf":
        what = array.dtype if array.ndim else f"{array.dtype}, {value!r:.60}"
        raise TypeError(f"{name} must hold real numbers, got {what}")
    if array.ndim > MAX_AXES:
        raise ValueError(f"{name} has {array.ndim} axes, and at most {MAX_AXES} are supported")
    return array


def refuse_masked(has, value):
    """ValueError for masked items of an array, or of arrays in a list: NumPy's functions fill them
    with what lies beneath."""
    parts = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one) for one in parts):
        raise ValueError(f"{has} masked items, which have no value: fill them, filled(...)")


def has_unit(value):
    """Whether it is a quantity of astropy or unyt, or of pint."""
    return hasattr(value, "to_value") or hasattr(value, "dimensionality")


def floats(name, value):
    """An array as from ``numbers``, in double precision and in new memory."""
    return numbers(name, value).astype(np.float64)


def broadcast_shape(shapes):
    """The broadcast of named shapes; the error names two that do not fit."""
    different = set(filter(None, shapes.values()))  # an empty one fits any
    if len(different) < 2:
        return different.pop() if different else ()
    try:
        return np.broadcast_shapes(*different)
    except ValueError:
        pass
    for a, b in combinations(shapes, 2):
        pairs = zip(shapes[a][::-1], shapes[b][::-1])
        if not all(m == n or 1 in (m, n) for m, n in pairs):
            raise ValueError(
                f"{a} has batch shape {shapes[a]} and {b} {shapes[b]}: they do not broadcast"
            )
    raise MemoryError(
        f"a batch of more than 2**63 trajectories ({shapes}): integrate it in parts that fit"
    )


def fits_batch(shape, batch):
    """Whether a shape broadcasts to that of the batch."""
    pairs = zip(shape[::-1], batch[::-1])
    return len(shape) <= len(batch) and all(n in (1, m) for n, m in pairs)


def string(name, value, default):
    """A string, or the default for None."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {value!r}")
    return printable(name, value) or default


def printable(name, text):
    """A text without control characters: it stands in tables, and on terminals."""
    if not text.isprintable():
        raise ValueError(f"{name} has a character that cannot be printed: {text!r}")
    return text


def different_names(names, dim, taken):
    """Names of components: one for each, all different, none of `taken`, nor "t"."""
    try:
        names = tuple(islice(names.split() if isinstance(names, str) else names, dim + 1))
        right = len(names) == len(set(names)) == dim and not {*names} & {*taken, "t"}
    except TypeError:
        raise TypeError(f"state_names must be names of components, got {names!r}") from None
    if not right or not all(isinstance(name, str) and name for name in names):
        raise ValueError(
            f"state_names must be {dim} different names, none of a parameter or of the time, t, got"
            f" {names!r}"
        )
    return tuple(printable("state_names", name) for name in names)


def units_by_name(units, known):
    """Units for some of the known names, completed to a dictionary for all."""
    units = {} if units is None else units
    if not isinstance(units, dict):
        raise TypeError(f"units must be a dictionary of name to unit, got {units!r}")
    for name, unit in units.items():
        if name not in known or not isinstance(unit, str):
            raise ValueError(
                f"units has {name!r}: {unit!r}; expected strings for {', '.join(known)}"
            )
    return {**dict.fromkeys(known, "1"), "t": "s", **units}


def integer(name, value, least, most=1 << 53):
    """An int from `least` to `most`, 2**53 by default; a bool is refused."""
    if isinstance(value, _TRUTH):
        raise TypeError(f"{name} must be an integer, got {value}")
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    if value > most:
        raise ValueError(f"{name} must be at most {most}, got {value}")
    return value


def truth(name, value):
    """True or False; other values that only count as one of them are refused."""
    if not isinstance(value, _TRUTH):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def choice(name, value, known):
    """A value that is one of the known names."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return value


def positive(name, value, endless=False):
    """A positive number as a float; infinity only if it may be endless."""
    number = numbers(name, value)
    if number.ndim or not number > 0 or (np.isinf(number) and not endless):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(number)


def pair(name, value):
    """Two finite numbers."""
    array = numbers(name, value)
    if array.shape != (2,) or not np.isfinite(array).all():
        raise ValueError(f"{name} must be two finite numbers, got {value!r}")
    return tuple(array.tolist())


def some_of(name, given, known, least=1):
    """A tuple of names, each once, all of them known; a single one stands for itself."""
    told = f"{name} must be some of {', '.join(known) or 'none'}, each once, got {given!r:.80}"
    try:
        given = (given,) if isinstance(given, str) else tuple(islice(given, len(known) + 1))
        good = least <= len(given) == len({*given}) and {*given} <= {*known}
    except TypeError:
        raise TypeError(told) from None
    if not good:
        raise ValueError(told)
    return tuple(map(str, given))  # of NumPy's strings as well


def places_of(components, system):
    """The indices of named components; None means all."""
    names = system.state_names
    if components is None:
        return tuple(range(len(names)))
    return tuple(map(names.index, some_of("components", components, names)))
