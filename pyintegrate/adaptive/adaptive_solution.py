"""The solution of a run to a tolerance."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..errors import Status, summarize
from ..run.failures import Failures, none
from ..solution.solution import Solution
from ..values.checks import floats, truth
from ..values.keywords import RESULTS, explains_keywords
from ..values.memory import outward
from ..values.table import extent
from ..values.types import Across, Any, ArrayLike, Booleans, Floats, Integers
from .adaptive_run import IMPLICIT, STATE, STEP, TIME, AdaptiveOutcome, AdaptiveRun, Onward
from .arguments import make_adaptive_run, resumed, rounded_times
from .automatic import implicit_method, pairs_of
from .sensitivity import adaptive_motion_alone, make_adaptive_run_with_tangents, warn_of_errors

_NO_FORCE = " Its start, or the force there, is not finite."
_STIFF = (
    " A trajectory that took max_steps steps may be stiff (an explicit method follows its fastest"
    " motion: try method='radau_iia5'), or the tolerance too tight."
)
_END_OF_TIME = (
    " A step too small means that the solution, or its derivative, may not exist beyond that time,"
    " or that the tolerance is below what rounding allows, or that the motion slides along a jump"
    " of the force, which drives it back from both sides (dry friction, relays)."
)


def _of_kept_steps(name):
    return cached_property(lambda self: getattr(self._set_steps(**self._later()), name))


class AdaptiveSolution(Solution):
    """The states of a batch of trajectories, each with its own steps; the result of ``pi.solve``.

    A `Solution` whose trajectories have steps of their own, and no `dt`.

    Attributes
    ----------
    t : ndarray, shape (n_saved,), or (n_saved, *batch) if times differ
    y : ndarray, shape (n_saved, *batch, dim)
        With ``save="all"`` NaN after the last step of each trajectory, like `t`: see `valid`.
    counts : ndarray of int, shape (*batch)
        The number of entries of `y` that each trajectory has.
    steps_taken, rejected : ndarray of int, shape (*batch)
        Accepted steps, and rejected attempts.
    evaluations : ndarray of int, shape (*batch)
        Force evaluations, except those for ``times`` between the steps.
    last_step : ndarray, shape (*batch)
        The signed step with which each would continue, 0 if there was none.
    stiff_since : ndarray, shape (*batch)
        The time since which "auto" has continued a trajectory with "radau_iia5", because it is
        stiff for the explicit pair `method`; NaN for those that are not stiff at their end.
    stiff_spans : ndarray, shape (n, 2, *batch)
        The time at which each was found stiff, and the time at which it was stiff no more and went
        on with `method`: once or several times, NaN where there is none.
    rtol, atol : ndarray
        The tolerances used.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.solve(pi.systems.kepler, t_end=10.0, rtol=1e-9)
    >>> sol.method.name, int(sol.steps_taken), bool(abs(sol.energy_error()).max() < 1e-8)
    ('dormand_prince_rkn1210', 18, True)
    """

    _digested = ("t_end", "rtol", "atol", "steps_taken", "rejected", "last_step", "counts")
    _same_in_parts = ("rtol", "atol")
    _of_each = ("steps_taken", "rejected", "evaluations", "last_step", "stiff_since")
    _format = 2  # of its files: solution/storage.py
    _alone = staticmethod(adaptive_motion_alone)  # the arguments of the solution without tangents
    _elsewhere = RESULTS | {
        "dt": "every trajectory took its own steps (pi.solve), which are np.diff(sol.t) and"
        " sol.last_step; whatever needs steps of one length needs pi.integrate"
    }
    _later: Any = None  # gives the kept steps of a run that was interrupted

    def __init__(self, problem, options, control, outcome, save, before=None, observation=None):
        self._problem, self._options, self._control = problem, options, control
        self._outcome, self._last = outcome, outcome.state
        self.system, self.method, self.t0 = problem.system, problem.method, problem.t0
        self.rtol, self.atol = control.rtol, control.atol
        self._save, self._before, self._kept = save, before, observation
        if outcome.states is not None:
            self._set_steps(outcome.states, outcome.moments, outcome.counts, outcome.within)

    @classmethod
    def of_run(cls, problem, options, control, status=None, before=None, observation=None):
        """Integrate; an interrupted run has its solution in the exception."""
        going: Any = None

        def made(outcome, save):
            return cls(problem, options, control, outcome, save, before, going.observation)

        def run():
            nonlocal going
            going = AdaptiveRun(problem, options, control, status, observation)
            going.integrate()
            outcome = going.outcome()
            if options.out is not None:
                options.out[...] = outcome.states
                outcome = outcome.changed(states=options.out)
            return made(outcome, control.save)

        def part(error):
            if isinstance(error, KeyboardInterrupt | MemoryError) and going is not None:
                save = "final" if isinstance(error, MemoryError) else control.save
                part = made(going.outcome("later" if save == "all" else save), save)
                part._later = going.kept
                done = problem.lanes - np.count_nonzero(part.status == Status.CANCELLED)
                return part, f"{done:,} of {problem.lanes:,} trajectories"

        return cls._shielded(run, part, control.save == "times")

    # ---- the kept steps ----
    # After an interrupt they become one array only when asked for: if some trajectories are far
    # ahead, it may not fit the memory.
    def _set_steps(self, states, moments, counts, within):
        self._states, self._counts, self._within = states, counts, within
        self._moments = None if moments is None else moments.astype(np.float64, copy=False)
        return self

    # Moments are (n, lanes), of all steps, None if they were not kept; within: see AdaptiveOutcome.
    _states, _moments, _counts, _within = map(
        _of_kept_steps, ("_states", "_moments", "_counts", "_within")
    )

    # ---- times and steps ----
    @cached_property
    def n_steps(self) -> int:  # type: ignore[override]
        """The most steps that a trajectory took."""
        return int(self._outcome.accepted.max(initial=0))

    @cached_property
    def steps_taken(self) -> Integers:
        return self._outcome.accepted.reshape(self._problem.batch)

    @cached_property
    def rejected(self) -> Integers:
        return self._outcome.rejected.reshape(self._problem.batch)

    @cached_property
    def last_step(self) -> Floats:
        return self._outcome.h.astype(np.float64).reshape(self._problem.batch)

    @cached_property
    def stiff_spans(self) -> Floats:
        spans = self._outcome.stiff_spans
        return spans.reshape(len(spans), 2, *self._problem.batch)

    @cached_property
    def stiff_since(self) -> Floats:
        begun, ended = self.stiff_spans[:, 0], self.stiff_spans[:, 1]
        last = np.where(np.isnan(ended), begun, np.nan)
        return np.fmax.reduce(last, axis=0, initial=np.nan)

    @property
    def _continued_by(self):
        """The method that trajectories went on with where they were stiff, or None."""
        return implicit_method() if np.isfinite(self.stiff_spans).any() else None

    @property
    def _stiff_tries(self):
        return self._outcome.stiff_tries.reshape(self._problem.batch)

    @cached_property
    def _reached(self):
        return self._outcome.t.astype(np.float64)

    @cached_property
    def _failures(self):
        status = self._outcome.status
        if not np.count_nonzero(status):
            return none(len(status))
        start = np.abs(self.initial.reshape(-1, self.system.dim))
        good = (np.isfinite(start) & (start <= self._options.bound)).all(axis=-1)
        return Failures(status, np.where(good, self._outcome.accepted + 1, 0))

    @property
    def _step_lengths(self):
        """The mean step of each trajectory."""
        way = self._arrived - self._origin_time
        return way / np.maximum(self.steps_taken, 1)

    @property
    def _clock(self):
        """The numbers that set the times of the states, as labels."""
        found = {"t0": self.t0, "t_end": self.t_end, "rtol": self.rtol, "atol": self.atol}
        for name in ("rtol", "atol"):  # those of each component are no labels
            if found[name].shape[-1:] == (self.system.dim,):
                del found[name]
        return {name: np.asarray(value)[()] for name, value in found.items()}

    @property
    def _pace(self):
        also = f" and {self._continued_by}" if self._continued_by else ""
        return f"{also} to rtol = {extent(self.rtol)}: {extent(self.steps_taken, 'no')} steps"

    @property
    def _both_sides(self):
        """Whether a jump is saved twice at one time, before and after it."""
        return self._save == "all" and bool(self.events)

    @cached_property
    def steps(self) -> Integers:
        """Indices of the saved steps with ``save="all"``; of the saves with ``times``."""
        if self._save == "final":
            return np.array([self.n_steps])
        return np.arange(self._states.shape[0])

    @cached_property
    def t(self) -> Floats:
        batch = self._problem.batch
        if self._save == "times":
            times = self._control.times.astype(np.float64)
            return times if times.ndim == 1 else times.reshape(len(times), *batch)
        moments = self._reached[np.newaxis] if self._save == "final" else self._moments
        same = self._save == "final" and moments.size and np.all(moments == moments[:, :1])
        return moments[:, 0] if not batch or same else moments.reshape(len(moments), *batch)

    @cached_property
    def counts(self) -> Integers:
        if self._save == "all":
            return self._counts.reshape(self._problem.batch)
        return np.count_nonzero(self.valid, axis=0)

    @property
    def t_end(self) -> Any:
        """The last time, as it was given."""
        return self._control.t_end

    @property
    def evaluations(self) -> Any:
        """Force evaluations of each trajectory, (*batch), with two for its first step.

        For an implicit pair those of one Newton iteration per step, whatever their number.
        """
        own, stiff = self.steps_taken + self.rejected - self._stiff_tries, self._stiff_tries
        each = sum(_evaluations(pair) * lanes for pair, lanes in self._pairs).reshape(own.shape)
        return 2 + own * each + stiff * _evaluations(implicit_method())

    @cached_property
    def _pairs(self):
        return pairs_of(self._problem, self._control)

    @cached_property
    def origin(self) -> Floats:
        return self.initial if self._before is None else self._before[0]

    @property
    def _origin_time(self):
        t0 = self.t0 if self._before is None else self._before[1]
        return t0 if np.ndim(t0) == 0 else np.broadcast_to(t0, self._problem.batch)

    @property
    def _arrived(self):
        return self._reached.reshape(self._problem.batch)

    @property
    def max_step(self) -> Any:
        """The longest step that was allowed, for all or for each trajectory."""
        longest = np.asarray(self._control.max_step, np.float64)
        return longest.reshape(self._problem.batch) if longest.ndim else longest[()]

    # ---- results of watches ----
    def __getstate__(self):
        self._states  # noqa: B018  # they are made
        return super().__getstate__() | {"_later": None}

    def _watched(self):
        return self._kept.watched

    @cached_property
    def across(self) -> Across:
        from ..run.counted import across_times

        return across_times(self)

    # ---- failures ----
    @property
    def valid(self) -> Booleans:
        batch = self._problem.batch
        if self._save == "final":
            return (self.status == Status.OK)[np.newaxis]
        if self._save == "all":
            return self._column(self.steps) < self._counts.reshape(batch)
        times = self._column(self.t)
        reached, start = self._arrived, np.broadcast_to(self.t0, batch)
        ahead = np.where(np.asarray(self.t_end) < start, -1, 1)
        begun = (self.status == Status.OK) | (self.failed_step != 0)
        return (times * ahead <= reached * ahead) & begun

    def failures(self) -> str:
        index, status, step = self._failures.failed()
        if not len(index):
            return "no trajectory failed"
        text = summarize(status, step, index, self._problem.batch, lambda i, n: self._reached[i])
        first = np.argmin(step)
        if status[first] != Status.ZENO:  # whose steps end at jumps
            last = self.last_step.reshape(-1)[index[first]]
            text += f" Its last step was {last:.3g}." if last else _NO_FORCE
        many = index[status == Status.TOO_MANY_STEPS]
        if len(many):
            from .decay import told

            text += told(self, many[0]) or _STIFF
        if np.any(status == Status.STEP_TOO_SMALL):
            text += _END_OF_TIME
        return text

    # ---- derived quantities ----
    def at(self, t: ArrayLike, *, derivative: bool = False) -> Floats:
        """States at any times within the run: those that ``times=`` would have saved, bit for bit.

        Each step within which there are times is made again, once for all of them.

        Parameters
        ----------
        t : array_like
            Times that every trajectory has passed. All accepted steps are needed: ``save="all"``,
            the default for a single trajectory; and all components.
        derivative : bool, optional
            Give dy/dt instead: f(t, y) in these states; in steps of implicit methods their
            derivative, since a stiff f would enlarge their errors.

        Returns
        -------
        ndarray, shape (*t.shape, *batch, dim)

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.solve(pi.systems.oscillator, t_end=10.0, rtol=1e-10)
        >>> sol.at(5.5).round(9)
        array([0.70866977, 0.70554033])
        >>> sol.at(5.5, derivative=True).round(9)
        array([ 0.70554033, -0.70866977])
        """
        from .dense_output import states_at

        if self._save != "all":
            raise ValueError(
                "at(t) needs all accepted steps: solve with save='all', or with times= for the"
                " states at these times"
            )
        self._need_all("at(t)")
        if self._carried is not None:  # on the polynomials of the steps with their tangents
            both = self._carried[0]
            return both.at(t, derivative=derivative)[..., both.system.places[:, 0]]
        return states_at(self, floats("t", t), truth("derivative", derivative))

    @property
    def _has_states_within(self):
        """Whether pictures draw lines through states within the steps: for explicit pairs."""
        implicit = self.method.implicit or self._continued_by
        return self._save == "all" and not implicit and self._complete

    # ---- continuation ----
    @property
    def _onward(self):
        """Where a continuation sets out, with times, steps to try and states, rows."""
        found = self._outcome
        if self._carried is not None:
            both = self._carried[0]
            *others, rows = both._onward
            return *others, rows[both.system.places[:, 0]]
        kept = found.onward or Onward.empty(self._problem)
        marked = kept.mark > 0
        if self._forgot:  # what stopped it
            marked &= np.isin(found.status, (Status.OK, Status.CANCELLED))
        first = kept.numbers[:, STATE : STATE + self.system.dim]
        made = np.stack([found.accepted, found.rejected, found.stiff_tries])
        onward = kept.changed(
            mark=np.where(marked, kept.mark, 0).astype(np.int8), reached=self._reached,
            made=np.where(marked, kept.made, made),
        )  # fmt: skip
        return (
            onward,
            np.where(marked, kept.numbers[:, TIME], found.t),
            np.where(marked, kept.numbers[:, STEP], found.h),
            np.where(marked, first.T, self._last),
        )

    @property
    def _next_rows(self):
        return self._onward[-1]

    @explains_keywords()
    def resume(self, n_steps: None = None, *, t_end: Any = None) -> AdaptiveSolution:
        """Continue to a later time, to the same tolerance.

        Parameters
        ----------
        t_end : array_like
            The later time; a trajectory that had failed before it could tell the end stays where
            it is.
        n_steps
            None: steps of one length are counted.

        Returns
        -------
        AdaptiveSolution
            It has the bits of one long run, and its numbers of steps. To that end it starts before
            the step that `t_end` shortened; with "auto" and explicit methods up to a hundred steps
            before, where the end has prevented a test for stiffness. Its errors are relative to the
            first start. ``pi.concatenate`` joins both to the long run.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.solve(pi.systems.lorenz, t_end=5.0).resume(t_end=10.0)
        >>> bool(sol.t[0] < 5.0), bool(all(sol.final == pi.solve(sol.system, t_end=10.0).final))
        (True, True)
        """
        if n_steps is not None or t_end is None:
            raise ValueError(
                "a solution to a tolerance resumes to a time: give t_end alone; n_steps belongs to"
                " steps of one length"
            )
        return self._continued(
            lambda both: warn_of_errors(both.resume(t_end=t_end), self._carried[1]),
            lambda: self.of_run(*resumed(self, t_end)),
        )

    def _gap(self, after):
        """Why a part does not begin where this one ends, or None."""
        if (self._save == "all") != (after._save == "all"):
            return "one holds all accepted steps, and the other does not"
        if np.all(self._onward[1] == after._problem.rows_t0):
            return None
        return "it begins at another time"

    @staticmethod
    def _joined(parts):
        from .joined_parts import joined

        return joined(parts)

    # ---- parts of a batch ----
    def _of_lanes(self):
        """What `_of_results` needs of each trajectory."""
        onward, dim = self._outcome.onward, self.system.dim
        if self._control.automatic:  # the same number for each part
            onward = onward.wide(dim)
        return {
            "_reached": self._reached.ravel(), "_stiff_tries": self._stiff_tries.ravel(),
            "_mark": onward.mark, "_numbers": onward.numbers, "_made": onward.made.T,
        }  # fmt: skip

    @classmethod
    def _of_results(cls, made, results):
        """From checked arguments and the arrays of a whole batch: see ../dask.py."""
        problem, options, control = made
        lanes, since = problem.lanes, results["stiff_since"].reshape(1, 1, -1)
        names = ("_reached", "last_step", "steps_taken", "rejected", "status", "_stiff_tries")
        t, h, accepted, rejected, status, tries = (results[name].reshape(lanes) for name in names)
        last, numbers = (results[name].reshape(lanes, results[name].shape[-1])
                         for name in ("_last", "_numbers"))  # fmt: skip
        outcome = AdaptiveOutcome(
            state=last.T, t=t, h=h,
            accepted=accepted, rejected=rejected, status=status,
            states=results["y"], stiff_spans=np.concatenate([since, 0 * since + np.nan], axis=1),
            stiff_tries=tries, onward=Onward(
                mark=results["_mark"].reshape(lanes), made=results["_made"].reshape(lanes, 3).T,
                numbers=numbers,
            ),
        )  # fmt: skip
        options = options.changed(watch=None, events=None)
        return cls(problem, options, control, outcome, control.save)

    # ---- files ----
    @classmethod
    def _of_file(cls, stored):
        """From the fields of a file: see solution/storage.py."""
        from ..solution.files import made

        header, values, dtype = stored.header, stored.values, stored.dtype
        save = header["save"]

        def run(system, state, options):
            names = ("times", "out", "components", "watch", "events", "first_step")
            options |= dict.fromkeys(names) | {
                name: values[name] for name in ("t0", "t_end", "max_step", "rtol", "atol", "breaks")
            }
            given = options | {
                "dtype": dtype, "method": "auto" if header["automatic"] else stored.method,
                "save": "final", "workers": 1, "progress": False, "max_steps": header["max_steps"],
            }  # fmt: skip
            if (names := header["sensitivity"]) is None:
                return make_adaptive_run(system, state, None, given)
            motion = state[..., system.places[:, 0]]
            return make_adaptive_run_with_tangents(system.base, motion, None, names, given)[:3]

        problem, options, control = stored.run(run)
        problem = problem.changed(method=stored.method)
        control = control.changed(save=header["goes_on"])
        if save == "times":
            ends = problem.t0, control.t_end
            times = made("t", rounded_times, values["t"], *ends, problem.batch, dtype)
            control = control.changed(save=save, times=times)
        before = None
        if header["resumed"]:
            before = values["origin_state"], values["origin_time"]
        outcome = _outcome(header, values, problem, options, control)
        return cls(problem, options, control, outcome, save, before)


def _outcome(header, values, problem, options, control):
    """The results of the trajectories in a file: numbers that must fit one another."""
    from ..solution.files import refuse

    lanes, dtype, y, last = problem.lanes, problem.dtype, values["y"], values["last_state"]
    names = ("reached", "last_step", "steps_taken", "rejected", "status", "stiff_tries")
    t, h, accepted, rejected, status, tries = (values[name].reshape(lanes) for name in names)
    begin, end = (np.broadcast_to(row, (lanes,)) for row in (problem.rows_t0, control.rows_end))
    ahead = np.where(end < begin, -1, 1)
    inside = ((t - begin) * ahead >= 0) & ((end - t) * ahead >= 0)
    if not np.all(inside & ((status != Status.OK) | (t == end))):
        refuse("reached", "expected times from t0 to t_end, and t_end where nothing failed")
    spans = values["stiff_spans"]
    spans = spans.reshape(len(spans), 2, lanes)
    begun, ended = spans[:, 0], spans[:, 1]
    inner = np.isnan(spans) | (((spans - begin) * ahead >= 0) & ((t - spans) * ahead >= 0))
    if not np.all(inner) or np.any((ended - begun) * ahead < 0):
        refuse("stiff_spans", "expected times from t0 to reached, in order, or NaN")
    never = np.all(np.isnan(begun), axis=0)
    if not (header["automatic"] or np.all(never)) or np.any(np.isnan(begun) & ~np.isnan(ended)):
        refuse("stiff_spans", "expected NaN where there was no span")
    if np.any((tries > accepted + rejected) | ((tries > 0) & never)):
        refuse("stiff_tries", "expected numbers of tries")
    onward = None
    if "onward_mark" in values:
        onward = Onward.of({name: values[f"onward_{name}"] for name in ("mark", "numbers", "made")})
        _check_onward(refuse, problem, onward, header["automatic"])
        first, marked = onward.numbers[:, TIME], onward.mark > 0
        inside = ((first - begin) * ahead >= 0) & ((t.astype(dtype) - first) * ahead >= 0)
        most = accepted, rejected, tries
        if not np.all(inside | ~marked) or np.any(onward.made > most):
            refuse("onward", "expected times from t0 to reached, and no more steps than were made")
    y = y.reshape(*y.shape[:2], lanes)
    moments = counts = within = None
    ends = np.zeros(lanes, np.int64)
    if header["save"] == "all":
        counts, moments = values["counts"].reshape(lanes), values["t"].reshape(len(y), lanes)
        _check_steps(refuse, counts, moments, y, begin, t)
        ends = counts - 1
        within, least = values.get("within"), 3 + len(last)
        if within is not None and not least <= within.shape[1] <= least + 3 * len(last):
            refuse("within", f"it has the shape {within.shape}")
    if header["save"] != "times":
        found = y[ends, :, np.arange(lanes)].T
        if not np.array_equal(found, last[list(options.places(problem.system))], equal_nan=True):
            refuse("last_state", "it is not the last state in y")
    return AdaptiveOutcome(
        state=last, t=t.astype(dtype), h=h.astype(dtype), accepted=accepted, rejected=rejected,
        status=status, states=outward(y, problem.batch),
        moments=moments, counts=counts, stiff_spans=spans, stiff_tries=tries,
        within=within, onward=onward,
    )  # fmt: skip


def _check_onward(refuse, problem, onward, automatic):
    implicit, dim = onward.mark & IMPLICIT > 0, problem.system.dim
    if not np.all(np.isin(onward.mark, (0, 1, 3, 5, 7))) or (implicit.any() and not automatic):
        refuse("onward_mark", "expected numbers that stand for how a trajectory goes on")
    least = Onward.width(dim, problem.method.implicit or implicit.any())
    if onward.numbers.shape[1] < least:
        refuse("onward_numbers", f"it has the shape {onward.numbers.shape}")


def _check_steps(refuse, counts, moments, y, begin, reached):
    """All accepted steps: from the first time to the last, and NaN after them."""
    lanes = np.arange(len(counts))
    if len(y) != counts.max(initial=1):
        refuse("counts", f"expected numbers up to {len(y)}, which one of them is")
    beyond = np.arange(len(y))[:, np.newaxis] >= counts
    if not np.array_equal(np.isnan(moments), beyond):
        refuse("t", "expected numbers up to the count of each trajectory, and NaN from there on")
    if not np.all(np.isnan(np.moveaxis(y, 1, -1)[beyond])):
        refuse("y", "expected NaN from the count of each trajectory on")
    ways = np.diff(moments, axis=0) * np.sign(reached - begin)
    if (
        np.any(ways < 0)
        or np.any(moments[0] != begin)
        or np.any(moments[counts - 1, lanes] != reached)
    ):
        refuse("t", "expected times in order, from t0 to reached")


def _evaluations(method):
    """Per attempted step: the last stage of an explicit pair may be the first of the next step."""
    a, b = method.coefficients["A"], method.coefficients["b"]
    return method.stages - (a[-1] == b and not method.implicit)
