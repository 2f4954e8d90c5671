"""All that a function reads, as a key: functions with equal keys have equal traces."""

import builtins
import math
import re
from functools import lru_cache, partial
from itertools import chain
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace

import numpy as np

from .frozen import names_in
from .numpy_functions import known_functions

_MOST_BYTES = 1 << 17  # of an array
# Whose results depend on nothing but their arguments, of which they cannot tell what is a symbol.
_BUILTINS = """
abs all any bool complex dict divmod enumerate filter float int len list map max min pow range
reversed round set slice sorted sum tuple zip
""".split()  # noqa: SIM905
_OF_NUMPY = """
arange argmax argmin argsort array asarray eye float64 full identity linspace ones pi sort zeros
""".split()  # noqa: SIM905
_PURE = {
    id(getattr(module, name))
    for module, names in (
        (builtins, _BUILTINS),
        (np, [*known_functions(), *_OF_NUMPY]),
        (np.linalg, ["norm"]),
        (math, vars(math)),
    )
    for name in names
    if callable(getattr(module, name, None))
}  # objects that live as long as the interpreter
_MODULES = np, np.linalg, math
# Code that writes, or that may tell what is a symbol: by its class, text or errors.
_REFUSED = """
STORE_GLOBAL STORE_ATTR DELETE_GLOBAL DELETE_ATTR IMPORT_NAME MATCH_CLASS PUSH_EXC_INFO FORMAT_VALUE
FORMAT_SIMPLE FORMAT_WITH_SPEC
""".split()  # noqa: SIM905
_PLAIN = {
    f"__{name}__"
    for name in """
    annotations annotate_func annotations_cache call dataclass_fields dataclass_params dict doc eq
    firstlineno hash init match_args module post_init repr replace static_attributes weakref
    """.split()  # noqa: SIM905
}  # special methods of classes whose objects are looked at
_FORMATS = re.compile("[%{]")


class _Unseen(Exception):
    """It may read more than is looked at here."""


def contents(*values):
    """A key of values, among them functions; None if one may read more than is looked at here.

    Functions are looked at with their variables and the functions in these, and objects of plain
    classes with their attributes and methods; modules other than NumPy and math are not.

    Examples
    --------
    >>> from pyintegrate.trace.contents import contents
    >>> springs = [lambda t, y: -k * y for k in (1.0, 2.0)]
    >>> contents(springs[0]) == contents(springs[1])
    True
    >>> contents(springs[0]) == contents(lambda t, y: -y)
    False
    """
    try:
        return _Contents().all(values)
    except (_Unseen, RecursionError, ValueError):  # ValueError: of an empty cell
        return None


class _Contents:
    def __init__(self):
        self.seen, self.words = {}, {"__call__"}
        self.spaces = []  # modules and classes

    def all(self, values):
        """Keys of values, and of what the code may read of the modules and classes of these."""
        found, size = [*map(self.key, values)], None
        while size != (size := (len(self.spaces), len(self.words))):  # by what was found in them
            for i, own in enumerate(map(vars, self.spaces)):
                names = sorted(self.words & own.keys())
                found += [(i, name, self.key(own[name])) for name in names]
        return tuple(found)

    def key(self, value):
        kind = type(value)
        if id(value) in _PURE:
            return kind, id(value)
        plain = value is None or kind in (bool, int, range)
        if plain or (kind is str and not _FORMATS.search(value)):
            return kind, value
        if kind is float:
            return kind, value.hex()
        if kind in (list, tuple):
            return kind, *map(self.key, value)
        if kind is dict:
            return kind, *map(self.key, chain(*value.items()))
        if kind is np.ndarray or isinstance(value, np.number | np.bool_):
            if value.dtype.kind in "biuf" and value.nbytes <= _MOST_BYTES:
                return kind, value.dtype, value.shape, value.strides, value.tobytes()
        elif kind is FunctionType:
            return self.of_function(value)
        elif kind is partial:
            held = value.func, value.args, value.keywords, vars(value)
            return kind, *map(self.key, held)
        elif kind is ModuleType and value in _MODULES:
            self.look_at(value)
            return kind, value.__name__
        elif kind is MethodType:
            return kind, self.key(value.__func__), self.key(value.__self__)
        elif kind in (property, staticmethod, classmethod):
            return kind, self.key(value.fget if kind is property else value.__func__)
        elif _is_plain(kind):
            if (number := self.number(value)) is not None:
                return kind, number
            for one in kind.__mro__[:-1]:
                self.look_at(one)
            return kind, self.key(vars(value))
        raise _Unseen

    def number(self, value):
        """The number of a function or an object that was seen before."""
        if id(value) in self.seen:
            return self.seen[id(value)]
        self.seen[id(value)] = len(self.seen)
        return None

    def look_at(self, space):
        if space not in self.spaces:
            self.spaces.append(space)

    def of_function(self, function):
        if (number := self.number(function)) is not None:
            return FunctionType, number
        code = function.__code__
        names, words = _of_code(code)
        self.words |= words
        own, others = function.__globals__, function.__builtins__
        if not all(name in own or name in others for name in names):
            raise _Unseen
        held = [own[name] if name in own else others[name] for name in names]
        held += [cell.cell_contents for cell in function.__closure__ or ()]
        held += [function.__defaults__, function.__kwdefaults__, vars(function)]
        return FunctionType, code, *map(self.key, held)


def _is_plain(kind):
    """Whether all that objects of a class do is to have attributes and methods, or be called."""
    names = (name for one in kind.__mro__[:-1] for name in vars(one) if name.startswith("__"))
    return kind is SimpleNamespace or (type(kind) is type and _PLAIN.issuperset(names))


@lru_cache
def _of_code(code):
    """The global variables that code reads, and all names in it."""
    words, texts = _words_and_texts(code)
    odd = {*names_in(code, "STORE_DEREF")} & {*code.co_freevars} or names_in(code, *_REFUSED)
    odd = odd or "dtype" in words or any(word.startswith("__") for word in words)
    if odd or _FORMATS.search(texts):
        raise _Unseen
    return sorted({*names_in(code, "LOAD_GLOBAL", "LOAD_NAME")}), words


def _words_and_texts(code):
    words, texts = {*code.co_names}, ""
    for one in code.co_consts:
        more = _words_and_texts(one) if isinstance(one, CodeType) else ((), repr(one))
        words.update(more[0])
        texts += more[1]
    return words, texts
