"""States within the steps: the method's own step, made shorter.

From an accepted state (t_i, y_i) a step of length t - t_i of the same method gives the state at t,
of the method's full order for every pair; at t_(i+1) it is the next accepted state, but for what
compensated sums keep of its rounding. It costs the method's evaluations for each time.
"""

from __future__ import annotations

import numpy as np


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
    outside = ~((column >= low - slack) & (column <= high + slack))
    if np.any(outside):
        wrong = np.broadcast_to(column, outside.shape)[outside][0]
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
    out = step(
        solution.system,
        solution.method,
        start.reshape(shape),
        begin.reshape(*shape, -1),
        h.reshape(shape),
    )
    return out.astype(states.dtype, copy=False).reshape(*t.shape, *batch, -1)


def _stopped(solution):
    """The events that have stopped trajectories, in words."""
    names = sorted({str(name) for name in np.ravel(solution.stopped_by) if name})
    return f", stopped by {' and '.join(map(repr, names))}" if names else ""


def step(system, method, t, y, h):
    """One step of an explicit Runge-Kutta method from (t, y), h of the shape of t."""
    c = method.coefficients
    slopes: list[np.ndarray] = []
    for s in range(method.evaluations):
        stage = _sum(y, h, c["A"][s], slopes)
        slopes.append(system.rhs(t + c["c"][s] * h, stage))
    return _sum(y, h, c["b"], slopes)


def _sum(y, h, weights, slopes):
    total = 0.0
    for weight, slope in zip(weights, slopes, strict=False):
        if weight:
            total = total + weight * slope
    return y + h[..., np.newaxis] * total
