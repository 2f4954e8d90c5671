"""The table of a comparison: one row per solution, the exact motion first."""

import numpy as np

from ..errors import one_record_warning
from ..values.table import Number, Table, extent
from ..values.types import Any
from .measures import FINE, watched_error
from .observables import energies, every_step, exact_states, largest_of, start_time, times
from .results import quiet, with_unit

ABSENT = "-"
LAST = ("steps", "evaluations", "seconds", "failed")  # columns, after those of errors


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
    units, solutions = comparison.system.units, list(comparison.values())
    summary = comparison.summary()
    position = units.get(comparison.system.state_names[0], "")
    watched = all(every_step(s) or watched_error(s, "energy") is not None for s in solutions)
    (known, of_energy), (most, of_them) = largest_of(solutions, watched), largest_of(solutions)
    energy_error, position_error = (
        f"max_{kind}_error" if largest else f"{kind}_error"
        for largest, kind in ((known, "energy"), (most, "position"))
    )
    held = energies(solutions[0])
    measures = [  # heading, measure, format of a cell, value of a perfect method
        ("energy change", "energy_change", "{:+.6g}", 0.0)  # a loss raises E/E0 where E0 < 0
        if held and np.any(held[1] <= 0)
        else ("E(end)/E(0)", "energy_ratio", "{:.9f}", 1.0),
        (energy_error.replace("_", " ") + of_energy, energy_error, "{:.6g}", 0.0),
        (with_unit("phase error", "rad"), "phase_error", "{:+.6g}", 0.0),
        (with_unit(f"position error{of_them}", position), position_error, "{:.6g}", 0.0),
    ]
    # The steps as text, the extremes where they differ between trajectories; or the mean step.
    steps = [extent(solution._step_lengths) for solution in solutions]
    columns = {"method": [key[0] if isinstance(key, tuple) else key for key in summary]}
    if len(set(steps)) > 1:
        columns[with_unit("dt", units["t"])] = steps
    exact = exact_states(solutions[0]) if _end_alike(solutions) else None
    first = {} if exact is None else {"method": "exact"} | _exact_energy(solutions[0], exact)
    for heading, measure, form, best in measures:
        values = [numbers[measure] for numbers in summary.values()]
        if any(value is not None for value in values):
            columns[heading] = [_cell(value, form, best) for value in values]
            kind = measure.removeprefix("max_")
            first[heading] = _cell(first.get(kind), form, best)
    if not all(hasattr(solution, "dt") for solution in solutions):
        columns["steps"] = [_count(getattr(s, "steps_taken", s.n_steps)) for s in solutions]
    columns["evaluations"] = [_count(numbers["evaluations"]) for numbers in summary.values()]
    seconds = [numbers["seconds"] for numbers in summary.values()]
    if any(took is not None for took in seconds):
        columns["seconds"] = [Number(f"{took or 0.0:.2g}", took or 0.0) for took in seconds]
    failed = [solution.n_failed for solution in solutions]
    if any(failed):
        columns["failed"] = [f"{count:,}" for count in failed]
    rows: list[Any] = list(zip(*columns.values()))
    if exact is not None:
        rows.insert(0, [first.get(heading, ABSENT) for heading in columns])
    return Table(_title(comparison, steps), list(columns), rows, _note(comparison))


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
    columns = [table.columns for table in tables.values()]

    def place(head):
        last = LAST.index(head) if head in LAST else -1
        return last, max(c.index(head) for c in columns if head in c), head

    heads = sorted({head for c in columns for head in c}, key=place)
    rows = []
    for name, table in tables.items():
        for row in table.rows:
            cells = dict(zip(table.columns, row))
            rows.append([name, *(cells.get(head, ABSENT) for head in heads)])
            name = ""  # only in the first row
    first = next(iter(tables.values()))
    notes = dict.fromkeys(table.note for table in tables.values() if table.note)
    align = "ll" + "r" * (len(heads) - 1)
    title = first.title.split(", t =")
    title = f"{len(tables)} systems" + (f", t ={title[1]}" if len(title) > 1 else "")
    return Table(title, ["system", *heads], rows, "; ".join(notes), align)


def _exact_energy(solution, exact):
    """The numbers of the exact motion; its energy ends elsewhere if the system dissipates."""
    held = energies(solution)
    if held is None:
        return {}
    energy, start = solution.system.energy(exact, times(solution)), held[1]
    with quiet():
        error = (energy - start) / np.where(start == 0, 1, abs(start))
        ratio = np.where(start == 0, np.nan, energy[-1] / start)[()]
    error[np.abs(error) < 1e-12] = 0.0  # possible rounding error of a closed form
    largest = np.max(np.abs(error), axis=0)
    return {"energy_ratio": ratio, "energy_change": error[-1], "energy_error": largest}


def _cell(values, form, best):
    """One number; for a batch the median and the worst, the one farthest from the best."""
    if values is None or np.size(values) == 0 or np.all(np.isnan(values)):
        return ABSENT
    values = np.asarray(values, float).ravel()
    values = values[~np.isnan(values)]
    if form == "{:.9f}" and not 1e-3 < np.max(np.abs(values)) < 1e3:
        form = "{:.6g}"  # nine decimals say nothing about a motion that decayed or exploded
    if values.size == 1:
        return Number(form.format(values[0]), float(values[0]))
    worst = values[np.argmax(np.abs(values - best))]
    return f"{form.format(np.median(values))} / {form.format(worst)}"


def _count(values):
    """An integer, or the least and the most."""
    least, most = np.min(values, initial=1 << 62), np.max(values, initial=0)
    if least < most:
        return f"{least:,} .. {most:,}"
    return Number(f"{most:,}", int(most))


def _end_alike(solutions):
    """Whether the spans of all are the same: with n_steps= those of other steps are not."""
    return all(np.allclose(one.t[-1:], solutions[0].t[-1:], 1e-9, 0) for one in solutions)


def _title(comparison, steps):
    """System, span and step in one line."""
    system = comparison.system
    unit = system.units["t"]
    parts = [system.title]
    solution = next(iter(comparison.values()))
    end = solution.t[-1:].ravel()
    start = np.ravel(start_time(solution))
    one = end.size and start.size and np.ptp(end) == 0 and np.ptp(start) == 0
    if one and _end_alike(list(comparison.values())):
        parts.append(f"t = {start[0]:g} to {end[0]:g} {unit}".rstrip())
    if len(set(steps)) == 1 and hasattr(solution, "dt"):
        parts.append(f"dt = {steps[0]} {unit}".rstrip())
    if comparison.equal_work:
        parts.append("equal work")
    return ", ".join(parts)


def _note(comparison):
    """An explanation of the two numbers in a cell, for a batch; how well the truth is known."""
    sizes = [int(np.prod(np.shape(s.y)[1:-1])) for s in comparison.values()]
    n = max(sizes)
    notes = [f"median / worst of {n:,} trajectories"] * (n != 1)
    doubts = [m["reference_error"] for m in comparison.summary().values()]
    doubts = [float(np.max(doubt, initial=0.0)) for doubt in doubts if doubt is not None]
    if doubts:
        notes.append(
            f"the true position is that of pi.solve at rtol {FINE:g}, to {max(doubts):.1g}"
        )
    return "; ".join(notes)
