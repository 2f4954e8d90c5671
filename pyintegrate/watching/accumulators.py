"""The numbers that reductions accumulate: symbols of their values so far, and after a step."""

from itertools import pairwise
from typing import Any

import numpy as np

from .. import _core
from ..trace.elementary import real
from ..trace.expression import Symbol, Vector, node_of
from .later import BEGAN, COUNT, UNIT, Later, later, seen

MOST_REDUCED = 128  # in one program: PI_MAX_REDUCED


class Accumulator:
    """A number that is accumulated for each trajectory.

    Attributes
    ----------
    old : Symbol
        Its value so far.
    value : Later
        Its last value.
    """

    def __init__(self, rows, initial):
        self.rows, self.initial = rows, float(initial)
        self.old, self.node, row = rows.view.next(), None, len(rows.shared.kept)
        self.value = Later(lambda totals: totals.values[row])
        rows.shared.kept.append(self)

    def then(self, symbol, where=None):
        """Set its value after a step that counts, or after those where a condition holds."""
        if where is not None:
            symbol = np.where(where, symbol, self.old)
        if self.rows.active is not None:
            symbol = np.where(self.rows.active, symbol, self.old)
        graph = self.rows.view.graph
        self.node = real(node_of(graph, symbol))


@later
def _whole_sum(high, low, term=None):
    """A sum of two parts, after a further term."""
    if term is not None:
        high, low = added(high, low, term)
    return np.where(np.isfinite(low), high + low, high)


@later
def _spoiled(index, squares, first):
    """Whether a NaN is in sums of distances; those from an infinite value are NaN as well."""
    return (np.isnan(index) | np.isnan(squares)) & ~np.isinf(first)


@later
def _from_restart(by_index, once, began):
    """The sum of index d, whose index counts from the restart of a trajectory."""
    return np.where(began == 0, by_index, by_index - began * once) if np.any(began) else by_index


def added(high, low, term):
    """A sum and its accumulated rounding error after a further term (Neumaier 1974)."""
    t = high + term
    z = t - high  # Knuth's exact error of t, whichever of the two is larger
    return t, low + ((high - (t - z)) + (term - z))


# PiDeclared of csrc/watching/reductions.h: number, initial rows, the first row at a restart.
REDUCTIONS, TIMED = _core.reductions, _core.reductions_over_time
PASSES = {1: "rises", -1: "falls", 0: "passes"}  # zero crossings for events, by direction
PROGRAM, STATE, ENERGY, CHANGE = range(4)  # of a quantity: PiSource of csrc/tiles.h


class Reduced:
    """The rows of a reduction that the core computes itself.

    For the relative change of the energy the core keeps (E - E0) times a power of two; the
    remaining factor of the division is applied here, in the unit of the quantity.
    """

    def __init__(self, shared, first, source, is_line):
        self.shared, self.first, self.change = shared, first, source == CHANGE
        self.is_line = is_line

    def __getitem__(self, i):
        """A row without conversion."""
        return Later(lambda totals: totals.values[len(self.shared.kept) + self.first + i])

    @property
    def value(self):
        """The first row, converted to the quantity's unit."""
        return self._in_unit(self[0])

    def sum(self, power=1):
        """A sum of two parts, in the quantity's unit to a power."""
        return self._in_unit(_whole_sum(self[0], self[1]), power)

    def line(self):
        """The sums of d, index d and d^2, up to the last step that counts."""
        rest = self[7], (COUNT + BEGAN) * self[7] - self[8], self[9]
        once, index, squares = (
            self._in_unit(_whole_sum(self[i], self[i + 1], term), power)
            for i, power, term in zip((1, 3, 5), (1, 1, 2), rest)
        )
        return once, _from_restart(index, once, BEGAN), squares

    @property
    def nan_step(self):
        """The first step at which the quantity was NaN, -1 if there was none.

        Extremes and sums hold it in their second row, lines in the low part of a sum.
        """
        if self.is_line:
            return seen(self[6], _spoiled(self[5], self[9], self[0])).whole
        return seen(self[1], np.isnan(self[0])).whole

    def _in_unit(self, value, power=1):
        for _ in range(power if self.change else 0):
            value = value / UNIT
        return value


class Shared:
    """Everything that the reductions of one program keep: they share equal accumulators.

    Attributes
    ----------
    uneven : bool
        Whether the steps differ in length, between lanes and in time.
    kept : list of Accumulator
    quantities : list of Node
    reduced : list of tuple of int
        Reductions that the core computes: index, source (PROGRAM, ...), index in the source.
    timed : list of tuple of int
        Those over time, of steps that differ in length: kind, quantity, row of `after` or -1.
    densities : list of dict
        Bins of images, for the core.
    samples : list of dict
        Counts at equal times: also row of `after` or -1, number of times, whether each trajectory
        has its own.
    """

    def __init__(self, every, uneven):
        self.every, self.uneven, self.kept, self.known = every, uneven, [], {}
        self.quantities, self.reduced, self.reduced_initial = [], [], []
        self.densities = []
        self.across = []
        self.timed, self.timed_nodes, self.timed_initial = [], [], []
        self.samples = []
        self.begin = None  # the index of the first step that counts, if it is not 0

    def once(self, key, make):
        """Make once for a key."""
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def quantity(self, node):
        """The index of a quantity that the program gives to the core."""
        if node not in self.quantities:
            self.quantities.append(node)
        return self.quantities.index(node)

    def density(self, nodes, edges):
        """One image of quantities over bins; edges: one array for each quantity."""
        self.densities.append(bins_of([*map(self.quantity, nodes)], edges))
        at = len(self.densities) - 1
        return Later(lambda totals: totals.images[at])

    def over_batch(self, kind, nodes, one):
        """The index of an accumulator of the whole batch, for a Statistic: equal ones are shared.

        nodes: one or two. Kept as (kind, quantities, by, about, edges).
        """
        by = None if one.by is None else (one.by.shape, one.by.tobytes())
        about, edges = one.options.get("about", 0.0), one.options.get("edges")
        key = "across", kind, *nodes, by, about, None if edges is None else edges.tobytes()

        def make():
            self.across.append((kind, tuple(map(self.quantity, nodes)), one.by, about, edges))
            return len(self.across) - 1

        return self.once(key, make)

    def reduce(self, kind, source, number):
        which, initial, _ = REDUCTIONS[kind]
        self.reduced.append((which, source, number))
        self.reduced_initial += initial
        return Reduced(self, len(self.reduced_initial) - len(initial), source, kind == "line")


class Accumulators:
    """The accumulators of one reduction.

    Attributes
    ----------
    q, t : Symbol
        The quantity, and the time.
    active : Symbol or None
        Whether the step counts, if not all do.
    known : tuple of int or None
        Where the core finds the quantity without a program: STATE and a component, ENERGY, CHANGE.
    """

    def __init__(self, view, shared, quantity, active, known=None, after=-1):
        self.view, self.shared, self.active, self.known = view, shared, active, known
        self.after = after  # the row of times from which steps count
        self.uneven = shared.uneven  # sums are then weighted by time: time_weighted.py
        self.t = view.t
        self.q: Any = None if quantity is None else number(view.graph, quantity)

    def keep(self, initial):
        return Accumulator(self, initial)

    def _once(self, what, symbol, make):
        """Make once for a symbol, shared by all reductions that include the same steps."""
        nodes = [None if s is None else node_of(self.view.graph, s) for s in (symbol, self.active)]
        key = (what, *(None if node is None else node.number for node in nodes))
        return self.shared.once(key, make)

    def timed(self, kind, resolved_as=None):
        """The numbers of the quantity's reduction over time by the core, named in
        csrc/watching/reductions.c; resolved_as: another kind, as for which it is resolved."""
        shared = self.shared

        def make():
            number, initial, _ = TIMED[kind]
            quantity = self._timed_quantity(self.q, resolved_as or kind)
            shared.timed.append((number, quantity, self.after))
            first = len(shared.timed_initial)
            shared.timed_initial += initial
            return [Later(lambda totals, i=first + i: totals.timed[i]) for i in range(len(initial))]

        return self._once(f"timed {kind}", self.q, make)

    def _timed_quantity(self, symbol, kind="value"):
        """The number of a quantity among those that are reduced over time."""
        # Turns and truth values are resolved in another way than a number is.
        node = real(node_of(self.view.graph, symbol))
        key, keys = (node, kind if kind in ("turns", "truth") else "value"), self.shared.timed_nodes
        if key not in keys:
            keys.append(key)
        return keys.index(key)

    def sampled(self, symbols, edges, samples, each):
        """Counts in bins at so many equal times, for each trajectory or for all together."""
        bins = bins_of([*map(self._timed_quantity, symbols)], edges)
        told = {"after": self.after, "samples": samples or 1000, "each": int(each)}
        self.shared.samples.append(bins | told)
        at = len(self.shared.samples) - 1
        return Later(lambda totals: totals.images[at])

    def reduced(self, kind):
        """The quantity's reduction by the core; None if only some steps count."""
        shared = self.shared
        if self.known is not None:
            return shared.once((kind, *self.known), lambda: shared.reduce(kind, *self.known))
        if self.active is not None or self.uneven or len(shared.reduced) >= MOST_REDUCED:
            return None
        node = node_of(self.view.graph, self.q)
        return self._once(kind, self.q, lambda: shared.reduce(kind, PROGRAM, shared.quantity(node)))

    @property
    def _count(self):
        """The number of steps that count: before this one, and of all."""

        def make():
            if self.active is None and not self.uneven:  # all do: known without counting
                number, begin = self.view.n / float(self.shared.every), self.shared.begin
                return number if begin is None else number - begin, COUNT
            n = self.keep(0.0)
            n.then(n.old + 1.0)
            return n.old, n.value

        return self._once("count", None, make)

    @property
    def count(self):
        """The number of steps that count."""
        return self._count[1]

    def number_of(self, condition):
        """The number of steps that count at which a condition holds."""
        n = self.keep(0.0)
        n.then(n.old + np.where(condition, 1.0, 0.0))
        return n.value.whole

    @property
    def nan_step(self):
        """The first step at which the quantity was NaN, -1 if there was none."""

        def make():
            at = self.keep(np.nan)
            at.then(self.view.n, (at.old != at.old) & (self.q != self.q))
            return at

        return self._once("nan", self.q, make).value.whole

    @property
    def index(self):
        """The index of this step among those that count, from 0."""
        return self._count[0]

    @property
    def is_first(self):
        return self.index == 0

    def first(self, symbol):
        """The value of a symbol at the first step."""

        def make():
            value = self.keep(np.nan)
            value.then(symbol, self.is_first)
            return value

        return self._once("first", symbol, make)

    @property
    def shifted(self):
        """The quantity minus its first value: sums of squares are then not lost to cancellation."""
        return self.q - np.where(self.is_first, self.q, self.first(self.q).old)

    def before(self, symbol, steps=1):
        """A symbol's value some steps ago."""

        def make():
            value = self.keep(np.nan)
            value.then(symbol if steps == 1 else self.before(symbol, steps - 1))
            return value

        return self._once(f"{steps} before", symbol, make).old

    def sum(self, symbol):
        """The sum of a symbol over the steps."""
        symbol = number(self.view.graph, symbol)

        def make():
            high, low = self.keep(0.0), self.keep(0.0)
            after = added(high.old, low.old, symbol)
            high.then(after[0])
            low.then(after[1])
            return _whole_sum(high.value, low.value)

        return self._once("sum", symbol, make)

    def unwrapped(self, angle):
        """An angle that continues from step to step without jumps of a turn, from [-pi, pi]."""

        def make():
            turn, value = 2 * np.pi, self.keep(np.nan)
            base = np.where(value.old == value.old, value.old, 0.0)
            # A NaN stays: the angle cannot be followed any further.
            new = angle - turn * np.rint((angle - base) / turn)
            value.then(new, self.is_first | (value.old == value.old))
            value.new = new
            return value

        return self._once("unwrapped", angle, make)

    def tally(self, edges):
        """How often the quantity is in each bin; the last edge belongs to the last bin."""
        above = [self.q >= float(edge) for edge in edges[:-1]]
        above.append(~(self.q <= float(edges[-1])))
        return [self.number_of(low & ~high) for low, high in pairwise(above)]

    def update(self, function, kept, axes):
        """The results of a user's update function: as many symbols as are kept."""
        if axes:
            array = np.empty(len(kept), dtype=object)
            array[:] = [item.old for item in kept]
            before = Vector(array)
        else:
            before = kept[0].old
        what = f"{len(kept)} numbers" if axes else "one number"
        nodes = self.view.nodes(function, len(kept), what, before=[before])
        return [Symbol(node) for node in nodes]


def number(graph, symbol):
    """A truth value as 0 or 1."""
    return Symbol(real(node_of(graph, symbol)))


def bins_of(quantities, edges):
    """One or two quantities in bins, for the core: PiBins of csrc/watching/batch/density.h."""
    return {
        "axes": len(edges), "first": quantities[0], "second": quantities[-1],
        "rows": len(edges[0]) - 1, "columns": len(edges[-1]) - 1 if len(edges) > 1 else 1,
        "row_edges": edges[0], "column_edges": edges[1] if len(edges) > 1 else np.zeros(2),
    }  # fmt: skip


def image_of(bins, lanes=()):
    """Zeros of the shape of such bins."""
    return np.zeros((*lanes, *(bins["rows"], bins["columns"])[: bins["axes"]]), np.int64)


def cubic_root(a, b, c, d):
    """Where in 0 .. 1 the cubic through (-1, a), (0, b), (1, c), (2, d) is zero, if b < 0 <= c.

    Newton's method from the root of the chord; three iterations, each of which squares the error,
    and of which none leaves the step, however rough the values are.
    """
    one = (c - a) * 0.5
    third = (d - 3 * c + 3 * b - a) / 6
    two = (c + a) * 0.5 - b
    slope, x = one - third, b / (b - c)  # b + slope x + two x^2 + third x^3
    for _ in range(3):
        value = ((third * x + two) * x + slope) * x + b
        x = np.clip(x - value / ((3 * third * x + 2 * two) * x + slope), 0.0, 1.0)
    return x
