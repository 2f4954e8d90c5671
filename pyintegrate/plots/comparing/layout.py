"""Where the panels of a comparison lie, with their headings: beside each other, or in a column."""

from contextlib import contextmanager

import matplotlib

from ..frame import SMALL, figure_size, legend_below, points, say, text_width, wrapped

NARROW = 4.0  # inches: a panel that has no room beside it
BESIDE = 2.5  # inches of width that one of several panels beside each other takes
LEAST = 1.3  # inches of height that a panel in a column takes, with its title and axis
AROUND = 0.8  # inches of title and legend
TELLING = ("energy", "phase error", "motion", "phase portrait")  # those kept first
TEXT = 8.0  # points, in a column


def is_column(ax, figsize):
    """Whether a new figure is as narrow as a column of a journal.

    Examples
    --------
    >>> is_column(None, (3.4, 6.0)), is_column(None, None)
    (True, False)
    """
    size = figure_size(figsize, None)
    return ax is None and size is not None and size[0] < SMALL


def fitting(names, rows, figsize):
    """The panels that a page or a column has room for, the most telling ones; at least one.

    Examples
    --------
    >>> fitting(["motion", "phase error", "energy", "phase portrait"], 1, (3.4, 3.6))
    ['phase error', 'energy']
    """
    width, height = figsize
    most = int(width / BESIDE if width >= SMALL else (height - AROUND) / (LEAST * rows))
    kept = sorted(names, key=TELLING.index)[: max(1, most)]
    return [name for name in names if name in kept]


@contextmanager
def small_text(small):
    """Texts of the size that journals ask for, unless a size of one's own is set.

    A new figure may load the backend, which sets what `matplotlib.rc_context` would undo.
    """
    own = matplotlib.rcParams["font.size"]
    if small and own == matplotlib.rcParamsDefault["font.size"]:
        matplotlib.rcParams["font.size"] = TEXT
    try:
        yield
    finally:
        matplotlib.rcParams["font.size"] = own


def hold_text(ax):
    """Ticks that are made when the figure is drawn have the size of now."""
    for axis in ("x", "y"):
        ax.tick_params(axis, labelsize=points(f"{axis}tick.labelsize"))


def head_row(row, heading):
    """Write what tells a row from others to its left, or in the title of a single narrow panel."""
    first = row[0]
    wide = first.get_position().width * first.figure.get_figwidth()
    if len(row) == 1 and wide < NARROW:
        head_panel(first, heading, wide)
        return
    first.annotate(
        heading,
        (0, 0.5),
        (-8, 0),
        xycoords=first.yaxis.label,
        textcoords="offset points",
        rotation=90,
        ha="right",
        va="center",
        multialignment="center",
        fontweight="bold",
    )


def head_panel(ax, heading, wide):
    """Write the same beside the title of a panel."""
    parts = ", ".join([ax.get_title("left"), *heading.split("\n")])
    say(ax, wrapped(parts, wide, "axes.titlesize"), ax.get_title("right"))


def head_figure(ax, title, subtitle):
    """Title, and below it subtitle and legend, out of the way of the data."""
    figure = ax.figure
    handles, names = ax.get_legend_handles_labels()
    wide = figure.get_figwidth()
    lines = wrapped(title, wide, "figure.titlesize", bold=True)
    subtitle = wrapped(subtitle, wide, "font.size")
    # A legend that does not fit beside the subtitle goes below.
    width = text_width(subtitle, "font.size")
    width += sum(text_width(name, "legend.fontsize") + 0.6 for name in names)
    second = "\n " * (1 + subtitle.count("\n")) if subtitle or width <= wide else ""
    figure.suptitle(lines + second, x=0.01, ha="left", fontsize="large", fontweight="bold")
    line = 0.03 * points("font.size") * (1 + 0.65 * lines.count("\n"))  # inches
    below = 1 - line / figure.get_figheight()
    figure.text(0.01, below, subtitle, va="top")
    if width > wide:
        small = {"fontsize": "medium"} if wide < SMALL else {}  # of the small text
        legend_below(figure, handles, names, **small)
        return
    figure.legend(
        handles,
        names,
        loc="upper right",
        bbox_to_anchor=(0.99, below),
        ncols=len(names),
        frameon=False,
        borderaxespad=0,
        borderpad=0,
    )
