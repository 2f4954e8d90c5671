"""States within the steps: the method's own step, shortened.

From an accepted state (t_i, y_i) a step of length t - t_i of the same method gives the state at t,
to the method's full order for every pair; at t_(i+1) it is the next accepted state, except for the
rounding error that compensated sums carry, and for what Newton's method leaves in an implicit step:
a few hundredths of the tolerance. It costs one step's evaluations for each time.
"""

from __future__ import annotations

import numpy as np

from ..integration import integrate
from ..run.times import in_dtype
from .automatic import implicit_method

LEAST = 200  # points of a smooth line over the run
EACH = 8  # least number of pieces of a step, which may be a whole flight
MOST = 30  # trajectories for which the states are made


def states_at(solution, t):
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
        wrong = np.broadcast_to(column, outside.shape)[outside][0]
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
    i = np.empty((len(flat), n), np.intp)
    for lane in range(n):
        own = moments[: ends[lane] + 1, lane]
        forwards = own[-1] >= own[0]
        place = np.searchsorted(own if forwards else -own, flat if forwards else -flat, "right") - 1
        i[:, lane] = np.clip(place, 0, max(ends[lane] - 1, 0))
    start, begin = moments[i, lanes], states[i, lanes]
    shape = (len(flat), *batch)
    h = np.clip(column, low, high) - start
    out = part_of_step(
        solution, start.reshape(shape), begin.reshape(*shape, states.shape[-1]), h.reshape(shape)
    )
    return out.astype(states.dtype, copy=False).reshape(*t.shape, *batch, states.shape[-1])


def states_within(solution, index, number, t):
    """States of one trajectory at times t within its steps of these indices: (n, dim)."""
    batch = solution._problem.batch
    begin = solution._moments.reshape(-1, *batch)[number]
    h = np.broadcast_to(t.reshape(-1, *(1,) * len(batch)) - begin, begin.shape)
    with np.errstate(all="ignore"):  # for the other trajectories t is outside the step
        out = part_of_step(solution, begin, solution.y[number], h)
    return out[(slice(None), *index)]


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
        At least 200 points over the run, including those given, and none within a jump; unchanged
        if there are that many already, or if `solution.at` gives no states.

    Examples
    --------
    >>> import numpy as np
    >>> import pyintegrate as pi
    >>> sol = pi.solve(pi.systems.projectile, [0, 0, 0.0], [0, 0, 9.81], t_end=2.0)
    >>> t, (z,) = filled(sol, (), ["z"], sol.t, [sol["z"]])
    >>> len(sol) < 20, len(t) >= 200, round(float(z.max()), 3)  # v^2 / (2 g)
    (True, True, 4.905)
    """
    if (
        not getattr(solution, "_has_states_within", False)
        or int(np.prod(solution._problem.batch)) > MOST
    ):
        return t, parts
    good = np.isfinite(t) & np.all(np.isfinite(parts), axis=0)
    length = np.where(good[:-1] & good[1:], np.abs(np.diff(t)), 0.0)
    if np.count_nonzero(good) >= LEAST or not length.any():
        return t, parts
    pieces = np.maximum(EACH, np.ceil(LEAST * length / length.sum())).astype(int)
    pieces[length == 0] = 1  # a jump, which is saved before and after it
    step = np.repeat(np.arange(len(pieces)), pieces - 1)
    number = np.concatenate([np.arange(1, count) for count in pieces])
    within = t[step] + (t[step + 1] - t[step]) * number / pieces[step]
    places = [solution.system.state_names.index(name) for name in names]
    states = states_within(solution, index, step, within)
    at = step + 1
    return np.insert(t, at, within), [
        np.insert(part, at, states[:, place]) for part, place in zip(parts, places, strict=True)
    ]


def _stopped(solution):
    """The events that stopped trajectories, in words."""
    names = sorted({str(name) for name in np.ravel(solution.stopped_by) if name})
    return f", stopped by {' and '.join(map(repr, names))}" if names else ""


def part_of_step(solution, t, y, h):
    """States h after (t, y), t and h of the shape (n, *batch), by the method of each step."""
    system, method = solution.system, solution.method
    if method.implicit:
        return implicit_step(system, method, t, y, h)
    ahead = np.sign(solution.t_end - solution.t0)
    stiff = np.zeros(t.shape, bool)
    for begun, ended in solution.stiff_spans:
        stiff |= ((t - begun) * ahead >= 0) & ~((t - ended) * ahead >= 0)
    out = y
    if np.any(stiff):
        out = implicit_step(system, implicit_method(), t, y, np.where(stiff, h, 0.0))
    for pair, lanes in solution._pairs:
        own = lanes.reshape(solution._problem.batch) & ~stiff
        part = step(system, pair, t, y, np.where(own, h, 0.0))
        out = np.where(own[..., np.newaxis], part, out)
    return out


def implicit_step(system, method, t, y, h):
    """One step in the core of each, where h is not 0: its equations are solved to rounding."""
    moves = h != 0
    sol = integrate(system, y, dt=np.where(moves, h, 1e-30), t0=t, n_steps=1, method=method,
                    save="final", on_failure="ignore")  # fmt: skip
    failed = moves & (sol.status != 0)
    if np.any(failed):
        raise ValueError(
            f"at(t) makes steps shorter, and the equations of {method.name!r} had no solution that"
            f" could be found for one from t = {t[failed][0]:g}: give times= for these states"
        )
    return np.where(moves[..., np.newaxis], sol.final, y)


def step(system, method, t, y, h):
    """One step of an explicit Runge-Kutta or Nystrom method from (t, y), h of the shape of t."""
    if method.family == "nystrom":
        return _nystrom_step(system, method, t, y, h)
    c = method.coefficients
    slopes: list[np.ndarray] = []
    for s in range(method.evaluations):
        stage = _sum(y, h, c["A"][s], slopes)
        slopes.append(system.rhs(t + c["c"][s] * h, stage))
    return _sum(y, h, c["b"], slopes)


def _nystrom_step(system, method, t, y, h):
    """k_s = a(t + c_s h, x + c_s h v + h^2 sum_j A_sj k_j); positions and velocities by sums."""
    c, length = method.coefficients, h[..., np.newaxis]
    x, v = y[..., : system.dof], y[..., system.dof :]
    forces: list[np.ndarray] = []
    for s in range(method.evaluations):
        stage = _sum(x + c["c"][s] * length * v, h * h, c["A"][s], forces)
        forces.append(system.acceleration(t + c["c"][s] * h, stage, v))
    positions = _sum(x + length * v, h * h, c["b"], forces)
    return np.concatenate([positions, _sum(v, h, c["velocity"], forces)], axis=-1)


def _sum(y, h, weights, slopes):
    total = 0.0
    for weight, slope in zip(weights, slopes, strict=False):
        if weight:
            total = total + weight * slope
    return y + h[..., np.newaxis] * total
