"""Where the states of a run go: memory, or the caller's array; all components or some.

The core writes directly into any array whose batch axes merge into one. For others, and for zarr,
the run is cut in time into parts whose record fits the caches. Each part is copied to its place,
and the next one continues from its end, which changes no bit.
"""

import errno
import os
import sys
from itertools import pairwise
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..values.memory import outward, pad
from ..values.types import Any
from .core import Outcome, Run
from .failures import none

PART_BYTES = 8 << 20  # of record, computed at once and then copied


def begin(problem, options, failures=None, kept=None):
    """The object that integrates a Problem; kept: what the run that it continues has kept.

    Returns
    -------
    object
        ``go()`` makes all steps. ``outcome()`` gives the Outcome; after an interrupt of `go`,
        that of the steps that every trajectory has completed.
    """
    memory = record = None
    if options.watch is not None:
        from ..watching.run_memory import RunMemory

        memory = RunMemory(problem, options, kept)
    if options.out is not None and not options.saves(problem.n_steps).final_only:
        record = _as_rows(options.out)
        if record is None:
            return _InParts(problem, options, failures, memory)
    return Run(problem, options, failures, record, memory)


# ---- the caller's array --------------------------------------------------------------------------


def check_out(problem, options, inputs):
    """Refuse an array that the states cannot go to.

    Parameters
    ----------
    problem : Problem
    options : Options
    inputs : dict
        Name to argument, none of which may lie in the memory of ``out``.
    """
    out = options.out
    if out is None:
        return
    zarr = sys.modules.get("zarr")
    if not isinstance(out, np.ndarray) and not (zarr and isinstance(out, zarr.Array)):
        raise TypeError(
            f"out must be a NumPy array, a memmap or a zarr array, got {type(out).__name__};"
            " np.lib.format.open_memmap(path, 'w+', shape=(n_saved, *batch, dim)) makes a file"
        )
    components = len(options.saved_names(problem.system))
    expected = (options.saves(problem.n_steps).count, *problem.batch, components)
    if tuple(out.shape) != expected:
        raise ValueError(
            f"out has shape {tuple(out.shape)}, expected (n_saved, *batch, components) = {expected}"
        )
    if options.times is not None and _as_rows(out) is None:
        raise ValueError(
            "times= needs an out in memory whose axes of the batch merge into one, as those of"
            " np.empty do"
        )
    if out.dtype != problem.dtype:
        raise ValueError(
            f"out has dtype {out.dtype}, and the run {problem.dtype}: pass an out of that"
            " dtype, or another dtype="
        )
    if not (out.flags.writeable if isinstance(out, np.ndarray) else not out.read_only):
        raise ValueError("out is read-only")
    if not isinstance(out, np.ndarray):
        return
    if _overlaps_itself(out):
        raise ValueError(
            f"out overlaps itself, or its axes do not nest (shape {out.shape}, strides"
            f" {out.strides}): pass an out whose states have their own memory"
        )
    for name, value in inputs.items():
        if isinstance(value, np.ndarray) and _overlap(out, value):
            raise ValueError(f"out overlaps {name}, which must not change: pass an out of its own")
    if isinstance(out, np.memmap) and out.filename and out.mode != "c" and hasattr(os, "statvfs"):
        _check_disk(out)


def _check_disk(out):
    """Refuse a file that the disk cannot hold: a write to its holes would kill the process."""
    file, disk = os.stat(out.filename), os.statvfs(out.filename)
    missing = min(out.nbytes, file.st_size - 512 * file.st_blocks)
    free = disk.f_bavail * disk.f_frsize
    if missing > free:
        raise OSError(
            errno.ENOSPC,
            f"out needs {missing / 1e9:.3g} GB of disk, and {free / 1e9:.3g} GB are free: save"
            " fewer steps (save=k) or components, or use dtype=np.float32",
            os.fspath(out.filename),
        )


def _overlaps_itself(array):
    """Whether items may share memory: those of nested axes do not."""
    end = array.itemsize  # of the span of the axes so far
    for stride, n in sorted((abs(s), n) for n, s in zip(array.shape, array.strides) if n > 1):
        if stride < end:
            return array.size > 0
        end += (n - 1) * stride
    return False


def _overlap(a, b):
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _as_rows(out):
    """The same memory as (n_saved, components, lanes); None if there is no such array."""
    if not isinstance(out, np.ndarray) or not out.flags.aligned:
        return None
    saved, *batch, components = out.shape
    axes = [axis for axis in zip(batch, out.strides[1:-1]) if axis[0] != 1]
    merge = all(a[1] == b[0] * b[1] for a, b in pairwise(axes))
    lane = axes[-1][1] if axes else out.itemsize
    strides = (out.strides[0], out.strides[-1], lane)
    if not merge or any(stride % out.itemsize for stride in strides):
        return None
    return as_strided(out, (saved, components, prod(batch)), strides)


# ---- part by part -------------------------------------------------------------------------------


class _InParts:
    """A run in parts, each copied to its place."""

    def __init__(self, problem, options, failures, memory):
        self._problem, self._options, self._memory = problem, options, memory
        self._saves = options.saves(problem.n_steps)
        rows, failures = problem.initial[:, : problem.lanes], failures or none(problem.lanes)
        done = Outcome(completed=0, states=options.out, last=rows, failures=failures)
        # The saves that are written, the Outcome until there, and the current part are assigned
        # together, because an interrupt may come between two assignments.
        self._state: tuple[int, Outcome, Any] = 0, done, None

    def go(self):
        from .progress import Reporter

        problem, options, saves = self._problem, self._options, self._saves
        with Reporter(options.progress, problem.n_steps) as report:
            saved, done, _ = self._state
            while saved < saves.count:
                end = _end_of_part(options.out, saved, saves.count, problem)
                stop = problem.n_steps if end == saves.count else int(saves.steps[end - 1])
                part = _part(problem, done, stop - done.completed)
                here = options.changed(
                    progress=False if report is None else _shifted(report, done.completed),
                    out=None,
                    components=options.saved_names(problem.system),  # keeps the last state, too
                    steps=_steps_of_part(saves, saved, done.completed, end),
                )
                if saved and self._memory is not None:
                    self._memory = self._memory.going_on(part, done.kept)
                run = Run(part, here, done.failures, None, self._memory)
                self._state = saved, done, run
                run.go()
                saved, done = self._written()
                self._state = saved, done, None

    def _written(self):
        """The saves that all trajectories have completed, after the part is copied, and the
        Outcome until there."""
        saved, done, run = self._state
        part, skip = run.outcome(), int(saved > 0)  # the first belongs to the part before
        y, out = part.states[skip : run.saves.until(part.completed)], self._options.out
        out[saved : saved + len(y)] = np.ascontiguousarray(y)
        return saved + len(y), Outcome(
            done.completed + part.completed, out, part.last, part.failures, part.kept
        )

    def outcome(self):
        problem, out = self._problem, self._options.out
        saved, done, run = self._state
        if run is not None:  # interrupted
            saved, done = self._written()
        if saved == 0 and self._saves.steps[0] == 0:
            places = list(self._options.places(problem.system))
            out[0] = outward(problem.initial[places, : problem.lanes], problem.batch)
        return done


def _part(problem, done, n_steps):
    """Some steps of a Problem, beginning after those done."""
    rows = problem.rows_params
    if problem.driven:  # driven parameters have a row, or an item, for each step
        rows = tuple(
            _from_step(row, done.completed, n_steps, problem.stride) if stride else row
            for row, stride in zip(rows, problem.drive_strides)
        )
    return problem.changed(
        initial=pad(done.last, (problem.lanes,), problem.dtype),
        first=problem.first + done.completed, n_steps=n_steps, rows_params=rows,
    )  # fmt: skip


def _from_step(row, steps, n_steps, stride):
    if row.ndim == 2:
        return row[steps : steps + n_steps]
    out = np.zeros(max(n_steps, stride), row.dtype)  # the core needs a full row
    out[:n_steps] = row[steps : steps + n_steps]
    return out


def _steps_of_part(saves, saved, completed, end):
    """The saves of a part, if a user gave them. It begins at the last save of the part before."""
    if saves.given is None:
        return None
    steps = saves.given[saved:end] - completed
    return np.append(0, steps) if saved else steps


def _shifted(report, steps):
    return lambda done, total: report(steps + done)


def _end_of_part(out, a, saves, problem):
    """The end of the part that begins with save a, itself not in it: whole chunks of zarr."""
    size = problem.system.dim * max(problem.lanes, 1) * problem.dtype.itemsize
    b = a + max(1, PART_BYTES // size)
    if a == 0:
        b = max(b, 2)  # the first state takes no work
    chunks = getattr(out, "chunks", None)
    if chunks and prod(out.shape):
        b = max(b // chunks[0], a // chunks[0] + 1) * chunks[0]
    return min(b, saves)
