"""Named arrays and a header in one file: .npz without pickle, or .zarr; whole or not at all.

A file is written under a temporary name beside its target, flushed to disk, and then renamed: a
crash leaves the old file. A .zarr replaces only what was written here before.

An array is read only when it is requested, and its shape is checked before. What an array of an
.npz says of itself is compared with the bytes that it has; the metadata and the chunks
of a .zarr are checked before the package zarr opens them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
import zipfile
from collections.abc import Mapping
from math import prod
from typing import NamedTuple

import numpy as np

from ..values.disk import to_disk
from ..values.lazily import optional
from ..values.types import Callable

FORMAT, HEADER, ARRAYS = "pyintegrate solution", "header", "arrays"
BLOCK_BYTES = 16 << 20  # read or written at once
_MOST_HEADER = 1 << 25  # characters
_NPY = re.compile(
    rb"\{'descr': '([<>|=][iufbU][0-9]{1,9})', 'fortran_order': False,"
    rb" 'shape': \(((?:[0-9]{1,19}, ?)*[0-9]{0,19}),?\), \} *\n"
)
_NAME = re.compile(r"[^/\\\0.][^/\\\0]{0,199}")


class Refused(ValueError):
    """A field does not fit; the message begins with its name."""


class Mismatch(Exception):
    """The file is intact, but what it needs is not available here."""


def refuse(field, words):
    raise Refused(f"{field}: {words}")


def made(field, make, *arguments):
    """What is made of a part of a file; any error in it is one ValueError that begins with `field`.

    A wrong value may raise anything in constructors, a damaged file in the readers of its format.
    """
    try:
        return make(*arguments)
    except (Mismatch, Refused, MemoryError, ImportError, PermissionError):
        raise
    except RecursionError:
        return refuse(field, "it is nested without end")
    except Exception as error:
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise ValueError(f"{field}: {kind}{str(error):.800}") from error


class StoredArrays(Mapping):
    """Name to array; ``about(name)`` is its shape and dtype, without reading it."""

    def __init__(self, about, get):
        self._about, self._get = about, get

    def about(self, name):
        """(shape, dtype), without reading the array."""
        if name not in self._about:
            raise ValueError(f"{name}: the file has no such array")
        return self._about[name][:2]

    def __getitem__(self, name):
        self.about(name)
        return made(name, self._get, *self._about[name])

    def __contains__(self, name):
        return name in self._about

    def __iter__(self):
        return iter(self._about)

    def __len__(self):
        return len(self._about)


class Blocks(NamedTuple):
    """An array that is written part by part along its first axis; ``part(a, b)`` gives a part."""

    shape: tuple[int, ...]
    dtype: np.dtype
    part: Callable[[int, int], np.ndarray]

    def __iter__(self):
        step = max(1, BLOCK_BYTES // max(1, prod(self.shape[1:]) * self.dtype.itemsize))
        for a in range(0, self.shape[0], step):
            b = min(a + step, self.shape[0])
            yield slice(a, b), np.ascontiguousarray(self.part(a, b))


def _suffix(path):
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"path must be a str or a path, got {type(path).__name__}")
    path = os.fspath(path).rstrip("/")
    kind = path.rpartition(".")[2]
    if kind not in ("npz", "zarr"):
        raise ValueError(
            f"path must end in .npz or .zarr, got {path!r}; a table for others is"
            " sol.to_pandas().to_csv(path)"
        )
    return path, kind


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
    reader = _read_npz if kind == "npz" else _read_zarr
    return made(f"{path} is damaged, or no solution", reader, path)


def _parsed(text, what):
    """A JSON object."""
    if len(text) > _MOST_HEADER:
        raise ValueError(f"{what}: {len(text)} characters, at most {_MOST_HEADER}")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what}: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{what}: {type(value).__name__}, expected an object")
    return value


def _regular(path, most):
    """The content of a regular file, not a link or pipe, of at most `most` bytes."""
    about = os.lstat(path)
    if not stat.S_ISREG(about.st_mode):
        raise ValueError(f"{os.path.basename(path)} is no regular file")
    if about.st_size > most:
        raise ValueError(f"{os.path.basename(path)} has {about.st_size} bytes, at most {most}")
    with open(path, "rb") as file:
        return file.read(about.st_size)


# ---- npz -----------------------------------------------------------------------------------------


def _write_npz(path, header, arrays):
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, array in {HEADER: np.array(json.dumps(header)), **arrays}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    if not isinstance(array, Blocks):
                        array = np.asarray(array, order="C")
                        np.lib.format.write_array(entry, array, allow_pickle=False)
                        continue
                    description = {
                        "descr": np.lib.format.dtype_to_descr(array.dtype),
                        "fortran_order": False,
                        "shape": array.shape,
                    }
                    np.lib.format.write_array_header_1_0(entry, description)
                    for _, block in array:
                        entry.write(block)
        file.flush()
        os.fsync(file.fileno())


def _read_npz(path):
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is no regular file")
    about = {}
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > os.path.getsize(path):
            raise ValueError("its entries are compressed, or overlap")
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            if entry.compress_type or entry.file_size != entry.compress_size:
                raise ValueError(f"{name!r}: the entry is compressed")
            if name in about or not _NAME.fullmatch(name):
                raise ValueError(f"{name!r}: the entry has a bad name, or occurs twice")
            with archive.open(entry) as file:
                about[name] = *made(name, _described, file, entry.file_size), entry

    def get(shape, dtype, entry):
        # NumPy's own reader compiles the description.
        array = np.empty(shape, dtype)
        view = memoryview(array.reshape(-1).view(np.uint8).data if array.nbytes else bytearray())
        with zipfile.ZipFile(path) as archive, archive.open(entry) as file:
            file.read(entry.file_size - len(view))  # the description
            for a in range(0, len(view), BLOCK_BYTES):
                part = view[a : a + BLOCK_BYTES]
                part[:] = file.read(len(part))  # the last one checks the sum of all
        return array

    if HEADER not in about:
        raise ValueError("header: the file has no such array")
    shape, dtype = about[HEADER][:2]
    if shape != () or dtype.kind != "U" or dtype.itemsize > 4 * _MOST_HEADER:
        raise ValueError(f"header: an array of {dtype} of shape {shape}, expected one text")
    return _parsed(str(get(*about.pop(HEADER))), "header"), StoredArrays(about, get)


def _described(file, size):
    """(shape, dtype) of an array that has `size` bytes with its description."""
    head = file.read(10)
    if head[:8] != b"\x93NUMPY\1\0":
        raise ValueError("it is no array of NumPy's version 1.0")
    text = file.read(int.from_bytes(head[8:], "little"))
    match = _NPY.fullmatch(text)
    if match is None:
        words = text[:200].decode("latin-1")
        kind = "an array of objects" if "'|O'" in words else "described as " + repr(words)
        raise ValueError(f"it is {kind}, which is not read")
    shape = tuple(int(n) for n in match[2].replace(b" ", b"").split(b",") if n)
    dtype, rest = np.dtype(match[1].decode()), size - 10 - len(text)
    if prod(shape) * dtype.itemsize != rest:
        raise ValueError(f"an array of shape {shape} has {rest} bytes")
    return shape, dtype


# ---- zarr ----------------------------------------------------------------------------------------


def _check_ours(path):
    """Refuse a folder that holds anything that was not written here."""
    if not os.path.lexists(path):
        return
    if _written(path)[0].get("format") != FORMAT:
        raise FileExistsError(f"{path} is there and holds no solution: remove it first")
    foreign = [name for name, mine in _inside(path) if not mine]
    if foreign:
        raise FileExistsError(
            f"{path} holds files that do not belong to the solution in it ({', '.join(foreign[:3])}"
            f"{', ...' if len(foreign) > 3 else ''}): move them elsewhere, or save under another"
            " name"
        )


def _written(path):
    """The header and the names of the arrays in a folder; none where it is no whole solution."""
    try:
        return _group(path)
    except (OSError, ValueError):
        return {}, []


def _inside(path):
    """Everything in a folder, the deepest first, each as (name, whether it was written here)."""
    arrays = "|".join(map(re.escape, _written(path)[1])) or "(?!)"
    form = re.compile(rf"zarr\.json|({arrays})(/zarr\.json|/c(/[0-9]+)*)?")
    for folder, folders, files in os.walk(path, topdown=False):
        for name in files + folders:
            whole = os.path.join(folder, name)
            inside = os.path.relpath(whole, path).replace(os.sep, "/")
            yield inside, bool(form.fullmatch(inside)) and not os.path.islink(whole)


def _remove(path):
    """Remove a replaced folder; files that have been added to it and are not ours stay."""
    for name, mine in [*_inside(path), ("", True)]:
        with contextlib.suppress(OSError):
            whole = os.path.join(path, name)
            if mine:
                (os.rmdir if os.path.isdir(whole) else os.remove)(whole)


def _chunks(shape, dtype):
    """Chunks of at most a block, complete along the last axes."""
    items, chunks = BLOCK_BYTES // np.dtype(dtype).itemsize, []
    for n in reversed(shape):
        chunks.append(max(1, min(n, items)))
        items = max(1, items // chunks[-1])
    return chunks[::-1]


def _write_zarr(path, header, arrays):
    zarr = optional("zarr", ".zarr")
    with zarr.config.set({"array.write_empty_chunks": True}):
        # As text, since versions of zarr store infinity differently.
        attributes = {HEADER: json.dumps(header), ARRAYS: list(arrays)}
        group = zarr.create_group(store=path, zarr_format=3, attributes=attributes)
        for name, array in arrays.items():
            to = group.create_array(
                name,
                shape=array.shape,
                dtype=array.dtype,
                chunks=_chunks(array.shape, array.dtype),
                compressors=[zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec()],
            )
            for place, block in array if isinstance(array, Blocks) else [(..., array)]:
                to[place] = block
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


def _group(path):
    """The header of a .zarr and the names of its arrays: attributes of its group."""
    group = _parsed(_regular(os.path.join(path, "zarr.json"), _MOST_HEADER), "zarr.json")
    attributes = group.get("attributes")
    if not isinstance(attributes, dict) or not isinstance(attributes.get(HEADER), str):
        raise ValueError(
            "header: the folder has no header, as those of DaskSolution.to_zarr, which"
            " dask.array.from_zarr(path, 'y') reads"
        )
    if group.get("zarr_format") != 3 or group.get("node_type") != "group":
        raise ValueError("zarr.json: it is no group of zarr's format 3")
    names = attributes.get(ARRAYS)
    if not isinstance(names, list) or not all(
        isinstance(name, str) and _NAME.fullmatch(name) for name in names
    ):
        raise ValueError("arrays: the folder does not name its arrays")
    return _parsed(attributes[HEADER], "header"), names


def _read_zarr(path):
    zarr = optional("zarr", ".zarr")
    header, names = _group(path)

    def get(shape, dtype, folder):
        if not prod(shape):
            return np.empty(shape, dtype)
        chunks = _chunks(shape, dtype)
        grid = (-(-n // chunk) for n, chunk in zip(shape, chunks, strict=True))
        for index in np.ndindex(*grid):
            place = os.path.join(folder, "c", *map(str, index))
            _check_chunk(place, prod(chunks) * dtype.itemsize)
        array = np.asarray(zarr.open_array(store=folder, mode="r", zarr_format=3)[...])
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(f"{array.dtype} of shape {array.shape}, expected {dtype} {shape}")
        return array

    folders = {name: os.path.join(path, name) for name in names}
    about = {
        name: (*made(name, _metadata, folder), folder)
        for name, folder in folders.items()
        if os.path.isdir(folder)
    }
    return header, StoredArrays(about, get)


_TYPES = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)")


def _metadata(folder):
    """(shape, dtype) of an array in the format written here, and in no other."""
    if os.path.islink(folder):
        raise ValueError("it is a link")
    metadata = _parsed(_regular(os.path.join(folder, "zarr.json"), 1 << 16), "zarr.json")
    try:
        shape, kind = metadata["shape"], metadata["data_type"]
        plain = (
            (metadata["zarr_format"], metadata["node_type"]) == (3, "array")
            and len(shape) <= 33
            and all(type(n) is int and 0 <= n < 1 << 62 for n in shape)
            and _TYPES.fullmatch(kind)
            and metadata["chunk_grid"]["name"] == "regular"
            and metadata["chunk_grid"]["configuration"] == {"chunk_shape": _chunks(shape, kind)}
            and metadata["chunk_key_encoding"]
            == {"name": "default", "configuration": {"separator": "/"}}
            and [codec["name"] for codec in metadata["codecs"]] == ["bytes", "zstd", "crc32c"]
            and metadata["codecs"][0].get("configuration", {}).get("endian", "little") == "little"
            and not metadata.get("storage_transformers")
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"zarr.json lacks {error}") from None
    if not plain:
        raise ValueError("zarr.json describes an array that pyintegrate does not write")
    return tuple(shape), np.dtype(kind)


def _check_chunk(path, size):
    """A chunk must hold one Zstandard frame (RFC 8878, 3.1.1.1) that states the expected size."""
    try:
        content = _regular(path, 2 * size + (1 << 16))
    except OSError:
        raise ValueError("parts of it are missing") from None
    width = 0
    if content[:4] == b"\x28\xb5\x2f\xfd" and len(content) > 12:
        about = content[4]
        single = about >> 5 & 1
        width = (1, 2, 4, 8)[about >> 6] if about >> 6 or single else 0
        at = 5 + (not single) + (0, 1, 2, 4)[about & 3]
        stated = int.from_bytes(content[at : at + width], "little") + (256 if width == 2 else 0)
    if not width or stated != size:
        raise ValueError("one of its chunks has the wrong size")
