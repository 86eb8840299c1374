"""``beyondchance report`` on the command line."""

import re
from datetime import date
from pathlib import Path

import pytest

from beyondchance import agreement, rank, read, report
from beyondchance.cli.main import main

TEAM = tuple(f"example/{name}.conll" for name in ("ada", "ben", "cleo"))
QUICK = ("--resamples", "99", "--quiet")

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch, capsys):
    """The example's files in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--quiet", "--files", "example"]) == 0
    capsys.readouterr()


def page(*args):
    assert main(["report", *args, "-o", "page.html", *QUICK]) == 0
    return Path("page.html").read_text("utf-8")


def test_annotators():
    corpus = read(*TEAM)
    expected = report(agreement(corpus), corpus, resamples=99)
    # The command adds what the model was chosen for.
    found = page(*TEAM)
    assert "spans of one label by one annotator in one text lie apart" in found
    score = f'data-value="{agreement(corpus).corrected!r}"'
    assert score in found
    assert score in expected.html


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
    )
    signature = re.search(r'<code id="signature">(.*?)</code>', found)[1]
    assert "|measure:exact|" in signature
    assert "|seed:5|" in signature
    assert "|confidence:0.8|" in signature
    assert '<h1 dir="auto">Ours</h1>' in found
    assert date.today().isoformat() not in found
    assert date.today().isoformat() in page(*TEAM, "--dated")


def test_no_text():
    found = page(*TEAM, "--no-text")
    assert "museum" in page(*TEAM)
    assert "museum" not in found


def test_fewer_documents():
    assert "the 3 most contested of 12 documents" in page(*TEAM, "--top", "3")
    assert "all 12 documents" in page(*TEAM, "--top", "0")


def test_other_coefficients():
    found = page(*TEAM, "--coefficients", "kappa,gamma", "--gamma", "samples=30")
    assert "gamma" in found
    assert "mu-alpha" not in found


def test_figures(capsys):
    call = ["report", *TEAM, "-o", "page.html", "--resamples", "99", "--figures", "figures"]
    assert main(call) == 0
    assert capsys.readouterr().err.splitlines()[-2:] == ["wrote page.html", "wrote figures"]
    endings = {path.suffix for path in Path("figures").iterdir()}
    assert endings == {".svg", ".png", ".pdf"}
    assert Path("figures/labels.png").read_bytes().startswith(b"\x89PNG")
    assert Path("figures/labels.pdf").read_bytes().startswith(b"%PDF")


def test_printed(capsys):
    assert main(["report", *TEAM, "-o", "-", *QUICK]) == 0
    assert capsys.readouterr().out == page(*TEAM)
    assert not Path("-").exists()


def test_a_name_that_is_no_text():
    Path("example/ada.conll").rename("example/\udcff.conll")
    assert "\ufffd" in page("example/\udcff.conll", *TEAM[1:])


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ((*TEAM,), 2, "missing option '-o'"),
        (("-o", "a.html"), 2, "no files; expected at least one"),
        ((*TEAM, "-o", "nowhere/a.html"), 1, "its folder does not exist; make it first"),
        ((*TEAM, "-o", "example"), 2, "is a directory"),
        ((*TEAM, "-o", TEAM[1]), 2, "is one of the files to read; save under another name"),
        ((*TEAM[1:], "--gold", TEAM[0], "-o", TEAM[0]), 2, "is one of the files to read"),
        ((*TEAM, "-o", "a.html", "--figures", "example/ada.conll/x"), 1, "cannot be made a folder"),
        ((*TEAM[:1], "-o", "a.html"), 1, "only one annotator"),
        ((*TEAM, "-o", "a.html", "--gold", "zoe"), 1, "zoe"),
        ((*TEAM, "-o", "a.html", "--coefficients", "zeta"), 2, "zeta"),
        ((*TEAM, "-o", "a.html", "--figures", "example/ada.conll"), 2, "is a file"),
        ((*TEAM, "-o", "a.html", "--theta", "0.3"), 2, "theta"),
    ],
)
def test_refused(capsys, args, code, message):
    assert main(["report", *args]) == code
    found = capsys.readouterr()
    assert found.out == ""
    assert message in found.err
    assert "Traceback" not in found.err
    assert not Path("a.html").exists()
