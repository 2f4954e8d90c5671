"""The problems of DETEST, classes A to E, over t = 0 to 20.

Hull, Enright, Fellen, Sedgwick (1972), SIAM J. Numer. Anal. 9, 603-637.
"""

import numpy as np

import pyintegrate as pi

T_END = 20.0


def _orbit(e):
    return [1 - e, 0.0, 0.0, np.sqrt((1 + e) / (1 - e))]


def _chain(y):
    """y_(i-1) - 2 y_i + y_(i+1): the heat equation on some points."""
    n = len(y)
    return [
        (y[i - 1] if i else 0.0) - 2 * y[i] + (y[i + 1] if i < n - 1 else 0.0) for i in range(n)
    ]


def _torus(y):
    r = np.sqrt(y[0] ** 2 + y[1] ** 2)
    return [-y[1] - y[0] * y[2] / r, y[0] - y[1] * y[2] / r, y[0] / r]


# C5: the outer planets about the sun, in astronomical units and hundreds of days.
_GRAVITY, _SUN = 2.95912208286, 1.00000597682
_PLANETS = (
    0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449,
    0.00000277777777778,
)  # fmt: skip
_OUTER = [
    3.42947415189, 3.35386959711, 1.35494901715, 6.64145542550, 5.97156957878, 2.18231499728,
    11.2630437207, 14.6952576794, 6.27960525067, -30.1552268759, 1.65699966404, 1.43785752721,
    -21.1238353380, 28.4465098142, 15.3882659679,
    -0.557160570446, 0.505696783289, 0.230578543901, -0.415570776342, 0.365682722812,
    0.169143213293, -0.325325669158, 0.189706021964, 0.0877265322780, -0.0240476254170,
    -0.287659532608, -0.117219543175, -0.176860753121, -0.216393453025, -0.0148647893090,
]  # fmt: skip


def _cube(d):
    square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    return square * np.sqrt(square)


def _planets(y):
    """Each is drawn by the sun, which all others draw as well, and by these."""
    x = [[y[3 * j + i] for i in range(3)] for j in range(5)]
    to_sun = [_cube(one) for one in x]
    pull = []
    for j, mass in enumerate(_PLANETS):
        a = [-(_SUN + mass) * x[j][i] / to_sun[j] for i in range(3)]
        for k, other in enumerate(_PLANETS):
            if k != j:
                away = [x[k][i] - x[j][i] for i in range(3)]
                cube = _cube(away)
                a = [a[i] + other * (away[i] / cube - x[k][i] / to_sun[k]) for i in range(3)]
        pull += [_GRAVITY * one for one in a]
    return [*(y[i] for i in range(15, 30)), *pull]


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
    "C4": (lambda t, y: _chain(y), [1.0] + [0.0] * 50),
    "C5": (lambda t, y: _planets(y), _OUTER),
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
