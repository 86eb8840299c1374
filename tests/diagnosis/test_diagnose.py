"""Patterns: planted habits are found with exactly their true gain; laws; words."""

import math
import pickle
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from annotated_spans import build, overlapping, sides_of, teams
from beyondchance.core.resampling import benjamini_hochberg
from beyondchance.diagnosis import diagnose as module
from beyondchance.diagnosis.deviations import KINDS
from beyondchance.diagnosis.diagnose import exchange_p
from examples import examples
from refusals import assert_tells, refused

WORDS = ["the", "Ada", "Berg", "went", "to", "Bonn", "on", "Monday", "noon", "."]


# --- Planted habits -------------------------------------------------------------------


def truth(rng, n_documents=30):
    """What all would mark: persons of two words, places, dates and times next to each other."""
    documents = []
    for _ in range(n_documents):
        spans = [(1, 3, "PER"), (5, 6, "LOC")] if rng.random() < 0.8 else [(5, 6, "LOC")]
        if rng.random() < 0.7:
            spans += [(7, 8, "DATE"), (8, 9, "TIME")]
        documents.append(spans)
    return documents


def with_article(spans, rng):
    return [(0, 3, "PER") if s == (1, 3, "PER") and rng.random() < 0.9 else s for s in spans]


def without_places(spans, rng):
    return [s for s in spans if s[2] != "LOC" or rng.random() < 0.4]


def time_in_date(spans, rng):
    if (8, 9, "TIME") in spans and rng.random() < 0.9:
        return [s for s in spans if s[2] not in {"DATE", "TIME"}] + [(7, 9, "DATE")]
    return spans


def place_as_person(spans, rng):
    return [(5, 6, "PER") if s[2] == "LOC" and rng.random() < 0.5 else s for s in spans]


def with_stop(spans, rng):
    return [(s[0], 10, s[2]) if s[:2] == (8, 9) and rng.random() < 0.8 else s for s in spans]


HABITS = {
    "article": (with_article, "PER", "starts earlier", "the"),
    "places": (without_places, "LOC", "missed", "bonn"),
    "time": (time_in_date, "DATE", "takes in", "TIME"),
    "label": (place_as_person, "PER", "other label", "LOC"),
    "stop": (with_stop, "TIME", "ends later", "punctuation"),
}


def corpus_of(sides):
    n = len(next(iter(sides.values())))
    return bc.Corpus.from_spans(sides, tokens=[WORDS] * n)


def test_a_habit_in_a_team_comes_first_with_its_true_gain():
    for (habit, planted), size in zip(HABITS.items(), cycle((3, 4)), strict=False):
        plant, label, kind, detail = planted
        rng = np.random.default_rng(1)
        gold = truth(rng)
        sides = dict.fromkeys(["ada", "ben", "cleo", "dora"][:size], gold)
        sides["ben"] = [plant(spans, rng) for spans in gold]
        first = bc.diagnose(corpus_of(sides)).patterns[0]
        found = (first.who, first.label, first.kind, first.detail)
        assert found == ("ben", label, kind, detail), habit
        assert first.after == 1, habit
        assert first.is_habit, habit
        assert first.other_way == 0, habit
        n_changed = sum(a != b for a, b in zip(gold, sides["ben"], strict=True))
        assert first.count >= n_changed, habit


def test_a_habit_of_a_system_comes_first_with_its_true_gain():
    for habit, (plant, label, kind, detail) in HABITS.items():
        rng = np.random.default_rng(2)
        gold = truth(rng)
        other = [without_places(spans, rng) for spans in gold]
        sides = {"gold": gold, "system": [plant(s, rng) for s in gold], "other": other}
        found = bc.diagnose(corpus_of(sides), gold="gold")
        own = [pattern for pattern in found.patterns if pattern.who == "system"]
        assert (own[0].label, own[0].kind, own[0].detail) == (label, kind, detail), habit
        assert own[0].after == 1, habit
        pair = bc.agreement(corpus_of(sides), gold="gold").by_pair["gold", "system"]
        assert own[0].before == pair.corrected, habit
        assert own[0].others == ("gold",), habit


def test_several_habits_each_have_the_gain_of_undoing_it_alone():
    rng = np.random.default_rng(3)
    gold = truth(rng, 60)
    one = [with_article(spans, rng) for spans in gold]
    both = [place_as_person(spans, rng) for spans in one]
    sides = {"ada": gold, "ben": both, "cleo": gold}
    found = bc.diagnose(corpus_of(sides))
    # Without the article, and otherwise as they are.
    undone = [
        [(1, 3, "PER") if span == (0, 3, "PER") else span for span in spans] for spans in both
    ]
    by_kind = {pattern.kind: pattern for pattern in found.patterns}
    assert set(by_kind) == {"starts earlier", "other label"}
    after = bc.agreement(corpus_of({**sides, "ben": undone})).corrected
    assert by_kind["starts earlier"].after == after
    assert by_kind["other label"].after == bc.agreement(corpus_of({**sides, "ben": one})).corrected
    # The second has both undone.
    assert found.patterns[0].together == found.patterns[0].after
    assert found.patterns[1].together == 1


def test_of_two_annotators_the_one_who_marks_more_is_named():
    # ada  PP..QQQ.
    # ben  PPP..QQ.
    corpus = bc.Corpus.from_spans(
        {"ada": [[(0, 2, "P"), (4, 7, "Q")]], "ben": [[(0, 3, "P"), (5, 7, "Q")]]}, lengths=[8]
    )
    found = {(p.who, p.label, p.kind) for p in bc.diagnose(corpus).patterns}
    assert found == {("ben", "P", "ends later"), ("ada", "Q", "starts earlier")}


def test_dates_that_take_in_times_have_one_root():
    # ada  DDD    ben  DTT
    ada = [[(0, 3, "D")]] * 6
    ben = [[(0, 1, "D"), (1, 3, "T")]] * 6
    found = bc.diagnose(bc.Corpus.from_spans({"ada": ada, "ben": ben}, lengths=[9] * 6))
    (pattern,) = found.patterns
    assert (pattern.who, pattern.label, pattern.kind, pattern.detail) == (
        "ada",
        "D",
        "takes in",
        "T",
    )
    assert pattern.count == 12
    assert pattern.parts == {("ada", "ends later"): 6, ("ben", "marked alone"): 6}
    assert pattern.sentence.startswith("ada's D covers what ben marks as T: 12 disagreements, ")
    assert pattern.after == 1
    assert found.merges[0].labels == ("D", "T")


# --- Laws -----------------------------------------------------------------------------


def changed(span, row):
    """A span as the others have it, in what a row says."""
    if row["deviation"] == "marked alone" or span is None:
        return None
    place = {"starts": 0, "ends": 1, "other": 2}[row["deviation"].split()[0]]
    theirs = (row["start_others"], row["end_others"], row["label_others"])
    return (*span[:place], theirs[place], *span[place + 1 :])


def mended_sides(sides, documents, rows):
    """What all mark if everybody does as the others in some rows of patterns, in plain Python."""
    now = {
        (name, text, span): span
        for name, lists in sides.items()
        for text, own in enumerate(lists)
        for span in own or ()
    }
    for row in rows:
        text = documents.index((row["document"], row["text"]))
        if row["deviation"] == "missed":
            span = (row["start_others"], row["end_others"], row["label_others"])
            now[row["who"], text, ("new", *span)] = span
        else:
            key = (row["who"], text, (row["start"], row["end"], row["label"]))
            now[key] = changed(now[key], row)
    return {
        name: [
            None
            if own is None
            else sorted({s for (n, t, _), s in now.items() if (n, t) == (name, text) and s})
            for text, own in enumerate(lists)
        ]
        for name, lists in sides.items()
    }


def applied(corpus, rows):
    """A corpus of documents of one text in which some rows of patterns are mended."""
    documents = [(name, 0) for name in corpus.documents]
    return build(mended_sides(sides_of(corpus), documents, rows))


@given(teams(most=2, spans=overlapping))
@examples(60)
def test_all_patterns_of_two_annotators_together_leave_nothing(sides):
    corpus = build(sides)
    if not corpus.labels:
        return
    found = bc.diagnose(corpus)
    mended = applied(corpus, [row for pattern in found.patterns for row in pattern.rows])
    ada, ben = sides_of(mended).values()
    assert ada == ben
    if 0 < len(found.patterns) <= 20:
        assert repr(found.patterns[-1].together) == repr(bc.agreement(mended).corrected)
    result = bc.agreement(mended)
    assert math.isnan(result.corrected) or result.corrected == 1


@given(teams(most=2, gaps=False, spans=overlapping))
@examples(60)
def test_all_patterns_of_a_system_together_make_it_the_gold_standard(sides):
    corpus = build(sides)
    if not corpus.labels:
        return
    found = bc.diagnose(corpus, gold="ada")
    assert {pattern.who for pattern in found.patterns} <= {"ben"}
    mended = applied(corpus, [row for pattern in found.patterns for row in pattern.rows])
    assert sides_of(mended)["ben"] == sides_of(corpus)["ada"]
    if 0 < len(found.patterns) <= 20:
        last = found.patterns[-1].together
        assert repr(last) == repr(bc.agreement(mended, gold="ada").corrected)


@pytest.mark.slow
@given(teams(most=4, spans=overlapping), st.booleans())
@examples(60)
def test_gains_are_those_of_scoring_again(sides, with_gold):
    corpus = build(sides)
    if not corpus.labels:
        return
    gold = "ada" if with_gold else None
    found = bc.diagnose(corpus, gold=gold)
    for pattern in found.patterns[:6]:
        score = bc.agreement(applied(corpus, pattern.rows), gold=gold)
        after = score.against("ada")[pattern.who] if with_gold else score.score
        assert repr(pattern.after) == repr(after.corrected)


@given(teams(most=4))
@examples(40)
def test_the_order_of_names_and_documents_does_not_matter(sides):
    corpus = build(sides)
    if not corpus.labels:
        return
    found = bc.diagnose(corpus)
    names = list(corpus.documents)
    turned = corpus.select(documents=names[::-1])
    assert [p.sentence for p in found.patterns] == [
        p.sentence for p in bc.diagnose(turned).patterns
    ]


@pytest.mark.parametrize("gold", [None, "ada"])
def test_what_patterns_bring_together_is_what_scoring_them_together_gives(gold):
    corpus = bc.example()
    found = bc.diagnose(corpus, gold=gold)
    texts = [
        (corpus.documents[document], int(np.count_nonzero(corpus.text_document[:i] == document)))
        for i, document in enumerate(corpus.text_document.tolist())
    ]
    sides = {name: [[] for _ in texts] for name in corpus.annotators}
    for i, text in enumerate(corpus.span_text.tolist()):
        sides[corpus.annotators[corpus.span_annotator[i]]][text].append(tuple(corpus.span(i)))
    for who in [None] if gold is None else ["ben", "cleo"]:
        own = [pattern for pattern in found.patterns if who in {None, pattern.who}]
        for k in (1, 3, 6):
            rows = [row for pattern in own[:k] for row in pattern.rows]
            mended = bc.Corpus.from_spans(
                mended_sides(sides, texts, rows),
                lengths=corpus.text_length.tolist(),
                documents=[document for document, _ in texts],
            )
            score = bc.agreement(mended, gold=gold)
            after = score.corrected if who is None else score.by_pair["ada", who].corrected
            assert own[k - 1].together == after


def test_merging_labels_is_renaming_one_of_them():
    corpus = bc.example()
    for merge in bc.diagnose(corpus).merges:
        one, two = merge.labels
        renamed = corpus.rename_labels({two: one}, duplicates="skip")
        assert merge.after == bc.agreement(renamed).corrected


# --- Habits ---------------------------------------------------------------------------


def test_p_by_all_exchanges():
    documents = [(2, 0), (1, 0), (0, 3), (1, 1)]
    own = 2 + 1 + 0 + 1
    sums = [a + b + c + d for a in (2, 0) for b in (1, 0) for c in (0, 3) for d in (1, 1)]
    p = sum((s > own) + (s == own) / 2 for s in sums) / len(sums)
    assert exchange_p(documents, own) == pytest.approx(p, abs=1e-14)


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=3), min_size=1, max_size=6))
def test_p_against_enumeration(documents):
    sums = [0]
    for counts in documents:
        sums = [s + c for s in sums for c in counts]
        sums = sorted(sums)
    weight = [1.0]
    for counts in documents:
        weight = [w / len(counts) for w in weight for _ in counts]
    own = sum(counts[0] for counts in documents)
    expected = sum(((s > own) + (s == own) / 2) for s in sums) / len(sums)
    assert exchange_p(documents, own) == pytest.approx(max(expected, 1e-15), abs=1e-13)


def test_adjusted_by_hand():
    # Of four in order, 4/1, 4/2, 4/3 and 4/4 times each, and none more than one after it.
    assert benjamini_hochberg(np.array([0.04, 0.01, 0.03, 0.9])).tolist() == pytest.approx(
        [0.16 / 3, 0.04, 0.16 / 3, 0.9]
    )


@pytest.mark.slow
def test_adjusted_as_statsmodels_does():
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - slow to load

    rng = np.random.default_rng(5)
    p = rng.random(40) ** 2
    assert benjamini_hochberg(p).tolist() == pytest.approx(multipletests(p, method="fdr_bh")[1])


def exchanged(corpus, rng):
    """The corpus with the names of annotators exchanged within documents."""
    n = len(corpus.annotators)
    to = np.stack([rng.permutation(n) for _ in corpus.documents])
    document = corpus.text_document[corpus.span_text]
    return replace(corpus, span_annotator=to[document, corpus.span_annotator])


@pytest.mark.parametrize(
    ("size", "n_teams"),
    [
        pytest.param(3, 15, marks=pytest.mark.slow),
        pytest.param(2, 60, marks=pytest.mark.long),
        pytest.param(3, 60, marks=pytest.mark.long),
    ],
)
def test_names_exchanged_give_small_p_as_often_as_they_should(size, n_teams):
    rng = np.random.default_rng(6)
    names = ["ada", "ben", "cleo"][:size]
    small, n = 0, 0
    for _ in range(n_teams):
        gold = truth(rng, 60)
        sides = {
            name: [place_as_person(with_stop(without_places(s, rng), rng), rng) for s in gold]
            for name in names
        }
        found = bc.diagnose(exchanged(corpus_of(sides), rng))
        many = [q for q in found.patterns if q.count + q.other_way >= 6]
        p = [value for q in many for value in q.p_values.values()]
        small += sum(value < 0.05 for value in p)
        n += len(p)
    assert n > 5 * n_teams
    assert 0.03 <= small / n <= 0.07


# --- Whose it is ----------------------------------------------------------------------


def spans_of(*documents):
    """Spans of three places in each document, by whether each of them is marked."""
    return [
        [(3 * i, 3 * i + 1, "P") for i, is_marked in enumerate(marked) if is_marked]
        for marked in documents
    ]


def test_what_several_share_is_one_pattern():
    # Each overlooks one of three places in every third document.
    n = 12
    places = {
        name: [[not (d % 3 == who and i == who) for i in range(3)] for d in range(n)]
        for who, name in enumerate(("ada", "ben", "cleo"))
    }
    sides = {name: spans_of(*marked) for name, marked in places.items()}
    found = bc.diagnose(bc.Corpus.from_spans(sides, lengths=[12] * n))
    (pattern,) = found.patterns
    assert pattern.times == {"ada": 4, "ben": 4, "cleo": 4}
    assert (pattern.count, pattern.other_way, pattern.others) == (12, 0, ())
    assert (pattern.after, pattern.is_habit, pattern.is_open) == (1, False, False)
    assert pattern.sentence.startswith(
        "ada (4 times), ben (4) and cleo (4) mark nothing where others mark P: 12"
    )
    assert_tells(pattern.advice, "guideline … ada 4 … ben 4 … cleo 4")
    assert {row["who"] for row in pattern.rows} == {"ada", "ben", "cleo"}
    assert [example.who for example in pattern.examples] == ["ada", "ben", "cleo"]


def test_a_habit_stays_apart_from_what_the_others_share():
    # Ben always overlooks the first of three places, ada and cleo the others now and then.
    n = 12
    ada = spans_of(*([True, True, d % 3 > 0] for d in range(n)))
    ben = spans_of(*([False, True, True] for d in range(n)))
    cleo = spans_of(*([True, d % 3 > 0, True] for d in range(n)))
    sides = {"ada": ada, "ben": ben, "cleo": cleo}
    habit, shared = bc.diagnose(bc.Corpus.from_spans(sides, lengths=[12] * n)).patterns
    assert (habit.times, habit.other_way, habit.others_each) == ({"ben": 12}, 8, 4)
    assert habit.is_habit
    assert_tells(habit.advice, "ben … 12 times … others 4 each")
    assert (shared.times, shared.other_way) == ({"ada": 4, "cleo": 4}, 12)
    assert (shared.who, shared.others, shared.others_each) == ("ada or cleo", ("ben",), 12)
    assert not shared.is_habit


def test_rates_are_those_of_one_person_in_the_same_documents():
    # All mark the last place. Ada marks the first in all documents, ben the second in one, dora in
    # two; of the four others, two annotated each document.
    nothing, first, second = spans_of([0, 0, 1], [1, 0, 1], [0, 1, 1])
    sides = {
        "ada": [first] * 12,
        "ben": [second] + [nothing] * 5 + [None] * 6,
        "cleo": [nothing] * 6 + [None] * 6,
        "dora": [None] * 6 + [second] * 2 + [nothing] * 4,
        "ed": [None] * 6 + [nothing] * 6,
    }
    habit = bc.diagnose(bc.Corpus.from_spans(sides, lengths=[12] * 12)).patterns[0]
    assert (habit.times, habit.is_habit) == ({"ada": 12}, True)
    assert (habit.other_way, habit.others_each) == (3, 1.5)


def test_what_is_told_comes_before_what_is_too_few_to_tell():
    for options in ({}, {"gold": "ada"}):
        patterns = bc.diagnose(bc.example(), **options).patterns
        assert {pattern.is_open for pattern in patterns} == {True, False}
        order = [(pattern.is_open, -pattern.gain) for pattern in patterns]
        assert order == sorted(order)
        # What they bring together follows the same order.
        assert patterns[0].together == patterns[0].after


def test_two_who_do_the_same_share_it():
    sides = {"ada": spans_of([1, 1, 0], [1, 0, 1]) * 6, "ben": spans_of([1, 0, 1], [1, 1, 0]) * 6}
    (pattern,) = bc.diagnose(bc.Corpus.from_spans(sides, lengths=[12] * 12)).patterns
    assert pattern.times == {"ada": 12, "ben": 12}
    assert pattern.sentence.startswith(
        "ada (12 times) and ben (12) mark P where the other marks nothing: 24"
    )


# --- Words and corners ----------------------------------------------------------------


def sentence_of(ada, ben, **options):
    found = bc.diagnose(
        bc.Corpus.from_spans({"ada": ada, "ben": ben}, tokens=[WORDS] * len(ada)), **options
    )
    return [pattern.sentence.partition(":")[0] for pattern in found.patterns]


def test_sentences_of_two():
    cases = [
        ((1, 3), (0, 3), "ben's P takes in 'the' at its start"),
        ((8, 9), (8, 10), "ben's P takes in punctuation at its end"),
        ((1, 2), (1, 3), "ben's P takes in 'berg' at its end"),
        ((5, 6), (1, 6), "ben's P starts earlier than ada's"),
        ((1, 3), None, "ada marks 'ada berg' as P, ben does not"),
    ]
    for ada, ben, sentence in cases:
        a, b = ([[] if span is None else [(*span, "P")]] * 3 for span in (ada, ben))
        assert sentence_of(a, b) == [sentence]


def test_sentences_against_gold():
    one, two = [(1, 3, "P")], [(1, 2, "P"), (2, 3, "P")]
    cases = [
        (one, [(2, 3, "P")], "ben's P leaves out 'ada' at its start"),
        ([(1, 6, "P")], [(5, 6, "P")], "ben's P starts later than ada's"),
        (one, [], "ben does not mark 'ada berg', which ada marks as P"),
        (one, [(1, 3, "Q")], "ben marks as Q what ada marks as P"),
        (one, [(1, 2, "P"), (2, 3, "Q")], "ben marks as Q a part of what ada marks as P"),
        (one, two, "ben's P is several spans where ada marks one"),
        (two, one, "ben's P is one span where ada marks several"),
    ]
    for ada, ben, sentence in cases:
        assert sentence_of([ada] * 3, [ben] * 3, gold="ada") == [sentence]


def test_examples_are_in_their_text():
    a, b = [[(1, 3, "P")]] * 4, [[(0, 3, "P")]] * 4
    corpus = bc.Corpus.from_spans({"ada": a, "ben": b}, tokens=[WORDS] * 4)
    (pattern,) = bc.diagnose(corpus).patterns
    assert len(pattern.examples) == 3
    assert [example.document for example in pattern.examples] == ["0", "1", "2"]
    assert str(pattern.examples[0]).startswith("[the {Ada Berg}] went to")
    assert pattern.rows[0]["in_text"] == str(pattern.examples[0])
    bare = bc.Corpus.from_spans({"ada": a, "ben": b}, lengths=[10] * 4)
    (pattern,) = bc.diagnose(bare).patterns
    assert pattern.kind == "starts earlier"
    assert pattern.detail == ""
    assert str(pattern.examples[0]) == "[0-3 P] {1-3 P}"
    assert pattern.rows[0]["in_text"] is None
    assert pattern.places[0] == ("0", 0)


def test_refused_with_a_sentence(tmp_path):
    path = tmp_path / "spans.csv"
    path.write_text("document,annotator,start,end,label,length\nd,a,0,1,P,5\nd,b,0,1,P,5\n")
    with refused(bc.OptionError, "needs … all texts"):
        bc.diagnose(bc.scan(path))
    with refused(bc.OptionError, "all texts … unit"):
        bc.diagnose(bc.read(path, unit="corpus"))
    with pytest.raises(bc.NothingSharedError):
        bc.diagnose(bc.Corpus.from_spans({"a": [[(0, 1, "P")]]}, lengths=[3]))
    with refused(bc.OptionError, "confidence … 2"):
        bc.diagnose(path).loss_intervals(confidence=2)
    with refused(bc.OptionError, "'labels' … label … pair"):
        bc.diagnose(path).loss_intervals("labels")


def test_other_scopes():
    corpus = bc.example()
    for scope in ("joint", "unlabelled"):
        found = bc.diagnose(corpus, scope=scope)
        assert found.corrected == bc.agreement(corpus, scope=scope).corrected
        assert ("more of some labels" in found.loss) == (scope == "joint")
        assert found.patterns[0].gain > 0
    assert found.patterns[0].sentence.startswith("cleo marks nothing where others mark something")
    assert {pattern.label for pattern in found.patterns} == {"(any)"}
    assert found.merges == ()


def patterns_of(sides, n=12, **options):
    """The sentences without numbers, and the scores, of three equal texts."""
    corpus = bc.Corpus.from_spans({k: [v] * 3 for k, v in sides.items()}, lengths=[n] * 3)
    found = bc.diagnose(corpus, **options).patterns
    return [(pattern.sentence.partition(":")[0], pattern.after) for pattern in found]


def test_spans_inside_others_of_one_label_stay():
    for gold in (None, "ada"):
        ada, ben = [(0, 5, "A"), (1, 3, "A")], [(0, 4, "A"), (1, 3, "A")]
        assert [after for _, after in patterns_of({"ada": ada, "ben": ben}, gold=gold)] == [1]
        ada, ben = [(0, 5, "B"), (1, 3, "B")], [(0, 5, "A"), (1, 3, "B")]
        assert [after for _, after in patterns_of({"ada": ada, "ben": ben}, gold=gold)] == [1]


def test_what_covers_is_larger():
    cases = [
        ([(2, 3, "P"), (0, 5, "O")], [(2, 3, "P")], "b marks nothing where a marks O"),
        ([(2, 3, "P")], [(2, 3, "P"), (0, 5, "O")], "b marks O where a marks nothing"),
        ([(0, 5, "O"), (1, 3, "P")], [(0, 5, "O")], "b's O covers what a marks as P"),
        (
            [(4, 9, "A"), (4, 10, "C"), (7, 8, "B")],
            [(4, 10, "C"), (7, 8, "B")],
            "b's C covers what a marks as A",
        ),
    ]
    for gold, system, sentence in cases:
        ((found, _),) = patterns_of({"a": gold, "b": system}, gold="a")
        assert found == sentence


def test_what_is_divided_has_the_label_of_the_others():
    found = patterns_of({"a": [(0, 3, "A")], "b": [(0, 1, "C"), (1, 3, "B")]}, gold="a")
    assert "b marks as C a part of what a marks as A" in {sentence for sentence, _ in found}
    assert not any("marks as B" in sentence.partition("what")[2] for sentence, _ in found)


def test_a_long_span_hides_nothing():
    n = 100
    whole = (0, 10 * n, "DOC")
    one = [whole, *((10 * i, 10 * i + 4, "D") for i in range(n))]
    two = [whole]
    for i in range(n):
        two += [(10 * i, 10 * i + 2, "D"), (10 * i + 2, 10 * i + 4, "T")]
    corpus = bc.Corpus.from_spans({"a": [one], "b": [two]}, lengths=[10 * n])
    (pattern,) = bc.diagnose(corpus).patterns
    assert pattern.sentence.startswith("a's D covers what b marks as T")
    assert (pattern.after, pattern.n_places, pattern.count) == (1, n, 2 * n)


def test_missed_does_not_depend_on_the_order_of_annotators():
    spans = [[(0, 3, "P")], [(2, 6, "P")], [(5, 8, "P")]]
    for order in ((0, 1, 2), (1, 0, 2), (2, 1, 0)):
        sides = {name: spans[i] for name, i in zip("abc", order, strict=True)} | {"d": [], "e": []}
        corpus = bc.Corpus.from_spans({k: [v] * 5 for k, v in sides.items()}, lengths=[20] * 5)
        missed = {p.who for p in bc.diagnose(corpus).patterns if p.kind == "missed"}
        assert missed == {"d", "e"}


def test_words_name_a_pattern_only_if_they_are_a_third_of_it():
    # Nine times an article, and six times something else; then one article among many.
    ben = [[(0, 3, "P")]] * 9 + [[(1, 4, "P")]] * 6
    found = bc.diagnose(
        bc.Corpus.from_spans({"ada": [[(1, 3, "P")]] * 15, "ben": ben}, tokens=[WORDS] * 15)
    )
    assert {p.sentence.partition(":")[0] for p in found.patterns} == {
        "ben's P takes in 'the' at its start",
        "ben's P takes in 'went' at its end",
    }
    words = [[f"word{i}", *WORDS[1:]] for i in range(9)] + [WORDS] * 3
    sides = {"ada": [[(1, 3, "P")]] * 12, "ben": [[(0, 3, "P")]] * 12}
    (pattern,) = bc.diagnose(bc.Corpus.from_spans(sides, tokens=words)).patterns
    assert (pattern.detail, pattern.count) == ("", 12)
    words = [[f"word{i}", *WORDS[1:]] for i in range(5)] + [WORDS] * 7
    most, rest = bc.diagnose(bc.Corpus.from_spans(sides, tokens=words)).patterns
    assert most.sentence.startswith("ben's P takes in 'the' at its start: 7")
    assert rest.sentence.startswith("ben's P starts earlier than ada's (other than 'the'): 5")


def test_white_space_is_not_punctuation():
    corpus = bc.Corpus.from_spans(
        {"a": [[(4, 7, "P")]] * 3, "b": [[(3, 7, "P")]] * 3}, texts=["the Ada went"] * 3
    )
    (pattern,) = bc.diagnose(corpus).patterns
    assert "takes in white space at its start" in pattern.sentence


def test_advice():
    # One document tells nothing about habits; a few may do what one does.
    one = {
        "ada": [[(4 * i, 4 * i + 3, "P") for i in range(10)]],
        "ben": [[(4 * i, 4 * i + 2, "P") for i in range(10)]],
    }
    (pattern,) = bc.diagnose(bc.Corpus.from_spans(one, lengths=[50])).patterns
    assert pattern.advice == "too few to tell whether it is a habit"
    sides = {"a": [[(0, 2, "P")]] * 3, "b": [[(0, 2, "P")]] * 3, "c": [[]] * 3, "d": [[]] * 3}
    found = bc.diagnose(bc.Corpus.from_spans(sides, lengths=[9] * 3)).patterns
    assert {p.sentence.partition(":")[0] for p in found} >= {
        "a (3 times) and b (3) mark P where most others mark nothing"
    }
    two = {"ada": [[(0, 3, "P")]] * 9, "ben": [[(0, 2, "P")]] * 9}
    (pattern,) = bc.diagnose(bc.Corpus.from_spans(two, lengths=[9] * 9)).patterns
    assert pattern.advice.startswith("one-sided: ada 9 times, ben 0 (p = ")


def test_undefined_scores_have_no_shares():
    nothing = bc.diagnose(bc.Corpus.from_spans({"a": [[], []], "b": [[], []]}, lengths=[5, 5]))
    assert "nan" not in str(nothing)
    assert "undefined" in str(nothing)


def test_rare_patterns_of_long_texts_are_not_valued(monkeypatch):
    monkeypatch.setattr(module, "_MOST_COUNTED", 60)
    found = bc.diagnose(bc.example())
    valued = [pattern for pattern in found.patterns if not math.isnan(pattern.after)]
    assert 0 < len(valued) < len(found.patterns)
    assert found.patterns[: len(valued)] == tuple(valued)
    assert any("no value" in str(note) for note in found.notes)
    assert found.to_dict()["patterns"][-1]["after"] is None


def test_a_gold_standard_that_the_corpus_names():
    corpus = bc.example().with_gold("ada")
    assert bc.diagnose(corpus).gold is None
    two = corpus.select(annotators=["ada", "ben"])
    assert bc.diagnose(two).gold == "ada"
    assert {pattern.who for pattern in bc.diagnose(two).patterns} == {"ben"}


def test_models_that_spans_of_a_variant_would_contradict():
    # The first span of ben becomes as long as ada's, and then holds the second.
    corpus = bc.Corpus.from_spans(
        {"ada": [[(0, 6, "P")]], "ben": [[(0, 2, "P"), (3, 5, "P")]]}, lengths=[9]
    )
    strict = bc.diagnose(corpus, gold="ada", model="disjoint")
    assert [p.after for p in strict.patterns] == [
        p.after for p in bc.diagnose(corpus, gold="ada").patterns
    ]


def test_printed():
    found = bc.diagnose(bc.example())
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
    assert (str(again), again.merges) == (str(found), found.merges)
    assert repr(found) == "Diagnosis(corrected=0.7181, 20 patterns)"
    assert "what to fix first" in str(found)
    assert found.to_rows()[0]["who"] == "ada"
    assert found.to_dict()["loss"]["more overall"]["share"] == found.loss["more overall"]
    assert found.by_label_and_kind["PERSON"]["starts earlier"] == 9
    assert "ada" in repr(found.patterns[0])
    assert found.patterns[0].advice.startswith("a habit: ada 9 times, the others 0 each (p = ")
    assert set(KINDS) >= {kind for p in found.patterns for _, kind in p.parts}
