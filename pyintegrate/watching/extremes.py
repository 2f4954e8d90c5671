"""Reductions to one value and its time: the last, the first, the largest."""

import numpy as np

from .later import START, STEP
from .reduction import of_quantity


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
