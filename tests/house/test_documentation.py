"""Every public name is documented, shown with an example, and listed in the reference."""

import inspect
import re

import numpy as np
import pytest
from places import ROOT

import pyintegrate as pi

DOCS = ROOT / "docs"
MODULES = {"pyintegrate": pi, "pyintegrate.analysis": pi.analysis, "pyintegrate.plots": pi.plots,
           "pyintegrate.dask": pi.dask}  # fmt: skip
PUBLIC = [(f"{module}.{name}", getattr(there, name)) for module, there in MODULES.items()
          for name in there.__all__]  # fmt: skip
public = pytest.mark.parametrize(("name", "thing"), PUBLIC, ids=[name for name, _ in PUBLIC])


def _is_result(thing):
    """A class that a function of analysis or dask returns; the example is with the function."""
    return inspect.isclass(thing) and ".analysis." in thing.__module__


@public
def test_a_public_name_has_a_docstring_and_an_example(name, thing):
    text = thing.__doc__ or ""
    assert len(text.splitlines()[0]) > 20
    if not inspect.ismodule(thing) and not _is_result(thing):
        assert ">>>" in text, f"{name} has no example"


@public
def test_a_public_function_describes_its_arguments(name, thing):
    if not inspect.isfunction(thing):
        return
    text = thing.__doc__
    for argument in inspect.signature(thing).parameters.values():
        if argument.kind is not argument.VAR_KEYWORD:
            assert re.search(rf"\b{argument.name}\b", text), f"{name} is silent on {argument.name}"


CLASSES = [pi.System, pi.Solution, pi.Method, pi.Stepper, pi.FixedTimestep]
MEMBERS = [
    (kind, name) for kind in CLASSES for name, member in vars(kind).items()
    if inspect.isfunction(member) and not name.startswith("_")
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), MEMBERS, ids=[f"{k.__name__}.{n}" for k, n in MEMBERS])
def test_a_public_method_is_described_and_shown(kind, name):
    text = getattr(kind, name).__doc__ or ""
    assert len(text) > 20
    assert ">>>" in text or f".{name}(" in kind.__doc__, "no example"


def test_the_reference_lists_every_public_name():
    text = (DOCS / "reference.md").read_text()
    sections = dict(re.findall(r"currentmodule:: (\S+)\n(.*?)```", text, re.S))
    for module, there in MODULES.items():
        listed = set(re.findall(r"^   (\w+)$", sections[module], re.M))
        expected = set(there.__all__) - {"analysis", "plots"}
        assert listed == expected, f"docs/reference.md, {module}: add or remove {listed ^ expected}"


def test_the_guide_runs(tmp_path, monkeypatch):
    """The lines of docs/large.md, with smaller numbers."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "large.md").read_text()
    names: dict = {}
    smaller = {
        "1_001, 1_000_000": "11, 20",
        "1, 1_000_000)": "1, 20)",
        "1_000,": "10,",
        "1_000_000_000": "50",
        "10_000_000": "20",
        "200)": "20)",
        "300)": "30)",
        "length=50": "length=7",
    }
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        for old, new in smaller.items():
            block = block.replace(old, new)
        exec(block, names)
    assert names["sol"].status.compute().shape == (50,)


def test_the_page_about_watching_runs():
    pytest.importorskip("matplotlib").use("Agg")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "watching.md").read_text(), re.S):
        exec(
            re.sub(r", (160|1000)\)", ", 10)", block).replace("n_steps=1000", "n_steps=300"), names
        )
    assert names["sol"].events["top"].first["z"].shape == (10,)


def test_the_page_about_tangents_runs():
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib").use("Agg")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "tangents.md").read_text(), re.S):
        exec(block.replace("n = 100\n", "n = 30\n").replace("1020.0", "120.0"), names)
    assert abs(names["fit"].x[0] - 9.81) < 0.02
    assert abs(names["guess"][:, 0] - names["true_g"]).max() < 0.03


def test_the_page_about_fits_runs():
    pytest.importorskip("matplotlib").use("Agg")
    space = {"pi": pi, "np": np}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "fits.md").read_text(), re.S):
        exec(block, space)
    assert np.abs(space["found"].parameters["rho"] - 28) < 0.3  # six of its standard errors


def test_the_page_about_portraits_runs():
    pytest.importorskip("matplotlib").use("Agg")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "portraits.md").read_text(), re.S):
        exec(block, names)
    assert names["found"].kinds.tolist() == ["stable focus", "saddle", "stable focus"]
    assert abs(names["basins"].fractions - 0.5).max() < 4 * names["basins"].errors.max()
    assert abs(names["cycle"].periods - 6.6632868593) < 1e-9
    assert (np.diff(names["swing"].values[:, 0, 0]) < 0).all()
    assert {1, 2}.issubset(names["diagram"].periods())
    assert np.isfinite(names["flow"].values).all()


def test_the_reference_lists_every_watch():
    text = (DOCS / "reference.md").read_text()
    listed = re.search(r"currentmodule:: pyintegrate.watch\n(.*?)```", text, re.S)[1]
    assert set(re.findall(r"^   (\w+)$", listed, re.M)) == set(pi.watch.__all__)


def test_the_page_on_tolerances_runs():
    names = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "tolerance.md").read_text(), re.S):
        exec(compile(block, "tolerance.md", "exec"), names)
        assert not names["sol"].status.any()


def test_the_page_on_the_lab_runs():
    pytest.importorskip("anywidget")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "lab.md").read_text(), re.S):
        exec(block, names)
    assert names["lab"].solution["rk4"].n_steps == 40
