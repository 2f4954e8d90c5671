"""Pages of panels: comparisons, a row per step, and dashboards of one motion."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from inspect import unwrap
from itertools import zip_longest

import matplotlib
import numpy as np

from ..analysis.conserved_energy import energy_drift
from ..analysis.observables import batch_of, energies, start_time
from ..analysis.phase import phase_drift as drift_of
from ..analysis.results import quiet, unit_of
from ..errors import one_record_warning
from ..values.types import Any, Axes, AxesArray, Comparison, Comparisons, Labels, Sequence, Solution
from .bodies import letters_of
from .curves import batch_size, collect, exact_curve
from .pictures import (
    SMALL,
    Page,
    check_types,
    chosen_panels,
    enlargement,
    figure_size,
    finish,
    left_out,
    legend_below,
    place_legend,
    points,
    say,
    several_axes,
    text_width,
    two_digits,
    visible,
    wrapped,
)
from .solution_curves import (
    LABELS,
    VISIBLE,
    component_names,
    energy,
    error,
    phase_drift,
    phase_portrait,
    portrait_pair,
    trajectory,
)
from .style import line_keywords

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
    width, height = (side / enlargement() for side in figsize)
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


def head_row(row, heading):
    """Write what tells a row from others to its left, or in the title of a single narrow panel."""
    first = row[0]
    wide = first.get_position().width * first.figure.get_figwidth()
    if len(row) == 1 and wide < NARROW:
        parts = ", ".join([first.get_title("left"), *heading.split("\n")])
        say(first, wrapped(parts, wide, "axes.titlesize"), first.get_title("right"))
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
    legend = figure.legend(
        handles,
        names,
        loc="upper right",
        bbox_to_anchor=(0.99, below),
        ncols=len(names),
        frameon=False,
        borderaxespad=0,
        borderpad=0,
    )
    visible(legend)


PERIODS = 5  # shown of a long oscillation, at its end, where methods differ most
PICTURES = {
    "motion": unwrap(trajectory),
    "phase portrait": unwrap(phase_portrait),
    "energy": unwrap(energy),
    "phase error": unwrap(phase_drift),
    "position error": unwrap(error),
    "energy error": partial(unwrap(error), quantity="energy"),
}


def possible_panels(curves):
    """The panels for which a system and its saves have data."""
    first = curves[0].solution
    system, names = first.system, first.system.state_names
    held = set(first.components).intersection(*(curve.solution.components for curve in curves))
    complete = all(len(c.solution.components) == system.dim for c in curves)
    true = system.exact(first.t[:1], first.initial)
    known = true is not None and np.isfinite(true[..., : system.dof or None]).all(axis=-1)
    exact = bool(np.any(known))  # of the turning of a body it may be NaN
    has = {
        "motion": True,
        "phase portrait": system.dim > 1
        and (system.dof or in_time(first))
        and {*portrait_pair(system)} <= held,
        "energy": system.has_energy and complete,
        "phase error": exact and complete and system.phase(first.origin) is not None,
        "position error": exact and set(names[: system.dof or None]) <= held,
        "energy error": system.has_energy and complete,
    }
    return [name for name, there in has.items() if there]


def in_time(solution):
    """Whether its motion is drawn against time, not as a path."""
    names = component_names(solution.system, None, solution.components)
    return len(names) == 1 and not letters_of(solution, flat=True)


def draw(name, ax, curves, window, keywords):
    """Draw a panel; what all panels leave out is noted once, elsewhere.

    Parameters
    ----------
    name : str
        One of `PICTURES`.
    ax : Axes
    curves : list of Curve
    window : tuple of float or None
        The part of a motion against time that is shown.
    keywords : dict
        For `Axes.plot`.

    Returns
    -------
    str
        The text of the vertical axis.
    """
    from matplotlib.ticker import MaxNLocator

    page, title, first = Page(ax), name, curves[0].solution
    page.panel = True
    if name == "motion":
        title, timed = "path", in_time(first)
        window = window if timed else None
        keywords = keywords | {"window": window}
        if timed:
            names = first.system.state_names[: first.system.dof]
            title = "position" if first.components[0] in names else "motion"
        if window is not None:
            start, end = window
            text = f"the last {abs(end - start):.2g}"
            if not np.isclose(end, np.ravel(first.t)[-1]):
                text = f"{start:g} to {end:g}"
            title = f"{title}, {text} {unit_of(first.system, 't')}".rstrip()
    _, xlabel, ylabel, note = PICTURES[name](page, curves, **keywords)
    if name == "motion" and window is not None:
        ax.set_xlim(sorted(window))
    finish(ax, xlabel, ylabel, False, title, "" if note == left_out(curves) else note)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    return ylabel


def last_periods(solution):
    """The interval of the last periods of a long oscillation, or None.

    Parameters
    ----------
    solution : Solution
        A solution of a system with a period; for a batch the median period is used.

    Returns
    -------
    tuple of float or None
        None if the whole run is not much longer, or the motion is not periodic.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> start, end = last_periods(pi.integrate(pi.systems.oscillator, dt=0.1, t_end=90.0))
    >>> print(f"{start:.2f} to {end:.2f}")
    58.58 to 90.00
    """
    period, t = period_of(solution), solution.t
    if period is None or t.ndim > 1:
        return None
    length = PERIODS * period
    start, end = float(start_time(solution)), float(t[-1])
    if not abs(end - start) > 1.5 * length:
        return None
    return (end - np.copysign(length, end - start), end)


def dies_away(solution, window):
    """Whether the exact motion swings less than half as far in a window as before it.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.spring(b=0.1), dt=0.01, t_end=60.0)
    >>> dies_away(sol, last_periods(sol))
    True
    """
    spans = (float(start_time(solution)), window[0]), window
    curves = [exact_curve(solution, np.linspace(a, b, 1000)) for a, b in spans]
    if any(states is None for states in curves):
        return False
    before, within = (np.median(np.ptp(states[..., 0], axis=0)) for states in curves)
    return bool(within < before / 2)


def period_of(solution):
    """Period of the exact motion (the median of a batch), or None if it is not known."""
    period = solution.system.period(solution.initial)
    if period is None or not np.size(period) or not np.isfinite(np.median(period)):
        return None
    return float(np.median(period))


PANELS = ("motion", "phase error", "energy", "phase portrait")
WIDTH, HEIGHT = 3.1, 2.87  # of one panel, inches
APART = 0.09  # of the height of the axes, at least: one line of text
NO_DRIFT = 0.05  # of the oscillation: an incomplete oscillation causes smaller trends


@one_record_warning()
def comparison(
    comparison: Comparison | Comparisons,
    *,
    panels: Sequence[str] | None = None,
    ax: Sequence[Axes] | AxesArray | Axes | None = None,
    window: tuple[float, float] | None = None,
    labels: Labels | None = None,
    title: str | None = None,
    subtitle: str = "",
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> AxesArray:
    """Draw all panels of a comparison in one figure: a row per dt, a column per quantity.

    The columns are position (against time: its last periods), phase error, energy and phase
    portrait, if the system has them. The numbers at the right edge, where all find room, are the
    final phase error and the change of the mean energy over the run.

    Parameters
    ----------
    comparison : Comparison or Comparisons
        The result of `pyintegrate.compare`; for several systems, the panels that all of them have.
    panels : sequence of str, optional
        Some of "motion", "phase error", "energy" and "phase portrait", in this order; all that
        the system has by default, in a column (``figsize=(3.4, 6)``) those that fit.
    ax : Axes, or sequence of Axes, optional
        Where to draw, one for each panel; a new figure by default.
    window : tuple of float, optional
        Times between which the position is drawn; by default the last 5 periods of a long
        oscillation, otherwise all.
    labels : dict, optional
        Legend text by method name; the method's title by default.
    title : str, optional
        Above the figure; the system's title by default.
    subtitle : str, optional
        Below the title, beside the legend.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.plot` in every panel.

    Returns
    -------
    ndarray of Axes
        (rows, panels); the figure is ``.figure``.

    Raises
    ------
    TypeError
        For anything but a comparison of at least one solution.
    ValueError
        For unknown panels, those without data, or another number of axes.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> c = pi.compare(pi.systems.oscillator, dt=[0.1, 0.25], t_end=90.0)
    >>> comparison(c).shape
    (2, 4)
    """
    if not hasattr(comparison, "summary"):
        kind = type(comparison).__name__
        raise TypeError(f"comparison must be what pi.compare returned, got {kind}")
    several: Any = {"": comparison} if hasattr(comparison, "equal_work") else comparison
    keywords, column = line_keywords(keywords), is_column(ax, figsize)
    check_types({"window": window, "title": title, "subtitle": subtitle})
    rows = [row for name, one in several.items() for row in _rows(one, labels, name)]
    held = [possible_panels(curves) for _, curves in rows]
    possible = [panel for panel in PANELS if all(panel in one for one in held)]
    names, notes = chosen_panels(panels, possible, PANELS), [subtitle]
    if panels is None and ax is None and figsize is not None:
        names = fitting(names, len(rows), figsize)
        notes += [f"{len(names)} of {len(possible)} panels"] * (len(names) < len(possible))
    usual = max(7.0, WIDTH * len(names) + 0.4), HEIGHT * len(rows) + 0.8
    shape = len(rows), len(names)
    small = column or (ax is None and figure_size(figsize, usual)[1] < 0.8 * HEIGHT * len(rows))
    ends = []
    with small_text(small):
        lying = (shape[0] * shape[1], 1) if column else shape
        axes = several_axes(ax, lying, usual, figsize).reshape(shape)
        for (heading, curves), row in zip(rows, axes):
            shown = last_periods(curves[0].solution) if window is None else window
            for panel, one in zip(names, row):
                ends += _panel(panel, one, curves, shown, keywords)
                for axis in ("x", "y") if small else ():  # also of ticks that are made later
                    one.tick_params(axis, labelsize=points(f"{axis}tick.labelsize"))
            if column and len(rows) == 1:
                notes.append(heading.replace("\n", ", "))
            else:
                head_row(row[:1] if column else row, heading)
        if ax is not None and title is None:
            place_legend(axes[0, 0])
        else:
            titles = dict.fromkeys(curves[0].solution.system.title for _, curves in rows)
            notes += dict.fromkeys(left_out(curves) for _, curves in rows)
            head_figure(axes[0, 0], title or ", ".join(titles), ", ".join(filter(None, notes)))
        if small:  # where titles and legends leave little height
            axes.figure.draw_without_rendering()
        for texts in ends:
            _final_values(*texts)
    return axes


def _panel(name, ax, curves, window, keywords):
    """A panel; what the errors and energies of single trajectories have come to, to be written."""
    before, names = len(ax.lines), [curve.label for curve in curves]
    ylabel = draw(name, ax, curves, window, keywords)
    ax.xaxis.get_major_formatter().set_useOffset(False)
    if name not in ("phase error", "energy") or any(batch_of(c.solution) for c in curves):
        return []
    if name == "phase error":
        ends = [float(drift_of(curve.solution)[-1]) for curve in curves]
        told = [(end, f"{end:+.3g}") for end in ends]
    else:
        lines = [line for line in ax.lines[before:] if line.get_label() in names]
        told = [_energy_change(*pair, ylabel == LABELS["ratio"]) for pair in zip(lines, curves)]
    return [(ax, curves, *zip(*told))]


def _rows(comparison, labels, name=""):
    """Heading and curves of each row: one for every dt, colours by method."""
    unit = unit_of(comparison.system, "t")
    groups = {}
    for key in comparison:
        step = key[1] if isinstance(key, tuple) else None
        groups.setdefault(step, []).append(comparison[key])
    rows = []
    for step, solutions in groups.items():
        fixed = [one for one in solutions if hasattr(one, "dt")]
        one = step if step is not None else fixed[0].dt if fixed else np.zeros(0)
        heading = f"dt = {one:g} {unit}".rstrip() if np.ndim(one) == 0 else "various dt"
        heading = heading if np.size(one) else "to a tolerance"
        period = period_of(solutions[0])
        if period is not None and np.ndim(one) == 0:
            each = solutions[0].system.period(solutions[0].initial)
            ends = [end(each[np.isfinite(each)]) / abs(one) for end in (np.min, np.max)]
            steps = " to ".join(dict.fromkeys(f"{end:.3g}" for end in ends))
            heading += f"\n{steps} steps a period"
        if name:
            heading = f"{name}\n{heading}"
        if comparison.equal_work:
            heading += "\nequal work"
        rows.append((heading, collect([solutions], labels)))
    return rows


def _energy_change(line, curve, share):
    """Where the drawn energy of a curve ends, and how far it has moved, as text.

    A bounded oscillation has no drift: its trend is a small part of its amplitude, and the
    amplitude is the same in both halves of the run, within a half.
    """
    solution, drawn = curve.solution, line.get_ydata()[np.isfinite(line.get_ydata())]
    values, start = energies(solution)  # all saves: the line may be thinned to bands
    held = values[solution.valid]
    if not len(drawn) or not len(held):
        return np.nan, ""
    end = drawn[-1]
    if not np.isfinite(held[-1]):
        return end, "exploded"
    drift, t = energy_drift(solution), solution.t
    with quiet():  # for trajectories that exploded
        trend = abs(drift.slope * (t[-1] - t[0]))
        error = solution.energy_error()[solution.valid]
        early, late = np.array_split(error, 2)
        bounded = len(late) > 0 and 0.5 * np.ptp(early) < np.ptp(late) < 1.5 * np.ptp(early)
    if bounded and (trend < NO_DRIFT * drift.oscillation or not drift.secular):
        return end, "no drift"
    change = (held[-1] - start) / (abs(start) or 1.0)
    if (share or (start and abs(change) > VISIBLE)) and change < 10:
        return end, f"{two_digits(100 * change)} %"
    return end, f"×{two_digits(change + 1)[1:]}" if share else f"{change:+.1e}"


def _final_values(ax, curves, ends, texts):
    """Write a text beside the end of each curve, in its colour, without overlaps."""
    low, high = ax.get_ylim()
    places = np.clip((np.asarray(ends) - low) / (high - low), 0, 1)
    order = [i for i in np.argsort(places) if np.isfinite(ends[i])]
    line = 1.25 * points("font.size") / 72 / (ax.get_position().height * ax.figure.get_figheight())
    room = max(APART, line) * np.arange(len(order))  # of those below
    if np.any(room > 1):  # the table has them
        return
    pushed = np.maximum.accumulate(places[order] - room) + room  # up, until none overlap
    places[order] = np.minimum(pushed, 1 - room[::-1])  # and down into the axes
    for i in order:
        ax.annotate(
            texts[i].replace("-", "\N{MINUS SIGN}"),
            (1.02, places[i]),
            xycoords="axes fraction",
            va="center",
            color=curves[i].keywords["color"],
            annotation_clip=False,
        )


ALONE = (4.3, 3.4)  # inches, for a single panel


@one_record_warning()
def dashboard(
    *sources: Any,
    panels: Sequence[str] | None = None,
    ax: Sequence[Axes] | AxesArray | Axes | None = None,
    labels: Labels | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> AxesArray:
    """Draw motion, phase portrait, energy, phase error and both errors on one page.

    Parameters
    ----------
    *sources : Solution or Comparison
        The solutions to draw; of a large batch 30 trajectories, with a note.
    panels : sequence of str, optional
        Some of "motion", "phase portrait", "energy", "phase error", "position error" and
        "energy error", in a row (of three at most); by default all.
    ax : sequence of Axes, optional
        Where to draw, one for each panel; a new figure by default.
    labels : dict, optional
        Legend text by method name.
    title : str, optional
        Title; the system's title by default.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.plot` in every panel.

    Returns
    -------
    ndarray of Axes
        (2, 3); panels without data are left blank and invisible. With `panels` (1, n), or
        (2, 3) for more than three. The figure is ``.figure``.

    Raises
    ------
    ValueError
        For unknown panels, those without data, or another number of axes.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> c = pi.compare(pi.systems.pendulum, dt=0.05, t_end=60.0)
    >>> axes = dashboard(c)
    >>> [ax.get_title("left") for ax in axes.ravel()]  # doctest: +NORMALIZE_WHITESPACE
    ['position, the last 11 s', 'phase portrait', 'energy',
     'phase error', 'position error', 'energy error']
    >>> dashboard(c, panels=["energy"], figsize=(3.4, 2.6)).shape
    (1, 1)
    """
    check_types({"title": title})
    curves, keywords = collect(sources, labels), line_keywords(keywords)
    possible = possible_panels(curves)
    names = chosen_panels(panels, possible, PICTURES)
    if panels is None and ax is None:
        names = list(PICTURES)
    rows = 2 if ax is None and len(names) > 3 else 1
    shape = (rows, 3 if rows == 2 else len(names))
    size = (13.0, 7.0) if rows == 2 else (ALONE[0] * shape[1], ALONE[1])
    axes = several_axes(ax, shape, size, figsize)
    places, window = list(axes.ravel()), last_periods(curves[0].solution)
    if window is not None and len(curves) == 1 and dies_away(curves[0].solution, window):
        window = None  # its decay is what one sees; of several, how far they are apart
    for place, (name, one) in enumerate(zip_longest(names, places)):
        if name not in possible:
            one.set_visible(False)
            continue
        draw(name, one, curves, window, keywords)
        one.minorticks_off()
        if "error" in name and place % shape[1]:
            one.set_ylabel(one.get_ylabel().replace("relative ", ""))
    first = places[0]
    handles, texts = first.get_legend_handles_labels()
    if ax is not None:
        place_legend(first)
    elif texts:
        legend_below(first.figure, handles, texts)
    if ax is None or title is not None:
        text = _title(curves, title, first.figure.get_figwidth())
        first.figure.suptitle(text, x=0.01, ha="left", fontweight="bold")
    return axes


def overview(
    solution: Solution, *, panels: Sequence[str] | None = None, **keywords: Any
) -> AxesArray:
    """Draw a solution: its motion, and its energy if the system has one.

    Parameters
    ----------
    solution : Solution
    panels : sequence of str, optional
        Any of those of `dashboard`; by default the motion and the energy.
    **keywords
        As in `dashboard`: ax, title, figsize, labels, and others for `Axes.plot`.

    Returns
    -------
    ndarray of Axes
        (panels,); the figure is ``.figure``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> axes = overview(pi.integrate(pi.systems.pendulum, dt=0.05, t_end=10.0))
    >>> [ax.get_title("left") for ax in axes]
    ['position', 'energy']
    """
    if "components" in keywords:
        raise TypeError(
            "plot() draws the motion and the energy: for some components there is"
            " pi.plots.trajectory(solution, components=...)"
        )
    if panels is None:
        possible = possible_panels(collect([solution]))
        panels = [panel for panel in ("motion", "energy") if panel in possible]
    return dashboard(solution, panels=panels, **keywords).ravel()


def _title(curves, title, width):
    """The given title, or the system and, on one line, its equation; and a note of omissions."""
    system, size = curves[0].solution.system, batch_size(curves[0].solution)
    note = left_out(curves) or (f"{size:,} trajectories" if size > 1 else "")
    names = [title] if title else [f"{system.title}: {system.equation}", system.title]
    texts = [", ".join(filter(None, [name, note])) for name in names]
    lines = [wrapped(text, width, "figure.titlesize", bold=True) for text in texts]
    return next((text for text in lines if "\n" not in text), lines[-1])
