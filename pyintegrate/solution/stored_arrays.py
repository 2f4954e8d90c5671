"""Arrays of a file, read one by one: their shapes are known, and can be refused, before reading.

Only requested names are looked at. An .npz is parsed here: every byte of the archive
belongs to one array or to its table of contents, so that no parts can overlap. The
metadata and the chunks of a .zarr are checked before the package zarr opens them.
"""

from __future__ import annotations

import json
import os
import re
import stat
import struct
import zlib
from collections.abc import Mapping
from math import prod

import numpy as np

BLOCK_BYTES = 16 << 20  # read or written at once
MOST_HEADER = 1 << 25  # characters
HEADER = "header"
_MOST_CONTENTS = 1 << 23  # bytes in an archive's table of contents
_NPY = re.compile(
    rb"\{'descr': '([<>|=])([iufbU])([0-9]{1,9})', 'fortran_order': False,"
    rb" 'shape': \(((?:[0-9]{1,19}, ?)*[0-9]{0,19}),?\), \} *\n"
)
_NAME = re.compile(r"[^/\\\0.][^/\\\0]{0,199}")


class StoredArrays(Mapping):
    """Name to array; ``about(name)`` is its shape and dtype, without reading it."""

    def __init__(self, names, about, get):
        self._names, self._about, self._get = tuple(names), about, get

    def about(self, name):
        """(shape, dtype), without reading the array."""
        if name not in self._names:
            raise ValueError(f"{name}: the file has no such array")
        return self._about(name)

    def __getitem__(self, name):
        self.about(name)
        try:
            return self._get(name)
        except (ValueError, MemoryError, ImportError, PermissionError):
            raise
        except Exception as error:  # a damaged array may raise anything in the package zarr
            raise ValueError(f"{name}: {type(error).__name__}: {error}") from error

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)


def _parsed(text, what):
    """A JSON object."""
    if len(text) > MOST_HEADER:
        raise ValueError(f"{what}: {len(text)} characters, at most {MOST_HEADER}")
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(f"{what}: lists in lists without end") from None
    except ValueError as error:
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


def read_npz(path):
    """The header and the arrays of an archive.

    Returns
    -------
    dict, StoredArrays
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is no regular file")
    with open(path, "rb") as file:
        places = _contents(file)
        about = {name: _describe(file, name, *place) for name, place in places.items()}
        if HEADER not in about:
            raise ValueError("header: the file has no such array")
        shape, dtype = about[HEADER][:2]
        if shape != () or dtype.kind != "U" or dtype.itemsize > 4 * MOST_HEADER:
            raise ValueError(f"header: an array of {dtype} of shape {shape}, expected one text")
        header = _parsed(str(_array(file, HEADER, *about[HEADER])), "header")

    def get(name):
        with open(path, "rb") as file:
            return _array(file, name, *about[name])

    names = [name for name in about if name != HEADER]
    return header, StoredArrays(names, lambda name: about[name][:2], get)


def _contents(file):
    """Name to (first byte, bytes, checksum) of the entries; they fill the archive."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - 98, 0))
    tail = file.read(98)
    if len(tail) < 22 or tail[-22:-18] != b"PK\5\6" or tail[-2:] != b"\0\0":
        raise ValueError("it ends too soon, or is no archive")
    count, size, start = struct.unpack("<HII", tail[-12:-2])
    last = end - 22
    if tail[-42:-38] == b"PK\6\7":  # larger than 4 GiB: the numbers are in a record before
        if len(tail) < 98 or tail[:4] != b"PK\6\6":
            raise ValueError("its table of contents is torn")
        count, size, start = struct.unpack("<QQQ", tail[32:56])
        last = end - 98
    if size > _MOST_CONTENTS or start + size != last or 46 * count > size:
        raise ValueError("its table of contents does not fit it")
    file.seek(start)
    table, at, position, places = file.read(size), 0, 0, {}
    for _ in range(count):
        fields = struct.unpack_from("<4s6H3I5H2I", table, at)
        flags, method = fields[3:5]
        check, packed, length, n_name, n_extra, n_comment = fields[7:13]
        offset = fields[16]
        if fields[0] != b"PK\1\2" or at + 46 + n_name + n_extra + n_comment > size:
            raise ValueError("its table of contents is torn")
        name = table[at + 46 : at + 46 + n_name].decode("utf-8" if flags & 0x800 else "ascii")
        if method or flags & ~0x806 or name in places or not _NAME.fullmatch(name):
            how = "compressed" if method else "there twice" if name in places else "strange"
            raise ValueError(f"{name!r}: the entry is {how}")
        extra = table[at + 46 + n_name : at + 46 + n_name + n_extra]
        length, packed, offset = _large(name, extra, length, packed, offset)
        at += 46 + n_name + n_extra + n_comment
        file.seek(offset)
        local = file.read(30)
        if offset != position or len(local) < 30 or local[:4] != b"PK\3\4" or packed != length:
            raise ValueError(f"{name!r}: the entry is not where it should be")
        n_local, n_more = struct.unpack("<HH", local[26:30])
        if file.read(n_local) != table[at - n_comment - n_extra - n_name :][:n_name]:
            raise ValueError(f"{name!r}: the entry has another name")
        first = offset + 30 + n_local + n_more
        position = first + length
        places[name] = first, length, check
    if at != size or position != start:
        raise ValueError("its entries do not fill it")
    return {name.removesuffix(".npy"): place for name, place in places.items()}


def _large(name, extra, *numbers):
    """Length, packed length and offset; those that do not fit 32 bits are in the extra field 1."""
    at, wide = 0, b""
    while at + 4 <= len(extra):
        tag, size = struct.unpack_from("<HH", extra, at)
        if tag == 1:
            wide = extra[at + 4 : at + 4 + size]
        at += 4 + size
    out = []
    for number in numbers:
        if number == 0xFFFFFFFF:
            if len(wide) < 8:
                raise ValueError(f"{name!r}: the entry has no length")
            number, wide = int.from_bytes(wide[:8], "little"), wide[8:]
        out.append(number)
    return out


def _describe(file, name, first, length, check):
    """(shape, dtype, first byte of the entry, bytes of its description, bytes, checksum)."""
    file.seek(first)
    head = file.read(min(length, 10))
    if head[:8] != b"\x93NUMPY\1\0" or len(head) < 10:
        raise ValueError(f"{name}: it is no array of NumPy's version 1.0")
    (size,) = struct.unpack("<H", head[8:])
    text = file.read(min(size, length - 10))
    told = _NPY.fullmatch(text)
    if told is None:
        words = text[:200].decode("latin-1")
        kind = "an array of objects" if "'|O'" in words else "described as " + repr(words)
        raise ValueError(f"{name}: it is {kind}, which is not read")
    shape = tuple(int(n) for n in told[4].replace(b" ", b"").split(b",") if n)
    dtype = np.dtype((told[1] + told[2] + told[3]).decode())
    if prod(shape) * dtype.itemsize != length - 10 - size:
        raise ValueError(f"{name}: an array of shape {shape} has {length - 10 - size} bytes")
    return shape, dtype, first, 10 + size, length, check


def _array(file, name, shape, dtype, first, skip, length, check):
    """An array whose bytes are known to be in the file; its checksum is compared."""
    file.seek(first)
    found = zlib.crc32(file.read(skip))
    array = np.empty(shape, dtype)
    if array.nbytes:
        view = memoryview(array.reshape(-1).view(np.uint8).data)
        for a in range(0, len(view), BLOCK_BYTES):
            part = view[a : a + BLOCK_BYTES]
            if file.readinto(part) != len(part):
                raise ValueError(f"{name}: it ends too soon")
            found = zlib.crc32(part, found)
    if found != check:
        raise ValueError(f"{name}: its checksum is wrong")
    return array


# ---- zarr ----------------------------------------------------------------------------------------


def zarr_package():
    """The package zarr, or an ImportError that names it."""
    try:
        import zarr
    except ImportError as missing:
        raise ImportError(
            ".zarr needs the package zarr, which is not installed: pip install pyintegrate[io]"
        ) from missing
    return zarr


def zarr_header(path):
    """The header of a .zarr: the attribute of its group."""
    group = _parsed(_regular(os.path.join(path, "zarr.json"), MOST_HEADER), "zarr.json")
    attributes = group.get("attributes")
    if not isinstance(attributes, dict) or not isinstance(attributes.get(HEADER), dict):
        raise ValueError("header: the folder has no header")
    if group.get("zarr_format") != 3 or group.get("node_type") != "group":
        raise ValueError("zarr.json: it is no group of zarr's format 3")
    return attributes[HEADER]


def read_zarr(path, names):
    """The header and the arrays of a .zarr.

    Parameters
    ----------
    path : str
    names : callable
        Header to the names of the arrays that belong to it.
    """
    zarr = zarr_package()
    header = zarr_header(path)
    known = {}
    for name in names(header):
        if _NAME.fullmatch(name) and os.path.isdir(os.path.join(path, name)):
            known[name] = _metadata(os.path.join(path, name), name)

    def get(name):
        shape, dtype, chunks = known[name]
        folder = os.path.join(path, name)
        grid = tuple(-(-n // chunk) for n, chunk in zip(shape, chunks, strict=True))
        if not prod(shape):
            return np.empty(shape, dtype)
        for index in np.ndindex(grid):
            _check_chunk(
                os.path.join(folder, "c", *map(str, index)), name, prod(chunks) * dtype.itemsize
            )
        array = np.asarray(zarr.open_array(store=folder, mode="r", zarr_format=3)[...])
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"{name}: {array.dtype} of shape {array.shape}, expected {dtype} {shape}"
            )
        return array

    return header, StoredArrays(known, lambda name: known[name][:2], get)


_CODECS = ("bytes", "zstd", "crc32c")
_TYPES = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)")


def _metadata(folder, name):
    """(shape, dtype, chunk shape) of an array in the format written here, and in no other."""
    if os.path.islink(folder):
        raise ValueError(f"{name}: it is a link")
    told = _parsed(_regular(os.path.join(folder, "zarr.json"), 1 << 16), f"{name}: zarr.json")
    try:
        shape, chunks = told["shape"], told["chunk_grid"]["configuration"]["chunk_shape"]
        codecs = tuple(codec["name"] for codec in told["codecs"])
        plain = (
            told["zarr_format"] == 3
            and told["node_type"] == "array"
            and told["chunk_grid"]["name"] == "regular"
            and told["chunk_key_encoding"]
            == {"name": "default", "configuration": {"separator": "/"}}
            and codecs == _CODECS
            and told["codecs"][0].get("configuration", {}).get("endian", "little") == "little"
            and not told.get("storage_transformers")
        )
        sizes = all(type(n) is int and 0 <= n < 1 << 62 for n in (*shape, *chunks))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{name}: zarr.json lacks {error}") from None
    if (
        not plain
        or not isinstance(told["data_type"], str)
        or not _TYPES.fullmatch(told["data_type"])
    ):
        raise ValueError(f"{name}: zarr.json describes an array that pyintegrate does not write")
    dtype = np.dtype(told["data_type"])
    if not sizes or len(shape) != len(chunks) or len(shape) > 33 or 0 in chunks:
        raise ValueError(
            f"{name}: zarr.json has the shape {shape!r:.200} in chunks {chunks!r:.200}"
        )
    if prod(chunks) * dtype.itemsize > 2 * BLOCK_BYTES:
        raise ValueError(
            f"{name}: zarr.json has chunks of {prod(chunks)} items, which are too large"
        )
    return tuple(shape), dtype, tuple(chunks)


def _check_chunk(path, name, size):
    """A chunk must hold one Zstandard frame (RFC 8878, 3.1.1.1) that states the expected size."""
    try:
        content = _regular(path, 2 * size + (1 << 16))
    except OSError:
        raise ValueError(f"{name}: parts of it are missing") from None
    width = 0
    if content[:4] == b"\x28\xb5\x2f\xfd" and len(content) > 12:
        about = content[4]
        single = about >> 5 & 1
        width = (1, 2, 4, 8)[about >> 6] if about >> 6 or single else 0
        at = 5 + (not single) + (0, 1, 2, 4)[about & 3]
        told = int.from_bytes(content[at : at + width], "little") + (256 if width == 2 else 0)
    if not width or told != size:
        raise ValueError(f"{name}: a part of it has not its size")
