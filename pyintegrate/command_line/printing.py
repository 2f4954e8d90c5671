"""Tables and facts on a terminal, at most 100 columns wide, or as JSON for scripts.

If standard output is a terminal and the package rich is installed, headings and names are
in colours unless NO_COLOR is set.
"""

import json
import math
import shutil
import sys
import textwrap

import numpy as np

from ..values.table import number

WIDEST = 100


def show(table):
    """Print a Table."""
    text = fitted(table, width())
    if drawn := _rich():
        from rich.text import Text

        head, rule, rows = text.partition("\n--")
        drawn.print(Text.assemble((head, "bold cyan"), rule, rows), soft_wrap=True)
    else:
        print(text)


def facts(about):
    """Print named facts, one per line; long ones continue on the next lines."""
    drawn, margin = _rich(), max(map(len, about), default=0) + 1
    for name, value in about.items():
        lines = textwrap.wrap(str(value), width() - margin - 1) or [""]
        if drawn:
            from rich.markup import escape

            drawn.print(f"[bold]{escape(name):<{margin}}[/bold]{escape(' '.join(lines))}")
        else:
            print(f"{name:<{margin}}" + f"\n{'':<{margin}}".join(lines))


def as_json(value):
    """Print a Table, or facts, as JSON; values that JSON cannot hold become null or text."""
    if hasattr(value, "columns"):
        rows = [dict(zip(value.columns, map(number, row), strict=True)) for row in value.rows]
        value = {"title": value.title, "rows": rows, "note": value.note}
    print(json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False))


def width():
    """The available columns: those of the terminal, at most 100."""
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns) if _terminal() else WIDEST


def fitted(table, most):
    """The text of a Table within `most` columns: headings and long cells are broken if needed.

    Examples
    --------
    >>> from pyintegrate.values.table import Table
    >>> print(fitted(Table("", ["name", "largest error"], [["a", "0.25"]]), 14))
           largest
    name     error
    --------------
    a         0.25
    """
    cells = [table.columns, *table.rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    least = [
        max((len(word) for cell in (name, *own) for word in cell.split()), default=1)
        for name, *own in zip(*cells, strict=True)
    ]
    heads = [max(map(len, own), default=1) for own in zip(*table.rows, strict=True)] or least
    for floor in (list(map(max, heads, least)), least):  # headings shrink before cells do
        while sum(widths) + 2 * (len(widths) - 1) > most:
            rooms = [w - f for w, f in zip(widths, floor, strict=True)]
            if max(rooms) <= 0:
                break
            widths[rooms.index(max(rooms))] -= 1
    lines = [_line(table.columns, widths, table.align, bottom=True)]
    lines.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
    lines += [_line(row, widths, table.align) for row in table.rows]
    title, note = ([*textwrap.wrap(text, most)] for text in (table.title, table.note))
    return "\n".join([*title, *lines, *note])


def _line(row, widths, align, bottom=False):
    """A row of cells, each in as many lines as it needs."""
    broken = [textwrap.wrap(c, w) or [""] for c, w in zip(row, widths, strict=True)]
    height = max(map(len, broken))
    for i, lines in enumerate(broken):
        empty = [""] * (height - len(lines))
        broken[i] = empty + lines if bottom else lines + empty
    return "\n".join(
        "  ".join(
            c.rjust(w) if a == "r" else c.ljust(w)
            for c, w, a in zip(cells, widths, align, strict=True)
        ).rstrip()
        for cells in zip(*broken, strict=True)
    )


def _terminal():
    return sys.stdout is not None and sys.stdout.isatty()  # None: it is closed


def _rich():
    """A console of rich of that width; None if there is none."""
    if not _terminal():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(width=width(), highlight=False)


def _plain(value):
    """A value that JSON can hold."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
