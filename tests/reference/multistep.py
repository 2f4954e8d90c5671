"""Multistep:  sum_j alpha_j y_(n+j) = h sum_j beta_j f_(n+j),  j = 0, ..., k, the oldest first; or
sum_j alpha_j x_(n+j) = h^2 sum_j beta_j a_(n+j) with the velocities
v_(n+k) = v_(n+k-1) + h sum_j velocity_j a_(n+j), or differences of positions.

Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, III.1 and III.10.
"""

import numpy as np

from .solve import fixed_point


def weighted(weights, values):
    """sum w_j v_j over as many values as there are"""
    pairs = zip(weights, values, strict=False)
    return sum((value * w for w, value in pairs), 0 * values[0])


def step(f, h, t, states, slopes, alpha, beta, predictor):
    """The state at the time t, from k states before it and the slopes there."""
    known = weighted(beta, slopes) * h - weighted(alpha, states)
    if any(predictor):
        guess = states[-1] + weighted(predictor, slopes) * h
        return known + f(t, guess) * (h * beta[-1])
    if not beta[-1]:
        return known
    return fixed_point(lambda u: [known + f(t, u[0]) * (h * beta[-1])], [states[-1]])[0]


def integrate(
    system, y, t0, h, n_steps, alpha, beta, predictor, velocity, *, derivative, backward, first
):
    """The state after n_steps steps; `first` makes those before the method can begin.

    Parameters
    ----------
    first : callable or None
        (system, y, t0, h, n_steps): another twin. None: velocities are differences of positions,
        and the position before the first is x - h v + h^2 a / 2.
    """
    real = type(y.flat[0])  # of NumPy, or mpmath's in an array of objects
    alpha, beta, predictor, velocity = (
        [real(w) for w in row] for row in (alpha, beta, predictor, velocity)
    )
    k, h, t0, dof = len(alpha) - 1, real(h), real(t0), system.dof

    def force(t, state):
        if derivative == 1:
            return system.rhs(t, state)
        return system.acceleration(t, state, 0 * state)

    before = first is None
    states = [y] if first else [previous(system, y, t0, h), y]
    for n in range(1, min(k, n_steps + 1) if first else 0):
        states.append(first(system, states[-1], t0 + real(n - 1) * h, h, 1))
    v = states[-1][..., dof:]
    if derivative == 2:
        states = [state[..., :dof] for state in states]
    slopes = [force(t0 + real(n - before) * h, state) for n, state in enumerate(states)]
    for n in range(len(states) - before, n_steps + 1):
        t = t0 + real(n) * h
        power = h if derivative == 1 else h * h
        new = step(force, power, t, states, slopes, alpha, beta, predictor)
        states, slopes = [*states[1:], new], [*slopes, force(t, new)]
        if any(velocity):
            v = v + weighted(velocity, slopes) * h
        slopes = slopes[1:]
    if derivative == 1:
        return states[-1]
    if not first and n_steps:
        v = (states[-1] - states[-2]) / h
        if not backward:  # (x_(n+1) - x_(n-1)) / 2h
            v = v + slopes[-1] * h / real(2)
    return np.concatenate([states[-1], v], axis=-1)


def previous(system, y, t0, h):
    """The state one step before, of which the position counts."""
    x, v = y[..., : system.dof], y[..., system.dof :]
    return np.concatenate([x - v * h + system.acceleration(t0, x, v) * (h * h) / 2, v], axis=-1)
