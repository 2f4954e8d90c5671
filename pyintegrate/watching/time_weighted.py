"""Reductions over the time of a run to a tolerance, whose steps differ in length.

The core reduces the quantity itself, a polynomial on each piece of a step, so that the result is as
good as the states are, however long the steps (csrc/watching/reductions.h).
"""

from functools import partial

import numpy as np

# Reductions without meaning over steps whose lengths the tolerance chooses, and the alternative.
REFUSED = {
    "total": "pi.watch.integral is weighted by time",
    "count": "pi.watch.time_within is the time during which a condition holds, pi.watch.entries how"
    " often it begins to",
}


class Timed:
    """The numbers that the core keeps of a reduction."""

    def __init__(self, first):
        self._first = first

    def get(self, totals, i=0):
        return totals.timed[self._first + i]

    def whole(self, totals, i=0):
        """As an integer; -1 for NaN."""
        return np.nan_to_num(self.get(totals, i), nan=-1).astype(np.int64)

    def sum(self, totals, i):
        """A sum of two parts."""
        return self.get(totals, i) + self.get(totals, i + 1)


def _states(rows, kind):
    """How many states count, and the index of the first at which the quantity is NaN."""
    kept = rows.timed("states", kind)
    return {".count": kept.whole, ".nan_step": lambda a: kept.whole(a, 1)}


def _results(rows, result, error, kind="value", **others):
    others = {f".{name}": other for name, other in others.items()}
    error_of = {".error": lambda a: np.abs(error(a)) + 0 * result(a)}
    return {"": result} | error_of | others | _states(rows, kind)


class _Moments:
    """The span, the mean, and the line of least mean square distance."""

    def __init__(self, rows, kind="moments"):
        self._kept, self._error = rows.timed(kind), 8 if kind == "moments" else 6

    def span(self, a):
        return self._kept.get(a, 2) - self._kept.get(a, 1)

    def first(self, a):
        return self._kept.get(a, 0) + self._kept.get(a, 5)  # NaN where it was unresolved

    def middle(self, a):
        return 0.5 * (self._kept.get(a, 1) + self._kept.get(a, 2))

    def integral(self, a):
        """The integral of the difference to the first value."""
        return self._kept.sum(a, 3)

    def mean(self, a):
        return self.first(a) + _over(self.integral(a), self.span(a))

    def slope(self, a):
        return np.where(self.span(a) == 0, np.nan, self._kept.get(a, 6) + 0 * self.first(a))

    def left(self, a):
        """The mean square distance from the line."""
        return _over(self._kept.get(a, 7), self.span(a)) + 0 * self.first(a)

    def error(self, a):
        """How far the quantity may be off."""
        return self._kept.get(a, self._error)

    def variance(self, a):
        span, slope = self.span(a), self._kept.get(a, 6)
        return self.left(a) + slope * slope * (span * span / 12)


def _over(sums, span):
    """sums / span, a mean; 0 over no time, where the first value is the only one."""
    return np.where(span == 0, 0.0, sums / np.where(span == 0, 1.0, span))


def mean(rows):
    m = _Moments(rows, "mean")
    return _results(rows, m.mean, m.error)


def rms(rows):
    m = _Moments(rows)
    return _results(rows, lambda a: np.sqrt(np.square(m.mean(a)) + m.variance(a)), m.error)


def variance(rows):
    m = _Moments(rows)
    return _results(
        rows, m.variance, lambda a: (2 * np.sqrt(m.variance(a)) + m.error(a)) * m.error(a)
    )


def std(rows):
    m = _Moments(rows)
    return _results(rows, lambda a: np.sqrt(m.variance(a)), m.error)


def slope(rows):
    """The line of least mean square distance over time."""
    m = _Moments(rows)
    return _results(
        rows, m.slope, lambda a: 3 * m.error(a) / m.span(a),
        intercept=lambda a: m.mean(a) - m.slope(a) * m.middle(a),
        residual=lambda a: np.sqrt(m.left(a)) + 0 * m.slope(a),
    )  # fmt: skip


def integral(rows):
    m = _Moments(rows, "mean")
    return _results(
        rows, lambda a: m.first(a) * m.span(a) + m.integral(a), lambda a: m.error(a) * m.span(a)
    )


def _extreme(rows, name):
    kept = rows.timed(name)
    return {
        "": kept.get, ".time": lambda a: kept.get(a, 1),
        ".error": lambda a: kept.get(a, 2) + 0 * kept.get(a),
        ".nan_step": _states(rows, name)[".nan_step"],
    }  # fmt: skip


def periods(rows):
    kept = rows.timed("passages")

    def lengths(a):
        return np.maximum(kept.get(a) - 1, 0)

    def length(a):
        count = lengths(a)
        both = kept.get(a, 2) - kept.get(a, 1)
        return np.where(count > 0, np.abs(both) / np.where(count > 0, count, 1), np.nan)

    def variance(a):
        count, first = lengths(a), np.abs(kept.get(a, 3))
        off = length(a) - first
        spread = kept.get(a, 4) / np.where(count > 0, count, np.nan) - off * off
        return np.where(count == 1, 0.0 * off, np.maximum(spread, 0.0))

    return {
        "": length, ".mean": length, ".count": lambda a: lengths(a).astype(np.int64),
        ".variance": variance, ".nan_step": _states(rows, "passages")[".nan_step"],
        ".error": lambda a: 2 * kept.get(a, 5) / lengths(a) + 0 * length(a),
    }  # fmt: skip


def windings(rows):
    kept = rows.timed("turns")

    def turns(a):
        return kept.sum(a, 0) / (2 * np.pi) + 0 * kept.get(a, 2)  # NaN: nothing was seen

    return _results(rows, turns, lambda a: kept.get(a, 3) / np.pi, "turns")


def entries(rows):
    return {"": rows.timed("truth").whole}


def time_within(rows):
    kept = rows.timed("truth")
    return {"": lambda a: np.abs(kept.sum(a, 1)), ".error": lambda a: kept.get(a, 6)}


def first_time(rows):
    kept = rows.timed("truth")
    return {"": lambda a: kept.get(a, 3), ".error": lambda a: kept.get(a, 5) + 0 * kept.get(a, 3)}


# By the names of reductions: Accumulators -> results.
BY_NAME = {
    one.__name__: one
    for one in (mean, rms, variance, std, slope, integral, periods, windings, entries, time_within,
                first_time)
} | {name: partial(_extreme, name=name) for name in ("maximum", "minimum", "max_abs")}  # fmt: skip
