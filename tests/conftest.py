"""What tests of many folders need: `from conftest import same_bits`, and fixtures.

That this file is here also makes its folder importable: `reference`, `hostile`, `places`.
"""

import gc
import itertools
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start what runs beside them
    signal.signal(signal.SIGINT, signal.default_int_handler)


every_case = False  # --all


def pytest_addoption(parser):
    text = "also the tests marked long, and every case of the products that pairs() thins out"
    parser.addoption("--all", action="store_true", help=text)


def pytest_configure(config):
    global every_case
    every_case = config.getoption("all")
    gc.disable()


worker = os.environ.get("PYTEST_XDIST_WORKER")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Every other worker begins with the last file: no two make byte code of the same at once."""
    report = yield
    if worker and int(worker[2:]) % 2 and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report


def pytest_collection_modifyitems(config, items):
    if worker:
        items.sort(key=lambda item: item.path)
    if not every_case:
        long = {item for item in items if item.get_closest_marker("long")}
        config.hook.pytest_deselected(items=[item for item in items if item in long])
        items[:] = [item for item in items if item not in long]


def pytest_collection_finish():
    """What all tests brought along is not looked through for garbage at each of them."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pairs(*axes):
    """Cases that hold every two values of two axes together; with --all every case there is.

    A fault needs two values at most, as a rule: of five axes, few cases find what all of them find.
    The last axis varies first, and values need not compare.
    """
    cases = list(itertools.product(*(range(len(axis)) for axis in axes)))
    if not every_case:
        left, chosen = {pair for case in cases for pair in _pairs_of(case)}, []
        while left:
            best = max(cases, key=lambda case: len(left & _pairs_of(case)))
            left -= _pairs_of(best)
            chosen.append(best)
        cases = sorted(chosen)
    return [tuple(axis[i] for axis, i in zip(axes, case, strict=True)) for case in cases]


def each(*axes):
    """Cases that hold every value of every axis, the shorter ones in turn; with --all every one."""
    if every_case:
        return list(itertools.product(*axes))
    return [tuple(axis[i % len(axis)] for axis in axes) for i in range(max(map(len, axes)))]


def _pairs_of(case):
    return set(itertools.combinations(enumerate(case), 2))


def same_bits(a, b):
    """Equal shapes, types and bytes (NumPy's == would take -0.0 for 0.0 and no NaN for another)."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.fixture(autouse=True, scope="session")
def _compiled_systems_are_shared_and_barely_optimised(tmp_path_factory):
    """One cache for all workers, not the user's; with --all they are optimised as users have them.

    They run for a moment: without it the compiler takes a seventh of the time.
    """
    base = tmp_path_factory.getbasetemp()
    os.environ["PYINTEGRATE_CACHE"] = str((base.parent if worker else base) / "libraries")
    if not every_case:
        from pyintegrate.trace import compiler

        compiler._FLAGS[:1] = ["-O0", "-DPI_ROLLED"]


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def no_side_effects(monkeypatch):
    """No plot shows a window or changes a setting."""
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("a plot called show()"))
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
