"""Options of the command line: other names of values, and parameters that would do nothing."""

from contextlib import suppress
from importlib import import_module

import click
import pytest

import beyondchance as bc
from beyondchance import read
from beyondchance.cli.main import main
from beyondchance.options import ReadOptions, ResamplingOptions, ScoringOptions, declared
from refusals import assert_tells, refused

PAIR = "Anna\tB-PER\nmet\tO\n"


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.conll").write_text(PAIR)


def test_schemes_in_any_case(tmp_path):
    for name in ("IOB2", "iob2", "BIO", "bio", "Bio"):
        assert main(["agree", "a.conll", "b.conll", "--scheme", name, "--quiet"]) == 0
        assert read(tmp_path / "a.conll", scheme=name).options["scheme"] == "IOB2"


def test_other_names_of_schemes_are_in_the_help(capsys):
    main(["agree", "--help-all"])
    said = " ".join(capsys.readouterr().out.split())
    assert_tells(said, "BIO (IOB2) … IOB (IOB1) … IOBES (BIOES) … BIOLU (BILOU)")


def test_parameters_of_gamma_that_nothing_uses(capsys):
    for words in (
        "agree a.conll b.conll --gamma foo=1",
        "agree a.conll b.conll --gamma alpha=1 --coefficients kappa",
        "report a.conll b.conll --gamma alpha=1 --coefficients kappa -o page.html",
    ):
        assert main(words.split()) == 2
        assert_tells(capsys.readouterr().err, "--gamma … --coefficients gamma")


HUGE = 10**400


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agree", "plan", "place"])
def test_numbers_that_no_float_comes_near(name, capsys):
    command = import_module(f"beyondchance.cli.{name}").command
    has_files = any(isinstance(item, click.Argument) for item in command.params)
    given = ["a.conll", "b.conll"] if has_files else ["--length=9", "--spans=1"]
    for item in command.params:
        if isinstance(item, click.Option) and not item.is_flag and item.name != "help":
            flag = max(item.opts, key=len)
            assert main([name, *given, f"{flag}={HUGE}", "--quiet"]) in {0, 1, 2, 3}, flag
            assert "a defect of" not in capsys.readouterr().err, flag


@pytest.mark.slow
def test_numbers_in_python_that_no_float_comes_near():
    corpus = bc.example()
    result = bc.agreement(corpus)
    jobs = [
        (bc.agreement, corpus, declared(ScoringOptions)),
        (bc.read, "a.conll", {*declared(ReadOptions)} - {"documents"}),
        (result.interval, None, declared(ResamplingOptions)),
        (bc.report, corpus, ("digits", "confidence", "replace", "coefficients", "gamma")),
        (bc.coefficients, corpus, ("which", "gamma")),
    ]
    for function, data, names in jobs:
        for name in names:
            for huge in (HUGE, -HUGE):
                with suppress(bc.BeyondChanceError):  # anything else is a defect
                    function(*([] if data is None else [data]), **{name: huge})


def test_numbers_that_python_does_not_write_out():
    with refused(bc.OptionError, "measure … digits"):
        bc.agreement(bc.example(), measure=10**5000)


def test_workers_are_not_without_limit():
    with refused(bc.OptionError, "workers … 1,024"):
        bc.agreement(bc.scan("a.conll", "b.conll"), workers=HUGE)
