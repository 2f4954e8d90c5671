"""NumPy's functions on symbols, one element at a time.

Each function takes nodes and returns a node. Functions that are no operation of the byte code
themselves are formulas of operations, to within a few ulp of NumPy.
"""

import math
import operator

import numpy as np

from ..values.types import Any
from .errors import TraceError
from .graph import OPERATIONS, make

MOST_POWER = 64  # up to here x**n is a product


def real(node):
    """A truth value as 1 or 0."""
    return make("where", node, 1.0, 0.0) if node.is_mask else node


def mask(node):
    """A number as a truth value."""
    return node if node.is_mask else make("not_equal", node, 0.0)


def _of_numbers(formula):
    """A function of real numbers: truth values count as 1 or 0."""
    return lambda *nodes: formula(*map(real, nodes))


def _operation(name):
    arity = OPERATIONS[name][1]

    def apply(*nodes):
        if len(nodes) != arity:
            raise TraceError(f"{name} takes {arity} arguments, got {len(nodes)}", "see NumPy's")
        return make(name, *nodes)

    return _of_numbers(apply)


def _logical(name):
    return lambda *nodes: make(name, *map(mask, nodes))


def _bitwise(name, symbol):
    def apply(*nodes):
        if not all(node.is_mask for node in nodes):
            raise TraceError(
                f"{symbol} works on comparisons, not on numbers",
                f"write (a > 0) {symbol} (b > 0), with brackets",
            )
        return make(name, *nodes)

    return apply


def _unless_truths(name, of_truths):
    """An operation on two real numbers; another one if both operands are truth values."""

    def apply(a, b):
        if a.is_mask and b.is_mask:
            return of_truths(a, b)
        return make(name, real(a), real(b))

    return apply


def _refused(problem, cure):
    def refuse(*_):
        raise TraceError(problem, cure)

    return refuse


def where(condition, a, b):
    """a where the condition holds, else b; truth values if both are."""
    condition = mask(condition)
    if a.is_mask and b.is_mask:
        return (condition & a) | (~condition & b)
    return make("where", condition, real(a), real(b))


def power(x, y):
    """x**y; products for integer exponents, and a root for half-integer ones, 0 for x = -0."""
    twice = 2 * y.value if y.is_constant else math.inf
    if not (math.isfinite(twice) and twice == int(twice) and abs(y.value) <= MOST_POWER):
        return make("power", x, y)
    if y.value == 0:
        return y.graph.constant(1.0)
    whole, half = divmod(abs(int(twice)), 2)
    # The root of -0 is -0, which a further factor x makes 0; NumPy's x**0.5 is its sqrt.
    signed = whole & 1 or y.value == 0.5
    result: Any = make("sqrt", x if signed else x + 0.0) if half else None
    square = x
    while whole:
        if whole & 1:
            result = square if result is None else result * square
        whole >>= 1
        if whole:
            square = square * square
    return 1.0 / result if y.value < 0 else result


def _division(x, y):
    """The quotient rounded down, before it is rounded, and the remainder, as NumPy has them."""
    rest = make("fmod", x, y)
    other = (rest < 0.0) ^ (y < 0.0)
    other = make("not_equal", rest, 0.0) & other
    up = make("where", y < 0.0, -(0.0 - rest), rest + 0.0)  # a zero with the sign of y
    quotient = (x - rest) / y - make("where", other, 1.0, 0.0)
    return quotient, make("where", other, rest + y, up)


def floor_divide(x, y):
    """The quotient of x without its remainder, to the nearest integer; x / y where y = 0."""
    quotient, ratio = _division(x, y)[0], x / y
    whole = make("floor", quotient)
    whole = make("where", make("less", 0.5, quotient - whole), whole + 1.0, whole)
    whole = make("where", make("equal", whole, 0.0), make("copysign", 0.0, ratio), whole)
    return make("where", make("equal", y, 0.0), ratio, whole)


def remainder(x, y):
    """The rest of a division that is rounded down: it has the sign of y."""
    return _division(x, y)[1]


def _without_nan(name):
    def apply(a, b):
        least = make(name, a, b)
        return make(
            "where", make("not_equal", a, a), b, make("where", make("not_equal", b, b), a, least)
        )

    return _of_numbers(apply)


def _heaviside(x, at_zero):
    step = make("where", x < 0.0, 0.0, 1.0)
    return make(
        "where", make("not_equal", x, x), x, make("where", make("equal", x, 0.0), at_zero, step)
    )


def _logaddexp(x, y):
    """max(x, y) + log1p(exp(-|x - y|)), with the slopes of x >= y if they are equal; x + y if
    these are the same infinity."""
    d = x - y + 0.0  # never -0
    # copysign(d, 1) is |d| with a slope at 0, that of the side of its sign: nothing turns there.
    value = make("maximum", y, x) + make("log1p", make("exp", -make("copysign", d, 1.0)))
    return make("where", make("not_equal", d, d), x + y, value)


# Of real numbers, by the name of NumPy's ufunc.
_FORMULAS = {
    "greater": lambda a, b: b < a,
    "greater_equal": lambda a, b: make("less_equal", b, a),
    "power": power,
    "float_power": power,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "trunc": lambda x: make("copysign", make("floor", make("absolute", x)), x),
    "ceil": lambda x: -make("floor", -x),
    "isnan": lambda x: make("not_equal", x, x),
    "isinf": lambda x: make("equal", make("absolute", x), math.inf),
    "isfinite": lambda x: make("less", make("absolute", x), math.inf),
    **dict.fromkeys(("radians", "deg2rad"), lambda x: x * (math.pi / 180)),
    **dict.fromkeys(("degrees", "rad2deg"), lambda x: x * (180 / math.pi)),
    "exp2": lambda x: make("power", 2.0, x),
    "heaviside": _heaviside,
    "logaddexp": _logaddexp,
}
FUNCTIONS = {
    **{
        name: _operation(name)
        for name in OPERATIONS
        if hasattr(np, name) and name not in ("copy", "where") and "logical" not in name
    },
    **{f"logical_{name}": _logical(f"logical_{name}") for name in ("and", "or", "xor", "not")},
    **{name: _of_numbers(formula) for name, formula in _FORMULAS.items()},
    "add": _unless_truths(
        "add",
        _refused(
            "+ of two truth values is one, not their number",
            "write (a > 0) | (b > 0), or np.where(a > 0, 1.0, 0.0) + (b > 0) to count",
        ),
    ),
    "subtract": _unless_truths(
        "subtract",
        _refused(
            "- of two truth values, as in np.diff, is no number in NumPy",
            "write (a > 0) ^ (b > 0), or np.where(a > 0, 1.0, 0.0) - (b > 0) for a number",
        ),
    ),
    "multiply": _unless_truths("multiply", operator.and_),
    "where": where,
    "equal": _unless_truths("equal", lambda a, b: ~(a ^ b)),
    "not_equal": _unless_truths("not_equal", operator.xor),
    "bitwise_and": _bitwise("logical_and", "&"),
    "bitwise_or": _bitwise("logical_or", "|"),
    "bitwise_xor": _bitwise("logical_xor", "^"),
    "invert": _bitwise("logical_not", "~"),
    "positive": real,
    "conjugate": real,
    "fabs": _operation("absolute"),
    "fmin": _without_nan("minimum"),
    "fmax": _without_nan("maximum"),
}
