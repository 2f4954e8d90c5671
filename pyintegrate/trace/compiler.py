"""Compiled kernels of a traced system: the C compiler, a cache, and the resulting library.

Nothing here runs unless ``compile()`` is called. A library is named by a hash of everything that
went into it; library_cache.py stores and verifies it.
"""

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from .. import _core
from ..values.headers import headers
from ..values.types import Any
from . import library_cache
from .c_source import KERNEL_COMPONENTS, check_size, source
from .library_cache import private_folder

_FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden"]
_FLAGS += ["-std=gnu11", "-w", "-fPIC", "-shared"]
# Clang takes the instruction set from the command line, GCC from a pragma in the file.
_CLANG = {
    "avx2": ["-mavx2", "-mfma"],
    "avx512": [
        *("-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma"),
        "-mprefer-vector-width=512",
    ],
}
_WITHOUT = "the byte code runs without it, with the same results"
_LOADED = {}  # folder and name of each library in this process: what ``_load`` found


def _compiler():
    """The command, the whole path of its program, and the version that it prints."""
    given = os.environ.get("CC", "").strip() or "cc"
    try:
        command = shlex.split(given)
    except ValueError as error:
        raise RuntimeError(f"CC is no command, {given!r}: {error}") from None
    program = shutil.which(command[0])
    if program is None:
        raise RuntimeError(
            f"no C compiler {given!r} here: install GCC or Clang, or set CC; without one {_WITHOUT}"
        )
    command[0] = os.path.abspath(program)
    version, _ = _start([*command, "--version"]).communicate()
    return command, version.decode(errors="replace")


def _digest(*texts):
    """A hash of the texts and of all headers."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    folder = headers()
    for path in sorted([*folder.rglob("*.h"), *folder.glob("kernels/isa/*.c")]):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def compiled(system, program):
    """A handle of the system's kernels, for ``_core.Run``.

    Parameters
    ----------
    system : TracedSystem
    program : Program

    Returns
    -------
    capsule

    Raises
    ------
    RuntimeError
        No compiler, or one that fails (the message has its output); a folder for libraries that is
        not private or cannot be written to; a library that cannot be loaded.
    ValueError
        The system is too large for the registers.
    """
    check_size(system, program)
    command, version = _compiler()
    isa = _core.info()["instruction_set"]
    text = source(system, program)
    flags = [*_FLAGS, f"-DPI_ANSWERS={max(KERNEL_COMPONENTS, program.sizes[4])}"]
    flags += _CLANG.get(isa, []) if "clang" in version else []
    machine = f"{sys.platform} {platform.machine()}"
    name = _digest(text, isa, machine, version, " ".join([*command, *flags]))
    folder = private_folder()
    keys = [f"{name}_f{bits}" for bits in (64, 32)]
    try:
        found = _libraries(folder, keys, lambda: _build(command, flags, isa, text, folder))
    except OSError as error:
        raise RuntimeError(
            f"compiled libraries cannot be kept in {str(folder)!r}, or not loaded from there"
            f" ({error}): set PYINTEGRATE_CACHE to a folder of your own that may be written to and"
            f" whose files may be executed; {_WITHOUT}"
        ) from error
    return _core.make_compiled(program.handle, *found)


def _libraries(folder, keys, build):
    """What ``_load`` finds in memory, or in intact libraries of the cache, or in new ones."""
    if (folder, keys[0]) in _LOADED:
        return _LOADED[folder, keys[0]]
    contents = [library_cache.find(folder, key) for key in keys]
    found = None
    if None not in contents:
        with suppress(OSError, RuntimeError):  # made with another C library
            found = _load(folder, keys, contents)
    if found is None:
        contents = build()
        found = _load(folder, keys, contents)
        for key, content in zip(keys, contents):
            library_cache.keep(folder, key, content)
    _LOADED[folder, keys[0]] = found
    return found


def _load(folder, keys, contents):
    """The addresses of the functions for both precisions, and the libraries that hold them."""
    libraries = tuple(map(library_cache.load, [folder] * 2, keys, contents))
    names = "pyintegrate_f64", "pyintegrate_f32"
    functions: list[Any] = [getattr(library, name, None) for library, name in zip(libraries, names)]
    if None in functions:
        raise RuntimeError(f"the C compiler made a library without kernels; {_WITHOUT}")
    return *(ctypes.cast(one, ctypes.c_void_p).value for one in functions), libraries


def _build(command, flags, isa, text, folder):
    """The contents of the libraries of both precisions, compiled side by side.

    The compiler runs in the folder of its files, and gets plain file names: the path may contain
    any characters.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as work:
        (Path(work) / "own_system.h").write_text(text)
        running = []
        try:
            for bits in (64, 32):
                (Path(work) / f"f{bits}.c").write_text(
                    f'#define PI_CONTENTS "own_system.h"\n'
                    f"#define PI_ONE_SYSTEM pyintegrate_f{bits}\n"
                    f'#include "kernels/isa/{isa}_f{bits}.c"\n'
                )
                call = [*command, *flags, "-I.", f"-I{headers()}", f"f{bits}.c"]
                call += ["-o", f"f{bits}.so", "-lm"]
                running.append((call, _start(call, work)))
            outputs = [process.communicate()[0] for _, process in running]
        finally:
            for _, process in running:
                process.kill()  # no effect if it has ended
                process.wait()
        for (call, process), output in zip(running, outputs):
            if process.returncode:
                raise RuntimeError(
                    f"the C compiler failed ({' '.join(call)}):\n"
                    f"{output.decode(errors='replace')[:2000]}\n{_WITHOUT}"
                )
        made = [Path(work) / f"f{bits}.so" for bits in (64, 32)]
        if not all(map(os.path.isfile, made)):
            raise RuntimeError(f"the C compiler made no library ({' '.join(call)}); {_WITHOUT}")
        return [library.read_bytes() for library in made]


def _start(call, work=None):
    try:
        return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=work)
    except OSError as error:
        raise RuntimeError(
            f"the C compiler cannot be run ({' '.join(call)}): {error}; {_WITHOUT}"
        ) from None
