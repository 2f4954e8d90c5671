"""Plot of the error against the cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.errors_and_costs import WorkPrecision, typical
from ..method.catalogue import methods
from .frame import finish, line_keywords, muted, new_axes, place_legend
from .log_axis import log_axis
from .style import looks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..values.types import Axes

LABELS = {
    "evaluations": "force evaluations",
    "seconds": "seconds for one trajectory of a batch",
}


def work_precision(
    found: WorkPrecision,
    *,
    of: str = "evaluations",
    ax: Axes | None = None,
    legend: bool = True,
    labels: Mapping[Any, str] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw error against cost: the lower the curve at a given cost, the better the method.

    Parameters
    ----------
    found : WorkPrecision
        The result of `pyintegrate.analysis.work_precision`; for a batch the median is drawn.
    of : {"evaluations", "seconds"}, optional
        The measure of the cost.
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes, the cheapest to a millionth first.
    labels : dict, optional
        Legend text by method name.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes
        Both axes are logarithmic.

    Raises
    ------
    TypeError, ValueError
        For anything else, or times that were not measured.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> found = pi.analysis.work_precision(pi.systems.oscillator, ["rk4", "midpoint"],
    ...                                    seconds=False)
    >>> work_precision(found).get_xlabel()
    'force evaluations'
    """
    if not isinstance(found, WorkPrecision):
        kind = type(found).__name__
        raise TypeError(
            f"work_precision draws what pi.analysis.work_precision returned, got {kind}"
        )
    if of not in LABELS:
        raise ValueError(f"of must be one of {', '.join(LABELS)}, got {of!r}")
    if of == "seconds" and not found.timed:
        raise ValueError("no seconds were taken: measure with work_precision(..., seconds=True)")
    ax, keywords = new_axes(ax, figsize, (8.4, 4.6)), line_keywords(keywords)
    style = looks(found)
    for name in sorted(found, key=lambda name: _rank(found, name)):
        _, evaluations, seconds, errors = found[name]
        error = typical(errors)
        with np.errstate(invalid="ignore"):
            error = np.where((error > found.floor / 10) & (error < 3), error, np.nan)
        text = methods[name].title if name in methods else name
        look = {"markersize": 3, "linewidth": 1.3, "label": (labels or {}).get(name, text)}
        spent = evaluations if of == "evaluations" else seconds
        ax.plot(spent, error, **(style[name] | look | keywords))
    log_axis(ax, "x", "y")
    finish(ax, LABELS[of], "error, relative to the motion", False, title)
    ax.annotate(
        "better", (0.03, 0.04), (0.10, 0.13), xycoords="axes fraction", textcoords="axes fraction",
        fontsize=9, arrowprops={"arrowstyle": "->"} | muted(), **muted(),
    )  # fmt: skip
    if legend:
        place_legend(ax, 0.6, fontsize=9)
    return ax


def _rank(found, name):
    """Cost of an error of a millionth, or else the distance from it."""
    cost = found.cost(name, 1e-6)
    return (0, cost) if np.isfinite(cost) else (1, float(np.min(typical(found[name][3]))))
