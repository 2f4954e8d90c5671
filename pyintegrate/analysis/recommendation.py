"""Which method to use: methods and steps that suit a motion, with reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..method.catalogue import find_method
from ..values.table import Table
from .accuracy import doubt_of, fits, settle
from .advice import FOR_STIFF, StepAdvice, check_error, check_known, largest_step, nature
from .results import with_unit

if TYPE_CHECKING:
    from ..system.system import System
    from ..values.types import ArrayLike

LONG = 30  # turns of a motion above which a run is long
MOST = 1 << 21  # steps to try before a method is rejected
MOST_IMPLICIT = 1 << 16
FINE = 1.1  # ratio of steps at which the search ends
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
        step = with_unit("dt", self.system.units.get("t", ""))
        columns = ["method", step, "steps", "evaluations", "error", "why"]
        title = f"{self._span()}, an error of at most {self.error:g} of the motion"
        return Table("\n".join([title, *self.reasons]), columns, rows, align="lrrrrl")


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
    if np.ndim(t0) or np.ndim(t_end) or not np.isfinite(t_end) or t_end == t0:
        raise ValueError(f"t_end must be one finite time other than t0 = {t0!r}, got {t_end!r}")
    if getattr(system, "noise", None) is not None:  # what is no system is refused below
        raise ValueError(f"{system.name!r} has noise: docs/noise.md says which method suits which")
    motion = settle(system, x0, v0, float(t0), float(t_end), error)
    kind, share = nature(motion), 1.0
    while kind.chaotic and doubt_of(motion) > error / 3 and share > 1e-3:
        share *= 0.7  # to the horizon of prediction
        motion = settle(system, x0, v0, float(t0), t0 + share * (t_end - t0), error)
    check_known(motion, error, kind)
    found, why = {}, {}
    for names, reason in _groups(system, kind):
        able = {}
        for name in names:
            method = find_method(name)
            if name not in found and fits(method, system):
                most = MOST_IMPLICIT if method.implicit else MOST
                one = largest_step(motion, method, error, most, FINE)
                if one.n_steps:
                    able[name] = one
        for name in sorted(able, key=lambda name: able[name].evaluations)[:SHOWN]:
            found[name], why[name] = able[name], reason
    if not found:
        raise ValueError(
            f"no method that was tried keeps an error of {error:g} over so long a span of"
            f" {system.name!r}: choose a larger error, or a shorter span"
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
        yield f"smooth{long}, neither stiff nor chaotic, no energy to keep -> high order"
