"""Systems are values: immutable, comparable, picklable, and they print themselves well."""

import copy
import inspect
import pickle
from html import escape

import numpy as np
import pytest
from reference import states, with_factors

import pyintegrate as pi

every = pytest.mark.parametrize("system", pi.systems.values(), ids=list(pi.systems))


def with_arrays(system):
    return with_factors(system, np.arange(1.0, 6.0))


def test_the_catalogue_is_a_mapping_with_attributes():
    for name, system in pi.systems.items():
        assert pi.systems[name] is system is getattr(pi.systems, name)
        assert name == system.name
        assert name in pi.systems
        assert name in dir(pi.systems)
    assert list(pi.systems) == [s.name for s in pi.systems.values()]
    assert len(pi.systems) == len(set(pi.systems))
    with pytest.raises(ValueError, match="'pendulm'.*'pendulum'"):
        pi.systems["pendulm"]
    with pytest.raises(KeyError):
        pi.systems["pendulm"]
    with pytest.raises(AttributeError, match="'pendulm'.*'pendulum'"):
        pi.systems.pendulm  # noqa: B018


@every
def test_systems_are_equal_when_definition_and_bits_are(system):
    name, value = next(iter(system.params.items()))
    same, other = system(**{name: value}), system(**{name: np.nextafter(value, np.inf)})
    assert system == same == system()
    assert system != other
    assert system != pi.systems["oscillator" if system.name != "oscillator" else "spring"]
    array = system(**{name: [value, value]})
    assert array == system(**{name: np.stack([value, value])})
    assert array != system
    assert array != system(**{name: [[value], [value]]})
    assert (system == "system") is False


@every
def test_systems_are_hashable_unless_a_parameter_is_an_array(system):
    arrays = [name for name, value in system.params.items() if np.ndim(value)]
    if not arrays:
        assert hash(system) == hash(system())
        arrays = [next(iter(system.params))]
        system = system(**{arrays[0]: [1.0, 2.0]})
    with pytest.raises(TypeError, match=arrays[0]):
        hash(system)


def test_bits_tell_zeros_apart():
    assert pi.systems.spring(b=0.0) != pi.systems.spring(b=-0.0)
    assert pi.systems.spring(b=float("nan")) == pi.systems.spring(b=float("nan"))


@every
def test_systems_can_be_pickled_and_copied(system):
    for original in (system, with_arrays(system)):
        again = pickle.loads(pickle.dumps(original))
        assert again == original == copy.deepcopy(original)
        assert np.array_equal(again.rhs(0, system.initial), original.rhs(0, system.initial))


@every
def test_systems_are_immutable(system):
    for name in ("name", "dim", "params", "anything"):
        with pytest.raises(AttributeError):
            setattr(system, name, 1)
    with pytest.raises(TypeError):
        system.params["k"] = 1.0
    with pytest.raises(TypeError):
        system.units["t"] = "h"
    before = system.initial.copy()
    system.initial[:] = 99  # a copy
    assert np.array_equal(system.initial, before)


@every
def test_systems_print_themselves(system):
    text, html = repr(system), system._repr_html_()
    assert text.startswith(f"{system.name}(")
    for name, value in system.params.items():
        shown = f"{value:g}" if np.ndim(value) == 0 else "array of shape"
        if np.ndim(value) == 1 and 0 < len(value) <= 5:
            shown = "(" + ", ".join(f"{x:g}" for x in value)
        assert f"{name}={shown}" in text
        assert name in html
    for name in system.state_names:
        assert name in html
        assert name in system.units
    assert system.units["t"] == "s"
    assert set(system.units) == {*system.params, *system.state_names, "t"}
    assert escape(system.title) in html
    assert "<script" not in html
    assert len(system.reference) > 10
    many = repr(with_factors(system, np.arange(1.0, 51.0)))
    assert "array of shape (50" in many
    assert "\n" not in text + many


def test_help_on_a_system_describes_it():
    text = inspect.getdoc(pi.systems.pendulum(length=[1.0, 2.0]))
    assert text.startswith("plane pendulum: theta'' = -(g / length) sin(theta)\n\nstate: theta = 1")
    assert "parameters: g = 9.81 m/s^2, length = (1, 2) m\n" in text
    assert inspect.getdoc(pi.System).startswith("Equations of motion")


@every
def test_questions_take_any_batch_and_refuse_what_is_no_state(system):
    y = states(system, (3, 1, 2))
    spread = with_factors(system, np.ones((4, 1)))
    assert spread.rhs(0, y).shape == (3, 4, 2, system.dim)
    assert spread.jacobian(0, y).shape == (3, 4, 2, system.dim, system.dim)
    assert np.array_equal(spread.rhs(0, y)[:, 0], system.rhs(0, y)[:, 0])
    assert system.rhs(0, y[:0]).shape == (0, 1, 2, system.dim)
    assert system.rhs(np.zeros((5, 1, 1)), y[0]).shape == (5, 1, 2, system.dim)
    with pytest.raises(ValueError, match=rf"y has shape .*{system.dim}"):
        system.rhs(0, np.ones(system.dim + 1))
    with pytest.raises(ValueError, match=r"y has shape \(\)"):
        system.rhs(0, 1.0)
    with pytest.raises(TypeError, match="y must hold real numbers"):
        system.jacobian(0, 1j * y)


def test_the_times_of_a_profile_ascend():
    profile = pi.systems.acceleration_profile
    for times in [(0, 2, 1, 6, 8), [[0, 2, 4, 6, 8], [8, 6, 4, 2, 0]]]:
        with pytest.raises(ValueError, match="parameter times must ascend"):
            profile(times=times)
    assert profile(times=(0, 2, 2, np.inf, np.inf)).params["times"][2] == 2
    assert np.isnan(profile(times=(0, np.nan, 4, 6, 8)).params["times"][1])  # fails when it runs


def test_an_array_that_is_not_aligned_is_a_state():
    state = np.frombuffer(b"\0" * 17, np.uint8)[1:].view(float)
    assert pi.systems.oscillator.energy(state) == 0
