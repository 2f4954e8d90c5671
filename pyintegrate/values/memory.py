"""How a batch lies in memory: rows of one component, padded to whole cache lines."""

import os
from contextlib import suppress
from math import prod

import numpy as np

ALIGNMENT = 64  # bytes: the widest register, and a cache line
COMPACT_BYTES = 1024  # rows shorter than this are not padded in a record, nor aligned
ALIGNED_BYTES = 1 << 16  # less than this is not worth aligning
SPARE_BYTES = 64 << 20  # states up to this have a second buffer, which survives an interrupt
# Larger records that go to memory already in use bypass the caches; freshly mapped pages do not,
# as the kernel has just zeroed them there.
STREAM_BYTES = 16 << 20
# A container's limit, in cgroups of version 2 and 1.
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
MAX_AXES = 32  # of a batch and its components: the limit of np.broadcast_shapes


def padded(lanes, dtype):
    """Items of a row of `lanes`, padded to whole cache lines."""
    unit = ALIGNMENT // dtype.itemsize
    return -(-lanes // unit) * unit


def aligned(shape, dtype):
    """New memory that begins at a cache line."""
    items, item = prod(shape), np.dtype(dtype).itemsize
    memory = np.empty(items + ALIGNMENT // item, dtype)
    start = -memory.__array_interface__["data"][0] % ALIGNMENT // item
    return memory[start : start + items].reshape(shape)


def fresh(shape, dtype):
    """New memory, aligned unless it is so small that the time is not worth it."""
    small = prod(shape) * dtype.itemsize < ALIGNED_BYTES
    return np.empty(shape, dtype) if small else aligned(shape, dtype)


def pad(rows, batch, dtype, stride=None):
    """Rows over the batch in new memory, (n, stride), padded with copies of the last item; by
    default to whole cache lines."""
    lanes = prod(batch)
    out = fresh((len(rows), padded(lanes, dtype) if stride is None else stride), dtype)
    within = out[:, :lanes].reshape(len(rows), *batch)
    for i, row in enumerate(rows):
        within[i] = row
    out[:, lanes:] = out[:, lanes - 1 : lanes]
    return out


def spread(rows, batch, dtype):
    """Like `pad`, but one item per row if all trajectories are alike, or there is one.

    For a large batch that is a read-only view of its whole shape.
    """
    if batch:
        lanes = prod(batch)
        if lanes * dtype.itemsize < COMPACT_BYTES:
            return pad(rows, batch, dtype)
        for row in rows:
            if type(row) is not float and row.ndim:
                return pad(rows, batch, dtype)
    out = np.array(rows, dtype).reshape(-1, 1)
    return np.broadcast_to(out, (len(rows), padded(lanes, dtype))) if batch else out


def whole(rows, stride):
    """Rows that the core writes to step by step: aligned, with one item per lane."""
    if rows.strides[1] and rows.nbytes >= ALIGNED_BYTES:
        return rows
    out = aligned((len(rows), stride), rows.dtype)
    out[...] = rows
    return out


def outward(rows, batch):
    """(..., components, lanes) inside -> (..., *batch, components) outside, without a copy."""
    if not batch:
        return rows[..., 0]
    if len(batch) == 1:
        return rows.swapaxes(-1, -2)
    return np.moveaxis(rows.reshape(rows.shape[:-1] + batch), rows.ndim - 2, -1)


def check_memory(
    size, entries, batch, dim, *, what="saved states",
    cure="save fewer steps (save=k, save='final'), use dtype=np.float32",
):  # fmt: skip
    """Refuse a size that does not fit the memory of this machine, or container, beforehand."""
    if size < SPARE_BYTES:
        return
    available = _physical_memory()
    for limit in LIMITS:
        with suppress(OSError, ValueError), open(limit) as file:  # no such file, or "max"
            available = min(available, int(file.read()))
    if size > available:
        raise MemoryError(
            f"{entries} {what} of {batch or 'single'} trajectories of {dim} components take"
            f" {size / 1e9:.3g} GB, and there is {available / 1e9:.3g} GB here: {cure}, or"
            " integrate the batch in parts"
        )


def _physical_memory():
    """Bytes of memory that the machine has; a very large number if it does not say."""
    try:
        if os.name == "nt":
            return _windows_memory()
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def _windows_memory():
    """From GlobalMemoryStatusEx, whose structure is two 32-bit and seven 64-bit integers."""
    import ctypes

    status = (ctypes.c_uint64 * 8)(64)  # the first integer is the size of the structure
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    if not kernel.GlobalMemoryStatusEx(status):
        raise OSError("Windows does not say how much memory it has")
    return status[1]
