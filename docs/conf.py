"""Sphinx configuration of the site; ``make docs`` builds it, and a broken link is an error.

Nothing is fetched from the network. Pages and pictures that derive from the code, from pages of the
repository or from measured results are generated before each build (``docs/tools``) into
``docs/_generated``. They are never stale and never committed.
"""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Pictures use formulas of tests/reference and a chart of experiments/.
sys.path[:0] = [str(HERE / "tools"), str(HERE.parent), str(HERE.parent / "tests")]

import api_pages  # noqa: E402
import citing  # noqa: E402
import commands  # noqa: E402
import formulas  # noqa: E402
import method_pictures  # noqa: E402
import pictures  # noqa: E402
import results  # noqa: E402
import root_pages  # noqa: E402
import speed  # noqa: E402
import tutorials  # noqa: E402

project = "ctsne"
author = "The ctsne authors"
copyright = author
version = release = installed_version("ctsne")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
]
# Options begin with two dashes, and strings in code with straight quotes.
smartquotes = False
highlight_language = "none"
toc_object_entries_show_parents = "hide"
exclude_patterns = ["_build", "tools", "notebooks"]
templates_path = ["_templates"]
# A broken reference is an error; names of other libraries cannot be looked up.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib|anndata|scanpy)\..*")]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# docs/tools/tutorials.py has run them already, each in its own folder.
nb_execution_mode = "off"
nb_merge_streams = True

autosummary_generate = True
# The docstrings describe the types in words.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "ctsne"
html_static_path = ["_static"]
html_css_files = ["ctsne.css"]
# Top-level pages without a sidebar.
html_sidebars: dict[str, list[str]] = {"index": [], "start": []}
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, Any] = {
    "show_prev_next": True,
    "show_toc_level": 2,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
}
html_math_renderer = "mathml"


def setup(app: Any) -> None:
    """Generate pages and pictures, and render formulas as MathML."""
    formulas.add_renderer(app)
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("autodoc-process-signature", _hide_private)
    generated = HERE / "_generated"
    shutil.rmtree(generated, ignore_errors=True)  # stale pages
    generated.mkdir()
    api_pages.write(generated)
    commands.write(generated)
    citing.write(HERE.parent, generated)
    root_pages.write(HERE.parent, generated)
    results.write(HERE.parent, generated)
    speed.write(HERE.parent / "benchmarks" / "results", generated)
    pictures.write(generated)
    method_pictures.write(generated)
    tutorials.write(HERE / "notebooks", generated)


def _skip_foreign(
    app: Any, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out methods that scikit-learn adds to an estimator; None lets autodoc decide."""
    return True if str(getattr(obj, "__module__", "") or "").startswith("sklearn") else None


def _hide_private(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str, Any] | None:
    """Hide the signature of classes with private fields, which users do not construct."""
    return ("", returns) if what == "class" and ", _" in (signature or "") else None
