"""A Problem goes to the C core: its memory, its threads, its end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _core
from ..values.memory import COMPACT_BYTES, SPARE_BYTES, STREAM_BYTES, fresh
from .failures import NONE, Failures
from .progress import Reporter

# Threads are worth their start for some milliseconds of work: this many components x evaluations
# x steps.
_WORTH_THREADS = 2_000_000


class Rows(NamedTuple):
    """The result of the core, in rows.

    record : ndarray, shape (n_saved, components, lanes or more), or None where nothing was saved;
    state : ndarray, shape (dim + what the method remembers, stride), after the steps completed, or
    None where an interrupt found it overwritten.
    """

    completed: int  # steps that every trajectory has made
    record: np.ndarray | None
    state: np.ndarray | None
    failures: Failures


def run(problem, options, failures=None, record=None):
    """Integrate a Problem.

    Parameters
    ----------
    problem : Problem
    options : Options
    failures : Failures, optional
        Trajectories that failed before.
    record : ndarray, shape (n_saved, components, lanes), any strides, optional
        Where the saves go; fresh memory if it is not given.

    Returns
    -------
    Rows

    Raises
    ------
    KeyboardInterrupt
        With `rows`: what every trajectory has completed.
    """
    dim, dtype, saves = problem.system.dim, problem.dtype, options.saves(problem)
    places = options.places(problem.system)
    # A second state survives an interrupt; a record in memory of all components does the same.
    two = options.elsewhere or (saves.final_only and problem.initial.nbytes <= SPARE_BYTES)
    state_a = fresh(problem.initial.shape, dtype)
    state_b = fresh(problem.initial.shape, dtype) if two else state_a
    stream = record is not None and record.nbytes >= STREAM_BYTES
    if record is None and not saves.final_only:
        compact = problem.lanes * dtype.itemsize < COMPACT_BYTES
        row = problem.lanes if compact else problem.stride
        record = fresh((saves.count, len(places), row), dtype)
    if problem.lanes == 0:
        with Reporter(options.progress, problem.n_steps):
            return Rows(problem.n_steps, record, state_a, NONE)

    work = problem.lanes * dim * problem.n_steps * max(problem.method.evaluations, 1)
    workers = options.workers if work >= _WORTH_THREADS else 1
    core = _start(problem, options, workers, state_a, state_b, record, places, stream)
    if failures is not None:
        core.fail(*failures)

    def finish():
        completed, where, count = core.outcome()
        state = (problem.initial, state_a, state_b)[where] if where >= 0 else None
        if completed == 0 and record is not None:  # interrupted, maybe before the first save
            record[0, :, : problem.lanes] = problem.initial[list(places), : problem.lanes]
        if state is None and record is None:  # interrupted, and the state between was overwritten
            completed, state = 0, problem.initial
        failed = NONE
        if count:
            failed = Failures.room(count)
            core.failures(*failed)
        return Rows(completed, record, state, failed)

    try:
        if options.progress is False:
            _work(core, workers, None)
        else:
            with Reporter(options.progress, problem.n_steps) as report:
                _work(core, workers, report)
    except KeyboardInterrupt as interrupt:
        interrupt.rows = finish()  # type: ignore[attr-defined]
        raise
    return finish()


def _start(problem, options, workers, state_a, state_b, record, places, stream):
    """The run of the C core, not begun."""
    one = problem.initial.strides[1] == 0  # all trajectories begin alike
    return _core.start(
        **problem.core_fields(),
        **options.core_fields(problem),
        method=problem.method.handle,
        first=problem.first,
        n_steps=problem.n_steps,
        workers=workers,
        params=problem.rows_params,
        drive_strides=problem.drive_strides,
        initial=problem.initial[:, 0].copy() if one else problem.initial,
        has_history=problem.has_history,
        state_a=state_a,
        state_b=state_b,
        record=record,
        saved=places,
        stream=stream,
    )


def _work(core, workers, report):
    """The calling thread and workers - 1 others, made for this call, work until nothing is left."""
    if workers == 1:
        core.work(report)
        return
    import threading

    helpers = []
    errors: list[BaseException] = []
    try:
        for _ in range(workers - 1):
            helper = threading.Thread(
                target=_help, args=(core, errors), name="pyintegrate", daemon=True
            )
            helper.start()
            helpers.append(helper)
        core.work(report)
    except BaseException:
        core.cancel()
        raise
    finally:
        for helper in helpers:
            helper.join()
    if errors:
        raise errors[0]


def _help(core, errors):
    """A thread beside the caller's, which raises what the user's force has raised here."""
    try:
        core.work()
    except MemoryError:  # the caller sees the same and raises it
        pass
    except BaseException as error:
        errors.append(error)
