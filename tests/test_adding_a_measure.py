"""The first step of "Adding a measure" in CONTRIBUTING.md is enough for all that people read."""

import os
import subprocess
import sys

import pytest

from beyondchance import agreement, example
from beyondchance.core.measures import MEASURES
from beyondchance.reporting.sentences import explained_measure
from refusals import assert_tells
from toy_measure import TOY

DEFINED = "half an edge that both set between two tokens (edges)"
COMMANDS = """
from toy_measure import TOY
from beyondchance.core.measures import MEASURES

MEASURES[TOY.name] = TOY  # as an entry of core/measures.py, before anything else is imported

from beyondchance.cli.main import main

files = [f"example/{name}.conll" for name in ("ada", "ben", "cleo")]
assert main(["demo", "--files", "example"]) == 0
assert main(["agree", "--help-all"]) == 0
assert main(["agree", *files, "--measure", "edges"]) == 0
for command in ("agree", "rank", "difficulty"):
    assert main([command, *files, "--measure", "edges", "--methods"]) == 0
page = ["--resamples", "99", "--save", "page.html"]
assert main(["report", *files, "--measure", "edges", *page]) == 0
"""


@pytest.fixture
def boundary(monkeypatch):
    """The name of what gives the same scores as the toy measure, which is entered."""
    monkeypatch.setitem(MEASURES, TOY.name, TOY)
    return "boundary"


def test_python(boundary):
    corpus = example().select(annotators=["ada", "ben"])
    assert explained_measure("edges", "tokens") == "edges (edges that both set, in tokens)"
    for model in ("auto", "overlapping"):
        found = agreement(corpus, measure="edges", model=model)
        known = agreement(corpus, measure=boundary, model=model)
        for score in ("observed", "chance", "corrected"):
            assert getattr(found, score) == pytest.approx(getattr(known, score), abs=1e-12)
    assert DEFINED in agreement(corpus, measure="edges").methods()


@pytest.mark.slow
def test_command_line_methods_and_page(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "[token|exact|boundary|dice|iou|edges]" in text
    assert "edges: edges that both set, in positions." in text
    assert_tells(text, "edges (edges that both set, in tokens)")
    assert text.count(DEFINED) == 3
    assert DEFINED in (tmp_path / "page.html").read_text("utf-8")
