"""Indicators of chaos: FLI, MEGNO, SALI, GALI, against their definitions and known values."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate.analysis.portraits.tangent_growth import generic

# Skokos (2010), Lect. Notes Phys. 790, 63-135: Henon-Heiles at energy 1/8, chaotic and regular.
X0 = np.array([[0.0, -0.25], [0.0, 0.55]])
V0 = np.array([[0.42081, 0.0], [0.24171, 0.0]])
CALL = {"dt": 0.05, "method": "velocity_verlet"}


def mapped(indicator, t_end=2000.0, **options):
    return pi.chaos_map(pi.systems.henon_heiles, X0, V0, t_end=t_end, indicator=indicator,
                        **CALL, **options)  # fmt: skip


def norms(n_steps, every):
    """log |tangent| at each renormalisation, from a run that saves all."""
    both = pi.systems.henon_heiles.tangent(1)
    start = np.zeros((2, both.dim))
    start[:, both.places[:, 0]] = np.concatenate([X0, V0], axis=-1)
    start[:, both.places[:, 1]] = generic(4, 1)[:, 0]
    sol = pi.integrate(both, start, n_steps=n_steps, save=every, **CALL)
    return np.log(np.linalg.norm(both.parts(sol.y)[1][..., 0], axis=-1))


def test_fli_is_the_largest_logarithm_of_the_tangent():
    L = norms(2000, 10)
    found = mapped("fli", 100.0)
    # Rounding of the logarithms; powers of two in between round nothing.
    np.testing.assert_allclose(found.values, L[1:].max(axis=0), rtol=1e-12)
    single = mapped("fli", 100.0, dtype=np.float32)
    np.testing.assert_allclose(single.values, found.values, rtol=0.02)


@pytest.mark.parametrize("n", [3, 27])
def test_fli_has_seen_the_last_steps(n):
    """Of a run with fewer steps than one renormalisation it was -inf."""
    saddle = pi.rhs(dim=2)(lambda t, y: (y[0], -y[1]))
    fli = pi.chaos_map(saddle, [0.0, 0.0], dt=0.125, t_end=0.125 * n).values
    sol = pi.integrate(saddle, generic(2, 1)[:, 0], dt=0.125, n_steps=n)
    np.testing.assert_allclose(fli, np.log(np.linalg.norm(sol.final)), rtol=1e-12)


def test_megno_is_its_sum():
    """Y_n = 2/n sum k (L_k - L_(k-1)), and the mean of all Y."""
    L = norms(2000, 10)
    k = np.arange(1, len(L))[:, np.newaxis]
    Y = 2 / k * np.cumsum(k * np.diff(L, axis=0), axis=0)
    np.testing.assert_allclose(mapped("megno", 100.0).values, Y.mean(axis=0), rtol=1e-11)


@pytest.mark.parametrize(("k", "order"), [(2, 0.01), (4, 1e-9)])
def test_gali_of_the_orbits_of_chaostools(k, order):
    """A periodic, a quasiperiodic and a chaotic orbit of Henon and Heiles, with the bounds at
    t = 1000 that ChaosTools.jl (test/chaosdetection/gali.jl) sets for its own."""
    start = np.array([[0, 0.295456, 0.407308431, 0], [0, 0.483, 0.27898039, 0],
                      [0, -0.25, 0.42081, 0]])  # fmt: skip
    found = pi.chaos_map(pi.systems.henon_heiles, start[:, :2], start[:, 2:], dt=0.05, k=k,
                         t_end=1000.0, indicator="gali", method="velocity_verlet")  # fmt: skip
    assert (found.values[:2] > order).all()
    assert found.values[2] <= 1e-12


def test_indicators_tell_chaos_from_order():
    fli, megno = mapped("fli").values, mapped("megno").values
    assert fli[0] > 50
    assert fli[1] < np.log(2000.0)
    assert megno[0] > 10
    assert abs(megno[1] - 2) < 0.5
    sali, gali = mapped("sali").values, mapped("gali").values
    assert sali[0] < 1e-12
    assert sali[1] > 0.1
    # The volume of two unit vectors: sin of the angle, of which SALI is 2 sin(half).
    half = np.arcsin(sali[1] / 2)
    assert gali[1] == pytest.approx(np.sin(2 * half), rel=1e-12)
    more = mapped("gali", k=np.int64(3)).values
    assert more[0] < 1e-25
    assert 1e-6 < more[1] < 1e-2  # of an orbit on a torus of two dimensions it falls as t^-2
    exponent = mapped("lyapunov").values
    assert exponent[0] > 0.03
    assert exponent[1] < 0.005


@pytest.mark.parametrize("indicator", ["fli", "megno", "sali", "gali", "lyapunov"])
def test_bits_do_not_depend_on_the_batch_or_workers(indicator):
    grid = {"x0": np.random.default_rng(0).normal(scale=0.12, size=(3, 7, 2)),
            "v0": np.random.default_rng(1).normal(scale=0.12, size=(3, 7, 2))}  # fmt: skip
    call = {"t_end": 20.0, "indicator": indicator, **CALL}
    system = pi.systems.henon_heiles
    whole = pi.chaos_map(system, **grid, **call)
    assert whole.values.shape == (3, 7)
    assert same_bits(pi.chaos_map(system, **grid, workers=2, **call).values, whole.values)
    one = pi.chaos_map(system, grid["x0"][2, 4], grid["v0"][2, 4], **call)
    assert same_bits(one.values, whole.values[2, 4])


def test_a_trajectory_that_escapes_is_nan_with_its_reason():
    x0, v0 = np.append(X0, [[0.0, 5.0]], axis=0), np.append(V0, [[0.0, 5.0]], axis=0)
    for indicator in ("fli", "sali", "lyapunov"):
        with pytest.warns(pi.IntegrationWarning, match="1 of 3"):
            found = pi.chaos_map(pi.systems.henon_heiles, x0, v0, t_end=50.0, indicator=indicator,
                                 **CALL)  # fmt: skip
        assert np.isnan(found.values).tolist() == [False, False, True]
        assert found.status.tolist() == [0, 0, int(pi.Status.NOT_FINITE)]
        assert found.failed_step[2] > 0


def test_a_start_that_is_no_number_gives_none():
    x0 = np.array([[0.0, 0.1], [np.nan, 0.0]])
    found = pi.chaos_map(pi.systems.henon_heiles, x0, 0.1, t_end=10.0, **CALL)
    assert np.isnan(found.values).tolist() == [False, True]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"indicator": "flu"}, ValueError, "indicator must be one of fli"),
        ({"k": 2}, ValueError, "k is for 'gali'"),
        ({"indicator": "gali", "k": 5}, ValueError, "has 4 components"),
        ({"save": "all"}, TypeError, "no option 'save'"),
        ({"renormalise": 0}, ValueError, "renormalise must be"),
        ({"indicator": "megno", "renormalise": 11}, ValueError, "is 11, and the run has 10 steps"),
        ({"method": "adams_bashforth4"}, ValueError, "remembers earlier states"),
    ],
)
def test_wrong_arguments_are_named(options, error, message):
    with pytest.raises(error, match=message):
        pi.chaos_map(pi.systems.henon_heiles, dt=0.1, t_end=1.0, **options)


def test_pictures():
    pytest.importorskip("matplotlib").use("Agg")
    angle = np.linspace(-3, 3, 9)
    pendulums = pi.chaos_map(
        pi.systems.double_pendulum(l1=np.array([[0.5], [1.0]])),
        np.stack([angle, angle], axis=-1), np.zeros((9, 2)), dt=0.02, t_end=5.0)  # fmt: skip
    ax = pendulums.plot()
    assert ax.get_ylabel() == "l1 [m]"
    assert same_bits(np.ma.getdata(ax.collections[0].get_array()), pendulums.values)
    pendulums.values[0, 0] = np.nan  # as where it escapes
    assert pendulums.plot().collections[0].colorbar.ax.get_ylabel().endswith("\n(grey: none)")
    line = mapped("sali", 20.0).plot()
    assert line.get_yscale() == "log"
    assert "SALI" in line.get_ylabel()
    with pytest.raises(ValueError, match="one or two axes"):
        pi.chaos_map(pi.systems.lorenz, dt=0.01, t_end=1.0).plot()
