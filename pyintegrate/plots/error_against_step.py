"""Plot of the error against the step, with the fitted order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.errors_and_costs import Convergence, typical
from .frame import finish, line_keywords, muted, new_axes, place_legend
from .log_axis import log_axis
from .style import looks, unit_of, with_unit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..values.types import Axes


def convergence(
    found: Convergence,
    *,
    ax: Axes | None = None,
    legend: bool = True,
    labels: Mapping[Any, str] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw errors over dt with the fitted orders: straight lines, the steeper the better.

    Parameters
    ----------
    found : Convergence
        The result of `pyintegrate.analysis.convergence`; for a batch the median is drawn.
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes: highest order first, with the measured order.
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
        Both axes are logarithmic. Points are errors, lines the fits, over the range used.

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = convergence(pi.analysis.convergence(pi.systems.oscillator, ["rk4", "midpoint"]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['4.0   classical Runge-Kutta', '2.0   explicit midpoint']
    """
    if not isinstance(found, Convergence):
        raise TypeError(
            f"convergence draws what pi.analysis.convergence returned, got {type(found).__name__}"
        )
    ax, keywords = new_axes(ax, figsize, (8.4, 4.6)), line_keywords(keywords)
    style = looks(found)
    for name in sorted(found, key=lambda name: -np.nan_to_num(found[name].order)):
        fit, error = found[name], typical(found.errors[name])
        with np.errstate(invalid="ignore"):
            shown = np.where(np.isfinite(error) & (error > 0) & (error < 10), error, np.nan)
        label = (labels or {}).get(name, found.methods[name].title)
        order = f"{fit.order:.1f}" if fit.points else " - "
        look = {"markersize": 3.5, "linestyle": "", "label": f"{order}   {label}"}
        ax.plot(found.dt, shown, **(style[name] | look | keywords))
        if fit.points:
            ends = np.array([fit.dt_min, fit.dt_max])
            look = {"marker": "", "linewidth": 1.6, "alpha": 0.7, "label": "_nolegend_"}
            ax.plot(ends, fit.constant * ends**fit.order, **(style[name] | look | keywords))
    log_axis(ax, "x", "y")
    floor = float(np.max(found.floor, initial=0.0))
    low, high = ax.get_ylim()
    if low < 10 * floor:
        ax.axhspan(low, floor, color=muted()["color"], alpha=0.08, zorder=0, linewidth=0)
        thin = floor < 4 * low  # a band too narrow for a line of text
        ax.text(
            0.99, floor, "rounding " if floor < 1e-12 else "the reference is no better ",
            transform=ax.get_yaxis_transform(), ha="right", va="bottom" if thin else "top",
            fontsize=9, **muted(),
        )  # fmt: skip
        ax.set_ylim(low, high)
    unit = unit_of(found.system, "t")
    finish(ax, with_unit("dt", unit), "error, relative to the motion", False, title)
    if legend:
        place_legend(ax, 0.6, 1, fontsize=9, title="measured order", alignment="left")
    return ax
