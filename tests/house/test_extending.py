"""A method and a system take one file and one line: the steps of CONTRIBUTING.md, on a copy."""

import os
import re
import shutil
import subprocess
import sys
from textwrap import dedent

import pytest
from places import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()


def section(title):
    return re.search(rf"^## {title}.*?(?=^## )", PAGE, re.MULTILINE | re.DOTALL)[0]


def steps(title):
    """The file that a section says to write, and the line that it says to add."""
    text = section(title)
    (file,) = re.findall(r"^1\. `([\w/.]+)` — ", text, re.MULTILINE)
    contents, line = re.search(r"^2\. `([\w/.]+)` — `(.*)`\.$", text, re.MULTILINE).groups()
    return file, contents, line


@pytest.fixture(scope="module", name="copy")
def _copy(tmp_path_factory):
    """The repository with both added, under names that are free, and built."""
    copy = tmp_path_factory.mktemp("house") / "copy"
    ignore = shutil.ignore_patterns("*.so", "__pycache__", "vmath_driver*")
    for folder in ("csrc", "pyintegrate", "tests/golden", "tests/method", "tests/reference"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignore)
    (copy / "docs").mkdir()
    for file in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "docs/certificates.json",
                 "docs/methods.md", "tests/conftest.py", "tests/places.py"):  # fmt: skip
        shutil.copy(ROOT / file, copy / file)

    file, contents, line = steps("Add a method")
    table = dedent(re.search(r"^   ```c\n(.*?)^   ```", section("Add a method"), re.M | re.S)[1])
    (copy / file.replace("heun3", "made_up")).write_text(table.replace("heun3", "made_up"))
    with (copy / contents).open("a") as lines:
        lines.write(line.replace("heun3", "made_up") + "\n")

    file, contents, line = steps("Add a system")
    model = re.search(r"copy `(systems/\w+\.h)`", section("Add a system"))[1]
    text = (ROOT / "csrc" / model).read_text()
    (copy / file).write_text(text.replace("pendulum", "morse").replace("PENDULUM", "MORSE"))
    with (copy / contents).open("a") as lines:
        lines.write(line + "\n")

    # Barely optimised: it is built to be run once. The bits do not depend on it.
    done = run(copy, "setup.py", "--quiet", "build_ext", "--inplace")
    assert done.returncode == 0, done.stderr
    return copy


def run(copy, *words):
    flags = {"PYINTEGRATE_CFLAGS": "-O1 -DPI_ROLLED -Wno-psabi", "PYINTEGRATE_LDFLAGS": ""}
    env = {**os.environ, **flags, "PYTHONPATH": str(copy)}
    env.pop("LD_PRELOAD", None)
    return subprocess.run(
        [sys.executable, *words], cwd=copy, env=env, capture_output=True, text=True
    )


USE = """
import numpy as np, pyintegrate as pi
run = dict(x0=np.linspace(0, 3, 5), v0=0.2, dt=0.1, n_steps=50)
there = pi.integrate(pi.systems.pendulum, method="heun3", **run)
here = pi.integrate(pi.systems.morse, method="made_up", **run)
assert here.y.tobytes() == there.y.tobytes()
assert pi.methods["made_up"].order == 3
assert np.array_equal(here.energy(), there.energy())
"""


def test_both_are_in_the_catalogues_and_run(copy):
    done = run(copy, "-c", USE)
    assert done.returncode == 0, done.stderr


def test_a_method_is_certified_and_has_its_golden_row(copy):
    """What `make certificates` does, for this method alone; then the tests of certificates."""
    done = run(copy, "tests/golden/add_rows.py")
    assert (done.returncode, done.stdout) == (0, "made_up: a row in methods.txt\n"), done.stderr
    rows = [line.split() for line in (copy / "tests/golden/methods.txt").read_text().splitlines()]
    (expected,) = (values for name, *values in rows if name == "heun3")
    assert rows[-1] == ["made_up", *expected]
    files = (f"tests/method/test_{name}.py" for name in ("certificates", "order_conditions"))
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "made_up", *files)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b[4-9] passed", done.stdout)
