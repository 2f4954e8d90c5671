"""What tests of many folders need: `from conftest import same_bits`, and fixtures.

That this file is here also makes its folder importable: `reference`, `hostile`, `places`.
"""

import signal
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start what runs beside them
    signal.signal(signal.SIGINT, signal.default_int_handler)


def same_bits(a, b):
    """Equal shapes, types and bytes (NumPy's == would take -0.0 for 0.0 and no NaN for another)."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


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
