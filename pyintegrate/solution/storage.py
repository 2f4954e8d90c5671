"""A Solution as a header and arrays, and back: everything that it can do, it can do once loaded.

The file holds what a run was (system, method, times, options), the saved states with the component
axis second, ``y`` (n_saved, n_components, *batch), the full first and last states that ``resume``
and ``energy_error`` start from, the failures, and what was watched (stored_results.py). Systems and
methods are stored by name, or as the plain data that their ``__reduce__`` gives; never as code.
"""

from __future__ import annotations

import warnings
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..method.arithmetic import present_rows
from ..method.method import Method
from ..run.arguments import make_run
from ..run.failures import Failures
from ..run.output import Outcome, outward
from ..run.saves import check_times, fitted, steps_of
from ..run.starter import check_start
from ..system.system import System
from ..values.memory import check_memory, pad
from . import files
from .origin import Origin
from .plain_data import from_data, to_data
from .solution import Solution
from .stored_fields import (
    FORMAT,
    Refused,
    check_arrays,
    check_failures,
    check_header,
    check_origin,
    check_steps,
    fits_batch,
    refuse,
)
from .stored_results import check_results, give_results, results_to_data

if TYPE_CHECKING:
    from os import PathLike

VERSION = 1


def save(solution, path):
    """Write a solution; see ``Solution.save``."""
    if solution._carried is not None:
        warnings.warn(
            "the file holds the states, not their sensitivities: pickle the solution to keep them",
            UserWarning,
            stacklevel=3,
        )
    problem, options = solution._problem, solution._options
    arrays: dict = {}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"pyintegrate {_core.info()['version']}",
        "system": _system_to_data(problem.system, arrays),
        "method": to_data(problem.method, "method", arrays),
        "coefficients": to_data(problem.method.coefficients, "coefficients", arrays),
        "dtype": problem.dtype.name,
        "batch": list(problem.batch),
        "first": int(problem.first),
        "n_steps": int(problem.n_steps),
        "completed": int(solution.n_steps),
        "save": options.save,
        "bound": options.bound,
        "compensated": options.compensated,
        "arithmetic": problem.arithmetic,
        "on_failure": options.on_failure,
        "components": list(solution.components),
        "starter": to_data(problem.starter, "starter", arrays),
        "begun": problem.has_history,
        "driven": problem.driven,
        "joined": options.steps is not None,
        "times": options.times is not None,
        "origin": _origin_to_data(problem, arrays),
        "state_names": list(problem.system.state_names),
        **results_to_data(solution, arrays),
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


def load(path: str | PathLike[str], system: System | None = None) -> Solution:
    """Read a solution that ``Solution.save`` wrote.

    Parameters
    ----------
    path : str or path
        Ends in .npz or .zarr (which needs the package zarr).
    system : System, optional
        For a solution of a user-defined system that could not be stored as data: the same system;
        its parameters are taken from the file.

    Returns
    -------
    Solution
        It answers, and goes on, like the one that was saved.

    Raises
    ------
    FileNotFoundError
    ValueError
        The file is damaged or is something else, was written by a newer version, or holds a
        user-defined system and `system` is missing or another.

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
    if header.get("format") != FORMAT:
        raise ValueError(f"{path} holds no solution of pyintegrate")
    version = header.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        by, form = (
            str(value)[:40] if isinstance(value, str | int) else "nobody knows what"
            for value in (header.get("written_by"), version)
        )
        raise ValueError(
            f"{path} was written by {by}, format {form}:"
            f" this version reads formats up to {VERSION}; upgrade pyintegrate"
        )
    try:
        check_header(header)
        check_arrays(header, arrays, check_results(header, arrays))
        system = _made("system", _system_from_data, header["system"], arrays, system)
        return _solution(header, arrays, system)
    except _Mismatch as error:
        raise ValueError(f"{path}: {str(error):.800}") from None
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {str(error):.800}") from error
    except RecursionError:
        raise ValueError(f"{path} is damaged: its header is nested without end") from None


class _Mismatch(Exception):
    """The file is whole, and what it needs is not here."""


def _made(field, make, *arguments):
    """The object that a field of the header stands for; any fault in it is one error."""
    try:
        return make(*arguments)
    except (_Mismatch, MemoryError, Refused):
        raise
    except RecursionError:
        return refuse(field, "it is nested without end")
    except Exception as error:  # of anything that a wrong value may do to those who take it
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise ValueError(f"{field}: {kind}{error}") from error


def _solution(header, arrays, system):
    method = _made("method", from_data, header["method"], arrays)
    if not isinstance(method, Method):
        refuse("method", "the stored method is not a Method")
    if _made("coefficients", from_data, header["coefficients"], arrays) != method.coefficients:
        raise _Mismatch(f"the method {method.name!r} has other coefficients in this version")
    starter, completed = _made("starter", from_data, header["starter"], arrays), header["completed"]
    if tuple(header["state_names"]) != system.state_names:
        raise _Mismatch(
            f"the components of {system.name!r} are {', '.join(system.state_names)}, and were"
            f" {', '.join(header['state_names'])}"
        )
    problem, options = _made("system", _run, header, arrays, system, method)
    if starter is not None and not isinstance(starter, Method):
        refuse("starter", "it is no method")
    _made("starter", check_start, starter, method, system)
    number = header.get("arithmetic", 1)
    problem = problem.changed(
        arithmetic=number,
        first=header["first"],
        # An interrupted run is known by one step that it lacks: it may have wanted 2**53.
        n_steps=min(header["n_steps"], header["completed"] + 1),
        starter=starter,
        has_history=header["begun"],
        drive_strides=(0,) * len(problem.rows_params) if header["driven"] else None,
    )
    problem = problem.changed(
        origin=_made("origin", _origin, header.get("origin"), arrays, problem)
    )
    if header.get("joined"):
        options = options.changed(steps=check_steps(header, arrays["steps"]))
    if header.get("times"):
        options = options.changed(times=arrays["t"])
    failed = tuple(arrays[f"failed_{what}"] for what in ("index", "status", "step"))
    check_failures(header, *failed)
    components = tuple(header["components"])
    if components != system.state_names:
        options = options.changed(components=components)
    last, dim = _present(arrays["last_state"], header, problem), system.dim
    # A run that watches goes to any step, also when it is interrupted between two saves.
    steps = arrays["steps"]
    ended = steps.ndim == 1 and steps.size > 0 and steps[-1] == header["first"] + completed
    ended = ended and not header.get("times")
    apart = options.elsewhere or not (ended or options.saves(problem).final_only)
    if options.elsewhere:
        states = np.moveaxis(arrays["y"], 1, -1)
    elif options.saves(problem).final_only:  # as a run leaves it, in padded rows
        rows = pad(last[:dim], (problem.lanes,), problem.dtype)
        states = outward(rows[np.newaxis, :, : problem.lanes], problem.batch)
    else:
        rows = arrays["y"]
        states = outward(rows.reshape(*rows.shape[:2], problem.lanes), problem.batch)
    outcome = Outcome(
        completed=completed,
        states=states,
        final=last[:dim] if apart else None,
        history=last[dim:] if len(last) > dim else None,
        failures=Failures(*failed),
    )
    solution = Solution(problem, options, outcome)
    if options.saves(problem).final_only and not options.elsewhere:
        final = last[:dim].reshape(1, dim, *header["batch"])
        if not np.array_equal(final, arrays["y"], equal_nan=True):
            refuse("last_state", "it is not the state in y")
    if not np.array_equal(solution.steps, arrays["steps"]):
        refuse("steps", "they are not those that a run with this n_steps and save has saved")
    t = arrays["t"]
    if solution.t.shape != t.shape or not np.array_equal(solution.t, t, equal_nan=True):
        refuse("t", "the times are not t0 + n dt")
    if header.get("times") and len(t):
        _made("t", _check_asked, problem, t, completed, solution.steps)
    return give_results(solution, header, arrays)


def _check_asked(problem, t, completed, steps):
    """The times that a run was asked for lie in its steps."""
    found = steps_of(fitted(check_times(t), problem.batch, problem.dt), problem.t0, problem.dt,
                     completed, problem.batch)  # fmt: skip
    if not np.array_equal(found, steps):
        raise ValueError("the times do not lie in the steps of the file")


def _run(header, arrays, system, method):
    """Problem and options, made of no steps: so that no more is asked for than the file holds."""
    batch, dim, dtype = tuple(header["batch"]), system.dim, np.dtype(header["dtype"])
    for name, shape in system.batch_shapes.items():
        if not fits_batch(shape, batch):
            refuse("system", f"{name} has the batch shape {shape}, and the batch is {batch}")
    shapes = system._definition["shapes"]
    rows = sum(prod(shapes[name]) for name, shape in system.batch_shapes.items() if shape)
    check_memory(rows * prod(batch) * dtype.itemsize, 1, batch, rows)  # laid out for each
    first, last = arrays["first_state"], arrays.about("last_state")[0][0]
    if len(first) < dim:
        refuse("first_state", f"it has {len(first)} rows, and the system {dim} components")
    dt, t0 = (float(a) if a.ndim == 0 else a for a in (arrays["dt"], arrays["t0"]))
    problem, options = make_run(
        system, np.moveaxis(first[:dim], 0, -1).reshape(*batch, dim), dt=dt, n_steps=0, t0=t0,
        method=method, dtype=dtype,
        options={
            "save": header["save"], "on_failure": header["on_failure"],
            "bound": None if header["bound"] == np.inf else header["bound"],
            "compensated": header.get("compensated", False),
        },
    )  # fmt: skip
    if problem.batch != batch:
        refuse("batch", f"{batch}, and the states and parameters have {problem.batch}")
    remembered, rows = len(problem.initial), len(first)
    first = _present(first, header, problem)
    if len(first) != remembered:
        refuse("first_state", f"it has {rows} rows, and they do not give {remembered}")
    if last not in (dim, rows):
        refuse("last_state", f"it has {last} rows, expected {dim} or {rows}")
    return problem.changed(initial=pad(first, (problem.lanes,), dtype)), options


def _present(rows, header, problem):
    """A state as this arithmetic has it; one that has lost its history stays without."""
    system, number = problem.system, header.get("arithmetic", 1)
    if len(rows) == system.dim:
        return rows
    return present_rows(rows, problem.method, system.dof, number)


def _origin_to_data(problem, arrays):
    """Where the motion of a resumed run began, and how far its phase was ahead where it went on."""
    origin = problem.origin
    if origin is None:
        return None
    parts = {"state": origin.state[:, : problem.lanes]}
    if origin.ahead is not None:
        parts["ahead"] = np.asarray(origin.ahead, np.float64)
    data = {name: to_data(part, f"origin_{name}", arrays) for name, part in parts.items()}
    return {"step": int(origin.step), **data}


def _origin(about, arrays, problem):
    """The origin of a resumed run; None for other runs, and if the file does not say."""
    if about is None:
        return None
    parts = {key: from_data(about[key], arrays) for key in about if key in ("state", "ahead")}
    check_origin(problem, about, parts)
    return Origin(parts["state"], about["step"], ahead=parts.get("ahead"))


# ---- systems and methods as data -----------------------------------------------------------------


def _system_to_data(system, arrays):
    """Data to make it again from; failing that, its name and parameters, for ``system=``."""
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
        system = from_data(about["made_by"], arrays)
        if not isinstance(system, System):
            refuse("system", "the stored system is not a System")
    elif given is None:
        raise _Mismatch(
            f"it holds a solution of {name!r}, a user-defined system that is not data: give it, as"
            f" pi.load(path, system={name})"
        )
    else:
        if "params" in about:
            params = from_data(about["params"], arrays)
        else:
            params = dict(from_data(about["made_by"], arrays).params)
        if given.name != name or set(given.params) != set(params):
            raise _Mismatch(
                f"it holds a solution of {name!r} with the parameters {', '.join(params) or 'none'}"
                f", and system is {given.name!r} with {', '.join(given.params) or 'none'}"
            )
        system = given(**params)
    slope = np.array([float.fromhex(x) for x in about["slope"]])
    if slope.shape != (system.dim,):
        refuse("system: slope", f"{len(slope)} numbers, and {name!r} has {system.dim} components")
    if not np.allclose(slope, _slope(system), rtol=1e-9, atol=1e-300, equal_nan=True):
        raise _Mismatch(f"the system {name!r} that was saved has other equations")
    return system
