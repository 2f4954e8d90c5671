"""The operations of a traced function: a graph in which each occurs once.

A node is an operation of csrc/bytecode/operations.h on earlier nodes, or a leaf: a constant, a
parameter, the time, a component of the state. Making a node reuses an equal one, folds
constants where that is exact, and rewrites where no bit of the result changes: x * 1, -(-x),
a + (-b), x / 4.
"""

import gc
import math
import operator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial

from .. import _core
from ..values.types import Callable
from .errors import TraceError

OPERATIONS = {name: (number, arity) for number, (name, arity, _) in enumerate(_core.operations)}
MASKS = {"less", "less_equal", "equal", "not_equal"} | {
    f"logical_{name}" for name in ("and", "or", "xor", "not")
}
_COMMUTATIVE = {"add", "multiply", "equal", "not_equal", "logical_and", "logical_or", "logical_xor"}
MOST_NODES = 200_000
_SMALL = 64  # of an array: NumPy's call takes longer than so many instructions
TOO_LONG = f"more than {MOST_NODES} operations"

# Inputs that a node depends on, as bits.
PARAMETER, POSITION, VELOCITY, TIME = 1, 2, 4, 8


class Node:
    """An operation on earlier nodes; leaves are "constant" (value), "parameter", "state" (index)
    and "time". Arithmetic with others, or with numbers, makes further nodes."""

    __slots__ = ("arguments", "depends", "graph", "number", "operation", "uses", "value")

    def __init__(self, graph, number, operation, arguments, value, depends):
        self.graph, self.number, self.operation = graph, number, operation
        self.arguments, self.value, self.depends = arguments, value, depends
        self.uses = []  # the operations on it

    @property
    def is_mask(self):
        return self.operation in MASKS

    @property
    def is_constant(self):
        return self.operation == "constant"

    @property
    def is_fixed(self):
        """Whether it is the same at every step: it depends on parameters at most."""
        return self.depends <= PARAMETER

    (
        __add__, __sub__, __mul__, __truediv__, __neg__,
        __lt__, __and__, __or__, __xor__, __invert__,
    ) = (
        lambda self, *other, name=name: make(name, self, *other)
        for name in (
            "add", "subtract", "multiply", "divide", "negative",
            "less", "logical_and", "logical_or", "logical_xor", "logical_not",
        )
    )  # fmt: skip

    def __rsub__(self, other):
        return make("subtract", other, self)

    def __rtruediv__(self, other):
        return make("divide", other, self)

    def __repr__(self):
        inside = ", ".join(f"n{a.number}" for a in self.arguments)
        return f"n{self.number} = {self.operation}({inside or self.value})"


def make(operation, *arguments):
    """The node of an operation on nodes, of which there is at least one, and numbers."""
    graph = next(a.graph for a in arguments if isinstance(a, Node))
    nodes = (a if isinstance(a, Node) else graph.constant(a) for a in arguments)
    return graph.make(operation, *nodes)


def below(nodes):
    """All nodes on which some depend, and these themselves, arguments first."""
    found, stack = {}, list(nodes)
    while stack:
        node = stack.pop()
        if node.number not in found:
            found[node.number] = node
            stack.extend(node.arguments)
    return [found[number] for number in sorted(found)]


def degrees(nodes, is_variable, alike=()):
    """The degree of each node as a polynomial in variables; infinite if it is none.

    alike: operations whose degree is that of their arguments, besides sums.
    """
    found, sums = {}, {"add", "subtract", "negative", *alike}
    for node in below(nodes):
        of, known = [found[a.number] for a in node.arguments], math.inf
        if node.is_fixed:
            known = 0
        elif is_variable(node):
            known = 1
        elif node.operation in sums:
            known = max(of)
        elif node.operation == "multiply" or (node.operation == "divide" and not of[1]):
            known = sum(of)
        found[node.number] = known
    return [found[node.number] for node in nodes]


def is_zero(node):
    return node.is_constant and node.value == 0


def placed(graph, nodes, state, time=None):
    """Nodes of any graph as nodes of `graph`, at another state (node of an index) and time."""
    leaves = graph.leaves | {"state": state}
    if time is not None:
        leaves["time"] = lambda _: time
    made = {}
    for node in below(nodes):
        if node.arguments:
            new = graph.make(node.operation, *(made[a.number] for a in node.arguments))
        else:
            new = leaves[node.operation](node.value)
        made[node.number] = new
    return [made[node.number] for node in nodes]


def _is_power_of_two(value):
    return abs(math.frexp(value)[0]) == 0.5


OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}


def _exactly(operation, a, b):
    """a + b, a - b, a * b or a / b if the real number is a double, else None."""
    if not (math.isfinite(a) and math.isfinite(b)) or (operation == "divide" and b == 0):
        return None
    exact = OPERATORS[operation](Fraction(a), Fraction(b))
    if exact == 0:  # with its sign
        lost = a != 0 and b != 0 and operation != "multiply"
        return None if lost else OPERATORS[operation](a, b)
    try:
        rounded = float(exact)
    except OverflowError:
        return None
    return rounded if Fraction(rounded) == exact else None


def _key(operation, arguments, value):
    if operation == "constant":
        return operation, value.hex()  # distinguishes zeros; one NaN
    return operation, value, *[a.number for a in arguments]


@contextmanager
def uncollected():
    """Without the garbage collector, which looks at all nodes again and again while they grow."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Graph:
    """All nodes of one trace.

    Parameters
    ----------
    dim, dof : int
        Sizes of the state; positions are the first `dof` components.
    """

    def __init__(self, dim, dof):
        self.dim, self.dof = dim, dof
        self.tangents = 0  # whose components follow the motion's own, in each half
        self.nodes = []
        self._known = {}
        self.scale_freely = False  # in derivatives: move powers of two out of products
        self.in_arrays, self.most_in_arrays = 0, math.inf  # elements that array operations made
        self.refused = None  # the last error of a symbol that was needed as a number

    # ---- leaves ----
    def node(self, operation, arguments=(), value=None, depends=0):
        key = _key(operation, arguments, value)
        node = self._known.get(key)
        if node is None:
            if len(self.nodes) >= MOST_NODES:
                raise TraceError(
                    TOO_LONG,
                    "write loops over components as array operations, or trace=False",
                )
            for a in arguments:
                depends |= a.depends
            node = Node(self, len(self.nodes), operation, arguments, value, depends)
            self.nodes.append(node)
            for a in arguments:
                a.uses.append(node)
            self._known[key] = node
        return node

    def keep(self, nodes):
        """Forget all but some nodes, which follow each other again."""
        for node in self.nodes:
            node.number = -1
        for number, node in enumerate(nodes):
            node.number = number
        for node in nodes:
            node.uses = [one for one in node.uses if one.number >= 0]
        self.nodes = nodes
        self._known = {_key(node.operation, node.arguments, node.value): node for node in nodes}

    def constant(self, value):
        return self.node("constant", value=float(value))

    def parameter(self, row):
        return self.node("parameter", value=int(row), depends=PARAMETER)

    def time(self):
        return self.node("time", depends=TIME)

    def state(self, index):
        depends = POSITION if index < (self.dof or self.dim) else VELOCITY
        return self.node("state", value=int(index), depends=depends)

    @property
    def leaves(self):
        """What makes each kind of leaf, from its value."""
        return {
            "constant": self.constant,
            "parameter": self.parameter,
            "state": self.state,
            "time": lambda _: self.time(),
        }

    def count(self, size):
        """Refuse what NumPy computes faster than byte code does: operations on large arrays."""
        self.in_arrays += size if size > _SMALL else 0
        if self.in_arrays > self.most_in_arrays:
            raise TraceError("it computes with large arrays", "trace=False")

    # ---- operations ----
    def make(self, operation, *arguments):
        """The node of an operation: shared, folded or rewritten where that is exact."""
        if operation in OPERATORS and all(a.is_constant for a in arguments):
            value = _exactly(operation, *(a.value for a in arguments))
            if value is not None:
                return self.constant(value)
        rewrite = _REWRITES.get(operation)
        if rewrite is not None and (known := rewrite(*arguments)) is not None:
            return known
        if operation in _COMMUTATIVE and arguments[0].number > arguments[1].number:
            arguments = arguments[::-1]
        return self.node(operation, arguments)


# ---- rewrites that change no bit -----------------------------------------------------------------
def _is(node, value):
    """Whether it is this constant, including the sign of a zero."""
    return node.is_constant and node.value.hex() == float(value).hex()


def _add(a, b):
    for u, w in ((a, b), (b, a)):
        if _is(w, -0.0):
            return u
        if w.operation == "negative":
            return u - w.arguments[0]
    return a * 2.0 if a is b else None


def _subtract(a, b):
    if _is(b, 0.0):
        return a
    if _is(a, -0.0):
        return -b
    return a + b.arguments[0] if b.operation == "negative" else None


def _negative(a):
    if a.is_constant:
        return a.graph.constant(-a.value)
    if a.operation == "negative":
        return a.arguments[0]
    if a.operation == "multiply" and not a.is_fixed:  # the sign goes where it is free
        for u, w in (a.arguments, a.arguments[::-1]):
            if w.is_fixed:
                return u * -w
    return None


def _multiply(a, b):
    for u, w in ((a, b), (b, a)):
        if _is(w, 1.0):
            return u
        if _is(w, -1.0):
            return -u
        if u.operation == "negative":
            u = u.arguments[0]
            if w.operation == "negative":
                return u * w.arguments[0]
            if w.is_fixed and not u.is_fixed:
                return u * -w
            if not u.is_fixed:
                return -(u * w)
    if a.graph.scale_freely:
        (c, u), (d, w) = _power_of_two(a), _power_of_two(b)
        if u is None or w is None:  # a constant factor: it joins the other's
            rest = w if u is None else u
            return None if c == 1 or d == 1 or rest is None else rest * (c * d)
        if c * d != 1 or c != 1:
            return u * w * (c * d)
    return None


def _divide(a, b):
    if b.is_constant and _is_power_of_two(b.value) and abs(math.frexp(b.value)[1]) < 100:
        return a * (1 / b.value)
    if a.operation == "negative" and not a.is_fixed:
        return -(a.arguments[0] / b)
    if a.graph.scale_freely:
        factor, rest = _power_of_two(a)
        if factor != 1 and rest is not None:
            return rest / b * factor
        factor, rest = _power_of_two(b)
        if factor != 1 and rest is not None:
            return a / rest * (1 / factor)
    return None


def _power_of_two(node):
    """(factor, rest): node = factor * rest with a power of two, rest None if it is all."""
    if node.is_constant:
        return (node.value, None) if _is_power_of_two(node.value) else (1, node)
    if node.operation == "multiply":
        for u, w in (node.arguments, node.arguments[::-1]):
            if w.is_constant and _is_power_of_two(w.value):
                return w.value, u
    return 1, node


def _absolute(a):
    if a.operation == "negative":
        return make("absolute", a.arguments[0])
    return a if a.operation == "absolute" else None


def _compare(operation, a, b):
    """Magnitudes and extremes are compared one by one: they switch without corners then."""
    known, key = a.graph._known, (operation, None, a.number, b.number)
    if key in known:  # extremes of extremes may share theirs: each is compared once
        return known[key]
    for one in (a, b):
        if one.operation == "absolute":
            parts = one.arguments[0], -one.arguments[0]
        elif one.operation in ("maximum", "minimum") and all(map(_is_number, one.arguments)):
            parts = one.arguments
        else:
            continue
        holds = [make(operation, *((part, b) if one is a else (a, part))) for part in parts]
        both = (one is a) == (one.operation != "minimum")
        return known.setdefault(key, make("logical_and" if both else "logical_or", *holds))
    return None


def _is_number(node):
    """Whether it is no NaN as long as no component is one."""
    kept = ("state", "absolute", "negative", "maximum", "minimum")
    return all(
        one.operation in kept or (one.is_constant and not math.isnan(one.value))
        for one in below([node])
    )


_REWRITES: dict[str, Callable] = {
    "add": _add,
    "subtract": _subtract,
    "negative": _negative,
    "multiply": _multiply,
    "divide": _divide,
    "where": lambda mask, a, b: a if a is b else None,
    "logical_not": lambda a: a.arguments[0] if a.operation == "logical_not" else None,
    "absolute": _absolute,
    **{name: partial(_compare, name) for name in ("less", "less_equal")},
}
