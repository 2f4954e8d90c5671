"""States within the steps: on the polynomials that ``times=`` uses, with the same bits.

Kept steps hold the numbers from which the core makes them again (csrc/kernels/tolerance/loop.h):
their length, the rounding errors that compensated sums carry, and the first slope or Radau's
increments. Those of a file that has no such numbers are made anew, from the kept states.
"""

import numpy as np
from numpy.polynomial import chebyshev

from ..run.times import first_of, in_dtype
from ..solution.interpolation import warn_of_lost
from .adaptive_run import AdaptiveRun
from .automatic import implicit_method

LEAST = 200  # points of a smooth line over the run
EACH = 8  # least number of pieces of a step, which may be a whole flight
FINE = 2000  # steps, from which on the line is left as it is
MOST = 30  # trajectories for which the states are made


NODES = 12  # in an implicit method's step, for the slope of its states
POINTS = 17  # of a step as one polynomial: those of explicit pairs have at most 13


def states_at(solution, t, derivative):
    """See ``AdaptiveSolution.at``: t of any shape, the same for all trajectories."""
    moments, batch = solution._moments, solution._problem.batch  # (n, lanes)
    flat, n = t.reshape(-1), moments.shape[1]
    states = solution.y.reshape(len(moments), n, solution.system.dim)
    ends = solution._counts - 1
    lanes = np.arange(n)
    first, last = moments[0], moments[ends, lanes]
    low, high = np.minimum(first, last), np.maximum(first, last)
    column = flat[:, np.newaxis]
    slack = 1e-12 * np.maximum(abs(low), abs(high))
    asked = in_dtype(column, states.dtype)
    outside = ~((asked >= low - slack) & (asked <= high + slack))
    if np.any(outside):
        wrong = first_of(column, outside)
        if low.max() > high.min():
            raise ValueError(
                "at(t) takes times that every trajectory has passed, and there are none: one"
                f" begins at {low.max()}, another ends at {high.min()}; solve with times= of shape"
                " (n, *batch) for times of each"
            )
        raise ValueError(
            f"t = {wrong} is outside the times {low.max()} .. {high.min()} of the run"
            f"{_stopped(solution)}"
        )
    asked = np.clip(asked, low, high)
    place = np.empty(asked.shape, np.intp)
    for lane in range(n):
        own = moments[: ends[lane] + 1, lane]
        way = 1 if own[-1] >= own[0] else -1
        place[:, lane] = np.searchsorted(own * way, asked[:, lane] * way)
    # The state at the end of a step; of the two kept at a jump, the one after it.
    later = np.minimum(place + 1, ends)
    jumped = (place > 0) & (moments[later, lanes] == asked)
    out = states[np.where(jumped, later, place), lanes]
    which, lane = np.nonzero(moments[place, lanes] != asked)
    number = place[which, lane] - 1
    out[which, lane] = _in_steps(solution, lane, number, asked[which, lane])
    lost = np.zeros(asked.shape, bool)
    lost[which, lane] = np.isnan(out[which, lane]).any(axis=-1)
    warn_of_lost(column, lost)
    shape = (*t.shape, *batch, states.shape[-1])
    if derivative:
        times = t.reshape(t.shape + (1,) * len(batch))
        out = solution.system.rhs(times, out.reshape(shape)).reshape(out.shape)
        number = np.clip(np.where(jumped, later, place - 1), 0, np.maximum(ends - 1, 0))
        made_by = _methods(solution, np.broadcast_to(lanes, number.shape), number)
        implicit = np.any([own & method.implicit for method, own in made_by], axis=0)
        which, lane = np.nonzero(implicit & (solution._counts > 1))
        number = number[which, lane]
        out[which, lane] = _slopes(solution, lane, number, asked[which, lane])
    return out.reshape(shape)


def _slopes(solution, lane, number, t):
    """The derivative of the states, by the polynomials of the steps."""
    begin, end = (solution._moments[number + i, lane, np.newaxis] for i in (0, 1))
    slopes = chebyshev.chebder(polynomials(solution, lane, number, NODES))
    place = 2 * (t[:, np.newaxis] - begin) / (end - begin) - 1
    return 2 * chebyshev.chebval(place, slopes, tensor=False) / (end - begin)


def polynomials(solution, lane, number, count=POINTS):
    """Steps of trajectories, (n,) each: the Chebyshev coefficients of states, (count, n, dim)."""
    if solution._carried is not None:
        both = solution._carried[0]
        return polynomials(both, lane, number)[..., both.system.places[:, 0]]
    begin, end = solution._moments[number, lane], solution._moments[number + 1, lane]
    points = chebyshev.chebpts1(count)
    within = begin + (end - begin) * (points[:, np.newaxis] + 1) / 2
    lanes, numbers = (np.broadcast_to(one, within.shape).reshape(-1) for one in (lane, number))
    values = _in_steps(solution, lanes, numbers, within.reshape(-1))
    values = values.reshape(*within.shape, solution.system.dim)
    return np.tensordot(np.linalg.inv(chebyshev.chebvander(points, count - 1)), values, 1)


def filled(solution, index, names, t, parts):
    """The line of one trajectory with states between its steps, if they can be made.

    Parameters
    ----------
    solution : Solution
    index : tuple of int
        The trajectory.
    names : sequence of str
        The components that the parts hold.
    t : ndarray
        (n,), times of the saves.
    parts : list of ndarray
        Values at the saves, each (n,), NaN where there are none.

    Returns
    -------
    t : ndarray
    parts : list of ndarray
        At least 200 points over the run and 8 pieces of each step, including those given, and none
        within a jump; unchanged from 2000 steps on, or if `solution.at` gives no states.

    Examples
    --------
    >>> import numpy as np
    >>> import pyintegrate as pi
    >>> sol = pi.solve(pi.systems.projectile, [0, 0, 0.0], [0, 0, 9.81], t_end=2.0)
    >>> t, (z,) = filled(sol, (), ["z"], sol.t, [sol["z"]])
    >>> len(sol) < 20, len(t) >= 200, round(float(z.max()), 3)  # v^2 / (2 g)
    (True, True, 4.905)
    """
    if not getattr(solution, "_has_states_within", False) or solution._problem.lanes > MOST:
        return t, parts
    good = np.isfinite(t) & np.all(np.isfinite(parts), axis=0)
    length = np.where(good[:-1] & good[1:], np.abs(np.diff(t)), 0.0)
    if np.count_nonzero(good) > FINE or not length.any():
        return t, parts
    pieces = np.maximum(EACH, np.ceil(LEAST * length / length.sum())).astype(int)
    pieces[length == 0] = 1  # a jump, which is saved before and after it
    step = np.repeat(np.arange(len(pieces)), pieces - 1)
    number = np.concatenate([np.arange(1, count) for count in pieces])
    within = t[step] + (t[step + 1] - t[step]) * number / pieces[step]
    places = [solution.system.state_names.index(name) for name in names]
    lane = np.ravel_multi_index(index, solution._problem.batch) if index else 0
    states = _in_steps(solution, np.full(len(step), lane), step, within)
    at = step + 1
    return np.insert(t, at, within), [
        np.insert(part, at, states[:, place]) for part, place in zip(parts, places)
    ]


def _stopped(solution):
    """The events that stopped trajectories, in words."""
    names = sorted({str(name) for name in np.ravel(solution.stopped_by) if name})
    return f", stopped by {' and '.join(map(repr, names))}" if names else ""


def _in_steps(solution, lane, number, t):
    """States at times t within steps of trajectories, all (n,): (n, dim), each by its method."""
    out = np.empty((len(t), solution.system.dim), solution._problem.dtype)
    for method, own in _methods(solution, lane, number):
        if own.any():
            out[own] = _by(solution, method, lane[own], number[own], t[own])
    return out


def _methods(solution, lane, number):
    """The methods that made steps of trajectories, each with a mask: "auto" may have several."""
    begin = solution._moments[number, lane]
    ahead = np.sign(solution._moments[np.minimum(number + 1, len(solution) - 1), lane] - begin)
    stiff, spans = np.zeros(number.shape, bool), solution.stiff_spans
    for begun, ended in spans.reshape(len(spans), 2, solution._problem.lanes)[..., lane]:
        stiff |= ((begin - begun) * ahead >= 0) & ~((begin - ended) * ahead >= 0)
    pairs = [(pair, lanes[lane] & ~stiff) for pair, lanes in solution._pairs]
    return [(implicit_method(), stiff), *pairs]


def _by(solution, method, lane, number, t):
    """The same by one method: the core makes the step of each time again."""
    problem, control, dtype = solution._problem, solution._control, solution._problem.dtype
    begin, end = solution._moments[number, lane], solution._moments[number + 1, lane]

    def own(row):
        return row if np.ndim(row) == 0 else row[lane]

    rows = {name: tuple(map(own, getattr(control, name))) for name in ("rows_rtol", "rows_atol")}
    states = np.moveaxis(solution.y, -1, 1).reshape(len(solution), -1, problem.lanes)
    run = AdaptiveRun(
        problem.changed(
            batch=t.shape, lanes=len(t), initial=np.ascontiguousarray(states[number, :, lane].T),
            rows_t0=begin.astype(dtype), rows_params=tuple(map(own, problem.rows_params)),
        ),
        solution._options.changed(watch=None, events=None, out=None, components=None),
        control.changed(
            rows_end=end.astype(dtype), first_step=abs(end - begin).astype(dtype), save="times",
            times=t[np.newaxis].astype(dtype), automatic=False, max_step=np.inf, last_step=0.0,
            onward=None, **rows,
        ),
    )  # fmt: skip
    within = solution._within
    return run.states_again(
        method, None if within is None else list(within[number, :, lane].T.copy())
    )[0].T
