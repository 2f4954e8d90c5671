"""``pi.event``: a quantity whose sign change is located, and its consequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from ..trace import tracing
from ..trace.borders import timed_branch
from ..trace.expression import Symbol, node_of
from ..trace.graph import below, placed
from ..values.checks import floats, integer, printable, truth
from ..values.keywords import explains_keywords
from ..values.types import ArrayLike, Quantity
from .accumulators import CHANGE, PASSES, PROGRAM, REDUCTIONS
from .plan import clocks, known_place
from .quantity import View, asked_names, check_quantity, components_read, label, leading, named
from .saltation import BaseView, whole_jump

MOST_EVENTS = 100
MOST_KEPT = 1 << 32


@dataclass(frozen=True, eq=False, repr=False)
class Event:
    """An event; made by ``pi.event``."""

    quantity: Quantity
    direction: int
    stop: int
    keep: int
    then: Callable[..., Any] | None
    values: Callable[..., Any] | None
    params: dict[str, Any]
    max_per_step: int
    after: Any
    level: Any
    bridge: bool

    def __repr__(self):
        return f"<pi.event of {label(self.quantity)}>"


def _function(name, value):
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function, got {value!r}")
    return value


def _floats(name, value):
    return None if value is None else floats(name, value)


@explains_keywords()
def event(
    quantity: Quantity,
    direction: int | None = None,
    stop: bool | int | None = None,
    keep: int = 1,
    then: Callable[..., Any] | None = None,
    values: Callable[..., Any] | None = None,
    params: Mapping[str, ArrayLike] | None = None,
    max_per_step: int = 100,
    after: ArrayLike | None = None,
    level: ArrayLike | None = None,
    bridge: bool = False,
) -> Event:
    """An event: a quantity of each trajectory crosses zero.

    Between steps n and n + 1 it rises if g_n < 0 <= g_(n+1), and falls if g_n > 0 >= g_(n+1);
    a zero at the start is no event. If the values at three steps indicate that it may cross zero
    and return within one step, both crossings are searched for (in the first step of a run by a
    step backwards). A quantity whose period is about a step looks slow, and nothing shows that its
    crossings are missed: a step must be well below a period. If a step has three crossings or more,
    all are located, and ``.unresolved`` is True, since other steps may hide two; it is also True
    where the quantity becomes NaN. After a jump a quantity starts from its new value: a zero that
    the jump skips is no event. The time is located to rounding by repeating a part of the step: it
    has the order of the method. The state is on the side before the crossing (under `solve`, to
    rounding, unless the event stops or jumps).
    A condition (``lambda t, x, v: x @ x > 4``) occurs at the first step where it holds, which may
    be the start, or at the jump of another event after which it holds and before which it did not.

    Parameters
    ----------
    quantity : str or callable
        A component, "energy", "energy_error", an invariant, "phase", or a function of (t, x, v)
        or (t, y) and any parameters, the energy or invariants by name; other arguments need a
        value, ``c=0.5``, or one in `params`. Traced like a force.
    direction : {-1, 0, 1}, optional
        -1: it falls, 1: it rises, 0: either, as the steps go. Default: the sign of the function's
        attribute ``direction``, as in SciPy's ``solve_ivp``; 0 if it has none.
    stop : bool or int, optional
        Whether the trajectory ends there; a number n: at the n-th event. Its status is STOPPED.
        Default: the function's attribute ``terminal``; without it the trajectory continues.
    keep : int
        How many events of each trajectory to keep, from the first on; all are counted.
    then : callable, optional
        ``then(t, x, v, ...)`` -> (x, v), or ``then(t, y, ...)`` -> y: the state jumps, and the rest
        of the step continues from there. A quantity that jumps through zero, such as that of a
        clock, ``np.mod(t, T) - T / 2``, has its event once at each jump. For
        ``system.tangent(...)`` this and `quantity` take only the base motion: its tangents jump by
        the saltation matrix.
    values : callable, optional
        A tuple of numbers to keep at each event.
    params : mapping of str to array_like, optional
        Numbers for the functions besides the system's parameters, for all trajectories or for each;
        functions of watches may name them too.
    max_per_step : int
        More events than this in a step end the trajectory with status ZENO.
    after : array_like, optional
        A time, or one for each trajectory: there are no events before the first step from there on.
    level : array_like, optional
        The value that the quantity crosses, or one for each trajectory; 0 by default.
    bridge : bool
        With noise: whether the path may cross between two states on one side, with the chance and
        at the time of a Brownian bridge with the quantity's own diffusion; once a step. The random
        numbers are its own: no path changes. Not for a quantity that no noise moves, such as the
        position of a heat bath.

    Returns
    -------
    Event
        For ``events={"name": ...}`` of ``integrate``; results are in ``solution.events["name"]``.

    Raises
    ------
    ValueError
        When a run begins: the quantity is not finite at the start of a trajectory whose state is
        finite, so that its sign says nothing.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> landing = {"ground": pi.event("z", direction=-1, stop=True)}
    >>> sol = pi.integrate(pi.systems.projectile, [0, 0, 1], [3, 0, 4], dt=0.01, n_steps=1000,
    ...                    save="final", events=landing)
    >>> round(float(sol.stopped_at), 9), abs(float(sol.final[2])) < 1e-12
    (1.01613143, True)
    """
    if direction is None:
        direction = getattr(quantity, "direction", 0)
        if isinstance(direction, Real):
            direction = int(np.sign(float(direction)))
    if stop is None:
        stop = getattr(quantity, "terminal", False) or False
    known = isinstance(direction, Real) and not isinstance(direction, bool)
    if not known or direction not in (-1, 0, 1):
        raise ValueError(f"direction must be -1, 0 or 1, got {direction!r}")
    if not isinstance(params, Mapping | None):
        raise TypeError(f"params must map names to numbers, got {type(params).__name__}")
    return Event(
        quantity,
        int(direction),
        int(stop) if isinstance(stop, bool | np.bool_) else integer("stop", stop, 1),
        integer("keep", keep, 0, MOST_KEPT),
        _function("then", then),
        _function("values", values),
        {name: floats(f"params[{name!r}]", value) for name, value in (params or {}).items()},
        integer("max_per_step", max_per_step, 1),
        _floats("after", after),
        _floats("level", level),
        truth("bridge", bridge),
    )


class EventPlan:
    """The events of a run as two programs: all quantities, and the consequences of each event.

    Attributes
    ----------
    events : dict of str to Event
    program, react : Program
        The quantities; the rules and values one after the other, or None.
    reduced, initial
        How the core finds the zero crossing of each, as in plan.Group.
    first_counts : ndarray
        The counts of a trajectory before any event (PiEventRow of csrc/watching/events.h).
    told : list of dict
        Each event for the core, with the places of its results among those of `react` (PiEvent, in
        the same file).
    numbers, asks, every
        As in plan.Group.
    """

    every, sums, change, densities = 1, 0, False, ()

    def __init__(self, system, events):
        self.events = _checked(events, system)
        self.numbers = {}
        self.shapes = {}
        for key, one in self.events.items():
            for name, value in one.params.items():
                if name in system.params:
                    raise ValueError(f"params of event {key!r}: {name!r} is one of the system's")
                self.numbers[f"_{key}.{name}"] = value
                self.shapes[f"params[{name!r}] of event {key!r}"] = value.shape
            for word in ("after", "level"):
                if (value := getattr(one, word)) is not None:
                    self.numbers[f"_{key}..{word}"] = value
                    self.shapes[f"{word} of event {key!r}"] = value.shape
        if any(one.after is not None for one in self.events.values()):
            self.numbers["_forwards"] = None
        asked = set()
        for one in self.events.values():
            asked |= asked_names((one.quantity, one.then, one.values), system, one.params)
        if "energy_error" in asked:
            self.numbers |= {"_energy": None, "_energy_scale": None}
        view = View(system, dict.fromkeys(self.numbers, ()), asked)
        self.told, self.located, self._nodes, own_force = [], [], [], []
        self.reduced, initial, answers = [], [], []
        for number, (key, one) in enumerate(self.events.items()):
            own = {name: view.params[f"_{key}.{name}"] for name in one.params}
            node, passes, onto = _quantity(view, key, one, own)
            condition = passes is None
            direction = one.direction or int(condition)  # it occurs where it begins to hold
            kind = "begins" if condition and direction > 0 else PASSES[direction]
            kind = "bridged" if one.bridge else kind
            self.reduced.append((REDUCTIONS[kind][0], *_source(system, one, number)))
            # A condition that holds at the start begins to hold there.
            first = -1.0 if condition else np.nan
            initial += [first, first, *REDUCTIONS[kind][1][2:]]
            self._nodes.append(node)
            self.located.append(not condition)
            then = None if one.then is None else _jump(view, key, one, own, passes)
            values = [] if one.values is None else _numbers(view, one.values, own)
            if one.bridge:
                own_force += [node, *onto]
            elif then and has_tangents(system):
                own_force += then
            told = {"direction": direction, "located": int(not condition), "stop": one.stop,
                    "keep": one.keep, "n_values": len(values)}  # fmt: skip
            for name, nodes in (("onto", onto), ("then", then), ("value", values)):
                told[name] = -1 if nodes is None else len(answers)
                answers += _at(view, nodes or [], None if name == "onto" else onto)
            self.told.append(told)
        self._rows = {n.value for n in below(own_force) if n.operation == "parameter"}
        self.first_counts = np.array([0.0] * (5 * len(self.events)) + [np.nan] * 3)
        # A clock may tick in each step: those in which the time changes its branch are searched.
        clocked = () if system.noise else [n for n, at in zip(self._nodes, self.located) if at]
        found = timed_branch(clocked)
        if found:
            self.reduced.append((REDUCTIONS["branch"][0], PROGRAM, len(self._nodes)))
            initial += REDUCTIONS["branch"][1]
        self.initial = np.array(initial)
        self._view, self.program = view, view.program([*self._nodes, *found])
        self.react = view.program(answers) if answers else None
        self.asks = view.asks | clocks(self.program, system.dim)
        self.reads = components_read(self._nodes, system.dim)

    @property
    def given(self):
        """The numbers of ``params=``, by name, for functions of watches; None: events differ."""
        numbers: dict[str, Any] = {}
        for one in self.events.values():
            for name, value in one.params.items():
                before = numbers.setdefault(name, value)
                if before is not value and not np.array_equal(before, value):
                    numbers[name] = None
        return numbers

    def named(self, system):
        """The parameters and quantities that functions name, or that are part of the force or the
        diffusion in bridges and in tangents that jump."""
        functions = [(e.quantity, e.then, e.values) for e in self.events.values()]
        names = [name for name, shape in system.shapes.items() for _ in range(prod(shape))]
        return named(chain(*functions), system) | {names[i] for i in self._rows if i < len(names)}

    def within_steps(self):
        """See View: csrc/watching/pieces.h."""
        hows = ["value" if located else "truth" for located in self.located]
        return self._view.within_steps([*zip(self._nodes, hows)])


def _source(system, one, number):
    """Where the core finds the quantity of an event: source and index, as in Group.reduced."""
    changed = one.after is not None or one.level is not None or one.bridge
    place = None if changed else known_place(system, one.quantity)
    return place if place and place[0] != CHANGE else (PROGRAM, number)


def _quantity(view, key, one, own):
    """Nodes of an event: its quantity, NaN before `after`, -1 or 1 for a condition; what crosses
    zero, None for a condition; the state at the zero of a bridge, else None."""
    view, onto = _view_of(view, one), None
    if callable(one.quantity):
        node = view.result(one.quantity, own)
        symbol: Any = Symbol(node)
        condition = node.is_mask
        if condition:
            symbol = np.where(symbol, 1.0, -1.0)
    else:
        symbol, condition = view.quantity(one.quantity), False
    if one.level is not None:
        if condition:
            raise ValueError(f"level of event {key!r}: a condition has none: give a quantity")
        symbol = symbol - view.params[f"_{key}..level"]
    passes = None if condition else node_of(view.graph, symbol)
    if one.bridge:
        if condition:
            raise ValueError(f"bridge of event {key!r}: a condition is no quantity: give one")
        from .bridge import bridged

        symbol, onto = bridged(view, key, symbol)
    if one.after is not None:
        symbol = np.where(view.is_after(f"_{key}..after"), symbol, np.nan)
    return node_of(view.graph, symbol), passes, onto


def _jump(view, key, one, own, passes):
    """The nodes of the state after an event."""
    base = _view_of(view, one)
    new = _new_state(base, one.then, base.system, own)
    return new if base is view else whole_jump(view, key, passes, new)


def _view_of(view, one):
    """The view that an event's functions take: at a jump, the motion without its tangents."""
    return BaseView(view) if one.then is not None and has_tangents(view.system) else view


def has_tangents(system):
    return hasattr(system, "directions")


def _at(view, nodes, state):
    """Nodes at another state; None: at this one."""
    if state is None:
        return nodes
    own = view.graph.state
    return placed(view.graph, nodes, lambda i: state[i] if i < len(state) else own(i))


def _flat(result):
    """The numbers of nested tuples and vectors of symbols."""
    if isinstance(result, list | tuple):
        return [item for part in result for item in _flat(part)]
    return [*map(tracing.element, np.asarray(tracing.plain(result), dtype=object).ravel())]


def _numbers(view, function, own):
    """The nodes of all numbers that a function returns."""
    return tracing.nodes_of(function, view.graph, _flat(view.call(function, own)))


def _new_state(view, function, system, own):
    """The nodes of a state, from (x, v) or y."""
    nodes = _numbers(view, function, own)
    if len(nodes) != system.dim:
        form = "(x, v)" if leading(function, system)[0] == 2 else "y"
        raise ValueError(
            f"{tracing.describe(function)} returns {len(nodes)} numbers, expected {form}, all"
            f" {system.dim} components ({', '.join(system.state_names)})\n  at"
            f" {tracing.place_of_function(function)}"
        )
    if system.structure == "rigid_body" and nodes[3:7] != [*map(view.graph.state, range(3, 7))]:
        turn = np.array([*map(Symbol, nodes[3:7])])  # of length 1, as at the start
        nodes[3:7] = [node_of(view.graph, q) for q in turn / np.sqrt(turn @ turn)]
    return nodes


def check_method(method, events):
    """Refuse a method that remembers earlier states, since no part of its step can be repeated; and
    bridges with a method whose noise is a mean over two steps."""
    if method.family == "multistep" or not method.self_starting:
        raise ValueError(
            f"{method.name!r} remembers earlier states, so that no part of its step can be repeated"
            " to locate an event: use a one-step method such as 'rk4' or 'velocity_verlet'"
        )
    bridges = [key for key, one in events.items() if one.bridge]
    if bridges and getattr(method, "stationary_order", None):
        raise ValueError(
            f"bridge of event {bridges[0]!r}: steps of {method.name!r} have the mean of two steps'"
            " noise, and are no Brownian paths: use another method, such as 'euler_maruyama'"
        )


def _not_by_name(events):
    """The replacement for a function, or a list of functions, in SciPy's style."""
    several = list(events) if isinstance(events, list | tuple) else [events]
    if not several or not all(callable(one) for one in several):
        form = "{'ground': pi.event('z', stop=True)}"
        return f"events must map names to events, {form}, got {type(events).__name__}"
    parts = []
    for i, one in enumerate(several):
        word = getattr(one, "__name__", "")
        word = word if word.isidentifier() else f"event_{i}"
        parts.append(f"{word!r}: pi.event({word})")
    return (
        f"events have names here: events={{{', '.join(parts)}}}; a function takes (t, y) or"
        " (t, x, v), and is traced; its attributes terminal and direction count"
    )


def _checked(events, system):
    if not isinstance(events, Mapping):
        raise TypeError(_not_by_name(events))
    if not 0 < len(events) <= MOST_EVENTS:
        raise ValueError(f"events has {len(events)} events, expected 1 to {MOST_EVENTS}")
    for name, one in events.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"events: a name must be text, got {name!r}")
        printable("events: a name", name)
        if not isinstance(one, Event):
            raise TypeError(
                f"events[{name!r}] must come from pi.event, got {one!r}: write pi.event(...) of the"
                " function, or of a component's name"
            )
        jumps = one.then is not None and has_tangents(system)
        if not callable(one.quantity):
            check_quantity(one.quantity, system.base if jumps else system)
        if jumps and getattr(system, "traced", None) is None:
            raise ValueError(
                f"events[{name!r}] jumps, and a tangent passes a jump by its saltation matrix,"
                f" which needs the force of {system.name!r} as a formula, but that is called: leave"
                " then= out, integrate the base system alone, or let the force be traced"
            )
    return dict(events)
