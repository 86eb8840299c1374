"""What is in the file of a report, and what never is."""

import os
import subprocess
import sys

import pytest

import report_corpora
from beyondchance.cli.main import main

FAST = ("--quiet", "--resamples", "99")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("team", marks=pytest.mark.long), "systems"])
def test_no_text_leaves_no_word(kind, tmp_path):
    args = ["report", *getattr(report_corpora, kind)(tmp_path), *FAST]
    path = tmp_path / "report.html"
    assert main([*args, "--save", str(path)]) == 0
    shown = path.read_text("utf-8")
    assert main([*args, "--save", str(path), "--no-text"]) == 0
    hidden = path.read_text("utf-8")
    assert str(tmp_path) not in shown
    for word in report_corpora.WORDS:
        assert word in shown
        assert word not in hidden
    assert "PER" in hidden


@pytest.mark.long  # charts by themselves are compared in page/test_figures.py
def test_the_same_bytes_in_every_process(tmp_path):
    args = report_corpora.systems(tmp_path)
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    here, there = tmp_path / "here.html", tmp_path / "there.html"
    assert main(["report", *args, *FAST, "--save", str(here)]) == 0
    subprocess.run(
        [sys.executable, "-m", "beyondchance", "report", *args, *FAST, "--save", there],
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=True,
    )
    assert here.read_bytes() == there.read_bytes()
