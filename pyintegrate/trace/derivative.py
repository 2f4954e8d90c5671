"""Derivatives of graphs: exact, as further nodes of the same graph.

Forward: the derivative of each node with respect to each component that it depends on, shared
between the rows of a Jacobian. Backward: of one node with respect to everything, for the gradient
of an energy. At a kink (abs, minimum, where) the derivative is that of the branch taken.

References
----------
Griewank, Walther (2008), Evaluating Derivatives, SIAM, chapters 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from .errors import TraceError
from .graph import Graph, Node

# Piecewise constant: the derivative is 0 wherever there is one.
_FLAT = {"sign", "floor", "rint"}


def _partials(g: Graph, node: Node):
    """(argument, derivative of the node by it) for each argument; None stands for 1."""
    rule = _RULES.get(node.operation)
    if rule is None:
        raise TraceError(f"{node.operation} has no derivative", "report it")
    derivatives = rule(g, node, *node.arguments)
    return [
        (argument, d)
        for argument, d in zip(node.arguments, derivatives, strict=True)
        if d is not _0
    ]


_0 = object()  # a derivative that is zero for any arguments


def _reciprocal(g, a):
    return g.divide(g.constant(1.0), a)


def _over_square(g, a, b):
    """a / b^2, with the one division that all derivatives by b share."""
    inverse = _reciprocal(g, b)
    return g.multiply(g.multiply(a, inverse), inverse)


def _power(g, node, x, y):
    one = g.constant(1.0)
    by_x = g.multiply(y, g.make("power", x, g.subtract(y, one)))
    return by_x, g.multiply(node, g.make("log", x)) if not y.is_constant else _0


def _either(g, mask, taken, other):
    """The weights of two branches."""
    one, zero = g.constant(1.0), g.constant(0.0)
    return g.make("where", mask, one, zero), g.make("where", mask, zero, one)


def _one_minus_square(g, a):
    return g.subtract(g.constant(1.0), g.multiply(a, a))


def _sum_of_squares(g, a, b):
    return g.add(g.multiply(a, a), g.multiply(b, b))


_RULES: dict[str, Callable] = {
    "negative": lambda g, n, a: (g.constant(-1.0),),
    "add": lambda g, n, a, b: (None, None),
    "subtract": lambda g, n, a, b: (None, g.constant(-1.0)),
    "multiply": lambda g, n, a, b: (b, a),
    "divide": lambda g, n, a, b: (_reciprocal(g, b), g.negative(_over_square(g, a, b))),
    "sqrt": lambda g, n, a: (g.scaled(_reciprocal(g, n), 0.5),),
    "cbrt": lambda g, n, a: (g.divide(n, g.scaled(a, 3.0)),),
    "absolute": lambda g, n, a: (g.make("sign", a),),
    "copysign": lambda g, n, a, b: (
        g.multiply(g.make("sign", a), g.make("copysign", g.constant(1.0), b)),
        _0,
    ),
    "minimum": lambda g, n, a, b: _either(g, g.make("less", a, b), a, b),
    "maximum": lambda g, n, a, b: _either(g, g.make("less", b, a), a, b),
    "sin": lambda g, n, a: (g.make("cos", a),),
    "cos": lambda g, n, a: (g.negative(g.make("sin", a)),),
    "tan": lambda g, n, a: (g.add(g.constant(1.0), g.multiply(n, n)),),
    "arcsin": lambda g, n, a: (_reciprocal(g, g.make("sqrt", _one_minus_square(g, a))),),
    "arccos": lambda g, n, a: (
        g.divide(g.constant(-1.0), g.make("sqrt", _one_minus_square(g, a))),
    ),
    "arctan": lambda g, n, a: (_reciprocal(g, g.add(g.constant(1.0), g.multiply(a, a))),),
    "arctan2": lambda g, n, a, b: (
        g.multiply(b, _reciprocal(g, _sum_of_squares(g, a, b))),
        g.negative(g.multiply(a, _reciprocal(g, _sum_of_squares(g, a, b)))),
    ),
    "exp": lambda g, n, a: (n,),
    "expm1": lambda g, n, a: (g.make("exp", a),),
    "log": lambda g, n, a: (_reciprocal(g, a),),
    "log1p": lambda g, n, a: (_reciprocal(g, g.add(g.constant(1.0), a)),),
    "sinh": lambda g, n, a: (g.make("cosh", a),),
    "cosh": lambda g, n, a: (g.make("sinh", a),),
    "tanh": lambda g, n, a: (_one_minus_square(g, n),),
    "power": _power,
    "fmod": lambda g, n, a, b: (
        g.constant(1.0),
        g.negative(g.make("rint", g.divide(g.subtract(a, n), b))),
    ),
    "hypot": lambda g, n, a, b: (
        g.multiply(a, _reciprocal(g, n)),
        g.multiply(b, _reciprocal(g, n)),
    ),
}


@contextmanager
def _scaling_freely(graph):
    before, graph.scale_freely = graph.scale_freely, True
    try:
        yield
    finally:
        graph.scale_freely = before


def _sum(g, terms):
    total = None
    for term in terms:
        total = term if total is None else g.add(total, term)
    return total


def _product(g, outer, inner):
    """outer * inner; None stands for 1."""
    if outer is None or inner is None:
        return inner if outer is None else outer
    return g.multiply(outer, inner)


def forward(graph, nodes, variables):
    """Derivatives of nodes with respect to leaves.

    Parameters
    ----------
    graph : Graph
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
    >>> forward(g, [g.make("sin", x)], [x])[0][x.number].operation
    'cos'
    """
    one = graph.constant(1.0)
    return directional(graph, nodes, {v.number: {v.number: one} for v in variables})


def directional(graph, nodes, seeds):
    """Derivatives of nodes along directions.

    Parameters
    ----------
    graph : Graph
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
    >>> directional(g, [g.multiply(x, x)], {x.number: {"dx": dx}})[0]["dx"].operation
    'multiply'
    """
    with _scaling_freely(graph):
        known: dict[int, dict] = {leaf: dict(along) for leaf, along in seeds.items()}
        for node in below(nodes):
            if node.number not in known:
                known[node.number] = _forward_one(graph, node, known)
        return [known[node.number] for node in nodes]


def _forward_one(g, node, known):
    if node.operation in _FLAT or node.is_mask or not node.arguments:
        return {}
    if node.operation == "where":
        mask, a, b = node.arguments
        zero = g.constant(0.0)
        da, db = known[a.number], known[b.number]
        return {
            v: g.make("where", mask, da.get(v, zero), db.get(v, zero)) for v in sorted({*da, *db})
        }
    if not any(known[a.number] for a in node.arguments):
        return {}
    terms: dict[Any, list[Node]] = {}
    one = g.constant(1.0)
    for argument, partial in _partials(g, node):
        for v, inner in known[argument.number].items():
            outer = None if partial is None else partial
            term = _product(g, outer, None if inner is one else inner)
            terms.setdefault(v, []).append(one if term is None else term)
    return {v: _sum(g, terms[v]) for v in sorted(terms)}


def gradient(graph, node, variables):
    """Derivatives of one node with respect to leaves, backwards; zero if independent of one.

    Returns
    -------
    list of Node
    """
    with _scaling_freely(graph):
        one, zero = graph.constant(1.0), graph.constant(0.0)
        wanted = {v.number for v in variables}
        order = below([node])
        leads = set()
        for n in order:
            if n.number in wanted or any(a.number in leads for a in n.arguments):
                leads.add(n.number)
        terms: dict[int, list[Node]] = {node.number: [one]}
        for n in reversed(order):
            if n.number not in leads or n.number not in terms or n.number in wanted:
                continue
            above = _sum(graph, terms.pop(n.number))
            for argument, term in _backward_one(graph, n, above, one):
                if argument.number in leads:
                    terms.setdefault(argument.number, []).append(term)
        return [_sum(graph, terms[v.number]) if v.number in terms else zero for v in variables]


def _backward_one(g, node, above, one):
    if node.operation in _FLAT or node.is_mask or not node.arguments:
        return
    if node.operation == "where":
        mask, a, b = node.arguments
        zero = g.constant(0.0)
        yield a, g.make("where", mask, above, zero)
        yield b, g.make("where", mask, zero, above)
        return
    for argument, partial in _partials(g, node):
        term = _product(g, partial, None if above is one else above)
        yield argument, one if term is None else term


def below(nodes):
    """All nodes on which some depend, and these themselves, arguments first."""
    found, stack = set(), list(nodes)
    graph = nodes[0].graph if nodes else None
    while stack:
        node = stack.pop()
        if node.number not in found:
            found.add(node.number)
            stack.extend(node.arguments)
    return [graph.nodes[number] for number in sorted(found)] if graph else []
