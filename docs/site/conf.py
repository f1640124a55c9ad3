"""Sphinx's settings. `build.py` runs it on a folder where all pages have been brought together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import strew
from documents import page_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "strew"
author = "the strew authors"
version = release = strew.__version__
html_title = f"strew {version}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_static"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
# Documents begin with what their readers need, not with what the site's headings need.
suppress_warnings = ["myst.header"]

# Docstrings write a name in single backquotes.
default_role = "literal"
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
napoleon_google_docstring = False
# Attributes of a named tuple are described by their class, and again as its members otherwise.
napoleon_use_ivar = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("filter.js", {"defer": "defer"}), ("charts.js", {"defer": "defer"})]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def as_text(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Turns what docstrings take from Markdown into what Sphinx reads.

    These are fenced blocks, and documents that are named by their path in the repository.
    """

    def link(found: re.Match[str]) -> str:
        page = page_of(found[0])
        return found[0] if page is None else f":doc:`/{page}`"

    made, inside = [], False
    for line in lines:
        if line.startswith("```"):
            inside = not inside
            made += ["::", ""] if inside else [""]
        elif inside:
            made.append(f"    {line}")
        else:
            made.append(re.sub(r"\b(?:docs/)?\w+\.md\b", link, line))
    lines[:] = made


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", as_text)
