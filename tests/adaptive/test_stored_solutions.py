"""A solution to a tolerance that was saved and loaded is the same to the bit; a bad file an error.

The files of fixed steps are in tests/solution/test_storage.py and test_damaged_files.py.
"""

import numpy as np
import pytest
from conftest import each, same_bits
from hypothesis import given, settings
from hypothesis import strategies as st

import pyintegrate as pi
from pyintegrate import Status
from pyintegrate.solution import files

X0 = np.random.default_rng(1).normal(size=(5, 3))
KINDS = ("npz", "zarr")
SHAPES = ((), (5,), (1, 5), (0,), (2, 0))
ANSWERS = (
    "y", "t", "steps", "initial", "final", "origin", "status", "failed_step", "valid", "counts",
    "steps_taken", "rejected", "evaluations", "last_step", "rtol", "atol", "t0", "t_end",
)  # fmt: skip


def same(a, b):
    """All that a solution answers."""
    assert type(a) is type(b)
    assert (a.system, a.method, a.components) == (b.system, b.method, b.components)
    for name in ANSWERS:
        assert same_bits(np.asarray(getattr(a, name)), np.asarray(getattr(b, name))), name
    assert (repr(a), a.failures(), a.digest()) == (repr(b), b.failures(), b.digest())
    return True


def loaded(solution, folder, kind="npz", **keywords):
    solution.save(folder / f"a.{kind}")
    return pi.load(folder / f"a.{kind}", **keywords)


def run(save="all", **keywords):
    keywords = {"t_end": [0.1, 0.2, 0.3, -0.4, 0.0], "rtol": 1e-5, "save": save, **keywords}
    return pi.solve(pi.systems.lorenz, X0, **keywords)


# ---- whole again ---------------------------------------------------------------------------------


def test_states_in_a_zarr_array_answer_as_those_in_memory(tmp_path):
    import zarr

    out = zarr.create_array(store=tmp_path / "out.zarr", shape=(2, 5, 3), dtype=float)
    times = {"t_end": 1.0, "save": None, "times": [0.5, 1.0]}
    assert same(run(**times, out=out), run(**times))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_every_kind_of_solution_comes_back_and_goes_on(data, tmp_path_factory):
    draw = data.draw
    shape, kind = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(KINDS))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    y = np.resize(X0, (*shape, 3)).astype(dtype)
    if y.size and shape and draw(st.booleans()):
        y[..., 1, :], y[..., 2, 0] = np.nan, np.finfo(dtype).max / 4
    ends = np.array([0.1, 0.2, 0.3, -0.4, 0.0]) if 5 in shape else 0.4
    t_end = draw(st.sampled_from([0.4, ends]))
    options = draw(
        st.fixed_dictionaries(
            {
                "method": st.sampled_from(["auto", "dop853", "bogacki_shampine32", "kvaerno54"]),
                "rtol": st.sampled_from([1e-3, 1e-4, [1e-3, 1e-4, 5e-5]]),
                "max_steps": st.sampled_from([4, 10**6]),
                "max_step": st.sampled_from([None, 0.05]),
                "components": st.sampled_from([None, ["z"], ["z", "x"]]),
                "watch": st.sampled_from([None, {"far": pi.watch.maximum("x")}]),
            }
        )
    )
    options |= draw(
        st.sampled_from(
            [
                {"save": "all"},
                {"save": "final"},
                {"times": np.linspace(0.0, np.broadcast_to(t_end, shape), 4)},
                {"times": [0.0]},
            ]
        )
    )
    sol = pi.solve(
        pi.systems.lorenz, y, t_end=t_end, dtype=dtype, on_failure="ignore", **options
    )  # fmt: skip
    again = loaded(sol, tmp_path_factory.mktemp("files"), kind)
    assert same(again, sol)
    for name in sol.watched:
        assert same_bits(again.watched[name], sol.watched[name])
    if options["watch"] is None:
        further = np.where(np.asarray(t_end) < 0, -0.6, 0.6)
        assert same(again.resume(t_end=further), sol.resume(t_end=further))


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_batch_goes_on_and_is_stored(kind, tmp_path):
    """Whatever is asked of a batch may be asked of none."""
    none, seen = np.zeros((2, 0)), {"bins": pi.watch.histogram("x", 4, (-1, 1))}
    spring = pi.systems.spring
    for asked in ({"save": "all"}, {"times": np.zeros((3, 2, 0))}, {"times": np.zeros((0, 2, 0))}):
        sol = pi.solve(spring, none, 0.0, t_end=1.0, watch=seen, **asked)
        further = sol.resume(t_end=2.0)
        assert pi.concatenate(sol, further).y.shape[1:] == (2, 0, 2)
        assert same(further, loaded(further, tmp_path, kind))
        assert further.watched["bins"].shape == (2, 0, 4)
    fixed = pi.integrate(spring, none, 0.0, dt=0.1, n_steps=3, times=np.zeros((3, 2, 0)))
    assert fixed.y.shape == (3, 2, 0, 2)
    assert pi.solve(spring, none, 0.0, t_end=1.0, save="all").at([0.5]).shape == (1, 2, 0, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_loaded_solution_answers_between_its_steps(dtype, tmp_path):
    sol = pi.solve(pi.systems.kepler, t_end=3.0, rtol=1e-4, dtype=dtype)
    again = loaded(sol, tmp_path)
    assert same_bits(again.at([0.5, 2.9]), sol.at([0.5, 2.9]))
    assert same_bits(again.energy_error(), sol.energy_error())


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_solution_keeps_where_it_began(kind, tmp_path):
    resumed = run(t_end=[0.1, 0.2, 0.3, 0.4, 0.0]).resume(t_end=0.5)
    again = loaded(resumed, tmp_path, kind)
    assert same(again, resumed)
    assert same(again.resume(t_end=0.7), resumed.resume(t_end=0.7))


@pytest.mark.parametrize("save", ["all", "final"])
@pytest.mark.parametrize("kind", KINDS)
def test_watches_stops_and_jumps_are_kept(kind, save, tmp_path):
    def bounce(t, x, v, e):
        return x, v * [1, 1, -e]

    sol = pi.solve(
        pi.systems.projectile,
        [-2.0, 0.0, 1.0],
        [[1.0, 0.0, 2.0], [3.0, 0.0, 1.0], [0.1, 0.0, 9.0]],
        t_end=2.0,
        save=save,
        on_failure="ignore",
        watch={"far": pi.watch.maximum("z")},
        events={
            "floor": pi.event("z", direction=-1, then=bounce, params={"e": 0.5}, keep=9),
            "wall": pi.event("x", stop=True),
        },
    )
    again = loaded(sol, tmp_path, kind)
    assert Status.STOPPED in again.status
    assert same(again, sol)
    assert same_bits(again.watched["far"], sol.watched["far"])
    for part in ("t", "y", "count"):
        one, other = (getattr(s.events["floor"], part) for s in (again, sol))
        assert same_bits(np.asarray(one), np.asarray(other))
    assert same_bits(again.stopped_at, sol.stopped_at)
    assert again.stopped_by.tolist() == sol.stopped_by.tolist()
    with pytest.warns(UserWarning, match="loaded or unpickled"):
        assert again.resume(t_end=3.0).t_end == 3.0


def test_an_interrupted_solution_goes_on_from_its_file(tmp_path):
    hands = [1]

    def stop(done, total):
        if hands:
            raise KeyboardInterrupt(hands.pop())

    y = np.resize(X0, (4000, 3))
    with pytest.raises(KeyboardInterrupt) as caught:
        pi.solve(pi.systems.lorenz, y, t_end=200.0, rtol=1e-10, progress=stop)
    part = caught.value.solution
    assert Status.CANCELLED in part.status
    assert same(loaded(part, tmp_path), part)


def test_another_arithmetic_is_told_where_it_goes_on(tmp_path):
    sol = pi.solve(pi.systems.lorenz, X0, t_end=0.1, method="kvaerno54", rtol=1e-4)
    sol.save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    files.write(tmp_path / "b.npz", {**header, "arithmetic": 1}, arrays)
    old = pi.load(tmp_path / "b.npz")
    assert old.arithmetic == 1
    with pytest.warns(pi.ArithmeticWarning, match="computed in arithmetic 1"):
        assert old.resume(t_end=0.2).arithmetic == sol.arithmetic


# ---- hostile -------------------------------------------------------------------------------------
def test_every_field_and_every_array_matters(tmp_path):
    """Without one of them there is one error, which names it."""
    path = tmp_path / "b.npz"
    run(t_end=[0.1, 0.2, 0.3, 0.4, 0.0]).resume(t_end=0.5).save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    free = {"format", "version", "written_by", "watched", "events"}
    for name in {*header} - free:
        files.write(path, {k: v for k, v in header.items() if k != name}, arrays)
        with pytest.raises(ValueError, match=f"damaged: {name}: it is missing"):
            pi.load(path)
        for wrong in (None, "nonsense", 1.5, -1, 2**70, [], [[]], {}, {"array": "y"}):
            if wrong == header[name] or (name, wrong) in (
                ("bound", 1.5),
                ("bound", 2**70),
                ("batch", []),
            ):
                continue
            files.write(path, {**header, name: wrong}, arrays)
            with pytest.raises(ValueError, match=f"damaged: {name}|has other {name}"):
                pi.load(path)
    for name, array in arrays.items():
        files.write(path, header, {k: v for k, v in arrays.items() if k != name})
        if name == "within":  # of an earlier version, which had none
            assert pi.load(path).at(0.5).shape == (5, 3)
            continue
        if name == "onward_mark":  # likewise: it goes on from its end
            assert np.all(pi.load(path).resume(t_end=0.7).t[0] == 0.5)
            continue
        with pytest.raises(ValueError, match=f"damaged: {name}: the file has no such array"):
            pi.load(path)
        kind = np.float16 if array.dtype.kind == "f" else np.int16
        for wrong in (array.astype(kind), array[np.newaxis, ..., np.newaxis], np.zeros((3, 7))):
            files.write(path, header, {**arrays, name: wrong})
            with pytest.raises(ValueError, match=f"damaged: {name}: it has the (shape|type)"):
                pi.load(path)


HEADERS = [
    ({"batch": [4]}, "y: it has the shape"),
    ({"batch": [10**9, 10**9]}, "damaged: batch"),
    ({"dtype": "float32"}, "y: it has the type float64, expected float32"),
    ({"save": "final"}, "y: it has the shape"),
    ({"save": "times"}, "goes_on: 'all'"),
    ({"save": "times", "goes_on": "final"}, "t: times must lie between"),
    ({"save": 7}, "save: 7, expected"),
    ({"goes_on": "final"}, "goes_on"),
    ({"max_steps": 1 << 31}, "max_steps"),
    ({"arithmetic": 0}, "arithmetic"),
    ({"resumed": True}, "origin_state: the file has no such array"),
    ({"components": ["x", "y"]}, "y: it has the shape"),
    ({"method": {"make": "method", "args": ["rk4"]}}, "coefficients|other coefficients"),
    ({"method": {"make": "os.system", "args": ["true"]}}, "method: there is no maker"),
    ({"coefficients": {"array": "../a"}}, "coefficients"),
    ({"system": {"name": "x", "made_by": {"make": "method", "args": ["rk4"]}}}, "is not a System"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), HEADERS, ids=range(len(HEADERS)))
def test_a_header_that_does_not_fit_is_an_error(change, words, tmp_path):
    run().save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    files.write(tmp_path / "b.npz", {**header, **change}, arrays)
    with pytest.raises(ValueError, match=words):
        pi.load(tmp_path / "b.npz")


def changed(name, where, value):
    """Puts a value into one place of an array."""

    def change(arrays):
        array = np.array(arrays[name])
        array[where] = value
        return {**arrays, name: array}

    return name, change


NUMBERS = [
    (*changed("t0", (), np.nan), "t0: expected numbers from -1.79769"),
    (*changed("t_end", 1, np.inf), "t_end: expected numbers"),
    (*changed("t_end", 1, 0.1), "reached: expected times from t0 to t_end"),
    (*changed("rtol", (), -1.0), "rtol: expected numbers"),
    (*changed("rtol", (), 1e-300), "rtol: expected numbers from 2.22044604925e-14 to"),
    (*changed("atol", (), np.nan), "atol: expected numbers from 0"),
    (*changed("max_step", (), 0.0), "max_step: expected numbers from 4.94065645841e-324 to inf"),
    (*changed("reached", 2, 0.2), "reached: expected"),
    (*changed("reached", 2, np.nan), "reached: expected"),
    (*changed("last_step", 2, np.nan), "last_step: expected numbers"),
    (*changed("steps_taken", 0, -1), "expected numbers from 0 to 2147483646"),
    (*changed("rejected", 0, 1 << 62), "expected numbers from 0 to 2147483646"),
    (*changed("status", 0, 77), "expected numbers from 0"),
    (*changed("status", 0, -1), "expected numbers from 0"),
    (*changed("counts", 0, 0), "expected numbers from 1"),
    (
        *changed("counts", slice(None), 1),
        "counts: expected .*, which one of them",
    ),
    (*changed("counts", 4, 2), "t: expected numbers up to the count"),
    (*changed("t", (0, 1), 0.05), "expected times in order"),
    (*changed("t", (1, 3), 0.1), "expected times in order"),
    (*changed("t", (-1, 4), 0.1), "expected numbers up to the count"),
    (*changed("y", (-1, 0, 4), 1.0), "expected NaN"),
    (*changed("last_state", (0, 2), 7.0), "it is not the last state"),
]


# The arrays are looked at once they are read, from either kind of file.
@pytest.mark.parametrize(("wrong", "kind"), each(NUMBERS, ("npz",) * 6 + ("zarr",)))
def test_numbers_that_do_not_fit_one_another_are_an_error(wrong, kind, tmp_path):
    _, change, words = wrong
    run().save(tmp_path / f"a.{kind}")
    header, arrays = files.read(tmp_path / f"a.{kind}")
    files.write(tmp_path / f"b.{kind}", header, change(arrays))
    with pytest.raises(ValueError, match=f"damaged: .*{words}"):
        pi.load(tmp_path / f"b.{kind}")


def test_times_that_were_not_asked_for_are_an_error(tmp_path):
    run(None, t_end=0.4, times=[0.0, 0.1, 0.4]).save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    for times in ([0.0, 0.2, 0.1], [0.0, 0.1, 0.5], [-0.1, 0.1, 0.4], [0.0, np.nan, 0.4]):
        files.write(tmp_path / "b.npz", header, {**arrays, "t": np.array(times)})
        with pytest.raises(ValueError, match="damaged: t: times must"):
            pi.load(tmp_path / "b.npz")


def test_a_huge_shape_is_refused_before_anything_is_read(tmp_path):
    """Of a .zarr, whose parts may be missing: a shape costs nothing there."""
    import json

    run().save(tmp_path / "a.zarr")
    for name, axis in (("y", 0), ("t", 0), ("status", 0)):
        place = tmp_path / "a.zarr" / name / "zarr.json"
        text = place.read_text()
        told = json.loads(text)
        told["shape"][axis] = 1 << 50
        chunks = files._chunks(told["shape"], told["data_type"])
        told["chunk_grid"]["configuration"]["chunk_shape"] = chunks
        place.write_text(json.dumps(told))
        with pytest.raises((ValueError, MemoryError), match=r"it has the shape|memory|GiB|GB"):
            pi.load(tmp_path / "a.zarr")
        place.write_text(text)
    assert same(pi.load(tmp_path / "a.zarr"), run())


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_damaged_npz_is_an_error_or_harmless(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "a.npz"
    sol = run("final")
    sol.save(path)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[at] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[at : at + data.draw(st.integers(1, len(content)))]
    path.write_bytes(content)
    try:
        again = pi.load(path)
    except ValueError as error:
        words = str(error)
    else:  # a time stamp in the archive, which nobody reads
        words = "no solution" * same(again, sol)
    assert "damaged" in words or "no solution" in words
