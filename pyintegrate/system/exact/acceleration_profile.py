"""Prescribed acceleration.   x'' = accelerations[j] from times[j] until times[j + 1]

Zero before times[0]; the last value holds for ever. A piece that acts from r to s adds
a (s - r) to the velocity at t, and a (s - r) (t - (r + s) / 2) to the position.
"""

import numpy as np

from ._closed_form import closed_form


def check_parameters(*, times, accelerations):
    """Refuse times that do not ascend: no piece would be known by its number."""
    if np.any(times[..., 1:] < times[..., :-1]):
        raise ValueError(f"parameter times must ascend (inf where not needed), got {times}")


def jumps(*, times, accelerations):
    """When the force jumps, (k, *batch)."""
    return np.moveaxis(times, -1, 0)


@closed_form
def exact(t, y0, t0, *, times, accelerations):
    """Position and velocity at the times `t`.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial x and v, of the batch shape.
    times, accelerations : array_like
        Ascending times and the accelerations from each on, of shape ``(*batch, k)``. A time of inf
        is never reached.

    Returns
    -------
    tuple of ndarray
        x and v, of shape ``(len(t), *batch)``.
    """
    x, v = y0
    x = x + v * (t - t0)
    for j in range(times.shape[-1]):
        begin = times[..., j]
        end = times[..., j + 1] if j + 1 < times.shape[-1] else np.inf
        # If time runs backwards, s < r; if the piece is never reached, s = r.
        r, s = (np.where(begin == np.inf, t0, np.clip(m, begin, end)) for m in (t0, t))
        change = accelerations[..., j] * (s - r)
        x = x + change * ((t - r) + (t - s)) / 2
        v = v + change
    return x, v
