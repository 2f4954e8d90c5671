"""The lab, a page of its own: `docs/lab/index.html`, copied where it was built; a link, a frame."""

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


class LabFrame(Directive):
    """The lab itself in the place of its content, a picture, once that is shown: lab_frame.js."""

    has_content = True

    def run(self):
        inside = nodes.container(classes=["lab-frame"])
        self.state.nested_parse(self.content, self.content_offset, inside)
        return [inside]


def _copy(app, failure):
    if PAGE.is_file() and not failure:
        shutil.copytree(PAGE.parent, Path(app.outdir) / "lab", dirs_exist_ok=True)


def setup(app):
    app.add_directive("lab-link", LabLink)
    app.add_directive("lab-frame", LabFrame)
    if PAGE.is_file():
        app.add_js_file("lab_frame.js", loading_method="defer")
    app.connect("build-finished", _copy)
