"""The order of accuracy of a method as measured: errors over dt, and the slope of their line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..values.table import Table, Tabled
from .accuracy import ROUNDING, follow, ladder, suitable_methods

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..system.system import System
    from ..values.types import ArrayLike, Axes, Floats, Integers, Methods

LARGEST = 0.1  # errors beyond a tenth of the motion follow no power of dt
TINY = 1e-9
STRAIGHT = 0.1  # local slopes this close to their median lie on a line
ENOUGH = 6  # errors on a line: more would only reach back to where it is still curved


@dataclass(frozen=True)
class OrderFit:
    """A line through errors: error = constant * dt**order between two steps.

    Attributes
    ----------
    order, constant : float
        NaN if fewer than two errors lie between rounding and a tenth of the motion.
    dt_min, dt_max : float
        The range used.
    points : int
        How many errors.
    """

    order: float
    constant: float
    dt_min: float
    dt_max: float
    points: int


def convergence(
    system: System,
    methods: Methods | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    t_end: float | None = None,
    t0: float = 0.0,
    dt: Sequence[float] | Floats | None = None,
    steps: Sequence[int] | Integers | None = None,
) -> Convergence:
    """Measure the error of methods on one motion over a range of steps, and fit their orders.

    Parameters
    ----------
    system : System
    methods : str, Method or sequence of them, optional
        All that fit the system by default.
    x0, v0 : array_like, optional
        Start, as in `integrate`; for a batch, the order is that of the median error.
    t_end : float, optional
        End; default: one period of the motion.
    t0 : float, optional
        Start time.
    dt : sequence of float, optional
        Steps that divide the span, or
    steps : sequence of int, optional
        numbers of steps over the span; default: from 4 to 16384.

    Returns
    -------
    Convergence

    Raises
    ------
    ValueError, TypeError
        For arguments that do not fit.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> found = pi.analysis.convergence(pi.systems.kepler, ["midpoint", "rk4"])
    >>> print(*(f"{name} {found[name].order:.1f}" for name in found))
    midpoint 2.0 rk4 4.0
    """
    chosen = suitable_methods(system, methods)
    rungs = ladder(steps, dt, t0, t_end)
    motion = follow(system, x0, v0, t0, t_end, rungs)
    errors: dict[str, np.ndarray] = {}
    for method in chosen:
        errors[method.name] = np.array([motion.error(motion.run(method, n)[0]) for n in rungs])
    return Convergence(motion, chosen, rungs, errors)


class Convergence(Tabled, Mapping[str, OrderFit]):
    """Errors over dt by method, made by `convergence`: a mapping from names to `OrderFit`.

    Attributes
    ----------
    dt : ndarray
        (n,) steps, descending.
    errors : dict
        (n, *batch) by method: largest distance in phase space from the true motion, in units of
        the motion.
    floor : ndarray
        (*batch) below which an error is not significant: rounding, or doubt about the reference.
    system, t_end
        The system, and the end of the span.
    """

    def __init__(self, motion, methods, steps, errors):
        self.system, self.t0, self.t_end = motion.system, motion.t0, motion.t_end
        self.dt = np.abs(motion.t_end - motion.t0) / np.asarray(steps)
        self.errors = errors
        self.floor = np.maximum(10 * motion.doubt, ROUNDING)
        self.methods = {method.name: method for method in methods}
        floor = float(np.median(self.floor)) if np.size(self.floor) else np.nan
        self._fits = {
            name: fit_order(self.dt, typical(error), floor, self.methods[name].order)
            for name, error in errors.items()
        }

    def __getitem__(self, name: str) -> OrderFit:
        return self._fits[str(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fits)

    def __len__(self) -> int:
        return len(self._fits)

    def table(self) -> Table:
        """Orders as claimed and as measured, with the range used by the fit.

        Returns
        -------
        Table
        """
        unit = self.system.units.get("t", "")
        rows = []
        for name, fit in self.items():
            span = f"{fit.dt_min:.3g} .. {fit.dt_max:.3g}" if fit.points else "-"
            least = np.nanmin(typical(self.errors[name]))
            order = f"{fit.order:.2f}" if fit.points else "-"
            rows.append(
                [name, f"{self.methods[name].order}", order, span, f"{fit.points}", f"{least:.1e}"]
            )
        step = f"dt [{unit}]" if unit else "dt"
        columns = ["method", "order", "measured", f"between {step}", "points", "smallest error"]
        title = f"{self.system.title}, t = {self.t0:g} to {self.t_end:.6g} {unit}".rstrip()
        return Table(title, columns, rows, "error: in phase space, relative to the motion")

    def plot(self, **keywords: Any) -> Axes:
        """Draw errors over dt: see `pyintegrate.plots.convergence`."""
        from ..plots import convergence

        return convergence(self, **keywords)


def typical(errors):
    """Median over the batch of (n, *batch) errors, (n,)."""
    errors = np.asarray(errors, dtype=float)
    return np.median(errors.reshape(len(errors), -1), axis=1)


def fit_order(dt, error, floor=ROUNDING, claimed=0):
    """Fit a line to the errors that lie on one, in logarithms.

    Neighbouring errors, three to six, whose slopes agree with their median to 0.1: as many as
    possible, and then those at the smallest steps, where the leading term dominates.

    Parameters
    ----------
    dt, error : array_like
        (n,), dt descending.
    floor : float, optional
        Errors below this count as rounding.
    claimed : int, optional
        The claimed order: tiny errors that then fall less than half as fast come from rounding,
        perhaps of the coefficients.

    Returns
    -------
    OrderFit

    Examples
    --------
    >>> import numpy as np
    >>> dt = 0.1 * 0.5 ** np.arange(8)
    >>> fit = fit_order(dt, dt**3 + 1e-7)
    >>> print(f"{fit.order:.1f} from {fit.points} points")
    3.0 from 4 points
    """
    dt, error = np.abs(np.asarray(dt, dtype=float)), np.asarray(error, dtype=float)
    with np.errstate(all="ignore"):
        # Beyond the smallest error, smaller steps only add rounding: errors near it are noise.
        noise = error[np.nanargmin(error) :]
        floor = max(floor, 3 * float(np.max(noise)) if len(noise) > 1 else 0.0)
        good = np.isfinite(error) & (error < LARGEST) & (error > floor) & (error > 0)
        slopes = np.diff(np.log(error)) / np.diff(np.log(dt))
        slow = np.flatnonzero((error[:-1] < TINY) & (slopes < claimed / 2))
        good[slow[0] + 1 if len(slow) else len(good) :] = False
    best = None
    for i in range(len(dt)):
        for j in range(i + 2, len(dt) + 1):
            if not good[i:j].all():
                break
            local = slopes[i : j - 1]
            apart = np.max(np.abs(local - np.median(local)))
            straight = j - i >= 3 and apart < STRAIGHT
            many = min(j - i, ENOUGH if straight else 3)
            rank = (straight, many, i if straight else -apart)
            if best is None or rank > best[0]:
                best = rank, i, j
    if best is None:
        return OrderFit(np.nan, np.nan, np.nan, np.nan, 0)
    _, i, j = best
    order, constant = np.polyfit(np.log(dt[i:j]), np.log(error[i:j]), 1)
    return OrderFit(float(order), float(np.exp(constant)), float(dt[j - 1]), float(dt[i]), j - i)
