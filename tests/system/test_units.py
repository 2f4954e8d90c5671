"""Units are those of the equations: in metres, seconds and kilograms of other sizes the same motion
has other numbers, as the units of state and parameters say."""

import numpy as np
import pytest

import pyintegrate as pi

METRE, SECOND, KILOGRAM = 3.0, 0.7, 1.9
SIZES = {"m": METRE, "s": SECOND, "kg": KILOGRAM, "N": KILOGRAM * METRE / SECOND**2, "rad": 1.0}
# Without units, the time too: "1" stands for all of them.
NATURAL = {"van_der_pol", "henon_heiles", "lorenz", "rossler"}


def size(unit):
    """How many times larger a number in these units is."""
    return 1 / eval(unit.replace(" ", "*").replace("^", "**"), {"__builtins__": {}}, SIZES)


def other(values, unit):
    return np.asarray(values, np.float64) * size(unit)


@pytest.mark.parametrize("name", [name for name in pi.systems if name not in NATURAL])
def test_equations_are_the_same_in_other_units(name):
    system = pi.systems[name]
    rng = np.random.default_rng(0)
    params = {
        key: np.asarray(value) * rng.uniform(0.8, 1.2, np.shape(value))
        for key, value in system.params.items()
    }
    if name == "acceleration_profile":
        params["times"] = np.sort(params["times"])
    of_state = np.array([size(system.units[part]) for part in system.state_names])
    here = system(**params)
    there = system(**{key: other(value, system.units[key]) for key, value in params.items()})
    y, t = rng.uniform(0.5, 1.5, (7, system.dim)), rng.uniform(0.0, 8.0, 7)
    rates = there.rhs(other(t, "s"), y * of_state)
    np.testing.assert_allclose(rates, here.rhs(t, y) * of_state / size("s"), rtol=1e-10)
    if system.has_energy:  # or an energy per mass: by one factor for all states
        ratio = there.energy(y * of_state, other(t, "s")) / here.energy(y, t)
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-10)
        assert abs(ratio[0] - 1) > 1e-3


def test_what_has_no_units_says_so():
    for name in NATURAL:
        system = pi.systems[name]
        assert {unit for key, unit in system.units.items() if key != "t"} == {"1"}
