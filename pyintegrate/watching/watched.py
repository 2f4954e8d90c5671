"""The sums of the watches of a run: their memory, and the results made from them."""

from __future__ import annotations

from copy import copy

import numpy as np

from ..values.memory import SPARE_BYTES, aligned, outward
from ..values.table import Several, Table
from ..values.types import Any
from .batch.density import Image
from .batch.results import Memory, in_a_row
from .later import Totals, value_of
from .quantity import energy_of, phase_of


class Sums:
    """The sums of a Plan over a Problem, in the rows of the core.

    Parameters
    ----------
    plan : Plan
    problem : Problem
    earlier : list of ndarray, optional
        The sums of the run that this one continues, (sums, lanes or more) for each group.
    """

    def __init__(self, plan, problem, earlier=None):
        self._plan, self._problem = plan, problem
        names = [name for group in plan.groups for name in group.numbers]
        self._numbers = first_numbers(names, problem)
        self._lay_out(earlier)

    def going_on(self, problem, sums):
        """The Sums of the run that continues this one; sums: those to begin with."""
        out = copy(self)
        out._problem = problem
        out._lay_out(sums)
        return out

    def _lay_out(self, earlier):
        plan, problem = self._plan, self._problem
        self._rows, self._first = [], problem.first + (earlier is not None)
        self._across = [
            [Memory(entry, group.every, problem, self._first) for entry in group.across]
            for group in plan.groups
        ]
        self._across_before = None if earlier is None else earlier.across
        before = [group.zeros for group in plan.groups] if earlier is None else earlier.images
        self._images = [
            [Image(places, edges, image) for (places, edges), image in zip(group.densities, images)]
            for group, images in zip(plan.groups, before)
        ]
        for i, group in enumerate(plan.groups):
            self._rows.append(in_two(group.initial, problem.stride))
            if earlier is not None:
                self._rows[i][0][:, : problem.lanes] = earlier[i]
        self._began = (
            [group.initial[:, np.newaxis] for group in plan.groups] if earlier is None else earlier
        )

    def fields(self):
        """The field `watches` of the core's start."""
        return tuple(
            program_fields(group, self._problem, self._numbers, self._first, rows)
            | {
                "densities": tuple(image.fields() for image in images),
                "across": tuple(map(vars, across)),
            }
            for group, rows, images, across in zip(
                self._plan.groups, self._rows, self._images, self._across
            )
        )

    def after(self, blocks, whole, last, core):
        """The sums after `blocks` blocks of time, for each group.

        whole: whether the run is complete; last: the last step that every trajectory has
        completed, -1 before the first.
        """
        out = Kept()
        for (a, b), began in zip(self._rows, self._began):
            if blocks < 0 or (a is b and not whole):
                out.append(np.broadcast_to(began, (len(a), self._problem.lanes)))
                out.until = self._first - 1
            else:
                out.append((b if blocks % 2 else a)[:, : self._problem.lanes])
        cells = iter(core.cells() if core is not None and any(self._across) else ())
        out.across = [
            [one.after(last, group.every, next(cells, b"")) for one in across]
            for group, across in zip(self._plan.groups, self._across)
        ]
        if self._across_before is not None:
            out.across = [
                [*map(in_a_row, zip(before, now))]
                for before, now in zip(self._across_before, out.across)
            ]
        out.images = [[one.after(blocks) for one in images] for images in self._images]
        return out


def in_two(values, stride):
    """Rows of the core, twice: one copy survives an interrupt. Large ones once, as both copies."""
    a = aligned((len(values), stride), np.float64)
    a.T[...] = values.T
    return a, np.empty_like(a) if a.nbytes <= SPARE_BYTES else a


class Kept(list):
    """The sums of each group, (sums, lanes).

    Attributes
    ----------
    until : int or None
        The last step that they include, if it is not the last completed: an interrupt came after
        they were overwritten.
    images : list of list of ndarray
        Densities of each group.
    across : list of list of Accumulated
        Accumulators of the whole batch, for each group.
    """

    until = None
    images: list[list[np.ndarray]] = []
    across: list[list] = []


def first_numbers(names, problem):
    """The parameters of a program that are known only when the run begins, by name."""
    known = {"_forwards": np.sign(problem.dt)}
    if "_energy" in names:
        energy, scale = energy_of(problem.system, *beginning_of(problem))
        known |= {"_energy": energy, "_energy_scale": scale}
    if "_phase_time" in names:
        known |= phase_of(problem.system, *beginning_of(problem))
    return known


def program_fields(program, problem, known, first, sums):
    """The fields of a Group or an EventPlan for the core: csrc/watching/watch.h.

    known: from ``first_numbers``; first: the first step that counts; sums: two copies of the rows.
    """
    numbers = [known[name] if v is None else v for name, v in program.numbers.items()]
    rows = [row_of(problem, value) for value in numbers]
    own = problem.undriven  # the rows that the run itself reads
    if problem.dtype != np.float64:
        own = [row_of(problem, value) for value in parameters_of(problem)]
    origin, factor = change_of_energy(problem)[:2] if program.change else (0.0, 1.0)
    return {
        "program": program.program.handle,
        "every": program.every,
        "asks": program.asks,
        "begin": first,
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


def parameters_of(problem):
    """The rows of the system's parameters, in double precision; with noise those of the run."""
    rows, random = problem.system.parameter_rows, getattr(problem, "random", None)
    if random is None:
        return rows
    of_run = random.rows(problem.dt, problem.batch, problem.n_steps)
    return (*rows[: -len(of_run)], *of_run)


def row_of(problem, value):
    """A float, or one item per lane."""
    value = np.asarray(value, dtype=np.float64)
    if value.ndim == 0:
        return float(value)
    row = np.zeros(problem.stride)
    row[: problem.lanes] = np.broadcast_to(value, problem.batch).ravel()
    row[problem.lanes :] = row[problem.lanes - 1]
    return row


def change_of_energy(problem):
    """The initial energy of a motion, a power of two close to the reciprocal of the scale of its
    relative error, and that scale times the power: in 1 .. 2."""
    energy, scale = energy_of(problem.system, *beginning_of(problem))
    factor = np.ldexp(1.0, 1 - np.frexp(np.where(np.isfinite(scale), scale, 1.0))[1])
    return energy, factor, scale * factor


def beginning_of(problem):
    """The initial state of a motion, (*batch, dim), and its time."""
    origin = problem.origin
    state = problem.initial if origin is None else origin.state
    step = problem.first if origin is None else origin.step
    y = outward(state[: problem.system.dim, : problem.lanes], problem.batch)
    return y, problem.times(np.array([step]))[0]


class Watched(Several[Any]):
    """Results of watches by name, arrays over the batch; secondary results have dotted names.

    Parameters
    ----------
    results : dict of str to ndarray
    kinds : dict of str to (str, str)
        For watches of named quantities that include every step: their reduction and quantity.
    """

    _missing = "nothing watched is named", "watch"

    def __init__(self, results, kinds=()):
        self._found, self._kinds = results, dict(kinds)

    @classmethod
    def of_sums(cls, plan, problem, sums, last, began=None, units=None, timed=None):
        """Results from the sums of each group; last: the last step of each trajectory, (*batch).

        began, units: for each group, if trajectories of a Stepper have restarted: see Totals.
        """
        results = {}
        if sums.until is not None:
            last = np.minimum(last, sums.until)
        start = problem.times(np.array([0]))[0]
        for number, (group, values) in enumerate(zip(plan.groups, sums)):
            values = np.array(values).reshape(len(values), *problem.batch)
            before = 0 if began is None else began[number]
            count = (last // group.every + 1 - before).astype(np.float64)
            unit = None
            if group.change:
                unit = change_of_energy(problem)[2] if units is None else units[number]
            images = sums.images[number] if sums.images else ()
            totals = Totals(
                values=values, interval=group.every * problem.dt, count=count, start=start,
                step=problem.dt, unit=unit, images=images, began=before, timed=timed,
            )  # fmt: skip
            with np.errstate(all="ignore"):
                for name, result in group.results.items():
                    results[name] = np.array(value_of(result, totals))
                    # Of two NaNs NumPy keeps one or the other, by the length of its loop.
                    wrong = np.isnan(results[name])
                    np.copyto(results[name], np.nan, "unsafe", wrong)
        order = {}
        for name in plan.watch:
            order |= {key: results[key] for key in results if f"{key}.".startswith(f"{name}.")}
        return cls(order, plan.kinds)

    def find(self, function, quantity, suffix=""):
        """The result of a reduction of a quantity over all steps, or None."""
        for name, kind in self._kinds.items():
            if tuple(kind) == (function, quantity):
                return self._found[name + suffix]
        return None

    def table(self) -> Table:
        """A row for each result."""
        rows = [(name, _told(value)) for name, value in self._found.items()]
        return Table("", ["watched", "value"], rows)


def _told(value):
    if value.ndim == 0 and isinstance(value, np.ndarray):
        return f"{value[()]:.6g}"
    return f"{value.dtype} {value.shape}"
