"""Arrays of a Stepper that a user reads and writes between steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..values.checks import numbers
from ..values.memory import outward, pad
from ..values.parameters import rows_of

if TYPE_CHECKING:
    from typing import Any

    from ..values.types import ArrayLike, Floats


class LiveParameters(Mapping):
    """Parameters by name: arrays with fixed addresses whose numbers may be written."""

    def __init__(self, views):
        self._views = views

    def __getitem__(self, name):
        return self._views[name]

    def __iter__(self):
        return iter(self._views)

    def __len__(self):
        return len(self._views)

    def __setitem__(self, name, value):
        if name not in self._views:
            known = ", ".join(self._views) or "none"
            raise TypeError(f"stepper.params has no {name!r}; it has {known}")
        raise TypeError(
            f"stepper.params[{name!r}] is an array that the steps read: write its numbers,"
            f" stepper.params[{name!r}][...] = value"
        )

    def __repr__(self):
        return repr(self._views)


def live_parameters(problem):
    """Rows of each parameter over the batch, and views (*batch, *shape) of them by name."""
    rows, views = [], {}
    for name, value in problem.system.params.items():
        shape = np.shape(value)[len(problem.system.batch_shapes[name]) :]
        padded = pad(rows_of(value, shape), problem.batch, problem.dtype)
        within = padded[:, : problem.lanes].reshape(len(padded), *problem.batch)
        rows.append(padded)
        views[name] = np.moveaxis(within, 0, -1).reshape((*problem.batch, *shape))
    if problem.random is not None:  # the run's own
        rest = problem.rows_params[sum(map(len, rows)) :]
        rows.append(pad(rest, (problem.stride,), problem.dtype))
    return rows, LiveParameters(views)


def assign(name, view, value):
    array = numbers(name, value)
    try:
        with np.errstate(over="ignore", under="ignore"):
            _core.to_nearest(view.__setitem__, ..., array)
    except ValueError:
        raise ValueError(f"{name} has shape {array.shape}: expected {view.shape}") from None


class LiveState:
    """The state of a Stepper as views of its rows."""

    _problem: Any
    _rows: Any
    _core: Any
    _has_history: bool

    def _components(self, rows):
        """(dim, *batch)"""
        within = rows[: self._problem.system.dim, : self._problem.lanes]
        return within.reshape(self._problem.system.dim, *self._problem.batch)

    def _view(self, first, count, single):
        lanes, batch = self._problem.lanes, self._problem.batch
        if single:
            return self._rows[first, :lanes].reshape(batch)
        return outward(self._rows[first : first + count, :lanes], batch)

    @property
    def y(self) -> Floats:
        return self._view(0, self._problem.system.dim, False)

    @y.setter
    def y(self, value: ArrayLike) -> None:
        assign("y", self.y, value)

    @property
    def x(self) -> Floats:
        lead = self._positions()
        return self._view(0, lead, lead == 1)

    @x.setter
    def x(self, value: ArrayLike) -> None:
        assign("x", self.x, value)

    @property
    def v(self) -> Floats:
        lead = self._positions()
        return self._view(lead, self._problem.system.dim - lead, lead == 1)

    @v.setter
    def v(self, value: ArrayLike) -> None:
        assign("v", self.v, value)

    @property
    def previous(self) -> Floats:
        dof = self._positions()
        if not self._problem.method.starts_from_positions:
            raise AttributeError(
                f"{self._problem.method.name!r} does not step from previous positions"
            )
        if self._core.n == 0 and not self._has_history:
            raise ValueError(
                "there are no previous positions before the first step: give start=, or assign them"
            )
        return self._view(self._problem.system.dim, dof, dof == 1)

    @previous.setter
    def previous(self, value: ArrayLike) -> None:
        dof = self._positions()
        if not self._problem.method.starts_from_positions:
            raise AttributeError(
                f"{self._problem.method.name!r} does not step from previous positions"
            )
        view = self._view(self._problem.system.dim, dof, dof == 1)

        def remember():
            assign("previous", view, value)
            self._has_history = True
            self._core.begin(self._core.n, True)

        self._core.alter(remember)

    def _positions(self):
        if not self._problem.system.positions:
            raise AttributeError(
                f"{self._problem.system.name!r} is first_order and has no x and v; use y"
            )
        return self._problem.system.positions
