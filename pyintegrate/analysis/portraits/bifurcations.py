"""Bifurcation diagrams: the long-term behaviour of a motion as a parameter changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...integration import integrate
from ...values.checks import integer, numbers
from ...values.keywords import explains_keywords
from ...watching.saltation import rate_of
from ..results import drawn_by
from ..sections.grid_scan import checked_axes, laid_out
from ..sections.surface_crossings import crossings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...system.system import System
    from ...values.types import ArrayLike

EXTREMES = {"maxima": -1, "minima": 1, "extrema": 0}  # directions in which the rate passes zero


@dataclass(frozen=True, eq=False)
class Bifurcation:
    """The values of a quantity at the crossings of a surface, for each value of a parameter.

    Attributes
    ----------
    parameter : str
    at : ndarray
        (n,): its values.
    values : ndarray
        (n, *batch, keep): the quantity, in the order of time; NaN where there were fewer crossings.
    count : ndarray of int
        (n, *batch): how many there were.
    quantity : str
    section : Section
        The crossings themselves, ordered by the parameter, then by time.
    where : str
        Where the quantity was taken: "at its maxima", "where y = 0", "once a period".
    """

    parameter: str
    at: np.ndarray
    values: np.ndarray
    count: np.ndarray
    quantity: str
    section: Any
    where: str = ""

    def periods(self, tolerance: float = 1e-3) -> np.ndarray:
        """After how many crossings the values repeat, (n, *batch); 0 if they do not.

        Parameters
        ----------
        tolerance : float
            Largest difference between values that are the same, as a share of the range of all.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> found = pi.analysis.bifurcation(
        ...     pi.systems.rossler, {"c": [2.5, 3.5, 4.0, 5.7]}, "x", dt=0.02, transient=1000.0,
        ...     t_end=1200.0, keep=32)
        >>> found.periods(0.01).tolist()
        [1, 2, 4, 0]
        """
        q, there = self.values, self.values[~np.isnan(self.values)]
        room = tolerance * np.ptp(there) if there.size else 0.0
        found = np.zeros(self.count.shape, int)
        for k in range(q.shape[-1] // 2, 0, -1):
            apart = np.abs(q[..., k:] - q[..., :-k])
            same = (np.isnan(apart) | (apart <= room)).all(axis=-1)
            found[same & (self.count >= 2 * k)] = k
        return found

    plot = drawn_by("bifurcation")

    def __repr__(self):
        told = f"{self.quantity} of {self.section.system.name} over {self.parameter}"
        none = np.count_nonzero(self.count == 0)
        none = f", {none:,} trajectories without any" if none else ""
        return f"<Bifurcation: {told}, {self.count.sum():,} points {self.where}{none}>"


@explains_keywords(integrate)
def bifurcation(
    system: System,
    axis: Mapping[str, ArrayLike],
    quantity: str | Callable[..., Any],
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    transient: ArrayLike,
    keep: int = 100,
    section: str | Callable[..., Any] | None = None,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    **options: Any,
) -> Bifurcation:
    """A bifurcation diagram: the long-term behaviour of a motion as a parameter changes.

    Parameters
    ----------
    system : System
    axis : mapping of str to array_like
        The parameter and its values, ``{"c": np.linspace(2, 6, 2000)}``.
    quantity : str or callable
        The quantity to draw: a component, or a function of (t, x, v) or (t, y) and any parameters.
    x0, v0 : array_like, optional
        As in ``integrate``: a batch of starts begins at each of the n values; starts of shape
        (n, 1) are one for each value.
    transient : array_like
        The time that is left out at the beginning.
    keep : int, optional
        Points to keep for each trajectory, from the end of the transient on.
    section : str or callable, optional
        Where the quantity is taken: its own "maxima" (default), "minima" or "extrema" (both), of
        any system whose force is a formula; or at the crossings of a surface, a component or a
        function, as in ``crossings``. For a driven motion give ``period=`` instead.
    dt, t_end : array_like
        As in ``integrate``, which also takes ``n_steps``. By default the run ends after `keep`
        periods, or after as long a time as the transient.
    **options
        For ``crossings`` (direction, value, modulo, period, phase) and ``integrate``.

    Returns
    -------
    Bifurcation
        With ``values`` (n, *batch, keep), ``count``, ``periods()`` and ``plot()``.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments.

    References
    ----------
    Strogatz (2015), Nonlinear Dynamics and Chaos, 12.3: Rossler's system.

    Examples
    --------
    The driven Duffing oscillator, once in each period of the drive:

    >>> import numpy as np, pyintegrate as pi
    >>> drives = np.array([0.2, 0.28, 0.29, 0.37])
    >>> found = pi.analysis.bifurcation(
    ...     pi.systems.duffing, {"gamma": drives}, "x", period=2 * np.pi / 1.2, dt=0.05,
    ...     transient=1500.0, keep=40)
    >>> found.values.shape, found.periods().tolist()
    ((4, 40), [1, 2, 4, 5])
    """
    grid, keep = checked_axes(axis, system), integer("keep", keep, 1)
    if len(grid) != 1:
        raise ValueError(f"axis must be one parameter and its values, got {', '.join(grid)}")
    (parameter,) = grid
    period, settled = options.get("period"), np.abs(numbers("transient", transient))
    where, surface = _where(section, options), section
    if period is None and (section is None or section in EXTREMES):
        options = {"direction": EXTREMES[section or "maxima"]} | options
        surface = rate_of(system, quantity)
    if t_end is None and options.get("n_steps") is None:
        length = settled + (settled if period is None else (keep + 1) * np.abs(period))
        options["n_steps"] = int(np.ceil(np.max(length / np.abs(dt))))
    arguments = laid_out(system, grid, x0, v0)
    own = quantity if callable(quantity) else None
    after = options.get("t0", 0.0) + np.sign(dt) * settled
    found = crossings(
        quantity=surface, **arguments, dt=dt, t_end=t_end, after=after, keep=keep, values=own,
        **options,
    )  # fmt: skip
    drawn = found.values[:, 0] if callable(quantity) else found[quantity]
    name = getattr(quantity, "__name__", "value") if callable(quantity) else quantity
    name = "quantity" if name == "<lambda>" else name
    lanes = int(np.prod(found.batch))
    count = np.bincount(found.trajectory, minlength=lanes)
    place = np.arange(len(found)) - np.repeat(np.cumsum(count) - count, count)
    values = np.full((lanes, keep), np.nan)
    values[found.trajectory, place] = drawn
    shaped = values.reshape(*found.batch, keep), count.reshape(found.batch)
    return Bifurcation(parameter, grid[parameter], *shaped, name, found, where)


def _where(section, options):
    """Where the quantity is taken, in words, for its axis."""
    if options.get("period") is not None:
        return "once a period"
    if section is None or isinstance(section, str) and section in EXTREMES:
        return f"at its {section or 'maxima'}"
    name = section if isinstance(section, str) else getattr(section, "__name__", "<lambda>")
    value = options.get("value", 0)
    if name == "<lambda>" or np.ndim(value):
        return "at its section"
    return f"where {name} = {value:g}"
