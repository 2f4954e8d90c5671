"""What a user's program looks like to a type checker: read by mypy and pyright, never run."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.axes import Axes
from numpy.typing import NDArray

import pyintegrate as pi
from pyintegrate.analysis import Convergence, EnergyDrift
from pyintegrate.analysis.side_by_side import Comparison, Comparisons
from pyintegrate.system.n_body import NBody
from pyintegrate.user_system.traced import TracedSystem
from pyintegrate.watching.batch.statistics import Statistic
from pyintegrate.watching.reduction import Reduction

Floats = NDArray[np.float64]


@pi.acceleration(k=15.0, b=0.1)
def spring(t: float, x: float, v: float, k: float, b: float) -> float:
    return -k * x - b * v


@pi.rhs
def decay(t: float, y: Floats) -> Floats:
    return -y


@pi.hamiltonian(dof=2, mu=1.0)
def kepler(q: Floats, p: Floats, mu: float) -> Floats:
    return (p @ p) / 2 - mu / np.sqrt(q @ q)


@pi.potential(dof=1, mass="m", m=2.0)
def well(x: float, m: float) -> float:
    return x * x / 2


assert_type(spring, TracedSystem)
assert_type(decay, TracedSystem)
assert_type(kepler, TracedSystem)
assert_type(well, TracedSystem)
assert_type(spring(k=np.linspace(1, 20, 1000)), TracedSystem)
assert_type(spring(k=2.0).compile(), TracedSystem)
assert_type(spring.to_c(), str)

# ---- systems and methods
assert_type(pi.systems.spring, pi.System)
assert_type(pi.systems["spring"], pi.System)
assert_type(pi.systems.spring(k=15.0), pi.System)
assert_type(pi.systems.n_body(initial="outer_solar_system"), NBody)
assert_type(list(pi.systems), list[str])
assert_type(pi.systems.spring.name, str)
assert_type(pi.systems.spring.dof, int)
assert_type(pi.systems.spring.state_names, tuple[str, ...])
assert_type(pi.systems.spring.initial, Floats)
assert_type(pi.systems.spring.rhs(0.0, [1.0, 0.0]), Floats)
assert_type(pi.methods["rk4"], pi.Method)
assert_type(pi.methods["rk4"].order, int)
assert_type(pi.methods["rk4"].stability_limit, float)
assert_type(pi.RungeKutta([[0, 0], [1, 0]], [0.5, 0.5]), pi.Method)
assert_type(pi.Composition([("kick", 1.0), ("drift", 1.0)]), pi.Method)

# ---- runs
sol = pi.integrate(pi.systems.spring, 1.0, 0.0, dt=0.1, t_end=60.0, method=pi.methods["rk4"])
whole: pi.Solution = sol
for states in (sol.t, sol.y, sol.x, sol.v, sol.initial, sol.final, sol["x"]):
    assert_type(states, Floats)
assert_type(sol.energy_error(), Floats)
assert_type(sol.at(0.5), Floats)
assert_type(sol.failures(), str)
assert_type(sol.valid, NDArray[np.bool_])
assert_type(sol.status, NDArray[np.signedinteger[Any]])
whole = sol.resume(n_steps=5)
assert_type(sol.evaluations, int)
assert_type(pi.load("run.npz"), pi.Solution)
assert_type(pi.load("run.npz").resume(n_steps=5), pi.Solution)
assert_type(pi.concatenate(sol, sol.resume(n_steps=5)).resume(t_end=70.0), pi.Solution)
one_of_numpy = np.arange(1, 5)[2]
powers = np.unique(np.geomspace(1, 3, 3).round())
pi.integrate(spring, dt=0.1, n_steps=one_of_numpy, save=powers, seed=one_of_numpy)
assert_type(len(sol), int)
pi.integrate(spring, dt=0.1, n_steps=5, save="final", dtype=np.float32, workers=-1, bound=1e9)
pi.integrate(spring, dt=[0.1, 0.2], n_steps=5, save=10, progress=lambda done, total: None)
pi.integrate(decay, dt=0.1, n_steps=5, save="some")  # type: ignore[arg-type]  # pyright: ignore
pi.integrate(spring, n_steps=5)  # type: ignore[call-arg]  # pyright: ignore

# ---- by hand
ball = pi.Stepper(pi.systems.projectile, [0.0, 0, 1], [2.0, 0, 0], dt=1 / 100)
ball.step()
ball.step(5)
ball.kick()
ball.drift()
ball.v[2] *= -0.9
ball.x = [0.0, 0.0, 1.0]
ball.params["g"][...] = 1.6
ball.restore(ball.snapshot())
assert_type(ball.x, Floats)
assert_type(ball.n, int)
loop = pi.FixedTimestep(ball)
assert_type(loop.advance(1 / 60), float)
assert_type(loop.blend(0.5), Floats)

# ---- comparisons, analysis, pictures
one = pi.compare(pi.systems.spring, methods=["rk4", pi.methods["midpoint"]], dt=0.1, t_end=9.0)
several = pi.compare([spring, spring(k=2.0)], dt=0.1, t_end=9.0)
assert_type(one, Comparison)
assert_type(several, Comparisons)
assert_type(one["rk4"], pi.Solution)
assert_type(one.animate(seconds=2.0), FuncAnimation)
assert_type(sol.animate(), FuncAnimation)
assert_type(several["k = 2"], Comparison)
assert_type(pi.analysis.phase_drift(sol), Floats)
assert_type(pi.analysis.energy_drift(sol), EnergyDrift)
assert_type(pi.analysis.stability_limit("rk4"), float)
assert_type(pi.analysis.convergence(spring, ["rk4"]), Convergence)
assert_type(pi.plots.phase_portrait(sol, lw=2), Axes)
assert_type(pi.plots.energy(one, labels={"rk4": "Kutta"}), Axes)

# ---- to a tolerance, events, SciPy's door
adaptive = pi.solve(pi.systems.lorenz, t_end=1.0, events={"top": pi.event("z")})
positions: NDArray[np.float64] = adaptive.x
assert_type(adaptive.steps_taken, NDArray[np.signedinteger[Any]])
assert_type(adaptive.last_step, Floats)
watched = [pi.watch.maximum("x", every=2), pi.watch.entries("y", after=1.0)]
assert_type(watched, list[Reduction])
assert_type(pi.across.mean("x", every=10, by=np.arange(3)), Statistic)
assert_type(adaptive.events["top"].t, Floats)
assert_type(adaptive.events["top"]["x"], Floats)
assert_type(adaptive.events["top"].first.count, NDArray[np.signedinteger[Any]])
assert_type(sol.cite(), str)
assert_type(pi.methods["rk4"].cite("text"), str)


def shrink(t: float, y: Floats) -> Floats:
    return -y


found = pi.solve_ivp(shrink, (0, 1), [1.0], dense_output=True)
assert_type(found.y, Floats)
assert_type(found.status, int)
