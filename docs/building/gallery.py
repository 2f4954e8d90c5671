"""The gallery as a page: python -P docs/building/gallery.py writes docs/gallery.md."""

import re
from pathlib import Path

from pyintegrate.plots.gallery import FIGURES, draw


def page(folder="gallery"):
    """The page that shows all figures with their code, as Markdown.

    Parameters
    ----------
    folder : str, optional
        Where the pictures are, seen from the page.

    Returns
    -------
    str

    """
    parts = [
        "# Gallery",
        "",
        "Every picture and table here is drawn by the lines beside it, after `import pyintegrate"
        " as pi`, `import numpy as np`",
        "and `import matplotlib.pyplot as plt`; all at once by"
        " `python -m pyintegrate figures --out DIR`.",
    ]
    for name, figure in FIGURES.items():
        shown = f"![{figure.title}]({folder}/{name}.png)"
        if name.endswith("_table"):
            shown = f"```text\n{draw(name)}\n```"
        parts += ["", f"## {figure.title}", figure.text, "", "```python", figure.code, "```", shown]
    return "\n".join(re.sub(r"[ \t]+$", "", part, flags=re.MULTILINE) for part in parts) + "\n"


if __name__ == "__main__":
    (Path(__file__).resolve().parent.parent / "gallery.md").write_text(page(), encoding="utf-8")
