"""Plots of solutions: motion, path and phase space; energy, errors and phase error in time."""

from __future__ import annotations

import numpy as np

from ..analysis.measures import errors, watched_error
from ..analysis.observables import energies, largest_of, only_the_end
from ..analysis.phase import phase_drift as drift_of
from ..analysis.results import quiet, unit_of, with_unit
from ..errors import Status, one_record_warning
from ..solution.jumps import until_jump
from ..values.checks import choice, some_of
from ..values.types import Any, Sequence, Solution
from .bodies import draw_bodies, letter_label, letters_of, reach, two_widest
from .curves import (
    POINTS,
    against_time,
    batch_size,
    chosen_trajectories,
    draw_path,
    exact_against_time,
    exact_motions,
    exact_style,
    keep_in_view,
    orbit,
    spread,
)
from .pictures import left_out, lonely_states, picture
from .style import axis_label, exact_look, in_space, line_keywords

EACH = 120  # steps in a window up to which each is marked: more would be a thick line


@picture("sources", "labels", "legend")
def trajectory(
    page,
    curves,
    *,
    components: str | Sequence[str] | None = None,
    exact=True,
    window=None,
    **keywords: Any,
):
    """Draw the motion of one or several solutions: one component against time, or a path.

    For several bodies (`n_body`) each one's path is drawn, in its own colour and with its name.
    No line joins two states across a jump: those after the last jump that an event has kept
    (``pi.event(..., keep=)``) are dots.

    Parameters
    ----------
    components : str or sequence of str, optional
        One name: against time. Two: the path in their plane. Three: the path in space. By
        default the position for one degree of freedom against time, for two or three the path. For
        several bodies ("x", "y") are those of all of them.
    ax : Axes, optional
        Where to draw (three-dimensional for three components); a new figure by default.
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
    keywords, solution = line_keywords(keywords), curves[0].solution
    system, note = solution.system, left_out(curves)
    flat = page.ax is not None and not hasattr(page.ax, "get_zlim")
    letters = letters_of(solution, components, flat)
    names = letters or component_names(system, components, solution.components)
    if len(names) == 3 and flat and components is not None:
        raise ValueError("three components need axes with projection='3d', or ax=None")
    if letters:
        ax = _axes(page, letters)
        draw_bodies(ax, curves, letters, window, keywords, page.panel and len(curves) > 1)
        return ax, *_labels(ax, [letter_label(solution, letter) for letter in letters]), note
    turning = ("wx", "wy", "wz")  # in the plane of which it shows most
    if system.structure == "rigid_body" and components is None and names[0] in turning:
        names = [one for one in turning if one in solution.components]
        if not any(reach(solution[one]) for one in names):  # it only moves
            names = [one for one in ("x", "y", "z") if one in solution.components] or names
        names = widest(solution, names)
    if len(names) == 3 and flat:
        names = widest(solution, names)
    if len(names) > 1:
        return path(page, curves, names, exact, window, keywords)
    values = [curve.solution[names[0]] for curve in curves]
    ax, place = page(), system.state_names.index(names[0])
    if exact:
        exact_against_time(ax, curves, window, lambda states, t: states[..., place])
    for curve, one in zip(curves, values):
        each = _saves_between(curve.solution, window) <= EACH  # each step is visible
        style = {"marker": ".", "markersize": 4.0} | keywords if each else keywords
        against_time(ax, curve, one, style, window, name=names[0])
    keep_in_view(ax)
    return ax, axis_label(system, "t"), axis_label(system, names[0]), note


def _saves_between(solution, window):
    """How many saves a window shows; infinitely many without a window."""
    if window is None:
        return np.inf
    t = solution.t.reshape(len(solution.t), -1)[:, :1]
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
    names = some_of("components", components, known)
    if len(names) > 3:
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
    with quiet():
        return two_widest({name: reach(solution[name]) for name in names})


def path(page, curves, names, exact, window, keywords):
    """Draw two components against each other, or three in space, as `trajectory` does.

    Parameters
    ----------
    page : Page
        Where to draw.
    curves : list of Curve
        The curves to draw.
    names : tuple of str
        Two or three components.
    exact, window, keywords
        As in `trajectory`.

    Returns
    -------
    tuple
        Axes, labels and a note.
    """
    system, note, dots = curves[0].solution.system, left_out(curves), []
    values = [{name: curve.solution[name] for name in names} for curve in curves]
    ax = _axes(page, names)
    if exact:
        places = [system.state_names.index(name) for name in names]
        _draw_exact_path(ax, curves, places, window)
    if lonely := lonely_states(curves):
        note = _draw_lonely_states(lonely, ax, curves, values, keywords)
    else:
        for curve, parts in zip(curves, values):
            chosen = chosen_trajectories(curve.solution)
            how = len(chosen), window
            for number, index in enumerate(chosen):
                look = curve.look(number)
                _, joined, shown = draw_path(ax, curve.solution, parts, index, *how, look, keywords)
                dots += [shown] * (not joined)
    if dots and not note:
        note = "{:,} of {:,} states".format(*map(max, zip(*dots)))
    if len(names) == 2:
        keep_in_view(ax, along_x=True)
        if page.ax is None:
            ax.locator_params(axis="x", nbins=6)  # numbers such as -0.75 are wide
        if in_space(system, names):
            free = ax.get_autoscalex_on() and ax.get_autoscaley_on()
            ax.set_aspect("equal", adjustable="datalim" if free else "box")
            if page.ax is None and not free:
                ax.figure.set_layout_engine("compressed")
            ax.locator_params(nbins=6)
    return ax, *_labels(ax, [axis_label(system, name) for name in names]), note


def _axes(page, letters):
    """Axes of two or three dimensions."""
    space = {"subplot_kw": {"projection": "3d"}} if len(letters) == 3 else {}
    return page((6.8, 4.2), **space)


def _labels(ax, texts):
    """Set the texts of two axes; the third is set if there is one."""
    if len(texts) == 3:
        ax.set_zlabel(texts[2])
        ax.xaxis.labelpad = ax.yaxis.labelpad = 9.0  # beyond the numbers, which stand askew
    return texts[0], texts[1]


def _draw_lonely_states(lonely, ax, curves, values, keywords):
    """One state of each of many trajectories as dots; returns their description."""
    shown = size = 0
    for curve, parts in zip(curves, values):
        size = max(size, batch_size(curve.solution))
        made = curve.solution.valid | (curve.solution.status == Status.STOPPED)
        flat = [np.where(made, part, np.nan).reshape(-1) for part in parts.values()]
        if len(flat[0]) > POINTS:
            flat = [part[spread(len(part), POINTS)] for part in flat]
        shown = max(shown, len(flat[0]))
        dots = {"linestyle": "", "marker": "o", "markeredgewidth": 0}
        if "marker" in keywords:  # a cross is all edge
            del dots["markeredgewidth"]
        dots["markersize"] = 2.2 if shown > 1 else 5.0
        ax.plot(*flat, **(curve.keywords | dots | {"label": curve.label} | keywords))
    if size <= shown:
        return f"{lonely} only"
    return f"{lonely} of {shown:,} of {size:,} trajectories"


def _draw_exact_path(ax, curves, places, window):
    def parts_of(states, t):
        return [states[..., place] for place in places]

    for _, *parts in exact_motions(curves, window, parts_of):
        points, joined = orbit(*parts[:2])
        style = {} if joined else {"linestyle": "", "marker": "o", "markersize": 3.5, "mew": 0}
        ax.plot(*(part[points] for part in parts), **exact_style(ax) | style)


@picture("sources", "labels", "legend")
def phase_portrait(
    page,
    curves,
    *,
    components: str | Sequence[str] | None = None,
    exact=True,
    window=None,
    **keywords: Any,
):
    """Draw one or several solutions in phase space: position against velocity.

    A method that loses energy spirals inwards, one that gains it outwards; a symplectic one
    stays on a closed curve near the true one. Coarse steps are drawn as dots.

    Parameters
    ----------
    components : sequence of two str, optional
        By default the first position and its velocity; the first two components of a
        first-order system; of the angular velocity of a rigid body.
    **keywords
        For `Axes.plot`; a `label` is the name in the legend.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For unknown components, some that were not saved, or a system of a single one.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = phase_portrait(pi.integrate(pi.systems.spring, dt=0.05, t_end=5.0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x [m]', 'v [m/s]')
    """
    system = curves[0].solution.system
    if components is None:
        if system.dim < 2:
            raise ValueError(f"a phase portrait needs two components, {system.name!r} has one")
        components = portrait_pair(system)
    names = component_names(system, components)
    if len(names) != 2:
        raise ValueError(f"a phase portrait has two components, got {len(names)}")
    return path(page, curves, names, exact, window, line_keywords(keywords))


LABELS = {"ratio": "E(t) / E(0)", "error": "energy error (E - E0) / |E0|", "energy": "energy E"}
EXPLODED = 1e3  # energies beyond this multiple of the first leave the picture
VISIBLE = 0.01  # relative changes above this are shown as a ratio


@picture("sources", "labels", "legend")
def energy(
    page,
    curves,
    *,
    quantity: str | None = None,
    exact=True,
    window=None,
    **keywords: Any,
):
    """Draw the energy of one or several solutions against time.

    Parameters
    ----------
    quantity : {"ratio", "error", "energy"}, optional
        E/E0, (E - E0)/|E0| or E itself. By default the ratio if the energy changes by more
        than one per cent, else the error, as the label says; the error, too, where E0 < 0, and
        what is lost would raise the ratio; E if E0 = 0.
    exact : bool, optional
        Whether to draw the energy of the exact motion, if there is one.
    **keywords
        For `Axes.plot`; a `label` is the name in the legend.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a system has no energy.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = energy(pi.integrate(pi.systems.oscillator, dt=0.5, t_end=50.0))
    >>> ax.get_ylabel()
    'E(t) / E(0)'
    """
    held = [energies(curve.solution) or curve.solution.energy() for curve in curves]  # says why not
    quantity = choice("quantity", _quantity(curves, held) if quantity is None else quantity, LABELS)
    ax, system = page(), curves[0].solution.system
    if exact:
        start = held[0][1]

        def energy_of(states, t):
            values = system.energy(states, t.reshape(-1, *(1,) * np.ndim(start)))
            return _scaled(values, start, quantity)

        exact_against_time(ax, curves, window, energy_of)
    for curve, (values, start) in zip(curves, held):
        against_time(ax, curve, _scaled(values, start, quantity), keywords, window, bands=True)
    if quantity != "energy":
        _keep_in_view(ax, quantity == "ratio")
    unit = unit_of(system, "energy") if quantity == "energy" else ""
    return ax, axis_label(system, "t"), with_unit(LABELS[quantity], unit), left_out(curves)


def _quantity(curves, held):
    """The ratio if a change is visible in it, else the error; the energy if E0 is zero.

    The ratio of negative energies rises where energy is lost: their error falls.
    """
    starts = np.concatenate([np.ravel(start) for _, start in held])
    if np.any(starts <= 0):
        return "error" if np.any(starts) else "energy"
    with quiet():
        change = [
            np.max(np.abs(_scaled(values, start, "error")), initial=0.0, where=curve.solution.valid)
            for curve, (values, start) in zip(curves, held)
        ]
    return "ratio" if max(change) > VISIBLE else "error"


def _keep_in_view(ax, ratio):
    """Limit the axes to the energies that stayed moderate, if another one exploded.

    The exact energy, whose error is rounding, is not among them.
    """
    behind = exact_look()["zorder"]
    lines = [line for line in ax.get_lines() if ratio or line.get_zorder() != behind]
    lines = [np.abs(np.asarray(line.get_ydata(), float)) for line in lines]
    lines = [y for line in lines if (y := line[np.isfinite(line)]).size]
    tops = [np.max(y) for y in lines]
    top = 2 * max((top for top in tops if top <= EXPLODED), default=0.0)
    # What comes back from its height, as on a limit cycle, has not exploded.
    back = not top and any(y[-1] < np.max(y) / 2 and np.median(y) > 2 for y in lines)
    if max(tops, default=0.0) > EXPLODED and (ratio or top > 0) and not back:
        top = top or 2.0
        ax.set_ylim(-0.1 if ratio else -top, top)


def _scaled(values, start, quantity):
    """Energies in the units of the picture."""
    if quantity == "energy":
        return values
    with quiet():
        if quantity == "ratio":
            return values / start
        return (values - start) / np.where(start == 0, 1.0, np.abs(start))


QUANTITIES = ("position", "state", "energy", "phase")
DECADES = 1e30  # above the least error: larger ones have exploded, and leave the picture


@picture("sources", "labels", "legend")
@one_record_warning()
def error(
    page,
    curves,
    *,
    quantity: str | None = None,
    reference: Solution | None = None,
    so_far: bool = True,
    window=None,
    **keywords: Any,
):
    """Draw the error of one or several solutions against time.

    Parameters
    ----------
    quantity : {"position", "state", "energy", "phase"}, optional
        Distance of the position, or of the whole state, from the true one; the relative error of
        the energy; the phase error. Default: position, or the state for a first-order system.
    reference : Solution, optional
        The truth, saved at the same times; the exact solution by default.
    so_far : bool, optional
        Draw the largest error so far, which is a smooth line, instead of every oscillation. It is
        the largest of the saves, and only as accurate as they are dense; its last value includes
        all steps if the run has watched "energy_drift" or "phase_drift".
    **keywords
        For `Axes.plot`; a `label` is the name in the legend.

    Returns
    -------
    Axes
        The error axis is logarithmic.

    Raises
    ------
    ValueError
        If there is nothing to compare with.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = error(pi.integrate(pi.systems.oscillator, dt=0.5, t_end=50.0))
    >>> ax.get_ylabel(), ax.get_yscale()
    ('largest position error so far [m]', 'log')
    """
    system, first = curves[0].solution.system, curves[0].solution
    quantity = ("position" if system.dof else "state") if quantity is None else quantity
    choice("quantity", quantity, QUANTITIES)
    values = [errors(curve.solution, quantity, reference) for curve in curves]
    ax, zeros = page(), []
    for curve, one in zip(curves, values):
        if so_far:
            one = np.fmax.accumulate(one, axis=0)
            known = watched_error(curve.solution, quantity) if reference is None else None
            if known is not None:
                one[-1] = np.where(np.isnan(one[-1]), np.nan, known)
            if reference is None or quantity == "energy":  # the truth ends at a jump
                one = until_jump(curve.solution, one, "the error")
        with quiet():
            zeros += [curve.label] * bool(np.fmax.reduce(one, axis=None, initial=-1.0) == 0)
            one = np.where(one > 0, one, np.nan)  # a logarithmic axis cannot show zero
        against_time(ax, curve, one, keywords, window)
    least = ax.dataLim.minposy
    with quiet():  # first limits as wide as all data
        ax.set_yscale("log")
        if ax.dataLim.y1 > DECADES * least:
            ax.set_ylim(least / 10, DECADES * least)
    text = "relative energy error" if quantity == "energy" else f"{quantity} error"
    if so_far:
        known = only_the_end(first) and reference is None
        before, after = largest_of([first], known and watched_error(first, quantity) is not None)
        text = f"{before}{text}{after}{' so far' * bool(before)}"
    label = with_unit(text, unit_of_error(system, quantity))
    zeros = zeros if len(zeros) < 3 else [f"{len(zeros)} curves"]
    note = [left_out(curves), f"no error: {', '.join(zeros)}" if zeros else ""]
    note += ["no error is known"] * all(np.isnan(one).all() for one in values)
    return ax, axis_label(system, "t"), label, ", ".join(filter(None, note))


def unit_of_error(system, quantity):
    """The unit of an error; "" if it is relative."""
    known = {"energy": "", "phase": "rad"}
    return known[quantity] if quantity in known else unit_of(system, system.state_names[0])


@picture("sources", "labels", "legend")
@one_record_warning()
def phase_drift(
    page,
    curves,
    *,
    reference: Solution | None = None,
    exact=True,
    window=None,
    **keywords: Any,
):
    """Draw how far one or several solutions run ahead of the true motion, as an angle.

    Parameters
    ----------
    reference : Solution, optional
        The solution to compare with; the exact one by default.
    exact : bool, optional
        Whether to draw the zero line.
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
    drifts = [drift_of(curve.solution, reference) for curve in curves]
    ax = page()
    if exact:
        named = {} if reference is None else {"label": "_nolegend_"}
        ax.axhline(0.0, **exact_style(ax) | named)
    for curve, drift in zip(curves, drifts):
        against_time(ax, curve, drift, keywords, window, bands=True)
    label = axis_label(curves[0].solution.system, "t")
    return ax, label, "phase error [rad]", left_out(curves)
