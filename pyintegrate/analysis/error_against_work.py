"""The cost of accuracy: error against force evaluations and against seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..values.table import Table, Tabled
from .accuracy import ROUNDING, follow, ladder, suitable_methods
from .error_against_step import typical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..system.system import System
    from ..values.types import ArrayLike, Axes, Floats, Integers, Methods

TARGETS = (1e-2, 1e-4, 1e-6, 1e-8)  # errors whose cost the table shows


def work_precision(
    system: System,
    methods: Methods | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    t_end: float | None = None,
    t0: float = 0.0,
    dt: Sequence[float] | Floats | None = None,
    steps: Sequence[int] | Integers | None = None,
    seconds: bool = True,
) -> WorkPrecision:
    """Measure the cost of methods on one motion, and their errors.

    Parameters
    ----------
    system : System
    methods : str, Method or sequence of them, optional
        All that fit the system by default.
    x0, v0 : array_like, optional
        Start, as in `integrate`; for a batch, the median error counts.
    t_end : float, optional
        End; default: one period of the motion.
    t0 : float, optional
        Start time.
    dt, steps : sequence, optional
        As in `convergence`: from 4 to 16384 steps by default. A method stops at rounding.
    seconds : bool, optional
        Whether to measure the time, in a batch of 256 trajectories or more on one thread: a single
        trajectory would mostly measure the call.

    Returns
    -------
    WorkPrecision

    Raises
    ------
    ValueError, TypeError
        For arguments that do not fit.

    Examples
    --------
    On an oscillator a method of higher order wins if accuracy is needed:

    >>> import pyintegrate as pi
    >>> methods = ["velocity_verlet", "rk4"]
    >>> found = pi.analysis.work_precision(pi.systems.oscillator, methods, seconds=False)
    >>> [found.cheapest(error) for error in (0.03, 1e-6)]
    ['velocity_verlet', 'rk4']
    """
    chosen = suitable_methods(system, methods)
    rungs = ladder(steps, dt, t0, t_end)
    motion = follow(system, x0, v0, t0, t_end, rungs)
    curves = {}
    for method in chosen:
        points = []
        for n in rungs:
            y, evaluations = motion.run(method, n)
            error = motion.error(y)
            took = motion.seconds(method, n) if seconds else np.nan
            points.append((abs(motion.t_end - motion.t0) / n, evaluations, took, error))
            if steps is None and dt is None and np.median(error) < ROUNDING:
                break
        curves[method.name] = tuple(np.array(column) for column in zip(*points, strict=True))
    return WorkPrecision(motion, curves)


class WorkPrecision(Tabled, Mapping[str, Any]):
    """Error and cost by method, made by `work_precision`.

    A mapping from names to (dt, evaluations, seconds, error): arrays (n,), (n,), (n,) for one
    trajectory, and (n, *batch) as in `Convergence`. `floor` is the error below which results are
    not significant.
    """

    def __init__(self, motion, curves):
        self.system, self.t0, self.t_end = motion.system, motion.t0, motion.t_end
        self.floor = float(np.median(np.maximum(10 * motion.doubt, ROUNDING)))
        self._curves = curves

    def __getitem__(self, name: str) -> Any:
        return self._curves[str(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._curves)

    def __len__(self) -> int:
        return len(self._curves)

    @property
    def timed(self) -> bool:
        """Whether times were measured."""
        return not all(np.isnan(seconds).all() for _, _, seconds, _ in self._curves.values())

    def cost(self, name: str, error: float, *, of: str = "evaluations") -> float:
        """The cost of an error with a method, interpolated between its runs in logarithms.

        Parameters
        ----------
        name : str
        error : float
            The required error, in units of the motion.
        of : {"evaluations", "seconds", "dt"}, optional

        Returns
        -------
        float
            NaN if no run came so close.
        """
        place = {"dt": 0, "evaluations": 1, "seconds": 2}
        if of not in place:
            raise ValueError(f"of must be one of {', '.join(place)}, got {of!r}")
        curve = self[name]
        errors, spent = typical(curve[3]), np.asarray(curve[place[of]], dtype=float)
        reached = np.flatnonzero(errors <= error)
        if not len(reached):
            return np.nan
        i = reached[0]
        if i == 0 or not np.isfinite(errors[i - 1]) or errors[i] <= 0:
            return float(spent[i])
        share = np.log(errors[i - 1] / error) / np.log(errors[i - 1] / errors[i])
        return float(np.exp(np.interp(share, [0, 1], np.log(spent[i - 1 : i + 1]))))

    def cheapest(self, error: float, *, of: str = "evaluations") -> str | None:
        """Name of the method that needs least for an error, or None if none reaches it."""
        costs = {name: self.cost(name, error, of=of) for name in self}
        costs = {name: cost for name, cost in costs.items() if np.isfinite(cost)}
        return min(costs, key=costs.__getitem__, default=None)

    def table(self) -> Table:
        """Force evaluations needed for errors, and the time for the smallest error that all reach.

        Returns
        -------
        Table
        """
        best = {error: self.cheapest(error) for error in TARGETS}
        rows = []
        for name in self:
            cells = []
            for error in TARGETS:
                cost = self.cost(name, error)
                mark = "*" if best[error] == name else ""
                cells.append(f"{cost:,.0f}{mark}" if np.isfinite(cost) else "-")
            if self.timed:
                time = [self.cost(name, error, of="seconds") for error in TARGETS]
                cells += [f"{1e6 * t:.3g}" if np.isfinite(t) else "-" for t in time[1:3]]
            rows.append([name, *cells])
        columns = ["method", *(f"to {error:g}" for error in TARGETS)]
        if self.timed:
            columns += [f"\N{MICRO SIGN}s to {error:g}" for error in TARGETS[1:3]]
        unit = self.system.units.get("t", "")
        title = f"{self.system.title}, t = {self.t0:g} to {self.t_end:.6g} {unit}".rstrip()
        note = "force evaluations for one trajectory to an error relative to the motion; * least"
        return Table(title, columns, rows, note)

    def plot(self, **keywords: Any) -> Axes:
        """Draw error against cost: see `pyintegrate.plots.work_precision`."""
        from ..plots import work_precision

        return work_precision(self, **keywords)
