"""Finite-time Lyapunov exponents: how far a flow draws neighbours apart, from exact tangents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...integration import integrate
from ...values.keywords import explains_keywords
from ..results import drawn_by
from ..sections.grid_scan import checked_axes, laid_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...system.system import System
    from ...values.types import ArrayLike


@dataclass(frozen=True, eq=False)
class FlowMap:
    """Finite-time Lyapunov exponents over a grid.

    Attributes
    ----------
    axes : dict of str to ndarray
        The grid.
    values : ndarray
        (*grid, *batch): log of the largest stretching, over the time; NaN of motions that failed.
    directions : ndarray
        (*grid, *batch, dim): the unit vectors at the start that are stretched most; their signs
        mean nothing.
    gradients : ndarray
        (*grid, *batch, dim, dim): the derivatives of the end with respect to the start.
    solution : Solution
        The ends.
    """

    axes: dict
    values: np.ndarray
    directions: np.ndarray
    gradients: np.ndarray
    solution: Any

    plot = drawn_by("ftle")

    def __repr__(self):
        name, shape = self.solution.system.name, self.values.shape
        return f"<FlowMap of {name}: {shape}, at most {np.nanmax(self.values):.4g}>"


@explains_keywords(integrate)
def ftle(
    system: System, grid: Mapping[str, ArrayLike], t_end: float, *, dt: float, **options: Any
) -> FlowMap:
    """Finite-time Lyapunov exponents over a grid of starts or parameters.

    The largest singular value s of the derivative of the flow, from exact tangents, gives
    log(s) / |t_end - t0|. Ridges of it forwards in time are what repels, stable manifolds;
    backwards in time (a negative `dt`) what attracts.

    Parameters
    ----------
    system : System
    grid : mapping of str to array_like
        Components or parameters and their values, ``{"x": np.linspace(0, 2, 401), ...}``;
        components that it leaves out have their default values.
    t_end : float
        The last time.
    dt : float
        The step.
    **options
        For ``integrate``: t0, method, workers, ...

    Returns
    -------
    FlowMap
        With ``values``, ``directions``, ``gradients`` and ``plot()``.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments.

    References
    ----------
    Shadden, Lekien, Marsden (2005), Physica D 212, 271-304: also the double gyre.

    Examples
    --------
    Beside a saddle with the rates 1 and -1 the exponent is 1:

    >>> import pyintegrate as pi
    >>> saddle = pi.rhs(lambda t, y: (y[0], -y[1]), dim=2, state_names=("x", "y"), name="saddle")
    >>> found = pi.analysis.ftle(saddle, {"x": [-1, 0, 1], "y": [0, 1]}, 5.0, dt=0.01)
    >>> found.values.shape, bool(abs(found.values - 1).max() < 1e-9)
    ((3, 2), True)
    """
    axes = checked_axes(grid, system)
    names = ("x0", "v0") if system.dof else ("x0",)
    fixed: dict[str, Any] = {"save": "final", "sensitivity": names}
    if set(fixed) & set(options):
        raise TypeError(f"ftle() decides on {' and '.join(fixed)} itself: leave them away")
    sol = integrate(**laid_out(system, axes, None, None), dt=dt, t_end=t_end, **fixed, **options)
    M = np.concatenate([sol.sensitivity[name][-1] for name in names], axis=-1)
    good = (sol.status == 0) & np.isfinite(M).all(axis=(-2, -1))
    values, directions = np.full(good.shape, np.nan), np.full(M.shape[:-1], np.nan)
    _, s, turned = np.linalg.svd(M[good])
    with np.errstate(divide="ignore"):
        length = np.broadcast_to(np.abs(sol.n_steps * sol.dt), good.shape)[good]
        values[good] = np.log(s[:, 0]) / length
    directions[good] = turned[:, 0]
    return FlowMap(axes, values, directions, M, sol)
