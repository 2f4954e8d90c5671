"""Tangents of a force that is not a formula, but a Python function or compiled code: differences.

Along a tangent (dy, dp) the derivative of f is (f(y + e dy, p + e dp) - f(y - e dy, p - e dp)) /
(2 e), of order e^2; where e moves nothing by more than cbrt(eps) of its size the error is about
1e-10. The size of a component is the larger of |y| and T |y'|, T being a time of the motion: so a
zero has a size too, and units change nothing. Where nothing tells a size, as along a parameter that
is 0 or hardly matters, many steps are tried, and each component of the force takes the one that
matters least; the error is then about 1e-5 at most.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import quiet, warn_caller
from ..system.system import ACCELERATION, RHS
from ..user_system.callback import CallbackSystem
from ..values.types import Any
from .directions import Directions, described, places_of

GUESSES = [1e3**n for n in range(8, -7, -1)]  # times the size of other components, or 1
HARDLY = 1e-5  # of the force: shares of a parameter that matters less are lost in rounding


class DifferenceSystem(Directions, CallbackSystem):
    """A System of a motion and its tangents, whose force is called; made by ``System.tangent``."""


def by_differences(system, k, elements):
    """A System with tangents, made from a system whose force is called.

    Parameters
    ----------
    system : CallbackSystem or PointerSystem
    k, elements
        As in ``tangent``.

    Returns
    -------
    DifferenceSystem
    """
    warn_caller(
        f"the force of {system.name!r} is called, not known as a formula: its tangents are central"
        " differences, to ten digits or so"
    )
    definition = described(
        system,
        k,
        elements,
        function=_Differences(system, k, [row for _, row in elements]),
        velocity_dependent=system.velocity_dependent,
    )
    return DifferenceSystem(definition, system.params)


@dataclass
class _Differences:
    """The force of a motion and its tangents for many trajectories, components first."""

    system: Any
    k: int
    rows: list[Any]

    def __post_init__(self):
        self.__name__ = f"{self.system.name}_tangent"
        self._places = places_of(self.system.dim, self.system.dof, self.k + len(self.rows))

    def __call__(self, t, *state, **params):
        y = np.concatenate([np.atleast_2d(part) for part in state])
        t = np.broadcast_to(np.asarray(t, dtype=y.dtype), y.shape[1:])
        y, *tangents = y[self._places.T]
        rows = self._parameter_rows(params, y)
        force = [self._force(t, y, rows)]
        small = np.cbrt(np.finfo(y.dtype).eps)
        with quiet():
            own = self._sizes(y, force[0])
            sizes = np.where(own > 0, own, own.max(axis=0))
            sizes = np.where(sizes > 0, sizes, 1.0)
            for row, dy in zip([None] * self.k + self.rows, tangents):
                e = np.where(dy == 0, np.inf, sizes / np.abs(dy)).min(axis=0)
                guess = ((dy != 0) & ~(own > 0)).any(axis=0)
                if row is not None:
                    guess |= rows[row] == 0
                    e = np.minimum(e, np.where(rows[row] == 0, 1.0, np.abs(rows[row])))
                e = (small * np.where(e < np.inf, e, 1.0)).astype(y.dtype)
                hardly = HARDLY * np.abs(force[0])
                force.append(self._slope(t, y, dy, rows, row, e, guess, e / small, hardly))
        return np.concatenate(force)

    def _slope(self, t, y, dy, rows, row, e, guess, whole, hardly):
        """The derivative by steps e, (dof or dim, lanes); of those that are a guess, by others.

        So are those by a parameter whose `whole` changes the force, but no more than `hardly`.
        """

        def by(e):
            up, down = (
                self._force(
                    t, y + step * dy, [a + step if i == row else a for i, a in enumerate(rows)]
                )
                for step in (e, -e)
            )  # fmt: skip
            return (up - down) / (2 * e)

        found, least = by(e), np.inf
        if row is not None and (np.abs(found) * whole <= hardly).all(axis=0).any():
            change = np.abs(by(whole)) * whole
            guess |= (change <= hardly).all(axis=0) & (change > 0).any(axis=0)
        scales = GUESSES if guess.any() else ()
        for one, other in pairwise(by(np.where(guess, e * scale, e)) for scale in scales):
            change = np.abs(1 - other / one)
            better = guess & (change <= least) & (one != 0)
            found, least = np.where(better, one, found), np.where(better, change, least)
        return found

    def _sizes(self, y, force):
        """How large components are, (dim, lanes): positions alike, and velocities.

        T^2 is x / x'', or T the geometric mean of |y / y'|: 1 / omega of an oscillation.
        """
        y, rate, dof = np.abs(y), np.abs(force), self.system.dof
        if dof:
            x, v, a = (part.max(axis=0) for part in (y[:dof], y[dof:], rate))
            T = np.where((x > 0) & (a > 0), np.sqrt(x / a), np.where(a > 0, v / a, 0.0))
            sizes = np.repeat([np.maximum(x, T * v), np.maximum(v, T * a)], dof, axis=0)
        else:
            both = (y > 0) & (rate > 0)
            logs = np.where(both, np.log(y) - np.log(rate), 0.0).sum(axis=0)
            most = rate.max(axis=0)
            T = np.where(most > 0, np.sqrt(y.max(axis=0) / most), 0.0)  # where none has both
            T = np.where(both.any(axis=0), np.exp(logs / np.maximum(both.sum(axis=0), 1)), T)
            sizes = np.maximum(y, T * rate)
        return np.where(sizes < np.inf, sizes, 0.0)

    def _parameter_rows(self, params, y):
        """Each element of the parameters for all lanes."""
        rows = []
        for name, shape in self.system.shapes.items():
            value = np.asarray(params[name], dtype=y.dtype)
            if shape:
                value = value.reshape(*shape, -1)
            rows += [np.broadcast_to(value[index], y.shape[1:]) for index in np.ndindex(shape)]
        return rows

    def _force(self, t, y, rows):
        """The base's force, (dof or dim, lanes)."""
        question = ACCELERATION if self.system.dof else RHS
        given = np.array(t), tuple(np.array(y)), tuple(map(np.array, rows))
        out = np.empty((self.system.dof or self.system.dim, t.size), y.dtype)
        self.system.evaluate(64, question, t.size, *given, out)
        return out
