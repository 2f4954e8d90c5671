"""Which step is small enough? The largest that keeps an error, by trying."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..values.table import Table
from .accuracy import CHECKS, follow, suitable_methods

MOST = 1 << 22  # steps that are tried before a method is given up
FINE = 1.02  # ratio of steps at which the search ends


@dataclass(frozen=True)
class Advice:
    """The largest step of a method that keeps an error, and what it costs.

    Attributes
    ----------
    dt : float
        NaN where no step that was tried does.
    n_steps, evaluations : int
        Over the span, for one trajectory; 0 where there is no step.
    seconds : float
        For one trajectory of a large batch on one thread.
    error : float
        What the method then really makes.
    """

    dt: float
    n_steps: int
    evaluations: int
    seconds: float
    error: float


def advise_dt(system, error, methods=None, x0=None, v0=None, *, t_end=None, t0=0.0):
    """Find the largest step that keeps an error over a motion, for each method, and its cost.

    The error is the largest distance from the true motion in phase space at 16 times or more, in
    units of the motion (0.01: one per cent); of a batch that of the worst trajectory.

    Parameters
    ----------
    system : System
    error : float
        What is wanted, between 1e-12 and 1.
    methods : str, Method or sequence of them, optional
        All that fit the system by default.
    x0, v0 : array_like, optional
        Start, as in `integrate`.
    t_end : float, optional
        End; one period of the motion by default. Errors grow with time: give the span that counts.
    t0 : float, optional
        Start time.

    Returns
    -------
    StepAdvice

    Raises
    ------
    ValueError, TypeError
        For arguments that do not fit, or an error that the reference cannot judge.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> methods = ["rk4", "semi_implicit_euler"]
    >>> advice = pi.analysis.advise_dt(pi.systems.oscillator, 1e-3, methods, t_end=60.0)
    >>> print(f"{advice.best}, dt = {advice['rk4'].dt:.2f} s")
    rk4, dt = 0.21 s
    """
    if np.ndim(error) or not 1e-12 <= error < 1:
        raise ValueError(
            f"error must be between 1e-12 and 1, relative to the motion, got {error!r}"
        )
    chosen = suitable_methods(system, methods)
    motion = follow(system, x0, v0, t0, t_end, [CHECKS * 1024])
    doubt = float(np.max(motion.doubt, initial=0.0))
    if doubt > error / 3:
        raise ValueError(
            f"the true motion is only known to {doubt:.1e} here, which cannot judge an error of "
            f"{error:g}: it is chaotic, or long; choose a shorter span"
        )
    checks = len(motion.times) - 1
    found = {method.name: _largest(motion, method, error, checks) for method in chosen}
    return StepAdvice(motion, error, found)


class StepAdvice(Mapping):
    """Largest steps by method, made by `advise_dt`: a mapping from names to `Advice`."""

    def __init__(self, motion, error, found):
        self.system, self.t0, self.t_end, self.error = motion.system, motion.t0, motion.t_end, error
        self._found = dict(found)

    def __getitem__(self, name):
        return self._found[str(name)]

    def __iter__(self):
        return iter(self._found)

    def __len__(self):
        return len(self._found)

    @property
    def best(self):
        """Name of the method with the fewest force evaluations, or None where none will do."""
        able = {name: one.evaluations for name, one in self.items() if one.n_steps}
        return min(able, key=able.__getitem__, default=None)

    def table(self):
        """Steps and costs, the fewest force evaluations first.

        Returns
        -------
        Table
        """
        unit = self.system.units.get("t", "")
        rows = [
            [
                name,
                f"{one.dt:.3g}",
                f"{one.evaluations:,}",
                f"{1e6 * one.seconds:.3g}",
                f"{one.error:.2e}",
            ]
            if one.n_steps
            else [name, "none tried", "-", "-", "-"]
            for name, one in sorted(
                self.items(), key=lambda item: item[1].evaluations or float("inf")
            )
        ]
        step = f"largest dt [{unit}]" if unit else "largest dt"
        columns = ["method", step, "evaluations", "\N{MICRO SIGN}s", "error"]
        span = f"t = {self.t0:g} to {self.t_end:.6g} {unit}".rstrip()
        title = f"{self.system.title}, {span}: an error of at most {self.error:g} of the motion"
        return Table(title, columns, rows, "evaluations and time for one trajectory of a batch")

    def __repr__(self):
        return repr(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()


def _largest(motion, method, error, checks):
    """Advice for one method: doubling until the error is kept, then bisection."""

    def measured(n):
        worst = motion.error(motion.run(method, checks * n)[0])
        return float(np.max(worst, initial=0.0))

    enough, made = 1, measured(1)
    while made > error:
        if 2 * enough * checks > MOST:
            return Advice(np.nan, 0, 0, np.nan, np.nan)
        enough, made = 2 * enough, measured(2 * enough)
    few = enough // 2  # fails, or is nothing
    while enough - few > 1 and enough > FINE * few:
        middle = (few + enough) // 2
        tried = measured(middle)
        few, enough, made = (few, middle, tried) if tried <= error else (middle, enough, made)
    n = checks * enough
    _, evaluations = motion.run(method, n)
    dt = (motion.t_end - motion.t0) / n
    return Advice(dt, n, evaluations, motion.seconds(method, n), made)
