"""``pi.chaos_map``: an indicator of chaos for each start or parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...integration import integrate
from ...run.progress import Reporter
from ...values.keywords import explains_keywords
from ...values.table import Table, batch_axes
from ..results import drawn_by
from .exponents import lyapunov, tell
from .generic_tangents import Measured, set_out
from .renormalised import Renormalised

if TYPE_CHECKING:
    from ...system.system import System
    from ...values.types import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class ChaosMap(Measured):
    """An indicator of chaos over a batch; made by ``pi.chaos_map``.

    Attributes
    ----------
    values : ndarray, shape (*batch)
        The indicator; NaN for a trajectory that failed.
    indicator : str
    status, failed_step : ndarray of int, shape (*batch)
        Why a trajectory failed, see ``pi.Status``, and the first step not completed, or -1.
    solution : Solution
        The starts: a run of no steps, with the same batch.
    """

    values: np.ndarray
    indicator: str
    status: np.ndarray
    failed_step: np.ndarray
    solution: Any
    _report: str

    plot = drawn_by("chaos_map")

    def table(self) -> Table:
        """A row for each trajectory."""
        title = f"{self.indicator} of {self.solution.system.name}, batch {self.values.shape}"
        return Table.of(title, batch_axes(self.values.shape), {self.indicator: self.values})


def _fli(run, every):
    return run.sums()[0]


def _megno(run, every):
    n = run.steps // every
    return run.sums()[2] / n if n else np.full(run.sums().shape[1], np.nan)


def _normalised(run):
    """The tangents as unit vectors, (vectors, components, lanes)."""
    u = run.tangents()
    with np.errstate(all="ignore"):  # for those that failed
        return u / np.sqrt(np.sum(u**2, axis=1, keepdims=True))


def _sali(run, every):
    a, b = _normalised(run)
    return np.minimum(*(np.sqrt(np.sum((a + s * b) ** 2, axis=0)) for s in (1, -1)))


def _gali(run, every):
    u = np.moveaxis(_normalised(run), -1, 0)  # (lanes, vectors, components)
    good = np.isfinite(u).all(axis=(1, 2))
    volume = np.full(len(u), np.nan)
    volume[good] = np.prod(np.linalg.svd(u[good], compute_uv=False), axis=-1)
    return volume


# How many tangents, whether sums are kept, and the indicator.
_INDICATORS = {"fli": (1, True, _fli), "megno": (1, True, _megno), "sali": (2, False, _sali),
               "gali": (None, False, _gali)}  # fmt: skip
INDICATORS = (*_INDICATORS, "lyapunov")


@explains_keywords(integrate)
def chaos_map(
    system: System,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike,
    indicator: str = "fli",
    k: int | None = None,
    **options: Any,
) -> ChaosMap:
    """An indicator of chaos for each trajectory of a batch.

    Parameters
    ----------
    system : System
    x0, v0 : array_like, optional
        As in ``integrate``: grids of starts, or of parameters in the system.
    dt, t_end : array_like
        As in ``integrate``.
    indicator : {"fli", "megno", "sali", "gali", "lyapunov"}
        "fli": the fast Lyapunov indicator, the largest log |tangent| until t_end, about log t for a
        regular motion and exponent * t for a chaotic one. "megno": the mean of twice the growth,
        weighted by time, 2 for a regular motion, 0 for a stable periodic one, exponent * t / 2 for
        a chaotic one. "sali": how far two tangents are from being parallel, 0 for a chaotic motion;
        "gali": the volume of k of them. "lyapunov": the largest exponent.
    k : int, optional
        Tangents for "gali", 2 to system.dim; default: the number of positions, at least 2.
    **options
        For ``pi.lyapunov``: method, renormalise, t0, dtype, workers, progress; with "lyapunov"
        transient as well.

    Returns
    -------
    ChaosMap
        With ``values`` (*batch), ``status`` and ``plot()``.

    Raises
    ------
    TypeError, ValueError
        A wrong argument, before anything runs.

    Warns
    -----
    IntegrationWarning
        Trajectories that escaped or failed; their values are NaN. A start that is NaN, perhaps
        outside what the energy allows, gives NaN without a warning.

    References
    ----------
    Froeschle, Lega, Gonczi (1997), Celest. Mech. Dyn. Astron. 67, 41-62 (FLI). Cincotta, Simo
    (2000), Astron. Astrophys. Suppl. 147, 205-228 (MEGNO). Skokos (2001), J. Phys. A 34,
    10029-10043 (SALI). Skokos, Bountis, Antonopoulos (2007), Physica D 231, 30-54 (GALI).

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> y, vy = np.linspace(-0.3, 0.5, 20), np.linspace(-0.3, 0.3, 15)[:, np.newaxis]
    >>> x0 = np.stack(np.broadcast_arrays(0.0 * vy, y), axis=-1)
    >>> v0 = np.stack(np.broadcast_arrays(0.25 + 0.0 * y, vy), axis=-1)
    >>> found = pi.chaos_map(pi.systems.henon_heiles, x0, v0, dt=0.05, t_end=200.0,
    ...                      method="velocity_verlet")
    >>> found.values.shape, bool(np.nanmin(found.values) < 8 < 12 < np.nanmax(found.values))
    ((15, 20), True)
    """
    if not isinstance(indicator, str) or indicator not in INDICATORS:
        raise ValueError(f"indicator must be one of {', '.join(INDICATORS)}, got {indicator!r}")
    if k is not None and indicator != "gali":
        raise ValueError(f"k is for 'gali', and the indicator is {indicator!r}: leave k away")
    starts = {"dt": dt, "t0": options.get("t0", 0.0), "dtype": options.get("dtype")}
    if indicator == "lyapunov":
        found = lyapunov(system, x0, v0, dt=dt, t_end=t_end, **options)
        start = integrate(found.system, x0, v0, n_steps=0, on_failure="ignore", **starts)
        return ChaosMap(
            found.exponents[..., 0], indicator, found.status, found.failed_step, start,
            found.failures(),
        )  # fmt: skip
    vectors, sums, number = _INDICATORS[indicator]
    if vectors is None:
        vectors = _directions(system, k)
    own: dict[str, Any] = {
        "method": "rk4", "renormalise": 10, "t0": 0.0, "dtype": None, "workers": 1,
        "progress": False,
    }  # fmt: skip
    for name in options:
        if name not in own:
            raise TypeError(f"chaos_map() has no option {name!r}: it takes {', '.join(own)}")
    own |= options
    problem, settings, run = set_out(
        system, x0, v0, vectors, dt=dt, t_end=t_end, orthogonal=False, indicators=sums, **own
    )
    start = integrate(problem.system.base, x0, v0, n_steps=0, on_failure="ignore", **starts)
    return _measured(problem, settings, run, number, indicator, start, int(own["renormalise"]))


def _directions(system, k):
    """How many tangents "gali" has."""
    dim = getattr(system, "base", system).dim
    k = max(2, getattr(system, "base", system).dof) if k is None else k
    if not isinstance(k, int) or not 2 <= k <= dim:
        raise ValueError(f"k must be 2 to {dim}, the components of {system.name!r}, got {k!r}")
    return k


def _measured(problem, settings, run: Renormalised, number, indicator, start, every):
    with Reporter(settings.progress, problem.n_steps) as report:
        run.go(problem.n_steps, report)
    batch, lanes = problem.batch, problem.lanes
    values = np.array(number(run, every), dtype=np.float64)
    values[run.failures.index] = np.nan
    found = ChaosMap(
        values.reshape(batch), indicator, run.failures.statuses(lanes).reshape(batch),
        run.failures.steps(lanes).reshape(batch), start,
        run.failures.report(batch, problem.t0, problem.dt),
    )  # fmt: skip
    tell(found)
    return found
