"""What a program prints on each instruction set, which a process chooses when it begins."""

import os
import subprocess
import sys

import pyintegrate as pi

USED = "\nimport pyintegrate\nassert pyintegrate._core.info()['instruction_set'] == {!r}\n"


def printed_on_each(program):
    """By instruction set; the program can import what this process can."""
    found = {}
    for name in pi._core.info()["instruction_sets"]:
        done = subprocess.run(
            [sys.executable, "-c", program + USED.format(name)], capture_output=True, text=True,
            env={**os.environ, "PYINTEGRATE_ISA": name, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found[name] = done.stdout.strip()
    return found
