"""Options of earlier versions are answered with what takes their place."""

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.errors import OptionError
from beyondchance.options import FORMER, ReadOptions, declared
from beyondchance.settings import Settings

ANSWERS = {
    "sensitivity": ("measure=, unit= and scope=", "--measure, --unit and --scope"),
    "spans_key": ("layer=NAME", "--layer NAME"),
    "align": ("strict='cut_tokens'", "--strict=cut_tokens"),
    **{
        name: (f"strict='{name}'", f"--strict={name}")
        for name in ("mismatch", "marks", "duplicates", "stored_words", "inexact_quotes")
    },
    "ends": ("offsets='inclusive'", "--offsets inclusive"),
    "tag_column": ("columns='tag=4'", "--columns tag=4"),
    "token_column": ("columns='token=1'", "--columns token=1"),
    "tokeniser": ("positions='whitespace'", "--positions whitespace"),
    "whitespace": ("never part of them", "never part of them"),
}


@pytest.mark.parametrize(("name", "answers"), ANSWERS.items())
def test_former_options_are_answered(name, answers, capsys):
    in_python, on_command_line = answers
    with pytest.raises(OptionError) as caught:
        bc.agreement([["O"]], [["O"]], **{name: "x"})
    assert in_python in str(caught.value)
    flag = f"--{name.replace('_', '-')}"
    assert main(["agree", "a.conll", flag, "x"]) == 2
    assert f"no such option {flag}; " in (said := capsys.readouterr().err)
    assert on_command_line in said


def test_all_former_options_are_listed():
    assert {*FORMER} - {"keep_parts"} == {*ANSWERS}
    assert not FORMER.keys() & declared(ReadOptions).keys()


@pytest.mark.parametrize(
    "name", ["align", "duplicates", "ends", "marks", "spans_key", "whitespace"]
)
def test_former_signatures_are_read(name):
    signature = f"beyondchance|{name}:x|version:0.1.0"
    assert Settings.parse(signature).to_dict()[name] == "x"
