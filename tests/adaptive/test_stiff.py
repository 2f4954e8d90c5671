"""Implicit pairs on the two problems that every stiff solver is asked first.

References: Mazzia, Magherini (2008), Test Set for Initial Value Problem Solvers, release 2.4.
"""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate import Status

IMPLICIT = [name for name, m in pi.methods.items() if m.embedded and m.implicit]
ROBERTSON_END = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]
VAN_DER_POL_END = [0.1706167732170483e1, -0.8928097010247975e-3]


@pi.rhs(dim=3, k1=0.04, k2=3e7, k3=1e4)
def robertson(t, y, k1, k2, k3):
    a, b, c = y
    slow, fast, back = k1 * a, k2 * b * b, k3 * b * c
    return -slow + back, slow - back - fast, fast


def solve_robertson(k1=0.04, **options):
    run = {"t_end": 1e11, "rtol": 1e-7, "atol": [1e-12, 1e-17, 1e-10], "method": "kvaerno54"}
    return pi.solve(robertson(k1=k1), [1.0, 0.0, 0.0], **{**run, **options})


@pytest.mark.parametrize("method", IMPLICIT)
def test_robertson_over_eleven_decades(method):
    """a has fallen by eight digits: an error of 1e-7 a step is 1e-2 of it at the worst."""
    sol = solve_robertson(method=method, save="final")
    assert sol.status == Status.OK
    assert np.allclose(sol.final, ROBERTSON_END, rtol=2e-2, atol=0)
    assert abs(sol.final.sum() - 1) < 1e-9
    assert sol.steps_taken < 4000


@pytest.mark.parametrize("method", IMPLICIT)
def test_van_der_pol_with_sharp_turns(method):
    sol = pi.solve(pi.systems.van_der_pol(mu=1000.0), t_end=2000.0, rtol=1e-6, atol=1e-6,
                   method=method, save="final")  # fmt: skip
    assert sol.status == Status.OK
    assert np.allclose(sol.final, VAN_DER_POL_END, rtol=1e-3, atol=0)
    assert sol.steps_taken < 10_000


def test_the_error_falls_with_the_tolerance_where_it_is_stiff():
    errors = []
    for rtol in (1e-4, 1e-6, 1e-8):
        sol = pi.solve(pi.systems.van_der_pol(mu=1000.0), t_end=2000.0, rtol=rtol, atol=rtol,
                       method="kvaerno43", save="final")  # fmt: skip
        errors.append(abs(sol.final - VAN_DER_POL_END).max())
    assert errors[2] < 0.1 * errors[1] < 0.01 * errors[0] * 10


def test_order_split_and_workers_change_no_bit():
    k1 = np.linspace(0.02, 0.08, 50)
    whole, threads = solve_robertson(k1), solve_robertson(k1, workers=3)
    backwards = solve_robertson(k1[::-1])
    part = solve_robertson(k1[7:12])
    assert not whole.status.any()
    for name in ("final", "steps_taken", "rejected", "last_step"):
        found = getattr(whole, name)
        assert same_bits(found, getattr(threads, name))
        assert same_bits(found[::-1], getattr(backwards, name))
        assert same_bits(found[7:12], getattr(part, name))


def test_times_and_resume():
    times = np.geomspace(1e-3, 1e11, 15)
    sol = solve_robertson(times=times)
    assert sol.valid.all()
    assert np.allclose(sol.y.sum(axis=-1), 1, atol=1e-9, rtol=0)
    assert same_bits(sol.y[-1], sol.final)
    half = solve_robertson(t_end=1e5)
    assert np.allclose(half.resume(t_end=1e11).final, sol.final, rtol=1e-2, atol=0)


def test_forces_without_a_jacobian():
    """Differences stand in for it: a function that is called back."""
    called = pi.rhs(dim=1, trace=False)(lambda t, y: (-1e6 * (y[0] - np.cos(t)),))
    sol = pi.solve(called, [0.0], t_end=1.0, rtol=1e-6, atol=1e-8, method="kvaerno54")
    assert sol.status == Status.OK
    # y = (L^2 cos t + L sin t) / (1 + L^2) + decayed, L = 1e6.
    assert abs(sol.final[0] - (np.cos(1.0) + 1e-6 * np.sin(1.0))) < 1e-7
    assert sol.steps_taken < 100


@pytest.mark.parametrize("method", ["kvaerno54", "kvaerno43", "ark436l2sa", "rodas5p"])
def test_differences_beside_a_slow_motion_are_not_those_far_from_it(method):
    """By a width of sqrt(eps) h |f| they were: ends were wrong by 0.3, with the status OK."""
    for rate in (1e14, 1e16):
        called = pi.rhs(dim=2, trace=False)(
            lambda t, y, k=rate: (-y[1], (y[0] - y[1] ** 3 - y[1]) * k)
        )
        options = {"t_end": 1.0, "save": "final", "on_failure": "raise", "max_steps": 200}
        sol = pi.solve(called, [2.0, 1.0], rtol=1e-4, atol=1e-7, method=method, **options)
        # On the slow motion -y_1 = y_0' = (3 y_1^2 + 1) y_1', of which log y_1 + 3/2 y_1^2 + t
        # stays 3/2.
        slow = sol.final[1]
        assert sol.final[0] == pytest.approx(slow**3 + slow, rel=1e-4)
        assert np.log(slow) + 1.5 * slow**2 + 1 == pytest.approx(1.5, abs=1e-3)


def test_no_force_is_asked_for_no_trajectory():
    """Tests of stiffness that are due in one step, among 30 of which 5 are stiff (8 numbers in a
    register: 0 were left for the second call)."""
    rng = np.random.default_rng(1135)
    n, m = int(rng.integers(17, 33)), int(rng.integers(3, 7))
    k = np.full(n, 0.1)
    k[rng.permutation(n)[:m]] = 10 ** rng.uniform(2.0, 2.7, m)

    @pi.rhs(dim=1, k=1.0, trace=False)
    def relaxes(t, y, k):
        return [-k * (y[0] - np.cos(t) * (1 + 0.3 * np.sin(7 * t)))]

    start, rtol = rng.normal(size=(n, 1)), 10 ** rng.uniform(-5, -3)
    called = pi.solve(relaxes(k=k), start, t_end=8.0, rtol=rtol)
    assert not called.status.any()
