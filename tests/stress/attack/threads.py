"""Hostile calls of one run or Stepper from several threads, with small stacks and foreign modes.

    python tests/stress/attack/threads.py [seconds] [seed]

Threads call the methods of the same objects of the core at random, while one of them works: each
call answers, or raises RuntimeError or ValueError; nobody crashes or hangs, and what comes out at
the end has the bits of an undisturbed run.
"""

import ctypes
import random
import sys
import threading
import time
from collections import Counter

import numpy as np

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.values.memory import aligned

LANES, ROW, STEPS = 500, 504, 3000  # a row is padded to whole cache lines
STACKS = [0, 512 << 10, 1 << 20]
MODES = [0, 0x400, 0x800, 0xC00]  # of x86-64; others refuse the numbers
libm = ctypes.CDLL(None)


def initial():
    y = aligned((3, ROW), np.float64)
    y[...] = np.random.default_rng(1).uniform(0.5, 2, (3, ROW))
    y[:, LANES:] = y[:, LANES - 1 : LANES]
    y[:, 7] = np.nan
    return y


def raw_run():
    states = aligned((3, ROW), np.float64), aligned((3, ROW), np.float64)
    run = _core.Run(
        system="lorenz", method=pi.methods["rk4"].handle, bits=64, lanes=LANES, n_steps=STEPS,
        save_every=STEPS, bound=60.0, workers=3, t0=0.0, dt=1e-3, params=(10.0, 28.0, 8 / 3),
        initial=initial(), state_a=states[0], state_b=states[1],
    )  # fmt: skip
    return run, states


def ask_run(rng, run, counts):
    what = rng.choice(["work", "work", "helpers", "outcome"])
    call = {"work": lambda: run.work(None, rng.choice([0, 2])), "outcome": run.outcome,
            "helpers": lambda: run.work(lambda steps: run.outcome(), 2)}[what]  # fmt: skip
    try:
        call()
        counts[f"run.{what}"] += 1
    except (RuntimeError, ValueError):
        counts[f"run.{what} refused"] += 1


def ask_stepper(rng, stepper, counts):
    what = rng.choice(["step", "step", "restore", "reset", "status", "snapshot"])
    call = {"step": lambda: stepper.step(rng.choice([1, 300])), "status": lambda: stepper.status,
            "restore": lambda: stepper.restore(stepper.snapshot()),
            "reset": lambda: stepper.reset(False), "snapshot": stepper.snapshot}[what]  # fmt: skip
    try:
        call()
        counts[f"stepper.{what}"] += 1
    except RuntimeError:
        counts[f"stepper.{what} refused"] += 1


def attack(rng, counts, expected):
    """Some threads ask for a moment, in modes of their own."""
    run, states = raw_run()
    stepper = pi.Stepper(pi.systems.lorenz, initial().T[:LANES], dt=1e-3, method="rk4", bound=60.0)
    end = time.monotonic() + 0.3

    def hostile(number):
        own = random.Random(f"{number}:{rng.random()}")
        libm.fesetround(own.choice(MODES))
        while time.monotonic() < end:
            if own.random() < 0.5:
                ask_run(own, run, counts)
            else:
                ask_stepper(own, stepper, counts)

    threads = [threading.Thread(target=hostile, args=(i,)) for i in range(3)]
    threading.stack_size(rng.choice(STACKS))
    for thread in threads:
        thread.start()
    threading.stack_size(0)
    for thread in threads:
        thread.join()
    while True:
        try:
            run.work()
            break
        except RuntimeError:
            counts["stopped by its own callable"] += 1
    completed, where, *_ = run.outcome()
    if completed == STEPS:
        assert states[where - 1][:, :LANES].tobytes() == expected, "other bits"
    whole = pi.integrate(pi.systems.lorenz, initial().T[:LANES], dt=1e-3, n_steps=stepper.n,
                         bound=60.0, save="final", on_failure="ignore")  # fmt: skip
    assert stepper.y.tobytes() == whole.final.tobytes(), stepper.n


def main(seconds, seed):
    """Attack for so many seconds; the counts by kind."""
    counts, case = Counter(), 0
    run, states = raw_run()
    run.work()
    expected = states[run.outcome()[1] - 1][:, :LANES].tobytes()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        case += 1
        try:
            attack(random.Random(f"{seed}:{case}"), counts, expected)
        except BaseException:
            print(f"attack by threads: case {seed}:{case}")
            raise
    print(f"attack by threads, seed {seed}: {case} cases: {dict(sorted(counts.items()))}")
    return counts


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 1)[len(given) :])
