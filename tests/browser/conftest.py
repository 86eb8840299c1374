"""Pages in a real browser, which may not complain and may not ask for anything.

A browser is started once for each process that runs tests and each family of fonts, of which it
sees no other. Pages are shown in DejaVu, which a plain Debian has; a test of what depends on the
width of words asks for ``fonts`` and is run in each family. Where there is no browser or no such
font these tests are skipped, and fail if CI is ``true``.

A new window costs more than most tests, so that tests take turns in one: its storage is emptied
and its page left behind after each. Whatever a context is asked for, such as a touch screen, has
a window of its own.
"""

import asyncio
import os
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import sync_playwright

import beyondchance as bc
import report_corpora
from beyondchance.cli.main import main
from chromium import FONTS, MISSING, found, is_root, only

HERE = Path(__file__).parent
AXE = files("axe_playwright_python").joinpath("axe.min.js")
GRAVE = ("serious", "critical")
LOOP = pytest.StashKey()
USUAL = next(iter(FONTS))
DESKTOP = {"width": 1280, "height": 720}
SURE = ("--confidence", "0.95", "--resamples", "199")


def do_without(what):
    """Skip a test that lacks something, but not where nobody would see it."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


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


@pytest.fixture(params=FONTS)
def fonts(request):
    """The family in which pages are shown; a test that asks for it is run in each."""
    return request.param


@pytest.fixture(scope="session")
def windows(tmp_path_factory):
    """The windows of this process: ``windows(family)``, of a browser that sees these fonts only."""
    executable = found()
    if executable is None:
        do_without(MISSING)
    with sync_playwright() as playwright:
        started = {}

        def windows(family):
            if family not in started:
                if FONTS[family].missing:
                    do_without(FONTS[family].missing)
                settings = only(FONTS[family], tmp_path_factory.mktemp(family))
                started[family] = Windows(
                    playwright.chromium.launch(
                        executable_path=executable,
                        args=["--no-sandbox"] if is_root() else [],
                        env={**os.environ, "FONTCONFIG_FILE": str(settings)},
                    )
                )
            return started[family]

        loop = asyncio.get_running_loop()
        yield windows
        asyncio._set_running_loop(loop)  # the last test may be any other
        for each in started.values():
            each.browser.close()


class Windows:
    """The windows of a browser, one for each set of options."""

    def __init__(self, browser):
        self.browser = browser
        self.idle = {}

    def take(self, options):
        """A window that nobody uses, with what watches it."""
        kind = repr(sorted(options.items()))
        if self.idle.get(kind):
            return self.idle[kind].pop()
        context = self.browser.new_context(**options)
        window = SimpleNamespace(page=context.new_page(), options=options, address="", problems=[])
        _watch(context, window)
        return window

    def give_back(self, window):
        """Leave a window as it was; close it where that cannot be done."""
        page, options = window.page, window.options
        for other in page.context.pages:
            if other is not page:
                other.close()
        if page.is_closed() or not page.url.startswith("file:"):
            page.context.close()
            return
        if options.get("java_script_enabled", True):
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.goto("about:blank")
        page.mouse.move(0, 0)
        self.idle.setdefault(repr(sorted(options.items())), []).append(window)


@pytest.fixture
def problems():
    """What went wrong in the pages of this test; a test that wants it so empties the list."""
    found = []
    yield found
    assert found == []


@pytest.fixture
def open_page(request, windows, problems, tmp_path):
    """Open HTML, or a file of it, as a file: ``open_page(html_or_path, **context_options)``.

    ``at="#document-3"`` is the place in it, and ``over=page`` takes the window of a page that is
    no longer needed, with what that has stored. The test fails if any page wrote an error on its
    console, raised one, showed a dialog, opened a window, or asked for anything that is not in
    the file.
    """
    taken = []
    family = request.getfixturevalue("fonts") if "fonts" in request.fixturenames else USUAL
    own = windows(family)

    def open_page(page, *, at="", over=None, viewport=DESKTOP, color_scheme="light", **options):
        if not isinstance(page, Path):
            html, page = page, tmp_path / f"page-{len(list(tmp_path.iterdir()))}.html"
            page.write_text(html, encoding="utf-8")
        if over is None:
            taken.append(own.take(options))
            window = taken[-1]
        else:
            window = next(each for each in taken if each.page is over and each.options == options)
            over.goto("about:blank")
        window.address, window.problems = page.resolve().as_uri(), problems
        window.page.set_viewport_size(viewport)
        window.page.emulate_media(media="null", color_scheme=color_scheme)
        window.page.goto(window.address + at)
        return window.page

    yield open_page
    for window in taken:
        own.give_back(window)


def _watch(context, window):
    """Note what a page should not do."""

    def noted(problem):
        window.problems.append(problem)

    def requested(request):
        url = request.url.partition("#")[0]
        if url != window.address and not url.startswith(("data:", "blob:")):
            noted(f"request: {request.url}")

    def said(message):
        if message.type == "error":
            noted(f"console: {message.text}")

    def asked(dialog):
        noted(f"dialog: {dialog.message}")
        dialog.dismiss()

    page = window.page
    context.on("request", requested)
    page.on("websocket", lambda socket: noted(f"request: {socket.url}"))
    page.on("console", said)
    page.on("pageerror", lambda error: noted(f"error: {error.message}"))
    page.on("dialog", asked)
    page.on("popup", lambda other: noted(f"window: {other.url}"))


@pytest.fixture
def axe_findings():
    """What axe-core finds serious or critical in a page, or a part of it, in a sentence each.

    ``rules`` are those to ask for; all, if there are none.
    """

    def axe_findings(page, part="html", rules=()):
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE.read_text("utf-8"))
        options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
        found = page.evaluate(
            "async ([part, options]) => (await axe.run(part, options)).violations", [part, options]
        )
        return [
            f"{rule['impact']}: {rule['help']} ({rule['id']}): {node['html']} "
            f"{' '.join(node['failureSummary'].split())}"
            for rule in found
            if rule["impact"] in GRAVE
            for node in rule["nodes"]
        ]

    return axe_findings


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Reports by name, each written once: the file, and the arguments it was written with."""
    known = {}

    def made(kind):
        if kind not in known:
            folder = tmp_path_factory.mktemp(kind)
            args = [*getattr(report_corpora, kind)(folder), *SURE]
            path = folder / "report.html"
            assert main(["report", "--quiet", *args, "--save", str(path)]) == 0
            known[kind] = SimpleNamespace(path=path, args=args)
        return known[kind]

    return made


@pytest.fixture(scope="session")
def example_report(tmp_path_factory):
    """The report on the example, as a file."""
    path = tmp_path_factory.mktemp("example") / "report.html"
    bc.report(bc.example(), resamples=99).save(path)
    return path
