"""Watches and events of a Stepper: their live memory, which can be reset, copied and restored."""

import numpy as np

from ..values.memory import aligned
from .accumulators import REDUCTIONS
from .beginning import check_watched
from .event_log import EventRows, Events, check_beginning
from .plan import Plan
from .watched import Kept, Watched, change_of_energy, first_numbers, program_fields, row_of

# By number: initial values of the rows, and the first at a restart, which any value exceeds.
_REDUCTIONS = [one[1:] for one in REDUCTIONS.values()]
_LINE = REDUCTIONS["line"][0]  # its first value is any that is close to the data


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
        self._live = [row for rows in live for row in rows]
        given = {} if events is None else events.given
        self._plan = None if watch is None else Plan(problem.system, watch.watch, given, True)
        groups = [] if self._plan is None else self._plan.groups
        if any(group.densities for group in groups):
            raise ValueError(
                "a density belongs to the whole batch, and a Stepper resets single trajectories:"
                " watch a histogram, which each trajectory has"
            )
        self._programs = [*groups, *([] if events is None else [events])]
        check_watched(self._plan, problem)
        self._sums = [self._initial(one) for one in groups]
        self.fields, self._params, self._changes = {}, [], []
        if groups:
            self.fields["watches"] = tuple(
                self._program(one, (sums, sums)) for one, sums in zip(groups, self._sums)
            )
        if events is not None:
            check_beginning(events, problem, first_numbers(events.numbers, problem))
            self._sums.append(self._initial(events))
            last = self._sums[-1]
            self._rows = EventRows.empty(events, problem, problem.stride)
            detect = self._program(events, (last, last))
            counts = {"counts_a": self._rows.counts, "counts_b": self._rows.counts}
            self.fields["events"] = self._rows.fields(events, detect) | counts

    def _initial(self, program):
        sums = aligned((len(program.initial), self._problem.stride), np.float64)
        sums[...] = program.initial[:, np.newaxis]
        return sums

    def _program(self, program, sums):
        """Its fields, with parameters that may change: the live ones, and one item per lane."""
        known = first_numbers(program.numbers, self._problem)
        fields = program_fields(program, self._problem, known, 0, sums)
        rows = [np.array(np.broadcast_to(row, self._problem.stride)) for row in fields["params"]]
        if self._problem.dtype == np.float64:
            rows[: len(self._live)] = self._live
        self._params.append(rows)
        change = self._energies(program, self._problem)
        self._changes.append(change)
        return fields | {"params": tuple(rows), "origin": change[0], "factor": change[1]}

    def _energies(self, program, problem):
        """Rows of the initial energy, a factor and a unit: watched.change_of_energy."""
        values = change_of_energy(problem) if program.change else (0.0, 1.0, 1.0)
        rows = [np.broadcast_to(row_of(problem, value), problem.stride) for value in values]
        return [np.array(row) for row in rows]

    @property
    def rounds(self):
        """Whether the run rounds its parameters, so that watches keep them unrounded as well."""
        return self._problem.dtype != np.float64

    def follow(self):
        """Pass on to the watches any rounded parameter that the user has changed."""
        for rows in self._params:
            for row, live in zip(rows, self._live):
                with np.errstate(over="ignore"):
                    changed = live != row.astype(live.dtype)
                row[changed] = live[changed]

    # ---- snapshots and resets ----
    def _all(self):
        """Every array that a step or a reset writes; lanes are the last axis."""
        arrays = list(self._sums)
        for program, rows in zip(self._programs, self._params):
            arrays += rows[len(rows) - len(program.numbers) :]
        for change in self._changes:
            arrays += change
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
        for program, rows, change in zip(self._programs, self._params, self._changes):
            known = first_numbers(program.numbers, problem)
            known["_begin"] = float(-(-n // program.every))
            own = rows[len(rows) - len(program.numbers) :]
            for row, (name, value) in zip(own, program.numbers.items()):
                if name == "_begin" or (value is None and name != "_forwards"):
                    row[lanes] = np.broadcast_to(row_of(problem, known[name]), row.shape)[lanes]
            for row, new in zip(change, self._energies(program, problem)):
                row[lanes] = new[lanes]
        for sums, program in zip(self._sums, self._programs):
            sums[:, lanes] = program.initial[:, np.newaxis]
            for at, kind in _places(program):
                if not np.isnan(_REDUCTIONS[kind][1]):
                    sums[at, lanes] = _REDUCTIONS[kind][1]
        if self._events is not None:
            self._rows.counts[:, lanes] = self._events.first_counts[:, np.newaxis]
            for array in self._rows.arrays:
                array[..., lanes] = -1 if array.dtype == np.int8 else np.nan
        before = [sums.copy() for sums in self._sums]
        look(0)  # here a line takes its first value
        for sums, there, program in zip(self._sums, before, self._programs):
            firsts = [at for at, kind in _places(program) if kind == _LINE]
            there[np.ix_(firsts, lanes)] = sums[np.ix_(firsts, lanes)]
            sums[...] = there
        look(n)
        for sums, there in zip(self._sums, before):
            sums[:, ~lanes] = there[:, ~lanes]

    # ---- results ----
    def watched(self, last):
        """Results by name; last: the index of the last step of each trajectory, (*batch)."""
        if self._plan is None:
            return Watched({})
        lanes, batch, groups = self._problem.lanes, self._problem.batch, self._plan.groups
        kept, began = Kept(), []
        for group, sums, rows in zip(groups, self._sums, self._params):
            begin = rows[len(rows) - len(group.numbers) + [*group.numbers].index("_begin")]
            began.append(begin[:lanes].reshape(batch))
            kept.append(sums[:, :lanes].copy())
            nothing = last.ravel() // group.every < begin[:lanes]
            kept[-1][:, nothing] = group.initial[:, np.newaxis]
        units = [change[2][:lanes].reshape(batch) for change in self._changes]
        return Watched.of_sums(self._plan, self._problem, kept, last, began, units)

    def events(self):
        if self._events is None:
            return Events({})
        lanes = self._problem.lanes
        rows = self._rows.first(lanes, None, self._rows.counts[:, :lanes])
        return Events.of_run(self._events, self._problem, rows)

    def stopped(self, stopped):
        """When and by which event, (*batch); stopped: which trajectories an event has stopped."""
        batch, lanes = stopped.shape, self._problem.lanes
        if self._events is None:
            return np.full(batch, np.nan), np.full(batch, "")
        names = np.array([*self._events.events, ""])
        when, which = (a[:lanes].reshape(batch) for a in self._rows.stopped)
        return np.where(stopped, when, np.nan), names[np.where(stopped, which, -1)]


def _places(program):
    """The first row of each reduction by the core, and its kind."""
    at = program.sums
    for kind, _, _ in program.reduced:
        yield at, kind
        at += len(_REDUCTIONS[kind][0])
