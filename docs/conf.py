"""The pages of `make docs`: warnings are errors, the notebooks are run, every name is listed."""

import re
import shutil
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks", dirs_exist_ok=True)

project = "pyintegrate"
release = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["version"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
html_theme = "alabaster"
html_theme_options = {"description": "see what an integrator does", "page_width": "1100px"}
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".notebooks")
nb_execution_timeout = 120
nb_execution_raise_on_error = True
myst_heading_anchors = 3
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
