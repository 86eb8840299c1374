"""Corpora of different documents as one, to compare parts with the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.joining import renumbered, with_sorted_annotations
from beyondchance.annotations.names import if_any, numbered


def joined(parts: Sequence[Corpus]) -> Corpus:
    """Join corpora of different documents. Numbers of a part are shifted past those before it."""

    def listed(name: str) -> list[Any]:
        return list(chain.from_iterable(getattr(part, name) for part in parts))

    documents = listed("documents")
    # A part that lacks the annotator who is the gold standard has none.
    gold = next((part.gold for part in parts if part.gold is not None), None)
    annotators = tuple(dict.fromkeys(listed("annotators")))
    labels = tuple(sorted({*listed("labels")}))
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    fields = (part.span_fields or (None,) * len(part.span_start) for part in parts)
    have_ids = any(part.span_id for part in parts)
    ids = (part.span_id or ("",) * len(part.span_start) for part in parts if have_ids)
    return Corpus(
        unit=parts[0].unit,
        positions=parts[0].positions,
        **with_sorted_annotations(_joined_arrays(parts, annotators, labels)),
        documents=tuple(documents),
        fields={
            name: tuple(
                value
                for part in parts
                for value in part.fields.get(name, ("",) * len(part.documents))
            )
            for name in dict.fromkeys(listed("fields"))
        },
        annotators=annotators,
        labels=labels,
        span_id=if_any(chain.from_iterable(ids)),
        span_fields=if_any(chain.from_iterable(fields)),
        options={k: v for part in parts for k, v in part.options.items()},
        skipped=dict(skipped),
        texts=None if any(part.texts is None for part in parts) else tuple(listed("texts")),
        gold=gold,
        inputs=tuple(dict.fromkeys(listed("inputs"))),
        sources=frozenset(listed("sources")),
        origin={
            name: value
            for name, value in parts[0].origin.items()
            if all(part.origin.get(name) == value for part in parts)
        },
        # Notes may quote values that cannot be hashed; their sentences can.
        notes=tuple({str(note): note for note in listed("notes")}.values()),
    )


def _joined_arrays(
    parts: Sequence[Corpus], annotators: Sequence[str], labels: Sequence[str]
) -> dict[str, Any]:
    """Join the arrays that all corpora have."""
    if any(part.elsewhere is not None for part in parts):
        parts = [part if part.elsewhere is not None else _in_one_place(part) for part in parts]
    columns = []
    n_documents, n_texts = 0, 0
    for part in parts:
        numbers = {
            "document": n_documents + np.arange(len(part.documents)),
            "text": n_texts + np.arange(len(part.text_length)),
            "annotator": numbered(part.annotators, annotators),
            "label": numbered(part.labels, labels),
        }
        columns.append(renumbered(part, numbers))
        n_documents += len(part.documents)
        n_texts += len(part.text_length)
    return {
        name: np.concatenate([own[name] for own in columns], axis=-1)
        for name in columns[0]
        if all(name in own for own in columns)
    }


def _in_one_place(corpus: Corpus) -> Corpus:
    """Return a corpus that says of each span that it is nowhere else."""
    own = np.stack([corpus.span_text, corpus.span_start, corpus.span_end])
    return replace(corpus, elsewhere=np.stack([own, own]))
