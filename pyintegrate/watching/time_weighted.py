"""Reductions over the time of a run to a tolerance, whose steps differ in length.

The core reduces the quantity itself, a polynomial on each piece of a step, so that the result is as
good as the states are, however long the steps (csrc/watching/reductions.h).
"""

from functools import partial

import numpy as np

from .later import later

# Reductions without meaning over steps whose lengths the tolerance chooses, and the alternative.
REFUSED = {
    "total": "pi.watch.integral is weighted by time",
    "count": "pi.watch.time_within is the time during which a condition holds, pi.watch.entries how"
    " often it begins to",
}


def _results(rows, result, error, kind="value", **others):
    others = {f".{name}": other for name, other in others.items()}
    count, nan_step, _ = rows.timed("states", kind)
    return {
        "": result, ".error": np.abs(error) + 0 * result, **others,
        ".count": count.whole, ".nan_step": nan_step.whole,
    }  # fmt: skip


class _Moments:
    """The span, the mean, and the line of least mean square distance.

    Attributes
    ----------
    integral : Later
        Of the difference to the first value.
    left : Later
        The mean square distance from the line.
    error : Later
        How far the quantity may be off.
    """

    def __init__(self, rows, kind="moments"):
        first, began, ended, high, low, unresolved, *line, self.error = rows.timed(kind)
        self.span, self.middle = ended - began, 0.5 * (began + ended)
        self.first, self.integral = first + unresolved, high + low
        self.mean = self.first + _over(self.integral, self.span)
        if kind == "mean":
            return
        slope, squares = line
        self.slope = np.where(self.span == 0, np.nan, slope + 0 * self.first)
        self.left = _over(squares, self.span) + 0 * self.first
        self.variance = self.left + slope * slope * (self.span * self.span / 12)


@later
def _over(sums, span):
    """sums / span, a mean; 0 over no time, where the first value is the only one."""
    return np.where(span == 0, 0.0, sums / np.where(span == 0, 1.0, span))


def mean(rows):
    m = _Moments(rows, "mean")
    return _results(rows, m.mean, m.error)


def rms(rows):
    m = _Moments(rows)
    return _results(rows, np.sqrt(np.square(m.mean) + m.variance), m.error)


def variance(rows):
    m = _Moments(rows)
    return _results(rows, m.variance, (2 * np.sqrt(m.variance) + m.error) * m.error)


def std(rows):
    m = _Moments(rows)
    return _results(rows, np.sqrt(m.variance), m.error)


def slope(rows):
    """The line of least mean square distance over time."""
    m = _Moments(rows)
    return _results(
        rows, m.slope, 3 * m.error / m.span,
        intercept=m.mean - m.slope * m.middle, residual=np.sqrt(m.left) + 0 * m.slope,
    )  # fmt: skip


def integral(rows):
    m = _Moments(rows, "mean")
    return _results(rows, m.first * m.span + m.integral, m.error * m.span)


def _extreme(rows, name):
    (value, time, error), (_, nan_step, _) = rows.timed(name), rows.timed("states", name)
    return {
        "": value, ".time": time, ".error": error + 0 * value,
        ".nan_step": nan_step.whole,
    }  # fmt: skip


def periods(rows):
    passages, first, last, first_length, squares, error = rows.timed("passages")
    _, nan_step, _ = rows.timed("states", "passages")
    lengths = np.maximum(passages - 1, 0)
    some = np.where(lengths > 0, lengths, np.nan)
    length = np.abs(last - first) / some
    off = length - np.abs(first_length)
    variance = np.maximum(squares / some - off * off, 0.0)
    return {
        "": length, ".mean": length, ".count": lengths.whole,
        ".variance": np.where(lengths == 1, 0.0 * off, variance),
        ".nan_step": nan_step.whole,
        ".error": 2 * error / lengths + 0 * length,
    }  # fmt: skip


def windings(rows):
    high, low, last, error = rows.timed("turns")
    turns = (high + low) / (2 * np.pi) + 0 * last  # NaN: nothing was seen
    return _results(rows, turns, error / np.pi, "turns")


def entries(rows):
    beginnings, *_ = rows.timed("truth")
    return {"": beginnings.whole}


def time_within(rows):
    _, high, low, *_, error = rows.timed("truth")
    return {"": np.abs(high + low), ".error": error}


def first_time(rows):
    *_, time, _, error, _ = rows.timed("truth")
    return {"": time, ".error": error + 0 * time}


# By the names of reductions: Accumulators -> results.
BY_NAME = {
    one.__name__: one
    for one in (mean, rms, variance, std, slope, integral, periods, windings, entries, time_within,
                first_time)
} | {name: partial(_extreme, name=name) for name in ("maximum", "minimum", "max_abs")}  # fmt: skip
