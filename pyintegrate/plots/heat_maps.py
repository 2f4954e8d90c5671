"""Heat map: one number for every trajectory of a batch, over its two axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize

from ..analysis.observables import found, largest_of
from ..analysis.phase import period_error, phase_drift
from ..errors import Status
from ..solution.jumps import has_jumped, until_jump
from .error_curves import components_of
from .frame import new_axes, say
from .log_axis import edges, log_axis, log_spaced
from .style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, axis_label, unit_of, with_unit

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..solution.solution import Solution
    from ..values.types import ArrayLike, Axes

QUANTITIES = ("energy_error", "phase_error", "position_error", "period_error", "failed_step")
_WATCHED = {
    "energy_error": ("energy_error", "energy error{}"),
    "phase_error": ("phase_drift", "phase error{} [rad]"),
}
FAILED = "0.75"
CLASSES = (BLUE, ORANGE, GREEN, SKY, VERMILLION, PURPLE)  # dark and light in turn
MOST = 1e4  # times the median, or times 1 if that is more: larger numbers have exploded
DECADES = 1e12  # greatest range of logarithmic colours: more leaves too little to each decade


def heatmap(
    solution: Solution,
    values: str | Callable[..., Any] | ArrayLike | None = None,
    *,
    x: str | ArrayLike | None = None,
    y: str | ArrayLike | None = None,
    ax: Axes | None = None,
    label: str | None = None,
    log: bool | None = None,
    colorbar: bool = True,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw a number for every trajectory of a batch with two axes, as colours.

    An axis along which something is spaced by the logarithm, as of ``numpy.geomspace``, is
    logarithmic.

    Parameters
    ----------
    solution : Solution
        For a batch of shape (n, m): rows are drawn upwards, columns to the right.
    values : str, callable or array_like, optional
        The number: "energy_error", "phase_error" or "position_error" (the largest of the saves;
        at the end if only that was saved; of all steps if the run has watched "energy_drift"
        or "phase_drift", as the label says), "period_error", "failed_step", a
        component at the end, a function of the solution, or an array (n, m) (integers are drawn as
        classes). Default: the energy error, if the system has an energy. Cells that need more saves
        are blank, with one `RecordWarning`.
    x, y : str or array_like, optional
        What varies along the columns and the rows: a parameter, a component of the start, "dt", or
        coordinates. By default the only thing that varies there.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        Label of the colours.
    log : bool, optional
        Whether colours are logarithmic, over the top twelve decades; errors are by default.
    colorbar : bool, optional
        Whether to draw the scale of the colours beside the axes.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
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
        raise ValueError(f"heatmap needs a batch with two axes, got the shape {batch}")
    numbers, text, is_error = _numbers(solution, values)
    if numbers.shape != batch:
        raise ValueError(f"values has shape {numbers.shape}, and the batch {batch}")
    log = is_error if log is None else log
    columns, x_label = coordinates(solution, x, 1)
    rows, y_label = coordinates(solution, y, 0)
    ax = new_axes(ax, figsize, (6.2, 4.6))
    missing, blank = "did not fail", False
    if not (isinstance(values, str) and values == "failed_step"):
        missing, status = "none, failed", np.asarray(solution.status)
        blank = (status != Status.OK) & (status != Status.STOPPED)
    colour(ax, columns, rows, numbers, text, label, log, blank, missing, colorbar, keywords)
    ax.set(xlabel=x_label, ylabel=y_label)
    say(ax, title)
    return ax


def colour(ax, x, y, numbers, text, label, log, blank, missing, colorbar, keywords):
    """Draw numbers (m, n) over x (n,) and y (m,), integers as classes, with their scale.

    Axes are logarithmic where the coordinates have a constant ratio. Numbers that are not finite,
    or are `blank`, are grey; `text` describes the numbers, and `missing` the grey ones, unless
    there is a `label`.
    """
    look: dict[str, Any] = {"shading": "nearest", "rasterized": True} | keywords
    powers = [name for name, values in (("x", x), ("y", y)) if log_spaced(values)]
    if powers and look["shading"] == "nearest":  # whose edges are half way by differences
        x, y, look["shading"] = edges(x), edges(y), "flat"
    if numbers.dtype.kind in "iu":
        mesh = _classes(ax, x, y, numbers, look)
    else:
        shown = np.where(blank | ~np.isfinite(numbers), np.nan, numbers.astype(float))
        if log:
            shown = np.where(shown < 0, np.nan, shown)
        look = {"cmap": "viridis"} | look
        if "norm" not in look:
            look["norm"] = _scale(shown, log, look.pop("vmin", None), look.pop("vmax", None))
        if log:  # zero error is below the least colour
            shown = np.where(shown == 0, np.finfo(float).tiny, shown)
        mesh = ax.pcolormesh(x, y, np.ma.masked_invalid(shown), **look)
        ax.set_facecolor(FAILED)  # visible where there is no number
        if np.isnan(shown).any():
            text = f"{text}\n(grey: {missing})".strip()
    log_axis(ax, *powers)
    if colorbar:
        bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, extend=_beyond(mesh))
        bar.set_label(label or text)
        if isinstance(mesh.cmap, ListedColormap) and mesh.cmap.name == "classes":
            bar.set_ticks(np.unique(np.clip(numbers, *_ends(mesh.norm))))
    return mesh


def _scale(shown, log, least, most):
    """The norm of the colours: the given limits, else the range of the numbers.

    On a logarithmic scale the top decades; numbers far above 1 and the median have exploded: they
    share the last colour, so that the others can be distinguished.
    """
    found = shown[np.isfinite(shown) & ((shown > 0) | (not log))]
    if not log:
        low, high = (found.min(), found.max()) if found.size else (0.0, 1.0)
        return Normalize(low if least is None else least, high if most is None else most)
    if most is None:
        most = min(found.max(), MOST * max(np.median(found), 1.0)) if found.size else 1.0
        most = max(most, least or 0.0)
    if least is None:
        least = max(found.min(initial=most), most / DECADES)
        least = least if least < most else most / 2
    return LogNorm(least, most)


def _ends(norm):
    return int(np.ceil(norm.vmin)), int(np.floor(norm.vmax))


def _beyond(mesh):
    """At which ends of the scale there are numbers beyond the colours."""
    held = np.ma.compressed(mesh.get_array())
    low = bool(np.any(held < mesh.norm.vmin)) if held.size else False
    high = bool(np.any(held > mesh.norm.vmax)) if held.size else False
    return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[low, high]


def _classes(ax, x, y, numbers, look):
    """Integers as distinct colours; -1, for none of them, is grey."""
    least, most = look.pop("vmin", None), look.pop("vmax", None)
    least = numbers.min() if least is None else int(np.ceil(least))
    most = numbers.max() if most is None else int(np.floor(most))
    if "norm" in look or most - least + 1 > 24:
        look = {"cmap": "viridis", "norm": Normalize(least, most)} | look
        return ax.pcolormesh(x, y, numbers.astype(float), **look)
    found = np.arange(least, max(most, least) + 1)
    chosen = [FAILED if one == -1 else CLASSES[one % len(CLASSES)] for one in found]
    own = {
        "cmap": ListedColormap(chosen, "classes"),
        "norm": BoundaryNorm([*(found - 0.5), found[-1] + 0.5], len(found)),
    }
    return ax.pcolormesh(x, y, numbers, **(own | look))


def _numbers(solution, values):
    """The numbers of the trajectories, their name, and whether they are errors."""
    system = solution.system
    if values is None:
        whole = len(solution.components) == system.dim
        values = "energy_error" if system.has_energy and whole else solution.components[0]
    if callable(values):
        return np.asarray(values(solution)), getattr(values, "__name__", ""), False
    if not isinstance(values, str):
        return np.asarray(values), "", False
    before, after = largest_of(solution)
    with np.errstate(all="ignore"):
        if values in _WATCHED:
            quantity, text = _WATCHED[values]
            known = found(solution, "max_abs", quantity)
            if known is not None:
                before, after = largest_of(solution, watched=True)
                known = np.where(has_jumped(solution), np.nan, known)
                return known, f"{before}{text.format(after)}", True
        if values == "energy_error":
            off = until_jump(solution, np.abs(solution.energy_error()), "the energy error")
            return off.max(axis=0), f"{before}energy error{after}", True
        if values == "phase_error":
            off = np.abs(phase_drift(solution))
            return off.max(axis=0), f"{before}phase error{after} [rad]", True
        if values == "period_error":
            return np.abs(period_error(solution)), "relative error of the period", True
        if values == "position_error":
            unit = unit_of(system, system.state_names[0])
            text = with_unit(f"{before}position error{after}", unit)
            names = system.state_names[: system.dof or None]
            off = components_of(solution, names) - solution.exact()[..., : len(names)]
            return np.linalg.norm(off, axis=-1).max(axis=0), text, True
    if values == "failed_step":
        failed = solution.failed_step.astype(float)
        return np.where(failed < 0, np.nan, failed), "first step that failed", False
    if values in system.state_names:
        return (
            np.asarray(solution[values][-1], float),
            f"{axis_label(system, values)} at the end",
            False,
        )
    known = ", ".join([*QUANTITIES, *system.state_names])
    raise ValueError(f"values must be one of {known}, a function or an array, got {values!r}")


def coordinates(solution, given, axis):
    """Coordinates along a batch axis and their label: what varies along it, or indices."""
    system, batch = solution.system, solution.y.shape[1:-1]
    if given is not None and not isinstance(given, str):
        values = np.asarray(given, dtype=float)
        if values.shape != (batch[axis],):
            name = "yx"[axis]
            raise ValueError(f"{name} has shape {values.shape}, expected ({batch[axis]},)")
        return values, ""
    things = {name: solution.initial[..., i] for i, name in enumerate(system.state_names)}
    shapes = system.batch_shapes
    things |= {name: v for name, v in system.params.items() if np.ndim(v) == len(shapes[name])}
    things |= {k: v for k, v in solution._clock.items() if k in ("dt", "t0")}
    if given is not None:
        if given not in things:
            raise ValueError(f"{'yx'[axis]} must be one of {', '.join(things)}, got {given!r}")
        things = {given: things[given]}
    for name, value in things.items():
        if np.ndim(value) > 2:
            continue
        full = np.broadcast_to(value, batch)
        along = np.atleast_2d(full if axis else full.T)
        if batch[axis] > 1 and np.all(along == along[0]) and np.all(np.diff(along[0])):
            start = "initial " if name in system.state_names else ""
            text = axis_label(system, name)
            if name in ("dt", "t0"):
                text = with_unit(name, unit_of(system, "t"))
            return np.asarray(along[0], dtype=float), f"{start}{text}"
        if given is not None:
            raise ValueError(f"{given} does not vary along the {('rows', 'columns')[axis]} alone")
    return np.arange(batch[axis], dtype=float), f"trajectory (axis {axis})"
