"""Numba, as an expert writes it: blocks of trajectories side by side in the first cache.

A pass over a block takes several steps where that was measured to be faster; each component has an
array of its own, and division does not look for zeros: both let the compiler use wide registers.
"""

from math import cos, sin, sqrt

import numba
import numpy as np

from .steps import make

NAME = "Numba, blocked"
BLOCK = 256
STEPS_A_PASS = {
    "oscillator, semi-implicit Euler": 10,
    "oscillator, RK4": 2,
    "pendulum, semi-implicit Euler": 4,
    "Kepler, velocity Verlet": 2,
}
OPTIONS = {"fastmath": True, "error_model": "numpy"}
jit = numba.njit(**OPTIONS)
STEPS = make(sin, cos, sqrt, numba.njit(inline="always", **OPTIONS))

SOURCE = """
def advance({rows}, q, t, h):
    for j in range({block}):
        s = {state}
{steps}
        {state} = s

def loop(y, p, h, steps, out):
    {rows}, q = {memory}
    for i in range(0, p.size, {block}):
        size = min({block}, p.size - i)
        {into}
        q[:size] = p[i : i + size]
        for n in range(0, steps, {each}):
            advance({rows}, q, n * h, h)
            if out is not None:
                {record}
        {back}
"""


def compiled(step, dim, each):
    """The loop for a step and a dimension: y becomes the last state, out takes every state."""
    rows = [f"a{d}" for d in range(dim)]
    text = SOURCE.format(
        block=BLOCK, each=each, rows=", ".join(rows),
        state=", ".join(f"{row}[j]" for row in rows),
        steps="\n".join(f"        s = step(s, t + {k} * h, q[j], h)" for k in range(each)),
        memory=", ".join([f"np.empty({BLOCK})"] * (dim + 1)),
        into="; ".join(f"{row}[:size] = y[{d}, i : i + size]" for d, row in enumerate(rows)),
        back="; ".join(f"y[{d}, i : i + size] = {row}[:size]" for d, row in enumerate(rows)),
        record="; ".join(f"out[n + 1, {d}, i : i + size] = {row}[:size]"
                         for d, row in enumerate(rows)),
    )  # fmt: skip
    space = {"step": step, "np": np}
    exec(text, space)
    space["advance"] = jit(space["advance"])
    return jit(space["loop"])


def prepare(workload):
    step, dim = STEPS[workload.step], len(workload.start)
    if workload.n < BLOCK or workload.kind == "calls":
        return None  # the plain loop is the same
    recorded = workload.kind != "final"
    loop = compiled(step, dim, 1 if recorded else STEPS_A_PASS.get(workload.step, 1))
    y, p = workload.state, workload.parameter

    def run(out=None):
        z = y.copy()
        if out is not None:
            out[0] = z
        loop(z, p, workload.h, workload.steps, out)
        return z if out is None else out

    return run
