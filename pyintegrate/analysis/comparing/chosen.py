"""The methods of a comparison, and the steps or the tolerance of each."""

from __future__ import annotations

import numpy as np

from ...adaptive.tolerances import Tolerance
from ...method.catalogue import find_method
from ...method.method import Method
from ..accuracy import evaluations_a_step


def same_work(system, first, method, dt, t_end, t0):
    """Steps of a method that cost as many force evaluations as those of the first method."""
    share = evaluations_a_step(system, first.method) / evaluations_a_step(system, method)
    steps = max(1, round(first.n_steps * share))
    span = first.n_steps * dt if t_end is None else np.subtract(t_end, t0)
    return {"dt": span / steps, "n_steps": steps}


class Chosen:
    """A method, and its tolerance or None."""

    def __init__(self, given):
        method, self.tolerance = given, None
        if isinstance(given, tuple):
            if len(given) != 2 or not isinstance(given[1], Tolerance):
                raise TypeError(
                    f"methods has {given!r}: expected a method, or (method, pi.tolerance(1e-9))"
                )
            method, self.tolerance = given
        self.method = method if method == "auto" and self.tolerance else method_of(method)
        name = self.method if isinstance(self.method, str) else self.method.name
        self.name = name if self.tolerance is None else f"{name} to {self.tolerance}"


_FOR_STEPS = {"compensated": "steps to a tolerance always carry rounding errors along"}
_STEPS_ONLY = ("drive", "start")


def to_a_tolerance(one, span, options):
    """The arguments of `solve` in place of those of `integrate`."""
    how = {name: value for name, value in options.items() if name not in _FOR_STEPS}
    for name in _STEPS_ONLY:
        if how.pop(name, None) is not None:
            raise ValueError(f"{name} is for steps of one length, and {one.name!r} chooses its own")
    if how.get("times") is None:
        save = how.setdefault("save", "all")
        if not isinstance(save, str):
            raise ValueError(
                f"save={save!r} counts steps of one length, and {one.name!r} chooses its own: give"
                " save='all', 'final', or times="
            )
    if span["t_end"] is None:
        if span["n_steps"] is None or span["dt"] is None:
            raise ValueError("give t_end, or n_steps and dt")
        span["t_end"] = options.get("t0", 0.0) + span["n_steps"] * np.asarray(span["dt"])
    elif span["n_steps"] is not None:
        raise ValueError("give exactly one of n_steps and t_end")
    tolerance = one.tolerance
    return how | {"t_end": span["t_end"], "rtol": tolerance.rtol, "atol": tolerance.atol}


def method_of(method):
    """A method by name or alias, or a given one."""
    if not isinstance(method, str | Method):
        raise TypeError(f"methods must be names or Methods, got {method!r}")
    return find_method(method)


def listed(methods):
    """One method, or several, as a list."""
    if isinstance(methods, str | Method):
        return [methods]
    if isinstance(methods, tuple) and len(methods) == 2 and isinstance(methods[1], Tolerance):
        return [methods]
    try:
        methods = list(methods)
    except TypeError:
        raise TypeError(f"methods must be names or Methods, got {methods!r}") from None
    if not methods:
        raise ValueError("methods is empty: name at least one, for example methods=['rk4']")
    return methods
