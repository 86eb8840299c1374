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
    number, every = len(corpus.annotators), corpus.labels
    if labels is not None:
        every = tuple(sorted({*every, *labels}))
    known = renumbered(corpus, {"label": numbered(corpus.labels, every)})
    added = {
        "annotation_document": documents,
        "annotation_annotator": np.full(len(documents), number),
        "annotation_date": np.zeros(len(documents), dtype=np.int64),
        "span_text": spans.text,
        "span_annotator": np.full(len(spans.text), number),
        "span_label": numbered(labels or every, every)[spans.label],
        "span_start": spans.start,
        "span_end": spans.end,
    }
    columns: dict[str, Any] = {
        **known,
        **{x: np.append(known[x], new) for x, new in added.items() if x in known},
    }
    if corpus.elsewhere is not None:
        fresh = np.stack([spans.text, spans.start, spans.end])
        columns["elsewhere"] = np.concatenate([corpus.elsewhere, [fresh, fresh]], axis=2)
    if corpus.span_id is not None:
        columns["span_id"] = (*corpus.span_id, *_taken_over(columns, corpus.span_id))
    if corpus.span_fields is not None:
        columns["span_fields"] = corpus.span_fields + (None,) * len(spans.text)
    return replace(
        corpus,
        annotators=(*corpus.annotators, name),
        labels=every,
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
