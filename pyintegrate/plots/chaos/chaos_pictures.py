"""Maps of indicators of chaos."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..frame import finish, new_axes
from ..heat_maps import coordinates, heatmap
from ..log_axis import log_axis, log_spaced
from ..style import BLUE, on_ground, unit_of, with_unit

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.chaos.indicators import ChaosMap
    from ...values.types import ArrayLike, Axes

_WORDS = {"fli": "fast Lyapunov indicator", "megno": "MEGNO", "sali": "SALI", "gali": "GALI"}
_NEAR_ZERO = {"sali", "gali"}  # chaos is decades below order


def chaos_map(
    found: ChaosMap,
    *,
    x: str | ArrayLike | None = None,
    y: str | ArrayLike | None = None,
    ax: Axes | None = None,
    label: str | None = None,
    log: bool | None = None,
    colorbar: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw an indicator of chaos: colours for a batch of two axes, a curve for one.

    Parameters
    ----------
    found : ChaosMap
        From ``pi.chaos_map``.
    x, y : str or array_like, optional
        The quantities that vary along the columns and the rows, as in ``heatmap``.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        Label of the colours, or of the curve's axis.
    log : bool, optional
        Whether the indicator is shown logarithmically; SALI and GALI are by default.
    colorbar : bool, optional
        Whether to draw the scale of the colours beside the axes.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.pcolormesh`, or `Axes.plot`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> pendulums = pi.systems.duffing(gamma=np.linspace(0.2, 0.5, 30))
    >>> ax = chaos_map(pi.chaos_map(pendulums, dt=0.02, t_end=100.0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('gamma [m/s^2]', 'fast Lyapunov indicator')
    """
    solution, values = found.solution, found.values
    log = found.indicator in _NEAR_ZERO if log is None else log
    text = label or _text(found)
    if values.ndim == 2 and values.size:
        return heatmap(
            solution, values, x=x, y=y, ax=ax, label=text, log=log, colorbar=colorbar, title=title,
            figsize=figsize, **{"cmap": "inferno"} | keywords,
        )  # fmt: skip
    if values.ndim != 1:
        raise ValueError(
            f"the map has the shape {values.shape}: a picture shows one or two axes; draw a part of"
            " its values with Matplotlib"
        )
    columns, x_label = coordinates(solution, x, 0)
    ax = new_axes(ax, figsize, (6.6, 3.8))
    ax.plot(columns, values, **{"color": on_ground(BLUE)} | keywords)
    log_axis(ax, *"x" * log_spaced(columns), *"y" * bool(log and np.any(values > 0)))
    return finish(ax, x_label, text, legend=False, title=title)


def _text(found):
    if found.indicator == "lyapunov":
        return with_unit("Lyapunov exponent", f"1/{unit_of(found.solution.system, 't')}")
    return _WORDS[found.indicator]
