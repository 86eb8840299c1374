"""spaCy's DocBin: all documents of one annotator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError
from beyondchance.io.offsets import Interval
from beyondchance.io.registry import required
from beyondchance.io.writers.shared import (
    Annotations,
    Asked,
    Files,
    begins_of,
    check_overlap,
    for_each_or_all,
    has_sentences,
    known_texts,
    tokens_of,
)
from beyondchance.messages import Quote, Use, pieces
from beyondchance.types import Ints

_SPANS_KEY = Use("spans_key", placeholder="NAME")


class _Tokenized(NamedTuple):
    """All documents in tokens, as spaCy's Doc takes them, and where spans lie in them."""

    documents: list[dict[str, list[Any]]]
    starts: Ints
    ends: Ints


def composed(corpus: Corpus, annotations: Annotations, path: str, asked: Asked) -> Files:
    """A DocBin of the only annotator, or one for each in a folder."""
    tokenized = _tokenized(corpus)

    def docbin(annotators: Sequence[int]) -> bytes:
        return _docbin(corpus, annotations, tokenized, annotators[0], asked.spans_key)

    return for_each_or_all(corpus, annotations, path, "spacy", docbin, alone="DocBin")


def _tokenized(corpus: Corpus) -> _Tokenized:
    """The tokens of the corpus, or those by rule where positions are characters."""
    texts = known_texts(corpus, "spacy")
    tokens = tokens_of(corpus, texts)
    documents: list[dict[str, list[Any]]] = [
        {"words": [], "spaces": [], "sent_starts": []} for _ in corpus.documents
    ]
    for text, document in enumerate(corpus.text_document.tolist()):
        if not tokens[text]:
            continue
        words, spaces, sentence_starts = documents[document].values()
        if spaces:
            spaces[-1] = True
        words += (texts[text][start:end] for start, end in tokens[text])
        spaces += (end < start for (_, end), (start, _) in pairwise(tokens[text]))
        spaces.append(False)
        sentence_starts += (place == 0 for place in range(len(tokens[text])))
    begins = begins_of(corpus, np.array([len(part) for part in tokens], dtype=np.int64))
    if corpus.positions == "tokens":
        starts, ends = corpus.span_start, corpus.span_end
    else:
        starts, ends = _aligned(corpus, tokens)
    first = begins[corpus.span_text]
    return _Tokenized(documents, first + starts, first + ends)


def _aligned(corpus: Corpus, tokens: Sequence[Sequence[Interval]]) -> tuple[Ints, Ints]:
    """Spans of characters in tokens, refused where they cut one."""
    first = [{start: place for place, (start, _) in enumerate(part)} for part in tokens]
    last = [{end: place for place, (_, end) in enumerate(part, start=1)} for part in tokens]
    places = np.zeros((2, len(corpus.span_start)), dtype=np.int64)
    for index, text in enumerate(corpus.span_text.tolist()):
        span = corpus.span(index)
        if span.start not in first[text] or span.end not in last[text]:
            raise DataError(
                *pieces(corpus.describe_span(index)),
                " does not begin and end with a token, which spacy cannot represent",
                remedy=(
                    *("read the corpus with ", Use("positions", "tokens")),
                    ", or write a table or brat",
                ),
            )
        places[:, index] = first[text][span.start], last[text][span.end]
    return places[0], places[1]


def _docbin(
    corpus: Corpus, annotations: Annotations, found: _Tokenized, annotator: int,
    spans_key: str | None,
) -> bytes:  # fmt: skip
    """All documents, with entities or a span group in those that were annotated."""
    library = required("spacy", extra="spacy", purpose="writing spaCy's DocBin")
    is_cut = has_sentences(corpus)
    attributes = ["ORTH", "ENT_IOB", "ENT_TYPE", *(["SENT_START"] if is_cut else [])]
    docs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vocabulary = library.blank("xx").vocab
        for document, part in enumerate(found.documents):
            spans = annotations.get((document, annotator))
            if spans is None and spans_key is None and not part["words"]:
                raise DataError(
                    *("document ", Quote(corpus.documents[document]), " has no token and was not "),
                    *("annotated by ", Quote(corpus.annotators[annotator])),
                    ", which spacy cannot represent",
                    remedy=("leave it out, or pass ", _SPANS_KEY),
                )
            doc = library.tokens.Doc(
                vocabulary, **(part if is_cut else {**part, "sent_starts": None})
            )
            if spans is not None:
                _mark(doc, corpus, found, spans, spans_key)
            docs.append(doc)
        return bytes(library.tokens.DocBin(attrs=attributes, docs=docs).to_bytes())


def _mark(
    doc: Any, corpus: Corpus, found: _Tokenized, spans: Sequence[int], spans_key: str | None
) -> None:
    """Set what one annotator marked in a document, be it nothing."""
    starts, ends = found.starts[spans].tolist(), found.ends[spans].tolist()
    labels = [corpus.labels[label] for label in corpus.span_label[spans].tolist()]
    marked = [type(doc[0:0])(doc, *span) for span in zip(starts, ends, labels, strict=True)]
    if spans_key is not None:
        doc.spans[spans_key] = marked
        return
    remedy = ("entities cannot represent that: for a span group, pass ", _SPANS_KEY)
    check_overlap(corpus, spans, remedy)
    doc.ents = marked
