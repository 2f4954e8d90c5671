"""The extension module: kernels for each instruction set in parts, compiled side by side.

A build is for the machine that builds: the baseline and the best instruction set of its processor.
PYINTEGRATE_ISA_BUILD=all builds every set, for others; or it names some: "avx2 avx512".
"""

import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from itertools import takewhile
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

# -ffp-contract=off: a multiply-add is fused where it is written, and nowhere else.
FLAGS = [
    "-O2",
    "-g0",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-tree-vectorize",  # wide registers are written as such
    "-fno-unroll-loops",  # and so are the loops that are to be unrolled (simd.h);
    "-Wno-pass-failed",  # those of no constant length stay loops
    "-fno-asynchronous-unwind-tables",  # nothing unwinds through C
    "-fvisibility=hidden",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",  # of functions in tables
]
# No table of the names of static functions in the extension.
STRIPPED = "-s" if sys.platform.startswith("linux") else ""
# A free-threaded Python has no stable ABI: its wheel is for it alone.
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
# GCC takes the instruction set from a pragma in the file, Clang from the command line.
CLANG_TARGETS = {
    "avx2": ["-mavx2", "-mfma"],
    "avx512": [
        "-mavx512f",
        "-mavx512dq",
        "-mavx512vl",
        "-mavx2",
        "-mfma",
        "-mprefer-vector-width=512",
    ],
}
# The parts of the kernels of a set (PI_PARTS of csrc/pyintegrate.h); the first takes longest.
PARTS = range(5)
# Beside a wider set the baseline of x86-64, whose fma is a function of C, is kept small: its steps
# all run on rows, which gives the same bits.
SMALL = ["-Os", "-DPI_ROLLED", "-DPI_ROWS_ONLY", "-Wno-psabi"]
# In kernels the search for partial redundancies takes a tenth of the compilation, and leaves the
# loops as they are. (An option of GCC alone.)
KERNELS = ["-fno-tree-pre"]
SETS = ("avx2", "avx512")
# Which of them this machine and its operating system have.
PROBE = """#include <stdio.h>
int main(void) {
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl");
    puts(avx2 && avx512 ? "avx512" : avx2 ? "avx2" : "baseline");
    return 0;
}
"""


MSVC = """pyintegrate needs Clang on Windows: MSVC has no vector extensions. Install a wheel, or
clang-cl (the component "C++ Clang tools for Windows" of Visual Studio, or LLVM) on the PATH"""


def target_platform():
    """What is built for, as in the tag of a wheel; of a universal Python the half that runs."""
    here = os.environ.get("_PYTHON_HOST_PLATFORM") or sysconfig.get_platform()
    if here.endswith("universal2"):
        here = here.replace("universal2", platform.machine())
        os.environ["_PYTHON_HOST_PLATFORM"] = here
        os.environ.setdefault("ARCHFLAGS", f"-arch {platform.machine()}")
    return here


def predefined_macros(command):
    """The macros that a compiler of the kind of GCC knows before it reads a file."""
    words = [*command, *os.environ.get("PYINTEGRATE_CFLAGS", "").split()]
    words += ["-dM", "-E", "-x", "c", os.devnull]
    try:
        output = subprocess.run(words, capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"pyintegrate needs GCC or Clang: {command[0]}: {error}") from None
    if output.returncode:
        raise SystemExit(f"pyintegrate needs GCC or Clang, and {command[0]} says: {output.stderr}")
    lines = (line.split(maxsplit=2)[1:] for line in output.stdout.splitlines())
    return {words[0]: words[-1] for words in lines}


def check_target(macros):
    """Refuse what the core is not made for."""
    if macros.get("__SIZEOF_POINTER__") != "8":
        raise SystemExit("pyintegrate needs a 64-bit platform, and the compiler makes 32-bit code")
    if macros.get("__BYTE_ORDER__") != "__ORDER_LITTLE_ENDIAN__":
        raise SystemExit(
            "pyintegrate needs a little-endian platform: its bits and files are those of one"
        )


def best_set(command):
    """The best instruction set of this machine; None where nothing can be asked."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "probe"
        program.with_suffix(".c").write_text(PROBE)
        try:
            subprocess.run(
                [*command, f"{program}.c", "-o", program], check=True, capture_output=True
            )
            return subprocess.run(
                [program], check=True, capture_output=True, text=True
            ).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return None


def chosen_sets(command):
    """The instruction sets beside the baseline that PYINTEGRATE_ISA_BUILD asks for."""
    asked = os.environ.get("PYINTEGRATE_ISA_BUILD", "").replace(",", " ").split() or ["native"]
    if unknown := set(asked) - {"all", "native", "baseline", *SETS}:
        raise SystemExit(
            f"PYINTEGRATE_ISA_BUILD={' '.join(asked)}: {', '.join(sorted(unknown))} is not one of"
            f" native, all, baseline, {', '.join(SETS)}"
        )
    if not target_platform().endswith(("x86_64", "amd64")):
        return []
    if "native" in asked:
        asked = [*asked, (command and best_set(command)) or "all"]
    return [name for name in SETS if {name, "all"} & set(asked)]


def jobs(sets, clang, version):
    """(source, name, flags) of each object of the core, the slowest first."""
    found = []
    for path in sorted(glob("csrc/**/*.c", recursive=True)):
        source, kind = Path(path), Path(path).stem.split("_")[0]
        if source.parent.name != "isa":
            # Only module.c is compiled with the version, which is part of its object's name.
            has_version = source.as_posix() == "csrc/python/module.c"
            name = "_".join([*source.with_suffix("").parts, *[version] * has_version])
            found.append((path, name, [f'-DPYINTEGRATE_VERSION="{version}"'] * has_version))
        elif kind in sets or kind not in SETS:
            own = CLANG_TARGETS.get(kind, []) if clang else []
            if kind == "baseline" and sets:
                found.append((path, source.stem, [*own, *SMALL]))
            else:
                own = own if clang else [*own, *KERNELS]
                found += [(path, f"{source.stem}_{n}", [*own, f"-DPI_PART={n}"]) for n in PARTS]
    return sorted(
        found, key=lambda job: ("avx" not in job[1], job[1][-2:] != "_0", "isa" not in job[0])
    )


def is_fresh(made):
    """Is an object newer than all that it was made from?"""
    depfile = made.with_suffix(".d")
    if not (made.exists() and depfile.exists()):
        return False
    rule = depfile.read_text().replace("\\\n", " ")
    needed = re.split(r"(?<!\\)\s+", rule.split(":", 1)[1].strip())
    needed = [Path(name.replace("\\ ", " ")) for name in needed]
    return all(p.exists() and p.stat().st_mtime <= made.stat().st_mtime for p in needed)


class BuildCore(build_ext):
    """Compile what has changed, side by side; objects stay in build/core."""

    def build_extension(self, ext):
        compiler, compile_one = self.compiler, self.compiler.compile
        if compiler.compiler_type == "msvc":
            if not (found := shutil.which("clang-cl")):
                raise SystemExit(MSVC)
            if not compiler.initialized:
                compiler.initialize()
            compiler.cc, clang, prefix, command = found, True, "/clang:", None
        else:
            macros = predefined_macros(compiler.compiler_so)
            check_target(macros)
            clang, prefix = "__clang__" in macros, ""
            command = list(takewhile(lambda word: word[:1] != "-", compiler.compiler_so))
        sets = chosen_sets(command)
        without = [f"-DPI_WITHOUT_{name.upper()}" for name in SETS if name not in sets]
        given = ext.extra_compile_args
        own = FLAGS, KERNELS, SMALL
        words = compiler.__dict__.get("compiler_so"), *own, without, given, sys.version
        names = [str(word) for word in words]
        key = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
        folder = Path("build") / "core" / key

        def compile_all(sources, macros=None, include_dirs=None, debug=0, **_):
            def one(job):
                source, name, own = job
                made = folder / name / Path(source).with_suffix(compiler.obj_extension)
                if not is_fresh(made):
                    depflags = ["-MMD", "-MF", str(made.with_suffix(".d"))]
                    words = [*FLAGS, *without, *own, *given, *depflags]
                    compile_one(
                        [source], output_dir=str(folder / name), macros=macros,
                        include_dirs=include_dirs, debug=debug,
                        extra_postargs=[prefix + word for word in words],
                    )  # fmt: skip
                return str(made)

            todo = jobs(sets, clang, self.distribution.get_version())
            for source, name, _ in todo:
                (folder / name / source).parent.mkdir(parents=True, exist_ok=True)
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return list(pool.map(one, todo))

        # Link again if the last build here had other flags.
        last = Path("build") / "core" / "last"
        last.parent.mkdir(parents=True, exist_ok=True)
        if not last.exists() or last.read_text() != key:
            self.force = True
        compiler.compile = compile_all
        try:
            super().build_extension(ext)
        finally:
            compiler.compile = compile_one
        last.write_text(key)


class Archive(sdist):
    """The source archive: the same sources give the same bytes, whoever packs them and when."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **_):
        when = int(os.environ.get("SOURCE_DATE_EPOCH", 315532800))  # 1980, where zip begins
        path = f"{base_name}.tar.gz"
        self.mkpath(os.path.dirname(path))
        with (
            open(path, "wb") as file,
            gzip.GzipFile("", "wb", 9, file, when) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            for name in sorted(p for p in Path(base_dir).rglob("*") if p.is_file()):
                entry = archive.gettarinfo(name, name.as_posix())
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = ""
                entry.mtime, entry.mode = when, 0o755 if entry.mode & 0o100 else 0o644
                entry.type, entry.linkname = tarfile.REGTYPE, ""  # sdist links files
                entry.size = name.stat().st_size
                with open(name, "rb") as content:
                    archive.addfile(entry, content)
        return path


# What a compiled system is built of, and the sources of the methods, whose numbers are exact.
SHIPPED = ("*.h", "kernels/*.h", "kernels/isa/*.c", "kernels/registers/*.h",
           "kernels/tolerance/*.h", "methods/**/*.h", "vmath/*.h")  # fmt: skip


class BuildPackage(build_py):
    """The package with the parts of the core that it reads (pyintegrate/values/headers.py)."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        names = sorted(f for one in SHIPPED for f in glob(f"csrc/{one}", recursive=True))
        with ZipFile(os.path.join(self.build_lib, "pyintegrate", "csrc.zip"), "w") as packed:
            for name in names:  # stored: the wheel compresses all of them as one
                packed.writestr(ZipInfo(Path(name).as_posix()), Path(name).read_bytes())


def readme():
    """The README as a registry shows it, without other files: links lead to the sources."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]

    def whole(link):
        kind = "raw" if link[1].endswith(".png") else "blob"
        return f"]({project['urls']['Source']}/{kind}/HEAD/{link[1]})"

    return re.sub(r"\]\(([\w./-]+)\)", whole, Path("README.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    setup(
        long_description=readme(),
        long_description_content_type="text/markdown",
        cmdclass={"build_ext": BuildCore, "build_py": BuildPackage, "sdist": Archive},
        ext_modules=[
            Extension(
                "pyintegrate._core",
                sorted(glob("csrc/**/*.c", recursive=True)),
                depends=glob("csrc/**/*.h", recursive=True),
                extra_compile_args=os.environ.get("PYINTEGRATE_CFLAGS", "").split(),
                extra_link_args=os.environ.get("PYINTEGRATE_LDFLAGS", STRIPPED).split(),
                libraries=[] if sys.platform == "win32" else ["m"],
                py_limited_api=not FREE_THREADED,
            )
        ],
        options={} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}},
    )
