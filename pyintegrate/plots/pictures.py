"""What all pictures share: axes or a new figure, title, legend, the curves of solutions."""

from __future__ import annotations

import inspect
import re
import textwrap
from functools import wraps

import matplotlib
import numpy as np
from matplotlib.collections import QuadMesh
from matplotlib.lines import Line2D

from ..analysis.accuracy import finite
from ..analysis.observables import only_the_end
from ..values.checks import pair, some_of, truth
from ..values.types import Any, Axes, Callable
from .curves import TRAJECTORIES, batch_size, collect
from .style import OF_AXES

SIZE = "font.size"
SMALL = 5.0  # inches: a figure for a column of a paper
ROWS = 4  # of a legend below the data, for which the usual size of a figure has room
SHARE = 0.48  # of the width of a figure that a legend beside the data may take


class Panels(np.ndarray):
    """The axes of a picture with several panels, as an array; `figure` and `savefig` are theirs.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = panels(Figure().subplots(1, 2))
    >>> axes.shape, axes.figure is axes[0].figure
    ((2,), True)
    """

    @property
    def figure(self):
        return self.flat[0].figure

    def savefig(self, *arguments, **keywords):
        self.figure.savefig(*arguments, **keywords)

    def __repr__(self):
        return f"<{' x '.join(map(str, self.shape))} panel{'s' * (self.size != 1)}>"


def panels(axes):
    """An array of axes, or nested lists of them, as `Panels`."""
    return np.asarray(axes, object).view(Panels)


def figure_size(figsize, default):
    """Size in inches: the given one, ``rcParams["figure.figsize"]`` if set, or the default, which
    grows with the text."""
    if figsize is not None:
        return pair("figsize", figsize)
    asked = tuple(matplotlib.rcParams["figure.figsize"])
    if asked != tuple(matplotlib.rcParamsDefault["figure.figsize"]):
        return asked
    return default and tuple(side * enlargement() for side in default)


def enlargement():
    """How much larger than in Matplotlib's style the text is; 1 if it is smaller."""
    return max(1.0, points(SIZE) / 10)


def sized(size):
    """Size and resolution of a new figure: ``%matplotlib widget`` shows each of its pixels, and
    cuts off what is wider than the cell of a notebook."""
    width = size[0] if size else matplotlib.rcParams["figure.figsize"][0]
    shown = "ipympl" in matplotlib.get_backend()
    dpi = min(matplotlib.rcParams["figure.dpi"], 900 / width) if shown else None
    return {"figsize": size, "dpi": dpi}


def several_axes(ax, shape, usual, figsize, **keywords):
    """Axes of a picture with several panels: the given ones, or those of a new figure.

    Parameters
    ----------
    ax : Axes, sequence of Axes, or None
    shape : tuple of int
        (rows, columns).
    usual : tuple of float
        Size of a new figure in inches, if none is asked for; a long legend makes it higher.
    figsize : tuple of float or None
        The size that is asked for.
    **keywords
        For `pyplot.subplots`.

    Returns
    -------
    Panels
        (rows, columns).

    Raises
    ------
    ValueError
        If the numbers of axes and panels differ.
    """
    if ax is not None:
        given = np.asarray(ax, object)
        check_axes(given.ravel())
        if given.size != np.prod(shape):
            raise ValueError(
                f"ax has {given.size} axes, and the picture {np.prod(shape)} panels "
                f"({shape[0]} x {shape[1]}): give one for each"
            )
        return panels(given.reshape(shape))
    from matplotlib import pyplot  # chooses a backend: only if a figure is really needed

    size = sized(figure_size(figsize, usual))
    keywords = {"layout": "constrained", "squeeze": False, **size, **keywords}
    figure, axes = pyplot.subplots(*shape, **keywords)
    figure.grows = figure_size(figsize, None) is None
    return panels(axes)


def check_axes(given):
    for one in given:
        if not hasattr(one, "get_lines"):
            got = type(one).__name__
            raise TypeError(f"ax must be axes, as those of plt.subplots(), got {got}")


def chosen_panels(panels, possible, known):
    """The requested panels, in that order; all possible ones by default.

    Raises
    ------
    ValueError
        For an unknown panel, or one for which the system or the saves have no data.
    """
    if panels is None:
        return list(possible)
    asked = some_of("panels", panels, known)
    for name in asked:
        if name not in possible:
            there = ", ".join(map(repr, possible))
            raise ValueError(f"there is no data for the panel {name!r}, only {there}")
    return list(asked)


def left_out(curves):
    """A note on what a picture of some curves leaves out; "" if it shows everything.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> from pyintegrate.plots.curves import collect
    >>> sol = pi.integrate(pi.systems.spring(k=range(1, 10_001)), dt=0.1, n_steps=3)
    >>> left_out(collect([sol]))
    '30 of 10,000 trajectories'
    """
    size = max(batch_size(curve.solution) for curve in curves)
    parts = [f"{TRAJECTORIES} of {size:,} trajectories"] * (size > TRAJECTORIES)
    parts += ["no trajectories"] * (size == 0)
    lonely = lonely_states(curves)
    return ", ".join(parts + [f"{lonely} only"] * bool(lonely))


def lonely_states(curves):
    """What the only states are called, if one of each trajectory was saved; "" if more were."""
    solutions = [curve.solution for curve in curves]
    if any(len(one) != 1 or one.n_steps == 0 for one in solutions):
        return ""
    return "final states" if all(map(only_the_end, solutions)) else "single states"


def finish(ax, xlabel, ylabel, legend, title, note=""):
    """Label the axes, add title and note, and put the legend where it covers nothing."""
    ax.set_xlabel(xlabel)
    beside = [one for one in ax.get_ylabel().replace("\n", " ").split(", ") if one]
    ylabel = ", ".join(dict.fromkeys([*beside, ylabel]))  # of all that is drawn in these axes
    height = ax.get_position().height * ax.figure.get_figheight()
    small = height < 2.6 and len(ax.figure.axes) == 1
    # A title or a legend takes much of a small figure.
    ax.set_ylabel(wrapped(ylabel, (0.75 if small else 1.2) * height, SIZE))
    if not hasattr(ax, "get_zlim") and not any(isinstance(one, QuadMesh) for one in ax.collections):
        ax.spines[["top", "right"]].set_visible(False)
    say(ax, title, note)
    if legend:
        place_legend(ax)
    if small and _is_cut(ax.yaxis.label):
        ax.set_ylabel(ax.get_ylabel(), loc="top")  # layouts leave no room above the axes for it
    return ax


def _is_cut(text):
    """Whether a text reaches beyond the upper edge of its figure."""
    text.figure.draw_without_rendering()
    return text.get_window_extent().y1 > text.figure.bbox.y1


def say(ax, title, note):
    """A title above the axes on the left, and a note on the right, on separate lines."""
    width = ax.get_position().width * ax.figure.get_figwidth()
    if note:
        ax.set_title(note, loc="right", fontsize="small", **muted())
    if title:
        free = ax.get_aspect() == "auto" or ax.get_adjustable() == "datalim"
        room = (0.8 if free else 0.5) * slot(ax)  # from the left of the axes
        text = wrapped(title, max(width, room) if free else room, "axes.titlesize")
        beside = text_width(text, "axes.titlesize") + text_width(note, SIZE) < width
        ax.set_title(text + "\n" * (bool(note) and not beside), loc="left")


def slot(ax):
    """The width in inches that some axes have in their figure, with all that is beside them."""
    place = ax.get_subplotspec()
    share = 1.0 if place is None else len(place.colspan) / place.get_gridspec().ncols
    return share * ax.figure.get_figwidth()


def muted():
    """Keywords of a subdued text, on light and dark backgrounds."""
    return {"color": matplotlib.rcParams["text.color"], "alpha": 0.7}


def place_legend(ax, share=SHARE, least=2, **keywords):
    """A legend for some axes, if it has more than one name, or `least`.

    It is beside the data if the figure has room; below them if it is higher than the figure, or
    would take too much of the width; inside the axes if the figure's layout makes no room for
    legends.
    """
    handles, names = ax.get_legend_handles_labels()
    if len(names) < least:
        return
    figure = ax.figure
    large = (
        legend_width(names) > share * slot(ax) or legend_height(len(names)) > figure.get_figheight()
    )
    if figure.get_layout_engine() is None or (large and len(figure.axes) > 1):
        visible(ax.legend(handles, names, loc="best", **keywords))
    elif large:
        legend_below(figure, handles, names, **keywords)
    else:
        x = 1.12 if hasattr(ax, "get_zlim") else 1.01  # beside the numbers of the third axis
        beside = {"loc": "upper left", "bbox_to_anchor": (x, 1.0), "frameon": False}
        visible(ax.legend(handles, names, **beside, **keywords))


def visible(legend):
    """Enlarge the samples of small dots, whose colour could not be seen."""
    for sample in legend.legend_handles:
        if isinstance(sample, Line2D) and sample.get_linestyle() == "None":
            sample.set_markersize(max(sample.get_markersize(), 5.0))


def legend_below(figure, handles, names, **keywords):
    """A legend below all axes of a figure, in as many columns as fit."""
    each = legend_width(names)
    columns = max(1, min(len(names), int(figure.get_figwidth() / each)))
    rows = -(-len(names) // columns)
    columns = -(-len(names) // rows)  # no more than as many rows need
    if getattr(figure, "grows", False) and rows > ROWS:
        figure.set_figheight(figure.get_figheight() + legend_height(rows - ROWS))
    below = {"loc": "outside lower center", "ncols": columns, "frameon": False}
    if figure.get_figwidth() < SMALL:
        below |= {"fontsize": "small", "labelspacing": 0.25, "borderaxespad": 0.2}
    visible(figure.legend(handles, names, **(below | keywords)))


def legend_width(names):
    """Approximate width in inches of a legend of one column: the longest name and the sample."""
    return max(text_width(name, "legend.fontsize") for name in names) + 0.55


def legend_height(rows):
    """Approximate height in inches of the rows of a legend."""
    return rows * points("legend.fontsize") * 0.021  # 1.5 of the size a row


def two_digits(value):
    """A number with its sign, without an exponent from 0.01 to 10 000.

    Examples
    --------
    >>> two_digits(-99.99), two_digits(0.0123), two_digits(3e7)
    ('-100', '+0.012', '+3e+07')
    """
    if 0.01 <= abs(value) < 1e4:
        return np.format_float_positional(float(f"{value:.1e}"), trim="-", sign=True)
    return f"{value:+.2g}"


def text_width(text, size):
    """Approximate width in inches of the longest line of a text in the size of an rcParam."""
    return max(map(len, text.split("\n"))) * points(size) * 0.0077  # 0.55 of the size a letter


def wrapped(text, width, size, bold=False):
    """A text in lines of at most `width` inches."""
    letters = max(12, int(width / (points(size) * (0.0092 if bold else 0.0077))))
    return "\n".join(textwrap.fill(line, letters) for line in text.split("\n"))


def points(size):
    """Points of the size that an rcParam has, "medium" or a number."""
    from matplotlib.font_manager import FontProperties

    return FontProperties(size=matplotlib.rcParams[size]).get_size_in_points()


# Of the parameters that pictures share: type, default, type in words, description.
_SHARED = {
    "sources": ("Any", inspect.Parameter.empty, "Solution or Comparison",
                "The solutions to draw; of a large batch 30 trajectories, with a note."),
    "ax": ("Axes | None", None, "Axes, optional", "Where to draw; a new figure by default."),
    "legend": ("bool", True, "bool, optional", "Whether to put a legend beside the axes."),
    "exact": ("bool", True, "bool, optional",
              "Whether to draw the exact motion, if there is one."),
    "labels": ("Labels | None", None, "dict or sequence of str, optional",
               "Legend text by method name, or of each solution."),
    "window": ("tuple[float, float] | None", None, "tuple of float, optional",
               "Draw only from one time to another."),
    "x": ("str | ArrayLike | None", None, "str or array_like, optional",
          "What varies along the columns: a parameter, a component of the start, \"dt\", or\n"
          "    coordinates; by default the only thing that does."),
    "y": ("str | ArrayLike | None", None, "str or array_like, optional",
          "The same along the rows."),
    "label": ("str | None", None, "str, optional",
              "Label of the colours, or of the axis of the curve."),
    "log": ("bool | None", None, "bool, optional", "Whether they are shown logarithmically."),
    "colorbar": ("bool", True, "bool, optional",
                 "Whether to draw the scale of the colours beside the axes."),
    "title": ("str | None", None, "str, optional", "Title above the axes."),
    "subtitle": ("str", "", "str, optional", "Below the title, beside the legend."),
    "figsize": ("tuple[float, float] | None", None, "tuple of float, optional",
                "Width and height of a new figure in inches."),
}  # fmt: skip


def _text(name, value):
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {value!r:.80}")


def _number(name, value):
    if np.ndim(finite(name, value)):
        raise ValueError(f"{name} must be one number, got shape {np.shape(value)}")


_CHECKS = {"bool": truth, "str": _text, "float": _number, "tuple[float, float]": pair}


def check_types(given, kinds=None):
    """Refuse values that are not what annotations say, by default those of shared parameters."""
    for name, value in given.items():
        kind = (kinds or {}).get(name) or _SHARED.get(name, ("",))[0]
        check = _CHECKS.get(kind.removesuffix(" | None"))
        if check and not (value is None and "None" in kind):
            check(name, value)


class Page:
    """Called for axes with the usual size of a figure: the given ones, or those of a new figure.

    `shared` has the parameters of the picture that its function does not take itself.
    """

    def __init__(self, ax, figsize=None, **shared):
        check_axes(() if ax is None else [ax])
        self.ax, self.figsize, self.shared, self.panel = ax, figsize, shared, False

    def __call__(self, default=(8.4, 3.8), **keywords):
        return several_axes(self.ax, (1, 1), default, self.figsize, **keywords)[0, 0]


def picture(*also: str, legend: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Axes]]:
    """A decorator that makes a picture of a function that draws into a page.

    Parameters
    ----------
    *also : {"legend", "labels", "sources", "x", "y", "label", "log", "colorbar"}
        Parameters that the picture has besides `ax`, `title` and `figsize`, and the function does
        not: they are on its page. With "sources" the function gets their curves.
    legend : bool, optional
        Whether there is a legend if nothing is said.

    Returns
    -------
    callable
        The decorator. The function takes a `Page`, what is drawn and its own keywords, and returns
        the axes, or the axes, two labels, and perhaps a note; the picture, its signature and its
        docstring have the shared parameters as well. The function is its ``__wrapped__``.
    """

    def decorate(function):
        first = 2 if "sources" in also else 1
        own = list(inspect.signature(function).parameters.values())[first:]
        shared = ("ax", *(name for name in also if name != "sources"), "title", "figsize")
        told = {one.name: one.annotation for one in own if one.annotation is not one.empty}
        kind = own[0].annotation  # as text: the name of a class
        of_result = kind.isidentifier() and kind not in ("Any", "System")
        maker = re.search(r"``(pi[.\w]+)``", function.__doc__ or "")

        @wraps(function)
        def draw(*arguments, **keywords):
            about = {name: keywords.pop(name, _SHARED[name][1]) for name in shared}
            placed = {} if "sources" in also else dict(zip(told, arguments))
            check_types(about | placed | keywords, told)
            page, shown = Page(**about), about.get("legend", legend)
            if "sources" in also:
                arguments = [collect(arguments, about["labels"], page.ax, keywords)]
            elif of_result:
                what = arguments[0] if arguments else keywords.get(own[0].name)
                kinds = [one.__name__ for one in type(what).__mro__]
                if kind not in kinds:
                    cure = f": it is what {maker[1]} returns" if maker else ""
                    raise TypeError(f"{own[0].name} must be of class {kind}, got {kinds[0]}{cure}")
            try:
                drawn = function(page, *arguments, **keywords)
            except (AttributeError, TypeError) as error:
                if "unexpected keyword" not in str(error):
                    raise
                raise TypeError(f"{error}: {OF_AXES}") from None
            if not isinstance(drawn, tuple):
                return drawn
            ax, xlabel, ylabel, *note = drawn
            return finish(ax, xlabel, ylabel, shown, about["title"], *note)

        made: Any = draw
        made.__signature__, made.__doc__ = _told(function.__doc__, own, shared, "sources" in also)
        return made

    return decorate


def _told(text, own, shared, sources):
    """The signature and the docstring of a picture, with the shared parameters."""
    text = inspect.cleandoc(text or "")  # as the compiler itself does from Python 3.13 on
    told = [inspect.Parameter("sources", inspect.Parameter.VAR_POSITIONAL)] * sources
    told += own[:-1] + [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in shared]
    for i, one in enumerate(told):
        if one.name not in _SHARED:
            continue
        kind, default, words, meaning = _SHARED[one.name]
        default = default if one.default is one.empty else one.default
        told[i] = one.replace(annotation=kind, default=default)
        if text and not re.search(rf"^\*?{one.name}\b.* : ", text, re.MULTILINE):
            line = f"{'*' * (one.name == 'sources')}{one.name} : {words}\n    {meaning}\n"
            before = "-\n" if one.name == "sources" else "**keywords\n"
            place = text.index(before) + (2 if one.name == "sources" else 0)
            text = text[:place] + line + text[place:]
    return inspect.Signature([*told, own[-1]], return_annotation="Axes"), text
