"""Find a browser for the tests of the report; install one where that is ours to do.

Run by ``make check`` and ``make test``. Any Chromium or Chrome will do. Where there is none,
Debian's chromium is installed if we are root and have ``apt-get``; everywhere else the tests
that need it are skipped, and say which package they lack. Playwright is never asked for a
browser of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MISSING = (
    "no Chromium or Chrome found; install the package chromium, "
    "or name a browser in the environment variable CHROME"
)
# Chrome first: where Ubuntu has a chromium, it is a snap, which cannot read temporary files.
COMMANDS = ("google-chrome-stable", "google-chrome", "chromium", "chromium-browser")
MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
WINDOWS = ("Google/Chrome/Application/chrome.exe", "Chromium/Application/chrome.exe")
WINDOWS_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")


def found() -> str | None:
    """The browser to use, or None where there is none.

    A browser that was named in ``CHROME`` is taken at its word: if it is not there, the tests
    fail rather than use another.
    """
    return os.environ.get("CHROME") or next(_installed(), None)


def is_root() -> bool:
    """Whether we may install packages, and cannot have Chromium's sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def install() -> None:
    """Install Debian's chromium; say so in a line where that fails."""
    silent = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    get = ("apt-get", "--quiet=2", "--option=APT::Install-Recommends=false")
    try:
        for command in (("update",), ("install", "--yes", "chromium")):
            subprocess.run([*get, *command], check=True, capture_output=True, text=True, env=silent)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines() or ["no reason given"]
        print(f"chromium could not be installed: {said[-1]}", file=sys.stderr)


def _installed() -> Iterator[str]:
    """Browsers on the path, then where macOS and Windows have them."""
    yield from filter(None, map(shutil.which, COMMANDS))
    folders = [Path(os.environ[name]) for name in WINDOWS_FOLDERS if name in os.environ]
    usual = [*map(Path, MAC), *(folder / name for folder in folders for name in WINDOWS)]
    yield from (str(path) for path in usual if path.is_file())


if __name__ == "__main__" and found() is None and is_root() and shutil.which("apt-get"):
    install()
