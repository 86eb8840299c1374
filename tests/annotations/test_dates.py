"""Days as files write them, and the order of periods."""

import numpy as np
import pytest

import beyondchance as bc
from beyondchance.annotations.dates import day_of, period_of
from each import each

DAY = 19767
"""14 February 2024, a Wednesday of the seventh week."""


@each("value", ["2024-02-14", "2024-02-14T23:59:59.5Z", "2024-02-14 12:00", " 20240214 "])
def test_iso_dates(value):
    assert day_of(value) == DAY


@each("value", ["2024-02-15T00:30:00+01:00", "2024-02-13T23:30:00-01:00"])
def test_times_of_other_zones_are_those_of_utc(value):
    assert day_of(value) == DAY


@each("value", [1707868800, 1707955199.9, 1707868800000, "1707868800000"])
def test_seconds_and_milliseconds(value):
    assert day_of(value) == DAY


@each("value", [None, "", "soon", "14.02.2024", -1, 0, True, float("nan"), 1e300, [2024], "9" * 40])
def test_what_is_no_date(value):
    assert day_of(value) == 0


@each(
    ("day", "week", "month"),
    [(DAY, "2024-W07", "2024-02"), (20088, "2025-W01", "2024-12"), (0, "", "")],
)
def test_weeks_are_those_of_iso(day, week, month):
    assert (period_of(day, "week"), period_of(day, "month")) == (week, month)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "work.csv"
    path.write_text(
        "document,annotator,start,end,label,length,date\n"
        "d1,ben,0,1,P,9,2024-02-14\nd1,ada,0,1,P,9,2024-02-15\n"
        "d2,ben,0,1,P,9,2024-02-16\nd2,ada,0,1,P,9,2024-02-17\n"
    )
    return bc.read(path)


def dates(corpus):
    """The day of the month of each annotation."""
    who = zip(corpus.annotation_document, corpus.annotation_annotator, strict=True)
    names = [corpus.documents[d] + corpus.annotators[a] for d, a in who]
    return dict(zip(names, (corpus.annotation_date - DAY + 14).tolist(), strict=True))


WORK = {"d1ben": 14, "d1ada": 15, "d2ben": 16, "d2ada": 17}


def test_dates_stay_with_their_annotations(corpus):
    assert dates(corpus) == WORK
    assert dates(corpus.select(documents=["d2"])) == {"d2ben": 16, "d2ada": 17}
    assert dates(corpus.select(annotators=["ada"])) == {"d1ada": 15, "d2ada": 17}


def test_dates_follow_annotators_who_are_renamed(corpus):
    swapped = corpus.rename_annotators({"ada": "zoe"}).rename_annotators({"ben": "ada"})
    assert dates(swapped) == {"d1ada": 14, "d1zoe": 15, "d2ada": 16, "d2zoe": 17}
    assert set(dates(corpus.with_pseudonyms()).values()) == set(WORK.values())


def test_who_is_added_has_no_date(corpus):
    added = bc.consensus(corpus, ties="keep").corpus
    assert len(added.annotators) == 3
    assert sorted(added.annotation_date > 0) == [False] * 2 + [True] * 4
    gold = added.annotators.index("consensus")
    assert np.all((added.annotation_date == 0) == (added.annotation_annotator == gold))
