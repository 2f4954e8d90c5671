"""In every family, for every kind of force and in both precisions: trajectories that fail, whatever
the reason, do not change a bit of the others, and are where they were at the step before.
"""

import numpy as np
import pytest
from conftest import same_bits
from reference import KERNEL_METHODS, fits, names, states

import pyintegrate as pi
from pyintegrate import Status


@pi.acceleration(k=9.0, c=0.0)
def cubic(t, x, v, k, c):
    return -k * x + c * x**3


@pi.hamiltonian(dof=2, mu=1.0)
def softened(q, p, mu):
    return (p @ p) / 2 - mu / np.sqrt(q @ q + 0.01)


@pi.rhs(dim=1, rate=1.0, trace=False)
def called(t, y, rate):
    return -rate * y


_KEPT = ("gauss4", "trbdf2", "lobatto_iiib4", "rodas5p", "runge_kutta_nystrom4")
_KEPT += (
    "constant_acceleration",
    "adams_bashforth3",
    "adams_bashforth_moulton4",
    "bdf3",
    "stormer_verlet",
    "numerov4",
)
_OF_BODIES = ("rigid_body", "n_body")
BODILY = [m for m in pi.methods.values() if m.requires in _OF_BODIES]
METHODS = [*KERNEL_METHODS, *(pi.methods[name] for name in _KEPT), *BODILY]
BODIES = pi.systems.n_body(n=3, initial="figure_eight")
SYSTEMS = [pi.systems.pendulum, pi.systems.lorenz, cubic, softened, called, BODIES,
           pi.systems.rigid_body(inverse_inertia=(1, 0.5, 0.3))]  # fmt: skip
CASES = [
    (m, s, dtype)
    for m in METHODS for s in SYSTEMS for dtype in (np.float64, np.float32)
    if fits(m, s) and not (s is BODIES and m.family in ("implicit_rk", "rosenbrock"))
]  # fmt: skip
N = 41
BAD = np.arange(N) % 2 == 1


def run(system, y, method, **options):
    return pi.integrate(
        system, y, dt=0.01, n_steps=12, method=method, on_failure="ignore", **options
    )


def start(system, dtype):
    return states(system, (N,), dtype, seed=11)  # no bodies too close for float32


def check(sol, clean):
    """All is as in `clean`, which has no failures; what failed repeats its last good state."""
    for lane in range(N):
        last = 12 if sol.status[lane] == Status.OK else max(sol.failed_step[lane] - 1, 0)
        assert same_bits(sol.y[1 : last + 1, lane], clean.y[1 : last + 1, lane])
        assert same_bits(sol.y[last:, lane], np.repeat(sol.y[last : last + 1, lane], 13 - last, 0))


def test_every_family_is_here():
    assert {m.family for m, _, _ in CASES} == {m.family for m in pi.methods.values()}


@pytest.mark.parametrize(("method", "system", "dtype"), CASES, ids=names(CASES))
def test_half_of_the_batch_may_fail_and_the_other_half_keeps_its_bits(method, system, dtype):
    y = start(system, dtype)
    clean = run(system, y, method)
    assert not np.any(clean.status)
    # A state that is not finite, seen before the first step.
    spoilt = y.copy()
    spoilt[BAD, -1] = np.inf
    sol = run(system, spoilt, method)
    check(sol, clean)
    assert np.array_equal(sol.failed_step == 0, BAD)
    # A bound that half of the motions exceed; of two systems they are largest at the start.
    sol = run(system, y, method, bound=np.median(abs(clean.y).max(axis=(0, 2))))
    check(sol, clean)
    assert np.any(sol.failed_step > 1) == (system.name not in ("softened", "called"))
    # Steps so long that most motions leave the bound, or the numbers.
    size = 2 * float(abs(clean.y).max())
    dt = np.where(BAD, 1e30, 0.01)
    sol = pi.integrate(system, y, dt=dt, n_steps=12, method=method, bound=size, on_failure="ignore")
    assert not np.any(sol.status[~BAD])
    assert same_bits(sol.y[:, ~BAD], clean.y[:, ~BAD])


@pi.rhs(dim=1, c=1.0)
def unsolvable(t, y, c):
    """y' = -c sign(y - 1), from y = 1: no implicit step has a solution."""
    return [np.where(y[0] > 1, -c, c)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f64", "f32"])
@pytest.mark.parametrize("method", ["gauss4", "implicit_midpoint", "radau_iia5", "bdf3"])
def test_a_solve_that_fails_leaves_the_others(method, dtype):
    y = np.ones((N, 1), dtype)
    sol = run(unsolvable(c=np.where(BAD, 1.0, 0.0)), y, method)
    check(sol, run(unsolvable(c=0.0), y, method))
    assert np.array_equal(sol.status != Status.OK, BAD)
    assert set(sol.status[BAD]) == {Status.NOT_CONVERGED}
    assert "take a smaller dt, or pi.solve(..., method='radau_iia5')" in sol.failures()
