"""Where in the complex plane a method is stable: growth on a grid, and the boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..method.catalogue import find_method
from ..method.method import Method
from .growth import spring_growth, tolerance
from .results import drawn_by

FAR = 40.0  # a region that reaches this far from 0 is assumed to be unbounded
UNBOUNDED_VIEW = (-7.0, 7.0, -7.0, 7.0)


@dataclass(frozen=True, eq=False)
class StabilityRegion:
    """Growth in one step over the plane of z = lambda dt; stable where it is at most 1.

    Attributes
    ----------
    method : Method
    real, imaginary : ndarray
        (n,), (m,): the grid.
    growth : ndarray
        (m, n): the largest growth of a damped oscillator with eigenvalues lambda and its
        conjugate. For a Runge-Kutta method that is |R(z)|.
    stable : ndarray of bool
        (m, n).
    boundary : ndarray of complex
        (k, 2): straight segments between stable and unstable, from point to point.
    """

    method: Any
    real: np.ndarray
    imaginary: np.ndarray
    growth: np.ndarray
    stable: np.ndarray
    boundary: np.ndarray

    plot = drawn_by("stability_region")

    def __repr__(self):
        share = f"{100 * self.stable.mean():.0f} % of the grid"
        return f"<StabilityRegion of {self.method.name}: {self.growth.shape} points, {share}>"


def stability_region(
    method: str | Method,
    *,
    extent: tuple[float, float, float, float] | None = None,
    points: int = 201,
) -> StabilityRegion:
    """Where a step of a method does not make a damped oscillation grow.

    The oscillator x'' = -|lambda|^2 x + 2 Re(lambda) v has the eigenvalues lambda and conj(lambda):
    on the imaginary axis it is undamped, on the real axis critically damped. A Runge-Kutta method
    multiplies it by R(z), z = lambda dt; a multistep method by the roots of its characteristic
    polynomial; any other method by the eigenvalues of its step on this oscillator. (In a
    composition the damping acts in the kicks.)

    Parameters
    ----------
    method : str or Method
    extent : tuple of float, optional
        Least and greatest Re z, least and greatest Im z; the region itself by default.
    points : int, optional
        Along each axis.

    Returns
    -------
    StabilityRegion

    Raises
    ------
    ValueError
        A method whose force must not depend on the velocity, or a wrong extent.

    References
    ----------
    Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2 and V.1.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> region = pi.analysis.stability_region("explicit_euler")  # the disc |1 + z| <= 1
    >>> bool(np.abs(np.abs(1 + region.boundary) - 1).max() < 1e-4)
    True
    """
    method = find_method(method)
    if method.velocity_free:
        raise ValueError(
            f"method {method.name!r} has no region of stability: its force must not see the"
            " velocity, and that of a damped oscillator does; see its stability_limit"
        )
    if extent is None:
        extent = _extent(method)
    if np.shape(extent) != (4,) or not (extent[0] < extent[1] and extent[2] < extent[3]):
        raise ValueError(f"extent must be (left, right, bottom, top), got {extent!r}")
    if points < 2:
        raise ValueError(f"points must be at least 2, got {points}")
    left, right, bottom, top = extent
    real, imaginary = np.linspace(left, right, points), np.linspace(bottom, top, points)
    growth = _growth(method, real, imaginary)
    edge = 1 + max(tolerance(method), 1e-9)
    with np.errstate(divide="ignore"):
        boundary = level_segments(real, imaginary, np.log(np.minimum(growth, 1e300) / edge))
    return StabilityRegion(method, real, imaginary, growth, growth <= edge, boundary)


def level_segments(x, y, values):
    """Straight segments along which a function on a grid is zero, by linear interpolation.

    Parameters
    ----------
    x, y : ndarray
        (n,), (m,), ascending.
    values : ndarray
        (m, n).

    Returns
    -------
    ndarray of complex
        (k, 2), x + iy of both ends of each segment: one per cell, two at a saddle.

    References
    ----------
    Lorensen, Cline (1987), Computer Graphics 21, 163 (marching cubes; here squares).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-2, 2, 41)
    >>> circle = level_segments(x, x, np.hypot(x, x[:, np.newaxis]) - 1)
    >>> print(f"{np.abs(circle).min():.2f} {np.abs(circle).max():.2f}")
    1.00 1.00
    """
    z = x + 1j * y[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):

        def crossing(a, b):
            """Where the edge from corner a to corner b of every cell is crossed, or NaN."""
            f, g = values[a], values[b]
            share = f / (f - g)
            return np.where((f > 0) != (g > 0), z[a] + share * (z[b] - z[a]), np.nan)

        low, high = slice(None, -1), slice(1, None)
        corners = [(low, low), (low, high), (high, high), (high, low)]  # round the cell
        around = zip(corners, [*corners[1:], corners[0]], strict=True)
        edges = np.stack([crossing(a, b) for a, b in around], axis=-1)
    crossed = ~np.isnan(edges)
    count = crossed.sum(axis=-1)
    two = edges[count == 2]
    saddles = edges[count == 4].reshape(-1, 2, 2).reshape(-1, 2)
    return np.concatenate([two[crossed[count == 2]].reshape(-1, 2), saddles])


def joined(segments):
    """The segments of a boundary joined end to end.

    Parameters
    ----------
    segments : ndarray of complex
        (k, 2), as `level_segments` makes them.

    Returns
    -------
    list of ndarray of complex
        Lines; for a closed one the first point is also the last.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-2, 2, 41)
    >>> (circle,) = joined(level_segments(x, x, np.hypot(x, x[:, np.newaxis]) - 1))
    >>> bool(circle[0] == circle[-1])
    True
    """
    ends = [(complex(a), complex(b)) for a, b in np.round(segments, 12)]
    ends = [(a, b) for a, b in ends if a != b]  # of length 0 where the boundary meets a corner
    touching: dict[complex, list[int]] = {}
    for number, pair in enumerate(ends):
        for end in pair:
            touching.setdefault(end, []).append(number)
    unused, lines = set(range(len(ends))), []
    # Open lines first, from one of their ends; the rest are closed.
    starts = [pieces[0] for pieces in touching.values() if len(pieces) == 1]
    for first in [*starts, *range(len(ends))]:
        if first not in unused:
            continue
        a, b = ends[first]
        point = a if len(touching[a]) == 1 or len(touching[b]) > 1 else b
        line, piece = [point], first
        while piece is not None:
            unused.discard(piece)
            point = ends[piece][0] if ends[piece][1] == point else ends[piece][1]
            line.append(point)
            piece = next((other for other in touching[point] if other in unused), None)
        lines.append(np.array(line))
    return lines


def _growth(method, real, imaginary):
    z = real + 1j * imaginary[:, np.newaxis]
    return spring_growth(method, np.abs(z) ** 2, -2 * z.real)


def _extent(method):
    """The box around the region, with a margin; a fixed one if it is unbounded."""
    reach, box, step = FAR, [-1.5, 0.5, -1.5, 1.5], 0.0  # if the region is only a line
    for _ in range(6):  # coarse at first, finer as the box closes in on the region
        grid = np.linspace(-reach, reach, 81)
        stable = _growth(method, grid, grid) <= 1 + 1e-9
        stable = stable[1:] & stable[:-1]  # whole cells: a marginal line is no region
        stable = stable[:, 1:] & stable[:, :-1]
        if stable[:, 0].any() or (reach == FAR and stable[[0, -1]].any()):
            return UNBOUNDED_VIEW
        columns, rows = (np.flatnonzero(stable.any(axis=axis)) for axis in (0, 1))
        step = grid[1] - grid[0]
        if len(columns) and len(rows):
            box = [grid[columns[0]], grid[columns[-1] + 1], grid[rows[0]], grid[rows[-1] + 1]]
            size = max(np.abs(box).max(), step)
            if size > reach / 2:
                break
            reach = 1.2 * size + step
        else:
            reach /= 4
    margin = 0.12 * max(box[1] - box[0], box[3] - box[2]) + step
    return box[0] - margin, max(box[1], 0) + margin, box[2] - margin, box[3] + margin
