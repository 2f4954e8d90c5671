"""Methods side by side, as text and as HTML."""

from __future__ import annotations

_COLUMNS = (
    ("method", "{0.name}"),
    ("order", "{0.order}"),
    ("evaluations", "{0.evaluations}"),
    ("symplectic", "{0.symplectic:d}"),
    ("reversible", "{0.symmetric:d}"),
    ("implicit", "{0.implicit:d}"),
    ("stable to omega dt", "{0.stability_limit:.5g}"),
    ("needs", "{0.requires}"),
    ("title", "{0.title}"),
)
_FLAGS = ("symplectic", "reversible", "implicit")


def _cells(method):
    for name, form in _COLUMNS:
        text = form.format(method)
        yield {"0": "-", "1": "yes"}[text] if name in _FLAGS else text


class MethodTable:
    """A table of methods that prints as text and shows as HTML."""

    def __init__(self, methods):
        self.methods = methods

    def __str__(self):
        rows = [[name for name, _ in _COLUMNS], *(list(_cells(m)) for m in self.methods)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def _repr_html_(self):
        return html_table(self.methods)


def html_table(methods):
    from html import escape

    head = "".join(f"<th>{name}</th>" for name, _ in _COLUMNS)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in _cells(m))
        + "</tr>"
        for m in methods
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
