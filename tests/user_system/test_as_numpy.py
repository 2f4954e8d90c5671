"""Traced functions follow NumPy for every number: zeros, infinities, NaN, and any size."""

import numpy as np
import pytest

import pyintegrate as pi


def ask(function, x):
    """function(x) for each number of x, through byte code."""
    system = pi.rhs(dim=1, initial=[x[0]])(function)
    return system.rhs(0.0, np.reshape(x, (-1, 1)))[:, 0]


def unlike(a, b):
    """Where numbers differ, also by the sign of a zero."""
    same = (a == b) & (np.signbit(a) == np.signbit(b))
    return ~same & ~(np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_divisions_with_remainder_are_exact(name, dtype):
    """NumPy's bits for multiples, any size of the quotient, zeros, infinities and NaN."""
    rng, n, most = np.random.default_rng(1), 3000, np.finfo(dtype).maxexp
    special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.1, -2.5, 3, 1e9, 1e-40, 3e38])
    x, y = (rng.standard_normal(n) * 2.0 ** rng.integers(2 - most, most - 3, n) for _ in "xy")
    multiples = np.nextafter(0.1 * rng.integers(-50, 50, n), rng.choice([-9.0, 9.0], n))
    x = np.concatenate([np.repeat(special, 13), x, x, 0.1 * np.arange(99), multiples])
    near = x[169 : 169 + n] * 2.0**-49 * rng.uniform(1, 2, n)
    y = np.concatenate([np.tile(special, 13), y, near, np.full(n + 99, 0.1)])
    function = getattr(np, name)
    system = pi.rhs(lambda t, y: [function(y[0], y[1]), 0.0], dim=2)
    with np.errstate(all="ignore"):
        x, y = x.astype(dtype), y.astype(dtype)
        expected = function(x, y)
        got = system.rhs(0.0, np.stack([x, y], axis=1))[:, 0].astype(dtype)
    wrong = unlike(got, expected)
    assert not wrong.any(), (x[wrong][:3], y[wrong][:3], got[wrong][:3], expected[wrong][:3])


@pytest.mark.parametrize("power", [0.5, -0.5, 1.5, -1.5, 2.5, -2.5])
def test_roots_of_both_zeros(power):
    x = np.array([0.0, -0.0])
    with np.errstate(all="ignore"):
        assert not unlike(ask(lambda t, y: [y[0] ** power], x), x**power).any()


@pytest.mark.parametrize("name", ["arcsinh", "arccosh"])
def test_inverse_hyperbolic_functions_of_any_size(name):
    x = np.array([2, 0, 1, 0.5, 1e-9, 1e8, 1e16, 1e17, 1e154, 1.4e154, 1e160, 1.7e308, np.inf])
    x = np.concatenate([x, -x, [np.nan]])
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    got = ask(lambda t, y: [getattr(np, name)(y[0])], x)
    assert np.allclose(got, expected, rtol=2e-15, atol=0, equal_nan=True)


@pytest.mark.parametrize(("name", "base"), [("log2", 2.0), ("log10", 10.0)])
def test_logarithms_of_powers_are_whole(name, base):
    """So that np.floor(np.log10(1000)) is 3."""
    x = np.power(base, np.arange(23.0))
    function = getattr(np, name)
    assert not unlike(ask(lambda t, y: [np.floor(function(y[0]))], x), np.arange(23.0)).any()
    assert not unlike(ask(lambda t, y: [function(y[0])], x), function(x)).any()
