"""How the energy error grows, and the modified energy that symplectic methods conserve."""

from __future__ import annotations

import numpy as np

from ..errors import warn_record
from ..values.checks import integer
from ..values.table import Table, Tabled, batch_axes
from ..values.types import Booleans, Floats, Solution
from .observables import at, batch_of, check_solution, cure, found, only_the_end, some_saves, times
from .results import quiet, result_class, with_unit
from .vectors import applied

STRETCHES = 20  # sections of a run, whose means give the uncertainty of the slope
SWINGS = 6  # crossings of the line that make an oscillation


@result_class
class EnergyDrift(Tabled):
    """The shape of an energy error, per trajectory: each array has the shape of the batch.

    Attributes
    ----------
    slope : ndarray
        Secular drift: least-squares slope of the relative energy error, 1/(unit of time).
    slope_uncertainty : ndarray
        Its standard error, from the deviations of the means of 20 sections of the run from the line
        (neighbouring saves are not independent, so their scatter would be far too optimistic), and
        from the slope that an incomplete oscillation causes.
    oscillation : ndarray
        Largest minus smallest deviation from that line: the bounded part.
    largest : ndarray
        Largest absolute value of the relative energy error of the saves.
    largest_time : ndarray
        When it was first reached.
    final : ndarray
        The relative energy error at the last save, signed.
    time_unit : str
        Unit of the times, "" if they have none.
    """

    slope: Floats
    slope_uncertainty: Floats
    oscillation: Floats
    largest: Floats
    largest_time: Floats
    final: Floats
    time_unit: str = ""

    @property
    def secular(self) -> Booleans:
        """Whether the slope differs from zero by more than three standard errors."""
        return np.abs(self.slope) > 3 * self.slope_uncertainty

    def table(self) -> Table:
        """A row for each trajectory."""
        arrays = dict(vars(self))
        unit = arrays.pop("time_unit") or "1"
        units = {"slope": f"1/{unit}", "slope_uncertainty": f"1/{unit}", "largest_time": unit}
        arrays = {with_unit(name, units.get(name, "")): one for name, one in arrays.items()}
        return Table.of("Energy drift", batch_axes(np.shape(self.slope)), arrays)


def energy_drift(solution: Solution) -> EnergyDrift:
    """Secular slope, bounded oscillation and largest value of the relative energy error.

    The error is (E - E0)/|E0|, or E - E0 if E0 = 0. A dissipative method has a slope, a
    symplectic one an oscillation. The line is fitted to all valid saves; over few periods the
    oscillation contributes about oscillation/duration to the slope and to its uncertainty.

    Parameters
    ----------
    solution : Solution
        A solution of a system with an energy, (n_saved, *batch) states.

    Returns
    -------
    EnergyDrift
        Arrays of the batch shape; NaN if too few saves are valid (two for a slope, three
        sections for its uncertainty). A run that has watched "energy_drift" has the slope and
        largest error of all its steps, whatever it has saved; if only the end was saved, the
        uncertainty is the rms distance from the line over the duration, an upper bound of the slope
        from an oscillation, and `oscillation` is NaN. Without the watch all but `final` is NaN,
        with a `RecordWarning`.

    Raises
    ------
    ValueError
        If the system has no energy.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> rk4 = pi.analysis.energy_drift(pi.integrate(pi.systems.oscillator, dt=0.5, t_end=500.0))
    >>> euler = pi.analysis.energy_drift(pi.integrate(pi.systems.oscillator, dt=0.5, t_end=500.0,
    ...                                   method="semi_implicit_euler"))
    >>> bool(rk4.secular), bool(euler.secular)
    (True, False)
    >>> bool(euler.oscillation > 5 * rk4.oscillation)
    True
    """
    solution = check_solution(solution, "energy_drift")
    system = solution.system
    if not system.has_energy:
        raise ValueError(f"energy_drift needs an energy, and the system {system.name!r} has none")
    solution._need_all("energy_drift")
    t, batch, saves = times(solution), batch_of(solution), len(solution)
    valid = True if solution._whole else solution.valid
    begins = np.linspace(0, saves, min(STRETCHES, saves), endpoint=False).astype(int)
    with quiet():  # exploded trajectories
        error = np.array(solution.energy_error(), float)
        error[~np.asarray(valid)] = 0
        slope, count, centred, off = _line(t, error, valid)
        known = np.ones((saves, *(1,) * len(batch))) * valid
        number, middle, apart = (
            np.add.reduceat(one * known, begins) for one in (1.0, centred, off)
        )
        held = np.maximum(number, 1)
        degrees = (number > 0).sum(axis=0) - 2
        spread = (middle**2 / held).sum(axis=0)
        uncertainty = np.sqrt((apart**2 / held).sum(axis=0) / degrees / spread)
        swing = off.max(axis=0, initial=-np.inf, where=valid)
        swing -= off.min(axis=0, initial=np.inf, where=valid)
        # The line through A sin(w t), 0 < t < T, has a slope up to 12 A / (w T^2), and w T / pi
        # is how often it crosses that line. Fewer crossings than SWINGS are a bend, no oscillation.
        above = off + error.sum(axis=0) / count > 0
        crossings = np.count_nonzero(above[1:] != above[:-1], axis=0)
        leak = 6 * swing / (np.pi * crossings * np.abs(t[-1] - t[0]))
        uncertainty = np.hypot(uncertainty, np.where(crossings >= SWINGS, leak, 0.0))
    size = np.abs(error)
    when = size.argmax(axis=0)
    result = {
        "slope": slope,
        "slope_uncertainty": np.where(degrees > 0, uncertainty, np.nan),
        "oscillation": np.where(count > 1, swing, np.nan),
        "largest": np.where(count > 0, at(size, when), np.nan),
        "largest_time": np.where(count > 0, at(np.broadcast_to(t, size.shape), when), np.nan),
        "final": np.where(count > 0, at(error, np.maximum(count - 1, 0)), np.nan),
    }
    _watched(solution, result)
    result = {name: np.broadcast_to(values, batch).copy()[()] for name, values in result.items()}
    return EnergyDrift(**result, time_unit=system.units["t"])


_NEEDED = {"slope": ("slope", "energy_error"), "largest": ("max_abs", "energy_error")}


def _watched(solution, result):
    """Replace results from the saves by those that the run has watched."""
    known = {name: found(solution, *kind) for name, kind in _NEEDED.items()}
    if only_the_end(solution):
        result["largest"] = result["largest_time"] = np.nan
        if known["slope"] is not None:
            # An oscillation A sin(w t) with six crossings or more leaves 12 A / (w T^2) < 0.91 r/T
            # in the slope, where r = A / sqrt(2) is its rms distance from the line.
            span = np.abs(solution.t[-1] - solution._origin_time)
            residual = found(solution, *_NEEDED["slope"], ".residual")
            with quiet():
                result["slope_uncertainty"] = residual / span
        lacking = [kind for name, kind in _NEEDED.items() if known[name] is None]
        if lacking:
            warn_record(
                "of the energy only the end is known, and its slope, oscillation and largest error"
                f' are NaN, but for what was watched. Run it with save="all" or'
                f" {some_saves(solution)}, or"
                f' watch="energy_drift": {cure(*lacking)}'
            )
    result |= {name: value for name, value in known.items() if value is not None}
    if known["largest"] is not None:
        result["largest_time"] = found(solution, *_NEEDED["largest"], ".time")


def fit_line(t, values):
    """Least-squares slope along the first axis, and the deviations from the line.

    Parameters
    ----------
    t, values : ndarray
        (n, *batch); NaN values are ignored.

    Returns
    -------
    slope : ndarray
        (*batch), NaN if fewer than two values are valid.
    deviation : ndarray
        (n, *batch).

    Examples
    --------
    >>> import numpy as np
    >>> slope, deviation = fit_line(np.arange(5.0), 3 * np.arange(5.0) + 1)
    >>> float(slope), float(np.abs(deviation).max())
    (3.0, 0.0)
    """
    slope, _, _, deviation = _line(t, values, np.isfinite(values))
    return slope, deviation


def _line(t, values, valid):
    """The slope, how many are valid, the times from their mean, and the deviations."""
    valid = valid if valid is True or not valid.all() else True
    with quiet():
        count = np.broadcast_to(valid, values.shape).sum(axis=0)
        # If all are valid, one row of times does for all trajectories.
        t = t if valid is True else np.broadcast_to(t, values.shape)
        centred = t - t.sum(axis=0, where=valid) / (len(t) if valid is True else count)
        deviation = values - values.sum(axis=0, where=valid) / count
        along = (centred * deviation).sum(axis=0, where=valid)
        slope = np.where(count > 1, along / (centred**2).sum(axis=0, where=valid), np.nan)
        deviation -= slope * centred
        return slope, count, centred, deviation


def modified_energy(solution: Solution, order: int = 2) -> Floats:
    """The energy that a composition of kicks and drifts conserves better than the true one.

    For semi-implicit Euler, kick first, H~ = H - h/2 v.V'(x) + ...: on the harmonic oscillator
    these two terms stay constant to rounding, for ever (so do four terms, a multiple of them). On
    other systems the error is of size h^order.

    Parameters
    ----------
    solution : Solution
        By a method of kicks and drifts, for a system of positions and velocities whose energy is
        quadratic in the velocity and whose force does not depend on it: (n_saved, *batch) states.
    order : {1, 2, 3, 4}, optional
        Terms below h^order are included; 1 is the energy itself.

    Returns
    -------
    ndarray
        (n_saved, *batch), in the unit of the energy.

    Raises
    ------
    ValueError
        If method, system or order have no such series, or saves lie within steps.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.5, n_steps=1000,
    ...                    method="semi_implicit_euler")
    >>> bool(np.ptp(sol.energy()) > 0.2), bool(np.ptp(pi.analysis.modified_energy(sol)) < 1e-13)
    (True, True)
    """
    solution = check_solution(solution, "modified_energy")
    system, method = solution.system, solution.method
    if not {"kick", "drift"} <= set(method.coefficients) or method.family == "wisdom_holman":
        raise ValueError(
            f"method {method.name!r} conserves no modified energy: it is not a composition of kicks"
            " and drifts, such as 'semi_implicit_euler'"
        )
    if not system.has_energy or system.velocity_dependent:
        why = "no energy" if not system.has_energy else "a force that depends on the velocity"
        raise ValueError(f"the system {system.name!r} has {why}, and so no modified energy")
    order = integer("order", order, 1, 4)
    c2, c3, d3, c4 = brackets(method)
    if order == 4 and c4 is None:
        raise ValueError(f"order must be at most 3 for {method.name!r}: its h^3 term needs J'")
    h, t, y, dof = solution.dt, times(solution), solution.y.astype(float), system.dof
    if np.any(
        np.abs(t - solution._column(solution._problem.times(solution.steps))) > 1e-6 * abs(h)
    ):
        raise ValueError(
            "the modified energy is that of whole steps, and the solution was saved within them:"
            " take save=, or times= at steps"
        )
    x, v = y[..., :dof], y[..., dof:]

    def product(p, q):
        """p M q, from an energy that is quadratic in the velocity."""
        plus, minus = (np.concatenate([x, w], axis=-1) for w in ((p + q) / 2, (p - q) / 2))
        return 2 * (system.energy(plus, t) - system.energy(minus, t))

    with quiet():  # exploded trajectories
        energy = np.array(system.energy(y, t))
        still, twice = (system.energy(np.concatenate([x, k * v], axis=-1), t) for k in (0, 2))
        off, size = twice - 4 * energy + 3 * still, np.maximum(np.abs(twice), np.abs(still))
        if np.any(np.abs(off) > 1e-9 * size):
            raise ValueError(
                f"the energy of {system.name!r} is not quadratic in the velocity: it has no such"
                " series"
            )
        if order > 1:  # h a and h^2 J v: velocities in any unit, whose sums keep their digits
            h = np.asarray(h)[..., np.newaxis]
            a = h * system.acceleration(t, x, v)
            energy += c2 * product(v, a)
        if order > 2:
            J = system.jacobian(t, y)[..., dof:, :dof]
            Jv = h**2 * applied(J, system.rhs(t, y)[..., :dof])  # the velocity, of momenta too
            energy += c3 * product(a, a) - d3 * product(v, Jv)
        if order > 3:
            energy += c4 * 2 * product(a, Jv)
    return energy


def brackets(method):
    """The coefficients c2, c3, d3 and c4 of a composition; c4 is None if another h^3 term occurs.

    Parameters
    ----------
    method : Method
        With kicks and drifts.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(*(f"{c:.4f}" for c in brackets(pi.methods["semi_implicit_euler"])))
    0.5000 0.0833 0.0833 -0.0417
    """
    # Words that occur in one bracket only: [V,T] has VT, [V,[V,T]] VVT, [T,[T,V]] TTV, and
    # [T,[V,[V,T]]] TTVV; [T,[T,[T,V]]] has TTTV and vanishes only with it.
    c2, c3, d3, c4, other = (_in_logarithm(word, method) for word in _WORDS)
    return c2, c3, d3, None if abs(other) > 1e-14 else c4


_WORDS = ("VT", "VVT", "TTV", "TTVV", "TTTV")


def _in_logarithm(word, method):
    """The coefficient of a word in the logarithm of the product of all flows.

    Letters as matrices with ones where they stand in the word: products add up its parts, and the
    corner is the coefficient of the whole.
    """
    letters = {letter: np.diag([float(one == letter) for one in word], 1) for letter in "VT"}
    one = product = np.eye(len(word) + 1)
    for weights in zip(*(method.coefficients[name] for name in ("kick", "drift"))):
        for letter, weight in zip("VT", weights):
            # The first flow to act stands to the left: flows compose like pullbacks of functions.
            flow = term = one
            for n in range(1, len(product)):
                term = term @ letters[letter] * (weight / n)
                flow = flow + term
            product = product @ flow
    power, total = one, 0.0
    for n in range(1, len(product)):
        power = power @ (product - one)
        total -= (-1) ** n * power[0, -1] / n
    return total
