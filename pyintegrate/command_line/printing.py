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
    text = table.text(width())
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
        rows = [dict(zip(value.columns, map(number, row))) for row in value.rows]
        value = {"title": value.title, "rows": rows, "note": value.note}
    print(json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False))


def width():
    """The available columns: those of the terminal, at most 100."""
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns) if _terminal() else WIDEST


def _terminal():
    return sys.stdout is not None and sys.stdout.isatty()  # None: it is closed


def _rich():
    """A console of rich, as wide as the output; None without rich or without a terminal."""
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
