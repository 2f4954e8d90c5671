"""Lyapunov exponents: known values, exact relations, bits, failures."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate.analysis.portraits.tangent_growth import doubling, generic, kaplan_yorke

# Skokos (2010), Lect. Notes Phys. 790, 63-135, figures 3 and 5: Henon-Heiles at energy 1/8.
CHAOTIC = ([0.0, -0.25], [0.42081, 0.0])
REGULAR = ([0.0, 0.55], [0.24171, 0.0])


def test_lorenz_has_the_known_spectrum():
    """0.9056, 0, -14.5723 (Viswanath 1998); the sum is the divergence -(sigma + 1 + beta)."""
    starts = np.random.default_rng(0).normal([0, 0, 25], 1, size=(8, 3))
    found = pi.lyapunov(pi.systems.lorenz, starts, dt=0.01, t_end=1020, transient=20, k=3)
    # Eight averages over 1000: each has a standard deviation of 0.005.
    np.testing.assert_allclose(found.exponents.mean(axis=0), [0.9056, 0, -14.5723], atol=6e-3)
    # RK4's own steps contract so much less, by h^4.
    np.testing.assert_allclose(found.exponents.sum(axis=-1), -41 / 3, rtol=0, atol=5e-4)
    np.testing.assert_allclose(found.dimension, 2.062, rtol=0, atol=5e-3)
    assert found.status.tolist() == [0] * 8
    one = pi.lyapunov(pi.systems.lorenz, starts, dt=0.01, t_end=1020, transient=20)
    # The first direction is the same with others beside it, to the rounding that chaos amplifies.
    np.testing.assert_allclose(one.exponents[:, 0].mean(), 0.9056, atol=6e-3)


def test_a_linear_system_has_the_real_parts_of_its_eigenvalues():
    @pi.rhs(dim=3)
    def linear(t, y):
        return y[0] + 2 * y[1], -2 * y[0] + y[1], -0.5 * y[2]

    found = pi.lyapunov(linear, [0.0, 0, 0], dt=0.01, t_end=210.0, transient=10.0, k=3)
    # RK4 is off by h^5 / 120 in a step; the rotating pair averages as 1 / t.
    np.testing.assert_allclose(found.exponents, [1, 1, -0.5], rtol=0, atol=5e-3)
    forever = pi.lyapunov(linear, [0.0, 0, 0], dt=0.1, t_end=5000.0, k=1)
    assert abs(forever.exponents[0] - 1) < 1e-3  # e^5000 is no number


@pytest.mark.parametrize("k", [1, 2])
def test_constant_rates_need_no_transient(k):
    """The tangents begin anywhere: the way to their directions is no growth (0.086 with it)."""
    rates = pi.rhs(dim=2)(lambda t, y: (0.1 * y[0], -0.4 * y[1]))
    found = pi.lyapunov(rates, [1.0, 1.0], dt=0.01, t_end=100.0, k=k)
    # e^(-0.5 t) of the way is left when an eighth has passed, squared and divided by the time.
    np.testing.assert_allclose(found.exponents, [0.1, -0.4][:k], rtol=0, atol=np.exp(-12.5) / 2)
    assert found.times[0] > 12.5


@pytest.mark.parametrize("second", [2.0**30, 2.0**43, 2.0**-50])
def test_units_of_time_change_no_volume(second):
    """Tangents of x and v in other units are all but parallel: the sums were off by up to 15."""
    x, v = np.random.default_rng(0).uniform(-1, 1, (2, 500))
    system = pi.systems.pendulum(g=1 / second**2)
    found = pi.lyapunov(system, x, v / second, dt=second / 64, t_end=2 * second, k=2,
                        method="velocity_verlet")  # fmt: skip
    assert np.all(np.abs(found.exponents.sum(axis=-1) * second) < 1e-7)


def test_symplectic_methods_keep_the_exponents_in_pairs():
    found = pi.lyapunov(
        pi.systems.henon_heiles, *CHAOTIC, dt=0.05, t_end=20_000, k=4, method="yoshida4"
    )
    assert abs(found.exponents[0] - 0.046) < 0.005  # Skokos (2010)
    # The pairs' sums are those of logarithms of an orthogonal frame's volume: O(1) / t.
    np.testing.assert_allclose(found.exponents + found.exponents[::-1], 0, atol=3 / 20_000)


def test_a_regular_orbit_tends_to_zero_as_log_t_over_t():
    found = pi.lyapunov(
        pi.systems.henon_heiles, *REGULAR, dt=0.05, t_end=20_000, transient=0,
        method="velocity_verlet",
    )  # fmt: skip
    late = found.times > 100
    assert np.all(
        np.abs(found.history[late, 0]) < 2 * np.log(found.times[late]) / found.times[late]
    )
    assert found.exponents[0] < 1e-3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_do_not_depend_on_splits_workers_or_neighbours(dtype):
    starts = np.random.default_rng(1).normal(size=(37, 3)).astype(dtype)
    call = {"dt": 0.01, "t_end": 20.0, "transient": 1.0, "k": 2, "dtype": dtype}
    whole = pi.lyapunov(pi.systems.lorenz, starts, **call)
    assert same_bits(
        whole.history, pi.lyapunov(pi.systems.lorenz, starts, workers=2, **call).history
    )
    for i in (0, 17, 36):
        alone = pi.lyapunov(pi.systems.lorenz, starts[i], **call)
        assert same_bits(alone.history, whole.history[:, i])
    again = pi.lyapunov(pi.systems.lorenz.tangent(2), starts, **call)
    assert same_bits(again.history, whole.history)


def test_renormalising_one_tangent_rounds_nothing():
    """However often: powers of two are exact, and the growth is the same to the last bits."""
    often, seldom = (
        pi.lyapunov(pi.systems.rossler, dt=0.01, t_end=50.0, transient=0, renormalise=n).exponents
        for n in (1, 500)
    )
    np.testing.assert_allclose(often, seldom, rtol=1e-13)


def test_the_growth_is_that_of_tangents_which_are_not_renormalised():
    system = pi.systems.lorenz
    found = pi.lyapunov(system, dt=0.01, t_end=5.0, transient=0, k=3, renormalise=7)
    both = system.tangent(3)
    start = both.initial
    start[both.places[:, 1:]] = generic(3, 3)
    M = both.parts(pi.integrate(both, start, dt=0.01, n_steps=500, save="final").final)[1]
    expected = np.log(abs(np.diag(np.linalg.qr(M)[1]))) / 5.0
    # M has the condition e^77: QR of it knows the first two digits of the last to 1e-10 only.
    np.testing.assert_allclose(found.exponents[:2], expected[:2], rtol=1e-8)


def test_a_trajectory_that_escapes_is_nan_with_its_reason():
    free = ([0.0, 5.0], [0.0, 5.0])  # over the rim of the potential
    x0 = np.array([CHAOTIC[0], free[0]])
    v0 = np.array([CHAOTIC[1], free[1]])
    run = {"dt": 0.01, "t_end": 100.0, "transient": 0, "k": 2}
    with pytest.warns(pi.IntegrationWarning, match="1 of 2 trajectories failed"):
        found = pi.lyapunov(pi.systems.henon_heiles, x0, v0, **run)
    assert np.isnan(found.exponents).tolist() == [[False, False], [True, True]]
    assert found.status.tolist() == [0, int(pi.Status.NOT_FINITE)]
    assert found.failed_step[1] > 0
    assert np.isfinite(found.history[0, 1]).all()  # before it failed
    assert "1 of 2" in found.failures()
    alone = pi.lyapunov(pi.systems.henon_heiles, *CHAOTIC, **run)
    assert same_bits(found.exponents[0], alone.exponents)


@pytest.mark.parametrize("transient", [0.0, 1.0])
def test_a_tangent_that_a_step_takes_to_zero_has_no_finite_exponent(transient):
    """The factor of Euler's step is 1 - rate dt, here 0 and 1/2; logarithms are right to 4 eps."""
    decay = pi.rhs(lambda t, y, rate=1.0: [-rate * y[0]])(rate=[2.0, 1.0])
    run = {"dt": 0.5, "t_end": 9.0, "transient": transient, "method": "euler"}
    gone, left = pi.lyapunov(decay, [1.0], **run).history[..., 0].T
    assert (gone == -np.inf).all()
    np.testing.assert_allclose(left, 2 * np.log(0.5), rtol=1e-14)


@pytest.mark.parametrize("rate", [1 - 1e-4, 1 - 2.0**-50])
def test_a_tangent_that_steps_all_but_take_to_zero_has_an_exponent(rate):
    """It was -inf: a hundred steps between renormalisations leave no number."""
    decay = pi.rhs(lambda t, y, rate: [-rate * y[0]], rate=rate)
    found = pi.lyapunov(decay, [1.0], dt=1.0, t_end=2000.0, method="euler")
    np.testing.assert_allclose(found.exponents, np.log(1 - rate), rtol=1e-9)


@pytest.mark.parametrize("renormalise", [1, 10, 50])
def test_the_long_steps_of_a_stiff_motion_contract_as_much_as_they_do(renormalise):
    """A backward Euler step divides by 1 - rate dt, 1e5: a hundred of them leave no number."""
    stiff = pi.rhs(dim=1, rate=-1e6)(lambda t, y, rate: [rate * (y[0] - np.cos(t))])
    run = {"dt": 0.1, "t_end": 100.0, "method": "implicit_euler", "renormalise": renormalise}
    found = pi.lyapunov(stiff, [1.0], **run)
    np.testing.assert_allclose(found.exponents, -10 * np.log1p(1e5), rtol=1e-12)


def test_a_tangent_at_rest_grows_as_fast_as_one_asks_for():
    """By 8221 in a step of Runge and Kutta, whose stability polynomial this is."""
    unstable = pi.rhs(dim=1)(lambda t, y: [20 * y[0]])
    found = pi.lyapunov(unstable, [0.0], dt=1.0, t_end=1000.0, renormalise=5)
    factor = 1 + 20 + 20**2 / 2 + 20**3 / 6 + 20**4 / 24
    np.testing.assert_allclose(found.exponents, np.log(factor), rtol=1e-12)


def test_backwards_in_time_the_exponents_change_sign():
    call = {"method": "implicit_midpoint", "k": 2}
    system = pi.systems.van_der_pol
    with pytest.raises(ValueError, match="behind t0"):
        pi.lyapunov(system, dt=-0.01, t_end=1.0, **call)
    linear = pi.rhs(dim=2)(lambda t, y: [-y[0], -2 * y[1]])
    found = pi.lyapunov(linear, [0.0, 0.0], dt=-0.01, t_end=-50.0, transient=10.0, **call)
    np.testing.assert_allclose(found.exponents, [2, 1], rtol=1e-3)


def test_kaplan_yorke():
    assert kaplan_yorke([0.9056, 0.0, -14.5723], True) == pytest.approx(2 + 0.9056 / 14.5723)
    assert kaplan_yorke([-1.0, -2.0], True) == 0
    assert kaplan_yorke([1.0, -1.0], True) == 2
    assert np.isnan(kaplan_yorke([1.0, -0.5], False))
    assert np.isnan(kaplan_yorke([np.nan, -0.5], True))
    assert kaplan_yorke([[0.5, -1.0], [0.0, -1.0]], True).tolist() == [1.5, 1.0]


@pytest.mark.parametrize("t_end", 200 + np.arange(8) * 0.8)
def test_a_cycle_has_dimension_one(t_end):
    """Its exponent of 0 comes out a little below or above: the dimension was 0 or 1.0."""
    found = pi.lyapunov(pi.systems.van_der_pol, dt=0.02, t_end=t_end, k=2)
    assert found.dimension == 1.0


def test_history_doubles():
    assert doubling(1000, 10) == [10, 30, 60, 120, 250, 500, 1000]
    for n in (1, 7, 10, 123, 4096):
        counts = doubling(n, 10)
        assert counts[-1] == n
        assert all(c % 10 == 0 for c in counts[:-1])
        assert counts == sorted(set(counts))


def test_batches_of_parameters_and_steps():
    found = pi.lyapunov(
        pi.systems.lorenz(rho=np.array([10.0, 28.0])), dt=np.array([[0.01], [0.005]]),
        t_end=np.array([[100.0], [50.0]]),
    )  # fmt: skip
    assert found.exponents.shape == (2, 2, 1)
    assert found.times.shape == (len(found.history), 2, 2)
    assert np.all(found.exponents[:, 0] < 0)  # a fixed point
    assert np.all(found.exponents[:, 1] > 0.5)
    call = {"dt": np.array([0.01, 0.005]), "t_end": np.array([20.0, 10.0])}
    late = pi.lyapunov(pi.systems.lorenz, transient=np.array([10.0, 5.0]), **call)
    assert np.all(np.isfinite(late.exponents))
    with pytest.raises(ValueError, match="transient"):
        pi.lyapunov(pi.systems.lorenz, transient=5.0, **call)
    empty = pi.lyapunov(pi.systems.lorenz, np.zeros((0, 3)), dt=0.01, t_end=1.0)
    assert empty.exponents.shape == (0, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 4}, "has 3 components"),
        ({"k": 0}, "k must be"),
        ({"renormalise": 0}, "renormalise must be"),
        ({"transient": 1.0}, "nothing is left"),
        ({"transient": -1.0}, "transient must be"),
        ({"method": "adams_bashforth4"}, "remembers earlier states"),
        ({"t_end": 0.123}, "not a whole number"),
        ({"dt": [0.01, 0.02]}, "from 50 to 100: make one call for each dt .*give pi.integrate n_"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    call = {"dt": 0.01, "t_end": 1.0} | options
    with pytest.raises(ValueError, match=message):
        pi.lyapunov(pi.systems.lorenz, **call)
    with pytest.raises(ValueError, match="k is 3"):
        pi.lyapunov(pi.systems.lorenz.tangent(2), dt=0.01, t_end=1.0, k=3)


def test_progress_and_interrupts():
    calls = []
    pi.lyapunov(pi.systems.lorenz, np.ones((2000, 3)), dt=0.01, t_end=20.0, transient=5.0,
                progress=lambda done, total: calls.append((done, total)))  # fmt: skip
    assert calls[-1] == (2000, 2000)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pi.lyapunov(pi.systems.lorenz, np.ones((2000, 3)), dt=0.01, t_end=20.0, progress=stop)


def test_the_picture():
    pytest.importorskip("matplotlib").use("Agg")
    found = pi.lyapunov(pi.systems.lorenz, np.ones((3, 3)), dt=0.01, t_end=10.0, k=2)
    ax = found.plot()
    assert ax.get_ylabel() == "Lyapunov exponents [1/s]"
    assert same_bits(ax.lines[-1].get_ydata(), found.history[:, 2, 1])
    assert "Lyapunov" in repr(found)
    assert ax.get_legend_handles_labels()[1] == [
        f"{name}, trajectory {i}" for name in ("λ₁", "λ₂") for i in range(3)
    ]
    one = pi.lyapunov(pi.systems.lorenz(rho=[14.0, 28.0]), dt=0.01, t_end=10.0).plot()
    assert one.get_legend_handles_labels()[1] == ["ρ = 14", "ρ = 28"]
    assert one.lines[1].get_color() != one.lines[2].get_color()


@pytest.mark.parametrize("dt", [0.01, -0.01])
def test_the_picture_counts_from_the_end_of_the_transient(dt):
    pytest.importorskip("matplotlib").use("Agg")
    found = pi.lyapunov(
        pi.systems.henon_heiles, dt=dt, t0=7.0, t_end=7.0 + 1000 * dt, transient=2.0
    )
    ax = found.plot()
    assert ax.get_xlabel() == "averaged over [s]"
    t = ax.lines[-1].get_xdata()
    assert t[-1] == pytest.approx(8.0)
    assert t[-1] / t[-2] == pytest.approx(2.0)  # evenly on the axis, whatever the transient
