"""Corpora of different documents joined into one, in linear time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from beyondchance.annotations.alternatives import joined_alternatives
from beyondchance.errors import DataError, MismatchError
from beyondchance.messages import Quote
from beyondchance.options import ReadOptions, declared
from beyondchance.types import Ints

if TYPE_CHECKING:
    from beyondchance.annotations.corpus import Corpus


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
        "unit": parts[0].unit,
        "positions": parts[0].positions,
        "options": {k: v for part in parts for k, v in part.options.items()},
        "skipped": dict(skipped),
        "texts": _if_known(parts, "texts", lambda texts: tuple(chain.from_iterable(texts))),
        "token_start": _if_known(parts, "token_start", np.concatenate),
        "token_end": _if_known(parts, "token_end", np.concatenate),
        "alternatives": joined_alternatives(parts),
        "gold": _gold(parts),
        "inputs": tuple(dict.fromkeys(chain.from_iterable(part.inputs for part in parts))),
        # Notes may quote values that cannot be hashed; their sentences can.
        "notes": tuple({str(note): note for part in parts for note in part.notes}.values()),
    }


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
