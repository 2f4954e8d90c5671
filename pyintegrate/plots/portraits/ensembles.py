"""Plots of statistics across the batch: bands over time, and histograms over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..frame import finish, new_axes
from ..style import axis_label

if TYPE_CHECKING:
    from typing import Any

    from ...values.types import Axes

PATHS = 5  # trajectories drawn with a fan


def fan(
    solution: Any,
    name: str,
    *,
    group: int | None = None,
    paths: int = PATHS,
    ax: Axes | None = None,
    legend: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw quantiles across the batch against time: bands, the innermost as a line.

    Parameters
    ----------
    solution : Solution or Across
        With ``across={name: pi.across.quantiles(...)}``.
    name : str
    group : int, optional
        The label of a group, for quantiles with ``by=``.
    paths : int
        How many trajectories to draw too, where the quantity is a component and its states were
        saved.
    ax, legend, title, figsize
        As in ``energy``.
    **keywords
        For `Axes.plot` of the line in the middle.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        What has this name is not of quantiles; there is no such group.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.pendulum(length=np.linspace(0.9, 1.1, 1000)), dt=0.01,
    ...                    n_steps=500, save=10, across={
    ...                        "band": pi.across.quantiles("theta", [0.05, 0.5, 0.95], every=10)})
    >>> fan(sol, "band").get_ylabel()
    'θ [rad]'
    """
    across, asked = _asked(solution, name, "quantiles")
    t, values = across[f"{name}.t"], _of_group(across, name, asked, group)
    order = np.argsort(asked.options["q"])
    q, values = asked.options["q"][order], values[:, order]
    ax = new_axes(ax, figsize)
    own, component = across is not solution, asked.told[1][0]
    if own and component in solution.components and group is None:
        states = solution[component].reshape(len(solution.t), -1)
        if len(solution.t) > 1 and solution.t.ndim == 1:
            some = np.unique(np.linspace(0, states.shape[1] - 1, paths).round().astype(int))
            ax.plot(solution.t, states[:, some], color="0.6", linewidth=0.6, zorder=1)
    middle = keywords.pop("color", "C0")
    for i in range(len(q) // 2):
        told = f"{100 * q[i]:g} % to {100 * q[-1 - i]:g} %"
        ax.fill_between(t, values[:, i], values[:, -1 - i], color=middle, alpha=0.25,
                        linewidth=0, label=told)  # fmt: skip
    if len(q) % 2:
        half = len(q) // 2
        told = "median" if q[half] == 0.5 else f"{100 * q[half]:g} %"
        ax.plot(t, values[:, half], **{"color": middle, "label": told} | keywords)
    return _labelled(ax, solution, own, component, legend, title)


def histogram_over_time(
    solution: Any,
    name: str,
    *,
    group: int | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw a histogram across the batch at each time, as an image over time and value.

    Parameters
    ----------
    solution : Solution or Across
        With ``across={name: pi.across.histogram(...)}``.
    name : str
    group : int, optional
        The label of a group, for a histogram with ``by=``.
    ax, title, figsize
        As in ``energy``.
    **keywords
        For `Axes.pcolormesh`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        What has this name is not a histogram of two times or more; there is no such group.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.duffing, np.linspace(-1, 1, 1000), 0.0, dt=0.01, n_steps=500,
    ...                    save="final", across={
    ...                        "x": pi.across.histogram("x", 50, (-2, 2), every=10)})
    >>> histogram_over_time(sol, "x").get_ylabel()
    'x [m]'
    """
    across, asked = _asked(solution, name, "histogram")
    t, counts = across[f"{name}.t"], _of_group(across, name, asked, group)
    if len(t) < 2:
        raise ValueError(f"{name!r} has {len(t)} time, and a picture over time needs two: every=")
    between = (t[1:] + t[:-1]) / 2
    edges = np.concatenate([[t[0] - (between[0] - t[0])], between, [t[-1] + (t[-1] - between[-1])]])
    ax = new_axes(ax, figsize)
    image = ax.pcolormesh(edges, across[f"{name}.edges"], counts.T, **keywords)
    ax.figure.colorbar(image, ax=ax, label="trajectories")
    return _labelled(ax, solution, across is not solution, asked.told[1][0], False, title)


def _asked(solution, name, kind):
    across = getattr(solution, "across", solution)
    asked = across._asked.get(name)
    if asked is None or asked.name != kind:
        known = [key for key, one in across._asked.items() if one.name == kind]
        raise ValueError(
            f"{name!r} is no {kind} across the batch; there are {', '.join(known) or 'none'}:"
            f" integrate with across={{{name!r}: pi.across.{kind}(...)}}"
        )
    return across, asked


def _of_group(across, name, asked, group):
    if (group is None) != (asked.groups is None):
        raise ValueError(f"group must be {'left out' if asked.groups is None else 'a label'}")
    if group is None:
        return across[name]
    at = np.flatnonzero(asked.groups == group)
    if not at.size:
        raise ValueError(f"group must be one of {asked.groups.tolist()}, got {group!r}")
    return across[name][:, at[0]]


def _labelled(ax, solution, own, quantity, legend, title):
    if not own:
        return finish(ax, "time", quantity, legend, title)
    system = solution.system
    return finish(ax, axis_label(system, "t"), axis_label(system, quantity), legend, title)
