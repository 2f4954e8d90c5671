"""What a fit has found: parameters and their errors, the motion, its picture."""

from __future__ import annotations

import numpy as np

from ..analysis.results import drawn_by, quiet
from ..errors import warn_caller
from ..run.options import over_batch
from ..values.checks import choice, floats, integer, positive
from ..values.named import Named
from ..values.names import ByName
from ..values.parameters import system_at
from ..values.table import Table, Tabled, batch_axes
from ..values.types import Any, ArrayLike, Solution
from .levenberg_marquardt import LAST_GOOD, NOT_CLOSED, REASONS, minimised, solved

ALIKE = 1e-12  # the least eigenvalue of correlations that tells unknowns apart
LEAST = 1e-14  # added to the diagonal of matrices that are scaled to a diagonal of 1
# Weights of the gaps: smaller ones let them open, larger ones lose digits. With HARD the errors are
# exact to some 1e-4; with FIRM the profiles to 1e-3, whose search would creep between harder gaps.
HARD, FIRM = 3e3, 1e3


class Ends(Tabled, Named):
    """Where the starts of fits ended.

    Attributes
    ----------
    parameters : dict of ndarray
        (starts, *batch).
    cost, status, iterations : ndarray
        (starts, *batch).
    """

    parameters: dict[str, Any]
    cost: Any
    status: Any
    iterations: Any

    def table(self) -> Table:
        """A row for each start of each fit."""
        return _table("start", self, status=self.status)


class Profile(Tabled, Named):
    """The least cost for given values of one unknown.

    Attributes
    ----------
    values : ndarray
        (n, *batch): the unknown.
    cost : ndarray
        (n, *batch): least over all others.
    rise : ndarray
        (n, *batch): of the cost above that of the fit, in variances of the data: 1 at one standard
        error where the model is linear, 3.84 at the ends of an interval of 95 %.
    parameters : dict of ndarray
        (n, *batch): all unknowns.
    """

    values: Any
    cost: Any
    rise: Any
    parameters: dict[str, Any]

    def table(self) -> Table:
        """A row for each value of each fit."""
        return _table("point", self, rise=self.rise)


def _table(word, found, **more):
    axes = {word: range(len(found.cost))} | batch_axes(found.cost.shape[1:])
    return Table.of("", axes, {**found.parameters, "cost": found.cost, **more})


class Fit(Tabled):
    """A batch of fits; made by ``pi.fit``.

    Attributes
    ----------
    parameters : dict of ndarray
        By name, (*batch): the unknowns, starting values by the names of their components.
    standard_errors : dict of ndarray
        (*batch); NaN at a bound, and where the data do not determine it.
    covariance : ndarray
        (*batch, p, p), in the order of `parameters`.
    residuals : ndarray
        Data minus fit, of the shape of the data; NaN where one is missing.
    cost : ndarray
        (*batch): the sum of squares (of the loss) of residuals / sigma, with those of priors, twice
        the cost of SciPy's ``least_squares``; of the whole batch where an unknown is shared.
    points : ndarray of int
        (*batch): how many data there are.
    status : ndarray of int
        (*batch): 0 converged, 1 not within 100 rounds, or gaps between segments did not close,
        2 the motion fails at the start.
    reason : ndarray of str
        (*batch): the same in words.
    iterations : ndarray of int
        (*batch).
    starts : Ends
        Where all starts ended.
    system : System
        With the parameters found.
    start : ndarray
        (*batch, dim): where the motion starts.
    t0, t_end : ndarray
        (*batch): the time of the start, and the last of the data.
    observed : tuple of str or callable
        What the data are.
    t, data : ndarray
        As given: (n, *batch), and (n, *batch, k) where `observe` was a list.
    """

    def __init__(self, shots, recordings, starts, found, absolute):
        self._shots, self._listed = shots, recordings.listed
        batch, count, names = shots.batch, shots.count, shots.unknowns.names
        x, cost, matrix, reason, rounds = found

        def shaped(array):
            return array.reshape(*array.shape[:-1], starts, *batch)

        state = np.searchsorted((LAST_GOOD + 1, NOT_CLOSED + 1), reason, "right").astype(np.int8)
        self.starts = Ends(
            parameters=dict(zip(names, shaped(x[shots.where]))), cost=shaped(cost),
            status=shaped(state), iterations=shaped(rounds),
        )  # fmt: skip
        best = np.argmin(cost.reshape(starts, count), axis=0) * count + shots.lanes
        x, cost, matrix, reason = (a[..., best] for a in (x, cost, matrix, reason))
        self._x, self._matrix = x, matrix
        if shots.segments > 1:
            shots.weight, shots.glue = HARD, shots.glue[:, best]
            self._matrix = shots(x, shots.lanes)[2]
            shots.weight = FIRM
        self.cost, self.status = cost.reshape(batch), state[best].reshape(batch)
        self.reason = np.array(REASONS)[reason].reshape(batch)
        self.iterations, self.points = rounds[best].reshape(batch), shots.points.reshape(batch)
        self.parameters = ByName(zip(names, x[shots.where].reshape(len(names), *batch)))
        self.system = shots.system(
            **{k: v.reshape((*batch, *v.shape[1:])) for k, v in shots.parameters(x).items()}
        )
        start = shots.starts_of(x, shots.lanes)[:, 0].T
        self.start, self.observed = start.reshape(*batch, -1), shots.observed
        self.t0, self.t_end = shots.ends[[0, -1]].reshape(2, *batch)
        own = (len(shots.seen),) if recordings.listed else ()
        self.t = over_batch(recordings.t, batch)
        self.data = over_batch(recordings.data, batch, len(shots.seen))
        self.data = self.data.reshape(len(self.data), *batch, *own)
        p, free = len(names), shots.known - shots.asked
        self._variance = np.ones(count)
        spread = self._spread(shots.where)[shots.where]
        spread[..., np.isinf(cost)] = np.nan
        with quiet():
            errors = np.sqrt(spread[range(p), range(p)])
        self._warn(spread, errors)
        if not absolute:
            self._variance = np.where(free > 0, cost, np.nan) / np.maximum(free, 1)
        with quiet():  # for those that failed
            spread, errors = spread * self._variance, errors * np.sqrt(self._variance)
        self.covariance = np.moveaxis(spread, -1, 0).reshape(*batch, p, p)
        self.standard_errors = ByName(zip(names, errors.reshape(p, *batch)))
        self.residuals = self.data - self.predict(self.t)

    plot = drawn_by("fitted")

    def _spread(self, which):
        """The covariances of all unknowns with some, (size, some, count); NaN where unknown."""
        shots, x = self._shots, self._x
        square = shots.shared(self._matrix[range(shots.size), range(shots.size)])
        lost = (x <= shots.ranges[0]) | (x >= shots.ranges[1]) | (square == 0)
        size = np.where(square > 0, np.sqrt(square), 1.0)
        right = np.zeros((shots.size, len(which), shots.count))
        right[which, range(len(which))] = 1.0
        held = lost | shots.held
        with quiet():
            scaled = self._matrix / (size * size[:, np.newaxis])
            found = solved(shots, scaled, right, np.full(x.shape, LEAST), held, np.asarray)
            found *= self._variance / size[:, np.newaxis] / size[which]
        lost &= ~shots.held
        return np.where(lost[:, np.newaxis] | lost[which], np.nan, found)

    def _warn(self, spread, errors):
        """Warn of fits that did not converge, and of unknowns that the data do not determine."""
        status, shots = self.status.reshape(-1), self._shots
        if status.any():
            warn_caller(
                f"{np.count_nonzero(status)} of {status.size} fits did not converge:"
                f" {', '.join(np.unique(self.reason[self.status > 0]))}; see status and reason"
            )
        with quiet():
            alike = np.nan_to_num(spread / errors / errors[:, np.newaxis])
        alike[range(len(errors)), range(len(errors))] = 1.0
        least, vectors = np.linalg.eigh(np.moveaxis(alike, -1, 0))
        x, (low, high) = self._x[shots.where], shots.ranges[:, shots.where]
        lost = np.isnan(errors) & (x > low) & (x < high)
        part = vectors**2 @ (least < ALIKE)[..., np.newaxis]  # share of directions without spread
        lost |= part[..., 0].T > 0.01
        lost |= (lost & (np.abs(alike) > 0.9)).any(axis=1)  # and what is correlated with these
        lost &= status == 0
        if lost.any():
            errors[lost] = np.nan
            told = [name for name, row in zip(self.parameters, lost) if row.any()]
            warn_caller(
                f"the data do not determine {', '.join(told)}{' apart' * (len(told) > 1)} in"
                f" {np.count_nonzero(lost.any(axis=0))} of {status.size} fits: fix one, or give a"
                " prior"
            )

    @property
    def solution(self) -> Solution:
        """The fitted motion at the times of the data, as of ``solve``.

        In multiple shooting its batch has a first axis of segments, each at its own times.
        """
        shots = self._shots
        batch = (shots.segments,) * (shots.segments > 1) + shots.batch
        starts = np.moveaxis(shots.starts_of(self._x, shots.lanes), 0, -1)
        begin, end = (t.reshape(batch) for t in (shots.ends[:-1], shots.ends[1:]))
        times = shots.moments.reshape(-1, *batch)
        least = shots.atol.reshape(*shots.batch, -1)
        return shots.run_of(self.system, starts.reshape(*batch, -1), begin, end, times, least)

    def single_shot_until(self, rtol: float = 1e-12) -> Any:
        """How far one motion from the fitted start follows the segments of multiple shooting.

        A chaotic motion cannot follow its data for long: the rounding of its start grows.

        Returns
        -------
        ndarray
            (*batch): the start of the first segment from which it is off by more than a tenth of
            the spread of a component; the last time where there is none.
        """
        shots, lanes = self._shots, self._shots.lanes
        ends, nodes = shots.ends[1:], shots.starts_of(self._x, lanes)
        far = np.zeros(ends.shape, bool)
        if shots.segments > 1:
            sol = shots.run_of(
                system_at(self.system, shots.batch, lanes), nodes[:, 0].T, shots.ends[0], ends[-1],
                ends, shots.atol * (rtol / shots.run["rtol"]), rtol=rtol,
            )  # fmt: skip
            off = np.abs(np.moveaxis(sol.y, -1, 0)[:, :-1] - nodes[:, 1:])
            moved = self.solution.y.reshape(-1, shots.count, len(nodes)).std(axis=0).T
            far[:-1] = (off > 0.1 * moved[:, np.newaxis]).any(axis=0)
        first = np.where(far.any(axis=0), far.argmax(axis=0), len(ends) - 1)
        return ends[first, lanes].reshape(shots.batch)

    def predict(self, t: ArrayLike, errors: bool = False) -> Any:
        """The observed quantities of the fitted motion at given times.

        Parameters
        ----------
        t : array_like
            Times in order, not before t0: (n,) or (n, *batch).
        errors : bool, optional
            Whether to return its standard errors too: sqrt(J C J^T), J the derivatives by the
            unknowns and C their covariance.

        Returns
        -------
        ndarray, or two of them
            (n, *batch), or (n, *batch, k) where `observe` was a list. In multiple shooting by
            segments.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> t = np.linspace(0, 3, 20)
        >>> found = pi.fit(pi.systems.oscillator, t, np.cos(1.1 * t), observe="x", free=["omega"])
        >>> bool(abs(found.predict([10.0])[0] - np.cos(11.0)) < 1e-5)
        True
        """
        shots, count, batch = self._shots, self._shots.count, self._shots.batch
        t = floats("t", t)
        try:
            t = over_batch(np.atleast_1d(t), batch).reshape(-1, count)
        except ValueError:
            raise ValueError(
                f"t has shape {t.shape}: expected (n,) or (n, *batch) with the batch {batch}"
            ) from None
        if not ((t >= shots.ends[0]).all() and (np.diff(t, axis=0) >= 0).all()):
            raise ValueError("t must be finite times in order, not before t0 of the fit")
        lanes, S = shots.lanes, shots.segments
        begin, end = shots.ends[:-1], shots.ends[1:].copy()
        end[-1] = np.maximum(end[-1], t.max(axis=0, initial=-np.inf))
        within = np.clip(t[:, np.newaxis], begin, end)
        found, _, valid = shots.seen_at(self._x, lanes, within, begin, end)
        np.copyto(found, np.nan, where=~valid[:, np.newaxis, np.newaxis])
        found = found.reshape(*found.shape[:3], S, count)
        at = (t[:, np.newaxis] >= shots.ends[1:-1]).sum(axis=1)  # (n, count)
        found = np.moveaxis(found, 3, 1)[np.arange(len(t))[:, np.newaxis], at, :, :, lanes]
        shape = (len(t), *batch, len(shots.seen))[: None if self._listed else -1]
        seen = found[..., 0].reshape(shape)
        if not errors:
            return seen
        spread = np.moveaxis(np.nan_to_num(self._spread(np.arange(shots.size))), -1, 0)
        k = shots.k
        own = [[*range(s * k, (s + 1) * k), *shots.others] for s in range(S)]
        columns = np.array(own, int)[at]
        c = spread[lanes[:, np.newaxis, np.newaxis], columns[..., np.newaxis],
                   columns[..., np.newaxis, :]]  # fmt: skip
        square = np.einsum("nlqa,nlab,nlqb->nlq", found[..., 1:], c, found[..., 1:])
        return seen, np.sqrt(np.maximum(square, 0)).reshape(shape)

    def profile(self, name: str, n: int = 21, width: float = 4.0) -> Profile:
        """The profile likelihood of an unknown: all others fitted again for given values of it.

        Parameters
        ----------
        name : str
        n : int, optional
            How many values, from `width` standard errors below to as many above, within bounds.
        width : float, optional

        Returns
        -------
        Profile

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> t = np.linspace(0, 3, 20)
        >>> data = np.cos(1.1 * t) + 0.01 * np.random.default_rng(0).standard_normal(20)
        >>> found = pi.fit(pi.systems.oscillator, t, data, observe="x", free=["omega"])
        >>> found.profile("omega", n=3, width=1.0).rise.round(2).tolist()
        [1.0, 0.0, 1.0]
        """
        choice("name", name, self.parameters)
        n, width = integer("n", n, 2), positive("width", width)
        shots, batch = self._shots, self._shots.batch
        value, error = self.parameters[name], self.standard_errors[name]
        at = shots.where[[*self.parameters].index(name)]
        low, high = shots.ranges[:, at].reshape(2, *batch)
        grid = np.linspace(-width, width, n).reshape(-1, *(1,) * len(batch))
        values = np.clip(value + grid * np.nan_to_num(error), low, high)
        lanes, every = np.arange(n * shots.count), slice(None)
        # If fits share an unknown, their own ones are varied one fit at a time: the others follow.
        alone = shots.common and at < shots.local
        found, cost = np.empty((shots.size, n, shots.count)), np.empty((n, shots.count))
        for one in map(slice, range(shots.count), range(1, shots.count + 1)) if alone else [every]:
            x = np.tile(self._x, n)
            held = np.zeros(x.shape, bool)
            x[at].reshape(n, -1)[:, one] = values.reshape(n, -1)[:, one]
            held[at].reshape(n, -1)[:, one] = True
            x, least, *_ = minimised(shots, x, lanes, held)
            found[..., one] = x.reshape(found.shape)[..., one]
            cost[:, one] = least.reshape(cost.shape)[:, one]
        others = dict(zip(self.parameters, found[shots.where].reshape(-1, n, *batch)))
        cost, least = cost.reshape(n, *batch), self.cost
        if shots.segments > 1:  # the least cost with gaps as hard as in the profile
            least = minimised(shots, self._x, shots.lanes)[1].reshape(batch)
        with quiet():
            rise = (cost - least) / self._variance.reshape(batch)
        return Profile(values=values, cost=cost, rise=rise, parameters=others)

    def table(self) -> Table:
        """A row for each fit: the unknowns, their standard errors, the cost, the status."""
        columns = {}
        for name, value in self.parameters.items():
            columns |= {name: value, f"+- {name}": self.standard_errors[name]}
        columns |= {"cost": self.cost, "points": self.points, "reason": self.reason}
        return Table.of(f"Fit of {self.system.title}", batch_axes(self.status.shape), columns)
