"""The pictures of the report and of the app: ``python docs/screenshot.py``, where a browser is.

Taken by hand after a change of its looks; browsers differ too much for a test.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent / "_static"
sys.path.insert(0, str(HERE.parents[1] / "tests"))

import chromium  # noqa: E402 - from the tests
from beyondchance import example  # noqa: E402
from beyondchance.io.writing import write  # noqa: E402
from serving import serving  # noqa: E402

PICTURES = {
    "report.png": "#answer",
    "report-fix.png": "#fix",
    "report-people.png": "#people",
    "report-documents.png": ".reader-body",
}
"""What stands at the top of each picture."""


def main() -> None:
    """Take the pictures."""
    with sync_playwright() as driver:
        arguments = ["--no-sandbox"] if chromium.is_root() else []
        browser = driver.chromium.launch(executable_path=chromium.found(), args=arguments)
        page = browser.new_page(viewport={"width": 1180, "height": 700})
        page.goto((HERE / "example-report.html").as_uri())
        for name, top in PICTURES.items():
            page.locator(top).evaluate("(part) => part.scrollIntoView()")
            page.wait_for_timeout(500)  # what was out of sight is drawn when it is in sight
            page.screenshot(path=HERE / name)
        page.keyboard.press("d")
        page.wait_for_timeout(500)
        page.screenshot(path=HERE / "report-deciding.png")
        take_app(browser)
        browser.close()


def take_app(browser: Browser) -> None:
    """Take the pictures of the app, from files to gold."""
    with TemporaryDirectory() as folder, serving(Path(folder)) as server:
        write(example(), f"{folder}/team/", format="conll")
        page = browser.new_page(viewport={"width": 900, "height": 560})
        page.goto(server.address)
        page.screenshot(path=HERE / "app-drop.png")
        page.set_input_files("#chosen", sorted(Path(folder, "team").iterdir()))
        page.locator("#title-people").wait_for()
        page.locator("#title-people").evaluate("(part) => part.scrollIntoView()")
        page.screenshot(path=HERE / "app-people.png")
        page.get_by_role("button", name="Make the report").click()
        page.locator("#title-made").wait_for()
        with page.expect_popup() as popup:
            page.get_by_role("link", name="Open the report").click()
        report = popup.value
        # Who decides was asked, and places come by document.
        report.evaluate("localStorage['beyondchance name'] = 'mia'")
        report.reload()
        for key in "d1102":
            report.keyboard.press(key)
        with report.expect_response("**/decisions"):
            report.get_by_role("button", name="Save decisions").click()
        report.wait_for_timeout(500)
        report.screenshot(path=HERE / "app-decide.png")
        page.evaluate("dispatchEvent(new Event('focus'))")
        page.get_by_text("4 of ").wait_for()
        page.locator("#title-made").evaluate("(part) => part.scrollIntoView()")
        page.screenshot(path=HERE / "app-gold.png")


if __name__ == "__main__":
    main()
