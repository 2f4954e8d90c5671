"""Plot of the regions of the complex plane in which methods are stable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.regions import StabilityRegion, joined
from ..analysis.regions import stability_region as region_of
from .frame import finish, line_keywords, muted, new_axes
from .style import looks, title_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..values.types import Axes


def stability_region(
    *sources: Any,
    extent: tuple[float, float, float, float] | None = None,
    ax: Axes | None = None,
    legend: bool = True,
    labels: Mapping[Any, str] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw the boundary of the stability regions of one or several methods; the inside is stable.

    Parameters
    ----------
    *sources : str, Method or StabilityRegion, or sequences of them
        The methods or regions to draw.
    extent : tuple of float, optional
        Least and greatest Re z, least and greatest Im z for regions that are computed here.
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes.
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
        z = lambda dt: damping to the left, oscillation upwards.

    Raises
    ------
    TypeError
        If there is nothing to draw.

    Examples
    --------
    >>> ax = stability_region("rk4", "semi_implicit_euler")
    >>> ax.get_xlabel()
    'Re λ dt  (damping)'
    """
    regions = list(_regions(sources, extent))
    if not regions:
        raise TypeError("there is nothing to draw: give one or more methods or regions")
    keywords = line_keywords(keywords)
    ax = new_axes(ax, figsize, (6.6, 4.6), layout="compressed")
    axes = {"color": muted()["color"], "alpha": 0.25, "linewidth": 0.8, "zorder": 0.5}
    ax.axhline(0, **axes)
    ax.axvline(0, **axes)
    style = looks(region.method.name for region in regions)
    for region in regions:
        name = region.method.name
        if len(regions) <= 3:
            # Shades that add up: where two regions overlap, both methods are stable.
            ax.contourf(
                region.real, region.imaginary, region.stable.astype(float), levels=[0.5, 1.5],
                colors=[style[name]["color"]], alpha=0.12,
            )  # fmt: skip
        label = (labels or {}).get(name, title_of(region.method))
        for line in joined(region.boundary):
            look = {"linewidth": 1.5, "label": label} | style[name] | {"marker": ""}
            ax.plot(line.real, line.imag, **(look | keywords))
            label = "_nolegend_"
    left, right, bottom, top = (
        pick([limit[i] for limit in map(_limits, regions)])
        for i, pick in enumerate((min, max, min, max))
    )
    ax.set(xlim=(left, right), ylim=(bottom, top))
    ax.set_aspect("equal", adjustable="box")
    return finish(ax, "Re λ dt  (damping)", "Im λ dt  (oscillation, ω dt)", legend, title)


def _regions(sources, extent):
    for source in sources:
        if isinstance(source, StabilityRegion):
            yield source
        elif isinstance(source, str) or hasattr(source, "coefficients"):
            yield region_of(source, extent=extent)
        else:
            yield from _regions(source, extent)


def _limits(region):
    return region.real[0], region.real[-1], region.imaginary[0], region.imaginary[-1]
