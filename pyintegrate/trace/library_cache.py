"""Compiled libraries on disk: private, verified before loading, replaced as a whole.

A library is code: whoever may write it can run anything as its user. Its folder must be the
user's own and writable by nobody else, and the name of its file contains the length and a hash of
its content, so that a file cut short, zeroed or exchanged is recognised before it is loaded, and is
built again. The loaded copy is unlinked: later damage to a file does not affect it.
"""

import ctypes
import hashlib
import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from ..values.disk import to_disk

_CURE = "set PYINTEGRATE_CACHE to a folder of your own"


def cache_folder():
    """Where libraries are kept: PYINTEGRATE_CACHE, or "pyintegrate" in XDG_CACHE_HOME or ~/.cache.

    Raises
    ------
    RuntimeError
        The home folder of this user is unknown.
    """
    own, base = os.environ.get("PYINTEGRATE_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(own) if own else (Path(base) if base else Path.home() / ".cache")
    except RuntimeError as error:
        raise RuntimeError(f"there is no place for compiled libraries ({error}): {_CURE}") from None
    return folder if own else folder / "pyintegrate"


def private_folder():
    """The cache folder with all links followed; made if it is missing.

    Raises
    ------
    RuntimeError
        It cannot be made or written to, it belongs to somebody else, or others may write in it or
        put another in its place. The message has the reason and the remedy.
    """
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise RuntimeError(
            f"compiled libraries cannot be kept in {str(folder)!r} ({error}): {_CURE}"
        ) from error
    if os.name == "nt":  # there modes say nothing: a user's folders are private by their lists
        return folder
    about, owner = folder.stat(), os.geteuid()
    if about.st_uid != owner:
        raise RuntimeError(
            f"compiled libraries are not kept in {str(folder)!r}: it belongs to user"
            f" {about.st_uid}, who could put other code there, and this is user {owner}: {_CURE}"
        )
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise RuntimeError(
            f"compiled libraries are not kept in {str(folder)!r}: others may write in it (mode"
            f" {stat.S_IMODE(about.st_mode):04o}) and could put other code there: chmod 700 it,"
            f" once nothing in it is anybody else's, or {_CURE}"
        )
    # Owners and groups of the folders above are trusted: they act with their owner's permission.
    for above in folder.parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise RuntimeError(
                f"compiled libraries are not kept in {str(folder)!r}: everybody may write in"
                f" {str(above)!r} and could put another folder in its place: {_CURE}"
            )
    return folder


def digest(key, content):
    """A hash of the content and of the purpose of a library: part of its file name."""
    return hashlib.sha256(key.encode() + b"\0" + content).hexdigest()[:32]


def find(folder, key):
    """The content of an intact library, or None. Damaged ones are removed.

    Parameters
    ----------
    folder : Path
        From ``private_folder``.
    key : str
        The name of a library: a hash of everything that went into it.

    Returns
    -------
    bytes or None
    """
    form, found = re.compile(rf"{re.escape(key)}\.([0-9]{{1,10}})\.([0-9a-f]{{32}})\.so"), None
    for name in sorted(os.listdir(folder)):
        told = form.fullmatch(name)
        if told is None:
            continue
        content = _content(folder / name, int(told[1]))
        if content is not None and digest(key, content) == told[2]:
            found = content
        else:
            with suppress(FileNotFoundError):  # another process removed it first
                os.unlink(folder / name)
    return found


def _content(path, length):
    """The content of a regular file of this user with `length` bytes, else None."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    except OSError:  # gone, or a link
        return None
    try:  # a folder opens too, but not as a file of Python's
        about = os.fstat(descriptor)
        own = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
        if not stat.S_ISREG(about.st_mode) or about.st_size != length or not own:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(length + 1)
    except OSError:  # unreadable
        return None
    finally:
        os.close(descriptor)
    return content if len(content) == length else None


def keep(folder, key, content):
    """Store a library in the cache: on disk before it gets its name."""
    path = folder / f"{key}.{len(content)}.{digest(key, content)}.so"
    descriptor, beside = tempfile.mkstemp(dir=folder, prefix=".", suffix=".tmp")
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    to_disk(folder)


def load(folder, key, content):
    """The library with a verified content, from a private copy without a name.

    Raises
    ------
    OSError
        The system cannot load it.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as work:
        copy = Path(work) / f"{digest(key, content)}.so"
        copy.write_bytes(content)
        return ctypes.CDLL(str(copy))
