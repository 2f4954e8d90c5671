"""Every example in a docstring or in the README runs and prints what it says."""

import doctest
import importlib
import pkgutil
import re

import matplotlib.pyplot as plt
import pytest
from places import ROOT

import pyintegrate

plt.switch_backend("Agg")
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(pyintegrate.__path__, "pyintegrate.")
    if not module.name.endswith(("__main__", "_core"))
)


PUBLIC = [pyintegrate, pyintegrate.analysis, pyintegrate.watch, pyintegrate.across]
# Those that run without the names of their modules, by the second test.
COPIED = {
    f"{one.__module__}.{one.__qualname__}"
    for module in PUBLIC
    for one in (getattr(module, name) for name in module.__all__)
    if hasattr(one, "__qualname__")
}


@pytest.mark.parametrize("name", ["pyintegrate", *MODULES])
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example may write a picture
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder().find(importlib.import_module(name)):
        if test.name not in COPIED:
            runner.run(test)
    plt.close("all")
    assert runner.failures == 0


@pytest.mark.parametrize("module", PUBLIC, ids=lambda m: m.__name__)
def test_examples_import_the_names_they_use(module):
    """As one copies them from help(): nothing of the module they stand in is there."""
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for name in module.__all__:
        text = getattr(module, name).__doc__ or ""
        runner.run(parser.get_doctest(text, {}, name, None, 0))
    plt.close("all")
    assert runner.failures == 0


def test_the_public_functions_have_examples():
    names = ["integrate", "Solution", "System", "Method", "RungeKutta", "Composition", "compare"]
    for public in names:
        assert ">>>" in getattr(pyintegrate, public).__doc__, f"{public} has no example"


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert blocks
    for block in blocks:
        exec(block.replace("1_000_000", "1_000"), {})
    plt.close("all")
