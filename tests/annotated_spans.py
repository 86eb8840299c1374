"""Random corpora of spans, as plain lists, for tests that score them in two ways."""

from hypothesis import strategies as st

from beyondchance import Corpus

N = 9
"""Positions of each text."""


@st.composite
def apart(draw, labels="PQ", n=N):
    """Spans of one annotator in one text, which do not overlap."""
    found, place = [], 0
    while place < n and len(found) < 4:
        start = draw(st.integers(place, n))
        if start >= n:
            break
        end = draw(st.integers(start + 1, min(n, start + 4)))
        found.append((start, end, draw(st.sampled_from(labels))))
        place = end
    return found


@st.composite
def overlapping(draw, labels="PQ", n=N):
    """Spans of one annotator in one text, which may overlap, each once."""
    found = set()
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, n - 1))
        found.add((start, draw(st.integers(start + 1, n)), draw(st.sampled_from(labels))))
    return sorted(found)


@st.composite
def teams(draw, *, most=3, least=2, spans=apart, most_texts=4, gaps=True):
    """Lists of spans by annotator and text; some did not annotate some texts."""
    names = ["ada", "ben", "cleo", "dora"][: draw(st.integers(least, most))]
    n_texts = draw(st.integers(1, most_texts))
    return {
        name: [
            None if gaps and number > 1 and draw(st.integers(0, 4)) == 0 else draw(spans())
            for _ in range(n_texts)
        ]
        for number, name in enumerate(names)
    }


def build(sides, n=N):
    """A corpus of these lists, every text a document."""
    n_texts = len(next(iter(sides.values())))
    return Corpus.from_spans(sides, lengths=[n] * n_texts)


def sides_of(corpus):
    """The lists again."""
    return {
        name: [
            [tuple(span) for span in corpus.spans(document, name)]
            if name in corpus.annotators_of(document)
            else None
            for document in corpus.documents
        ]
        for name in corpus.annotators
    }
