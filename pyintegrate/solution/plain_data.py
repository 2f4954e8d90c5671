"""Systems and methods as JSON and arrays, and back, only by the makers named here."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from ..method.catalogue import find_method
from ..method.composition import from_weights
from ..method.method import Method
from ..method.multistep import Multistep
from ..method.runge_kutta import RungeKutta
from ..method.stochastic import stochastic_method
from ..stochastic.heat_bath import LangevinSystem
from ..stochastic.noisy_system import NoisySystem
from ..system.n_body import restore_bodies
from ..system.system import System, restore
from ..tangents.tangent_system import TangentSystem
from ..trace.tracing import Traced
from ..user_system.traced import TracedSystem, restore_own
from .stored_fields import check_definition, refuse

_MOST_NUMBERS = 64  # in a row of a method's table: the core allows fewer
_DEEP = 40  # nested lists


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


def _traced_system(kind):
    def make(definition, params):
        check_definition(definition, kind is not TracedSystem)
        return restore_own(kind, definition, params)

    return make


def _own_method(maker, count, place):
    """The same for `count` arguments, with the order at `place`, which must not be None."""

    def make(*arguments):
        if len(arguments) != count:
            refuse("method", f"{len(arguments)} arguments, expected {count}")
        order = arguments[place]
        if type(order) is not int or not 1 <= order <= 100:
            refuse("method: order", f"{order!r:.80}")
        for value in arguments:
            _check_lengths(value)
        method = maker(*arguments)
        if not isinstance(method.name, str) or not method.name:
            refuse("method: name", f"{method.name!r:.80}")
        return method

    return make


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
    "method": find_method,
    "stochastic_method": stochastic_method,
    "runge_kutta": RungeKutta,
    "composition": from_weights,
    "multistep": Multistep,
}
_CHECKED = {
    **_MAKERS,
    "runge_kutta": _own_method(RungeKutta, 6, 4),
    "composition": _own_method(from_weights, 5, -1),
    "multistep": _own_method(Multistep, 7, -1),
    "bodies": _bodies,
    **{name: _traced_system(kind) for name, kind in _TRACED.items()},
    "traced": Traced.from_data,
}


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
    if isinstance(value, Traced):
        return {"make": "traced", "args": [to_data(value.as_data(), name, arrays)]}
    if isinstance(value, TangentSystem):
        value = value.plain()
    for maker, kind in _TRACED.items():
        if type(value) is kind:  # a user-defined function, such as exact=, is no data
            parts = value.__reduce__()[1][1:]
            args = [to_data(part, f"{name}_{i}", arrays) for i, part in enumerate(parts)]
            return {"make": maker, "args": args}
    if isinstance(value, System | Method):
        reduced = value.__reduce__()
        for key, maker in _MAKERS.items():
            if reduced[0] is maker:
                args = [to_data(a, f"{name}_{i}", arrays) for i, a in enumerate(reduced[1])]
                return {"make": key, "args": args}
        raise TypeError(f"{value!r} is not data")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, Fraction):
        return {"fraction": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
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
    if kind == "bytes":
        return bytes.fromhex(value)
    if kind == "array":
        return arrays[value]
    if kind == "tuple":
        return tuple(from_data(value, arrays, deep + 1))
    if kind == "dict":
        return {key: from_data(item, arrays, deep + 1) for key, item in value.items()}
    raise ValueError(f"unknown data {kind!r:.80}")
