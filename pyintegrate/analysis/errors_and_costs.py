"""Errors of methods over their steps and over their cost: measured orders, and what wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..integration import integrate
from ..run.arguments import checked_quiet
from ..system.catalogue import systems
from ..values.checks import choice, truth
from ..values.keywords import explains_keywords
from ..values.table import Table
from ..values.types import ArrayLike, Floats, Integers, Methods, Sequence, System
from .accuracy import (
    ROUNDING,
    common_checks,
    distance,
    evaluations_a_step,
    follow,
    ladder,
    suitable_methods,
)
from .results import ByMethod, drawn_by, quiet, with_unit

LARGEST = 0.1  # errors beyond a tenth of the motion follow no power of dt
TINY = 1e-9
STRAIGHT = 0.1  # local slopes this close to their median lie on a line
ENOUGH = 6  # errors on a line: more would only reach back to where it is still curved
TARGETS = (1e-2, 1e-4, 1e-6, 1e-8)  # errors whose cost the table shows


@dataclass(frozen=True)
class OrderFit:
    """A line through errors: error = constant * dt**order between two steps.

    Attributes
    ----------
    order, constant : float
        NaN if fewer than two errors lie between rounding and a tenth of the motion. It is not the
        order of the method where later terms of the error are larger there.
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


@explains_keywords()
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
    chosen, rungs, motion = _set_out(system, methods, x0, v0, t_end, t0, dt, steps)
    errors = {method.name: np.array([motion.run(method, n)[0] for n in rungs]) for method in chosen}
    return Convergence(motion, chosen, rungs, errors)


def _set_out(system, methods, x0, v0, t_end, t0, dt, steps):
    """The methods, their numbers of steps, and the true motion."""
    checked_quiet(system)
    chosen, rungs = suitable_methods(system, methods), ladder(steps, dt, t0, t_end)
    return chosen, rungs, follow(system, x0, v0, t0, t_end, common_checks(rungs))


class Convergence(ByMethod[OrderFit]):
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
        self.dt = np.abs(motion.step(np.asarray(steps)))
        self.errors = errors
        self.floor = np.maximum(10 * motion.doubt, ROUNDING)
        self.methods = {method.name: method for method in methods}
        floor = float(np.median(self.floor))
        fits = {
            name: fit_order(self.dt, typical(error), floor, self.methods[name].order)
            for name, error in errors.items()
        }
        super().__init__(fits, motion)

    plot = drawn_by("convergence")

    def table(self) -> Table:
        """Orders as claimed and as measured, with the range used by the fit.

        Returns
        -------
        Table
        """
        rows = []
        for name, fit in self.items():
            told = [f"{fit.order:.2f}", f"{fit.dt_min:.3g} .. {fit.dt_max:.3g}"]
            least = np.nanmin(typical(self.errors[name]))
            told = [*(told if fit.points else "--"), f"{fit.points}", f"{least:.1e}"]
            rows.append([name, f"{self.methods[name].order}", *told])
        step = with_unit("between dt", self.system.units["t"])
        columns = ["method", "order", "measured", step, "points", "smallest error"]
        notes = ["error: in phase space, relative to the motion"]
        off = [n for n, fit in self.items() if abs(fit.order - self.methods[n].order) > 0.5]
        if off:
            notes.append(
                f"measured of {', '.join(off)}: where errors are above rounding, later terms are"
                " larger than that of the order; certificate() measures it in many digits"
            )
        return Table(self._span(), columns, rows, "\n".join([*notes, *self._remarks]))


def typical(errors):
    """Median over the batch of (n, *batch) errors, (n,)."""
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
    dt, error = np.abs(dt), np.asarray(error, float)
    with quiet():
        # Beyond the smallest error, smaller steps only add rounding: errors near it are noise.
        noise = error[np.nanargmin(error) :]
        floor = max(floor, 3 * float(np.max(noise)) if len(noise) > 1 else 0.0)
        good = np.isfinite(error) & (error < LARGEST) & (error > floor) & (error > 0)
        slopes = np.diff(np.log(error)) / np.diff(np.log(dt))
        slow = np.flatnonzero((error[:-1] < TINY) & (slopes < claimed / 2))
        good[slow[0] + 1 if len(slow) else len(good) :] = False
    n = len(dt)
    parts = [(i, j) for i in range(n) for j in range(i + 2, n + 1) if good[i:j].all()]
    if not parts:
        return OrderFit(np.nan, np.nan, np.nan, np.nan, 0)

    def rank(part):
        i, j = part
        local = slopes[i : j - 1]
        apart = np.max(np.abs(local - np.median(local)))
        straight = j - i >= 3 and apart < STRAIGHT
        return straight, min(j - i, ENOUGH if straight else 3), i if straight else -apart

    i, j = max(parts, key=rank)
    order, constant = np.polyfit(np.log(dt[i:j]), np.log(error[i:j]), 1)
    return OrderFit(float(order), float(np.exp(constant)), float(dt[j - 1]), float(dt[i]), j - i)


@explains_keywords()
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
    seconds = truth("seconds", seconds)
    chosen, rungs, motion = _set_out(system, methods, x0, v0, t_end, t0, dt, steps)
    curves = {}
    for method in chosen:
        points = []
        for n in rungs:
            error, evaluations = motion.run(method, n)
            took = motion.seconds(method, n) if seconds else np.nan
            points.append((abs(motion.step(n)), evaluations, took, error))
            if steps is None and dt is None and np.median(error) < ROUNDING:
                break
        curves[method.name] = tuple(np.array(column) for column in zip(*points))
    return WorkPrecision(motion, curves)


class WorkPrecision(ByMethod[Any]):
    """Error and cost by method, made by `work_precision`.

    A mapping from names to (dt, evaluations, seconds, error): arrays (n,), (n,), (n,) for one
    trajectory, and (n, *batch) as in `Convergence`. `floor` is the error below which results are
    not significant.
    """

    def __init__(self, motion, curves):
        super().__init__(curves, motion)
        self.floor = float(np.median(np.maximum(10 * motion.doubt, ROUNDING)))

    plot = drawn_by("work_precision")

    @property
    def timed(self) -> bool:
        """Whether times were measured."""
        return not all(np.isnan(seconds).all() for _, _, seconds, _ in self.values())

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
        columns = ("dt", "evaluations", "seconds", "error")
        curve = dict(zip(columns, self[name]))
        errors, spent = typical(curve["error"]), curve[choice("of", of, columns[:3])]
        reached = np.flatnonzero(errors <= error)
        if not len(reached):
            return np.nan
        i = reached[0]
        if i == 0 or not np.isfinite(errors[i - 1]) or errors[i] <= 0:
            return float(spent[i])
        (far, near), (less, more) = np.log(errors[i - 1 : i + 1]), spent[i - 1 : i + 1]
        return float(less * (more / less) ** ((far - np.log(error)) / (far - near)))

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
        columns = {"method": list(self)}
        for error in TARGETS:
            best = self.cheapest(error)
            costs = {name: self.cost(name, error) for name in self}
            columns[f"to {error:g}"] = [
                f"{cost:,.0f}{'*' * (best == name)}" if np.isfinite(cost) else "-"
                for name, cost in costs.items()
            ]
        for error in TARGETS[1:3] if self.timed else ():
            times = [1e6 * self.cost(name, error, of="seconds") for name in self]
            columns[f"\N{MICRO SIGN}s to {error:g}"] = [
                f"{t:.3g}" if np.isfinite(t) else "-" for t in times
            ]
        note = "force evaluations for one trajectory to an error relative to the motion; * least"
        note = "\n".join([note, *self._remarks])
        return Table(self._span(), list(columns), list(zip(*columns.values())), note)


WORK = 240  # force evaluations per period: a multiple of 1, 2, 3, 4, 5, 6, 8, 10
PERIODS = 50


@dataclass(frozen=True)
class Quality:
    """The quality of a method on one motion.

    Attributes
    ----------
    order : int
        As claimed.
    measured_order : float
        From `convergence` over one period.
    evaluations : int
        Force evaluations per step.
    stability_limit, limit_per_evaluation : float
        Largest omega dt on the undamped oscillator; the same divided by the evaluations, so that
        cheap and expensive methods can be compared.
    error : float
        Largest distance from the true motion in phase space over the first period, in units of the
        motion, at 240 evaluations per period.
    energy_change : float
        Change of the mean energy from the first to the last of 50 periods at the same work,
        relative; 0 if it is less than a fiftieth of its oscillation, NaN without an energy.
    symplectic, symmetric : bool
    """

    order: int
    measured_order: float
    evaluations: int
    stability_limit: float
    limit_per_evaluation: float
    error: float
    energy_change: float
    symplectic: bool
    symmetric: bool


@explains_keywords()
def quality(
    methods: Methods | None = None,
    system: System | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
) -> MethodQualities:
    """Judge methods on one periodic motion: stability, cost and accuracy at equal work.

    The work are 240 force evaluations in a period; the energy is judged over 50 of them.

    Parameters
    ----------
    methods : str, Method or sequence of them, optional
        All that fit by default.
    system : System, optional
        With a period and an exact solution; Kepler's ellipse by default, which is nonlinear and
        favours no method.
    x0, v0 : array_like, optional
        Start of one trajectory, as in `integrate`.

    Returns
    -------
    MethodQualities

    Raises
    ------
    ValueError
        If the motion has no period or no exact solution.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> found = pi.analysis.quality(["rk4", "velocity_verlet"])
    >>> found["velocity_verlet"].limit_per_evaluation > found["rk4"].limit_per_evaluation
    True
    >>> found["velocity_verlet"].error > found["rk4"].error
    True
    """
    system = systems["kepler"] if system is None else system
    orders = convergence(system, methods, x0, v0)
    found = {}
    for name, method in orders.methods.items():
        limit, cost = method.stability_limit, evaluations_a_step(system, method)
        steps = max(4, round(WORK / max(1, cost)))
        run = {"dt": orders.t_end / steps, "method": method, "on_failure": "ignore"}
        first = integrate(system, x0, v0, n_steps=steps, **run)
        if first.y.ndim > 2:
            raise ValueError(f"x0 and v0 must be of one trajectory, got {first.y.shape[1:-1]}")
        y = np.where(first.valid[..., np.newaxis], first.y, np.inf)
        change = np.nan
        if system.has_energy:
            long = integrate(system, x0, v0, n_steps=PERIODS * steps, **run)
            change = _secular(long.energy_error(), steps)
        error = float(distance(y, first.exact(), system.dof))
        found[name] = Quality(
            method.order, orders[name].order, cost, limit, limit / max(cost, 1), error, change,
            method.symplectic, method.symmetric,
        )  # fmt: skip
    return MethodQualities(found, orders)


class MethodQualities(ByMethod[Quality]):
    """Quality by method, made by `quality`; shows itself as a table."""

    def __init__(self, found, orders):
        super().__init__(found, orders)
        self.period = orders.t_end

    def table(self) -> Table:
        """All methods, the most accurate at equal work first.

        Returns
        -------
        Table
        """
        columns = [
            "method", "order", "measured", "evaluations",
            "stable to \N{GREEK SMALL LETTER OMEGA} dt", "per evaluation", "error",
            "energy change", "symplectic", "reversible",
        ]  # fmt: skip
        rows = []
        for name in sorted(self, key=lambda name: self[name].error):
            about = vars(self[name])
            change = "none" if about["energy_change"] == 0 else f"{about['energy_change']:+.0e}"
            told = (
                "{order} {measured_order:.2f} {evaluations} {stability_limit:.3g}"
                " {limit_per_evaluation:.3g} {error:.1e}"
            ).format_map(about)
            marks = ("yes" if about[mark] else "-" for mark in ("symplectic", "symmetric"))
            rows.append([name, *told.split(), change, *marks])
        title = (
            f"{self.system.title} at equal work: {WORK} force evaluations in a period of "
            f"{self.period:.4g} {self.system.units['t']}".rstrip()
        )
        note = (
            f"error: over one period, relative to the motion; energy change: secular, over "
            f"{PERIODS} periods"
        )
        return Table(title, columns, rows, note)


def _secular(error, steps):
    """Change of a mean over `steps` saves from the first to the last such interval; 0 if noise."""
    with quiet():
        first, last = error[:steps], error[-steps:]
        change = float(np.mean(last) - np.mean(first))
        return 0.0 if abs(change) < 0.02 * np.ptp(first) else change
