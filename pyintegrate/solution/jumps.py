"""How long a motion obeys its equation alone: until the first jump of each trajectory.

A formula for the motion, and the conserved quantities, do not include the rule by which an event
changes the state: after a jump the true motion is unknown, and results from it are NaN.
"""

import numpy as np

from ..errors import quiet, warn_record

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


def of_lanes(lanes):
    """How many trajectories of a batch a message is about, after the name of a quantity."""
    return f" of {np.count_nonzero(lanes):,} of {lanes.size:,} trajectories" if lanes.ndim else ""


def until_jump(solution, values, name):
    """Values at the saves, (n_saved, *batch, ...), NaN after the first jump of each trajectory.

    One `RecordWarning` calls the values by `name`.
    """
    beyond = beyond_jump(solution, solution.t)
    lanes = beyond.any(axis=0)
    if not lanes.any():
        return values
    _tell(solution, lanes, name)
    return np.where(
        beyond.reshape(beyond.shape + (1,) * (values.ndim - beyond.ndim)), np.nan, values
    )


def forget_phases(solution, plan, results):
    """Watched phase drifts of trajectories that have jumped become NaN, with a `RecordWarning`.

    plan: of the watches; results: arrays by name.
    """
    names = tuple(f"{k}." for k, one in plan.watch.items() if one.quantity == "phase_drift")
    lanes = has_jumped(solution) if names else np.zeros(())
    if lanes.any():
        _tell(solution, lanes, "the phase drift")
        for name, values in results.items():
            if f"{name}.".startswith(names) and values.dtype.kind == "f":
                values[lanes] = np.nan


def _tell(solution, lanes, name):
    if solution._problem.driven:
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
