"""Known values of known motions: periods, cycles, equilibria and closed forms of the literature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import accurate
from scipy.integrate import solve_ivp

import pyintegrate as pi

EPSILON = np.finfo(float).eps


# ---- three bodies --------------------------------------------------------------------------------

# Chenciner, Montgomery (2000), Ann. Math. 152, 881: T = 6.32591398, to 8 digits after the point.
FIGURE_EIGHT_PERIOD = 6.325913982926212


def newton(t, y):
    x = y[:6].reshape(3, 2)
    d = x[[1, 2, 0]] - x  # from each to the next
    pull = d / np.sum(d**2, axis=1, keepdims=True) ** 1.5
    return np.concatenate([y[6:], np.ravel(pull - pull[[2, 0, 1]])])


def test_the_figure_eight_closes():
    y0 = pi.systems.three_body.initial
    assert f"{FIGURE_EIGHT_PERIOD:.8f}" == "6.32591398"
    oracle = solve_ivp(
        newton, (0, FIGURE_EIGHT_PERIOD), y0, method="DOP853", rtol=1e-13, atol=1e-15
    )
    # The oracle's own error over the period, of the order of rtol.
    assert_allclose(oracle.y[:, -1], y0, rtol=0, atol=5e-12)
    sol = accurate(pi.systems.three_body, y0, FIGURE_EIGHT_PERIOD, 4000)
    # Order 5 leaves 1.5e-14 of 1.2e-12 at half as many steps; the rest is rounding.
    assert_allclose(sol.final, y0, rtol=0, atol=2e-13)


def test_the_bodies_of_the_figure_eight_follow_each_other():
    sol = accurate(pi.systems.three_body, None, FIGURE_EIGHT_PERIOD, 3000, save=1000)
    start, third = (sol.y[i].reshape(2, 3, 2) for i in (0, 1))
    # After a third of the period 1 is where 3 was, 3 where 2 was: the orbit in its order.
    order = [int(np.argmin(np.linalg.norm(start[0] - x, axis=1))) for x in third[0]]
    assert sorted(order) == [0, 1, 2]
    assert order != [0, 1, 2]
    assert_allclose(third, start[:, order], rtol=0, atol=1e-12)  # as above


def test_a_start_that_is_wrong_in_the_tenth_digit_does_not_close():
    y0 = pi.systems.three_body.initial
    y0[6] += 1e-10
    sol = accurate(pi.systems.three_body, y0, FIGURE_EIGHT_PERIOD, 2000)
    assert np.max(np.abs(sol.final - y0)) > 1e-10


def test_a_triangle_of_any_masses_turns_rigidly():
    """Lagrange (1772): side s, angular velocity sqrt(g M / s^3) about the centre of mass."""
    g, masses, side = 2.0, np.array([1.0, 2.0, 3.0]), 1.5
    angle = 2 * np.pi * np.arange(3) / 3
    x = side / np.sqrt(3) * np.array([np.cos(angle), np.sin(angle)]).T
    x -= masses @ x / masses.sum()
    omega = np.sqrt(g * masses.sum() / side**3)
    v = omega * x[:, ::-1] * [-1, 1]
    system, third = pi.systems.three_body(g=g, masses=masses), 2 * np.pi / omega / 3
    sol = accurate(system, np.ravel([x, v]), third, 2000)
    cos, sin = np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)
    turned = np.ravel([x, v]).reshape(6, 2) @ [[cos, sin], [-sin, cos]]
    # Rounding of 2000 steps, which the unstable triangle amplifies; the order leaves less.
    assert_allclose(sol.final, np.ravel(turned), rtol=0, atol=2e-12)


def test_three_bodies_keep_their_momenta():
    generator = np.random.default_rng(5)
    system = pi.systems.three_body(masses=(1.0, 2.0, 3.0))
    y0 = system.initial + 0.02 * generator.normal(size=(20, 12))
    sol = accurate(system, y0, 0.3, 1000, save=100)
    for name, values in system.invariants(sol.y).items():
        # The pulls cancel in pairs: no error of the method but, in the angular momentum, one of
        # order 5; rounding of 1000 steps of terms of order 10.
        tolerance = 1e-10 if name == "angular_momentum" else 1e-12
        assert_allclose(values - values[0], 0, atol=tolerance, err_msg=name)
    x, v = (y0[:, half].reshape(20, 3, 2) for half in (slice(6), slice(6, None)))
    m = np.array([1.0, 2.0, 3.0])
    expected = {
        "momentum_x": v[..., 0] @ m,
        "momentum_y": v[..., 1] @ m,
        "angular_momentum": (x[..., 0] * v[..., 1] - x[..., 1] * v[..., 0]) @ m,
    }
    found = system.invariants(y0)
    assert found.keys() == expected.keys()
    for name in expected:
        assert_allclose(found[name], expected[name], rtol=0, atol=50 * EPSILON)


# ---- springs -------------------------------------------------------------------------------------


def test_a_spring_without_rest_length_draws_an_ellipse():
    system, omega = pi.systems.spring_3d(k=8.0, m=2.0, rest_length=0.0), 2.0
    x0, v0 = np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0, -1.0])
    sol = accurate(system, [*x0, *v0], 3.0, 3000)
    expected = x0 * np.cos(3 * omega) + v0 * np.sin(3 * omega) / omega
    assert_allclose(sol.x[0], expected, rtol=0, atol=2e-13)  # rounding of 3000 steps


def test_a_mass_hangs_at_rest_below_its_anchor():
    system = pi.systems.spring_3d(k=15.0, m=2.0, rest_length=1.0, gravity=(0.0, 0.0, -9.81))
    y = np.array([0, 0, -(1 + 2 * 9.81 / 15), 0, 0, 0])
    assert_allclose(system.rhs(0.0, y), 0, atol=10 * EPSILON)
    # Up and down it swings at sqrt(k / m), sideways as a pendulum: sqrt(g / length).
    frequencies = np.sort(np.linalg.eigvals(system.jacobian(0.0, y)).imag)[-3:]
    sideways = np.sqrt(9.81 / (1 + 2 * 9.81 / 15))
    assert_allclose(frequencies, [sideways, sideways, np.sqrt(7.5)], rtol=1e-12)


def test_a_mass_on_a_spring_can_circle():
    radius, system = 1.6, pi.systems.spring_3d  # m v^2 / r = k (r - rest_length)
    speed = np.sqrt(15 * 0.6 * radius)
    sol = accurate(system, [radius, 0, 0, 0, speed, 0], 2 * np.pi * radius / speed, 1000, save=1)
    assert_allclose(np.linalg.norm(sol.x, axis=-1), radius, rtol=1e-12)  # order 5: 2e-13
    assert_allclose(sol.final, sol.initial, rtol=0, atol=1e-11)
    momentum = system.invariants(sol.y)
    assert_allclose(momentum["angular_momentum_z"], radius * speed, rtol=1e-12)
    assert_array_equal(momentum["angular_momentum_x"], 0)
    assert_array_equal(momentum["angular_momentum_y"], 0)


def test_angular_momentum_about_the_anchor_decays_with_damping():
    system = pi.systems.spring_3d(b=0.5, m=2.0)  # m r x v: its rate of change is -b / m times it
    y0 = [1.0, 0.2, -0.3, 0.4, 1.0, -0.5]
    sol = accurate(system, y0, 2.0, 2000)
    for name, value in system.invariants(sol.final).items():
        expected = system.invariants(np.array(y0))[name] * np.exp(-0.5)
        assert_allclose(value, expected, rtol=1e-11, err_msg=name)
    np.testing.assert_allclose(
        list(system.invariants(np.array(y0)).values()), 2 * np.cross(y0[:3], y0[3:]), rtol=1e-14
    )


MOVERS = [m for m in pi.methods if pi.methods[m].requires in ("any", "separable")]


@pytest.mark.parametrize("method", MOVERS)
def test_an_inverse_mass_of_zero_is_immovable(method):
    system = pi.systems.momentum_spring(b=0.3, inverse_mass=0.0)
    sol = pi.integrate(system, [2.0, 5.0], dt=0.1, n_steps=100, method=method)
    assert_array_equal(sol["x"], 2.0)
    # The momentum takes the constant force; rounding of 100 steps of sums of order 300.
    assert_allclose(sol["p"], 5 - 15 * 2 * sol.t, rtol=0, atol=100 * 300 * EPSILON)


@pytest.mark.parametrize("method", MOVERS)
def test_the_momentum_form_is_the_spring(method):
    y0, options = np.array([1.0, -0.5]), {"dt": 0.01, "n_steps": 200, "method": method}
    momentum = pi.integrate(
        pi.systems.momentum_spring(k=3.0, b=0.4, inverse_mass=0.5), y0 * [1, 2], **options
    )
    velocity = pi.integrate(pi.systems.spring(k=3.0, b=0.4, m=2.0), y0, **options)
    assert_allclose(momentum.y / [1, 2], velocity.y, rtol=0, atol=200 * EPSILON)  # rounding a step
    assert_allclose(momentum.energy(), velocity.energy(), rtol=1e-13)


def test_the_momentum_form_without_damping_is_symplectic():
    sol = pi.integrate(
        pi.systems.momentum_spring, dt=0.1, n_steps=100_000, method="semi_implicit_euler", save=10
    )
    # Semi-implicit Euler conserves x^2 + p^2 / k - h x p: here |h omega| = 0.387, so that the
    # energy swings by h omega / (2 - h omega) = 0.24 for ever.
    first, last = (np.max(np.abs(part)) for part in np.split(sol.energy_error()[1:], 2))
    assert 0.2 < first < 0.2403
    assert_allclose(last, first, rtol=1e-3)


# ---- exact solutions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "y0"),
    [
        ("momentum_spring", {"k": 15.0, "b": 0.4, "inverse_mass": [0.0, 0.5, 2.0]}, [1.0, 2.0]),
        ("logistic", {"r": [-1.0, 0.5, 2.0], "capacity": 10.0}, [3.0]),
        ("acceleration_profile", {}, [1.0, 2.0]),
    ],
)
def test_the_exact_solution_solves_the_equations(name, params, y0):
    system = pi.systems[name](**params)
    sol = accurate(system, y0, 10.0, 4000, save=400)
    # Order 5, dt = 0.0025. A stage on a knot feels the force beyond it: the profile is as good as
    # one step in the four knots, dt * 2.
    tolerance = 4 * 0.0025 * 2 * 10 if name == "acceleration_profile" else 1e-11
    assert_allclose(sol.error(), 0, atol=tolerance)


def test_rest_accelerate_coast_brake_rest():
    sol = pi.integrate(
        pi.systems.acceleration_profile, dt=0.125, t_end=10.0, method="semi_implicit_euler"
    )
    # A kick at t_n takes a(t_n), for the step that follows: velocities are exact.
    assert_array_equal(sol.v, sol.exact()[:, 1])
    assert sol.v[[0, 16, 32, 48, 64, 80]].tolist() == [0, 0, 4, 4, 0, 0]
    exact = sol.exact()[:, 0]
    assert exact[[0, 16, 32, 48, 64, 80]].tolist() == [0, 0, 4, 12, 16, 16]
    # Semi-implicit Euler is ahead by h v / 2.
    assert_array_equal(sol.x, exact + 0.125 * sol.v / 2)


def test_populations_rest_where_they_should():
    system = pi.systems.logistic(r=2.0, capacity=64.0)
    assert_array_equal(system.rhs(0.0, [[0.0], [64.0]]), 0)
    endless = pi.systems.logistic(r=2.0, capacity=np.inf)
    assert_array_equal(endless.rhs(0.0, [3.0]), 6.0)


RESTS = {
    "oscillator": [0.0, 0.0], "spring": [0.0, 0.0], "momentum_spring": [0.0, 0.0],
    "van_der_pol": [0.0, 0.0], "pendulum": [0.0, 0.0], "lotka_volterra": [3.0, 1.5],
}  # fmt: skip


@pytest.mark.parametrize("name", RESTS)
def test_a_motion_at_rest_has_no_phase(name):
    system, rest = pi.systems[name], np.array(RESTS[name])
    assert np.all(system.rhs(0.0, rest) == 0)
    near = rest + [1e-3, 0.0]
    assert np.isnan(system.phase([rest, near])).tolist() == [True, False]
    exact = system.exact_phase([0.0, 1.0], [rest, near])
    assert exact is None or np.isnan(exact).tolist() == [[True, False]] * 2
    sol = pi.integrate(
        system, [rest, near], dt=0.01, n_steps=5, watch={"angle": pi.watch.last("phase")}
    )
    assert np.isnan(sol.watched["angle"]).tolist() == [True, False]
