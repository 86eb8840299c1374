"""What results print in Python: text, a short line, HTML, and plain values.

After a wanted change: ``python -m pytest tests/reporting/test_results.py --write-golden``, then
read the difference.
"""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

import beyondchance as bc
from beyondchance import __version__
from beyondchance.reporting.results import _REPORTS
from beyondchance.results.printed import Printed

GOLDEN = Path(__file__).parents[1] / "golden" / "results"
COLUMNS = 80


def _results():
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


RESULTS = _results()


@pytest.mark.parametrize("form", ["txt", "html", "repr", "tex"])
@pytest.mark.parametrize("name", RESULTS)
def test_what_is_printed(name, form, request):
    result = RESULTS[name]
    made = {
        "txt": str,
        "html": type(result)._repr_html_,
        "repr": repr,
        "tex": type(result).to_latex,
    }
    found = made[form](result).replace(__version__, "VERSION") + "\n"
    path = GOLDEN / f"{name}.{form}"
    if request.config.getoption("--write-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text("utf-8")


@pytest.mark.parametrize("name", RESULTS)
def test_it_fits(name):
    lines = str(RESULTS[name]).splitlines()
    assert max(len(line) for line in lines if not line.startswith("beyondchance|")) <= COLUMNS
    assert "\n" not in repr(RESULTS[name])
    assert len(repr(RESULTS[name])) <= 120


@pytest.mark.parametrize("name", RESULTS)
def test_plain_values(name):
    result = RESULTS[name]
    assert isinstance(json.loads(json.dumps(result.to_dict(), allow_nan=False)), dict)
    rows = result.to_rows()
    assert rows
    assert all(isinstance(row, dict) for row in rows)
    json.dumps(rows, allow_nan=False)


def test_rows_make_data_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = RESULTS["agreement"].to_rows()
    assert pandas.DataFrame(rows).query("level == 'label'")["name"].tolist() == [
        *RESULTS["agreement"].by_label
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
    assert {kind.__name__ for kind in printed} == set(_REPORTS)


class TestAgainstAGoldStandard:
    # gold     B B O O     system   B O O B
    RESULT = bc.agreement(
        {"system": [["B-P", "O", "O", "B-P"]], "gold": [["B-P", "B-P", "O", "O", "O"][:4]]},
        gold="gold",
        measure="exact",
    )

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
        assert self.RESULT.support == {"P": 2}
        team = bc.agreement(bc.example())
        assert team.support is None
        assert team.gold is None

    def test_it_is_what_a_ranking_says(self):
        ranking = bc.rank(bc.example(), gold="cleo")
        for name, system in ranking.systems.items():
            alone = bc.agreement(bc.example().select(annotators=[name, "cleo"]), gold="cleo")
            assert (alone.precision, alone.recall) == (system.precision, system.recall)
            assert alone.support == system.support


@pytest.mark.parametrize("name", ["agreement", "agreement-gold", "ranking", "difficulty"])
def test_methods_for_a_paper(name):
    result = RESULTS[name]
    assert "(Li et al., 2024)" in result.methods()
    assert r"\citep{li-etal-2024-estimating}" in result.methods("latex")
    assert str(result.settings) in result.methods()


def test_an_interval_unpacks():
    interval = RESULTS["interval"]
    low, high = interval
    assert (low, high) == (interval.low, interval.high)


@pytest.mark.parametrize(
    "named",
    [
        RESULTS["agreement"].by_label,
        RESULTS["agreement"].by_document,
        RESULTS["ranking"].systems,
        RESULTS["difficulty"].by_document,
        RESULTS["intervals"].by_label,
        RESULTS["coefficients"],
    ],
)
def test_a_missing_key_names_those_that_exist(named):
    with pytest.raises(KeyError, match="nothing is named 'nobody'; expected one of '") as caught:
        named["nobody"]
    assert isinstance(caught.value, bc.UnknownNameError)
