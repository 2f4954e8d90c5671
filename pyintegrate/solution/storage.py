"""A Solution as a header and arrays, and back: a loaded one can do everything that it could before.

The file holds the arguments of a run (system, method, times, options), the saved states with the
component axis second, ``y`` (n_saved, n_components, *batch), the full first and last states that
``resume`` and ``energy_error`` start from, the failures, and the results of watches
(stored_results.py). Systems and methods are stored by name, or as the plain data that their
``__reduce__`` gives; never as code.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..method.method import Method
from ..run.arguments import make_run
from ..run.core import Outcome, outward
from ..run.failures import Failures
from ..run.options import check_times, fitted, steps_of
from ..run.starter import check_start
from ..system.system import System
from ..values.memory import pad
from . import files
from .origin import Origin
from .plain_data import from_data, to_data
from .solution import Solution
from .stored_fields import (
    FORMAT,
    TO_A_TOLERANCE,
    check_arrays,
    check_failures,
    check_header,
    check_origin,
    check_parameters,
    check_steps,
    refuse,
)
from .stored_results import check_results, give_results, results_to_data
from .stored_system import (
    Mismatch,
    check_state_names,
    made,
    method_from_data,
    system_from_data,
    system_to_data,
)

if TYPE_CHECKING:
    from os import PathLike

VERSION = 1  # for runs with steps of one length; runs to a tolerance have TO_A_TOLERANCE


def warn_of_sensitivities(solution, stacklevel):
    """Warn that a file does not hold them."""
    if solution._carried is not None:
        warnings.warn(
            "the file holds the states, not their sensitivities: pickle the solution to keep them",
            UserWarning,
            stacklevel=stacklevel,
        )


def save(solution, path):
    """Write a solution; see ``Solution.save``."""
    warn_of_sensitivities(solution, 4)
    problem, options = solution._problem, solution._options
    arrays: dict = {}
    header = {
        **shared_header(solution, VERSION, arrays),
        "first": int(problem.first),
        "n_steps": int(problem.n_steps),
        "completed": int(solution.n_steps),
        "save": options.save,
        "compensated": options.compensated,
        "starter": to_data(problem.starter, "starter", arrays),
        "begun": problem.has_history,
        "driven": problem.driven,
        "joined": options.steps is not None,
        "times": options.times is not None,
        "origin": _origin_to_data(problem, arrays),
        **noise_to_data(problem, arrays),
    }
    arrays |= {
        "t": solution.t,
        "steps": solution.steps,
        "dt": np.asarray(problem.dt),
        "t0": np.asarray(problem.t0),
        "y": saved_states(solution),
        "first_state": problem.initial[:, : problem.lanes],
        "last_state": solution._last_rows(),
        "failed_index": solution._failures.index,
        "failed_status": solution._failures.status,
        "failed_step": solution._failures.step,
    }
    files.write(path, header, arrays)


def shared_header(solution, version, arrays):
    """The fields of all solutions; their arrays are added to `arrays`."""
    problem, options = solution._problem, solution._options
    return {
        "format": FORMAT,
        "version": version,
        "written_by": f"pyintegrate {_core.info()['version']}",
        "system": system_to_data(problem.system, arrays),
        "method": to_data(problem.method, "method", arrays),
        "coefficients": to_data(problem.method.coefficients, "coefficients", arrays),
        "dtype": problem.dtype.name,
        "batch": list(problem.batch),
        "bound": options.bound,
        "arithmetic": problem.arithmetic,
        "on_failure": options.on_failure,
        "components": list(solution.components),
        "state_names": list(problem.system.state_names),
        **results_to_data(solution, arrays),
    }


def saved_states(solution):
    """The array `y` of a file, (n_saved, n_components, *batch), part by part."""
    y = solution._states
    shape = (len(solution), y.shape[-1], *y.shape[1:-1])
    return files.Blocks(
        shape, solution._problem.dtype, lambda a, b: np.moveaxis(np.asarray(y[a:b]), -1, 1)
    )


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
        It gives the same results as the one that was saved, and can be resumed.

    Raises
    ------
    FileNotFoundError
    ValueError
        The file is damaged or is not a solution, was written by a newer version, or holds a
        user-defined system and `system` is missing or is a different one.

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
    if type(version) is not int or not 1 <= version <= TO_A_TOLERANCE:
        by, form = (
            str(value)[:40] if isinstance(value, str | int) else "(unknown)"
            for value in (header.get("written_by"), version)
        )
        raise ValueError(
            f"{path} was written by {by}, format {form}:"
            f" this version reads formats up to {TO_A_TOLERANCE}; upgrade pyintegrate"
        )
    try:
        if version == TO_A_TOLERANCE:
            return load_adaptive(header, arrays, system)
        check_header(header)
        check_arrays(header, arrays, check_results(header, arrays))
        system = made("system", system_from_data, header["system"], arrays, system)
        return _solution(header, arrays, system)
    except Mismatch as error:
        raise ValueError(f"{path}: {str(error):.800}") from None
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {str(error):.800}") from error
    except RecursionError:
        raise ValueError(f"{path} is damaged: its header is nested without end") from None


def load_adaptive(header, arrays, given):
    """A solution to a tolerance."""
    from ..adaptive.stored_solution import solution_of

    return solution_of(header, arrays, given)


def _solution(header, arrays, system):
    method = method_from_data(header, arrays)
    starter, completed = made("starter", from_data, header["starter"], arrays), header["completed"]
    check_state_names(header, system)
    problem, options = made("system", _run, header, arrays, system, method)
    if starter is not None and not isinstance(starter, Method):
        refuse("starter", "it is no method")
    made("starter", check_start, starter, method, system)
    number = header["arithmetic"]
    problem = problem.changed(
        arithmetic=number,
        first=header["first"],
        # An interrupted run may lack only one step, and may have been asked for 2**53.
        n_steps=min(header["n_steps"], header["completed"] + 1),
        starter=starter,
        has_history=header["begun"],
        drive_strides=(0,) * len(problem.rows_params) if header["driven"] else None,
    )
    problem = problem.changed(origin=made("origin", _origin, header["origin"], arrays, problem))
    if header["joined"]:
        options = options.changed(steps=check_steps(header, arrays["steps"]))
    if header["times"]:
        options = options.changed(times=arrays["t"])
    failed = tuple(arrays[f"failed_{what}"] for what in ("index", "status", "step"))
    check_failures(header, *failed)
    components = tuple(header["components"])
    if components != system.state_names:
        options = options.changed(components=components)
    last, dim = arrays["last_state"], system.dim
    # A run with watches can be interrupted between two saves, at any step.
    steps = arrays["steps"]
    ended = steps.ndim == 1 and steps.size > 0 and steps[-1] == header["first"] + completed
    ended = ended and not header["times"]
    apart = options.elsewhere or not (ended or options.saves(problem.n_steps).final_only)
    if options.elsewhere:
        states = np.moveaxis(arrays["y"], 1, -1)
    elif options.saves(problem.n_steps).final_only:  # as a run leaves it, in padded rows
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
    if options.saves(problem.n_steps).final_only and not options.elsewhere:
        final = last[:dim].reshape(1, dim, *header["batch"])
        if not np.array_equal(final, arrays["y"], equal_nan=True):
            refuse("last_state", "it is not the state in y")
    if not np.array_equal(solution.steps, arrays["steps"]):
        refuse("steps", "they are not those that a run with this n_steps and save has saved")
    t = arrays["t"]
    if solution.t.shape != t.shape or not np.array_equal(solution.t, t, equal_nan=True):
        refuse("t", "the times are not t0 + n dt")
    if header["times"] and len(t):
        made("t", _check_asked, problem, t, completed, solution.steps)
    return give_results(solution, header, arrays)


def _check_asked(problem, t, completed, steps):
    """The requested times lie within the steps of the run."""
    found = steps_of(fitted(check_times(t), problem.batch, problem.dt), problem.t0, problem.dt,
                     completed, problem.batch, problem.dtype)  # fmt: skip
    if not np.array_equal(found, steps):
        raise ValueError("the times do not lie in the steps of the file")


def _run(header, arrays, system, method):
    """Problem and options, made with no steps: so that no more is allocated than the file holds."""
    batch, dim, dtype = tuple(header["batch"]), system.dim, np.dtype(header["dtype"])
    check_parameters(system, batch, dtype)
    first, last = arrays["first_state"], arrays.about("last_state")[0][0]
    if len(first) < dim:
        refuse("first_state", f"it has {len(first)} rows, and the system {dim} components")
    dt, t0 = (float(a) if a.ndim == 0 else a for a in (arrays["dt"], arrays["t0"]))
    problem, options = make_run(
        system, np.moveaxis(first[:dim], 0, -1).reshape(*batch, dim), dt=dt, n_steps=0, t0=t0,
        method=method, dtype=dtype, noise=made("noise", _noise, header.get("noise"), arrays),
        options={
            "save": header["save"], "on_failure": header["on_failure"],
            "bound": None if header["bound"] == np.inf else header["bound"],
            "compensated": header["compensated"],
        },
    )  # fmt: skip
    if problem.batch != batch:
        refuse("batch", f"{batch}, and the states and parameters have {problem.batch}")
    rows = len(first)
    if rows != len(problem.initial):
        refuse("first_state", f"it has {rows} rows, and they do not give {len(problem.initial)}")
    if last not in (dim, rows):
        refuse("last_state", f"it has {last} rows, expected {dim} or {rows}")
    return problem.changed(initial=pad(first, (problem.lanes,), dtype)), options


def noise_to_data(problem, arrays):
    """What the random numbers of a run depend on; nothing without noise."""
    if problem.random is None:
        return {}
    given = vars(problem.random).items()
    return {"noise": {key: to_data(value, f"noise_{key}", arrays) for key, value in given}}


def _noise(fields, arrays):
    if fields is None:
        return {}
    names = ("seed", "first_trajectory", "substeps")
    return {name: from_data(fields[name], arrays) for name in names}


def _origin_to_data(problem, arrays):
    """Where the motion of a resumed run began, and its phase drift where it was resumed."""
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
