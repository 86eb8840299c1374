"""The range of scores over all places of quotes, against all placements one by one."""

import io
import json
import re
from collections import Counter
from dataclasses import replace
from itertools import cycle, permutations, product
from math import inf, isnan

import numpy as np
import pytest

import beyondchance as bc
from beyondchance.scoring import joint_placements, quote_clusters
from each import each
from refusals import assert_tells

MEASURES = ["token", "exact", "boundary", "dice", "iou"]
SCOPES = ["label", "joint", "unlabelled"]
NAMES = ["Ann", "Lee", "Oak", "Ann Lee", "Lee Oak", "Bo"]


def crosses(a, b):
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def occurrences(text, words):
    """All places of a string of whole words; none of ours overlaps itself."""
    return [match.span() for match in re.finditer(rf"\b{words}\b", text)]


def generated(rng, *, labels=("PER", "LOC"), most=4):
    """A text in which names repeat, and spans that do not cross."""
    words = rng.choice(["Ann", "Lee", "Oak", "Bo", "saw", "and"], size=rng.integers(6, 12))
    text = " ".join(words)

    def spans():
        places = [place for name in NAMES for place in occurrences(text, name)]
        rng.shuffle(places)
        chosen = []
        for place in map(tuple, places):
            if len(chosen) < most and not any(crosses(place, other) for other in chosen):
                chosen.append(place)
        return sorted((*map(int, place), str(rng.choice(labels))) for place in chosen)

    return text, spans(), spans()


def as_quotes(name, texts, spans):
    """Records without offsets, in the order of the text."""
    rows = [
        {
            "id": number,
            "text": text,
            "annotator": name,
            "entities": [{"text": text[s:e], "label": label} for s, e, label in own],
        }
        for number, (text, own) in enumerate(zip(texts, spans, strict=True))
    ]
    return io.BytesIO(json.dumps(rows).encode())


def as_offsets(texts, spans):
    rows = [
        {"id": number, "text": text, "label": [list(span) for span in own]}
        for number, (text, own) in enumerate(zip(texts, spans, strict=True))
    ]
    return io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())


def true_corpus(texts, *sides):
    return bc.Corpus.from_spans(
        {f"{number}": side for number, side in enumerate(sides)},
        lengths=list(map(len, texts)),
        documents=[f"{number}" for number in range(len(texts))],
        positions="characters",
    )


def joint_placements_of(text, quotes, put):
    """Every way to place quotes, as sets of spans.

    `put` is where the reader put them: strings that cross there may cross.
    """
    places = {words: occurrences(text, words) for words, _ in quotes}
    at = {words: [p[:2] for p in put if text[p[0] : p[1]] == words] for words in places}
    may_cross = {
        (one, two)
        for one, two in product(at, repeat=2)
        if any(crosses(a, b) for a in at[one] for b in at[two])
    }
    number = Counter(words for words, _ in quotes)
    choices = [permutations(places[words], n) for words, n in number.items()]
    found = set()
    for chosen in product(*map(list, choices)):
        left = {words: list(own) for words, own in zip(number, chosen, strict=True)}
        spans = [(*left[words].pop(0), words, label) for words, label in quotes]
        if not any(crosses(a, b) and (a[2], b[2]) not in may_cross for a in spans for b in spans):
            found.add(frozenset((s, e, label) for s, e, _, label in spans))
    return [sorted(spans) for spans in found]


def read_case(texts, one, two, *, both):
    other = as_quotes("1", texts, two) if both else as_offsets(texts, two)
    return bc.read(as_quotes("0", texts, one), other)


def all_scores(corpus, texts, one, two, *, both, **scoring):
    """Observed and corrected scores of all joint placements."""
    sides = []
    for number, (side, is_quoted) in enumerate(((one, True), (two, both))):
        sides.append(
            [
                joint_placements_of(
                    text,
                    [(text[s:e], label) for s, e, label in own],
                    corpus.spans(str(d), corpus.annotators[number]),
                )
                if is_quoted
                else [own]
                for d, (text, own) in enumerate(zip(texts, side, strict=True))
            ]
        )
    for a, b in product(product(*sides[0]), product(*sides[1])):
        result = bc.agreement(true_corpus(texts, list(a), list(b)), **scoring)
        yield result.observed, result.corrected


def n_placements(texts, *sides):
    total = 1
    for side in sides:
        for text, own in zip(texts, side, strict=True):
            for words, n in Counter(text[s:e] for s, e, _ in own).items():
                for left in range(n):
                    total *= len(occurrences(text, words)) - left
    return total


def cases(number, *, both, n_documents=2, most=200):
    """Cases with something to choose and not too much of it, by seed."""
    seed = 0
    while number:
        rng = np.random.default_rng(seed)
        seed += 1
        texts, one, two = zip(*(generated(rng) for _ in range(n_documents)), strict=True)
        if 1 < n_placements(texts, one, *([two] if both else [])) <= most:
            number -= 1
            yield list(texts), list(one), list(two)


def check(texts, one, two, *, both, **scoring):
    corpus = read_case(texts, one, two, both=both)
    found = bc.placement_range(corpus, **scoring)
    observed, corrected = zip(
        *all_scores(corpus, texts, one, two, both=both, **scoring), strict=True
    )
    true = bc.agreement(true_corpus(texts, one, two), **scoring)
    assert found.is_exact
    assert found.observed == pytest.approx((min(observed), max(observed)), abs=1e-12)
    assert found.observed[0] - 1e-12 <= true.observed <= found.observed[1] + 1e-12
    if not any(map(isnan, corrected)):
        assert found.corrected == pytest.approx((min(corrected), max(corrected)), abs=1e-12)
        assert found.corrected[0] - 1e-12 <= true.corrected <= found.corrected[1] + 1e-12


@pytest.mark.slow
@each("both", [False, True])
def test_the_range_is_that_of_all_joint_placements_and_contains_the_truth(both):
    for texts, one, two in cases(8, both=both):
        check(texts, one, two, both=both)


@pytest.mark.long
@each("both", [False, True])
def test_the_range_of_many_cases(both):
    for texts, one, two in cases(200, both=both):
        check(texts, one, two, both=both)


@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_range_under_every_measure_and_scope(number):
    ways = product(MEASURES, SCOPES) if number > 1 else zip(MEASURES, cycle(SCOPES), strict=False)
    for (measure, scope), both in zip(ways, cycle([False, True]), strict=False):
        for texts, one, two in cases(number, both=both, most=40 if number > 1 else 8):
            check(texts, one, two, both=both, measure=measure, scope=scope)


@pytest.mark.slow
@each(("measure", "both"), zip(MEASURES, cycle([False, True]), strict=False))
def test_bounds_of_too_many_placements_contain_all_of_them(both, measure, monkeypatch):
    n_bounded = 0
    for texts, one, two in cases(9, both=both):
        corpus = read_case(texts, one, two, both=both)
        exact = bc.placement_range(corpus, measure=measure)
        with monkeypatch.context() as patch:
            patch.setattr(quote_clusters, "_enumerated", lambda *_: None)
            patch.setattr(quote_clusters, "_separate", lambda *_: None)
            patch.setattr(quote_clusters, "_of_one_string", lambda *_: None)
            outer = bc.placement_range(corpus, measure=measure)
        n_bounded += not outer.is_exact
        for name in ("observed", "corrected"):
            inner, bounds = getattr(exact, name), getattr(outer, name)
            if not isnan(inner[0]):
                assert bounds[0] - 1e-12 <= inner[0] <= inner[1] <= bounds[1] + 1e-12
        true = bc.agreement(true_corpus(texts, one, two), measure=measure)
        assert outer.observed[0] - 1e-12 <= true.observed <= outer.observed[1] + 1e-12
    # In others, quotes of one string and label fill its occurrences.
    assert n_bounded >= 7


@pytest.mark.slow
@each("measure", MEASURES)
def test_places_that_count_for_themselves_need_no_enumeration(measure, monkeypatch):
    """Of two ways to the same range."""
    n_separate = 0
    for texts, one, two in cases(6, both=False):
        corpus = read_case(texts, one, two, both=False)
        found = bc.placement_range(corpus, measure=measure)
        with monkeypatch.context() as patch:
            patch.setattr(quote_clusters, "_separate", lambda *_: None)
            patch.setattr(quote_clusters, "_of_one_string", lambda *_: None)
            enumerated = bc.placement_range(corpus, measure=measure)
        with monkeypatch.context() as patch:
            patch.setattr(quote_clusters, "_enumerated", lambda *_: None)
            n_separate += bc.placement_range(corpus, measure=measure).is_exact
        assert found.observed == pytest.approx(enumerated.observed, abs=1e-12)
        assert found.corrected == pytest.approx(enumerated.corrected, abs=1e-12, nan_ok=True)
    assert n_separate


def records(*texts_and_quotes):
    return [
        {"text": text, "entities": [{"text": words, "label": "PER"} for words in quotes]}
        for text, quotes in texts_and_quotes
    ]


def test_many_occurrences_of_one_name_are_exact():
    text = "Ann. " * 60 + "Bo saw none of them."
    corpus = bc.read(records((text, ["Ann"] * 30)), records((text, ["Ann"] * 60)))
    found = bc.placement_range(corpus, measure="exact")
    assert found.is_exact
    assert found.n_ambiguous == 30
    assert found.observed == pytest.approx((2 / 3, 2 / 3))


@pytest.mark.slow
def test_thousands_of_occurrences_are_quick_to_bound():
    text = "Ann. " * 3000
    corpus = bc.read(*[records((text, ["Ann"] * 1500))] * 2, positions="tokens")
    assert bc.placement_range(corpus, measure="exact").observed == (0.0, 1.0)


@each("both", [False, True])
def test_bounds_hold_where_chance_may_be_anything(both, monkeypatch):
    for texts, one, two in cases(4, both=both):
        corpus = read_case(texts, one, two, both=both)
        exact = bc.placement_range(corpus)
        with monkeypatch.context() as patch:
            patch.setattr(quote_clusters, "MOST_SHAPES", 0)
            patch.setattr(joint_placements, "MOST_SHAPES", 0)
            outer = bc.placement_range(corpus)
        if not isnan(exact.corrected[0]):
            assert outer.corrected[0] - 1e-12 <= exact.corrected[0]
            assert exact.corrected[1] <= outer.corrected[1] + 1e-12


@each(("a", "b", "low", "high"), [(30, 30, 0, 30), (40, 50, 30, 40)])
def test_many_occurrences_by_two_models_are_exact(a, b, low, high):
    """By how many of 60 places both can have chosen."""
    text = "Ann. " * 60 + "Bo saw none of them."
    corpus = bc.read(records((text, ["Ann"] * a)), records((text, ["Ann"] * b)))
    found = bc.placement_range(corpus, measure="exact")
    assert found.is_exact
    assert found.observed == pytest.approx((2 * low / (a + b), 2 * high / (a + b)))


def test_two_models_that_choose_among_the_same_places_need_no_enumeration(monkeypatch):
    text = "Ann saw Ann and Ann, Ann and Bo."
    for (a, b), measure in zip(product(range(1, 5), repeat=2), cycle(MEASURES), strict=False):
        corpus = bc.read(records((text, ["Ann"] * a)), records((text, ["Ann"] * b)))
        found = bc.placement_range(corpus, measure=measure)
        with monkeypatch.context() as patch:
            patch.setattr(quote_clusters, "_of_one_string", lambda *_: None)
            enumerated = bc.placement_range(corpus, measure=measure)
        assert found.is_exact, (a, b, measure)
        assert found.observed == pytest.approx(enumerated.observed, abs=1e-12), (a, b, measure)
        assert found.corrected == pytest.approx(enumerated.corrected, abs=1e-12), (a, b, measure)


def test_notes_say_that_bounds_are_bounds():
    text = "Ann. Lee. " * 60 + "Bo saw none of them."
    one = ["Ann"] * 30 + ["Ann. Lee"] * 3
    corpus = bc.read(records((text, one)), records((text, ["Ann"] * 30)))
    found = bc.placement_range(corpus, measure="exact")
    assert not found.is_exact
    low, high = found.observed
    (note,) = [
        str(note) for note in bc.agreement(corpus, measure="exact").notes if "quotes" in str(note)
    ]
    # Of corrected agreement, nothing is known but that it is not higher.
    assert found.corrected[0] == -inf
    assert_tells(note, f"63 … observed … {low:.3f} … {high:.3f}")
    assert "corrected" not in note


def test_three_models_are_placed_together():
    """All three agree, or no two of them: by hand."""
    text = "Ann saw Ann and Ann."
    corpus = bc.read(*[records((text, ["Ann"]))] * 3)
    found = bc.placement_range(corpus, measure="exact")
    assert found.observed == (0.0, 1.0)
    assert found.n_ambiguous == 3


def test_a_gold_standard_is_compared_with_each():
    text = "Ann saw Ann and Ann."
    corpus = bc.read(*[records((text, ["Ann"]))] * 3)
    two_of_three = bc.placement_range(corpus, gold="annotator 1", measure="exact")
    assert two_of_three.observed == (0.0, 1.0)
    assert two_of_three.n_ambiguous == 3


def test_without_quotes_that_may_be_elsewhere_the_range_is_the_score():
    corpus = bc.read(records(("Ann saw Bo.", ["Ann"])), records(("Ann saw Bo.", ["Ann", "Bo"])))
    result, found = bc.agreement(corpus), bc.placement_range(corpus)
    assert found == bc.PlacementRange((result.observed,) * 2, (result.corrected,) * 2, 0, True)
    assert not any("occurrences" in str(note) for note in result.notes)


def test_notes_say_the_range():
    text = "Ann saw Bo, and Ann left."
    corpus = bc.read(records((text, ["Ann"])), records((text, ["Ann"])))
    (note,) = [str(note) for note in bc.agreement(corpus).notes if "quotes" in str(note)]
    low, high = bc.placement_range(corpus).corrected
    assert low < high
    assert_tells(note, f"2 … corrected … {low:.3f} … {high:.3f}")


def test_notes_say_that_the_place_does_not_matter():
    text = "Ann saw Bo, and Ann left."
    corpus = bc.read(records((text, ["Ann"])), records((text, ["Ann", "Ann"])))
    result = bc.agreement(corpus)
    (note,) = [str(note) for note in result.notes if "quote" in str(note)]
    assert_tells(note, f"1 … wherever … corrected … {result.corrected:.3f}")


def test_models_that_forbid_overlap_forbid_such_placements():
    """Lee may be inside Ann Lee, but not under the disjoint model."""
    text = "Ann Lee saw Lee."
    corpus = bc.read(records((text, ["Ann Lee", "Lee"])), records((text, ["Ann Lee", "Lee"])))
    assert bc.placement_range(corpus, model="disjoint", measure="exact").observed == (1.0, 1.0)
    low, high = bc.placement_range(corpus, measure="exact").observed
    assert (low, high) == (0.5, 1.0)


@each("positions", ["tokens", "characters"])
def test_a_selection_keeps_where_quotes_may_be(positions):
    texts = "Ann saw Ann.", "Bo saw Ann and Ann."
    model = records((texts[0], ["Ann"]), (texts[1], ["Ann", "Bo"]))
    person = records((texts[0], ["Ann"] * 2), (texts[1], ["Ann"] * 2))
    corpus = bc.read(model, person, positions=positions)
    second = corpus.select(documents=["2"])
    assert bc.placement_range(second) == bc.placement_range(
        bc.read(model[1:], person[1:], positions=positions)
    )
    assert corpus.select(annotators=["annotator 2"]).alternatives is None
    parts = bc.Corpus.joined([corpus.select(documents=["1"]), second])
    assert bc.placement_range(parts) == bc.placement_range(corpus)
    renamed = corpus.rename_labels({"PER": "X"}, duplicates="skip")
    assert bc.placement_range(renamed) == bc.placement_range(corpus)


def test_joining_shifts_places_past_documents_without_quotes():
    known = bc.read(records(("Bo.", ["Bo"])), records(("Bo.", [])))
    quoted = bc.read(records(("Ann saw Ann.", ["Ann"])), records(("Ann saw Ann.", ["Ann"])))
    known = known.select(documents=["1"])
    object.__setattr__(known, "documents", ("other",))
    both = bc.Corpus.joined([known, quoted])
    assert both.alternatives.text.tolist() == [1] * 4
    assert bc.placement_range(both).n_ambiguous == 2


# --- Quotes that share places -------------------------------------------------


def quoted(text, *quotes):
    return [{"text": text, "entities": [{"text": w, "label": label} for w, label in quotes]}]


def test_strings_that_were_found_at_the_same_places_are_at_different_ones():
    """Lee and lee are two quotes of two places, whatever their labels: by hand."""
    text = "Lee saw Lee and so on"
    model = quoted(text, ("Lee", "P"), ("lee", "L"))
    corpus = bc.read(model, quoted(text, ("Lee", "P")))
    assert corpus.spans("1", "annotator 1") == [(0, 3, "P"), (8, 11, "L")]
    for model_of_chance in ("auto", "overlapping"):
        found = bc.placement_range(corpus, scope="unlabelled", model=model_of_chance)
        assert found.is_exact
        assert found.observed == pytest.approx((2 / 3, 2 / 3))
    assert bc.placement_range(corpus).observed == (0.0, pytest.approx(2 / 3))


def test_labels_that_are_more_than_the_places_may_share_one_or_not():
    """P is everywhere; L and M are at one place each, perhaps the same."""
    text = "Lee saw Lee and so on"
    model = quoted(text, ("Lee", "P"), ("Lee", "P"), ("Lee", "L"), ("Lee", "M"))
    offsets = as_offsets([text], [[(0, 3, "L"), (0, 3, "M")]])
    found = bc.placement_range(bc.read(as_stream(model), offsets, match="order"))
    assert found.observed == pytest.approx((0, 2 / 3))
    assert found.n_ambiguous == 2


def as_stream(rows):
    return io.BytesIO(json.dumps(rows).encode())


def test_quotes_of_different_strings_may_coincide():
    """LEE is at any of three places, and counts only once where lee or Lee is: by hand."""
    text = "Lee saw lee or Lee"
    model = quoted(text, ("Lee", "P"), ("Lee", "P"), ("lee", "P"), ("LEE", "P"))
    corpus = bc.read(as_stream(model), as_offsets([text], [[(0, 3, "P")]]), match="order")
    found = bc.placement_range(corpus, measure="exact")
    assert found.observed == (0.5, 0.5)


def test_two_parts_of_one_token_can_be_quoted():
    """Two quotes of n are in one Ann or in two, and one of them is left out if they are equal."""
    text = "Ann saw Bo and Ann or Lee"
    known = as_offsets([text], [[(0, 3, "P"), (0, 3, "L")]])
    options = {"positions": "tokens", "match": "order"}
    corpus = bc.read(as_stream(quoted(text, ("n", "P"), ("n", "L"))), known, **options)
    found = bc.placement_range(corpus)
    assert found.is_exact
    assert (found.observed, found.n_ambiguous) == ((0.0, 1.0), 2)
    known.seek(0)
    corpus = bc.read(as_stream(quoted(text, ("n", "P"), ("n", "P"))), known, **options)
    assert corpus.spans("1", corpus.annotators[0]) == [(0, 1, "P")]
    found = bc.placement_range(corpus)
    # In the first Ann, in both, or in the second only.
    assert found.observed == pytest.approx((0, 2 / 3))
    assert found.n_ambiguous == 2


def test_labels_that_become_one_keep_where_their_quotes_may_be():
    text = "Lee saw Lee and Lee so on"
    model = quoted(text, ("Lee", "P"), ("Lee", "L"), ("Lee", "M"), ("Lee", "N"))
    corpus = bc.read(as_stream(model), as_offsets([text], [[(0, 3, "P")]]), match="order")
    merged = corpus.rename_labels({"L": "P", "M": "P", "N": "P"})
    assert len(merged.spans("1", merged.annotators[0])) == 1
    # They are at one, two or three places, or not at the first.
    assert bc.placement_range(merged, measure="exact").observed == (0.0, 1.0)


# --- Chance of a whole corpus -------------------------------------------------


def wide_case(n_others):
    text = "Ann Lee saw Ann" + " " * 40 + "Lee so"
    others = [
        (f"{number} Bo was here today so", ["Bo was here today"]) for number in range(n_others)
    ]
    sides = records((text, ["ann lee"]), *others), records((text, ["so"]), *others)
    return bc.read(*sides, unit="corpus", positions="characters")


def wide_scores(corpus, text):
    """The scores at both places of the quote."""
    for start, end in ((0, 7), (text.index("saw") + 4, text.index("so") - 1)):
        own = (corpus.span_text == 0) & (corpus.span_annotator == 0)
        moved = replace(
            corpus,
            span_start=np.where(own, start, corpus.span_start),
            span_end=np.where(own, end, corpus.span_end),
            alternatives=None,
        )
        yield bc.agreement(moved).corrected


@each("n_others", [0, 8])
@each("most", [0, 50])
def test_chance_of_a_corpus_is_that_of_all_documents(n_others, most, monkeypatch):
    monkeypatch.setattr(joint_placements, "_MOST_CORPORA", most)
    corpus = wide_case(n_others)
    scores = sorted(wide_scores(corpus, corpus.texts[0]))
    found = bc.placement_range(corpus)
    assert found.is_exact == (most > 0)
    if most:
        assert found.corrected == pytest.approx(scores, abs=1e-12)
    assert found.corrected[0] <= scores[0] + 1e-12
    assert scores[1] - 1e-12 <= found.corrected[1] <= 1


def test_notes_say_what_is_observed_where_nothing_is_known_of_chance(monkeypatch):
    monkeypatch.setattr(joint_placements, "_MOST_CORPORA", 0)
    (note,) = [str(note) for note in bc.agreement(wide_case(8)).notes if "quote" in str(note)]
    assert_tells(note, "observed … 0.850 … 0.968")


# --- Work ---------------------------------------------------------------------


def work(n, monkeypatch):
    """Spans that are compared and placed for a quote in any of n longer ones, by two models."""
    text = "Ada Lovelace met Bo . " * n
    rows = records((text, ["Ada Lovelace"] * n + ["Ada"]))
    corpus = bc.read(rows, rows)
    total = 0

    def counted(function, cost):
        def called(*arguments):
            nonlocal total
            total += cost(*arguments)
            return function(*arguments)

        return called

    def of_matrix(one, two, *_):
        return sum(len(spots) for spots in one) * len(two) + sum(map(len, two)) * len(one)

    with monkeypatch.context() as patch:
        matrix, heaps = quote_clusters._matrix, quote_clusters._Heaps.of
        patch.setattr(quote_clusters, "_matrix", counted(matrix, of_matrix))
        patch.setattr(quote_clusters._Heaps, "of", counted(heaps, len))
        patch.setattr(quote_clusters, "_crosses", counted(quote_clusters._crosses, lambda *_: 1))
        found = bc.placement_range(corpus)
    return total, found


@pytest.mark.slow
def test_work_grows_with_the_text(monkeypatch):
    """Not with its third power."""
    (one, _), (two, found) = work(400, monkeypatch), work(800, monkeypatch)
    assert two <= 2.5 * one
    assert not found.is_exact
    assert 0.99 < found.corrected[0] < found.corrected[1] <= 1


def test_work_is_limited_where_placements_are_enumerated(monkeypatch):
    total, found = work(60, monkeypatch)
    assert found.is_exact
    assert total <= 2.5 * quote_clusters.MOST_PLACED


def test_data_are_taken_as_everywhere():
    text = "Ann saw Bo, and Ann left."
    one, two = records((text, ["Ann"])), records((text, ["Ann", "Ann"]))
    corpus = bc.read(one, two)
    expected = bc.placement_range(corpus, measure="exact")
    assert bc.placement_range(one, two, measure="exact") == expected
    assert bc.placement_range(corpus, gold="annotator 1", measure="exact") == expected
