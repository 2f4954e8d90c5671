"""Implicit Runge-Kutta:  k_s = f(t + c_s h, y + h sum_j a_sj k_j) for all s at once.

Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.7.
"""

from .solve import fixed_point


def step(f, t, h, y, A, b, c):
    """One step from the state y, (*batch, dim), at the time t."""

    def moved(weights, k):
        return y + sum(slope * w for w, slope in zip(weights, k, strict=True)) * h

    def slopes(k):
        return [f(t + node * h, moved(row, k)) for row, node in zip(A, c, strict=True)]

    k = fixed_point(slopes, [f(t + node * h, y) for node in c])
    return moved(b, k)


def integrate(system, y, t0, h, n_steps, A, b, c):
    """The state after n_steps steps; step n begins at t0 + n h, a product."""
    real = type(y.flat[0])  # of NumPy, or mpmath's in an array of objects
    A, b, c = [[real(a) for a in row] for row in A], [real(w) for w in b], [real(w) for w in c]
    for n in range(n_steps):
        y = step(system.rhs, real(t0) + real(n) * real(h), real(h), y, A, b, c)
    return y
