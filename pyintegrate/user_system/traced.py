"""Systems whose force was traced: byte code, or kernels of their own."""

from __future__ import annotations

from dataclasses import replace

from .. import _core
from ..system.system import JACOBIAN
from ..values.parameters import elements_of
from ..values.types import Self
from .own_system import OwnSystem

# Families of methods whose steps use the Jacobian.
_TAKE_A_JACOBIAN = _core.limits["jacobian"]


class TracedSystem(OwnSystem):
    """A System whose force was traced; see ``pi.acceleration``, ``pi.rhs`` and ``pi.hamiltonian``.

    It is a System in every way. It pickles as data, without the functions that it was made from (an
    exact solution is pickled by name).
    """

    gentle = property(lambda self: self.traced.gentle)

    # ---- description ----
    @property
    def program(self):
        """The byte code for all questions; prints as readable assembly.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> @pi.acceleration(k=15.0)
        ... def spring(t, x, v, k):
        ...     return -k * x
        >>> print(str(spring.program).splitlines()[1].strip())
        out0   = multiply               y0, d0
        """
        return self.traced.program(jacobian=True)

    @property
    def has_energy(self) -> bool:
        return "energy" in self.traced.outputs

    def _formulas(self):
        from ..trace.mathematics import formulas

        names, params = self.state_names, [name for name, _ in elements_of(self, self.shapes)]
        told = dict(zip((f"{name}'" for name in names), self.traced.slope)) | self._further()
        return formulas([*told.values()], [*told], names, params)

    def _further(self):
        """What is told beside the slopes: names to nodes."""
        return dict(zip("E", self.traced.outputs.get("energy", ())))

    def evaluate(self, bits, question, *arguments):
        _core.evaluate(self.traced.program(question == JACOBIAN).handle, bits, question, *arguments)

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
