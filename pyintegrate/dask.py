"""Batches of ``dask.array``: lazily, chunk by chunk, on threads, processes or a cluster.

A trajectory's bits do not depend on its neighbours, so they do not depend on the chunks either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

try:
    import dask
    import dask.array as da
except ImportError as missing:
    raise ImportError(
        "pyintegrate.dask needs dask.array, which is not installed: pip install pyintegrate[dask]"
    ) from missing

from .method.catalogue import RK4
from .run import output
from .run.arguments import checked_dtype, checked_system, make_run
from .run.random_numbers import numbered
from .run.times import time_of, times
from .solution.fixed_steps import FixedSolution
from .values.checks import integer
from .watching.event_log import EventLog, Events
from .watching.watched import Watched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Any, Literal

    from .method.method import Method
    from .system.system import System
    from .values.types import ArrayLike, DTypeLike, Integers
    from .watching.events import Event

__all__ = ["DaskSolution", "integrate"]


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

    Examples
    --------
    >>> import dask.array as da, pyintegrate as pi
    >>> x0 = da.linspace(0, 1, 1000, chunks=100)
    >>> sol = pi.dask.integrate(pi.systems.pendulum, x0, 0.0, dt=0.01, n_steps=10, save="final")
    >>> sol["theta"].compute().shape
    (1, 1000)
    """

    _of_each: tuple = ()  # the names of parameters that were given beside the system

    def __init__(self, system, components, t, steps, results, watched, events, runs):
        self.system, self.components = system, components
        self.t, self.steps = t, steps
        self.y, self.status, self.failed_step = (results[name] for name in _ALWAYS)
        self.watched, self.events = watched, events
        self.stopped_at, self.stopped_by = results["stopped_at"], results["stopped_by"]
        self._results = results
        self._runs = runs  # for each chunk the tuple of all its arrays

    def __getitem__(self, name: str) -> Any:
        if name not in self.components:
            raise KeyError(f"there are the components {', '.join(self.components)}, not {name!r}")
        return self.y[..., self.components.index(name)]

    @property
    def final(self) -> Any:
        """The last saved states, dask.array of shape (*batch, n_components)."""
        return self.y[-1]

    def to_zarr(self, path: str | PathLike[str], compute: bool = True) -> Any:
        """Write ``y``, ``t``, ``steps``, ``status`` and ``failed_step`` into a zarr group.

        So are the results of watches and events ("watched.swing", "events.ground.t") and
        ``stopped_at``. Each chunk is integrated once and written by itself, so that the whole never
        has to fit in memory.

        Parameters
        ----------
        path : str
            The folder of the group, which must not exist yet or be empty.
        compute : bool
            False gives a ``dask.delayed`` that writes when computed.
        """
        import zarr

        chunks = tuple(max(1, *c[:1]) for c in self.status.chunks)
        if any(
            {*c[:-1]} - {n} or c[-1] > n for c, n in zip(self.status.chunks, chunks, strict=True)
        ):
            raise ValueError(
                f"chunks {self.status.chunks} differ in size, and those of a zarr array cannot:"
                " rechunk the inputs"
            )
        group = zarr.open_group(store=path, mode="w-", zarr_format=3)
        group.attrs.update(system=repr(self.system), components=list(self.components))
        group.create_array("steps", data=self.steps)
        results, n = self._results, len(chunks)
        targets: list[Any] = []
        for name, like in results.items():
            if like.dtype.kind == "U":  # stopped_by: not a type of the standard
                targets.append(None)
                continue
            lead = name == "y"
            rest = [max(1, length) for length in like.shape]
            pieces = (*rest[:lead], *chunks, *rest[lead + n :])
            targets.append(
                group.create_array(name, shape=like.shape, dtype=like.dtype, chunks=pieces)
            )
        blocks = self._runs.to_delayed()
        written = [
            dask.delayed(_write)(blocks[place], _where(place, chunks), targets)
            for place in np.ndindex(blocks.shape)
        ]
        if isinstance(self.t, da.Array):
            pieces = (self.t.shape[0], *chunks)
            t = group.create_array("t", shape=self.t.shape, dtype=self.t.dtype, chunks=pieces)
            written.append(self.t.rechunk(pieces).store(t, lock=False, compute=False))
        else:
            group.create_array("t", data=self.t)
        later = dask.delayed(_nothing)(*written)
        return later.compute() if compute else later

    def __repr__(self):
        own = "".join(f", {name} of each" for name in self._of_each)
        y = f"y {self.y.shape}, chunks {self.y.chunks}"
        return f"<DaskSolution of {self.system!r}{own}: {y}>"


def _where(place, chunks):
    """The place of a chunk in the batch."""
    return tuple(slice(i * n, (i + 1) * n) for i, n in zip(place, chunks, strict=True))


def _write(run, where, targets):
    """Write one chunk to its place in the zarr arrays, the first of which is y."""
    for i, (target, part) in enumerate(zip(targets, run, strict=True)):
        if target is not None:
            target[where if i else (slice(None), *where)] = part


def _nothing(*written):
    """The result of writing."""


def integrate(
    system: System,
    x0: Any = None,
    v0: Any = None,
    *,
    dt: Any,
    t_end: Any = None,
    n_steps: int | None = None,
    t0: Any = 0.0,
    params: Mapping[str, Any] | None = None,
    method: str | Method = RK4,
    save: Literal["all", "final"] | int | Sequence[int] | Integers = "all",
    times: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    workers: int = 1,
    bound: float | None = None,
    compensated: bool = False,
    components: Sequence[str] | None = None,
    watch: Any = None,
    events: Mapping[str, Event] | None = None,
    seed: int | None = None,
    first_trajectory: Any = 0,
    substeps: int = 1,
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
    times : array_like, optional
        Instead of `save`: a one-dimensional array, the same for all trajectories.
    watch, events
        As in ``pyintegrate.integrate``, with numbers as `after` and as `params` of events; results
        are dask arrays.
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
    checked_system(system)
    params = dict(params or {})
    given = {"x0": x0, "v0": v0, "dt": dt, "t0": t0}
    given |= {f"params.{k}": v for k, v in params.items()}
    inner = _inner_axes(system, given)
    if system.noise is not None or np.ndim(first_trajectory):
        shapes = [np.shape(v)[: np.ndim(v) - inner[k]] for k, v in given.items() if v is not None]
        given["first_trajectory"] = numbered(first_trajectory, shapes, da.arange)
        inner["first_trajectory"] = 0
    sample, t_end = _sample(system, given, inner, t_end)
    options: dict[str, Any] = {"method": method, "save": save, "workers": workers, "bound": bound}
    options |= {
        "on_failure": "ignore", "components": components, "compensated": compensated,
        "dtype": checked_dtype(dtype, x0, v0), "watch": watch, "events": events,
        "noise": {"seed": seed, "substeps": substeps},
    }  # fmt: skip
    if times is not None:
        options["times"] = times
        if np.ndim(times) > 1 or isinstance(dt, da.Array) or isinstance(t0, da.Array):
            raise TypeError("times takes one axis here, and dt and t0 that are no dask arrays")
    problem, checked = _check(system, sample, t_end, n_steps, options)
    if checked.watch is not None and any(group.densities for group in checked.watch.groups):
        raise ValueError(
            "a density belongs to the whole batch, and the chunks of dask are independent:"
            " integrate them one by one, and add up their images"
        )
    n_steps = problem.n_steps
    present, arrays, axes = [], [], []
    rank = max(np.ndim(v) - inner[k] for k, v in given.items() if v is not None)
    batch_axes = tuple(f"batch {i:02}" for i in range(rank))
    for name, value in given.items():
        if value is None:
            continue
        present.append(name)
        array = da.asarray(value)
        batch = array.ndim - inner[name]
        array = array.rechunk(dict.fromkeys(range(batch, array.ndim), -1))
        arrays.append(array)
        axes.append((*batch_axes[rank - batch :], *(f"{name} {i}" for i in range(inner[name]))))
    pairs = [item for pair in zip(arrays, axes, strict=True) for item in pair]
    runs = da.blockwise(
        _run_chunk, batch_axes, *pairs, concatenate=True, dtype=object, meta=np.empty((0,) * rank),
        name=f"pyintegrate-{dask.base.tokenize(system, arrays, n_steps, options)}",
        system=system, names=present, n_steps=n_steps, options=options,
    )  # fmt: skip
    steps = checked.saves(problem.n_steps).steps
    components = checked.saved_names(system)
    none = output.begin(problem.changed(n_steps=0), checked).outcome()
    sample = FixedSolution(problem.changed(n_steps=0), checked, none)
    results, rank = {}, len(problem.batch)
    for number, (name, like) in enumerate(_results_of(sample).items()):
        new = {f"{name} {i}": n for i, n in enumerate(like.shape[rank:])}
        out = (*batch_axes, *new)
        if name == "y":
            new = {"saved": len(steps), "component": len(components)}
            out = ("saved", *batch_axes, "component")
        results[name] = da.blockwise(
            pick, out, runs, batch_axes, number=number, new_axes=new, dtype=like.dtype,
            meta=np.empty((0,) * len(out), like.dtype),
        )  # fmt: skip
    t = _times(dt, t0, steps, results["status"]) if times is None else checked.times
    watched = Watched({k: results.get(f"watched.{k}", v) for k, v in sample.watched.items()})
    logs = {}
    for name in sample.events:
        parts = [results[f"events.{name}.{part}"] for part in _PARTS]
        logs[name] = EventLog(system.state_names, *parts)
    told = Events(logs)
    found = DaskSolution(system, components, t, steps, results, watched, told, runs)
    found._of_each = tuple(params)
    return found


_ALWAYS = ("y", "status", "failed_step")
_PARTS = ("t", "y", "values", "count", "overflow", "unresolved")


def _results_of(solution):
    """All arrays of a solution over its batch by name, y first."""
    results = {name: getattr(solution, name) for name in _ALWAYS}
    for name, value in solution.watched.items():
        if not name.endswith(".edges"):  # the same for all
            results[f"watched.{name}"] = value
    for name, one in solution.events.items():
        results |= {f"events.{name}.{part}": getattr(one, part) for part in _PARTS}
    return results | {"stopped_at": solution.stopped_at, "stopped_by": solution.stopped_by}


def pick(runs, number):
    """One array of the results of a chunk."""
    return runs[number]


def _run_chunk(*arrays, system, names, n_steps, options):
    """One chunk: its states, status and failed steps."""
    values = {"x0": None, "v0": None} | dict(zip(names, arrays, strict=True))
    sol = _integrate(system, values, n_steps, options)
    # Axes of length 1 in every input of this chunk have length 1 in the result too.
    return tuple(_results_of(sol).values())


def _integrate(system, values, n_steps, options):
    """As ``integrate``, but of a part of the batch, all of which may begin with a watched NaN."""
    return FixedSolution.of_run(*_check(system, values, None, n_steps, options))


def _inner_axes(system, given):
    """Name of each array to the number of its last axes that are not batch axes."""
    shapes = system.shapes
    halves = given["v0"] is not None
    inner = {"dt": 0, "t0": 0}
    inner["x0"] = inner["v0"] = int(not (halves and system.dim == 2))
    inner["v0"] = min(inner["v0"], np.ndim(given["v0"]))  # one number serves all components
    for name in given:
        if name.startswith("params."):
            inner[name] = len(shapes.get(name.removeprefix("params."), ()))
    return inner


def _sample(system, given, inner, t_end):
    """The same arguments with dask arrays replaced by one harmless element, to check the rest."""
    sample = {}
    for name, value in given.items():
        if isinstance(value, da.Array):
            if value.dtype.kind not in "iuf":
                raise TypeError(f"{name} must hold real numbers, got {value.dtype}")
            if any(np.isnan(n) for n in value.shape):
                raise ValueError(f"{name} has chunks of unknown size: call compute_chunk_sizes()")
            value = np.ones(value.shape[max(value.ndim - inner[name], 0) :], value.dtype)
            if name in ("x0", "v0"):  # no two components alike: bodies must not coincide
                value = value.cumsum(dtype=value.dtype).reshape(value.shape)
        sample[name] = value
    if t_end is not None and isinstance(t_end, da.Array):
        raise TypeError("t_end must be a number, got a dask.array: give n_steps")
    if t_end is not None and any(isinstance(given[k], da.Array) for k in ("dt", "t0")):
        raise TypeError("t_end needs dt and t0 that are no dask arrays: give n_steps")
    shapes = [np.shape(v)[: max(np.ndim(v) - inner[k], 0)] for k, v in given.items()
              if v is not None]  # fmt: skip
    np.broadcast_shapes(*shapes)
    return sample, t_end


def _check(system, sample, t_end, n_steps, options):
    """Every check of ``integrate``, on a sample."""
    params = {k.removeprefix("params."): v for k, v in sample.items() if k.startswith("params.")}
    if n_steps is not None:
        n_steps = integer("n_steps", n_steps, 0)
    carried_out = dict(options)
    method, dtype, noise = (carried_out.pop(name) for name in ("method", "dtype", "noise"))
    if "first_trajectory" in sample:
        noise = noise | {"first_trajectory": sample["first_trajectory"]}
    return make_run(
        system(**params) if params else system, sample["x0"], sample["v0"], dt=sample["dt"],
        t_end=t_end, n_steps=n_steps, t0=sample["t0"], method=method, dtype=dtype,
        noise=noise, options=carried_out,
    )  # fmt: skip


def _times(dt, t0, steps, like):
    """t0 + n dt, lazily if dt or t0 is a dask array."""
    lazy = isinstance(dt, da.Array) or isinstance(t0, da.Array)
    if not lazy and np.ndim(dt) == np.ndim(t0) == 0:
        return times(float(t0), float(dt), steps)
    column = np.reshape(steps, (-1, *(1,) * like.ndim))
    t = time_of(da.asarray(t0, dtype=float), da.asarray(dt, dtype=float), column)
    return da.broadcast_to(t, (len(steps), *like.shape)).rechunk((-1, *like.chunks))
