"""u = g(u) by substitution, where a step is so short that this converges: without a Jacobian."""

import numpy as np


def fixed_point(g, guess, most=400):
    """Arrays u with u = g(u), as near as their numbers can be."""
    u, before = list(guess), np.inf
    for _ in range(most):
        new = list(g(u))
        change = max(np.max(abs(a - b)) for a, b in zip(u, new, strict=True))
        u = new
        if change == 0 or (change >= before and change < 1e-4):
            return u
        before = change
    raise ArithmeticError(f"substitution does not converge: {change} after {most} rounds")
