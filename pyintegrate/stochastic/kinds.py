"""The kind of a noise, proved from its program: by dependence, and by an identity."""

from __future__ import annotations

import random
from fractions import Fraction

from ..trace.derivative import below
from .step import derivatives_along, is_zero

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
        for (i, k), node, seen in zip(_pairs(dim, m), g, states, strict=True)
    ):
        return "diagonal"
    along = derivatives_along(traced, m)
    alike = (
        _same(traced.graph, a, b)
        for j in range(m)
        for k in range(j)
        for a, b in zip(along[j, k], along[k, j], strict=True)
    )
    return "commutative" if all(alike) else "general"


def _pairs(dim, m):
    return [(i, k) for i in range(dim) for k in range(m)]


def _same(graph, a, b):
    """Whether two nodes are one rational function of their leaves and of functions of these.

    Evaluated modulo a prime at random points: different ones agree with a chance below 2^-40.
    """
    zero = graph.constant(0.0)
    a, b = a or zero, b or zero
    return all(_values(seed, (a, b)) in (0, None) for seed in range(2)) if a is not b else True


def _values(seed, pair):
    """The difference of two nodes at a random point; None where it divides by zero."""
    draw, known = random.Random(seed), {}
    for node in below(pair):
        parts = [known[x.number] for x in node.arguments]
        match node.operation:
            case "constant" if abs(node.value) < float("inf"):
                exact = Fraction(node.value)
                value = exact.numerator * pow(exact.denominator, -1, _PRIME)
            case "add":
                value = parts[0] + parts[1]
            case "subtract":
                value = parts[0] - parts[1]
            case "multiply":
                value = parts[0] * parts[1]
            case "negative":
                value = -parts[0]
            case "divide":
                if not parts[1]:
                    return None
                value = parts[0] * pow(parts[1], -1, _PRIME)
            case _:
                value = draw.randrange(_PRIME)
        known[node.number] = value % _PRIME
    return (known[pair[0].number] - known[pair[1].number]) % _PRIME
