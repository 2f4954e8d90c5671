"""A plain Newton method for implicit steps: every stage begins at y_n, no step is shortened.

What the core computes wherever this converges. Lanes, (lanes, dim), have a step size each; the
component axis is last. Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.8.
"""

from itertools import pairwise

import numpy as np

MOST = 30  # iterations: with quadratic convergence more of them are not on their way to a root


def solve(system, h, A, base, y):
    """z_i = h sum_j a_ij f(base_i + z_i), one group of stages; base (lanes, stages, dim).

    Returns
    -------
    z : ndarray
        NaN where it did not converge.
    folded : ndarray of bool
        Where det(I - h A J), positive at y_n, is negative at the root: there is a fold between.
    """
    lanes, stages, dim = base.shape
    z, h = y[:, None] - base, h[:, None, None]
    going, first, folded = np.ones(lanes, bool), None, np.zeros(lanes, bool)
    for _ in range(MOST):
        residual = h * (A @ system.rhs(0.0, base + z)) - z
        J = system.jacobian(0.0, base + z)
        M = -h[..., None, None] * A[:, None, :, None] * np.moveaxis(J, 1, 2)[:, None]
        M = M.reshape(lanes, stages * dim, stages * dim) + np.eye(stages * dim)
        sign = np.linalg.slogdet(M)[0]
        first = sign if first is None else first
        step = solved(M, residual.reshape(lanes, -1)).reshape(z.shape)
        z = np.where(going[:, None, None], z + step, z)
        size = (abs(step) / (abs(base) + abs(z) + 1e-300)).max((1, 2))
        largest = abs(step).max((1, 2)) / (abs(base) + abs(z)).max((1, 2))
        folded |= going & (first > 0) & (sign < 0) & ((size < 1e-12) | (largest < 1e-15))
        going &= ~((size < 1e-12) | (largest < 1e-15))
        if not going.any():
            break
    return np.where(going[:, None, None], np.nan, z), folded


def solved(M, r):
    """M^-1 r of each lane; NaN where there is none."""
    usable = np.isfinite(M).all((1, 2)) & (np.linalg.slogdet(M)[0] != 0)
    found = np.full_like(r, np.nan)
    found[usable] = np.linalg.solve(M[usable], r[usable][..., None])[..., 0]
    return found


def groups(A):
    """Ends of the groups of stages that need each other: a group ends where none needs a later."""
    needed = [max([j for j, a in enumerate(row) if a] + [i]) for i, row in enumerate(A)]
    return [s + 1 for s in range(len(A)) if max(needed[: s + 1]) <= s]


def runge_kutta(system, h, y, A, b, **_):
    """One step: y, and where a stage lies beyond a fold."""
    A, folded = np.array(A), np.zeros(len(y), bool)
    hk = np.zeros((len(y), len(b), y.shape[-1]))
    for start, end in pairwise([0, *groups(A)]):
        base = y[:, None] + A[start:end, :start] @ hk[:, :start]
        block = A[start:end, start:end]
        if not block.any():
            hk[:, start:end] = h[:, None, None] * system.rhs(0.0, base)
            continue
        z, crossed = solve(system, h, block, base, y)
        hk[:, start:end] = np.linalg.inv(block) @ z
        folded |= crossed
    return y + np.einsum("s,lsd->ld", b, hk), folded


def integrate(method, first, system, y, h, n_steps):
    """The state after n_steps steps from y (dim), for every h; `first` begins multistep methods.

    Returns
    -------
    y : ndarray, shape (lanes, dim)
        NaN where an iteration did not converge.
    folded : ndarray of bool, shape (lanes,)
    """
    c, h = method.coefficients, np.array(h)
    states, slopes = [np.repeat([np.array(y)], len(h), axis=0)], []
    folded = np.zeros(len(h), bool)
    for _ in range(n_steps):
        now = states[-1]
        slopes.append(system.rhs(0.0, now))
        if method.family == "implicit_rk":
            new, crossed = runge_kutta(system, h, now, **c)
        elif len(states) < len(c["alpha"]) - 1:
            new, crossed = runge_kutta(system, h, now, **first.coefficients)
        else:
            k = len(c["alpha"]) - 1
            known = sum(-a * s for a, s in zip(c["alpha"], states[-k:], strict=False))
            forces = zip(c["beta"], slopes[-k:], strict=False)
            known = known + h[:, None] * sum(b * f for b, f in forces)
            z, crossed = solve(system, h, np.array([[c["beta"][k]]]), known[:, None], now)
            new = known + z[:, 0]
        states.append(new)
        folded |= crossed
    return states[-1], folded
