"""Numbers from outside a function that its trace has taken as constants."""

import dis
from types import CodeType, FunctionType

import numpy as np

from ..errors import warn_caller
from ..values.types import Any

# Elements of an array whose values are looked at; of a larger one it is the object.
_COMPARED = 1000
_NOTHING = object()


class Frozen:
    """Global and closure variables that functions refer to, with their values when traced.

    Parameters
    ----------
    *functions : callable
        Also the plain functions that they refer to, and those defined in them.

    Examples
    --------
    >>> from pyintegrate.trace.frozen import Frozen
    >>> strength = 3.0
    >>> frozen = Frozen(lambda x: strength * x)
    >>> strength = 4.0
    >>> frozen.changed()
    [('strength', 3.0, 4.0)]
    """

    def __init__(self, *functions):
        # (where, name) -> [where, name, value, the value then: a copy of a small array]
        self._variables: dict[tuple[int, str], list[Any]] = {}
        visited = set()
        for function in functions:
            self._visit(function, visited)

    def __bool__(self):
        return bool(self._variables)

    def untouched(self):
        """Whether all are the same objects, and small arrays hold the same numbers."""
        for place, name, value, before in self._variables.values():
            if _read(place, name) is not value:
                return False
            if before is not value and value.tobytes() != before.tobytes():
                return False
        return True

    def _visit(self, function, visited):
        if not isinstance(function, FunctionType) or function in visited:
            return
        visited.add(function)
        code = function.__code__
        places: list[Any] = [(function.__globals__, name) for name in _global_names(code)]
        places += zip(function.__closure__ or (), code.co_freevars)
        for place, name in places:
            value = _read(place, name)
            if _is_number(value):
                self._variables[id(place), name] = [place, name, value, _kept(value)]
            elif isinstance(value, FunctionType):
                self._visit(value, visited)

    def changed(self):
        """Name, value then and value now of each variable that is a different number now."""
        found = []
        for variable in self._variables.values():
            place, name, _, before = variable
            now = _read(place, name)
            if not _is_number(now):
                continue
            if not np.array_equal(before, now, equal_nan=True):
                found.append((name, before, now))
            else:
                variable[2:] = now, _kept(now)  # the same number, maybe as another object
        return found

    def warn(self, system):
        """Warn once of what has changed; later changes are not checked."""
        if self.untouched() or not (changed := self.changed()):
            return
        self._variables = {}
        told = "; ".join(f"{name} was {_short(a)} and is {_short(b)}" for name, a, b in changed)
        names = ", ".join(name for name, *_ in changed)
        warn_caller(
            f"{system.name!r} was traced when it was defined, and has kept the numbers of that"
            f" moment: {told} now. Make {names} a parameter ({system.name}({changed[0][0]}=...)),"
            " or define it again",
            UserWarning,
        )


def _global_names(code):
    """Names of the globals that code and the code in it loads."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _read(place, name):
    if isinstance(place, dict):
        return place.get(name, _NOTHING)
    try:
        return place.cell_contents
    except ValueError:  # an empty cell
        return _NOTHING


def _is_number(value):
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf"
    return isinstance(value, int | float | np.number | np.bool_)


def _kept(value):
    """The value, or a copy of a small array, which can be changed in place."""
    small = isinstance(value, np.ndarray) and value.size <= _COMPARED
    return value.copy() if small else value


def _short(value):
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
