"""Corpora joined, and views of large corpora: the same as at once, without a quadratic step."""

import sys
from dataclasses import replace

import numpy as np
from hypothesis import given, strategies as st

from beyondchance import Corpus, DataError, MismatchError, agreement
from beyondchance.annotations.corpus import Input
from beyondchance.messages import Note, Quote
from refusals import refused

COLUMNS = (
    "text_document", "text_length", "annotation_document", "annotation_annotator", "span_text",
    "span_annotator", "span_label", "span_start", "span_end",
)  # fmt: skip


def numbered(first, end, names=("anna", "ben")):
    """Documents with two texts and a span of each annotator in the second, every third none."""
    numbers = [n for n in range(first, end) if n % 3]
    return Corpus.from_columns(
        text=[2 * (n - first) + 1 for n in numbers for _ in names],
        annotator=[name for _ in numbers for name in names],
        start=[n % 5 for n in numbers for _ in names],
        end=[n % 5 + 1 + place for n in numbers for place in range(len(names))],
        label=[f"L{(n + place) % 4}" for n in numbers for place in range(len(names))],
        lengths=[3, 9] * (end - first),
        documents=[f"d{n}" for n in range(first, end) for _ in range(2)],
        annotators=names,
        fields={"round": [str(n % 2) for n in range(first, end)]},
        unit="sentence",
    )


def assert_equal(one, other):
    assert one.documents == other.documents
    assert one.annotators == other.annotators
    assert one.labels == other.labels
    assert one.fields == other.fields
    for name in COLUMNS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


class Counted(np.ndarray):
    """An array that counts the values that pass through it."""

    work = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        Counted.work += max(np.size(value) for value in inputs)
        plain = [np.asarray(value) for value in inputs]
        return np.asarray(getattr(ufunc, method)(*plain, **options)).view(Counted)

    def __getitem__(self, key):
        values = super().__getitem__(key)
        Counted.work += np.size(values)
        return values


def work_of(function, corpora):
    """Lines of Python that run, and values that pass through the columns."""
    counted = [
        replace(part, **{name: getattr(part, name).view(Counted) for name in COLUMNS})
        for part in corpora
    ]
    lines = 0

    def trace(_frame, event, _argument):
        nonlocal lines
        lines += event == "line"
        return trace

    Counted.work = 0
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(counted)
    finally:
        sys.settrace(before)
    return lines + Counted.work


class TestJoined:
    def test_ten_thousand_documents_to_ten_thousand(self):
        parts = numbered(0, 10_000), numbered(10_000, 20_000)
        assert_equal(Corpus.joined(parts), numbered(0, 20_000))

    def test_many_small_ones(self):
        parts = [numbered(n, n + 1) for n in range(30)]
        joined = Corpus.joined(iter(parts))
        assert_equal(joined, numbered(0, 30))
        assert agreement(joined).corrected == agreement(numbered(0, 30)).corrected

    @given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    def test_cuts_do_not_matter(self, sizes):
        ends = np.cumsum(sizes).tolist()
        parts = [numbered(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        assert_equal(Corpus.joined(parts), numbered(0, ends[-1]))

    def test_work_grows_with_the_documents(self):
        def work(n):
            return work_of(Corpus.joined, [numbered(i, i + 1) for i in range(n)])

        assert work(400) < 2.5 * work(200)

    def test_one_alone(self):
        assert_equal(Corpus.joined([numbered(0, 4)]), numbered(0, 4))

    def test_other_annotators_and_labels(self):
        one = numbered(0, 4, ("ben", "anna"))
        other = numbered(4, 8, ("anna", "cleo", "ben"))
        joined = Corpus.joined([one, other])
        assert joined.annotators == ("ben", "anna", "cleo")
        assert joined.annotators_of("d1") == ("ben", "anna")
        assert joined.annotators_of("d5") == ("ben", "anna", "cleo")
        for part in (one, other):
            for document in part.documents:
                for annotator in part.annotators_of(document):
                    spans = part.spans(document, annotator)
                    assert joined.spans(document, annotator) == spans

    def test_what_else_a_corpus_knows(self):
        def known(corpus, text, name, **other):
            return replace(
                corpus,
                texts=(text,) * len(corpus.text_length),
                token_start=np.arange(int(corpus.text_length.sum())),
                token_end=np.arange(int(corpus.text_length.sum())) + 1,
                options={"scheme": "IOB2"},
                inputs=(Input(name=name, sha256="0", format="conll"),),
                notes=(Note("tags read as IOB2", where=name), Note(("once ", Quote([])))),
                **other,
            )

        one = known(numbered(0, 1), "x", "a.conll", skipped={"left out": 1})
        other = known(numbered(1, 3), "y", "b.conll", skipped={"left out": 2, "cut": 1})
        joined = Corpus.joined([replace(one, gold="ben"), replace(other, gold="ben")])
        assert joined.texts == ("x", "x", "y", "y", "y", "y")
        assert joined.token_start.tolist() == [*range(12), *range(24)]
        assert joined.token_end.tolist() == [*range(1, 13), *range(1, 25)]
        assert joined.options == {"scheme": "IOB2"}
        assert joined.skipped == {"left out": 3, "cut": 1}
        assert joined.gold == "ben"
        assert [item.name for item in joined.inputs] == ["a.conll", "b.conll"]
        assert list(map(str, joined.notes)) == [
            "a.conll: tags read as IOB2",
            "once []",
            "b.conll: tags read as IOB2",
        ]
        assert Corpus.joined([one, replace(other, texts=None)]).texts is None

    def test_fields_that_one_lacks(self):
        joined = Corpus.joined([numbered(0, 2), replace(numbered(2, 4), fields={"x": ("1", "2")})])
        assert joined.fields == {"round": ("0", "1", "", ""), "x": ("", "", "1", "2")}

    def test_refused(self):
        one, other = numbered(0, 2), numbered(2, 4)
        with refused(DataError, "document 'd1' … two"):
            Corpus.joined([one, other, numbered(1, 2)])
        for change, told in (
            ({"unit": "document"}, "unit … 'sentence' … 'document'"),
            ({"positions": "frames"}, "positions … 'tokens' … 'frames'"),
            ({"options": {"scheme": "IO"}}, "options … {} … {'scheme': 'IO'}"),
            ({"gold": "anna"}, "gold … None … 'anna'"),
        ):
            with refused(MismatchError, told):
                Corpus.joined([one, replace(other, **change)])
        with refused(MismatchError, "gold … 'anna' … None"):
            Corpus.joined([one.with_gold("anna"), other])
        with refused(DataError, "nothing … corpus"):
            Corpus.joined([])
        with refused(DataError, "str … corpora"):
            Corpus.joined(["x"])
        with refused(DataError, "a Corpus … list"):
            Corpus.joined(one)

    def test_gold_standard_that_a_part_lacks(self):
        one, other = numbered(0, 2), numbered(2, 4, ("anna", "gold"))
        assert Corpus.joined([one, other.with_gold("gold")]).gold == "gold"
        assert Corpus.joined([other.with_gold("gold"), one]).gold == "gold"


class TestViews:
    def test_cost_what_they_return(self):
        def visit(corpora):
            for document in corpora[0].documents:
                for annotator in corpora[0].annotators_of(document):
                    corpora[0].spans(document, annotator)
            for span in range(len(corpora[0].span_start)):
                corpora[0].describe_span(span)

        small, large = (work_of(visit, [numbered(0, n)]) for n in (200, 400))
        assert large < 2.5 * small

    def test_spans_come_by_text_and_start(self):
        corpus = Corpus.from_columns(
            text=[1, 0, 1, 0, 1],
            annotator=["a", "a", "b", "a", "a"],
            start=[4, 2, 0, 2, 1],
            end=[5, 4, 1, 3, 2],
            label=list("VWXYZ"),
            lengths=[9, 9],
            documents=["d", "d"],
        )
        assert [span.label for span in corpus.spans("d", "a")] == list("YWZV")
        assert [span.label for span in corpus.spans("d", "b")] == ["X"]
