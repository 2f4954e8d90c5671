"""Inputs that change at every step: the argument ``drive`` of ``integrate``."""

from collections.abc import Mapping
from math import prod

import numpy as np

from ..errors import quiet
from ..values.checks import numbers
from ..values.memory import aligned, padded
from ..values.parameters import rows_of
from .options import over_batch


def check_drive(drive, system, method, options):
    """The driven parameters by name, as arrays (n_steps, *batch, *shape), and their batch shapes.

    Parameters
    ----------
    drive : mapping of str to array_like
    system : System
    method : Method
    options : Options
        Whose events and watches may not name them.
    """
    if not isinstance(drive, Mapping):
        raise TypeError(
            f"drive must map names of parameters to arrays (n_steps, *batch), got"
            f" {type(drive).__name__}"
        )
    arrays, shapes = {}, {}
    for name, value in drive.items():
        if name not in system.params:
            known = ", ".join(system.params) or "none"
            raise ValueError(f"drive: {system.name} has no parameter {name!r}; it has {known}")
        if callable(value):
            raise TypeError(
                f"drive[{name!r}] must be an array, one number a step, got a function: write what"
                " depends on the time into the force, @pi.acceleration of (t, x, v)"
            )
        array, own = numbers(f"drive[{name!r}]", value), system.shapes[name]
        if array.ndim <= len(own) or array.shape[array.ndim - len(own) :] != own:
            raise ValueError(
                f"drive[{name!r}] has shape {array.shape}: expected (n_steps, *batch"
                f"{''.join(f', {n}' for n in own)})"
            )
        arrays[name], shapes[f"drive[{name!r}]"] = array, array.shape[1 : array.ndim - len(own)]
    if refusal := system(**arrays).refusal(method):
        raise ValueError(refusal)
    for word in ("events", "watch"):
        plan = getattr(options, word)
        if plan is not None and (wrong := plan.named(system) & {*arrays}):
            raise ValueError(
                f"{word}: a function, a bridge or a jump of tangents takes"
                f" {', '.join(sorted(wrong))}, but the force alone sees what drive= makes of it:"
                " make it a function of t and the state"
            )
    return arrays, shapes


def driven_rows(arrays, system, rows, n_steps, batch, dtype):
    """Rows of parameters for each step, and the stride from one step to the next.

    Parameters
    ----------
    arrays : dict of ndarray
        From ``check_drive``.
    rows : tuple
        The rows of all parameters, undriven.

    Returns
    -------
    rows, advances : tuple
    """
    out, advances = [], []
    rest = iter(rows)
    for name in system.params:
        own = system.shapes[name]
        kept = [next(rest) for _ in range(prod(own))]
        if name not in arrays:
            out += kept
            advances += [0] * len(kept)
            continue
        array = arrays[name]
        if len(array) != n_steps:
            raise ValueError(
                f"drive[{name!r}] has {len(array)} steps, and the run {n_steps}: values that hold"
                " for k steps are np.repeat(values, k, axis=0), and for all of them"
                f" {system.name}({name}=...)"
            )
        for element in rows_of(array, own):
            row = _laid_out(element, batch, dtype)
            out.append(row)
            advances.append(1 if row.ndim == 1 else row.shape[1])
    out += rest  # of the run, where there is noise
    return tuple(out), (*advances, *[0] * (len(out) - len(advances)))


def _laid_out(values, batch, dtype):
    """(n_steps, *batch) as (n_steps,) if one value serves all, else (n_steps, stride)."""
    n_steps, lanes = len(values), prod(batch)
    with quiet():
        if values.size == n_steps:
            row = np.zeros(max(n_steps, padded(lanes, dtype)), dtype)  # the core needs a full row
            row[:n_steps] = values.reshape(n_steps)
            return row
        rows = aligned((n_steps, padded(lanes, dtype)), dtype)
        rows[:, :lanes].reshape(n_steps, *batch)[...] = over_batch(values, batch)
        rows[:, lanes:] = rows[:, lanes - 1 : lanes]
        return rows
