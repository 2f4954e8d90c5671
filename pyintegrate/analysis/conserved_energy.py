"""How the energy error grows: steadily, or bounded and oscillating."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import warn_record
from ..values.table import Table, Tabled, batch_axes
from .observables import blocks, check_solution, cure, found, only_the_end, times

if TYPE_CHECKING:
    from ..solution.solution import Solution
    from ..values.types import Booleans

STRETCHES = 20  # sections of a run, whose means give the uncertainty of the slope
SWINGS = 6  # crossings of the line that make an oscillation


@dataclass(frozen=True, eq=False)
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

    slope: np.ndarray
    slope_uncertainty: np.ndarray
    oscillation: np.ndarray
    largest: np.ndarray
    largest_time: np.ndarray
    final: np.ndarray
    time_unit: str = ""

    @property
    def secular(self) -> Booleans:
        """Whether the slope differs from zero by more than three standard errors."""
        return np.abs(self.slope) > 3 * self.slope_uncertainty

    def table(self) -> Table:
        """A row for each trajectory."""
        arrays = {name: value for name, value in vars(self).items() if name != "time_unit"}
        return Table.of("Energy drift", batch_axes(np.shape(self.slope)), arrays)

    def __repr__(self):
        per, unit = f"/{self.time_unit}" * bool(self.time_unit), f" {self.time_unit}".rstrip()
        rows = [
            ("slope", self.slope, per),
            ("  uncertainty", self.slope_uncertainty, per),
            ("oscillation", self.oscillation, ""),
            ("largest", self.largest, ""),
            ("largest_time", self.largest_time, unit),
            ("final", self.final, ""),
        ]
        count = np.size(self.slope)
        head = "" if np.ndim(self.slope) == 0 else f" of {count} trajectories (least, most)"
        lines = [f"  {name:<15}{_extent(values)}{unit}" for name, values, unit in rows]
        return "\n".join([f"EnergyDrift{head}", *lines])


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
    t, y = times(solution), solution.y
    every = solution._whole
    valid: Any = None if every else solution.valid
    batch = y.shape[1:-1]
    width = np.prod(batch) / 2  # in blocks: fewer temporaries than a phase has
    count = len(y) if every else valid.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # exploded trajectories
        middle = _mean(t, valid, count)
        first = system.energy(solution.origin, solution._origin_time)
        scale = np.where(first == 0, 1.0, np.abs(first))
        error = np.empty(y.shape[:-1])
        stretches = np.array_split(np.arange(len(y)), min(STRETCHES, len(y)))
        # For each section: the sums of the error and of the time, and the number of saves.
        total = np.zeros((len(stretches), *batch))
        moment = np.zeros((len(stretches), *(t.shape[1:] if every else batch)))
        number = np.zeros(moment.shape)
        along, spread = np.zeros(batch), np.zeros(moment.shape[1:])
        for rows in blocks(len(y), width):
            part = error[rows]
            np.subtract(system.energy(y[rows], t[rows]), first, out=part)
            part /= scale
            if not every:
                part[~valid[rows]] = 0
        parts = list(_parts(stretches, width))
        largest = np.full((len(parts), *batch), -1.0)
        for i, (stretch, rows) in enumerate(parts):
            part, centred = error[rows], t[rows] - middle
            if not every:
                centred = centred * valid[rows]
            largest[i] = np.maximum(part.max(axis=0), -part.min(axis=0))
            total[stretch] += part.sum(axis=0)
            moment[stretch] += centred.sum(axis=0)
            number[stretch] += len(part) if every else valid[rows].sum(axis=0)
            spread += (centred * centred).sum(axis=0)
            along += np.einsum("i...,i...->...", centred, part)
        slope = along / spread
        highest, lowest = np.full(batch, -np.inf), np.full(batch, np.inf)
        crossings, before = np.zeros(batch), None
        for rows in blocks(len(y), width):
            off = slope * (t[rows] - middle)
            np.subtract(error[rows], off, out=off)
            masked = {} if every else {"where": valid[rows]}
            highest = np.maximum(highest, off.max(axis=0, initial=-np.inf, **masked))
            lowest = np.minimum(lowest, off.min(axis=0, initial=np.inf, **masked))
            above = off > 0
            if before is not None:
                crossings += above[0] != before
            crossings += _count(above[1:] != above[:-1])
            before = above[-1].copy()
        mean = total.sum(axis=0) / count
        uncertainty = _uncertainty(total, moment, number, mean, slope)
        # The line through A sin(w t), 0 < t < T, has a slope up to 12 A / (w T^2), and w T / pi
        # is how often it crosses that line. Fewer crossings than SWINGS are a bend, no oscillation.
        leak = 6 * (highest - lowest) / (np.pi * crossings * np.abs(t[-1] - t[0]))
        uncertainty = np.hypot(uncertainty, np.where(crossings >= SWINGS, leak, 0.0))
    last = np.expand_dims(np.broadcast_to(np.maximum(count - 1, 0), batch), 0)
    when = _first_largest(error, largest, [rows for _, rows in parts])
    result = {
        "slope": np.where(count > 1, slope, np.nan),
        "slope_uncertainty": uncertainty,
        "oscillation": np.where(count > 1, highest - lowest, np.nan),
        "largest": np.where(count > 0, largest.max(axis=0), np.nan),
        "largest_time": np.where(
            count > 0, np.take_along_axis(np.broadcast_to(t, error.shape), when, 0)[0], np.nan
        ),
        "final": np.where(count > 0, np.take_along_axis(error, last, 0)[0], np.nan),
    }
    _watched(solution, result)
    result = {name: np.broadcast_to(values, batch).copy()[()] for name, values in result.items()}
    return EnergyDrift(**result, time_unit=system.units.get("t", ""))


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
            with np.errstate(invalid="ignore", divide="ignore"):
                result["slope_uncertainty"] = residual / span
        lacking = [kind for name, kind in _NEEDED.items() if known[name] is None]
        if lacking:
            warn_record(
                "of the energy only the end is known, and its slope, oscillation and largest error"
                ' are NaN, but for what was watched. Integrate with save="all" or save=k, or'
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
    valid: Any = np.isfinite(values)
    if valid.all():
        valid = True
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        count = len(values) if valid is True else valid.sum(axis=0)
        centred = t - _mean(t, valid, count)
        deviation = values - _mean(values, valid, count)
        along = (centred * deviation).sum(axis=0, where=valid)
        slope = np.where(count > 1, along / (centred**2).sum(axis=0, where=valid), np.nan)
        return slope, deviation - slope * centred


def _mean(values, valid, count):
    if valid is None or valid is True:
        return values.sum(axis=0) / count
    return np.broadcast_to(values, valid.shape).sum(axis=0, where=valid) / count


def _count(marks):
    """How many are True along the first axis of a block; counts fit 16 bits, which is faster."""
    return np.add.reduce(marks.view(np.uint8), axis=0, dtype=np.uint16)


def _parts(stretches, width):
    """Slices of the saves within one section each, with the index of the section."""
    for number, stretch in enumerate(stretches):
        for part in blocks(len(stretch), width):
            yield number, slice(int(stretch[0]) + part.start, int(stretch[0]) + part.stop)


def _first_largest(error, largest, parts):
    """Index of the first save with the largest error, (1, *batch), from the largest of each part.

    Only the part that holds it is searched: in a batch, one part per trajectory.
    """
    part = largest.argmax(axis=0)
    start = np.array([rows.start for rows in parts])[part]
    length = np.array([rows.stop - rows.start for rows in parts])
    offset = np.arange(length.max()).reshape(-1, *(1,) * np.ndim(part))
    index = start + np.minimum(offset, length[part] - 1)
    found = np.abs(np.take_along_axis(error, index, 0)).argmax(axis=0)
    return (start + found)[np.newaxis]


def _uncertainty(total, moment, number, mean, slope):
    """Standard error of a slope from the means of sections, NaN with fewer than three."""
    held = number > 0
    weight = np.where(held, number, 1)
    middle = moment / weight
    off = np.where(held, total / weight - mean - slope * middle, 0.0)
    degrees = held.sum(axis=0) - 2
    variance = (weight * off**2).sum(axis=0) / degrees
    return np.where(degrees > 0, np.sqrt(variance / (weight * middle**2).sum(axis=0)), np.nan)


def _extent(values):
    """One number, or the least and the most of a batch."""
    values = np.asarray(values)
    if values.ndim == 0:
        return f"{float(values):.6g}"
    if np.isnan(values).all():
        return "nan"
    return f"{np.nanmin(values):.6g} .. {np.nanmax(values):.6g}"
