"""Periodic orbits of the restricted three-body problem (Earth and Moon) from rough guesses.

Perpendicular to the line through both, where orbits that are their own mirror image begin.
``python benchmarks/periodic_orbits.py`` [guesses]
"""

import sys
import time

import numpy as np

import pyintegrate as pi


@pi.rhs(dim=4, mu=0.01215, state_names=("x", "y", "vx", "vy"))
def restricted(t, s, mu):
    x, y, vx, vy = s
    far, near = (x + mu) ** 2 + y**2, (x - 1 + mu) ** 2 + y**2
    a, b = (1 - mu) / (far * np.sqrt(far)), mu / (near * np.sqrt(near))
    return vx, vy, 2 * vy + x - a * (x + mu) - b * (x - 1 + mu), -2 * vx + y - a * y - b * y


def main(n):
    rng = np.random.default_rng(0)
    x, vy, period = rng.uniform([0.6, -0.5, 2], [0.95, 0.8, 7], (n, 3)).T
    start, system = np.stack([x, 0 * x, 0 * x, vy], axis=-1), restricted.compile()
    for workers in (1, 2):
        begin = time.perf_counter()
        found = pi.analysis.periodic_orbits(system, start, period, workers=workers)
        seconds = time.perf_counter() - begin
        print(f"{seconds:.1f} s for {n:,} guesses, workers={workers}")
    for name in ("failures", "kinds"):
        print(dict(zip(*np.unique(getattr(found, name), return_counts=True), strict=True)))


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000)
