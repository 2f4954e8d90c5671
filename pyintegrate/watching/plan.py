"""The watches of a run, as programs for the core: one for all that have the same every=."""

from itertools import chain, islice

import numpy as np

from ..trace.elementary import real
from ..trace.expression import Symbol, node_of
from ..trace.program import BANK_SHIFT, T, Y
from ..values.checks import printable
from . import time_weighted
from .accumulators import CHANGE, ENERGY, MOST_REDUCED, STATE, Accumulators, Shared
from .analyses import expanded
from .quantity import View, asked_names, check_quantity, invariant_names, named, phase_numbers
from .reductions import Reduction

MOST_SUMS = 4096  # for one trajectory


class Group(Shared):
    """The reductions that include every k-th step, as one program.

    Attributes
    ----------
    every : int
    program : Program
    asks : int
        The inputs that the program needs from the core: csrc/watching/watch.h.
    sums : int
        How many sums the program computes.
    reduced : tuple
        The reductions that the core computes itself; their sums follow those of the program.
    change : bool
        Whether the core needs the initial energy of the motion.
    across : tuple
        Accumulators of the whole batch (``Shared.over_batch``). By the name of a statistic
        ``across_places`` has their indices, ``signatures`` the byte code of its quantities.
    after : dict of bytes to ndarray
        The different values of ``after=``, by their bytes.
    initial : ndarray
        The initial value of each sum.
    numbers : dict
        The program's parameters that are not parameters of the system, and their values;
        None: known when the run begins.
    """

    def __init__(self, system, every, numbers, restarts, uneven, reductions, across):
        super().__init__(every, uneven)
        places = {} if uneven else _known(system, reductions)
        asking = [*(r for name, r in reductions.items() if name not in places), *across.values()]
        quantities = {q for one in asking for q in one.quantities}
        quantities = asked_names(quantities, system, numbers)
        self.numbers = dict(numbers)
        if "energy_error" in quantities:
            self.numbers |= {"_energy": None, "_energy_scale": None}
        if "phase_drift" in quantities:
            self.numbers |= dict.fromkeys(phase_numbers(system))
        self.after = {
            r.after.tobytes(): r.after for r in reductions.values() if r.after is not None
        }
        self.numbers |= {f"_after{i}": value for i, value in enumerate(self.after.values())}
        if self.after:
            self.numbers["_forwards"] = None
        if restarts:
            self.numbers["_begin"] = np.zeros(())
        view = View(system, dict.fromkeys(self.numbers, ()), quantities)
        self.results, self._asked = {}, {}
        self.begin = view.params["_begin"] if restarts else None
        for name, reduction in reductions.items():
            self._trace(view, name, reduction, places.get(name))
        self.across_places, self.signatures = {}, {}
        for name, one in across.items():
            nodes = [real(node_of(view.graph, view.quantity(q))) for q in one.quantities]
            self.across_places[name] = [
                self.over_batch(kind, (nodes[i], nodes[j]), one) for kind, i, j in one.needs
            ]
            self.signatures[name] = view.program(nodes).bits
        self.initial = np.array([*(kept.initial for kept in self.kept), *self.reduced_initial])
        if len(self.initial) > MOST_SUMS:
            raise ValueError(
                f"watch keeps {len(self.initial)} numbers of each trajectory, at most {MOST_SUMS}:"
                " watch fewer quantities, or fewer bins"
            )
        self.sums = len(self.kept)
        self.change = any(source == CHANGE for _, source, _ in self.reduced)
        self.program = view.program([*(kept.node for kept in self.kept), *self.quantities])
        if self.timed or self.samples:
            self.timed_program, self.within_steps = view.within_steps(self.timed_nodes)
        self.asks = view.asks | clocks(self.program, system.dim)
        self._view = view

    def _trace(self, view, name, reduction, known):
        """The results of a watch by name; known: as in Accumulators."""
        if reduction.samples is not None and not self.uneven:
            raise ValueError(f"watch[{name!r}] has samples=: for pi.solve; here give every=")
        active, at = None, -1
        if reduction.after is not None:
            at = [*self.after].index(reduction.after.tobytes())
            active = view.is_after(f"_after{at}")
        own = reduction.name not in ("reduce", "density")
        quantity = None
        if reduction.quantity == "phase_drift":
            turns = Accumulators(view, self, None, None).unwrapped(view.phase_drift())
            quantity = Symbol(turns.node)
        elif own and known is None:
            quantity = view.quantity(reduction.quantity)
        rows = Accumulators(view, self, quantity, active, known, at)
        trace = time_weighted.BY_NAME.get(reduction.name) if self.uneven else None
        found = (trace or reduction.trace)(rows)
        self.results |= {name + suffix: result for suffix, result in found.items()}
        # Functions whose NaN would stay in the result: `beginning` evaluates them.
        if callable(reduction.quantity) and active is None and own and ".nan_step" in found:
            self._asked[name] = node_of(view.graph, rows.q)

    @property
    def beginning(self):
        """The names of functions whose NaN at the first step would stay in the results, and a
        program that evaluates them; None without any."""
        names, nodes = [*self._asked], [*self._asked.values()]
        return names, self._view.program(nodes) if nodes else None


# Reductions whose sums the core keeps if they include all steps (csrc/kernels/rows/reduce.h).
_KEPT_BY_CORE = (
    "maximum", "minimum", "max_abs", "total", "mean", "rms", "variance", "std", "slope",
)  # fmt: skip


def _known(system, reductions):
    """Where the core finds quantities of reductions without a program, by the name of the watch."""
    known = {
        name: place
        for name, one in reductions.items()
        if one.name in _KEPT_BY_CORE and one.after is None
        and (place := known_place(system, one.quantity))
    }  # fmt: skip
    return dict(islice(known.items(), MOST_REDUCED))


def known_place(system, what):
    """Where the core finds a quantity without a program: its source and index; else None."""
    if callable(what):
        return None
    if what in system.state_names:
        return STATE, system.state_names.index(what)
    if what in ("energy", "energy_error") and not callable(system.definition.energy):
        return ENERGY if what == "energy" else CHANGE, 0
    return None


def clocks(program, dim):
    """Bits (csrc/watching/watch.h): whether a program reads the time (4), the step's index (8)."""
    words = program.code[:, 2:]
    banks, numbers = words >> BANK_SHIFT, words & ((1 << BANK_SHIFT) - 1)
    step = (banks == Y) & (numbers == dim)
    return bool(np.any(banks == T)) << 2 | bool(np.any(step)) << 3


class Plan:
    """The watches of a run.

    Parameters
    ----------
    system : System
    watch : mapping of str to Reduction, or names of analyses; or None
    numbers : mapping of str to ndarray
        The params= of events, by name, which functions may take: ``EventPlan.given``.
    restarts : bool
        Whether trajectories restart, each at its own step: a parameter of the program, `_begin`.
    uneven : bool
        Whether the steps differ in length, as in a run to a tolerance.
    across : mapping of str to Statistic, optional

    Attributes
    ----------
    groups : list of Group
    """

    def __init__(self, system, watch, numbers=None, restarts=False, uneven=False, across=None):
        self.across, by_steps = {}, {}
        self.watch = {} if watch is None else checked(watch, system)
        for name, reduction in self.watch.items():
            by_steps.setdefault(reduction.every, ({}, {}))[0][name] = reduction
        if across is not None:
            from .batch.statistics import checked as checked_across

            self.across = checked_across(across, system)
        for name, one in self.across.items():
            by_steps.setdefault(one.every, ({}, {}))[1][name] = one
        numbers = self._own(numbers, system) if numbers else {}
        self.groups = [
            Group(system, every, numbers, restarts, uneven, *some)
            for every, some in by_steps.items()
        ]
        if len(self.groups) > 7:
            raise ValueError(
                f"watch and across have {len(self.groups)} different every=, at most 7: give"
                " several the same"
            )

    @property
    def kinds(self):
        """Reduction and quantity of the watches of named quantities that include every step."""
        return {
            name: r.kind
            for name, r in self.watch.items()
            if isinstance(r.quantity, str) and r.kind is not None
        }

    def _own(self, numbers, system):
        """The numbers of events that functions of watches name, unless a quantity has the name."""
        names = self.named(system) & {*numbers}
        names -= {*invariant_names(system), "energy", "energy_error", "phase", "phase_drift"}
        for name in names:
            if numbers[name] is None:
                raise ValueError(
                    f"watch: a function takes {name!r}, of which params= of several events give"
                    " different values: give each a name of its own"
                )
        return {name: numbers[name] for name in sorted(names)}

    def named(self, system):
        """The parameters and quantities that functions name."""
        several = [r.quantities for r in (*self.watch.values(), *self.across.values())]
        own = [r.quantity for r in self.watch.values() if r.name == "reduce"]
        return named(chain(*several), system) | named(own, system, 1)

    @property
    def shapes(self):
        """The batch shapes of the arguments after= and by=, by name."""
        return {
            f"after of {name!r}": r.after.shape
            for name, r in self.watch.items()
            if r.after is not None
        } | {f"by of {k!r}": one.by.shape for k, one in self.across.items() if one.by is not None}


def checked(watch, system):
    """Names and reductions of the argument `watch`."""
    analyses, watch = expanded(watch, system)
    for name, reduction in watch.items():
        if not isinstance(name, str) or not name or name.startswith("_"):
            raise TypeError(f"watch: a name must be text that does not begin with _, got {name!r}")
        printable("watch: a name", name)
        if not isinstance(reduction, Reduction):
            raise TypeError(
                f"watch[{name!r}] must come from pi.watch, as pi.watch.maximum('x'), got"
                f" {reduction!r}"
            )
        for quantity in reduction.quantities:
            check_quantity(quantity, system, turns=reduction.name != "density")
    names = [name + "." for name in watch if name not in analyses]
    for name in watch:
        if any(name.startswith(other) for other in names):
            raise ValueError(f"watch: {name!r} could be a result of another: give it another name")
    return dict(watch)
