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

import numpy as np

from ..integration import integrate
from ..method.catalogue import find_method
from ..method.catalogue import methods as catalogue
from ..method.method import Method
from ..run.arguments import check_structure, checked_system
from ..values.types import Any, Methods, Sequence, System
from .results import quiet

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
    checks: int  # parts between the times at which runs are compared
    lead: int  # components with one scale, as the others have one; 0: each has its own
    truth: Any = None  # (checks + 1, *batch, dim)
    doubt: Any = None  # (*batch): the possible error of the truth itself
    size: Any = None  # (*batch, dim): what errors are relative to
    method: Any = None  # whose n_steps gave the truth
    n_steps: int = 0

    @property
    def times(self):
        """Those at which runs are compared, (checks + 1,)."""
        return self.t0 + np.arange(self.checks + 1) * ((self.t_end - self.t0) / self.checks)

    def sampled(self, method, n_steps, saves=SAMPLES):
        """A run with so many saves after the start."""
        return integrate(
            self.system, self.x0, self.v0, t0=self.t0, dt=(self.t_end - self.t0) / n_steps,
            n_steps=n_steps, method=method, save=n_steps // saves, on_failure="ignore",
        )  # fmt: skip

    def run(self, method, n_steps):
        """States at the common times, (checks + 1, *batch, dim), and force evaluations."""
        solution = self.sampled(method, n_steps, self.checks)
        y = np.where(solution.valid[..., np.newaxis], solution.y, np.inf)
        return y, solution.evaluations

    def error(self, y):
        """Largest distance from the truth in units of the motion, (*batch); inf if a run failed."""
        return distance(y, self.truth, self.lead, self.size)

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
        t_end = t0 + np.max(period)
    checks, dof = _checks(steps), system.dof
    motion = Motion(system, x0, v0, float(t0), float(t_end), checks, dof)
    truth, doubt = system.exact(motion.times, start, t0), np.zeros(start.shape[:-1])
    if truth is None:
        most = checks * -(-max(steps) // checks)
        coarse, truth = (motion.run(finest(system), n * most)[0] for n in (2, 4))
        doubt = distance(coarse, truth, dof)
    return replace(motion, truth=truth, doubt=doubt, size=size_of(truth, dof))


def size_of(y, lead):
    """The scale of each component over a motion, (*batch, dim): see `Motion.lead`."""
    group = np.arange(y.shape[-1])
    group = group >= lead if lead else group
    together = (group[:, np.newaxis] == np.unique(group)).astype(float)
    with quiet():
        size = np.sqrt((y**2 @ together).max(axis=0)) @ together.T
    return np.where((size > 0) & np.isfinite(size), size, 1.0)


def distance(y, truth, lead, size=None):
    """Largest distance in phase space along the first axis, in units of the motion; (*batch)."""
    with quiet():
        off = (y - truth) / (size_of(truth, lead) if size is None else size)
        off = np.sqrt((off**2).sum(axis=-1) / (2 if lead else y.shape[-1]))
    return np.nan_to_num(off, nan=np.inf).max(axis=0)


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


def evaluations_a_step(system, method):
    """The cost of one more step: Verlet shares no force that depends on the velocity."""
    how = {"dt": 1e-9, "method": method, "save": "final", "on_failure": "ignore"}
    some, more = (integrate(system, n_steps=n, **how).evaluations for n in (10, 11))
    return more - some


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
    Motion
        Its `doubt` is the distance between the last two runs.
    """
    checked_system(system)
    start = integrate(system, x0, v0, dt=1.0, t0=t0, n_steps=0, method=finest(system)).initial
    motion = Motion(system, x0, v0, t0, t_end, TIMES, system.positions)
    best: Any = None
    for method, most in (
        (finest(system), FINEST_RUN),
        (find_method("radau_iia5"), FINEST_RUN >> 4),
    ):
        n, coarse, doubts = SAMPLES, np.inf, []
        while n <= most:
            sol = motion.sampled(method, n)
            y = np.where(sol.valid[..., np.newaxis], sol.y, np.nan)
            fine, size = y[:: SAMPLES // TIMES], size_of(y, motion.lead)
            doubt = distance(coarse + 0 * fine, fine, motion.lead, size)
            one = replace(motion, truth=fine, doubt=doubt, size=size, method=method, n_steps=n)
            doubts.append(doubt_of(one))
            if best is None or doubts[-1] < doubt_of(best):
                best = one
            # Rounding, amplified by the motion: finer steps give no improvement.
            vain = len(doubts) > 6 and doubts[-1] < 10 and doubts[-1] > min(doubts[-4:-1])
            if doubts[-1] < error / 10 or vain:
                break
            n, coarse = 2 * n, fine
        if doubt_of(best) < error:
            break
    exact = system.exact(best.times, start, t0)
    if exact is not None and np.all(np.isfinite(exact)):
        return replace(best, truth=exact, doubt=np.zeros(start.shape[:-1]))
    return best


def doubt_of(motion):
    """The largest of a batch."""
    return float(np.max(motion.doubt, initial=0.0))
