"""Finite-time Lyapunov exponents: exact rates, areas kept, and the double gyre."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.analysis.portraits.tangent_growth import stretched


@pi.rhs(dim=2, A=0.1, eps=0.25, omega=2 * np.pi / 10, state_names=("x", "y"))
def gyres(t, y, A, eps, omega):  # Shadden, Lekien, Marsden (2005), 5.1
    a = eps * np.sin(omega * t)
    f, slope = a * y[0] ** 2 + (1 - 2 * a) * y[0], 2 * a * y[0] + 1 - 2 * a
    return (
        -np.pi * A * np.sin(np.pi * f) * np.cos(np.pi * y[1]),
        np.pi * A * np.cos(np.pi * f) * np.sin(np.pi * y[1]) * slope,
    )


def test_steady_gyres_part_at_the_rate_of_their_saddle():
    """At (1, 0) the field is linear with the rates +- pi^2 A."""
    grid = {"x": np.linspace(0.5, 1.5, 21), "y": [0.0]}
    found = pi.analysis.ftle(gyres(eps=0.0), grid, 5.0, dt=0.02)
    assert found.values[10, 0] == pytest.approx(0.1 * np.pi**2, rel=1e-7)
    assert found.values[:, 0].argmax() == 10  # the separatrix is the ridge


def test_the_double_gyre_keeps_areas_and_has_the_rates_of_its_corners():
    """Linear there, with the rates pi^2 A (1 -+ 2 a(t)); T = 15 as in the published picture."""
    grid = {"x": np.linspace(0, 2, 101), "y": np.linspace(0, 1, 51)}
    found = pi.analysis.ftle(gyres, grid, 15.0, dt=0.05)
    area = np.linalg.det(found.gradients)
    assert area == pytest.approx(np.ones(area.shape), abs=2e-3)  # the error of RK4, stretched
    drift = 2 * 0.25 * 20 / (2 * np.pi)  # the integral of 2 a(t)
    corners = 0.1 * np.pi**2 * (15 + np.array([-drift, drift])) / 15
    assert found.values[[0, -1], 0] == pytest.approx(corners, rel=1e-6)
    assert found.values[25, 25] < 0.2
    assert (found.values > -1e-6).all()  # areas are kept: the largest stretching is at least 1


def test_directions_are_stretched_most_and_differences_agree():
    system, y, h = gyres, np.array([0.9, 0.4]), 1e-6
    found = pi.analysis.ftle(system, {"x": y[:1], "y": y[1:]}, 5.0, dt=0.05)
    e, values = np.linalg.svd(found.gradients[0, 0])[2][0], found.values[0, 0]
    ends = pi.integrate(system, [y + h * e, y - h * e], dt=0.05, t_end=5.0, save="final").final
    growth = np.linalg.norm(ends[0] - ends[1]) / (2 * h)
    assert np.log(growth) / 5 == pytest.approx(values, rel=1e-7)


def test_a_contraction_below_the_smallest_number_is_nan():
    """It stays at a subnormal number, which RK4 rounds to itself: after t = 7.1 for a rate of 100,
    and after 0.88 in single precision."""
    sink = pi.rhs(lambda t, y: (-100 * y[0], -200 * y[1]), dim=2)
    rate = np.log(1 - 0.1 + 0.1**2 / 2 - 0.1**3 / 6 + 0.1**4 / 24) / 0.001
    for dtype, ends in (np.float64, (6.0, 10.0)), (np.float32, (0.8, 2.0)):
        found = [
            pi.analysis.ftle(sink, {"y1": [1.0], "y2": [0.0]}, t, dt=0.001, dtype=dtype)
            for t in ends
        ]
        assert found[0].values.item() == pytest.approx(rate, rel=1e-6)
        assert np.isnan(found[1].values).all()
        assert repr(found[1]).endswith("at most nan>")  # without NumPy's warning


def test_failures_are_nan_and_arguments_are_checked():
    found = pi.analysis.ftle(
        pi.systems.pendulum, {"theta": [0.5, np.nan]}, 1.0, dt=0.1, on_failure="ignore"
    )
    assert np.isnan(found.values).tolist() == [False, True]
    with pytest.raises(ValueError, match="no parameter and no component"):
        pi.analysis.ftle(pi.systems.pendulum, {"q": [0.0]}, 1.0, dt=0.1)
    with pytest.raises(TypeError, match=r"(?s)^grid must map names to values, .{,200}$"):
        pi.analysis.ftle(pi.systems.pendulum, (np.zeros(90), np.zeros(90)), 1.0, dt=0.1)
    with pytest.raises(TypeError, match="leave them out"):
        pi.analysis.ftle(pi.systems.pendulum, {"theta": [0.0]}, 1.0, dt=0.1, save="all")


def test_its_picture():
    pytest.importorskip("matplotlib").use("Agg")
    grid = {"x": np.linspace(0, 2, 9), "y": np.linspace(0, 1, 5)}
    assert pi.analysis.ftle(gyres, grid, 1.0, dt=0.1).plot().get_ylabel() == "initial y"


def test_stretching_in_the_plane_is_that_of_the_singular_value_decomposition():
    M = np.random.default_rng(4).normal(size=(200, 2, 2))
    M *= 10.0 ** np.arange(-100, 100)[:, np.newaxis, np.newaxis]
    assert stretched(M) == pytest.approx(np.linalg.svd(M)[1][:, 0], rel=1e-14)
