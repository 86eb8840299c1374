"""What a page that is sent does not hold: e-mail addresses of annotators, folders, options."""

import json
import re
from dataclasses import replace

import pytest

from beyondchance import Corpus, agreement, example, rank, report
from beyondchance.annotations.corpus import Input
from beyondchance.messages import Note, Quote
from beyondchance.page.sending import for_sending

FEW = {"resamples": 99, "coefficients": []}
NAMES = {"ada": "ada@one.example", "ben": "ada@two.example", "cleo": "cleo@one.example"}
ADDRESS = re.compile(r"[\w.]+@[\w.]+")


@pytest.fixture
def corpus():
    """Three annotators with addresses, of files in folders."""
    made = example().rename_annotators(NAMES)
    folder = "/home/someone/secret"
    inputs = [
        Input(name=f"{folder}/{name}.conll", sha256="0" * 64, format="conll")
        for name in NAMES.values()
    ]
    notes = [Note(("seen by ", Quote(NAMES["ada"])), where=item.name) for item in inputs]
    return replace(made, inputs=tuple(inputs), notes=tuple(notes))


@pytest.mark.slow
def test_no_addresses_and_no_folders(corpus):
    chosen = corpus.select(annotators=list(NAMES.values())[:2])
    cases = [
        (agreement(corpus), corpus),
        (rank(corpus, gold=NAMES["ben"]), corpus),
        (rank(corpus, gold=NAMES["ben"]), None),
        (agreement(chosen), chosen),
    ]
    for result, given in cases:
        html = report(result, given, **FEW).html
        assert ADDRESS.findall(html) == []
        assert "/home/" not in html
        assert "secret" not in html
        assert "ada 2" in html
        if given is corpus:
            found = json.loads(re.search(r'id="result">(.*?)</script>', html, re.DOTALL)[1])
            files = [item["name"] for item in found["inputs"]]
            assert files == ["ada.conll", "ada 2.conll", "cleo.conll"]


def test_numbers_stay(corpus):
    before = agreement(corpus, gold=NAMES["ada"])
    after, renamed = for_sending(before, corpus)
    assert (after.score, after.settings.gold) == (before.score, "ada")
    assert renamed.annotators == ("ada", "ada 2", "cleo")
    assert list(after.by_pair) == [("ada", "ada 2"), ("ada", "cleo")]
    assert list(after.by_pair.values()) == list(before.by_pair.values())


def test_others_stay_as_they_are():
    corpus = example()
    result = agreement(corpus)
    after, same = for_sending(result, corpus)
    assert after is result
    assert same.annotators == corpus.annotators


def test_annotators_who_are_not_compared():
    tags = {"a@x.org": [["B-X", "O"]], "b": [["B-X", "O"]], "c": [["O", "B-X"]]}
    corpus = Corpus.from_tags(tags).with_gold("a@x.org")
    after, _ = for_sending(agreement(corpus), corpus)
    assert after.counts.annotators == ("b", "c")
