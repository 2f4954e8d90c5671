"""What the watches and events of a run keep: its memory in the rows of the core."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ..values.memory import SPARE_BYTES, aligned, check_memory
from .accumulators import image_of
from .batch.results import Memory, in_a_row
from .event_log import EventRows, check_beginning
from .watched import change_of_energy, first_numbers, numbers_of, parameters_of, row_of


class Kept(list):
    """The sums of each group of a Plan, and of the events, (sums, lanes).

    Attributes
    ----------
    until : int or None
        The last step that they include, if it is not the last completed: an interrupt came after
        they were overwritten.
    images : list of list of ndarray
        Densities of each group.
    across : list of list of Accumulated
        Accumulators of the whole batch, for each group.
    event_rows : EventRows or None
    """

    until = None
    images: list[list[np.ndarray]] = []
    across: list[list] = []
    event_rows: Any = None


class RunMemory:
    """What is kept of a Problem whose steps have one length.

    Parameters
    ----------
    problem : Problem
    options : Options
        With a Plan, and maybe an EventPlan.
    earlier : Kept, optional
        Of the run that this one continues.
    """

    of_each = False  # whether trajectories have steps of their own

    def __init__(self, problem, options, earlier=None):
        self._plan, self._groups, self._events = options.watch, options.watch.groups, options.events
        self._problem = problem  # where errors are measured from, in all parts
        self._programs = [*self._groups, *([] if self._events is None else [self._events])]
        names = [name for program in self._programs for name in program.numbers]
        self._numbers = first_numbers(names, problem)
        if self._events is not None and earlier is None and (problem.n_steps or self.of_each):
            check_beginning(self._events, problem)  # without steps no sign changes
        self._lay_out(problem, earlier)

    def going_on(self, problem, earlier):
        """The memory of the run that continues this one, and what it begins with."""
        out = copy(self)
        out._lay_out(problem, earlier)
        return out

    def _lay_out(self, problem, earlier):
        lanes, stride = problem.lanes, problem.stride
        self._first, self._began = problem.first, earlier
        if earlier is not None:
            self._first = 1 + (problem.first if earlier.until is None else earlier.until)
        if earlier is None:
            self._began = Kept(program.initial[:, np.newaxis] for program in self._programs)
        rows = sum(map(len, self._began))
        if self._events is not None:
            self._rows = EventRows.empty(self._events, problem, stride)
            rows += len(self._rows.counts)
        # One of two copies survives an interrupt.
        self._two = 8 * rows * stride <= SPARE_BYTES or self.of_each
        self._sums = [in_two(program.initial, stride, self._two) for program in self._programs]
        for (sums, _), began in zip(self._sums, earlier or ()):
            sums[:, :lanes] = began
        if self._events is not None:
            self._counts = in_two(self._events.first_counts, stride, self._two)
            if self._began.event_rows is not None:
                self._counts[0][:, :lanes] = self._began.event_rows.counts
                for here, there in zip(self._rows.arrays, self._began.event_rows.arrays):
                    here[..., :lanes] = there
        self._across = [
            [Memory(entry, group.every, problem, self._first) for entry in group.across]
            for group in self._groups
        ]
        before = self._began.images or [map(image_of, group.densities) for group in self._groups]
        self._images = [
            [bins | {"image": counted(image)} for bins, image in zip(group.densities, images)]
            for group, images in zip(self._groups, before)
        ]

    def fields(self):
        """The fields `watches` and `events` of the core's start."""
        programs = [
            self._program_fields(program, sums) for program, sums in zip(self._programs, self._sums)
        ]
        for fields, images, across in zip(programs, self._images, self._across):
            fields["densities"] = tuple(images)
            fields["across"] = tuple(map(vars, across))
        out = {}
        if self._events is not None:
            a, b = self._counts
            events = self._rows.fields(self._events, programs.pop())
            out["events"] = events | {"counts_a": a, "counts_b": b}
        if programs:
            out["watches"] = tuple(programs)
        return out

    def _program_fields(self, program, sums):
        """The fields of a Group or an EventPlan for the core: csrc/watching/watch.h."""
        problem = self._problem
        rows = [row_of(problem, value) for value in numbers_of(program, self._numbers)]
        own = problem.undriven  # the rows that the run itself reads
        if problem.dtype != np.float64:
            own = [row_of(problem, value) for value in parameters_of(problem)]
        origin, factor = change_of_energy(problem)[:2] if program.change else (0.0, 1.0)
        return {
            "program": program.program.handle,
            "every": program.every,
            "asks": program.asks,
            "begin": self._first,
            "sums": program.sums,
            "reduced": tuple(program.reduced),
            "densities": (),
            "across": (),
            "params": (*own, *rows),
            "t0": row_of(problem, problem.t0),
            "dt": row_of(problem, problem.dt),
            "origin": row_of(problem, origin),
            "factor": row_of(problem, factor),
            "sums_a": sums[0],
            "sums_b": sums[1],
        }

    def after(self, blocks, whole, last, cells):
        """What is kept after `blocks` blocks of time.

        whole: whether the run is complete; last: the last step that every trajectory has
        completed, -1 before the first; cells: of each statistic across the batch, as the core has
        them.
        """
        lanes, here = self._problem.lanes, max(blocks, 0) % 2
        out = Kept(sums[here][:, :lanes] for sums in self._sums)
        lost = blocks < 0 or not (self._two or whole)
        if lost:
            out[:] = [np.broadcast_to(began, now.shape) for began, now in zip(self._began, out)]
            out.until = self._first - 1
            out.event_rows = self._began.event_rows
        if self._events is not None and out.event_rows is None:
            counts = (self._rows.counts if lost else self._counts[here])[:, :lanes]
            out.event_rows = self._rows.each(lambda a: a[..., :lanes], counts)
        if any(self._across):
            cells = iter(cells)
            out.across = [
                [one.after(last, group.every, next(cells, b"")) for one in across]
                for group, across in zip(self._groups, self._across)
            ]
        if self._began.across:
            out.across = [
                [*map(in_a_row, zip(before, now))]
                for before, now in zip(self._began.across, out.across)
            ]
        if any(self._images):
            out.images = [[one["image"] for one in images] for images in self._images]
        return out


def counted(image):
    """A copy of an image for the core, which keeps two more of its size, one for each block."""
    check_memory(3 * image.nbytes, "the", image.shape, image.ndim)
    return image.copy()


def in_two(values, stride, two):
    """Rows of the core that begin with these values, twice: as both copies, if there is one."""
    a = aligned((len(values), stride), np.float64)
    a[...] = values[:, np.newaxis]
    return a, np.empty_like(a) if two else a
