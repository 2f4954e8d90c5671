"""Scales: constants of a trajectory that kernels move from a rate into their weights."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate import _core


@pi.acceleration(omega=1.0)
def oscillator(t, x, v, omega):
    return -(omega**2) * x


@pi.acceleration(g=9.81, length=1.0)
def pendulum(t, x, v, g, length):
    return -(g / length) * np.sin(x)


@pi.rhs(dim=3, sigma=10.0, rho=28.0, beta=8 / 3, initial=[1.0, 1.0, 1.0])
def lorenz(t, y, sigma, rho, beta):
    return sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]


@pi.rhs(dim=2, k=2.0, initial=[1.0, 0.5])
def both(t, y, k):
    return k * y[1], -y[0] * y[1] * k


@pi.rhs(dim=2, k=2.0)
def elsewhere(t, y, k):
    return k * y[1], k + y[0]


@pi.rhs(dim=2, k=2.0)
def read_again(t, y, k):
    first = k * y[1]
    return first, first + y[0]


@pi.rhs(dim=1, k=2.0)
def a_sum(t, y, k):
    return (k * y[0] + 1.0,)


@pi.rhs(dim=1, k=2.0)
def a_quotient(t, y, k):
    return (k / y[0],)


@pi.acceleration(dof=14, k=2.0)
def many(t, x, v, k):
    return -k * x


def scaled(system):
    return [d for d, parameter in enumerate(_core.scales(system.core)) if parameter]


def test_systems_say_them():
    found = {name: scaled(pi.systems[name]) for name in ("lorenz", "oscillator", "pendulum")}
    assert found == {"lorenz": [0], "oscillator": [1], "pendulum": [1]}
    assert scaled(pi.systems.momentum_spring) == [0]
    assert scaled(pi.systems.spring) == []


@pytest.mark.parametrize(
    ("system", "components"),
    [(oscillator, [1]), (pendulum, [1]), (lorenz, [0]), (a_sum, []), (a_quotient, []), (many, [])],
    ids=lambda item: getattr(item, "name", None),
)
def test_they_are_found_in_forces(system, components):
    assert scaled(system) == components


def test_a_parameter_that_the_force_sees_otherwise_is_none():
    assert scaled(elsewhere) == []
    assert scaled(read_again) == []
    # k and -k: each is the factor of one rate, and of nothing else.
    assert scaled(both) == [0, 1]


@pytest.mark.parametrize(
    ("system", "method"),
    [
        *((oscillator, "rk4"), (oscillator, "semi_implicit_euler"), (pendulum, "rk4")),
        *((pendulum, "semi_implicit_euler"), (pendulum, "velocity_verlet")),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_forces_have_the_bits_of_built_in_systems(system, method, dtype):
    """One value or one for each lane, of parameters and steps, in every combination."""
    name, value = next(iter(system.params.items()))
    y0 = np.linspace([0.4, -0.3], [1.2, 0.3], 77).astype(dtype)
    runs = {}
    for one in (system, pi.systems[system.name]):
        for k in (value, np.full(77, value)):
            for dt in (0.01, np.full(77, 0.01)):
                options = {"dt": dt, "n_steps": 60, "method": method, "dtype": dtype}
                sol = pi.integrate(one(**{name: k}), y0, **options)
                runs[one is system, np.ndim(k), np.ndim(dt)] = sol.y.tobytes()
    assert len(runs) == 8
    assert len(set(runs.values())) == 1


@pi.rhs(dim=3, sigma=10.0, rho=28.0, beta=8 / 3, zero=0.0)
def lorenz_in_sums(t, y, sigma, rho, beta, zero):
    x, y, z = y
    return sigma * (y - x) + zero, x * (rho - z) - y, x * y - beta * z


@pi.rhs(dim=2, k=2.0, zero=0.0)
def both_in_sums(t, y, k, zero):
    return k * y[1] + zero, zero - y[0] * y[1] * k


@pytest.mark.parametrize(("system", "plain"), [(lorenz, lorenz_in_sums), (both, both_in_sums)])
def test_what_is_moved_is_no_more_than_rounding(system, plain):
    """The same rates, of which no scale is found: 100 steps of 1e-16 each, which grow tenfold."""
    assert scaled(plain) == []
    name, value = next(iter(system.params.items()))
    k = value * np.linspace(0.9, 1.1, 33)
    for dt in (0.003, np.linspace(0.002, 0.003, 33)):
        options = {"dt": dt, "n_steps": 100, "method": "rk4"}
        found = pi.integrate(system(**{name: k}), system.initial, **options).y
        expected = pi.integrate(plain(**{name: k}), system.initial, **options).y
        assert found.tobytes() != expected.tobytes()
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
