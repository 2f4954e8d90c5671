"""The extension module: kernels for each instruction set, compiled in parallel."""

import os
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


class BuildCore(build_ext):
    """Compile the files of the extension side by side; they are few and large."""

    def build_extension(self, ext):
        compiler, compile_one = self.compiler, self.compiler.compile
        clang = "clang" in os.path.basename(compiler.compiler_so[0])

        def compile_all(sources, **options):
            def one(source):
                target = Path(source).stem.split("_")[0] if clang else ""
                options_here = dict(options)
                options_here["extra_postargs"] = options["extra_postargs"] + CLANG_TARGETS.get(
                    target, []
                )
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
    x86 = any(
        name in os.environ.get("_PYTHON_HOST_PLATFORM", "") + os.uname().machine
        for name in ("x86_64", "AMD64")
    )
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
