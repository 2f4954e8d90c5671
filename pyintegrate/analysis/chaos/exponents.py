"""Lyapunov exponents: the rates at which neighbouring trajectories separate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import report_failures
from ...run.arguments import steps_between
from ...run.progress import Reporter
from ...values.checks import numbers
from ...values.keywords import explains_keywords
from ...values.table import Table, batch_axes
from ..results import drawn_by
from .generic_tangents import Measured, set_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...method.method import Method
    from ...system.system import System
    from ...values.types import ArrayLike, DTypeLike, Floats


@dataclass(frozen=True, eq=False, repr=False)
class LyapunovExponents(Measured):
    """The exponents of a batch of motions; made by ``pi.lyapunov``.

    Attributes
    ----------
    exponents : ndarray, shape (*batch, k)
        The largest first, per unit of time; NaN for a trajectory that failed.
    times : ndarray, shape (n,), or (n, *batch) where they differ
        The end times of the entries of the history, each about twice the one before.
    history : ndarray, shape (n, *batch, k)
        The exponents from the end of the transient to these times.
    status, failed_step : ndarray of int, shape (*batch)
        Why a trajectory failed, see ``pi.Status``, and the first step not completed, or -1.
    system, method : the arguments
    """

    exponents: np.ndarray
    times: np.ndarray
    history: np.ndarray
    status: np.ndarray
    failed_step: np.ndarray
    system: Any
    method: Any
    _report: str
    _begin: Any = 0.0  # when the averages begin: after the transient

    @property
    def dimension(self) -> Floats:
        """The Kaplan-Yorke dimension of the attractor, (*batch): j + (sum of j) / |exponent j+1|.

        NaN if the sum of all computed exponents is still positive, unless these are the whole
        spectrum: integrate with a larger k.

        References
        ----------
        Kaplan, Yorke (1979), Lect. Notes Math. 730, 204-227.
        """
        return kaplan_yorke(self.exponents, self.exponents.shape[-1] == self.system.dim)

    plot = drawn_by("lyapunov")

    def table(self) -> Table:
        """A row for each trajectory."""
        *batch, k = self.exponents.shape
        columns = {f"exponent {i + 1}": self.exponents[..., i] for i in range(k)}
        return Table.of(f"Lyapunov exponents of {self.system.name}", batch_axes(batch), columns)


def kaplan_yorke(exponents, complete):
    """See ``LyapunovExponents.dimension``.

    Parameters
    ----------
    exponents : ndarray, shape (*batch, k)
    complete : bool
        Whether they are the whole spectrum.

    Returns
    -------
    ndarray, shape (*batch)

    Examples
    --------
    >>> float(kaplan_yorke([0.906, 0.0, -14.572], True).round(3))
    2.062
    """
    falling = -np.sort(-np.asarray(exponents, dtype=np.float64), axis=-1)
    k = falling.shape[-1]
    total = np.cumsum(falling, axis=-1)
    j = np.sum(np.cumprod(total >= 0, axis=-1), axis=-1)  # how many together do not contract
    reached = j < k
    at = np.minimum(j, k - 1)[..., np.newaxis]
    next_one = np.take_along_axis(falling, at, -1)[..., 0]
    sum_of_j = np.where(j > 0, np.take_along_axis(total, np.maximum(at - 1, 0), -1)[..., 0], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(reached, j + sum_of_j / -next_one, float(k) if complete else np.nan)
    return np.where(np.isnan(falling).any(axis=-1), np.nan, found)


def doubling(n_steps, every):
    """Indices of steps, each about twice the one before, multiples of `every` except the last."""
    counts = [n_steps]
    while counts[-1] > every:
        half = counts[-1] // 2 // every * every
        counts.append(max(half, every))
    return [n for n in reversed(counts) if n] or [0]


@explains_keywords()
def lyapunov(
    system: System,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike,
    transient: ArrayLike | None = None,
    k: int = 1,
    method: str | Method = "rk4",
    renormalise: int = 10,
    t0: ArrayLike = 0.0,
    dtype: DTypeLike | None = None,
    workers: int = 1,
    progress: bool | Callable[[int, int], object] = False,
) -> LyapunovExponents:
    """The k largest Lyapunov exponents of a batch of motions.

    Tangents are propagated by the derivative of the method's own steps (``System.tangent``), and
    every few steps made orthogonal and scaled by powers of two, which is exact.

    Parameters
    ----------
    system : System
        Or one that already has k tangents, such as ``system.tangent(k).compile()``.
    x0, v0 : array_like, optional
        As in ``integrate``; so are dt, t0, dtype, workers, progress.
    t_end : array_like
        The last time: t0 + transient + the time to average over.
    transient : array_like, optional
        How long the motion runs before averaging: it approaches its attractor, and the
        tangents their directions, for which an eighth of the run is left out by default.
    k : int
        How many exponents; system.dim for the whole spectrum.
    method : str or Method
        A one-step method; symplectic ones keep the exponents in pairs.
    renormalise : int
        Steps between renormalisations: so few that no tangent outgrows the others by more than
        about ten digits. A single one, in double precision, needs it every hundred steps.

    Returns
    -------
    LyapunovExponents
        With ``exponents`` (*batch, k), ``times``, ``history``, ``status``, ``dimension`` and
        ``plot()``.

    Raises
    ------
    TypeError, ValueError
        A wrong argument, before anything runs.

    Warns
    -----
    IntegrationWarning
        Trajectories that escaped or failed; their exponents are NaN.

    References
    ----------
    Benettin, Galgani, Giorgilli, Strelcyn (1980), Meccanica 15, 9-20 and 21-30.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> found = pi.lyapunov(pi.systems.lorenz, dt=0.01, t_end=520.0, transient=20.0, k=3)
    >>> found.exponents[[0, 2]].round(1).tolist(), float(found.exponents.sum().round(3))
    ([0.9, -14.6], -13.667)
    >>> float(found.dimension.round(2))
    2.06
    """
    problem, options, run = set_out(
        system, x0, v0, k, dt=dt, t_end=t_end, t0=t0, method=method, renormalise=renormalise,
        dtype=dtype, workers=workers, progress=progress, orthogonal=True,
    )  # fmt: skip
    every, n_steps = int(renormalise), problem.n_steps
    usual = n_steps // 8 // every * every
    skipped = usual if transient is None else _transient(transient, problem)
    if skipped >= n_steps:
        raise ValueError(
            f"transient is {transient!r}, {skipped} steps, and t_end is {n_steps} steps from t0:"
            " nothing is left to average over"
        )
    batch, lanes = problem.batch, problem.lanes
    step = np.broadcast_to(np.abs(problem.dt), batch).reshape(lanes)
    counts, history = doubling(n_steps - skipped, every), []
    with Reporter(options.progress, n_steps) as report:
        run.go(skipped, report)
        start = run.growth()
        for count in counts:
            run.go(skipped + count - run.steps, report)
            with np.errstate(invalid="ignore"):
                history.append((run.growth() - start) / (count * step))
    failed = run.failures
    history = np.array(history).reshape(len(counts), k, lanes)
    for index, _, when in zip(*failed, strict=True):
        history[skipped + np.array(counts) >= when, :, index] = np.nan
    history = np.moveaxis(history, 1, -1).reshape(len(counts), *batch, k)
    found = LyapunovExponents(
        exponents=history[-1],
        times=problem.times(skipped + np.array(counts)),
        history=history,
        status=failed.statuses(lanes).reshape(batch),
        failed_step=failed.steps(lanes).reshape(batch),
        system=problem.system.base,
        method=problem.method,
        _report=failed.report(batch, problem.t0, problem.dt),
        _begin=problem.times(np.array([skipped]))[0],
    )
    tell(found)
    return found


def tell(found):
    """Warn of trajectories that failed; a start that is NaN is ignored."""
    if np.any(found.failed_step > 0):
        report_failures(found, "warn")


def _transient(transient, problem):
    """Its number of steps, the same for all trajectories."""
    length = numbers("transient", transient)
    if not np.all(length >= 0):
        raise ValueError(f"transient must be a time, 0 or more, got {transient!r}")
    try:
        return steps_between(np.abs(problem.dt), 0.0, length)
    except ValueError as error:
        raise ValueError(f"transient, as t_end after t0 = 0: {error}") from None
