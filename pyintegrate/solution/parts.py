"""Join the parts of a run, each of which continues the one before."""

from __future__ import annotations

import numpy as np

from .solution import Solution


def concatenate(*parts: Solution) -> Solution:
    """Join solutions, each of which continues the one before.

    Parameters
    ----------
    *parts : Solution
        The second is the result of ``resume`` on the first, and so on: other runs from where a part
        ends have other steps, and times that round otherwise.

    Returns
    -------
    Solution
        Equal to one long run with the saves of all parts, and it can be resumed; the state where
        one part ends and the next begins is there once. Its states are in memory, even if those
        of the parts are not. Of runs to a tolerance that saved only their ends, these are the
        saves.

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
        if number and (reason := _break(parts[number - 1], part)):
            raise ValueError(
                f"part {number} does not follow on from part {number - 1}: {reason};"
                f" part {number - 1}.resume(...) makes one that does"
            )
    carried = [part._carried for part in parts if part._carried is not None]
    if len(carried) == len(parts) and len({names for _, names in carried}) == 1:
        both = [one for one, _ in carried]
        return parts[0]._with_tangents(lambda: concatenate(*both), carried[0][1])
    return parts[0]._joined(parts)


def _break(a, b):
    """Why b does not go on where a ends, or None."""
    before, after = a._problem, b._problem
    if type(a) is not type(b):
        return "one went to a tolerance, the other has steps of one length"
    for name in ("system", "method", "batch", "dtype", "random"):
        one, other = getattr(before, name), getattr(after, name)
        if one != other:
            what = "noise" if name == "random" else name
            return f"its {what} is {other!r}, not {one!r}"
    if a.components != b.components:
        return f"it holds {', '.join(b.components)}, not {', '.join(a.components)}"
    for name in a._same_in_parts:
        if not np.array_equal(getattr(a, name), getattr(b, name)):
            return f"its {name} is another"
    rows = a._next_rows
    if reason := a._gap(b):
        return reason
    if rows.tobytes() != after.initial[: len(rows), : after.lanes].tobytes():
        return "it begins with another state than the one before ends with"
    return None
