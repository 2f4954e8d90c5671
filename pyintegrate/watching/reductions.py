"""``pi.watch``: reductions of a quantity over the steps, without storing the states.

Each has options ``every=k`` (steps 0, k, 2k, ... only) and ``after=t`` (no steps before that
time). Results are in ``sol.watched``.
"""

from typing import TYPE_CHECKING

from .batch.density import density
from .counts import (
    count,
    entries,
    first_time,
    histogram,
    periods,
    reduce,
    time_within,
    windings,
)  # fmt: skip
from .extremes import first, last, max_abs, maximum, minimum
from .reduction import Reduction as Reduction
from .sums import integral, mean, rms, slope, std, total, variance

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
