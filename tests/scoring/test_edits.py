"""Variants of a corpus are scored as if each were scored as a whole, bit for bit."""

import numpy as np
from hypothesis import given, strategies as st

import beyondchance as bc
from annotated_spans import N, build, overlapping, sides_of, teams
from beyondchance.scoring import edits as module
from beyondchance.scoring.edits import Base, Edits
from beyondchance.scoring.options import scoring_of
from examples import examples


def base_of(corpus, gold=None, **options):
    counts = bc.agreement(corpus, gold=gold, **options).counts.ordered(corpus.annotators)
    number = None if gold is None else corpus.annotators.index(gold)
    return Base(corpus, counts, scoring_of(options), number)


@st.composite
def changes(draw, corpus, n=3):
    """Removals and additions of some variants, as columns."""
    n_spans = len(corpus.span_text)
    removed = draw(
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, max(n_spans - 1, 0))),
            max_size=6 if n_spans else 0,
        )
    )
    added = []
    for _ in range(draw(st.integers(0, 5))):
        row = draw(st.integers(0, len(corpus.annotation_document) - 1))
        start = draw(st.integers(0, N - 1))
        added.append(
            (
                draw(st.integers(0, n - 1)),
                int(corpus.annotation_document[row]),
                int(corpus.annotation_annotator[row]),
                draw(st.integers(0, len(corpus.labels) - 1)),
                start,
                draw(st.integers(start + 1, N)),
            )
        )
    gone = np.array(removed, dtype=np.int64).reshape(-1, 2).T
    new = np.array(added, dtype=np.int64).reshape(-1, 6).T
    return Edits(*gone, *new)


def applied(corpus, edits, variant):
    """The variant as a corpus of its own, in plain Python."""
    sides = sides_of(corpus)
    for of, number in zip(edits.removed_from.tolist(), edits.removed.tolist(), strict=True):
        if of == variant:
            name = corpus.annotators[corpus.span_annotator[number]]
            span = tuple(corpus.span(number))
            own = sides[name][int(corpus.span_text[number])]
            if span in own:
                own.remove(span)
    rows = zip(
        *(
            getattr(edits, name).tolist()
            for name in ("variant", "text", "annotator", "label", "start", "end")
        ),
        strict=True,
    )
    new = {}
    for of, text, who, label, start, end in rows:
        if of == variant:
            new.setdefault((corpus.annotators[who], text), set()).add(
                (start, end, corpus.labels[label])
            )
    for (name, text), spans in new.items():
        sides[name][text] = sorted({*sides[name][text], *spans})
    return build(sides)


WAYS = [
    {"measure": measure, "scope": scope}
    for measure in ("token", "exact", "boundary", "dice", "iou")
    for scope in ("label", "joint", "unlabelled")
] + [{"measure": "token", "model": "overlapping"}]


@examples(110)
@given(options=st.sampled_from(WAYS), data=st.data())
def test_rescoring_some_texts_is_scoring_all_of_them(options, data):
    is_crossing = options["measure"] in {"token", "exact", "boundary"}
    sides = data.draw(teams(spans=overlapping) if is_crossing else teams())
    corpus = build(sides)
    if not corpus.labels:
        return
    edits = data.draw(changes(corpus))
    try:
        expected = [
            bc.agreement(applied(corpus, edits, variant), **options).score for variant in range(3)
        ]
        base = base_of(corpus, **options)
    except bc.OverlapError:  # dice of spans that overlap
        return
    for found, whole in zip(base.scores(edits, 3), expected, strict=True):
        assert repr(found.corrected) == repr(whole.corrected)
        assert (found.matched, found.expected) == (whole.matched, whole.expected)


@given(st.data())
def test_against_a_gold_standard_each_system_has_its_own_score(data):
    corpus = build(data.draw(teams(least=3, gaps=False)))
    if not corpus.labels:
        return
    base = base_of(corpus, gold="ada")
    edits = data.draw(changes(corpus, n=2))
    who = np.array([1, 2])
    # Only what the system of a variant changes is of interest.
    own = corpus.span_annotator[edits.removed] == who[edits.removed_from]
    new = edits.annotator == who[edits.variant]
    edits = Edits(
        edits.removed_from[own],
        edits.removed[own],
        *(
            getattr(edits, name)[new]
            for name in ("variant", "text", "annotator", "label", "start", "end")
        ),
    )
    for number, found in enumerate(base.scores(edits, 2, who)):
        name = corpus.annotators[who[number]]
        whole = bc.agreement(applied(corpus, edits, number), gold="ada").against("ada")[name]
        assert repr(found.corrected) == repr(whole.corrected)


def test_many_variants_are_counted_some_at_a_time(monkeypatch):
    corpus = bc.example()
    base = base_of(corpus)
    spans = np.arange(60)
    nothing = np.zeros(0, dtype=np.int64)
    edits = Edits(spans, spans, *[nothing] * 6)
    at_once = base.scores(edits, 60)
    monkeypatch.setattr(module, "_AT_A_TIME", 3)
    assert base.scores(edits, 60) == at_once


def test_nothing_changes_without_edits():
    corpus = bc.example()
    nothing = np.zeros(0, dtype=np.int64)
    (found,) = base_of(corpus).scores(Edits(*[nothing] * 8), 1)
    assert found.corrected == bc.agreement(corpus).corrected
