"""Picture: methods side by side, a row of panels per step: motion, phase, energy, phase space."""

from itertools import pairwise

import numpy as np

from ..analysis.conserved_energy import energy_drift
from ..analysis.observables import energies, exact_states, phases, start_time
from ..analysis.phase import phase_drift as drift_of
from ..errors import one_record_warning
from .curves import batch_of, collect
from .energy_curves import LABELS, energy
from .paths import component_names, trajectory
from .phase_curves import phase_drift
from .phase_space import phase_portrait
from .style import unit_of

WIDTH, HEIGHT = 3.1, 2.75  # of one panel, inches
APART = 0.09  # of the height of the axes: one line of text
NO_DRIFT = 0.05  # of the oscillation: a smaller trend is what an unfinished swing looks like
PERIODS = 5  # shown of a long oscillation, at its end, where methods differ most


@one_record_warning()
def comparison(
    comparison, *, window=None, labels=None, title=None, subtitle="", figsize=None, **keywords
):
    """Draw all panels of a comparison in one figure: a row per dt, a column per question.

    The columns are position (against time: its last periods), phase error, energy and phase
    portrait, as far as the system has them. The numbers at the right edge are the final phase
    error and the change of the mean energy over the run.

    Parameters
    ----------
    comparison : Comparison or Comparisons
        What `pyintegrate.compare` returned; of several systems, the panels that all of them have.
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
        Width and height in inches.
    **keywords
        For `Axes.plot` in every panel.

    Returns
    -------
    ndarray of Axes
        (rows, panels); the figure is `axes[0, 0].figure`.

    Raises
    ------
    TypeError
        For anything but a comparison of at least one solution.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> c = pi.compare(pi.systems.oscillator, dt=[0.1, 0.25], t_end=90.0)
    >>> comparison(c).shape
    (2, 4)
    """
    several = list(comparison.items()) if hasattr(comparison, "summary") else []
    if not several or not hasattr(several[0][1], "summary"):
        several = [("", comparison)]
    if not hasattr(comparison, "summary"):
        kind = type(comparison).__name__
        raise TypeError(f"comparison must be what pi.compare returned, got {kind}")
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator

    rows = [row for name, one in several for row in _rows(one, labels, name)]
    firsts = [_panels(curves[0].solution) for _, curves in rows]
    panels = [panel for panel in firsts[0] if all(panel in others for others in firsts)]
    below = 0.06 * sum(len(curves) for _, curves in rows)  # a long legend
    size = figsize or (max(7.0, WIDTH * len(panels) + 0.4), HEIGHT * len(rows) + 0.8 + below)
    figure, axes = pyplot.subplots(
        len(rows), len(panels), figsize=size, layout="constrained", squeeze=False
    )
    for (heading, curves), row in zip(rows, axes, strict=True):
        shown = last_periods(curves[0].solution) if window is None else window
        for panel, ax in zip(panels, row, strict=True):
            PANELS[panel](ax, curves, shown, keywords)
            ax.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
            ax.xaxis.get_major_formatter().set_useOffset(False)
        row[0].annotate(
            heading,
            (0, 0.5),
            (-8, 0),
            xycoords=row[0].yaxis.label,
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="center",
            multialignment="center",
            fontweight="bold",
        )
    titles = dict.fromkeys(one.system.title for _, one in several)
    _header(figure, axes[0, 0], title or ", ".join(titles), subtitle)
    return axes


def last_periods(solution, periods=PERIODS):
    """The times between which the last periods of a long oscillation lie, or None.

    Parameters
    ----------
    solution : Solution
        Of a system with a period; the median of a batch counts.
    periods : int, optional
        How many.

    Returns
    -------
    tuple of float or None
        None where the whole run is not much longer, or nothing repeats.

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
    """Period of the exact motion (the median of a batch), or None where there is none."""
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
        one = step if step is not None else solutions[0].dt
        heading = f"dt = {one:g} {unit}".rstrip() if np.ndim(one) == 0 else "various dt"
        period = period_of(solutions[0])
        if period is not None and np.ndim(one) == 0:
            heading += f"\n{period / abs(one):.3g} steps a period"
        if name:
            heading = f"{name}\n{heading}"
        if comparison.equal_work:
            heading += "\nequal work"
        rows.append((heading, collect([solutions], labels)))
    return rows


def _panels(solution):
    """The panels that this system has something to show in."""
    system = solution.system
    phase = phases(solution, solution.y) is not None and exact_states(solution) is not None
    plane = len(component_names(system)) > 1 and not system.dof
    wanted = {
        "motion": True,
        "phase": phase,
        "energy": energies(solution) is not None,
        "portrait": system.dim > 1 and not plane,
    }
    return [name for name, has in wanted.items() if has]


def _header(figure, ax, title, subtitle):
    """Title, and below it subtitle and legend, out of the way of the data."""
    handles, names = ax.get_legend_handles_labels()
    figure.suptitle(f"{title}\n ", x=0.01, ha="left", fontsize=12, fontweight="bold")
    below = 1 - 0.3 / figure.get_figheight()
    figure.text(0.01, below, subtitle, va="top")
    # About 0.08 inch a character, 0.6 a line sample: what does not fit at the top goes below.
    width = 0.08 * (len(subtitle) + sum(map(len, names))) + 0.6 * len(names)
    if width > figure.get_figwidth():
        columns = max(1, int(figure.get_figwidth() / (0.08 * max(map(len, names)) + 0.6)))
        figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)
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


def _motion(ax, curves, window, keywords):
    if len(component_names(curves[0].solution.system)) > 1:
        ax.set_title("path", loc="left")
        return trajectory(*curves, ax=ax, legend=False, **keywords)
    trajectory(*curves, ax=ax, legend=False, window=window, **keywords)
    ax.set_title("position", loc="left")
    if window is not None:
        unit = unit_of(curves[0].solution.system, "t")
        ax.set_xlim(sorted(window))
        span = f"{abs(window[1] - window[0]):.2g} {unit}".rstrip()
        ax.set_title(f"position, the last {span}", loc="left")


def _phase(ax, curves, window, keywords):
    phase_drift(*curves, ax=ax, legend=False, **keywords)
    ax.set_title("phase error", loc="left")
    if all(map(_single, curves)):
        ends = [float(drift_of(curve.solution)[-1]) for curve in curves]
        _final_values(ax, curves, ends, [f"{end:+.3g}" for end in ends])


def _energy(ax, curves, window, keywords):
    energy(*curves, ax=ax, legend=False, **keywords)
    ax.set_title("energy", loc="left")
    if all(map(_single, curves)):
        share = ax.get_ylabel() == LABELS["ratio"]
        ends, texts = zip(*(_energy_change(ax, curve, share) for curve in curves), strict=True)
        _final_values(ax, curves, ends, texts)


def _portrait(ax, curves, window, keywords):
    phase_portrait(*curves, ax=ax, legend=False, **keywords)
    ax.set_title("phase portrait", loc="left")


PANELS = {"motion": _motion, "phase": _phase, "energy": _energy, "portrait": _portrait}


def _single(curve):
    """Whether a solution is one trajectory, so that one number can stand for it."""
    return batch_of(curve.solution) == ()


def _energy_change(ax, curve, share):
    """Where the drawn energy of a curve ends, and how far it has moved, as a text.

    A bounded oscillation has no drift: its trend is a small part of its swing, and it swings no
    farther in the second half of the run than in the first.
    """
    (line,) = (line for line in ax.lines if line.get_label() == curve.label)
    drawn = line.get_ydata()[np.isfinite(line.get_ydata())]
    if not len(drawn):
        return np.nan, ""
    drift = energy_drift(curve.solution)
    t = np.asarray(curve.solution.t)
    with np.errstate(invalid="ignore", over="ignore"):  # of trajectories that exploded
        trend = abs(drift.slope * (t[-1] - t[0]))
        error = curve.solution.energy_error()[curve.solution.valid]
        early, late = np.array_split(error, 2)
        bounded = len(late) > 0 and np.ptp(late) < 1.5 * np.ptp(early)
    if bounded and (trend < NO_DRIFT * drift.oscillation or not drift.secular):
        return drawn[-1], "no drift"
    change = drawn[-1] - drawn[0]
    if share:
        return drawn[-1], f"{100 * change:+.2g} %" if change < 10 else f"×{drawn[-1]:.2g}"
    return drawn[-1], f"{change:+.1e}"


def _final_values(ax, curves, ends, texts):
    """Write a text beside the end of each curve, in its colour, without overlaps."""
    low, high = ax.get_ylim()
    places = np.clip((np.asarray(ends) - low) / (high - low), 0, 1)
    order = [i for i in np.argsort(places) if np.isfinite(ends[i])]
    for i, j in pairwise(order):  # push up what would overlap, then down what left the axes
        places[j] = max(places[j], places[i] + APART)
    if order:
        places[order[-1]] = min(places[order[-1]], 1.0)
    for j, i in pairwise(order[::-1]):
        places[i] = min(places[i], places[j] - APART)
    for i in order:
        ax.annotate(
            texts[i].replace("-", "\N{MINUS SIGN}"),
            (1.02, places[i]),
            xycoords="axes fraction",
            va="center",
            color=curves[i].keywords["color"],
            annotation_clip=False,
        )
