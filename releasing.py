"""Fill in what a release says of itself: address, names and version, wherever they are repeated.

``python releasing.py fill --repository ada/beyondchance --author "Lovelace, Ada" --version 0.2.0``
writes them everywhere; ``python releasing.py check`` fails while something is missing. RELEASING.md
has all steps.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent
UNKNOWN = "_owner_"
"""The account in the address until it is known: no account can have such a name."""
NOBODY = "The beyondchance maintainers"
"""The author until there are names."""
VERSION = re.compile(r'(?<=__version__ = ").*(?=")')
CITATIONS = "src/beyondchance/reporting/citations.py"
ENTRY = re.compile(r"@misc\{beyondchance,\n.*?\n\}\n", re.DOTALL)
"""The entry of this package in the BibTeX that ``--cite`` prints."""


def main(words: list[str] | None = None) -> None:
    """Fill in what is given, or say what is missing."""
    parser = argparse.ArgumentParser(prog="releasing.py", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    filling = commands.add_parser("fill", help="write what is given wherever it belongs")
    filling.add_argument("--repository", help="account and name, such as ada/beyondchance")
    filling.add_argument("--author", action="append", help="'Family, Given', once for each")
    filling.add_argument("--doi", help="the DOI of all versions, such as 10.5281/zenodo.1")
    filling.add_argument("--version", help="the version to be released, or the next with .dev0")
    commands.add_parser("check", help="fail while something is missing")
    given = parser.parse_args(words)
    if given.command == "fill":
        fill(given.repository, given.author, given.doi, given.version)
        sys.exit()
    found = missing()
    for sentence in found:
        print(sentence, file=sys.stderr)
    sys.exit(bool(found))


def fill(
    repository: str | None, authors: list[str] | None, doi: str | None, version: str | None
) -> None:
    """Write an address, names, a DOI or a version in the place of those that are there."""
    if repository:
        change(address(), repository)
    if authors:
        people = [name.partition(", ")[::2] for name in authors]
        listed = "\n".join(
            f"  - family-names: {family}\n    given-names: {given}" for family, given in people
        )
        write("CITATION.cff", r"(?<=\nauthors:\n)(  .*\n)+", f"{listed}\n")
        names = ", ".join(f'{{ name = "{given} {family}" }}' for family, given in people)
        write("pyproject.toml", r"(?<=\nauthors = )\[.*\]", f"[{names}]")
        write(CITATIONS, r"(?<=\n  author = )\{.*\}(?=,\n  year)", f"{{{' and '.join(authors)}}}")
        short = " and ".join(family for family, _ in people)
        short = short if len(people) < 3 else f"{people[0][0]} et al."
        write(CITATIONS, r'(?<=SOFTWARE: ").*(?=, \d{4}")', short)
    if doi:
        write("CITATION.cff", r"(\ndoi: .*)?\nlicense:", f"\ndoi: {doi}\nlicense:")
        write(CITATIONS, r"(?<=Version %s\},\n)(  doi .*\n)?", f"  doi    = {{{doi}}},\n", count=1)
    if version:
        date(version)


def date(version: str) -> None:
    """Write a version wherever it is repeated; a release also gets its date and its year."""
    today = dt.datetime.now(tz=dt.UTC).date()
    old = re.findall(VERSION, text("src/beyondchance/version.py"))[0]
    write("src/beyondchance/version.py", VERSION, version)
    write("CITATION.cff", r"(?<=\nversion: ).*", version)
    for path in ROOT.glob("docs/*/*.md"):  # signatures in examples; those of tables stay
        if path.parent.name != "_static":
            shown = text(path).replace(f"version:{old}", f"version:{version}")
            path.write_text(shown, "utf-8", newline="\n")
    if version.endswith(".dev0"):
        write("CHANGELOG.md", r"(?=\n## )", f"\n## {version} (unreleased)\n", count=1)
        return
    write("CHANGELOG.md", r"(?<=\n## )\S+ \(.*\)", f"{version} ({today})", count=1)
    released = f"\ndate-released: {today}\nlicense:"
    write("CITATION.cff", r"(\ndate-released: .*)?\nlicense:", released)
    write(CITATIONS, r"(?<=\n  year   = \{)\d{4}", str(today.year), count=1)
    write(CITATIONS, r'(?<=, )\d{4}(?=",\n    PAPER)', str(today.year))
    write("docs/howto/gate.md", r"(?<=beyondchance@v)[\d.]+|(?<=rev: v)[\d.]+", version)


def missing() -> list[str]:
    """Say what keeps this from being released, in a sentence for each."""
    project = tomllib.loads(text("pyproject.toml"))["project"]
    (entry,) = ENTRY.findall(text(CITATIONS))
    version = re.findall(VERSION, text("src/beyondchance/version.py"))[0]
    heading = re.findall(r"\n## (.*)", text("CHANGELOG.md"))[0]
    urls = project["urls"].values()
    checks = {
        "the address is unknown: fill --repository": address().startswith(UNKNOWN),
        "nobody is named: fill --author": project["authors"] == [{"name": NOBODY}],
        f"{version} is no release: fill --version": not re.fullmatch(r"[\d.]+", version),
        f"the changelog begins with {heading}: fill --version": not re.fullmatch(
            rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading
        ),
        "CITATION.cff has no date: fill --version": "\ndate-released: " not in text("CITATION.cff"),
        "addresses of pyproject.toml differ: fill --repository": not all(
            url.startswith(f"https://github.com/{address()}") for url in urls
        ),
    }
    if "  doi " not in entry:
        print("note: there is no DOI; after the first release, fill --doi", file=sys.stderr)
    return [sentence for sentence, is_missing in checks.items() if is_missing]


def address() -> str:
    """Return the account and the name of the repository, from the one place that has them."""
    urls = tomllib.loads(text("pyproject.toml"))["project"]["urls"]
    return str(urls["Repository"]).removeprefix("https://github.com/")


def repeating() -> list[Path]:
    """Return the files that may repeat the address or the version to use."""
    patterns = ("*.md", "*.cff", "pyproject.toml", "docs/**/*.md", ".github/**/*.yml")
    return [path for pattern in patterns for path in ROOT.glob(pattern)]


def text(name: str | Path) -> str:
    """Return the text of a file."""
    return (ROOT / name).read_text("utf-8")


def change(old: str, new: str) -> None:
    """Write another account and name into addresses and names of actions."""
    pattern = rf"(?<=github\.com/){re.escape(old)}(?!\w)|(?<=uses: ){re.escape(old)}(?=@)"
    for path in repeating():
        path.write_text(re.sub(pattern, new, text(path)), "utf-8", newline="\n")


def write(name: str | Path, pattern: str | re.Pattern[str], new: str, count: int = 0) -> None:
    """Replace what a pattern finds, which must be there."""
    changed, number = re.subn(pattern, lambda _: new, text(name), count=count)
    if not number:
        sys.exit(f"{name} has nothing like {pattern}")
    (ROOT / name).write_text(changed, "utf-8", newline="\n")


if __name__ == "__main__":
    main()
