"""Motions driven from outside: whether the field changes with time, and what it is at rest."""

from __future__ import annotations

import numpy as np

from ...values.checks import broadcast_shape


def is_driven(system, box):
    """Whether the field depends on time, somewhere in the box."""
    now, later = _fields(system, box)
    return not np.array_equal(now, later, equal_nan=True)


def without_drive(system, box):
    """A driven system without its drive, and the name of the parameter that multiplies it.

    The drive is g * (something that changes with time): the field is linear in g, and without g
    does not change. The system itself and None where no parameter does this.
    """
    for name in system.params if is_driven(system, box) else ():
        rest = system(**{name: 0.0 * system.params[name]})
        if not is_driven(rest, box):
            none = _fields(rest, box)
            once, twice = (_fields(system(**{name: k * system.params[name]}), box) for k in (1, 2))
            if np.allclose(twice - none, 2 * (once - none), equal_nan=True):
                return rest, name
    return system, None


def _fields(system, box):
    """The right-hand side at some states of the box, at two times, and at the first again."""
    y = box.starts(8, 1).reshape(8, *(1,) * len(broadcast_shape(system.batch_shapes)), system.dim)
    return np.stack([np.stack([system.rhs(t, y) for t in times])
                     for times in ((0.3, 0.3, 0.3), (0.7, 13.1, 170.3))])  # fmt: skip
