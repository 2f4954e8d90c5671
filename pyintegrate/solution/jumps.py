"""How long a motion obeys its equation alone: until the first jump of each trajectory.

A formula for the motion, and the conserved quantities, do not include the rule by which an event
changes the state: after a jump the true motion is unknown, and results from it are NaN.
"""

import numpy as np

from ..errors import quiet, warn_of_jump

SLACK = 4  # rounding units between the time of a save and that of a jump located at it


def direction(solution):
    """1 if time runs forwards, -1 if backwards; () or (*batch)."""
    return np.where(solution._step_lengths < 0, -1.0, 1.0)


def jumping(solution):
    """The events that change the state: pairs of a name and what was found."""
    return [(name, one) for name, one in solution.events.items() if one.jumps]


def first_jump(solution):
    """The time of the first jump times the direction of time, (*batch); inf if there is none.

    If no jump was kept, it is the first time after the beginning; of a driven run it is -inf.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, -v), keep=3)
    >>> sol = pi.integrate(pi.systems.projectile, [0, 0, 1.0], [0, 0, 0.0], dt=0.1, n_steps=9,
    ...                    events={"floor": bounce})
    >>> print(f"{first_jump(sol):.3f}")
    0.452
    """
    sense = direction(solution)
    if solution._problem.driven:  # no time obeys the equation of the system alone
        return np.full(solution._problem.batch, -np.inf)
    first = np.full(solution._problem.batch, np.inf)
    for _, found in jumping(solution):
        when = np.fmin.reduce(sense[..., np.newaxis] * found.t, axis=-1, initial=np.inf)
        unknown = (found.count > 0) & np.isinf(when)
        with quiet():
            begin = np.nextafter(sense * solution._origin_time, np.inf)
            when = np.where(np.isinf(when), np.inf, when - SLACK * np.spacing(np.abs(when)))
        first = np.fmin(first, np.where(unknown, begin, when))
    return first


def beyond_jump(solution, t):
    """Which times lie at or after the first jump of a trajectory: (n, *batch) bool.

    Parameters
    ----------
    solution : Solution
    t : ndarray
        (n,) or (n, *batch).

    Examples
    --------
    >>> import pyintegrate as pi
    >>> bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, -v), keep=3)
    >>> sol = pi.integrate(pi.systems.projectile, [0, 0, 1.0], [0, 0, 0.0], dt=0.1, n_steps=6,
    ...                    events={"floor": bounce})  # it falls for 0.45 s
    >>> beyond_jump(sol, sol.t)
    array([False, False, False, False, False,  True,  True])
    """
    return direction(solution) * solution._column(np.asarray(t)) >= solution._first_jump


def has_jumped(solution):
    """Which trajectories have jumped, (*batch) bool."""
    return solution._first_jump < np.inf


def until_jump(solution, values, name):
    """Values at the saves, (n_saved, *batch, ...), NaN after the first jump of each trajectory.

    One `RecordWarning` calls the values by `name`.
    """
    beyond = beyond_jump(solution, solution.t)
    lanes = beyond.any(axis=0)
    if not lanes.any():
        return values
    warn_of_jump(lanes, name, solution._problem.driven)
    return np.where(
        beyond.reshape(beyond.shape + (1,) * (values.ndim - beyond.ndim)), np.nan, values
    )
