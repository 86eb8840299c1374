"""Agreement over time, and pages without names and texts, in a browser: by keys, on a phone."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from beyondchance.cli.main import main
from planted_teams import NAMES, Plan, export_of

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}
PLAN = Plan(drifts="cleo", since=2, kind="overlooks", merges="ben", labels=("DATE", "EVENT"))


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """Five people in four weeks, of whom cleo overlooks more and more from the third week on."""
    path = tmp_path_factory.mktemp("team") / "amaryllis.json"
    path.write_text(json.dumps(export_of(PLAN, np.random.default_rng(5))))
    return path


def written(export, *options):
    """The report on the team, as a file."""
    path = export.parent / f"report{''.join(options)}.html"
    assert main(["report", "--quiet", str(export), *options, "--save", str(path)]) == 0
    return path


def test_who_changed_by_keyboard_on_a_phone(export, open_page, axe_findings, capsys):
    page = open_page(written(export, "--by", "week"), viewport=PHONE)
    assert main(["diagnose", str(export), "--by", "week", "--output", "json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)["periods"]
    assert [(one["who"], one["since"]) for one in found["changes"]] == [("cleo", "2024-W08")]
    # The first screen says whose work to look at, and leads to the card.
    step = page.locator("[data-step=person] a")
    expect(step).to_be_in_viewport(ratio=1)
    assert step.text_content() == "Look at cleo's work since 2024-W08"
    step.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#person-3 h3")).to_be_in_viewport()
    told = " ".join(page.inner_text("#person-3").split())
    assert "cleo agrees less with the others since 2024-W08" in told
    assert page.locator("#person-1, #person-2").get_by_text("agrees less").count() == 0
    # A cell for each annotator and week, with the number of the command.
    cells = page.locator("#figure-periods rect title").all_text_contents()
    wanted = [
        f"{who}, {week}: {value:.3f} ({n} documents)"
        for who in NAMES
        for week, value, n in zip(
            found["periods"], found["corrected"][who], found["n_documents"][who], strict=True
        )
    ]
    assert cells == wanted
    assert page.locator("#figure-periods line[stroke-width='4']").count() == 1
    # The same as a table, in all digits.
    rows = page.locator("#table-periods tbody tr")
    values = rows.evaluate_all(
        "all => all.map((row) => [...row.cells].slice(1).map((x) => Number(x.dataset.value)))"
    )
    assert values == [
        list(each) for each in zip(*(found["corrected"][x] for x in NAMES), strict=True)
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert axe_findings(page, "#people") == []
    page.emulate_media(color_scheme="dark")
    assert axe_findings(page, "#people", ["color-contrast"]) == []


def test_an_anonymous_page_has_no_name_and_no_text(export, open_page, axe_findings):
    path = written(export, "--anonymous")
    content = path.read_text("utf-8")
    held = [x for x in (*NAMES, "amaryllis", "word word") if re.search(rf"\b{x}\b", content)]
    assert held == []
    page = open_page(path, viewport=PHONE)
    assert page.locator(".person h3").all_text_contents() == [f"annotator {n}" for n in range(1, 6)]
    assert axe_findings(page, "#answer") == []
    # What is decided by keys names documents by their numbers.
    page.locator("[data-step=decide] a").press("Enter")
    page.keyboard.press("1")
    page.keyboard.press("Enter")  # no name
    page.keyboard.press("1")
    page.locator(".decide summary").press("Enter")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save decisions").press("Enter")
    saved = json.loads(download.value.path().read_text("utf-8"))["decisions"]
    assert len(saved) == 2
    assert all(one["document"].startswith("document ") for one in saved)
    assert {one["words"] for one in saved} == {None}
