"""The bits of a trajectory depend on itself alone: not on the machine's instructions, the threads,
the batch around it, what is saved, or where a run was interrupted and resumed.
"""

import ctypes
import hashlib
import json
import os
import platform

import numpy as np
import pytest
from conftest import same_bits
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_sets import printed_on_each
from reference import (
    COVERING_IN_BOTH,
    DTYPES,
    KERNELS,
    KERNELS_IN_BOTH,
    PAIRS,
    in_turn,
    names,
    states,
    with_factors,
)

import pyintegrate as pi

SEVERAL_TILES = 3333  # a tile is 16 kB of state: at most 2048 trajectories, and not a whole number
BLOCK = 256  # steps between two looks at a tile, or 16 saves

CASE = ("method", "system", "dtype")
kernel = pytest.mark.parametrize(CASE, KERNELS_IN_BOTH, ids=names(KERNELS_IN_BOTH))
pair = pytest.mark.parametrize(CASE, COVERING_IN_BOTH, ids=names(COVERING_IN_BOTH))


def run(system, y, method="rk4", dt=0.01, n_steps=20, **options):
    return pi.integrate(system, y, dt=dt, n_steps=n_steps, method=method, **options)


# ---- instruction sets ----------------------------------------------------------------------------


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def print_digests():
    """A hash for each method and system, in both dtypes where there is a kernel for them; run in a
    process of its own for each set.
    """
    found = {}
    cases = [(m, s, t) for m, s in PAIRS
             for t in (DTYPES if (m, s) in KERNELS else in_turn(DTYPES, m, s))]  # fmt: skip
    for (method, system, dtype), name in zip(cases, names(cases), strict=True):
        # Without instructions for it, fused multiply-adds are slow: fewer where Newton works.
        lanes, n_steps = (9, 2) if method.implicit else (70, 5)
        sol = run(system, states(system, (lanes,), dtype), method, n_steps=n_steps)
        found[name] = digest(sol.y)
    for dtype in DTYPES:
        for name, system in pi.systems.items():
            y = states(system, (70,), dtype)
            answers = [system.rhs(0.5, y), system.jacobian(0.5, y), *system.invariants(y).values()]
            if system.has_energy:
                answers.append(system.energy(y))
            if 2 * system.dof == system.dim:
                answers.append(system.acceleration(0.5, *np.split(y, 2, axis=-1)))
            found[f"{name}-{dtype.__name__}"] = digest(*answers)
        wild = run(pi.systems.lorenz, states(pi.systems.lorenz, (70,), dtype), dt=0.2, n_steps=300,
                   on_failure="ignore")  # fmt: skip
        found[f"failing-{dtype.__name__}"] = digest(wild.y, wild.status, wild.failed_step)
    print(json.dumps(found))


def test_every_instruction_set_gives_the_same_bits():
    printed = printed_on_each("import test_bits; test_bits.print_digests()")
    first, *others = map(json.loads, printed.values())
    for other in others:
        assert [key for key in first if other[key] != first[key]] == []


# ---- the batch -----------------------------------------------------------------------------------


@kernel
def test_a_batch_of_any_size_is_the_beginning_of_a_larger_one(method, system, dtype):
    y = states(system, (70,), dtype)
    whole = run(system, y, method, n_steps=5).y
    differing = [n for n in range(71) if not same_bits(run(system, y[:n], method, n_steps=5).y,
                                                       whole[:, :n])]  # fmt: skip
    assert differing == []


@kernel
def test_the_place_in_the_batch_does_not_matter(method, system, dtype):
    y = states(system, (SEVERAL_TILES,), dtype)
    order = np.random.default_rng(2).permutation(SEVERAL_TILES)
    straight = run(system, y, method, n_steps=4, save="final").final
    assert same_bits(run(system, y[order], method, n_steps=4, save="final").final, straight[order])


@settings(max_examples=30, deadline=None)
@given(cut=st.integers(0, SEVERAL_TILES), save=st.sampled_from(["all", "final", 3]))
def test_a_batch_can_be_split_at_any_place(cut, save):
    system = pi.systems.spring(k=np.linspace(1, 20, SEVERAL_TILES))
    y = states(system, (SEVERAL_TILES,))
    whole = run(system, y, n_steps=10, save=save).y
    k = system.params["k"]
    parts = [run(system(k=k[part]), y[part], n_steps=10, save=save).y
             for part in (slice(cut), slice(cut, None))]  # fmt: skip
    assert same_bits(np.concatenate(parts, axis=1), whole)


@pytest.mark.parametrize("shape", [(12,), (3, 4), (2, 3, 2), (12, 1), (1, 1, 12, 1)])
def test_the_shape_of_the_batch_does_not_matter(shape):
    y = states(pi.systems.kepler, (12,))
    flat = run(pi.systems.kepler, y).y
    assert same_bits(run(pi.systems.kepler, y.reshape(*shape, 4)).y.reshape(flat.shape), flat)


@kernel
def test_the_number_of_workers_does_not_matter(method, system, dtype):
    y = states(system, (SEVERAL_TILES,), dtype)
    # Threads are made for two million components x evaluations x steps.
    n_steps = 2_100_000 // (y.size * method.evaluations) + 1
    one, two, three = (
        run(system, y, method, dt=1e-3, n_steps=n_steps, save=37, workers=workers).y
        for workers in (1, 2, 3)
    )
    assert same_bits(one, two)
    assert same_bits(one, three)


# ---- what is saved -------------------------------------------------------------------------------


@pair
def test_what_is_saved_does_not_matter(method, system, dtype):
    y, n_steps = states(system, (5,), dtype), 2 * BLOCK + 5
    whole = run(system, y, method, dt=1e-3, n_steps=n_steps).y
    final = run(system, y, method, dt=1e-3, n_steps=n_steps, save="final").y
    assert same_bits(final, whole[-1:])
    for save in (1, 2, 15, 16, 17, 100, 255, 256, 257, 516, 517, 518, 10_000):
        sol = run(system, y, method, dt=1e-3, n_steps=n_steps, save=save)
        assert sol.steps.tolist() == sorted({*range(0, n_steps, save), n_steps})
        assert same_bits(sol.y, whole[sol.steps])


@pair
def test_resumed_runs_are_one_long_run(method, system, dtype):
    y, pieces = states(system, (3,), dtype), (1, 254, 1, 1, 0, 15, 16, 17, 256, 40)
    long = run(system, y, method, dt=1e-3, n_steps=sum(pieces), t0=0.3)
    for save in ("all", "final", 7):
        sol = run(system, y, method, dt=1e-3, n_steps=0, t0=0.3, save=save)
        for piece in pieces:
            start, sol = sol.steps[-1], sol.resume(n_steps=piece)
            assert sol.steps[0] == (start + piece if save == "final" else start)
            assert same_bits(sol.t, long.t[sol.steps])
            assert same_bits(sol.y, long.y[sol.steps])
        assert sol.steps[-1] == sum(pieces)


@pytest.mark.parametrize("border", [255, 256, 257, 271, 272, 273])
@pytest.mark.parametrize("save", ["all", "final", 16, 100])
def test_a_run_can_be_resumed_at_the_border_of_a_block(border, save):
    long = run(pi.systems.pendulum, [1.0, 0.5], "velocity_verlet", n_steps=border + 300)
    start = run(pi.systems.pendulum, [1.0, 0.5], "velocity_verlet", n_steps=border, save=save)
    rest = start.resume(t_end=long.t[-1])
    assert rest.n_steps == 300
    assert same_bits(rest.y, long.y[rest.steps])


# ---- how the numbers are given -------------------------------------------------------------------


@pair
def test_one_number_for_all_is_the_same_number_for_each(method, system, dtype):
    y, each = states(system, (11,), dtype), np.ones(11)
    one = run(system, y, method, dt=0.01, t0=0.7).y
    spread = with_factors(system, each)
    assert same_bits(run(spread, y, method, dt=0.01, t0=0.7).y, one)
    assert same_bits(run(system, y, method, dt=0.01 * each, t0=0.7).y, one)
    assert same_bits(run(system, y, method, dt=0.01, t0=0.7 * each).y, one)
    assert same_bits(run(spread, y, method, dt=0.01 * each, t0=0.7 * each).y, one)


@kernel
def test_the_layout_of_the_input_does_not_matter(method, system, dtype):
    y = states(system, (6, 5), dtype)
    expected = run(system, y, method).y
    spaced = np.full((12, 5, 2 * system.dim), np.nan, dtype)
    spaced[::2, :, ::2] = y
    unaligned = np.frombuffer(b"-" + y.tobytes(), dtype=np.uint8)[1:].view(dtype)
    others = {
        "strided": spaced[::2, :, ::2],
        "Fortran": np.asfortranarray(y),
        "reversed": y[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
        "transposed": y.transpose(2, 0, 1).copy().transpose(1, 2, 0),
        "unaligned": unaligned.reshape(y.shape),
        "big-endian": y.astype(y.dtype.newbyteorder(">")),
        "wider": y.astype(np.longdouble),
        "list": y.tolist(),
    }
    found = {name: run(system, y, method, dtype=dtype).y for name, y in others.items()}
    assert [name for name, y in found.items() if not same_bits(y, expected)] == []


# ---- what other code does to the processor -------------------------------------------------------

UPWARD = {"x86_64": 0x800, "AMD64": 0x800, "aarch64": 0x400000, "arm64": 0x400000}


@pytest.mark.skipif(os.name == "nt", reason="modes are set by functions of the C library")
@kernel
def test_the_rounding_mode_of_the_caller_does_not_matter(method, system, dtype):
    libm, upward = ctypes.CDLL(None), UPWARD[platform.machine()]
    y = states(system, (9,), dtype)
    h = 2.0**-7  # a dt that is a float32 too: converting 0.01 would round upwards, rightly
    params = {name: np.float32(value) for name, value in system.params.items()}
    system, one, little = system(**params), float(len(y) // 9), 2.0**-60
    expected = run(system, y, method, dt=h).y
    before = libm.fegetround()
    assert libm.fesetround(upward) == 0
    try:
        found, still_upward = run(system, y, method, dt=h), one + little > one
    finally:
        libm.fesetround(before)
    assert still_upward
    assert one + little == one
    assert same_bits(found.y, expected)


# ---- how the method is given ---------------------------------------------------------------------


def by_its_numbers(method):
    """The same method, user-defined: a kernel with a table."""
    c = method.coefficients
    if method.family in ("explicit_rk", "implicit_rk"):
        return pi.RungeKutta(c["A"], c["b"], c["c"])
    if method.family == "multistep":
        numbers = (c["alpha"], c["beta"], c["predictor"] or None)
        return pi.Multistep(*numbers, method.derivative, c["velocity"] or None)
    steps = zip(
        ("kick", "drift") * method.stages, np.ravel([c["kick"], c["drift"]], "F"), strict=True
    )
    return pi.Composition([(kind, weight) for kind, weight in steps if weight])


# The classical Runge-Kutta method is spelled out, in another order of additions: see test_methods.
# There is no door for Nystrom and Rosenbrock methods, nor for velocities that are differences of
# positions.
TABLES = [
    case for case in KERNELS_IN_BOTH
    if case[0].name != "rk4" and case[0].family not in ("nystrom", "rosenbrock")
    and not case[0].starts_from_positions
]  # fmt: skip


@pytest.mark.parametrize(CASE, TABLES, ids=names(TABLES))
def test_a_kernel_of_its_own_gives_the_bits_of_the_table(method, system, dtype):
    y = states(system, (9,), dtype)
    assert same_bits(run(system, y, by_its_numbers(method)).y, run(system, y, method).y)


def test_bits_would_notice_a_coefficient_wrong_in_the_last_place():
    wrong = pi.RungeKutta([[0, 0], [1, 0]], [0.5, np.nextafter(0.5, 1)])
    y = states(pi.systems.lorenz, (9,))
    assert not same_bits(run(pi.systems.lorenz, y, wrong).y, run(pi.systems.lorenz, y, "heun2").y)
