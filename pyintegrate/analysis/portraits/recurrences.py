"""Attractors found by recurrence, and which start leads to which: for whole batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...integration import integrate
from ...run.arguments import checked_system
from ...values.checks import integer, numbers
from ...values.keywords import explains_keywords
from ..basins import Basins
from .boxes import Box
from .cells import OUTSIDE, Cells, coming_back, joined_sets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...system.system import System
    from ...values.types import ArrayLike

LANES = 1 << 15  # starts that run together, to bound the memory
SEARCH = 1 << 11  # points that are searched from together: all their cells are kept
BLOCK = 16  # samples between two looks at which starts have arrived
CROSSED = 30  # cells that a motion typically crosses between two samples
BACK = 0.5  # of the last samples must be in cells visited before
SHARED = 0.1  # of the cells of a motion must be those of an attractor that it is part of
GONE = 100  # samples in a row outside the box, after which a start has left


@dataclass(frozen=True, eq=False)
class Attractors(Basins):
    """Attractors, the basin of each start, and the fractions of the starts.

    A `Basins`, whose ``label``, ``share()``, ``entropy()`` and ``plot()`` it has; ``attractors``
    are the means of the points of each.

    Attributes
    ----------
    points : tuple of ndarray
        (samples, dim) for each attractor: states on it, one after another in time.
    fractions, errors : ndarray
        (n,): shares of the starts, and their binomial standard errors sqrt(p (1 - p) / starts).
    outside, lost : int
        Starts that left the box or failed, and those that neither returned nor arrived within the
        horizon.
    """

    points: tuple = ()
    fractions: Any = None
    errors: Any = None
    outside: int = 0
    lost: int = 0

    def __repr__(self):
        parts = zip(self.fractions, self.errors, strict=True)
        told = ", ".join(f"{p:.4f} +- {e:.4f}" for p, e in parts)
        told += f"; {self.outside:,} left the box" * bool(self.outside)
        told += f"; {self.lost:,} undecided" * bool(self.lost)
        return f"<Attractors of {self.system.name}: {len(self.points)} with {told}>"


@explains_keywords(integrate)
def attractors(
    system: System,
    box: Mapping[str, Sequence[float]] | ArrayLike,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: float,
    n: int = 1000,
    cells: int | Sequence[int] = 100,
    period: float | None = None,
    every: int | None = None,
    locate: int = 100,
    hits: int = 20,
    horizon: int = 10_000,
    seed: int | None = 0,
    also: ArrayLike | None = None,
    **options: Any,
) -> Attractors:
    """Find the attractors in a box, and which start leads to which.

    The box is divided into cells. Motions from points that fill it run until they are mostly in
    cells that were visited before; those in the second half of the time are an attractor's, and
    motions that share a tenth of them are on the same one. Then each start runs until it is in
    cells of one attractor for some samples in a row. Attractors are searched for once more from the
    starts that do not arrive. No result depends on the order of the starts.

    Parameters
    ----------
    system : System
        With one set of parameters.
    box : mapping of str to (low, high), or array_like, shape (dim, 2)
        The region where attractors are told apart, as in ``equilibria``: components that it leaves
        out are not looked at.
    x0, v0 : array_like, optional
        Starts of any batch shape, as in ``integrate``; by default the n points that fill the box.
    dt : float
        The step, as in ``integrate``.
    n : int, optional
        From how many points, Sobol's, attractors are searched for.
    cells : int or sequence of int, optional
        Along each component of the box.
    period : float, optional
        Of a driven motion, a whole number of steps: samples are once a period.
    every : int, optional
        Steps between samples; by default about as many as a motion takes through thirty cells.
    locate, hits, horizon : int, optional
        In samples: how long attractors are looked at, after three times as long, and doubled while
        motions do not come back; how long a start must be in the cells of one; and the most that
        any is followed.
    seed : int, optional
        Shifts the points, as in ``equilibria``, from those of symmetry, which rest on saddles.
    also : array_like, optional
        (m, dim): further points to search from.
    **options
        For ``integrate``: method, workers, ...

    Returns
    -------
    Attractors
        With ``label`` (*batch), ``points``, ``fractions``, ``errors`` and ``plot()``. The most
        frequent is the first.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments, or a batch of parameters.

    Notes
    -----
    A motion that spirals into a point so slowly that its turns are several cells apart leaves rings
    of cells, which may be found as several attractors at one place: then take larger cells.

    References
    ----------
    Datseris, Wagemakers (2022), Chaos 32, 023104.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> well = pi.systems.duffing(gamma=0.0)
    >>> found = pi.analysis.attractors(well, {"x": (-2, 2), "v": (-2, 2)}, dt=0.1, n=500)
    >>> found.attractors[:, 0].round(3).tolist(), bool(abs(found.fractions[0] - 0.5) < 0.05)
    ([1.0, -1.0], True)
    """
    checked_system(system)
    if any(system.batch_shapes.values()):
        raise ValueError(
            f"attractors are those of one set of parameters, got {dict(system.batch_shapes)}: see"
            " continue_attractors"
        )
    box = Box(system, box)
    along = np.broadcast_to(np.asarray(cells), len(box.names))
    along = np.array([integer("cells", one, 2) for one in along.tolist()])
    if np.prod(along + 1.0) > 2.0**62:
        raise ValueError(f"cells are {along.tolist()}: their product is larger than 2**62")
    for name, value in (("locate", locate), ("hits", hits)):
        integer(name, value, 1)
    points = box.starts(integer("n", n, 1), seed)
    sampler = _Sampler(
        system, Cells(box, along), dt, _every(box, along, dt, period, every), options
    )
    if also is not None:
        points = np.concatenate([points, numbers("also", also).reshape(-1, system.dim)])
    given = points[:n] if x0 is None and v0 is None else x0
    start = integrate(system, given, v0, dt=dt, n_steps=0, on_failure="ignore", **options)
    flat = start.initial.reshape(-1, system.dim).astype(float)
    # Search, sort; then search once more from those that did not arrive.
    sets, states = _located(sampler, points, locate, integer("horizon", horizon, 1))
    label = _sorted_starts(sampler, flat, _table(sets), hits, horizon)
    undecided = np.flatnonzero(label == -1)
    more, more_states = _located(sampler, flat[undecided], locate, horizon)
    joined, part = _joined([*sets, *more])
    label = np.where(label >= 0, part[label], label)
    label[undecided] = part[len(sets) :]
    ends = [*states, *more_states]
    return _described(system, box, sampler, start, label, joined, part, ends, locate)


def _every(box, along, dt, period, every):
    """Steps between samples."""
    if np.ndim(dt) or not np.isfinite(dt) or dt == 0:
        raise ValueError(f"dt must be one step for all, finite and non-zero, got {dt!r}")
    if period is not None:
        steps = period / abs(dt)
        if not steps > 0.5 or abs(steps - round(steps)) > 1e-9 * steps:
            raise ValueError(
                f"period is {steps:.12g} steps: give dt = period / {max(1, round(steps))}"
            )
        return round(steps)
    if every is not None:
        return integer("every", every, 1)
    y = box.starts(1000)
    speed = np.abs(box.system.rhs(0.0, y)[:, box.places]) / ((box.high - box.low) / along)
    speed = np.median(speed.max(axis=1))
    return int(np.clip(np.round(CROSSED / max(speed * abs(dt), 1e-300)), 1, 1000))


class _Sampler:
    """Runs motions from sample to sample."""

    def __init__(self, system, cells, dt, every, options):
        self.system, self.cells = system, cells
        self._dt, self._every, self._options = dt, every, options

    def run(self, y, done, samples):
        """The cells (samples, lanes) after `done` samples, and the states, all and the last."""
        step = self._every * self._dt
        t0 = self._options.get("t0", 0.0) + done * step
        sol = integrate(
            self.system, y, dt=self._dt, n_steps=samples * self._every, save=self._every,
            on_failure="ignore", **self._options | {"t0": t0},
        )  # fmt: skip
        states = sol.y[1:]
        cells = np.where(sol.valid[1:], self.cells.of(states), OUTSIDE)
        return cells, states


def _located(sampler, points, locate, horizon):
    """For each point the cells of the attractor that it reaches, or None, and its last state.

    All run for the same time, twice as long until each is mostly where others or itself were
    before; the cells of the second half count.
    """
    sets: list[Any] = [None] * len(points)
    ends = points.copy()
    for begin in range(0, len(points), SEARCH):
        active = np.arange(begin, min(begin + SEARCH, len(points)))
        history, y = np.empty((0, len(active)), np.int64), points[active]
        found = np.zeros(len(active), bool)
        while not found.all() and len(history) < horizon:
            more = min(max(4 * locate, len(history)), horizon - len(history))
            parts = []
            for done in range(0, more, BLOCK):
                part, states = sampler.run(y, len(history) + done, min(BLOCK, more - done))
                parts.append(part)
                y = states[-1]
            history = np.concatenate([history, *parts])
            left = ~(history[-GONE:] == OUTSIDE).all(axis=0)
            active, history, y = active[left], history[:, left], y[left]
            found = coming_back(history) >= BACK
        ends[active] = y
        for i in np.flatnonzero(found):
            visited = np.unique(history[len(history) // 2 :, i])
            sets[active[i]] = visited[visited != OUTSIDE]
    return sets, [*ends]


def _table(sets):
    """Cells in ascending order, and the set of each."""
    joined, _ = _joined(sets)
    cells = np.concatenate([np.empty(0, np.int64), *joined.values()])
    owner = np.concatenate([np.empty(0, int), *(np.full(len(c), k) for k, c in joined.items())])
    order = np.argsort(cells)
    return cells[order], owner[order]


def _joined(sets):
    """The different attractors, {one of its points: cells}, and that of each point, or -1."""
    known = [i for i, one in enumerate(sets) if one is not None]
    part = np.full(len(sets), -1)
    part[known] = np.array(known, int)[joined_sets([sets[i] for i in known], SHARED)]
    several = {int(k): [sets[i] for i in np.flatnonzero(part == k)] for k in set(part[known])}
    return {k: np.unique(np.concatenate(own)) for k, own in several.items()}, part


def _sorted_starts(sampler, starts, table, hits, horizon):
    """The set that each start reaches; -1: none within the horizon, -2: it left the box."""
    cells, owner = (np.append(part, -1) for part in table)
    label = np.full(len(starts), -1)
    for begin in range(0, len(starts), LANES):
        active = np.arange(begin, min(begin + LANES, len(starts)))
        y, done = starts[active], 0
        last, row = np.full(len(active), -1), np.zeros(len(active), int)
        while len(active) and done < horizon:
            visited, states = sampler.run(y, done, BLOCK)
            done, y, settled = done + BLOCK, states[-1], np.full(len(active), -1)
            place = np.searchsorted(cells[:-1], visited)
            own = np.where(cells[place] == visited, owner[place], -1)
            own[visited == OUTSIDE] = -2
            for now in own:
                row, last = np.where(now == last, row + 1, 1), now
                enough = (row >= np.where(now == -2, GONE, hits)) & (now != -1) & (settled == -1)
                settled[enough] = now[enough]
            label[active] = settled
            active, y, last, row = (part[settled == -1] for part in (active, y, last, row))
    return label


def _described(system, box, sampler, start, label, joined, part, ends, locate):
    """The result: attractors ordered by the number of their starts."""
    counts = {key: np.count_nonzero(label == key) for key in joined}
    keys = sorted(joined, key=lambda key: (-counts[key], joined[key][0]))
    place = np.full(len(part) + 1, -1)
    place[keys] = np.arange(len(keys))
    # One motion on each, the same in any order of the starts.
    first = [min((ends[i] for i in np.flatnonzero(part == key)), key=tuple) for key in keys]
    states = sampler.run(np.array(first), 0, locate)[1] if keys else np.empty((0, 0, system.dim))
    points = tuple(np.moveaxis(states, 0, 1))
    shape = (len(keys), len(box.names))
    means = np.array([one[:, box.places].mean(axis=0) for one in points]).reshape(shape)
    total = max(1, label.size)
    p = np.array([counts[key] for key in keys]) / total
    return Attractors(
        np.where(label >= 0, place[label], -1).reshape(start.final.shape[:-1]), means, box.names,
        system, start, points, p, np.sqrt(p * (1 - p) / total), int(np.sum(label == -2)),
        int(np.sum(label == -1)),
    )  # fmt: skip
