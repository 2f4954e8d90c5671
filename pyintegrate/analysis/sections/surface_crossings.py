"""Crossings of a surface, during a run or between its saves; return maps, bifurcations."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial.chebyshev import chebval

from ...adaptive.dense_output import polynomials
from ...errors import warn_caller
from ...integration import integrate
from ...solution.interpolation import cubic, last_times, refuse_jumps, slopes
from ...values.checks import integer
from ...values.keywords import explains_keywords
from ...values.parameters import system_at, taken
from ...values.types import Any, ArrayLike, Callable, Floats, Integers, Mapping, Solution, System
from ...watching import reductions
from ...watching.analyses import named
from ...watching.events import event
from ...watching.quantity import check_quantity
from ...watching.saltation import rate_of
from ..accuracy import finite
from ..observables import again, batch_of, check_solution, times
from ..results import drawn_by, in_lanes, name_of, quiet, result_class
from .grid_scan import checked_axes, laid_out, warn_of_unresolved


@result_class
class Section:
    """Points of a Poincare section; ``section["x"]`` is a component of them.

    Attributes
    ----------
    y : ndarray
        (n, dim) states on the surface.
    t : ndarray
        (n,) their times.
    trajectory : ndarray of int
        (n,) flat indices into the batch.
    system : System
    batch : tuple of int
        The batch: ``numpy.unravel_index(section.trajectory, section.batch)``.
    values : ndarray or None
        (n, k): the additional values requested from `crossings`.
    watched : Watched or None
        What was watched in the run, as of a Solution.
    """

    y: Floats
    t: Floats
    trajectory: Integers
    system: Any
    batch: tuple = ()
    values: Any = None
    watched: Any = None

    def __getitem__(self, name: str) -> Floats:
        return self.y[:, _place(self.system, name)]

    plot = drawn_by("section")

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self):
        count = len(np.unique(self.trajectory))
        noun = "trajectory" if count == 1 else "trajectories"
        return f"<Section of {self.system.name}: {len(self)} points of {count} {noun}>"


@explains_keywords()
def poincare_section(
    solution: Solution, component: str, value: float = 0.0, *, direction: int = 1
) -> Section:
    """Points where the orbits of a solution cross a surface.

    Between two saves an orbit is approximated by the cubic with their states and velocities
    (Hermite), and within a step that ``solve`` kept by the method's polynomial; the crossing is
    located on it to rounding. Once in a period are ``solution.at(phase + period * n)``, or
    ``crossings(period=...)``, which also finds every turn of an angle.

    Parameters
    ----------
    solution : Solution
        Saved so often that an orbit crosses at most once between saves.
    component : str
        Name of the component that equals `value` on the surface.
    value : float, optional
    direction : {1, -1, 0}, optional
        Crossings upwards, downwards or both, in the order of the steps, also for a run backwards in
        time (dt < 0).

    Returns
    -------
    Section
        Points in order of trajectory, then time. Failed trajectories count until their failure.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments.

    References
    ----------
    Henon (1982), Physica D 5, 412, who steps onto the surface; Hermite interpolation needs
    no further step and is as good as a method of order three or four.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.01, t_end=20.0)
    >>> section = pi.analysis.poincare_section(sol, "x", direction=1)  # -cos(t') rises through 0
    >>> print(section.t.round(4))  # at 3/2 pi + 2 pi n
    [ 4.7124 10.9956 17.2788]
    """
    if hasattr(solution, "rhs"):
        raise TypeError(
            "poincare_section takes a Solution, got a System: without one,"
            " pi.analysis.crossings(system, 'x', x0, v0, dt=..., t_end=...)"
        )
    solution = check_solution(solution, "poincare_section")
    direction = integer("direction", direction, -1, 1)
    if len(solution) < 2:
        raise ValueError(
            "a section needs two saves or more: integrate with save='all' or save=k, or take"
            " pi.analysis.crossings, which needs no saves"
        )
    system = solution.system
    if len(solution.components) < system.dim:
        raise ValueError(
            f"a section needs all components ({', '.join(system.state_names)}), and "
            f"{', '.join(solution.components)} were saved: integrate without components"
        )
    batch = batch_of(solution)
    flat = solution.y.reshape(len(solution), math.prod(batch), system.dim)
    t, valid = (
        np.broadcast_to(one, (len(flat), *batch)).reshape(flat.shape[:2])
        for one in (times(solution), solution.valid)
    )
    if not solution._whole:  # the first save after the end of a trajectory has its last state
        ended = np.diff(valid, axis=0, prepend=False) & ~valid
        last = np.broadcast_to(last_times(solution), batch).ravel()
        t, valid = np.where(ended, last, t), valid | ended
    place = _place(system, component)
    value = finite("value", value)
    if np.ndim(value):
        raise ValueError(f"value must be one number, got the shape {np.shape(value)}")
    side = np.sign(flat[..., place].astype(float) - value)
    # Rises and falls, but for those of the other direction. A start on the surface does not cross.
    passed = [
        (sign * side[:-1] < 0) & (sign * side[1:] >= 0) for sign in (1, -1) if sign + direction
    ]
    crossed = np.any(passed, axis=0) & valid[1:]
    crossed &= t[1:] != t[:-1]  # all steps to a tolerance: both sides of a jump
    if getattr(solution, "_save", None) != "all":
        around = np.where(crossed, [t[:-1], t[1:]], np.nan)
        begin, end = around.reshape(2, len(t) - 1, *batch)
        refuse_jumps(solution, begin, end, "count the crossings by events= of integrate")
    lane, save = np.nonzero(crossed.T)
    begin, end = t[save, lane], t[save + 1, lane]
    y = _between(solution, flat, begin, end, save, lane)
    s = _root(lambda s: y(s, [place]) - value, len(save))
    return Section(y(s), begin + s[:, 0] * (end - begin), lane, system, batch)


def _place(system, name):
    if not isinstance(name, str) or name not in system.state_names:
        known = ", ".join(system.state_names) + "; crossings takes functions" * callable(name)
        raise ValueError(f"the system {system.name!r} has no component {name!r}: it has {known}")
    return system.state_names.index(name)


def _between(solution, flat, t0, t1, save, lane):
    """The motion after the chosen saves of the chosen trajectories, at shares (n, 1) of the time to
    the next ones: some components (n, k), or all."""
    if getattr(solution, "_save", None) == "all":  # the steps of a run to a tolerance
        c = polynomials(solution, lane, save)
        return lambda s, some=slice(None): chebval(2 * s - 1, c[..., some], tensor=False)
    start, stop = flat[save, lane].astype(float), flat[save + 1, lane].astype(float)
    width = (t1 - t0)[:, np.newaxis]
    ends = (t0, start), (t1, stop)
    system = system_at(solution.system, batch_of(solution), lane)
    parts = start, stop - start, *slopes(solution, system, ends, width)
    return lambda s, some=slice(None): cubic(s, *(part[:, some] for part in parts))


def _root(function, count):
    """Where functions on [0, 1] change sign, (count, 1), by bisection to the last bit."""
    low, high = np.zeros((count, 1)), np.ones((count, 1))
    rising = function(high) > function(low)
    for _ in range(53):
        middle = (low + high) / 2
        beyond = (function(middle) >= 0) == rising
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return high


FIRST_GUESS = 32  # crossings kept per trajectory at first; trajectories with more run again


@explains_keywords(integrate)
def crossings(
    system: System,
    quantity: str | Callable[..., Any] | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    direction: int = 1,
    value: ArrayLike = 0.0,
    period: ArrayLike | None = None,
    phase: ArrayLike = 0.0,
    after: ArrayLike | None = None,
    keep: int | None = None,
    values: Callable[..., Any] | None = None,
    params: Mapping[str, ArrayLike] | None = None,
    **options: Any,
) -> Section:
    """Crossings of a surface: a Poincare section that needs no saves.

    Each is located within its step to rounding, by repeating a part of the step. Memory is needed
    only for the crossings.

    Parameters
    ----------
    system : System
    quantity : str or callable, optional
        The quantity that is zero on the surface: a component, "energy", an invariant, or a function
        of (t, x, v) or (t, y) and any parameters. Give it or `period`. With
        direction=0, ``np.sin(x / 2)`` crosses once in every turn of an angle.
    x0, v0 : array_like, optional
        As in ``integrate``.
    dt, t_end : array_like
        As in ``integrate``, which also takes ``n_steps`` instead.
    direction : {1, -1, 0}, optional
        Upwards, downwards or both, in the order of the steps.
    value : array_like, optional
        Where a component crosses: a number, or one for each trajectory.
    period : array_like, optional
        Instead of a surface: the states at times phase + n period, as for a driven motion; may be
        one for each trajectory. A step must be shorter than half of it.
    phase : array_like, optional
        The first of these times, counted from 0.
    after : array_like, optional
        Crossings before this time are ignored, as transient, also a later one in the same step.
    keep : int, optional
        The number to keep for each trajectory; all by default, for which trajectories with many
        crossings run twice.
    values : callable, optional
        A tuple of numbers at each crossing, traced: `values` of the section.
    params : mapping of str to array_like, optional
        Numbers for the functions, besides the system's parameters.
    **options
        For ``integrate``: method, t0, workers, ...

    Returns
    -------
    Section

    Raises
    ------
    ValueError, TypeError
        For wrong arguments; a method that remembers earlier states.

    Warns
    -----
    RecordWarning
        The quantity changes too fast for the steps, or is NaN.

    References
    ----------
    Henon (1982), Physica D 5, 412.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> section = pi.analysis.crossings(pi.systems.oscillator, "x", dt=0.1, t_end=20.0,
    ...                                 method="dop853")
    >>> print(section.t.round(4))  # cos(t) rises through 0 at 3/2 pi + 2 pi n
    [ 4.7124 10.9956 17.2788]
    >>> bool(abs(section["v"] - 1).max() < 1e-12)
    True
    """
    if (quantity is None) == (period is None):
        raise ValueError(
            "give a quantity that is zero on the surface, crossings(system, 'x', ...), or a period"
        )
    phase = finite("phase", phase)
    if period is None and np.any(phase):
        raise ValueError(f"phase = {phase!r:.80} is of a period: give period=")
    if "save" in options or "events" in options:
        raise TypeError("crossings saves nothing and has its own event: use integrate(events=...)")
    if not hasattr({} if params is None else params, "keys"):
        raise TypeError(f"params must map names to numbers, got {type(params).__name__}")
    numbers = dict({} if params is None else params)
    if period is not None:
        dt, period = finite("dt", dt), finite("period", period)
        if not np.all(np.abs(period) > 2 * np.abs(dt)):
            raise ValueError(
                f"period must be longer than two steps, got {period!r:.80} for dt = {dt!r:.80}:"
                " take a smaller dt"
            )
        function, direction = _strobe, 1
        numbers |= {"_period": np.multiply(period, np.sign(dt)), "_phase": phase}
    else:
        function, numbers = _surface(system, quantity, value, numbers)

    def run(keep, numbers, after, arguments):
        one = event(function, direction, keep=keep, values=values, params=numbers, after=after)
        found = integrate(**arguments, **options, save="final", events={"section": one})
        return found, found.events["section"]

    start = {"system": system, "x0": x0, "v0": v0, "dt": dt, "t_end": t_end}
    solution, there = run(FIRST_GUESS if keep is None else keep, numbers, after, start)
    warn_of_unresolved(solution)
    if period is not None:
        _warn_of_period(solution, period)
    lanes, batch = np.arange(there.count.size), batch_of(solution)
    over = np.flatnonzero(there.overflow)
    parts = [_points(there, lanes)]
    if keep is None and over.size:
        most = int(there.count.max())
        if {"drive", "start"} & set(options):  # of the whole batch
            over = lanes
        else:
            numbers = {name: taken(number, batch, over) for name, number in numbers.items()}
            after = None if after is None else taken(after, batch, over)
            start = again(solution, over)
            options = {k: v for k, v in options.items() if k not in start}
            options["on_failure"] = "ignore"
        few = ~np.isin(parts[0][2], over)
        parts = [tuple(part[few] for part in parts[0])]
        parts.append(_points(run(most, numbers, after, start)[1], over))
    y, t, lane, kept = (np.concatenate(several) for several in zip(*parts))
    order = np.argsort(lane, kind="stable")
    told = None if values is None else kept[order]
    return Section(
        y[order], t[order], lane[order], solution.system, batch, told, solution.watched
    )  # fmt: skip


def _points(there, trajectory):
    """States, times, trajectories and values of the selected crossings."""
    t = there.t.reshape(len(trajectory), there.t.shape[-1])
    here = np.nonzero(~np.isnan(t))
    y, kept = (a.reshape(*t.shape, a.shape[-1])[here] for a in (there.y, there.values))
    return y, t[here], trajectory[here[0]], kept


def _warn_of_period(solution, period):
    """A word where a drive has another period: points would lie at any of its phases."""
    rate, y, turns = solution.system.rhs, solution.final, (0.1, 0.381966, 0.763932)
    with quiet():
        now, later = (
            np.stack([rate(solution.t0 + (turn + more) * np.asarray(period), y) for turn in turns])
            for more in (0, 1)
        )
        room = 1e-3 * np.ptp(now, axis=0) + 1e-9 * np.abs(now).max(axis=0)
        if np.any(np.abs(later - now).max(axis=0) > room):
            warn_caller(
                f"the force of {solution.system.name!r} does not repeat after the period= of its"
                " section: give the period of its drive, for each trajectory where they differ"
            )


def _strobe(t, y, _period, _phase):
    """Rises through zero at each phase + n period, and jumps down half a period later."""
    turns = (t - _phase) / _period
    return turns - np.rint(turns)


def _surface(system, quantity, value, numbers):
    """The quantity whose zero is the surface, and its parameters."""
    value = finite("value", value)
    if np.ndim(value) == 0 and value == 0:
        return quantity, numbers
    if not isinstance(quantity, str) or quantity not in system.state_names:
        raise ValueError(
            f"value is for components, and {quantity!r} is none: give a function of (t, x, v) or"
            " (t, y) that is zero on the surface"
        )
    place = system.state_names.index(quantity)
    return lambda t, y, _value: y[place] - _value, numbers | {"_value": value}


@result_class
class ReturnMap:
    """A quantity at each crossing, and at the next one.

    Attributes
    ----------
    now, then : ndarray
        (n,), (n,).
    trajectory : ndarray of int
        (n,) flat indices into the batch.
    quantity : str
    system : System
    """

    now: Floats
    then: Floats
    trajectory: Integers
    quantity: str
    system: Any

    plot = drawn_by("return_map")

    def __len__(self) -> int:
        return len(self.now)

    def __repr__(self):
        return f"<ReturnMap of {self.quantity} of {self.system.name}: {len(self)} points>"


def return_map(section: Section, quantity: str | int = 0) -> ReturnMap:
    """A quantity at each point of a section, and at the next point of the same trajectory.

    Parameters
    ----------
    section : Section
        From ``crossings`` or ``poincare_section``.
    quantity : str or int, optional
        A component, or the index of one of the section's `values`.

    Returns
    -------
    ReturnMap

    Raises
    ------
    ValueError, TypeError
        For an unknown component, or an argument that is no section.

    References
    ----------
    Lorenz (1963), J. Atmos. Sci. 20, 130: each maximum of z against the one before.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> top = lambda t, y, beta: y[0] * y[1] - beta * y[2]  # dz/dt
    >>> maxima = pi.analysis.crossings(pi.systems.lorenz, top, direction=-1, dt=0.01, t_end=60.0)
    >>> found = pi.analysis.return_map(maxima, "z")
    >>> bool((found.then[:-1] == found.now[1:]).all()), found.plot().get_xlabel()
    (True, 'z')
    """
    if not isinstance(section, Section):
        told = type(section).__name__
        raise TypeError(f"return_map takes a Section, of pi.analysis.crossings(...), got {told}")
    if isinstance(quantity, str):
        q, name = section[quantity], quantity
    elif section.values is None:
        name = section.system.state_names[integer("quantity", quantity, 0, section.y.shape[1] - 1)]
        q = section[name]
    else:
        place = integer("quantity", quantity, 0, section.values.shape[1] - 1)
        q, name = section.values[:, place], "value" if place == 0 else f"value {place}"
    lane = section.trajectory[1:]
    same = lane == section.trajectory[:-1]
    return ReturnMap(q[:-1][same], q[1:][same], lane[same], name, section.system)


EXTREMES = {"maxima": -1, "minima": 1, "extrema": 0}  # directions in which the rate passes zero


@result_class
class Bifurcation:
    """The values of a quantity at the crossings of a surface, for each value of a parameter.

    Attributes
    ----------
    parameter : str
    at : ndarray
        (n,): its values.
    values : ndarray
        (n, *batch, keep): the quantity, in the order of time; NaN where there were fewer crossings.
    count : ndarray of int
        (n, *batch): how many there were.
    quantity : str
    section : Section
        The crossings themselves, ordered by the parameter, then by time.
    ranges : ndarray
        (n, *batch): how far the quantity goes in all of the motion after the transient.
    where : str
        Where the quantity was taken: "at its maxima", "where y = 0", "once a period".
    """

    parameter: str
    at: Floats
    values: Floats
    count: Integers
    quantity: str
    section: Any
    ranges: Floats
    where: str = ""

    def periods(self, tolerance: float = 1e-3) -> np.ndarray:
        """After how many crossings the values repeat, (n, *batch); 0 if they do not, or drift.

        Parameters
        ----------
        tolerance : float
            Largest difference between values that are the same, as a share of the motion's own
            ``ranges``, or of a millionth of the largest value if the range is smaller than that.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> found = pi.analysis.bifurcation(
        ...     pi.systems.rossler, {"c": [2.5, 3.5, 4.0, 5.7]}, "x", dt=0.02, transient=1000.0,
        ...     t_end=1200.0, keep=32)
        >>> found.periods(0.01).tolist()
        [1, 2, 4, 0]
        """
        q, found = self.values, np.zeros(self.count.shape, int)
        least = 1e-6 * np.fmax.reduce(np.abs(q), axis=-1)
        room = tolerance * np.fmax(self.ranges, least)[..., np.newaxis]
        for k in range(q.shape[-1] // 2, 0, -1):
            apart = np.abs(q[..., k:] - q[..., :-k])
            again = ~(apart > room).any(axis=-1) & (self.count >= 2 * k)
            turns = [q[..., i::k] for i in range(k)]
            far = [np.fmax.reduce(one, axis=-1) - np.fmin.reduce(one, axis=-1) for one in turns]
            drifts = (np.stack(far, axis=-1) > room).any(axis=-1)
            found[again] = np.where(drifts, 0, k)[again]
        return found

    plot = drawn_by("bifurcation")

    def __repr__(self):
        told = f"{self.quantity} of {self.section.system.name} over {self.parameter}"
        none = np.count_nonzero(self.count == 0)
        none = f", {none:,} trajectories without any" if none else ""
        return f"<Bifurcation: {told}, {self.count.sum():,} points {self.where}{none}>"


@explains_keywords(crossings, integrate)
def bifurcation(
    system: System,
    axis: Mapping[str, ArrayLike],
    quantity: str | Callable[..., Any],
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    transient: ArrayLike,
    keep: int = 100,
    section: str | Callable[..., Any] | None = None,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    **options: Any,
) -> Bifurcation:
    """A bifurcation diagram: the long-term behaviour of a motion as a parameter changes.

    Parameters
    ----------
    system : System
    axis : mapping of str to array_like
        The parameter and its values, ``{"c": np.linspace(2, 6, 2000)}``.
    quantity : str or callable
        The quantity to draw: a component, or a function of (t, x, v) or (t, y) and any parameters.
    x0, v0 : array_like, optional
        As in ``integrate``: a batch of starts begins at each of the n values; starts of shape
        (n, 1) are one for each value.
    transient : array_like
        The time that is left out at the beginning.
    keep : int, optional
        Points to keep for each trajectory, from the end of the transient on.
    section : str or callable, optional
        Where the quantity is taken: its own "maxima" (default), "minima" or "extrema" (both), of
        any system whose force is a formula; or at the crossings of a surface, a component or a
        function, as in ``crossings``. For a driven motion give ``period=`` instead.
    dt, t_end : array_like
        As in ``integrate``, which also takes ``n_steps``. By default the run ends after `keep`
        periods, or after as long a time as the transient.
    **options
        For ``crossings`` (direction, value, period, phase) and ``integrate``.

    Returns
    -------
    Bifurcation
        With ``values`` (n, *batch, keep), ``count``, ``periods()`` and ``plot()``.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments.

    References
    ----------
    Strogatz (2015), Nonlinear Dynamics and Chaos, 12.3: Rossler's system.

    Examples
    --------
    The driven Duffing oscillator, once in each period of the drive:

    >>> import numpy as np, pyintegrate as pi
    >>> drives = np.array([0.2, 0.28, 0.29, 0.37])
    >>> found = pi.analysis.bifurcation(
    ...     pi.systems.duffing, {"gamma": drives}, "x", period=2 * np.pi / 1.2, dt=0.05,
    ...     transient=1500.0, keep=40)
    >>> found.values.shape, found.periods().tolist()
    ((4, 40), [1, 2, 4, 5])
    """
    grid, keep = checked_axes("axis", axis, system), integer("keep", keep, 1)
    if {"after", "values"} & set(options):
        raise TypeError("bifurcation decides on after and values itself, by transient and quantity")
    names = system.state_names
    if not callable(quantity) and not (isinstance(quantity, str) and quantity in names):
        raise ValueError(
            f"quantity must be a component of {system.name!r} ({', '.join(names)}) or"
            f" a function, got {quantity!r}"
        )
    extreme = section is None or isinstance(section, str) and section in EXTREMES
    if not extreme:
        try:
            check_quantity(section, system)
        except (TypeError, ValueError) as error:
            known = ", ".join(map(repr, EXTREMES))
            told = f"section must be {known} or a quantity, and {error}"
            raise type(error)(told) from None
    dt, t0 = finite("dt", dt), finite("t0", options.get("t0", 0.0))
    if len(grid) != 1:
        raise ValueError(f"axis must be one parameter and its values, got {', '.join(grid)}")
    (parameter,) = grid
    period = options.get("period")
    settled = np.abs(finite("transient", transient))
    where, surface = _where(section, options), section
    if period is None and extreme:
        options = {"direction": EXTREMES[str(section or "maxima")]} | options
        surface = rate_of(system, quantity)
    if t_end is None and options.get("n_steps") is None:
        length = settled + (settled if period is None else (keep + 1) * np.abs(period))
        options["n_steps"] = int(np.ceil(np.max(length / np.abs(dt))))
    arguments = laid_out(system, grid, x0, v0)
    own = quantity if callable(quantity) else None
    after = t0 + np.sign(dt) * settled
    low, high = "least after the transient", "most after the transient"
    ends = {low: reductions.minimum, high: reductions.maximum}
    ends = {name: one(quantity, after=after) for name, one in ends.items()}
    options["watch"] = named(options.get("watch") or {}) | ends
    found = crossings(
        quantity=surface, **arguments, dt=dt, t_end=t_end, after=after, keep=keep, values=own,
        **options,
    )  # fmt: skip
    ranges = found.watched[high] - found.watched[low]
    drawn = found.values[:, 0] if callable(quantity) else found[quantity]
    lanes = int(np.prod(found.batch))
    count = np.bincount(found.trajectory, minlength=lanes).reshape(found.batch)
    values = in_lanes(drawn.astype(float), found.trajectory, found.batch, keep)
    name = name_of(quantity)
    return Bifurcation(parameter, grid[parameter], values, count, name, found, ranges, where)


def _where(section, options):
    """Where the quantity is taken, in words, for its axis."""
    if options.get("period") is not None:
        return "once a period"
    if section is None or isinstance(section, str) and section in EXTREMES:
        return f"at its {section or 'maxima'}"
    name, value = name_of(section), options.get("value", 0)
    if name == "quantity" or np.ndim(value):
        return "at its section"
    return f"where {name} = {value:g}"
