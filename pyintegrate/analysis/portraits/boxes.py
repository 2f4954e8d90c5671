"""A box of states: which components it bounds, and starts that fill it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...values.checks import numbers
from ...values.sobol_points import sobol_points


class Box:
    """Bounds of components of the state.

    Parameters
    ----------
    system : System
    box : mapping of str to (low, high), or array_like (dim, 2)
        A component that a mapping leaves out keeps its default value, and is not bounded.

    Attributes
    ----------
    names : tuple of str
        The bounded components, in the order of the state.
    places : ndarray of int
        Their indices.
    low, high : ndarray
        (k,): their bounds.
    size : ndarray
        (dim,): the lengths in which distances are measured: the widths of the box; max(1, |value|)
        of a component that it leaves out.
    """

    def __init__(self, system, box):
        known = system.state_names
        named = dict(box) if isinstance(box, Mapping) else None
        if named is None:
            bounds = numbers("box", box)
            if bounds.shape != (system.dim, 2):
                raise ValueError(
                    f"box has shape {bounds.shape}: expected (low, high) for each of"
                    f" {', '.join(known)}, or {{'{known[0]}': (low, high), ...}}"
                )
            named = dict(zip(known, bounds, strict=True))
        unknown = [name for name in named if name not in known]
        if unknown or not named:
            raise ValueError(
                f"box has {', '.join(map(repr, unknown)) or 'no component'}: expected components of"
                f" {system.name}, which are {', '.join(known)}"
            )
        self.system, self.names = system, tuple(name for name in known if name in named)
        self.places = np.array([known.index(name) for name in self.names])
        bounds = [numbers(f"box[{name!r}]", named[name]) for name in self.names]
        for name, pair in zip(self.names, bounds, strict=True):
            if pair.shape != (2,) or not np.isfinite(pair).all() or not pair[0] < pair[1]:
                raise ValueError(f"box[{name!r}] must be (low, high), got {named[name]!r}")
        self.low, self.high = np.array(bounds, float).T
        rest = np.zeros(system.dim) if system.initial is None else system.initial
        self._rest = np.array(rest, float)
        self.size = np.maximum(1.0, np.abs(self._rest))
        self.size[self.places] = self.high - self.low

    def filled(self, share):
        """The states (n, dim) at shares (n, k) of the bounded components."""
        y = np.tile(self._rest, (len(share), 1))
        y[:, self.places] = self.low + share * (self.high - self.low)
        return y

    def starts(self, n, seed=None):
        """n states (n, dim) that fill the box evenly."""
        return self.filled(sobol_points(n, len(self.names), seed))

    def holds(self, y, margin=1e-9):
        """Whether states (..., dim) lie in the box, give or take a share of its widths."""
        inside = y[..., self.places]
        room = margin * (self.high - self.low)
        return ((inside >= self.low - room) & (inside <= self.high + room)).all(axis=-1)
