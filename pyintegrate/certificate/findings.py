"""What certificates have in common: rows of declared and found properties, and their table."""

from __future__ import annotations

from ..values.table import Table, Tabled
from ..values.types import Any, Iterator


class Findings(Tabled):
    """The properties of a method, declared and found: a base class."""

    method: Any

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Of each property its name, what is declared and found, how, and whether they agree."""
        raise NotImplementedError

    @property
    def failures(self) -> tuple[str, ...]:
        """Differences between what was declared and what was found."""
        return tuple(
            f"{name}: {declared} declared, {found} found"
            for name, declared, found, _, agree in self.rows()
            if not agree
        )

    @property
    def holds(self) -> bool:
        """Whether everything that was declared was also found."""
        return not self.failures

    def table(self) -> Table:
        """Declared and found properties, side by side."""
        m, failures = self.method, "; ".join(self.failures)
        note = f"NOT AS DECLARED: {failures}" if failures else "all found as declared"
        rows = [[*map(str, cells)] for *cells, _ in self.rows()]
        title = f"{m.name}: {m.title}. {m.reference}".rstrip(" .")
        return Table(title, ("property", "declared", "found", "how"), rows, note, align="lrrl")
