"""Places: by hand, against plain Python, and what they are worth."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

import beyondchance as bc
from annotated_spans import build, overlapping, sides_of, teams
from beyondchance import Corpus, disagreements
from beyondchance.scoring import places as module
from examples import examples
from refusals import refused


def test_a_place_is_one_row_however_many_annotators():
    # ada   PPPP..Q.
    # ben   .PPP..Q.
    # cleo  PPPP....
    corpus = Corpus.from_spans(
        {
            "ada": [[(0, 4, "P"), (6, 7, "Q")]],
            "ben": [[(1, 4, "P"), (6, 7, "Q")]],
            "cleo": [[(0, 4, "P")]],
        },
        lengths=[8],
    )
    found = disagreements(corpus).places
    assert len(disagreements(corpus)) == 6
    assert repr(found) == "Places(agree=0, label=0, boundary=1, both=0, missing=1)"
    assert found.start.tolist() == [0, 6]
    assert found.end.tolist() == [4, 7]
    assert found.n_marked.tolist() == [3, 2]
    assert found.n_agree.tolist() == [2, 2]
    assert found.versions(1) == {"ada": [(6, 7, "Q")], "ben": [(6, 7, "Q")], "cleo": []}
    rows = found.to_rows()
    assert rows[0]["by ben"] == "1-4 P"
    assert rows[1]["by cleo"] == "nothing"
    assert [row["decision"] for row in rows] == ["", ""]


def test_kinds():
    spans = {
        "ada": [[(0, 2, "P"), (3, 5, "P"), (6, 8, "P"), (9, 11, "P")]],
        "ben": [[(0, 2, "P"), (3, 5, "Q"), (6, 7, "P"), (10, 11, "Q")]],
    }
    found = disagreements(Corpus.from_spans(spans, lengths=[12])).places
    assert [module.KINDS[kind] for kind in found.kind] == ["agree", "label", "boundary", "both"]
    assert found.by_kind()["missing"] == 0
    assert len(found.only(kinds=["both"])) == 1
    assert len(found.only(labels=["Q"])) == 2
    with pytest.raises(bc.OptionError, match="kind"):
        found.only(kinds=["missed"])


def joined(sides, text):
    """The places of a text in plain Python: spans that overlap, one after the other."""
    spans = sorted(
        (start, end, label, name)
        for name, lists in sides.items()
        for start, end, label in lists[text] or ()
    )
    found, reach = [], -1
    for span in spans:
        if span[0] >= reach:
            found.append([])
        found[-1].append(span)
        reach = max(reach, span[1])
    return found


def settled(sides, text, place):
    """All annotators with the version of a place that most have."""
    versions = {
        name: tuple(sorted(span[:3] for span in place if span[3] == name))
        for name, lists in sides.items()
        if lists[text] is not None
    }
    votes = Counter(versions.values())
    best = max(v for v in versions.values() if votes[v] == max(votes.values()))
    changed = {name: list(lists) for name, lists in sides.items()}
    for name, own in versions.items():
        rest = [span for span in changed[name][text] if tuple(span) not in own]
        changed[name][text] = sorted({*rest, *best})
    return changed, votes[best], versions


@pytest.mark.slow
@given(teams(most=4, spans=overlapping))
@examples(40)
def test_places_and_their_worth(sides):
    corpus = build(sides)
    if not corpus.labels:
        return
    try:
        result = bc.agreement(corpus)
    except bc.NothingSharedError:
        return
    found = disagreements(corpus).places
    expected = [
        (text, place)
        for text in range(len(corpus.documents))
        if sum(lists[text] is not None for lists in sides.values()) > 1
        for place in joined(sides_of(corpus), text)
    ]
    assert len(found) == len(expected)
    for number, (text, place) in enumerate(expected):
        assert (found.text[number], found.start[number]) == (text, place[0][0])
        assert found.end[number] == max(span[1] for span in place)
        changed, n_agree, versions = settled(sides_of(corpus), text, place)
        assert found.n_agree[number] == n_agree
        assert {n: tuple(v) for n, v in found.versions(number).items() if v is not None} == {
            name: tuple(map(tuple, version)) for name, version in versions.items()
        }
        after = bc.agreement(build(changed)).corrected
        assert repr(float(found.worth[number])) == repr(after - result.corrected)


def test_the_gold_standard_decides():
    spans = {"gold": [[]], "a": [[(0, 2, "P")]], "b": [[(0, 2, "P")]]}
    corpus = Corpus.from_spans(spans, lengths=[6])
    found = disagreements(corpus, gold="gold").places
    assert found.gold == "gold"
    assert found.n_agree.tolist() == [1]
    corpus = Corpus.from_spans({**spans, "gold": [[(0, 1, "P")]]}, lengths=[6])
    found = disagreements(corpus, gold="gold").places
    assert found.worth[0] == 1 - bc.agreement(corpus, gold="gold").corrected


def test_some_annotators_only():
    corpus = bc.example()
    found = disagreements(corpus, pairs=[("ada", "ben")]).places
    other = disagreements(corpus.select(annotators=["ada", "ben"])).places
    assert found.annotators == ("ada", "ben")
    assert found.worth.tolist() == other.worth.tolist()
    assert len(found[:3].worth) == 3
    assert "issue-01" in str(found)
    few = found[np.array([3, 1])]
    assert few.worth.tolist() == found.worth[[3, 1]].tolist()


def test_too_many_versions_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_MOST_VERSIONS", 100)
    with refused(bc.DataError, "76 … 3 annotators"):
        _ = disagreements(bc.example()).places


def test_places_of_long_texts_have_no_worth(monkeypatch):
    monkeypatch.setattr(module, "_MOST_COUNTED", 10)
    found = disagreements(bc.example()).places
    assert np.isnan(found.worth).all()
    assert found.to_rows()[0]["worth"] is None
    assert "issue-01" in str(found)


def test_nothing_marked():
    corpus = Corpus.from_spans({"a": [[]], "b": [[]]}, lengths=[3])
    found = disagreements(corpus).places
    assert len(found) == 0
    assert found.to_rows() == []


def test_printed():
    found = disagreements(bc.example()).places
    text = str(found)
    assert "issue-01" in text
    assert "0.0199" in text
