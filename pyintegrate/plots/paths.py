"""Plot of the motion, against time or along its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.observables import start_time
from .bodies import draw_bodies, letter_label, letters_of
from .curves import (
    Curve,
    against_time,
    batch_of,
    collect,
    draw_exact,
    draw_path,
    exact_curve,
    keep_in_view,
    same_motion,
)
from .frame import final_only, finish, left_out, line_keywords, new_axes
from .style import axis_label, exact_look
from .thinning import POINTS, batch_size, chosen_trajectories, envelope, orbit, spread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..values.types import Axes, Labels

EACH = 120  # steps in a window up to which each is marked: more would be a thick line


def trajectory(
    *sources: Any,
    components: str | Sequence[str] | None = None,
    ax: Axes | None = None,
    legend: bool = True,
    exact: bool = True,
    labels: Labels | None = None,
    window: tuple[float, float] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw the motion of one or several solutions: one component against time, or a path.

    For several bodies (`n_body`) each one's path is drawn, in its own colour and with its name.

    Parameters
    ----------
    *sources : Solution or Comparison
        The solutions to draw; of a large batch 30 trajectories, with a note.
    components : str or sequence of str, optional
        One name: against time. Two: the path in their plane. Three: the path in space. By
        default the position for one degree of freedom against time, for two or three the path. For
        several bodies ("x", "y") are those of all of them.
    ax : Axes, optional
        Where to draw (three-dimensional for three components); a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes.
    exact : bool, optional
        Whether to draw the exact motion, if there is one.
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
        For unknown components, or some that were not saved.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = trajectory(pi.integrate(pi.systems.spring, dt=0.05, t_end=5.0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('time [s]', 'x [m]')
    """
    by_method = len(sources) > 1 and all(isinstance(source, Curve) for source in sources)
    curves, keywords = collect(sources, labels, ax, keywords), line_keywords(keywords)
    solution = curves[0].solution
    system = solution.system
    flat = ax is not None and not hasattr(ax, "get_zlim")
    letters = letters_of(solution, components, flat)
    if letters:
        ax = _axes(ax, figsize, len(letters))
        draw_bodies(ax, curves, letters, window, keywords, by_method)
        across, up = _labels(ax, [letter_label(solution, letter) for letter in letters])
        return finish(ax, across, up, legend, title, left_out(curves))
    names = component_names(system, components, solution.components)
    if len(names) == 3 and flat:
        if components is not None:
            raise ValueError("three components need axes with projection='3d', or ax=None")
        names = widest(solution, names)
    if len(names) > 1:
        return path(curves, names, ax, legend, exact, window, keywords, title, figsize)
    values = [curve.solution[names[0]] for curve in curves]
    ax = new_axes(ax, figsize)
    true = same_motion(curves) if exact else None
    if true is not None:
        _draw_exact_component(ax, true, system.state_names.index(names[0]), window)
    for curve, one in zip(curves, values, strict=True):
        style = keywords
        inside = _saves_between(curve.solution, window)
        if inside <= EACH:
            style = {"marker": ".", "markersize": 4.0} | keywords  # each step is visible
        against_time(ax, curve, one, style, window, name=names[0])
    keep_in_view(ax)
    labelled = axis_label(system, "t"), axis_label(system, names[0])
    return finish(ax, *labelled, legend, title, left_out(curves))


def _saves_between(solution, window):
    """How many saves a window shows; infinitely many without a window."""
    if window is None:
        return np.inf
    t = np.asarray(solution.t).reshape(len(solution.t), -1)[:, :1]
    return np.count_nonzero((t >= min(window)) & (t <= max(window)))


def component_names(system, components=None, saved=None):
    """The components that a picture shows: one, two or three of the system's names.

    Parameters
    ----------
    system : System
        Whose state names are used.
    components : str or sequence of str, optional
        The caller's choice; the default of `trajectory` for None.
    saved : sequence of str, optional
        The available components, for the default; all of the system's.

    Returns
    -------
    tuple of str

    Raises
    ------
    ValueError
        For unknown names, none, or more than three.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> component_names(pi.systems.kepler)
    ('x', 'y')
    """
    known = tuple(system.state_names)
    if components is None:
        axes = system.dof or system.dim
        names = known[: axes if axes <= 3 else 1]
        if system.structure == "rigid_body":  # how it turns: its centre may rest
            names = portrait_pair(system)
        if saved is None:
            return names
        return tuple(name for name in names if name in saved) or tuple(saved[:1])
    names = (components,) if isinstance(components, str) else tuple(components)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"the system {system.name!r} has no component {unknown[0]!r}: it has {', '.join(known)}"
        )
    if not 1 <= len(names) <= 3:
        raise ValueError(f"components must be one, two or three names, got {len(names)}")
    return names


def portrait_pair(system):
    """Two components: the first position and its velocity; how a body turns; of a system of first
    order the first two."""
    if system.structure == "rigid_body":
        return system.state_names[-3:-1]
    return system.state_names[0], system.state_names[system.dof or 1]


def widest(solution, names):
    """The two of three components along which a motion extends most, for a plot in a plane."""
    with np.errstate(over="ignore"):
        extent = {n: np.ptp(np.nan_to_num(solution[n])) for n in names}
    kept = sorted(names, key=extent.__getitem__)[1:]
    return tuple(name for name in names if name in kept)


def path(curves, names, ax, legend, exact, window, keywords, title=None, figsize=None):
    """Draw two components against each other, or three in space.

    Parameters
    ----------
    curves : list of Curve
        The curves to draw.
    names : tuple of str
        Two or three components.
    ax : Axes or None
        Where to draw.
    legend, exact, window, keywords, title, figsize
        As in `trajectory`.

    Returns
    -------
    Axes
    """
    system, note = curves[0].solution.system, left_out(curves)
    places = [system.state_names.index(name) for name in names]
    values = [{name: curve.solution[name] for name in names} for curve in curves]
    ax, dots = _axes(ax, figsize, len(names)), []
    true = same_motion(curves) if exact else None
    if true is not None:
        _draw_exact_path(ax, true, places, window)
    if final_only(curves):
        note = _draw_final_states(ax, curves, values, keywords)
    else:
        for curve, parts in zip(curves, values, strict=True):
            dots += _draw_paths(ax, curve, parts, window, keywords)
    if dots and not note:
        note = f"{max(drawn for drawn, _ in dots):,} of {max(all_ for _, all_ in dots):,} states"
    across, up = _labels(ax, [axis_label(system, name) for name in names])
    finish(ax, across, up, legend, title, note)
    if len(names) == 2:
        keep_in_view(ax, along_x=True)
        if all(name in system.state_names[: system.dof] for name in names):
            ax.set_aspect("equal", adjustable="datalim")  # a circle in space is a circle
            ax.locator_params(nbins=6)
    return ax


def _axes(ax, figsize, dimensions):
    """The given axes, or new ones of two or three dimensions."""
    space = {"subplot_kw": {"projection": "3d"}} if dimensions == 3 else {}
    return new_axes(ax, figsize, (6.8, 4.2), **space)


def _labels(ax, texts):
    """Set the texts of two axes; the third is set if there is one."""
    if len(texts) == 3:
        ax.set_zlabel(texts[2])
    return texts[0], texts[1]


def _draw_paths(ax, curve, values, window, keywords):
    """The paths of one solution; for those thinned to dots, how many of how many states."""
    solution, thinned = curve.solution, []
    chosen = chosen_trajectories(batch_of(solution))
    for number, index in enumerate(chosen):
        style = curve.look(number)
        line, count, joined = draw_path(
            ax, solution, values, index, len(chosen), window, style, keywords
        )
        if not joined:
            thinned.append((len(line.get_xdata()), count))
    return thinned


def _draw_final_states(ax, curves, values, keywords):
    """The last states of many trajectories as dots; returns their description."""
    shown = size = 0
    for curve, parts in zip(curves, values, strict=True):
        size = max(size, batch_size(curve.solution))
        flat = [np.where(curve.solution.valid, part, np.nan).reshape(-1) for part in parts.values()]
        if len(flat[0]) > POINTS:
            flat = [part[spread(len(part), POINTS)] for part in flat]
        shown = max(shown, len(flat[0]))
        dots = {"linestyle": "", "marker": "o", "markeredgewidth": 0}
        if "marker" in keywords:  # a cross is all edge
            del dots["markeredgewidth"]
        dots["markersize"] = 2.2 if shown > 1 else 5.0
        ax.plot(*flat, **(curve.keywords | dots | {"label": curve.label} | keywords))
    if size <= shown:
        return "final states only"
    return f"final states of {shown:,} of {size:,} trajectories"


def smooth_times(solution, window=None):
    """Times at which the exact motion looks smooth: the saves, or finer if these are coarse.

    Parameters
    ----------
    solution : Solution
        Whose saves and start are used.
    window : tuple of float, optional
        From one time to another; the whole run by default.

    Returns
    -------
    ndarray
        Increasing (or, backwards in time, decreasing) times, at most about 40 per saved step.
    """
    t = np.asarray(solution.t)
    start, end = (float(start_time(solution)), float(t[-1])) if window is None else window
    step = solution._step_lengths
    spacing = abs(float(step)) if step.ndim == 0 else abs(end - start) / POINTS
    steps = max(1.0, abs(end - start) / spacing) if spacing else 1.0
    finer = max(1, min(40, int(POINTS / 2 / steps)))
    return np.linspace(start, end, int(min(steps * finer, 50 * POINTS)) + 1)


def _draw_exact_component(ax, solution, place, window):
    t = smooth_times(solution, window)
    states = exact_curve(solution, t)
    if states is None:
        return
    values = states[..., place].reshape(len(t), -1).T
    points = [envelope(one) for one in values]
    draw_exact(ax, [t[p] for p in points], [v[p] for v, p in zip(values, points, strict=True)])


def _draw_exact_path(ax, solution, places, window):
    t = smooth_times(solution, window)
    states = exact_curve(solution, t)
    if states is None:
        return
    flat = states.reshape(len(t), -1, states.shape[-1])
    for number in range(flat.shape[1]):
        parts = [flat[:, number, place] for place in places]
        points, joined = orbit(*parts[:2])
        style = {} if joined else {"linestyle": "", "marker": "o", "markersize": 3.5, "mew": 0}
        style["label"] = "_nolegend_" if number else "exact"
        ax.plot(*(part[points] for part in parts), **(exact_look() | style))
