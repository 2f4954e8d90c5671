"""One table to choose a method by: stability, cost and accuracy side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..integration import integrate
from ..system.catalogue import systems
from ..values.table import Table, Tabled
from .accuracy import distance, suitable_methods
from .error_against_step import convergence

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    chosen = suitable_methods(system, methods)
    orders = convergence(system, chosen, x0, v0)
    period = orders.t_end
    found = {}
    for method in chosen:
        steps = max(4, round(work / _cost(system, method)))
        run = {"dt": period / steps, "method": method, "on_failure": "ignore"}
        first = integrate(system, x0, v0, n_steps=steps, **run)
        if system.exact(first.t[:1], first.initial) is None:
            raise ValueError(f"quality needs an exact solution, and {system.name!r} has none")
        y = np.where(first.valid[..., np.newaxis], first.y, np.inf)
        change = np.nan
        if system.has_energy:
            long = integrate(system, x0, v0, n_steps=periods * steps, **run)
            change = _secular(long.energy_error(), steps)
        limit = method.stability_limit
        found[method.name] = Quality(
            order=method.order,
            measured_order=orders[method.name].order,
            evaluations=method.evaluations,
            stability_limit=limit,
            limit_per_evaluation=limit / max(method.evaluations, 1),
            error=float(distance(system, y, first.exact())),
            energy_change=change,
            symplectic=method.symplectic,
            symmetric=method.symmetric,
        )
    return MethodQualities(found, system, period, work, periods)


class MethodQualities(Tabled, Mapping[str, Quality]):
    """Quality by method, made by `quality`; shows itself as a table."""

    def __init__(self, found, system, period, work, periods):
        self._found = dict(found)
        self.system, self.period, self.work, self.periods = system, period, work, periods

    def __getitem__(self, name: str) -> Quality:
        return self._found[str(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def table(self) -> Table:
        """All methods, the most accurate at equal work first.

        Returns
        -------
        Table
        """
        columns = [
            "method",
            "order",
            "measured",
            "evaluations",
            "stable to \N{GREEK SMALL LETTER OMEGA} dt",
            "per evaluation",
            "error",
            "energy change",
            "symplectic",
            "reversible",
        ]
        rows = [
            [
                name,
                str(one.order),
                f"{one.measured_order:.2f}",
                str(one.evaluations),
                f"{one.stability_limit:.3g}",
                f"{one.limit_per_evaluation:.3g}",
                f"{one.error:.1e}",
                "none" if one.energy_change == 0 else f"{one.energy_change:+.0e}",
                "yes" if one.symplectic else "-",
                "yes" if one.symmetric else "-",
            ]
            for name, one in sorted(self.items(), key=lambda item: item[1].error)
        ]
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


def _cost(system, method):
    """Force evaluations of one more step, on this system."""
    run = {"dt": 1e-9, "method": method, "save": "final", "on_failure": "ignore"}
    some, more = (integrate(system, n_steps=n, **run).evaluations for n in (10, 11))
    return max(1, more - some)
