"""States between the saved ones.

Where each step was saved they are parts of the steps, made again. Else, on one interval of width H,
with s from 0 to 1, slopes f and difference D of the two states:
y0 + s (D + (1 - s) ((2 s - 1) D + (1 - s) H f0 - s H f1)).
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.6.
"""

from math import prod

import numpy as np

from ..errors import IntegrationWarning, quiet, warn_caller
from ..run.core import Run
from ..run.options import DEFAULTS
from ..run.times import column, first_of, places_in_run, time_of
from ..values.memory import pad
from .jumps import direction, jumping


def states_at(solution, t):
    """See ``Solution.at``."""
    batch = solution._problem.batch
    if solution._options.times is not None:
        raise ValueError(
            "at(t) goes between steps, and times= has kept other states: ask for t in times="
        )
    if len(solution) < 2:
        raise ValueError(
            "at(t) needs two saved states or more: integrate with save='all' or save=k"
        )
    times = column(t.reshape(-1), batch)
    ends = solution.steps[0], solution.steps[-1]
    position, outside = places_in_run(times, solution.t0, solution.dt, *ends, solution.y.dtype)
    if np.any(outside):
        wrong = first_of(times, outside)
        first, last = solution.t[0].min(), solution.t[-1].max()
        raise ValueError(f"t = {wrong} is outside the saved times {first} .. {last}")
    i = np.clip(np.searchsorted(solution.steps, position, side="right") - 1, 0, len(solution) - 2)
    i = np.broadcast_to(i, (i.shape[0], *batch))

    states = solution.y

    def pick(i):
        return np.take_along_axis(states, i[..., np.newaxis], axis=0).astype(np.float64)

    start, stop = pick(i), pick(i + 1)
    steps = solution.steps[i + 1] - solution.steps[i]
    width = steps * solution.dt
    moments, after = (time_of(solution.t0, solution.dt, solution.steps[j]) for j in (i, i + 1))
    refuse_jumps(solution, moments, after, "ask for these times in times= of integrate")
    s = (position - solution.steps[i]) / steps
    if not solution._whole:  # up to a stop or the last good step; then this state is repeated
        beyond = ~np.take_along_axis(solution.valid, i + 1, axis=0)
        last = last_times(solution)
        width, ahead = np.where(beyond, last - moments, width), direction(solution)
        with quiet():
            part = np.where(ahead * times < ahead * last, (times - moments) / width, 1.0)
        s = np.where(beyond, part, s)
    within, s = (s > 0) & (s < 1), s[..., np.newaxis]
    if solution.system.noise is not None:
        y = start + s * (stop - start)
    elif np.all(np.diff(solution.steps) == 1) and not solution._problem.driven:
        length = (position - solution.steps[i]) * solution.dt
        y = part_of_steps(solution, start, moments, np.where(within, length, width))
        lost = within & np.isnan(y).any(axis=-1) & np.isfinite(start).all(axis=-1)
        warn_of_lost(times, lost)
    else:
        ends = (moments, start), (moments + width, stop)
        with np.errstate(all="ignore" if not solution._whole else None):
            slope0, slope1 = slopes(solution, solution.system, ends, width[..., np.newaxis])
            y = cubic(s, start, stop - start, slope0, slope1)
    y = np.where(within[..., np.newaxis], y, np.where(s > 0, stop, start))
    return y.astype(states.dtype, copy=False).reshape(*t.shape, *batch, solution.system.dim)


def last_times(solution):
    """When trajectories that stopped or failed had their last states, (*batch)."""
    if hasattr(solution, "_arrived"):  # to a tolerance
        return solution._arrived
    last = time_of(solution.t0, solution.dt, solution.failed_step - 1)
    return np.where(np.isfinite(solution.stopped_at), solution.stopped_at, last)


def warn_of_lost(times, lost):
    """Warn where a part of a step fails, though the step does not: masks (n, *batch)."""
    if lost.any():
        warn_caller(
            f"no state at t = {first_of(times, lost)}: it is NaN where a part of a step fails,"
            " though the step does not",
            IntegrationWarning,
        )


def report_lost(solution, on_failure):
    """Warn of states at `times` that are no numbers, though those at the steps are."""
    if on_failure == "ignore":
        return
    if solution.out is not None:  # perhaps on a disk: one component tells
        lost = np.isnan(solution[solution.components[0]])
    elif not np.isnan(solution.y.sum()):
        return
    else:
        lost = np.isnan(solution.y).any(axis=-1)
    warn_of_lost(solution._column(solution.t), lost & solution.valid)


def part_of_steps(solution, start, begin, length):
    """States some lengths (n, *batch) after others, (n, *batch, dim): by steps of the method.

    NaN where such a step fails.
    """
    problem, batch = solution._problem, start.shape[:-1]
    dtype, more = problem.dtype, len(problem.initial) - start.shape[-1]
    initial = pad([*np.moveaxis(start, -1, 0), *[0.0] * more], batch, dtype)
    rows = pad([begin, length, *problem.system.parameter_rows], batch, dtype)
    part = problem.changed(
        batch=batch, lanes=prod(batch), stride=rows.shape[1], rows_t0=rows[0], rows_dt=rows[1],
        rows_params=tuple(rows[2:]), initial=initial, has_history=False, first=0, n_steps=1,
    )  # fmt: skip
    options = DEFAULTS.changed(save="final", compensated=solution._options.compensated)
    run = Run(part, options)
    run.go()
    outcome = run.outcome()
    y = outcome.states[0]
    y[np.unravel_index(outcome.failures.index, batch)] = np.nan
    return y


def slopes(solution, system, ends, width):
    """The slopes at both ends (t, y) of an interval, times its width.

    Those of the chord with noise, and for components that drive= moves.
    """
    chord = ends[1][1] - ends[0][1]
    if system.noise is not None:
        return chord, chord
    known = system.dim
    if solution._problem.driven:
        known = system.dof if system.structure == "second_order" else 0
    chords = chord[..., known:]
    return [np.concatenate([(system.rhs(t, y) * width)[..., :known], chords], -1) for t, y in ends]


def cubic(s, start, change, slope0, slope1):
    """States at the fractions s of an interval, with slopes for its whole width."""
    rest = (1 - 2 * s) * -change + (1 - s) * slope0 - s * slope1
    return start + s * (change + (1 - s) * rest)


def refuse_jumps(solution, begin, end, cure):
    """ValueError if an event made a trajectory jump between two saves, (n, *batch), or NaN.

    A jump at the time of a save, to rounding, may lie on either side of it.
    """
    forwards, first = direction(solution), solution._first_jump
    if not solution.events:  # lost between parts: after the first jump there may be others
        within = forwards * solution.t[0] < first
        refuse_where(within & (end * forwards >= first), begin, "an event", cure)
    for name, found in jumping(solution):
        jumps = np.zeros(np.broadcast_shapes(begin.shape, end.shape), bool)
        last = np.full(found.count.shape, -np.inf)  # until then all jumps are known
        for when in np.moveaxis(found.t, -1, 0) * forwards:
            jumps |= (begin * forwards <= when) & (when <= end * forwards)
            last = np.fmax(last, when)
        jumps |= found.overflow & (end * forwards > last)
        refuse_where(jumps, begin, f"the event {name!r}", cure)


def refuse_where(jumps, begin, what, cure):
    """The same for known intervals."""
    if np.any(jumps):
        raise ValueError(
            f"{what} may have changed the state between the saves at and after"
            f" t = {first_of(begin, jumps)}, and nothing interpolates across a jump: {cure}"
        )
