"""Signatures, there and back."""

import pytest
from hypothesis import given, strategies as st

from beyondchance import Corpus, OptionError, Settings, __version__, agreement
from refusals import refused

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


def test_not_a_signature():
    for signature, told in (
        ("BLEU|nrefs:1", "'beyondchance'"),
        ("beyondchance|colour:red", "'colour:red' … NAME:VALUE"),
        ("beyondchance|measure", "'measure' … NAME:VALUE"),
        ("beyondchance|unit:a|unit:b", "'unit:b' … NAME:VALUE"),
        ("beyondchance|theta:half", "'theta:half' … number"),
    ):
        with refused(OptionError, told):
            Settings.parse(signature)


def test_not_settings():
    for values in (
        *({"measure": 3}, {"labels": "PER"}, {"labels": ("a", 3)}, {"theta": "x"}, {"seed": 1.5}),
    ):
        with refused(OptionError, f"setting … {' … '.join(values)}"):
            Settings(**values)


def test_settings_do_not_change():
    settings = Settings(seed=1)
    with pytest.raises(AttributeError, match=r"replaced\(seed"):
        settings.seed = 2
    assert (settings.seed, settings.replaced(seed=2).seed) == (1, 2)


def test_not_even_a_string():
    with refused(OptionError, "string"):
        Settings.parse(None)


def test_signatures_of_the_first_version_are_read():
    signature = (
        "beyondchance|measure:token|model:auto|scope:label|unit:sentence|positions:tokens"
        "|average:micro|scheme:IOB2|tokens:file|confidence:0.95|interval_method:expanded"
        "|resamples:9999|over:documents|version:0.1.0"
    )
    assert str(Settings.parse(signature)) == signature
