"""The wheel for this processor, as Clang compiled it, tested where it was made.

    python packaging/native.py [folder of tests ...]        make wheels-native

The other tests run what GCC compiled. In a virtual environment in build/native; prints what became
of each folder of tests: all of them, or as many as NATIVE_SECONDS (300) of the processor allow.
"""

import os
import platform
import subprocess
import sys
import venv

from elsewhere import EXTRAS, FOLDERS, ROOT, TOOLS, run_folder

BUILD = ROOT / "build" / "native"
PYTHON = BUILD / "bin" / "python"
SECONDS = os.environ.get("NATIVE_SECONDS", "300")


def main(folders):
    """Set up what is not there, then run."""
    (wheel,) = (ROOT / "dist").glob(f"*manylinux*_{platform.machine()}.whl")
    pip = [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    if not PYTHON.exists():
        venv.create(BUILD, with_pip=True)
        subprocess.run([*pip, f"{wheel}[{','.join(EXTRAS)}]", *TOOLS], check=True)
    subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel], check=True)
    given = {**os.environ, "PYTHONPATH": str(ROOT / "packaging")}
    digest = [PYTHON, "-m", "pyintegrate", "info", "--digest"]
    told = subprocess.run(digest, cwd=BUILD, env=given)
    fine = [run_folder(name, [PYTHON], BUILD, given, SECONDS) for name in folders or FOLDERS]
    raise SystemExit(told.returncode or not all(fine))


if __name__ == "__main__":
    main(sys.argv[1:])
