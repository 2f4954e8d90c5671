"""Saving into an array of the caller's, and saving some components only.

The core writes into any array whose batch axes merge into one. Into others, and those of zarr, go
blocks: the run is cut in time into parts whose record fits the caches; each is copied to its place
and the next one goes on from its end, which changes no bit.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..integration import _report_failures, _reporter, run
from ..run.arguments import Problem
from ..values.memory import pad
from .solution import Solution

BLOCK_BYTES = 8 << 20  # of record, computed at once and then copied


class RecordedSolution(Solution):
    """A Solution whose states are in an array of the caller's, or hold some components only.

    Attributes
    ----------
    out : ndarray, memmap or zarr array, shape (n_saved, *batch, n_components)
        Where the states are. `y` is a view of it; of a zarr array, `y` reads all of it.
    components : tuple of str
        The names of what was saved, in the order of the last axis. `initial`, `final`, ``resume``
        have all components whatever was saved.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=100, components=["z"])
    >>> sol.y.shape, sol.final.shape
    ((101, 1), (3,))
    """

    def __init__(self, problem, completed, out, components, last, failed):
        self.out, self._names, self._last = out, tuple(components), last
        self._of_run(problem, completed, failed)

    components = property(lambda self: self._names)

    @property
    def y(self):
        return np.asarray(self.out[: len(self)])

    @property
    def _stored(self):
        return self.out

    @property
    def final(self):
        return self._outward(self._last[: self.system.dim])

    def _last_rows(self):
        return self._last[:, : self._problem.lanes]

    def _place(self, name):
        if name not in self._names:
            raise ValueError(
                f"{name} was not saved, only {', '.join(self._names)}: add it to components"
            )
        return self._names.index(name)

    def __getitem__(self, name):
        super()._check_name(name)
        return np.asarray(self.out[: len(self), ..., self._place(name)])

    def _half(self, which):
        dof, names = self.system.dof, self.system.state_names
        if not dof:
            return super()._half(which)
        places = [self._place(n) for n in names[which * dof : (which + 1) * dof]]
        return self.y[..., places[0]] if dof == 1 else self.y[..., places]

    def _need_all(self, question):
        if self._names != self.system.state_names:
            raise ValueError(
                f"{question} needs all components, and {', '.join(self._names)} were saved:"
                " integrate without components"
            )

    def energy(self):
        self._need_all("energy()")
        return super().energy()

    def at(self, t):
        self._need_all("at(t)")
        return super().at(t)

    def error(self):
        places = [self.system.state_names.index(name) for name in self._names]
        return self.y - self.exact()[..., places]


# ---- checks --------------------------------------------------------------------------------------


def check_out(problem, inputs):
    """Refuse an array that the states cannot go to.

    Parameters
    ----------
    problem : Problem
    inputs : dict
        Name to argument, none of which may lie in the memory of ``out``.
    """
    out = problem.out
    if out is None:
        return
    zarr = sys.modules.get("zarr")
    if not isinstance(out, np.ndarray) and not (zarr and isinstance(out, zarr.Array)):
        raise TypeError(
            f"out must be a NumPy array, a memmap or a zarr array, got {type(out).__name__}"
        )
    expected = (problem.entries, *problem.batch, len(problem.kept))
    if tuple(out.shape) != expected:
        raise ValueError(
            f"out has shape {tuple(out.shape)}, expected (n_saved, *batch, components) = {expected}"
        )
    if out.dtype != problem.dtype:
        raise ValueError(
            f"out has dtype {out.dtype}, and the run {problem.dtype}: give out of that dtype, or"
            " another dtype="
        )
    if not (out.flags.writeable if isinstance(out, np.ndarray) else not out.read_only):
        raise ValueError("out is read-only")
    if not isinstance(out, np.ndarray):
        return
    if any(n > 1 and not stride for n, stride in zip(out.shape, out.strides, strict=True)):
        raise ValueError("out overlaps itself (a stride is 0): several states have one place")
    for name, value in inputs.items():
        if isinstance(value, np.ndarray) and _overlap(out, value):
            raise ValueError(f"out overlaps {name}, which must not change: give out its own memory")


def _overlap(a, b):
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


# ---- the run -------------------------------------------------------------------------------------


def run_into(problem, failures=None):
    """Integrate a Problem into its ``out``, or into memory for its components."""
    record, names = None, tuple(problem.system.state_names[d] for d in problem.kept)
    if problem.out is not None and problem.save != "final":
        record = _as_rows(problem.out)
        if record is None:
            return _run_in_blocks(problem, failures, names)

    def make(problem, completed, record, state, failed):
        out = problem.out
        if problem.save == "final":
            rows = state[np.newaxis, list(problem.kept), : problem.lanes]
            if out is None:
                out = _outward(rows, problem)
            else:
                out[...] = _outward(rows, problem)
        elif out is None:
            out = _outward(record[..., : problem.lanes], problem)
        return RecordedSolution(problem, completed, out, names, state, failed)

    return run(problem, failures, record, make)


def _outward(rows, problem):
    """(n_saved, components, lanes) -> (n_saved, *batch, components), without a copy."""
    return np.moveaxis(rows.reshape(*rows.shape[:2], *problem.batch), 1, -1)


def _as_rows(out):
    """The same memory as (n_saved, components, lanes); None where there is no such array."""
    if not isinstance(out, np.ndarray) or not out.flags.aligned:
        return None
    saved, *batch, components = out.shape
    axes = [axis for axis in zip(batch, out.strides[1:-1], strict=True) if axis[0] != 1]
    merge = all(a[1] == b[0] * b[1] for a, b in pairwise(axes))
    lane = axes[-1][1] if axes else out.itemsize
    strides = (out.strides[0], out.strides[-1], lane)
    if not merge or any(stride % out.itemsize for stride in strides):
        return None
    return as_strided(out, (saved, components, prod(batch)), strides)


def _run_in_blocks(problem, failures, names):
    """Part by part, each copied to its place."""
    out, places = problem.out, list(problem.kept)
    saves, every = problem.entries, problem.save_every
    done = (0, 0, problem.initial, failures)  # saves written, steps, state, failures

    def write(a, part, skip):
        y = part.y[skip:]
        for to, place in enumerate(places) if isinstance(out, np.ndarray) else ():
            out[a : a + len(y), ..., to] = y[..., place]
        if not isinstance(out, np.ndarray):
            out[a : a + len(y)] = np.ascontiguousarray(y[..., places])
        first = problem.first + part.n_steps if a == 0 else part._problem.first + part.n_steps
        return a + len(y), first - problem.first, part._last_state(), part._failed

    def finish():
        completed, last = done[1], done[2]
        failed = done[3]
        if failed is None:
            failed = (np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.int64))
        return RecordedSolution(problem, completed, out, names, last, failed)

    try:
        with _reporter(problem) as report:
            while done[0] < saves:
                a, steps, state, failed = done
                b = _end_of_block(out, a, saves, problem)
                stop = problem.n_steps if b == saves else (b - 1) * every
                progress = False if report is None else _shifted(report, steps)
                part = _part(problem, state, steps, stop - steps, progress)
                done = write(a, run(part, failed), int(a > 0))
    except KeyboardInterrupt as interrupt:
        part = getattr(interrupt, "solution", None)
        if part is not None and len(part._last_rows()) == len(problem.initial):
            done = write(done[0], part, int(done[0] > 0))
        elif done[0] == 0:
            out[0] = np.moveaxis(problem.initial[:, : problem.lanes], 0, -1)[:, places].reshape(
                out.shape[1:]
            )
        interrupt.solution = finish()  # type: ignore[attr-defined]
        raise
    solution = finish()
    _report_failures(solution, problem.on_failure)
    return solution


def _part(problem, state, steps, n_steps, progress):
    """Some steps of a Problem, beginning after so many others."""
    changes = {"initial": state, "first": problem.first + steps, "n_steps": n_steps}
    changes |= {"progress": progress, "on_failure": "ignore", "out": None, "components": None}
    if problem.advances is not None:  # driven parameters have a row, or an item, for each step
        changes["rows_params"] = tuple(
            _from_step(row, steps, n_steps, problem.stride) if advance else row
            for row, advance in zip(problem.rows_params, problem.advances, strict=True)
        )
    return Problem(**{**problem.__dict__, **changes})


def _from_step(row, steps, n_steps, stride):
    if row.ndim == 2:
        return row[steps : steps + n_steps]
    out = np.zeros(max(n_steps, stride), row.dtype)  # the core checks for a row
    out[:n_steps] = row[steps : steps + n_steps]
    return out


def _shifted(report, steps):
    return lambda done, total: report(steps + done)


def _end_of_block(out, a, saves, problem):
    """The save after the last one of a block that begins at a: whole chunks of a zarr array."""
    size = problem.system.dim * max(problem.lanes, 1) * problem.dtype.itemsize
    b = a + max(1, BLOCK_BYTES // size)
    if a == 0:
        b = max(b, 2)  # the first state is no work
    chunks = getattr(out, "chunks", None)
    if chunks and prod(out.shape):
        b = max(b // chunks[0], a // chunks[0] + 1) * chunks[0]
    return min(b, saves)


def restored(problem, completed, y, components, last, failed):
    """A solution again from its parts: y (n_saved, n_components, *batch), last (dim, lanes)."""
    names, lanes = problem.system.state_names, problem.lanes
    last = pad(last, (lanes,), problem.dtype)
    if tuple(components) == names:
        record = None if problem.save == "final" else y.reshape(*y.shape[:2], lanes)
        return Solution(problem, completed, record, last, failed)
    problem = Problem(**{**problem.__dict__, "components": tuple(map(names.index, components))})
    return RecordedSolution(problem, completed, np.moveaxis(y, 1, -1), components, last, failed)
