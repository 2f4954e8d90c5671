"""What is followed from version to version (asv): a few runs of each kind, in processor time.

From the folder benchmarks: ``asv run`` measures, ``asv publish`` draws the history;
``asv run --python=same --quick --set-commit-hash HEAD`` measures the build that is here.
"""

import time

import numpy as np

import pyintegrate as pi


class Batches:
    """Fixed steps: a million steps of some trajectories each."""

    params = (["rk4", "velocity_verlet", "dop853"], ["pendulum", "kepler", "henon_heiles"])
    param_names = ("method", "system")
    timer = time.process_time

    def setup(self, method, system):
        self.system = pi.systems[system]
        start = pi.integrate(self.system, dt=0.01, n_steps=0).final
        self.x0 = start * np.linspace(0.9, 1.1, 1000)[:, np.newaxis]

    def time_steps(self, method, system):
        pi.integrate(self.system, self.x0, dt=0.001, n_steps=1000, method=method, save="final",
                     on_failure="ignore")  # fmt: skip


class Tolerances:
    """To a tolerance: Lorenz's equations, a thousand starts."""

    params = ([1e-6, 1e-12],)
    param_names = ("rtol",)
    timer = time.process_time

    def time_solve(self, rtol):
        x0 = np.ones(3) + np.linspace(0, 1, 1000)[:, np.newaxis]
        pi.solve(pi.systems.lorenz, x0, t_end=2.0, rtol=rtol, save="final")


class Calls:
    """What a short call costs."""

    timer = time.process_time

    def time_ten_steps(self):
        pi.integrate(pi.systems.spring, 1.0, 0.0, dt=0.1, n_steps=10)
