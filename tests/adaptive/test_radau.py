"""Radau IIA of order 5 to a tolerance: its numbers, its work, and what it keeps."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import same_bits
from places import ROOT

import pyintegrate as pi

RADAU = {"method": "radau_iia5", "on_failure": "raise"}
HEADER = ROOT / "csrc" / "kernels" / "tolerance" / "radau.h"


def van_der_pol(rtol, mu=1000.0, t_end=2000.0, **options):
    return pi.solve(
        pi.systems.van_der_pol(mu=mu), [2.0, 0.0], t_end=t_end, rtol=rtol, atol=rtol,
        **{**RADAU, "save": "final", **options},
    )  # fmt: skip


def written(name):
    text = HEADER.read_text()
    found = re.search(rf"{name}(?:\[3\])* =? ?(.*?)(?:;|\n#define|\nstatic)", text, re.DOTALL)
    return [float(number) for number in re.findall(r"-?\d+\.\d+", found[1])]


def test_the_numbers_split_the_table():
    """A^-1 = T D T^-1, and e A = (embedded weights - b) gamma, with digits to spare."""
    mp = pytest.importorskip("mpmath").mp
    exact, _ = pi.methods["radau_iia5"].exact_coefficients
    ((embedded, _),) = pi.methods["radau_iia5"].exact_embedded
    with mp.workdps(40):
        A = mp.matrix([[mp.mpf(x.numerator) / x.denominator for x in row] for row in exact["A"]])
        (gamma,), (alpha,), (beta,) = (written(f"RADAU_{x}") for x in ("GAMMA", "ALPHA", "BETA"))
        D = mp.matrix([[gamma, 0, 0], [0, alpha, beta], [0, -beta, alpha]])
        T, inverse, e = written("radau_t"), written("radau_t_inverse"), written("radau_e")
        T, inverse = (mp.matrix(np.reshape(x, (3, 3)).tolist()) for x in (T, inverse))
        # Numbers of size 5 in double precision, products of three.
        assert mp.norm(T * D * inverse - A**-1, 1) < 1e-14
        assert mp.norm(T * inverse - mp.eye(3), 1) < 1e-15
        for j in range(3):
            weight = sum(e[i] * A[i, j] for i in range(3)) / gamma
            declared = embedded[j] - exact["b"][j]
            assert abs(weight - mp.mpf(declared.numerator) / declared.denominator) < 1e-15
        assert abs(1 - float(sum(embedded)) - 1 / gamma) < 1e-15


def test_the_work_is_that_of_the_same_method_elsewhere():
    """Steps are chosen by the same estimate: SciPy's Radau takes as many, to a fifth."""
    scipy_integrate = pytest.importorskip("scipy.integrate")
    for rtol in (1e-4, 1e-6):
        other = scipy_integrate.solve_ivp(
            lambda t, y: [y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]], (0, 2000), [2.0, 0.0],
            method="Radau", rtol=rtol, atol=rtol,
            jac=lambda t, y: [[0, 1], [-2000 * y[0] * y[1] - 1, 1000 * (1 - y[0] ** 2)]],
        )  # fmt: skip
        sol = van_der_pol(rtol)
        assert sol.steps_taken == pytest.approx(len(other.t) - 1, rel=0.2)


def test_the_error_falls_with_the_tolerance():
    """Steps go with the fourth root of the tolerance, errors of order 5 with it, and faster."""
    end = [0.1706167732170483e1, -0.8928097010247975e-3]
    errors = [abs(van_der_pol(rtol).final - end).max() for rtol in (1e-4, 1e-6, 1e-8)]
    assert errors[0] < 1e-3
    assert errors[1] < errors[0] / 100
    assert errors[2] < 1e-8


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_order_split_workers_and_neighbours_change_no_bit(dtype):
    mu = np.linspace(1.0, 500.0, 60).astype(dtype)
    start = np.tile(np.array([2.0, 0.0], dtype), (60, 1))

    def solve(i, **options):
        return pi.solve(
            pi.systems.van_der_pol(mu=mu[i]), start[i], t_end=30.0, rtol=2e-5, atol=1e-6,
            dtype=dtype, **{**RADAU, **options},
        )  # fmt: skip

    whole = solve(slice(None))
    assert whole.steps_taken.max() > 2 * whole.steps_taken.min()
    order = np.random.default_rng(0).permutation(60)
    for i, options in [(order, {}), (slice(7, 8), {}), (slice(None), {"workers": 3}),
                       (slice(None), {"times": np.linspace(0, 30, 50)})]:  # fmt: skip
        part = solve(i, **options)
        for name in ("final", "steps_taken", "rejected", "last_step"):
            assert same_bits(getattr(whole, name)[i], getattr(part, name))


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_states_at_times_keep_the_tolerance(rtol):
    """They are steps of the method, made shorter; where it is stiff the polynomial through the
    stages of a long step would be off by ten times as much."""
    times = np.linspace(0.0, 3.0, 200)
    stiff = pi.rhs(dim=1)(lambda t, y: (-1e4 * (y[0] - np.cos(t)),))
    exact = (np.cos(times) + 1e-4 * np.sin(times)) / (1 + 1e-8)
    sol = pi.solve(stiff, [1 / (1 + 1e-8)], t_end=3.0, times=times, rtol=rtol, atol=rtol, **RADAU)
    assert abs(sol.y[:, 0] - exact).max() < 3 * rtol  # errors of steps add up
    assert sol.steps_taken < 100
    run = {"t_end": 3.0, "times": times, "on_failure": "raise"}
    van_der_pol = pi.systems.van_der_pol(mu=30.0)
    sol = pi.solve(van_der_pol, rtol=rtol, atol=rtol, method="radau_iia5", **run)
    exact = pi.solve(van_der_pol, rtol=1e-12, atol=1e-12, **run)
    assert np.max(abs(sol.y - exact.y) / (1 + abs(exact.y))) < rtol


def test_a_jacobian_that_serves_is_made_once():
    """Of a linear system, by differences: 40 calls each time, and some dozen for a step."""
    calls, dim = 0, 40

    def heat(t, y):
        nonlocal calls
        calls += 1
        ends = np.zeros_like(y[:1])
        y = np.concatenate([ends, y, ends])
        return 1e4 * (y[2:] - 2 * y[1:-1] + y[:-2])

    system = pi.rhs(dim=dim, trace=False)(heat)
    start = np.sin(np.pi * np.arange(1, dim + 1) / (dim + 1))
    calls = 0
    sol = pi.solve(system, start, t_end=1.0, rtol=1e-6, atol=1e-9, save="final", **RADAU)
    tries = int(sol.steps_taken + sol.rejected)
    assert tries > 20
    assert dim < calls < 3 * dim + 14 * tries
    decay = 4e4 * np.sin(np.pi / (2 * (dim + 1))) ** 2
    assert abs(sol.final - start * np.exp(-decay)).max() < 1e-6


def test_species_in_units_far_apart_take_the_steps_of_one_unit():
    """Pivots chosen by size left rounding of other rates: 3,800 attempts, not 261."""

    @pi.rhs(dim=3, unit=np.ones(3))
    def reactions(t, z, unit):
        a, b, c = z / unit
        first, second, third = 1e4 * c, 1e7 * b * c, 1e5 * a * b
        return unit * np.array([first, -second - third, second + third - first])

    def solved(unit):
        options = {"t_end": 10.0, "rtol": 1e-6, "atol": 1e-10 * unit, "save": "final", **RADAU}
        return pi.solve(reactions(unit=unit), np.array([1.0, 1, 0]) * unit, **options)

    unit = 2.0 ** np.array([-40, 40, 40])
    plain, scaled = solved(np.ones(3)), solved(unit)
    assert scaled.steps_taken + scaled.rejected < 1.2 * (plain.steps_taken + plain.rejected)
    assert scaled.final / unit == pytest.approx(plain.final, rel=1e-6, abs=1e-9)


def test_a_jump_begins_anew():
    """A motion drawn to cos t at the rate 1e4, thrown down by 1/2 where it passes 1/2."""
    system = pi.rhs(dim=1)(lambda t, y: (-1e4 * (y[0] - np.cos(t)),))
    throw = pi.event(lambda t, y: y[0] - 0.5, direction=-1, keep=2, then=lambda t, y: y - 0.5)
    sol = pi.solve(system, [1.0], t_end=2.0, rtol=1e-6, atol=1e-6, events={"throw": throw},
                   save="all", **RADAU)  # fmt: skip
    # y = (L^2 cos t + L sin t) / (1 + L^2) + decayed, L = 1e4, is 1/2 at pi/3 + 1e-4.
    assert sol.events["throw"].t[0] == pytest.approx(np.pi / 3 + 1e-4, abs=1e-6)
    assert np.isnan(sol.events["throw"].t[1])
    slow = np.cos(sol.t) + 1e-4 * np.sin(sol.t)
    calm = (sol.t < sol.events["throw"].t[0]) | (sol.t > sol.events["throw"].t[0] + 2e-3)
    assert abs(sol.y[:, 0] - slow)[calm].max() < 1e-5
    before, after = sol.y[np.flatnonzero(sol.t == sol.events["throw"].t[0]), 0]
    assert (before, after) == (pytest.approx(0.5, abs=1e-12), before - 0.5)


def test_equations_without_a_solution_are_a_status():
    blow_up = pi.rhs(dim=1)(lambda t, y: (y[0] * y[0],))
    sol = pi.solve(blow_up, np.array([[1.0], [0.1]]), t_end=2.0, method="radau_iia5",
                   on_failure="ignore")  # fmt: skip
    assert pi.Status(int(sol.status[0])).name in ("STEP_TOO_SMALL", "NOT_CONVERGED", "NOT_FINITE")
    assert sol.final[1, 0] == pytest.approx(0.1 / 0.8, rel=1e-5)


RAISING = """
import numpy as np, pyintegrate as pi

left = 1 << 30

def force(t, y):
    global left
    left -= 1
    if left < 0:
        raise ArithmeticError
    return np.stack([y[1], -y[0]])

slow = pi.rhs(dim=2, trace=False)(force)
for left in range(20):
    try:
        pi.solve(slow, np.ones((9, 2)), t_end=1.0, method="radau_iia5")
    except ArithmeticError:
        print("raised")
"""


def test_a_force_may_raise_before_there_are_factors():
    """Their pivots are places in memory; here new memory is full of what is none."""
    full = {"MALLOC_PERTURB_": "165", "MALLOC_MMAP_THRESHOLD_": "1000000000"}
    path = os.pathsep.join(map(os.path.dirname, pi.__path__))
    done = subprocess.run([sys.executable, "-c", RAISING], capture_output=True, text=True,
                          env={**os.environ, **full, "PYTHONPATH": path})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "raised\n" * 20


@pytest.mark.parametrize("atol", [0.0, 1e-300, 1e-200])
def test_a_tolerance_out_of_reach_is_said_soon(atol):
    """Two species begin at 0, where no step is short enough: steps shrink to the smallest one."""
    rates = pi.rhs(
        lambda t, y: (
            1e4 * y[1] * y[2] - 0.04 * y[0],
            0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2,
            3e7 * y[1] ** 2,
        ),
        dim=3,
    )
    options = {"rtol": 1e-6, "atol": atol, "method": "radau_iia5", "on_failure": "ignore"}
    sol = pi.solve(rates, [1.0, 0, 0], t_end=40.0, **options)
    assert sol.status == pi.Status.NOT_CONVERGED
    assert sol.rejected < 1000


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_state_does_not_depend_on_the_other_times_of_its_step(dtype):
    """A rigid body has its Jacobian from differences, whose width is that of the step."""
    body, rng = pi.systems.rigid_body, np.random.default_rng(1)
    y = body.initial + rng.normal(size=(20, body.dim)) / 10
    options = {"t_end": 3.0, "rtol": 1e-4, "atol": 1e-4, "dtype": dtype, **RADAU}
    times = np.linspace(0.0, 3.0, 10)[1:-1]
    every = pi.solve(body, y, times=times, **options)
    for k in range(len(times)):
        assert same_bits(every.y[k], pi.solve(body, y, times=times[k : k + 1], **options).y[0])


def test_a_called_force_sees_no_numbers_but_those_of_the_run():
    """An idle lane has no increments: they were what the memory held, or NaN of a lost step."""

    def decay(t, y, rate):
        seen.append(y.copy())
        return [-rate * (y[0] - np.cos(t)), y[2], 5 * (1 - y[1] ** 2) * y[2] - y[1]]

    seen: list = []
    called = pi.rhs(decay, dim=3, rate=1.0, trace=False)
    for n in range(1, 12):
        rng = np.random.default_rng(n)
        rates, starts = 10 ** rng.uniform(0, 4, n), rng.uniform(-2, 2, (n, 3))
        pi.solve(called(rate=rates), starts, t_end=2.0, method="radau_iia5")
        assert max(np.abs(y).max() for y in seen) < 100
