"""The forces of the built-in systems as NumPy formulas, from which the tracer takes derivatives.

The C core has the same in registers (csrc/systems/); both agree to rounding. A function here is
written for one trajectory, components first: x and v have components even if dof = 1. A tiny number
added to |r|^2 keeps the derivative finite at r = 0, and changes no digit elsewhere.
"""

from functools import lru_cache

import numpy as np

from ..trace import tracing
from ..trace.graph import Graph

_SMALLEST = 1e-38  # of a square, a normal number in single precision as well


def _norm(x):
    return np.sqrt(x @ x + _SMALLEST)


def _acceleration_profile(t, x, v, times, accelerations):
    a = 0.0
    for i in range(len(times)):
        a = np.where(t >= times[i], accelerations[i], a)
    return [a]


def _spring_3d(t, x, v, k, b, m, rest_length, gravity):
    r = _norm(x)
    return -(k / m) * ((r - rest_length) / r) * x - (b / m) * v + gravity


def _projectile_drag(t, x, v, g, c, m):
    w = -(c / m) * _norm(v)
    return [w * v[0], w * v[1], w * v[2] - g]


def _double_pendulum(t, x, v, m1, m2, l1, l2, g):
    """A + mu cos(d) B = f1,  cos(d) A + B = f2: see csrc/systems/double_pendulum.h."""
    mu, rest = m2 / (m1 + m2), m1 / (m1 + m2)
    s1, c1, s2, c2 = np.sin(x[0]), np.cos(x[0]), np.sin(x[1]), np.cos(x[1])
    s, c = s1 * c2 - c1 * s2, c1 * c2 + s1 * s2
    per_det = 1.0 / (mu * s * s + rest)
    f1 = -(mu * l2 * (v[1] * v[1]) * s + g * s1)
    f2 = l1 * (v[0] * v[0]) * s - g * s2
    a, b = (f1 - mu * c * f2) * per_det, (f2 - c * f1) * per_det
    return [a * (1.0 / l1), b * (1.0 / l2)]


def _kepler(t, x, v, mu):
    near = 1.0 / np.sqrt(x @ x)  # r^3 and 1 / r^5 leave the range of single precision
    return -(mu * near * near) * (near * x)


def _henon_heiles(t, x, v, coupling):
    return [
        -x[0] - 2.0 * coupling * x[0] * x[1],
        -x[1] - coupling * (x[0] - x[1]) * (x[0] + x[1]),
    ]


def _lotka_volterra(t, y, a, b, c, d):
    both = y[0] * y[1]
    return [a * y[0] - b * both, d * both - c * y[1]]


def _bodies(dimensions):
    """a_i = g sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + softening^2)^(3/2)"""

    def force(t, x, v, g, masses, softening=None):
        n = len(masses)
        a = [[0.0] * dimensions for _ in range(n)]
        square = 0.0 if softening is None else softening * softening
        for i in range(n):
            for j in range(i):
                d = [x[dimensions * j + k] - x[dimensions * i + k] for k in range(dimensions)]
                r2 = sum(u * u for u in d) + square
                near = 1.0 / np.sqrt(r2)  # as in _kepler
                here, there = (g * m * near * near for m in (masses[j], masses[i]))
                for k in range(dimensions):
                    a[i][k] = a[i][k] + here * (near * d[k])
                    a[j][k] = a[j][k] - there * (near * d[k])
        return [component for body in a for component in body]

    return force


FORCES = {
    "constant_force": lambda t, x, v, force, mass: [force / mass],
    "acceleration_profile": _acceleration_profile,
    "oscillator": lambda t, x, v, omega: -(omega * omega) * x,
    "spring": lambda t, x, v, k, b, m: -(k / m) * x - (b / m) * v,
    "momentum_spring": lambda t, x, v, k, b, inverse_mass: -k * x - (b * inverse_mass) * v,
    "spring_3d": _spring_3d,
    "projectile": lambda t, x, v, g: [0.0, 0.0, -g],
    "projectile_drag": _projectile_drag,
    "pendulum": lambda t, x, v, g, length: -(g / length) * np.sin(x),
    "driven_pendulum": lambda t, x, v, omega0, damping, amplitude, frequency: (
        amplitude * np.cos(frequency * t) - (omega0 * omega0 * np.sin(x) + damping * v)
    ),
    "double_pendulum": _double_pendulum,
    "duffing": lambda t, x, v, alpha, beta, delta, gamma, omega: (
        gamma * np.cos(omega * t) - ((beta * x * x + alpha) * x + delta * v)
    ),
    "van_der_pol": lambda t, x, v, mu: mu * v * (1.0 - x * x) - x,
    "kepler": _kepler,
    "henon_heiles": _henon_heiles,
    "three_body": _bodies(2),
    "n_body": _bodies(3),
    "lorenz": lambda t, y, sigma, rho, beta: [
        sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]],
    "rossler": lambda t, y, a, b, c: [-y[1] - y[2], y[0] + a * y[1], b + y[2] * (y[0] - c)],
    "lotka_volterra": _lotka_volterra,
    "logistic": lambda t, y, r, capacity: r * y * (1.0 - y / capacity),
}  # fmt: skip
VELOCITIES = {"momentum_spring": lambda p, inverse_mass, **_: inverse_mass * p}


def built_in_force(system):
    """The force of a built-in system as a Traced.

    Parameters
    ----------
    system : System
        A system of the catalogue, with a name in ``FORCES``.

    Returns
    -------
    Traced

    Examples
    --------
    >>> import pyintegrate as pi
    >>> built_in_force(pi.systems.lorenz).outputs["rhs"][0].operation
    'multiply'
    """
    return _traced(system.name, system.dim, system.dof, tuple(system.shapes.items()))


@lru_cache(8)
def _traced(name, dim, dof, shapes):
    graph = Graph(dim, dof)
    params, rows = tracing.parameter_symbols(graph, dict(shapes))
    t = tracing.Symbol(graph.time())
    state = tracing.state_symbols([*map(graph.state, range(dim))], dof)

    def nodes(function, arguments):
        count = dof or dim
        result = tracing.call(function, arguments, params)
        return tracing.components(function, graph, result, count, f"{count} components")

    outputs = {"acceleration" if dof else "rhs": nodes(FORCES[name], [t, *state])}
    if name in VELOCITIES:
        outputs["velocity"] = nodes(VELOCITIES[name], state[1:])
    return tracing.Traced(graph, outputs, rows)
