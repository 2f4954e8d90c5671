"""What it costs to watch, to stop and to carry tangents along, beside the run alone.

Times are of the processor, on one core, each the best of several, measured in turn with the plain
run of the same trajectories, so that only the ratios mean anything on another machine.
Usage: python benchmarks/what_happened.py [rounds]
"""

import sys
import time
from functools import partial

import numpy as np

import pyintegrate as pi

LANES, STEPS = 20_480, 1000
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
RANDOM = np.random.default_rng(1)
SPREAD = RANDOM.uniform(0.5, 1.0, (LANES, 4))
SYSTEMS = {  # name: system, starts, dt, method
    "oscillator, semi-implicit Euler": ("oscillator", SPREAD[:, :2], 0.01, "semi_implicit_euler"),
    "pendulum, RK4": ("pendulum", SPREAD[:, :2], 0.01, "rk4"),
    "Kepler, velocity Verlet": (
        "kepler", SPREAD * 0.01 + [0.7, 0, 0, 1.36], 0.01, "velocity_verlet",
    ),
    "Henon-Heiles, velocity Verlet": ("henon_heiles", 0.2 * SPREAD, 0.05, "velocity_verlet"),
}  # fmt: skip
EXTREMES = {
    "high": pi.watch.maximum("energy_error"),
    "low": pi.watch.minimum("energy_error"),
    "drift": pi.watch.slope("energy_error"),
}
LARGEST = {"largest": pi.watch.max_abs("energy_error")}
WATCHED = [
    ("pendulum, RK4", "extremes and slope of the energy error", EXTREMES),
    ("pendulum, RK4", "largest energy error", LARGEST),
    ("pendulum, RK4", "largest angle", {"far": pi.watch.maximum("theta")}),
    ("Kepler, velocity Verlet", "extremes and slope of the energy error", EXTREMES),
    ("Henon-Heiles, velocity Verlet", "largest energy error", LARGEST),
    ("oscillator, semi-implicit Euler", "largest energy error", LARGEST),
]


def in_turn(*runs):
    """The least time of each, in seconds."""
    best = [np.inf] * len(runs)
    for _ in range(ROUNDS):
        for i, run in enumerate(runs):
            begin = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - begin)
    return best


def run_of(name, **options):
    """A run of one of SYSTEMS, and the same without the options."""
    system, start, dt, method = SYSTEMS[name]
    plain = {"dt": dt, "n_steps": STEPS, "method": method, "save": "final"}
    return [
        lambda more=more: pi.integrate(pi.systems[system], start, **plain, **more)
        for more in ({}, options)
    ]


def row(what, *figures):
    print(f"{what:76s}" + "".join(f"{figure:>14s}" for figure in figures), flush=True)


def rate(seconds, steps=LANES * STEPS):
    return f"{steps / seconds / 1e6:.0f} M/s"


def watching():
    row("watched at each step", "plain", "watched", "times plain")
    for name, what, watch in WATCHED:
        plain, watched = in_turn(*run_of(name, watch=watch))
        row(f"  {name}: {what}", rate(plain), rate(watched), f"{watched / plain:.2f}")


def leaving():
    row("a bound that nobody leaves", "plain", "bounded", "times plain")
    for name in SYSTEMS:
        plain, bounded = in_turn(*run_of(name, bound=100.0))
        row(f"  {name}", rate(plain), rate(bounded), f"{bounded / plain:.2f}")
    start = RANDOM.uniform(-1.2, 1.2, (LANES, 4))
    run = {"dt": 0.05, "n_steps": STEPS, "method": "velocity_verlet", "save": "final"}
    run |= {"on_failure": "ignore"}
    row("escapes from Henon-Heiles", "left", "real steps", "rate")
    outside = {"out": pi.event(lambda t, x, v: x @ x + v @ v > 100, stop=True)}
    for what, options in (
        ("bound=10", {"bound": 10.0}),
        ("x @ x + v @ v > 100 as an event", {"events": outside}),
    ):
        escape = partial(pi.integrate, pi.systems.henon_heiles, start, **run, **options)
        (seconds,) = in_turn(escape)
        sol = escape()
        left = sol.failed_step if "bound" in options else np.rint(sol.stopped_at / 0.05)
        gone = left >= 0
        steps = np.where(gone, left, STEPS).sum()
        row(f"  {what}", f"{100 * gone.mean():.0f} %", f"{steps / 1e6:.2f} M", rate(seconds, steps))


def located():
    orbits = 1024
    start = np.zeros((orbits, 4))
    start[:, 1] = np.linspace(-0.3, 0.4, orbits)
    start[:, 2] = np.sqrt(0.24 - start[:, 1] ** 2 + 2 / 3 * start[:, 1] ** 3)
    run = {"dt": 0.05, "n_steps": 4000, "method": "velocity_verlet", "save": "final"}
    section = {"section": pi.event("x", direction=1, keep=60)}
    row("events", "plain", "with events", "each")
    plain, found = in_turn(
        lambda: pi.integrate(pi.systems.henon_heiles, start, **run),
        lambda: pi.integrate(pi.systems.henon_heiles, start, **run, events=section),
    )
    about = f"  section of Henon-Heiles, {orbits} orbits, t = 200"
    row(about, f"{plain:.4f} s", f"{found:.4f} s", f"{1e3 * found / orbits:.4f} ms")
    stones = 100_000
    x0 = np.broadcast_to([0.0, 0.0, 1.0], (stones, 3))
    v0 = 5 + 20 * RANDOM.uniform(size=(stones, 3)) * [1, 0, 1]
    run = {"dt": 0.05, "n_steps": 120, "method": "rk4", "save": "final"}
    ground = {"ground": pi.event("z", direction=-1, stop=True)}
    plain, found = in_turn(
        lambda: pi.integrate(pi.systems.projectile_drag, x0, v0, **run),
        lambda: pi.integrate(pi.systems.projectile_drag, x0, v0, **run, events=ground),
    )
    about = f"  landing of {stones} projectiles with drag"
    row(about, f"{plain:.4f} s", f"{found:.4f} s", f"{1e6 * found / stones:.2f} us")


def tangents():
    row("one tangent (Lyapunov exponents), without a C compiler", "plain", "with it", "of the rate")
    run = {"dt": 0.01, "n_steps": STEPS, "save": "final"}
    for system, start, method in (
        (pi.systems.lorenz, SPREAD[:, :3], "rk4"),
        (pi.systems.henon_heiles, 0.2 * SPREAD, "velocity_verlet"),
    ):
        plain, carried = in_turn(
            lambda s=system, y=start, m=method: pi.integrate(s, y, method=m, **run),
            lambda s=system, y=start, m=method: pi.lyapunov(
                s, y, dt=0.01, t_end=0.01 * STEPS, method=m
            ),
        )
        row(f"  {system.name}, {method}", rate(plain), rate(carried), f"{plain / carried:.2f}")


def to_a_tolerance():
    few = 1000
    motions = {  # name: system, starts, end, component, level, passed
        "Lorenz": ("lorenz", SPREAD[:few, :3] * 20 + [-15, -15, 10], 10.0, "z", 27.0,
                   lambda t, y: y[2] > 27),
        "pendulum": ("pendulum", SPREAD[:few, :2] * 2 - 0.5, 30.0, "theta", 0.0,
                     lambda t, x, v: x > 0),
        "Henon-Heiles": ("henon_heiles", 0.2 * SPREAD[:few], 50.0, "x", 0.0,
                         lambda t, x, v: x[0] > 0),
        "Kepler": ("kepler", SPREAD[:few] * 0.01 + [0.7, 0, 0, 1.1], 30.0, "x", 0.0,
                   lambda t, x, v: x[0] > 0),
    }  # fmt: skip
    row(
        "watched to a tolerance, 1e-6, times plain",
        "mean",
        "maximum",
        "event",
        "condition",
        "largest dE",
    )
    for name, (system, start, t_end, component, level, above) in motions.items():
        w = pi.watch
        asked = [
            {},
            {"watch": {"q": w.mean(component)}},
            {"watch": {"q": w.maximum(component)}},
            {"events": {"e": pi.event(component, level=level, keep=0)}},
            {"watch": {"q": w.time_within(above)}},
        ]
        if pi.systems[system].has_energy:
            asked.append({"watch": LARGEST})
        run = partial(pi.solve, pi.systems[system], start, t_end=t_end, rtol=1e-6, atol=1e-8)
        plain, *others = in_turn(*(partial(run, save="final", **more) for more in asked))
        about = f"  {name}, {few} motions, {1e3 * plain:.1f} ms"
        row(about, *(f"{other / plain:.2f}" for other in others))


if __name__ == "__main__":
    watching()
    to_a_tolerance()
    leaving()
    located()
    tangents()
