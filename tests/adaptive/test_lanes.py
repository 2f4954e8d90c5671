"""A trajectory depends on itself alone: not on its neighbours, the threads, or the machine."""

import hashlib
import json
import os
import shutil

import numpy as np
import pytest
import test_calm_again
from conftest import same_bits
from instruction_sets import printed_on_each

import pyintegrate as pi

N = 500
RUN = {"rtol": 1e-7, "atol": 1e-9}
RESULTS = ("final", "status", "steps_taken", "rejected", "last_step", "evaluations")


def orbits(n=N, seed=0):
    """Eccentricities from 0 to 0.99, of which some take ten times as many steps as others."""
    e = np.random.default_rng(seed).uniform(0, 0.99, n)
    return np.stack([1 - e, 0 * e, 0 * e, np.sqrt((1 + e) / (1 - e))], axis=-1)


def solve(x0, **options):
    return pi.solve(
        pi.systems.kepler, x0, **{"t_end": 6.0, "on_failure": "ignore", **RUN, **options}
    )


def agree(one, other, of=slice(None)):
    return all(same_bits(getattr(one, name)[of], getattr(other, name)) for name in RESULTS)


@pytest.mark.parametrize("method", ["verner87", "dop853", "tsitouras54"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_order_split_and_workers_change_no_bit(method, dtype):
    x0 = orbits().astype(dtype)
    run = {"method": method, "dtype": dtype, "rtol": 2e-5}
    whole = solve(x0, **run)
    assert whole.steps_taken.max() > 1.5 * whole.steps_taken.min()
    assert agree(whole, solve(x0, workers=3, **run))
    order = np.random.default_rng(1).permutation(N)
    assert agree(whole, solve(x0[order], **run), order)
    for part in (slice(0, 1), slice(1, 8), slice(8, 75), slice(75, N)):
        assert agree(whole, solve(x0[part], **run), part)


def test_failing_neighbours_change_no_bit():
    x0 = orbits(60)
    mixed = np.repeat(x0, 2, axis=0)
    mixed[1::2] = [[np.nan, 0, 0, 1], [1e-300, 0, 0, 0], [1.0, 0, 0, 0]] * 20
    whole, with_them = solve(x0), solve(mixed, max_steps=5000)
    assert agree(with_them, whole, slice(0, None, 2))
    assert with_them.status[1::2].all()


def test_saves_do_not_depend_on_neighbours():
    times = np.linspace(0, 6.0, 23)
    whole = solve(orbits(), times=times)
    part = solve(orbits()[17:40], times=times, workers=2)
    assert same_bits(whole.y[:, 17:40], part.y)
    steps = solve(orbits(), save="all", workers=2)
    alone = solve(orbits()[17:18], save="all")
    n = int(alone.counts[0])
    assert same_bits(steps.y[:n, 17], alone.y[:, 0])


def test_lanes_are_full_though_trajectories_differ(monkeypatch):
    """The last ones leave lanes empty: less than a tenth of 64 lanes' way through 2000 orbits."""
    monkeypatch.setattr("pyintegrate.user_system.callback._LANES_A_CALL", 64)
    asked = []

    @pi.acceleration(dof=2, trace=False)
    def kepler(t, x, v):
        asked.append(x.shape[-1])
        return -x / (x * x).sum(axis=0) ** 1.5

    sol = pi.solve(kepler, orbits(2000), t_end=2.0, rtol=1e-7, atol=1e-9)
    assert max(asked) == 64
    assert sol.evaluations.sum() > 0.9 * sum(asked)


@pi.rhs(dim=3, sigma=10.0, rho=28.0, beta=8 / 3)
def LORENZ(t, y, sigma, rho, beta):
    x, y, z = y
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


KINKS = pi.rhs(lambda t, y: np.cos(3 * t) - sum(abs(y - k / 10) for k in range(13)), dim=1)


# ---- instruction sets ----------------------------------------------------------------------------


def what_happens(system, y, method):
    """The bytes of what is watched and met on the way, with jumps."""
    first, second, *_ = pi.systems[system].state_names
    jump = pi.event(first, direction=1, keep=4, then=lambda t, y: [1.1 * y[0], *list(y)[1:]])
    sol = pi.solve(
        pi.systems[system], y, t_end=2.0, rtol=1e-4, atol=1e-4, method=method, max_steps=500,
        watch={"m": pi.watch.slope(second), "T": pi.watch.max_abs(first)},
        events={"jump": jump, "stop": pi.event(second, stop=2)}, on_failure="ignore",
    )  # fmt: skip
    arrays = [*sol.watched.values(), sol.final, sol.stopped_at, sol.status, sol.steps_taken]
    arrays += [sol.events["jump"].t, sol.events["jump"].y, sol.events["stop"].count]
    return [np.ascontiguousarray(a).tobytes() for a in arrays]


def print_digests():
    found = {}
    for dtype in (np.float64, np.float32):
        for method in ("verner98", "dop853", "tsitouras54", "heun2", "kvaerno43", "radau_iia5",
                       "rodas5p", "dormand_prince_rkn86", "dormand_prince_rkn1210"):  # fmt: skip
            others = () if pi.methods[method].velocity_free else ("lorenz", "driven_pendulum")
            for system in ("kepler", "pendulum", *others):
                y = np.random.default_rng(0).uniform(0.5, 1.5, (37, pi.systems[system].dim))
                sol = pi.solve(pi.systems[system], y, t_end=1.0, rtol=1e-4, atol=1e-4, dtype=dtype,
                               times=np.linspace(0, 1, 30), method=method)  # fmt: skip
                parts = [np.ascontiguousarray(a).tobytes() for a in
                         (sol.y, sol.steps_taken, sol.rejected, sol.last_step)]  # fmt: skip
                if dtype is np.float64:
                    parts += what_happens(system, y, method)
                found[f"{method}-{system}-{dtype.__name__}"] = hashlib.sha256(
                    b"".join(parts)
                ).hexdigest()
        stiff = pi.solve(pi.systems.van_der_pol(mu=np.geomspace(1, 1000, 21)), t_end=50.0,
                         rtol=2e-5, dtype=dtype, times=np.linspace(0, 50, 90))  # fmt: skip
        assert np.isfinite(stiff.stiff_since).any()
        parts = [stiff.y, stiff.steps_taken, stiff.rejected, stiff.last_step, stiff.stiff_since]
        calm = test_calm_again.solve(dtype=dtype, rtol=2e-5, atol=1e-5)
        assert np.isfinite(calm.stiff_spans[:, 1]).any()
        parts += [calm.final, calm.steps_taken, calm.stiff_spans]
        whole = b"".join(np.ascontiguousarray(a).tobytes() for a in parts)
        found[f"auto-{dtype.__name__}"] = hashlib.sha256(whole).hexdigest()
    print(json.dumps(found))


def test_every_instruction_set_gives_the_same_bits():
    printed = printed_on_each("import test_lanes; test_lanes.print_digests()")
    first, *others = map(json.loads, printed.values())
    for other in others:
        assert [key for key in first if other[key] != first[key]] == []


# ---- in registers and on rows --------------------------------------------------------------------


@pytest.mark.skipif(shutil.which(os.environ.get("CC", "cc")) is None, reason="no C compiler")
@pytest.mark.parametrize("system", [LORENZ, KINKS], ids=["smooth", "13 kinks"])
@pytest.mark.parametrize("method", ["verner87", "tsitouras54", "kvaerno43"])
def test_compiled_systems_take_the_steps_of_byte_code(method, system):
    """One goes in registers, the other on rows: the same operations in the same order."""
    y = np.random.default_rng(0).uniform(0.5, 1.5, (37, system.dim))
    run = {"t_end": 1.0, "times": [0.0, 0.3, 1.0], "method": method, "rtol": 1e-4}
    for dtype in (np.float64, np.float32):
        byte_code, compiled = (
            pi.solve(one, y, dtype=dtype, **run) for one in (system, system.compile())
        )
        assert same_bits(byte_code.y, compiled.y)
        assert agree(byte_code, compiled)
