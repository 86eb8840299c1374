"""Build the wheel and the sdist, install them, and check what users get.

Run by ``make test``:

1. the wheel is built from the sdist, and holds what it should;
2. with NumPy and nothing else, at the lowest and the newest release admitted, every
   example in the docstrings and a table of the paper come out right;
3. what the package promises holds on the installed wheel with the lowest declared version of every
   dependency and extra: formats, commands, messages, published values. All else does not depend on
   the installation.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONTRACT = (
    "app/test_command.py",
    "app/test_server.py",
    "cli/test_golden.py",
    "cli/test_messages.py",
    "io/test_every_kind.py",
    "io/test_same_everywhere.py",
    "test_install_hints.py",
    "test_paper.py",
    "test_published.py",
)
"""Tests of what users rely on, and of the files that the package brings."""


def main() -> None:
    """Run every check on the installed package."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        work = Path(folder)
        run(sys.executable, "-m", "build", "--outdir", work / "dist", ROOT)
        (wheel,) = (work / "dist").glob("*.whl")
        check_contents(wheel)
        lowest = lowest_numpy()
        tests = f"{ROOT / 'pyproject.toml'}:test"
        # The lowest declared version of every dependency and extra. With pip, which hints to
        # install something name where it is there.
        oldest = ("--resolution", "lowest-direct", "--override", work / "override.txt")
        # Libraries of the tests want a newer one.
        (work / "override.txt").write_text(lowest_of("click"))
        libraries = (*oldest, lowest, "pip>=24", f"{wheel}[all]", "--group", tests)
        full = pool.submit(environment, work / "full", *libraries)
        for numpy in (lowest, "numpy"):
            python = environment(work / f"bare-{numpy}", numpy)
            install(python, "--no-deps", wheel)
            run(python, "-I", ROOT / "tests" / "bare.py", cwd=work)
        shutil.copytree(
            ROOT, work / "checkout", ignore=shutil.ignore_patterns(".*", "src", "_build")
        )
        marks = ("-m", "not (slow or long or engines)", "--hypothesis-profile=brief")
        # Old libraries warn of one another.
        marks = (*marks, "-W", "ignore::DeprecationWarning")
        suite = ("-n", "auto", *marks, *(f"tests/{name}" for name in CONTRACT))
        python = full.result()
        run(python, "-c", f"import numpy; assert f'numpy=={{numpy.__version__}}' == {lowest!r}")
        run(python, "-m", "pytest", *suite, cwd=work / "checkout")


def check_contents(wheel: Path) -> None:
    """The wheel holds the package, its data, its marker for types, its licence and links that lead.

    A package index shows the README without the files next to it.
    """
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    for wanted in (
        "beyondchance/py.typed",
        "beyondchance/resources/example.conll",
        "beyondchance/resources/schema.json",
        "beyondchance/app/app.html",
        "beyondchance/page/page.html",
        "beyondchance/page/documents.js",
        "licenses/LICENSE",
    ):
        if not any(name.endswith(wanted) for name in names):
            sys.exit(f"{wheel.name} lacks {wanted}")
    stray = [name for name in names if not name.startswith("beyondchance")]
    if stray:
        sys.exit(f"{wheel.name} holds {stray[0]}, which is not part of the package")
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    links = re.findall(r"\]\((\S+?)\)", archive.read(metadata).decode("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    if not any(link.startswith(project["urls"]["Repository"]) for link in links):
        sys.exit(f"{wheel.name} has a description without links to the repository")
    relative = [link for link in links if not link.startswith("https://")]
    if relative:
        sys.exit(f"{wheel.name} has a description with the link {relative[0]}")


def lowest_of(name: str) -> str:
    """Return the lowest release of a dependency that pyproject.toml admits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (found,) = (item for item in project["dependencies"] if item.startswith(f"{name}>="))
    return found.replace(">=", "==")


def lowest_numpy() -> str:
    """The lowest NumPy that pyproject.toml admits for this Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    numpy = [item for item in project["dependencies"] if item.startswith("numpy")]
    for requirement in sorted(numpy, reverse=True):
        version, python = re.fullmatch(
            r"numpy>=([\d.]+); python_version (.*)", requirement
        ).groups()
        operator, quoted = python.split()
        wanted = tuple(map(int, quoted.strip("'").split(".")))
        here = sys.version_info[:2]
        if {"<": here < wanted, "==": here == wanted, ">=": here >= wanted}[operator]:
            return f"numpy=={version}"
    sys.exit("pyproject.toml admits no NumPy for this Python")


def environment(folder: Path, *packages: str | Path) -> Path:
    """A new virtual environment with these packages and nothing else, not even pip."""
    venv.create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install(python, *packages)
    return python


def install(python: Path, *what: str | Path) -> None:
    """Install quietly into the environment of another interpreter."""
    run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *what)


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command; print what it said if it fails, or if it is the test suite."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, check=False, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    if "pytest" in command:
        print(f"on the installed wheel: {done.stdout.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
