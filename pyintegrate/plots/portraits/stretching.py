"""Maps of finite-time Lyapunov exponents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frame import finish, new_axes
from ..style import axis_label, unit_of, with_unit

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.portraits.flow_maps import FlowMap
    from ...values.types import Axes


def ftle(
    found: FlowMap,
    *,
    ax: Axes | None = None,
    colorbar: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw finite-time Lyapunov exponents: colours over a grid of two axes, a curve over one.

    Parameters
    ----------
    found : FlowMap
        From ``pi.analysis.ftle``; its first axis is drawn to the right.
    ax : Axes, optional
        Where to draw; a new figure by default.
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

    Raises
    ------
    ValueError
        For more than two axes.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> grid = {"theta": np.linspace(-4, 4, 40), "omega": np.linspace(-7, 7, 30)}
    >>> ax = ftle(pi.analysis.ftle(pi.systems.pendulum, grid, 3.0, dt=0.02))
    >>> ax.get_xlabel()
    'θ [rad]'
    """
    system, values = found.solution.system, found.values
    if values.ndim > 2 or values.ndim != len(found.axes):
        raise ValueError(f"a map has one or two axes, got values of shape {values.shape}")
    ax = new_axes(ax, figsize, (7.0, 4.0))
    text = with_unit("finite-time Lyapunov exponent", f"1/{unit_of(system, 't')}")
    labels = [axis_label(system, name) for name in found.axes]
    if values.ndim == 1:
        ax.plot(*found.axes.values(), values, **keywords)
        return finish(ax, labels[0], text, legend=False, title=title)
    own = {"cmap": "inferno", "shading": "nearest", "rasterized": True}
    mesh = ax.pcolormesh(*found.axes.values(), values.T, **own | keywords)
    if colorbar:
        ax.figure.colorbar(mesh, ax=ax, label=text)
    return finish(ax, labels[0], labels[1], legend=False, title=title)
