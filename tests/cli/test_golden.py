"""Every command prints what it always did, and every output says the same.

Text is compared with a file for every call; other outputs for a few calls that together show every
kind of table, and by what they have in common with JSON for all. After a wanted change:
``python -m pytest tests/cli/test_golden.py --write-golden``, then read the difference.
"""

import csv
import io
import json
import re
from importlib.resources import files
from math import isclose
from pathlib import Path

import jsonschema
import pytest

from beyondchance import __version__
from beyondchance.cli.main import COMMANDS, main
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS, rendered

GOLDEN = Path(__file__).parents[1] / "golden" / "cli"
SCHEMA = json.loads((files("beyondchance") / "resources" / "schema.json").read_text("utf-8"))
VALID = jsonschema.Draft202012Validator(SCHEMA)
TEAM = ("example/ada.conll", "example/ben.conll", "example/cleo.conll")
ROUNDS = tuple(path.replace("example", "rounds") for path in TEAM)
MORE = ("dan.conll", "eve.conll")
SURE = ("--confidence", "0.9", "--resamples", "999", "--seed", "3")

CALLS = {
    "agree": ("agree", *TEAM),
    "agree-two": ("agree", *TEAM[:2], "--measure", "exact", "--digits", "2"),
    "agree-by": ("agree", *TEAM, "--by", "document", "--by", "season", "--top", "2"),
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
        *("consensus", *TEAM, "--measure", "exact", "--method", "best"),
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
    "replace": ("replace", *TEAM, "--model", "cleo", "--blind", "yes"),
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
IN_FILES = {
    "json": "plan place",
    "csv": "agree-sure rank-sure diagnose disagreements disagreements-two careless replace-two",
    "markdown": "agree-sure rank-sure disagreements-pair diagnose difficulty-sure place reproduce "
    "consensus-exact",
    "latex": "agree-two agree-over agree-two-gold rank-sure rank-label diagnose difficulty-sure "
    "disagreements place",
}
"""Calls whose outputs other than text are kept in files."""
FITTED = ("agree-sure", "rank-sure", "disagreements", "diagnose", "formats", "place")
NARROW, WIDE = 80, 200
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")


def checked(found, name, request):
    """Compare with the file, or write it. The last digits of numbers in full may differ."""
    path = GOLDEN / name
    neutral = found.replace(__version__, "VERSION")
    if request.config.getoption("--write-golden"):
        path.write_text(neutral, encoding="utf-8")
    expected = path.read_text("utf-8")
    if name.endswith((".json", ".csv")):
        assert NUMBER.sub("#", neutral) == NUMBER.sub("#", expected)
        numbers = zip(NUMBER.findall(neutral), NUMBER.findall(expected), strict=True)
        assert [pair for pair in numbers if not is_close(*pair)] == []
    else:
        assert neutral == expected


def is_close(one, other):
    """Whether two numbers as they are written differ by rounding errors at most."""
    return one == other or isclose(float(one), float(other), rel_tol=1e-12)


def decimals(text, digits):
    """The rounded numbers of a result for people, without signs."""
    return set(re.findall(rf"(?<![\w.])\d+\.\d{{{digits}}}(?![\d.])", text))


def values(data):
    """Every number in plain data, at any depth."""
    if isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from values(item)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield data


def flat(data):
    """The values of an object of JSON by the names that columns of CSV have."""
    row = {key: item for key, item in data.items() if not isinstance(item, dict | list)}
    row |= data.get("counts", {})
    row |= {key: data[key]["observed"] for key in ("precision", "recall") if key in data}
    for name, ends in data.get("intervals", {}).items():
        if isinstance(ends, list):
            row |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return row


def records(data, above=()):
    """Every object in plain data as a flat row, with what is said around it."""
    if isinstance(data, list):
        for item in data:
            yield from records(item, above)
    elif isinstance(data, dict):
        row = {**dict(above), **flat(data)}
        yield row
        for key, item in data.items():
            yield from records(item, {**row, "name": key} if isinstance(item, dict) else row)
            if "difficulty" in data and key == "documents":
                yield from ({"name": name, "difficulty": value} for name, value in item.items())


def is_told(row, record):
    """Whether an object of JSON says all that a row of CSV does, as far as it has such keys."""
    shared = [name for name in row if name in record and row[name] != ""]
    return len(shared) > 1 and all(
        row[name].removeprefix("'") == str(record[name]).removeprefix("'") for name in shared
    )


LISTS = [call for call in CALLS if call.startswith(("disagreements", "consensus", "adjudicate"))]
DERIVED = {
    "rank": {"0.0720"},
    "rank-label": {"0.0263"},
    "diagnose": {"0.2819", "0.7005", "0.7191", "0.7406"},
    "diagnose-two": {"0.3574", "0.3862", "0.4769", "0.5996"},
    "diagnose-gold": {"0.2920", "0.6862", "0.7093", "0.7359"},
    "plan": {"0.0654"},
    "careless": {"0.0001", "0.9999"},
    "place": {"0.0000"},
}
"""Numbers of texts that JSON does not have: differences, scores of labels beside their loss, and
bounds of p-values."""


QUICK = {"agree-by", "rank-label", "disagreements-pair", "diagnose-two", "consensus-exact"}
SLOW = {call for call in CALLS if "-" in call} - QUICK
LISTED = [pytest.param(call, marks=[pytest.mark.slow] * (call in SLOW)) for call in CALLS]


@pytest.mark.parametrize("call", LISTED)
def test_output(call, printed, request):
    found = printed(*CALLS[call])
    data = found.data
    checked(found.text, f"{'agree' if call == 'demo' else call}.txt", request)
    VALID.validate(data)
    # Whole numbers are written as such.
    assert not any(isinstance(value, float) and value.is_integer() for value in values(data))
    outputs = {output: found.as_output(output) for output in OUTPUTS}
    for output, calls in IN_FILES.items():
        if call in calls.split():
            checked(outputs[output], f"{call}{OUTPUTS[output]}", request)
    # Markdown and text have the same numbers, and JSON has them all.
    digits = int(CALLS[call][CALLS[call].index("--digits") + 1]) if "--digits" in CALLS[call] else 4
    people = decimals(found.text, digits)
    assert decimals(outputs["markdown"], digits) == people
    known = {f"{abs(value):.{digits}f}" for value in values(data)}
    assert people - known == DERIVED.get(call, set())
    if found.report.make_paper is None:
        assert decimals(outputs["latex"], digits) == people
    # Each row of CSV is an object of JSON, and a line of lists of JSON.
    rows = list(csv.DictReader(io.StringIO(outputs["csv"])))
    assert rows
    told = list(records(data))
    if call not in {"place", "reproduce"}:
        listed = [row for row in rows if row.get("level") != "coefficient"]
        assert [row for row in listed if not any(is_told(row, item) for item in told)] == []
    full = {str(value) for value in values(data)}
    cells = {cell for row in rows for cell in row.values() if re.fullmatch(r"-?\d+\.\d{6,}", cell)}
    assert cells <= full
    if call in LISTS:
        lines = [json.loads(line) for line in found.as_output("jsonl").splitlines()]
        assert len(lines) == len(rows)
        for line, row in zip(lines, rows, strict=True):
            shown = {key: "" if item is None else str(item) for key, item in line.items()}
            assert shown == {key: row[key] for key in shown}


@pytest.mark.slow
def test_the_option_chooses_the_output(printed, capsys):
    calls = [call for call in CALLS if call in COMMANDS]
    for number, call in enumerate(calls):
        forms = LIST_OUTPUTS if call in LISTS else OUTPUTS
        output = list(forms)[-number % len(forms)]
        expected = printed(*CALLS[call]).as_output(output)
        assert main([*CALLS[call], "--quiet", "--output", output]) == 0
        assert capsys.readouterr() == (expected, ""), (call, output)


@pytest.mark.parametrize("call", METHODS)
def test_methods(call, printed, request):
    found = printed(*METHODS[call], "--methods")
    checked(found.text, f"{call}.txt", request)
    VALID.validate(found.data)
    usual = json.loads(rendered(found.report, "json"))
    assert found.data == {**usual, "methods": found.data["methods"]}
    assert found.text.startswith(f"{found.data['methods']}\n\n")
    # The same sentences, with the signature as code and, in LaTeX, references.
    signature = usual["signature"]
    markdown = found.as_output("markdown")
    assert f"`{signature}`" in markdown
    text = found.text.replace("(beyondchance --cite ", "(`beyondchance --cite` ")
    assert markdown.split() == text.replace(f'"{signature}"', f"`{signature}`").split()
    latex = found.as_output("latex")
    escaped = signature.replace("_", r"\_").replace("|", r"\textbar{}\allowbreak{}")
    assert rf"\texttt{{{escaped}}}" in latex
    assert r"\citep{li-etal-2024-estimating}" in latex
    assert r"\citep{beyondchance}" in latex
    assert "Li et al." not in latex
    assert not re.search(r"(?<!\\)[%&#_]", latex.partition("\n\n")[0])


@pytest.mark.parametrize("form", ["table", "conll"])
def test_conversion(form, worked_example, capsys, request, monkeypatch):
    monkeypatch.chdir(worked_example)
    assert main(["convert", *TEAM, "--to", form, "--quiet"]) == 0
    checked(capsys.readouterr().out, f"convert.{form}", request)


@pytest.mark.parametrize("call", [item for item in LISTED if item.values[0] in FITTED])
def test_text_fitted_to_a_terminal(call, printed, request):
    found = printed(*CALLS[call])
    for width in (NARROW, WIDE):
        text = found.as_output("text", width=width)
        lines = [line for line in text.splitlines() if not line.startswith("beyondchance|")]
        assert max(map(len, lines)) <= width
        if width == NARROW or call == "disagreements":
            checked(text, f"{call}-{width}.txt", request)
        else:
            assert text == found.text


def test_the_width_is_that_of_the_terminal(printed, capsys, monkeypatch):
    found = printed(*CALLS["rank"])
    monkeypatch.setenv("COLUMNS", str(NARROW))
    assert main([*CALLS["rank"], "--quiet"]) == 0
    out = capsys.readouterr().out
    assert out == found.as_output("text", width=NARROW) != found.text


def test_every_command_is_tested():
    # Annotations in a format, and pages: none has these outputs.
    others = {"app", "convert", "report"}
    assert {call[0] for call in CALLS.values()} | others == set(COMMANDS)
    assert {name.partition("-")[0] for name in CALLS} | others == set(COMMANDS)


@pytest.mark.slow
def test_the_schema_is_one(worked_example):
    VALID.check_schema(SCHEMA)
    assert not VALID.is_valid({"format": 2, "command": "agree"})
    schema = {"$ref": "#/$defs/decisions_file", "$defs": SCHEMA["$defs"]}
    made = json.loads((worked_example / "mia.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(made)


def test_no_file_is_left_over():
    names = {f"{call}.txt" for call in (*CALLS, *METHODS) if call != "demo"}
    names |= {
        f"{call}{OUTPUTS[form]}" for form, calls in IN_FILES.items() for call in calls.split()
    }
    names |= {f"{call}-{NARROW}.txt" for call in FITTED} | {f"disagreements-{WIDE}.txt"}
    names |= {"convert.table", "convert.conll"}
    assert {path.name for path in GOLDEN.iterdir()} == names
