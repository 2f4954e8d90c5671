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
    h : float
    kind : {"final", "record", "calls"}
    """

    name: str
    step: str
    n: int
    steps: int
    start: tuple[float, ...]
    spread: tuple[float, float]
    h: float = 0.001
    kind: str = "final"

    @property
    def parameter(self):
        return np.linspace(*self.spread, self.n)

    @property
    def state(self):
        return np.repeat(np.array(self.start)[:, np.newaxis], self.n, axis=1)


_PENDULUM = {"start": (1.0, 0.0), "spread": (5.0, 20.0)}
_OSCILLATOR = {"start": (1.0, 0.0), "spread": (1.0, 4.0)}
_LORENZ = {"start": (1.0, 0.0, 0.0), "spread": (0.0, 21.0)}
_KEPLER = {"start": (1.0, 0.0, 0.0, 1.1), "spread": (0.9, 1.1)}
WORKLOADS = (
    Workload("W1", "oscillator, semi-implicit Euler", 100_000, 1000, **_OSCILLATOR),
    Workload("W1, 1e7", "oscillator, semi-implicit Euler", 10_000_000, 100, **_OSCILLATOR),
    Workload("W2", "oscillator, RK4", 100_000, 1000, **_OSCILLATOR),
    Workload("W3 Euler", "pendulum, semi-implicit Euler", 100_000, 1000, **_PENDULUM),
    Workload("W3 RK4", "pendulum, RK4", 100_000, 1000, **_PENDULUM),
    Workload("W4 RK4", "Lorenz, RK4", 131_072, 1000, **_LORENZ),
    Workload("W4 Tsitouras", "Lorenz, Tsitouras 5", 131_072, 1000, **_LORENZ),
    Workload("W5 Verlet", "Kepler, Verlet", 100_000, 1000, **_KEPLER),
    Workload("W5 Forest-Ruth", "Kepler, Forest-Ruth 4", 100_000, 1000, **_KEPLER),
    Workload("W6", "oscillator, semi-implicit Euler", 10_000, 1000, **_OSCILLATOR, kind="record"),
    Workload("W7", "pendulum, RK4", 1, 1_000_000, (1.0, 0.0), (9.81, 9.81)),
    Workload("W8", "driven pendulum, RK4", 100_000, 1000, **_PENDULUM),
    Workload("W9", "oscillator, semi-implicit Euler", 1, 1, (1.0, 0.0), (1.0, 1.0), kind="calls"),
    Workload("W9, 1000", "oscillator, semi-implicit Euler", 1000, 1, **_OSCILLATOR, kind="calls"),
)
