"""States between the saved ones.

On one interval of width H, with s from 0 to 1, slopes f and difference D of the two states:
y0 + s (D + (1 - s) ((2 s - 1) D + (1 - s) H f0 - s H f1)).
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.6.
"""

from __future__ import annotations

import numpy as np

from ..run.times import time_of


def hermite(solution, t):
    """See ``Solution.at``."""
    batch = solution._problem.batch
    if len(solution) < 2:
        raise ValueError(
            "at(t) needs two saved states or more: integrate with save='all' or save=k"
        )
    times = t.reshape(-1, *(1,) * len(batch))
    position = (times - solution.t0) / solution.dt  # in steps
    slack = 1e-9 * np.maximum(1, abs(position))
    outside = (position < solution.steps[0] - slack) | (position > solution.steps[-1] + slack)
    outside |= ~np.isfinite(position)
    if np.any(outside):
        wrong = np.broadcast_to(times, position.shape)[outside].flat[0]
        first, last = solution.t[0].min(), solution.t[-1].max()
        raise ValueError(f"t = {wrong} is outside the saved times {first} .. {last}")
    i = np.clip(np.searchsorted(solution.steps, position, side="right") - 1, 0, len(solution) - 2)
    i = np.broadcast_to(i, (i.shape[0], *batch))

    states = solution.y

    def pick(values):
        return np.take_along_axis(values, i[..., np.newaxis], axis=0)

    start, stop = pick(states), np.take_along_axis(states, i[..., np.newaxis] + 1, axis=0)
    steps = solution.steps[i + 1] - solution.steps[i]
    width = steps * solution.dt
    moments = time_of(solution.t0, solution.dt, solution.steps[i])
    slope0 = solution.system.rhs(moments, start) * width[..., np.newaxis]
    slope1 = solution.system.rhs(moments + width, stop) * width[..., np.newaxis]
    s = ((position - solution.steps[i]) / steps)[..., np.newaxis]
    change = stop - start
    y = start + s * (change + (1 - s) * ((1 - 2 * s) * -change + (1 - s) * slope0 - s * slope1))
    return y.astype(states.dtype, copy=False).reshape(*t.shape, *batch, solution.system.dim)
