"""Numbers from outside a function that its trace has taken as constants."""

import dis
from collections import deque
from copy import copy, deepcopy
from functools import lru_cache, partial
from types import CodeType, FunctionType, ModuleType

import numpy as np

from ..errors import warn_caller
from ..values.types import Any

# Elements of an array whose values are looked at; of a larger one it is the object.
_COMPARED = 1000
_NOTHING = object()
_HOLDERS = list, dict, set, deque, np.ndarray


class Frozen:
    """Global and closure variables that functions refer to, with their values when traced.

    Of a dictionary, a module or another object these are the items and attributes that the code
    names.

    Parameters
    ----------
    *functions : callable
        Also the plain functions that they refer to, and those defined in them; methods and objects
        that are called, with what these hold.

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
        # (where, name) -> [where, name, the value then: a copy of a small array]
        self._variables = {}
        self.holders = []  # lists and the like, into which functions may write
        visited = set()
        for function in functions:
            self._visit(function, visited)

    def __bool__(self):
        return bool(self._variables)

    def _visit(self, function, visited):
        bound = isinstance(function, partial)
        given = [*function.args, *function.keywords.values()] if bound else []
        function, owner = _unwrapped(function)
        if not isinstance(function, FunctionType):
            return
        code = function.__code__
        own, words = _written(code), _words(code)  # own: such as a count of calls
        places: list[Any] = [
            (function.__globals__, name) for name in _names(code, "LOAD_GLOBAL", "LOAD_NAME")
        ]
        places += [*zip(function.__closure__ or (), code.co_freevars), ({"": owner}, "")]
        places = [(place, name) for place, name in places if name not in own]
        # What defaults hold; those that are numbers are parameters.
        given += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        places += [
            (dict(enumerate(given)), i) for i, one in enumerate(given) if not _is_number(one)
        ]
        for place, name in places:  # which grow by what the variables hold
            value = _read(place, name)
            if isinstance(value, _HOLDERS):
                self.holders.append(value)
            if _is_number(value):
                self._variables[id(place), name] = [place, name, _kept(value)]
            elif (key := (code, *_identity(value))) not in visited:
                visited.add(key)
                if _identity(_read(place, name)) != key[1:]:
                    continue  # made anew whenever it is read, maybe without end
                self._visit(value, visited)
                inside = (word for word in words - own if _item(value, word) is not _NOTHING)
                places += [((place, name), word) for word in inside]

    def changed(self):
        """Name, value then and value now of each variable that is a different number now."""
        found = []
        for place, name, before in self._variables.values():
            now = _read(place, name)
            if now is not before and _is_number(now) and not same(before, now):
                found.append((name, before, now))
        return found

    def warn(self, system):
        """Warn once of what has changed; later changes are not checked."""
        if not (changed := self.changed()):
            return
        self._variables = {}
        told = {f"{name} was {_short(a)} and is {_short(b)}": name for name, a, b in changed}
        names = ", ".join(dict.fromkeys(told.values()))
        warn_caller(
            f"{system.name!r} was traced when it was defined, and has kept the numbers of that"
            f" moment: {'; '.join(told)} now. Make {names} a parameter"
            f" ({system.name}({changed[0][0]}=...)), or define it again"
        )


class Holders:
    """Lists and the like outside of a function, with what they held before it was traced."""

    def __init__(self, function):
        found = _holders(Frozen(function).holders, {}).values()
        self._before = [(one, copy(one), _content(one)) for one in found]

    def restored(self):
        """Whether one had changed; all have again what they held."""
        changed = [one for one in self._before if _content(one[0]) != one[2]]
        for holder, before, _ in changed:
            if isinstance(holder, np.ndarray):
                holder[...] = before
            else:
                holder.clear()
                add = holder.extend if hasattr(holder, "extend") else holder.update
                add(before)
        return bool(changed)


def _holders(values, found):
    """Lists and the like among values, and in these, by id."""
    for one in values:
        if isinstance(one, _HOLDERS) and id(one) not in found:
            found[id(one)] = one
            _holders(() if isinstance(one, np.ndarray) else _items(one), found)
    return found


def _items(holder):
    return [*holder, *holder.values()] if isinstance(holder, dict) else holder


def _content(holder):
    """What tells whether other items are in a holder: these are kept, so that no id is reused."""
    return holder.tobytes() if isinstance(holder, np.ndarray) else [*map(id, _items(holder))]


def writes(function):
    """Whether the code of a function assigns to variables or attributes outside of it."""
    function, _ = _unwrapped(function)
    if not isinstance(function, FunctionType):
        return False
    code = function.__code__  # its freevars: without variables of functions in it
    outside = {*_names(code, "STORE_DEREF")} & {*code.co_freevars}
    return bool(outside or _names(code, "STORE_GLOBAL", "STORE_ATTR"))


def _unwrapped(function):
    """The plain function of a partial, a method or an object that is called, and its owner."""
    function = getattr(function, "func", function)
    if not hasattr(function, "__code__"):
        function = getattr(function, "__call__", None)  # noqa: B004
    return getattr(function, "__func__", function), getattr(function, "__self__", None)


def _written(code):
    return {*_names(code, "STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR")}


@lru_cache  # dis takes its time
def _names(code, *operations):
    """Names that operations of code, and of the code in it, load or store."""
    names = [one.argval for one in dis.get_instructions(code) if one.opname in operations]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += _names(constant, *operations)
    return names


def _words(code):
    """Names and strings in code, and in the code in it."""
    inside = (_words(one) for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names, *code.co_consts}.union(*inside)


def _identity(value):
    """Of a method, which is another object whenever it is read, the function and the owner."""
    return id(getattr(value, "__func__", value)), id(getattr(value, "__self__", None))


def _item(holder, name):
    """An item of a dictionary, or an attribute of an object, also of its class."""
    if isinstance(holder, ModuleType):  # which may warn of old names
        holder = vars(holder)
    try:
        return holder.get(name, _NOTHING) if isinstance(holder, dict) else getattr(holder, name)
    except Exception:  # a property may raise anything
        return _NOTHING


def _read(place, name):
    if isinstance(place, tuple):  # within a variable
        return _item(_read(*place), name)
    if isinstance(place, dict):
        return place.get(name, _NOTHING)
    try:
        return place.cell_contents
    except ValueError:  # an empty cell
        return _NOTHING


def _is_number(value):
    if isinstance(value, list | tuple):
        return all(map(_is_number, value))
    own = isinstance(value, np.ndarray | np.generic)
    if own or (hasattr(value, "to_numpy") and getattr(value, "chunks", None) is None):
        kind = getattr(getattr(value, "dtype", None), "kind", "")  # of NumPy; pandas, xarray
        return kind in ("b", "i", "u", "f")  # others, of dask and files, are not in memory
    return isinstance(value, int | float)


def _size(value):
    return sum(map(_size, value)) if isinstance(value, list | tuple) else np.size(value)


def _kept(value):
    """The value, or a copy of a small array or list, which can be changed in place."""
    return deepcopy(value) if _size(value) <= _COMPARED else value


def same(a, b):
    """Whether two numbers, arrays or lists of these are equal; NaN equals NaN."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b or np.array_equal(a, b, equal_nan=True)


def _short(value):
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
