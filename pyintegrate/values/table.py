"""A small table for a terminal, a notebook or a file."""

from __future__ import annotations

import textwrap
from collections import abc
from itertools import zip_longest
from math import inf
from typing import TypeVar

import numpy as np

from .lazily import optional
from .types import Any, Iterator, Mapping, Sequence

Value = TypeVar("Value")
MOST = 21  # rows of arrays that are shown: the middle is among them where there is one


def extent(values: Any, empty: str = "-") -> str:
    """One number as text, or the least and the most of several."""
    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    if not values.size:
        return empty
    least, most = f"{values.min():.6g}", f"{values.max():.6g}"
    return least if least == most else f"{least} .. {most}"


class Number(str):
    """The text of a number in a table, and its value, which JSON holds.

    Examples
    --------
    >>> Number("0.333", 1 / 3).value
    0.3333333333333333
    """

    value: float

    def __new__(cls, text, value):
        out = super().__new__(cls, text)
        out.value = value
        return out

    def __getnewargs__(self):
        return str(self), self.value


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
        self._data = {}

    @classmethod
    def of(cls, title: str, axes: Mapping[str, Any], arrays: Mapping[str, Any], where=True):
        """A row for each point of a grid, after its places along the axes.

        Parameters
        ----------
        title : str
        axes : mapping of str to array_like, shape (n,)
        arrays : mapping of str to array_like
            Broadcast over the grid, whose axes are those of `axes` in their order.
        where : array_like of bool, optional
            Which points have a row.

        Examples
        --------
        >>> Table.of("", {"k": [1, 2]}, {"square": [1.0, 4.0]})
        k  square
        ---------
        1       1
        2       4
        """
        places = np.meshgrid(*map(np.asarray, axes.values()), indexing="ij", copy=False)
        shape = tuple(map(len, axes.values()))
        arrays = {f"{name} (2)" if name in axes else name: one for name, one in arrays.items()}
        index = np.flatnonzero(np.broadcast_to(where, shape))
        data = {
            name: np.broadcast_to(array, shape)
            for name, array in zip((*axes, *arrays), (*places, *arrays.values()))
        }
        shown = evenly(len(index), MOST)
        rows = [[_cell(array.flat[i]) for array in data.values()] for i in index[shown]]
        note = f"{MOST} of {len(index):,} rows" if len(index) > MOST else ""
        table = cls(title, [*data], rows, note, "r" * len(data))
        table._data = {name: array.ravel()[index] for name, array in data.items()}
        return table

    def to_pandas(self) -> Any:
        """A DataFrame of pandas: whole arrays, or the numbers as they are printed."""
        cells = zip(*self.rows)
        printed = zip(self.columns, ([*map(number, column)] for column in cells))
        return pandas().DataFrame(self._data or dict(printed))

    def text(self, most: float = inf) -> str:
        """As text within so many columns: headings and long cells are broken if needed.

        Examples
        --------
        >>> print(Table("", ["name", "largest error"], [["a", "0.25"]]).text(14))
               largest
        name     error
        --------------
        a         0.25
        """
        columns = [*zip(self.columns, *self.rows)]
        widths = [max(map(len, column)) for column in columns]
        least = [
            max((len(word) for cell in column for word in cell.split()), default=1)
            for column in columns
        ]
        heads = [max(map(len, own), default=1) for _, *own in columns]
        for floor in (list(map(max, heads, least)), least):  # headings shrink before cells do
            while sum(widths) + 2 * (len(widths) - 1) > most:
                rooms = [w - f for w, f in zip(widths, floor)]
                if max(rooms) <= 0:
                    break
                widths[rooms.index(max(rooms))] -= 1
        lines = [_line(self.columns, widths, self.align, bottom=True)]
        lines.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
        lines += [_line(row, widths, self.align) for row in self.rows]
        title, note = (_broken(text, most) for text in (self.title, self.note))
        return "\n".join(filter(None, [*title, *lines, *note]))

    def __repr__(self):
        return self.text()

    def _repr_html_(self):
        from html import escape

        styles = {"l": ' style="text-align: left"', "r": ' style="text-align: right"'}

        def line(row, tag):
            cells = [
                f"<{tag}{styles[side]}>{escape(cell)}</{tag}>"
                for cell, side in zip(row, self.align)
            ]
            return f"<tr>{''.join(cells)}</tr>"

        note = f"<p><small>{escape(self.note)}</small></p>" if self.note else ""
        return (
            f"<table><caption{styles['l']}>{escape(self.title)}</caption>"
            f"<thead>{line(self.columns, 'th')}</thead>"
            f"<tbody>{''.join(line(row, 'td') for row in self.rows)}</tbody></table>{note}"
        )


class Tabled:
    """What shows itself as the table that `table()` makes."""

    def __repr__(self):
        return repr(self.table())  # type: ignore[attr-defined]

    def _repr_html_(self):
        return self.table()._repr_html_()  # type: ignore[attr-defined]

    def to_pandas(self) -> Any:
        """Its table as a DataFrame of pandas, the numbers unrounded where they are arrays."""
        return self.table().to_pandas()  # type: ignore[attr-defined]


class Several(Tabled, abc.Mapping[Any, Value]):
    """Results by name: shows itself as a table."""

    _found: Mapping[Any, Any]
    _missing = "nothing is named", ""  # words for what is not there, and the argument that makes it

    def __getitem__(self, name: Any) -> Value:
        if name in self._found:
            return self._found[name]
        what, argument = self._missing
        known = ", ".join(map(str, self._found)) or f"none: integrate with {argument}={{...}}"
        raise KeyError(f"{what} {name!r}; there are {known}")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _ipython_key_completions_(self):
        return list(self)


def _broken(text, most):
    return [text] if len(text) <= most else textwrap.wrap(text, most)


def _line(row, widths, align, bottom=False):
    """A row of cells, each in as many lines as it needs."""
    way = -1 if bottom else 1
    broken = (_broken(c, w)[::way] for c, w in zip(row, widths))
    lines = [*zip_longest(*broken, fillvalue="")][::way]
    return "\n".join(
        "  ".join(
            c.rjust(w) if a == "r" else c.ljust(w) for c, w, a in zip(cells, widths, align)
        ).rstrip()
        for cells in lines
    )


def evenly(count, most):
    """The indices of all of `count`, or of `most` of them at equal distances."""
    return np.linspace(0, count - 1, min(count, most)).round().astype(int)


def batch_axes(shape):
    """The axes of a batch by name.

    Examples
    --------
    >>> [*batch_axes((3,))], [*batch_axes((3, 2))]
    (['batch'], ['batch_0', 'batch_1'])
    """
    names = ["batch"] if len(shape) == 1 else [f"batch_{i}" for i in range(len(shape))]
    return dict(zip(names, map(np.arange, shape)))


def number(cell):
    """A cell as a number if it is one, and None if it is empty."""
    if hasattr(cell, "value"):
        return cell.value
    if cell in ("", "-"):
        return None
    try:
        return float(cell) if set(cell) & set(".einfa") else int(cell.replace(",", ""))
    except ValueError:
        return cell


def pandas():
    """The package, or an ImportError that says how to install it."""
    return optional("pandas", "to_pandas()")


def _cell(value):
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
