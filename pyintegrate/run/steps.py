"""The steps of a run: dt, t0, t_end and n_steps, checked."""

from __future__ import annotations

from math import isfinite

import numpy as np

from ..values.checks import broadcast_shape, numbers, whole_steps

_DOUBLE = np.dtype(np.float64)
_UNEVEN = (
    ": give n_steps=, with which trajectories end at different times; or make one call for each"
    " dt or t_end; or use pi.solve(..., rtol=...), which finds the steps, and takes an array t_end"
)


def checked_times(name, value):
    """A float, or a read-only array of floats."""
    if type(value) is float:
        return value
    array = numbers(name, value).astype(np.float64)
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array


def check_rounded(name, value, dtype):
    """Times must be finite in the run's dtype too, and dt must not be zero."""
    if type(value) is float and dtype == _DOUBLE and isfinite(value) and (value or name != "dt"):
        return
    with np.errstate(over="ignore", under="ignore"):
        rounded = np.asarray(value, dtype)
    good = np.isfinite(rounded) & ((rounded != 0) | (name != "dt"))
    if not good.all():
        rule = "finite and non-zero" if name == "dt" else "finite"
        wrong = np.ravel(value)[~np.ravel(good)][0]
        raise ValueError(f"{name} must be {rule}, got {wrong} (in {dtype.name})")


def in_dtype(t, dtype):
    """Times as a run in this dtype has them, in float64: these must lie within it."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(t, dtype).astype(np.float64)


def step_count(dt, t0, t_end, n_steps):
    if (t_end is None) == (n_steps is None):
        got = "neither" if t_end is None else "both"
        raise ValueError(f"give exactly one of t_end and n_steps, got {got}")
    return steps_between(dt, t0, t_end, _UNEVEN) if n_steps is None else whole_steps(n_steps)


def steps_to(t_end, dt, t0, batch):
    """The steps from t0 to an end time that must fit a given batch."""
    t_end = checked_times("t_end", t_end)
    check_rounded("t_end", t_end, _DOUBLE)
    if broadcast_shape({"t_end": np.shape(t_end), "the solution": batch}) != batch:
        raise ValueError(f"t_end has shape {np.shape(t_end)}: it does not fit the batch {batch}")
    return steps_between(dt, t0, t_end)


def steps_between(dt, t0, t_end, cure=": make one call for each dt or t_end"):
    """The number of steps from t0 to t_end, an integer and the same for every trajectory."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        ratio = np.ravel((np.asarray(t_end, dtype=np.float64) - t0) / dt)
    if np.any(abs(ratio) > 1 << 53) or not np.all(np.isfinite(ratio)):
        raise ValueError("(t_end - t0) / dt is more than 2**53 steps: t_end, t0 or dt is wrong")
    if not ratio.size:
        return 0
    n = np.rint(ratio)
    if n[0] < 0:
        raise ValueError(
            f"t_end = {np.ravel(t_end)[0]:g} is behind t0 = {np.ravel(t0)[0]:g}"
            f" for dt = {np.ravel(dt)[0]:g}"
        )
    if np.any(abs(ratio - n) > 1e-9 * np.maximum(1, n)):
        i = int(np.argmax(abs(ratio - n)))
        t, h, start = (float(np.ravel(a)[min(i, np.size(a) - 1)]) for a in (t_end, dt, t0))
        low = int(np.floor(ratio[i]))
        raise ValueError(
            f"t_end = {t:.12g} is {ratio[i]:.12g} steps of dt = {h:.12g} from t0 ="
            f" {start:.12g}, not a whole number; the nearest are"
            f" t_end = {start + low * h:.12g} ({low} steps) and"
            f" t_end = {start + (low + 1) * h:.12g} ({low + 1} steps)"
        )
    if np.any(n != n[0]):
        raise ValueError(
            f"every trajectory must take the same number of steps: t_end, t0 and dt give from"
            f" {n.min():.0f} to {n.max():.0f}{cure}"
        )
    return int(n[0])
