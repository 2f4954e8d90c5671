"""What is not given is chosen so that it works: methods, precision, velocities at rest."""

import re

import numpy as np
import pytest

import pyintegrate as pi

SYSTEMS = list(pi.systems.values())
every = pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)


@pi.hamiltonian(dof=2, initial=[0.5, 0.0, 0.0, 1.0])
def geodesic(q, p):  # a kinetic energy that depends on the position
    return (p @ p) * (1 + q @ q) / 2


@pi.hamiltonian(dof=1, initial=[0.5, 0.0])
def product(q, p):
    return (q * q + p * p) / 2 + q * q * p * p / 4


@every
def test_compare_chooses_two_methods_that_fit(system):
    c = pi.compare(system, dt=1e-3, n_steps=5)
    assert len(c) == 2
    assert all(np.all(s.status == 0) for s in c.values())
    if system.structure in ("second_order", "separable"):
        assert list(c) == ["rk4", "semi_implicit_euler"]


@every
def test_a_stepper_chooses_a_method_that_fits(system):
    stepper = pi.Stepper(system, dt=1e-3)
    stepper.step(5)
    assert np.all(stepper.status == 0)
    if system.structure in ("second_order", "separable"):
        assert stepper.method.name == "semi_implicit_euler"


def test_comparing_several_systems_chooses_for_each():
    c = pi.compare([pi.systems.lorenz, pi.systems.oscillator], dt=0.01, n_steps=5)
    assert list(c["lorenz"]) == ["rk4", "explicit_euler"]
    assert list(c["oscillator"]) == ["rk4", "semi_implicit_euler"]
    assert "explicit_euler" in str(c.table())


def test_a_hamiltonian_that_is_not_separable_is_compared_with_a_symplectic_method():
    assert list(pi.compare(geodesic, dt=0.01, n_steps=5)) == ["rk4", "implicit_midpoint"]


# ---- the state -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kepler", "projectile", "three_body", "rigid_body"])
def test_one_number_is_the_velocity_of_every_component(name):
    system = pi.systems[name]
    x0, size = system.initial[: system.positions], system.dim - system.positions
    options = {"dt": 0.01, "n_steps": 3}
    short = pi.integrate(system, [x0, x0], 0.25, **options)
    long = pi.integrate(system, [x0, x0], np.full(size, 0.25), **options)
    assert np.array_equal(short.y, long.y)
    assert short.y.shape == (4, 2, system.dim)


def test_one_number_is_no_position_in_space():
    with pytest.raises(ValueError, match=r"x0 has shape \(\): its last axis holds the 3 pos"):
        pi.integrate(pi.systems.projectile, 0.0, 0.0, dt=0.01, n_steps=3)
    with pytest.raises(ValueError, match=r"the 1 components .* give it the shape \(20, 1\)"):
        pi.integrate(pi.systems.logistic, np.ones(20), dt=0.01, n_steps=3)


@pytest.mark.parametrize(
    ("system", "shape", "rest"),
    [
        (pi.systems.n_body(masses=[1, 1, 1], g=1.0), (3, 3), [0.0]),
        (pi.systems.n_body(masses=[1, 1, 1], g=1.0), (2, 3, 3), [0.0]),
        (pi.systems.projectile, (3, 5), [0.0]),
        (pi.systems.lorenz, (3, 5), []),
    ],
)
def test_components_along_other_axes_are_told_where_they_belong(system, shape, rest):
    x0 = np.random.default_rng(1).normal(size=shape)
    with pytest.raises(ValueError, match=": give np") as refused:
        pi.integrate(system, x0, *rest, dt=1e-3, n_steps=1)
    cure = re.search(r"give (np\S+ .*\))", str(refused.value)).group(1)
    right = eval(cure, {"np": np, "x0": x0})
    sol = pi.integrate(system, right, *rest, dt=1e-3, n_steps=1)
    assert np.array_equal(sol.initial[..., : right.shape[-1]], right)


SINGLE = np.float32(1.0)


@pytest.mark.parametrize(
    ("x0", "v0", "dtype"),
    [
        (np.ones(3, np.float32), 0.0, "float32"),
        (np.ones(3, np.float32), 0, "float32"),
        (0.5, np.ones(3, np.float32), "float32"),
        (SINGLE, 0.0, "float32"),
        (SINGLE, SINGLE, "float32"),
        (SINGLE, np.float64(0.0), "float64"),
        (np.ones(3, np.float32), np.zeros(3), "float64"),
        (np.ones(3, np.float32), [0.0, 0.0, 0.0], "float64"),  # as NumPy has it
        (1.0, 0.0, "float64"),
        (1, 0, "float64"),
    ],
    ids=str,
)
def test_python_numbers_have_no_precision_of_their_own(x0, v0, dtype):
    sol = pi.integrate(pi.systems.oscillator, x0, v0, dt=0.01, n_steps=1)
    assert sol.y.dtype == dtype
    assert pi.Stepper(pi.systems.oscillator, x0, v0, dt=0.01).y.dtype == dtype


@pytest.mark.parametrize("system", [geodesic, product], ids=lambda s: s.name)
def test_a_hamiltonian_that_is_not_separable_takes_positions_and_momenta(system, tmp_path):
    half = system.dim // 2
    start = np.linspace(0.1, 0.9, 5 * system.dim).reshape(5, system.dim)
    q0, p0 = (start[:, 0], start[:, 1]) if half == 1 else (start[:, :half], start[:, half:])
    options = {"dt": 0.01, "n_steps": 20}
    whole = pi.integrate(system, start, **options)
    halves = pi.integrate(system, q0, p0, **options)
    assert np.array_equal(whole.y, halves.y)
    assert np.array_equal(halves.x[0], q0)
    assert np.array_equal(halves.v[0], p0)
    assert abs(halves.energy_error()).max() < 1e-8  # rk4, h = 0.01: h^4

    stepper = pi.Stepper(system, q0, p0, **{"dt": 0.01, "method": "rk4"})
    stepper.step(20)
    assert np.array_equal(stepper.y, halves.final)
    assert np.array_equal(stepper.x, halves.x[-1])
    stepper.reset(True, q0, p0)
    assert np.array_equal(stepper.v, p0)

    compared = pi.compare(system, q0, p0, **options)
    assert np.array_equal(compared["rk4"].y, halves.y)

    halves.save(tmp_path / "run.npz")
    assert np.array_equal(pi.load(tmp_path / "run.npz").v, halves.v)
