"""The saved states of a batch of trajectories: arrays, times, failures."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import IntegrationError, Status
from ..run.core import outward
from ..values.citations import cite
from .origin import origin_of
from .sensitivity import derivatives, motion_alone

if TYPE_CHECKING:
    from typing import Any

    from ..values.types import Booleans, Floats, Integers
    from ..watching.batch.results import Across
    from ..watching.event_log import Events
    from ..watching.watched import Watched

WATCHING = ("watched", "events", "stopped_at", "stopped_by")  # results that go into files


class States:
    """Saved states, and the trajectories that failed; see ``Solution``."""

    _sums = _event_rows = None  # of a run that has none
    _carried: Any = None  # the solution with tangents, and the names
    _control: Any = None  # for a run to a tolerance: adaptive/adaptive_run.py

    def __init__(self, problem, options, outcome):
        """For ``integrate``: made from an ``Outcome`` (run/core.py)."""
        self._problem, self._options = problem, options
        self.system, self.method = problem.system, problem.method
        self.dt, self.t0 = problem.dt, problem.t0
        self.n_steps = outcome.completed
        self._states, self._final, self._history = outcome.states, outcome.final, outcome.history
        self._failures = outcome.failures  # including those that an event has stopped
        self._sums, self._event_rows = outcome.sums, outcome.event_rows
        if outcome.completed < problem.n_steps:
            self._failures = outcome.failures.until(problem.first + outcome.completed)

    @classmethod
    def _with_tangents(cls, integrate, names):
        """The base motion of a run with tangents, which it keeps; also in exceptions."""

        def alone(both):
            solution = cls(*cls._alone(both))
            solution._carried = both, names
            return solution

        try:
            return alone(integrate())
        except (IntegrationError, KeyboardInterrupt, MemoryError) as error:
            if hasattr(error, "solution"):
                error.solution = alone(error.solution)
            raise

    _alone = staticmethod(motion_alone)  # the arguments of the solution without tangents

    @cached_property
    def steps(self) -> Integers:
        if self._saves.final_only:
            return np.array([self._problem.first + self.n_steps])
        return self._saves.steps[: self._saves.until(self.n_steps)] + self._problem.first

    @property
    def _saves(self):
        return self._options.saves(self._problem.n_steps)

    @cached_property
    def t(self) -> Floats:
        asked = self._options.times
        return self._problem.times(self.steps) if asked is None else asked[: len(self)]

    @property
    def _step_lengths(self):
        """Lengths of the steps, as pictures and tables show them: one, or (*batch)."""
        return np.asarray(self.dt, dtype=np.float64)

    @property
    def arithmetic(self) -> int:
        return self._problem.arithmetic

    @property
    def y(self) -> Floats:
        inside = self._in_memory
        return np.asarray(self._states[: len(self)]) if inside is None else inside

    @cached_property
    def _in_memory(self):
        """The saved states; None if they are elsewhere, and read when requested."""
        if not isinstance(self._states, np.ndarray):
            return None
        return self._states if len(self._states) == len(self) else self._states[: len(self)]

    @cached_property
    def initial(self) -> Floats:
        initial = self._outward(self._problem.initial[: self.system.dim])
        initial.flags.writeable = False
        return initial

    @cached_property
    def origin(self) -> Floats:
        origin = self._outward(origin_of(self._problem).state)
        origin.flags.writeable = False
        return origin

    @property
    def _origin_time(self):
        """The time of `origin`: a float, or (*batch)."""
        return self._problem.times(np.array([origin_of(self._problem).step]))[0]

    def _outward(self, rows):
        """(dim, lanes or more) inside -> (*batch, dim) outside, without a copy."""
        return outward(rows[:, : self._problem.lanes], self._problem.batch)

    def __getstate__(self):
        """Functions stay behind, those of progress and of watches: they belong to one process."""
        options = self._options.changed(progress=False, watch=None, across=None, events=None)
        results = {name: getattr(self, name) for name in (*WATCHING, "across", "_first_jump")}
        state = {
            **self.__dict__,
            **results,
            "_options": options,
            "_sums": None,
            "_event_rows": None,
        }
        state.pop("_in_memory", None)  # a view
        return state

    def _told(self, other):
        """This solution with the watches of another, if only results are left of its own."""
        self.__dict__.update({key: other.__dict__[key] for key in WATCHING if other._forgot})
        self._first_jump = other._first_jump
        return self

    @property
    def _forgot(self):
        """Whether it has results of watches or events without their functions."""
        return (self._sums is None and bool(self.watched)) or (
            self._event_rows is None and bool(self.events)
        )

    def _what_is_forgotten(self):
        return (
            "this solution was loaded or unpickled, and the functions of its watch and events"
            f" ({', '.join([*self.watched, *self.events])[:200]}) were not: the further steps"
            " are neither watched nor stopped. To go on with them, resume before saving, or"
            " integrate from `final` with watch= and events="
        )

    # ---- arrays ----
    @property
    def x(self) -> Floats:
        return self._half(0)

    @property
    def v(self) -> Floats:
        return self._half(1)

    def _half(self, which):
        system = self.system
        lead = system.positions
        if not lead:
            raise AttributeError(f"{system.name!r} is first_order and has no x and v; use y")
        if self._complete:
            if system.dim == 2:
                return self.y[..., which]
            return self.y[..., lead:] if which else self.y[..., :lead]
        half = system.state_names[lead:] if which else system.state_names[:lead]
        places = [self._place(name) for name in half]
        return self.y[..., places[0] if system.dim == 2 else places]

    def __getitem__(self, name: str) -> Floats:
        names = self.system.state_names
        if not isinstance(name, str):
            raise TypeError(
                f"brackets take the name of a component ({', '.join(names)}), got {name!r}"
            )
        if name not in names:
            raise KeyError(
                f"{self.system.name!r} has the components {', '.join(names)}, not {name!r}"
            )
        return np.asarray(self._states[: len(self), ..., self._place(name)])

    def _ipython_key_completions_(self):
        return list(self.components)

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components that were saved: all, unless `components` was given."""
        return self._options.saved_names(self.system)

    @property
    def out(self) -> Any:
        """The array that `integrate` was given for the states, or None."""
        return self._options.out

    @cached_property
    def _complete(self):
        """Whether all components were saved, in order."""
        return self.components == self.system.state_names

    def _place(self, name):
        if name not in self.components:
            raise ValueError(
                f"{name} was not saved, only {', '.join(self.components)}: add it to components"
            )
        return self.components.index(name)

    def _need_all(self, question):
        if not self._complete:
            raise ValueError(
                f"{question} needs all components, and {', '.join(self.components)} were saved:"
                " integrate without components"
            )

    @property
    def final(self) -> Floats:
        return self.y[-1] if self._final is None else self._outward(self._final)

    def __len__(self) -> int:
        return len(self.steps)

    # ---- failures ----
    @property
    def n_failed(self) -> int:
        """The number of trajectories that failed."""
        return len(self._failures.failed())

    @cached_property
    def status(self) -> Integers:
        return self._failures.statuses(self._problem.lanes).reshape(self._problem.batch)

    @cached_property
    def failed_step(self) -> Integers:
        failed = self._failures.failed()
        return failed.steps(self._problem.lanes).reshape(self._problem.batch)

    @cached_property
    def watched(self) -> Watched:
        """The results of watches by name: arrays over the batch. See ``pi.watch``."""
        from ..watching.watched import Watched

        if self._sums is None:
            return Watched({})
        problem = self._problem
        ends = self._failures.steps(problem.lanes).reshape(problem.batch)
        last = np.where(ends < 0, problem.first + self.n_steps, ends - 1)
        return Watched.of_sums(self._options.watch, problem, self._sums, last)

    @cached_property
    def across(self) -> Across:
        """Statistics across the batch by name: arrays over the counted steps. See ``pi.across``."""
        from ..watching.batch.results import Across, of_run

        if self._sums is None or not self._options.watch.across:
            return Across({})
        return of_run(self._options.watch, self._problem, self._sums)

    @cached_property
    def sensitivity(self) -> dict[str, Floats]:
        """Derivatives of the saved states, by name, for a run with ``sensitivity=``.

        By "x0" and "v0" (n_saved, *batch, dim, components); by a parameter
        (n_saved, *batch, dim) followed by the axes of the parameter.
        """
        if self._carried is None:
            raise ValueError(
                "this run has no sensitivities: integrate with sensitivity=('x0', 'v0'), or names"
                f" of parameters ({', '.join(self.system.params) or 'there are none'}); files"
                " do not keep them, a pickle does"
            )
        return derivatives(*self._carried)

    @cached_property
    def events(self) -> Events:
        """The events of the run by name; see ``pi.event``."""
        from ..watching.event_log import Events

        if self._event_rows is None:
            return Events({})
        return Events.of_run(self._options.events, self._problem, self._event_rows)

    @cached_property
    def _first_jump(self):
        """When an event first made each trajectory jump, (*batch): see jumps.py."""
        from .jumps import first_jump

        return first_jump(self)

    @cached_property
    def stopped_at(self) -> Floats:
        """When an event stopped each trajectory, (*batch); NaN if it ran to the end."""
        stopped = self.status == Status.STOPPED
        if self._event_rows is None:
            return np.full(self._problem.batch, np.nan)
        return np.where(stopped, self._event_rows.stopped[0].reshape(self._problem.batch), np.nan)

    @cached_property
    def stopped_by(self) -> Any:
        """Names of the events that stopped the trajectories, (*batch); "" if none did."""
        if self._event_rows is None:
            return np.full(self._problem.batch, "")
        names = np.array([*self._options.events.events, ""])
        which = self._event_rows.stopped[1].reshape(self._problem.batch)
        return names[np.where(self.status == Status.STOPPED, which, -1)]

    def _column(self, t):
        """Times, or indices of steps, that broadcast against the batch."""
        return t if t.ndim > 1 else t.reshape(-1, *(1,) * len(self._problem.batch))

    @property
    def valid(self) -> Booleans:
        ends = self._failures.steps(self._problem.lanes).reshape(self._problem.batch)
        made = self._column(self.steps) < ends
        if self._options.times is not None:  # includes those of its last step before a stop
            made |= (self._column(self.t) - self.stopped_at) * np.sign(self.dt) <= 0
        return (ends < 0) | made

    @property
    def _whole(self):
        """Whether every trajectory has run to the end."""
        return not len(self._failures)

    def failures(self) -> str:
        """A readable report of the trajectories that failed.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10).failures()
        'no trajectory failed'
        """
        return self._failures.failed().report(self._problem.batch, self.t0, self.dt)

    cite = cite

    def digest(self) -> str:
        """A hash of everything in this solution, as 64 hexadecimal digits (SHA-256).

        Two solutions have the same digest if their systems and parameters, methods, times, saved
        and last states, failures, watched results and events are the same, with their shapes and
        precisions: on every machine, with any number of workers, after ``save`` and ``pi.load``. A
        zero has no sign in it, and all NaNs are one. Options that lead to the same solution
        (`bound`, `workers`, ...) and the version that computed it are not included; a function that
        is not traced is included by its name and parameters. `sensitivity` is included, although
        files do not hold it.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=100)
        >>> sol.digest()[:16]
        'b96c76ac40669de8'
        """
        from .digest import digest

        return digest(self)
