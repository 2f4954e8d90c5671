"""A run of a Problem in the C core: its memory, its threads, its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..values.memory import COMPACT_BYTES, SPARE_BYTES, STREAM_BYTES, fresh
from ..values.named import Named
from .failures import NONE, Failures

if TYPE_CHECKING:
    from ..watching.event_log import EventRows

# Threads pay off after some milliseconds of work: this many components x evaluations
# x steps.
WORTH_THREADS = 2_000_000


class Rows(Named):
    """The result of the core, in rows.

    record : ndarray, shape (n_saved, components, lanes or more), or None if nothing was saved;
    state : ndarray, shape (dim + history of the method, stride), after the completed steps, or
    None if an interrupt came when it was overwritten.
    """

    completed: int  # steps that every trajectory has completed
    record: np.ndarray | None
    state: np.ndarray | None
    failures: Failures
    sums: list[np.ndarray] | None = None  # of watches: watched.py
    event_rows: EventRows | None = None  # events: event_log.py


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
    sums : Sums, optional
        The memory of watches.
    event_memory : EventMemory, optional
        The memory of events.
    """

    def __init__(self, problem, options, failures=None, record=None, sums=None, event_memory=None):
        dim, dtype, saves = problem.system.dim, problem.dtype, options.saves(problem)
        places = options.places(problem.system)
        shape = problem.initial.shape
        # A second state survives an interrupt; so does a record in memory of all components.
        two = options.elsewhere or (saves.final_only and problem.initial.nbytes <= SPARE_BYTES)
        two = two or sums is not None or event_memory is not None or saves.given is not None
        state_a = fresh(shape, dtype)
        state_b = fresh(shape, dtype) if two else state_a
        stream = record is not None and record.nbytes >= STREAM_BYTES
        if record is None and not saves.final_only:
            compact = problem.lanes * dtype.itemsize < COMPACT_BYTES
            row = problem.lanes if compact else problem.stride
            record = fresh((saves.count, len(places), row), dtype)
        self._problem, self._options, self.saves, self._places = problem, options, saves, places
        self._record, self._states = record, (problem.initial, state_a, state_b)
        self._core, self._sums, self._event_memory = None, sums, event_memory
        if problem.lanes == 0:
            return
        work = problem.lanes * dim * problem.n_steps * max(problem.method.evaluations, 1)
        self._workers = options.workers if work >= WORTH_THREADS else 1
        self._core = _start(
            problem, options, saves, self._workers, state_a, state_b, record, places, stream,
            sums, event_memory,
        )  # fmt: skip
        if failures:
            self._core.fail(*failures)

    def work(self):
        """Make all steps, in the calling thread and `workers` - 1 others."""
        if self._options.progress is False:
            self._work(None)
        else:
            from .progress import Reporter

            with Reporter(self._options.progress, self._problem.n_steps) as report:
                self._work(report)

    def _work(self, report):
        if self._core is not None:
            self._core.work(report, self._workers - 1)

    def rows(self):
        """The steps that every trajectory has completed, as Rows."""
        problem, record = self._problem, self._record
        if self._core is None:
            return self._rows(problem.n_steps, record, self._states[1], NONE, 0)
        completed, where, count, blocks = self._core.outcome()
        state = self._states[where] if where >= 0 else None
        begun = self.saves.given is None or not np.any(self.saves.given[:1])
        if completed == 0 and record is not None and begun:  # interrupted, maybe before any save
            record[0, :, : problem.lanes] = problem.initial[list(self._places), : problem.lanes]
        if state is None and record is None:  # interrupted, and the state between overwritten
            completed, state = 0, problem.initial
        failed = NONE
        if count:
            failed = Failures.room(count)
            self._core.failures(*failed)
        return self._rows(completed, record, state, failed, blocks)

    def _rows(self, completed, record, state, failures, blocks):
        """Rows, with the sums and the occurrences after `blocks` blocks of time."""
        fields = {"completed": completed, "record": record, "state": state, "failures": failures}
        whole = completed == self._problem.n_steps
        if self._sums is not None:
            fields["sums"] = self._sums.after(blocks, whole)
        if self._event_memory is not None:
            fields["event_rows"] = self._event_memory.after(blocks, whole)
        return Rows.of(fields)


def _asked(problem, times):
    """The field `times` of the core's start, in double precision."""
    from ..watching.watched import row_of

    rows = times
    if times.ndim > 1:
        rows = np.zeros((len(times), problem.stride))
        rows[:, : problem.lanes] = times.reshape(len(times), problem.lanes)
    return {
        "t": rows,
        "count": len(times),
        "each": int(times.ndim > 1),
        "params": tuple(row_of(problem, value) for value in problem.system.parameter_rows),
        "t0": row_of(problem, problem.t0),
        "dt": row_of(problem, problem.dt),
    }


def _start(
    problem, options, saves, workers, state_a, state_b, record, places, stream, sums, event_memory
):  # fmt: skip
    """The run of the C core, not begun."""
    one = problem.initial.strides[1] == 0  # all trajectories begin alike
    fields = {
        **problem.core_fields(options),
        "save_every": saves.every,
        "method": problem.method.handle,
        "first": problem.first,
        "n_steps": problem.n_steps,
        "workers": workers,
        "params": problem.rows_params,
        "drive_strides": problem.drive_strides,
        "initial": problem.initial[:, 0].copy() if one else problem.initial,
        "has_history": problem.has_history,
        "state_a": state_a,
        "state_b": state_b,
        "record": record,
        "saved": places,
        "save_steps": None if record is None else saves.given,
        "times": None if options.times is None else _asked(problem, options.times),
        "stream": stream,
    }
    if sums is not None:
        fields["watches"] = sums.fields()
    if event_memory is not None:
        fields["events"] = event_memory.fields()
    return _core.start(fields)
