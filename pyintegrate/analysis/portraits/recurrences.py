"""Basins of attraction: attractors found by recurrence or from ends, and over a parameter."""

from __future__ import annotations

from itertools import count

import numpy as np

from ...errors import warn_caller
from ...integration import integrate
from ...run.arguments import checked_quiet
from ...values.checks import floats, integer, numbers, places_of, positive
from ...values.keywords import explains_keywords
from ...values.types import (
    Any,
    ArrayLike,
    Axes,
    Floats,
    Integers,
    Mapping,
    Sequence,
    Solution,
    System,
)
from ..accuracy import finite
from ..observables import check_solution, times
from ..results import blocks, drawn_by, quiet, result_class
from ..sections.grid_scan import checked_axes
from ..vectors import norm
from .resting_points import Box, is_driven

SAMPLE = 4000  # final states, evenly chosen, in which attractors are searched for
NEAREST = 1 << 22  # numbers in a table of distances


@result_class
class Basins:
    """Where the trajectories of a batch ended.

    Attributes
    ----------
    label : ndarray of int
        (*batch): index of the attractor, -1 if a trajectory failed or is near none.
    attractors : ndarray
        (n, components), the most frequent first.
    components : tuple of str
        The compared components.
    system : System
    solution : Solution or None
        Whose ends were sorted.
    """

    label: Integers
    attractors: Floats
    components: tuple
    system: Any
    solution: Any = None
    _least_axes = 1

    def share(self) -> Floats:
        """The fraction of the trajectories that reaches each attractor, (n,)."""
        count = np.bincount(self.label[self.label >= 0], minlength=len(self.attractors))
        return count / max(1, self.label.size)

    def entropy(self, box: int = 5) -> tuple[float, float]:
        """The basin entropy: the uncertainty of the end for a start that is known only to a box.

        The grid of starts is divided into boxes of ``box`` starts along each axis; the entropy of a
        box is the sum of -p log p over the attractors (and none) that its starts lead to.

        Parameters
        ----------
        box : int
            Starts along each axis of a box; incomplete boxes at the ends are not counted.

        Returns
        -------
        S_b : float
            The mean over all boxes.
        S_bb : float
            The mean over the boxes that lead to several attractors; NaN if there are none. More
            than log 2 indicates a fractal boundary.

        Raises
        ------
        ValueError
            A batch without axes, or with one that is shorter than a box.

        References
        ----------
        Daza, Wagemakers, Georgeot, Guery-Odelin, Sanjuan (2016), Sci. Rep. 6, 31416.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> halves = np.repeat([[0, 1]], 10, axis=0).repeat(5, axis=1)  # of 10 x 10 starts
        >>> found = pi.analysis.Basins(halves, np.eye(2), ("x", "y"), pi.systems.spring)
        >>> found.entropy(box=5), round(found.entropy(box=2)[1], 3)
        ((0.0, nan), 0.693)
        """
        box = integer("box", box, 1)
        label = self.label
        if label.ndim < self._least_axes or min(label.shape) < box:
            raise ValueError(f"box is {box}, and the batch {label.shape}: a box must fit a grid")
        cells, apart = (box,) * label.ndim, (slice(None, None, box),) * label.ndim
        boxes = np.lib.stride_tricks.sliding_window_view(label, cells)[apart]
        boxes = boxes.reshape(-1, box**label.ndim)
        entropy, several = np.zeros(len(boxes)), np.ptp(boxes, axis=1) > 0
        for kind in range(-1, len(self.attractors)):
            p = np.mean(boxes == kind, axis=1)
            entropy -= p * np.log(np.where(p > 0, p, 1.0))
        beside = float(entropy[several].mean()) if several.any() else np.nan
        return float(entropy.mean()), beside

    plot = drawn_by("basin_map")

    def __repr__(self):
        kept = ", ".join(f"{100 * part:.3g} %" for part in self.share()[:6])
        more = ", ..." if len(self.attractors) > 6 else ""
        lost = f", {np.count_nonzero(self.label < 0):,} near none" if (self.label < 0).any() else ""
        count = len(self.attractors)
        return f"<Basins of {self.system.name}: {count} attractors with {kept}{more}{lost}>"


def basin(
    solution: Solution,
    attractors: ArrayLike | None = None,
    *,
    components: str | Sequence[str] | None = None,
    tolerance: float = 0.1,
) -> Basins:
    """Sort the trajectories of a batch by the attractor that they end at.

    For a driven motion, choose t_end at a whole number of periods: then a periodic attractor is a
    point.

    Parameters
    ----------
    solution : Solution
        For a batch of starts, run until nothing changes any more; ``save="final"`` is enough.
    attractors : array_like, optional
        (n, components): where trajectories may end. By default they are found: final states
        within `tolerance` of one another are one attractor.
    components : str or sequence of str, optional
        Those that distinguish attractors; all by default.
    tolerance : float, optional
        Distance within which a trajectory has arrived, in the units of the components: it must be
        small beside the distances of the attractors.

    Returns
    -------
    Basins
        With ``label``, ``attractors``, ``share()``, ``entropy()`` and ``plot()``.

    Raises
    ------
    ValueError
        For unknown components, or attractors of another shape.

    Warns
    -----
    UserWarning
        The tolerance joins ends that are apart.

    Examples
    --------
    Below rho = 24.74 the Lorenz attractor is two resting points:

    >>> import numpy as np, pyintegrate as pi
    >>> start = np.random.default_rng(1).normal(0, 10, (500, 3))
    >>> sol = pi.integrate(pi.systems.lorenz(rho=14.0), start, dt=0.01, t_end=60.0, save="final")
    >>> found = pi.analysis.basin(sol, components="x")
    >>> sorted(found.attractors[:, 0].round(3).tolist())  # +- sqrt(beta (rho - 1))
    [-5.888, 5.888]
    """
    solution = check_solution(solution, "basin")
    system = solution.system
    places = list(places_of(components, system))
    names = tuple(system.state_names[place] for place in places)
    tolerance = positive("tolerance", tolerance)
    batch = solution.y.shape[1:-1]
    ends = solution.final[..., places].reshape(-1, len(places)).astype(float)
    good = (solution.failed_step < 0).reshape(-1)
    good &= np.isfinite(ends).all(axis=-1)
    if attractors is None:
        points = _clusters(ends[good], tolerance)
    else:
        points = floats("attractors", attractors)
        if len(names) > 1 and points.shape[-1:] != (len(names),):
            raise ValueError(
                f"attractors has shape {points.shape}: its last axis holds {', '.join(names)};"
                " components=[...] names those that distinguish attractors"
            )
        points = points.reshape(-1, len(names))
    label = np.full(len(ends), -1)
    label[good] = _nearest(ends[good], points, tolerance)
    if attractors is None:
        count = np.bincount(label[label >= 0], minlength=len(points))
        order = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
        label, points = _renumbered(label, order, len(points)), points[order]
        starts = solution.initial[..., places].reshape(ends.shape)[good].astype(float)
        _warn_of_joined(starts, ends[good], label[good], tolerance)
    return Basins(label.reshape(batch), points, names, system, solution)


def _renumbered(label, order, count):
    """The places in an order of labels below a count; -1 where they have none."""
    place = np.full(count + 1, -1)
    place[order] = np.arange(len(order))
    return place[np.maximum(label, -1)]


def _clusters(ends, tolerance):
    """Points representing all ends, no two of them closer than the tolerance."""
    sample = ends[:: max(1, len(ends) // SAMPLE)]
    points = np.empty((0, ends.shape[-1]))
    while len(sample):
        near = norm(sample - sample[0]) <= tolerance
        centre = sample[near].mean(axis=0)
        near |= norm(sample - centre) <= tolerance
        points = np.concatenate([points, sample[near].mean(axis=0, keepdims=True)])
        sample = sample[~near]
    return points


def _warn_of_joined(starts, ends, label, tolerance):
    """A word where the ends of an attractor are in two parts, apart by a tenth of the starts."""
    wide = np.ptp(starts, axis=0) / 10 if len(starts) else 0.0
    for one in np.unique(label[label >= 0]):
        there = np.sort(ends[label == one], axis=0)
        gap = np.diff(there, axis=0).max(axis=0, initial=0.0)
        apart = (gap > wide) & (gap > np.ptp(there, axis=0) / 2) & (wide > 0)
        if apart.any():
            warn_caller(
                f"tolerance is {tolerance:.3g}, and ends {gap[apart].max():.3g} apart count as one"
                " attractor: give a tolerance= in the units of the components"
            )
            break


def _nearest(ends, points, tolerance):
    """Index of the nearest point, -1 if none is near."""
    label = np.full(len(ends), -1)
    rows = max(1, NEAREST // max(1, len(points)))
    for start in range(0, len(ends) if len(points) else 0, rows):
        part = ends[start : start + rows]
        squares = sum((part[:, i, np.newaxis] - points[:, i]) ** 2 for i in range(part.shape[1]))
        nearest = squares.argmin(axis=1)
        arrived = squares[np.arange(len(part)), nearest] <= tolerance * tolerance
        label[start : start + rows] = np.where(arrived, nearest, -1)
    return label


LANES = 1 << 15  # starts that run together, to bound the memory
SEARCH = 1 << 11  # points that are searched from together: all their cells are kept
BLOCK = 16  # samples between two looks at which starts have arrived
CROSSED = 30  # cells that a motion typically crosses between two samples
BACK = 0.5  # of the last samples must be in cells visited before
OWN = 0.9  # of the last samples of a motion that has settled are in cells that it was in before
SHARED = 0.1  # of the cells of a motion must be those of an attractor that it is part of
POINTS = 100  # samples of each attractor; it is searched for in four times as many at least
HITS = 20  # samples in a row in the cells of an attractor, after which a start has arrived
GONE = 100  # samples in a row outside the box, after which a start has left
SHIFT = 0.381966  # of a cell: a resting point seldom lies where round numbers meet
OUTSIDE = -1  # the number of no cell


@result_class
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
        Starts that left the box or failed, and those that neither returned nor arrived in time.
    """

    points: tuple = ()
    fractions: Any = None
    errors: Any = None
    outside: int = 0
    lost: int = 0
    _least_axes = 2  # the starts may be scattered

    def plot(self, **keywords: Any) -> Axes:
        """Draw them: see ``pyintegrate.plots``, `basin_map` or `attractors`; its Axes."""
        return drawn_by("basin_map" if self.label.ndim == 2 else "attractors")(self, **keywords)

    def __repr__(self):
        parts = zip(self.fractions, self.errors)
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
    horizon: int = 10_000,
    seed: int | None = 0,
    also: ArrayLike | None = None,
    energy: float | None = None,
    **options: Any,
) -> Attractors:
    """Find the attractors in a box, and which start leads to which.

    The box is divided into cells. Motions from points that fill it run until they are mostly in
    cells that were visited before, and the field has contracted the box to a cell in half of the
    time; cells of the second half are an attractor's, and motions that share a tenth of them are on
    the same one. Then each start runs until it is in cells of one attractor for some samples in a
    row. Attractors are searched for once more from the starts that do not arrive. Chaos that some
    motions leave within `horizon` is no attractor. No result depends on the order of the starts.

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
        Of a driven motion, which needs it, a whole number of steps: samples are once a period.
    every : int, optional
        Steps between samples; by default, on average, about as many as a motion takes through
        thirty cells.
    horizon : int, optional
        The most samples that any motion is followed for: at first 400, twice as many while they do
        not come back; a start until it is in the cells of one attractor for 20.
    seed : int, optional
        Shifts the points, as in ``equilibria``, from those of symmetry, which rest on saddles.
    also : array_like, optional
        (m, dim): further points to search from.
    energy : float, optional
        Below it no motion leaves its valley, as below the lowest saddle of one with friction: a
        start is sorted by the nearest attractor as soon as its own energy is lower. Much faster.
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
    of cells, which may be found as several attractors at one place: then take larger cells. So may
    a cycle whose period is a whole number of steps, fewer than its cells: then take another `dt`.
    A pendulum that goes round leaves any box of its angle: leave the angle out, and give starts.

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
    checked_quiet(system)
    if system.batched:
        raise ValueError(
            f"attractors are those of one set of parameters, got {dict(system.batch_shapes)}: see"
            " continue_attractors"
        )
    events = (options.get("events") or {}).values()
    if options.get("watch") or any(getattr(one, "stop", False) for one in events):
        raise ValueError("attractors runs every motion in parts: it takes no watch=, and no event "
                         "that stops it")  # fmt: skip
    box = Box(system, box)
    cells = numbers("cells", cells)
    if cells.ndim and cells.shape != (len(box.names),):
        raise ValueError(
            f"cells has shape {cells.shape}, expected a number, or one for each of {box.names}"
        )
    along = np.broadcast_to(cells, len(box.names))
    along = np.array([integer("cells", one, 2) for one in along.tolist()])
    if np.prod(along + 1.0) > 2.0**62:
        raise ValueError(f"cells are {along.tolist()}: their product is larger than 2**62")
    if energy is not None and not system.has_energy:
        raise ValueError(f"energy is {energy!r}, and {system.name!r} has none: leave it out")
    dt, energy = _finite("dt", dt), energy if energy is None else _finite("energy", energy)
    options["t0"] = _finite("t0", options.get("t0", 0.0))
    points = box.starts(integer("n", n, 1), seed)
    horizon = integer("horizon", horizon, 1)
    uneven = period is None and every is None
    every = _every(box, along, dt, period, every)
    sampler = _Sampler(system, box, along, dt, every, uneven, options)
    if also is not None:
        also = numbers("also", also)
        if also.shape[-1:] != (system.dim,):
            raise ValueError(f"also has shape {also.shape}, expected (n, {system.dim}): states")
        points = np.concatenate([points, also.reshape(-1, system.dim)])
    given = points[:n] if x0 is None and v0 is None else x0
    start = integrate(system, given, v0, dt=dt, n_steps=0, on_failure="ignore", **options)
    flat = start.initial.reshape(-1, system.dim).astype(float)
    # Search, sort; then search once more from those that did not arrive.
    sets, ends, settling = _located(sampler, points, horizon)
    joined, _ = _joined(sets)
    if energy is None:
        label = _sorted_starts(sampler, flat, joined, horizon)
    else:
        label = _caught(sampler, flat, joined, ends, energy, horizon)
    undecided = np.flatnonzero(label == -1)
    more, more_ends, _ = _located(sampler, flat[undecided], horizon, settling)
    joined, part = _joined([*sets, *more])
    label = np.where(label >= 0, part[label], label)
    label[undecided] = part[len(sets) :]
    ends = np.concatenate([ends, more_ends])
    return _described(system, box, sampler, start, label, joined, part, ends)


def _finite(name, value):
    number = finite(name, value)
    if np.ndim(number):
        raise ValueError(f"{name} must be one number for all, got shape {np.shape(number)}")
    return number


def _every(box, along, dt, period, every):
    """Steps between samples."""
    if every is not None:
        if period is not None:
            raise ValueError("period and every both say when samples are taken: give one")
        return integer("every", every, 1)
    if period is not None:
        steps = positive("period", period) / abs(dt)
        if not 0.5 < steps < 1 << 53 or abs(steps - round(steps)) > 1e-9 * steps:
            raise ValueError(
                f"period is {steps:.12g} steps: give dt = period / {max(1.0, np.rint(steps)):.0f}"
            )
        return round(steps)
    if is_driven(box.system, box):
        raise ValueError(
            f"the field of {box.system.name!r} changes with time: give the period= of its drive, or"
            " every= if it has none"
        )
    y = box.starts(1000)
    if len(box.places) < box.system.dim:  # positions: velocities come with time
        y = integrate(box.system, y, dt=dt, n_steps=10, save="final", on_failure="ignore").final
    with quiet():  # a start may be where the field has no value
        speed = np.abs(box.system.rhs(0.0, y)[:, box.places]) / ((box.high - box.low) / along)
        speed = np.nan_to_num(np.nanmedian(speed.max(axis=1)))
    return int(np.clip(np.round(CROSSED / max(speed * abs(dt), 1e-300)), 1, 1000))


class _Sampler:
    """Runs motions from sample to sample, in a box of so many cells along each component.

    Uneven: samples in step with a cycle would show few of its cells, and others for each motion.
    """

    def __init__(self, system, box, along, dt, every, uneven, options):
        self.system, self.box, self.along = system, box, along
        self.dt, self.every, self.uneven, self.options = dt, every, uneven, options

    def after(self, y, done, n_steps, **save):
        """The motion from y, n_steps after so many `done`."""
        t0 = self.options["t0"] + done * self.dt
        return integrate(
            self.system, y, dt=self.dt, n_steps=n_steps, on_failure="ignore",
            **self.options | {"t0": t0}, **save,
        )  # fmt: skip

    def run(self, y, done, samples):
        """The cells (samples, lanes) after `done` samples, and the states; NaN after a failure."""
        every = self.every
        save = np.arange(1, samples + 1) * every
        save[:-1] -= (self.uneven * every * (save[:-1] // every * 0.618034 % 1)).astype(int)
        sol = self.after(y, done * every, samples * every, save=save)
        return self.cells(sol.y, sol.valid), np.where(sol.valid[..., np.newaxis], sol.y, np.nan)

    def shrinks(self, y, done):
        """The logarithm by which volumes contract in a sample, the mean of motions from y."""
        every = self.every
        sol = self.after(y, done * every, BLOCK * every, save=max(1, round(0.618 * every)))
        with quiet():
            rates = np.trace(self.system.jacobian(times(sol), sol.y), axis1=-2, axis2=-1)
        known = rates[np.isfinite(rates)]
        return -known.mean() * every * self.dt if known.size else np.inf

    def cells(self, y, valid):
        """The numbers of the cells of states (..., dim)."""
        box, at, good = self.box, [], valid
        widths = (box.high - box.low) / self.along
        for place, low, width, n in zip(box.places, box.low, widths, self.along):
            with quiet():
                at.append(np.floor((y[..., place] - low) / width + SHIFT))
            good = good & (at[-1] >= 0) & (at[-1] <= n)
        at = [np.where(good, one, 0).astype(np.int64) for one in at]
        return np.where(good, np.ravel_multi_index(at, self.along + 1), OUTSIDE)


def _located(sampler, points, horizon, settling=False):
    """For each point the cells of the attractor that it reaches, or None, and its last state.

    All run for the same time, twice as long until each is mostly where motions were before, and the
    box has contracted to a cell in half of it: what loses little comes back before it arrives. A
    motion that does not come back to its own cells counts only if chaos does not end there: no
    other that was there has settled. Whether it ends is returned, too, for the next search.
    """
    sets, ends, ending = [None] * len(points), points.copy(), False
    for active in blocks(len(points), SEARCH):
        history, y = np.empty((0, len(active)), np.int64), points[active]
        found = np.zeros(len(active), bool)
        while not found.all() and len(history) < horizon:
            more = min(max(4 * POINTS, len(history)), horizon - len(history))
            parts = []
            for done in range(0, more, BLOCK):
                part, states = sampler.run(y, len(history) + done, min(BLOCK, more - done))
                parts.append(part)
                y = states[-1]
            history = np.concatenate([history, *parts])
            left = ~(history[-GONE:] == OUTSIDE).all(axis=0)
            active, history, y = active[left], history[:, left], y[left]
            half, late = len(history) // 2, len(history) * 3 // 4
            before = np.unique(history[half:late])  # of any motion
            back = np.isin(history[late:], before[before != OUTSIDE])
            found = back.mean(axis=0) >= BACK
            found &= half * sampler.shrinks(y, len(history)) >= np.log(sampler.along).sum()
            pairs = zip(history[half:late].T, history[late:].T)
            own = np.array([np.isin(now, known).mean() for known, now in pairs]) >= OWN
            roamed = np.isin(history[half // 2 : half + 1, own], np.unique(history[half:, ~own]))
            ended = (roamed.mean(axis=0) >= BACK).any()
            if settling or ended:
                found &= own
        ending |= ended
        ends[active] = y
        for i in np.flatnonzero(found):
            visited = np.unique(history[late if own[i] else half :, i])
            sets[active[i]] = visited[visited != OUTSIDE]
    return sets, ends, ending


def _joined(sets):
    """The different attractors, {one of its points: cells}, and that of each point, or -1.

    The order of the sets, of which some are None, does not matter.

    Examples
    --------
    >>> found, part = _joined([np.array([1, 2]), None, np.array([7]), np.array([2, 3])])
    >>> found[0].tolist(), found[2].tolist(), part.tolist()
    ([1, 2, 3], [7], [0, -1, 2, 0])
    """
    known = [i for i, one in enumerate(sets) if one is not None]
    left, joined, part = sorted(known, key=lambda i: tuple(sets[i])), {}, np.full(len(sets), -1)
    while left:
        cells, near, own = sets[left[0]], left[:1], []
        while near:
            own += near
            cells = np.unique(np.concatenate([cells, *(sets[i] for i in near)]))
            left = [i for i in left if i not in set(near)]
            flat = np.concatenate([cells[:0], *(sets[i] for i in left)])
            sizes = np.array([len(sets[i]) for i in left], int)
            common = np.repeat(np.arange(len(left)), sizes)[np.isin(flat, cells)]
            share = np.bincount(common, minlength=len(left)) / sizes
            near = [i for i, one in zip(left, share) if one >= SHARED]
        part[own], joined[min(own)] = min(own), cells
    return joined, part


def _sorted_starts(sampler, starts, joined, horizon):
    """The set that each start reaches; -1: none within the horizon, -2: it left the box."""
    cells = np.concatenate([np.empty(0, np.int64), *joined.values()])
    owner = np.repeat(np.array([*joined], int), [*map(len, joined.values())])
    order = np.argsort(cells, kind="stable")
    cells, owner = (np.append(part[order], -1) for part in (cells, owner))
    label = np.full(len(starts), -1)
    for active in blocks(len(starts), LANES):
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
                enough = (row >= np.where(now == -2, GONE, HITS)) & (now != -1) & (settled == -1)
                settled[enough] = now[enough]
            label[active] = settled
            active, y, last, row = (part[settled == -1] for part in (active, y, last, row))
    return label


def _caught(sampler, starts, joined, ends, energy, horizon):
    """As `_sorted_starts`, for starts that are followed until their energy is low enough."""
    keys, label, box = np.array([*joined], int), np.full(len(starts), -1), sampler.box
    known, size = ends[keys][:, box.places], box.size[box.places]
    for active in blocks(len(starts) if joined else 0, 4 * LANES):
        y = starts[active]
        for done in range(0, horizon * sampler.every, BLOCK):
            if not len(y):
                break
            sol = sampler.after(y, done, BLOCK, save="final")
            rows = sol.final.T
            low = sampler.system.energy(sol.final) < energy
            there, left = np.flatnonzero(low), np.flatnonzero(~low & (sol.status == 0))
            caught = rows.take(there, axis=1)[box.places].T
            label[active[there]] = keys[_nearest(caught / size, known / size, np.inf)]
            active, y = active[left], rows.take(left, axis=1).T
    return label


def _described(system, box, sampler, start, label, joined, part, ends):
    """The result: attractors ordered by the number of their starts."""
    counts = {key: np.count_nonzero(label == key) for key in joined}
    keys = sorted(joined, key=lambda key: (-counts[key], joined[key][0]))
    # One motion on each, the same in any order of the starts.
    first = [min((ends[i] for i in np.flatnonzero(part == key)), key=tuple) for key in keys]
    states = sampler.run(np.array(first), 0, POINTS)[1] if keys else np.empty((1, 0, system.dim))
    points, means = tuple(np.moveaxis(states, 0, 1)), states[..., box.places].mean(axis=0)
    total = max(1, label.size)
    p = np.array([counts[key] for key in keys]) / total
    return Attractors(
        _renumbered(label, keys, len(part)).reshape(start.final.shape[:-1]), means, box.names,
        system, start, points, p, np.sqrt(p * (1 - p) / total), int(np.sum(label == -2)),
        int(np.sum(label == -1)),
    )  # fmt: skip


NEAR = 0.1  # sizes of the box: attractors closer than this may be the same at the next parameter


@result_class
class AttractorBranches:
    """Attractors over a parameter, the same number for what is the same attractor.

    Attributes
    ----------
    parameter : str
    at : ndarray
        (n,): its values.
    fractions, errors : ndarray
        (n, m): the share of the starts of each attractor, 0 where it is not found.
    attractors : ndarray
        (n, m, k): means of the points of each, NaN where it is not found.
    found : tuple of Attractors
        (n,): what was found at each value.
    """

    parameter: str
    at: Floats
    fractions: Floats
    errors: Floats
    attractors: Floats
    found: tuple

    def __repr__(self):
        count = f"{self.fractions.shape[1]} attractors over {len(self.at)} values"
        return f"<AttractorBranches of {self.found[0].system.name}: {count} of {self.parameter}>"


def continue_attractors(
    system: System,
    axis: Mapping[str, ArrayLike],
    box: Mapping[str, Sequence[float]] | ArrayLike,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    **options: Any,
) -> AttractorBranches:
    """Follow all attractors and the fractions of their basins as a parameter changes.

    At each value they are searched for anew, also from where they were at the value before; the
    nearest ones are taken for the same if they are less than a tenth of the box apart.

    Parameters
    ----------
    system : System
    axis : mapping of str to array_like
        The parameter and its values in order, ``{"gamma": np.linspace(0, 0.4, 41)}``.
    box, x0, v0, **options
        As of ``attractors``.

    Returns
    -------
    AttractorBranches

    Raises
    ------
    TypeError, ValueError
        For wrong arguments.

    References
    ----------
    Datseris, Luiz Rossi, Wagemakers (2023), Chaos 33, 073151.

    Examples
    --------
    The pitchfork of the damped Duffing well: one attractor becomes two.

    >>> import pyintegrate as pi
    >>> found = pi.analysis.continue_attractors(
    ...     pi.systems.duffing(gamma=0.0), {"alpha": [0.5, -0.5, -1.0]},
    ...     {"x": (-2, 2), "v": (-2, 2)}, dt=0.1, n=200)
    >>> (found.fractions > 0).sum(axis=1).tolist()
    [1, 2, 2]
    """
    grid = checked_axes("axis", axis, system)
    if len(grid) != 1 or not set(grid) <= set(system.params):
        raise ValueError(f"axis must be one parameter and its values, got {', '.join(grid)}")
    ((parameter, values),) = grid.items()
    bounds, several, names, last, m = Box(system, box), [], [], {}, 0
    for value in values:
        also = [p[-1] for p in last.values()] or None
        found = attractors(system(**{parameter: value}), box, x0, v0, also=also, **options)
        own = _matched(found.points, last, bounds, m)
        m = max([m, *(name + 1 for name in own)])
        names.append(own)
        last = dict(zip(own, found.points))
        several.append(found)
    k = several[0].attractors.shape[1]
    shares, errors = np.zeros((2, len(values), m))
    means = np.full((len(values), m, k), np.nan)
    for i, (own, found) in enumerate(zip(names, several)):
        shares[i, own], errors[i, own], means[i, own] = (
            found.fractions, found.errors, found.attractors)  # fmt: skip
    return AttractorBranches(parameter, values, shares, errors, means, tuple(several))


def _matched(points, last, box, fresh):
    """A number for each attractor: of the nearest before, each once, or the next free one."""
    apart = sorted(
        (norm(((one[:, np.newaxis] - other) / box.size)[..., box.places]).min(), i, name)
        for i, one in enumerate(points)
        for name, other in last.items()
    )
    own = {}
    for distance, i, name in apart:
        if distance < NEAR and i not in own and name not in own.values():
            own[i] = name
    free = count(fresh)
    return [own[i] if i in own else next(free) for i in range(len(points))]
