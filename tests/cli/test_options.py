"""Options of the command line: other names of values, and parameters that would do nothing."""

import pytest

from beyondchance import read
from beyondchance.cli.main import main

PAIR = "Anna\tB-PER\nmet\tO\n"


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.conll").write_text(PAIR)


@pytest.mark.parametrize("name", ["IOB2", "iob2", "BIO", "bio", "Bio"])
def test_schemes_in_any_case(name, tmp_path):
    assert main(["agree", "a.conll", "b.conll", "--scheme", name, "--quiet"]) == 0
    assert read(tmp_path / "a.conll", scheme=name).options["scheme"] == "IOB2"


def test_other_names_of_schemes_are_in_the_help(capsys):
    main(["agree", "--help-all"])
    said = " ".join(capsys.readouterr().out.split())
    assert "BIO (IOB2), IOB (IOB1), IOBES (BIOES) and BIOLU (BILOU)" in said


@pytest.mark.parametrize("words", ["--gamma foo=1", "--gamma alpha=1 --coefficients kappa"])
@pytest.mark.parametrize("command", ["agree", "report"])
def test_parameters_of_gamma_that_nothing_uses(command, words, capsys):
    more = ["-o", "page.html"] if command == "report" else []
    assert main([command, "a.conll", "b.conll", *words.split(), *more]) == 2
    message = "--gamma is for the coefficient gamma; pass --coefficients gamma as well"
    assert message in capsys.readouterr().err
