"""What became of what is counted next to a result."""

import copy
import json
import pickle

from beyondchance import tallies
from beyondchance.reporting.blocks import skipped_sentences
from beyondchance.tallies import Fate, by_fate

EVERY = {
    tallies.mended("tags repaired"): 1,
    tallies.kept("discontinuous spans"): 9,
    tallies.left_out("rejected records"): 2,
    tallies.unsure("quotes found nearly"): 3,
    tallies.not_annotated("texts"): 4,
    tallies.unmarked("documents without a span"): 5,
    tallies.no_spans("relations"): 6,
    tallies.not_read("predictions"): 7,
    tallies.wrong("quotes"): 8,
}


def test_a_tally_is_its_text():
    assert list(EVERY) == [
        "tags repaired",
        "discontinuous spans kept",
        "rejected records left out",
        "quotes found nearly",
        "texts not annotated",
        "documents without a span",
        "relations ignored",
        "predictions ignored",
        "quotes counted as wrong",
    ]
    assert json.loads(json.dumps(EVERY))["relations ignored"] == 6
    assert EVERY["texts not annotated"] == 4


def test_copies_keep_what_became_of_it():
    for key in EVERY:
        for again in (pickle.loads(pickle.dumps(key)), copy.deepcopy(key), copy.copy(key)):  # noqa: S301
            assert (again, again.fate, again.noun) == (key, key.fate, key.noun)


def test_there_is_a_sentence_for_each():
    assert set(by_fate(EVERY)) == set(Fate)
    assert skipped_sentences(EVERY) == [
        "Mended: 1 tags repaired.",
        "Read as they are: 9 discontinuous spans.",
        "Left out: 2 rejected records.",
        "Counted as wrong: 8 quotes.",
        "To be checked: 3 quotes found nearly.",
        "Not annotated: 4 texts.",
        "Nothing to compare: 5 documents without a span.",
        "Not spans, ignored: 6 relations.",
        "Not read: 7 predictions.",
    ]


def test_nouns_are_added_up_and_zeros_are_nothing():
    counts = {
        tallies.no_spans("relations"): 1_200,
        tallies.no_spans("relations", " left out"): 34,
        tallies.left_out("spans"): 0,
    }
    assert skipped_sentences(counts) == ["Not spans, ignored: 1,234 relations."]
    assert skipped_sentences({}) == []


def test_documents_may_be_sentences():
    counts = {tallies.unmarked("{documents} without a span"): 2, tallies.left_out("records"): 3}
    assert list(counts) == ["documents without a span", "records left out"]
    assert skipped_sentences(counts, "sentence") == [
        "Left out: 3 records.",
        "Nothing to compare: 2 sentences without a span.",
    ]
    (one,) = skipped_sentences({tallies.unmarked("{documents} without a span"): 1})
    assert one == "Nothing to compare: 1 document without a span."


def test_what_others_count():
    assert skipped_sentences({"odd things": 2}) == ["Left out or changed: 2 odd things."]
