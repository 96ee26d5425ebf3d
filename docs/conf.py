"""How the site is built: ``make docs``; warnings are errors."""

import onechange

project = "onechange"
author = "The onechange authors"
release = version = onechange.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"onechange {release}"
html_show_copyright = False
html_copy_source = False
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
# Blocks of JSON stand for a shape, with dots in them; they need no lexer's consent.
suppress_warnings = ["misc.highlighting_failure"]
