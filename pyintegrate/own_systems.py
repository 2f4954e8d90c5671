"""Systems of one's own: like those of the catalogue, with a force from Python or a pointer."""

from __future__ import annotations

import importlib
import inspect
from math import prod

import numpy as np

from . import _core
from .systems import System

_BLOCK = 8192  # lanes of one call: many, and still in the second cache
_RHS, _ACCELERATION, _ENERGY, _INVARIANTS, _JACOBIAN = range(5)


class TracedSystem(System):
    """A System whose force was traced; see ``pi.acceleration``, ``pi.rhs`` and ``pi.hamiltonian``.

    It is a System in every way. It pickles as data, without the functions it came from (an exact
    solution is pickled by name).
    """

    __slots__ = ()

    # ---- what it is ----
    @property
    def traced(self):
        """The operations of the force, as a graph (``pyintegrate.trace.tracing.Traced``)."""
        return self._definition["traced"]

    @property
    def program(self):
        """The byte code with all its questions; prints as readable assembly.

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
    def has_energy(self):
        return "energy" in self.traced.outputs

    @property
    def equation(self):
        return "; ".join(self._formulas())

    def _formulas(self):
        from .trace.mathematics import formulas

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

    # ---- questions ----
    def _evaluate(self, bits, question, *arguments):
        _core.evaluate(
            self.traced.program(question == _JACOBIAN).handle, bits, question, *arguments
        )

    # ---- compiled ----
    def to_c(self):
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
        from .trace.c_source import check_size, source

        check_size(self)
        return source(self)

    def compile(self):
        """The same system with kernels of its own, built by the C compiler of this machine.

        They are as fast as those of the built-in systems and have the bits of the byte code. The
        library is kept in the user's cache folder and known by its content. Pickled, the system is
        byte code again.

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
        from .trace.compiler import compiled

        definition = {**self._definition, "compiled": _Compiled(compiled(self))}
        return type(self)(definition, dict(self._params))

    @property
    def compiled(self):
        """Whether it has kernels of its own."""
        return "compiled" in self._definition

    @property
    def core(self):
        if self.compiled:
            return self._definition["compiled"].handle
        return self.traced.program().handle

    def core_for(self, method):
        if self.compiled:
            return self.core
        return self.traced.program(method.family in ("implicit_rk", "multistep")).handle

    def exact(self, t, y0, t0=0.0):
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
        definition = {k: v for k, v in self._definition.items() if k != "compiled"}
        return _restore, (type(self), definition, dict(self._params))


class _Compiled:
    """A loaded library, which a copy of the system shares."""

    def __init__(self, handle):
        self.handle = handle


def _restore(kind, definition, params):
    system = kind(definition, {name: value for name, value, *_ in _defaults(definition)})
    return system(**params)


def _defaults(definition):
    return [(name, value) for name, _, value, _ in definition["params"]]


def _comparable(definition):
    """A definition without arrays, which do not compare."""
    plain = {k: v for k, v in definition.items() if k not in ("params", "state", "compiled")}
    for kind in ("params", "state"):
        plain[kind] = tuple(
            (name, unit, np.shape(value), np.asarray(value, dtype=float).tobytes(), meaning)
            for name, unit, value, meaning in definition[kind]
        )
    return plain


class CallbackSystem(TracedSystem):
    """A System whose force stays a Python function, called for a block of trajectories at once.

    The function gets components first, ``(dof, n)`` or ``(dim, n)`` (``(n,)`` where dof = 1), and
    parameters of shape ``(*shape, n)`` or, where one value serves all, ``shape``.
    """

    __slots__ = ()

    traced = property(lambda self: None)  # type: ignore[assignment]
    program = property(lambda self: None)  # type: ignore[assignment]

    @property
    def has_energy(self):
        return self._definition["energy"] is not None

    @property
    def core(self):
        rows = len(self.parameter_rows)
        return _core.make_callback(_Block(self), 0, self.dim, self.dof, rows, _BLOCK)

    def core_for(self, method):
        return self.core

    def _formulas(self):
        return [f"{self._definition['function'].__name__}(...), a Python function"]

    def _evaluate(self, bits, question, lanes, t, y, params, out):
        y = np.array([np.broadcast_to(row, lanes) for row in y])
        if question == _JACOBIAN:
            out[...] = self._differences(t, y, params).reshape(out.shape)
            return
        out[...] = self.answer(question, t, y, params)

    def answer(self, question, t, y, params):
        """Rows of the right-hand side, the acceleration or the energy.

        Parameters
        ----------
        t : ndarray, shape (lanes,)
        y : ndarray, shape (dim, lanes)
        params : list of ndarray, shape (lanes,) or (1,)
        """
        definition, dof = self._definition, self.dof
        function = definition["energy" if question == _ENERGY else "function"]
        state = [y] if not dof else [y[0], y[1]] if dof == 1 else [y[:dof], y[dof:]]
        result = function(t, *state, **named_parameters(self._definition["shapes"], params))
        rows = 1 if question == _ENERGY else dof or self.dim
        answer = np.empty((rows, y.shape[1]), dtype=y.dtype)
        write_rows(function, result, answer)
        if question == _RHS and dof:
            return np.concatenate([y[dof:], answer])
        return answer

    def _differences(self, t, y, params):
        """Central differences, (dim, dim, lanes): of order h^2, h = cbrt(eps) |y|."""
        rows: list[np.ndarray] = []
        for d in range(self.dim):
            h = np.cbrt(np.finfo(y.dtype).eps) * np.maximum(1, abs(y[d]))
            up, down = y.copy(), y.copy()
            up[d] += h
            down[d] -= h
            change = self.answer(_RHS, t, up, params) - self.answer(_RHS, t, down, params)
            rows.append(change / (up[d] - down[d]))
        return np.stack(rows, axis=1)

    def __reduce__(self):
        """By name: the function itself is not data."""
        function = self._definition["function"]
        module, name = function.__module__, function.__qualname__
        found = _named(module, name)
        if not isinstance(found, CallbackSystem):
            raise TypeError(
                f"{self.name} runs the Python function {name} (trace=False) and pickles by its"
                f" name, which does not lead back to it in {module}: define it at the top of a"
                " module, or leave trace=False away"
            )
        return _named_system, (module, name, dict(self._params))


def _named(module, name):
    """What a module holds under a dotted name, or None."""
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _named_system(module, name, params):
    found = _named(module, name)
    if not isinstance(found, CallbackSystem):
        raise AttributeError(f"{module} has no system {name} any more, which was pickled by name")
    return found(**params)


class _Block:
    """The force of an untraced system for one block of lanes, as the C core calls it.

    What can be known before is: each call costs microseconds, thousands of times.
    """

    def __init__(self, system):
        self.function = system._definition["function"]
        self.dim, self.dof, self.shapes = system.dim, system.dof, system._definition["shapes"]
        rows, self.fixed = system.parameter_rows, {}
        if all(np.ndim(row) == 0 for row in rows):  # one value serves all
            self.fixed = {
                dtype: named_parameters(self.shapes, [np.full(1, row, dtype) for row in rows])
                for dtype in (np.float64, np.float32)
            }

    def __call__(self, question, lanes, t, y, v, p, out):
        """From and to memory that is not kept: the function gets copies."""
        rows = self.dof if question == _ACCELERATION else self.dim
        dtype = np.float64 if len(out) == 8 * rows * lanes else np.float32

        def read(memory):
            return np.array(np.frombuffer(memory, dtype)).reshape(-1, lanes)

        state = [read(y), read(v)] if question == _ACCELERATION else [read(y)]
        if self.dof == 1:
            state = [half[0] for half in state]
        params = self.fixed[dtype] if self.fixed else named_parameters(self.shapes, read(p))
        with np.errstate(all="ignore"):  # lanes that have failed are computed with the others
            result = self.function(read(t)[0], *state, **params)
            write_rows(self.function, result, np.frombuffer(out, dtype).reshape(-1, lanes))


def named_parameters(shapes, rows):
    """Parameters by name from rows of lanes, or of one item: numbers, rows, (*shape, lanes)."""
    named: dict[str, np.ndarray] = {}
    at = 0
    for name, shape in shapes.items():
        if shape:
            size = prod(shape)
            named[name] = np.array(np.broadcast_arrays(*rows[at : at + size])).reshape(*shape, -1)
            at += size
        else:
            named[name] = rows[at][0] if len(rows[at]) == 1 else rows[at]
            at += 1
    return named


def write_rows(function, result, out):
    """Write what a batched function returned into rows (components, lanes).

    Raises
    ------
    TypeError, ValueError
        Something else than real numbers, or of another shape; the function is named.
    """
    name, (rows, lanes) = function.__name__, out.shape
    shapes = (out.shape, out.shape[1:]) if rows == 1 else (out.shape,)
    if isinstance(result, np.ndarray) and result.dtype == out.dtype and result.shape in shapes:
        out[...] = result
        return
    if rows == 1 and np.ndim(result) <= 1 and not isinstance(result, list | tuple):
        result = [result]
    if result is None or np.ndim(result) == 0 or len(result) != rows:
        got = np.size(result) if result is None or np.ndim(result) == 0 else len(result)
        raise ValueError(f"{name}() returns {got} components, expected {rows}")
    for to, row in zip(out, result, strict=True):
        row = np.asarray(row)
        if row.dtype.kind not in "biuf":
            raise TypeError(f"{name}() returns {row.dtype}, expected real numbers")
        if row.shape not in ((), (1,), (lanes,)):
            raise ValueError(
                f"{name}() returns a component of shape {row.shape}, expected ({lanes},)"
            )
        to[...] = row


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
