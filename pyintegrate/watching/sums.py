"""Reductions to sums: totals, means, spreads, slopes, integrals."""

import numpy as np

from .reduction import of_quantity, seen

ROUNDING = 8 * np.finfo(float).eps  # relative, of a square that is a difference of three terms


@of_quantity
def total(rows):
    """The sum over the steps, and their `.count`; see ``last``.

    The rounding error of each addition is summed as well (Neumaier 1974): many steps lose nothing.
    A NaN makes the result NaN; `.nan_step` is the first step that had one, -1 if there was none.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10, save="final",
    ...                    watch={"steps": pi.watch.total(lambda t, x, v: 1.0)})
    >>> float(sol.watched["steps"])
    11.0
    """
    (s, nan_step), n = _total(rows, "sum"), rows.count
    return {"": lambda a: seen(s(a), n.get(a)), ".count": n.whole, ".nan_step": nan_step}


@of_quantity
def mean(rows):
    """The mean over the steps, and their `.count`; see ``total``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.spring(k=4.0, b=1.0), 1.0, 0.0, dt=0.01, n_steps=2000,
    ...                    save="final", watch={"x": pi.watch.mean("x", after=10.0)})
    >>> bool(abs(sol.watched["x"]) < 1e-3), int(sol.watched["x.count"])
    (True, 1001)
    """
    (s, nan_step), n = _total(rows, "sum"), rows.count
    return {"": lambda a: s(a) / n.get(a), ".count": n.whole, ".nan_step": nan_step}


@of_quantity
def rms(rows):
    """The square root of the mean square over the steps, and their `.count`; see ``total``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"x": pi.watch.rms("x")})
    >>> round(float(sol.watched["x"]), 3)
    0.707
    """
    (s, nan_step), n = _total(rows, "squares"), rows.count
    return {
        "": lambda a: np.sqrt(s(a) / n.get(a)), ".count": n.whole, ".nan_step": nan_step,
    }  # fmt: skip


def _total(rows, kind):
    """Totals -> the sum of a quantity, or of its squares; and its first step with a NaN."""
    known = rows.reduced(kind)
    if known is not None:
        return (lambda a: known.sum(a, power=1 if kind == "sum" else 2)), known.nan_step
    s = rows.sum(rows.q if kind == "sum" else rows.q * rows.q)
    return s.get, rows.nan_step


class _Line:
    """Sums of the distance d from the first value, of index d and of d^2: Totals -> array."""

    def __init__(self, rows):
        known = rows.reduced("line")
        if known is not None:
            self.first, self.s1, self.si, self.s2 = (
                lambda a, i=i: known.line(a)[i] for i in range(4)
            )  # fmt: skip
            self.t_first = lambda a: a.start + a.began * a.interval
            self.nan_step = known.nan_step
            return
        self.nan_step = rows.nan_step
        d = rows.shifted
        self.first, self.t_first = rows.first(rows.q).get, rows.first(rows.t).get
        self.s1, self.si = rows.sum(d).get, rows.sum(rows.index * d).get
        self.s2 = rows.sum(d * d).get


def _spread(rows, of):
    n, sums = rows.count, _Line(rows)

    def variance(a):
        count, once = n.get(a), sums.s1(a)
        return np.maximum(sums.s2(a) - once * once / count, 0.0) / count

    return {"": lambda a: of(variance(a)), ".count": n.whole, ".nan_step": sums.nan_step}


@of_quantity
def variance(rows):
    """The mean square of the distance from the mean, and the `.count` of steps; see ``total``.

    The sums are of the differences from the first value (a shift changes no variance).

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"x": pi.watch.variance("x")})
    >>> round(float(sol.watched["x"]), 3)
    0.5
    """
    return _spread(rows, lambda v: v)


@of_quantity
def std(rows):
    """The standard deviation: the square root of ``variance``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"x": pi.watch.std("x")})
    >>> round(float(sol.watched["x"]), 3)
    0.707
    """
    return _spread(rows, np.sqrt)


@of_quantity
def slope(rows):
    """The least-squares slope over time: the secular drift.

    `.intercept` is the value of the line at t = 0, `.residual` the rms distance from it (0 below
    4e-8 of the rms change since the start, where it is but rounding), `.count` the number of steps.
    See ``total``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.5, t_end=500.0, method="rk4", save="final",
    ...                    watch={"drift": pi.watch.slope("energy_error")})
    >>> float(sol.watched["drift"]) < 0
    True
    """
    n, sums = rows.count, _Line(rows)

    def line(a):
        """The count; slope per step that counts; mean of d; sum of squares of centred indices."""
        count, once = n.get(a), sums.s1(a)
        squares = count * (count * count - 1) / 12  # of i - (count - 1)/2
        rise = (sums.si(a) - (count - 1) / 2 * once) / np.where(count > 1, squares, np.nan)
        return count, rise, once / count, squares

    def per_time(a):
        return line(a)[1] / a.interval

    def intercept(a):
        count, rise, middle, _ = line(a)
        t = sums.t_first(a) / a.interval + (count - 1) / 2
        return sums.first(a) + middle - rise * t

    def residual(a):
        count, rise, middle, squares = line(a)
        left = sums.s2(a) - count * middle * middle - rise * rise * squares
        return np.sqrt(np.where(left < ROUNDING * sums.s2(a), 0.0, left) / count)

    return {
        "": per_time, ".intercept": intercept, ".residual": residual, ".count": n.whole,
        ".nan_step": sums.nan_step,
    }  # fmt: skip


@of_quantity
def integral(rows):
    """The integral over time by the trapezoidal rule: work, action; see ``total``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, n_steps=100, save="final",
    ...                    watch={"way": pi.watch.integral("v")})
    >>> bool(abs(sol.watched["way"] - (sol.final[0] - 1.0)) < 1e-5)
    True
    """
    before = rows.before(rows.q)
    area = rows.sum(np.where(rows.is_first, 0.0, (before + rows.q) * 0.5))
    n = rows.count
    return {
        "": lambda a: seen(area.get(a) * a.interval, n.get(a)), ".count": n.whole,
        ".nan_step": rows.nan_step,
    }  # fmt: skip
