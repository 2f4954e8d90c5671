"""Plot of the phase error against time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.phase import phase_drift as drift_of
from ..errors import one_record_warning
from .curves import against_time, collect
from .frame import finish, left_out, new_axes
from .style import axis_label, exact_look

if TYPE_CHECKING:
    from typing import Any

    from ..solution.solution import Solution
    from ..values.types import Axes, Labels


@one_record_warning()
def phase_drift(
    *sources: Any,
    reference: Solution | None = None,
    ax: Axes | None = None,
    legend: bool = True,
    exact: bool = True,
    labels: Labels | None = None,
    window: tuple[float, float] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw how far one or several solutions run ahead of the true motion, as an angle.

    Parameters
    ----------
    *sources : Solution or Comparison
        The solutions to draw; of a large batch 30 trajectories, with a note.
    reference : Solution, optional
        The solution to compare with; the exact one by default.
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes.
    exact : bool, optional
        Whether to draw the zero line.
    labels : dict or sequence of str, optional
        Legend text by method name, or of each solution.
    window : tuple of float, optional
        Draw only from one time to another.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.plot`; a `label` is the name in the legend.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If there is no phase, or nothing to compare it with.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = phase_drift(pi.integrate(pi.systems.oscillator, dt=0.5, t_end=50.0))
    >>> ax.get_ylabel()
    'phase error [rad]'
    """
    curves = collect(sources, labels, ax, keywords)
    drifts = [drift_of(curve.solution, reference) for curve in curves]
    ax = new_axes(ax, figsize)
    if exact:
        drawn = "exact" in [line.get_label() for line in ax.get_lines()]
        name = "exact" if reference is None and not drawn else "_nolegend_"
        ax.axhline(0.0, **(exact_look() | {"label": name}))
    for curve, drift in zip(curves, drifts, strict=True):
        against_time(ax, curve, np.asarray(drift), keywords, window, bands=True)
    label = axis_label(curves[0].solution.system, "t")
    return finish(ax, label, "phase error [rad]", legend, title, left_out(curves))
