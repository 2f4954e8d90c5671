"""The closed forms to the last digits, against mpmath."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_exact import EPSILON, load


@pytest.mark.parametrize("b", [0, 0.1, 2, 4 - 1e-6, 4 - 1e-12, 4, 4 + 1e-12, 4 + 1e-6, 5, 50, -3])
def test_spring_agrees_with_the_matrix_exponential(b):
    y0, t = (1.0, 0.5), np.array([-1.5, 0.01, 0.3, 1.0, 3.0, 10.0])
    x, v = load("spring").exact(t, y0, 0.0, k=4, b=b, m=1)
    with mpmath.workdps(60):
        matrix = mpmath.matrix([[0, 1], [-4, -mpmath.mpf(b)]])
        oracle = [
            mpmath.expm(matrix * float(time), method="taylor") * mpmath.matrix(y0) for time in t
        ]
    size = np.array([float(mpmath.norm(y)) for y in oracle])
    # Rounding of the exponent, 75 at most, and near critical damping of its square.
    assert_allclose((x - np.array([float(y[0]) for y in oracle])) / size, 0, atol=2e-14)
    assert_allclose((v - np.array([float(y[1]) for y in oracle])) / size, 0, atol=2e-14)


@pytest.mark.parametrize(
    ("y0", "g"),
    [
        ((1, 0), 2),
        ((3.1415, 0), 1),
        ((0.3, 1.97754), 1),
        ((0.3, 1.97755), 1),
        ((2, 1), -1),
    ],
)
def test_pendulum_agrees_with_a_taylor_series_of_20_digits(y0, g):
    t = np.array([0.5, 2.0, 3.5])
    y = load("pendulum").exact(t, y0, 0.0, g=g, length=1)
    with mpmath.workdps(20):
        solution = mpmath.odefun(
            lambda t, y: [y[1], -mpmath.mpf(g) * mpmath.sin(y[0])], 0, [mpmath.mpf(c) for c in y0]
        )
        oracle = np.array([[float(c) for c in solution(time)] for time in t]).T
    # 1.9775 is within 1e-5 of the separatrix, which amplifies roundings by exp(3.5) = 33.
    assert_allclose(y, oracle, rtol=2e-14, atol=1e-14)


def test_elliptic_functions_agree_with_mpmath():
    elliptic = load("_elliptic")
    generator = np.random.default_rng(2)
    with mpmath.workdps(60):  # m = 1 - m1 must keep the digits of m1
        for m1 in 10.0 ** np.append(generator.uniform(-20, 0, 25), 0):
            m = 1 - mpmath.mpf(m1)
            K = elliptic.quarter_period(m1)
            u, amplitude = generator.uniform(-0.95, 0.95) * K, generator.uniform(-1.5, 1.5)
            oracle = [float(mpmath.ellipfun(f, mpmath.mpf(u), m=m)) for f in ("sn", "cn", "dn")]
            # A rounding of u <= 25 is all that cn and dn feel: their logarithms have slope 1 or,
            # within 0.05 K of a zero, up to 13.
            assert_allclose(elliptic.jacobi(u, m1), oracle, rtol=1e-13)
            assert_allclose(K, float(mpmath.ellipk(m)), rtol=8 * EPSILON)
            angle = mpmath.pi / 2 * mpmath.ellipf(mpmath.mpf(amplitude), m) / mpmath.ellipk(m)
            found = elliptic.uniform_direction(np.sin(amplitude), np.cos(amplitude), m1)
            assert_allclose(found, float(angle), atol=1e-14, rtol=0)


def test_the_pendulums_period_agrees_with_mpmath():
    pendulum = load("pendulum")
    theta = np.array([1e-9, 0.5, 2, 3, 3.14])
    with mpmath.workdps(20):
        oracle = [4 * mpmath.ellipk(mpmath.sin(mpmath.mpf(angle) / 2) ** 2) for angle in theta]
    period = pendulum.period((theta, np.zeros(5)), g=1, length=1)
    assert_allclose(period, np.array(oracle, float), rtol=8 * EPSILON)
    turn = pendulum.period((0, 8), g=1, length=1)  # 4 / omega K(4 omega0^2 / omega^2)
    assert_allclose(turn, float(mpmath.ellipk(1 / mpmath.mpf(16)) / 2), rtol=8 * EPSILON)


@pytest.mark.parametrize(
    ("speed", "direction"),
    [
        (1, np.pi / 2),
        (0.3, 1.4),
        (1e-3, np.pi / 2),
        (1.4142, 0.2),
        (np.sqrt(2), 2.5),
        (1.4143, 1),
        (5, -2),
    ],
)
@pytest.mark.parametrize("t", [-300, -0.01, 4, 1e4])
def test_kepler_agrees_with_universal_variables_of_50_digits(speed, direction, t):
    y0 = (1.0, 0.0, speed * np.cos(direction), speed * np.sin(direction))
    state = load("kepler").exact(float(t), y0, 0.0, mu=1)
    oracle, amplification = kepler_oracle(y0, t)
    # Each rounding of the state or the time, amplified as by the exact solution.
    assert np.all(np.abs(state - oracle) < 8 * EPSILON * amplification)


def kepler_oracle(y0, t):
    """State at t for mu = 1, and how much relative changes of y0 and t change it.

    Here s counts from the initial state (Bate, Mueller & White 1971, section 4.4).
    """

    def move(x, y, vx, vy, t):
        r, eta, beta = mpmath.hypot(x, y), x * vx + y * vy, 2 / mpmath.hypot(x, y) - vx**2 - vy**2
        root = mpmath.sqrt(beta)  # complex on hyperbolas

        def G(s):
            g0, g1 = mpmath.re(mpmath.cos(root * s)), mpmath.re(mpmath.sin(root * s) / root)
            return g0, g1, (1 - g0) / beta, (s - g1) / beta

        def excess(s):
            _, g1, g2, g3 = G(s)
            return r * g1 + eta * g2 + g3 - t

        low, high = mpmath.mpf(-1), mpmath.mpf(1)
        while excess(low) > 0:
            low *= 2
        while excess(high) < 0:
            high *= 2
        for _ in range(170):
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        g0, g1, g2, g3 = G(low)
        distance = r * g0 + eta * g1 + g2
        f, g, df, dg = 1 - g2 / r, t - g3, -g1 / (r * distance), 1 - g2 / distance
        return mpmath.matrix([f * x + g * vx, f * y + g * vy, df * x + dg * vx, df * y + dg * vy])

    with mpmath.workdps(50):
        data = [mpmath.mpf(float(value)) for value in (*y0, t)]
        state = move(*data)
        amplification = np.abs(np.array(state, float).ravel())
        for i in range(5):
            # The time is added to the one since the pericentre, at most 2.8 on these ellipses.
            change = 1e-10 * (max(abs(data[4]), 1) if i == 4 else mpmath.hypot(*data[i & 2 :][:2]))
            moved = move(*(value + (change if i == j else 0) for j, value in enumerate(data)))
            amplification += np.abs(np.array((moved - state) * 1e10, float).ravel())
    return np.array(state, float).ravel(), amplification


def test_logistic_growth_keeps_its_digits_far_beyond_the_capacity():
    (n,) = load("logistic").exact(-5e-12, (1e11,), 0.0, r=1, capacity=100)
    assert_allclose(n, 1e11 / (np.exp(5e-12) - 1e9 * np.expm1(5e-12)), rtol=8 * EPSILON)
