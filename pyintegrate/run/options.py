"""How a run is carried out: saves, threads, progress, failures, output."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..values.checks import integer, numbers, places_of
from ..values.named import Named
from .saves import Saves, check_save, check_times, saves_of

_DOUBLE = np.dtype(np.float64)


def _bound(bound):
    if bound is None:
        return np.inf
    value = numbers("bound", bound)
    if value.ndim or not value > 0:
        raise ValueError(f"bound must be a positive number, got {bound!r}")
    return float(value)


def _workers(workers):
    workers = integer("workers", workers, -1)
    if workers == 0:
        raise ValueError("workers must be at least 1, or -1 for all cores, got 0")
    if workers > 0:
        return min(workers, 1024)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _on_failure(on_failure):
    if not isinstance(on_failure, str) or on_failure not in ("warn", "raise", "ignore"):
        raise ValueError(f"on_failure must be 'warn', 'raise' or 'ignore', got {on_failure!r}")
    return on_failure


def _progress(progress):
    if not (isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress must be True, False or a callable, got {progress!r}")
    return progress


def _compensated(compensated):
    if not isinstance(compensated, bool | np.bool_):
        raise TypeError(f"compensated must be True or False, got {compensated!r}")
    return bool(compensated)


def _rounded(number, problem):
    """In the dtype of the run."""
    if problem.dtype is _DOUBLE:
        return number
    with np.errstate(over="ignore", under="ignore"):
        return float(problem.dtype.type(number))


def _times(times):
    return None if times is None else check_times(times)


def _as_given(value):
    return value


class Option:
    """An option of a run: its default, its check, and how the C core takes it, if it does.

    Parameters
    ----------
    default
        Its value if the user does not give it.
    check : callable
        Value -> checked value; TypeError or ValueError.
    core : callable, optional
        (value, problem) -> the field of the same name with which the core starts.
    """

    def __init__(self, default, check, core=None):
        self.given, self.default = default, check(default)
        self.check, self.core = check, core

    def __set_name__(self, owner, name):
        owner.known[name], owner.usual[name] = self, self.given
        if self.core:
            owner.of_core.append((name, self.core))
        setattr(owner, name, self.default)  # a given value is stored in the instance


class Options(Named):
    """How a run is carried out, one line per option; its mathematics is a ``Problem``."""

    known: ClassVar[dict[str, Option]] = {}
    usual: ClassVar[dict[str, Any]] = {}  # the defaults
    of_core: ClassVar[list[tuple[str, Callable]]] = []

    save = Option("all", check_save)
    bound = Option(None, _bound, core=_rounded)
    compensated = Option(False, _compensated, core=lambda compensated, problem: compensated)
    workers = Option(1, _workers)
    progress = Option(False, _progress)
    on_failure = Option("warn", _on_failure)
    out = Option(None, _as_given)  # checked with the sizes of the run: output.check_out
    components: Any = Option(None, _as_given)  # checked with the system: places_of
    watch = Option(None, _as_given)  # checked with the system: a watching.plan.Plan
    events = Option(None, _as_given)  # checked with the system: a watching.events.EventPlan
    times = Option(None, _times)  # checked with the run: saves.py
    steps = Option(None, _as_given)  # the saved steps if no interval gives them: saves.py

    @classmethod
    def checked(cls, system, given):
        """Options from arguments; those that are not given have their defaults."""
        usual, fields = cls.usual, {}
        for name, value in given.items():
            if value is not usual[name]:
                fields[name] = cls.known[name].check(value)
        if not fields:
            return USUAL
        if "times" in fields:
            if "save" in fields:
                raise ValueError("give save= or times=, not both: times= says what is saved")
            fields["save"] = "final"  # when the run is continued
        if type(fields.get("save")) is np.ndarray:
            fields["save"], fields["steps"] = "final", fields["save"]
        if "components" in fields:
            places = places_of(fields["components"], system)
            fields["components"] = tuple(system.state_names[i] for i in places)
        return cls.of(fields)

    def saves(self, problem):
        """The saved steps of a problem."""
        if self.steps is None:
            return saves_of(self.save, problem.n_steps)
        return Saves(self.save, problem.n_steps, self.steps)

    def saved_names(self, system):
        """Names of the components that are saved."""
        return system.state_names if self.components is None else self.components

    def n_components(self, system):
        """How many components are saved."""
        return system.dim if self.components is None else len(self.components)

    def places(self, system):
        """Indices of the components that are saved."""
        if self.components is None:
            return tuple(range(system.dim))
        return places_of(self.components, system)

    @property
    def elsewhere(self):
        """Whether the states go to the caller's array, or are not all saved."""
        return self.out is not None or self.components is not None


USUAL = Options()
