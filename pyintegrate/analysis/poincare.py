"""Points where orbits cross a surface, or where they are once a period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .observables import check_solution, times
from .results import drawn_by

if TYPE_CHECKING:
    from ..solution.solution import Solution
    from ..values.types import Floats


@dataclass(frozen=True, eq=False)
class Section:
    """Points of a Poincare section; ``section["x"]`` is a component of them.

    Attributes
    ----------
    y : ndarray
        (n, dim) states on the surface.
    t : ndarray
        (n,) their times.
    trajectory : ndarray of int
        (n,) flat indices into the batch.
    system : System
    batch : tuple of int
        The batch: ``numpy.unravel_index(section.trajectory, section.batch)``.
    values : ndarray or None
        (n, k): the additional values requested from `crossings`.
    """

    y: np.ndarray
    t: np.ndarray
    trajectory: np.ndarray
    system: Any
    batch: tuple = ()
    values: Any = None

    def __getitem__(self, name: str) -> Floats:
        return self.y[:, self.system.state_names.index(_known(self.system, name))]

    plot = drawn_by("section")

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self):
        count = len(np.unique(self.trajectory))
        return f"<Section of {self.system.name}: {len(self)} points of {count} trajectories>"


def poincare_section(
    solution: Solution,
    component: str | None = None,
    value: float = 0.0,
    *,
    direction: int = 1,
    period: float | None = None,
    phase: float = 0.0,
    modulo: float | None = None,
) -> Section:
    """Points where the orbits of a solution cross a surface.

    Between two saves an orbit is approximated by the cubic with their states and velocities
    (Hermite); the crossing is located on it to rounding. Give `component`, or `period`.

    Parameters
    ----------
    solution : Solution
        Saved so often that an orbit crosses at most once between saves.
    component : str, optional
        Name of the component that equals `value` on the surface.
    value : float, optional
    direction : {1, -1, 0}, optional
        Crossings upwards, downwards or both, in the order of the steps, also for a run backwards in
        time (dt < 0).
    period : float, optional
        Instead of a surface: the states at times phase + n period, as for a driven oscillation.
    phase : float, optional
        The first of these times, counted from 0.
    modulo : float, optional
        Take the component modulo this, as for angles: every turn crosses.

    Returns
    -------
    Section
        Points in order of trajectory, then time. Failed trajectories count until their failure.

    Raises
    ------
    ValueError, KeyError
        For unknown components, or without a component or a period.

    References
    ----------
    Henon (1982), Physica D 5, 412, who steps onto the surface; Hermite interpolation needs
    no further step and is as good as a method of order three or four.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=20.0)
    >>> section = pi.analysis.poincare_section(sol, "x", direction=1)  # -cos(t') rises through 0
    >>> print(section.t.round(4))  # at 3/2 pi + 2 pi n
    [ 4.7124 10.9956 17.2788]
    """
    if hasattr(solution, "rhs"):
        raise TypeError(
            "poincare_section takes a Solution, got a System: without one,"
            " pi.analysis.crossings(system, 'x', x0, v0, dt=..., t_end=...)"
        )
    solution = check_solution(solution, "poincare_section")
    if (component is None) == (period is None):
        raise ValueError("give a component, or a period of time, to section by")
    if direction not in (1, -1, 0):
        raise ValueError(f"direction must be 1, -1 or 0, got {direction!r}")
    if len(solution) < 2:
        raise ValueError(
            "a section needs two saves or more: integrate with save='all' or save=k, or take"
            " pi.analysis.crossings, which needs no saves"
        )
    system = solution.system
    if len(solution.components) < system.dim:
        raise ValueError(
            f"a section needs all components ({', '.join(system.state_names)}), and "
            f"{', '.join(solution.components)} were saved: integrate without components"
        )
    flat = solution.y.reshape(len(solution), -1, system.dim)
    t = np.broadcast_to(times(solution), solution.y.shape[:-1]).reshape(flat.shape[:2])
    valid = np.broadcast_to(solution.valid, solution.y.shape[:-1]).reshape(flat.shape[:2])
    if period is None:
        place = system.state_names.index(_known(system, component))
        height = flat[..., place].astype(float) - value
    else:
        if not (np.ndim(period) == 0 and period > 0):
            raise ValueError(f"period must be a positive time, got {period!r}")
        height, modulo, direction = t - phase, period, 0  # each trajectory crosses in one direction
    turn = np.floor(height / modulo) if modulo is not None else height >= 0
    before, after = turn[:-1], turn[1:]
    rises, falls = after > before, after < before
    crossed = (rises if direction > 0 else falls if direction < 0 else rises | falls) & valid[1:]
    lane, save = np.nonzero(crossed.T)
    y, moment = _between(solution, flat, t, save, lane)
    if period is not None:
        when = phase + period * np.maximum(before, after)[save, lane]
        s = (when - t[save, lane]) / (t[save + 1, lane] - t[save, lane])
        return Section(y(s), when, lane, system, solution.y.shape[1:-1])
    target: Any = value
    if modulo is not None:
        target = value + modulo * np.maximum(before, after)[save, lane]
    s = _root(lambda s: y(s, place) - target, len(save))
    return Section(y(s), moment(s), lane, system, solution.y.shape[1:-1])


def _known(system, name):
    if name not in system.state_names:
        known = ", ".join(system.state_names)
        raise ValueError(f"the system {system.name!r} has no component {name!r}: it has {known}")
    return name


def _between(solution, flat, t, save, lane):
    """The cubics after the chosen saves of the chosen trajectories, and the times on them."""
    start, stop = flat[save, lane].astype(float), flat[save + 1, lane].astype(float)
    t0, t1 = t[save, lane], t[save + 1, lane]
    width = (t1 - t0)[:, np.newaxis]
    system = _lanes(solution, lane)
    slope0, slope1 = system.rhs(t0, start) * width, system.rhs(t1, stop) * width

    change = stop - start

    def y(s, component=slice(None)):
        """All components at the fractions s, or one of them."""
        s = s if isinstance(component, int) else s[:, np.newaxis]
        moved, first, last = (part[:, component] for part in (change, slope0, slope1))
        inner = (1 - 2 * s) * -moved + (1 - s) * first - s * last
        return start[:, component] + s * (moved + (1 - s) * inner)

    return y, lambda s: t0 + s * (t1 - t0)


def _lanes(solution, lane):
    """The system with the parameters of some trajectories, by flat index."""
    batch = solution.y.shape[1:-1]
    params = {}
    for name, shape in solution.system.batch_shapes.items():
        if shape:
            value = np.asarray(solution.system.params[name])
            own = value.shape[len(shape) :]  # for one trajectory: () except for array parameters
            params[name] = np.broadcast_to(value, (*batch, *own)).reshape(-1, *own)[lane]
    return solution.system(**params) if params else solution.system


def _root(function, count):
    """Where functions on [0, 1] change sign, by bisection to the last bit."""
    low, high = np.zeros(count), np.ones(count)
    rising = function(high) > function(low)
    for _ in range(53):
        middle = (low + high) / 2
        beyond = (function(middle) >= 0) == rising
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return high
