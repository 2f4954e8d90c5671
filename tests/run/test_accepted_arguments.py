"""Every right argument is taken for what it says, whatever its shape, type and layout, and none is
modified: the state, the batch, the time, the precision, the saves.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_arguments import run

import pyintegrate as pi

SPRING, KEPLER = pi.systems.spring, pi.systems.kepler


# ---- the state and the batch ---------------------------------------------------------------------


@pytest.mark.parametrize("system", pi.systems.values(), ids=list(pi.systems))
def test_without_a_state_the_default_one_is_taken(system):
    sol = run(system)
    assert sol.y.shape == (4, system.dim)
    assert np.array_equal(sol.initial, system.initial)
    batch = run(system, dt=[0.1, 0.2])
    assert np.array_equal(batch.initial, [system.initial] * 2)


@pytest.mark.parametrize("system", pi.systems.values(), ids=list(pi.systems))
def test_positions_and_velocities_are_the_halves_of_the_state(system):
    y = np.linspace(0.5, 1.5, 12 * system.dim).reshape(3, 4, system.dim)
    whole = run(system, y)
    assert whole.y.shape == (4, 3, 4, system.dim)
    if system.dof == 0:
        return
    y = whole.initial  # quaternions are normalised
    x, v = y[..., : system.positions], y[..., system.positions :]
    if system.dof == 1:  # no component axis
        x, v = x[..., 0], v[..., 0]
    halves = run(system, x, v)
    assert np.array_equal(halves.y, whole.y)
    assert np.array_equal(halves.x[0], x)
    assert np.array_equal(halves.v[0], v)


SHAPES = st.tuples(
    *[hnp.broadcastable_shapes((2, 3, 4), min_dims=0, max_dims=3, min_side=1)] * 6
)  # of x0, v0, k, dt, t0, t_end


@settings(max_examples=60, deadline=None)
@given(shapes=SHAPES)
def test_the_batch_is_the_broadcast_of_everything_that_has_a_shape(shapes):
    x0, v0, k, dt, t0, _ = (
        1 + np.arange(np.prod(shape, dtype=int)).reshape(shape) / 64 for shape in shapes
    )
    t_end = np.broadcast_to(0.0, shapes[-1]) + t0 + 4 * dt
    sol = pi.integrate(SPRING(k=k), x0, v0, dt=dt, t0=t0, t_end=t_end)
    batch = np.broadcast_shapes(*shapes)
    assert sol.y.shape == (5, *batch, 2)
    assert sol.n_steps == 4
    assert sol.status.shape == sol.failed_step.shape == batch
    full = [np.broadcast_to(a, batch) for a in (x0, v0, k, dt, t0)]
    assert np.array_equal(sol.initial, np.stack(full[:2], axis=-1))
    assert np.allclose(sol.t[-1], full[4] + 4 * full[3], rtol=1e-15, atol=0)
    last = tuple(n - 1 for n in batch)
    x, v, k, dt, t0 = (float(a[last]) for a in full)
    one = pi.integrate(SPRING(k=k), x, v, dt=dt, t0=t0, n_steps=4)
    assert np.array_equal(sol.y[(slice(None), *last)], one.y)


REALS = [np.float64, np.float32, np.float16, np.longdouble, np.int8, np.uint64, ">f8", ">i2", "<f4"]


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_array_of_numbers_is_taken_and_none_is_modified(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    dtype = data.draw(st.sampled_from(REALS))
    values = data.draw(hnp.arrays(np.int8, (*shape, 4), elements=st.integers(0, 5)))
    room = np.zeros(tuple(2 * n for n in values.shape), dtype)
    steps = data.draw(st.tuples(*[st.sampled_from([1, 2, -1, -2])] * values.ndim))
    view = room[tuple(slice(None, None, s) for s in steps)][tuple(map(slice, values.shape))]
    view[...] = values
    view.flags.writeable = data.draw(st.booleans())
    before = room.copy()
    sol = run(KEPLER, view, n_steps=2, on_failure="ignore")
    expected = run(KEPLER, values.astype(np.float64), n_steps=2, on_failure="ignore",
                   dtype=sol.y.dtype)  # fmt: skip
    assert sol.y.shape == (3, *shape, 4)
    assert np.array_equal(sol.y, expected.y)
    assert np.array_equal(room, before)
    assert not np.shares_memory(sol.y, room)
    assert not np.shares_memory(sol.initial, room)


@pytest.mark.parametrize("save", ["all", "final", 2])
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5)])
def test_an_empty_batch_has_empty_results_of_the_right_shape(shape, save):
    sol = run(KEPLER, np.ones((*shape, 4)), save=save)
    saves = {"all": 4, "final": 1, 2: 3}[save]
    assert sol.y.shape == (saves, *shape, 4)
    assert sol.energy_error().shape == sol.valid.shape == (saves, *shape)
    assert sol.status.shape == shape
    assert sol.resume(n_steps=2).final.shape == (*shape, 4)
    assert sol.failures() == "no trajectory failed"


def test_the_same_array_may_stand_for_everything():
    a = np.array([0.5, 1.0, 2.0])
    sol = pi.integrate(SPRING(k=a, b=a, m=a), a, a, dt=a, t0=a, t_end=a + 3 * a)
    separate = pi.integrate(SPRING(k=a.copy(), b=a.copy(), m=a.copy()), a.copy(), a.copy(),
                            dt=a.copy(), t0=a.copy(), n_steps=3)  # fmt: skip
    assert np.array_equal(sol.y, separate.y)
    assert a.tolist() == [0.5, 1.0, 2.0]


def test_parameters_are_copied():
    k = np.array([1.0, 2.0])
    system = SPRING(k=k)
    k[:] = 99.0
    assert system.params["k"].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        system.params["k"][0] = 3.0


# ---- time, precision, saves ----------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    n=st.integers(0, 5000),
    dt=st.floats(1e-6, 1e6) | st.floats(-1e6, -1e-6),
    t0=st.floats(-1e6, 1e6),
)
def test_an_end_that_is_reached_by_whole_steps_is_reached(n, dt, t0):
    # Rounding t0 + n dt to an ulp moves the ratio by ulp / dt, and 1e-9 of a step is allowed.
    if np.spacing(abs(t0) + abs(n * dt)) > 0.5e-9 * abs(dt):
        t0 = 0.0
    sol = run(dt=dt, t0=t0, t_end=t0 + n * dt, save=1000, on_failure="ignore")
    assert sol.n_steps == n
    assert sol.t.tolist() == [t0 + k * dt for k in sol.steps.tolist()]  # products, not a sum


@settings(max_examples=100, deadline=None)
@given(n=st.integers(0, 10**6), part=st.floats(0.01, 0.99))
def test_an_end_between_two_steps_is_refused_with_the_nearest_valid_ones(n, part):
    with pytest.raises(ValueError, match="t_end") as caught:
        run(dt=0.25, t_end=(n + part) * 0.25)
    assert f"({n} steps)" in str(caught.value)
    assert f"({n + 1} steps)" in str(caught.value)


@pytest.mark.parametrize("ratio", [0, 1, 7, 10**6])
def test_an_end_is_reached_within_a_billionth(ratio):
    def reach(parts):
        ends = (ratio + parts * 1e-9 * max(1, ratio)) * 1e-3
        return run(dt=1e-3, t_end=ends, save="final").n_steps

    assert reach(0.9) == ratio
    with pytest.raises(ValueError, match="whole"):
        reach(1.1)


def test_backwards_and_per_trajectory_steps():
    sol = run(SPRING, 1.0, 0.0, dt=[0.1, -0.2], t0=[0.0, 1.0], t_end=[0.5, 0.0])
    assert sol.n_steps == 5
    assert sol.t.shape == (6, 2)
    assert sol.t[-1].tolist() == [0.5, 0.0]


SINGLE, DOUBLE = np.ones(2, np.float32), np.ones(2)


@pytest.mark.parametrize(
    ("state", "dtype", "expected"),
    [
        ((SINGLE,), None, np.float32),
        ((SINGLE, SINGLE), None, np.float32),
        ((np.float32(1), np.float32(0)), None, np.float32),
        ((np.float32(1), SINGLE), None, np.float32),
        ((SINGLE, 0.0), None, np.float32),
        ((1.0, SINGLE), None, np.float32),
        ((SINGLE, DOUBLE), None, np.float64),
        ((SINGLE.tolist(),), None, np.float64),
        ((SINGLE.astype(np.float16),), None, np.float64),
        ((), None, np.float64),
        ((DOUBLE,), np.float32, np.float32),
        ((SINGLE,), "float64", np.float64),
        ((), np.dtype("f4"), np.float32),
    ],
)
def test_the_dtype_is_float32_only_where_the_state_is_or_it_is_asked_for(state, dtype, expected):
    system = SPRING(k=np.float64(15)) if len(state) != 1 else SPRING
    sol = run(system, *state, dtype=dtype)
    assert sol.y.dtype == sol.initial.dtype == expected
    assert sol.t.dtype == np.float64


@settings(max_examples=60, deadline=None)
@given(n_steps=st.integers(0, 600), save=st.integers(1, 700))
def test_saves_are_at_multiples_and_the_last_step_each_once(n_steps, save):
    sol = run(n_steps=n_steps, save=save)
    assert sol.steps.tolist() == sorted({*range(0, n_steps, save), n_steps})
    assert len(sol) == len(sol.t) == len(sol.y) == len(sol.steps)
    assert run(n_steps=n_steps).steps.tolist() == list(range(n_steps + 1))
    assert run(n_steps=n_steps, save="final").steps.tolist() == [n_steps]


@pytest.mark.parametrize("save", [10, 10**20, np.int64(2**62)])
def test_a_save_interval_beyond_the_run_saves_both_ends(save):
    assert run(n_steps=3, save=save).steps.tolist() == [0, 3]


@pytest.mark.parametrize("workers", [1, 2, -1, 5000, np.int8(3)])
def test_any_positive_number_of_workers_and_all(workers):
    assert np.array_equal(run(workers=workers).y, run().y)
