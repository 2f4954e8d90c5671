"""The gallery as a page: python -P docs/building/gallery.py writes docs/gallery.md.

With the word ``pictures`` it draws those in docs/gallery anew, too.
"""

import re
import sys
from pathlib import Path

from pyintegrate.plots.gallery import FIGURES, draw, write

DOCS = Path(__file__).resolve().parent.parent
MOST_BYTES = 120_000  # of a picture
COLOURS = (256, 64)  # that a picture is reduced to where it is larger


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


def shrink(path):
    """Store a large picture in fewer colours; Matplotlib brings Pillow."""
    from PIL import Image

    for colours in COLOURS:
        if path.stat().st_size > MOST_BYTES:
            with Image.open(path) as picture:
                fewer = picture.convert("RGB").quantize(colours, dither=Image.Dither.NONE)
            fewer.save(path, optimize=True)


if __name__ == "__main__":
    for drawn in write(DOCS / "gallery") if "pictures" in sys.argv else ():
        if drawn.path.suffix == ".png":
            shrink(drawn.path)
        else:
            drawn.path.unlink()  # the page has the table
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
