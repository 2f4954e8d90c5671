"""``pi.across``: statistics of a quantity over the batch at each counted step, without storing it.

Each has options ``every=k`` (steps 0, k, 2k, ... only) and ``by=labels`` (one whole number for each
trajectory; results then have an axis of groups after that of times). Results are in ``sol.across``,
with dotted names: `.t`, `.count` (trajectories counted at each time), `.missing` (those that failed
or stopped before), `.nan` (of the counted, those whose value is NaN), `.groups` (the labels). Sums
are exact and counts whole numbers, so the bits depend on no order, split or number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from ...values.checks import floats, integer, numbers, printable, truth
from ...values.types import AcrossBatch, ArrayLike, Callable, Function, Quantity, Sequence
from ..quantity import check_quantity, label
from ..reduction import like
from .density import checked_edges
from .results import BINS, CELLS, EXTREMES, PRODUCT, SUM, VALUES, Across
from .results import merge as merge

__all__ = [
    "count", "covariance", "histogram", "maximum", "mean", "merge", "minimum", "quantiles", "std",
    "variance",
]  # fmt: skip

_NUMPY = {"max": "maximum", "min": "minimum", "average": "mean", "var": "variance",
          "cov": "covariance", "median": "quantiles(..., [0.5])", "quantile": "quantiles",
          "percentile": "quantiles"}  # fmt: skip


if not TYPE_CHECKING:  # for which such a module has any name

    def __getattr__(name):
        """Explain NumPy's names."""
        cure = f": it is pi.across.{_NUMPY[name]}" if name in _NUMPY else ""
        raise AttributeError(f"pi.across has no {name!r}{cure}")


class Statistic:
    """A statistic over the batch; made by the functions of ``pi.across``.

    Parameters
    ----------
    name : str
        The name of the function that made it.
    quantities : tuple of str or callable
    every : int
    by : array_like or None
    kinds : tuple of int
        Of accumulators: one for each quantity, or for each pair of them if of products.
    options : dict
    """

    def __init__(self, name, quantities, every, by, kinds, **options):
        self.name, self.quantities, self.options = name, quantities, options
        some = range(len(quantities))
        self.needs = [(kind, i, j) for kind in kinds for i in some
                      for j in (some[i:] if kind == PRODUCT else [i])]  # fmt: skip
        self.every, self.by = integer("every", every, 1), None
        if by is not None:
            try:
                labels = numbers("by", by)
            except TypeError:  # text or bool: refused below, with the cure
                labels = np.asarray(by)
            if labels.dtype.kind not in "iu":
                raise TypeError(
                    f"by must be whole numbers, one for each trajectory, got {labels.dtype}:"
                    " np.unique(labels, return_inverse=True)[1] makes them"
                )
            if labels.size and labels.max() > np.iinfo(np.int64).max:
                raise ValueError(f"by must be whole numbers below 2**63, got {labels.max()}")
            self.by = labels.astype(np.int64)  # int64 merged with uint64 would become float

    def grouped(self, by):
        """The same statistic of other groups."""
        same = copy(self)
        same.by = by
        return same

    @property
    def told(self):
        """Everything that parts of a batch must have in common, without functions."""
        told = {k: np.asarray(v).tolist() for k, v in self.options.items()}
        return (self.name, tuple(map(label, self.quantities)), self.every, str(told))

    def __repr__(self):
        return f"<pi.across.{self.name} of {', '.join(map(label, self.quantities))}>"


def _of_quantity(*kinds: int) -> Callable[[Function], AcrossBatch]:
    """Make the decorated function one of ``pi.across``, by accumulators of these kinds."""

    def called(function):
        def made(quantity: Quantity, *, every: int = 1, by: ArrayLike | None = None) -> Statistic:
            return Statistic(function.__name__, (quantity,), every, by, kinds)

        return like(made, function)

    return called


@_of_quantity(SUM)
def mean():
    """The mean of a quantity over the batch: the exact sum, rounded once, over the count.

    Parameters
    ----------
    quantity : str or callable
        As in ``pi.watch.last``.
    every : int
        Steps 0, every, 2 every, ...
    by : array_like of int, optional
        A label for each trajectory; results have an axis of groups, by increasing label.

    Returns
    -------
    Statistic

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, np.linspace(0, 1, 101), 0.0, dt=0.01,
    ...                    n_steps=100, save="final", across={"m": pi.across.mean("x", every=50)})
    >>> sol.across["m"].round(4), sol.across["m.t"]
    (array([0.5   , 0.4388, 0.2702]), array([0. , 0.5, 1. ]))
    """


@_of_quantity(SUM, PRODUCT)
def variance():
    """The variance over the batch, divided by the count: exact, rounded once; see ``mean``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.across.variance("x")
    <pi.across.variance of x>
    """


@_of_quantity(SUM, PRODUCT)
def std():
    """The standard deviation over the batch, the root of ``variance``; see ``mean``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.across.std("x")
    <pi.across.std of x>
    """


@_of_quantity(EXTREMES)
def minimum():
    """The least value in the batch; see ``mean``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.across.minimum("x")
    <pi.across.minimum of x>
    """


@_of_quantity(EXTREMES)
def maximum():
    """The largest value in the batch; see ``mean``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.across.maximum("x")
    <pi.across.maximum of x>
    """


def count(condition: Quantity, *, every: int = 1, by: ArrayLike | None = None) -> Statistic:
    """How many trajectories a condition holds for, int64; see ``mean``.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, np.linspace(0, 1, 101), 0.0, dt=0.01, n_steps=10,
    ...                    across={"far": pi.across.count(lambda t, x, v: x > 0.5, every=10)})
    >>> sol.across["far"]
    array([50, 50])
    """
    if not callable(condition):
        raise TypeError(
            f"condition must be a function, as lambda t, x, v: x > 0, got {condition!r}"
        )

    @wraps(condition)
    def holds(*arguments, **parameters):
        return np.where(condition(*arguments, **parameters) != 0, 1.0, 0.0)

    return Statistic("count", (holds,), every, by, (SUM,))


def quantiles(
    quantity: Quantity,
    q: ArrayLike,
    *,
    about: float = 0.0,
    exact: bool = False,
    every: int = 1,
    by: ArrayLike | None = None,
) -> Statistic:
    """Quantiles over the batch, shape (n_times, len(q)); see ``mean``.

    They come from counts in 256 cells an octave of |quantity - about|: each of the two order
    statistics that ``numpy.quantile`` interpolates between is known to 1/256 (0.4 %) of its
    distance from `about`, in memory that does not grow with the batch. Infinities are the outermost
    values; NaN is left out (`.nan`). Where the outer quantiles lie within 16 cells `.coarse` is
    True: choose `about` close to the band.

    Parameters
    ----------
    quantity : str or callable
    q : array_like
        In [0, 1].
    about : float
        The number around which the cells lie densest.
    exact : bool
        Keep all values, (n_times, trajectories), for exact quantiles as ``numpy.quantile``.
    every, by
        See ``mean``.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, np.linspace(0, 1, 101), 0.0, dt=0.01, n_steps=10,
    ...                    across={"band": pi.across.quantiles("x", [0.05, 0.5], every=10)})
    >>> sol.across["band"].shape, bool(abs(sol.across["band"][0, 1] / 0.5 - 1) < 0.004)
    ((2, 2), True)
    """
    levels = floats("q", q)
    if levels.ndim > 1 or not levels.size or not np.all((levels >= 0) & (levels <= 1)):
        raise ValueError(f"q must be numbers from 0 to 1, got {q!r}: percentages divided by 100")
    centre = numbers("about", about)
    if centre.ndim or not np.isfinite(centre):
        raise ValueError(f"about must be a finite number, got {about!r}")
    kinds = (VALUES,) if truth("exact", exact) else (CELLS, EXTREMES)
    return Statistic("quantiles", (quantity,), every, by, kinds,
                     q=np.atleast_1d(levels), about=float(centre), exact=exact)  # fmt: skip


def histogram(
    quantity: Quantity, bins: int, range: ArrayLike, *, every: int = 1, by: ArrayLike | None = None
) -> Statistic:
    """How many trajectories lie in each bin, int64 (n_times, bins); `.edges`; see ``mean``.

    Values outside the range, and NaN, are in no bin; the last bin has both its edges.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.across.histogram("x", 10, (0, 1))
    <pi.across.histogram of x>
    """
    if isinstance(bins, tuple | list):
        raise TypeError(f"bins must be one whole number, got {bins!r}")
    (edges,) = checked_edges(1, bins, range)
    return Statistic("histogram", (quantity,), every, by, (BINS,), edges=edges)


def covariance(
    quantities: Sequence[Quantity], *, every: int = 1, by: ArrayLike | None = None
) -> Statistic:
    """Covariances of several quantities over the batch, (n_times, k, k): exact, rounded once.

    Divided by the count, as ``variance``; see ``mean``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.across.covariance(("x", "v"))
    <pi.across.covariance of x, v>
    """
    if not isinstance(quantities, list | tuple) or not quantities:
        raise TypeError(f"covariance takes a tuple of quantities, got {quantities!r}")
    return Statistic("covariance", tuple(quantities), every, by, (SUM, PRODUCT))


def checked(across, system):
    """Check the argument `across` for a system; returned as a dict."""
    if not isinstance(across, Mapping):
        raise TypeError(
            f"across must be a dictionary, as {{'m': pi.across.mean('x')}}, got {across!r}"
        )
    for name, one in across.items():
        if not isinstance(name, str) or not name or "." in name:
            raise TypeError(f"across: a name must be text without a dot, got {name!r}")
        printable("across: a name", name)
        if not isinstance(one, Statistic):
            raise TypeError(
                f"across[{name!r}] must come from pi.across, as pi.across.mean('x'), got {one!r}"
            )
        for quantity in one.quantities:
            check_quantity(quantity, system)
    return dict(across)


def check_states(across):
    """Refuse statistics that need more than states at some times."""
    for name, one in across.items():
        if {"energy_error", "phase_drift"} & {*map(str, one.quantities)}:
            raise ValueError(
                f"across[{name!r}] compares with the start of the motion, and these are states at"
                " times: give a function of the state, or integrate"
            )


Across.__module__ = __name__
