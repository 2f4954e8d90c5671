"""The extension module: kernels for each instruction set, compiled in parallel."""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

# -ffp-contract=off: a multiply-add is fused where it is written, and nowhere else.
FLAGS = [
    "-O3",
    "-g0",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-tree-vectorize",  # wide registers are written as such
    "-fvisibility=hidden",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
]
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


MSVC = """pyintegrate needs Clang on Windows: MSVC has no vector extensions. Install the wheel
(pip install --only-binary :all: pyintegrate), or clang-cl (the component "C++ Clang tools for
Windows" of Visual Studio, or LLVM) and have it on the PATH"""


def target_platform():
    """What is built for, as in the tag of a wheel; of a universal Python the half that runs."""
    here = os.environ.get("_PYTHON_HOST_PLATFORM") or sysconfig.get_platform()
    if here.endswith("universal2"):
        here = here.replace("universal2", platform.machine())
        os.environ["_PYTHON_HOST_PLATFORM"] = here
        os.environ.setdefault("ARCHFLAGS", f"-arch {platform.machine()}")
    return here


def known_to(command):
    """The macros that a compiler of the kind of GCC knows before it reads a file."""
    words = [*command, *os.environ.get("PYINTEGRATE_CFLAGS", "").split()]
    told = subprocess.run(
        [*words, "-dM", "-E", "-x", "c", os.devnull], capture_output=True, text=True
    )
    if told.returncode:
        raise SystemExit(f"pyintegrate needs GCC or Clang, and {command[0]} says: {told.stderr}")
    lines = (line.split(maxsplit=2)[1:] for line in told.stdout.splitlines())
    return {words[0]: words[-1] for words in lines}


def check_target(macros):
    """Refuse what the core is not made for."""
    if macros.get("__SIZEOF_POINTER__") != "8":
        raise SystemExit("pyintegrate needs a 64-bit platform, and the compiler makes 32-bit code")
    if macros.get("__BYTE_ORDER__") != "__ORDER_LITTLE_ENDIAN__":
        raise SystemExit(
            "pyintegrate needs a little-endian platform: its bits and files are those of one"
        )


class BuildCore(build_ext):
    """Compile the files of the extension side by side; they are few and large."""

    def build_extension(self, ext):
        compiler, compile_one = self.compiler, self.compiler.compile
        if compiler.compiler_type == "msvc":
            if not (found := shutil.which("clang-cl")):
                raise SystemExit(MSVC)
            if not compiler.initialized:
                compiler.initialize()
            compiler.cc, clang, prefix = found, True, "/clang:"
            ext.extra_compile_args = [prefix + flag for flag in ext.extra_compile_args]
        else:
            macros = known_to(compiler.compiler_so)
            check_target(macros)
            clang, prefix = "__clang__" in macros, ""

        def compile_all(sources, **options):
            def one(source):
                target = Path(source).stem.split("_")[0] if clang else ""
                options_here = dict(options)
                own = [prefix + flag for flag in CLANG_TARGETS.get(target, [])]
                options_here["extra_postargs"] = options["extra_postargs"] + own
                return compile_one([source], **options_here)

            for folder in {os.path.dirname(source) for source in sources}:
                compiler.mkpath(os.path.join(self.build_temp, folder))
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return [made for group in pool.map(one, sources) for made in group]

        compiler.compile = compile_all
        try:
            super().build_extension(ext)
        finally:
            compiler.compile = compile_one


class BuildPackage(build_py):
    """The package with the headers of the core: compiled systems are built against them."""

    def run(self):
        super().run()
        if not self.editable_mode:
            for name in [*glob("csrc/**/*.h", recursive=True), *glob("csrc/kernels/isa/*.c")]:
                target = os.path.join(self.build_lib, "pyintegrate", name)
                self.mkpath(os.path.dirname(target))
                self.copy_file(name, target)


def sources():
    """All C files, the slowest first; kernels only for the processor that builds."""
    x86 = target_platform().endswith(("x86_64", "amd64"))
    files = [name for name in glob("csrc/**/*.c", recursive=True) if x86 or "avx" not in name]
    return sorted(files, key=lambda name: ("avx" not in name, "isa" not in name, name))


version = next(
    line.split('"')[1]
    for line in Path("pyproject.toml").read_text().splitlines()
    if line.startswith("version")
)
setup(
    cmdclass={"build_ext": BuildCore, "build_py": BuildPackage},
    ext_modules=[
        Extension(
            "pyintegrate._core",
            sources(),
            depends=glob("csrc/**/*.h", recursive=True),
            define_macros=[("PYINTEGRATE_VERSION", f'"{version}"')],
            extra_compile_args=FLAGS + os.environ.get("PYINTEGRATE_CFLAGS", "").split(),
            extra_link_args=os.environ.get("PYINTEGRATE_LDFLAGS", "").split(),
            libraries=[] if sys.platform == "win32" else ["m"],
            py_limited_api=not FREE_THREADED,
        )
    ],
    options={} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
