"""How long a batch takes until 90 % of its trajectories end with an error below a goal: one table.

    python benchmarks/time_to_error.py [--n 1024] [--rounds 3] [--write] [PROBLEM ...]

Ours with a fixed step (the best of several methods, each with steps by factors of sqrt 2) and by
`pi.solve` (tolerances by factors of 10, nothing else given); heyoka's adaptive Taylor method in
batches as wide as a register; SciPy's DOP853 on some of the trajectories. One core, in turn, the
best of some rounds. References come from heyoka and from `pi.solve`, both at their smallest
tolerances; the orbits of Kepler from the closed form and from heyoka. A goal closer than ten times
what these differ by is left out. ``--write`` puts the table into docs/tolerance.md.
"""

import argparse
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CORES = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, CORES[:1])

import pyintegrate as pi  # noqa: E402

try:
    import heyoka
except ImportError:
    heyoka = None

GOALS = [1e-3, 1e-6, 1e-9, 1e-12]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "tolerance.md"
BEGIN, END = "<!-- time to an error: begin -->", "<!-- time to an error: end -->"
SLOW = 2.0  # seconds, after which no smaller step or tolerance is tried
SAMPLE = 8  # trajectories of SciPy


@dataclass(frozen=True)
class Problem:
    title: str
    system: object
    start: np.ndarray  # (n, dim)
    t_end: float
    largest_step: float
    methods: tuple[str, ...]
    taylor: object  # the equations for heyoka


def orbits(low, high, n):
    e = np.linspace(low, high, n)
    return np.stack([1 - e, 0 * e, 0 * e, np.sqrt((1 + e) / (1 - e))], axis=-1)


def kepler_equations():
    x, y, u, v = heyoka.make_vars("x", "y", "u", "v")
    cube = (x * x + y * y) ** -1.5
    return [(x, u), (y, v), (u, -x * cube), (v, -y * cube)]


def pendulum_equations():
    x, v = heyoka.make_vars("x", "v")
    return [(x, v), (v, -9.81 * heyoka.sin(x))]


def henon_heiles_equations():
    x, y, u, v = heyoka.make_vars("x", "y", "u", "v")
    return [(x, u), (y, v), (u, -x - 2.0 * x * y), (v, -y - x * x + y * y)]


def lorenz_equations():
    x, y, z = heyoka.make_vars("x", "y", "z")
    return [(x, 10.0 * (y - x)), (y, x * (28.0 - z) - y), (z, x * y - (8.0 / 3.0) * z)]


def problems(n):
    random = np.random.default_rng(1)
    swings = np.stack([np.linspace(0.5, 2.5, n), np.zeros(n)], axis=-1)
    tangle = np.concatenate([random.uniform(-0.2, 0.2, (n, 2)), np.full((n, 2), 0.3)], axis=-1)
    butterfly = random.uniform(-10, 10, (n, 3)) + [0, 0, 25]
    nystrom = ("velocity_verlet", "rk4", "dop853", "blanes_moan_srkn11b", "kahan_li8")
    systems = pi.systems
    return {
        "pendulum": Problem(
            "pendulum, amplitudes 0.5 to 2.5, t = 20",
            systems.pendulum, swings, 20.0, 0.2, nystrom, pendulum_equations),
        "henon_heiles": Problem(
            "Henon-Heiles, t = 50",
            systems.henon_heiles, tangle, 50.0, 0.5, nystrom, henon_heiles_equations),
        "lorenz": Problem(
            "Lorenz, t = 5",
            systems.lorenz, butterfly, 5.0, 0.05, ("rk4", "tsitouras54", "dop853"),
            lorenz_equations),
        "kepler": Problem(
            "Kepler, e = 0 to 0.3, 20 orbits",
            systems.kepler, orbits(0.0, 0.3, n), 40 * np.pi, 0.4, nystrom, kepler_equations),
        "eccentric": Problem(
            "Kepler, e = 0.8 to 0.9, 20 orbits",
            systems.kepler, orbits(0.8, 0.9, n), 40 * np.pi, 0.05, nystrom, kepler_equations),
    }  # fmt: skip


def batches(problem, tolerance):
    """A function that makes heyoka's final states, (n, dim); it is compiled here."""
    width = heyoka.recommended_simd_size()
    start, n = problem.start, len(problem.start)
    equations = problem.taylor()
    integrator = heyoka.taylor_adaptive_batch(
        equations, np.ascontiguousarray(start[:width].T), tol=tolerance
    )
    final = np.empty_like(start)

    def run():
        for first in range(0, n, width):
            lanes = slice(min(first, n - width), min(first, n - width) + width)
            integrator.state[:] = start[lanes].T
            integrator.set_time(0.0)
            integrator.propagate_until(problem.t_end)
            final[lanes] = integrator.state.T
        return final

    return run


def seconds(function, rounds):
    """The result and the best time; one round where that takes long."""
    best, found = np.inf, None
    for _ in range(rounds):
        begin = time.perf_counter()
        found = function()
        best = min(best, time.perf_counter() - begin)
        if best > SLOW:
            break
    return np.array(found), best


def late(found, reference):
    """The error that 90 % of the trajectories stay below."""
    errors = np.abs(found - reference).max(axis=-1)
    return np.quantile(np.where(np.isfinite(errors), errors, np.inf), 0.9)


def ladder(make, settings, reference, rounds, n):
    """(error, seconds a trajectory) of each setting, until it takes too long or gains no more."""
    found = []
    for setting in settings:
        states, took = seconds(make(setting), rounds)
        found.append((late(states, reference), took / n))
        errors = [error for error, _ in found]
        if (
            took > SLOW
            or errors[-1] < GOALS[-1] / 10
            or min(errors[-5:]) > min(errors[:-5], default=np.inf)
        ):
            break
    return found


def tolerances(least):
    return [t for k in range(1, 18) if (t := 10.0**-k) >= least * 0.99]


def measure(problem, rounds):
    """A row: by name the seconds a trajectory at each goal, or None; and where references part."""
    system, start, n = problem.system, problem.start, len(problem.start)
    whole = {"t_end": problem.t_end, "save": "final", "on_failure": "ignore"}

    def solved(rtol):
        return lambda: pi.solve(system, start, rtol=rtol, atol=rtol, **whole).final

    def fixed(method):
        def make(dt):
            steps = {"dt": problem.t_end / dt, "n_steps": dt, "save": "final", "method": method}
            return lambda: pi.integrate(system, start, **steps, on_failure="ignore").final

        return make

    own = pi.solve(system, start, rtol=3e-14, atol=1e-15, method="verner98", **whole).final
    reference = np.asarray(own)
    doubt = 0.0
    if heyoka:
        reference = np.array(batches(problem, 1e-17)())
        doubt = late(own, reference)
    if "kepler" in problem.taylor.__name__:
        exact = system.exact([0.0, problem.t_end], start)[-1]
        doubt = late(exact, reference)
        reference = exact
    counts = [int(problem.t_end / problem.largest_step * 2 ** (k / 2)) for k in range(48)]
    rows = {"solve": ladder(solved, tolerances(3e-14), reference, rounds, n)}
    for method in problem.methods:
        rows[f"fixed {method}"] = ladder(fixed(method), counts, reference, rounds, n)
    if heyoka:
        rows["heyoka"] = ladder(
            lambda tol: batches(problem, tol), tolerances(1e-16), reference, rounds, n
        )
    scipy_row = scipy_ladder(problem, reference)
    if scipy_row:
        rows["SciPy"] = scipy_row
    goals = [goal for goal in GOALS if goal >= 10 * doubt]
    return {name: {g: reached(row, g) for g in goals} for name, row in rows.items()}, doubt


def scipy_ladder(problem, reference):
    try:
        from scipy.integrate import solve_ivp
    except ImportError:
        return None
    sample = np.linspace(0, len(problem.start) - 1, SAMPLE).astype(int)
    force = problem.system.rhs

    def make(rtol):
        def run():
            ends = [
                solve_ivp(force, (0, problem.t_end), problem.start[i], method="DOP853", rtol=rtol,
                          atol=rtol).y[:, -1]
                for i in sample
            ]  # fmt: skip
            return np.array(ends)

        return run

    return ladder(make, tolerances(1e-13), reference[sample], 1, SAMPLE)


def reached(row, goal):
    """The least time of a setting whose error is below the goal."""
    times = [took for error, took in row if error <= goal]
    return min(times) if times else None


def lines_of(title, rows):
    goals = next(iter(rows.values()))
    fixed = [name for name in rows if name.startswith("fixed")]
    for goal in goals:
        best = min((name for name in fixed if rows[name][goal]), default=None,
                   key=lambda name: rows[name][goal])  # fmt: skip
        step = rows[best][goal] if best else None
        adaptive = rows["solve"][goal]
        peers = {name: rows[name][goal] for name in ("heyoka", "SciPy") if name in rows}
        heyokas = peers.get("heyoka")
        cells = [
            title, f"{goal:.0e}",
            f"{microseconds(step)} ({best.split()[1]})" if best else "-",
            microseconds(adaptive), *(microseconds(took) for took in peers.values()),
            *(f"{ours / heyokas:.2f}" if ours and heyokas else "-" for ours in (step, adaptive)),
        ]  # fmt: skip
        yield "| " + " | ".join(cells) + " |"


def microseconds(took):
    return f"{took * 1e6:.3g}" if took else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("problems", nargs="*")
    given = parser.parse_args()
    chosen = problems(given.n)
    table, doubts = [], []
    for name in given.problems or chosen:
        rows, doubt = measure(chosen[name], given.rounds)
        if not table:
            peers = [peer for peer in ("heyoka", "SciPy") if peer in rows]
            table = [
                "| problem | error | fixed step | `pi.solve` | " + " | ".join(peers)
                + " | fixed / heyoka | solve / heyoka |",
                "| --- " * (6 + len(peers)) + "|",
            ]  # fmt: skip
        found = list(lines_of(chosen[name].title, rows))
        doubts.append(f"{chosen[name].title.split(',')[0]} {doubt:.0e}")
        table += found
        print("\n".join(found), flush=True)
    about = (
        f"Microseconds per trajectory, one core ({platform.machine()},"
        f" {pi._core.info()['instruction_set']}), {given.n} trajectories, the best of"
        f" {given.rounds} rounds, written by `make bench-peers`; the machine was shared, and only"
        f" ratios are meaningful. References differ by: {'; '.join(doubts)}."
    )
    print(about)
    if given.write:
        text = PAGE.read_text()
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        PAGE.write_text(before + "\n".join([BEGIN, about, "", *table, END]) + after)


if __name__ == "__main__":
    main()
