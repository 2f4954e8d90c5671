"""Arrays of a Stepper that a user reads and writes between steps."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from .. import _core
from ..values.checks import numbers
from ..values.memory import pad
from ..values.parameters import rows_of


def live_parameters(problem):
    """Rows of each parameter over the batch, and views (*batch, *shape) of them by name."""
    rows, views = [], {}
    for name, value in problem.system.params.items():
        shape = np.shape(value)[len(problem.system.batch_shapes[name]) :]
        padded = pad(rows_of(value, shape), problem.batch, problem.dtype)
        within = padded[:, : problem.lanes].reshape(len(padded), *problem.batch)
        rows.append(padded)
        views[name] = np.moveaxis(within, 0, -1).reshape((*problem.batch, *shape))
    return rows, MappingProxyType(views)


def assign(name, view, value):
    array = numbers(name, value)
    try:
        with np.errstate(over="ignore", under="ignore"):
            _core.to_nearest(view.__setitem__, ..., array)
    except ValueError:
        raise ValueError(f"{name} has shape {array.shape}: expected {view.shape}") from None
