"""The pictures of the example's report: ``python docs/screenshot.py``, where a browser is.

Taken by hand after a change of its looks; browsers differ too much for a test.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent / "_static"
sys.path.insert(0, str(HERE.parents[1] / "tests"))

import chromium  # noqa: E402 - from the tests

PICTURES = {
    "report.png": "#answer",
    "report-fix.png": "#fix",
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
        browser.close()


if __name__ == "__main__":
    main()
