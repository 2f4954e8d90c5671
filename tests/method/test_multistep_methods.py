"""Multistep methods: what Stormer-Verlet is equal to, the way back, roots and their conditions."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from reference import states

import pyintegrate as pi
from pyintegrate.theory.multistep_conditions import adams_moulton
from pyintegrate.theory.root_condition import is_stable, zero_stable

MULTISTEP = [m for m in pi.methods.values() if m.family == "multistep"]
EPS = np.finfo(np.float64).eps
EXPLICIT = [m for m in MULTISTEP if not m.implicit]


def run(system, x0=None, v0=None, *, dt=0.01, **options):
    return pi.integrate(system, x0, v0, dt=dt, **options)


# ---- Stormer-Verlet ------------------------------------------------------------------------------

POSITIONS = [s for s in pi.systems.values()
             if s.structure == "second_order" and not s.velocity_dependent]  # fmt: skip


# Three bodies enlarge what is rounded, a thousandfold in this time.
@pytest.mark.parametrize("system", [s for s in POSITIONS if s.name != "three_body"], ids=str)
def test_stormer_verlet_is_velocity_verlet(system):
    y = states(system, (20,))
    one = run(system, y, n_steps=300, method="stormer_verlet")
    other = run(system, y, n_steps=300, method="velocity_verlet")
    # A step rounds positions and velocities by an ulp or two; close bodies enlarge it, a hundred
    # times.
    assert abs(one.y - other.y).max() < 100 * 300 * EPS * abs(other.y).max()


def test_backward_velocities_are_those_of_half_a_step_before():
    there = run(pi.systems.pendulum, 1.0, 0.3, n_steps=200, method="stormer_verlet_backward")
    central = run(pi.systems.pendulum, 1.0, 0.3, n_steps=200, method="stormer_verlet")
    assert there.x == pytest.approx(central.x, abs=1e-12)
    assert there.v[1:] == pytest.approx(np.diff(there.x) / 0.01, abs=1e-10)
    assert there.evaluations == central.evaluations - 1  # no force at the end


@pytest.mark.parametrize("system", [pi.systems.pendulum, pi.systems.kepler], ids=str)
def test_positions_come_back_after_ten_thousand_steps(system):
    n = 10_000
    y = states(system, (20,))
    there = run(system, y, n_steps=n, method="stormer_verlet", dt=0.02)
    # The same two positions in the other order, and any velocity: it is not looked at.
    back = run(system, there.x[n - 1], 0 * there.v[n], start=there.x[n], n_steps=n - 1,
               method="stormer_verlet", dt=0.02)  # fmt: skip
    missed = abs(back.x[-1] - there.x[0]).max()
    # Each step rounds by half an ulp, at random: n^(1/2) of them, and where the phase runs away
    # with the energy n^(3/2) times the step; an ulp for each of the 2 n steps is the bound.
    assert missed < 2 * n * EPS * abs(there.x).max()
    wrong = run(system, there.x[n - 1], 0 * there.v[n], start=there.x[n] * (1 + 1e-7),
                n_steps=n - 1, method="stormer_verlet", dt=0.02)  # fmt: skip
    assert abs(wrong.x[-1] - there.x[0]).max() > 1e4 * 2 * n * EPS * abs(there.x).max()


@pytest.mark.parametrize("method", [m for m in MULTISTEP if m.velocity_free], ids=str)
def test_a_force_that_sees_the_velocity_is_refused(method):
    with pytest.raises(ValueError, match=f"{method.name}.*'spring' sees the velocity"):
        run(pi.systems.spring, 1.0, 0.0, n_steps=1, method=method)
    with pytest.raises(ValueError, match=f"{method.name}.*second_order.*'lorenz'"):
        run(pi.systems.lorenz, n_steps=1, method=method)
    assert method not in pi.analysis.suitable_methods(pi.systems.duffing)


def test_a_nystrom_method_is_refused_but_the_one_that_looks_first():
    for name in ("runge_kutta_nystrom4", "runge_kutta_nystrom5"):
        with pytest.raises(ValueError, match=f"{name}.*sees the velocity"):
            run(pi.systems.spring, 1.0, 0.0, n_steps=1, method=name)
    falling = run(pi.systems.projectile, n_steps=100, method="constant_acceleration")
    assert falling.final == pytest.approx(falling.exact()[-1], abs=1e-12)
    damped = run(
        pi.systems.spring(k=0.0, b=1.0), 0.0, 1.0, n_steps=1, method="constant_acceleration"
    )
    assert damped.final.tolist() == pytest.approx([0.01 - 0.5e-4, 0.99], abs=1e-17)


# ---- the first steps -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", [m for m in MULTISTEP if not m.starts_from_positions], ids=str)
def test_the_first_steps_are_those_of_a_one_step_method(method):
    starter = "radau_iia5" if method.implicit else "dormand_prince54"
    starter = (
        "verner87" if method.order + method.derivative > 7 and not method.implicit else starter
    )
    y, n = states(pi.systems.kepler, (5,)), method.stages - 1
    found = run(pi.systems.kepler, y, n_steps=n + 3, method=method)
    if method.derivative == 2:  # adds increments up, as a compensated run does in its first step
        steps = [run(pi.systems.kepler, one, n_steps=1, method=starter, compensated=True).final
                 for one in found.y]  # fmt: skip
        first = np.array([y, *steps])[: n + 4]
    else:
        first = run(pi.systems.kepler, y, n_steps=n + 3, method=starter).y
    assert np.array_equal(found.y[: n + 1], first[: n + 1])
    assert not np.array_equal(found.y[n + 1 :], first[n + 1 :])
    again = run(pi.systems.kepler, y, n_steps=n + 3, method=method, start=starter)
    assert np.array_equal(found.y, again.y)


# ---- roots ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", MULTISTEP, ids=str)
def test_every_method_of_the_catalogue_is_zero_stable(method):
    alpha = method.exact_coefficients[0]["alpha"]
    assert zero_stable(alpha, method.derivative)
    simple = alpha
    if method.derivative == 2:  # the double root at 1 once: sums of alpha are alpha / (z - 1)
        simple = [-a for a in accumulate(alpha)]
        assert simple.pop() == 0
    assert is_stable([(a, 0) for a in simple])  # proved
    wrong = [*alpha[:-2], alpha[-2] - Fraction(1, 100), alpha[-1]]
    assert not zero_stable(wrong, method.derivative)


def test_bdf_of_seven_steps_is_not():
    # Hairer, Norsett, Wanner I, theorem III.3.4.
    def bdf(k):
        alpha = [Fraction(0)] * (k + 1)
        for m in range(1, k + 1):  # sum of (1/m) nabla^m
            row = [Fraction(1)]
            for _ in range(m):
                row = [a - b for a, b in zip([0, *row], [*row, 0], strict=True)]
            for i, value in enumerate(row):
                alpha[k - m + i] += value / m
        return alpha

    assert [zero_stable(bdf(k), 1) for k in range(1, 10)] == [True] * 6 + [False] * 3


@pytest.mark.parametrize(
    ("roots", "stable"),
    [
        ([1, -1], True), ([1, 1], False), ([1, 0.5, -0.5], True), ([1, 1j, -1j], True),
        ([1j, 1j, -1j, -1j], False), ([1, 1.0001], False), ([0.9999, -0.9999], True),
        ([1, -1, 0, 0], True), ([2, 0.5], False), ([0.6 + 0.8j, 0.6 - 0.8j, 0.5], True),
    ],
)  # fmt: skip
def test_roots_are_placed_by_millers_reduction(roots, stable):
    coefficients = np.array([1.0])
    for root in roots:
        coefficients = np.convolve(coefficients, [1, -root])
    exact = [Fraction(float(c.real)).limit_denominator(10**9) for c in coefficients[::-1]]
    assert is_stable([(c, 0) for c in exact]) == stable


@pytest.mark.parametrize("points", range(1, 9))
def test_adams_moulton_weights_integrate_polynomials(points):
    weights = adams_moulton(points)
    for power in range(points):
        exact = Fraction(1, power + 1)  # of t^power from 0 to 1
        places = range(2 - points, 2)
        assert sum(w * Fraction(t) ** power for w, t in zip(weights, places, strict=True)) == exact


# ---- user-defined methods ------------------------------------------------------------------------


def test_multistep_methods_of_ones_own_know_their_order_and_limit():
    mine = pi.Multistep([0, -1, 1], [-1 / 2, 3 / 2, 0], name="mine")
    assert (mine.name, mine.order, mine.stages, mine.evaluations) == ("mine", 2, 2, 1)
    assert (mine.implicit, mine.self_starting, mine.requires) == (False, False, "any")
    found = mine.certificate()
    assert found.holds
    assert found.error_constant == pytest.approx(5 / 12, rel=1e-12)
    assert found.real_stability_limit == 1.0
    numerov = pi.Multistep([1, -2, 1], [Fraction(1, 12), Fraction(5, 6), Fraction(1, 12)],
                           derivative=2)  # fmt: skip
    assert (numerov.order, numerov.stages, numerov.symmetric) == (4, 3, True)
    y = states(pi.systems.kepler, (5,))
    theirs = run(pi.systems.kepler, y, n_steps=50, method="numerov4")
    assert np.array_equal(run(pi.systems.kepler, y, n_steps=50, method=numerov).y, theirs.y)
    scaled = pi.Multistep([1, -4, 3], [0, 0, 2])  # BDF2, times 3
    assert scaled.exact_coefficients[0] == pi.methods["bdf2"].exact_coefficients[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([-5, 4, 1], [2, 4, 0]), "root of size 5.*root condition"),
        (([-1, 3, -3, 1], [0, 0, 0, 0]), "roots on the unit circle more than once"),
        (([-2, 5, -4, 1], [0, 0, -1, 0], None, 2), "root of size 2.*root condition"),
        (([1, -2, 1], [0, 1, 0]), r"sum of j alpha_j \(that of beta\) is 0, expected 1"),
        (([-1, 1], [0.5, 0.4]), r"sum of j alpha_j \(that of beta\) is 1, expected 0.9"),
        (([-1, 1.5], [0.5, 0.5]), "sum of alpha_j"),
        (([-1, 1], [1]), r"beta has shape \(1,\), expected \(2,\)"),
        (([-1, 0], [1, 0]), "alpha ends in 0"),
        (([1], [1]), "alpha has 1 numbers"),
        (([-1, 1], [1, 0], [1]), "predictor.*nothing to predict"),
        (([-1, 1], [0.5, 0.5], [0.9]), "sum of predictor is 0.9"),
        (([0, -1, 1], [0, 0.5, 0.5], [1, 0]), "predictor ends in 0"),
        (([-1, 1], [1, 0], None, 3), "derivative must be 1 or 2"),
        (([1, -2, 1], [0, 1, 0], None, 2, [0, 1]), r"velocity has shape \(2,\), expected"),
        (([1, -2, 1], [0, 1, 0], None, 2, [0, 1, 1]), "sum of velocity is 2"),
        (([-1, 1], [1, 0], None, 1, [0, 1]), "velocity was given, and derivative is 1"),
        (([np.nan, 1], [1, 0]), "alpha must be finite"),
    ],
)
def test_a_wrong_multistep_method_is_refused_by_name(arguments, words):
    with pytest.raises(ValueError, match=words):
        pi.Multistep(*arguments)


def test_a_mutated_coefficient_fails_the_certificate():
    c = pi.methods["adams_bashforth4"].coefficients
    beta = np.array(c["beta"]) + [1e-9, -1e-9, 0, 0, 0]
    wrong = pi.Multistep(c["alpha"], beta, order=4).certificate()
    assert any("declared, 1 found" in failure for failure in wrong.failures)


def test_euler_predicted_and_corrected_is_heun():
    # Of one step: the trapezoidal rule with the explicit Euler method before it.
    pece = pi.Multistep([-1, 1], [0.5, 0.5], [1.0])
    assert (pece.order, pece.self_starting, pece.evaluations) == (2, True, 2)
    y = states(pi.systems.lorenz, (5,))
    one, other = (run(pi.systems.lorenz, y, n_steps=100, method=m).final for m in (pece, "heun2"))
    assert one == pytest.approx(other, rel=1e-12)


def test_positions_before_the_first_may_come_from_a_method():
    """By the line that the refusal gives; the error of the whole is of order 2 with any start."""
    how = {"method": "stormer_verlet", "dt": 0.05, "t_end": 10.0}
    with pytest.raises(TypeError, match=r"dt=-dt, n_steps=1, method='rk4'\)\.x\[-1\]"):
        pi.integrate(pi.systems.pendulum, start="rk4", **how)
    before = pi.integrate(pi.systems.pendulum, dt=-0.05, n_steps=1, method="rk4").x[-1]
    errors = [abs(pi.integrate(pi.systems.pendulum, start=start, **how).error()).max()
              for start in (before, "taylor")]  # fmt: skip
    assert errors[0] == pytest.approx(errors[1], rel=0.05)
