"""What symplectic and reversible methods keep: the symplectic form, the way back, phase volume, and
the energy over twenty thousand periods (with --all, a hundred thousand).
"""

import conftest
import numpy as np
import pytest
from reference import DTYPES, PAIRS, POINT_METHODS, in_turn, names, states

import pyintegrate as pi

CONSERVATIVE = [
    (m, s) for m, s in PAIRS
    if s.dof and not s.velocity_dependent and True in in_turn([True, False, False], m, s)
]  # fmt: skip
SYMPLECTIC = [(m, s) for m, s in CONSERVATIVE if m.symplectic]
# A multistep method has a history to go back with; but Stormer-Verlet's is its velocity.
SYMMETRIC = [
    (m, s) for m, s in CONSERVATIVE
    if m.symmetric and (m.self_starting or m.starts_from_positions)
]  # fmt: skip


def cases(pairs):
    return pytest.mark.parametrize(("method", "system"), pairs, ids=names(pairs))


# Central differences of order 8: f' h = sum_k w_k (f(k h) - f(-k h)).
WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
REACH = 2.0**-8  # leaves 576 (h/r)^8 = 1e-15 of Kepler's force 1/r^2, and ulp/h = 6e-14 of rounding
DIFFERENCE = 5e-13  # what that rounding makes of states and Jacobians up to 10


def step_jacobian(system, y, **options):
    """dy1/dy0 of a run from the state y, (dim, dim), by differences: one batch of neighbours."""
    dim = system.dim
    reach = np.arange(1, 5)[:, np.newaxis, np.newaxis] * np.eye(dim) * REACH  # (4, dim, dim)
    neighbours = y + np.stack([reach, -reach])
    ends = pi.integrate(system, neighbours, save="final", **options).final
    return np.einsum("k,kij->ji", WEIGHTS, ends[0] - ends[1]) / REACH


def symplectic_form(dof):
    zero, one = np.zeros((dof, dof)), np.eye(dof)
    return np.block([[zero, one], [-one, zero]])


def violation(method, system, y, **options):
    options = {"dt": 0.1, "n_steps": 1, **options}
    J, S = step_jacobian(system, y, method=method, **options), symplectic_form(system.dof)
    return abs(J.T @ S @ J - S).max()


# ---- the symplectic form -------------------------------------------------------------------------


@cases(SYMPLECTIC)
def test_steps_keep_the_symplectic_form(method, system):
    for y in states(system, (2,)):
        for dt in (0.1, -0.1, 0.01):
            assert violation(method, system, y, dt=dt) < DIFFERENCE
        # Up to 350 kicks, each with its rounding.
        several = violation(method, system, y, dt=0.02, n_steps=10)
        assert several < 4 * DIFFERENCE


# What they spoil stands above rounding, and is their own: the first steps of others are not.
LOW = [m for m in POINT_METHODS if m.order <= 5 and m.self_starting]


@pytest.mark.parametrize("method", [m for m in LOW if not m.symplectic], ids=str)
def test_the_form_would_notice_a_step_that_is_not_symplectic(method):
    # The error of a method of order p spoils the form at h^(p + 1) or h^(p + 2).
    worst = max(violation(method, pi.systems.kepler, y) for y in states(pi.systems.kepler, (3,)))
    assert worst > 1e4 * DIFFERENCE


def test_the_form_would_notice_a_drift_with_the_velocity_of_before():
    y = np.array([[0.7, 0.1, 0.2, 1.3]])
    kicked = pi.integrate(pi.systems.kepler, y, dt=0.1, n_steps=1, method="semi_implicit_euler")
    wrong = pi.integrate(pi.systems.kepler, y, dt=0.1, n_steps=1, method="explicit_euler")
    assert np.array_equal(kicked.v, wrong.v)
    assert violation("explicit_euler", pi.systems.kepler, y[0]) > 1e-2


def test_a_spring_without_friction_is_kept_symplectic_by_kicks_that_see_the_velocity():
    frictionless = pi.systems.spring(b=0.0)
    for method in POINT_METHODS:
        if method.symplectic and not method.velocity_free:
            assert violation(method, frictionless, np.array([1.0, 0.3])) < DIFFERENCE


# ---- phase volume --------------------------------------------------------------------------------


@cases(SYMPLECTIC)
def test_phase_volume_is_kept(method, system):
    for y in states(system, (2,)):
        J = step_jacobian(system, y, method=method, dt=0.1, n_steps=1)
        assert np.linalg.det(J) == pytest.approx(1, abs=system.dim * DIFFERENCE)


@pytest.mark.parametrize(
    ("system", "rate"),
    [
        (pi.systems.lorenz, -(10 + 1 + 8 / 3)),  # the divergence of the right-hand side
        (pi.systems.spring(b=0.5), -0.5),
        (pi.systems.spring(b=-2.0, m=4.0), 0.5),
    ],
)
def test_phase_volume_shrinks_at_the_rate_of_the_divergence(system, rate):
    for y in states(system, (3,)):
        J = step_jacobian(system, y, method="rk4", dt=0.01, n_steps=10)
        # rk4 leaves (lambda h)^5 / 120 a step: 4e-6 where lambda = -22 on Lorenz' attractor.
        assert np.linalg.det(J) == pytest.approx(np.exp(0.1 * rate), rel=1e-4)


# ---- the way back --------------------------------------------------------------------------------


def there_and_back(method, system, y, n_steps=20):
    options = {"n_steps": n_steps, "method": method, "save": "final"}
    there = pi.integrate(system, y, dt=0.02, t0=0.01, **options)
    back = pi.integrate(system, there.final, dt=-0.02, t0=there.t[-1], **options)
    return abs(back.final - y).max() / np.finfo(y.dtype).eps


@cases(SYMMETRIC)
def test_symmetric_methods_find_the_way_back(method, system):
    # 40 steps of up to 35 kicks and drifts round by half an ulp each; motions enlarge it tenfold.
    for dtype in DTYPES:
        assert there_and_back(method, system, states(system, (20,), dtype)) < 1000


@pytest.mark.parametrize("method", [m for m in LOW if not m.symmetric], ids=str)
def test_the_others_do_not(method):
    y = states(pi.systems.kepler, (20,))
    assert there_and_back(method, pi.systems.kepler, y) > 1e5


def test_the_way_back_would_notice_a_wrong_coefficient():
    steps = [("kick", 0.5), ("drift", 1.0), ("kick", 0.5)]
    right = pi.Composition(steps)
    wrong = pi.Composition([("kick", 0.5 + 1e-9), ("drift", 1.0), ("kick", 0.5 - 1e-9)])
    y = states(pi.systems.kepler, (20,))
    assert right.symmetric
    assert not wrong.symmetric
    assert there_and_back(right, pi.systems.kepler, y) < 1000
    assert there_and_back(wrong, pi.systems.kepler, y) > 1e5


# ---- energy over many periods --------------------------------------------------------------------

PERIODS = 100_000 if conftest.every_case else 20_000


def energy_errors(method):
    """Of pendulums from small swings to nearly upright, (saves, 8)."""
    system, theta = pi.systems.pendulum, np.array([0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 2.9, 0.0])
    # Steps in a period of small swings, large ones have more: about as many forces for all methods.
    steps = 24 if method.evaluations <= 4 else 12 if method.evaluations <= 11 else 8
    dt = 2 * np.pi / np.sqrt(system.params["g"]) / steps
    # Newton's method takes five iterations: a tenth as many periods, with as many looks at them.
    periods, save = (PERIODS // 5, 11) if method.implicit else (PERIODS, 89)
    sol = pi.integrate(
        system, theta, 3.0 * (theta == 0), dt=dt, n_steps=periods * steps, method=method, save=save
    )
    return abs(sol.energy_error())


@pytest.mark.parametrize("method", [m for m in POINT_METHODS if m.symplectic], ids=str)
def test_the_energy_error_of_symplectic_methods_does_not_grow(method):
    error = energy_errors(method)
    first, last = np.array_split(error, 10)[0], np.array_split(error, 10)[-1]
    # Maxima over thousands of samples of the same bounded motion differ by some per cent; rounding
    # wanders off by 1e-16 times the root of the number of kicks.
    assert np.all(last.max(axis=0) < 1.02 * first.max(axis=0) + 1e-11)
    assert np.all(last.mean(axis=0) < 1.05 * first.mean(axis=0) + 1e-11)


def test_energy_over_many_periods_would_notice_a_method_that_is_not_symplectic():
    error = energy_errors(pi.methods["rk4"])
    assert np.all(error[-1] > 50 * error[len(error) // 1000])
