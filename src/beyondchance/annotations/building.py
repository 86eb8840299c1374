"""The work behind the ways to build a Corpus: every argument checked, then turned into columns.

The functions return the columns of a corpus by name. They trust nothing that they are given:
whatever is refused gets a sentence that names the document, the annotator and the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import is_not
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.annotations.tags import decode_tags
from beyondchance.checks import checked_option
from beyondchance.errors import DataError, MismatchError, SpanError
from beyondchance.types import Bools, Ints

if TYPE_CHECKING:
    from beyondchance.annotations.corpus import Corpus

Tags = Sequence[Sequence[str] | None]
Spans = Sequence[Sequence[tuple[int, int, str]] | None]

UNITS = ("sentence", "document")
POSITIONS = ("tokens", "characters", "frames")
MOST_POSITIONS = 2**31 - 1
"""Positions that a text may have: products of two of them fit into 64 bits."""


# --- From tags, spans and columns ---------------------------------------------


def columns_of_tags(
    tags: Mapping[str, Tags],
    *,
    scheme: str,
    repair: str,
    documents: Sequence[str] | None,
    fields: Mapping[str, Sequence[str]] | None,
    unit: str,
) -> dict[str, Any]:
    """The columns of `Corpus.from_tags`."""
    checked_option("unit", unit, UNITS)
    annotators, n_texts = _validated_annotations(tags)
    text_document, names = _documents_of_texts(documents, n_texts)
    lengths = np.empty((len(annotators), n_texts), dtype=np.int64)
    for row, name in enumerate(annotators):
        lengths[row] = _tag_counts(tags[name], name, names, text_document)
    text_length = lengths.max(axis=0, initial=0)
    differs = (lengths >= 0) & (lengths != text_length)
    if differs.any():
        raise MismatchError(_different_lengths(lengths, annotators, names, text_document))

    def where(sequence: int, place: int) -> str:
        row, text = divmod(sequence, n_texts)
        named = named_text(text, names, text_document)
        return f"{named}, annotator {annotators[row]!r}, position {place}"

    sequences = chain.from_iterable(map(_present, tags.values()))
    found = decode_tags(
        chain.from_iterable(sequences),
        np.maximum(lengths, 0).reshape(-1),
        scheme=scheme,
        repair=repair,
        where=where,
    )
    span_annotator, span_text = np.divmod(found.text, max(n_texts, 1))
    labels, label = sorted_names(found.labels, found.label)
    annotated = _whole_documents(lengths >= 0, text_document, annotators, names)
    annotation_document, annotation_annotator = np.nonzero(annotated)
    options = {"scheme": scheme} if repair == "none" else {"scheme": scheme, "repair": repair}
    return {
        "documents": names,
        "fields": _validated_fields(fields, len(names)),
        "text_document": text_document,
        "text_length": text_length,
        "annotators": annotators,
        "labels": labels,
        "annotation_document": annotation_document,
        "annotation_annotator": annotation_annotator,
        "span_text": span_text,
        "span_annotator": span_annotator,
        "span_label": label,
        "span_start": found.start,
        "span_end": found.end,
        "unit": unit,
        "options": options,
        "skipped": {f"tags repaired by {repair}": found.n_repaired} if found.n_repaired else {},
    }


def lists_of_spans(
    spans: Mapping[str, Spans], lengths: Sequence[int], documents: Sequence[str] | None
) -> dict[str, Any]:
    """What `Corpus.from_columns` takes, from the arguments of `Corpus.from_spans`."""
    annotators, n_texts = _validated_annotations(spans)
    if not _is_list(lengths):
        raise DataError(f"lengths are {_shown(lengths)}; expected one number for each text")
    if len(lengths) != n_texts:
        raise MismatchError(
            f"{len(lengths)} lengths for {n_texts} texts; expected one length for each text"
        )
    text_document, names = _documents_of_texts(documents, n_texts)
    columns: list[list[Any]] = [[], [], [], [], []]
    seen = np.zeros((len(annotators), n_texts), dtype=bool)
    for row, name in enumerate(annotators):
        for text, found in enumerate(spans[name]):
            if found is None:
                continue
            seen[row, text] = True
            problem = _problem_with_spans(found)
            if problem:
                where = named_text(text, names, text_document)
                raise SpanError(f"{where}, annotator {name!r}{problem}")
            for span in found:
                for column, value in zip(columns, (text, name, *span), strict=True):
                    column.append(value)
    annotated = _whole_documents(seen, text_document, annotators, names)
    return {
        **dict(zip(("text", "annotator", "start", "end", "label"), columns, strict=True)),
        "lengths": lengths,
        "documents": [names[document] for document in text_document],
        "annotated": [(names[d], annotators[a]) for d, a in np.argwhere(annotated).tolist()],
        "annotators": annotators,
    }


def columns_of_spans(
    *,
    text: ArrayLike,
    annotator: Sequence[str],
    start: ArrayLike,
    end: ArrayLike,
    label: Sequence[str],
    lengths: ArrayLike,
    documents: Sequence[str] | None,
    annotated: Iterable[tuple[str, str]] | None,
    annotators: Sequence[str] | None,
    fields: Mapping[str, Sequence[str]] | None,
    unit: str,
    positions: str,
) -> dict[str, Any]:
    """The columns of `Corpus.from_columns`; the offsets are checked by the corpus."""
    checked_option("unit", unit, UNITS)
    checked_option("positions", positions, POSITIONS)
    text_length = _whole_numbers(lengths, "lengths")
    for wrong, problem in (
        (text_length < 0, "negative"),
        (text_length > MOST_POSITIONS, "too large"),
    ):
        if wrong.any():
            index = int(np.argmax(wrong))
            raise DataError(
                f"text {index} has the length {text_length[index]}, which is {problem}; "
                f"expected a number from 0 to {MOST_POSITIONS:,}"
            )
    text_document, names = _documents_of_texts(documents, len(text_length))
    for name, column in (("annotator", annotator), ("label", label)):
        if not _is_list(column):
            raise DataError(f"column {name!r} is {_shown(column)}; expected a list of names")
    known = annotators if annotators is not None else sorted(distinct_names("annotator", annotator))
    ordered = validated_names("annotator", known)
    sizes = {len(annotator), len(label), np.size(text), np.size(start), np.size(end)}
    if len(sizes) > 1:
        raise DataError(
            "the columns text, annotator, start, end and label differ in length "
            f"({', '.join(map(str, sorted(sizes)))}); expected one value for each span"
        )
    rank = {name: index for index, name in enumerate(ordered)}
    stranger = next((name for name in annotator if name not in rank), None)
    if stranger is not None:
        raise DataError(f"annotator {stranger!r} is not among {', '.join(map(repr, ordered))}")
    labels, span_label = coded("label", label)
    if annotated is None:
        pairs = np.indices((len(names), len(ordered))).reshape(2, -1)
    else:
        pairs = _annotation_pairs(annotated, names, rank)
    return {
        "documents": names,
        "fields": _validated_fields(fields, len(names)),
        "text_document": text_document,
        "text_length": text_length,
        "annotators": ordered,
        "labels": labels,
        "annotation_document": pairs[0],
        "annotation_annotator": pairs[1],
        "span_text": _whole_numbers(text, "text"),
        "span_annotator": np.fromiter(
            map(rank.__getitem__, annotator), dtype=np.int64, count=len(annotator)
        ),
        "span_label": span_label,
        "span_start": _whole_numbers(start, "start"),
        "span_end": _whole_numbers(end, "end"),
        "unit": unit,
        "positions": positions,
    }


# --- Names --------------------------------------------------------------------


def named_text(text: int, documents: Sequence[str], text_document: Ints) -> str:
    """Name a text: by its document, and its number there if the document has several."""
    document = int(text_document[text])
    name = f"document {documents[document]!r}"
    first, end = np.searchsorted(text_document, (document, document + 1)).tolist()
    return name if end - first == 1 else f"{name}, text {text - first}"


def _is_list(value: object) -> bool:
    """Whether a value is a list, a tuple, an array or the like, and not a string."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _shown(value: object) -> str:
    """A value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def validated_names(kind: str, names: object) -> tuple[str, ...]:
    """Distinct non-empty strings without white space at their edges."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DataError(f"{kind}s are {_shown(names)}; expected a list of names")
    return tuple(map(str, distinct_names(kind, tuple(names), once=True)))


def distinct_names(kind: str, names: Iterable[Any], *, once: bool = False) -> list[str]:
    """The distinct ones among names, in the order met, all of them checked."""
    listed = list(names)
    try:
        distinct = list(dict.fromkeys(listed))
    except TypeError:
        raise DataError(f"a {kind} is a list or the like; expected strings") from None
    for name in distinct:
        if not isinstance(name, str) or not name or name != name.strip():
            raise DataError(
                f"{kind} {_shown(name)} is not a name; expected a string that is not empty and "
                "has no white space at its edges"
            )
    if once and len(distinct) < len(listed):
        twice = next(name for name, n in Counter(listed).items() if n > 1)
        raise DataError(f"{kind} {twice!r} occurs twice; expected distinct names")
    return distinct


def _validated_fields(
    fields: Mapping[str, Sequence[str]] | None, n_documents: int
) -> dict[str, tuple[str, ...]]:
    if fields is None:
        return {}
    if not isinstance(fields, Mapping):
        raise DataError(f"fields are {_shown(fields)}; expected a mapping of names to lists")
    result = {}
    for name, values in zip(validated_names("field", fields), fields.values(), strict=True):
        if not _is_list(values) or len(values) != n_documents:
            found = f"{len(values)} values" if _is_list(values) else _shown(values)
            raise DataError(
                f"field {name!r} has {found} for {n_documents} documents; expected one for each "
                "document"
            )
        result[name] = tuple("" if value is None else str(value) for value in values)
    return result


def _validated_annotations(texts: Mapping[str, Sequence[Any]]) -> tuple[tuple[str, ...], int]:
    """The annotators, and how many texts there are, the same for every annotator."""
    if not isinstance(texts, Mapping):
        raise DataError(
            f"found {_shown(texts)}; expected a mapping of annotators to their texts, such as "
            "{'anna': [...], 'ben': [...]}"
        )
    if not texts:
        raise DataError("no annotators; expected a mapping of annotator to texts")
    annotators = validated_names("annotator", texts)
    for name, sequences in texts.items():
        if not _is_list(sequences):
            raise DataError(
                f"annotator {name!r}: found {_shown(sequences)}; expected one list per text"
            )
    n_texts = len(texts[annotators[0]])
    for name in annotators[1:]:
        if len(texts[name]) != n_texts:
            raise MismatchError(
                f"{annotators[0]!r} has {n_texts} texts, {name!r} has {len(texts[name])}; expected "
                "the same texts in the same order (None where an annotator did not annotate a text)"
            )
    return annotators, n_texts


def _problem_with_spans(spans: Any) -> str | None:
    """Say what is wrong with a list that should hold (start, end, label)."""
    if not _is_list(spans):
        return f": found {_shown(spans)}; expected a list of (start, end, label) for each text"
    for number, span in enumerate(spans):
        if not _is_list(span) or len(span) != 3:
            return f", span {number}: found {_shown(span)}; expected (start, end, label)"
        for name, value in zip(("start", "end"), span[:2], strict=True):
            if not _is_whole(value):
                return f", span {number}: its {name} is {_shown(value)}; expected a whole number"
    return None


def _is_whole(value: object) -> bool:
    """Whether a value is a whole number in the range of 64 bits."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return False
    return bool(-(2**63) <= value < 2**63 and value == value // 1)  # type: ignore[operator]


def _documents_of_texts(
    documents: Sequence[str] | None, n_texts: int
) -> tuple[Ints, tuple[str, ...]]:
    """The document of each text, and the names of the documents."""
    if documents is None:
        return np.arange(n_texts), tuple(map(str, range(n_texts)))
    if not _is_list(documents):
        raise DataError(f"documents are {_shown(documents)}; expected a name for each text")
    distinct_names("document", documents)
    if len(documents) != n_texts:
        raise MismatchError(
            f"{len(documents)} document names for {n_texts} texts; expected one for each text"
        )
    index: dict[str, int] = {}
    text_document = np.empty(n_texts, dtype=np.int64)
    previous = None
    for text, name in enumerate(documents):
        if name != previous and name in index:
            raise DataError(
                f"text {text}: document {name!r} goes on after other documents; expected the "
                "texts of a document to follow one another"
            )
        text_document[text] = index.setdefault(name, len(index))
        previous = name
    return text_document, validated_names("document", index)


def _tag_counts(
    sequences: Tags, annotator: str, names: tuple[str, ...], text_document: Ints
) -> Ints:
    """How many tags each text has; -1 where the annotator did not annotate it."""
    if set(map(type, sequences)) <= {list, tuple}:
        return np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))  # type: ignore[arg-type]
    counts = np.empty(len(sequences), dtype=np.int64)
    for text, sequence in enumerate(sequences):
        if not (sequence is None or _is_list(sequence)):
            raise DataError(
                f"{named_text(text, names, text_document)}, annotator {annotator!r}: found "
                f"{_shown(sequence)}; expected a list of tags for each text"
            )
        counts[text] = -1 if sequence is None else len(sequence)
    return counts


def _present(sequences: Tags) -> Iterable[Sequence[str]]:
    return filter(partial(is_not, None), sequences)  # type: ignore[arg-type]


def _different_lengths(
    lengths: Ints, annotators: tuple[str, ...], names: tuple[str, ...], text_document: Ints
) -> str:
    """Say which annotators have how many tags in the first text that differs."""
    present = lengths >= 0
    text = int(np.argmax(((lengths != lengths.max(axis=0)) & present).any(axis=0)))
    found = ", ".join(
        f"{name!r} has {lengths[row, text]} tags"
        for row, name in enumerate(annotators)
        if present[row, text]
    )
    return (
        f"{named_text(text, names, text_document)}: {found}; expected the same tokens for all, "
        "one tag each"
    )


def _whole_documents(
    seen: Bools,
    text_document: Ints,
    annotators: tuple[str, ...],
    names: tuple[str, ...],
) -> Bools:
    """Who annotated which document, shape (documents, annotators)."""
    annotated = np.zeros((len(names), len(annotators)), dtype=bool)
    annotated[text_document] = seen.T
    partly = annotated[text_document] != seen.T
    if len(names) < len(text_document) and partly.any():
        text, row = np.argwhere(partly)[0].tolist()
        raise DataError(
            f"document {names[text_document[text]]!r} was annotated by {annotators[row]!r} in "
            "part only; expected all of its texts or none (make each text its own document)"
        )
    return annotated


def _annotation_pairs(
    annotated: Iterable[tuple[str, str]], names: tuple[str, ...], rank: Mapping[str, int]
) -> Ints:
    """Sorted, distinct (document, annotator) numbers, shape (2, annotations)."""
    index = {name: number for number, name in enumerate(names)}
    pairs = set()
    for pair in annotated if isinstance(annotated, Iterable) else [annotated]:
        if not _is_list(pair) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise DataError(
                f"'annotated' holds {_shown(pair)}; expected pairs (document, annotator)"
            )
        document, annotator = pair
        for kind, name, known in (("document", document, index), ("annotator", annotator, rank)):
            if name not in known:
                raise DataError(f"'annotated' names the {kind} {name!r}, which the corpus lacks")
        pairs.add((index[document], rank[annotator]))
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T


def coded(kind: str, names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """The distinct ones among names, sorted, and the number of each name among them."""
    code = {name: number for number, name in enumerate(distinct_names(kind, names))}
    numbers = np.fromiter(map(code.__getitem__, names), dtype=np.int64, count=len(names))
    return sorted_names(tuple(code), numbers)


def sorted_names(names: tuple[str, ...], codes: Ints) -> tuple[tuple[str, ...], Ints]:
    """Sort names and renumber what refers to them."""
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return tuple(names[i] for i in order), rank[codes]


def _whole_numbers(values: ArrayLike, name: str) -> Ints:
    """Convert a column to integers, refusing everything that is not one."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and np.can_cast(values, np.int64):
        return values.astype(np.int64)
    if not _is_list(values):
        raise SpanError(f"column {name!r} is {_shown(values)}; expected a list of whole numbers")
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[arg-type]
    if set(map(type, listed)) <= {int}:
        try:
            return np.array(listed, dtype=np.int64)
        except OverflowError:
            pass
    for row, value in enumerate(listed):
        if not _is_whole(value):
            raise SpanError(
                f"column {name!r}, row {row}: found {_shown(value)}; expected a whole number"
            )
    return np.array(listed, dtype=np.int64)


def check_spans(corpus: Corpus) -> None:
    """Refuse spans outside their text or by somebody who did not annotate it."""
    text, start, end = corpus.span_text, corpus.span_start, corpus.span_end
    n_texts = len(corpus.text_length)
    lost = np.flatnonzero((text < 0) | (text >= n_texts))
    if len(lost):
        raise SpanError(
            f"span {lost[0]} is in text {text[lost[0]]}; expected a number from 0 to {n_texts - 1}"
        )
    negative = start < 0
    empty = end <= start
    beyond = end > corpus.text_length[text]
    wrong = np.flatnonzero(negative | empty | beyond)
    if len(wrong):
        index = int(wrong[0])
        if negative[index]:
            problem = "starts before the text; expected offsets from 0 on"
        elif end[index] == start[index]:
            problem = "is empty; expected an end after the start"
        elif empty[index]:
            problem = "ends before it starts; expected start < end"
        else:
            problem = (
                f"ends past the text, which has {corpus.text_length[text[index]]} "
                f"{corpus.positions}; check that offsets count {corpus.positions} and that "
                "the end is exclusive"
            )
        raise SpanError(f"{corpus.describe_span(index)} {problem}")
    n_annotators = max(len(corpus.annotators), 1)
    listed = corpus.annotation_document * n_annotators + corpus.annotation_annotator
    used = corpus.text_document[text] * n_annotators + corpus.span_annotator
    unlisted = np.flatnonzero(~np.isin(used, listed))
    if len(unlisted):
        raise DataError(
            f"{corpus.describe_span(int(unlisted[0]))} is by somebody who is not listed as "
            "having annotated the document; add the pair to 'annotated'"
        )
