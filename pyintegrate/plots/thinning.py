"""Which points to draw: a few thousand, however long the run, with its extremes among them."""

import numpy as np

POINTS = 4000  # for one curve: more than the pixels of a wide picture
TRAJECTORIES = 30  # of a batch: beyond that single curves cannot be told apart
STRETCHES = 16  # contiguous pieces of a long orbit


def envelope(values, points=POINTS):
    """Indices of a curve against time that keep the least and the most of every pixel column.

    Parameters
    ----------
    values : array_like
        (n,), in order of time; NaN marks gaps.
    points : int, optional
        At most so many indices come back (when it is at least 8).

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


def stretches(x, y, points=POINTS):
    """Indices of an orbit, and where its drawn pieces end.

    A slow curve is thinned evenly. One that turns too often for that is drawn in contiguous
    pieces: the first, the last, those around the extremes, the others evenly between.

    Parameters
    ----------
    x, y : array_like
        (n,) coordinates in the plane of the picture, in order of time.
    points : int, optional
        About the number of indices that come back.

    Returns
    -------
    list of ndarray
        Increasing indices, one array for each contiguous piece.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0, 1000, 100_001)
    >>> pieces = stretches(np.cos(t), np.sin(t))
    >>> len(pieces) > 1, sum(map(len, pieces)) <= 4000
    (True, True)
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    count = len(x)
    if count <= points:
        return [np.arange(count)]
    # A step of a fiftieth of the picture still looks round.
    stride = max(1, int(0.02 / max(step_length(x, y), 1e-300)))
    if count <= points * stride:
        return [np.arange(0, count, -(-count // points))]
    length = points // STRETCHES * stride
    centres = [f(values) for values in (x, y) for f in (_argmin, _argmax)]
    even = np.linspace(0, count - length, STRETCHES - len(centres)).astype(int)
    starts = [min(max(0, centre - length // 2), count - length) for centre in centres]
    pieces, end = [], 0
    for start in sorted([*even.tolist(), *starts]):
        piece = np.arange(max(start, end), start + length, stride)
        end = start + length
        if len(piece):
            pieces.append(piece)
    return pieces


def step_length(x, y):
    """Median distance of consecutive points, as a fraction of the width and height they fill."""
    if len(x) < 2:
        return 0.0
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        moved = [
            np.diff(values) / (np.fmax.reduce(values) - np.fmin.reduce(values)) for values in (x, y)
        ]
        length = np.hypot(*(np.nan_to_num(part, posinf=0, neginf=0) for part in moved))
    return float(np.median(length))


def chosen_trajectories(batch):
    """Indices of the trajectories of a batch that are drawn: all, or 30 evenly spaced.

    Parameters
    ----------
    batch : tuple of int
        Shape of the batch.

    Returns
    -------
    list of tuple
        One index a trajectory.

    Examples
    --------
    >>> len(chosen_trajectories((1000, 50)))
    30
    """
    size = int(np.prod(batch))
    flat = np.unique(np.linspace(0, size - 1, min(size, TRAJECTORIES)).round().astype(int))
    return [tuple(int(i) for i in np.unravel_index(one, batch)) if batch else () for one in flat]


def _argmin(values):
    return int(np.where(np.isnan(values), np.inf, values).argmin())


def _argmax(values):
    return int(np.where(np.isnan(values), -np.inf, values).argmax())
