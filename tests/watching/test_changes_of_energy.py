"""Reductions of the energy alone: kernels in registers compute it instead of writing states.

With a second quantity they write the states, from which energies are computed as ever: the same
bits are expected, for every length and interval, for trajectories that fail, and for all of them.
"""

import warnings

import numpy as np
import pytest
from conftest import each

import pyintegrate as pi

LANES = 77  # an odd number of registers of any width
METHODS = ["rk4", "tsitouras54", "semi_implicit_euler", "velocity_verlet", "ralston3", "yoshida6"]
CHANGES = {
    "most": pi.watch.max_abs("energy_error"),
    "low": pi.watch.minimum("energy_error"),
    "high": pi.watch.maximum("energy_error", every=3),
    "line": pi.watch.slope("energy_error"),
    "mean": pi.watch.mean("energy_error", every=6),
    "rms": pi.watch.rms("energy_error", after=0.5),
}
ENERGIES = {"top": pi.watch.maximum("energy"), "spread": pi.watch.variance("energy")}
SYSTEMS = [
    name for name, make in pi.systems.items()
    if name not in ("n_body", "rigid_body") and make().has_energy
]  # fmt: skip


def start(system, push):
    """States around the default one; `push` makes some of them leave for infinity."""
    state = np.tile(np.asarray(system.initial, float), (LANES, 1))
    state *= 1 + 0.01 * np.linspace(-1, 1, LANES)[:, np.newaxis]
    state[::9] *= push
    dof = system.dof or system.dim
    return (state[:, :dof], state[:, dof:]) if system.dof else (state,)


def bits(watched, names):
    return {
        key: np.asarray(value).tobytes()
        for key, value in watched.items()
        if key.split(".")[0] in names
    }


@pytest.mark.parametrize(("name", "method"), each(SYSTEMS, METHODS))
def test_the_bits_do_not_depend_on_who_computes_the_energy(name, method):
    system = pi.systems.get(name)()
    for push, steps in ((1, 1), (1, 16), (1, 200), (1e100, 331)):
        run = {"dt": 0.01, "n_steps": steps, "method": method, "save": "final", "bound": None}
        for watch in (CHANGES, ENERGIES):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                alone = pi.integrate(system, *start(system, push), watch=watch, **run)
                beside = pi.integrate(
                    system,
                    *start(system, push),
                    watch={**watch, "x": pi.watch.last(system.state_names[0])},
                    **run,
                )
            assert bits(alone.watched, watch) == bits(beside.watched, watch), (push, steps)
            np.testing.assert_array_equal(alone.y[-1], beside.y[-1])
