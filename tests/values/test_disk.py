"""Files and folders are flushed; on Windows as it allows: no folders, and files for writing."""

import os

import pytest

from pyintegrate.values.disk import to_disk


@pytest.mark.parametrize(("system", "expected"), [
    ("posix", [("a", os.O_RDONLY), ("folder", os.O_RDONLY)]), ("nt", [("a", os.O_RDWR)]),
])  # fmt: skip
def test_what_is_flushed_and_how(system, expected, tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "folder").mkdir()
    paths, opened, flushed, open_ = [f"{tmp_path}/a", f"{tmp_path}/folder"], [], [], os.open

    def spied(path, flags):
        opened.append((os.path.basename(path), flags))
        return open_(os.devnull, os.O_RDONLY)  # Windows opens no folder

    with monkeypatch.context() as patch:
        patch.setattr(os, "name", system)
        patch.setattr(os, "open", spied)
        patch.setattr(os, "fsync", flushed.append)
        for path in paths:
            to_disk(path)
    assert opened == expected
    assert len(flushed) == len(expected)
