"""Brouwer's law: how rounding adds up in symplectic steps, with and without compensated sums.

    python benchmarks/rounding.py [steps] [--write]

What exact arithmetic would keep is followed over `steps` steps (10**9 by default, half an hour) of
velocity Verlet: on the oscillator the quadratic form that the step leaves as it is, the energy of
the method; on Kepler's orbit, a tenth as long, the angular momentum. All that changes it is
rounding. Then how small
the errors of formulas of two positions become as their steps do, and what compensated sums cost,
the best of several rounds in turns. --write: into docs/rounding.md and .png.
"""

import sys
import time
from pathlib import Path

import numpy as np

import pyintegrate as pi

DOCS = Path(__file__).resolve().parents[1] / "docs"
LANES, DT = 32, 0.01
HEADING = "## Measured\n"


def oscillator_energy(y, dt):
    """v^2 + (1 - (omega dt)^2 / 4) omega^2 x^2, with omega = 1."""
    x, v = np.moveaxis(y.astype(np.longdouble), -1, 0)
    return v * v + (1 - np.longdouble(dt) ** 2 / 4) * x * x


def angular_momentum(y, dt):
    x, y, vx, vy = np.moveaxis(y.astype(np.longdouble), -1, 0)
    return x * vy - y * vx


MOTIONS = {  # system, what is kept, dt, the part of the steps that is made
    "energy of oscillators, dt = 1/128": (pi.systems.oscillator, oscillator_energy, 1 / 128, 1),
    "energy of oscillators, dt = 1/100": (pi.systems.oscillator, oscillator_energy, 1 / 100, 1),
    "angular momentum of orbits, dt = 1/128": (pi.systems.kepler, angular_momentum, 1 / 128, 0.1),
}


def starts(system):
    """The default state, a tenth up or down."""
    noise = np.random.default_rng(1).uniform(0.9, 1.1, (LANES, system.dim))
    return noise * system.initial


def growth(system, kept, dt, steps, compensated):
    """The root mean square, over the trajectories, of relative errors after some steps."""
    sol = pi.integrate(
        system, starts(system), dt=dt, n_steps=0, method="velocity_verlet", save="final",
        compensated=compensated,
    )  # fmt: skip
    first = kept(sol.final, dt)
    for n in steps:
        sol = sol.resume(n_steps=n - int(sol.steps[-1]))
        yield float(np.sqrt(np.mean((kept(sol.final, dt) / first - 1) ** 2)))


TWO_POSITIONS, SPAN = ["stormer4", "numerov4", "quinlan_tremaine8"], 1000.0


def floor(method, n_steps):
    """The error of eight oscillators at t = SPAN, root mean square."""
    sol = pi.integrate(
        pi.systems.oscillator, np.linspace(0.5, 1, 8), 0.3, dt=SPAN / n_steps, n_steps=n_steps,
        method=method, save="final",
    )  # fmt: skip
    return float(np.sqrt(np.mean(sol.error() ** 2)))


COSTS = [
    ("oscillator", "velocity_verlet", 100_000, 500),
    ("kepler", "velocity_verlet", 100_000, 200),
    ("kepler", "forest_ruth4", 100_000, 100),
    ("kepler", "rk4", 100_000, 100),
    ("pendulum", "rk4", 100_000, 50),
    ("n_body", "velocity_verlet", 10_000, 30),
    ("kepler", "gauss4", 10_000, 10),
]


def cost(system, method, lanes, n_steps, rounds=7):
    """Nanoseconds a trajectory and step: plain, and compensated."""
    system = pi.systems[system]
    y = np.broadcast_to(system.initial, (lanes, system.dim)).copy()
    best = [np.inf, np.inf]
    for _ in range(rounds):
        for compensated in (False, True):
            start = time.perf_counter()
            pi.integrate(
                system, y, dt=DT, n_steps=n_steps, method=method, save="final",
                compensated=compensated,
            )  # fmt: skip
            taken = (time.perf_counter() - start) / (lanes * n_steps)
            best[compensated] = min(best[compensated], taken)
    return [1e9 * seconds for seconds in best]


def rows_of_growth(steps):
    """Name to the errors after each number of steps, plain and compensated."""
    found = {}
    for name, (system, kept, dt, part) in MOTIONS.items():
        for compensated in (False, True):
            begun = time.perf_counter()
            made = [n for n in steps if n <= part * steps[-1]]
            errors = list(growth(system, kept, dt, made, compensated))
            found[name, compensated] = errors
            taken = time.perf_counter() - begun
            what = "compensated" if compensated else "plain"
            print(f"{name}, {what}: {' '.join(f'{e:.1e}' for e in errors)} ({taken:.0f} s)")
    return found


def picture(steps, found, path):
    from matplotlib import pyplot as plt

    from pyintegrate.plots.style import BLUE, VERMILLION

    figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True, layout="constrained")
    for ax, name in zip(axes, MOTIONS, strict=True):
        for compensated, colour in ((False, VERMILLION), (True, BLUE)):
            label = "compensated" if compensated else "plain"
            errors = found[name, compensated]
            ax.loglog(steps[: len(errors)], errors, "o-", color=colour, label=label)
        law = 2.0**-53 * np.sqrt(steps)
        ax.loglog(steps, law, "--", color="0.6", label=r"$2^{-53}\sqrt{n}$", zorder=0)
        ax.set_title(name)
        ax.set_xlabel("steps of velocity Verlet")
    axes[0].set_ylabel("relative error, root mean square")
    axes[0].legend()
    figure.savefig(path, dpi=100)


def text(steps, found, floors, costs):
    """The section of docs/rounding.md."""
    head = " | ".join(["", *(f"{n:.0e}".replace("e+0", "e") for n in steps)])
    lines = [
        HEADING,
        f"Measured by `python benchmarks/rounding.py --write`: velocity Verlet, {LANES}"
        " trajectories, the root mean square of their",
        "relative errors. In exact arithmetic these steps conserve the quantities in the table, so"
        " all of the error is rounding.",
        "",
        f"| after steps{head} |",
        "| --- |" + " --- |" * len(steps),
    ]
    for (name, compensated), errors in found.items():
        what = f"{name}, {'compensated' if compensated else 'plain'}"
        numbers = [f"{e:.1e}" for e in errors] + ["-"] * (len(steps) - len(errors))
        lines.append(" | ".join([f"| {what}", *numbers]) + " |")
    lines += [
        "",
        f"Two-position formulas: errors at t = {SPAN:.0f} of oscillators of frequency 1.", "",
        "| dt | " + " | ".join(TWO_POSITIONS) + " |", "| --- |" + " --- |" * len(TWO_POSITIONS),
    ]  # fmt: skip
    for n, errors in floors.items():
        lines.append(" | ".join([f"| {SPAN / n:g}", *(f"{e:.1e}" for e in errors)]) + " |")
    lines += [
        "", "![Errors against the number of steps](rounding.png)", "",
        "Time per trajectory and step, one thread"
        f" ({pi._core.info()['instruction_set']}, the best of several rounds; the machine was"
        " shared, and only the ratios are meaningful):", "",
        "| | plain, ns | compensated, ns | ratio |", "| --- | --- | --- | --- |",
    ]  # fmt: skip
    for (system, method, *_), (plain, carried) in costs:
        ratio = carried / plain
        lines.append(f"| {system}, {method} | {plain:.2f} | {carried:.2f} | {ratio:.2f} |")
    return "\n".join(lines) + "\n"


def main():
    given = [a for a in sys.argv[1:] if a != "--write"]
    most = int(float(given[0])) if given else 10**9
    steps = [10**k for k in range(3, 19) if 10**k <= most]
    costs = [(case, cost(*case)) for case in COSTS]
    for (system, method, *_), (plain, carried) in costs:
        print(f"{system}, {method}: {plain:.2f} ns, compensated {carried:.2f} ns a step")
    lengths = [n for n in (10**5, 10**6, 10**7) if n <= most]
    floors = {n: [floor(method, n) for method in TWO_POSITIONS] for n in lengths}
    for n, errors in floors.items():
        print(f"{n} steps:", *(f"{m} {e:.1e}" for m, e in zip(TWO_POSITIONS, errors, strict=True)))
    found = rows_of_growth(steps)
    if "--write" in sys.argv:
        page = DOCS / "rounding.md"
        page.write_text(page.read_text().partition(HEADING)[0] + text(steps, found, floors, costs))
        picture(steps, found, DOCS / "rounding.png")


if __name__ == "__main__":
    main()
