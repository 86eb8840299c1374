"""Find a browser and fonts for the tests of the report; install them where that is ours to do.

Run by ``make test`` and ``make slow``. Any Chromium or Chrome will do. Pages are shown in the
fonts of one family at a time, so that the fonts of the machine make no difference. What is
missing is installed from Debian's packages if we are root and have ``apt-get``; everywhere else
the tests that need it are skipped, and say which package they lack. Playwright is never asked
for a browser of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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


class Fonts(NamedTuple):
    """A family of fonts: the package that has it, and its files there.

    Files are listed because a folder may hold more, from another package.
    """

    package: str
    folder: Path
    files: tuple[str, ...]
    sans: str
    serif: str
    mono: str

    @property
    def missing(self) -> str | None:
        """What to install, or None where the fonts are there."""
        if all((self.folder / name).is_file() for name in self.files):
            return None
        return f"no {self.sans} in {self.folder}; install the package {self.package}"


FONTS = {
    "DejaVu": Fonts(
        "fonts-dejavu-core",
        Path("/usr/share/fonts/truetype/dejavu"),
        (
            *("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf"),
            *("DejaVuSansMono-Bold.ttf", "DejaVuSerif.ttf", "DejaVuSerif-Bold.ttf"),
        ),
        *("DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono"),
    ),
    "Liberation": Fonts(
        "fonts-liberation",
        Path("/usr/share/fonts/truetype/liberation"),
        (
            *("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
            *("LiberationMono-Regular.ttf", "LiberationMono-Bold.ttf"),
            *("LiberationSerif-Regular.ttf", "LiberationSerif-Bold.ttf"),
        ),
        *("Liberation Sans", "Liberation Serif", "Liberation Mono"),
    ),
}
"""The fonts that pages are shown in: what a plain Debian has, first, and what most others have."""


def found() -> str | None:
    """The browser to use, or None where there is none.

    A browser that was named in ``CHROME`` is taken at its word: if it is not there, the tests
    fail rather than use another.
    """
    return os.environ.get("CHROME") or next(_installed(), None)


def is_root() -> bool:
    """Whether we may install packages, and cannot have Chromium's sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def only(fonts: Fonts, folder: Path) -> Path:
    """Write settings of fontconfig into a folder by which a program sees these fonts only.

    Whatever family a page asks for, it gets one of these.
    """
    own = folder / "fonts"
    own.mkdir()
    for name in fonts.files:
        (own / name).symlink_to(fonts.folder / name)
    named = {
        fonts.sans: ("sans-serif", "system-ui", "Arial", "Helvetica"),
        fonts.serif: ("serif", "Times New Roman"),
        fonts.mono: ("monospace", "ui-monospace", "Courier New"),
    }
    aliases = "".join(
        f'<alias binding="same"><family>{name}</family>'
        f"<prefer><family>{family}</family></prefer></alias>\n"
        for family, names in named.items()
        for name in names
    )
    last = (
        '<match target="pattern"><edit name="family" mode="append_last">'
        f"<string>{fonts.sans}</string></edit></match>\n"
    )
    path = folder / "fonts.conf"
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>\n'
        f"<dir>{own}</dir>\n<cachedir>{folder / 'cache'}</cachedir>\n"
        f"{aliases}{last}</fontconfig>\n",
        "utf-8",
    )
    return path


def packages() -> list[str]:
    """Debian's packages of what is missing."""
    browser = [] if found() else ["chromium"]
    return browser + [fonts.package for fonts in FONTS.values() if fonts.missing]


def install(names: Sequence[str]) -> None:
    """Install packages; say so in a line where that fails."""
    silent = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    get = ("apt-get", "--quiet=2", "--option=APT::Install-Recommends=false")
    try:
        for command in (("update",), ("install", "--yes", *names)):
            subprocess.run([*get, *command], check=True, capture_output=True, text=True, env=silent)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines() or ["no reason given"]
        print(f"{' '.join(names)} could not be installed: {said[-1]}", file=sys.stderr)


def _installed() -> Iterator[str]:
    """Browsers on the path, then where macOS and Windows have them."""
    yield from filter(None, map(shutil.which, COMMANDS))
    folders = [Path(os.environ[name]) for name in WINDOWS_FOLDERS if name in os.environ]
    usual = [*map(Path, MAC), *(folder / name for folder in folders for name in WINDOWS)]
    yield from (str(path) for path in usual if path.is_file())


if __name__ == "__main__" and packages() and is_root() and shutil.which("apt-get"):
    install(packages())
