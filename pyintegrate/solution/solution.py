"""What came out of a run: arrays, and the questions one asks of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..errors import summarize
from ..run.arguments import Problem, steps_to
from ..run.evaluations import count_evaluations
from ..values.checks import numbers, whole_steps
from ..values.memory import pad


class Solution:
    """The saved states of a batch of trajectories.

    Attributes
    ----------
    t : ndarray, shape (n_saved,), or (n_saved, *batch) where dt or t0 differ
    steps : ndarray of int, shape (n_saved,), numbers of the saved steps
    y : ndarray, shape (n_saved, *batch, dim)
        States; a view in which each component lies contiguous.
    x, v : ndarray, shape (n_saved, *batch, dof), or (n_saved, *batch) where dof = 1
        Positions and velocities (momenta). ``sol["name"]`` is one component.
    initial, final : ndarray, shape (*batch, dim)
    status : ndarray of int8, shape (*batch)
        See ``pi.Status``.
    failed_step : ndarray of int64, shape (*batch)
        The first step not completed, -1 where fine; saves from there on repeat the last good state.
    valid : ndarray of bool, shape (n_saved, *batch)
    system, method, dt, t0, n_steps
        What was asked for; `n_steps` counts the steps of this run.
    evaluations : int, force evaluations of a trajectory

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.spring(b=0.0), 1.0, 0.0, dt=0.01, t_end=1.0)
    >>> sol
    <Solution of spring(k=15, b=0, m=1) by rk4: 100 steps of dt = 0.01, 101 saved, 1 trajectory>
    >>> sol.energy().shape, sol.exact().shape, bool(abs(sol.error()).max() < 1e-6)
    ((101,), (101, 2), True)
    """

    def __init__(self, problem, completed, record, state, failed):
        """For ``integrate``: a record (n_saved, dim, lanes) or None, and the state after the steps
        completed (dim and what the method remembers, lanes), or None where it was overwritten."""
        reached = completed
        if record is None:
            record = state[np.newaxis, : problem.system.dim]
        elif completed < problem.n_steps:
            saved = int(np.searchsorted(problem.saved_steps, completed, side="right"))
            record, reached = record[:saved], int(problem.saved_steps[saved - 1])
        self._record = record
        self._of_run(problem, reached, failed)
        self._remembered = None  # by a multistep method, (rows, lanes)
        if state is not None and len(state) > self.system.dim and reached == completed:
            self._remembered = state[self.system.dim :, : problem.lanes].copy()

    def _of_run(self, problem, completed, failed):
        """All but the states."""
        self._problem, self._failed = problem, failed
        self.system, self.method = problem.system, problem.method
        self.dt, self.t0 = problem.dt, problem.t0
        self.n_steps = completed
        if completed < problem.n_steps:
            keep = failed[2] <= problem.first + completed
            self._failed = tuple(part[keep] for part in failed)

    @cached_property
    def steps(self):
        if self._problem.save == "final":
            return np.array([self._problem.first + self.n_steps])
        steps = self._problem.saved_steps
        saved = np.searchsorted(steps, self.n_steps, side="right")
        return steps[:saved] + self._problem.first

    @cached_property
    def t(self):
        return self._problem.times(self.steps)

    @cached_property
    def y(self):
        return self._outward(self._record)

    @cached_property
    def initial(self):
        initial = self._outward(self._problem.initial[: self.system.dim])
        initial.flags.writeable = False
        return initial

    def _outward(self, rows):
        """(..., dim, lanes) inside -> (..., *batch, dim) outside, without a copy."""
        batch, lanes = self._problem.batch, self._problem.lanes
        lead = rows.shape[:-2]
        y = rows[..., :lanes].reshape(*lead, rows.shape[-2], *batch)
        return np.moveaxis(y, len(lead), -1)

    def __getstate__(self):
        """A progress callable stays behind: it belongs to a place, not to a result."""
        state = dict(self.__dict__)
        state["_problem"] = Problem(**{**self._problem.__dict__, "progress": False})
        return state

    # ---- arrays ----
    @property
    def x(self):
        return self._half(0)

    @property
    def v(self):
        return self._half(1)

    def _half(self, which):
        dof = self.system.dof
        if dof == 0:
            raise AttributeError(f"{self.system.name!r} is first_order and has no x and v; use y")
        if dof == 1:
            return self.y[..., which]
        return np.split(self.y, [self.system.positions], axis=-1)[which]

    def __getitem__(self, name):
        self._check_name(name)
        return self.y[..., self.system.state_names.index(name)]

    def _check_name(self, name):
        names = self.system.state_names
        if not isinstance(name, str):
            raise TypeError(
                f"brackets take the name of a component ({', '.join(names)}), got {name!r}"
            )
        if name not in names:
            raise KeyError(
                f"{self.system.name!r} has the components {', '.join(names)}, not {name!r}"
            )

    @property
    def components(self):
        """Names of the components that were saved: all, unless the run was told otherwise."""
        return self.system.state_names

    @property
    def _stored(self):
        """What holds the saved states, (n_saved, *batch, components)."""
        return self.y

    @property
    def final(self):
        return self.y[-1]

    @property
    def evaluations(self):
        """Force evaluations of a trajectory; one that sees the velocity is not shared by steps.

        Of an implicit method those of one Newton iteration a step, however many it takes; of a
        multistep method with those of its first steps.
        """
        return count_evaluations(self._problem, self.n_steps)

    def __len__(self):
        return len(self.steps)

    # ---- failures ----
    @property
    def n_failed(self):
        """How many trajectories failed."""
        return len(self._failed[0])

    @cached_property
    def status(self):
        status = np.zeros(self._problem.lanes, dtype=np.int8)
        status[self._failed[0]] = self._failed[1]
        return status.reshape(self._problem.batch)

    @cached_property
    def failed_step(self):
        step = np.full(self._problem.lanes, -1, dtype=np.int64)
        step[self._failed[0]] = self._failed[2]
        return step.reshape(self._problem.batch)

    @property
    def valid(self):
        steps = self.steps.reshape(-1, *(1,) * self.failed_step.ndim)
        return (self.failed_step < 0) | (steps < self.failed_step)

    def failures(self):
        """A readable report of the trajectories that failed.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10).failures()
        'no trajectory failed'
        """
        if not self.n_failed:
            return "no trajectory failed"
        index, status, step = self._failed

        def time(i, n):
            t0, dt = (
                np.broadcast_to(a, self._problem.batch).reshape(-1) for a in (self.t0, self.dt)
            )
            return t0[i] + n * dt[i]

        return summarize(status, step, index, self._problem.batch, time)

    # ---- questions ----
    def _column(self, t):
        """Times that broadcast against the batch."""
        return (
            t
            if t.ndim > 1 or not self._problem.batch
            else t.reshape(-1, *(1,) * len(self._problem.batch))
        )

    def energy(self):
        """Energy of each saved state, shape (n_saved, *batch).

        Raises
        ------
        ValueError
            The system has no energy.
        """
        if not self.system.has_energy:
            raise ValueError(f"{self.system.name!r} has no energy")
        return self.system.energy(self.y, self._column(self.t))

    def energy_error(self):
        """(E - E0)/|E0|, signed, shape (n_saved, *batch); E - E0 where E0 = 0.

        E0 is the energy of ``initial``.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, method="velocity_verlet")
        >>> bool(abs(sol.energy_error()).max() < 0.0026)
        True
        """
        energy = self.energy()
        start = self._problem.times(np.array([self._problem.first]))[0]
        scale = abs(first := self.system.energy(self.initial, start))
        with np.errstate(invalid="ignore", over="ignore"):  # an exploded trajectory may be inf
            return (energy - first) / np.where(scale == 0, 1, scale)

    def exact(self):
        """The exact solution at the saved times, shape (n_saved, *batch, dim).

        Raises
        ------
        ValueError
            There is none in closed form.
        """
        start = self._problem.times(np.array([self._problem.first]))[0]
        exact = self.system.exact(self.t, self.initial, start)
        if exact is None:
            raise ValueError(f"{self.system.name!r} has no exact solution in closed form")
        return exact

    def error(self):
        """Numerical minus exact states, shape (n_saved, *batch, dim)."""
        return self.y - self.exact()

    def at(self, t):
        """States between the saved ones, by cubic Hermite interpolation.

        Parameters
        ----------
        t : array_like
            Times within the saved ones, the same for every trajectory.

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

        return hermite(self, numbers("t", t).astype(np.float64))

    # ---- going on ----
    def resume(self, n_steps=None, *, t_end=None, drive=None, out=None):
        """Further steps, numbered onwards; bit-equal to one long run.

        Parameters
        ----------
        n_steps : int, optional
        t_end : array_like, optional
            Give exactly one.
        drive : mapping of str to array_like, optional
            As in ``integrate``, for the further steps.
        out : ndarray, memmap or zarr array, optional
            Where the further states go, as of ``integrate``.

        Returns
        -------
        Solution
            It starts with the final state of this one.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10).resume(n_steps=5)
        >>> int(sol.steps[0]), int(sol.steps[-1])
        (10, 15)
        """
        from ..integration import solve

        if (n_steps is None) == (t_end is None):
            raise ValueError("give exactly one of n_steps and t_end")
        problem = self._problem
        first = problem.first + self.n_steps
        if t_end is not None:
            n_steps = steps_to(t_end, self.dt, self.t0, problem.batch) - first
            if n_steps < 0:
                raise ValueError(f"t_end lies {-n_steps} steps before the end of this solution")
        else:
            n_steps = whole_steps(n_steps)
        further = problem.continued(self._last_state(), first, n_steps, drive, out)
        return solve(further, self._failed, dict(drive or {}))

    def _last_rows(self):
        """The last state and what the method remembers, if it is there: (rows, lanes)."""
        rows = np.moveaxis(self.final, -1, 0).reshape(self.system.dim, self._problem.lanes)
        return rows if self._remembered is None else np.concatenate([rows, self._remembered])

    def _last_state(self):
        """Where to go on from: as ``initial`` of a Problem."""
        rows = self._last_rows()
        if len(rows) < len(self._problem.initial):
            raise ValueError(
                f"this run was interrupted between two saves, and what {self.method.name!r}"
                " remembers of the past is lost: integrate again from `final`"
            )
        return pad(rows, (self._problem.lanes,), self._problem.dtype)

    # ---- elsewhere ----
    def save(self, path):
        """Write all to a file, for ``pi.load(path)``; a crash leaves the old one.

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

    def to_xarray(self):
        """An ``xarray.Dataset``: a variable for each component, with coordinates and units.

        Returns
        -------
        xarray.Dataset
            Dimensions "t" ("step", where times differ between trajectories) and "batch" (or
            "batch_0", "batch_1", ...). Coordinates: t [s], step, and the parameters that are
            arrays. Further variables: status and failed_step. Attributes: what was run.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> sol = pi.integrate(pi.systems.pendulum(length=[1.0, 2.0]), dt=0.01, n_steps=100)
        >>> dict(sol.to_xarray()["theta"].sizes)
        {'t': 101, 'batch': 2}
        """
        from .labelled import to_dataset

        return to_dataset(self)

    # ---- printing ----
    def __repr__(self):
        from .summary import line

        return f"<Solution of {line(self)}>"

    def _repr_html_(self):
        from .summary import html

        return html(self)
