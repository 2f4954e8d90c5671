"""The solution of a run with steps of one length."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..method.arithmetic import warn_of_change
from ..run import output
from ..run.arguments import fitting_end, make_run, steps_between
from ..run.core import Outcome
from ..run.evaluations import count_evaluations
from ..run.failures import Failures
from ..values.checks import DOUBLE, floats, integer, truth
from ..values.keywords import explains_keywords
from ..values.memory import check_memory, pad
from ..values.table import extent
from ..values.types import (
    Any,
    ArrayLike,
    Booleans,
    Floats,
    Integers,
    Mapping,
    SupportsIndex,
)
from .origin import Origin, origin_of
from .sensitivity import motion_alone
from .solution import Solution


class FixedSolution(Solution):
    """The solution of ``pi.integrate``: a `Solution` whose steps have one length.

    Attributes
    ----------
    dt : float, or ndarray that broadcasts to the batch
        The step.
    """

    _digested = ("dt",)
    _same_in_parts = ("dt", "t0")
    _format = 1  # of its files: storage.py
    _alone = staticmethod(motion_alone)  # the arguments of the solution without tangents

    @classmethod
    def of_run(cls, problem, options, failures=None, kept=None):
        """Integrate a Problem; an interrupted run has its solution in the exception."""
        going = None

        def run():
            nonlocal going
            going = output.begin(problem, options, failures, kept)
            going.go()
            return cls(problem, options, going.outcome())

        def part(error):
            if isinstance(error, KeyboardInterrupt):
                here = going or output.begin(problem, options, failures, kept)
                part = cls(problem, options, here.outcome())
                return part, f"{part.n_steps:,} of {problem.n_steps:,} steps"

        return cls._shielded(run, part, options.times is not None)

    def __init__(self, problem, options, outcome):
        """For ``integrate``: made from an ``Outcome`` (run/core.py)."""
        self._problem, self._options = problem, options
        self.system, self.method = problem.system, problem.method
        self.dt, self.t0 = problem.dt, problem.t0
        self.n_steps = outcome.completed
        self._states, self._last = outcome.states, outcome.last
        self._failures = outcome.failures  # including those that an event has stopped
        self._kept = outcome.kept
        if outcome.completed < problem.n_steps:
            self._failures = outcome.failures.until(problem.first + outcome.completed)

    @cached_property
    def steps(self) -> Integers:
        if self._saves.final_only:
            return np.array([self._problem.first + self.n_steps])
        return self._saves.steps[: self._saves.until(self.n_steps)] + self._problem.first

    @property
    def _saves(self):
        return self._options.saves(self._problem.n_steps)

    @cached_property
    def t(self) -> Floats:
        asked = self._options.times
        return self._problem.times(self.steps) if asked is None else asked[: len(self)]

    @property
    def _step_lengths(self):
        """Lengths of the steps, as pictures and tables show them: one, or (*batch)."""
        return np.asarray(self.dt, dtype=np.float64)

    @property
    def _clock(self):
        """The numbers that set the times of the states, as labels."""
        return {"dt": self.dt, "t0": self.t0}

    @property
    def _pace(self):
        return f": {self.n_steps} steps of dt = {extent(self.dt, 'no')}"

    @cached_property
    def origin(self) -> Floats:
        origin = self._outward(origin_of(self._problem).state)
        origin.flags.writeable = False
        return origin

    @property
    def _origin_time(self):
        """The time of `origin`: a float, or (*batch)."""
        return self._problem.times(np.array([origin_of(self._problem).step]))[0]

    def _watched(self):
        from ..watching.watched import Watched

        problem = self._problem
        ends = self._failures.steps(problem)
        last = np.where(ends < 0, problem.first + self.n_steps, ends - 1)
        return Watched.of_sums(self._options.watch, problem, self._kept, last)

    @property
    def valid(self) -> Booleans:
        ends = self._failures.steps(self._problem)
        made = self._column(self.steps) < ends
        if self._options.times is not None:  # includes those of its last step before a stop
            made |= (self._column(self.t) - self.stopped_at) * np.sign(self.dt) <= 0
        return (ends < 0) | made

    def failures(self) -> str:
        """A readable report of the trajectories that failed.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10).failures()
        'no trajectory failed'
        """
        return self._failures.failed().report(self._problem.batch, self.t0, self.dt)

    @property
    def evaluations(self) -> int:
        """Force evaluations of a trajectory; a force that depends on the velocity is not shared.

        For an implicit method those of one Newton iteration per step, whatever their number; for a
        multistep method including those of its starter.
        """
        return count_evaluations(self._problem, self.n_steps)

    @explains_keywords()
    def at(self, t: ArrayLike, *, derivative: bool = False) -> Floats:
        """States between the saved ones.

        If every step was saved: a part of the step, made again by the method from the state before
        it, which is as accurate as the steps; a multistep method makes it by its starter. Between
        saves further apart, h, by cubic Hermite interpolation, with an error of up to h^4/384 times
        the fourth derivative: 0.3 % if they are a radian apart. With noise, and for components
        that drive= moves, on the chord.

        Parameters
        ----------
        t : array_like
            Times within the range of the saves, the same for every trajectory.
        derivative : bool, optional
            Give dy/dt instead: f(t, y) in these states.

        Returns
        -------
        ndarray, shape (*t.shape, *batch, dim)

        References
        ----------
        Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.6.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10)
        >>> sol.at(0.55).round(4)
        array([ 0.8525, -0.5227])
        """
        from .interpolation import states_at

        self._need_all("at(t)")
        t = floats("t", t)
        if not truth("derivative", derivative):
            return states_at(self, t)
        if self.system.noise is not None or self._problem.driven:
            raise ValueError(
                "derivative=True gives f(t, y), not the slope of a run with noise or drive="
            )
        when = t.reshape(t.shape + (1,) * len(self._problem.batch))
        return self.system.rhs(when, states_at(self, t))

    # ---- continuation ----
    @explains_keywords()
    def resume(
        self,
        n_steps: SupportsIndex | None = None,
        *,
        t_end: ArrayLike | None = None,
        drive: Mapping[str, ArrayLike] | None = None,
        out: Any = None,
    ) -> FixedSolution:
        """Continue for further steps, numbered onwards; bit-equal to one long run.

        Parameters
        ----------
        n_steps : int, optional
        t_end : array_like, optional
            Give exactly one.
        drive : mapping of str to array_like, optional
            As in ``integrate``, for the further steps.
        out : ndarray, memmap or zarr array, optional
            Where the further states go, as in ``integrate``.

        Returns
        -------
        Solution
            It starts with the final state of this one; its errors are relative to the first start,
            `origin`. Watches and events continue, except those of a solution that was loaded or
            unpickled, which gives a UserWarning. It saves like this one, or only its end if this
            one saved given steps or times. ``pi.concatenate`` joins both.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10).resume(n_steps=5)
        >>> int(sol.steps[0]), int(sol.steps[-1])
        (10, 15)
        """
        if (n_steps is None) == (t_end is None):
            raise ValueError("give exactly one of n_steps and t_end")
        if self._carried is not None and out is not None:
            raise ValueError("sensitivity and out exclude each other: leave out= out")
        return self._continued(
            lambda both: both.resume(n_steps, t_end=t_end, drive=drive),
            lambda: self._resumed(n_steps, t_end, drive, out),
        )

    def _resumed(self, n_steps, t_end, drive, out):
        options = self._options.changed(out=out, steps=None, times=None)
        problem = self._problem
        first = problem.first + self.n_steps
        until = getattr(self._kept, "until", None)
        if until is not None and until + 1 < first:
            raise ValueError(
                f"this run was interrupted after step {first}, and what it watched is lost after"
                f" step {until}: integrate again from `final`"
            )
        if t_end is not None:
            end = fitting_end(t_end, DOUBLE, problem.batch)
            n_steps = steps_between(self.dt, self.t0, end) - first
            if n_steps < 0:
                raise ValueError(f"t_end lies {-n_steps} steps before the end of this solution")
        else:
            n_steps = integer("n_steps", n_steps, 0)
        began = origin_of(problem)
        origin = Origin(began.state, began.step, self)
        further = problem.continued(self._last_state(), first, n_steps, options, origin, drive)
        output.check_out(further, options, dict(drive or {}))
        warn_of_change(problem.method, problem.arithmetic)
        return self.of_run(further, options, self._failures, self._kept)

    def _last_state(self):
        """The state to continue from, laid out as ``initial`` of a Problem."""
        rows = self._last_rows
        if len(rows) < len(self._problem.initial):
            raise ValueError(
                "this run was interrupted between two saves, and the history of"
                f" {self.method.name!r}, or the rounding error that it carries, is lost: integrate"
                " again from `final`"
            )
        return pad(rows, (self._problem.lanes,), self._problem.dtype)

    def _gap(self, after):
        """Why a part does not begin where this one ends, or None."""
        end, first = self._problem.first + self.n_steps, after._problem.first
        if first != end:
            return f"it begins at step {first}, not {end}"
        return None

    @staticmethod
    def _joined(parts):
        """The solution of parts that follow on: see parts.py."""
        first, last = parts[0], parts[-1]
        begin, end = first._problem, last._problem
        chosen, steps = [], np.empty(0, np.int64)
        for part in parts:
            skip = int(len(steps) > 0 and steps[-1] == part.steps[0])
            chosen.append((part, skip))
            steps = np.append(steps, part.steps[skip:])
        kept = len(first.components)
        size = len(steps) * kept * begin.lanes * begin.dtype.itemsize
        check_memory(size, len(steps), begin.batch, kept)
        record = np.concatenate([np.moveaxis(part.y[skip:], -1, 1) for part, skip in chosen])
        problem = end.changed(
            initial=begin.initial, first=begin.first, has_history=begin.has_history,
            origin=begin.origin, n_steps=end.first + last.n_steps - begin.first,
        )  # fmt: skip
        options = last._options.changed(out=None, steps=None)
        steps = steps - begin.first
        if not np.array_equal(options.saves(problem.n_steps).steps, steps):  # no interval
            options = options.changed(steps=steps)
        whole = FixedSolution(problem, options, Outcome(
            completed=problem.n_steps, states=np.moveaxis(record, 1, -1), last=last._last,
            failures=last._failures, kept=last._kept,
        ))  # fmt: skip
        return whole._told(last)

    # ---- parts of a batch ----
    def _of_lanes(self):
        """What `_of_results` needs of each trajectory."""
        return {"_ends": self._failures.steps(self._problem).ravel()}

    @classmethod
    def _of_results(cls, made, results):
        """From checked arguments and the arrays of a whole batch: see ../dask.py."""
        problem, options = made
        lanes, rows = problem.lanes, results["_last"]
        status, ends = results["status"].reshape(lanes), results["_ends"].reshape(lanes)
        return cls(problem, options.changed(watch=None, events=None), Outcome(
            completed=problem.n_steps, states=results["y"],
            last=rows.reshape(lanes, rows.shape[-1]).T, failures=Failures(status, ends),
        ))  # fmt: skip

    # ---- files ----
    @classmethod
    def _of_file(cls, stored):
        """From the fields of a file: see storage.py."""
        from ..method.method import Method
        from ..run.options import check_times, fitted, steps_of
        from ..run.starter import check_start
        from .files import made, refuse
        from .plain_data import from_data

        header, values, dim = stored.header, stored.values, stored.system.dim
        completed, t, steps = header["completed"], values["t"], values["steps"]
        starter, noise = (made(name, from_data, header[name], stored.arrays)
                          for name in ("starter", "noise"))  # fmt: skip
        if starter is not None and not isinstance(starter, Method):
            refuse("starter", "it is no method")
        made("starter", check_start, starter, stored.method, stored.system)

        def run(system, state, options):
            return make_run(
                system, state, dt=values["dt"], t0=values["t0"], n_steps=0, method=stored.method,
                dtype=stored.dtype, save=header["save"], compensated=header["compensated"],
                **(noise or {}), **options,
            )  # fmt: skip

        problem, options = stored.run(run)
        problem = problem.changed(
            first=header["first"],
            # An interrupted run may lack only one step, and may have been asked for 2**53.
            n_steps=min(header["n_steps"], completed + 1),
            starter=starter,
            has_history=header["begun"],
            drive_strides=(0,) * len(problem.rows_params) if header["driven"] else None,
        )
        if header["origin"] is not None:
            state = values["origin_state"].reshape(problem.lanes, dim).T
            ahead = values.get("origin_ahead")
            problem = problem.changed(origin=Origin(state, header["origin"], ahead=ahead))
        if header["joined"]:  # saves without a common interval; several times may lie in one step
            saved, least = steps - header["first"], 0 if header["times"] else 1
            if np.any(np.diff(saved, axis=0) < least) or np.any((saved < 0) | (saved > completed)):
                refuse("steps", "expected increasing numbers of steps of the run")
            options = options.changed(steps=saved)
        if header["times"]:
            options = options.changed(times=t)
        y, last = values["y"], values["last_state"]
        status, failed = values["failed_status"], values["failed_step"]
        if np.any((status == 0) != (failed < 0)):
            refuse("failed_step", "expected -1 where a trajectory is fine, and nowhere else")
        # A run with watches can be interrupted between two saves, at any step.
        ends = steps.ndim == 1 and steps[-1:] == header["first"] + completed
        ends = np.all(ends) and len(steps) and not header["times"] and options.components is None
        if ends and not np.array_equal(last[:dim].reshape(y[-1].shape), y[-1], True):
            refuse("last_state", "it is not the last state in y")
        solution = cls(problem, options, Outcome(
            completed=completed, states=np.moveaxis(y, 1, -1),
            last=None if ends and len(last) == dim else last, failures=Failures(status, failed),
        ))  # fmt: skip
        if header["times"] and len(t):  # they lie within the steps of the run
            place = problem.t0, problem.dt, completed, problem.batch, problem.dtype
            asked = made("t", fitted, made("t", check_times, t), problem.batch, problem.dt)
            if not np.array_equal(made("t", steps_of, asked, *place), solution.steps):
                refuse("t", "the times do not lie in the steps of the file")
        return solution
