"""The package as such: its names, its imports, its examples."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import pytest
import yaml

import beyondchance
import beyondchance as bc
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import MODELS
from beyondchance.messages import COMMAND_LINE, Quote, Use
from beyondchance.reporting.citations import CITATION
from beyondchance.reporting.results import _REPORTS
from beyondchance.scoring.options import SCOPES
from refusals import refused

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MODULES = ["beyondchance"] + [
    module.name for module in pkgutil.walk_packages(beyondchance.__path__, "beyondchance.")
]
PACKAGES = sorted({name.split(".")[1] for name in MODULES[1:] if name.count(".") > 1})
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("[!_]*/*.md")])
SLOW = {"core", "inference", "io", "other_coefficients", "page", "reporting", "results", "scoring"}
"""Packages whose examples take long."""


def failing(names):
    """The modules with examples that fail; what is wrong is printed."""
    flags = doctest.NORMALIZE_WHITESPACE
    return [
        name
        for name in names
        if doctest.testmod(importlib.import_module(name), optionflags=flags).failed
    ]


@pytest.mark.parametrize(
    "package", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PACKAGES]
)
def test_examples_in_docstrings(package):
    assert failing(name for name in MODULES if name.split(".")[1:2] == [package]) == []


def test_examples_in_docstrings_at_the_top():
    top = [name for name in MODULES if not {*name.split(".")[1:2]} & {*PACKAGES}]
    assert len(top) > 5
    assert failing(top) == []


@pytest.mark.slow
def test_examples_in_the_documentation():
    flags = {"module_relative": False, "optionflags": doctest.NORMALIZE_WHITESPACE}
    found = [
        page.name for page in PAGES if doctest.testfile(str(page), encoding="utf-8", **flags).failed
    ]
    assert found == []


def test_the_documentation_has_examples():
    examples = doctest.DocTestParser().get_examples((ROOT / "README.md").read_text("utf-8"))
    assert examples


def test_ways_to_a_corpus_have_examples():
    for method in ("from_tags", "from_spans", "from_columns", "select"):
        assert ">>>" in getattr(beyondchance.Corpus, method).__doc__


def test_every_public_name_is_there_and_documented():
    for name in beyondchance.__all__:
        assert getattr(beyondchance, name) is not None
    assert set(beyondchance.__all__) <= set(dir(beyondchance))
    reference = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    for name in set(beyondchance.__all__) - {"__version__"}:
        assert f":: beyondchance.{name}\n" in reference
    assert len(beyondchance.__all__) <= 60
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        beyondchance.nothing  # noqa: B018


def test_results_that_are_not_public_are_documented():
    described = re.findall(
        r":: (beyondchance\.\S+)\.([A-Z]\w+)\n",
        (ROOT / "docs" / "reference" / "api.md").read_text("utf-8"),
    )
    assert {name for _, name in described} | {*beyondchance.__all__} >= {*_REPORTS}
    for module, name in described:
        assert getattr(importlib.import_module(module), name).__doc__
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; use the result of "):
            getattr(beyondchance, name)


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


@pytest.mark.slow
def test_what_is_loaded():
    # Nothing by the package; neither random numbers, hashes nor files by loading a function, and
    # random numbers not by scores; and names are the same in whatever order they are loaded.
    code = (
        "import sys, beyondchance as bc; assert 'numpy' not in sys.modules; bc.difficulty; "
        "heavy = {'numpy.random', 'hashlib', 'zipfile', 'json', 'csv', 'multiprocessing'}; "
        "assert not heavy & sys.modules.keys(); assert callable(bc.agreement); "
        "bc.agreement([['O']], [['O']]); "
        "assert 'numpy.random' not in sys.modules; bc.example()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@cache
def sources():
    """The code of every module."""
    package = Path(beyondchance.__file__).parent
    return {path: path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}


def test_numpy_is_the_only_import():
    # On loading a module; the readers import their libraries where they are needed, and
    # the command line has its own, as the server of the app.
    package = Path(beyondchance.__file__).parent
    terminal = {*(package / "cli").glob("*.py"), package / "reporting" / "outputs" / "text.py"}
    terminal.add(package / "app" / "server.py")
    statement = re.compile(
        r"^(?:import (\w+)[\w.]*(?: as \w+)?|from (\w+)[\w.]* import .*)$", re.MULTILINE
    )
    found = {
        name
        for path in sources().keys() - terminal
        for names in statement.findall(sources()[path])
        for name in names
        if name
    }
    assert found - sys.stdlib_module_names == {"beyondchance", "numpy"}


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version: {beyondchance.__version__}\n" in citation
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## {beyondchance.__version__}" in changelog
    assert "version" in PROJECT["dynamic"]


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
    # Of a type and with fields that the styles of plain BibTeX print.
    assert software.startswith("@misc{")
    assert {*fields[0]} <= {"title", "author", "year", "note", "howpublished", "doi", "url"}
    assert fields[0]["title"].replace("{", "").replace("}", "") == citation["title"]
    names = [
        author.get("name", "{given-names} {family-names}").format(**author)
        for author in citation["authors"]
    ]
    assert [author["name"] for author in PROJECT["authors"]] == names
    for author in citation["authors"]:
        assert author.get("name", author.get("family-names")) in fields[0]["author"]
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


@pytest.mark.slow
def test_generated_pages_are_what_the_package_says():
    for name, page in from_docs("pages").PAGES.items():
        # Another version of what draws charts may draw them a little differently.
        committed, made = (
            re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
            for text in ((ROOT / "docs" / name).read_text("utf-8"), page())
        )
        assert made == committed, f"{name} is stale: run python docs/pages.py"


@pytest.mark.slow
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
    suspects = re.compile(rf"({SENTENCES.pattern}).*\.({'|'.join(PARSING)})\(")
    calls = [
        (path.name, ast.unparse(node.func.value), node.func.attr)
        for path, text in sources().items()
        if suspects.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in PARSING
    ]
    found = [f"{name}: {what}.{how}" for name, what, how in calls if SENTENCES.search(what)]
    assert found == [
        "main.py: error.format_message().split",
        "settings.py: signature.strip('\\r\\n').split",
    ]


@pytest.mark.parametrize("name", ["agreement", "rank", "difficulty", "diagnose", "labelling"])
def test_signatures_list_the_options(name):
    found = inspect.signature(getattr(bc, name)).parameters
    assert {"data", "others", "measure", "scope", "unit", "scheme", "gold", "workers"} <= set(found)
    assert found["measure"].default == "token"
    assert get_args(found["unit"].annotation)[0] == Literal["sentence", "document", "corpus"]
    assert found["model"].annotation == Literal[("auto", *MODELS)]
    assert found["scope"].annotation == Literal[tuple(SCOPES)]
    assert found["measure"].annotation == Literal[tuple(MEASURES)] | bc.CustomMeasure
    assert "options" not in found


def test_signatures_list_measures_in_whatever_order_modules_are_loaded():
    code = "import inspect; from beyondchance import agreement; print(inspect.signature(agreement))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert all(repr(name) in found.stdout for name in (*MEASURES, *SCOPES, *MODELS))


def test_mistaken_options_are_answered_with_the_nearest():
    tags = [["B-P", "O"]]
    for options, told in (
        ({"mesure": "exact"}, "'mesure' … measure? …"),
        ({"measure": "exakt"}, "'exakt' … exact? …"),
        ({"shceme": "IOB2"}, "'shceme' … scheme? …"),
        ({"confidence": 0.9}, "'confidence' … .interval(confidence=…"),
    ):
        with refused(bc.OptionError, told):
            bc.agreement(tags, tags, **options)


@cache
def functions():
    """The public functions, by name."""
    values = {name: getattr(bc, name) for name in bc.__all__}
    return {name: value for name, value in values.items() if inspect.isfunction(value)}


def test_every_public_function_has_an_example_with_its_output():
    for name, function in functions().items():
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(function))
        assert any(example.want for example in examples), name


def test_help_lists_every_option():
    heading = re.compile(r"^Parameters\n-+\n(.*?)\n\n[A-Z]\w+\n---", re.MULTILINE | re.DOTALL)
    for name, function in functions().items():
        (entries,) = heading.findall(inspect.getdoc(function)) or [""]
        listed = re.findall(r"^\*{0,2}(\w[^:\n]*)", entries, re.MULTILINE)
        names = {one.strip(" *") for entry in listed for one in entry.split(",")}
        found = dict(inspect.signature(function).parameters)
        if name == "expected_match":  # which takes some of those of scoring
            del found["scoring"]
        assert found.keys() - names == set(), name
        assert "{others}" not in function.__doc__
