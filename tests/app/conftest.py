"""A server of the app for the tests of this folder, and a page of a browser."""

import pytest

from serving import Browser, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server for all tests: its port and its folder."""
    with serving(tmp_path_factory.mktemp("app")) as server:
        yield server


@pytest.fixture
def browser(server):
    """A page of the app, with a session of its own."""
    browser = Browser(server.port)
    yield browser
    browser.send("POST", "anew", {})
