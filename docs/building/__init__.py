"""What `make docs` adds to Sphinx: pages from descriptors, pictures from their code, formulas.

A page of each method and system is written when the build begins; nothing of them is kept in the
repository. Pictures are drawn once into `docs/_build/pictures`, by two processes.
"""

from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent


def _write_pages():
    """Only what has changed: Sphinx reads again what is newer than its last build."""
    from . import pages_of_methods, pages_of_systems

    pages = pages_of_methods.pages() | pages_of_systems.pages()
    for name, text in pages.items():
        path = DOCS / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for folder in ("methods", "systems"):
        for path in (DOCS / folder).glob("*.md"):
            if f"{folder}/{path.stem}" not in pages:
                path.unlink()


def setup(app):
    from . import lab, mathml, pictures  # these need Sphinx, which those who only test have not

    _write_pages()  # before Sphinx looks which pages there are
    mathml.setup(app)
    pictures.setup(app)
    lab.setup(app)
    app.connect("builder-inited", lambda app: pictures.draw_all(DOCS))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
