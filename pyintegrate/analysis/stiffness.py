"""The largest stable step and the stiffest stable motion: by theory, or by simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..integration import integrate
from ..method.catalogue import find_method
from ..method.method import Method
from ..theory import stability
from ..values.table import Table, Tabled
from .accuracy import listed, suitable_methods
from .growth import step_excess, tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..method.method import Method
    from ..system.system import System
    from ..values.types import ArrayLike, Floats, Methods

DECADES, PER_DECADE = 12, 60  # of the first search, in both directions from 1
FINER = 41  # points of each further search
GAPS = 10  # places below the first explosion to search for narrow gaps of instability
EXPLODED = 1e6  # times the start: no stable oscillation reaches this


def stability_limit(method: str | Method) -> float:
    """Largest omega dt for which a method is stable on the undamped oscillator x'' = -omega^2 x.

    Parameters
    ----------
    method : str or Method

    Returns
    -------
    float
        0 if the solution grows at once, inf if it never does, nan for a method of rigid bodies.

    References
    ----------
    Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2; Hairer, Lubich, Wanner
    (2006), Geometric Numerical Integration, I.1.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.analysis.stability_limit("semi_implicit_euler")
    2.0
    """
    return stability.oscillator_limit(find_method(method))


def real_stability_limit(method: str | Method) -> float:
    """Largest x for which a method is stable on y' = -lambda y, lambda dt <= x.

    Parameters
    ----------
    method : str or Method

    Returns
    -------
    float or None
        None for a method of positions and velocities, which cannot step that equation.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> round(pi.analysis.real_stability_limit("rk4"), 4)
    2.7853
    """
    return stability.decay_limit(find_method(method))


def max_stiffness(
    methods: Methods | None,
    system: System,
    parameter: str = "k",
    *,
    dt: ArrayLike,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    n_steps: int = 2000,
    between: tuple[float, float] | None = None,
    rtol: float = 1e-6,
) -> Any:
    """Largest value of a parameter for which a motion does not explode, for each method.

    The step is actually taken, for all candidates at once, in a coarse search over many decades and
    finer ones around the first explosion. A linear system explodes if the matrix of one step
    has an eigenvalue outside the unit circle; any other if it fails or exceeds a million times
    its start within `n_steps`.

    Parameters
    ----------
    methods : str, Method, sequence of them, or None
        One, or several; None: all that fit the system.
    system : System
        Whose other parameters may be arrays: the result has their broadcast shape.
    parameter : str, optional
        The name of the varied parameter, "k" by default.
    dt : array_like
        Step, in the unit of time of the system.
    x0, v0 : array_like, optional
        Start of a nonlinear system, as in `integrate`.
    n_steps : int, optional
        Steps within which a nonlinear system has to explode.
    between : tuple of float, optional
        Where to search; by default twelve decades around 1 either way.
    rtol : float, optional
        Relative precision.

    Returns
    -------
    float, ndarray or MaxStiffness
        For one method the largest value, (*batch); for several a mapping from their names. 0 if
        the motion explodes at any value, inf if it never does.

    Raises
    ------
    ValueError, TypeError
        For an unknown parameter or method, or one that does not fit the system.

    Examples
    --------
    A spring of 1 kg at 100 steps a second: semi-implicit Euler is stable up to omega dt = 2.

    >>> import pyintegrate as pi
    >>> spring = pi.systems.spring(b=0.0)
    >>> k = pi.analysis.max_stiffness("semi_implicit_euler", spring, dt=0.01)
    >>> print(f"{k:.1f} N/m")
    40000.0 N/m
    """
    if parameter not in system.params:
        names = ", ".join(system.params)
        raise ValueError(f"{system.name!r} has no parameter {parameter!r}: it has {names}")
    if np.ndim(system.params[parameter]):
        raise ValueError(
            f"parameter {parameter} is searched for: give the system a single {parameter}, got an "
            f"array of shape {np.shape(system.params[parameter])}"
        )
    low, high = between or (10.0**-DECADES, 10.0**DECADES)
    if not 0 < low < high:
        raise ValueError(f"between must be two positive numbers, ascending, got {between}")
    several = not isinstance(methods, str | Method)
    if methods is None:
        chosen = suitable_methods(system)
    else:
        chosen = [find_method(method) for method in listed(methods)]
    batch = np.broadcast_shapes(np.shape(dt), *system.batch_shapes.values())
    found = {}
    for method in chosen:
        if is_linear(system, method, np.min(np.abs(dt))):
            excess, least = _grows(system, method, parameter, dt), tolerance(method)
        else:
            excess, least = _runs_away(system, method, parameter, dt, x0, v0, n_steps), 0.0
        found[method.name] = _first(excess, least, low, high, batch, rtol)
    if not several:
        return found[chosen[0].name]
    return MaxStiffness(found, system, parameter, dt)


class MaxStiffness(Tabled, Mapping[str, Any]):
    """Largest stable parameter by method, made by `max_stiffness`; shows itself as a table."""

    def __init__(self, found, system, parameter, dt):
        self._found = dict(found)
        self.system, self.parameter, self.dt = system, parameter, dt

    def __getitem__(self, name: str) -> Floats:
        return self._found[find_method(name).name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def table(self) -> Table:
        """The limits, also per force evaluation: the stability of a method for its cost.

        Returns
        -------
        Table
        """
        unit = self.system.units.get(self.parameter, "")
        time = self.system.units.get("t", "")
        unit = f" [{unit}]" if unit and unit != "1" else ""
        rows = []
        for name, value in self._found.items():
            method = find_method(name)
            # k dt^2 matters: at equal work a method with n evaluations takes n times longer steps.
            fair = np.asarray(value) / max(method.evaluations, 1) ** 2
            rows.append([name, _extent(value), str(method.evaluations), _extent(fair)])
        step = f"dt = {_extent(self.dt)} {time}".rstrip()
        columns = ["method", f"largest {self.parameter}{unit}", "evaluations", "at equal work"]
        note = "at equal work: the step as many times longer as the method evaluates the force"
        return Table(f"{self.system.title}, {step}", columns, rows, note)


def is_linear(system, method, dt):
    """Whether one step of a system is a linear map, as tested on three states.

    Parameters
    ----------
    system : System
    method : Method
    dt : float

    Returns
    -------
    bool

    Examples
    --------
    >>> import pyintegrate as pi
    >>> is_linear(pi.systems.spring, pi.methods["rk4"], 0.1)
    True
    >>> is_linear(pi.systems.pendulum, pi.methods["rk4"], 0.1)
    False
    """
    a, b = np.random.default_rng(7).uniform(0.5, 1.5, (2, system.dim))
    first = {
        name: np.asarray(system.params[name])[(0,) * len(shape)]
        for name, shape in system.batch_shapes.items()
    }
    start = np.stack([0 * a, a, b, a + 2 * b])
    options = {"n_steps": 1, "method": method, "save": "final", "on_failure": "ignore"}
    with np.errstate(all="ignore"):
        still, one, two, both = integrate(system(**first), start, dt=dt, **options).final
        return bool(
            np.all(np.abs(still) < 1e-12) and np.allclose(one + 2 * two, both, rtol=1e-9, atol=1e-9)
        )


def _grows(system, method, parameter, dt):
    """How far outside stability a linear system is, for values (n, *batch)."""
    return lambda values: step_excess(system(**{parameter: values}), method, dt)


def _runs_away(system, method, parameter, dt, x0, v0, n_steps):
    """1 if a motion exceeds a million times its start, else -1, for values (n, *batch)."""
    start = integrate(system, x0, v0, dt=1e-9, n_steps=0, method=method).initial
    bound = EXPLODED * max(1.0, float(np.max(np.abs(start), initial=0.0)))

    def excess(values):
        run = {"dt": dt, "n_steps": n_steps, "method": method, "save": "final", "bound": bound}
        solution = integrate(
            system(**{parameter: values}), x0, v0, **run, on_failure="ignore", workers=-1
        )
        return np.where(solution.status != 0, 1.0, -1.0)

    return excess


def _first(excess, least, low, high, batch, rtol):
    """Where an excess first exceeds the tolerance, as a value grows from low to high, (*batch).

    First a coarse search; then a climb to the highest peaks below the first explosion, since a gap
    of instability may be narrower than the search; then bisection of the edge.
    """
    count = int(np.ceil(np.log10(high / low) * PER_DECADE)) + 1
    values = np.geomspace(low, high, count).reshape(-1, *(1,) * len(batch))
    values = np.broadcast_to(values, (count, *batch))
    height = np.broadcast_to(excess(values), values.shape)
    bad = height > least
    never, first = ~bad.any(axis=0), bad.argmax(axis=0)
    first = np.where(never, count, first)
    below = np.take_along_axis(values, np.clip(first - 1, 0, None)[np.newaxis], 0)[0]
    above = np.take_along_axis(values, np.clip(first, None, count - 1)[np.newaxis], 0)[0]

    number = np.arange(1, count - 1).reshape(-1, *(1,) * len(batch))
    lowest = np.minimum(height[:-2], height[2:])
    peak = (height[1:-1] >= height[:-2]) & (height[1:-1] > height[2:]) & (number < first)
    with np.errstate(invalid="ignore"):  # inf - inf
        peak &= height[1:-1] - lowest > 1e-9  # the rest is rounding
    order = np.argsort(np.where(peak, height[1:-1], -np.inf), axis=0)[::-1][:GAPS]
    for place in order:
        is_peak = np.take_along_axis(peak, place[np.newaxis], 0)[0]
        if not is_peak.any():
            break
        start = np.take_along_axis(values, place[np.newaxis], 0)[0]
        top, high_up = _climb(
            excess, start, np.take_along_axis(values, place[np.newaxis] + 2, 0)[0]
        )
        gap = is_peak & (high_up > least) & (top < above)
        below, above, never = np.where(gap, start, below), np.where(gap, top, above), never & ~gap
    always = (first == 0) & ~never
    while np.any(above / below - 1 > rtol):
        values = _between(below, above)
        index = np.clip((excess(values) > least).argmax(axis=0), 1, FINER - 1)[np.newaxis]
        below = np.take_along_axis(values, index - 1, 0)[0]
        above = np.take_along_axis(values, index, 0)[0]
    limit = np.sqrt(below * above)
    # A method that grows at any value, however slowly, has no limit: growth that only
    # decreases below it is not the edge of a stable region.
    creeps = excess((0.8 * limit)[np.newaxis])[0] > least / 100 if least else False
    return np.where(always | (creeps & ~never), 0.0, np.where(never, np.inf, limit))[()]


def _climb(excess, low, high):
    """The highest point between two values, and its height."""
    for _ in range(5):
        values = _between(low, high)
        height = excess(values)
        best = np.clip(height.argmax(axis=0), 1, FINER - 2)[np.newaxis]
        low, top, high = (np.take_along_axis(values, best + i, 0)[0] for i in (-1, 0, 1))
    return top, np.take_along_axis(height, best, 0)[0]


def _between(low, high):
    """Values between two, (FINER, *batch), in equal ratios."""
    share = np.linspace(0, 1, FINER).reshape(-1, *(1,) * np.ndim(low))
    return np.exp(np.log(low) + share * np.log(high / low))


def _extent(values):
    values = np.asarray(values, dtype=float)
    if values.size == 0:
        return "-"
    least, most = f"{values.min():.6g}", f"{values.max():.6g}"
    return least if least == most else f"{least} .. {most}"
