"""The headers of the C core: compiled systems are built against them; tables of methods have all
their digits there."""

import atexit
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile


@cache
def headers():
    """The folder of the package's headers: that of the repository, or unpacked from the package."""
    package = Path(__file__).resolve().parent.parent
    packed, beside = package / "csrc.zip", package.parent / "csrc"
    if packed.exists():
        folder = TemporaryDirectory(prefix="pyintegrate")
        atexit.register(folder.cleanup)  # before its finalizer, which warns
        with ZipFile(packed) as archive:
            archive.extractall(folder.name)
        return Path(folder.name) / "csrc"
    if (beside / "kernels" / "isa").exists():
        return beside
    raise RuntimeError("the C headers of pyintegrate are missing: install it again")
