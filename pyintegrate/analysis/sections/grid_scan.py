"""Motions that need no saves: scans over grids, exits of regions and first passages."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from numbers import Real
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...errors import Status, report_failures, warn_record
from ...integration import integrate
from ...run.arguments import checked_system, components_of
from ...values.checks import broadcast_shape, numbers
from ...values.keywords import explains_keywords
from ...values.table import Table, Tabled, batch_axes
from ...values.types import ArrayLike, Callable, Floats, Integers, Quantity, Solution, System
from ...watching import reductions
from ...watching.analyses import named
from ...watching.events import Event, EventPlan, event
from ...watching.reductions import Reduction
from ..results import drawn_by, name_of, result_class


@result_class
class Scan(Tabled):
    """A measure over a grid.

    Attributes
    ----------
    axes : dict of str to ndarray
        The values along each axis of the grid; ``scan["k"]`` is one of them.
    values : ndarray
        (*grid, *batch): the measure, with the grid's axes in the order of `axes`.
    measure : Reduction, Event or callable
    solution : Solution
        The run, with batch shape (*grid, *batch).
    """

    axes: dict
    values: Floats
    measure: Any
    solution: Any

    def __getitem__(self, name: str) -> Floats:
        if name not in self.axes:
            raise KeyError(f"the scan goes over {', '.join(self.axes)}, not {name!r}")
        return self.axes[name]

    plot = drawn_by("scan")

    def table(self) -> Table:
        """A row for each point of the grid."""
        size = " x ".join(f"{name} ({len(axis)})" for name, axis in self.axes.items())
        axes = self.axes | batch_axes(self.values.shape[len(self.axes) :])
        title = f"Scan of {self.solution.system.name} over {size}"
        return Table.of(title, axes, {"value": self.values})

    def __getstate__(self):
        """Of what was measured only the names, for pictures: functions are no data."""
        measure = copy(_only_name(self.measure))
        vars(measure).update({name: _only_name(one) for name, one in vars(measure).items()})
        return self.__dict__ | {"measure": measure}


def _only_name(value):
    return SimpleNamespace(__name__=name_of(value)) if callable(value) else value


@explains_keywords(integrate)
def scan(
    system: System,
    axes: Mapping[str, ArrayLike],
    measure: Reduction | Event | Callable[[Solution], Any],
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    **options: Any,
) -> Scan:
    """Measure a motion at each point of a grid of parameters, or of starts.

    Parameters
    ----------
    system : System
    axes : mapping of str to array_like
        Parameters of the system, or components of its start, and their values (n,). The grid is
        the product of all axes.
    measure : watch, event or callable
        ``pi.watch.max_abs("energy_error")`` and the like; an event, for the time of the first
        (for their number, with ``keep=0``); or a function of the Solution that returns (*grid). It
        gets only the final states, unless ``save=`` asks for more; of a trajectory that failed the
        last good one (``np.where(sol.status == 0, value, np.nan)`` leaves it out).
    x0, v0 : array_like, optional
        As in ``integrate``; the axes of a batch of starts come after those of the grid. Starts
        of shape (*grid, 1) are one for each point.
    dt, t_end : array_like
        As in ``integrate``, which also takes ``n_steps`` instead.
    **options
        For ``integrate``: method, workers, ...

    Returns
    -------
    Scan
        With ``axes``, ``values``, ``solution`` and ``plot()``.

    Raises
    ------
    ValueError, TypeError
        For an axis that is neither a parameter nor a component, or a measure of another shape.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> k, b = np.linspace(1, 90, 20), np.linspace(0, 3, 30)
    >>> found = pi.scan(pi.systems.spring, {"k": k, "b": b}, pi.watch.last("x"), dt=0.1, t_end=9.0)
    >>> found.values.shape, found.plot().get_xlabel()
    ((20, 30), 'k [N/m]')
    """
    grid = checked_axes("axes", axes, system)
    arguments = laid_out(system, grid, x0, v0) | {"dt": dt, "t_end": t_end}
    options = {"save": "final"} | options
    place, names = ("watch", named) if isinstance(measure, Reduction) else ("events", dict)
    if isinstance(measure, Reduction | Event):
        beside = names(options.get(place) or {})
        if "measure" in beside:
            raise ValueError(f"{place} has a 'measure', the name of that of scan: take another")
        options[place] = beside | {"measure": measure}
    elif not callable(measure):
        raise TypeError(
            "measure must be a watch, as pi.watch.max_abs('energy_error'), an event or a function"
            f" of the solution, got {measure!r}"
        )
    solution = integrate(**arguments, **options)
    if isinstance(measure, Reduction):
        values: Any = solution.watched["measure"]
    elif isinstance(measure, Event):
        warn_of_unresolved(solution)
        log = solution.events["measure"]
        values = log.first.t if measure.keep else log.count
    else:
        values = measure(solution)
    if isinstance(values, Reduction):
        name = f"pi.watch.{values.name}"
        raise TypeError(f"measure: call {name} with a quantity: {name}('energy_error')")
    values = np.asarray(values)
    batch = solution.final.shape[:-1]
    if values.shape[: len(batch)] != batch:
        raise ValueError(
            f"measure returned the shape {values.shape}, expected one number for each trajectory of"
            f" the batch {batch}: of saves (n_saved, *batch) take the last, or the largest"
        )
    return Scan(grid, values, measure, solution)


def checked_axes(word, axes, system):
    """Names and values of the axes of a grid, the argument `word`, as float arrays (n,)."""
    checked_system(system)
    if not isinstance(axes, Mapping) or not axes:
        raise TypeError(
            f"{word} must map names to values, {{'k': np.linspace(1, 9)}}, got {axes!r:.80}"
        )
    grid = {}
    for name, given in axes.items():
        if name not in system.params and name not in system.state_names:
            known = ", ".join([*system.params, *system.state_names])
            raise ValueError(
                f"{word}: {name!r} is no parameter and no component of {system.name!r}, which has"
                f" {known}"
            )
        values = numbers(f"{word}[{name!r}]", given)
        if values.ndim != 1 or not values.size:
            raise ValueError(f"{word}[{name!r}] must have the shape (n,), got {values.shape}")
        if system.shapes.get(name):
            raise ValueError(f"{word}: {name!r} is an array for each trajectory, not a number")
        grid[name] = values
    return grid


def laid_out(system, grid, x0, v0):
    """Arguments of ``integrate`` for the product of axes, before those of the batch."""
    components, shapes = components_of(system, x0, v0)
    others = {n: s for n, s in system.batch_shapes.items() if n not in grid}
    after = len(broadcast_shape(shapes | others))
    if broadcast_shape(shapes) == (*map(len, grid.values()), 1):  # a start for each point
        after -= len(grid)
    along = {}
    for i, (name, values) in enumerate(grid.items()):
        along[name] = values.reshape((-1,) + (1,) * (len(grid) - 1 - i + after))
    params = {name: along[name] for name in grid if name in system.params}
    placed = [name for name in grid if name not in system.params]
    if placed:
        for name in placed:
            components[system.state_names.index(name)] = along[name]
        x0, v0 = np.stack(np.broadcast_arrays(*components), axis=-1), None
    return {"system": system(**params) if params else system, "x0": x0, "v0": v0}


@result_class
class Passages:
    """When each trajectory of a batch first crossed a surface.

    Attributes
    ----------
    t : ndarray
        (*batch): the time, NaN if it never did.
    exit : ndarray of int
        (*batch): index of the surface, -1 for none.
    names : tuple of str
        The names of the surfaces.
    solution : Solution
        Each trajectory ends at its crossing: ``solution.final``. One that begins outside of a
        quantity's surface goes on to the next.
    """

    t: Floats
    exit: Integers
    names: tuple
    solution: Any

    @property
    def passed(self) -> np.ndarray:
        """Whether it crossed a surface, (*batch)."""
        return self.exit >= 0

    def remaining(self, t: ArrayLike) -> Floats:
        """The fraction of the batch that has not crossed within times t from the start, as t."""
        first = np.sort(np.abs(self.t - self._start)[self.passed])
        gone = np.searchsorted(first, np.abs(np.asarray(t, float)), side="right")
        return 1 - gone / max(1, self.t.size)

    @property
    def _start(self):
        return np.broadcast_to(self.solution.t0, self.t.shape)

    plot = drawn_by("passages")

    def __repr__(self):
        share = 100 * self.passed.mean() if self.t.size else 0.0
        name = self.solution.system.name
        return f"<Passages of {name}: {share:.3g} % of {self.t.size:,} trajectories>"


@explains_keywords(integrate)
def escape_times(
    system: System,
    outside: float | Quantity | Mapping[str, Quantity],
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    **options: Any,
) -> Passages:
    """When each trajectory leaves a region; it is stopped there.

    Parameters
    ----------
    system : System
    outside : float, str, callable or mapping of str to these
        A number: the exit is the first step at which a component is larger in magnitude, and the
        trajectory ends a step before it. This is by far the cheapest: trajectories that have left
        make room for the others. Or a quantity that is negative inside and positive outside, a
        component or a function of (t, x, v) or (t, y) and any parameters: the exit is located
        within the step. Or a condition (``lambda t, x, v: x @ x > 4``): the exit is the first step
        where it holds. A mapping from names to these gives several exits. Paths with noise leave
        earlier, between two states: see the bridges of ``first_passages`` and ``event``.
    x0, v0 : array_like, optional
        As in ``integrate``.
    dt, t_end : array_like
        As in ``integrate``, which also takes ``n_steps`` instead.
    **options
        For ``integrate``: method, workers, bound, ...

    Returns
    -------
    Passages
        Trajectories that begin outside leave at t0.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments; a method that remembers earlier states.

    Warns
    -----
    IntegrationWarning
        Trajectories that failed before they left; their times are NaN.
    RecordWarning
        A quantity changes too fast for the steps, or is NaN.

    Examples
    --------
    A stone thrown upwards rises above the ceiling, 3 m high, or does not:

    >>> import numpy as np, pyintegrate as pi
    >>> start = np.zeros((3, 3)), np.array([[1.0, 0, 7], [1, 0, 8], [1, 0, 9]])
    >>> left = pi.analysis.escape_times(
    ...     pi.systems.projectile, lambda t, x, v: x[2] - 3, *start, dt=0.1, t_end=2.0)
    >>> left.t.round(4), left.passed.tolist()
    (array([   nan, 0.5844, 0.4378]), [False, True, True])
    """
    options |= {"dt": dt, "t_end": t_end}
    if isinstance(outside, Real) and not isinstance(outside, bool):
        return _beyond(system, outside, x0, v0, options)
    exits: dict[str, Any] = dict(outside) if isinstance(outside, Mapping) else {"outside": outside}
    events = {name: event(what, direction=1, stop=True) for name, what in exits.items()}
    found = _passages(system, events, x0, v0, options)
    # Which began outside a run of no steps sees; conditions that hold at the start fire there.
    solution, located = found.solution, EventPlan(found.solution.system, events).located
    watch = {
        name: reductions.first(events[name].quantity)
        for name, is_number in zip(events, located)
        if is_number
    }
    start = integrate(
        solution.system, solution.initial, dt=solution.dt, t0=solution.t0, n_steps=0, watch=watch,
        save="final", on_failure="ignore", dtype=solution.initial.dtype, seed=solution.seed,
    )  # fmt: skip
    for name in watch:
        here = (start.watched[name] >= 0) & ((found.t != found._start) | ~found.passed)
        found.exit[here] = found.names.index(name)
        found.t[here] = found._start[here]
    return found


@explains_keywords(integrate)
def first_passages(
    system: System,
    quantity: Quantity,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    direction: int = 0,
    after: ArrayLike | None = None,
    bridge: bool = False,
    **options: Any,
) -> Passages:
    """When each trajectory first crosses a surface; it is stopped there.

    Parameters
    ----------
    system : System
    quantity : str or callable
        The quantity that is zero on the surface: a component, "energy", or a function of (t, x, v)
        or (t, y) and any parameters.
    x0, v0 : array_like, optional
        As in ``integrate``.
    dt, t_end : array_like
        As in ``integrate``, which also takes ``n_steps`` instead.
    direction : {-1, 0, 1}, optional
        Downwards, both or upwards.
    after : array_like, optional
        Crossings before this time are ignored, also a later one in the same step. A start on the
        surface never counts.
    bridge : bool, optional
        As in ``event``, for paths with noise: without it their first passages are found too late.
    **options
        For ``integrate``: method, workers, ...

    Returns
    -------
    Passages

    Raises
    ------
    ValueError, TypeError
        For wrong arguments; a method that remembers earlier states.

    Warns
    -----
    RecordWarning
        The quantity changes too fast for the steps, or is NaN.

    Examples
    --------
    A quarter of a pendulum's period, for small and large amplitudes:

    >>> import numpy as np, pyintegrate as pi
    >>> down = pi.analysis.first_passages(
    ...     pi.systems.pendulum, "theta", [0.1, 3.0], 0.0, dt=0.01, t_end=9.0)
    >>> bool(np.all(abs(4 * down.t / pi.systems.pendulum.period(down.solution.initial) - 1) < 1e-8))
    True
    """
    events = {"surface": event(quantity, direction, stop=True, after=after, bridge=bridge)}
    return _passages(system, events, x0, v0, {"dt": dt, "t_end": t_end} | options)


def _ended(system, x0, v0, options, **events):
    """The solution, with only its end."""
    for word in ("save", "events"):
        if word in options:
            raise TypeError(f"{word} is not for passages, which save nothing: use integrate")
    return integrate(system, x0, v0, **options, save="final", **events)


def warn_of_unresolved(solution):
    """A word where steps may have hidden events."""
    lost = np.any([log.unresolved for log in solution.events.values()], axis=0)
    if lost.any():
        warn_record(
            f"crossings of {np.count_nonzero(lost):,} of {lost.size:,} trajectories may be missing:"
            " a quantity changes too fast for the steps, or is NaN. Take a smaller dt"
        )


def _passages(system, events, x0, v0, options):
    solution = _ended(system, x0, v0, options, events=events)
    warn_of_unresolved(solution)
    by, t = np.asarray(solution.stopped_by), np.array(solution.stopped_at)
    exit = np.full(t.shape, -1)
    for i, name in enumerate(events):
        exit[by == name] = i
    return Passages(t, exit, tuple(events), solution)


def _beyond(system, bound, x0, v0, options):
    if "bound" in options:
        raise TypeError("the number that is left is the bound itself: leave bound= out")
    solution = _ended(system, x0, v0, {"on_failure": "ignore"} | options | {"bound": bound})
    left = solution.status == Status.OUT_OF_BOUNDS
    if "on_failure" not in options and np.any((solution.status != 0) & ~left):
        report_failures(solution, "warn")
    t = np.where(left, solution.t0 + solution.failed_step * solution.dt, np.nan)
    return Passages(t, np.where(left, 0, -1), ("outside",), solution)
