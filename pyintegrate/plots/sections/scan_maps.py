"""Plots over grids: scans over parameters, and escape times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...watching.reductions import Reduction
from ..frame import finish, new_axes, say
from ..heat_maps import colour, coordinates
from ..log_axis import log_axis, log_spaced
from ..style import BLUE, axis_label, on_ground, unit_of, with_unit

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.sections.exits import Passages
    from ...analysis.sections.grid_scan import Scan
    from ...values.types import ArrayLike, Axes

WORDS = {
    "maximum": "largest {}", "minimum": "least {}", "max_abs": "largest |{}|", "mean": "mean {}",
    "rms": "rms of {}", "std": "standard deviation of {}", "variance": "variance of {}",
    "total": "total of {}", "slope": "slope of {}", "integral": "integral of {}",
    "last": "last {}", "first": "first {}", "windings": "turns of {}", "count": "steps with {}",
    "first_time": "first time of {}", "periods": "period of {}",
}  # fmt: skip
UNITS = {"windings": "", "count": ""}


def scan(
    scan: Scan,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    log: bool | None = None,
    colorbar: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw a scan: a line for one axis, or a heat map, with the first axis to the right.

    An axis whose values are spaced by the logarithm, as of ``numpy.geomspace``, is logarithmic.

    Parameters
    ----------
    scan : Scan
        From ``pi.scan``.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        Label of the values.
    log : bool, optional
        Whether they are shown logarithmically; magnitudes of errors are by default.
    colorbar : bool, optional
        Whether to draw the scale of the colours beside the axes.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
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
    system, axes = scan.solution.system, list(scan.axes)
    values = np.asarray(scan.values)
    shape = tuple(len(axis) for axis in scan.axes.values())
    if values.shape != shape or len(shape) > 2:
        raise ValueError(
            f"the scan has values of shape {values.shape} over {len(shape)} axes: a picture shows"
            " one number over one or two; draw a part of scan.values with Matplotlib"
        )
    text, error = _measured(scan.measure, system)
    log = error if log is None else log
    names = [_of_axis(system, name) for name in axes]
    if len(shape) == 2:
        x, y = scan.axes.values()
        ax = new_axes(ax, figsize, (6.2, 4.6))
        colour(ax, x, y, values.T, text, label, log, False, "none", colorbar, keywords)
        ax.set(xlabel=names[0], ylabel=names[1])
        say(ax, title)
        return ax
    ax = new_axes(ax, figsize, (6.6, 3.8))
    if not {"c", "color"} & set(keywords):
        keywords["color"] = on_ground(BLUE)
    ax.plot(scan.axes[axes[0]], values, **keywords)
    log_axis(ax, *"x" * log_spaced(scan.axes[axes[0]]), *"y" * bool(log and np.any(values > 0)))
    return finish(ax, names[0], label or text, legend=False, title=title)


def passages(
    passages: Passages,
    *,
    x: str | ArrayLike | None = None,
    y: str | ArrayLike | None = None,
    exits: bool = False,
    ax: Axes | None = None,
    label: str | None = None,
    log: bool = False,
    colorbar: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw escape times: as colours for a batch of two axes, else the fraction that remains.

    Parameters
    ----------
    passages : Passages
        From ``pi.analysis.escape_times`` or ``first_passages``.
    x, y : str or array_like, optional
        The quantities that vary along the columns and the rows, as in ``heatmap``.
    exits : bool, optional
        Draw the exit by which they left, instead of the time.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        Label of the colours, or of the curve's axis.
    log : bool, optional
        Whether times, or the fraction that remains, are shown logarithmically.
    colorbar : bool, optional
        Whether to draw the scale of the colours beside the axes.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
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
        columns, x_label = coordinates(solution, x, 1)
        rows, y_label = coordinates(solution, y, 0)
        ax = new_axes(ax, figsize, (6.2, 4.6))
        text, numbers = with_unit("time of the passage", unit), t
        if exits:
            text, numbers, log = "exit", passages.exit, False
        mesh = colour(
            ax, columns, rows, numbers, text, label, log, False, "none", colorbar, keywords
        )
        if exits and colorbar and not keywords:
            found = np.unique(numbers)
            names = ["none" if i < 0 else passages.names[i] for i in found]
            mesh.colorbar.set_ticks(found, labels=names)
        ax.set(xlabel=x_label, ylabel=y_label)
        say(ax, title)
        return ax
    ax = new_axes(ax, figsize, (6.6, 3.8))
    last = np.max(np.abs(solution.n_steps * np.asarray(solution.dt)), initial=0.0)
    since = np.sort(np.abs(t[passages.passed] - passages._start[passages.passed]))
    moments = np.concatenate([[0.0], since, [last]])
    left = passages.remaining(moments)
    if not {"c", "color"} & set(keywords):
        keywords["color"] = on_ground(BLUE)
    ax.step(moments, np.where(left > 0, left, np.nan) if log else left, where="post", **keywords)
    ax.set_yscale("log" if log else "linear")
    return finish(
        ax, with_unit("time", unit), label or "part that remains", legend=False, title=title
    )


def _of_axis(system, name):
    start = "initial " if name in system.state_names else ""
    return f"{start}{axis_label(system, name)}"


def _measured(measure, system):
    """A measure in words with its unit, and whether it is the magnitude of an error."""
    time = unit_of(system, "t")
    if not isinstance(measure, Reduction):
        if hasattr(measure, "quantity"):
            event = _told(measure.quantity)
            if measure.keep:
                return with_unit(f"first time of {event} = 0", time), False
            return f"crossings of {event} = 0", False
        name = getattr(measure, "__name__", "")
        return ("" if name == "<lambda>" else name), False
    quantity, name = measure.quantity, measure.name
    words = WORDS.get(name, "{}")
    unit = unit_of(system, quantity) if isinstance(quantity, str) else ""
    if name in ("first_time", "periods"):
        unit = time
    elif name in UNITS:
        unit = ""
    elif unit and name in ("slope", "integral", "variance"):
        unit = {"slope": f"{unit}/{time}", "integral": f"{unit} {time}",
                "variance": f"({unit})²"}[name]  # fmt: skip
    told = _told(quantity)
    if isinstance(quantity, str) and quantity in system.state_names:
        told = axis_label(system, quantity).split(" [")[0]
    if name == "reduce":
        told = words = ""
    error = quantity == "energy_error" and name in ("max_abs", "rms", "std", "variance")
    return with_unit(words.format(told), unit), error


def _told(quantity):
    if isinstance(quantity, str):
        return quantity.replace("_", " ")
    name = getattr(quantity, "__name__", "")
    return "quantity" if name in ("<lambda>", "") else name
