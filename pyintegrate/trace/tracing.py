"""One call of a user's function with symbols, its checks and its errors."""

import inspect
import math
from functools import cached_property
from itertools import chain, count

import numpy as np

from ..errors import quiet
from . import numpy_functions  # noqa: F401  (what NumPy's functions do to symbols)
from .borders import PIECEWISE, branches
from .derivative import forward
from .elementary import real
from .errors import TraceError, place_of_error, place_of_function
from .expression import NO_TRACING, TABLE, Symbol, Vector, graph_of, node_of, plain
from .graph import MOST_NODES, OPERATIONS, TIME, VELOCITY, Graph, below, degrees, uncollected
from .program import assemble

_MOST_CODE = 1 << 22  # PI_MAX_CODE: each entry of a Jacobian is at least one instruction
_PARTS = "rhs", "acceleration", "velocity"  # of the equations: what the outputs may hold
_POINTS = 4  # at which the program is compared with the plain function
_GENTLE = 9  # the largest degree of a force that is steep nowhere
_AGREEMENT = 1e-6  # of the largest component there: rounding, not mistakes


class Traced:
    """The computations of a user's functions, as a graph and its outputs.

    Attributes
    ----------
    graph : Graph
    outputs : dict
        Question ("rhs" or "acceleration", "velocity", "energy"; with noise "diffusion", "force",
        "bath") -> list of nodes.
    n_params : int
        Rows of parameters.
    """

    def __init__(self, graph, outputs, n_params):
        self.graph, self.outputs, self.n_params = graph, outputs, n_params
        self.programs = {}

    @uncollected()
    def program(self, jacobian=False):
        """The byte code; with the Jacobian only if needed, for it may be long."""
        if jacobian not in self.programs:
            outputs = dict(self.outputs)
            if sides := branches([node for part in _PARTS for node in outputs.get(part, ())]):
                outputs["invariants"] = sides
            if jacobian:
                outputs["jacobian"] = self._jacobian()
            self.programs[jacobian] = assemble(self.graph, outputs, self.n_params)
        return self.programs[jacobian]

    def _jacobian(self):
        graph, dim = self.graph, self.graph.dim
        if dim**2 > _MOST_CODE:
            raise ValueError(f"the Jacobian of {dim} components is too large for byte code")
        state = [graph.state(i) for i in range(dim)]
        zero = graph.constant(0.0)
        slopes = forward(self.slope, state)
        return [row.get(s.number, zero) for row in slopes for s in state]

    @property
    def slope(self):
        """The nodes of y', or of the drift."""
        graph, outputs = self.graph, self.outputs
        if not graph.dof:
            return outputs["rhs"]
        velocity = outputs.get("velocity") or map(graph.state, range(graph.dof, graph.dim))
        return [*velocity, *outputs["acceleration"]]

    def _depends(self, on, *parts):
        """Whether parts of the equations depend on the time (TIME) or the velocity (VELOCITY)."""
        return any(node.depends & on for part in parts for node in self.outputs.get(part, ()))

    velocity_dependent = property(lambda self: self._depends(VELOCITY, "rhs", "acceleration"))
    time_dependent = property(lambda self: self._depends(TIME, *_PARTS))

    @cached_property
    def gentle(self):
        """Whether the force is made of branches of polynomials, sines and cosines, nowhere steep.

        Polynomials above degree 9, with that of the arguments of sines, are as steep as a wall.
        """
        found = degrees(
            self.slope, lambda node: node.operation in ("state", "time"), {"sin", "cos"} | PIECEWISE
        )
        return max(found) <= _GENTLE

    def without_dead_code(self):
        """The same without anything that the outputs do not need, as after unpickling."""
        self.outputs = dict(sorted(self.outputs.items()))
        self.graph.keep(below(chain(*self.outputs.values())))
        return self

    # ---- as data ----
    def as_data(self):
        """Plain tuples, for pickling and comparison: what the outputs need, in order."""
        graph = self.graph
        needed = below(chain(*self.outputs.values()))
        place = {node.number: i for i, node in enumerate(needed)}
        nodes = tuple(
            (n.operation, tuple(place[a.number] for a in n.arguments), n.value) for n in needed
        )
        outputs = tuple(
            (question, tuple(place[node.number] for node in nodes_))
            for question, nodes_ in sorted(self.outputs.items())
        )
        return (graph.dim, graph.dof, self.n_params, nodes, outputs)

    @classmethod
    def from_data(cls, data):
        """The inverse of ``as_data``. Wrong sizes raise here; the verifier checks the rest."""
        dim, dof, n_params, nodes, outputs = data
        if len(nodes) > MOST_NODES:
            raise ValueError(f"{len(nodes)} operations, at most {MOST_NODES}")
        graph = Graph(int(dim), int(dof))
        made, leaves = [], graph.leaves
        for operation, arguments, value in nodes:
            if any(not 0 <= a < len(made) for a in arguments):
                raise ValueError(f"{operation} uses an operation that comes later")
            if operation in leaves:
                made.append(leaves[operation](value))
            elif OPERATIONS.get(operation, (0, -1))[1] == len(arguments):
                made.append(graph.node(operation, tuple(made[a] for a in arguments)))
            else:
                raise ValueError(f"no operation {operation} of {len(arguments)} arguments")
        return cls(graph, {q: [made[i] for i in places] for q, places in outputs}, int(n_params))

    def __reduce__(self):
        return Traced.from_data, (self.as_data(),)

    def __eq__(self, other):
        if not isinstance(other, Traced):
            return NotImplemented
        return repr(self.as_data()) == repr(other.as_data())

    def __hash__(self):
        return hash(repr(self.as_data()))


# ---- symbols for arguments -----------------------------------------------------------------------
def vector(nodes):
    """Nodes as a vector of symbols."""
    array = np.empty(len(nodes), dtype=object)
    array[:] = [Symbol(node) for node in nodes]
    array.flags.writeable = False
    return Vector(array)


def state_symbols(nodes, lead):
    """A state as functions take it: a vector; or so many positions, and the velocities, each a
    vector, or a scalar if it has one component."""
    halves = [nodes[:lead], nodes[lead:]] if lead else [nodes]
    return [Symbol(half[0]) if lead and len(half) == 1 else vector(half) for half in halves]


def parameter_symbols(graph, shapes):
    """Symbols for parameters by name; rows are numbered consecutively."""
    symbols, rows = {}, count()
    for name, shape in shapes.items():
        nodes = [graph.parameter(next(rows)) for _ in range(math.prod(shape))]
        symbols[name] = vector(nodes).reshape(shape) if shape else Symbol(nodes[0])
    return symbols, next(rows)


# ---- the call ------------------------------------------------------------------------------------
def describe(function):
    """Name of a function for messages."""
    return f"{getattr(function, '__name__', repr(function))}()"


def arguments_of(function):
    """The arguments of a function, each with a name: a list of `inspect.Parameter`."""
    try:
        # One of np.vectorize takes any.
        named = function.pyfunc if isinstance(function, np.vectorize) else function
        arguments = [*inspect.signature(named).parameters.values()]
    except (TypeError, ValueError):
        raise TypeError(
            f"{describe(function)} has no signature that Python can read: wrap it in a def"
        ) from None
    for a in arguments:
        if a.kind in (a.VAR_POSITIONAL, a.VAR_KEYWORD):
            raise TypeError(f"{describe(function)} takes {a}: name each argument instead")
    return arguments


def call(function, arguments, params):
    """The function with symbols; an error names the function, the line and the remedy."""
    graph = graph_of(arguments)
    try:
        with quiet():
            result = function(*arguments, **params)
        if graph.refused is not None:
            raise graph.refused
        return result
    except TraceError as error:
        raise _untraceable(function, error) from None
    except RecursionError:
        raise TypeError(
            f"{describe(function)} cannot be traced: it calls itself without end\n  at"
            f" {place_of_function(function)}\n  cure: loop over a plain range"
        ) from None
    except Exception as error:
        if isinstance(error.__cause__, TraceError):  # NumPy: "setting an array element with ..."
            raise _untraceable(function, error.__cause__) from None
        raise TypeError(
            f"{describe(function)} cannot be traced: {type(error).__name__}: {error}\n  at"
            f" {place_of_error(error, function)}\n  cure: {_cure(error)}"
        ) from error
    finally:
        graph.refused = None  # whose frames hold the graph


def call_twice(function, arguments, params):
    """As ``call``, of a function that is not compared with its plain values afterwards."""
    result, again = (call(function, arguments, params) for _ in range(2))
    if _formulas(result) != _formulas(again):
        raise TypeError(
            f"{describe(function)} cannot be traced: it gives another formula when it is called"
            f" again, because it is random or keeps a state\n  at {place_of_function(function)}\n"
            "  cure: draw numbers before the run, as parameters; noise is @pi.sde's"
        )
    return result


def _formulas(result):
    """What a function returned, as nested lists of text: a symbol as its node, with its number."""
    if isinstance(result, Vector | np.ndarray):
        result = result.tolist()
    if isinstance(result, list | tuple):
        return [*map(_formulas, result)]
    return repr(result) if isinstance(result, Symbol) or np.isscalar(result) else type(result)


def _cure(error):
    """The remedy for an error of a user's function."""
    if isinstance(error, NameError):
        if error.name == "np":
            return "import numpy as np, above the function"
        return (
            f"a parameter {error.name!r} is an argument of the function, and has its default in the"
            f" decorator: @pi.rhs(dim=1, {error.name}=1.0), def f(t, y, {error.name}); or correct"
            " its name"
        )
    if isinstance(error, TypeError) and "object is not callable" in str(error):
        return (
            "the state and the parameters are numbers at time t; delays, y(t - 1), are not solved"
            " here: a chain of first-order lags comes close (see the guide, What it is not)"
        )
    if type(error).__module__.startswith("numba"):
        return (
            "give the function as it was before numba.njit, f.py_func; or compile all of the force"
            " with numba.cfunc, for pi.c_function"
        )
    if isinstance(error, IndexError | TypeError) and "integers" in str(error):
        return TABLE
    if "dtype('O')" in str(error) or "has no callable" in str(error):
        return f"gather symbols with np.stack([...]), not np.array([...]) or a list; {NO_TRACING}"
    return (
        "correct the line, if it is wrong (the state has dim or dof components); can be traced:"
        f" pyintegrate.trace.numpy_functions.known_functions(); {NO_TRACING}"
    )


def _untraceable(function, error):
    return TypeError(
        f"{describe(function)} cannot be traced: {error.problem}\n  at {error.place}\n"
        f"  cure: {error.cure}"
    )


def components(function, graph, result, count, what, as_number=real):
    """Nodes of what a function returned: `count` of them; as_number: None keeps truth values."""
    shape = None  # of a ragged array
    try:
        if isinstance(result, Symbol | int | float | np.number | np.bool_):
            values = [result]
            fits = count == 1
        else:
            array = np.asarray(plain(result), dtype=object)
            values = [*map(element, array.ravel())]
            if any(isinstance(value, list | tuple | np.ndarray) for value in values):
                raise ValueError
            shape = array.shape
            fits = shape == (count,) or (count == 1 and shape == () and result is not None)
    except ValueError:
        values, fits = [], False
    if not fits:
        got = (
            "None" if result is None
            else "a scalar" if isinstance(result, Symbol | int | float)
            else "a ragged array" if shape is None
            else f"{len(values)} components" if len(shape) == 1
            else f"an array of shape {shape}" if shape else f"a {type(result).__name__}"
        )  # fmt: skip
        raise ValueError(
            f"{describe(function)} returns {got}, expected {what}\n  at"
            f" {place_of_function(function)}"
        )
    nodes = nodes_of(function, graph, values, as_number)
    for node in nodes:
        if node.is_constant and np.isnan(node.value):
            raise ValueError(
                f"{describe(function)} returns NaN\n  at {place_of_function(function)}"
            )
    return nodes


def nodes_of(function, graph, values, as_number=real):
    """Nodes of single values that a function returned, each as a number, unless that is None."""
    try:
        nodes = [node_of(graph, value) for value in values]
        return [*map(as_number, nodes)] if as_number else nodes
    except TraceError as error:
        raise TypeError(
            f"{describe(function)} returns what is no real number: {error.problem}\n  at"
            f" {place_of_function(function)}\n  cure: {error.cure}"
        ) from None


def element(value):
    """An element of an array of objects."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


# ---- the program against the plain function ------------------------------------------------------
def points(initial):
    """Times and states for the comparison: near the default state, reproducible."""
    generator = np.random.default_rng(0)
    y = generator.uniform(0.5, 1.5, (_POINTS, len(initial)))
    y = np.where(initial != 0, initial * y, y - 0.9)
    return generator.uniform(0.1, 1.0, _POINTS), y


def compare(function, plain_values, traced_values, t, y):
    """Refuse a function whose trace gives other values.

    Parameters
    ----------
    plain_values, traced_values : ndarray, shape (points, components)
    """
    with quiet():
        scale = np.max(np.abs(plain_values), axis=1, keepdims=True)
        off = np.abs(plain_values - traced_values) > _AGREEMENT * scale
    finite = np.isfinite(plain_values).all(axis=1) & np.isfinite(traced_values).all(axis=1)
    wrong = off.any(axis=1) & finite
    if 2 * np.count_nonzero(wrong) > np.count_nonzero(finite):
        i = int(np.argmax(wrong))
        raise ValueError(
            f"{describe(function)} gives {plain_values[i]} at t = {t[i]:.6g}, y = {y[i]}, and its"
            f" trace {traced_values[i]}: it is random, keeps a state, or depends on what a trace"
            f" does not see\n  at {place_of_function(function)}\n  cure: noise is @pi.sde's;"
            f" {NO_TRACING}"
        )
    if np.isnan(plain_values).any(axis=1).all():
        raise ValueError(
            f"{describe(function)} returns NaN at every point that was tried, for example"
            f" t = {t[0]:.6g}, y = {y[0]}\n  at {place_of_function(function)}\n  cure: give"
            " initial= a state where it is defined, or other default parameters"
        )
