"""out= and components= change where the states go and which, and no bit of them.

Parts are made so small here that every run that goes by parts is cut into many, and every record
in memory of the right layout is written past the caches.
"""

import os
import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import zarr
from conftest import pairs, same_bits
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import KERNELS, names, states

import pyintegrate as pi
from pyintegrate.run import core
from pyintegrate.run import output as recording
from pyintegrate.values import memory
from pyintegrate.values.memory import aligned

LORENZ = pi.systems.lorenz
kernel = pytest.mark.parametrize(("method", "system"), KERNELS, ids=names(KERNELS))


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(recording, "PART_BYTES", 2000)
    monkeypatch.setattr(core, "STREAM_BYTES", 1)


def run(system=LORENZ, y=None, n_steps=100, **options):
    options = {"dt": 1e-3, "on_failure": "ignore", **options}
    y = states(system, (5,)) if y is None else y
    return pi.integrate(system, y, n_steps=n_steps, **options)


def places(kind, shape, dtype, folder):
    """An array of some kind to write to."""
    if kind == "zarr":
        chunks = tuple(max(1, n // 3) for n in shape)
        return zarr.create_array(store=folder / "out.zarr", shape=shape, dtype=dtype, chunks=chunks)
    if kind == "memmap":
        return np.memmap(folder / "out", dtype=dtype, shape=shape, mode="w+")
    if kind == "strided":
        return np.full([2 * n for n in shape], 7, dtype)[tuple(slice(None, None, 2) for _ in shape)]
    if kind == "rows":  # as the core has them
        return np.moveaxis(aligned((shape[0], shape[-1], *shape[1:-1]), dtype), 1, -1)
    if kind == "reversed":
        return np.full(shape, 7, dtype)[::-1, ..., ::-1]
    return np.full(shape, 7, dtype, order=kind)


KINDS = ["C", "F", "rows", "strided", "reversed", "memmap", "zarr"]
kinds = pytest.mark.parametrize("kind", KINDS)


# ---- the same bits -------------------------------------------------------------------------------


@kernel
def test_the_record_is_the_same_wherever_it_goes(method, system):
    whole = run(system, method=method, save=3)
    out = np.empty(whole.y.shape)
    sol = run(system, method=method, save=3, out=out)
    assert same_bits(out, whole.y)
    assert np.shares_memory(sol.y, out)
    assert same_bits(sol.final, whole.final)
    further = np.empty((9, *whole.y.shape[1:]))
    longer = whole.resume(n_steps=23)
    assert same_bits(sol.resume(n_steps=23, out=further).y, longer.y)
    assert same_bits(further, longer.y)
    assert same_bits(sol.resume(n_steps=23).y, longer.y)
    assert same_bits(out, whole.y)  # nothing was written over it


@pytest.mark.parametrize(
    ("shape", "save", "kind"),
    pairs([(), (4,), (2, 3), (4, 8), (600,)], ["all", "final", 7, 64, 1000], KINDS),
)
def test_every_kind_of_array(shape, save, kind, tmp_path):
    y = states(LORENZ, shape)
    whole = run(y=y, save=save)
    out = places(kind, whole.y.shape, np.float64, tmp_path)
    sol = run(y=y, save=save, out=out)
    assert same_bits(out[...], whole.y)
    assert same_bits(sol.y, whole.y)
    assert sol.out is out
    assert same_bits(sol["z"], whole["z"])
    for name in ("t", "steps", "initial", "final", "status", "valid", "failed_step"):
        assert same_bits(getattr(sol, name), getattr(whole, name))


@pytest.mark.skipif(not hasattr(os, "statvfs"), reason="where files have no holes")
def test_a_file_for_which_the_disk_has_no_room_is_refused(tmp_path, monkeypatch):
    out = places("memmap", (101, 5, 3), np.float64, tmp_path)
    full = SimpleNamespace(f_bavail=0, f_frsize=4096)
    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda path: full)
        with pytest.raises(OSError, match=r"e-06 GB of disk, and 0 GB are free: save fewer"):
            run(out=out)
        out[...] = 1.0  # the room is taken
        out.flush()
        run(out=out)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_choice_of_components_in_any_order(data):
    system = data.draw(st.sampled_from(list(pi.systems.values())))
    chosen = data.draw(st.lists(st.sampled_from(system.state_names), min_size=1, unique=True))
    save = data.draw(st.sampled_from(["all", "final", 4]))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    y = states(system, (2, 3), dtype)
    whole = run(system, y, n_steps=9, save=save)
    expected = np.stack([whole[name] for name in chosen], axis=-1)
    out = np.empty(expected.shape, dtype) if data.draw(st.booleans()) else None
    sol = run(system, y, n_steps=9, save=save, components=chosen, out=out)
    assert same_bits(sol.y, expected)
    assert sol.components == tuple(chosen)
    assert same_bits(sol.final, whole.final)
    assert same_bits(sol.initial, whole.initial)
    further = sol.resume(n_steps=4)
    assert same_bits(further.final, whole.resume(n_steps=4).final)
    assert further.components == sol.components


@pytest.mark.parametrize("n_steps", [247, 250, 251, 257, 500, 507])
def test_the_last_save_has_its_place_after_any_number_of_blocks(n_steps):
    """Of 250 steps, which are 25 saves; a last interval may be alone in a block."""
    y = states(LORENZ, (64,))
    every = run(y=y, n_steps=n_steps).y
    some = run(y=y, n_steps=n_steps, save=10).y
    assert same_bits(some, every[[*range(0, n_steps, 10), n_steps]])


def test_what_was_not_saved_cannot_be_asked_for():
    sol = run(pi.systems.kepler, components=["y", "vx"])
    assert sol.y.shape == (101, 5, 2)
    assert same_bits(sol["vx"], run(pi.systems.kepler)["vx"])
    for ask in (lambda: sol["x"], lambda: sol.x):
        with pytest.raises(ValueError, match="x was not saved, only y, vx"):
            ask()
    for ask in (sol.energy, sol.energy_error, lambda: sol.at(0.05)):
        with pytest.raises(ValueError, match="needs all components, and y, vx were saved"):
            ask()
    with pytest.raises(KeyError, match="components x, y"):
        sol["w"]
    halves = run(pi.systems.kepler, components=["vx", "y", "x"])
    assert same_bits(halves.x, run(pi.systems.kepler).x)
    with pytest.raises(ValueError, match="vy was not saved"):
        halves.v  # noqa: B018
    with pytest.raises(AttributeError, match="first_order"):
        run(components="z").x  # noqa: B018


def test_all_components_in_another_order_answer_questions():
    whole = run(pi.systems.pendulum, method="velocity_verlet")
    sol = run(pi.systems.pendulum, method="velocity_verlet", out=np.empty(whole.y.shape))
    assert same_bits(sol.energy_error(), whole.energy_error())
    assert same_bits(sol.error(), whole.error())
    assert same_bits(sol.at(0.0317), whole.at(0.0317))
    part = run(pi.systems.pendulum, method="velocity_verlet", components="omega")
    assert same_bits(part.error()[..., 0], whole.error()[..., 1])


def test_failures_are_those_of_one_run():
    y = states(LORENZ, (40,)) * np.linspace(1, 20, 40)[:, np.newaxis]
    y[3, 1], y[7] = np.nan, 1e200
    options = {"dt": 1e-2, "n_steps": 60, "bound": 40.0, "save": 2}
    whole = run(y=y, **options)
    sol = run(y=y, **options, out=np.empty(whole.y.shape))
    assert 2 < whole.n_failed < 40
    assert same_bits(sol.y, whole.y)
    assert sol.failures() == whole.failures()
    assert same_bits(sol.status, whole.status)
    assert same_bits(sol.failed_step, whole.failed_step)
    with pytest.warns(pi.IntegrationWarning, match=f"{whole.n_failed} of 40"):
        run(y=y, **options, out=np.empty(whole.y.shape), on_failure="warn")
    with pytest.raises(pi.IntegrationError) as caught:
        run(y=y, **options, out=np.empty(whole.y.shape), on_failure="raise")
    assert same_bits(caught.value.solution.y, whole.y)


@pytest.mark.parametrize("save", ["all", "final", 7])
def test_progress_is_that_of_one_run(save):
    calls = []
    entries = 1 if save == "final" else 1 - -500 // (1 if save == "all" else save)
    out = np.empty((entries, 4, 6, 3))[:, ::2, ::2]  # goes by parts
    y = states(LORENZ, (2, 3))
    run(y=y, n_steps=500, save=save, out=out, progress=lambda *call: calls.append(call))
    done, totals = zip(*calls, strict=True)
    assert list(done) == sorted(set(done))
    assert done[-1] == 500
    assert set(totals) == {500}
    assert len(done) > 5 or save != "all"


# ---- interrupts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["strided", "zarr"])
@pytest.mark.parametrize("at", [0, 1, 333, 499])
def test_an_interrupted_run_by_parts_holds_what_was_done(at, kind, tmp_path):
    hands = [1]

    def progress(done, total):
        if done >= at and hands:
            hands.pop()
            raise KeyboardInterrupt

    y = states(LORENZ, (2, 3))
    whole = run(y=y, n_steps=500, save=2)
    out = places(kind, whole.y.shape, np.float64, tmp_path)
    with pytest.raises(KeyboardInterrupt) as caught:
        run(y=y, n_steps=500, save=2, out=out, progress=progress)
    sol = caught.value.solution
    assert 0 < len(sol) < len(whole) or at == 499
    assert same_bits(sol.y, whole.y[: len(sol)])
    assert same_bits(out[: len(sol)], whole.y[: len(sol)])
    assert sol.steps[-1] == sol.n_steps
    assert same_bits(sol.resume(n_steps=500 - sol.n_steps).final, whole.final)


def test_an_interrupt_while_a_part_is_copied_leaves_the_parts_before(monkeypatch):
    y = states(LORENZ, (2, 3))
    whole = run(y=y, n_steps=500, save=2)
    out, count, end = places("strided", whole.y.shape, float, None), [0], recording._end_of_part

    def interrupted(*arguments):
        count[0] += 1
        if count[0] == 4:
            raise KeyboardInterrupt
        return end(*arguments)

    for last in (4, 1):
        count[0] = 4 - last
        monkeypatch.setattr(recording, "_end_of_part", interrupted)
        with pytest.raises(KeyboardInterrupt) as caught:
            run(y=y, n_steps=500, save=2, out=out)
        sol = caught.value.solution
        assert (sol.n_steps > 0) == (last == 4)
        assert same_bits(sol.y, whole.y[: len(sol)])
        assert same_bits(sol.final, whole.y[len(sol) - 1])


@pytest.mark.parametrize("components", [None, ["z", "x"]])
@pytest.mark.parametrize("kind", ["C", "rows"])
@pytest.mark.parametrize("save", [10_000, 10_007])
def test_an_interrupted_run_holds_its_last_state_between_two_saves_as_well(save, kind, components):
    """One block of 256 steps after the other; the first look at the time comes after 50 ms."""
    y, at, rows = states(LORENZ, (8,)), 4 * save, 100_000
    n_steps = (rows - 1) * save

    def progress(done, total):
        if done >= at:
            raise KeyboardInterrupt

    out = places(kind, (rows, 8, 2 if components else 3), np.float64, None)
    with pytest.raises(KeyboardInterrupt) as caught:
        run(y=y, n_steps=n_steps, save=save, out=out, components=components, progress=progress)
    sol = caught.value.solution
    assert at <= sol.n_steps < n_steps
    whole = run(y=y, n_steps=sol.n_steps, save=save)
    assert same_bits(sol.final, whole.final)
    saved = len(sol)
    assert saved == sol.n_steps // save + 1
    expected = whole.y[:saved] if components is None else whole.y[:saved][..., [2, 0]]
    assert same_bits(sol.y, expected)
    assert same_bits(sol.resume(n_steps=77).final, whole.resume(n_steps=77).final)


def test_ctrl_c_stops_a_record_that_would_take_years():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            run(n_steps=1 << 50, save=1 << 40, out=np.empty((1025, 5, 3)),
                progress=lambda *_: signal.raise_signal(signal.SIGINT))  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught.value.solution.steps.tolist() == [0]
    assert same_bits(caught.value.solution.y[0], states(LORENZ, (5,)))


# ---- wrong arrays --------------------------------------------------------------------------------


def frozen(shape):
    out = np.empty(shape)
    out.flags.writeable = False
    return out


STATE = states(LORENZ, (5,))
WRONG = [
    ([0.0], TypeError, "out must be a NumPy array, a memmap or a zarr array, got list"),
    (np.empty((101, 5, 2)), ValueError, r"\(101, 5, 2\), expected .* \(101, 5, 3\)"),
    (np.empty((100, 5, 3)), ValueError, r"\(100, 5, 3\), expected .* \(101, 5, 3\)"),
    (np.empty((101, 5, 3), np.float32), ValueError, "out has dtype float32, and the run float64"),
    (np.empty((101, 5, 3), ">f8"), ValueError, "out has dtype >f8"),
    (np.empty((101, 5, 3), object), ValueError, "out has dtype object"),
    (frozen((101, 5, 3)), ValueError, "out is read-only"),
    (np.lib.stride_tricks.as_strided(np.empty(3), (101, 5, 3), (0, 0, 8)), ValueError, "itself"),
]


@pytest.mark.parametrize(("out", "kind", "words"), WRONG, ids=[row[2][:30] for row in WRONG])
def test_an_array_that_does_not_fit_is_refused(out, kind, words):
    called = []
    with pytest.raises(kind, match=words):
        run(out=out, progress=lambda *call: called.append(call))
    assert not called


def test_an_array_in_the_memory_of_an_argument_is_refused():
    out = np.zeros((101, 5, 3))
    out[0] = STATE
    with pytest.raises(ValueError, match="out overlaps x0"):
        run(y=out[0], out=out)
    with pytest.raises(ValueError, match="out overlaps dt"):
        run(dt=out[0, :, 0], out=out)
    assert np.array_equal(out[0], STATE)
    apart = np.zeros((101, 5, 6))  # interleaved, and nothing in common
    apart[0, :, 1::2] = STATE
    assert same_bits(run(y=apart[0, :, 1::2], out=apart[..., ::2]).y, run().y)


def test_a_zarr_array_must_be_writable(tmp_path):
    places("zarr", (101, 5, 3), np.float64, tmp_path)
    with pytest.raises(ValueError, match="out is read-only"):
        run(out=zarr.open_array(store=tmp_path / "out.zarr", mode="r"))


@pytest.mark.parametrize(
    ("components", "kind"),
    [("w", ValueError), ([], ValueError), (["x", "x"], ValueError), (3, TypeError),
     ([0], ValueError), (["x", None], ValueError), ("xy", ValueError)],
)  # fmt: skip
def test_wrong_components_are_refused(components, kind):
    with pytest.raises(kind, match=r"components must be .*, got"):
        run(components=components)


@pytest.mark.parametrize("said", ["100000000\n", "max\n"])
def test_a_container_has_less_memory_than_its_machine(monkeypatch, tmp_path, said):
    limit = tmp_path / "memory.max"
    limit.write_text(said)
    monkeypatch.setattr(memory, "LIMITS", [limit, tmp_path / "none"])
    if said == "max\n":
        memory.check_memory(200_000_000, 1, (1,), 1)
    else:
        with pytest.raises(MemoryError, match="take 0.2 GB, and there is 0.1 GB here"):
            memory.check_memory(200_000_000, 1, (1,), 1)
        with pytest.raises(MemoryError, match="1 saved states of single trajectories"):
            memory.check_memory(200_000_000, 1, (), 1)


def test_a_size_is_predicted_without_memory_for_it():
    wide = np.broadcast_to(np.float64(1), (1 << 20, 3))
    for options in ({}, {"components": "x"}):
        with pytest.raises(MemoryError, match="GB.*in parts"):
            run(y=wide, n_steps=1 << 30, **options)
    with pytest.raises(ValueError, match=r"expected .* = \(1073741825, 1048576, 3\)"):
        run(y=wide, n_steps=1 << 30, out=np.empty(3))
    with pytest.raises(ValueError, match=f"expected .* = .{2**53 + 1}, 5, 1"):
        run(n_steps=1 << 53, components="x", out=np.empty(3))


def test_a_list_is_no_zarr_array_where_zarr_is_not_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "zarr")
    with pytest.raises(TypeError, match="got list"):
        run(out=[])
