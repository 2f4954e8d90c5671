"""Maps: one number for every trajectory of a batch, scans, escape times, basins."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
from matplotlib.patches import Patch

from ..analysis.measures import errors, watched_error
from ..analysis.observables import largest_of
from ..analysis.phase import period_error
from ..analysis.results import name_of, unit_of, with_unit
from ..values.checks import choice, floats, places_of
from ..values.types import Any, ArrayLike, Attractors, Basins, Callable, Passages, Scan, Solution
from ..watching.reductions import Reduction
from .curves import inputs_of
from .pictures import legend_below, picture
from .solution_curves import unit_of_error
from .style import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    axis_label,
    equation,
    on_ground,
    sign_of,
)

QUANTITIES = ("energy_error", "phase_error", "position_error", "period_error", "failed_step")
FAILED = "0.75"
CLASSES = (BLUE, ORANGE, GREEN, SKY, VERMILLION, PURPLE)  # dark and light in turn
NAMED = len(CLASSES)  # attractors that have a colour of their own; the others share the last
COLOURS = (*CLASSES, FAILED)  # the last, -1, is that of none of them
MOST = 1e4  # times the median, or times 1 if that is more: larger numbers have exploded
DECADES = 1e12  # greatest range of logarithmic colours: more leaves too little to each decade


@picture("x", "y", "label", "log", "colorbar", legend=False)
def heatmap(
    page,
    solution: Solution,
    values: str | Callable[..., Any] | ArrayLike | None = None,
    **keywords: Any,
):
    """Draw a number for every trajectory of a batch with two axes, as colours.

    Where something is spaced as by ``numpy.geomspace``, ``ax.set_xscale("log")`` makes the axis
    even.

    Parameters
    ----------
    solution : Solution
        For a batch of shape (n, m): rows are drawn upwards, columns to the right.
    values : str, callable or array_like, optional
        The number: "energy_error", "phase_error" or "position_error" (the largest of the saves;
        at the end if only that was saved; of all steps if the run has watched "energy_drift"
        or "phase_drift", as the label says), "period_error", "failed_step", a
        component at the end, the name of a watch, a function of the solution, or an array (n, m)
        (integers are drawn as classes). Default: the energy error, if the system has an energy.
        Cells that need more saves are blank, with one `RecordWarning`.
    log : bool, optional
        Whether colours are logarithmic, over the top twelve decades; errors are by default.
    **keywords
        For `Axes.pcolormesh`: cmap, norm, vmin and vmax, which limit the colours, also on a
        logarithmic scale. Values beyond a limit have the last colour, and the scale an arrow.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For another shape of batch, or unknown names.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> springs = pi.systems.spring(k=np.linspace(1, 500, 20), b=np.linspace(0, 20, 30)[:, None])
    >>> sol = pi.integrate(springs, dt=0.1, n_steps=100, save="final", on_failure="ignore")
    >>> ax = heatmap(sol, "x")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('k [N/m]', 'b [kg/s]')
    """
    batch = solution.y.shape[1:-1]
    if len(batch) != 2 or 0 in batch:
        raise ValueError(
            f"heatmap needs a batch with two axes, got the shape {batch}: draw the values over"
            " one axis by ax.plot(parameter, values)"
        )
    numbers, text, is_error = _numbers(solution, values)
    if numbers.shape != batch:
        raise ValueError(f"values has shape {numbers.shape}, and the batch {batch}")
    if numbers.dtype.kind not in "biuf":
        raise TypeError(f"values must be real numbers, got an array of {numbers.dtype}")
    missing = "did not fail"
    if not (isinstance(values, str) and values == "failed_step"):
        missing = "none, failed"
        if numbers.dtype.kind not in "iu":
            numbers = np.where(solution.failed_step >= 0, np.nan, numbers)
    return over(page, grid(page, solution), numbers, text, missing, keywords, is_error)


def over(page, axes, values, text, missing, keywords, log=False):
    """Values over the one or two axes of a grid, each (coordinates, label): a line, or colours.

    `log` says whether they are shown logarithmically if nothing is said.
    """
    label, asked = (page.shared.get(name) for name in ("label", "log"))
    log, colorbar = log if asked is None else asked, page.shared["colorbar"]
    (x, across), *others = axes
    ax = page((6.2, 4.6) if others else (6.6, 3.8))
    if others:
        ((y, up),) = others
        colour(ax, x, y, values, text, label, log, missing, colorbar, keywords)
        return ax, across, up
    order = np.argsort(x)
    x, values = x[order], values[order]
    own = {} if {"c", "color"} & set(keywords) else {"color": on_ground(BLUE)}
    good = np.pad(np.isfinite(values), 1)
    if np.any(good[1:-1] & ~good[:-2] & ~good[2:]):  # a line of one point is invisible
        own |= {"marker": "o", "markersize": 3.0}
    ax.plot(x, values, **own | keywords)
    if log and np.any(values > 0):
        ax.set_yscale("log")
    return ax, across, label or text


def colour(ax, x, y, numbers, text, label, log, missing, colorbar, keywords):
    """Draw numbers (m, n) over x (n,) and y (m,), integers as classes, with their scale.

    Numbers that are not finite are grey; `text` describes the numbers, and
    `missing` the grey ones, unless there is a `label`.
    """
    look = {"shading": "nearest", "rasterized": True} | keywords
    columns, rows = np.argsort(x), np.argsort(y)  # cells lie between neighbours
    x, y, numbers = x[columns], y[rows], numbers[np.ix_(rows, columns)]
    if len(x) == 1:
        x, numbers = _as_two(x), np.repeat(numbers, 2, axis=1)
    if len(y) == 1:
        y, numbers = _as_two(y), np.repeat(numbers, 2, axis=0)
    if numbers.dtype.kind in "iu":
        shown, look = numbers, _classes(numbers, look)
    else:
        shown = np.where(np.isfinite(numbers), numbers, np.nan)
        look = {"cmap": "viridis"} | look
        if log and "norm" not in look:
            look["norm"] = _scale(shown, look.pop("vmin", None), look.pop("vmax", None))
        if log:  # zero error is below the least colour
            missing = ", ".join(filter(None, [missing, "negative" * bool(np.any(shown < 0))]))
            shown = np.where(shown < 0, np.nan, np.maximum(shown, np.finfo(float).tiny))
        ax.set_facecolor(FAILED)  # visible where there is no number
        if np.isnan(shown).any():
            text = f"{text}\n(grey: {missing})".strip()
    mesh = ax.pcolormesh(x, y, np.ma.masked_invalid(shown), **look)
    if colorbar:
        bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, extend=beyond(mesh))
        bar.set_label(label or text)
        if mesh.cmap.name == "classes":
            least, most = np.ceil(mesh.norm.vmin), np.floor(mesh.norm.vmax)
            bar.set_ticks(np.unique(np.clip(numbers, least, most)))
    return mesh


def _as_two(at):
    """A single coordinate as two around it: a cell reaches half the way to the next."""
    return at + np.array([-0.25, 0.25]) * (0.2 * abs(at) or 1.0)


def _scale(shown, least, most):
    """The norm of a logarithmic scale: the given limits, else the top decades.

    Numbers far above 1 and the median have exploded: they share the last colour, so that the others
    can be distinguished.
    """
    found = shown[shown > 0]
    if most is None:
        most = min(found.max(), MOST * max(np.median(found), 1.0)) if found.size else 1.0
        most = max(most, least or 0.0)
    if least is None:
        least = max(found.min(initial=most), most / DECADES)
        least = least if least < most else most / 2
    return LogNorm(least, most)


def beyond(mesh):
    """At which ends of the scale there are numbers beyond the colours."""
    held = np.ma.compressed(mesh.get_array())
    low, high = np.any(held < mesh.norm.vmin), np.any(held > mesh.norm.vmax)
    return ("neither", "min", "max", "both")[low + 2 * high]


def _classes(numbers, look):
    """The look of integers as distinct colours; -1, none of them, is grey if it is the least."""
    least, most = look.pop("vmin", None), look.pop("vmax", None)
    least = numbers.min() if least is None else int(np.ceil(least))
    most = numbers.max() if most is None else int(np.floor(most))
    if "norm" in look or most - least + 1 > 24:
        return {"cmap": "viridis", "norm": Normalize(least, most)} | look
    found = np.arange(least, max(most, least) + 1)
    none = int(numbers.min() == found[0] == -1)
    chosen = [CLASSES[one % len(CLASSES)] for one in found]
    if len(found) - none > len(CLASSES):
        chosen = list(colormaps["viridis"](np.linspace(0, 1, len(found))))
    chosen[:none] = [FAILED] * none
    edges = BoundaryNorm([*(found - 0.5), found[-1] + 0.5], len(found))
    return {"cmap": ListedColormap(chosen, "classes"), "norm": edges} | look


def _numbers(solution, values):
    """The numbers of the trajectories, their name, and whether they are errors."""
    system = solution.system
    if values is None:
        whole = len(solution.components) == system.dim
        values = "energy_error" if system.has_energy and whole else solution.components[0]
    if callable(values):
        return np.asarray(values(solution)), name_of(values), False
    if not isinstance(values, str):
        return np.asarray(values), "", False
    if values in ("energy_error", "phase_error", "position_error"):
        kind = values.removesuffix("_error")
        known = watched_error(solution, kind)
        before, after = largest_of([solution], known is not None)
        off = errors(solution, kind).max(axis=0) if known is None else known
        return off, with_unit(f"{before}{kind} error{after}", unit_of_error(system, kind)), True
    if values == "period_error":
        return np.abs(period_error(solution)), "relative error of the period", True
    if values == "failed_step":
        failed = solution.failed_step.astype(float)
        return np.where(failed < 0, np.nan, failed), "first step that failed", False
    if values in system.state_names:
        text = f"{axis_label(system, values)} at the end"
        return solution[values][-1], text, False
    if values in solution.watched:
        return solution.watched[values], values, False
    known = ", ".join([*QUANTITIES, *system.state_names, *solution.watched])
    raise ValueError(f"values must be one of {known}, a function or an array, got {values!r}")


def grid(page, solution):
    """What varies along the columns and the rows of a batch with two axes."""
    return [coordinates(solution, page.shared[name], axis) for axis, name in ((1, "x"), (0, "y"))]


def coordinates(solution, given, axis):
    """Coordinates along a batch axis and their label: what varies along it, or indices."""
    system, batch = solution.system, solution.y.shape[1:-1]
    if given is not None and not isinstance(given, str):
        name = "yx"[axis]
        values = floats(name, given)
        if values.shape != (batch[axis],) or not np.isfinite(values).all():
            raise ValueError(f"{name} must be {batch[axis]} finite numbers, got {values!r:.80}")
        return values, ""
    parameters, start = inputs_of(solution)
    times = {k: v for k, v in solution._clock.items() if k in ("dt", "t0")}
    things = start | parameters | times
    if given is not None:
        things = {choice("yx"[axis], given, things): things[given]}
    for name, value in things.items() if batch[axis] > 1 else ():
        full = np.broadcast_to(value, batch)
        along = np.atleast_2d(full if axis else full.T)
        if np.all(along == along[0]) and np.all(np.diff(along[0])):
            time = with_unit(name, unit_of(system, "t"))
            return along[0].astype(float), time if name in times else _of_axis(system, name)
    if given is not None:
        raise ValueError(f"{given} does not vary along the {('rows', 'columns')[axis]} alone")
    return np.arange(batch[axis], dtype=float), f"trajectory (axis {axis})"


# Of other measures their names.
WORDS = {"maximum": "largest {}", "minimum": "least {}", "max_abs": "largest |{}|",
         "periods": "mean period of {}"}  # fmt: skip
# By the unit of the quantity, and that of the time.
UNITS = {
    "windings": "", "count": "", "first_time": "{1}", "periods": "{1}",
    "slope": "{0}/{1}", "integral": "{0} {1}", "variance": "({0})²",
}  # fmt: skip


@picture("label", "log", "colorbar", legend=False)
def scan(page, scan: Scan, **keywords: Any):
    """Draw a scan: a line for one axis, or a heat map, with the first axis to the right.

    Of values that ``numpy.geomspace`` made ``ax.set_xscale("log")`` makes the axis even.

    Parameters
    ----------
    scan : Scan
        From ``pi.scan``.
    label : str, optional
        Label of the values.
    log : bool, optional
        Whether they are shown logarithmically; magnitudes of errors are by default.
    **keywords
        For `Axes.plot`, or `Axes.pcolormesh`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For more than two axes, or several numbers at a point.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> found = pi.scan(pi.systems.spring, {"k": np.linspace(1, 90)},
    ...                 pi.watch.max_abs("energy_error"), dt=0.05, t_end=5.0)
    >>> ax = scan(found)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('k [N/m]', 'largest |energy error|')
    """
    system = scan.solution.system
    values, shape = scan.values, tuple(map(len, scan.axes.values()))
    if values.shape != shape or len(shape) > 2:
        raise ValueError(
            f"the scan has values of shape {values.shape} over {len(shape)} axes: a picture shows"
            " one number over one or two; draw a part of scan.values with Matplotlib"
        )
    text, error = _measured(scan.measure, system)
    return over(page, of_axes(system, scan.axes), values.T, text, "none", keywords, error)


@picture("x", "y", "label", "log", "colorbar", legend=False)
def passages(page, passages: Passages, **keywords: Any):
    """Draw escape times: as colours for a batch of two axes, else the fraction that remains.

    The exits are drawn by ``heatmap(passages.solution, passages.exit)``.

    Parameters
    ----------
    passages : Passages
        From ``pi.analysis.escape_times`` or ``first_passages``.
    log : bool, optional
        Whether times, or the fraction that remains, are shown logarithmically.
    **keywords
        For `Axes.pcolormesh`, or `Axes.step`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> angle, speed = np.linspace(-3, 3, 30), np.linspace(-9, 9, 20)[:, np.newaxis]
    >>> over = pi.analysis.escape_times(pi.systems.pendulum, lambda t, x, v: abs(x) - np.pi,
    ...                                 angle, speed, dt=0.02, t_end=4.0)
    >>> ax = passages(over)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('initial θ [rad]', 'initial ω [rad/s]')
    """
    solution, t = passages.solution, passages.t
    unit = unit_of(solution.system, "t")
    if t.ndim == 2 and t.size:
        axes, values = grid(page, solution), t
        text = with_unit("time of the passage", unit)
    else:
        last = np.max(np.abs(solution.n_steps * solution.dt), initial=0.0)
        since = np.sort(np.abs(t - passages._start)[passages.passed])
        moments = np.r_[0.0, since, last]
        left = passages.remaining(moments)
        axes, text = [(moments, with_unit("time", unit))], "part that remains"
        values = np.where(left > 0, left, np.nan) if page.shared["log"] else left
        keywords = {"drawstyle": "steps-post"} | keywords
    return over(page, axes, values, text, "none", keywords)


def of_axes(system, axes):
    """The coordinates of axes by name, and their labels."""
    return [(values, _of_axis(system, name)) for name, values in axes.items()]


def _of_axis(system, name):
    start = "initial " if name in system.state_names else ""
    return f"{start}{axis_label(system, name)}"


def _told(name, system):
    return sign_of(name) if name in system.state_names else name.replace("_", " ")


def _measured(measure, system):
    """A measure in words with its unit, and whether it is the magnitude of an error."""
    time = unit_of(system, "t")
    if not isinstance(measure, Reduction):
        if hasattr(measure, "quantity"):
            level, event = measure.level, _told(name_of(measure.quantity), system)
            if isinstance(measure.quantity, str) or level is not None:  # of a function: or it holds
                event += f" = {level or 0:g}" if np.ndim(level) == 0 else " = its level"
            if measure.keep:
                return with_unit(f"first time of {event}", time), False
            return f"crossings of {event}", False
        return name_of(measure), False
    quantity, name = measure.quantity, measure.name
    words = WORDS.get(name, f"{name.replace('_', ' ')} of {{}}")
    form = UNITS.get(name, "{0}")
    known = {"phase": "rad", "phase_drift": "rad", "energy_error": "1" if name == "slope" else ""}
    unit = ""
    if isinstance(quantity, str):
        unit = known[quantity] if quantity in known else unit_of(system, quantity)
    unit = form.format(unit, time) if unit or "{0}" not in form else ""
    told = _told(name_of(quantity), system)
    if name == "reduce":
        told = words = ""
    error = quantity == "energy_error" and name in ("max_abs", "rms", "std", "variance")
    return with_unit(words.format(told), unit), error


@picture("x", "y", legend=False)
def basin_map(page, found: Basins, *, legend=True, **keywords: Any):
    """Draw the basins of attraction of a batch of two axes, with a legend of the attractors.

    Parameters
    ----------
    found : Basins
        Of ``pi.analysis.basin``.
    legend : bool, optional
        Whether to say where each attractor is, and how many of the starts it gets. Of more than
        six the commonest have a colour of their own. Those that lie in the plane of the picture are
        marked in it.
    title : str, optional
        Above the axes.
    **keywords
        For `Axes.pcolormesh`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For another shape of batch than (n, m).

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> well = pi.systems.duffing(gamma=0.0)
    >>> position, speed = np.linspace(-2, 2, 30), np.linspace(-2, 2, 20)[:, np.newaxis]
    >>> sol = pi.integrate(well, position, speed, dt=0.1, t_end=100.0, save="final")
    >>> ax = basin_map(pi.analysis.basin(sol))
    >>> ax.get_xlabel(), len(ax.figure.legends[0].get_texts())
    ('initial x [m]', 2)
    """
    solution, label = found.solution, found.label
    if label.ndim != 2 or 0 in label.shape:
        raise ValueError(
            f"basins are drawn of a batch with two axes, and this one has the shape {label.shape}:"
            " give starts or parameters of the shapes (m,) and (n, 1)"
        )
    if solution is None:
        given = page.shared["x"], page.shared["y"]
        axes = [(np.arange(n, dtype=float) if one is None else np.asarray(one, float), "")
                for n, one in zip(label.shape[::-1], given)]  # fmt: skip
    else:
        axes = grid(page, solution)
    (columns, x_label), (rows, y_label) = axes
    ax = page((6.2, 5.2))
    shown = np.minimum(label, NAMED - 1)
    colour(ax, columns, rows, shown, "", None, False, "", False, keywords)
    _mark(ax, found, x_label, y_label)
    if legend and not {"cmap", "norm"} & set(keywords):
        _explain(ax, found, shown)
    return ax, x_label, y_label


@picture("legend")
def attractors(
    page, found: Attractors, *, components: tuple[str, str] | None = None, **keywords: Any
):
    """Draw attractors, and the starts of any batch in the colours of those that they lead to.

    A batch with two axes is also drawn by ``basin_map``.

    Parameters
    ----------
    found : Attractors
        Of ``pi.analysis.attractors``.
    components : tuple of two str, optional
        The plane; by default the first two of the box.
    **keywords
        For `Axes.plot` of the starts.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For unknown components.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> well = pi.systems.duffing(gamma=0.0)
    >>> ax = attractors(pi.analysis.attractors(well, {"x": (-2, 2), "v": (-2, 2)}, dt=0.1, n=100))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x [m]', 'v [m/s]')
    """
    system = found.system
    rest = (name for name in system.state_names if name not in found.components)
    names = (*found.components, *rest)[:2] if components is None else components
    places = places_of(names, system)
    if len(places) != 2:
        raise ValueError(f"a picture of attractors has two components, got {len(places)}")
    start = found.solution.initial.reshape(-1, system.dim)
    label, share, ax = np.ravel(found.label), found.share(), page((6.2, 5.2))
    named = _named(found, np.mean(label < 0))
    for number in [*range(len(share)), -1]:
        at = min(number, NAMED - 1)
        colour, name = COLOURS[at], named.pop(at, None)
        here = start[label == number][:, places]
        own = {"linestyle": "none", "marker": ".", "markersize": 3.0, "color": colour}
        ax.plot(*here.T, **own | ({"label": name} if number < 0 else {}) | keywords)
        if number >= 0:
            ax.plot(*found.points[number][:, places].T, linestyle="none", marker="o", color=colour,
                    markeredgecolor="black", markersize=5.0, zorder=3, label=name)  # fmt: skip
    return ax, *(axis_label(system, name) for name in names)


def _mark(ax, found, *labels):
    """A dot at each named attractor where the axes are the components that tell it."""
    named = {f"initial {axis_label(found.system, name)}": i
             for i, name in enumerate(found.components)}  # fmt: skip
    if set(labels) <= set(named) and len(found.attractors):
        own = NAMED - (len(found.attractors) > NAMED)  # those with a colour of their own
        places = [found.attractors[:own, named[text]] for text in labels]
        limits = ax.get_xlim(), ax.get_ylim()  # what lies beyond the picture is not in it
        ax.plot(*places, "o", color="white", markeredgecolor="black", markersize=6, zorder=3)
        ax.set(xlim=limits[0], ylim=limits[1])


def _explain(ax, found, shown):
    """A patch for each colour, with its name."""
    named = _named(found, np.mean(shown < 0))
    names = list(named.values())
    handles = [Patch(color=COLOURS[at], label=named[at]) for at in named]
    if ax.figure.get_layout_engine() is None:
        ax.legend(handles, names, loc="best")
    else:
        legend_below(ax.figure, handles, names)


def _named(found, none):
    """The name of each colour: where the attractor is, and its share of the starts."""
    share, count, names = found.share(), len(found.attractors), {}
    for number in range(min(count, NAMED)):
        text, part = _place(found, number), share[number]
        if number == NAMED - 1 and count > NAMED:
            text, part = f"{count - number} others", share[number:].sum()
        names[number] = f"{text}: {100 * part:.3g} %"
    return names | ({-1: f"none: {100 * none:.3g} %"} if none else {})


def _place(found, number):
    """Where an attractor is, in words."""
    parts = []
    for name, value in zip(found.components, found.attractors[number]):
        value = 0.0 if abs(value) < 5e-4 * np.abs(found.attractors).max() else value
        number = f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
        parts.append(equation(found.system, name, number))
    return ", ".join(parts)
