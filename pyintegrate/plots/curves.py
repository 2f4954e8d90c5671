"""The contents of a picture: labelled, coloured solutions, and the lines that show them."""

from dataclasses import dataclass, field

import numpy as np

from ..adaptive.dense_output import filled
from ..solution.jumps import beyond_jump, has_jumped
from .comparing.telling import looks_of, parts_of, texts_of
from .frame import line_keywords
from .style import PALETTE, exact_look
from .thinning import (
    LINE,
    POINTS,
    batch_of,
    batch_size,
    chosen_trajectories,
    envelope,
    jumps_between,
    orbit,
    parted,
    step_length,
)

FEW = 8  # batches up to this size also show their exact solutions
DOTS = 0.05  # steps longer than this fraction of the picture are dots: lines would cut corners
DASHED = 12  # oscillations above which dashes no longer look like a line


@dataclass(frozen=True, eq=False)
class Curve:
    """One solution to draw: its name in the legend, its colour and line style."""

    solution: object
    label: str
    keywords: dict = field(default_factory=dict)
    parts: tuple = ()  # for a small batch those of each trajectory, with its name

    def look(self, number):
        """Keywords of one of its trajectories; one name for all is in the legend once."""
        if self.parts:
            return self.parts[number]
        return self.keywords | {"label": self.label if number == 0 else "_nolegend_"}


def collect(sources, labels=None, ax=None, keywords=None):
    """Solutions and comparisons as a flat list of curves.

    Parameters
    ----------
    sources : tuple
        Solutions, comparisons, or lists of them; or curves, which are returned unchanged.
    labels : dict or sequence of str, optional
        Legend text by method name, or of each solution; the method's title by default, with what
        tells several by one method apart.
    ax : Axes, optional
        Where they will be drawn: colours of its lines are avoided.
    keywords : dict, optional
        For `Axes.plot`: a `label` is taken out.

    Returns
    -------
    list of Curve
        Colours distinguish methods, or the trajectories of one; line styles several solutions by
        each of several methods.

    Raises
    ------
    TypeError
        For anything else, and if there is nothing to draw.
    ValueError
        For a wrong number of labels.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> [curve.keywords["color"] for curve in collect([pi.compare(pi.systems.spring, dt=0.1,
    ...                                                           n_steps=10)])]
    ['#0072B2', '#D55E00']
    """
    if sources and all(isinstance(source, Curve) for source in sources):
        return list(sources)
    solutions = list(_solutions(sources))
    if not solutions:
        raise TypeError("there is nothing to draw: give one or more solutions or comparisons")
    names = [solution.method.name for solution in solutions]
    own = (keywords or {}).pop("label", None)
    texts = texts_of(solutions, names, labels if own is None else [own] * len(names))
    few = len(names) == 1 and own is None and 1 < batch_size(solutions[0]) <= len(PALETTE)
    if few and all(told := parts_of(solutions[0])):
        looks = looks_of(names * len(told), ax)
        parts = [look | {"label": text} for look, text in zip(looks, told, strict=True)]
        return [Curve(solutions[0], texts[0], looks[0], tuple(parts))]
    return [*map(Curve, solutions, texts, looks_of(names, ax))]


def _solutions(sources):
    """Every solution among the arguments of a plot function, in order."""
    for source in sources:
        if hasattr(source, "y") and hasattr(source, "system"):
            yield source
        elif hasattr(source, "values"):
            yield from _solutions(source.values())
        elif isinstance(source, (list, tuple)):
            yield from _solutions(source)
        else:
            raise TypeError(
                f"plots draw Solutions and Comparisons, got {type(source).__name__}: "
                "pass what pi.integrate or pi.compare returned"
            )


def times_of(solution, index):
    """Saved times of one trajectory, (n_saved,)."""
    t = np.asarray(solution.t)
    return t[(slice(None), *index)] if t.ndim > 1 else t


def valid_values(solution, values, index):
    """One trajectory of (n_saved, *batch) values as float64, NaN after its failure."""
    valid = np.asarray(solution.valid)[(slice(None), *index)]
    return np.where(valid, np.asarray(values)[(slice(None), *index)], np.nan).astype(np.float64)


def against_time(ax, curve, values, keywords, window=None, bands=False, name=None):
    """Draw (n_saved, *batch) values against time, thinned, a cross where a trajectory failed.

    With `bands`, a curve that oscillates too fast for the picture becomes a pale band between its
    extremes with its running mean: otherwise it would be a solid block that hides all others.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    curve : Curve
        Gives the times, colour and label.
    values : ndarray
        (n_saved, *batch).
    keywords : dict
        For `Axes.plot`; they override the curve's own.
    window : tuple of float, optional
        Only saves from one time to another.
    bands : bool, optional
        Whether fast oscillations may become bands.
    name : str, optional
        The component that the values are, if any: then long steps are filled in.
    """
    keywords = line_keywords(keywords)
    chosen = chosen_trajectories(batch_of(curve.solution))
    for number, index in enumerate(chosen):
        t = times_of(curve.solution, index)
        one = valid_values(curve.solution, values, index)
        if name is not None:
            t, (one,) = filled(curve.solution, index, [name], t, [one])
        if window is not None:
            inside = (t >= min(window)) & (t <= max(window))
            t, one = t[inside], one[inside]
        style = {"linewidth": 1.3, "alpha": opacity(len(chosen))} | curve.look(number) | keywords
        if swings_of(one) > DASHED and not bands and "linestyle" not in keywords:
            style["linestyle"] = "-"
        if len(one) == 1:
            style = {"marker": "o"} | style  # a line of one point is invisible
        swing = running_band(one) if bands else None
        if swing is not None:
            centre, low, high = swing
            colour, alpha = style["color"], 0.25 * style["alpha"]
            points = np.union1d(envelope(low, POINTS // 2), envelope(high, POINTS // 2))
            ax.fill_between(t[points], low[points], high[points], color=colour, alpha=alpha, lw=0)
            points = envelope(one)
            ax.plot(t[points], centre[points], **style)
        else:
            points = envelope(one)
            jumps = jumps_between(curve.solution, index, t[points])
            (line,) = ax.plot(*parted(jumps, t[points], one[points]), **style)
            mark_failure(ax, line, t, one)


def swings_of(values):
    """How often a curve oscillates, 0 if it has gaps.

    Counts the slowest of the oscillations that contribute much; their overtones are faster.

    Parameters
    ----------
    values : ndarray
        (n,), in order of time.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> swings_of(np.sin(2 * np.pi * np.linspace(0, 7, 1000)))
    7
    """
    if len(values) < 3 or not np.isfinite(values).all():
        return 0
    speeds = np.abs(np.fft.rfft(np.diff(values)))
    return int(np.argmax(speeds > 0.3 * speeds.max()))


def running_band(values, swings=20):
    """Running mean and extremes of a fast oscillation, or None if it is slow enough to draw.

    Parameters
    ----------
    values : ndarray
        (n,), in order of time.
    swings : int, optional
        The number of oscillations above which a band is drawn.

    Returns
    -------
    tuple of ndarray or None
        Mean, least and most, each (n,), over about three oscillations around each point; the
        mean is NaN at both ends, where the oscillations around a point are incomplete.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0, 300, 3001)
    >>> centre, low, high = running_band(t / 100 + np.sin(t))
    >>> bool(np.nanmax(np.abs(centre - t / 100)) < 0.01)
    True
    """
    found = swings_of(values)
    if found < swings:
        return None
    half = max(1, round(1.5 * len(values) / found))
    centre = _running_mean(_running_mean(values, half), half)  # twice: a sharper filter than once
    index = np.arange(len(values))
    starts = np.minimum(np.arange(0, len(values), half), len(values) - half)
    blocks = values[starts[:, np.newaxis] + np.arange(half)]
    middles = starts + half // 2
    low = np.interp(index, middles, blocks.min(axis=1))
    high = np.interp(index, middles, blocks.max(axis=1))
    return centre, low, high


def _running_mean(values, half):
    """Mean over 2 half + 1 values around each, NaN near the ends."""
    mean = np.full(len(values), np.nan)
    good = values[np.isfinite(values)]
    if len(good) > 2 * half:
        total = np.concatenate([[0.0], np.cumsum(good)])
        width = 2 * half + 1
        start = int(np.argmax(np.isfinite(values))) + half
        mean[start : start + len(good) - 2 * half] = (total[width:] - total[:-width]) / width
    return mean


def draw_path(ax, solution, values, index, together, window, style, keywords):
    """One trajectory in the plane or in space: a line, or dots where the steps are coarse.

    Parameters
    ----------
    ax : Axes
    solution : Solution
    values : dict of str to ndarray
        Two or three components by name, each (n_saved, *batch).
    index : tuple of int
        The trajectory.
    together : int
        How many trajectories share the picture.
    window : tuple of float or None
        From one time to another.
    style, keywords : dict
        For `Axes.plot`; `keywords` are the caller's and take precedence.

    Returns
    -------
    line : Line2D
    count : int
        How many states it represents.
    joined : bool
        False if they were too many for a line, and some are drawn as dots.
    """
    parts = [valid_values(solution, one, index) for one in values.values()]
    t, parts = filled(solution, index, list(values), times_of(solution, index), parts)
    if window is not None:
        inside = (t >= min(window)) & (t <= max(window))
        t, parts = t[inside], [part[inside] for part in parts]
    points, joined = orbit(parts[0], parts[1], max(POINTS, LINE // together))
    thin = 0.5 if len(points) > POINTS else 1.0  # so many turns would be one solid ring
    style = {"linewidth": thin, "alpha": opacity(together)} | style
    if thin < 1.0:
        style["linestyle"] = "-"  # dashes would leave a few pixels per turn
    if not joined or len(parts[0]) == 1 or step_length(*parts[:2]) > DOTS:
        style |= {"linestyle": "", "marker": "o", "markersize": 2.2, "markeredgewidth": 0}
        if "marker" in keywords:  # a cross is all edge
            del style["markeredgewidth"]
    jumps = jumps_between(solution, index, t[points])
    (line,) = ax.plot(*parted(jumps, *(part[points] for part in parts)), **(style | keywords))
    if len(parts) == 2:
        mark_failure(ax, line, *parts)
    return line, len(parts[0]), joined


def opacity(count):
    """Alpha at which `count` overlapping curves stay readable."""
    return 1.0 if count < 4 else max(0.3, 2 / count**0.5)


def mark_failure(ax, line, x, y):
    """A cross on the last good point of a curve that ends before the run does."""
    good = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(good) and good[-1] < len(y) - 1:
        ax.plot(x[good[-1]], y[good[-1]], "x", color=line.get_color(), markersize=6)


def same_motion(curves):
    """The curve whose exact solution represents all, or None if they differ.

    One exact line is drawn for a picture; it would be wrong for a solution of another system or
    another start.
    """
    first = curves[0].solution
    for curve in curves[1:]:
        other = curve.solution
        if not (
            other.system == first.system
            and np.array_equal(other.origin, first.origin)
            and np.array_equal(other._origin_time, first._origin_time)
        ):
            return None
    if batch_size(first) > FEW or np.ndim(first.t) > 1:
        return None
    return max(curves, key=lambda curve: np.ptp(np.asarray(curve.solution.t))).solution


def exact_curve(solution, t):
    """Exact states at the given times, NaN after a jump, (len(t), *batch, dim), or None."""
    states = solution.system.exact(t, solution.origin, solution._origin_time)
    if states is not None and np.any(has_jumped(solution)):
        states = np.where(beyond_jump(solution, t)[..., np.newaxis], np.nan, states)
    return states if states is not None and np.isfinite(states).any() else None


def draw_exact(ax, x, y, keywords=None):
    """Draw the exact motion, thin and grey, once in the legend of these axes."""
    style = exact_look() | (keywords or {})
    if style["label"] in [line.get_label() for line in ax.get_lines()]:
        style["label"] = "_nolegend_"
    for number, (one_x, one_y) in enumerate(zip(x, y, strict=True)):
        ax.plot(one_x, one_y, **(style if number == 0 else style | {"label": "_nolegend_"}))


def keep_in_view(ax, along_x=False):
    """Limit the axes to the motions that stayed finite, if another one exploded.

    A trajectory that overflows would flatten all others to a line; it leaves the picture instead.
    """
    for axis in ("y", "x") if along_x else ("y",):
        extents = []
        for line in ax.get_lines():
            values = np.asarray(getattr(line, f"get_{axis}data")(), dtype=np.float64)
            values = values[np.isfinite(values)]
            if len(values) > 1 and np.any(values != values[0]):
                extents.append((values.min(), values.max()))
        if not extents:
            continue
        with np.errstate(over="ignore"):
            spans = np.array([high - low for low, high in extents])
        calm = [one for one, span in zip(extents, spans, strict=True) if span < 1e5 * min(spans)]
        if 0 < len(calm) < len(extents):
            low, high = min(low for low, _ in calm), max(high for _, high in calm)
            getattr(ax, f"set_{axis}lim")(low - (high - low), high + (high - low))
