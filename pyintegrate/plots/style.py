"""Colours, names and units: a method looks the same in every picture."""

from __future__ import annotations

import re
import zlib
from unicodedata import lookup

import matplotlib
from matplotlib.colors import to_rgb

from ..analysis.results import unit_of, with_unit
from ..method.catalogue import methods
from ..values.types import Method

# Okabe & Ito (2008), Color Universal Design: distinct for any kind of colour vision.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY = "#E69F00", "#56B4E9"
PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
COLOURED = "rk4 semi_implicit_euler velocity_verlet explicit_euler midpoint forest_ruth4"
METHOD_COLOURS = dict(zip(COLOURED.split(), PALETTE))
ON_DARK = {BLUE: "#6A94FF", SKY: "#9FE3FF"}  # colours too dark there, and a neighbour
# Line styles by colour, so that grey prints distinguish methods, and coinciding lines show.
LINE_STYLES = (
    "-",
    (0, (4.5, 1.2)),
    (0, (7, 1.2, 1.2, 1.2)),
    (0, (10, 1.5)),
    (0, (1.6, 1.0)),
    (0, (4.5, 1.2, 1.2, 1.2, 1.2, 1.2)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
OF_AXES = "what concerns the axes is for the axes that it returns, ax.set(xlabel=...)"
GREEK = "theta|omega|phi|psi|alpha|beta|gamma|delta|mu|rho|sigma"


def colours(names):
    """A colour for each method: its own if possible, otherwise the next that fewest have.

    Parameters
    ----------
    names : iterable of str
        Method names; a repeated name gets the same colour.

    Returns
    -------
    dict
        Colour by name.

    Examples
    --------
    >>> colours(["rk4", "semi_implicit_euler"])["rk4"]
    '#0072B2'
    """
    chosen = {}
    # Methods with a fixed colour come first, so that no other takes it from them.
    for name in sorted(dict.fromkeys(names), key=lambda name: name not in METHOD_COLOURS):
        own = METHOD_COLOURS.get(name, PALETTE[zlib.crc32(name.encode()) % len(PALETTE)])
        chosen[name] = min(turned_to(own), key=list(chosen.values()).count)
    return chosen


def turned_to(colour):
    """The palette from one of its colours on, and round to those before it."""
    start = PALETTE.index(colour)
    return PALETTE[start:] + PALETTE[:start]


def colour_of(method: str | Method) -> str:
    """The colour that a method has in every picture, for user-defined pictures.

    Parameters
    ----------
    method : str or Method

    Returns
    -------
    str

    Examples
    --------
    >>> colour_of("rk4")
    '#0072B2'
    """
    return on_ground(colours([str(method)])[str(method)])


def looks(names):
    """Colour, line style and marker of each method; beyond the palette the latter differ.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    dict of dict
        Keywords for `Axes.plot` by name.

    Examples
    --------
    >>> looks(["rk4"])
    {'rk4': {'color': '#0072B2', 'linestyle': '-', 'marker': 'o'}}
    """
    chosen, seen = {}, []
    for name, colour in colours(names).items():
        turn = seen.count(colour)
        line, marker = line_style(colour, turn), MARKERS[turn % len(MARKERS)]
        chosen[name] = {"color": on_ground(colour), "linestyle": line, "marker": marker}
        seen.append(colour)
    return chosen


def on_dark():
    """Whether new axes have a dark background: by luminance (ITU-R BT.709)."""
    ground = matplotlib.rcParams["axes.facecolor"]
    if ground == "none":
        ground = matplotlib.rcParams["figure.facecolor"]
    red, green, blue = to_rgb(ground)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5


def on_ground(colour):
    """A colour of the palette, lighter if the background of new axes is dark."""
    return ON_DARK.get(colour, colour) if on_dark() else colour


def exact_look():
    """Keywords of the exact motion.

    Wide and faint behind all others: a line on top of it is exact, and both are visible.
    """
    grey = "0.4" if on_dark() else "0.78"
    return {"color": grey, "linewidth": 3.5, "label": "exact", "zorder": 1.5}


def line_style(colour, turn=0):
    """The line style of the first, second, ... line in a colour of the palette.

    Examples
    --------
    >>> line_style(BLUE), line_style(VERMILLION) == line_style(BLUE, 1)
    ('-', True)
    """
    return LINE_STYLES[(PALETTE.index(colour) + turn) % len(LINE_STYLES)]


def title_of(method):
    """The name of a method in a legend: its title, or the name given to a user-defined one.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> title_of(pi.Composition([("drift", 1.0), ("kick", 1.0)], name="mine"))
    'mine'
    """
    unnamed = method.name in ("my_runge_kutta", "my_composition", "my_multistep")
    return method.title if unnamed or method.name in methods else method.name


def axis_label(system, name):
    """Name and unit of a component or of the time, as the label of an axis.

    Parameters
    ----------
    system : System
        Whose `units` are used.
    name : str
        A state name, or "t".

    Returns
    -------
    str

    Examples
    --------
    >>> import pyintegrate as pi
    >>> axis_label(pi.systems.pendulum, "theta")
    'θ [rad]'
    """
    return with_unit(sign_of(name), unit_of(system, name))


def sign_of(name):
    """A name as it is written in formulas.

    Examples
    --------
    >>> sign_of("theta1")
    'θ1'
    >>> sign_of("gamma"), sign_of("humus")
    ('γ', 'humus')
    """
    text = "time" if name == "t" else name
    word = f"(?<![a-z]{{2}})({GREEK})(?![a-z])"
    return re.sub(word, lambda found: lookup(f"GREEK SMALL LETTER {found[1]}"), text)


def equation(system, name, value):
    """What a component or a parameter is, with its unit.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> equation(pi.systems.pendulum, "theta", "0.5")
    'θ = 0.5 rad'
    """
    return f"{sign_of(name)} = {value} {unit_of(system, name)}".strip()


def in_space(system, names):
    """Whether these are positions of one unit, not angles: a circle is drawn as a circle.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> in_space(pi.systems.kepler, ("x", "y")), in_space(pi.systems.kepler, ("x", "vx"))
    (True, False)
    """
    places = system.state_names[: system.dof]
    units = {unit_of(system, name) for name in names}
    return {*names} <= {*places} and len(units) == 1 and units != {"rad"}


def line_keywords(keywords):
    """Keywords for `Axes.plot` by their full names: ``lw`` is ``linewidth``.

    Examples
    --------
    >>> line_keywords({"lw": 3, "c": "k"})
    {'linewidth': 3, 'color': 'k'}
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    keywords = normalize_kwargs(keywords, Line2D)
    for name in keywords:
        if not hasattr(Line2D, f"set_{name}"):
            raise TypeError(
                f"{name!r} is a keyword neither of the picture nor of its lines, as Axes.plot takes"
                f" them: {OF_AXES}"
            )
    return keywords
