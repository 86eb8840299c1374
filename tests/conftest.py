"""Settings of the test suite."""

import gc
import os
import random
import sys
import time

import pytest
from hypothesis import settings

import beyondchance as bc

# No deadline: machines differ. The same examples on every run on CI, so that a failure can be
# repeated; fresh ones everywhere else. Laws name the number of examples of make slow, and other
# runs scale it (`examples`): make test takes a tenth, make check a twenty-fifth.
settings.register_profile("full", deadline=None, max_examples=100)
settings.register_profile(
    "usual",
    settings.get_profile("full"),
    max_examples=10,
    derandomize=os.environ.get("CI") == "true",
)
settings.register_profile("brief", settings.get_profile("usual"), max_examples=4)
settings.load_profile("usual")

# Limits of memory and full disks are those of Linux; pipes with names, terminals and signals those
# of Unix. tests/test_other_systems.py imitates what differs elsewhere.
collect_ignore = [] if sys.platform == "linux" else ["cli/test_bombs.py", "test_attack.py"]
if sys.platform == "win32":
    collect_ignore += ["cli/test_files.py", "cli/test_running.py", "io/test_places.py"]
    collect_ignore += ["scoring/test_engines.py", "test_gate.py"]

BEGUN = pytest.StashKey[float]()


def pytest_addoption(parser):
    """Let golden files be written anew, the slowest tests be listed, and tests be shuffled."""
    parser.addoption("--write-golden", action="store_true", help="write the golden files anew")
    parser.addoption("--slowest", type=int, default=0, help="list so many tests by CPU time")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run tests in a random order")


def pytest_configure(config):
    """List the slowest tests where that is asked for."""
    number = config.getoption("--slowest")
    if number and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Slowest(number))


def pytest_collection_modifyitems(config, items):
    """Start with slow tests, so that no process waits for another one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)  # noqa: S311 - the same in every process


def pytest_collection_finish():
    """Keep what is loaded by now out of the garbage collection, which looks through all of it."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)  # and go through the rest less often


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch):
    """Give output no width to fit to and no colours, whatever the machine or other tests set."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def cpu_seconds():
    """CPU time of this process and of those that it started and that have ended."""
    now = os.times()
    return time.process_time() + now.children_user + now.children_system


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """Note when a test began."""
    item.stash[BEGUN] = cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Add what a test took to its last report."""
    report = yield
    if call.when == "teardown":
        spent = cpu_seconds() - item.stash[BEGUN]
        report.user_properties = [*report.user_properties, ("CPU seconds", spent)]
    return report


class Slowest:
    """List the tests that took the most CPU time. Nothing fails by it: machines differ."""

    def __init__(self, number):
        self.number = number
        self.spent = []

    def pytest_runtest_logreport(self, report):
        found = dict(report.user_properties).get("CPU seconds")
        if found is not None:
            self.spent.append((found, report.nodeid))

    def pytest_terminal_summary(self, terminalreporter):
        total = sum(spent for spent, _ in self.spent)
        terminalreporter.section(f"slowest of {total:.0f} CPU seconds", sep="-")
        for spent, test in sorted(self.spent, reverse=True)[: self.number]:
            terminalreporter.line(f"{spent:6.2f} {test}")


@pytest.fixture
def by_characters(monkeypatch):
    """Let `bc.read` and `bc.corpus` keep offsets in characters, as files have them."""

    def with_characters(own):
        return lambda *given, **options: own(*given, **{"positions": "characters", **options})

    for name in ("read", "corpus"):
        monkeypatch.setattr(bc, name, with_characters(getattr(bc, name)))
