"""Consensus by entities, against its definition written out, and its laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from examples import examples
from refusals import refused

Version = tuple[int, int, str]
Team = Mapping[str, Sequence[Version] | None]
"""What the annotators of a document marked; None if they did not annotate it."""


# --- The oracle: one document, sets of positions, fractions ----------------------------


def jaccard(one: Version, other: Version) -> Fraction:
    a, b = set(range(*one[:2])), set(range(*other[:2]))
    return Fraction(len(a & b), len(a | b))


class Entity(NamedTuple):
    version: Version
    votes: int
    is_tie: bool
    is_rival: bool


def entities(team: Team, weights: Mapping[str, int], trust: Mapping[str, float]) -> set[Entity]:
    """The entities of one document, word by word as they are defined."""
    present = [name for name, spans in team.items() if spans is not None]
    who = {
        version: {name for name in present if version in (team[name] or ())}
        for name in present
        for version in team[name] or ()
    }

    def people(cluster: frozenset[Version]) -> set[str]:
        return {name for version in cluster for name in who[version]}

    def votes(names: set[str]) -> int:
        return sum(weights.get(name, 1) for name in names)

    half = Fraction(votes(set(present)), 2)

    def joined(clusters: set[frozenset[Version]], same_label: bool) -> set[frozenset[Version]]:
        known = sorted(version for cluster in clusters for version in cluster)
        pairs = [
            (-jaccard(x, y), x, y)
            for x, y in combinations(known, 2)
            if jaccard(x, y) > Fraction(1, 10) and (x[2] == y[2] or not same_label)
        ]
        for _, x, y in sorted(pairs):
            one, other = (next(c for c in clusters if z in c) for z in (x, y))
            if one != other and not people(one) & people(other):
                clusters = clusters - {one, other} | {one | other}
        return clusters

    clusters = joined({frozenset([version]) for version in who}, same_label=True)
    sure = {cluster for cluster in clusters if votes(people(cluster)) > half}
    clusters = sure | joined(clusters - sure, same_label=False)

    def order(cluster: frozenset[Version]) -> tuple[bool, bool, int, list[Version]]:
        alike = any(votes(who[version]) > half for version in cluster)
        return not alike, cluster not in sure, -votes(people(cluster)), sorted(cluster)

    found: set[Entity] = set()
    taken: list[Version] = []
    for cluster in sorted((c for c in clusters if votes(people(c)) >= half), key=order):
        finders = votes(people(cluster))
        labels = {
            label: {name for version in cluster if version[2] == label for name in who[version]}
            for label in {version[2] for version in cluster}
        }
        most = max(votes(names) for names in labels.values())
        equal = sorted(label for label, names in labels.items() if votes(names) == most)
        label = min(equal, key=lambda x: (-believed(labels[x], trust), x))
        known = [version for version in cluster if version[2] == label]
        free = [
            version
            for version in known
            if all(not jaccard(version, x) or who[version] & who[x] for x in taken)
        ]

        def worth(version: Version, own: frozenset[Version] = cluster) -> tuple[int, Fraction]:
            near = sum(votes(who[x]) * jaccard(version, x) for x in own)
            return votes(who[version]), Fraction(near)

        among = free or known
        best = [x for x in among if worth(x) == max(map(worth, among))]
        version = min(best, key=lambda x: (-believed(who[x], trust), x[0] - x[1], x))
        met = sum(votes(who[x]) for x in cluster if jaccard(x, version))
        is_tie = (
            finders == half
            or len(equal) > 1
            or len(best) > 1
            or len(free) < len(known)
            or 2 * met <= finders
        )
        found.add(Entity(version, len(people(cluster)), is_tie, not free))
        taken += [version] if free else []
    return found


def believed(names: set[str], trust: Mapping[str, float]) -> int:
    return sum(round(trust[name] * 10**9) for name in names)


# --- Teams ----------------------------------------------------------------------------


N = 9
NAMES = ("ada", "ben", "cleo", "dan", "eve")
SPAN = st.tuples(st.integers(0, N - 1), st.integers(1, 4), st.sampled_from("PLM")).map(
    lambda x: (x[0], min(x[0] + x[1], N), x[2])
)


def flat(spans: list[Version]) -> list[Version]:
    """The spans that do not overlap one before them."""
    kept: list[Version] = []
    for span in spans:
        if not any(jaccard(span, other) for other in kept):
            kept.append(span)
    return kept


ANY = st.lists(SPAN, max_size=4).map(lambda spans: sorted(set(spans)))
FLAT = st.lists(SPAN, max_size=5).map(flat)


def teams(annotation: st.SearchStrategy[list[Version]]) -> st.SearchStrategy[list[Team]]:
    """Two to five annotators of one or two documents, of which each has some of them."""
    return st.integers(2, 5).flatmap(
        lambda n: st.lists(
            st.fixed_dictionaries(
                {NAMES[0]: annotation}
                | {name: annotation | st.none() for name in NAMES[1 : n - 1]}
                | {NAMES[n - 1]: annotation}
            ),
            min_size=1,
            max_size=2,
        )
    )


def corpus_of(documents: Sequence[Team], order: Sequence[str] | None = None) -> bc.Corpus:
    names = list(documents[0]) if order is None else order
    spans = {name: [team[name] for team in documents] for name in names}
    return bc.Corpus.from_spans(spans, lengths=[N] * len(documents))  # type: ignore[arg-type]


def gold_of(found: bc.Consensus) -> list[list[Version]]:
    corpus = found.corpus
    return [sorted(map(tuple, corpus.spans(x, "consensus"))) for x in corpus.documents]  # type: ignore[misc]


def f1_with_others(documents: Sequence[Team], name: str) -> float:
    """Token F1 of an annotator with all others together."""
    matched = size = 0
    for team in documents:
        sets = {
            who: [(i, x[2]) for x in spans for i in range(*x[:2])]
            for who, spans in team.items()
            if spans is not None
        }
        for who in sets.keys() - {name} if name in sets else ():
            rest = list(sets[who])
            for item in sets[name]:
                if item in rest:
                    rest.remove(item)
                    matched += 2
            size += len(sets[name]) + len(sets[who])
    return matched / size if size else 0.0


# --- The definition -------------------------------------------------------------------


@given(teams(ANY | FLAT), st.lists(st.integers(1, 3), min_size=5, max_size=5))
@examples(300)
def test_entities_are_those_of_the_definition(documents: list[Team], numbers: list[int]) -> None:
    names = list(documents[0])
    weights = dict(zip(names, numbers, strict=False))
    trust = {name: f1_with_others(documents, name) for name in names}
    found = bc.consensus(corpus_of(documents), weights=weights).entities
    labels = corpus_of(documents).labels
    for number, team in enumerate(documents):
        here = np.flatnonzero(found.spans.text == number)
        mine = {
            Entity(
                (
                    int(found.spans.start[i]),
                    int(found.spans.end[i]),
                    labels[int(found.spans.label[i])],
                ),
                int(found.votes[i]),
                bool(found.is_tie[i]),
                bool(found.is_rival[i]),
            )
            for i in here
        }
        assert mine == entities(team, weights, trust)


@given(teams(ANY))
@examples(60)
def test_weights_by_agreement_are_squares_of_f1(documents: list[Team]) -> None:
    found = bc.consensus(corpus_of(documents), weights="agreement")
    for name in documents[0]:
        expected = f1_with_others(documents, name) ** 2
        assert found.weights[name] == pytest.approx(expected, abs=1.1e-6)


# --- Laws -----------------------------------------------------------------------------


@pytest.mark.slow
@given(teams(ANY | FLAT), st.permutations(NAMES), st.sampled_from(["keep", "drop"]))
@examples(100)
def test_neither_names_nor_order_matter(
    documents: list[Team], names: Sequence[str], ties: str
) -> None:
    old = list(documents[0])
    renaming = dict(zip(old, names, strict=False))
    renamed = [{renaming[name]: team[name] for name in old} for team in documents]
    order = sorted(renaming.values())
    one = bc.consensus(corpus_of(documents), ties=ties)
    other = bc.consensus(corpus_of(renamed[::-1], order), ties=ties)
    assert gold_of(one) == gold_of(other)[::-1]
    for name in ("votes", "alike", "support", "is_tie"):
        assert sorted(getattr(one, name).tolist()) == sorted(getattr(other, name).tolist())
    worth = [sorted(np.nan_to_num(x.ties.worth).tolist()) for x in (one, other)]
    assert worth[0] == pytest.approx(worth[1])
    assert (one.agreement is None) == (other.agreement is None)
    if one.agreement is not None and other.agreement is not None:
        assert one.agreement.corrected == pytest.approx(other.agreement.corrected, nan_ok=True)
        for name, ends in one.bounds.items():
            theirs = other.bounds[renaming.get(name, name)]
            assert ends == pytest.approx(theirs, nan_ok=True)


@given(teams(FLAT), st.permutations(NAMES), st.sampled_from(["token", "exact"]))
@examples(60)
def test_the_order_does_not_matter_to_the_best_either(
    documents: list[Team], names: Sequence[str], measure: str
) -> None:
    order = [name for name in names if name in documents[0]]
    one, other = (
        bc.consensus(corpus_of(documents, x), method="best", measure=measure) for x in (None, order)
    )
    assert gold_of(one) == gold_of(other)


@given(teams(ANY | FLAT))
@examples(100)
def test_what_a_majority_found_stays_or_is_listed(documents: list[Team]) -> None:
    found = bc.consensus(corpus_of(documents))
    gold = gold_of(found)
    for team, own in zip(documents, gold, strict=True):
        present = [spans for spans in team.values() if spans is not None]
        marked = {version for spans in present for version in spans}
        assert set(own) <= marked  # no word is cut
        assert {v for v in marked if 2 * sum(v in x for x in present) > len(present)} <= set(own)
        if all(not jaccard(x, y) for spans in present for x, y in combinations(spans, 2)):
            assert all(not jaccard(x, y) for x, y in combinations(own, 2))
    entities_ = found.entities
    assert len(found.span) == np.count_nonzero(~entities_.is_rival)
    assert not (entities_.is_rival & ~entities_.is_tie).any()
    # The places of ties are those where an entity is one.
    ties = found.ties
    stretches = zip(ties.text.tolist(), ties.start.tolist(), ties.end.tolist(), strict=True)
    known = list(stretches)
    for text, _, start, end in np.array(entities_.spans).T[entities_.is_tie].tolist():
        assert any(t == text and low <= start and end <= high for t, low, high in known)


@given(teams(ANY | FLAT))
@examples(40)
def test_ties_are_dropped(documents: list[Team]) -> None:
    kept, dropped = (bc.consensus(corpus_of(documents), ties=x) for x in ("keep", "drop"))
    assert not dropped.is_tie.any()
    assert len(dropped.span) == np.count_nonzero(~kept.is_tie)
    assert all(set(x) <= set(y) for x, y in zip(gold_of(dropped), gold_of(kept), strict=True))
    assert len(dropped.ties) == len(kept.ties)


# --- Examples that can be checked by hand ---------------------------------------------


def one_text(**spans: list[Version]) -> bc.Corpus:
    return bc.Corpus.from_spans({name: [own] for name, own in spans.items()}, lengths=[N])


def test_all_found_it_with_other_edges() -> None:
    """10:40 a.m., 10:40, 10:40 a.m: the one that overlaps the others most."""
    text = "at 10:40 a.m. she left"
    spans = {"a": [[(3, 13, "T")]], "b": [[(3, 8, "T")]], "c": [[(3, 12, "T")]]}
    found = bc.consensus(bc.Corpus.from_spans(spans, texts=[text]))
    assert gold_of(found) == [[(3, 12, "T")]]
    assert (found.votes.tolist(), found.alike.tolist()) == ([3], [1])
    assert not found.is_tie.any()


def test_three_labels_are_a_tie() -> None:
    found = bc.consensus(one_text(a=[(0, 2, "A")], b=[(0, 2, "B")], c=[(0, 2, "C")]))
    assert gold_of(found) == [[(0, 2, "A")]]
    assert (found.votes.tolist(), found.alike.tolist(), found.is_tie.tolist()) == ([3], [1], [True])
    assert len(found.ties) == 1


def test_two_annotators_in_both_orders() -> None:
    spans = {"a": [(0, 3, "P"), (5, 6, "P")], "b": [(1, 3, "L"), (7, 8, "L")]}
    one, other = (one_text(**{name: spans[name] for name in order}) for order in ("ab", "ba"))
    assert gold_of(bc.consensus(one)) == gold_of(bc.consensus(other))
    assert gold_of(bc.consensus(one)) == [[(1, 3, "L"), (5, 6, "P"), (7, 8, "L")]]
    assert bc.consensus(one).is_tie.all()
    assert bc.consensus(one).agreement is None
    assert (bc.consensus(one).bounds, bc.consensus(one).n_unscored) == ({}, 1)
    for name in "ab":
        scores = [
            bc.agreement(bc.consensus(x).corpus, gold="consensus").against(name)["consensus"]
            for x in (one, other)
        ]
        assert scores[0] == scores[1]


def test_what_gives_way_is_a_rival() -> None:
    """Two of three found each of two entities that overlap, in versions nobody has together."""
    found = bc.consensus(
        one_text(a=[(0, 4, "P")], b=[(0, 4, "P"), (6, 7, "L")], c=[(3, 8, "L")], d=[(3, 8, "L")])
    )
    assert gold_of(found) == [[(0, 4, "P")]] or gold_of(found) == [[(3, 8, "L")]]
    rivals = found.entities.is_rival
    assert rivals.sum() == 1
    assert found.entities.is_tie[rivals].all()
    assert len(found.ties) == 1


def test_people_are_scored_without_ties() -> None:
    """All agree on P; two of four have L, which is a tie.

    a  PP..LL
    b  PP..LL
    c  PP....
    d  PP....
    """
    both, one = [(0, 2, "P"), (4, 6, "L")], [(0, 2, "P")]
    found = bc.consensus(one_text(a=both, b=both, c=one, d=one))
    assert found.is_tie.tolist() == [False, True]
    assert found.agreement is not None
    assert found.agreement.observed == 1
    for name in "abcd":
        low, high = found.bounds[name]
        assert high == 1
        assert low < 0.7
    low, high = found.bounds["consensus"]
    assert (low < 0.7, high) == (True, 1)


def test_documents_of_two_are_not_scored() -> None:
    spans = {
        "a": [[(0, 2, "P")], [(0, 2, "P")]],
        "b": [[(0, 2, "P")], [(3, 5, "P")]],
        "c": [[(0, 2, "P")], None],
    }
    found = bc.consensus(bc.Corpus.from_spans(spans, lengths=[N, N]))
    assert found.n_unscored == 1
    assert found.agreement is not None
    assert (found.agreement.n_documents, found.agreement.observed) == (1, 1)


def test_weights_decide() -> None:
    corpus = one_text(a=[(0, 1, "P")], b=[(0, 1, "L")])
    assert bc.consensus(corpus).is_tie.tolist() == [True]
    found = bc.consensus(corpus, weights={"b": 2})
    assert (gold_of(found), found.is_tie.tolist()) == ([[(0, 1, "L")]], [False])


def test_options_that_do_not_go_together() -> None:
    corpus = one_text(a=[(0, 1, "P")], b=[(0, 1, "L")])
    for method in ("entities", "majority", "union"):
        with refused(bc.OptionError, "measure … 'exact'", use="method"):
            bc.consensus(corpus, method=method, measure="exact")
    with refused(bc.OptionError, "ties … 'drop'", use="method"):
        bc.consensus(corpus, method="best", ties="drop")
    with refused(bc.OptionError, "ties … 'ask' … keep, drop"):
        bc.consensus(corpus, ties="ask")
    with refused(bc.OptionError, "weights … 'votes' … agreement"):
        bc.consensus(corpus, weights="votes")


@pytest.mark.slow
def test_many_spans_take_seconds() -> None:
    """Thirty thousand entities of three people, of which a third differ."""
    rng = np.random.default_rng(1)
    names, n = ("a", "b", "c"), 300
    spans = {
        name: [
            [
                (10 * i + int(low), 10 * i + 4 + int(high), "PL"[int(label)])
                for i, (low, high, label) in enumerate(rng.random((100, 3)) ** 6 * 2)
            ]
            for _ in range(n)
        ]
        for name in names
    }
    found = bc.consensus(bc.Corpus.from_spans(spans, lengths=[1000] * n))
    assert len(found.entities.votes) == 100 * n


def test_what_is_said_of_ties() -> None:
    # Two of three found each of two entities; no version of the second is left where one is.
    both = {"ada": [(0, 3, "P")], "ben": [(0, 3, "P")], "cleo": [(1, 2, "L")], "dan": [(1, 2, "L")]}
    corpus = bc.Corpus.from_spans({who: [spans] for who, spans in both.items()}, lengths=[5])
    found = bc.consensus(corpus)
    assert "a person has to decide" in " ".join(str(found).split())
    best = " ".join(str(bc.consensus(corpus, method="union")).split())
    assert "this method decides all of them" in best
    assert "a person has to decide" not in best


def test_what_is_said_of_weights() -> None:
    corpus = one_text(ada=[(0, 2, "P")], ben=[(0, 2, "P")])
    some, every = (
        " ".join(str(bc.consensus(corpus, weights=weights)).split())
        for weights in ({"ada": 2}, {"ada": 2, "ben": 3})
    )
    assert "ada 2, 1 otherwise." in some
    assert "ada 2, ben 3." in every


def test_ties_go_with_entities_where_nobody_decided() -> None:
    file = {"beyondchance": "decisions", "format": 1, "decisions": []}
    file |= {"unit": "sentence", "positions": "tokens"}
    with refused(bc.OptionError, "ties … 'drop'", use="rest"):
        bc.adjudicated(bc.example(), file, rest="majority", ties="drop")


def test_a_version_that_more_than_half_overlap_is_no_tie() -> None:
    """Two of five mark the version that is chosen, and a third overlaps it."""
    spans = [(0, 4, "P"), (0, 4, "P"), (3, 8, "P"), (7, 12, "P"), (8, 13, "P")]

    def ties(*given: tuple[int, int, str]) -> list[bool]:
        team = {f"a{i}": [[span]] for i, span in enumerate(given)}
        return bc.consensus(bc.Corpus.from_spans(team, lengths=[30])).is_tie.tolist()

    assert ties(*spans) == [False]
    assert ties(*spans, (8, 12, "P")) == [True]
