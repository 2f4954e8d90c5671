"""Any number of bodies: formulas, invariants, ready states, bits, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

import pyintegrate as pi

N_BODY = pi.systems.n_body
WEIGHTS = ((4 / 5, 1), (-1 / 5, 2), (4 / 105, 3), (-1 / 280, 4))  # differences of order 8
DIFFERENCE = 1e-9  # of numbers to a hundred, with a width of 1/128


def system_of(n, batch=(), softening=0.1):
    random = np.random.default_rng(n)
    return N_BODY(n=n, g=1.3, masses=random.uniform(0.5, 2, (*batch, n)), softening=softening)


def states(n, lanes, seed=0):
    return np.random.default_rng(seed).normal(size=(lanes, 6 * n))


def accelerations(system, y):
    n = system.n
    x = y[..., : 3 * n].reshape(*y.shape[:-1], n, 3)
    d = x[..., np.newaxis, :, :] - x[..., np.newaxis, :]
    d = x[..., np.newaxis, :, :] - x[..., :, np.newaxis, :]
    square = np.sum(d * d, axis=-1) + np.asarray(system.params["softening"])[..., None, None] ** 2
    with np.errstate(divide="ignore"):
        w = np.where(np.eye(n, dtype=bool), 0, square**-1.5)
    masses = np.asarray(system.params["masses"])[..., np.newaxis, :]
    a = np.sum((system.params["g"] * masses * w)[..., np.newaxis] * d, axis=-2)
    return a.reshape(*y.shape[:-1], 3 * n)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("softening", [0.0, 0.2])
def test_the_acceleration_is_the_formula(n, softening):
    y = states(n, 20)
    for system in (system_of(n, (), softening), system_of(n, (20,), softening)):
        expected = accelerations(system, y)
        found = system.acceleration(0, y[:, : 3 * n], y[:, 3 * n :])
        assert abs(found - expected).max() <= 1e-13 * max(1, abs(expected).max())
        assert np.array_equal(system.rhs(0, y)[:, : 3 * n], y[:, 3 * n :])


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_jacobian_is_the_derivative(n):
    system, y, h = system_of(n), states(n, 5), 2.0**-8
    expected = np.stack(
        [
            sum(w * (system.rhs(0, y + k * h * e) - system.rhs(0, y - k * h * e))
                for w, k in WEIGHTS) / h
            for e in np.eye(6 * n)
        ],
        axis=-1,
    )  # fmt: skip
    assert abs(system.jacobian(0, y) - expected).max() < 1e-6 * abs(expected).max()


def test_energy_and_invariants_are_the_formulas_and_stay():
    system, y = system_of(4), states(4, 6)
    m = system.params["masses"]
    x, v = (y[:, s].reshape(6, 4, 3) for s in (slice(0, 12), slice(12, 24)))
    potential = sum(
        -1.3 * m[i] * m[j] / np.sqrt(np.sum((x[:, i] - x[:, j]) ** 2, axis=-1) + 0.01)
        for i in range(4) for j in range(i)
    )  # fmt: skip
    energy = np.sum(m * np.sum(v * v, axis=-1), axis=-1) / 2 + potential
    assert system.energy(y) == pytest.approx(energy, rel=1e-13)
    found = system.invariants(y, 0.7)
    P, L = np.einsum("i,nik->nk", m, v), np.einsum("i,nik->nk", m, np.cross(x, v))
    C = np.einsum("i,nik->nk", m, x) / m.sum() - 0.7 * P / m.sum()
    for name, value in (("momentum", P), ("angular_momentum", L), ("centre", C)):
        for k, axis in enumerate("xyz"):
            assert found[f"{name}_{axis}"] == pytest.approx(value[:, k], rel=1e-12, abs=1e-13)
    sol = pi.integrate(system, y, dt=5e-4, n_steps=2000, method="verner98", save=200)
    kept = system.invariants(sol.y, sol.t[:, np.newaxis])
    assert len(kept) == 9
    for values in (*kept.values(), sol.energy()):
        assert abs(values - values[0]).max() < 1e-11 * max(1, abs(values).max())


def test_three_bodies_in_space_are_three_in_a_plane():
    run = {"dt": 0.01, "n_steps": 600, "method": "rk4"}
    space, plane = pi.integrate(N_BODY, **run), pi.integrate(pi.systems.three_body, **run)
    flat = space.y.reshape(601, 6, 3)[..., :2].reshape(601, 12)
    assert abs(flat - plane.y).max() < 1e-12
    assert np.array_equal(space["z1"], np.zeros(601))


def test_the_figure_eight_comes_back():
    period = 6.32591398292621
    sol = pi.integrate(N_BODY, dt=period / 4000, n_steps=4000, method="verner98", save="final")
    assert abs(sol.final - N_BODY.initial).max() < 1e-9


def test_the_outer_planets_keep_their_periods():
    sun = N_BODY(initial="outer_solar_system")
    assert sun.n == 6
    assert sun.units["x1"] == "AU"
    assert sun.units["v" + "x1"] == "AU/day"
    assert sun.units["g"] == "AU^3/(solar mass day^2)"
    sol = pi.integrate(sun, dt=10.0, n_steps=20_000, method="velocity_verlet", save=10)
    error = sol.energy_error()
    # A published figure of Stormer-Verlet at 10 days shows no drift, and swings of some 1e-5.
    assert abs(error).max() < 1e-4
    assert abs(error[-200:].mean() - error[:200].mean()) < 1e-5
    years = {2: 11.862, 3: 29.457, 4: 84.01, 5: 164.8}
    for body, length in years.items():
        angle = np.unwrap(np.arctan2(sol[f"y{body}"] - sol["y1"], sol[f"x{body}"] - sol["x1"]))
        turns = (angle[-1] - angle[0]) / (2 * np.pi)
        assert 200_000 / 365.25 / turns == pytest.approx(length, rel=0.02)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "dormand_prince54"])
def test_bits_do_not_depend_on_the_batch(method, dtype):
    for n in (3, 5):
        system, y = system_of(n, (150,)), states(n, 150)
        run = {"dt": 0.01, "n_steps": 30, "method": method, "dtype": dtype}
        whole = pi.integrate(system, y, **run)
        again = pi.integrate(system, y, **run, workers=2, save=7)
        assert np.array_equal(whole.final, again.final)
        alone = system(masses=system.params["masses"][7])
        assert np.array_equal(pi.integrate(alone, y[7], **run).y, whole.y[:, 7])
        begun = pi.integrate(system, y, **{**run, "n_steps": 11}).resume(n_steps=19)
        assert np.array_equal(begun.final, whole.final)


def test_implicit_methods_use_the_jacobian():
    sol = pi.integrate(N_BODY, dt=0.01, n_steps=100, method="gauss4")
    close = pi.integrate(N_BODY, dt=0.01, n_steps=100, method="verner98")
    assert abs(sol.final - close.final).max() < 1e-7


def test_systems_are_copied_pickled_and_compared():
    for system in (N_BODY, system_of(5), N_BODY(initial="outer_solar_system")):
        for again in (pickle.loads(pickle.dumps(system)), copy.deepcopy(system)):
            assert again == system
            assert again.n == system.n
            assert (again.initial is None) == (system.initial is None)
    assert N_BODY(n=4) != N_BODY(n=5)
    assert N_BODY(g=2.0)(n=4).params["g"] == 2.0


def test_solutions_are_saved_and_loaded(tmp_path):
    bodies = pi.systems.rigid_body(anchors=[[0, 0, 1.0]], stiffness=(3.0,))
    for system in (N_BODY(initial="outer_solar_system"), bodies):
        sol = pi.integrate(system, dt=0.1, n_steps=5)
        sol.save(tmp_path / "a.npz")
        again = pi.load(tmp_path / "a.npz")
        assert again.system == system
        assert again.system.units == system.units
        assert np.array_equal(again.resume(n_steps=5).y, sol.resume(n_steps=5).y)


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: N_BODY(n=0), ValueError, "n must be at least 1"),
        (lambda: N_BODY(n=2.5), TypeError, "n must be an integer"),
        (lambda: N_BODY(masses=(1, 2)), ValueError, "those of the 3 bodies; n=2 makes as many"),
        (lambda: N_BODY(masses=(1, 2, -1)), ValueError, "masses must not be negative"),
        (lambda: N_BODY(initial="pluto"), ValueError, "figure_eight"),
        (lambda: N_BODY(n=4, initial="figure_eight"), ValueError, "has 3 bodies, got n=4"),
        (lambda: N_BODY(initial=[0.0, 1]), ValueError, "numbers for n=3 bodies"),
        (lambda: N_BODY(mass=1), TypeError, "did you mean 'masses'"),
        (lambda: N_BODY(count=5), TypeError, "it has g, initial, masses, n, softening"),
        (lambda: pi.integrate(N_BODY(n=4), dt=0.1, n_steps=1), ValueError, "x0 must be given"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, kind, words):
    with pytest.raises(kind) as caught:
        make()
    assert words in str(caught.value)


def test_bodies_that_coincide_are_refused_unless_softened():
    y = states(4, 3)
    y[1, 9:12] = y[1, 3:6]
    with pytest.raises(ValueError, match=r"bodies 2 and 4 of x0 coincide in trajectory \(1,\)"):
        pi.integrate(N_BODY(n=4), y, dt=0.1, n_steps=1)
    assert pi.integrate(N_BODY(n=4, softening=0.1), y, dt=0.1, n_steps=1).n_failed == 0
    # Two that meet on the way, at the same point to the bit.
    head_on = [-0.5, 0, 0, 0.5, 0, 0, 1.0, 0, 0, -1.0, 0, 0]
    sol = pi.integrate(N_BODY(n=2, g=0.0), head_on, dt=0.5, n_steps=4,
                       method="semi_implicit_euler", on_failure="ignore")  # fmt: skip
    assert sol.failed_step == 2
    assert sol.status == pi.Status.NOT_FINITE


def test_units_stay_with_the_numbers_that_they_belong_to():
    """Of other bodies and other states too: g was that of days, called one of seconds."""
    planets = N_BODY(initial="outer_solar_system")
    for others in (planets(n=4), planets(initial=1.01 * planets.initial), planets(g=1e-4)):
        assert others.params["g"] in (planets.params["g"], 1e-4)
        assert {others.units[name] for name in ("t", "x1", "masses", "g")} == {
            planets.units[name] for name in ("t", "x1", "masses", "g")
        }


@pytest.mark.parametrize("name", ["three_body", "n_body"])
@pytest.mark.parametrize("mass", [1e-25, 1e25])
def test_the_energy_of_light_and_heavy_bodies_in_float32(name, mass):
    """The product of two masses is out of range, that with g is not."""
    system = pi.systems[name](g=1 / mass, masses=[mass] * 3)
    expected = system.energy(system.initial)
    assert abs(system.energy(np.float32(system.initial)) / expected - 1) < 1e-5
