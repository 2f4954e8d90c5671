"""diffrax with a constant step, the whole batch as one state."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from . import jax_loop  # noqa: F401  (sets the precision and the number of threads)

NAME = "diffrax"
# (force of positions, None), or (None, right-hand side), and the solver.
FORCES = {
    "oscillator, semi-implicit Euler": lambda x, p: -p * x,
    "pendulum, semi-implicit Euler": lambda x, p: -p * jnp.sin(x),
}


def prepare(workload):
    if workload.kind != "final" or workload.n == 1:
        return None
    if workload.step in FORCES:
        force = FORCES[workload.step]
        terms = (  # the first of the state moves first: the velocity
            diffrax.ODETerm(lambda t, x, p: force(x, p)),
            diffrax.ODETerm(lambda t, v, p: v),
        )
        solver = diffrax.SemiImplicitEuler()
    elif workload.step == "Lorenz, Tsitouras 5":

        def lorenz(t, s, p):
            x, y, z = s
            return 10.0 * (y - x), x * (p - z) - y, x * y - 2.6666666666666665 * z

        terms, solver = diffrax.ODETerm(lorenz), diffrax.Tsit5()
    else:
        return None

    @jax.jit
    def solve(y, p):
        return diffrax.diffeqsolve(
            terms, solver, 0.0, workload.h * workload.steps, workload.h, y, args=p,
            max_steps=workload.steps + 1, stepsize_controller=diffrax.ConstantStepSize(),
            saveat=diffrax.SaveAt(t1=True), adjoint=diffrax.DirectAdjoint(),
        ).ys  # fmt: skip

    y = tuple(jnp.asarray(part) for part in workload.state)
    p, order = jnp.asarray(workload.parameter), slice(None)
    if workload.step in FORCES:
        y, order = y[::-1], slice(None, None, -1)
    return lambda: np.array(jax.block_until_ready(solve(y, p)))[order, 0]
