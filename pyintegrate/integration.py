"""The one verb: a Problem goes to the C core, a Solution comes back."""

from __future__ import annotations

import sys
import warnings

import numpy as np

from . import _core
from .errors import IntegrationError, IntegrationWarning
from .run.arguments import make_problem
from .solution.solution import Solution
from .values.memory import COMPACT_BYTES, SPARE_BYTES, STREAM_BYTES, fresh

# Threads are worth their start for some milliseconds of work: so many components x evaluations x
# steps.
_WORTH_THREADS = 2_000_000
# No failures: index, status and step of each.
_NONE = (np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.int64))


def integrate(
    system, x0=None, v0=None, *, dt, t_end=None, n_steps=None, t0=0.0, method="rk4", save="all",
    dtype=None, workers=1, progress=False, on_failure="warn", bound=None, start=None,
    drive=None, out=None, components=None,
):  # fmt: skip
    """Integrate a batch of trajectories at a fixed step.

    Parameters
    ----------
    system : System
        What moves: one of ``pi.systems``, with parameters that may be arrays over the batch.
    x0, v0 : array_like, optional
        ``x0`` alone is the whole state, shape (*batch, dim). With ``v0`` they are positions and
        velocities, each (*batch, dof), or (*batch) where dof = 1. Default: ``system.initial``.
    dt : array_like
        The step [units of "t"]; negative goes backwards; one for all or one for each trajectory.
    t_end : array_like, optional
        The last time; (t_end - t0)/dt must be whole. Give it or `n_steps`.
    n_steps : int, optional
    t0 : array_like
        The first time. Step n is at t0 + n dt.
    method : str or Method
    save : {"all", "final"} or int
        Every step; the last state only; or every k-th step and the last.
    dtype : float32 or float64, optional
        Default: float32 only if x0 (and v0) are float32 arrays.
    workers : int
        Threads; -1 for all cores. The result has the same bits for every value.
    progress : bool or callable
        True shows a bar (tqdm if installed); a callable gets (steps done, steps).
    on_failure : {"warn", "raise", "ignore"}
        What to do when a trajectory stops being finite or exceeds `bound`: it is frozen at its last
        good state, and the others go on.
    bound : float, optional
        Largest magnitude of a component.
    start : str, Method or array_like, optional
        How a method that is not self-starting starts: a Runge-Kutta method for its first steps
        (default: one of enough order); for "stormer_verlet" "taylor" (the default,
        x0 - h v0 + h^2 a0 / 2) or the positions one step before the first, (*batch, dof), or
        (*batch) where dof = 1.
    drive : mapping of str to array_like, optional
        Parameters that change with each step: arrays (n_steps, *batch, *shape), whose entry n
        holds from step n to step n + 1.
    out : ndarray, memmap or zarr array, optional
        Where the saved states go: shape (n_saved, *batch, components), of the run's dtype. It may
        be larger than memory. The fastest is the `y` of an earlier solution, which lies in memory
        as the core writes it.
    components : sequence of str, optional
        Names of the components to save; default: all.

    Returns
    -------
    Solution

    Raises
    ------
    TypeError, ValueError
        A wrong argument, before anything runs.
    MemoryError
        A result that the machine cannot hold.
    IntegrationError
        A failed trajectory and ``on_failure="raise"``; its ``solution`` has the rest.
    KeyboardInterrupt
        Ctrl-C; its ``solution`` ends with the last block of steps that every trajectory completed.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, np.linspace(0, 1, 5), 0.0, dt=0.01, n_steps=100)
    >>> sol.x.shape
    (101, 5)
    """
    problem = make_problem(
        system, x0, v0, dt, t_end, n_steps, t0, method, save, dtype, workers, progress, on_failure,
        bound, start, drive, out, components,
    )  # fmt: skip
    inputs = {"x0": x0, "v0": v0, "dt": dt, "t0": t0, "t_end": t_end, "start": start}
    return solve(problem, None, inputs | dict(drive or {}))


def solve(problem, failures, inputs):
    """Integrate a Problem, into memory or elsewhere; out must not overlap the inputs (by name)."""
    if problem.out is None and problem.components is None:
        return run(problem, failures)
    from .solution.recorded import check_out, run_into

    check_out(problem, inputs)
    return run_into(problem, failures)


def run(problem, failures=None, record=None, make=Solution):
    """Integrate a Problem.

    Parameters
    ----------
    problem : Problem
    failures : tuple of ndarray, optional
        Index, status and step of the trajectories that failed before.
    record : ndarray, shape (n_saved, components, lanes), any strides, optional
        Where the saves go; fresh memory if it is not given.
    make : callable
        What becomes of the parts of a solution.

    Returns
    -------
    Solution
    """
    dim, dtype = problem.system.dim, problem.dtype
    elsewhere = problem.out is not None or problem.components is not None
    # A second state survives an interrupt; a record in memory of all components does the same.
    two = elsewhere or (problem.save == "final" and problem.initial.nbytes <= SPARE_BYTES)
    state_a = fresh(problem.initial.shape, dtype)
    state_b = fresh(problem.initial.shape, dtype) if two else state_a
    stream = record is not None and record.nbytes >= STREAM_BYTES
    if record is None and problem.save != "final":
        compact = problem.lanes * dtype.itemsize < COMPACT_BYTES
        row = problem.lanes if compact else problem.stride
        record = fresh((problem.entries, len(problem.kept), row), dtype)

    work = problem.lanes * dim * problem.n_steps * max(problem.method.evaluations, 1)
    workers = problem.workers if work >= _WORTH_THREADS else 1
    if problem.lanes == 0:
        return _empty(problem, record, state_a, make)
    core = _core.start(
        problem.system.core_for(problem.method), problem.method.handle, dtype.itemsize * 8,
        problem.lanes, problem.first, problem.n_steps, problem.save_every, problem.bound, workers,
        problem.rows_t0, problem.rows_dt, problem.rows_params,
        problem.initial if problem.initial.strides[1] else problem.initial[:, 0].copy(),
        state_a, state_b, record, problem.kept, stream,
        None if problem.starter is None else problem.starter.handle, problem.begun,
        False, problem.advances,
    )  # fmt: skip
    if failures is not None:
        core.fail(*failures)

    def finish():
        completed, where, count = core.outcome()
        state = (problem.initial, state_a, state_b)[where] if where >= 0 else None
        if completed == 0 and record is not None:  # interrupted, maybe before the first save
            record[0, :, : problem.lanes] = problem.initial[list(problem.kept), : problem.lanes]
        if state is None and record is None:  # interrupted, and the state between was overwritten
            completed, state = 0, problem.initial
        failed = _NONE
        if count:
            failed = (
                np.empty(count, np.int64),
                np.empty(count, np.int8),
                np.empty(count, np.int64),
            )
            core.failures(*failed)
        return make(problem, completed, record, state, failed)

    try:
        if problem.progress is False:
            _work(core, workers, None)
        else:
            with _reporter(problem) as report:
                _work(core, workers, report)
    except KeyboardInterrupt as interrupt:
        interrupt.solution = finish()  # type: ignore[attr-defined]
        raise
    solution = finish()
    _report_failures(solution, problem.on_failure)
    return solution


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


def _empty(problem, record, state, make):
    """No trajectories: nothing to do, all shapes right."""
    if callable(problem.progress):
        problem.progress(problem.n_steps, problem.n_steps)
    return make(problem, problem.n_steps, record, state, _NONE)


def _report_failures(solution, on_failure):
    if on_failure == "ignore" or not solution.n_failed:
        return
    if on_failure == "raise":
        raise IntegrationError(solution.failures(), solution)
    level = 2
    while sys._getframe(level - 1).f_globals.get("__name__", "").startswith(__package__):
        level += 1
    warnings.warn(solution.failures(), IntegrationWarning, stacklevel=level)


# ---- progress ------------------------------------------------------------------------------------


class _reporter:
    """Turns the steps done into calls of the user's callable, a bar of tqdm, or a line of text."""

    def __init__(self, problem):
        self.total, self.done, self.bar = problem.n_steps, 0, None
        self.call = problem.progress if callable(problem.progress) else None
        if problem.progress is True:
            try:
                from tqdm.auto import tqdm

                self.bar = tqdm(total=self.total, unit="step")
                self.call = lambda done, total: self.bar.update(done - self.bar.n)
            except ImportError:
                self.call = _print_line

    def __enter__(self):
        return None if self.call is None else self.report

    def report(self, done):
        if self.call is not None and done > self.done:
            self.done = done
            self.call(done, self.total)

    def __exit__(self, kind, *_):
        if kind is None and self.call is not None and (self.done < self.total or self.total == 0):
            self.call(self.total, self.total)
        if self.bar is not None:
            self.bar.close()


def _print_line(done, total):
    end = "\n" if done == total else ""
    print(f"\rpyintegrate: {done} of {total} steps", end=end, file=sys.stderr, flush=True)
