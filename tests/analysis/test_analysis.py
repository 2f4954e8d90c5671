"""Phase drift and energy drift are what theory says they are, for every shape of batch."""

import numpy as np
import pytest

import pyintegrate as pi

EULER = "semi_implicit_euler"


def oscillate(method="rk4", omega=1.0, dt=0.1, n_steps=900, **options):
    system = pi.systems.oscillator(omega=omega)
    return pi.integrate(system, 1.0, 0.0, dt=dt, n_steps=n_steps, method=method, **options)


def test_semi_implicit_euler_turns_by_its_modified_frequency():
    z, n = 0.3, 100_000
    drift = pi.analysis.phase_drift(oscillate(EULER, dt=z, n_steps=n))
    # Each step turns by 2 arcsin(z/2); within a period the angle wobbles, by less than z.
    assert drift[-1] == pytest.approx(n * (2 * np.arcsin(z / 2) - z), abs=z)
    assert np.abs(np.diff(drift)).max() < z  # unwrapped: it never jumps by a turn


def test_rk4_lags_by_the_argument_of_its_amplification():
    z, n = 0.3, 1000
    drift = pi.analysis.phase_drift(oscillate(dt=z, n_steps=n))
    turn = np.angle(1 + 1j * z - z**2 / 2 - 1j * z**3 / 6 + z**4 / 24)
    # RK4 turns every vector by this angle: only rounding is left, some ulps of n z radians.
    assert drift[-1] == pytest.approx(n * (turn - z), abs=1e-10)
    assert drift[-1] < 0


def test_the_difference_is_unwrapped_where_the_saves_are_farther_apart_than_a_turn():
    fine = pi.analysis.phase_drift(oscillate(EULER))
    coarse = pi.analysis.phase_drift(oscillate(EULER, save=100))
    assert coarse == pytest.approx(fine[::100], abs=1e-12)  # the same states, the same exact ones


def test_one_save_cannot_count_turns():
    late = oscillate(EULER, omega=15**0.5, dt=0.25, n_steps=360, save="final")
    with pytest.warns(pi.RecordWarning, match='save="all"'):
        drift = pi.analysis.phase_drift(late)  # 15.3638 rad in truth
    assert drift.shape == (1,)
    assert np.isnan(drift[0])


def test_phase_drift_has_the_shape_of_the_batch():
    omega = np.linspace(0.5, 2, 6).reshape(2, 3)
    batch = pi.analysis.phase_drift(oscillate(EULER, omega=omega, n_steps=50))
    assert batch.shape == (51, 2, 3)
    one = pi.analysis.phase_drift(oscillate(EULER, omega=omega[1, 2], n_steps=50))
    assert batch[:, 1, 2] == pytest.approx(one, abs=1e-12)  # exact solutions may round otherwise


def test_phase_drift_with_a_step_per_trajectory():
    batch = pi.analysis.phase_drift(oscillate(EULER, dt=np.array([0.1, 0.2]), n_steps=50))
    one = pi.analysis.phase_drift(oscillate(EULER, dt=0.2, n_steps=50))
    assert batch[:, 1] == pytest.approx(one, abs=1e-12)


def test_backwards_in_time_ahead_is_still_a_larger_angle():
    drift = pi.analysis.phase_drift(oscillate(EULER, dt=-0.1))
    assert drift[-1] < -0.05  # the motion runs to smaller angles, and runs ahead


def test_a_finer_run_serves_as_reference():
    sol = pi.integrate(pi.systems.pendulum, dt=0.02, t_end=10.0, method=EULER)
    fine = pi.integrate(pi.systems.pendulum, dt=0.002, t_end=10.0, save=10)
    drift = pi.analysis.phase_drift(sol, fine)
    assert drift.shape == (501,)
    assert drift[0] == 0
    assert 1e-4 < abs(drift[-1]) < 0.1
    assert np.all(pi.analysis.phase_drift(fine, fine) == 0)


@pytest.mark.parametrize("name", ["pendulum", "kepler"])
def test_the_phase_error_of_a_nonlinear_oscillation_has_the_order_of_the_method(name):
    # Halving dt divides the error of RK4 by 2^4 as dt goes to 0; at these steps by 14 to 18.
    drift = [
        pi.analysis.phase_drift(pi.integrate(pi.systems[name], dt=dt, t_end=8.0))[-1]
        for dt in (0.02, 0.01)
    ]
    assert 14 < drift[0] / drift[1] < 18


def test_one_reference_serves_a_batch():
    x0 = np.array([1.0, 1.1, 1.2])
    batch = pi.integrate(pi.systems.oscillator, x0, 0.0 * x0, dt=0.1, n_steps=20)
    one = oscillate(n_steps=20)
    assert pi.analysis.phase_drift(batch, one).shape == (21, 3)
    # The phase of an oscillator does not depend on its amplitude; scaling rounds.
    assert np.abs(pi.analysis.phase_drift(batch, one)).max() < 1e-13


def test_after_a_failure_there_is_no_phase():
    # Explicit Euler multiplies the motion by |1 + 100i| a step: 1e308 is passed at step 154.
    sol = oscillate("explicit_euler", omega=[1.0, 1000.0], n_steps=400, on_failure="ignore")
    drift = pi.analysis.phase_drift(sol)
    assert np.isfinite(drift[:, 0]).all()
    assert np.isnan(drift[-1, 1])
    assert np.array_equal(np.isnan(drift), ~np.broadcast_to(sol.valid, drift.shape))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pi.analysis.phase_drift(run("lorenz")), "'lorenz' has none"),
        (lambda: pi.analysis.phase_drift(oscillate(n_steps=9), oscillate(n_steps=8)), "9 saves"),
        (lambda: pi.analysis.phase_drift(oscillate(), oscillate(dt=0.2)), "other times"),
        (lambda: pi.analysis.energy_drift(run("lorenz")), "'lorenz' has none"),
    ],
)
def test_what_cannot_be_measured_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def run(name):
    return pi.integrate(pi.systems[name], dt=0.01, n_steps=10)


def test_rk4_loses_energy_at_its_theoretical_rate():
    z = 0.1
    drift = pi.analysis.energy_drift(oscillate(dt=z, n_steps=1000))
    # |R(iz)|^2 = 1 - z^6/72 + z^8/576 a step; over so small a loss the decay is a line to 1e-4.
    assert drift.slope == pytest.approx((-(z**6) / 72 + z**8 / 576) / z, rel=1e-3)
    assert drift.largest == pytest.approx(-drift.final, rel=1e-12)
    assert drift.largest_time == pytest.approx(100.0)


def test_semi_implicit_euler_oscillates_without_a_slope():
    z = 0.1
    sol = oscillate(EULER, dt=z, n_steps=100_000)
    drift = pi.analysis.energy_drift(sol)
    # It conserves E - z x v / 2, so that E swings by z/(2 - z) at most either way.
    assert drift.oscillation < z / (1 - z / 2)
    assert drift.oscillation > 0.9 * z
    assert abs(drift.slope) * 1e4 < 1e-3 * drift.oscillation
    assert drift.largest == np.abs(sol.energy_error()).max()


def test_energy_drift_is_the_least_squares_line():
    sol = oscillate(EULER, omega=[0.7, 1.3, 2.1], n_steps=77)
    drift = pi.analysis.energy_drift(sol)
    for i, error in enumerate(sol.energy_error().T):
        slope, offset = np.polyfit(sol.t, error, 1)
        residual = error - slope * sol.t - offset
        # Two algorithms for one fit: rounding, times the condition of the fit.
        assert drift.slope[i] == pytest.approx(slope, rel=1e-9, abs=1e-14)
        assert drift.oscillation[i] == pytest.approx(np.ptp(residual), rel=1e-9)
        assert drift.final[i] == error[-1]
    assert drift.slope.shape == drift.largest.shape == (3,)


def test_only_valid_saves_count():
    sol = oscillate("explicit_euler", omega=[1.0, 1000.0], n_steps=400, on_failure="ignore")
    drift = pi.analysis.energy_drift(sol)
    alone = pi.analysis.energy_drift(oscillate("explicit_euler", n_steps=400))
    assert drift.slope[0] == pytest.approx(alone.slope, rel=1e-12)  # sums of another order
    assert np.isfinite(drift.final[0])
    assert drift.largest_time[1] < sol.t[-1]


def test_a_single_save_has_no_slope():
    with pytest.warns(pi.RecordWarning, match="only the end"):
        drift = pi.analysis.energy_drift(oscillate(save="final"))
    assert np.isnan(drift.slope)
    assert np.isnan(drift.oscillation)
    assert np.isfinite(drift.final)


def test_the_result_says_what_it_is():
    text = repr(pi.analysis.energy_drift(oscillate(n_steps=10)))
    assert "slope [1/s]" in text
    assert len(text.splitlines()) == 4
    three = pi.analysis.energy_drift(oscillate(omega=[1.0, 2.0, 3.0]))
    assert len(repr(three).splitlines()) == 6
