"""Errors of methods on one motion over a range of steps, for measures of convergence and cost.

The error of a run is its largest distance from the true motion at up to 32 common times, in phase
space. Positions are in units of the largest distance from the origin that the true motion
reaches, velocities in units of the largest speed, and the components of a first-order system each
in units of its largest value. The error is dimensionless; at 1 the result is useless.
"""

from __future__ import annotations

from itertools import islice
from math import gcd
from time import perf_counter

import numpy as np

from ..integration import integrate
from ..method.catalogue import find_method
from ..method.catalogue import methods as catalogue
from ..method.method import Method
from ..run.arguments import check_structure, checked_system, checked_times, steps_between
from ..solving import solve
from ..values.checks import DOUBLE, numbers
from ..values.types import Any, Methods, Sequence, System
from .results import quiet, result_class
from .vectors import norm

CHECKS = 4  # times at which a run of the default range is compared
MOST_CHECKS = 32
SAMPLES = 256  # least number of times at which a motion's size is looked at
CLOSEST = 3e-14  # the least relative tolerance of a true motion
MOST_STEPS = 1 << 21  # of it
MOST = 1000  # methods of a list
NARROW = 1e-12, 1e-3  # of the largest component: below is rounding, above its tolerance serves
LADDER = (1, *(m << n for n in range(12) for m in (2, 3)))[:-1]  # 1 2 3 4 6 8 12 16 ... 4096
COPIES = 256  # least number of trajectories in a timed run: a single one is mostly overhead
ROUNDING = 1e-13  # errors below this are rounding


def listed(methods: Methods) -> Sequence[str | Method]:
    """The argument as a list; a single method is a list of one."""
    try:
        return [methods] if isinstance(methods, str | Method) else list(islice(methods, MOST))
    except TypeError:
        raise TypeError(f"methods must be names or Methods, got {methods!r}") from None


def different(argument, values, key):
    """The values, if there are any and no two have the same key."""
    if not values:
        raise ValueError(f"{argument} is empty: name at least one, for example methods=['rk4']")
    keys = [key(value) for value in values]
    for value in keys:
        if (many := keys.count(value)) > 1:  # the last would replace the others
            raise ValueError(f"{argument} has {value!r} {many} times: once is enough")
    return values


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
    checked_system(system)
    if methods is None:
        return [method for method in catalogue.values() if fits(method, system)]
    chosen = [find_method(method) for method in listed(methods)]
    for method in chosen:
        check_structure(method, system)
    return different("methods", chosen, lambda method: method.name)


@result_class
class Motion:
    """One motion with its true course: common to all runs of a range of steps."""

    system: Any
    start: Any
    t0: float
    t_end: float
    checks: int  # parts between the times at which runs are compared
    truth: Any  # (checks + 1, *batch, dim)
    doubt: Any  # (*batch): the possible error of the truth itself
    size: Any  # (*batch, dim): what errors are relative to
    rtol: float  # to which it is known
    rest: float  # the time from which it stays where it ends, to the error or rounding

    @property
    def _remarks(self):
        """That it is over in the first half of the span, where few errors are looked at."""
        if not 0 < (self.rest - self.t0) / (self.t_end - self.t0) < 0.5:
            return ()
        return (
            f"at rest from t = {self.rest:.4g} on, and judged at {self.checks} times of the whole"
            f" span: for the way there give t_end={self.rest:.4g}",
        )

    def step(self, n_steps):
        """The length of one of so many steps."""
        return (self.t_end - self.t0) / n_steps

    def run(self, method, n_steps):
        """The error and the force evaluations of a run.

        The error is the largest distance from the truth at the common times, in units of the
        motion, (*batch); inf if the run failed.
        """
        solution = self._made(self.start, method, n_steps, n_steps // self.checks)
        y = np.where(solution.valid[..., np.newaxis], solution.y, np.inf)
        return distance(y, self.truth, self.system.positions, self.size), solution.evaluations

    def seconds(self, method, n_steps):
        """Time of a run per trajectory, in a batch large enough to keep the processor busy."""
        lanes = int(np.prod(self.truth.shape[1:-1]))
        copies = -(-COPIES // lanes)
        start = np.broadcast_to(self.truth[0], (copies, *self.truth[0].shape))
        best = np.inf
        for _ in range(3):
            begin = perf_counter()
            self._made(start, method, n_steps, "final")
            best = min(best, perf_counter() - begin)
            if best > 0.05:  # long enough for a single measurement
                break
        return best / (copies * lanes)

    def _made(self, start, method, n_steps, save):
        return integrate(
            self.system, start, t0=self.t0, dt=self.step(n_steps), n_steps=n_steps,
            method=method, save=save, on_failure="ignore",
        )  # fmt: skip


def follow(system, x0, v0, t0, t_end, checks, error=0.0):
    """The true motion at equal times.

    Parameters
    ----------
    system : System
    x0, v0 : array_like or None
        As in `integrate`.
    t0, t_end : float
        Start; end, or None for one period.
    checks : int
        Parts of the span, between whose ends runs are compared.
    error : float
        That the truth must be able to judge; 0: as well as it can be known.

    Returns
    -------
    Motion
        In closed form, or by `solve`; then its `doubt` is the distance from a run to a tolerance
        ten times as large.

    Raises
    ------
    ValueError
        If t_end is missing and the motion is not periodic.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> motion = follow(pi.systems.oscillator, None, None, 0.0, None, 16)
    >>> print(f"{motion.t_end:.4f} {len(motion.truth)}")
    6.2832 17
    """
    start = integrate(system, x0, v0, dt=1.0, t0=t0, n_steps=0).initial
    if not start.size:
        raise ValueError("there is no motion to follow: the batch of starts is empty")
    if t_end is None:
        period = system.period(start)
        if period is None or not np.all(np.isfinite(period)):
            raise ValueError(
                f"give t_end: the system {system.name!r} has no period in closed form to take"
            )
        t_end = t0 + np.max(period)
    numbers("t_end", t_end)
    if np.ndim(t0) or np.ndim(t_end) or not np.isfinite(t_end) or t_end == t0:
        raise ValueError(f"t_end must be one finite time other than t0 = {t0!r}, got {t_end!r}")
    t0, t_end, lead = float(t0), float(t_end), system.positions
    between = -(-SAMPLES // checks)
    times = np.linspace(t0, t_end, between * checks + 1)
    rtol = 1e-4 * error
    while True:
        rtol = max(CLOSEST, rtol)
        fine, coarse = (course(system, start, t0, times, one) for one in (rtol, 10 * rtol))
        size = size_of(fine, lead)
        with quiet():
            moves = ~(norm((fine - fine[-1]) / size) <= max(error, ROUNDING))  # NaN: moves
        last = np.flatnonzero(moves.reshape(len(times), -1).any(axis=1)).max(initial=-1)
        rest = times[min(last + 1, len(times) - 1)]
        truth = fine[::between]
        doubt = distance(coarse[::between], truth, lead, size)
        if rtol == CLOSEST or doubt.max() < error / 10:
            return Motion(system, start, t0, t_end, checks, truth, doubt, size, rtol, rest)
        rtol *= 1e-3


def course(system, start, t0, times, rtol):
    """The true states from a start, in closed form or to a tolerance, (n, *batch, dim)."""
    exact = system.exact(times, start, t0)
    if exact is not None and np.all(np.isfinite(exact)):
        return exact
    return to_a_tolerance(system, start, t0, times, rtol)


def to_a_tolerance(system, start, t0, times, rtol):
    """States (n, *batch, dim) at times by `solve`; NaN where a motion fails.

    The absolute tolerance is a share of the largest component of a start; of positions, velocities
    or a component that are `NARROW` beside it, of their own size: that at the start, or how far
    they would go from there. Where rounding forbids it, by too many steps, the first serves.
    """
    with quiet():
        size = np.where(np.isfinite(start), np.abs(start), 0.0)
        far = np.abs(system.rhs(t0, start) * np.asarray(times[-1] - t0)[..., np.newaxis])
    most = np.maximum(size.max(axis=-1, keepdims=True), 1e-300) + 0 * size  # of each trajectory
    own = np.fmax(size, far) / most
    if lead := system.positions:
        for part in (slice(lead), slice(lead, None)):
            own[..., part] = own[..., part].max(axis=-1, keepdims=True)
    own = most * np.where((own > NARROW[0]) & (own < NARROW[1]), own, 1.0)
    y = np.nan
    for unit in [own, most][not (own < most).any() :]:
        found = solve(
            system, start, t0=t0, t_end=times[-1], times=times, rtol=rtol, atol=1e-3 * rtol * unit,
            max_steps=MOST_STEPS, on_failure="ignore",
        )  # fmt: skip
        made = (found.status == 0)[..., np.newaxis]
        y = np.where(made & np.isnan(y), found.y, y)
        if made.all():
            break
    return y


def size_of(y, lead):
    """The scale of each component over a motion, (*batch, dim).

    The first `lead` components have one, and the others; if lead is 0, each has its own.
    """
    group = np.arange(y.shape[-1])
    group = group >= lead if lead else group
    together = (group[:, np.newaxis] == np.unique(group)).astype(float)
    with quiet():  # squares neither vanish nor overflow
        unit = np.ldexp(0.5, np.frexp(np.abs(y).max(axis=(0, -1)))[1])[..., np.newaxis]
        size = np.sqrt(((y / unit) ** 2 @ together).max(axis=0)) @ together.T * unit
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
    t0, t_end = finite("t0", t0), None if t_end is None else finite("t_end", t_end)
    if dt is not None:
        if steps is not None or t_end is None:
            raise ValueError("give steps, or dt and t_end")
        dt = np.atleast_1d(finite("dt", dt))
        steps = [steps_between(float(one), t0, t_end) for one in dt.flat]
    if steps is None:
        return [CHECKS * rung for rung in LADDER]
    found = np.unique(numbers("steps", steps))
    if found.dtype.kind not in "iu" or not len(found) or found[0] < 1:
        asked = "steps" if dt is None else "(t_end - t0) / dt"
        raise ValueError(f"{asked} must be whole numbers of steps, at least 1, got {steps!r}")
    return found.tolist()


def finite(name, value):
    """Times or lengths in double precision, finite ones; steps, called dt, are not zero either."""
    return checked_times(name, value, DOUBLE, {})


def common_checks(steps):
    """The largest number of equal parts, at most 32, into which all runs can be divided."""
    common = gcd(*steps)
    return max(n for n in range(1, MOST_CHECKS + 1) if common % n == 0)


def evaluations_a_step(system, method):
    """The cost of one more step: Verlet shares no force that depends on the velocity."""
    seed = None if system.noise is None else 0
    how = {"dt": 1e-9, "method": method, "save": "final", "on_failure": "ignore", "seed": seed}
    some, more = (integrate(system, n_steps=n, **how).evaluations for n in (10, 11))
    return more - some


def fits(method, system):
    try:
        check_structure(method, system)
    except ValueError:
        return False
    return True
