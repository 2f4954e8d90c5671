"""The table of a comparison: one row per solution, the exact motion first."""

import numpy as np

from ...errors import one_record_warning
from ...values.table import Number, Table
from ..observables import (
    energies,
    every_step,
    exact_states,
    found,
    only_the_end,
    start_time,
    times,
)
from .reference import FINE

ABSENT = "-"


@one_record_warning()
def comparison_table(comparison):
    """Lay out `Comparison.summary` as a table.

    Parameters
    ----------
    comparison : Comparison
        The result of `compare`.

    Returns
    -------
    Table
        Columns that no solution has a value for are left out.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(comparison_table(pi.compare(pi.systems.oscillator, dt=0.1, t_end=1.0)).rows[0][0])
    exact
    """
    units = comparison.system.units
    solutions = list(comparison.values())
    summary = comparison.summary()
    position = units.get(comparison.system.state_names[0], "")
    most_energy, of_energy, largest = _kind_of_largest(solutions, "energy")
    most, of_them, _ = _kind_of_largest(solutions, "position")
    columns = [  # heading, measure, format of a cell, value of a perfect method
        ("E(end)/E(0)", "energy_ratio", "{:.9f}", 1.0),
        (f"{largest}energy error{of_energy}", f"{most_energy}energy_error", "{:.6g}", 0.0),
        (_with_unit("phase error", "rad"), "phase_error", "{:+.6g}", 0.0),
        (
            _with_unit(f"position error{of_them}", position),
            f"{most}position_error",
            "{:.6g}",
            0.0,
        ),
    ]
    columns = [
        column for column in columns if any(s[column[1]] is not None for s in summary.values())
    ]
    steps = [_step(solution) for solution in solutions]
    show_steps = len(set(steps)) > 1
    count_steps = not all(hasattr(solution, "dt") for solution in solutions)
    timed = any(measures["seconds"] is not None for measures in summary.values())
    rows = []
    reference = _exact_row(solutions[0], [column[1] for column in columns]) if solutions else None
    if reference is not None and not most_energy:
        reference["energy_error"] = reference.pop("max_energy_error", None)
    if reference is not None:
        cells = [_cell(reference.get(measure), form, best) for _, measure, form, best in columns]
        absent = [ABSENT] * (1 + count_steps + timed)
        rows.append(["exact", *[ABSENT] * show_steps, *cells, *absent])
    for (key, measures), step, solution in zip(summary.items(), steps, solutions, strict=True):
        name = key[0] if isinstance(key, tuple) else key
        cells = [_cell(measures[measure], form, best) for _, measure, form, best in columns]
        seconds = measures["seconds"] or 0.0
        took = Number(f"{seconds:.2g}", seconds)
        evaluations = _count(measures["evaluations"])
        taken = [_count(_steps_taken(solution))] * count_steps
        rows.append([name, *[step] * show_steps, *cells, *taken, evaluations, *[took] * timed])
    failed = [int(np.count_nonzero(solution.status)) for solution in solutions]
    heads = [column[0] for column in columns]
    heads = ["method", *[_with_unit("dt", units.get("t", ""))] * show_steps, *heads]
    heads += ["steps"] * count_steps + ["evaluations"]
    heads += ["seconds"] * timed
    if any(failed):
        heads.append("failed")
        counts = [ABSENT] * (reference is not None) + [f"{n:,}" for n in failed]
        rows = [[*row, count] for row, count in zip(rows, counts, strict=True)]
    return Table(_title(comparison, steps), heads, rows, _note(comparison))


@one_record_warning()
def joint_table(comparisons):
    """The tables of several comparisons in one, the system in the first column.

    Parameters
    ----------
    comparisons : Comparisons

    Returns
    -------
    Table

    Examples
    --------
    >>> import pyintegrate as pi
    >>> springs = [pi.systems.spring(k=k) for k in (1.0, 2.0)]
    >>> joint_table(pi.compare(springs, dt=0.1, t_end=1.0)).columns[:2]
    ('system', 'method')
    """
    tables = {name: comparison_table(one) for name, one in comparisons.items()}
    heads = list(dict.fromkeys(head for table in tables.values() for head in table.columns))
    last = [head for head in heads if head in ("steps", "evaluations", "seconds", "failed")]
    heads = [head for head in heads if head not in last] + last
    rows = []
    for name, table in tables.items():
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            rows.append([name, *(cells.get(head, ABSENT) for head in heads)])
            name = ""  # only in the first row
    first = next(iter(tables.values()))
    notes = dict.fromkeys(table.note for table in tables.values() if table.note)
    align = "ll" + "r" * (len(heads) - 1)
    title = first.title.split(", t =")
    title = f"{len(tables)} systems" + (f", t ={title[1]}" if len(title) > 1 else "")
    return Table(title, ["system", *heads], rows, "; ".join(notes), align)


def _kind_of_largest(solutions, quantity):
    """Which measure is the largest error, and the words after and before its name."""
    watched = quantity == "energy" and all(
        every_step(one) or found(one, "max_abs", "energy_error") is not None for one in solutions
    )
    if watched:
        return "max_", "", "max "
    if any(map(only_the_end, solutions)):
        return "", " at the end", ""
    return "max_", "" if all(map(every_step, solutions)) else " of the saves", "max "


def _exact_row(solution, measures):
    """The row of the exact motion; its energy ratio matters if the system itself dissipates."""
    exact = exact_states(solution)
    if exact is None:
        return None
    row = {}
    if "energy_ratio" in measures:
        energy = solution.system.energy(exact, times(solution))
        _, start = energies(solution)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            error = np.max(np.abs(energy - start), axis=0) / np.where(start == 0, 1, abs(start))
            row["energy_ratio"] = np.where(start == 0, np.nan, energy[-1] / start)[()]
        rounding = 1e-12  # possible rounding error of a closed form
        row["max_energy_error"] = np.where(error < rounding, 0.0, error)
    return row


def _cell(values, form, best):
    """One number; for a batch the median and the worst, the one farthest from the best."""
    if values is None or np.size(values) == 0 or np.all(np.isnan(values)):
        return ABSENT
    values = np.asarray(values, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if form == "{:.9f}" and not 1e-3 < np.max(np.abs(values)) < 1e3:
        form = "{:.6g}"  # nine decimals say nothing about a motion that decayed or exploded
    if values.size == 1:
        return Number(form.format(values[0]), float(values[0]))
    worst = values[np.argmax(np.abs(values - best))]
    return f"{form.format(np.median(values))} / {form.format(worst)}"


def _steps_taken(solution):
    """How many steps each trajectory took, or all of them."""
    return getattr(solution, "steps_taken", solution.n_steps)


def _count(values):
    """An integer, or the least and the most."""
    least, most = (f"{f(values, initial=start):,}" for f, start in ((np.min, 1 << 62), (np.max, 0)))
    if least != most and np.size(values):
        return f"{least} .. {most}"
    return Number(most, int(np.max(values, initial=0)))


def _step(solution):
    """The step as text, the extremes if it differs between trajectories; or the mean step."""
    dt = solution._step_lengths
    if dt.size == 0:
        return ABSENT
    least, most = f"{dt.min():.6g}", f"{dt.max():.6g}"
    return least if least == most else f"{least} .. {most}"


def _title(comparison, steps):
    """System, span and step in one line."""
    system = comparison.system
    unit = system.units.get("t", "")
    parts = [system.title]
    solution = next(iter(comparison.values()), None)
    if solution is not None:
        end = np.asarray(solution.t)[-1:].ravel()
        start = np.asarray(start_time(solution), dtype=np.float64).ravel()
        if end.size and start.size and np.ptp(end) == 0 and np.ptp(start) == 0:
            parts.append(f"t = {start[0]:g} to {end[0]:g} {unit}".rstrip())
    if len(set(steps)) == 1 and hasattr(solution, "dt"):
        parts.append(f"dt = {steps[0]} {unit}".rstrip())
    if comparison.equal_work:
        parts.append("equal work")
    return ", ".join(parts)


def _note(comparison):
    """An explanation of the two numbers in a cell, for a batch."""
    sizes = [int(np.prod(np.shape(s.y)[1:-1])) for s in comparison.values()]
    several = bool(sizes) and max(sizes) > 1
    note = f"median / worst of {max(sizes):,} trajectories" if several else _winners(comparison)
    doubts = [m["reference_error"] for m in comparison.summary().values()]
    if all(doubt is None for doubt in doubts):
        return note
    largest = max(float(np.max(d, initial=0.0)) for d in doubts if d is not None)
    known = f"the true position is that of pi.solve at rtol {FINE:g}, to {largest:.1g}"
    return f"{note}; {known}" if note else known


def _winners(comparison):
    """Which method has the smallest error in each quantity: rarely the same in all."""
    summary = comparison.summary()
    if len(summary) < 2 or any(isinstance(key, tuple) for key in summary):
        return ""
    best, solutions = {}, list(comparison.values())
    exact = comparison.system.velocity_dependent and _exact_row(solutions[0], ["energy_ratio"])
    damped = exact is None or (exact and np.any(exact["max_energy_error"] != 0))
    for word in ("energy", "phase", "position")[bool(damped) :]:
        most = "" if word == "phase" else _kind_of_largest(solutions, word)[0]
        name = f"{most}{word}_error"
        errors = {key: measures[name] for key, measures in summary.items()}
        if all(error is not None and np.isfinite(error) for error in errors.values()):
            best[word] = min(errors, key=lambda key: abs(errors[key]))
    if not best:
        return ""
    return "smallest error: " + ", ".join(f"{word} {key}" for word, key in best.items())


def _with_unit(heading, unit):
    return f"{heading} [{unit}]" if unit and unit != "1" else heading
