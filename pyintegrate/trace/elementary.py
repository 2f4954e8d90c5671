"""NumPy's functions on symbols, one element at a time.

Each function takes the graph and nodes and returns a node. Functions that are no operation of the
byte code themselves are composed of operations, to within a few ulp of NumPy.
"""

from __future__ import annotations

import math

import numpy as np

from .errors import TraceError
from .graph import OPERATIONS

MOST_POWER = 64  # up to here x**n is a product


def real(graph, node):
    """A truth value as 1 or 0."""
    if node.is_mask:
        return graph.make("where", node, graph.constant(1.0), graph.constant(0.0))
    return node


def mask(graph, node):
    """A number as a truth value."""
    return node if node.is_mask else graph.make("not_equal", node, graph.constant(0.0))


def _operation(name):
    arity = OPERATIONS[name][1]

    def apply(graph, *nodes):
        if len(nodes) != arity:
            raise TraceError(f"{name} takes {arity} arguments, got {len(nodes)}", "see NumPy's")
        return graph.make(name, *(real(graph, node) for node in nodes))

    return apply


def _logical(name):
    def apply(graph, *nodes):
        return graph.make(name, *(mask(graph, node) for node in nodes))

    return apply


def _bitwise(name, symbol):
    def apply(graph, *nodes):
        if not all(node.is_mask for node in nodes):
            raise TraceError(
                f"{symbol} works on comparisons, not on numbers",
                f"write (a > 0) {symbol} (b > 0), with brackets",
            )
        return graph.make(name, *nodes)

    return apply


def where(graph, condition, a, b):
    """a where the condition holds, else b; truth values if both are."""
    condition = mask(graph, condition)
    if a.is_mask and b.is_mask:
        return graph.make(
            "logical_or",
            graph.make("logical_and", condition, a),
            graph.make("logical_and", graph.make("logical_not", condition), b),
        )
    return graph.make("where", condition, real(graph, a), real(graph, b))


def power(graph, x, y):
    """x**y; products for integer exponents, and a root for half-integer ones."""
    x, y = real(graph, x), real(graph, y)
    if not y.is_constant:
        return graph.make("power", x, y)
    twice = 2 * y.value
    if not (math.isfinite(twice) and twice == int(twice) and abs(y.value) <= MOST_POWER):
        return graph.make("power", x, y)
    if y.value == 0:
        return graph.constant(1.0)
    if y.value == -0.5:
        return graph.divide(graph.constant(1.0), graph.make("sqrt", x))
    whole, half = divmod(abs(int(twice)), 2)
    result = graph.make("sqrt", x) if half else None
    square = x
    while whole:
        if whole & 1:
            result = square if result is None else graph.multiply(result, square)
        whole >>= 1
        if whole:
            square = graph.multiply(square, square)
    return graph.divide(graph.constant(1.0), result) if y.value < 0 else result


def _times(factor):
    return lambda graph, x: graph.scaled(real(graph, x), factor)


def floor_divide(graph, x, y):
    return graph.make("floor", graph.divide(real(graph, x), real(graph, y)))


def remainder(graph, x, y):
    """x - y floor(x/y), with the sign of y; a quotient rounded up to an integer is corrected."""
    x, y = real(graph, x), real(graph, y)
    zero = graph.constant(0.0)
    rest = graph.subtract(x, graph.multiply(floor_divide(graph, x, y), y))
    wrong = graph.make(
        "logical_and",
        graph.make("not_equal", rest, zero),
        graph.make("logical_xor", _less(graph, rest, zero), _less(graph, y, zero)),
    )
    return graph.make("where", wrong, graph.add(rest, y), rest)


def _less(graph, a, b):
    return graph.make("less", a, b)


def truncate(graph, x):
    x = real(graph, x)
    return graph.make("copysign", graph.make("floor", graph.make("absolute", x)), x)


def fmod(graph, x, y):
    x, y = real(graph, x), real(graph, y)
    rest = remainder(graph, graph.make("absolute", x), graph.make("absolute", y))
    return graph.make("copysign", rest, x)


def _ceil(graph, x):
    return graph.negative(graph.make("floor", graph.negative(real(graph, x))))


def _fmin(graph, a, b):
    return _without_nan(graph, "minimum", a, b)


def _fmax(graph, a, b):
    return _without_nan(graph, "maximum", a, b)


def _without_nan(graph, name, a, b):
    a, b = real(graph, a), real(graph, b)
    least = graph.make(name, a, b)
    inner = graph.make("where", graph.make("not_equal", b, b), a, least)
    return graph.make("where", graph.make("not_equal", a, a), b, inner)


def _compare_size(name):
    def apply(graph, x):
        size = graph.make("absolute", real(graph, x))
        return graph.make(name, size, graph.constant(math.inf))

    return apply


def _arcsinh(graph, x):
    """sign(x) log1p(|x| + x^2 / (1 + sqrt(1 + x^2)))"""
    x = real(graph, x)
    one, size, square = graph.constant(1.0), graph.make("absolute", x), graph.multiply(x, x)
    root = graph.make("sqrt", graph.add(one, square))
    inside = graph.add(size, graph.divide(square, graph.add(one, root)))
    return graph.make("copysign", graph.make("log1p", inside), x)


def _arccosh(graph, x):
    """log1p(s + sqrt(s (s + 2))), s = x - 1"""
    s = graph.subtract(real(graph, x), graph.constant(1.0))
    root = graph.make("sqrt", graph.multiply(s, graph.add(s, graph.constant(2.0))))
    return graph.make("log1p", graph.add(s, root))


def _arctanh(graph, x):
    """sign(x) log1p(2 |x| / (1 - |x|)) / 2"""
    x = real(graph, x)
    size = graph.make("absolute", x)
    ratio = graph.divide(graph.scaled(size, 2.0), graph.subtract(graph.constant(1.0), size))
    return graph.make("copysign", graph.scaled(graph.make("log1p", ratio), 0.5), x)


def _heaviside(graph, x, at_zero):
    x, zero = real(graph, x), graph.constant(0.0)
    step = graph.make("where", _less(graph, x, zero), zero, graph.constant(1.0))
    step = graph.make("where", graph.make("equal", x, zero), real(graph, at_zero), step)
    return graph.make("where", graph.make("not_equal", x, x), x, step)


def _logaddexp(graph, x, y):
    """max(x, y) + log1p(exp(-|x - y|)); x + log 2 if they are equal, also for infinities."""
    x, y = real(graph, x), real(graph, y)
    apart = graph.make("absolute", graph.subtract(x, y))
    rest = graph.make("log1p", graph.make("exp", graph.negative(apart)))
    same = graph.add(x, graph.constant(math.log(2)))
    most = graph.add(graph.make("maximum", x, y), rest)
    return graph.make("where", graph.make("equal", x, y), same, most)


def _equality(name, opposite):
    """== and !=, also for two truth values."""

    def apply(graph, a, b):
        if a.is_mask and b.is_mask:
            either = graph.make("logical_xor", a, b)
            return graph.make("logical_not", either) if opposite else either
        return graph.make(name, real(graph, a), real(graph, b))

    return apply


# By the name of NumPy's ufunc.
FUNCTIONS = {
    **{
        name: _operation(name)
        for name in OPERATIONS
        if hasattr(np, name) and name not in ("copy", "where") and "logical" not in name
    },
    **{f"logical_{name}": _logical(f"logical_{name}") for name in ("and", "or", "xor", "not")},
    "where": where,
    "equal": _equality("equal", True),
    "not_equal": _equality("not_equal", False),
    "bitwise_and": _bitwise("logical_and", "&"),
    "bitwise_or": _bitwise("logical_or", "|"),
    "bitwise_xor": _bitwise("logical_xor", "^"),
    "invert": _bitwise("logical_not", "~"),
    "greater": lambda graph, a, b: graph.make("less", real(graph, b), real(graph, a)),
    "greater_equal": lambda graph, a, b: graph.make("less_equal", real(graph, b), real(graph, a)),
    "positive": real,
    "conjugate": real,
    "fabs": _operation("absolute"),
    "power": power,
    "float_power": power,
    "square": lambda graph, x: power(graph, x, graph.constant(2.0)),
    "reciprocal": lambda graph, x: graph.divide(graph.constant(1.0), real(graph, x)),
    "floor_divide": floor_divide,
    "remainder": remainder,
    "fmod": fmod,
    "trunc": truncate,
    "ceil": _ceil,
    "fmin": _fmin,
    "fmax": _fmax,
    "isnan": lambda graph, x: graph.make("not_equal", real(graph, x), real(graph, x)),
    "isinf": _compare_size("equal"),
    "isfinite": _compare_size("less"),
    "exp2": lambda graph, x: graph.make("power", graph.constant(2.0), real(graph, x)),
    "log2": lambda graph, x: graph.scaled(graph.make("log", real(graph, x)), 1 / math.log(2)),
    "log10": lambda graph, x: graph.scaled(graph.make("log", real(graph, x)), 1 / math.log(10)),
    "arcsinh": _arcsinh,
    "arccosh": _arccosh,
    "arctanh": _arctanh,
    "radians": _times(math.pi / 180),
    "deg2rad": _times(math.pi / 180),
    "degrees": _times(180 / math.pi),
    "rad2deg": _times(180 / math.pi),
    "heaviside": _heaviside,
    "logaddexp": _logaddexp,
}
