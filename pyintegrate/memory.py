"""How a batch lies in memory: rows of one component, padded to whole cache lines."""

from __future__ import annotations

import os
from math import prod

import numpy as np

ALIGNMENT = 64  # bytes: the widest register, and a cache line
COMPACT_BYTES = 1024  # rows of a record shorter than this are not padded
SPARE_BYTES = (
    64 << 20
)  # states smaller than this have a second buffer, which an interrupt leaves whole
MAX_AXES = 32  # of a batch and its components: what np.broadcast_shapes takes
STREAM_BYTES = 8 << 20  # records larger than this are written past the caches


def padded(lanes, dtype):
    """Items of a row of `lanes`, up to whole cache lines."""
    unit = ALIGNMENT // np.dtype(dtype).itemsize
    return -(-lanes // unit) * unit


def aligned(shape, dtype):
    """Fresh memory that begins at a cache line."""
    dtype = np.dtype(dtype)
    items = prod(shape)
    memory = np.empty(items + ALIGNMENT // dtype.itemsize, dtype)
    start = -memory.__array_interface__["data"][0] % ALIGNMENT // dtype.itemsize
    return memory[start : start + items].reshape(shape)


def pad(rows, dtype):
    """Rows of lanes in fresh memory, (n, stride): each ends in copies of its last item."""
    lanes = rows[0].size
    out = aligned((len(rows), padded(lanes, dtype)), dtype)
    for to, row in zip(out, rows, strict=True):
        to[:lanes] = row
        if lanes:
            to[lanes:] = to[lanes - 1]
    return out


def check_memory(size, entries, batch, dim):
    """Refuse what the machine cannot hold, before anything is allocated."""
    try:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        available = 1 << 62
    if size > available:
        raise MemoryError(
            f"{entries} saved states of {batch} trajectories of {dim} components take"
            f" {size / 1e9:.3g} GB, and this machine has {available / 1e9:.3g} GB: save fewer steps"
            " (save=k, save='final'), use"
            " dtype=np.float32, or integrate the batch in parts"
        )
