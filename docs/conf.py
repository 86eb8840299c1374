"""Sphinx configuration."""

from beyondchance import __version__

project = "beyondchance"
copyright = "2026, the beyondchance maintainers"
author = "the beyondchance maintainers"
release = version = __version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_static", "paper"]
html_theme = "alabaster"
html_static_path = ["_static"]
html_theme_options = {
    "description": "How much of this agreement is more than luck?",
    "page_width": "60rem",
}
nitpicky = False
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
