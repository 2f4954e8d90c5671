"""The bits of the cores of wheels: python packaging/run_core.py [platform ...]     make wheels-run

The files that `make wheels` compiled for a platform (build/wheels), except those that know Python,
are linked with tests/portability/ and run, by qemu, by musl's loader, by Wine or directly, with
each instruction set of the processor. The table must be the published one. Programs for macOS
cannot be run on Linux.
"""

import shutil
import subprocess
import sys
from typing import NamedTuple

from wheels import BUILD, PLATFORMS, ROOT, ZIG, run


class Runner(NamedTuple):
    """What runs programs of a platform, what its linker is told, and Debian's packages for it."""

    command: tuple = ()
    link: tuple = ()
    packages: str = ""


RUNNERS = {
    "manylinux_x86_64": Runner(),
    "manylinux_aarch64": Runner(
        ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"), (),
        "qemu-user-static libc6-arm64-cross"),
    "musllinux_x86_64": Runner(("/lib/ld-musl-x86_64.so.1",), ("-dynamic",), "musl"),
    "win_amd64": Runner(("wine",), (), "wine64"),
}  # fmt: skip


def objects(name):
    """The compiled files of a platform; kernels may be those of one with the same processor."""
    own = {path.name: path for path in (BUILD / name).glob("*.o")}
    for other, platform in PLATFORMS.items():
        if platform.kernels == PLATFORMS[name].kernels:
            own |= {p.name: p for p in (BUILD / other).glob("isa_*.o") if p.name not in own}
    return [path for file, path in own.items() if not file.startswith("python_")]


def link(name, runner):
    """The program of a platform."""
    platform, program = PLATFORMS[name], BUILD / name / "portability.exe"
    zig = [
        *ZIG,
        "cc",
        "-target",
        platform.target,
        "-O1",
        "-std=gnu11",
        "-fno-sanitize=all",
        "-ffp-contract=off",
    ]
    sources = (ROOT / "tests" / "portability").glob("*.c")
    run([*zig, *sources, *objects(name), *platform.link, *runner.link, "-o", program])
    return program


def main(names):
    """Link, run and compare; a table that differs is a SystemExit."""
    published = (ROOT / "pyintegrate/method/published_bits.txt").read_text()
    for name in names or RUNNERS:
        runner = RUNNERS[name]
        if runner.command and not shutil.which(runner.command[0]):
            print(f"{name}: not run, it takes {runner.packages} of Debian", flush=True)
            continue
        program = link(name, runner)
        for isa in ("0", "1", "2") if PLATFORMS[name].x86 else ("0",):
            command = [*runner.command, program, isa]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            table = done.stdout.decode().replace("\r\n", "\n")
            if done.returncode == 2:
                print(f"{name}: this processor has no instruction set {isa}", flush=True)
            elif done.returncode or table != published:
                told = (
                    f"ended with {done.returncode}" if done.returncode else "not the published bits"
                )
                raise SystemExit(f"{name}, instruction set {isa}: {told}\n{table}")
            else:
                print(f"{name}, instruction set {isa}: {table.splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
