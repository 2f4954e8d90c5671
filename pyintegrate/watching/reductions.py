"""``pi.watch``: what to keep of a quantity, step by step, where its states are not stored.

Each has options ``every=k`` (look at steps 0, k, 2k, ... only) and ``after=t`` (and not before that
time). Results are in ``sol.watched``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..values.checks import integer, numbers

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..values.types import ArrayLike

    Quantity = str | Callable[..., Any]

__all__ = [
    "count", "first", "first_time", "histogram", "integral", "last", "max_abs", "maximum", "mean",
    "minimum", "periods", "reduce", "rms", "slope", "std", "total", "variance", "windings",
]  # fmt: skip


_NUMPY = {"max": "maximum", "min": "minimum", "sum": "total", "average": "mean", "var": "variance"}


def __getattr__(name):
    """What NumPy's names are here."""
    cure = f": it is pi.watch.{_NUMPY[name]}" if name in _NUMPY else ""
    raise AttributeError(f"pi.watch has no {name!r}{cure}")


class Reduction:
    """A quantity and what is kept of it; made by the functions of ``pi.watch``.

    Parameters
    ----------
    name : str
        Of the function that made it.
    quantity : str or callable
    every : int
    after : array_like or None
    trace : callable
        Ledger -> dict: results by suffix, each a function of an Account; see ledger.py.
    """

    def __init__(self, name, quantity, every, after, trace):
        self.name, self.quantity, self.trace = name, quantity, trace
        self.every = integer("every", every, 1)
        self.after = None if after is None else numbers("after", after).astype(np.float64)

    def __repr__(self):
        from .quantity import label

        return f"<pi.watch.{self.name} of {label(self.quantity)}>"


def _seen(values, count):
    """NaN where nothing was seen."""
    return np.where(count > 0, values, np.nan)


# ---- one value, and when -------------------------------------------------------------------------
def last(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The value at the last step that was looked at, and its `.time`.

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

    def trace(ledger):
        value, at = ledger.keep(np.nan), ledger.keep(np.nan)
        value.then(ledger.q)
        at.then(ledger.t)
        return {"": value.get, ".time": at.get}

    return Reduction("last", quantity, every, after, trace)


def first(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The value at the first step that was looked at, and its `.time`; see ``last``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, save="final",
    ...                    watch={"x": pi.watch.first("x", after=4.95)})
    >>> round(float(sol.watched["x.time"]), 6)
    5.0
    """

    def trace(ledger):
        value, at = ledger.first(ledger.q), ledger.first(ledger.t)
        return {"": value.get, ".time": at.get}

    return Reduction("first", quantity, every, after, trace)


def _extreme(name, quantity, every, after, of, beyond):
    """The first value that no other is beyond; a NaN stays."""

    def trace(ledger):
        known = ledger.reduced(name)
        if known is not None:
            return {"": known.get, ".time": lambda a: a.time(known.get(a, 1))}
        best, at = ledger.keep(np.nan), ledger.keep(np.nan)
        value = of(ledger.q)
        news = ledger.is_first | ((best.old == best.old) & ~beyond(best.old, value))
        best.then(np.where(news, value, best.old))
        at.then(np.where(news, ledger.t, at.old))
        return {"": best.get, ".time": at.get}

    return Reduction(name, quantity, every, after, trace)


def maximum(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The largest value, and the `.time` when it was first reached; see ``last``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, 0.0, 1.0, dt=0.01, n_steps=400, save="final",
    ...                    watch={"far": pi.watch.maximum("x")})
    >>> round(float(sol.watched["far"]), 4), round(float(sol.watched["far.time"]), 6)
    (1.0, 1.57)
    """
    return _extreme("maximum", quantity, every, after, lambda q: q, lambda old, q: q <= old)


def minimum(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The smallest value, and the `.time` when it was first reached; see ``maximum``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, n_steps=400, save="final",
    ...                    watch={"near": pi.watch.minimum(lambda t, x, v: x * x)})
    >>> bool(sol.watched["near"] < 1e-4)
    True
    """
    return _extreme("minimum", quantity, every, after, lambda q: q, lambda old, q: q >= old)


def max_abs(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
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
    return _extreme("max_abs", quantity, every, after, np.abs, lambda old, q: q <= old)


# ---- sums ----------------------------------------------------------------------------------------
def total(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The sum over the steps, and their `.count`; see ``last``.

    The rounding of each addition is added up as well (Neumaier 1974): many steps lose nothing.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10, save="final",
    ...                    watch={"steps": pi.watch.total(lambda t, x, v: 1.0)})
    >>> float(sol.watched["steps"])
    11.0
    """

    def trace(ledger):
        s, n = _total(ledger, "sum"), ledger.count
        return {"": lambda a: _seen(s(a), n.get(a)), ".count": n.whole}

    return Reduction("total", quantity, every, after, trace)


def mean(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The mean over the steps, and their `.count`; see ``total``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.spring(k=4.0, b=1.0), 1.0, 0.0, dt=0.01, n_steps=2000,
    ...                    save="final", watch={"x": pi.watch.mean("x", after=10.0)})
    >>> bool(abs(sol.watched["x"]) < 1e-3), int(sol.watched["x.count"])
    (True, 1001)
    """

    def trace(ledger):
        s, n = _total(ledger, "sum"), ledger.count
        return {"": lambda a: s(a) / n.get(a), ".count": n.whole}

    return Reduction("mean", quantity, every, after, trace)


def rms(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The square root of the mean square over the steps, and their `.count`; see ``total``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"x": pi.watch.rms("x")})
    >>> round(float(sol.watched["x"]), 3)
    0.707
    """

    def trace(ledger):
        s, n = _total(ledger, "squares"), ledger.count
        return {"": lambda a: np.sqrt(s(a) / n.get(a)), ".count": n.whole}

    return Reduction("rms", quantity, every, after, trace)


def _total(ledger, kind):
    """Account -> the sum of a quantity, or of its squares."""
    known = ledger.reduced(kind)
    if known is not None:
        return known.sum
    return ledger.sum(ledger.q if kind == "sum" else ledger.q * ledger.q).get


class _Line:
    """Sums of the distance d from the first value, of index d and of d^2: Account -> array."""

    def __init__(self, ledger):
        known = ledger.reduced("line")
        if known is not None:
            self.first, self.t_first = known.get, lambda a: a.start
            self.s1, self.si, self.s2 = (
                lambda a, i=i: known.sum(a, i) for i in (1, 3, 5)
            )  # fmt: skip
            return
        d = ledger.shifted
        self.first, self.t_first = ledger.first(ledger.q).get, ledger.first(ledger.t).get
        self.s1, self.si = ledger.sum(d).get, ledger.sum(ledger.index * d).get
        self.s2 = ledger.sum(d * d).get


def _spread(name, quantity, every, after, of):
    def trace(ledger):
        n, sums = ledger.count, _Line(ledger)

        def variance(a):
            count, once = n.get(a), sums.s1(a)
            return np.maximum(sums.s2(a) - once * once / count, 0.0) / count

        return {"": lambda a: of(variance(a)), ".count": n.whole}

    return Reduction(name, quantity, every, after, trace)


def variance(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The mean square of the distance from the mean, and the `.count` of steps; see ``total``.

    The sums are of the distances from the first value (a shift changes no variance).

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"x": pi.watch.variance("x")})
    >>> round(float(sol.watched["x"]), 3)
    0.5
    """
    return _spread("variance", quantity, every, after, lambda v: v)


def std(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The standard deviation: the square root of ``variance``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"x": pi.watch.std("x")})
    >>> round(float(sol.watched["x"]), 3)
    0.707
    """
    return _spread("std", quantity, every, after, np.sqrt)


def slope(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The least-squares slope over time: the secular drift.

    `.intercept` is the value of the line at t = 0, `.residual` the rms distance from it, `.count`
    the steps. See ``total``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.5, t_end=500.0, method="rk4", save="final",
    ...                    watch={"drift": pi.watch.slope("energy_error")})
    >>> float(sol.watched["drift"]) < 0
    True
    """

    def trace(ledger):
        n, sums = ledger.count, _Line(ledger)

        def line(a):
            """Slope for each step looked at, mean of d, sum of squares of the steps."""
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
            return np.sqrt(np.maximum(left, 0) / count)

        return {
            "": per_time, ".intercept": intercept, ".residual": residual, ".count": n.whole,
        }  # fmt: skip

    return Reduction("slope", quantity, every, after, trace)


def integral(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The integral over time by the trapezoidal rule: work, action; see ``total``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, n_steps=100, save="final",
    ...                    watch={"way": pi.watch.integral("v")})
    >>> bool(abs(sol.watched["way"] - (sol.final[0] - 1.0)) < 1e-5)
    True
    """

    def trace(ledger):
        before = ledger.before(ledger.q)
        area = ledger.sum(np.where(ledger.is_first, 0.0, (before + ledger.q) * 0.5))
        n = ledger.count
        return {"": lambda a: _seen(area.get(a) * a.interval, n.get(a)), ".count": n.whole}

    return Reduction("integral", quantity, every, after, trace)


# ---- turns, crossings, conditions ----------------------------------------------------------------
def windings(angle: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """How many turns an angle [rad] makes, signed; see ``last``.

    Between two steps that are looked at it must change by less than half a turn, as for
    ``numpy.unwrap``.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.84, save="final",
    ...                    watch={"turns": pi.watch.windings("phase")})
    >>> round(float(sol.watched["turns"]), 3)
    10.001
    """

    def trace(ledger):
        turn, q = 2 * np.pi, ledger.q
        change = q - ledger.before(q)
        change = change - turn * np.rint(change / turn)
        s, n = ledger.sum(np.where(ledger.is_first, 0.0, change)), ledger.count
        return {"": lambda a: _seen(s.get(a) / turn, n.get(a)), ".count": n.whole}

    return Reduction("windings", angle, every, after, trace)


def count(condition: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The number of steps at which a condition holds; see ``last``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"right": pi.watch.count(lambda t, x, v: x > 0)})
    >>> int(sol.watched["right"])
    3142
    """

    def trace(ledger):
        n = ledger.keep(0.0)
        n.then(n.old + np.where(ledger.q != 0, 1.0, 0.0))
        return {"": n.whole}

    return Reduction("count", condition, every, after, trace)


def first_time(condition: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The time of the first step at which a condition holds, NaN where it never did.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, save="final",
    ...                    watch={"left": pi.watch.first_time(lambda t, x, v: x < 0)})
    >>> round(float(sol.watched["left"]), 6)
    1.6
    """

    def trace(ledger):
        at = ledger.keep(np.nan)
        at.then(np.where((at.old != at.old) & (ledger.q != 0), ledger.t, at.old))
        return {"": at.get}

    return Reduction("first_time", condition, every, after, trace)


def periods(quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None) -> Reduction:
    """The mean time from one upward passage of zero to the next.

    `.count` is how many such periods there were, `.variance` that of their lengths. A passage is
    placed by the cubic through the four values around it: with an error of the fourth power of the
    step. See ``last``.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=100.0, save="final",
    ...                    watch={"T": pi.watch.periods("x")})
    >>> bool(abs(sol.watched["T"] - 2 * np.pi) < 1e-8), int(sol.watched["T.count"])
    (True, 15)
    """

    def trace(ledger):
        from .ledger import cubic_root

        q, i = ledger.q, ledger.index
        c, b, a = ledger.before(q, 1), ledger.before(q, 2), ledger.before(q, 3)
        passage = (b < 0) & (c >= 0) & (i >= 3)
        where = i - 2 + cubic_root(a, b, c, q)
        n, start, at = ledger.keep(0.0), ledger.keep(np.nan), ledger.keep(np.nan)
        s1, s2 = ledger.keep(0.0), ledger.keep(0.0)
        d = where - at.old - s1.old  # from the first period
        s1.then(np.where(passage & (n.old == 1), where - at.old, s1.old))
        s2.then(np.where(passage & (n.old > 1), s2.old + d * d, s2.old))
        n.then(np.where(passage, n.old + 1, n.old))
        start.then(np.where(passage & (n.old == 0), where, start.old))
        at.then(np.where(passage, where, at.old))

        def lengths(a):
            return np.maximum(n.get(a) - 1, 0)

        def mean(a):
            whole = lengths(a)
            return _seen((at.get(a) - start.get(a)) / np.where(whole > 0, whole, 1), whole)

        def variance(a):
            off = mean(a) - s1.get(a)
            spread = s2.get(a) / np.where(lengths(a) > 0, lengths(a), np.nan) - off * off
            return np.maximum(spread, 0) * a.interval**2

        return {
            "": lambda a: mean(a) * np.abs(a.interval),
            ".count": lambda a: lengths(a).astype(np.int64),
            ".variance": variance,
        }

    return Reduction("periods", quantity, every, after, trace)


# ---- a user's own --------------------------------------------------------------------------------
def reduce(
    update: Callable[..., Any],
    initial: ArrayLike,
    *,
    every: int = 1,
    after: ArrayLike | None = None,
) -> Reduction:
    """Whatever a function makes of what is kept and of a state; traced, as forces are.

    Parameters
    ----------
    update : callable
        ``update(kept, t, x, v, ...)`` or ``update(kept, t, y, ...)`` -> kept after this step.
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
    start = numbers("initial", initial).astype(np.float64)
    if start.ndim > 1 or not start.size:
        raise ValueError(f"initial must be a number or a list of numbers, got {initial!r}")

    def trace(ledger):
        kept = [ledger.keep(float(value)) for value in start.ravel()]
        for item, symbol in zip(kept, ledger.update(update, kept, start.ndim), strict=True):
            item.then(symbol)
        if not start.ndim:
            return {"": kept[0].get}
        return {"": lambda a: np.stack([item.get(a) for item in kept], axis=-1)}

    return Reduction("reduce", update, every, after, trace)


def histogram(
    quantity: Quantity,
    bins: int,
    range: tuple[float, float],
    *,
    every: int = 1,
    after: ArrayLike | None = None,
) -> Reduction:
    """How many steps have the quantity in each bin, int64 (*batch, bins), as ``numpy.histogram``.

    Parameters
    ----------
    quantity : str or callable
    bins : int
        Of equal width; at most 1000.
    range : tuple of float
        The first and the last edge; what lies outside is not counted.
    every : int
    after : array_like, optional

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=62.83, save="final",
    ...                    watch={"x": pi.watch.histogram("x", 4, (-1, 1))})
    >>> int(sol.watched["x"].sum())
    6284
    """
    bins = integer("bins", bins, 1, 1000)
    edges = numbers("range", range).astype(np.float64)
    if edges.shape != (2,) or not np.all(np.isfinite(edges)) or not edges[0] < edges[1]:
        raise ValueError(f"range must be two finite numbers, the smaller first, got {range!r}")
    low, high = map(float, edges)

    def trace(ledger):
        edges = np.linspace(low, high, bins + 1)
        kept = ledger.tally(edges)
        return {
            "": lambda a: np.stack([item.whole(a) for item in kept], axis=-1),
            ".edges": lambda a: edges,
        }

    return Reduction("histogram", quantity, every, after, trace)
