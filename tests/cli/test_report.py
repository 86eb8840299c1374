"""``beyondchance report`` on the command line."""

import re
from datetime import date
from pathlib import Path

import pytest

from beyondchance import agreement, rank, read
from beyondchance.cli.main import main
from refusals import assert_tells

TEAM = tuple(f"example/{name}.conll" for name in ("ada", "ben", "cleo"))
QUICK = ("--resamples", "99", "--quiet")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("example")]


MADE = {}


def page(*args):
    """The page that a command writes about the example, each made once."""
    if args not in MADE:
        assert main(["report", *args, "-o", "page.html", *QUICK]) == 0
        MADE[args] = Path("page.html").read_text("utf-8")
    return MADE[args]


def test_annotators(capsys):
    found, score = page(*TEAM), agreement(read(*TEAM)).corrected
    assert f'data-value="{score!r}"' in found
    assert "model &#39;auto&#39;" not in found
    assert main(["report", *TEAM, "-o", "-", *QUICK]) == 0
    assert capsys.readouterr().out == found
    assert not Path("-").exists()


def test_systems():
    corpus = read(*TEAM[1:], gold=Path(TEAM[0]))
    best = max(system.corrected for system in rank(corpus).systems.values())
    found = page(*TEAM[1:], "--gold", TEAM[0])
    assert 'id="systems"' in found
    assert f'data-value="{best!r}"' in found


def test_options_reach_the_page():
    found = page(
        *(*TEAM, "--measure", "exact", "--confidence", "0.8", "--title", "Ours"),
        *("--interval-method", "bca", "--seed", "5"),
        *("--coefficients", "kappa,gamma", "--gamma", "samples=30"),
    )
    signature = re.search(r'<code id="signature">(.*?)</code>', found)[1]
    assert "|measure:exact|" in signature
    assert "|seed:5|" in signature
    assert "|confidence:0.8|" in signature
    assert '<h1 dir="auto">Ours</h1>' in found
    assert "gamma" in found
    assert "mu-alpha" not in found
    assert date.today().isoformat() not in found


def test_fewer_documents_without_text():
    found = page(*TEAM, "--top", "3", "--no-text")
    assert "museum" not in found
    assert_tells(found, "3 most contested of 12 documents")
    everything = page(*TEAM, "--top", "0", "--dated")
    assert "all 12 documents" in everything
    assert "museum" in everything
    assert date.today().isoformat() in everything


def test_figures(capsys):
    words = ["--resamples", "99", "--figures", "figures", "--pseudonyms"]
    assert main(["report", *TEAM, "-o", "page.html", *words]) == 0
    assert capsys.readouterr().err.splitlines()[-2:] == ["wrote page.html", "wrote figures"]
    endings = {path.suffix for path in Path("figures").iterdir()}
    assert endings == {".svg"}
    assert Path("figures/labels.svg").read_bytes().startswith(b"<svg")
    drawn = "".join(path.read_text("utf-8") for path in Path("figures").glob("*.svg"))
    assert "annotator 1" in drawn
    assert not re.search(r"\b(ada|ben|cleo)\b", drawn)


def test_a_name_that_is_no_text():
    Path("example/ada.conll").rename("example/\udcff.conll")
    assert "\ufffd" in page("example/\udcff.conll", *TEAM[1:])


REFUSED = [
    (("-o", "a.html"), 2, "no files"),
    ((*TEAM, "-o", "nowhere/a.html"), 1, "nowhere/a.html: its folder"),
    ((*TEAM, "-o", "example"), 2, "directory"),
    ((*TEAM, "-o", TEAM[1]), 2, f"{TEAM[1]}: an input"),
    ((*TEAM[1:], "--gold", TEAM[0], "-o", TEAM[0]), 2, f"{TEAM[0]}: an input"),
    ((*TEAM, "-o", "a.html", "--figures", "example/ada.conll/x"), 1, "example/ada.conll/x"),
    ((*TEAM[:1], "-o", "a.html"), 1, "only one annotator"),
    ((*TEAM, "-o", "a.html", "--gold", "zoe"), 1, "'zoe'"),
    ((*TEAM, "-o", "a.html", "--coefficients", "zeta"), 2, "'zeta'"),
    ((*TEAM, "-o", "a.html", "--figures", "example/ada.conll"), 2, "example/ada.conll"),
    ((*TEAM, "-o", "a.html", "--theta", "0.3"), 2, "theta"),
]


def test_refused(capsys):
    for args, code, value in REFUSED:
        assert main(["report", *args]) == code, args
        found = capsys.readouterr()
        assert found.out == ""
        assert value in found.err, args
        assert found.err.splitlines()[-1].startswith("beyondchance"), args
        assert "Traceback" not in found.err
        assert not Path("a.html").exists()
