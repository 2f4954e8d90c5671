"""Named arrays and a header in one file: .npz without pickle, or .zarr; whole or not at all.

A file is written beside its place under another name, brought to the disk, and then renamed: a
crash leaves the old file. Nothing that is read is executed, and sizes are checked against the file
before memory is taken for them.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Callable
from math import prod
from typing import NamedTuple

import numpy as np

BLOCK_BYTES = 16 << 20  # written at once
_KINDS = "iufb"
_HEADER = "header"


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
    folder, name = os.path.split(os.path.abspath(path))
    beside = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    try:
        if kind == "npz":
            if os.path.isdir(path):
                raise IsADirectoryError(f"{path} is a folder, not an .npz file")
            _write_npz(beside, header, arrays)
            os.replace(beside, path)
        else:
            if os.path.lexists(path) and not _is_ours(path):
                raise FileExistsError(f"{path} is there and holds no solution: remove it first")
            _write_zarr(beside, header, arrays)
            _replace_folder(beside, path)
        _to_disk(folder)
    finally:
        if os.path.isdir(beside):
            shutil.rmtree(beside, ignore_errors=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.remove(beside)


def read(path):
    """The header and the arrays of a file.

    Raises
    ------
    ValueError
        The file is damaged, or is something else.
    """
    path, kind = _suffix(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no {path}")
    try:
        return _read_npz(path) if kind == "npz" else _read_zarr(path)
    except (ImportError, PermissionError, MemoryError):
        raise
    except Exception as error:  # whatever a damaged file does to the readers of its format
        raise ValueError(
            f"{path} is damaged, or no solution: {type(error).__name__}: {error}"
        ) from error


def _to_disk(path):
    """What was written to a file or a folder is on the disk, not only in the system's memory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ---- npz -----------------------------------------------------------------------------------------


def _write_npz(path, header, arrays):
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, array in {_HEADER: np.array(json.dumps(header)), **arrays}.items():
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


def _read_npz(path):
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError("it is compressed")
            with archive.open(info) as entry:
                arrays[info.filename.removesuffix(".npy")] = _read_npy(entry, info.file_size)
    return json.loads(str(arrays.pop(_HEADER))), arrays


def _read_npy(entry, size):
    """One array of `size` bytes with its description; no more memory than the file has bytes."""
    version = np.lib.format.read_magic(entry)
    if version != (1, 0):
        raise ValueError(f"it has arrays of version {version}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(entry)
    if dtype.kind not in _KINDS + "U" or dtype.hasobject or fortran:
        raise ValueError(f"it has an array of {dtype}")
    if prod(shape) * dtype.itemsize != size - entry.tell():
        raise ValueError(f"an array of shape {shape} has {size - entry.tell()} bytes")
    array = np.empty(shape, dtype)
    if array.nbytes:
        view = memoryview(array.reshape(-1).view(np.uint8).data)
        done = 0
        while done < len(view):
            count = entry.readinto(view[done : done + BLOCK_BYTES])
            if not count:
                raise EOFError("it ends too soon")
            done += count
    if entry.read(1):  # reads to the end, where the checksum is compared
        raise ValueError("an array is followed by something")
    return array


# ---- zarr ----------------------------------------------------------------------------------------


def _zarr():
    try:
        import zarr
    except ImportError as missing:
        raise ImportError(
            ".zarr needs the package zarr, which is not installed: pip install pyintegrate[io]"
        ) from missing
    return zarr


def _is_ours(path):
    try:
        with open(os.path.join(path, "zarr.json")) as file:
            return _HEADER in json.load(file)["attributes"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _chunks(shape, items):
    """Chunks of at most so many items, whole along the last axes."""
    chunks = []
    for n in reversed(shape):
        chunks.append(max(1, min(n, items)))
        items = max(1, items // chunks[-1])
    return tuple(reversed(chunks))


def _write_zarr(path, header, arrays):
    zarr = _zarr()
    with zarr.config.set({"array.write_empty_chunks": True}):
        group = zarr.create_group(store=path, zarr_format=3, attributes={_HEADER: header})
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
            _to_disk(os.path.join(folder, file))
        _to_disk(folder)


def _read_zarr(path):
    zarr = _zarr()
    group = zarr.open_group(store=path, mode="r", zarr_format=3)
    arrays = {}
    for name, array in group.arrays():
        if array.dtype.kind not in _KINDS:
            raise ValueError(f"it has an array of {array.dtype}")
        if prod(array.shape) and array.nchunks_initialized != array.nchunks:
            raise ValueError(f"parts of {name} are missing")
        arrays[name] = np.asarray(array[...])
    return dict(group.attrs[_HEADER]), arrays


def _replace_folder(new, old):
    """Put a folder in the place of another: at once where the system can exchange two."""
    if not os.path.lexists(old):
        os.rename(new, old)
        return
    if _exchange(new, old):
        return  # what was the old folder is removed with the temporary name
    aside = f"{new}.old"
    os.rename(old, aside)
    try:
        os.rename(new, old)
    except BaseException:
        os.rename(aside, old)
        raise
    shutil.rmtree(aside)


def _exchange(a, b):
    """renameat2(a, b, RENAME_EXCHANGE) of Linux; False where there is none."""
    import ctypes

    current_folder, exchange = -100, 2
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    return call(current_folder, os.fsencode(a), current_folder, os.fsencode(b), exchange) == 0
