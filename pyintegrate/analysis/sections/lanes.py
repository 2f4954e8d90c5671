"""Some trajectories of a batch, to be run again."""

from __future__ import annotations

import numpy as np


def system_of(solution, lane):
    """The system with the parameters of some trajectories, by flat index."""
    return system_at(solution.system, batch_of(solution), lane)


def system_at(system, batch, lane):
    """A system with the parameters at some places of a batch, by flat index."""
    params = {}
    for name, shape in system.batch_shapes.items():
        if shape:
            value = np.asarray(system.params[name])
            own = value.shape[len(shape) :]  # for one trajectory: () except for array parameters
            params[name] = taken(value, batch, lane, own)
    return system(**params) if params else system


def batch_of(solution):
    """The batch shape of a solution."""
    return solution.final.shape[:-1]


def taken(value, batch, lane, own=()):
    """The entries of an array that broadcasts over the batch, by flat index."""
    if np.ndim(value) == len(own):
        return value
    return np.broadcast_to(value, (*batch, *own)).reshape(-1, *own)[lane]


def again(solution, lane):
    """Arguments of ``integrate`` that repeat some trajectories from their start, to the bit."""
    batch = batch_of(solution)
    return {
        "system": system_of(solution, lane),
        "x0": solution.initial.reshape(-1, solution.initial.shape[-1])[lane],
        "dt": taken(solution.dt, batch, lane),
        "t0": taken(solution.t0, batch, lane),
        "n_steps": solution.n_steps,
        "dtype": solution.initial.dtype,
    }
