"""Writes what version 0.1.0 saved and pickled; run once, by that version, and kept as test data.

Every object is made again by the test and must answer as it did: `expected.json` has the answers,
in hexadecimal, to the last bit.
"""

import json
import pickle
import sys
from pathlib import Path

import numpy as np
from legacy_forces import pushed

import pyintegrate as pi

HERE = Path(__file__).resolve().parent


@pi.acceleration(k=15.0, b=np.array([0.1, 0.2]), units={"x": "m"})
def damped(t, x, v, k, b):
    return -k * x - b[0] * v - b[1] * np.sin(x)


@pi.hamiltonian(dof=2, mu=1.0)
def orbit(q, p, mu):
    return (p @ p) / 2 - mu / np.sqrt(q @ q)


def solutions():
    """One of every kind that is stored differently, small."""
    lengths = np.array([0.5, 1.0, 2.0])
    pendulums = pi.systems.pendulum(length=lengths)
    yield "all", pi.integrate(pendulums, 1.0, 0.0, dt=0.01, n_steps=7)
    yield "final", pi.integrate(pendulums, 1.0, 0.0, dt=0.01, n_steps=7, save="final")
    yield "every", pi.integrate(pi.systems.lorenz, dt=[0.01, 0.02], t0=1.0, n_steps=7, save=3)
    yield "multistep", pi.integrate(pi.systems.kepler, dt=0.05, n_steps=9, method="bdf3")
    yield (
        "stormer",
        pi.integrate(
            pi.systems.kepler, dt=0.05, n_steps=9, method="stormer_verlet", start=[0.7, -0.07]
        ),
    )
    yield (
        "starter",
        pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=9, method="adams_bashforth4", start="rk4"),
    )
    yield "single", pi.integrate(pi.systems.duffing, dt=0.01, n_steps=5, dtype=np.float32)
    yield "failed", pi.integrate(
        pi.systems.lorenz, [[1, 1, 1], [1e200, 0, 0], [1, 2, 3]], dt=0.01, n_steps=4,
        on_failure="ignore",
    )  # fmt: skip
    yield (
        "driven",
        pi.integrate(
            pi.systems.constant_force, dt=0.1, n_steps=4, drive={"force": [1.0, 2.0, 3.0, 4.0]}
        ),
    )
    yield "component", pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=4, components=["z"])
    yield "bodies", pi.integrate(
        pi.systems.n_body(initial="outer_solar_system"), dt=10.0, n_steps=3,
        method="velocity_verlet",
    )  # fmt: skip
    yield "box", pi.integrate(pi.systems.rigid_body, dt=0.1, n_steps=3, method="rigid_splitting2")
    yield "traced", pi.integrate(damped(k=np.array([1.0, 2.0])), 1.0, 0.0, dt=0.1, n_steps=3)
    yield (
        "separable",
        pi.integrate(orbit, [1.0, 0.0], [0.0, 1.2], dt=0.1, n_steps=3, method="forest_ruth4"),
    )
    own = pi.RungeKutta([[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4], name="ralston")
    yield "own_method", pi.integrate(pi.systems.spring, dt=0.1, n_steps=3, method=own)
    yield "resumed", pi.integrate(pi.systems.spring, dt=0.1, n_steps=3).resume(n_steps=4)


def objects():
    """Whatever a user may have pickled."""
    yield "spring", pi.systems.spring(k=[1.0, 2.0])
    yield "bodies", pi.systems.n_body(n=4)
    yield "box", pi.systems.rigid_body(inverse_mass=2.0)
    yield "damped", damped(k=2.0)
    yield "orbit", orbit
    yield "pushed", pushed(k=3.0)
    yield "rk4", pi.methods["rk4"]
    yield "ralston", pi.RungeKutta([[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4], name="ralston")
    yield "verlet", pi.Composition([("kick", 0.5), ("drift", 1.0), ("kick", 0.5)], name="verlet")
    yield "bdf2", pi.Multistep([1 / 3, -4 / 3, 1], [0, 0, 2 / 3], name="own_bdf2")
    yield "status", pi.Status.NOT_FINITE
    yield "traced", damped.traced
    stepper = pi.Stepper(pi.systems.spring, dt=0.1)
    stepper.step(3)
    yield "snapshot", stepper.snapshot()
    sol = pi.integrate(pi.systems.spring, dt=0.1, n_steps=3)
    yield "drift", pi.analysis.energy_drift(sol)
    yield "comparison", pi.compare(pi.systems.oscillator, dt=0.25, t_end=2.0)


def bits(array):
    """Numbers as text, exactly."""
    return [float(x).hex() for x in np.ravel(np.asarray(array, dtype=np.float64))]


def answers(sol):
    """What a loaded solution must say, to the bit."""
    said = {"repr": repr(sol), "y": bits(sol.y), "t": bits(sol.t), "final": bits(sol.final)}
    said["status"] = np.ravel(sol.status).tolist()
    said["steps"] = sol.steps.tolist()
    if sol.system.name != "constant_force":  # driven: it needs further forces
        said["resumed"] = bits(sol.resume(n_steps=3).final)
    return said


def main():
    expected = {"solutions": {}, "objects": {}}
    for name, sol in solutions():
        sol.save(HERE / f"{name}.npz")
        (HERE / f"{name}.pickle").write_bytes(pickle.dumps(sol))
        expected["solutions"][name] = answers(sol)
        if name in ("all", "multistep", "traced"):
            sol.save(HERE / f"{name}.zarr")
    for name, thing in objects():
        (HERE / f"object_{name}.pickle").write_bytes(pickle.dumps(thing))
        expected["objects"][name] = repr(thing)
    (HERE / "expected.json").write_text(json.dumps(expected, indent=0, sort_keys=True))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
