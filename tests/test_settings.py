"""Signatures, there and back."""

import pytest
from hypothesis import given, strategies as st

from beyondchance import Corpus, OptionError, Settings, __version__, agreement

names = st.text(min_size=1, max_size=8)


@given(
    st.builds(
        Settings,
        measure=names,
        unit=names,
        scheme=st.none() | names,
        gold=st.none() | names,
        custom=st.none() | names,
        theta=st.none() | st.floats(0, 1, exclude_max=True),
        samples=st.none() | st.integers(2),
        seed=st.none() | st.integers(0),
        labels=st.none() | st.lists(names, max_size=3).map(tuple),
        annotators=st.none() | st.lists(names, max_size=3).map(tuple),
        gamma=st.none() | st.lists(names, max_size=3).map(tuple),
    )
)
def test_signature_parses_back(settings):
    assert Settings.parse(str(settings)) == settings


def test_signature_names_everything_that_moves_a_digit():
    corpus = Corpus.from_tags(
        {"a": [["O", "I-X", "B-Y"]], "b": [["O", "B-X", "O"]]}, repair="discard"
    )
    result = agreement(corpus.select(labels=["X"]), measure="exact")
    assert str(result.settings) == (
        "beyondchance|measure:exact|model:auto|scope:label|unit:sentence|positions:tokens"
        f"|average:micro|scheme:IOB2|repair:discard|labels:X|version:{__version__}"
    )


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("BLEU|nrefs:1", "does not begin with 'beyondchance'"),
        ("beyondchance|colour:red", "'colour:red' is not NAME:VALUE"),
        ("beyondchance|measure", "'measure' is not NAME:VALUE"),
        ("beyondchance|unit:a|unit:b", "'unit:b' is not NAME:VALUE"),
        ("beyondchance|theta:half", "'theta:half' holds no number; expected one after 'theta'"),
    ],
)
def test_not_a_signature(signature, message):
    with pytest.raises(OptionError, match=message):
        Settings.parse(signature)


@pytest.mark.parametrize(
    "values",
    [{"measure": 3}, {"labels": "PER"}, {"labels": ("a", 3)}, {"theta": "x"}, {"seed": 1.5}],
)
def test_not_settings(values):
    with pytest.raises(OptionError, match="setting .* expected"):
        Settings(**values)


def test_not_even_a_string():
    with pytest.raises(OptionError, match="expected a string"):
        Settings.parse(None)
