"""Periodic orbits: published ones close, and their multipliers are those that theory gives."""

import numpy as np
import pytest

import pyintegrate as pi

# Suvakov, Dmitrasinovic (2013), table I: butterfly I, moth I, goggles, yin-yang I.
PLANAR = np.array([
    (0.30689, 0.12551, 6.2356), (0.46444, 0.39606, 14.8939),
    (0.08330, 0.12789, 10.4668), (0.51394, 0.30474, 17.3284),
])  # fmt: skip


def test_published_orbits_of_three_bodies_close():
    """From five digits: the periods change in the last of them, the figure eight is elliptic."""
    p, q, period = PLANAR.T
    one = np.ones_like(p)
    x0 = np.stack([-one, 0 * p, one, 0 * p, 0 * p, 0 * p], axis=-1)
    v0 = np.stack([p, q, p, q, -2 * p, -2 * q], axis=-1)
    eight = pi.systems.three_body.initial
    x0, v0 = np.vstack([x0, eight[:6]]), np.vstack([v0, eight[6:]])
    period = np.append(period, 6.3259)
    found = pi.analysis.periodic_orbits(pi.systems.three_body, x0, period, v0)
    assert (found.failures == "").all()
    assert found.residuals.max() < 1e-12
    assert found.periods == pytest.approx(period, abs=1e-4)
    assert (found.trivial >= 8).all()  # place, momentum, energy, time, angle, angular momentum
    assert found.kinds[-1] == "elliptic"
    there = pi.solve(pi.systems.three_body, found.starts[-1], t_end=found.periods[-1],
                     rtol=1e-13, atol=1e-15, method="verner98")  # fmt: skip
    assert there.final == pytest.approx(found.starts[-1], abs=1e-10)


def test_relaxation_oscillations_close():
    """Explicit steps to 3e-14 are many where the motion is stiff. T for large mu: Dorodnicyn
    (1947), but for terms of mu^(-4/3)."""
    mu = np.array([20.0, 50.0])
    found = pi.analysis.periodic_orbits(pi.systems.van_der_pol(mu=mu), [2.0, 0.0], [34.7, 82.5])
    assert found.kinds.tolist() == ["stable"] * 2
    theory = (3 - np.log(4)) * mu + 7.01432 * mu ** (-1 / 3) - (2 / 3 * np.log(mu) + 1.3233) / mu
    assert np.all(abs(found.periods - theory) < mu ** (-4 / 3))


@pytest.mark.parametrize("segments", [1, 4])
def test_the_spikes_of_a_nerve_close_from_another_current(segments):
    """Hodgkin and Huxley (1952): at 9.5 and 8 from the start and the period at 10. A narrow valley
    leads there, the narrower where a voltage and shares of open channels have one unit."""

    @pi.rhs(dim=4, current=9.5)
    def nerve(t, y, current):
        v, m, h, n = y
        ionic = 120 * m**3 * h * (v - 115) + 36 * n**4 * (v + 12) + 0.3 * (v - 10.613)
        return (
            current - ionic,
            (2.5 - v / 10) / (np.exp(2.5 - v / 10) - 1) * (1 - m) - 4 * np.exp(-v / 18) * m,
            0.07 * np.exp(-v / 20) * (1 - h) - h / (np.exp(3 - v / 10) + 1),
            (0.1 - v / 100) / (np.exp(1 - v / 10) - 1) * (1 - n) - 0.125 * np.exp(-v / 80) * n,
        )

    start = [-2.06595746, 0.03927364, 0.41850298, 0.42844806]
    found = pi.analysis.periodic_orbits(
        nerve(current=[9.5, 8.0]), start, 14.6362, segments=segments
    )
    assert found.kinds.tolist() == ["stable"] * 2
    assert found.periods == pytest.approx([14.9209, 16.0077], abs=1e-4)


def test_multipliers_at_rest_see_the_jumps_of_a_stiffness():
    """Meissner's x'' = -w^2 x, w^2 = 1.5 and 2.5 for pi each: trace of two rotations' product."""
    switched = pi.acceleration(lambda t, x, v: -np.where(np.sin(t) > 0, 2.5, 1.5) * x)
    found = pi.analysis.periodic_orbits(switched, 0.0, 2 * np.pi, 0.0)
    a, b = np.sqrt([1.5, 2.5])
    c, s = np.cos(np.pi * np.array([a, b])), np.sin(np.pi * np.array([a, b]))
    trace = 2 * c[0] * c[1] - (a / b + b / a) * s[0] * s[1]
    assert found.multipliers.sum() == pytest.approx(trace, abs=1e-12)
    assert found.kinds == "elliptic"


def test_a_motion_that_fails_with_its_tangents_has_no_multipliers():
    """y' = b y (1 + a in a fiftieth of the period) + 1: a jump too steep for steps to 3e-14."""
    b, a, w = 0.703498967201746, -54.23991021794663, 1.4754044401534352

    @pi.rhs(dim=1)
    def pulsed(t, y):
        share = (w * t / 2 / np.pi) % 1
        pulse = np.where(share - 0.4 > 0, np.where(share < 0.42, a, 0.0), 0.0)
        return (b * y[0] * (1 + pulse) + 1,)

    found = pi.analysis.periodic_orbits(pulsed, [0.0], 2 * np.pi / w, tolerance=1e-11)
    exact = np.exp(2 * np.pi * b / w * (1 + 0.02 * a))
    assert found.failures or found.multipliers[0] == pytest.approx(exact, rel=1e-9)


def test_multipliers_obey_liouville():
    """Their product is exp of the integral of the divergence, mu (1 - x^2), over one period."""
    mu = np.array([0.2, 1.0, 2.0])
    found = pi.analysis.periodic_orbits(pi.systems.van_der_pol(mu=mu), [2.0, 0.0], 6.5)
    assert (found.kinds == "stable").all()
    for i, m in enumerate(mu):
        system, y = pi.systems.van_der_pol(mu=m), found.starts[i]
        spread = pi.watch.integral(lambda t, x, v, mu: mu * (1 - x * x))
        sol = pi.solve(system, y, t_end=found.periods[i], rtol=1e-12, watch={"spread": spread})
        assert np.log(np.prod(found.multipliers[i]).real) == pytest.approx(
            float(sol.watched["spread"]), rel=1e-6)  # fmt: skip


def test_segments_find_the_same_orbit():
    one, four = (
        pi.analysis.periodic_orbits(pi.systems.van_der_pol, [2.0, 0.0], 6.5, segments=m)
        for m in (1, 4)
    )
    assert four.periods == pytest.approx(one.periods, rel=1e-12)
    assert np.abs(four.multipliers) == pytest.approx(np.abs(one.multipliers), abs=1e-9)


def test_a_driven_motion_keeps_its_period():
    """x'' + d x' - x + x^3 = g cos(w t): near x = 1 the swing is g / (2 - w^2 + i d w)."""
    system, T = pi.systems.duffing(gamma=1e-3), 2 * np.pi / 1.2
    found = pi.analysis.periodic_orbits(system, [1.0, 0.0], T)
    assert found.periods == T
    assert found.kinds == "stable"
    swing = 1e-3 / (2 - 1.2**2 + 0.3j * 1.2)
    expected = [1 + swing.real, (1.2j * swing).real]
    assert found.starts == pytest.approx(expected, abs=2e-5)  # the square of the amplitude
    assert np.prod(found.multipliers).real == pytest.approx(np.exp(-0.3 * T), rel=1e-10)


@pytest.mark.parametrize("period", [1e-9, 0.4, 1.0, np.pi, 6.4, 1e13])
def test_a_drive_that_switches_keeps_its_period(period):
    """x' = (s - x) / T, s = 1 and then -1: it begins at -tanh(1 / 4). At the times where the field
    was asked for once s was often the same, and the period free, or no drive seen."""
    switched = pi.rhs(
        lambda t, y, T: ((np.where(t % T < T / 2, 1.0, -1.0) - y[0]) / T,), dim=1, T=1.0
    )
    found = pi.analysis.periodic_orbits(switched(T=period), [0.0], period)
    assert (found.periods, found.kinds) == (period, "stable")
    assert found.starts == pytest.approx(-np.tanh(0.25), abs=1e-9)
    with pytest.raises(ValueError, match="changes with time"):
        pi.analysis.equilibria(switched(T=period), [(-2, 2)])
    with pytest.raises(ValueError, match="whole number of periods"):
        pi.analysis.periodic_orbits(switched(T=period), [0.0], 0.7 * period)


@pytest.mark.parametrize("metre", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("second", [1e-9, 1.0, 1e9])
def test_a_drive_is_seen_in_any_units(metre, second):
    """Its period was free where the field was asked for far away, where x^3 hides the drive, and
    any period was taken where the acceleration is small beside the velocity."""
    unit = {"L": metre, "T": second}
    driven = pi.acceleration(
        lambda t, x, v, L, T: (-2 * x - (x / L) ** 2 * x - 0.3 * v * T
                               + 0.5 * L * np.cos(1.3 * t / T)) / T**2,
        **unit,
    )  # fmt: skip
    period, start = 2 * np.pi / 1.3 * second, [0.6 * metre, 0.1 * metre / second]
    found = pi.analysis.periodic_orbits(driven, start, period)
    assert (found.periods, found.kinds) == (period, "stable")
    with pytest.raises(ValueError, match="whole number of periods"):
        pi.analysis.periodic_orbits(driven, start, 0.8 * period)
    with pytest.raises(ValueError, match="changes with time"):
        pi.analysis.continue_equilibria(driven, "L", (metre, 2 * metre), start)


@pytest.mark.parametrize("guess", [0.0, 1.1])
@pytest.mark.parametrize("metre", [1e-20, 1e-13, 1.0, 1e6, 1e12])
def test_a_driven_orbit_is_found_to_its_own_digits_in_any_unit(metre, guess):
    """A guess below 1e-12 counted as closed: x = Re(X exp(i w t)) was off by its own size.
    A guess at 0 of a large orbit was measured by 1, and did not close."""
    swing = pi.acceleration(lambda t, x, v, f: -x - 0.2 * v + f * np.sin(1.3 * t), f=metre)
    X = -1j * metre / (1 - 1.3**2 + 0.26j)
    start = np.array([X.real, (1.3j * X).real])
    found = pi.analysis.periodic_orbits(swing, guess * start, 2 * np.pi / 1.3)
    np.testing.assert_allclose(found.starts, start, rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12])
def test_units_of_time_change_no_orbit(unit):
    """The period scales with the unit, 1 / `unit`, to the tolerance of closing; so do states."""
    fast = pi.acceleration(lambda t, x, v, w: -w * w * x - w * (x * x - 1) * v, w=1.0)(w=unit)
    turning = pi.rhs(
        lambda t, y, w: (w * (y[0] - y[1] - y[0] ** 3), w * (y[0] + y[1] - y[1] ** 3)),
        dim=2, w=1.0,
    )  # fmt: skip
    for system, guess, period in ((fast, (2.0, 0.0), 6.3), (turning(w=unit), (1.2, 0.0), 6.0)):
        found, own = (
            pi.analysis.periodic_orbits(one, guess, period / w)
            for one, w in ((system, unit), (system(w=1.0), 1.0))
        )
        assert own.kinds == found.kinds == "stable"
        assert found.periods * unit == pytest.approx(float(own.periods), rel=1e-10)
        # Of one that is 1e-3 the sums of 1 know ten digits.
        assert found.multipliers == pytest.approx(own.multipliers, rel=1e-9)


@pytest.mark.parametrize("r", [1e-9, 1e-3, 1e9])
@pytest.mark.parametrize("segments", [1, 3])
def test_small_and_large_states_close(r, segments):
    """A circle of radius r, run through in pi."""
    ring = pi.rhs(
        lambda t, y, r: (y[0] * (1 - (y @ y) / r**2) - 2 * y[1],
                         y[1] * (1 - (y @ y) / r**2) + 2 * y[0]),
        dim=2, r=r,
    )  # fmt: skip
    found = pi.analysis.periodic_orbits(ring, [1.2 * r, 0.1 * r], 3.0, segments=segments)
    assert found.kinds == "stable"
    assert found.periods == pytest.approx(np.pi, abs=1e-11)
    assert np.hypot(*found.starts) == pytest.approx(r, rel=1e-11)


def test_a_guess_at_a_turn_is_as_large_as_its_speed():
    """Where x = 0 a length was 1, and a velocity far more than its share."""
    fast = pi.acceleration(lambda t, x, v, u: (1 - (x / u) ** 2) * v - x, u=1e6)
    found = pi.analysis.periodic_orbits(fast, 0.0, 6.5, 2e6)
    assert found.periods == pytest.approx(6.6632868593, abs=1e-9)


def test_a_slow_motion_is_no_orbit():
    """Far out x' = -1 / (5 x): in a short time it moves by rounding, and was a stable orbit."""
    found = pi.analysis.periodic_orbits(
        pi.systems.van_der_pol(mu=5.0), [-359.24488739171903, 0.12070330263910083], 11.61145268
    )
    assert (found.failures, found.kinds) == ("resting point", "")


def test_a_small_swing_is_no_resting_point():
    """Of amplitude a a pendulum's period is 2 pi (1 + a^2 / 16), to a^4."""
    amplitude = np.array([0.1, 1e-2, 1e-4])
    found = pi.analysis.periodic_orbits(pi.systems.pendulum(length=9.81), amplitude, 6.0, 0.0)
    a = np.hypot(*found.starts.T)
    assert (found.kinds == "elliptic").all()
    assert np.abs(np.log(a / amplitude)).max() < 0.3
    assert found.periods == pytest.approx(2 * np.pi * (1 + a**2 / 16), rel=1e-6)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e-12])
def test_a_guess_at_rest_is_told_in_any_unit_of_time(unit):
    hanging = pi.systems.pendulum(g=9.81 / unit**2)
    found = pi.analysis.periodic_orbits(hanging, 1e-13, 1.7 * unit, 0.0)
    assert found.failures == "resting point"


def test_what_does_not_close_is_told():
    found = pi.analysis.periodic_orbits(
        pi.systems.lorenz(rho=0.5), [[1.0, 1.0, 1.0], [np.nan, 0, 0]], 1.0, rounds=6
    )
    assert found.failures[0] in ("resting point", "did not close")
    assert found.failures[1] == "motion failed"
    assert (found.kinds == "").all()


def test_wrong_arguments_are_named():
    for period in (-1.0, 0.0, np.inf, np.nan):
        with pytest.raises(ValueError, match=f"period must be positive and finite, got {period}"):
            pi.analysis.periodic_orbits(pi.systems.lorenz, [1.0, 1.0, 1.0], [1.0, period])
    for rtol in (-1.0, [1e-9, 1e-9]):
        with pytest.raises(ValueError, match="rtol must be a positive number, got"):
            pi.analysis.periodic_orbits(pi.systems.lorenz, [1.0, 1.0, 1.0], 1.0, rtol=rtol)
    with pytest.raises(TypeError, match="^tolerance must hold real numbers"):  # no solve_ivp
        pi.analysis.periodic_orbits(
            pi.systems.kepler, [1.0, 0.0], v0=[0.0, 1.0], period=6.3, tolerance="a")  # fmt: skip
    with pytest.raises(ValueError, match="periods of the drive of 'duffing'.* same after 5$"):
        pi.analysis.periodic_orbits(pi.systems.duffing, [1.0, 0.0], [2 * np.pi / 1.2, 5.0])
    with pytest.raises(ValueError, match="segments must be at least 1"):
        pi.analysis.periodic_orbits(pi.systems.lorenz, [1.0, 1.0, 1.0], 1.0, segments=0)


def test_a_motion_that_fails_has_no_multipliers():
    """They were those of a motion that had overflowed, 1e184."""
    grows = pi.rhs(lambda t, y: y * (y[0] ** 2 + y[1] ** 2 - 1) + [-2 * y[1], 2 * y[0]], dim=2)
    found = pi.analysis.periodic_orbits(grows, [1.05, 0.1], 3.0)
    assert found.failures == "motion failed"
    assert np.isnan(found.multipliers).all()


def test_a_guess_that_collides_is_given_up():
    """Towards the fixed centre in steps that shrink without end: no run of a million steps."""
    fall = pi.rhs(lambda t, y: (y[1], -1 / y[0] ** 2), dim=2)
    found = pi.analysis.periodic_orbits(fall, [1.0, 0.0], 4.0)
    assert found.failures == "motion failed"


def test_most_of_what_closes_is_found_from_rough_guesses():
    """Between Earth and Moon: 76; undamped steps of one length close 49 of these 150."""

    @pi.rhs(dim=4)
    def restricted(t, s):
        x, y, vx, vy = s
        far, near = ((x - a) ** 2 + y**2 for a in (-0.01215, 0.98785))
        a, b = 0.98785 / (far * far**0.5), 0.01215 / (near * near**0.5)
        away = a * (x + 0.01215) + b * (x - 0.98785)
        return vx, vy, 2 * vy + x - away, -2 * vx + y - a * y - b * y

    rng = np.random.default_rng(1)
    x, vy, period = rng.uniform([0.6, -0.5, 2], [0.95, 0.8, 7], (150, 3)).T
    found = pi.analysis.periodic_orbits(
        restricted, np.stack([x, 0 * x, 0 * x, vy], axis=-1), period)  # fmt: skip
    closed = found.failures == ""
    assert closed.sum() > 70
    # Another method, as exact as doubles allow: at 1e-12 its own errors would be up to 2e-10.
    there = pi.solve(restricted, found.starts[closed], t_end=found.periods[closed], rtol=3e-14,
                     atol=3e-16, save="final", method="dop853")  # fmt: skip
    error = np.abs(there.final - found.starts[closed]).max(axis=-1)
    assert (error < 1e-11 * np.abs(found.multipliers[closed]).max(axis=-1)).all()
    # Autonomous and Hamiltonian: 1, 1, and a pair of product 1.
    assert np.prod(found.multipliers[closed], axis=-1) == pytest.approx(1, abs=1e-6)


@pytest.mark.long
def test_orbits_that_one_segment_leaves_open_close_with_twelve():
    """Table I of the paper: moth II, butterfly III, moth III, dragonfly, yarn, yin-yang Ib,
    butterfly II, bumblebee."""
    p, q, period = np.array([
        (0.43917, 0.45297, 28.6703), (0.40592, 0.23016, 13.8658), (0.38344, 0.37736, 25.8406),
        (0.08058, 0.58884, 21.2710), (0.55906, 0.34919, 55.5018), (0.28270, 0.32721, 10.9626),
        (0.39295, 0.09758, 7.0039), (0.18428, 0.58719, 63.5345),
    ]).T  # fmt: skip
    one = np.ones_like(p)
    x0 = np.stack([-one, 0 * p, one, 0 * p, 0 * p, 0 * p], axis=-1)
    v0 = np.stack([p, q, p, q, -2 * p, -2 * q], axis=-1)
    bodies = pi.systems.three_body
    rough = pi.analysis.periodic_orbits(bodies, x0, period, v0, rounds=12)
    found = pi.analysis.periodic_orbits(bodies, rough.starts, rough.periods, segments=12)
    assert (found.failures == "").all()
    assert found.residuals.max() < 1e-12
    assert found.periods == pytest.approx(period, abs=1e-4)
    # Hamiltonian: multipliers are pairs of product 1.
    assert np.prod(found.multipliers, axis=-1) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("segments", [1, 8])
def test_growth_that_hides_all_else_needs_segments(segments):
    """Of exp(16 pi) beside exp(-4 pi) and exp(-18 pi) one segment tells nothing, and says so."""

    def fast(t, y):
        inside = 1 - y[0] ** 2 - y[1] ** 2
        return y[0] * inside - y[1], y[1] * inside + y[0], 8 * y[2], -9 * y[3]

    guess = [1.05, 0.0, 0.0, 0.0]
    found = pi.analysis.periodic_orbits(pi.rhs(fast, dim=4), guess, 6.3, segments=segments)
    if segments == 1:
        assert found.failures == "did not close"
    else:
        expected = np.pi * np.array([16, 0, -4, -18])
        assert np.log(np.abs(found.multipliers)) == pytest.approx(expected, abs=1e-5)
        assert (found.failures, found.kinds, found.trivial) == ("", "unstable", 1)


def test_what_rests_on_an_orbit_turns_as_fast_as_it_would():
    """Its steps were those of the slow motion, and the derivatives beside it up to 1e47."""
    two = pi.acceleration(lambda t, x, v, w: [-x[0] - x[0] ** 3, -w * w * x[1]], dof=2, w=25.0)
    found = pi.analysis.periodic_orbits(two, [1.0, 0.0, 0.0, 0.0], 4.5)
    turns = np.exp(25j * found.periods * np.array([1, -1]))
    off = np.abs(found.multipliers[:, np.newaxis] - turns).min(axis=0)
    assert (found.failures, found.kinds) == ("", "elliptic")
    assert off.max() < 1e-6
