"""A method in plain Python, over any kind of number: floats, many digits, dual numbers.

What the C core does at full speed is done here as plainly as it can be, so that it can be counted,
differentiated, and carried to more digits than a double has. A problem has no time in its force:
the core's own tests look after that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Numbers(NamedTuple):
    """A kind of number: how one is made of a fraction or a float, and its functions."""

    make: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]


FLOATS = Numbers(float, math.sin, math.cos, math.sqrt)


def many_digits(digits):
    """Numbers of mpmath of so many digits.

    Parameters
    ----------
    digits : int

    Returns
    -------
    Numbers

    Raises
    ------
    ImportError
        Without mpmath, which is needed at development only.
    """
    try:
        from mpmath import MPContext, libmp
    except ImportError as error:
        raise ImportError(
            "the order of methods of order 7 and up is measured with mpmath, which is not"
            " installed: pip install mpmath"
        ) from error
    context = MPContext()
    context.dps = digits

    def make(value):
        if isinstance(value, float):
            return context.mpf(value)
        bits = libmp.from_rational(value.numerator, value.denominator, context.prec)
        return context.make_mpf(bits)

    return Numbers(make, context.sin, context.cos, context.sqrt)


class Dual:
    """value + gradient . epsilon with epsilon^2 = 0: arithmetic that differentiates."""

    __array_priority__ = 1

    def __init__(self, value, gradient=0.0):
        self.value, self.gradient = value, gradient

    @staticmethod
    def _of(other):
        return other if isinstance(other, Dual) else Dual(other)

    def __add__(self, other):
        other = self._of(other)
        return Dual(self.value + other.value, self.gradient + other.gradient)

    def __mul__(self, other):
        other = self._of(other)
        return Dual(
            self.value * other.value, self.gradient * other.value + self.value * other.gradient
        )

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -self._of(other)

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self * self._of(other).function(lambda x: 1 / x, lambda x: -1 / (x * x))

    def __rtruediv__(self, other):
        return self._of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def function(self, f, derivative):
        return Dual(f(self.value), derivative(self.value) * self.gradient)


DUALS = Numbers(
    float,
    lambda x: x.function(math.sin, math.cos),
    lambda x: x.function(math.cos, lambda v: -math.sin(v)),
    lambda x: x.function(math.sqrt, lambda v: 0.5 / math.sqrt(v)),
)


class Problem(NamedTuple):
    """What the twin integrates: q' = velocity(p), p' = force(q), or y' = force(y) where dof = 0.

    Attributes
    ----------
    name : str
    dof : int
    initial : tuple of float
        Positions, then velocities or momenta.
    force, velocity : callable
        (sequence of numbers, Numbers) -> sequence of numbers.
    system : str
        The same in the C core, or "".
    """

    name: str
    dof: int
    initial: tuple[float, ...]
    force: Callable[[Any, Numbers], Sequence]
    velocity: Callable[[Any, Numbers], Sequence] = lambda p, m: p
    system: str = ""


def _pendulum(q, m):
    return [-9.81 * m.sin(q[0])]


def _kepler(q, m):
    square = q[0] * q[0] + q[1] * q[1]
    cube = square * m.sqrt(square)
    return [-q[0] / cube, -q[1] / cube]


def _lotka_volterra(y, m):
    both = y[0] * y[1]
    return [1.5 * y[0] - both, both - 3.0 * y[1]]


# Starts without symmetry: where a motion turns, half of the error may vanish.
PENDULUM = Problem("pendulum", 1, (1.0, 0.5), _pendulum, system="pendulum")
KEPLER = Problem(  # eccentricity 0.49
    "kepler", 2, (0.6, -0.5, 0.9, 0.4), _kepler, system="kepler"
)
LOTKA_VOLTERRA = Problem("lotka_volterra", 0, (10.0, 5.0), _lotka_volterra, system="lotka_volterra")
# H = sqrt(1 + p^2) + p^3/10 - cos q: the kinetic energy is not quadratic, nor even.
RELATIVISTIC = Problem(
    "relativistic pendulum", 1, (0.5, 0.4), lambda q, m: [-m.sin(q[0])],
    lambda p, m: [p[0] / m.sqrt(1.0 + p[0] * p[0]) + 0.3 * p[0] * p[0]],
)  # fmt: skip


def run(method, problem, h, n_steps, numbers=FLOATS, initial=None, force=None):
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
    force : callable, optional
        In place of the problem's, to see how often it is asked.

    Returns
    -------
    ndarray of objects, shape (dim,)

    Examples
    --------
    >>> import pyintegrate as pi
    >>> run(pi.methods["rk4"], PENDULUM, 0.01, 100).astype(float).round(6).tolist()
    [-0.943126, -1.082276]
    """
    force = force or problem.force
    if initial is None:
        initial = [numbers.make(value) for value in problem.initial]
    exact, _ = method.exact_coefficients
    table = {name: _made(value, numbers) for name, value in exact.items()}
    return _RUNS[method.family](table, problem, force, h, n_steps, _column(initial), numbers)


def _made(value, numbers):
    """Nested lists of numbers; a zero is None, and is left out."""
    if isinstance(value, list):
        return [_made(item, numbers) for item in value]
    return numbers.make(value) if value else None


def _column(values):
    column = np.empty(len(values), object)
    column[:] = list(values)
    return column


def _explicit_rk(table, problem, force, h, n_steps, y, numbers):
    """k_s = f(y + h sum_j a_sj k_j),   y += h sum_s b_s k_s."""
    A, b = table["A"], table["b"]
    used = _used_stages(A, b)

    def f(y):
        if not problem.dof:
            return _column(force(y, numbers))
        q, p = y[: problem.dof], y[problem.dof :]
        return np.concatenate([_column(problem.velocity(p, numbers)), _column(force(q, numbers))])

    def moved(y, weights, k):
        pairs = [w * k[j] for j, w in enumerate(weights) if w is not None and j in k]
        return y + h * sum(pairs[1:], pairs[0]) if pairs else y

    for _ in range(n_steps):
        k: dict[int, Any] = {}
        for s in used:
            k[s] = f(moved(y, A[s], k))
        y = moved(y, b, k)
    return y


def _used_stages(A, b):
    """Stages that the step depends on; the others serve an error estimate."""
    used: set[int] = set()
    new = {s for s, weight in enumerate(b) if weight is not None}
    while new:
        used |= new
        new = {j for s in used for j, a in enumerate(A[s]) if a is not None} - used
    return sorted(used)


def _composition(table, problem, force, h, n_steps, y, numbers):
    """Kick p += w h force(q), drift q += w h velocity(p); a force stays until q has moved."""
    q, p, now = y[: problem.dof], y[problem.dof :], None
    for _ in range(n_steps):
        for kick, drift in zip(table["kick"], table["drift"], strict=True):
            if kick is not None:
                if now is None:
                    now = _column(force(q, numbers))
                p = p + h * kick * now
            if drift is not None:
                q, now = q + h * drift * _column(problem.velocity(p, numbers)), None
    return np.concatenate([q, p])


_RUNS = {"explicit_rk": _explicit_rk, "composition": _composition}
