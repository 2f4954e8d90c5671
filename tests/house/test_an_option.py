"""An option of a run stands in few places: a made-up one is patched into a copy, built and used.

`most_blocks` ends a run after that many blocks of time; the core reads it at each block.
"""

import os
import shutil
import subprocess
import sys

from places import ROOT

MOST_PLACES = 8

# File, what stands there, what stands there then: a place each.
PATCH = [
    (
        "pyintegrate/integration.py",
        "    bound: float | None = None,\n",
        "    bound: float | None = None,\n    most_blocks: int | None = None,\n",
    ),
    (
        "pyintegrate/integration.py",
        "    start : str, Method or array_like, optional\n",
        "    most_blocks : int, optional\n        Blocks of time after which the run ends.\n"
        "    start : str, Method or array_like, optional\n",
    ),
    (
        "pyintegrate/integration.py",
        '"bound": bound,',
        '"bound": bound, "most_blocks": most_blocks,',
    ),
    (
        "pyintegrate/run/options.py",
        "    progress = Option(",
        "    most_blocks = Option(None, lambda n: n or 0, core=True)\n"
        "    progress = Option(",
    ),
    ("csrc/run/run.h", "    double bound;", "    int64_t most_blocks;\n    double bound;"),
    (
        "csrc/python/fields.c",
        '    {"bound", ',
        '    {"most_blocks", INTEGER, NUMBER(most_blocks), 0, START, 0, 1000},\n    {"bound", ',
    ),
    (
        "csrc/run/run.c",
        "        const int error = block ?",
        "        if (run->most_blocks && block > run->most_blocks) break;\n"
        "        const int error = block ?",
    ),
]  # fmt: skip
USE = """
import pyintegrate as pi
call = dict(dt=0.1, n_steps=1000, save=100)
print(pi.integrate(pi.systems.spring, most_blocks=2, **call).n_steps,
      pi.integrate(pi.systems.spring, **call).n_steps)
"""


def test_an_option_that_the_core_reads_takes_few_places(tmp_path):
    assert len(PATCH) <= MOST_PLACES
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns("*.so", "__pycache__", "vmath_driver*")
    for folder in ("csrc", "pyintegrate"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignore)
    for file in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, copy)
    for file, before, after in PATCH:
        text = (copy / file).read_text()
        assert text.count(before) == 1, (
            f"{file}: {before!r} stands there {text.count(before)} times"
        )
        (copy / file).write_text(text.replace(before, after))
    env = {**os.environ, "PYINTEGRATE_CFLAGS": "-O1 -DPI_ROLLED -Wno-psabi"}
    env.pop("LD_PRELOAD", None)
    env["PYINTEGRATE_LDFLAGS"] = ""
    build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    done = subprocess.run(build, cwd=copy, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [sys.executable, "-c", USE], cwd=copy, env={**env, "PYTHONPATH": str(copy)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    # A block is 256 steps, or as many whole intervals of saves as fit into it: 2 of 100.
    assert done.stdout.split() == ["400", "1000"]
