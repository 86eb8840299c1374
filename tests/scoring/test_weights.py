"""Chance by weights of the user's own: each token is as likely to be marked as its weight says."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import beyondchance as bc
from beyondchance import Settings
from each import each
from examples import examples
from refusals import refused


def arranged(n, lengths, weight):
    """All arrangements of spans apart from one another, with their probabilities."""
    found = {}
    for starts in product(*(range(n - length + 1) for length in lengths)):
        spans = sorted(zip(starts, lengths, strict=True))
        covered = [x for start, length in spans for x in range(start, start + length)]
        if len(set(covered)) == len(covered):
            chance = Fraction(1)
            for x in covered:
                chance *= weight[x]
            found[tuple(spans)] = chance
    whole = sum(found.values())
    return {spans: chance / whole for spans, chance in found.items()} if whole else {}


def matched(measure, one, other):
    if measure == "exact":
        return len({*one} & {*other})
    if measure == "boundary":
        ends = [{s + n for s, n in spans} for spans in (one, other)]
        return len({s for s, _ in one} & {s for s, _ in other}) + len(ends[0] & ends[1])
    sides = [{x for s, n in spans for x in range(s, s + n)} for spans in (one, other)]
    return len(sides[0] & sides[1])


def laid(lengths):
    """Spans of these lengths from the left."""
    ends = np.cumsum(lengths).tolist()
    return [(end - n, end, "P") for n, end in zip(lengths, ends, strict=True)]


@each("measure", ["token", "exact", "boundary"])
@examples(60)
@given(st.data())
def test_all_arrangements(measure, data):
    n = data.draw(st.integers(2, 6))
    sides = [data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)) for _ in range(2)]
    assume(all(sum(lengths) <= n for lengths in sides))
    weight = data.draw(st.lists(st.sampled_from([0, 1, 2, 5]), min_size=n, max_size=n))
    one, other = (arranged(n, lengths, [Fraction(w) for w in weight]) for lengths in sides)
    corpus = bc.Corpus.from_spans(
        {name: [laid(lengths)] for name, lengths in zip("ab", sides, strict=True)}, lengths=[n]
    ).with_weights(weight)
    if not (one and other):
        with refused(bc.DataError, "no place … weights"):
            bc.agreement(corpus, measure=measure, chance="weights")
        return
    expected = sum(
        p * q * matched(measure, x, y) for (x, p), (y, q) in product(one.items(), other.items())
    )
    found = bc.agreement(corpus, measure=measure, chance="weights")
    assert found.counts.expected.sum() == pytest.approx(float(expected), abs=1e-12)


def test_equal_weights_are_uniform_chance():
    plain = bc.example()
    corpus = plain.with_weights(np.full(plain.text_length.sum(), 3.0))
    for measure in ("token", "exact", "boundary"):
        found = bc.agreement(corpus, measure=measure, chance="weights")
        assert found.chance == pytest.approx(bc.agreement(plain, measure=measure).chance, abs=1e-13)


def test_weights_stay_with_their_tokens():
    plain = bc.example()
    weight = np.random.default_rng(1).random(plain.text_length.sum())
    corpus = plain.with_weights(weight)
    whole = bc.agreement(corpus, chance="weights")
    (one, *_), document = corpus.documents, 0
    part = corpus.select(documents=[one])
    first = np.flatnonzero(corpus.text_document.repeat(corpus.text_length) == document)
    assert part.token_weight.tolist() == weight[first].tolist()
    counts = whole.counts
    own = counts.expected[counts.document == document].sum()
    assert bc.agreement(part, chance="weights").counts.expected.sum() == pytest.approx(own)
    renamed = corpus.rename_annotators({"ada": "zoe"})
    assert bc.agreement(renamed, chance="weights").chance == whole.chance


def test_the_signature_tells_weights_apart():
    corpus = bc.Corpus.from_tags({"a": [["B-P", "O"]], "b": [["B-P", "O"]]})
    one, two = (bc.agreement(corpus.with_weights(w), chance="weights") for w in ([1, 2], [2, 1]))
    assert one.settings != two.settings
    assert Settings.parse(str(one.settings)) == one.settings
    assert "weights" in str(one.methods())


@each(
    ("weights", "told"),
    [
        ([1.0], "(1,) … 2"),
        ([1, -1], "negative"),
        ([1, float("nan")], "negative … number"),
        (["a", "b"], "numbers"),
    ],
)
def test_what_are_no_weights(weights, told):
    corpus = bc.Corpus.from_tags({"a": [["B-P", "O"]], "b": [["B-P", "O"]]})
    with refused(bc.DataError, told):
        corpus.with_weights(weights)


def test_what_has_no_weights():
    with refused(bc.DataError, "no weights … with_weights"):
        bc.agreement(bc.example(), chance="weights")
