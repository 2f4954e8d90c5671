"""The program of a step with noise: the formula of a method, traced with the system."""

import operator
from functools import reduce
from itertools import product

import numpy as np

from .. import _core
from ..method.stochastic import Components
from ..trace.derivative import forward
from ..trace.expression import Symbol, node_of
from ..trace.graph import is_zero, placed
from ..trace.program import assemble

# Parameters of the run, after those of the system: csrc/tiles.h.
STEP, SUBSTEPS, OF_RUN = 0, 1, _core.limits["of_run"]
NO_SECOND, INTEGRALS, INCREMENTS_AHEAD = range(3)  # PiSecondNumbers


class Step:
    """A step of a system with noise, in symbols, from which a method makes its formula.

    Attributes
    ----------
    h, root_h : Symbol
        The step, and its square root.
    y : Components
        The state; `x` and `v` are its halves.
    dW, I10, next_dW, Z, signs : Components
        Increments of the noises, their integrals over the step, the increments of the next step,
        dW / sqrt(h), and random signs that are independent of dW.
    halves : pair of lists
        Two independent normals for each noise, of which Z is made.
    """

    def __init__(self, system, method, graph):
        self._system, self._graph = system, graph
        self.second = NO_SECOND
        first = system.traced.n_params - OF_RUN
        self.h = Symbol(graph.parameter(first + STEP))
        self._substeps = Symbol(graph.parameter(first + SUBSTEPS))
        self.root_h = np.sqrt(self.h)
        self.y = Components(Symbol(graph.state(i)) for i in range(system.dim))
        self.x, self.v = map(Components, (self.y[: system.dof], self.y[system.dof :]))
        self._drift = converted(system, method.interpretation)

    # ---- numbers ----
    def _numbers(self, kind, scale):
        """The kind-th number of each noise, times a factor."""
        n = self._system.noises
        first = self._system.dim + kind * n
        return scale * Components(Symbol(self._graph.state(first + k)) for k in range(n))

    @property
    def dW(self):
        return self._numbers(0, np.sqrt(self.h / self._substeps))

    @property
    def Z(self):
        return self._numbers(0, 1.0 / np.sqrt(self._substeps))

    @property
    def I10(self):
        self.second = INTEGRALS
        part = self.h / self._substeps
        return self._numbers(1, part * np.sqrt(part))

    @property
    def halves(self):
        """Two independent normals for each noise, Z being their sum over sqrt(2).

        Given dW its integral over the step has the mean h dW / 2 and the variance h^3 / 12.
        """
        off, root = np.sqrt(12.0) / (self.h * self.root_h), np.sqrt(0.5)
        pairs = [(z, off * u) for z, u in zip(self.Z, self._off_mean())]
        return [root * (z + u) for z, u in pairs], [root * (z - u) for z, u in pairs]

    def _off_mean(self):
        """I10 less its mean given dW, h dW / 2."""
        return [i - 0.5 * self.h * w for i, w in zip(self.I10, self.dW)]

    @property
    def signs(self):
        """1 or -1 for each noise, with the same chance, independent of dW."""
        return [np.where(u > 0, 1.0, -1.0) for u in self._off_mean()]

    @property
    def next_dW(self):
        self.second = INCREMENTS_AHEAD
        return self._numbers(1, np.sqrt(self.h / self._substeps))

    # ---- the equations ----
    def _at(self, nodes, y, fraction):
        """Nodes of the system at a state, and at a fraction of the step."""
        graph = self._graph
        time = Symbol(graph.time())
        time = time if fraction == 0 else time + fraction * self.h
        state = [node_of(graph, value) for value in (self.y if y is None else y)]
        found = placed(graph, nodes, state.__getitem__, node_of(graph, time))
        return Components(map(Symbol, found))

    def drift(self, y=None, fraction=0.0):
        """f(t + fraction h, y)"""
        return self._at(self._drift, y, fraction)

    def force(self, x, v, fraction=0.0):
        """The acceleration of a Langevin system without friction."""
        return self._at(self._system.traced.outputs["force"], [*x, *v], fraction)

    def kick(self, numbers, y=None, fraction=0.0):
        """g(t + fraction h, y) times a number for each noise; None where no noise acts."""
        columns = [self.column(k, y, fraction) for k in range(self._system.noises)]
        return reduce(operator.add, map(operator.mul, numbers, columns))

    def column(self, k, y=None, fraction=0.0):
        """The components that noise k moves, g_k(t + fraction h, y); None for the others."""
        rows = self._system.traced.outputs["diffusion"][k :: self._system.noises]
        entries = self._at(rows, y, fraction)
        return Components(None if is_zero(a) else b for a, b in zip(rows, entries))

    def changes(self):
        """(j, k, L^j g_k), L^j g_k = sum_l g_lj dg_k/dy_l, where it is not zero, j <= k."""
        for (j, k), parts in derivatives_along(self._system.traced, self._system.noises).items():
            if j <= k:
                found = dict(zip(parts, self._at([*parts.values()], None, 0.0)))
                yield j, k, Components(map(found.get, range(self._system.dim)))

    # ---- Langevin ----
    @property
    def friction(self):
        return self._bath[0]

    @property
    def _bath(self):
        """The friction, and temperature / mass of each coordinate."""
        return self._at(self._system.traced.outputs["bath"], None, 0.0)

    def bath(self, v, h, normals):
        """v after a time h of friction and noise alone, exactly."""
        friction, *heat = self._bath
        c = np.exp(-(friction * h))
        spread = np.sqrt(-np.expm1(-2.0 * (friction * h)))  # sqrt(1 - c^2), and exact near c = 1
        return Components(
            c * one + (spread * np.sqrt(square)) * R for one, square, R in zip(v, heat, normals)
        )


def derivatives_along(traced, m):
    """{(j, k): {i: component i of L^j g_k}}, without zeros."""
    graph, g = traced.graph, traced.outputs["diffusion"]
    state = [graph.state(i) for i in range(graph.dim)]
    found = {}
    slopes = forward(g, state)
    for j, k, i in product(range(m), range(m), range(graph.dim)):
        slope = slopes[i * m + k]
        terms = [g[at * m + j] * slope[s.number] for at, s in enumerate(state)
                 if s.number in slope and not is_zero(g[at * m + j])]  # fmt: skip
        if terms:
            found.setdefault((j, k), {})[i] = reduce(operator.add, terms)
    return found


def converted(system, interpretation):
    """The drift of the same equation in a calculus: Stratonovich's lacks sum_j L^j g_j / 2."""
    drift = [*system.traced.slope]
    if interpretation == system.interpretation:
        return drift
    half = -0.5 if interpretation == "stratonovich" else 0.5
    for (j, k), parts in derivatives_along(system.traced, system.noises).items():
        for i, term in parts.items() if j == k else ():
            drift[i] = drift[i] + term * half
    return drift


def step_program(system, method):
    """The byte code of a step of a method."""
    source = system.traced
    graph, after, second = system.next_state(method)
    state, time = [graph.state(i) for i in range(system.dim)], graph.time()
    outputs = {
        "next": after,
        "rhs": placed(graph, source.slope, state.__getitem__, time),
    }
    if "energy" in source.outputs:
        outputs["energy"] = placed(graph, source.outputs["energy"], state.__getitem__, time)
    return assemble(graph, outputs, source.n_params, system.noises, second)
