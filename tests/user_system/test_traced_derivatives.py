"""Derivatives of traced functions are those of mathematics, as mpmath finds with 40 digits."""

import numpy as np
import pytest

import pyintegrate as pi

mpmath = pytest.importorskip("mpmath")
from mpmath import mp, mpf  # noqa: E402

# NumPy's function of two numbers, and mpmath's; both arguments lie in 0.2 .. 0.8.
FUNCTIONS = {
    "sums": (lambda a, b: 3 * a - b / 2 + 1, lambda a, b: 3 * a - b / 2 + 1),
    "products": (lambda a, b: -a * b * b, lambda a, b: -a * b * b),
    "quotients": (lambda a, b: a / b - b / (1 + a), lambda a, b: a / b - b / (1 + a)),
    "sqrt": (lambda a, b: np.sqrt(a + 2 * b), lambda a, b: mp.sqrt(a + 2 * b)),
    "cbrt": (lambda a, b: np.cbrt(a * b), lambda a, b: mp.cbrt(a * b)),
    "exp": (lambda a, b: np.exp(a * b) + np.expm1(b), lambda a, b: mp.exp(a * b) + mp.expm1(b)),
    "log": (lambda a, b: np.log(a) * np.log1p(b), lambda a, b: mp.log(a) * mp.log1p(b)),
    "log2": (lambda a, b: np.log2(a) * np.log10(b), lambda a, b: mp.log(a, 2) * mp.log10(b)),
    "sin": (lambda a, b: np.sin(a * b) * np.cos(b), lambda a, b: mp.sin(a * b) * mp.cos(b)),
    "tan": (lambda a, b: np.tan(a + b), lambda a, b: mp.tan(a + b)),
    "arcsin": (lambda a, b: np.arcsin(a) * np.arccos(b), lambda a, b: mp.asin(a) * mp.acos(b)),
    "arctan": (lambda a, b: np.arctan(a / b), lambda a, b: mp.atan(a / b)),
    "arctan2": (lambda a, b: np.arctan2(a, b), lambda a, b: mp.atan2(a, b)),
    "sinh": (lambda a, b: np.sinh(a) * np.cosh(b), lambda a, b: mp.sinh(a) * mp.cosh(b)),
    "tanh": (lambda a, b: np.tanh(a - b), lambda a, b: mp.tanh(a - b)),
    "inverse hyperbolic": (
        lambda a, b: np.arcsinh(a) * np.arctanh(b) + np.arccosh(1 + a),
        lambda a, b: mp.asinh(a) * mp.atanh(b) + mp.acosh(1 + a),
    ),
    "power": (lambda a, b: a**b, lambda a, b: a**b),
    "fixed power": (lambda a, b: a**0.3 + b**7, lambda a, b: a ** mpf("0.3") + b**7),
    "negative powers": (lambda a, b: a**-3 + b**-1.5, lambda a, b: a**-3 + b ** mpf("-1.5")),
    "hypot": (lambda a, b: np.hypot(a, b), lambda a, b: mp.hypot(a, b)),
    "absolute": (lambda a, b: abs(a - b) * b, lambda a, b: abs(a - b) * b),
    "minimum": (lambda a, b: np.minimum(a, b) ** 2, lambda a, b: min(a, b) ** 2),
    "maximum": (lambda a, b: np.maximum(a, b * b), lambda a, b: max(a, b * b)),
    "where": (
        lambda a, b: np.where(a > b, a * b, b**3),
        lambda a, b: a * b if a > b else b**3,
    ),
    "copysign": (lambda a, b: np.copysign(a * a, a - b), lambda a, b: a * a * mp.sign(a - b)),
    "flat": (
        lambda a, b: a * np.floor(3 * b) + np.sign(a - b) * b,
        lambda a, b: a * mp.floor(3 * b) + mp.sign(a - b) * b,
    ),
    "rational": (
        lambda a, b: 1 / (1 + a * a / (b + np.sqrt(a))),
        lambda a, b: 1 / (1 + a * a / (b + mp.sqrt(a))),
    ),
}
every = pytest.mark.parametrize("name", FUNCTIONS)
POINTS = np.random.default_rng(3).uniform(0.2, 0.8, (12, 2))
# Of the largest derivative at the point: some ten operations, each good to 4 ulp, and what cancels.
TOLERANCE = 200 * np.finfo(float).eps


def close(got, expected, scale):
    return np.all(abs(got - np.array(expected, dtype=float)) <= TOLERANCE * scale)


def derivative(function, point, order):
    with mp.workdps(40):
        return float(mp.diff(function, tuple(map(mpf, point)), order))


@every
def test_jacobians(name):
    ours, theirs = FUNCTIONS[name]
    system = pi.rhs(dim=2, initial=[0.5, 0.4])(lambda t, y: (ours(y[0], y[1]), y[0]))
    got = system.jacobian(0.0, POINTS)
    for J, point in zip(got, POINTS, strict=True):
        expected = [derivative(theirs, point, order) for order in ((1, 0), (0, 1))]
        assert close(J[0], expected, 1 + np.max(np.abs(expected))), (J, expected)
        assert np.array_equal(J[1], [1.0, 0.0])


@every
def test_gradients_and_second_derivatives(name):
    """The force of a potential, backwards, and its Jacobian, forwards through it."""
    ours, theirs = FUNCTIONS[name]
    system = pi.potential(dof=2)(lambda x: ours(x[0], x[1]))
    force = system.acceleration(0.0, POINTS, np.zeros_like(POINTS))
    J = system.jacobian(0.0, np.concatenate([POINTS, np.zeros_like(POINTS)], axis=1))
    for a, j, point in zip(force, J, POINTS, strict=True):
        first = [-derivative(theirs, point, order) for order in ((1, 0), (0, 1))]
        second = [
            [-derivative(theirs, point, order) for order in row]
            for row in (((2, 0), (1, 1)), ((1, 1), (0, 2)))
        ]
        scale = 1 + np.max(np.abs(second))
        assert close(a, first, 1 + np.max(np.abs(first)))
        assert close(j[2:, :2], second, 10 * scale), (j, second)
        assert np.array_equal(j[:2], np.eye(4)[2:])
        assert not j[2:, 2:].any()


def test_jacobians_of_built_in_systems():
    """Written as plain functions, the equations of the catalogue have its Jacobians."""

    @pi.acceleration(dof=2, mu=1.0, initial=[0.7, 0.2, 0.1, 1.0])
    def kepler(t, x, v, mu):
        return -mu * x / (x @ x) ** 1.5

    @pi.rhs(dim=3, sigma=10.0, rho=28.0, beta=8 / 3)
    def lorenz(t, y, sigma, rho, beta):
        x, y, z = y
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    @pi.acceleration(mu=1.0)
    def van_der_pol(t, x, v, mu):
        return mu * (1 - x**2) * v - x

    generator = np.random.default_rng(0)
    for ours in (kepler, lorenz, van_der_pol):
        theirs = pi.systems[ours.name]
        y = generator.uniform(0.5, 1.5, (20, ours.dim))
        assert np.allclose(ours.jacobian(0.3, y), theirs.jacobian(0.3, y), rtol=1e-13, atol=1e-13)


def test_a_norm_has_its_derivative():
    system = pi.potential(dof=3)(lambda x: np.linalg.norm(x))
    x = np.array([[1.0, -2.0, 2.0]])
    assert np.allclose(system.acceleration(0.0, x, 0 * x), -x / 3, rtol=1e-15, atol=0)


@pytest.mark.parametrize("exponent", [0.5, 1.5, 2.5, 3.5])
@pytest.mark.parametrize(
    "push",
    [lambda x, e: np.maximum(x, 0) ** e, lambda x, e: np.where(x > 0, x**e, 0.0),
     lambda x, e: np.where(x > 0, x ** (e + 1) / np.sqrt(x * x), 0.0)],
)  # fmt: skip
def test_a_branch_that_is_not_taken_does_not_matter(push, exponent):
    """Contacts and tanks: the derivative of what is apart, or empty, is 0, not 0 times inf."""
    rate = pi.rhs(dim=1)(lambda t, y: (push(y[0], exponent),))
    contact = pi.potential(dof=1)(lambda x: push(x, exponent))
    own = pi.hamiltonian(dof=1)(lambda q, p: p * p / 2 + push(q, exponent))
    for x, slope in ((-1.0, 0.0), (4.0, exponent * 4 ** (exponent - 1))):
        assert np.isclose(rate.jacobian(0.0, [x])[0, 0], slope, rtol=1e-14, atol=0)
        assert np.isclose(contact.acceleration(0.0, [x], [0.0]), -slope, rtol=1e-14, atol=0)
        assert np.isclose(own.rhs(0.0, [x, 0.0])[1], -slope, rtol=1e-14, atol=0)
        assert np.isfinite(own.jacobian(0.0, [x, 0.0])).all()


@pytest.mark.parametrize(
    "size",
    [lambda v, c: c * np.sqrt(np.abs(v[0])), lambda v, c: np.abs(v[0]) ** c,
     lambda v, c: c * (v @ v) ** 0.25, lambda v, c: c * np.sqrt(np.linalg.norm(v)),
     lambda v, c: c * np.cbrt(v[0])],
)  # fmt: skip
def test_what_is_zero_with_a_root_in_its_product_has_a_derivative(size):
    drag = pi.rhs(dim=2, c=0.7)(lambda t, y, c: (-size(y, c) * y[0], y[1]))
    assert not drag.jacobian(0.0, [0.0, 0.0])[0].any()
    h = 1e-6
    two = [drag.rhs(0.0, [0.3 + d, 0.4]) for d in (-h, h)]
    # Differences: h^2 and some ulp over h.
    assert np.allclose(
        drag.jacobian(0.0, [0.3, 0.4])[:, 0], (two[1] - two[0]) / (2 * h), rtol=1e-8, atol=0
    )


def test_powers_at_zero():
    powers = pi.rhs(dim=4, initial=[1.0, -1.0, 1.0, 1.0])(
        lambda t, y: (y[0] ** 1.5, (-y[1]) ** 2.5, abs(y[2]) ** 3.5, abs(y[3]) ** 0.5 * y[3])
    )
    assert np.all(powers.jacobian(0.0, np.zeros(4)) == 0)
    root = pi.rhs(dim=2)(lambda t, y: (np.sqrt(2 * y[0]) * 2, np.sqrt(y[0] * y[1]) * y[0]))
    assert root.jacobian(0.0, [0.0, 1.0])[0, 0] == np.inf
    assert root.jacobian(0.0, [1.0, 0.0])[1, 1] == np.inf
    law = pi.rhs(dim=1, e=1.0)(lambda t, y, e: (y[0] ** e,))
    assert law(e=[0.0, 1.0, 2.0, 0.5]).jacobian(0.0, [0.0]).ravel().tolist() == [0, 1, 0, np.inf]
    by = pi.acceleration(k=1.0, e=2.0)(lambda t, x, v, k, e: -k * x**e)
    sol = pi.integrate(by, 0.0, 1.0, dt=0.01, n_steps=50, sensitivity="e")
    ends = [pi.integrate(by(e=2.0 + d), 0.0, 1.0, dt=0.01, n_steps=50).final for d in (-1e-5, 1e-5)]
    assert np.allclose(sol.sensitivity["e"][-1], (ends[1] - ends[0]) / 2e-5, rtol=1e-7, atol=0)


@pytest.mark.parametrize(
    "size",
    [np.linalg.norm, lambda v: np.sqrt(v @ v), lambda v: (v @ v) ** 0.5,
     lambda v: np.hypot(v[0], v[1])],
)  # fmt: skip
def test_drag_begins_at_rest(size):
    """|v| v has the derivative 0 there, as in the catalogue; 1 / |x| has none, nor a force."""
    fall = pi.acceleration(dof=2, g=9.81, c=0.1)(
        lambda t, x, v, g, c: np.array([0.0, -g]) - c * size(v) * v
    )
    J = fall.jacobian(0.0, [[0.0, 0, 0, 0], [0.0, 0, 0.6, 0.8]])
    assert not J[0, 2:].any()
    assert np.allclose(
        J[1, 2:, 2:], -0.1 * np.array([[1.36, 0.48], [0.48, 1.64]]), rtol=1e-14, atol=0
    )
    theirs = pi.systems.projectile_drag
    for method in ("gauss4", "radau_iia5", "rodas5p"):
        ours = pi.integrate(fall, dt=0.01, n_steps=50, method=method, x0=np.zeros(4))
        known = pi.integrate(theirs, dt=0.01, n_steps=50, method=method, x0=np.zeros(6))
        assert np.allclose(ours.final, known.final[[0, 2, 3, 5]], rtol=1e-12, atol=0)
    ours, known = (
        pi.integrate(one, np.zeros(one.dim), dt=0.01, n_steps=50, sensitivity="c").sensitivity["c"]
        for one in (fall, theirs)
    )
    assert np.allclose(ours[-1], known[-1][[0, 2, 3, 5]], rtol=1e-12, atol=0)
    for collides in (lambda x: -1 / size(x), lambda x: size(x) ** -3 + size(x)):
        assert np.isnan(pi.potential(dof=2)(collides).acceleration(0.0, [0.0, 0], [0.0, 0])).all()


@pytest.mark.parametrize("x", [0.0, 1e-12, 4e-9, 1e-6, 9e-4, 1e-3, 0.01])
def test_sinc_about_zero(x):
    """sum over n of (-1)^n (pi x)^2n / (2 n + 1)!: no difference of large numbers in its slopes."""
    with mp.workdps(40):
        terms = [(-1) ** n * mp.pi ** (2 * n) / mp.factorial(2 * n + 1) for n in range(20)]
        first = float(sum(2 * n * a * mpf(x) ** (2 * n - 1) for n, a in enumerate(terms) if n))
        second = [2 * n * (2 * n - 1) * a * mpf(x) ** (2 * n - 2) for n, a in enumerate(terms) if n]
    well = pi.potential(dof=1)(lambda x: np.sinc(x))
    # From 2^-10 on sine and cosine cancel: some ulp over x^2.
    assert np.isclose(well.acceleration(0.0, [x], [0.0]), -first, rtol=1e-9, atol=0)
    assert np.isclose(well.jacobian(0.0, [x, 0.0])[1, 0], -float(sum(second)), rtol=1e-9)


@pytest.mark.parametrize(
    ("function", "at", "slopes", "curvature"),
    [(lambda a, b: np.arcsinh(a) + b, (0.0, 0.0), (1, 1), 0),
     (lambda a, b: np.arctanh(a) + b, (-0.0, 0.0), (1, 1), 0),
     (np.copysign, (0.0, 1.0), (1, 0), 0), (np.logaddexp, (0.0, 0.0), (0.5, 0.5), 0.25),
     (np.logaddexp, (-0.0, 0.0), (0.5, 0.5), 0.25), (np.logaddexp, (3.0, 3.0), (0.5, 0.5), 0.25),
     (np.remainder, (0.0, 1.0), (1, 0), 0), (np.remainder, (6.0, 2.0), (1, -3), 0),
     (np.remainder, (-6.0, -2.0), (1, -3), 0)],
)  # fmt: skip
def test_smooth_functions_in_a_point_of_their_formula(function, at, slopes, curvature):
    """Where a formula has |x|, x = y or no rest, the function has a derivative all the same."""
    system = pi.potential(dof=2, initial=[0.3, 0.4, 0.0, 0.0])(lambda x: function(x[0], x[1]))
    x = np.array(at)
    assert np.allclose(system.acceleration(0.0, x, 0 * x), np.negative(slopes), rtol=1e-15, atol=0)
    J = system.jacobian(0.0, [*at, 0.0, 0.0])
    expected = -curvature * np.array([[1, -1], [-1, 1]])
    assert np.allclose(J[2:, :2], expected, rtol=1e-15, atol=0)


def test_hamiltonians_of_all_kinds():
    y = np.array([0.3, 0.2, -0.4, 0.7])

    @pi.hamiltonian(dof=2)
    def separable(q, p):
        return np.cosh(p[0]) + p[1] ** 4 / 4 + np.sin(q[0] * q[1])

    assert separable.structure == "separable"
    expected = [np.sinh(y[2]), y[3] ** 3, -y[1] * np.cos(y[0] * y[1]), -y[0] * np.cos(y[0] * y[1])]
    assert np.allclose(separable.rhs(0.0, y), expected, rtol=1e-14, atol=0)
    J = separable.jacobian(0.0, y)
    assert np.allclose([J[0, 2], J[1, 3]], [np.cosh(y[2]), 3 * y[3] ** 2], rtol=1e-14, atol=0)
    assert np.isclose(separable.energy(y), np.cosh(y[2]) + y[3] ** 4 / 4 + np.sin(y[0] * y[1]))

    @pi.hamiltonian(dof=1, m=2.0)
    def mixed(t, q, p, m):
        return p**2 / (2 * m) * (1 + q**2) + np.cos(t) * q

    assert mixed.structure == "first_order"
    assert mixed.state_names == ("q", "p")
    got = mixed(m=4.0).rhs(0.5, [0.3, 0.7])
    expected = [0.7 / 4 * (1 + 0.3**2), -(0.7**2) / 4 * 0.3 - np.cos(0.5)]
    assert np.allclose(got, expected, rtol=1e-14, atol=0)
    assert np.isclose(mixed.energy([0.3, 0.7], 0.5), 0.49 / 4 * 1.09 + np.cos(0.5) * 0.3)


def test_potentials_have_masses():
    def well(x, k, m):
        return k * (x @ x) / 2

    x, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    by_name = pi.potential(dof=2, mass="m", k=6.0, m=2.0)(well)
    assert np.allclose(by_name.acceleration(0.0, x, v), -3 * x)
    assert np.isclose(by_name.energy([*x, *v]), 2 * 25 / 2 + 6 * 5 / 2)
    each = pi.potential(dof=2, mass=[2.0, 3.0], k=6.0, m=0.0)(well)
    assert np.allclose(each.acceleration(0.0, x, v), [-3, -4])
    assert np.isclose(each.energy([*x, *v]), (2 * 9 + 3 * 16) / 2 + 15)
    array = pi.potential(dof=2, mass="m", k=6.0, m=[2.0, 3.0])(well)
    assert np.array_equal(array.acceleration(0.0, x, v), each.acceleration(0.0, x, v))
    assert pi.potential(dof=1, mass="m", k=1.0, m=2.0)(lambda x, k, m: k * x**4).acceleration(
        0.0, [1.0], [0.0]
    ) == [-2.0]
    with pytest.raises(ValueError, match="mass='k2'"):
        pi.potential(dof=2, mass="k2", k=6.0, m=1.0)(well)
    with pytest.raises(ValueError, match="mass must be positive"):
        pi.potential(dof=2, mass=-1.0, k=6.0, m=1.0)(well)


def test_single_precision_has_derivatives_too():
    system = pi.rhs(dim=2)(lambda t, y: (np.sin(y[0] * y[1]), y[0] ** 3))
    y = np.array([[0.5, 0.7]], np.float32)
    J = system.jacobian(0.0, y)
    assert J.dtype == np.float32
    exact = [[0.7 * np.cos(0.35), 0.5 * np.cos(0.35)], [0.75, 0]]
    assert np.allclose(J[0], exact, rtol=1e-6, atol=0)


@pytest.mark.parametrize("name", ["arcsinh", "arctanh", "arccosh"])
def test_smooth_functions_have_no_corners(name):
    """There is no warning that the force turns or jumps, nor a step to such a place."""
    system = pi.acceleration(lambda t, x, v: -getattr(np, name)(x / 2 + (name == "arccosh") * 3))
    assert not system.traced.program().has("invariants")
    system.tangent(1)
