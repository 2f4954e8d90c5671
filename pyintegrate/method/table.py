"""Methods side by side, as text and as HTML."""

from ..values.table import Table

_COLUMNS = {  # the attributes that they show
    "method": "name", "order": "order", "evaluations": "evaluations", "symplectic": "symplectic",
    "reversible": "symmetric", "implicit": "implicit", "stable to omega dt": "stability_limit",
    "needs": "requires", "title": "title",
}  # fmt: skip


def _cell(value):
    if isinstance(value, bool):
        return "yes" if value else "-"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


class MethodTable(Table):
    """A table of methods that prints as text and shows as HTML."""

    def __init__(self, methods):
        rows = [[_cell(getattr(m, name)) for name in _COLUMNS.values()] for m in methods]
        super().__init__("", [*_COLUMNS], rows, align="l" * len(_COLUMNS))
        self.methods = methods
