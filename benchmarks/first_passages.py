"""Mean first-passage times of the overdamped double well against the exact double integral.

From -1 to 0 in V = y^4/4 - y^2/2 at ten temperatures, 100,000 trajectories each, steps of 0.01:
with the bridge within 1 %. ``python benchmarks/first_passages.py`` [trajectories]
"""

import sys
import time

import numpy as np
from scipy.integrate import quad

import pyintegrate as pi

TEMPERATURES = np.linspace(0.083, 0.83, 10)


def exact(kT):
    """1/kT int_-1^0 exp(V(z)/kT) int_-inf^z exp(-V(y)/kT) dy dz."""

    def V(y):
        return y**4 / 4 - y**2 / 2

    def inner(z):
        return quad(lambda y: np.exp((V(z) - V(y)) / kT), -np.inf, z)[0]

    return quad(inner, -1, 0)[0] / kT


def measured(kT, n, bridge=True, dt=0.01):
    """The mean time, its standard error, and the processor time."""
    begin = time.process_time()
    sol = pi.integrate(
        pi.systems.double_well(temperature=kT), np.full((n, 1), -1.0), dt=dt, n_steps=200_000,
        seed=1, save="final",
        events={"top": pi.event("y", direction=1, stop=True, keep=0, bridge=bridge)},
    )  # fmt: skip
    assert np.all(sol.status == pi.Status.STOPPED)
    times = sol.stopped_at
    return times.mean(), times.std() / np.sqrt(n), time.process_time() - begin


def main(n):
    print("  kT     exact   bridge   error     ±    chord  seconds")
    total = 0.0
    for kT in TEMPERATURES:
        known = exact(kT)
        found, scatter, seconds = measured(kT, n)
        chord = measured(kT, max(n // 10, 1), bridge=False)[0]
        total += seconds
        errors = f"{found / known - 1:+7.2%} {scatter / known:6.2%} {chord / known - 1:+7.1%}"
        print(f"{kT:.3f}  {known:8.4f} {found:8.4f} {errors} {seconds:7.2f}")
    print(f"{total:.1f} s of processor time with the bridge")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000)
