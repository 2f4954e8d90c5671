"""The equations of motion of each system against plain NumPy: derivative, energy, power, Jacobian.

A NumPy formula here takes (t, y, params) with the component axis first and no thought for rounding;
the C core's is arranged to save operations and digits. They must agree to rounding.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pyintegrate as pi

EPSILON = np.finfo(float).eps


# ---- the same mathematics, written plainly -------------------------------------------------------


def profile(t, y, times, accelerations):
    reached = [a for knot, a in zip(times, accelerations, strict=True) if t >= knot]
    return [y[1], reached[-1] if reached else 0.0]


def spring_3d(t, y, k, b, m, rest_length, gravity):
    r, v = y[:3], y[3:]
    length = np.linalg.norm(r)
    return [*v, *(-k * (length - rest_length) * r / length - b * v + m * np.array(gravity)) / m]


def projectile_drag(t, y, g, c, m):
    v = y[3:]
    return [*v, *(-c / m * np.linalg.norm(v) * v - np.array([0, 0, g]))]


def double_pendulum(t, y, m1, m2, l1, l2, g):
    """Lagrange's equations with the mass matrix, solved by LAPACK."""
    theta1, theta2, omega1, omega2 = y
    cos, sin = np.cos(theta1 - theta2), np.sin(theta1 - theta2)
    mass = [[(m1 + m2) * l1**2, m2 * l1 * l2 * cos], [m2 * l1 * l2 * cos, m2 * l2**2]]
    torque = [
        -m2 * l1 * l2 * sin * omega2**2 - (m1 + m2) * g * l1 * np.sin(theta1),
        m2 * l1 * l2 * sin * omega1**2 - m2 * g * l2 * np.sin(theta2),
    ]
    return [omega1, omega2, *np.linalg.solve(mass, torque)]


def three_body(t, y, g, masses):
    x, v = y[:6].reshape(3, 2), y[6:]
    a = [
        sum(g * masses[j] * (x[j] - x[i]) / np.linalg.norm(x[j] - x[i]) ** 3 for j in others)
        for i, others in enumerate(((1, 2), (0, 2), (0, 1)))
    ]
    return [*v, *np.ravel(a)]


def driven_pendulum(t, y, omega0, damping, amplitude, frequency):
    force = -(omega0**2) * np.sin(y[0]) - damping * y[1] + amplitude * np.cos(frequency * t)
    return [y[1], force]


def duffing(t, y, alpha, beta, delta, gamma, omega):
    x, v = y
    return [v, -delta * v - alpha * x - beta * x**3 + gamma * np.cos(omega * t)]


RIGHT_HAND_SIDES = {
    "acceleration_profile": profile,
    "momentum_spring": lambda t, y, k, b, inverse_mass: [
        inverse_mass * y[1], -k * y[0] - b * inverse_mass * y[1]],
    "spring_3d": spring_3d,
    "projectile_drag": projectile_drag,
    "driven_pendulum": driven_pendulum,
    "double_pendulum": double_pendulum,
    "duffing": duffing,
    "van_der_pol": lambda t, y, mu: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]],
    "henon_heiles": lambda t, y, coupling: [
        y[2], y[3], -y[0] - 2 * coupling * y[0] * y[1],
        -y[1] - coupling * (y[0] ** 2 - y[1] ** 2)],
    "rossler": lambda t, y, a, b, c: [-y[1] - y[2], y[0] + a * y[1], b + y[2] * (y[0] - c)],
    "logistic": lambda t, y, r, capacity: [r * y[0] * (1 - y[0] / capacity)],
    "three_body": three_body,
}  # fmt: skip


def spring_3d_energy(y, k, b, m, rest_length, gravity):
    stretch = np.linalg.norm(y[:3]) - rest_length
    return m * y[3:] @ y[3:] / 2 + k * stretch**2 / 2 - m * np.dot(gravity, y[:3])


def double_pendulum_energy(y, m1, m2, l1, l2, g):
    """From the Cartesian velocities; the height is that above hanging at rest."""
    theta1, theta2, omega1, omega2 = y
    u1 = l1 * omega1 * np.array([np.cos(theta1), np.sin(theta1)])
    u2 = u1 + l2 * omega2 * np.array([np.cos(theta2), np.sin(theta2)])
    height1 = l1 * (1 - np.cos(theta1))
    height2 = height1 + l2 * (1 - np.cos(theta2))
    return m1 * u1 @ u1 / 2 + m2 * u2 @ u2 / 2 + m1 * g * height1 + m2 * g * height2


def three_body_energy(y, g, masses):
    x, v = y[:6].reshape(3, 2), y[6:].reshape(3, 2)
    pairs = sum(
        masses[i] * masses[j] / np.linalg.norm(x[j] - x[i]) for i, j in ((0, 1), (0, 2), (1, 2))
    )
    return masses @ np.sum(v**2, axis=1) / 2 - g * pairs


# Energy, and its rate of change: what dampers take and drives give.
ENERGIES = {
    "acceleration_profile": lambda y, times, accelerations: y[1] ** 2 / 2,
    "momentum_spring": lambda y, k, b, inverse_mass: (
        inverse_mass * y[1] ** 2 + k * y[0] ** 2) / 2,
    "spring_3d": spring_3d_energy,
    "projectile_drag": lambda y, g, c, m: m * y[3:] @ y[3:] / 2 + m * g * y[2],
    "driven_pendulum": lambda y, omega0, **_: y[1] ** 2 / 2 + omega0**2 * (1 - np.cos(y[0])),
    "double_pendulum": double_pendulum_energy,
    "duffing": lambda y, alpha, beta, **_: (
        y[1] ** 2 / 2 + alpha * y[0] ** 2 / 2 + beta * y[0] ** 4 / 4),
    "van_der_pol": lambda y, mu: (y[0] ** 2 + y[1] ** 2) / 2,
    "henon_heiles": lambda y, coupling: (
        y @ y / 2 + coupling * (y[0] ** 2 * y[1] - y[1] ** 3 / 3)),
    "three_body": three_body_energy,
}  # fmt: skip
POWERS = {
    "acceleration_profile": lambda t, y, **p: y[1] * profile(t, y, **p)[1],
    "momentum_spring": lambda t, y, k, b, inverse_mass: -b * (inverse_mass * y[1]) ** 2,
    "spring_3d": lambda t, y, b, **_: -b * y[3:] @ y[3:],
    "projectile_drag": lambda t, y, c, **_: -c * np.linalg.norm(y[3:]) ** 3,
    "driven_pendulum": lambda t, y, omega0, damping, amplitude, frequency: (
        -damping * y[1] ** 2 + amplitude * y[1] * np.cos(frequency * t)),
    "double_pendulum": lambda t, y, **_: 0.0,
    "duffing": lambda t, y, delta, gamma, omega, **_: (
        -delta * y[1] ** 2 + gamma * y[1] * np.cos(omega * t)),
    "van_der_pol": lambda t, y, mu: mu * (1 - y[0] ** 2) * y[1] ** 2,
    "henon_heiles": lambda t, y, coupling: 0.0,
    "three_body": lambda t, y, **_: 0.0,
}  # fmt: skip

each_system = pytest.mark.parametrize("name", RIGHT_HAND_SIDES)
each_energy = pytest.mark.parametrize("name", ENERGIES)


def cases(name, count=40):
    """Systems with other parameters than their own, times, and states (dim,) of order 1."""
    generator = np.random.default_rng(len(name))
    for _ in range(count):
        params = {
            key: np.where(np.equal(value, 0), 1.0, value)
            * generator.uniform(0.5, 1.5, np.shape(value))
            for key, value in pi.systems[name].params.items()
        }
        if name == "acceleration_profile":
            params["times"] = np.sort(params["times"])
        system = pi.systems[name](**params)
        yield system, generator.uniform(0, 10), generator.normal(size=system.dim)


def size(values):
    """What rounding errors are measured in: the largest component, at least 1."""
    return max(1.0, np.max(np.abs(values)))


# ---- the derivative ------------------------------------------------------------------------------


def rounding(name, system, y):
    """Twenty roundings of the largest term; of two bodies close by, of the distance's cube."""
    if name == "three_body":
        x = y[:6].reshape(3, 2)
        return 40 * EPSILON / min(np.linalg.norm(x[i] - x[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    if name == "double_pendulum":  # the solver's condition: the determinant is at least m1 / m
        return 200 * EPSILON * (1 + system.params["m2"] / system.params["m1"])
    return 20 * EPSILON


@each_system
def test_the_derivative_is_the_formula(name):
    for system, t, y in cases(name):
        expected = np.array(RIGHT_HAND_SIDES[name](t, y, **system.params))
        # Duffing and drag: terms of 3^3 may cancel.
        tolerance = rounding(name, system, y) * max(size(expected), size(y) ** 3)
        assert_allclose(system.rhs(t, y), expected, rtol=0, atol=tolerance)


@each_system
def test_each_parameter_matters(name):
    """The comparison above would notice any coefficient that is wrong in the ninth digit."""
    for key, default in pi.systems[name].params.items():
        for element in np.ndindex(np.shape(default)):
            if key == "times":
                continue  # a place, not a factor: test_array_parameters has the knots
            noticed = 0
            for system, t, y in cases(name):
                expected = np.array(RIGHT_HAND_SIDES[name](t, y, **system.params))
                wrong = np.array(system.params[key])
                wrong[element] *= 1 + 1e-9
                tolerance = rounding(name, system, y) * max(size(expected), size(y) ** 3)
                found = system(**{key: wrong}).rhs(t, y)
                noticed += np.max(np.abs(found - expected)) > tolerance
            assert noticed > 0, (key, element)


@each_system
def test_the_acceleration_is_the_second_half_of_the_derivative(name):
    for system, t, y in cases(name, 5):
        if system.dof == 0:
            assert system.acceleration(t, y, y) is None
        else:
            assert_array_equal(
                system.acceleration(t, *np.split(y, 2)), system.rhs(t, y)[system.dof :]
            )


@each_system
def test_the_velocity_matters_where_it_is_said_to(name):
    for system, t, y in cases(name, 5):
        if system.dof == 0:
            continue
        x, v = np.split(y, 2)
        depends = np.any(system.acceleration(t, x, v) != system.acceleration(t, x, 2 * v))
        assert depends == system.velocity_dependent


# ---- energy --------------------------------------------------------------------------------------


@each_energy
def test_the_energy_is_the_formula(name):
    for system, t, y in cases(name):
        expected = ENERGIES[name](y, **system.params)
        # Roundings of the terms, which are up to 100 here and may cancel.
        assert_allclose(system.energy(y, t), expected, rtol=1e-13, atol=1e-13)


@each_energy
def test_the_energy_changes_by_what_dampers_take_and_drives_give(name):
    h = 1e-3
    for system, t, y in cases(name):
        f = system.rhs(t, y)
        if name == "three_body" and size(f) > 30:
            continue  # too close for the difference quotient
        step = h / size(f)
        e = [system.energy(y + i * step * f) for i in (-3, -2, -1, 1, 2, 3)]
        rate = (e[5] - e[0] - 9 * (e[4] - e[1]) + 45 * (e[3] - e[2])) / (60 * step)
        expected = POWERS[name](t, y, **system.params)
        # Rounding: eps E / step. The quotient's own error is of order h^6.
        tolerance = 20 * EPSILON * size([system.energy(y), y @ y]) / step
        assert_allclose(rate, expected, rtol=1e-9, atol=tolerance)


def test_first_order_systems_have_no_energy():
    for name in set(RIGHT_HAND_SIDES) - set(ENERGIES):
        assert pi.systems[name].energy(pi.systems[name].initial) is None


@pytest.mark.parametrize("name", ["double_pendulum", "driven_pendulum"])
def test_the_energy_near_rest_keeps_its_digits(name):
    system = pi.systems[name]
    y = 1e-9 * np.arange(1.0, system.dim + 1)
    if name == "double_pendulum":  # 1 - cos(theta) = theta^2 / 2 to 1e-18
        u = np.cumsum(y[2:])
        expected = (u[0] ** 2 + u[1] ** 2 + 9.81 * (2 * y[0] ** 2 + y[1] ** 2)) / 2
    else:
        expected = (y[0] ** 2 + y[1] ** 2) / 2
    assert_allclose(system.energy(y), expected, rtol=10 * EPSILON)


# ---- the Jacobian --------------------------------------------------------------------------------


@each_system
def test_the_jacobian_is_the_derivative_of_the_derivative(name):
    h = 1e-3
    for system, t, y in cases(name, 20):
        if name == "three_body" and size(system.rhs(t, y)) > 30:
            continue
        steps = h * np.eye(system.dim)
        f = [system.rhs(t, y + i * steps) for i in (-3, -2, -1, 1, 2, 3)]  # row k: a step along k
        quotient = (f[5] - f[0] - 9 * (f[4] - f[1]) + 45 * (f[3] - f[2])) / (60 * h)
        jacobian = system.jacobian(t, y)
        # Sixth differences: h^6 times the seventh derivative, which the closest bodies and the
        # most extended springs raise to 1e8; rounding: 1e-12.
        assert_allclose(jacobian, quotient.T, rtol=0, atol=1e-9 * size(jacobian))


def test_the_jacobian_at_rest_has_no_division_by_zero():
    rest = np.zeros(6)
    drag = pi.systems.projectile_drag.jacobian(0.0, rest)
    assert_array_equal(drag, np.eye(6, k=3))
    hooke = pi.systems.spring_3d(rest_length=0.0, b=2.0).jacobian(0.0, rest)
    assert_array_equal(
        hooke, np.eye(6, k=3) - 15 * np.eye(6, k=-3) - 2 * np.diag([0, 0, 0, 1, 1, 1])
    )


def test_a_mass_at_the_anchor_feels_gravity_alone():
    system = pi.systems.spring_3d(gravity=(1.0, 2.0, 3.0))
    assert_array_equal(system.rhs(0.0, np.zeros(6)), [0, 0, 0, 1, 2, 3])


@pytest.mark.parametrize("system", [pi.systems.kepler, pi.systems.n_body(n=2)])
def test_an_attraction_beyond_the_range_of_floats_is_nan_and_not_nothing(system):
    size = np.float32([5e-14, 1e-12, 1e12, 7.1e12])  # their cubes in floats: 1.2e-38 to 3.4e38
    x = np.zeros((4, system.dof), np.float32)
    x[:, -system.dof // 2] = size
    found = system.acceleration(0.0, x, 0 * x)
    assert np.isnan(found[[0, 3]]).any(axis=-1).all()
    largest = np.abs(found[[1, 2]]).max(axis=-1)
    np.testing.assert_allclose(largest, 1 / size[[1, 2]].astype(float) ** 2, rtol=1e-6)
