"""A run of a Problem in the C core: its memory, its threads, its end."""

from dataclasses import dataclass
from math import prod
from weakref import ref

import numpy as np
from numpy import ndarray

from .. import _core
from ..values.checks import DOUBLE
from ..values.memory import (
    ALIGNED_BYTES,
    COMPACT_BYTES,
    SPARE_BYTES,
    STREAM_BYTES,
    fresh,
    outward,
    pad,
)  # fmt: skip
from ..values.types import Any
from .failures import Failures, none

# Threads pay off after some milliseconds of work: trajectories x components x steps x evaluations.
WORTH_THREADS = 2_000_000


@dataclass
class Outcome:
    """The result of a run, from which a Solution is made.

    Parameters
    ----------
    completed : int
        Steps; if `last` is None, up to the last save.
    states : ndarray or zarr array, shape (n_saved or more, *batch, components)
    last : ndarray, shape (dim and history of the method, lanes), or None
        The state after the last completed step. None if `states` ends with it, and the method has
        no history or an interrupt lost it.
    failures : Failures
    kept : Kept, optional
        What watches and events have kept (watching/run_memory.py).
    """

    completed: int
    states: Any
    last: Any
    failures: Failures
    kept: Any = None


class Run:
    """A Problem in the C core. Its progress can be read whenever it is not running.

    Parameters
    ----------
    problem : Problem
    options : Options
    failures : Failures, optional
        Trajectories that failed before.
    record : ndarray, shape (n_saved, components, lanes), any strides, optional
        Where the saves go; by default new memory.
    memory : RunMemory, optional
        Of watches and events.
    """

    def __init__(self, problem, options, failures=None, record=None, memory=None):
        initial, dtype, lanes = problem.initial, problem.dtype, problem.lanes
        saves, elsewhere = options.saves(problem.n_steps), options.elsewhere
        more = options.for_core()
        watching = memory is not None or saves.given is not None or "renormalise" in more
        shape = len(initial), problem.stride
        # A small state that only the core reads stays in the core: the record has all components.
        state_a = state_b = None
        seen = saves.final_only or watching or elsewhere or shape[0] > problem.system.dim
        if seen or lanes * shape[0] > ALIGNED_BYTES >> 3:
            state_a = state_b = fresh(shape, dtype)
        # Of two states one survives an interrupt; so does a record of all components in memory.
        two = saves.final_only and problem.n_steps > 1
        two = two and prod(shape) * dtype.itemsize <= SPARE_BYTES
        if two or watching or elsewhere:
            more["state_b"] = state_b = fresh(shape, dtype)
        if not saves.final_only:
            if record is None:
                row = lanes if lanes * dtype.itemsize < COMPACT_BYTES else problem.stride
                components = len(options.saved_names(problem.system))
                record = fresh((saves.count, components, row), dtype)
            elif record.nbytes >= STREAM_BYTES:
                more["stream"] = True
        self._problem, self._options, self.saves, self.record = problem, options, saves, record
        self._states, self._core = (initial, state_a, state_b), None
        self._memory, self._elsewhere, self._watching = memory, elsewhere, watching
        if lanes == 0:
            return
        self._helpers = 0
        if options.workers > 1 and worth_threads(problem, problem.n_steps):
            self._helpers, more["workers"] = options.workers - 1, options.workers
        # Only what differs from a default: the core stops looking when it has found all.
        if problem.first:
            more["first"] = problem.first
        if problem.starter is not None:
            more["starter"] = problem.starter.handle
        if problem.has_history:
            more["has_history"] = True
        if problem.drive_strides is not None:
            more["drive_strides"] = problem.drive_strides
        every = saves.every
        if saves.given is not None and options.times is None:
            more["save_steps"] = saves.given
            every = int(np.gcd.reduce(saves.given)) or problem.n_steps + 1
        if options.components is not None and record is not None:
            more["saved"] = options.places(problem.system)
        if options.times is not None:
            more["times"] = _asked(problem, options.times)
        if memory is not None:
            more |= memory.fields()
        if options.out is not None or problem.system.batched:
            self._pins = _pinned((options.out, *problem.rows_params))
        self._failed = np.zeros(lanes, np.int8), np.zeros(lanes, np.int64)
        if failures:
            for each, its in zip(self._failed, (failures.status, failures.step), strict=True):
                each[...] = its
        self._core = _core.Run(
            system=problem.system.core_for(problem.method), bits=dtype.itemsize * 8, lanes=lanes,
            bound=options.bound, t0=problem.rows_t0, dt=problem.rows_dt, params=problem.rows_params,
            n_steps=problem.n_steps, save_every=every, status=self._failed[0],
            failed=self._failed[1], method=problem.method.handle,
            initial=initial if initial.strides[1] else initial[:, 0].copy(), state_a=state_a,
            record=record, **more,
        )  # fmt: skip

    def go(self, report=None):
        """Make all steps, in the calling thread and `workers` - 1 others."""
        if report is None and self._options.progress is not False:
            from .progress import Reporter

            with Reporter(self._options.progress, self._problem.n_steps) as report:
                self.go(report)
        elif self._core is not None:
            self._core.work(report, self._helpers)

    def rows(self):
        """The steps that every trajectory has completed: their number, the state after them, the
        failures, and what watches and events have kept. `record` has the saves.

        The state, (dim + history of the method, stride), is None if an interrupt came when it was
        overwritten.
        """
        problem, record = self._problem, self.record
        completed, state, blocks, cells = problem.n_steps, self._states[1], 0, []
        failed = none(problem.lanes)
        if self._core is not None:
            completed, where, count, blocks, cells = self._core.outcome()
            state = self._states[where] if where >= 0 else None
            if completed == 0 and record is not None:  # interrupted, maybe before any save
                if not np.any(self.saves.steps[:1]):
                    places = list(self._options.places(problem.system))
                    record[0, :, : problem.lanes] = problem.initial[places, : problem.lanes]
            elif state is None and record is None:  # interrupted, the only state overwritten
                completed, state = 0, problem.initial
            if count:
                failed = Failures(*self._failed)
        kept = None
        if self._memory is not None:
            last = -1 if blocks < 0 else problem.first + completed
            whole = completed == problem.n_steps
            kept = self._memory.after(blocks, whole, last, cells)
        return completed, state, failed, kept

    def outcome(self):
        """The Outcome: after an interrupt, of the steps that every trajectory has completed."""
        problem, record, elsewhere = self._problem, self.record, self._elsewhere
        dim, lanes, batch, out = problem.system.dim, problem.lanes, problem.batch, self._options.out
        completed, state, failures, kept = self.rows()
        known = state is not None
        apart = known and (elsewhere or (self._watching and not self.saves.final_only))
        last = state[:, :lanes] if apart or (known and len(state) > dim) else None
        if record is None:
            record = state[np.newaxis, :dim]
            if elsewhere:
                record = record[:, list(self._options.places(problem.system))]
        elif completed < problem.n_steps and not apart:
            saved = self.saves.until(completed)
            if int(self.saves.steps[saved - 1]) < completed:
                completed, last = int(self.saves.steps[saved - 1]), None
            record = record[:saved]
        if batch and record.shape[-1] > lanes:
            record = record[..., :lanes]
        states = outward(record, batch)
        if out is not None:
            if self.saves.final_only:
                out[...] = states
            states = out
        return Outcome(completed, states, last, failures, kept)


def worth_threads(problem, n_steps):
    """Whether the work of so many steps is worth starting threads for."""
    work = problem.lanes * problem.system.dim * n_steps * max(problem.method.evaluations, 1)
    return work >= WORTH_THREADS


def _pinned(objects):
    """Weak references, which keep ``ndarray.resize`` from moving memory that the core uses."""
    pins = []
    for one in objects:
        while isinstance(one, ndarray):
            pins.append(ref(one))
            one = one.base
    return pins


def _asked(problem, times):
    """The field `times` of the core's start, in double precision."""
    from ..watching.watched import row_of

    each = times.ndim > 1
    return {
        "t": pad(times, problem.batch, DOUBLE, problem.stride) if each else times,
        "count": len(times),
        "each": int(each),
        "t0": row_of(problem, problem.t0),
        "dt": row_of(problem, problem.dt),
    }
