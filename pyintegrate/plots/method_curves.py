"""Plots of methods: errors over step and cost, regions and maps of stability."""

from __future__ import annotations

import numpy as np
from contourpy import contour_generator
from matplotlib.colors import LinearSegmentedColormap

from ..analysis.accuracy import listed
from ..analysis.errors_and_costs import Convergence, WorkPrecision, typical
from ..analysis.results import quiet, unit_of, with_unit
from ..analysis.stiffness import StabilityRegion, edge_of, spring_growth
from ..analysis.stiffness import stability_region as region_of
from ..integration import integrate
from ..method.catalogue import find_method, methods
from ..method.method import Method
from ..system.catalogue import systems
from ..values.checks import choice, integer, positive
from ..values.types import Any, Axes, Mapping, Methods
from .curves import by_name, looks_of, one_for_each
from .pictures import muted, picture, place_legend, points, several_axes, wrapped
from .style import axis_label, line_keywords, looks, title_of


@picture("labels", legend=False)
def convergence(page, found: Convergence, *, legend=True, **keywords: Any):
    """Draw errors over dt with the fitted orders: straight lines, the steeper the better.

    Parameters
    ----------
    found : Convergence
        From ``pi.analysis.convergence``; for a batch the median is drawn.
    legend : bool, optional
        Whether to put a legend beside the axes: highest order first, with the measured order.
    labels : dict or sequence of str, optional
        Legend text by method name, or of each.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes
        Both axes are logarithmic. Points are errors, lines the fits, over the range used.

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = convergence(pi.analysis.convergence(pi.systems.oscillator, ["rk4", "midpoint"]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['4.0   classical Runge-Kutta', '2.0   explicit midpoint']
    """
    ax, labels, draw = _set_out(page, found, keywords)
    for name in sorted(found, key=lambda name: -np.nan_to_num(found[name].order)):
        fit, error = found[name], typical(found.errors[name])
        with quiet():
            shown = np.where(np.isfinite(error) & (error > 0) & (error < 10), error, np.nan)
        label = labels.get(name, title_of(found.methods[name]))
        order = f"{fit.order:.1f}" if fit.points else " - "
        draw(name, found.dt, shown, markersize=3.5, linestyle="", label=f"{order}   {label}")
        if fit.points:
            ends = np.array([fit.dt_min, fit.dt_max])
            look = {"marker": "", "linewidth": 1.6, "alpha": 0.7, "label": "_nolegend_"}
            draw(name, ends, fit.constant * ends**fit.order, **look)
    floor = float(np.max(found.floor))
    low, high = ax.get_ylim()
    if low < 10 * floor:
        ax.axhspan(low, floor, color=muted()["color"], alpha=0.08, zorder=0, linewidth=0)
        thin = floor < 4 * low  # a band too narrow for a line of text
        ax.text(
            0.99, floor, "rounding " if floor < 1e-12 else "the reference is no better ",
            transform=ax.get_yaxis_transform(), ha="right", va="bottom" if thin else "top",
            fontsize=0.9 * points("font.size"), **muted(),
        )  # fmt: skip
        ax.set_ylim(low, high)
    if legend:
        place_legend(
            ax, 0.6, 1, fontsize=0.9 * points("font.size"), title="measured order", alignment="left"
        )
    return ax, with_unit("dt", unit_of(found.system, "t")), "error, relative to the motion"


LABELS = {
    "evaluations": "force evaluations",
    "seconds": "seconds for one trajectory of a batch",
}


@picture("labels", legend=False)
def work_precision(
    page, found: WorkPrecision, *, of: str = "evaluations", legend=True, **keywords: Any
):
    """Draw error against cost: the lower the curve at a given cost, the better the method.

    Parameters
    ----------
    found : WorkPrecision
        From ``pi.analysis.work_precision``; for a batch the median is drawn.
    of : {"evaluations", "seconds"}, optional
        The measure of the cost.
    legend : bool, optional
        Whether to put a legend beside the axes, the cheapest to a millionth first.
    labels : dict or sequence of str, optional
        Legend text by method name, or of each.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes
        Both axes are logarithmic.

    Raises
    ------
    TypeError, ValueError
        For anything else, or times that were not measured.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> found = pi.analysis.work_precision(pi.systems.oscillator, ["rk4", "midpoint"],
    ...                                    seconds=False)
    >>> work_precision(found).get_xlabel()
    'force evaluations'
    """
    choice("of", of, LABELS)
    if of == "seconds" and not found.timed:
        raise ValueError("no seconds were taken: measure with work_precision(..., seconds=True)")
    ax, labels, draw = _set_out(page, found, keywords)
    for name in sorted(found, key=lambda name: _rank(found, name)):
        _, evaluations, seconds, errors = found[name]
        error = typical(errors)
        with quiet():
            error = np.where((error > found.floor / 10) & (error < 3), error, np.nan)
        text = methods[name].title if name in methods else name
        spent = evaluations if of == "evaluations" else seconds
        draw(name, spent, error, markersize=3, linewidth=1.3, label=labels.get(name, text))
    ax.annotate(
        "better", (0.03, 0.04), (0.10, 0.13), xycoords="axes fraction", textcoords="axes fraction",
        fontsize=0.9 * points("font.size"), arrowprops={"arrowstyle": "->"} | muted(), **muted(),
    )  # fmt: skip
    if legend:
        place_legend(ax, 0.6, fontsize=0.9 * points("font.size"))
    return ax, LABELS[of], "error, relative to the motion"


def _set_out(page, found, keywords):
    """Logarithmic axes, texts by method, and what draws a curve in the look of its method."""
    ax, style, keywords = page((8.4, 4.6)), looks(found), line_keywords(keywords)
    ax.loglog()

    def draw(name, x, y, **look):
        ax.plot(x, y, **(style[name] | look | keywords))

    return ax, by_name(page.shared["labels"], found), draw


def _rank(found, name):
    """Cost of an error of a millionth, or else the distance from it."""
    cost = found.cost(name, 1e-6)
    return (0, cost) if np.isfinite(cost) else (1, float(np.min(typical(found[name][3]))))


@picture("labels", "legend")
def stability_region(
    page,
    *sources: Any,
    extent: tuple[float, float, float, float] | None = None,
    **keywords: Any,
):
    """Draw the boundary of the stability regions of one or several methods; the inside is stable.

    Parameters
    ----------
    *sources : str, Method or StabilityRegion, or sequences of them
        The methods or regions to draw.
    extent : tuple of float, optional
        Least and greatest Re z, least and greatest Im z for regions that are computed here.
    labels : dict or sequence of str, optional
        Legend text by method name, or of each.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes
        z = lambda dt: damping to the left, oscillation upwards.

    Raises
    ------
    TypeError
        If there is nothing to draw.

    Examples
    --------
    >>> ax = stability_region("rk4", "semi_implicit_euler")
    >>> ax.get_xlabel()
    'Re λ dt  (damping)'
    """
    regions = list(_regions(sources, extent))
    if not regions:
        raise TypeError("there is nothing to draw: give one or more methods or regions")
    names = [region.method.name for region in regions]
    keywords, labels = line_keywords(keywords), page.shared["labels"]
    labels = {} if labels is None else labels
    if not hasattr(labels, "get"):
        texts = one_for_each(labels, names)
    else:
        texts = [labels.get(one.method.name, title_of(one.method)) for one in regions]
    ax = page((6.6, 4.6), layout="compressed")
    axes = {"color": muted()["color"], "alpha": 0.25, "linewidth": 0.8, "zorder": 0.5}
    ax.axhline(0, **axes)
    ax.axvline(0, **axes)
    for label, style, region in zip(texts, looks_of(names, None), regions):
        if len(regions) <= 3:
            # Shades that add up: where two regions overlap, both methods are stable.
            ax.contourf(
                region.real, region.imaginary, region.stable.astype(float), levels=[0.5, 1.5],
                colors=[style["color"]], alpha=0.12,
            )  # fmt: skip
        own = {"linewidth": 1.5, "label": label, "marker": ""} | style
        level_lines(
            ax, region.real, region.imaginary, region.growth, edge_of(region.method), own | keywords
        )
    ax.set(
        xlim=np.sort([region.real[[0, -1]] for region in regions], axis=None)[[0, -1]],
        ylim=np.sort([region.imaginary[[0, -1]] for region in regions], axis=None)[[0, -1]],
    )
    ax.set_aspect("equal", adjustable="box")
    return ax, "Re λ dt  (damping)", "Im λ dt  (oscillation, ω dt)"


def level_lines(ax, x, y, growth, level, keywords):
    """Lines along which a growth on a grid is at a level, by its logarithm; named once."""
    shown = np.log(np.clip(growth, 1e-300, 1e300) / level)
    lines: Any = contour_generator(x, y, shown).lines(0.0)
    for number, line in enumerate(lines):
        ax.plot(*line.T, **keywords | ({"label": "_nolegend_"} if number else {}))


def _regions(sources, extent):
    for source in sources:
        if isinstance(source, StabilityRegion):
            yield source
        elif isinstance(source, str) or hasattr(source, "coefficients"):
            yield region_of(source, extent=extent)
        else:
            yield from _regions(map(find_method, listed(source)), extent)


STEPS = 400  # of the simulation: growth by 2 % per step then appears as a factor of 3000
CLIP = 0.3  # growth or decay per step beyond which the colour is saturated
# Light blue for decay, dark red for explosion: distinct in grey too.
GROWTH = LinearSegmentedColormap.from_list("growth", ["#7fbfe8", "#ffffff", "#c04500"])


def stability_map(
    methods: Methods = ("semi_implicit_euler", "rk4"),
    *,
    dt: float = 0.1,
    stiffness: float | None = None,
    damping: float | None = None,
    points: int = 160,
    ax: Axes | None = None,
    labels: Mapping[Any, str] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw where a damped spring of 1 kg decays and where it explodes: one panel for each method.

    Every point of the map is one spring, simulated for 400 steps; its colour is its growth or
    decay per step. The line is the theoretical boundary. A real spring always decays.

    Parameters
    ----------
    methods : str, Method or sequence of them, optional
    dt : float, optional
        Step [s].
    stiffness, damping : float, optional
        Largest k [N/m] and b [kg/s] shown; from the methods' limits by default.
    points : int, optional
        Springs along each axis.
    ax : Axes, or sequence of Axes, optional
        Where to draw, one for each method; a new figure by default.
    labels : dict, optional
        Title of a panel by method name.
    title : str, optional
        Above all panels.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.

    Returns
    -------
    Axes, or ndarray of Axes
        An array for several methods.

    Raises
    ------
    ValueError
        For another number of axes than methods.

    Examples
    --------
    >>> ax = stability_map("semi_implicit_euler", points=20)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('damping b [kg/s]', 'stiffness k [N/m]')
    """
    one = isinstance(methods, str | Method)
    chosen = [find_method(method) for method in listed(methods)]
    if not chosen:
        raise ValueError("methods is empty: name at least one")
    dt, points = positive("dt", dt), integer("points", points, 2)
    labels = by_name(labels, [method.name for method in chosen])
    size = (3.1 * len(chosen) + 1.5, 3.7)
    axes = several_axes(ax, (1, len(chosen)), size, figsize, sharey=True)[0]
    if stiffness is None:
        stiffness = 1.35 * max(2.0, *(min(m.stability_limit, 4.0) for m in chosen)) ** 2 / dt**2
    if damping is None:
        damping = 3.0 / dt
    ends = positive("damping", damping), positive("stiffness", stiffness)
    b, k = np.meshgrid(*(np.linspace(0, end, points) for end in ends))
    system = systems["spring"]
    for panel, method in zip(axes, chosen):
        mesh = _panel(panel, method, k, b, dt)
        name = labels.get(method.name, title_of(method))
        wide = panel.get_position().width * panel.figure.get_figwidth()
        panel.set_title(wrapped(name, wide, "font.size"), loc="left", fontsize="medium")
        panel.set_xlabel(f"damping {axis_label(system, 'b')}")
    axes[0].set_ylabel(f"stiffness {axis_label(system, 'k')}")
    unit = unit_of(system, "t")
    bar = axes[-1].figure.colorbar(mesh, ax=list(axes), pad=0.02)
    bar.set_ticks([-CLIP, 0, CLIP], labels=["decays", "neither", "explodes"])
    bar.set_label(f"amplitude in a step of {dt:g} {unit}")
    if title is not None:
        axes.figure.suptitle(title)
    return axes[0] if one else axes


def simulated_growth(method, k, b, dt):
    """Logarithm of the growth of a spring of 1 kg in one step, from a simulation.

    Parameters
    ----------
    method : Method
    k, b : ndarray
        Stiffness [N/m] and damping [kg/s], (*batch).
    dt : float

    Returns
    -------
    ndarray
        (*batch), positive where it explodes.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> k, b = np.array([1.0]), np.array([0.0])
    >>> grown = simulated_growth(pi.methods["explicit_euler"], k, b, 0.1)
    >>> print(f"{grown[0]:.5f}, in theory {np.log(1.01) / 2:.5f}")
    0.00498, in theory 0.00498
    """
    spring = systems["spring"](k=k, b=b, m=1.0)
    run = {"dt": dt, "method": method, "save": "final", "on_failure": "ignore", "workers": -1}
    sol = integrate(spring, 1.0, 0.0, n_steps=STEPS, **run)
    with quiet():
        # In units in which a turn of the undamped spring is a circle.
        size = np.hypot(sol.x[-1], sol.v[-1] / np.sqrt(np.maximum(k, 1e-300)))
        growth = np.log(size) / STEPS
    done = np.where(sol.failed_step > 0, sol.failed_step, STEPS)
    return np.where(sol.status != 0, np.maximum(700 / done, CLIP), np.nan_to_num(growth, neginf=-9))


def _panel(ax, method, k, b, dt):
    """The simulation as colours, the theory as a line."""
    grown = simulated_growth(method, k, b, dt)
    shown = np.clip(grown, -CLIP, CLIP)
    mesh = ax.pcolormesh(
        b, k, shown, vmin=-CLIP, vmax=CLIP, cmap=GROWTH, shading="nearest", rasterized=True
    )
    look = {"color": "k", "linewidth": 1.4, "label": "boundary of theory"}
    level_lines(ax, b[0], k[:, 0], spring_growth(method, k * dt**2, b * dt), 1 + 1e-9, look)
    ax.set(xlim=(b.min(), b.max()), ylim=(k.min(), k.max()))
    return mesh
