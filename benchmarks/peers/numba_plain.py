"""Numba, the loop that most people write: one trajectory after the other, fast-math."""

from math import cos, sin, sqrt

import numba

from .steps import make

NAME = "Numba, plain"
jit = numba.njit(fastmath=True, error_model="numpy")
STEPS = make(sin, cos, sqrt, jit)


def prepare(workload):
    step, dim = STEPS[workload.step], len(workload.start)

    if dim == 2:

        @jit
        def loop(y, p, h, steps):
            for i in range(p.size):
                s, q = (y[0, i], y[1, i]), p[i]
                for n in range(steps):
                    s = step(s, n * h, q, h)
                y[0, i], y[1, i] = s
    elif dim == 3:

        @jit
        def loop(y, p, h, steps):
            for i in range(p.size):
                s, q = (y[0, i], y[1, i], y[2, i]), p[i]
                for n in range(steps):
                    s = step(s, n * h, q, h)
                y[0, i], y[1, i], y[2, i] = s
    else:

        @jit
        def loop(y, p, h, steps):
            for i in range(p.size):
                s, q = (y[0, i], y[1, i], y[2, i], y[3, i]), p[i]
                for n in range(steps):
                    s = step(s, n * h, q, h)
                y[0, i], y[1, i], y[2, i], y[3, i] = s

    @jit
    def record(y, p, h, steps, out):
        for i in range(p.size):
            s, q = (y[0, i], y[1, i]), p[i]
            out[0, 0, i], out[0, 1, i] = s
            for n in range(steps):
                s = step(s, n * h, q, h)
                out[n + 1, 0, i], out[n + 1, 1, i] = s

    y, p = workload.state, workload.parameter
    if workload.kind == "calls":
        return lambda: loop(y, p, workload.h, 1)

    def run(out=None):
        z = y.copy()
        if out is not None:
            record(z, p, workload.h, workload.steps, out)
            return out
        loop(z, p, workload.h, workload.steps)
        return z

    return run
