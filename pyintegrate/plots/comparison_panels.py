"""Picture: methods side by side, a row of panels per step: motion, phase, energy, phase space."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.conserved_energy import energy_drift
from ..analysis.observables import energies, exact_states, phases, start_time
from ..analysis.phase import phase_drift as drift_of
from ..errors import one_record_warning
from .bodies import letters_of
from .comparing import layout
from .curves import collect
from .energy_curves import LABELS, energy
from .frame import (
    chosen_panels,
    figure_size,
    left_out,
    line_keywords,
    place_legend,
    points,
    say,
    several_axes,
    two_digits,
)
from .paths import component_names, portrait_pair, trajectory
from .phase_curves import phase_drift
from .phase_space import phase_portrait
from .style import unit_of
from .thinning import batch_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..analysis.comparisons import Comparisons
    from ..analysis.side_by_side import Comparison
    from ..values.types import Axes, AxesArray, Labels

WIDTH, HEIGHT = 3.1, 2.75  # of one panel, inches
APART = 0.09  # of the height of the axes, at least: one line of text
NO_DRIFT = 0.05  # of the oscillation: an incomplete oscillation causes smaller trends
PERIODS = 5  # shown of a long oscillation, at its end, where methods differ most


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
    portrait, if the system has them. The numbers at the right edge are the final phase
    error and the change of the mean energy over the run.

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
    several: list[tuple[Any, Any]] = []
    if hasattr(comparison, "summary"):
        several = list(comparison.items())
    if not several or not hasattr(several[0][1], "summary"):
        several = [("", comparison)]
    if not hasattr(comparison, "summary"):
        kind = type(comparison).__name__
        raise TypeError(f"comparison must be what pi.compare returned, got {kind}")
    from matplotlib.ticker import MaxNLocator

    keywords, column = line_keywords(keywords), layout.is_column(ax, figsize)
    rows = [row for name, one in several for row in _rows(one, labels, name)]
    firsts = [_panels(curves[0].solution) for _, curves in rows]
    possible = [panel for panel in firsts[0] if all(panel in others for others in firsts)]
    names = chosen_panels(panels, possible, PANELS)
    notes = [subtitle]
    if panels is None and ax is None and figsize is not None:
        names = layout.fitting(names, len(rows), figsize)
        notes += [f"{len(names)} of {len(possible)} panels"] * (len(names) < len(possible))
    below = 0.06 * sum(len(curves) for _, curves in rows)  # a long legend
    large = max(1.0, points("font.size") / 10)
    size = max(7.0, WIDTH * len(names) + 0.4) * large, (HEIGHT * len(rows) + 0.8 + below) * large
    shape = len(rows), len(names)
    size = figure_size(figsize, size)
    small = column or (ax is None and size[1] < 0.8 * HEIGHT * len(rows))
    with layout.small_text(small):
        lying = (shape[0] * shape[1], 1) if column else shape
        axes = several_axes(ax, lying, size).reshape(shape)
        for (heading, curves), row in zip(rows, axes, strict=True):
            shown = last_periods(curves[0].solution) if window is None else window
            for panel, one in zip(names, row, strict=True):
                PANELS[panel](one, curves, shown, keywords)
                one.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
                one.xaxis.get_major_formatter().set_useOffset(False)
                if small:
                    layout.hold_text(one)
            if column and len(rows) == 1:
                notes.append(heading.replace("\n", ", "))
            else:
                layout.head_row(row[:1] if column else row, heading)
        if ax is not None and title is None:
            place_legend(axes[0, 0])
            return axes
        titles = dict.fromkeys(one.system.title for _, one in several)
        notes += dict.fromkeys(left_out(curves) for _, curves in rows)
        layout.head_figure(axes[0, 0], title or ", ".join(titles), ", ".join(filter(None, notes)))
    return axes


def last_periods(solution, periods=PERIODS):
    """The interval of the last periods of a long oscillation, or None.

    Parameters
    ----------
    solution : Solution
        A solution of a system with a period; for a batch the median period is used.
    periods : int, optional
        How many.

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
    period = period_of(solution)
    t = np.asarray(solution.t)
    if period is None or t.ndim > 1:
        return None
    length = periods * period
    start, end = float(start_time(solution)), float(t[-1])
    if not abs(end - start) > 1.5 * length:
        return None
    return (end - np.copysign(length, end - start), end)


def period_of(solution):
    """Period of the exact motion (the median of a batch), or None if it is not known."""
    period = solution.system.period(solution.initial)
    if period is None or not np.size(period) or not np.isfinite(np.median(period)):
        return None
    return float(np.median(period))


def _rows(comparison, labels, name=""):
    """Heading and curves of each row: one for every dt, colours by method."""
    unit = unit_of(comparison.system, "t")
    groups: dict = {}
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
            heading += f"\n{period / abs(one):.3g} steps a period"
        if name:
            heading = f"{name}\n{heading}"
        if comparison.equal_work:
            heading += "\nequal work"
        rows.append((heading, collect([solutions], labels)))
    return rows


def whole(solution):
    """Whether all components of the states were saved."""
    return len(solution.components) == solution.system.dim


def in_time(solution):
    """Whether its motion is drawn against time, not as a path."""
    names = component_names(solution.system, None, solution.components)
    return len(names) == 1 and not letters_of(solution, flat=True)


def _panels(solution):
    """The panels for which this system has data."""
    system, complete = solution.system, whole(solution)
    plane = len(component_names(system)) > 1 and not system.dof
    pair = {*portrait_pair(system)} if system.dim > 1 else set()
    wanted = {
        "motion": True,
        "phase error": complete
        and phases(solution, solution.y) is not None
        and exact_states(solution) is not None,
        "energy": complete and energies(solution) is not None,
        "phase portrait": system.dim > 1 and not plane and pair <= set(solution.components),
    }
    return [name for name, has in wanted.items() if has]


def retitle(ax, curves, title):
    """The title of a panel; what all panels leave out is noted once, elsewhere."""
    note = ax.get_title("right")
    ax.set_title("", loc="right")
    say(ax, title or ax.get_title("left"), "" if note == left_out(curves) else note)


def motion(ax, curves, window, keywords):
    """The panel of the motion: against time, its last periods, or the path."""
    first = curves[0].solution
    if not in_time(first):
        trajectory(*curves, ax=ax, legend=False, **keywords)
        return retitle(ax, curves, "path")
    trajectory(*curves, ax=ax, legend=False, window=window, **keywords)
    positions = first.system.state_names[: first.system.dof or 1]
    title = "position" if first.components[0] in positions else "motion"
    if window is not None:
        unit = unit_of(first.system, "t")
        ax.set_xlim(sorted(window))
        title += f", the last {abs(window[1] - window[0]):.2g} {unit}".rstrip()
    return retitle(ax, curves, title)


def _phase(ax, curves, window, keywords):
    phase_drift(*curves, ax=ax, legend=False, **keywords)
    retitle(ax, curves, "phase error")
    if all(map(_single, curves)):
        ends = [float(drift_of(curve.solution)[-1]) for curve in curves]
        _final_values(ax, curves, ends, [f"{end:+.3g}" for end in ends])


def _energy(ax, curves, window, keywords):
    there, names = list(ax.lines), [curve.label for curve in curves]
    energy(*curves, ax=ax, legend=False, **keywords)
    retitle(ax, curves, "energy")
    if all(map(_single, curves)):
        share = ax.get_ylabel() == LABELS["ratio"]
        lines = [line for line in ax.lines if line not in there and line.get_label() in names]
        ends, texts = zip(
            *(_energy_change(*pair, share) for pair in zip(lines, curves, strict=True)), strict=True
        )
        _final_values(ax, curves, ends, texts)


def _portrait(ax, curves, window, keywords):
    phase_portrait(*curves, ax=ax, legend=False, **keywords)
    retitle(ax, curves, "phase portrait")


PANELS = {
    "motion": motion,
    "phase error": _phase,
    "energy": _energy,
    "phase portrait": _portrait,
}


def _single(curve):
    """Whether a solution is one trajectory, so that one number describes it."""
    return batch_of(curve.solution) == ()


def _energy_change(line, curve, share):
    """Where the drawn energy of a curve ends, and how far it has moved, as text.

    A bounded oscillation has no drift: its trend is a small part of its amplitude, and the
    amplitude is not larger in the second half of the run than in the first.
    """
    drawn = line.get_ydata()[np.isfinite(line.get_ydata())]
    values, start = energies(curve.solution)  # all saves: the line may be thinned to bands
    held = values[curve.solution.valid & np.isfinite(values)]
    if not len(drawn) or not len(held):
        return np.nan, ""
    drift = energy_drift(curve.solution)
    t = np.asarray(curve.solution.t)
    with np.errstate(invalid="ignore", over="ignore"):  # for trajectories that exploded
        trend = abs(drift.slope * (t[-1] - t[0]))
        error = curve.solution.energy_error()[curve.solution.valid]
        early, late = np.array_split(error, 2)
        bounded = len(late) > 0 and np.ptp(late) < 1.5 * np.ptp(early)
    if bounded and (trend < NO_DRIFT * drift.oscillation or not drift.secular):
        return drawn[-1], "no drift"
    change = (held[-1] - start) / (start if share else abs(start) or 1.0)
    if share and change < 10:
        return drawn[-1], f"{two_digits(100 * change)} %"
    return drawn[-1], f"×{two_digits(change + 1)[1:]}" if share else f"{change:+.1e}"


def _final_values(ax, curves, ends, texts):
    """Write a text beside the end of each curve, in its colour, without overlaps."""
    low, high = ax.get_ylim()
    places = np.clip((np.asarray(ends) - low) / (high - low), 0, 1)
    order = [i for i in np.argsort(places) if np.isfinite(ends[i])]
    line = 1.25 * points("font.size") / 72 / (ax.get_position().height * ax.figure.get_figheight())
    apart = max(APART, line)
    for i, j in pairwise(order):  # push up what would overlap, then down what left the axes
        places[j] = max(places[j], places[i] + apart)
    if order:
        places[order[-1]] = min(places[order[-1]], 1.0)
    for j, i in pairwise(order[::-1]):
        places[i] = min(places[i], places[j] - apart)
    for i in order:
        ax.annotate(
            texts[i].replace("-", "\N{MINUS SIGN}"),
            (1.02, places[i]),
            xycoords="axes fraction",
            va="center",
            color=curves[i].keywords["color"],
            annotation_clip=False,
        )
