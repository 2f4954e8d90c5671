"""The numbers that characterise a solution in a comparison."""

from contextlib import suppress

import numpy as np

from ..solution.jumps import has_jumped, until_jump
from .comparing.reference import reference
from .observables import energies, exact_states, found, only_the_end
from .phase import phase_drift


def measured(solution, known):
    """The numbers of one solution in `Comparison.summary`, by name, except the seconds.

    known: as for `reference`.
    """
    kinds = (
        "energy_ratio", "max_energy_error", "phase_error", "max_position_error", "reference_error",
    )  # fmt: skip
    measures = dict.fromkeys((*kinds, "energy_error", "position_error"))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # exploded trajectories
        held = energies(solution)
        if held is not None:
            energy, start = held
            measures["energy_ratio"] = np.where(start == 0, np.nan, energy[-1] / start)[()]
            error = until_jump(solution, np.abs(solution.energy_error()), "the energy error")
            measures["energy_error"] = error[-1]
            watched = found(solution, "max_abs", "energy_error")
            measures["max_energy_error"] = (
                _largest(solution, error)
                if watched is None
                else np.where(has_jumped(solution), np.nan, watched)[()]
            )
        exact = exact_states(solution)
        places = slice(None, solution.system.dof or None)  # first order: the whole state
        if exact is None and (judged := reference(known, solution)):
            exact, doubt = judged
            measures["reference_error"] = np.linalg.norm(doubt[..., places], axis=-1).max(axis=0)
        if exact is not None:
            distance = np.linalg.norm(solution.y[..., places] - exact[..., places], axis=-1)
            measures["position_error"] = distance[-1]
            measures["max_position_error"] = _largest(solution, distance)
    with suppress(ValueError):  # the system has no phase, or nothing to compare it with
        measures["phase_error"] = phase_drift(solution)[-1]
    measures["evaluations"] = solution.evaluations
    return measures


def _largest(solution, error):
    """The largest of the saves; NaN if only the end was saved."""
    return np.full_like(error[-1], np.nan) if only_the_end(solution) else error.max(axis=0)
