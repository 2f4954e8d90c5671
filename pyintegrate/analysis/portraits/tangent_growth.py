"""Lyapunov exponents, indicators of chaos and stretching: motions with tangents."""

from __future__ import annotations

import numpy as np

from ...errors import report_failures
from ...integration import integrate
from ...method.catalogue import find_method
from ...run.arguments import checked_dtype, checked_system, make_run, steps_between
from ...run.core import Run
from ...run.failures import none
from ...run.progress import Reporter
from ...tangents.directions import Directions
from ...values.checks import choice, integer, numbers
from ...values.keywords import explains_keywords
from ...values.table import Table, Tabled, batch_axes
from ...values.types import (
    Any,
    ArrayLike,
    Callable,
    DTypeLike,
    Floats,
    Integers,
    Mapping,
    Method,
    System,
)
from ..results import drawn_by, quiet, result_class
from ..sections.grid_scan import checked_axes, laid_out

SUMS = 3  # sums besides the exponents: the largest L, the sums of L and of MEGNO's Y


class Renormalised:
    """A run that is continued part by part.

    Parameters
    ----------
    problem : Problem
        With tangents and a one-step method.
    options : Options
        Only the workers are used.
    rows : ndarray of int, shape (vectors, components)
        The components of each tangent in the state.
    every : int
        Steps from one renormalisation to the next.
    orthogonal : bool
        Whether each tangent is made orthogonal to those before.
    indicators : bool
        Whether sums for FLI and MEGNO are kept, of the first tangent.
    """

    def __init__(self, problem, options, rows, every, orthogonal, indicators=False):
        self._problem, self.rows = problem, rows
        vectors, dim = rows.shape
        self._sums = np.zeros((vectors + SUMS * indicators, problem.stride))
        if indicators:
            self._sums[vectors] = -np.inf
        self._state, self.failures, self.every = problem.initial, none(problem.lanes), every
        self._options = options.changed(renormalise={
            "every": every, "vectors": vectors, "dim": dim, "orthogonal": int(orthogonal),
            "indicators": int(indicators), "places": np.ascontiguousarray(rows, np.int64),
            "sums": self._sums,
        })  # fmt: skip
        self.steps = 0

    def go(self, n_steps, report=None):
        """Continue for n_steps; `report` gets the number of steps done."""
        done = self.steps
        if n_steps and self._problem.lanes:
            part = self._problem.changed(initial=self._state, first=done, n_steps=n_steps)
            run = Run(part, self._options, self.failures)
            run.go(None if report is None else lambda steps: report(done + steps))
            _, self._state, self.failures, _ = run.rows()
        self.steps += n_steps

    def outcome(self):
        """Status and step of the failures of each trajectory, and their report, by name."""
        problem = self._problem
        return {
            "status": self.failures.statuses(problem),
            "failed_step": self.failures.steps(problem),
            "_report": self.failures.report(problem.batch, problem.t0, problem.dt),
        }

    # ---- current values ----
    def tangents(self):
        """The current tangents, (vectors, components, lanes)."""
        lanes = self._problem.lanes
        state = np.broadcast_to(self._state, (len(self._state), self._problem.stride))
        return state[self.rows][..., :lanes].astype(float)

    def growth(self):
        """log |u| of each tangent, (vectors, lanes)."""
        with quiet():  # for those that failed
            size = np.log(np.linalg.norm(self.tangents(), axis=1))
        return self._sums[: len(self.rows), : self._problem.lanes] * np.log(2.0) + size

    def sums(self):
        """The largest L, the sums of L and of MEGNO's Y: (3, lanes)."""
        return self._sums[len(self.rows) :, : self._problem.lanes].copy()


DEFAULT_INTERVAL = 10  # steps between renormalisations
_ALONE = 16  # steps in which a single tangent neither overflows nor vanishes: 1e-16^16 is normal


class Measured(Tabled):
    """Results for a batch, of which some may have failed: a base class."""

    status: Integers
    _report: str

    @property
    def n_failed(self) -> int:
        """The number of trajectories that failed."""
        return int(np.count_nonzero(self.status))

    def failures(self) -> str:
        """A readable report of the trajectories that failed."""
        return self._report


def with_directions(system, k):
    """The base and a system with k tangents: one that has them already, or a new one."""
    if checked_system(system).noise is not None:
        raise ValueError(
            f"{system.name!r} has noise: integrate system.tangent({k}) with a seed, and watch it"
        )
    if not isinstance(system, Directions):
        k = integer("k", k, 1)
        if k > system.dim:
            raise ValueError(f"k is {k}, and {system.name!r} has {system.dim} components")
        return system, system.tangent(k)
    if len(system.directions) != k or any(name in system.params for name in system.directions):
        raise ValueError(
            f"{system.name} has the tangents {', '.join(system.directions)}, and k is {k}: make it"
            f" with tangent({k})"
        )
    return system.base, system


def generic(dim, k):
    """k orthonormal columns (dim, k) in a direction of no symmetry; always the same."""
    Q, _ = np.linalg.qr(np.random.default_rng(20).normal(size=(dim, dim)))
    return Q[:, :k]


def set_out(
    system, x0, v0, k, *, dt, t_end, orthogonal, indicators=False, t0=0.0, method="rk4",
    renormalise=DEFAULT_INTERVAL, dtype=None, workers=1, progress=False,
):  # fmt: skip
    """The problem of a motion with k tangents, its options, and its run.

    Returns
    -------
    Problem, Options, Renormalised
    """
    base, both = with_directions(system, k)
    every = integer("renormalise", renormalise, 1)
    method = find_method(method)
    if method.family == "multistep":
        raise ValueError(
            f"{method.name!r} remembers earlier states, which cannot be renormalised: use a"
            " one-step method such as 'rk4' or 'velocity_verlet'"
        )
    dtype = checked_dtype(dtype, x0, v0)
    start = both.initial_state(x0, v0, tangents=generic(base.dim, k))
    problem, options = make_run(
        both, start, dt=dt, t_end=t_end, t0=t0, method=method, dtype=dtype, save="final",
        workers=workers, progress=progress,
    )  # fmt: skip
    alone = k == 1 and not indicators and dtype == np.float64
    if alone and every >= DEFAULT_INTERVAL and not method.implicit:
        # Powers of two are exact: the result is the same, and calls of a kernel are longer.
        every = max(every, _ALONE)
    return problem, options, Renormalised(
        problem, options, both.places[:, 1:].T, every, orthogonal, indicators
    )  # fmt: skip


@result_class
class LyapunovExponents(Measured):
    """The exponents of a batch of motions; made by ``pi.lyapunov``.

    Attributes
    ----------
    exponents : ndarray, shape (*batch, k)
        The largest first, per unit of time; NaN for a trajectory that failed, -inf where a step
        takes the tangent to zero.
    times : ndarray, shape (n,), or (n, *batch) where they differ
        The end times of the entries of the history: from the end of the transient each about
        twice as far as the one before.
    history : ndarray, shape (n, *batch, k)
        The exponents from the end of the transient to these times.
    status, failed_step : ndarray of int, shape (*batch)
        Why a trajectory failed, see ``pi.Status``, and the first step not completed, or -1.
    system, method : the arguments
    """

    exponents: Floats
    times: Floats
    history: Floats
    status: Integers
    failed_step: Integers
    system: Any
    method: Any
    _report: str
    _begin: Any = 0.0  # when the averages begin: after the transient

    @property
    def dimension(self) -> Floats:
        """The Kaplan-Yorke dimension of the attractor, (*batch): j + (sum of j) / |exponent j+1|.

        Exponents so small that a tangent changes by less than a factor of e^5 in the time averaged
        over count as 0, as the one along a cycle is.

        NaN if the sum of all computed exponents is still positive, unless these are the whole
        spectrum: integrate with a larger k.

        References
        ----------
        Kaplan, Yorke (1979), Lect. Notes Math. 730, 204-227.
        """
        span = np.abs(self.times[-1] - self._begin)[..., np.newaxis]
        settled = np.where(np.abs(self.exponents) * span < 5, 0.0, self.exponents)
        return kaplan_yorke(settled, self.exponents.shape[-1] == self.system.dim)

    plot = drawn_by("lyapunov")

    def table(self) -> Table:
        """A row for each trajectory."""
        *batch, k = self.exponents.shape
        columns = {f"exponent {i + 1}": self.exponents[..., i] for i in range(k)}
        title = f"Lyapunov exponents of {self.system.name} [1/{self.system.units['t']}]"
        return Table.of(title, batch_axes(batch), columns)


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
    falling = -np.sort(-np.asarray(exponents, float), axis=-1)
    total = np.insert(np.cumsum(falling, axis=-1), 0, 0.0, axis=-1)
    j = np.cumprod(total[..., 1:] >= 0, axis=-1).sum(axis=-1, keepdims=True)
    # How many together do not contract; after the whole spectrum the next one is -infinity.
    after = np.insert(falling, falling.shape[-1], -np.inf if complete else np.nan, axis=-1)
    sum_of_j, next_one = (np.take_along_axis(part, j, -1) for part in (total, after))
    with quiet():
        found = (j + sum_of_j / -next_one)[..., 0]
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
    renormalise: int = DEFAULT_INTERVAL,
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
        about ten digits. With a single tangent, in double precision and by an explicit method, 10
        to 15 are taken as 16.

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
            growth = run.growth()
            with quiet():
                rate = (growth - start) / (count * step)
            history.append(np.where(growth == -np.inf, growth, rate))
    history = np.array(history).reshape(len(counts), k, lanes)
    for index, _, when in zip(*run.failures):
        history[skipped + np.array(counts) >= when, :, index] = np.nan
    history = np.moveaxis(history, 1, -1).reshape(len(counts), *batch, k)
    found = LyapunovExponents(
        exponents=history[-1],
        times=problem.times(skipped + np.array(counts)),
        history=history,
        system=problem.system.base,
        method=problem.method,
        _begin=problem.times(np.array([skipped]))[0],
        **run.outcome(),
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


@result_class
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

    values: Floats
    indicator: str
    status: Integers
    failed_step: Integers
    solution: Any
    _report: str

    plot = drawn_by("chaos_map")

    def table(self) -> Table:
        """A row for each trajectory."""
        title = f"{self.indicator} of {self.solution.system.name}, batch {self.values.shape}"
        return Table.of(title, batch_axes(self.values.shape), {self.indicator: self.values})


def _fli(run):
    return np.maximum(run.sums()[0], run.growth()[0])  # steps may be left after the last one


def _megno(run):
    return run.sums()[2] / (run.steps // run.every)


def _normalised(run):
    """The tangents as unit vectors, (vectors, components, lanes)."""
    u = run.tangents()
    with quiet():  # for those that failed
        return u / np.linalg.norm(u, axis=1, keepdims=True)


def _sali(run):
    a, b = _normalised(run)
    return np.minimum(*(np.linalg.norm(a + s * b, axis=0) for s in (1, -1)))


def _gali(run):
    u = np.moveaxis(_normalised(run), -1, 0)  # (lanes, vectors, components)
    good = np.isfinite(u).all(axis=(1, 2))
    size = np.linalg.svd(np.where(good[:, np.newaxis, np.newaxis], u, 0), compute_uv=False)
    return np.where(good, np.prod(size, axis=-1), np.nan)


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
        weighted by time, exponent * t / 2 for a chaotic motion; it tends to 2 for a regular one, of
        which after a hundred periods it may be 1, and to 0 for a stable periodic one. "sali": how
        far two tangents are from being parallel, 0 for a chaotic motion; "gali": the volume of k of
        them. "lyapunov": the largest exponent. Lengths of tangents, and so all but "lyapunov" of a
        long run, depend on the units of the components, of velocities beside positions on that of
        time.
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
    choice("indicator", indicator, INDICATORS)
    if k is not None and indicator != "gali":
        raise ValueError(f"k is for 'gali', and the indicator is {indicator!r}: leave k out")
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
        positions = getattr(system, "base", system).dof
        vectors = max(2, positions) if k is None else integer("k", k, 2)
    known = ("method", "renormalise", "t0", "dtype", "workers", "progress")
    for name in options:
        if name not in known:
            raise TypeError(f"chaos_map() has no option {name!r}: it takes {', '.join(known)}")
    problem, settings, run = set_out(
        system, x0, v0, vectors, dt=dt, t_end=t_end, orthogonal=False, indicators=sums, **options
    )
    if indicator == "megno" and problem.n_steps < run.every:
        raise ValueError(
            f"renormalise is {run.every}, and the run has {problem.n_steps} steps: 'megno' is a"
            " mean over renormalisations"
        )
    start = integrate(problem.system.base, x0, v0, n_steps=0, on_failure="ignore", **starts)
    with Reporter(settings.progress, problem.n_steps) as report:
        run.go(problem.n_steps, report)
    values = np.array(number(run), float)
    values[run.failures.index] = np.nan
    values = values.reshape(problem.batch)
    found = ChaosMap(values=values, indicator=indicator, solution=start, **run.outcome())
    tell(found)
    return found


@result_class
class FlowMap:
    """Finite-time Lyapunov exponents over a grid.

    Attributes
    ----------
    axes : dict of str to ndarray
        The grid.
    values : ndarray
        (*grid, *batch): log of the largest stretching, over the time; NaN of motions that failed,
        or contract below the smallest number, 2e-308: a shorter time tells.
    gradients : ndarray
        (*grid, *batch, dim, dim): the derivatives of the end with respect to the start; their
        right singular vectors are the directions at the start that are stretched most and least.
    solution : Solution
        The ends.
    """

    axes: dict
    values: Floats
    gradients: Floats
    solution: Any

    plot = drawn_by("ftle")

    def __repr__(self):
        name, shape = self.solution.system.name, self.values.shape
        most = np.fmax.reduce(self.values, axis=None, initial=np.nan)  # may all be NaN
        return f"<FlowMap of {name}: {shape}, at most {most:.4g}>"


@explains_keywords(integrate)
def ftle(
    system: System, grid: Mapping[str, ArrayLike], t_end: float, *, dt: float, **options: Any
) -> FlowMap:
    """Finite-time Lyapunov exponents over a grid of starts or parameters.

    The largest singular value s of the derivative of the flow, from exact tangents, gives
    log(s) / |t_end - t0|. s depends on the units of the components: beside positions, velocities
    depend on that of time. Ridges of it forwards in time are what repels, stable manifolds;
    backwards in time (negative `t_end` and `dt`) what attracts.

    Parameters
    ----------
    system : System
    grid : mapping of str to array_like
        Components or parameters and their values, ``{"x": np.linspace(0, 2, 401), ...}``;
        components that it leaves out have their default values.
    t_end : float
        The last time.
    dt : float
        The step.
    **options
        For ``integrate``: t0, method, workers, ...

    Returns
    -------
    FlowMap
        With ``values``, ``gradients`` and ``plot()``.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments.

    References
    ----------
    Shadden, Lekien, Marsden (2005), Physica D 212, 271-304: also the double gyre.

    Examples
    --------
    Beside a saddle with the rates 1 and -1 the exponent is 1:

    >>> import pyintegrate as pi
    >>> saddle = pi.rhs(lambda t, y: (y[0], -y[1]), dim=2, state_names=("x", "y"), name="saddle")
    >>> found = pi.analysis.ftle(saddle, {"x": [-1, 0, 1], "y": [0, 1]}, 5.0, dt=0.01)
    >>> found.values.shape, bool(abs(found.values - 1).max() < 1e-9)
    ((3, 2), True)
    """
    axes = checked_axes("grid", grid, system)
    names = ("x0", "v0") if system.dof else ("x0",)
    fixed: dict[str, Any] = {"save": "final", "sensitivity": names}
    if set(fixed) & set(options):
        raise TypeError(f"ftle() decides on {' and '.join(fixed)} itself: leave them out")
    sol = integrate(**laid_out(system, axes, None, None), dt=dt, t_end=t_end, **fixed, **options)
    M = np.concatenate([sol.sensitivity[name][-1] for name in names], axis=-1)
    good = (sol.status == 0) & np.isfinite(M).all(axis=(-2, -1))
    good &= (np.abs(M) > np.finfo(M.dtype).tiny).any(axis=(-2, -1))
    values = np.full(good.shape, np.nan)
    with quiet():
        length = np.broadcast_to(np.abs(sol.n_steps * sol.dt), good.shape)[good]
        values[good] = np.log(stretched(M[good])) / length
    return FlowMap(axes, values, M, sol)


def stretched(M):
    """The largest singular values (m,) of matrices (m, k, k)."""
    if M.shape[-1] != 2:
        return np.linalg.norm(M, 2, axis=(-2, -1))
    # The part that turns and scales, and the rest: ten times as fast.
    (a, b), (c, d) = np.moveaxis(M / 2, 0, -1)
    return np.hypot(a + d, c - b) + np.hypot(a - d, c + b)
