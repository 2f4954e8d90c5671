"""The raw entry points of the core refuse what they would crash on; the fuzzer found these."""

import numpy as np
import pytest
from conftest import pairs

from pyintegrate import _core
from pyintegrate.values.memory import aligned, padded

ABSENT = object()


def fields_of(lanes=1, **changes):
    arguments = {
        "system": "logistic", "method": _core.method("explicit_euler")["handle"],
        "bits": 64, "lanes": lanes,
        "n_steps": 1, "save_every": 1, "bound": np.inf, "workers": 1, "t0": np.zeros(1),
        "dt": np.ones(1), "params": (np.ones(1),) * 2, "initial": aligned((1, 16), float),
        "state_a": aligned((1, 16), float), "state_b": aligned((1, 16), float),
        "record": aligned((2, 1, 64), float), "saved": (0,),
    }  # fmt: skip
    fields = {**arguments, **changes}
    return {name: value for name, value in fields.items() if value is not ABSENT}


def start(lanes=1, **changes):
    return _core.Run(**fields_of(lanes, **changes))


def test_a_run_without_lanes_has_nothing_to_do():
    run = start(lanes=0)
    run.work()
    assert run.outcome()[0] == 1  # all steps, of nobody


@pytest.mark.parametrize("name", ["system", "method", "bits", "lanes", "n_steps", "save_every",
                                  "bound", "t0", "dt", "params", "initial"])  # fmt: skip
def test_a_field_that_is_missing_is_named(name):
    with pytest.raises(TypeError, match=rf"Run needs the field {name}$"):
        start(**{name: ABSENT})


@pytest.mark.parametrize("name", ["methods", "state", "save", "n_step", "Bits"])
def test_a_field_that_is_not_there_is_named(name):
    with pytest.raises(TypeError, match=rf"Run has no field '{name}'"):
        start(**{name: 1})


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="has no field 1|keywords must be strings"):
        _core.Run(**fields_of(), **{1: 2})


def test_fields_may_be_left_out():
    """Then one thread runs it, in one state, and all components are saved."""
    record, initial = aligned((2, 1, 64), float), np.full((1, 16), 0.5)
    left = dict.fromkeys(("workers", "state_a", "state_b", "saved"), ABSENT)
    start(**left, record=record, initial=initial).work()
    assert record[0, 0, 0] == 0.5


def test_a_dictionary_may_be_emptied_while_it_is_read():
    class Emptying:
        def __index__(self):
            fields.clear()
            return 1

    fields = fields_of(lanes=Emptying())
    run = _core.Run(**fields)
    assert not fields
    run.work()
    assert run.outcome()[0] == 1


def test_fields_have_no_places():
    with pytest.raises(TypeError, match="keyword arguments only"):
        _core.Run("logistic")
    with pytest.raises(TypeError, match="keyword arguments only"):
        _core.Stepper({}, system="logistic")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("lanes", n) for n in (-1, 2**48 + 1, 2**64, -(2**64))),
        *(("first", n) for n in (-1, 2**54 + 1)),
        *(("n_steps", n) for n in (-1, 2**54 + 1)),
        *(("save_every", n) for n in (0, -1, 2**54 + 1)),
        *(("workers", n) for n in (0, -1, 2**31)),
        *(("bits", n) for n in (0, 31, 128)),
        *(("bound", x) for x in (-1.0, np.nan, -np.inf)),
    ],
)
def test_a_number_out_of_range_is_told_with_what_was_expected(name, value):
    with pytest.raises(ValueError, match=rf"{name} is .*: out of range, expected .* to"):
        start(**{name: value})


@pytest.mark.parametrize("name", ["lanes", "first", "n_steps", "save_every", "workers", "bits"])
@pytest.mark.parametrize("value", [1.0, "1", None, ()], ids=repr)
def test_a_number_of_another_type_is_refused(name, value):
    with pytest.raises(TypeError, match=f"{name} must be an integer"):
        start(**{name: value})


@pytest.mark.parametrize("name", ["system", "method", "params", "initial", "t0"])
def test_nothing_is_no_object(name):
    with pytest.raises((TypeError, ValueError)):
        start(**{name: None})


def test_bits_are_64_or_32():
    with pytest.raises(ValueError, match="bits is 48, expected 32 or 64"):
        start(bits=48)


@pytest.mark.parametrize("shape", [(1, 1, 64), (2, 2, 64), (2, 1, 8), (2, 64), (128,)], ids=str)
def test_a_record_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match="record (has the shape|is no array of 3 axes)"):
        start(lanes=9, record=aligned(shape, float))


@pytest.mark.parametrize("saved", [(1,), (-1,), (0, 0), (), (2**40,)], ids=str)
def test_components_that_are_not_there_are_refused(saved):
    with pytest.raises(ValueError, match="no component|has the shape"):
        start(saved=saved)


@pytest.mark.parametrize(("method", "system"), [
    ("velocity_verlet", "lorenz"), ("runge_kutta_nystrom4", "lorenz"), ("stormer4", "lorenz"),
    ("rigid_rk4", "oscillator"),
])  # fmt: skip
def test_a_method_that_does_not_fit_the_system_is_refused(method, system):
    """Nobody asks the core for this, which would have no force to call."""
    params = (1.0,) * {"lorenz": 3, "oscillator": 1}[system]
    with pytest.raises(ValueError, match="the method needs"):
        start(method=_core.method(method)["handle"], system=system, params=params)


def test_strides_of_half_an_item_are_refused():
    record = np.lib.stride_tricks.as_strided(np.zeros(99), (2, 1, 4), (64, 8, 4))
    with pytest.raises(ValueError, match="whole items"):
        start(record=record)


@pytest.mark.parametrize(
    ("lanes", "order", "sign"),
    pairs([1, 5, 9, 40], [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)], [1, -1]),
)
def test_a_record_has_any_strides_and_nothing_else_is_written(lanes, order, sign):
    """Each save of each trajectory is at its place, and the memory around the array untouched."""
    shape = (4, 2, lanes)
    guarded = np.full([n + 2 for n in np.array(shape)[list(order)]], -1.0)
    inner = guarded[1:-1, 1:-1, 1:-1].transpose(np.argsort(order))[::sign, ::sign, ::sign]
    assert inner.shape == shape
    initial, a, b = (aligned((2, padded(lanes, np.dtype(float))), float) for _ in range(3))
    initial[...] = np.arange(initial.size).reshape(initial.shape)
    run = start(
        system="oscillator", lanes=lanes, n_steps=3, record=inner, saved=(1, 0), initial=initial,
        state_a=a, state_b=b, params=(np.zeros(1),),
    )  # fmt: skip
    run.work()
    position, velocity = initial[:, :lanes]  # no force: x + n h v
    expected = position + np.arange(4)[:, np.newaxis] * velocity
    assert np.array_equal(inner[:, 1], expected)
    assert np.array_equal(inner[:, 0], np.broadcast_to(velocity, (4, lanes)))
    inner[...] = -1.0
    assert np.all(guarded == -1.0)


@pytest.mark.parametrize("name", ["initial", "state_a", "state_b", "t0", "dt", "record"])
def test_an_array_of_objects_is_refused(name):
    with pytest.raises(TypeError, match="holds objects, expected numbers"):
        start(**{name: np.zeros(128, object)})


@pytest.mark.parametrize("lanes", [1 << 30, 1 << 48])
def test_a_stepper_looks_at_its_state_before_it_makes_anything_of_that_size(lanes):
    rk4 = _core.method("rk4")["handle"]
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="state has .* bytes, expected"):
        _core.Stepper(
            system="logistic", methods=(rk4,), bits=64, lanes=lanes, bound=np.inf, t0=0.0, dt=0.1,
            params=(1.0, 1.0), state=aligned((1, 16), float),
        )  # fmt: skip
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # kB


@pytest.mark.parametrize(
    ("one", "other"), [("adams_bashforth4", "rk4"), ("rk4", "adams_bashforth4")]
)
def test_the_phases_of_a_stepper_have_the_same_rows(one, other):
    """They share the copy of the state from before a block, and the failures of its tiles."""
    step, kick = (_core.method(name)["handle"] for name in (one, other))
    rows = 2 + _core.history_rows("oscillator", step, False)
    with pytest.raises(ValueError, match="a kick or a drift must remember as much as the step"):
        _core.Stepper(
            system="oscillator", methods=(step, kick, kick), bits=64, lanes=8, bound=1.0, t0=0.0,
            dt=0.1, params=(1.0,), state=aligned((rows, 8), float),
        )  # fmt: skip
