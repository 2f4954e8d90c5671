"""Return maps: a quantity at one crossing against the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...values.checks import integer
from ..poincare import Section
from ..results import drawn_by


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

    plot = drawn_by("return_map")

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
