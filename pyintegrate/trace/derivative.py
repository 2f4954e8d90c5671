"""Derivatives of graphs: exact, as further nodes of the same graph.

Forward: the derivative of each node with respect to each component that it depends on, shared
between the rows of a Jacobian. Backward: of one node with respect to everything, for the gradient
of an energy. At a kink (abs, minimum, where) the derivative is that of the branch taken.

References
----------
Griewank, Walther (2008), Evaluating Derivatives, SIAM, chapters 3.1 and 3.2.
"""

import math
import operator
from contextlib import contextmanager
from functools import reduce

from ..values.types import Callable
from .errors import TraceError
from .graph import below, is_zero, make

# Piecewise constant: the derivative is 0 wherever there is one.
_FLAT = {"sign", "floor", "rint"}


_0 = object()  # a derivative that is zero for any arguments
_POWERS = {"sqrt", "cbrt", "power"}


def _partials(node):
    """(argument, derivative of the node by it) for each argument; None stands for 1."""
    if node.operation in _FLAT or node.is_mask or not node.arguments:
        return []
    rule = _RULES.get(node.operation)
    if rule is None:
        raise TraceError(f"{node.operation} has no derivative", "report it")
    found = rule(node, *node.arguments)
    pairs = zip(node.arguments, found if isinstance(found, tuple) else (found,), strict=True)
    return [(argument, d) for argument, d in pairs if d is not _0]


def _quotient(n, a, b):
    """The derivatives share one division."""
    inverse = 1.0 / b
    return inverse, -(a * inverse * inverse)


def _factors(node):
    """The numbers of the nodes whose product it is, up to signs and + 0."""
    if node.operation in ("multiply", "negative", "absolute"):
        return {number for a in node.arguments for number in _factors(a)}
    if node.operation in ("add", "subtract") and any(map(is_zero, node.arguments)):
        return {number for a in node.arguments if not is_zero(a) for number in _factors(a)}
    return {node.number}


def _reached(nodes, through):
    """Nodes and the arguments of those of some operations, each once."""
    found = {}
    while nodes:
        node = nodes.pop()
        if node.number not in found:
            found[node.number] = node
            nodes += node.arguments if node.operation in through else ()
    return found.values()


def _vanishes_with(a, factors):
    """Whether one of the factors is 0 wherever a is."""
    if a.operation in _POWERS:
        return _vanishes_with(a.arguments[0], factors)
    if _sums_squares(a):
        return any(_factors(one) <= factors for one in _reached([a], ("add",)))
    return _factors(a) <= factors


def _by_factor(n, a, other):
    """The derivative of a product by its factor a: the other one.

    Or 0 where a is a root or power of 0, whose own slope may be inf, and the other factor is 0 as
    well: sqrt(x) x has the slope 0. Not in a product that only divides, which is inf there.
    """
    for root in _reached([a], ("multiply", "negative")):
        small = root.operation in _POWERS and _vanishes_with(root.arguments[0], _factors(other))
        if small and not _only_divides(n):
            other = make("where", make("equal", root, 0.0), 0.0, other)
    return other


def _only_divides(n):
    """Whether each use of a node is as a divisor, or a factor of what only divides."""
    return bool(n.uses) and all(
        one.arguments[0] is not n if one.operation == "divide"
        else one.operation == "multiply" and _only_divides(one)
        for one in n.uses
    )  # fmt: skip


def _sums_squares(node):
    if node.operation == "add":
        return all(map(_sums_squares, node.arguments))
    return node.operation == "multiply" and node.arguments[0] is node.arguments[1]


def _over_length(n):
    """1 / n of a length n = sqrt(x x + ...), whose slope is x / n: finite at 0, so that x / n is 0.

    Only if the length is a factor, as in the drag -|v| v, which has the slope 0 there. Elsewhere it
    has none at 0, and stays NaN.
    """
    multiplies = any(one.operation == "multiply" and not _only_divides(one) for one in n.uses)
    return 1.0 / (n + 2.0**-126 if multiplies else n)  # also in single precision


def _power(n, x, y):
    by_x = y * make("power", x, y - 1.0)
    if y.is_constant:
        return by_x, _0
    by_x = make("where", make("equal", y, 0.0), 0.0, by_x)  # also at x = 0
    return by_x, make("where", make("equal", n, 0.0), 0.0, n * make("log", x))


def _branches(node):
    """The mask and the two branches of a node that has a choice, or None."""
    if node.operation in ("minimum", "maximum"):
        a, b = node.arguments
        return a < b if node.operation == "minimum" else b < a, a, b
    return node.arguments if node.operation == "where" else None


def _arctan2(n, a, b):
    square = a * a + b * b
    return b * (1.0 / square), -(a * (1.0 / square))


# From the node and its arguments, for each of these or the only one.
_RULES: dict[str, Callable] = {
    "negative": lambda n, a: n.graph.constant(-1.0),
    "add": lambda n, a, b: (None, None),
    "subtract": lambda n, a, b: (None, n.graph.constant(-1.0)),
    "multiply": lambda n, a, b: (_by_factor(n, a, b), _by_factor(n, b, a)),
    "divide": _quotient,
    "sqrt": lambda n, a: (_over_length(n) if _sums_squares(a) else 1.0 / n) * 0.5,
    "cbrt": lambda n, a: n / (a * 3.0),
    "absolute": lambda n, a: make("sign", a),
    "copysign": lambda n, a, b: (make("copysign", 1.0, a) * make("copysign", 1.0, b), _0),
    "sin": lambda n, a: make("cos", a),
    "cos": lambda n, a: -make("sin", a),
    "tan": lambda n, a: n * n + 1.0,
    "arcsin": lambda n, a: 1.0 / make("sqrt", 1.0 - a * a),
    "arccos": lambda n, a: -1.0 / make("sqrt", 1.0 - a * a),
    "arctan": lambda n, a: 1.0 / (a * a + 1.0),
    "arctan2": _arctan2,
    "exp": lambda n, a: n,
    "expm1": lambda n, a: make("exp", a),
    "log": lambda n, a: 1.0 / a,
    "log2": lambda n, a: 1 / math.log(2) / a,
    "log10": lambda n, a: 1 / math.log(10) / a,
    "log1p": lambda n, a: 1.0 / (a + 1.0),
    "sinh": lambda n, a: make("cosh", a),
    "cosh": lambda n, a: make("sinh", a),
    "tanh": lambda n, a: 1.0 - n * n,
    "arcsinh": lambda n, a: 1.0 / make("hypot", a, 1.0),
    "arccosh": lambda n, a: 1.0 / (make("sqrt", a - 1.0) * make("sqrt", a + 1.0)),
    "arctanh": lambda n, a: 1.0 / ((1.0 - a) * (a + 1.0)),
    "power": _power,
    "fmod": lambda n, a, b: (n.graph.constant(1.0), -make("rint", (a - n) / b)),
    "hypot": lambda n, a, b: (a * _over_length(n), b * _over_length(n)),
}


@contextmanager
def _scaling_freely(graph):
    before, graph.scale_freely = graph.scale_freely, True
    try:
        yield
    finally:
        graph.scale_freely = before


def _product(outer, inner):
    """outer * inner; an outer one that is None stands for 1.

    In a branch where one is 0 so is the product, also if the other is inf: sqrt(maximum(x, 0)).
    """
    one = inner.graph.constant(1.0)
    factors = [factor for factor in (outer, inner) if factor not in (None, one)]
    for factor, other in (factors, factors[::-1]) if len(factors) == 2 else ():
        if factor.operation == "where" and any(map(is_zero, factor.arguments[1:])):
            mask, *both = factor.arguments
            made = (b if is_zero(b) else _product(b, other) for b in both)
            return make("where", mask, *made)
    return reduce(operator.mul, factors) if factors else one


def _sum(terms):
    """The sum of some nodes; of choices by the same mask one choice, whose 0 `_product` sees."""
    if len(terms) > 1 and all(one.operation == "where" for one in terms):
        masks, *branches = zip(*(one.arguments for one in terms))
        if len(set(masks)) == 1:
            return make("where", masks[0], *(reduce(operator.add, one) for one in branches))
    return reduce(operator.add, terms)


def forward(nodes, variables):
    """Derivatives of nodes with respect to leaves.

    Parameters
    ----------
    nodes : list of Node
    variables : list of Node
        Leaves, usually components of the state.

    Returns
    -------
    list of dict
        For each node: leaf number -> derivative; zero ones are omitted.

    Examples
    --------
    >>> from pyintegrate.trace.graph import Graph
    >>> from pyintegrate.trace.derivative import forward
    >>> g = Graph(2, 1)
    >>> x = g.state(0)
    >>> forward([g.make("sin", x)], [x])[0][x.number].operation
    'cos'
    """
    return directional(nodes, {v.number: {v.number: v.graph.constant(1.0)} for v in variables})


def directional(nodes, seeds):
    """Derivatives of nodes along directions.

    Parameters
    ----------
    nodes : list of Node
    seeds : dict
        Leaf number -> {direction: the change of the leaf along it, a Node}.

    Returns
    -------
    list of dict
        For each node: direction -> derivative; zero ones are omitted.

    Examples
    --------
    >>> from pyintegrate.trace.graph import Graph
    >>> from pyintegrate.trace.derivative import directional
    >>> g = Graph(2, 0)
    >>> x, dx = g.state(0), g.state(1)
    >>> directional([x * x], {x.number: {"dx": dx}})[0]["dx"].operation
    'multiply'
    """
    with _scaling_freely(nodes[0].graph):
        known = {leaf: dict(along) for leaf, along in seeds.items()}
        for node in below(nodes):
            if node.number not in known:
                known[node.number] = _forward_one(node, known)
        return [known[node.number] for node in nodes]


def _forward_one(node, known):
    if (choice := _branches(node)) is not None:
        mask, a, b = choice
        da, db = known[a.number], known[b.number]
        return {v: make("where", mask, da.get(v, 0.0), db.get(v, 0.0)) for v in sorted({*da, *db})}
    if not any(known[a.number] for a in node.arguments):
        return {}
    terms = {}
    for argument, partial in _partials(node):
        for v, inner in known[argument.number].items():
            terms.setdefault(v, []).append(_product(partial, inner))
    return {v: reduce(operator.add, terms[v]) for v in sorted(terms)}


def gradient(node, variables):
    """Derivatives of one node with respect to leaves, backwards; zero if independent of one.

    Returns
    -------
    list of Node
    """
    graph = node.graph
    with _scaling_freely(graph):
        wanted = {v.number for v in variables}
        order = below([node])
        leads = set()
        for n in order:
            if n.number in wanted or any(a.number in leads for a in n.arguments):
                leads.add(n.number)
        terms = {node.number: [graph.constant(1.0)]}
        for n in reversed(order):
            if n.number not in leads or n.number not in terms or n.number in wanted:
                continue
            above = _sum(terms.pop(n.number))
            for argument, term in _backward_one(n, above):
                if argument.number in leads:
                    terms.setdefault(argument.number, []).append(term)
        return [reduce(operator.add, terms.get(v.number, [graph.constant(0.0)])) for v in variables]


def _in_branch(mask, above):
    """above where the mask holds, else 0; a branch within a branch has one mask, of both."""
    if above.operation == "where" and is_zero(above.arguments[2]):
        mask, above = above.arguments[0] & mask, above.arguments[1]
    return make("where", mask, above, 0.0)


def _backward_one(node, above):
    if (choice := _branches(node)) is not None:
        mask, a, b = choice
        yield a, _in_branch(mask, above)
        yield b, _in_branch(~mask, above)
        return
    for argument, partial in _partials(node):
        yield argument, _product(partial, above)
