"""Exponents over time, maps of chaos and stretching, frequencies, statistics of ensembles."""

from __future__ import annotations

import numpy as np

from ...analysis.results import name_of, unit_of, with_unit
from ...run.times import column
from ...values.checks import integer
from ...values.table import evenly
from ...values.types import Any, ChaosMap, FlowMap, Frequencies, LyapunovExponents
from ..curves import TRAJECTORIES, parts_of_results
from ..heat_maps import CLASSES, beyond, coordinates, grid, of_axes, over
from ..pictures import picture
from ..style import BLUE, LINE_STYLES, PALETTE, axis_label, on_ground, sign_of

_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_WORDS = {"fli": "fast Lyapunov indicator", "megno": "MEGNO", "sali": "SALI", "gali": "GALI"}
_NEAR_ZERO = {"sali", "gali"}  # chaos is decades below order
LEAST = 1e-16  # of the logarithm of a drift


@picture()
def lyapunov(
    page,
    found: LyapunovExponents,
    *,
    label: str | None = None,
    **keywords: Any,
):
    """Draw Lyapunov exponents against the time over which they were averaged.

    Parameters
    ----------
    found : LyapunovExponents
        From ``pi.lyapunov``. Of a large batch 30 trajectories, evenly chosen, are drawn; up to six
        are named.
    label : str, optional
        Label of the exponents' axis.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes
        The time is logarithmic and starts at the end of the transient: for a chaotic motion the
        curve tends to a constant, for a regular one to 0 as log t / t.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = lyapunov(pi.lyapunov(pi.systems.lorenz, dt=0.01, t_end=20.0, k=3))
    >>> ax.get_xlabel(), len(ax.lines)
    ('averaged over [s]', 4)
    """
    ax = page((6.6, 3.8))
    count, k = len(found.history), found.history.shape[-1]
    history = found.history.reshape(count, -1, k)
    shape = found.history.shape[:-1]
    times = column(np.abs(found.times - found._begin), shape[1:])
    times = np.broadcast_to(times, shape).reshape(count, -1)
    size = history.shape[1]
    lanes = evenly(size, TRAJECTORIES)
    own = {"linewidth": 0.8, "alpha": 0.6} if size > 1 else {}
    ax.axhline(0.0, color="0.6", linewidth=0.8)
    parts = parts_of_results(found.system, found.exponents.shape[:-1])
    for j in range(k):
        look = own | {"color": on_ground(CLASSES[j % len(CLASSES)])} | keywords
        lines = ax.plot(times[:, lanes], history[:, lanes, j], **look)
        name = f"λ{str(j + 1).translate(_LOWERED)}" if k > 1 else ""
        if k > 1 and lines:
            value = f" = {found.exponents[j]:.4g}" if found.exponents.ndim == 1 else ""
            lines[0].set_label((name + value).replace("-", "\N{MINUS SIGN}"))
        for line, part, colour, style in zip(lines, parts, PALETTE, LINE_STYLES):
            tint = {} if k > 1 else {"color": on_ground(colour)}
            text = ", ".join(filter(None, (name, part)))
            line.set(**{"label": text, "linestyle": style, "alpha": 1} | tint | keywords)
    ax.set_xscale("log")
    words = label or _rate(found.system, "Lyapunov exponent" + "s" * (k > 1))
    note = f"{len(lanes)} of {size:,} trajectories" if len(lanes) < size else ""
    return ax, with_unit("averaged over", unit_of(found.system, "t")), words, note


@picture("x", "y", "label", "log", "colorbar", legend=False)
def chaos_map(page, found: ChaosMap, **keywords: Any):
    """Draw an indicator of chaos: colours for a batch of two axes, a curve for one.

    Parameters
    ----------
    found : ChaosMap
        From ``pi.chaos_map``.
    log : bool, optional
        Whether the indicator is shown logarithmically; SALI and GALI are by default.
    **keywords
        For `Axes.pcolormesh`, or `Axes.plot`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> pendulums = pi.systems.duffing(gamma=np.linspace(0.2, 0.5, 30))
    >>> ax = chaos_map(pi.chaos_map(pendulums, dt=0.02, t_end=100.0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('γ [m/s^2]', 'fast Lyapunov indicator')
    """
    solution, values = found.solution, found.values
    text = _WORDS.get(found.indicator) or _rate(solution.system, "Lyapunov exponent")
    if values.ndim == 2 and values.size:
        axes, keywords = grid(page, solution), {"cmap": "inferno"} | keywords
    elif values.ndim == 1:
        axes = [coordinates(solution, page.shared["x"], 0)]
    else:
        raise ValueError(
            f"the map has the shape {values.shape}: a picture shows one or two axes; draw a part of"
            " its values with Matplotlib"
        )
    return over(page, axes, values, text, "none", keywords, found.indicator in _NEAR_ZERO)


def _rate(system, text):
    """The label of something per unit of time."""
    return with_unit(text, f"1/{unit_of(system, 't')}")


@picture("colorbar", legend=False)
def ftle(page, found: FlowMap, **keywords: Any):
    """Draw finite-time Lyapunov exponents: colours over a grid of two axes, a curve over one.

    Parameters
    ----------
    found : FlowMap
        From ``pi.analysis.ftle``; its first axis is drawn to the right.
    **keywords
        For `Axes.pcolormesh`, or `Axes.plot`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For more than two axes.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> grid = {"theta": np.linspace(-4, 4, 40), "omega": np.linspace(-7, 7, 30)}
    >>> ax = ftle(pi.analysis.ftle(pi.systems.pendulum, grid, 3.0, dt=0.02))
    >>> ax.get_xlabel()
    'initial θ [rad]'
    """
    system, values = found.solution.system, found.values
    if values.ndim > 2 or values.ndim != len(found.axes):
        raise ValueError(f"a map has one or two axes, got values of shape {values.shape}")
    text = _rate(system, "finite-time Lyapunov exponent")
    own = {"cmap": "inferno"} if values.ndim == 2 else {}
    return over(page, of_axes(system, found.axes), values.T, text, "none", own | keywords)


@picture("colorbar")
def frequencies(page, found: Frequencies, **keywords: Any):
    """Draw frequencies: the frequency map of a batch, or the spectrum of a single motion.

    A batch with two signals or more is a point for each trajectory, at the leading frequencies of
    the first two, coloured by how much these drift: lines of points are order, scattered ones
    chaos, gaps resonances. A batch of one axis with one signal is its frequency along that axis.

    Parameters
    ----------
    found : Frequencies
        From ``pi.analysis.frequencies``.
    **keywords
        For `Axes.scatter`, or `Axes.plot`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For a batch of several axes with one signal.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> found = pi.analysis.frequencies(
    ...     pi.systems.pendulum, 1, np.linspace(0.1, 3.1, 50), 0.0, dt=0.02, t_end=60.0)
    >>> ax = frequencies(found)
    >>> ax.get_ylabel()
    'frequency of θ [rad/s]'
    """
    *batch, m, _ = found.values.shape
    ax, names = page((6.2, 4.4)), [sign_of(name) for name in found.signals]
    unit = f"rad/{unit_of(found.solution.system, 't')}"
    label = [with_unit(f"frequency of {name}", unit) for name in names]
    if not batch:
        for name, w, a in zip(names, found.values, np.abs(found.amplitudes)):
            ax.plot(w, a, **{"linestyle": "none", "marker": "o", "label": name} | keywords)
            ax.vlines(w, 0, a, linewidth=0.8, color=ax.lines[-1].get_color())
        ax.set_ylim(bottom=0)
        return ax, with_unit("frequency", unit), "amplitude"
    first = found.values[..., 0]
    if m == 1:
        if len(batch) > 1:
            raise ValueError(
                f"a frequency map needs two signals, and the batch {tuple(batch)} has one: draw"
                " found.values with pi.plots.heatmap"
            )
        at, x_label = coordinates(found.solution, None, 0)
        ax.plot(at, first[:, 0], **{"color": on_ground(BLUE)} | keywords)
        return ax, x_label, label[0]
    drift = np.log10(np.maximum(found.drifts[..., :2].max(axis=-1), LEAST)).ravel()
    size = np.clip(3000 / max(drift.size, 1), 4, 36)
    own = {"s": size, "c": drift, "cmap": "inferno", "linewidths": 0}
    points = ax.scatter(first[..., 0].ravel(), first[..., 1].ravel(), **own | keywords)
    if page.shared["colorbar"] and points.get_array() is not None:
        text = with_unit("log10 of the drift between halves", unit)
        ax.figure.colorbar(points, ax=ax, label=text)
    return ax, *label[:2]


PATHS = 5  # trajectories drawn with a fan


@picture("legend")
def fan(
    page,
    solution: Any,
    name: str | None = None,
    *,
    group: int | None = None,
    paths: int = PATHS,
    **keywords: Any,
):
    """Draw quantiles across the batch against time: bands, the innermost as a line.

    Parameters
    ----------
    solution : Solution or Across
        With ``across={name: pi.across.quantiles(...)}``.
    name : str, optional
        Default: the only one.
    group : int, optional
        The label of a group, for quantiles with ``by=``.
    paths : int
        How many trajectories to draw too, where the quantity is a component and its states were
        saved.
    **keywords
        For `Axes.plot` of the line in the middle.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        What has this name is not of quantiles; there is no such group.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.pendulum(length=np.linspace(0.9, 1.1, 1000)), dt=0.01,
    ...                    n_steps=500, save=10, across={
    ...                        "band": pi.across.quantiles("theta", [0.05, 0.5, 0.95], every=10)})
    >>> fan(sol, "band").get_ylabel()
    'θ [rad]'
    """
    across, name, asked, t, values = _asked(solution, name, "quantiles", group)
    order = np.argsort(asked.options["q"])
    q, values = asked.options["q"][order], values[:, order]
    ax = page()
    own, component = across is not solution, asked.told[1][0]
    if own and component in solution.components and group is None:
        states = solution[component].reshape(len(solution.t), -1)
        if len(solution.t) > 1 and solution.t.ndim == 1:
            some = evenly(states.shape[1], integer("paths", paths, 0))
            lines = ax.plot(solution.t, states[:, some], color="0.6", linewidth=0.6, zorder=1)
            for line in lines[:1]:
                line.set_label(f"{len(lines)} of {states.shape[1]:,} trajectories")
    middle = keywords.pop("color", "C0")
    for i in range(len(q) // 2):
        told = f"{100 * q[i]:g} % to {100 * q[-1 - i]:g} %"
        ax.fill_between(t, values[:, i], values[:, -1 - i], color=middle, alpha=0.25, linewidth=0)
        # As dark in the legend as with the bands that lie under it.
        ax.fill(np.nan, np.nan, color=middle, alpha=1 - 0.75 ** (i + 1), linewidth=0, label=told)
    if len(q) % 2:
        half = len(q) // 2
        told = "median" if q[half] == 0.5 else f"{100 * q[half]:g} %"
        ax.plot(t, values[:, half], **{"color": middle, "label": told} | keywords)
    alone = len(ax.get_legend_handles_labels()[1]) < 2  # one name is no legend
    return ax, *_labels(solution, own, component), told * alone


@picture(legend=False)
def histogram_over_time(
    page,
    solution: Any,
    name: str | None = None,
    *,
    group: int | None = None,
    **keywords: Any,
):
    """Draw a histogram across the batch at each time, as an image over time and value.

    Parameters
    ----------
    solution : Solution or Across
        With ``across={name: pi.across.histogram(...)}``.
    name : str, optional
        Default: the only one.
    group : int, optional
        The label of a group, for a histogram with ``by=``.
    **keywords
        For `Axes.pcolormesh`. By default the colours reach as far as the counts of the second half
        of the times: `vmax`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        What has this name is not a histogram of two times or more; there is no such group.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.duffing, np.linspace(-1, 1, 1000), 0.0, dt=0.01, n_steps=500,
    ...                    save="final", across={
    ...                        "x": pi.across.histogram("x", 50, (-2, 2), every=10)})
    >>> histogram_over_time(sol, "x").get_ylabel()
    'x [m]'
    """
    across, name, asked, t, counts = _asked(solution, name, "histogram", group)
    if len(t) < 2:
        raise ValueError(f"{name!r} has {len(t)} time, and a picture over time needs two: every=")
    ax, most = page(), counts[len(counts) // 2 :].max()
    if not {"vmax", "norm"} & keywords.keys() and most:
        keywords["vmax"] = most  # where all begin at one place, nothing else would be seen
    between = np.interp(np.arange(len(t) + 1) - 0.5, np.arange(len(t)), t)  # half way, and ends
    image = ax.pcolormesh(between, across[f"{name}.edges"], counts.T, **keywords)
    ax.figure.colorbar(image, ax=ax, label="trajectories", extend=beyond(image))
    return ax, *_labels(solution, across is not solution, asked.told[1][0])


def _asked(solution, name, kind, group):
    """Of a statistic across the batch: all of them, its name, what it is, times and values."""
    across = getattr(solution, "across", solution)
    if not hasattr(across, "_asked"):
        raise TypeError(f"expected a Solution with across=, or its across, got {solution!r}")
    known = [key for key, one in across._asked.items() if one.name == kind]
    if name is None and len(known) == 1:
        name = known[0]
    if name not in known:
        told = f"{name!r} is no {kind}" if name else f"name the {kind}"
        raise ValueError(
            f"{told} across the batch; there are {', '.join(known) or 'none'}:"
            f" integrate with across={{{name or 'band'!r}: pi.across.{kind}(...)}}"
        )
    asked, values = across._asked[name], across[name]
    if asked.labels is not None:
        at = np.flatnonzero(asked.groups == group)
        if not at.size:
            raise ValueError(f"group must be one of {asked.groups.tolist()}, got {group!r}")
        values = values[:, at[0]]
    elif group is not None:
        raise ValueError(f"group must be left out: {name!r} has no by=")
    return across, name, asked, across[f"{name}.t"], values


def _labels(solution, own, quantity):
    if not own:
        return "time", name_of(quantity)
    return axis_label(solution.system, "t"), axis_label(solution.system, name_of(quantity))
