"""Known values of pendulums, nonlinear oscillators, drag and chaos."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import accurate
from scipy.optimize import brentq
from scipy.special import ellipk

import pyintegrate as pi

EPSILON = np.finfo(float).eps


# ---- drag ----------------------------------------------------------------------------------------


def test_a_stone_reaches_its_terminal_velocity():
    """v = v_t tanh(g t / v_t), z = -v_t^2 / g log cosh(g t / v_t), v_t = sqrt(m g / c)."""
    g, c, m = 9.81, 0.2, 1.5
    system, terminal = pi.systems.projectile_drag(g=g, c=c, m=m), np.sqrt(m * g / c)
    sol = accurate(system, np.zeros(6), 5.0, 5000, save=500)
    u = g * sol.t / terminal
    # Rounding of 5000 steps of a fall of 36 m.
    assert_allclose(sol["vz"], -terminal * np.tanh(u), rtol=0, atol=1e-12)
    assert_allclose(sol["z"], -(terminal**2) / g * np.log(np.cosh(u)), rtol=0, atol=1e-11)
    assert_array_equal(sol.y[:, [0, 1, 3, 4]], 0)
    assert_allclose(system.rhs(0.0, [0, 0, 0, 0, 0, -terminal])[5], 0, atol=10 * EPSILON * g)


def test_a_stone_thrown_up_slows_down_along_a_tangent():
    g, c, m, v0 = 9.81, 0.2, 1.5, 12.0
    terminal = np.sqrt(m * g / c)
    top = terminal / g * np.arctan(v0 / terminal)
    sol = accurate(pi.systems.projectile_drag(g=g, c=c, m=m), [0, 0, 0, 0, 0, v0], top, 2000)
    height = terminal**2 / (2 * g) * np.log1p((v0 / terminal) ** 2)
    assert_allclose(sol.final[[2, 5]], [height, 0], rtol=0, atol=1e-12)  # rounding of 2000 steps


def test_a_throw_follows_its_hodograph():
    """1 / u^2 + (c / m g) (s sqrt(1 + s^2) + asinh(s)) is constant, u horizontal speed, s slope.

    Jacob Bernoulli's problem, solved by Johann (1719), Acta Eruditorum.
    """
    g, c, m = 9.81, 0.1, 1.0
    sol = accurate(pi.systems.projectile_drag, None, 2.0, 2000, save=100)
    u, s = sol["vx"], sol["vz"] / sol["vx"]
    constant = 1 / u**2 + c / (m * g) * (s * np.sqrt(1 + s**2) + np.arcsinh(s))
    assert_allclose(constant, constant[0], rtol=1e-11)  # order 5: 1e-12
    assert np.ptp(1 / u**2) > constant[0]  # it is no trivial constant


def test_without_drag_the_parabola():
    free = accurate(pi.systems.projectile_drag(c=0.0), None, 2.0, 10).final
    exact = pi.systems.projectile.exact([2.0], pi.systems.projectile.initial)[0]
    assert_allclose(free, exact, rtol=0, atol=1e-13)  # rounding of ten steps of 20 m


# ---- pendulums -----------------------------------------------------------------------------------


def test_the_normal_modes_of_the_double_pendulum():
    """Equal masses and rods: omega^2 = (2 +- sqrt(2)) g / l. Landau, Lifshitz, section 23."""
    modes = np.sqrt((2 + np.sqrt(2) * np.array([-1, 1])) * 9.81)
    rest = pi.systems.double_pendulum.jacobian(0.0, np.zeros(4))
    assert_allclose(np.sort(np.linalg.eigvals(rest).imag)[2:], modes, rtol=1e-14)
    # Swinging together, theta2 = sqrt(2) theta1, it comes back after a period of the slow mode.
    y0 = 1e-7 * np.array([1, np.sqrt(2), 0, 0])
    sol = accurate(pi.systems.double_pendulum, y0, 2 * np.pi / modes[0], 2000)
    # The cube of the amplitude, 1e-21, is below the rounding of 2000 steps: 4e-13 times 1e-7.
    assert_allclose(sol.final, y0, rtol=0, atol=5e-19)


def test_a_double_pendulum_with_a_light_end_is_a_pendulum():
    system = pi.systems.double_pendulum(m2=1e-18, l1=2.0)
    sol = accurate(system, [2.0, 0.3, 0.5, 0.0], 3.0, 3000)
    exact = pi.systems.pendulum(length=2.0).exact([3.0], [2.0, 0.5])[0]
    assert_allclose(sol.final[[0, 2]], exact, rtol=0, atol=1e-12)  # order 5, and rounding


def test_a_locked_double_pendulum_hangs_at_rest_in_four_ways():
    for angles in [(0, 0), (0, np.pi), (np.pi, 0), (np.pi, np.pi)]:
        # The sine of pi is 1.2e-16 in the last place; times g and the inverse determinant, 2.
        slope = pi.systems.double_pendulum.rhs(0.0, [*angles, 0.0, 0.0])
        assert_allclose(slope, 0, atol=2 * 9.81 * 2 * 2 * EPSILON)


def test_the_energy_of_the_double_pendulum_stays():
    sol = accurate(pi.systems.double_pendulum, None, 5.0, 20_000, save=1000)
    assert_allclose(sol.energy_error(), 0, atol=1e-11)  # order 5 in a chaotic motion


def test_the_driven_pendulum_resonates():
    """Small swings settle at amplitude / sqrt((omega0^2 - f^2)^2 + (damping f)^2)."""
    drive, damping, frequency = 1e-6, 0.5, np.array([0.5, 1.0, 1.5])
    system = pi.systems.driven_pendulum(amplitude=drive, damping=damping, frequency=frequency)
    response = drive / (1 - frequency**2 + 1j * damping * frequency)  # theta = Re(r e^{i f t})
    y0 = np.stack([response.real, -frequency * response.imag], axis=-1)
    sol = accurate(system, y0, 20.0, 4000)
    turned = response * np.exp(20j * frequency)
    # The cube of the amplitude, 1e-17.
    assert_allclose(sol.final[:, 0], turned.real, rtol=0, atol=1e-16)
    assert_allclose(sol.final[:, 1], (1j * frequency * turned).real, rtol=0, atol=1e-16)


def test_an_undriven_pendulum_is_the_pendulum():
    system = pi.systems.driven_pendulum(omega0=2.0, damping=0.0, amplitude=0.0)
    sol = accurate(system, [2.5, 0.1], 5.0, 4000)
    exact = pi.systems.pendulum(g=4.0, length=1.0).exact([5.0], [2.5, 0.1])
    assert_allclose(sol.final, exact[0], rtol=0, atol=1e-12)  # order 5, and rounding


# ---- nonlinear oscillators -----------------------------------------------------------------------


def test_duffing_rests_in_its_wells():
    alpha, beta = -2.0, 0.5
    system = pi.systems.duffing(alpha=alpha, beta=beta, gamma=0.0)
    well = np.sqrt(-alpha / beta)
    for x, frequency2 in ((0.0, alpha), (well, -2 * alpha), (-well, -2 * alpha)):
        assert_array_equal(system.rhs(0.0, [x, 0.0]), 0)
        assert system.jacobian(0.0, [x, 0.0])[1, 0] == -frequency2
    # Damped, it ends in one of them: exp(-0.15 * 300) is 3e-20.
    sol = pi.integrate(system, [1.0, 3.0], dt=0.01, t_end=300.0, save="final")
    assert_allclose(np.abs(sol.final), [well, 0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 3.0])
def test_the_period_of_the_undamped_duffing_oscillator(amplitude):
    """T = 4 K(m) / w, w^2 = alpha + beta A^2, m = beta A^2 / (2 w^2): a cnoidal swing."""
    alpha, beta = 1.0, 0.7
    square = alpha + beta * amplitude**2
    period = 4 * ellipk(beta * amplitude**2 / (2 * square)) / np.sqrt(square)
    system = pi.systems.duffing(alpha=alpha, beta=beta, delta=0.0, gamma=0.0)
    sol = accurate(system, [amplitude, 0.0], period, 4000)
    assert_allclose(sol.final, [amplitude, 0], rtol=0, atol=2e-12 * amplitude)  # order 5


def test_the_cycle_of_van_der_pol():
    """mu = 1: period 6.6632868593, amplitude 2.0086 (Andersen, Geer 1982)."""
    h = 0.0005
    sol = pi.integrate(pi.systems.van_der_pol, dt=h, t_end=100.0, method="tsitouras54")
    x, v = sol["x"], sol["v"]
    tops = np.flatnonzero((v[:-1] > 0) & (v[1:] <= 0))[-3:]  # transients: exp(-100)
    times = [brentq(lambda t: sol.at(t)[1], sol.t[i], sol.t[i + 1], xtol=1e-14) for i in tops]
    # Hermite's cubic: h^4 |v''''| / 384.
    assert_allclose(np.diff(times), 6.6632868593, rtol=0, atol=1e-10)
    assert f"{x.max():.4f}" == "2.0086"


def test_the_phase_of_van_der_pol_grows_by_a_turn_a_period():
    sol = pi.integrate(pi.systems.van_der_pol(mu=[0.1, 1.0, 5.0]), dt=0.002, t_end=60.0)
    phase = np.unwrap(pi.systems.van_der_pol.phase(sol.y), axis=0)[15_000:]
    assert np.all(np.diff(phase, axis=0) > 0)
    # Small mu: omega = 1 - mu^2 / 16; a turn each 6.663 at mu = 1, each 11.612 at mu = 5.
    turns = (phase[-1] - phase[0]) / (2 * np.pi)
    assert_allclose(turns, 30 / np.array([6.287, 6.6633, 11.612]), atol=0.3)


def test_henon_and_heiles_energies():
    system = pi.systems.henon_heiles
    assert_allclose(system.energy(system.initial), 1 / 8, rtol=2 * EPSILON)
    # The three saddles of the triangle, at the energy 1 / (6 coupling^2).
    angle = np.pi / 2 + 2 * np.pi * np.arange(3) / 3
    for coupling in (1.0, 0.5):
        saddles = np.zeros((3, 4))
        saddles[:, 0], saddles[:, 1] = np.cos(angle) / coupling, np.sin(angle) / coupling
        energy = system(coupling=coupling).energy(saddles)
        assert_allclose(energy, 1 / (6 * coupling**2), rtol=4 * EPSILON)
        assert_allclose(system(coupling=coupling).rhs(0.0, saddles), 0, atol=20 * EPSILON)
    sol = accurate(system, None, 100.0, 20_000, save=1000)
    assert_allclose(sol.energy_error(), 0, atol=1e-11)  # order 5
    # It stays in the triangle of energy 1/6.
    assert np.max(np.linalg.norm(sol.x, axis=-1)) < 1


def test_the_fixed_points_of_rossler():
    a, b, c = 0.2, 0.2, 5.7
    for sign in (-1, 1):
        s = (c + sign * np.sqrt(c**2 - 4 * a * b)) / (2 * a)
        slope = pi.systems.rossler.rhs(0.0, [a * s, -s, s])
        assert_allclose(slope, 0, atol=20 * EPSILON * c * max(s, 1))  # roundings of c s


def test_rossler_turns_at_its_mean_frequency():
    """About 1.07 turns in 2 pi at a = 0.2, b = 0.2, c = 5.7, and never backwards."""
    sol = pi.integrate(pi.systems.rossler, dt=0.01, t_end=500.0)
    phase = np.unwrap(pi.systems.rossler.phase(sol.y))
    assert np.all(np.diff(phase) > 0)
    assert_allclose((phase[-1] - phase[0]) / 500, 1.07, atol=0.005)
