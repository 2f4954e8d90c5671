"""The raw entry points of the core refuse what they would crash on; the fuzzer found these."""

import resource

import numpy as np
import pytest

from pyintegrate import _core
from pyintegrate.values.memory import aligned, padded


def start(lanes=1, **changes):
    arguments = {
        "system": "logistic", "method": _core.methods()[0]["handle"], "bits": 64, "lanes": lanes,
        "first": 0, "n_steps": 1, "save": 1, "bound": np.inf, "workers": 1, "t0": np.zeros(1),
        "h": np.ones(1), "params": (np.ones(1),) * 2, "initial": aligned((1, 16), float),
        "a": aligned((1, 16), float), "b": aligned((1, 16), float),
        "record": aligned((2, 1, 64), float), "which": (0,), "stream": 0,
    }  # fmt: skip
    return _core.start(*{**arguments, **changes}.values())


@pytest.mark.parametrize("shape", [(1, 1, 64), (2, 2, 64), (2, 1, 8), (2, 64), (128,)], ids=str)
def test_a_record_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match="record (has not the shape|is no array of 3 axes)"):
        start(lanes=9, record=aligned(shape, float))


@pytest.mark.parametrize("which", [(1,), (-1,), (0, 0), (), (2**40,)], ids=str)
def test_components_that_are_not_there_are_refused(which):
    with pytest.raises(ValueError, match="no component|has not the shape"):
        start(which=which)


def test_strides_of_half_an_item_are_refused():
    record = np.lib.stride_tricks.as_strided(np.zeros(99), (2, 1, 4), (64, 8, 4))
    with pytest.raises(ValueError, match="whole items"):
        start(record=record)


@pytest.mark.parametrize("lanes", [1, 5, 9, 40])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)], ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_record_has_any_strides_and_nothing_else_is_written(lanes, order, sign):
    """Each save of each trajectory is at its place, and the memory around the array untouched."""
    shape = (4, 2, lanes)
    guarded = np.full([n + 2 for n in np.array(shape)[list(order)]], -1.0)
    inner = guarded[1:-1, 1:-1, 1:-1].transpose(np.argsort(order))[::sign, ::sign, ::sign]
    assert inner.shape == shape
    initial, a, b = (aligned((2, padded(lanes, float)), float) for _ in range(3))
    initial[...] = np.arange(initial.size).reshape(initial.shape)
    run = start(
        system="oscillator", lanes=lanes, n_steps=3, record=inner, which=(1, 0), initial=initial,
        a=a, b=b, params=(np.zeros(1),),
    )  # fmt: skip
    run.work()
    position, velocity = initial[:, :lanes]  # no force: x + n h v
    expected = position + np.arange(4)[:, np.newaxis] * velocity
    assert np.array_equal(inner[:, 1], expected)
    assert np.array_equal(inner[:, 0], np.broadcast_to(velocity, (4, lanes)))
    inner[...] = -1.0
    assert np.all(guarded == -1.0)


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
