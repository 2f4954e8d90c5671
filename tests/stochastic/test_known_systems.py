"""The systems with noise: their laws where they are known."""

import numpy as np
import pytest

import pyintegrate as pi

RUN = {"seed": 1, "save": "final"}


def test_names():
    assert list(pi.systems.noise) == [
        "ornstein_uhlenbeck", "geometric_brownian_motion", "double_well", "noisy_van_der_pol",
        "noisy_fitzhugh_nagumo",
    ]  # fmt: skip
    assert all(pi.systems[name] is system for name, system in pi.systems.noise.items())
    with pytest.raises(ValueError, match="double_pendulum"):
        pi.systems["double_wel2"]


# 40,000 paths: a mean scatters by sd / 200, a variance of normals by 0.7 %; 4 of these.
def test_the_mean_and_variance_of_ornstein_and_uhlenbeck():
    """mean + (y0 - mean) exp(-rate t), sigma^2 (1 - exp(-2 rate t)) / (2 rate)."""
    system = pi.systems.ornstein_uhlenbeck(rate=2.0, mean=0.5, sigma=0.8)
    y = pi.integrate(system, np.full((40_000, 1), 3.0), dt=0.01, n_steps=100, method="sra1", **RUN)
    variance = 0.16 * (1 - np.exp(-4.0))
    assert abs(y.final.mean() - (0.5 + 2.5 * np.exp(-2.0))) < 4 * np.sqrt(variance) / 200
    assert abs(y.final.var() / variance - 1) < 0.028


def test_the_mean_and_variance_of_geometric_brownian_motion():
    system = pi.systems.geometric_brownian_motion(mu=0.3, sigma=0.4)
    y = pi.integrate(system, np.ones((40_000, 1)), dt=0.01, n_steps=100, method="sriw1", **RUN)
    mean, variance = np.exp(0.3), np.exp(0.6) * (np.exp(0.16) - 1)
    assert abs(y.final.mean() - mean) < 4 * np.sqrt(variance) / 200
    assert abs(np.log(y.final).std() / 0.4 - 1) < 0.02


def test_the_double_well_has_the_law_of_its_potential():
    """E y^2 under exp(-V / temperature), by quadrature; paths from either side after 60 times."""
    heat = 0.5
    grid = np.linspace(-4, 4, 4001)
    weight = np.exp(-(grid**4 / 4 - grid**2 / 2) / heat)
    expected = np.sum(weight * grid**2) / np.sum(weight)
    start = np.repeat([-1.0, 1.0], 10_000)[:, None]
    y = pi.integrate(pi.systems.double_well(temperature=heat), start, dt=0.05, n_steps=1200,
                     method="brownian_baoab", **RUN).final  # fmt: skip
    assert abs(np.mean(y**2) - expected) < 4 * np.std(y**2) / np.sqrt(len(y))
    assert abs(np.mean(y)) < 4 * np.std(y) / np.sqrt(len(y))


@pytest.mark.parametrize("name", ["noisy_van_der_pol", "noisy_fitzhugh_nagumo"])
def test_without_noise_they_are_the_plain_equations(name):
    system = pi.systems[name]
    quiet = system(sigma=0.0)

    assert system.noise == "additive"
    assert np.array_equal(system.rhs(0.0, [0.3, 0.4]), quiet.rhs(0.0, [0.3, 0.4]))
    run = {"dt": 0.01, "n_steps": 200, "save": "final"}
    found = pi.integrate(quiet, seed=1, method="sra1", **run).final
    if name == "noisy_van_der_pol":
        exact = pi.integrate(pi.systems.van_der_pol(mu=1.0), system.initial, **run).final
        assert np.abs(found - exact).max() < 1e-4  # order 2: h^2
