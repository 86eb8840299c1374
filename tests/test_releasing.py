"""What RELEASING.md tells the owner to fill in, tried on a copy."""

import importlib.util
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
COPIED = ("*.md", "CITATION.cff", "pyproject.toml", "docs", ".github", "src/beyondchance")


@pytest.fixture
def releasing(tmp_path):
    """The script, for a copy of what it reads and writes."""
    for path in (path for pattern in COPIED for path in ROOT.glob(pattern)):
        place = tmp_path / path.relative_to(ROOT)
        if path.is_dir():
            names = shutil.ignore_patterns("_*", "core", "io", "page", "*.svg")
            shutil.copytree(path, place, ignore=names)
        else:
            shutil.copy(path, place)
    spec = importlib.util.spec_from_file_location("releasing", ROOT / "releasing.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shutil.copy(ROOT / "src/beyondchance/version.py", tmp_path / "src/beyondchance/version.py")
    module.ROOT = tmp_path
    return module


def call(script, words):
    """The exit code of a call."""
    with pytest.raises(SystemExit) as ended:
        script.main(shlex.split(words))
    return ended.value.code or 0


FILLED = re.search(r"python releasing\.py (fill .*?)\n", (ROOT / "RELEASING.md").read_text())[1]


def test_what_is_missing_is_said(releasing, capsys):
    if releasing.address().startswith(releasing.UNKNOWN):
        assert call(releasing, "check") == 1
        assert "the address is unknown: fill --repository" in capsys.readouterr().err


def test_one_command_fills_in_everything(releasing, tmp_path, capsys):
    old = releasing.address()
    call(releasing, FILLED)
    call(releasing, "fill --doi 10.5281/zenodo.1")
    assert call(releasing, "check") == 0
    assert capsys.readouterr().err == ""
    for path in releasing.repeating():
        assert old == "ada/beyondchance" or old not in path.read_text("utf-8"), path
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["authors"] == [{"name": "Ada Lovelace"}, {"name": "Charles Babbage"}]
    assert set(project["urls"].values()) > {"https://github.com/ada/beyondchance"}
    citation = yaml.safe_load((tmp_path / "CITATION.cff").read_text("utf-8"))
    assert citation["repository-code"] == "https://github.com/ada/beyondchance"
    assert citation["authors"][1] == {"family-names": "Babbage", "given-names": "Charles"}
    assert (citation["version"], citation["doi"]) == ("0.2.0", "10.5281/zenodo.1")
    source = (tmp_path / releasing.CITATIONS).read_text("utf-8")
    assert "  author = {Lovelace, Ada and Babbage, Charles},\n" in source
    assert "  doi    = {10.5281/zenodo.1},\n" in source
    assert 'SOFTWARE: "Lovelace and Babbage, 2' in source
    (gate,) = tmp_path.glob("docs/**/gate.md")
    assert gate.read_text("utf-8").count("uses: ada/beyondchance@v0.2.0\n") == 2
    assert "rev: v0.2.0\n" in gate.read_text("utf-8")
    assert re.search(
        r"\n## 0\.2\.0 \(20\d\d-\d\d-\d\d\)\n", (tmp_path / "CHANGELOG.md").read_text()
    )


def test_what_was_filled_in_can_be_changed(releasing):
    call(releasing, FILLED)
    call(releasing, 'fill --repository mary/beyondchance --author "Shelley, Mary" --version 0.2.1')
    assert releasing.missing() == []
    assert "Shelley, Mary" in releasing.text(releasing.CITATIONS)
    assert "Lovelace" not in releasing.text("CITATION.cff") + releasing.text("pyproject.toml")


def test_examples_have_the_version(releasing, tmp_path):
    guide = tmp_path / "docs" / "howto" / "guide.md"
    old = guide.read_text("utf-8")
    call(releasing, FILLED)
    assert "|version:0.2.0'\n" in guide.read_text("utf-8")
    call(releasing, "fill --version 0.3.0.dev0")
    assert guide.read_text("utf-8") == re.sub(r"(?<=\|version:)[\w.]+", "0.3.0.dev0", old)
    headings = re.findall(r"\n## (.*)", (tmp_path / "CHANGELOG.md").read_text("utf-8"))
    assert headings[0] == "0.3.0.dev0 (unreleased)"
    assert headings[1].startswith("0.2.0 (20")
    assert "rev: v0.2.0\n" in (tmp_path / "docs" / "howto" / "gate.md").read_text("utf-8")
    assert "0.3.0.dev0 is no release: fill --version" in releasing.missing()


def test_the_address_is_the_same_everywhere(releasing):
    # github.com/_owner_/beyondchance, until it is known, and in no other spelling.
    known = {f"github.com/{releasing.address()}", f"uses: {releasing.address()}@"}
    pattern = r"(?:github\.com/|uses: )[^/\s]+/beyondchance(?![\w-])@?"
    found = {
        name
        for path in releasing.repeating()
        if path.name != "RELEASING.md"
        for name in re.findall(pattern, path.read_text("utf-8"))
    }
    assert found == known


def test_everything_that_make_installs_has_a_version():
    # Spark's environment is one of its own, whose versions Spark chooses.
    given = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = given["dependency-groups"]
    asked = [
        *given["project"]["optional-dependencies"].values(),
        groups["bench"],
        groups["release"],
    ]
    asked += [groups[one["include-group"]] for one in groups["dev"]]
    names = {re.match(r"[\w-]+", item)[0] for items in asked for item in items}
    pinned = (ROOT / "constraints.txt").read_text("utf-8")
    versions = set(re.findall(r"^([\w.-]+)==", pinned, re.MULTILINE))
    assert names - {"beyondchance"} <= versions, "run make constraints"
