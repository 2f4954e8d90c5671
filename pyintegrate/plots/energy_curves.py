"""Plot of the energy against time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.observables import energies, start_time
from .curves import (
    against_time,
    batch_of,
    collect,
    draw_exact,
    exact_curve,
    same_motion,
)
from .frame import finish, left_out, new_axes
from .style import axis_label, unit_of, with_unit
from .thinning import POINTS, envelope

if TYPE_CHECKING:
    from typing import Any

    from ..values.types import Axes, Labels

LABELS = {"ratio": "E(t) / E(0)", "error": "energy error (E - E0) / |E0|", "energy": "energy E"}
EXPLODED = 1e3  # energies beyond this multiple of the first leave the picture
VISIBLE = 0.01  # relative changes above this are shown as a ratio


def energy(
    *sources: Any,
    quantity: str | None = None,
    ax: Axes | None = None,
    legend: bool = True,
    exact: bool = True,
    labels: Labels | None = None,
    window: tuple[float, float] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw the energy of one or several solutions against time.

    Parameters
    ----------
    *sources : Solution or Comparison
        The solutions to draw; of a large batch 30 trajectories, with a note.
    quantity : {"ratio", "error", "energy"}, optional
        E/E0, (E - E0)/|E0| or E itself. By default the ratio if the energy changes by more
        than one per cent, else the error, as the label says.
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes.
    exact : bool, optional
        Whether to draw the energy of the exact motion, if there is one.
    labels : dict or sequence of str, optional
        Legend text by method name, or of each solution.
    window : tuple of float, optional
        Draw only from one time to another.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.plot`; a `label` is the name in the legend.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a system has no energy.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = energy(pi.integrate(pi.systems.oscillator, dt=0.5, t_end=50.0))
    >>> ax.get_ylabel()
    'E(t) / E(0)'
    """
    curves = collect(sources, labels, ax, keywords)
    held = [energies(curve.solution) for curve in curves]
    for curve, one in zip(curves, held, strict=True):
        if one is None:
            raise ValueError(f"the system {curve.solution.system.name!r} has no energy to draw")
    if quantity is None:
        quantity = _quantity(curves, held)
    if quantity not in LABELS:
        raise ValueError(f"quantity must be one of {', '.join(LABELS)}, got {quantity!r}")
    ax = new_axes(ax, figsize)
    true = same_motion(curves) if exact else None
    if true is not None:
        _draw_exact_energy(ax, true, quantity, window)
    for curve, (values, start) in zip(curves, held, strict=True):
        against_time(ax, curve, _scaled(values, start, quantity), keywords, window, bands=True)
    if quantity == "ratio":
        _keep_in_view(ax)
    system = curves[0].solution.system
    label = LABELS[quantity]
    if quantity == "energy":
        label = with_unit(label, unit_of(system, "energy"))
    return finish(ax, axis_label(system, "t"), label, legend, title, left_out(curves))


def _quantity(curves, held):
    """The ratio if a change is visible in it, else the error; the energy if E0 is zero."""
    starts = [np.asarray(start) for _, start in held]
    if any(np.any(start == 0) for start in starts):
        return "error"
    with np.errstate(invalid="ignore", over="ignore"):
        change = [
            np.max(np.abs(_scaled(values, start, "error")), initial=0.0, where=curve.solution.valid)
            for curve, (values, start) in zip(curves, held, strict=True)
        ]
    return "ratio" if max(change) > VISIBLE else "error"


def _keep_in_view(ax):
    """Limit the axes to the energies that stayed moderate, if another one exploded."""
    tops = [np.max(line.get_ydata(), initial=1.0, where=_finite(line)) for line in ax.get_lines()]
    if max(tops, default=0.0) > EXPLODED:
        ax.set_ylim(-0.1, 2 * max((top for top in tops if top <= EXPLODED), default=1.0))


def _finite(line):
    return np.isfinite(np.asarray(line.get_ydata(), dtype=np.float64))


def _scaled(values, start, quantity):
    """Energies in the units of the picture."""
    if quantity == "energy":
        return values
    if quantity == "ratio":
        with np.errstate(invalid="ignore", divide="ignore"):
            return values / start
    return (values - start) / np.where(start == 0, 1.0, np.abs(start))


def _draw_exact_energy(ax, solution, quantity, window):
    """The true energy: constant if it is conserved, falling if the system dissipates."""
    begin, end = window or (start_time(solution), np.asarray(solution.t)[-1])
    t = np.linspace(begin, end, POINTS // 2)
    states = exact_curve(solution, t)
    if states is None:
        return
    shaped = t.reshape((-1,) + (1,) * len(batch_of(solution)))
    _, start = energies(solution)
    values = solution.system.energy(states, shaped)
    values = _scaled(values, start, quantity).reshape(len(t), -1).T
    points = [envelope(one) for one in values]
    draw_exact(ax, [t[p] for p in points], [v[p] for v, p in zip(values, points, strict=True)])
