"""Aligned spans and their kinds: drawn by hand, by an oracle, and by laws."""

import pickle
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import example, given, strategies as st

import beyondchance as bc
from beyondchance import Corpus, agreement, disagreements
from beyondchance.scoring.disagreements import KINDS
from each import each
from refusals import refused

PAIRED = ("agree", "label", "boundary", "both")


def two(a, b, n=40, **options):
    return Corpus.from_spans(
        {"ada": [a], "ben": [b]}, lengths=[n], **{"duplicates": "error", **options}
    )


def spans(found):
    """Rows as ``(kind, span of a, span of b)``."""
    return [
        (
            row["kind"],
            *(
                None
                if row[f"label_{side}"] is None
                else (row[f"start_{side}"], row[f"end_{side}"], row[f"label_{side}"])
                for side in "ab"
            ),
        )
        for row in found.to_rows()
    ]


# --- By hand ------------------------------------------------------------------


def test_every_kind():
    # ada  PPP..PPP..PPP..PPP..PPP.......
    # ben  PPP..QQQ..PPPP..QQQ......PPP..
    ada = [(start, start + 3, "P") for start in (0, 5, 10, 15, 20)]
    ben = [(0, 3, "P"), (5, 8, "Q"), (10, 14, "P"), (16, 19, "Q"), (25, 28, "P")]
    found = disagreements(two(ada, ben))
    assert spans(found) == [
        ("agree", (0, 3, "P"), (0, 3, "P")),
        ("label", (5, 8, "P"), (5, 8, "Q")),
        ("boundary", (10, 13, "P"), (10, 14, "P")),
        ("both", (15, 18, "P"), (16, 19, "Q")),
        ("missed", (20, 23, "P"), None),
        ("extra", None, (25, 28, "P")),
    ]
    assert found.by_kind() == dict.fromkeys(KINDS, 1)
    assert found.label_table() == {
        ("P", "P"): 2, ("P", "Q"): 2, ("P", None): 1, (None, "P"): 1,
    }  # fmt: skip
    assert found.by_pair() == {("ada", "ben"): found.by_kind()}
    assert (found.n_spans, found.documents, len(found)) == (10, ("0",), 6)


class TestOrder:
    """Which of several spans is the partner."""

    def test_an_equal_span_before_one_that_shares_as_much(self):
        # ada  PPPP....
        # ben  PPPP....
        # ben  PPPPPPPP
        found = disagreements(two([(0, 4, "P")], [(0, 8, "P"), (0, 4, "P")]))
        assert spans(found) == [
            ("extra", None, (0, 8, "P")),
            ("agree", (0, 4, "P"), (0, 4, "P")),
        ]

    def test_equal_offsets_before_an_equal_label(self):
        # ada  PPPP....
        # ben  QQQQ....
        # ben  PPPPPPPP
        found = disagreements(two([(0, 4, "P")], [(0, 8, "P"), (0, 4, "Q")]))
        assert ("label", (0, 4, "P"), (0, 4, "Q")) in spans(found)

    def test_an_equal_label_before_a_larger_overlap(self):
        # ada  PPPPPP
        # ben  QQQQQP     Q shares five positions, P one
        found = disagreements(two([(0, 6, "P")], [(0, 5, "Q"), (5, 6, "P")]))
        assert spans(found) == [
            ("extra", None, (0, 5, "Q")),
            ("boundary", (0, 6, "P"), (5, 6, "P")),
        ]

    def test_the_larger_overlap(self):
        # ada  PPPPPPP
        # ben  PP.PPPP
        found = disagreements(two([(0, 7, "P")], [(0, 2, "P"), (3, 7, "P")]))
        assert spans(found) == [
            ("extra", None, (0, 2, "P")),
            ("boundary", (0, 7, "P"), (3, 7, "P")),
        ]

    def test_of_equal_overlaps_the_closer(self):
        # ada  ...PPPP.....
        # ben  PPPPP.......    shares two, seven in all
        # ben  .....PPP....    shares two, five in all
        found = disagreements(two([(3, 7, "P")], [(0, 5, "P"), (5, 8, "P")]))
        assert ("boundary", (3, 7, "P"), (5, 8, "P")) in spans(found)

        # ada  ....PP
        # ben  PPPPP.    shares one, six in all
        # ben  .PPPP.    shares one, five in all
        found = disagreements(two([(4, 6, "P")], [(0, 5, "P"), (1, 5, "P")]))
        assert ("boundary", (4, 6, "P"), (1, 5, "P")) in spans(found)

    def test_of_equally_close_ones_the_first_in_the_text(self):
        # ada  ..PPPP..
        # ben  PPPP....
        # ben  ....PPPP
        for ben in ([(0, 4, "P"), (4, 8, "P")], [(4, 8, "P"), (0, 4, "P")]):
            found = disagreements(two([(2, 6, "P")], ben))
            assert ("boundary", (2, 6, "P"), (0, 4, "P")) in spans(found)

    def test_of_equal_offsets_the_first_labels(self):
        found = disagreements(two([(0, 2, "S"), (0, 2, "P")], [(0, 2, "R"), (0, 2, "Q")]))
        assert spans(found) == [
            ("label", (0, 2, "P"), (0, 2, "Q")),
            ("label", (0, 2, "S"), (0, 2, "R")),
        ]

    def test_a_chain_of_equal_overlaps(self):
        # ada  PPPP PPPP PPPP    each shares two positions with the one before and after
        # ben    PPPP PPPP PPPP
        ada = [(start, start + 4, "P") for start in range(0, 4000, 4)]
        ben = [(start + 2, start + 6, "P") for start in range(0, 4000, 4)]
        found = disagreements(two(ada, ben, n=5000))
        assert found.by_kind()["boundary"] == 1000
        assert all(b[0] - a[0] == 2 for _, a, b in spans(found))

    def test_two_pairs_that_share_more_in_all_than_the_two_that_share_most(self):
        # ada  PPPPPPPPP....    the long ones share five positions; each with a short one,
        # ada  .........PPPP    they make two pairs that share eight
        # ben  PPPP.........
        # ben  ....PPPPPPPPP
        found = disagreements(two([(0, 9, "P"), (9, 13, "P")], [(0, 4, "P"), (4, 13, "P")]))
        assert spans(found) == [
            ("boundary", (0, 9, "P"), (0, 4, "P")),
            ("boundary", (9, 13, "P"), (4, 13, "P")),
        ]


def test_spans_that_touch_do_not_meet():
    found = disagreements(two([(0, 3, "P")], [(3, 6, "P")]))
    assert [kind for kind, *_ in spans(found)] == ["missed", "extra"]


def test_texts_are_kept_apart():
    # The last position of one text and the first of the next.
    corpus = Corpus.from_spans(
        {"ada": [[(3, 5, "P")], []], "ben": [[], [(0, 2, "P")]]},
        lengths=[5, 5],
        documents=["d", "d"],
    )
    rows = disagreements(corpus).to_rows()
    assert [(row["text"], row["kind"]) for row in rows] == [(0, "missed"), (1, "extra")]


def test_a_span_marked_twice_has_two_partners_or_none():
    twice = [(0, 2, "P"), (0, 2, "P")]
    assert disagreements(two(twice, twice)).by_kind()["agree"] == 2
    found = disagreements(two(twice, twice[:1])).by_kind()
    assert (found["agree"], found["missed"]) == (1, 1)


def test_reading_order():
    corpus = Corpus.from_spans(
        {
            "ada": [[(6, 8, "P"), (0, 2, "P")], [(1, 2, "P")]],
            "ben": [[(3, 4, "P")], []],
            "cleo": [[(0, 2, "P")], None],
        },
        lengths=[9, 9],
        documents=["z", "y"],
    )
    columns = ("document", "start_a", "start_b", "a", "b")
    rows = disagreements(corpus).to_rows()
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("z", 0, None, "ada", "ben"),
        ("z", 0, 0, "ada", "cleo"),
        ("z", None, 0, "ben", "cleo"),
        ("z", None, 3, "ada", "ben"),
        ("z", 3, None, "ben", "cleo"),
        ("z", 6, None, "ada", "ben"),
        ("z", 6, None, "ada", "cleo"),
        ("y", 1, None, "ada", "ben"),
    ]  # fmt: skip


# --- Who is compared ----------------------------------------------------------

TEAM = Corpus.from_spans(
    {
        "ada": [[(0, 2, "P")], [(0, 1, "P")], None],
        "gold": [[(0, 2, "P")], [(0, 2, "Q")], [(0, 2, "P")]],
        "ben": [[], None, [(1, 2, "P")]],
    },
    lengths=[4, 4, 4],
)


class TestPairs:
    def test_those_who_share_a_document(self):
        found = disagreements(TEAM)
        assert found.pairs == (("ada", "gold"), ("ada", "ben"), ("gold", "ben"))
        assert found.by_pair()["ada", "ben"] == dict.fromkeys(KINDS, 0) | {"missed": 1}
        assert found.documents == ("0", "1", "2")

    def test_a_gold_standard_is_left_out_if_there_are_two_others(self):
        found = disagreements(TEAM.with_gold("gold"))
        assert (found.pairs, found.documents) == ((("ada", "ben"),), ("0",))
        assert "|gold:gold|" in found.signature

    def test_a_gold_standard_comes_first_if_there_is_one_other(self):
        found = disagreements(TEAM.select(annotators=["ada", "gold"]).with_gold("gold"))
        assert found.pairs == (("gold", "ada"),)
        assert [kind for kind, *_ in spans(found)] == ["agree", "both"]

    def test_chosen_ones(self):
        found = disagreements(TEAM.with_gold("gold"), pairs=[("ben", "gold"), ("ada", "gold")])
        assert set(found.pairs) == {("ben", "gold"), ("ada", "gold")}
        assert found.by_pair()["ben", "gold"] == dict.fromkeys(KINDS, 0) | {
            "extra": 1,
            "boundary": 1,
        }

    def test_an_annotator_who_marked_nothing(self):
        found = disagreements(two([], []))
        assert (len(found), found.pairs) == (0, (("ada", "ben"),))
        assert found.to_rows() == []
        assert found.label_table() == {}
        assert found.by_pair() == {("ada", "ben"): dict.fromkeys(KINDS, 0)}

    @each(
        ("pairs", "told"),
        [
            ("ada", "pairs hold 'a' … (a, b)"),
            (("ada", "ben"), "pairs hold 'ada' … (a, b)"),
            ([("ada", "ben", "gold")], "pairs hold … 'gold' … two"),
            ([("ada", "zoe")], "annotator 'zoe' … 'ada', 'gold', 'ben'"),
            ([("ada", "ada")], "two different"),
            ([("ada", "ben"), ("ben", "ada")], "('ben', 'ada') … twice"),
            (3, "pairs are 3"),
            ([], "pairs … empty"),
        ],
    )
    def test_what_is_no_pair(self, pairs, told):
        with refused(bc.OptionError, told):
            disagreements(TEAM, pairs=pairs)

    def test_no_annotators_to_compare(self):
        alone = TEAM.select(annotators=["ada"])
        with refused(bc.NothingSharedError, "one annotator … 'ada'"):
            disagreements(alone)
        apart = TEAM.select(documents=["1", "2"])
        with refused(bc.NothingSharedError, "'ada' and 'ben'"):
            disagreements(apart, pairs=[("ada", "gold"), ("ada", "ben")])
        with refused(bc.NothingSharedError, "'ada' annotated 1 … 'ben' annotated 1"):
            disagreements(apart.select(annotators=["ada", "ben"]))
        with refused(bc.NothingSharedError, "no document"):
            disagreements(Corpus.from_spans({"ada": [None], "ben": [None]}, lengths=[3]))

    def test_what_is_no_corpus(self):
        with refused(bc.NothingSharedError, "one annotator"):
            disagreements([["B-P"]])


# --- What rows hold -----------------------------------------------------------


class TestRows:
    def test_surface_of_tokens(self):
        row = disagreements(bc.example(), pairs=[("ada", "ben")]).to_rows()[0]
        assert row == {
            "document": "issue-01", "text": 0, "kind": "boundary", "a": "ada", "b": "ben",
            "start_a": 0, "end_a": 5, "label_a": "PERSON",
            "surface_a": "The retired teacher Marta Lindqvist",
            "start_b": 3, "end_b": 5, "label_b": "PERSON", "surface_b": "Marta Lindqvist",
        }  # fmt: skip

    def test_surface_of_characters(self):
        corpus = replace(two([(4, 8, "P")], [], n=9, positions="characters"), texts=("Dear Anna",))
        assert disagreements(corpus).to_rows()[0]["surface_a"] == " Ann"

    def test_every_surface_is_that_of_its_offsets(self):
        corpus = bc.example()
        words = [text.split(" ") for text in corpus.texts]
        found = disagreements(corpus)
        for text, row in zip(found.text.tolist(), found.to_rows(), strict=True):
            for side in "ab":
                start, end = row[f"start_{side}"], row[f"end_{side}"]
                expected = None if start is None else " ".join(words[text][start:end])
                assert row[f"surface_{side}"] == expected

    def test_no_surface_without_texts(self):
        corpus = bc.example()
        for unknown in (
            replace(corpus, texts=None),
            replace(corpus, token_start=None, token_end=None),
            replace(corpus, positions="frames"),
        ):
            columns = disagreements(unknown).to_dict()
            assert set(columns["surface_a"]) == set(columns["surface_b"]) == {None}

    def test_columns_and_rows_are_the_same(self):
        found = disagreements(bc.example())
        columns = found.to_dict()
        assert [tuple(row.values()) for row in found.to_rows()] == list(
            zip(*columns.values(), strict=True)
        )

    def test_only_some(self):
        found = disagreements(bc.example())
        missed = found.only(kinds=["missed", "extra"], labels=["PERSON"])
        assert len(missed) == found.label_table()["PERSON", None] + 2
        assert {row["kind"] for row in missed.to_rows()} == {"missed", "extra"}
        assert len(found.only(kinds="label", labels="PLACE")) == 2
        assert len(found.only(kinds=[])) == 0
        with refused(bc.OptionError, "kind 'wrong' … agree"):
            found.only(kinds=["wrong"])
        with refused(bc.OptionError, "label 'wrong' … 'EVENT'"):
            found.only(labels=["wrong"])

    def test_a_label_called_none_is_one(self):
        found = disagreements(two([(0, 2, "None")], [(0, 2, "no span"), (3, 4, "None")]))
        assert found.label_table() == {("None", "no span"): 1, (None, "None"): 1}

    def test_the_signature_has_what_moves_a_count(self):
        signature = disagreements(bc.example().select(labels=["PERSON"])).signature
        assert signature.startswith("beyondchance|unit:sentence|positions:tokens|scheme:IOB2|")
        assert "|labels:PERSON|" in signature
        assert bc.Settings.parse(signature).labels == ("PERSON",)

    def test_pickled_and_shown(self):
        found = disagreements(two([(0, 2, "P")], []))
        again = pickle.loads(pickle.dumps(found))  # noqa: S301
        assert again.to_rows() == found.to_rows()
        assert repr(found) == (
            "Disagreements(1 pairs of annotators: agree=0, label=0, boundary=0, both=0, missed=1, "
            "extra=0)"
        )


# --- The oracle ---------------------------------------------------------------


def pairings(a, b):
    """All ways to pair some spans of two lists that overlap, each once."""
    if not a:
        yield []
        return
    first, rest = a[0], a[1:]
    for found in pairings(rest, b):
        yield found
    for j, y in enumerate(b):
        if overlap(first, y):
            for found in pairings(rest, b[:j] + b[j + 1 :]):
                yield [(first, y), *found]


def overlap(x, y):
    return max(x[0], y[0]) < min(x[1], y[1])


def worth(pairs):
    """What pairs are worth by the rule as it is written down, most important first."""
    shared = [(x, y, min(x[1], y[1]) - max(x[0], y[0])) for x, y in pairs]
    return (
        sum(n for x, y, n in shared if x[2] == y[2]),
        sum(n for x, y, n in shared if x[2] != y[2]),
        -sum(max(x[1], y[1]) - min(x[0], y[0]) for x, y in pairs),
    )


def equal_ones(a, b, width):
    """Pairs of spans that are equal in their first parts, in order; and what is left."""
    pairs, rest = [], sorted(b)
    for x in sorted(a):
        y = next((y for y in rest if y[:width] == x[:width]), None)
        if y is not None:
            rest.remove(y)
            pairs.append((x, y))
    return pairs, list((Counter(a) - Counter(x for x, _ in pairs)).elements()), rest


def check_rows(rows, a, b):
    """Whether rows are the spans of two lists, aligned as well as can be."""
    assert Counter(x for _, x, _ in rows if x is not None) == Counter(a)
    assert Counter(y for _, _, y in rows if y is not None) == Counter(b)
    pairs = Counter((x, y) for _, x, y in rows if x is not None and y is not None)
    for width in (3, 2):
        equal, a, b = equal_ones(a, b, width)
        assert not Counter(equal) - pairs
        pairs -= Counter(equal)
    assert worth([*pairs.elements()]) == max(map(worth, pairings(a, b)))
    for kind, x, y in rows:
        if x is None or y is None:
            assert kind == ("extra" if x is None else "missed")
        else:
            assert kind == PAIRED[2 * (x[:2] != y[:2]) + (x[2] != y[2])]


@st.composite
def any_spans(draw, n, most=5):
    """Spans that may overlap, be nested, and occur twice."""
    found = []
    for _ in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, n - 1))
        found.append((start, draw(st.integers(start + 1, n)), draw(st.sampled_from("PQR"))))
    return found


@st.composite
def corpora(draw, most_annotators=3):
    """Documents of one or two texts, some of which one annotator did not annotate."""
    n_documents = draw(st.integers(1, 3))
    sizes = [draw(st.lists(st.integers(1, 9), min_size=1, max_size=2)) for _ in range(n_documents)]
    lengths = [n for document in sizes for n in document]
    documents = [f"d{i}" for i, document in enumerate(sizes) for _ in document]
    names = ["ada", "ben", "cleo"][: draw(st.integers(2, most_annotators))]
    made = {}
    for name in names:
        seen = [name != "cleo" or draw(st.booleans()) for _ in sizes]
        made[name] = [
            draw(any_spans(n)) if seen[int(document[1:])] else None
            for n, document in zip(lengths, documents, strict=True)
        ]
    return made, lengths, documents


def build(made, lengths, documents):
    return Corpus.from_spans(made, lengths=lengths, documents=documents, duplicates="error")


def rows_of(found):
    """Rows as a multiset, whatever their order."""
    return Counter(tuple(row.items()) for row in found.to_rows())


def mirrored(rows):
    """The same rows with a and b exchanged."""
    swap = {"missed": "extra", "extra": "missed"}
    exchanged: Counter = Counter()
    for items, number in rows.items():
        row = dict(items)
        other = {
            name: row[name[:-1] + {"a": "b", "b": "a"}[name[-1]]]
            if name in {"a", "b"} or name[-2:] in {"_a", "_b"}
            else row[name]
            for name in row
        }
        other["kind"] = swap.get(row["kind"], row["kind"])
        exchanged[tuple(other.items())] += number
    return exchanged


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(any_spans(n), any_spans(n))))
@example(([(0, 2, "P"), (0, 2, "Q")], [(0, 2, "R"), (1, 3, "P")]))
@example(([(0, 3, "P"), (3, 6, "Q")], [(1, 5, "P"), (2, 6, "P"), (0, 5, "Q")]))
def test_the_rule_as_it_is_written_down(sides):
    check_rows(spans(disagreements(two(*sides))), *sides)


@given(corpora())
def test_teams_are_pairs_texts_are_apart(made):
    sides, _, documents = made
    found = disagreements(build(*made))
    rows = {}
    for row, span in zip(found.to_rows(), spans(found), strict=True):
        rows.setdefault((row["document"], row["text"], row["a"], row["b"]), []).append(span)
    for a, b in combinations(sides, 2):
        for text, document in enumerate(documents):
            if sides[a][text] is not None and sides[b][text] is not None:
                number = text - documents.index(document)
                own = rows.pop((document, number, a, b), [])
                check_rows(own, sides[a][text], sides[b][text])
    assert not rows


# --- Laws ---------------------------------------------------------------------


@given(corpora())
def test_counts_add_up_to_the_spans_of_both(made):
    found = disagreements(build(*made))
    sides, _, documents = made
    for (a, b), counts in found.by_pair().items():
        shared = [
            text
            for text in range(len(documents))
            if sides[a][text] is not None and sides[b][text] is not None
        ]
        n_a, n_b = (sum(len(sides[name][text]) for text in shared) for name in (a, b))
        in_pairs = sum(counts[kind] for kind in PAIRED)
        assert in_pairs + counts["missed"] == n_a
        assert in_pairs + counts["extra"] == n_b
    total = Counter()
    for counts in found.by_pair().values():
        total.update(counts)
    assert total == Counter(found.by_kind())
    assert sum(found.label_table().values()) == len(found)


@given(corpora(), st.randoms())
def test_no_order_matters(made, dice):
    sides, lengths, documents = made
    found = rows_of(disagreements(build(*made)))
    # Spans within each text, and whole documents.
    texts = list(range(len(documents)))
    names = sorted(set(documents))
    dice.shuffle(names)
    texts.sort(key=lambda text: names.index(documents[text]))
    shuffled = {
        name: [None if side[t] is None else dice.sample(side[t], len(side[t])) for t in texts]
        for name, side in sides.items()
    }
    other = build(shuffled, [lengths[t] for t in texts], [documents[t] for t in texts])
    assert rows_of(disagreements(other)) == found


@given(corpora(), st.randoms())
def test_rows_keep_their_order_whatever_that_of_the_spans(made, dice):
    sides, lengths, documents = made
    shuffled = {
        name: [None if found is None else dice.sample(found, len(found)) for found in side]
        for name, side in sides.items()
    }
    found = disagreements(build(shuffled, lengths, documents))
    assert found.to_rows() == disagreements(build(*made)).to_rows()


@given(corpora())
def test_exchanging_annotators_mirrors(made):
    sides, lengths, documents = made
    found = rows_of(disagreements(build(*made)))
    backwards = build(dict(reversed(sides.items())), lengths, documents)
    assert rows_of(disagreements(backwards)) == mirrored(found)
    corpus = build(*made)
    swapped = [(b, a) for a, b in disagreements(corpus).pairs]
    assert rows_of(disagreements(corpus, pairs=swapped)) == mirrored(found)


@given(corpora())
def test_agree_is_the_exact_match(made):
    sides, lengths, documents = made
    # Scoring refuses spans that were marked twice.
    once = {
        name: [None if spans is None else sorted(set(spans)) for spans in side]
        for name, side in sides.items()
    }
    corpus = build(once, lengths, documents)
    by_pair = agreement(corpus, measure="exact", model="overlapping").by_pair
    for pair, counts in disagreements(corpus).by_pair().items():
        matched = by_pair[pair].matched if pair in by_pair else 0
        assert counts["agree"] == matched


@given(corpora())
def test_rows_are_in_reading_order(made):
    found = disagreements(build(*made))
    places = [
        (text, min(start for start in (row["start_a"], row["start_b"]) if start is not None))
        for text, row in zip(found.text.tolist(), found.to_rows(), strict=True)
    ]
    assert places == sorted(places)


def test_who_shares_nothing_with_the_gold_standard_is_left_out():
    spans = {"g": [[(0, 3, "P")], None], "b": [[(1, 3, "P")]] * 2, "c": [None, [(1, 2, "P")]]}
    corpus = Corpus.from_spans(spans, lengths=[9, 9])
    assert disagreements(corpus, gold="g").pairs == (("g", "b"),)


def test_the_arguments_stay_as_they_are():
    corpus = bc.example()
    before = [column.copy() for column in (corpus.span_start, corpus.span_end, corpus.span_label)]
    disagreements(corpus)
    after = (corpus.span_start, corpus.span_end, corpus.span_label)
    assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))


# --- What it costs ------------------------------------------------------------


def test_some_rows_do_not_copy_the_columns_of_the_corpus():
    n = 20_000
    corpus = Corpus.from_columns(
        text=np.repeat(np.arange(n), 2),
        annotator=["ada", "ben"] * n,
        start=[0] * 2 * n,
        end=[1, 2] * n,
        label=["P"] * 2 * n,
        lengths=[3] * n,
    )
    corpus = replace(
        corpus,
        texts=("a b c",) * n,
        token_start=np.tile([0, 2, 4], n),
        token_end=np.tile([1, 3, 5], n),
    )
    found = disagreements(corpus)
    found.to_dict()
    few = found[:5]
    tracemalloc.start()
    try:
        assert few.to_dict()["surface_b"] == ["a b"] * 5
        assert few.only(labels=["P"]).label_table() == {("P", "P"): 5}
        assert few.n_spans == 10
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < n  # bytes; a column has eight for each of 2 n spans
