"""Corpora of different documents, or the texts of one document, joined into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import numpy as np

from beyondchance.errors import DataError, MismatchError
from beyondchance.messages import Quote
from beyondchance.options import ReadOptions, declared
from beyondchance.types import Bools, Ints

if TYPE_CHECKING:
    from beyondchance.annotations.corpus import Corpus


def with_whole_documents(corpus: Corpus) -> Corpus:
    """The corpus with one text for each document, its texts end to end.

    Where texts are known there is a space between them, which is a position where these are
    characters. It is what reading makes of the sentences of a file.
    """
    of = corpus.text_document
    n_documents = len(corpus.documents)
    if len(of) == n_documents:
        return corpus
    is_first = np.ones(len(of), dtype=bool)
    is_first[1:] = of[1:] != of[:-1]
    firsts = np.flatnonzero(is_first)
    by_characters = corpus.texts is not None and corpus.token_start is None
    begin = _begins(corpus.text_length, is_first, gap=int(by_characters))
    columns: dict[str, Any] = {}
    if corpus.texts is not None:
        ends = [*firsts[1:].tolist(), len(of)]
        columns["texts"] = tuple(
            " ".join(corpus.texts[first:end])
            for first, end in zip(firsts.tolist(), ends, strict=True)
        )
    if corpus.token_start is not None and corpus.token_end is not None and corpus.texts is not None:
        sizes = np.array(list(map(len, corpus.texts)), dtype=np.int64)
        shift = np.repeat(_begins(sizes, is_first, gap=1), corpus.text_length)
        columns["token_start"] = corpus.token_start + shift
        columns["token_end"] = corpus.token_end + shift
    length = np.zeros(n_documents, dtype=np.int64)
    np.maximum.at(length, of, begin + corpus.text_length)
    return replace(
        corpus,
        text_document=np.arange(n_documents),
        text_length=length,
        span_text=of[corpus.span_text],
        span_start=corpus.span_start + begin[corpus.span_text],
        span_end=corpus.span_end + begin[corpus.span_text],
        elsewhere=_elsewhere_whole(corpus, begin),
        **columns,
    )


def _elsewhere_whole(corpus: Corpus, begin: Ints) -> Ints | None:
    """Where spans may be in whole documents, in which texts begin at other positions."""
    if corpus.elsewhere is None:
        return None
    text, start, end = corpus.elsewhere.swapaxes(0, 1)
    return np.stack([corpus.text_document[text], start + begin[text], end + begin[text]], axis=1)


def _begins(sizes: Ints, is_first: Bools, *, gap: int) -> Ints:
    """Where each text begins in its document, if texts lie end to end with a gap between."""
    begin = np.cumsum(sizes + gap) - (sizes + gap)
    first: Ints = begin[is_first][np.cumsum(is_first) - 1]
    return begin - first


def joined_columns(parts: Sequence[Corpus]) -> dict[str, Any]:
    """The columns of `Corpus.joined`. Numbers of one part are shifted past those before it."""
    documents = _documents(parts)
    for name in ("unit", "positions"):
        _check_equal(name, [getattr(part, name) for part in parts])
    # What was mended in one part need not have been there in another.
    mends = [name for name, item in declared(ReadOptions).items() if item.option.refuses]
    kept = [{k: v for k, v in part.options.items() if k not in mends} for part in parts]
    _check_equal("options", kept)
    for name in mends:
        _check_equal(name, [part.options[name] for part in parts if name in part.options])
    annotators = tuple(dict.fromkeys(chain.from_iterable(part.annotators for part in parts)))
    labels = tuple(sorted(set(chain.from_iterable(part.labels for part in parts))))
    n_documents = [len(part.documents) for part in parts]
    n_texts = [len(part.text_length) for part in parts]

    annotation_document = _shifted(parts, "annotation_document", n_documents)
    annotation_annotator = _recoded(parts, "annotation_annotator", "annotators", annotators)
    # Annotators may have another order in the whole than in a part.
    order = np.lexsort((annotation_annotator, annotation_document))
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    return {
        "documents": documents,
        "fields": {
            name: tuple(
                chain.from_iterable(
                    part.fields.get(name, ("",) * len(part.documents)) for part in parts
                )
            )
            for name in dict.fromkeys(chain.from_iterable(part.fields for part in parts))
        },
        "text_document": _shifted(parts, "text_document", n_documents),
        "annotators": annotators,
        "labels": labels,
        "annotation_document": annotation_document[order],
        "annotation_annotator": annotation_annotator[order],
        "span_text": _shifted(parts, "span_text", n_texts),
        "span_annotator": _recoded(parts, "span_annotator", "annotators", annotators),
        "span_label": _recoded(parts, "span_label", "labels", labels),
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("text_length", "span_start", "span_end")
        },
        "span_id": _ids(parts),
        "unit": parts[0].unit,
        "positions": parts[0].positions,
        "options": {k: v for part in parts for k, v in part.options.items()},
        "skipped": dict(skipped),
        "texts": _if_known(parts, "texts", lambda texts: tuple(chain.from_iterable(texts))),
        "token_start": _if_known(parts, "token_start", np.concatenate),
        "token_end": _if_known(parts, "token_end", np.concatenate),
        "elsewhere": _elsewhere(parts, n_texts),
        "gold": _gold(parts),
        "inputs": tuple(dict.fromkeys(chain.from_iterable(part.inputs for part in parts))),
        "sources": frozenset(chain.from_iterable(part.sources for part in parts)),
        "origin": {
            name: value
            for name, value in parts[0].origin.items()
            if all(part.origin.get(name) == value for part in parts)
        },
        # Notes may quote values that cannot be hashed; their sentences can.
        "notes": tuple({str(note): note for part in parts for note in part.notes}.values()),
    }


def _elsewhere(parts: Sequence[Corpus], n_texts: Sequence[int]) -> Ints | None:
    """Where spans may be, by the new numbers of texts."""
    if all(part.elsewhere is None for part in parts):
        return None
    found = []
    for part, before in zip(parts, accumulate(n_texts, initial=0), strict=False):
        own = np.stack([part.span_text, part.span_start, part.span_end])
        places = np.stack([own, own]) if part.elsewhere is None else part.elsewhere
        found.append(places + np.array([before, 0, 0])[:, None])
    return np.concatenate(found, axis=2)


def _ids(parts: Sequence[Corpus]) -> tuple[str, ...] | None:
    """The ids of spans, empty where a part has none."""
    if all(part.span_id is None for part in parts):
        return None
    ids = (part.span_id or ("",) * len(part.span_start) for part in parts)
    return tuple(chain.from_iterable(ids))


def _documents(parts: Sequence[Corpus]) -> tuple[str, ...]:
    names = tuple(chain.from_iterable(part.documents for part in parts))
    if len(set(names)) < len(names):
        repeated = next(name for name, n in Counter(names).items() if n > 1)
        found = ("document ", Quote(repeated), " is in two of the corpora")
        raise DataError(*found, expected="corpora of different documents")
    return names


def _check_equal(name: str, values: Sequence[object]) -> None:
    others = [value for value in values[1:] if value != values[0]]
    if others:
        found = (f"the corpora differ in {name}: ", Quote(values[0]), " and ", Quote(others[0]))
        raise MismatchError(*found, expected="corpora that were built in the same way")


def _gold(parts: Sequence[Corpus]) -> str | None:
    """The gold standard of all parts; a part that lacks this annotator has none."""
    gold = next((part.gold for part in parts if part.gold is not None), None)
    _check_equal("gold", [gold if gold not in part.annotators else part.gold for part in parts])
    return gold


def _shifted(parts: Sequence[Corpus], column: str, sizes: Sequence[int]) -> Ints:
    """Numbers within parts, as numbers within the whole."""
    first = np.cumsum([0, *sizes[:-1]])
    pairs = zip(parts, first, strict=True)
    return np.concatenate([getattr(part, column) + begin for part, begin in pairs])


def _recoded(parts: Sequence[Corpus], column: str, kind: str, names: tuple[str, ...]) -> Ints:
    """Numbers of the names of a kind in parts, as numbers of the names of the whole."""
    number = {name: code for code, name in enumerate(names)}
    codes = (np.array([number[name] for name in getattr(part, kind)], np.int64) for part in parts)
    return np.concatenate(
        [code[getattr(part, column)] for part, code in zip(parts, codes, strict=True)]
    )


def _if_known(parts: Sequence[Corpus], name: str, join: Callable[[list[Any]], Any]) -> Any:
    """What all parts know, joined; None where one of them does not."""
    values = [getattr(part, name) for part in parts]
    return None if any(value is None for value in values) else join(values)
