"""`cite`: the references of a method and of the package."""

from __future__ import annotations

import re

from .. import _core
from .checks import choice
from .types import Any, Literal

_PACKAGE = (
    "The pyintegrate developers, pyintegrate {version}: integration of batches of trajectories",
    """@software{{pyintegrate,
  author = {{{{The pyintegrate developers}}}},
  title = {{pyintegrate: integration of batches of trajectories}},
  version = {{{version}}},
}}""",
)
_ENTRY = """@misc{{{key}{year},
  author = {{{authors}}},
  year = {{{year}}},
  note = {{{where}}},
}}"""
# Authors, a year, and what follows until the next authors: as all references of methods are.
_REFERENCE = re.compile(r"(?:^|; )((?:de )?[A-Z][^;()\d]*) \((\d{4})\)(?:, )?")


def cite(what: Any, style: Literal["bibtex", "text"] = "bibtex") -> str:
    """What to cite: the references of the method, and the package.

    Parameters
    ----------
    what : Solution, Method or System
        A solution is cited by its method, and by Radau IIA where "auto" took it.
    style : {"bibtex", "text"}

    Returns
    -------
    str

    Raises
    ------
    TypeError, ValueError
        What has no reference; another style.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(pi.cite(pi.methods.rk4).split("@software")[0].rstrip())
    @misc{Kutta1901,
      author = {Kutta},
      year = {1901},
      note = {Z. Math. Phys. 46, 435-453},
    }
    """
    reference = getattr(getattr(what, "method", what), "reference", None)
    if not isinstance(reference, str):
        raise TypeError(f"pi.cite takes a Solution, a Method or a System, got {what!r}")
    if also := getattr(what, "_continued_by", None):
        reference += f"; {also.reference}"
    text = choice("style", style, ("bibtex", "text")) == "text"
    package = _PACKAGE[not text].format(version=_core.info()["version"])
    if text:
        return "\n".join(filter(None, (reference, package)))
    _, *parts = _REFERENCE.split(reference)
    entries = [
        _ENTRY.format(
            key=re.sub(r",.*|\W|et al", "", authors), year=year, where=where,
            authors=authors.replace(" et al.", ", others").replace(", ", " and "),
        )
        for authors, year, where in zip(parts[::3], parts[1::3], parts[2::3])
    ]  # fmt: skip
    return "\n".join([*entries, package])
