"""Crossings of a surface, found during the run: only the states on the surface are stored."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING

import numpy as np

from ...integration import integrate
from ...values.keywords import explains_keywords
from ...watching.events import event
from ...watching.quantity import check_quantity
from ..poincare import Section
from .lanes import again, batch_of, system_of, taken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ...system.system import System
    from ...values.types import ArrayLike

FIRST_GUESS = 32  # crossings kept per trajectory at first; trajectories with more run again


@explains_keywords(integrate)
def crossings(
    system: System,
    quantity: str | Callable[..., Any] | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    direction: int = 1,
    value: ArrayLike = 0.0,
    modulo: float | None = None,
    period: ArrayLike | None = None,
    phase: ArrayLike = 0.0,
    after: ArrayLike | None = None,
    keep: int | None = None,
    values: Callable[..., Any] | None = None,
    params: Mapping[str, ArrayLike] | None = None,
    **options: Any,
) -> Section:
    """Crossings of a surface: a Poincare section that needs no saves.

    Each is located within its step to rounding, by repeating a part of the step. Memory is needed
    only for the crossings.

    Parameters
    ----------
    system : System
    quantity : str or callable, optional
        The quantity that equals `value` on the surface: a component, "energy", an invariant, or a
        function of (t, x, v) or (t, y) and any parameters. Give it or `period`.
    x0, v0 : array_like, optional
        As in ``integrate``.
    dt, t_end : array_like
        As in ``integrate``, which also takes ``n_steps`` instead.
    direction : {1, -1, 0}, optional
        Upwards, downwards or both, in the order of the steps.
    value : array_like, optional
        A number, or one for each trajectory.
    modulo : float, optional
        Take the quantity modulo this, as for angles: every turn crosses.
    period : array_like, optional
        Instead of a surface: the states at times phase + n period, as for a driven motion; may be
        one for each trajectory. A step may be at most half of it.
    phase : array_like, optional
        The first of these times, counted from 0.
    after : array_like, optional
        Crossings before this time are ignored, as transient.
    keep : int, optional
        The number to keep for each trajectory; all by default, for which trajectories with many
        crossings run twice.
    values : callable, optional
        A tuple of numbers at each crossing, traced: `values` of the section.
    params : mapping of str to array_like, optional
        Numbers for the functions, besides the system's parameters.
    **options
        For ``integrate``: method, t0, workers, ...

    Returns
    -------
    Section

    Raises
    ------
    ValueError, TypeError
        For wrong arguments; a method that remembers earlier states.

    References
    ----------
    Henon (1982), Physica D 5, 412.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> section = pi.analysis.crossings(pi.systems.oscillator, "x", dt=0.1, t_end=20.0,
    ...                                 method="dop853")
    >>> print(section.t.round(4))  # cos(t) rises through 0 at 3/2 pi + 2 pi n
    [ 4.7124 10.9956 17.2788]
    >>> bool(abs(section["v"] - 1).max() < 1e-12)
    True
    """
    if (quantity is None) == (period is None):
        raise ValueError(
            "give a quantity that is zero on the surface, crossings(system, 'x', ...), or a period"
        )
    if not (quantity is None or isinstance(quantity, str) or callable(quantity)):
        raise TypeError(
            f"quantity must be a component's name or a function, got {quantity!r}: write"
            " crossings(system, 'x', x0, v0, value=0.0, ...)"
        )
    if "save" in options or "events" in options:
        raise TypeError("crossings saves nothing and has its own event: use integrate(events=...)")
    numbers: dict[str, Any] = dict(params or {})
    if period is not None:
        function, direction, seek = _strobe, 1, 1
        numbers |= {"_period": period, "_phase": phase}
    else:
        if direction not in (1, -1, 0):
            raise ValueError(f"direction must be 1, -1 or 0, got {direction!r}")
        if modulo is not None and direction and callable(quantity):
            raise ValueError("a function modulo a number has no direction: give direction=0")
        function, added = _surface(system, quantity, value, modulo)
        numbers, seek = numbers | added, direction if modulo is None else 0

    def run(keep, numbers, after, arguments):
        one = event(function, seek, keep=keep, values=values, params=numbers, after=after)
        found = integrate(**arguments, **options, save="final", events={"section": one})
        return found, found.events["section"]

    start = {"system": system, "x0": x0, "v0": v0, "dt": dt, "t_end": t_end}
    solution, there = run(FIRST_GUESS if keep is None else keep, numbers, after, start)
    parts = [_points(there, np.arange(there.count.size))]
    over = np.flatnonzero(there.overflow)
    if keep is None and over.size:
        most, batch = int(there.count.max()), batch_of(solution)
        if {"drive", "start"} & set(options):
            _, there = run(most, numbers, after, start)
            parts = [_points(there, np.arange(there.count.size))]
        else:
            few = ~there.overflow.reshape(-1)[parts[0][2]]
            own = {name: taken(number, batch, over) for name, number in numbers.items()}
            late = None if after is None else taken(after, batch, over)
            options |= {"on_failure": "ignore"}
            options = {k: v for k, v in options.items() if k not in ("t0", "n_steps", "dtype")}
            _, there = run(most, own, late, again(solution, over))
            parts = [tuple(a[few] for a in parts[0]), _points(there, over)]
    y, t, lane, kept = (np.concatenate(several) for several in zip(*parts, strict=True))
    order = np.argsort(lane, kind="stable")
    told = None if values is None else kept[order]
    section = Section(y[order], t[order], lane[order], solution.system, batch_of(solution), told)
    if modulo is not None and direction:
        return _turning(solution, section, quantity, direction)
    return section


def _points(there, trajectory):
    """States, times, trajectories and values of the selected crossings."""
    t = there.t.reshape(len(trajectory), -1)
    lane, which = np.nonzero(~np.isnan(t))
    y = there.y.reshape(*t.shape, there.y.shape[-1])[lane, which]
    kept = there.values.reshape(*t.shape, there.values.shape[-1])[lane, which]
    return y, t[lane, which], trajectory[lane], kept


def _strobe(t, y, _period, _phase):
    """Rises through zero at each phase + n period, and jumps down half a period later."""
    turns = (t - _phase) / _period
    return turns - np.rint(turns)


def _surface(system, quantity, value, modulo):
    """The quantity whose zero is the surface, and its parameters."""
    numbers = {"_value": value}
    if modulo is None:
        if np.ndim(value) == 0 and value == 0:
            return quantity, {}
    elif not (np.ndim(modulo) == 0 and modulo > 0):
        raise ValueError(f"modulo must be a positive number, got {modulo!r}")

    def height(distance):
        """The distance, or a triangle wave that is zero at each multiple of the modulus."""
        if modulo is None:
            return distance
        nearest = np.rint(distance / modulo)
        rest = distance / modulo - nearest
        return np.where(nearest % 2 == 0, rest, -rest)

    if callable(quantity):

        @wraps(quantity)
        def of_function(*state, _value, **params):
            return height(quantity(*state, **params) - _value)

        told = signature(quantity)
        last = Parameter("_value", Parameter.KEYWORD_ONLY)
        shifted: Any = of_function
        shifted.__signature__ = told.replace(parameters=[*told.parameters.values(), last])
        return shifted, numbers
    check_quantity(quantity, system)
    if quantity not in system.state_names:
        raise ValueError(
            f"value and modulo are for components and functions, and {quantity!r} is neither: give"
            " a function of (t, x, v) or (t, y)"
        )
    place = system.state_names.index(quantity)
    return lambda t, y, _value: height(y[place] - _value), numbers


def _turning(solution, section, quantity, direction):
    """The points where a component taken modulo a number grows, or falls."""
    place = solution.system.state_names.index(quantity)
    system = system_of(solution, section.trajectory)
    slope = system.rhs(section.t, section.y)[:, place] * np.sign(
        taken(solution.dt, batch_of(solution), section.trajectory)
    )
    chosen = slope * direction > 0
    kept = None if section.values is None else section.values[chosen]
    of_those = section.y[chosen], section.t[chosen], section.trajectory[chosen]
    return Section(*of_those, section.system, section.batch, kept)
