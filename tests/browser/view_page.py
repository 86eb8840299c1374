"""A page that has nothing but the document view: made sooner and opened sooner than a report."""

import base64
import hashlib
from importlib.resources import files

from beyondchance.page.documents import document_view

BODY = (
    ":root { color-scheme: light dark; --nav: 0rem; --ink: #1a1a1a; --muted: #595959; "
    "--paper: #fff; --card: #f5f6f8; --line: #c8c8c8; --accent: #0b5394 } "
    "@media screen and (prefers-color-scheme: dark) { :root { --ink: #ececec; --muted: #b0b0b0; "
    "--paper: #161616; --card: #1e232a; --line: #4a4a4a; --accent: #8ec5ff } } "
    "body { font-family: sans-serif; margin: 1rem; background: var(--paper); color: var(--ink) }"
)


def page_of(found, **options):
    """The view of disagreements, where annotators are equal also of deciding, and a strict policy.

    Options are those of `document_view`.
    """
    view = document_view(found, **options)
    saving, script, style, deciding = (
        files("beyondchance.page").joinpath(name).read_text("utf-8")
        for name in ("page.js", "documents.js", "documents.css", "decide.js")
    )
    scripts = [saving, script, deciding] if view.is_decided else [script]
    allowed = " ".join(f"'sha256-{_hashed(text)}'" for text in scripts)
    policy = (
        f"default-src 'none'; script-src {allowed}; "
        f"style-src 'sha256-{_hashed(style)}' 'sha256-{_hashed(BODY)}'"
    )
    run = "".join(f'<script type="module">{text}</script>' for text in scripts)
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Documents</title>
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<style>{BODY}</style><style>{style}</style></head><body><main><h1>Report</h1>
<section id="reader"><h2>Documents</h2></section></main>
<script type="application/json" id="documents">{view.payload}</script>
{run}</body></html>"""


def _hashed(text):
    """A text as a policy of content names it."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
