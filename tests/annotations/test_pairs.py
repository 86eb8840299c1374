"""Who shares which document, by loops."""

from itertools import combinations, combinations_with_replacement

from hypothesis import given, strategies as st

from beyondchance import Corpus, DataError
from beyondchance.annotations.pairs import shared_documents
from refusals import refused


@st.composite
def corpora(draw):
    """Documents of one text each, with any annotators."""
    names, n_documents = "abcd"[: draw(st.integers(1, 4))], draw(st.integers(0, 5))
    who = [draw(st.sets(st.sampled_from(names))) for _ in range(n_documents)]
    spans = {name: [[] if name in team else None for team in who] for name in names}
    return Corpus.from_spans(spans, lengths=[3] * n_documents), who


@given(corpora(), st.booleans(), st.data())
def test_pairs_by_loops(case, with_self, data):
    corpus, who = case
    gold = data.draw(st.sampled_from([None, *range(len(corpus.annotators))]))
    pairs_of = combinations_with_replacement if with_self else combinations
    expected = [
        (document, a, b)
        for document, team in enumerate(who)
        for a, b in pairs_of([corpus.annotators.index(name) for name in sorted(team)], 2)
        if gold in (None, a, b)
    ]
    shared = shared_documents(corpus, gold=gold, with_self=with_self)
    document, annotator = corpus.annotation_document, corpus.annotation_annotator
    columns = document[shared.one], annotator[shared.one], annotator[shared.two]
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    compared = {document for document, _, _ in expected}
    assert shared.compared.tolist() == [document in compared for document in range(len(who))]
    assert list(map(tuple, shared.annotators.T.tolist())) == sorted({row[1:] for row in expected})


def test_each_annotation_may_have_64_partners_in_any_number(monkeypatch):
    """Of 129 annotators of one document, each has 128 others: 64 pairs for each annotation."""
    monkeypatch.setattr("beyondchance.annotations.pairs.MOST_PAIRS", 1)
    teams = [
        Corpus.from_spans({f"{i:03}": [[]] for i in range(n)}, lengths=[3]) for n in (129, 130)
    ]
    assert len(shared_documents(teams[0]).one) == 64 * 129
    with refused(DataError, "130 annotators … '0' … 8,385 pairs"):
        shared_documents(teams[1])
