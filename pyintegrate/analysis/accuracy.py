"""Errors of methods on one motion over a range of steps, for measures of convergence and cost.

The error of a run is its largest distance from the true motion at up to 32 common times, in phase
space. Positions are in units of the largest distance from the origin that the true motion
reaches, velocities in units of the largest speed, and the components of a first-order system each
in units of its largest value. The error is dimensionless; at 1 the result is useless.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..integration import integrate
from ..method.catalogue import find_method
from ..method.catalogue import methods as catalogue
from ..method.method import Method
from ..run.arguments import check_structure, checked_system

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..system.system import System
    from ..values.types import Methods

CHECKS = 4  # times at which a run of the default range is compared
MOST_CHECKS = 32
TIMES = 16  # at which runs are compared with a motion whose truth was found by refinement
SAMPLES = 256  # times at which such a motion is sampled
FINEST_RUN = 1 << 21  # steps
LADDER = (1, *(m << n for n in range(12) for m in (2, 3)))[:-1]  # 1 2 3 4 6 8 12 16 ... 4096
COPIES = 256  # least number of trajectories in a timed run: a single one is mostly overhead
ROUNDING = 1e-13  # errors below this are rounding


def listed(methods: Methods) -> Sequence[str | Method]:
    """The argument as a list; a single method is a list of one."""
    return [methods] if isinstance(methods, str | Method) else methods


def suitable_methods(system: System, methods: Methods | None = None) -> list[Method]:
    """The named methods, or all of the catalogue that can integrate a system.

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
        No method is left, one occurs twice, or a named one does not fit.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.methods["velocity_verlet"] in pi.analysis.suitable_methods(pi.systems.lorenz)
    False
    """
    if methods is None:
        return [method for method in catalogue.values() if fits(method, system)]
    chosen = [find_method(method) for method in listed(methods)]
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
    """One motion with its true course: common to all runs of a range of steps."""

    system: Any
    x0: Any
    v0: Any
    t0: float
    t_end: float
    times: np.ndarray  # (checks + 1,)
    truth: np.ndarray  # (checks + 1, *batch, dim)
    doubt: np.ndarray  # (*batch): the possible error of the truth itself

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
        """Largest distance from the truth, (*batch); inf if a run failed."""
        return distance(self.system, y, self.truth)

    def seconds(self, method, n_steps):
        """Time of a run per trajectory, in a batch large enough to keep the processor busy."""
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
            if best > 0.05:  # long enough for a single measurement
                break
        return best / (copies * max(1, lanes))


def follow(system, x0, v0, t0, t_end, steps):
    """The true motion at the times that runs of `steps` steps have in common.

    Parameters
    ----------
    system : System
    x0, v0 : array_like or None
        As in `integrate`.
    t0, t_end : float
        Start; end, or None for one period.
    steps : sequence of int
        Numbers of steps into which the span will be divided.

    Returns
    -------
    Motion
        From the exact solution, or from the method of highest order at a quarter of the smallest
        step; then its `doubt` is the distance from the same method at half that step.

    Raises
    ------
    ValueError
        If t_end is missing and the motion is not periodic.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> motion = follow(pi.systems.oscillator, None, None, 0.0, None, [16, 32])
    >>> print(f"{motion.t_end:.4f} {len(motion.times)}")
    6.2832 17
    """
    start = integrate(system, x0, v0, dt=1.0, t0=t0, n_steps=0, method=finest(system)).initial
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
        method, most = finest(system), checks * -(-max(steps) // checks)
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
    """Numbers of steps to try: `steps`, those of `dt`, or 4 to 16384.

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
        For steps that are not positive integers, or for both, or for wrong arguments.

    Examples
    --------
    >>> ladder(dt=[0.1, 0.05], t_end=1.0)
    [10, 20]
    """
    if dt is not None:
        from ..run.arguments import steps_between

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
    """The largest number of equal parts, at most 32, into which all runs can be divided."""
    common = gcd(*steps)
    return max(n for n in range(1, MOST_CHECKS + 1) if common % n == 0)


def finest(system):
    """The explicit method of the highest order that fits: it stands for the truth.

    Compositions lose their order if the force depends on the velocity.
    """
    fitting = [m for m in catalogue.values() if fits(m, system) and not m.implicit]
    fitting = [m for m in fitting if m.self_starting and m.requires == "any"]
    return max(fitting, key=lambda m: (m.order, -m.evaluations))


def fits(method, system):
    try:
        check_structure(method, system)
    except ValueError:
        return False
    return True


# ---- the truth, by refinement --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Course(Motion):
    """A motion with its true course, and the scales of its errors.

    Attributes
    ----------
    size : ndarray, shape (*batch, dim)
        For first order the largest value of each component along the motion; else the largest
        distance of the positions, and the largest speed, for each of their components.
    method, n_steps
        With which it is followed; also set for an exact solution.
    """

    size: np.ndarray
    method: Method
    n_steps: int

    def error(self, y):
        """Largest distance from the truth at the common times, in units of the motion, (*batch)."""
        return _apart(self.system, y, self.truth, self.size)


def settle(system, x0, v0, t0, t_end, error):
    """The true motion, found by successively finer runs.

    Parameters
    ----------
    system : System
    x0, v0 : array_like or None
        As in `integrate`.
    t0, t_end, error : float
        The span, and the error that the truth must be able to judge.

    Returns
    -------
    Course
        Its `doubt` is the distance between the last two runs.
    """
    checked_system(system)
    start = integrate(system, x0, v0, dt=1.0, t0=t0, n_steps=0, method=finest(system)).initial
    times = t0 + np.arange(TIMES + 1) * ((t_end - t0) / TIMES)
    best: Course | None = None
    for method, most in (
        (finest(system), FINEST_RUN),
        (find_method("radau_iia5"), FINEST_RUN >> 4),
    ):
        n, coarse, doubts = SAMPLES, None, []
        while n <= most:
            sol = sampled(system, x0, v0, t0, t_end, method, n)
            y = np.where(sol.valid[..., np.newaxis], sol.y, np.nan)
            fine, size = y[:: SAMPLES // TIMES], _size(system, y)
            doubt = _apart(system, fine if coarse is None else coarse, fine, size)
            doubt = np.full_like(doubt, np.inf) if coarse is None else doubt
            worst = float(np.max(doubt, initial=0.0))
            if best is None or worst < np.max(best.doubt, initial=0.0):
                best = Course(system, x0, v0, t0, t_end, times, fine, doubt, size, method, n)
            doubts.append(worst)
            settled = worst < error / 10
            # Rounding, amplified by the motion: finer steps give no improvement.
            vain = len(doubts) > 6 and worst < 10 and worst > min(doubts[-4:-1])
            if settled or vain:
                break
            n, coarse = 2 * n, fine
        assert best is not None
        if np.max(best.doubt, initial=0.0) < error:
            break
    assert best is not None
    exact = system.exact(times, start, t0)
    if exact is not None and np.all(np.isfinite(exact)):
        return replace(best, truth=exact, doubt=np.zeros(start.shape[:-1]))
    return best


def sampled(system, x0, v0, t0, t_end, method, n):
    return integrate(
        system, x0, v0, t0=t0, dt=(t_end - t0) / n, n_steps=n, method=method, save=n // SAMPLES,
        on_failure="ignore",
    )  # fmt: skip


def _size(system, y):
    """The scale of each component that errors are relative to, (*batch, dim)."""
    lead = system.positions
    with np.errstate(all="ignore"):
        if lead:
            parts = [y[..., :lead], y[..., lead:]]
            norms = [np.linalg.norm(part, axis=-1, keepdims=True).max(axis=0) for part in parts]
            size = np.concatenate(
                [np.repeat(norm, p.shape[-1], -1) for norm, p in zip(norms, parts, strict=True)], -1
            )
        else:
            size = np.abs(y).max(axis=0)
    return np.where((size > 0) & np.isfinite(size), size, 1.0)


def _apart(system, y, truth, size):
    """Root mean square over positions and velocities, or all components; the largest in time."""
    groups = 2 if system.positions else system.dim
    with np.errstate(all="ignore"):
        off = np.sqrt((((y - truth) / size) ** 2).sum(axis=-1) / groups)
    return np.nan_to_num(off, nan=np.inf).max(axis=0)
