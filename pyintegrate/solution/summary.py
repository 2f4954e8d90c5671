"""A Solution in one line of text, and as a small table for a notebook."""

from __future__ import annotations

import numpy as np

from ..errors import Status


def line(solution):
    """The system and method of a run, its length, and its failures, in one line."""
    dt, batch, lanes = solution.dt, solution.status.shape, solution.status.size
    step = f"{dt:g}" if np.ndim(dt) == 0 else f"{dt.min():g} .. {dt.max():g}"
    count = f"{lanes} trajector{'y' if lanes == 1 else 'ies'}"
    shape = f" {batch}" if len(batch) > 1 else ""
    failed = f", {solution.n_failed} failed" if solution.n_failed else ""
    return (
        f"{solution.system!r} by {solution.method.name}: {solution.n_steps} steps of dt = {step},"
        f" {len(solution)} saved, {count}{shape}{failed}"
    )


def html(solution):
    """The same, with a row for each fact."""
    from html import escape

    system, method, status = solution.system, solution.method, solution.status
    counts = {s.name: int(np.count_nonzero(status == s)) for s in Status if s}
    step = solution.dt if np.ndim(solution.dt) == 0 else "array"
    shape = (len(solution), *status.shape, len(solution.components))
    rows = [
        ("system", f"{system.title}: {system!r}"),
        ("method", f"{method.title} ({method.name})"),
        ("steps", f"{solution.n_steps} of dt = {step}"),
        ("states", f"{shape}, {solution.initial.dtype}"),
        ("failed", ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "none"),
    ]
    cells = "".join(
        f"<tr><th>{name}</th><td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in rows
    )
    return f"<b>Solution</b><table>{cells}</table>"
