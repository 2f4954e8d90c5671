"""Join the parts of a run, each of which continues the one before."""

from __future__ import annotations

import numpy as np

from ..run.core import Outcome, outward
from ..values.memory import check_memory, fresh
from .solution import Solution


def concatenate(*parts: Solution) -> Solution:
    """Join solutions, each of which continues the one before.

    Parameters
    ----------
    *parts : Solution
        The second is the result of ``resume`` on the first, and so on.

    Returns
    -------
    Solution
        Equal to one long run with the saves of all parts, and it can be resumed; the state where
        one part ends and the next begins is there once. Its states are in memory, even if those
        of the parts are not. Runs to a tolerance keep the steps that they made, which end where
        each part ends; if they saved only their ends, these are the saves.

    Raises
    ------
    TypeError, ValueError
        A part that is no Solution, or does not continue the one before.
    MemoryError

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> a = pi.integrate(pi.systems.pendulum, dt=0.01, n_steps=100)
    >>> joined = pi.concatenate(a, a.resume(n_steps=50))
    >>> long = pi.integrate(pi.systems.pendulum, dt=0.01, n_steps=150)
    >>> len(joined), np.array_equal(joined.y, long.y)
    (151, True)
    """
    if not parts:
        raise TypeError("concatenate needs one solution or more")
    for number, part in enumerate(parts):
        if not isinstance(part, Solution):
            cure = ": write concatenate(*parts)" if isinstance(part, list | tuple) else ""
            raise TypeError(f"part {number} must be a Solution, got {type(part).__name__}{cure}")
        if part._options.times is not None:
            raise ValueError(
                f"part {number} was saved at times=, and parts are joined by their steps: integrate"
                " with save="
            )
        if (part._control is None) != (parts[0]._control is None):
            raise ValueError(
                f"part {number} does not follow on from part {number - 1}: one went to a tolerance,"
                " the other has steps of one length"
            )
        if part._control is None and number and (reason := _break(parts[number - 1], part)):
            raise ValueError(f"part {number} does not follow on from part {number - 1}: {reason}")
    if parts[0]._control is not None:
        return parts[0]._join(parts)
    carried = [part._carried for part in parts if part._carried is not None]
    if len(carried) == len(parts) and len({names for _, names in carried}) == 1:
        return Solution._with_tangents(lambda: concatenate(*(c[0] for c in carried)), carried[0][1])
    first, last = parts[0], parts[-1]
    chosen, steps = [], np.empty(0, np.int64)
    for part in parts:
        skip = int(len(steps) > 0 and steps[-1] == part.steps[0])
        chosen.append((part, skip))
        steps = np.append(steps, part.steps[skip:])
    begin, kept = first._problem, len(first.components)
    lanes, dtype = begin.lanes, begin.dtype
    check_memory(len(steps) * kept * lanes * dtype.itemsize, len(steps), begin.batch, kept)
    record, at = fresh((len(steps), kept, lanes), dtype), 0
    for part, skip in chosen:
        rows = np.moveaxis(part.y[skip:], -1, 1)
        record[at : at + len(rows)] = rows.reshape(len(rows), kept, lanes)
        at += len(rows)
    problem = _joined(begin, last)
    options = last._options.changed(out=None, steps=None)
    steps = steps - begin.first
    if not np.array_equal(options.saves(problem.n_steps).steps, steps):  # no interval gives these
        options = options.changed(steps=steps)
    rows, dim = last._last_rows(), begin.system.dim
    outcome = Outcome(
        completed=problem.n_steps,
        states=outward(record, begin.batch),
        final=None if last._complete and last._final is None else rows[:dim],
        history=rows[dim:] if len(rows) > dim else None,
        failures=last._failures,
        sums=last._sums,
        event_rows=last._event_rows,
    )
    return Solution(problem, options, outcome)._told(last)


def _joined(begin, last):
    """The whole problem, from the beginning of the first part to the end of the last."""
    end = last._problem
    return end.changed(
        initial=begin.initial,
        first=begin.first,
        has_history=begin.has_history,
        origin=begin.origin,
        n_steps=end.first + last.n_steps - begin.first,
    )


def _break(a, b):
    """Why b does not continue a, or None."""
    if reason := differing(a, b):
        return reason
    before, after = a._problem, b._problem
    for name in ("dt", "t0"):
        if not np.array_equal(getattr(before, name), getattr(after, name)):
            return f"its {name} is another"
    end = before.first + a.n_steps
    if after.first != end:
        return f"it begins at step {after.first}, not {end}: a solution's resume() goes on"
    return another_end(a, b)


def differing(a, b):
    """What differs between two parts besides their steps, or None.

    Parameters
    ----------
    a, b : Solution

    Returns
    -------
    str or None
    """
    before, after = a._problem, b._problem
    for name in ("system", "method", "batch", "dtype", "random"):
        one, other = getattr(before, name), getattr(after, name)
        if one != other:
            return f"its {name} is {other!r}, not {one!r}"
    if a.components != b.components:
        return f"it holds {', '.join(b.components)}, not {', '.join(a.components)}"
    return None


def another_end(a, b):
    """Whether b begins with another state than a ends with, in words, or None.

    Parameters
    ----------
    a, b : Solution

    Returns
    -------
    str or None
    """
    rows, after = a._last_rows(), b._problem
    start = after.initial[: len(rows), : after.lanes]
    if _bits(rows) != _bits(start):
        return "it begins with another state than the one before ends with"
    return None


def _bits(rows):
    return np.ascontiguousarray(rows).tobytes()
