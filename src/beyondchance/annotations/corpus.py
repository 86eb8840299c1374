"""Annotated texts as columns: the Corpus, and the ways to build one.

A *text* is the stretch in which spans are shuffled: a sentence, or a whole
document. A *document* is what is listed, resampled and trusted to be independent;
it has one text or more. Offsets are half-open, ``[start, end)``, in positions:
tokens or characters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import is_not
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.annotations.tags import decode_tags
from beyondchance.checks import checked_option
from beyondchance.errors import DataError, MismatchError, SpanError
from beyondchance.types import Bools, Ints

Tags = Sequence[Sequence[str] | None]
Spans = Sequence[Sequence[tuple[int, int, str]] | None]

UNITS = ("sentence", "document")
POSITIONS = ("tokens", "characters", "frames")
MOST_POSITIONS = 2**31 - 1
"""Positions that a text may have: products of two of them fit into 64 bits."""


class Span(NamedTuple):
    """A labelled stretch ``[start, end)`` of a text."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A file that annotations came from."""

    name: str
    sha256: str
    format: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Corpus:
    """Texts and what each annotator marked in them, as columns.

    Build one with `from_tags`, `from_spans` or `from_columns`, which check it.

    Attributes
    ----------
    documents : tuple of str
        Identifiers.
    fields : mapping of str to tuple of str
        What documents can be grouped by (batch, round, source), one value each.
    text_document, text_length : arrays of int, shape (texts,)
        The document of each text, ascending, and its number of positions.
    annotators, labels : tuple of str
    annotation_document, annotation_annotator : arrays of int, shape (annotations,)
        Who annotated which document, sorted. An annotator who found nothing in a
        document is listed; one who never saw it is not.
    span_text, span_annotator, span_label, span_start, span_end : arrays of int
        One value for each span.
    unit : {"sentence", "document"}
        What a text is.
    positions : {"tokens", "characters", "frames"}
        What offsets count; frames are the cells of a grid over time.
    options : mapping of str to str or tuple of str
        Choices made on the way in that move a digit, for the signature.
    skipped : mapping of str to int
        What was left out or repaired on the way in, and how often.
    texts : tuple of str, optional
        The characters of each text, where they are known.
    token_start, token_end : arrays of int, optional
        Where positions are tokens of known texts, the characters of each token, in the
        order of the texts.
    gold : str, optional
        The one among the annotators who is a gold standard.
    inputs : tuple of Input
        The files that it came from.
    notes : tuple of str
        What was found out on the way in, for people.
    """

    documents: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text_document: Ints
    text_length: Ints
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    annotation_document: Ints
    annotation_annotator: Ints
    span_text: Ints
    span_annotator: Ints
    span_label: Ints
    span_start: Ints
    span_end: Ints
    unit: str = "document"
    positions: str = "tokens"
    options: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    texts: tuple[str, ...] | None = None
    token_start: Ints | None = None
    token_end: Ints | None = None
    gold: str | None = None
    inputs: tuple[Input, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Corpus({len(self.documents)} documents, {len(self.text_length)} texts, "
            f"{len(self.annotators)} annotators, {len(self.labels)} labels, "
            f"{len(self.span_start)} spans, unit={self.unit!r}, positions={self.positions!r})"
        )

    @classmethod
    def from_tags(
        cls,
        tags: Mapping[str, Tags],
        *,
        scheme: str = "IOB2",
        repair: str = "none",
        documents: Sequence[str] | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
        unit: str = "sentence",
    ) -> Self:
        """Build a corpus from tag sequences.

        Parameters
        ----------
        tags : mapping of annotator to list of tag lists
            One tag list for each text, the same texts in the same order for all.
            None where an annotator did not annotate a text.
        scheme : {"IOB2", "IOB1", "IO", "BIOES", "BILOU", "BMES"}
        repair : {"none", "conlleval", "discard"}
            What to do with sequences that break the scheme: refuse them, begin
            and end spans as the conlleval script does, or leave those spans out.
        documents : sequence of str, optional
            The document of each text; texts of one document follow one another.
            By default each text is a document of its own, named by its number.
        fields : mapping of str to sequence of str, optional
            Values to group documents by, one for each document.
        unit : {"sentence", "document"}
            What one tag list is, for the signature.

        Raises
        ------
        TagError
            For a tag that is unknown or breaks the scheme.
        MismatchError
            When annotators have different texts.

        Examples
        --------
        >>> corpus = Corpus.from_tags(
        ...     {
        ...         "anna": [["B-PER", "I-PER", "O"], ["O", "O"]],
        ...         "ben": [["B-PER", "O", "O"], None],
        ...     }
        ... )
        >>> corpus.spans("0", "anna")
        [Span(start=0, end=2, label='PER')]
        >>> corpus.annotators_of("1")
        ('anna',)
        """
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
            named = _named_text(text, names, text_document)
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
        return cls(
            documents=names,
            fields=_validated_fields(fields, len(names)),
            text_document=text_document,
            text_length=text_length,
            annotators=annotators,
            labels=labels,
            annotation_document=annotation_document,
            annotation_annotator=annotation_annotator,
            span_text=span_text,
            span_annotator=span_annotator,
            span_label=label,
            span_start=found.start,
            span_end=found.end,
            unit=unit,
            options=options,
            skipped={f"tags repaired by {repair}": found.n_repaired} if found.n_repaired else {},
        )

    @classmethod
    def from_spans(
        cls,
        spans: Mapping[str, Spans],
        *,
        lengths: Sequence[int],
        documents: Sequence[str] | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
        unit: str = "document",
        positions: str = "tokens",
    ) -> Self:
        """Build a corpus from ``(start, end, label)`` spans, one list per text.

        Parameters
        ----------
        spans : mapping of annotator to list of span lists
            One list for each text, the same texts in the same order for all.
            An empty list where the annotator found nothing, None where the
            annotator did not annotate the text.
        lengths : sequence of int
            Positions of each text.
        documents, fields
            As in `from_tags`.
        unit, positions
            What a text is, and what offsets count.

        Raises
        ------
        SpanError
            For a span that is empty, reversed, negative, past the end or not made
            of integers.

        Examples
        --------
        >>> corpus = Corpus.from_spans(
        ...     {"anna": [[(0, 2, "PER")], []], "ben": [[(0, 1, "PER")], None]},
        ...     lengths=[5, 7],
        ... )
        >>> corpus
        Corpus(2 documents, 2 texts, 2 annotators, 1 labels, 2 spans, unit='document', \
positions='tokens')
        """
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
                    where = _named_text(text, names, text_document)
                    raise SpanError(f"{where}, annotator {name!r}{problem}")
                for span in found:
                    for column, value in zip(columns, (text, row, *span), strict=True):
                        column.append(value)
        annotated = _whole_documents(seen, text_document, annotators, names)
        document, annotator = np.nonzero(annotated)
        return cls.from_columns(
            text=columns[0],
            annotator=[annotators[row] for row in columns[1]],
            start=columns[2],
            end=columns[3],
            label=columns[4],
            lengths=lengths,
            documents=[names[d] for d in text_document],
            annotated=[
                (names[d], annotators[a])
                for d, a in zip(document.tolist(), annotator.tolist(), strict=True)
            ],
            annotators=annotators,
            fields=fields,
            unit=unit,
            positions=positions,
        )

    @classmethod
    def from_columns(
        cls,
        *,
        text: ArrayLike,
        annotator: Sequence[str],
        start: ArrayLike,
        end: ArrayLike,
        label: Sequence[str],
        lengths: ArrayLike,
        documents: Sequence[str] | None = None,
        annotated: Iterable[tuple[str, str]] | None = None,
        annotators: Sequence[str] | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
        unit: str = "document",
        positions: str = "tokens",
    ) -> Self:
        """Build a corpus from columns: one value for each span.

        Parameters
        ----------
        text : array of int
            Which text each span is in: a number from 0 to ``len(lengths) - 1``.
        annotator, label : sequence of str
        start, end : array of int
        lengths : array of int
            Positions of each text.
        documents : sequence of str, optional
            The document of each text; texts of one document follow one another.
            By default each text is a document of its own, named by its number.
        annotated : iterable of (document, annotator), optional
            Who annotated what. By default everybody annotated every document.
        annotators : sequence of str, optional
            The annotators in the order wanted; by default sorted by name.
        fields : mapping of str to sequence of str, optional
            Values to group documents by, one for each document.
        unit, positions
            What a text is, and what offsets count.

        Examples
        --------
        >>> corpus = Corpus.from_columns(
        ...     text=[0, 0, 1],
        ...     annotator=["anna", "ben", "anna"],
        ...     start=[0, 0, 3],
        ...     end=[2, 1, 5],
        ...     label=["PER", "PER", "LOC"],
        ...     lengths=[4, 6],
        ... )
        >>> corpus.spans("1", "anna"), corpus.spans("1", "ben")
        ([Span(start=3, end=5, label='LOC')], [])
        """
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
        known = (
            annotators
            if annotators is not None
            else sorted(_distinct_names("annotator", annotator))
        )
        ordered = _validated_names("annotator", known)
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
        distinct = {name: code for code, name in enumerate(_distinct_names("label", label))}
        labels, span_label = sorted_names(
            tuple(distinct),
            np.fromiter((distinct[name] for name in label), dtype=np.int64, count=len(label)),
        )
        if annotated is None:
            pairs = np.indices((len(names), len(ordered))).reshape(2, -1)
        else:
            pairs = _annotation_pairs(annotated, names, rank)
        corpus = cls(
            documents=names,
            fields=_validated_fields(fields, len(names)),
            text_document=text_document,
            text_length=text_length,
            annotators=ordered,
            labels=labels,
            annotation_document=pairs[0],
            annotation_annotator=pairs[1],
            span_text=_whole_numbers(text, "text"),
            span_annotator=np.fromiter(
                (rank[name] for name in annotator), dtype=np.int64, count=len(annotator)
            ),
            span_label=span_label,
            span_start=_whole_numbers(start, "start"),
            span_end=_whole_numbers(end, "end"),
            unit=unit,
            positions=positions,
        )
        check_spans(corpus)
        return corpus

    def annotators_of(self, document: str) -> tuple[str, ...]:
        """Who annotated a document."""
        index = self._document_index(document)
        chosen = self.annotation_annotator[self.annotation_document == index]
        return tuple(self.annotators[i] for i in chosen.tolist())

    def spans(self, document: str, annotator: str) -> list[Span]:
        """What an annotator marked in a document, text by text, by start.

        Offsets count from the beginning of the span's own text.
        """
        if annotator not in self.annotators_of(document):
            raise DataError(
                f"document {document!r} was not annotated by {annotator!r}, "
                f"but by {', '.join(map(repr, self.annotators_of(document))) or 'nobody'}"
            )
        chosen = np.flatnonzero(
            (self.text_document[self.span_text] == self._document_index(document))
            & (self.span_annotator == self.annotators.index(annotator))
        )
        order = np.lexsort((self.span_end[chosen], self.span_start[chosen], self.span_text[chosen]))
        return [self.span(i) for i in chosen[order].tolist()]

    def span(self, index: int) -> Span:
        """The span at `index` of the columns."""
        return Span(
            int(self.span_start[index]),
            int(self.span_end[index]),
            self.labels[int(self.span_label[index])],
        )

    def select(
        self,
        *,
        documents: Collection[str] | None = None,
        annotators: Collection[str] | None = None,
        labels: Collection[str] | None = None,
    ) -> Self:
        """The part of the corpus with these documents, annotators and labels.

        The order stays that of the corpus. Leaving out a label leaves out its
        spans; the texts stay. A choice of labels or annotators becomes part of the
        signature.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"anna": [["B-PER"], ["O"]], "ben": [["O"], ["O"]]})
        >>> corpus.select(documents=["1"]).documents
        ('1',)
        """
        keep_document = _membership("document", self.documents, documents)
        keep_annotator = _membership("annotator", self.annotators, annotators)
        keep_label = _membership("label", self.labels, labels)
        chosen = {}
        if annotators is not None:
            chosen["annotators"] = kept(self.annotators, keep_annotator)
        if labels is not None:
            chosen["labels"] = kept(self.labels, keep_label)
        keep_text = keep_document[self.text_document]
        keep_span = (
            keep_text[self.span_text]
            & keep_annotator[self.span_annotator]
            & keep_label[self.span_label]
        )
        keep_token = np.repeat(keep_text, self.text_length)
        keep_annotation = (
            keep_document[self.annotation_document] & keep_annotator[self.annotation_annotator]
        )
        new_document, new_text, new_annotator, new_label = (
            np.cumsum(keep) - 1 for keep in (keep_document, keep_text, keep_annotator, keep_label)
        )
        return replace(
            self,
            options={**self.options, **chosen},
            documents=kept(self.documents, keep_document),
            fields={name: kept(values, keep_document) for name, values in self.fields.items()},
            text_document=new_document[self.text_document[keep_text]],
            text_length=self.text_length[keep_text],
            annotators=kept(self.annotators, keep_annotator),
            labels=kept(self.labels, keep_label),
            annotation_document=new_document[self.annotation_document[keep_annotation]],
            annotation_annotator=new_annotator[self.annotation_annotator[keep_annotation]],
            span_text=new_text[self.span_text[keep_span]],
            span_annotator=new_annotator[self.span_annotator[keep_span]],
            span_label=new_label[self.span_label[keep_span]],
            span_start=self.span_start[keep_span],
            span_end=self.span_end[keep_span],
            texts=None if self.texts is None else kept(self.texts, keep_text),
            token_start=None if self.token_start is None else self.token_start[keep_token],
            token_end=None if self.token_end is None else self.token_end[keep_token],
            gold=self.gold if self.gold in kept(self.annotators, keep_annotator) else None,
        )

    def rename_labels(self, names: Mapping[str, str], *, duplicates: str = "error") -> Self:
        """The corpus with other names for some labels; two that get one name become one.

        The new names become part of the signature. Spans that become equal stay, to be
        refused when they are scored, unless `duplicates` is ``skip``.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"anna": [["B-PERSON"]], "ben": [["B-PER"]]})
        >>> corpus.rename_labels({"PERSON": "PER"}).labels
        ('PER',)
        """
        _membership("label", self.labels, tuple(names))
        renamed = [names.get(label, label) for label in self.labels]
        distinct = {name: code for code, name in enumerate(_distinct_names("label", renamed))}
        code = np.array([distinct[name] for name in renamed], dtype=np.int64)
        labels, span_label = sorted_names(tuple(distinct), code[self.span_label])
        signed = tuple(f"{old}={new}" for old, new in sorted(names.items()))
        renamed_corpus = replace(
            self,
            labels=labels,
            span_label=span_label,
            options={**self.options, "rename_label": signed},
        )
        checked_option("duplicates", duplicates, ("error", "skip"))
        return renamed_corpus if duplicates == "error" else renamed_corpus._without_duplicates()

    def _without_duplicates(self) -> Self:
        """The corpus with each span once."""
        columns = ("span_text", "span_annotator", "span_label", "span_start", "span_end")
        values = [getattr(self, name) for name in columns]
        order = np.lexsort(values[::-1])
        again = np.zeros(len(order), dtype=bool)
        again[1:] = np.all([value[order][1:] == value[order][:-1] for value in values], axis=0)
        keep = np.sort(order[~again])
        what, number = "spans marked twice, second left out", int(again.sum())
        counted = {**self.skipped, what: self.skipped.get(what, 0) + number}
        return replace(
            self,
            **{name: value[keep] for name, value in zip(columns, values, strict=True)},
            skipped=counted if number else self.skipped,
        )

    def with_gold(self, name: str) -> Self:
        """The corpus with one of its annotators as gold standard.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"anna": [["O"]], "gold": [["O"]]})
        >>> corpus.with_gold("gold").gold
        'gold'
        """
        if name not in self.annotators:
            raise DataError(
                f"gold standard {name!r} is not among the annotators; found: "
                f"{', '.join(map(repr, self.annotators[:10])) or 'none'}"
            )
        return replace(self, gold=name)

    def _document_index(self, document: str) -> int:
        try:
            return self.documents.index(document)
        except ValueError:
            raise DataError(f"no document {document!r} among {len(self.documents)}") from None

    def describe_span(self, index: int) -> str:
        """Name a span for an error message: its place, offsets and label."""
        text = int(self.span_text[index])
        span = self.span(index)
        return (
            f"{self.describe_text(text)}, annotator "
            f"{self.annotators[int(self.span_annotator[index])]!r}, span "
            f"[{span.start}, {span.end}) {span.label!r}"
        )

    def describe_text(self, text: int) -> str:
        """Name a text for an error message."""
        return _named_text(text, self.documents, self.text_document)


def kept(names: tuple[str, ...], keep: Bools) -> tuple[str, ...]:
    """The names for which `keep` is true."""
    return names if keep.all() else tuple(names[i] for i in np.flatnonzero(keep).tolist())


def _membership(kind: str, names: tuple[str, ...], wanted: Collection[str] | None) -> Bools:
    if wanted is None:
        return np.ones(len(names), dtype=bool)
    chosen = {wanted} if isinstance(wanted, str) else set(_validated_names(kind, wanted))
    missing = sorted(chosen - set(names))
    if missing:
        shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        raise DataError(f"unknown {kind} {missing[0]!r}; the corpus has: {shown or 'none'}")
    return np.fromiter((name in chosen for name in names), dtype=bool, count=len(names))


def _named_text(text: int, documents: Sequence[str], text_document: Ints) -> str:
    """Name a text: by its document, and its number there if the document has several."""
    document = int(text_document[text])
    name = f"document {documents[document]!r}"
    siblings = np.flatnonzero(text_document == document)
    return name if len(siblings) == 1 else f"{name}, text {text - int(siblings[0])}"


def _is_list(value: object) -> bool:
    """Whether a value is a list, a tuple, an array or the like, and not a string."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _shown(value: object) -> str:
    """A value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _validated_names(kind: str, names: object) -> tuple[str, ...]:
    """Distinct non-empty strings without white space at their edges."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DataError(f"{kind}s are {_shown(names)}; expected a list of names")
    return tuple(map(str, _distinct_names(kind, tuple(names), once=True)))


def _distinct_names(kind: str, names: Iterable[Any], *, once: bool = False) -> list[str]:
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
        twice = next(name for name in distinct if listed.count(name) > 1)
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
    for name, values in zip(_validated_names("field", fields), fields.values(), strict=True):
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
    annotators = _validated_names("annotator", texts)
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
    _distinct_names("document", documents)
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
    return text_document, _validated_names("document", index)


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
                f"{_named_text(text, names, text_document)}, annotator {annotator!r}: found "
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
        f"{_named_text(text, names, text_document)}: {found}; expected the same tokens for all, "
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
