"""Nystrom:  k_s = a(t + c_s h, x + c_s h v + h^2 sum_j a_sj k_j, v),
x += h v + h^2 sum_s b_s k_s,   v += h sum_s velocity_s k_s.

Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.14.
"""

import numpy as np


def step(acceleration, t, h, x, v, A, b, c, velocity):
    """One step from positions x and velocities v, (*batch, dof), at the time t."""
    k = []
    for row, node in zip(A, c, strict=True):
        inner = sum((slope * a for a, slope in zip(row, k, strict=False)), 0 * x)
        k.append(acceleration(t + node * h, x + v * (node * h) + inner * (h * h), v))
    x = x + v * h + sum(slope * w for w, slope in zip(b, k, strict=True)) * (h * h)
    return x, v + sum(slope * w for w, slope in zip(velocity, k, strict=True)) * h


def integrate(system, y, t0, h, n_steps, A, b, c, velocity):
    """The state after n_steps steps; step n begins at t0 + n h, a product."""
    real, dof = type(y.flat[0]), system.dof
    A = [[real(a) for a in row] for row in A]
    b, c, velocity = ([real(w) for w in row] for row in (b, c, velocity))
    x, v = y[..., :dof], y[..., dof:]
    for n in range(n_steps):
        t = real(t0) + real(n) * real(h)
        x, v = step(system.acceleration, t, real(h), x, v, A, b, c, velocity)
    return np.concatenate([x, v], axis=-1)
