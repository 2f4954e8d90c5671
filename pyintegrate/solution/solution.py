"""The solution of a run, and the quantities computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..errors import report_failures, warn_caller
from ..method.arithmetic import warn_of_change
from ..run import output
from ..run.arguments import steps_to
from ..run.evaluations import count_evaluations
from ..values.checks import numbers, whole_steps
from ..values.keywords import RESULTS, explains_keywords
from ..values.memory import pad
from .jumps import until_jump
from .origin import Origin, origin_of
from .states import States

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from typing import Any

    from ..values.table import Table
    from ..values.types import ArrayLike, AxesArray, Floats


class Solution(States):
    """The saved states of a batch of trajectories.

    Attributes
    ----------
    t : ndarray, shape (n_saved,), or (n_saved, *batch) if dt or t0 differ
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
    system, method, dt, t0, n_steps
        The arguments; `n_steps` counts the steps of this run.
    evaluations : int, force evaluations of a trajectory
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

    _join: Any = None  # how parts of runs to a tolerance are joined, where there are such

    @classmethod
    def of_run(cls, problem, options, failures=None, *watched):
        """Integrate a Problem; an interrupted run has its solution in the exception."""
        going = None

        def work():
            nonlocal going
            going = output.begin(problem, options, failures, *watched)
            going.go()
            solution = cls(problem, options, going.outcome())
            if solution._failures.index.size:
                report_failures(solution, options.on_failure)
            return solution

        def finish(error):
            if not isinstance(error, KeyboardInterrupt):
                return
            here = going or output.begin(problem, options, failures, *watched)
            part = cls(problem, options, here.outcome())
            error.solution = part  # type: ignore[attr-defined]
            how_far = f"{part.n_steps:,} of {problem.n_steps:,} steps: see .solution"
            error.args = error.args or (how_far,)

        return _core.shielded(work, finish)

    # ---- derived quantities ----
    @property
    def seed(self) -> int | None:
        """The seed of its noise; None without noise."""
        random = self._problem.random
        return None if random is None else random.seed

    @property
    def evaluations(self) -> int:
        """Force evaluations of a trajectory; a force that depends on the velocity is not shared.

        For an implicit method those of one Newton iteration per step, whatever their number; for a
        multistep method including those of its starter.
        """
        return count_evaluations(self._problem, self.n_steps)

    def energy(self) -> Floats:
        """Energy of each saved state, shape (n_saved, *batch).

        Raises
        ------
        ValueError
            The system has no energy.
        """
        if not self.system.has_energy:
            raise ValueError(f"{self.system.name!r} has no energy")
        self._need_all("energy()")
        return self.system.energy(self.y, self._column(self.t))

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
        energy = self.energy()
        scale = abs(first := self.system.energy(self.origin, self._origin_time))
        scale = np.where(scale == 0, 1, scale)
        scale = np.where(scale < np.finfo(scale.dtype).tiny, np.nan, scale)
        with np.errstate(invalid="ignore", over="ignore"):  # an exploded trajectory may be inf
            return (energy - first) / scale

    def exact(self) -> Floats:
        """The exact solution through ``origin`` at the saved times, (n_saved, *batch, dim).

        After the first jump of a trajectory (an event with ``then=``) it is NaN, with one
        ``RecordWarning``: the formula does not include jumps.

        Raises
        ------
        ValueError
            The system has no closed form.
        """
        exact = self.system.exact(self.t, self.origin, self._origin_time)
        if exact is None:
            raise ValueError(f"{self.system.name!r} has no exact solution in closed form")
        return until_jump(self, exact, "the exact solution")

    def error(self) -> Floats:
        """Numerical minus exact states, shape (n_saved, *batch, dim)."""
        places = [self.system.state_names.index(name) for name in self.components]
        exact = self.exact()
        return self.y - (exact if self._complete else exact[..., places])

    def at(self, t: ArrayLike) -> Floats:
        """States between the saved ones, by cubic Hermite interpolation; of noise on a chord.

        Parameters
        ----------
        t : array_like
            Times within the range of the saves, the same for every trajectory.

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
        from .interpolation import hermite

        self._need_all("at(t)")
        return hermite(self, numbers("t", t).astype(np.float64))

    # ---- continuation ----
    @explains_keywords()
    def resume(
        self,
        n_steps: int | None = None,
        *,
        t_end: ArrayLike | None = None,
        drive: Mapping[str, ArrayLike] | None = None,
        out: Any = None,
    ) -> Solution:
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
        if self._carried is not None:
            if out is not None:
                raise ValueError("sensitivity and out exclude each other: leave out= away")
            both, names = self._carried
            return Solution._with_tangents(
                lambda: both.resume(n_steps, t_end=t_end, drive=drive), names
            )
        if self._forgot:
            warn_caller(self._what_is_forgotten(), UserWarning)
        options = self._options.changed(out=out, steps=None, times=None)
        problem = self._problem
        first = problem.first + self.n_steps
        if t_end is not None:
            n_steps = steps_to(t_end, self.dt, self.t0, problem.batch) - first
            if n_steps < 0:
                raise ValueError(f"t_end lies {-n_steps} steps before the end of this solution")
        else:
            n_steps = whole_steps(n_steps)
        began = origin_of(problem)
        origin = Origin(began.state, began.step, self)
        further = problem.continued(self._last_state(), first, n_steps, options, origin, drive)
        output.check_out(further, options, dict(drive or {}))
        warn_of_change(problem.method, problem.system, problem.arithmetic)
        part = Solution.of_run(further, options, self._failures, self._sums, self._event_rows)
        if self._options.events is None:  # it was loaded, and has jumped before
            part._first_jump = self._first_jump
        return part

    def _last_rows(self):
        """The last state and the history of the method, if available: (rows, lanes)."""
        rows = self.final.reshape(self._problem.lanes, self.system.dim).T
        return rows if self._history is None else np.concatenate([rows, self._history])

    def _last_state(self):
        """The state to continue from, laid out as ``initial`` of a Problem."""
        rows = self._last_rows()
        if len(rows) < len(self._problem.initial):
            raise ValueError(
                "this run was interrupted between two saves, and the history of"
                f" {self.method.name!r}, or the rounding error that it carries, is lost: integrate"
                " again from `final`"
            )
        return pad(rows, (self._problem.lanes,), self._problem.dtype)

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
            [s], step, and the parameters that are arrays. Further variables: status and
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
            of a trajectory that failed repeat its last good state. If only the end was saved,
            watched numbers are columns ("watched.swing"), with a row for each trajectory, as are
            stopped_at and stopped_by; results of many saves, of histograms and of single events are
            in ``to_xarray``.

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

    def animate(self, **keywords: Any) -> Any:
        """Show the motion as an animation: see ``pi.plots.animate``."""
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
            if name in RESULTS:
                raise AttributeError(f"a Solution has no {name!r}: {RESULTS[name]}")
            return object.__getattribute__(self, name)  # which raises

    def __repr__(self):
        from .summary import line

        return f"<Solution of {line(self)}>"

    def _repr_html_(self):
        from .summary import html

        return html(self)
