"""Texts without differences in white space, and offsets in both."""

import re

from hypothesis import given, strategies as st

from beyondchance.io.offsets import collapsed

texts = st.text(alphabet="ab \n\t\xa0", max_size=30)


@given(texts)
def test_runs_of_white_space_are_one_space(text):
    assert collapsed(text).text == " ".join(text.split())


@given(texts)
def test_every_character_that_is_kept_is_found_in_both_texts(text):
    found = collapsed(text)
    for place, character in enumerate(found.text):
        outside = found.outside(place)
        assert text[outside] == character or (character == " " and text[outside].isspace())
        assert found.inside(outside) == place


@given(texts, st.integers(0, 30), st.integers(0, 30))
def test_offsets_keep_their_order_and_their_words(text, one, other):
    start, end = sorted(min(place, len(text)) for place in (one, other))
    found = collapsed(text)
    inside = found.text[found.inside(start) : found.inside(end)]
    assert 0 <= found.inside(start) <= found.inside(end) <= len(found.text)
    assert re.sub(r"\s+", "", inside) == re.sub(r"\s+", "", text[start:end])
