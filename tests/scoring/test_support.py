"""What so many of a team support: examples, all arrangements in fractions, laws."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from annotated_texts import corpus_of, random_spans, texts
from beyondchance import Corpus, NothingSharedError, OptionError, OverlapError, agreement
from beyondchance.results.score import NO_FREEDOM
from beyondchance.scoring import answers
from each import each
from examples import examples
from oracle import only, seen, shuffled
from refusals import refused

MEASURES = ("token", "exact")
SCOPES = ("label", "joint", "unlabelled")
measures, scopes = st.sampled_from(MEASURES), st.sampled_from(SCOPES)
FIGURES = ("observed", "chance", "corrected")


def team_of(*sides, n=6, **options) -> Corpus:
    """A corpus of texts of n positions, with the spans of everybody by text."""
    names = [f"a{i}" for i in range(len(sides))]
    lengths = [n] * len(sides[0])
    return Corpus.from_spans(dict(zip(names, sides, strict=True)), lengths=lengths, **options)


def supported(sides, measure, fewest) -> int:
    """How much of what is marked so many marked: each thing as often as it is marked."""
    marks = Counter(
        mark
        for side in sides
        for start, end, label in side
        for mark in (
            [(t, label) for t in range(start, end)] if measure == "token" else [(start, end, label)]
        )
    )
    return sum(times for times in marks.values() if times >= fewest)


def on_average(n, sides, *, scope, measure, fewest, label) -> Fraction:
    """The same averaged over all arrangements of everybody."""
    ways = []
    for side in sides:
        found = Counter()
        for spans, probability in shuffled(n, tuple(side), scope, "disjoint").items():
            found[only(spans, label)] += probability
        ways.append(found.items())
    return sum(
        (prod(p for _, p in way) * supported([s for s, _ in way], measure, fewest))
        for way in product(*ways)
    )


def test_by_hand():
    corpus = team_of([[(0, 1, "P")]], [[(0, 1, "P")]], [[(1, 2, "P")]], n=2)
    two, three = (agreement(corpus, support=fewest) for fewest in (2, 3))
    # In two of eight arrangements all mark the same, in the other six two of them do.
    assert (two.observed, two.chance) == (2 / 3, (2 * 3 + 6 * 2) / 8 / 3)
    assert (three.observed, three.chance) == (0, 2 * 3 / 8 / 3)
    assert two.corrected == pytest.approx((2 - 18 / 8) / (3 - 18 / 8), abs=1e-15)
    assert (two.n_spans, two.n_documents, two.settings.support) == (3, 1, 2)
    assert "|support:2|" in str(two.settings)
    assert two.counts.annotators == ("team", "support")
    assert "at least 2" in str(two)
    assert agreement(corpus, support=2, measure="exact").chance == two.chance


SMALL = texts(labels="PL", most_texts=1, most_positions=4)


@examples(150)
@given(SMALL, measures, scopes)
def test_all_arrangements(found, measure, scope):
    found = found[-1:]
    ((n, sides),) = found
    how = {"measure": measure, "scope": scope}
    team = [seen(tuple(side), scope) for side in sides.values()]
    corpus = corpus_of(found, tuple(sides))
    for fewest in range(2, len(team) + 1):
        result = agreement(corpus, support=fewest, **how)
        for label, score in result.by_label.items():
            own = [only(side, label) for side in team]
            average = on_average(n, sides.values(), label=label, fewest=fewest, **how)
            assert score.matched == supported(own, measure, fewest)
            assert score.expected == pytest.approx(float(average), abs=1e-13)
            assert score.size_a == score.size_b == supported(own, measure, 1)


@pytest.mark.slow
@each("scope", SCOPES)
@each("measure", MEASURES)
def test_all_arrangements_of_longer_texts(measure, scope):
    how = {"measure": measure, "scope": scope}
    rng = np.random.default_rng(3)
    for v in (2, 3, 3, 4):
        n = 6 if v < 4 else 5
        sides = {f"a{i}": random_spans(rng, n, "PL") for i in range(v)}
        corpus = corpus_of([(n, sides)], tuple(sides))
        for fewest in range(2, v + 1):
            result = agreement(corpus, support=fewest, **how)
            for label, score in result.by_label.items():
                average = on_average(n, sides.values(), label=label, fewest=fewest, **how)
                assert score.expected == pytest.approx(float(average), abs=1e-13)


@examples(150)
@given(texts(most_annotators=2, most_texts=6, most_positions=40), measures, scopes)
def test_two_of_two_is_f1(found, measure, scope):
    corpus = corpus_of(found, ("anna", "ben"))
    how = {"measure": measure, "scope": scope}
    team, pair = agreement(corpus, support=2, **how), agreement(corpus, **how)
    assert (team.n_spans, team.n_documents) == (pair.n_spans, pair.n_documents)
    assert team.skipped == pair.skipped
    for one, two in (
        (team.score, pair.score),
        *((team.by_label[x], pair.by_label[x]) for x in pair.by_label),
        *((team.by_document[x], pair.by_document[x]) for x in pair.by_document),
    ):
        assert one.observed == pytest.approx(two.observed, abs=1e-15, nan_ok=True)
        assert one.chance == pytest.approx(two.chance, abs=1e-13, nan_ok=True)
        assert one.corrected == pytest.approx(two.corrected, abs=1e-12, nan_ok=True)
        assert one.reason == two.reason


def test_the_intervals_of_two_are_those_of_f1():
    corpus = bc.example().select(annotators=["ada", "ben"])
    team, pair = agreement(corpus, support=2).interval(), agreement(corpus).interval()
    assert (team.low, team.high) == pytest.approx((pair.low, pair.high), abs=1e-12)


@examples(60)
@given(texts(most_texts=5), measures, scopes, st.randoms())
def test_nobody_comes_first(found, measure, scope, random):
    names = ["anna", "ben", "cleo", "dora"]
    random.shuffle(names)
    one, two = (
        agreement(corpus_of(found, tuple(order)), support=2, measure=measure, scope=scope)
        for order in (sorted(names), names)
    )
    assert [getattr(one, name) for name in FIGURES] == pytest.approx(
        [getattr(two, name) for name in FIGURES], abs=0, nan_ok=True
    )


@each("measure", MEASURES)
def test_documents_add(measure, monkeypatch):
    corpus = bc.example()
    whole = agreement(corpus, support=3, measure=measure)
    parts = [corpus.select(documents=corpus.documents[i::3]) for i in range(3)]
    tables = [bc.count(part, support=3, measure=measure) for part in parts]
    added = agreement(tables)
    assert (added.score, added.by_label, added.settings) == (
        whole.score,
        whole.by_label,
        whole.settings,
    )
    monkeypatch.setattr(answers, "MOST_DOCUMENTS", 2)
    by_unit = agreement([bc.Counts.from_arrow(table.to_arrow()) for table in tables])
    assert (by_unit.corrected, by_unit.n_spans) == (whole.corrected, whole.n_spans)


def test_documents_with_too_few_annotators_are_left_out():
    spans = [[(0, 1, "P")]]
    corpus = team_of(spans * 4, spans * 3 + [None], spans * 2 + [None] * 2)
    found = agreement(corpus, support=3)
    assert (found.n_documents, found.n_spans) == (2, 6)
    assert found.skipped == {
        "documents with one annotator only": 1,
        "documents with fewer than 3 annotators": 1,
    }
    assert agreement(corpus, support=2).n_documents == 3
    with refused(NothingSharedError, "4 annotators"):
        agreement(corpus, support=4)


def test_where_nothing_varies():
    everything, something = [[(0, 4, "P")]], [[(0, 2, "P")]]
    found = agreement(team_of(everything, something, [[]], n=4), support=2)
    assert (found.observed, found.chance, found.reason) == (4 / 6, 4 / 6, NO_FREEDOM)
    assert "chance agreement is 1" in agreement(team_of(*[everything] * 3, n=4), support=3).reason
    assert agreement(team_of([[]], [[]], [[]]), support=2).reason == "nothing was marked by either"


def test_quotes_that_are_nowhere_support_nothing():
    quotes = {"PER": ["Ada", "Zoe"]}
    texts = [{"id": "1", "text": "Ada met Bo.", "entities": quotes}]
    corpus = bc.corpus(texts, texts, positions="tokens")
    found = agreement(corpus, support=2)
    # Ada is a token that both found.
    assert (found.score.matched, found.score.size_a) == (2, 4)


def test_a_crowd():
    rng = np.random.default_rng(0)
    n, v = 300, 3
    spans = {f"w{i:03}": [None] * n for i in range(200)}
    for d in range(n):
        for who in rng.choice(200, v, replace=False):
            spans[f"w{who:03}"][d] = random_spans(rng, 12)
    corpus = Corpus.from_spans(spans, lengths=[12] * n)
    found = agreement(corpus, support=2)
    assert abs(found.corrected) < 0.1
    assert found.n_documents == n


def test_a_document_with_a_crowd():
    n, v = 40, 300
    corpus = team_of(*([[(i % n, i % n + 1, "P")]] for i in range(v)), n=n)
    for fewest in (2, 8, 20):
        shares = [Fraction(comb(v, m) * (n - 1) ** (v - m), n**v) for m in range(v + 1)]
        average = n * sum(m * share for m, share in enumerate(shares) if m >= fewest)
        score = agreement(corpus, support=fewest).score
        assert score.expected == pytest.approx(float(average), rel=1e-13)
        assert (score.matched, score.size_a) == (300 if fewest < 8 else 20 * 8 * (fewest == 8), 300)


@pytest.mark.parametrize(
    "options",
    [
        {"measure": "boundary"},
        {"measure": "dice"},
        {"measure": "iou", "theta": 0.7},
        {"model": "overlapping"},
        {"average": "annotation"},
        {"chance": "shapes"},
        {"gold": "ada"},
    ],
    ids=str,
)
def test_what_is_refused(options):
    with refused(OptionError, "2 … team … token or exact", use="support"):
        agreement(bc.example(), support=2, **options)


def test_other_questions_have_no_teams():
    with refused(OptionError, "2 … team", use="support"):
        bc.rank(bc.example(), gold="ada", support=2)
    with refused(OptionError, "2 … team", use="support"):
        bc.labelling(bc.example(), support=2)
    with refused(OptionError, "support … 1 … 2"):
        agreement(bc.example(), support=1)
    with refused(OptionError, use="support unit"):
        agreement(team_of([[]], [[]], [[]], unit="corpus"), support=2)
    nested = [[(0, 3, "P"), (1, 2, "P")]]
    with refused(OverlapError, "[0, 3) … [1, 2) … not to overlap"):
        agreement(team_of(nested, nested, nested), support=2)


def quoted(*quotes):
    return [{"id": "1", "text": "aa bb cc dd", "entities": {"P": [*quotes]}}]


def test_quotes_that_are_not_there_neither_move_nor_fill_a_text():
    given = {"x": quoted("cc", "aa", "zz yy"), "y": quoted("cc dd")}
    pair = bc.agreement(given)
    assert bc.agreement(given, support=2).corrected == pytest.approx(pair.corrected)
    given = {"x": quoted("aa bb cc dd"), "y": quoted("aa"), "z": quoted("zzz")}
    assert np.isnan(bc.agreement(given, support=2).corrected)
