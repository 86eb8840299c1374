"""What the other tests here rely on: a page that does what it should not is caught."""

import pytest

from chromium import FONTS

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
    assert contrast.startswith("serious: ")
    assert "(color-contrast): <p" in contrast
    assert "pale" in contrast
    assert image.startswith("critical: ")
    assert "(image-alt): <img" in image
    assert axe_findings(page, "h1") == []
    assert axe_findings(page, rules=["color-contrast"]) == [contrast]


def test_nothing_is_left_to_the_next_test(windows, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(CALM.format("<h1>one</h1>"), "utf-8")
    own = windows("DejaVu")
    window = own.take({})
    window.address = path.as_uri()
    window.page.goto(path.as_uri())
    window.page.evaluate("localStorage.setItem('kept', 1)")
    other = window.page.context.new_page()
    own.give_back(window)
    assert other.is_closed()
    assert own.take({}) is window
    window.page.goto(path.as_uri())
    assert window.page.evaluate("localStorage.length") == 0
    own.give_back(window)
    # What cannot be cleaned is not used again.
    assert own.take({}) is window
    window.page.close()
    own.give_back(window)
    assert all(window not in idle for idle in own.idle.values())


def test_no_other_fonts_are_seen(open_page, fonts):
    """Whatever a page asks for: generic families, and some that other machines have."""
    own = FONTS[fonts]
    asked = {
        "sans-serif": own.sans,
        "system-ui": own.sans,
        "Roboto, Arial, sans-serif": own.sans,
        "'Liberation Sans', 'DejaVu Sans', serif": own.sans,
        "Verdana, serif": own.serif,
        "ui-monospace, monospace": own.mono,
    }
    page = open_page(
        CALM.format("".join(f'<p style="font-family: {name}">ab <b>c</b></p>' for name in asked))
    )
    tools = page.context.new_cdp_session(page)
    tools.send("DOM.enable")
    tools.send("CSS.enable")
    root = tools.send("DOM.getDocument")["root"]["nodeId"]
    nodes = tools.send("DOM.querySelectorAll", {"nodeId": root, "selector": "p"})["nodeIds"]
    for (name, wanted), node in zip(asked.items(), nodes, strict=True):
        used = tools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        assert {font["familyName"] for font in used} == {wanted}, name
    tools.detach()


def test_words_are_wider_in_some_fonts(windows, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(CALM.format("<p style='width: max-content'>iiii WWWW 0123</p>"), "utf-8")
    widths = []
    for family in FONTS:
        window = windows(family).take({})
        window.address = path.as_uri()
        window.page.goto(path.as_uri())
        widths.append(window.page.locator("p").bounding_box()["width"])
        windows(family).give_back(window)
    assert widths[0] > 1.05 * widths[1]
