"""Langevin equations: exact stationary laws, the mass that is read, warnings with their cure."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest

import pyintegrate as pi

KT, OMEGA, FRICTION, MASS = 0.7, 1.3, 0.9, 2.0


def stationary(step, variance):
    """The stationary (<xx>, <xv>, <vv>) of a linear step(x, v, r) whose r has a variance: exactly.

    z -> M z + n r, so that C = M C M^T + variance n n^T: three linear equations.
    """
    (p, q), (s, t), (n, o) = step(1, 0, 0), step(0, 1, 0), step(0, 0, 1)  # columns of M, and n
    matrix = [
        [1 - p * p, -2 * p * s, -s * s],
        [-p * q, 1 - p * t - s * q, -s * t],
        [-q * q, -2 * q * t, 1 - t * t],
    ]
    right = [variance * n * n, variance * n * o, variance * o * o]
    whole = determinant(matrix)
    return [
        determinant([row[:k] + [y] + row[k + 1 :] for row, y in zip(matrix, right, strict=True)])
        / whole
        for k in range(3)
    ]


def determinant(m):
    (a, b, c), (d, e, f), (g, h, i) = m
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


# Steps, frequencies, temperatures and c = exp(-friction h), or frictions: the laws are rational
# functions of degrees below 16 in each, equal if they agree at 3 x 17 points on curves through all.
POINTS = [
    tuple(Fraction(n * k + 1, m) for k, m in ((2, 40), (3, 61), (5, 17), (1, 53)))
    for n in range(1, 52)
]


@pytest.mark.parametrize(("h", "w", "T", "c"), POINTS)
def test_baoab_has_the_exact_variance_of_positions_for_every_step(h, w, T, c):
    """kT / w^2 at unit mass, m <v^2> = kT (1 - h^2 w^2 / 4), and kT for v + h a(x) / 2."""

    def step(x, v, r):
        v = v - h / 2 * w**2 * x
        x = x + h / 2 * v
        v = c * v + r
        x = x + h / 2 * v
        return x, v - h / 2 * w**2 * x

    xx, xv, vv = stationary(step, (1 - c**2) * T)
    assert (xx, xv, vv) == (T / w**2, 0, T * (1 - h**2 * w**2 / 4))
    kick = -h / 2 * w**2
    assert vv + 2 * kick * xv + kick**2 * xx == T


@pytest.mark.parametrize(("h", "w", "T", "g"), POINTS)
def test_gjf_has_the_exact_variance_of_positions_for_every_step(h, w, T, g):
    def step(x, v, r):
        b = 1 / (1 + g * h / 2)
        A, a = (1 - g * h / 2) * b, -(w**2) * x
        new = x + b * h * v + b * h**2 / 2 * a + b * h / 2 * r
        return new, A * v + h / 2 * (A * a - w**2 * new) + b * r

    assert stationary(step, 2 * g * T * h)[0] == T / w**2


spring = pi.systems.spring(k=MASS * OMEGA**2, b=0.0, m=MASS)
warm = pi.langevin(spring, friction=FRICTION, temperature=KT)


def variances(method, dt, n=40_000, seed=1):
    """m w^2 <x^2> and m <v^2> over a batch that began in equilibrium, after 40 units of time."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=n) * np.sqrt(KT / MASS) / OMEGA
    v = draw.normal(size=n) * np.sqrt(KT / MASS)
    sol = pi.integrate(warm, x, v, dt=dt, n_steps=round(40 / dt), method=method, seed=seed,
                       save="final")  # fmt: skip
    return MASS * OMEGA**2 * np.var(sol.x), MASS * np.var(sol.v)


# The variance of 40,000 normals scatters by sqrt(2 / 40,000) = 0.7 %: 4 of these.
@pytest.mark.parametrize("dt", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("method", ["baoab", "gjf"])
def test_positions_have_the_exact_temperature_at_large_steps(method, dt):
    assert abs(variances(method, dt)[0] / KT - 1) < 0.028


@pytest.mark.parametrize("dt", [0.5, 1.0])
def test_velocities_of_baoab_have_the_temperature_of_the_formula(dt):
    expected = KT * (1 - dt**2 * OMEGA**2 / 4)
    assert abs(variances("baoab", dt)[1] / expected - 1) < 0.028


def test_mean_of_two_increments_has_the_exact_stationary_variance():
    """brownian_baoab on dy = -y dt + sqrt(2) dW: variance 1 for every step below 2; proved, and
    Euler-Maruyama's is 1 / (1 - h / 2)."""
    overdamped = pi.sde(dim=1)(lambda t, y: (-y, np.sqrt(2.0)))
    start = np.random.default_rng(2).normal(size=(40_000, 1))
    found = {
        method: np.var(
            pi.integrate(
                overdamped, start, dt=0.5, n_steps=60, method=method, seed=1, save="final"
            ).final
        )
        for method in ("brownian_baoab", "euler_maruyama")
    }
    assert abs(found["brownian_baoab"] - 1) < 0.028
    assert abs(found["euler_maruyama"] * 0.75 - 1) < 0.028


def test_without_friction_the_bath_is_silent():
    """baoab is then position Verlet's splitting: the orbit of velocity Verlet, to rounding."""
    cold = pi.langevin(spring, friction=0.0, temperature=KT)
    run = {"dt": 0.1, "n_steps": 100}
    found = pi.integrate(cold, 1.0, 0.0, **run, seed=1).y
    plain = pi.integrate(spring, 1.0, 0.0, **run, method="velocity_verlet").y
    # Each of 100 steps rounds a few times at magnitudes below 2.
    assert np.abs(found - plain).max() < 100 * 10 * 2.0**-52


def test_the_drift_and_the_diffusion_are_those_of_the_definition():
    y = np.array([0.3, -0.2])
    assert np.allclose(
        warm.rhs(0.0, y), [y[1], -(OMEGA**2) * y[0] - FRICTION * y[1]], rtol=1e-15, atol=0
    )
    assert warm.diffusion(0.0, y)[1, 0] == pytest.approx(np.sqrt(2 * FRICTION * KT / MASS), 1e-15)
    assert warm.energy(y) == spring.energy(y)
    assert warm.noise == "additive"


@pytest.mark.parametrize(
    ("system", "mass"),
    [
        (pi.systems.spring(m=[1.0, 2.5], b=0.0), [1.0, 2.5]),
        (pi.systems.pendulum(length=2.0), 4.0),
        (pi.systems.henon_heiles, 1.0),
        (pi.systems.three_body(masses=(1.0, 2.0, 3.0)), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]),
        (pi.potential(dof=2, mass=[1.0, 3.0])(lambda x: x @ x), [1.0, 3.0]),
    ],
)
def test_the_mass_is_read_from_the_energy(system, mass):
    """To the rounding of differences at a distance of 1024: a few units of 2^-53."""
    found = pi.langevin(system, friction=1.0, temperature=1.0).params["mass"]
    assert np.allclose(found, mass, rtol=1e-13, atol=0)
    assert np.shape(found) == np.shape(mass)


@pytest.mark.parametrize("metre", [1e-12, 1e-9, 1e-6, 1.0, 1e9])
@pytest.mark.parametrize("own", [0.0, 0.3])
def test_units_change_neither_the_mass_nor_what_is_told(metre, own):
    """One metre from a trap of nanometres its potential rounds all else away: the mass was refused
    as one that is not constant, and damping was not seen."""

    @pi.acceleration(b=own, L=metre, energy=lambda t, x, v, b, L: v * v + (x / L) ** 4)
    def trapped(t, x, v, b, L):
        return -2 * (x / L) ** 3 / L - b * v / L

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        hot = pi.langevin(trapped, friction=1.0, temperature=1.0)
    assert hot.params["mass"] == pytest.approx(2.0, rel=1e-13)
    assert [str(one.message).partition("; set ")[2] for one in told] == ["b=0"] * (own > 0)


def test_each_of_very_different_masses_is_read():
    """To 1e-12, not to a share of the largest: in kilograms, with the sun."""
    masses = [2e30, 6e24, 7e22]
    hot = pi.langevin(pi.systems.n_body(n=3, g=6.67e-11, masses=masses), friction=1, temperature=1)
    assert hot.params["mass"] == pytest.approx(np.repeat(masses, 3), rel=1e-11)


@pytest.mark.parametrize("metre", [1e-9, 1.0, 1e9])
def test_a_mass_that_changes_with_the_place_is_refused_in_any_unit(metre):
    heavy = pi.acceleration(
        lambda t, x, v, L: -x * v * v / L**2 - x, L=metre,
        energy=lambda t, x, v, L: (1 + (x / L) ** 2) * v * v / 2,
    )  # fmt: skip
    with pytest.raises(ValueError, match="no constant mass"):
        pi.langevin(heavy, friction=1.0, temperature=1.0)


def test_a_mass_of_other_parameters_is_told():
    warm = pi.langevin(pi.systems.pendulum, friction=0.5, temperature=1.0)
    with pytest.warns(UserWarning, match="give mass= too"):
        warm(length=[1.0, 2.0])
    atom = pi.langevin(pi.systems.spring(m=1e-26, b=0.0), friction=0.5, temperature=4e-21)
    with pytest.warns(UserWarning, match="give mass= too"):
        atom(m=2e-26)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warm(g=[1.0, 2.0])(friction=2.0)
        warm(length=2.0, mass=4.0)(g=[1.0, 2.0])


def test_weak_friction_heats_in_single_precision():
    """1 - c^2 is 2 friction h: as a difference from 1 it was off by a fifth at 1e-7."""
    weak = pi.langevin(pi.systems.oscillator(omega=0.0), friction=1e-3, temperature=1.0, mass=1.0)
    run = {"dt": 1e-4, "n_steps": 10, "seed": 1, "save": "final"}
    single, double = (
        pi.integrate(weak, np.zeros(1000), 0.0, dtype=dtype, **run).v
        for dtype in (np.float32, np.float64)
    )
    assert np.allclose(single, double, rtol=1e-4, atol=1e-9)


def test_friction_and_temperature_over_a_batch():
    several = pi.langevin(spring, friction=[0.5, 1.0, 2.0], temperature=np.full((4, 1), KT))
    sol = pi.integrate(several, dt=0.1, n_steps=5, seed=1)
    assert sol.y.shape == (6, 4, 3, 2)
    one = pi.langevin(spring, friction=2.0, temperature=KT)
    alone = pi.integrate(one, dt=0.1, n_steps=5, seed=1, first_trajectory=11)
    assert np.array_equal(sol.y[:, 3, 2], alone.y)


@pi.acceleration(b=0.1, pulse=1.0)
def late(t, x, v, b, pulse):
    """Damped at large velocities, and driven about a late time."""
    return -x - b * np.where(abs(v) > 20, v, 0.0) + pulse * np.exp(-(((t - 60) / 10) ** 2))


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (pi.systems.duffing, "velocity and the time.*set delta=0, gamma=0"),
        (pi.systems.spring, "depends on the velocity.*set b=0"),
        (pi.systems.van_der_pol, "depends on the velocity.*set mu=0"),
        (pi.systems.acceleration_profile, r"depends on the time.*set times=np.zeros\(\(5,\)\)"),
        (pi.systems.double_pendulum, "depends on the velocity"),
        (late, "depends on the velocity and the time.*set b=0, pulse=0"),
    ],
)
def test_damping_and_drives_of_its_own_are_told_with_their_cure(system, said):
    bath = {"friction": 1.0, "temperature": 1.0, "mass": 1.0}
    with pytest.warns(UserWarning, match=said) as told:
        pi.langevin(system, **bath)
    if cure := str(told[0].message).partition("; set ")[2]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            pi.langevin(system(**eval(f"dict({cure})")), **bath)


def test_a_system_that_has_a_parameter_mass_is_taken():
    """A particle under a force drifts at force / (mass friction), and the bath has its mass."""
    hot = pi.langevin(
        pi.systems.constant_force(force=3.0, mass=[2.0, 5.0]), friction=0.5, temperature=KT
    )
    assert hot.params["bath_mass"].tolist() == [2.0, 5.0]
    sol = pi.integrate(hot, np.zeros((20_000, 2)), 0.0, dt=0.1, n_steps=150, seed=1, save="final")
    v, mass = sol.v[0], np.array([2.0, 5.0])
    # 20,000 numbers: 4 standard errors.
    assert np.all(abs(v.mean(axis=0) - 3.0 / (0.5 * mass)) < 4 * np.sqrt(KT / mass / 20_000))
    assert np.all(abs(v.var(axis=0) * mass / KT - 1) < 0.04)
    with pytest.warns(UserWarning, match="give bath_mass= too"):
        hot(mass=1.0)


def test_later_damping_is_told():
    with pytest.warns(UserWarning, match="depends on the velocity.*set b=0"):
        warm(b=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warm(k=2.0, friction=3.0)
        calm = pi.langevin(pi.systems.duffing(delta=0, gamma=0), friction=1.0, temperature=1.0)
        calm.tangent(1)
        pickle.loads(pickle.dumps(calm))


def test_the_mass_of_bodies_without_a_start_is_read():
    bodies = pi.systems.n_body(n=4, masses=[1.0, 2.0, 3.0, 4.0])
    hot = pi.langevin(bodies, friction=1.0, temperature=1.0)
    assert hot.params["mass"].tolist() == np.repeat([1.0, 2.0, 3.0, 4.0], 3).tolist()


@pytest.mark.parametrize("name", ["oscillator", "pendulum", "kepler", "henon_heiles", "three_body"])
def test_conservative_systems_are_taken_without_a_warning(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hot = pi.langevin(pi.systems[name], friction=1.0, temperature=0.01)
    assert pi.integrate(hot, dt=0.001, n_steps=3, seed=1).status == pi.Status.OK


@pi.acceleration(energy=lambda t, x, v: np.sqrt(1 + v * v) + x * x / 2)
def fast(t, x, v):
    """Relativistic: no mass is that of all velocities."""
    return -x * (1 + v * v) ** -1.5


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pi.langevin("spring", friction=1, temperature=1), "system must be a System"),
        (lambda: pi.langevin(pi.systems.lorenz, friction=1, temperature=1), "needs x'' = a"),
        (lambda: pi.langevin(warm, friction=1, temperature=1), "with noise"),
        (lambda: pi.langevin(pi.systems.double_pendulum, friction=1, temperature=1),
         "no constant mass for each coordinate"),
        (lambda: pi.langevin(pi.acceleration(lambda t, x, v: -x), friction=1, temperature=1),
         "give mass="),
        (lambda: pi.langevin(fast, friction=1, temperature=1), "or the velocity"),
        (lambda: pi.langevin(spring, friction=-1, temperature=1), "friction must be at least 0"),
        (lambda: pi.langevin(spring, friction=1, temperature=-1), "temperature must be at least 0"),
        (lambda: pi.langevin(spring, friction=1, temperature=1, mass=0), "mass must be positive"),
        (lambda: pi.integrate(warm, dt=0.1, n_steps=1, seed=1, method="brownian_baoab"), "baoab"),
    ],
)  # fmt: skip
def test_refusals_name_what_is_missing(make, said):
    with pytest.raises((TypeError, ValueError), match=said):
        make()


@pytest.mark.parametrize("dt", [0.5, 1.0])
def test_velocities_of_obabo_have_the_temperature_at_every_step(dt):
    """The law of velocity Verlet's modified energy, whose part of x has 1 - h^2 w^2 / 4."""
    x, v = variances("obabo", dt)
    assert abs(v / KT - 1) < 0.028
    assert abs(x * (1 - dt**2 * OMEGA**2 / 4) / KT - 1) < 0.028


def test_the_halves_of_obabo_are_independent_whatever_the_substeps():
    """At h = 1 without a force only noise is left: the velocity after one step from rest."""
    free = pi.langevin(
        pi.acceleration(lambda t, x, v: 0 * x), friction=1.0, temperature=1.0, mass=1.0
    )
    for substeps in (1, 3):
        sol = pi.integrate(free, np.zeros(40_000), 0.0, dt=1.0, n_steps=1, seed=3, save="final",
                           method="obabo", substeps=substeps)  # fmt: skip
        c = np.exp(-0.5)
        x, v = sol.final.T
        # 40,000 numbers: variances scatter by 0.7 %.
        assert abs(np.var(x) / (1 - c * c) - 1) < 0.028
        assert abs(np.var(v) / (1 - c**4) - 1) < 0.028
        assert abs(np.mean(x * v) / (c * (1 - c * c)) - 1) < 0.05
