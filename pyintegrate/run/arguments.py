"""Every check and every broadcast of a run, once; out comes a Problem of plain arrays."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from math import isfinite, prod

import numpy as np

from .. import _core
from ..method.catalogue import find_method
from ..method.method import Method
from ..system.system import System
from ..values.checks import integer, numbers, places_of, whole_steps
from ..values.memory import check_memory, pad, padded, spread
from .drive import check_drive, driven_rows
from .starter import check_start
from .structure import check_structure

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Problem:
    """What a run needs, checked and broadcast.

    Rows (``rows_*``) are floats where one value serves all trajectories, else arrays in the run's
    dtype with an item for each, padded like the state rows.
    """

    system: System
    method: Method
    dtype: np.dtype
    batch: tuple[int, ...]
    lanes: int  # trajectories
    stride: int  # items of a row: the trajectories, and padding to whole cache lines
    dt: float | np.ndarray
    t0: float | np.ndarray
    rows_dt: float | np.ndarray
    rows_t0: float | np.ndarray
    rows_params: tuple[float | np.ndarray, ...]
    undriven: tuple[float | np.ndarray, ...]  # the same where no parameter changes with the step
    initial: np.ndarray  # (dim + what the method remembers, stride)
    starter: Method | None  # of a multistep method, if not the usual one
    begun: bool  # is the past in `initial` already?
    advances: tuple[int, ...] | None  # of driven parameters: items to the row of the next step
    first: int  # the number of the step that `initial` is at
    n_steps: int
    save: int | str
    bound: float
    workers: int
    progress: Callable[[int, int], object] | bool
    on_failure: str
    out: object  # where the states go; None: memory
    components: tuple[int, ...] | None  # those that are saved; None: all

    def __init__(self, **fields):
        self.__dict__.update(fields)

    @property
    def save_every(self):
        if self.save == "final":
            return max(self.n_steps, 1)
        return 1 if self.save == "all" else min(self.save, max(self.n_steps, 1))

    @property
    def entries(self):
        """How many states are saved."""
        return 1 if self.save == "final" else 1 - -self.n_steps // self.save_every

    @property
    def kept(self):
        """The numbers of the components that are saved."""
        return tuple(range(self.system.dim)) if self.components is None else self.components

    @property
    def saved_steps(self):
        """Step numbers of the entries, counted from ``first``."""
        if self.save == "final":
            return np.array([self.n_steps])
        steps = np.arange(0, self.n_steps + 1, self.save_every)
        return steps if steps[-1] == self.n_steps else np.append(steps, self.n_steps)

    def times(self, steps):
        """t0 + n dt, shape (len(steps),) or (len(steps), *batch)."""
        with np.errstate(over="ignore"):
            if isinstance(self.dt, float) and isinstance(self.t0, float):
                return self.t0 + steps * self.dt
            column = np.reshape(steps, (-1, *(1,) * len(self.batch)))
            return np.broadcast_to(self.t0 + column * self.dt, (len(steps), *self.batch))

    def continued(self, state, first, n_steps, drive=None, out=None):
        """The same run going on from a state, as ``initial``, at step `first`."""
        changed = {"initial": state, "first": first, "n_steps": n_steps, "out": out}
        kept = _kept(self.system, self.components, out)
        _check_size(n_steps, self.save, self.batch, len(state), kept, self.dtype)
        if drive is not None:
            arrays, shapes = check_drive(drive, self.system)
            if broadcast_shape({**shapes, "the solution": self.batch}) != self.batch:
                raise ValueError(f"drive does not fit the batch {self.batch}: {shapes}")
            changed["rows_params"], changed["advances"] = driven_rows(
                arrays, self.system, self.undriven, n_steps, self.batch, self.dtype
            )
        elif self.advances is not None and n_steps:
            raise ValueError("the run was driven: resume needs `drive` for the further steps")
        return Problem(**{**self.__dict__, **changed})


def make_problem(
    system, x0, v0, dt, t_end, n_steps, t0, method, save, dtype, workers, progress, on_failure,
    bound, start, drive=None, out=None, components=None,
):  # fmt: skip
    """Check the arguments of ``integrate`` and lay them out."""
    if not isinstance(system, System):
        cure = f"; use pi.systems[{system!r}]" if isinstance(system, str) else ""
        raise TypeError(f"system must be a System, got {type(system).__name__}{cure}")
    method = find_method(method)
    check_structure(method, system)
    save, workers = _save(save), _workers(workers)
    on_failure, progress = _on_failure(on_failure), _progress(progress)
    dtype = _dtype(dtype, x0, v0)
    bound = _bound(bound, dtype)
    places = places_of(components, system)
    components, state_shapes = _state(system, x0, v0)
    starter, past = check_start(start, method, system)
    remembered = _core.history_rows(system.core_for(method), method.handle)
    components = system.ready(components, dtype)
    dt, t0 = _times("dt", dt), _times("t0", t0)
    _check_rounded("dt", dt, dtype)
    _check_rounded("t0", t0, dtype)
    shapes = {**state_shapes, **system.batch_shapes}
    driven, driven_shapes = check_drive(drive, system)
    shapes |= driven_shapes
    if past:
        shapes["start"] = past[0].shape
    shapes |= {"dt": _shape(dt), "t0": _shape(t0)}
    if t_end is not None:
        t_end = _times("t_end", t_end)
        _check_rounded("t_end", t_end, np.dtype(np.float64))
        shapes["t_end"] = _shape(t_end)
    batch = broadcast_shape(shapes)
    n_steps = _n_steps(dt, t0, t_end, n_steps)

    lanes = prod(batch)
    stride = padded(lanes, dtype)
    kept = _kept(system, places, out)
    _check_size(n_steps, save, batch, system.dim + remembered, kept, dtype)

    rows = [*components, *(past or [0.0] * remembered)]

    def row(value):
        if type(value) is float:
            return value
        if value.ndim == 0:
            return float(value)
        whole = value.shape == batch and lanes == stride and value.dtype == dtype
        if whole and value.flags.c_contiguous:  # read-only, and laid out as the core wants it
            return value.reshape(-1)
        return pad([value], batch, dtype)[0]

    with _rounding(dtype, rows):
        params, advances = tuple(map(row, system.parameter_rows)), None
        undriven = params
        if driven:
            params, advances = driven_rows(driven, system, params, n_steps, batch, dtype)
        return Problem(
            system=system, method=method, dtype=dtype, batch=batch, lanes=lanes, stride=stride,
            dt=dt, t0=t0, rows_dt=row(dt), rows_t0=row(t0),
            rows_params=params, advances=advances, undriven=undriven,
            initial=spread(rows, batch, dtype), first=0, n_steps=n_steps, save=save, bound=bound,
            workers=workers, progress=progress, on_failure=on_failure, starter=starter,
            begun=bool(past), out=out, components=places,
        )  # fmt: skip


def _kept(system, components, out):
    """How many components the record in memory has."""
    return 0 if out is not None else system.dim if components is None else len(components)


def _check_size(n_steps, save, batch, rows, recorded, dtype):
    """Refuse a record and two states of so many rows that the machine cannot hold."""
    entries = 1 if save == "final" else n_steps // (1 if save == "all" else save) + 2
    size = prod(batch) * (recorded * entries + rows * 2) * dtype.itemsize
    check_memory(size, entries, batch, recorded or rows)


def _rounding(dtype, rows):
    """Numbers may overflow or vanish in the run's dtype, without a warning."""
    if dtype == _DOUBLE and all(type(r) is float or r.itemsize <= 8 for r in rows):
        return nullcontext()
    return np.errstate(over="ignore", under="ignore", invalid="ignore")


# ---- single arguments ----------------------------------------------------------------------------


def broadcast_shape(shapes):
    """The broadcast of named shapes; the error names two that do not fit."""
    different = set(shapes.values())
    if len(different) < 2:
        return different.pop() if different else ()
    try:
        return np.broadcast_shapes(*different)
    except ValueError:
        pass
    names = list(shapes)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            if not _fits(shapes[a], shapes[b]):
                raise ValueError(
                    f"{a} has batch shape {shapes[a]} and {b} {shapes[b]}: they do not broadcast"
                )
    raise MemoryError(
        f"a batch of more than 2**63 trajectories ({shapes}): integrate it in parts that fit"
    )


def _fits(a, b):
    """Whether two shapes broadcast, whatever the size of the result."""
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _state(system, x0, v0):
    """Components of the state, each an array of batch shape, and the named batch shapes."""
    dim, dof, lead = system.dim, system.dof, system.positions
    if x0 is None:
        if v0 is not None:
            raise ValueError("v0 was given without x0: give both, or the whole state as x0")
        if system.initial is None:
            raise ValueError(f"x0 must be given: {system.name!r} here has no default state")
        return list(system.initial), {}
    x0 = numbers("x0", x0)
    if v0 is None:
        if x0.ndim == 0 or x0.shape[-1] != dim:
            names = ", ".join(system.state_names)
            raise ValueError(
                f"x0 has shape {x0.shape}: without v0 it is the whole state, whose last axis holds"
                f" the {dim} components ({names}) of {system.name!r}"
            )
        return [x0[..., d] for d in range(dim)], {"x0": x0.shape[:-1]}
    if dof == 0:
        raise ValueError(
            f"v0 was given, and {system.name!r} is first_order: give the whole state as x0"
        )
    v0 = numbers("v0", v0)
    if dof == 1:
        return [x0, v0], {"x0": x0.shape, "v0": v0.shape}
    for name, value, size in (("x0", x0, lead), ("v0", v0, dim - lead)):
        if value.ndim == 0 or value.shape[-1] != size:
            raise ValueError(
                f"{name} has shape {value.shape}: with x0 and v0 given, its last axis holds the"
                f" {size} {'positions' if name == 'x0' else 'velocities'} of {system.name!r}"
            )
    shapes = {"x0": x0.shape[:-1], "v0": v0.shape[:-1]}
    return [*np.moveaxis(x0, -1, 0), *np.moveaxis(v0, -1, 0)], shapes


def _times(name, value):
    """A float, or a read-only array of them."""
    if type(value) is float:
        return value
    array = numbers(name, value).astype(np.float64)
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array


def _shape(value):
    """Of a float or an array."""
    return () if type(value) is float else value.shape


def _check_rounded(name, value, dtype):
    """Times are finite in the run's dtype too, and dt is not zero."""
    if type(value) is float and dtype == _DOUBLE and isfinite(value) and (value or name != "dt"):
        return
    with np.errstate(over="ignore", under="ignore"):
        rounded = np.asarray(value, dtype)
    good = np.isfinite(rounded) & ((rounded != 0) | (name != "dt"))
    if not good.all():
        rule = "finite and non-zero" if name == "dt" else "finite"
        wrong = np.ravel(value)[~np.ravel(good)][0]
        raise ValueError(f"{name} must be {rule}, got {wrong} (in {dtype.name})")


def _n_steps(dt, t0, t_end, n_steps):
    if (t_end is None) == (n_steps is None):
        got = "neither" if t_end is None else "both"
        raise ValueError(f"give exactly one of t_end and n_steps, got {got}")
    return steps_between(dt, t0, t_end) if n_steps is None else whole_steps(n_steps)


def steps_to(t_end, dt, t0, batch):
    """The steps from t0 to an end time that must fit a batch which is there already."""
    t_end = _times("t_end", t_end)
    _check_rounded("t_end", t_end, np.dtype(np.float64))
    if broadcast_shape({"t_end": np.shape(t_end), "the solution": batch}) != batch:
        raise ValueError(f"t_end has shape {np.shape(t_end)}: it does not fit the batch {batch}")
    return steps_between(dt, t0, t_end)


def steps_between(dt, t0, t_end):
    """The whole number of steps from t0 to t_end, the same for every trajectory."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        ratio = np.ravel((np.asarray(t_end, dtype=np.float64) - t0) / dt)
    if np.any(abs(ratio) > 1 << 53) or not np.all(np.isfinite(ratio)):
        raise ValueError("(t_end - t0) / dt is more than 2**53 steps: t_end, t0 or dt is wrong")
    if not ratio.size:
        return 0
    n = np.rint(ratio)
    if n[0] < 0:
        raise ValueError(
            f"t_end = {np.ravel(t_end)[0]:g} is behind t0 = {np.ravel(t0)[0]:g}"
            f" for dt = {np.ravel(dt)[0]:g}"
        )
    if np.any(abs(ratio - n) > 1e-9 * np.maximum(1, n)):
        i = int(np.argmax(abs(ratio - n)))
        t, h, start = (float(np.ravel(a)[min(i, np.size(a) - 1)]) for a in (t_end, dt, t0))
        low = int(np.floor(ratio[i]))
        raise ValueError(
            f"t_end = {t:.12g} is {ratio[i]:.12g} steps of dt = {h:.12g} from t0 ="
            f" {start:.12g}, not a whole number; the nearest are"
            f" t_end = {start + low * h:.12g} ({low} steps) and"
            f" t_end = {start + (low + 1) * h:.12g} ({low + 1} steps)"
        )
    if np.any(n != n[0]):
        raise ValueError(
            f"every trajectory must take the same number of steps: t_end, t0 and dt give from"
            f" {n.min():.0f} to {n.max():.0f}"
        )
    return int(n[0])


def _save(save):
    if isinstance(save, str):
        if save not in ("all", "final"):
            raise ValueError(f"save must be 'all', 'final' or a number of steps, got {save!r}")
        return save
    return integer("save", save, 1)


def _dtype(dtype, x0, v0):
    if dtype is None:
        given = {getattr(a, "dtype", None) for a in (x0, v0) if a is not None}
        return _SINGLE if given == {_SINGLE} else _DOUBLE
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype must be float32 or float64, got {dtype!r}") from None
    if dtype not in (np.float32, np.float64) or not dtype.isnative:
        raise ValueError(f"dtype must be float32 or float64, got {dtype}")
    return dtype


def _workers(workers):
    workers = integer("workers", workers, -1)
    if workers == 0:
        raise ValueError("workers must be at least 1, or -1 for all cores, got 0")
    if workers > 0:
        return min(workers, 1024)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _bound(bound, dtype):
    if bound is None:
        return np.inf
    value = numbers("bound", bound)
    if value.ndim or not value > 0:
        raise ValueError(f"bound must be a positive number, got {bound!r}")
    with np.errstate(over="ignore", under="ignore"):
        return float(value.astype(dtype))


def _on_failure(on_failure):
    if not isinstance(on_failure, str) or on_failure not in ("warn", "raise", "ignore"):
        raise ValueError(f"on_failure must be 'warn', 'raise' or 'ignore', got {on_failure!r}")
    return on_failure


def _progress(progress):
    if not (isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress must be True, False or a callable, got {progress!r}")
    return progress
