"""The shape of a system's state in space: the corners of a line, and where its masses are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 9  # of a drawn spring
WIDTH = 0.09  # of a drawn spring, by the length at rest
GAP = np.full(3, np.nan)


@dataclass(frozen=True)
class Shape:
    """How a state is drawn: `outline(state, parameters)` -> (n, dimensions), masses at its `last`.

    Its marker is a square for sliding, a disc for swinging masses; None for an extended body.
    """

    outline: Callable
    last: int = 1
    marker: str | None = "o"
    dimensions: int = 2


def _rod(state, parameters):
    length = parameters.get("length", 1.0)
    return np.array([[0.0, 0.0], [length * np.sin(state[0]), -length * np.cos(state[0])]])


def _rods(state, parameters):
    l1, l2 = parameters["l1"], parameters["l2"]
    x, y = l1 * np.sin(state[0]), -l1 * np.cos(state[0])
    lower = [x + l2 * np.sin(state[1]), y - l2 * np.cos(state[1])]
    return np.array([[0.0, 0.0], [x, y], lower])


def _spring(state, parameters):
    """A zigzag from a wall, so far away that the largest swing leaves a quarter of it."""
    wall = -1.6 * parameters["reach"]
    s = np.linspace(0.0, 1.0, 2 * TURNS + 1)
    height = np.zeros_like(s)
    height[1:-1:2], height[2:-1:2] = 1.0, -1.0
    return np.stack([wall + s * (state[0] - wall), WIDTH * parameters["reach"] * height], axis=1)


def _car(state, parameters):
    return np.array([[state[0], 0.0]])


def _box(state, parameters):
    """Twelve edges of a box with these moments of inertia, turned by its quaternion."""
    half = parameters["half"]
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3, indexing="ij")).reshape(3, -1).T
    corners = state[:3] + (signs * half) @ turned(state[3:7]).T
    edges = [
        part
        for i, one in enumerate(signs)
        for j, other in enumerate(signs)
        if i < j and np.count_nonzero(one != other) == 1
        for part in (corners[i], corners[j], GAP)
    ]
    return np.array(edges)


SHAPES = {
    "pendulum": Shape(_rod),
    "driven_pendulum": Shape(_rod),
    "double_pendulum": Shape(_rods, last=2),
    "oscillator": Shape(_spring, marker="s"),
    "spring": Shape(_spring, marker="s"),
    "momentum_spring": Shape(_spring, marker="s"),
    "duffing": Shape(_spring, marker="s"),
    "van_der_pol": Shape(_spring, marker="s"),
    "constant_force": Shape(_car, marker="s"),
    "acceleration_profile": Shape(_car, marker="s"),
    "rigid_body": Shape(_box, last=0, marker=None, dimensions=3),
}


def turned(q):
    """The rotation of a quaternion w x y z of any length but zero, as a matrix.

    Parameters
    ----------
    q : array_like
        (4,).

    Returns
    -------
    ndarray
        (3, 3), from body axes to world axes.

    Examples
    --------
    >>> turned([1.0, 0, 0, 1]).round()  # a quarter turn about z
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    w, x, y, z = np.asarray(q, dtype=np.float64) / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def half_lengths(inverse_inertia):
    """Half the edges of a box with these moments of inertia, the longest 1.

    A homogeneous box of edges a, b, c has the moments m (b^2 + c^2) / 12 and so on. If there is
    no such box, as for a body that nothing turns, it is a cube.

    Parameters
    ----------
    inverse_inertia : array_like
        (3, 3) in body axes.

    Returns
    -------
    ndarray
        (3,).

    Examples
    --------
    >>> import numpy as np
    >>> half_lengths(np.diag([1 / 5, 1 / 10, 1 / 13])).round(2)  # edges as 3, 2, 1
    array([1.  , 0.67, 0.33])
    """
    diagonal = np.diag(np.asarray(inverse_inertia, dtype=np.float64))
    if not (np.isfinite(diagonal) & (diagonal > 0)).all():
        return np.ones(3)
    moments = 1 / diagonal
    squares = moments.sum() - 2 * moments
    squares = np.maximum(squares, 0.01 * squares.max())  # a plate is drawn with some thickness
    return np.sqrt(squares / squares.max()) if squares.max() > 0 else np.ones(3)
