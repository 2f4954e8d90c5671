"""One table to choose a method by: stability, cost and accuracy side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..integration import integrate
from ..system.catalogue import systems
from ..values.table import Table
from .accuracy import distance, evaluations_a_step
from .errors_and_costs import convergence
from .results import ByMethod

if TYPE_CHECKING:
    from ..system.system import System
    from ..values.types import ArrayLike, Methods

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
        motion, at `WORK` evaluations per period.
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


def quality(
    methods: Methods | None = None,
    system: System | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    work: int = WORK,
    periods: int = PERIODS,
) -> MethodQualities:
    """Judge methods on one periodic motion: stability, cost and accuracy at equal work.

    Parameters
    ----------
    methods : str, Method or sequence of them, optional
        All that fit by default.
    system : System, optional
        With a period and an exact solution; Kepler's ellipse by default, which is nonlinear and
        favours no method.
    x0, v0 : array_like, optional
        Start of one trajectory, as in `integrate`.
    work : int, optional
        Force evaluations per period, for every method.
    periods : int, optional
        Length of the run over which the energy is judged.

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
        steps = max(4, round(work / max(1, evaluations_a_step(system, method))))
        run = {"dt": orders.t_end / steps, "method": method, "on_failure": "ignore"}
        first = integrate(system, x0, v0, n_steps=steps, **run)
        if system.exact(first.t[:1], first.initial) is None:
            raise ValueError(f"quality needs an exact solution, and {system.name!r} has none")
        y = np.where(first.valid[..., np.newaxis], first.y, np.inf)
        change = np.nan
        if system.has_energy:
            long = integrate(system, x0, v0, n_steps=periods * steps, **run)
            change = _secular(long.energy_error(), steps)
        limit, cost = method.stability_limit, method.evaluations
        error = float(distance(y, first.exact(), system.dof))
        found[name] = Quality(
            method.order, orders[name].order, cost, limit, limit / max(cost, 1), error, change,
            method.symplectic, method.symmetric,
        )  # fmt: skip
    return MethodQualities(found, orders, work, periods)


class MethodQualities(ByMethod[Quality]):
    """Quality by method, made by `quality`; shows itself as a table."""

    def __init__(self, found, orders, work, periods):
        super().__init__(found, orders)
        self.period, self.work, self.periods = orders.t_end, work, periods

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
            f"{self.system.title} at equal work: {self.work} force evaluations in a period of "
            f"{self.period:.4g} {self.system.units.get('t', '')}".rstrip()
        )
        note = (
            f"error: over one period, relative to the motion; energy change: secular, over "
            f"{self.periods} periods"
        )
        return Table(title, columns, rows, note)


def _secular(error, steps):
    """Change of a mean over `steps` saves from the first to the last such interval; 0 if noise."""
    with np.errstate(all="ignore"):
        first, last = error[:steps], error[-steps:]
        change = float(np.mean(last) - np.mean(first))
        return 0.0 if abs(change) < 0.02 * np.ptp(first) else change
