"""What the document view is given: documents as numbers."""

import json
import re
import tracemalloc
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, strategies as st

from beyondchance import Corpus, adjudicated, agreement, disagreements, example, read
from beyondchance.page.documents import document_view
from beyondchance.page.gather import overview
from beyondchance.scoring.disagreements import KINDS
from refusals import assert_tells

HOSTILE = "</script><script>window.hacked=1</script>\"'&<img src=x onerror=hack()>\u2028{{7*7}}"


def with_words(corpus, texts):
    """A corpus of tokens with its texts, which have one blank between tokens."""
    starts, ends = [], []
    for text in texts:
        place = 0
        for word in text.split(" "):
            starts.append(place)
            ends.append(place + len(word))
            place += len(word) + 1
    return replace(
        corpus, texts=tuple(texts), token_start=np.array(starts), token_end=np.array(ends)
    )


def spans_of(payload, document):
    """The spans of a document in the payload, as (text, annotator, start, end, label)."""
    counts, *columns = document[4]
    texts = [text for text, n in enumerate(counts) for _ in range(n)]
    return [
        (text, payload["annotators"][who], start, start + length, payload["labels"][label])
        for text, who, label, start, length in zip(texts, *columns, strict=True)
    ]


def rows_of(payload, document):
    """The rows of a document in the payload, as (kind, a, b, span of a, span of b)."""
    spans = [*spans_of(payload, document), None]  # the last for -1
    return [
        (
            payload["kinds"][kind],
            *(payload["annotators"][who] for who in payload["pairs"][pair]),
            spans[a],
            spans[b],
        )
        for pair, kind, a, b in zip(*document[5], strict=True)
    ]


def expected_rows(found, name):
    """The same, as the table of disagreements has them."""

    def span(row, side):
        if row[f"label_{side}"] is None:
            return None
        return (row["text"], row[side], *(row[f"{c}_{side}"] for c in ("start", "end", "label")))

    return [
        (row["kind"], row["a"], row["b"], span(row, "a"), span(row, "b"))
        for row in found.to_rows()
        if row["document"] == name and row["kind"] != "agree"
    ]


@st.composite
def corpora(draw):
    """Two to four annotators, some of whom skip documents of one or two texts of ten tokens."""
    names = ["ada", "ben", "cleo", "dan"][: draw(st.integers(2, 4))]
    documents = [
        f"d{i}" for i in range(draw(st.integers(1, 4))) for _ in range(draw(st.integers(1, 2)))
    ]
    span = st.tuples(st.integers(0, 7), st.integers(1, 3), st.sampled_from("PQ")).map(
        lambda s: (s[0], s[0] + s[1], s[2])
    )
    saw = {
        name: {d: i < 2 or draw(st.booleans()) for d in documents} for i, name in enumerate(names)
    }
    spans = {
        name: [draw(st.lists(span, max_size=4)) if saw[name][d] else None for d in documents]
        for name in names
    }
    return Corpus.from_spans(spans, lengths=[10] * len(documents), documents=documents)


class TestPayload:
    def test_by_hand(self):
        """Ben's first span is shorter, and he overlooked the place: in the second document.

        ada  PP.L
        ben  .P..
        """
        tags = {
            "ada": [["B-P"], ["B-P", "I-P", "O", "B-L"]],
            "ben": [["B-P"], ["O", "B-P", "O", "O"]],
        }
        corpus = with_words(Corpus.from_tags(tags), ["Ada", "the mayor of Osterby"])
        payload = json.loads(document_view(disagreements(corpus)).payload)
        assert payload["labels"] == ["L", "P"]
        assert payload["pairs"] == [[0, 1]]
        # Spans: ada's P from 0, ben's from 1, ada's L from 3. Rows: boundary, missed.
        # Places: the first two spans, and the last.
        assert payload["documents"] == [
            [1, "1", [0, 1], ["the mayor of Osterby"],
             [[3], [0, 1, 0], [1, 1, 0], [0, 1, 3], [2, 1, 1]],
             [[0, 0], [2, 4], [0, 2], [1, -1]], [2, 1]],
            [0, "0", [0, 1], ["Ada"], [[2], [0, 1], [1, 1], [0, 0], [1, 1]], [[], [], [], []], [2]],
        ]  # fmt: skip

    @pytest.mark.slow
    def test_memory_follows_the_annotations(self, tmp_path):
        """Not documents times annotators: each of many documents has two of many annotators."""

        def peak_of(n):
            rows = [
                f"d{i},{who}{i},{start},{start + 2},P,9"
                for i in range(n)
                for start, who in enumerate(("a", "b"))
            ]
            header = "document,annotator,start,end,label,length"
            (tmp_path / "crowd.csv").write_text("\n".join([header, *rows]))
            found = disagreements(read(tmp_path / "crowd.csv", empty="missing"))
            tracemalloc.start()
            try:
                view = document_view(found, top=10)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert view.sentence == f"the 10 most contested of {n:,} documents"
            return peak

        # Documents times annotators would be four times as many.
        assert peak_of(2000) < 2.2 * peak_of(1000)

    @given(corpora(), st.integers(1, 5))
    def test_rows_and_spans_are_those_of_the_corpus(self, corpus, top):
        found = disagreements(corpus)
        payload = json.loads(document_view(found, top=top).payload)
        assert len(payload["documents"]) == min(top, len(found.documents))
        for document in payload["documents"]:
            number, name, present, texts, *_ = document
            assert corpus.documents[number] == name
            assert tuple(corpus.annotators[i] for i in present) == corpus.annotators_of(name)
            rows = expected_rows(found, name)
            assert rows_of(payload, document) == rows
            spans = spans_of(payload, document)
            assert spans == sorted(spans, key=lambda s: (s[0], s[2], -s[3]))
            places, reach = [], (-1, 0)
            for text, _, start, end, _ in spans:
                if text == reach[0] and start < reach[1]:
                    places[-1] += 1
                    reach = text, max(end, reach[1])
                else:
                    places.append(1)
                    reach = text, end
            assert document[6] == places
            first = corpus.documents.index(name)
            own = [t for t, d in enumerate(corpus.text_document.tolist()) if d == first]
            assert texts == [10] * len(own)
            assert sorted(spans) == sorted(
                (
                    own.index(text),
                    corpus.annotators[corpus.span_annotator[i]],
                    int(corpus.span_start[i]),
                    int(corpus.span_end[i]),
                    corpus.labels[corpus.span_label[i]],
                )
                for i, text in enumerate(corpus.span_text.tolist())
                if text in own
            )

    @given(corpora())
    def test_what_is_in_no_row_agrees(self, corpus):
        found = disagreements(corpus)
        payload = json.loads(document_view(found).payload)
        agreeing = 0
        for document in payload["documents"]:
            rows, spans = rows_of(payload, document), spans_of(payload, document)
            for pair in payload["pairs"]:
                a, b = (payload["annotators"][i] for i in pair)
                if not set(pair) <= set(document[2]):
                    continue
                taken = [row[3] for row in rows if row[1:3] == (a, b) and row[3]]
                agreeing += sum(span[1] == a for span in spans) - len(taken)
        assert agreeing == found.by_kind()["agree"]

    @given(corpora())
    def test_most_contested_first_then_in_the_order_of_the_corpus(self, corpus):
        found = disagreements(corpus)
        view = document_view(found)
        numbers = [document[0] for document in json.loads(view.payload)["documents"]]
        places = found.places.only(kinds=["label", "boundary", "both", "missing"])
        count = dict.fromkeys(found.documents, 0)
        for text in places.text.tolist():
            count[corpus.documents[corpus.text_document[text]]] += 1
        assert [corpus.documents[i] for i in numbers] == sorted(
            found.documents, key=lambda name: (-count[name], corpus.documents.index(name))
        )
        assert view.numbers == {corpus.documents[i]: i for i in numbers}

    def test_tokens_with_gaps_of_their_own(self):
        corpus = Corpus.from_tags({"ada": [["B-P", "O", "O"]], "ben": [["O", "O", "O"]]})
        corpus = replace(
            corpus,
            texts=("  (old  town)",),
            token_start=np.array([2, 3, 8]),
            token_end=np.array([3, 6, 13]),
        )
        text = json.loads(document_view(disagreements(corpus)).payload)["documents"][0][3][0]
        assert text == ["  ", "(", "", "old", "  ", "town)", ""]

    def test_a_token_with_a_blank_in_it_is_not_cut(self):
        corpus = Corpus.from_tags({"ada": [["B-P", "O"]], "ben": [["O", "O"]]})
        corpus = replace(
            corpus,
            texts=("New York is",),
            token_start=np.array([0, 9]),
            token_end=np.array([8, 11]),
        )
        text = json.loads(document_view(disagreements(corpus)).payload)["documents"][0][3][0]
        assert text == ["", "New York", " ", "is", ""]

    @pytest.mark.parametrize(
        "changes",
        [{"texts": None}, {"token_start": None, "token_end": None}, {"positions": "frames"}],
    )
    def test_lengths_where_spans_cannot_be_found_in_texts(self, changes):
        corpus = replace(example(), **changes)
        view = document_view(disagreements(corpus))
        for number, _, _, texts, *_ in json.loads(view.payload)["documents"]:
            assert texts == corpus.text_length[corpus.text_document == number].tolist()
        assert "Osterby" not in view.payload

    def test_a_gold_standard_against_systems(self):
        corpus = example().with_gold("ada")
        found = disagreements(corpus, pairs=[("ada", "ben"), ("ada", "cleo")])
        payload = json.loads(document_view(found).payload)
        assert payload["pairs"] == [[0, 1], [0, 2]]
        # A gold standard that is not compared has no lane.
        found = overview(agreement(corpus), corpus, resamples=99, others=()).disagreements
        payload = json.loads(document_view(found).payload)
        assert payload["annotators"] == ["ben", "cleo"]
        assert payload["pairs"] == [[0, 1]]
        assert {who for document in payload["documents"] for who in document[4][1]} == {0, 1}


class TestDeciding:
    def deciding(self, corpus, **options):
        return json.loads(document_view(disagreements(corpus), **options).payload)["decide"]

    @given(corpora())
    def test_what_each_place_is_worth(self, corpus):
        """In millionths, in the order of places that the page has."""
        found = disagreements(corpus)
        payload = json.loads(document_view(found).payload)
        places, worth = found.places, payload["decide"]["worth"]
        if np.isnan(places.worth).any():
            assert worth is None
            return
        whose = corpus.text_document[places.text]
        for document, own in zip(payload["documents"], worth, strict=True):
            expected = places.worth[whose == document[0]] * 1e6
            assert own == pytest.approx(expected.tolist(), abs=0.5000001)
            assert len(own) == len(document[6])

    def test_worth_that_is_not_known(self):
        assert self.deciding(example())["worth"] is not None
        assert self.deciding(replace(example(), unit="corpus"))["worth"] is None

    def test_what_a_table_of_gold_needs(self):
        """Whether it has the texts, as tables that are written, and if documents are missing."""
        spans = {"ada": [[(0, 3, "P")], [(0, 3, "P")]], "ben": [[], None]}
        corpus = Corpus.from_spans(spans, texts=["Ada met", "Ben met"])
        assert self.deciding(corpus)["inText"] is True
        assert self.deciding(corpus, texts=False)["inText"] is False
        assert self.deciding(example())["inText"] is False  # tokens that the file has
        # Of the second document there is one version only, so that it is not on the page.
        assert self.deciding(corpus)["absent"] == 1
        assert self.deciding(example())["absent"] == 0
        assert self.deciding(example(), top=2)["absent"] == 10


class TestSelection:
    def test_sentences(self):
        found = disagreements(example())
        assert document_view(found).sentence == "all 12 documents"
        assert document_view(found, top=1).sentence == "the most contested of 12 documents"
        one = disagreements(example().select(documents=["issue-01"]))
        assert document_view(one).sentence == "the one document"

    def test_characters_end_the_choice_but_one_is_always_there(self):
        found = disagreements(example())
        corpus = found.corpus
        lengths = np.bincount(corpus.text_document, weights=[len(t) for t in corpus.texts])
        first, second = (d[0] for d in json.loads(document_view(found).payload)["documents"][:2])
        both = int(lengths[first] + lengths[second])
        for most, shown in ((0, 1), (both - 1, 1), (both, 2), (both + 1, 2)):
            view = document_view(found, most_characters=most)
            assert len(view.numbers) == shown
        assert_tells(view.sentence, "the 2 most contested of 12 documents … room")
        assert len(document_view(found, texts=False, most_characters=0).numbers) == 12

    @given(corpora(), st.integers(1, 5))
    def test_places_are_counted_over_the_whole_corpus(self, corpus, top):
        """By hand: stretches of positions that somebody marked, where not all marked the same."""
        differing = 0
        for text, document in enumerate(corpus.text_document.tolist()):
            team = corpus.annotators_of(corpus.documents[document])
            spans = sorted(
                (start, end, label, corpus.annotators[who])
                for t, start, end, label, who in zip(
                    corpus.span_text.tolist(),
                    corpus.span_start.tolist(),
                    corpus.span_end.tolist(),
                    corpus.span_label.tolist(),
                    corpus.span_annotator.tolist(),
                    strict=True,
                )
                if t == text
            )
            cuts = {start for start, *_ in spans} - {
                i for start, end, *_ in spans for i in range(start + 1, end)
            }
            for first in sorted(cuts):
                last = min([c for c in cuts if c > first], default=99)
                here = [span for span in spans if first <= span[0] < last]
                versions = {tuple(s[:3] for s in here if s[3] == who) for who in team}
                differing += len(versions) > 1
        view = document_view(disagreements(corpus), top=top)
        assert view.n_places == differing
        nothing = {"beyondchance": "decisions", "format": 1, "unit": corpus.unit, "decisions": []}
        gold = adjudicated(corpus, nothing | {"positions": corpus.positions})
        assert gold.n_places == differing

    def test_the_same_twice(self):
        assert document_view(disagreements(example())) == document_view(disagreements(example()))

    @pytest.mark.slow
    def test_3450_sentences_of_eight_annotators_are_less_than_a_megabyte(self):
        rng = np.random.default_rng(8)
        n, words = 3450, 13
        vocabulary = np.array(
            ["".join(rng.choice(list("etaoin"), rng.integers(2, 9))) for _ in range(500)]
        )
        texts = [" ".join(row) for row in vocabulary[rng.integers(0, 500, (n, words))]]
        marked = [
            (t, s, s + 1 + s % 2, "PQRS"[s % 4]) for t in range(n) for s in (t % 5, 6 + t % 4)
        ]
        columns = []
        for who in range(8):
            shift, left_out = rng.random((2, len(marked))) < 0.1
            columns += [
                (t, f"system-{who}", start + int(moved), end + int(moved), label)
                for (t, start, end, label), moved, gone in zip(marked, shift, left_out, strict=True)
                if not gone
            ]
        text, annotator, start, end, label = zip(*columns, strict=True)
        corpus = Corpus.from_columns(
            text=text, annotator=annotator, start=start, end=end, label=label, lengths=[words] * n,
            documents=[str(i // 15) for i in range(n)],
        )  # fmt: skip
        found = disagreements(
            with_words(corpus, texts), pairs=[("system-0", f"system-{i}") for i in range(1, 8)]
        )
        view = document_view(found)
        assert len(view.numbers) == 230
        assert len(view.payload.encode()) < 1_000_000


class TestSafety:
    def hostile(self):
        corpus = Corpus.from_spans(
            {HOSTILE: [[(0, 9, f"x{HOSTILE}")]], "ben": [[(2, 9, "y😀\ud800")]]},
            lengths=[len(HOSTILE) + 1],
            documents=[f"z{HOSTILE}"],
            positions="characters",
        )
        return document_view(disagreements(replace(corpus, texts=(HOSTILE + "\udfff",))))

    def test_the_payload_cannot_leave_its_element(self):
        payload = self.hostile().payload
        assert not re.search("[<>&\u2028\u2029]", payload)
        payload.encode()  # lone surrogates are escaped
        read = json.loads(payload)
        assert read["labels"] == [f"x{HOSTILE}", "y😀\ud800"]
        assert read["documents"][0][1] == f"z{HOSTILE}"
        assert read["documents"][0][3] == [HOSTILE + "\udfff"]

    def test_without_texts_no_word_of_them(self):
        corpus = example()
        texts = [" ".join(f"xq{i}" for i, _ in enumerate(text.split(" "))) for text in corpus.texts]
        found = disagreements(with_words(corpus, texts))
        assert "xq3" in document_view(found).payload
        view = document_view(found, texts=False)
        assert "xq" not in view.payload

    @pytest.mark.parametrize("name", ["documents.js", "decide.js"])
    def test_the_script_builds_elements_and_never_reads_html(self, name):
        script = files("beyondchance.page").joinpath(name).read_text("utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                    "Function(", "http:", "https:", "fetch("):  # fmt: skip
            assert way not in script


def test_every_kind_has_its_words():
    payload = json.loads(document_view(disagreements(example())).payload)
    assert list(payload["phrases"]) == list(KINDS) == payload["kinds"]
    assert_tells(payload["phrases"]["missed"], "only {a}")


def test_against_a_gold_standard_spans_are_missed_or_extra():
    sides = {"ada": [[(0, 1, "P")], []], "ben": [[], [(0, 1, "P")]]}
    corpus = Corpus.from_spans(sides, lengths=[2] * 2, documents=["d"] * 2, unit="sentence")
    found = json.loads(document_view(disagreements(corpus.with_gold("ada"))).payload)
    assert (found["isAgainstGold"], found["kindNames"]["missed"]) == (True, "missed")
    assert_tells(found["phrases"]["missed"], "missed: {b} has no span")
    assert_tells(found["phrases"]["extra"], "extra: {b} marked")
