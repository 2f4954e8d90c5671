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
    """x**y; products for integer exponents, and a root for half-integer ones, 0 for x = -0."""
    x, y = real(graph, x), real(graph, y)
    if not y.is_constant:
        return graph.make("power", x, y)
    twice = 2 * y.value
    if not (math.isfinite(twice) and twice == int(twice) and abs(y.value) <= MOST_POWER):
        return graph.make("power", x, y)
    if y.value == 0:
        return graph.constant(1.0)
    whole, half = divmod(abs(int(twice)), 2)
    # The root of -0 is -0, which a further factor x makes 0; NumPy's x**0.5 is its sqrt.
    signed = whole & 1 or y.value == 0.5
    root = graph.make("sqrt", x if signed else graph.add(x, graph.constant(0.0))) if half else None
    result, square = root, x
    while whole:
        if whole & 1:
            result = square if result is None else graph.multiply(result, square)
        whole >>= 1
        if whole:
            square = graph.multiply(square, square)
    return graph.divide(graph.constant(1.0), result) if y.value < 0 else result


def _times(factor):
    return lambda graph, x: graph.scaled(real(graph, x), factor)


def _division(graph, x, y):
    """The quotient rounded down, before it is rounded, and the remainder, as NumPy has them."""
    x, y, zero = real(graph, x), real(graph, y), graph.constant(0.0)
    rest = graph.make("fmod", x, y)
    none = graph.make("equal", rest, zero)
    other = graph.make("logical_xor", _less(graph, rest, zero), _less(graph, y, zero))
    other = graph.make("logical_and", graph.make("logical_not", none), other)
    up = graph.make("where", none, graph.make("copysign", zero, y), rest)
    down = graph.make("where", other, graph.constant(1.0), zero)
    quotient = graph.subtract(graph.divide(graph.subtract(x, rest), y), down)
    return quotient, graph.make("where", other, graph.add(rest, y), up)


def floor_divide(graph, x, y):
    """The quotient of x without its remainder, to the nearest integer; x / y where y = 0."""
    x, y, zero = real(graph, x), real(graph, y), graph.constant(0.0)
    quotient, ratio = _division(graph, x, y)[0], graph.divide(x, y)
    whole = graph.make("floor", quotient)
    above = _less(graph, graph.constant(0.5), graph.subtract(quotient, whole))
    whole = graph.make("where", above, graph.add(whole, graph.constant(1.0)), whole)
    none = graph.make("equal", whole, zero)
    whole = graph.make("where", none, graph.make("copysign", zero, ratio), whole)
    return graph.make("where", graph.make("equal", y, zero), ratio, whole)


def remainder(graph, x, y):
    """The rest of a division that is rounded down: it has the sign of y."""
    return _division(graph, x, y)[1]


def _less(graph, a, b):
    return graph.make("less", a, b)


def truncate(graph, x):
    x = real(graph, x)
    return graph.make("copysign", graph.make("floor", graph.make("absolute", x)), x)


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
    """sign(x) log1p(|x| + x^2 / (1 + sqrt(1 + x^2))), or log(2 |x|) where x^2 overflows"""
    x = real(graph, x)
    one, size, square = graph.constant(1.0), graph.make("absolute", x), graph.multiply(x, x)
    root = graph.make("sqrt", graph.add(one, square))
    inside = graph.add(size, graph.divide(square, graph.add(one, root)))
    safe = graph.make("log1p", inside)
    return graph.make("copysign", _or_far(graph, _finite(graph, square), safe, size), x)


def _arccosh(graph, x):
    """log1p(s + sqrt(s (s + 2))), s = x - 1 >= 0, or log(2 s) where the product overflows"""
    s = graph.subtract(real(graph, x), graph.constant(1.0))
    square = graph.multiply(s, graph.add(s, graph.constant(2.0)))
    near = graph.make("log1p", graph.add(s, graph.make("sqrt", square)))
    above = graph.make("less_equal", graph.constant(0.0), s)
    return _or_far(graph, graph.make("logical_and", above, _finite(graph, square)), near, s)


def _finite(graph, x):
    return _less(graph, x, graph.constant(math.inf))


def _or_far(graph, near, value, size):
    far = graph.add(graph.make("log", size), graph.constant(math.log(2)))
    return graph.make("where", near, value, far)


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
