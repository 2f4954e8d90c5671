"""Flushing to disk, before a file gets its final name."""

import os


def to_disk(path):
    """Wait until a file or a folder is on disk, not only in the memory of the system.

    Windows flushes files that are open for writing, and folders by itself.
    """
    windows = os.name == "nt"
    if windows and os.path.isdir(path):
        return
    descriptor = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
