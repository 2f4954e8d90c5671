"""Frequency maps of batches, and spectra of single motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..frame import finish, new_axes
from ..heat_maps import coordinates
from ..style import BLUE, on_ground, unit_of, with_unit

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.portraits.spectral_lines import Frequencies
    from ...values.types import Axes

LEAST = 1e-16  # of the logarithm of a drift


def frequencies(
    found: Frequencies,
    *,
    ax: Axes | None = None,
    colorbar: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw frequencies: the frequency map of a batch, or the spectrum of a single motion.

    A batch with two signals or more is a point for each trajectory, at the leading frequencies of
    the first two, coloured by how much these drift: lines of points are order, scattered ones
    chaos, gaps resonances. A batch of one axis with one signal is its frequency along that axis.

    Parameters
    ----------
    found : Frequencies
        From ``pi.analysis.frequencies``.
    ax : Axes, optional
        Where to draw; a new figure by default.
    colorbar : bool, optional
        Whether to draw the scale of the colours beside the axes.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.scatter`, or `Axes.plot`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For a batch of several axes with one signal.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> found = pi.analysis.frequencies(
    ...     pi.systems.pendulum, 1, np.linspace(0.1, 3.1, 50), 0.0, dt=0.02, t_end=60.0)
    >>> ax = frequencies(found)
    >>> ax.get_ylabel()
    'frequency of theta [rad/s]'
    """
    *batch, m, _ = found.values.shape
    ax, names = new_axes(ax, figsize, (6.2, 4.4)), found.signals
    unit = f"rad/{unit_of(found.solution.system, 't')}"
    label = [with_unit(f"frequency of {name}", unit) for name in names]
    if not batch:
        for name, w, a in zip(names, found.values, np.abs(found.amplitudes), strict=True):
            ax.plot(w, a, **{"linestyle": "none", "marker": "o", "label": name} | keywords)
            ax.vlines(w, 0, a, linewidth=0.8, color=ax.lines[-1].get_color())
        ax.set_ylim(bottom=0)
        return finish(ax, with_unit("frequency", unit), "amplitude", title=title)
    first = found.values[..., 0]
    if m == 1:
        if len(batch) > 1:
            raise ValueError(
                f"a frequency map needs two signals, and the batch {tuple(batch)} has one: draw"
                " found.values with pi.plots.heatmap"
            )
        at, x_label = coordinates(found.solution, None, 0)
        ax.plot(at, first[:, 0], **{"color": on_ground(BLUE)} | keywords)
        return finish(ax, x_label, label[0], legend=False, title=title)
    drift = np.log10(np.maximum(found.drifts[..., :2].max(axis=-1), LEAST)).ravel()
    own = {"s": 4, "c": drift, "cmap": "inferno", "linewidths": 0}
    points = ax.scatter(first[..., 0].ravel(), first[..., 1].ravel(), **own | keywords)
    if colorbar and points.get_array() is not None:
        text = with_unit("log10 of the drift between halves", unit)
        ax.figure.colorbar(points, ax=ax, label=text)
    return finish(ax, label[0], label[1], legend=False, title=title)
