"""The number of the arithmetic: where it changes the results of some methods change in their bits.

The C core has the number (csrc/pyintegrate.h); files, pickles and snapshots hold that of the
version that made them, and those of version 0.1, which hold none, are of number 1.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from ..errors import ArithmeticWarning, warn_caller

ARITHMETIC: int = _core.info()["arithmetic"]

# The methods that each number concerns.
_CONCERNS = {2: lambda method: method.implicit or method.derivative == 2}


def warn_of_change(method, number):
    """Warn where a run that was begun in arithmetic `number` goes on in ours, and it matters."""
    low, high = sorted((number, ARITHMETIC))
    later = range(low + 1, high + 1)
    if number > ARITHMETIC or any(_CONCERNS[n](method) for n in later):
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
