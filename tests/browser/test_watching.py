"""What the other tests here rely on: a page that does what it should not is caught."""

import pytest

pytestmark = pytest.mark.slow

CALM = "<!doctype html><html lang=en><meta charset=utf-8><title>calm</title><main>{}</main></html>"
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def test_a_calm_page_passes(open_page, problems, axe_findings):
    page = open_page(CALM.format(f"<h1>Ada, «βen» 🙂</h1><img alt='a dot' src='{DOT}'>"))
    assert page.text_content("h1") == "Ada, «βen» 🙂"
    assert page.evaluate("document.querySelector('img').naturalWidth") == 1
    assert axe_findings(page) == []
    page.evaluate("location.hash = 'document-3'")
    page.reload()
    assert problems == []


def test_anything_else_is_noted(open_page, problems):
    noted = {
        "console: lost": "<script>console.error('lost')</script>",
        "error: broken": "<script>throw new Error('broken')</script>",
        "error: late": "<script>Promise.reject(new Error('late'))</script>",
        "dialog: hello": "<script>alert('hello')</script>",
        "window: about:blank": "<script>window.open('about:blank')</script>",
        "request: https://a.invalid/x": "<link rel=stylesheet href='https://a.invalid/x'>",
        "request: https://a.invalid/y": "<style>h1 { mask: url(https://a.invalid/y) }</style>",
        "request: https://a.invalid/z": "<script>fetch('https://a.invalid/z')</script>",
        "request: wss://a.invalid/": "<script>new WebSocket('wss://a.invalid/')</script>",
        "request: file:///beside.png": "<img alt='' src='file:///beside.png'>",
    }
    page = open_page(CALM.format(f"<h1>restless</h1>{''.join(noted.values())}"))
    page.wait_for_load_state("networkidle")
    assert noted.keys() - problems == set()
    problems.clear()


def test_each_page_is_watched(open_page, problems):
    open_page(CALM.format("<script>console.error(1)</script>"))
    open_page(CALM.format("<script>console.error(2)</script>"), java_script_enabled=False)
    open_page(CALM.format("<script>console.error(3)</script>"), color_scheme="dark")
    assert problems == ["console: 1", "console: 3"]
    problems.clear()


def test_what_axe_finds_is_told(open_page, axe_findings):
    pale = "<h1>title</h1><p style='color: #bbb; background: #fff'>pale</p>"
    page = open_page(CALM.format(f"{pale}<img src='{DOT}'>"))
    contrast, image = sorted(axe_findings(page), reverse=True)
    assert contrast.startswith("serious: Elements must meet minimum color contrast ratio")
    assert "pale" in contrast
    assert image.startswith("critical: Images must have alternative text (image-alt): <img")
