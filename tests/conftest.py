"""Settings of the test suite."""

import os

from hypothesis import settings

# No deadline: machines differ. The same examples on every run where a failure would be
# somebody else's to explain; fresh ones everywhere else.
settings.register_profile("beyondchance", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("beyondchance")
# For a second run of the same tests, on the package as it is installed.
settings.register_profile("brief", parent=settings.get_profile("beyondchance"), max_examples=10)


def pytest_addoption(parser):
    """Let golden files be written anew."""
    parser.addoption("--write-golden", action="store_true", help="write the golden files anew")
