"""Stepping by hand: games, control, learning environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..method.arithmetic import present_rows, warn_of_change
from ..values.keywords import explains_keywords
from ..values.memory import whole
from .arguments import make_run
from .failures import Failures
from .live_views import assign, live_parameters
from .output import outward
from .snapshot import Snapshot, kind_of
from .structure import checked_system, usual_stepper
from .times import time_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..method.method import Method
    from ..system.system import System
    from ..values.types import ArrayLike, DTypeLike, Floats, Integers

# The halves of a step that may be taken apart, by the name of the method: kick and drift of each.
_PHASES = {"semi_implicit_euler": (((1.0,), (0.0,)), ((0.0,), (1.0,)))}


class Stepper:
    """A batch of trajectories that is advanced in place, a step at a time.

    Parameters
    ----------
    system : System
    x0, v0 : array_like, optional
        As in ``pi.integrate``; so are t0, dtype, bound, compensated, start.
    dt : array_like
        The step; one for all or one for each trajectory.
    method : str or Method, optional
        Default: semi_implicit_euler; rk4 for first order, rigid_semi_implicit_euler for a rigid
        body.

    Attributes
    ----------
    y : ndarray, shape (*batch, dim)
        The state: a live view. Assign with ``stepper.y = ...`` or ``stepper.y[...] = ...``.
    x, v : ndarray, shape (*batch, dof), or (*batch) where dof = 1
        Positions and velocities: live views, likewise.
    n : int
        Steps done.
    t : float or ndarray
        The time, t0 + n dt.
    params : mapping
        Name to a live array over the batch: parameters may change between steps.
    previous : ndarray, shape of x
        For "stormer_verlet" the positions one step before: a live view, likewise.
    status : ndarray of int8, shape (*batch)
        See ``pi.Status``. A trajectory that fails is frozen at its last good state until it is
        reset.

    Raises
    ------
    TypeError, ValueError
        A wrong argument.

    Notes
    -----
    The bits are those of ``pi.integrate``. One Stepper is for one thread at a time.

    Examples
    --------
    A ball that bounces on a floor: the constraint is resolved between velocities and positions.

    >>> import pyintegrate as pi
    >>> ball = pi.Stepper(pi.systems.projectile, [0.0, 0, 1], [0.0, 0, 0], dt=0.01)
    >>> for _ in range(200):
    ...     ball.kick()
    ...     falling_in = (ball.x[2] <= 0) & (ball.v[2] < 0)
    ...     ball.v[2] *= -0.9 if falling_in else 1.0
    ...     ball.drift()
    >>> bool(ball.x[2] > -0.05), ball.n
    (True, 200)
    """

    @explains_keywords()
    def __init__(
        self,
        system: System,
        x0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
        *,
        dt: ArrayLike,
        t0: ArrayLike = 0.0,
        method: str | Method | None = None,
        dtype: DTypeLike | None = None,
        bound: float | None = None,
        compensated: bool = False,
        start: str | Method | ArrayLike | None = None,
    ) -> None:
        if method is None:
            method = usual_stepper(checked_system(system))
        problem, options = make_run(
            system, x0, v0, dt=dt, n_steps=0, t0=t0, method=method, dtype=dtype, start=start,
            options={"save": "final", "bound": bound, "compensated": compensated},
        )  # fmt: skip
        if not problem.lanes:
            raise ValueError(f"the batch {problem.batch} is empty: a Stepper needs a trajectory")
        self._problem = problem
        self._rows = whole(problem.initial)
        self._begin = self._components(problem.initial).copy()
        self.params: Mapping[str, Floats]
        self._param_rows, self.params = _core.to_nearest(live_parameters, problem)
        param_rows = tuple(row for rows in self._param_rows for row in rows)
        self._compensated = options.compensated
        self._core = _core.stepper(
            problem.core_fields(options)
            | {"methods": _phases(problem.method), "params": param_rows, "state": self._rows}
        )
        self._has_history = problem.has_history
        if self._has_history:
            self._core.begin(0, True)
        self.step, self.kick, self.drift = self._core.step, self._core.kick, self._core.drift

    @property
    def system(self) -> System:
        return self._problem.system

    @property
    def method(self) -> Method:
        return self._problem.method

    @property
    def dt(self) -> Any:
        return self._problem.dt

    @property
    def t0(self) -> Any:
        return self._problem.t0

    @property
    def n(self) -> int:
        return self._core.n

    @property
    def t(self) -> Any:
        return time_of(self._problem.t0, self._problem.dt, self._core.n)

    # ---- live views ----
    def _components(self, rows):
        """(dim, *batch)"""
        within = rows[: self.system.dim, : self._problem.lanes]
        return within.reshape(self.system.dim, *self._problem.batch)

    def _view(self, first, count, single):
        lanes, batch = self._problem.lanes, self._problem.batch
        if single:
            return self._rows[first, :lanes].reshape(batch)
        return outward(self._rows[first : first + count, :lanes], batch)

    @property
    def y(self) -> Floats:
        return self._view(0, self.system.dim, False)

    @y.setter
    def y(self, value: ArrayLike) -> None:
        assign("y", self.y, value)

    @property
    def x(self) -> Floats:
        lead = self._positions()
        return self._view(0, lead, lead == 1)

    @x.setter
    def x(self, value: ArrayLike) -> None:
        assign("x", self.x, value)

    @property
    def v(self) -> Floats:
        lead = self._positions()
        return self._view(lead, self.system.dim - lead, lead == 1)

    @v.setter
    def v(self, value: ArrayLike) -> None:
        assign("v", self.v, value)

    @property
    def previous(self) -> Floats:
        dof = self._positions()
        if not self.method.starts_from_positions:
            raise AttributeError(f"{self.method.name!r} does not step from previous positions")
        if self.n == 0 and not self._has_history:
            raise ValueError(
                "there are no previous positions before the first step: give start=, or assign them"
            )
        return self._view(self.system.dim, dof, dof == 1)

    @previous.setter
    def previous(self, value: ArrayLike) -> None:
        dof = self._positions()
        if not self.method.starts_from_positions:
            raise AttributeError(f"{self.method.name!r} does not step from previous positions")
        view = self._view(self.system.dim, dof, dof == 1)

        def remember():
            assign("previous", view, value)
            self._has_history = True
            self._core.begin(self.n, True)

        self._core.alter(remember)

    def _positions(self):
        if not self.system.positions:
            raise AttributeError(f"{self.system.name!r} is first_order and has no x and v; use y")
        return self.system.positions

    # ---- failures ----
    @property
    def status(self) -> Integers:
        return self._failures.statuses(self._problem.lanes).reshape(self._problem.batch)

    @property
    def failed_step(self) -> Integers:
        """The first step not completed, -1 where fine; ndarray of int64, shape (*batch)."""
        return self._failures.steps(self._problem.lanes).reshape(self._problem.batch)

    @property
    def _failures(self):
        rows = np.array(self._core.failures(), np.int64).reshape(-1, 3)
        return Failures(rows[:, 0], rows[:, 1], rows[:, 2])

    # ---- restarting and going back ----
    def reset(
        self, mask: ArrayLike = True, x0: ArrayLike | None = None, v0: ArrayLike | None = None
    ) -> None:
        """Restart some trajectories, also failed ones; time and the others go on.

        Parameters
        ----------
        mask : array_like of bool, broadcasts to (*batch)
        x0, v0 : array_like, optional
            As in ``pi.integrate``, over the whole batch; only what `mask` selects is used. Default:
            the state that the Stepper began with.

        Raises
        ------
        ValueError
            The method remembers the past, which a new start does not have.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> stepper = pi.Stepper(pi.systems.pendulum, np.ones(3), 0.0, dt=0.01)
        >>> stepper.step(100)
        >>> stepper.reset([True, False, False])
        >>> (stepper.x == 1.0).tolist()
        [True, False, False]
        """
        carried = len(self._rows) - self.system.dim * self._compensated  # rows from there on
        if carried > self.system.dim:
            raise ValueError(f"{self.method.name!r} remembers the past: make a new Stepper instead")
        problem = self._problem
        try:
            mask = np.asarray(mask)
        except ValueError as error:
            raise ValueError(f"mask must be a regular array: {error}") from None
        if mask.dtype != np.bool_:
            raise TypeError(f"mask must hold truth values, got {mask.dtype}")
        try:
            mask = np.broadcast_to(mask, problem.batch)
        except ValueError:
            raise ValueError(
                f"mask has shape {mask.shape}: it does not fit the batch {problem.batch}"
            ) from None
        if x0 is None and v0 is None:
            values = self._begin
        else:
            fresh, _ = make_run(
                self.system, x0, v0, dt=1.0, n_steps=0, method=problem.method, dtype=problem.dtype,
                options={"save": "final"},
            )  # fmt: skip
            given = fresh.initial[: self.system.dim, : fresh.lanes]
            given = given.reshape(self.system.dim, *fresh.batch)
            try:
                values = np.broadcast_to(
                    np.moveaxis(given, 0, -1), (*problem.batch, self.system.dim)
                )
                values = np.moveaxis(values, -1, 0)
            except ValueError:
                raise ValueError(
                    f"x0 and v0 have the batch shape {fresh.batch}: they do not fit {problem.batch}"
                ) from None

        def restart():
            np.copyto(self._components(self._rows), values, where=mask)
            self._rows[carried:, np.flatnonzero(mask)] = 0.0
            for lane in np.flatnonzero(mask):
                self._core.clear_failure(int(lane))

        self._whole(restart)

    def snapshot(self) -> Snapshot:
        """All that the future depends on; ``restore`` goes back to it exactly.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> stepper = pi.Stepper(pi.systems.lorenz, dt=0.01, method="rk4")
        >>> before = stepper.snapshot()
        >>> stepper.step(100)
        >>> there = stepper.y.copy()
        >>> stepper.restore(before)
        >>> stepper.step(100)
        >>> bool((stepper.y == there).all())
        True
        """
        return self._core.alter(lambda: Snapshot(self))

    def _whole(self, change):
        """Change what there is, whole although interrupts come, and while nobody steps."""
        begun = []

        def all_of_it():
            begun.append(True)
            change()

        def again(error):
            if begun:
                self._core.alter(change)

        _core.shielded(lambda: self._core.alter(all_of_it), again)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this Stepper or of one like it; ValueError for another.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> stepper = pi.Stepper(pi.systems.spring, dt=0.01)
        >>> start = stepper.snapshot()
        >>> stepper.step(100)
        >>> stepper.restore(start)
        >>> stepper.n, float(stepper.x)
        (0, 1.0)
        """
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"snapshot must come from snapshot(), got {type(snapshot).__name__}")
        if snapshot.kind != (here := kind_of(self)):
            raise ValueError(f"the snapshot is of {snapshot.kind}, not like this Stepper: {here}")
        warn_of_change(self.method, snapshot.arithmetic)
        state = present_rows(snapshot.rows, self.method, self.system.dof, snapshot.arithmetic)

        def go_back():
            self._rows[...] = state
            for rows, kept in zip(self._param_rows, snapshot.params, strict=True):
                rows[...] = kept
            self._has_history = snapshot.has_history
            self._core.begin(snapshot.n, snapshot.has_history)
            for lane, _, _ in self._core.failures():
                self._core.clear_failure(int(lane))
            for failure in snapshot.failures:
                self._core.fail(*failure)

        self._whole(go_back)

    def __repr__(self):
        lanes = self._problem.lanes
        return (
            f"<Stepper of {self.system.name} by {self.method.name}: {lanes}"
            f" trajector{'y' if lanes == 1 else 'ies'}, {self.n} steps done>"
        )

    def __reduce__(self):
        raise TypeError("a Stepper cannot be pickled: pickle its snapshot(), make a new one")


def _phases(method):
    """Handles of the method, and of the halves of its step where it may be taken apart."""
    if method.family == "rigid_body":
        return (method.handle, *_core.rigid_phases(method.handle))
    phases = _PHASES.get(method.name, ())
    return (method.handle, *(_core.make_method("composition", 1, 1, rows) for rows in phases))
