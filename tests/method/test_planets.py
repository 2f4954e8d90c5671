"""Methods for planets: Kepler's motions, order, what is kept, the certificate, and bits."""

import mpmath
import numpy as np
import pytest
from instruction_sets import printed_on_each

import pyintegrate as pi
from pyintegrate.certificate import twin

METHODS = [m for m in pi.methods.values() if m.requires == "n_body"]
every = pytest.mark.parametrize("method", METHODS, ids=str)
OUTER = pi.systems.n_body(initial="outer_solar_system")
EPS = np.finfo(float).eps


def systems_of_planets(n, seed=5):
    """Solar systems that differ in the sixth digit of their starts."""
    return OUTER.initial * (1 + 1e-6 * np.random.default_rng(seed).normal(size=(n, OUTER.dim)))


# ---- two bodies ----------------------------------------------------------------------------------


def kepler(mu, x, v, t):
    """Position and velocity after t, by the eccentric or hyperbolic anomaly in 80 digits."""
    with mpmath.workdps(80):
        x, v = (mpmath.matrix([mpmath.mpf(float(c)) for c in q]) for q in (x, v))
        mu, t = mpmath.mpf(mu), mpmath.mpf(t)
        dot = lambda a, b: sum(p * q for p, q in zip(a, b, strict=True))  # noqa: E731
        r, eta = mpmath.sqrt(dot(x, x)), dot(x, v)
        alpha = 2 / r - dot(v, v) / mu + mpmath.mpf(10) ** -25  # 1 / a; no parabola divides by 0
        if alpha > 0:
            sine, cosine, s = mpmath.sin, mpmath.cos, mpmath.sqrt(alpha)
        else:
            sine, cosine, s = mpmath.sinh, mpmath.cosh, mpmath.sqrt(-alpha)
        sign = 1 if alpha > 0 else -1

        def G(X):  # of Kepler's equation in X = anomaly / s / sqrt(mu), times powers of sqrt(mu)
            c, S = cosine(s * X), sine(s * X) / s
            return S, sign * (1 - c) / s**2, sign * (X - S) / s**2

        def rest(X):
            g1, g2, g3 = G(X)
            return r * g1 + eta / mpmath.sqrt(mu) * g2 + g3 - mpmath.sqrt(mu) * t

        low = high = mpmath.mpf(0)
        while rest(high) * t < 0:
            low, high = high, 2 * high + t / 64
        for _ in range(140):
            X = (low + high) / 2
            low, high = (X, high) if rest(X) * t < 0 else (low, X)
        g1, g2, g3 = G(X)
        f, g = 1 - g2 / r, t - g3 / mpmath.sqrt(mu)
        there = f * x + g * v
        far = mpmath.sqrt(dot(there, there))
        slope = -mpmath.sqrt(mu) * g1 / (r * far), 1 - g2 / far
        return [float(c) for c in [*there, *(slope[0] * x + slope[1] * v)]]


ORBITS = {  # x, v about a centre of 1, and a step
    "circle": ((1, 0, 0), (0, 1, 0), 0.3),
    "ellipse of 0.9 at its nearest": ((0.1, 0, 0), (0, 19**0.5, 0.1), 0.5),
    "ellipse of 0.9 on its way in": ((1.2, 0.3, 0), (-0.9, 0.15, 0), 1.1),
    "half a period": ((1, 0.2, 0.1), (0, 1, 0), 3.0),
    "backwards": ((1, 0.2, 0.1), (0.3, 1, 0), -0.7),
    "parabola": ((0.5, 0, 0), (0, 2, 0), 0.8),
    "hyperbola": ((0.5, 0, 0), (0.3, 2.5, 0), 2.0),
    "fly-by": ((-3, 0.5, 0), (1.5, 0, 0.1), 4.0),
    "fast and far": ((-30, 2, 0), (9, 0, 0), 6.0),
}


# (A corrector is a hundred drifts, some of six steps.)
@pytest.mark.parametrize("name", ORBITS)
@pytest.mark.parametrize("method", [m for m in METHODS if m.self_starting], ids=str)
def test_one_planet_moves_on_keplers_orbit(method, name):
    x, v, t = ORBITS[name]
    pair = pi.systems.n_body(n=2, masses=(0.75, 0.25))
    start = [[0, 0, 0], x, [0, 0, 0], v]  # heliocentric: the centre of mass moves
    sol = pi.integrate(pair, np.ravel(start), dt=t, n_steps=1, method=method, save="final")
    d = sol.final[3:6] - sol.final[:3], sol.final[9:] - sol.final[6:9]
    expected = np.array(kepler(1.0, x, v, t))
    # Roundings of a few operations, and a time of a rounding more, at the speed that it has there.
    near = 100 * EPS * max(1, abs(expected).max() / np.hypot(*expected[:2]) ** 2)
    assert abs(np.concatenate(d) - expected).max() < near * abs(expected).max()


def test_every_orbit_is_found():
    """Nearly straight falls, fast fly-bys, steps of a thousandth of a period and of fifty."""
    rng, n = np.random.default_rng(2), 20_000
    x, v = rng.normal(size=(2, n, 3)) * 10 ** rng.uniform(-1, 1, (2, n, 1))
    v[: n // 4] = -x[: n // 4] * rng.uniform(0, 2, (n // 4, 1)) + 1e-4 * v[: n // 4]
    dt = 10 ** rng.uniform(-3, 2, n) * rng.choice([-1, 1], n)
    pair, rest = pi.systems.n_body(n=2, masses=(1.0, 0.0)), np.zeros((n, 3))
    sol = pi.integrate(
        pair, np.concatenate([rest, x, rest, v], axis=-1), dt=dt, n_steps=1,
        method="wisdom_holman", save="final",
    )  # fmt: skip
    assert not np.any(sol.status)
    L = [np.cross(x, v), np.cross(sol.final[:, 3:6], sol.final[:, 9:])]
    size = np.linalg.norm(sol.final[:, 3:6], axis=-1) * np.linalg.norm(sol.final[:, 9:], axis=-1)
    # Falls that pass the centre at 1e-8 lose digits there: all but some in a thousand have ten.
    lost = np.linalg.norm(L[1] - L[0], axis=-1) / (size + 1)
    assert np.quantile(lost, 0.99) < 1e-11
    assert lost.max() < 1e-6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_turn_that_is_lost_in_rounding_is_no_number(dtype):
    """Fast fly-bys, ever closer to the centre: right, or a status. The closest was off by 110 %."""
    fast, off = np.array([[1, 10, 100, 1e3, 6e3], [0.1, 1e-3, 1e-5, 1e-7, 3e-8]])
    start = np.zeros((5, 12), dtype)
    start[:, 3], start[:, 9], start[:, 10] = 1, -fast, fast * off
    pair, call = pi.systems.n_body(n=2, masses=(1.0, 0.0)), {"method": "wisdom_holman"}
    sol = pi.integrate(pair, start, dt=2.0, n_steps=1, on_failure="ignore", **call)
    assert [*sol.status[:2], *sol.status[3:]] == [0, 0, 2, 2]
    exact = pi.systems.kepler.exact([2.0], start[:, [3, 4, 9, 10]])[0, :, :2]
    lost = abs(sol.final[:, 3:5] - exact).max(axis=1) / abs(exact).max(axis=1)
    assert lost[sol.status == 0].max() < (1e-5 if dtype == np.float64 else 1e-2)


def test_no_orbit_is_no_number():
    """Bodies in one place, or a motion that overflows: a status, and NaN."""
    pair = pi.systems.n_body(n=2, softening=0.0)
    fine, wild = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1.4, 0], [0, 0, 0, 1, 0, 0, 0, 0, 0, 1e200, 0, 0]
    sol = pi.integrate(
        pair, [fine, wild], dt=0.1, n_steps=3, method="wisdom_holman", on_failure="ignore"
    )
    assert sol.status.tolist()[0] == pi.Status.OK
    assert sol.status.tolist()[1] != pi.Status.OK
    assert np.array_equal(sol.y[-1, 1], sol.y[0, 1]) or np.isnan(sol.y[-1, 1]).any()


# ---- several planets -----------------------------------------------------------------------------


@every
def test_it_is_the_twin_and_has_its_certificate(method):
    twice = twin.run(method, twin.BODIES, 1 / 64, 64).astype(float)
    mine = pi.integrate(
        pi.systems.n_body, twin.BODIES.initial, dt=1 / 64, n_steps=64, method=method
    ).final
    if method.self_starting:  # else it is shown through a corrector
        assert abs(mine - twice).max() < 64 * 8 * EPS  # some roundings a step
    certificate = method.certificate()
    assert certificate.holds, certificate.failures


@every
def test_it_converges_to_another_method_with_its_order(method):
    exact = pi.integrate(
        OUTER, dt=10.0, n_steps=400, method="dormand_prince_rkn1210", save="final"
    ).final
    error = [
        abs(pi.integrate(OUTER, dt=200 / k, n_steps=20 * k, method=method).final - exact).max()
        for k in (1, 2, 4)
    ]
    assert np.log2(error[0] / error[1]) == pytest.approx(2, abs=0.1)
    assert np.log2(error[1] / error[2]) == pytest.approx(2, abs=0.1)
    verlet = pi.integrate(OUTER, dt=50.0, n_steps=80, method="velocity_verlet").final
    assert error[2] < abs(verlet - exact).max() / 300  # the planets weigh 1e-3 of the sun


@every
def test_there_and_back(method):
    there = pi.integrate(OUTER, dt=100.0, n_steps=1000, method=method, save="final").final
    back = pi.integrate(OUTER, there, dt=-100.0, n_steps=1000, method=method, save="final").final
    # 2000 roundings of the velocity, 1e-18, move Jupiter along its orbit for 1e5 days.
    assert abs(back - OUTER.initial).max() < 1e-10


@every
def test_energy_and_momenta_for_a_hundred_thousand_years(method):
    x = OUTER.initial.reshape(2, 6, 3)
    masses = OUTER.params["masses"]
    x = x - np.average(x, axis=1, weights=masses)[:, None]  # their centre rests
    sol = pi.integrate(OUTER, x.ravel(), dt=200.0, n_steps=200_000, method=method, save=100)
    error = abs(sol.energy_error())
    assert error[-500:].max() < 1.2 * error[:500].max() < 1e-5  # no drift
    values = OUTER.invariants(sol.y, t=sol.t)
    L = np.stack([values[f"angular_momentum_{axis}"] for axis in "xyz"], axis=-1)
    lost = np.linalg.norm(L - L[0], axis=-1).max() / np.linalg.norm(L[0])
    assert lost < 5 * np.sqrt(200_000) * EPS  # a random walk of roundings


@every
def test_bodies_without_mass_and_any_number_of_bodies(method):
    """A light planet feels the others and moves none; one body alone moves straight on."""
    light = OUTER(masses=[*OUTER.params["masses"][:5], 0.0])
    start = np.delete(OUTER.initial.reshape(12, 3), (5, 11), 0).ravel()
    four = pi.systems.n_body(
        n=5, initial=start, g=OUTER.params["g"], masses=OUTER.params["masses"][:5]
    )
    run = {"dt": 100.0, "n_steps": 300, "method": method, "save": "final"}
    with_it, without = pi.integrate(light, **run), pi.integrate(four, **run)
    kept = np.delete(with_it.final.reshape(12, 3), (5, 11), 0).ravel()
    assert abs(kept - without.final).max() < 1e-11
    one = pi.systems.n_body(n=1)
    end = pi.integrate(one, [1, 2, 3, 0.5, 0.25, 0], dt=0.5, n_steps=4, method=method).final
    assert abs(end[:3] - [2, 2.5, 3]).max() < 64 * EPS  # a corrector goes to and fro


@pytest.mark.parametrize("order", [11, 17])
def test_a_corrector_leaves_the_square_of_the_masses(order):
    """The energy error is m h^2 without one, m^2 h^2 with it; to and fro is no change."""
    run = {"dt": 100.0, "n_steps": 5000, "save": 10}
    for light in (1.0, 0.1):
        masses = OUTER.params["masses"] * [1.0, *[light] * 5]
        plain, corrected = (
            abs(pi.integrate(OUTER(masses=masses), method=name, **run).energy_error()).max()
            for name in ("wisdom_holman", f"wisdom_holman{order}")
        )
        assert corrected < 2 * light * 1e-3 * plain
    start = pi.integrate(OUTER, dt=100.0, n_steps=0, method=f"wisdom_holman{order}")
    assert np.array_equal(start.final, OUTER.initial)


def test_what_remembers_the_state_that_moves_is_refused():
    with pytest.raises(ValueError, match="remembers earlier states"):
        pi.integrate(OUTER, dt=1.0, n_steps=1, method="wisdom_holman17",
                     events={"level": pi.event("z2")})  # fmt: skip


# ---- bits ----------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_depend_on_the_system_alone(method, dtype):
    y = systems_of_planets(300).astype(dtype)
    y[7, 3:18] *= 1e-3  # orbits on which a step needs many iterations
    run = {"dt": 120.0, "n_steps": 40, "method": method, "dtype": dtype, "on_failure": "ignore"}
    whole = pi.integrate(OUTER, y, **run)
    for options in ({"workers": 2}, {"save": 7}, {"save": "final"}, {"bound": 1e6}):
        assert np.array_equal(pi.integrate(OUTER, y, **run, **options).final, whole.final)
    for part in (slice(0, 1), slice(5, 20), slice(299, 300)):
        assert np.array_equal(pi.integrate(OUTER, y[part], **run).y, whole.y[:, part])
    begun = pi.integrate(OUTER, y, **{**run, "n_steps": 13}).resume(n_steps=27)
    assert np.array_equal(begun.final, whole.final)
    stepper = pi.Stepper(OUTER, y, dt=120.0, method=method, dtype=dtype)
    stepper.step(40)
    assert np.array_equal(stepper.y, whole.final, equal_nan=True)


PROGRAM = """
import hashlib
from test_planets import METHODS, OUTER, systems_of_planets
import numpy as np
import pyintegrate as pi

seen = hashlib.sha256()
for dtype in (np.float64, np.float32):
    for method in METHODS:
        y = systems_of_planets(19).astype(dtype)
        y[3, 3:18] *= 1e-2
        sol = pi.integrate(OUTER, y, dt=300.0, n_steps=12, method=method, on_failure="ignore")
        seen.update(np.ascontiguousarray(sol.y).tobytes())
print(seen.hexdigest())
"""


def test_every_instruction_set_gives_the_same_bits():
    found = printed_on_each(PROGRAM)
    assert len(set(found.values())) == 1, found


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (pi.systems.kepler, r"needs a n_body system \(bodies that attract one another\)"),
        (pi.systems.three_body, "needs a n_body system"),
        (pi.systems.n_body.tangent(1), "needs a n_body system"),
        (pi.systems.n_body(softening=0.1), "knows no softening"),
        (pi.systems.n_body(masses=(0, 1, 1)), "begin with the heaviest, or"),
    ],
    ids=lambda value: "",
)
@every
def test_other_systems_are_refused(method, system, words):
    with pytest.raises(ValueError, match=words):
        pi.integrate(system, dt=0.1, n_steps=1, method=method)


@pytest.mark.filterwarnings("error")
def test_a_heavy_body_after_light_ones_is_told():
    """With the sun last the energy was wrong by a factor of 67, in silence."""
    masses = np.array([[1e-3, 1.0, 3e-4], [3e-4, 1e-3, 1.0]])
    pi.integrate(pi.systems.n_body(masses=masses[0]), dt=0.1, n_steps=1, method="wisdom_holman")
    with pytest.warns(UserWarning, match="one is heavier than all of these: begin with the heav"):
        pi.integrate(pi.systems.n_body(masses=masses), dt=0.1, n_steps=1, method="wisdom_holman17")
    pi.integrate(pi.systems.n_body(masses=masses), dt=0.1, n_steps=1, method="velocity_verlet")
