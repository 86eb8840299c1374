"""The app in a browser: from a drop to a gold standard on the disk."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

import beyondchance as bc
from beyondchance.app import sessions
from beyondchance.cli.main import main
from browser.conftest import DESKTOP, USUAL
from deciding import marks
from refusals import assert_tells
from serving import serving
from tasks import sleeps

pytestmark = pytest.mark.slow

PATIENCE = 60_000
"""Milliseconds for work in another process, on a machine that has other work."""
PHONE = {"width": 390, "height": 844}
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
# Who decides was asked, and places come by document.
ASKED = """() => {
    localStorage.setItem("beyondchance name", "mia");
    localStorage.setItem("beyondchance order", "document");
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The files of the example, one for each of three people."""
    folder = tmp_path_factory.mktemp("example")
    assert main(["demo", "--files", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture
def opened(server, windows, problems):
    """Open the app: ``opened(**context_options)``; no page may ask for anything elsewhere."""
    contexts = []

    def opened(**options):
        context = windows(USUAL).browser.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        context.on("request", lambda request: requested(request.url))
        context.on("console", lambda said: said.type == "error" and problems.append(said.text))
        context.on("weberror", lambda error: problems.append(str(error.error)))
        page = context.new_page()
        page.goto(server.address)
        return page

    def requested(url):
        own = f"http://127.0.0.1:{server.port}/"
        if not url.startswith((own, f"blob:{own}", "data:")):
            problems.append(f"request: {url}")

    yield opened
    for context in contexts:
        context.close()


def drop(page, *paths):
    """Drop files and folders from the desktop, as people do."""
    box = page.locator("#drop").bounding_box()
    at = {"x": box["x"] + 20, "y": box["y"] + 20}
    devtools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})


def tab_to(page, name):
    """Press Tab until the focus is on what has this name."""
    for _ in range(60):
        page.keyboard.press("Tab")
        text = "e => e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent"
        if page.evaluate(f"({text})(document.activeElement)").strip().startswith(name):
            return
    raise AssertionError(name)


def reached(page, title):
    """The work is done, and the page leads to what there is now."""
    expect(page.get_by_role("heading", name=title)).to_be_focused(timeout=PATIENCE)


def decide(page, keys):
    """Decide in the report, save, and return what the page says and sends."""
    page.evaluate(ASKED)
    page.reload()
    for key in ["d", *keys]:
        page.keyboard.press(key)
    with page.expect_response(
        lambda answer: answer.url.endswith("/decisions"), timeout=PATIENCE
    ) as answer:
        page.get_by_role("button", name="Save decisions").press("Enter")
    expect(page.locator(".decide-said")).to_contain_text("Saved.", timeout=PATIENCE)
    sent = json.loads(answer.value.request.post_data)
    return page.text_content(".decide-said"), json.loads(sent["text"])["decisions"]


def read_gold(path):
    read = bc.read(path)
    (name,) = read.annotators
    return marks(read, name)


def own_gold(corpus, decisions):
    """What was decided, and elsewhere what more than half of the three marked."""
    gold = {}
    for number, name in enumerate(corpus.documents):
        first = corpus.text_document.tolist().index(number)
        everybody = [
            (text - first, *place)
            for text, *place in zip(
                corpus.span_text.tolist(),
                corpus.span_start.tolist(),
                corpus.span_end.tolist(),
                [corpus.labels[i] for i in corpus.span_label.tolist()],
                strict=True,
            )
            if corpus.text_document[text] == number
        ]
        found = {span for span in everybody if everybody.count(span) > 1}
        for x in (x for x in decisions if x["document"] == name):
            inside = (x["text"], x["start"], x["end"])
            found = {
                y for y in found if y[0] != inside[0] or y[2] <= inside[1] or inside[2] <= y[1]
            } | {(x["text"], *span) for span in x["spans"]}
        gold[name] = sorted((start, end, label) for _, start, end, label in found)
    return gold


def test_from_drop_to_gold(opened, example, axe_findings, tmp_path):
    page = opened()
    assert axe_findings(page) == []
    drop(page, example)
    reached(page, "2. People")
    names = page.locator("#names input[type=text]")
    assert [x.input_value() for x in names.all()] == ["ada", "ben", "cleo"]
    assert_tells(page.text_content("#notes"), "read as conll …")
    names.nth(0).fill("Ada L.")
    page.get_by_role("button", name="Make the report").click()
    reached(page, "3. Report")
    assert axe_findings(page) == []
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open the report").click()
    report = popup.value
    report.wait_for_load_state()
    assert "Ada L." in report.title()
    assert report.evaluate("window.opener") is None
    assert report.evaluate("document.referrer") == ""
    said, decisions = decide(report, "1201")
    assert len(decisions) == 4
    assert_tells(said, "Saved. 4 of … places …")
    page.bring_to_front()
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator("#decided")).to_contain_text("4 of ")
    page.get_by_label("Format").select_option("conll")
    page.get_by_label("Where nobody decided").select_option("majority")
    expect(page.get_by_label("Ties")).to_be_hidden()
    with page.expect_download(timeout=PATIENCE) as download:
        page.get_by_role("button", name="Download gold").click()
    assert download.value.suggested_filename == "gold.conll"
    path = tmp_path / "gold.conll"
    download.value.save_as(path)
    corpus = bc.read(example)
    own = own_gold(corpus, decisions)
    assert [sorted(x) for x in read_gold(path).values()] == [*own.values()]
    with page.expect_download(timeout=PATIENCE) as download:
        page.get_by_role("link", name="Download decisions").click()
    assert json.loads(download.value.path().read_text("utf-8"))["decisions"] == decisions


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_by_keys_only(opened, example, axe_findings, viewport):
    page = opened(viewport=viewport, color_scheme="dark")
    choosers = []
    page.on("filechooser", lambda chooser: choosers.append(chooser))  # noqa: PLW0108
    assert page.evaluate(FITS)
    tab_to(page, "Choose files")
    page.keyboard.press("Enter")
    chooser = page.wait_for_event("filechooser") if not choosers else choosers[0]
    chooser.set_files(sorted(example.iterdir()))
    reached(page, "2. People")
    tab_to(page, "Name of ben")
    page.keyboard.type("Ben")
    tab_to(page, "Make the report")
    page.keyboard.press("Enter")
    reached(page, "3. Report")
    assert page.evaluate(FITS)
    assert axe_findings(page) == []
    tab_to(page, "Open the report")
    with page.expect_popup() as popup:
        page.keyboard.press("Enter")
    expect(popup.value).to_have_title(re.compile("Ben"))
    popup.value.close()
    tab_to(page, "Format")
    page.keyboard.type("brat")
    tab_to(page, "Download gold")
    page.keyboard.press("Enter")
    # What is refused is said, and the next try is one choice away.
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("8 of 76 entities are ties", timeout=PATIENCE)
    assert axe_findings(page) == []
    expect(page.get_by_role("button", name="Download gold")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("leave")
    with page.expect_download(timeout=PATIENCE) as download:
        tab_to(page, "Download gold")
        page.keyboard.press("Enter")
    expect(alert).to_be_hidden()
    assert download.value.suggested_filename == "gold-brat.zip"
    assert page.evaluate(FITS)


def test_a_gold_standard_by_a_click(opened, example):
    page = opened()
    drop(page, *sorted(example.iterdir()))
    page.get_by_label("cleo is the gold standard").check()
    page.get_by_role("button", name="Make the report").click()
    reached(page, "3. Report")
    expect(page.get_by_role("heading", name="4. Gold standard")).to_be_hidden()
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open the report").click()
    expect(popup.value.locator("#systems, .leaderboard").first).to_be_visible()


def test_files_that_cannot_be_read(opened, example, tmp_path, problems):
    page = opened()
    for name, content, told in (
        ("broken.json", '[{"id": 1, ', "broken.json:1: not valid JSON …"),
        ("empty.conll", "", "empty.conll: is empty …"),
        ("<img src=x onerror=alert(1)>.json", "{", "<img src=x onerror=alert(1)>.json:1: …"),
    ):
        (tmp_path / name).write_text(content)
        drop(page, tmp_path / name)
        expect(page.get_by_role("alert")).to_be_visible(timeout=PATIENCE)
        assert_tells(page.get_by_role("alert").text_content(), told)
        page.get_by_role("button", name="Start anew").click()
        expect(page.get_by_role("alert")).to_be_hidden()
    # Another one of that name is refused, and one can start anew.
    (tmp_path / "a.conll").write_text("")
    for told in ("a.conll: is empty", "a.conll: is given already"):
        drop(page, tmp_path / "a.conll")
        expect(page.get_by_role("alert")).to_contain_text(told, timeout=PATIENCE)
        expect(page.get_by_role("button", name="Choose files")).to_be_enabled(timeout=PATIENCE)
    assert len(problems) == 1
    assert "400 (Bad Request)" in problems.pop()
    expect(page.locator("#given")).to_contain_text("a.conll: 1 file")
    page.get_by_role("button", name="Start anew").click()
    (tmp_path / ".hidden").write_text("")
    drop(page, tmp_path / ".hidden")
    expect(page.get_by_role("alert")).to_contain_text("no file to read")
    # Who goes on after that finds nothing of it.
    drop(page, *sorted(example.iterdir()))
    reached(page, "2. People")


def test_work_is_shown_and_stopped(opened, example, monkeypatch):
    monkeypatch.setattr(sessions, "read_files", sleeps)
    page = opened()
    drop(page, example)
    status = page.locator("#doing [role=status]")
    expect(status).to_have_text(re.compile(r"Sleeping … [1-9] s"), timeout=PATIENCE)
    expect(page.get_by_role("button", name="Choose files")).to_be_disabled()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("alert")).to_contain_text("the work was ended", timeout=PATIENCE)
    monkeypatch.undo()


def test_two_tabs(opened, example):
    one = opened()
    other = one.context.new_page()
    other.goto(one.url.rpartition("/")[0] + "/")
    assert other.url == one.url  # the same session
    third = opened()
    assert third.url != one.url
    drop(third, example)
    reached(third, "2. People")
    one.reload()
    time.sleep(0.2)
    expect(one.get_by_role("heading", name="2. People")).to_be_hidden()
    third.reload()
    expect(third.get_by_role("heading", name="2. People")).to_be_visible()
