"""The problems of DETEST, classes A to E, over t = 0 to 20.

Hull, Enright, Fellen, Sedgwick (1972), SIAM J. Numer. Anal. 9, 603-637. The five bodies of C5 and
the larger copy of C3 are left out.
"""

import numpy as np

import pyintegrate as pi

T_END = 20.0


def _orbit(e):
    return [1 - e, 0.0, 0.0, np.sqrt((1 + e) / (1 - e))]


def _chain(y):
    """y_(i-1) - 2 y_i + y_(i+1): the heat equation on ten points."""
    n = len(y)
    return [
        (y[i - 1] if i else 0.0) - 2 * y[i] + (y[i + 1] if i < n - 1 else 0.0) for i in range(n)
    ]


def _torus(y):
    r = np.sqrt(y[0] ** 2 + y[1] ** 2)
    return [-y[1] - y[0] * y[2] / r, y[0] - y[1] * y[2] / r, y[0] / r]


PROBLEMS = {  # name: right-hand side, start
    "A1": (lambda t, y: [-y[0]], [1.0]),
    "A2": (lambda t, y: [-(y[0] ** 3) / 2], [1.0]),
    "A3": (lambda t, y: [y[0] * np.cos(t)], [1.0]),
    "A4": (lambda t, y: [y[0] / 4 * (1 - y[0] / 20)], [1.0]),
    "A5": (lambda t, y: [(y[0] - t) / (y[0] + t)], [4.0]),
    "B1": (lambda t, y: [2 * (y[0] - y[0] * y[1]), -(y[1] - y[0] * y[1])], [1.0, 3.0]),
    "B2": (lambda t, y: [-y[0] + y[1], y[0] - 2 * y[1] + y[2], y[1] - y[2]], [2.0, 0.0, 1.0]),
    "B3": (lambda t, y: [-y[0], y[0] - y[1] ** 2, y[1] ** 2], [1.0, 0.0, 0.0]),
    "B4": (lambda t, y: _torus(y), [3.0, 0.0, 0.0]),
    "B5": (lambda t, y: [y[1] * y[2], -y[0] * y[2], -0.51 * y[0] * y[1]], [0.0, 1.0, 1.0]),
    "C1": (
        lambda t, y: [-y[0], *[y[i - 1] - y[i] for i in range(1, 9)], y[8]],
        [1.0] + [0.0] * 9,
    ),
    "C2": (
        lambda t, y: [-y[0], *[i * y[i - 1] - (i + 1) * y[i] for i in range(1, 9)], 9 * y[8]],
        [1.0] + [0.0] * 9,
    ),
    "C3": (lambda t, y: _chain(y), [1.0] + [0.0] * 9),
    **{f"D{i + 1}": (None, _orbit(0.1 + 0.2 * i)) for i in range(5)},
    "E1": (
        lambda t, y: [y[1], -y[1] / (t + 1) - (1 - 0.25 / (t + 1) ** 2) * y[0]],
        [0.6713967071418030, 0.0954005144474744],
    ),
    "E2": (lambda t, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]], [2.0, 0.0]),
    "E3": (lambda t, y: [y[1], y[0] ** 3 / 6 - y[0] + 2 * np.sin(2.78535 * t)], [0.0, 0.0]),
    "E4": (lambda t, y: [y[1], 0.032 - 0.4 * y[1] ** 2], [30.0, 0.0]),
    "E5": (lambda t, y: [y[1], np.sqrt(1 + y[1] ** 2) / (25 - t)], [0.0, 0.0]),
}


def system(name):
    """The problem as a System."""
    rhs, start = PROBLEMS[name]
    if rhs is None:
        return pi.systems.kepler
    return pi.rhs(dim=len(start))(lambda t, y: rhs(t, y))


def right_hand_side(name):
    """The same as a function of NumPy, for SciPy."""
    rhs = PROBLEMS[name][0]
    if rhs is not None:
        return lambda t, y: np.array(rhs(t, y))

    def orbit(t, y):
        cube = np.hypot(y[0], y[1]) ** 3
        return np.array([y[2], y[3], -y[0] / cube, -y[1] / cube])

    return orbit
