"""One breakdown behind tables, JSON and CSV."""

import pytest

from beyondchance import Corpus, agreement
from beyondchance.reporting.commands.agree import agree_report


@pytest.mark.parametrize("name", ["label", "pair", "annotator"])
def test_a_field_named_like_a_level_keeps_its_own_intervals(name):
    """Documents have a field whose value is the name of a label, a pair and an annotator."""
    right, wrong = ["B-P", "O", "O", "B-Q"], ["O", "B-P", "O", "B-Q"]
    documents = [f"d{number}" for number in range(8)]
    values = ["P", "a and b", "a", "other"] * 2
    corpus = Corpus.from_tags(
        {"a": [right] * 8, "b": [right, wrong] * 4, "c": [wrong, wrong, right, right] * 2},
        documents=documents,
        fields={name: values},
    )
    results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
    intervals = {
        measure: result.intervals(by=[name], resamples=99, seed=1)
        for measure, result in results.items()
    }
    report = agree_report(results, corpus, by=[name], intervals=intervals)
    rows = [row for row in report.rows if row["level"] == name][-4:]
    assert [row["name"] for row in rows] == list(dict.fromkeys(values))
    for row in rows:
        expected = intervals["token"].by_field[name][row["name"]]["observed"]
        assert repr(row["observed_low"]) == repr(expected.low)
        assert repr(row["observed_high"]) == repr(expected.high)
        assert report.data["groups"][name][row["name"]]["observed"] == row["observed"]
