"""All checks of the arguments of a run to a tolerance: they become a Problem and a StepControl."""

from math import prod

import numpy as np

from .. import _core
from ..errors import Status, UnknownNameError, quiet, warn_caller
from ..method.arithmetic import ARITHMETIC, warn_of_change
from ..method.catalogue import find_method
from ..run.arguments import (
    check_moves,
    check_structure,
    checked_dtype,
    checked_system,
    checked_times,
    components_of,
    fitting_end,
)
from ..run.options import Options, fitted, over_batch
from ..run.output import check_out
from ..run.problem import Problem
from ..run.times import column, first_of, in_dtype
from ..values.checks import DOUBLE, broadcast_shape, floats, integer
from ..values.memory import check_memory, pad, padded, spread
from ..values.names import SENTENCES, plain
from .adaptive_run import IMPLICIT, StepControl
from .automatic import automatic_pairs, with_estimates
from .observation import plan_events, plan_watch

LEAST_RTOL = 100  # rounding units of the dtype
_ROUNDING = {char: float(np.finfo(char).eps) for char in "df"}
_NO_BREAKS = np.zeros(0)
_ANOTHER_SOLVER = (
    "method {!r} has no pair with an error estimate here: solve takes 'auto', or for stiff"
    " problems 'radau_iia5'"
)
DEFAULT_RTOL = 1e-6  # in float32 it is raised without a warning


def make_adaptive_run(system, x0, v0, given):
    """Check the arguments of ``solve``, a dictionary, and broadcast them.

    Returns
    -------
    Problem, Options, StepControl
    """
    return _core.to_nearest(_make, system, x0, v0, given)


def _make(system, x0, v0, given):
    checked_system(system)
    if system.noise is not None:
        raise ValueError(
            f"{system.name!r} has noise, whose steps have one length: use"
            " pi.integrate(system, dt=..., seed=...)"
        )
    names = ("bound", "workers", "progress", "on_failure", "out", "components", "watch", "events")
    options = Options.checked(system, {name: given[name] for name in names})
    numbers, watch = {}, options.watch
    if options.events is not None:
        options = options.changed(events=plan_events(system, options.events))
        numbers, watch = options.events.given, {} if watch is None else watch
    if watch is not None:
        options = options.changed(watch=plan_watch(system, watch, numbers))
    if given.get("across") is not None:
        from ..run.counted import plan_across

        options = options.changed(across=plan_across(given["across"], system, given, numbers))
    dtype = checked_dtype(given["dtype"], x0, v0)
    components, shapes = components_of(system, x0, v0)
    components = system.ready(components, dtype)
    rtol, atol = checked_tolerance("rtol", given["rtol"]), checked_tolerance("atol", given["atol"])
    rtol = _raised(rtol, dtype, given["rtol"] is not DEFAULT_RTOL)
    method = checked_method(given["method"], rtol, system)
    shapes |= system.batch_shapes
    t0, t_end = (checked_times(name, given[name], dtype, shapes) for name in ("t0", "t_end"))
    first_step, max_step = (_step(name, given[name]) for name in ("first_step", "max_step"))
    shapes |= {"first_step": np.shape(first_step), "max_step": np.shape(max_step)}
    for name, value in (("rtol", rtol), ("atol", atol)):
        shapes[name] = value.shape[:-1] if _each(value, system) else value.shape
    for plan in (options.watch, options.events, options.across):
        shapes |= {} if plan is None else plan.shapes
    breaks = _NO_BREAKS if given.get("breaks") is None else _breaks(given["breaks"])
    shapes["breaks"] = breaks.shape[1:]
    batch = broadcast_shape(shapes)
    if breaks.ndim > 1:
        breaks = over_batch(breaks, batch)
    if dtype is not DOUBLE:  # in which the times are
        check_moves("t_end", t_end, t_end, t0, dtype)
    loose = _loose(rtol, system, batch) if given["method"] == "auto" else None
    save, times = checked_saves(given["save"], given["times"], t0, t_end, batch, dtype)
    lanes = prod(batch)
    size = 2 * lanes * system.dim * dtype.itemsize
    check_memory(size, 2, batch, system.dim, what="states", cure="use dtype=np.float32")
    with quiet():
        rows = np.asarray(spread(components, batch, dtype))
        problem = Problem(
            system, method, dtype, batch, lanes, padded(lanes, dtype), np.nan, t0, np.nan,
            row(t0, batch, dtype), tuple(row(p, batch, dtype) for p in system.parameter_rows), (),
            rows, n_steps=0,
        )  # fmt: skip
        n = 1 if times is None else len(times)
        _check_out(problem, options, save, n, {"x0": x0, "v0": v0, "times": given["times"]})
        control = StepControl.of({
            "t_end": t_end, "rtol": rtol, "atol": atol, "rows_end": row(t_end, batch, dtype),
            "rows_rtol": _rows(rtol, system, batch, dtype),
            "rows_atol": _rows(atol, system, batch, dtype),
            "first_step": row(first_step, batch, dtype), "max_step": row(max_step, batch, dtype),
            "max_steps": integer("max_steps", given["max_steps"], 1, (1 << 31) - 2),
            "save": save, "times": times, "breaks": breaks, "origin": problem.rows_t0,
            "automatic": given["method"] == "auto", "loose": loose,
        })  # fmt: skip
    return problem, options, control


def checked_method(method, rtol, system):
    """The Method, which must have an error estimate."""
    if isinstance(method, str) and method == "auto":
        loose, tight, border = automatic_pairs(system)
        return tight if np.any(rtol < border) else loose
    try:
        method = find_method(method)
    except UnknownNameError as error:
        if not isinstance(method, str) or plain(method) not in SENTENCES:
            raise
        raise UnknownNameError(_ANOTHER_SOLVER.format(method)) from error
    check_structure(method, system)
    if not method.embedded:
        raise ValueError(
            f"method {method.name!r} has no error estimate, and is for the fixed steps of"
            f" pi.integrate(..., dt=); solve takes 'auto', or {with_estimates()}; or"
            " pi.RungeKutta(..., b_embedded=)"
        )
    if method.name == "fehlberg78" and system.definition.time_dependent:
        warn_caller(
            "the error estimate of 'fehlberg78' is zero for y' = f(t), and nearly so where a force"
            " changes fast in time: take 'prince_dormand87'"
        )
    return method


def _loose(rtol, system, batch):
    """Which trajectories "auto" begins with the pair for loose tolerances, if only some of them."""
    if rtol.ndim == 0:
        return None
    least = rtol.min(axis=-1) if _each(rtol, system) else rtol
    loose = least >= automatic_pairs(system)[2]
    over = np.broadcast_to(loose, batch)  # laid out only if they differ
    return over.reshape(-1) if loose.any() and not loose.all() else None


def _check_out(problem, options, save, n, inputs):
    """Refuse an array that cannot hold n saved states."""
    if options.out is None:
        return
    if save == "all":
        raise ValueError(
            "out cannot hold save='all': how many steps there will be is not known; give times="
        )
    check_out(problem, options.changed(steps=np.arange(n)), inputs)


def row(value, batch, dtype):
    """A float, or an array with one item per trajectory."""
    if type(value) is float and dtype is DOUBLE:
        return value
    if np.ndim(value) == 0:
        return float(np.asarray(value, dtype))
    return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype), batch)).reshape(-1)


def checked_saves(save, times, t0, t_end, batch, dtype):
    """ "all", "final" or "times", and the times in the dtype of the run, (n,) or (n, lanes)."""
    if times is not None:
        if save is not None:
            raise ValueError("give save or times, not both: times are all that is saved")
        return "times", rounded_times(times, t0, t_end, batch, dtype)
    if save is None:
        return ("final" if batch else "all"), None
    if not isinstance(save, str) or save not in ("all", "final"):
        raise ValueError(
            f"save must be 'all' (accepted steps) or 'final', got {save!r}; times= gives the times"
            " to save at"
        )
    return save, None


def checked_tolerance(name, value):
    """A tolerance as an array: finite, not negative."""
    array = floats(name, value)
    wrong = array[~((array >= 0) & np.isfinite(array))]
    if wrong.size:
        raise ValueError(f"{name} must be finite and not negative, got {wrong[0]}")
    return array


def _raised(rtol, dtype, told):
    """Relative tolerances, at least what rounding allows; told: warn if they are raised."""
    least = LEAST_RTOL * _ROUNDING[dtype.char]
    if rtol.size and rtol.min() < least:
        if told:
            warn_caller(
                f"rtol = {rtol.min():g} is below {LEAST_RTOL} rounding units of {dtype.name}: it is"
                f" raised to {least:.3g}"
            )
        rtol = np.maximum(rtol, least)
    return rtol


def _step(name, value):
    """A float or an array; for None, 0 (first_step) or infinity (max_step)."""
    if value is None:
        return 0.0 if name == "first_step" else np.inf
    array = floats(name, value)
    if not np.all((array > 0) & (np.isfinite(array) | (name == "max_step"))):
        raise ValueError(f"{name} must be positive, in either direction of time, got {value!r}")
    return float(array) if array.ndim == 0 else array


def _breaks(value):
    """Times at which steps end, (n,) or (n, *batch)."""
    array = floats("breaks", value)
    if array.ndim == 0 or not np.all(np.isfinite(array)):
        got = "a number" if array.ndim == 0 else f"{array[~np.isfinite(array)][0]}"
        raise ValueError(f"breaks must be finite times, (n,) or (n, *batch), got {got}")
    return array


def _each(tolerance, system):
    """Whether a tolerance has an entry for each component, on its last axis."""
    return tolerance.ndim > 0 and tolerance.shape[-1] == system.dim


def _rows(tolerance, system, batch, dtype):
    if not _each(tolerance, system):
        return (row(tolerance, batch, dtype),)
    return tuple(row(tolerance[..., d], batch, dtype) for d in range(system.dim))


def rounded_times(times, t0, t_end, batch, dtype, name="times"):
    """The times to save at, in order from t0 to t_end, in the dtype of the run."""
    array = floats(name, times)
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array, (n,) or (n, *batch), got a number")
    array = fitted(array, batch, np.where(np.asarray(t_end) < t0, -1, 1), name)
    upright = column(array, batch)
    first, last = np.minimum(t0, t_end), np.maximum(t0, t_end)
    moments = in_dtype(upright, dtype)
    outside = ~((moments >= in_dtype(first, dtype)) & (moments <= in_dtype(last, dtype)))
    if np.any(outside):
        wrong, first, last = (float(first_of(one, outside)) for one in (upright, first, last))
        raise ValueError(
            f"{name} must lie between t0 and t_end of every trajectory, got {wrong} for"
            f" {first} .. {last}"
        )
    with quiet():
        rounded = np.ascontiguousarray(array, dtype)
    return rounded if array.ndim == 1 else rounded.reshape(len(array), prod(batch))


def resumed(solution, t_end):
    """The continuation of a solution to a later time: see ``AdaptiveSolution.resume``.

    Returns
    -------
    Problem, Options, StepControl, status, before, observation
    """
    problem, control = solution._problem, solution._control
    batch, dtype, lanes = problem.batch, problem.dtype, problem.lanes
    t_end = fitting_end(t_end, dtype, batch)
    reached = solution._arrived
    way = in_dtype(control.t_end, dtype) - in_dtype(problem.t0, dtype)
    begun = np.sign(np.where(way == 0, solution.last_step, way))
    further_way = in_dtype(t_end, dtype) - reached
    if np.any(further_way * begun * (solution.status == 0) < 0):
        raise ValueError("t_end lies before the end of this solution")
    options = solution._options
    seen = {} if options.watch is None else options.watch.watch
    seen = seen | ({} if options.events is None else options.events.events)
    if np.any((begun == 0) & (further_way < 0)) and any(e.after is not None for e in seen.values()):
        raise ValueError(
            "t_end lies backwards of a run without a step (t_end = t0), whose after= has compared"
            " the start as if it went forwards: solve from t0 to this t_end instead"
        )
    onward, t, step, rows = solution._onward
    step = step.astype(dtype)
    t0 = t.astype(np.float64).reshape(batch)
    further = problem.changed(
        initial=pad(rows, (lanes,), dtype), t0=t0 if batch else float(t0),
        rows_t0=row(t0, batch, dtype), arithmetic=ARITHMETIC,
    )  # fmt: skip
    warn_of_change(problem.method, problem.arithmetic)
    save = "final" if control.save == "times" else control.save
    status = solution.status.reshape(-1).copy()
    status[(status == Status.OK) | (onward.mark > 0)] = Status.CANCELLED
    stiff = np.isfinite(solution.stiff_since).reshape(-1)
    return (
        further,
        options.changed(out=None),
        control.changed(
            t_end=t_end,
            rows_end=row(t_end, batch, dtype),
            save=save,
            times=None,
            first_step=abs(step),
            last_step=step,
            stiff=np.where(onward.mark > 0, onward.mark & IMPLICIT > 0, stiff),
            onward=onward,
            origin=row(solution._origin_time, batch, dtype),
        ),
        status,
        (solution.origin, solution._origin_time),
        solution._kept,
    )
