"""Watches and events of a Stepper: their live memory, which can be reset, copied and restored."""

import numpy as np

from .accumulators import REDUCTIONS
from .beginning import check_watched
from .event_log import Events, stops
from .run_memory import RunMemory
from .watched import Watched, change_of_energy, first_numbers, own_row

# By number: the initial rows, and the first row at a restart, a value that any other exceeds.
_REDUCTIONS = [one[1:] for one in REDUCTIONS.values()]
_LINE = REDUCTIONS["line"][0]  # its first row may hold any value close to the data


class _Live:
    """A program with the memory that single steps read and write: one item per lane.

    Parameters
    ----------
    program : Group or EventPlan
    problem : Problem
    fields : dict
        As a run has them.
    live : list of ndarray
        The rows of parameters that the Stepper integrates with.
    """

    def __init__(self, program, problem, fields, live):
        self.program, self.sums = program, fields["sums_a"]
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
        return [own_row(problem, value) for value in values]

    def restart(self, lanes, problem):
        """Forget what some trajectories did before the first step of a problem."""
        program = self.program
        known = first_numbers(program.numbers, problem)
        known["_begin"] = float(-(-problem.first // program.every))
        for name, value in program.numbers.items():
            if name == "_begin" or (value is None and name != "_forwards"):
                self.own[name][lanes] = own_row(problem, known[name])[lanes]
        for row, new in zip(self.change, self.energies(problem)):
            row[lanes] = new[lanes]
        self.sums[:, lanes] = program.initial[:, np.newaxis]
        for at, kind in self.places:
            if not np.isnan(_REDUCTIONS[kind][1]):
                self.sums[at, lanes] = _REDUCTIONS[kind][1]


class ByHand(RunMemory):
    """The watches and events of a Problem that is stepped by hand.

    Parameters
    ----------
    problem : Problem
    options : Options
        With a Plan, and maybe an EventPlan.
    live : list of ndarray
        The rows of each parameter that the Stepper integrates with, (elements, stride).
    """

    of_each = True

    def __init__(self, problem, options, live):
        self._params = [row for rows in live for row in rows]
        super().__init__(problem, options)
        if any(group.densities for group in self._groups):
            raise ValueError(
                "a density belongs to the whole batch, and a Stepper resets single trajectories:"
                " watch a histogram, which each trajectory has"
            )
        check_watched(self._plan, problem)
        self._live = []
        self.start = self.fields()

    def _program_fields(self, program, sums):
        fields = super()._program_fields(program, sums)
        self._live.append(_Live(program, self._problem, fields, self._params))
        return self._live[-1].fields

    @property
    def rounds(self):
        """Whether the run rounds its parameters, so that watches keep them unrounded as well."""
        return self._problem.dtype != np.float64

    def follow(self):
        """Pass on to the watches any rounded parameter that the user has changed."""
        for one in self._live if self.rounds else ():
            for row, live in zip(one.params, self._params):
                with np.errstate(over="ignore"):
                    changed = live != row.astype(live.dtype)
                row[changed] = live[changed]

    # ---- snapshots and resets ----
    def arrays(self):
        """Every array that a step or a reset writes; lanes are the last axis."""
        arrays = []
        for one in self._live:
            written = one.params if self.rounds else one.own.values()
            arrays += [one.sums, *written, *one.change]
        if self._events is not None:
            arrays += [self._counts[0], *self._rows.arrays]
        return arrays

    @property
    def kind(self):
        """Everything that must be equal for a snapshot to fit."""
        events = () if self._events is None else tuple(self._events.events)
        return ("watch", *self._plan.watch, "events", *events, *(a.shape for a in self.arrays()))

    @property
    def meaning(self):
        """What the numbers in `arrays` are of, and what events do."""
        react = self._events and self._events.react
        events = self._events and (self._events.told, react and react.bits)
        return events, [
            (one.every, one.reduced, one.program.bits)
            + tuple(value is not None and value.tobytes() for value in one.numbers.values())
            for one in self._programs
        ]

    def reset(self, lanes, system, state, n, look):
        """Restart lanes at step n, in a state that counts as their first.

        Parameters
        ----------
        lanes : ndarray of bool
            As long as a row.
        system : System
            With the parameters of that step.
        state : ndarray
            The rows of all lanes.
        n : int
        look : callable
            Shows the state to the core's watches and events.
        """
        problem = self._problem.changed(system=system, initial=state, first=n)
        self.follow()
        for one in self._live:
            one.restart(lanes, problem)
        if self._events is not None:
            self._counts[0][:, lanes] = self._events.first_counts[:, np.newaxis]
            for array in self._rows.arrays:
                array[..., lanes] = -1 if array.dtype == np.int8 else np.nan
        before = [one.sums.copy() for one in self._live]
        look(0)  # here a line takes its first value
        for one, there in zip(self._live, before):
            firsts = np.ix_([at for at, kind in one.places if kind == _LINE], lanes)
            there[firsts] = one.sums[firsts]
            one.sums[...] = there
        look(n)
        for one, there in zip(self._live, before):
            one.sums[:, ~lanes] = there[:, ~lanes]

    # ---- results ----
    def watched(self, last):
        """Results by name; last: the index of the last step of each trajectory, (*batch)."""
        lanes, batch = self._problem.lanes, self._problem.batch
        kept, began, units = self.after(0, True, 0, ()), [], []
        for i, (one, group) in enumerate(zip(self._live, self._groups)):
            begin = one.own["_begin"][:lanes]
            began.append(begin.reshape(batch))
            units.append(one.change[2][:lanes].reshape(batch))
            nothing = last.ravel() // group.every < begin
            kept[i] = np.where(nothing, group.initial[:, np.newaxis], kept[i])
        watched = Watched.of_sums(self._plan, self._problem, kept, last, began, units)
        watched.forget_drifts(
            self._plan.watch, lambda: sum(e.jumps * e.count for e in self.events().values()) > 0
        )
        return watched

    def events(self):
        rows = self.after(0, True, 0, ()).event_rows
        return Events.of_run(self._events, self._problem, rows)

    def stopped(self, stopped):
        """As ``stops``."""
        return stops(None if self._events is None else self._rows, self._events, stopped)
