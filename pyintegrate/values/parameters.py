"""Values of a system's parameters: declared, checked, and arranged for the batch.

A parameter has the shape of its default: () for a number, (k,) for an array of k elements. A value
is then (*batch, *shape). The C core knows only rows: one for a number, k for an array.
"""

from itertools import count, groupby
from math import prod

import numpy as np

from .checks import numbers, some_of


def declared(rows):
    """Parameters from the rows of the C core, each (name, unit, value, meaning).

    Rows that follow each other under one name are the elements of one array.
    """
    params = []
    for name, elements in groupby(rows, key=lambda row: row[0]):
        (_, unit, first, meaning), *others = elements
        value = (first, *(row[2] for row in others)) if others else first
        params.append((name, unit, checked(name, value), meaning))
    return params


def checked(name, value, shape=None):
    """A float, or a read-only copy of an array of float64, (*batch, *shape), or of any shape."""
    if type(value) is float and not shape:
        return value
    array = numbers(f"parameter {name}", value)
    if shape is not None and array.shape[max(array.ndim - len(shape), 0) :] != shape:
        raise ValueError(
            f"parameter {name} has shape {array.shape}: its last"
            + (
                f" axis must hold the {shape[0]} elements"
                if len(shape) == 1
                else f" axes must hold the {shape} elements"
            )
            + " of a trajectory"
        )
    if array.ndim == 0:
        return float(array)
    array = np.array(array, dtype=np.float64)
    array.flags.writeable = False
    return array


def batch_shape(value, shape):
    """The batch shape of a checked value: () if one value serves all trajectories."""
    return () if type(value) is float else value.shape[: value.ndim - len(shape)]


def ones_of_batch(system):
    """Axes of length 1, as many as the batch of a system's parameters has."""
    return (1,) * max(map(len, system.batch_shapes.values()), default=0)


def rows_of(value, shape):
    """A checked value as the C core takes it: for each element an array of the batch's shape."""
    return [value[(..., *index)] for index in np.ndindex(shape)] if shape else [value]


def short(value):
    """A value as one line of text."""
    if np.ndim(value) == 0:
        return f"{float(value):g}"
    if np.ndim(value) == 1 and 0 < len(value) <= 5:
        return f"({', '.join(f'{number:g}' for number in value)})"
    if np.size(value) == 0:
        return f"array of shape {np.shape(value)}"
    return f"array of shape {np.shape(value)} from {np.min(value):g} to {np.max(value):g}"


def elements_of(system, parameters):
    """(name, row) of each element of the named parameters."""
    given = some_of("parameters", parameters, system.shapes, 0)
    row = count()
    rows = {
        name: [
            (name + (f"[{', '.join(map(str, index))}]" if shape else ""), next(row))
            for index in np.ndindex(shape)
        ]
        for name, shape in system.shapes.items()
    }
    return [element for name in given for element in rows[name]]


def system_at(system, batch, lane):
    """A system with the parameters at some places of a batch, by flat index."""
    params = {
        name: taken(system.params[name], batch, lane, system.shapes[name])
        for name, shape in system.batch_shapes.items()
        if shape
    }
    return system(**params) if params else system


def taken(value, batch, lane, own=()):
    """The entries of an array that broadcasts over the batch, by flat index."""
    if np.ndim(value) == len(own):
        return value
    return np.broadcast_to(value, (*batch, *own)).reshape(prod(batch), *own)[lane]
