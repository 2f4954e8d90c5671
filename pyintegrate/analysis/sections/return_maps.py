"""Return maps from one crossing to the next, and orbit diagrams of crossings over a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...values.checks import integer
from ..poincare import Section
from .grid_scan import checked_axes, laid_out
from .lanes import taken
from .surface_crossings import crossings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...system.system import System
    from ...values.types import ArrayLike, Axes


@dataclass(frozen=True, eq=False)
class ReturnMap:
    """A quantity at each crossing, and at the next one.

    Attributes
    ----------
    now, then : ndarray
        (n,), (n,).
    trajectory : ndarray of int
        (n,) flat indices into the batch.
    quantity : str
    lag : int
    system : System
    """

    now: np.ndarray
    then: np.ndarray
    trajectory: np.ndarray
    quantity: str
    lag: int
    system: Any

    def plot(self, **keywords: Any) -> Axes:
        """Draw one against the other: see `pyintegrate.plots.return_map`."""
        from ...plots import return_map

        return return_map(self, **keywords)

    def __len__(self) -> int:
        return len(self.now)

    def __repr__(self):
        return f"<ReturnMap of {self.quantity} of {self.system.name}: {len(self)} points>"


def return_map(section: Section, quantity: str | int = 0, *, lag: int = 1) -> ReturnMap:
    """A quantity at each point of a section, and at the next point of the same trajectory.

    Parameters
    ----------
    section : Section
        From ``crossings`` or ``poincare_section``.
    quantity : str or int, optional
        A component, or the index of one of the section's `values`.
    lag : int, optional
        How many points later.

    Returns
    -------
    ReturnMap

    Raises
    ------
    ValueError, TypeError
        For an unknown component, or an argument that is no section.

    References
    ----------
    Lorenz (1963), J. Atmos. Sci. 20, 130: each maximum of z against the one before.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> top = lambda t, y, beta: y[0] * y[1] - beta * y[2]  # dz/dt
    >>> maxima = pi.analysis.crossings(pi.systems.lorenz, top, direction=-1, dt=0.01, t_end=60.0)
    >>> found = pi.analysis.return_map(maxima, "z")
    >>> bool((found.then[:-1] == found.now[1:]).all()), found.plot().get_xlabel()
    (True, 'z')
    """
    if not isinstance(section, Section):
        told = type(section).__name__
        raise TypeError(f"return_map takes a Section, of pi.analysis.crossings(...), got {told}")
    lag = integer("lag", lag, 1)
    if isinstance(quantity, str):
        q, name = section[quantity], quantity
    elif section.values is None:
        name = section.system.state_names[integer("quantity", quantity, 0, section.y.shape[1] - 1)]
        q = section[name]
    else:
        place = integer("quantity", quantity, 0, section.values.shape[1] - 1)
        q, name = section.values[:, place], "value" if place == 0 else f"value {place}"
    same = section.trajectory[lag:] == section.trajectory[:-lag]
    lane = section.trajectory[lag:][same]
    return ReturnMap(q[:-lag][same], q[lag:][same], lane, name, lag, section.system)


@dataclass(frozen=True, eq=False)
class OrbitDiagram:
    """The values of a quantity at the crossings of a surface, for each value of a parameter.

    Attributes
    ----------
    parameter : str
    at : ndarray
        (n,): the parameter of each point.
    values : ndarray
        (n,): the quantity.
    quantity : str
    section : Section
        The crossings themselves, ordered by the parameter, then by time.
    where : str
        Where the quantity was taken: "at its maxima", "where y = 0", "once a period".
    """

    parameter: str
    at: np.ndarray
    values: np.ndarray
    quantity: str
    section: Any
    where: str = ""

    def plot(self, **keywords: Any) -> Axes:
        """Draw the points: see `pyintegrate.plots.orbit_diagram`."""
        from ...plots import orbit_diagram

        return orbit_diagram(self, **keywords)

    def __len__(self) -> int:
        return len(self.at)

    def __repr__(self):
        told = f"{self.quantity} of {self.section.system.name} over {self.parameter}"
        return f"<OrbitDiagram of {told}: {len(self)} points>"


def orbit_diagram(
    system: System,
    axis: Mapping[str, ArrayLike],
    quantity: str | Callable[..., Any],
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    section: str | Callable[..., Any] | None = None,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    after: ArrayLike,
    keep: int = 200,
    **options: Any,
) -> OrbitDiagram:
    """A bifurcation diagram: the long-term behaviour of a motion as a parameter changes.

    Parameters
    ----------
    system : System
    axis : mapping of str to array_like
        The parameter and its values, ``{"c": np.linspace(2, 6, 1000)}``.
    quantity : str or callable
        The quantity to draw: a component, or a function of (t, x, v) or (t, y) and any parameters.
    x0, v0 : array_like, optional
        As in ``integrate``: a batch of starts begins at each of the n values; starts of shape
        (n, 1) are one for each value.
    section : str or callable, optional
        The surface at whose crossings the quantity is taken, as in ``crossings``; by default the
        maxima of a position, where its velocity falls through zero. For a driven motion give
        ``period=`` instead.
    dt, t_end : array_like
        As in ``integrate``, which also takes ``n_steps`` instead.
    after : array_like
        Everything before this time is transient.
    keep : int, optional
        Points to keep for each trajectory, from the first one after `after` on.
    **options
        For ``crossings`` (direction, value, modulo, period, phase) and ``integrate``.

    Returns
    -------
    OrbitDiagram

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
    >>> diagram = pi.analysis.orbit_diagram(
    ...     pi.systems.duffing, {"gamma": drives}, "x", period=2 * np.pi / 1.2, dt=0.05,
    ...     t_end=2000.0, after=1500.0)
    >>> [len(np.unique(diagram.values[diagram.at == g].round(3))) for g in drives]
    [1, 2, 4, 5]
    """
    grid = checked_axes(axis, system)
    if len(grid) != 1:
        raise ValueError(f"axis must be one parameter and its values, got {', '.join(grid)}")
    (parameter,) = grid
    given = section
    if section is None and options.get("period") is None:
        section = _velocity_of(quantity, system)
        options = {"direction": -1} | options
    arguments = laid_out(system, grid, x0, v0)
    own = quantity if callable(quantity) else None
    found = crossings(
        quantity=section, **arguments, dt=dt, t_end=t_end, after=after, keep=keep, values=own,
        **options,
    )  # fmt: skip
    drawn = found.values[:, 0] if callable(quantity) else found[quantity]
    name = getattr(quantity, "__name__", "value") if callable(quantity) else quantity
    name = "quantity" if name == "<lambda>" else name
    if parameter in system.params:
        values = arguments["system"].params[parameter]
    else:
        values = arguments["x0"][..., system.state_names.index(parameter)]
    at = taken(values, found.batch, found.trajectory)
    return OrbitDiagram(parameter, at, drawn, name, found, _where(given, options))


def _where(section, options):
    """Where an orbit diagram takes its quantity, in words, for its axis."""
    if options.get("period") is not None:
        return "once a period"
    if section is None:
        which = {-1: "at its maxima", 1: "at its minima"}
        return which.get(options.get("direction", -1), "at its extremes")
    name = section if isinstance(section, str) else getattr(section, "__name__", "<lambda>")
    value = options.get("value", 0)
    if name == "<lambda>" or np.ndim(value):
        return "at its section"
    return f"where {name} = {value:g}"


def _velocity_of(quantity, system):
    names, lead = system.state_names, system.positions
    if quantity in names[:lead]:
        return names[lead + names.index(quantity)] if system.dim == 2 * lead else None
    raise ValueError(
        f"orbit_diagram needs a section for {quantity!r}: section='x', a function of the state that"
        " is zero where it is taken, or period=2 * np.pi / omega of a driven motion"
    )
