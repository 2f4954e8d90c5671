"""Wheels of all platforms from one Linux machine, by the compiler of the package ziglang.

    python packaging/wheels.py [platform ...]        make wheels

Flags are those of setup.py; PYINTEGRATE_CFLAGS is added, as there. Headers of Python are those of
the Python that runs this, with packaging/pyconfig.h; on Windows names are imported from python3.dll
through a library that is made of the list of the stable ABI. check_wheel.py looks at the results.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

from abi3info import DATAS, FUNCTIONS
from abi3info.models import PyVersion
from check_wheel import check
from wheel.wheelfile import WheelFile
from zopfli import ZipFile as SmallZipFile  # the best that deflate can do: 3 to 4 % less

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.chdir(ROOT)
from setup import FLAGS, SETS, jobs  # noqa: E402

BUILD, DIST = ROOT / "build" / "wheels", ROOT / "dist"
ZIG = [sys.executable, "-m", "ziglang"]
OLDEST = PyVersion(3, 11)
MADE: dict = {}  # kernels that another platform shares


class Platform(NamedTuple):
    """A target of the compiler, the tag of its wheels, and what its linker is told."""

    target: str
    tag: str
    library: str
    link: tuple = ()

    @property
    def x86(self):
        return self.target.startswith("x86_64")

    @property
    def kernels(self):
        """Where these are the same, so are the kernels: they know of no C library."""
        processor, system = self.target.split(".")[0].split("-")[:2]
        return processor, system


PLATFORMS = {
    "manylinux_x86_64": Platform(
        "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64", "_core.abi3.so",
        ("-lm",)),
    "manylinux_aarch64": Platform(
        "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64", "_core.abi3.so",
        ("-lm",)),
    "musllinux_x86_64": Platform(
        "x86_64-linux-musl", "musllinux_1_2_x86_64", "_core.abi3.so", ("-lm",)),
    "win_amd64": Platform("x86_64-windows-gnu", "win_amd64", "_core.pyd"),
    "macosx_arm64": Platform(
        "aarch64-macos.11.0", "macosx_11_0_arm64", "_core.abi3.so",
        ("-Wl,-undefined,dynamic_lookup", "-Wl,-install_name,@rpath/_core.abi3.so")),
    "macosx_x86_64": Platform(
        "x86_64-macos.11.0", "macosx_11_0_x86_64", "_core.abi3.so",
        ("-Wl,-undefined,dynamic_lookup", "-Wl,-install_name,@rpath/_core.abi3.so")),
}  # fmt: skip


def headers():
    """Python's headers, told of no platform."""
    folder = BUILD / "include"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("include"), folder)
    shutil.copy(ROOT / "packaging" / "pyconfig.h", folder)
    return folder


def import_library():
    """python3.lib, through which names of the stable ABI are found in python3.dll."""
    lines = ["LIBRARY python3.dll", "EXPORTS"]
    for names, kind in ((FUNCTIONS, ""), (DATAS, " DATA")):
        lines += [f"  {s.name}{kind}" for s, about in names.items() if about.added <= OLDEST]
    definition, library = BUILD / "python3.def", BUILD / "python3.lib"
    definition.write_text("\n".join(lines) + "\n")
    run([*ZIG, "dlltool", "-m", "i386:x86-64", "-d", definition, "-l", library])
    return library


def run(command):
    """A command; what it says is shown if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def compile_core(name, platform, version, include, pool):
    """The extension module of a platform."""
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    flags = [
        *FLAGS, *os.environ.get("PYINTEGRATE_CFLAGS", "").split(),
        "-fno-sanitize=all", f"-I{include}",
        *(() if "windows" in platform.target else ("-fPIC",)),
    ]  # fmt: skip
    zig = [*ZIG, "cc", "-target", platform.target]

    def one(job):
        source, object_name, own = job
        kernels = Path(source).parent.name == "isa"
        target = folder / f"{'isa_' if kernels else ''}{object_name.removeprefix('csrc_')}.o"
        if shared := MADE.get((platform.kernels, object_name)):
            return shared
        run([*zig, *flags, *own, "-c", source, "-o", target])
        if kernels:
            MADE[platform.kernels, object_name] = target
        return target

    objects = list(pool.map(one, jobs(SETS if platform.x86 else (), True, version)))
    extra = [import_library()] if "windows" in platform.target else []
    library = folder / platform.library
    run([*zig, "-shared", "-s", "-o", library, *objects, *extra, *platform.link])
    return library


def pack(platform, library, pure, about):
    """A wheel of the Python files, what is told about them, and the extension."""
    path = DIST / f"{about.name.removesuffix('.dist-info')}-cp311-abi3-{platform.tag}.whl"
    tags = "".join(f"Tag: cp311-abi3-{tag}\n" for tag in platform.tag.split("."))
    with WheelFile(path, "w") as wheel:
        wheel.write_files(pure)
        wheel.write(library, f"pyintegrate/{platform.library}")
        for file in sorted(path for path in about.rglob("*") if path.is_file()):
            wheel.write(file, f"{about.name}/{file.relative_to(about)}")
        made = f"Wheel-Version: 1.0\nGenerator: pyintegrate\nRoot-Is-Purelib: false\n{tags}"
        wheel.writestr(f"{about.name}/WHEEL", made)
    with ZipFile(path) as wheel:
        content = [(file, wheel.read(file)) for file in wheel.infolist()]
    with SmallZipFile(path, "w", ZIP_DEFLATED) as wheel:
        for file, data in content:
            wheel.writestr(file, data)
    return path


def main(names):
    """Build, pack and check the wheels of the platforms."""
    BUILD.mkdir(parents=True, exist_ok=True)
    DIST.mkdir(exist_ok=True)
    shutil.rmtree(BUILD / "pure", ignore_errors=True)
    shutil.rmtree(BUILD / "about", ignore_errors=True)
    (BUILD / "about").mkdir()
    setup = [sys.executable, "setup.py", "-q"]
    run([*setup, "build_py", "-d", BUILD / "pure"])
    run([*setup, "dist_info", "-o", BUILD / "about"])
    (about,) = (BUILD / "about").glob("*.dist-info")
    version, include = about.name.split("-")[1].removesuffix(".dist"), headers()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in names or PLATFORMS:
            platform = PLATFORMS[name]
            library = compile_core(name, platform, version, include, pool)
            wheel = pack(platform, library, BUILD / "pure", about)
            print("\n".join(check(wheel)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
