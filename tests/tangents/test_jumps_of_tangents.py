"""Tangents pass a jump by its saltation matrix: the derivative of the flow across it."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

BOUNCE = {
    "ground": pi.event(
        "z", direction=-1, then=lambda t, x, v, e: (x, v * [1, 1, -e]), params={"e": 0.8}, keep=9
    )
}


def _table(t, x, v):
    """A table that goes up and down under the ball: g and the jump depend on the time."""
    return x, [v[0], v[1], 0.3 * np.cos(3 * t) - 0.8 * (v[2] - 0.3 * np.cos(3 * t))]


TABLE = {"table": pi.event(lambda t, x, v: x[2] - 0.1 * np.sin(3 * t), direction=-1, then=_table)}


@pi.acceleration(dof=2)
def free(t, x, v):
    return 0 * x


@pi.rhs(dim=2, a=1.3, b=0.4)
def leaky(t, y, a, b):
    return [a - b * y[0] * y[1], 1 + 0 * y[1]]


@pi.hamiltonian(dof=1, m=1.5)
def relativistic(q, p, m):
    return np.sqrt(m * m + p * p) + q


def _mirror(t, x, v):
    return x, v - 2 * (v @ x) / (x @ x) * x


BILLIARD = {"wall": pi.event(lambda t, x, v: x @ x - 1, direction=1, then=_mirror)}
# The threshold of a neuron depends on a parameter of its force, and the jump as well.
RESET = {"fires": pi.event(lambda t, y, a: y[0] - a / 4, then=lambda t, y, b: [b * y[1] / 9, y[1]])}
FLOOR = {"floor": pi.event("q", direction=-1, then=lambda t, q, p: (q, -p))}
CASES = {
    "bouncing": (pi.systems.projectile, BOUNCE, [0, 0, 1, 2, 1, 0], "g", {"dt": 0.01}),
    "table": (pi.systems.projectile, TABLE, [0, 0, 1, 2, 1, 0], "g", {"dt": 0.01}),
    "billiard": (free, BILLIARD, [0.1, 0.2, 1.7, 1.1], (), {"dt": 0.1}),
    "neuron": (leaky, RESET, [0.0, 0.1], ("a", "b"), {"dt": 0.005}),
    "hamiltonian": (relativistic, FLOOR, [0.1, 0.1], "m", {"dt": 0.005, "method": "gauss4"}),
}


def ends(case, tangents=False):
    """The end as a function of start and parameters, or the end of the tangents."""
    system, events, start, parameters, options = CASES[case]
    names = [parameters] if isinstance(parameters, str) else list(parameters)
    options = {"method": "rk4", **options, "n_steps": round(3 / options["dt"]), "save": "final"}
    if tangents:
        both = system.tangent(system.dim, parameters)
        y = np.zeros(both.dim)
        y[both.places[:, 0]] = start
        y[both.places[:, 1 : 1 + system.dim].diagonal()] = 1.0
        sol = pi.integrate(both, y, events=events, **options)
        assert all(sol.events[name].count > 1 for name in events)
        return both.parts(sol.final)

    def end(shift):
        changed = {n: system.params[n] + s for n, s in zip(names, shift[system.dim :], strict=True)}
        y = np.add(start, shift[: system.dim])
        return pi.integrate(system(**changed), y, events=events, **options).final

    return end, system.dim + len(names)


@pytest.mark.parametrize("case", CASES)
def test_tangents_across_jumps_are_the_derivative_of_the_flow(case):
    end, n = ends(case)
    y, M = ends(case, tangents=True)
    h, weights = 1e-4, {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    np.testing.assert_allclose(y, end(np.zeros(n)), rtol=0, atol=1e-13)
    expected = np.empty((len(y), n))
    for j in range(n):
        e = np.eye(n)[j] * h
        expected[:, j] = sum(w * (end(i * e) - end(-i * e)) for i, w in weights.items()) / h
    # Rounding over h; where a method is not exact between the jumps, its error in a step at each.
    np.testing.assert_allclose(M, expected, rtol=0, atol=3e-9 * abs(expected).max())


def test_elastic_jumps_keep_areas():
    """Of a Hamiltonian flow with reflections det M = 1, and the motion is exact between them."""
    M = ends("billiard", tangents=True)[1]
    J = np.kron([[0, 1], [-1, 0]], np.eye(2))
    np.testing.assert_allclose(M.T @ J @ M, J, rtol=0, atol=1e-13 * abs(M).max() ** 2)
    assert abs(M).max() > 5


def test_a_run_to_a_tolerance_jumps_as_one_of_fixed_steps():
    both = pi.systems.projectile.tangent(1, "g")
    start = both.initial
    sol = pi.solve(both, start, t_end=5.0, rtol=1e-10, events=BOUNCE)
    fixed = pi.integrate(both, start, dt=0.01, t_end=5.0, save="final", events=BOUNCE)
    np.testing.assert_array_equal(sol.events["ground"].count, fixed.events["ground"].count)
    assert sol.events["ground"].count > 2
    np.testing.assert_allclose(sol.final, fixed.final, rtol=0, atol=1e-10)
    stepper = pi.Stepper(both, start, dt=0.01, method="rk4", events=BOUNCE)
    stepper.step(500)
    assert same_bits(stepper.y, fixed.final)


def test_a_condition_is_met_at_a_step_by_all_neighbours():
    """Its time does not depend on them: d jumps by Dh alone."""
    half = {"far": pi.event(lambda t, y: y[0] > 2, then=lambda t, y: [y[0] / 2])}
    growth = pi.rhs(dim=1)(lambda t, y: y)
    sol = pi.integrate(growth.tangent(1), [1.0, 1.0], dt=0.01, n_steps=200, events=half)
    np.testing.assert_allclose(sol.y[:, 1], sol.y[:, 0], rtol=1e-15)
    assert sol.events["far"].count == 2
    with pytest.raises(ValueError, match="the quantity that crosses zero"):  # there it is located
        pi.solve(growth.tangent(1), [1.0, 1.0], t_end=2.0, events=half)
    seen = {"far": pi.event(lambda t, y: y[0] > 2)}
    assert pi.solve(growth.tangent(1), [1.0, 1.0], t_end=2.0, events=seen).events["far"].count == 1


def test_a_quantity_that_may_jump_through_zero_is_told():
    """Its zero has no derivative there; one that passes through zero has the right one."""
    ramp = pi.rhs(dim=1, T=0.4)(lambda t, y, T: [1 + 0 * T])

    def last(quantity, *parameters):
        kick = {"tick": pi.event(quantity, then=lambda t, y: 2 * y)}
        return pi.integrate(ramp.tangent(1, parameters), dt=0.01, t_end=0.6, events=kick).final

    with pytest.warns(UserWarning, match=r"events\['tick'\] may jump \(fmod, where\).*np.sin"):
        last(lambda t, y, T: np.mod(t, T) - 3 * T / 4, "T")
    np.testing.assert_allclose(last(lambda t, y, T: np.sin(np.pi * t / T), "T"), [3, 2, 1])
    last(lambda t, y: np.mod(t, 0.4) - 0.3)  # of the time alone


def test_jumps_without_a_formula_are_refused():
    called = pi.acceleration(dof=1, trace=False)(lambda t, x, v: -x)
    with pytest.warns(UserWarning, match="central differences"):
        both = called.tangent(1)
    jump = {"ground": pi.event("x", then=lambda t, x, v: (x, -v))}
    with pytest.raises(ValueError, match="saltation matrix.* called"):
        pi.integrate(both, dt=0.1, n_steps=10, events=jump)
    both = pi.hamiltonian(dof=1)(lambda q, p: (p * p + q * q) / 2).tangent(1)
    jump = {"high": pi.event("energy", then=lambda t, q, p: (q, -p))}
    with pytest.raises(ValueError, match="only the core computes, and the saltation"):
        pi.integrate(both, dt=0.1, n_steps=10, events=jump)
    jump = {"high": pi.event("energy", then=lambda t, x, v: (x, -v))}
    with pytest.raises(ValueError, match="is not known beside tangents: write it as a function"):
        pi.integrate(pi.systems.spring.tangent(1), dt=0.1, n_steps=10, events=jump)
    jump = {"tangent": pi.event("dq_1", then=lambda t, q, p: (q, -p))}
    with pytest.raises(ValueError, match="no quantity 'dq_1'"):
        pi.integrate(both, dt=0.1, n_steps=10, events=jump)
