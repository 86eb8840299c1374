"""Mistakes that are made on purpose: what they are, and what they leave alone."""

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from annotated_spans import N, apart, build, overlapping, sides_of, teams
from beyondchance.errors import DataError, OptionError
from examples import examples
from refusals import refused

KINDS = ("shift", "misses", "extras", "label", "split")
MAGNITUDES = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
FLAT = teams(most=1, least=1, spans=lambda: apart("PQR"), gaps=False)
ANY = teams(most=1, least=1, spans=lambda: overlapping("PQR"), gaps=False)


def made(sides, kind, magnitude, seed=0):
    """The spans of the reference and those with mistakes, text by text."""
    found = sides_of(bc.shuffled(build(sides), kind, magnitude, seed))
    return list(zip(found["ada"], found["shuffled ada"], strict=True))


def of_one(kind, magnitude, spans, n=N, seed=0):
    corpus = bc.Corpus.from_spans({"ada": [spans]}, lengths=[n])
    changed = bc.shuffled(corpus, kind, magnitude, seed)
    return [tuple(span) for span in changed.spans("0", "shuffled ada")]


def covered(spans):
    return Counter(place for start, end, _ in spans for place in range(start, end))


def test_each_kind_in_full():
    spans = [(0, 2, "P"), (3, 4, "Q")]
    assert of_one("misses", 1, spans) == []
    assert of_one("label", 1, spans) == [(0, 2, "Q"), (3, 4, "P")]
    assert of_one("split", 1, spans) == [(0, 1, "P"), (1, 2, "P"), (3, 4, "Q")]
    # Three positions are taken, and two places are left: 2 for one and [4, 6) for two.
    assert of_one("extras", 1, spans, n=6) == [*spans[:1], (2, 3, "Q"), spans[1], (4, 6, "P")]
    # There is no other place.
    assert of_one("shift", 1, [(0, 2, "P"), (2, 3, "Q")], n=3) == [(0, 2, "P"), (2, 3, "Q")]


def test_extras_need_room():
    assert of_one("extras", 1, [(0, 2, "P"), (3, 5, "P")], n=6) == [(0, 2, "P"), (3, 5, "P")]


def test_a_reference_with_one_label_keeps_it():
    assert of_one("label", 1, [(0, 2, "P")]) == [(0, 2, "P")]


@pytest.mark.parametrize("kind", KINDS)
@examples(40)
@given(sides=ANY, seed=st.integers(0, 9))
def test_nothing_changes_at_0(kind, sides, seed):
    for reference, changed in made(sides, kind, 0, seed):
        assert reference == changed


@pytest.mark.parametrize("kind", KINDS)
@examples(100)
@given(sides=FLAT, magnitude=MAGNITUDES, seed=st.integers(0, 9))
def test_spans_stay_apart(kind, sides, magnitude, seed):
    for _, changed in made(sides, kind, magnitude, seed):
        assert all(end <= start for (_, end, _), (start, _, _) in pairwise(changed))
        assert all(0 <= start < end <= N for start, end, _ in changed)


@examples(100)
@given(sides=ANY, magnitude=MAGNITUDES, seed=st.integers(0, 9))
def test_a_shift_moves_whatever_overlaps_together(sides, magnitude, seed):
    for reference, changed in made(sides, "shift", magnitude, seed):
        assert [(e - s, what) for s, e, what in reference] == [(e - s, w) for s, e, w in changed]
        rows = list(zip(reference, changed, strict=True))
        for (one, one_now), (two, two_now) in combinations(rows, 2):
            if two[0] < one[1]:
                assert two_now[0] - one_now[0] == two[0] - one[0]
            else:
                assert one_now[1] <= two_now[0]


@examples(60)
@given(sides=FLAT, magnitudes=st.tuples(MAGNITUDES, MAGNITUDES), seed=st.integers(0, 9))
def test_a_larger_magnitude_makes_the_same_mistakes_and_more(sides, magnitudes, seed):
    for kind in ("misses", "label", "split"):
        few, many = (made(sides, kind, magnitude, seed) for magnitude in sorted(magnitudes))
        for (reference, one), (_, two) in zip(few, many, strict=True):
            assert {*reference} & {*two} <= {*reference} & {*one}
            # What the smaller one made of a span, the larger one made of it too.
            assert {*one} - {*reference} <= {*two}


@examples(60)
@given(sides=ANY, magnitude=MAGNITUDES, seed=st.integers(0, 9))
def test_what_each_kind_leaves_alone(sides, magnitude, seed):
    for reference, changed in made(sides, "extras", magnitude, seed):
        assert not Counter(reference) - Counter(changed)
        new = Counter(changed) - Counter(reference)
        assert not covered(new) & covered(reference)
        assert not max(covered(new).values(), default=0) > 1
        size = Counter((end - start, what) for start, end, what in new.elements())
        assert not size - Counter((end - start, what) for start, end, what in reference)
    for reference, changed in made(sides, "label", magnitude, seed):
        assert {span[:2] for span in reference} == {span[:2] for span in changed}


@examples(60)
@given(sides=FLAT, magnitude=MAGNITUDES, seed=st.integers(0, 9))
def test_a_split_leaves_every_position_its_label(sides, magnitude, seed):
    for reference, changed in made(sides, "split", magnitude, seed):
        for label in "PQR":
            before, after = (
                covered(span for span in spans if span[2] == label)
                for spans in (reference, changed)
            )
            assert before == after
        n_cut = sum(end - start > 1 for start, end, _ in reference)
        assert len(reference) <= len(changed) <= len(reference) + n_cut
        assert magnitude < 1 or len(changed) == len(reference) + n_cut


@examples(40)
@given(sides=FLAT, seed=st.integers(0, 9))
def test_every_label_is_another_one_in_full(sides, seed):
    used = {what for text in sides["ada"] for _, _, what in text}
    for reference, changed in made(sides, "label", 1, seed):
        assert {what for _, _, what in changed} <= used
        if len(used) > 1:
            assert not {*reference} & {*changed}


@examples(40)
@given(
    sides=teams(most=1, least=1, spans=overlapping, gaps=False),
    kind=st.sampled_from(KINDS),
    magnitude=MAGNITUDES,
    random=st.randoms(use_true_random=False),
)
def test_neither_other_documents_nor_the_order_of_spans_matter(sides, kind, magnitude, random):
    # Two labels at least, whichever documents there are.
    texts = [*sides["ada"], [(0, 1, "P"), (4, 6, "Q")]]
    names = [f"d{number}" for number in range(len(texts))]

    def changed(order):
        rows = [random.sample(texts[i], len(texts[i])) for i in order]
        options = {"lengths": [N] * len(rows), "documents": [names[i] for i in order]}
        corpus = bc.Corpus.from_spans({"ada": rows}, **options)
        corpus = bc.shuffled(corpus, kind, magnitude, 3)
        return {name: corpus.spans(name, "shuffled ada") for name in corpus.documents}

    order = list(range(len(texts)))
    whole = changed(order)
    assert changed(random.sample(order, len(order))) == whole
    assert changed(order[-1:]) == {names[-1]: whole[names[-1]]}


def test_texts_of_a_document_have_mistakes_of_their_own():
    texts = [[(0, 2, "P"), (5, 6, "P")]] * 30
    corpus = bc.Corpus.from_spans({"ada": texts}, lengths=[40] * 30, documents=["d"] * 30)
    assert corpus.unit == "sentence"
    changed = bc.shuffled(corpus, "shift", 1)
    assert len(set(changed.span_start[changed.span_annotator == 1].tolist())) > 20


def is_even(counts, n):
    """Whether n cases were drawn equally often, within four standard errors."""
    total, share = counts.total(), 1 / n
    error = (total * share * (1 - share)) ** 0.5
    return len(counts) == n and all(abs(x - total * share) < 4 * error for x in counts.values())


@pytest.mark.slow
def test_places_are_equally_likely():
    # Spans of 2 and 1 leave two of five positions free: six arrangements in their order.
    texts = [[(0, 2, "P"), (4, 5, "P")]] * 1200
    corpus = bc.Corpus.from_spans({"ada": texts}, lengths=[5] * len(texts))
    rows = sides_of(bc.shuffled(corpus, "shift", 1))["shuffled ada"]
    assert is_even(Counter(tuple(start for start, _, _ in row) for row in rows), 6)
    # Half of the way, rounded upwards from the middle.
    half = sides_of(bc.shuffled(corpus, "shift", 0.5))["shuffled ada"]
    for far, near in zip(rows, half, strict=True):
        assert near[0][0] == (far[0][0] + 1) // 2
        assert near[1][0] == 4 + (far[1][0] - 4 + 1) // 2
    # An extra span of 1 has one of three places; a span of four is cut at one of three.
    extra = bc.Corpus.from_spans({"ada": [[(1, 2, "P")]] * 900}, lengths=[4] * 900)
    rows = sides_of(bc.shuffled(extra, "extras", 1))["shuffled ada"]
    assert is_even(Counter(next(s for s, _, _ in row if s != 1) for row in rows), 3)
    whole = bc.Corpus.from_spans({"ada": [[(1, 5, "P")]] * 900}, lengths=[6] * 900)
    rows = sides_of(bc.shuffled(whole, "split", 1))["shuffled ada"]
    assert is_even(Counter(row[0][1] for row in rows), 3)
    # As many as the magnitude says, and another seed makes other mistakes.
    few = bc.shuffled(whole, "misses", 0.3)
    missed = 900 - (few.span_annotator == 1).sum()
    assert abs(missed - 270) < 4 * (900 * 0.3 * 0.7) ** 0.5
    other = bc.shuffled(whole, "misses", 0.3, seed=1)
    assert few.span_text.tolist() != other.span_text.tolist()


def test_the_gold_standard_is_the_reference():
    tags = {"ada": [["O", "O"]], "gold": [["B-P", "I-P"]]}
    corpus = bc.Corpus.from_tags(tags, tokens=[["Ada", "Lovelace"]]).with_gold("gold")
    changed = bc.shuffled(corpus, "split", 1)
    assert changed.annotators == ("gold", "shuffled gold")
    assert changed.gold == "gold"
    assert changed.spans("0", "shuffled gold") == [(0, 1, "P"), (1, 2, "P")]
    assert changed.words(*(changed.span_text, changed.span_start, changed.span_end)) == [
        *("Ada Lovelace", "Ada", "Lovelace")
    ]
    result = bc.rank(changed)
    assert result.systems["shuffled gold"].observed == 1
    # Where there is none, the first annotator is.
    assert bc.shuffled(tags["gold"], "misses", 0).annotators[1].startswith("shuffled ")


def test_the_signature_says_which_mistakes():
    corpus = bc.shuffled(build({"ada": [[(0, 2, "P")]]}), "shift", 0.25, seed=7)
    settings = bc.agreement(corpus).settings
    assert "|shuffled:shift,0.25,7|" in str(settings)
    assert bc.Settings.parse(str(settings)) == settings


def test_what_is_refused():
    corpus = build({"ada": [[(0, 2, "P")]]})
    with refused(OptionError, "'swap' … shift"):
        bc.shuffled(corpus, "swap", 0.5)
    with refused(OptionError, "magnitude … 1.5"):
        bc.shuffled(corpus, "shift", 1.5)
    with refused(OptionError, "seed … -1"):
        bc.shuffled(corpus, "shift", 0.5, seed=-1)
    nobody = bc.Corpus.from_columns(text=[], annotator=[], start=[], end=[], label=[], lengths=[3])
    with refused(DataError):
        bc.shuffled(nobody, "shift", 0.5)


def test_a_corpus_without_spans():
    corpus = build({"ada": [[], []]})
    for kind in KINDS:
        assert bc.shuffled(corpus, kind, 1).annotators == ("ada", "shuffled ada")


def test_what_is_said_of_spans_is_not_kept():
    row = {"text": "Ada met Bo", "spans": [{"start": 0, "end": 7, "label": "A", "neg": "t"}]}
    found = bc.shuffled(bc.corpus([row], [row]), "split", 1)
    assert found.span_fields is None
    assert found.select(labels=["A"]).labels == ("A",)
