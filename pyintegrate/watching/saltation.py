"""How tangents pass a jump: by the saltation matrix, from the formulas of a run.

A neighbour y + d meets the event g = 0 later, by dt = -(grad g . d) / (dg/dt + grad g . f). Until
then it moves by f(t, y), while the motion itself, which has jumped to h(t, y), moves by f(t, h):

    d -> Dh d + (Dh f + dh/dt - f(t, h)) dt.

A parameter p among the directions adds dh/dp and dg/dp. Where a trajectory only touches g = 0 there
is no derivative: the divisor is 0. The steps of a method stand for f here, to its order.

References
----------
Aizerman, Gantmakher (1958), Quart. J. Mech. Appl. Math. 11, 225-241. Leine, Nijmeijer (2004),
Dynamics and Bifurcations of Non-Smooth Mechanical Systems, Springer, 7.4.
"""

from inspect import Parameter, Signature
from typing import Any

from ..errors import warn_caller
from ..tangents.tangent_system import force_of
from ..trace import tracing
from ..trace.derivative import directional
from ..trace.expression import Symbol, node_of
from ..trace.graph import below, placed
from ..values.parameters import elements_of
from .quantity import View, leading

# What may jump, and how many of its first arguments say when.
_JUMPS = {"where": 1, "sign": 1, "floor": 1, "rint": 1, "copysign": 2, "fmod": 2}


class BaseView(View):
    """The base motion alone in the program of a system with tangents."""

    def __init__(self, view):
        self.__dict__ |= view.__dict__
        self.system, self.places = view.system.base, view.system.places[:, 0]


def whole_jump(view, name, g, new):
    """The motion and its tangents after a jump.

    Parameters
    ----------
    view : View
        The view of a system with tangents.
    name : str
        The event's name, for errors.
    g : Node or None
        The quantity that crosses zero; None for a condition, which is met at a step: dt = 0.
    new : list of Node
        The motion after the jump.

    Returns
    -------
    list of Node
    """
    graph, system = view.graph, view.system
    if g is not None and system.noise is not None:
        raise ValueError(
            f"events[{name!r}] jumps where a path with noise crosses zero, and tangents would need"
            " its rate there, which no path has: give a condition, which holds at a step"
        )
    places, n = system.places, len(system.directions)
    before = [graph.state(int(place)) for place in places[:, 0]]
    force, one = _force(view, before), graph.constant(1.0)
    seeds = {
        node.number: {j: graph.state(int(place)) for j, place in enumerate(row[1:])} | {n: f}
        for node, row, f in zip(before, places, force)
    }
    seeds[graph.time().number] = {n: one}
    rows = dict(elements_of(system.base, tuple(system.params)))
    for j, direction in enumerate(system.directions):
        if direction in rows:
            seeds[graph.parameter(rows[direction]).number] = {j: one}
    found = directional(new if g is None else [*new, g], seeds)
    late = {} if g is None else _late(name, g, found.pop(), n, seeds)
    after, zero = _force(view, new), graph.constant(0.0)
    whole = [zero] * system.dim
    for row, y, along, f in zip(places, new, found, after):
        whole[row[0]] = y
        less = along.get(n, zero) - f
        for j, place in enumerate(row[1:]):
            change = along.get(j, zero)
            if j in late:
                change = change + less * late[j]
            whole[place] = change
    return whole


def _late(name, g, slope, n, seeds):
    """How much later a neighbour along each direction meets the event."""
    if any(node.operation == "state" and node.number not in seeds for node in below([g])):
        raise ValueError(
            f"events[{name!r}] jumps where a quantity crosses zero that only the core computes, and"
            " the saltation matrix needs its derivative: write it as a function of the state"
        )
    moves = {number for number, along in seeds.items() if along.keys() - {n}}
    jumps = {
        node.operation
        for node in below([g])
        if any(a.number in moves for a in below(node.arguments[: _JUMPS.get(node.operation, 0)]))
    }
    if jumps:
        warn_caller(
            f"the quantity of events[{name!r}] may jump ({', '.join(sorted(jumps))}), and where it"
            " jumps through zero its tangents are wrong: give one that passes through zero, such as"
            " np.sin(np.pi * t / T) for a clock"
        )
    if n not in slope:
        return {}
    inverse = -1.0 / slope[n]
    return {j: change * inverse for j, change in slope.items() if j != n}


def _force(view, state):
    """The rate of the motion at a state, in the program of an event."""
    places = map(int, view.system.places[:, 0])
    moved = dict(zip(places, state))
    return rates_of(view.graph, view.system.base, view.system.traced, moved)


def rates_of(graph, system, traced, moved):
    """The rates of the components of a motion, as nodes of another graph.

    Parameters
    ----------
    graph : Graph
        With the system's parameters as its first rows.
    system : System
    traced : Traced
        Its force, perhaps with tangents.
    moved : dict of int to Node
        The components of the state by their places in the force, those of the motion first.

    Returns
    -------
    list of Node
    """
    dim, dof, outputs = system.dim, system.dof, traced.outputs
    second = outputs["acceleration" if dof else "rhs"][: dof or dim]
    first = outputs["velocity"][:dof] if "velocity" in outputs else []
    made = placed(graph, [*first, *second], moved.__getitem__)
    return made if first else [*[*moved.values()][dof : 2 * dof], *made]


def rate_of(system, quantity):
    """How fast a component, or a function of the state, changes along a motion.

    Parameters
    ----------
    system : System
    quantity : str or callable

    Returns
    -------
    callable
        A function of (t, y) and any parameters, for events and watches.

    Raises
    ------
    ValueError
        The force is no formula.
    """
    traced = force_of(system)
    if traced is None:
        raise ValueError(f"the force of {system.name!r} is no formula: give the rate as a function")
    count, names = leading(quantity, system) if callable(quantity) else (1, [])

    def rate(t, y, **params):
        graph, nodes = t.node.graph, [one.node for one in y]
        if callable(quantity):
            state = tracing.state_symbols(nodes, system.positions if count == 2 else 0)
            height = node_of(graph, quantity(t, *state, **params))
        else:
            height = nodes[system.state_names.index(quantity)]
        moved = dict(enumerate(nodes))
        force = rates_of(graph, system, traced, moved)
        seeds = {node.number: {0: f} for node, f in zip(moved.values(), force)}
        seeds[graph.time().number] = {0: graph.constant(1.0)}
        return Symbol(directional([height], seeds)[0].get(0, graph.constant(0.0)))

    form = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("t", "y", *names)]
    told: Any = rate
    told.__signature__ = Signature(form)
    return rate
