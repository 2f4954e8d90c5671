"""The modules of ``static/`` joined into one text, for the notebook or for the page."""

import re
from pathlib import Path

STATIC = Path(__file__).parent / "static"
# In the order of their dependencies.
MODULES = (
    "look", "boxes", "scenes", "charts", "limits", "record", "steps", "controls", "side", "lab",
)  # fmt: skip


def joined(*last):
    """The text of the modules in one: mutual imports removed, exports made local.

    Parameters
    ----------
    *last : str
        Modules after the common ones; the exports of the last one stay.

    Returns
    -------
    str

    Examples
    --------
    >>> "import" in [line.split(" ")[0] for line in joined("notebook").splitlines()]
    False
    """
    texts = [(STATIC / f"{name}.js").read_text(encoding="utf-8") for name in (*MODULES, *last)]
    texts = [re.sub(r"^import [^;]*;\n", "", text, flags=re.M) for text in texts]
    texts[:-1] = [re.sub(r"^export ", "", text, flags=re.M) for text in texts[:-1]]
    return "\n".join(texts)


def notebook_module():
    """The front end as the ES module of a widget.

    Examples
    --------
    >>> notebook_module().rstrip().endswith("export default { render };")
    True
    """
    return joined("notebook")


def style():
    """The style sheet.

    Examples
    --------
    >>> ".pi-lab" in style()
    True
    """
    return (STATIC / "lab.css").read_text(encoding="utf-8")


def page():
    """The file of the lab as a page, which needs no server.

    Raises
    ------
    OSError
        If the package was built without it: ``make page`` in its sources makes it.

    Examples
    --------
    >>> page()  # doctest: +SKIP
    PosixPath('.../pyintegrate/laboratory/static/page.html')
    """
    path = STATIC / "page.html"
    if not path.exists():
        raise OSError(
            "this installation was built without the page of the lab: pip install anywidget and"
            " open pi.lab() in a notebook, or build the page in the sources, by make page (it needs"
            " clang and wasm-ld)"
        )
    return path
