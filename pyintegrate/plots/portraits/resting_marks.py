"""Marks of equilibria: filled where stable, open where not, half where a saddle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib
import numpy as np

from ..frame import finish, new_axes
from ..style import axis_label

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.portraits.resting_points import Equilibria
    from ...values.types import Axes

FILLS = {"stable": "full", "unstable": "none", "neutral": "none"}
SHAPES = {"node": "o", "focus": "D", "saddle": "s", "centre": "o", "degenerate": "v"}


def equilibria(
    found: Equilibria,
    *,
    components: tuple[str, str] | str | None = None,
    ax: Axes | None = None,
    legend: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw equilibria by kind, in a plane or over a parameter.

    Stable ones are filled, unstable ones open; saddles are squares, half filled.

    Parameters
    ----------
    found : Equilibria
        Of one set of parameters, or of a batch of one axis.
    components : str or tuple of two str, optional
        The plane to draw, or the component over the parameter; by default the first of the box.
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to name the kinds.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For a batch of several axes.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> systems = pi.systems.duffing(gamma=0.0, alpha=np.linspace(-1, 1, 41))
    >>> ax = equilibria(pi.analysis.equilibria(systems, {"x": (-2, 2)}, n=64))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('α [1/s^2]', 'x [m]')
    """
    system, over = found.system, found.count.ndim
    if over > 1:
        raise ValueError(f"equilibria are drawn of one parameter, got a batch {found.count.shape}")
    names = found.box.names if components is None else components
    names = (names,) if isinstance(names, str) else names
    if not over:  # a plane: also of a single component
        names = [*names, *(name for name in system.state_names if name not in names)]
    x, y = (
        found.points[..., system.state_names.index(name)] if name in system.state_names else None
        for name in [*names[: 2 - over], *names[:over], "-"][:2]
    )
    label = [axis_label(system, name) for name in names[:2]]
    if over:
        varied = [name for name, shape in system.batch_shapes.items() if shape]
        at = system.params[varied[0]] if varied else np.arange(len(found.count))
        x, label = np.broadcast_to(at[:, np.newaxis], found.kinds.shape), [
            axis_label(system, varied[0]) if varied else "batch", label[0]]  # fmt: skip
        keywords = {"markersize": 3.0, "markeredgewidth": 0.6} | keywords
    elif y is None:
        y, label = np.zeros_like(x), [label[0], ""]
    ax = new_axes(ax, figsize, (7.2, 4.4))
    mark(ax, x, y, found, keywords)
    xlabel, ylabel = label
    return finish(ax, xlabel, ylabel, legend=legend, title=title)


def mark(ax, x, y, found, keywords):
    """A mark at each equilibrium, with a name in the legend for each kind."""
    colour = matplotlib.rcParams["text.color"]
    ground = ax.get_facecolor()
    for kind in sorted(set(found.kinds.flat) - {""}, key=_stable_first):
        which = found.kinds == kind
        for stability in sorted(set(found.stability[which])):
            here = which & (found.stability == stability)
            name = kind if stability in kind or kind == "centre" else f"{kind} ({stability})"
            saddle = kind.startswith("saddle")
            shape = next(mark for word, mark in SHAPES.items() if word in kind)
            own = {
                "linestyle": "none", "marker": shape, "markersize": 7.0, "color": colour,
                "fillstyle": "left" if saddle else "full", "markerfacecoloralt": ground,
                "markerfacecolor": colour if saddle or FILLS[stability] == "full" else ground,
                "zorder": 4, "label": kind if saddle else name,
            }  # fmt: skip
            ax.plot(x[here], y[here], **(own | keywords))


def _stable_first(kind):
    return ("stable" not in kind or "unstable" in kind, kind)
