"""Which points to draw and to join: a few thousand, including the extremes of the run."""

import numpy as np

POINTS = 4000  # for one curve: more than the pixels of a wide picture
TRAJECTORIES = 30  # of a batch: more curves could not be distinguished
LINE = 4 * POINTS  # for one path, which crosses the picture many times
ROUND = 0.04  # of the picture: shorter steps of a path look round
GOLDEN = 0.6180339887498949  # its multiples, modulo one, are spread evenly and without a pattern


def envelope(values, points=POINTS):
    """Indices of a curve against time that keep the least and the most of every pixel column.

    Parameters
    ----------
    values : array_like
        (n,), in order of time; NaN marks gaps.
    points : int, optional
        The largest number of indices returned (if at least 8).

    Returns
    -------
    ndarray
        Increasing indices, the first and the last among them.

    Examples
    --------
    >>> import numpy as np
    >>> peak = np.zeros(100_000)
    >>> peak[12_345] = 1.0
    >>> chosen = envelope(peak)
    >>> len(chosen) <= 4000, 12_345 in chosen
    (True, True)
    """
    values = np.asarray(values, dtype=np.float64)
    count = len(values)
    if count <= points:
        return np.arange(count)
    bins = max(1, (points - 2) // 2)
    width = -(-count // bins)
    padded = np.full(width * -(-count // width), np.nan)
    padded[:count] = values
    padded = padded.reshape(-1, width)
    start = np.arange(len(padded)) * width
    lowest = np.where(np.isnan(padded), np.inf, padded).argmin(axis=1) + start
    highest = np.where(np.isnan(padded), -np.inf, padded).argmax(axis=1) + start
    chosen = np.unique(np.concatenate([[0], lowest, highest, [count - 1]]))
    return chosen[chosen < count]


def orbit(x, y, points=LINE):
    """Indices of a path that keep every turn of it, and whether lines may join them.

    They are at equal distances along the path. If it turns so often that lines between so few
    points would cut its corners, they are fewer and slightly shifted, so that they do not resonate
    with the turns: dots that fill the area of the path.

    Parameters
    ----------
    x, y : array_like
        (n,) coordinates in the plane of the picture, in order of time.
    points : int, optional
        The largest number of indices returned.

    Returns
    -------
    indices : ndarray
        Increasing.
    joined : bool

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0, 2 * np.pi * 100, 100_001)  # a hundred revolutions
    >>> indices, joined = orbit(np.cos(t), np.sin(t))
    >>> len(indices) > 60 * 100, len(indices) <= 16_000, joined
    (True, True, True)
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    count = len(x)
    if count <= points:
        return np.arange(count), True
    way = np.concatenate([[0.0], np.cumsum(_steps(x, y))])
    if way[-1] == 0:
        return np.array([0, count - 1]), True
    points = min(points, max(POINTS, int(4 * way[-1] / ROUND)))  # a slow curve needs fewer
    number = np.arange(1, points - 1)
    joined = bool(way[-1] / points <= ROUND)
    if not joined:
        number = spread(min(points, POINTS) - 2, min(points, POINTS) - 2, float) + 0.5
    places = np.searchsorted(way, way[-1] * number / (len(number) + 1))
    return np.unique(np.concatenate([[0], places, [count - 1]])), joined


def spread(count, points, kind=int):
    """`points` numbers from 0 to below `count`, evenly spread, but without a pattern.

    Examples
    --------
    >>> spread(1000, 5)
    array([  0, 323, 447, 770, 894])
    """
    number = np.arange(points)
    return ((number + np.remainder(number * GOLDEN, 1)) * (count / points)).astype(kind)


def _steps(x, y):
    """Distances of consecutive points, as fractions of the width and height of the whole."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        moved = [
            np.diff(values) / (np.fmax.reduce(values) - np.fmin.reduce(values)) for values in (x, y)
        ]
        return np.hypot(*(np.nan_to_num(part, posinf=0, neginf=0) for part in moved))


def step_length(x, y):
    """Median distance of consecutive points, as a fraction of the width and height of the whole."""
    if len(x) < 2:
        return 0.0
    return float(np.median(_steps(x, y)))


def batch_of(solution):
    """Shape of the batch."""
    return np.shape(solution.initial)[:-1]


def batch_size(solution):
    """The number of trajectories of a solution."""
    return int(np.prod(batch_of(solution)))


def chosen_trajectories(batch, most=TRAJECTORIES):
    """Indices of the trajectories of a batch that are drawn: all, or 30 evenly spaced.

    Parameters
    ----------
    batch : tuple of int
        Shape of the batch.
    most : int, optional

    Returns
    -------
    list of tuple
        One index per trajectory.

    Examples
    --------
    >>> len(chosen_trajectories((1000, 50)))
    30
    """
    size = int(np.prod(batch))
    flat = np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))
    return [tuple(int(i) for i in np.unravel_index(one, batch)) if batch else () for one in flat]


def jumps_between(solution, index, t):
    """Which neighbouring times of one trajectory have a jump between them.

    Parameters
    ----------
    solution : Solution
    index : tuple of int
        The trajectory.
    t : ndarray
        (n,), in order of the steps.

    Returns
    -------
    ndarray of bool
        (n - 1,). After the last jump that an event has kept, if there were more, any two may
        have one between them.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, -v))
    >>> sol = pi.integrate(pi.systems.projectile, [0, 0, 1.0], [0, 0, 0.0], dt=0.1, n_steps=6,
    ...                    events={"floor": bounce})  # it falls for 0.45 s
    >>> jumps_between(sol, (), sol.t)
    array([False, False, False, False,  True, False])
    """
    t = np.asarray(t, dtype=np.float64)
    jumps = np.zeros(max(len(t) - 1, 0), dtype=bool)
    if getattr(solution, "_both_sides", False):
        return _between_both_sides(solution, index, t)
    options = getattr(solution, "_options", None)
    plan = options.events if options is not None else None
    if plan is None or not len(jumps):
        return jumps
    sense = 1.0 if t[-1] >= t[0] else -1.0
    begin, end = sense * t[:-1], sense * t[1:]
    for name, one in plan.events.items():
        if one.then is None:
            continue
        found = solution.events[name]
        when = sense * np.asarray(found.t)[index].reshape(-1)
        when = when[np.isfinite(when)]
        for moment in when:
            jumps |= (begin < moment) & (moment <= end)
        if np.asarray(found.overflow)[index]:
            jumps |= end > (when.max() if when.size else -np.inf)
    return jumps


def _between_both_sides(solution, index, t):
    """The same if each jump is saved twice, before and after it, at one time.

    It lies between these two; if thinning has left only one of them, on both sides of it.
    """
    saved = np.asarray(solution.t)
    saved = saved[(slice(None), *index)] if saved.ndim > 1 else saved
    moments = saved[1:][saved[1:] == saved[:-1]]
    if not moments.size:
        return np.zeros(max(len(t) - 1, 0), dtype=bool)
    begins, ends = np.isin(t[:-1], moments), np.isin(t[1:], moments)
    twice = np.isin(t, t[1:][t[1:] == t[:-1]])
    jumps = t[:-1] == t[1:]
    jumps |= (begins & ~twice[:-1]) | (ends & ~twice[1:])
    sense = -1.0 if moments[-1] < saved[0] else 1.0
    before = np.searchsorted(sense * moments, sense * t[:-1], "right")
    return jumps | (np.searchsorted(sense * moments, sense * t[1:], "left") > before)


def parted(jumps, *parts):
    """Values along a line with a gap, a NaN, at each jump.

    Parameters
    ----------
    jumps : ndarray of bool
        (n - 1,), as from `jumps_between`.
    *parts : ndarray
        Each (n,).

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> import numpy as np
    >>> parted(np.array([False, True]), np.array([1.0, 2.0, 3.0]))
    [array([ 1.,  2., nan,  3.])]
    """
    places = np.flatnonzero(jumps) + 1
    if not places.size:
        return list(parts)
    return [np.insert(np.asarray(part, dtype=np.float64), places, np.nan) for part in parts]
