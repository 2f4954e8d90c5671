"""The published numbers of the cases that the project must reproduce, to every digit given.

Sources: the car with its float32 table, and the spring-damper (m = 1, k = 15, b = 0.1 from x = 1000
at dt = 1/100), are those of Fiedler (2004), "Integration Basics", Gaffer on Games. The numbers of
the spring-damper at t = 60 and the table of phase drift are the acceptance data of this project.
Stability limits: Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2, and
Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, I.1; those of the longer methods
were recomputed from their coefficients.
"""

from decimal import Decimal

import numpy as np
import pytest

import pyintegrate as pi


def printed(text):
    """A published number: the tolerance is half a unit of its last digit."""
    unit = 10.0 ** Decimal(text).as_tuple().exponent
    return pytest.approx(float(text), rel=0, abs=0.5000001 * unit)


# ---- the car: F = 10 N, m = 1 kg, from rest ------------------------------------------------------


def drive(method, dt=1.0, n_steps=10, **options):
    return pi.integrate(
        pi.systems.constant_force, 0.0, 0.0, dt=dt, n_steps=n_steps, method=method, **options
    )


def test_explicit_euler_drives_the_car_450_metres():
    sol = drive("explicit_euler")
    assert sol.x.tolist() == [0, 0, 10, 30, 60, 100, 150, 210, 280, 360, 450]
    assert sol.v.tolist() == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]


@pytest.mark.parametrize(
    ("method", "metres"),
    [
        ("semi_implicit_euler", 550),
        ("velocity_verlet", 500),
        ("position_verlet", 500),
        ("midpoint", 500),
        ("rk4", 500),
    ],
)
def test_the_car_after_ten_seconds(method, metres):
    sol = drive(method)
    # Whole numbers, but for the sixths of rk4: an ulp in each of ten steps.
    assert sol.final == pytest.approx([metres, 100], rel=3e-15, abs=0)


def test_the_car_is_exactly_at_500_metres():
    assert pi.systems.constant_force.exact([10.0], [0.0, 0.0]).tolist() == [[500.0, 100.0]]
    assert drive("velocity_verlet").final.tolist() == [500.0, 100.0]


CAR_IN_FLOAT32 = """
 9.90 489.552155 98.999062
 9.91 490.542145 99.099060
 9.92 491.533142 99.199059
 9.93 492.525146 99.299057
 9.94 493.518127 99.399055
 9.95 494.512115 99.499054
 9.96 495.507111 99.599052
 9.97 496.503113 99.699051
 9.98 497.500092 99.799049
 9.99 498.498077 99.899048
10.00 499.497070 99.999046
"""


def test_the_car_in_float32_matches_every_printed_digit():
    sol = drive("explicit_euler", dt=0.01, n_steps=1000, dtype=np.float32)
    assert sol.y.dtype == np.float32
    lines = [
        f"{t:5.2f} {x:.6f} {v:.6f}"
        for t, x, v in zip(sol.t[990:], sol.x[990:].tolist(), sol.v[990:].tolist(), strict=True)
    ]
    assert lines == CAR_IN_FLOAT32.strip("\n").split("\n")


# ---- the spring-damper: m = 1, k = 15, b = 0.1, x0 = 1000, dt = 1/100, to t = 60 -----------------


def damped(method, **options):
    return pi.integrate(
        pi.systems.spring, 1000.0, 0.0, dt=0.01, t_end=60.0, method=method, **options
    )


@pytest.mark.parametrize(
    ("method", "energy", "position"),
    [
        ("explicit_euler", "20.009880214", "4441.921182413"),
        ("semi_implicit_euler", "0.002472780361", "49.675408904596"),
        ("velocity_verlet", "0.002470286147", "49.563315267801"),
        ("rk4", "0.002471267480", "49.363716989560"),
    ],
)
def test_the_damped_spring_after_a_minute(method, energy, position):
    sol = damped(method)
    assert sol.energy()[-1] / sol.energy()[0] == printed(energy)
    assert sol.final[0] == printed(position)


def test_the_damped_spring_is_exactly_there():
    assert damped("rk4", save="final").exact()[0, 0] == printed("49.363738409385")


def test_explicit_euler_gains_energy_that_the_damper_should_take():
    energy = damped("explicit_euler").energy()
    assert np.all(np.diff(energy[::100]) > 0)


# ---- phase drift and energy loss: x0 = 1, v0 = 0, to t = 90 --------------------------------------

PHASE_DRIFT = [  # omega^2, dt, method, E(90)/E(0), max energy error, phase error / rad
    (15, 0.1, "rk4", "0.959447735", "0.0405523", "-0.0618907"),
    (15, 0.1, "semi_implicit_euler", "1.2256712", "0.240155", "2.34697"),
    (15, 0.1, "velocity_verlet", "0.971027321", "0.0375", "2.22421"),
    (15, 0.25, "rk4", "0.0258466888", "0.974153", "-1.75774"),
    (15, 0.25, "semi_implicit_euler", "1.67609355", "0.938421", "15.3638"),
    (1, 0.1, "rk4", "0.999987516", "1.24843e-05", "-7.47323e-05"),
    (1, 0.1, "semi_implicit_euler", "1.04609357", "0.0526307", "0.0746422"),
]


@pytest.mark.parametrize("system", ["oscillator", "spring"])
@pytest.mark.parametrize(("stiffness", "dt", "method", "energy", "error", "phase"), PHASE_DRIFT)
def test_phase_drift_and_energy_loss(system, stiffness, dt, method, energy, error, phase):
    omega = np.sqrt(stiffness)
    moving = {
        "oscillator": pi.systems.oscillator(omega=omega),
        "spring": pi.systems.spring(k=stiffness, b=0.0),
    }[system]
    sol = pi.integrate(moving, 1.0, 0.0, dt=dt, t_end=90.0, method=method)
    assert sol.energy()[-1] / sol.energy()[0] == printed(energy)
    assert abs(sol.energy_error()).max() == printed(error)
    angle = np.unwrap(np.arctan2(-sol.v / omega, sol.x) - omega * sol.t)
    assert angle[-1] == printed(phase)


def test_a_wrong_digit_of_a_coefficient_would_be_noticed():
    wrong = pi.RungeKutta(
        [[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]],
        [1 / 6 + 1e-9, 1 / 3 - 1e-9, 1 / 3, 1 / 6],
    )
    sol = damped(wrong, save="final")
    assert sol.final[0] != printed("49.363716989560")


# ---- stability on the undamped oscillator, in units of omega dt ----------------------------------


@pytest.mark.parametrize(
    ("method", "limit"),
    [
        ("explicit_euler", 0.0),
        ("midpoint", 0.0),
        ("heun2", 0.0),
        ("rk4", 2 * np.sqrt(2)),
        ("rk38", 2 * np.sqrt(2)),
        ("semi_implicit_euler", 2.0),
        ("semi_implicit_euler_drift_kick", 2.0),
        ("velocity_verlet", 2.0),
        ("position_verlet", 2.0),
    ],
)
def test_stability_limit(method, limit):
    # A zero of a polynomial of low degree with exact coefficients: some ulps.
    assert pi.methods[method].stability_limit == pytest.approx(limit, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("method", "limit"),
    [("dormand_prince54", "0.997189"), ("tsitouras54", "0.477979"), ("forest_ruth4", "1.5734")],
)
def test_stability_limit_of_the_longer_methods(method, limit):
    assert pi.methods[method].stability_limit == printed(limit)
