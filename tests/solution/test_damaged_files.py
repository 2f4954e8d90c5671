"""A damaged or foreign file is a ValueError that says so, and never a wrong solution."""

import re

import numpy as np
import pytest
from conftest import each
from hypothesis import given, settings
from hypothesis import strategies as st
from test_storage import RALSTON, pendulums, run, same

import pyintegrate as pi
from pyintegrate.solution import files


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_npz_is_an_error_or_harmless(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "a.npz"
    sol = run(n_steps=5)
    sol.save(path)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[at] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[at : at + data.draw(st.integers(1, len(content)))]
    path.write_bytes(content)
    try:
        loaded = pi.load(path)
    except ValueError as error:
        words = str(error)
    else:  # a time stamp in the archive, which nobody reads
        words = "no solution" * same(loaded, sol)
    assert re.search("damaged|no solution", words)


def test_every_file_of_a_zarr_matters(tmp_path):
    path = tmp_path / "a.zarr"
    sol = run(n_steps=5)
    sol.save(path)
    inside = sorted(p for p in path.rglob("*") if p.is_file())
    assert len(inside) > 15
    for file in inside:
        content = file.read_bytes()
        for broken in (None, b"", content[: len(content) // 2], content[:-5] + b"\0\1\2\3\4"):
            file.unlink() if broken is None else file.write_bytes(broken)
            with pytest.raises(ValueError, match=r"damaged|no solution"):
                pi.load(path)
        file.write_bytes(content)
    assert same(pi.load(path), sol)


NESTED = {"make": "method", "args": ["rk4"]}
for _ in range(60):
    NESTED = {"make": "runge_kutta", "args": [NESTED]}
EMPTY: dict = {"dict": {}}


def made_by(maker, *arguments):
    return {"system": {"name": "x", "made_by": {"make": maker, "args": [*arguments]}}}


HEADERS = [
    ({"format": "another"}, "holds no solution of pyintegrate"),
    ({"version": 99, "written_by": "pyintegrate 77"}, "pyintegrate 77, format 99.*upgrade"),
    ({"version": "1"}, "upgrade"),
    ({"version": True}, "upgrade"),
    ({"version": NESTED, "written_by": NESTED}, "format .unknown.: .*upgrade"),
    ({"version": 0}, "upgrade"),
    ({"batch": [6]}, "damaged: y: it has the shape"),
    ({"batch": [10**9, 10**9]}, "damaged: batch"),
    ({"batch": [5.0]}, "damaged: batch"),
    ({"batch": [[5]]}, "damaged: batch"),
    ({"batch": None}, "damaged: batch"),
    ({"dtype": "float32"}, "damaged: y: it has the type float64, expected float32"),
    ({"dtype": "object"}, "damaged: dtype: 'object', expected"),
    ({"completed": 10**6}, "damaged: completed: 1000000, expected 0 to 40"),
    ({"completed": 5.5}, "damaged: completed"),
    ({"completed": 39}, "damaged: y: it has the shape"),
    ({"n_steps": -1}, "damaged: n_steps"),
    ({"n_steps": 2**70}, "damaged: n_steps"),
    ({"n_steps": 30, "completed": 30}, "damaged: y"),
    ({"first": -1}, "damaged: first"),
    ({"first": 10**30}, "damaged: first"),
    ({"first": 7}, "damaged: steps"),
    ({"components": ["x", "y"]}, "damaged: y: it has the shape"),
    ({"components": ["x", "y", "w"]}, "damaged: components"),
    ({"components": ["x", "y", "y"]}, "damaged: components"),
    ({"components": "xyz"}, "damaged: components"),
    ({"state_names": ["z", "y", "x"]}, "the components of 'lorenz' are x, y, z, and were z, y, x"),
    ({"save": "sometimes"}, "damaged: save"),
    ({"save": 0}, "damaged: save"),
    ({"save": 7}, "damaged: y"),
    ({"save": "final"}, "damaged: y"),
    ({"bound": "much"}, "damaged: bound"),
    ({"state_names": ["x", "y", "z", "w" * 9000]}, "of 'lorenz' are .{0,800}$"),
    ({"bound": -1.0}, "damaged: bound"),
    ({"bound": float("nan")}, "damaged: bound"),
    ({"on_failure": "pray"}, "damaged: on_failure"),
    ({"begun": "yes"}, "damaged: begun"),
    ({"driven": 1}, "damaged: driven"),
    ({"method": {"make": "system", "args": ["spring", {"dict": {}}]}}, "not a Method"),
    ({"method": {"make": "os.system", "args": ["true"]}}, "damaged: method: there is no maker"),
    ({"method": {"make": ["method"], "args": ["rk4"]}}, "damaged: method"),
    ({"method": NESTED}, "damaged: method: it is nested"),
    ({"starter": NESTED}, "damaged: starter: it is nested"),
    ({"starter": {"make": "method", "args": ["rk4"]}}, "damaged: starter: .*starts by itself"),
    ({"starter": 3}, "damaged: starter: it is no method"),
    ({"coefficients": {"dict": {"A": {"fraction": "1/0"}}}}, "damaged: coefficients: '1/0'"),
    ({"coefficients": {"fraction": "1e999999999"}}, "damaged: coefficients: '1e9"),
    ({"coefficients": {"array": "nowhere"}}, "damaged: coefficients: nowhere"),
    ({"coefficients": {"array": "../a"}}, "damaged: coefficients"),
    ({"system": {"made_by": {"make": "method", "args": ["rk4"]}, "name": "x"}}, "is not a System"),
    ({"system": {"name": 3}}, "damaged: system"),
    (made_by("bodies", 10**9, [], EMPTY, EMPTY), "damaged: system: n: 1000000000"),
    (made_by("traced_system", EMPTY, EMPTY), "damaged: system: KeyError: 'traced'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), HEADERS, ids=range(len(HEADERS)))
def test_a_header_that_does_not_fit_is_an_error(change, words, tmp_path):
    run().save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    files.write(tmp_path / "b.npz", {**header, **change}, arrays)
    with pytest.raises(ValueError, match=words):
        pi.load(tmp_path / "b.npz")


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_field_that_is_missing_is_named(adaptive, tmp_path):
    sol = pi.solve(pi.systems.lorenz, t_end=1) if adaptive else run()
    sol.save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    for name in header.keys() - {"written_by"}:
        files.write(tmp_path / "b.npz", {k: header[k] for k in header if k != name}, arrays)
        with pytest.raises(ValueError, match=f"{name}: it is missing|no solution|upgrade"):
            pi.load(tmp_path / "b.npz")


@pytest.mark.parametrize("number", ["0x1p99999", "1", 3, None, "nan nan"])
def test_a_slope_that_is_no_number_is_an_error(number, tmp_path):
    run().save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    header["system"]["slope"][1] = number
    files.write(tmp_path / "b.npz", header, arrays)
    with pytest.raises(ValueError, match="damaged: system|has other equations"):
        pi.load(tmp_path / "b.npz")


def failing(**options):
    y = np.ones((6, 3))
    y[2], y[4] = np.nan, 1e200
    return pi.integrate(
        pi.systems.lorenz, y, dt=1e-2, n_steps=10, on_failure="ignore", save=4, **options
    )


ARRAYS = [
    ("failed_status", np.arange(7, dtype=np.int8), "failed_status: it has the shape"),
    ("failed_status", np.array([0, 0, 1, 0, 77, 0], np.int8), "failed_status: expected numbers"),
    ("failed_status", np.array([0, 0, 1, 0, -1, 0], np.int8), "failed_status: expected numbers"),
    ("failed_status", np.zeros(6, np.int8), "failed_step: expected -1 where"),
    ("failed_status", np.zeros(6, np.int64), "failed_status: it has the type int64, expected int8"),
    ("failed_step", np.array([-1, -1, -1, -1, 1, -1]), "failed_step: expected -1 where"),
    (
        "failed_step",
        np.array([-1, -1, 0, -1, 11, -1]),
        "failed_step: expected numbers from -1 to 10",
    ),
    ("failed_step", np.array([0, 1, 2]), "failed_step: it has the shape"),
    ("steps", np.array([0, 4, 9, 10]), "steps: they are not those"),
    ("steps", np.arange(5), "steps: it has the shape"),
    ("t", np.zeros(4), "t: they are not those"),
    ("dt", np.array(0.0), "system: dt must be finite and non-zero"),
    ("dt", np.ones(7), "dt: it has the shape"),
    ("t0", np.array(3), "t0: it has the type int64"),
    ("y", np.zeros((4, 3, 5)), "y: it has the shape"),
    ("y", np.zeros((4, 3, 6), np.float32), "y: it has the type float32"),
    ("first_state", np.zeros((3, 5)), "first_state: it has the shape"),
    ("first_state", np.zeros((2, 6)), "first_state: it has 2 rows"),
    ("first_state", np.zeros((4, 6)), "first_state: it has 4 rows"),
    ("last_state", np.zeros((4, 6)), "last_state: it has 4 rows"),
    ("last_state", np.zeros(6), "last_state: it has the shape"),
    ("last_state", None, "last_state: the file has no such array"),
]


@pytest.mark.parametrize(("wrong", "kind"), each(ARRAYS, ["npz", "zarr"]))
def test_an_array_that_does_not_fit_is_an_error(wrong, kind, tmp_path):
    name, array, words = wrong
    failing().save(tmp_path / f"a.{kind}")
    header, arrays = files.read(tmp_path / f"a.{kind}")
    changed = {k: v for k, v in {**arrays, name: array}.items() if v is not None}
    files.write(tmp_path / f"b.{kind}", header, changed)
    with pytest.raises(ValueError, match=f"damaged: ({words})"):
        pi.load(tmp_path / f"b.{kind}")


DEFINITIONS = [
    ({"dof": 0}, "system: dof: 0, and its functions say 2"),
    ({"dim": 6}, "system: dim: 6, and its functions say 4"),
    ({"dim": 10**12}, "system: dim"),
    ({"structure": "first_order"}, "system: dof"),
    ({"structure": "separable"}, "system: traced: its answers"),
    ({"structure": "rigid_body"}, "system: structure"),
    ({"title": None}, "system: title"),
    ({"time_dependent": False}, "system: time_dependent"),
    ({"velocity_dependent": 1}, "system: velocity_dependent"),
    ({"shapes": {"dict": {"k": {"tuple": [10**9]}, "centre": {"tuple": []}}}}, "system: shapes"),
    ({"shapes": {"dict": {"k": {"tuple": []}, "centre": {"tuple": [-2]}}}}, "system: shapes"),
    ({"params": []}, "system: shapes"),
    ({"state": []}, "system: state"),
    ({"exact": "os.system"}, "system: exact"),
    ({"compiled": "a.so"}, "system: compiled"),
]


@pytest.mark.parametrize(
    ("change", "words"), DEFINITIONS, ids=[str(d[0])[:40] for d in DEFINITIONS]
)
def test_a_system_that_does_not_fit_itself_is_an_error(change, words, tmp_path):
    run(pendulums()).save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    header["system"]["made_by"]["args"][0]["dict"] |= change
    files.write(tmp_path / "b.npz", header, arrays)
    with pytest.raises(ValueError, match=f"damaged: {words}"):
        pi.load(tmp_path / "b.npz")


TABLE = [[0.0] * 3] * 3


def test_a_final_state_that_is_another_is_an_error(tmp_path):
    run(save="final").save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    other = {**arrays, "last_state": arrays["last_state"] + 1}
    files.write(tmp_path / "b.npz", header, other)
    with pytest.raises(ValueError, match="damaged: last_state: it is not the last state in y"):
        pi.load(tmp_path / "b.npz")


METHODS = [
    (["runge_kutta", [[0.0]], [1.0], [0.0], "mine", "four", None], "method: order"),
    (["runge_kutta", [[0.0]], [1.0], [0.0], "mine", None, None], "method: order"),
    (["runge_kutta", [[0.0]], [1.0], [0.0], "mine", 10**30, None], "method: order"),
    (["runge_kutta", [[0.0]], [1.0], [0.0], None, 1, None], "method: name"),
    (["runge_kutta", [[0.0]], [1.0]], "method: 2 arguments"),
    (["runge_kutta", TABLE, [1.0] * 100, TABLE, "mine", 1, None], "method: more than 64 stages"),
    (["multistep", 1, 2, 3, 4, 5, "mine", 1], "method: "),
    (["composition", [{"dict": {}}], [1.0], "any", "mine", 1], "method: TypeError"),
]


@pytest.mark.parametrize(("change", "words"), METHODS, ids=[str(m[0])[:40] for m in METHODS])
def test_a_method_that_is_none_is_an_error(change, words, tmp_path):
    run(method=RALSTON).save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    header["method"] = {"make": change[0], "args": change[1:]}
    files.write(tmp_path / "b.npz", header, arrays)
    with pytest.raises(ValueError, match=f"damaged: {words}"):
        pi.load(tmp_path / "b.npz")


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, y=np.zeros(3))
    with pytest.raises(ValueError, match="no solution"):
        pi.load(path)
    np.savez_compressed(path, header="{}")
    with pytest.raises(ValueError, match="compressed"):
        pi.load(path)
    np.savez(path, header="{}", x=np.array([None]))  # a pickle: never loaded
    with pytest.raises(ValueError, match="array of object"):
        pi.load(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="damaged"):
        pi.load(path)
    (tmp_path / "b.zarr").mkdir()
    with pytest.raises(ValueError, match="damaged, or no solution"):
        pi.load(tmp_path / "b.zarr")


@pytest.fixture
def watched(tmp_path):
    """The arrays of a file with events and with watches of all shapes."""
    watch = {
        "bins": pi.watch.histogram("x", 5, (-2, 2)),
        "image": pi.watch.density(("x", "v"), 4, ((-2, 2), (-2, 2))),
        "swing": pi.watch.maximum("x"),
    }
    stop = {"top": pi.event("v", stop=True)}
    options = {"dt": 0.1, "n_steps": 40, "watch": watch, "events": stop}
    sol = pi.integrate(pi.systems.oscillator, np.linspace(0.5, 1, 6), 0.5, **options)
    sol.save(tmp_path / "a.npz")
    assert same(pi.load(tmp_path / "a.npz"), sol)
    return dict(np.load(tmp_path / "a.npz"))


@pytest.mark.parametrize("number", [-2, -128, 1, 127])
def test_a_trajectory_is_stopped_by_an_event_of_the_file(watched, number, tmp_path):
    watched["stopped_by"][2] = number
    np.savez(tmp_path / "b.npz", **watched)
    with pytest.raises(ValueError, match="damaged.*number of an event"):
        pi.load(tmp_path / "b.npz")


def test_watched_arrays_have_their_shapes(watched, tmp_path):
    for name in [name for name in watched if name.startswith("watched_")]:
        for other in (watched[name][:-1], watched[name][..., np.newaxis, np.newaxis]):
            np.savez(tmp_path / "b.npz", **{**watched, name: other})
            with pytest.raises(ValueError, match="damaged.*shape"):
                pi.load(tmp_path / "b.npz")
