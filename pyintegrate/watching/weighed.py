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


class Weighed:
    """Integrals over time of one quantity: of 1, of d = q - q_first and of its products with the
    time since the first step."""

    def __init__(self, ledger):
        self._ledger = ledger
        t = ledger.t
        before = ledger.before(t)
        self._step = np.where(ledger.is_first, 0.0, t - before)
        self._since = t - np.where(ledger.is_first, t, ledger.first(t).old)
        self.first, self.t_first = ledger.first(ledger.q).get, ledger.first(t).get
        self.span = ledger.sum(self._step).get

    def integral(self, power, moment=0):
        """The integral of d^power (t - t_first)^moment."""
        ledger, value = self._ledger, 1.0
        for _ in range(power):
            value = value * ledger.shifted
        for _ in range(moment):
            value = value * self._since
        both = (ledger.before(value) + value) * 0.5
        return ledger.sum(np.where(ledger.is_first, 0.0, both * self._step)).get


def _over(a, b):
    """a / b, and 0 if both are 0: over no time a mean is the only value."""
    return np.where(b == 0, 0.0, a / np.where(b == 0, 1.0, b))


def mean(ledger):
    w, n = Weighed(ledger), ledger.count
    d = w.integral(1)
    return {
        "": lambda a: seen(w.first(a) + _over(d(a), w.span(a)), n.get(a)), ".count": n.whole,
        ".nan_step": ledger.nan_step,
    }  # fmt: skip


def rms(ledger):
    w, n = Weighed(ledger), ledger.count
    q = ledger.q
    both = (ledger.before(q * q) + q * q) * 0.5
    squares = ledger.sum(np.where(ledger.is_first, 0.0, both * w._step)).get

    def result(a):
        whole = np.where(w.span(a) == 0, w.first(a) ** 2, _over(squares(a), w.span(a)))
        return seen(np.sqrt(whole), n.get(a))

    return {"": result, ".count": n.whole, ".nan_step": ledger.nan_step}


def spread(ledger, of):
    """The variance, or a function `of` it."""
    w, n = Weighed(ledger), ledger.count
    d, squares = w.integral(1), w.integral(2)

    def variance(a):
        middle = _over(d(a), w.span(a))
        return np.maximum(_over(squares(a), w.span(a)) - middle * middle, 0.0)

    return {
        "": lambda a: seen(of(variance(a)), n.get(a)), ".count": n.whole,
        ".nan_step": ledger.nan_step,
    }  # fmt: skip


def slope(ledger):
    """The line of least mean square distance over time."""
    w, n = Weighed(ledger), ledger.count
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
        ".nan_step": ledger.nan_step,
    }


def integral(ledger):
    w, n = Weighed(ledger), ledger.count
    both = (ledger.before(ledger.q) + ledger.q) * 0.5
    area = ledger.sum(np.where(ledger.is_first, 0.0, both * w._step))
    return {
        "": lambda a: seen(area.get(a), n.get(a)), ".count": n.whole, ".nan_step": ledger.nan_step,
    }  # fmt: skip


def passage_time(ledger):
    """When the quantity crossed zero in the last step but one, by the cubic through four values."""
    q, t = ledger.q, ledger.t
    c, b, a = ledger.before(q, 1), ledger.before(q, 2), ledger.before(q, 3)
    tc, tb, ta = ledger.before(t, 1), ledger.before(t, 2), ledger.before(t, 3)
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
