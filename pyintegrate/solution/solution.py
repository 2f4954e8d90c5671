"""The solution of a run: its arrays, and the quantities computed from them.

`Solution` holds what all have in common. Steps of one length make a ``FixedSolution``, steps to a
tolerance an ``AdaptiveSolution``.
"""

from __future__ import annotations

from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..errors import IntegrationError, Status, quiet, report_failures, warn_caller
from ..run.times import column
from ..values.checks import DOUBLE
from ..values.citations import cite
from ..values.keywords import RESULTS
from ..values.memory import outward
from ..values.table import Table
from ..values.types import (
    Across,
    Any,
    AxesArray,
    Events,
    Floats,
    FuncAnimation,
    Integers,
    KindOfSolution,
    PathLike,
    Watched,
)
from .jumps import direction, first_jump, has_jumped, until_jump
from .precision import warn_of_range
from .sensitivity import derivatives

WATCHING = ("watched", "events", "stopped_at", "stopped_by")  # results that go into files


class Missing(AttributeError, ValueError):
    """An attribute of other results, with where it is found here."""


class Solution(KindOfSolution):
    """The saved states of a batch of trajectories.

    Attributes
    ----------
    t : ndarray, shape (n_saved,), or (n_saved, *batch) if they differ
    steps : ndarray of int, shape (n_saved,), indices of the saved steps
        For a run with ``times=`` the first step not before each time, (n_saved, *batch) if these
        differ. `t` holds the requested times.
    y : ndarray, shape (n_saved, *batch, dim)
        States; a view in which each component is contiguous.
    x, v : ndarray, shape (n_saved, *batch, dof), or (n_saved, *batch) if dof = 1
        Positions and velocities (momenta). ``sol["name"]`` is one component.
    initial, final : ndarray, shape (*batch, dim)
    origin : ndarray, shape (*batch, dim)
        Where the motion began: `initial`, or that of the first part of a resumed run. All errors
        are relative to it.
    status : ndarray of int8, shape (*batch)
        See ``pi.Status``.
    failed_step : ndarray of int64, shape (*batch)
        The first step not completed, -1 if none failed; later saves repeat the last good state.
    valid : ndarray of bool, shape (n_saved, *batch)
    system, method, t0, n_steps
        The arguments; `n_steps` counts the steps of this run. Steps of one length have `dt`.
    evaluations : int, or ndarray of shape (*batch); force evaluations of a trajectory
    arithmetic : int
        The version number of the arithmetic that computed it: see ``pi.ArithmeticWarning``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.spring(b=0.0), 1.0, 0.0, dt=0.01, t_end=1.0)
    >>> sol
    <Solution of spring(k=15, b=0, m=1) by rk4: 100 steps of dt = 0.01, 101 saved, 1 trajectory>
    >>> sol.energy().shape, sol.exact().shape, bool(abs(sol.error()).max() < 1e-6)
    ((101,), (101, 2), True)
    """

    _kept: Any = None  # by watches and events, with their functions: see RunMemory, Observation
    _carried: Any = None  # the solution with tangents, and the names
    _elsewhere = RESULTS  # attributes of other results
    _of_each: tuple[str, ...] = ()  # counts of each trajectory

    @classmethod
    def _with_tangents(cls, integrate, names):
        """The base motion of a run with tangents, which it keeps; also in exceptions."""

        def alone(both):
            solution = cls(*cls._alone(both))
            solution._carried = both, names
            return solution

        try:
            return alone(integrate())
        except (IntegrationError, KeyboardInterrupt, MemoryError) as error:
            if hasattr(error, "solution"):
                error.solution = alone(error.solution)
            raise

    @staticmethod
    def _shielded(run, part, at_times):
        """The solution that `run` makes, with its warnings; of an error, `part` may give what there
        is until then, which the error holds, and how far that goes, in words."""

        def work():
            solution = run()
            on_failure = solution._options.on_failure
            if solution._failures.count:
                report_failures(solution, on_failure)
            if solution._problem.dtype != DOUBLE:
                warn_of_range(solution, on_failure)
            if at_times:
                from .interpolation import report_lost

                report_lost(solution, on_failure)
            return solution

        def finish(error):
            if found := part(error):
                error.solution, how_far = found
                error.args = error.args or (f"{how_far}: see .solution",)

        return _core.shielded(work, finish)

    @property
    def arithmetic(self) -> int:
        return self._problem.arithmetic

    @property
    def y(self) -> Floats:
        return np.asanyarray(self._states[: len(self)])  # those elsewhere are read here

    @cached_property
    def initial(self) -> Floats:
        initial = self._outward(self._problem.initial[: self.system.dim])
        initial.flags.writeable = False
        return initial

    def _outward(self, rows):
        """(dim, lanes or more) inside -> (*batch, dim) outside, without a copy."""
        return outward(rows[:, : self._problem.lanes], self._problem.batch)

    def __getstate__(self):
        """Functions stay behind, those of progress and of watches: they belong to one process."""
        options = self._options.changed(progress=False, watch=None, across=None, events=None)
        results = {name: getattr(self, name) for name in (*WATCHING, "across", "_first_jump")}
        return self.__dict__ | results | {
            "_options": options, "_kept": None,
        }  # fmt: skip

    def __copy__(self):
        """Another with the same parts, functions too: ``copy.copy`` stays in the process."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def _told(self, other):
        """This solution, with the results of `other` if the functions of its own are lost."""
        self.__dict__.update({key: other.__dict__[key] for key in WATCHING if other._forgot})
        self.__dict__["stopped_at"], self._first_jump = other.stopped_at, other._first_jump
        return self

    @property
    def _forgot(self):
        """Whether it has results of watches or events without their functions."""
        return self._kept is None and bool([*self.watched, *self.events])

    @property
    def _event_rows(self):
        return None if self._kept is None else self._kept.event_rows

    def _what_is_forgotten(self):
        names = dict.fromkeys([*self.events, *(name.partition(".")[0] for name in self.watched)])
        told = shorten(", ".join(names), 200, placeholder=" ...")
        return (
            "this solution was loaded or unpickled, and the functions of its watch and events"
            f" ({told}) were not: the further steps are neither watched nor stopped, and no event"
            " changes them. To go on with them, resume before saving, or integrate from `final`"
            " with watch= and events="
        )

    # ---- arrays ----
    @property
    def x(self) -> Floats:
        return self._half(0)

    @property
    def v(self) -> Floats:
        return self._half(1)

    def _half(self, which):
        system = self.system
        lead = system.positions
        if not lead:
            raise AttributeError(
                f"{system.name!r} is first_order, without positions and velocities: sol.y are its"
                f" states, sol[{system.state_names[0]!r}] is a component"
            )
        half, single = slice(lead, None) if which else slice(lead), system.dim == 2
        if self._complete:
            return self.y[..., which if single else half]
        places = [self._place(name) for name in system.state_names[half]]
        return self.y[..., places[0] if single else places]

    def __getitem__(self, name: str) -> Floats:
        names = self.system.state_names
        if not isinstance(name, str):
            raise TypeError(
                f"brackets take the name of a component ({', '.join(names)}), got {name!r}: the"
                " states are sol.y"
            )
        if name not in names:
            own = None if name.startswith("_") else getattr(self, name, None)
            cure = "" if own is None else f": sol.{name}{'()' * callable(own)}"
            raise KeyError(
                f"{self.system.name!r} has the components {', '.join(names)}, not {name!r}{cure}"
            )
        return np.asarray(self._states[: len(self), ..., self._place(name)])

    def _ipython_key_completions_(self):
        return list(self.components)

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components that were saved: all, unless `components` was given."""
        return self._options.saved_names(self.system)

    @property
    def out(self) -> Any:
        """The array that `integrate` was given for the states, or None."""
        return self._options.out

    @cached_property
    def _complete(self):
        """Whether all components were saved, in order."""
        return self.components == self.system.state_names

    def _place(self, name):
        if name not in self.components:
            raise ValueError(
                f"{name} was not saved, only {', '.join(self.components)}: add it to components"
            )
        return self.components.index(name)

    def _need_all(self, question):
        if not self._complete:
            raise ValueError(
                f"{question} needs all components, and {', '.join(self.components)} were saved:"
                " integrate without components"
            )

    @property
    def final(self) -> Floats:
        last = self._last
        return self.y[-1] if last is None else self._outward(last[: self.system.dim])

    def __len__(self) -> int:
        return len(self.steps)

    # ---- failures ----
    @property
    def n_failed(self) -> int:
        """The number of trajectories that failed."""
        return len(self._failures.failed())

    @cached_property
    def status(self) -> Integers:
        return self._failures.statuses(self._problem)

    @cached_property
    def failed_step(self) -> Integers:
        return self._failures.failed().steps(self._problem)

    @cached_property
    def watched(self) -> Watched:
        """The results of watches by name: arrays over the batch. See ``pi.watch``."""
        from ..watching.watched import Watched

        if self._kept is None:
            return Watched({})
        watched, problem = self._watched(), self._problem
        watched.forget_drifts(self._options.watch.watch, lambda: has_jumped(self), problem.driven)
        return watched

    @cached_property
    def across(self) -> Across:
        """Statistics across the batch by name: arrays over the counted steps. See ``pi.across``."""
        from ..watching.batch.results import Across, of_run

        if self._kept is None or not self._options.watch.across:
            return Across({})
        return of_run(self._options.watch, self._problem, self._kept)

    @cached_property
    def sensitivity(self) -> dict[str, Floats]:
        """Derivatives of the saved states, by name, for a run with ``sensitivity=``.

        By "x0" and "v0" (n_saved, *batch, dim, components); by a parameter
        (n_saved, *batch, dim) followed by the axes of the parameter.
        """
        if self._carried is None:
            raise Missing(
                "this run has no sensitivities: integrate with sensitivity=('x0', 'v0'), or names"
                f" of parameters ({', '.join(self.system.params) or 'there are none'})"
            )
        return derivatives(*self._carried)

    @cached_property
    def events(self) -> Events:
        """The events of the run by name; see ``pi.event``."""
        from ..watching.event_log import Events

        return Events.of_run(self._options.events, self._problem, self._event_rows)

    @cached_property
    def _first_jump(self):
        """When an event first made each trajectory jump, (*batch): see jumps.py."""
        return first_jump(self)

    @cached_property
    def stopped_at(self) -> Floats:
        """When an event stopped each trajectory, (*batch); NaN if it ran to the end."""
        return self._stops()[0]

    @cached_property
    def stopped_by(self) -> Any:
        """Names of the events that stopped the trajectories, (*batch); "" if none did."""
        return self._stops()[1]

    def _stops(self):
        from ..watching.event_log import stops

        return stops(self._event_rows, self._options.events, self.status == Status.STOPPED)

    def _column(self, t):
        """Times, or indices of steps, that broadcast against the batch."""
        return column(t, self._problem.batch)

    @property
    def _own_times(self):
        """Times of the saved states; a trajectory that an event has stopped keeps that time."""
        t, stopped = self.t, self.stopped_at
        if not np.isfinite(stopped).any():
            return t
        late = direction(self) * (self._column(t) - stopped) > 0
        return np.where(late, stopped, self._column(t))

    @property
    def _whole(self):
        """Whether every trajectory has run to the end."""
        return not len(self._failures)

    cite = cite

    def digest(self) -> str:
        """A hash of everything in this solution, as 64 hexadecimal digits (SHA-256).

        Two solutions have the same digest if their systems and parameters, methods, times, saved
        and last states, failures, watched results and events are the same, with their shapes and
        precisions: on every machine, with any number of workers, after ``save`` and ``pi.load``. A
        zero has no sign in it, and all NaNs are one. Options that lead to the same solution
        (`bound`, `workers`, ...) and the version that computed it are not included; a function that
        is not traced is included by its name and parameters. `sensitivity` is included.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=100)
        >>> sol.digest()[:16]
        'b96c76ac40669de8'
        """
        from .digest import digest

        return digest(self)

    # ---- derived quantities ----
    @property
    def seed(self) -> int | None:
        """The seed of its noise; None without noise."""
        return getattr(self._problem.random, "seed", None)

    def energy(self) -> Floats:
        """Energy of each saved state, shape (n_saved, *batch).

        Raises
        ------
        ValueError
            The system has no energy.
        """
        if not self.system.has_energy:
            raise ValueError(
                f"{self.system.name!r} has no energy; @pi.acceleration and @pi.rhs take energy="
            )
        self._need_all("energy()")
        return self.system.energy(self.y, self._column(self._own_times))

    def energy_error(self) -> Floats:
        """(E - E0)/|E0|, signed, shape (n_saved, *batch); E - E0 if E0 = 0.

        E0 is the energy of ``origin``. If it is nearly 0 by cancellation (a parabolic orbit),
        a relative error says little: use ``energy()``. NaN if E0 is outside the range of floats, or
        so small that it has lost digits.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, method="velocity_verlet")
        >>> bool(abs(sol.energy_error()).max() < 0.0026)
        True
        """
        from ..watching.quantity import scale_of

        energy, first = self.energy(), self.system.energy(self.origin, self._origin_time)
        with quiet():  # an exploded trajectory may be inf
            return (energy - first) / scale_of(first)

    def exact(self) -> Floats:
        """The exact solution through ``origin`` at the saved times, (n_saved, *batch, dim).

        After the first jump of a trajectory (an event with ``then=``) it is NaN, with one
        ``RecordWarning``: the formula does not include jumps. After an event has stopped a
        trajectory it stays at its value there, as the state does.

        Raises
        ------
        ValueError
            The system has no closed form.
        """
        exact = self.system.exact(self._own_times, self.origin, self._origin_time)
        if exact is None:
            raise ValueError(f"{self.system.name!r} has no exact solution in closed form")
        return until_jump(self, exact, "the exact solution")

    def error(self) -> Floats:
        """Numerical minus `exact` states, shape (n_saved, *batch, dim)."""
        places = [self.system.state_names.index(name) for name in self.components]
        exact = self.exact()
        return self.y - (exact if self._complete else exact[..., places])

    # ---- continuation ----
    def _continued(self, with_tangents, alone):
        """A further part: of a solution with tangents, or as it is."""
        if self._carried is not None:
            both, names = self._carried
            return self._with_tangents(lambda: with_tangents(both), names)
        if self._forgot:
            warn_caller(self._what_is_forgotten())
        part = alone()
        if self._options.events is None:  # it was loaded, and has jumped or stopped before
            part._first_jump = np.minimum(part._first_jump, self._first_jump)
            part.__dict__["stopped_at"] = self.stopped_at
        return part

    @property
    def _next_rows(self):
        """Those with which a continuation begins."""
        return self._last_rows

    @property
    def _last_rows(self):
        """The last state and the history of the method, if available: (rows, lanes)."""
        if self._last is not None:
            return self._last
        return self.final.reshape(self._problem.lanes, self.system.dim).T

    # ---- export ----
    def save(self, path: str | PathLike[str]) -> None:
        """Write the solution to a file, for ``pi.load(path)``; a crash leaves the old one.

        Parameters
        ----------
        path : str or path
            Ends in .npz (plain arrays and a header; no pickle), or .zarr (needs the package zarr).

        Examples
        --------
        >>> import os, tempfile, pyintegrate as pi
        >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
        >>> pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=10).save(path)
        >>> pi.load(path).resume(n_steps=10).steps[-1]
        np.int64(20)
        """
        from .storage import save

        save(self, path)

    def to_xarray(self) -> Any:
        """An ``xarray.Dataset``: a variable for each component, with coordinates and units.

        Returns
        -------
        xarray.Dataset
            Dimensions "t" ("step", if times differ between trajectories) and those of the batch:
            each has the name of the parameter (or "dt", "t0") that alone varies along it, with
            distinct values, else it is "batch" (or "batch_0", "batch_1", ...). Coordinates: t
            [s], step, and the parameters. Further variables: status and
            failed_step; "watched.swing" is ``watched["swing"]``, with a dimension "bin" for a
            histogram; "events.ground.t", ".y", ".values", ".count", ".overflow" and ".unresolved"
            have the dimensions "event" (those kept), "component" and "value", and stopped_at and
            stopped_by those of the batch. Two such dimensions of different lengths are "bin_swing"
            and so on. Attributes: the arguments of the run.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.pendulum(length=[1.0, 2.0]), dt=0.01, n_steps=100)
        >>> sol.to_xarray()["theta"].sel(length=2.0).sizes
        Frozen({'t': 101})
        """
        from .labelled import to_dataset

        return to_dataset(self)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``: a column for each component, a row for each save.

        Returns
        -------
        pandas.DataFrame
            Index: "t"; for a batch the dimensions of ``to_xarray`` and "t", trajectory by
            trajectory (``frame["x"].unstack("t")`` is wide, ``frame.reset_index()`` long). The rows
            of a trajectory that failed end there. If only the end was saved, each has one row, with
            its last good state and its "status" where one has failed; watched numbers are columns
            ("watched.swing"), as are stopped_at and stopped_by. Results of many saves, of
            histograms and of single events are in ``to_xarray``, whose ``to_dataframe()`` has the
            parameters as columns.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.pendulum(length=[1.0, 2.0]), dt=0.01, n_steps=100)
        >>> frame = sol.to_pandas()
        >>> frame.index.names, list(frame.columns), len(frame)
        (FrozenList(['length', 't']), ['theta', 'omega'], 202)
        """
        from .labelled import to_frame

        return to_frame(self)

    # ---- display ----
    def plot(self, **keywords: Any) -> AxesArray:
        """Draw the motion and its energy: see ``pi.plots.overview``.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.integrate(pi.systems.spring, dt=0.1, n_steps=9).plot().shape  # doctest: +SKIP
        (2,)
        """
        from ..plots import overview

        return overview(self, **keywords)

    def animate(self, **keywords: Any) -> FuncAnimation:
        """Show the motion as an animation: see ``pi.plots.animate``.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.integrate(pi.systems.spring, dt=0.1, n_steps=90).animate()  # doctest: +SKIP
        <animation of 90 frames>
        """
        from ..plots import animate

        return animate(self, **keywords)

    def table(self) -> Table:
        """The main results, as text or HTML: see ``Comparison.table``.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.integrate(pi.systems.spring, dt=0.1, n_steps=9).table().columns[:2]
        ('method', 'E(end)/E(0)')
        """
        from ..analysis.side_by_side import Comparison

        return Comparison(self.system, {self.method.name: self}).table()

    if not TYPE_CHECKING:  # for which a class with __getattr__ has any attribute

        def __getattr__(self, name):
            if name in self._elsewhere:
                raise Missing(f"this Solution has no {name!r}: {self._elsewhere[name]}")
            problem = self.__dict__.get("_problem")  # not yet, while it is unpickled
            names = () if problem is None else problem.system.state_names
            if name in names and not hasattr(type(self), name):
                raise Missing(
                    f"a component is sol[{name!r}]; x and v are all positions, velocities"
                )
            return object.__getattribute__(self, name)  # which raises

    def __repr__(self):
        batch, lanes = self.status.shape, self.status.size
        count = f"{lanes} trajector{'y' if lanes == 1 else 'ies'}"
        shape = f" {batch}" if len(batch) > 1 else ""
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        return (
            f"<Solution of {self.system!r} by {self.method.name}{self._pace},"
            f" {len(self)} saved, {count}{shape}{failed}>"
        )

    def _repr_html_(self):
        system, method = self.system, self.method
        counts = {s.name: int(np.count_nonzero(self.status == s)) for s in Status if s}
        shape = (len(self), *self.status.shape, len(self.components))
        rows = {
            "system": f"{system.title}: {system!r}",
            "method": f"{method.title} ({method.name}){self._pace}",
            "states": f"{shape}, {self.initial.dtype}",
            "failed": ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "none",
        }
        return Table("Solution", ("", ""), [*rows.items()], align="ll")._repr_html_()
