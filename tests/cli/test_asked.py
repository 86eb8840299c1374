"""Every output holds what an option asks for, or refuses the option in a sentence.

The options are those that commands declare: a new one fails here until it says what it is tried
with. Numbers that text shows only with an option are looked for in the other outputs; where it
changes numbers, or shows none, other outputs have to change as well.
"""

import csv
import io
import json
import re
from importlib import import_module

import click
import pytest

from beyondchance.cli.main import COMMANDS, USAGE, main
from beyondchance.reporting.rendering import FLAT, OUTPUTS
from refusals import assert_tells

NAMES = ("ada", "ben", "cleo")
TEAM = tuple(f"rounds/{name}.conll" for name in NAMES)
SURE = ("--confidence", "0.9", "--resamples", "199")
DRAWN = (*SURE, "--interval-method", "percentile")
SAMPLED = ("--measure", "iou", "--model", "overlapping")
REPLACED = ("--replace", "cleo")
CALLS = {
    "agree": TEAM,
    "rank": TEAM,
    "difficulty": TEAM,
    "disagreements": TEAM,
    "diagnose": TEAM,
    "consensus": TEAM,
    "adjudicate": (*TEAM, "--decisions", "mia.json"),
    "replace": (*TEAM, "dan.conll", "eve.conll", "--model", "dan"),
    "careless": (*TEAM, "dan.conll", "eve.conll"),
    "plan": TEAM,
    "place": ("--length", "20", "--spans", "1,3"),
    "reproduce": (),
    "formats": (),
    "demo": (),
}
"""The files of each command, and what it needs."""
TRIED = {
    "measure": ("exact",),
    "theta": ("0.6", "--measure", "iou"),
    "model": ("overlapping",),
    "scope": ("unlabelled",),
    "samples": ("50", *SAMPLED),
    "seed": ("5", *SAMPLED),
    "chance": ("shapes",),
    "confidence": ("0.9",),
    "interval_method": ("percentile", *SURE),
    "resamples": ("299", *DRAWN),
    "over": ("both", *SURE),
    "null": ("--resamples", "199"),
    "agree by": ("round", *SURE),
    "order": ("2,1", "--by", "round"),
    "against": ("ben", *SURE),
    "coefficients": ("alpha,kappa",),
    "gamma": ("alpha=2", "--coefficients", "gamma", "--labels", "PERSON"),
    "methods": (),
    "rank by": ("label", *SURE),
    "split_by_difficulty": ("0.7", *DRAWN),
    "disagreements by": ("pair",),
    "diagnose by": ("round",),
    "kind": ("label",),
    "label": ("PERSON",),
    "method": ("union",),
    "ties": ("drop",),
    "consensus measure": ("exact", "--method", "best"),
    "weights": ("ada=2",),
    "rest": ("majority",),
    "compare": (),
    "models": ("dan,eve",),
    "humans": ("ada,ben,cleo",),
    "keep": ("0.5",),
    "plan keep": ("0.5", "--replace", "cleo"),
    "margin": ("0.3",),
    "plan margin": ("0.3", "--replace", "cleo"),
    "blind": ("yes",),
    "replace": ("cleo",),
    "power": ("0.5", "--replace", "cleo"),
    "level": ("0.5",),
    "careless seed": ("5",),
    "careless resamples": ("199",),
    "half_width": ("0.042",),
    "score": ("observed",),
    "length": ("30",),
    "spans": ("1,4",),
}
"""The value of each option, if it takes one, and what it goes with."""
ELSEWHERE = {
    *("output", "digits", "top", "quiet", "fail_under", "plot", "save", "folder"),
    *("decisions", "name", "with_annotators", "average", "chance"),
    *(parameter.name for parameter in import_module("beyondchance.cli.convert").command.params),
}
"""How much is printed and where, which annotations are read and written, weights of pairs (all
annotated all documents here), and chance by shapes (tests/cli/test_chance.py)."""
UNSEEN = {"careless seed", "careless resamples"}
"""They change p-values that text shows only of stretches to look at: there is none here."""
WRITTEN = {("adjudicate", "rest"), ("adjudicate", "ties")}
"""They change what is written, not the decisions that a flat table lists."""
SHORT = {("agree", "confidence"), ("rank", "confidence")}
"""In LaTeX these are the intervals of the main table; those of other tables are not there."""


def options_of(command):
    parameters = import_module(f"beyondchance.cli.{command}").command.params
    return {
        item.name: item
        for item in parameters
        if isinstance(item, click.Option)
        and item.name not in ELSEWHERE
        and item.group != "Large files"
    }


ASKED = [(command, option) for command in CALLS for option in options_of(command)]
QUICK = {("agree", "coefficients"), ("rank", "methods"), ("disagreements", "by"), ("plan", "score")}
LISTED = [pytest.param(*each, marks=[pytest.mark.slow] * (each not in QUICK)) for each in ASKED]


def decimals(text, output="text"):
    """The numbers with decimals in an output, rounded as text has them; without bounds."""
    if output == "json":
        found = [f"{abs(value):.4f}" for value in values(json.loads(text))]
    elif output == "csv":
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        found = [f"{abs(float(x)):.4f}" for x in cells if re.fullmatch(r"-?[\d.]+(e-\d+)?", x)]
    else:
        text = re.sub(r"(?m)^% .*", "", text)  # comments of LaTeX
        found = re.findall(r"(?<![\w.])(?<![<>] )\d*\.\d{4}(?![\d.])", text)
    return {f"{float(number):.4f}" for number in found}


def values(data):
    if isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from values(item)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield data


def unsigned(text):
    """A text without signatures, which change with most options."""
    return re.sub(r"beyondchance\|[^\s\"]*", "", text)


@pytest.mark.parametrize(("command", "option"), LISTED)
def test_every_output_holds_what_was_asked(command, option, printed, capsys):
    declared = options_of(command)[option]
    tried = TRIED.get(f"{command} {option}", TRIED.get(option))
    assert tried is not None, "a new option: say what to try it with"
    n_values = 0 if declared.is_flag else 1
    words = (command, *CALLS[command], *tried[n_values:])
    asked = (*words, declared.opts[-1], *tried[:n_values])
    if option == "compare":
        asked = (*asked, "--decisions", "tom.json")
    before, after = printed(*words), printed(*asked)
    is_seen = unsigned(before.text) != unsigned(after.text)
    assert is_seen != (f"{command} {option}" in UNSEEN)
    old, new = decimals(before.text), decimals(after.text)
    added = new - old if old <= new else set()
    for output in OUTPUTS:
        if output in FLAT and not declared.is_flat:
            assert main([*asked, "--output", output]) == USAGE
            assert_tells(capsys.readouterr().err, f"{declared.opts[-1]} … {output}")
            continue
        found = after.as_output(output)
        missing = added - decimals(found, output)
        if output == "latex" and (command, option) in SHORT:
            assert missing != added, output
        else:
            assert not missing, (output, missing)
        if is_seen and not added and not (output in FLAT and (command, option) in WRITTEN):
            assert unsigned(before.as_output(output)) != unsigned(found), output


def test_intervals_of_the_labels_of_systems(printed):
    found = printed("rank", *TEAM, "--by", "label", *SURE)
    systems = found.data["systems"]
    ends = [
        value
        for system in systems
        for label in system["labels"].values()
        for value in label["intervals"]["corrected"]
    ]
    wanted = {f"{value:.4f}" for value in ends}
    assert len(wanted) > 8
    for output in OUTPUTS:
        assert wanted <= decimals(found.as_output(output), output), output


@pytest.mark.parametrize("command", ["agree", "rank"])
def test_scores_of_the_main_table_have_intervals(command, printed):
    table, *_ = printed(command, *TEAM, *SURE).as_output("latex").split(r"\bottomrule")
    rows = [line for line in table.splitlines() if "$0." in line]
    assert len(rows) > 3
    assert [line for line in rows if "$[0." not in line] == []


OF_PAGES = {
    "coefficients": ("alpha",),
    "replace": ("cleo",),
    **{name: (*TRIED[name], "--replace", "cleo") for name in ("keep", "margin", "blind")},
    **{name: TRIED[name] for name in ("measure", "theta", "model", "scope", "confidence")},
    **{name: (TRIED[name][0], *SAMPLED) for name in ("samples", "seed")},
    "interval_method": ("percentile",),
    "resamples": ("299", *DRAWN[4:]),
    "gamma": ("alpha=2", "--coefficients", "gamma", "--labels", "PERSON"),
    "by": ("round",),
    "title": ("A pilot",),
    "dated": (),
    "top": ("1",),
    "digits": ("5",),
}
"""What the options of pages are tried with."""


@pytest.fixture
def page_of(worked_example, _kept, monkeypatch, capsys):
    """Make a page among the files of the example; each is made once."""
    monkeypatch.chdir(worked_example)

    def make(*words):
        if words not in _kept:
            assert main(list(words)) == 0
            _kept[words] = unsigned(capsys.readouterr().out)
        return _kept[words]

    return make


@pytest.mark.slow
@pytest.mark.parametrize("option", OF_PAGES)
def test_pages_hold_what_was_asked(option, page_of):
    parameters = import_module("beyondchance.cli.report").command.params
    (declared,) = [item for item in parameters if item.name == option]
    n_values = 0 if declared.is_flag else 1
    tried = OF_PAGES[option]
    words = ("report", *TEAM, *tried[n_values:], "-o", "-", "--quiet")
    assert page_of(*words) != page_of(*words, declared.opts[-1], *tried[:n_values])


def test_every_option_of_pages_is_tried():
    elsewhere = ELSEWHERE - {"digits", "top"} | {"figures"}
    own = import_module("beyondchance.cli.report").command.params
    asked = {item.name for item in own if getattr(item, "group", "") != "Large files"}
    assert asked - elsewhere == set(OF_PAGES)


def test_every_command_is_walked_through():
    # Annotations in a format, and pages: none has these outputs.
    assert {*CALLS, "app", "convert", "report"} == set(COMMANDS)
