"""Discontinuous spans: their parts move together, and nothing else is between them."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import isclose
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import beyondchance as bc
from annotated_spans import build, overlapping, teams
from beyondchance import Corpus
from beyondchance.cli.main import main
from each import each
from examples import examples
from oracle import matched_wholes, shuffled_wholes
from refusals import refused

NEAR, FAR = ((0, 1), (2, 3)), ((0, 1), (3, 4))
SCOPES, MEASURES = ("label", "joint", "unlabelled"), ("token", "exact")


def corpus_of(sides, lengths, **more):
    """Texts of these sizes, with lists of (parts, label) for each annotator."""
    rows = [
        (text, name, parts[0][0], parts[-1][1], label, parts)
        for name, texts in sides.items()
        for text, own in enumerate(texts)
        for parts, label in own or ()
    ]
    text, annotator, start, end, label, parts = zip(*rows, strict=True) if rows else ((),) * 6
    documents = more.pop("documents", None) or [str(i) for i in range(len(lengths))]
    corpus = Corpus.from_columns(
        text=text,
        annotator=annotator,
        start=start,
        end=end,
        label=label,
        lengths=lengths,
        documents=documents,
        annotators=list(sides),
        annotated={
            (documents[i], name)
            for name, texts in sides.items()
            for i, own in enumerate(texts)
            if own is not None
        },
        **more,
    )
    known = [tuple((s - x[0][0], e - x[0][0]) for s, e in x) if x[1:] else () for x in parts]
    motifs = tuple(sorted({(), *known}))
    numbers = np.array([motifs.index(motif) for motif in known], dtype=np.int64)
    return replace(corpus, span_motif=numbers, motifs=motifs)


def moved(parts, by):
    return tuple((start + by, end + by) for start, end in parts)


def seen(side, scope):
    return tuple(sorted({(x, "(any)") for x, _ in side} if scope == "unlabelled" else side))


def is_open(wholes, scope):
    """Whether something is between or on the parts of a span that is placed with it."""
    listed = seen(wholes, scope)
    for i, (parts, label) in enumerate(listed):
        low, high = parts[0][0], parts[-1][1]
        for j, (others, other) in enumerate(listed):
            start, end = others[0][0], others[-1][1]
            is_around = start <= low and high <= end and (start, end) != (low, high)
            is_together = i != j and (scope != "label" or label == other)
            if parts[1:] and is_together and start < high and low < end and not is_around:
                return True
    return False


@st.composite
def wholes(draw, n, most=3, closed="joint"):
    """Spans of one annotator, some of several parts, the holes of which are closed in a scope."""
    found = set()
    for _ in range(draw(st.integers(0, most))):
        edges = draw(st.lists(st.integers(0, n), min_size=2, max_size=6, unique=True))
        edges = sorted(edges)[: len(edges) // 2 * 2]
        parts = tuple(zip(edges[::2], edges[1::2], strict=True))
        whole = parts, draw(st.sampled_from("PQ"))
        if not closed or not is_open({*found, whole}, closed):
            found.add(whole)
    return tuple(sorted(found))


def check(n, a, b, scope, measure):
    """Compare all counts with all arrangements, in fractions."""
    corpus = corpus_of({"a": [a], "b": [b]}, [n])
    counts = bc.agreement(corpus, measure=measure, scope=scope).counts
    match = matched_wholes(measure)
    sides = seen(a, scope), seen(b, scope)
    assert counts.matched.sum() == match(*sides)
    ways = [shuffled_wholes(n, side, scope) for side in (a, b)]
    values = {(x, y): match(x, y) for x in ways[0] for y in ways[1]}
    expected = sum(
        (ways[0][x] * ways[1][y] * value for (x, y), value in values.items()), Fraction()
    )
    assert isclose(counts.expected.sum(), expected, rel_tol=1e-12, abs_tol=1e-13)
    weights = [
        sum(1 if measure == "exact" else sum(e - s for s, e in x) for x, _ in side)
        for side in sides
    ]
    assert [counts.size_a.sum(), counts.size_b.sum()] == weights
    assert [counts.spans_a.sum(), counts.spans_b.sum()] == [*map(len, sides)]
    if scope == "unlabelled":
        assert bool(counts.fixed.all()) == (len(set(values.values())) == 1)


@given(st.data(), st.integers(3, 8), st.sampled_from(SCOPES), st.sampled_from(MEASURES))
@examples(600)
def test_all_arrangements(data, n, scope, measure):
    sides = [data.draw(wholes(n, 4 if n < 8 else 3, scope)) for _ in range(2)]
    check(n, *sides, scope, measure)


@given(wholes(9, 4, None), st.sampled_from(SCOPES))
@examples(300)
def test_open_holes_are_refused_and_no_others(side, scope):
    corpus = corpus_of({"a": [side], "b": [()]}, [9])
    if is_open(side, scope):
        with refused(bc.SpanError, "document '0' … 'a' … + …", use="discontinuous"):
            bc.agreement(corpus, scope=scope)
    else:
        bc.agreement(corpus, scope=scope)


def test_by_hand():
    # One or the other place: 0 and 2, or 1 and 3.
    corpus = corpus_of({"a": [[(NEAR, "P")]], "b": [[(moved(NEAR, 1), "P")]]}, [4])
    token, exact = (bc.agreement(corpus, measure=name).counts for name in MEASURES)
    assert (token.matched.sum(), token.expected.sum(), token.size_a.sum()) == (0, 1, 2)
    assert (exact.matched.sum(), exact.expected.sum(), exact.size_a.sum()) == (0, 0.5, 1)
    # Of one length, with other gaps: never equal.
    other = corpus_of({"a": [[(FAR, "P")]], "b": [[(((0, 2), (3, 4)), "P")]]}, [6])
    exact = bc.agreement(other, measure="exact").counts
    assert (exact.expected.sum(), exact.fixed.all()) == (0, True)


def test_the_same_by_two_labels_counts_once_where_labels_do_not():
    twice = [(NEAR, "P"), (NEAR, "Q")]
    corpus = corpus_of({"a": [twice], "b": [[(NEAR, "P")]]}, [5])
    result = bc.agreement(corpus, scope="unlabelled", measure="exact")
    assert (result.observed, result.counts.spans_a.sum()) == (1, 1)
    assert sum(result.skipped.values()) == 1


# --- Laws -----------------------------------------------------------------------------


@given(teams(spans=overlapping), st.sampled_from(["token", "exact", "boundary", "dice", "iou"]))
@examples(150)
def test_spans_of_one_piece_have_the_digits_that_they_had(sides, measure):
    plain = build(sides)
    with_column = replace(plain, span_motif=np.zeros_like(plain.span_start))
    results = [bc.agreement(corpus, measure=measure) for corpus in (plain, with_column)]
    assert results[0].counts.to_dict() == results[1].counts.to_dict()
    assert str(results[0].settings) == str(results[1].settings)


@given(wholes(12, 4), st.sampled_from(MEASURES))
@examples(150)
def test_agreement_with_itself(side, measure):
    assume(side)
    score = bc.agreement(corpus_of({"a": [side], "b": [side]}, [12]), measure=measure).score
    assert score.observed == 1
    assert score.corrected == 1 or score.reason


@st.composite
def corpora(draw, n_texts=4):
    return {name: [draw(wholes(9)) for _ in range(n_texts)] for name in "abc"}


@given(corpora(), st.sampled_from(MEASURES), st.sampled_from(["label", "joint"]))
@examples(100)
def test_documents_add_to_the_last_bit(sides, measure, scope):
    corpus = corpus_of(sides, [9] * 4)
    batches = [corpus.select(documents=corpus.documents[i::2]) for i in range(2)]
    how = {"measure": measure, "scope": scope}
    whole = bc.agreement(corpus, **how)
    parts = bc.agreement(*(bc.count(part, **how) for part in batches))
    assert (parts.score.corrected, parts.chance) == pytest.approx(
        (whole.score.corrected, whole.chance), abs=0, nan_ok=True
    )
    # As from documents that never saw one another.
    for i, name in enumerate(corpus.documents):
        alone = corpus_of({who: [texts[i]] for who, texts in sides.items()}, [9], documents=[name])
        one, other = (
            bc.agreement(x, **how).counts for x in (corpus.select(documents=[name]), alone)
        )
        assert one.expected.tolist() == other.expected.tolist()


@given(corpora(), st.sampled_from(MEASURES))
@examples(50)
def test_swapped_and_mirrored(sides, measure):
    def expected(texts):
        return bc.agreement(corpus_of(texts, [9] * 4), measure=measure).counts.expected.sum()

    mirrored = {
        name: [
            [(tuple((9 - e, 9 - s) for s, e in reversed(x)), label) for x, label in own]
            for own in texts
        ]
        for name, texts in sides.items()
    }
    assert isclose(expected(sides), expected(mirrored), rel_tol=1e-12, abs_tol=1e-14)
    swapped = dict(zip("cba", sides.values(), strict=True))
    assert expected(sides) == expected(swapped)


# --- The column -----------------------------------------------------------------------


def parts_of(corpus):
    return [corpus.parts(i) for i in range(len(corpus.span_start))]


def test_parts_of_a_corpus_keep_the_parts_of_spans():
    sides = {
        "a": [[(NEAR, "P")], [(((0, 3),), "Q"), (moved(FAR, 4), "P")]],
        "b": [[], [(FAR, "Q")]],
    }
    corpus = corpus_of(sides, [5, 9])
    assert parts_of(corpus.select(annotators=["b"])) == [[*FAR]]
    assert parts_of(corpus.select(documents=["1"], labels=["P"])) == [[*moved(FAR, 4)]]
    assert parts_of(corpus.rename_annotators({"a": "z"})) == parts_of(corpus)
    assert corpus.select(labels=["Q"], annotators=["a"]).span_motif is None
    joined = corpus_of(sides, [5, 9], documents=["d", "d"], unit="document")
    assert joined.text_length.tolist() == [14]
    assert parts_of(joined) == [[*NEAR], [(5, 8)], [*moved(FAR, 9)], [*moved(FAR, 5)]]


def test_only_equal_spans_are_marked_twice():
    side = [(NEAR, "P"), (NEAR, "Q"), (((0, 3),), "R"), (((0, 1), (2, 3)), "S")]
    corpus = corpus_of({"a": [side], "b": [[]]}, [5]).rename_labels(dict.fromkeys("QRS", "P"))
    assert parts_of(corpus) == [[*NEAR], [(0, 3)]]
    assert sum(corpus.skipped.values()) == 2


# --- What does not have them ----------------------------------------------------------

MINE = bc.CustomMeasure(name="mine", phi=lambda s, *_: np.ones(len(s)), size=np.ones_like)
TEAM = corpus_of({name: [[(NEAR, "P")], [(((1, 2),), "Q")]] for name in "abc"}, [5, 5])


@each(
    "how",
    [
        *({"measure": name} for name in ("boundary", "dice", "iou")),
        {"measure": MINE},
        {"model": "overlapping"},
        {"chance": "shapes"},
    ],
)
def test_other_scores_are_refused(how):
    for score in (bc.agreement, partial(bc.rank, gold="a")):
        with refused(bc.SpanError, "'0' … 'a' … [0, 1) + [2, 3) 'P'", use="discontinuous"):
            score(TEAM, **how)


def test_unit_corpus_is_refused():
    with refused(bc.SpanError, "[0, 1) + [2, 3) 'P' … corpus", use="discontinuous"):
        bc.agreement(replace(TEAM, unit="corpus"))


@each(
    "call",
    [
        bc.careless_work,
        bc.coefficients,
        bc.consensus,
        bc.diagnose,
        bc.disagreements,
        bc.labelling,
        bc.null_distribution,
        bc.report,
        lambda corpus: bc.replacement(corpus, model="c"),
        lambda corpus: bc.report(bc.agreement(corpus), corpus),
        lambda corpus: bc.adjudicated(corpus, []),
        lambda corpus: bc.write(corpus, "nowhere/", format="conll"),
        lambda corpus: bc.write(corpus, "nowhere.csv"),
    ],
)
def test_other_functions_refuse_them(call):
    with refused(bc.SpanError, "'0' … 'a' … [0, 1) + [2, 3) 'P'", use="discontinuous"):
        call(TEAM)


@each("call", [bc.careless_work, bc.consensus, bc.disagreements, bc.diagnose])
def test_where_their_label_is_left_out_nothing_is_refused(call):
    call(TEAM.select(labels=["Q"]))


def test_rankings_and_difficulty_have_them():
    assert bc.rank(TEAM, gold="a").systems["b"].score.observed == 1
    assert bc.difficulty(TEAM, measure="exact").overall == pytest.approx(1 - (1 / 3 + 1 / 5) / 2)


# --- From files, from the command line ------------------------------------------------

#       0123456789012345678901234567890
TEXT = "the old red boat sails, slowly."


def as_brat(path, marks):
    for name, own in marks.items():
        (path / name).mkdir()
        (path / name / "d.txt").write_text(TEXT)
        lines = []
        for i, (parts, label) in enumerate(own, 1):
            place = ";".join(f"{s} {e}" for s, e in parts)
            lines.append(f"T{i}\t{label} {place}\t{' '.join(TEXT[s:e] for s, e in parts)}\n")
        (path / name / "d.ann").write_text("".join(lines))
    return [str(path / name) for name in marks]


def as_bioc(path, marks):
    annotations = [
        {
            "id": f"{name}{i}",
            "infons": {"type": label, "annotator": name},
            "text": " ".join(TEXT[s:e] for s, e in parts),
            "locations": [{"offset": s, "length": e - s} for s, e in parts],
        }
        for name, own in marks.items()
        for i, (parts, label) in enumerate(own)
    ]
    passage = {"offset": 0, "infons": {}, "text": TEXT, "annotations": annotations}
    document = {"id": "d", "infons": {}, "passages": [passage]}
    (path / "all.json").write_text(json.dumps({"documents": [document]}))
    return [str(path / "all.json")]


MARKS = {
    "ada": [(((0, 5), (8, 11)), "B"), (((17, 22),), "A")],
    "bo": [(((0, 5), (8, 11)), "B"), (((17, 22), (24, 30)), "A")],
}


@each("wrote", [as_brat, as_bioc])
def test_files(tmp_path, capsys, wrote):
    paths = wrote(tmp_path, MARKS)
    for measure in MEASURES:
        asked = ["agree", *paths, "--positions", "characters", "--measure", measure]
        assert main([*asked, "--output", "json"]) in {0, None}
        score = json.loads(capsys.readouterr().out)
        expected = sum(
            sum(
                p * q * matched_wholes(measure)(x, y)
                for x, p in shuffled_wholes(len(TEXT), (a,), "label").items()
                for y, q in shuffled_wholes(len(TEXT), (b,), "label").items()
            )
            for a, b in zip(*MARKS.values(), strict=True)
        )
        sizes = (13, 19) if measure == "token" else (2, 2)
        assert score["chance"] == pytest.approx(float(2 * expected / sum(sizes)), abs=1e-12)
        matched = 13 if measure == "token" else 1
        assert score["observed"] == pytest.approx(2 * matched / sum(sizes))


def test_parts_lie_in_one_sentence(tmp_path):
    def sentence(offset, words):
        return {"offset": offset, "infons": {}, "text": words, "annotations": []}

    (path,) = map(Path, as_bioc(tmp_path, MARKS))
    data = json.loads(path.read_text())
    (passage,) = data["documents"][0]["passages"]
    passage["text"] = ""
    passage["sentences"] = [sentence(0, TEXT[:16]), sentence(17, TEXT[17:])]
    path.write_text(json.dumps(data))
    # The first cuts the word before the gap, so that no word is left in between.
    corpus = bc.read(path, unit="sentence", positions="tokens")
    assert parts_of(corpus) == [[(0, 3)], [(0, 1)], [(0, 3)], [(0, 1), (2, 3)]]
    locations = passage["annotations"][0]["locations"]
    locations[1] = {"offset": 17, "length": 5}
    passage["annotations"][0]["text"] = "the o sails"
    path.write_text(json.dumps(data))
    with refused(bc.SpanError, "'B' … sentence … document", use="unit"):
        bc.read(path, unit="sentence")
    corpus = bc.read(path, unit="document", positions="characters")
    assert corpus.parts(0) == [(0, 5), (17, 22)]
