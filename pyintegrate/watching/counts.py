"""Reductions that count: turns, conditions, periods, bins, and user-defined ones."""

from __future__ import annotations

import numpy as np

from ..values.checks import floats, integer
from ..values.types import Any, ArrayLike, Callable, Quantity
from .accumulators import cubic_root
from .batch.density import checked_edges
from .later import INTERVAL, seen, side_by_side
from .reduction import Reduction, of_condition, of_quantity
from .sums import told


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


# ---- user-defined --------------------------------------------------------------------------------
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
