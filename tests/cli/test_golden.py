"""Every command in every output prints what it always did.

After a wanted change: ``python -m pytest tests/cli/test_golden.py --write-golden``, then read
the difference.
"""

import csv
import io
import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from beyondchance import __version__, read
from beyondchance.cli.main import COMMANDS, main
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS
from deciding import decided_for, file_of

GOLDEN = Path(__file__).parents[1] / "golden" / "cli"
SCHEMA = json.loads((files("beyondchance") / "resources" / "schema.json").read_text("utf-8"))
TEAM = ("example/ada.conll", "example/ben.conll", "example/cleo.conll")
ROUNDS = tuple(path.replace("example", "rounds") for path in TEAM)
MORE = ("dan.conll", "eve.conll")
"""Somebody who marks as many tokens as ada, at other places, and somebody like ben."""
SURE = ("--confidence", "0.9", "--resamples", "999", "--seed", "3")

CALLS = {
    "agree": ("agree", *TEAM),
    "agree-two": ("agree", *TEAM[:2], "--measure", "exact", "--digits", "2"),
    "agree-by": ("agree", *TEAM, "--by", "document", "--by", "season", "--top", "2"),
    "agree-sensitivity": ("agree", *TEAM[:2], "--labels", "PERSON", "--sensitivity"),
    "agree-gold": ("agree", *TEAM[1:], "--gold", TEAM[0], "--rename-label", "EVENT=THING"),
    "agree-two-gold": ("agree", *TEAM[1:2], "--gold", TEAM[0], *SURE),
    "agree-coefficients": ("agree", *TEAM, "--coefficients", "alpha,mu-alpha,ku-alpha,kappa,s"),
    "agree-sure": ("agree", *TEAM, *SURE, "--null", "--by", "season", "--by", "document"),
    "agree-over": ("agree", *TEAM, *SURE, "--over", "both", "--interval-method", "expanded"),
    "rank": ("rank", *TEAM, "--split-by-difficulty", "0.7"),
    "rank-sure": ("rank", *TEAM, *SURE, "--split-by-difficulty", "0.7"),
    "rank-label": ("rank", *TEAM, "--by", "label", "--measure", "exact"),
    "difficulty": ("difficulty", *TEAM, "--top", "3"),
    "difficulty-sure": ("difficulty", *TEAM, *SURE, "--top", "1"),
    "difficulty-gold": ("difficulty", *TEAM, "--gold", "ada", "--exclude-labels", "PLACE"),
    "disagreements": ("disagreements", *TEAM, "--top", "12"),
    "disagreements-two": ("disagreements", *TEAM[1:], "--kind", "label,extra", "--label", "PERSON"),
    "disagreements-gold": ("disagreements", *TEAM[:2], "--gold", "ben", "--no-text"),
    "disagreements-pair": ("disagreements", *TEAM, "--by", "pair", "--top", "12"),
    "disagreements-place": ("disagreements", *TEAM[:2], "--by", "place", "--kind", "missing"),
    "diagnose": ("diagnose", *TEAM, "--top", "5"),
    "diagnose-two": ("diagnose", *TEAM[:2], "--measure", "exact", "--no-text"),
    "diagnose-gold": ("diagnose", *TEAM, "--gold", "ada", "--confidence", "0.9", "--top", "3"),
    "consensus": ("consensus", *TEAM, "--top", "3"),
    "consensus-exact": (
        *("consensus", *TEAM, "--measure", "exact", "--method", "majority"),
        *("--weights", "ada=2", "--no-text"),
    ),
    "adjudicate": ("adjudicate", *TEAM, "--decisions", "mia.json"),
    "adjudicate-compared": (
        *("adjudicate", *TEAM, "--decisions", "mia.json", "--decisions", "tom.json"),
        *("--compare", "--top", "4"),
    ),
    "agree-trend": ("agree", *ROUNDS, "--by", "round", *SURE[2:]),
    "plan": ("plan", *TEAM, "--half-width", "0.04"),
    "plan-replace": ("plan", *TEAM, "--replace", "cleo", "--margin", "0.03"),
    "replace": ("replace", *TEAM, "--model", "cleo", "--margin", "0.05"),
    "replace-two": (
        *("replace", *TEAM, *MORE, "--model", "cleo,dan", "--measure", "exact", "--digits", "3"),
    ),
    "careless": ("careless", *TEAM, *MORE, "--top", "3"),
    "place": ("place", "--length", "20", "--spans", "1,3,3,6"),
    "reproduce": ("reproduce",),
    "formats": ("formats",),
    "demo": ("demo",),
}

METHODS = {
    "agree-methods": ("agree", *TEAM, *SURE, "--null"),
    "agree-two-methods": ("agree", *TEAM[:2]),
    "rank-methods": ("rank", *TEAM, *SURE),
    "difficulty-methods": ("difficulty", *TEAM, "--gold", "ada", "--digits", "2"),
}
"""Calls that print a paragraph for a paper."""


def shifted(lines, by):
    """The tags of each sentence moved on by some words, round its end."""
    found, sentence = [], []
    for line in [*lines, ""]:
        if line and not line.startswith("#"):
            sentence.append(line.split("\t"))
            continue
        tags = [tag for _, tag in sentence]
        moved = tags[len(tags) - by * len(tags) // 2 :] + tags[: len(tags) - by * len(tags) // 2]
        found += ["\t".join(pair) for pair in zip((w for w, _ in sentence), moved, strict=True)]
        found.append(line)
        sentence = []
    return found[:-1]


@pytest.fixture(autouse=True)
def example(tmp_path, monkeypatch):
    """The example's files in a folder to work in, and no terminal to fit to."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert main(["demo", "--quiet", "--files", "example"]) == 0
    Path("rounds").mkdir()
    for path, numbered in zip(TEAM, ROUNDS, strict=True):
        text = Path(path).read_text("utf-8")
        for number, season in enumerate(("spring", "summer", "autumn", "winter"), start=1):
            text = text.replace(f"# season = {season}", f"# round = {number}")
        Path(numbered).write_text(text, "utf-8")
    for name, of, shift in (("dan", "ada", 1), ("eve", "ben", 0)):
        lines = Path(f"example/{of}.conll").read_text("utf-8").splitlines()
        Path(f"{name}.conll").write_text("\n".join(shifted(lines, shift)) + "\n", "utf-8")
    corpus = read(*TEAM)
    for who, by in (("ada", "mia"), ("ben", "tom")):
        made = decided_for(corpus, who, by)[::2]
        made[0]["note"] = "as in the guideline"
        Path(f"{by}.json").write_text(json.dumps(file_of(corpus, made)), encoding="utf-8")


FITTED = (
    *("agree-by", "agree-sure", "agree-two-gold", "rank", "rank-label", "rank-sure"),
    *("disagreements", "disagreements-pair", "diagnose", "plan", "formats", "place"),
)
WIDTHS = (80, 200)


def checked(found, name, request):
    """Compare with the file, or write it."""
    path = GOLDEN / name
    neutral = found.replace(__version__, "VERSION")
    if request.config.getoption("--write-golden"):
        path.write_text(neutral, encoding="utf-8")
    assert neutral == path.read_text("utf-8")


LISTS = [call for call in CALLS if call.startswith(("disagreements", "consensus", "adjudicate"))]
SHOWN = [(call, output) for call in CALLS for output in OUTPUTS] + [(c, "jsonl") for c in LISTS]


@pytest.mark.parametrize(("call", "output"), SHOWN)
def test_output(call, output, capsys, request):
    capsys.readouterr()
    assert main([*CALLS[call], "--quiet", "--output", output]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    checked(found.out, f"{call}{LIST_OUTPUTS[output]}", request)
    if output == "json":
        jsonschema.validate(json.loads(found.out), SCHEMA)
    if output == "jsonl":
        assert all(isinstance(json.loads(line), dict) for line in found.out.splitlines())
    if output == "csv":
        rows = list(csv.reader(io.StringIO(found.out)))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}


IN_PROSE = [output for output in OUTPUTS if output != "csv"]


@pytest.mark.parametrize("output", IN_PROSE)
@pytest.mark.parametrize("call", METHODS)
def test_methods(call, output, capsys, request):
    capsys.readouterr()
    assert main([*METHODS[call], "--methods", "--quiet", "--output", output]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    if output != "json":
        checked(found.out, f"{call}{OUTPUTS[output]}", request)
        return
    result = json.loads(found.out)
    jsonschema.validate(result, SCHEMA)
    assert main([*METHODS[call], "--quiet", "--output", "json"]) == 0
    usual = json.loads(capsys.readouterr().out)
    assert main([*METHODS[call], "--methods", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith(f"{result.pop('methods')}\n\n")
    assert result == usual


@pytest.mark.parametrize("form", ["table", "conll"])
def test_conversion(form, capsys, request):
    capsys.readouterr()
    assert main(["convert", *TEAM, "--to", form, "--quiet"]) == 0
    checked(capsys.readouterr().out, f"convert.{form}", request)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("call", FITTED)
def test_text_fitted_to_a_terminal(call, width, capsys, request, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    capsys.readouterr()
    assert main([*CALLS[call], "--quiet"]) == 0
    found = capsys.readouterr().out
    lines = [line for line in found.splitlines() if not line.startswith("beyondchance|")]
    assert max(map(len, lines)) <= width
    checked(found, f"{call}-{width}.txt", request)


def test_every_command_is_tested():
    # Annotations in a format, and a page: neither has these outputs.
    others = {"convert", "report"}
    assert {call[0] for call in CALLS.values()} | others == set(COMMANDS)
    assert {name.partition("-")[0] for name in CALLS} | others == set(COMMANDS)


def test_files_of_decisions_are_in_the_schema():
    schema = {"$ref": "#/$defs/decisions_file", "$defs": SCHEMA["$defs"]}
    jsonschema.validate(json.loads(Path("mia.json").read_text("utf-8")), schema)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"format": 1, "command": "agree"}, SCHEMA)


def test_no_file_is_left_over():
    calls = {f"{call}{LIST_OUTPUTS[output]}" for call, output in SHOWN}
    fitted = {f"{call}-{width}.txt" for call in FITTED for width in WIDTHS}
    converted = {"convert.table", "convert.conll"}
    methods = {f"{call}{OUTPUTS[form]}" for call in METHODS for form in IN_PROSE if form != "json"}
    assert {path.name for path in GOLDEN.iterdir()} == calls | fitted | converted | methods
