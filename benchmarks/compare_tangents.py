"""Tangents beside every peer that is installed, on the same work: three tables.

    python benchmarks/compare_tangents.py [--rounds 5] [--compile]

Steps with one tangent, in turns in one process on one core, the best CPU time of the rounds; then
derivatives to a tolerance by all four components of the start, and a Lyapunov spectrum of one
trajectory. Rates are also given as parts of that of the motion alone: of several runs only these
mean anything. ``--compile`` adds our systems as the C compiler makes them.
"""

import argparse
import contextlib
import os
import time

import numpy as np

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import pyintegrate as pi  # noqa: E402

N, STEPS, H = 16_384, 300, 0.001
PUBLISHED = 0.193  # s: ChaosTools, lyapunovspectrum of Henon and Heiles, 10000 times 4


def starts(system, n):
    """The base, (n, dim), and one tangent along the first component."""
    y = system.initial * (1 + 1e-3 * np.linspace(0, 1, n)[:, np.newaxis])
    return y, np.broadcast_to(np.eye(system.dim)[0], y.shape)


# ---- steps with one tangent ----------------------------------------------------------------------
def ours(name, method, tangents=True, compiled=False):
    system = pi.systems[name]
    y, d = starts(system, N)
    if tangents:
        both = system.tangent(1)
        state = np.zeros((N, both.dim))
        state[:, both.places[:, 0]], state[:, both.places[:, 1]] = y, d
        system, y = (both.compile() if compiled else both), state

    def run():
        sol = pi.integrate(system, y, dt=H, n_steps=STEPS, method=method, save="final")
        return both.parts(sol.final)[1][..., 0] if tangents else None

    return run


def by_numba(name, method):
    """The loop that most people write, with fast-math: one trajectory after the other."""
    try:
        import numba
    except ImportError:
        return None
    jit = numba.njit(fastmath=True, error_model="numpy")
    y0, d0 = starts(pi.systems[name], N)
    dim = y0.shape[1]
    if method == "rk4":

        @jit
        def rate(s):
            x, y, z, a, b, c = s
            return (
                10.0 * (y - x), x * (28.0 - z) - y, x * y - 8 / 3 * z,
                10.0 * (b - a), a * (28.0 - z) - x * c - b, a * y + x * b - 8 / 3 * c,
            )  # fmt: skip

        @jit
        def moved(s, h, k):
            return (s[0] + h * k[0], s[1] + h * k[1], s[2] + h * k[2],
                    s[3] + h * k[3], s[4] + h * k[4], s[5] + h * k[5])  # fmt: skip

        @jit
        def loop(states, h, steps):
            for i in range(len(states)):
                s = (states[i, 0], states[i, 1], states[i, 2],
                     states[i, 3], states[i, 4], states[i, 5])  # fmt: skip
                for _ in range(steps):
                    k1 = rate(s)
                    k2 = rate(moved(s, h / 2, k1))
                    k3 = rate(moved(s, h / 2, k2))
                    k4 = rate(moved(s, h, k3))
                    s = moved(moved(moved(moved(s, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4)
                for j in range(6):
                    states[i, j] = s[j]
    else:

        @jit
        def kick(x, y, a, b):
            return (-x - 2 * x * y, -y - x * x + y * y,
                    -a - 2 * (a * y + x * b), -b - 2 * x * a + 2 * y * b)  # fmt: skip

        @jit
        def loop(states, h, steps):
            for i in range(len(states)):
                x, y, vx, vy, a, b, va, vb = states[i]
                f = kick(x, y, a, b)
                for _ in range(steps):
                    vx, vy = vx + h / 2 * f[0], vy + h / 2 * f[1]
                    va, vb = va + h / 2 * f[2], vb + h / 2 * f[3]
                    x, y, a, b = x + h * vx, y + h * vy, a + h * va, b + h * vb
                    f = kick(x, y, a, b)
                    vx, vy = vx + h / 2 * f[0], vy + h / 2 * f[1]
                    va, vb = va + h / 2 * f[2], vb + h / 2 * f[3]
                states[i] = np.array([x, y, vx, vy, a, b, va, vb])

    def run():
        states = np.concatenate([y0, d0], axis=1)
        loop(states, H, STEPS)
        return states[:, dim:]

    return run


def by_jax(name, method):
    """jax.jvp of a step, in a loop over all trajectories at once."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    y0, d0 = starts(pi.systems[name], N)

    def rate(y):
        if method == "rk4":
            return jax.numpy.stack([10.0 * (y[1] - y[0]), y[0] * (28.0 - y[2]) - y[1],
                                    y[0] * y[1] - 8 / 3 * y[2]])  # fmt: skip
        x, y = y
        return jax.numpy.stack([-x - 2 * x * y, -y - x * x + y * y])

    def step(y):
        if method == "rk4":
            k1 = rate(y)
            k2 = rate(y + H / 2 * k1)
            k3 = rate(y + H / 2 * k2)
            k4 = rate(y + H * k3)
            return y + H / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        x, v = y[:2], y[2:]
        v = v + H / 2 * rate(x)
        x = x + H * v
        return jax.numpy.concatenate([x, v + H / 2 * rate(x)])

    @jax.jit
    def loop(y, d):
        return jax.lax.fori_loop(0, STEPS, lambda _, s: jax.jvp(step, s[:1], s[1:]), (y, d))

    y, d = jax.numpy.asarray(y0.T), jax.numpy.asarray(d0.T)
    return lambda: np.asarray(loop(y, d)[1]).T


def in_turns(runs, rounds):
    """Best CPU seconds of each, and what each returns first."""
    best = dict.fromkeys(runs, np.inf)
    found = {name: run() for name, run in runs.items()}  # compiles
    for _ in range(rounds):
        for name, run in runs.items():
            begin = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - begin)
    return best, found


def steps_table(rounds, compiled):
    print("| workload | run | ns a step | of the motion alone |\n| --- | --- | --- | --- |")
    for name, method in (("lorenz", "rk4"), ("henon_heiles", "velocity_verlet")):
        runs = {
            "the motion alone": ours(name, method, tangents=False),
            "pyintegrate, byte code": ours(name, method),
            "pyintegrate, compile()": ours(name, method, compiled=True) if compiled else None,
            "Numba, by hand": by_numba(name, method),
            "JAX, jvp": by_jax(name, method),
        }
        best, found = in_turns({k: run for k, run in runs.items() if run}, rounds)
        expected = found["pyintegrate, byte code"]
        for run, took in best.items():
            if found[run] is not None:
                assert np.abs(found[run] - expected).max() < 1e-8 * np.abs(expected).max(), run
            share = best["the motion alone"] / took
            print(f"| {name}, {method} | {run} | {took / N / STEPS * 1e9:.2f} | {share:.2f} |")


# ---- to a tolerance ------------------------------------------------------------------------------
def tolerance_table(rounds, count=32, t_end=100.0):
    system = pi.systems.henon_heiles
    y = starts(system, count)[0]
    x, v = y[:, :2], y[:, 2:]

    def solve(rtol):
        sol = pi.solve(system, x, v, t_end=t_end, rtol=rtol, atol=rtol, sensitivity=("x0", "v0"))
        return np.concatenate([sol.sensitivity["x0"][-1], sol.sensitivity["v0"][-1]], axis=-1)

    runs = {
        "the motion alone, pi.solve to 1e-11": lambda: pi.solve(
            system, y, t_end=t_end, rtol=1e-11, atol=1e-11) and None,
        "pi.solve(sensitivity=) to 1e-11": lambda: solve(1e-11),
        "pi.solve(system.tangent(4)) to 1e-11": lambda: judged(system, y, t_end, 1e-11),
    }  # fmt: skip
    with contextlib.suppress(ImportError):
        runs["heyoka, var_ode_sys to 1e-11"] = by_heyoka(y, t_end, 1e-11)
    best, found = in_turns(runs, rounds)
    reference = solve(3e-14)
    print("\n| run | ms a trajectory | error of the derivatives |\n| --- | --- | --- |")
    for run, took in best.items():
        error = "-"
        if found[run] is not None:
            error = f"{np.abs(found[run] - reference).max() / np.abs(reference).max():.1e}"
        print(f"| {run} | {took / count * 1e3:.3f} | {error} |")


def judged(system, y, t_end, rtol):
    both = system.tangent(4)
    state = np.zeros((len(y), both.dim))
    state[:, both.places[:, 0]] = y
    state[:, both.places[:, 1:].diagonal()] = 1.0
    return both.parts(pi.solve(both, state, t_end=t_end, rtol=rtol, atol=rtol).final)[1]


def by_heyoka(starts_, t_end, tolerance):
    import heyoka as hy

    x, y, vx, vy = hy.make_vars("x", "y", "vx", "vy")
    equations = [(x, vx), (y, vy), (vx, -x - 2.0 * x * y), (vy, -y - x * x + y * y)]
    system = hy.var_ode_sys(equations, hy.var_args.vars, order=1)
    integrator = hy.taylor_adaptive(system, [0.1] * 4, tol=tolerance, compact_mode=False)
    first = np.array(integrator.state[4:])

    def run():
        found = np.empty((len(starts_), 4, 4))
        for i, start in enumerate(starts_):
            integrator.time = 0.0
            integrator.state[:] = np.concatenate([start, first])
            integrator.propagate_until(t_end)
            found[i] = integrator.state[4:].reshape(4, 4)
        return found

    return run


# ---- a spectrum ----------------------------------------------------------------------------------
def spectrum(rounds):
    """All four exponents of Henon and Heiles' stars over 10000 units of time, one trajectory."""

    def run():
        return pi.lyapunov(pi.systems.henon_heiles, dt=0.1, t_end=10_000.0, k=4, renormalise=10)

    best, found = in_turns({"ours": run}, rounds)
    print(
        f"\nA spectrum of one trajectory, 10000 times 4: {best['ours'] * 1e3:.0f} ms"
        f" ({found['ours'].exponents.round(4)}); ChaosTools publishes {PUBLISHED * 1e3:.0f} ms."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    steps_table(arguments.rounds, arguments.compile)
    tolerance_table(arguments.rounds)
    spectrum(arguments.rounds)
