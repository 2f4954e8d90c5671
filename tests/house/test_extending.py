"""A method and a system take one file and one line: the steps of CONTRIBUTING.md, on a copy."""

import re
from textwrap import dedent

import pytest
from copies import built_copy, run_in
from places import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()


def section(title):
    return re.search(rf"^## {title}.*?(?=^## )", PAGE, re.MULTILINE | re.DOTALL)[0]


def steps(title):
    """The file that a section says to write, and the line that it says to add."""
    text = section(title)
    (file,) = re.findall(r"^1\. `([\w/.]+)` — ", text, re.MULTILINE)
    contents, line = re.search(r"^2\. `([\w/.]+)` — `(.*)`[^`]*\.$", text, re.MULTILINE).groups()
    return file, contents, line


def test_the_recipes_name_files_that_are_there():
    for title in ("Add a method", "Add a system"):
        file, contents, line = steps(title)
        assert line == f'#include "{file.removeprefix("csrc/")}"'
        assert "methods/rk4.h" in (ROOT / contents).read_text()


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return built_copy(tmp_path_factory)


def add_to(copy):
    """Both, added to a copy of the repository under names that are free (copies.py)."""
    file, contents, line = steps("Add a method")
    table = dedent(re.search(r"^   ```c\n(.*?)^   ```", section("Add a method"), re.M | re.S)[1])
    (copy / file.replace("heun3", "made_up")).write_text(table.replace("heun3", "made_up"))
    with (copy / contents).open("a") as lines:
        lines.write(line.replace("heun3", "made_up") + "\n")

    file, contents, line = steps("Add a system")
    model = re.search(r"copy `(systems/\w+\.h)`", section("Add a system"))[1]
    text = (ROOT / "csrc" / model).read_text()
    (copy / file).write_text(text.replace("pendulum", "morse").replace("PENDULUM", "MORSE"))
    parts = (copy / contents).read_text().replace("#if PI_HAS(2)\n", f"#if PI_HAS(2)\n{line}\n", 1)
    (copy / contents).write_text(parts)


USE = """
import numpy as np, pyintegrate as pi
run = dict(x0=np.linspace(0, 3, 5), v0=0.2, dt=0.1, n_steps=50)
there = pi.integrate(pi.systems.pendulum, method="heun3", **run)
here = pi.integrate(pi.systems.morse, method="made_up", **run)
assert here.y.tobytes() == there.y.tobytes()
assert pi.methods["made_up"].order == 3
assert np.array_equal(here.energy(), there.energy())
"""


@pytest.mark.long
def test_both_are_in_the_catalogues_and_run(copy):
    done = run_in(copy, "-c", USE)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_a_method_is_certified_and_has_its_golden_row(copy):
    """What `make certificates` does, for this method alone; then the tests of certificates."""
    done = run_in(copy, "tests/golden/add_rows.py")
    assert done.returncode == 0, done.stderr
    assert "made_up: a row in methods.txt" in done.stdout.splitlines()
    lines = (copy / "tests/golden/methods.txt").read_text().splitlines()
    rows = {name: values for name, *values in map(str.split, lines)}
    assert rows["made_up"] == rows["heun3"]
    files = (f"tests/method/test_{name}.py" for name in ("certificates", "order_conditions"))
    done = run_in(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "made_up", *files)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b[4-9] passed", done.stdout)
