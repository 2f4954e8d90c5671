"""A damaged or foreign file is a ValueError that says so, and never a wrong solution."""

import re
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_storage import run, same

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


HEADERS = [
    ({"format": "another"}, "holds no solution of pyintegrate"),
    ({"version": 99, "written_by": "pyintegrate 77"}, "pyintegrate 77, format 99.*upgrade"),
    ({"version": "1"}, "upgrade"),
    ({"batch": [6]}, "damaged"),
    ({"batch": [10**9, 10**9]}, "damaged"),
    ({"dtype": "float32"}, "do not fit"),
    ({"dtype": "object"}, "damaged"),
    ({"completed": 10**6}, "completed"),
    ({"n_steps": -1}, "damaged"),
    ({"first": -1}, "completed"),
    ({"components": ["x", "y"]}, "y do not fit"),
    ({"components": ["x", "y", "w"]}, "components"),
    ({"save": "sometimes"}, "damaged"),
    ({"method": {"make": "system", "args": ["spring", {"dict": {}}]}}, "method is none"),
    ({"method": {"make": "os.system", "args": ["true"]}}, "damaged"),
    ({"system": {"made_by": {"make": "method", "args": ["rk4"]}, "name": "x"}}, "system is none"),
    ({"bound": "much"}, "damaged"),
]


@pytest.mark.parametrize(("change", "words"), HEADERS, ids=[str(row[0])[:40] for row in HEADERS])
def test_a_header_that_does_not_fit_is_an_error(change, words, tmp_path):
    run().save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    files.write(tmp_path / "a.npz", {**header, **change}, arrays)
    with pytest.raises(ValueError, match=words):
        pi.load(tmp_path / "a.npz")


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


def test_a_file_cannot_ask_for_more_memory_than_it_has_bytes(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive, archive.open("header.npy", "w") as entry:
        description = {"descr": "<f8", "fortran_order": False, "shape": (1 << 45,)}
        np.lib.format.write_array_header_1_0(entry, description)
    with pytest.raises(ValueError, match="has 0 bytes"):
        pi.load(path)
