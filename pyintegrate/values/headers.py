"""The headers of the C core: compiled systems are built against them; tables of methods have all
their digits there."""

from pathlib import Path


def headers():
    """The folder of the package's headers: in the package, or beside it in the repository."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "csrc", package.parent / "csrc"):
        if (folder / "kernels" / "isa").exists():
            return folder
    raise RuntimeError("the C headers of pyintegrate are missing: install it again")
