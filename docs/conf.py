"""The pages of `make docs`: warnings are errors, the notebooks are run, every name is listed."""

import re
import shutil
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # building/: pages of methods and systems, pictures, formulas
shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks", dirs_exist_ok=True)
for notebook in (HERE / "notebooks").glob("*.ipynb"):  # from here the pages are one folder up
    notebook.write_text(notebook.read_text(encoding="utf-8").replace("](../docs/", "](../"))

import pyintegrate  # noqa: E402

for _name in ("watch", "across"):  # catalogues of functions, listed as modules
    sys.modules[f"pyintegrate.{_name}"] = getattr(pyintegrate, _name)

project = "pyintegrate"
release = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["version"]
extensions = [
    "myst_nb", "sphinx_design", "sphinx.ext.autodoc", "sphinx.ext.autosummary",
    "sphinx.ext.napoleon", "building",
]  # fmt: skip
exclude_patterns = ["_build", "**.ipynb_checkpoints", "building"]
html_title = "pyintegrate"
html_theme = "pydata_sphinx_theme"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("gallery.js", {"defer": "defer"})]
html_math_renderer = "mathml"  # formulas need neither a script nor the network
html_show_sphinx = False
html_copy_source = False
html_domain_indices = False
html_theme_options = {
    "logo": {"text": "pyintegrate"},
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"index": [], "**": ["page-toc"]},
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "which_method": []}
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".notebooks")
nb_execution_timeout = 600  # of a cell, by the clock: a machine may be busy with other things
nb_execution_raise_on_error = True
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath", "colon_fence"]
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
# Attributes are described in the docstring of their class, once.
napoleon_attr_annotations = False


def _plain(app, what, name, thing, options, lines):
    """(*batch, dim) is a shape and |E0| an absolute value: neither is markup; nor are examples."""
    example = False
    for i, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            parts = re.split(r"(``.*?``)", line)
            parts[::2] = [re.sub(r"(?<![*\\])(\*(?=[a-z])|\|)", r"\\\1", p) for p in parts[::2]]
            lines[i] = "".join(parts)


def setup(app):
    app.connect("autodoc-process-docstring", _plain)
