"""Systems with noise: dy = f dt + g dW."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from .. import _core
from ..method.stochastic import KINDS, METHODS
from ..system.system import INVARIANTS, System
from ..tangents.directions import Directions
from ..tangents.tangent_system import laid_out, widened
from ..trace.derivative import directional
from ..trace.expression import node_of
from ..trace.graph import Graph
from ..trace.program import assemble
from ..user_system.traced import TracedSystem
from ..values.parameters import elements_of
from ..values.types import Any, ArrayLike, Floats
from .kinds import kind_of
from .step import OF_RUN, Step, step_program


class NoisySystem(TracedSystem):
    """A System with noise; see ``pi.sde`` and ``pi.langevin``.

    Its ``rhs`` is the drift f. ``pi.integrate`` needs a ``seed`` for it.

    Attributes
    ----------
    noise : {"additive", "diagonal", "commutative", "general"}
        The kind of the noise, proved from the program.
    noises : int
        How many independent noises it has.
    interpretation : {"ito", "stratonovich"}
    """

    shapes_of_run: ClassVar[dict] = {"_of_run": (OF_RUN,)}

    @property
    def noises(self) -> int:
        return len(self.traced.outputs["diffusion"]) // self.dim

    @property
    def interpretation(self) -> str:
        return self.definition.interpretation

    @property
    def langevin(self) -> bool:
        """Whether it is a ``pi.langevin`` system."""
        return "force" in self.traced.outputs

    @property
    def noise(self) -> str:  # type: ignore[override]
        return self._kept("kind", lambda: kind_of(self.traced, self.noises))

    def _kept(self, key, make):
        """What is made once for the traced functions, whatever the parameters."""
        programs = self.traced.programs
        if key not in programs:
            programs[key] = make()
        return programs[key]

    @cached_property
    def parameter_rows(self) -> tuple[Any, ...]:
        """The rows of the system's own parameters, and room for those of the run."""
        own = System.parameter_rows.func(self)  # type: ignore[attr-defined]
        return (*own, *[0.0] * OF_RUN)

    def diffusion(self, t: ArrayLike, y: ArrayLike) -> Floats:
        """g(t, y), shape (*batch, dim, noises).

        Examples
        --------
        >>> import pyintegrate as pi
        >>> growth = pi.sde(dim=1, sigma=0.2)(lambda t, y, sigma: (0.0 * y, sigma * y))
        >>> growth.diffusion(0.0, [10.0])
        array([[2.]])
        """
        flat = self._ask(INVARIANTS, t, y, self.dim * self.noises)
        return flat.reshape(*flat.shape[:-1], self.dim, self.noises)

    def evaluate(self, bits, question, *arguments):
        if question != INVARIANTS:
            return super().evaluate(bits, question, *arguments)
        source = self.traced
        nodes = {"invariants": source.outputs["diffusion"]}
        program = assemble(source.graph, nodes, source.n_params)
        return _core.evaluate(program.handle, bits, question, *arguments)

    def _formulas(self):
        return [line for line in super()._formulas() if not line.endswith("= 0")]

    def _further(self):
        names = (f"g[{n}, {k + 1}]" for n in self.state_names for k in range(self.noises))
        return dict(zip(names, self.traced.outputs["diffusion"]))

    # ---- runs ----
    @property
    def default_method(self) -> str:  # type: ignore[override]
        """The name of the default method."""
        if self.langevin:
            return "baoab"
        if self.noise == "general":
            return "euler_maruyama"
        return "heun_stratonovich" if self.interpretation == "stratonovich" else "milstein"

    def refusal(self, method):
        suited = [name for name, m in METHODS.items() if self._suits(m)]
        if method.family == "noise" and self._suits(method):
            return None
        reason = "is for equations without noise"
        if method.family == "noise":
            reason = (
                "takes pi.langevin systems"
                if method.langevin and not self.langevin
                else "is for overdamped motion"
                if self.langevin
                else f"takes {method.noise} noise"
            )
        return (
            f"method {method.name!r} {reason}, and the noise of {self.name!r} is {self.noise}"
            f" ({self.interpretation}); use {', '.join(suited)}"
        )

    def _suits(self, method):
        if method.langevin:
            return self.langevin
        if method.name == "brownian_baoab" and self.langevin:
            return False
        return KINDS.index(self.noise) <= KINDS.index(method.noise)

    def core_for(self, method):
        if method.family != "noise":
            return super().core_for(method)
        self._look_at_variables()
        if not self.compiled:
            return self._step(method).handle
        from ..trace.compiler import compiled

        key = "compiled", self.interpretation, method.name
        return self._kept(key, lambda: compiled(self, self._step(method)))

    def next_state(self, method):
        """A graph, the nodes of the components after a step, which second numbers that takes."""
        graph = Graph(self.dim, 0)
        step = Step(self, method, graph)
        return graph, [node_of(graph, y) for y in method.step(step)], step.second

    @property
    def with_tangents(self):
        return NoisyTangentSystem

    @property
    def program(self):
        """The byte code of a step of the default method."""
        return self._step(METHODS[self.default_method])

    def _step(self, method):
        key = self.interpretation, method.name
        return self._kept(key, lambda: step_program(self, method))


class NoisyTangentSystem(Directions, NoisySystem):
    """A system with noise and its tangents; made by ``System.tangent``.

    A step is a formula of the state, the parameters and the numbers that are drawn; differentiated
    with these numbers fixed it is the step of the tangents, for every method: they are exactly the
    derivative of the discrete path. Methods suit it as they suit its base.
    """

    noise = property(lambda self: self.definition.base.noise)  # type: ignore[assignment]
    langevin = property(lambda self: self.definition.base.langevin)  # type: ignore[assignment]

    def next_state(self, method):
        base, places, k = self.definition.base, self.places, self.free
        _, after, second = base.next_state(method)
        rows, graph = dict(elements_of(base, base.shapes)), Graph(self.dim, 0)
        elements = [(name, rows[name]) for name in self.directions[k:]]
        made, seeds = widened(graph, places, after, k, elements)
        return graph, laid_out(places, made, directional(made, seeds)), second
