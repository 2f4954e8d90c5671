"""A quantity and what is kept of it."""

from __future__ import annotations

import numpy as np

from ..values.checks import integer, numbers


class Reduction:
    """A quantity and what is kept of it; made by the functions of ``pi.watch``.

    Parameters
    ----------
    name : str
        Of the function that made it.
    quantity : str or callable
    every : int
    after : array_like or None
    trace : callable
        Ledger -> dict: results by suffix, each a function of an Account; see ledger.py.
    """

    def __init__(self, name, quantity, every, after, trace):
        self.name, self.quantity, self.trace = name, quantity, trace
        self.every = integer("every", every, 1)
        self.after = None if after is None else numbers("after", after).astype(np.float64)

    @property
    def quantities(self):
        """All that it looks at: several for a density, none for a user's own reduction."""
        if self.name == "reduce":
            return ()
        return self.quantity if isinstance(self.quantity, tuple) else (self.quantity,)

    def __repr__(self):
        from .quantity import label

        told = ", ".join(map(label, self.quantities)) or label(self.quantity)
        return f"<pi.watch.{self.name} of {told}>"


def seen(values, count):
    """NaN where nothing was seen."""
    return np.where(count > 0, values, np.nan)
