"""``save=`` takes the numbers of steps: exactly those are kept, as they are among all."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.run.options import Saves

N = 300
SAVES = {
    "some": [0, 1, 2, 5, 10, 299],
    "one": [7],
    "the first": [0],
    "the last": [N],
    "by the logarithm": np.unique(np.geomspace(1, N, 15).round()),
    "the last hundred": range(N - 99, N + 1),
    "multiples": [100, 200],
}


def run(**options):
    angle = np.linspace(0.1, 3.0, 37)
    return pi.integrate(pi.systems.pendulum, angle, 0.0, dt=0.01, n_steps=N, **options)


@pytest.fixture(scope="module")
def everything():
    return run()


@pytest.mark.parametrize("save", SAVES.values(), ids=SAVES)
@pytest.mark.parametrize(
    "options",
    [{}, {"workers": 3}, {"components": ["omega"]}, {"watch": {"a": pi.watch.mean("theta")}}],
    ids=["plain", "threads", "components", "watched"],
)
def test_named_steps_are_those_of_all(everything, save, options):
    some, steps = run(save=save, **options), np.asarray(save).astype(int)
    assert np.array_equal(some.y, everything.y[steps][..., -some.y.shape[-1] :])
    assert np.array_equal(some.steps, steps)
    assert np.array_equal(some.t, everything.t[steps])
    assert np.array_equal(some.final, everything.final)


@pytest.mark.parametrize("method", ["gauss4", "adams_bashforth4", "velocity_verlet"])
def test_named_steps_of_every_family(method):
    save = [3, 50, 51, 299]
    assert np.array_equal(run(method=method, save=save).y, run(method=method).y[save])


def test_a_single_trajectory_and_a_float32_run():
    save = [1, 4, 9]
    whole = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=10, dtype=np.float32)
    some = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=10, dtype=np.float32, save=save)
    assert np.array_equal(some.y, whole.y[save])


def test_a_trajectory_that_fails_keeps_its_last_state():
    grow = pi.rhs(dim=1)(lambda t, y: (y[0] * y[0],))
    options = {"dt": 0.1, "n_steps": 30, "on_failure": "ignore"}
    whole = pi.integrate(grow, [[0.1], [1.0]], **options)
    some = pi.integrate(grow, [[0.1], [1.0]], **options, save=[2, 5, 29])
    assert whole.n_failed == 1
    assert np.array_equal(some.y, whole.y[[2, 5, 29]])
    assert np.array_equal(some.valid, whole.valid[[2, 5, 29]])


@pytest.mark.parametrize("save", [*SAVES.values(), [1, 3, 4, 17, 40]])
def test_an_array_whose_axes_do_not_merge_is_filled_part_by_part(save, monkeypatch):
    monkeypatch.setattr("pyintegrate.run.output.PART_BYTES", 500)
    angle = np.linspace(0.1, 3.0, 12).reshape(3, 4)
    options = {"dt": 0.01, "n_steps": N, "method": "adams_bashforth4"}
    steps = np.asarray(save).astype(int)
    out = np.empty((len(steps), 3, 8, 2))[:, :, :4]
    some = pi.integrate(pi.systems.pendulum, angle, 0.0, **options, save=save, out=out)
    whole = pi.integrate(pi.systems.pendulum, angle, 0.0, **options)
    assert np.array_equal(out, whole.y[steps])
    assert np.array_equal(some.final, whole.final)
    assert np.array_equal(some.resume(n_steps=5).final, whole.resume(n_steps=5).final)


@pytest.mark.parametrize("save", SAVES.values(), ids=SAVES)
def test_files_resume_and_parts(everything, save, tmp_path):
    some = run(save=save)
    some.save(tmp_path / "run.npz")
    read = pi.load(tmp_path / "run.npz")
    assert np.array_equal(read.y, some.y)
    assert np.array_equal(read.steps, some.steps)
    assert np.array_equal(read.final, some.final)
    further = read.resume(n_steps=10)
    assert np.array_equal(further.final, everything.resume(n_steps=10).final)
    assert further.steps.tolist() == [N + 10]
    joined = pi.concatenate(some, further)
    assert joined.steps.tolist() == [*some.steps, N + 10]


def test_times_of_named_steps_may_differ():
    dt = np.array([0.01, 0.02])
    some = pi.integrate(pi.systems.pendulum, dt=dt, n_steps=20, save=[5, 15])
    assert np.array_equal(some.t, [5 * dt, 15 * dt])


def test_pictures_tables_and_arrays_of_named_steps():
    some = run(save=[0, 50, 200], watch="energy_drift")
    assert some.energy_error().shape == (3, 37)
    assert np.array_equal(some.to_xarray()["step"], [0, 50, 200])
    assert some.to_pandas().shape == (3 * 37, 2)
    assert some.table() is not None
    begin = pi.analysis.phase_drift(run(save=[0, 20, 40]))
    assert begin.shape == (3, 37)


@pytest.mark.parametrize(
    ("save", "words"),
    [
        ([3, 2], r"increasing .*, got \[3 2\]"),
        (np.ma.array([1, 2], mask=[1, 0]), "masked items"),
        ([1, 1], "increasing"),
        ([-1, 2], "from 0 on"),
        ([], "empty"),
        ([[1]], "one axis"),
        ([1.5], "whole numbers"),
        ([True, False], "real numbers, got bool"),
        (["a"], "real numbers, got"),
        ([1, N + 1], f"step {N + 1}, and the run ends with step {N}"),
        ([2**60], "at most"),
    ],
)
def test_what_is_no_list_of_steps_is_refused(save, words):
    with pytest.raises((TypeError, ValueError), match=words):
        run(save=save)


@pytest.mark.parametrize("save", SAVES.values(), ids=SAVES)
def test_a_run_that_was_interrupted_has_the_saves_up_to_there(save):
    steps = np.array(save, int)
    saves = Saves(1, N, given=steps)
    for completed in range(N + 1):
        assert saves.until(completed) == np.count_nonzero(steps <= completed)


def test_a_range_of_steps_that_no_memory_holds_is_told():
    with pytest.raises(MemoryError, match="allocate"):
        run(save=range(10**20))
