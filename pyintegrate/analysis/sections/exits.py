"""When and where trajectories leave a region, or first cross a surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Status
from ...integration import integrate
from ...values.keywords import explains_keywords
from ...watching import reductions
from ...watching.events import EventPlan, event
from ..results import drawn_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...system.system import System
    from ...values.types import ArrayLike, Floats

    Exit = str | Callable[..., Any]


@dataclass(frozen=True, eq=False)
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
        Each trajectory ends at its crossing: ``solution.final``.
    """

    t: np.ndarray
    exit: np.ndarray
    names: tuple
    solution: Any

    @property
    def passed(self) -> np.ndarray:
        """Whether it crossed a surface, (*batch)."""
        return self.exit >= 0

    def remaining(self, t: ArrayLike) -> Floats:
        """The fraction of the batch that has not crossed by the times t, of the shape of t."""
        first = np.sort(np.abs(self.t[self.passed] - self._start[self.passed]))
        gone = np.searchsorted(first, np.abs(np.asarray(t, dtype=float)), side="right")
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
    outside: float | Exit | Mapping[str, Exit],
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
        where it holds. A mapping from names to these gives several exits.
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
    if isinstance(outside, Real) and not isinstance(outside, bool):
        return _beyond(system, outside, x0, v0, {"dt": dt, "t_end": t_end} | options)
    exits: dict[str, Any] = dict(outside) if isinstance(outside, Mapping) else {"outside": outside}
    events = {name: event(what, direction=1, stop=True) for name, what in exits.items()}
    found = _passages(system, events, x0, v0, {"dt": dt, "t_end": t_end} | options)
    begun = _begun_outside(found.solution, events)
    for i, name in enumerate(found.names):
        here = begun[name] & ((found.t != found._start) | ~found.passed)
        found.exit[here] = i
        found.t[here] = found._start[here]
    return found


@explains_keywords(integrate)
def first_passages(
    system: System,
    quantity: Exit,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    direction: int = 0,
    after: ArrayLike | None = None,
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
        Crossings before this time are ignored. A start on the surface never counts.
    **options
        For ``integrate``: method, workers, ...

    Returns
    -------
    Passages

    Raises
    ------
    ValueError, TypeError
        For wrong arguments; a method that remembers earlier states.

    Examples
    --------
    A quarter of a pendulum's period, for small and large amplitudes:

    >>> import numpy as np, pyintegrate as pi
    >>> down = pi.analysis.first_passages(
    ...     pi.systems.pendulum, "theta", [0.1, 3.0], 0.0, dt=0.01, t_end=9.0)
    >>> bool(np.all(abs(4 * down.t / pi.systems.pendulum.period(down.solution.initial) - 1) < 1e-8))
    True
    """
    events = {"surface": event(quantity, direction, stop=True, after=after)}
    return _passages(system, events, x0, v0, {"dt": dt, "t_end": t_end} | options)


def _ended(system, x0, v0, options, **events):
    """The solution, with only its end."""
    options = {"on_failure": "ignore"} | options
    for word in ("save", "events"):
        if word in options:
            raise TypeError(f"{word} is not for passages, which save nothing: use integrate")
    return integrate(system, x0, v0, **options, save="final", **events)


def _passages(system, events, x0, v0, options):
    solution = _ended(system, x0, v0, options, events=events)
    by, t = np.asarray(solution.stopped_by), np.array(solution.stopped_at)
    exit = np.full(t.shape, -1)
    for i, name in enumerate(events):
        exit[by == name] = i
    return Passages(t, exit, tuple(events), solution)


def _beyond(system, bound, x0, v0, options):
    if "bound" in options:
        raise TypeError("the number that is left is the bound itself: leave bound= away")
    solution = _ended(system, x0, v0, options | {"bound": bound})
    left = solution.status == Status.OUT_OF_BOUNDS
    t = np.where(left, solution.t0 + solution.failed_step * solution.dt, np.nan)
    return Passages(t, np.where(left, 0, -1), ("outside",), solution)


def _begun_outside(solution, events):
    """Which trajectories began outside, for each exit: as seen by a run of no steps."""
    located = EventPlan(solution.system, events).located
    watch = {}
    for (name, one), is_number in zip(events.items(), located, strict=True):
        look = reductions.first if is_number else reductions.count
        watch[name] = look(one.quantity)
    start = integrate(
        solution.system, solution.initial, dt=solution.dt, t0=solution.t0, n_steps=0, watch=watch,
        save="final", on_failure="ignore", dtype=solution.initial.dtype,
    )  # fmt: skip
    return {
        name: start.watched[name] >= (0 if is_number else 1)
        for name, is_number in zip(events, located, strict=True)
    }
