"""User-defined systems, with a force from Python or a pointer."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..system.system import System

if TYPE_CHECKING:
    from typing import Self

    from ..values.types import ArrayLike, MaybeFloats

_JACOBIAN = _core.questions().index("jacobian")
# Families of methods whose steps use the Jacobian.
_TAKE_A_JACOBIAN = _core.limits()["jacobian"]

_OF_THIS_PROCESS = ("compiled", "frozen")  # in a definition, besides the mathematics


class TracedSystem(System):
    """A System whose force was traced; see ``pi.acceleration``, ``pi.rhs`` and ``pi.hamiltonian``.

    It is a System in every way. It pickles as data, without the functions that it was made from (an
    exact solution is pickled by name).
    """

    # ---- description ----
    @property
    def traced(self):
        """The operations of the force, as a graph (``pyintegrate.trace.tracing.Traced``)."""
        return self._definition["traced"]

    @property
    def program(self):
        """The byte code for all questions; prints as readable assembly.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> @pi.acceleration(k=15.0)
        ... def spring(t, x, v, k):
        ...     return -k * x
        >>> print(spring.program.listing(spring.state_names, ["k"]).splitlines()[1].strip())
        out0   = multiply               x, d0
        """
        return self.traced.program(jacobian=True)

    @property
    def has_energy(self) -> bool:
        return "energy" in self.traced.outputs

    @property
    def equation(self) -> str:
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
        return formulas(self.traced.graph, right, left, names, self._parameter_names())

    def _parameter_names(self):
        shapes = self._definition["shapes"]
        return [
            name + (f"[{', '.join(map(str, index))}]" if shape else "")
            for name, shape in shapes.items()
            for index in np.ndindex(shape)
        ]

    def _repr_html_(self):
        from html import escape

        table = super()._repr_html_()
        lines = "<br>".join(f"<code>{escape(line)}</code>" for line in self._formulas())
        return table.replace(f"<code>{escape(self.equation)}</code>", lines)

    # ---- equations ----
    def _evaluate(self, bits, question, *arguments):
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

        check_size(self)
        return source(self)

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
        definition = {**self._definition, "compiled": _Compiled(compiled(self))}
        return type(self)(definition, dict(self._params))

    @property
    def compiled(self) -> bool:
        """Whether it has its own kernels."""
        return "compiled" in self._definition

    @property
    def core(self):
        if self.compiled:
            return self._definition["compiled"].handle
        return self.traced.program().handle

    def _core_for(self, method):
        self._look_at_variables()
        if self.compiled:
            return self.core
        return self.traced.program(method.family in _TAKE_A_JACOBIAN).handle

    def _look_at_variables(self):
        """Warn, once, of numbers outside the function that have changed since its definition."""
        frozen = self._definition.get("frozen")
        if frozen is not None:
            frozen.warn(self)

    def exact(self, t: ArrayLike, y0: ArrayLike, t0: ArrayLike = 0.0) -> MaybeFloats:
        function = self._definition["exact"]
        if function is None:
            return None
        return exact_states(self, function, t, y0, t0)

    def _closed_form(self, what):
        return None

    # ---- equality and pickling ----
    def __eq__(self, other):
        if not isinstance(other, System):
            return NotImplemented
        return (
            type(other) is type(self)
            and _comparable(self._definition) == _comparable(other._definition)
            and self._bits() == other._bits()
        )

    __hash__ = System.__hash__

    def __reduce__(self):
        definition = {k: v for k, v in self._definition.items() if k not in _OF_THIS_PROCESS}
        return _restore, (type(self), definition, dict(self._params))


class _Compiled:
    """A loaded library, shared by copies of the system."""

    def __init__(self, handle):
        self.handle = handle


def _restore(kind, definition, params):
    system = kind(definition, {name: value for name, value, *_ in _defaults(definition)})
    return system(**params)


def _defaults(definition):
    return [(name, value) for name, _, value, _ in definition["params"]]


def _comparable(definition):
    """A definition without arrays, which do not compare."""
    left_out = ("params", "state", "positions", *_OF_THIS_PROCESS)
    plain = {k: v for k, v in definition.items() if k not in left_out}
    for kind in ("params", "state"):
        plain[kind] = tuple(
            (name, unit, np.shape(value), np.asarray(value, dtype=float).tobytes(), meaning)
            for name, unit, value, meaning in definition[kind]
        )
    return plain


def exact_states(system, function, t, y0, t0):
    """A user's exact solution at times t through y0 at t0, (n, *batch, dim)."""
    t, y = np.atleast_1d(np.asarray(t, dtype=np.float64)), system._components(y0)
    batch = np.broadcast_shapes(y[0].shape, np.shape(t0), *system.batch_shapes.values())
    if t.ndim == 1:
        t = t.reshape(-1, *(1,) * len(batch))
    dof, options = system.dof, {}
    if "t0" in inspect.signature(function).parameters:
        options["t0"] = np.asarray(t0, dtype=np.float64)
        moments = t
    elif np.any(np.asarray(t0) != 0) and system._definition["time_dependent"]:
        raise ValueError(
            f"{function.__name__}() is asked for a start at t0 = {t0}, and the force depends on the"
            " time: give it a parameter t0"
        )
    else:
        moments = t - t0
    state = [np.array(y)] if not dof else [y[0], y[1]]
    if dof > 1:
        state = [np.array(y[:dof]), np.array(y[dof:])]
    params = {}
    for name, value in system.params.items():
        shape = system._definition["shapes"][name]
        params[name] = np.moveaxis(
            value, range(-len(shape), 0), range(len(shape))
        ) if shape else value  # fmt: skip
    result = function(moments, *state, **params, **options)
    parts = [np.asarray(part, dtype=np.float64) for part in result]
    if dof > 1 and len(parts) == 2:
        parts = [row for part in parts for row in part]
    if len(parts) != system.dim:
        raise ValueError(
            f"{function.__name__}() returns {len(parts)} components, expected {system.dim}"
            + (" (positions and velocities)" if dof else "")
        )
    shape = np.broadcast_shapes(np.shape(t), batch, *(part.shape for part in parts))
    return np.stack([np.broadcast_to(part, shape) for part in parts], axis=-1)
