"""Compositions:  kick  v += w h a(t, x, v),   drift  x += w h v.

A kick sees the current position and velocity, and the time t_n + h (sum of the drifts so far).
Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, II.4-5.
"""

import numpy as np


def step(acceleration, velocity, t, h, x, v, kicks, drifts):
    """One step from positions x and velocities (momenta) v, (*batch, dof), at the time t."""
    drifted = 0 * h
    for kick, drift in zip(kicks, drifts, strict=True):
        if kick:
            v = v + acceleration(t + h * drifted, x, v) * (h * kick)
        if drift:
            x = x + velocity(x, v) * (h * drift)
            drifted = drifted + drift
    return x, v


def integrate(system, y, t0, h, n_steps, kick, drift):
    """The state after n_steps steps; step n begins at t0 + n h, a product."""
    real = type(y.flat[0])  # of NumPy, or mpmath's in an array of objects
    kick, drift, dof = [real(w) for w in kick], [real(w) for w in drift], system.dof

    def velocity(x, v):
        return system.rhs(t0, np.concatenate([x, v], axis=-1))[..., :dof]

    x, v = y[..., :dof], y[..., dof:]
    for n in range(n_steps):
        t = real(t0) + real(n) * real(h)
        x, v = step(system.acceleration, velocity, t, real(h), x, v, kick, drift)
    return np.concatenate([x, v], axis=-1)
