"""The link to the lab: a page of its own, `docs/lab/index.html`, copied where it was built."""

import shutil
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

DOCS = Path(__file__).resolve().parent.parent
PAGE = DOCS / "lab" / "index.html"


class LabLink(Directive):
    """A button that opens the lab; nothing where there is none. The argument is its text."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        if not PAGE.is_file():
            return []
        up = "../" * self.state.document.settings.env.docname.count("/")
        text = f'<a class="button" href="{up}lab/index.html">{self.arguments[0]}</a>'
        return [nodes.raw("", text, format="html")]


def _copy(app, failure):
    if PAGE.is_file() and not failure:
        shutil.copytree(PAGE.parent, Path(app.outdir) / "lab", dirs_exist_ok=True)


def setup(app):
    app.add_directive("lab-link", LabLink)
    app.connect("build-finished", _copy)
