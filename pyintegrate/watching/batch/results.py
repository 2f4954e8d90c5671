"""Accumulators of statistics across the batch, which merge exactly, and the results from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ...values.memory import check_memory
from ...values.table import Several, Table

# PiAcrossKind of csrc/watching/batch/across.h:
SUM, PRODUCT, EXTREMES, CELLS, BINS, VALUES = range(6)
LIMBS, UNITS = {SUM: 68, PRODUCT: 136}, 1074  # a sum counts 2^-1074, one of products 2^-2148
CELL_SHIFT = 44  # bits below a cell
COARSE = 16  # cells
_OUTER = 1 << 30  # the places of infinities, beside cells
_ENDS = np.iinfo(np.int64).max, np.iinfo(np.int64).min


def _joined_cells(a, b):
    """The cells of two, (n, 2) each: those of both are counted together."""
    cells, count = np.concatenate([a, b]).T
    cells, place = np.unique(cells, return_inverse=True)
    both = np.zeros_like(cells)
    np.add.at(both, place, count)
    return np.column_stack([cells, both])


_NO_CELLS = np.empty((), object)
_NO_CELLS[()] = np.zeros((0, 2), np.int64)
# How items of the same step and group join, and what nothing has.
_JOINED = {
    SUM: (np.add, 0),
    PRODUCT: (np.add, 0),
    BINS: (np.add, 0),
    EXTREMES: (np.minimum, _ENDS[0]),
    CELLS: (np.frompyfunc(_joined_cells, 2, 1), _NO_CELLS),
}


@dataclass
class Accumulated:
    """One accumulator of the batch, for each step and group.

    Attributes
    ----------
    tally : ndarray of int64, shape (steps, groups, 4)
        Values, NaN among them, infinity, minus infinity.
    items : ndarray
        Sums (steps, groups) as Python integers; smallest and inverted largest as ordered bits, or
        bins (steps, groups, n); values (steps, lanes); for cells (steps, groups) of arrays (n, 2):
        cell, count.
    """

    kind: int
    tally: Any
    items: Any

    def until(self, steps):
        return Accumulated(self.kind, self.tally[:steps], self.items[:steps])


def in_a_row(several):
    """Accumulators of one batch over successive steps, joined."""
    tally, items = (np.concatenate(each) for each in zip(*((a.tally, a.items) for a in several)))
    return Accumulated(several[0].kind, tally, items)


def together(parts, groups, places):
    """Accumulators of two parts of a batch, merged; places: of the groups of each part, in all."""
    kind, shape, items = parts[0].kind, (len(parts[0].tally), groups), [one.items for one in parts]
    tally = np.zeros((*shape, 4), np.int64)
    for one, place in zip(parts, places):
        tally[:, place] += one.tally
    if kind == VALUES:
        return Accumulated(kind, tally, np.concatenate(items, axis=1))
    join, none = _JOINED[kind]
    whole = np.full((*shape, *items[0].shape[2:]), none, items[0].dtype)
    for one, place in zip(items, places):
        whole[:, place] = join(whole[:, place], one)
    return Accumulated(kind, tally, whole)


def labels(by, batch):
    """The labels of the groups, and the group of each trajectory, (lanes,); None: all are one."""
    if by is None:
        return np.zeros(1, int), None
    groups, place = np.unique(by, return_inverse=True)
    return groups, np.broadcast_to(place.reshape(by.shape), batch).ravel()


class Memory:
    """The memory of one accumulator over a Problem; its attributes are the fields that the core
    reads."""

    def __init__(self, entry, every, problem, first):
        self.kind, (self.first, self.second), by, self.about, edges = entry
        self.lanes = problem.lanes
        if self.lanes >= 1 << 31:
            raise ValueError(
                f"across= takes less than 2**31 trajectories at once, got {self.lanes}: integrate"
                " parts and join them by pi.across.merge"
            )
        self.row = -(-first // every)
        self.rows = steps = max((problem.first + problem.n_steps) // every + 1 - self.row, 0)
        names, label = labels(by, problem.batch)
        groups, self.label = len(names), None if label is None else label.astype(np.int32)
        self.edges = np.zeros(2) if edges is None else edges
        self.groups, self.bins = groups, len(self.edges) - 1
        width = {**LIMBS, EXTREMES: 2, CELLS: 0, VALUES: 0, BINS: self.bins}[self.kind]
        kept = steps * problem.stride if self.kind == VALUES else 0
        size = 8 * (steps * groups * (width + 4) + kept)
        try:
            check_memory(size, steps, (groups,), width)
        except MemoryError:
            raise MemoryError(
                f"across= at {steps} steps, in {groups} groups, takes {size / 1e9:.3g} GB: count"
                f" fewer steps (every=){', or leave out exact=True' if kept else ''}"
            ) from None
        self.tally = np.zeros((steps, groups, 4), np.int64)
        self.items = np.zeros((steps, groups, width), np.int64)
        if self.kind == EXTREMES:
            self.items[...] = _ENDS
        self.values = np.full((steps, problem.stride) if self.kind == VALUES else (0, 0), np.nan)

    def after(self, last, every, cells):
        """The Accumulated of the steps up to `last`; cells: as the core's Run has them."""
        kind, steps = self.kind, max(last // every + 1 - self.row, 0)
        items, tally = self.items[:steps], self.tally[:steps]
        if kind in LIMBS:
            limbs = items.reshape(-1, items.shape[-1]).copy()
            for low, high in pairwise(limbs.T):  # the last alone has a sign then
                high += low >> 32
                low &= 0xFFFFFFFF
            halves = limbs[:, :-1].astype("<u4"), limbs[:, -1:].astype("<i8")
            rows = np.hstack([half.view("u1") for half in halves])
            sums = [int.from_bytes(row, "little", signed=True) for row in rows]
            items = np.empty(tally.shape[:2], object)
            items.reshape(-1)[:] = sums
        elif kind == EXTREMES:
            items = items ^ [0, -1]
        elif kind == VALUES:
            items = self.values[:steps, : self.lanes]
        elif kind == CELLS:
            rows = np.frombuffer(cells, np.int64).reshape(-1, 4)  # sorted by step, group and cell
            place, items = rows[:, 0] * self.groups + rows[:, 1], np.empty(tally.shape[:2], object)
            begin = np.searchsorted(place, np.arange(items.size + 1))
            for i, (first, end) in enumerate(pairwise(begin)):
                items.reshape(-1)[i] = rows[first:end, 2:]
        return Accumulated(kind, tally, items)


# ---- numbers from accumulators -------------------------------------------------------------------


def _quotient(a, b):
    """The nearest double of a ratio of integers."""
    try:
        return a / b if b else np.nan
    except OverflowError:
        return np.inf if a > 0 else -np.inf


def _average(units, n):
    whole, n = _quotient(units, 1 << UNITS), int(n)  # a float of Python: it may underflow
    return whole / n if n and math.isfinite(whole) else _quotient(units, n << UNITS)


def _root(a, b):
    """The root of a ratio of integers, which itself may be outside the range of a double."""
    k = (a.bit_length() - b.bit_length()) // 2
    return math.ldexp(math.sqrt(_quotient(a << max(-2 * k, 0), b << max(2 * k, 0))), k)


def _each(function, *arrays):
    out = np.array([function(*items) for items in zip(*map(np.ravel, arrays))])
    return out.astype(np.float64).reshape(arrays[0].shape)


def _mean(sums):
    n, nan, plus, minus = np.moveaxis(sums.tally, -1, 0)
    mean = _each(_average, sums.items, n)
    mean = np.where(plus > 0, np.inf, np.where(minus > 0, -np.inf, mean))
    return np.where((nan > 0) | ((plus > 0) & (minus > 0)), np.nan, mean)


def _covariance(a, b, product, ratio):
    n = a.tally[..., 0].astype(object)
    top = n * product.items - a.items * b.items
    out = _each(ratio, top, n * n * (1 << 2 * UNITS))
    spoiled = (a.tally + b.tally)[..., 1:].any(axis=-1)
    return np.where(spoiled, np.nan, out)


def _ends(extremes, which):
    bits = extremes.items[..., which] ^ -which
    value = (bits ^ (bits >> 63 & np.iinfo(np.int64).max)).view(np.float64)
    n, nan = extremes.tally[..., 0], extremes.tally[..., 1]
    return np.where((n > nan), value, np.nan)


def _edge(cell):
    return (np.asarray(cell, np.int64) << CELL_SHIFT).view(np.float64)


def _of_cells(cells, q, about, tally, ends):
    """Quantiles of one step and group, (len(q),), and whether its cells are too coarse for them.

    The order statistic of rank k is put into its cell at the height of its rank there. Infinities
    are the first and the last cell.
    """
    cell, count = cells.T
    sign, cell = cell >> 19, cell & (1 << 19) - 1
    a, b = np.where(cell > 0, _edge(cell), 0.0), np.where(cell > 0, _edge(cell + 1), 0.0)
    place = np.where(sign, -cell, cell)
    order = np.argsort(place)

    def between(first, inner, last):
        return np.concatenate([[first], inner[order], [last]])

    low = between(-np.inf, np.where(sign, -b, a) + about, np.inf)
    high = between(-np.inf, np.where(sign, -a, b) + about, np.inf)
    count, place = between(tally[3], count, tally[2]), between(-_OUTER, place, _OUTER)
    until = np.cumsum(count)
    n, last = until[-1], len(place) - 1
    if n == 0:
        return np.full(len(q), np.nan), False

    def value(rank):
        i = np.searchsorted(until, rank, side="right")
        part = (rank - (until[i] - count[i]) + 0.5) / count[i]
        inside = low[i] + part * (high[i] - low[i])
        return np.clip(np.where(np.isinf(low[i]), low[i], inside), *ends), i

    rank = q * (n - 1)
    k = np.floor(rank).astype(np.int64)
    with np.errstate(invalid="ignore"):
        (x, i), (y, j) = value(k), value(np.minimum(k + 1, n - 1))
        out = np.where((x == y) | (rank == k), x, x + (rank - k) * (y - x))
    outer = (i.min(), j.max()) if len(q) > 1 else (0, last)
    i, j = np.clip(outer, 1, max(last - 1, 1))
    return out, last > 1 and place[j] - place[i] < COARSE and ends[0] < ends[1]


def _of_values(values, q):
    """Quantiles of numbers, (len(q),), that may be infinite."""
    some = values[~np.isnan(values)]
    if not len(some):
        return np.nan
    with np.errstate(invalid="ignore"):
        found = np.quantile(some, q)  # NaN at infinities, of which it takes differences
        low, high = (np.quantile(some, q, method=m) for m in ("lower", "higher"))
        return np.where(np.isnan(found), np.where(low == high, low, low + high), found)


def _quantiles(parts, options, labels):
    q, shape = options["q"], parts[0].tally.shape[:2]
    out, coarse = np.full((*shape, len(q)), np.nan), np.zeros(shape, bool)
    if options["exact"]:
        (values,) = parts
        lanes = np.zeros(values.items.shape[1], int) if labels is None else labels
        for step, group in np.ndindex(shape):
            out[step, group] = _of_values(values.items[step, lanes == group], q)
        return out, coarse
    cells, extremes = parts
    ends = np.stack([_ends(extremes, 0), _ends(extremes, 1)], -1)
    for at in np.ndindex(shape):
        out[at], coarse[at] = _of_cells(
            cells.items[at], q, options["about"], cells.tally[at], ends[at]
        )
    return out, coarse


def _values(name, parts, options, labels):
    """The results of a statistic by suffix, (steps, groups, ...)."""
    if name == "mean":
        return {"": _mean(parts[0])}
    if name == "count":
        return {"": (parts[0].items >> UNITS).astype(np.int64)}
    if name in ("minimum", "maximum"):
        out = _ends(parts[0], int(name == "maximum"))
        return {"": np.where(parts[0].tally[..., 1] > 0, np.nan, out)}
    if name == "histogram":
        return {"": parts[0].items, ".edges": options["edges"]}
    if name == "quantiles":
        out, coarse = _quantiles(parts, options, labels)
        return {"": out, ".coarse": coarse, ".q": options["q"]}
    # Covariances of k quantities, for a variance of one: k + k (k + 1) / 2 accumulators.
    k, ratio = (math.isqrt(9 + 8 * len(parts)) - 3) // 2, _root if name == "std" else _quotient
    out, pairs = np.empty((*parts[0].tally.shape[:2], k, k)), iter(parts[k:])
    for i in range(k):
        for j in range(i, k):
            both = _covariance(parts[i], parts[j], next(pairs), ratio)
            out[..., i, j] = out[..., j, i] = both
    return {"": out if name == "covariance" else out[..., 0, 0]}


@dataclass
class Asked:
    """One statistic of a run: what was asked, and its accumulators."""

    told: tuple
    name: str
    options: dict
    groups: Any
    sizes: Any
    labels: Any
    t: Any
    parts: list

    @cached_property
    def results(self):
        """By suffix."""
        counted = self.parts[0].tally
        out = _values(self.name, self.parts, self.options, self.labels)
        out |= {
            ".count": counted[..., 0], ".missing": self.sizes - counted[..., 0],
            ".nan": counted[..., 1],
        }  # fmt: skip
        if self.labels is None:
            out = {k: a if k in (".edges", ".q") else a[:, 0] for k, a in out.items()}
        else:
            out[".groups"] = self.groups
        return out | {".t": self.t}


class Across(Several[Any]):
    """Statistics across the batch by name; see ``pi.across``. Parts join by ``pi.across.merge``."""

    _missing = "nothing across the batch is named", "across"

    def __init__(self, asked, system=(), ranges=()):
        self._asked, self._system, self._ranges = asked, system, ranges

    def _of(self, name):
        """The results of one statistic, by their whole names."""
        return {name + key: value for key, value in self._asked[name].results.items()}

    @property
    def _found(self):  # type: ignore[override]
        return {key: value for name in self._asked for key, value in self._of(name).items()}

    def __getitem__(self, name):
        first = name.split(".")[0] if isinstance(name, str) else name
        own = self._of(first) if first in self._asked else {}
        return own[name] if name in own else super().__getitem__(name)

    def table(self) -> Table:
        """A row for each result, and the names of quantiles that want another `about=`."""
        coarse = [name for name in self._asked if np.any(self.get(f"{name}.coarse", False))]
        told = f"{', '.join(coarse)}: coarse, give about= a number within the band"
        rows = [(name, str(self[name].shape)) for name in self]
        return Table("", ["across", "shape"], rows, note=told if coarse else "")


def of_run(plan, problem, sums):
    """The Across of a run, from what its Sums have left."""
    asked = {}
    for group, made in zip(plan.groups, sums.across):
        for name, places in group.across_places.items():
            one = plan.across[name]
            parts = [made[i] for i in places]
            steps = np.arange(len(parts[0].tally)) * one.every
            groups, label = labels(one.by, problem.batch)
            sizes = np.array([problem.lanes])
            if label is not None:
                sizes = np.bincount(label, minlength=len(groups))
            told = (*one.told, group.signatures[name])
            t = _times(problem, steps)
            asked[name] = Asked(told, one.name, one.options, groups, sizes, label, t, parts)
    ordered = {name: asked[name] for name in plan.across}
    system = problem.system
    equations = (system.name, system.state_names, system.traced, system.definition.interpretation)
    return Across(ordered, equations, ranges_of(problem))


def one_after_the_other(some):
    """The Across of one batch over successive times; a name may be missing in some parts."""
    if len(some) == 1:
        return some[0]
    asked = {}
    for one in some:
        for name, part in one._asked.items():
            asked.setdefault(name, []).append(part)
    for name, several in asked.items():
        asked[name] = replace(
            several[0], t=np.concatenate([one.t for one in several]),
            parts=[*map(in_a_row, zip(*(one.parts for one in several), strict=True))],
        )  # fmt: skip
    ranges = {one for part in some for one in part._ranges}
    return Across(asked, some[0]._system, tuple(sorted(ranges)))


def _times(problem, steps):
    t = problem.times(steps)
    return t.reshape(len(t), -1)[:, 0] if t.ndim > 1 and problem.lanes else t


def check_same_times(problem):
    """Refuse trajectories that are at different times at one step."""
    for name, value in (("dt", problem.dt), ("t0", problem.t0)):
        if np.size(value) > 1 and np.ptp(value) > 0:
            raise ValueError(
                f"across= needs the same times for the whole batch, and {name} differs: integrate"
                " the trajectories of each apart"
            )


def ranges_of(problem):
    """The numbers of trajectories with noise: (seed, first, end)."""
    if problem.random is None or not problem.lanes:
        return ()
    seed, first = problem.random.seed, problem.random.first_trajectory
    if not np.ndim(first):
        return ((seed, int(first), int(first) + problem.lanes),)
    own = np.unique(first)
    cuts = np.split(own, np.flatnonzero(np.diff(own) > 1) + 1)
    return tuple((seed, int(one[0]), int(one[-1]) + 1) for one in cuts)


def merge(*parts: Any) -> Across:
    """Join the statistics of parts of a batch: to the bits of one run of all.

    Parameters
    ----------
    *parts : Solution, or their `across`
        Runs of one system over the same times with the same ``across=``; parameters may differ, as
        in a batch. With noise, no two may share a trajectory of a seed: ``first_trajectory=`` sets
        them apart.

    Returns
    -------
    Across
        As ``sol.across``; times that not all parts reached are dropped.

    Raises
    ------
    ValueError
        Parts that differ, or overlap.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> def run(x0):
    ...     return pi.integrate(pi.systems.oscillator, x0, 0.0, dt=0.01, n_steps=10,
    ...                         save="final", across={"m": pi.across.mean("x")})
    >>> x0 = np.linspace(0, 1, 1000)
    >>> both = pi.across.merge(run(x0[:300]), run(x0[300:]))
    >>> np.array_equal(both["m"], run(x0).across["m"])
    True
    """
    some = [getattr(part, "across", part) for part in parts]
    for part, one in zip(parts, some):
        if not isinstance(one, Across) or not one._asked:
            raise TypeError(f"merge takes solutions with across=, got {part!r:.80}")
    if not some:
        raise TypeError("merge takes one part or more, got none")
    out = some[0]
    for one in some[1:]:
        _check_apart(out, one)
        out = joined(out, one)
    return out


def _check_apart(a, b):
    ranges = sorted({*a._ranges, *b._ranges})
    if len(ranges) < len(a._ranges) + len(b._ranges) or any(
        p[0] == q[0] and q[1] < p[2] for p, q in pairwise(ranges)
    ):
        raise ValueError(
            "merge: the parts share trajectories of a seed, whose noise is the same: give each its"
            " own first_trajectory= or seed="
        )


def joined(a, b):
    """The Across of two parts of a batch."""
    if a._system != b._system:
        names = f"{a._system[0]!r} and {b._system[0]!r}"
        raise ValueError(f"merge: parts of different systems or equations, {names}")
    if a._asked.keys() != b._asked.keys():
        raise ValueError(
            f"merge: one part has {', '.join(a._asked)} and the other {', '.join(b._asked)}: give"
            " both the same across="
        )
    asked = {}
    for name, one in a._asked.items():
        two = b._asked[name]
        n = min(len(one.t), len(two.t))
        if one.told != two.told or not np.array_equal(one.t[:n], two.t[:n]):
            raise ValueError(
                f"merge: {name!r} differs in its quantity, options or times: give both parts the"
                " same across=, t0 and dt"
            )
        if (one.labels is None) != (two.labels is None):
            raise ValueError(f"merge: one part of {name!r} has by= and the other not: give both")
        groups = np.union1d(one.groups, two.groups)
        places = [np.searchsorted(groups, part.groups) for part in (one, two)]
        parts = [
            together([part.until(n) for part in both], len(groups), places)
            for both in zip(one.parts, two.parts)
        ]
        sizes, labels = np.zeros(len(groups), np.int64), None
        for part, place in zip((one, two), places):
            sizes[place] += part.sizes
        if one.labels is not None:
            labels = np.concatenate([places[0][one.labels], places[1][two.labels]])
        asked[name] = Asked(
            one.told, one.name, one.options, groups, sizes, labels, one.t[:n], parts
        )
    return Across(asked, a._system, tuple(sorted({*a._ranges, *b._ranges})))
