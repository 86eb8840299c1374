"""What is in the file of a report, and what never is."""

import os
import subprocess
import sys

import pytest

import report_corpora
from beyondchance.cli.main import main

FAST = ("--quiet", "--resamples", "99")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["team", "systems"])
def test_no_text_leaves_no_word(kind, tmp_path):
    args = ["report", *getattr(report_corpora, kind)(tmp_path), *FAST]
    path = tmp_path / "report.html"
    assert main([*args, "--save", str(path)]) == 0
    shown = path.read_text("utf-8")
    assert main([*args, "--save", str(path), "--no-text"]) == 0
    hidden = path.read_text("utf-8")
    for word in report_corpora.WORDS:
        assert word in shown
        assert word not in hidden
    assert "PER" in hidden


@pytest.mark.slow
def test_the_same_bytes_in_every_process(tmp_path):
    args = report_corpora.systems(tmp_path)
    pages = []
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.html"
        subprocess.run(
            [sys.executable, "-m", "beyondchance", "report", *args, *FAST, "--save", path],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        pages.append(path.read_bytes())
    assert pages[0] == pages[1]
