"""The closed forms against SciPy's integrator and against what the motions conserve.

The modules are loaded from their files: nothing needs to be compiled.
"""

import importlib
import importlib.util
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from places import ROOT
from scipy.integrate import solve_ivp

EPSILON = np.finfo(float).eps
FOLDER = ROOT / "pyintegrate" / "system" / "exact"
PACKAGE = "exact_from_files"


def load(name):
    if PACKAGE not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            PACKAGE, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
        )
        sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[PACKAGE])
    return importlib.import_module(f"{PACKAGE}.{name}")


def kepler_rhs(y, mu):
    x, y, vx, vy = y
    r3 = (x * x + y * y) ** 1.5
    return vx, vy, -mu * x / r3, -mu * y / r3


RIGHT_HAND_SIDES = {
    "constant_force": lambda y, force, mass: (y[1], force / mass),
    "oscillator": lambda y, omega: (y[1], -(omega**2) * y[0]),
    "spring": lambda y, k, b, m: (y[1], -(k * y[0] + b * y[1]) / m),
    "momentum_spring": lambda y, k, b, inverse_mass: (
        inverse_mass * y[1],
        -k * y[0] - b * inverse_mass * y[1],
    ),
    "projectile": lambda y, g: (y[3], y[4], y[5], 0, 0, -g),
    "pendulum": lambda y, g, length: (y[1], -g / length * np.sin(y[0])),
    "kepler": kepler_rhs,
    "lotka_volterra": lambda y, a, b, c, d: (
        a * y[0] - b * y[0] * y[1],
        -c * y[1] + d * y[0] * y[1],
    ),
    "logistic": lambda y, r, capacity: (r * y[0] * (1 - y[0] / capacity),),
}

# Regime: system, parameters, initial state, earliest and latest time (the initial time is 0).
REGIMES = {
    "constant force": ("constant_force", {"force": 10, "mass": 4}, (1, -2), -3, 5),
    "oscillator": ("oscillator", {"omega": 3}, (1, -2), -5, 5),
    "oscillator without force": ("oscillator", {"omega": 0}, (1, -2), -5, 5),
    "spring, under-damped": ("spring", {"k": 15, "b": 0.1, "m": 2}, (1, -2), -5, 5),
    "spring, undamped": ("spring", {"k": 15, "b": 0, "m": 1}, (1, -2), -5, 5),
    "spring, critical": ("spring", {"k": 4, "b": 4, "m": 1}, (1, -2.5), -2, 5),
    "spring, just below critical": ("spring", {"k": 4, "b": 3.9999999, "m": 1}, (1, 2), -2, 5),
    "spring, just above critical": ("spring", {"k": 4, "b": 4.0000001, "m": 1}, (1, 2), -2, 5),
    "spring, over-damped": ("spring", {"k": 4, "b": 9, "m": 1}, (1, 2), -1, 5),
    "spring, driven": ("spring", {"k": 4, "b": -0.5, "m": 1}, (1, 2), -5, 5),
    "spring, over-driven": ("spring", {"k": 4, "b": -9, "m": 1}, (1, 2), -1, 1),
    "spring, repelling": ("spring", {"k": -4, "b": 1, "m": 1}, (1, 2), -2, 2),
    "spring, repelling undamped": ("spring", {"k": -4, "b": 0, "m": 1}, (1, 2), -2, 2),
    "spring, damping alone": ("spring", {"k": 0, "b": 1, "m": 1}, (1, 2), -2, 5),
    "spring, free": ("spring", {"k": 0, "b": 0, "m": 1}, (1, 2), -5, 5),
    "momentum spring": ("momentum_spring", {"k": 15, "b": 0.3, "inverse_mass": 0.5}, (1, 2), -3, 5),
    "momentum spring, over-damped": (
        "momentum_spring",
        {"k": 2, "b": 9, "inverse_mass": 0.5},
        (1, 2),
        -1,
        5,
    ),
    "momentum spring, immovable": (
        "momentum_spring",
        {"k": 15, "b": 0.3, "inverse_mass": 0},
        (1, 2),
        -3,
        5,
    ),
    "projectile": ("projectile", {"g": 9.81}, (1, 2, 3, 10, -5, 10), -2, 3),
    "pendulum, small": ("pendulum", {"g": 9.81, "length": 2}, (1e-5, 1e-5), -5, 5),
    "pendulum, libration": ("pendulum", {"g": 9.81, "length": 2}, (1, -2), -5, 5),
    "pendulum, wide libration": ("pendulum", {"g": 9.81, "length": 1}, (3.1, 0.05), -5, 5),
    "pendulum, another well": ("pendulum", {"g": 9.81, "length": 1}, (-7, 1), -5, 5),
    "pendulum, rotation": ("pendulum", {"g": 9.81, "length": 1}, (0.5, 8), -5, 5),
    "pendulum, slow rotation": ("pendulum", {"g": 1, "length": 1}, (0.2, -1.9902), -8, 8),
    "pendulum, fast rotation": ("pendulum", {"g": 1, "length": 1}, (7.5, -30), -5, 5),
    "pendulum, separatrix": ("pendulum", {"g": 1, "length": 1}, (0, 2), -4, 4),
    "pendulum, at rest": ("pendulum", {"g": 1, "length": 1}, (0, 0), -5, 5),
    "pendulum, upside down": ("pendulum", {"g": -9.81, "length": 1}, (1, 2), -5, 5),
    "pendulum, weightless": ("pendulum", {"g": 0, "length": 1}, (1, 2), -5, 5),
    "kepler, ellipse": ("kepler", {"mu": 1}, (0.7, 0, 0, np.sqrt(1.3 / 0.7)), -20, 20),
    "kepler, tilted clockwise": ("kepler", {"mu": 2}, (-0.5, 0.9, 0.8, 0.4), -20, 20),
    "kepler, circle": ("kepler", {"mu": 1}, (0, 1, -1, 0), -20, 20),
    "kepler, clockwise circle": ("kepler", {"mu": 2.25}, (0, 1, 1.5, 0), -20, 20),
    "kepler, parabola": ("kepler", {"mu": 2}, (0, 1, 2, 0), -20, 20),
    "kepler, oblique parabola": ("kepler", {"mu": 12.5}, (0, -1, 3, 4), -0.2, 20),
    "kepler, hyperbola": ("kepler", {"mu": 1}, (1, 0, 0.5, 2), -20, 20),
    "kepler, flyby from afar": ("kepler", {"mu": 1}, (-50, 3, 1, 0), -50, 90),
    "kepler, radial ellipse": ("kepler", {"mu": 1}, (0, 2, 0, 0.5), -0.7, 3),
    "kepler, radial parabola": ("kepler", {"mu": 2}, (1, 0, 2, 0), -0.3, 20),
    "kepler, radial hyperbola": ("kepler", {"mu": 1}, (3, 4, 3, 4), -0.7, 20),
    "kepler, repelling": ("kepler", {"mu": -3}, (-5, 1, 2, 0), -5, 20),
    "kepler, repelling head-on": ("kepler", {"mu": -3}, (4, 3, -4, -3), -5, 20),
    "kepler, free": ("kepler", {"mu": 0}, (-5, 1, 2, 0), -5, 20),
    "kepler, free and radial": ("kepler", {"mu": 0}, (3, 4, 3, 4), -0.7, 20),
    "logistic": ("logistic", {"r": 1, "capacity": 100}, (1,), -5, 20),
    "logistic, overpopulated": ("logistic", {"r": 2, "capacity": 10}, (30,), -0.1, 20),
    "logistic, shrinking": ("logistic", {"r": -1, "capacity": 10}, (3,), -20, 5),
    "logistic, saturated": ("logistic", {"r": 1, "capacity": 10}, (10,), -5, 1000),
    "logistic, extinct": ("logistic", {"r": 1, "capacity": 10}, (0,), -1000, 1000),
}
PERIODIC = [
    name
    for name in REGIMES
    if name
    in (
        "oscillator",
        "spring, undamped",
        "pendulum, small",
        "pendulum, libration",
        "pendulum, wide libration",
        "pendulum, another well",
        "pendulum, rotation",
        "pendulum, slow rotation",
        "pendulum, fast rotation",
        "pendulum, upside down",
        "kepler, ellipse",
        "kepler, tilted clockwise",
        "kepler, circle",
        "kepler, clockwise circle",
    )
]
each_regime = pytest.mark.parametrize("regime", REGIMES)
each_periodic_regime = pytest.mark.parametrize("regime", PERIODIC)


def integrate(system, parameters, y0, times):
    """States at ascending times on one side of 0, by SciPy, of shape (dim, len(times))."""
    rhs = RIGHT_HAND_SIDES[system]
    order = np.argsort(np.abs(times))
    solution = solve_ivp(
        lambda t, y: rhs(y, **parameters),
        (0, times[order[-1]]),
        y0,
        t_eval=times[order],
        method="DOP853",
        rtol=1e-13,
        atol=1e-14 * np.max(np.abs(y0)) + 1e-30,
    )
    return solution.y[:, np.argsort(order)]


def scale(y):
    """Largest size of positions and of velocities, to divide errors by; of the shape of y."""
    y = np.abs(y).reshape(2, -1, *y.shape[1:]) if len(y) > 1 else np.abs(y)[None]
    largest = np.max(y, axis=tuple(range(1, y.ndim)), keepdims=True)
    return (largest + 0 * y).reshape(-1, *y.shape[2:]) + np.finfo(float).tiny


@each_regime
def test_exact_solves_the_equations_of_motion(regime):
    system, parameters, y0, first, last = REGIMES[regime]
    past, future = np.linspace(first, 0, 15)[:-1], np.linspace(0, last, 15)[1:]
    oracle = np.hstack([integrate(system, parameters, y0, t) for t in (past, future)])
    y = np.array(load(system).exact(np.hstack([past, future]), y0, 0.0, **parameters))
    # The oracle's own error: rtol 1e-13 a step grows to 3e-11 in the wide libration and 8e-11 in
    # the tilted ellipse (six periods), and stays below 3e-12 elsewhere.
    assert_allclose((y - oracle) / scale(oracle), 0, atol=5e-10)


@each_regime
def test_exact_starts_at_the_initial_state(regime):
    system, parameters, y0, *_ = REGIMES[regime]
    y = np.array(load(system).exact(np.array([2.5]), y0, 2.5, **parameters))[:, 0]
    # Kepler's states come back by way of the pericentre: a rounding of t - t_pericentre.
    assert_allclose(y, y0, rtol=20 * EPSILON, atol=20 * EPSILON * np.max(np.abs(y0)))


@each_regime
def test_exact_composes_in_time(regime):
    system, parameters, y0, first, last = REGIMES[regime]
    if last == 1000:
        last = 20  # further on a population forgets where it began
    exact = load(system).exact
    times = np.linspace(first, last, 9) + 0.25
    middle = first / 3 + 0.25
    direct = np.array(exact(times, y0, 0.25, **parameters))
    halfway = [c[0] for c in exact(np.array([middle]), y0, 0.25, **parameters)]
    # The rounding of the intermediate state, amplified by the motion: 7e-13 in the wide libration.
    error = (np.array(exact(times, halfway, middle, **parameters)) - direct) / scale(direct)
    assert_allclose(error, 0, atol=2e-12)


@each_regime
def test_float32_is_taken_as_float64(regime):
    system, parameters, y0, first, last = REGIMES[regime]
    exact = load(system).exact
    single = {name: np.float32(value) for name, value in parameters.items()}
    double = {name: np.float64(value) for name, value in single.items()}
    t, state = np.linspace(first, last, 5), np.array(y0, np.float32)
    result = exact(t, tuple(state), np.float32(0), **single)
    assert all(component.dtype == np.float64 for component in result)
    assert_array_equal(result, exact(t, tuple(state.astype(float)), 0, **double))


@pytest.mark.parametrize("system", sorted({case[0] for case in REGIMES.values()}))
def test_exact_broadcasts_over_the_batch(system):
    exact = load(system).exact
    cases = [case for case in REGIMES.values() if case[0] == system]
    cases = (cases * 6)[:6]
    y0 = np.array([case[2] for case in cases], float).T  # (dim, 6)
    parameters = {name: np.array([case[1][name] for case in cases]) for name in cases[0][1]}
    t0 = np.linspace(0, 0.5, 6)
    times = np.linspace(0, 1, 4)
    one_by_one = np.stack(
        [
            exact(times, tuple(y0[:, i]), t0[i], **{name: p[i] for name, p in parameters.items()})
            for i in range(6)
        ],
        axis=-1,
    )  # (dim, 4, 6)

    in_line = exact(times[:, None], tuple(y0), t0, **parameters)
    grid = {name: p.reshape(2, 3) for name, p in parameters.items()}
    in_grid = exact(times[:, None, None], tuple(y0.reshape(-1, 2, 3)), t0.reshape(2, 3), **grid)
    # Iterations stop together, and NumPy's vector functions differ from its scalar ones: last digit
    tolerance = {"rtol": 1e-12, "atol": 1e-13}
    assert_allclose(in_line, one_by_one, **tolerance)
    assert_allclose(np.array(in_grid).reshape(one_by_one.shape), one_by_one, **tolerance)
    # Only the parameters, or only the initial times, differ.
    first = tuple(y0[:, 0])
    assert exact(times[:, None], first, 0.0, **parameters)[0].shape == (4, 6)
    single = {name: p[0] for name, p in parameters.items()}
    assert {c.shape for c in exact(times[:, None], first, t0, **single)} == {(4, 6)}
    assert {c.shape for c in exact(times[:, None], tuple(y0[:, :0]), 0.0, **single)} == {(4, 0)}
    assert {c.shape for c in exact(1.0, first, 0.0, **single)} == {()}


@each_regime
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0, 1e308, -1e-308])
def test_odd_values_are_silent(regime, bad):
    system, parameters, y0, first, last = REGIMES[regime]
    module = load(system)
    t = np.linspace(first, last, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in parameters:
            result = module.exact(t, y0, 0.0, **(parameters | {name: bad}))
            assert not np.isnan(bad) or np.isnan(result[-1]).all()
        for i in range(len(y0)):
            state = (*y0[:i], bad, *y0[i + 1 :])
            result = module.exact(t, state, 0.0, **parameters)
            assert not np.isnan(bad) or np.isnan(result[i]).all()
            for function, arguments in (("phase", (state, 0.0)), ("period", (state,))):
                if hasattr(module, function):
                    getattr(module, function)(*arguments, **parameters)


@each_periodic_regime
def test_the_motion_repeats_after_a_period(regime):
    system, parameters, y0, *_ = REGIMES[regime]
    module = load(system)
    period = module.period(y0, **parameters)
    y = np.array(module.exact(period * np.array([1, -3]), y0, 0.0, **parameters))
    if system == "pendulum":
        y[0] -= 2 * np.pi * np.round((y[0] - y0[0]) / (2 * np.pi))
    # A rounding of the time, three periods, times the speed; the slow rotation has m1 = 0.01.
    assert_allclose(y, np.array(y0)[:, None] + 0 * y, rtol=1e-12, atol=1e-13 * np.max(np.abs(y0)))


@each_periodic_regime
def test_the_phase_grows_uniformly(regime):
    system, parameters, y0, first, last = REGIMES[regime]
    module = load(system)
    period = module.period(y0, **parameters)
    t = np.linspace(first, last, 400)
    phase = np.unwrap(module.phase(module.exact(t, y0, 0.0, **parameters), t, **parameters))
    # Roundings of angles of up to 300 rad, 6e-14 each; close to the separatrix the energy, and
    # with it the period, feels those of the state a hundredfold.
    assert_allclose(phase - phase[0], 2 * np.pi * (t - t[0]) / period, rtol=1e-14, atol=1e-12)


@pytest.mark.parametrize(
    ("system", "parameters", "y0"),
    [
        ("spring", {"k": 4, "b": 0.8, "m": 0.5}, (1, 2)),
        ("momentum_spring", {"k": 4, "b": 0.8, "inverse_mass": 2}, (1, 2)),
        ("lotka_volterra", {"a": 1.5, "b": 1, "c": 3, "d": 2}, (5, 1)),
    ],
)
def test_the_phase_grows_along_the_motion(system, parameters, y0):
    t = np.linspace(0, 12, 3000)
    y = integrate(system, parameters, y0, t)
    phase = np.unwrap(load(system).phase(tuple(y), t, **parameters))
    assert np.all(np.diff(phase) > 0)
    assert phase[-1] - phase[0] > 4 * np.pi


def test_a_small_predator_prey_cycle_runs_uniformly():
    parameters = {"a": 1.5, "b": 1, "c": 3, "d": 2}
    t = np.linspace(0, 10, 200)
    y = integrate("lotka_volterra", parameters, (1.5 * (1 + 1e-6), 1.5), t)
    phase = np.unwrap(load("lotka_volterra").phase(tuple(y), t, **parameters))
    # The next order in the amplitude, 1e-6.
    assert_allclose(phase - phase[0], np.sqrt(1.5 * 3) * t, atol=1e-5)


@pytest.mark.parametrize(
    ("y", "g", "phase"),
    [((1, -0.0), 1, 0), ((-1, -0.0), 1, -np.pi), ((4, -0.0), 1, -np.pi), ((-0.0, 5), -1, np.pi)],
)
def test_a_negative_zero_has_the_phase_of_zero(y, g, phase):
    for state in (y, np.add(y, 0.0)):
        found = load("pendulum").phase(tuple(state), 0.0, g=g, length=1)
        assert abs(found) == pytest.approx(abs(phase), abs=1e-15)


def test_the_phase_of_springs_and_small_pendulums_is_the_oscillators():
    x, v = np.random.default_rng(1).normal(size=(2, 50))
    expected = np.arctan2(-v / 2, x)
    assert_allclose(load("oscillator").phase((x, v), 0.0, omega=2), expected, rtol=4 * EPSILON)
    assert_allclose(load("spring").phase((x, v), 0.0, k=8, b=1, m=2), expected, rtol=4 * EPSILON)
    momentum = load("momentum_spring").phase((x, 2 * v), 0.0, k=8, b=1, inverse_mass=0.5)
    assert_allclose(momentum, expected, rtol=4 * EPSILON)
    small = load("pendulum").phase((1e-7 * x, 1e-7 * v), 0.0, g=8, length=2)
    difference = np.remainder(small - expected + 1, 2 * np.pi) - 1
    assert_allclose(difference, 0, atol=1e-13)  # the square of the amplitude, and rounding


def test_the_damped_period_separates_the_zeros_of_the_position():
    parameters = {"k": 15, "b": 2, "m": 0.5}
    spring = load("spring")
    period = spring.period((0, 1), **parameters)
    assert_allclose(period, 2 * np.pi / np.sqrt(30 - 4), rtol=2 * EPSILON)
    x, _ = spring.exact(period * np.arange(1, 4) / 2, (0, 1), 0, **parameters)
    assert_allclose(x, 0, atol=1e-15)
    assert_array_equal(spring.period((0, 1), k=[4, 4, 0, -1], b=[4, 9, 0, 0], m=1), np.inf)


def test_a_stiff_spring_creeps_and_does_not_overflow():
    # b >> sqrt(k m): x = exp(-k t / b) and v = -k x / b to (k m / b^2) = 1e-12.
    t = np.array([1.0, 1e5, 1e6])
    x, v = load("spring").exact(t, (1, 0), 0, k=1, b=1e6, m=1)
    assert_allclose(x, np.exp(-t / 1e6), rtol=3e-12)
    assert_allclose(v, -np.exp(-t / 1e6) / 1e6, rtol=3e-12)
    # The mirror image in time: the same bits.
    assert_array_equal(load("spring").exact(-t, (1, 0), 0, k=1, b=-1e6, m=1), (x, -v))


def test_spring_and_car_meet_the_acceptance_data():
    # cases.md, sections 1 and 2: printed to 12 decimals.
    x, _ = load("spring").exact(60.0, (1000, 0), 0.0, k=15, b=0.1, m=1)
    assert_allclose(x, 49.363738409385, atol=5e-12, rtol=0)
    assert load("constant_force").exact(10.0, (0, 0), 0.0, force=10, mass=1) == (500, 100)


def test_pendulum_on_the_separatrix_is_a_hyperbolic_tangent():
    t = np.linspace(-30, 30, 13)
    pendulum = load("pendulum")
    theta, omega = pendulum.exact(t, (0, 2), 0, g=1, length=1)
    assert_allclose(theta, 4 * np.arctan(np.tanh(t / 2)), rtol=4 * EPSILON)
    assert_allclose(omega, 2 / np.cosh(t), rtol=1e-14)
    assert pendulum.period((0, 2), g=1, length=1) == np.inf


@pytest.mark.parametrize("regime", [name for name in REGIMES if name.startswith("kepler")])
def test_kepler_conserves_energy_and_angular_momentum(regime):
    _, parameters, y0, first, last = REGIMES[regime]
    x, y, vx, vy = load("kepler").exact(np.linspace(first, last, 200), y0, 0.0, **parameters)
    kinetic, potential = (vx**2 + vy**2) / 2, -parameters["mu"] / np.hypot(x, y)
    energy, momentum = kinetic + potential, x * vy - y * vx
    # Roundings of the two terms of each.
    assert np.all(np.abs(energy - energy[0]) <= 60 * EPSILON * (kinetic + np.abs(potential)))
    terms = np.abs(x * vy) + np.abs(y * vx)
    assert np.all(np.abs(momentum - momentum[0]) <= 60 * EPSILON * terms)


@pytest.mark.parametrize("regime", [name for name in REGIMES if name.startswith("pendulum")])
def test_pendulum_conserves_energy_for_a_million_swings(regime):
    _, parameters, y0, *_ = REGIMES[regime]
    t = np.geomspace(1e-3, 1e6, 200)
    theta, omega = load("pendulum").exact(t, y0, 0.0, **parameters)
    square = parameters["g"] / parameters["length"]
    kinetic, potential = (
        omega**2 / 2,
        2 * np.abs(square) * (np.sin(theta / 2) if square >= 0 else np.cos(theta / 2)) ** 2,
    )
    energy = (
        y0[1] ** 2 / 2
        + 2 * np.abs(square) * (np.sin(y0[0] / 2) if square >= 0 else np.cos(y0[0] / 2)) ** 2
    )
    # A rounding of theta, which reaches 3e7 in rotation, shifts the potential energy.
    bound = 20 * EPSILON * (energy + np.abs(square * np.sin(theta)) * np.abs(theta))
    assert np.all(np.abs(kinetic + potential - energy) <= bound)


def test_kepler_has_a_period_only_on_an_ellipse():
    kepler = load("kepler")
    speed = np.array([1, np.sqrt(1.5), 2, np.nan])
    period = kepler.period((1, 0, 0, speed), mu=1)
    assert_allclose(period, [2 * np.pi, 2 * np.pi * 2**1.5, np.inf, np.nan], rtol=1e-14)
    assert kepler.period((0, 1, 2, 0), mu=2) == np.inf  # parabola
    assert np.isnan(kepler.phase((1, 0, 0, 2), 0.0, mu=1))


def test_the_profile_accelerates_coasts_and_brakes():
    profile = load("acceleration_profile")
    t = np.array([-1, 0, 2, 3, 4, 6, 7, 8, 10.0])
    x, v = profile.exact(t, (0, 0), 0, times=(0, 2, 4, 6, 8), accelerations=(0, 2, 0, -2, 0))
    assert_array_equal(v, [0, 0, 0, 2, 4, 4, 2, 0, 0])
    assert_array_equal(x, [0, 0, 0, 1, 4, 12, 15, 16, 16])


def test_the_profile_is_a_chain_of_constant_forces():
    profile, constant = load("acceleration_profile"), load("constant_force")
    generator = np.random.default_rng(3)
    times = np.sort(generator.uniform(0, 10, (3, 4)), axis=1)
    accelerations = generator.normal(size=(3, 4))
    y0, t0 = tuple(generator.normal(size=(2, 3))), np.array([-1, 5.0, 20])
    t = np.linspace(-3, 13, 20)
    y = np.array(profile.exact(t[:, None], y0, t0, times=times, accelerations=accelerations))
    for i in range(3):
        for n, end in enumerate(t):
            state, begin = (y0[0][i], y0[1][i]), t0[i]
            marks = [m for m in times[i] if min(begin, end) < m < max(begin, end)]
            for mark in [*(marks if begin < end else marks[::-1]), end]:
                piece = np.searchsorted(times[i], (begin + mark) / 2) - 1
                force = accelerations[i, piece] if piece >= 0 else 0
                state, begin = constant.exact(mark, state, begin, force=force, mass=1), mark
            assert_allclose(y[:, n, i], state, rtol=1e-12, atol=1e-12)  # roundings of 1e3


def test_the_profile_composes_in_time():
    profile = load("acceleration_profile")
    parameters = {"times": (0, 2, 4, 6, 8), "accelerations": (1, 2, 0, -2, 0)}
    t = np.linspace(-2, 10, 25)
    direct = profile.exact(t, (1, 2), -2, **parameters)
    halfway = profile.exact(5.0, (1, 2), -2, **parameters)
    assert_allclose(profile.exact(t, halfway, 5.0, **parameters), direct, rtol=1e-14, atol=1e-14)


def test_a_population_that_explodes_is_nan_afterwards():
    # n0 = 2 K going back, n0 < 0 going on: infinite at r |t| = log 2.
    (n,) = load("logistic").exact(np.array([0.5, 0.6, 0.7, 5]), (-100,), 0, r=1, capacity=100)
    assert_array_equal(np.isnan(n), [False, False, True, True])
    (n,) = load("logistic").exact(np.array([-0.6, -0.7, -5]), (200,), 0, r=1, capacity=100)
    assert_array_equal(np.isnan(n), [False, True, True])


@pytest.mark.parametrize("t", [-1, -20, -36, -40, -1000, 1000])
def test_a_saturated_population_stays_in_both_directions_of_time(t):
    (n,) = load("logistic").exact(t, (100.0,), 0, r=1, capacity=100)
    assert n == 100
