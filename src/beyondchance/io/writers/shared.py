"""What the writers share: annotations in order, texts, tokens, ids, and names of files."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count, pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError, OverlapError
from beyondchance.io.layers import NAMED_ENTITY, short_name
from beyondchance.io.offsets import Interval, tokenized
from beyondchance.io.saving import is_folder
from beyondchance.io.shapes import WRITTEN
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
_IN_NO_NAME = re.compile(r"[\\\x00-\x1f\x7f\ud800-\udfff]|^.:")
# There, what follows a colon is hidden, a last dot is left out, and what is written to NUL lost.
_IN_NO_NAME_ON_WINDOWS = re.compile(
    r"""[<>:"|?*]|\.(/|$)|(^|/)(con|prn|aux|nul|(com|lpt)\d)(\.|/|$)""", re.IGNORECASE
)


class Documents(NamedTuple):
    """The documents of a corpus as whole texts, and the characters of spans in them.

    Attributes
    ----------
    texts : list of str
        The text of each document.
    places : list of (start, end)
        Where each span begins and ends in its document.
    labels : list of str
        The label of each span.
    sentences : list of lists of (start, end)
        The texts that each document is made of.
    tokens : list of lists of lists of (start, end), optional
        The tokens of each sentence of each document, where they are known.
    """

    texts: list[str]
    places: list[Interval]
    labels: list[str]
    sentences: list[list[Interval]]
    tokens: list[list[list[Interval]]] | None


class Export(NamedTuple):
    """What is written, and how a call of `write` asked for it.

    Attributes
    ----------
    corpus : Corpus
    annotations : dict
        The spans of each (document, annotator).
    path : str
        Where it is written.
    name : str
        The format.
    spans_key : str, optional
        The span group to write.
    as_predictions : bool
        Whether annotations are written as those of models.
    notes : mapping of str to str
        A note for each of some documents.
    """

    corpus: Corpus
    annotations: Annotations
    path: str
    name: str
    spans_key: str | None = None
    as_predictions: bool = False
    notes: Mapping[str, str] = {}

    @property
    def is_folder(self) -> bool:
        """Return whether files are written into a folder."""
        return is_folder(self.path)

    @property
    def ending(self) -> str:
        """Return what the path ends with, in lower case and without a dot."""
        return PurePath(self.path).suffix.lower()[1:]

    @property
    def has_sentences(self) -> bool:
        """Return whether texts are sentences, which are worth writing."""
        corpus = self.corpus
        return corpus.unit == "sentence" or len(corpus.text_length) > len(corpus.documents)

    def named(self, document: int) -> tuple[Piece, ...]:
        """Return a document in a message."""
        return "document ", Quote(self.corpus.documents[document])

    def unfit(self, *found: Piece, remedy: Text) -> DataError:
        """Build the refusal of what the format has no way to write."""
        return DataError(*found, f", which {self.name} cannot represent", remedy=remedy)

    def texts(self) -> tuple[str, ...]:
        """Return the texts, refused if they are not known or positions are not in them."""
        if self.corpus.positions == "frames":
            expected = f"tokens or characters for {self.name}"
            raise DataError("positions are frames of time", expected=expected)
        if self.corpus.texts is None:
            found = f"{self.name} needs the texts, which this corpus does not know"
            raise DataError(found, remedy="read it from a format that has them, or write a table")
        return self.corpus.texts

    def documents(self, *, needs_tokens: bool = False) -> Documents:
        """Return the documents, with a line break between their texts.

        Parameters
        ----------
        needs_tokens : bool
            Whether there are to be tokens, by rule where positions are characters.
        """
        corpus, texts = self.corpus, self.texts()
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
            list(zip(start.tolist(), end.tolist(), strict=True)),
            [corpus.labels[label] for label in corpus.span_label.tolist()],
            sentences,
            None if tokens is None else inside,
        )

    def places_of(self, documents: Documents, document: int) -> dict[str, list[Interval]]:
        """Return the tokens and sentences of a document, for formats without a place for them."""
        found = {}
        if documents.tokens is not None:
            found[WRITTEN["tokens"]] = [*chain.from_iterable(documents.tokens[document])]
        if self.has_sentences:
            found[WRITTEN["sentences"]] = documents.sentences[document]
        return found

    def fields_of(self, document: int) -> dict[str, str]:
        """Return the fields of a document that have a value."""
        fields = self.corpus.fields.items()
        return {name: values[document] for name, values in fields if values[document]}

    def about(self, document: int) -> dict[str, str]:
        """Return the fields of a document that have a value, and its note."""
        note = self.notes.get(self.corpus.documents[document])
        return {**self.fields_of(document), **({} if note is None else {"note": note})}

    def ids_of(
        self, spans: Sequence[int], prefix: str = "", kind: re.Pattern[str] | None = None
    ) -> list[str]:
        """Return an id for each span: its own, if it is the only one with it, or a number.

        Parameters
        ----------
        spans : sequence of int
            Those that must have different ids.
        prefix : str
            What is before the numbers of spans that have no id.
        kind : pattern, optional
            What the ids of the format are like; others are not kept.
        """
        known = self.corpus.span_id
        own = [""] * len(spans) if known is None else [known[i] for i in spans]
        times = Counter(own)
        kept = [
            name if times[name] == 1 and (kind is None or kind.fullmatch(name)) else ""
            for name in own
        ]
        taken = set(kept)
        free = (name for number in count(1) if (name := f"{prefix}{number}") not in taken)
        return [name or next(free) for name in kept]

    def layer_and_feature(self) -> tuple[str, str]:
        """Return the layer of the source and its feature, or that of named entities.

        The feature is empty if the name of the layer is the only label, as in the source.
        """
        layer, feature = (self.corpus.origin.get(name, "") for name in ("layer", "feature"))
        is_name = all(map(_NAME.fullmatch, (*layer.split("."), feature or "value")))
        # What every document has is no place for labels.
        is_general = not _GENERAL.isdisjoint({short_name(layer), feature})
        if is_general or layer.startswith("uima.") or not is_name:
            return NAMED_ENTITY, "value"
        is_label = set(self.corpus.labels) == {short_name(layer)}
        return layer, feature or ("" if is_label else "value")

    def check_overlap(self, spans: Sequence[int], remedy: Text) -> None:
        """Refuse spans of one annotator that share a position; they are sorted."""
        corpus = self.corpus
        for last, span in pairwise(spans):
            is_same = corpus.span_text[last] == corpus.span_text[span]
            if is_same and corpus.span_start[span] < corpus.span_end[last]:
                other = corpus.span(last)
                overlap = f" overlaps [{other.start}, {other.end}) "
                raise OverlapError(
                    *(*pieces(corpus.describe_span(span)), overlap),
                    *(Quote(other.label), " of the same annotator"),
                    remedy=remedy,
                )

    def check_complete(self, pairs: Iterable[tuple[int, int]], what: str) -> None:
        """Refuse a document that an annotator did not annotate, which one file does not say."""
        for document, annotator in pairs:
            if (document, annotator) not in self.annotations:
                names = self.corpus.documents[document], self.corpus.annotators[annotator]
                raise DataError(
                    *quoting("document {} was not annotated by {}", *names),
                    f", which one file of {what} cannot represent",
                    where=self.path,
                    remedy=FOLDER,
                )

    def for_each_or_all(
        self, ending: str, composed: Callable[[Sequence[int]], bytes], *, alone: str = ""
    ) -> Files:
        """Return the file of all annotators who annotated something, or one for each in a folder.

        Parameters
        ----------
        ending : str
        composed : function of annotators
            The content of their file.
        alone : str
            What a file is called that can hold one annotator only.
        """
        people = sorted({annotator for _, annotator in self.annotations})
        names = [self.corpus.annotators[annotator] for annotator in people]
        if self.is_folder:
            return {
                f"{file_name('annotator', name)}.{ending}": composed([annotator])
                for name, annotator in zip(names, people, strict=True)
            }
        if alone and len(people) > 1:
            found = f"one {alone} holds one annotator, but there are {len(people)} ("
            raise DataError(found, *quotes(names), ")", where=self.path, remedy=FOLDER)
        return composed(people)

    def json_lines(
        self,
        row: Callable[[tuple[int, int], list[int]], Mapping[str, Any]],
        what: str,
        *,
        alone: str = "",
    ) -> Files:
        """Return the file of all annotators, or one for each: a line for each document.

        Parameters
        ----------
        row : function of a document and annotator, and of its spans
            The object of a line.
        what : str
            What messages call the file.
        alone : str
            What a file is called that can hold one annotator only.
        """

        def lines(annotators: Sequence[int]) -> bytes:
            own = (pair for pair in self.annotations if pair[1] in annotators)
            return encoded(json_lines(row(pair, self.annotations[pair]) for pair in own), what)

        return self.for_each_or_all("jsonl", lines, alone=alone)

    def stem_of(self, document: int, annotator: int) -> str:
        """Return the name of a document's file in the folder of an annotator."""
        who = file_name("annotator", self.corpus.annotators[annotator])
        return f"{who}/{file_name('document', self.corpus.documents[document], may_nest=True)}"

    def for_each_document(
        self, ending: str, composed: Callable[[int, int], bytes], *, what: str
    ) -> Files:
        """Return the file of the only document, or one for each in the folder of each annotator."""
        pairs = list(self.annotations)
        if self.is_folder:
            return {f"{self.stem_of(*pair)}.{ending}": composed(*pair) for pair in pairs}
        if len(pairs) > 1:
            raise DataError(
                f"{what} holds a document of one annotator, but there are {len(pairs)}",
                where=self.path,
                remedy=FOLDER,
            )
        return composed(*pairs[0])


NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
"""A whole number as a program writes it, so that it is the same when it is read again."""


def number_or_name(name: str) -> int | str:
    """Return a name, as a number if it is one."""
    return int(name) if NUMBER.fullmatch(name) else name


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write one JSON object a line."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


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
    parts = name.split("/")
    is_safe = (
        all(part and not part.startswith(".") and part == part.strip() for part in parts)
        and not _IN_NO_NAME.search(name)
        and not (sys.platform == "win32" and _IN_NO_NAME_ON_WINDOWS.search(name))
        and (may_nest or len(parts) == 1)
    )
    if not is_safe:
        found = (f"{kind} ", Quote(name), " cannot be the name of a file")
        raise DataError(*found, remedy="rename it")
    return name


def check_xml(strings: Iterable[str], where: Text, *, remedy: str) -> None:
    """Refuse characters that XML has no way to write."""
    for string in strings:
        if odd := _IN_NO_XML.search(string):
            found = ("holds the character ", Quote(odd[0]), ", which XML cannot represent")
            raise DataError(*found, where=where, remedy=remedy)
