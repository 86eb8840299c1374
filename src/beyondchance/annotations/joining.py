"""Renumber and join the columns of corpora, and join the texts of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from beyondchance.annotations.names import if_any, kept
from beyondchance.core.ragged import repeats
from beyondchance.types import Bools, Ints

if TYPE_CHECKING:
    from beyondchance.annotations.corpus import Corpus

COLUMNS = (
    *("text_document", "text_length", "annotation_document", "annotation_annotator"),
    "annotation_date",
    *("span_text", "span_annotator", "span_label", "span_start", "span_end", "span_motif"),
    *("missing_text", "missing_annotator", "missing_label", "missing_length"),
    *("token_start", "token_end", "token_weight"),
)
"""The arrays of a corpus: the name says what has a value each, and what the value is."""


def renumbered(
    corpus: Corpus, numbers: Mapping[str, Ints], keep: Mapping[str, Bools] | None = None
) -> dict[str, Any]:
    """Return the arrays of a corpus that it has, with other numbers and fewer rows.

    Parameters
    ----------
    corpus : Corpus
    numbers : mapping of str to array of int
        The new number of each ``document``, ``text``, ``annotator`` or ``label``.
    keep : mapping of str to array of bool, optional
        Which of each ``text``, ``annotation``, ``span`` or ``token`` are kept.
    """
    rows = keep or {}
    found = {}
    for name in COLUMNS:
        of, _, what = name.partition("_")
        values = getattr(corpus, name)
        if values is not None:
            values = values[rows[of]] if of in rows else values
            found[name] = numbers[what][values] if what in numbers else values
    if corpus.elsewhere is not None:
        places = corpus.elsewhere[:, :, rows["span"]] if "span" in rows else corpus.elsewhere
        number = numbers.get("text", np.arange(len(corpus.text_length)))
        found["elsewhere"] = np.array([(number[text], start, end) for text, start, end in places])
    if "span" in rows:
        if corpus.span_motif is not None and not found["span_motif"].any():
            found["span_motif"] = None
        for name in ("span_id", "span_fields"):
            known = getattr(corpus, name)
            found[name] = known and if_any(kept(known, rows["span"]))
    return found


def repeated_spans(corpus: Corpus) -> Bools:
    """Find the spans that are equal to another one in all columns, but for one of each."""
    names = [name for name in COLUMNS if name.startswith("span")]
    values = [getattr(corpus, name) for name in names if getattr(corpus, name) is not None]
    order = np.lexsort(values[::-1])
    again = np.zeros(len(order), dtype=bool)
    again[order] = repeats(*(value[order] for value in values))
    return again


def with_whole_documents(corpus: Corpus) -> Corpus:
    """Return the corpus with one text for each document, its texts end to end.

    Where texts are known there is a space between them, which is a position where these are
    characters. It is what reading makes of the sentences of a file.
    """
    of = corpus.text_document
    n_documents = len(corpus.documents)
    if len(of) == n_documents:
        return corpus
    bounds = np.searchsorted(of, np.arange(n_documents + 1))

    def begins(sizes: Ints, gap: int) -> Ints:
        """Find where each text begins in its document, with a gap between texts."""
        begin = np.cumsum(sizes + gap) - sizes - gap
        return begin - begin[bounds[of]]

    by_characters = corpus.texts is not None and corpus.token_start is None
    begin = begins(corpus.text_length, int(by_characters))
    columns: dict[str, Any] = {}
    if corpus.texts is not None:
        own = (corpus.texts[first:end] for first, end in pairwise(bounds.tolist()))
        columns["texts"] = tuple(map(" ".join, own))
        if corpus.token_start is not None and corpus.token_end is not None:
            sizes = np.array([*map(len, corpus.texts)], dtype=np.int64)
            shift = np.repeat(begins(sizes, 1), corpus.text_length)
            columns["token_start"] = corpus.token_start + shift
            columns["token_end"] = corpus.token_end + shift
    length = np.zeros(n_documents, dtype=np.int64)
    np.maximum.at(length, of, begin + corpus.text_length)

    def moved(text: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
        return of[text], start + begin[text], end + begin[text]

    text, start, end = moved(corpus.span_text, corpus.span_start, corpus.span_end)
    if corpus.elsewhere is not None:
        columns["elsewhere"] = np.array([moved(*places) for places in corpus.elsewhere])
    return replace(
        corpus,
        text_document=np.arange(n_documents),
        text_length=length,
        span_text=text,
        span_start=start,
        span_end=end,
        missing_text=of[corpus.missing_text],
        **columns,
    )


def in_characters(corpus: Corpus) -> Corpus:
    """Return the corpus with the characters of its texts, which are known, as positions."""
    start, end = corpus.characters(corpus.span_text, corpus.span_start, corpus.span_end)
    return replace(
        corpus,
        text_length=np.array([*map(len, corpus.texts or ())], dtype=np.int64),
        span_start=start,
        span_end=end,
        positions="characters",
        token_start=None,
        token_end=None,
        token_weight=None,
        elsewhere=None,
    )


def with_sorted_annotations(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Sort who annotated what, where annotators got other numbers."""
    order = np.lexsort((columns["annotation_annotator"], columns["annotation_document"]))
    names = (name for name in columns if name.startswith("annotation"))
    return {**columns, **{name: columns[name][order] for name in names}}
