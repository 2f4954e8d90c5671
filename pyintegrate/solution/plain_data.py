"""Systems and methods as JSON and arrays, and back, only by the makers named here.

If data cannot make an object, a single ValueError begins with the name of its field in the header.
"""

import re
from fractions import Fraction
from functools import partial
from math import prod

import numpy as np

from ..method.catalogue import find_method
from ..method.composition import from_weights
from ..method.method import Method
from ..method.multistep import Multistep
from ..method.runge_kutta import RungeKutta
from ..method.stochastic import stochastic_method
from ..stochastic.heat_bath import LangevinSystem
from ..stochastic.noisy_system import NoisySystem
from ..stochastic.step import OF_RUN
from ..system.catalogue import restore
from ..system.n_body import restore_bodies
from ..system.system import System
from ..tangents.directions import tangent_again
from ..trace.tracing import Traced
from ..user_system.own_system import restore_own
from ..user_system.traced import TracedSystem
from ..values.checks import MOST_COMPONENTS
from ..values.types import Any
from .files import Mismatch, made, refuse
from .sensitivity import checked_names, tangents_of

_MOST_NUMBERS = 64  # in a row of a method's table: the core allows fewer
_DEEP = 40  # nested lists


# ---- makers --------------------------------------------------------------------------------------


def _bodies(n, state, units, params):
    if type(n) is not int or np.shape(state) != (6 * n,):
        refuse("system: n", f"{n!r:.80}, with a state of shape {np.shape(state)}")
    return restore_bodies(n, state, units, params)()  # checked like a new call


# Systems of traced functions, which are data.
_TRACED = {
    "traced_system": TracedSystem,
    "noisy_system": NoisySystem,
    "langevin_system": LangevinSystem,
}


def _traced_system(kind, definition, params):
    _check_definition(definition, kind is not TracedSystem)
    return restore_own(kind, definition, params)


def _own_method(maker, count, place, *arguments):
    """A method of so many arguments, with the order at `place`: it must not be None."""
    if len(arguments) != count:
        refuse("method", f"{len(arguments)} arguments, expected {count}")
    order = arguments[place]
    if type(order) is not int or not 1 <= order <= 100:
        refuse("method: order", f"{order!r:.80}")
    _check_lengths(arguments)
    return maker(*arguments)


def _check_lengths(value):
    """No row of a table may be longer than that of any method."""
    items = value.values() if isinstance(value, dict) else value
    if isinstance(items, list | tuple) and len(items) > _MOST_NUMBERS:
        refuse("method", f"more than {_MOST_NUMBERS} stages")
    if not isinstance(items, str | bytes) and hasattr(items, "__iter__"):
        for item in items:
            _check_lengths(item)


# The functions that may make a system or a method; a file can name no other.
_MAKERS: dict = {
    "system": restore,
    "bodies": restore_bodies,
    "tangent": tangent_again,
    "method": find_method,
    "stochastic_method": stochastic_method,
    "runge_kutta": RungeKutta,
    "composition": from_weights,
    "multistep": Multistep,
    "traced": Traced.from_data,
    **_TRACED,
}
_CHECKED = {
    **_MAKERS,
    "runge_kutta": partial(_own_method, RungeKutta, 6, 4),
    "composition": partial(_own_method, from_weights, 5, -1),
    "multistep": partial(_own_method, Multistep, 7, -1),
    "bodies": _bodies,
    **{name: partial(_traced_system, kind) for name, kind in _TRACED.items()},
}


def _parts(value):
    """(maker, arguments) of a system, a method or a trace; TypeError if it is no data."""
    make, arguments = value.__reduce__()
    if make is restore_own:
        make, *arguments = arguments
    for maker, known in _MAKERS.items():
        if make == known:
            return maker, arguments
    raise TypeError(f"{value!r} is not data")


def to_data(value, name, arrays):
    """JSON, in which arrays are named, fractions are text, and makers are called by name.

    Parameters
    ----------
    value : object
        A value of another kind than those below raises TypeError.
    name : str
        The prefix of the names of arrays inside, followed by their places.
    arrays : dict
        Takes the arrays.
    """
    if isinstance(value, Traced | System | Method):
        maker, parts = _parts(value)
        return {"make": maker, "args": to_data([*parts], name, arrays)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, Fraction):
        return {"fraction": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
        arrays[name] = value
        return {"array": name}
    if isinstance(value, list | tuple):
        items = [to_data(item, f"{name}_{i}", arrays) for i, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {k: to_data(item, f"{name}_{k}", arrays) for k, item in value.items()}}
    raise TypeError(f"{type(value).__name__} is not data")


def from_data(data, arrays, deep=0):
    """The inverse of ``to_data``."""
    if deep > _DEEP:
        raise ValueError(f"it is nested more than {_DEEP} deep")
    if isinstance(data, list):
        return [from_data(item, arrays, deep + 1) for item in data]
    if not isinstance(data, dict):
        return data
    if set(data) == {"make", "args"}:
        if data["make"] not in _CHECKED:
            raise ValueError(f"there is no maker {data['make']!r:.80}")
        return _CHECKED[data["make"]](*from_data(data["args"], arrays, deep + 1))
    if len(data) != 1:
        raise ValueError(f"unknown data {', '.join(data):.80}")
    ((kind, value),) = data.items()
    if kind == "fraction":
        if not re.fullmatch(r"-?[0-9]{1,4000}/0*[1-9][0-9]{0,4000}", value):
            raise ValueError(f"{value!r:.80} is no fraction")
        return Fraction(value)
    if kind == "array":
        return arrays[value]
    if kind == "tuple":
        return tuple(from_data(value, arrays, deep + 1))
    if kind == "dict":
        return {key: from_data(item, arrays, deep + 1) for key, item in value.items()}
    raise ValueError(f"unknown data {kind!r:.80}")


# ---- methods and systems -------------------------------------------------------------------------


def method_from_data(header, arrays):
    """The method of a header; its coefficients must be those in the file."""
    method = made("method", from_data, header["method"], arrays)
    if not isinstance(method, Method):
        refuse("method", "the stored method is not a Method")
    told = made("coefficients", from_data, header["coefficients"], arrays)
    if not made("coefficients", lambda: bool(told == method.coefficients)):  # none has arrays
        raise Mismatch(f"the method {method.name!r} has other coefficients in this version")
    return method


def data_of(system, arrays):
    """Data to make a system again from, whose arrays are added to `arrays`; None if it has none."""
    made = {}
    try:
        found = to_data(system, "system", made)
    except TypeError:
        return None
    arrays |= made
    return found


def system_to_data(system, arrays):
    """Data to make it again from; otherwise its name and parameters, for ``system=``."""
    about = {"name": system.name, "slope": [float(x).hex() for x in _slope(system)]}
    if (made_by := data_of(system, arrays)) is not None:
        return about | {"made_by": made_by}
    return about | {"params": to_data(dict(system.params), "params", arrays)}


def _slope(system):
    """The right-hand side at one state with one set of parameters: whether two systems agree."""
    one = {}
    for name, value in system.params.items():
        shape = system.shapes[name]
        instead = np.eye(*shape) if len(shape) == 2 else np.ones(shape)  # in an empty batch
        one[name] = np.append(value, instead)[: prod(shape)].reshape(shape)
    start = np.arange(float(system.dim)) if system.initial is None else system.initial
    with np.errstate(all="ignore"):
        return np.asarray(system(**one).rhs(0.5, start + 0.25), dtype=np.float64)


def system_from_data(header, arrays, given):
    """The system of a header, whose equations must be those that were saved."""
    about = header["system"]
    name = about["name"]
    if given is None and "made_by" not in about:
        raise Mismatch(
            f"it holds a solution of {name!r}, a user-defined system that is not data: give it, as"
            f" pi.load(path, system={name})"
        )
    system: Any = from_data(about["made_by"], arrays) if "made_by" in about else None
    if given is not None:
        params = dict(system.params) if system else from_data(about["params"], arrays)
        if given.name != name or set(given.params) != set(params):
            raise Mismatch(
                f"it holds a solution of {name!r} with the parameters {', '.join(params) or 'none'}"
                f", and system is {given.name!r} with {', '.join(given.params) or 'none'}"
            )
        system = given(**params)
    if not isinstance(system, System):
        refuse("system", "the stored system is not a System")
    slope = np.array([float.fromhex(x) for x in about["slope"]])
    if slope.shape != (system.dim,):
        refuse("system: slope", f"{len(slope)} numbers, and {name!r} has {system.dim} components")
    if not np.allclose(slope, _slope(system), rtol=1e-9, atol=1e-300, equal_nan=True):
        raise Mismatch(f"the system {name!r} that was saved has other equations")
    if (names := header["sensitivity"]) is not None:
        names, base = checked_names(system, names), system
        system = tangents_of(base, names)[0]
        if len(header["state_names"]) > system.dim:
            system = tangents_of(base, names, 1)[0]
    if (names := tuple(header["state_names"])) != system.state_names:
        raise Mismatch(
            f"the components of {name!r} are {', '.join(system.state_names)}, and were"
            f" {', '.join(names)}"
        )
    return system


_TEXTS = ("name", "title", "equation", "reference", "structure", "time_unit")
_QUESTIONS = {  # and the number of their results: dim or dof components
    "first_order": {"rhs": "dim"},
    "second_order": {"acceleration": "dof"},
    "separable": {"acceleration": "dof", "velocity": "dof"},
}


def _check_definition(definition, noisy):
    """A traced system as data: its names, sizes and results must be consistent."""
    traced, structure, shapes = (definition[name] for name in ("traced", "structure", "shapes"))
    for name in _TEXTS:
        if not isinstance(definition[name], str):
            refuse(f"system: {name}", f"{definition[name]!r:.80}, expected a text")
    if structure not in _QUESTIONS:
        refuse("system: structure", f"{structure!r:.80}")
    second, dim = structure != "first_order", traced.graph.dim
    dof = dim // 2 * second
    told = {
        "dim": dim, "dof": dof, "time_dependent": bool(traced.time_dependent), "invariants": [],
        "velocity_dependent": bool(second and traced.velocity_dependent),
        "exact": None, "compiled": None,
    }  # fmt: skip
    for name, value in told.items():
        found = definition[name] if value is not None else definition.get(name)
        if type(found) is not type(value) or found != value:
            refuse(f"system: {name}", f"{found!r:.80}, and its functions say {value}")
    answers = {"energy": 1} if "energy" in traced.outputs else {}
    answers |= {key: definition[size] for key, size in _QUESTIONS[structure].items()}
    found = {key: len(nodes) for key, nodes in traced.outputs.items()}
    if noisy:
        if definition["interpretation"] not in ("ito", "stratonovich"):
            refuse("system: interpretation", f"{definition['interpretation']!r:.80}")
        noises = found.pop("diffusion", dim * ("bath" in found))
        bath = found.pop("force", dof), found.pop("bath", dof + 1)
        if not noises or noises % dim or bath != (dof, dof + 1):
            refuse("system: traced", f"{noises} numbers of a diffusion of {dim} components")
    if found != answers or traced.graph.dof != dof:
        refuse("system: traced", f"its answers are not those of a {structure} system")
    own = [(name, np.shape(value)) for name, _, value, _ in definition["params"]]
    if [*shapes.items()] != own:
        refuse("system: shapes", "they are not those of its parameters")
    rows = sum(prod(shape) for _, shape in own)
    if rows + OF_RUN * noisy != traced.n_params or max(rows, dim) > MOST_COMPONENTS:
        refuse("system: shapes", f"{rows} numbers, and {traced.n_params} in the force")
    used = (node.value for node in traced.graph.nodes if node.operation == "parameter")
    if not all(0 <= row < rows for row in used):
        refuse("system: traced", f"it uses other parameters than its {rows}")
    state = [name for name, _, value, _ in definition["state"] if np.ndim(value) == 0]
    if len({*state}) != dim or len(definition["state"]) != dim:
        refuse("system: state", f"expected {dim} quantities of different names")
    for what in ("state", "params"):
        for name, unit, value, meaning in definition[what]:
            texts = all(isinstance(text, str) for text in (name, unit, meaning))
            if not texts or np.asarray(value).dtype.kind not in "iuf":
                refuse(f"system: {what}", f"{name!r:.80} has no numbers")
