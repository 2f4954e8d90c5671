"""Implicit methods: stiff motions at steps where explicit ones explode, Newton's failures, and the
stability functions that they are known by.
"""

from functools import cache

import numpy as np
import pytest
from mpmath import exp, mpf, pade, taylor, workdps
from scipy.integrate import solve_ivp
from scipy.integrate._ivp.radau import C as NODES_OF_SCIPY

import pyintegrate as pi
from pyintegrate import Status
from pyintegrate.theory.stability import a_stable, l_stable, stability_angle
from pyintegrate.theory.stability_function import stability_function

IMPLICIT = [m for m in pi.methods.values() if m.implicit and not m.velocity_free]
A_STABLE = [m for m in IMPLICIT if a_stable(m)]
L_STABLE = [m for m in A_STABLE if l_stable(m)]


def run(system, x0, v0=None, **options):
    return pi.integrate(system, x0, v0, save="final", on_failure="ignore", **options)


# ---- stiff motions -------------------------------------------------------------------------------

STIFF = pi.systems.van_der_pol(mu=1000.0)


@cache
def relaxed():
    """Where the slow part of van der Pol's motion is at t = 100, and its speed."""
    found = solve_ivp(
        lambda t, y: STIFF.rhs(t, y), (0, 100), [2.0, 0.0], "Radau", rtol=1e-11, atol=1e-13,
        jac=lambda t, y: STIFF.jacobian(t, y),
    )  # fmt: skip
    return found.y[:, -1]


@pytest.mark.parametrize("method", [m for m in L_STABLE if m.order >= 2], ids=str)
def test_a_stiff_van_der_pol_oscillator_is_followed_at_large_steps(method):
    # Its eigenvalue is -3000: times the step of 0.1, a hundred times what rk4 bears. The slow
    # motion has derivatives of 1e-3, 1e-6, ...: what is seen is how the first steps get onto it.
    sol = run(STIFF, 2.0, 0.0, dt=0.1, n_steps=1000, method=method)
    assert sol.status == Status.OK
    assert sol.final == pytest.approx(relaxed(), abs=2e-5)


@pytest.mark.parametrize("method", ["rk4", "dop853", "velocity_verlet", "adams_bashforth_moulton4"])
def test_explicit_methods_explode_there(method):
    assert run(STIFF, 2.0, 0.0, dt=0.1, n_steps=1000, method=method).status == Status.NOT_FINITE


@pytest.mark.parametrize("method", A_STABLE, ids=str)
def test_a_stiff_spring_stays_bounded_at_large_steps(method):
    # omega dt = 100; symmetric methods keep the energy, the others lose it.
    spring = pi.systems.spring(k=1e8, b=0.0)
    start = {"dt": 0.01, "n_steps": 1000}
    sol = run(spring, 1.0, 0.0, **start, method=method)
    assert sol.status == Status.OK
    # Multistep methods begin with another's steps, and the eigenvalues of theirs are not normal.
    assert sol.energy() <= sol.system.energy(sol.initial) * (
        4 if not method.self_starting else 1.001
    )
    assert run(spring, 1.0, 0.0, **start, method="rk4").status == Status.NOT_FINITE
    assert run(spring, 1.0, 0.0, **start, method="velocity_verlet").status == Status.NOT_FINITE


@pytest.mark.parametrize("method", L_STABLE, ids=str)
def test_an_overdamped_spring_creeps_at_its_slow_rate(method):
    spring = pi.systems.spring(k=1e8, b=1e6)  # rates of 100 and of 1e6, a thousand times 1/dt
    sol = run(spring, 1.0, -100.0, dt=1e-3, n_steps=20, method=method)
    # (1 + z)^20 beside exp(20 z) with z = -0.1, at first order: ten per cent.
    error = 0.12 if method.order == 1 else 0.01
    assert sol.final == pytest.approx(spring.exact([0.02], [1.0, -100.0])[0], rel=error)


# The parasitic root of Milne and Simpson grows where a motion decays.
@pytest.mark.parametrize("method", [m for m in IMPLICIT if m.name != "milne_simpson4"], ids=str)
def test_motions_that_die_away_or_come_to_rest_do_not_fail(method):
    """Near the end the force is the difference of what cancels, or smaller than any number."""
    rest = run(pi.systems.duffing(gamma=0.0), [1.3, -0.4, 0.9], [0.2, 0.0, 0.5], dt=0.1,
               n_steps=3000, method=method)  # fmt: skip
    assert rest.status.tolist() == [Status.OK] * 3
    assert abs(rest.final[:, 0]) == pytest.approx(1.0, abs=1e-12)
    gone = run(pi.systems.spring(k=1.0, b=[1.0, 1.5]), 1.0, 0.0, dt=0.5, n_steps=6000,
               method=method)  # fmt: skip
    assert gone.status.tolist() == [Status.OK] * 2
    assert abs(gone.final).max() < 1e-100


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("first", [0.0, 1e-30])
def test_a_component_far_below_the_others_is_no_rounding_of_their_pivots(first, dtype):
    """Its force, -200 x, is smaller than that on its neighbour: the row of that one is no pivot."""
    beside = pi.rhs(lambda t, y: (-(200 + 180 * y[1]) * y[0], -1e4 * y[0] - 3e4 * y[1]), dim=2)
    for method in (m for m in A_STABLE if m.family == "implicit_rk"):
        sol = run(beside, np.array([first, 0.34], dtype), dt=1 / 16, n_steps=12, method=method)
        assert sol.status == Status.OK, method


@pytest.mark.parametrize("method", ["bdf5", "bdf6"])
def test_tangents_of_rounding_are_no_failure(method):
    A = [[-5.976, -7.531, 9.09], [-8.988, -12.609, -7.702], [-0.114, -0.296, -16.25]]
    b = [3542.716, 285.155, 3791.152]

    @pi.rhs(dim=3, a=1.0)
    def mixing(t, y, a):
        return [sum(A[i][j] * y[j] for j in range(3)) + a * b[i] * y[0] * y[1] for i in range(3)]

    start = np.array([-0.907, 0.0, 0.0], "f")
    sol = run(mixing, start, dt=2.0**-7, n_steps=12, method=method, sensitivity=("x0", "a"))
    assert sol.status == Status.OK


# ---- failures are those of one trajectory --------------------------------------------------------


def test_a_singular_matrix_is_the_failure_of_its_trajectory():
    # x'' = x at dt = 1: I - h J = [[1, -1], [-1, 1]].
    k = np.array([1.0, -1.0, 4.0, -0.5])
    sol = run(pi.systems.spring(k=k, b=0.0), 1.0, 0.3, dt=1.0, n_steps=5, method="implicit_euler")
    assert sol.status.tolist() == [Status.OK, Status.SINGULAR, Status.OK, Status.OK]
    assert sol.failed_step.tolist() == [-1, 1, -1, -1]
    assert sol.final[1].tolist() == [1.0, 0.3]
    others = pi.systems.spring(k=np.delete(k, 1), b=0.0)
    alone = run(others, 1.0, 0.3, dt=1.0, n_steps=5, method="implicit_euler")
    assert np.delete(sol.final, 1, axis=0).tobytes() == alone.final.tobytes()


def test_equations_without_a_solution_are_the_failure_of_their_trajectory():
    # n1 = n0 + h r n1 (1 - n1/K) has no real solution below n0 = -K (1 - h r)^2 / (4 h r) = -12.5.
    start = np.array([[50.0], [-50.0], [10.0]])
    options = {"dt": 1.0, "n_steps": 5, "method": "implicit_euler"}
    sol = run(pi.systems.logistic(r=2.0), start, **options)
    assert sol.status[1] == Status.NOT_CONVERGED
    assert sol.failed_step[1] == 1
    assert sol.final[1, 0] == -50.0
    alone = run(pi.systems.logistic(r=2.0), start[[0, 2]], **options)
    assert sol.status[[0, 2]].tolist() == alone.status.tolist()
    assert sol.status[0] == Status.OK
    assert sol.final[[0, 2]].tobytes() == alone.final.tobytes()


# ---- stability functions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "above", "below"),
    [
        ("implicit_euler", 0, 1), ("implicit_midpoint", 1, 1), ("gauss4", 2, 2),
        ("gauss6", 3, 3), ("gauss8", 4, 4), ("trapezoidal", 1, 1), ("lobatto_iiia4", 2, 2),
        ("lobatto_iiia6", 3, 3), ("lobatto_iiib4", 2, 2), ("radau_ia3", 1, 2),
        ("radau_iia3", 1, 2), ("radau_iia5", 2, 3), ("radau_iia7", 3, 4),
        ("lobatto_iiic2", 0, 2), ("lobatto_iiic4", 1, 3), ("lobatto_iiic6", 2, 4),
    ],
)  # fmt: skip
def test_collocation_methods_have_the_approximations_of_pade(name, above, below):
    # Hairer, Wanner (1996), table IV.3.1 and IV.5: R is a Pade approximation of exp.
    with workdps(40):
        P, Q = pade(taylor(exp, 0, above + below), above, below)
        found = [
            [mpf(c.numerator) / c.denominator for c in p]
            for p in stability_function(pi.methods[name])
        ]
        assert [len(p) for p in found] == [above + 1, below + 1]
        for ours, theirs in zip(found, (P, Q), strict=True):
            assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < 1e-35


def test_the_nodes_of_radau_are_those_of_scipy():
    assert pi.methods["radau_iia5"].coefficients["c"] == pytest.approx(NODES_OF_SCIPY, rel=1e-15)


# Published: Hairer, Wanner (1996), tables IV.5.13 and IV.6.4; Hairer, Norsett, Wanner I, III.1.
LIMITS = {
    "bdf2": 90.0, "bdf3": 86.03, "bdf4": 73.35, "bdf5": 51.84, "bdf6": 17.84,
    "adams_moulton3": 0.0, "symplectic_dirk4": 0.0, "crouzeix3": 90.0, "kvaerno43": 90.0,
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_angles_of_stability_are_the_published_ones(name):
    assert stability_angle(pi.methods[name]) == pytest.approx(LIMITS[name], abs=0.005)


def test_kinds_of_stability_are_the_published_ones():
    only_A = {m.name for m in A_STABLE} - {m.name for m in L_STABLE}
    assert only_A == {
        "implicit_midpoint", "trapezoidal", "gauss4", "gauss6", "gauss8", "lobatto_iiia4",
        "lobatto_iiia6", "lobatto_iiib4", "qin_zhang2", "crouzeix3", "crouzeix4", "kvaerno43",
    }  # fmt: skip
    assert {m.name for m in IMPLICIT} - {m.name for m in A_STABLE} == {
        "symplectic_dirk4", "milne_simpson4", *(f"adams_moulton{p}" for p in (3, 4, 5, 6)),
        *(f"bdf{p}" for p in (3, 4, 5, 6)),
    }  # fmt: skip
    # Dahlquist's second barrier.
    assert all(m.order <= 2 for m in A_STABLE if m.family == "multistep")
    moved = pi.RungeKutta([[0.49]], [1.0], [0.49])  # between the midpoint and Euler's rule
    assert not a_stable(moved)
    assert a_stable(pi.RungeKutta([[0.51]], [1.0], [0.51]))


# ---- they would notice ---------------------------------------------------------------------------


def test_a_mutated_coefficient_fails_the_certificate():
    c = pi.methods["gauss4"].coefficients
    A = np.array(c["A"])
    A[0] += [1e-9, -1e-9]
    wrong = pi.RungeKutta(A, c["b"], c["c"], order=4).certificate()
    assert not wrong.holds
    assert any("order conditions: " in failure for failure in wrong.failures)
    assert not wrong.method.symplectic
    assert not wrong.method.symmetric
