"""The work behind the ways to build a Corpus: every argument checked, then turned into columns.

The functions return the columns of a corpus by name. They trust nothing that they are given:
whatever is refused gets a sentence that names the document, the annotator and the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.annotations.names import (
    coded,
    distinct_names,
    is_list,
    named_text,
    plain,
    sorted_names,
    validated_names,
)
from beyondchance.annotations.tags import (
    by_annotator,
    coded_tags,
    decode_codes,
    joined_tags,
    schemes_with_ends,
)
from beyondchance.core.ragged import distinct
from beyondchance.errors import DataError, MismatchError, OptionError, SpanError
from beyondchance.messages import Piece, Quote, Text, Use, given, quotes
from beyondchance.tallies import mended
from beyondchance.types import Bools, Ints

if TYPE_CHECKING:
    from beyondchance.annotations.corpus import Corpus

Tags = Sequence[Sequence[str] | None]
Spans = Sequence[Sequence[tuple[int, int, str]] | None]
Names = Sequence[str] | None
Fields = Mapping[str, Sequence[str]] | None

CORPUS = "corpus"
"""The unit of spans that may be placed in any text."""
UNITS = ("sentence", "document", CORPUS)
POSITIONS = ("tokens", "characters", "frames")
MOST_POSITIONS = 2**31 - 1
"""Positions that a text may have: products of two of them fit into 64 bits."""
_LISTS = frozenset({list, tuple})


# --- From tags, spans and columns ---------------------------------------------


def columns_of_tags(
    tags: Mapping[str, Tags],
    tokens: Sequence[Sequence[str]] | None,
    documents: Names,
    fields: Fields,
    *,
    scheme: str | None,
    repair: str,
    coded: tuple[Ints, list[Any]] | None = None,
) -> dict[str, Any]:
    """Build the columns of `Corpus.from_tags`; tags may be numbered already (`coded_tags`)."""
    annotators, n_texts = _validated_annotations(tags)
    text_document, names = _documents_of_texts(documents, n_texts)
    lengths = np.array([_tag_counts(tags[name], name, names, text_document) for name in annotators])
    is_seen, sizes = lengths >= 0, np.maximum(lengths, 0)
    text_length = sizes.max(axis=0)
    words = {} if tokens is None else columns_of_tokens(tokens, n_texts)
    if words:
        _check_tokens(words["token_count"], lengths, annotators, names, text_document)
        text_length = words.pop("token_count")
    differs = (lengths != text_length) & is_seen
    if np.count_nonzero(differs):
        text = int(differs.any(axis=0).argmax())
        found = _numbers_of_tags(lengths[:, text], annotators)
        place, expected = named_text(text, names, text_document), "the same tokens, one tag each"
        raise MismatchError(*found, where=place, expected=expected)

    def where(sequence: int, place: int) -> Text:
        row, text = divmod(sequence, n_texts)
        return (*_where(text, annotators[row], names, text_document), f", position {place}")

    code, spelling = coded or coded_tags(end_to_end(tags.values()))
    schemes = [scheme] * len(annotators)
    if scheme is None:
        schemes = schemes_with_ends(code, spelling, sizes)
    # Annotators of one scheme are decoded together; those without marks of ends have one.
    groups = [
        [row for row, own in enumerate(schemes) if own == one] for one in dict.fromkeys(schemes)
    ]
    decoded = []
    for rows in groups:
        own, known, own_sizes = code, spelling, sizes
        if len(groups) > 1:
            # A scheme knows nothing of tags that only annotators of another one have.
            parts = by_annotator(code, sizes)
            used, own = distinct(np.concatenate([parts[row] for row in rows]))
            known, own_sizes = [spelling[i] for i in used.tolist()], sizes[rows]
        decoded.append(
            decode_codes(
                own,
                known,
                own_sizes.reshape(-1),
                scheme=schemes[rows[0]],
                repair=repair,
                where=lambda sequence, place, rows=rows: where(  # type: ignore[misc]
                    rows[sequence // n_texts] * n_texts + sequence % n_texts, place
                ),
            )
        )
    spans = joined_tags(
        decoded,
        (
            np.add.outer(np.multiply(rows, n_texts), np.arange(n_texts)).reshape(-1)
            for rows in groups
        ),
    )
    span_annotator, span_text = np.divmod(spans.text, max(n_texts, 1))
    labels, label = sorted_names(spans.labels, spans.label)
    annotated = _whole_documents(is_seen, text_document, annotators, names)
    return {
        **_columns_of_texts(names, fields, text_document, text_length, annotators),
        **dict(zip(_ANNOTATIONS, annotated.nonzero(), strict=True)),
        "labels": labels,
        "span_text": span_text,
        "span_annotator": span_annotator,
        "span_label": label,
        "span_start": spans.start,
        "span_end": spans.end,
        **words,
        "options": {"scheme": spans.scheme} | ({"repair": repair} if spans.n_repaired else {}),
        "skipped": {mended(f"tags repaired by {repair}"): spans.n_repaired}
        if spans.n_repaired
        else {},
    }


def end_to_end(annotators: Iterable[Tags]) -> Iterable[str]:
    """Chain the tags of all texts of all annotators."""
    return chain.from_iterable(filter(None, chain.from_iterable(annotators)))


def lists_of_spans(
    spans: Mapping[str, Spans], lengths: Sequence[int], documents: Names
) -> dict[str, Any]:
    """Convert the arguments of `Corpus.from_spans` to what `Corpus.from_columns` takes."""
    annotators, n_texts = _validated_annotations(spans)
    _check_number("lengths", lengths, n_texts, "a number for each text")
    text_document, names = _documents_of_texts(documents, n_texts)
    rows: list[tuple[Any, ...]] = []
    seen = np.zeros((len(annotators), n_texts), dtype=bool)
    for row, name in enumerate(annotators):
        for text, found in enumerate(spans[name]):
            if found is None:
                continue
            seen[row, text] = True
            _check_triples(found, partial(_where, text, name, names, text_document))
            rows += [(text, name, *span) for span in found]
    annotated = _whole_documents(seen, text_document, annotators, names)
    columns = zip(*rows, strict=True) if rows else ((),) * 5
    return {
        **dict(zip(("text", "annotator", "start", "end", "label"), columns, strict=True)),
        "lengths": lengths,
        "documents": [names[document] for document in text_document],
        "annotated": [(names[d], annotators[a]) for d, a in np.argwhere(annotated).tolist()],
        "annotators": annotators,
    }


def columns_of_spans(
    spans: Mapping[str, Any],
    lengths: ArrayLike,
    documents: Names,
    fields: Fields,
    *,
    annotated: Iterable[tuple[str, str]] | None,
    annotators: Names,
) -> dict[str, Any]:
    """Build the columns of `Corpus.from_columns`; the corpus checks the offsets."""
    text_length = _whole_numbers(lengths, "lengths")
    wrong = np.flatnonzero((text_length < 0) | (text_length > MOST_POSITIONS))
    if len(wrong):
        length = text_length[wrong[0]]
        problem = "negative" if length < 0 else "too large"
        found = f"text {wrong[0]} has the length {length}, which is {problem}"
        raise DataError(found, expected=f"a number from 0 to {MOST_POSITIONS:,}")
    text_document, names = _documents_of_texts(documents, len(text_length))
    for name in ("annotator", "label"):
        if not is_list(spans[name]):
            raise DataError(f"column {name!r} is ", Quote(spans[name]), expected="a list of names")
    annotator = spans["annotator"]
    known = annotators if annotators is not None else sorted(distinct_names("annotator", annotator))
    ordered = validated_names("annotator", known)
    sizes = {len(column) if is_list(column) else np.size(column) for column in spans.values()}
    if len(sizes) > 1:
        raise DataError(
            "the columns text, annotator, start, end and label differ in length "
            f"({', '.join(map(str, sorted(sizes)))})",
            expected="one value for each span",
        )
    rank = {name: index for index, name in enumerate(ordered)}
    stranger = next((name for name in annotator if name not in rank), None)
    if stranger is not None:
        raise DataError("annotator ", Quote(stranger), " is not among ", *quotes(ordered))
    labels, span_label = coded("label", spans["label"])
    if annotated is None:
        pairs = np.indices((len(names), len(ordered))).reshape(2, -1)
    else:
        pairs = _annotation_pairs(annotated, names, rank)
    return {
        **_columns_of_texts(names, fields, text_document, text_length, ordered),
        **dict(zip(_ANNOTATIONS, pairs, strict=True)),
        "labels": labels,
        "span_annotator": np.array([rank[name] for name in annotator], dtype=np.int64),
        "span_label": span_label,
        **{f"span_{name}": _whole_numbers(spans[name], name) for name in ("text", "start", "end")},
    }


_ANNOTATIONS = ("annotation_document", "annotation_annotator")
_BY_ANNOTATOR = "a mapping of annotators to their texts, such as {'anna': [...], 'ben': [...]}"


def _columns_of_texts(
    names: tuple[str, ...], fields: Fields, document: Ints, length: Ints, annotators: Names
) -> dict[str, Any]:
    """Build the columns that `columns_of_tags` and `columns_of_spans` have in common."""
    return {
        "documents": names,
        "fields": _validated_fields(fields, len(names)),
        "text_document": document,
        "text_length": length,
        "annotators": annotators,
    }


def lengths_of_texts(
    spans: Any, lengths: Any, texts: Any, tokens: Any, positions: str | None
) -> tuple[Any, dict[str, Any], str]:
    """Find the positions of each text, the columns of known texts, and what offsets count then."""
    lengths = plain(lengths, "lengths")
    if texts is None and tokens is None:
        if lengths is None:
            remedy = "pass texts=, tokens= or lengths=, one for each text"
            raise DataError("the lengths of the texts are not known", remedy=remedy)
        return lengths, {}, "tokens"
    counted = "characters" if tokens is None else "tokens"
    check_counted(counted, positions)
    _, n_texts = _validated_annotations(spans)
    if tokens is None:
        known: dict[str, Any] = {"texts": checked_texts(texts, n_texts)}
        own = list(map(len, known["texts"]))
    else:
        known = columns_of_tokens(tokens, n_texts, texts)
        own = known.pop("token_count").tolist()
    if lengths is not None:
        check_lengths(lengths, own, counted)
    return own, known, counted


def check_counted(counted: str, positions: str | None) -> None:
    """Refuse positions that are not what offsets count next to texts or tokens."""
    if positions not in {None, counted}:
        beside = Use("texts" if counted == "characters" else "tokens", is_name=True)
        remedy: Text = ("leave ", Use("positions", is_name=True), " out")
        if counted == "characters":
            remedy = "pass tokens=, or use beyondchance.corpus, which makes tokens of the texts"
        raise OptionError(
            *given("positions", positions),
            *(", but next to ", beside, f" offsets count {counted}"),
            remedy=remedy,
        )


def check_lengths(lengths: Any, own: Sequence[int], counted: str) -> None:
    """Refuse lengths that are not those of the texts or tokens next to them."""
    if not is_list(lengths) or list(lengths) != list(own):
        raise MismatchError(f"lengths are not the numbers of {counted}", remedy="leave them out")


def columns_of_tokens(tokens: Any, n_texts: int, texts: Any = None) -> dict[str, Any]:
    """Build the texts of tokens, and find the characters of each token in them.

    The tokens are joined by spaces, or found one after the other in the texts that are given.
    ``token_count`` is how many tokens each text has.
    """
    listed = plain(tokens, "tokens", depth=1)
    _check_number("lists of tokens", listed, n_texts, "a list of tokens for each text")
    for number, words in enumerate(listed):
        if not is_list(words) or not all(isinstance(word, str) and word for word in words):
            where = f"tokens of text {number}"
            raise DataError("found ", Quote(words), where=where, expected="a list of strings")
    known = tuple(map(" ".join, listed)) if texts is None else checked_texts(texts, n_texts)
    start: list[int] = []
    end: list[int] = []
    for number, (text, words) in enumerate(zip(known, listed, strict=True)):
        place = 0
        for word in words:
            begin = text.find(word, place)
            if begin < 0:
                problem = ("token ", Quote(word), " does not follow the one before it")
                raise MismatchError(*problem, where=f"text {number}", expected="its tokens")
            place = begin + len(word)
            start.append(begin)
            end.append(place)
    return {
        "texts": known,
        "token_start": np.array(start, dtype=np.int64),
        "token_end": np.array(end, dtype=np.int64),
        "token_count": np.array(list(map(len, listed)), dtype=np.int64),
    }


def checked_texts(texts: Any, n_texts: int) -> tuple[str, ...]:
    """Check that there is a string for each text, and return them."""
    listed = plain(texts, "texts")
    _check_number("strings", listed, n_texts, "a string for each text")
    for number, text in enumerate(listed):
        if not isinstance(text, str):
            raise DataError("found ", Quote(text), where=f"text {number}", expected="a string")
    return tuple(listed)


# --- Checks -------------------------------------------------------------------


def _check_number(name: str, values: Any, n_texts: int, expected: str) -> None:
    """Refuse what is not a list with one value for each text."""
    if not is_list(values):
        raise DataError(f"{name} are ", Quote(values), expected=expected)
    if len(values) != n_texts:
        raise MismatchError(f"{len(values)} {name} for {n_texts} texts", expected=expected)


def _where(
    text: int, annotator: str, documents: Sequence[str], text_document: Ints
) -> tuple[Piece, ...]:
    """Name a text and the annotator whose annotations of it are meant."""
    return (*named_text(text, documents, text_document), ", annotator ", Quote(annotator))


def _validated_fields(fields: Fields, n_documents: int) -> dict[str, tuple[str, ...]]:
    if fields is None:
        return {}
    if not isinstance(fields, Mapping):
        raise DataError("fields are ", Quote(fields), expected="a mapping of names to lists")
    result = {}
    for name, values in zip(validated_names("field", fields), fields.values(), strict=True):
        if not is_list(values) or len(values) != n_documents:
            size = f"{len(values)} values" if is_list(values) else Quote(values)
            found = ("field ", Quote(name), " has ", size, f" for {n_documents} documents")
            raise DataError(*found, expected="one value for each document")
        result[name] = tuple("" if value is None else str(value) for value in values)
    return result


def _validated_annotations(texts: Mapping[str, Sequence[Any]]) -> tuple[tuple[str, ...], int]:
    """Return the annotators and the number of texts, which has to be the same for all of them."""
    if not isinstance(texts, Mapping):
        raise DataError("found ", Quote(texts), expected=_BY_ANNOTATOR)
    if not texts:
        raise DataError("no annotators", expected=_BY_ANNOTATOR)
    annotators = validated_names("annotator", texts)
    for name, sequences in texts.items():
        if not is_list(sequences):
            where = ("annotator ", Quote(name))
            raise DataError("found ", Quote(sequences), where=where, expected="one list per text")
    n_texts = len(texts[annotators[0]])
    for name in annotators[1:]:
        if len(texts[name]) != n_texts:
            first, other = Quote(annotators[0]), Quote(name)
            found = (first, f" has {n_texts} texts, ", other, f" has {len(texts[name])}")
            expected = "the same texts in the same order"
            remedy = "give None where an annotator did not annotate a text"
            raise MismatchError(*found, expected=expected, remedy=remedy)
    return annotators, n_texts


def lists_of(annotations: Any) -> Any:
    """Convert the annotations of each annotator to lists of lists, whatever they are like."""
    if not isinstance(annotations, Mapping):
        return annotations
    return {
        name: plain(texts, ("annotator ", Quote(name)), depth=1)
        for name, texts in annotations.items()
    }


def _check_tokens(
    counts: Ints, lengths: Ints, annotators: Names, names: tuple[str, ...], text_document: Ints
) -> None:
    """Refuse tags that are more or fewer than the tokens."""
    row, text = np.nonzero((lengths >= 0) & (lengths != counts))
    if len(row):
        place = _where(int(text[0]), (annotators or ())[row[0]], names, text_document)
        found = f"{lengths[row[0], text[0]]} tags for {counts[text[0]]} tokens"
        raise MismatchError(found, where=place, expected="one tag for each token")


def _check_triples(spans: Any, where: Callable[[], tuple[Piece, ...]]) -> None:
    """Refuse what is not a list of (start, end, label)."""
    if not is_list(spans):
        expected = "a list of (start, end, label) for each text"
        raise SpanError("found ", Quote(spans), where=where(), expected=expected)
    for number, span in enumerate(spans):
        if not is_list(span) or len(span) != 3:
            place = (*where(), f", span {number}")
            raise SpanError("found ", Quote(span), where=place, expected="(start, end, label)")
        for name, value in zip(("start", "end"), span[:2], strict=True):
            if not _is_whole(value):
                place = (*where(), f", span {number}")
                found = f"its {name} is "
                raise SpanError(found, Quote(value), where=place, expected="a whole number")


def _is_whole(value: object) -> bool:
    """Return whether a value is a whole number in the range of 64 bits."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return False
    return bool(-(2**63) <= value < 2**63 and value == value // 1)  # type: ignore[operator]


def _documents_of_texts(
    documents: Sequence[str] | None, n_texts: int
) -> tuple[Ints, tuple[str, ...]]:
    """Return the document of each text, and the names of the documents."""
    if documents is None:
        return np.arange(n_texts), tuple(map(str, range(n_texts)))
    documents = plain(documents, "documents")
    _check_number("documents", documents, n_texts, "a name for each text")
    distinct_names("document", documents)
    index: dict[str, int] = {}
    text_document = np.empty(n_texts, dtype=np.int64)
    previous = None
    for text, name in enumerate(documents):
        if name != previous and name in index:
            scattered = ("document ", Quote(name), " goes on after other documents")
            expected = "the texts of a document to follow each other"
            raise DataError(*scattered, where=f"text {text}", expected=expected)
        text_document[text] = index.setdefault(name, len(index))
        previous = name
    return text_document, validated_names("document", index)


def _tag_counts(
    sequences: Tags, annotator: str, names: tuple[str, ...], text_document: Ints
) -> Ints:
    """Count the tags of each text; -1 where the annotator did not annotate it."""
    if _LISTS.issuperset(map(type, sequences)):
        return np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))  # type: ignore[arg-type]
    counts = np.empty(len(sequences), dtype=np.int64)
    for text, sequence in enumerate(sequences):
        if not (sequence is None or is_list(sequence)):
            where = _where(text, annotator, names, text_document)
            expected = "a list of tags for each text"
            raise DataError("found ", Quote(sequence), where=where, expected=expected)
        counts[text] = -1 if sequence is None else len(sequence)
    return counts


def _numbers_of_tags(counts: Ints, annotators: tuple[str, ...]) -> tuple[Piece, ...]:
    """Say how many tags annotators have in one text, without those who did not annotate it (-1)."""
    pieces: list[Piece] = []
    for name, n in zip(annotators, counts.tolist(), strict=True):
        pieces += [", ", Quote(name), f" has {n} tags"] if n >= 0 else []
    return tuple(pieces[1:])


def _whole_documents(
    seen: Bools, text_document: Ints, annotators: Sequence[str], names: Sequence[str]
) -> Bools:
    """Return who annotated which document, shape (documents, annotators)."""
    if len(names) == len(text_document):
        return seen.T
    annotated = np.zeros((len(names), len(annotators)), dtype=bool)
    annotated[text_document] = seen.T
    partly = annotated[text_document] != seen.T
    if partly.any():
        text, row = np.argwhere(partly)[0].tolist()
        document, annotator = Quote(names[text_document[text]]), Quote(annotators[row])
        raise DataError(
            *("document ", document, " was annotated by ", annotator, " in part only"),
            expected="all of its texts or none",
            remedy="make each text its own document",
        )
    return annotated


def _annotation_pairs(
    annotated: Iterable[tuple[str, str]], names: tuple[str, ...], rank: Mapping[str, int]
) -> Ints:
    """Convert names to sorted, distinct (document, annotator) numbers, shape (2, annotations)."""
    index = {name: number for number, name in enumerate(names)}
    pairs = set()
    for pair in annotated if isinstance(annotated, Iterable) else [annotated]:
        if not is_list(pair) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            expected = "pairs (document, annotator)"
            raise DataError("'annotated' holds ", Quote(pair), expected=expected)
        document, annotator = pair
        for kind, name, known in (("document", document, index), ("annotator", annotator, rank)):
            if name not in known:
                found = f"'annotated' names the {kind} "
                raise DataError(found, Quote(name), ", which the corpus lacks")
        pairs.add((index[document], rank[annotator]))
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T


def _whole_numbers(values: ArrayLike, name: str) -> Ints:
    """Convert a column to integers, refusing everything that is not one."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and np.can_cast(values, np.int64):
        return values.astype(np.int64)
    if not is_list(values):
        raise SpanError(f"column {name!r} is ", Quote(values), expected="a list of whole numbers")
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[arg-type]
    if set(map(type, listed)) <= {int}:
        try:
            return np.array(listed, dtype=np.int64)
        except OverflowError:
            pass
    for row, value in enumerate(listed):
        if not _is_whole(value):
            where = f"column {name!r}, row {row}"
            raise SpanError("found ", Quote(value), where=where, expected="a whole number")
    return np.array(listed, dtype=np.int64)


def check_spans(corpus: Corpus) -> None:
    """Refuse spans outside their text or by an annotator who did not annotate it."""
    text, start, end = corpus.span_text, corpus.span_start, corpus.span_end
    n_texts = len(corpus.text_length)
    lost = np.flatnonzero((text < 0) | (text >= n_texts))
    if len(lost):
        found = f"span {lost[0]} is in text {text[lost[0]]}"
        raise SpanError(found, expected=f"a number from 0 to {n_texts - 1}")
    negative = start < 0
    empty = end <= start
    beyond = end > corpus.text_length[text]
    wrong = np.flatnonzero(negative | empty | beyond)
    if len(wrong):
        index = int(wrong[0])
        named = corpus.describe_span(index)
        if negative[index]:
            raise SpanError(*named, " starts before the text", expected="offsets from 0 on")
        if end[index] == start[index]:
            raise SpanError(*named, " is empty", expected="an end after the start")
        if empty[index]:
            raise SpanError(*named, " ends before it starts", expected="start < end")
        length, positions = corpus.text_length[text[index]], corpus.positions
        remedy = f"check that offsets count {positions} and that the end is exclusive"
        found = f" ends past the text, which has {length} {positions}"
        raise SpanError(*named, found, remedy=remedy)
    n_annotators = max(len(corpus.annotators), 1)
    listed = corpus.annotation_document * n_annotators + corpus.annotation_annotator
    used = corpus.text_document[text] * n_annotators + corpus.span_annotator
    unlisted = np.flatnonzero(~np.isin(used, listed))
    if len(unlisted):
        raise DataError(
            *corpus.describe_span(int(unlisted[0])),
            " is by an annotator who is not listed as having annotated the document",
            remedy="add the pair to 'annotated'",
        )
