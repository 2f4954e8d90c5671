"""The programs of watches and events for the core; the results of watches."""

from __future__ import annotations

import numpy as np

from ..errors import warn_of_jump
from ..values.checks import DOUBLE
from ..values.memory import outward, pad
from ..values.table import Several, Table
from ..values.types import Any
from .later import Totals, value_of
from .quantity import energy_of, phase_of


def first_numbers(names, problem):
    """The parameters of a program that are known only when the run begins, by name."""
    known = {}
    if "_forwards" in names:
        known["_forwards"] = np.sign(problem.dt)
    if "_energy" in names:
        energy, scale = energy_of(problem.system, *beginning_of(problem))
        known |= {"_energy": energy, "_energy_scale": scale}
    if "_phase_time" in names:
        known |= phase_of(problem.system, *beginning_of(problem))
    return known


def numbers_of(program, known):
    """The numbers of a Group or an EventPlan; known: from ``first_numbers``."""
    return [known[name] if v is None else v for name, v in program.numbers.items()]


def parameters_of(problem):
    """The rows of the system's parameters, in double precision; with noise those of the run."""
    rows, random = problem.system.parameter_rows, problem.random
    if random is None:
        return rows
    of_run = random.rows(problem.dt, problem.batch, problem.n_steps)
    return (*rows[: -len(of_run)], *of_run)


def row_of(problem, value):
    """A float, or one item per lane."""
    return own_row(problem, value) if np.ndim(value) else float(value)


def own_row(problem, value):
    """One item per lane, in memory of its own."""
    return pad([value], problem.batch, DOUBLE, problem.stride)[0]


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

    def forget_drifts(self, watches, jumped, driven=False):
        """NaN for Reductions, if they can be, of the phase drift of the lanes jumped()."""
        names = {name for name, one in watches.items() if one.quantity == "phase_drift"}
        own = [a for key, a in self._found.items() if names & {key, key.rpartition(".")[0]}]
        own = [a for a in own if a.dtype.kind == "f"]
        if own and np.any(lanes := jumped()):
            warn_of_jump(lanes, "the phase drift", driven)
            for values in own:
                values[lanes] = np.nan

    def table(self) -> Table:
        """A row for each result."""
        rows = [(name, _told(value)) for name, value in self._found.items()]
        return Table("", ["watched", "value"], rows)


def _told(value):
    if value.ndim == 0 and isinstance(value, np.ndarray):
        return f"{value[()]:.6g}"
    return f"{value.dtype} {value.shape}"
