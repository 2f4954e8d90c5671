"""A quantity and its reduction."""

from __future__ import annotations

from ..values.checks import floats, integer
from ..values.types import ArrayLike, Function, OfCondition, OfQuantity, Quantity


class Reduction:
    """A quantity and its reduction; made by the functions of ``pi.watch``.

    Parameters
    ----------
    name : str
        The name of the function that made it.
    quantity : str or callable
    every : int
    after : array_like or None
    trace : callable
        Accumulators -> dict: results by suffix (later.py); see accumulators.py.
    samples : int, optional
        At how many equal times it counts in a run to a tolerance.
    """

    def __init__(self, name, quantity, every, after, trace, samples=None):
        self.name, self.quantity, self.trace = name, quantity, trace
        self.samples = None if samples is None else integer("samples", samples, 1)
        self.every = integer("every", every, 1)
        self.after = None if after is None else floats("after", after)

    @property
    def quantities(self):
        """Its quantities: several for a density, none for a user-defined reduction."""
        if self.name == "reduce":
            return ()
        return self.quantity if isinstance(self.quantity, tuple) else (self.quantity,)

    @property
    def kind(self):
        """Itself and its quantity if it includes every step: what an analysis asks for."""
        return (self.name, self.quantity) if self.every == 1 and self.after is None else None

    def __repr__(self):
        from .quantity import label

        told = ", ".join(map(label, self.quantities)) or label(self.quantity)
        return f"<pi.watch.{self.name} of {told}>"


def of_quantity(trace: Function) -> OfQuantity:
    """Make a function of ``pi.watch`` that takes a quantity, from the trace of its reduction."""

    def made(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
        return Reduction(trace.__name__, quantity, every, after, trace)

    return like(made, trace)


def of_condition(trace: Function) -> OfCondition:
    """Make a function of ``pi.watch`` that takes a condition."""

    def made(condition: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
        return Reduction(trace.__name__, condition, every, after, trace)

    return like(made, trace)


def like(made, other):
    """The function `made`, with the name and the docstring of `other`."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(made, name, getattr(other, name))
    return made
