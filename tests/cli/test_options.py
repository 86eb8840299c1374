"""Options of the command line: other names of values, and parameters that would do nothing."""

import pytest

from beyondchance import read
from beyondchance.cli.main import main
from refusals import assert_tells

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
