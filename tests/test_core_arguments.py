"""The raw entry points of the core refuse what they would crash on; the fuzzer found these."""

import resource

import numpy as np
import pytest

from pyintegrate import _core
from pyintegrate.memory import aligned


def start(lanes=1, record_stride=16, **changes):
    arguments = {
        "system": "logistic", "method": _core.methods()[0]["handle"], "bits": 64, "lanes": lanes,
        "first": 0, "n_steps": 1, "save": 1, "bound": np.inf, "workers": 1, "t0": np.zeros(1),
        "h": np.ones(1), "params": (np.ones(1),) * 2, "initial": aligned((1, 16), float),
        "a": aligned((1, 16), float), "b": aligned((1, 16), float),
        "record": aligned((2, 1, 64), float), "stride": record_stride, "stream": 0,
    }  # fmt: skip
    return _core.start(*{**arguments, **changes}.values())


@pytest.mark.parametrize("record_stride", [9, 12, 63])
def test_rows_of_a_record_that_are_written_whole_are_aligned(record_stride):
    with pytest.raises(ValueError, match="record_stride is too small, or not aligned"):
        start(record_stride=record_stride)


@pytest.mark.parametrize("record_stride", [1, 7, 8, 16, 64])
def test_rows_that_are_aligned_or_compact_are_taken(record_stride):
    start(record_stride=record_stride).work()


@pytest.mark.parametrize("name", ["initial", "a", "b", "t0", "h", "record"])
def test_an_array_of_objects_is_refused(name):
    with pytest.raises(TypeError, match="holds objects, expected numbers"):
        start(**{name: np.zeros(128, object)})


@pytest.mark.parametrize("lanes", [1 << 30, 1 << 48])
def test_a_stepper_looks_at_its_state_before_it_makes_anything_of_that_size(lanes):
    rk4 = next(m["handle"] for m in _core.methods() if m["name"] == "rk4")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="state has .* bytes, expected"):
        _core.stepper("logistic", 64, lanes, np.inf, 0.0, 0.1, (1.0, 1.0), aligned((1, 16), float),
                      (rk4,), None)  # fmt: skip
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # kB
