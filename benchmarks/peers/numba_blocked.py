"""Numba, as an expert writes it: blocks of trajectories side by side in the first cache."""

from math import cos, sin, sqrt

import numba
import numpy as np

from .steps import make

NAME = "Numba, blocked"
BLOCK = 128
jit = numba.njit(fastmath=True)
STEPS = make(sin, cos, sqrt, numba.njit(fastmath=True, inline="always"))


def prepare(workload):
    step, dim = STEPS[workload.step], len(workload.start)
    if workload.n < BLOCK or workload.kind == "calls":
        return None  # the plain loop is the same

    if dim == 2:

        @jit
        def one(a, q, t, h, size):
            for j in range(size):
                a[0, j], a[1, j] = step((a[0, j], a[1, j]), t, q[j], h)
    elif dim == 3:

        @jit
        def one(a, q, t, h, size):
            for j in range(size):
                a[0, j], a[1, j], a[2, j] = step((a[0, j], a[1, j], a[2, j]), t, q[j], h)
    else:

        @jit
        def one(a, q, t, h, size):
            for j in range(size):
                a[0, j], a[1, j], a[2, j], a[3, j] = step(
                    (a[0, j], a[1, j], a[2, j], a[3, j]), t, q[j], h
                )

    @jit
    def loop(y, p, h, steps):
        a, q = np.empty((dim, BLOCK)), np.empty(BLOCK)
        for i in range(0, p.size, BLOCK):
            size = min(BLOCK, p.size - i)
            a[:, :size], q[:size] = y[:, i : i + size], p[i : i + size]
            for n in range(steps):
                one(a, q, n * h, h, size)
            y[:, i : i + size] = a[:, :size]

    @jit
    def record(y, p, h, steps, out):
        a, q = np.empty((dim, BLOCK)), np.empty(BLOCK)
        for i in range(0, p.size, BLOCK):
            size = min(BLOCK, p.size - i)
            a[:, :size], q[:size] = y[:, i : i + size], p[i : i + size]
            out[0, :, i : i + size] = a[:, :size]
            for n in range(steps):
                one(a, q, n * h, h, size)
                out[n + 1, :, i : i + size] = a[:, :size]

    y, p = workload.state, workload.parameter
    if workload.kind == "record":

        def keep():
            out = np.empty((workload.steps + 1, dim, workload.n))
            record(y, p, workload.h, workload.steps, out)
            return out

        return keep

    def run():
        z = y.copy()
        loop(z, p, workload.h, workload.steps)
        return z

    return run
