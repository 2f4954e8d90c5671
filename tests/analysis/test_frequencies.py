"""Frequencies by NAFF: known signals, their order of convergence, and published maps."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.analysis.portraits.spectral_lines import terms

TRUE = np.array([1.0, 2**0.5, 0.3])
SIZES = np.array([1.0, 0.5, 0.2])
LENGTHS = 100 * 2 ** np.arange(6)


def signal(length, dt=0.1, real=True):
    t = (np.arange(round(length / dt) + 1) * dt)[:, np.newaxis]
    z = (SIZES * np.exp(1j * (TRUE * t + [0.1, 1.0, 0.5]))).sum(axis=1)
    return z.real if real else z


@pytest.mark.parametrize("real", [True, False])
def test_frequencies_err_by_the_fourth_power_of_the_length(real):
    """Laskar (1993): with Hann's window; the Fourier transform alone errs by pi / T."""
    errors = [
        np.abs(terms(signal(length, real=real)[np.newaxis], 3)[0][0] / 0.1 - TRUE).max()
        for length in LENGTHS
    ]
    order = -np.polyfit(np.log(LENGTHS), np.log(errors), 1)[0]
    assert order == pytest.approx(4, abs=0.5)  # the phases of the terms at the ends scatter it
    assert errors[-1] < 1e-9


def test_amplitudes_and_the_residual():
    w, a, mean, residual = terms(2.0 + signal(3200)[np.newaxis], 3)
    assert np.abs(a[0]) == pytest.approx(SIZES, abs=1e-6)
    assert mean[0] == pytest.approx(2.0, abs=1e-6)
    assert residual[0] < 1e-6


def test_the_largest_amplitude_is_first():
    """Also of nearly equal ones, of which one lies between two frequencies of the transform."""
    t = np.arange(1024) * 2 * np.pi / 1024
    z = np.cos(100 * t) + np.array([[0.97], [1.03]]) * np.cos(130.5 * t)
    a = np.abs(terms(z, 2)[1])
    assert a == pytest.approx(np.array([[1, 0.97], [1.03, 1]]), abs=1e-3)
    slow = np.cos(100 * t) + 0.9 * np.cos(0.5 * t)  # which makes terms of amplitudes of about 3
    assert abs(terms(slow[np.newaxis], 3)[1][0, 0]) == pytest.approx(1, abs=1e-3)


def test_a_pendulum_has_the_frequency_of_its_amplitude():
    special = pytest.importorskip("scipy.special")
    swing = np.linspace(0.5, 2.5, 5)
    found = pi.analysis.frequencies(
        pi.systems.pendulum, 2, swing, 0.0, dt=0.01, t_end=200.0, method="yoshida6")  # fmt: skip
    expected = np.pi * 9.81**0.5 / (2 * special.ellipk(np.sin(swing / 2) ** 2))
    assert found.values[:, 0, 0] == pytest.approx(expected, rel=1e-8)
    assert found.values[:, 0, 1] == pytest.approx(3 * expected, rel=1e-6)
    assert found.drifts.max() < 1e-6
    c = found.amplitudes[:, 0, 0]
    assert np.abs(c.imag).max() < 1e-5  # it begins at its turning point: a cosine


def test_a_pair_of_components_turns_with_a_sign():
    sol = pi.integrate(pi.systems.oscillator, dt=0.02, n_steps=20_000, method="yoshida6")
    found = pi.analysis.frequencies(sol, 1, signals=[("x", "v"), "x"])
    assert found.values[:, 0] == pytest.approx([1.0, 1.0], abs=1e-6)
    back = pi.analysis.frequencies(sol, 1, signals=lambda s: s["x"] + 1j * s["v"])
    assert back.values[0, 0] == pytest.approx(-1.0, abs=1e-6)


@np.errstate(all="raise")  # as a user may have it
def test_signals_of_any_size_and_direction_have_their_frequency():
    """Squares of these vanish or overflow."""
    run = {"dt": 0.05, "n_steps": 2000, "signals": ["x", ("x", "v")]}
    sizes = np.array([2.0**-1000, 2.0**-400, 1.0, 2.0**400, 2.0**1000])
    found = pi.analysis.frequencies(pi.systems.oscillator, 1, sizes, 0 * sizes, **run)
    assert np.allclose(found.values, found.values[2], rtol=1e-14, atol=0)
    assert np.allclose(found.amplitudes[..., 0].T / sizes, found.amplitudes[2], rtol=1e-12, atol=0)
    back = pi.analysis.frequencies(pi.systems.oscillator, 1, 1.0, 0.0, **run | {"dt": -0.05})
    assert np.allclose(back.drifts, found.drifts[2], rtol=1e-9, atol=1e-12)
    for dt in 0.05, -0.05:  # cos t + 0.7 sin t is Re((1 - 0.7 i) exp(i t)), both ways
        own = pi.analysis.frequencies(pi.systems.oscillator, 1, 1.0, 0.7, **run | {"dt": dt})
        assert np.allclose(own.values, 1.0, rtol=1e-5)
        assert np.allclose(own.amplitudes[0], 1 - 0.7j, atol=1e-3)


def test_batches_change_no_bits_and_failures_are_nan():
    x0 = np.array([[0.3, 0, 0, 0.4], [0.1, 0.1, 0.2, 0], [np.nan, 0, 0, 0], [0, 0.2, 0.1, 0.1]])
    run = {"dt": 0.1, "n_steps": 2000, "on_failure": "ignore"}
    whole = pi.analysis.frequencies(pi.systems.henon_heiles, 3, x0, **run)
    assert np.isnan(whole.values[2]).all()
    assert np.isnan(whole.drifts[2]).all()
    for i in (0, 1, 3):
        one = pi.analysis.frequencies(pi.systems.henon_heiles, 3, x0[i], **run)
        assert one.values.tobytes() == whole.values[i].tobytes()
        assert one.amplitudes.tobytes() == whole.amplitudes[i].tobytes()


def test_an_empty_batch_has_no_frequencies():
    sol = pi.integrate(pi.systems.spring, np.ones((0, 2)), dt=0.01, n_steps=1000)
    found = pi.analysis.frequencies(sol)
    one = pi.analysis.frequencies(pi.integrate(pi.systems.spring, [1.0, 0], dt=0.01, n_steps=1000))
    assert found.values.shape == (0, *one.values.shape)
    assert found.means.shape == (0, *one.means.shape)


def test_chaos_drifts_and_order_does_not():
    """Henon, Heiles (1964), energy 1/8: an island about the periodic orbit, and the sea."""
    y, vy = np.array([0.3, -0.25]), 0.0
    vx = np.sqrt(2 * (1 / 8 - y**2 / 2 + y**3 / 3) - vy**2)
    start = np.stack([0 * y, y, vx, 0 * y], axis=-1)
    found = pi.analysis.frequencies(
        pi.systems.henon_heiles, 1, start, dt=0.1, t_end=2000.0, method="forest_ruth4")  # fmt: skip
    regular, chaotic = found.drifts.max(axis=1)
    assert regular < 1e-6 < 1e-4 < chaotic


def test_nothing_but_rounding_has_no_frequency():
    turning = np.exp(0.3j * np.arange(512))[np.newaxis]
    w = terms(turning, 2)[0]
    assert w[0, 0] == pytest.approx(0.3, abs=1e-6)
    rest = pi.integrate(pi.systems.oscillator, 0.0, 0.0, dt=0.1, n_steps=100)
    assert np.isnan(pi.analysis.frequencies(rest).values).all()


def test_wrong_arguments_are_named():
    sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=105, save=10)
    with pytest.raises(ValueError, match="at least 16"):
        pi.analysis.frequencies(sol)
    sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=1005, save=10)
    with pytest.raises(ValueError, match="unequal distances"):
        pi.analysis.frequencies(sol)
    sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100)
    with pytest.raises(TypeError, match="a Solution has run already, and takes no dt"):
        pi.analysis.frequencies(sol, dt=0.1)
    with pytest.raises(TypeError, match="frequencies takes a Solution as source, got ndarray"):
        pi.analysis.frequencies(sol.x, dt=0.1)
    with pytest.raises(ValueError, match="k must be at least 1"):
        pi.analysis.frequencies(sol, 0)


def test_pictures_of_a_map_and_a_spectrum():
    pytest.importorskip("matplotlib").use("Agg")
    start = np.stack(np.broadcast_arrays(0.0, np.linspace(0.1, 0.3, 6), 0.2, 0.0), axis=-1)
    run = {"dt": 0.1, "n_steps": 500}
    found = pi.analysis.frequencies(pi.systems.henon_heiles, 2, start, **run)
    assert found.plot().get_xlabel().startswith("frequency of x")
    assert (
        pi.analysis.frequencies(pi.systems.henon_heiles, **run).plot().get_ylabel() == "amplitude"
    )


@pytest.mark.parametrize("signals", [None, [("x", "v")]])
def test_saves_too_far_apart_have_no_frequency(signals):
    """Two saves a period are the least: w < pi / distance. Folded, w would be 2 pi / d - w."""
    motion = pi.systems.oscillator(omega=np.array([0.5, 0.57, 0.7, 3.0]))
    sol = pi.integrate(
        motion, dt=0.01, n_steps=100_000, save=500, method="yoshida6"
    )  # pi/5 = 0.628
    with pytest.warns(pi.RecordWarning, match="2 of 4 motions .*closer save=k"):
        found = pi.analysis.frequencies(sol, 1, signals=signals)
    assert found.values[:2, 0, 0] == pytest.approx([0.5, 0.57], abs=1e-6)
    assert np.isnan(found.values[2:]).all()


def test_fewer_than_two_periods_have_no_frequency():
    """A record of one period gave 1.1 to 1.5 times the frequency, as the phase was."""
    run = {"x0": [1.0, 0.6, 0.0], "v0": [0.0, 0.8, 1.0], "dt": 0.01, "method": "dop853"}
    for periods in (1.0, 1.6):
        with pytest.warns(pi.RecordWarning, match="3 of 3 .* fewer than two periods"):
            found = pi.analysis.frequencies(
                pi.systems.oscillator, n_steps=round(200 * np.pi * periods), **run
            )
        assert np.isnan(found.values).all()
        assert np.isnan(found.drifts).all()
    found = pi.analysis.frequencies(pi.systems.oscillator, n_steps=1300, **run)
    assert found.values[:, 0, 0] == pytest.approx(np.ones(3), abs=0.02)


def test_a_component_that_was_not_saved_has_no_frequency():
    sol = pi.integrate(pi.systems.pendulum, dt=0.1, n_steps=99, components=["omega"])
    with pytest.raises(ValueError, match="theta was not saved"):
        pi.analysis.frequencies(sol)
    whole = pi.integrate(pi.systems.pendulum, dt=0.1, n_steps=99)
    alone, beside = (pi.analysis.frequencies(one, signals="omega").values for one in (sol, whole))
    assert np.array_equal(alone, beside)


@pytest.mark.parametrize("length", [30.0, 100.0, 101.3])
def test_a_mean_is_no_slow_term(length):
    """What a cosine leaks into the mean, 2e-5 of it, came out as a term of -1e-8 and 0.009."""
    n = round(length / 0.05)
    found = pi.analysis.frequencies(pi.systems.oscillator, 3, 1.0, 0.0, dt=0.05, n_steps=n,
                                    method="yoshida6")  # fmt: skip
    assert np.abs(found.means).max() < 1e-6
    assert found.values.min() > 0.5
    assert np.abs(found.amplitudes[0, 1:]).max() < 3e-5  # of a window that is no whole period


def test_signals_of_one_name_are_numbered():
    sol = pi.integrate(pi.systems.pendulum, dt=0.1, n_steps=99)
    both = [lambda sol: sol["theta"], "omega", lambda sol: sol["omega"]]
    found = pi.analysis.frequencies(sol, signals=both)
    assert found.signals == ("quantity 0", "omega", "quantity 2")


def test_an_angle_that_turns_has_no_frequency_of_its_own():
    """It grows, which was read as one and a half periods; the frequency is that of its circle."""
    turning = pi.integrate(
        pi.systems.pendulum, [0.0, 1.0], [8.0, 0.0], dt=0.02, n_steps=5000, method="yoshida6"
    )
    with pytest.warns(pi.RecordWarning, match="1 of 2 motions are NaN: a signal grows"):
        found = pi.analysis.frequencies(turning, 1)
    assert np.isnan(found.values[:, 0, 0]).tolist() == [True, False]
    circle = pi.analysis.frequencies(turning, 1, signals=[lambda sol: np.exp(1j * sol["theta"])])
    turns = turning["theta"][-1, 0] / 100
    assert circle.values[0, 0, 0] == pytest.approx(turns, abs=0.02)
