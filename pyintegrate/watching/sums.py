"""Reductions to sums: totals, means, spreads, slopes, integrals."""

import numpy as np

from .later import BEGAN, INTERVAL, START, later, seen
from .reduction import of_quantity

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
    return _total(rows, "sum", seen)


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
    return _total(rows, "sum", lambda s, n: s / n)


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
    return _total(rows, "squares", lambda s, n: np.sqrt(s / n))


def told(rows, result, nan_step, **others):
    """A result, others, the number of steps that count, and the first step with a NaN."""
    others = {f".{name}": other for name, other in others.items()}
    return {"": result, **others, ".count": rows.count.whole, ".nan_step": nan_step}


def _total(rows, kind, of):
    """A function of the sum of a quantity, or of its squares, and of the number of steps."""
    known, power = rows.reduced(kind), 1 if kind == "sum" else 2
    s = rows.sum(rows.q**power) if known is None else known.sum(power)
    return told(rows, of(s, rows.count), (known or rows).nan_step)


def _line(rows):
    """Sums of the distance d from the first value, of index d and of d^2; the first step with a
    NaN; and the first value and its time."""
    known = rows.reduced("line")
    if known is not None:
        return known.line(), known.nan_step, (known.value, START + BEGAN * INTERVAL)
    d = rows.shifted
    sums = rows.sum(d), rows.sum(rows.index * d), rows.sum(d * d)
    return sums, rows.nan_step, (rows.first(rows.q).value, rows.first(rows.t).value)


def _spread(rows, of):
    n, ((once, _, squares), nan_step, _) = rows.count, _line(rows)
    return told(rows, of(np.maximum(squares - once * once / n, 0.0) / n), nan_step)


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
    n, ((once, by_index, squares), nan_step, (first, t_first)) = rows.count, _line(rows)
    rise = later(_rise)(n, once, by_index)
    return told(
        rows, rise / INTERVAL, nan_step,
        intercept=first + once / n - rise * (t_first / INTERVAL + (n - 1) / 2),
        residual=_residual(n, once, by_index, squares),
    )  # fmt: skip


def _rise(n, once, by_index):
    """The slope of a line per step that counts."""
    spread = np.where(n > 1, _squares(n), np.nan)
    return (by_index - (n - 1) / 2 * once) / spread


def _squares(n):
    """The sum of squares of i - (n - 1)/2."""
    return n * (n * n - 1) / 12


@later
def _residual(n, once, by_index, squares):
    """The rms distance from a line."""
    middle, rise = once / n, _rise(n, once, by_index)
    left = squares - n * middle * middle - rise * rise * _squares(n)
    return np.sqrt(np.where(left < ROUNDING * squares, 0.0, left) / n)


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
    return told(rows, seen(area * INTERVAL, rows.count), rows.nan_step)
