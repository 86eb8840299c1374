"""Help pages: one screen for everybody, and all options for those who ask."""

import re
from itertools import product

import click
import pytest

from beyondchance.cli.main import COMMANDS, cli, main
from beyondchance.cli.running import Option
from beyondchance.options import ReadOptions, ResamplingOptions, ScoringOptions, declared

SCREEN = 45
"""Lines of a help page."""


def command_of(name):
    return cli.get_command(click.Context(cli), name)


@pytest.fixture
def shown(monkeypatch, capsys):
    """The page that a command shows on a terminal of some width."""

    def page(*words, width=100):
        monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        assert main([*words]) == 0
        return capsys.readouterr().out

    return page


def test_help_fits_a_screen(shown):
    for name, width in product(COMMANDS, [80, 100, 200]):
        lines = shown(name, "--help", width=width).splitlines()
        assert len(lines) <= SCREEN, name
        assert max(map(len, lines)) <= min(width, 100), name


def test_help_of_the_program_fits_a_screen(shown):
    assert len(shown("--help", width=80).splitlines()) <= SCREEN


def listed(page):
    """The options that have an entry on a page, by all their names."""
    entries = re.findall(r"^  ((?:-\w, )?--?[-\w]+)", page, re.MULTILINE)
    return {name for entry in entries for name in entry.split(", ")}


def names_of(options):
    return {name for item in options for name in item.opts}


def test_every_option_is_on_one_of_both_pages(shown):
    for name in COMMANDS:
        options = [item for item in command_of(name).params if isinstance(item, Option)]
        is_short = command_of(name).has_short_page
        everything = shown(name, "--help-all" if is_short else "--help")
        assert listed(everything) == names_of(options) | {"-h", "--help"}, name
        everyday = [item for item in options if item.is_everyday or not is_short]
        assert listed(shown(name, "--help")) == names_of(everyday) | {"-h", "--help"}, name


def test_what_is_hidden_is_mentioned(shown):
    for name in COMMANDS:
        command = command_of(name)
        page = shown(name, "--help")
        assert ("--help-all" in page) == command.has_short_page, name
        reads = any(getattr(item, "group", "") == "Reading" for item in command.params)
        assert ("those of reading files" in " ".join(page.split())) == reads, name


def test_commands_with_many_options_have_both_pages():
    short = {name for name in COMMANDS if command_of(name).has_short_page}
    assert short >= {"agree", "rank", "difficulty", "disagreements", "report", "plan", "convert"}


def test_declarations_say_who_needs_an_option():
    flags = {item.name: item for item in command_of("agree").params}
    for group in (ReadOptions, ScoringOptions, ResamplingOptions):
        for item in declared(group).values():
            if item.option.in_commands:
                assert flags[item.signed_name].is_everyday == item.option.is_everyday
                assert flags[item.signed_name].group in {"Reading", "Scoring", "Uncertainty"}


def test_all_of_the_help_is_on_the_page_of_all_options(shown):
    short, everything = (
        " ".join(shown("agree", page).split()) for page in ("--help", "--help-all")
    )
    measure = declared(ScoringOptions)["measure"]
    assert measure.option.help in short
    assert measure.more not in short
    assert f"{measure.option.help} {measure.more}" in everything


def test_choices_and_what_is_required_are_on_the_short_page(shown):
    page = " ".join(shown("report", "--help").split())
    replacing = " ".join(shown("replace", "--help").split())
    assert re.search(r"--model [^\[]* \[required\]", replacing)
    assert "[token|exact|boundary|dice|iou; default: token]" in page
    assert "--half-width H" in shown("plan", "--help")


def test_where_the_result_goes_is_on_the_short_page(shown):
    for name in COMMANDS:
        options = names_of(command_of(name).params)
        assert {"--output", "--save"} & options <= listed(shown(name, "--help")), name
