"""Dashboard: all panels for some runs of one motion on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.observables import phases
from ..errors import one_record_warning
from .comparison_panels import in_time, last_periods, motion, retitle, whole
from .curves import collect
from .energy_curves import energy
from .error_curves import error
from .frame import (
    chosen_panels,
    figure_size,
    left_out,
    legend_below,
    line_keywords,
    place_legend,
    several_axes,
    wrapped,
)
from .paths import portrait_pair
from .phase_curves import phase_drift
from .phase_space import phase_portrait
from .thinning import batch_size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..solution.solution import Solution
    from ..values.types import Axes, AxesArray, Labels

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
    from matplotlib.ticker import MaxNLocator

    curves, keywords = collect(sources, labels), line_keywords(keywords)
    possible = possible_panels(curves)
    names = chosen_panels(panels, possible, PANELS)
    if panels is None and ax is None:
        names, shape = list(PANELS), (2, 3)
    else:
        shape = (1, len(names)) if len(names) <= 3 else (2, 3)
    size = (13.0, 7.0) if shape[0] == 2 else (ALONE[0] * shape[1], ALONE[1])
    if ax is not None:
        shape = (1, len(names))
    axes = several_axes(ax, shape, figure_size(figsize, size))
    places = list(axes.ravel())
    for name, one in zip(names, places, strict=False):
        if name not in possible:
            one.set_visible(False)
            continue
        PANELS[name](one, curves, keywords)
        one.minorticks_off()
        one.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
        retitle(one, curves, None if name == "motion" else name)
        if "error" in name and places.index(one) % shape[1]:
            one.set_ylabel(one.get_ylabel().replace("relative ", ""))
    for one in places[len(names) :]:
        one.set_visible(False)
    first = places[0]
    if ax is not None:
        place_legend(first)
    else:
        handles, texts = first.get_legend_handles_labels()
        if texts:
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
    if panels is None:
        possible = possible_panels(collect([solution]))
        panels = [panel for panel in ("motion", "energy") if panel in possible]
    return dashboard(solution, panels=panels, **keywords).ravel()


def possible_panels(curves):
    """The panels for which a system and its saves have data."""
    first = curves[0].solution
    system = first.system
    held = set(first.components).intersection(*(curve.solution.components for curve in curves))
    complete = all(whole(curve.solution) for curve in curves)
    exact = system.exact(np.asarray(first.t)[:1], first.initial) is not None
    phase = exact and complete and phases(first, first.y[:1]) is not None
    has = {
        "motion": True,
        "phase portrait": system.dim > 1
        and (system.dof or in_time(first))
        and {*portrait_pair(system)} <= held,
        "energy": system.has_energy and complete,
        "phase error": phase,
        "position error": exact and set(system.state_names[: system.dof or None]) <= held,
        "energy error": system.has_energy and complete,
    }
    return [name for name, there in has.items() if there]


def _drawn_by(picture, **settings):
    """A panel that is drawn by one plot function."""
    return lambda ax, curves, keywords: picture(
        *curves, ax=ax, legend=False, **(settings | keywords)
    )


def _motion(ax, curves, keywords):
    window = last_periods(curves[0].solution) if in_time(curves[0].solution) else None
    motion(ax, curves, window, keywords)


PANELS = {
    "motion": _motion,
    "phase portrait": _drawn_by(phase_portrait),
    "energy": _drawn_by(energy),
    "phase error": _drawn_by(phase_drift),
    "position error": _drawn_by(error),
    "energy error": _drawn_by(error, quantity="energy"),
}


def _title(curves, title, width):
    """The given title, or the system and, on one line, its equation; and a note of omissions."""
    system, size = curves[0].solution.system, batch_size(curves[0].solution)
    note = left_out(curves) or (f"{size:,} trajectories" if size > 1 else "")
    names = [title] if title else [f"{system.title}: {system.equation}", system.title]
    texts = [", ".join(filter(None, [name, note])) for name in names]
    lines = [wrapped(text, width, "figure.titlesize", bold=True) for text in texts]
    return next((text for text in lines if "\n" not in text), lines[-1])
