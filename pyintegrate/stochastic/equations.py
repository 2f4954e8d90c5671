"""``@pi.sde``: equations with noise from a plain function."""

from __future__ import annotations

import numpy as np

from ..trace import tracing
from ..trace.expression import Symbol, plain
from ..user_system.decorators import either_way
from ..user_system.definition import Definition
from ..values.checks import choice
from ..values.types import Any, Function, Literal
from .noisy_system import NoisySystem
from .step import OF_RUN


@either_way
def sde(
    function: Function | None = None,
    /,
    *,
    dim: int | None = None,
    interpretation: Literal["ito", "stratonovich"] = "ito",
    **options: Any,
) -> Any:
    """Make a System of dy = f dt + g dW from one function that returns f and g.

    Parameters
    ----------
    function : callable
        ``f, g = function(t, y, ...)``; y always has components. f has dim of them; g too, for one
        noise for each component, or it is a matrix (dim, m) for m noises.
    dim : int, optional
        Number of components. Found from the function if possible.
    interpretation : {"ito", "stratonovich"}
        The calculus in which g dW is meant.
    **options
        As in ``pi.rhs``.

    Returns
    -------
    NoisySystem
        A System, whose ``rhs`` is the drift f; ``noise`` is the kind of its noise, proved from the
        function, and ``diffusion(t, y)`` is g.

    Raises
    ------
    TypeError, ValueError
        As ``pi.rhs``; a diffusion of another shape.

    References
    ----------
    Kloeden, Platen (1992), Numerical Solution of Stochastic Differential Equations, Springer.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> @pi.sde(dim=1, mu=0.05, sigma=0.2)
    ... def growth(t, y, mu, sigma):
    ...     return mu * y, sigma * y
    >>> growth.noise
    'diagonal'
    >>> sol = pi.integrate(growth, np.ones((1000, 1)), dt=1 / 256, n_steps=256, seed=1)
    >>> sol.method.name, bool(abs(sol.final.mean() - np.exp(0.05)) < 0.03)
    ('milstein', True)
    """
    return _Definition(function, dim, interpretation, options).system()


class _Definition(Definition):
    """The drift is that of ``pi.rhs``; the diffusion is a further result of the function."""

    made, of_run = NoisySystem, OF_RUN

    def __init__(self, function, size, interpretation, options):
        if not options.get("trace", True):
            raise TypeError(
                "@pi.sde takes derivatives of the diffusion and needs a trace: leave trace= out"
            )
        self.interpretation = choice("interpretation", interpretation, ("ito", "stratonovich"))
        super().__init__("sde", function, size, options)

    def _sde(self, graph, dim, params):
        arguments = [Symbol(graph.time()), *self._state(graph)]
        result = tracing.call(self.function, arguments, params)
        drift, diffusion = _both(self.function, result)
        f = tracing.components(self.function, graph, drift, dim, f"a drift of {dim}")
        rows = np.asarray(plain(diffusion), dtype=object)
        matrix = rows.ndim == 2 and len(rows) == dim
        if not matrix and rows.shape != (dim,) and not (dim == 1 and rows.ndim == 0):
            raise ValueError(
                f"{tracing.describe(self.function)} returns a diffusion of shape {rows.shape}"
                f" with dim={dim}, expected ({dim},), a noise for each component, or ({dim}, m)"
                f" for m noises\n  at {tracing.place_of_function(self.function)}"
            )
        count = rows.size
        flat = list(rows.ravel())
        g = tracing.components(self.function, graph, flat, count, f"{count} numbers")
        if not matrix:
            zero = graph.constant(0.0)
            g = [g[i] if i == k else zero for i in range(dim) for k in range(dim)]
        return {"rhs": f, "diffusion": g}

    def _described(self, *sizes, **more):
        return super()._described(*sizes, interpretation=self.interpretation, **more)

    def _answers(self, system, t, y):
        diffusion = system.diffusion(t, y).reshape(len(t), -1)
        return np.concatenate([system.rhs(t, y), diffusion], axis=1)

    def _numbers(self, result, count):
        f, g = (np.asarray(part, dtype=float) for part in _both(self.function, result))
        g = np.diag(np.broadcast_to(g, count)) if g.ndim < 2 else g
        return np.concatenate([np.broadcast_to(f, count), g.ravel()])


def _both(function, result):
    """The drift and the diffusion of what a function returned."""
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise ValueError(
            f"{tracing.describe(function)} must return the drift and the diffusion, f, g\n  at"
            f" {tracing.place_of_function(function)}"
        )
    return result
