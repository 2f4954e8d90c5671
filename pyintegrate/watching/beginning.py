"""Quantities at the start of a run: those that make it pointless are refused before it runs."""

import numpy as np

from .. import _core
from ..system.system import INVARIANTS
from .watched import beginning_of, first_numbers, numbers_of, parameters_of, row_of

_TOGETHER = 1 << 16  # trajectories whose quantities are computed at once


def at_start(plan, program, count, problem):
    """The values of a program's quantities at the start, some trajectories at a time.

    Parameters
    ----------
    plan : Group or EventPlan
        The parameters of the program, and what it reads.
    program : Program
    count : int
        The number of its quantities.
    problem : Problem

    Yields
    ------
    int, ndarray, ndarray
        The first trajectory; which states and parameters are finite, (n,); values, (count, n).
    """
    system, lanes = problem.system, problem.lanes
    if not lanes:
        return
    y, t = beginning_of(problem)
    rows = [*problem.initial[: system.dim], 0.0]
    if plan.asks & 1:
        rows.append(row_of(problem, system.energy(y, t)))
    if plan.asks & 2:
        rows += [row_of(problem, q) for q in system.invariants(y, t).values()]
    rows += [0.0] * (program.sizes[0] - len(rows))  # the sums of watches
    given, numbers = parameters_of(problem), numbers_of(plan, first_numbers(plan.numbers, problem))
    params = [row_of(problem, value) for value in (*given, *numbers)]
    clock, own = row_of(problem, t), len(given)
    for begin in range(0, lanes, _TOGETHER):
        n = min(_TOGETHER, lanes - begin)

        def part(row, some=slice(begin, begin + n)):
            # A row of a batch that starts alike is a view of one item: the core reads whole ones.
            return np.ascontiguousarray(row[some] if np.ndim(row) else row, np.float64)

        here, there = tuple(map(part, rows)), tuple(map(part, params))
        out = np.empty((count, n))
        _core.evaluate(program.handle, 64, INVARIANTS, n, part(clock), here, there, out)
        good = np.ones(n, bool)
        for row in (*here[: system.dim], *there[:own]):
            good &= np.isfinite(row)
        yield begin, good, out


def told_start(lane, problem):
    """The trajectory and its first time, in words."""
    at = ", ".join(map(str, np.unravel_index(lane, problem.batch)))
    clock = row_of(problem, beginning_of(problem)[1])
    t = clock[lane] if np.ndim(clock) else clock
    return f"{f' of trajectory {at}' if problem.batch else ''}, t = {t:g}"


def check_watched(plan, problem):
    """Refuse a function that is NaN at the start of every trajectory with a finite state.

    A NaN stays in what is watched: nothing would be known of any of them.

    Parameters
    ----------
    plan : Plan
    problem : Problem
    """
    for group in plan.groups:
        names, program = group.beginning
        if not names:
            continue
        all_nan, lane = np.ones(len(names), bool), None
        for begin, good, out in at_start(group, program, len(names), problem):
            all_nan &= np.all(np.isnan(out) | ~good, axis=1)
            if not all_nan.any():
                break
            if lane is None and good.any():
                lane = begin + int(np.argmax(good))
        if lane is None or not all_nan.any():
            continue
        name = names[int(np.argmax(all_nan))]
        many = " and of all others" if problem.lanes > 1 else ""
        raise ValueError(
            f"watch[{name!r}] is nan at the start{told_start(lane, problem)}{many}, and a NaN stays"
            " in what is watched: expected a number; after= lets it start later"
        )
