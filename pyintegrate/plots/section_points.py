"""Plots of points: sections, their orbits in colours, return maps and bifurcation diagrams."""

from __future__ import annotations

from math import prod

import numpy as np

from ..analysis.results import unit_of, with_unit
from ..values.checks import some_of
from ..values.types import Any, Bifurcation, ReturnMap, Section
from .curves import parts_of_results
from .pictures import picture
from .style import BLUE, PALETTE, axis_label, on_ground

MANY = 2000  # points above which they are drawn as small as possible


@picture()
def section(
    page,
    section: Section,
    components: tuple[str, str] | None = None,
    **keywords: Any,
):
    """Draw the points of a Poincare section: curves are order, dust is chaos.

    Each orbit has its colour: six, in turn where there are more, as the picture says.

    Parameters
    ----------
    section : Section
        From ``pi.analysis.crossings`` or ``poincare_section``.
    components : tuple of str, optional
        The two to draw; by default the first position that varies over the points, and its
        velocity, or the first two that vary, or one over the time ("t").
    **keywords
        For `Axes.scatter`: s, c (an array of numbers, one for each point, such as
        ``section.system.energy(section.y)``), cmap, ...

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For unknown components, or a number of them other than two.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> found = pi.analysis.crossings(pi.systems.henon_heiles, "x", dt=0.05, t_end=200.0)
    >>> ax = section(found)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('y', 'vy')
    """
    known = "t", *section.system.state_names
    names = _two(section) if components is None else some_of("components", components, known)
    if len(names) != 2:
        raise ValueError(f"components must be two names, got {components!r}")
    ax = page((5.4, 4.6))
    own, note = _by_orbit(ax, section.system, section.batch, section.trajectory, keywords)
    note = note if len(section) else "no crossings"
    x, y = (section.t if name == "t" else section[name] for name in names)
    _dots(ax, x, y, own | keywords)
    right, up = (axis_label(section.system, name) for name in names)
    return ax, right, up, note


@picture(legend=False)
def return_map(
    page,
    returns: ReturnMap,
    **keywords: Any,
):
    """Draw a quantity at the next crossing against its value at this one, and where both agree.

    Parameters
    ----------
    returns : ReturnMap
        From ``pi.analysis.return_map``.
    **keywords
        For `Axes.scatter`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pyintegrate as pi
    >>> found = pi.analysis.crossings(pi.systems.spring, "v", direction=-1, dt=0.1, t_end=90.0)
    >>> ax = return_map(pi.analysis.return_map(found, "x"))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x [m]', 'next x [m]')
    """
    ax = page((5.0, 4.6))
    _dots(ax, returns.now, returns.then, keywords)
    if len(returns):
        both = np.concatenate([returns.now, returns.then])
        ends = [np.nanmin(both), np.nanmax(both)]
        ax.plot(ends, ends, color="0.6", linewidth=1, zorder=0.5)
    name = _named(returns.system, returns.quantity)
    return ax, name, f"next {name}"


@picture()
def bifurcation(
    page,
    diagram: Bifurcation,
    **keywords: Any,
):
    """Draw a bifurcation diagram: the long-term values of a quantity over a parameter.

    Parameters
    ----------
    diagram : Bifurcation
        From ``pi.analysis.bifurcation``.
    **keywords
        For `Axes.scatter`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> found = pi.analysis.bifurcation(
    ...     pi.systems.rossler, {"c": np.linspace(2, 6, 9)}, "x", section="y", dt=0.02,
    ...     transient=200.0, keep=20)
    >>> ax = bifurcation(found)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('c', 'x where y = 0')
    """
    ax = page((7.2, 4.4))
    system, batch = diagram.section.system, diagram.count.shape[1:]
    values = diagram.values.reshape(len(diagram.at), prod(batch), diagram.values.shape[-1])
    at, lane, _ = there = np.nonzero(~np.isnan(values))
    if diagram.at.size and diagram.parameter in system.params:  # of its batch one row
        system = system(**{diagram.parameter: diagram.at.flat[0]})
    own, note = _by_orbit(ax, system, batch, lane, keywords)
    _dots(ax, diagram.at[at], values[there], own | keywords)
    none = np.count_nonzero(diagram.count == 0)
    if none:
        note = f"{none:,} of {diagram.count.size:,} have no points" + f", {note}" * bool(note)
    right, up = (_named(system, name) for name in (diagram.parameter, diagram.quantity))
    if diagram.where:
        text = axis_label(system, f"{diagram.quantity} {diagram.where}")
        up = with_unit(text, unit_of(system, diagram.quantity))
    return ax, right, up, note


def _by_orbit(ax, system, batch, lane, keywords):
    """A colour for each point by its trajectory, if there are several; a few are named."""
    count = prod(batch)
    if count < 2 or {"c", "color"} & set(keywords):
        return {}, ""
    palette = np.array([on_ground(colour) for colour in PALETTE])
    for name, colour in zip(parts_of_results(system, batch), palette):
        ax.plot([], [], linestyle="", marker="o", markersize=4, color=colour, label=name)
    many = count > len(palette)
    note = f"{count:,} orbits in {len(palette)} colours" if many else ""
    return {"color": palette[lane % len(palette)]}, note


def _two(section):
    """A position and its velocity, or two components, that vary over the points."""
    names, lead = section.system.state_names, section.system.positions
    varied = [name for name in names if not (len(section) and np.ptp(section[name]) < 1e-9)]
    for pair in zip(names[:lead], names[lead:]):
        if {*pair} <= {*varied}:
            return pair
    if len(names) < 2:
        raise ValueError(f"a section is drawn by two components, {section.system.name!r} has one")
    if len(varied) == 1:  # v is 0 to rounding where v = 0
        return "t", *varied
    return tuple(sorted(names, key=lambda name: name not in varied)[:2])


def _named(system, name):
    known = name in system.state_names or name in system.params
    return axis_label(system, name) if known else name


def _dots(ax, x, y, keywords):
    few = len(x) <= MANY
    size = 6 if few else 1.5 if len(x) <= 10 * MANY else 0.3
    own = {"s": size, "linewidths": 0, "rasterized": not few}
    if not {"c", "color"} & set(keywords):
        own["color"] = on_ground(BLUE)
    return ax.scatter(x, y, **(own | keywords))
