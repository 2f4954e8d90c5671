"""Basins of attraction: which start leads where, for a batch of trajectories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Status
from ..values.checks import integer
from .observables import check_solution
from .results import drawn_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..solution.solution import Solution
    from ..values.types import ArrayLike, Floats

SAMPLE = 4000  # final states, evenly chosen, in which attractors are searched for
NEAREST = 1 << 22  # numbers in a table of distances


@dataclass(frozen=True, eq=False)
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

    label: np.ndarray
    attractors: np.ndarray
    components: tuple
    system: Any
    solution: Any = None

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
        if not label.ndim or min(label.shape) < box:
            raise ValueError(f"box is {box}, and the batch {label.shape}: a box must fit")
        whole = label[tuple(slice(n // box * box) for n in label.shape)]
        pairs = [length for n in whole.shape for length in (n // box, box)]
        split = whole.reshape(pairs)
        boxes = split.transpose(*range(0, split.ndim, 2), *range(1, split.ndim, 2))
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
        Distance within which a trajectory has arrived, in the units of the components.

    Returns
    -------
    Basins
        With ``label``, ``attractors``, ``share()``, ``entropy()`` and ``plot()``.

    Raises
    ------
    ValueError
        For unknown components, or attractors of another shape.

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
    names = system.state_names if components is None else components
    names = (names,) if isinstance(names, str) else tuple(names)
    unknown = [name for name in names if name not in system.state_names]
    if unknown or not names:
        known = ", ".join(system.state_names)
        raise ValueError(f"components must be among {known}, got {', '.join(map(repr, names))}")
    if np.ndim(tolerance) or not tolerance > 0:
        raise ValueError(f"tolerance must be a positive distance, got {tolerance!r}")
    places = [system.state_names.index(name) for name in names]
    batch = solution.y.shape[1:-1]
    ends = np.stack([solution.final[..., place].reshape(-1) for place in places], axis=-1)
    ends = ends.astype(float)
    status = np.asarray(solution.status).reshape(-1)
    good = (status == Status.OK) | (status == Status.STOPPED)
    good &= np.isfinite(ends).all(axis=-1)
    if attractors is None:
        points = _clusters(ends[good], tolerance)
    else:
        points = np.asarray(attractors, dtype=float).reshape(-1, len(names))
    label = np.full(len(ends), -1)
    label[good] = _nearest(ends[good], points, tolerance)
    if attractors is None:
        count = np.bincount(label[label >= 0], minlength=len(points))
        order = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
        place = np.full(len(points) + 1, -1)
        place[order] = np.arange(len(order))
        label, points = place[label], points[order]
    return Basins(label.reshape(batch), points, names, system, solution)


def _clusters(ends, tolerance):
    """Points representing all ends, no two of them closer than the tolerance."""
    sample = ends[:: max(1, len(ends) // SAMPLE)]
    points = np.empty((0, ends.shape[-1]))
    while len(sample):
        near = np.linalg.norm(sample - sample[0], axis=-1) <= tolerance
        centre = sample[near].mean(axis=0)
        near |= np.linalg.norm(sample - centre, axis=-1) <= tolerance
        points = np.concatenate([points, sample[near].mean(axis=0, keepdims=True)])
        sample = sample[~near]
    return points


def _nearest(ends, points, tolerance):
    """Index of the nearest point, -1 if none is near."""
    label = np.full(len(ends), -1)
    rows = max(1, NEAREST // max(1, len(points)))
    for start in range(0, len(ends) if len(points) else 0, rows):
        part = ends[start : start + rows]
        squares = sum((part[:, i, np.newaxis] - points[:, i]) ** 2 for i in range(part.shape[1]))
        nearest = squares.argmin(axis=1)
        arrived = np.take_along_axis(squares, nearest[:, np.newaxis], 1)[:, 0] <= tolerance**2
        label[start : start + rows] = np.where(arrived, nearest, -1)
    return label
