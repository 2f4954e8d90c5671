"""A small table for a terminal, a notebook or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Table:
    """Rows under headings; prints as text, shows as HTML.

    Parameters
    ----------
    title : str
        The subject of the table, on one line above it.
    columns : sequence of str
        Headings.
    rows : sequence of sequences of str
        Cells, one per column.
    note : str, optional
        One line below.
    align : str, optional
        "l" or "r" for each column; by default the first is aligned left, the others right.

    Attributes
    ----------
    title, columns, rows, note, align
        As given, rows and columns as tuples.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.analysis.Table("Two methods", ["method", "order"], [["rk4", "4"], ["midpoint", "2"]])
    Two methods
    method    order
    ---------------
    rk4           4
    midpoint      2
    """

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        note: str = "",
        align: Sequence[str] | str | None = None,
    ) -> None:
        self.title, self.note = title, note
        self.columns, self.rows = tuple(columns), tuple(tuple(row) for row in rows)
        self.align = align or "l" + "r" * (len(self.columns) - 1)

    def __repr__(self):
        cells = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]

        def line(row):
            aligned = zip(row, widths, self.align, strict=True)
            text = "  ".join(c.rjust(w) if a == "r" else c.ljust(w) for c, w, a in aligned)
            return text.rstrip()

        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        body = [line(self.columns), rule, *map(line, self.rows)]
        return "\n".join([self.title] * bool(self.title) + body + [self.note] * bool(self.note))

    def _repr_html_(self):
        from html import escape

        styles = {"l": ' style="text-align: left"', "r": ' style="text-align: right"'}

        def line(row, tag):
            cells = [
                f"<{tag}{styles[side]}>{escape(cell)}</{tag}>"
                for cell, side in zip(row, self.align, strict=True)
            ]
            return f"<tr>{''.join(cells)}</tr>"

        note = f"<p><small>{escape(self.note)}</small></p>" if self.note else ""
        return (
            f"<table><caption{styles['l']}>{escape(self.title)}</caption>"
            f"<thead>{line(self.columns, 'th')}</thead>"
            f"<tbody>{''.join(line(row, 'td') for row in self.rows)}</tbody></table>{note}"
        )
