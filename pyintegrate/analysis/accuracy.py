"""Errors of methods on one motion over a ladder of steps: what convergence and cost are read off.

The error of a run is its largest distance from the true motion at up to 32 common times, in phase
space, where positions count in units of the largest distance from the origin that the true motion
reaches, velocities in units of the largest speed, and the components of a first-order system each
in units of its largest value. So it has no unit, and 1 means: nothing is right any more.
"""

from dataclasses import dataclass
from math import gcd
from time import perf_counter
from typing import Any

import numpy as np

from ..integration import integrate
from ..method.catalogue import find_method
from ..method.catalogue import methods as catalogue
from ..run.structure import check_structure

CHECKS = 4  # times at which a run of the default ladder is compared
MOST_CHECKS = 32
LADDER = (1, *(m << n for n in range(12) for m in (2, 3)))[:-1]  # 1 2 3 4 6 8 12 16 ... 4096
COPIES = 256  # trajectories that a timed run has at least: one alone is all overhead
ROUNDING = 1e-13  # errors below this are rounding


def suitable_methods(system, methods=None):
    """The methods named, or all of the catalogue that can integrate a system.

    Parameters
    ----------
    system : System
    methods : str, Method or sequence of them, optional

    Returns
    -------
    list of Method

    Raises
    ------
    ValueError
        Where there is none, one comes twice, or a named one does not fit.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.methods["velocity_verlet"] in pi.analysis.suitable_methods(pi.systems.lorenz)
    False
    """
    if methods is None:
        return [method for method in catalogue.values() if _fits(method, system)]
    if isinstance(methods, str) or hasattr(methods, "coefficients"):
        methods = [methods]
    chosen = [find_method(method) for method in methods]
    names = [method.name for method in chosen]
    if not names:
        raise ValueError("methods is empty: name at least one, for example methods=['rk4']")
    for method in chosen:
        check_structure(method, system)
        if names.count(method.name) > 1:
            raise ValueError(f"methods has {method.name!r} {names.count(method.name)} times")
    return chosen


@dataclass(frozen=True, eq=False)
class Motion:
    """One motion with its true course: what every run of a ladder has in common."""

    system: Any
    x0: Any
    v0: Any
    t0: float
    t_end: float
    times: np.ndarray  # (checks + 1,)
    truth: np.ndarray  # (checks + 1, *batch, dim)
    doubt: np.ndarray  # (*batch): how far the truth itself may be off

    def run(self, method, n_steps):
        """States at the common times, (checks + 1, *batch, dim), and force evaluations."""
        solution = integrate(
            self.system, self.x0, self.v0, t0=self.t0, dt=(self.t_end - self.t0) / n_steps,
            n_steps=n_steps, method=method, save=n_steps // (len(self.times) - 1),
            on_failure="ignore",
        )  # fmt: skip
        y = np.where(solution.valid[..., np.newaxis], solution.y, np.inf)
        return y, solution.evaluations

    def error(self, y):
        """Largest distance from the truth, (*batch); inf where a run failed."""
        return distance(self.system, y, self.truth)

    def seconds(self, method, n_steps):
        """Time of a run for one trajectory, in a batch that keeps the machine busy."""
        lanes = int(np.prod(self.truth.shape[1:-1]))
        copies = -(-COPIES // max(1, lanes))
        start = np.broadcast_to(self.truth[0], (copies, *self.truth[0].shape))
        best = np.inf
        for _ in range(3):
            begin = perf_counter()
            integrate(
                self.system, start, t0=self.t0, dt=(self.t_end - self.t0) / n_steps,
                n_steps=n_steps, method=method, save="final", on_failure="ignore",
            )  # fmt: skip
            best = min(best, perf_counter() - begin)
            if best > 0.05:  # long enough to be measured once
                break
        return best / (copies * max(1, lanes))


def follow(system, x0, v0, t0, t_end, steps):
    """The true motion at times that runs of so many steps have in common.

    Parameters
    ----------
    system : System
    x0, v0 : array_like or None
        As in `integrate`.
    t0, t_end : float
        Start; end, or None for one period.
    steps : sequence of int
        Numbers of steps that the span will be cut into.

    Returns
    -------
    Motion
        From the exact solution, or from the method of highest order at a quarter of the smallest
        step; then its `doubt` is the distance from the same at half of it.

    Raises
    ------
    ValueError
        Where t_end is missing and nothing repeats.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> motion = follow(pi.systems.oscillator, None, None, 0.0, None, [16, 32])
    >>> print(f"{motion.t_end:.4f} {len(motion.times)}")
    6.2832 17
    """
    start = integrate(system, x0, v0, dt=1.0, t0=t0, n_steps=0, method=_finest(system)).initial
    if np.ndim(t0) or np.ndim(t_end):
        raise ValueError("t0 and t_end must be numbers here: every run ends at the same time")
    if t_end is None:
        period = system.period(start)
        if period is None or not np.all(np.isfinite(period)):
            raise ValueError(
                f"give t_end: the system {system.name!r} has no period in closed form to take"
            )
        t_end = float(t0 + np.max(period))
    checks = _checks(steps)
    times = t0 + np.arange(checks + 1) * ((t_end - t0) / checks)
    truth = system.exact(times, start, t0)
    doubt = np.zeros(start.shape[:-1])
    motion = Motion(system, x0, v0, float(t0), float(t_end), times, truth, doubt)
    if truth is None:
        method, most = _finest(system), checks * -(-max(steps) // checks)
        coarse, truth = (motion.run(method, n * most)[0] for n in (2, 4))
        doubt = distance(system, coarse, truth)
    return Motion(system, x0, v0, float(t0), float(t_end), times, truth, doubt)


def distance(system, y, truth):
    """Largest distance in phase space along the first axis, in units of the motion; (*batch)."""
    dof = system.dof
    groups = [slice(dof), slice(dof, None)] if dof else [slice(i, i + 1) for i in range(system.dim)]
    total = np.zeros(np.broadcast_shapes(y.shape, truth.shape)[:-1])
    with np.errstate(all="ignore"):
        for part in groups:
            size = np.linalg.norm(truth[..., part], axis=-1).max(axis=0)
            off = np.linalg.norm(y[..., part] - truth[..., part], axis=-1)
            total += (off / np.where(size == 0, 1.0, size)) ** 2
        return np.nan_to_num(np.sqrt(total / len(groups)).max(axis=0), nan=np.inf)


def ladder(steps=None, dt=None, t0=0.0, t_end=None):
    """Numbers of steps to try: those given, those of the steps dt given, or 4 to 16384.

    Parameters
    ----------
    steps : sequence of int, optional
        Numbers of steps over the whole span.
    dt : sequence of float, optional
        Steps, each of which must divide the span.
    t0, t_end : float
        The span, for `dt`.

    Returns
    -------
    list of int
        Ascending.

    Raises
    ------
    ValueError, TypeError
        For steps that are not positive whole numbers, or both or wrong arguments.

    Examples
    --------
    >>> ladder(dt=[0.1, 0.05], t_end=1.0)
    [10, 20]
    """
    if dt is not None:
        from ..run.steps import steps_between

        if steps is not None or t_end is None:
            raise ValueError("give steps, or dt and t_end")
        steps = [steps_between(float(one), t0, t_end) for one in np.atleast_1d(dt)]
    if steps is None:
        return [CHECKS * rung for rung in LADDER]
    found = np.unique(steps)
    if found.dtype.kind not in "iu" or not len(found) or found[0] < 1:
        raise ValueError(f"steps must be whole numbers of steps, at least 1, got {steps!r}")
    return found.tolist()


def _checks(steps):
    """The largest number of equal parts, at most 32, into which all runs can be cut."""
    common = gcd(*steps)
    return max(n for n in range(1, MOST_CHECKS + 1) if common % n == 0)


def _finest(system):
    """The explicit method of the highest order that fits: what stands for the truth.

    Compositions lose their order where the force sees the velocity.
    """
    fitting = [m for m in catalogue.values() if _fits(m, system) and not m.implicit]
    fitting = [m for m in fitting if m.self_starting and m.requires == "any"]
    return max(fitting, key=lambda m: (m.order, -m.evaluations))


def _fits(method, system):
    try:
        check_structure(method, system)
    except ValueError:
        return False
    return True
