"""How soon Ctrl-C stops a run, and what progress costs.

    python benchmarks/latency.py [tries]

Runs of several kinds, which would take years, get a SIGINT at a random moment; the latency is the
time from the signal to the KeyboardInterrupt. The goal is 0.1 s at the 99th percentile. Progress is
measured by turns with and without, and should cost less than 1 %.
"""

import os
import signal
import sys
import threading
import time

import numpy as np

import pyintegrate as pi

FOREVER = 1 << 50
KINDS = {
    "one trajectory, final": ("lorenz", 1, {"save": "final"}),
    "a million, final": ("oscillator", 1_000_000, {"save": "final"}),
    "a million, two workers": ("oscillator", 1_000_000, {"save": "final", "workers": 2}),
    "three bodies, final": ("three_body", 100_000, {"save": "final", "method": "dop853"}),
    "recorded": ("lorenz", 10_000, {"save": 1000, "out": (200, 10_000, 3), "n_steps": 199_000}),
    "with a bound": ("lorenz", 100_000, {"save": "final", "bound": 1e6}),
    "with progress": ("lorenz", 10_000, {"save": "final", "progress": lambda done, total: None}),
}


def latency(system, lanes, options, rng):
    """Seconds from a signal at a random moment to the exception."""
    system = pi.systems[system]
    options = {"n_steps": FOREVER, "dt": 1e-6, **options}
    if "out" in options:
        options["out"] = np.empty(options["out"])
    sent = []

    def send():
        time.sleep(float(rng.uniform(0.05, 0.3)))
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    hand = threading.Thread(target=send)
    y = np.broadcast_to(system.initial, (lanes, system.dim))
    hand.start()
    try:
        pi.integrate(system, y, **options)
    except KeyboardInterrupt:
        found = time.perf_counter() - sent[0]
    else:
        raise RuntimeError("the run ended before it was interrupted")
    hand.join()
    return found


def progress_cost(rounds=9):
    """Time with progress over time without: the best of several rounds, taken in turns."""

    def once(progress):
        start = time.perf_counter()
        pi.integrate(pi.systems.lorenz, np.ones((20_000, 3)), dt=1e-3, n_steps=2_000, save="final",
                     progress=progress)  # fmt: skip
        return time.perf_counter() - start

    once(False)
    pairs = [(once(lambda done, total: None), once(False)) for _ in range(rounds)]
    return np.divide(*np.min(pairs, axis=0)) - 1


def main(tries):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng, found = np.random.default_rng(1), []
    for name, (system, lanes, options) in KINDS.items():
        some = [latency(system, lanes, options, rng) for _ in range(-(-tries // len(KINDS)))]
        found += some
        print(f"{name:24} median {np.median(some) * 1e3:6.1f} ms, worst {max(some) * 1e3:6.1f} ms")
    print(f"{len(found)} interrupts: 99th percentile {np.percentile(found, 99) * 1e3:.1f} ms"
          " (at most 100)")  # fmt: skip
    print(f"progress costs {progress_cost():.2%} (at most 1 %)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
