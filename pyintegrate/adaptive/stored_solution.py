"""A solution to a tolerance as a header and arrays, and back: see solution/storage.py.

Besides the content of every solution, the file holds the tolerances, the times, and for each
trajectory the state, time and step with which it would continue, and its counts of steps. With
``save="all"`` the rows of `t` and `y` after the last of a trajectory (see `counts`) are NaN.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from ..errors import Status
from ..run.core import outward
from ..solution import files
from ..solution.storage import saved_states, shared_header, warn_of_sensitivities
from ..solution.stored_fields import (
    ADAPTIVE_ARRAYS,
    TO_A_TOLERANCE,
    check_array,
    check_one_of,
    check_parameters,
    check_shared,
    check_whole,
    fits_batch,
    refuse,
)
from ..solution.stored_results import check_results, give_results
from ..solution.stored_system import (
    check_state_names,
    made,
    method_from_data,
    system_from_data,
)
from ..values.checks import MOST_COMPONENTS
from ..values.memory import check_memory, pad
from .adaptive_run import AdaptiveOutcome
from .adaptive_solution import AdaptiveSolution
from .arguments import LEAST_RTOL, make_adaptive_run, rounded_times

_MOST_STEPS = (1 << 31) - 2  # in a trajectory
_FIELDS = ("goes_on", "max_steps", "automatic", "lanes", "resumed")


def save(solution, path):
    """Write a solution; see ``Solution.save``."""
    warn_of_sensitivities(solution, 4)
    problem, control = solution._problem, solution._control
    arrays: dict[str, Any] = {}
    batch, lanes = problem.batch, problem.lanes
    header = {
        **shared_header(solution, TO_A_TOLERANCE, arrays),
        "save": solution._save,
        "goes_on": "all" if control.save == "all" else "final",
        "max_steps": int(control.max_steps),
        "automatic": bool(control.automatic),
        "lanes": [int(n) for n in solution._lanes],
        "resumed": solution._before is not None,
    }
    max_step = np.asarray(control.max_step, np.float64)
    arrays |= {
        "t": solution.t,
        "y": saved_states(solution),
        "t0": np.asarray(problem.t0, np.float64),
        "t_end": np.asarray(control.t_end, np.float64),
        "rtol": solution.rtol,
        "atol": solution.atol,
        "max_step": max_step if max_step.ndim == 0 else max_step.reshape(batch),
        "first_state": problem.initial[:, :lanes],
        "last_state": solution._last_rows(),
        "reached": solution._reached.reshape(batch),
        "last_step": solution.last_step,
        "steps_taken": solution.steps_taken,
        "rejected": solution.rejected,
        "status": solution.status,
        "stiff_spans": solution.stiff_spans,
        "stiff_tries": solution._stiff_tries,
    }
    if solution._save == "all":
        arrays["counts"] = solution.counts
    if solution._before is not None:
        state, time = solution._before
        rows = np.moveaxis(state, -1, 0).reshape(problem.system.dim, lanes)
        arrays |= {"origin_state": rows, "origin_time": np.asarray(time, np.float64)}
    files.write(path, header, arrays)


def solution_of(header, arrays, given):
    """The AdaptiveSolution of a file; `given`: a system that the file does not hold, or None."""
    _check_header(header)
    _check_arrays(header, arrays, check_results(header, arrays))
    system = made("system", system_from_data, header["system"], arrays, given)
    check_state_names(header, system)
    method = method_from_data(header, arrays)
    problem, options, control = made("system", _made_again, header, arrays, system, method)
    control = _with_saves(header, arrays, control, problem)
    outcome = _outcome(header, arrays, problem, options, control)
    before = None
    if header["resumed"]:
        time = arrays["origin_time"]
        if not np.all(np.isfinite(time)):
            refuse("origin_time", "expected finite times")
        state = outward(arrays["origin_state"], problem.batch)
        before = state, float(time) if time.ndim == 0 else time
    solution = AdaptiveSolution(problem, options, control, outcome, header["save"], before)
    if not np.array_equal(solution.t, arrays["t"], equal_nan=True):
        refuse("t", "the times are not those at which the trajectories ended")
    return give_results(solution, header, arrays)


# ---- the fields, before any array is read --------------------------------------------------------


def _check_header(header):
    check_shared(header, _FIELDS)
    check_one_of(header, "save", "all", "final", "times")
    check_one_of(header, "goes_on", *(["all"] if header["save"] == "all" else ["final", "all"]))
    if header["save"] == "times":
        check_one_of(header, "goes_on", "final")
    check_whole(header, "max_steps", 1, _MOST_STEPS)
    for name in ("automatic", "resumed"):
        check_one_of(header, name, True, False)
    lanes = header["lanes"]
    fits = isinstance(lanes, list) and len(lanes) == 2 and all(type(n) is int for n in lanes)
    if not fits or not 0 <= lanes[1] <= lanes[0] < 1 << 63:
        refuse("lanes", f"{lanes!r:.80}, expected those tried, and how many were useful")


def _check_arrays(header, arrays, results):
    """Shapes and types of all arrays; see ``check_arrays`` of solution/stored_fields.py."""
    batch, dtype, total = tuple(header["batch"]), np.dtype(header["dtype"]), 0
    lanes, dim = prod(batch), len(header["state_names"])
    each = {"reached": float, "last_step": float, "steps_taken": np.int64, "rejected": np.int64,
            "status": np.int8, "stiff_tries": np.int64}  # fmt: skip
    if header["save"] == "all":
        each["counts"] = np.int64

    check = partial(check_array, arrays)

    def check_fit(name, last=()):
        shape = arrays.about(name)[0]
        check(name, np.float64, shape)
        inner = shape[:-1] if shape[-1:] == last else shape
        if not fits_batch(inner, batch):
            refuse(name, f"it has the shape {shape}, and the batch is {batch}")

    count = (*arrays.about("y")[0], 0)[0]
    if header["save"] == "final" or (header["save"] == "all" and count < 1):
        count = 1
    check("y", dtype, (count, len(header["components"]), *batch))
    check("t", np.float64, *[(count,)] * (header["save"] != "all" or not batch), (count, *batch))
    for name, kind in each.items():
        check(name, np.dtype(kind), batch)
    check("stiff_spans", np.dtype(float), (*arrays.about("stiff_spans")[0][:1], 2, *batch))
    states = ["first_state", "last_state", *["origin_state"] * header["resumed"]]
    for name in states:
        check(name, dtype, (dim, lanes))
    for name in ("t0", "t_end", "max_step", *["origin_time"] * header["resumed"]):
        check_fit(name)
    for name in ("rtol", "atol"):
        check_fit(name, (dim,))
    for name in arrays:
        shape, kind = arrays.about(name)
        if (
            name not in {*ADAPTIVE_ARRAYS, *results}
            and prod(shape) > max(lanes, 1) * MOST_COMPONENTS
        ):
            refuse(name, f"an array of shape {shape} is more than {lanes} trajectories need")
        total += prod(shape) * kind.itemsize
    check_memory(total, count, batch, len(header["components"]))


# ---- the run, with no steps, and its results -----------------------------------------------------


def _made_again(header, arrays, system, method):
    """Problem, Options and StepControl of a run that saves only its end."""
    batch, dim, dtype = tuple(header["batch"]), system.dim, np.dtype(header["dtype"])
    check_parameters(system, batch, dtype)
    times = {name: arrays[name] for name in ("t0", "t_end", "max_step", "rtol", "atol")}
    for name in ("t0", "t_end"):
        if not np.all(np.isfinite(times[name])):
            refuse(name, "expected finite times")
    if not np.all(times["max_step"] > 0):
        refuse("max_step", "expected positive lengths")
    least = {"rtol": LEAST_RTOL * float(np.finfo(dtype).eps), "atol": 0.0}
    for name, value in least.items():
        if not np.all((times[name] >= value) & np.isfinite(times[name])):
            refuse(name, f"expected finite tolerances of at least {value:g}")
    usual = dict.fromkeys(("times", "out", "components", "watch", "events", "first_step"))
    first = arrays["first_state"]
    problem, options, control = make_adaptive_run(
        system, np.moveaxis(first, 0, -1).reshape(*batch, dim), None,
        {
            **usual, **times, "dtype": dtype, "method": method, "save": "final", "workers": 1,
            "progress": False, "on_failure": header["on_failure"],
            "max_steps": header["max_steps"],
            "bound": None if header["bound"] == np.inf else header["bound"],
        },
    )  # fmt: skip
    if problem.batch != batch:
        refuse("batch", f"{batch}, and the states and parameters have {problem.batch}")
    components = tuple(header["components"])
    if components != system.state_names:
        options = options.changed(components=components)
    problem = problem.changed(
        initial=pad(first, (problem.lanes,), dtype), arithmetic=header["arithmetic"]
    )
    return problem, options, control


def _with_saves(header, arrays, control, problem):
    """The control with the saves of the one in the file."""
    control = control.changed(automatic=header["automatic"], save=header["goes_on"])
    if header["save"] != "times":
        return control
    ends = problem.t0, control.t_end
    times = made("t", rounded_times, arrays["t"], *ends, problem.batch, problem.dtype)
    return control.changed(save="times", times=times)


def _outcome(header, arrays, problem, options, control):
    """The results of the trajectories: numbers that must be consistent."""
    lanes, dtype, save = problem.lanes, problem.dtype, header["save"]
    names = ("reached", "last_step", "steps_taken", "rejected", "status")
    t, h, accepted, rejected, status = (arrays[name].reshape(lanes) for name in names)
    for name, tries in (("steps_taken", accepted), ("rejected", rejected)):
        if np.any((tries < 0) | (tries > _MOST_STEPS)):
            refuse(name, f"expected numbers of steps, from 0 to {_MOST_STEPS}")
    if np.any((status < Status.OK) | (status > max(Status))):
        refuse("status", f"expected numbers from 0 to {int(max(Status))}")
    if not np.all(np.isfinite(h)):
        refuse("last_step", "expected finite steps")
    begin, end = (np.broadcast_to(row, (lanes,)) for row in (problem.rows_t0, control.rows_end))
    within = (t >= np.minimum(begin, end)) & (t <= np.maximum(begin, end))
    if not np.all(within & ((status != Status.OK) | (t == end))):
        refuse("reached", "expected times from t0 to t_end, and t_end where nothing failed")
    spans, tries = arrays["stiff_spans"], arrays["stiff_tries"].reshape(lanes)
    spans = spans.reshape(len(spans), 2, lanes)
    if np.any(np.isfinite(spans)) and not header["automatic"]:
        refuse("stiff_spans", "expected NaN of a method that was named")
    first, final = np.minimum(begin, t), np.maximum(begin, t)
    if not np.all(np.isnan(spans) | ((spans >= first) & (spans <= final))):
        refuse("stiff_spans", "expected times from t0 to reached, or NaN")
    span = (spans[:, 1] - spans[:, 0]) * np.where(end < begin, -1, 1)
    if not np.all(np.isnan(spans[:, 1]) | (span >= 0)):
        refuse("stiff_spans", "expected ends after beginnings")
    never = np.all(np.isnan(spans[:, 0]), axis=0)
    if np.any((tries < 0) | (tries > accepted + rejected) | ((tries > 0) & never)):
        refuse("stiff_tries", "expected numbers of tries")
    y, last = arrays["y"], arrays["last_state"]
    y = y.reshape(*y.shape[:2], lanes)
    moments = counts = None
    ends = np.zeros(lanes, np.int64)
    if save == "all":
        counts = arrays["counts"].reshape(lanes)
        moments = arrays["t"].reshape(len(y), lanes)
        _check_steps(counts, moments, y, begin, t)
        ends = counts - 1
    if save != "times":
        found = y[ends, :, np.arange(lanes)].T
        if not np.array_equal(found, last[list(options.places(problem.system))], equal_nan=True):
            refuse("last_state", "it is not the last state in y")
    return AdaptiveOutcome(
        state=last, t=t.astype(dtype), h=h.astype(dtype), accepted=accepted, rejected=rejected,
        status=status, lanes=tuple(header["lanes"]), states=outward(y, problem.batch),
        moments=moments, counts=counts, stiff_spans=spans, stiff_tries=tries,
    )  # fmt: skip


def _check_steps(counts, moments, y, begin, reached):
    """All accepted steps: from the first time to the last, and NaN after them."""
    if np.any((counts < 1) | (counts > len(y))) or len(y) != counts.max(initial=1):
        refuse("counts", f"expected numbers from 1 to {len(y)}, which one of them is")
    lanes = np.arange(len(counts))
    beyond = np.arange(len(y))[:, np.newaxis] >= counts
    if not np.array_equal(np.isnan(moments), beyond):
        refuse("t", "expected numbers up to the count of each trajectory, and NaN from there on")
    if not np.all(np.isnan(np.moveaxis(y, 1, -1)[beyond])):
        refuse("y", "expected NaN from the count of each trajectory on")
    if np.any(moments[0] != begin) or np.any(moments[counts - 1, lanes] != reached):
        refuse("t", "expected times from t0 to reached")
    ways = np.diff(moments, axis=0) * np.sign(reached - begin)
    if np.any(ways < 0):
        refuse("t", "expected times in order")
