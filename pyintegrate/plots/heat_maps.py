"""Picture: one number for every trajectory of a batch, over its two axes."""

import numpy as np

from ..analysis.observables import largest_of
from ..analysis.phase import period_error, phase_drift
from .curves import new_axes
from .style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, axis_label, with_unit

QUANTITIES = ("energy_error", "phase_error", "position_error", "period_error", "failed_step")
FAILED = "0.75"
CLASSES = (BLUE, ORANGE, GREEN, SKY, VERMILLION, PURPLE)  # dark and light in turn
MOST = 1e4  # times the median: larger errors have exploded


def heatmap(
    solution,
    values=None,
    *,
    x=None,
    y=None,
    ax=None,
    label=None,
    log=None,
    colorbar=True,
    **keywords,
):
    """Draw a number for every trajectory of a batch with two axes, as colours.

    Parameters
    ----------
    solution : Solution
        Of a batch of shape (n, m): rows are drawn upwards, columns to the right.
    values : str, callable or array_like, optional
        The number: "energy_error", "phase_error" or "position_error" (the largest of the saves;
        at the end where only that was saved, as the label says), "period_error", "failed_step", a
        component at the end, a function of the solution, or an array (n, m) (integers are drawn as
        classes). The energy error by default, where there is an energy. What needs more saves is
        blank, with one `RecordWarning`.
    x, y : str or array_like, optional
        What varies along the columns and the rows: a parameter, a component of the start, "dt", or
        coordinates. Found by itself where one thing varies.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        Of the colours.
    log : bool, optional
        Whether colours are logarithmic; errors are by default.
    colorbar : bool, optional
        Whether to draw the scale of the colours beside the axes.
    **keywords
        For `Axes.pcolormesh`.

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
    columns, x_label = _coordinates(solution, x, 1)
    rows, y_label = _coordinates(solution, y, 0)
    ax = new_axes(ax, figsize=(6.2, 4.6))
    exploded = "neither"
    look = {"shading": "nearest", "rasterized": True}
    if numbers.dtype.kind in "iu":
        mesh = _classes(ax, columns, rows, numbers, look | keywords)
    else:
        failed = np.asarray(solution.status) != 0
        shown = np.where(failed | ~np.isfinite(numbers), np.nan, numbers)
        if log:
            from matplotlib.colors import LogNorm

            shown = np.where(shown > 0, shown, np.nan)
            if np.isfinite(shown).any():
                # What exploded shares the last colour: it would leave none for the others.
                low, high = np.nanmin(shown), min(np.nanmax(shown), MOST * np.nanmedian(shown))
                exploded = "max" if np.nanmax(shown) > high else "neither"
                look["norm"] = LogNorm(max(low, 1e-12 * high), high if high > low else 2 * low)
        look["cmap"] = "viridis"
        mesh = ax.pcolormesh(columns, rows, shown, **(look | keywords))
        ax.set_facecolor(FAILED)  # shows through where there is no number
        if np.isnan(shown).any():
            text += "\n(grey: none, failed)"
    if colorbar:
        bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, extend=exploded)
        bar.set_label(label or text)
        if numbers.dtype.kind in "iu":
            bar.set_ticks(np.unique(numbers))
    ax.set(xlabel=x_label, ylabel=y_label)
    return ax


def _classes(ax, x, y, numbers, look):
    """Integers as colours that are told apart; -1, none of them, is grey."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    found = np.unique(numbers)
    found = np.arange(found[0], found[-1] + 1)
    if len(found) > 24:
        return ax.pcolormesh(x, y, numbers.astype(float), **({"cmap": "viridis"} | look))
    chosen = [FAILED if one == -1 else CLASSES[one % len(CLASSES)] for one in found]
    norm = BoundaryNorm([*(found - 0.5), found[-1] + 0.5], len(found))
    return ax.pcolormesh(x, y, numbers, **({"cmap": ListedColormap(chosen), "norm": norm} | look))


def _numbers(solution, values):
    """The numbers of the trajectories, what they are called, and whether they are errors."""
    system = solution.system
    if values is None:
        values = "energy_error" if system.has_energy else system.state_names[0]
    if callable(values):
        return np.asarray(values(solution)), getattr(values, "__name__", ""), False
    if not isinstance(values, str):
        return np.asarray(values), "", False
    before, after = largest_of(solution)
    with np.errstate(all="ignore"):
        if values == "energy_error":
            off = np.abs(solution.energy_error())
            return off.max(axis=0), f"{before}energy error{after}", True
        if values == "phase_error":
            off = np.abs(phase_drift(solution))
            return off.max(axis=0), f"{before}phase error{after} [rad]", True
        if values == "period_error":
            return np.abs(period_error(solution)), "relative error of the period", True
        if values == "position_error":
            off = solution.error()[..., : system.dof or None]
            unit = system.units.get(system.state_names[0], "")
            text = with_unit(f"{before}position error{after}", unit if unit != "1" else "")
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


def _coordinates(solution, given, axis):
    """Coordinates along a batch axis and their label; what varies along it, or numbers."""
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
    things |= {"dt": solution.dt, "t0": solution.t0}
    if given is not None:
        if given not in things:
            raise ValueError(f"{'yx'[axis]} must be one of {', '.join(things)}, got {given!r}")
        things = {given: things[given]}
    for name, value in things.items():
        if np.ndim(value) > 2:
            continue
        full = np.broadcast_to(value, batch)
        along, across = (full, full.T) if axis else (full.T, full)
        if batch[axis] > 1 and np.all(along == along[0]) and np.all(np.diff(along[0])):
            start = "initial " if name in system.state_names else ""
            unit = axis_label(system, name) if name not in ("dt", "t0") else f"{name} [s]"
            return np.asarray(along[0], dtype=float), f"{start}{unit}"
        if given is not None:
            raise ValueError(f"{given} does not vary along the {('rows', 'columns')[axis]} alone")
    return np.arange(batch[axis], dtype=float), f"trajectory (axis {axis})"
