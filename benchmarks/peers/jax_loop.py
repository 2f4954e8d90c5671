"""JAX on the CPU, compiled, the whole batch at once, doubles."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .steps import make

NAME = "JAX"
jax.config.update("jax_enable_x64", True)
STEPS = make(jnp.sin, jnp.cos, jnp.sqrt, lambda f: f)


def prepare(workload):
    step, h = STEPS[workload.step], workload.h

    @jax.jit
    def loop(y, p):
        return lax.fori_loop(0, workload.steps, lambda n, s: step(s, n * h, p, h), y)

    @jax.jit
    def record(y, p):
        def one(s, n):
            s = step(s, n * h, p, h)
            return s, s

        return lax.scan(one, y, jnp.arange(workload.steps))[1]

    y = tuple(jnp.asarray(part) for part in workload.state)
    p = jnp.asarray(workload.parameter)
    if workload.kind == "touched":
        return None  # it makes its own memory
    if workload.kind == "record":
        return lambda out: jax.block_until_ready(record(y, p))
    if workload.kind == "calls":
        return lambda: jax.block_until_ready(loop(y, p))
    return lambda: np.array(jax.block_until_ready(loop(y, p)))
