"""Basins of the magnetic pendulum from millions of starts, beside the bare integration.

omega = 0.5, friction 0.2, three magnets 0.3 below: RK4 in steps of 0.1 until the energy is
below the lowest saddle, where capture is certain. ``python benchmarks/basins.py`` [starts]
"""

import sys
import time

import numpy as np

import pyintegrate as pi

ANGLES = 2 * np.pi / 3 * np.arange(3)
BOX = {"x": (-2, 2), "y": (-2, 2), "vx": (-3, 3), "vy": (-3, 3)}


def energy(t, x, v, omega, friction, d):
    kinetic = (v[0] ** 2 + v[1] ** 2 + omega**2 * (x[0] ** 2 + x[1] ** 2)) / 2
    away = [(np.cos(angle) - x[0], np.sin(angle) - x[1]) for angle in ANGLES]
    return kinetic - sum(1 / np.sqrt(a**2 + b**2 + d**2) for a, b in away)


@pi.acceleration(dof=2, omega=0.5, friction=0.2, d=0.3, energy=energy)
def magnets(t, x, v, omega, friction, d):
    pull = [-(omega**2) * x[i] - friction * v[i] for i in range(2)]
    for angle in ANGLES:
        away = np.cos(angle) - x[0], np.sin(angle) - x[1]
        r2 = away[0] ** 2 + away[1] ** 2 + d**2
        pull = [pull[i] + away[i] / (r2 * np.sqrt(r2)) for i in range(2)]
    return pull


def timed(job):
    begin = time.process_time()
    return job(), time.process_time() - begin


def main(n):
    system = magnets.compile()
    rests = pi.analysis.equilibria(system, {"x": (-2, 2), "y": (-2, 2)}, n=500)
    saddles = rests.points[np.char.startswith(rests.kinds, "saddle")]
    along = np.linspace(-4, 4, round(n**0.5))
    x0 = np.stack(np.meshgrid(along, along), axis=-1)
    run = {"dt": 0.1, "n": 200, "cells": 40, "energy": system.energy(saddles).min()}
    found, seconds = timed(lambda: pi.analysis.attractors(system, BOX, x0, 0 * x0, **run))
    print(f"{found}\n{seconds:.2f} s of processor time for {found.label.size:,} starts")
    _, bare = timed(lambda: pi.integrate(system, x0, 0 * x0, dt=0.1, n_steps=85, save="final"))
    print(f"{bare:.2f} s for the mean of 85 steps without looking: {seconds / bare:.2f} times")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 4_000_000)
