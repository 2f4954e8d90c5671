"""Watches and events of a Stepper: their live memory, which can be reset, copied and restored."""

import numpy as np

from ..values.memory import aligned
from .accumulators import REDUCTIONS
from .beginning import check_watched
from .event_log import EventRows, Events, check_beginning
from .plan import Plan
from .run_memory import Kept
from .watched import Watched, change_of_energy, first_numbers, program_fields, row_of

# By number: the initial rows, and the first row at a restart, a value that any other exceeds.
_REDUCTIONS = [one[1:] for one in REDUCTIONS.values()]
_LINE = REDUCTIONS["line"][0]  # its first row may hold any value close to the data


class _Live:
    """A program with the memory that single steps read and write: one item per lane.

    Parameters
    ----------
    program : Group or EventPlan
    problem : Problem
    live : list of ndarray
        The rows of parameters that the Stepper integrates with.
    """

    def __init__(self, program, problem, live):
        self.program = program
        self.sums = aligned((len(program.initial), problem.stride), np.float64)
        self.sums[...] = program.initial[:, np.newaxis]
        known = first_numbers(program.numbers, problem)
        fields = program_fields(program, problem, known, 0, (self.sums, self.sums))
        self.params = [np.array(np.broadcast_to(row, problem.stride)) for row in fields["params"]]
        self.own = dict(zip(program.numbers, self.params[-len(program.numbers) :]))
        if problem.dtype == np.float64:
            self.params[: len(live)] = live
        self.change = self.energies(problem)
        origin, factor, _ = self.change
        self.fields = fields | {"params": (*self.params,), "origin": origin, "factor": factor}
        # The first row of each reduction by the core, and its kind.
        at, self.places = program.sums, []
        for kind, _, _ in program.reduced:
            self.places.append((at, kind))
            at += len(_REDUCTIONS[kind][0])

    def energies(self, problem):
        """Rows of the initial energy, a factor and a unit: watched.change_of_energy."""
        values = change_of_energy(problem) if self.program.change else (0.0, 1.0, 1.0)
        return [_row(problem, value) for value in values]

    def restart(self, lanes, problem):
        """Forget what some trajectories did before the first step of a problem."""
        program = self.program
        known = first_numbers(program.numbers, problem)
        known["_begin"] = float(-(-problem.first // program.every))
        for name, value in program.numbers.items():
            if name == "_begin" or (value is None and name != "_forwards"):
                self.own[name][lanes] = _row(problem, known[name])[lanes]
        for row, new in zip(self.change, self.energies(problem)):
            row[lanes] = new[lanes]
        self.sums[:, lanes] = program.initial[:, np.newaxis]
        for at, kind in self.places:
            if not np.isnan(_REDUCTIONS[kind][1]):
                self.sums[at, lanes] = _REDUCTIONS[kind][1]


def _row(problem, value):
    """A row of its own, whose items may change."""
    return np.array(np.broadcast_to(row_of(problem, value), problem.stride))


class ByHand:
    """The watches and events of a Problem that is stepped by hand.

    Parameters
    ----------
    problem : Problem
    watch : Plan or None
    events : EventPlan or None
    live : list of ndarray
        The rows of each parameter that the Stepper integrates with, (elements, stride).
    """

    def __init__(self, problem, watch, events, live):
        self._problem, self._events = problem, events
        self._params = [row for rows in live for row in rows]
        given = {} if events is None else events.given
        self._plan = None if watch is None else Plan(problem.system, watch, given, True)
        groups = [] if self._plan is None else self._plan.groups
        if any(group.densities for group in groups):
            raise ValueError(
                "a density belongs to the whole batch, and a Stepper resets single trajectories:"
                " watch a histogram, which each trajectory has"
            )
        check_watched(self._plan, problem)
        self._groups = [_Live(group, problem, self._params) for group in groups]
        self._programs = [*self._groups]
        self.fields = {}
        if groups:
            self.fields["watches"] = tuple(one.fields for one in self._groups)
        if events is not None:
            check_beginning(events, problem, first_numbers(events.numbers, problem))
            detect = _Live(events, problem, self._params)
            self._programs.append(detect)
            self._rows = EventRows.empty(events, problem, problem.stride)
            counts = {"counts_a": self._rows.counts, "counts_b": self._rows.counts}
            self.fields["events"] = self._rows.fields(events, detect.fields) | counts

    @property
    def rounds(self):
        """Whether the run rounds its parameters, so that watches keep them unrounded as well."""
        return self._problem.dtype != np.float64

    def follow(self):
        """Pass on to the watches any rounded parameter that the user has changed."""
        for one in self._programs if self.rounds else ():
            for row, live in zip(one.params, self._params):
                with np.errstate(over="ignore"):
                    changed = live != row.astype(live.dtype)
                row[changed] = live[changed]

    # ---- snapshots and resets ----
    def _all(self):
        """Every array that a step or a reset writes; lanes are the last axis."""
        arrays = [one.sums for one in self._programs]
        for one in self._programs:
            arrays += one.params if self.rounds else one.own.values()
            arrays += one.change
        if self._events is not None:
            arrays += [self._rows.counts, *self._rows.arrays]
        return arrays

    def copy(self):
        """A copy of everything that is kept, for a snapshot."""
        return [array.copy() for array in self._all()]

    def put_back(self, arrays):
        for here, there in zip(self._all(), arrays):
            here[...] = there

    @property
    def kind(self):
        """Everything that must be equal for a snapshot to fit."""
        plan = () if self._plan is None else tuple(self._plan.watch)
        events = () if self._events is None else tuple(self._events.events)
        return ("watch", *plan, "events", *events, *(a.shape for a in self._all()))

    def reset(self, lanes, state, n, look):
        """Restart lanes at step n, in a state that counts as their first.

        Parameters
        ----------
        lanes : ndarray of bool
            As long as a row.
        state : ndarray
            The rows of all lanes.
        n : int
        look : callable
            Shows the state to the core's watches and events.
        """
        problem = self._problem.changed(initial=state, first=n)
        self.follow()
        for one in self._programs:
            one.restart(lanes, problem)
        if self._events is not None:
            self._rows.counts[:, lanes] = self._events.first_counts[:, np.newaxis]
            for array in self._rows.arrays:
                array[..., lanes] = -1 if array.dtype == np.int8 else np.nan
        before = [one.sums.copy() for one in self._programs]
        look(0)  # here a line takes its first value
        for one, there in zip(self._programs, before):
            firsts = np.ix_([at for at, kind in one.places if kind == _LINE], lanes)
            there[firsts] = one.sums[firsts]
            one.sums[...] = there
        look(n)
        for one, there in zip(self._programs, before):
            one.sums[:, ~lanes] = there[:, ~lanes]

    # ---- results ----
    def watched(self, last):
        """Results by name; last: the index of the last step of each trajectory, (*batch)."""
        if self._plan is None:
            return Watched({})
        lanes, batch = self._problem.lanes, self._problem.batch
        kept, began = Kept(), []
        for one in self._groups:
            begin, group = one.own["_begin"][:lanes], one.program
            began.append(begin.reshape(batch))
            kept.append(one.sums[:, :lanes].copy())
            nothing = last.ravel() // group.every < begin
            kept[-1][:, nothing] = group.initial[:, np.newaxis]
        units = [one.change[2][:lanes].reshape(batch) for one in self._groups]
        return Watched.of_sums(self._plan, self._problem, kept, last, began, units)

    def events(self):
        if self._events is None:
            return Events({})
        lanes = self._problem.lanes
        rows = self._rows.first(lanes, self._rows.counts[:, :lanes])
        return Events.of_run(self._events, self._problem, rows)

    def stopped(self, stopped):
        """As ``EventRows.stops``."""
        if self._events is None:
            return np.full(stopped.shape, np.nan), np.full(stopped.shape, "")
        return self._rows.stops(self._events, stopped)
