"""The package as such: its names, its imports, its examples."""

import ast
import doctest
import importlib
import importlib.util
import pickle
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import beyondchance
from beyondchance.messages import COMMAND_LINE, Quote, Use
from beyondchance.reporting.citations import CITATION

ROOT = Path(__file__).parent.parent
MODULES = ["beyondchance"] + [
    module.name for module in pkgutil.walk_packages(beyondchance.__path__, "beyondchance.")
]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    result = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_in_the_documentation(page):
    result = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE, encoding="utf-8"
    )
    assert result.failed == 0


def test_the_documentation_has_examples():
    examples = doctest.DocTestParser().get_examples((ROOT / "README.md").read_text("utf-8"))
    assert examples


def test_every_public_function_has_an_example():
    for name in beyondchance.__all__:
        value = getattr(beyondchance, name)
        if callable(value) and not isinstance(value, type):
            assert ">>>" in value.__doc__, name
    for method in ("from_tags", "from_spans", "from_columns", "select"):
        assert ">>>" in getattr(beyondchance.Corpus, method).__doc__


def test_every_public_name_is_there_and_documented():
    for name in beyondchance.__all__:
        assert getattr(beyondchance, name) is not None
    assert set(beyondchance.__all__) <= set(dir(beyondchance))
    reference = (ROOT / "docs" / "api.md").read_text("utf-8")
    for name in set(beyondchance.__all__) - {"__version__"}:
        assert f":: beyondchance.{name}\n" in reference
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        beyondchance.nothing  # noqa: B018


def test_no_module_takes_the_place_of_a_public_name():
    # Loading beyondchance.plan would replace the function plan of the package, so no entry at
    # the top has a public name; and packages hold nothing that could be imported from them.
    package = Path(beyondchance.__file__).parent
    assert not {entry.stem for entry in package.iterdir()} & set(beyondchance.__all__)
    for path in set(package.rglob("__init__.py")) - {package / "__init__.py"}:
        tree = ast.parse(path.read_text("utf-8"))
        assert ast.get_docstring(tree), path
        assert len(tree.body) == 1, f"{path} holds more than a docstring"


def test_type_checkers_see_the_names_that_are_loaded():
    tree = ast.parse(Path(beyondchance.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        node.module.removeprefix("beyondchance."): {alias.name for alias in node.names}
        for node in block.body
    }
    assert all(alias.asname == alias.name for node in block.body for alias in node.names)
    homes = {module: set(names.split()) for module, names in beyondchance._HOMES.items()}
    # The version is imported in any case.
    assert homes.pop("version") == {"__version__"}
    assert imported == homes


def test_names_are_the_same_in_whatever_order_they_are_loaded():
    code = "import beyondchance as bc; bc.difficulty; assert callable(bc.agreement); bc.example()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_loads_nothing():
    code = "import sys, beyondchance; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_scoring_does_not_load_random_numbers():
    code = (
        "import sys; from beyondchance import agreement; assert 'numpy.random' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_numpy_is_the_only_import():
    # On loading a module; the readers import their libraries where they are needed, and
    # the command line has its own.
    found = set()
    package = Path(beyondchance.__file__).parent
    terminal = {*(package / "cli").glob("*.py"), package / "reporting" / "outputs" / "text.py"}
    for path in set(package.rglob("*.py")) - terminal:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    assert found - sys.stdlib_module_names == {"beyondchance", "numpy"}


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version: {beyondchance.__version__}\n" in citation
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## {beyondchance.__version__}" in changelog
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]


_FIELD = re.compile(r"^  (\w+) += \{(.*?)\},$", re.MULTILINE | re.DOTALL)
"""A field of BibTeX."""


def test_citations_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    paper = citation["references"][0]
    software, article = CITATION.split("\n\n")
    fields = [
        {name: " ".join(value.split()) for name, value in re.findall(_FIELD, entry)}
        for entry in (software, article)
    ]
    assert fields[0]["title"] == citation["title"]
    assert fields[1] == {
        "title": paper["title"],
        "author": " and ".join(
            f"{author['family-names']}, {author['given-names']}" for author in paper["authors"]
        ).replace("é", r"{\'e}"),
        "booktitle": paper["collection-title"],
        "year": str(paper["year"]),
        "address": paper["publisher"]["location"],
        "publisher": paper["publisher"]["name"],
        "pages": f"{paper['start']}--{paper['end']}",
        "doi": paper["doi"],
        "url": paper["url"],
        "eprint": paper["identifiers"][0]["value"].removeprefix("arXiv:"),
        "archiveprefix": "arXiv",
    }


def test_errors_survive_pickling():
    parts = {
        "where": ("a.csv:3, ", Quote("ada")),
        "expected": "B-X or I-X",
        "remedy": (Use("repair", "discard"), " leaves it out"),
    }
    errors = [
        value
        for value in (getattr(beyondchance, name) for name in beyondchance.__all__)
        if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert len(errors) > 5
    for kind in errors:
        error = kind("tag ", Quote("X"), " is unknown", **parts)
        again = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert type(again) is kind
        assert isinstance(again, beyondchance.BeyondChanceError)
        for part in ("found", "where", "expected", "remedy"):
            assert getattr(again, part) == getattr(error, part) != ()
        assert str(again) == (
            "a.csv:3, 'ada': tag 'X' is unknown; expected B-X or I-X: "
            "repair='discard' leaves it out"
        )
        assert again.spoken(COMMAND_LINE.without_quotes()) == (
            "a.csv:3, …: tag … is unknown; expected B-X or I-X: --repair discard leaves it out"
        )


def test_results_survive_pickling():
    result = beyondchance.agreement([["B-P", "O"]], [["B-P", "O"]])
    again = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert again.score == result.score


def from_docs(name):
    """A script of the documentation, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_what_the_package_says():
    for name, page in from_docs("pages").PAGES.items():
        # Another version of what draws charts may draw them a little differently.
        committed, made = (
            re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
            for text in ((ROOT / "docs" / name).read_text("utf-8"), page())
        )
        assert made == committed, f"{name} is stale: run python docs/pages.py"


def test_pictures_are_what_the_numbers_say():
    for name, draw in from_docs("figures").FIGURES.items():
        committed = (ROOT / "docs" / "_static" / name).read_text("utf-8")
        assert draw() == committed, f"{name} is stale: run python docs/figures.py"


PARSING = {
    *("startswith", "endswith", "removeprefix", "removesuffix"),
    *("partition", "rpartition", "split", "rsplit", "replace", "index", "find"),
    *("match", "fullmatch", "search", "sub"),
}
SENTENCES = re.compile(r"message|note|reason|caution|remark|remedy|signature|why")


def test_no_code_parses_a_sentence():
    # A signature is parsed back in one place, which is what it is for; and what click says of
    # wrong usage is put on one line.
    parsed = []
    for path in sorted(Path(beyondchance.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                about = ast.unparse(node.func.value)
                if node.func.attr in PARSING and SENTENCES.search(about):
                    parsed.append(f"{path.name}: {about}.{node.func.attr}")
    assert parsed == [
        "main.py: error.format_message().split",
        "settings.py: signature.strip('\\r\\n').split",
    ]
