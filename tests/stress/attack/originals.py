"""Solutions of every kind that a file can hold, which files.py damages."""

from fractions import Fraction

import numpy as np

import pyintegrate as pi


def originals():
    """One of each kind: small, and the same at every call."""
    ralston = pi.RungeKutta([[0, 0], [Fraction(2, 3), 0]], [Fraction(1, 4), Fraction(3, 4)])
    strang = pi.Composition([("kick", 0.5), ("drift", 1.0), ("kick", 0.5)], name="strang")
    adams = pi.Multistep([0, -1, 1], [Fraction(-1, 2), Fraction(3, 2), 0])

    @pi.acceleration(dof=2, k=15.0, centre=(0.5, 0.0), energy=lambda t, x, v, k, centre: v @ v)
    def pendulums(t, x, v, k, centre):
        return -k * np.sin(x - centre) + np.where(t > 0.01, v, 0.0)

    kepler = pi.hamiltonian(dof=2, mu=1.0)(lambda q, p, mu: (p @ p) / 2 - mu / np.sqrt(q @ q))
    rossler = pi.rhs(dim=3, a=0.2)(lambda t, y, a: [-y[1] - y[2], y[0] + a * y[1], y[2] * t])
    lorenz, quiet = pi.systems.lorenz, {"on_failure": "ignore"}
    start = np.linspace(1.0, 2.0, 15).reshape(5, 3)
    wild = start.copy()
    wild[1], wild[3] = np.nan, 1e200

    def run(system, y=None, **options):
        return pi.integrate(system, y, **{"dt": 0.01, "n_steps": 8, **options})

    return [
        run(lorenz(rho=np.linspace(20, 30, 5)), start),
        run(lorenz, wild, bound=1e3, save=3, **quiet),
        run(lorenz, start.astype(np.float32), components=["z", "x"]),
        run(lorenz, start, method=ralston, save="final", dt=np.linspace(0.01, 0.02, 5)),
        run(lorenz, start, method=adams, start="rk4").resume(n_steps=3),
        run(lorenz, start, method="adams_bashforth_moulton4").resume(n_steps=5),
        run(lorenz, start, method="gauss4", save=4),
        run(pi.systems.pendulum, method=strang, t0=3.0),
        run(pi.systems.spring, drive={"k": np.linspace(1, 2, 8)}),
        run(pi.systems.n_body, method="stormer4"),
        run(pi.systems.n_body(n=2, masses=(1, 2)), np.arange(12.0)),
        run(pi.systems.rigid_body, method="rigid_splitting2"),
        run(pendulums(k=np.linspace(1, 2, 4)), np.ones((4, 4))),
        run(pendulums, method="radau_iia3"),
        run(kepler, [1.0, 0, 0, 1], method="velocity_verlet"),
        run(rossler, method="bdf2"),
        run(pi.systems.oscillator, np.ones((2, 0, 2))),
        pi.solve(lorenz(rho=np.linspace(20, 30, 5)), start, t_end=0.3, save="all"),
        pi.solve(pi.systems.pendulum, t_end=np.array([1.0, 2.0]), times=np.linspace(0, 1, 4)),
        pi.solve(lorenz, wild, t_end=0.2, watch={"top": pi.watch.maximum("z")}, **quiet),
        pi.solve(kepler, [1.0, 0, 0, 1], t_end=7.0, events={"y": pi.event("q1", keep=3)}),
        run(pi.systems.spring, watch={"mean": pi.watch.mean("x")}, events={"rest": pi.event("v")}),
    ]  # fmt: skip
