"""Renumber and join the columns of corpora, and join the texts of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from beyondchance.annotations.names import any_ids, kept, numbered
from beyondchance.checks import repeated
from beyondchance.errors import DataError, MismatchError
from beyondchance.messages import Quote
from beyondchance.options import MENDED, ReadOptions, declared
from beyondchance.types import Bools, Ints

if TYPE_CHECKING:
    from beyondchance.annotations.corpus import Corpus

COLUMNS = (
    *("text_document", "text_length", "annotation_document", "annotation_annotator"),
    *("span_text", "span_annotator", "span_label", "span_start", "span_end"),
    *("token_start", "token_end"),
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
        found["span_id"] = corpus.span_id and any_ids(kept(corpus.span_id, rows["span"]))
    return found


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
        **columns,
    )


def joined_columns(parts: Sequence[Corpus]) -> dict[str, Any]:
    """Return the columns of `Corpus.joined`. Numbers of a part are shifted past those before it."""

    def listed(name: str) -> list[Any]:
        return list(chain.from_iterable(getattr(part, name) for part in parts))

    documents = listed("documents")
    for twice in repeated(documents)[:1]:
        found = ("document ", Quote(twice), " is in two of the corpora")
        raise DataError(*found, expected="corpora of different documents")
    for name in ("unit", "positions"):
        _check_equal(name, [getattr(part, name) for part in parts])
    # What was mended in one part need not have been there in another.
    mends = [name for name, item in declared(ReadOptions).items() if item.option.refuses]
    mends += MENDED
    others = [{k: v for k, v in part.options.items() if k not in mends} for part in parts]
    _check_equal("options", others)
    for name in mends:
        _check_equal(name, [part.options[name] for part in parts if name in part.options])
    # A part that lacks the annotator who is the gold standard has none.
    gold = next((part.gold for part in parts if part.gold is not None), None)
    _check_equal("gold", [gold if gold not in part.annotators else part.gold for part in parts])
    annotators = tuple(dict.fromkeys(listed("annotators")))
    labels = tuple(sorted({*listed("labels")}))
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    have_ids = any(part.span_id for part in parts)
    ids = (part.span_id or ("",) * len(part.span_start) for part in parts if have_ids)
    return dict(
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
        span_id=any_ids(chain.from_iterable(ids)),
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


def with_sorted_annotations(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Sort who annotated what, where annotators got other numbers."""
    names = ("annotation_annotator", "annotation_document")
    order = np.lexsort([columns[name] for name in names])
    return {**columns, **{name: columns[name][order] for name in names}}


def _in_one_place(corpus: Corpus) -> Corpus:
    """Return a corpus that says of each span that it is nowhere else."""
    own = np.stack([corpus.span_text, corpus.span_start, corpus.span_end])
    return replace(corpus, elsewhere=np.stack([own, own]))


def _check_equal(name: str, values: Sequence[object]) -> None:
    others = [value for value in values[1:] if value != values[0]]
    if others:
        found = (f"the corpora differ in {name}: ", Quote(values[0]), " and ", Quote(others[0]))
        raise MismatchError(*found, expected="corpora that were built in the same way")
