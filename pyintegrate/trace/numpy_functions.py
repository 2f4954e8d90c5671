"""NumPy's functions of whole arrays, on vectors of symbols.

Functions that rearrange components, or consist of sums and products, are NumPy's own, on arrays of
objects; the others are written here.
"""

import inspect

import numpy as np

from .elementary import FUNCTIONS
from .errors import TraceError
from .expression import ON_SYMBOLS, Symbol, Vector, apply, graph_of, plain, unknown, wrapped

# For these, NumPy's own code needs only + - * / and roots of the elements.
_BY_NUMPY = """
append array_split atleast_1d atleast_2d block broadcast_arrays broadcast_to choose column_stack
compress concatenate convolve copy cross cumprod cumsum delete diag diagflat diagonal diff dot
dsplit dstack einsum expand_dims flip fliplr flipud hsplit hstack inner insert kron mean
meshgrid moveaxis ndim outer pad polyval prod ravel repeat reshape roll rollaxis rot90 shape
size split squeeze stack std sum swapaxes take tensordot tile trace transpose trapezoid tril
triu vander var vdot vsplit vstack
""".split()  # noqa: SIM905


# These count truth values.
_SUMS = {np.cumsum, np.mean, np.sum, np.trace}


def _as_object(value):
    """Symbols as arrays of objects, at any depth, so that NumPy's own code runs."""
    if isinstance(value, Symbol):
        array = np.empty((), dtype=object)
        array[()] = value
        return array
    if isinstance(value, list | tuple):
        return type(value)(_as_object(item) for item in value)
    return plain(value)


def call(function, arguments, options):
    """A NumPy function on symbols."""
    if options.get("out") is not None:
        raise TraceError(
            f"np.{function.__name__}(out=...) writes into an array", "use what it returns"
        )
    if own := _OWN.get(function):
        return own(*arguments, **options)
    if function not in _NATIVE:
        raise unknown(f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1))
    if function in _SUMS and arguments:
        arguments = (_numbers(arguments[0]), *arguments[1:])
    options = {name: _as_object(value) for name, value in options.items()}
    return wrapped(function(*(_as_object(value) for value in arguments), **options))


def _numbers(values):
    """Truth values as 1 or 0, numbers as they are."""
    return wrapped(np.asarray(_as_object(values), dtype=object)) * 1.0


def matrix_product(name, a, b):
    """a @ b: NumPy's sums of products of objects."""
    a, b = (np.asarray(plain(value), dtype=object) for value in (a, b))
    if name == "vecdot":
        return wrapped(np.asarray(np.sum(a * b, axis=-1), dtype=object))
    if graph := graph_of([a, b]):
        graph.count(max(a.size, b.size))
    return wrapped(np.asarray(np.matmul(a, b), dtype=object))


def reduced(name, values, axis=0, dtype=None, keepdims=False, initial=None, where=True):
    """ufunc.reduce: one element after the other."""
    if name == "add":
        values = _numbers(values)
    elif name.startswith("logical"):  # also of one number
        values = apply("logical_not", apply("logical_not", values))
    array = np.asarray(plain(values), dtype=object)
    if where is not True or dtype is not None:
        raise unknown(f"np.{name}.reduce with where= or dtype=")
    given = range(array.ndim) if axis is None else np.atleast_1d(axis).tolist()
    axes = sorted({int(a) % array.ndim for a in given}) if array.ndim else []
    if not axes:
        return wrapped(array)
    rest = [a for a in range(array.ndim) if a not in axes]
    rows = array.transpose(*axes, *rest).reshape(-1, *(array.shape[a] for a in rest))
    if not len(rows) and initial is None:
        raise TraceError(f"np.{name} of no elements", "check the shapes")
    result = initial
    for row in rows:
        row = wrapped(np.asarray(row, dtype=object))
        result = row if result is None else _pair(name, result, row)
    return np.expand_dims(result, axes) if keepdims else result


def _pair(name, a, b):
    """A function of two arguments, both of which may be plain numbers."""
    return apply(name, a, b) if graph_of((a, b)) is not None else getattr(np, name)(a, b)


# ---- written here --------------------------------------------------------------------------------
def _where(condition, *choices):
    if len(choices) != 2:
        raise TraceError("np.where(condition) gives indices", "use np.where(condition, a, b)")
    return apply("where", condition, *choices)


def _norm(x, ord=None, axis=None, keepdims=False):
    x = plain(x)
    axes = np.ndim(x) if axis is None else np.size(axis)
    if ord not in (None, 2) or (axes != 1 and ord is not None):
        raise unknown(f"np.linalg.norm with ord={ord!r}")
    return np.sqrt(np.sum(Vector(x * x), axis=axis, keepdims=keepdims))


def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is not None:
        a = _pair("maximum", a, low)
    return a if high is None else _pair("minimum", a, high)


def _sinc(x):
    """sin(pi x) / (pi x); about 0 the series, whose derivatives do not cancel."""
    near = np.abs(x) < 2.0**-10  # there the next term is 2e-19
    angle = np.where(near, 1.0, np.pi * x)
    series = np.polyval([1 / 120, -1 / 6, 1.0], (np.pi * x) ** 2)
    return np.where(near, series, np.sin(angle) / angle)


def _reduction(name):
    def reduce(a, axis=None, keepdims=False):
        return reduced(name, a, axis, keepdims=keepdims)

    return reduce


def _interp(x, xp, fp, left=None, right=None, period=None):
    """Piecewise linear between knots that are numbers.

    The slopes and the choice of the interval are NumPy's; knots must increase.
    """
    if period is not None:
        raise unknown("np.interp with period=")
    if graph_of((xp,)) is not None:
        raise TraceError("np.interp has knots that are symbols", "use constant knots xp")
    xp, fp = np.asarray(xp, dtype=float), np.asarray(plain(fp))
    if xp.ndim != 1 or fp.shape != xp.shape or not xp.size:
        told = f"np.interp has knots xp of shape {xp.shape} and values fp of shape {fp.shape}"
        raise TraceError(told, "give one value for each knot")
    if not np.all(np.diff(xp) > 0):
        raise TraceError("np.interp has knots xp that do not increase", "sort them, fp with them")
    result = fp[0] if left is None else left
    for i in range(len(xp) - 1):
        slope = (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i])
        result = np.where(x >= xp[i], slope * (x - xp[i]) + fp[i], result)
    last = fp[-1] if right is None else right
    result = np.where(x > xp[-1], last, np.where(x == xp[-1], fp[-1], result))
    return np.where(np.isnan(x), x, result)


def _select(condlist, choicelist, default=0.0):
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = np.where(condition, choice, result)
    return result


def _piecewise(x, condlist, funclist, *arguments, **options):
    condlist = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    values = [f(x, *arguments, **options) if callable(f) else f for f in funclist]
    if len(values) not in (len(condlist), len(condlist) + 1):
        raise TraceError("np.piecewise: functions do not match conditions", "give one for each")
    default = values.pop() if len(values) > len(condlist) else 0.0
    return _select(condlist[::-1], values[::-1], default)  # the last that holds


def _full_like(a, fill_value, dtype=None, order="K", subok=True, *, shape=None):
    shape = np.shape(plain(a)) if shape is None else shape
    if dtype is None and any(one.node.is_mask for one in np.ravel(a) if isinstance(one, Symbol)):
        dtype = bool
    if np.dtype(dtype).kind not in "fO":  # symbols do not go into it, and NumPy says so
        return np.full(shape, fill_value, dtype)
    filled = np.empty(shape, dtype=object)
    filled[...] = plain(fill_value)
    return Vector(filled)


def _filled(value):
    return lambda a, *arguments, **options: _full_like(a, value, *arguments, **options)


def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if posinf is None or neginf is None:
        raise unknown("np.nan_to_num without posinf= and neginf=")
    x = np.where(np.isnan(x), nan, x)
    return np.where(x == np.inf, posinf, np.where(x == -np.inf, neginf, x))


def _round(a, decimals=0):
    if decimals:
        raise unknown(f"np.round to {decimals} digits")
    return np.rint(a)


_OWN = {
    np.where: _where,
    np.linalg.norm: _norm,
    np.clip: _clip,
    np.sinc: _sinc,
    np.fix: np.trunc,
    np.max: _reduction("maximum"),
    np.min: _reduction("minimum"),
    np.all: _reduction("logical_and"),
    np.any: _reduction("logical_or"),
    np.amax: _reduction("maximum"),
    np.amin: _reduction("minimum"),
    np.interp: _interp,
    np.select: _select,
    np.piecewise: _piecewise,
    np.zeros_like: _filled(0.0),
    np.empty_like: _filled(0.0),
    np.ones_like: _filled(1.0),
    np.full_like: _full_like,
    np.nan_to_num: _nan_to_num,
    np.round: _round,
}
_NATIVE = {getattr(np, name) for name in _BY_NUMPY if hasattr(np, name)}


def known_functions():
    """Names of NumPy's functions that can be traced, for the documentation.

    Examples
    --------
    >>> from pyintegrate.trace.numpy_functions import known_functions
    >>> "interp" in known_functions()
    True
    """
    whole = {f.__name__ for f in (*_OWN, *_NATIVE) if not inspect.isclass(f)}
    return sorted({*FUNCTIONS, *whole})


ON_SYMBOLS.update(call=call, matrix_product=matrix_product, reduced=reduced)
