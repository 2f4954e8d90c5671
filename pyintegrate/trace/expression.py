"""Symbols and vectors of them, with which a traced function computes in place of numbers.

A Symbol is one real number (or a truth value), a Vector an array of symbols. NumPy's functions of
them arrive here through ``__array_ufunc__`` and ``__array_function__``.
"""

from contextlib import suppress
from functools import partialmethod
from numbers import Rational

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..values.checks import has_unit
from .elementary import FUNCTIONS
from .errors import TraceError

NO_TRACING = (
    "of a force: @pi.acceleration and @pi.rhs with trace=False call it, slowly, with NumPy"
    " arrays whose last axis is the batch (np.vectorize(f, otypes=[float])(x) lends scalar code to"
    " them)"
)
TABLE = (
    "np.interp(t, times, values) looks up a table, drive={'u': values} gives a parameter one number"
    " for each step, and loops are over plain ranges: their ends come from outside of the function"
)


def unknown(name):
    return TraceError(
        f"{name} is not known to the tracer", f"write it with functions that are, or {NO_TRACING}"
    )


def node_of(graph, value):
    """The node of a symbol, a number or a truth value."""
    if isinstance(value, Symbol):
        if value.node.graph is not graph:
            raise TraceError(
                "it uses a symbol of another call", "keep no results outside of the function"
            )
        return value.node
    if type(value) in (float, np.float64):
        return graph.constant(value)
    if isinstance(value, Rational) and not isinstance(value, bool):
        with suppress(OverflowError):
            value = float(value)  # 30! and fractions are no numbers of NumPy
    array = np.asarray(value)
    if array.ndim == 0 and array.dtype == object and isinstance(array[()], Symbol):
        return node_of(graph, array[()])
    if array.ndim or array.dtype.kind not in "biuf":
        kind = "a complex number" if array.dtype.kind == "c" else repr(value)
        raise TraceError(
            f"it computes with {kind}, which is not real",
            "use real numbers only; a complex one is two components, its real and imaginary part",
        )
    if array.dtype.kind == "b":
        zero = graph.constant(0.0)
        return graph.make("equal" if value else "not_equal", zero, zero)
    return graph.constant(float(array))


def graph_of(values):
    """The graph of the first symbol among values, which may be nested; None without one."""
    for value in values:
        if isinstance(value, Symbol):
            return value.node.graph
        if isinstance(value, Vector):
            value = value.array
        if isinstance(value, np.ndarray):
            if value.dtype != object:
                continue
            value = value.ravel().tolist()
        if isinstance(value, list | tuple) and (graph := graph_of(value)) is not None:
            return graph
    return None


def plain(value):
    """An object array of symbols and numbers, or the number itself."""
    if isinstance(value, Vector):
        return value.array
    if has_unit(value):
        raise TraceError(f"it computes with {value!r}, which has a unit", "take its number")
    if isinstance(value, list | tuple) and graph_of(value) is not None:
        return np.array([plain(item) for item in value], dtype=object)
    return value


def wrapped(result):
    """Arrays of symbols as Vectors; those of one element without axes as the symbol."""
    if isinstance(result, np.ndarray) and result.dtype == object:
        return result[()] if result.ndim == 0 else Vector(result)
    if isinstance(result, list | tuple):
        return type(result)(wrapped(item) for item in result)
    return result


def apply(name, *values):
    """A function of elementary.py, broadcast over arrays."""
    function = FUNCTIONS.get(name)
    graph = graph_of(values)
    if function is None:
        raise unknown(f"np.{name}" if hasattr(np, name) else name)
    if graph is None:  # vectors of numbers
        result = getattr(np, name)(*(np.asarray(plain(v)).astype(float) for v in values))
        return wrapped(np.asarray(result, dtype=object))

    def one(*items):
        return Symbol(function(*(node_of(graph, item) for item in items)))

    if not any(isinstance(v, (Vector, np.ndarray, list, tuple)) for v in values):
        return one(*values)
    arrays = [np.asarray(plain(v), dtype=object) for v in values]
    try:
        graph.count(np.broadcast(*arrays).size)
        return wrapped(np.asarray(np.frompyfunc(one, len(arrays), 1)(*arrays), dtype=object))
    except ValueError as error:
        raise TraceError(f"np.{name}: {error}", "check the shapes") from None


# NumPy's functions on symbols; numpy_functions.py fills this dictionary.
ON_SYMBOLS = {}


class Operators(NDArrayOperatorsMixin):
    """Arithmetic and comparisons of symbols and vectors: NumPy's ufuncs."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        name = ufunc.__name__
        if out is not None:
            if out[0] is not inputs[0] or not isinstance(out[0], Operators):
                raise TraceError(f"np.{name}(out=...) writes into it", "use what it returns")
            result = ufunc(*inputs)  # of x += ..., and the like
            return out[0].update(result) if isinstance(out[0], Vector) else result
        if name in ("matmul", "vecdot") and method == "__call__":
            return ON_SYMBOLS["matrix_product"](name, *inputs)
        if name == "divmod" and method == "__call__":
            a, b = inputs
            return a // b, a % b
        if method == "reduce":
            return ON_SYMBOLS["reduced"](name, *inputs, **options)
        if method != "__call__" or options:
            raise unknown(f"np.{name} with {method if not options else list(options)}")
        return apply(name, *inputs)

    def __array_function__(self, function, types, arguments, options):
        return ON_SYMBOLS["call"](function, arguments, options)

    def conjugate(self):
        return self

    @property
    def real(self):
        return self


class Symbol(Operators):
    """One real number, or one truth value, that is unknown until the system runs.

    Examples
    --------
    >>> from pyintegrate.trace.graph import Graph
    >>> from pyintegrate.trace.expression import Symbol
    >>> graph = Graph(2, 1)
    >>> Symbol(graph.state(0)) * 2.0
    <symbol: n2 = multiply(n0, n1)>
    """

    __slots__ = ("node",)
    shape = ()
    ndim = 0
    size = 1

    def __init__(self, node):
        self.node = node

    def __bool__(self):
        raise self._refused(
            "it decides by the truth of a symbol (if, while, and, or, not, min, max, or a"
            " comparison of an array from np.array([...]))",
            "use np.where(condition, a, b), & | ~, np.minimum, np.maximum, and np.stack in the"
            f" place of np.array; {NO_TRACING}",
        )

    def _refused(self, problem, cure):
        """The error, which its graph keeps: a function that catches it has lost a number."""
        self.node.graph.refused = TraceError(problem, cure)
        return self.node.graph.refused

    def _needs_a_number(self, what):
        raise self._refused(
            f"it needs {what} where the value is known only when the system runs",
            TABLE
            if "index" in what
            else "use NumPy's functions (np.sin, not math.sin), gather"
            " components with np.stack([...]) or a list, begin with np.zeros_like(x) instead of"
            f" np.zeros(n), look up tables with np.interp; {NO_TRACING}",
        )

    def __round__(self, digits=0):
        if digits:
            raise unknown("round(x, digits)")
        return apply("rint", self)

    def __iter__(self):
        raise self._no_components()

    def __getitem__(self, index):
        if index is ... or (isinstance(index, tuple) and not index):
            return self
        raise self._no_components()

    def _no_components(self):
        return TraceError(
            "it takes a component of a scalar",
            "write x, not x[0], for a position or a velocity of one component; in a definition"
            " dim= or dof= tells how many a state has, and an array as its default a parameter",
        )

    def _applied(self, name, *others):
        return apply(name, self, *others)

    def __repr__(self):
        return f"<symbol: {self.node!r}>"


_NUMBERS = {
    "float": "a number (float(x), math.sin(x), an array of floats)",
    "complex": "a number (complex(x))",
    "int": "a whole number (int(x))",
    "index": "a whole number (an index, range(x))",
}


for _name in FUNCTIONS:  # for np.sqrt of an array of objects NumPy calls x.sqrt()
    if not hasattr(Symbol, _name):
        setattr(Symbol, _name, partialmethod(Symbol._applied, _name))
for _name in ("floor", "ceil", "trunc"):
    setattr(Symbol, f"__{_name}__", partialmethod(Symbol._applied, _name))
for _name, _what in _NUMBERS.items():
    setattr(Symbol, f"__{_name}__", partialmethod(Symbol._needs_a_number, _what))


def _of_its_array(name):
    return lambda self, *args, **options: Vector(getattr(self.array, name)(*args, **options))


class Vector(Operators):
    """An array of symbols. Those that a function gets as arguments are read-only.

    Parameters
    ----------
    array : ndarray of object
        Symbols and numbers.
    """

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    shape = property(lambda self: self.array.shape)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    T = property(lambda self: Vector(self.array.T))
    flat = property(lambda self: iter(self))
    copy, reshape, ravel, flatten, transpose = map(
        _of_its_array, ("copy", "reshape", "ravel", "flatten", "transpose")
    )

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        return (wrapped(np.asarray(item, dtype=object)) for item in self.array)

    def __getitem__(self, index):
        return wrapped(self.array[_plain_index(index)])

    def __setitem__(self, index, value):
        if not self.array.flags.writeable:
            raise TraceError("it changes its arguments", "work on a copy: x = x.copy()")
        if self.size and _are_truths(self.array) and not _are_truths(value):
            raise TraceError(
                "it writes a number into an array of truth values, which NumPy makes one of them",
                "begin with numbers: np.where(condition, 1.0, 0.0)",
            )
        self.array[_plain_index(index)] = plain(value)

    def __array__(self, dtype=None, copy=None):
        if dtype is not None and np.dtype(dtype) != object:
            return np.array(self.array.tolist(), dtype)  # raises: float(symbol)
        return np.array(self.array) if copy else self.array

    def __bool__(self):
        return any(bool(item) for item in self.array.flat)  # raises, of a symbol

    def update(self, result):
        if not self.array.flags.writeable:
            raise TraceError("it changes its arguments", "write x = x + ..., not x += ...")
        self.array[...] = plain(result)
        return self

    def astype(self, dtype, **_):
        if np.dtype(dtype).kind != "f":
            raise unknown(f"astype({dtype})")
        return self.copy()

    def tolist(self):
        return [item.tolist() if isinstance(item, Vector) else item for item in self]

    def __repr__(self):
        return f"<vector of symbols, shape {self.shape}>"


def _are_truths(values):
    """Whether an array holds truth values alone, as those of NumPy's type bool."""
    return all(
        one.node.is_mask if isinstance(one, Symbol) else isinstance(one, bool | np.bool_)
        for one in np.asarray(plain(values), dtype=object).flat
    )


def _plain_index(index):
    """Indices are numbers: a symbol among them raises, through ``__index__``."""
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, Operators):
            raise TraceError(
                "it selects components by a symbol",
                f"use np.where(condition, a, b) on all of them; {NO_TRACING}",
            )
    return index


for _name in """
all any clip cumprod cumsum diagonal dot max mean min prod repeat round squeeze std sum swapaxes
take trace var
""".split():  # noqa: SIM905
    setattr(Vector, _name, partialmethod(getattr(np, _name)))
