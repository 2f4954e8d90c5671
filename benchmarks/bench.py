"""The speed of this machine and of pyintegrate on it: kernels beside the prototype, runs beside
memory.

Everything is measured in one go, the two sides in turn, and the best of several rounds counts:
machines are shared and noisy, so that only the ratios mean anything.
Usage: python benchmarks/bench.py [rounds], or [calls] for what a call and the import cost.
"""

import os
import re
import subprocess
import sys
import sysconfig
import time
from functools import partial
from pathlib import Path

import numpy as np

import pyintegrate as pi
from pyintegrate import _core

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"
FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-std=gnu11"]
OURS = [*FLAGS, "-fno-tree-vectorize"]  # as in setup.py
TARGETS = {
    "avx512": [
        "-mavx512f",
        "-mavx512dq",
        "-mfma",
        "-mprefer-vector-width=512",
        "-DPI_VECTOR_BYTES=64",
    ],
    "avx2": ["-mavx2", "-mfma", "-DPI_VECTOR_BYTES=32"],
}
# Our kernel, and the prototype's kernels of the same method and system.
SPECIALISED = {
    "semi_implicit_euler_oscillator": [
        "accumulating_semi_implicit_euler",
        "semi_implicit_euler_oscillator",
    ],
    "semi_implicit_euler_pendulum": ["semi_implicit_euler_pendulum"],
    "rk4_oscillator": ["nystrom_rk4_oscillator", "rk4_oscillator"],
    "rk4_spring": ["rk4_spring"],
    "rk4_pendulum": ["nystrom_rk4_pendulum", "rk4_pendulum"],
    "rk4_kepler": ["nystrom_rk4_kepler", "rk4_kepler"],
    "rk4_lorenz": ["grouped_rk4_lorenz", "rk4_lorenz"],
    "tsitouras54_lorenz": ["tsit5_lorenz"],
}
TABLES = {
    "semi_implicit_euler_oscillator_table": ["semi-implicit Euler, run-time table"],
    "forest_ruth4_oscillator": ["Forest-Ruth 4, run-time table", "forest_ruth4_oscillator"],
    "forest_ruth4_pendulum": ["any_composition_pendulum"],
    "forest_ruth4_kepler": ["any_composition_kepler"],
    "rk4_spring_table": ["rk4 spring, run-time table"],
    "rk4_lorenz_table": ["rk4 lorenz, run-time table"],
    "tsitouras54_lorenz_table": ["tsit5 lorenz, run-time table"],
}


def build():
    """Compile our kernels with a driver, and the prototype with 4 and 8 registers in flight."""
    BUILD.mkdir(parents=True, exist_ok=True)
    cc = os.environ.get("CC") or (sysconfig.get_config_var("CC") or "cc").split()[0]
    csrc = HERE.parent / "csrc"
    core = [csrc.glob(f"{folder}/*.c") for folder in ("kernels/isa", "bytecode", "run")]
    sources = [*(path for files in core for path in files), HERE / "kernels.c"]
    jobs = [[cc, *OURS, "-c", str(s), "-o", str(BUILD / (s.stem + ".o"))] for s in sources]
    for isa, target in TARGETS.items():
        for n in (4, 8):
            out = str(BUILD / f"prototype_{isa}_{n}")
            jobs.append(
                [
                    cc,
                    *FLAGS,
                    *target,
                    f"-DIN_FLIGHT={n}",
                    str(HERE / "prototype/kernels.c"),
                    "-o",
                    out,
                    "-lm",
                ]
            )
    running = []
    for job in jobs:
        running.append(subprocess.Popen(job))
        if len(running) >= (os.cpu_count() or 1):
            assert running.pop(0).wait() == 0
    assert all(process.wait() == 0 for process in running)
    objects = [str(BUILD / (s.stem + ".o")) for s in sources]
    subprocess.run([cc, *objects, "-o", str(BUILD / "kernels"), "-lm"], check=True)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def best(rates, lines):
    for name, rate in lines:
        rates[name] = max(rates.get(name, 0), float(rate))


def kernels(isa, rounds):
    """Rates in 1e9 steps/s: ours, and the prototype's with its better number of registers."""
    ours, theirs = {}, {}
    for _ in range(rounds):
        best(ours, re.findall(r"^(\S+) (\S+)$", output(BUILD / "kernels", isa), re.M))
        for n in (4, 8):
            text = output(BUILD / f"prototype_{isa}_{n}")
            best(theirs, re.findall(r"^(.*?) +([\d.]+) G", text, re.M))
    print(
        f"\n{isa}: fused multiply-adds {theirs['peak']:.1f} G/s (the limit);"
        " G steps/s, float64, one thread"
    )
    for title, table in (("specialised kernels", SPECIALISED), ("table kernels", TABLES)):
        print(f"  {title:38} {'ours':>8} {'prototype':>10} {'ratio':>6}")
        for row, peers in table.items():
            peer = max(theirs[p] for p in peers)
            print(f"  {row:38} {ours[row]:8.3f} {peer:10.3f} {ours[row] / peer:6.2f}")


def fastest(function, repeat=7):
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def runs():
    """Whole calls from Python: ensembles, threads, records, small calls."""
    print(f"\nruns from Python ({_core.info()['instruction_set']})")
    omega = np.linspace(1, 2, 100_000)
    cases = {
        "oscillator, semi-implicit Euler": (
            pi.systems.oscillator(omega=omega),
            "semi_implicit_euler",
        ),
        "pendulum, RK4": (pi.systems.pendulum(length=omega), "rk4"),
        "Lorenz, RK4": (pi.systems.lorenz(rho=10 * omega), "rk4"),
        "Kepler, velocity Verlet": (pi.systems.kepler(mu=omega), "velocity_verlet"),
    }
    print(
        f"  {'1e5 trajectories x 1000 steps':38} {'G steps/s':>9} {'2 threads':>10} {'float32':>8}"
    )
    for name, (system, method) in cases.items():
        run = partial(pi.integrate, system, dt=1e-3, n_steps=1000, method=method, save="final")
        one = fastest(run, 5)
        two = fastest(partial(run, workers=2), 5)
        single = fastest(partial(run, dtype=np.float32), 5)
        print(f"  {name:38} {0.1 / one:9.3f} {one / two:9.2f}x {one / single:7.2f}x")

    n, steps = 10_000, 1000
    record = partial(
        pi.integrate,
        pi.systems.oscillator,
        np.ones(n),
        0.0,
        dt=1e-3,
        n_steps=steps,
        method="semi_implicit_euler",
    )
    size = record().y.nbytes
    ours, fill = fastest(record), fastest(lambda: np.full(size // 8, 1.0))
    print(
        f"  every step kept: {size / ours / 1e9:.1f} GB/s;"
        f" np.full of fresh memory {size / fill / 1e9:.1f} GB/s"
    )
    pendulum = partial(pi.integrate, pi.systems.pendulum, dt=1e-3, n_steps=100_000, save="final")
    print(f"  one pendulum, RK4: {fastest(pendulum) / 1e5 * 1e9:.1f} ns a step")


def calls():
    """What a call costs beside its steps, warm and in a loop, and what the import costs."""
    x, system = np.linspace(0, 1, 1000), pi.systems.pendulum
    one = {"dt": 0.01, "n_steps": 1}
    stepper = pi.Stepper(system, 1.0, 0.0, dt=0.01)
    solution = pi.integrate(system, 1.0, 0.0, **one)
    cases = {
        "integrate, one trajectory": lambda: pi.integrate(system, 1.0, 0.0, **one),
        "  its end": lambda: pi.integrate(system, 1.0, 0.0, **one, save="final"),
        "integrate, 1000 trajectories": lambda: pi.integrate(system, x, 0.0, **one),
        "  their ends": lambda: pi.integrate(system, x, 0.0, **one, save="final"),
        "resume": lambda: solution.resume(1),
        "solve, one trajectory": lambda: pi.solve(system, 1.0, 0.0, t_end=0.01),
        "a Stepper": lambda: pi.Stepper(system, 1.0, 0.0, dt=0.01),
        "  its step": stepper.step,
    }
    print("\na call of one step [us]")
    for name, call in cases.items():
        print(
            f"  {name:30} {fastest(lambda call=call: [call() for _ in range(100)], 50) * 1e4:7.1f}"
        )
    code = "import time, numpy; a = time.process_time(); {}; print(time.process_time() - a)"
    first = "import pyintegrate as pi; pi.integrate(pi.systems.pendulum, dt=0.01, n_steps=1)"
    for name, what in (("import pyintegrate", "import pyintegrate"), ("  and a first call", first)):
        times = [float(output(sys.executable, "-c", code.format(what))) for _ in range(9)]
        print(f"  {name:30} {min(times) * 1e3:7.1f} ms above NumPy")


if __name__ == "__main__":
    if "calls" in sys.argv[1:]:
        sys.exit(calls())
    build()
    supported = _core.info()["instruction_sets"]
    for isa in reversed([isa for isa in supported if isa in TARGETS]):
        kernels(isa, int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    runs()
    calls()
