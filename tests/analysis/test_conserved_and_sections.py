"""Modified energies, periods, sections and basins are those of theory."""

import numpy as np
import pytest

import pyintegrate as pi

EULER = "semi_implicit_euler"
SPLIT = [m for m in pi.methods.values()
         if {"kick", "drift"} <= set(m.coefficients) and m.requires != "n_body"]  # fmt: skip


def change(method, system, order, dt, t_end=4.0):
    sol = pi.integrate(system, dt=dt, t_end=t_end, method=method)
    return np.ptp(pi.analysis.modified_energy(sol, order))


@pytest.mark.parametrize("method", [EULER, "semi_implicit_euler_drift_kick"])
def test_on_the_oscillator_the_modified_energy_is_conserved_exactly(method):
    sol = pi.integrate(pi.systems.oscillator(omega=1.3), dt=0.7, n_steps=100_000, method=method)
    sign = 1 if method == EULER else -1
    kept = pi.analysis.modified_energy(sol)
    by_hand = sol.energy() - sign * 0.35 * 1.69 * sol.x * sol.v
    assert kept == pytest.approx(by_hand, rel=1e-13)
    # Rounding walks: a few ulps times the root of the number of steps.
    assert np.ptp(kept) < 1e-16 * 100_000**0.5 * 20 * kept[0]
    assert np.ptp(sol.energy()) > 0.3 * kept[0]


def assert_modified_order(method, system, order):
    coarse, fine = (change(method, system, order, dt) for dt in (0.02, 0.01))
    # Halving dt divides the error by 2^order, as far as the next power lets it.
    assert coarse / fine == pytest.approx(2.0**order, rel=0.06)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["kepler", "pendulum"])
def test_semi_implicit_euler_conserves_each_further_order(name, order):
    assert_modified_order(EULER, pi.systems[name], order)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_momenta_are_no_velocities(order):
    """With masses other than 1 the third and the fourth order were of the second."""
    bound = pi.hamiltonian(
        lambda q, p: p @ p / 4 + 0.3 * p[0] * p[1] + np.cos(q[0]) + (1 + q[0] / 8) * q[1] ** 2,
        dof=2, initial=[0.3, 0.2, 0.1, 0.5])  # fmt: skip
    assert_modified_order(EULER, bound, order)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_the_modified_energy_keeps_its_digits_in_any_unit_of_time(order):
    """Velocities and accelerations were added: with rates of 2^50 it varied by 7 per cent."""
    values = []
    for unit in (1.0, 2.0**50, 2.0**-30):
        pendulum = pi.systems.pendulum(g=9.81 * unit**2)
        sol = pi.integrate(pendulum, dt=0.05 / unit, n_steps=100, method=EULER)
        values.append(pi.analysis.modified_energy(sol, order) / unit**2)
    assert np.ptp(values, axis=0) == pytest.approx(0, abs=1e-13)


def test_drifts_along_orbits_have_another_modified_energy():
    planets = pi.systems.n_body(initial="outer_solar_system")
    sol = pi.integrate(planets, dt=100.0, n_steps=2, method="wisdom_holman")
    with pytest.raises(ValueError, match="conserves no modified energy"):
        pi.analysis.modified_energy(sol)


@pytest.mark.parametrize("method", [m for m in SPLIT if m.order <= 4], ids=str)
def test_every_composition_has_its_modified_energy(method):
    coarse, fine = (change(method, pi.systems.kepler, 3, dt) for dt in (0.02, 0.01))
    # Three terms leave h^3, or what the method leaves; symmetric ones have no odd powers.
    order = max(3, method.order)
    order += order % 2 if method.symmetric else 0
    assert coarse / fine > 0.9 * 2.0**order


def test_a_mutated_composition_has_another_modified_energy():
    mutated = pi.Composition([("kick", 0.4), ("drift", 1.0), ("kick", 0.6)])
    sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=500, method=mutated)
    as_verlet = sol.energy()  # velocity Verlet has no term in h
    assert np.ptp(as_verlet) > 5 * np.ptp(pi.analysis.modified_energy(sol, 2))


@pytest.mark.parametrize(
    ("system", "method", "order", "message"),
    [
        (pi.systems.oscillator, "rk4", 2, "'rk4'.*semi_implicit_euler"),
        (pi.systems.spring, EULER, 2, "depends on the velocity"),
        (pi.systems.oscillator, EULER, 5, "got 5"),
        (
            pi.hamiltonian(lambda q, p: np.sqrt(1 + p * p) + q * q, initial=[0.0, 1.0]),
            EULER,
            2,
            "not quadratic in the velocity",
        ),
    ],
)
def test_where_there_is_no_modified_energy_it_says_so(system, method, order, message):
    sol = pi.integrate(system, dt=0.1, n_steps=5, method=method)
    with pytest.raises(ValueError, match=message):
        pi.analysis.modified_energy(sol, order)


@pytest.mark.parametrize("t0", [0.0, np.array([-0.5, 0.0])])
def test_parts_of_steps_have_no_modified_energy(t0):
    """They are steps of another length: what is constant to rounding varied by 13 per cent."""
    run = {"x0": 1.0, "v0": 0.0, "dt": 0.5, "t0": t0, "n_steps": 201, "method": EULER}
    sol = pi.integrate(pi.systems.oscillator, **run, times=np.linspace(0, 100, 101))
    assert np.ptp(pi.analysis.modified_energy(sol), axis=0) == pytest.approx(0, abs=1e-14)
    sol = pi.integrate(pi.systems.oscillator, **run, times=np.linspace(0, 100, 150))
    with pytest.raises(ValueError, match="saved within them"):
        pi.analysis.modified_energy(sol)


# ---- phase, period, drift ------------------------------------------------------------------------


def assert_period(method, theory):
    sol = pi.integrate(pi.systems.oscillator, dt=0.3, t_end=3000.0, method=method)
    # The wobble within a period leaves one part in the number of periods squared in the slope.
    assert pi.analysis.period_error(sol) == pytest.approx(theory, rel=1e-4)


def test_the_period_of_semi_implicit_euler_is_short_by_theory():
    theory = 0.15 / np.arcsin(0.15) - 1  # it turns by 2 arcsin(z / 2) instead of z
    assert_period(EULER, theory)
    with pytest.raises(AssertionError):
        assert_period("forest_ruth4", theory)


@pytest.mark.parametrize("name", ["pendulum", "kepler"])
def test_the_phase_is_the_same_with_and_without_closed_forms(name):
    sol = pi.integrate(pi.systems[name], dt=0.02, t_end=20.0, method=EULER)
    fine = pi.integrate(pi.systems[name], dt=0.0005, t_end=20.0, save=40)
    exact, against = pi.analysis.phase_drift(sol), pi.analysis.phase_drift(sol, fine)
    # The reference itself is off by about 1e-11: RK4 at a step forty times smaller.
    assert against == pytest.approx(exact, abs=1e-9)


def test_the_straight_phase_is_the_closed_form():
    system = pi.systems.oscillator(omega=np.linspace(0.5, 3, 40))
    sol = pi.integrate(system, 1.0, 0.3, dt=0.05, n_steps=4000, method=EULER)
    slow = system.phase(sol.y, sol.t[:, np.newaxis]) - system.phase(sol.exact(), 0.0)
    fast = pi.analysis.phase_drift(sol)
    off = (fast - slow) / (2 * np.pi)
    # Arguments to 600 rad: 1e-13 of rounding, and as much in the closed form.
    assert np.abs(off - np.round(off)).max() < 1e-12
    assert np.abs(np.diff(fast, axis=0)).max() < 1


def test_a_damped_spring_has_no_straight_phase_and_its_own_drift():
    spring = pi.systems.spring(k=15.0, b=0.5)
    sol = pi.integrate(spring, 1.0, 0.0, dt=0.01, t_end=10.0)
    # RK4 at omega dt = 0.04: (omega dt)^4 / 120 of the angle turned.
    assert np.abs(pi.analysis.phase_drift(sol)).max() < 10 * 15**0.5 * 0.04**4 / 100


def test_without_a_phase_the_angle_around_the_middle_serves():
    sol = pi.integrate(pi.systems.pendulum, 0.1, 0.0, dt=0.02, t_end=20.0, method=EULER)
    fine = pi.integrate(pi.systems.pendulum, 0.1, 0.0, dt=0.002, t_end=20.0, save=10)
    angle, other = (np.arctan2(-one.v, one.x * 9.81**0.5) for one in (sol, fine))
    by_hand = np.unwrap(angle - other)
    own = pi.analysis.phase_drift(sol, fine)
    # A small swing is nearly a circle: its geometric angle is its phase to theta^2 / 16 a turn.
    assert by_hand[-1] == pytest.approx(own[-1], abs=0.02)


def test_the_uncertainty_of_a_slope_covers_it():
    sol = pi.integrate(pi.systems.oscillator, dt=0.5, t_end=500.0, method=EULER)
    drift = pi.analysis.energy_drift(sol)
    assert not drift.secular  # in truth there is none
    assert 0 < abs(drift.slope) < 3 * drift.slope_uncertainty
    rk4 = pi.analysis.energy_drift(pi.integrate(pi.systems.oscillator, dt=0.5, t_end=500.0))
    theory = (-(0.5**6) / 72 + 0.5**8 / 576) / 0.5
    assert rk4.secular
    assert rk4.slope == pytest.approx(theory, rel=0.2)  # it decays as it goes


# ---- sections ------------------------------------------------------------------------------------


def test_crossings_are_found_between_the_saves():
    sol = pi.integrate(pi.systems.oscillator(omega=[1.0, 2.0]), 1.0, 0.0, dt=0.01, t_end=20.0)
    section = pi.analysis.poincare_section(sol, "x", 0.3, direction=-1)
    for lane, omega in enumerate((1.0, 2.0)):
        t = section.t[section.trajectory == lane]
        expected = (np.arccos(0.3) + 2 * np.pi * np.arange(len(t))) / omega
        # RK4 at omega dt = 0.02 lags by 0.02^4/120 of the time, 2.7e-8 s; the cubic is off by
        # (omega dt)^4 / 384, 4e-10.
        assert t == pytest.approx(expected, abs=3e-8)
        assert len(t) == int((20 * omega - np.arccos(0.3)) / (2 * np.pi)) + 1
    assert section["x"] == pytest.approx(np.full(len(section), 0.3), abs=1e-14)
    both = pi.analysis.poincare_section(sol, "x", 0.3, direction=0)
    up = pi.analysis.poincare_section(sol, "x", 0.3, direction=1)
    assert len(both) == len(section) + len(up)


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("direction", [1, -1, 0])
def test_a_start_on_the_surface_does_not_cross_it(way, direction):
    """Downwards it counted as a crossing at the start, unlike that of `crossings`."""
    run = {"x0": 0.0, "v0": way, "dt": np.pi / 64, "t_end": 10.0 * np.pi, "direction": direction}
    run["t_end"] -= np.pi / 4
    there = pi.analysis.crossings(pi.systems.oscillator, "x", **run)
    sol = pi.integrate(pi.systems.oscillator, 0.0, way, dt=run["dt"], t_end=run["t_end"])
    section = pi.analysis.poincare_section(sol, "x", direction=direction)
    np.testing.assert_allclose(section.t, there.t, atol=1e-6)


def test_the_section_of_a_kepler_orbit_is_a_point():
    sol = pi.integrate(pi.systems.kepler, dt=0.01, t_end=60.0)
    section = pi.analysis.poincare_section(sol, "y")
    assert np.ptp(section.y, axis=0).max() < 1e-5
    with pytest.raises(ValueError, match="has no component 'w'"):
        pi.analysis.poincare_section(sol, "w")
    with pytest.raises(ValueError, match="crossings takes functions"):
        pi.analysis.poincare_section(sol, lambda t, x, v: x[1])


# ---- basins --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wells():
    start = np.random.default_rng(1).normal(0, 10, (20, 30, 3))
    return pi.integrate(pi.systems.lorenz(rho=14.0), start, dt=0.01, t_end=60.0, save="final")


def test_the_entropy_of_basins():
    """Coin tosses have log 2; a straight boundary less, and none within one basin."""
    generator = np.random.default_rng(0)

    def entropy(label, **options):
        return pi.analysis.Basins(label, np.eye(3), ("x",), pi.systems.spring).entropy(**options)

    coins = generator.integers(0, 2, (300, 301))
    assert entropy(coins, box=10) == pytest.approx((np.log(2), np.log(2)), abs=0.01)
    three = generator.integers(-1, 2, (40, 40, 40))
    assert entropy(three, box=8)[0] == pytest.approx(np.log(3), abs=0.01)
    straight = np.repeat(np.arange(100) >= 48, 7).reshape(100, 7).astype(int)
    whole, boundary = entropy(straight, box=5)
    p = 2 / 5  # of 5 rows two lie beyond
    assert boundary == pytest.approx(-p * np.log(p) - (1 - p) * np.log(1 - p))
    assert whole == pytest.approx(boundary / 20)


def test_basins_tell_the_two_wells_apart(wells):
    found = pi.analysis.basin(wells)
    assert found.label.shape == (20, 30)
    assert len(found.attractors) == 2
    assert np.abs(found.attractors[:, 0]) == pytest.approx(
        np.full(2, (8 / 3 * 13) ** 0.5), rel=1e-6
    )
    side = np.sign(wells.final[..., 0])
    assert np.array_equal(np.sign(found.attractors[found.label, 0]), side)
    assert found.share().sum() == pytest.approx(1.0)
    assert found.share()[0] >= found.share()[1]


def test_a_tolerance_that_joins_attractors_is_told():
    """In metres, of a motion over nanometres: it was one attractor without a word."""
    start = np.random.default_rng(0).uniform(-2e-9, 2e-9, (50, 2))
    small = pi.systems.duffing(beta=1e18, gamma=0.0)
    ends = pi.integrate(small, start, dt=0.02, t_end=60.0, save="final")
    with pytest.warns(UserWarning, match="ends 2e-09 apart count as one attractor"):
        assert len(pi.analysis.basin(ends).attractors) == 1
    assert len(pi.analysis.basin(ends, tolerance=1e-10).attractors) == 2


def test_attractors_may_be_given_and_the_rest_is_near_none(wells):
    found = pi.analysis.basin(wells, [(8 / 3 * 13) ** 0.5], components="x", tolerance=0.5)
    assert set(np.unique(found.label)) == {-1, 0}
    assert np.array_equal(found.label == 0, wells.final[..., 0] > 0)
    for call, message in [
        (lambda: pi.analysis.basin(wells, components="w"), "'w'"),
        (lambda: pi.analysis.basin(wells, [[8, 8], [-8, -8], [27, 27]]), "axis holds x, y, z;"),
        (lambda: pi.analysis.basin(wells, tolerance=-1), "tolerance"),
        (lambda: pi.analysis.basin(wells).entropy(box=10**6), "a box must fit"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"transient": np.inf}, "transient must be finite, got inf"),
        ({"dt": 10**400}, "dt must hold real numbers"),
        ({"dt": 0.0}, "dt must be finite and non-zero"),
    ],
)
def test_wrong_times_of_a_bifurcation_are_named(wrong, told):
    with pytest.raises((TypeError, ValueError), match=told):
        pi.analysis.bifurcation(
            pi.systems.duffing, {"gamma": [0.3, 0.4]}, "x",
            **{"dt": 0.1, "transient": 5.0, "keep": 2} | wrong,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"value": 10**400}, "value must hold real numbers"),
        ({"value": np.ones(3)}, r"value must be one number, got the shape \(3,\)"),
        ({"value": np.nan}, "value must be finite"),
    ],
)
def test_wrong_levels_of_a_section_are_named(wrong, told):
    sol = pi.integrate(pi.systems.spring, dt=0.1, n_steps=50)
    with pytest.raises((TypeError, ValueError), match=told):
        pi.analysis.poincare_section(sol, "x", **wrong)


@pytest.mark.parametrize("run", [
    lambda **k: pi.integrate(dt=0.01, n_steps=500, save=10, **k),
    lambda **k: pi.solve(t_end=5.0, rtol=1e-9, times=np.linspace(0.0, 5.0, 51), **k),
])  # fmt: skip
def test_a_section_counts_the_crossing_between_the_last_save_and_a_stop(run):
    stop = {"end": pi.event(lambda t, x, v: t - 2.03, stop=True)}
    sol = run(system=pi.systems.oscillator, x0=np.ones(2), v0=0.0, events=stop)
    section = pi.analysis.poincare_section(sol, "x", -0.43, direction=0)
    assert section.trajectory.tolist() == [0, 1]
    assert abs(section.t - np.arccos(-0.43)).max() < 1e-5
