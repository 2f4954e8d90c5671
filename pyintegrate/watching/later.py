"""Numbers that are known when a run has ended, and formulas of them: results of watches."""

import operator
from functools import partial

import numpy as np

from ..values.named import Named


class Totals(Named):
    """The final values of accumulators, from which results are made.

    Attributes
    ----------
    values : ndarray, shape (sums, *batch)
    interval : float or ndarray
        Time between successive steps that count.
    count : ndarray
        How many steps count, if only ``every`` selects them.
    start : float or ndarray
        The time of step 0.
    step : float or ndarray
        The step of the run: step n is at start + n step.
    unit : ndarray or None
        The unit in which the core keeps the relative change of the energy.
    images : list of ndarray
        Densities, for the batch as a whole.
    timed : ndarray or None
        The numbers of reductions over time: (numbers, *batch).
    began : int or ndarray
        How many steps counted before a trajectory restarted, in a Stepper that resets.
    """


def later(function):
    """A function of numbers that may be known later, as its result is then.

    Examples
    --------
    >>> float(value_of(later(np.sqrt)(INTERVAL), Totals(interval=9.0)))
    3.0
    """

    def made(*arguments):
        return Later(lambda totals: function(*[value_of(a, totals) for a in arguments]))

    return made


class Later:
    """A number of each trajectory: operations and functions of NumPy on it are done later.

    Its `whole` is the integer, -1 for NaN.

    Parameters
    ----------
    of : callable
        Totals -> array.

    Examples
    --------
    >>> half = np.where(INTERVAL > 1, INTERVAL / 2, 0)
    >>> float(value_of(half, Totals(interval=3.0)))
    1.5
    """

    __slots__ = ("of",)

    def __init__(self, of):
        self.of = of

    def __array_function__(self, function, types, arguments, keywords):
        return later(partial(function, **keywords))(*arguments)

    def __array_ufunc__(self, ufunc, method, *arguments):
        return later(ufunc)(*arguments)

    # Without NumPy's dispatch, which takes several times as long.
    __add__, __sub__, __mul__, __truediv__ = map(
        later, (operator.add, operator.sub, operator.mul, operator.truediv)
    )
    __gt__, __lt__, __eq__ = map(later, (operator.gt, operator.lt, operator.eq))  # type: ignore
    __rmul__, __getitem__ = __mul__, later(operator.getitem)

    whole = property(later(lambda value: np.where(np.isnan(value), -1, value).astype(np.int64)))


def value_of(result, totals):
    """The value of a result: a Later, or what is known already."""
    return result.of(totals) if isinstance(result, Later) else result


INTERVAL, COUNT, START, STEP, UNIT, BEGAN = (
    Later(operator.attrgetter(name))
    for name in ("interval", "count", "start", "step", "unit", "began")
)


@later
def side_by_side(*results):
    """Several as one with an axis of them, the last."""
    return np.stack(results, axis=-1)


@later
def seen(values, count):
    """The values, NaN where none counted, or a condition does not hold."""
    return np.where(count > 0, values, np.nan)
