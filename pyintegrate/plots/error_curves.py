"""Plot of the error against time, on a logarithmic axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.observables import exact_states, found, largest_of, only_the_end
from ..analysis.phase import phase_drift
from ..errors import one_record_warning
from ..solution.jumps import has_jumped, until_jump
from .curves import against_time, collect
from .frame import finish, left_out, new_axes
from .log_axis import log_axis
from .style import axis_label, unit_of, with_unit

if TYPE_CHECKING:
    from typing import Any

    from ..solution.solution import Solution
    from ..values.types import Axes, Labels

QUANTITIES = ("position", "state", "energy", "phase")


@one_record_warning()
def error(
    *sources: Any,
    quantity: str | None = None,
    reference: Solution | None = None,
    so_far: bool = True,
    ax: Axes | None = None,
    legend: bool = True,
    labels: Labels | None = None,
    window: tuple[float, float] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw the error of one or several solutions against time.

    Parameters
    ----------
    *sources : Solution or Comparison
        The solutions to draw; of a large batch 30 trajectories, with a note.
    quantity : {"position", "state", "energy", "phase"}, optional
        Distance of the position, or of the whole state, from the true one; the relative error of
        the energy; the phase error. Default: position, or the state for a first-order system.
    reference : Solution, optional
        The truth, saved at the same times; the exact solution by default.
    so_far : bool, optional
        Draw the largest error so far, which is a smooth line, instead of every oscillation. It is
        the largest of the saves, and only as accurate as they are dense; its last value includes
        all steps if the run has watched "energy_drift" or "phase_drift".
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes.
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
        The error axis is logarithmic.

    Raises
    ------
    ValueError
        If there is nothing to compare with.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = error(pi.integrate(pi.systems.oscillator, dt=0.5, t_end=50.0))
    >>> ax.get_ylabel(), ax.get_yscale()
    ('largest position error so far [m]', 'log')
    """
    curves = collect(sources, labels, ax, keywords)
    system = curves[0].solution.system
    if quantity is None:
        quantity = "position" if system.dof else "state"
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity must be one of {', '.join(QUANTITIES)}, got {quantity!r}")
    truths: list = []
    values = [_errors(curve.solution, quantity, reference, truths) for curve in curves]
    ax = new_axes(ax, figsize)
    for curve, one in zip(curves, values, strict=True):
        if so_far:
            one = np.fmax.accumulate(one, axis=0)
            known = _largest(curve.solution, quantity, reference)
            if known is not None:
                one[-1] = np.where(np.isnan(one[-1]), np.nan, known)
            if reference is None or quantity == "energy":  # the truth ends at a jump
                one = until_jump(curve.solution, one, "the error")
        with np.errstate(invalid="ignore"):
            one = np.where(one > 0, one, np.nan)  # a logarithmic axis cannot show zero
        against_time(ax, curve, one, keywords, window)
    log_axis(ax, "y")
    unit = {"energy": "", "phase": "rad"}.get(quantity, unit_of(system, system.state_names[0]))
    text = "relative energy" if quantity == "energy" else quantity
    first = curves[0].solution
    watched = only_the_end(first) and _largest(first, quantity, reference) is not None
    before, after = largest_of(first, watched)
    text = f"{before}{text} error{after}{' so far' * bool(before)}" if so_far else f"{text} error"
    label = with_unit(text, unit)
    return finish(ax, axis_label(system, "t"), label, legend, title, left_out(curves))


def _largest(solution, quantity, reference):
    """The largest error of all steps, (*batch), if the run has watched it; or None."""
    of = {"energy": "energy_error", "phase": "phase_drift"}.get(quantity)
    return found(solution, "max_abs", of) if of and reference is None else None


def _errors(solution, quantity, reference, truths):
    """Absolute errors at the saves, (n_saved, *batch); true motions are kept for reuse."""
    with np.errstate(invalid="ignore", over="ignore"):
        if quantity == "energy":
            return until_jump(solution, np.abs(solution.energy_error()), "the energy error")
        if quantity == "phase":
            return np.abs(phase_drift(solution, reference))
        names = solution.system.state_names
        names = names[: solution.system.dof if quantity == "position" else None]
        if reference is not None:
            truth = components_of(reference, names)
        elif (states := _truth(solution, truths)) is not None:
            truth = states[..., : len(names)]
        else:
            raise ValueError(
                f"the system {solution.system.name!r} has no exact solution: give error a "
                "reference, for example the same run with a smaller dt and the matching save"
            )
        if len(truth) != len(solution):
            raise ValueError(
                f"the reference has {len(truth)} saves and the solution {len(solution)}: "
                "error compares equal times"
            )
        return np.linalg.norm(components_of(solution, names) - truth, axis=-1)


def components_of(solution, names):
    """Some components of the saved states, (n_saved, *batch, len(names))."""
    if tuple(names) == tuple(solution.components):
        return solution.y
    return np.stack([solution[name] for name in names], axis=-1)


def _truth(solution, truths):
    """The exact states of a solution, from those of another one of the same motion if possible."""
    for other, states in truths:
        if (
            not np.any(has_jumped(solution) | has_jumped(other))
            and other.system == solution.system
            and np.array_equal(other.t, solution.t)
            and np.array_equal(other.origin, solution.origin)
        ):
            return states
    states = exact_states(solution)
    truths.append((solution, states))
    return states
