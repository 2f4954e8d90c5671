"""How a run is carried out: saves, threads, progress, failures, output."""

from __future__ import annotations

import os

import numpy as np

from ..values.checks import integer, numbers, places_of
from ..values.named import Named
from .saves import Saves, check_save


class Options(Named):
    """How a run is carried out, checked; the mathematics of it is a ``Problem``.

    An option stands here with its default, and in `CHECKS` with its check; those that the C core
    reads are in `core_fields`.
    """

    save: str | int = "all"
    bound: float = np.inf  # largest magnitude of a component
    workers: int = 1  # threads
    progress: object = False  # True, or a callable (steps done, steps)
    on_failure: str = "warn"
    out: object = None  # where the states go; None: memory
    components: tuple[str, ...] | None = None  # names of those that are saved; None: all
    steps: np.ndarray | None = None  # of joined parts: those that were saved; None: by `save`

    @classmethod
    def checked(cls, system, **given):
        """From arguments as a user gives them; those that are left out have their defaults."""
        fields = {name: CHECKS[name](value) for name, value in given.items()}
        places = places_of(fields.get("components"), system)
        if places is not None:
            fields["components"] = tuple(system.state_names[i] for i in places)
        return cls(**fields)

    def saves(self, problem):
        """The saved steps of a problem."""
        return Saves(self.save, problem.n_steps, self.steps)

    def saved_names(self, system):
        """Names of the components that are saved."""
        return system.state_names if self.components is None else self.components

    def places(self, system):
        """Their numbers."""
        return places_of(self.components, system) or tuple(range(system.dim))

    @property
    def elsewhere(self):
        """Whether the states go to an array of the caller's, or are not all saved."""
        return self.out is not None or self.components is not None

    def core_fields(self, problem):
        """What the C core reads at its start, by the names that it has there."""
        with np.errstate(over="ignore", under="ignore"):
            bound = float(problem.dtype.type(self.bound))
        return {"bound": bound, "save_every": self.saves(problem).every}


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


CHECKS = {
    "save": check_save,
    "bound": _bound,
    "workers": _workers,
    "progress": _progress,
    "on_failure": _on_failure,
    "out": lambda out: out,  # with the sizes of the run: output.check_out
    "components": lambda components: components,  # with the system: places_of
}
