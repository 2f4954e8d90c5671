"""The errors of a solution, the numbers that characterise it, and the true motion by a run."""

from contextlib import suppress

import numpy as np

from ..errors import Status
from ..solution.jumps import has_jumped, until_jump
from .accuracy import to_a_tolerance
from .observables import (
    check_solution,
    energies,
    exact_states,
    found,
    last_is_the_end,
    only_the_end,
)
from .phase import check_times, phase_drift
from .results import quiet
from .vectors import norm

_WATCHED = {"energy": "energy_error", "phase": "phase_drift"}
FINE, COARSE = 1e-13, 1e-11  # relative tolerances
MOST = 1 << 18  # numbers that are judged: runs to a tolerance take longer than those at fixed steps


def true_motion(known, solution):
    """States at the saved times by `solve`, and how far they may be off.

    Parameters
    ----------
    known : dict
        Keeps what is found, for solutions of the same motion.
    solution : Solution

    Returns
    -------
    tuple of ndarray, shape (n_saved, *batch, dim), or None
        NaN where a trajectory failed. None for runs with events, a drive or noise, in float32, and
        for more than 2^18 numbers.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.lorenz, dt=0.01, t_end=1.0)
    >>> states, doubt = true_motion({}, sol)
    >>> bool(abs(sol.y - states).max() > 100 * doubt.max())
    True
    """
    problem, start, t = solution._problem, solution.origin, solution.t
    special = problem.driven or problem.random is not None or solution.events
    if special or solution.y.dtype != np.float64 or not 0 < solution.y.size <= MOST:
        return None
    key = start.tobytes(), t.tobytes()
    if key not in known:
        try:
            motion = solution.system, start, solution._origin_time, t
            fine, coarse = (to_a_tolerance(*motion, rtol) for rtol in (FINE, COARSE))
            known[key] = fine, np.abs(fine - coarse)
        except ValueError:  # it takes no tolerance
            known[key] = None
    return known[key]


def errors(solution, quantity, reference=None, truth=None):
    """Absolute errors at the saves, (n_saved, *batch).

    Parameters
    ----------
    solution : Solution
    quantity : {"energy", "phase", "position", "state"}
    reference : Solution, optional
        What phases, positions and states are compared with; the exact motion by default.
    truth : ndarray, optional
        The states of the true motion, if there is no exact one.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the system lacks what it is compared with, or a reference was saved at other times.
    """
    with quiet():  # exploded trajectories
        if quantity == "energy":
            return until_jump(solution, np.abs(solution.energy_error()), "the energy error")
        if quantity == "phase":
            return np.abs(phase_drift(solution, reference))
        if reference is not None:
            reference = check_solution(reference, "error", "reference")
            check_times(solution, reference)
        system = solution.system
        names = system.state_names[: (system.dof or None) if quantity == "position" else None]
        exact = exact_states(solution) if reference is None else _components(reference, names)
        truth = truth if exact is None else exact
        if truth is None:
            raise ValueError(
                f"the system {system.name!r} has no exact solution: give error a "
                "reference, for example the same run with a smaller dt and the matching save"
            )
        return norm(_components(solution, names) - truth[..., : len(names)])


def _components(solution, names):
    """Some components of the saved states, (n_saved, *batch, len(names))."""
    if tuple(names) == tuple(solution.components):
        return solution.y
    return np.stack([solution[name] for name in names], axis=-1)


def watched_error(solution, quantity):
    """The largest error of all steps, (*batch), NaN after a jump; None if it was not watched, or
    the saves end before the run."""
    known = found(solution, "max_abs", _WATCHED.get(quantity, ""))
    if known is None or not np.all(last_is_the_end(solution)):
        return None
    return np.where(has_jumped(solution), np.nan, known)[()]


def measured(solution, known):
    """The numbers of one solution in `Comparison.summary`, by name, except the seconds.

    known: as for `true_motion`.
    """
    kinds = (
        "energy_ratio", "energy_change", "energy_error", "max_energy_error", "phase_error",
        "position_error", "max_position_error", "reference_error",
    )  # fmt: skip
    measures = dict.fromkeys(kinds)
    held, truth = energies(solution), None
    with quiet():
        if held is not None:
            energy, start = held
            measures["energy_ratio"] = np.where(start == 0, np.nan, energy[-1] / start)[()]
            measures["energy_change"] = solution.energy_error()[-1]
    if exact_states(solution) is None and (judged := true_motion(known, solution)):
        truth, doubt = judged
        doubt = doubt[..., : solution.system.dof or None]  # first order: the whole state
        measures["reference_error"] = norm(doubt).max(axis=0)
    for quantity in ("energy",) * (held is not None) + ("position",):
        with suppress(ValueError):  # the motion is not known
            error = errors(solution, quantity, truth=truth)
            made = solution.valid | (solution.status == Status.STOPPED) | (quantity == "energy")
            measures[f"{quantity}_error"] = np.where(made[-1], error[-1], np.nan)[()]
            # What a failed one repeats is no state of its time. The state of a stop is no step's.
            largest = np.max(error, axis=0, where=made, initial=0.0)
            watched = watched_error(solution, quantity)
            if watched is None:
                seen = np.any(made, axis=0) & (not only_the_end(solution))
                watched = np.where(seen, largest, np.nan)[()]
            measures[f"max_{quantity}_error"] = np.maximum(largest, watched)
    with suppress(ValueError):  # the system has no phase, or nothing to compare it with
        measures["phase_error"] = phase_drift(solution)[-1]
    measures["evaluations"] = solution.evaluations
    return measures
