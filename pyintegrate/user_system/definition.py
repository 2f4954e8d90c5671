"""A function and its options -> a System: checked, traced, compared with the plain function."""

import copy
import inspect
import math

import numpy as np

from ..errors import quiet
from ..system.definition import SystemDefinition
from ..system.system import ACCELERATION, ENERGY, RHS
from ..trace import tracing
from ..trace.derivative import gradient
from ..trace.expression import NO_TRACING, Symbol, node_of
from ..trace.frozen import Frozen, same
from ..trace.graph import POSITION, TIME, TOO_LONG, VELOCITY, Graph, placed, uncollected
from ..values.checks import (
    MOST_COMPONENTS,
    different_names,
    floats,
    integer,
    string,
    truth,
    units_by_name,
)
from .callback import CallbackSystem, write_rows
from .component_names import default_names, free_names
from .own_system import halves
from .signature import LEADING, MOST_GUESSED, OPTIONS, check_order, parameter_defaults
from .traced import TracedSystem

_COMPARED = "acceleration", "rhs", "sde"  # with the plain function, at a few points


class Definition:
    """The function and the options given to a decorator.

    Parameters
    ----------
    kind : {"acceleration", "rhs", "hamiltonian", "potential"}
    function : callable
    size : int or None
        dof, or dim if kind is "rhs".
    options : dict
        Options of the decorator, and values of parameters.
    """

    made, of_run = TracedSystem, 0  # the type of the system; parameters that belong to a run
    most_in_arrays = math.inf  # see Graph

    def __init__(self, kind, function, size, options):
        self.kind, self.function = kind, function
        known = (*OPTIONS, "mass") if kind == "potential" else OPTIONS
        self.given = {name: options[name] for name in known if name in options}
        values = {name: value for name, value in options.items() if name not in self.given}
        self.name = string("name", self.given.get("name"), getattr(function, "__name__", "system"))
        self.leading, self.defaults = parameter_defaults(kind, function, values)
        self.shapes = {name: np.shape(value) for name, value in self.defaults.items()}
        self.trace = truth("trace", self.given.get("trace", True))
        self._check_velocity_dependent()
        for what in ("energy", "exact"):
            self._check_option(what)
        self.first_order = kind in ("rhs", "sde")
        self.label = "dim" if self.first_order else "dof"
        self.size = self._size_of_options()
        if size is not None:
            self.size = integer(self.label, size, 1, MOST_COMPONENTS)

    def _check_option(self, what):
        function = self.given.get(what)
        if function is None:
            return
        if what == "energy" and self.kind in ("hamiltonian", "potential"):
            raise TypeError(f"@pi.{self.kind} knows its energy: leave energy= out")
        if not callable(function):
            raise TypeError(f"{what} must be a function, got {function!r}")
        try:
            names = [*inspect.signature(function).parameters]
        except ValueError:
            told = f"{what} has no signature that Python can read: wrap it in a def"
            raise TypeError(told) from None
        if what == "exact" and "t0" in names:
            names.remove("t0")
        told = f"{what}={getattr(function, '__name__', repr(function))}"
        motion = ("t", "x", "v") if self.kind == "potential" else LEADING[self.kind][-1]
        check_order(told, names, (motion,))
        if self.kind in ("hamiltonian", "potential"):
            return  # exact(t, q, p, ...), whatever the function's own arguments
        expected = list(inspect.signature(self.function).parameters)[: self.leading]
        check_order(told, names, (tuple(expected),))
        expected += list(self.defaults)
        if len(names) != len(expected) or names[self.leading :] != list(self.defaults):
            raise TypeError(
                f"{what}={tracing.describe(function)} takes {', '.join(names)}: expected the"
                f" arguments of {self.name}(), {', '.join(expected)}"
            )

    def _check_velocity_dependent(self):
        """Only for a force that is called: a trace shows whether it uses the velocity."""
        given = self.given.get("velocity_dependent")
        if given is None:
            return
        truth("velocity_dependent", given)
        if self.trace or self.kind != "acceleration":
            raise TypeError(
                "velocity_dependent= is for @pi.acceleration with trace=False: of a traced function"
                " it is known; leave it out"
            )

    def _size_of_options(self):
        """The number of components according to ``initial`` or ``state_names``, or None."""
        for what in ("initial", "state_names"):
            if self.given.get(what) is not None:
                given = self.given[what]
                given = given.split() if isinstance(given, str) else given
                count = np.asarray(given, dtype=object).size
                return count if self.first_order else max(count // 2, 1)
        return None

    # ---- the system ----
    @uncollected()
    def system(self):
        if not self.trace:
            return self._callback_system()
        size = self.size or self._guess()
        traced = self._traced(size)
        dim, dof = traced.graph.dim, traced.graph.dof
        flat = self.kind == "hamiltonian" and not dof  # its state is (q, p) as well
        definition = self._described(
            dim,
            dof,
            separable="velocity" in traced.outputs,
            traced=traced,
            positions=size if flat else None,
            velocity_dependent=bool(dof and traced.velocity_dependent),
            time_dependent=traced.time_dependent,
            frozen=Frozen(self.function, self.given.get("energy")) or None,
        )
        system = self.made(definition, dict(self.defaults))
        if self.kind in _COMPARED:
            self._compare(system)
        traced.program().handle  # noqa: B018  (the verifier agrees)
        return system

    def _guess(self):
        """The one number of components for which the function works."""
        fits, first = [], None
        for size in range(1, MOST_GUESSED + 1):
            try:
                self._traced(size)
                fits.append(size)
            except (TypeError, ValueError) as error:
                first = first or error
                if TOO_LONG in str(error):  # for every size, and each try takes seconds
                    break
            if size == 1 and fits and not self.first_order:
                return 1  # on scalars
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise ValueError(
                f"{self.name}() works with {', '.join(map(str, fits))} components: give"
                f" {self.label}="
            )
        assert first is not None
        kind = TypeError if isinstance(first, TypeError) else ValueError
        raise kind(f"{first}\n  (tried without {self.label}=: give it if that is the cause)")

    def _traced(self, size):
        graph = Graph(size, 0) if self.first_order else Graph(2 * size, size)
        graph.most_in_arrays = self.most_in_arrays
        params, rows = tracing.parameter_symbols(graph, self.shapes)
        outputs = getattr(self, f"_{self.kind}")(graph, size, params)
        graph = next(iter(outputs.values()))[0].graph  # of a Hamiltonian it may be another one
        if energy := self.given.get("energy"):
            state = self._state(graph)
            outputs["energy"] = self._call(energy, graph, state, params, 1, "one number")
        return tracing.Traced(graph, outputs, rows + self.of_run).without_dead_code()

    def _state(self, graph):
        """The arguments after t: positions and velocities, or the state."""
        return tracing.state_symbols([*map(graph.state, range(graph.dim))], graph.dof)

    def _call(self, function, graph, state, params, count, what):
        """The nodes of a function of the state, and of the time if it is its first argument."""
        time = [Symbol(graph.time())] * (self.leading > len(state))
        force = function is self.function and self.kind in _COMPARED
        call = tracing.call if force else tracing.call_twice
        result = call(function, [*time, *state], params)
        return tracing.components(function, graph, result, count, what)

    def _force(self, graph, size, params):
        state, question = self._state(graph), "acceleration" if graph.dof else "rhs"
        what = f"{size} component{'s' * (size > 1)} ({self.label}={size})"
        return {question: self._call(self.function, graph, state, params, size, what)}

    _acceleration = _rhs = _force

    def _hamiltonian(self, graph, dof, params):
        (energy,) = self._call(self.function, graph, self._state(graph), params, 1, "one number, H")
        state = [graph.state(i) for i in range(2 * dof)]
        velocity = gradient(energy, state[dof:])
        force = [-slope for slope in gradient(energy, state[:dof])]
        separable = not any(n.depends & (POSITION | TIME) for n in velocity) and not any(
            n.depends & VELOCITY for n in force
        )
        if separable:
            return {"acceleration": force, "velocity": velocity, "energy": [energy]}
        flat = Graph(2 * dof, 0)  # of first order: p is part of the state
        *rhs, energy = placed(flat, [*velocity, *force, energy], flat.state)
        return {"rhs": rhs, "energy": [energy]}

    def _potential(self, graph, dof, params):
        x, v = self._state(graph)
        (energy,) = self._call(self.function, graph, [x], params, 1, "one number, V")
        if energy.depends & VELOCITY:
            raise ValueError(f"{self.name}() depends on the velocity: use @pi.acceleration")
        mass = self._mass(params, dof)
        state = [graph.state(i) for i in range(dof)]
        force = [-slope for slope in gradient(energy, state)]
        masses = list(mass) if np.shape(mass) else [mass] * dof
        nodes = [node_of(graph, Symbol(f) / m) for f, m in zip(force, masses, strict=True)]
        kinetic = 0.5 * np.sum(mass * (v * v)) if dof > 1 else 0.5 * mass * v * v
        total = tracing.components(self.function, graph, kinetic + Symbol(energy), 1, "one number")
        return {"acceleration": nodes, "energy": total}

    def _mass(self, params, dof):
        mass = self.given.get("mass", 1.0)
        if isinstance(mass, str):
            if mass not in params or self.shapes[mass] not in ((), (dof,)):
                raise ValueError(
                    f"mass={mass!r}: expected the name of a parameter that is a number or has"
                    f" {dof} elements, of {', '.join(self.defaults) or 'none'}"
                )
            return params[mass]
        value = floats("mass", mass)
        if value.shape not in ((), (dof,)) or not np.all(value > 0):
            raise ValueError(f"mass must be positive, a number or {dof} of them, got {mass!r}")
        return value if value.ndim else float(value)

    def _described(self, dim, dof, **more):
        about = self.given.get("reference") or inspect.getdoc(self.function) or ""
        given = {**self.given, "reference": about}
        return described(self.kind, self.name, self.defaults, given, dim, dof, **more)

    # ---- the plain function ----
    def _plain(self, t, y, dof):
        """The function itself at one point; it must not change its arguments."""
        state = halves(y.copy(), dof)
        params = {name: np.array(value)[()] for name, value in self.defaults.items()}
        given = (state, (*params.values(),))
        kept = copy.deepcopy(given)
        with quiet():
            result = self.function(t, *state, **params)
        self._unchanged(kept, given)
        return self._numbers(result, dof or len(y))

    def _numbers(self, result, count):
        answer = np.empty((count, 1))
        write_rows(self.function, result, answer)
        return answer[:, 0]

    def _unchanged(self, before, after):
        """Refuse a function that has written into its arguments."""
        if not same(before, after):
            raise ValueError(
                f"{tracing.describe(self.function)} changes its arguments\n  at"
                f" {tracing.place_of_function(self.function)}\n  cure: work on copies"
            )

    def _compare(self, system):
        t, y = tracing.points(system.initial)
        plain = np.array([self._plain(*at, system.dof) for at in zip(t, y, strict=True)])
        tracing.compare(self.function, plain, self._answers(system, t, y), t, y)

    def _answers(self, system, t, y):
        """What the traced function says, in the order of ``_numbers``."""
        dof = system.dof
        return system.acceleration(t, y[:, :dof], y[:, dof:]) if dof else system.rhs(t, y)

    def called(self):
        """The system whose force is the function itself, not tried."""
        if self.kind not in ("acceleration", "rhs"):
            raise TypeError(
                f"@pi.{self.kind} takes derivatives and needs a trace: use @pi.acceleration or"
                " @pi.rhs with trace=False"
            )
        if self.size is None and self.kind == "rhs":
            raise ValueError(f"{self.name}(): give dim= where trace=False")
        size = self.size or 1
        dof = 0 if self.first_order else size
        definition = self._described(
            size + dof,
            dof,
            function=self.function,
            energy=self.given.get("energy"),
            velocity_dependent=dof > 0 and self.given.get("velocity_dependent", True),
        )
        return CallbackSystem(definition, dict(self.defaults))

    def _callback_system(self):
        system = self.called()
        t, y = tracing.points(system.initial)
        params = [np.full(len(t), value) for value in system.parameter_rows]
        given = (t, y.T.copy(), params)
        kept = copy.deepcopy(given)
        try:
            with quiet():
                system.answer(RHS, *given)
            self._unchanged(kept, given)
            self._check_alone(system, RHS, self.function, *kept)
            if energy := self.given.get("energy"):
                self._check_alone(system, ENERGY, energy, *kept)
        except (TypeError, ValueError) as error:
            error.add_note(f"{self.name}() is not traced: {NO_TRACING}")
            raise
        if system.dof and not system.velocity_dependent:
            self._check_without_velocity(system, *kept)
        return system

    def _check_alone(self, system, question, function, t, y, params):
        """Refuse a function whose value another trajectory of the batch has changed."""
        each = [slice(None), slice(None), *(slice(i, i + 1) for i in range(len(t)))]
        with quiet():
            together, again, *alone = (
                system.answer(question, t[i], y[:, i].copy(), [row[i] for row in params])
                for i in each
            )
        random = not np.array_equal(together, again, equal_nan=True)
        # NumPy's functions round otherwise for one number than for several.
        largest = np.max(np.abs(together), initial=1e-3, where=np.isfinite(together))
        if not (random or np.allclose(together, np.hstack(alone), 1e-6, 1e-10 * largest, True)):
            raise ValueError(
                f"{tracing.describe(function)} gives a trajectory another value in a batch than"
                f" alone\n  at {tracing.place_of_function(function)}\n  cure: trace=False passes"
                " arrays whose last axis is the batch: reduce the first one,"
                " np.linalg.norm(x, axis=0), (x * x).sum(axis=0)"
            )

    def _check_without_velocity(self, system, t, y, params):
        """Refuse an acceleration that depends on the velocity although declared not to."""
        other = y.copy()
        other[system.dof :] += 1.0
        with quiet():
            a, b = (system.answer(ACCELERATION, t, state.copy(), params) for state in (y, other))
        if not np.array_equal(a, b, equal_nan=True):
            raise ValueError(
                f"{self.name}() changes with the velocity\n  at"
                f" {tracing.place_of_function(self.function)}\n  cure: leave"
                " velocity_dependent=False away"
            )


def described(kind, name, defaults, given, dim, dof=0, separable=False, **more):
    """The definition of a user's system.

    Parameters
    ----------
    kind : str
        The decorator.
    defaults : dict
        Checked values of the parameters.
    given : dict
        Options of the decorator.
    **more
        Further fields.
    """
    names = given.get("state_names")
    if names is None:
        halves = dim // 2 if kind == "hamiltonian" else dof
        names = free_names(default_names(kind, dim, halves), defaults)
    else:
        names = different_names(names, dim, defaults)
    units = units_by_name(given.get("units"), (*names, *defaults, "t"))
    start, state = given.get("initial"), np.ones(dim)
    if start is not None:
        state = floats("initial", start)
    elif kind not in ("rhs", "sde"):
        state[1:] = 0.0
    if state.shape != (dim,) or not np.isfinite(state).all():
        raise ValueError(f"initial must be {dim} finite numbers (the whole state), got {start!r}")
    return SystemDefinition(
        name=name,
        title=string("title", given.get("title"), name.replace("_", " ")),
        equation="",
        reference=given["reference"],
        structure="separable" if separable else "second_order" if dof else "first_order",
        dim=dim,
        dof=dof,
        state=[(n, units[n], x, "") for n, x in zip(names, state, strict=True)],
        params=[(n, units[n], value, "") for n, value in defaults.items()],
        exact=given.get("exact"),
        time_unit=units["t"],
        **more,
    )
