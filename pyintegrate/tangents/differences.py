"""Tangents of a force that is not a formula, but a Python function or compiled code: differences.

Along a tangent (dy, dp) the derivative of f is (f(y + e dy, p + e dp) - f(y - e dy, p - e dp)) /
(2 e), of order e^2; where e moves nothing by more than cbrt(eps) of its size the error is about
1e-10. The size of a component is the larger of |y| and T |y'|, T being a time of the motion: so a
zero has a size too, and units change nothing.
"""

import numpy as np

from .. import _core
from ..errors import warn_caller
from ..user_system.callback import CallbackSystem
from .directions import Directions, described

_RHS, _ACCELERATION = map(_core.questions().index, ("rhs", "acceleration"))


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
        " differences, to ten digits or so",
        UserWarning,
    )
    definition = described(
        system,
        k,
        elements,
        function=_Differences(system, k, [row for _, row in elements]),
        velocity_dependent=system.velocity_dependent,
    )
    return DifferenceSystem(definition, system.params)


class _Differences:
    """The force of a motion and its tangents for many trajectories, components first."""

    def __init__(self, system, k, rows):
        self.__name__ = f"{system.name}_tangent"
        self._system, self._k, self._rows = system, k, rows
        self._n, self._dof, self._dim = k + len(rows), system.dof, system.dim

    def _asked(self):
        return (self._system, self._k, self._rows)

    def __eq__(self, other):
        if not isinstance(other, _Differences):
            return NotImplemented
        return self._asked() == other._asked()

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, t, *state, **params):
        y = np.concatenate([np.atleast_2d(part) for part in state])
        t = np.broadcast_to(np.asarray(t, dtype=y.dtype), y.shape[1:])
        halves = len(state)
        parts = y.reshape(halves, 1 + self._n, self._dim // halves, -1)
        whole = np.moveaxis(parts, 1, 0).reshape(1 + self._n, self._dim, -1)
        rows = self._parameter_rows(params, y)
        force = [self._force(t, whole[0], rows)]
        small = np.cbrt(np.finfo(y.dtype).eps)
        with np.errstate(all="ignore"):
            sizes = self._sizes(whole[0], force[0])
        for j in range(self._n):
            along = {self._rows[j - self._k]: 1.0} if j >= self._k else {}
            dy = whole[1 + j]
            with np.errstate(all="ignore"):
                e = np.where(dy == 0, np.inf, sizes / np.abs(dy)).min(axis=0)
            for row in along:
                e = np.minimum(e, np.where(rows[row] == 0, 1.0, np.abs(rows[row])))
            e = (small * np.where(e < np.inf, e, 1.0)).astype(y.dtype)
            up, down = (
                self._force(
                    t, whole[0] + s * e * dy,
                    [row + s * e * along[i] if i in along else row for i, row in enumerate(rows)],
                )
                for s in (1.0, -1.0)
            )  # fmt: skip
            force.append((up - down) / (2 * e))
        return np.concatenate(force)

    def _sizes(self, y, force):
        """How large components are, (dim, lanes): positions alike, and velocities.

        T^2 is x / x'', or T the geometric mean of |y / y'|: 1 / omega of an oscillation.
        """
        y, rate, dof = np.abs(y), np.abs(force), self._dof
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
        sizes = np.where(sizes > 0, sizes, sizes.max(axis=0))
        return np.where((sizes > 0) & (sizes < np.inf), sizes, 1.0)

    def _parameter_rows(self, params, y):
        """Each element of the parameters for all lanes."""
        rows = []
        for name, shape in self._system.shapes.items():
            value = np.asarray(params[name], dtype=y.dtype)
            if shape:
                value = value.reshape(*shape, -1)
            rows += [np.broadcast_to(value[index], y.shape[1:]) for index in np.ndindex(shape)]
        return rows

    def _force(self, t, y, rows):
        """The base's force, (dof or dim, lanes)."""
        y = np.ascontiguousarray(y)
        if isinstance(self._system, CallbackSystem):
            question = _ACCELERATION if self._dof else _RHS
            return self._system.answer(question, t, y, [np.array(row) for row in rows])
        out = np.empty(y.shape)
        given = tuple(np.ascontiguousarray(row) for row in rows)
        self._system.evaluate(64, _RHS, y.shape[1], np.ascontiguousarray(t), tuple(y), given, out)
        return out
