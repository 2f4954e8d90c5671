"""``pi.watch``: reductions of a quantity over the steps, without storing the states.

Each has options ``every=k`` (steps 0, k, 2k, ... only) and ``after=t`` (no steps before that
time). Results are in ``sol.watched``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..values.checks import floats, integer
from ..values.types import Any, ArrayLike, Callable, Quantity
from .accumulators import cubic_root
from .batch.density import checked_edges, density
from .later import BEGAN, INTERVAL, START, STEP, later, seen, side_by_side
from .reduction import Reduction, of_condition, of_quantity

__all__ = [
    "count", "density", "entries", "first", "first_time", "histogram", "integral", "last",
    "max_abs", "maximum", "mean", "minimum", "periods", "reduce", "rms", "slope", "std",
    "time_within", "total", "variance", "windings",
]  # fmt: skip


_NUMPY = {"max": "maximum", "min": "minimum", "sum": "total", "average": "mean", "var": "variance"}


if not TYPE_CHECKING:  # for which such a module has any name

    def __getattr__(name):
        """Explain NumPy's names."""
        cure = f": it is pi.watch.{_NUMPY[name]}" if name in _NUMPY else ""
        raise AttributeError(f"pi.watch has no {name!r}{cure}")


# ---- one value and its time ----------------------------------------------------------------------
@of_quantity
def last(rows):
    """The value at the last step that counts, and its `.time`.

    Parameters
    ----------
    quantity : str or callable
        A component, "energy", "energy_error", an invariant, "phase", "phase_drift" (how far the
        phase is ahead of the exact one, as ``pi.analysis.phase_drift``), or a function of (t, x, v)
        or (t, y) and any of the system's parameters.
    every : int
    after : array_like, optional
        A time, or one for each trajectory.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, save="final",
    ...                    watch={"x": pi.watch.last("x", after=5.0)})
    >>> bool(sol.watched["x"] == sol.final[0]), round(float(sol.watched["x.time"]), 6)
    (True, 10.0)
    """
    value, at = rows.keep(np.nan), rows.keep(np.nan)
    value.then(rows.q)
    at.then(rows.t)
    return {"": value.value, ".time": at.value}


@of_quantity
def first(rows):
    """The value at the first step that counts, and its `.time`; see ``last``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, save="final",
    ...                    watch={"x": pi.watch.first("x", after=4.95)})
    >>> round(float(sol.watched["x.time"]), 6)
    5.0
    """
    return {"": rows.first(rows.q).value, ".time": rows.first(rows.t).value}


def _extreme(rows, name, within, of=np.positive):
    """The first value that no other exceeds; a NaN stays."""
    known = rows.reduced(name)
    if known is not None:
        return {"": known.value, ".time": START + known[1] * STEP, ".nan_step": known.nan_step}
    best, at = rows.keep(np.nan), rows.keep(np.nan)
    value = of(rows.q)
    news = rows.is_first | ((best.old == best.old) & ~within(value, best.old))
    best.then(value, news)
    at.then(rows.t, news)
    return {"": best.value, ".time": at.value, ".nan_step": rows.nan_step}


@of_quantity
def maximum(rows):
    """The largest value, and the `.time` when it was first reached; see ``last``.

    A NaN makes the result NaN; `.nan_step` is the first step that had one, -1 if there was none.
    With ``pi.solve`` it is the index of the state that ``save="all"`` keeps.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, 0.0, 1.0, dt=0.01, n_steps=400, save="final",
    ...                    watch={"far": pi.watch.maximum("x")})
    >>> round(float(sol.watched["far"]), 4), round(float(sol.watched["far.time"]), 6)
    (1.0, 1.57)
    """
    return _extreme(rows, "maximum", np.less_equal)


@of_quantity
def minimum(rows):
    """The smallest value, and the `.time` when it was first reached; see ``maximum``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, n_steps=400, save="final",
    ...                    watch={"near": pi.watch.minimum(lambda t, x, v: x * x)})
    >>> bool(sol.watched["near"] < 1e-4)
    True
    """
    return _extreme(rows, "minimum", np.greater_equal)


@of_quantity
def max_abs(rows):
    """The largest magnitude, and the `.time` when it was first reached; see ``maximum``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=1000, save="final",
    ...                    method="semi_implicit_euler",
    ...                    watch={"swing": pi.watch.max_abs("energy_error")})
    >>> bool(0.05 < sol.watched["swing"] < 0.06)
    True
    """
    return _extreme(rows, "max_abs", np.less_equal, np.abs)


# ---- sums: totals, means, spreads, slopes, integrals ---------------------------------------------
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


# ---- turns, conditions, periods ------------------------------------------------------------------
def windings(angle: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The number of turns of an angle [rad], signed; see ``last``.

    Between two steps that count it must change by less than half a turn, as for
    ``numpy.unwrap``.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.84, save="final",
    ...                    watch={"turns": pi.watch.windings("phase")})
    >>> round(float(sol.watched["turns"]), 3)
    10.001
    """

    def trace(rows):
        turn, q = 2 * np.pi, rows.q
        change = q - rows.before(q)
        change = change - turn * np.rint(change / turn)
        turns = rows.sum(np.where(rows.is_first, 0.0, change)) / turn
        return told(rows, seen(turns, rows.count), rows.nan_step)

    return Reduction("windings", angle, every, after, trace)


@of_condition
def count(rows):
    """The number of steps at which a condition holds; see ``last``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"right": pi.watch.count(lambda t, x, v: x > 0)})
    >>> int(sol.watched["right"])
    3142
    """
    return {"": rows.number_of(rows.q != 0)}


@of_condition
def first_time(rows):
    """The time of the first step at which a condition holds, NaN if it never did.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, save="final",
    ...                    watch={"left": pi.watch.first_time(lambda t, x, v: x < 0)})
    >>> round(float(sol.watched["left"]), 6)
    1.6
    """
    at = rows.keep(np.nan)
    at.then(rows.t, (at.old != at.old) & (rows.q != 0))
    return {"": at.value}


@of_condition
def entries(rows):
    """How often a condition begins to hold; at the first step that counts it does not begin.

    With ``pi.solve`` it is seen within steps too; -1 if it changes too fast. See ``last``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, 1.0, 0.0, dt=0.1, n_steps=200, save="final",
    ...                    watch={"right": pi.watch.entries(lambda t, x, v: x > 0.5)})
    >>> int(sol.watched["right"])
    3
    """
    return {"": rows.number_of((rows.q != 0) & (rows.before(rows.q) == 0))}


@of_condition
def time_within(rows):
    """How long a condition held: at fixed steps the trapezoidal rule; see ``entries``.

    Examples
    --------
    >>> import numpy as np
    >>> import pyintegrate as pi
    >>> sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=2 * np.pi,
    ...                watch={"right": pi.watch.time_within(lambda t, x, v: x > 0.5)})
    >>> round(float(sol.watched["right"]), 6), round(2 * np.pi / 3, 6)
    (2.094395, 2.094395)
    """
    holds = np.where(rows.q != 0, 1.0, 0.0)
    both = rows.sum(np.where(rows.is_first, 0.0, (rows.before(holds) + holds) * 0.5))
    return {"": np.abs(both * INTERVAL)}


@of_quantity
def periods(rows):
    """The mean time from one upward zero crossing to the next.

    `.count` is the number of periods, `.variance` the variance of their lengths. A crossing is
    located by the cubic through the four values around it: its error is of the fourth order in the
    step. At fixed steps a jump of an event across zero is a crossing, too, and one next to a
    crossing moves it, by less than a step. See ``last``.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=100.0, save="final",
    ...                    watch={"T": pi.watch.periods("x")})
    >>> bool(abs(sol.watched["T"] - 2 * np.pi) < 1e-8), int(sol.watched["T.count"])
    (True, 15)
    """
    q, i = rows.q, rows.index
    c, b, a = rows.before(q, 1), rows.before(q, 2), rows.before(q, 3)
    passage = (b < 0) & (c >= 0) & (i >= 3)
    where = i - 2 + cubic_root(a, b, c, q)
    n, start, at = rows.keep(0.0), rows.keep(np.nan), rows.keep(np.nan)
    s1, s2 = rows.keep(0.0), rows.keep(0.0)
    d = where - at.old - s1.old  # from the first period
    s1.then(where - at.old, passage & (n.old == 1))
    s2.then(s2.old + d * d, passage & (n.old > 1))
    n.then(n.old + 1, passage)
    start.then(where, passage & (n.old == 0))
    at.then(where, passage)
    lengths, nan_step = np.maximum(n.value - 1, 0), rows.nan_step
    whole = np.where(nan_step < 0, lengths, 0)  # a NaN hides a passage
    mean = seen((at.value - start.value) / np.where(whole > 0, whole, 1), whole)
    off = mean - s1.value
    spread = s2.value / np.where(lengths > 0, lengths, np.nan) - off * off
    length = mean * np.abs(INTERVAL)
    return {
        "": length,
        ".mean": length,
        ".count": lengths.whole,
        ".variance": np.maximum(spread, 0) * np.square(INTERVAL),
        ".nan_step": nan_step,
    }


# ---- user-defined reductions, and bins -----------------------------------------------------------
def reduce(
    update: Callable[..., Any],
    initial: ArrayLike,
    *,
    every: int = 1,
    after: ArrayLike | None = None,
) -> Reduction:
    """A user-defined reduction: a function of the kept values and a state, traced like a force.

    Parameters
    ----------
    update : callable
        ``update(kept, t, x, v, ...)`` or ``update(kept, t, y, ...)`` -> the kept values after it.
    initial : array_like
        A number, or a list of numbers.
    every : int
    after : array_like, optional

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> far = pi.watch.reduce(lambda kept, t, x, v: np.maximum(kept, x * v), initial=0.0)
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, n_steps=1000, save="final",
    ...                    watch={"far": far})
    >>> round(float(sol.watched["far"]), 3)
    0.5
    """
    if not callable(update):
        raise TypeError(f"update must be a function, got {update!r}")
    start = floats("initial", initial)
    if start.ndim > 1 or not start.size:
        raise ValueError(f"initial must be a number or a list of numbers, got {initial!r}")

    def trace(rows):
        kept = [rows.keep(float(value)) for value in start.ravel()]
        for item, symbol in zip(kept, rows.update(update, kept, start.ndim), strict=True):
            item.then(symbol)
        if not start.ndim:
            return {"": kept[0].value}
        return {"": side_by_side(*(item.value for item in kept))}

    return Reduction("reduce", update, every, after, trace)


def histogram(
    quantity: Quantity,
    bins: int,
    range: tuple[float, float],
    *,
    every: int = 1,
    after: ArrayLike | None = None,
    samples: int | None = None,
) -> Reduction:
    """How many steps have the quantity in each bin, int64 (*batch, bins), as ``numpy.histogram``.

    Parameters
    ----------
    quantity : str or callable
    bins : int
        Their number, of equal width; at most 1000.
    range : tuple of float
        The first and the last edge; values outside are not counted.
    every : int
    after : array_like, optional
    samples : int, optional
        For ``pi.solve``: at how many equally spaced times from the start to the end, both included,
        it counts; 1000 by default.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"x": pi.watch.histogram("x", 4, (-1, 1))})
    >>> int(sol.watched["x"].sum())
    6284
    """
    bins = integer("bins", bins, 1, 1000)
    (edges,) = checked_edges(1, bins, range)

    def trace(rows):
        if rows.uneven:
            found = rows.sampled([rows.q], (edges,), samples, each=True)
        else:
            found = side_by_side(*rows.tally(edges))
        return {"": found, ".edges": edges}

    return Reduction("histogram", quantity, every, after, trace, samples)
