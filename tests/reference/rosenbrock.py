"""Rosenbrock:  (1 - h gamma_ss J) k_s = h f(t + c_s h, y + sum_j alpha_sj k_j)
+ h J sum_j<s gamma_sj k_j + h^2 d_s df/dt,   y += sum_s b_s k_s.

The table holds a = alpha gamma^-1, the inverse of gamma, and weights of gamma k. Hairer, Wanner
(1996), Solving Ordinary Differential Equations II, IV.7.
"""

import numpy as np


def eliminated(M, r):
    """u with M u = r, (*batch, n, n) and (*batch, n, m), where the diagonal of M leads."""
    M, u, n = M.copy(), r.copy(), r.shape[-2]
    for k in range(n):
        for i in range(k + 1, n):
            factor = M[..., i, k, None] / M[..., k, k, None]
            M[..., i, :] = M[..., i, :] - factor * M[..., k, :]
            u[..., i, :] = u[..., i, :] - factor * u[..., k, :]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            u[..., k, :] = u[..., k, :] - M[..., k, j, None] * u[..., j, :]
        u[..., k, :] = u[..., k, :] / M[..., k, k, None]
    return u


def jacobian(system, t, y):
    """The system's own, or differences in as many digits as the numbers have."""
    if hasattr(system, "jacobian"):
        return system.jacobian(t, y)
    real = type(y.flat[0])
    width = real(1)
    while real(1) + width / 2 != 1:
        width = width / 2
    width = width ** (real(1) / 3)
    moves = [width * row for row in np.eye(y.shape[-1], dtype=int)]
    columns = [(system.rhs(t, y + m) - system.rhs(t, y - m)) / (2 * width) for m in moves]
    return np.stack(columns, axis=-1)


def time_derivative(f, t, h, y):
    """df/dt by central differences of order 4 over a part of the step."""
    part = h / 32
    near, far = (f(t + n * part, y) - f(t - n * part, y) for n in (1, 2))
    return (8 * near - far) / (12 * part)


def step(system, t, h, y, alpha, gamma, b, c, d):
    """One step from the state y, (*batch, dim), at the time t."""
    J, ft, k = jacobian(system, t, y), time_derivative(system.rhs, t, h, y), []
    M = np.eye(y.shape[-1], dtype=int) - J * (h * gamma[0][0])
    for row, low, node, shift in zip(alpha, gamma, c, d, strict=True):
        moved = y + sum((x * a for a, x in zip(row, k, strict=False)), 0 * y)
        along = sum((x * g for g, x in zip(low, k, strict=False)), 0 * y)
        right = system.rhs(t + node * h, moved) * h + ft * (h * h * shift)
        k.append(
            eliminated(M, (right + np.sum(J * along[..., None, :], axis=-1) * h)[..., None])[..., 0]
        )
    return y + sum(slope * weight for weight, slope in zip(b, k, strict=True))


def integrate(system, y, t0, h, n_steps, A, b, c, d, inverse):
    """The state after n_steps steps; step n begins at t0 + n h, a product."""
    real = type(y.flat[0])  # of NumPy, or mpmath's in an array of objects
    wide = real if y.dtype == object else np.float64
    A, inverse = ([[wide(x) for x in row] for row in m] for m in (A, inverse))
    unit = np.array([[wide(i == j) for j in range(len(b))] for i in range(len(b))])
    gamma = eliminated(np.array(inverse), unit)
    alpha, weights = np.array(A) @ gamma, np.array([wide(x) for x in b]) @ gamma
    alpha, gamma = ([[real(x) for x in row] for row in m] for m in (alpha, gamma))
    weights, c, d = ([real(x) for x in row] for row in (weights, c, d))
    for n in range(n_steps):
        t = real(t0) + real(n) * real(h)
        y = step(system, t, real(h), y, alpha, gamma, weights, c, d)
    return y
