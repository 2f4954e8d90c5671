"""A method in plain Python, over any kind of number: floats, complex ones, many digits.

The steps of the C core, written as plainly as possible, so that they can be counted,
differentiated, and computed in more digits than a double has. The force of a problem does not
depend on time: the core's own tests cover that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..values.types import Any, Callable, Sequence
from .number_kinds import FLOATS, Numbers
from .twin_steps import RUNS, Motion, column


class Problem(NamedTuple):
    """A problem of the twin: q' = velocity(p), p' = force(q), or y' = force(y) if dof = 0.

    Attributes
    ----------
    name : str
        Of the same system in the C core, if it has it.
    dof : int
    initial : tuple of float
        Positions, then velocities or momenta.
    force, velocity : callable
        (sequence of numbers, Numbers) -> sequence of numbers.
    """

    name: str
    dof: int
    initial: tuple[float, ...]
    force: Callable[[Any, Numbers], Sequence]
    velocity: Callable[[Any, Numbers], Sequence] = lambda p, m: p


def _pendulum(q, m):
    return [-9.81 * m.sin(q[0])]


def _kepler(q, m):
    square = q[0] * q[0] + q[1] * q[1]
    cube = square * m.sqrt(square)
    return [-q[0] / cube, -q[1] / cube]


def _lotka_volterra(y, m):
    both = y[0] * y[1]
    return [1.5 * y[0] - both, both - 3.0 * y[1]]


# Starts without symmetry: at a turning point, half of the error may vanish.
PENDULUM = Problem("pendulum", 1, (1.0, 0.5), _pendulum)
KEPLER = Problem("kepler", 2, (0.6, -0.5, 0.9, 0.4), _kepler)  # eccentricity 0.49
LOTKA_VOLTERRA = Problem("lotka_volterra", 0, (10.0, 5.0), _lotka_volterra)
# H = sqrt(1 + p^2) + p^3/10 - cos q: the kinetic energy is not quadratic, nor even.
RELATIVISTIC = Problem(
    "relativistic pendulum", 1, (0.5, 0.4), lambda q, m: [-m.sin(q[0])],
    lambda p, m: [p[0] / m.sqrt(1.0 + p[0] * p[0]) + 0.3 * p[0] * p[0]],
)  # fmt: skip


def _bodies(q, m):
    x = q.reshape(-1, 3)
    pulls = [
        sum(np.divide(d, (d @ d) * m.sqrt(d @ d)) for j, d in enumerate(x - one) if j != i)
        for i, one in enumerate(x)
    ]
    return [a for pull in pulls for a in pull]


BODIES = Problem(  # of mass 1
    "n_body", 9, (0.0, 0.1, 0.0, 1.0, -0.2, 0.1, -0.9, 1.9, -0.1, 0.3, 0.2, 0.0, -0.2, 0.9, 0.1,
                  -0.4, -0.3, 0.2), _bodies,
)  # fmt: skip


def run(method, problem, h, n_steps, numbers=FLOATS, initial=None):
    """The state after n_steps steps of h.

    Parameters
    ----------
    method : Method
    problem : Problem
    h : a number
    n_steps : int
    numbers : Numbers
    initial : sequence of numbers, optional
        Default: the problem's.

    Returns
    -------
    ndarray of objects, shape (dim,)

    Examples
    --------
    >>> import pyintegrate as pi
    >>> run(pi.methods["rk4"], PENDULUM, 0.01, 100).astype(float).round(6).tolist()
    [-0.943126, -1.082276]
    """
    if initial is None:
        initial = map(numbers.make, problem.initial)
    return RUNS[method.family](method, Motion(problem, numbers), h, n_steps, column(initial))
