"""Reductions over steps of different lengths: sums are weighted by time.

A sum over the steps becomes the integral over time by the trapezoidal rule, so that the many short
steps of a fast passage count only for the time that they take.
"""

from __future__ import annotations

import numpy as np

from .reduction import seen

# Reductions without meaning over steps whose lengths the tolerance chooses, and the alternative.
REFUSED = {
    "total": "pi.watch.integral is weighted by time",
    "histogram": "pi.watch.integral of a condition is the time spent where it holds",
    "density": "integrate at fixed steps",
}


class Weighted:
    """Integrals over time of one quantity: of 1, of d = q - q_first and of its products with the
    time since the first step."""

    def __init__(self, rows):
        self._rows = rows
        t = rows.t
        before = rows.before(t)
        self._step = np.where(rows.is_first, 0.0, t - before)
        self._since = t - np.where(rows.is_first, t, rows.first(t).old)
        self.first, self.t_first = rows.first(rows.q).get, rows.first(t).get
        self.span = rows.sum(self._step).get

    def integral(self, power, moment=0):
        """The integral of d^power (t - t_first)^moment."""
        rows, value = self._rows, 1.0
        for _ in range(power):
            value = value * rows.shifted
        for _ in range(moment):
            value = value * self._since
        both = (rows.before(value) + value) * 0.5
        return rows.sum(np.where(rows.is_first, 0.0, both * self._step)).get


def _over(a, b):
    """a / b, and 0 if both are 0: over no time a mean is the only value."""
    return np.where(b == 0, 0.0, a / np.where(b == 0, 1.0, b))


def mean(rows):
    w, n = Weighted(rows), rows.count
    d = w.integral(1)
    return {
        "": lambda a: seen(w.first(a) + _over(d(a), w.span(a)), n.get(a)), ".count": n.whole,
        ".nan_step": rows.nan_step,
    }  # fmt: skip


def rms(rows):
    w, n = Weighted(rows), rows.count
    q = rows.q
    both = (rows.before(q * q) + q * q) * 0.5
    squares = rows.sum(np.where(rows.is_first, 0.0, both * w._step)).get

    def result(a):
        whole = np.where(w.span(a) == 0, w.first(a) ** 2, _over(squares(a), w.span(a)))
        return seen(np.sqrt(whole), n.get(a))

    return {"": result, ".count": n.whole, ".nan_step": rows.nan_step}


def spread(rows, of):
    """The variance, or a function `of` it."""
    w, n = Weighted(rows), rows.count
    d, squares = w.integral(1), w.integral(2)

    def variance(a):
        middle = _over(d(a), w.span(a))
        return np.maximum(_over(squares(a), w.span(a)) - middle * middle, 0.0)

    return {
        "": lambda a: seen(of(variance(a)), n.get(a)), ".count": n.whole,
        ".nan_step": rows.nan_step,
    }  # fmt: skip


def slope(rows):
    """The line of least mean square distance over time."""
    w, n = Weighted(rows), rows.count
    d, squares, once = w.integral(1), w.integral(2), w.integral(1, 1)
    since, since2 = w.integral(0, 1), w.integral(0, 2)

    def line(a):
        """Slope, means of t - t_first and of d, and the mean square distance."""
        span = w.span(a)
        t, q = _over(since(a), span), _over(d(a), span)
        width = _over(since2(a), span) - t * t
        rise = (_over(once(a), span) - t * q) / np.where(width > 0, width, np.nan)
        left = _over(squares(a), span) - q * q - rise * rise * width
        return rise, t, q, np.maximum(left, 0.0)

    def intercept(a):
        rise, t, q, _ = line(a)
        return w.first(a) + q - rise * (w.t_first(a) + t)

    return {
        "": lambda a: line(a)[0],
        ".intercept": intercept,
        ".residual": lambda a: np.sqrt(line(a)[3]),
        ".count": n.whole,
        ".nan_step": rows.nan_step,
    }


def integral(rows):
    w, n = Weighted(rows), rows.count
    both = (rows.before(rows.q) + rows.q) * 0.5
    area = rows.sum(np.where(rows.is_first, 0.0, both * w._step))
    return {
        "": lambda a: seen(area.get(a), n.get(a)), ".count": n.whole, ".nan_step": rows.nan_step,
    }  # fmt: skip


def passage_time(rows):
    """When the quantity crossed zero in the last step but one, by the cubic through four values."""
    q, t = rows.q, rows.t
    c, b, a = rows.before(q, 1), rows.before(q, 2), rows.before(q, 3)
    tc, tb, ta = rows.before(t, 1), rows.before(t, 2), rows.before(t, 3)
    # s = (t - tb) / (tc - tb): values b at 0, c at 1, a at sa < 0, q at sd > 1. Newton's form
    # b + s (c - b) + s (s - 1) (e + (s - sd) f).
    step = tc - tb
    sa, sd = (ta - tb) / step, (t - tb) / step
    rise = c - b
    e = ((q - c) / (sd - 1.0) - rise) / sd
    e_a = ((a - c) / (sa - 1.0) - rise) / sa
    f = (e_a - e) / (sa - sd)
    # b + one s + two s^2 + f s^3
    two = e - (1.0 + sd) * f
    one = rise - e + sd * f
    s = b / (b - c)
    for _ in range(4):
        value = ((f * s + two) * s + one) * s + b
        s = s - value / ((3 * f * s + 2 * two) * s + one)
    return tb + s * step
