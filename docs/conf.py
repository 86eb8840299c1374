"""Sphinx configuration."""

import re
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.errors import ExtensionError

from beyondchance import __version__

sys.path.insert(0, str(Path(__file__).parent))  # for notebooks.read

project = "beyondchance"
copyright = "2026, the beyondchance maintainers"
author = "the beyondchance maintainers"
release = version = __version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc"]
# The longer ending first: Sphinx takes the first that fits.
source_suffix = {".nb.md": "myst-nb", ".md": "myst-nb"}
nb_custom_formats = {".nb.md": "notebooks.read"}
nb_execution_mode = "off"
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_static", "paper"]
html_theme = "furo"
html_theme_options = {"top_of_page_buttons": []}
html_copy_source = False
html_title = f"beyondchance {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"
nitpicky = False
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def mathml(text, **options):
    """Return a formula as MathML, which browsers draw without scripts from elsewhere."""
    # A prime stands above an index, as in print.
    primed = re.sub(r"'(_(?:\w|\{[^{}]*\}))?", r"\1^{\\prime}", text)
    return latex2mathml.tex2mathml(primed, **options)


def inline_formula(page, node):
    """Write a formula in a line of text."""
    page.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def formula(page, node):
    """Write a formula that has lines of its own."""
    text = node.astext()
    if "&=" in text and "\\begin" not in text:
        text = rf"\begin{{aligned}} {text} \end{{aligned}}"
    page.body.append(f'<div class="math">{mathml(text, as_block=True)}</div>\n')
    raise nodes.SkipNode


SPOKEN = {
    'role="heading">': 'role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    "<pre>": '<pre tabindex="0">',
}
"""What the theme leaves out for those who hear pages, or scroll by keys."""
ELSEWHERE = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:\w+:)?//.*?>')


def finish(app, error):
    """Complete all pages, and refuse what loads from elsewhere: there may be no network."""
    for page in [] if error else sorted(Path(app.outdir).rglob("*.html")):
        text = page.read_text("utf-8")
        for found in ELSEWHERE.findall(text):
            raise ExtensionError(f"{page} loads from elsewhere: {found}")
        if "_static" not in page.parts:
            for plain, complete in SPOKEN.items():
                text = text.replace(plain, complete)
            page.write_text(text, "utf-8")


def setup(app):
    """Let Sphinx know how formulas are written, and what to check at the end."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
    app.connect("build-finished", finish)
