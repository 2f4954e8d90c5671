"""One copy of the repository with all that the recipes of CONTRIBUTING.md add, built once."""

import os
import shutil
import subprocess
import sys
from importlib import import_module

import pytest
from places import ROOT

RECIPES = ("test_extending", "test_an_option", "test_a_family", "test_a_watch_and_an_event")


def run_in(copy, *words):
    """Python in the copy. Barely optimised, as it runs once; the bits do not depend on it."""
    flags = {"PYINTEGRATE_CFLAGS": "-O0 -DPI_ROLLED -Wno-psabi", "PYINTEGRATE_LDFLAGS": ""}
    env = {**os.environ, **flags, "PYTHONPATH": str(copy)}
    env.pop("LD_PRELOAD", None)
    return subprocess.run(
        [sys.executable, *words], cwd=copy, env=env, capture_output=True, text=True
    )


def built_copy(tmp_path_factory):
    """The copy of this run of the tests, which the first worker to ask for it builds."""
    fcntl = pytest.importorskip("fcntl")
    here = tmp_path_factory.getbasetemp()
    copy = (here.parent if "PYTEST_XDIST_WORKER" in os.environ else here) / "copy"
    with open(f"{copy}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not copy.exists():
            _build(copy)
    return copy


def _build(copy):
    ignore = shutil.ignore_patterns("*.so", "__pycache__", "vmath_driver*")
    for folder in ("csrc", "pyintegrate", "tests/golden", "tests/method", "tests/reference"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignore)
    (copy / "docs").mkdir()
    for file in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "docs/certificates.json",
                 "docs/methods.md", "tests/conftest.py", "tests/places.py"):  # fmt: skip
        shutil.copy(ROOT / file, copy / file)
    for recipe in RECIPES:
        import_module(recipe).add_to(copy)
    done = run_in(copy, "setup.py", "--quiet", "build_ext", "--inplace")
    assert done.returncode == 0, done.stderr
