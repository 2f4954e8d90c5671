"""Systems of a user, whatever their force is: what they share."""

from __future__ import annotations

import inspect

import numpy as np

from ..system.definition import SystemDefinition
from ..system.system import System
from ..trace.tracing import describe
from ..values.types import Callable


class OwnSystem(System):
    """A user's System, in every way like a built-in one."""

    gentle = False  # as far as is known
    _formulas: Callable[[], list[str]]  # a line for each component

    @property
    def has_energy(self) -> bool:
        return self.definition.energy is not None

    @property
    def equation(self) -> str:  # type: ignore[override]
        return "; ".join(self._formulas())

    def closed_form(self, what):
        return self._exact if what == "exact" and self.definition.exact is not None else None

    def _exact(self, t, y, t0, **params):
        """A user's exact solution, as that of a built-in system."""
        function, dof, options = self.definition.exact, self.dof, {}
        if "t0" in inspect.signature(function).parameters:
            options["t0"] = t0
        elif np.any(t0 != 0) and self.definition.time_dependent:
            raise ValueError(
                f"{describe(function)} is asked for a start at t0 = {t0}, and the force depends on"
                " the time: give it a parameter t0"
            )
        else:
            t = t - t0

        def over_times(rows, own):
            """With the axes of the times and of the batch after its own ones: x * np.cos(t)."""
            batch = rows.shape[own:]
            return rows.reshape(*rows.shape[:own], *(1,) * (t.ndim - len(batch)), *batch)

        y = np.array(y)
        state = halves(y if dof == 1 else over_times(y, 1), dof)
        for name, shape in self.shapes.items():
            if shape:
                axes = range(-len(shape), 0), range(len(shape))
                params[name] = over_times(np.moveaxis(params[name], *axes), len(shape))
        parts = function(t, *state, **params, **options)
        # An array without an axis of components is one: its first axis is that of the times.
        one = not np.iterable(parts) or getattr(parts, "ndim", None) == t.ndim
        parts = [parts] if one else [*parts]
        if dof > 1 and len(parts) == 2:
            parts = [row for part in parts for row in part]
        if len(parts) != self.dim:
            raise ValueError(
                f"{describe(function)} returns {len(parts)} components, expected {self.dim}"
                + (" (positions and velocities)" if dof else "")
            )
        if any(map(np.iscomplexobj, parts)):
            raise TypeError(f"{describe(function)} returns complex numbers, expected real ones")
        return parts

    # ---- equality and pickling ----
    def _bits(self):
        return type(self), self.definition.comparable(), *super()._bits()

    def __reduce__(self):
        return restore_own, (type(self), self.definition.as_data(), dict(self.params))


def halves(y, dof):
    """The state, components first, as a function takes it: whole, or positions and velocities."""
    if dof < 2:
        return [*y] if dof else [y]
    return [y[:dof], y[dof:]]


def restore_own(kind, definition, params):
    """A user-defined system from its definition as data (pickling, loading)."""
    definition = SystemDefinition(**definition)
    return kind(definition, definition.defaults)(**params)
