"""SciPy's solve_ivp, one trajectory after the other, RK45 made to keep its step."""

import numpy as np
from scipy.integrate import solve_ivp

from .steps import make

NAME = "SciPy"
SAMPLE = 3  # trajectories; the rate is what counts
STEPS = make(np.sin, np.cos, np.sqrt, lambda f: f)
FORCES = {
    "oscillator, RK4": lambda t, y, p: (y[1], -p * y[0]),
    "pendulum, RK4": lambda t, y, p: (y[1], -p * np.sin(y[0])),
    "Lorenz, RK4": lambda t, y, p: (
        10.0 * (y[1] - y[0]), y[0] * (p - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2],
    ),
}  # fmt: skip


def prepare(workload):
    force = FORCES.get(workload.step)
    if force is None or workload.kind != "final":
        return None
    steps = min(workload.steps, 1000)

    def run():
        for p in workload.parameter[:SAMPLE]:
            solve_ivp(
                force, (0, workload.h * steps), workload.start, "RK45", args=(p,), rtol=1e9,
                atol=1e9, first_step=workload.h, max_step=workload.h,
            )  # fmt: skip
        return None

    run.share = min(SAMPLE, workload.n) * steps / (workload.n * workload.steps)
    return run
