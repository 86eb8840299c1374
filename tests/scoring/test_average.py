"""Annotations that weigh the same, however many annotators their document has."""

from fractions import Fraction
from itertools import combinations

import pytest

import beyondchance as bc
from beyondchance import Corpus, agreement
from beyondchance.errors import OptionError
from beyondchance.io import scanning
from beyondchance.results import units
from beyondchance.scoring import answers
from refusals import assert_tells, refused

LENGTH = 4
MARKED = [[0, 0, None, None], [0, 1, 2, None], [3, 3, 3, 2], [None, 1, None, None]]
"""The position that each of four people marked in a document; None who did not annotate it."""
NAMES = ("ada", "ben", "cleo", "dora")


@pytest.fixture
def corpus() -> Corpus:
    """Documents of two, three and four annotators, and one that is compared with no other."""
    spans = {
        name: [None if row[i] is None else [(row[i], row[i] + 1, "P")] for row in MARKED]
        for i, name in enumerate(NAMES)
    }
    documents = [f"d{i}" for i in range(len(MARKED))]
    return Corpus.from_spans(spans, lengths=[LENGTH] * len(MARKED), documents=documents)


def corrected(rows: list[list[int | None]]) -> Fraction:
    """By fractions: two who marked one of four positions meet in a quarter of all cases."""
    match = expected = size = Fraction(0)
    for row in rows:
        marked = [position for position in row if position is not None]
        for one, other in combinations(marked, 2):
            weight = Fraction(1, len(marked) - 1)
            match += weight * (one == other)
            expected += weight / LENGTH
            size += weight
    return (match - expected) / (size - expected)


def test_every_annotation_weighs_the_same(corpus):
    result = agreement(corpus, average="annotation")
    assert result.corrected == pytest.approx(float(corrected(MARKED)), abs=1e-15)
    assert result.corrected != pytest.approx(agreement(corpus).corrected, abs=0.01)
    # Half of what each annotation holds, once, on either side.
    assert result.score.size_a + result.score.size_b == pytest.approx(2 + 3 + 4, abs=1e-14)
    assert result.settings.average == "annotation"
    assert result.macro("label").settings.average == "macro-label-annotation"


@pytest.mark.parametrize("without", range(3))
def test_breakdowns_and_parts_of_documents(corpus, without):
    rest = [row for i, row in enumerate(MARKED) if i != without]
    part = corpus.select(documents=[f"d{i}" for i in range(len(MARKED)) if i != without])
    result = agreement(part, average="annotation")
    assert result.corrected == pytest.approx(float(corrected(rest)), abs=1e-15)
    # Within one document all pairs weigh the same.
    own = agreement(corpus, average="annotation").by_document[f"d{without}"]
    assert own.corrected == pytest.approx(agreement(corpus).by_document[f"d{without}"].corrected)


def test_intervals_weigh_documents_as_the_score_does(corpus):
    # The jackknife leaves out documents one by one.
    plain, weighted = (agreement(corpus, average=how).interval() for how in ("micro", "annotation"))
    assert plain.low != pytest.approx(weighted.low, abs=1e-3)


def test_teams_of_one_size_have_the_scores_that_they_had():
    corpus = bc.example()
    one, other = agreement(corpus), agreement(corpus, average="annotation")
    assert other.corrected == pytest.approx(one.corrected, abs=1e-15)
    assert other.interval().low == pytest.approx(one.interval().low, abs=1e-12)


@pytest.mark.parametrize("most_documents", [1, 4096])
def test_files_in_parts_have_the_same_digits(corpus, tmp_path, monkeypatch, most_documents):
    path = tmp_path / "spans.csv"
    bc.write(corpus, path)
    whole = agreement(bc.read(path), average="annotation")
    monkeypatch.setattr(scanning, "AT_A_TIME", 60)
    monkeypatch.setattr(answers, "MOST_DOCUMENTS", most_documents)
    monkeypatch.setattr(units, "MOST_DOCUMENTS", most_documents)
    found = agreement(bc.scan(path), average="annotation")
    assert found.score == whole.score
    assert found.by_label == whole.by_label
    assert dict(found.by_pair) == dict(whole.by_pair)


@pytest.mark.parametrize(
    "ask",
    [
        lambda corpus: agreement(corpus, gold="ada", average="annotation"),
        lambda corpus: bc.rank(corpus, gold="ada", average="annotation"),
        lambda corpus: bc.difficulty(corpus, average="annotation"),
        lambda corpus: bc.labelling(corpus, average="annotation"),
        lambda corpus: bc.diagnose(corpus, average="annotation"),
        lambda corpus: bc.null_distribution(corpus, average="annotation"),
    ],
)
def test_refused_where_pairs_are_not_those_of_a_team(corpus, ask):
    with refused(OptionError, "'annotation'", use="average"):
        ask(corpus)


def test_a_heavy_document_is_named_with_the_remedy():
    one = [(0, 1, "P")]
    spans = {f"person {i}": [one if i < 2 else None] * 30 + [one] for i in range(12)}
    documents = [f"d{i}" for i in range(30)] + ["many"]
    crowd = Corpus.from_spans(spans, lengths=[4] * 31, documents=documents)
    assert_tells(agreement(crowd), "'many' … 69% … 12 … average='annotation'")
    assert "'many'" not in str(agreement(crowd, average="annotation"))
