"""The log of the events of a run: its memory in the core, and the results."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..values.memory import check_memory
from ..values.table import Several, Table, Tabled, batch_axes
from ..values.types import Any, Booleans, Floats, Integers
from .beginning import at_start, told_start


def check_beginning(plan, problem):
    """Refuse a quantity that is not finite at the start of a trajectory with a finite state.

    No change of its sign can be seen from there, so that the first crossing would be lost.

    Parameters
    ----------
    plan : EventPlan
    problem : Problem
    """
    for begin, good, out in at_start(plan, plan.program, len(plan.reduced), problem):
        for (name, one), values in zip(plan.events.items(), out):
            wrong = np.flatnonzero(good & ~np.isfinite(values))
            if one.after is None and wrong.size:
                raise ValueError(
                    f"the quantity of event {name!r} is {values[wrong[0]]} at the start"
                    f"{told_start(begin + int(wrong[0]), problem)}: expected a finite number, since"
                    " events are changes of its sign; after= lets it start later"
                )


@dataclass
class EventRows:
    """The arrays that the core leaves: counts, (time, event) of stops, kept events.

    Rows of the counts (PiEventRow): how often each event occurred, in how many steps each was
    unresolved; then what a continuation needs.
    """

    counts: Any
    stopped: tuple
    memory: list

    @classmethod
    def empty(cls, plan, problem, stride):
        """Memory in which nothing has occurred."""
        dim = problem.system.dim
        numbers = sum(one["keep"] * (1 + dim + one["n_values"]) for one in plan.told)
        check_memory(
            8 * numbers * problem.lanes, "the", problem.batch, dim,
            what="kept states of events", cure="take a smaller keep=, or keep=0 to count only",
        )  # fmt: skip
        memory = [
            tuple(np.full((one["keep"], k, stride), np.nan) for k in (1, dim, one["n_values"]))
            for one in plan.told
        ]
        stopped = np.full(stride, np.nan), np.full(stride, -1, np.int8)
        first = plan.first_counts[:, np.newaxis]
        return cls(np.full((len(first), stride), first), stopped, memory)

    @property
    def arrays(self):
        """All but the counts; trajectories are the last axis."""
        return [*self.stopped, *(array for three in self.memory for array in three)]

    def each(self, of, counts):
        """A copy with the function `of` applied to each array of stops and of kept events."""
        memory = [tuple(map(of, three)) for three in self.memory]
        return EventRows(counts, tuple(map(of, self.stopped)), memory)

    def fields(self, plan, detect):
        """The fields for the core, without counts; detect: those of the program of quantities."""
        react = None
        if plan.react is not None:
            react = {key: detect[key] for key in ("asks", "sums", "params")}
            react["program"] = plan.react.handle
        events = tuple(
            one | {"t": t, "y": y, "values": values}
            for one, (t, y, values) in zip(plan.told, self.memory)
        )
        return {
            "detect": {"reads": plan.reads} | detect, "react": react, "events": events,
            "most": max(one.max_per_step for one in plan.events.values()),
            "stopped_at": self.stopped[0], "stopped_by": self.stopped[1],
        }  # fmt: skip


def stops(rows, plan, stopped):
    """When and by which event of an EventPlan, (*batch).

    rows: EventRows, None without events; stopped: which trajectories an event has stopped.
    """
    if rows is None:
        return np.full(stopped.shape, np.nan), np.full(stopped.shape, "")
    names = np.array([*plan.events, ""])
    when, which = (a[: stopped.size].reshape(stopped.shape) for a in rows.stopped)
    return np.where(stopped, when, np.nan), names[np.where(stopped, which, -1)]


@dataclass(eq=False, repr=False)
class EventLog(Tabled):
    """The occurrences of one event in all trajectories.

    Attributes
    ----------
    t : ndarray, shape (*batch, keep)
        Times, NaN after the last.
    y : ndarray, shape (*batch, keep, dim)
        States; ``log["x"]`` is a component, (*batch, keep).
    values : ndarray, shape (*batch, keep, k)
    count : ndarray of int64, shape (*batch)
    overflow : ndarray of bool, shape (*batch)
        Whether there were more than `keep`.
    unresolved : ndarray of bool, shape (*batch)
        Whether a step was found that holds three crossings or more, so that others may hide two:
        some times and counts may be missing. Smaller steps locate all of them. Also whether it
        occurs where the run ends by a jump of another event: ``resume`` counts it.
    jumps : bool
        Whether it changes the state.
    """

    _names: tuple[str, ...]
    t: Floats
    y: Floats
    values: Floats
    count: Integers
    overflow: Booleans
    unresolved: Booleans
    jumps: bool

    @property
    def first(self) -> EventLog:
        """The first event of each trajectory: the same without the axis `keep`."""
        if not self.t.shape[-1]:
            raise ValueError("no event was kept: keep=1")
        axis = self.t.ndim - 1
        t, y, values = (np.take(a, 0, axis) for a in (self.t, self.y, self.values))
        return replace(self, t=t, y=y, values=values)

    def __getitem__(self, name: str) -> Floats:
        if name not in self._names:
            raise KeyError(f"there are the components {', '.join(self._names)}, not {name!r}")
        return self.y[..., self._names.index(name)]

    def _ipython_key_completions_(self):
        return list(self._names)

    def table(self) -> Table:
        """A row for each event that was kept; none before dask has computed them."""
        if not isinstance(self.count, np.ndarray):
            return Table(self._size(), [], [])
        axes = batch_axes(self.count.shape)
        if self.t.ndim > self.count.ndim:
            axes["event"] = np.arange(self.t.shape[-1])
        states = {name: self[name] for name in self._names}
        return Table.of(self._size(), axes, {"t": self.t, **states}, ~np.isnan(self.t))

    def _size(self):
        known, lanes = isinstance(self.count, np.ndarray), self.count.size
        n = int(self.count.sum()) if known else 0
        many = f"{n:,} event{'s' * (n != 1)}" if known else "events"
        return f"{many} of {lanes:,} {'trajectory' if lanes == 1 else 'trajectories'}"


class Events(Several[EventLog]):
    """Events by name."""

    _missing = "no event is named", "events"

    def __init__(self, logs):
        self._found = logs

    @classmethod
    def of_run(cls, plan, problem, event_rows):
        """event_rows: EventRows, None without events."""
        if event_rows is None:
            return cls({})
        batch, names = problem.batch, problem.system.state_names
        _, steps, _, begins, _ = np.split(event_rows.counts[: 5 * len(plan.events)], 5)
        unresolved = (steps > 0) | (begins == 1)  # BEGINS_WITH_EVENT of csrc/watching/events.h
        logs = {}
        for i, (name, one) in enumerate(plan.events.items()):
            count = event_rows.counts[i].astype(np.int64)
            none = np.arange(one.keep)[:, np.newaxis] >= count
            arrays = []
            for memory in event_rows.memory[i]:
                array = np.where(none[:, np.newaxis], np.nan, memory)
                arrays.append(np.moveaxis(array, -1, 0).reshape(*batch, *array.shape[:2]))
            t, y, values = arrays
            count = count.reshape(batch)
            logs[name] = EventLog(
                names, t[..., 0], y, values, count, count > one.keep, unresolved[i].reshape(batch),
                one.then is not None,
            )  # fmt: skip
        return cls(logs)

    def table(self) -> Table:
        """A row for each of them."""
        return Table("", ["event", "kept"], [(n, one._size()) for n, one in self._found.items()])
