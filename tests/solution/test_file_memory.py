"""A file takes no more memory than its run needs, and saving replaces nothing but a solution."""

import json
import os
import re
import struct
import sys
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from test_storage import run, same

import pyintegrate as pi

MEGABYTE = 1 << 20


def refused(path, words):
    """The error of a file, which must come before any memory is taken."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            pi.load(path)
        assert tracemalloc.get_traced_memory()[1] < 8 * MEGABYTE
    finally:
        tracemalloc.stop()


def test_an_npz_cannot_ask_for_more_memory_than_it_has_bytes(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive, archive.open("header.npy", "w") as entry:
        description = {"descr": "<f8", "fortran_order": False, "shape": (1 << 45,)}
        np.lib.format.write_array_header_1_0(entry, description)
    refused(path, "header: an array of shape .* has 0 bytes")


def overlapping(path, content, names):
    """An archive whose entries share one content."""
    description = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }\n" % len(content)
    entry = b"\x93NUMPY\1\0" + struct.pack("<H", len(description)) + description + content
    about = struct.pack("<3H2H3I", 20, 0, 0, 0, 0, zlib.crc32(entry), len(entry), len(entry))
    with open(path, "wb") as file:
        file.write(b"PK\3\4" + about + struct.pack("<2H", 5, 0) + b"a.npy" + entry)
        start = file.tell()
        for name in names:
            file.write(b"PK\1\2" + struct.pack("<H", 20) + about)
            file.write(struct.pack("<5H2I", len(name), 0, 0, 0, 0, 0, 0) + name.encode())
        size = file.tell() - start
        file.write(b"PK\5\6" + struct.pack("<4H2IH", 0, 0, *[len(names)] * 2, size, start, 0))


def test_entries_that_overlap_are_refused(tmp_path):
    overlapping(tmp_path / "a.npz", bytes(MEGABYTE), ["a.npy"])
    with np.load(tmp_path / "a.npz") as file:  # it is an archive
        assert len(file["a"]) == MEGABYTE
    overlapping(tmp_path / "a.npz", bytes(MEGABYTE), [f"{i:05}.npy" for i in range(2000)])
    refused(tmp_path / "a.npz", "its entries are compressed, or overlap")
    overlapping(tmp_path / "a.npz", bytes(MEGABYTE), ["a.npy"] * 2)
    refused(tmp_path / "a.npz", "is there twice|or overlap")


def test_what_lies_beside_the_arrays_of_a_zarr_is_not_read(tmp_path):
    zarr = pytest.importorskip("zarr")
    sol = run(n_steps=5)
    sol.save(tmp_path / "a.zarr")
    group = zarr.open_group(tmp_path / "a.zarr")
    extra = group.create_array("extra", shape=(1 << 25,), dtype="f8", chunks=(1 << 21,))
    extra[:] = 0  # 256 MiB, and some kilobytes
    tracemalloc.start()
    loaded = pi.load(tmp_path / "a.zarr")
    assert tracemalloc.get_traced_memory()[1] < 8 * MEGABYTE
    tracemalloc.stop()
    assert same(loaded, sol)


def changed(path, **fields):
    """Other metadata of an array of a .zarr."""
    told = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps({**told, **fields}))


def grid(*chunks):
    return {"name": "regular", "configuration": {"chunk_shape": chunks}}


STRANGE = {"name": "zstd", "configuration": {"lvl": 1}}
METADATA = [
    ({"shape": [5, 3, 5], "chunk_grid": grid(5, 3, 5)}, "y: it has the shape"),
    ({"shape": [1 << 44, 3, 5]}, "y: zarr.json describes"),
    ({"shape": [1 << 70, 3, 5]}, "y: zarr.json describes"),
    ({"chunk_grid": grid(1 << 30, 3, 5)}, "y: zarr.json describes"),
    ({"chunk_grid": grid(0, 3, 5)}, "y: zarr.json describes"),
    ({"chunk_grid": grid(6, 3, 6)}, "y: zarr.json describes"),
    ({"chunk_grid": grid(1, 3, 5)}, "y: zarr.json describes"),
    ({"codecs": [{"name": "numcodecs.pickle"}]}, "y: zarr.json describes"),
    ({"codecs": []}, "y: zarr.json"),
    ({"codecs": [{"name": "bytes"}, STRANGE, {"name": "crc32c"}]}, "y: TypeError: .*lvl"),
    ({"data_type": "string"}, "y: zarr.json describes"),
    ({"storage_transformers": [{"name": "x"}]}, "y: zarr.json describes"),
    ({"node_type": "group"}, "y: zarr.json describes"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "words"), METADATA, ids=[str(m[0])[:40] for m in METADATA])
def test_metadata_that_does_not_fit_is_refused(fields, words, tmp_path):
    pytest.importorskip("zarr")
    run(n_steps=5).save(tmp_path / "a.zarr")
    changed(tmp_path / "a.zarr" / "y", **fields)
    refused(tmp_path / "a.zarr", words)


def test_a_chunk_that_says_it_is_large_is_refused(tmp_path):
    zarr = pytest.importorskip("zarr")
    run(n_steps=5).save(tmp_path / "a.zarr")
    large = zarr.create_array(
        store=tmp_path / "large.zarr", shape=(1 << 24,), dtype="u1", chunks=(1 << 24,),
        compressors=[zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec()],
    )  # fmt: skip
    large[:] = 1
    os.replace(tmp_path / "large.zarr" / "c" / "0", tmp_path / "a.zarr" / "y" / "c" / "0/0/0")
    refused(tmp_path / "a.zarr", "y: one of its chunks has the wrong size")


def test_pipes_and_links_inside_are_refused(tmp_path):
    pytest.importorskip("zarr")
    for place in ("y/c/0/0/0", "y/zarr.json", "zarr.json"):
        run(n_steps=5).save(tmp_path / "a.zarr")
        part = tmp_path / "a.zarr" / place
        part.unlink()
        os.mkfifo(part)
        refused(tmp_path / "a.zarr", "is no regular file")
        part.unlink()
        part.symlink_to("/dev/zero")
        refused(tmp_path / "a.zarr", "is no regular file")
        part.unlink()
        (tmp_path / "a.zarr").rename(tmp_path / f"away{place.count('/')}{len(place)}")
    os.mkfifo(tmp_path / "a.npz")
    refused(tmp_path / "a.npz", "no regular file")


def test_an_interrupted_run_that_wanted_much_takes_little(tmp_path):
    from pyintegrate.solution import files

    sol = run(n_steps=40)
    sol.save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    files.write(tmp_path / "b.npz", {**header, "n_steps": 2**53}, arrays)
    loaded = pi.load(tmp_path / "b.npz")
    assert loaded.y.tobytes() == sol.y.tobytes()
    assert loaded.steps.tolist() == sol.steps.tolist()
    assert same(loaded.resume(n_steps=4), sol.resume(n_steps=4))


# ---- saving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["thesis.txt", "y/notes.txt", "y/c/0/.hidden", "mine/zarr.json"])
def test_saving_over_a_solution_with_foreign_files_is_refused(name, tmp_path):
    pytest.importorskip("zarr")
    path, old = tmp_path / "a.zarr", run(n_steps=3)
    old.save(path)
    foreign = path / name
    foreign.parent.mkdir(exist_ok=True, parents=True)
    foreign.write_text("years of work")
    with pytest.raises(FileExistsError, match=re.escape(name.split("/zarr")[0])):
        run(n_steps=4).save(path)
    assert foreign.read_text() == "years of work"
    assert same(pi.load(path), old)
    assert os.listdir(tmp_path) == ["a.zarr"]
    foreign.unlink()
    if name.startswith("mine"):
        foreign.parent.rmdir()
    run(n_steps=4).save(path)
    assert len(pi.load(path)) == 5


def test_what_comes_into_a_folder_while_it_is_replaced_is_kept(tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    from pyintegrate.solution import files

    run(n_steps=3).save(tmp_path / "a.zarr")
    replace = files._replace_folder

    def late(new, old):
        (tmp_path / "a.zarr" / "late.txt").write_text("just now")
        replace(new, old)

    monkeypatch.setattr(files, "_replace_folder", late)
    run(n_steps=4).save(tmp_path / "a.zarr")
    assert len(pi.load(tmp_path / "a.zarr")) == 5
    assert [p.read_text() for p in tmp_path.rglob("late.txt")] == ["just now"]
    assert not list(tmp_path.glob(".*/*/c"))  # and what was ours is gone


def test_a_linked_folder_stays_a_link(tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "far").mkdir()
    run(n_steps=3).save(tmp_path / "far" / "a.zarr")
    (tmp_path / "b.zarr").symlink_to(tmp_path / "far" / "a.zarr")
    new = run(n_steps=4)
    new.save(tmp_path / "b.zarr")
    assert (tmp_path / "b.zarr").is_symlink()
    assert same(pi.load(tmp_path / "far" / "a.zarr"), new)
    assert os.listdir(tmp_path / "far") == ["a.zarr"]
    assert sorted(os.listdir(tmp_path)) == ["b.zarr", "far"]


@pytest.mark.parametrize("kind", ["npz", "zarr"])
def test_a_missing_folder_is_named(kind, tmp_path):
    if kind == "zarr":
        pytest.importorskip("zarr")
    with pytest.raises(FileNotFoundError) as caught:
        run().save(tmp_path / "nowhere" / f"a.{kind}")
    assert f"there is no folder {tmp_path / 'nowhere'}, to hold a.{kind}" in str(caught.value)
    assert ".tmp" not in str(caught.value)
    assert not os.listdir(tmp_path)


def test_a_compiled_system_is_saved_as_its_byte_code(tmp_path, monkeypatch):
    system = pi.acceleration(k=15.0)(lambda t, x, v, k: -k * x)
    sol = pi.integrate(system.compile(), 1.0, 0.0, dt=0.1, n_steps=5)
    sol.save(tmp_path / "a.npz")
    monkeypatch.setitem(sys.modules, "pyintegrate.trace.compiler", None)
    loaded = pi.load(tmp_path / "a.npz")
    assert not loaded.system.compiled
    assert loaded.resume(n_steps=5).y.tobytes() == sol.resume(n_steps=5).y.tobytes()
