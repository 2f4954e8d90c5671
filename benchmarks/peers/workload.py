"""What everybody has to do: the workloads of the benchmark."""

from typing import NamedTuple

import numpy as np


class Workload(NamedTuple):
    """N trajectories, some steps, the final state; or every state, or calls of one step.

    Attributes
    ----------
    name, step : str
        What the table calls it; which of the steps it takes.
    n, steps : int
    start : tuple of float
        Initial components, the same for all.
    spread : (float, float)
        The parameter goes from the one to the other over the trajectories.
    multiplies, roots : int
        What a step of ours takes at least: multiplications and multiply-adds, or square roots each
        with a division, whichever the machine runs out of first.
    kind : {"final", "record", "touched", "calls"}
        The final state; every state in fresh memory, or in memory that was in use; calls of one
        step.
    h : float
    """

    name: str
    step: str
    n: int
    steps: int
    start: tuple[float, ...]
    spread: tuple[float, float]
    multiplies: int = 0
    roots: int = 0
    kind: str = "final"
    h: float = 0.001

    @property
    def parameter(self):
        return np.linspace(*self.spread, self.n)

    @property
    def state(self):
        """Where the peers start, (dim, n): velocities half a step ahead for the leapfrog."""
        state = np.repeat(np.array(self.start)[:, np.newaxis], self.n, axis=1)
        return self.with_velocities(state, 0.5)

    def with_velocities(self, state, steps):
        """The velocities moved so many steps ahead; only the leapfrog's are."""
        if self.step != "Kepler, velocity Verlet":
            return state
        x, v = state[:2], state[2:]
        return np.concatenate([x, v - steps * self.h * self.parameter * x / np.hypot(*x) ** 3])


_PENDULUM = {"start": (1.0, 0.0), "spread": (5.0, 20.0)}
_OSCILLATOR = {"start": (1.0, 0.0), "spread": (1.0, 4.0)}
_LORENZ = {"start": (1.0, 0.0, 0.0), "spread": (0.0, 21.0)}
_KEPLER = {"start": (1.0, 0.0, 0.0, 1.1), "spread": (0.9, 1.1)}
# A sine takes 11 multiply-adds, a cosine 11.
WORKLOADS = (
    Workload("W1", "oscillator, semi-implicit Euler", 100_000, 1000, **_OSCILLATOR, multiplies=2),
    Workload("W1, 1e7", "oscillator, semi-implicit Euler", 10_000_000, 100, **_OSCILLATOR,
             multiplies=2),
    Workload("W2", "oscillator, RK4", 100_000, 1000, **_OSCILLATOR, multiplies=6),
    Workload("W3 Euler", "pendulum, semi-implicit Euler", 100_000, 1000, **_PENDULUM,
             multiplies=13),
    Workload("W3 RK4", "pendulum, RK4", 100_000, 1000, **_PENDULUM, multiplies=50),
    Workload("W4 RK4", "Lorenz, RK4", 131_072, 1000, **_LORENZ, multiplies=24),
    Workload("W4 Tsitouras", "Lorenz, Tsitouras 5", 131_072, 1000, **_LORENZ, multiplies=87),
    Workload("W5 Verlet", "Kepler, velocity Verlet", 100_000, 1000, **_KEPLER, roots=1),
    Workload("W5 Forest-Ruth", "Kepler, Forest-Ruth 4", 100_000, 1000, **_KEPLER, roots=3),
    Workload("W6", "oscillator, semi-implicit Euler", 10_000, 1000, **_OSCILLATOR, kind="record"),
    Workload("W6, touched", "oscillator, semi-implicit Euler", 10_000, 1000, **_OSCILLATOR,
             kind="touched"),
    Workload("W7", "pendulum, RK4", 1, 1_000_000, (1.0, 0.0), (9.81, 9.81)),
    Workload("W8", "driven pendulum, RK4", 100_000, 1000, **_PENDULUM, multiplies=114),
    Workload("W9", "oscillator, semi-implicit Euler", 1, 1, (1.0, 0.0), (1.0, 1.0), kind="calls"),
    Workload("W9, 1000", "oscillator, semi-implicit Euler", 1000, 1, **_OSCILLATOR, kind="calls"),
)  # fmt: skip
