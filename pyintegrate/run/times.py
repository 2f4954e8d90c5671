"""The time of a step: t0 + n dt, a product and not a running sum.

The core adds with one rounding (fma), this module with two: the last bit may differ from the time
that the force was given.
"""

import numpy as np

from ..errors import quiet


def times(t0, dt, steps, batch=()):
    """Times of steps, shape (len(steps),) if t0 and dt are numbers, else (len(steps), *batch).

    Parameters
    ----------
    t0, dt : float or ndarray
        Arrays broadcast to the batch.
    steps : ndarray of int, shape (n,)
    batch : tuple of int
    """
    with quiet():
        if isinstance(dt, float) and isinstance(t0, float):
            return t0 + steps * dt
        return np.broadcast_to(t0 + column(steps, batch) * dt, (len(steps), *batch))


def time_of(t0, dt, n):
    """The time of one step, or of one step for each trajectory: float or array."""
    if type(t0) is float is type(dt) and type(n) is int:
        return t0 + n * dt
    with quiet():
        return t0 + n * dt


def in_dtype(t, dtype):
    """Times rounded to the dtype of a run, as float64."""
    with quiet():
        return np.asarray(t, dtype).astype(np.float64)


def places_in_run(times, t0, dt, first, last, dtype):
    """Where times lie, in steps from `first` to `last`; and which lie outside.

    The time of a step lies at the step, however the division is rounded. A time is outside if it is
    before the first step or after the last by more than 1e-9, of a step or of its distance from
    t0, and is not the time of either in the run's dtype.
    """
    place = (times - t0) / dt
    step = np.rint(place)
    place = np.where(times == time_of(t0, dt, step), step, place)
    slack = 1e-9 * np.maximum(1, abs(place))
    outside = (place < first - slack) | (place > last + slack) | ~np.isfinite(place)
    if np.any(outside):
        for end in (first, last):
            outside &= times != in_dtype(time_of(t0, dt, end), dtype)
    return np.clip(place, first, last), outside


def column(values, batch):
    """One for each time, (n,), so that they broadcast against the batch; (n, *batch) stay."""
    return values if values.ndim > 1 else values.reshape(-1, *(1,) * len(batch))


def first_of(values, where):
    """The first of some values where a mask holds, which they broadcast to: for messages."""
    return np.broadcast_to(values, where.shape)[where].flat[0]
