"""How a run is carried out: saves, threads, progress, failures, output."""

import os
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np

from ..values.checks import choice, fits_batch, floats, integer, numbers, places_of, positive, truth
from ..values.named import Named
from ..values.types import Any
from .times import column, first_of, places_in_run

# ---- saves --------------------------------------------------------------------------------------


def check_save(save):
    """ "all", "final", an interval of steps between saves, or an array of step indices."""
    if isinstance(save, str):
        if save not in ("all", "final"):
            raise ValueError(
                "save must be 'all', 'final', a number of steps or an increasing array of step"
                f" numbers, got {save!r}"
            )
        return save
    if isinstance(save, list | tuple | range) or np.ndim(save):
        return _numbers_of_steps(save)
    if isinstance(save, float | np.floating):
        raise TypeError(f"save must be an integer, got {save!r}; times go into times=")
    return integer("save", save, 1, np.inf)  # longer than the run: its two ends


def _numbers_of_steps(save):
    """Increasing indices of steps, all of which the run must contain."""
    if isinstance(save, range):  # item by item NumPy takes a minute for 1e9
        save = np.arange(save.start, min(save.stop, 1 << 54), save.step)
    steps = numbers("save", save)
    if steps.ndim != 1 or (steps.dtype.kind == "f" and np.any(steps != np.rint(steps))):
        raise TypeError(
            "save takes the numbers of the saved steps as whole numbers in one axis, got shape"
            f" {steps.shape} of {steps.dtype}; times go into times="
        )
    if not len(steps):
        raise ValueError("save is empty: name a step, or save='final'")
    if steps[0] < 0 or np.any(steps[1:] <= steps[:-1]):
        raise ValueError(
            "save must be increasing numbers of steps from 0 on: np.unique(save) sorts them, got"
            f" {np.array2string(steps, threshold=9)}"
        )
    if steps[-1] > 1 << 53:
        raise ValueError(f"save has step {steps[-1]}, and a run has at most 2**53")
    steps = steps.astype(np.int64)
    steps.flags.writeable = False
    return steps


class Saves:
    """The saves of a run of `n_steps`: steps 0, k, 2k, ... and the last, or the last alone.

    Attributes
    ----------
    count : int
    every : int
        Steps from one save to the next; at most `n_steps`.
    final_only : bool
    n_steps : int
    given : ndarray of int or None
        The saves if no interval gives them: those that a user gives, those of joined parts, or
        the steps that contain the requested times, (n,) or (n, *batch).
    """

    __slots__ = ("count", "every", "final_only", "given", "n_steps")

    def __init__(self, save, n_steps, given=None):
        self.final_only, self.n_steps = save == "final" and given is None, n_steps
        self.given = given
        whole = max(n_steps, 1)
        self.every = whole if save == "final" else 1 if save == "all" else min(save, whole)
        self.count = 1 if self.final_only else 1 - -n_steps // self.every
        if given is not None:
            self.count = len(given)

    @property
    def steps(self):
        """Indices of the saved steps, counted from the first of the run."""
        if self.given is not None:
            return self.given
        if self.final_only:
            return np.array([self.n_steps])
        steps = np.arange(0, self.n_steps + 1, self.every)
        return steps if steps[-1] == self.n_steps else np.append(steps, self.n_steps)

    def until(self, completed):
        """The number of saves in a run that ended after `completed` steps."""
        if self.given is None and not self.final_only:
            last = completed == self.n_steps and completed % self.every != 0
            return completed // self.every + 1 + last
        steps = self.steps
        if steps.ndim > 1:  # those of times, which lie in different steps of each trajectory
            steps = steps.reshape(len(steps), -1).max(axis=1, initial=0)
        return int(np.searchsorted(steps, completed, side="right"))


_saves_of = lru_cache(maxsize=64)(Saves)  # the same object for every run of equal length


# ---- times --------------------------------------------------------------------------------------


def check_times(times):
    """Times as a read-only array of finite doubles; the first axis is theirs."""
    array = np.atleast_1d(floats("times", times))
    if not len(array):
        raise ValueError(f"times has shape {array.shape}: name a time, or save='final'")
    endless = ~np.isfinite(array)
    if endless.any():
        raise ValueError(f"times must be finite, got {first_of(array, endless)}")
    array.flags.writeable = False
    return array


def fitted(times, batch, forwards, name="times"):
    """Times of shape (n,), or (n, *batch), monotonic in the direction of the run.

    Parameters
    ----------
    times : ndarray
        From ``check_times``.
    batch : tuple of int
    forwards : float or ndarray
        Positive if time grows, as dt; broadcasts to the batch.
    """
    if times.ndim > 1:
        if not fits_batch(times.shape[1:], batch):
            raise ValueError(
                f"{name} has shape {times.shape}, expected (n,) or (n, *batch) with the batch"
                f" {batch}"
            )
        times = over_batch(times, batch)
    ahead = column(np.diff(times, axis=0), batch)
    if np.any(ahead * np.sign(forwards) < 0):
        raise ValueError(
            f"{name} must be in order, from t0 to t_end: sort them, np.sort({name}, axis=0)"
            " where time grows"
        )
    return times


def over_batch(array, batch, *own):
    """An array (n, *part of the batch, *own) as (n, *batch, *own).

    Examples
    --------
    >>> over_batch(np.zeros(3), (2, 5)).shape
    (3, 2, 5)
    """
    between = (1,) * (len(batch) + 1 + len(own) - array.ndim)
    array = array.reshape(len(array), *between, *array.shape[1:])
    return np.broadcast_to(array, (len(array), *batch, *own))


def steps_of(times, t0, dt, n_steps, batch, dtype):
    """The first step at or after each time, (n,) or (n, *batch); ValueError for one outside."""
    differs = np.ndim(t0) or np.ndim(dt)
    if differs:
        times = column(times, batch)
    places, outside = places_in_run(times, t0, dt, 0, n_steps, dtype)
    if np.any(outside):
        wrong = first_of(times, outside)
        first, last = np.ravel(t0 + 0 * dt)[0], np.ravel(t0 + n_steps * dt)[0]
        many = " (of the first trajectory)" if differs else ""
        raise ValueError(f"times has {wrong}, outside the run, {first} .. {last}{many}")
    return np.ceil(places).astype(np.int64)


# ---- options ------------------------------------------------------------------------------------


def _workers(workers):
    workers = integer("workers", workers, -1)
    if workers == 0:
        raise ValueError("workers must be at least 1, or -1 for all cores, got 0")
    if workers > 0:
        return min(workers, 1024)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _progress(progress):
    if not (isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress must be True, False or a callable, got {progress!r}")
    return progress


class Option:
    """An option of a run: its default, its check, and whether the C core takes it.

    Parameters
    ----------
    given
        Its default.
    check : callable, optional
        Value -> checked value, or a TypeError or ValueError; by default none.
    core : bool
        Whether the core starts with a field of the same name.
    value, optional
        What the default stands for.
    inner : bool
        Whether it is no argument: it is set past the checks.
    """

    def __init__(self, given, check=lambda value: value, core=False, value=None, inner=False):
        self.given, self.value = given, given if value is None else value
        self.check, self.core, self.inner = check, core, inner

    def __set_name__(self, owner, name):
        if not self.inner:
            owner.known[name] = self
        if self.core:
            owner.of_core.append(name)
        setattr(owner, name, self.value)


class Options(Named):
    """How a run is carried out, one line per option; its mathematics is a ``Problem``.

    An instance holds what was given; the class has the defaults.
    """

    known: ClassVar[dict[str, Option]] = {}
    of_core: ClassVar[list[str]] = []

    save = Option("all", check_save)
    bound = Option(None, partial(positive, "bound", endless=True), value=np.inf)
    compensated: Any = Option(False, partial(truth, "compensated"), core=True)
    workers = Option(1, _workers)
    progress = Option(False, _progress)
    on_failure = Option("warn", partial(choice, "on_failure", known=("warn", "raise", "ignore")))
    out = Option(None)  # checked with the sizes of the run: output.check_out
    components: Any = Option(None)  # checked with the system: places_of
    watch = Option(None)  # checked with the system: a watching.plan.Plan
    across = Option(None)  # checked with the system: goes into the plan of watch
    events = Option(None)  # checked with the system: a watching.events.EventPlan
    times = Option(None, check_times)  # checked with the run: arguments.py
    renormalise = Option(None, core=True, inner=True)  # of tangents; analyses set it
    steps: Any = Option(None, inner=True)  # the saved ones if no interval gives them: arguments.py

    @classmethod
    def checked(cls, system, given):
        """Options from arguments; those that are not given have their defaults."""
        known, fields = cls.known, {}
        for name, value in given.items():
            if name not in known:
                raise TypeError(f"got an unexpected keyword argument {name!r}")
            if value is not known[name].given:
                fields[name] = known[name].check(value)
        if not fields:
            return DEFAULTS
        if "times" in fields:
            if "save" in given:
                raise ValueError("give save= or times=, not both: times= says what is saved")
            fields["save"] = "final"  # when the run is continued
        if type(fields.get("save")) is np.ndarray:
            fields["save"], fields["steps"] = "final", fields["save"]
        if "components" in fields:
            places = places_of(fields["components"], system)
            fields["components"] = tuple(system.state_names[i] for i in places)
        return cls.of(fields)

    def for_core(self):
        """Fields of the C core: of options that were given."""
        given = self.__dict__
        return {name: given[name] for name in self.of_core if name in given}

    def saves(self, n_steps):
        """The saved steps of a run of so many."""
        if self.steps is None:
            return _saves_of(self.save, n_steps)
        return Saves(self.save, n_steps, self.steps)

    def saved_names(self, system):
        """Names of the components that are saved."""
        return system.state_names if self.components is None else self.components

    def places(self, system):
        """Indices of the components that are saved."""
        return places_of(self.components, system)

    @property
    def elsewhere(self):
        """Whether the states go to the caller's array, or are not all saved."""
        return self.out is not None or self.components is not None


DEFAULTS = Options()
