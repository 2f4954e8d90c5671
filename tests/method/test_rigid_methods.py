"""Rules of rigid motion: the twins, orders, what each keeps, the free top, and bits."""

import mpmath
import numpy as np
import pytest
from instruction_sets import printed_on_each
from reference import rigid_body as twin
from reference.rigid_body import FREE, LOADED, bodies

import pyintegrate as pi

RULES = [m for m in pi.methods.values() if m.requires == "rigid_body"]
NORMALISED = [m for m in RULES if m.name != "rigid_rk4_unnormalised"]
every = pytest.mark.parametrize("method", RULES, ids=str)


def flip(n_steps, dt, method, system=FREE, **options):
    """Almost about the middle axis: the Dzhanibekov effect."""
    return pi.integrate(
        system, [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0], dt=dt, n_steps=n_steps,
        method=method, **options,
    )  # fmt: skip


# ---- the mathematics once more -------------------------------------------------------------------


def test_there_is_a_twin_of_every_rule():
    assert set(twin.STEPS) == {m.name for m in RULES}


@every
@pytest.mark.parametrize("factors", [1.0, 0.97])
def test_a_rule_is_its_twin(method, factors):
    system = LOADED(linear_factor=factors, angular_factor=factors)
    pose, twist = bodies(33)
    mine = pi.integrate(system, pose, twist, dt=0.03, n_steps=20, method=method).final
    theirs = twin.integrate(method.name, system, np.concatenate([pose, twist], axis=-1), 0.03, 20)
    # 20 steps of some ten roundings; Newton's answer and that of the fixed point are as close.
    assert abs(mine - theirs).max() < 1e-13 * abs(theirs).max()


def test_a_twin_would_notice_a_wrong_constant():
    wrong = LOADED(angular_damping=0.2 + 1e-9)
    pose, twist = bodies(33)
    y = np.concatenate([pose, twist], axis=-1)
    apart = twin.integrate("rigid_rk4", LOADED, y, 0.03, 20) - twin.integrate(
        "rigid_rk4", wrong, y, 0.03, 20
    )
    assert abs(apart).max() > 1e-10


@every
def test_a_full_inertia_is_a_diagonal_one_in_other_axes(method):
    """Turning the body axes by p: q -> q p*, B -> P B P'; the splitting has other axes then."""
    p = twin.normalised(np.array([0.8, 0.3, -0.4, 0.2]))
    P = twin.matrix(p)
    full = FREE(inverse_inertia=P @ np.diag([1, 1 / 2, 1 / 3]) @ P.T)
    pose, twist = bodies(9)
    turned = pose.copy()
    turned[:, 3:] = twin.product(pose[:, 3:], p * np.array([1, -1, -1, -1]))
    dt = 1e-3 if "splitting2" in method.name else 0.01
    mine = pi.integrate(full, turned, twist, dt=dt, n_steps=100, method=method).final
    theirs = pi.integrate(FREE, pose, twist, dt=dt, n_steps=100, method=method).final
    near = {"rigid_splitting2": 1e-6, "rigid_splitting4": 1e-6}.get(method.name, 1e-12)
    assert abs(mine[:, 7:] - theirs[:, 7:]).max() < near


# ---- order ---------------------------------------------------------------------------------------


def order(method, system, fine):
    pose, twist = bodies(4, seed=3)
    y = np.concatenate([pose, twist], axis=-1)
    exact = pi.integrate(system, y, dt=1 / 512, n_steps=512, method="verner98").final
    error = [
        abs(pi.integrate(system, y, dt=1 / n, n_steps=n, method=method).final - exact).max()
        for n in (fine, 2 * fine)
    ]
    return np.log2(error[0] / error[1])


@every
def test_the_measured_order_is_the_declared_one(method):
    fine = 512 if method.order <= 1 else 64
    for system in (FREE, LOADED):
        assert order(method, system, fine) == pytest.approx(method.order, abs=0.1)


def test_without_the_gyroscopic_term_a_sphere_moves_right():
    sphere = LOADED(inverse_inertia=(2, 2, 2))
    assert order("rigid_no_gyroscopic", sphere, 512) == pytest.approx(1, abs=0.1)


# ---- the free top --------------------------------------------------------------------------------


@pytest.mark.parametrize("inverse", [(1.0, 1.0, 0.4), (0.4, 1.0, 1.0), (2.0, 0.7, 2.0)])
def test_a_symmetric_top_precesses_as_its_closed_form_says(inverse):
    top = pi.systems.rigid_body(inverse_inertia=inverse)
    pose, twist = bodies(20)
    for method, near in (("rigid_splitting4", 1e-6), ("rigid_rk4", 1e-5), ("verner98", 1e-11)):
        sol = pi.integrate(top, pose, twist, dt=0.01, n_steps=1000, method=method, save=100)
        assert abs(sol.error()).max() < near


def test_a_symmetric_top_is_split_exactly_into_two_rotations():
    """Where the first two moments agree the terms commute, and the axis is right to rounding."""
    sphere = pi.systems.rigid_body(inverse_inertia=(0.5, 0.5, 0.5))
    sol = pi.integrate(sphere, *bodies(20), dt=0.5, n_steps=20, method="rigid_splitting2")
    assert abs(sol["wx"] - sol["wx"][0]).max() < 1e-14


def flipping(t):
    """Angular velocity in body axes by Jacobi's functions, in 30 digits: moments 1, 2, 3 from
    (0.01, 1, 0). Landau, Lifshitz (1976), Mechanics, section 37, axes 1 and 3 interchanged."""
    with mpmath.workdps(30):
        w1, w2 = mpmath.mpf(0.01), mpmath.mpf(1)
        first, second, third = 3, 2, 1
        E2, M2 = w1**2 + 2 * w2**2, w1**2 + 4 * w2**2
        small, large = E2 * third - M2, M2 - E2 * first
        rate = mpmath.sqrt((third - second) * large / mpmath.mpf(first * second * third))
        m = (second - first) * small / ((third - second) * large)
        amplitudes = (
            mpmath.sqrt(large / mpmath.mpf(third * (third - first))),
            mpmath.sqrt(small / mpmath.mpf(second * (third - second))),
            mpmath.sqrt(small / mpmath.mpf(first * (third - first))),
        )
        u = mpmath.ellipk(m) + rate * mpmath.mpf(t)
        return [
            float(a * mpmath.ellipfun(name, u, m=m))
            for a, name in zip(amplitudes, ("dn", "sn", "cn"), strict=True)
        ]


def test_the_flip_is_the_reference():
    dt = 2.0**-8
    # Rounding, 1e-14 of energy after some time, moves the next flip: it leaves an instability.
    inside = np.array([flipping(64 * dt * i) for i in range(161)])
    assert inside[:, 1].min() < -0.99  # it turns over
    for method, near in (("rigid_splitting4", 1e-8), ("rigid_rk4", 1e-7), ("verner98", 1e-9)):
        sol = flip(160 * 64, dt, method, save=64)
        R = twin.matrix(sol.x[:, 3:])
        mine = np.einsum("tki,tk->ti", R, sol.v[:, 3:])
        assert abs(mine - inside).max() < near, method
    assert abs(flip(8000, 0.005, "rigid_no_gyroscopic")["wy"] - 1).max() < 1e-12  # it does not


@pytest.mark.parametrize("method", [m for m in RULES if m.symplectic], ids=str)
def test_the_splitting_keeps_energy_and_angular_momentum_for_a_million_steps(method):
    sol = flip(1_000_000, 0.02, method, save=1000)
    error, L = sol.energy_error(), FREE.angular_momentum(sol.y)
    first, last = abs(error[:250]).max(), abs(error[-250:]).max()
    assert last < 1.2 * first + 1e-12 < 1e-4  # bounded: no drift
    assert abs(L - L[0]).max() < 1e-9 * np.linalg.norm(L[0])


@pytest.mark.parametrize("method", NORMALISED, ids=str)
def test_quaternions_stay_within_four_ulp_of_unit_length(method):
    sol = flip(1_000_000, 1e-3, method, save=10_000)
    norm = np.sqrt(np.sum(sol.x[..., 3:].astype(np.longdouble) ** 2, axis=-1))
    assert abs(norm - 1).max() < 4 * np.finfo(float).eps


def test_energy_and_momentum_tell_the_rules_apart():
    change, lost = {}, {}
    for method in RULES:
        sol = flip(3000, 0.01, method)
        change[method.name] = sol.energy_error()[-1]
        L = FREE.angular_momentum(sol.y)
        lost[method.name] = abs(L - L[0]).max()
    assert change["rigid_semi_implicit_euler"] > 0.01  # gains
    assert change["rigid_implicit_gyroscopic"] < -0.01  # loses
    assert abs(change["rigid_splitting4"]) < 1e-9
    assert abs(change["rigid_rk4"]) < 1e-8
    kept = {name for name, value in lost.items() if value < 1e-11}
    assert kept == {"rigid_angular_momentum", "rigid_splitting2", "rigid_splitting4"}


def test_the_splitting_is_reversible():
    there = flip(500, 0.05, "rigid_splitting4").final
    back = pi.integrate(FREE, there, dt=-0.05, n_steps=500, method="rigid_splitting4").final
    assert abs(back - flip(0, 0.05, "rigid_splitting4").final).max() < 1e-9


# ---- damping -------------------------------------------------------------------------------------


def test_a_damping_factor_is_the_exponential_of_the_rate():
    dt, n = 0.01, 300
    by_rate = FREE(linear_damping=0.3, angular_damping=0.5)
    by_factor = FREE(linear_factor=np.exp(-0.3 * dt), angular_factor=np.exp(-0.5 * dt))
    pose, twist = bodies(7)
    run = {"dt": dt, "n_steps": n, "method": "rigid_semi_implicit_euler"}
    a, b = (pi.integrate(s, pose, twist, **run).final for s in (by_rate, by_factor))
    assert abs(a - b).max() < 1e-13
    assert a[:, 7:10] == pytest.approx(twist[:, :3] * np.exp(-0.3 * dt * n), rel=1e-12)


# ---- bits ----------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_depend_on_the_body_alone(method, dtype):
    pose, twist = bodies(700)
    run = {"dt": 0.02, "n_steps": 40, "method": method, "dtype": dtype}
    whole = pi.integrate(LOADED, pose, twist, **run)
    for options in ({"workers": 2}, {"save": 7}, {"save": "final"}):
        other = pi.integrate(LOADED, pose, twist, **run, **options)
        assert np.array_equal(other.final, whole.final)
    for part in (slice(0, 1), slice(3, 20), slice(699, 700)):
        alone = pi.integrate(LOADED, pose[part], twist[part], **run)
        assert np.array_equal(alone.y, whole.y[:, part])
    begun = pi.integrate(LOADED, pose, twist, **{**run, "n_steps": 13}).resume(n_steps=27)
    assert np.array_equal(begun.final, whole.final)


@pytest.mark.parametrize("method", [m for m in RULES if m.order == 1], ids=str)
def test_the_halves_of_a_step_are_the_step(method):
    pose, twist = bodies(11)
    system = LOADED(linear_factor=0.99)
    halves = pi.Stepper(system, pose, twist, dt=0.02, method=method)
    for _ in range(30):
        halves.kick()
        halves.drift()
    whole = pi.integrate(system, pose, twist, dt=0.02, n_steps=30, method=method)
    assert np.array_equal(halves.y, whole.final)
    assert halves.x.shape == (11, 7)
    assert halves.v.shape == (11, 6)


PROGRAM = """
import hashlib
from reference.rigid_body import LOADED, bodies
from test_rigid_methods import RULES
import numpy as np
import pyintegrate as pi

seen = hashlib.sha256()
for dtype in (np.float64, np.float32):
    for method in RULES:
        pose, twist = bodies(19)
        sol = pi.integrate(LOADED, pose, twist, dt=0.02, n_steps=12, method=method, dtype=dtype)
        seen.update(np.ascontiguousarray(sol.y).tobytes())
    for n in (3, 5):
        y = np.random.default_rng(n).normal(size=(19, 6 * n)).astype(dtype)
        sol = pi.integrate(pi.systems.n_body(n=n), y, dt=0.02, n_steps=12)
        seen.update(np.ascontiguousarray(sol.y).tobytes())
print(seen.hexdigest())
"""


def test_every_instruction_set_gives_the_same_bits():
    found = printed_on_each(PROGRAM)
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("method", NORMALISED, ids=str)
def test_the_last_good_attitude_is_one(method):
    """Beyond a turn whose square overflows there is none: a quaternion over infinity is 0."""
    body = FREE(inverse_inertia=np.diag([1.0, 1 / 2, 1 / 3]))
    w = np.logspace(2, 300, 30)[:, np.newaxis] * [1, 1.1, 0.9]
    sol = pi.integrate(body, [0, 0, 0, 1, 0, 0, 0], np.concatenate([0 * w, w], axis=1), dt=0.1,
                       n_steps=10, method=method, on_failure="ignore")  # fmt: skip
    length = np.linalg.norm(sol.y[..., 3:7], axis=-1)
    assert length == pytest.approx(1, abs=1e-14)


@every
@pytest.mark.parametrize(
    ("dtype", "size"), [(np.float32, 1e-15), (np.float32, 1e13), (float, 1e105)]
)
def test_a_body_of_any_inertia_turns_alike(method, dtype, size):
    """The implicit rule's determinant is a cube of it: subnormal, or infinite."""
    inertia, run = np.array([1.0, 2.0, 3.0]), (20, 0.05, method)
    light = flip(*run, FREE(inverse_inertia=1 / inertia), dtype=dtype)
    heavy = flip(*run, FREE(inverse_inertia=1 / (size * inertia)), dtype=dtype)
    assert abs(heavy.final - light.final).max() < 100 * np.finfo(dtype).eps
