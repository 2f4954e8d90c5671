"""The kind of a noise, proved from its program: by dependence, and by an identity."""

import operator
import random
from fractions import Fraction
from itertools import product

from ..trace.graph import OPERATORS, below, is_zero
from .step import derivatives_along

_PRIME = (1 << 61) - 1


def kind_of(traced, m):
    """The first of the kinds that is proved: "additive", "diagonal", "commutative", "general".

    additive: g depends on the time alone; diagonal: noise i moves component i alone, by a g of
    (t, y_i); commutative: L^j g_k = L^k g_j for all pairs.
    """
    g, dim = traced.outputs["diffusion"], traced.graph.dim
    states = [{n.value for n in below([node]) if n.operation == "state"} for node in g]
    if not any(states):
        return "additive"
    if m == dim and all(
        seen <= {i} if i == k else is_zero(node)
        for (i, k), node, seen in zip(product(range(dim), range(m)), g, states, strict=True)
    ):
        return "diagonal"
    along = derivatives_along(traced, m)
    alike = (
        _same(traced.graph, along.get((j, k), {}).get(i), along.get((k, j), {}).get(i))
        for j, k, i in product(range(m), range(m), range(dim))
        if k < j
    )
    return "commutative" if all(alike) else "general"


def _same(graph, a, b):
    """Whether two nodes are one rational function of their leaves and of functions of these.

    Evaluated modulo a prime at random points: two that differ agree with a chance below 2^-40.
    """
    zero = graph.constant(0.0)
    a, b = a or zero, b or zero
    return a is b or all(_values(seed, (a, b)) == 0 for seed in range(2))


_RULES: dict = {
    **OPERATORS,
    "negative": operator.neg,
    "divide": lambda a, b: a * pow(b, _PRIME - 2, _PRIME),
}


def _values(seed, pair):
    """The difference of two nodes at a random point."""
    known = {}
    draw = random.Random(seed)
    for node in below(pair):
        if node.operation in _RULES:
            value = _RULES[node.operation](*(known[x.number] for x in node.arguments))
        elif node.is_constant and abs(node.value) < float("inf"):
            value = _RULES["divide"](*Fraction(node.value).as_integer_ratio())
        else:
            value = draw.randrange(_PRIME)
        known[node.number] = value % _PRIME
    return known[pair[0].number] - known[pair[1].number]
