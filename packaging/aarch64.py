"""The wheel for aarch64 run on another processor: Debian's Python for arm64, emulated by qemu.

    python packaging/aarch64.py [folder of tests ...]        make aarch64

A root in build/aarch64 is unpacked from Debian's packages and wheels of PyPI; nothing is installed
on this machine, and no rights are needed. Its usr/bin/python is a script that emulates python3 and
passes for it in sys.executable, so what tests start is emulated too; their C compiler is a cross
compiler, and does its work at full speed. Prints the digest, then what became of each folder of
tests: all of them, or as many, in an order of chance with a fixed seed, as AARCH64_SECONDS (300)
of the processor allow. Needs packages of Debian (PACKAGES).
"""

import os
import shutil
import subprocess
import sys

from elsewhere import FOLDERS, ROOT, install, run_folder

BUILD = ROOT / "build" / "aarch64"
DEBIAN = BUILD / "root"
PYTHON = DEBIAN / "usr/bin/python"
SITE = DEBIAN / "usr/lib/python3/dist-packages"
EMULATOR, COMPILER = "qemu-aarch64-static", "aarch64-linux-gnu-gcc"
PACKAGES = "qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
SECONDS = os.environ.get("AARCH64_SECONDS", "300")
# Newest first: pip takes a wheel for any of them.
PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")


def unpack_debian():
    """Python of this machine's release of Debian for arm64, with all that it depends on."""
    state = BUILD / "apt"
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = [
        "APT::Architecture=arm64", "APT::Architectures=arm64", "Debug::NoLocking=1",
        f"Dir::State={state}", f"Dir::State::status={state / 'status'}", f"Dir::Cache={state}",
    ]  # fmt: skip
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    subprocess.run([*apt, "update"], check=True)
    packages = ["python3", "libstdc++6"]
    subprocess.run([*apt, "install", "-y", "--download-only", "--no-install-recommends", *packages],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    for package in sorted(state.glob("archives/*.deb")):
        subprocess.run(["dpkg", "-x", package, DEBIAN], check=True)
    PYTHON.write_text(
        f'#!/bin/sh\nexec {shutil.which(EMULATOR)} -0 "$0" -L {DEBIAN} {PYTHON}3 "$@"\n'
    )
    PYTHON.chmod(0o755)


def environment():
    """That of the tests: compilers make code for the root."""
    tools = BUILD / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("cc", "gcc"):
        (tools / name).unlink(missing_ok=True)
        (tools / name).symlink_to(shutil.which(COMPILER))
    left = {name: value for name, value in os.environ.items() if name not in ("CC", "PYTHONHOME")}
    return {**left, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "packaging")}


def main(folders):
    """Set up what is not there, then run."""
    for program in (EMULATOR, COMPILER):
        if not shutil.which(program):
            raise SystemExit(f"no {program}: apt-get install {PACKAGES}")
    if not PYTHON.exists():
        unpack_debian()
    if not (SITE / "pytest").exists():
        version = PYTHON.with_name("python3").resolve().name.removeprefix("python")
        install(SITE, version, PLATFORMS)
    for former in SITE.glob("pyintegrate*"):
        shutil.rmtree(former)
    (wheel,) = (ROOT / "dist").glob("*aarch64.whl")
    shutil.unpack_archive(wheel, SITE, "zip")
    given = environment()
    digest = [PYTHON, "-m", "pyintegrate", "info", "--digest"]
    told = subprocess.run(digest, cwd=BUILD, env=given)
    fine = [run_folder(folder, [PYTHON], BUILD, given, SECONDS) for folder in folders or FOLDERS]
    raise SystemExit(told.returncode or not all(fine))


if __name__ == "__main__":
    main(sys.argv[1:])
