"""Batches of ``dask.array``: lazily, chunk by chunk, on threads, processes or a cluster.

A trajectory's bits do not depend on its neighbours, so they do not depend on the chunks either.
"""

from __future__ import annotations

from collections import abc
from copy import copy
from dataclasses import replace
from functools import reduce
from operator import itemgetter

import numpy as np

from . import _core
from .adaptive.adaptive_run import AdaptiveRun
from .adaptive.adaptive_solution import AdaptiveSolution
from .adaptive.arguments import DEFAULT_RTOL, make_adaptive_run
from .method.catalogue import RK4
from .run import output
from .run.arguments import checked_dtype, checked_system, make_run
from .run.random_numbers import numbered
from .run.times import column, time_of, times
from .solution.fixed_steps import FixedSolution
from .values.checks import broadcast_shape, numbers
from .values.keywords import explains_keywords
from .values.lazily import optional
from .values.memory import outward
from .values.types import (
    Any,
    ArrayLike,
    DTypeLike,
    Event,
    Floats,
    Integers,
    Literal,
    Mapping,
    Method,
    PathLike,
    Sequence,
    Solution,
    SupportsIndex,
    System,
)
from .watching.batch.results import Across, joined
from .watching.batch.statistics import Statistic
from .watching.batch.statistics import checked as checked_across
from .watching.event_log import Events
from .watching.watched import Watched

dask = optional("dask", "pyintegrate.dask")
da = optional("dask.array", "pyintegrate.dask")

__all__ = ["DaskSolution", "integrate", "solve"]


class DaskSolution:
    """The saved states of a batch, computed when requested.

    Attributes
    ----------
    t : ndarray or dask.array, shape (n_saved,), or (n_saved, *batch) if dt or t0 differ
    steps : ndarray of int, shape (n_saved,)
    y : dask.array, shape (n_saved, *batch, n_components)
    status, failed_step : dask.array of int8 and int64, shape (*batch)
        See ``Solution``.
    system : System
        With the parameters that are the same for all trajectories.
    components : tuple of str
    watched : mapping of str to dask.array
        The results of watches, as in ``Solution``.
    events : mapping of str to EventLog
        Events, whose arrays are dask arrays.
    stopped_at, stopped_by : dask.array of float and str, shape (*batch)
    across : dask.delayed
        Of the statistics of the whole batch, to which those of the chunks join
        (``pi.across.merge``): ``sol.across.compute()["mean"]``. None without ``across=``.

    Examples
    --------
    >>> import dask.array as da, pyintegrate as pi
    >>> x0 = da.linspace(0, 1, 1000, chunks=100)
    >>> sol = pi.dask.integrate(pi.systems.pendulum, x0, 0.0, dt=0.01, n_steps=10, save="final")
    >>> sol["theta"].compute().shape
    (1, 1000)
    """

    y: Any
    status: Any
    failed_step: Any
    stopped_at: Any
    stopped_by: Any
    across: Any = None

    def __init__(self, call, t, steps, results, sample, runs):
        self._call, self._results = call, results
        self.system, self.components, self.t, self.steps = call.system, sample.components, t, steps
        told = {name: results.get(f"watched.{name}", a) for name, a in sample.watched.items()}
        self.watched = Watched(told, sample.watched._kinds)
        self.events = Events({
            name: replace(one, **{part: results[f"events.{name}.{part}"] for part in _PARTS})
            for name, one in sample.events.items()
        })  # fmt: skip
        self.__dict__ |= {name: a for name, a in results.items() if name[0] != "_"}
        if call.fixed["across"] is not None:
            parts = [one[-1] for one in runs.to_delayed().flat]
            self.across = dask.delayed(reduce)(joined, parts)  # which may share their noise

    def compute(self) -> Solution:
        """The `Solution` of the whole batch, in the memory of this process.

        It is that of ``pyintegrate.integrate`` or ``solve``, which is what ``pi.analysis`` and
        ``pi.plots`` take; functions of watches and events stay behind, as in a file. Each chunk is
        integrated once. Of the times at which "auto" found a trajectory stiff, the last is known.

        Examples
        --------
        >>> import dask.array as da, pyintegrate as pi
        >>> k = da.linspace(1, 20, 6, chunks=2)
        >>> lazy = pi.dask.solve(pi.systems.spring, 1.0, 0.0, t_end=1.0, params={"k": k})
        >>> lazy.compute().energy().shape
        (1, 6)
        """
        given, results, watched, events, across = dask.compute(
            self._call.arrays, self._results, dict(self.watched), dict(self.events), self.across
        )
        call = self._call
        solution = call.kind._of_results(call.made(given | call.of_whole), results)
        solution.__dict__.update(
            watched=Watched(watched, self.watched._kinds), events=Events(events),
            stopped_at=results["stopped_at"], stopped_by=results["stopped_by"],
            across=across or Across({}),
        )  # fmt: skip
        return solution

    def __getitem__(self, name: str) -> Any:
        if name not in self.components:
            raise KeyError(f"there are the components {', '.join(self.components)}, not {name!r}")
        return self.y[..., self.components.index(name)]

    @property
    def final(self) -> Any:
        """The states at the end of the run, dask.array of shape (*batch, dim)."""
        return self._results["_last"][..., : self.system.dim]

    def to_zarr(self, path: str | PathLike[str], compute: bool = True) -> Any:
        """Write ``y``, ``t``, ``steps``, ``status`` and ``failed_step`` into a zarr group.

        Also written: the results of watches and events ("watched.swing", "events.ground.t") and
        ``stopped_at``. Each chunk is integrated once and written by itself, so that the whole never
        has to fit in memory.

        Parameters
        ----------
        path : str
            The folder of the group, which must not exist yet or be empty.
        compute : bool
            False gives a ``dask.delayed`` that writes when computed.
        """
        zarr = optional("zarr", "to_zarr()")
        chunks = tuple(max(1, *c[:1]) for c in self.status.chunks)
        if any({*c[:-1]} - {n} or c[-1] > n for c, n in zip(self.status.chunks, chunks)):
            raise ValueError(
                f"chunks {self.status.chunks} differ in size, and those of a zarr array cannot:"
                " rechunk the inputs"
            )
        group = zarr.open_group(store=path, mode="w-", zarr_format=3)
        group.attrs.update(system=repr(self.system), components=list(self.components))
        arrays = {name: a for name, a in self._results.items() if name[0] != "_"}
        arrays |= {"t": self.t, "steps": self.steps}
        del arrays["stopped_by"]  # texts: not a type of the standard
        lazy = [*map(da.asarray, arrays.values())]
        targets = [
            group.create_array(
                name, shape=a.shape, dtype=a.dtype, chunks=tuple(max(1, n) for n in a.chunksize)
            )
            for name, a in zip(arrays, lazy)
        ]
        later = dask.delayed(_nothing)(da.store(lazy, targets, lock=False, compute=False))
        return later.compute() if compute else later

    def __repr__(self):
        names = [n.removeprefix("params.") for n in self._call.arrays if n.startswith("params.")]
        own = "".join(f", {name} of each" for name in names)
        y = f"y {self.y.shape}, chunks {self.y.chunks}"
        return f"<DaskSolution of {self.system!r}{own}: {y}>"


def _nothing(written):
    """The result of writing."""


@explains_keywords()
def integrate(
    system: System,
    x0: Any = None,
    v0: Any = None,
    *,
    dt: Any,
    t_end: Any = None,
    n_steps: SupportsIndex | None = None,
    t0: Any = 0.0,
    params: Mapping[str, Any] | None = None,
    method: str | Method = RK4,
    save: Literal["all", "final"] | SupportsIndex | Sequence[int] | Integers | Floats = "all",
    times: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    workers: int = 1,
    bound: float | None = None,
    compensated: bool = False,
    drive: Mapping[str, Any] | None = None,
    components: Sequence[str] | None = None,
    watch: Any = None,
    events: Mapping[str, Event] | None = None,
    across: Mapping[str, Statistic] | None = None,
    seed: SupportsIndex | None = None,
    first_trajectory: Any = 0,
    substeps: SupportsIndex = 1,
) -> DaskSolution:
    """Integrate batches that are dask arrays; nothing is computed until it is requested.

    Parameters
    ----------
    system : System
        With numbers as parameters; arrays over the batch go into `params`.
    x0, v0 : array_like or dask.array, optional
        As in ``pyintegrate.integrate``. The component axis is put into one chunk.
    dt, t0 : array_like or dask.array
    t_end : float, optional
        The same for all trajectories; give it or `n_steps`.
    n_steps : int, optional
    params : dict, optional
        Name to array_like or dask.array, (*batch) or (*batch, *shape).
    method, save, dtype, workers, bound, compensated, components
        As in ``pyintegrate.integrate``; `workers` is for each chunk.
    drive : mapping of str to array_like or dask.array, optional
        As in ``pyintegrate.integrate``: (n_steps, *batch, *shape).
    times : array_like, optional
        Instead of `save`: a one-dimensional array, the same for all trajectories.
    watch, events
        As in ``pyintegrate.integrate``, with numbers as `after` and as `params` of events; results
        are dask arrays.
    across
        As in ``pyintegrate.integrate``, to the bits of one run of the whole batch.
    seed, first_trajectory, substeps
        As in ``pyintegrate.integrate``; `first_trajectory` may be a dask.array.

    Returns
    -------
    DaskSolution
        Trajectories that fail are frozen at their last good state and have a `status`; there are no
        warnings.

    Raises
    ------
    TypeError, ValueError
        A wrong argument: at once, except values of dask arrays, which are checked when computed.

    Examples
    --------
    >>> import dask.array as da, pyintegrate as pi
    >>> k = da.linspace(1, 20, 10_000, chunks=2_500)
    >>> sol = pi.dask.integrate(
    ...     pi.systems.spring, 1.0, 0.0, dt=0.01, n_steps=100, params={"k": k}, save=50
    ... )
    >>> sol.y.shape, sol.y.chunksize
    ((3, 10000, 2), (3, 2500, 2))
    """
    given = locals()
    if times is not None and isinstance(save, str) and save == "all":  # the default
        del given["save"]
    if isinstance(t_end, da.Array):
        raise TypeError("t_end must be a number, got a dask.array: give n_steps")
    if t_end is not None or times is not None:
        _refuse_lazy(given, ("dt", "t0"), "give n_steps" if times is None else "give save=", times)
    call = _Call(FixedSolution, given, ("x0", "v0", "dt", "t0"))
    if system.noise is not None or np.ndim(first_trajectory):
        del call.fixed["first_trajectory"]
        call.arrays["first_trajectory"] = numbered(
            first_trajectory, call.batches().values(), da.arange
        )
        call.of_whole = {} if np.ndim(first_trajectory) else {"first_trajectory": first_trajectory}
    problem, checked = call.made(call.sample())
    call.refuse_whole(checked)
    call.fixed |= {"n_steps": problem.n_steps, "t_end": None}
    steps = checked.saves(problem.n_steps).steps
    still, unsaved = problem.changed(n_steps=0), checked.changed(steps=None, times=None)
    sample = FixedSolution(still, unsaved, output.begin(still, unsaved).outcome())
    runs, results = call.lazily(sample, len(steps))
    t = _times(dt, t0, steps, results["status"]) if times is None else checked.times
    return DaskSolution(call, t, steps, results, sample, runs)


@explains_keywords()
def solve(
    system: System,
    x0: Any = None,
    v0: Any = None,
    *,
    t_end: Any,
    t0: Any = 0.0,
    params: Mapping[str, Any] | None = None,
    rtol: Any = DEFAULT_RTOL,
    atol: Any = 1e-9,
    method: str | Method = "auto",
    save: Literal["final"] | None = None,
    times: ArrayLike | None = None,
    first_step: Any = None,
    max_step: Any = None,
    max_steps: int = 10**6,
    breaks: ArrayLike | None = None,
    bound: float | None = None,
    components: Sequence[str] | None = None,
    dtype: DTypeLike | None = None,
    workers: int = 1,
    watch: Any = None,
    events: Mapping[str, Event] | None = None,
    across: Mapping[str, Statistic] | None = None,
) -> DaskSolution:
    """Integrate batches that are dask arrays to a tolerance; nothing is computed until requested.

    Parameters
    ----------
    system : System
        With numbers as parameters; arrays over the batch go into `params`.
    x0, v0 : array_like or dask.array, optional
        As in ``pyintegrate.solve``. The component axis is put into one chunk.
    t_end, t0, rtol, atol, first_step, max_step : array_like or dask.array
        As in ``pyintegrate.solve``: one for all, or over the batch.
    params : mapping of str to array_like or dask.array, optional
    method, max_steps, bound, components, dtype, workers, watch, events, across
        As in ``pyintegrate.solve``; `workers` is for each chunk.
    save : "final", optional
        The default. How many steps there will be is not known before they are made.
    times, breaks : array_like, optional
        One-dimensional arrays, the same for all trajectories.

    Returns
    -------
    DaskSolution
        Also with `steps_taken`, `rejected`, `evaluations`, `last_step` and `stiff_since`,
        (*batch). With ``save="final"`` `t` has the shape (1, *batch), as a trajectory may stop.

    Raises
    ------
    TypeError, ValueError
        A wrong argument: at once, except values of dask arrays, which are checked when computed.

    Examples
    --------
    >>> import dask.array as da, pyintegrate as pi
    >>> k = da.linspace(1, 20, 10_000, chunks=2_500)
    >>> sol = pi.dask.solve(pi.systems.spring, 1.0, 0.0, t_end=1.0, params={"k": k}, rtol=1e-8)
    >>> sol.final.shape, int(sol.status.max().compute())
    ((10000, 2), 0)
    """
    given = locals()
    if not (save is None or isinstance(save, str) and save == "final"):
        raise ValueError(
            f"save must be 'final' here, got {save!r}: how many steps there will be is not known;"
            " give times= for states within the run"
        )
    given |= {"save": "final" if times is None else None, "progress": False, "out": None}
    if times is not None:
        _refuse_lazy(given, ("t_end", "t0"), "give save='final'", times)
    if isinstance(method, str) and method == "auto" and isinstance(rtol, da.Array):
        raise TypeError(
            "method='auto' chooses by rtol, and that of a dask array is not known:"
            " give rtol as it is, or name a method"
        )
    if isinstance(breaks, da.Array):
        raise TypeError("breaks must be an array of NumPy here, got a dask array")
    if breaks is not None and np.ndim(breaks) > 1:
        raise ValueError(
            "breaks must have one axis here, and are the same for all trajectories: got the shape"
            f" {np.shape(breaks)}"
        )
    over_batch = "x0", "v0", "t_end", "t0", "rtol", "atol", "first_step", "max_step"
    call = _Call(AdaptiveSolution, given, over_batch)
    problem, options, control = call.made(call.sample())
    call.refuse_whole(options)
    if np.ndim(rtol) == 0:  # raised to what the dtype allows, with one warning
        call.arrays["rtol"] = control.rtol
    run = AdaptiveRun(problem, options, control)
    sample = AdaptiveSolution(
        problem, options, control, run.outcome(), control.save, None, run.observation
    )
    runs, results = call.lazily(sample, len(sample))
    t = results["_reached"][np.newaxis] if times is None else control.times
    return DaskSolution(call, t, np.arange(len(sample)), results, sample, runs)


_PARTS = ("t", "y", "values", "count", "overflow", "unresolved")


def _results_of(solution):
    """All arrays of a solution over its batch by name, y first; those of ours begin with _."""
    batch = solution.status.shape
    named = ("y", "status", "failed_step", *solution._of_each, "stopped_at", "stopped_by")
    results = {name: getattr(solution, name) for name in named}
    for name, value in solution.watched.items():
        if not name.endswith(".edges"):  # the same for all
            results[f"watched.{name}"] = value
    for name, one in solution.events.items():
        results |= {f"events.{name}.{part}": getattr(one, part) for part in _PARTS}
    for name, a in solution._of_lanes().items():
        results[name] = a.reshape((*batch, *a.shape[1:]))
    return results | {"_last": outward(solution._last_rows, batch)}


def _run_chunk(*arrays, call, names):
    """One chunk: all arrays of its solution, and its statistics across the batch."""
    if call.version != VERSION:
        raise RuntimeError(
            f"the run is of pyintegrate {call.version}, and a worker has {VERSION}: install one"
        )
    # Axes of length 1 in every input of this chunk have length 1 in the result too.
    made = call.made(dict(zip(names, arrays)))
    solution = call.kind.of_run(*made)  # where a watched NaN may begin it
    return *_results_of(solution).values(), solution.across


VERSION = _core.info()["version"]
_MAY_LACK = "x0", "v0", "first_step", "max_step", "by."


class _Call:
    """The arguments of a run: `arrays` over the batch by name, and the `fixed` ones.

    Parameters
    ----------
    kind : type
        Of the solution: FixedSolution or AdaptiveSolution.
    given : dict
        All arguments, with `params` of the system.
    over_batch : tuple of str
        The names of those that each trajectory may have of its own.
    """

    of_whole: Mapping[str, Any] = {}  # as they were given, of those that each chunk has parts of

    def __init__(self, kind, given, over_batch):
        given["dtype"] = checked_dtype(given["dtype"], given["x0"], given["v0"])
        self.version = VERSION
        self.kind, self.system = kind, checked_system(given.pop("system"))
        self.arrays = {name: given.pop(name) for name in over_batch}
        params = given.pop("params")
        if not (params is None or isinstance(params, abc.Mapping)):
            raise TypeError(f"params must map names to values, got {params!r:.80}")
        params = params or {}
        self.arrays |= {f"params.{name}": value for name, value in params.items()}
        if isinstance(given.get("drive"), abc.Mapping):  # the axis of steps goes behind the batch
            self.arrays |= {
                f"drive.{name}": np.moveaxis(np.atleast_1d(value), 0, -1)
                for name, value in given.pop("drive").items()
            }
        self.fixed = given | {"on_failure": "ignore"}
        if given["across"] is not None:
            self.fixed["across"] = checked_across(given["across"], self.system)
            self.arrays |= {f"by.{name}": one.by for name, one in self.fixed["across"].items()}
        self.arrays = {
            name: value if dask.is_dask_collection(value) else numbers(name.split(".")[-1], value)
            for name, value in self.arrays.items()
            if not (value is None and name.startswith(_MAY_LACK))
        }
        shapes, dim = self.system.shapes, self.system.dim
        halves = "v0" in self.arrays
        self.inner = dict.fromkeys([*self.arrays, "first_trajectory"], 0)  # axes after the batch
        for name, value in self.arrays.items():
            if name in ("x0", "v0"):  # one number v0 serves all components
                self.inner[name] = min(
                    int(not (halves and dim == 2)), np.ndim(value) + (name == "x0")
                )
            elif name in ("rtol", "atol"):
                self.inner[name] = int(np.shape(value)[-1:] == (dim,))
            elif name.startswith(("params.", "drive.")):
                kind, _, own = name.partition(".")
                self.inner[name] = len(shapes.get(own, ())) + (kind == "drive")

    def batches(self):
        """Names and shapes over the batch."""
        return {name: np.shape(a)[: max(np.ndim(a) - self.inner[name], 0)]
                for name, a in self.arrays.items()}  # fmt: skip

    def sample(self):
        """The arrays with one harmless element in place of those of dask, to check the rest."""
        found = {}
        for name, value in self.arrays.items():
            if isinstance(value, da.Array):
                if value.dtype.kind not in "iuf":
                    raise TypeError(f"{name} must hold real numbers, got {value.dtype}")
                if any(np.isnan(n) for n in value.shape):
                    raise ValueError(
                        f"{name} has chunks of unknown size: call compute_chunk_sizes()"
                    )
                shape = value.shape[max(value.ndim - self.inner[name], 0) :]
                value = np.ones(shape, value.dtype)
                if name in ("x0", "v0"):  # no two components alike: bodies must not coincide
                    value = value.cumsum(dtype=value.dtype).reshape(shape)
                elif name.startswith("params.") and len(shape) == 2:  # an inertia is not singular
                    value = np.eye(*shape, dtype=value.dtype)
            found[name] = value
        broadcast_shape(self.batches())
        return found

    def refuse_whole(self, options):
        """ValueError for what each chunk would take as a whole: it belongs to the batch."""
        plans = [plan for plan in (options.watch, options.events) if plan is not None]
        shapes = {name: shape for name, shape in self.system.batch_shapes.items()
                  if f"params.{name}" not in self.arrays}  # fmt: skip
        for name, shape in [*shapes.items(), *(one for p in plans for one in p.shapes.items())]:
            if shape and not name.startswith("by of "):  # those are cut
                raise ValueError(
                    f"{name} has batch shape {shape}, and each chunk would take all of it: give"
                    + (f" params={{{name!r}: ...}}" if name in shapes else " a number")
                )
        groups = [] if options.watch is None else options.watch.groups
        if any(g.densities or any(not one["each"] for one in g.samples) for g in groups):
            raise ValueError(
                "a density belongs to the whole batch, and the chunks of dask are independent:"
                " integrate them one by one, and add up their images"
            )

    def made(self, arrays):
        """The checked arguments, of which a Solution is made."""
        arrays, fixed = dict(arrays), dict(self.fixed)
        params, driven, groups = (
            {name[len(kind) :]: arrays.pop(name) for name in [*arrays] if name.startswith(kind)}
            for kind in ("params.", "drive.", "by.")
        )
        if driven:
            fixed["drive"] = {name: np.moveaxis(value, -1, 0) for name, value in driven.items()}
        system = self.system(**params) if params else self.system
        if fixed["across"] is not None:
            fixed["across"] = {
                name: one.grouped(groups.get(name)) for name, one in fixed["across"].items()
            }
        x0, v0 = arrays.pop("x0", None), arrays.pop("v0", None)
        if self.kind is AdaptiveSolution:
            for name in ("rtol", "atol"):  # a chunk may have as many trajectories as components
                value = arrays[name]
                if not self.inner[name] and np.shape(value)[-1:] == (system.dim,):
                    arrays[name] = np.repeat(value[..., np.newaxis], system.dim, axis=-1)
            defaults = {"first_step": None, "max_step": None}
            return make_adaptive_run(system, x0, v0, defaults | fixed | arrays)
        return make_run(system, x0, v0, **arrays, **fixed)

    def lazily(self, sample, count):
        """The chunks, and each of their results by name, dask arrays."""
        rank = max(map(len, self.batches().values()))
        batch = tuple(f"batch {i:02}" for i in range(rank))
        pairs = []
        for name, value in self.arrays.items():
            array, inner = da.asarray(value), self.inner[name]
            own = array.ndim - inner
            array = array.rechunk(dict.fromkeys(range(own, array.ndim), -1))
            pairs += [array, (*batch[rank - own :], *(f"{name} {i}" for i in range(inner)))]
        token = dask.base.tokenize(self.kind, self.system, pairs, self.fixed)
        alone = copy(self)
        alone.arrays = {}  # which the chunks bring along
        runs = da.blockwise(
            _run_chunk, batch, *pairs, concatenate=True, dtype=object, meta=np.empty((0,) * rank),
            name=f"pyintegrate-{token}", call=alone, names=[*self.arrays],
        )  # fmt: skip
        results = {}
        for number, (name, like) in enumerate(_results_of(sample).items()):
            new = {f"{name} {i}": n for i, n in enumerate(like.shape[sample.status.ndim :])}
            out = (*batch, *new)
            if name == "y":
                new = {"saved": count, "component": len(sample.components)}
                out = ("saved", *batch, "component")
            results[name] = da.blockwise(
                itemgetter(number), out, runs, batch, new_axes=new, dtype=like.dtype,
                meta=np.empty((0,) * len(out), like.dtype),
            )  # fmt: skip
        return runs, results


def _refuse_lazy(given, names, cure, times):
    """TypeError if one of these arguments is a dask array, or times has several axes."""
    what = "t_end" if times is None else "times"
    if np.ndim(times) > 1 or any(isinstance(given[name], da.Array) for name in names):
        raise TypeError(f"{what} needs {' and '.join(names)} that are no dask arrays"
                        f"{'' if times is None else ', and takes one axis'}: {cure}")  # fmt: skip


def _times(dt, t0, steps, like):
    """t0 + n dt, lazily if dt or t0 is a dask array."""
    lazy = isinstance(dt, da.Array) or isinstance(t0, da.Array)
    if not lazy and np.ndim(dt) == np.ndim(t0) == 0:
        return times(float(t0), float(dt), steps)
    step = column(steps, like.shape)
    t = time_of(da.asarray(t0, dtype=float), da.asarray(dt, dtype=float), step)
    return da.broadcast_to(t, (len(steps), *like.shape)).rechunk((-1, *like.chunks))
