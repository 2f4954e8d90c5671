"""The contents of a picture: labelled, coloured solutions, thinned, and their lines."""

from dataclasses import dataclass
from itertools import islice
from math import prod
from types import SimpleNamespace

import numpy as np

from ..adaptive.dense_output import filled
from ..analysis.observables import batch_of, start_time
from ..analysis.results import quiet, unit_of
from ..errors import Status
from ..solution.jumps import beyond_jump, direction, jumping
from ..values.table import evenly
from .style import (
    METHOD_COLOURS,
    PALETTE,
    colours,
    equation,
    exact_look,
    line_keywords,
    line_style,
    on_ground,
    title_of,
    turned_to,
)

POINTS = 4000  # for one curve: more than the pixels of a wide picture
TRAJECTORIES = 30  # of a batch: more curves could not be distinguished
LINE = 4 * POINTS  # for one path, which crosses the picture many times
ROUND = 0.04  # of the picture: shorter steps of a path look round
GOLDEN = 0.6180339887498949  # its multiples, modulo one, are spread evenly and without a pattern


def envelope(values, points=POINTS):
    """Indices of a curve against time that keep the least and the most of every pixel column.

    Parameters
    ----------
    values : array_like
        (n,), in order of time; NaN marks gaps.
    points : int, optional
        The largest number of indices returned (if at least 8).

    Returns
    -------
    ndarray
        Increasing indices, the first and the last among them.

    Examples
    --------
    >>> import numpy as np
    >>> peak = np.zeros(100_000)
    >>> peak[12_345] = 1.0
    >>> chosen = envelope(peak)
    >>> len(chosen) <= 4000, 12_345 in chosen
    (True, True)
    """
    values = np.asarray(values, float)
    count = len(values)
    if count <= points:
        return np.arange(count)
    bins = max(1, (points - 2) // 2)
    width = -(-count // bins)
    padded = np.pad(values, (0, -count % width), constant_values=np.nan).reshape(-1, width)
    start = np.arange(len(padded)) * width
    lowest = np.where(np.isnan(padded), np.inf, padded).argmin(axis=1) + start
    highest = np.where(np.isnan(padded), -np.inf, padded).argmax(axis=1) + start
    chosen = np.unique(np.r_[0, lowest, highest, count - 1])
    return chosen[chosen < count]


def orbit(x, y, points=LINE):
    """Indices of a path that keep every turn of it, and whether lines may join them.

    They are at equal distances along the path. If it turns so often that lines between so few
    points would cut its corners, they are fewer and slightly shifted, so that they do not resonate
    with the turns: dots that fill the area of the path.

    Parameters
    ----------
    x, y : array_like
        (n,) coordinates in the plane of the picture, in order of time.
    points : int, optional
        The largest number of indices returned.

    Returns
    -------
    indices : ndarray
        Increasing.
    joined : bool

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0, 2 * np.pi * 100, 100_001)  # a hundred revolutions
    >>> indices, joined = orbit(np.cos(t), np.sin(t))
    >>> len(indices) > 60 * 100, len(indices) <= 16_000, joined
    (True, True, True)
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    count = len(x)
    if count <= points:
        return np.arange(count), True
    way = np.r_[0.0, np.cumsum(_steps(x, y))]
    points = min(points, max(POINTS, int(4 * way[-1] / ROUND)))  # a slow curve needs fewer
    number = np.arange(1, points - 1)
    joined = bool(way[-1] / points <= ROUND)
    if not joined:
        number = spread(min(points, POINTS) - 2, min(points, POINTS) - 2, float) + 0.5
    places = np.searchsorted(way, way[-1] * number / (len(number) + 1))
    return np.unique(np.r_[0, places, count - 1]), joined


def spread(count, points, kind=int):
    """`points` numbers from 0 to below `count`, evenly spread, but without a pattern.

    Examples
    --------
    >>> spread(1000, 5)
    array([  0, 323, 447, 770, 894])
    """
    number = np.arange(points)
    return ((number + np.remainder(number * GOLDEN, 1)) * (count / points)).astype(kind)


def _steps(x, y):
    """Distances of consecutive points, as fractions of the width and height of the whole."""
    with quiet():
        moved = [
            np.diff(values) / (np.fmax.reduce(values) - np.fmin.reduce(values)) for values in (x, y)
        ]
        return np.hypot(*(np.nan_to_num(part, posinf=0, neginf=0) for part in moved))


def batch_size(solution):
    """The number of trajectories of a solution."""
    return prod(batch_of(solution))


def chosen_trajectories(solution):
    """Indices of the trajectories of a batch that are drawn: all, or 30 evenly spaced.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    list of tuple of int

    Examples
    --------
    >>> import pyintegrate as pi
    >>> chosen_trajectories(pi.integrate(pi.systems.spring(k=[1.0, 2.0]), dt=0.1, n_steps=1))
    [(0,), (1,)]
    """
    batch = batch_of(solution)
    some = evenly(prod(batch), TRAJECTORIES)
    return [tuple(map(int, np.unravel_index(one, batch))) for one in some]


def jumps_between(solution, index, t):
    """Which neighbouring times of one trajectory have a jump between them.

    Parameters
    ----------
    solution : Solution
    index : tuple of int
        The trajectory.
    t : ndarray
        (n,), in order of the steps.

    Returns
    -------
    ndarray of bool
        (n - 1,). After the last jump that an event has kept, if there were more, any two may
        have one between them.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, -v))
    >>> sol = pi.integrate(pi.systems.projectile, [0, 0, 1.0], [0, 0, 0.0], dt=0.1, n_steps=6,
    ...                    events={"floor": bounce})  # it falls for 0.45 s
    >>> jumps_between(sol, (), sol.t)
    array([False, False, False, False,  True, False])
    """
    t = np.asarray(t, float)
    sense = 1.0 if len(t) and t[-1] >= t[0] else -1.0
    if getattr(solution, "_both_sides", False):  # each jump is saved, before and after it
        saved = sense * of_one(solution.t, index)
        moments = saved[1:][saved[1:] == saved[:-1]]
        left, right = (np.searchsorted(moments, sense * t, side) for side in ("left", "right"))
        pair = t[1:] == t[:-1]
        alone = (right > left) & ~(np.append(pair, False) | np.insert(pair, 0, False))
        return pair | alone[1:] | alone[:-1] | (left[1:] > right[:-1])
    jumps = np.zeros(max(len(t) - 1, 0), bool)
    for _, found in jumping(solution):
        when = np.sort(sense * found.t[index])
        when = when[np.isfinite(when)]
        jumps |= np.diff(np.searchsorted(when, sense * t, "right")) > 0
        if found.overflow[index]:
            jumps |= sense * t[1:] > when.max(initial=-np.inf)
    return jumps


def parted(jumps, *parts):
    """Values along a line with a gap, a NaN, at each jump.

    Parameters
    ----------
    jumps : ndarray of bool
        (n - 1,), as from `jumps_between`.
    *parts : ndarray
        Each (n,).

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> import numpy as np
    >>> parted(np.array([False, True]), np.array([1.0, 2.0, 3.0]))
    [array([ 1.,  2., nan,  3.])]
    """
    places = np.flatnonzero(jumps) + 1
    if not places.size:
        return list(parts)
    return [np.insert(part, places, np.nan) for part in parts]


def dotted(jumps):
    """Keywords that show the states between two jumps, which no line reaches."""
    return {"marker": ".", "markersize": 3.0} if (jumps[1:] & jumps[:-1]).any() else {}


def texts_of(solutions, names, labels):
    """The names of solutions in the legend."""
    if labels is not None and not hasattr(labels, "get"):
        return one_for_each(labels, names)
    texts = []
    for solution, name in zip(solutions, names):
        stiff = getattr(solution, "_continued_by", None)
        title = title_of(solution.method) + (f", then {title_of(stiff)}" if stiff else "")
        text = (labels or {}).get(name, title)
        if names.count(name) > 1:
            alike = [one for one, other in zip(solutions, names) if other == name]
            told = _told_apart([(one, ...) for one in alike])
            text += f", {told[alike.index(solution)] or _step(solution)}"
        texts.append(text)
    return texts


def one_for_each(labels, names):
    """A list of texts, as many as there are names."""
    try:
        texts = [] if isinstance(labels, str) else list(islice(labels, len(names) + 1))
    except TypeError:
        texts = []
    if len(texts) != len(names) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"labels: expected {len(names)} texts, got {labels!r}")
    return texts


def by_name(labels, names):
    """Texts by name, given so or in the order of the names."""
    if labels is None or hasattr(labels, "get"):
        return labels or {}
    return dict(zip(names, one_for_each(labels, names)))


def parts_of(solution):
    """The names of the trajectories of a small batch."""
    batch = batch_of(solution)
    return _told_apart([(solution, index) for index in np.ndindex(batch)])


def parts_of_results(system, batch):
    """The names of results for a small batch: the parameters that differ, or the place in it."""
    if not 1 < prod(batch) <= len(PALETTE):
        return []
    nowhere = np.full((*batch, system.dim), np.nan)
    run = SimpleNamespace(system=system, initial=nowhere, final=nowhere)
    return [
        told or f"trajectory {', '.join(map(str, index))}"
        for told, index in zip(parts_of(run), np.ndindex(batch))
    ]


def inputs_of(solution):
    """The numbers with which trajectories began, by name: scalar parameters, and components."""
    system = solution.system
    scalars = {name: v for name, v in system.params.items() if not system.shapes[name]}
    return scalars, dict(zip(system.state_names, np.moveaxis(solution.initial, -1, 0)))


def _run_with(solution, index, form):
    """What trajectories were run with, as texts by name."""
    system, batch = solution.system, batch_of(solution)
    said = {"step": _step(solution, index)}
    parameters, start = inputs_of(solution)
    for name, value in (parameters | start).items():
        value = np.broadcast_to(value, batch)[index]
        alike = _if_alike(value, form)
        text = equation(system, name, alike) if alike else ""
        text = text.replace("= -", "= \N{MINUS SIGN}")
        said[name] = "initial " * bool(text and name in system.state_names) + text
    return said


def _told_apart(trajectories):
    """Of what several were run with, only what differs, in as many digits as show that."""
    told = []
    for form in (".4g", ".8g", ".16g"):
        runs = [_run_with(solution, index, form) for solution, index in trajectories]
        differ = [name for name in runs[0] if len({run.get(name) for run in runs}) > 1]
        told += [[", ".join(filter(None, map(run.get, differ))) for run in runs]]
    return max(told, key=lambda names: len({*names}))  # the first of those with most names


def looks_of(names, ax):
    """The colour and line style of curves by these methods."""
    palette, looks = colours(names), {}
    drawn = [] if ax is None else [line.get_color() for line in ax.get_lines()]
    alone = len(palette) == 1
    # Methods with a colour of their own come first, so that no other takes its first line style.
    for i in sorted(range(len(names)), key=lambda i: names[i] not in METHOD_COLOURS):
        name = names[i]
        if alone or name not in names[:i]:
            others = turned_to(palette[name])
            palette[name] = min(others, key=lambda colour: drawn.count(on_ground(colour)))
        colour = on_ground(palette[name])
        style = line_style(palette[name], drawn.count(colour))
        looks[i] = {"color": colour, "linestyle": style}
        drawn.append(colour)
    return [looks[i] for i in range(len(names))]


def _step(solution, index=...):
    """The step or the tolerance, which distinguishes solutions by one method."""
    if hasattr(solution, "rtol"):
        rtol = np.broadcast_to(solution.rtol, batch_of(solution))[index]
        return f"to {_if_alike(rtol, '.3g') or 'various tolerances'}"
    dt = np.broadcast_to(getattr(solution, "dt", 0.0), batch_of(solution))[index]
    step = _if_alike(dt, "g") or "various"
    return f"dt = {step} {unit_of(solution.system, 't')}".rstrip()


def _if_alike(values, form):
    """The number that all values are, as text; "" if they differ, or there are none."""
    values = np.asarray(values, float)
    alike = values.size and (values.min() == values.max() or np.isnan(values).all())
    return f"{values.flat[0]:{form}}" if alike else ""


FEW = 8  # batches up to this size also show their exact solutions
DOTS = 0.05  # steps longer than this fraction of the picture are dots: lines would cut corners
DASHED = 12  # oscillations above which dashes no longer look like a line
BANDS = 20  # oscillations from which on a band is drawn


@dataclass(frozen=True, eq=False)
class Curve:
    """One solution to draw: its name in the legend, its colour and line style."""

    solution: object
    label: str
    keywords: dict
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
        Solutions, comparisons, or lists of them.
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
    solutions = list(_solutions(sources))
    if not solutions:
        raise TypeError("there is nothing to draw: give one or more solutions or comparisons")
    names = [solution.method.name for solution in solutions]
    own = (keywords or {}).pop("label", None)
    texts = texts_of(solutions, names, labels if own is None else [own] * len(names))
    few = len(names) == 1 and own is None and 1 < batch_size(solutions[0]) <= len(PALETTE)
    if few and all(told := parts_of(solutions[0])):
        looks = looks_of(names * len(told), ax)
        parts = [look | {"label": text} for look, text in zip(looks, told)]
        return [Curve(solutions[0], texts[0], looks[0], tuple(parts))]
    return [*map(Curve, solutions, texts, looks_of(names, ax))]


def _solutions(sources):
    """Every solution among the arguments of a plot function, in order."""
    for source in sources:
        if hasattr(source, "y") and hasattr(source, "failures"):
            yield source
        elif callable(getattr(source, "values", None)):
            yield from _solutions(source.values())
        elif isinstance(source, (list, tuple)):
            yield from _solutions(source)
        elif isinstance(source, str):
            raise TypeError(
                f"plots draw Solutions and Comparisons, got {source!r}: a component is named by"
                f" components={source!r}"
            )
        else:
            raise TypeError(
                f"plots draw Solutions and Comparisons, got {type(source).__name__}: "
                "pass what pi.integrate or pi.compare returned, of one by dask its compute()"
            )


def of_one(values, index):
    """Values at the saves, (n_saved, *batch), of one trajectory; (n_saved,) are those of each."""
    return values[:, *index] if values.ndim > 1 else values


def times_of(solution, index):
    """Saved times of one trajectory, (n_saved,); from a stop by an event on that of the stop."""
    return of_one(solution._own_times, index)


def valid_values(solution, values, index):
    """One trajectory of (n_saved, *batch) values as float64, NaN after its failure or its stop."""
    valid = of_one(solution.valid, index)
    if solution.status[index] == Status.STOPPED:
        # The state of the stop is saved after it, and is the only one if no other is.
        valid = valid | np.append(len(valid) == 1, valid[:-1])
    return np.where(valid, of_one(values, index), np.nan).astype(float)


def line_of(solution, index, values, window=None):
    """Times and values of one trajectory, with states between its steps if all have names."""
    parts = [valid_values(solution, one, index) for one in values.values()]
    t = times_of(solution, index)
    if None not in values:
        t, parts = filled(solution, index, list(values), t, parts)
    inside = slice(None) if window is None else (t >= min(window)) & (t <= max(window))
    return [part[inside] for part in (t, *parts)]


def against_time(ax, curve, values, keywords, window, bands=False, name=None):
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
    window : tuple of float or None
        Only saves from one time to another.
    bands : bool, optional
        Whether fast oscillations may become bands.
    name : str, optional
        The component that the values are, if any: then long steps are filled in.
    """
    keywords = line_keywords(keywords)
    chosen = chosen_trajectories(curve.solution)
    for number, index in enumerate(chosen):
        t, one = line_of(curve.solution, index, {name: values}, window)
        style = {"linewidth": 1.3, "alpha": opacity(len(chosen))} | curve.look(number) | keywords
        if swings_of(one) > DASHED and not bands and "linestyle" not in keywords:
            style["linestyle"] = "-"
        if np.count_nonzero(np.isfinite(one)) == 1:
            style = {"marker": "o"} | style  # a line of one point is invisible
        points = envelope(one)
        swing = running_band(one) if bands else None
        if swing is not None:
            centre, low, high = swing
            ax.plot(t[points], centre[points], **style)
            colour, alpha = style["color"], 0.25 * style["alpha"]
            points = np.union1d(envelope(low, POINTS // 2), envelope(high, POINTS // 2))
            ax.fill_between(t[points], low[points], high[points], color=colour, alpha=alpha, lw=0)
        else:
            jumps = jumps_between(curve.solution, index, t[points])
            (line,) = ax.plot(*parted(jumps, t[points], one[points]), **dotted(jumps) | style)
            mark_failure(ax, line, curve.solution, index, t, t, one)


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


def running_band(values):
    """Running mean and extremes of a fast oscillation, or None if it is slow enough to draw.

    Parameters
    ----------
    values : ndarray
        (n,), in order of time.

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
    if found < BANDS:
        return None
    n, half = len(values), max(1, round(1.5 * len(values) / found))
    centre, index = np.full(n, np.nan), np.arange(n)
    # Twice: a sharper filter than once.
    centre[2 * half : n - 2 * half] = _running_mean(_running_mean(values, half), half)
    starts = np.minimum(np.arange(0, n, half), n - half)
    blocks = values[starts[:, np.newaxis] + np.arange(half)]
    middles = starts + half // 2
    low = np.interp(index, middles, blocks.min(axis=1))
    high = np.interp(index, middles, blocks.max(axis=1))
    return centre, low, high


def _running_mean(values, half):
    """Mean over 2 half + 1 values around each, without those near the ends."""
    total, width = np.r_[0.0, np.cumsum(values)], 2 * half + 1
    return (total[width:] - total[:-width]) / width


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
    t, *parts = line_of(solution, index, values, window)
    points, joined = orbit(parts[0], parts[1], max(POINTS, LINE // together))
    thin = 0.5 if len(points) > POINTS else 1.0  # so many turns would be one solid ring
    style = {"linewidth": thin, "alpha": opacity(together)} | style
    if thin < 1.0:
        style["linestyle"] = "-"  # dashes would leave a few pixels per turn
    resting = all(
        np.fmin.reduce(part, initial=np.nan) == np.fmax.reduce(part, initial=np.nan)
        for part in parts
    )
    coarse = len(parts[0]) > 1 and np.median(_steps(*parts[:2])) > DOTS
    if not joined or resting or coarse:
        size = 4.0 if resting else 2.2
        style |= {"linestyle": "", "marker": "o", "markersize": size, "markeredgewidth": 0}
        if "marker" in keywords:  # a cross is all edge
            del style["markeredgewidth"]
    jumps = jumps_between(solution, index, t[points])
    style = dotted(jumps) | style | keywords
    (line,) = ax.plot(*parted(jumps, *(part[points] for part in parts)), **style)
    if len(parts) == 2:
        mark_failure(ax, line, solution, index, t, *parts)
    return line, joined, (len(line.get_xdata()), len(parts[0]))


def opacity(count):
    """Alpha at which `count` overlapping curves stay readable."""
    return 1.0 if count < 4 else max(0.3, 2 / count**0.5)


def mark_failure(ax, line, solution, index, t, x, y):
    """A cross on the last good point of a trajectory that failed, if it did so at one of times."""
    if solution.status[index] in (Status.OK, Status.STOPPED):
        return
    good = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    end = times_of(solution, index)[of_one(solution.valid, index)][-1:]
    if len(good) and np.isin(end, t).any():
        ax.plot(x[good[-1]], y[good[-1]], "x", color=line.get_color(), markersize=6)


def same_motion(curves):
    """The curve whose exact solution represents all, or None if they differ.

    One exact line is drawn for a picture; it would be wrong for a solution of another system or
    another start.
    """
    first, *others = solutions = [curve.solution for curve in curves]
    alike = all(
        one.system == first.system
        and np.array_equal(one.origin, first.origin)
        and np.array_equal(one._origin_time, first._origin_time)
        for one in others
    )
    if not alike or batch_size(first) > FEW or first.t.ndim > 1:
        return None
    return max(solutions, key=lambda one: np.ptp(one.t))


def exact_curve(solution, t):
    """Exact states at the given times, NaN after a jump or a stop, (len(t), *batch, dim), or None.

    A ball that has landed would fall on, and take the picture with it.
    """
    states = solution.system.exact(t, solution.origin, solution._origin_time)
    if states is None:
        return None
    late = direction(solution) * (solution._column(t) - solution.stopped_at) > 0
    states = np.where((late | beyond_jump(solution, t))[..., np.newaxis], np.nan, states)
    return states if np.isfinite(states).any() else None


def smooth_times(solution, window=None):
    """Times at which the exact motion looks smooth: the saves, or finer if these are coarse.

    Parameters
    ----------
    solution : Solution
        Whose saves and start are used.
    window : tuple of float, optional
        From one time to another; the whole run by default.

    Returns
    -------
    ndarray
        Increasing (or, backwards in time, decreasing) times, at most about 40 per saved step.
    """
    start, end = (start_time(solution), solution.t[-1]) if window is None else window
    step = solution._step_lengths
    spacing = abs(float(step)) if step.ndim == 0 else abs(end - start) / POINTS
    steps = max(1.0, abs(end - start) / spacing) if spacing else 1.0
    finer = max(1, min(40, int(POINTS / 2 / steps)))
    return np.linspace(start, end, int(min(steps * finer, 50 * POINTS)) + 1)


def exact_style(ax):
    """Keywords of the exact motion, thin and grey, once in the legend of these axes."""
    drawn = "exact" in [line.get_label() for line in ax.get_lines()]
    return exact_look() | {"label": "_nolegend_"} if drawn else exact_look()


def exact_against_time(ax, curves, window, values_of):
    """Draw what a function of exact states and times gives, if all have one exact motion."""
    for t, one in exact_motions(curves, window, lambda states, t: [values_of(states, t)]):
        points = envelope(one)
        ax.plot(t[points], one[points], **exact_style(ax))


def exact_motions(curves, window, values_of):
    """Times and values (n,) of each trajectory of the exact motion, if all have one."""
    solution = same_motion(curves)
    if solution is None:
        return
    t = smooth_times(solution, window)
    states = exact_curve(solution, t)
    values = [] if states is None else values_of(states, t)
    for parts in zip(*(part.reshape(len(t), -1).T for part in values)):
        if np.isfinite(parts).all(axis=0).any():  # not the turning of a body whose centre is known
            yield t, *parts


def keep_in_view(ax, along_x=False):
    """Limit the axes to the motions that stayed finite, if another one exploded.

    A trajectory that overflows would flatten all others to a line; it leaves the picture instead.
    The exact motion never does, beside one that has died out.
    """
    lines = ax.get_lines()
    exact = [line.get_label() == "exact" for line in lines]
    for axis in "yx" if along_x else "y":
        limits = calm_limits([getattr(line, f"get_{axis}data")() for line in lines], exact)
        if limits is not None:
            getattr(ax, f"set_{axis}lim")(limits)


def calm_limits(motions, exact=False):
    """Limits of those of some values (n,) that stayed finite; None if none has exploded."""
    motions = [np.asarray(one, float) for one in motions]
    motions = [one[np.isfinite(one)] for one in motions]
    ends = [(one.min(initial=np.inf), one.max(initial=-np.inf)) for one in motions]
    low, high = np.reshape(ends, (-1, 2)).T
    low, high, exact = (np.broadcast_to(part, low.shape)[low < high] for part in (low, high, exact))
    with quiet():
        span = high - low
    usual = np.max(span, where=exact.astype(bool), initial=span.min(initial=np.inf))
    calm = span < 1e5 * usual
    if not calm.any() or calm.all():
        return None
    low, high = low[calm].min(), high[calm].max()
    return low - (high - low), high + (high - low)
