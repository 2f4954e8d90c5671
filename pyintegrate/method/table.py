"""Methods side by side, as text and as HTML."""

from ..values.table import Table

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


class MethodTable(Table):
    """A table of methods that prints as text and shows as HTML."""

    def __init__(self, methods):
        rows = [[*_cells(method)] for method in methods]
        super().__init__("", [name for name, _ in _COLUMNS], rows, align="l" * len(_COLUMNS))
        self.methods = methods
