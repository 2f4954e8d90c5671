"""Phase portrait: position against velocity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .curves import collect
from .frame import line_keywords
from .paths import component_names, path, portrait_pair

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..values.types import Axes, Labels


def phase_portrait(
    *sources: Any,
    components: str | Sequence[str] | None = None,
    ax: Axes | None = None,
    legend: bool = True,
    exact: bool = True,
    labels: Labels | None = None,
    window: tuple[float, float] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw one or several solutions in phase space: position against velocity.

    A method that loses energy spirals inwards, one that gains it outwards; a symplectic one
    stays on a closed curve near the true one. Coarse steps are drawn as dots.

    Parameters
    ----------
    *sources : Solution or Comparison
        The solutions to draw; of a large batch 30 trajectories, with a note.
    components : sequence of two str, optional
        By default the first position and its velocity; the first two components of a
        first-order system; of the angular velocity of a rigid body.
    ax : Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to put a legend beside the axes.
    exact : bool, optional
        Whether to draw the exact motion, if there is one.
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
        For unknown components, some that were not saved, or a system of a single one.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = phase_portrait(pi.integrate(pi.systems.spring, dt=0.05, t_end=5.0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x [m]', 'v [m/s]')
    """
    curves, keywords = collect(sources, labels, ax, keywords), line_keywords(keywords)
    system = curves[0].solution.system
    if components is None:
        if system.dim < 2:
            raise ValueError(f"a phase portrait needs two components, {system.name!r} has one")
        components = portrait_pair(system)
    names = component_names(system, components)
    if len(names) != 2:
        raise ValueError(f"a phase portrait has two components, got {len(names)}")
    return path(curves, names, ax, legend, exact, window, keywords, title, figsize)
