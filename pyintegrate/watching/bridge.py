"""Brownian bridges of events: a quantity in units of its deviation, and the state at its zero."""

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..stochastic.step import STEP
from ..trace.derivative import forward
from ..trace.expression import Symbol, node_of
from ..trace.graph import is_zero, placed

STILL = 1e-30  # v where no noise acts, or q has no slope: the crossing is that of the chord


def bridged(view, key, quantity):
    """For a quantity q: q / sqrt(v h), and the mean of the state y where q is zero, as nodes.

    Over a step h its variance is v h, v = |u|^2 with u = G^T grad q; given q = 0 the mean of the
    state is y - q G u / v.
    """
    system, graph = view.system, view.graph
    if system.noise is None:
        raise ValueError(f"bridge of event {key!r}: {system.name!r} has no noise: leave it out")
    dim, m = system.dim, system.noises
    state = [graph.state(i) for i in range(dim)]
    slopes = _slopes(graph, node_of(graph, quantity), state)
    if view.energy is not None:  # a number of the core; its formula is that of the system
        by = _slopes(graph, node_of(graph, quantity), [node_of(graph, view.energy)])
        energy = placed(graph, system.traced.outputs["energy"], graph.state)[0]
        of_energy = _slopes(graph, energy, state)
        slopes = [_product([a, *by], [graph.constant(1.0), e]) for a, e in zip(slopes, of_energy)]
    G = placed(graph, system.traced.outputs["diffusion"], graph.state)
    u = [_product(G[k::m], slopes) for k in range(m)]
    v = _product(u, u)
    if is_zero(v):
        raise ValueError(
            f"bridge of event {key!r}: no noise of {system.name!r} moves its quantity, whose paths"
            " are smooth: leave bridge= out"
        )
    moved: Any = Symbol(v)
    v = np.where(moved > 0, moved, STILL)
    off = quantity / v
    onto = [
        node_of(graph, Symbol(y) - off * Symbol(_product(G[i * m : (i + 1) * m], u)))
        for i, y in enumerate(state)
    ]
    return quantity / np.sqrt(v * view.params["_of_run"][STEP]), onto


def _slopes(graph, node, by):
    slope = forward([node], by)[0]
    return [slope.get(one.number, graph.constant(0.0)) for one in by]


def _product(a, b):
    """The sum of products of nodes, without zeros."""
    pairs = zip(a, b)
    terms = [p * q for p, q in pairs if not (is_zero(p) or is_zero(q))]
    return reduce(add, terms) if terms else a[0].graph.constant(0.0)
