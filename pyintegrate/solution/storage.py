"""A Solution as a header and arrays, and back: everything that it can do, it can do once loaded.

The file holds what a run was (system, method, times, options), the saved states with the component
axis second, ``y`` (n_saved, n_components, *batch), the full first and last states that ``resume``
and ``energy_error`` start from, and the failures. Systems and methods are stored by name, or as the
plain data that their ``__reduce__`` gives; never as code.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .. import _core
from ..former_names import remake
from ..method.catalogue import find_method
from ..method.composition import from_weights
from ..method.method import Method
from ..method.multistep import Multistep
from ..method.runge_kutta import RungeKutta
from ..run.arguments import make_run
from ..run.failures import Failures
from ..run.output import Outcome
from ..system.n_body import restore_bodies
from ..system.system import System, restore
from ..trace.tracing import Traced
from ..user_system.traced import TracedSystem
from ..user_system.traced import _restore as _restore_own
from ..values.memory import pad
from . import files
from .solution import Solution

FORMAT, VERSION = "pyintegrate solution", 1
# What may be called to make a system or a method again; a file names no other function.
_MAKERS: dict = {
    "system": restore,
    "bodies": restore_bodies,
    "method": find_method,
    "runge_kutta": RungeKutta,
    "composition": from_weights,
    "multistep": Multistep,
    "own_method": remake,
    "traced_system": lambda definition, params: _restore_own(TracedSystem, definition, params),
    "traced": Traced.from_data,
}


def save(solution, path):
    """Write a solution; see ``Solution.save``."""
    problem, options = solution._problem, solution._options
    arrays: dict = {}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"pyintegrate {_core.info()['version']}",
        "system": _system_to_data(problem.system, arrays),
        "method": _to_data(problem.method, "method", arrays),
        "coefficients": _to_data(problem.method.coefficients, "coefficients", arrays),
        "dtype": problem.dtype.name,
        "batch": list(problem.batch),
        "first": int(problem.first),
        "n_steps": int(problem.n_steps),
        "completed": int(solution.n_steps),
        "save": options.save,
        "bound": options.bound,
        "on_failure": options.on_failure,
        "components": list(solution.components),
        "starter": _to_data(problem.starter, "starter", arrays),
        "begun": problem.has_history,
        "driven": problem.driven,
        "state_names": list(problem.system.state_names),
    }
    y = solution._states
    shape = (len(solution), y.shape[-1], *y.shape[1:-1])
    arrays |= {
        "t": solution.t,
        "steps": solution.steps,
        "dt": np.asarray(problem.dt),
        "t0": np.asarray(problem.t0),
        "y": files.Blocks(
            shape, problem.dtype, lambda a, b: np.moveaxis(np.asarray(y[a:b]), -1, 1)
        ),
        "first_state": problem.initial[:, : problem.lanes],
        "last_state": solution._last_rows(),
        "failed_index": solution._failures.index,
        "failed_status": solution._failures.status,
        "failed_step": solution._failures.step,
    }
    files.write(path, header, arrays)


def load(path, system=None):
    """Read a solution that ``Solution.save`` wrote.

    Parameters
    ----------
    path : str or path
        Ends in .npz or .zarr (which needs the package zarr).
    system : System, optional
        For a solution of a system of one's own that could not be stored as data: the same system;
        its parameters are taken from the file.

    Returns
    -------
    Solution
        It answers, and goes on, like the one that was saved.

    Raises
    ------
    FileNotFoundError
    ValueError
        The file is damaged or is something else, was written by a newer version, or holds a system
        of one's own and `system` is missing or another.

    Examples
    --------
    >>> import os, tempfile, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.pendulum, dt=0.01, n_steps=100)
    >>> path = os.path.join(tempfile.mkdtemp(), "pendulum.npz")
    >>> sol.save(path)
    >>> pi.load(path)
    <Solution of pendulum(g=9.81, length=1) by rk4: 100 steps of dt = 0.01, 101 saved, 1 trajectory>
    """
    if system is not None and not isinstance(system, System):
        raise TypeError(f"system must be a System, got {type(system).__name__}")
    header, arrays = files.read(path)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} holds no solution of pyintegrate")
    if not isinstance(header.get("version"), int) or header["version"] > VERSION:
        raise ValueError(
            f"{path} was written by {header.get('written_by')}, format {header.get('version')}:"
            f" this version reads formats up to {VERSION}; upgrade pyintegrate"
        )
    try:
        system = _system_from_data(header["system"], arrays, system)
        return _solution(header, arrays, system)
    except _Mismatch as error:
        raise ValueError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: {type(error).__name__}: {error}") from error


class _Mismatch(Exception):
    """The file is whole, and what it needs is not here."""


def _solution(header, arrays, system):
    method = _from_data(header["method"], arrays)
    if not isinstance(method, Method):
        raise TypeError("the stored method is not a Method")
    if _from_data(header["coefficients"], arrays) != method.coefficients:
        raise _Mismatch(f"the method {method.name!r} has other coefficients in this version")
    batch, dim = tuple(header["batch"]), system.dim
    dt, t0 = (float(a) if a.ndim == 0 else a for a in (arrays["dt"], arrays["t0"]))
    first, last, y = arrays["first_state"], arrays["last_state"], arrays["y"]
    dtype = np.dtype(header["dtype"])
    failed = tuple(arrays[f"failed_{what}"] for what in ("index", "status", "step"))
    problem, options = make_run(
        system, np.moveaxis(first[:dim], 0, -1).reshape(*batch, dim), dt=dt,
        n_steps=header["n_steps"], t0=t0, method=method, dtype=dtype, save=header["save"],
        on_failure=header["on_failure"],
        bound=None if header["bound"] == np.inf else header["bound"],
    )  # fmt: skip
    remembered = len(problem.initial)
    starter = _from_data(header["starter"], arrays)
    if starter is not None and not isinstance(starter, Method):
        raise TypeError("the stored starter is not a Method")
    problem = problem.changed(
        initial=pad(first, (problem.lanes,), dtype),
        first=header["first"],
        starter=starter,
        has_history=bool(header["begun"]),
        drive_strides=(0,) * len(problem.rows_params) if header["driven"] else None,
    )
    count, components = len(arrays["steps"]), header["components"]
    expected = (count, len(components), *batch)
    lanes = (problem.lanes,)
    checks = {
        "y": y.shape == expected and y.dtype == dtype,
        "batch": problem.batch == batch,
        "states": first.dtype == last.dtype == dtype and first.shape[1:] == last.shape[1:] == lanes,
        "rows": len(first) == remembered and len(last) in (dim, remembered),
        "components": set(components) <= set(system.state_names),
        "completed": 0 <= header["completed"] <= header["n_steps"] and header["first"] >= 0,
        "failures": [part.dtype for part in failed] == [np.int64, np.int8, np.int64]
        and len({part.shape for part in failed}) == 1
        and bool(np.all((failed[0] >= 0) & (failed[0] < problem.lanes))),
    }
    if not all(checks.values()):
        raise ValueError(f"{', '.join(k for k, good in checks.items() if not good)} do not fit")
    if tuple(components) != system.state_names:
        options = options.changed(components=tuple(components))
    outcome = Outcome(
        completed=header["completed"],
        states=np.moveaxis(y, 1, -1),
        final=last[:dim],
        history=last[dim:] if len(last) > dim else None,
        failures=Failures(*failed),
    )
    return Solution(problem, options, outcome)


# ---- systems and methods as data -----------------------------------------------------------------


def _system_to_data(system, arrays):
    """What makes it again; where nothing does, its name and parameters, for ``system=``."""
    about = {"name": system.name, "slope": [float(x).hex() for x in _slope(system)]}
    made: dict = {}
    try:
        about["made_by"] = _to_data(system, "system", made)
    except TypeError:
        made = {}
        about["params"] = _to_data(dict(system.params), "params", made)
    arrays |= made
    return about


def _slope(system):
    """The right-hand side at one state with one set of parameters: whether two systems agree."""
    shapes = system._definition["shapes"]
    one = {
        k: np.asarray(v).reshape(-1, *shapes[k])[:1].reshape(shapes[k])
        for k, v in system.params.items()
        if np.size(v)
    }
    start = np.arange(float(system.dim)) if system.initial is None else system.initial
    with np.errstate(all="ignore"):
        return np.asarray(system(**one).rhs(0.5, start + 0.25), dtype=np.float64)


def _system_from_data(about, arrays, given):
    name = about["name"]
    if "made_by" in about and given is None:
        system = _from_data(about["made_by"], arrays)
        if not isinstance(system, System):
            raise TypeError("the stored system is not a System")
    elif given is None:
        raise _Mismatch(
            f"it holds a solution of {name!r}, a system of one's own that is not data: give it, as"
            f" pi.load(path, system={name})"
        )
    else:
        if "params" in about:
            params = _from_data(about["params"], arrays)
        else:
            params = dict(_from_data(about["made_by"], arrays).params)
        if given.name != name or set(given.params) != set(params):
            raise _Mismatch(
                f"it holds a solution of {name!r} with the parameters {', '.join(params) or 'none'}"
                f", and system is {given.name!r} with {', '.join(given.params) or 'none'}"
            )
        system = given(**params)
    slope = np.array([float.fromhex(x) for x in about["slope"]])
    if not np.allclose(slope, _slope(system), rtol=1e-9, atol=1e-300, equal_nan=True):
        raise _Mismatch(f"the system {name!r} that was saved has other equations")
    return system


def _to_data(value, name, arrays):
    """JSON, in which arrays are named, fractions are text, and makers are called by name."""
    if isinstance(value, Traced):
        return {"make": "traced", "args": [_to_data(value.as_data(), name, arrays)]}
    if type(value) is TracedSystem:  # a function of its own, such as exact=, is no data
        parts = [value._definition, dict(value.params)]
        args = [_to_data(part, f"{name}_{i}", arrays) for i, part in enumerate(parts)]
        return {"make": "traced_system", "args": args}
    if isinstance(value, System | Method):
        reduced = value.__reduce__()
        for key, maker in _MAKERS.items():
            if reduced[0] is maker:
                args = [_to_data(a, f"{name}_{i}", arrays) for i, a in enumerate(reduced[1])]
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
        items = [_to_data(item, f"{name}_{i}", arrays) for i, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {k: _to_data(item, f"{name}_{k}", arrays) for k, item in value.items()}}
    raise TypeError(f"{type(value).__name__} is not data")


def _from_data(data, arrays):
    if isinstance(data, list):
        return [_from_data(item, arrays) for item in data]
    if not isinstance(data, dict):
        return data
    if "make" in data:
        return _MAKERS[data["make"]](*_from_data(data["args"], arrays))
    ((kind, value),) = data.items()
    if kind == "fraction":
        return Fraction(value)
    if kind == "bytes":
        return bytes.fromhex(value)
    if kind == "array":
        return arrays[value]
    if kind == "tuple":
        return tuple(_from_data(value, arrays))
    if kind == "dict":
        return {key: _from_data(item, arrays) for key, item in value.items()}
    raise ValueError(f"unknown data {kind!r}")
