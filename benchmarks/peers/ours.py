"""pyintegrate on the same workloads."""

import numpy as np

import pyintegrate as pi

from .steps import W0, W1

NAME = "pyintegrate"
# The peers' Forest-Ruth is three leapfrogs, drift first.
_FOREST_RUTH = pi.Composition(
    [part for w in (W1, W0, W1) for part in (("drift", w / 2), ("kick", w), ("drift", w / 2))]
)
METHODS = {
    "semi-implicit Euler": "semi_implicit_euler",
    "RK4": "rk4",
    "Tsitouras 5": "tsitouras54",
    "velocity Verlet": "velocity_verlet",
    "Forest-Ruth 4": _FOREST_RUTH,
}


@pi.acceleration(g=9.81, initial=(1.0, 0.0))
def driven_pendulum(t, x, v, g):
    """A user's own force."""
    return -g * np.sin(x) - 0.1 * v + 0.5 * np.cos(0.6666666666666666 * t)


def system(workload):
    """The system with the parameter that differs between trajectories."""
    name, p = workload.step.split(",")[0], workload.parameter
    return {
        "oscillator": lambda: pi.systems.oscillator(omega=np.sqrt(p)),
        "pendulum": lambda: pi.systems.pendulum(g=p),
        "driven pendulum": lambda: driven_pendulum(g=p),
        "Lorenz": lambda: pi.systems.lorenz(rho=p),
        "Kepler": lambda: pi.systems.kepler(mu=p),
    }[name]()


def prepare(workload, workers=1):
    """As the peers' ``prepare``; calls of one step go through a Stepper."""
    method = METHODS[workload.step.split(", ")[1]]
    moved = system(workload)
    if workload.kind == "calls":
        stepper = pi.Stepper(moved, np.array(workload.start), dt=workload.h, method=method)
        return stepper.step
    options = {"dt": workload.h, "n_steps": workload.steps, "method": method, "workers": workers}
    y0 = np.array(workload.start)
    if workload.kind == "final":
        return lambda: pi.integrate(moved, y0, save="final", **options).final.T
    # As the core has them; memory that was in use is that of an earlier solution.
    touched = pi.integrate(moved, y0, **options).y if workload.kind == "touched" else None
    return lambda _: np.moveaxis(pi.integrate(moved, y0, out=touched, **options).y, -1, 1)
