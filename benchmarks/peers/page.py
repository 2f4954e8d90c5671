"""docs/performance.md: each instruction set has its section, from the machine that had it."""

from pathlib import Path

from pyintegrate import _core

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
KIND = _core.info()["instruction_set"]


def replace_section(subject, text, before=""):
    """Puts the text in the place of this instruction set's section on the subject.

    A new section comes before the line ``before``; without one to the end.
    """
    name = f"{subject} {KIND}".strip()
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = PAGE.read_text()
    if begin not in page:
        start = page.index(before) if before else len(page)
        page = f"{page[:start]}\n{begin}{end}\n{page[start:]}"
    above, _, rest = page.partition(begin)
    PAGE.write_text(f"{above}{begin}\n{text.strip()}\n\n{end}{rest.partition(end)[2]}")
