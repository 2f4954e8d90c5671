"""Certificates of methods for equations with noise: their orders, measured with intervals."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..integration import integrate
from ..stochastic.equations import sde
from ..stochastic.heat_bath import langevin
from ..system.catalogue import systems
from ..values.named import Named
from ..values.types import Any
from ..watching import reductions
from .findings import Findings

# The fewest steps, and the time to which they go: where errors stand out, and higher powers of h do
# not.
_RUNS = {"additive": (8, 1 / 32), "commutative": (8, 1 / 8), "langevin": (8, 2.0)}
_USUAL, _WEAK = (8, 1 / 2), (2, 1.0)
_HALVED = (1, 2, 4, 8)
# For stationary laws: steps, time, when the start is forgotten; by how much fewer paths.
_LONG, _FEWER = (256, 64.0, 8.0), 32
_PATHS = 200_000
_TOLERANCE = 0.1  # what the next power of h adds to a slope over these steps
_SURE = 1.96  # deviations: 95 %


class NoiseCertificate(Findings, Named):
    """The orders of a method with noise, declared and measured; prints as text, shows as HTML.

    Attributes
    ----------
    method : StochasticMethod
    paths : int
    strong_order, weak_order : tuple of float
        What was measured, and half the width of its 95 % interval: the slopes of the root mean
        square of y(h) - y(h/2) on the same path, and of the mean of the difference of
        2 y_0^2 + y_1^2. The strong one is None for a method of weak order only.
    stationary_order : tuple of float or None
        The slope of that mean over the stationary law, for a method that has a higher order there.
    failures : tuple of str
        Differences between what was declared and what was found.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> certificate = pi.methods["milstein"].certificate()
    >>> certificate.holds, round(certificate.strong_order[0], 1)
    (True, 1.0)
    """

    paths: int
    strong_order: Any
    weak_order: Any
    stationary_order: Any = None

    def rows(self):
        how = f"{self.paths} paths, {_kind(self.method)} noise, 95 %"
        for name in ("strong_order", "weak_order", "stationary_order"):
            if (measured := getattr(self, name)) is not None:
                (found, half), declared = measured, getattr(self.method, name)
                agree = abs(found - declared) <= _TOLERANCE + half
                yield name.replace("_", " "), declared, f"{found:.3f} +- {half:.3f}", how, agree


def _kind(method):
    return "langevin" if method.langevin else method.noise


@cache
def _problems() -> dict[str, Any]:
    """For each kind of noise an equation whose noise is of no simpler kind."""
    a, b, of_two = np.array([0.5, 0.3]), 0.4, sde(initial=[1.0, 0.5])
    return {
        "additive": sde(initial=[0.5, 0.5])(
            lambda t, y: (
                [y[1] - y[0] ** 3, np.cos(3.0 * t) - y[1]],
                [1.0 + 0.5 * np.sin(2.0 * t), 1.0],
            )
        ),
        "diagonal": of_two(
            lambda t, y: ([0.5 * y[0], y[0] - y[1]], [0.8 * y[0], b * y[1] * (1.0 + t)])
        ),
        "commutative": of_two(
            lambda t, y: ([y[1] - y[0], 0.5 * y[1]], [[a[0] * y[0], a[1] * y[0]],
                                                      [a[0] * y[1], a[1] * y[1]]])  # fmt: skip
        ),
        "general": of_two(
            lambda t, y: (
                [0.6 * y[1] - 0.5 * y[0], -0.4 * y[0] - 0.3 * y[1]],
                [
                    [0.7 * y[0] + 0.2 * y[1], 0.1 * y[0] - 0.6 * y[1]],
                    [b * y[1] - 0.3 * y[0], 0.5 * y[0] + 0.3 * y[1]],
                ],
            )
        ),
        "stationary": sde(initial=[0.0, 0.0])(
            lambda t, y: (-y - np.sin(2.0 * y), [1.0, 1.0])
        ),
        "langevin": langevin(
            systems["duffing"](delta=0.0, gamma=0.0), friction=1.0, temperature=0.5
        ),
    }  # fmt: skip


def certify(method, paths=_PATHS):
    """Measure the orders of a method with noise, on an equation with the noise that it is for.

    Parameters
    ----------
    method : StochasticMethod
    paths : int

    Returns
    -------
    NoiseCertificate

    Examples
    --------
    >>> import pyintegrate as pi
    >>> certify(pi.methods["sra1"], 10_000).holds
    True
    """
    system = _problems()[_kind(method)]
    on_paths = object.__new__(type(method))  # with a strong order, without which none has substeps
    on_paths.__dict__.update(vars(method), strong_order=0.0)
    few, end = _RUNS.get(_kind(method), _USUAL) if method.strong_order else _WEAK
    states = [sol.final for sol in _halved(system, on_paths, paths, few, end)]
    squares = [_square(0.0, y.T) for y in states]  # a sum may hide errors
    weak = _slope(np.diff(squares, axis=0))
    strong, wide = _slope(np.sum(np.diff(states, axis=0) ** 2, axis=-1))
    path = (strong / 2, wide / 2) if method.strong_order else None
    law = _stationary(method, paths // _FEWER) if method.stationary_order else None
    return NoiseCertificate(
        method=method, paths=paths, strong_order=path, weak_order=weak, stationary_order=law
    )


def _square(t, y):
    return 2.0 * y[0] ** 2 + y[1] ** 2


def _halved(system, method, paths, few, end, **more):
    """Solutions of the same paths, with steps that are halved again and again."""
    for k in _HALVED:
        yield integrate(
            system, np.tile(system.initial, (paths, 1)), dt=end / (few * k), n_steps=few * k,
            method=method, seed=1, save="final", substeps=_HALVED[-1] // k, **more,
        )  # fmt: skip


def _stationary(method, paths):
    """The slope of means over long times, once the start is forgotten."""
    few, end, after = _LONG
    watch = {"square": reductions.mean(_square, after=after)}
    solutions = _halved(_problems()["stationary"], method, paths, few, end, watch=watch)
    return _slope(np.diff([sol.watched["square"] for sol in solutions], axis=0))


def _slope(X):
    """By how much log2 |mean X| falls when the step is halved, and half the width of its interval.

    X has a row for each step. To first order in the errors of the means, log|mean X| has the
    variance of X / mean X.
    """
    mean = X.mean(axis=1)
    weights = np.arange(len(mean)) - (len(mean) - 1) / 2
    weights /= -np.sum(weights**2) * np.log(2)
    variance = np.var((weights / mean) @ X) / X.shape[1]
    return float(weights @ np.log(abs(mean))), float(_SURE * np.sqrt(variance))
