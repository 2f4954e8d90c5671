"""Numbers from outside a function that its trace has taken as constants."""

import dis
import sys
import warnings
from types import CodeType, FunctionType

import numpy as np

from ..values.types import Any

_PACKAGE = __package__.partition(".")[0]
_COMPARED = (
    1000  # elements of an array whose values are looked at; of a larger one it is the object
)
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
        self._seen: dict[
            tuple[int, str], list[Any]
        ] = {}  # (where, name) -> [where, name, value, bytes of a small array]
        visited = set()
        for function in functions:
            self._visit(function, visited)
        self._variables = list(self._seen.values())
        del self._seen
        self._arrange()

    def __bool__(self):
        return bool(self._variables)

    def _arrange(self):
        """Prepare the data for ``untouched``, which every run pays: 0.1 microseconds per number."""
        variables = self._variables
        self._globals = [tuple(v[:3]) for v in variables if isinstance(v[0], dict)]
        self._cells = [(v[0], v[2]) for v in variables if not isinstance(v[0], dict)]
        self._arrays = [(v[2], v[3]) for v in variables if v[3] is not None]

    def untouched(self):
        """Whether all are the same objects, and the arrays hold the same numbers."""
        try:
            for place, name, value in self._globals:
                if place.get(name) is not value:
                    return False
            for cell, value in self._cells:
                if cell.cell_contents is not value:
                    return False
        except ValueError:  # a variable was deleted
            return False
        for array, kept in self._arrays:  # noqa: SIM110  (twice as fast)
            if array.tobytes() != kept:
                return False
        return True

    def _visit(self, function, visited):
        if not isinstance(function, FunctionType) or function in visited:
            return
        visited.add(function)
        names, free = _names(function.__code__)
        places: list[tuple[Any, str]] = [(function.__globals__, name) for name in names]
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        places += [(cells[name], name) for name in free if name in cells]
        for place, name in places:
            value = _read(place, name)
            if _is_number(value):
                self._seen[id(place), name] = [place, name, value, _bytes(value)]
            elif isinstance(value, FunctionType):
                self._visit(value, visited)

    def changed(self):
        """Name, value then and value now of each variable that is a different number now."""
        found = []
        for variable in self._variables:
            place, name, value, kept = variable
            now = _read(place, name)
            if now is value and (kept is None or now.tobytes() == kept):
                continue
            if _is_number(now):
                before = value if kept is None else _from_bytes(value, kept)
                if not np.array_equal(before, now, equal_nan=True):
                    found.append((name, before, now))
                else:
                    variable[2] = now  # the same number as another object
        self._arrange()
        return found

    def warn(self, system):
        """Warn once of what has changed; later changes are not checked."""
        if self.untouched() or not (changed := self.changed()):
            return
        self._variables = []
        self._arrange()
        told = "; ".join(f"{name} was {_short(a)} and is {_short(b)}" for name, a, b in changed)
        names = ", ".join(name for name, *_ in changed)
        level = 2
        while sys._getframe(level - 1).f_globals.get("__name__", "").startswith(_PACKAGE):
            level += 1
        warnings.warn(
            f"{system.name!r} was traced when it was defined, and has kept the numbers of that"
            f" moment: {told} now. Make {names} a parameter ({system.name}({changed[0][0]}=...)),"
            " or define it again",
            UserWarning,
            stacklevel=level,
        )


def _names(code):
    """Names of the globals, and of the free variables, that code and the code in it loads."""
    names, free = set(), set(code.co_freevars)
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)[0]
    return names, free


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


def _bytes(value):
    """The elements of a small array, which can be changed in place."""
    if isinstance(value, np.ndarray) and value.size <= _COMPARED:
        return value.tobytes()
    return None


def _from_bytes(array, kept):
    """The array as it was when its bytes were copied."""
    return np.frombuffer(kept, array.dtype).reshape(array.shape)


def _short(value):
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
