"""Picture: everything about some runs of one motion on a page."""

import numpy as np

from ..analysis.observables import phases
from ..errors import one_record_warning
from .comparison_panels import last_periods
from .curves import collect
from .energy_curves import energy
from .error_curves import error
from .paths import component_names, trajectory
from .phase_curves import phase_drift
from .phase_space import phase_portrait


@one_record_warning()
def dashboard(*sources, labels=None, title=None, figsize=(13.0, 7.0), **keywords):
    """Draw motion, phase portrait, energy, phase error and both errors on one page.

    Parameters
    ----------
    *sources : Solution or Comparison
        What to draw.
    labels : dict, optional
        Legend text by method name.
    title : str, optional
        Above; the system's title by default.
    figsize : tuple of float, optional
        Width and height in inches.
    **keywords
        For `Axes.plot` in every panel.

    Returns
    -------
    ndarray of Axes
        (2, 3); what a system has no data for is left blank and invisible.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> c = pi.compare(pi.systems.pendulum, dt=0.05, t_end=60.0)
    >>> axes = dashboard(c)
    >>> [ax.get_title("left") for ax in axes.ravel()]  # doctest: +NORMALIZE_WHITESPACE
    ['position, the last 11 s', 'phase portrait', 'energy',
     'phase error', 'position error', 'energy error']
    """
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator

    curves = collect(sources, labels)
    first = curves[0].solution
    system = first.system
    exact = system.exact(np.asarray(first.t)[:1], first.initial) is not None
    has_phase = exact and phases(first, first.y[:1]) is not None
    has_energy = system.has_energy
    figure, axes = pyplot.subplots(2, 3, figsize=figsize, layout="constrained")
    in_time = len(component_names(system)) == 1
    window = last_periods(first) if in_time else None
    shown = {
        "motion": lambda ax: _motion(ax, curves, window, keywords),
        "phase portrait": (
            (lambda ax: phase_portrait(*curves, ax=ax, legend=False, **keywords))
            if system.dim > 1 and (system.dof or in_time)
            else None
        ),
        "energy": (lambda ax: energy(*curves, ax=ax, legend=False, **keywords))
        if has_energy
        else None,
        "phase error": (lambda ax: phase_drift(*curves, ax=ax, legend=False, **keywords))
        if has_phase
        else None,
        "position error": (lambda ax: error(*curves, ax=ax, legend=False, **keywords))
        if exact
        else None,
        "energy error": (
            (lambda ax: error(*curves, quantity="energy", ax=ax, legend=False, **keywords))
            if has_energy
            else None
        ),
    }
    for (name, draw), ax in zip(shown.items(), axes.ravel(), strict=True):
        if draw is None:
            ax.set_visible(False)
            continue
        draw(ax)
        ax.minorticks_off()
        ax.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
        if name != "motion":
            ax.set_title(name, loc="left")
    for ax in axes[1, 1:]:
        ax.set_ylabel(ax.get_ylabel().replace("relative ", ""))
    handles, names = axes[0, 0].get_legend_handles_labels()
    columns = len(names)
    if 0.08 * sum(map(len, names)) + 0.6 * columns > figsize[0]:  # inches: too long for one row
        columns = max(1, int(figsize[0] / (0.085 * max(map(len, names)) + 0.6)))
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)
    figure.suptitle(title or _title(first), x=0.01, ha="left", fontweight="bold")
    return axes


def _motion(ax, curves, window, keywords):
    """Position against time, or the path."""
    trajectory(*curves, ax=ax, legend=False, window=window, **keywords)
    if len(component_names(curves[0].solution.system)) > 1:
        ax.set_title("path", loc="left")
    elif window is None:
        ax.set_title("position", loc="left")
    else:
        unit = curves[0].solution.system.units.get("t", "")
        ax.set_xlim(sorted(window))
        ax.set_title(f"position, the last {abs(np.ptp(window)):.2g} {unit}".rstrip(), loc="left")


def _title(solution):
    """The system, its equation, and how many trajectories of how many steps."""
    count = int(np.prod(np.shape(solution.y)[1:-1]))
    many = f", {count:,} trajectories" if count > 1 else ""
    return f"{solution.system.title}: {solution.system.equation}{many}"
