"""Plots of several bodies: the components of each, and a colour and a name."""

import re
from dataclasses import dataclass

import numpy as np

from ..analysis.results import quiet, unit_of, with_unit
from .curves import chosen_trajectories, draw_path
from .style import PALETTE, on_ground

NAMED = 12  # up to this number bodies are named in the legend
LINES = ("-", "--", ":", "-.")  # of the first method, the second, ...


@dataclass(frozen=True)
class Body:
    """One of several bodies: its name, its colour, and its components by letter."""

    name: str
    colour: str
    components: dict


def bodies_of(solution):
    """The bodies of a system whose positions are x1, y1 (, z1), x2, y2, ..., if saved.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    list of Body
        Empty for any other system.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.n_body(initial="outer_solar_system"), dt=50.0, n_steps=2)
    >>> [body.name for body in bodies_of(sol)][:3]
    ['Sun', 'Jupiter', 'Saturn']
    """
    system = solution.system
    found = {}
    for name in system.state_names[: system.dof]:
        parts = re.fullmatch(r"([xyz])(\d+)", name)
        if parts is None:
            return []
        found.setdefault(parts[2], {})[parts[1]] = name
    letters = {tuple(components) for components in found.values()}
    if len(found) < 2 or len(letters) != 1 or letters == {("x",)}:
        return []
    names = getattr(system, "bodies", None) or [f"body {number}" for number in found]
    return [
        Body(name, on_ground(PALETTE[turn % len(PALETTE)]), components)
        for turn, (name, components) in enumerate(zip(names, found.values()))
        if all(component in solution.components for component in components.values())
    ]


def letter_label(solution, letter):
    """Label of an axis along which bodies are drawn."""
    component = bodies_of(solution)[0].components[letter]
    return with_unit(letter, unit_of(solution.system, component))


def letters_of(solution, components=None, flat=False):
    """The axes along which all bodies of a system are drawn: ("x", "y") or ("x", "y", "z").

    Parameters
    ----------
    solution : Solution
    components : sequence of str, optional
        The caller's choice. Default: all axes, without one along which nothing moves.
    flat : bool, optional
        Whether there is room for only two: those along which the bodies move most.

    Returns
    -------
    tuple of str
        Empty if single components are to be drawn, or there are no bodies.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> letters_of(pi.integrate(pi.systems.n_body, dt=0.01, n_steps=100))
    ('x', 'y')
    """
    bodies = bodies_of(solution)
    if not bodies:
        return ()
    known = tuple(bodies[0].components)
    if components is not None:
        asked = tuple(components)
        if not set(asked) <= set(known) or len(asked) < 2:
            return ()
        return asked
    with quiet():
        extent = {
            letter: max(reach(solution[b.components[letter]]) for b in bodies) for letter in known
        }
    return two_widest(extent) if flat or not all(extent.values()) else known


def reach(values):
    """From the least to the largest of some values; 0 of none."""
    return np.ptp(np.nan_to_num(values)) if values.size else 0.0


def two_widest(extents):
    """The names of the two largest extents, in their order."""
    kept = sorted(extents, key=extents.__getitem__)[-2:]
    return tuple(name for name in extents if name in kept)


def looks_of_bodies(solution, letters, turn):
    """The components, the look and the name of each body; only the first solution names them."""
    bodies = bodies_of(solution)
    named = turn == 0 and len(bodies) <= NAMED
    for body in bodies:
        look = {"linestyle": LINES[turn % len(LINES)], "color": body.colour}
        label = body.name if named else "_nolegend_"
        yield [body.components[letter] for letter in letters], look, label


def draw_bodies(ax, curves, letters, window, keywords, by_method=False):
    """Draw the path of every body, with a dot where it ends.

    Parameters
    ----------
    ax : Axes
        With as many dimensions as there are letters.
    curves : list of Curve
    letters : tuple of str
        From `letters_of`.
    window : tuple of float or None
        From one time to another.
    keywords : dict
        For `Axes.plot`.
    by_method : bool, optional
        Whether colours distinguish methods, as in a picture with other panels, not bodies.
    """
    for turn, curve in enumerate(curves):
        chosen = chosen_trajectories(curve.solution)
        looks = looks_of_bodies(curve.solution, letters, turn)
        for which, (names, style, label) in enumerate(looks):
            values = {name: curve.solution[name] for name in names}
            if by_method:
                style, label = curve.keywords, "_nolegend_" if which else curve.label
            for index in chosen:
                look = style | {"label": label if by_method else "_nolegend_"}
                line, *_ = draw_path(
                    ax, curve.solution, values, index, len(chosen), window, look, keywords
                )
                _mark_end(ax, line, "_nolegend_" if by_method else label)
                label = "_nolegend_"
        if len(curves) > 1 and not by_method:
            sample = {"color": "0.5", "linestyle": LINES[turn % len(LINES)], "label": curve.label}
            ax.plot(*[[]] * len(letters), **sample)
    ax.set_aspect("equal", adjustable="box" if len(letters) == 3 else "datalim")


def _mark_end(ax, line, label):
    """A dot on the last good point of a line, above all lines."""
    data = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()
    good = np.flatnonzero(np.isfinite(np.asarray(data, float)).all(axis=0))
    if len(good):
        last = [part[good[-1] :][:1] for part in data]
        look = {"color": line.get_color(), "alpha": line.get_alpha(), "label": label}
        ax.plot(*last, linestyle="", marker="o", markersize=5, zorder=3, **look)
