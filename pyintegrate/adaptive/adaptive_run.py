"""A run to a tolerance: its step control, how the core carries it out, and its outcome.

States and times go to the core as rows over the batch; each trajectory chooses its own steps there.
"""

from itertools import count

import numpy as np

from .. import _core
from ..errors import Status, quiet
from ..run.options import over_batch
from ..values.memory import check_memory, outward
from ..values.named import Named
from ..values.types import Any
from .automatic import implicit_method, leaving_rate, pairs_of

_LANES_WORTH_A_THREAD = 16
_WAITING = 17  # for the run of another pair
_LEFT = 16  # in place of a Status: left to an implicit method (PI_LEFT_TO_ANOTHER)


GOES_ON, IMPLICIT = 2, 4  # bits of a mark: PI_GOES_ON of the core; by the implicit method
TIME, STEP, STATE = 0, 2, 6  # places of OWN_T, OWN_NEXT, OWN_STATE (kernels/tolerance/rows.h)


class Onward(Named):
    """Where a continuation starts: before the first step that t_end shortened, or the first test of
    stiffness that it prevented. Without a mark a trajectory goes on from its last state.

    Attributes
    ----------
    mark : ndarray, shape (lanes,)
        0, or 1 with GOES_ON, IMPLICIT.
    numbers : ndarray, shape (lanes, k)
        Time, ..., the step to try first; state; more for the core.
    made : ndarray, shape (3, lanes)
        Steps accepted and rejected until then; tries: stiff_tries.
    reached : ndarray, shape (lanes,)
        Where the run ended; only of a run that is continued.
    """

    @staticmethod
    def width(dim, implicit):
        """The most numbers that the core needs (rows_onward): of Radau's method, of others."""
        return 14 + 5 * dim + dim * dim if implicit else 12 + 3 * dim

    @classmethod
    def empty(cls, problem):
        lanes, width = problem.lanes, cls.width(problem.system.dim, problem.method.implicit)
        return cls.of({
            "mark": np.zeros(lanes, np.int8), "made": np.zeros((3, lanes), np.int64),
            "numbers": np.zeros((lanes, width), problem.dtype),
        })  # fmt: skip

    def wide(self, dim):
        """With room for the numbers of Radau's method."""
        more = self.width(dim, True) - self.numbers.shape[1]
        if more <= 0:
            return self
        check_memory(len(self.mark) * more * self.numbers.itemsize, "the", (len(self.mark),), dim)
        return self.changed(numbers=np.pad(self.numbers, ((0, 0), (0, more))))


class StepControl(Named):
    """Tolerances, limits and times of a run, checked; its mathematics is a ``Problem``.

    Rows are floats if one value serves all trajectories, else arrays with one item per trajectory.

    Attributes
    ----------
    t_end : float or ndarray
        As given.
    rtol, atol : ndarray
        As given; rtol is raised to what the dtype allows.
    rows_end : row
    rows_rtol, rows_atol : tuple of rows
        One, or one for each component.
    first_step : row
        0 if it is to be estimated.
    max_step : row
    max_steps : int
    save : {"all", "final", "times"}
    times : ndarray or None
        (n,) or (n, lanes), in the dtype of the run.
    breaks : ndarray, shape (n,) or (n, *batch)
        A step ends there, and the next begins anew.
    origin : row
        The time of the first start.
    automatic : bool
        Whether the tolerance chose the method.
    loose : ndarray or None, shape (lanes,)
        See ``pairs_of``.
    last_step : row
        Of the run that this one continues its last steps, 0 if there is none.
    stiff : ndarray or None, shape (lanes,)
        Which ones "auto" has found stiff in it.
    onward : Onward or None
        Where each sets out from it.
    """

    last_step, stiff, onward = 0.0, None, None


class AdaptiveOutcome(Named):
    """The results of the core: arrays over the lanes.

    Attributes
    ----------
    state : ndarray, shape (dim, lanes)
    t, h, accepted, rejected, status : ndarray, shape (lanes,)
    states : array, shape (n_saved, *batch, components), or None
    moments : ndarray, shape (n_saved, lanes), or None
        Times of each trajectory, of all steps.
    counts : ndarray, shape (lanes,), or None
        The number of these times.
    within : ndarray, shape (n_saved, k, lanes), or None
        Numbers of the step that begins at each, by which it is made again.
    stiff_spans : ndarray, shape (n, 2, lanes)
        Of those that "auto" found stiff: from when until when, NaN for none.
    stiff_tries : ndarray, shape (lanes,)
        The attempts of the implicit method.
    onward : Onward or None
    """

    states = moments = counts = within = onward = None


_LEAST_GAP = {"d": 1e-150, "f": 1e-18}  # of a break at 0; its inverse is finite, squared too


class AdaptiveRun:
    """A run in the core of those trajectories whose `status` (lanes,) is CANCELLED.

    earlier: the Observation of the run that this one continues.
    """

    def __init__(self, problem, options, control, status=None, earlier=None):
        lanes, dtype = problem.lanes, problem.dtype
        self._problem, self._options, self._control = problem, options, control
        self._rows_atol = control.rows_atol
        places = options.places(problem.system)
        self._state = np.array(problem.initial[:, :lanes])
        self._t = np.full(lanes, problem.rows_t0, dtype)
        self._h = np.full(lanes, control.last_step, dtype)
        self._onward = Onward.empty(problem)
        self._earlier, self._goes_on = control.onward, None
        made = self._onward.made if self._earlier is None else self._earlier.made
        if self._earlier is not None:
            self._goes_on = self._earlier.mark & GOES_ON
        self._counts, self._stiff_tries = made[:2].copy(), made[2].copy()
        self._status = np.full(lanes, Status.CANCELLED, np.int8) if status is None else status
        self._record: Any = None
        n = 0 if control.times is None else len(control.times)
        if control.save == "times":
            check_memory(n * len(places) * lanes * dtype.itemsize, n, problem.batch, len(places))
            # The times of a trajectory side by side: a step passes many of them.
            self._record = np.empty((lanes, len(places), n), dtype).T
        self._places, self.observation = places, None
        self._cores = []  # the current one; before it, if all steps are kept, those of before
        if options.watch is not None:
            from .observation import Observation

            self.observation = Observation(problem, options, control.t_end, earlier, self._earlier)
        self._spans, self._is_stiff = [], np.zeros(lanes, bool)
        self._workers = max(1, min(options.workers, -(-lanes // _LANES_WORTH_A_THREAD)))

    def _begin(self, pair, method, end, first_step):
        """Start the core for the trajectories that are still CANCELLED, from where they are."""
        if method.implicit:
            dim, earlier = self._problem.system.dim, self._earlier
            self._onward = self._onward.wide(dim)
            self._earlier = None if earlier is None else earlier.wide(dim)
        onward, earlier = self._onward, self._earlier
        core = self._made(
            pair, method, end, first_step, mark=onward.mark, made=onward.made,
            onward=onward.numbers, goes_on=self._goes_on,
            earlier=None if earlier is None else earlier.numbers,
        )  # fmt: skip
        if self._cores and self._control.save != "all":
            self._cores.pop()
        self._cores.append(core)

    def _made(self, pair, method, end, first_step, within=None, **onward):
        problem, options, control = self._problem, self._options, self._control
        times = self._record is not None and len(self._record) > 0
        return _core.AdaptiveRun(
            system=problem.system.core_for(method),
            method=method.handle,
            bits=8 * problem.dtype.itemsize,
            lanes=problem.lanes,
            workers=self._workers,
            initial=tuple(self._state.copy()),
            params=problem.rows_params,
            rtol=control.rows_rtol,
            atol=self._rows_atol,
            t0=self._t.copy(),
            t_end=end,
            first_step=first_step,
            max_step=control.max_step,
            max_steps=control.max_steps,
            bound=options.bound,
            state=self._state,
            t=self._t,
            h=self._h,
            accepted=self._counts[0],
            rejected=self._counts[1],
            status=self._status,
            saved=self._places,
            record=self._record if times else None,
            times=control.times,
            each=control.times is not None and control.times.ndim > 1,
            keep=control.save == "all",
            within=within,
            observation=None if self.observation is None else self.observation.fields(),
            decay=leaving_rate(pair, method) if control.automatic else 0.0,
            **onward,
        )

    def integrate(self):
        """Run until every trajectory has arrived, or failed."""
        if self._options.progress is False:
            self._work(None)
            return
        from ..run.progress import Reporter

        with Reporter(self._options.progress, self._problem.lanes, "trajectory") as report:
            self._work(lambda _: report(np.count_nonzero(~np.isin(self._status, self._under_way))))

    def states_again(self, method, within):
        """States at the times of the control: within kept steps, rebuilt from their numbers
        `within`; if that is None, from steps of the same lengths."""
        control = self._control
        rows = None if within is None else tuple(within)
        core = self._made(method, method, control.rows_end, control.first_step, rows)
        core.work(None, self._workers - 1)
        return self._record

    def _work(self, report):
        """Run from break to break, and with each pair the trajectories for which it was chosen."""
        status, lanes = self._status, self._problem.lanes
        ends, parted = self._ends(), self._control.loose is not None
        for number, end in enumerate(ends if lanes else ()):
            last = number == len(ends) - 1
            if number:
                status[(status == Status.CANCELLED) & (self._t == ends[-1])] = Status.OK
            earlier = self._control.stiff  # by the run that this one continues
            known = self._is_stiff if number or earlier is None else earlier
            first_step = 0.0 if number else self._control.first_step
            if ends[1:]:
                first_step = self._beside_a_break(end, first_step)
            # Those that wait for another method, or at a break, have not arrived.
            self._under_way = [Status.CANCELLED, _LEFT, _WAITING] + [Status.OK] * (not last)
            for pair, own in pairs_of(self._problem, self._control):
                if parted:
                    status[~own & (status == Status.CANCELLED)] = _WAITING
                if known.any():
                    status[known & (status == Status.CANCELLED)] = _LEFT
                try:
                    self._work_with(pair, end, first_step, report)
                finally:
                    if parted:
                        status[status == _WAITING] = Status.CANCELLED
            if not last:
                status[status == Status.OK] = Status.CANCELLED
                self._onward.mark[np.broadcast_to(end != ends[-1], lanes)] = 0

    def _ends(self):
        """Rows of times: the breaks of each trajectory within its run, in order, and its end.

        The times at which a built-in force jumps are breaks, too. Before and after a break is a
        step of some rounding units, if the force depends on time: no other asks the force at the
        break, where it has the value of one side.
        """
        problem, end, breaks = self._problem, self._control.rows_end, self._control.breaks
        system = problem.system
        if system.definition.time_dependent and (jumps := system.closed_form("jumps")):
            own = jumps(**system.params)
            breaks = np.concatenate([over_batch(some, problem.batch) for some in (breaks, own)])
        if not breaks.size:
            return [end]
        start = np.asarray(problem.rows_t0, problem.dtype)
        ahead = np.where(end < start, -1, 1).astype(problem.dtype)
        with quiet():  # those out of the dtype's range lie outside of the run
            breaks = breaks.astype(problem.dtype).reshape(len(breaks), -1)
        rows = np.broadcast_to(breaks * ahead, (len(breaks), problem.lanes))
        rows = np.where((rows >= start * ahead) & (rows <= end * ahead), rows, np.inf)
        if system.definition.time_dependent:
            gap = self._gap(rows)
            rows = np.concatenate([rows - gap, rows, rows + gap])
        rows = np.sort(np.where(rows > start * ahead, rows, np.inf), axis=0)
        rows[1:][rows[1:] == rows[:-1]] = np.inf
        rows = np.minimum(np.sort(rows, axis=0), end * ahead).astype(problem.dtype) * ahead
        return [*rows[np.any(rows != end, axis=1)], end]

    def _gap(self, at):
        """Rounding units of the largest time before, which are those of the steps."""
        dtype = self._problem.dtype
        largest = np.maximum(abs(at), abs(self._control.origin)).astype(dtype)
        return np.maximum(4 * np.spacing(largest), _LEAST_GAP[dtype.char])

    def _beside_a_break(self, end, first_step):
        """The first steps to that end. A step beside a break has any error: none is shorter."""
        dtype, way = self._problem.dtype, abs(end - self._t)
        beside, any_error = way <= 2 * self._gap(end), 1 / _LEAST_GAP[dtype.char]
        self._rows_atol = tuple(
            np.where(beside, any_error, row).astype(dtype) for row in self._control.rows_atol
        )
        return np.where(beside, way, first_step).astype(dtype)

    def _work_with(self, pair, end, first_step, report):
        """Run with the pair; those that turn out to be stiff with an implicit method; and those
        that are stiff no more with the pair again, until all have arrived."""
        self._begin(pair, pair, end, first_step)
        for number in count():
            stiff, was = number % 2 == 1, self._onward.mark > 0
            before = self._counts.sum(axis=0) if stiff else 0
            try:
                self._cores[-1].work(report, self._workers - 1)
            finally:
                left = self._status == _LEFT
                goes_on = left.any()
                if goes_on or self._spans or self._earlier is not None:
                    self._note(left, stiff, was, before)
            if not goes_on:
                return
            self._begin(pair, pair if stiff else implicit_method(), end, abs(self._h))

    def _note(self, left, stiff, was, before):
        """Which trajectories have left the pair, or the implicit method, and its attempts.

        was, before: who had a mark, and the attempts of the implicit method, before this round.
        """
        self._status[left] = Status.CANCELLED
        made, new = self._onward.made, (self._onward.mark > 0) & ~was
        made[2, new] = self._stiff_tries[new]
        if stiff:
            self._onward.mark[new] |= IMPLICIT
            made[2, new] += (made[:2].sum(axis=0) - before)[new]
            self._stiff_tries += self._counts.sum(axis=0) - before
            for span in self._spans:
                ends = left & np.isfinite(span[0]) & np.isnan(span[1])
                span[1, ends] = self._t[ends]
        elif np.any(begins := left & ~self._is_stiff):
            begun = np.where(begins, self._t.astype(np.float64), np.nan)
            self._spans.append(np.array([begun, np.full(len(left), np.nan)]))
        self._is_stiff[left] = not stiff

    def outcome(self, save=None):
        """The results so far, as AdaptiveOutcome; `save`: "final" or "later" (see kept), instead of
        what was requested."""
        save = save or self._control.save
        problem = self._problem
        fields = {
            "state": self._state, "t": self._t, "h": self._h, "accepted": self._counts[0],
            "rejected": self._counts[1], "status": self._status,
            "stiff_spans": np.array(self._spans).reshape(len(self._spans), 2, problem.lanes),
            "stiff_tries": self._stiff_tries, "onward": self._onward,
        }  # fmt: skip
        state = self._state[list(self._places)]
        if save == "times":
            waiting = np.flatnonzero((self._status == Status.CANCELLED) & (self._h == 0))
            self._record[:, :, waiting] = state[:, waiting]
            fields["states"] = outward(self._record, problem.batch)
        elif save == "final":
            fields["states"] = outward(state[np.newaxis], problem.batch)
        elif save == "all":
            fields |= self.kept()
        return AdaptiveOutcome.of(fields)

    def kept(self):
        """Accepted steps: see joined_steps."""
        parts = [self._steps_of(core) for core in self._cores]
        first = np.concatenate([self._t[np.newaxis], self._state[list(self._places)]])
        return joined_steps(parts, first, self._problem)

    def _steps_of(self, core):
        counts = np.zeros(self._problem.lanes, np.int64)
        n, numbers = core.gather(counts)
        record = _room_for_steps(n, numbers, self._problem)
        core.gather(counts, record)
        return record, counts


def _room_for_steps(n, numbers, problem):
    """Memory for n steps of each trajectory, all NaN."""
    lanes, dtype, n = problem.lanes, problem.dtype, max(1, int(n))
    check_memory(n * numbers * lanes * dtype.itemsize, n, problem.batch, numbers - 1)
    return np.full((n, numbers, lanes), np.nan, dtype)


def joined_steps(parts, first, problem):
    """The accepted steps of parts as one: the state that two of them share occurs once.

    Parameters
    ----------
    parts : list of (record, counts)
        Times, states and numbers of the steps, (n, 1 + components + k, lanes), where k is 0 or as
        many as the method of the part needs.
    first : ndarray, shape (1 + components, lanes)
        Time and state of trajectories that have none.
    problem : Problem

    Returns
    -------
    dict
        states (n, *batch, components), moments, counts, within: see AdaptiveOutcome.
    """
    begun, counts = np.zeros(problem.lanes, np.int64), np.zeros(problem.lanes, np.int64)
    for _, steps in parts:
        counts = counts + np.where((steps > 0) & (counts > 0), steps - 1, steps)
    m, numbers = len(first), [one.shape[1] for one, _ in parts] or [len(first)]
    whole = max(numbers) if min(numbers) > m else m  # they are known of all steps, or of none
    record = parts[0][0] if len(parts) == 1 else None
    if record is None or not counts.all():
        record = _room_for_steps(counts.max(initial=1), whole, problem)
        for one, steps in parts:
            again = (begun > 0) & (steps > 0)
            row, lane = np.nonzero(np.arange(len(one))[:, np.newaxis] < steps)
            place, k = (begun - again)[lane] + row, min(one.shape[1], whole)
            record[place, :k, lane] = one[row, :k, lane]
            begun += steps - again
        record[0, :m, counts == 0] = first[:, counts == 0].T
        counts = np.maximum(counts, 1)
    return {
        "states": outward(record[:, 1:m], problem.batch), "moments": record[:, 0],
        "counts": counts, "within": record[:, m:] if whole > m else None,
    }  # fmt: skip
