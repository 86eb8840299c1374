"""spaCy's DocBin: all documents of one annotator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError
from beyondchance.io.offsets import Interval
from beyondchance.io.registry import required
from beyondchance.io.writers.shared import (
    Annotations,
    Asked,
    Documents,
    Files,
    check_overlap,
    for_each_or_all,
    has_sentences,
    whole_documents,
)
from beyondchance.messages import Quote, Use, pieces

_SPANS_KEY = Use("spans_key", placeholder="NAME", flag="layer")


def composed(corpus: Corpus, annotations: Annotations, path: str, asked: Asked) -> Files:
    """Compose a DocBin of the only annotator, or one for each in a folder."""
    documents = whole_documents(corpus, "spacy", needs_tokens=True)

    def docbin(annotators: Sequence[int]) -> bytes:
        return _docbin(corpus, annotations, documents, annotators[0], asked.spans_key)

    return for_each_or_all(corpus, annotations, path, "spacy", docbin, alone="DocBin")


def _docbin(
    corpus: Corpus, annotations: Annotations, documents: Documents, annotator: int,
    spans_key: str | None,
) -> bytes:  # fmt: skip
    """Compose all documents, with entities or a span group in those that were annotated."""
    library = required("spacy", extra="spacy", purpose="writing spaCy's DocBin")
    is_cut = has_sentences(corpus)
    attributes = ["ORTH", "ENT_IOB", "ENT_TYPE", *(["SENT_START"] if is_cut else [])]
    docs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vocabulary = library.blank("xx").vocab
        for document, sentences in enumerate(documents.tokens or ()):
            spans = annotations.get((document, annotator))
            tokens = list(chain.from_iterable(sentences))
            if spans is None and spans_key is None and not tokens:
                raise DataError(
                    *("document ", Quote(corpus.documents[document]), " has no token and was not "),
                    *("annotated by ", Quote(corpus.annotators[annotator])),
                    ", which spacy cannot represent",
                    remedy=("leave it out, or pass ", _SPANS_KEY),
                )
            text = documents.texts[document]
            begins = [place == 0 for part in sentences for place in range(len(part))]
            doc = library.tokens.Doc(
                vocabulary,
                words=[text[start:end] for start, end in tokens],
                spaces=[end < start for (_, end), (start, _) in pairwise([*tokens, (0, 0)])],
                sent_starts=begins if is_cut else None,
            )
            if spans is not None:
                _mark(doc, corpus, documents, spans, tokens, spans_key=spans_key)
            docs.append(doc)
        return bytes(library.tokens.DocBin(attrs=attributes, docs=docs).to_bytes())


def _mark(
    doc: Any, corpus: Corpus, documents: Documents, spans: Sequence[int],
    tokens: Sequence[Interval], *, spans_key: str | None,
) -> None:  # fmt: skip
    """Set what one annotator marked in a document, be it nothing."""
    first = {start: place for place, (start, _) in enumerate(tokens)}
    last = {end: place for place, (_, end) in enumerate(tokens, start=1)}
    marked = []
    for index in spans:
        start, end = first.get(documents.start[index]), last.get(documents.end[index])
        if start is None or end is None:
            raise DataError(
                *pieces(corpus.describe_span(index)),
                " does not begin and end with a token, which spacy cannot represent",
                remedy=(
                    *("read the corpus with ", Use("positions", "tokens")),
                    ", or write a table or brat",
                ),
            )
        marked.append(type(doc[0:0])(doc, start, end, corpus.span(index).label))
    if spans_key is not None:
        doc.spans[spans_key] = marked
        return
    remedy = ("entities cannot represent that: for a span group, pass ", _SPANS_KEY)
    check_overlap(corpus, spans, remedy)
    doc.ents = marked
