"""The directive `picture`: code, and what it draws, in the colours of the reader's page.

    ```{picture} what it shows, for those who do not see it
    :code: show
    pi.plots.phase_portrait(pi.integrate(pi.systems.kepler, dt=0.1, t_end=60.0))
    ```

`code` is show (the default), fold or hide. Pictures are SVG within the page: letters and lines take
the colours of the theme, light or dark, and a phone gets them as sharp as a large screen.
"""

import hashlib
import inspect
import os
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from html import escape
from io import StringIO
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "docs" / "_build" / "pictures"
BLOCK = re.compile(r"^(`{3,})\{picture\}[^\n]*\n((?::[^\n]*\n)*)(.*?)\n\1$", re.M | re.S)
INK, GROUND = "#0b0c0d", "#fdfcfb"  # become the colours of the page
NAMED = {
    INK: "currentColor",
    GROUND: "var(--pst-color-background)",
    "#0072b2": "var(--pi-blue)",
    "#d55e00": "var(--pi-vermillion)",
    "#009e73": "var(--pi-green)",
    "#cc79a7": "var(--pi-purple)",
    "#e69f00": "var(--pi-orange)",
    "#56b4e9": "var(--pi-sky)",
    "#c7c7c7": "var(--pi-exact)",
}
RC = {
    "svg.fonttype": "path", "svg.hashsalt": "pyintegrate", "path.simplify_threshold": 0.3,
    "figure.facecolor": GROUND, "axes.facecolor": "none", "savefig.facecolor": "none",
    "legend.facecolor": GROUND, "legend.frameon": False, "figure.dpi": 72,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "axes.titlecolor": INK,
    "xtick.color": INK, "ytick.color": INK, "lines.linewidth": 1.4, "figure.figsize": (6.0, 3.6),
}  # fmt: skip


def place(code):
    """The file of the picture that some code draws."""
    return CACHE / f"{hashlib.sha256((SOURCES + code).encode()).hexdigest()[:24]}.svg"


def draw(code):
    """SVG of the one figure that some code draws, with `pi`, `np` and `plt` at hand."""
    path = place(code)
    if path.is_file():
        return path.read_text(encoding="utf-8")
    import matplotlib

    matplotlib.use("svg")
    import numpy as np
    from matplotlib import pyplot as plt

    import pyintegrate as pi

    with plt.rc_context(RC):
        exec(compile(code, "picture", "exec"), {"pi": pi, "np": np, "plt": plt})
        page = StringIO()
        plt.gcf().savefig(page, format="svg", bbox_inches="tight", metadata={"Date": None})
        plt.close("all")
    svg = _dressed(page.getvalue(), path.stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_suffix(f".{os.getpid()}")
    waiting.write_text(svg, encoding="utf-8")
    waiting.replace(path)
    return svg


def film(code):
    """The file of the animation that some code names `moving`: a GIF on a white ground."""
    path = place(code).with_suffix(".gif")
    if not path.is_file():
        import matplotlib

        matplotlib.use("agg")
        import numpy as np

        import pyintegrate as pi

        names: dict = {"pi": pi, "np": np}
        exec(compile(code, "film", "exec"), names)
        path.parent.mkdir(parents=True, exist_ok=True)
        names["moving"].save(path, writer="pillow", dpi=72)
    return path


def _dressed(text, stem):
    """Without its header, with colours of the page and names that no other picture uses."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    for colour, name in NAMED.items():
        text = re.sub(re.escape(colour), name, text, flags=re.I)
    text = re.sub(r'(id="|#)([A-Za-z][\w-]*)', rf"\g<1>{stem[:8]}-\2", text)
    shorter = partial(re.compile(r"(\d\.\d\d)\d+").sub, r"\1")  # a hundredth of a point is enough
    text = re.sub(r' d="[^"]*"', lambda path: shorter(path[0]), text)
    width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text).groups()
    text = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', "", text, count=1)
    return f"<!-- {float(width):.0f} {float(height):.0f} -->" + text


def _sources():
    """A hash of all that decides how pictures look."""
    digest = hashlib.sha256(repr((RC, NAMED, inspect.getsource(_dressed))).encode())
    for folder in ("plots", "analysis"):
        for path in sorted((ROOT / "pyintegrate" / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


SOURCES = _sources()


def draw_all(folder):
    """Draw what the pages of a folder show and no run before has drawn, by two processes."""
    waiting = {}
    for page in sorted(folder.rglob("*.md")):
        if "_build" not in page.parts:
            for _, _, code in BLOCK.findall(page.read_text(encoding="utf-8")):
                if not place(code).is_file():
                    waiting[code] = str(page.relative_to(folder))
    if waiting:
        with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            jobs = {code: pool.submit(draw, code) for code in waiting}
            for code, job in jobs.items():
                try:
                    job.result()
                except Exception as error:
                    pool.shutdown(cancel_futures=True)
                    raise ValueError(f"a picture of {waiting[code]}: {error}\n{code}") from error


class Film(Directive):
    """Code and its animation; the argument is the alternative text."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self):
        code = "\n".join(self.content)
        path = film(code)
        image = nodes.image(uri=f"/_build/pictures/{path.name}", alt=self.arguments[0])
        return [image, nodes.literal_block(code, code, language="python")]


class Picture(Directive):
    """Code and its picture; the argument is the alternative text."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {
        "code": lambda text: directives.choice(text, ("show", "fold", "hide")),
        "caption": directives.unchanged,
    }

    def run(self):
        code = "\n".join(self.content)
        svg = draw(code)
        width = int(svg[5:].split()[0]) * 4 // 3
        alt = escape(self.arguments[0], quote=True)
        svg = svg.replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)
        caption = self.options.get("caption", "")
        html = f'<figure class="picture"><div style="max-width:{width}px">{svg}</div>'
        html += f"<figcaption>{escape(caption)}</figcaption></figure>" if caption else "</figure>"
        found = [nodes.raw("", html, format="html")]
        shown = self.options.get("code", "show")
        if shown != "hide":
            block = nodes.literal_block(code, code, language="python")
            if shown == "fold":
                start = '<details class="code"><summary>the code of this picture</summary>'
                found.append(nodes.raw("", start, format="html"))
            found.append(block)
            if shown == "fold":
                found.append(nodes.raw("", "</details>", format="html"))
        return found


def _name(app, doctree, docname):
    """Pictures that notebooks have drawn are called after the section in which they stand."""
    for image in doctree.findall(nodes.image):
        said = image.get("alt", "")
        if len(said) < 4 or said.endswith((".png", ".svg")):
            section = image.parent
            while section is not None and not isinstance(section, nodes.section):
                section = section.parent
            title = section.next_node(nodes.title) if section is not None else None
            image["alt"] = f"Picture: {title.astext()}" if title is not None else "Picture"


def setup(app):
    app.add_directive("picture", Picture)
    app.add_directive("film", Film)
    app.connect("doctree-resolved", _name)
