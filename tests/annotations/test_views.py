"""Views of large corpora, without a quadratic step."""

import sys
from dataclasses import replace

import numpy as np

from beyondchance import Corpus

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
