"""Pages in a real browser, which may not complain and may not ask for anything.

A browser is started once for each process that runs tests, and each page has a context of its
own in it. Where there is no browser these tests are skipped, and fail if CI is ``true``.
"""

import asyncio
import os
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from chromium import MISSING, found, is_root

HERE = Path(__file__).parent
AXE = files("axe_playwright_python").joinpath("axe.min.js")
GRAVE = ("serious", "critical")
LOOP = pytest.StashKey()


def pytest_collection_modifyitems(items):
    """Skip what needs a browser where there is none, but not where nobody would see it."""
    is_skipped = found() is None and os.environ.get("CI") != "true"
    for item in items:
        if is_skipped and HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Show Playwright's event loop as running to the tests of this folder only.

    Playwright keeps its loop running between calls. Left like that, ``asyncio.run`` would be
    refused to every later test of the process.
    """
    if HERE not in item.path.parents:
        return (yield)
    asyncio._set_running_loop(item.config.stash.get(LOOP, None))
    try:
        return (yield)
    finally:
        item.config.stash[LOOP] = asyncio._get_running_loop()
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def browser():
    """The browser of this process."""
    executable = found()
    if executable is None:
        pytest.fail(MISSING)
    with sync_playwright() as playwright:
        args = ["--no-sandbox"] if is_root() else []
        browser = playwright.chromium.launch(executable_path=executable, args=args)
        loop = asyncio.get_running_loop()
        yield browser
        asyncio._set_running_loop(loop)  # the last test may be any other
        browser.close()


@pytest.fixture
def problems():
    """What went wrong in the pages of this test; a test that wants it so empties the list."""
    found = []
    yield found
    assert found == []


@pytest.fixture
def open_page(browser, problems, tmp_path):
    """Open HTML, or a file of it, as a file: ``open_page(html_or_path, **context_options)``.

    ``at="#document-3"`` is the place in it. The test fails if any page wrote an error on its
    console, raised one, showed a dialog, opened a window, or asked for anything that is not in
    the file.
    """
    contexts = []

    def open_page(page, *, at="", **options):
        if not isinstance(page, Path):
            html, page = page, tmp_path / f"page-{len(contexts)}.html"
            page.write_text(html, encoding="utf-8")
        address = page.resolve().as_uri()
        context = browser.new_context(**options)
        contexts.append(context)
        opened = context.new_page()
        _watch(context, opened, address, problems)
        opened.goto(address + at)
        return opened

    yield open_page
    for context in contexts:
        context.close()


def _watch(context, page, address, problems):
    """Note what a page should not do."""

    def requested(request):
        url = request.url.partition("#")[0]
        if url != address and not url.startswith(("data:", "blob:")):
            problems.append(f"request: {request.url}")

    def said(message):
        if message.type == "error":
            problems.append(f"console: {message.text}")

    def asked(dialog):
        problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    context.on("request", requested)
    page.on("websocket", lambda socket: problems.append(f"request: {socket.url}"))
    page.on("console", said)
    page.on("pageerror", lambda error: problems.append(f"error: {error.message}"))
    page.on("dialog", asked)
    page.on("popup", lambda other: problems.append(f"window: {other.url}"))


@pytest.fixture
def axe_findings():
    """What axe-core finds serious or critical in a page, or a part of it, in a sentence each."""

    def axe_findings(page, part="html"):
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate("part => axe.run(part, {resultTypes: ['violations']})", part)
        return [
            f"{rule['impact']}: {rule['help']} ({rule['id']}): {node['html']} "
            f"{' '.join(node['failureSummary'].split())}"
            for rule in found["violations"]
            if rule["impact"] in GRAVE
            for node in rule["nodes"]
        ]

    return axe_findings
