"""Failures of a run: statuses, warnings, exceptions and a readable report."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from functools import partial

import numpy as np

from .values.types import Any, Iterator

# Silences NumPy's floating-point warnings.
quiet = partial(np.errstate, all="ignore")


class Status(IntEnum):
    """How a trajectory ended.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.Status(1).name
    'NOT_FINITE'
    """

    OK = 0
    NOT_FINITE = 1
    NOT_CONVERGED = 2
    SINGULAR = 3
    CANCELLED = 4
    OUT_OF_BOUNDS = 5
    STOPPED = 6  # by an event: no failure
    ZENO = 7
    TOO_MANY_STEPS = 8  # in pi.solve, like the next
    STEP_TOO_SMALL = 9


REASONS = {
    Status.NOT_FINITE: "stopped being finite",
    Status.NOT_CONVERGED: "had an implicit solve that did not converge",
    Status.SINGULAR: "met a singular matrix",
    Status.CANCELLED: "were cancelled",
    Status.OUT_OF_BOUNDS: "exceeded the bound",
    Status.STOPPED: "were stopped by an event",
    Status.ZENO: "had more events in a step than max_per_step (a condition at a low speed, with"
    " stop=True, or stop=n of the event itself, ends them before)",
    Status.TOO_MANY_STEPS: "took max_steps steps without arriving",
    Status.STEP_TOO_SMALL: "needed steps too small for their times",
}


class UnknownNameError(ValueError, KeyError):
    """A name that a catalogue does not hold; the message gives the nearest ones."""

    __str__ = ValueError.__str__


class IntegrationWarning(UserWarning):
    """Some trajectories failed; each is frozen at its last good state.

    Examples
    --------
    >>> import warnings, pyintegrate as pi
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     sol = pi.integrate(pi.systems.lorenz, [1e200, 0.0, 0.0], dt=0.01, n_steps=2)
    >>> caught[0].category.__name__, sol.n_failed
    ('IntegrationWarning', 1)
    """


class RecordWarning(UserWarning):
    """A measure is NaN because the saves are too few; the message says which saves are needed.

    Examples
    --------
    >>> import warnings, pyintegrate as pi
    >>> run = {"dt": 0.5, "n_steps": 1000, "method": "semi_implicit_euler"}
    >>> sol = pi.integrate(pi.systems.oscillator, **run, save="final")
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     pi.analysis.phase_drift(sol)
    array([nan])
    >>> caught[0].category.__name__
    'RecordWarning'
    """


class ArithmeticWarning(UserWarning):
    """A run continues in another arithmetic than it began in: the bits are not those of one run.

    `python -m pyintegrate info` prints the version number of the arithmetic. It changes when the
    bits of results change, and files hold the number with which they were computed.

    Examples
    --------
    >>> import warnings, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.kepler, dt=0.05, n_steps=9, method="bdf3")
    >>> sol._problem = sol._problem.changed(arithmetic=1)  # as an earlier version wrote it
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     further = sol.resume(n_steps=1)
    >>> caught[0].category.__name__, sol.arithmetic, further.arithmetic
    ('ArithmeticWarning', 1, 4)
    """


_told: ContextVar[list[str] | None] = ContextVar("told", default=None)


@contextmanager
def one_record_warning() -> Iterator[None]:
    """Combine every ``RecordWarning`` given within into one, with the message of the first."""
    if _told.get() is not None:  # within another
        yield
        return
    with silent_record_warning() as messages:
        yield
    if messages:
        warn_caller(messages[0], RecordWarning)


@contextmanager
def silent_record_warning():
    """Collect the messages and give no warning."""
    messages = []
    token = _told.set(messages)
    try:
        yield messages
    finally:
        _told.reset(token)


def warn_record(message):
    """Give a ``RecordWarning``, only one within ``one_record_warning``."""
    messages = _told.get()
    if messages is None:
        warn_caller(message, RecordWarning)
    else:
        messages.append(message)


def of_lanes(lanes):
    """How many trajectories of a batch a message is about, after the name of a quantity."""
    return f" of {np.count_nonzero(lanes):,} of {lanes.size:,} trajectories" if lanes.ndim else ""


def warn_of_jump(lanes, name, driven=False):
    """Give a ``RecordWarning``: `name` is NaN in some lanes, whose true motion is unknown."""
    if driven:
        why = (
            f"{name} is NaN: drive= has changed parameters, and what is known of the true motion is"
            " that of the system's own. Compare with a run of smaller steps and the same inputs"
        )
    else:
        why = (
            f"{name}{of_lanes(lanes)} is NaN from the first jump on: an event with then= has"
            " changed the state, and what is known of the true motion ends there (with keep=0 the"
            " time of the jump was not kept, and it ends at the start). To judge what follows"
            " compare with a run of smaller steps, the same events= and the same times="
        )
    warn_record(why)


def warn_caller(message, category=UserWarning):
    """Warn at the line outside of the package that called it."""
    level = 2
    within = (__package__, "contextlib", "functools")  # and the callers of the package's own code
    while sys._getframe(level - 1).f_globals.get("__name__", "").startswith(within):
        level += 1
    warnings.warn(message, category, stacklevel=level)


class IntegrationError(RuntimeError):
    """Some trajectories failed, with ``on_failure="raise"``.

    Attributes
    ----------
    solution : Solution
        The computed states; its ``failures()`` says which trajectories failed, when and why.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> start = [1e200, 0.0, 0.0]
    >>> try:
    ...     pi.integrate(pi.systems.lorenz, start, dt=0.01, n_steps=2, on_failure="raise")
    ... except pi.IntegrationError as error:
    ...     error.solution.status
    array(1, dtype=int8)
    """

    def __init__(self, message: str, solution: Any = None) -> None:
        super().__init__(message)
        self.solution = solution


def summarize(status, step, index, batch, time):
    """One sentence on the trajectories that failed.

    Parameters
    ----------
    status, step, index : ndarray, shape (n_failed,)
        Why, the first step not completed, and the index in the flattened batch.
    batch : tuple of int
        The batch shape.
    time : callable
        The time of a step, for the index of a step and a flat index of the batch.
    """
    count, total = len(index), int(np.prod(batch, dtype=np.int64))
    parts = [
        f"{np.count_nonzero(status == code)} {REASONS[code]}"
        for code in Status
        if np.any(status == code)
    ]
    first = int(np.argmin(step))
    place = tuple(map(int, np.unravel_index(index[first], batch)))
    which = f"first trajectory {place[0] if len(place) == 1 else place}" if batch else "it failed"
    return (
        f"{count} of {total} trajectories failed ({', '.join(parts)}); {which} at step"
        f" {int(step[first])} (t = {time(index[first], step[first]):.6g})."
        " Each is frozen at its last good state."
    )


def report_failures(solution, on_failure):
    """Warn of the trajectories that failed, at the line outside the package, or raise."""
    if on_failure == "ignore" or not solution.n_failed:
        return
    if on_failure == "raise":
        raise IntegrationError(solution.failures(), solution)
    warn_caller(solution.failures(), IntegrationWarning)
