"""All checks and broadcasts of a run, once: arguments become a Problem and its Options."""

from __future__ import annotations

from contextlib import nullcontext
from math import prod

import numpy as np

from .. import _core
from ..method.arithmetic import ARITHMETIC
from ..method.catalogue import find_method
from ..values.checks import broadcast_shape
from ..values.memory import pad, padded, spread
from .drive import check_drive, driven_rows
from .options import Options
from .problem import Problem, check_size
from .saves import check_last, fitted, steps_of
from .starter import check_start
from .state import checked_dtype, components_of
from .steps import check_rounded, checked_times, step_count
from .structure import check_structure, checked_system

_DOUBLE = np.dtype(np.float64)
_AS_IT_IS = nullcontext()


def make_run(
    system, x0=None, v0=None, *, dt, t_end=None, n_steps=None, t0=0.0, method, dtype=None,
    start=None, drive=None, options,
):  # fmt: skip
    """Check the arguments of ``integrate`` and broadcast them; `options` is a dictionary.

    Numbers are rounded to nearest, whatever rounding mode other libraries have set.

    Returns
    -------
    Problem, Options
    """
    return _core.to_nearest(
        _make_run, system, x0, v0, dt, t_end, n_steps, t0, method, dtype, start, drive, options
    )


def _make_run(system, x0, v0, dt, t_end, n_steps, t0, method, dtype, start, drive, options):
    checked_system(system)
    method = find_method(method)
    check_structure(method, system)
    options = Options.checked(system, options)
    if options.watch is not None:
        from ..watching.plan import Plan

        options = options.changed(watch=Plan(system, options.watch))
    if options.events is not None:
        from ..watching.events import EventPlan, check_method

        check_method(method)
        options = options.changed(events=EventPlan(system, options.events))
    dtype = checked_dtype(dtype, x0, v0)
    components, state_shapes = components_of(system, x0, v0)
    starter, past = check_start(start, method, system)
    remembered = _core.history_rows(system._core_for(method), method.handle, options.compensated)
    components = system._ready(components, dtype)
    dt, t0 = checked_times("dt", dt), checked_times("t0", t0)
    check_rounded("dt", dt, dtype)
    check_rounded("t0", t0, dtype)
    shapes = {**state_shapes, **system.batch_shapes}
    driven, driven_shapes = check_drive(drive, system)
    shapes |= driven_shapes
    if past:
        shapes["start"] = past[0].shape
    shapes["dt"], shapes["t0"] = _shape(dt), _shape(t0)
    if t_end is not None:
        t_end = checked_times("t_end", t_end)
        check_rounded("t_end", t_end, _DOUBLE)
        shapes["t_end"] = _shape(t_end)
    if options.watch is not None:
        shapes |= options.watch.shapes
    if options.events is not None:
        shapes |= options.events.shapes
    batch = broadcast_shape(shapes)
    n_steps = step_count(dt, t0, t_end, n_steps)
    if options.steps is not None:
        check_last(options.steps, n_steps)
    if options.times is not None:
        if drive is not None:
            raise ValueError("times= goes between the steps, where a drive has no value: use save=")
        asked = fitted(options.times, batch, dt)
        places = steps_of(asked, t0, dt, n_steps, batch, dtype)
        options = options.changed(times=asked, steps=places)

    lanes = prod(batch)
    stride = padded(lanes, dtype)
    check_size(system, batch, dtype, n_steps, options, system.dim + remembered)

    rows = [*components, *past, *[0.0] * (remembered - len(past))]

    def row(value):
        if type(value) is float:
            return value
        if value.ndim == 0:
            return float(value)
        whole = value.shape == batch and lanes == stride and value.dtype == dtype
        if whole and value.flags.c_contiguous:  # read-only, and in the layout of the core
            return value.reshape(-1)
        return pad([value], batch, dtype)[0]

    with _rounding(dtype, rows):
        params, strides = tuple(map(row, system.parameter_rows)), None
        undriven = params
        if driven:
            params, strides = driven_rows(driven, system, params, n_steps, batch, dtype)
        problem = Problem.of({
            "system": system, "method": method, "dtype": dtype, "batch": batch, "lanes": lanes,
            "stride": stride, "dt": dt, "t0": t0, "rows_dt": row(dt), "rows_t0": row(t0),
            "rows_params": params, "undriven": undriven, "initial": spread(rows, batch, dtype),
            "starter": starter, "has_history": bool(past), "drive_strides": strides, "first": 0,
            "n_steps": n_steps, "arithmetic": ARITHMETIC,
        })  # fmt: skip
    return problem, options


def _rounding(dtype, rows):
    """Numbers may overflow or underflow in the run's dtype, without a warning."""
    if dtype is _DOUBLE and not [r for r in rows if type(r) is not float and r.itemsize > 8]:
        return _AS_IT_IS
    return np.errstate(over="ignore", under="ignore", invalid="ignore")


def _shape(value):
    """The shape of a float or an array."""
    return () if type(value) is float else value.shape
