"""Attractors followed over a parameter: the same number for what is the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..sections.grid_scan import checked_axes
from .boxes import Box
from .recurrences import attractors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...system.system import System
    from ...values.types import ArrayLike

NEAR = 0.1  # sizes of the box: attractors closer than this may be the same at the next parameter


@dataclass(frozen=True, eq=False)
class AttractorBranches:
    """Attractors over a parameter, the same number for what is the same attractor.

    Attributes
    ----------
    parameter : str
    at : ndarray
        (n,): its values.
    fractions, errors : ndarray
        (n, m): the share of the starts of each attractor, 0 where it is not found.
    attractors : ndarray
        (n, m, k): means of the points of each, NaN where it is not found.
    found : tuple of Attractors
        (n,): what was found at each value.
    """

    parameter: str
    at: np.ndarray
    fractions: np.ndarray
    errors: np.ndarray
    attractors: np.ndarray
    found: tuple

    def __repr__(self):
        count = f"{self.fractions.shape[1]} attractors over {len(self.at)} values"
        return f"<AttractorBranches of {self.found[0].system.name}: {count} of {self.parameter}>"


def continue_attractors(
    system: System,
    axis: Mapping[str, ArrayLike],
    box: Mapping[str, Sequence[float]] | ArrayLike,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    **options: Any,
) -> AttractorBranches:
    """Follow all attractors and the fractions of their basins as a parameter changes.

    At each value they are searched for anew, also from where they were at the value before; the
    nearest ones are taken for the same if they are less than a tenth of the box apart.

    Parameters
    ----------
    system : System
    axis : mapping of str to array_like
        The parameter and its values in order, ``{"gamma": np.linspace(0, 0.4, 41)}``.
    box, x0, v0, **options
        As of ``attractors``.

    Returns
    -------
    AttractorBranches

    Raises
    ------
    TypeError, ValueError
        For wrong arguments.

    References
    ----------
    Datseris, Luiz Rossi, Wagemakers (2023), Chaos 33, 073151.

    Examples
    --------
    The pitchfork of the damped Duffing well: one attractor becomes two.

    >>> import pyintegrate as pi
    >>> found = pi.analysis.continue_attractors(
    ...     pi.systems.duffing(gamma=0.0), {"alpha": [0.5, -0.5, -1.0]},
    ...     {"x": (-2, 2), "v": (-2, 2)}, dt=0.1, n=200)
    >>> (found.fractions > 0).sum(axis=1).tolist()
    [1, 2, 2]
    """
    grid = checked_axes(axis, system)
    if len(grid) != 1 or not set(grid) <= set(system.params):
        raise ValueError(f"axis must be one parameter and its values, got {', '.join(grid)}")
    ((parameter, values),) = grid.items()
    size, several = Box(system, box).size, []
    names: list[list[int]] = []
    last: dict[int, Any] = {}
    for value in values:
        also = np.concatenate([p[-1:] for p in last.values()]) if last else None
        found = attractors(system(**{parameter: value}), box, x0, v0, also=also, **options)
        own = _matched(found.points, last, size, len(set().union(*names)) if names else 0)
        names.append(own)
        last = dict(zip(own, found.points, strict=True))
        several.append(found)
    m, k = len(set().union(*names)), several[0].attractors.shape[1]
    shares, errors = np.zeros((2, len(values), m))
    means = np.full((len(values), m, k), np.nan)
    for i, (own, found) in enumerate(zip(names, several, strict=True)):
        shares[i, own], errors[i, own], means[i, own] = (
            found.fractions, found.errors, found.attractors)  # fmt: skip
    return AttractorBranches(parameter, values, shares, errors, means, tuple(several))


def _matched(points, last, size, fresh):
    """A number for each attractor: of the nearest before, each once, or the next free one."""
    apart = sorted(
        (np.linalg.norm((one[:, np.newaxis] - other) / size, axis=-1).min(), i, name)
        for i, one in enumerate(points)
        for name, other in last.items()
    )
    own: dict[int, int] = {}
    for distance, i, name in apart:
        if distance < NEAR and i not in own and name not in own.values():
            own[i] = name
    for i in range(len(points)):
        if i not in own:
            own[i], fresh = fresh, fresh + 1
    return [own[i] for i in range(len(points))]
