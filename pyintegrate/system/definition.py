"""What a system is, but for the values of its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from .. import _core
from ..values.types import Any, Sequence

_OF_THIS_PROCESS = {"compiled", "frozen", "handle"}  # besides the mathematics


@dataclass(frozen=True, eq=False)
class SystemDefinition:
    """What a system is, but for the values of its parameters.

    Attributes
    ----------
    state, params, invariants : sequence of (name, unit, value, meaning)
        Of each component its start, of each parameter its default.
    shapes : dict, optional
        Name of each parameter to its shape, if that is not of its default.
    positions : int, optional
        Components of x0 if v0 is given, where that is not dof.
    traced : Traced, optional
        The operations of a user-defined force; `interpretation` is that of its noise.
    function, energy, exact : callable, optional
        Of a user: the force that is called, its energy; the exact motion.
    handle, compiled, frozen : optional
        What a user-defined system has in this process alone: the C core's name for a compiled
        function, its own kernels, and the variables that its trace has taken as numbers.
    base, directions : optional
        Of a system with tangents or a heat bath: the one without, and what they are along.
    n, in_units : optional
        Of n bodies.
    """

    name: str
    structure: str
    dim: int
    dof: int
    state: Sequence[tuple[str, str, Any, str]]
    params: Sequence[tuple[str, str, Any, str]]
    title: str
    equation: str
    reference: str
    shapes: Any = None
    velocity_dependent: bool = False
    time_dependent: bool = True
    invariants: Sequence[tuple[str, str, Any, str]] = field(default_factory=list)
    time_unit: str = "s"
    positions: int | None = None
    traced: Any = None
    interpretation: Any = None
    function: Any = None
    energy: Any = None
    exact: Any = None
    handle: Any = None
    compiled: Any = None
    frozen: Any = None
    base: Any = None
    directions: tuple[str, ...] | None = None
    n: int | None = None
    in_units: dict[str, str] | None = None

    def __post_init__(self):
        if self.shapes is None:
            shapes = {name: np.shape(value) for name, value in self.defaults.items()}
            object.__setattr__(self, "shapes", shapes)

    @property
    def defaults(self):
        return {name: value for name, _, value, _ in self.params}

    def as_data(self):
        """The fields that a pickle, a file and a digest hold, by name."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in _OF_THIS_PROCESS and (value is not None or name == "exact")
        }

    def comparable(self):
        """The same without arrays, which do not compare."""
        plain = self.as_data()
        for kind in ("params", "state"):
            plain[kind] = [
                (name, unit, np.shape(value), np.asarray(value, dtype=float).tobytes(), meaning)
                for name, unit, value, meaning in plain[kind]
            ]
        return plain


def sized(name):
    """The descriptor of systems of any size, and what makes the C core's handle of a size."""
    [item] = (item for item in _core.sized_systems if item["name"] == name)
    return item, cache(partial(_core.make_system, name))
