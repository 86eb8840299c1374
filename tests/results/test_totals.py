"""What counts add up to: the same scores and intervals, however documents are divided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from beyondchance import Corpus, agreement, compare, count, difficulty, plan, rank
from beyondchance.errors import DataError, MismatchError, OptionError
from beyondchance.results import counts as module, units
from beyondchance.results.adding import Columns
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.difficulty import Difficulty
from each import each
from examples import examples
from refusals import refused

MEASURES = ("token", "exact", "boundary", "dice", "iou")
LABELS = ("LOC", "ORG", "PER")
PEOPLE = ("ada", "ben", "cleo", "dora")


def team(n_documents: int, seed: int = 1, n_people: int = 4) -> Corpus:
    """Documents of one to three sentences, each annotated by some of a team."""
    rng = np.random.default_rng(seed)
    spans: dict[str, list[list[tuple[int, int, str]] | None]] = {
        name: [] for name in PEOPLE[:n_people]
    }
    documents, lengths = [], []
    for document in range(n_documents):
        absent = rng.integers(0, 3 * n_people)
        for _ in range(rng.integers(1, 4)):
            n = int(rng.integers(1, 15))
            documents.append(f"d{document}")
            lengths.append(n)
            common = [_span(n, rng) for _ in range(rng.integers(0, 3))]
            for number, name in enumerate(spans):
                own = [span for span in common if rng.random() < 0.8]
                own += [_span(n, rng)] if rng.random() < 0.3 else []
                spans[name].append(None if number == absent else _disjoint(own))
    rounds = [f"round {d % 3}" for d in range(n_documents)]
    return Corpus.from_spans(
        spans, lengths=lengths, documents=documents, fields={"round": rounds}, unit="sentence"
    )


def _span(n: int, rng: np.random.Generator) -> tuple[int, int, str]:
    start = int(rng.integers(0, n))
    return start, int(min(n, start + rng.integers(1, 4))), LABELS[int(rng.integers(0, 3))]


def _disjoint(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    kept: list[tuple[int, int, str]] = []
    for span in spans:
        if all(span[0] >= end or span[1] <= start for start, end, _ in kept):
            kept.append(span)
    return kept


def parts_of(counts: Counts, owner: np.ndarray) -> Iterator[Counts]:
    for number in np.unique(owner):
        yield counts.of_documents(owner == number)


def same_scores(one: Agreement, other: Agreement) -> None:
    """All scores are equal, to the last bit."""
    assert one.score == other.score
    for name in ("by_label", "by_pair", "by_annotator", "without"):
        left, right = getattr(one, name), getattr(other, name)
        assert list(left) == list(right), name
        for key in left:
            assert repr(left[key].to_dict()) == repr(right[key].to_dict()), (name, key)
    for field in one.counts.fields:
        left, right = one.by_field(field), other.by_field(field)
        assert {k: v.to_dict() for k, v in left.items()} == {
            k: v.to_dict() for k, v in right.items()
        }
    assert one.counts.texts_without_freedom() == other.counts.texts_without_freedom()
    assert one.counts.size_by_annotator() == other.counts.size_by_annotator()
    assert one.resampled_unit == other.resampled_unit
    for by in ("label", "document"):
        assert repr(one.macro(by).to_dict()) == repr(other.macro(by).to_dict())
    assert {k: v.to_dict() for k, v in one.contested.items()} == {
        k: v.to_dict() for k, v in other.contested.items()
    }
    assert list(one.contested) == list(other.contested)


@pytest.mark.slow
@each("measure", MEASURES)
def test_totals_have_the_scores_of_counts(measure: str) -> None:
    options = {"theta": 0.3, "samples": 50, "seed": 3} if measure == "iou" else {}
    result = agreement(team(40), measure=measure, **options)
    same_scores(result, replace(result, counts=result.counts.by_unit()))


@pytest.mark.slow
@each(("measure", "method"), [("token", "expanded"), ("dice", "bca"), ("token", "percentile")])
def test_few_documents_have_the_intervals_of_counts(measure: str, method: str) -> None:
    result = agreement(team(15), measure=measure)
    other = replace(result, counts=result.counts.by_unit())
    how = {"method": method, "resamples": 99, "seed": 4}
    for over in ("documents", "annotators", "both"):
        fields = ["round"] if over == "documents" else []
        one, two = (r.intervals(over=over, by=fields, **how) for r in (result, other))
        for name in ("overall", "by_label", "by_pair", "by_annotator", "without"):
            assert repr(getattr(one, name)) == repr(getattr(two, name)), (over, name)
        assert one.by_field.keys() == two.by_field.keys()
        for field, values in one.by_field.items():
            for value, intervals in values.items():
                assert intervals == two.by_field[field][value]
        assert one.settings == two.settings
    for by in ("label", "document"):
        assert result.macro(by).intervals(**how).overall == other.macro(by).intervals(**how).overall


@examples(20)
@given(st.integers(0, 2**32), st.integers(1, 6), st.sampled_from(MEASURES[:4]))
def test_parts_add_up_in_any_order(seed: int, n_parts: int, measure: str) -> None:
    result = agreement(team(30, seed=seed % 7), measure=measure)
    rng = np.random.default_rng(seed)
    owner = rng.integers(0, n_parts, result.counts.n_compared)
    parts = [part.by_unit() for part in parts_of(result.counts, owner)]
    rng.shuffle(parts)
    while len(parts) > 1:
        i = int(rng.integers(0, len(parts) - 1))
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    same_scores(result, replace(result, counts=parts[0].ordered(result.counts.annotators)))


@pytest.fixture
def few_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups from nine documents on."""
    monkeypatch.setattr(module, "MOST_DOCUMENTS", 8)
    monkeypatch.setattr(units, "MOST_DOCUMENTS", 8)
    monkeypatch.setattr(module, "FEWEST_GROUPS", 2)


def state(counts: Counts) -> object:
    """Everything that counts by unit hold."""
    added = counts.added

    def plain(table: Columns) -> object:
        return {name: column.tolist() for name, column in sorted(table.items()) if column.any()}

    units = added.units
    return (
        (units.names, units.n_groups, units.n_documents.tolist(), units.prints.tolist()),
        (counts.labels, counts.annotators, counts.of, added.histogram.tolist()),
        counts.pairs.tolist(),
        plain(counts._columns()),
        plain(added.means),
        plain(added.sizes),
        {name: known and (known.labels, state(known)) for name, known in counts.fields.items()},
        added.kept,
    )


@pytest.mark.usefixtures("few_documents")
@examples(20)
@given(st.integers(0, 2**32), st.integers(2, 7), st.sampled_from([2**21, 40, 12]))
def test_groups_do_not_depend_on_parts(seed: int, n_parts: int, most_rows: int) -> None:
    counts = agreement(team(40, seed=seed % 5)).counts
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ROWS", most_rows)
        whole = counts.by_unit()
        owner = rng.integers(0, n_parts, counts.n_compared)
        parts = [part.by_unit() for part in parts_of(counts, owner)]
        rng.shuffle(parts)
        middle = len(parts) // 2
        found = Counts.joined([*parts[:middle], *([Counts.joined(parts[middle:])])])
        assert state(found) == state(whole)
        assert whole.n_groups in ({8} if most_rows == 2**21 else {2, 4, 8})


@pytest.mark.usefixtures("few_documents")
def test_intervals_over_groups_are_said_and_signed() -> None:
    result = agreement(team(60))
    other = replace(result, counts=result.counts.by_unit())
    intervals = other.intervals(levels=())
    assert intervals.settings.groups == 8
    assert intervals.overall["corrected"].units == (("groups of documents", 8),)
    # The jackknife of sums by hand: leave out each group.
    sums = other.counts.document_sums()
    assert len(sums) == 8
    np.testing.assert_allclose(sums.sum(axis=0), result.counts.document_sums().sum(axis=0))
    assert result.intervals().overall == other.intervals().overall


@pytest.mark.usefixtures("few_documents")
def test_results_of_the_same_groups_are_paired() -> None:
    corpus = team(40, n_people=2)
    one, other = (agreement(corpus, scope=scope) for scope in ("label", "unlabelled"))
    one, other = (
        replace(r, counts=r.counts.by_unit(), settings=one.settings) for r in (one, other)
    )
    assert compare(one, other, resamples=99, seed=1).paired
    third = agreement(team(41, n_people=2))
    third = replace(third, counts=third.counts.by_unit(), settings=one.settings)
    with refused(DataError, "both results"):
        compare(one, third, resamples=99, seed=1)


@each("gold", [None, "ada"])
def test_difficulty_of_totals(gold: str | None) -> None:
    result = difficulty(team(30), gold=gold)
    other = Difficulty(result.counts.by_unit(), result.settings)
    assert result.overall == other.overall
    assert result.by_label == other.by_label
    assert repr(result.by_annotator) == repr(other.by_annotator)
    assert result.interval() == other.interval()
    assert list(result.hardest.items()) == list(other.hardest.items())
    values = np.array([value for value in result.by_document.values() if not isnan(value)])
    cells = np.bincount(np.clip((values * module.BINS).astype(int), 0, module.BINS - 1))
    assert other.counts.histogram[: len(cells)].tolist() == cells.tolist()
    assert other.counts.histogram[-1] == len(result.by_document) - len(values)


def test_estimated_difficulty_keeps_its_error() -> None:
    options = {"measure": "iou", "theta": 0.2, "samples": 20, "seed": 1}
    result = difficulty(team(12), **options)
    other = Difficulty(result.counts.by_unit(), result.settings)
    assert result.error == other.error > 0


def test_single_documents_are_refused() -> None:
    counts = agreement(team(12)).counts.by_unit()
    with refused(DataError, "sums"):
        counts.by_document()


def test_a_document_in_two_parts_is_refused() -> None:
    counts = agreement(team(12)).counts.by_unit()
    with refused(DataError, "both … document"):
        counts + counts


def test_totals_of_other_measures_do_not_add() -> None:
    one, other = (agreement(team(12), measure=measure).counts for measure in ("token", "dice"))
    with refused(DataError, "measures"):
        one.by_unit() + other.by_unit()


def test_a_field_of_too_many_values_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_VALUES", 2)
    counts = agreement(team(12)).counts.by_unit()
    with refused(DataError, "'round' … 2"):
        counts.by_field("round")


@each("measure", MEASURES)
def test_documents_without_marks_are_added_to_any_measure(measure):
    marked = {"ada": [[(0, 2, "P")], [], []], "ben": [[(0, 1, "P")], [], []]}
    whole = Corpus.from_spans(marked, lengths=[5, 5, 5])
    parts = [whole.select(documents=[name]) for name in whole.documents]
    totals = [agreement(part, measure=measure).counts.by_unit() for part in parts]
    for order in ([0, 1, 2], [1, 2, 0], [1, 0, 2]):
        added = Counts.joined([totals[i] for i in order])
        assert added.score() == agreement(whole, measure=measure).counts.by_unit().score()


@pytest.mark.usefixtures("few_documents")
def test_documents_are_not_called_groups() -> None:
    # Intervals are over groups; means and plans are of documents.
    result = agreement(team(60))
    mean = result.macro("document")
    assert mean.resampled_unit == "groups of documents"
    assert f"mean of {mean.n_averaged} documents" in str(mean)
    found = plan(result, 0.05)
    assert (found.n_pilot, found.unit) == (result.counts.n_compared, "documents")
    assert found.settings.groups is None
    # Of totals, only groups are known.
    found = plan(replace(result, counts=result.counts.by_unit()), 0.05)
    assert (found.n_pilot, found.unit, found.settings.groups) == (8, "groups of documents", 8)


def test_rows_of_totals_add_up_to_those_of_counts() -> None:
    result = agreement(team(9))
    totals = result.counts.by_unit()
    rows = totals.to_rows()
    assert {row["unit"] for row in rows} <= set(result.counts.documents)
    assert list(rows[0])[:4] == ["unit", "label", "a", "b"]
    for name in ("matched", "expected", "size_a", "size_b"):
        expected: dict[tuple[str, ...], float] = {}
        for row in result.counts.to_rows():
            key = row["document"], row["label"], row["a"], row["b"]
            expected[key] = expected.get(key, 0) + row[name]
        found = {(row["unit"], row["label"], row["a"], row["b"]): row[name] for row in rows}
        assert found == pytest.approx(expected)
    assert sum(row["rows"] for row in rows) == len(result.counts)
    assert all(0 <= row["unit"] < 256 for row in totals.grouped(256).to_rows())


# --- Counts that engines carry ---------------------------------------------------------


def batches_of(corpus: Corpus, n_batches: int, seed: int) -> list[Corpus]:
    owner = np.random.default_rng(seed).integers(0, n_batches, len(corpus.documents))
    chosen = (
        [n for n, o in zip(corpus.documents, owner, strict=True) if o == i] for i in set(owner)
    )
    return [corpus.select(documents=names) for names in chosen]


def carried(counts: list[Counts]) -> Counts:
    return Counts.from_arrow(pa.concat_tables([part.to_arrow() for part in counts]))


@each("measure", MEASURES)
@pytest.mark.slow
def test_batches_have_the_digits_of_the_whole(measure: str) -> None:
    options = {"theta": 0.3, "samples": 20, "seed": 3} if measure == "iou" else {}
    corpus = team(20)
    whole = agreement(corpus, measure=measure, **options)
    parts = [count(batch, measure=measure, **options) for batch in batches_of(corpus, 3, 1)]
    for found in (agreement(*parts), agreement(parts), agreement(carried(parts))):
        ordered = found.counts.ordered(whole.counts.annotators)
        same_scores(whole, replace(found, counts=ordered))
        assert found.settings == whole.settings
    how = {"levels": ["label"], "by": ["round"]}
    intervals = agreement(carried(parts)).intervals(**how)
    assert repr(intervals) == repr(whole.intervals(**how))


@pytest.mark.slow
@examples(10)
@given(st.integers(0, 2**32), st.integers(1, 5), st.sampled_from([4096, 8]))
def test_groups_survive_any_split(seed: int, n_batches: int, most: int) -> None:
    corpus = team(30, seed=seed % 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_DOCUMENTS", most)
        patch.setattr(units, "MOST_DOCUMENTS", most)
        parts = [count(batch) for batch in batches_of(corpus, n_batches, seed)]
        whole = count(corpus).by_unit()
        assert whole.n_groups == (8 if most == 8 else 0)
        found = carried(parts)
        assert state(found) == state(Counts.joined([part.by_unit() for part in parts]))
        assert state(found.ordered(whole.annotators)) == state(whole)


def test_difficulty_and_ranking_take_counts() -> None:
    corpus = team(12, n_people=3)
    parts = batches_of(corpus, 2, 1)
    found = difficulty([count(batch, command="difficulty") for batch in parts])
    assert found.overall == difficulty(corpus).overall
    assert found.interval() == difficulty(corpus).interval()
    tables = {
        name: [count(batch.select(annotators=["ada", name]), gold="ada") for batch in parts]
        for name in ("ben", "cleo")
    }
    ranking, whole = rank(tables), rank(corpus, gold="ada")
    assert list(ranking.systems) == list(whole.systems)
    for name, system in whole.systems.items():
        assert ranking.systems[name].score == system.score
        assert ranking.systems[name].interval() == system.interval()
    assert rank(tables["ben"]).ranks("corrected") == {"ben": 1}


def test_rows_are_by_document_or_by_unit() -> None:
    counts = count(team(5))
    row, own = counts.to_rows()[0], counts.by_unit().to_rows()[0]
    assert {*row} - {*own} == {"document", "text"}
    total = sum(row["matched"] for row in counts.to_rows())
    assert sum(row["matched"] for row in counts.by_unit().to_rows()) == total


def test_a_size_without_a_place_counts_for_its_annotator_alone() -> None:
    counts = count([["B-P", "O", "O"]], [["B-P", "O", "O"]])
    more = replace(counts, size_a=counts.size_a + 1, certain_a=np.array([False]))
    for table in (more, more.by_unit()):
        assert table.score().expected == counts.score().expected
        assert table.score().recall == counts.score().recall / 2
        assert table.score().precision == counts.score().precision
        assert table.size_by_annotator() == {"a": 2.0, "b": 1.0}


def test_what_is_refused() -> None:
    corpus = team(6)
    one = count(corpus)
    with refused(DataError, "both … document"):
        agreement([one, one])
    with refused(OptionError, "own options"):
        agreement(one, measure="exact")
    with refused(OptionError, "made for agreement", use="command"):
        difficulty(one)
    with refused(OptionError, "one system"):
        rank(one)
    with refused(MismatchError, "scope"):
        other = count(team(8).select(documents=["d7"]), scope="joint")
        agreement([one, other])
    with refused(DataError, "no table of counts"):
        Counts.from_arrow(pa.table({"matched": [1.0]}))
    cut = one.to_arrow()["counts"][0].as_py()[:-20]
    for cell in (cut, b"", 1):
        with refused(DataError, "no table of counts"):
            Counts.from_arrow(pa.table({"counts": [cell]}))
