"""Compiled kernels of a traced system: the C compiler, a cache, and the library that comes out.

Nothing here runs unless it is asked for. A library is known by the content of all that went into
it; the cache is PYINTEGRATE_CACHE, or "pyintegrate" in XDG_CACHE_HOME or ~/.cache.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .. import _core
from .c_source import check_size, source

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


def headers():
    """The folder of the package's own headers: in the package, or beside it in the repository."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "csrc", package.parent / "csrc"):
        if (folder / "kernels" / "isa").exists():
            return folder
    raise RuntimeError("the C headers of pyintegrate are missing: install it again")


def cache_folder():
    """Where libraries are kept."""
    own = os.environ.get("PYINTEGRATE_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "pyintegrate"


def _compiler():
    command = os.environ.get("CC", "cc").split()
    if not command or shutil.which(command[0]) is None:
        raise RuntimeError(
            f"no C compiler {' '.join(command) or 'cc'!r} here: install GCC or Clang, or set CC;"
            " without one the byte code runs, with the same results"
        )
    version = subprocess.run([*command, "--version"], capture_output=True, text=True)
    return command, version.stdout


def _digest(*texts):
    """Of the texts and of all headers."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    folder = headers()
    for path in sorted([*folder.rglob("*.h"), *folder.glob("kernels/isa/*.c")]):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def compiled(system):
    """A handle of the system's own kernels, for ``_core.start``.

    Parameters
    ----------
    system : TracedSystem

    Returns
    -------
    capsule

    Raises
    ------
    RuntimeError
        No compiler, or one that fails; the message has its output.
    ValueError
        The system is too large for the registers.
    """
    check_size(system)
    command, version = _compiler()
    isa = _core.info()["instruction_set"]
    text = source(system)
    flags = _FLAGS + (_CLANG.get(isa, []) if "clang" in version else [])
    name = _digest(text, isa, version, " ".join([*command, *flags]))
    folder = cache_folder()
    libraries = [folder / f"{name}_f{bits}.so" for bits in (64, 32)]
    if not all(library.exists() for library in libraries):
        _build(command, flags, isa, text, libraries)
    loaded = [ctypes.CDLL(str(library)) for library in libraries]
    wide, narrow = (
        ctypes.cast(getattr(library, f"pyintegrate_f{bits}"), ctypes.c_void_p).value or 0
        for library, bits in zip(loaded, (64, 32), strict=True)
    )
    return _core.make_compiled(system.program.handle, wide, narrow, tuple(loaded))


def _build(command, flags, isa, text, libraries):
    """Both precisions side by side, and into the cache in one move."""
    folder = libraries[0].parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        own = Path(work) / "own.h"
        own.write_text(text)
        running = []
        for library, bits in zip(libraries, (64, 32), strict=True):
            unit, made = Path(work) / f"f{bits}.c", Path(work) / library.name
            unit.write_text(
                f'#define PI_CONTENTS "{own}"\n#define PI_ONE_SYSTEM pyintegrate_f{bits}\n'
                f'#include "kernels/isa/{isa}_f{bits}.c"\n'
            )
            call = [*command, *flags, f"-I{headers()}", str(unit), "-o", str(made), "-lm"]
            process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            running.append((process, made, library, call))
        outputs = [process.communicate()[0].decode(errors="replace") for process, *_ in running]
        for (process, made, library, call), output in zip(running, outputs, strict=True):
            if process.returncode:
                raise RuntimeError(
                    f"the C compiler failed ({' '.join(call)}):\n{output[:2000]}"
                    "\nthe byte code runs without it, with the same results"
                )
            os.replace(made, library)
