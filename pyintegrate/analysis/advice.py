"""Which method and which step: the largest that keeps an error, the nature of a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..method.catalogue import find_method
from ..values.checks import numbers
from ..values.keywords import explains_keywords
from ..values.table import Table
from ..values.types import ArrayLike, Methods, System
from .accuracy import CLOSEST, MOST_CHECKS, SAMPLES, course, fits, follow, suitable_methods
from .results import ByMethod, quiet, with_unit
from .vectors import applied, norm

TIMES = 16  # at which runs are compared with a motion to find its nature
FINEST_RUN = 1 << 20  # steps
MOST = 1 << 22  # steps to try before a method is rejected
FINE = 1.02  # ratio of steps at which the search ends
SPREAD = 20.0  # ratio of rates above which a motion may be stiff
HELD_BACK = 256  # steps required by stability above which a motion may be stiff
ACCURATE = 1e-3  # error at half a stable step below which stability, not accuracy, limits the step
NEAR = 1e-9  # distance of two neighbouring starts, relative to the motion
FAR = 1e-3  # distance at which they are no longer neighbours
STRETCHED = 6.0  # logarithm of a growth that exceeds that of a regular motion
CONSERVED = 1e-6  # relative change of the energy along the true motion
FOR_STIFF = ("radau_iia5", "radau_iia7", "rodas5p", "sdirk4", "kvaerno54", "trbdf2")


@dataclass(frozen=True)
class Advice:
    """The largest step of a method that keeps an error, and its cost.

    Attributes
    ----------
    dt : float
        NaN if no step that was tried does.
    n_steps, evaluations : int
        Over the span, for one trajectory; 0 if there is no step.
    seconds : float
        For one trajectory of a large batch on one thread.
    error : float
        The actual error of the method at this step.
    """

    dt: float
    n_steps: int
    evaluations: int
    seconds: float
    error: float


@explains_keywords()
def advise_dt(
    system: System,
    error: float,
    methods: Methods | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    t_end: float | None = None,
    t0: float = 0.0,
) -> StepAdvice:
    """Find the largest step that keeps an error over a motion, for each method, and its cost.

    The error is the largest distance from the true motion in phase space at 16 times or more, in
    units of the motion (0.01: one per cent); for a batch that of the worst trajectory.

    Parameters
    ----------
    system : System
    error : float
        The required error, between 1e-12 and 1.
    methods : str, Method or sequence of them, optional
        All that fit the system by default.
    x0, v0 : array_like, optional
        Start, as in `integrate`.
    t_end : float, optional
        End; default: one period of the motion. Errors grow with time: give the span of interest.
    t0 : float, optional
        Start time.

    Returns
    -------
    StepAdvice

    Raises
    ------
    ValueError, TypeError
        For arguments that do not fit, or an error that the reference cannot judge.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> methods = ["rk4", "semi_implicit_euler"]
    >>> advice = pi.analysis.advise_dt(pi.systems.oscillator, 1e-3, methods, t_end=60.0)
    >>> print(f"{advice.best}, dt = {advice['rk4'].dt:.2f} s")
    rk4, dt = 0.21 s
    """
    check_error(error)
    chosen = suitable_methods(system, methods)
    motion = follow(system, x0, v0, t0, t_end, MOST_CHECKS, error)
    check_known(motion, error)
    found = {method.name: largest_step(motion, method, error) for method in chosen}
    return StepAdvice(motion, error, found)


def check_error(error):
    """Refuse an error that no motion is known to, or that is none."""
    value = numbers("error", error)
    if value.ndim or not 1e-12 <= value < 1:
        raise ValueError(
            f"error must be between 1e-12 and 1, relative to the motion, got {error!r}"
        )


class StepAdvice(ByMethod[Advice]):
    """Largest steps by method, made by `advise_dt`: a mapping from names to `Advice`."""

    def __init__(self, motion, error, found):
        super().__init__(found, motion)
        self.error = error

    @property
    def best(self) -> str | None:
        """Name of the method with the fewest force evaluations, or None if none suffices."""
        able = {name: one.evaluations for name, one in self.items() if one.n_steps}
        return min(able, key=able.__getitem__, default=None)

    def table(self) -> Table:
        """Steps and costs, the fewest force evaluations first.

        Returns
        -------
        Table
        """
        rows = []
        for name in sorted(self, key=lambda name: self[name].evaluations or np.inf):
            one = self[name]
            told = [
                f"{one.dt:.3g}", f"{one.evaluations:,}", f"{1e6 * one.seconds:.3g}",
                f"{one.error:.2e}",
            ]  # fmt: skip
            rows.append([name, *(told if one.n_steps else ["none tried", *"---"])])
        step = with_unit("largest dt", self.system.units["t"])
        columns = ["method", step, "evaluations", "\N{MICRO SIGN}s", "error"]
        title = f"{self._span()}: an error of at most {self.error:g} of the motion"
        note = "evaluations and time for one trajectory of a batch"
        return Table(title, columns, rows, "\n".join([note, *self._remarks]))


def largest_step(motion, method, error, most=MOST, fine=FINE):
    """Advice for one method: doubling until the error is kept, then bisection."""

    checks = motion.checks

    def measured(n):
        return _worst(motion, method, checks * n)

    enough, made = 1, measured(1)
    while made > error:
        if 2 * enough * checks > most:
            return Advice(np.nan, 0, 0, np.nan, np.nan)
        enough, made = 2 * enough, measured(2 * enough)
    few = enough // 2  # fails, or is 0
    while enough - few > 1 and enough > fine * few:
        middle = (few + enough) // 2
        tried = measured(middle)
        few, enough, made = (few, middle, tried) if tried <= error else (middle, enough, made)
    n = checks * enough
    _, evaluations = motion.run(method, n)
    return Advice(motion.step(n), n, evaluations, motion.seconds(method, n), made)


# ---- the nature of a motion ----------------------------------------------------------------------


@dataclass(frozen=True)
class Nature:
    """The kind of a motion.

    Attributes
    ----------
    stiff : bool
        Explicit methods become unstable long before they become inaccurate.
    spread : float
        Largest eigenvalue of the Jacobian over the mean rate at which the motion changes.
    chaotic : bool
        Neighbouring trajectories separate exponentially.
    lyapunov : float
        The rate at which they do, in 1/(unit of time); 0 if not chaotic.
    conservative : bool
        It has positions and momenta, a conserved energy, and a velocity-independent force.
    turns : float
        The number of its oscillations or revolutions.
    """

    stiff: bool
    spread: float
    chaotic: bool
    lyapunov: float
    conservative: bool
    turns: float


def nature(motion):
    """Find the kind of a motion.

    Parameters
    ----------
    motion : Course

    Returns
    -------
    Nature
    """
    system, size, start = motion.system, motion.size, motion.truth[0]
    span, t = motion.t_end - motion.t0, np.linspace(motion.t0, motion.t_end, SAMPLES + 1)
    y = course(system, start, motion.t0, t, motion.rtol)
    times = t.reshape(-1, *(1,) * (y.ndim - 2))
    with quiet():
        J = system.jacobian(times, y)
        f = system.rhs(times, y)
        rate = norm(f / size)
        bend = norm(applied(J, f) / size)
        turning = np.nan_to_num(bend / rate, nan=0.0, posinf=0.0)  # at rest 0
        radius = np.abs(np.linalg.eigvals(np.nan_to_num(J))).max(axis=-1)
        # A motion that has come to rest does not change, whatever the ratio of the remainders.
        change = np.sqrt(np.nan_to_num(bend, posinf=0.0))
    mean, fastest = float(change.mean(axis=0).max()), float(radius.max())
    spread = fastest / mean if mean > 0 else 0.0  # at rest nothing is stiff
    sure = spread > 10 * SPREAD and fastest * abs(span) > 3 * HELD_BACK
    stiff = sure or (spread > SPREAD and _is_stiff(motion))
    lyapunov = 0.0
    if not stiff:
        ends = start, start + NEAR * size
        two = (course(system, one, motion.t0, t, CLOSEST) for one in ends)
        lyapunov = _lyapunov(t, size, *two)
    turns = float(turning.mean(axis=0).max()) * abs(span) / (2 * np.pi)
    conservative = _is_conservative(system, times, y, J)
    return Nature(stiff, spread, lyapunov > 0, lyapunov, conservative, turns)


def _is_stiff(motion):
    """Whether stability limits the step of RK4: it explodes, and at half of a stable step it is
    accurate already.

    If the error of order four limits the step, each halving gains a factor of 16, not
    the thousand and more that lie between an explosion and `ACCURATE`.
    """

    n = motion.checks
    while n <= FINEST_RUN and not _worst(motion, "rk4", n) < 0.5:
        n *= 2
    return HELD_BACK <= n <= FINEST_RUN and _worst(motion, "rk4", 2 * n) < ACCURATE


def _worst(motion, method, n):
    """The largest error of a batch in n steps."""
    return float(np.max(motion.run(method, n)[0]))


def _lyapunov(t, size, y, near):
    """Rate at which a neighbour separates, if that is exponential; else 0."""
    with quiet():
        apart = norm((near - y) / size).reshape(len(t), -1)
    grown = np.log(np.maximum.accumulate(np.nan_to_num(apart, nan=0.0), axis=0) / apart[0])
    t, found = np.abs(t - t[0]), 0.0
    for one, distances in zip(grown.T, apart.T):
        last = int(np.argmax(distances > FAR)) or len(t) - 1
        middle = last // 2
        # In twice the time the logarithm doubles, unlike that of a power of the time.
        if middle and one[last] > STRETCHED and one[last] > 1.4 * one[middle]:
            found = max(found, (one[last] - one[middle]) / (t[last] - t[middle]))
    return float(found)


def _is_conservative(system, times, y, J):
    """Whether there are positions and momenta, and a conserved energy."""
    lead = system.positions
    if not lead or system.structure == "rigid_body" or not system.has_energy:
        return False
    if system.dof and np.any(J[..., lead:, lead:]):  # the force depends on the velocity
        return False
    energy = system.energy(y, times)
    with quiet():
        change = np.ptp(energy, axis=0) / np.maximum(np.abs(energy).max(axis=0), 1e-300)
    return bool(np.all(change < CONSERVED))


def check_known(motion, error, kind=None):
    """Refuse a truth that is not known accurately enough, and say why."""
    doubt = motion.doubt.max()
    if doubt <= error / 3:
        return
    kind = kind or nature(motion)
    cure = "it is long, or not smooth; choose a larger error or a shorter span"
    if kind.stiff:
        cure = (
            "it is stiff: choose a larger error or a shorter span, and an implicit method such as"
            " 'radau_iia5', 'radau_iia7' or 'rodas5p'"
        )
    elif kind.chaotic:
        cure = (
            "it is chaotic, and neighbours part by a factor of e every"
            f" {1 / kind.lyapunov:.3g} of time: choose a shorter span"
        )
    raise ValueError(
        f"the true motion is only known to {doubt:.1e} here, which cannot judge an error"
        f" of {error:g}: {cure}"
    )


LONG = 30  # turns of a motion above which a run is long
MOST_EXPLICIT = 1 << 21  # steps to try before a method is rejected
MOST_IMPLICIT = 1 << 16
COARSE = 1.1  # ratio of steps at which the search ends
SHOWN = 2  # methods of a kind

SYMPLECTIC = (
    "velocity_verlet", "pefrl4", "blanes_moan4", "blanes_moan_srkn6b", "blanes_moan_srkn14a",
    "kahan_li8", "sofroniou_spaletta10",
)  # fmt: skip
SYMPLECTIC_IMPLICIT = ("implicit_midpoint", "gauss4", "gauss6", "gauss8")
SMOOTH = (
    "rk4", "tsitouras54", "verner76", "dop853", "verner98", "dormand_prince_rkn86",
    "dormand_prince_rkn1210",
)  # fmt: skip
RIGID = ("rigid_splitting4", "rigid_rk4")


class Recommendation(StepAdvice):
    """Methods that suit a motion, the recommended one first; made by `pi.advise`.

    A mapping from the names of methods to `Advice`: dt, n_steps, evaluations, error.

    Attributes
    ----------
    system : System
    t0, t_end, error : float
        The judged span, which for a chaotic motion may be shorter than the one requested,
        and the error that is kept.
    nature : Nature
        Whether the motion is stiff, chaotic, conservative, and how many turns it makes.
    reasons : tuple of str
        The consequences for the choice, in words.
    why : dict of str
        The reason for each method.
    """

    def __init__(self, motion, error, found, nature, reasons, why):
        super().__init__(motion, error, found)
        self.nature, self.reasons, self.why = nature, tuple(reasons), dict(why)

    @property
    def best(self) -> str | None:
        """Name of the recommended method, or None if none suffices."""
        return next(iter(self), None)

    def table(self) -> Table:
        """Methods, steps, costs and reasons, the recommended one first.

        Returns
        -------
        Table
        """
        rows = [
            [name, f"{one.dt:.3g}", f"{one.n_steps:,}", f"{one.evaluations:,}", f"{one.error:.1e}",
             self.why[name]] for name, one in self.items()
        ]  # fmt: skip
        step = with_unit("dt", self.system.units["t"])
        columns = ["method", step, "steps", "evaluations", "error", "why"]
        title = f"{self._span()}, an error of at most {self.error:g} of the motion"
        return Table("\n".join([title, *self.reasons]), columns, rows, align="lrrrrl")


@explains_keywords()
def advise(
    system: System,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    t_end: float,
    error: float = 1e-6,
    t0: float = 0.0,
) -> Recommendation:
    """Recommend methods and steps for a motion, with reasons.

    The motion is integrated and classified: whether it is stiff (explicit methods would be unstable
    long before they are inaccurate), chaotic, conservative, long. Suitable methods are then tried,
    each with the largest step that keeps the error; the figures are of runs with that very step.

    Parameters
    ----------
    system : System
    x0, v0 : array_like, optional
        Start, as in `integrate`; for a batch the worst trajectory counts.
    t_end : float
        End. Errors grow with time: give the span of interest.
    error : float, optional
        The required error, between 1e-12 and 1: the largest distance from the true motion at 16
        times, in units of the motion (0.01: one per cent).
    t0 : float, optional
        Start time.

    Returns
    -------
    Recommendation
        Prints as a table; a mapping from names to dt, n_steps, evaluations, error.

    Raises
    ------
    ValueError, TypeError
        For arguments that do not fit, or a motion that cannot be known to the error.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> advice = pi.advise(pi.systems.kepler, t_end=500.0)
    >>> pi.methods[advice.best].symplectic, advice.nature.stiff
    (True, False)
    >>> sol = pi.integrate(pi.systems.kepler, dt=advice[advice.best].dt, t_end=500.0,
    ...                    method=advice.best, save="final")
    """
    check_error(error)
    if getattr(system, "noise", None) is not None:  # what is no system is refused below
        raise ValueError(f"{system.name!r} has noise: docs/noise.md says which method suits which")
    motion = follow(system, x0, v0, t0, t_end, TIMES, error)
    kind, share = nature(motion), 1.0
    while kind.chaotic and motion.doubt.max() > error / 3 and share > 1e-3:
        share *= 0.7  # to the horizon of prediction
        motion = follow(system, x0, v0, t0, t0 + share * (t_end - t0), TIMES, error)
    check_known(motion, error, kind)
    found, why = {}, {}
    for names, reason in _groups(system, kind):
        able = {}
        for name in names:
            method = find_method(name)
            if name not in found and fits(method, system):
                most = MOST_IMPLICIT if method.implicit else MOST_EXPLICIT
                one = largest_step(motion, method, error, most, COARSE)
                if one.n_steps:
                    able[name] = one
        for name in sorted(able, key=lambda name: able[name].evaluations)[:SHOWN]:
            found[name], why[name] = able[name], reason
    if not found:
        raise ValueError(
            f"no method that was tried keeps an error of {error:g} over so long a span of"
            f" {system.name!r}: choose a larger error, a shorter span, or"
            " pi.solve(..., rtol=), whose steps are of any length"
        )
    return Recommendation(motion, error, found, kind, _reasons(motion, kind, t_end), why)


def _groups(system, kind):
    """Kinds of methods, the best first: names, and why they suit."""
    smooth = (SMOOTH, "high order: the fewest evaluations where a motion is smooth")
    if kind.stiff:
        return [
            (FOR_STIFF, "implicit: no step is too large for its stability"),
            (SMOOTH[:3], "explicit, for comparison: stability keeps its step small"),
        ]
    if system.structure == "rigid_body":
        return [(RIGID, "made for rigid bodies: keeps the length of the quaternion"), smooth]
    if kind.conservative:
        names = SYMPLECTIC if system.dof else SYMPLECTIC_IMPLICIT
        keeps = (names, "symplectic: the energy error stays bounded, however long")
        if kind.turns > LONG or kind.chaotic:
            return [keeps, (SMOOTH, "high order: as accurate here, but its energy drifts")]
        return [smooth, (names, "symplectic: for longer runs, where the energy must not drift")]
    return [smooth]


def _reasons(motion, kind, asked):
    """The nature of the motion, in sentences."""
    if kind.stiff:
        yield (
            f"stiff: its fastest part is {kind.spread:.2g} times as fast as the motion itself, and"
            " explicit methods are unstable long before they are inaccurate -> implicit methods"
        )
    if kind.chaotic:
        yield (
            f"chaotic: neighbours part by a factor of e every {1 / kind.lyapunov:.2g} of time"
            " -> high order for as long as single trajectories mean anything"
        )
    if motion.t_end != asked:
        yield f"beyond t = {motion.t_end:.4g} rounding alone spoils this error: judged until there"
    yield from motion._remarks
    if kind.conservative:
        length = f"{kind.turns:.3g} turns"
        if kind.turns > LONG:
            yield f"a long run ({length}) that conserves energy -> symplectic methods"
        else:
            yield f"a short run ({length}) that conserves energy -> high order; symplectic if long"
    if not (kind.stiff or kind.chaotic or kind.conservative):
        long = (
            f" ({kind.turns:.3g} turns, and each has to be followed)" if kind.turns > LONG else ""
        )
        keeps = "" if motion.system.has_energy else ", no energy to keep"
        yield f"smooth{long}, in this time neither stiff nor chaotic{keeps} -> high order"
