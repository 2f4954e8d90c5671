"""Geometric Brownian motion beside every peer that is installed, and Langevin's cost: one table.

    python benchmarks/compare_noise.py [--rounds 5] [--write]

Euler's step with its normals, float64, one core, in turn; the best round counts, in processor
time. ``--write`` puts the table into docs/performance.md.
"""

import argparse
import os
import time

import numpy as np

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

from peers.page import KIND, replace_section  # noqa: E402

import pyintegrate as pi  # noqa: E402

N, STEPS, MU, SIGMA = 16_384, 1024, 0.05, 0.2
H = 1 / STEPS
A, B = 1 + MU * H, SIGMA * H**0.5


def ours():
    system, start = pi.systems.geometric_brownian_motion(mu=MU, sigma=SIGMA), np.ones((N, 1))
    run = {"dt": H, "n_steps": STEPS, "method": "euler_maruyama", "seed": 1, "workers": 1}
    return lambda: pi.integrate(system, start, **run, save="final").final[:, 0]


def numpy_sfc64():
    """Its fastest generator, Ziggurat normals, in place; blocks that fit the caches."""
    random = np.random.Generator(np.random.SFC64(1))

    def run():
        y, z = np.ones(N), np.empty(4096)
        for first in range(0, N, z.size):
            part = y[first : first + z.size]
            for _ in range(STEPS):
                random.standard_normal(out=z)
                np.multiply(z, B, out=z)
                np.add(z, A, out=z)
                np.multiply(part, z, out=part)
        return y

    return run


def numba_loop():
    """One trajectory after the other, with the generator that Numba has (Mersenne twister)."""
    import numba

    @numba.njit(fastmath=True)
    def loop(y):
        for i in range(y.size):
            s = y[i]
            for _ in range(STEPS):
                s *= A + B * np.random.standard_normal()  # noqa: NPY002
            y[i] = s
        return y

    return lambda: loop(np.ones(N))


def numba_sfc64():
    """The same with NumPy's generator."""
    import numba

    @numba.njit(fastmath=True)
    def loop(y, random):
        for i in range(y.size):
            s = y[i]
            for _ in range(STEPS):
                s *= A + B * random.standard_normal()
            y[i] = s
        return y

    random = np.random.Generator(np.random.SFC64(1))
    return lambda: loop(np.ones(N), random)


def jax_scan():
    """A scan, keys split before it: Threefry."""
    import jax

    jax.config.update("jax_enable_x64", True)

    @jax.jit
    def scan(y, key):
        def step(s, k):
            return s * (A + B * jax.random.normal(k, s.shape)), None

        return jax.lax.scan(step, y, jax.random.split(key, STEPS))[0]

    key = jax.random.key(1)
    return lambda: np.asarray(scan(np.ones(N), key))


def diffrax_solve():
    """Its solver, a virtual Brownian tree for each trajectory; a sixteenth of the work."""
    import diffrax
    import jax

    jax.config.update("jax_enable_x64", True)

    @jax.jit
    def solve(y, keys):
        def one(y, key):
            path = diffrax.VirtualBrownianTree(0.0, 1.0, tol=H / 2, shape=(), key=key)
            terms = diffrax.MultiTerm(
                diffrax.ODETerm(lambda t, y, _: MU * y),
                diffrax.ControlTerm(lambda t, y, _: SIGMA * y, path),
            )
            return diffrax.diffeqsolve(
                terms, diffrax.Euler(), 0.0, 1.0, H, y, max_steps=STEPS + 1,
                saveat=diffrax.SaveAt(t1=True), adjoint=diffrax.DirectAdjoint(),
            ).ys[0]  # fmt: skip

        return jax.vmap(one)(y, keys)

    keys = jax.random.split(jax.random.key(1), N // 16)
    return lambda: np.asarray(solve(np.ones(N // 16), keys))


PEERS = {
    "pyintegrate": ours,
    "NumPy, SFC64, `out=`": numpy_sfc64,
    "Numba": numba_loop,
    "Numba, NumPy's SFC64": numba_sfc64,
    "JAX, scan": jax_scan,
    "diffrax": diffrax_solve,
}


def seconds(function):
    begin = time.process_time()
    found = function()
    return time.process_time() - begin, found


def measured(rounds):
    """Steps per second of each that is installed, by name."""
    runs, best = {}, {}
    for name, prepare in PEERS.items():
        try:
            runs[name] = prepare()
        except ImportError:
            continue
        y = runs[name]()
        # The mean exp(mu) of so many, within six standard errors.
        spread = np.exp(MU) * np.sqrt(np.expm1(SIGMA**2) / y.size)
        assert abs(y.mean() - np.exp(MU)) < 6 * spread, name
    for _ in range(rounds):
        for name, run in runs.items():
            took, y = seconds(run)
            best[name] = max(best.get(name, 0), y.size * STEPS / took)
    return best


def baths(rounds):
    """Of some systems in a heat bath: BAOAB's speed as a share of velocity Verlet and normals."""
    n, found = 4096, {}
    options = {"dt": 0.01, "n_steps": STEPS, "save": "final", "workers": 1}
    growth = pi.systems.geometric_brownian_motion
    for system in (pi.systems.harmonic_oscillator, pi.systems.pendulum, pi.systems.henon_heiles,
                   pi.systems.duffing(delta=0, gamma=0)):  # fmt: skip
        dof = system.dim // 2
        x = np.full((n, dof) if dof > 1 else n, 0.3)
        warm = pi.langevin(system, friction=0.5, temperature=0.01)
        runs = (
            lambda s=system, x=x: pi.integrate(s, x, 0 * x, method="velocity_verlet", **options),
            lambda: pi.integrate(growth, np.ones((n, 1)), method="euler_maruyama", seed=1,
                                 **options),
            lambda s=warm, x=x: pi.integrate(s, x, 0 * x, method="baoab", seed=1, **options),
        )  # fmt: skip
        verlet, normals, baoab = (min(seconds(run)[0] for _ in range(rounds)) for run in runs)
        found[system.name] = (n * STEPS / baoab, (verlet + dof * normals) / baoab)
    return found


def table(rounds):
    best = measured(rounds)
    mine = best["pyintegrate"]
    rows = "\n".join(
        f"| {name} | {rate / 1e6:.3g} | {mine / rate:.3g} |" for name, rate in best.items()
    )
    shares = "\n".join(
        f"| {name} | {rate / 1e6:.3g} | {share:.2f} |"
        for name, (rate, share) in baths(rounds).items()
    )
    return f"""### On {KIND}

{time.strftime("%Y-%m-%d")}, the best of {rounds} rounds.

| | M steps/s | our speed over theirs |
| --- | --- | --- |
{rows}

| BAOAB of a system | M steps/s | share of that speed |
| --- | --- | --- |
{shares}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = table(options.rounds)
    print(text)
    if options.write:
        replace_section("noise", text, "\n## Where the processor is the limit\n")


if __name__ == "__main__":
    main()
