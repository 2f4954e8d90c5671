"""Equilibria: where the right-hand side is zero, and what the motion does near there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...run.arguments import checked_system
from ...values.checks import broadcast_shape, integer, numbers, positive
from ...values.table import Table, Tabled, batch_axes
from ..results import drawn_by
from ..sections.lanes import system_at, taken
from .boxes import Box
from .drives import is_driven
from .field_lines import manifold_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...system.system import System
    from ...values.types import ArrayLike, Floats

ROUNDS = 80  # of Newton: a double root, approached by halving, takes fifty
HALVINGS = 8
FAR = 1e3  # widths of the box from its start: where Newton's method is given up
APART = 1e-6  # in widths of the box: equilibria closer than this are one
NEUTRAL = 1e-7  # of the largest eigenvalue: a real part below this decides nothing
LANES = 1 << 18  # starts refined at a time


@dataclass(frozen=True, eq=False, repr=False)
class Equilibria(Tabled):
    """The equilibria in a box, for a batch of parameters; ``[...]`` where there are fewer is NaN.

    Attributes
    ----------
    points : ndarray
        (*batch, m, dim): in ascending order of their components; m is the most of any parameters.
    eigenvalues : ndarray of complex
        (*batch, m, dim): of the Jacobian there, the largest real part first.
    kinds : ndarray of str
        (*batch, m): "stable node", "unstable focus", "saddle", "saddle-focus",
        "saddle-centre" (imaginary ones besides), "centre", "degenerate" (an eigenvalue is 0, or
        imaginary beside others of one side), "" where there is none.
    stability : ndarray of str
        (*batch, m): "stable", "unstable", "neutral" (the linear part does not decide), "".
    residuals : ndarray
        (*batch, m): the norm of the right-hand side there.
    hits : ndarray of int
        (*batch, m): how many of the starts led there; where few did, others may be missing.
    count : ndarray of int
        (*batch).
    outside, lost : ndarray of int
        (*batch): starts that led to an equilibrium outside the box, and to none.
    starts : int
        How many there were.
    system : System
    t : ndarray
        The time at which the field was frozen.
    box : Box
    """

    points: np.ndarray
    eigenvalues: np.ndarray
    kinds: np.ndarray
    stability: np.ndarray
    residuals: np.ndarray
    hits: np.ndarray
    count: np.ndarray
    outside: np.ndarray
    lost: np.ndarray
    starts: int
    system: Any
    t: Any
    box: Any

    def manifolds(self, length: float = 3.0) -> dict[str, Floats]:
        """The stable and unstable manifolds of the saddles, where these are lines.

        Parameters
        ----------
        length : float, optional
            How long a line may be, in widths of the box.

        Returns
        -------
        dict of ndarray, shape (lines, n, dim)
            "stable" and "unstable": two lines for each saddle with one such direction, from the
            saddle on, by Runge-Kutta 4 in lengths of 1/200 of the box or less. A line ends, and is
            NaN from there on, where it leaves the box or arrives at an equilibrium.

        Raises
        ------
        ValueError
            For a batch of parameters.

        Examples
        --------
        The separatrix of the undamped Duffing well returns to its saddle:

        >>> import numpy as np, pyintegrate as pi
        >>> well = pi.systems.duffing(delta=0.0, gamma=0.0)
        >>> found = pi.analysis.equilibria(well, {"x": (-2, 2), "v": (-1, 1)})
        >>> line = found.manifolds()["unstable"][0]
        >>> line = line[~np.isnan(line[:, 0])]
        >>> bool(np.abs(well.energy(line)).max() < 1e-6), line[-1].tolist()
        (True, [0.0, 0.0])
        """
        return manifold_lines(self, positive("length", length))

    plot = drawn_by("equilibria")

    def __len__(self) -> int:
        return self.points.shape[-2]

    def table(self) -> Table:
        """A row for each equilibrium."""
        names, *shape = self.system.state_names, *self.kinds.shape
        values = {name: self.points[..., d] for d, name in enumerate(names)}
        columns = values | {"kind": self.kinds, "stability": self.stability, "hits": self.hits}
        axes = batch_axes(shape[:-1]) | {"equilibrium": np.arange(shape[-1])}
        title = f"Equilibria of {self.system.name}: {self._told()}"
        return Table.of(title, axes, columns, self.kinds != "")

    def _told(self):
        lost = 100 * np.mean(self.lost) / self.starts
        return f"{self.starts:,} starts, {lost:.3g} % of them led to none"


def equilibria(
    system: System,
    box: Mapping[str, Sequence[float]] | ArrayLike,
    n: int = 1000,
    *,
    t: ArrayLike | None = None,
    seed: int | None = None,
) -> Equilibria:
    """All equilibria in a box that Newton's method reaches from starts that fill it.

    Parameters
    ----------
    system : System
        With parameters of any batch shape: each has equilibria of its own.
    box : mapping of str to (low, high), or array_like, shape (dim, 2)
        The bounds of the components. One that a mapping leaves out is not bounded, and starts from
        its default value: velocities need no bounds.
    n : int, optional
        How many starts, Sobol points of the box.
    t : array_like, optional
        The time at which the field of a driven motion is frozen, one for all or for each of the
        batch.
    seed : int, optional
        Shifts the starts; by default they are the sequence itself.

    Returns
    -------
    Equilibria
        With ``points``, ``eigenvalues``, ``kinds``, ``stability``, ``manifolds()``,
        ``table()`` and ``plot()``. It cannot prove that there are no others: see ``hits``,
        ``outside`` and ``lost``.

    Raises
    ------
    TypeError, ValueError
        A wrong box; a driven motion without `t`.

    References
    ----------
    Strogatz (2015), Nonlinear Dynamics and Chaos, 5.2 and 6.3 (kinds).

    Examples
    --------
    >>> import pyintegrate as pi
    >>> well = pi.systems.duffing(gamma=0.0)
    >>> found = pi.analysis.equilibria(well, {"x": (-2, 2), "v": (-1, 1)})
    >>> found.points.round(6).tolist(), found.kinds.tolist()
    ([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], ['stable focus', 'saddle', 'stable focus'])

    For a batch of parameters, here on both sides of the pitchfork at rho = 1:

    >>> found = pi.analysis.equilibria(pi.systems.lorenz(rho=[0.5, 14.0, 28.0]), [[-30, 30]] * 3)
    >>> found.count.tolist(), found.kinds[:, 0].tolist()
    ([1, 3, 3], ['stable node', 'stable focus', 'saddle-focus'])
    """
    checked_system(system)
    box, n = Box(system, box), integer("n", n, 1)
    if t is None and is_driven(system, box):
        raise ValueError(
            f"the field of {system.name!r} changes with time: give t=0.0 to freeze it there, or"
            " parameters without the drive"
        )
    t = numbers("t", 0.0 if t is None else t).astype(float)
    batch = broadcast_shape({"t": t.shape, **system.batch_shapes})
    lanes = int(np.prod(batch))
    starts, rows = box.starts(n, seed), max(1, LANES // n)
    parts, outside, lost = [], np.zeros(lanes, int), np.zeros(lanes, int)
    for first in range(0, lanes, rows):
        which = np.arange(first, min(first + rows, lanes))
        lane = np.repeat(which, n)
        y, arrived = refined(system, np.tile(starts, (len(which), 1)), box.size, t, batch, lane)
        inside = arrived & box.holds(y)
        counts = (np.bincount(lane, ~arrived, lanes), np.bincount(lane, arrived & ~inside, lanes))
        lost, outside = lost + counts[0].astype(int), outside + counts[1].astype(int)
        ends = np.flatnonzero(np.diff(lane[inside])) + 1
        several = np.split(y[inside], ends) if inside.any() else []
        own = dict(zip(np.unique(lane[inside]), several, strict=True))
        parts += [_distinct(own.get(i, np.empty((0, system.dim))), box.size) for i in which]
    most = max((len(points) for points, _ in parts), default=0)
    points, hits = np.full((lanes, most, system.dim), np.nan), np.zeros((lanes, most), int)
    for i, (one, times) in enumerate(parts):
        points[i, : len(one)], hits[i, : len(one)] = one, times
    return described(
        system, points.reshape(*batch, most, system.dim), t,
        hits=hits.reshape(*batch, most), outside=outside.reshape(batch), lost=lost.reshape(batch),
        starts=n, box=box,
    )  # fmt: skip


def described(system, points, t, **counts):
    """Equilibria at points (*batch, m, dim): eigenvalues, kinds and residuals."""
    shape = points.shape[:-1]
    lane = np.repeat(np.arange(int(np.prod(shape[:-1]))), shape[-1])
    there = ~np.isnan(points).any(axis=-1).ravel()
    flat, lane = points.reshape(-1, system.dim)[there], lane[there]
    one, times = system_at(system, shape[:-1], lane), taken(t, shape[:-1], lane)
    values = np.linalg.eigvals(one.jacobian(times, flat)).astype(complex)
    values = np.take_along_axis(values, np.lexsort((-values.imag, -values.real)), axis=-1)
    known = kinds_of(values)
    found = []
    for part, empty in (
        (values, complex(np.nan, np.nan)), (known[0], ""), (known[1], ""),
        (np.linalg.norm(one.rhs(times, flat), axis=-1), np.nan),
    ):  # fmt: skip
        whole = np.full((there.size, *part.shape[1:]), empty, part.dtype)
        whole[there] = part
        found.append(whole.reshape(*shape, *part.shape[1:]))
    count = there.reshape(shape).sum(axis=-1)
    values, kinds, stability, residual = found
    return Equilibria(
        points, values, kinds, stability, residual, count=count, system=system, t=t, **counts
    )


def kinds_of(eigenvalues):
    """Kinds and stability (...) of equilibria by their eigenvalues (..., dim).

    Examples
    --------
    >>> kinds_of([[1.0, -1.0], [-1 + 1j, -1 - 1j], [1j, -1j]])[0].tolist()
    ['saddle', 'stable focus', 'centre']
    """
    values = np.asarray(eigenvalues, complex)
    room = NEUTRAL * np.abs(values).max(axis=-1, keepdims=True)
    grow, shrink = values.real > room, values.real < -room
    turn = np.abs(values.imag) > room
    idle = ~(grow | shrink)
    rises, falls, rests = grow.any(axis=-1), shrink.any(axis=-1), idle.any(axis=-1)
    stability = np.where(rises, "unstable", np.where(rests, "neutral", "stable"))
    turns = (turn & ~idle).any(axis=-1)
    side = np.where(rises, "unstable", "stable").astype("U14")
    kind = np.where(turns, np.char.add(side, " focus"), np.char.add(side, " node"))
    kind = np.where(rests, "degenerate", kind)
    kind = np.where((idle & turn).all(axis=-1), "centre", kind)
    both = np.where(rests, "saddle-centre", np.where(turns, "saddle-focus", "saddle"))
    whole = ~(idle & ~turn).any(axis=-1)
    return np.where(rises & falls & whole, both, kind), stability


def refined(system, y, size, t, batch, lane):
    """Newton's method from states y (m, dim), each with the parameters of a lane of the batch.

    The step is halved until the right-hand side shrinks, and is at most a width of the box.

    Returns
    -------
    y : ndarray
        (m, dim).
    arrived : ndarray of bool
        (m,): whether the last step was below rounding, near the box.
    """
    start, y, arrived = y, y.copy(), np.zeros(len(y), bool)
    active = np.arange(len(y))
    with np.errstate(all="ignore"):
        for _ in range(ROUNDS):
            if not len(active):
                break
            own, times = system_at(system, batch, lane[active]), taken(t, batch, lane[active])
            old = y[active]
            f, J = own.rhs(times, old), own.jacobian(times, old)
            good = np.isfinite(f).all(axis=-1) & np.isfinite(J).all(axis=(-2, -1))
            good &= (np.abs(old - start[active]) < FAR * size).all(axis=-1)
            step = np.zeros_like(old)
            scaled = J[good] * size
            step[good] = _solved(scaled, -f[good]) * size
            rest = np.linalg.norm((J[good] @ step[good, :, None])[..., 0] + f[good], axis=-1)
            whole = 1e-9 * np.abs(scaled).max(axis=(-2, -1), initial=0)
            good[good] = rest <= np.maximum(whole, np.linalg.norm(f[good], axis=-1) / 2)
            far = np.linalg.norm(step / size, axis=-1, keepdims=True)
            step /= np.maximum(1.0, far)
            before, share = np.linalg.norm(f, axis=-1), np.ones(len(old))
            for _ in range(HALVINGS):
                after = np.linalg.norm(own.rhs(times, old + share[:, None] * step), axis=-1)
                worse = ~(after < before) & (before > 0)
                if not worse.any():
                    break
                share = np.where(worse, share / 2, share)
            new = old + share[:, None] * step
            # Where rounding is reached no step helps: the full one is below it.
            tiny = (far[:, 0] < 1e-12) | (worse & (far[:, 0] < 1e-9))
            y[active] = np.where((tiny & worse)[:, None], old, new)
            arrived[active] = good & tiny
            active = active[good & ~tiny]
    return y, arrived


def _solved(A, b):
    """The solutions of A x = b, the least where A is singular: (m, k, k), (m, k)."""
    x, flat = np.empty_like(b), np.linalg.det(A) == 0
    x[~flat] = np.linalg.solve(A[~flat], b[~flat, :, None])[..., 0]
    x[flat] = (np.linalg.pinv(A[flat]) @ b[flat, :, None])[..., 0]
    return x


def _distinct(y, size):
    """The different ones among states (m, dim), in ascending order, and how many are at each."""
    points, hits = [], []
    while len(y):
        near = np.linalg.norm((y - y[0]) / size, axis=-1) < APART
        points.append(np.median(y[near], axis=0))
        hits.append(np.count_nonzero(near))
        y = y[~near]
    if not points:
        return y, np.zeros(0, int)
    points, hits = np.array(points), np.array(hits)
    order = np.lexsort(np.round(points / (APART * size)).T[::-1])
    return points[order], hits[order]
