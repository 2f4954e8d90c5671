"""What was watched and met goes wherever solutions go: into files, labelled arrays, dask, parts."""

import copy
import json
import os
import pickle
import warnings
import zipfile

import numpy as np
import pytest
from conftest import each, same_bits

import pyintegrate as pi
from pyintegrate.solution import files

w = pi.watch
START = np.zeros((4, 3)), np.array([[3.0, 0, 4], [3, 0, 5], [1, 0, 100], [1, 1, 1]])
PARTS = ("t", "y", "values", "count", "unresolved", "overflow")


def throw(save=7, **changes):
    run = {
        "dt": 0.01, "n_steps": 200, "save": save,
        "watch": {
            "a.b": w.maximum("z"), "e": w.slope("energy_error"), "h": w.histogram("x", 5, (0, 3)),
            "both": w.reduce(lambda kept, t, x, v: (kept[0] + x[0], kept[1]), [0.0, 1.0]),
        },
        "events": {
            "../ground": pi.event("z", -1, stop=True, keep=2, values=lambda t, x, v: (t, v[0])),
            "top": pi.event("vz", keep=0),
        },
    } | changes  # fmt: skip
    return pi.integrate(pi.systems.projectile, *START, **run)


def same_results(a, b):
    assert list(a.watched) == list(b.watched)
    assert list(a.events) == list(b.events)
    for name in a.watched:
        assert same_bits(a.watched[name], b.watched[name]), name
    for name in a.events:
        for part in PARTS:
            assert same_bits(getattr(a.events[name], part), getattr(b.events[name], part))
    assert same_bits(a.stopped_at, b.stopped_at)
    assert a.stopped_by.tolist() == b.stopped_by.tolist()
    assert same_bits(a.final, b.final)
    assert same_bits(a.status, b.status)
    return True


@pytest.mark.parametrize(("options", "kind"), each([
    {}, {"save": "final"}, {"components": ["z"]}, {"watch": None}, {"events": None},
    {"n_steps": 0}, {"dtype": np.float32},
], ["npz", "zarr"]))  # fmt: skip
def test_files_keep_all_bits(kind, options, tmp_path):
    sol = throw(**options)
    sol.save(tmp_path / f"a.{kind}")
    loaded = pi.load(tmp_path / f"a.{kind}")
    assert same_results(loaded, sol)
    assert repr(loaded.watched) == repr(sol.watched)
    if sol.events:
        assert same_bits(loaded.events["../ground"]["x"], sol.events["../ground"]["x"])
    loaded.save(tmp_path / f"b.{kind}")
    assert same_results(pi.load(tmp_path / f"b.{kind}"), sol)
    assert same_results(pickle.loads(pickle.dumps(loaded)), sol)


def test_zeno_and_an_interrupt_between_saves_are_kept(tmp_path):
    rest = {"b": pi.event("z", -1, then=lambda t, x, v: (x, -0.5 * v), max_per_step=5)}
    sol = throw(events=rest, n_steps=2000, on_failure="ignore")
    assert (sol.status == pi.Status.ZENO).any()
    sol.save(tmp_path / "a.npz")
    assert same_results(pi.load(tmp_path / "a.npz"), sol)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        throw(n_steps=1 << 20, save=(1 << 19) + 1, events=None, progress=stop)
    part = caught.value.solution
    part.save(tmp_path / "a.npz")
    assert same_results(pi.load(tmp_path / "a.npz"), part)


def test_results_without_functions_go_on_with_one_warning(tmp_path):
    sol = throw()
    sol.save(tmp_path / "a.npz")
    for lost in (pi.load(tmp_path / "a.npz"), pickle.loads(pickle.dumps(sol))):
        with pytest.warns(UserWarning, match="neither watched nor stopped") as caught:
            further = lost.resume(n_steps=5)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert not further.watched
        named = str(caught[0].message).partition("(")[2].partition(")")[0].split(", ")
        assert {*named} == {*sol.events, *(name.partition(".")[0] for name in sol.watched)}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sol.resume(n_steps=5)
            further.resume(n_steps=5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("verb", "more"), [(pi.integrate, {"dt": 0.05}), (pi.solve, {})])
def test_what_an_event_stopped_keeps_its_time_in_later_parts(verb, more, tmp_path):
    """Its errors are those at that time, though no event is known any more."""
    events = {"low": pi.event("x", level=0.4, direction=-1, stop=True)}
    start = [[1.0, 0.0], [0.5, 3.0]]
    first = verb(pi.systems.oscillator, start, events=events, t_end=1.2, **more)
    first.save(tmp_path / "first.npz")
    read = pi.load(tmp_path / "first.npz")
    with pytest.warns(UserWarning, match="loaded or unpickled"):
        part = read.resume(t_end=1.4)
    part.save(tmp_path / "part.npz")
    known = first.resume(t_end=1.4).error()[-1]
    for one in (part, pi.concatenate(read, part), pi.load(tmp_path / "part.npz")):
        assert np.array_equal(one.stopped_at, first.stopped_at, equal_nan=True)
        assert np.allclose(one.error()[-1], known, atol=1e-12)
        assert one.digest() == pickle.loads(pickle.dumps(one)).digest()


def test_a_copy_goes_on_with_its_watches():
    sol = throw()
    one, other = (part.resume(n_steps=9) for part in (copy.copy(sol), sol))
    assert same_results(one, other)
    assert one.watched


def test_joined_parts_have_what_the_last_part_carried_on(tmp_path):
    for save in ("all", 7, "final"):
        long, first = throw(save), throw(save, n_steps=90)
        joined = pi.concatenate(first, first.resume(n_steps=110))
        assert same_results(joined, long)
        assert same_bits(joined.resume(n_steps=9).watched["e"], long.resume(n_steps=9).watched["e"])
        joined.save(tmp_path / "a.npz")
        assert same_results(pi.concatenate(pi.load(tmp_path / "a.npz")), long)


def change(path, **fields):
    """Other fields in the header of a file."""
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if n != "header.npy"]
        arrays = {n.removesuffix(".npy"): np.load(archive.open(n)) for n in names}
        header = json.loads(str(np.load(archive.open("header.npy"))))
    header |= fields
    arrays |= {name: header.pop(name) for name in list(header) if name in arrays}
    files.write(path, header, arrays)


ARRAY = {"array": "watched_0"}
WRONG = [
    ({"watched": 3}, "watched"),
    ({"watched": [["a", [], 5]]}, "watched"),
    ({"watched": [["a", [], ARRAY], ["a", [], ARRAY]]}, "watched: .*expected"),
    ({"watched": [["a", ["slope"], ARRAY]]}, "watched.*function of pi.watch"),
    ({"watched": [["a", [], {"array": "nowhere"}]]}, "nowhere"),
    ({"watched": [["a", [], {"array": "failed_status"}]]}, "watched: .*expected .*watched_0"),
    ({"watched": [["a", [], {"array": "event_0_y"}]]}, "watched: .*expected .*watched_0"),
    ({"watched_0": np.zeros(4, np.int8)}, "watched_0: it has the type int8, expected float64"),
    ({"events": [["a", {}]]}, "events"),
    ({"events": [["a", dict.fromkeys(PARTS[:5], ARRAY)]]}, "events: .*expected"),
    ({"stopped": None}, "stopped"),
    ({"stopped_by": np.array([9, 0, -1, 0], np.int8)}, "stopped"),
    ({"stopped_by": np.array([0, 0, 0, 0], np.int8)}, "stopped"),
    ({"stopped_at": np.ones(4)}, "stopped"),
    ({"event_0_count": np.array([-1, 1, 0, 1])}, "events: ../ground: a count below 0"),
    ({"event_0_t": np.zeros((4, 3))}, "event_0_y: it has the shape"),
    ({"event_0_y": np.zeros((4, 2, 7))}, "event_0_y: it has the shape"),
    ({"event_0_unresolved": np.zeros(4)}, "event_0_unresolved: it has the type"),
]


@pytest.mark.parametrize(("fields", "words"), WRONG, ids=range(len(WRONG)))
def test_wrong_results_in_a_file_are_refused_by_name(fields, words, tmp_path):
    throw().save(tmp_path / "a.npz")
    change(tmp_path / "a.npz", **fields)
    with pytest.raises(ValueError, match=f"damaged: .*{words}"):
        pi.load(tmp_path / "a.npz")


def test_labelled_results():
    pytest.importorskip("xarray")
    sol = throw()
    data = sol.to_xarray()
    assert same_bits(data["watched.a.b"].values, sol.watched["a.b"])
    assert data["watched.a.b"].dims == ("batch",)
    assert data["watched.h"].dims == ("batch", "bin")
    assert data["watched.h.edges"].dims == ("bin_edge",)
    assert data["watched.both"].dims == ("batch", "both_0")
    assert data["events.../ground.t"].dims == ("batch", "event")
    vertical = data["events.../ground.y"].sel(component="vz").values
    assert same_bits(vertical, sol.events["../ground"]["vz"])
    assert "events.top.t" not in data
    assert data["stopped_by"].values.tolist() == ["../ground", "../ground", "", "../ground"]
    two = {"h": w.histogram("x", 5, (0, 3)), "g": w.histogram("z", 7, (0, 3))}
    assert throw(watch=two).to_xarray()["watched.g"].dims == ("batch", "bin_g")


def test_a_table_of_ends_has_a_row_for_each_trajectory():
    pytest.importorskip("pandas")
    sol = throw("final")
    frame = sol.to_pandas()
    assert same_bits(frame["watched.a.b"].to_numpy(), sol.watched["a.b"])
    assert frame["events.top.count"].tolist() == [1, 1, 0, 1]
    assert frame["stopped_by"].tolist() == sol.stopped_by.tolist()
    assert len(frame) == 4
    assert "watched.e" not in throw(7).to_pandas()


@pytest.mark.parametrize("save", [50, "final"])
@pytest.mark.skipif(os.name == "nt", reason="Windows drops dots at the end of a folder's name")
def test_chunks_of_dask_have_the_same_results(save, tmp_path):
    da = pytest.importorskip("dask.array")
    whole = throw(save)
    options = {"watch": whole._options.watch.watch, "events": whole._options.events.events}
    v = da.from_array(START[1], chunks=(2, 3))
    lazy = pi.dask.integrate(
        pi.systems.projectile, START[0], v, dt=0.01, n_steps=200, save=save, **options
    )
    for name, value in whole.watched.items():
        assert same_bits(np.asarray(lazy.watched[name]), value), name
    for name, one in whole.events.items():
        for part in PARTS:
            assert same_bits(np.asarray(getattr(lazy.events[name], part)), getattr(one, part))
    assert lazy.watched["e"].chunks == ((2, 2),)
    assert "4 trajectories" in repr(lazy.events)
    assert same_bits(lazy.stopped_at.compute(), whole.stopped_at)
    assert lazy.stopped_by.compute().tolist() == whole.stopped_by.tolist()
    zarr = pytest.importorskip("zarr")
    lazy.to_zarr(tmp_path / "a")
    group = zarr.open_group(tmp_path / "a", mode="r")
    assert same_bits(group["watched.h"][...], whole.watched["h"])
    assert same_bits(group["events.top.count"][...], whole.events["top"].count)
