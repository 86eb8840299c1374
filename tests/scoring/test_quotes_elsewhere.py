"""How much depends on where quotes without offsets are."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.scoring.answers import Question, answer
from examples import examples
from joined_corpora import joined
from refusals import assert_notes, assert_tells, refused

TEXT = "Ada met Bo. Ada left, and Bo met Ada."


def quoted(*words, text=TEXT, label="PER"):
    return [{"text": text, "entities": {label: list(words)}}]


def spans_of(corpus):
    return sorted(zip(corpus.span_start.tolist(), corpus.span_end.tolist(), strict=True))


def test_quotes_are_at_the_first_or_the_last_occurrences():
    corpus = bc.read(quoted("Ada", "Ada", "Bo"), positions="characters")
    assert spans_of(corpus) == [(0, 3), (8, 10), (12, 15)]
    assert spans_of(corpus.with_quotes_at("first")) == [(0, 3), (8, 10), (12, 15)]
    assert spans_of(corpus.with_quotes_at("last")) == [(12, 15), (26, 28), (33, 36)]
    with refused(bc.OptionError, "'middle'"):
        corpus.with_quotes_at("middle")


def test_all_occurrences_leave_no_choice():
    corpus = bc.read(quoted("Ada", "Ada", "Ada"))
    assert corpus.elsewhere is None
    assert corpus.with_quotes_at("last") is corpus


def test_the_note_gives_both_scores():
    # The person marked the last one of three, which the model may have meant.
    person = [{"text": TEXT, "entities": [{"start": 33, "end": 36, "label": "PER"}]}]
    corpus = bc.read(quoted("Ada"), person)
    result = bc.agreement(corpus, measure="exact")
    ends = [
        bc.agreement(corpus.with_quotes_at(end), measure="exact").corrected
        for end in ("first", "last")
    ]
    assert ends == [result.corrected, 1.0]
    assert_notes(result.notes, f"1 quote … corrected … {ends[0]:.3f} … first … 1.000 … last")


def test_nothing_is_said_where_no_compared_quote_may_be_elsewhere():
    corpus = bc.read(quoted("Ada", "Ada", "Ada"), quoted("Bo", "Bo"))
    assert not bc.agreement(corpus).notes


def test_a_model_that_does_not_allow_overlap_is_said():
    text = "New York Times of New York"
    rows = [{"text": text, "entities": {"LOC": ["New York"], "ORG": ["New York Times"]}}]
    corpus = bc.read(rows, rows)
    scored = bc.agreement(corpus, model="disjoint", scope="joint")
    assert_tells(scored, "2 quotes … overlap")
    assert_tells(bc.agreement(corpus), "2 quotes … first … last")


def test_parts_are_refused():
    corpus = bc.read(quoted("Ada"), quoted("Ada", "Ada"))
    with refused(bc.DataError, "quotes"):
        answer(corpus, Question("agreement"), is_part=True)


@given(st.data())
@examples(100)
def test_places_follow_the_spans(data):
    """Selecting, joining and cutting by documents keeps where each quote may be."""
    words = st.lists(st.sampled_from(["Ada", "Bo"]), min_size=1, max_size=3)
    numbers = range(data.draw(st.integers(1, 3)))
    rows = [
        {"id": str(i), "text": f"{TEXT} {i}", "entities": {"PER": data.draw(words)}}
        for i in numbers
    ]
    others = [{**row, "entities": {"PER": data.draw(words)}} for row in rows]
    whole = bc.read(rows, others)
    parts = [whole.select(documents=[name]) for name in whole.documents]
    for end in ("first", "last"):
        expected = whole.with_quotes_at(end)
        both = joined(parts).with_quotes_at(end)
        for name in whole.documents:
            one = whole.select(documents=[name]).with_quotes_at(end)
            for who in whole.annotators:
                assert one.spans(name, who) == expected.spans(name, who)
                assert both.spans(name, who) == expected.spans(name, who)
    if whole.elsewhere is not None:
        assert np.all(whole.elsewhere[0, 1] <= whole.elsewhere[1, 1])


@pytest.mark.parametrize("name", ["placement_range", "PlacementRange"])
def test_former_names_are_answered(name):
    with pytest.raises(AttributeError, match="with_quotes_at"):
        getattr(bc, name)
