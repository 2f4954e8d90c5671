"""The number of the arithmetic: where it changes the results of some methods change in their bits.

The C core has the number (csrc/pyintegrate.h); files, pickles and snapshots hold that of the
version that made them, and those of version 0.1, which hold none, are of number 1.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from ..errors import ArithmeticWarning, warn_caller

ARITHMETIC: int = _core.info()["arithmetic"]


def _takes_scales(method, system):
    """Whether the weights of its steps hold the scales of the rates (csrc/kernels/loop.h)."""
    if not any(_core.scales(system.core)):
        return False
    if method.family != "composition":
        return method.name == "rk4"
    kept = method.coefficients["kick"][0] and not method.coefficients["drift"][-1]
    return system.velocity_dependent or not kept


# The methods that each number concerns, and on which systems.
_CONCERNS = {
    2: lambda method, system: method.implicit or method.derivative == 2,
    3: _takes_scales,
}


def warn_of_change(method, system, number):
    """Warn where a run that was begun in arithmetic `number` goes on in ours, and it matters."""
    low, high = sorted((number, ARITHMETIC))
    later = range(low + 1, high + 1)
    if number > ARITHMETIC or any(_CONCERNS[n](method, system) for n in later):
        warn_caller(
            f"the run was computed in arithmetic {number}, and goes on in {ARITHMETIC}: from here"
            f" on the bits of {method.name!r} are not those of one long run (the changelog says"
            " what changed)",
            ArithmeticWarning,
        )


def present_rows(rows, method, dof, number):
    """A state with its history, as this arithmetic lays it out.

    Parameters
    ----------
    rows : ndarray, shape (n, lanes or more), or None
        Components and what the method remembers, or the latter alone, in the arithmetic `number`.
    method : Method
    dof : int
    number : int

    Returns
    -------
    ndarray, or None
    """
    if number > 1 or rows is None or method.derivative != 2:
        return rows
    # Differences of positions have rests since; those of former ones are 0.
    alpha = method.coefficients["alpha"]
    states = len(alpha) - 2 - next(i for i, weight in enumerate(alpha) if weight)
    return np.concatenate([rows, np.zeros((states * dof, rows.shape[1]), rows.dtype)])
