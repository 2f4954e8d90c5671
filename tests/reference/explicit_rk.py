"""Explicit Runge-Kutta:  k_s = f(t + c_s h, y + h sum_j a_sj k_j),   y += h sum_s b_s k_s.

Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.1.
"""


def step(f, t, h, y, A, b, c):
    """One step from the state y, (*batch, dim), at the time t."""
    k = []
    for row, node in zip(A, c, strict=True):
        inner = sum((slope * a for a, slope in zip(row, k, strict=False)), 0 * y)
        k.append(f(t + node * h, y + inner * h))
    return y + sum(slope * weight for weight, slope in zip(b, k, strict=True)) * h


def integrate(system, y, t0, h, n_steps, A, b, c):
    """The state after n_steps steps; step n begins at t0 + n h, a product."""
    real = type(y.flat[0])  # of NumPy, or mpmath's in an array of objects
    A, b, c = [[real(a) for a in row] for row in A], [real(w) for w in b], [real(w) for w in c]
    for n in range(n_steps):
        y = step(system.rhs, real(t0) + real(n) * real(h), real(h), y, A, b, c)
    return y
