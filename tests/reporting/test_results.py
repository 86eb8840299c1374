"""What results print in Python: text, a short line, HTML, and plain values.

After a wanted change: ``python -m pytest tests/reporting/test_results.py --write-golden``, then
read the difference.
"""

import json
import pickle
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import beyondchance as bc
from beyondchance import __version__
from beyondchance.reporting.results import _REPORTS
from beyondchance.results.printed import Printed
from refusals import assert_tells

GOLDEN = Path(__file__).parents[1] / "golden" / "results"
COLUMNS = 80


@cache
def results():
    """Results of every kind, and some that are undefined."""
    corpus = bc.example()
    team, one = bc.agreement(corpus), bc.agreement(corpus, measure="exact", gold="ada")
    ranking = bc.rank(corpus, gold="ada")
    systems = ranking.systems
    nothing = bc.agreement([["O", "O"]], [["O", "O"]])
    return {
        "agreement": team,
        "agreement-gold": one,
        "agreement-undefined": bc.agreement([["B-P"], ["O", "B-L"]], [["B-P"], ["O", "B-L"]]),
        "agreement-nothing": nothing,
        "ranking": ranking,
        "comparison": bc.compare(systems["ben"], systems["cleo"], seed=1),
        "standings": bc.compare_systems(ranking, seed=1),
        "plan": bc.plan(team, 0.03),
        "plan-none": bc.plan(nothing, 0.03),
        "null": bc.null_distribution(corpus, resamples=199, seed=1),
        "difficulty": bc.difficulty(corpus),
        "disagreements": bc.disagreements(corpus),
        "coefficients": bc.coefficients(corpus, which=["alpha", "kappa", "ku-alpha"]),
        "intervals": team.intervals(),
        "interval": team.interval(),
        "interval-caution": bc.agreement(
            [["B-P", "O"], ["B-P", "O"], ["O", "B-P"]], [["B-P", "O"], ["B-P", "O"], ["B-P", "O"]]
        ).interval(),
        "interval-none": nothing.interval(),
        "labelling": bc.labelling(corpus),
        "average": team.macro("label"),
        "score": team.score,
    }


IN_FULL = {
    "html": ("agreement", "coefficients", "standings"),
    "tex": ("agreement", "agreement-gold", "comparison", "disagreements", "ranking", "standings"),
}
"""Forms that are kept for some results only: the others say the same numbers."""


def assert_golden(path, found, config):
    found = found.replace(__version__, "VERSION")
    if config.getoption("--write-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text("utf-8"), path.name


@pytest.mark.slow
def test_text(request):
    for name, result in results().items():
        assert_golden(GOLDEN / f"{name}.txt", f"{result}\n", request.config)


def test_short_lines(request):
    lines = [f"{name}: {result!r}\n" for name, result in results().items()]
    assert_golden(GOLDEN / "repr.txt", "".join(lines), request.config)


@pytest.mark.slow
def test_html_and_latex(request):
    for name in IN_FULL["html"]:
        shown = results()[name]._repr_html_()
        assert_golden(GOLDEN / f"{name}.html", f"{shown}\n", request.config)
    for name in IN_FULL["tex"]:
        shown = results()[name].to_latex()
        assert_golden(GOLDEN / f"{name}.tex", f"{shown}\n", request.config)


def test_all_forms_have_the_same_numbers():
    number = re.compile(r"\d\.\d{3,}")
    for name, result in results().items():
        # The signature, which has the version, stands in all of them too.
        expected = set(number.findall(str(result)))
        assert set(number.findall(result._repr_html_())) == expected, name
        latex = result.to_latex()
        assert name in IN_FULL["tex"] or set(number.findall(latex)) <= expected, name
        assert latex.count(r"\begin{") == latex.count(r"\end{"), name


def test_it_fits():
    for name, result in results().items():
        lines = str(result).splitlines()
        widest = max(len(line) for line in lines if not line.startswith("beyondchance|"))
        assert widest <= COLUMNS, name
        assert "\n" not in repr(result), name
        assert len(repr(result)) <= 120, name


def test_plain_values():
    for name, result in results().items():
        assert isinstance(json.loads(json.dumps(result.to_dict(), allow_nan=False)), dict), name
        rows = result.to_rows()
        assert rows, name
        assert all(isinstance(row, dict) for row in rows), name
        json.dumps(rows, allow_nan=False)


@pytest.mark.slow
def test_rows_make_data_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = results()["agreement"].to_rows()
    assert pandas.DataFrame(rows).query("level == 'label'")["name"].tolist() == [
        *results()["agreement"].by_label
    ]
    assert polars.DataFrame(rows, infer_schema_length=None).height == len(rows)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, [name for name, _ in attrs]))


def test_names_do_not_become_html():
    label = '<script>alert("x")</script>'
    shown = bc.agreement(
        bc.Corpus.from_spans({"<b>a": [[(0, 2, label)]], "b": [[(0, 1, label)]]}, lengths=[5])
    )._repr_html_()
    tags = _Tags()
    tags.feed(shown)
    assert {tag for tag, _ in tags.found}.isdisjoint({"script", "b"})
    assert all(names in ([], ["style"]) for _, names in tags.found)


def test_every_public_result_prints():
    public = {getattr(bc, name) for name in bc.__all__}
    printed = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Printed)}
    assert {kind.__name__ for kind in printed} <= set(_REPORTS)
    assert {type(result).__name__ for result in results().values()} <= set(_REPORTS)


class TestAgainstAGoldStandard:
    def test_precision_and_recall_have_their_names(self):
        both = bc.agreement(
            {"system": [["B-P", "O", "O", "O"]], "gold": [["B-P", "B-P", "B-P", "O"]]},
            gold="gold",
            measure="exact",
        )
        assert (both.precision, both.recall, both.f1) == (1.0, pytest.approx(1 / 3), 0.5)
        assert both.gold == "gold"
        assert both.support == {"P": 3}
        assert both.corrected_f1 == both.corrected
        assert both.corrected_precision == both.score.corrected_precision
        assert both.corrected_recall == both.score.corrected_recall

    def test_support_counts_the_spans_of_the_gold_standard(self):
        # gold     B B O O     system   B O O B
        system, gold = [["B-P", "O", "O", "B-P"]], [["B-P", "B-P", "O", "O"]]
        found = bc.agreement({"system": system, "gold": gold}, gold="gold", measure="exact")
        assert found.support == {"P": 2}
        team = bc.agreement(bc.example())
        assert team.support is None
        assert team.gold is None

    def test_it_is_what_a_ranking_says(self):
        ranking = bc.rank(bc.example(), gold="cleo")
        for name, system in ranking.systems.items():
            alone = bc.agreement(bc.example().select(annotators=[name, "cleo"]), gold="cleo")
            assert (alone.precision, alone.recall) == (system.precision, system.recall)
            assert alone.support == system.support


class TestBothMeasures:
    """The first sentence tells how far agreement is by token and by exact."""

    TOLD = "72 % of the way from chance to full agreement by token … 53 % by exact"

    def test_they_are_scored_when_printed(self):
        corpus = bc.example()
        result = bc.agreement(corpus)
        assert "measures" not in vars(result)
        assert_tells(" ".join(str(result).split()), f"ada, ben and cleo … {self.TOLD}")
        assert_tells(result._repr_html_(), self.TOLD)
        exact = bc.agreement(corpus, measure="exact")
        assert result.measures["exact"].score == exact.score
        assert_tells(" ".join(str(exact).split()), "53 % of … by exact … 72 % by token")
        assert list(bc.agreement(corpus, measure="dice").measures) == ["dice", "token", "exact"]
        assert_tells(
            " ".join(str(bc.agreement(corpus, gold="ada")).split()), "ben and cleo with ada"
        )

    def test_model_and_scope_are_those_of_the_result(self):
        result = bc.agreement(bc.example(), model="overlapping", scope="joint")
        exact = bc.agreement(bc.example(), measure="exact", model="overlapping", scope="joint")
        assert result.measures["exact"].settings == exact.settings
        assert result.measures["exact"].score == exact.score

    def test_rankings(self):
        ranking = bc.rank(bc.example(), gold="ada")
        told = "71 % of the way … by token (tokens … marked) for cleo … 56 % by exact (… for cleo"
        assert_tells(" ".join(str(ranking).split()), told)
        # Of a part of the texts, the other measure is not known.
        part = str(ranking.among([0, 1]))
        assert "by token (" in part
        assert "by exact (" not in part

    def test_without_annotations_its_own_measure_only(self):
        for result in (bc.agreement(bc.example()), bc.rank(bc.example(), gold="ada")):
            again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
            assert list(again.measures) == ["token"]
            assert "by token" in str(again)
            assert "by exact" not in str(again).partition("\n\n")[0]
        changed = replace(bc.agreement(bc.example()), notes=())
        assert list(changed.measures) == ["token"]

    def test_a_measure_of_ones_own(self):
        own = bc.CustomMeasure(
            name="mine", phi=lambda *sides: np.minimum(sides[1], sides[3]), size=lambda n: n
        )
        result = bc.agreement([["B-P", "O", "B-P"]], [["B-P", "O", "O"]], measure=own)
        again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
        assert list(again.measures) == ["mine"]
        assert_tells(" ".join(str(result).split()), "by mine … by token … by exact")


def test_methods_for_a_paper():
    for name in ("agreement", "agreement-gold", "ranking", "difficulty"):
        result = results()[name]
        assert "(Li et al., 2024)" in result.methods(), name
        assert r"\citep{li-etal-2024-estimating}" in result.methods("latex"), name
        assert str(result.settings) in result.methods(), name


def test_an_interval_unpacks():
    interval = results()["interval"]
    low, high = interval
    assert (low, high) == (interval.low, interval.high)


def test_a_missing_key_names_those_that_exist():
    found = results()
    for named in (
        found["agreement"].by_label,
        found["agreement"].by_document,
        found["ranking"].systems,
        found["difficulty"].by_document,
        found["intervals"].by_label,
        found["coefficients"].values,
    ):
        with pytest.raises(KeyError) as caught:
            named["nobody"]
        assert isinstance(caught.value, bc.UnknownNameError)
        names = " … ".join(f"'{name}'" for name in list(named)[:2])
        assert_tells(caught.value, f"'nobody' … {names}")
    with pytest.raises(bc.UnknownNameError):
        found["coefficients"]["nobody"]


def test_a_distribution_of_one_document_lists_none():
    one = bc.example().select(documents=bc.example().documents[:1])
    assert "documents," not in str(bc.null_distribution(one, resamples=99, seed=1))
    assert "documents," in str(bc.null_distribution(bc.example(), resamples=99, seed=1))


def test_a_document_that_many_annotated_is_named():
    # Four pairs of two annotators; then six annotators of one document are 15 of 19 pairs.
    def said(spans, **options):
        found = bc.agreement(bc.Corpus.from_spans(spans, lengths=[9] * 5), **options)
        return " ".join(str(found).split())

    spans = {f"w{i}": [None] * 5 for i in range(6)}
    for document in range(4):
        spans["w0"][document] = spans["w1"][document] = [(0, 1, "P")]
    assert "annotated it" not in said(spans)
    for documents in spans.values():
        documents[4] = [(3, 4, "P")]
    assert "document '4' has 79% of all pairs of annotators, because 6 annotated it" in said(spans)
    assert "annotated it" not in said(spans, gold="w0")
