"""Stepping by hand: games, control, learning environments."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .. import _core
from ..errors import Status, quiet
from ..method.arithmetic import ARITHMETIC, warn_of_change
from ..values.checks import numbers
from ..values.keywords import explains_keywords
from ..values.memory import outward, pad, whole
from ..values.names import ByName
from ..values.parameters import rows_of, system_at
from ..values.types import (
    Across,
    Any,
    ArrayLike,
    DTypeLike,
    Event,
    Events,
    Floats,
    Integers,
    Method,
    Reduction,
    Sequence,
    Statistic,
    SupportsIndex,
    System,
    Watched,
)
from .arguments import check_steps, checked_system, default_stepper, make_run
from .failures import Failures
from .random_numbers import SEED_ROWS, RandomNumbers, seed_parts
from .times import in_dtype, time_of

# The halves of a step that can be called separately, by the method's name: kick and drift. One that
# began with its kick would keep the force, and round it differently (csrc/kernels/registers/
# kept_force.h).
_PHASES = {"semi_implicit_euler": (((0.0, 1.0), (0.0, 0.0)), ((0.0,), (1.0,)))}

_REMEMBERS = (
    "the method remembers what came before, to which another state does not belong: make a new"
    " Stepper instead, or for 'stormer_verlet' assign x and previous"
)


class LiveParameters(Mapping):
    """Parameters by name: arrays with fixed addresses whose numbers may be written."""

    _views: ByName

    def __init__(self, views):
        vars(self)["_views"] = ByName(views)

    def __getitem__(self, name):
        return self._views[name]

    def __iter__(self):
        return iter(self._views)

    def __len__(self):
        return len(self._views)

    def __setitem__(self, name, value):
        if name not in self._views:
            known = ", ".join(self._views) or "none"
            raise TypeError(f"stepper.params has no {name!r}; it has {known}")
        raise TypeError(
            f"stepper.params[{name!r}] is an array that the steps read: write its numbers,"
            f" stepper.params[{name!r}][...] = value"
        )

    __setattr__ = __setitem__

    def __repr__(self):
        return repr(self._views)


def live_parameters(problem):
    """Rows of each parameter over the batch, and views (*batch, *shape) of them by name."""
    rows, views = [], {}
    for name, value in problem.system.params.items():
        shape = problem.system.shapes[name]
        padded = pad(rows_of(value, shape), problem.batch, problem.dtype)
        rows.append(padded)
        within = outward(padded[:, : problem.lanes], problem.batch)
        views[name] = within.reshape((*problem.batch, *shape))
    if problem.system.structure == "rigid_body" != problem.method.requires:
        for name in ("linear_factor", "angular_factor"):  # no step would read them
            views[name].flags.writeable = False
    if problem.random is not None:  # the run's own
        rest = problem.rows_params[sum(map(len, rows)) :]
        rows.append(pad(rest, (problem.stride,), problem.dtype))
    return rows, LiveParameters(views)


def assign(name, view, value):
    array = numbers(name, value)
    if not view.flags.writeable:
        raise ValueError(f"{name}: {_REMEMBERS}")
    try:
        with quiet():
            _core.to_nearest(view.__setitem__, ..., array)
    except ValueError:
        raise ValueError(f"{name} has shape {array.shape}: expected {view.shape}") from None


class Snapshot:
    """The state, parameters and failures of a Stepper at a step; made by ``Stepper.snapshot``."""

    def __init__(self, stepper):
        self.kind, self.n = kind_of(stepper), stepper.n
        self.method, self.times = stepper.method, (stepper.dt, stepper.t0)
        self.equations = stepper.system.traced, stepper.system.shapes
        self.meaning = meaning_of(stepper)
        self.has_history = stepper._has_history
        self.arithmetic = ARITHMETIC
        self.arrays = [array.copy() for array in stepper._arrays()]
        self.counted = [] if stepper._counted is None else stepper._counted.steps[:]

    def __repr__(self):
        return f"<Snapshot at step {self.n}>"


def kind_of(stepper):
    """Properties that a snapshot must share: system, method, batch, dtype, compensated sums."""
    problem = stepper._problem
    kind = [problem.system.name, problem.method.name, problem.batch, problem.dtype.name]
    kind += ["compensated"] * stepper._compensated
    if stepper._counted is not None:
        kind += ["across", *stepper._counted.names]
    return (*kind, *(() if stepper._by_hand is None else stepper._by_hand.kind))


def meaning_of(stepper):
    """How a method of several steps starts, and what is watched and counted: more than names."""
    both = stepper._by_hand, stepper._counted
    return stepper._problem.starter, *(one and one.meaning for one in both)


class Stepper:
    """A batch of trajectories that is advanced in place, step by step.

    Parameters
    ----------
    system : System
    x0, v0 : array_like, optional
        As in ``pi.integrate``; so are t0, dtype, bound, compensated, start, watch, events, across,
        seed, first_trajectory, substeps.
    dt : array_like
        The step; one for all or one for each trajectory.
    method : str or Method, optional
        Default: semi_implicit_euler; rk4 for first-order systems, rigid_semi_implicit_euler for
        a rigid body; with noise as in ``integrate``.

    Attributes
    ----------
    y : ndarray, shape (*batch, dim)
        The state: a live view. Assign with ``stepper.y = ...`` or ``stepper.y[...] = ...``.
    x, v : ndarray, shape (*batch, dof), or (*batch) if dof = 1
        Positions and velocities: live views too.
    n : int
        Steps completed.
    t : float or ndarray
        The time, t0 + n dt.
    params : mapping
        Name to a live array over the batch: parameters may change between steps. It is read-only
        where the method knows no such parameter.
    previous : ndarray, shape of x
        For "stormer_verlet" the positions one step before: a live view too.
    status : ndarray of int8, shape (*batch)
        See ``pi.Status``. A trajectory that fails, or that an event stops, is frozen at its last
        good state until it is reset.
    watched, events, across, stopped_at, stopped_by
        The results of watches, events and statistics so far, as in a Solution: new arrays each
        time. Statistics count the states in which steps end, and the first.

    Raises
    ------
    TypeError, ValueError
        A wrong argument.

    Notes
    -----
    The bits are those of ``pi.integrate``, also for watches and events. These see the steps of
    ``step``, from where a trajectory began or was reset; a state that is assigned between steps is
    the start of the next step, and no event. ``stepper.y = ...`` also forgets the rounding errors
    that compensated sums and differences of positions carry; writing into a view keeps them. A
    method of several steps remembers what came before: its views are read-only, as NumPy says of
    one that is written (for "stormer_verlet" those of velocities, which it does not read),
    ``stepper.y = ...`` is for before the first step: later make a new Stepper. Parameters that
    change between steps make it of order 1. A watched "energy_error" or "phase_drift" compares with
    the start and the parameters there, whatever is assigned later: ``reset()`` makes another start.
    Use a Stepper from one thread at a time.

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
        watch: Mapping[str, Reduction | str] | Sequence[str] | str | None = None,
        events: Mapping[str, Event] | None = None,
        across: Mapping[str, Statistic] | None = None,
        seed: SupportsIndex | None = None,
        first_trajectory: ArrayLike = 0,
        substeps: SupportsIndex = 1,
    ) -> None:
        if method is None:
            method = default_stepper(checked_system(system))
        problem, options = make_run(
            system, x0, v0, dt=dt, n_steps=0, t0=t0, method=method, dtype=dtype, start=start,
            seed=seed, first_trajectory=first_trajectory, substeps=substeps, save="final",
            bound=bound, compensated=compensated, watch=watch, events=events, by_hand=True,
        )  # fmt: skip
        check_steps(problem.system, problem.t0, problem.dt, problem.dtype)
        if not problem.lanes:
            raise ValueError(f"the batch {problem.batch} is empty: a Stepper needs a trajectory")
        self._problem = problem
        self._rows = whole(problem.initial, problem.stride)
        dim, lead = system.dim, system.positions
        self._parts = {"y": (0, dim, False)}
        if lead:
            self._parts |= {"x": (0, lead, lead == 1), "v": (lead, dim - lead, lead == 1)}
        if problem.method.starts_from_positions:
            self._parts["previous"] = dim, lead, lead == 1
        self._param_rows, params = live_parameters(problem)
        param_rows = tuple(row for rows in self._param_rows for row in rows)
        self._compensated = options.compensated
        self._bound = in_dtype(options.bound, problem.dtype)
        self._has_past = len(self._rows) > problem.system.dim * (1 + options.compensated)
        # The first row that follows from the past: Stormer-Verlet reads no velocity.
        first = problem.system.dof if problem.method.starts_from_positions else 0
        self._remembered = first if self._has_past else len(self._rows)
        more, self._by_hand = options.for_core(), None
        if options.watch is not None:
            from ..watching.by_hand import ByHand

            self._by_hand = ByHand(problem, options, self._param_rows)
            more |= self._by_hand.start
        if problem.starter is not None:
            more["starter"] = problem.starter.handle
        self._failed = np.zeros(problem.lanes, np.int8), np.zeros(problem.lanes, np.int64)
        self._core = _core.Stepper(
            **more, system=problem.system.core_for(problem.method), methods=_phases(problem.method),
            bits=problem.dtype.itemsize * 8, lanes=problem.lanes, bound=options.bound,
            t0=problem.rows_t0, dt=problem.rows_dt, params=param_rows, state=self._rows,
            status=self._failed[0], failed=self._failed[1],
        )  # fmt: skip
        self._begin = self.y.copy()
        self._alone = system_at(system, problem.batch, 0)  # for starts of `reset`
        self._restored = 0  # how often
        self._resets = np.zeros(problem.batch, np.int64)
        self._has_history = problem.has_history
        if self._has_history:
            self._core.begin(0, True)
        self.step, self.kick, self.drift = self._core.step, self._core.kick, self._core.drift
        if self._by_hand is not None and self._by_hand.rounds:
            self.step = _following(self._core.step, self._by_hand.follow)
        self._counted = None
        if across is not None:
            from .counted import Counted

            self._counted = Counted(across, problem)
            self.step = self._counted.stepping(self, self.step)
            self.kick = self._counted.counting(self, self.kick)
            self.drift = self._counted.counting(self, self.drift)
        self.params: Mapping[str, Floats] = params

    def __setattr__(self, name, value):
        own = vars(self).get("params", ())
        if name in own or (own and name == "params"):
            cure = "write the numbers of a parameter, stepper.params[name][...] = value"
            raise TypeError(f"no step would read stepper.{name}: {cure}")
        super().__setattr__(name, value)

    @property
    def system(self) -> System:
        return self._problem.system

    @property
    def method(self) -> Method:
        return self._problem.method

    @property
    def dt(self) -> Any:
        return self._problem.dt

    @dt.setter
    def dt(self, value: Any) -> None:
        raise AttributeError(
            "the step of a Stepper is fixed: pi.FixedTimestep(stepper) takes frames of any length,"
            " and pi.Stepper(system, stepper.x, stepper.v, dt=..., t0=stepper.t) takes another step"
        )

    @property
    def t0(self) -> Any:
        return self._problem.t0

    @property
    def n(self) -> int:
        return self._core.n

    @property
    def t(self) -> Any:
        return time_of(self._problem.t0, self._problem.dt, self._core.n)

    # ---- the state as views of its rows ----
    def _part(self, name):
        """The first of the components of y, x, v or previous, their number, and whether a number
        stands for them, without an axis."""
        if name in self._parts:
            return self._parts[name]
        if self.system.positions:
            raise AttributeError(f"{self.method.name!r} does not step from previous positions")
        raise AttributeError(
            f"{self.system.name!r} is first_order, without positions and velocities: its state is y"
        )

    def _view(self, name, *, assigned=False):
        first, count, single = self._part(name)
        lanes, batch = self._problem.lanes, self._problem.batch
        rows = self._rows[first] if single else self._rows[first : first + count]
        ends = self._remembered < first + count <= self._problem.system.dim
        fresh = assigned and self._core.n == 0 and not self._has_history
        if ends and not fresh:  # views outlast a step
            rows.flags.writeable = False
        return rows[:lanes].reshape(batch) if single else outward(rows[:, :lanes], batch)

    def _assign(self, name, value):
        view = self._view(name, assigned=True)
        if self.system.structure == "rigid_body" and name != "v":  # a quaternion has length 1
            fresh = view.copy()
            assign(name, fresh, value)
            parts = self.system.ready([*np.moveaxis(fresh, -1, 0)], view.dtype, name)
            value = np.stack(parts, axis=-1)
        assign(name, view, value)
        self._forget(*self._part(name)[:2])

    def _forget(self, first, count):
        """The rounding errors of components that were assigned: they are of the state before."""
        dim, dof = self.system.dim, self.system.dof
        if self._compensated:
            self._rows[-dim:][first : first + count] = 0.0
        if self.method.starts_from_positions and first != dof:  # of the difference to the past
            self._rows[dim + dof : dim + 2 * dof] = 0.0

    @property
    def y(self) -> Floats:
        return self._view("y")

    @y.setter
    def y(self, value: ArrayLike) -> None:
        self._assign("y", value)

    @property
    def x(self) -> Floats:
        return self._view("x")

    @x.setter
    def x(self, value: ArrayLike) -> None:
        self._assign("x", value)

    @property
    def v(self) -> Floats:
        return self._view("v")

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._assign("v", value)

    @property
    def previous(self) -> Floats:
        view = self._view("previous")
        if self._core.n == 0 and not self._has_history:
            raise ValueError(
                "there are no previous positions before the first step: give start=, or assign them"
            )
        return view

    @previous.setter
    def previous(self, value: ArrayLike) -> None:
        view = self._view("previous")

        def remember():
            assign("previous", view, value)
            self._forget(0, 0)
            self._has_history = True
            self._core.begin(self._core.n, True)

        self._core.alter(remember)

    # ---- failures ----
    @property
    def status(self) -> Integers:
        return self._failures.statuses(self._problem)

    @property
    def failed_step(self) -> Integers:
        """The first step not completed, -1 if none failed; ndarray of int64, shape (*batch)."""
        return self._failures.failed().steps(self._problem)

    # ---- results of watches and events ----
    @property
    def watched(self) -> Watched:
        from ..watching.watched import Watched

        if self._by_hand is None:
            return Watched({})
        ends = self._failures.steps(self._problem)
        return self._by_hand.watched(np.where(ends < 0, self.n, ends - 1))

    @property
    def events(self) -> Events:
        from ..watching.event_log import Events

        return Events({}) if self._by_hand is None else self._by_hand.events()

    @property
    def across(self) -> Across:
        from ..watching.batch.results import Across

        if self._counted is None:
            return Across({})
        self._counted.count(self)
        return self._counted.across()

    @property
    def stopped_at(self) -> Floats:
        return self._stopped(0)

    @property
    def stopped_by(self) -> Any:
        return self._stopped(1)

    def _stopped(self, which):
        stopped = self.status == Status.STOPPED
        if self._by_hand is not None:
            return self._by_hand.stopped(stopped)[which]
        return np.full(stopped.shape, "" if which else np.nan)

    @property
    def _failures(self):
        return self._core.alter(lambda: Failures(*(each.copy() for each in self._failed)))

    # ---- restart and restore ----
    def _system_now(self):
        """The system with the parameters that have been written; the others keep their doubles."""
        written = {}
        for name, view in self.params.items():
            given = self.system.params[name]
            new = view != in_dtype(given, view.dtype)
            if new.any():
                written[name] = np.where(new, view.astype(float), given)
        return self.system(**written) if written else self.system

    def reset(
        self,
        mask: ArrayLike = True,
        x0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
        *,
        seed: SupportsIndex | None = None,
    ) -> None:
        """Restart some trajectories, also failed ones; time and the others continue.

        Their status, watches and events start again, from the new state; noise goes on. A watch
        with ``every=k`` still counts the steps k, 2 k, ... of the Stepper.

        Parameters
        ----------
        mask : array_like of bool, broadcasts to (*batch)
        x0, v0 : array_like, optional
            As in ``pi.integrate``, over the whole batch; only what `mask` selects is used. Default:
            the state with which the Stepper was made.
        seed : int, optional
            Of other noise from here on: of all trajectories, which `mask` must select.

        Raises
        ------
        ValueError
            The method has a history, which a new start lacks; wrong arguments.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> stepper = pi.Stepper(pi.systems.pendulum, np.ones(3), 0.0, dt=0.01)
        >>> stepper.step(100)
        >>> stepper.reset([True, False, False])
        >>> (stepper.x == 1.0).tolist()
        [True, False, False]
        """
        if self._has_past:
            raise ValueError(f"reset: {_REMEMBERS}")
        problem = self._problem
        try:
            mask = np.asarray(mask)
        except ValueError as error:
            raise ValueError(f"mask must be a regular array: {error}") from None
        if mask.dtype != np.bool_:
            raise TypeError(
                f"mask must hold truth values, got {mask.dtype}: np.isin(np.arange(n), places) is"
                " the mask of trajectories by their places"
            )
        try:
            mask = np.broadcast_to(mask, problem.batch)
        except ValueError:
            raise ValueError(
                f"mask has shape {mask.shape}: it does not fit the batch {problem.batch}"
            ) from None
        if seed is not None:
            RandomNumbers.checked(self.system, problem.dt, seed)
            if not mask.all():
                raise ValueError("seed is of all trajectories: with it mask must select them all")
        values = self._begin
        if x0 is not None or v0 is not None:
            fresh, _ = make_run(
                self._alone, x0, v0, dt=1.0, n_steps=0, method=problem.method, dtype=problem.dtype,
                seed=problem.random and 0,
            )  # fmt: skip
            given = outward(fresh.initial[: self.system.dim, : fresh.lanes], fresh.batch)
            try:
                values = np.broadcast_to(given, self.y.shape)
            except ValueError:
                raise ValueError(
                    f"x0 and v0 have the batch shape {fresh.batch}: they do not fit the whole batch"
                    f" {problem.batch}, of which mask selects"
                ) from None

        system = None if self._by_hand is None else self._system_now()

        def restart():
            if seed is not None:
                self._param_rows[-1][SEED_ROWS] = np.array(seed_parts(seed))[:, np.newaxis]
            np.copyto(self.y, values, where=mask[..., np.newaxis])
            self._resets = self._resets + mask
            self._rows[self.system.dim :, np.flatnonzero(mask)] = 0.0
            size = np.float64(abs(self.y).max(axis=-1)).ravel()
            status = np.where(size <= self._bound, Status.OK, Status.OUT_OF_BOUNDS)
            status[~(size < np.inf)] = Status.NOT_FINITE
            which = mask.ravel()
            self._failed[0][which], self._failed[1][which] = status[which], self.n
            self._core.begin(self.n, self._has_history)
            if self._by_hand is not None:
                lanes = np.zeros(problem.stride, bool)
                lanes[: problem.lanes] = mask.ravel()
                self._by_hand.reset(lanes, system, self._rows, self.n, self._core.look)

        self._whole(restart)

    def snapshot(self) -> Snapshot:
        """Everything that the future depends on; ``restore`` returns to it exactly.

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

    def _arrays(self):
        """Every array that a step or a reset writes."""
        watched = [] if self._by_hand is None else self._by_hand.arrays()
        return [self._rows, *self._param_rows, *self._failed, *watched]

    def _whole(self, change):
        """Make a change that no interrupt can leave half done, while no step is running."""
        begun = []

        def all_of_it():
            begun.append(True)
            change()

        def again(error):
            if begun:
                self._core.alter(change)

        _core.shielded(lambda: self._core.alter(all_of_it), again)

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of this Stepper or of an equal one; ValueError for another.

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
        if snapshot.method != self.method:
            raise ValueError(f"the snapshot is of another method with the name {here[1]!r}")
        if snapshot.equations != (self.system.traced, self.system.shapes):
            raise ValueError(f"the snapshot is of another system with the name {here[0]!r}")
        if snapshot.meaning != meaning_of(self):
            raise ValueError(
                "the snapshot is of a Stepper with another start=, or with other watches, events or"
                " statistics of the same names"
            )
        for name, its, own in zip(("dt", "t0"), snapshot.times, (self.dt, self.t0)):
            if its is not own and not np.array_equal(its, own):
                told = "another one" if np.ndim(its) or np.ndim(own) else f"{its:g}, not {own:g}"
                raise ValueError(f"the snapshot is of a Stepper whose {name} is {told}")
        warn_of_change(self.method, snapshot.arithmetic)

        def go_back():
            self._restored += 1
            for array, kept in zip(self._arrays(), snapshot.arrays, strict=True):
                array[...] = kept
            self._has_history = snapshot.has_history
            self._core.begin(snapshot.n, snapshot.has_history)
            if self._counted is not None:
                self._counted.steps[:] = snapshot.counted

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
    """Handles of the method, and of the halves of its step if these can be called separately."""
    if method.family == "rigid_body":
        return (method.handle, *_core.rigid_phases(method.handle))
    phases = [("composition", len(rows[0]), 1, rows) for rows in _PHASES.get(method.name, ())]
    return (method.handle, *(_core.make_method(*phase) for phase in phases))


def _following(step, follow):
    """A step in which watches see the parameters that a user has changed before it."""

    def stepped(n=1):
        """Advance n steps, in place."""
        follow()
        step(n)

    return stepped
