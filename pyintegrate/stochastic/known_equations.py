"""Equations with noise that are known well: ``pi.systems.noise``."""

import numpy as np

from .equations import sde


def ornstein_uhlenbeck(t, y, rate, mean, sigma):
    """dy = rate (mean - y) dt + sigma dW: normal, of variance sigma^2 / (2 rate) in the end.

    Uhlenbeck, Ornstein (1930), Phys. Rev. 36, 823-841.
    """
    return rate * (mean - y), sigma


def geometric_brownian_motion(t, y, mu, sigma):
    """dy = mu y dt + sigma y dW: y0 exp((mu - sigma^2 / 2) t + sigma W).

    Samuelson (1965), Ind. Manag. Rev. 6, 13-39.
    """
    return mu * y, sigma * y


def double_well(t, y, temperature):
    """Overdamped motion in V = y^4 / 4 - y^2 / 2: dy = -V' dt + sqrt(2 temperature) dW.

    Kramers (1940), Physica 7, 284-304.
    """
    return y - y * y * y, np.sqrt(2.0 * temperature)


def noisy_van_der_pol(t, y, mu, sigma):
    """x'' = mu (1 - x^2) x' - x + sigma times white noise."""
    x, v = y
    return [v, mu * (1.0 - x * x) * v - x], [[0.0], [sigma]]


def noisy_fitzhugh_nagumo(t, y, current, a, b, tau, sigma):
    """v' = v - v^3 / 3 - w + current + sigma times white noise, tau w' = v + a - b w.

    FitzHugh (1961), Biophys. J. 1, 445-466; Lindner et al. (2004), Phys. Rep. 392, 321-424.
    """
    v, w = y
    return [v - v * v * v / 3.0 - w + current, (v + a - b * w) / tau], [[sigma], [0.0]]


SYSTEMS = {
    system.name: system
    for system in (
        sde(dim=1, rate=1.0, mean=0.0, sigma=1.0,
            title="Ornstein-Uhlenbeck process")(ornstein_uhlenbeck),
        sde(dim=1, mu=0.05, sigma=0.2,
            title="geometric Brownian motion")(geometric_brownian_motion),
        sde(dim=1, temperature=0.25, initial=[-1.0], title="noisy double well")(double_well),
        sde(mu=1.0, sigma=0.5, initial=[2.0, 0.0], state_names="x v",
            title="noisy van der Pol oscillator")(noisy_van_der_pol),
        sde(current=0.4, a=0.7, b=0.8, tau=12.5, sigma=0.1, initial=[-1.0, -0.6],
            state_names="v w", title="noisy FitzHugh-Nagumo neuron")(noisy_fitzhugh_nagumo),
    )
}  # fmt: skip
