"""The motion and its tangents between the data: residuals, their derivatives, sums of squares.

In multiple shooting each segment of a recording is a motion of its own, from a start (a node) that
is unknown too; that it ends where the next begins is one more residual, whose weight is raised.

References
----------
Bock (1983), Recent advances in parameter identification techniques for O.D.E., Progr. Sci. Comput.
2, 95-121. Voss, Timmer, Kurths (2004), Int. J. Bifurcation Chaos 14, 1905-1933.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..analysis.observables import system_at
from ..analysis.results import quiet
from ..integration import integrate
from ..solving import solve
from ..tangents.tangent_system import traced_with_tangents
from ..trace.derivative import directional
from ..trace.tracing import Traced
from ..watching.quantity import View
from .levenberg_marquardt import gram, total

_INVARIANTS = _core.questions().index("invariants")
MAX_STEPS = 20_000  # of a motion from a wild start

# The loss of z = residual^2 and its first two derivatives: those of SciPy's least_squares.
LOSSES: dict[str, Any] = {
    "linear": lambda z: (z, 1.0, 0.0),
    "soft_l1": lambda z: (2 * (np.sqrt(1 + z) - 1), (1 + z) ** -0.5, -0.5 * (1 + z) ** -1.5),
    "huber": lambda z: (
        np.where(z <= 1, z, 2 * np.sqrt(z) - 1), np.maximum(z, 1) ** -0.5,
        np.where(z <= 1, 0, -0.5 * np.maximum(z, 1) ** -1.5)),
    "cauchy": lambda z: (np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2),
    "arctan": lambda z: (np.arctan(z), 1 / (1 + z * z), -2 * z / (1 + z * z) ** 2),
}  # fmt: skip


class Shots:
    """The sums of squares of a batch of fits; a lane is one start of one fit.

    Parameters
    ----------
    system : System
        With parameters over the batch.
    unknowns : Unknowns
    recordings : Recordings
    observed : list of str or callable
    start, t0 : ndarray
        (count, dim) and (count).
    batch : tuple of int
        Of the fits; `count` in all.
    segments : int
    loss : str
    run : dict
        Further arguments of ``solve``, or of ``integrate``, if `dt` is among them.

    Attributes
    ----------
    size, local : int
        The unknowns of a lane, and how many of them are its own: nodes, then parameters, or all of
        `unknowns`.
    where : list of int
        The place of each of `unknowns` among them.
    weight : float
        Of the gaps between segments.
    """

    def __init__(
        self, system, unknowns, recordings, observed, start, t0, batch, segments, loss, run
    ):
        self.system, self.unknowns, self.batch, self.start = system, unknowns, batch, start
        self.count, self.segments, self.run, self.loss = len(start), segments, run, loss
        self.several, dim, first = segments > 1, system.dim, len(unknowns.starts)
        self.k = dim if self.several else first  # tangents along the start
        own = [j - first for j in unknowns.order if j >= first]
        self.nodes, self.columns = 0, unknowns.order
        if self.several:
            self.nodes, self.columns = segments * dim, [*range(dim), *(dim + j for j in own)]
        extra = self.nodes - first if self.several else 0
        self.size, self.local = len(unknowns.names) + extra, unknowns.local + extra
        self.where = [*range(self.size)]
        if self.several:
            self.where = [
                unknowns.starts[j] if j < first else at + extra
                for at, j in enumerate(unknowns.order)
            ]
        self.common, self.weight, self.below = self.local < self.size, 0.0, None
        if self.several:
            if self.local < self.nodes:
                raise ValueError("segments have starts of their own, which cannot be shared")
            after = [[*range(j + 1, min((j // dim + 2) * dim, self.nodes))]
                     for j in range(self.nodes)] + [[] for _ in own]  # fmt: skip
            self.below = [
                np.array([*rows, *range(max(j + 1, self.nodes), self.size)], int)
                for j, rows in enumerate(after)
            ]
        parameters = [*dict.fromkeys(name.partition("[")[0] for name, _ in unknowns.elements)]
        self.both = system.tangent(self.k, parameters)
        self.observed_names = tuple(observed)
        self.seen = [self._seen(what) for what in observed]
        self._divide(recordings, t0)

    def _seen(self, what):
        """The place of a component; or the operations of a function and its derivatives."""
        if not callable(what):
            return self.system.state_names.index(what)
        view = View(self.system, {}, False, False)
        traced = Traced(view.graph, {"rhs": view.nodes(what, 1, "one number")}, view.rows)
        view.graph.dim = self.system.dim
        made = traced_with_tangents(traced, self.k, self.unknowns.elements, directional)
        return Traced(made.graph, {"invariants": made.outputs["rhs"]}, view.rows)

    def _divide(self, recordings, t0):
        """The rows of each segment: times (rows, segments, count), data (rows, seen, ...)."""
        S, count, batch = self.segments, self.count, self.batch

        def laid(array, *own):
            between = (1,) * (len(batch) + 1 + len(own) - array.ndim)
            array = array.reshape(len(array), *between, *array.shape[1:])
            return np.broadcast_to(array, (len(array), *batch, *own)).reshape(-1, count, *own)

        length = np.broadcast_to(recordings.length, batch).reshape(count)
        if S > 1 and length.min() <= S:
            raise ValueError(
                f"segments={S} are for more times than that, got {length.min()}: give fewer"
            )
        cut = (2 * np.arange(S + 1)[:, np.newaxis] * (length - 1) + S) // (2 * S)  # rounded
        many = np.diff(cut, axis=0)
        many[-1] += 1
        row, lane = np.arange(many.max())[:, np.newaxis, np.newaxis], np.arange(count)
        at = np.minimum(cut[:-1] + row, cut[1:])
        t = laid(recordings.t)
        self.moments, self.ends = t[at, lane], t[cut, lane]
        self.ends[0] = t0
        if (self.ends[0] > self.moments[0, 0]).any():
            raise ValueError(
                f"t0 = {np.max(t0):g} is later than the first time, {self.moments[0, 0].min():g}"
            )
        seen = len(self.seen)
        self.data, self.weights = (
            np.moveaxis(laid(array, seen)[at, lane], -1, 1)
            for array in (recordings.data, recordings.weights)
        )
        self.weights *= (row < many)[:, np.newaxis]
        self.data = np.where(self.weights > 0, self.data, 0.0)
        squares = (self.data * self.weights) ** 2
        self.rounding = self.run["rtol"] ** 2 * total(squares.reshape(-1, count))
        self.points = np.count_nonzero(self.weights, axis=(0, 1, 2))  # (count)
        self.same = recordings.t if S == 1 and recordings.t.ndim == 1 else None

    # ---- the motion ----
    def parameters(self, x, lanes):
        """The free parameters of lanes by name, each (lanes, *its shape)."""
        found, rows, m = {}, {}, len(lanes)
        first = len(self.unknowns.starts)
        for at, j in zip(self.where, self.unknowns.order, strict=True):
            if j < first:
                continue
            name, row = self.unknowns.elements[j - first]
            name = name.partition("[")[0]
            if name not in found:
                shape = self.system.shapes[name]
                found[name] = np.empty((m, *shape))
                rows[name] = min(r for e, r in self.unknowns.elements if e.split("[")[0] == name)
            found[name].reshape(m, -1)[:, row - rows[name]] = x[at]
        return found

    def starts_of(self, x, lanes):
        """The starts of all segments, (dim, segments, lanes)."""
        if self.several:
            return x[: self.nodes].reshape(self.segments, -1, len(lanes)).swapaxes(0, 1)
        found = self.start[lanes % self.count].T.copy()
        for at, j in enumerate(self.unknowns.order):
            if j < self.k:
                found[self.unknowns.starts[j]] = x[at]
        return found[:, np.newaxis]

    def moved(self, system, x, starts, lanes, begin, end, times):
        """A Solution for all segments (S, lanes), flat, of a system with or without tangents."""
        own, S = lanes % self.count, starts.shape[1]
        values = {
            name: np.concatenate([value] * S) for name, value in self.parameters(x, lanes).items()
        }
        system = system_at(system, self.batch, np.tile(own, S))(**values)
        places = getattr(system, "places", np.arange(system.dim)[:, np.newaxis])
        y = np.zeros((S * len(lanes), system.dim))
        y[:, places[:, 0]] = starts.reshape(len(starts), -1).T
        for j in range(self.k if places.shape[1] > 1 else 0):
            y[:, places[j if self.several else self.unknowns.starts[j], 1 + j]] = 1.0
        begin, end = (np.broadcast_to(t, (S, len(own))).reshape(-1) for t in (begin, end))
        return self.run_of(system, y, begin, end, times)

    def run_of(self, system, y, begin, end, times, **others):
        """A Solution at times, of a system with or without tangents."""
        run, places = (
            self.run | others,
            getattr(system, "places", np.arange(system.dim)[:, np.newaxis]),
        )
        given = {"t0": begin, "times": times, "on_failure": "ignore", "workers": run["workers"]}
        with quiet():
            if run["dt"] is not None:
                n = int(np.ceil(np.max((end - begin) / run["dt"]) - 1e-9))
                return integrate(system, y, dt=run["dt"], n_steps=n, method=run["method"], **given)
            # The tangents do not choose the steps, and do not dilute the norm of the error.
            share = 1 / np.sqrt(places.shape[1])
            rtol, atol = np.full(system.dim, run["rtol"] * share), np.full(system.dim, 1e300)
            atol[places[:, 0]] = run["atol"] * share
            return solve(
                system, y, t_end=end, rtol=rtol, atol=atol, method=run["method"],
                max_steps=MAX_STEPS, **given,
            )  # fmt: skip

    def observed(self, x, lanes, times=None, begin=None, end=None):
        """What is observed, and its derivatives.

        Returns
        -------
        ndarray, shape (rows, seen, 1 + columns, segments * lanes)
        ndarray, shape (rows, dim of `both`, segments * lanes)
            The states with tangents; in multiple shooting the last row is of the ends.
        ndarray of bool, shape (segments * lanes)
            Which motions failed.
        """
        own, S = lanes % self.count, self.segments
        begin, end = (
            (self.ends[:-1][:, own], self.ends[1:][:, own]) if begin is None else (begin, end)
        )
        if times is None:
            times = self.same if self.same is not None else self.moments[:, :, own]
            if self.several:
                times = np.concatenate([times, end[np.newaxis]])
        clock = times if times.ndim == 1 else times.reshape(len(times), -1)
        sol = self.moved(self.both, x, self.starts_of(x, lanes), lanes, begin, end, clock)
        y, places = np.moveaxis(sol.y, -1, 1), self.both.places
        columns = [0, *(1 + j for j in self.columns)]
        found = np.empty((len(y), len(self.seen), len(columns), y.shape[-1]))
        for i, seen in enumerate(self.seen):
            if isinstance(seen, int):
                found[:, i] = y[:, places[seen, columns]]
                continue
            shape = (len(y), y.shape[-1])

            def flat(row, shape=shape):
                return np.ascontiguousarray(np.broadcast_to(row, shape)).reshape(-1)

            out = np.empty((places.shape[1], y[:, 0].size))
            state = [flat(y[:, place]) for place in places.T.ravel()]
            rows = [flat(row) for row in sol.system.parameter_rows]
            moments = flat(clock if clock.ndim > 1 else clock[:, np.newaxis])
            _core.evaluate(seen.program().handle, 64, _INVARIANTS, moments.size, moments,
                           tuple(state), tuple(rows), out)  # fmt: skip
            found[:, i] = out[columns].reshape(len(columns), *shape).swapaxes(0, 1)
        return found, y, sol.status != 0

    # ---- for minimised ----
    def __call__(self, x, lanes):
        own, S, m = lanes % self.count, self.segments, len(lanes)
        found, y, failed = self.observed(x, lanes)
        rows, seen = self.data.shape[:2]
        k, p = self.k, len(self.columns) - self.k
        with quiet():
            found = found[:rows]
            data, weights = (a[..., own].reshape(rows, seen, -1) for a in (self.data, self.weights))
            found[:, :, 0] -= data
            found *= weights[:, :, np.newaxis]
            found = found.reshape(rows * seen, len(self.columns) + 1, -1)
            z = found[:, 0] ** 2
            loss, slope, bend = LOSSES[self.loss](z)
            cost = total(loss)
            if np.ndim(slope):
                size = np.sqrt(np.maximum(slope + 2 * bend * z, np.finfo(float).eps))
                found[:, 1:] *= size[:, np.newaxis]
                found[:, 0] *= slope / size
            if self.several:
                found, gaps = self._with_gaps(found, y[-1], x, lanes)
                cost = cost + total(gaps**2)
            products = gram(found).reshape(found.shape[1], found.shape[1], S, m)
            matrix, gradient = np.zeros((self.size, self.size, m)), np.zeros((self.size, m))
            for s in range(S):
                last = 2 * k if s < S - 1 else k  # of the nodes that a segment knows
                take = np.array([*range(last), *range(2 * k, 2 * k + p)]) if self.several else (
                    np.arange(k + p))  # fmt: skip
                to = np.array([*range(s * k, s * k + last), *range(self.nodes, self.size)]) if (
                    self.several) else take  # fmt: skip
                matrix[to[:, np.newaxis], to] += products[1 + take[:, np.newaxis], 1 + take, s]
                gradient[to] += products[1 + take, 0, s]
            cost = total(cost.reshape(S, m))
            for j, (mean, sd) in self.unknowns.priors.items():
                at = self.where[j]
                share = 1 / sd**2 / (self.count if at >= self.local else 1)
                off = x[at] - mean
                matrix[at, at] += share
                gradient[at] += off * share
                cost = cost + off * off * share
        bad = failed.reshape(S, m).any(axis=0) | ~np.isfinite(cost)
        return self.pool(np.where(bad, np.inf, cost)), gradient, matrix

    def _with_gaps(self, found, end, x, lanes):
        """The rows with those of the gaps, and columns of the next nodes; the gaps (dim, lanes)."""
        k, S, m = self.k, self.segments, len(lanes)
        rows, columns, _ = found.shape
        whole = np.zeros((rows + k, columns + k, S * m))
        whole[:rows, : 1 + k], whole[:rows, 1 + 2 * k :] = found[:, : 1 + k], found[:, 1 + k :]
        glue = np.zeros((k, S, m))
        glue[:, :-1] = (self.weight * self.glue[:, lanes % self.count])[:, np.newaxis]
        glue = glue.reshape(k, -1)
        ends = end[self.both.places[:, [0, *(1 + j for j in self.columns)]]] * glue[:, np.newaxis]
        nodes = self.starts_of(x, lanes)
        ends[:, 0] -= np.roll(nodes, -1, axis=1).reshape(k, -1) * glue
        whole[rows:, : 1 + k], whole[rows:, 1 + 2 * k :] = ends[:, : 1 + k], ends[:, 1 + k :]
        for d in range(k):
            whole[rows + d, 1 + k + d] = -glue[d]
        return whole, whole[rows:, 0]

    def pool(self, array, how=total):
        """Sums over the lanes of a group, in each of them; lanes alone are their own."""
        if not self.common:
            return array
        groups = array.reshape(*array.shape[:-1], -1, self.count)
        return np.repeat(how(np.moveaxis(groups, -1, 0)), self.count, axis=-1)

    def shared(self, rows):
        """Rows (p, lanes), in which those of shared unknowns are sums."""
        return np.concatenate([rows[: self.local], self.pool(rows[self.local :])])

    def bounds(self, lanes):
        return self.ranges[..., lanes % self.count]

    def noise(self, lanes):
        """The cost of the errors of the integration."""
        return self.pool(self.rounding[lanes % self.count])

    def gaps(self, x, lanes):
        """What the ends of segments lack to the next starts, in spreads: (dim, S - 1, lanes)."""
        starts, own = self.starts_of(x, lanes), lanes % self.count
        end = self.ends[1:][:, own]
        sol = self.moved(
            self.system, x, starts, lanes, self.ends[:-1][:, own], end, end.reshape(1, -1)
        )
        ends = sol.y[0].T.reshape(starts.shape)
        return (ends[:, :-1] - starts[:, 1:]) / self.spread[:, np.newaxis, own]
