"""The motion and its tangents between the data: residuals, their derivatives, sums of squares.

In multiple shooting each segment of a recording is a motion of its own, from a start (a node) that
is unknown too; that it ends where the next begins is one more residual, whose weight is raised.

References
----------
Bock (1983), Recent advances in parameter identification techniques for O.D.E., Progr. Sci. Comput.
2, 95-121. Voss, Timmer, Kurths (2004), Int. J. Bifurcation Chaos 14, 1905-1933.
"""

import numpy as np

from .. import _core
from ..adaptive.sensitivity import longest_steps
from ..analysis.results import quiet
from ..integration import integrate
from ..run.options import over_batch
from ..solving import solve
from ..system.system import INVARIANTS
from ..tangents.tangent_system import traced_with_tangents
from ..trace.derivative import directional
from ..trace.tracing import Traced
from ..values.parameters import system_at
from ..values.types import Any
from ..watching.quantity import View
from .levenberg_marquardt import gram, total

MAX_STEPS = 20_000  # of a motion from a wild start
SMALLEST = 1e-6  # of the start: smaller data would ask for more than its rounding allows
FLATTEST = 1e-5  # of curvature to slope of a loss: what lies far out has a share in it

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
    moved : list of int
        The components of the start of a segment that are unknown: its node. All in multiple
        shooting.
    size, local : int
        The unknowns of a lane, nodes and then parameters, and how many of them are its own.
    held : ndarray of bool
        (size, 1): the components of the first node that are known.
    others : range
        The places of the parameters.
    where : list of int
        The place of each of `unknowns` among them.
    below : list of ndarray
        As of ``solved``: a node touches the next one, and all parameters.
    ends : ndarray
        (segments + 1, count): times of the nodes, and the last time.
    moments, data, weights : ndarray
        (rows, segments, count) and (rows, observed, segments, count): the rows of each segment.
    spread : ndarray
        (count): of the data, in sigmas, for gaps.
    known, asked : ndarray of int
        (count): how many numbers a fit, or the fits that share an unknown, are given and have to
        find.
    weight : float
        Of the gaps between segments.
    """

    ranges: Any  # (2, size, count): the bounds
    glue: Any  # (dim, lanes): by how many sigmas a datum changes with a node

    def __init__(
        self, system, unknowns, recordings, observed, start, t0, batch, segments, loss, run
    ):
        self.system, self.unknowns, self.batch, self.start = system, unknowns, batch, start
        self.count, self.segments, self.run, self.loss = len(start), segments, run, loss
        self.lanes = np.arange(self.count)
        self.moved = [*range(system.dim)] if segments > 1 else unknowns.starts
        self.k, p = len(self.moved), len(unknowns.elements)
        self.nodes = segments * self.k
        self.size, self.local = self.nodes + p, self.nodes + unknowns.local
        self.others = range(self.nodes, self.size)
        self.where = [*map(self.moved.index, unknowns.starts), *self.others]
        row = np.arange(self.size)
        self.held = row[:, np.newaxis] < self.k
        self.held[self.where] = False
        self.common, self.weight, self.observed = unknowns.local < p, 0.0, tuple(observed)
        end = (row // max(self.k, 1) + 2) * self.k  # of the next node
        self.below = [
            row[(row > j) & ((row < after) | (row >= self.nodes))] for j, after in enumerate(end)
        ]
        self.both = system.tangent(self.k, [*unknowns.parameters])
        self.seen = [self._seen(what) for what in observed]
        self._divide(recordings, t0)

    def _seen(self, what):
        """The place of a component; or the operations of a function and its derivatives."""
        if not callable(what):
            return self.system.state_names.index(what)
        view = View(self.system, {}, set())
        traced = Traced(view.graph, {"rhs": view.nodes(what, 1, "one number")}, view.rows)
        view.graph.dim = self.system.dim
        made = traced_with_tangents(traced, self.k, self.unknowns.elements, directional)
        return Traced(made.graph, {"invariants": made.outputs["rhs"]}, view.rows)

    def _divide(self, recordings, t0):
        """Divide recordings into segments."""
        S, count, batch = self.segments, self.count, self.batch

        def laid(array, *own):
            return over_batch(array, batch, *own).reshape(-1, count, *own)

        length = np.broadcast_to(recordings.length, batch).reshape(count)
        if S > 1 and length.min() <= S:
            raise ValueError(
                f"segments={S} need recordings of more times, got {length.min()}: give fewer"
            )
        cut = (2 * np.arange(S + 1)[:, np.newaxis] * (length - 1) + S) // (2 * S)  # rounded
        many = np.diff(cut, axis=0)
        many[-1] += 1
        row, lane = np.arange(many.max(initial=1))[:, np.newaxis, np.newaxis], self.lanes
        at = np.minimum(cut[:-1] + row, cut[1:])
        t = laid(recordings.t)
        self.moments, self.ends = t[at, lane], t[cut, lane]
        self.ends[0] = t0
        if (self.ends[0] > self.moments[0, 0]).any():
            raise ValueError(
                f"t0 = {np.max(t0):g} is later than the first time, {self.moments[0, 0].min():g}:"
                " give an earlier one"
            )
        self.data, self.weights = (
            np.moveaxis(laid(array, len(self.seen))[at, lane], -1, 1)
            for array in (recordings.data, recordings.weights)
        )
        self.weights *= (row < many)[:, np.newaxis]
        self.data = np.where(self.weights > 0, self.data, 0.0)
        self.atol, least = self._resolved()
        off = (self.run["rtol"] * np.abs(self.data) + least[:, np.newaxis]) * self.weights
        self.rounding = total((off * off).reshape(-1, count))
        self.points = np.count_nonzero(self.weights, axis=(0, 1, 2))
        # Beside the data one prior of each fit, or of all; so are the unknowns.
        own = [self.where[j] < self.local for j in self.unknowns.priors].count(True)
        common = self.size - self.local
        if S > 1:
            known = np.moveaxis(self.weights, 2, 1).reshape(-1, len(self.seen), count)
            rows = known * np.moveaxis(self.data, 2, 1).reshape(known.shape)
            self.spread = total(_deviation(rows, known > 0)) / len(self.seen)
        self.known = self.pool(self.points + own) + len(self.unknowns.priors) - own
        self.asked = self.pool(np.full(self.count, len(self.where) - common)) + common
        self.same = recordings.t if S == 1 and recordings.t.ndim == 1 else None

    def _resolved(self):
        """The `atol` of components, (count, dim), and of observed quantities, (observed, count).

        A share of the largest datum, or of SMALLEST times the start if that is larger. The unit of
        a function is not that of the motion, which is then resolved to a share of its start, too.
        """
        largest = np.abs(self.data).max(axis=(0, 2), initial=0)
        most = np.full(largest.shape, np.inf)
        for i, one in enumerate(self.seen):  # a function is measured by the positions
            own = [one] if isinstance(one, int) else slice(self.system.dof or None)
            start = np.nanmax(np.abs(self.start[:, own]), axis=1, initial=0)
            largest[i] = np.fmax(largest[i], SMALLEST * start)
            if not isinstance(one, int):
                most[i, start > 0] = self.run["rtol"] / 10 * start[start > 0]
        largest = np.where(largest > 0, largest, largest.max(axis=0))
        least = np.where(largest > 0, np.fmin(largest, 1.0), 1.0) * (self.run["rtol"] / 10)
        if self.run["atol"] is not None:
            least[...] = most[...] = self.run["atol"]
        atol = np.repeat(np.fmin(least, most).max(axis=0)[:, np.newaxis], self.system.dim, axis=1)
        for one, row in zip(self.seen, least):
            if isinstance(one, int):
                atol[:, one] = row
        return atol, least

    # ---- the motion ----
    def parameters(self, x):
        """The free parameters of lanes by name, each (lanes, *its shape)."""
        rows = x[self.nodes :]
        return {
            name: rows[places].T.reshape(-1, *self.system.shapes[name])
            for name, places in self.unknowns.parameters.items()
        }

    def starts_of(self, x, lanes):
        """The starts of all segments, (dim, segments, lanes)."""
        found = np.repeat(self.start[lanes % self.count].T[:, np.newaxis], self.segments, axis=1)
        found[self.moved] = self.nodes_of(x).swapaxes(0, 1)
        return found

    def nodes_of(self, x):
        """A view of the nodes, (segments, k, lanes)."""
        return x[: self.nodes].reshape(self.segments, self.k, x.shape[1])

    def moves(self, system, x, starts, lanes, begin, end, times):
        """A Solution for segments (S, lanes), flat, of a system with or without tangents."""
        S = starts.shape[1]
        own = np.tile(lanes % self.count, S)
        values = {name: np.concatenate([a] * S) for name, a in self.parameters(x).items()}
        y = starts.reshape(len(starts), -1).T
        if system is self.both:
            y = system.initial_state(y, tangents=np.eye(len(starts))[:, self.moved])
        system = system_at(system, self.batch, own)(**values)
        return self.run_of(system, y, begin.reshape(-1), end.reshape(-1), times, self.atol[own])

    def run_of(self, system, y, begin, end, times, least, **others):
        """A Solution at times, of a system with or without tangents.

        least: the `atol` of each, over the components of the motion.
        """
        run = self.run | others
        own: Any = getattr(system, "places", np.c_[: system.dim])
        given = {"t0": begin, "times": times, "on_failure": "ignore"}
        given |= {name: run[name] for name in ("workers", "method")}
        with quiet():
            if run["dt"] is not None:
                n = int(min(np.ceil(np.max((end - begin) / run["dt"]) - 1e-9), 2.0**60))
                return integrate(system, y, dt=run["dt"], n_steps=n, **given)
            # The tangents do not choose the steps, and do not dilute the norm of the error.
            share, tangents = 1 / np.sqrt(own.shape[1]), own.shape[1] > 1
            own = own[:, 0]
            atol = np.full((*least.shape[:-1], system.dim), 1e100)
            atol[..., own] = least * share
            if tangents:  # a motion at rest would take steps too long for them
                span = end - begin
                longest = longest_steps(system.base, y[..., own], begin, span, run["rtol"], least)
                given["max_step"] = np.fmax(longest, span / (MAX_STEPS / 2))
            rtol = np.full(system.dim, run["rtol"] * share)
            return solve(system, y, t_end=end, rtol=rtol, atol=atol, max_steps=MAX_STEPS, **given)

    def seen_at(self, x, lanes, times, begin, end):
        """What is observed, and its derivatives.

        Returns
        -------
        ndarray, shape (rows, observed, columns, segments * lanes)
        ndarray, shape (rows, dim of `both`, segments * lanes)
            The states with tangents.
        ndarray of bool, shape (rows, segments * lanes)
            Where there is a motion.
        """
        clock = times if times.ndim == 1 else times.reshape(len(times), begin.size)
        sol = self.moves(self.both, x, self.starts_of(x, lanes), lanes, begin, end, clock)
        y, places = np.moveaxis(sol.y, -1, 1), self.both.places
        found = np.empty((len(y), len(self.seen), places.shape[1], y.shape[-1]))

        def flat(row):
            return np.ascontiguousarray(np.broadcast_to(row, y[:, 0].shape)).reshape(-1)

        for i, seen in enumerate(self.seen):
            if isinstance(seen, int):
                found[:, i] = y[:, places[seen]]
                continue
            out = np.empty((places.shape[1], y[:, 0].size))
            state = tuple(flat(y[:, place]) for place in places.T.ravel())
            rows = tuple(map(flat, sol.system.parameter_rows))
            moments = flat(clock.reshape(len(clock), -1))
            _core.evaluate(
                seen.program().handle, 64, INVARIANTS, moments.size, moments, state, rows, out
            )
            found[:, i] = out.reshape(-1, *y[:, 0].shape).swapaxes(0, 1)
        return found, y, sol.valid

    # ---- for minimised ----
    def __call__(self, x, lanes):
        own, S, m, k = lanes % self.count, self.segments, len(lanes), self.k
        times, end = self.moments[:, :, own] if self.same is None else self.same, self.ends[1:, own]
        if S > 1:
            times = np.concatenate([times, end[np.newaxis]])
        found, y, valid = self.seen_at(x, lanes, times, self.ends[:-1, own], end)
        rows, seen, columns = len(self.data), len(self.seen), found.shape[2]
        data, weights = (a[..., own].reshape(rows, seen, -1) for a in (self.data, self.weights))
        matrix, gradient = np.zeros((self.size, self.size, m)), np.zeros((self.size, m))
        with quiet():
            found = found[:rows]
            found[:, :, 0] -= data
            found *= weights[:, :, np.newaxis]
            if not all(isinstance(one, int) for one in self.seen):  # may be NaN where no datum is
                np.copyto(found, 0.0, where=(weights == 0)[:, :, np.newaxis])
            found = found.reshape(rows * seen, columns, -1)
            z = found[:, 0] ** 2
            loss, slope, bend = LOSSES[self.loss](z)
            if np.ndim(slope):
                size = np.sqrt(np.maximum(slope + 2 * bend * z, FLATTEST * slope))
                found[:, 1:] *= size[:, np.newaxis]
                found[:, 0] *= slope / size
            cost = total(loss)
            if S > 1:
                found = self._with_gaps(found, y[-1], x, lanes)
                cost = cost + total(found[:k, 0] ** 2)
            products = gram(found).reshape(found.shape[1], found.shape[1], S, m)
            for s in range(S):  # columns: residual, node, parameters, next node
                here, then = range(s * k, (s + 1) * k), range((s + 1) * k, (s + 2) * k)
                to = np.array([*here, *self.others, *then])
                to = to[: columns - 1 + k * (s < S - 1)]  # the last knows no next node
                part = products[: 1 + len(to), : 1 + len(to), s]
                matrix[to[:, np.newaxis], to] += part[1:, 1:]
                gradient[to] += part[1:, 0]
            cost = total(cost.reshape(S, m))
            for j, (mean, sd) in self.unknowns.priors.items():
                at = self.where[j]
                share = 1 / sd**2 / (self.count if at >= self.local else 1)
                matrix[at, at] += share
                gradient[at] += (x[at] - mean) * share
                cost = cost + (x[at] - mean) ** 2 * share
        bad = ~(valid.all(axis=0).reshape(S, m).all(axis=0) & np.isfinite(cost))
        return self.pool(np.where(bad, np.inf, cost)), gradient, matrix

    def _with_gaps(self, found, end, x, lanes):
        """`found` behind rows for gaps, where no padding moves them, and with columns for nodes."""
        (rows, columns, lots), k, m = found.shape, self.k, len(lanes)
        whole = np.zeros((rows + k, columns + k, lots))
        whole[k:, :columns] = found
        glue = np.zeros((k, self.segments, m))
        glue[:, :-1] = (self.weight * self.glue[:, lanes % self.glue.shape[1]])[:, np.newaxis]
        glue = glue.reshape(k, -1)
        whole[:k, :columns] = end[self.both.places] * glue[:, np.newaxis]
        nodes = np.roll(self.starts_of(x, lanes), -1, axis=1)
        whole[:k, 0] -= nodes.reshape(k, -1) * glue
        whole[range(k), range(columns, columns + k)] = -glue
        return whole

    def gaps(self, x, lanes):
        """Weigh the gaps between segments by what they change in the data, and measure them.

        Returns
        -------
        ndarray, shape (lanes,)
            What the largest gap changes, in spreads of the data.
        """
        starts, own = self.starts_of(x, lanes), lanes % self.count
        k, S, m = starts.shape
        end, weights = self.ends[1:, own], self.weights[..., own][:, :, np.newaxis]
        times = np.concatenate([self.moments[..., own], end[np.newaxis]])
        # With tangents, as in the fit: by the same steps, since other steps have other errors.
        found, y, _ = self.seen_at(x, lanes, times, self.ends[:-1, own], end)
        with quiet():
            change = found[:-1, :, 1 : 1 + k].reshape(*weights.shape[:2], k, S, m) * weights
            change = np.where(weights > 0, change**2, 0.0).reshape(-1, k, S, m)
            square = total(np.moveaxis(total(change), 1, 0)) / np.maximum(self.points[own], 1)
        glue = self.spread[own] / _deviation(starts.swapaxes(0, 1), True)
        np.sqrt(square, out=glue, where=(square > 0) & np.isfinite(square))
        self.glue[:, lanes] = glue
        ends = y[-1, self.both.places[:, 0]].reshape(starts.shape)
        gaps = np.abs(ends[:, :-1] - starts[:, 1:]).max(axis=1)
        return (gaps * glue).max(axis=0) / self.spread[own]

    def pool(self, array, how=total):
        """Sums over the lanes of a group, in each of them; each lane by itself if none share."""
        if not self.common:
            return array
        groups = array.reshape(*array.shape[:-1], -1, self.count)
        return np.repeat(how(np.moveaxis(groups, -1, 0)), self.count, axis=-1)

    def shared(self, rows):
        """Rows (p, lanes), with those of shared unknowns summed over their lanes."""
        return np.concatenate([rows[: self.local], self.pool(rows[self.local :])])

    def bounds(self, lanes):
        return self.ranges[..., lanes % self.count]

    def noise(self, lanes):
        """The cost of the errors of the integration."""
        return self.pool(self.rounding[lanes % self.count])


def _deviation(rows, known):
    """The standard deviation over the first axis of what is known; 1 where it is 0."""
    known = np.broadcast_to(known, rows.shape).astype(float)
    count = np.maximum(total(known), 1.0)
    off = (rows - total(rows * known) / count) * known
    found = np.sqrt(total(off * off) / count)
    return np.where(found > 0, found, 1.0)
