"""Picture: which start leads to which attractor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from ..frame import legend_below, new_axes, say
from ..heat_maps import CLASSES, FAILED, colour, coordinates
from ..style import axis_label, unit_of

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.basins import Basins
    from ...values.types import ArrayLike, Axes

NAMED = len(CLASSES)  # attractors that have a colour of their own; the others share the last


def basin_map(
    found: Basins,
    *,
    x: str | ArrayLike | None = None,
    y: str | ArrayLike | None = None,
    ax: Axes | None = None,
    legend: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw the basins of attraction of a batch of two axes, with a legend of the attractors.

    Parameters
    ----------
    found : Basins
        Of ``pi.analysis.basin``.
    x, y : str or array_like, optional
        What varies along the columns and the rows, as of ``heatmap``.
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to say where each attractor is, and how many of the starts it gets. Of more than
        six the commonest have a colour of their own. Those that lie in the plane of the picture are
        marked in it.
    title : str, optional
        Above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.pcolormesh`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For another shape of batch than (n, m).

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> well = pi.systems.duffing(gamma=0.0)
    >>> position, speed = np.linspace(-2, 2, 30), np.linspace(-2, 2, 20)[:, np.newaxis]
    >>> sol = pi.integrate(well, position, speed, dt=0.1, t_end=100.0, save="final")
    >>> ax = basin_map(pi.analysis.basin(sol))
    >>> ax.get_xlabel(), len(ax.figure.legends[0].get_texts())
    ('initial x [m]', 2)
    """
    solution, label = found.solution, np.asarray(found.label)
    if label.ndim != 2 or 0 in label.shape:
        raise ValueError(
            f"basins are drawn of a batch with two axes, and this one has the shape {label.shape}:"
            " give starts or parameters of the shapes (m,) and (n, 1)"
        )
    if solution is None:
        axes = [(np.arange(n, dtype=float) if given is None else np.asarray(given, float), "")
                for n, given in zip(label.shape[::-1], (x, y), strict=True)]  # fmt: skip
    else:
        axes = [coordinates(solution, x, 1), coordinates(solution, y, 0)]
    (columns, x_label), (rows, y_label) = axes
    ax = new_axes(ax, figsize, (6.2, 5.2))
    shown = np.minimum(label, NAMED - 1)
    colour(ax, columns, rows, shown, "", None, False, False, "", False, keywords)
    ax.set(xlabel=x_label, ylabel=y_label)
    _mark(ax, found, x_label, y_label)
    say(ax, title)
    if legend and not {"cmap", "norm"} & set(keywords):
        _explain(ax, found, shown)
    return ax


def _mark(ax, found, *labels):
    """A dot at each attractor where the axes are the components that tell it."""
    named = {f"initial {axis_label(found.system, name)}": i
             for i, name in enumerate(found.components)}  # fmt: skip
    if set(labels) <= set(named) and len(found.attractors):
        places = [found.attractors[:NAMED, named[text]] for text in labels]
        limits = ax.get_xlim(), ax.get_ylim()  # what lies beyond the picture is not in it
        ax.plot(*places, "o", color="white", markeredgecolor="black", markersize=6, zorder=3)
        ax.set(xlim=limits[0], ylim=limits[1])


def _explain(ax, found, shown):
    """A patch for each colour: where the attractor is, and its share of the starts."""
    share, count = found.share(), len(found.attractors)
    handles = []
    for number in range(min(count, NAMED)):
        text, part = _place(found, number), share[number]
        if number == NAMED - 1 and count > NAMED:
            text, part = f"{count - number} others", share[number:].sum()
        handles.append(Patch(color=CLASSES[number], label=f"{text}: {100 * part:.3g} %"))
    if np.any(shown < 0):
        part = np.mean(shown < 0)
        handles.append(Patch(color=FAILED, label=f"none: {100 * part:.3g} %"))
    names = [handle.get_label() for handle in handles]
    if ax.figure.get_layout_engine() is None:
        ax.legend(handles, names, loc="best")
    else:
        legend_below(ax.figure, handles, names)


def _place(found, number):
    """Where an attractor is, in words."""
    parts = []
    for name, value in zip(found.components, found.attractors[number], strict=True):
        text = axis_label(found.system, name).split(" [")[0]
        value = 0.0 if abs(value) < 5e-4 * np.abs(found.attractors).max() else value
        number = f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
        parts.append(f"{text} = {number} {unit_of(found.system, name)}".strip())
    return ", ".join(parts)
