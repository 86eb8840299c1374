"""Cards of people in a browser: printed and saved one by one, by mouse and by keys."""

import re

import pytest
from playwright.sync_api import expect

import report_corpora
from beyondchance import Corpus, agreement, example, report

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}
TEAM = ("amaryllis", "bellflower", "chrysanthemum")
PRINTING = "() => { window.print = () => { window.printed = (window.printed ?? 0) + 1; }; }"


@pytest.fixture(scope="module")
def page_of_team():
    """A report on a team, whose names are no part of any word."""
    corpus = example().rename_annotators(dict(zip(("ada", "ben", "cleo"), TEAM, strict=True)))
    return report(agreement(corpus), corpus, resamples=99, coefficients=[])


def saved(page, name):
    """Save the card of somebody: the name of the file, and its text."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save the card of {name}").click()
    return download.value.suggested_filename, download.value.path().read_text("utf-8")


def seen(page):
    """The headings and cards that can be seen."""
    return page.eval_on_selector_all(
        "h1, h2, h3, .person, figure, nav, footer, .reader",
        "all => all.filter((x) => x.checkVisibility()).map((x) => x.id || x.tagName)",
    )


def test_one_card_is_printed_and_nothing_else(open_page, page_of_team):
    page = open_page(page_of_team.html)
    page.evaluate(PRINTING)
    before = seen(page)
    assert "H1" in before
    page.get_by_role("button", name=f"Print the card of {TEAM[1]}").click()
    assert page.evaluate("window.printed") == 1
    page.emulate_media(media="print")
    assert seen(page) == ["person-2", "person-2-name"]
    assert page.get_by_text("Corrected agreement is 0 for random marks").nth(1).is_visible()
    assert not page.locator("#person-2 .tools").is_visible()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert seen(page) == before
    page.emulate_media(media="print")
    assert {"person-1", "person-2", "person-3", "H1"} <= {*seen(page)}


def test_a_saved_card_is_a_page_of_its_own(open_page, page_of_team, axe_findings):
    page = open_page(page_of_team.html)
    shown = page.locator("#person-2").inner_text().replace("Save\nPrint\n", "")
    name, html = saved(page, TEAM[1])
    assert name == f"{TEAM[1]}.html"
    assert [other for other in TEAM if other in html] == [TEAM[1]]
    assert "<script" not in html
    assert "href" not in html
    for viewport, scheme in ((None, "light"), (PHONE, "dark")):
        card = open_page(html, viewport=viewport or page.viewport_size, color_scheme=scheme)
        assert card.title() == TEAM[1]
        text = card.locator("main").inner_text()
        assert text.startswith(shown)
        assert "This says who differs, not who is wrong." in text
        assert axe_findings(card) == []
        width = card.evaluate("document.documentElement.scrollWidth")
        assert width <= card.viewport_size["width"]
        box = card.locator("mark.own").first
        colours = box.evaluate("x => getComputedStyle(x).backgroundColor")
        assert colours != "rgba(0, 0, 0, 0)"


def test_cards_by_keys_and_on_a_phone(open_page, page_of_team, axe_findings):
    page = open_page(page_of_team.html, at="#person-3", viewport=PHONE)
    page.evaluate(PRINTING)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert axe_findings(page, "#people") == []
    reached = []
    page.locator("#person-3").evaluate("x => { x.tabIndex = -1; x.focus(); }")
    for _ in range(3):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent"))
    assert reached[:2] == ["Save", "Print"]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("window.printed") == 1
    assert page.locator(".person.alone").get_attribute("id") == "person-3"


def test_examples_lead_to_their_places(open_page, page_of_team):
    page = open_page(page_of_team.html)
    link = page.locator("#person-1 li a").first
    place = link.get_attribute("href")
    link.click()
    expect(
        page.locator(f".reader article#{re.match(r'#(document-[0-9]+)', place)[1]}")
    ).to_be_visible()


def test_hostile_names_stay_text_in_saved_cards(open_page, made):
    page = open_page(made("harmful").path)
    for number in (1, 2):
        with page.expect_download() as download:
            page.locator(f"#person-{number} .tools button").first.click()
        name, html = download.value.suggested_filename, download.value.path().read_text("utf-8")
        assert re.fullmatch(r"[\w-]+\.html", name)
        card = open_page(html)
        whole = page.locator(f"#person-{number}").get_attribute("data-name")
        assert card.title() == re.sub("[ \t\n\f\r]+", " ", whole)
        assert card.locator("h3").text_content() == whole
        assert card.evaluate("window.hacked") is None
        assert card.locator("img, script, main svg").count() == 0


def test_names_of_every_kind_are_names_of_files(open_page):
    names = ("../../etc/passwd", "אבג", "a" * 300)
    spans = {name: [[(0, i + 1, "P")]] * 3 for i, name in enumerate(names)}
    corpus = Corpus.from_spans(spans, lengths=[9] * 3)
    page = open_page(report(agreement(corpus), corpus, resamples=99, coefficients=[]).html)
    found = []
    for number in (1, 2, 3):
        with page.expect_download() as download:
            page.locator(f"#person-{number} .tools button").first.click()
        found.append(download.value.suggested_filename)
    assert found == ["-etc-passwd.html", "אבג.html", f"{'a' * 60}.html"]


@pytest.mark.parametrize("kind", ["pair", "team", "systems"])
def test_cards_of_all_reports(open_page, made, kind, axe_findings):
    for scheme in ("light", "dark"):
        page = open_page(made(kind).path, color_scheme=scheme)
        assert axe_findings(page, "#people") == []
    known = {"pair": ("ada", "ben"), "team": report_corpora.TEAM, "systems": report_corpora.SYSTEMS}
    names = page.locator(".person h3").all_inner_texts()
    assert names == [*known[kind]]
