"""Quantities of a motion, as operations on its state: a component, an energy, a user's function."""

import operator

import numpy as np

from ..errors import quiet
from ..trace import tracing
from ..trace.borders import borders
from ..trace.expression import Symbol
from ..trace.graph import MASKS, MOST_NODES, Graph, below, degrees
from ..trace.program import assemble

_JUMPS = MASKS | {"sign", "floor", "rint", "fmod"}
_EXACT = {"time", "negative", "absolute", "copysign", "where", "minimum", "maximum"}
_MOST_ROUNDED = 64
_rounded: dict = {}  # programs of `rounded`, by those that they round: they are made once
_TOLD = 'a component, "energy", "energy_error", an invariant, "phase", or a function'


class View:
    """The symbols of a watch program: a state, the quantities that belong to it, and parameters.

    Its state in the core holds the components, the index of the step, the energy and the
    invariants if they are needed, and then the sums (csrc/watching/watch.h).

    Parameters
    ----------
    system : System
    extras : dict of str to tuple
        Names and shapes of parameters that are not the system's.
    asked : set of str
        Names that the program may need from the core: the energy, invariants.
    """

    def __init__(self, system, extras, asked):
        self.system, self.graph = system, Graph(0, 0)
        self.smooth = set()  # numbers of nodes of closed forms
        energy = system.has_energy and not asked.isdisjoint(("energy", "energy_error"))
        dim, names = system.dim, invariant_names(system)
        names = [] if asked.isdisjoint(names) else names
        shapes = {**system.shapes, **system.shapes_of_run, **extras}
        self.params, self.rows = tracing.parameter_symbols(self.graph, shapes)
        self.places = range(dim)  # of the components
        self.t, self.n = Symbol(self.graph.time()), Symbol(self.graph.state(dim))
        self.size = dim + 1
        called = system.definition.energy  # a function, for a force that the core cannot evaluate
        own = energy and not callable(called)
        self.energy = self.next() if own else None
        self.invariants = {name: self.next() for name in names}
        self.asks = bool(own) | bool(names) << 1
        if energy and not own:
            self.energy = self.quantity(called)

    def next(self):
        """The symbol of one more number of the core, such as a sum so far."""
        symbol = Symbol(self.graph.state(self.size))
        self.size += 1
        return symbol

    def program(self, nodes):
        """Byte code of some quantities."""
        self.graph.dim = self.size
        program = assemble(self.graph, {"invariants": nodes}, self.rows)
        program.handle  # noqa: B018  (the verifier agrees)
        return program

    def within_steps(self, quantities):
        """A program of quantities, and of what conditions in them compare, left minus right; and
        what the core knows of these within steps to a tolerance (PiLaneProgram of csrc).

        Without comparisons in closed forms, whose branches agree where they meet.
        quantities: (node, how it is timed).
        """
        nodes, hows = [node for node, _ in quantities], {how for _, how in quantities}
        compared, dim = borders(nodes, self.smooth), self.system.dim
        both = [*nodes, *compared]

        def component(node):
            return node.operation == "state" and node.value < dim

        program, known = (
            self.program(both),
            {
                "linear": None if compared or "turns" in hows else linear_factors(nodes, dim),
                "borders": border_factors(quantities, compared, dim),
                "degrees": tuple(map(float, degrees(both, component))),
                "reads": components_read(both, dim),
            },
        )
        if known["linear"] is None and known["borders"] is None:
            key = program.bits, program.sizes, dim
            if (made := _rounded.get(key)) is None and 4 * len(below(both)) < MOST_NODES:
                off = rounded(Graph(self.size, 0), both, dim)
                made = assemble(off[0].graph, {"invariants": off}, self.rows).handle
                if len(_rounded) == _MOST_ROUNDED:
                    _rounded.clear()
                _rounded[key] = made
            known["rounded"] = made
        return program, known

    def component(self, name):
        return Symbol(self.graph.state(self.places[self.system.state_names.index(name)]))

    def state(self, split):
        """The state as functions take it: positions and velocities, or all components."""
        nodes = [*map(self.graph.state, self.places)]
        return tracing.state_symbols(nodes, self.system.positions if split else 0)

    def quantity(self, what):
        """The symbol of a quantity: a name, or a function."""
        if callable(what):
            return Symbol(self.nodes(what, 1, "one number")[0])
        if what in self.system.state_names:
            return self.component(what)
        if what in ("energy", "energy_error") and self.energy is None:
            raise ValueError(
                f"the energy of {self.system.name!r} is not known beside tangents: write it as a"
                " function of the state"
            )
        if what == "energy":
            return self.energy
        if what == "energy_error":
            return (self.energy - self.params["_energy"]) / self.params["_energy_scale"]
        if what in self.invariants:
            return self.invariants[what]
        return self._phase()

    def is_after(self, name):
        """Whether the time of a parameter has come."""
        return (self.t - self.params[name]) * self.params["_forwards"] >= 0

    def phase_drift(self):
        """The phase minus that of the exact motion, but for whole turns."""
        start = self.params["_phase_time"]
        if self.system.phase_is_uniform:
            exact = self.params["_phase"] + self.params["_phase_rate"] * (self.t - start)
            return self._phase() - exact
        y0 = [self.params[name] for name in phase_numbers(self.system)[1:]]
        return self._phase() - self._closed("exact_phase", self.t, y0, start)

    def _phase(self):
        return self._closed("phase", [*map(self.component, self.system.state_names)], self.t)

    def _closed(self, what, *arguments):
        """A closed form of the system, whose operations count as smooth."""
        first, own = len(self.graph.nodes), {name: self.params[name] for name in self.system.params}
        found = tracing.call(self.system.closed_form(what), arguments, own)
        self.smooth.update(range(first, len(self.graph.nodes)))
        return found

    def nodes(self, function, count, what, before=()):
        """The nodes of what a function of (t, x, v, ...) or (t, y, ...) returns."""
        result = self.call(function, before=before)
        return tracing.components(function, self.graph, result, count, what)

    def result(self, function, own):
        """The node of one number or truth value."""
        value = self.call(function, own)
        return tracing.components(function, self.graph, value, 1, "one number", None)[0]

    def call(self, function, own=(), before=()):
        """The result of a function. own: symbols of its own parameters by name."""
        count, names = leading(function, self.system, len(before))
        arguments = tracing.arguments_of(function)
        known = {a.name: a.default for a in arguments if a.default is not a.empty}
        known |= self.invariants
        known |= {} if self.energy is None else {"energy": self.energy}
        known |= {key: self.params[key] for key in self.params if not key.startswith("_")}
        known |= dict(own)
        for name in names:
            if name not in known:
                raise TypeError(
                    f"{tracing.describe(function)} takes {name!r}, which is no parameter of"
                    f" {self.system.name!r} ({', '.join(known) or 'it has none'}): an event may"
                    " define it, params={...}"
                )
        state = self.state(count == 2)
        chosen = {name: known[name] for name in names}
        return tracing.call_twice(function, [*before, self.t, *state], chosen)


def phase_numbers(system):
    """Names of the parameters of the exact phase of a motion, besides the system's."""
    if system.phase_is_uniform:
        return ["_phase_time", "_phase", "_phase_rate"]
    return ["_phase_time", *(f"_phase_{name}" for name in system.state_names)]


def phase_of(system, state, t):
    """The values of ``phase_numbers`` for a motion with this state at time t."""
    state = np.asarray(state, dtype=np.float64)
    numbers = [t, *np.moveaxis(state, -1, 0)]
    if system.phase_is_uniform:
        numbers = [t, np.asarray(system.phase(state, t)), system._frequency(state)]
    return dict(zip(phase_numbers(system), numbers))


def has_exact_phase(system):
    """Whether its phase can be compared with that of the exact motion during the run."""
    known = system.closed_form("exact_phase") is not None or system.phase_is_uniform
    return known and system.closed_form("phase") is not None


def invariant_names(system):
    return [q[0] for q in system.definition.invariants]


def leading(function, system, before=0):
    """How many arguments the state takes (1: y; 2: x and v), and the names of the parameters."""
    told, arguments = tracing.describe(function), tracing.arguments_of(function)
    names = [a.name for a in arguments][before:]
    forms: dict[tuple[str, ...], int] = {("t", "y"): 1}
    if system.positions:
        forms |= {("t", "x", "v"): 2, ("t", "q", "p"): 2}
    for form, count in forms.items():
        if tuple(names[: len(form)]) == form:
            return count, names[len(form) :]
    first = ", ".join([a.name for a in arguments][:before])
    known = " or ".join(
        f"({first + ', ' if first else ''}{', '.join(form)}, ...)" for form in forms
    )
    got = ", ".join(a.name for a in arguments)
    raise TypeError(f"{told} takes ({got}): expected {known}")


def named(functions, system, before=0):
    """The parameters and quantities that functions name."""
    return {name for f in functions if callable(f) for name in leading(f, system, before)[1]}


def asked_names(quantities, system, own):
    """The set of names that quantities ask the core for; own: parameters not of the system."""
    asked = {what for what in quantities if isinstance(what, str)}
    return (asked | named(quantities, system)) - {*system.params, *own}


def check_quantity(what, system, turns=False):
    """Refuse what is no quantity of a system; turns: whether "phase_drift" is one here."""
    if callable(what):
        leading(what, system)
        return
    if not isinstance(what, str):
        raise TypeError(f"a quantity is {_TOLD}, got {what!r}")
    known = [*system.state_names, *invariant_names(system)]
    if what in known:
        return
    energy, phase = ("energy", "energy_error"), system.closed_form("phase") is not None
    known += [*energy] * system.has_energy + ["phase"] * phase
    known += ["phase_drift"] * (turns and has_exact_phase(system))
    if what in energy:
        if not system.has_energy:
            raise ValueError(f"{system.name!r} has no energy: give a function")
        if system.noise is not None and "energy" not in system.traced.outputs:
            raise ValueError(f"the energy of {system.name!r} has no formula: give a function")
    if what in known:
        return
    if what == "phase":
        raise ValueError(f"{system.name!r} has no phase in closed form: give a function")
    if what == "phase_drift" and turns:
        raise ValueError(
            f"{system.name!r} has no exact phase in closed form to compare with: watch its"
            ' turns, pi.watch.windings("phase"), and those of a reference with a smaller step'
        )
    raise ValueError(
        f"{system.name!r} has no quantity {what!r}; it has {', '.join(dict.fromkeys(known))}, and"
        f" functions ({'t, x, v' if system.positions else 't, y'}, parameters)"
    )


def label(what):
    """A quantity as text."""
    return what if isinstance(what, str) else getattr(what, "__name__", "function")


def energy_of(system, state, t):
    """The energy of a state in double precision, and the scale of its relative error."""
    energy = system.energy(np.asarray(state, dtype=np.float64), t)
    return energy, scale_of(energy)


def scale_of(energy):
    """The scale of a relative error: of 0 it is 1, of what has lost digits NaN."""
    scale = np.where(energy == 0, 1.0, np.abs(energy))
    return np.where(scale < np.finfo(scale.dtype).tiny, np.nan, scale)


def rounded(graph, nodes, dim):
    """Nodes in another graph, with each result off by a rounding, in turns up and down; but what
    jumps, and what operations take exactly, as it is. It tells what rounding does to quantities.
    """
    leaves, exact, off = graph.leaves, {}, {}
    for node in below(nodes):
        number, operation = node.number, node.operation
        if not node.arguments:
            exact[number] = new = leaves[operation](node.value)
        else:
            exact[number], new = (
                graph.make(operation, *(of[a.number] for a in node.arguments))
                for of in (exact, off)
            )
        if operation in _JUMPS:
            new = exact[number]
        elif not node.is_fixed and (
            node.value > dim if operation == "state" else operation not in _EXACT
        ):
            new = new * (1 + 2**-52 if number % 2 else 1 - 2**-52)
        off[number] = new
    return [off[node.number] for node in nodes]


def components_read(nodes, dim):
    """The components on which nodes depend, as bits; -1: all, or also on what the core adds."""
    rows = {node.value for node in below(nodes) if node.operation == "state"}
    return -1 if max(rows, default=0) >= min(dim, 63) else sum(1 << row for row in rows)


def linear_factors(nodes, dim):
    """The factors of the components in each quantity, one quantity after the other.

    None unless every quantity is linear in the components and depends on nothing else but
    parameters: within a step to a tolerance it is then a polynomial, as the states are.
    """
    found = {}
    with quiet():
        for node in below(nodes):
            found[node.number] = _factors(node, dim, found)
            if found[node.number] is None:
                return None
    return tuple(np.ravel([found[node.number] for node in nodes]).tolist())


def border_factors(quantities, compared, dim):
    """The factors of what is compared, after zeros for the quantities: (node, how it is timed).

    None unless every quantity is a condition made of comparisons alone, and all that is compared is
    linear: conditions are then constant over a step on which none of it comes to zero.
    """
    factors = linear_factors(compared, dim)
    if not factors or not all(how == "truth" and _only_compares(q) for q, how in quantities):
        return None
    return (0.0,) * (len(quantities) * dim) + factors


def _only_compares(node):
    arguments = node.arguments
    if node.operation == "where":
        return all(one.is_constant or _only_compares(one) for one in arguments)
    compares = len(arguments) == 2 and not any(one.is_mask for one in arguments)
    return node.is_mask and (compares or all(map(_only_compares, arguments)))


_LINEAR = {
    "add": operator.add, "subtract": operator.sub, "negative": lambda a, _: 0.0 - a,
}  # fmt: skip


def _factors(node, dim, found):
    """The factors of the components, (dim,), from those of the arguments; None: it has none."""
    if node.operation == "state" and node.value < dim:
        return np.where(np.arange(dim) == node.value, 1.0, 0.0)
    if node.is_fixed:
        return np.zeros(dim)
    if node.operation not in (*_LINEAR, "multiply", "divide"):
        return None
    first, last = node.arguments[0], node.arguments[-1]
    if node.operation == "multiply" and first.is_constant:
        first, last = last, first
    own = found[first.number]
    if node.operation not in ("multiply", "divide"):
        return _LINEAR[node.operation](own, found[last.number])
    if not last.is_constant:
        return None
    factor = last.value if node.operation == "multiply" else np.divide(1.0, last.value)
    return np.where(own != 0, own * factor, own)
