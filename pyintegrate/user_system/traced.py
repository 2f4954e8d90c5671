"""User-defined systems, with a force from Python or a pointer."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np

from .. import _core
from ..system.definition import SystemDefinition
from ..system.system import System
from ..trace.tracing import describe
from ..values.types import Self

_JACOBIAN = _core.questions().index("jacobian")
# Families of methods whose steps use the Jacobian.
_TAKE_A_JACOBIAN = _core.limits()["jacobian"]


class TracedSystem(System):
    """A System whose force was traced; see ``pi.acceleration``, ``pi.rhs`` and ``pi.hamiltonian``.

    It is a System in every way. It pickles as data, without the functions that it was made from (an
    exact solution is pickled by name).
    """

    # ---- description ----
    @property
    def program(self):
        """The byte code for all questions; prints as readable assembly; None if there is none.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> @pi.acceleration(k=15.0)
        ... def spring(t, x, v, k):
        ...     return -k * x
        >>> print(spring.program.listing(spring.state_names, ["k"]).splitlines()[1].strip())
        out0   = multiply               x, d0
        """
        return self.traced and self.traced.program(jacobian=True)

    @property
    def has_energy(self) -> bool:
        if self.traced is None:
            return self.definition.energy is not None
        return "energy" in self.traced.outputs

    @property
    def equation(self) -> str:  # type: ignore[override]
        return "; ".join(self._formulas())

    def _formulas(self):
        from ..trace.mathematics import formulas

        names, outputs = self.state_names, self.traced.outputs
        left = [f"{name}'" for name in names]
        if self.dof:
            velocity = outputs.get("velocity")
            if velocity is None:
                velocity = [self.traced.graph.state(self.dof + i) for i in range(self.dof)]
            right = [*velocity, *outputs["acceleration"]]
        else:
            right = outputs["rhs"]
        if self.has_energy:
            left, right = [*left, "E"], [*right, *outputs["energy"]]
        return formulas(right, left, names, self._parameter_names())

    def _parameter_names(self):
        return [
            name + (f"[{', '.join(map(str, index))}]" if shape else "")
            for name, shape in self.shapes.items()
            for index in np.ndindex(shape)
        ]

    def evaluate(self, bits, question, *arguments):
        _core.evaluate(
            self.traced.program(question == _JACOBIAN).handle, bits, question, *arguments
        )

    # ---- compiled ----
    def to_c(self) -> str:
        """The system as C, against the package's own headers: what ``compile()`` builds.

        Raises
        ------
        ValueError
            More components or parameters than a kernel has registers.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> spring = pi.acceleration(k=15.0)(lambda t, x, v, k: -k * x)
        >>> "own_acceleration" in spring.to_c()
        True
        """
        from ..trace.c_source import check_size, source

        check_size(self, self.program)
        return source(self, self.program)

    def compile(self) -> Self:
        """The same system with its own kernels, built by the C compiler of this machine.

        They are as fast as those of the built-in systems and give the bits of the byte code. The
        library is kept in the user's cache folder, named by its content. When pickled, the system
        becomes byte code again.

        Returns
        -------
        System

        Raises
        ------
        RuntimeError
            No C compiler (CC, or cc), or one that fails.
        ValueError
            More components or parameters than a kernel has registers.
        """
        from ..trace.compiler import compiled

        self._look_at_variables()
        return type(self)(
            replace(self.definition, compiled=compiled(self, self.program)), self.params
        )

    @property
    def compiled(self) -> bool:
        """Whether it has its own kernels."""
        return self.definition.compiled is not None

    @property
    def core(self):
        if self.compiled:
            return self.definition.compiled
        return self.traced.program().handle

    def core_for(self, method):
        self._look_at_variables()
        if self.compiled:
            return self.core
        return self.traced.program(method.family in _TAKE_A_JACOBIAN).handle

    def _look_at_variables(self):
        """Warn, once, of numbers outside the function that have changed since its definition."""
        if self.definition.frozen is not None:
            self.definition.frozen.warn(self)

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
        state = [np.array(y)] if not dof else [y[0], y[1]]
        if dof > 1:
            state = [np.array(y[:dof]), np.array(y[dof:])]
        for name, shape in self.shapes.items():
            if shape:
                axes = range(-len(shape), 0), range(len(shape))
                params[name] = np.moveaxis(params[name], *axes)
        parts = [*function(t, *state, **params, **options)]
        if dof > 1 and len(parts) == 2:
            parts = [row for part in parts for row in part]
        if len(parts) != self.dim:
            raise ValueError(
                f"{describe(function)} returns {len(parts)} components, expected {self.dim}"
                + (" (positions and velocities)" if dof else "")
            )
        return parts

    # ---- equality and pickling ----
    def __eq__(self, other):
        if not isinstance(other, System):
            return NotImplemented
        return (
            type(other) is type(self)
            and self.definition.comparable() == other.definition.comparable()
            and self._bits() == other._bits()
        )

    __hash__ = System.__hash__

    def __reduce__(self):
        return restore_own, (type(self), self.definition.as_data(), dict(self.params))


def restore_own(kind, definition, params):
    """A user-defined system from its definition as data (pickling, loading)."""
    definition = SystemDefinition(**definition)
    return kind(definition, definition.defaults)(**params)
