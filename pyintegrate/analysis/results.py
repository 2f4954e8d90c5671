"""What results have in common: a mapping by method, the span of a motion in words, a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from ..errors import quiet as quiet
from ..method.catalogue import find_method
from ..values.table import Several
from ..values.types import Axes, Callable, Integers, Iterator

Value = TypeVar("Value")


@dataclass_transform(frozen_default=True, eq_default=False)
def result_class(kind):
    """A dataclass of results: immutable, equal to itself alone; what it shows is its own affair."""
    return dataclass(frozen=True, eq=False, repr=False)(kind)


class ByMethod(Several[Value]):
    """Results of methods on one motion, by the name of the method."""

    def __init__(self, found, motion):
        self._found, self.system = dict(found), motion.system
        self.t0, self.t_end, self._remarks = motion.t0, motion.t_end, motion._remarks

    def __getitem__(self, name: str) -> Value:
        name = str(name)
        return self._found[name if name in self._found else find_method(name).name]

    def _span(self) -> str:
        """The system and the span of its motion, as the title of a table."""
        unit = self.system.units["t"]
        return f"{self.system.title}, t = {self.t0:g} to {self.t_end:.6g} {unit}".rstrip()


def drawn_by(picture: str) -> Callable[..., Axes]:
    """A method ``plot`` of results: it draws them by a function of `pyintegrate.plots`."""

    def plot(self, **keywords: Any) -> Axes:
        from .. import plots

        return getattr(plots, picture)(self, **keywords)

    plot.__qualname__ = "plot"  # which its errors name
    plot.__doc__ = f"Draw it: see ``pyintegrate.plots.{picture}``; its Axes."
    return plot


def unit_of(system, name):
    """Unit of a component, a parameter or the time ("t"); "" if it has none."""
    unit = system.units.get(name, "")
    return "" if unit == "1" else unit


def with_unit(text: str, unit: str) -> str:
    """Text followed by the unit in brackets, if there is one."""
    return f"{text} [{unit}]" if unit and unit != "1" else text


def name_of(quantity: Any) -> str:
    """The name of a component or a function; "quantity" where there is none."""
    name = quantity if isinstance(quantity, str) else getattr(quantity, "__name__", "")
    return "quantity" if name in ("", "<lambda>") else name


def blocks(count: int, size: int) -> Iterator[Integers]:
    """Indices 0, 1, ... below a count, so many at a time, to bound the memory.

    Examples
    --------
    >>> [part.tolist() for part in blocks(5, 2)]
    [[0, 1], [2, 3], [4]]
    """
    for first in range(0, count, size):
        yield np.arange(first, min(first + size, count))


def in_lanes(values: Any, lane: Any, batch: tuple[int, ...], least: int = 0) -> Any:
    """Values (n, ...) of lanes in ascending order as (*batch, most, ...).

    Where a lane has fewer than `most`, which is `least` or more, there are NaN, 0 or "".

    Examples
    --------
    >>> in_lanes(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2]), (3,)).tolist()
    [[1.0, nan], [nan, nan], [2.0, 3.0]]
    """
    count = np.bincount(lane, minlength=int(np.prod(batch)))
    empty = {"f": np.nan, "c": complex(np.nan, np.nan), "i": 0, "U": ""}[values.dtype.kind]
    shape = (len(count), max(least, count.max(initial=0)), *values.shape[1:])
    found = np.full(shape, empty, values.dtype)
    found[lane, np.arange(len(lane)) - (np.cumsum(count) - count)[lane]] = values
    return found.reshape(*batch, *shape[1:])
