"""What the writers share: annotations in order, texts, tokens, ids, and names of files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError, OverlapError
from beyondchance.io.layers import NAMED_ENTITY, short_name
from beyondchance.io.offsets import Interval, tokenized
from beyondchance.io.saving import is_folder
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote, Text, pieces, quotes
from beyondchance.types import Ints

Annotations = dict[tuple[int, int], list[int]]
"""The spans of each (document, annotator)."""
Files = bytes | dict[str, bytes]
"""What is written: one file, or the files of a folder by their names."""
FOLDER = "give a folder, a path that ends with '/', for a file each"
"""How to write what does not fit into one file."""
_IN_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_GENERAL = frozenset({"Token", "Sentence", "DocumentMetaData", "begin", "end", "sofa"})
_IN_NO_NAME = re.compile(r"[\\\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a call of `write` asked for.

    Attributes
    ----------
    spans_key : str, optional
        The span group to write.
    as_predictions : bool
        Whether annotations are written as those of models.
    notes : mapping of str to str
        A note for each of some documents.
    """

    spans_key: str | None = None
    as_predictions: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a corpus as whole texts, and the characters of spans in them.

    Attributes
    ----------
    texts : list of str
        The text of each document.
    start, end : list of int
        Where each span begins and ends in its document.
    sentences : list of lists of (start, end)
        The texts that each document is made of.
    tokens : list of lists of lists of (start, end), optional
        The tokens of each sentence of each document, where they are known.
    """

    texts: list[str]
    start: list[int]
    end: list[int]
    sentences: list[list[Interval]]
    tokens: list[list[list[Interval]]] | None


def whole_documents(corpus: Corpus, name: str, *, needs_tokens: bool = False) -> Documents:
    """Return the documents of a corpus, with a line break between their texts.

    Parameters
    ----------
    corpus : Corpus
        Refused if its texts are not known.
    name : str
        The format, for messages.
    needs_tokens : bool
        Whether there are to be tokens, by rule where positions are characters.
    """
    texts = known_texts(corpus, name)
    has_tokens = needs_tokens or corpus.positions == "tokens"
    tokens = tokens_of(corpus, texts) if has_tokens else None
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    begins = begins_of(corpus, sizes, gap=1)
    place = corpus.span_text, corpus.span_start, corpus.span_end
    start, end = (side + begins[corpus.span_text] for side in corpus.characters(*place))
    sentences: list[list[Interval]] = [[] for _ in corpus.documents]
    inside: list[list[list[Interval]]] = [[] for _ in corpus.documents]
    rows = zip(corpus.text_document.tolist(), begins.tolist(), sizes.tolist(), strict=True)
    for text, (document, begin, size) in enumerate(rows):
        sentences[document].append((begin, begin + size))
        if tokens is not None:
            inside[document].append([(s + begin, e + begin) for s, e in tokens[text]])
    return Documents(
        joined_texts(corpus, texts),
        start.tolist(),
        end.tolist(),
        sentences,
        None if tokens is None else inside,
    )


def has_sentences(corpus: Corpus) -> bool:
    """Return whether texts are sentences, which are worth writing."""
    return corpus.unit == "sentence" or len(corpus.text_length) > len(corpus.documents)


NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
"""A whole number as a program writes it, so that it is the same when it is read again."""


def number_or_name(name: str) -> int | str:
    """Return a name, as a number if it is one."""
    return int(name) if NUMBER.fullmatch(name) else name


def ids_of(
    corpus: Corpus, spans: Sequence[int], prefix: str = "", kind: re.Pattern[str] | None = None
) -> list[str]:
    """Return an id for each span: its own, if it is the only one with it, or a number.

    Parameters
    ----------
    corpus : Corpus
    spans : sequence of int
        Those that must have different ids.
    prefix : str
        What is before the numbers of spans that have no id.
    kind : pattern, optional
        What the ids of the format are like; others are not kept.
    """
    own = [""] * len(spans) if corpus.span_id is None else [corpus.span_id[i] for i in spans]
    times = Counter(own)
    kept = [
        name if times[name] == 1 and (kind is None or kind.fullmatch(name)) else "" for name in own
    ]
    taken = set(kept)
    free = (name for number in count(1) if (name := f"{prefix}{number}") not in taken)
    return [name or next(free) for name in kept]


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write one JSON object a line."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def about(corpus: Corpus, document: int, notes: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a document that have a value, and its note."""
    found = {name: values[document] for name, values in corpus.fields.items() if values[document]}
    note = notes.get(corpus.documents[document])
    return found if note is None else {**found, "note": note}


def annotations_of(corpus: Corpus) -> Annotations:
    """Return the spans of each (document, annotator) that there is, by text, start and end."""
    pairs = np.stack([corpus.annotation_document, corpus.annotation_annotator], axis=1)
    found: Annotations = {(document, annotator): [] for document, annotator in pairs.tolist()}
    order = np.lexsort((corpus.span_label, corpus.span_end, corpus.span_start, corpus.span_text))
    documents = corpus.text_document[corpus.span_text[order]]
    rows = np.stack([documents, corpus.span_annotator[order], order], axis=1)
    for document, annotator, span in rows.tolist():
        found[document, annotator].append(span)
    return found


def begins_of(corpus: Corpus, sizes: Ints, gap: int = 0) -> Ints:
    """Return where each text begins in its document if the texts follow one another."""
    begins = np.cumsum(sizes + gap) - sizes - gap
    first = np.searchsorted(corpus.text_document, corpus.text_document)
    return np.asarray(begins - begins[first], dtype=np.int64)


def joined_texts(corpus: Corpus, texts: Sequence[str]) -> list[str]:
    """Return the text of each document."""
    parts: list[list[str]] = [[] for _ in corpus.documents]
    for document, text in zip(corpus.text_document.tolist(), texts, strict=True):
        parts[document].append(text)
    return ["\n".join(part) for part in parts]


def tokens_of(corpus: Corpus, texts: Sequence[str]) -> list[list[Interval]]:
    """Return the characters of each token of each text, by rule where positions are characters."""
    if corpus.positions == "characters":
        return [tokenized(text) for text in texts]
    if corpus.token_start is None or corpus.token_end is None:
        found = "the corpus does not know its tokens, only how many there are"
        raise DataError(found, remedy="read it from a format that has them, or write a table")
    pairs = list(zip(corpus.token_start.tolist(), corpus.token_end.tolist(), strict=True))
    ends = np.cumsum(corpus.text_length).tolist()
    return [pairs[start:end] for start, end in pairwise([0, *ends])]


def known_texts(corpus: Corpus, name: str) -> tuple[str, ...]:
    """Return the texts, refused if they are not known or positions are not in them."""
    if corpus.positions == "frames":
        raise DataError("positions are frames of time", expected=f"tokens or characters for {name}")
    if corpus.texts is None:
        found = f"{name} needs the texts, which this corpus does not know"
        raise DataError(found, remedy="read it from a format that has them, or write a table")
    return corpus.texts


def check_overlap(corpus: Corpus, spans: Sequence[int], remedy: Text) -> None:
    """Refuse spans of one annotator that share a position; they are sorted."""
    for last, span in pairwise(spans):
        is_same = corpus.span_text[last] == corpus.span_text[span]
        if is_same and corpus.span_start[span] < corpus.span_end[last]:
            other = corpus.span(last)
            raise OverlapError(
                *(*pieces(corpus.describe_span(span)), f" overlaps [{other.start}, {other.end}) "),
                Quote(other.label),
                " of the same annotator",
                remedy=remedy,
            )


def encoded(text: str, *name: Piece) -> bytes:
    """Return a text in UTF-8, refused where no reader would take it."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = Quote(text[error.start])
        found = (*name, " holds half of a character (", half, "), which UTF-8 cannot represent")
        raise DataError(*found, remedy="correct the text") from None
    if b"\0" in data:
        found = (*name, " holds a NUL character, which text cannot represent")
        raise DataError(*found, remedy="correct the text")
    return data


def file_name(kind: str, name: str, *, may_nest: bool = False) -> str:
    """Return a name, refused if no file can have it or if it would lie somewhere else."""
    parts = name.split("/") if may_nest else [name]
    is_safe = (
        all(part and not part.startswith(".") and part == part.strip() for part in parts)
        and str(PurePosixPath(name)) == name
        and not _IN_NO_NAME.search(name)
        and not PureWindowsPath(name).drive
        and ("/" not in name or may_nest)
    )
    if not is_safe:
        found = (f"{kind} ", Quote(name), " cannot be the name of a file")
        raise DataError(*found, remedy="rename it")
    return name


def check_complete(
    corpus: Corpus, annotations: Annotations, pairs: Iterable[tuple[int, int]], path: str, name: str
) -> None:
    """Refuse a document and an annotator who did not annotate it, which one file does not say."""
    for document, annotator in pairs:
        if (document, annotator) not in annotations:
            names = corpus.documents[document], corpus.annotators[annotator]
            raise DataError(
                *quoting("document {} was not annotated by {}", *names),
                f", which one file of {name} cannot represent",
                where=path,
                remedy=FOLDER,
            )


def check_xml(strings: Iterable[str], where: Text, *, remedy: str) -> None:
    """Refuse characters that XML has no way to write."""
    for string in strings:
        if odd := _IN_NO_XML.search(string):
            found = ("holds the character ", Quote(odd[0]), ", which XML cannot represent")
            raise DataError(*found, where=where, remedy=remedy)


def layer_and_feature(corpus: Corpus) -> tuple[str, str]:
    """Return the layer of the source and its feature, or that of named entities.

    The feature is empty if the name of the layer is the only label, as in the source.
    """
    layer, feature = (corpus.origin.get(name, "") for name in ("layer", "feature"))
    is_name = all(map(_NAME.fullmatch, (*layer.split("."), feature or "value")))
    # What every document has is no place for labels.
    is_general = layer.startswith("uima.") or not _GENERAL.isdisjoint({short_name(layer), feature})
    if is_general or not is_name:
        return NAMED_ENTITY, "value"
    is_label = set(corpus.labels) == {short_name(layer)}
    return layer, feature or ("" if is_label else "value")


def for_each_or_all(
    corpus: Corpus,
    annotations: Annotations,
    path: str,
    ending: str,
    composed: Callable[[Sequence[int]], bytes],
    *,
    alone: str = "",
) -> Files:
    """Return the file of all annotators who annotated something, or one for each in a folder.

    Parameters
    ----------
    corpus : Corpus
    annotations : dict
    path, ending : str
    composed : function of annotators
        The content of their file.
    alone : str
        What a file is called that can hold one annotator only.
    """
    people = sorted({annotator for _, annotator in annotations})
    names = [corpus.annotators[annotator] for annotator in people]
    if is_folder(path):
        return {
            f"{file_name('annotator', name)}.{ending}": composed([annotator])
            for name, annotator in zip(names, people, strict=True)
        }
    if alone and len(people) > 1:
        found = f"one {alone} holds one annotator, but there are {len(people)} ("
        raise DataError(found, *quotes(names), ")", where=path, remedy=FOLDER)
    return composed(people)


def for_each_document(
    corpus: Corpus,
    annotations: Annotations,
    path: str,
    ending: str,
    composed: Callable[[int, int], bytes],
    *,
    what: str,
) -> Files:
    """Return the file of the only document, or one for each in the folder of each annotator."""
    if is_folder(path):
        people = {i: file_name("annotator", corpus.annotators[i]) for _, i in annotations}
        names = {
            i: file_name("document", corpus.documents[i], may_nest=True) for i, _ in annotations
        }
        return {f"{people[a]}/{names[d]}.{ending}": composed(d, a) for d, a in annotations}
    if len(annotations) > 1:
        raise DataError(
            f"{what} holds a document of one annotator, but there are {len(annotations)}",
            where=path,
            remedy=FOLDER,
        )
    return composed(*next(iter(annotations)))
