"""A corpus with one more annotator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from beyondchance.adjudication.votes import Chosen
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.joining import renumbered, with_sorted_annotations
from beyondchance.annotations.names import numbered
from beyondchance.errors import DataError
from beyondchance.messages import Quote
from beyondchance.types import Bools, Ints


def with_annotator(
    corpus: Corpus,
    name: str,
    spans: Chosen,
    documents: Ints,
    labels: tuple[str, ...] | None = None,
) -> Corpus:
    """Add an annotator who marked some spans, in reading order, in some documents.

    The new spans come behind all others. Their labels are numbers of `labels`, by default of those
    of the corpus. A span that another annotator has as well takes over the identifier of the
    first.

    Raises
    ------
    DataError
        If the corpus has an annotator of that name.
    """
    if name in corpus.annotators:
        raise DataError(
            *("the corpus has an annotator ", Quote(name), " already"),
            remedy="pass another name",
        )
    number = len(corpus.annotators)
    elsewhere = corpus.elsewhere
    if elsewhere is not None:
        fresh = np.stack([spans.text, spans.start, spans.end])
        elsewhere = np.concatenate([elsewhere, [fresh, fresh]], axis=2)
    every = corpus.labels if labels is None else tuple(sorted({*corpus.labels, *labels}))
    recoded = [
        numbered(table, every)[label]
        for table, label in ((corpus.labels, corpus.span_label), (labels or every, spans.label))
    ]
    columns: dict[str, Any] = {
        "annotation_document": np.append(corpus.annotation_document, documents),
        "annotation_annotator": np.append(
            corpus.annotation_annotator, np.full(len(documents), number)
        ),
        "span_text": np.append(corpus.span_text, spans.text),
        "span_annotator": np.append(corpus.span_annotator, np.full(len(spans.text), number)),
        "span_label": np.concatenate(recoded),
        "span_start": np.append(corpus.span_start, spans.start),
        "span_end": np.append(corpus.span_end, spans.end),
    }
    columns["missing_label"] = numbered(corpus.labels, every)[corpus.missing_label]
    if corpus.annotation_date is not None:
        days = np.zeros(len(documents), dtype=np.int64)
        columns["annotation_date"] = np.append(corpus.annotation_date, days)
    if corpus.span_id is not None:
        columns["span_id"] = (*corpus.span_id, *_taken_over(columns, corpus.span_id))
    if corpus.span_fields is not None:
        columns["span_fields"] = corpus.span_fields + (None,) * len(spans.text)
    return replace(
        corpus,
        annotators=(*corpus.annotators, name),
        labels=every,
        elsewhere=elsewhere,
        **with_sorted_annotations(columns),
    )


def with_spans(corpus: Corpus, keep: Bools) -> Corpus:
    """Return the corpus with some of its spans."""
    return replace(corpus, **renumbered(corpus, {}, {"span": keep}))


def _taken_over(columns: dict[str, Any], ids: tuple[str, ...]) -> list[str]:
    """Return identifiers of the spans behind those that have some: of the first that is equal."""
    names = ("span_text", "span_start", "span_end", "span_label")
    rows = list(zip(*(columns[name].tolist() for name in names), strict=True))
    known = dict(zip(reversed(rows[: len(ids)]), reversed(ids), strict=True))
    return [known.get(row, "") for row in rows[len(ids) :]]
