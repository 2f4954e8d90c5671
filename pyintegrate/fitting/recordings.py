"""Recordings: data, their times and errors, laid out for a batch of fits."""

import numpy as np

from ..values.checks import floats


class Recordings:
    """Data of a batch of fits, padded to the longest.

    Parameters
    ----------
    t, data, sigma
        As of ``fit``.
    listed : bool or None
        Whether `data` has a last axis for the observed quantities; None: if it has more than `t`.
    observed : list of str or callable
        What they are.

    Attributes
    ----------
    batch : tuple of int
    t : ndarray
        (n,), or (n, *batch) where they differ; after its end a recording repeats its last time.
    data : ndarray
        (n, *batch, count): NaN where there is none.
    weights : ndarray
        1 / sigma, of the shape of `data`; 0 where there is none.
    length : ndarray of int
        (*batch): how many times.
    """

    def __init__(self, t, data, sigma, listed, observed):
        several = all(isinstance(a, list | tuple) and len(a) for a in (t, data))
        if several and np.ndim(t[0]) == 1:
            t, data, sigma, self.length = _padded(t, data, sigma)
        else:
            try:
                t, data = floats("t", t), floats("data", data)
            except ValueError as error:
                cure = "recordings of unequal length have a list of times beside that of data"
                raise ValueError(f"{error}; {cure}") from None
            self.length = np.array(len(t) if t.ndim else 0)
        if listed is None:
            listed = len(observed) > 1 or data.ndim > t.ndim
        self.listed, count, cure = listed, len(observed), ""
        if listed:
            cure = f"; of a single quantity, without that axis: observe={observed[0]!r}"
        if t.ndim == 0 or data.ndim < 1 + listed or len(t) != len(data) or not t.size:
            raise ValueError(
                f"t has shape {t.shape} and data {data.shape}: expected (n,) or (n, *batch), and"
                f" (n, *batch{', ' + str(count) if listed else ''}), of the same n{cure}"
            )
        if listed and data.shape[-1] != count:
            raise ValueError(
                f"data has shape {data.shape}: its last axis is of the {count} observed quantities"
                f"{cure}"
            )
        for name, array in (("t", t), ("data", data)):
            if np.isinf(array).any() or (name == "t" and np.isnan(array).any()):
                raise ValueError(
                    f"{name} holds {array[~np.isfinite(array)][0]}: expected finite numbers"
                    f"{', or NaN where a value is missing' if name == 'data' else ''}"
                )
        if (np.diff(t, axis=0) < 0).any():
            raise ValueError("t must be in order, the earliest first: sort it, and data with it")
        data = data if listed else data[..., np.newaxis]
        try:
            self.batch = np.broadcast_shapes(t.shape[1:], data.shape[1:-1])
            given = np.ones(()) if sigma is None else floats("sigma", sigma)
            given = given if listed or not given.ndim else given[..., np.newaxis]
            errors = np.broadcast_to(given, data.shape)
        except ValueError:
            raise ValueError(
                f"t has shape {t.shape}, data {data.shape[: data.ndim - (not listed)]}, sigma"
                f" {np.shape(sigma)}: they do not broadcast"
            ) from None
        known = ~np.isnan(data)
        if not (errors[known] > 0).all():
            raise ValueError(f"sigma must be positive, got {errors[known].min()}")
        self.t, self.data = t, data
        self.weights = np.where(known, 1 / np.where(known, errors, 1), 0)


def _padded(t, data, sigma):
    """Recordings of unequal length, as arrays (n, recordings, ...)."""
    t = [floats(f"t[{i}]", one) for i, one in enumerate(t)]
    data = [floats(f"data[{i}]", one) for i, one in enumerate(data)]
    lengths = [[*map(len, both)] for both in (t, data)]
    if 0 in lengths[0]:
        raise ValueError(f"recording {lengths[0].index(0)} has no times: leave it out")
    if lengths[0] != lengths[1] or len({a.shape[1:] for a in data}) > 1:
        raise ValueError(
            f"t has recordings of lengths {lengths[0]} and data {lengths[1]}: expected as many"
            " times as values for each"
        )
    n = max(lengths[0])
    each = isinstance(sigma, list | tuple)
    sigma = [*map(np.asarray, sigma)] if each else sigma
    if each and [len(one) if one.ndim else n for one in sigma] != lengths[0]:
        raise ValueError("sigma is a list: expected one array for each recording, as data has")

    def stacked(arrays, fill):
        whole = np.full((n, len(arrays), *arrays[0].shape[1:]), np.nan)
        for i, one in enumerate(arrays):
            whole[: len(one), i], whole[len(one) :, i] = one, one[-1] if fill is None else fill
        return whole

    sigma = stacked(sigma, 1.0) if each else sigma
    return stacked(t, None), stacked(data, np.nan), sigma, np.array(lengths[0])
