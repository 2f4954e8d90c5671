"""A system: equations of motion with their parameters."""

from __future__ import annotations

from functools import cached_property
from inspect import Parameter, Signature
from math import prod
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from .. import _core
from ..values.checks import broadcast_shape, numbers
from ..values.memory import outward
from ..values.names import ByName, near_names
from ..values.parameters import batch_shape, checked, rows_of, short
from ..values.table import Table
from ..values.types import (
    Any,
    ArrayLike,
    Floats,
    Mapping,
    MaybeFloats,
    Method,
    Never,
    Self,
    Sequence,
    SystemDefinition,
)
from .closed_forms import ClosedForms

# Of the core, by number.
RHS, ACCELERATION, ENERGY, INVARIANTS, JACOBIAN = map(
    _core.questions.index, ("rhs", "acceleration", "energy", "invariants", "jacobian")
)
_MOST_NUMBERS = 1 << 58  # in an array
_OF_ITS_DEFINITION = (
    "name", "title", "equation", "reference", "structure", "dim", "dof", "shapes",
    "velocity_dependent", "traced",
)  # fmt: skip


class _Signature:
    """The parameters of a system as keywords, for those who ask how to call it."""

    def __get__(self, system, owner):
        if system is not None:
            return Signature(
                [
                    Parameter(name, Parameter.KEYWORD_ONLY, default=value)
                    for name, value in system.params.items()
                ]
            )


class _Docstring:
    """That of the class; of a built-in system, for help(), its equation, state, parameters and
    source."""

    def __init__(self, of_class):
        self.of_class = of_class

    def __get__(self, system, owner):
        if system is None:
            return self.of_class
        units = {name: unit for name, unit in system.units.items() if unit != "1"}
        state = dict(zip(system.state_names, system.initial))
        lines = [f"{system.title}: {system.equation}", ""]
        for kind, values in ("state", state), ("parameters", system.params):
            told = [f"{n} = {short(v)} {units.get(n, '')}".rstrip() for n, v in values.items()]
            lines.append(f"{kind}: {', '.join(told) or 'none'}")
        return "\n".join([*lines, "", system.reference])


# Attributes for the package alone, hidden from dir().
_BETWEEN_MODULES = {
    "core", "core_for", "refusal", "ready", "traced", "components", "evaluate", "closed_form",
    "definition", "fitting", "gentle", "shapes", "shapes_of_run", "positions",
}  # fmt: skip


class System(ClosedForms):
    """Equations of motion with parameters; immutable. Call it to change parameters.

    Attributes
    ----------
    name, title, equation, reference : str
    dim, dof : int
        Components of the state; positions (0 for first order).
    structure : {"first_order", "second_order", "separable", "rigid_body"}
    params : mapping
        Name to float, or to a read-only array that broadcasts over the batch. An array parameter
        is (*batch, *shape), where shape is that of its default.
    units : mapping
        Units of the state, the parameters and "t".
    initial : ndarray, shape (dim,)
        The default state.
    velocity_dependent : bool
        Whether the acceleration uses the velocity.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.systems.spring(k=10.0).params["k"]
    10.0
    """

    __doc__ = _Docstring(__doc__)
    name: str
    title: str
    equation: str
    reference: str
    dim: int
    dof: int
    structure: str
    velocity_dependent: bool
    positions: int  # components of x0 if v0 is given
    traced: Any  # the operations of a user-defined force (pyintegrate.trace.tracing.Traced)
    fitting: dict[str, Method]  # methods that were found to fit its structure, by the given names
    core: Any  # the name or handle by which the C core knows it
    noise: str | None = None  # the kind of its noise: stochastic/noisy_system.py
    default_method: str = "rk4"
    shapes_of_run: ClassVar[dict] = {}  # of further parameters, which belong to the run
    _also: ClassVar[tuple[str, ...]] = ()  # what a call takes besides parameters
    gentle: ClassVar[Any] = True  # has it no steep place that an estimate could miss?
    definition: SystemDefinition
    params: Mapping[str, Any]
    shapes: dict[str, tuple[int, ...]]

    def __init__(self, definition, params):
        self.__dict__.update(
            {name: getattr(definition, name) for name in _OF_ITS_DEFINITION},
            definition=definition,
            params=MappingProxyType(ByName(params)),
            core=definition.name,
            positions=definition.dof if definition.positions is None else definition.positions,
            fitting={},
        )

    __signature__ = _Signature()

    def __setattr__(self, name, value):
        raise AttributeError(
            f"a System is immutable; {self.name}(name=value) makes one with other parameters"
        )

    def __dir__(self):
        return sorted({*super().__dir__()} - _BETWEEN_MODULES)

    # ---- description ----
    def core_for(self, method):
        """What the C core knows it by for a method, which may need derivatives.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.systems.spring.core_for(pi.methods.gauss4)
        'spring'
        """
        return self.core

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        return tuple(q[0] for q in self.definition.state)

    @property
    def units(self) -> Mapping[str, str]:
        quantities = (*self.definition.state, *self.definition.params)
        return MappingProxyType(
            ByName({q[0]: q[1] for q in quantities} | {"t": self.definition.time_unit})
        )

    @cached_property
    def batch_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name of each parameter to its batch shape: () if one value serves all."""
        return {k: batch_shape(v, self.shapes[k]) for k, v in self.params.items()}

    @cached_property
    def batched(self) -> bool:
        """Whether a parameter differs between trajectories."""
        return any(self.batch_shapes.values())

    @cached_property
    def parameter_rows(self) -> tuple[Any, ...]:
        """Parameters for the C core: a number or an array for each, or each element of an array."""
        rows = [row for k, v in self.params.items() for row in rows_of(v, self.shapes[k])]
        return tuple(row if np.ndim(row) else float(row) for row in rows)

    @property
    def initial(self) -> Floats:
        return np.array([q[2] for q in self.definition.state])

    def refusal(self, method):
        """Why a method that fits the structure cannot be used nevertheless; None if it can.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.systems.double_well.refusal(pi.methods.rk4)[:43]
        "method 'rk4' is for equations without noise"
        """
        return None

    def ready(self, components, dtype, name="x0"):
        """The components of an initial state, checked and prepared for a run.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> pi.systems.spring.ready([1.0, 0.0], np.float64)
        [1.0, 0.0]
        """
        return components

    @property
    def has_energy(self) -> bool:
        """Whether ``energy()`` returns one, as of all built-in systems with velocities."""
        return self.dof > 0

    def __call__(self, /, *values: Never, **params: ArrayLike) -> Self:
        """The same system with other parameters: scalars, or arrays over the batch.

        Numbers in arrays of xarray are matched by the names of their dimensions, whose labels must
        agree.
        """
        if values:
            names = ", ".join(f"{name}=..." for name in self.shapes)
            raise TypeError(
                f"{self.name} takes its parameters by name: {self.name}({names}); its force is"
                f" {self.name}.rhs(t, y)"
            )
        for name in params:
            if name not in self.shapes:
                known = sorted({*self.shapes, *self._also})
                near, all_names = near_names(name, known), ", ".join(known) or "none"
                hint = f"did you mean {near}?" if near else f"it has {all_names}"
                raise TypeError(f"{self.name} has no parameter {name!r}: {hint}")
        named: dict[str, Any] = {k: v for k, v in params.items() if hasattr(v, "dims")}
        over = {k: v.dims[: max(v.ndim - len(self.shapes[k]), 0)] for k, v in named.items()}
        dims = dict.fromkeys(dim for own in over.values() for dim in own)
        labels = {}
        for name, value in named.items():
            for dim in over[name]:
                index = value.indexes.get(dim)
                if index is not None and not index.equals(labels.setdefault(dim, index)):
                    raise ValueError(
                        f"parameter {name} has other labels along {dim!r} than one before it: align"
                        " them by xarray.align"
                    )
            own = value.transpose(*(dim for dim in dims if dim in over[name]), ...)
            batch = [value.sizes[dim] if dim in over[name] else 1 for dim in dims]
            params[name] = np.asarray(own).reshape(*batch, *own.shape[len(over[name]) :])
        changed = {name: checked(name, value, self.shapes[name]) for name, value in params.items()}
        changed = {**self.params, **changed}
        if check := self.closed_form("check_parameters"):
            check(**changed)
        return type(self)(self.definition, changed)

    # ---- equality and pickling ----
    def _bits(self):
        return tuple((k, np.shape(v), np.asarray(v).tobytes()) for k, v in self.params.items())

    def __eq__(self, other):
        if not isinstance(other, System):
            return NotImplemented
        return self.name == other.name and self._bits() == other._bits()

    def __hash__(self):
        arrays = [name for name, value in self.params.items() if np.ndim(value)]
        if arrays:
            raise TypeError(f"a System with array parameters ({', '.join(arrays)}) is not hashable")
        return hash((self.name, System._bits(self)))

    def __reduce__(self):
        return RESTORE[0], (self.name, dict(self.params))

    # ---- equations ----
    def rhs(self, t: ArrayLike, y: ArrayLike) -> Floats:
        """Time derivative of the state.

        Parameters
        ----------
        t : array_like
            Times, which broadcast against the batch.
        y : array_like, shape (*batch, dim)

        Returns
        -------
        ndarray, shape (*batch, dim)

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.systems.oscillator.rhs(0.0, [1.0, 0.0])
        array([ 0., -1.])
        """
        return self._ask(RHS, t, y, self.dim)

    def acceleration(self, t: ArrayLike, x: ArrayLike, v: ArrayLike) -> MaybeFloats:
        """Acceleration a(t, x, v), shape (*batch, dof), as are x and v. None for first order.

        For a separable system v are the momenta, and this is their rate of change; for a rigid body
        x is its pose (7), v its twist (6). TypeError or ValueError for wrong arguments, here and
        below.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.systems.spring(k=4.0, b=0.5).acceleration(0.0, [1.0], [2.0])
        array([-5.])
        """
        if not self.dof:
            return None
        first = self.positions
        x = _with_axis(self, "x", x, first, "positions")
        v = _with_axis(self, "v", v, self.dim - first, "velocities")
        batch = broadcast_shape({"x": x.shape[:-1], "v": v.shape[:-1]})
        both = [np.broadcast_to(a, (*batch, a.shape[-1])) for a in (x, v)]
        return self.rhs(t, np.concatenate(both, axis=-1))[..., first:]

    def jacobian(self, t: ArrayLike, y: ArrayLike) -> Floats:
        """Derivative of the right-hand side by the state, shape (*batch, dim, dim).

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.systems.spring(k=4.0, b=0.5).jacobian(0.0, [1.0, 2.0])
        array([[ 0. ,  1. ],
               [-4. , -0.5]])
        """
        flat = self._ask(JACOBIAN, t, y, self.dim**2)
        return flat.reshape(*flat.shape[:-1], self.dim, self.dim)

    def energy(self, y: ArrayLike, t: ArrayLike = 0.0) -> MaybeFloats:
        """Energy [J, or that of ``units``], shape (*batch); None if the system has none.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> float(pi.systems.spring(k=4.0).energy([1.0, 2.0]))
        4.0
        """
        if not self.has_energy:
            return None
        return self._ask(ENERGY, t, y, 1)[..., 0]

    def invariants(self, y: ArrayLike, t: ArrayLike = 0.0) -> dict[str, Floats]:
        """Conserved quantities by name, each of shape (*batch).

        The centre of free bodies is that at time 0, and needs t: of a solution,
        ``sol.system.invariants(sol.y, sol.t)`` for a single trajectory.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> float(pi.systems.kepler.invariants([1, 0, 0, 2])["angular_momentum"])
        2.0
        """
        names = [q[0] for q in self.definition.invariants]
        if not names:
            return {}
        values = self._ask(INVARIANTS, t, y, len(names))
        return {name: values[..., i] for i, name in enumerate(names)}

    def components(self, y, name="y"):
        """The components of states (*batch, dim), each (*batch), in double precision.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> [x.tolist() for x in pi.systems.spring.components([[1.0, 2.0], [3.0, 4.0]])]
        [[1.0, 3.0], [2.0, 4.0]]
        """
        y = _with_axis(self, name, y, self.dim)
        return tuple(np.asarray(y[..., d], dtype=np.float64) for d in range(self.dim))

    def _ask(self, question, t, y, answers):
        y = _with_axis(self, "y", y, self.dim)
        dtype = np.dtype(np.float32 if y.dtype == np.float32 else np.float64)
        t = numbers("t", t)
        batch = broadcast_shape({"t": t.shape, "y": y.shape[:-1], **self.batch_shapes})
        lanes = prod(batch)
        if lanes * max(answers, self.dim) > _MOST_NUMBERS:
            raise MemoryError(f"an answer for each of {batch}, the shapes of t and y, is too large")

        def row(value):
            value = np.require(value, dtype, "A")
            whole = value.size == 1 or value.shape == batch
            return value.ravel() if whole else np.broadcast_to(value, batch).ravel()

        out = np.empty((answers, lanes), dtype=dtype)
        rows = tuple(row(y[..., d]) for d in range(self.dim))
        params = tuple(row(value) for value in self.parameter_rows)
        if lanes:
            self.evaluate(dtype.itemsize * 8, question, lanes, row(t), rows, params, out)
        return outward(out, batch)

    def evaluate(self, *arguments):
        """Answer a question of the core for rows of lanes, into memory.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> one, out = np.ones(1), np.empty((2, 1))
        >>> pi.systems.oscillator.evaluate(64, 0, 1, one, (one, one), (one,), out)
        >>> out.ravel().tolist()  # v, -x
        [1.0, -1.0]
        """
        _core.evaluate(self.core, *arguments)

    # ---- derivatives ----
    def tangent(self, k: int = 1, parameters: str | Sequence[str] = ()) -> Any:
        """The system with k tangent vectors beside its state: how neighbouring motions evolve.

        A method applied to it makes the steps of the motion, and the exact derivative of those
        steps, symplectic if the method is.

        Parameters
        ----------
        k : int
            Tangents with arbitrary initial values; the default is the unit vectors, in order.
        parameters : str or sequence of str
            Further tangents, d(state)/d(parameter), one for each element; they begin at 0.

        Returns
        -------
        System
            Of the same structure, with the same parameters. Its state is the base first, then the
            tangents, (y, dy_1, ..., dy_n); with positions and velocities (x, dx_1, ..., dx_n, v,
            dv_1, ..., dv_n). ``initial_state(x0, v0, tangents=...)`` makes such a state,
            ``parts(y)`` splits it, `base` is this system, `directions` names the tangents.

        Raises
        ------
        ValueError
            Rigid bodies, whose rotations are not vectors; unknown parameters; too many components.

        Warns
        -----
        UserWarning
            A force with a kink or a jump (where, abs): the derivative is that of the branch taken.
            A force that is called: the derivatives are central differences.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> system = pi.systems.oscillator.tangent(1, "omega")
        >>> system.state_names
        ('x', 'dx_1', 'dx_domega', 'v', 'dv_1', 'dv_domega')
        >>> y, dy = system.parts(pi.integrate(system, dt=0.01, t_end=1.0).final)
        >>> dy.round(6).tolist()  # (cos t, -t sin t), (-sin t, -sin t - t cos t)
        [[0.540302, -0.841471], [-0.841471, -1.381773]]
        """
        from ..tangents.tangent_system import tangent

        return tangent(self, k, parameters)

    # ---- printing ----
    def __repr__(self):
        return f"{self.name}({', '.join(f'{k}={short(v)}' for k, v in self.params.items())})"

    def _repr_html_(self):
        from html import escape

        quantities = [*self.definition.state, *self.definition.params]
        rows = [
            (name, short(self.params.get(name, value)), "" if unit == "1" else unit, meaning)
            for name, unit, value, meaning in quantities
        ]
        table = Table("", ("name", "value", "unit", "meaning"), rows, align="llll")
        lines = "<br>".join(f"<code>{escape(line)}</code>" for line in self.equation.split("; "))
        return f"<b>{escape(self.title)}</b><br>{lines}{table._repr_html_()}"


def _with_axis(system, name, value, size, what="components"):
    """Numbers whose last axis has so many components, or an error that says how to give it."""
    value, cure = numbers(name, value), ""
    shape = value.shape
    if shape[-1:] == (size,):
        return value
    if value.ndim > 1 and shape[-2] * shape[-1] == size:
        cure = f": give np.reshape({name}, {(*shape[:-2], size)})"
    elif value.ndim > 1 and shape[0] == size:
        cure = f": give np.moveaxis({name}, 0, -1)"
    elif size == 1:
        cure = f": give it the shape {(*shape, 1)}"
    elif hasattr(system, "initial_state"):
        cure = "; system.initial_state(x0, v0) adds tangents to the start of a motion"
    raise ValueError(
        f"{name} has shape {shape}: its last axis holds the {size} {what} of {system.name!r}, whose"
        f" state is ({', '.join(system.state_names)}){cure}"
    )


def components_of(system, x0, v0):
    """Components of the state, each an array of batch shape, and the named batch shapes."""
    dim, lead = system.dim, system.positions
    if x0 is None:
        if v0 is not None:
            raise ValueError("v0 was given without x0: give both, or the whole state as x0")
        if system.initial is None:
            raise ValueError(f"x0 must be given: {system.name!r} here has no default state")
        return list(system.initial), {}
    if v0 is None:
        x0 = _with_axis(system, "x0", x0, dim, "components (without v0)")
        return [x0[..., d] for d in range(dim)], {"x0": x0.shape[:-1]}
    if not lead:
        raise ValueError(
            f"v0 was given, and {system.name!r} is first_order: give the whole state as x0"
        )
    if dim == 2:
        shapes = {}
        if type(x0) is not float:
            x0 = numbers("x0", x0)
            shapes["x0"] = x0.shape
        if type(v0) is not float:
            v0 = numbers("v0", v0)
            shapes["v0"] = v0.shape
        return [x0, v0], shapes
    x0, v0 = _with_axis(system, "x0", x0, lead, "positions"), numbers("v0", v0)
    if v0.ndim == 0:  # the same for all components: usually at rest
        v0 = np.broadcast_to(v0, (dim - lead,))
    v0 = _with_axis(system, "v0", v0, dim - lead, "velocities")
    shapes = {"x0": x0.shape[:-1], "v0": v0.shape[:-1]}
    return [*np.moveaxis(x0, -1, 0), *np.moveaxis(v0, -1, 0)], shapes


# `restore` of catalogue.py, which appends it here: this file lies below, and cannot import it.
RESTORE = []
