"""Events at a level of any quantity; functions of events and watches that ask for the energy."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

PENDULUM, START = pi.systems.pendulum, (np.array([1.0, 2.0, 2.5]), 0.0)


def run(watch=None, system=PENDULUM, start=START, **events):
    return pi.integrate(
        system, *start, dt=0.01, n_steps=300, save="final", events=events or None, watch=watch
    )


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_a_level_is_the_zero_of_the_difference(direction):
    level = np.array([0.5, 0.75, -0.25])
    function = pi.event(
        lambda t, x, v, c: x - c, direction=direction, keep=3, params={"c": level}
    )  # fmt: skip
    sol = run(a=pi.event("theta", direction=direction, keep=3, level=level), b=function)
    assert same_bits(sol.events["a"].t, sol.events["b"].t)
    assert sol.events["a"].count.sum() > 0


def test_a_damped_motion_passes_a_level_of_its_energy():
    spring = pi.systems.spring(k=15.0, b=0.5)
    sol = run(None, spring, (1.0, 0.0), low=pi.event("energy", level=4.0))
    assert spring.energy(sol.events["low"].first.y) == pytest.approx(4.0, rel=1e-12)
    again = pi.solve(spring, 1.0, 0.0, t_end=3.0, rtol=1e-12, atol=1e-12,
                     events={"low": pi.event("energy", level=4.0)})  # fmt: skip
    assert again.events["low"].first.t == pytest.approx(sol.events["low"].first.t, abs=1e-6)


def test_a_condition_has_no_level():
    with pytest.raises(ValueError, match=r"level of event 'a'"):
        run(a=pi.event(lambda t, x, v: x > 0, level=1.0))


def test_functions_take_the_energy_and_invariants_by_name():
    watch = {"kinetic": pi.watch.maximum(lambda t, x, v, energy: energy - 9.81 * (1 - np.cos(x)))}
    sol = run(watch, a=pi.event(lambda t, x, v, energy: x - energy / 20,
                                values=lambda t, x, v, energy: (energy,)))  # fmt: skip
    there = sol.events["a"].first
    assert there.values[:, 0] == pytest.approx(PENDULUM.energy(sol.initial), rel=1e-7)
    assert there["theta"] == pytest.approx(there.values[:, 0] / 20, rel=1e-9)
    most = 9.81 * (1 - np.cos(START[0]))  # all of it kinetic, at the bottom
    assert sol.watched["kinetic"] == pytest.approx(most, rel=2e-3)
    turn = {"L": pi.watch.last(lambda t, x, v, angular_momentum: angular_momentum)}
    sol = run(turn, pi.systems.kepler, (None, None))
    assert sol.watched["L"] == pytest.approx(sol.system.invariants(sol.final)["angular_momentum"])


def test_a_parameter_named_energy_is_a_parameter():
    sol = run(a=pi.event(lambda t, x, v, energy: x - energy, params={"energy": 0.5}))
    assert sol.events["a"].first["theta"] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("quantity", ["x", lambda t, x, v: x * x * x], ids=["x", "x^3"])
def test_a_hundred_levels_are_all_passed(quantity):
    """Of more than 64 events of one step the last were lost without a word."""
    events = {
        f"at {level}": pi.event(quantity, level=level, keep=0)
        for level in np.linspace(-0.95, 0.95, 100)
    }
    run = {"t_end": 6.2, "rtol": 1e-3, "first_step": 3.0}
    sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, events=events, **run)
    assert {int(event.count) for event in sol.events.values()} == {2}
