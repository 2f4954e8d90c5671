"""Growth in a step, regions of stability, the largest stable step, the stiffest stable motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..integration import integrate
from ..method.catalogue import find_method
from ..method.method import Method
from ..run.arguments import check_structure, checked_system
from ..system.catalogue import systems
from ..theory import multistep_stability, stability
from ..theory.stability_function import has_stability_function, stability_function
from ..values.checks import integer, numbers, positive
from ..values.keywords import explains_keywords
from ..values.parameters import ones_of_batch
from ..values.table import Table, extent
from ..values.types import ArrayLike, Booleans, Floats, Methods, System
from .accuracy import evaluations_a_step, finite, suitable_methods
from .observables import at
from .results import ByMethod, drawn_by, quiet, result_class, with_unit

GROWING = 1e-12  # growth in a step beyond which a motion explodes: twenty times what rounding adds
SOLVED = 1e-9  # the same for implicit methods, whose equations are solved to a tolerance
MEETING = 1e-7  # the same for double roots


def step_growth(system, method, dt):
    """Largest factor by which one step can make a motion of a linear system grow.

    This is the spectral radius of the matrix of one step, found by taking the step from each unit
    vector. A method that remembers earlier steps has no such matrix; the roots of its
    characteristic polynomial at the eigenvalues of the system take its place.

    Parameters
    ----------
    system : System
        Linear, with parameters of the batch shape.
    method : str or Method
    dt : array_like
        Step, (*batch).

    Returns
    -------
    ndarray
        (*batch); inf if the step overflows.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(f"{step_growth(pi.systems.oscillator, 'explicit_euler', 0.1):.6f}")  # sqrt(1.01)
    1.004988
    """
    method = find_method(method)
    if method.self_starting:
        matrix, failed = _matrix(system, method, dt)
        return np.where(failed, np.inf, _spectral_radius(matrix))[()]
    return _root_growth(system, method, dt)


def _root_growth(system, method, dt):
    """Growth of a multistep method, for every eigenvalue of the Jacobian, times dt."""
    check_structure(method, system)
    batch = _batch(system, dt)
    J, dt = system.jacobian(0.0, np.zeros((*batch, system.dim))), np.asarray(dt)[..., np.newaxis]
    if method.derivative == 2:
        z = -np.linalg.eigvals(J[..., system.dof :, : system.dof]) * dt**2
    else:
        z = np.linalg.eigvals(J) * dt
    return multistep_stability.growth(method, z).max(axis=-1)


def step_excess(system, method, dt):
    """How far the step of a linear system is outside stability: positive if it explodes.

    For two components, with trace T and determinant D of the step, the larger of D - 1 and
    (|T| - 1 - D) / 2 (Jury's conditions): smooth where eigenvalues meet, unlike their size, so
    that a narrow gap of instability shows from afar. Otherwise the growth minus one.

    Parameters
    ----------
    system, method, dt
        As in `step_growth`.

    Returns
    -------
    ndarray
        (*batch), inf if the step overflows.

    References
    ----------
    Jury (1964), Theory and Application of the z-Transform Method.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> bool(step_excess(pi.systems.oscillator, "velocity_verlet", 1.9) < 0)
    True
    """
    method = find_method(method)
    if system.dim != 2 or not method.self_starting:
        return step_growth(system, method, dt) - 1
    matrix, failed = _matrix(system, method, dt)
    with quiet():
        trace, product = _trace_and_determinant(matrix)
        real = (np.abs(trace) - 1 - product) / 2
        # For an undamped spring D = 1 up to rounding, which must not hide the other condition.
        excess = np.where(product - 1 > GROWING / 100, np.maximum(product - 1, real), real)
    return np.where(failed | np.isnan(excess), np.inf, excess)[()]


def spring_growth(method, stiffness, damping):
    """Largest growth of a damped spring in one step.

    Runge-Kutta: the larger of |R(z)| at the eigenvalues z of the spring times dt, with
    R(z) = 1 + z b (1 - z A)^-1 1. Multistep: the largest root of the characteristic polynomial
    at these z. Other methods: the eigenvalues of the step itself.

    Parameters
    ----------
    method : str or Method
    stiffness, damping : array_like
        k dt^2 / m and b dt / m, which broadcast.

    Returns
    -------
    ndarray
        Of the broadcast shape; the spring explodes if it is larger than 1.

    Raises
    ------
    ValueError
        Damping, with a method whose force must not depend on the velocity.

    References
    ----------
    Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2-3.

    Examples
    --------
    >>> print(f"{spring_growth('semi_implicit_euler', 4.01, 0.0):.3f}")  # stable up to 4
    1.105
    """
    method = find_method(method)
    shape = np.broadcast_shapes(np.shape(stiffness), np.shape(damping))
    stiffness, damping = (np.broadcast_to(a, shape or (1,)) for a in (stiffness, damping))
    if method.velocity_free:
        if np.any(damping):
            raise ValueError(
                f"damping must be 0: method {method.name!r} is for forces that do not depend on"
                " the velocity"
            )
        oscillator = systems["oscillator"](omega=np.sqrt(stiffness))
        return step_growth(oscillator, method, 1.0).reshape(shape)[()]
    root = np.sqrt(damping.astype(complex) ** 2 / 4 - stiffness)
    z = np.stack([root, -root]) - damping / 2
    if method.family == "multistep":
        # Of complex ones the second is the mirror image.
        found = multistep_stability.growth(method, z[0])
        real = root.imag == 0
        found[real] = np.maximum(found[real], multistep_stability.growth(method, z[1][real]))
    elif has_stability_function(method):
        found = np.abs(amplification(method, z)).max(axis=0)
    else:
        found = step_growth(systems["spring"](k=stiffness, b=damping, m=1.0), method, 1.0)
    return found.reshape(shape)[()]


def amplification(method, z):
    """Stability function R(z) of a Runge-Kutta or Rosenbrock method: a step of y' = z / dt y.

    Parameters
    ----------
    method : Method
    z : array_like of complex

    Returns
    -------
    ndarray of complex
        Of the shape of z.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(f"{amplification(pi.methods['midpoint'], -1.0).real:.3f}")  # 1 + z + z^2/2
    0.500
    """
    z = np.asarray(z, dtype=complex)
    with quiet():
        P, Q = (np.polyval([*map(float, p[::-1])], z) for p in stability_function(method))
        return np.where(Q == 0, np.inf, P / Q)


def tolerance(method):
    """Growth in a step that exceeds rounding and the errors of implicit solvers.

    Double roots on the unit circle, as in symmetric methods and in all methods for second
    derivatives, move by the square root of rounding.
    """
    if method.family == "multistep" and (method.symmetric or method.derivative == 2):
        return MEETING
    return SOLVED if method.implicit else GROWING


def _solving_error(system, method, dt):
    """The rounding of an implicit step of a linear system, which its stiffness enlarges."""
    if not method.implicit:
        return 0.0
    rates = np.abs(system.jacobian(0.0, np.zeros(system.dim))).max(axis=(-2, -1))
    return 4 * np.finfo(float).eps * rates * np.abs(dt)


# ---- the matrix of a step ------------------------------------------------------------------------


def _batch(system, dt):
    return np.broadcast_shapes(np.shape(dt), *system.batch_shapes.values())


def _matrix(system, method, dt):
    """Matrix of a step (*batch, dim, dim), and where it failed."""
    batch = _batch(system, dt)
    unit = np.eye(system.dim).reshape(system.dim, *(1,) * len(batch), system.dim)
    options = {"dt": dt, "n_steps": 1, "method": method, "save": "final"}
    solution = integrate(system, unit, **options, on_failure="ignore")
    failed = np.any(solution.status != 0, axis=0)
    return np.moveaxis(solution.final, 0, -1).astype(float), failed


def _trace_and_determinant(matrix):
    """Those of (..., 2, 2)."""
    (a, b), (c, d) = np.moveaxis(matrix, (-2, -1), (0, 1))
    return a + d, a * d - b * c


def _spectral_radius(matrix):
    """Largest absolute value of the eigenvalues of (..., n, n)."""
    with quiet():
        if matrix.shape[-1] == 2:  # exact on the unit circle, where a general solver rounds
            trace, product = _trace_and_determinant(matrix)
            inside = (trace / 2) ** 2 - product
            real = np.abs(trace / 2) + np.sqrt(np.maximum(inside, 0))
            return np.where(inside < 0, np.sqrt(np.abs(product)), real)
        return np.abs(np.linalg.eigvals(matrix)).max(axis=-1)


LEAST, FAR = 0.01, 40.0  # sizes looked for: a region that reaches farther is unbounded
UNBOUNDED_VIEW = (-7.0, 7.0, -7.0, 7.0)


@result_class
class StabilityRegion:
    """Growth in one step over the plane of z = lambda dt; stable where it is at most 1.

    Attributes
    ----------
    method : Method
    real, imaginary : ndarray
        (n,), (m,): the grid.
    growth : ndarray
        (m, n): the largest growth of a damped oscillator with eigenvalues lambda and its
        conjugate. For a Runge-Kutta method that is |R(z)|.
    stable : ndarray of bool
        (m, n).
    """

    method: Any
    real: Floats
    imaginary: Floats
    growth: Floats
    stable: Booleans

    plot = drawn_by("stability_region")

    def __repr__(self):
        share = f"{100 * self.stable.mean():.0f} % of the grid"
        return f"<StabilityRegion of {self.method.name}: {self.growth.shape} points, {share}>"


def stability_region(
    method: str | Method,
    *,
    extent: tuple[float, float, float, float] | None = None,
    points: int = 201,
) -> StabilityRegion:
    """Where a step of a method does not make a damped oscillation grow.

    The oscillator x'' = -|lambda|^2 x + 2 Re(lambda) v has the eigenvalues lambda and conj(lambda):
    on the imaginary axis it is undamped, on the real axis critically damped. A Runge-Kutta method
    multiplies it by R(z), z = lambda dt; a multistep method by the roots of its characteristic
    polynomial; any other method by the eigenvalues of its step on this oscillator. (In a
    composition the damping acts in the kicks.)

    Parameters
    ----------
    method : str or Method
    extent : tuple of float, optional
        Least and greatest Re z, least and greatest Im z; the region itself by default.
    points : int, optional
        Along each axis.

    Returns
    -------
    StabilityRegion

    Raises
    ------
    ValueError
        A method whose force must not depend on the velocity, or a wrong extent.

    References
    ----------
    Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2 and V.1.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> region = pi.analysis.stability_region("explicit_euler")  # the disc |1 + z| <= 1
    >>> z = region.real + 1j * region.imaginary[:, np.newaxis]
    >>> bool(np.array_equal(region.stable, abs(1 + z) <= 1 + 1e-9))
    True
    """
    method = find_method(method)
    if method.velocity_free:
        raise ValueError(
            f"method {method.name!r} has no region of stability: its force must not see the"
            " velocity, and that of a damped oscillator does; see its stability_limit"
        )
    if extent is None:
        extent = _extent(method)
    sides = numbers("extent", extent)
    if sides.shape != (4,) or not (sides[0] < sides[1] and sides[2] < sides[3]):
        raise ValueError(f"extent must be (left, right, bottom, top), got {extent!r}")
    points = integer("points", points, 2)
    real, imaginary = (np.linspace(low, high, points) for low, high in sides.reshape(2, 2))
    growth = _growth(method, real, imaginary)
    return StabilityRegion(method, real, imaginary, growth, growth <= edge_of(method))


def edge_of(method):
    """The growth up to which a step is stable."""
    return 1 + max(tolerance(method), 1e-9)


def _growth(method, real, imaginary):
    z = real + 1j * imaginary[:, np.newaxis]
    return spring_growth(method, np.abs(z) ** 2, -2 * z.real)


def _extent(method):
    """The box around the region, with a margin; a fixed one if it is unbounded."""
    up = np.r_[0.0, np.geomspace(LEAST, FAR, 140)]  # finer than the margin
    grid = np.r_[-up[:0:-1], up]
    stable = _growth(method, grid, up) <= edge_of(method)  # the lower half is its mirror image
    stable = stable[1:] & stable[:-1]  # whole cells: a marginal line is no region
    stable = stable[:, 1:] & stable[:, :-1]
    if stable[:, 0].any() or stable[-1].any():
        return UNBOUNDED_VIEW
    left, right, top = -1.5, 0.5, 1.5  # if the region is only a line
    if stable.any():
        rows, columns = (np.flatnonzero(stable.any(axis=axis)) for axis in (1, 0))
        left, right, top = grid[columns[0]], max(grid[columns[-1] + 1], 0), up[rows[-1] + 1]
    margin = 0.12 * max(right - left, 2 * top)
    return left - margin, right + margin, -top - margin, top + margin


DECADES, PER_DECADE = 12, 60  # of the first search, both ways from 1 or _middle
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
        0 if the solution grows at once, inf if it never does, nan for rigid bodies or planets.

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


@explains_keywords()
def max_stiffness(
    methods: Methods | None,
    system: System,
    parameter: str = "k",
    *,
    dt: ArrayLike,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    n_steps: int = 2000,
    rtol: float = 1e-6,
) -> Any:
    """Largest value of a parameter up to which a motion does not explode, for each method.

    The step is actually taken, for all candidates at once, in a coarse search over many decades and
    finer ones around the first explosion. A linear system, constant in time, explodes if the matrix
    of one step has an eigenvalue outside the unit circle; any other if it fails within
    `n_steps`, or is then a million times as large as its start.

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
    rtol : float, optional
        Relative precision.

    Returns
    -------
    float, ndarray or MaxStiffness
        For one method the largest value, (*batch); for several a mapping from their names. 0 if
        the motion explodes however small the value is, inf if it never does.

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
    if str(parameter) not in checked_system(system).params:
        names = ", ".join(system.params)
        raise ValueError(f"{system.name!r} has no parameter {parameter!r}: it has {names}")
    if np.ndim(system.params[parameter]):
        raise ValueError(
            f"parameter {parameter} is searched for: give the system a single {parameter}, got an "
            f"array of shape {np.shape(system.params[parameter])}"
        )
    rtol = max(positive("rtol", rtol), 1e-14)
    chosen = suitable_methods(system, methods)
    dt = finite("dt", dt)
    batch = _batch(system, dt)
    found, linear = {}, is_linear(system, parameter)
    for method in chosen:
        limit = np.empty(batch)
        if linear.any():
            least = tolerance(method)

            def excess(values, method=method):
                made = system(**{parameter: values})
                return step_excess(made, method, dt) - _solving_error(made, method, dt)

            middle = _middle(system, parameter, dt, np.zeros(system.dim))
            limit = _first(excess, least, np.broadcast_to(middle, batch), rtol)
        if not linear.all():
            excess, start = _runs_away(system, method, parameter, dt, x0, v0, n_steps)
            middle = _middle(system, parameter, dt, start)
            other = _first(excess, 0.0, np.broadcast_to(middle, batch), rtol)
            limit = np.where(linear, limit, other)
        found[method.name] = limit[()]
    if isinstance(methods, str | Method):
        return found[chosen[0].name]
    run = {"x0": x0, "v0": v0, "n_steps": n_steps, "rtol": rtol}
    return MaxStiffness(found, chosen, system, parameter, dt, run)


class MaxStiffness(ByMethod[Floats]):
    """Largest stable parameter by method, made by `max_stiffness`; shows itself as a table."""

    def __init__(self, found, chosen, system, parameter, dt, run):
        self._found, self._chosen, self._run = found, chosen, run
        self.system, self.parameter, self.dt = system, parameter, dt

    def table(self) -> Table:
        """The limits, also at equal work: the stability of a method for its cost.

        Returns
        -------
        Table
        """
        units, rows = self.system.units, []
        for method in self._chosen:
            cost, fair = evaluations_a_step(self.system, method), self[method.name]
            row = [method.name, extent(fair), f"{cost}"]
            if cost > 1:
                run = self._run | {"dt": self.dt * cost}
                fair = max_stiffness(method, self.system, self.parameter, **run)
            rows.append([*row, extent(fair)])
        step = f"dt = {extent(self.dt)} {units['t']}".rstrip()
        largest = with_unit(f"largest {self.parameter}", units.get(self.parameter, ""))
        columns = ["method", largest, "evaluations", "at equal work"]
        note = "at equal work: the step as many times longer as the method evaluates the force"
        return Table(f"{self.system.title}, {step}", columns, rows, note)


def is_linear(system, parameter):
    """Whether the right-hand side is linear in the state, and free of time, as tested on three
    states of several sizes at some times: whatever a parameter is, (*batch).

    Parameters
    ----------
    system : System
    parameter : str

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> bool(is_linear(systems["spring"], "k")), bool(is_linear(systems["pendulum"], "g"))
    (True, False)
    """
    ones = ones_of_batch(system)
    a, b = np.random.default_rng(7).uniform(0.5, 1.5, (2, system.dim))
    t = np.array([0.0, 0.3, 7.0, 1e3, 1e20]).reshape(-1, 1, *ones)
    powers = np.mgrid[-40:41:10, -30:31:10].reshape(2, -1)  # of values, and of sizes in any unit
    values, sizes = 10.0 ** powers.reshape(2, -1, *ones)
    y = np.stack([0 * a, a, b, a + 2 * b]).reshape(4, 1, 1, *ones, -1) * sizes[..., np.newaxis]
    with quiet():
        slopes = system(**{parameter: values}).rhs(t, y + 0 * t[..., np.newaxis])
        still, one, two, both = slopes / np.maximum(np.abs(slopes).max(axis=(0, 1)), 1e-300)
        linear = (np.abs(still) < 1e-12) & (np.abs(one + 2 * two - both) < 1e-9)
        linear &= (slopes == slopes[:, :1]).all(axis=0)
    known = np.isfinite(slopes).all(axis=(0, 1, -1))
    return (linear.all(axis=(0, -1)) | ~known).all(axis=0) & known.any(axis=0)


def _runs_away(system, method, parameter, dt, x0, v0, n_steps):
    """1 if a motion ends beyond a million times its start, else -1, for values (n, *batch); and
    this start. A velocity is measured by the way of a step, whatever the unit of time is.
    """
    start = integrate(system, x0, v0, dt=1e-9, n_steps=0, method=method).initial
    with quiet():
        if not np.isfinite(system.rhs(0.0, start)).all():  # 0 would say that it explodes
            raise ValueError(
                f"the force of {system.name!r} is not finite at the start: give another x0, or"
                " other parameters"
            )
    unit = np.ones((*np.shape(dt), system.dim))
    unit[..., system.dof or system.dim :] = np.abs(dt)[..., np.newaxis]
    far = np.abs(start * unit).max(axis=-1, initial=0)
    far = EXPLODED * np.where(far > 0, far, 1.0)

    def excess(values):
        run = {"dt": dt, "n_steps": n_steps, "method": method, "save": "final"}
        solution = integrate(
            system(**{parameter: values}), x0, v0, **run, on_failure="ignore", workers=-1
        )
        with quiet():
            away = np.abs(solution.final * unit).max(axis=-1, initial=0) > far
        return np.where((solution.status != 0) | away, 1.0, -1.0)

    return excess, start


def _middle(system, parameter, dt, y):
    """The power of ten from which a step at y feels a parameter, (*batch); 1 if it is near 1."""
    powers = np.arange(-150.0, 151.0)
    values = 10.0 ** powers.reshape(-1, *(1,) * len(_batch(system, dt)))
    with quiet():
        J = system(**{parameter: values}).jacobian(0.0, y)
        turned = np.abs(np.linalg.eigvals(np.nan_to_num(J))).max(axis=-1) * np.abs(dt)
    felt = turned >= np.maximum(1.0, 2 * turned[0])
    power = np.where(felt.any(axis=0), powers[felt.argmax(axis=0)], 0.0)
    return 10.0 ** np.where(np.abs(power) > DECADES / 2, power, 0.0)


def _first(excess, least, middle, rtol):
    """Where an excess first exceeds the tolerance, as a value grows by decades, (*batch).

    First a coarse search; then a climb to the highest peaks below the first explosion, since a gap
    of instability may be narrower than the search; then bisection of the edge.
    """
    count, batch = 2 * DECADES * PER_DECADE + 1, middle.shape
    values = np.geomspace(middle * 10.0**-DECADES, middle * 10.0**DECADES, count)
    height = np.broadcast_to(excess(values), values.shape)
    bad = height > least
    never, first = ~bad.any(axis=0), bad.argmax(axis=0)
    first = np.where(never, count, first)
    below, above = at(values, np.maximum(first - 1, 0)), at(values, np.minimum(first, count - 1))

    number = np.arange(1, count - 1).reshape(-1, *(1,) * len(batch))
    left, top, right = height[:-2], height[1:-1], height[2:]
    peak = (top >= left) & (top > right) & (number < first)
    with quiet():  # inf - inf
        peak &= top - np.minimum(left, right) > 1e-9  # the rest is rounding
    order = np.argsort(np.where(peak, top, -np.inf), axis=0)[::-1][:GAPS]
    for place in order:
        is_peak, start = at(peak, place), at(values, place)
        if not is_peak.any():
            break
        top, high_up = _climb(excess, start, at(values, place + 2))
        gap = is_peak & (high_up > least) & (top < above)
        below, above, never = np.where(gap, start, below), np.where(gap, top, above), never & ~gap
    always = (first == 0) & ~never
    while np.any(above / below - 1 > rtol):
        values = np.geomspace(below, above, FINER)
        index = np.clip((excess(values) > least).argmax(axis=0), 1, FINER - 1)
        below, above = at(values, index - 1), at(values, index)
    limit = np.sqrt(below * above)
    # A method that grows at any value, however slowly, has no limit: growth that only
    # decreases below it is not the edge of a stable region.
    creeps = excess((0.8 * limit)[np.newaxis])[0] > least / 100 if least else False
    return np.where(always | (creeps & ~never), 0.0, np.where(never, np.inf, limit))[()]


def _climb(excess, low, high):
    """The highest point between two values, and its height."""
    for _ in range(5):
        values = np.geomspace(low, high, FINER)
        height = excess(values)
        best = np.clip(height.argmax(axis=0), 1, FINER - 2)
        low, top, high = (at(values, best + i) for i in (-1, 0, 1))
    return top, at(height, best)
