"""Picture: the motion, against time or along its path."""

import numpy as np

from ..analysis.observables import start_time
from .curves import (
    against_time,
    batch_of,
    collect,
    draw_exact,
    exact_curve,
    finish,
    keep_in_view,
    mark_failure,
    new_axes,
    opacity,
    same_motion,
    valid_values,
)
from .style import EXACT, axis_label
from .thinning import POINTS, chosen_trajectories, envelope, step_length, stretches

EACH = 120  # steps in a window up to here are marked each: more would be a thick line
DOTS = 0.05  # steps longer than this fraction of the picture are dots: lines would cut corners


def trajectory(
    *sources,
    components=None,
    ax=None,
    legend=True,
    exact=True,
    labels=None,
    window=None,
    **keywords,
):
    """Draw the motion of one or several solutions: one component against time, or a path.

    Parameters
    ----------
    *sources : Solution or Comparison
        What to draw; 30 trajectories of a large batch.
    components : str or sequence of str, optional
        One name: against time. Two: the path in their plane. Three: the path in space. By
        default the position of one degree of freedom against time, of two or three the path.
    ax : Axes, optional
        Where to draw (three-dimensional for three components); a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes.
    exact : bool, optional
        Whether to draw the exact motion, where there is one.
    labels : dict, optional
        Legend text by method name.
    window : tuple of float, optional
        Draw only from one time to another.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For unknown components.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = trajectory(pi.integrate(pi.systems.spring, dt=0.05, t_end=5.0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('time [s]', 'x [m]')
    """
    curves = collect(sources, labels)
    system = curves[0].solution.system
    names = component_names(system, components)
    if len(names) == 3 and ax is not None and not hasattr(ax, "get_zlim"):
        if components is not None:
            raise ValueError("three components need axes with projection='3d', or ax=None")
        names = widest(curves[0].solution, names)
    if len(names) > 1:
        return path(curves, names, ax, legend, exact, window, keywords)
    ax = new_axes(ax)
    place = system.state_names.index(names[0])
    true = same_motion(curves) if exact else None
    if true is not None:
        _draw_exact_component(ax, true, place, window)
    for curve in curves:
        style = keywords
        inside = _saves_between(curve.solution, window)
        if inside <= EACH:
            style = {"marker": ".", "markersize": 4.0} | keywords  # each step is seen
        against_time(ax, curve, curve.solution.y[..., place], style, window)
    keep_in_view(ax)
    return finish(ax, axis_label(system, "t"), axis_label(system, names[0]), legend)


def _saves_between(solution, window):
    """How many saves a window shows; infinitely many where there is none."""
    if window is None:
        return np.inf
    t = np.asarray(solution.t).reshape(len(solution.t), -1)[:, :1]
    return np.count_nonzero((t >= min(window)) & (t <= max(window)))


def component_names(system, components=None):
    """The components that a picture shows: one, two or three of the system's names.

    Parameters
    ----------
    system : System
        Whose state names count.
    components : str or sequence of str, optional
        What the caller wants; the default of `trajectory` where None.

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
        return known[: axes if axes <= 3 else 1]
    names = (components,) if isinstance(components, str) else tuple(components)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"the system {system.name!r} has no component {unknown[0]!r}: it has {', '.join(known)}"
        )
    if not 1 <= len(names) <= 3:
        raise ValueError(f"components must be one, two or three names, got {len(names)}")
    return names


def widest(solution, names):
    """The two of three components over which a motion extends most, for a flat picture of it."""
    place = solution.system.state_names.index
    with np.errstate(over="ignore"):
        extent = {n: np.ptp(np.nan_to_num(solution.y[..., place(n)])) for n in names}
    kept = sorted(names, key=extent.__getitem__)[1:]
    return tuple(name for name in names if name in kept)


def path(curves, names, ax, legend, exact, window, keywords):
    """Draw two components against each other, or three in space.

    Parameters
    ----------
    curves : list of Curve
        What to draw.
    names : tuple of str
        Two or three components.
    ax : Axes or None
        Where to draw.
    legend, exact, window, keywords
        As in `trajectory`.

    Returns
    -------
    Axes
    """
    system = curves[0].solution.system
    places = [system.state_names.index(name) for name in names]
    in_space = len(names) == 3
    projection = {"subplot_kw": {"projection": "3d"}} if in_space else {}
    ax = new_axes(ax, figsize=(6.8, 4.2), **projection)
    true = same_motion(curves) if exact else None
    if true is not None:
        _draw_exact_path(ax, true, places, window)
    for curve in curves:
        _draw_path(ax, curve, places, window, keywords)
    finish(ax, axis_label(system, names[0]), axis_label(system, names[1]), legend)
    if in_space:
        ax.set_zlabel(axis_label(system, names[2]))
    else:
        keep_in_view(ax, along_x=True)
    if not in_space and all(name in system.state_names[: system.dof] for name in names):
        ax.set_aspect("equal", adjustable="datalim")  # a circle in space is a circle
    return ax


def _draw_path(ax, curve, places, window, keywords):
    """The paths of one solution: lines, or dots where the steps are coarse."""
    solution = curve.solution
    chosen = chosen_trajectories(batch_of(solution))
    for number, index in enumerate(chosen):
        parts = [valid_values(solution, solution.y[..., place], index) for place in places]
        if window is not None:
            t = np.asarray(solution.t)
            t = t if t.ndim == 1 else t[(slice(None), *index)]
            inside = (t >= min(window)) & (t <= max(window))
            parts = [part[inside] for part in parts]
        style = {"linewidth": 1.0, "alpha": opacity(len(chosen))} | curve.keywords
        if len(parts[0]) == 1 or step_length(*parts[:2]) > DOTS:
            style |= {"linestyle": "", "marker": "o", "markersize": 2.2, "markeredgewidth": 0}
        style |= keywords
        style["label"] = curve.label if number == 0 else "_nolegend_"
        (line,) = ax.plot(*_pieces(parts), **style)
        if len(parts) == 2:
            mark_failure(ax, line, *parts)


def _pieces(parts):
    """A path thinned to its drawn stretches, NaN between them."""
    pieces = stretches(*parts[:2])
    gap = np.array([np.nan])
    return [
        np.concatenate([x for piece in pieces for x in (part[piece], gap)][:-1]) for part in parts
    ]


def smooth_times(solution, window=None):
    """Times at which the exact motion looks smooth: the saves, or finer where they are coarse.

    Parameters
    ----------
    solution : Solution
        Whose saves and start count.
    window : tuple of float, optional
        From one time to another; the whole run by default.

    Returns
    -------
    ndarray
        Increasing (or, backwards in time, decreasing) times, at most about 40 per saved step.
    """
    t = np.asarray(solution.t)
    start, end = (float(start_time(solution)), float(t[-1])) if window is None else window
    spacing = abs(float(solution.dt)) if np.ndim(solution.dt) == 0 else abs(end - start) / POINTS
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
        parts = _pieces([flat[:, number, place] for place in places])
        if len(parts) == 2:
            draw_exact(ax, [parts[0]], [parts[1]])
        else:
            ax.plot(*parts, **(EXACT | ({} if number == 0 else {"label": None})))
