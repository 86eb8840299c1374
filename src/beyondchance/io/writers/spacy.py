"""spaCy's DocBin: all documents of one annotator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any

from beyondchance.io.offsets import Interval
from beyondchance.io.registry import required
from beyondchance.io.writers.shared import Documents, Export, Files
from beyondchance.messages import Quote, Use, pieces

_SPANS_KEY = Use("spans_key", placeholder="NAME", flag="layer")


def composed(export: Export) -> Files:
    """Compose a DocBin of the only annotator, or one for each in a folder."""
    content = partial(_docbin, export, export.documents(needs_tokens=True))
    return export.for_each_or_all("spacy", content, alone="DocBin")


def _docbin(export: Export, documents: Documents, annotators: Sequence[int]) -> bytes:
    """Compose all documents, with entities or a span group in those that were annotated."""
    library = required("spacy", extra="spacy", purpose="writing spaCy's DocBin")
    is_cut, (annotator,) = export.has_sentences, annotators
    attributes = ["ORTH", "ENT_IOB", "ENT_TYPE", *(["SENT_START"] if is_cut else [])]
    docs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vocabulary = library.blank("xx").vocab
        for document, sentences in enumerate(documents.tokens or ()):
            spans = export.annotations.get((document, annotator))
            tokens = list(chain.from_iterable(sentences))
            if spans is None and export.spans_key is None and not tokens:
                raise export.unfit(
                    *(*export.named(document), " has no token and was not annotated by "),
                    Quote(export.corpus.annotators[annotator]),
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
                _mark(doc, export, documents, spans, tokens)
            docs.append(doc)
        return bytes(library.tokens.DocBin(attrs=attributes, docs=docs).to_bytes())


def _mark(
    doc: Any,
    export: Export,
    documents: Documents,
    spans: Sequence[int],
    tokens: Sequence[Interval],
) -> None:
    """Set what one annotator marked in a document, be it nothing."""
    first = {start: place for place, (start, _) in enumerate(tokens)}
    last = {end: place for place, (_, end) in enumerate(tokens, start=1)}
    marked = []
    for index in spans:
        low, high = documents.places[index]
        start, end = first.get(low), last.get(high)
        if start is None or end is None:
            raise export.unfit(
                *pieces(export.corpus.describe_span(index)),
                " does not begin and end with a token",
                remedy=(
                    *("read the corpus with ", Use("positions", "tokens")),
                    ", or write a table or brat",
                ),
            )
        marked.append(type(doc[0:0])(doc, start, end, documents.labels[index]))
    if export.spans_key is not None:
        doc.spans[export.spans_key] = marked
        return
    remedy = ("entities cannot represent that: for a span group, pass ", _SPANS_KEY)
    export.check_overlap(spans, remedy)
    doc.ents = marked
