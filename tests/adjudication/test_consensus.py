"""The best consensus of a team, against all annotations that there are; majority and union."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from examples import examples
from refusals import refused

Marked = tuple[tuple[int, int, str], ...]
"""The spans of one annotator of one text."""


# --- The oracle: every annotation of a short text --------------------------------------


@cache
def flat(n: int, labels: str) -> tuple[Marked, ...]:
    """All annotations of n tokens without overlap."""
    if n == 0:
        return ((),)
    found = list(flat(n - 1, labels))
    for length, label in product(range(1, n + 1), labels):
        last = (n - length, n, label)
        found += [(*rest, last) for rest in flat(n - length, labels)]
    return tuple(found)


def disjoint(n: int, labels: str) -> Iterator[Marked]:
    """All annotations of n tokens in which spans of one label do not overlap."""
    for parts in product(*(flat(n, label) for label in labels)):
        yield tuple(span for part in parts for span in part)


def free(n: int, labels: str) -> Iterator[Marked]:
    """All sets of spans of n tokens."""
    spans = [(i, j, x) for i in range(n) for j in range(i + 1, n + 1) for x in labels]
    for size in range(len(spans) + 1):
        yield from combinations(spans, size)


def contents(spans: Marked, measure: str) -> Counter[object]:
    """What is compared: spans, or positions with their labels."""
    if measure == "exact":
        return Counter(spans)
    return Counter((place, label) for start, end, label in spans for place in range(start, end))


def agreement(
    found: Sequence[Marked],
    team: Sequence[Sequence[Marked | None]],
    measure: str,
    weights: Sequence[int],
) -> Fraction:
    """The observed agreement of one annotation of every text with all members together."""
    above = below = 0
    for own, members in zip(found, team, strict=True):
        mine = contents(own, measure)
        for spans, weight in zip(members, weights, strict=True):
            if spans is not None:
                theirs = contents(spans, measure)
                above += 2 * weight * (mine & theirs).total()
                below += weight * (mine.total() + theirs.total())
    return Fraction(above, below) if below else Fraction(0)


def corpus_of(team: Sequence[Sequence[Marked | None]], n: int) -> bc.Corpus:
    members = {
        f"m{i}": [None if spans is None else list(spans) for spans in column]
        for i, column in enumerate(zip(*team, strict=True))
    }
    return bc.Corpus.from_spans(members, lengths=[n] * len(team))


def best(corpus: bc.Corpus, measure: str | None = None, **options: Any) -> bc.Consensus:
    return bc.consensus(corpus, method="best", measure=measure, **options)


def spans_of(corpus: bc.Corpus, name: str = "consensus") -> list[Marked]:
    return [tuple(map(tuple, corpus.spans(x, name))) for x in corpus.documents]  # type: ignore[misc]


def teams(
    annotation: st.SearchStrategy[Marked], *, most: int = 4
) -> st.SearchStrategy[list[Marked]]:
    return st.lists(annotation, min_size=2, max_size=most)


FLAT = st.sampled_from(flat(5, "PL"))


# --- Brute force ----------------------------------------------------------------------


MEASURE = st.sampled_from(["token", "exact"])


@given(
    measure=MEASURE,
    team=teams(FLAT),
    weights=st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
@examples(40)
def test_no_flat_annotation_agrees_better(
    measure: str, team: list[Marked], weights: list[int]
) -> None:
    given_weights = {f"m{i}": weights[i] for i in range(len(team))}
    result = best(corpus_of([team], 5), measure, weights=given_weights)
    (found,) = spans_of(result.corpus)
    assert found in {tuple(sorted(spans)) for spans in flat(5, "PL")}
    reached = agreement([found], [team], measure, weights[: len(team)])
    highest = max(
        agreement([spans], [team], measure, weights[: len(team)]) for spans in flat(5, "PL")
    )
    assert reached == highest


@given(measure=MEASURE, team=teams(st.sampled_from(list(disjoint(4, "PL"))), most=3))
@examples(30)
def test_no_annotation_with_overlap_of_labels_agrees_better(
    measure: str, team: list[Marked]
) -> None:
    (found,) = spans_of(best(corpus_of([team], 4), measure).corpus)
    reached = agreement([found], [team], measure, [1] * len(team))
    is_flat = all(
        tuple(sorted(spans)) in {tuple(sorted(s)) for s in flat(4, "PL")} for spans in team
    )
    every = flat(4, "PL") if is_flat else disjoint(4, "PL")
    assert reached == max(agreement([s], [team], measure, [1] * len(team)) for s in every)


@given(team=teams(st.sampled_from([*free(3, "P")]), most=4))
@examples(40)
def test_no_annotation_with_overlap_agrees_better(team: list[Marked]) -> None:
    (found,) = spans_of(best(corpus_of([team], 3), "exact").corpus)
    reached = agreement([found], [team], "exact", [1] * len(team))
    is_flat = all(tuple(sorted(spans)) in flat(3, "P") for spans in team)
    every = flat(3, "P") if is_flat else [*free(3, "P")]
    assert reached == max(agreement([s], [team], "exact", [1] * len(team)) for s in every)


@given(team=teams(st.sampled_from([*free(3, "P")]), most=4))
@examples(40)
def test_depths_of_one_label_are_the_best_but_for_spans_twice(team: list[Marked]) -> None:
    """Of all numbers of spans at each position, the best ones, or fewer spans."""
    members = [contents(spans, "token") for spans in team]
    size = sum(member.total() for member in members)
    every = [
        Counter({(place, "P"): n for place, n in enumerate(depths)})
        for depths in product(range(7), repeat=3)
    ]

    def ratio(own: Counter[object]) -> Fraction:
        below = len(team) * own.total() + size
        return (
            Fraction(2 * sum((own & m).total() for m in members), below) if below else Fraction(0)
        )

    largest = max(every, key=lambda own: (ratio(own), -own.total()))
    (found,) = spans_of(best(corpus_of([team], 3)).corpus)
    own = contents(found, "token")
    assert own <= largest
    assert own == largest or ratio(own) < ratio(largest)


@given(measure=MEASURE, one=teams(st.sampled_from(flat(3, "PL")), most=3), data=st.data())
@examples(20)
def test_all_documents_are_taken_together(
    measure: str, one: list[Marked], data: st.DataObject
) -> None:
    """The best of two documents is not the best of each: what a size costs is shared."""
    annotation = st.sampled_from(flat(3, "PL"))
    other = [data.draw(annotation | st.none()) for _ in one]
    if all(spans is None for spans in other):
        other[0] = ()
    corpus = corpus_of([one, other], 3)
    found = spans_of(best(corpus, measure).corpus)
    ones = [1] * len(one)
    reached = agreement(found, [one, other], measure, ones)
    every = product(flat(3, "PL"), flat(3, "PL"))
    assert reached == max(agreement(both, [one, other], measure, ones) for both in every)


# --- Laws -----------------------------------------------------------------------------


@given(measure=MEASURE, team=teams(FLAT))
def test_it_agrees_at_least_as_well_as_every_member(measure: str, team: list[Marked]) -> None:
    (found,) = spans_of(best(corpus_of([team], 5), measure).corpus)
    ones = [1] * len(team)
    reached = agreement([found], [team], measure, ones)
    for number, member in enumerate(team):
        assert reached >= agreement([member], [team], measure, ones)
        others = [spans for i, spans in enumerate(team) if i != number]
        assert reached >= agreement([member], [others], measure, ones[1:])


@pytest.mark.parametrize("method", ["entities", "best", "majority", "union"])
@given(spans=FLAT, n=st.integers(1, 4))
def test_equals_give_themselves(method: str, spans: Marked, n: int) -> None:
    result = bc.consensus(corpus_of([[spans] * n], 5), method=method)
    assert spans_of(result.corpus) == [tuple(sorted(spans))]
    assert result.votes.tolist() == [n] * len(spans)
    assert result.n_members.tolist() == [n] * len(spans)
    assert np.allclose(result.support, 1)
    assert len(result.ties) == 0


@given(team=teams(FLAT))
def test_majority_and_union_are_what_they_say(team: list[Marked]) -> None:
    corpus = corpus_of([team], 5)
    counts = Counter(x for spans in team for x in spans)
    for method, least in (("majority", len(team) / 2), ("union", 0)):
        found = spans_of(bc.consensus(corpus, method=method).corpus)[0]
        assert set(found) == {x for x, n in counts.items() if n > least}


@given(team=teams(FLAT))
def test_votes_and_support_are_counted(team: list[Marked]) -> None:
    result = best(corpus_of([team], 5))
    positions = [contents(spans, "token") for spans in team]
    for index, votes, support in zip(
        result.span.tolist(), result.votes.tolist(), result.support.tolist(), strict=True
    ):
        span = result.corpus.span(index)
        assert votes == sum(tuple(span) in spans for spans in team)
        shares = [
            sum((place, span.label) in member for member in positions) / len(team)
            for place in range(span.start, span.end)
        ]
        assert support == pytest.approx(sum(shares) / len(shares))


@given(team=teams(FLAT, most=3), data=st.data())
def test_the_order_of_documents_does_not_matter(team: list[Marked], data: st.DataObject) -> None:
    other = [data.draw(FLAT) for _ in team]
    there, back = ([team, other], [other, team])
    for measure in ("token", "exact"):
        one, two = (spans_of(best(corpus_of(x, 5), measure).corpus) for x in (there, back))
        assert one == two[::-1]


@given(team=teams(st.sampled_from([*free(4, "P")][:3000]), most=3))
def test_what_all_have_stays_as_it_is(team: list[Marked]) -> None:
    """Also where spans of one label overlap one another."""
    common = set(team[0]).intersection(*team[1:])
    for measure in ("token", "exact"):
        (found,) = spans_of(best(corpus_of([team], 4), measure).corpus)
        assert common <= set(found)


# --- Examples that can be checked by hand ---------------------------------------------


def test_two_annotators_give_what_either_marked_and_the_first_label() -> None:
    spans = {"a": [[(0, 3, "L")]], "b": [[(1, 3, "P"), (4, 5, "L")]]}
    result = best(bc.Corpus.from_spans(spans, lengths=[6]))
    assert spans_of(result.corpus) == [((0, 3, "L"), (4, 5, "L"))]
    spans = {"a": [[(0, 3, "P")]], "b": [[(1, 3, "L"), (4, 5, "P")]]}
    weighty = best(bc.Corpus.from_spans(spans, lengths=[6]), weights={"b": 1.5})
    assert spans_of(weighty.corpus) == [((0, 1, "P"), (1, 3, "L"), (4, 5, "P"))]


def test_of_equals_the_first_in_the_text_is_taken() -> None:
    # Each of the two spans has one vote of two, and they overlap.
    team = [[((0, 2, "P"),), ((1, 3, "P"),)]]
    assert spans_of(best(corpus_of(team, 4), "exact").corpus) == [((0, 2, "P"),)]


def test_spans_that_meet_stay_apart_if_most_keep_them_apart() -> None:
    two = [(0, 2, "P"), (2, 4, "P")]
    spans = {"a": [two], "b": [two], "c": [[(0, 4, "P")]]}
    assert spans_of(best(bc.Corpus.from_spans(spans, lengths=[4])).corpus) == [tuple(two)]
    spans["b"] = [[(0, 4, "P")]]
    found = spans_of(best(bc.Corpus.from_spans(spans, lengths=[4])).corpus)
    assert found == [((0, 4, "P"),)]


def test_ties_come_by_what_they_are_worth() -> None:
    spans = {
        "a": [[(0, 1, "P"), (4, 9, "P")], [(0, 2, "P")]],
        "b": [[(0, 1, "L"), (4, 9, "P")], []],
    }
    result = bc.consensus(bc.Corpus.from_spans(spans, lengths=[10, 10]))
    assert len(result.ties) == 2
    assert result.ties.worth[0] >= result.ties.worth[1] > 0


def test_characters_are_voted_on_by_whole_spans_and_edges_have_no_white_space() -> None:
    text = "at 10:15 on May 4"
    spans = {
        "a": [[(3, 8, "T"), (12, 17, "D")]],
        "b": [[(3, 17, "D")]],
        "c": [[(3, 8, "T"), (9, 17, "D")]],
    }
    corpus = bc.Corpus.from_spans(spans, texts=[text])
    assert best(corpus).measure == "exact"
    (found,) = spans_of(best(corpus, "token").corpus)
    assert all(text[start:end] == text[start:end].strip() for start, end, _ in found)


def test_what_others_leave_of_a_span_is_trimmed() -> None:
    """Most mark the towns alone: of the longer span, " and " is left."""
    towns = [[(0, 4, "L"), (9, 12, "L")]]
    spans = {"a": [[(0, 12, "P")]], "b": towns, "c": towns}
    corpus = bc.Corpus.from_spans(spans, texts=["Bonn and Ulm"])
    (found,) = spans_of(best(corpus, "token").corpus)
    assert found == ((0, 4, "L"), (5, 8, "P"), (9, 12, "L"))


def test_support_of_nested_spans_counts_people() -> None:
    spans = {"a": [[(0, 4, "P"), (1, 3, "P")]], "b": [[]]}
    found = bc.consensus(bc.Corpus.from_spans(spans, lengths=[9]), method="union")
    assert found.support.tolist() == [0.5, 0.5]


def test_a_gold_standard_has_no_vote_and_missing_work_none_either() -> None:
    spans = {"a": [[(0, 1, "P")], None], "b": [[(0, 1, "P")], [(2, 3, "P")]], "g": [[], []]}
    corpus = bc.Corpus.from_spans(spans, lengths=[5, 5]).with_gold("g")
    result = bc.consensus(corpus)
    assert result.members == ("a", "b")
    assert spans_of(result.corpus) == [((0, 1, "P"),), ((2, 3, "P"),)]
    assert result.n_members.tolist() == [2, 1]
    assert result.corpus.gold == "g"


def test_the_example_has_a_consensus_that_agrees_better_than_anybody() -> None:
    corpus = bc.example()
    result = best(corpus)
    members = bc.agreement(corpus)
    assert result.agreement is not None
    assert result.agreement.observed > members.observed
    assert result.corpus.annotators == ("ada", "ben", "cleo", "consensus")
    assert len(corpus.annotators) == 3


def test_bad_options_are_refused() -> None:
    cases: list[tuple[dict[str, object], type[Exception], tuple[object, ...]]] = [
        ({"measure": "dice", "method": "best"}, bc.OptionError, "'dice' … token, exact"),
        ({"method": "vote"}, bc.OptionError, "method … 'vote' … entities, best, majority"),
        ({"name": ""}, bc.OptionError, "name … ''"),
        ({"name": None}, bc.OptionError, "name … None"),
        ({"name": "ada"}, bc.DataError, "'ada' … already"),
        ({"weights": {"x": 2}}, bc.OptionError, "'x' … 'ada', 'ben', 'cleo'"),
        ({"weights": {"ada": 0}}, bc.OptionError, "weight … 'ada' … 0"),
        ({"weights": {"ada": float("nan")}}, bc.OptionError, "weight … 'ada' … nan"),
        ({"weights": 3}, bc.OptionError, "weights … 3"),
        ({"weights": {"ada": 1e-9}}, bc.OptionError, "weights … digits"),
    ]
    for options, kind, told in cases:
        with refused(kind, told):
            bc.consensus(bc.example(), **options)  # type: ignore[arg-type]


def test_nobody_to_ask() -> None:
    corpus = bc.Corpus.from_spans({"g": [[(0, 1, "P")]]}, lengths=[2]).with_gold("g")
    with refused(bc.DataError, "gold standard"):
        bc.consensus(corpus)


def test_nothing_marked() -> None:
    result = bc.consensus(bc.Corpus.from_spans({"a": [[]], "b": [[]]}, lengths=[3]))
    assert spans_of(result.corpus) == [()]
    assert len(result.votes) == len(result.ties) == 0


def test_where_all_is_marked_agreement_with_the_consensus_is_undefined():
    full = [[(0, 20, "P")]] * 2
    corpus = bc.Corpus.from_spans(dict.fromkeys(("ada", "ben", "cleo"), full), lengths=[20] * 2)
    assert "Undefined: chance agreement is 1" in str(bc.consensus(corpus))
