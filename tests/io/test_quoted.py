"""Places of quotes: which occurrence, whole words, spelling, and quotes that are not there."""

import sys

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io import quoted
from beyondchance.io.drafts import Mention
from beyondchance.io.quoted import Missing, Place, placed
from each import each
from refusals import refused


def found(text, *quotes, near=None):
    """The place of each quote, or why it has none."""
    mentions = [Mention(*(quote if isinstance(quote, tuple) else (quote, "X"))) for quote in quotes]
    return [
        (place.start, place.end)
        if isinstance(place, Place)
        else ("surplus" if place.is_surplus else "missing")
        for place in placed(text, mentions, near=near)
    ]


def test_the_ith_mention_is_the_ith_occurrence():
    assert found("Ann saw Ann.", "Ann", "Ann") == [(0, 3), (8, 11)]


def test_mentions_are_counted_whatever_their_label():
    assert found("Ann saw Ann.", ("Ann", "PER"), ("Ann", "SHIP")) == [(0, 3), (8, 11)]


def test_more_mentions_than_occurrences_are_surplus():
    assert found("Ann saw Bo.", "Ann", "Ann", "Bo") == [(0, 3), "surplus", (8, 10)]


def test_one_occurrence_may_have_several_labels():
    quotes = ("hill", "LOC"), ("hill", "GOAL"), ("hill", "LOC")
    assert found("Up the hill.", *quotes) == [(7, 11), (7, 11), "surplus"]


def test_longer_quotes_take_their_places_first():
    text = "New York Times, New York"
    assert found(text, "New York", "New York Times") == [(16, 24), (0, 14)]


def test_quotes_inside_longer_ones_stay_there_if_there_is_no_other_place():
    assert found("The New York Times", "New York", "New York Times") == [(4, 12), (4, 18)]


def test_whole_words_come_first():
    assert found("A party for art.", "art") == [(12, 15)]


def test_parts_of_words_are_taken_where_there_is_no_whole_word():
    assert found("A party.", "art") == [(3, 6)]


def test_marks_above_and_below_letters_belong_to_the_word():
    text = "टीमों की टीम"
    assert found(text, "टीम") == [(9, 12)]


def test_scripts_without_spaces_have_no_whole_words():
    assert found("東京は東京、大阪", "東京", "東京", "大阪") == [(0, 2), (3, 5), (6, 8)]


def test_quotes_may_begin_or_end_with_other_characters_than_words():
    assert found("Use C++, not C.", "C++", "C") == [(4, 7), (13, 14)]


@each(
    ("text", "quote", "place"),
    [
        ("The NEW YORK mayor", "New York", (4, 12)),
        ("in New\n  York.", "New York", (3, 13)),
        ("New York", "New   York", (0, 8)),
        ("New York", "  New York ", (0, 8)),
        ("O\u2019Neill\u2019s", "O'Neill's", (0, 9)),
        ("the \u201cDaily\u201d paper", '"Daily"', (4, 11)),
        ("1939\u20131945", "1939-1945", (0, 9)),
        ("so \u2026 on", "so ... on", (0, 7)),
        ("Die Straße", "STRASSE", (4, 10)),
    ],
)
def test_spelling_is_folded_where_the_words_are_not_there_as_they_are(text, quote, place):
    assert found(text, quote) == [place]
    (only,) = placed(text, [Mention(quote, "X")])
    assert only.how == ("exact" if quote.strip() in text else "folded")


def test_the_spelling_that_is_quoted_comes_first():
    assert found("APPLE and Apple", "Apple") == [(10, 15)]


def test_empty_quotes_and_quotes_of_other_words_are_missing():
    assert found("Ann saw Bo.", "", "  ", "Eve") == ["missing"] * 3
    assert found("", "Ann") == ["missing"]


def test_quotes_may_be_at_the_first_or_the_last_places():
    one, two = placed("Ann, Ann, Ann", [Mention("Ann", "X"), Mention("Ann", "X")])
    assert one.elsewhere == ((0, 3), (5, 8))
    assert two.elsewhere == ((5, 8), (10, 13))


@each(
    ("text", "labels", "is_free"),
    [
        ("Ann", ["X"], [False]),
        ("Ann, Ann", ["X"], [True]),
        ("Ann, Ann", ["X", "X"], [False, False]),
        ("Ann, Ann", ["X", "Y"], [False, False]),
        ("Ann, Ann", ["X", "X", "Y"], [False, False, True]),
    ],
)
def test_quotes_at_all_occurrences_of_their_words_are_not_free(text, labels, is_free):
    mentions = [Mention("Ann", label) for label in labels]
    assert [bool(place.elsewhere) for place in placed(text, mentions)] == is_free


@each(
    ("text", "quote", "place"),
    [
        ("He met Katherine Johnson there.", "Katharine Johnson", (7, 24)),
        ("He met Katherine Johnson there.", "Mary Jackson", "missing"),
        ("the United Nations Security Council", "United Nation Security Council", (4, 35)),
        ("", "Ann Lee", "missing"),
        ("Ann", "Ann Lee Johnson of the north", "missing"),
    ],
)
def test_near_quotes_are_found_on_request(text, quote, place):
    pytest.importorskip("rapidfuzz")
    assert found(text, quote) == ["missing"]
    assert found(text, quote, near=0.9) == [place]


def test_tokens_may_be_apart():
    text = "She saw Washington , D.C. , and did n't stay"
    assert found(text, "Washington, D.C.") == [(8, 25)]
    assert found(text, "didn't") == [(32, 39)]
    assert found("an ant", "nan") == ["missing"]


def test_near_quotes_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.fuzz", None)
    with refused(bc.MissingLibraryError, "rapidfuzz"):
        found("Ann", "Anne", near=0.9)


WORDS = st.lists(st.sampled_from(["Ann", "Lee", "ann", "Ann Lee", "saw", "Bo,"]), max_size=8)


@given(WORDS, st.lists(st.sampled_from(["Ann", "Lee", "Ann Lee", "Lee ann", "a"]), max_size=8))
def test_places_have_the_words_and_no_two_quotes_share_one(words, quotes):
    text = " ".join(words)
    places = placed(text, [Mention(quote, "X") for quote in quotes])
    taken = set()
    for quote, place in zip(quotes, places, strict=True):
        if isinstance(place, Missing):
            continue
        assert text[place.start : place.end].casefold() == quote.casefold()
        assert place.how == "folded" or text[place.start : place.end] == quote
        assert (quote, place.start) not in taken
        taken.add((quote, place.start))
        if place.elsewhere:
            first, last = place.elsewhere
            assert first < last
            assert first <= (place.start, place.end) <= last


@each("sign", ["", "é"])
def test_whole_words_come_before_parts_that_overlap_them(sign):
    """In any script: the first match is a part, and overlaps the whole words."""
    ((place),) = placed(f"xa a a {sign}", [Mention("a a", "X")])
    assert (place.start, place.end) == (3, 6)


@given(st.text(alphabet="aA b_.é", max_size=30), st.text(alphabet="aA b_.é", max_size=4))
def test_places_are_those_that_are_found_one_by_one(text, words):
    """Whole words by comparison at every offset, else parts; then the same without case."""

    def one_by_one(text, words, *, is_whole):
        start, found = 0, []
        while words and start + len(words) <= len(text):
            end = start + len(words)
            edges = [(text[i - 1 : i], text[i : i + 1]) for i in (start, end)]
            at_word = not any(a and b and all(map(is_letter, (a, b))) for a, b in edges)
            if text[start:end] == words and (at_word or not is_whole):
                found.append((start, end))
                start = end
            else:
                start += 1
        return found

    def is_letter(sign):
        return sign.isalnum() or sign == "_"

    asked = words.strip()
    expected = one_by_one(text, asked, is_whole=True) or one_by_one(text, asked, is_whole=False)
    if expected:
        assert quoted._Searched(text).occurrences(asked, near=None) == (expected, "exact")
    elif asked:
        how = quoted._Searched(text).occurrences(asked, near=None)[1]
        assert how != "exact"
