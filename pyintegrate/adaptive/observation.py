"""Watches and events of a run to a tolerance: checked, traced, and their memory in the core.

Programs and results are those of fixed steps (watching/); their memory is ordered by trajectory
here, since each is at its own step and time (csrc/tolerance/observation.h).
"""

from copy import deepcopy

import numpy as np

from ..values.memory import check_memory
from ..watching.accumulators import image_of
from ..watching.beginning import check_watched
from ..watching.event_log import EventRows
from ..watching.events import EventPlan, has_tangents
from ..watching.plan import Plan, clocks
from ..watching.run_memory import Kept, RunMemory
from ..watching.time_weighted import REFUSED
from ..watching.watched import Watched, numbers_of, row_of


def plan_watch(system, watch, numbers):
    """The Plan of `watch`; reductions without meaning for unequal steps are refused.

    numbers: those that events give to functions, by name.
    """
    plan = Plan(system, watch, numbers, uneven=True)
    for name, one in plan.watch.items():
        if one.name in REFUSED:
            raise ValueError(
                f"watch[{name!r}]: pi.watch.{one.name} counts steps, and those of solve are as long"
                f" as the tolerance lets them be: {REFUSED[one.name]}"
            )
        if one.every != 1:
            raise ValueError(
                f"watch[{name!r}] has every={one.every}: solve includes each accepted step; after="
                " leaves out the beginning"
            )
    return plan


def plan_events(system, events):
    """The EventPlan of `events`."""
    plan = EventPlan(system, events)
    for (name, one), located in zip(plan.events.items(), plan.located):
        if one.then is not None and not located and has_tangents(system):
            raise ValueError(
                f"events[{name!r}] jumps at a condition, whose time tangents cannot follow: give"
                " the quantity that crosses zero there, or use"
                " integrate, where all meet it at a step"
            )
    return plan


class Observation(RunMemory):
    """The watches and events of a run.

    Parameters
    ----------
    problem : Problem
    options : Options
        With a Plan, and maybe an EventPlan.
    t_end : float or ndarray
    earlier : Observation or None
        That of the run that this one continues.
    onward : Onward or None
        Where it does so.
    """

    of_each = True

    def __init__(self, problem, options, t_end, earlier, onward):
        # Steps are known by their times alone: step 0 is at t0, and dt is a direction.
        ahead = np.where(np.asarray(t_end) < problem.t0, -1.0, 1.0)
        self._sampled, self._until, self._begins = problem.t0, t_end, onward
        super().__init__(problem.changed(dt=ahead), options, earlier)

    def _lay_out(self, problem, earlier):
        self._problem = problem
        if earlier is not None:
            marked = self._begins.mark > 0
            self._sampled = self._begins.reached.reshape(problem.batch)
            for name in (
                "_numbers", "_seen", "_kept", "_timed", "_counts", "_onward", "event_rows",
            ):  # fmt: skip
                setattr(self, name, deepcopy(getattr(earlier, name)))
            for live, was in zip(self._counted(), self._onward):
                live[:, marked] = was[:, marked]
            if self.event_rows is not None:
                at, by = self.event_rows.stopped
                at[marked], by[marked] = np.nan, -1
            return
        lanes = problem.lanes
        check_watched(self._plan, problem)
        self._seen = np.zeros(lanes, np.int8)
        self._kept = [np.tile(group.initial, (lanes, 1)) for group in self._groups]
        timed = [number for group in self._groups for number in group.timed_initial]
        self._timed = np.tile(timed, (lanes, 1))
        self._counts = []
        for one in self._samples():
            size = 8 * (lanes if one["each"] else 1) * one["rows"] * one["columns"]
            check_memory(size, "the", problem.batch, problem.system.dim)
            self._counts.append(image_of(one, (lanes,) * one["each"]))
        self.event_rows = None  # like those of fixed steps, if there are events
        if self._events is not None:
            self.event_rows = EventRows.empty(self._events, problem, lanes)
        self._onward = [np.zeros_like(a) for a in self._counted()]

    def _samples(self):
        return [one for group in self._groups for one in group.samples]

    def _counted(self):
        """What is counted of each trajectory, (rows, lanes, numbers)."""
        live = [a[np.newaxis] for a in (*self._kept, self._timed)]
        return live + [a.counts[..., np.newaxis] for a in [self.event_rows] if a is not None]

    def fields(self):
        """The field `observation` of the core's control."""
        watches = [
            self._fields_of(group.program, group, kept)
            for group, kept in zip(self._groups, self._kept)
        ]
        events = None
        if self.event_rows is not None:
            program, known = self._events.within_steps()
            detect = self._fields_of(program, self._events) | known
            events = self.event_rows.fields(self._events, detect)
            events["counts"] = self.event_rows.counts
        timed = [group for group in self._groups if group.timed or group.samples]
        return {
            "seen": self._seen, "watches": tuple(w for w in watches if w["sums"]),
            "timed": self._timed_fields(timed[0]) if timed else None, "events": events,
            "counted": tuple(a for pair in zip(self._counted(), self._onward)
                             for a in pair if a.size),
            **{name: row_of(self._problem, np.asarray(value, self._problem.dtype))
               for name, value in (("sampled", self._sampled), ("until", self._until))},
        }  # fmt: skip

    def _timed_fields(self, group):
        after = [row_of(self._problem, value) for value in group.after.values()]
        return self._fields_of(group.timed_program, group) | group.within_steps | {
            "reductions": tuple(group.timed),
            "numbers": self._timed, "after": tuple(after),
            "samples": tuple(
                one | {"counts": counts} for one, counts in zip(group.samples, self._counts)
            ),
        }  # fmt: skip

    def _fields_of(self, program, plan, kept=None):
        """The fields of a program for the core, from a Group or an EventPlan."""
        rows = [*self._problem.system.parameter_rows, *numbers_of(plan, self._numbers)]
        return {
            "program": program.handle, "sums": plan.sums, "kept": kept,
            "asks": plan.asks | clocks(program, self._problem.system.dim),
            "params": tuple(row_of(self._problem, value) for value in rows),
        }  # fmt: skip

    @property
    def watched(self):
        """The results of watches by name."""
        kept = Kept(rows.T for rows in self._kept)
        none, batch = np.zeros(self._problem.batch), self._problem.batch
        kept.images = [[a.reshape(*batch, a.shape[-1]) if one["each"] else a
                        for a, one in zip(self._counts, self._samples())]]  # fmt: skip
        timed = self._timed.T.reshape(self._timed.shape[1], *self._problem.batch)
        return Watched.of_sums(self._plan, self._problem, kept, none, timed=timed)
