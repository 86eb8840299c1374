"""Settings of the test suite."""

import os

import pytest
from hypothesis import settings

# No deadline: machines differ. The same examples on every run on CI, so that a failure can be
# repeated; fresh ones everywhere else.
settings.register_profile("beyondchance", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("beyondchance")
# For make check, and for a second run of the same tests on the installed package.
settings.register_profile("brief", parent=settings.get_profile("beyondchance"), max_examples=10)

SHARED = {
    # Both need the same integral, which takes half a minute and is kept by its process.
    "tests/core/test_expected.py::test_large_text_by_the_token_measure": "a long integral",
    "tests/core/test_placement.py::test_characters": "a long integral",
}
"""Tests that share something costly, and what they share."""


def pytest_addoption(parser):
    """Let golden files be written anew."""
    parser.addoption("--write-golden", action="store_true", help="write the golden files anew")


def pytest_collection_modifyitems(items):
    """Start with slow tests, so that no process waits for another one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run each test in any process that is free, but tests that share something in one.

    The mark ``xdist_group`` has no effect here: pytest-xdist 3.8 writes the group into an
    attribute of the tests, ``_nodeid``, that pytest 9.2 does not read.
    """
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            if nodeid.startswith("tests/browser/"):
                return nodeid.partition("::")[0]  # each page is made once
            return SHARED.get(nodeid, nodeid)

    return Scheduling(config, log)
