"""docs/performance.md: each maker's instruction set has its section, from a machine that had it."""

import platform
from pathlib import Path

from pyintegrate import _core

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
CPU = Path("/proc/cpuinfo")
MAKERS = [m for m in ("AMD", "Intel") if CPU.exists() and m in CPU.read_text()]
KIND = ", ".join([_core.info()["instruction_set"], *(MAKERS or [platform.machine()])])


def replace_section(subject, text, before=""):
    """Puts the text in the place of this processor's section on the subject.

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
