"""Systems and methods in a file: written as data, made again, and compared with those saved.

If a field of the header cannot make an object, a single ValueError begins with the field's name.
"""

from __future__ import annotations

import numpy as np

from ..method.method import Method
from ..system.system import System
from .plain_data import from_data, to_data
from .stored_fields import Refused, refuse


class Mismatch(Exception):
    """The file is intact, but what it needs is not available here."""


def made(field, make, *arguments):
    """The object that a field of the header stands for; any error in it is one ValueError."""
    try:
        return make(*arguments)
    except (Mismatch, MemoryError, Refused):
        raise
    except RecursionError:
        return refuse(field, "it is nested without end")
    except Exception as error:  # a wrong value may raise anything in the constructors
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise ValueError(f"{field}: {kind}{error}") from error


def method_from_data(header, arrays):
    """The method of a header; its coefficients must be those in the file."""
    method = made("method", from_data, header["method"], arrays)
    if not isinstance(method, Method):
        refuse("method", "the stored method is not a Method")
    if not made("coefficients", _has_coefficients, method, header["coefficients"], arrays):
        raise Mismatch(f"the method {method.name!r} has other coefficients in this version")
    return method


def _has_coefficients(method, data, arrays):
    """Whether they are those of a file; arrays, which no method has, are not compared."""
    return bool(from_data(data, arrays) == method.coefficients)


def check_state_names(header, system):
    """The components of a system must be those in the file."""
    if tuple(header["state_names"]) != system.state_names:
        raise Mismatch(
            f"the components of {system.name!r} are {', '.join(system.state_names)}, and were"
            f" {', '.join(header['state_names'])}"
        )


def system_to_data(system, arrays):
    """Data to make it again from; otherwise its name and parameters, for ``system=``."""
    about = {"name": system.name, "slope": [float(x).hex() for x in _slope(system)]}
    made: dict = {}
    try:
        about["made_by"] = to_data(system, "system", made)
    except TypeError:
        made = {}
        about["params"] = to_data(dict(system.params), "params", made)
    arrays |= made
    return about


def _slope(system):
    """The right-hand side at one state with one set of parameters: whether two systems agree."""
    shapes = system.shapes
    one = {
        k: np.asarray(v).reshape(-1, *shapes[k])[:1].reshape(shapes[k])
        for k, v in system.params.items()
        if np.size(v)
    }
    start = np.arange(float(system.dim)) if system.initial is None else system.initial
    with np.errstate(all="ignore"):
        return np.asarray(system(**one).rhs(0.5, start + 0.25), dtype=np.float64)


def system_from_data(about, arrays, given):
    name = about["name"]
    if "made_by" in about and given is None:
        system = from_data(about["made_by"], arrays)
        if not isinstance(system, System):
            refuse("system", "the stored system is not a System")
    elif given is None:
        raise Mismatch(
            f"it holds a solution of {name!r}, a user-defined system that is not data: give it, as"
            f" pi.load(path, system={name})"
        )
    else:
        if "params" in about:
            params = from_data(about["params"], arrays)
        else:
            params = dict(from_data(about["made_by"], arrays).params)
        if given.name != name or set(given.params) != set(params):
            raise Mismatch(
                f"it holds a solution of {name!r} with the parameters {', '.join(params) or 'none'}"
                f", and system is {given.name!r} with {', '.join(given.params) or 'none'}"
            )
        system = given(**params)
    slope = np.array([float.fromhex(x) for x in about["slope"]])
    if slope.shape != (system.dim,):
        refuse("system: slope", f"{len(slope)} numbers, and {name!r} has {system.dim} components")
    if not np.allclose(slope, _slope(system), rtol=1e-9, atol=1e-300, equal_nan=True):
        raise Mismatch(f"the system {name!r} that was saved has other equations")
    return system
