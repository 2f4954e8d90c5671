"""Every system is the mathematics that it says: right-hand side, Jacobian, energy, invariants and
exact solution agree with independent formulas, and with one another.
"""

import numpy as np
import pytest
from reference import states, varied
from test_equations_of_motion import ENERGIES, POWERS, RIGHT_HAND_SIDES
from test_equations_of_motion import RIGHT_HAND_SIDES as THE_OTHERS

import pyintegrate as pi

# The first systems; those of test_equations_of_motion.py have their formulas there, and those of
# any size have tests of their own: test_n_body.py, test_rigid_body.py.
SIZED = ("n_body", "rigid_body")
SYSTEMS = [system for name, system in pi.systems.items() if name not in (*THE_OTHERS, *SIZED)]
every = pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
both = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f64", "f32"])


# ---- the mathematics once more, with NumPy -------------------------------------------------------


def newton(acceleration):
    """y' = (v, a(t, x, v)), components first."""

    def rhs(t, y, **params):
        x, v = np.split(y, 2)
        return np.concatenate([v, np.broadcast_to(acceleration(t, x, v, **params), x.shape)])

    return rhs


def falling(t, x, v, g):
    return np.stack([0 * x[0], 0 * x[0], -g + 0 * x[0]])


def convection(t, y, sigma, rho, beta):
    return np.stack([sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]])


def predation(t, y, a, b, c, d):
    return np.stack([a * y[0] - b * y[0] * y[1], -c * y[1] + d * y[0] * y[1]])


RHS = {
    "constant_force": newton(lambda t, x, v, force, mass: force / mass),
    "oscillator": newton(lambda t, x, v, omega: -(omega**2) * x),
    "spring": newton(lambda t, x, v, k, b, m: (-k * x - b * v) / m),
    "pendulum": newton(lambda t, x, v, g, length: -g / length * np.sin(x)),
    "projectile": newton(falling),
    "kepler": newton(lambda t, x, v, mu: -mu * x / np.sum(x * x, axis=0) ** 1.5),
    "lorenz": convection,
    "lotka_volterra": predation,
}
ENERGY = {
    "constant_force": lambda y, force, mass: mass * y[1] ** 2 / 2 - force * y[0],
    "oscillator": lambda y, omega: y[1] ** 2 / 2 + omega**2 * y[0] ** 2 / 2,
    "spring": lambda y, k, b, m: m * y[1] ** 2 / 2 + k * y[0] ** 2 / 2,
    "pendulum": lambda y, g, length: (length * y[1]) ** 2 / 2 + g * length * (1 - np.cos(y[0])),
    "projectile": lambda y, g: np.sum(y[3:] ** 2, axis=0) / 2 + g * y[2],
    "kepler": lambda y, mu: np.sum(y[2:] ** 2, axis=0) / 2 - mu / np.hypot(y[0], y[1]),
}
DISSIPATION = {**POWERS, "spring": lambda t, y, k, b, m: -b * y[1] ** 2}  # dE/dt, where not 0
INVARIANTS = {
    "projectile": {"vx": lambda y, g: y[3], "vy": lambda y, g: y[4]},
    "kepler": {
        "angular_momentum": lambda y, mu: y[0] * y[3] - y[1] * y[2],
        "eccentricity_x": lambda y, mu: (
            y[3] * (y[0] * y[3] - y[1] * y[2]) / mu - y[0] / np.hypot(y[0], y[1])
        ),
        "eccentricity_y": lambda y, mu: (
            -y[2] * (y[0] * y[3] - y[1] * y[2]) / mu - y[1] / np.hypot(y[0], y[1])
        ),
    },
    "lotka_volterra": {
        "V": lambda y, a, b, c, d: d * y[0] - c * np.log(y[0]) + b * y[1] - a * np.log(y[1])
    },
}
EIGHT = (0.97000436, -0.24308753, 0.46620368, 0.43236573)  # Simo's figure eight, to its 8 digits
X1, Y1, VX, VY = EIGHT
SECOND, FIRST = "second_order", "first_order"
SPATIAL = "x y z vx vy vz"
DEFAULTS = {  # parameters, components, default state, structure: the table of the contract
    "constant_force": ({"force": 10, "mass": 1}, "x v", [0, 0], SECOND),
    "acceleration_profile": (
        {"times": (0, 2, 4, 6, 8), "accelerations": (0, 2, 0, -2, 0)}, "x v", [0, 0], SECOND),
    "oscillator": ({"omega": 1}, "x v", [1, 0], SECOND),
    "spring": ({"k": 15, "b": 0.1, "m": 1}, "x v", [1, 0], SECOND),
    "momentum_spring": ({"k": 15, "b": 0, "inverse_mass": 1}, "x p", [1, 0], "separable"),
    "spring_3d": (
        {"k": 15, "b": 0, "m": 1, "rest_length": 1, "gravity": (0, 0, 0)}, SPATIAL,
        [1.5, 0, 0, 0, 1, 0], SECOND),
    "projectile": ({"g": 9.81}, SPATIAL, [0, 0, 0, 10, 0, 10], SECOND),
    "projectile_drag": ({"g": 9.81, "c": 0.1, "m": 1}, SPATIAL, [0, 0, 0, 10, 0, 10], SECOND),
    "pendulum": ({"g": 9.81, "length": 1}, "theta omega", [1, 0], SECOND),
    "driven_pendulum": (
        {"omega0": 1, "damping": 0.1, "amplitude": 0.5, "frequency": 2 / 3}, "theta omega",
        [1, 0], SECOND),
    "double_pendulum": (
        {"m1": 1, "m2": 1, "l1": 1, "l2": 1, "g": 9.81}, "theta1 theta2 omega1 omega2",
        [np.pi / 2, np.pi / 2, 0, 0], SECOND),
    "duffing": (
        {"alpha": -1, "beta": 1, "delta": 0.3, "gamma": 0.37, "omega": 1.2}, "x v", [1, 0],
        SECOND),
    "van_der_pol": ({"mu": 1}, "x v", [2, 0], SECOND),
    "kepler": ({"mu": 1}, "x y vx vy", [0.7, 0, 0, np.sqrt(1.3 / 0.7)], SECOND),
    "henon_heiles": ({"coupling": 1}, "x y vx vy", [0.3, 0, 0, 0.4], SECOND),
    "lorenz": ({"sigma": 10, "rho": 28, "beta": 8 / 3}, "x y z", [1, 1, 1], FIRST),
    "rossler": ({"a": 0.2, "b": 0.2, "c": 5.7}, "x y z", [1, 1, 1], FIRST),
    "lotka_volterra": (
        {"a": 1.5, "b": 1, "c": 3, "d": 1}, "prey predator", [10, 5], FIRST),
    "logistic": ({"r": 1, "capacity": 100}, "n", [1], FIRST),
    "three_body": (
        {"g": 1, "masses": (1, 1, 1)}, "x1 y1 x2 y2 x3 y3 vx1 vy1 vx2 vy2 vx3 vy3",
        [X1, Y1, -X1, -Y1, 0, 0, VX, VY, VX, VY, -2 * VX, -2 * VY], SECOND),
}  # fmt: skip


def close(found, expected, ulps, dtype=np.float64):
    """Equal within ulps of the largest component: terms of that size may cancel."""
    size = np.maximum(1, abs(expected).max())
    assert found.shape == expected.shape
    assert abs(found - expected).max() <= ulps * np.finfo(dtype).eps * size


@every
def test_a_system_has_an_independent_formula_and_a_line_of_the_contract(system):
    name = system.name
    assert (name in RHS) != (name in RIGHT_HAND_SIDES), f"write {name} once more, with NumPy"
    assert name in DEFAULTS, f"add {name} to DEFAULTS, from the contract"
    assert system.has_energy == (name in ENERGY or name in ENERGIES)


@every
def test_defaults_are_those_of_the_contract(system):
    params, names, initial, structure = DEFAULTS[system.name]
    assert set(system.params) == set(params)
    for name, value in params.items():
        assert np.array_equal(system.params[name], value)
    assert system.state_names == tuple(names.split())
    # Roots and pi to an ulp; the figure eight is published to 8 digits.
    precision = 1e-8 if system.name == "three_body" else 3e-16
    assert system.initial == pytest.approx(initial, rel=0, abs=2 * precision)
    assert system.structure == structure
    assert system.dim == len(initial)
    assert system.dof == (0 if structure == FIRST else len(initial) // 2)


@both
@pytest.mark.parametrize("name", RHS)
def test_the_right_hand_side_is_the_formula(name, dtype):
    system, y = varied(pi.systems[name])
    y = y.astype(dtype)
    params = {name: value.astype(dtype) for name, value in system.params.items()}
    expected = np.moveaxis(RHS[system.name](dtype(0.3), np.moveaxis(y, -1, 0), **params), 0, -1)
    found = system.rhs(0.3, y)
    assert found.dtype == dtype
    close(found, expected, 8, dtype)  # some roundings of a few terms


@pytest.mark.parametrize("name", ENERGY)
def test_the_energy_is_the_formula(name):
    system, y = varied(pi.systems[name])
    expected = ENERGY[system.name](np.moveaxis(y, -1, 0), **system.params)
    close(system.energy(y), expected, 8)


@pytest.mark.parametrize("name", INVARIANTS)
def test_invariants_are_the_formulas(name):
    system, y = varied(pi.systems[name])
    values = system.invariants(y)
    assert set(values) == set(INVARIANTS[name])
    for invariant, formula in INVARIANTS[name].items():
        close(values[invariant], formula(np.moveaxis(y, -1, 0), **system.params), 8)


@every
def test_without_an_energy_there_is_none(system):
    if not system.has_energy:
        assert system.energy(system.initial) is None
        assert system.acceleration(0.0, [1.0], [1.0]) is None
    assert isinstance(system.invariants(system.initial), dict)


def test_formulas_would_notice_a_wrong_constant():
    y = states(pi.systems.pendulum, (50,))
    wrong = pi.systems.pendulum(g=9.81 * (1 + 1e-13))
    with pytest.raises(AssertionError):
        close(wrong.rhs(0, y), pi.systems.pendulum.rhs(0, y), 8)


# ---- one with another ----------------------------------------------------------------------------

WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])  # central differences of order 8
REACH = 2.0**-8
DIFFERENCE = 1e-11  # h^8 = 5e-20 of truncation, and ulp / h = 6e-14 of rounding, of numbers to 300


def derivative(f, h=REACH):
    """df/ds at s = 0 by central differences."""
    return sum(w * (f(k * h) - f(-k * h)) for k, w in enumerate(WEIGHTS, 1)) / h


def gradient(f, y):
    """df/dy, with the component as the last axis."""
    return np.stack([derivative(lambda s, e=e: f(y + s * e)) for e in np.eye(y.shape[-1])], axis=-1)


def along(system, f, y):
    """df/dt along the motion: grad f . rhs."""
    return np.sum(gradient(f, y) * system.rhs(0.0, y), axis=-1)


@every
def test_the_jacobian_is_the_derivative_of_the_right_hand_side(system):
    system, y = varied(system)
    found = system.jacobian(0.3, y)
    assert found.shape == (50, system.dim, system.dim)
    assert abs(found - gradient(lambda y: system.rhs(0.3, y), y)).max() < DIFFERENCE


@every
def test_energy_changes_at_the_rate_of_dissipation(system):
    if system.has_energy:
        y = states(system, (50,))
        power = DISSIPATION.get(system.name, lambda t, y, **params: 0.0)
        expected = [power(0.0, state, **system.params) for state in y]
        assert abs(along(system, system.energy, y) - expected).max() < DIFFERENCE * 10


@every
def test_invariants_do_not_change(system):
    system, y = varied(system)
    for name in system.invariants(y):
        rate = along(system, lambda y, name=name: system.invariants(y)[name], y)
        assert abs(rate).max() < DIFFERENCE * 10


@every
def test_invariants_stay_along_a_trajectory(system):
    y = states(system, (20,))
    sol = pi.integrate(system, y, dt=2e-4, n_steps=2000, method="tsitouras54", save=100)
    conserved = system.invariants(sol.y)
    if system.name in ENERGY and not system.velocity_dependent:
        conserved["energy"] = sol.energy()
    for values in conserved.values():  # 2000 steps round, and (lambda h)^5 is less
        assert abs(values - values[0]).max() < 1e-11 * np.maximum(1, abs(values).max())


def test_differences_would_notice_a_wrong_constant():
    lorenz, wrong = pi.systems.lorenz, pi.systems.lorenz(rho=28 + 1e-9)
    y = states(lorenz, (50,))
    assert (
        abs(wrong.jacobian(0, y) - gradient(lambda y: lorenz.rhs(0, y), y)).max() > 10 * DIFFERENCE
    )
    spring, wrong = pi.systems.spring(b=0), pi.systems.spring(k=15 + 1e-7, b=0)
    y = states(spring, (50,))
    assert abs(along(spring, wrong.energy, y)).max() > 10 * DIFFERENCE
    kepler, wrong = pi.systems.kepler, pi.systems.kepler(mu=1 + 1e-8)
    y = states(kepler, (50,))
    rate = along(kepler, lambda y: wrong.invariants(y)["eccentricity_x"], y)
    assert abs(rate).max() > 10 * DIFFERENCE


@every
def test_acceleration_is_the_second_half_of_the_right_hand_side(system):
    system, y = varied(system)
    x, v = y[:, : system.dof], y[:, system.dof :]
    if system.dof == 0:
        assert system.acceleration(0.0, x, v) is None
        return
    rhs = system.rhs(0.3, y)
    assert np.array_equal(system.acceleration(0.3, x, v), rhs[:, system.dof :])
    assert np.array_equal(rhs[:, : system.dof], v)


@every
def test_the_acceleration_sees_the_velocity_where_it_is_declared(system):
    system, y = varied(system)
    if system.dof == 0:
        assert not system.velocity_dependent
        return
    x, v = y[:, : system.dof], y[:, system.dof :]
    same = np.array_equal(system.acceleration(0, x, v), system.acceleration(0, x, 2 * v + 1))
    assert same != system.velocity_dependent


# ---- the exact solution --------------------------------------------------------------------------


@every
def test_the_exact_solution_begins_at_its_start_and_has_the_right_slope(system):
    system, y = varied(system)
    exact = system.exact([0.4], y, t0=0.4)
    if exact is None:
        assert system.name not in ("oscillator", "spring", "pendulum", "kepler")
        return
    assert exact[0] == pytest.approx(y, rel=1e-13, abs=1e-13)
    for t in (-1.7, 0.0, 0.9, 3.0):
        here = system.exact([t], y, t0=0.4)[0]
        slope = derivative(lambda s, t=t: system.exact([t + s], y, t0=0.4)[0], 2.0**-10)
        # Exact solutions carry ulps of t times their frequency, which h divides by 1/1024.
        size = np.maximum(1, abs(slope).max())
        assert abs(slope - system.rhs(t, here)).max() < 1e-10 * size


def test_the_slope_would_notice_a_wrong_constant():
    right, wrong = pi.systems.kepler, pi.systems.kepler(mu=1 + 1e-8)
    y = right.initial
    slope = derivative(lambda s: wrong.exact([0.5 + s], y)[0])
    assert abs(slope - right.rhs(0.5, wrong.exact([0.5], y)[0])).max() > 1e-9


@every
def test_the_exact_solution_repeats_after_its_period_and_its_phase_grows(system):
    y = states(system, (20,))
    phase, period, exact = system.phase(y), system.period(y), system.exact([0.0, 1e-3], y)
    if phase is not None and exact is not None:
        grown = np.sin(system.phase(exact[1]) - phase)
        assert np.all(grown[np.isfinite(phase)] > 0)  # there is none on an open orbit
    if period is not None and exact is not None and system.name != "spring":  # which is damped
        for i in np.flatnonzero(np.isfinite(period)):
            assert system.exact([period[i]], y[i])[0] == pytest.approx(y[i], abs=1e-10)
