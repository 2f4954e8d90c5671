"""Frequencies of orbits of Henon and Heiles beside nafflib and PyNAFF.

In turns, the least processor time of several rounds: three terms of signals x, and of x - i vx.
``python benchmarks/frequencies.py``, after ``pip install nafflib PyNAFF``. What pyintegrate finds
besides, residuals and drifts, is in its time.
"""

import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import nafflib
import numpy as np
import PyNAFF

import pyintegrate as pi

TERMS, LANES, FEW, ROUNDS = 3, 256, 8, 5


def compared(sol, pair):
    """Microseconds for each signal: pyintegrate, nafflib, PyNAFF."""
    n, signals = len(sol.t), [("x", "vx") if pair else "x"]
    z = sol["x"] - 1j * sol["vx"] if pair else sol["x"]
    z = np.ascontiguousarray(z.T[:: LANES // FEW])
    other = nafflib.naff if pair else nafflib.harmonics
    jobs = (
        (LANES, lambda: pi.analysis.frequencies(sol, TERMS, signals=signals)),
        (FEW, lambda: [other(one, num_harmonics=TERMS) for one in z]),
        (1, lambda: PyNAFF.naff(z[0], n - n % 6, TERMS, 0, True)),
    )
    least = np.full(len(jobs), np.inf)
    for _ in range(ROUNDS):
        for i, (count, job) in enumerate(jobs):
            begin = time.process_time()
            job()
            least[i] = min(least[i], (time.process_time() - begin) / count)
    return 1e6 * least


def main():
    print("signal  saves  pyintegrate  nafflib   PyNAFF [us]  faster than both")
    y = np.linspace(-0.15, 0.25, LANES)
    start = np.stack([0 * y, y, 0.3 + 0 * y, 0 * y], axis=-1)
    for n in (1024, 4096, 16384):
        sol = pi.integrate(pi.systems.henon_heiles, start, dt=0.1, n_steps=n - 1, method="yoshida6")
        for pair in (False, True):
            own, *others = compared(sol, pair)
            name = "x - i vx" if pair else "x       "
            told = f"{own:9.0f} {others[0]:10.0f} {others[1]:8.0f} {min(others) / own:12.1f} times"
            print(f"{name} {n:5d} {told}")


main()
