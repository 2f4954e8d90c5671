"""Named arrays and a header in one file: .npz without pickle, or .zarr; whole or not at all.

A file is written under a temporary name beside its target, flushed to disk, and then renamed: a
crash leaves the old file. A .zarr replaces only what was written here before. How arrays are read
is in stored_arrays.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import zipfile
from collections.abc import Callable
from math import prod
from typing import NamedTuple

import numpy as np

from ..values.disk import to_disk
from .stored_arrays import BLOCK_BYTES, HEADER, read_npz, read_zarr, zarr_header, zarr_package
from .stored_fields import FORMAT, array_names


class Blocks(NamedTuple):
    """An array that is written part by part along its first axis; ``part(a, b)`` gives a part."""

    shape: tuple[int, ...]
    dtype: np.dtype
    part: Callable[[int, int], np.ndarray]

    def __iter__(self):
        step = max(1, BLOCK_BYTES // max(1, prod(self.shape[1:]) * self.dtype.itemsize))
        for a in range(0, self.shape[0], step):
            yield a, np.ascontiguousarray(self.part(a, min(a + step, self.shape[0])))


def _blocks(array):
    if isinstance(array, Blocks):
        return array
    array = np.asarray(array)
    if array.ndim == 0:
        return Blocks((), array.dtype, lambda a, b: array)
    return Blocks(array.shape, array.dtype, lambda a, b: array[a:b])


def _suffix(path):
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"path must be a str or a path, got {type(path).__name__}")
    path = os.fspath(path)
    for kind in ("npz", "zarr"):
        if path.rstrip("/").endswith(f".{kind}"):
            return path.rstrip("/"), kind
    raise ValueError(f"path must end in .npz or .zarr, got {path!r}")


def write(path, header, arrays):
    """Write a header (JSON) and named arrays; the file is replaced whole.

    Parameters
    ----------
    path : str or path
        Ends in .npz or .zarr.
    header : dict
    arrays : dict
        Name to array, or to `Blocks`.
    """
    path, kind = _suffix(path)
    if kind == "zarr" and os.path.exists(path):
        path = os.path.realpath(path)  # a link stays a link
    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder}, to hold {name}: make it first")
    beside = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    try:
        if kind == "npz":
            if os.path.isdir(path):
                raise IsADirectoryError(f"{path} is a folder, not an .npz file")
            _write_npz(beside, header, arrays)
            os.replace(beside, path)
        else:
            _check_ours(path)
            _write_zarr(beside, header, arrays)
            _replace_folder(beside, path)
        to_disk(folder)
    finally:
        if os.path.isdir(beside):
            _remove(beside)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.remove(beside)


def read(path):
    """The header of a file, and its arrays, each of which is read when it is requested.

    Returns
    -------
    dict, StoredArrays

    Raises
    ------
    ValueError
        The file is damaged, or is not a solution.
    """
    path, kind = _suffix(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no {path}")
    try:
        return read_npz(path) if kind == "npz" else read_zarr(path, array_names)
    except (ImportError, PermissionError, MemoryError):
        raise
    except Exception as error:  # a damaged file may raise anything in the readers of its format
        name = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise ValueError(f"{path} is damaged, or no solution: {name}{str(error):.800}") from error


# ---- npz -----------------------------------------------------------------------------------------


def _write_npz(path, header, arrays):
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, array in {HEADER: np.array(json.dumps(header)), **arrays}.items():
                blocks = _blocks(array)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    if not blocks.shape:
                        np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
                        continue
                    description = {
                        "descr": np.lib.format.dtype_to_descr(blocks.dtype),
                        "fortran_order": False,
                        "shape": blocks.shape,
                    }
                    np.lib.format.write_array_header_1_0(entry, description)
                    for _, block in blocks:
                        entry.write(block.reshape(-1).view(np.uint8))
        file.flush()
        os.fsync(file.fileno())


# ---- zarr ----------------------------------------------------------------------------------------


def _check_ours(path):
    """Refuse a folder that holds anything that was not written here."""
    if not os.path.lexists(path):
        return
    try:
        ours = zarr_header(path).get("format") == FORMAT
    except (OSError, ValueError):
        ours = False
    if not ours:
        raise FileExistsError(f"{path} is there and holds no solution: remove it first")
    foreign = [name for name, mine in _inside(path) if not mine]
    if foreign:
        raise FileExistsError(
            f"{path} holds files that do not belong to the solution in it ({', '.join(foreign[:3])}"
            f"{', ...' if len(foreign) > 3 else ''}): move them elsewhere, or save under another"
            " name"
        )


def _inside(path):
    """Everything in a folder, the deepest first, each as (name, whether it was written here)."""
    try:
        names = array_names(zarr_header(path))
    except (OSError, ValueError):  # partly written
        names = []
    arrays = "|".join(map(re.escape, names)) or "(?!)"
    file = re.compile(rf"zarr\.json|({arrays})/(zarr\.json|c(/[0-9]+)*)")
    folder_names = re.compile(rf"({arrays})(/c(/[0-9]+)*)?")
    for folder, folders, files in os.walk(path, topdown=False):
        for name, form in [(n, file) for n in files] + [(n, folder_names) for n in folders]:
            whole = os.path.join(folder, name)
            inside = os.path.relpath(whole, path).replace(os.sep, "/")
            yield inside, bool(form.fullmatch(inside)) and not os.path.islink(whole)


def _remove(path):
    """Remove a replaced folder; files that have been added to it and are not ours stay."""
    for name, mine in [*_inside(path)]:
        with contextlib.suppress(OSError):
            whole = os.path.join(path, name)
            if mine:
                (os.rmdir if os.path.isdir(whole) else os.remove)(whole)
    with contextlib.suppress(OSError):
        os.rmdir(path)


def _chunks(shape, items):
    """Chunks of at most `items` items, complete along the last axes."""
    chunks = []
    for n in reversed(shape):
        chunks.append(max(1, min(n, items)))
        items = max(1, items // chunks[-1])
    return tuple(reversed(chunks))


def _write_zarr(path, header, arrays):
    zarr = zarr_package()
    with zarr.config.set({"array.write_empty_chunks": True}):
        group = zarr.create_group(store=path, zarr_format=3, attributes={HEADER: header})
        for name, array in arrays.items():
            blocks = _blocks(array)
            to = group.create_array(
                name,
                shape=blocks.shape,
                dtype=blocks.dtype,
                chunks=_chunks(blocks.shape, BLOCK_BYTES // blocks.dtype.itemsize),
                compressors=[zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec()],
            )
            if not blocks.shape:
                to[...] = array
            else:
                for a, block in blocks:
                    to[a : a + len(block)] = block
    for folder, _, files in os.walk(path):
        for file in files:
            to_disk(os.path.join(folder, file))
        to_disk(folder)


def _replace_folder(new, old):
    """Replace a folder by another: atomically if the system can exchange two."""
    if not os.path.lexists(old):
        os.rename(new, old)
        return
    if _exchange(new, old):
        return  # the old folder is removed with the temporary name
    aside = f"{new}.old"
    os.rename(old, aside)
    try:
        os.rename(new, old)
    except BaseException:
        os.rename(aside, old)
        raise
    _remove(aside)


def _exchange(a, b):
    """renameat2(a, b, RENAME_EXCHANGE) on Linux; False elsewhere."""
    import ctypes

    current_folder, exchange = -100, 2
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    return call(current_folder, os.fsencode(a), current_folder, os.fsencode(b), exchange) == 0
