"""The Corpus, annotated texts as columns, and the ways to build one.

A *text* is the stretch in which spans are shuffled: a sentence, or a whole
document. A *document* is what is listed, resampled and trusted to be independent;
it has one text or more. Offsets are half-open, ``[start, end)``, in positions:
tokens or characters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.annotations.building import (
    MOST_POSITIONS,
    POSITIONS,
    UNITS,
    Spans,
    Tags,
    check_spans,
    columns_of_spans,
    columns_of_tags,
    lengths_of_texts,
    lists_of,
    lists_of_spans,
)
from beyondchance.annotations.joining import (
    renumbered,
    repeated_spans,
    with_sorted_annotations,
    with_whole_documents,
)
from beyondchance.annotations.names import (
    coded,
    distinct_names,
    is_list,
    kept,
    membership,
    named_text,
    numbered,
    plain,
)
from beyondchance.checks import checked_option
from beyondchance.core.ragged import largest, repeats
from beyondchance.errors import DataError, SpanError
from beyondchance.former import NAMES
from beyondchance.messages import Note, Piece, Quote, Use, hidden, pieces, quotes, renamed
from beyondchance.numbers import Extent
from beyondchance.options import ReadOptions, declared
from beyondchance.tallies import mended
from beyondchance.types import Floats, Ints

__all__ = ["MOST_POSITIONS", "UNITS", "Corpus", "Input", "Span", "only"]


_OWNERS = ("text", "annotator", "label")


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


def _nothing() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
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
        Who annotated which document, sorted. An annotator who marked nothing in a
        document is listed; one who did not annotate it is not.
    annotation_date : array of int, optional
        The day in UTC on which each of them was made, or else changed last, counted from
        1970-01-01; 0 where it is not known.
    span_text, span_annotator, span_label, span_start, span_end : arrays of int
        One value for each span; a discontinuous one reaches from its first to its last part.
    span_motif : array of int, optional
        The number of each span in `motifs`; None if all spans are of one piece.
    motifs : tuple of tuple of (start, end)
        The parts of discontinuous spans, from the start of the span, apart from one another;
        sorted. The first is empty, for spans of one piece.
    span_id : tuple of str, optional
        What the source calls each span; empty where it has no name for one. It is kept to
        write the source's format again, and is neither scored nor signed.
    span_fields : tuple of mapping of str to str or None, optional
        What the source says of each span besides its label, such as its negation, by name (see
        `labelling`).
    unit : {"sentence", "document", "corpus"}
        What a text is, and so in what random spans are placed: ``corpus`` places them in any
        text of the corpus that has room.
    positions : {"tokens", "characters", "frames"}
        What offsets count; frames are the cells of a grid over time.
    options : mapping of str to str or tuple of str
        Choices made while reading that change a digit of results, for the signature.
    skipped : mapping of str to int
        What was left out or repaired while reading, and how often.
    texts : tuple of str, optional
        The characters of each text, where they are known.
    token_start, token_end : arrays of int, optional
        Where positions are tokens of known texts, the characters of each token, in the
        order of the texts.
    token_weight : array of float, optional
        How likely random annotators mark each token, for ``chance="weights"`` (see `with_weights`).
    elsewhere : array of int, shape (2, 3, spans), optional
        The text, start and end of each span, if words that were quoted without offsets and occur
        more than once are at their first, or at their last, occurrences (see `with_quotes_at`).
    missing_text, missing_annotator, missing_label, missing_length : arrays of int
        One value for each quote that is not in its document: the first text of the document, by
        which they are sorted, and how many positions the quote has. They add to what their
        annotator marked, and match nothing.
    gold : str, optional
        The one among the annotators who is a gold standard.
    inputs : tuple of Input
        The files that it came from.
    sources : frozenset of str
        Paths and SHA-256 of all files that were read for it, which no writer replaces. They are
        neither shown nor saved.
    origin : mapping of str to str
        How the source calls what a writer of its format must call the same, such as its layer.
    notes : tuple of Note
        What there is to know about how it was read.
    """

    documents: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text_document: Ints
    text_length: Ints
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    annotation_document: Ints
    annotation_annotator: Ints
    annotation_date: Ints | None = None
    span_text: Ints
    span_annotator: Ints
    span_label: Ints
    span_start: Ints
    span_end: Ints
    span_motif: Ints | None = None
    motifs: tuple[tuple[tuple[int, int], ...], ...] = ((),)
    span_id: tuple[str, ...] | None = None
    span_fields: tuple[Mapping[str, str] | None, ...] | None = None
    missing_text: Ints = field(default_factory=_nothing)
    missing_annotator: Ints = field(default_factory=_nothing)
    missing_label: Ints = field(default_factory=_nothing)
    missing_length: Ints = field(default_factory=_nothing)
    unit: str = "document"
    positions: str = "tokens"
    options: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    texts: tuple[str, ...] | None = None
    token_start: Ints | None = None
    token_end: Ints | None = None
    token_weight: Floats | None = None
    elsewhere: Ints | None = None
    gold: str | None = None
    inputs: tuple[Input, ...] = ()
    sources: frozenset[str] = frozenset()
    origin: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

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
        scheme: str | None = None,
        repair: str = "conlleval",
        tokens: Sequence[Sequence[str]] | None = None,
        documents: Sequence[str] | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
        unit: str = "sentence",
    ) -> Self:
        """Build a corpus from tag sequences.

        Parameters
        ----------
        tags : mapping of annotator to list of tag lists
            One tag list for each text, the same texts in the same order for all.
            None where an annotator did not annotate a text. Arrays, Series and generators
            are taken for lists.
        scheme : {"IOB2", "IOB1", "IO", "BIOES", "BILOU", "BMES"}, optional
            By default detected, for all annotators together: the scheme of the prefixes that
            mark ends and single tokens; IO or IOB1 where nobody begins spans with ``B-``; IOB2.
        repair : {"conlleval", "discard", "none"}
            What to do with sequences that break the scheme: begin and end spans as the
            conlleval script does, leave those spans out, or refuse them. What was repaired
            is counted in `skipped` and becomes part of the signature.
        tokens : list of lists of str, optional
            The tokens of each text, so that texts are known.
        documents : sequence of str, optional
            The document of each text; texts of one document follow each other.
            By default each text is a document of its own, named by its number.
        fields : mapping of str to sequence of str, optional
            Values to group documents by, one for each document.
        unit : {"sentence", "document", "corpus"}
            In what random spans are placed: in one tag list, in all of a document, whose tag
            lists are then joined to one text, or in any text of the corpus.

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
        known = declared(ReadOptions)
        columns = columns_of_tags(
            lists_of(tags),
            tokens,
            documents,
            fields,
            scheme=known["scheme"].checked(scheme),
            repair=known["repair"].checked(repair),
        )
        return cls(**columns, unit=unit)._by_unit()

    @classmethod
    def from_spans(
        cls,
        spans: Mapping[str, Spans],
        *,
        lengths: Sequence[int] | None = None,
        texts: Sequence[str] | None = None,
        tokens: Sequence[Sequence[str]] | None = None,
        documents: Sequence[str] | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
        unit: str | None = None,
        positions: str | None = None,
        duplicates: str = "skip",
    ) -> Self:
        """Build a corpus from ``(start, end, label)`` spans, one list per text.

        Parameters
        ----------
        spans : mapping of annotator to list of span lists
            One list for each text, the same texts in the same order for all.
            An empty list where the annotator found nothing, None where the
            annotator did not annotate the text.
        lengths : sequence of int, optional
            Positions of each text; not needed where texts or tokens are given.
        texts : sequence of str, optional
            The characters of each text, so that texts are known.
        tokens : list of lists of str, optional
            The tokens of each text. Offsets then count tokens.
        documents, fields
            As in `from_tags`.
        unit : {"document", "sentence", "corpus"}, optional
            What a text is: by default a document, or a sentence where documents have several
            texts. With ``document``, these are joined to one.
        positions : {"tokens", "characters", "frames"}, optional
            What offsets count: characters where texts are given without tokens, else tokens.
        duplicates : {"skip", "error"}
            Spans that one annotator marked twice with one label. By default the second is left
            out, which is counted in `skipped` and becomes part of the signature; with ``error``
            they stay, to be refused when they are scored.

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
        >>> twice = {"anna": [[(0, 2, "PER"), (0, 2, "PER")]]}
        >>> Corpus.from_spans(twice, lengths=[5]).skipped
        {'spans marked twice, second left out': 1}
        >>> Corpus.from_spans({"anna": [[(0, 3, "PER")]]}, texts=["Ada wrote."]).positions
        'characters'
        """
        listed = lists_of(spans)
        lengths, known, counted = lengths_of_texts(listed, lengths, texts, tokens, positions)
        columns = lists_of_spans(listed, lengths, documents)
        asked = _unit(unit, columns["documents"])
        # Texts are joined when they are known.
        corpus = cls.from_columns(
            **columns, fields=fields, unit="sentence", positions=positions or counted
        )
        return replace(corpus, **known, unit=asked)._by_unit()._by_duplicates(duplicates)

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
        unit: str | None = None,
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
            The document of each text; texts of one document follow each other.
            By default each text is a document of its own, named by its number.
        annotated : iterable of (document, annotator), optional
            Who annotated what. By default all annotators annotated all documents.
        annotators : sequence of str, optional
            The annotators in the order wanted; by default sorted by name.
        fields : mapping of str to sequence of str, optional
            Values to group documents by, one for each document.
        unit : {"document", "sentence", "corpus"}, optional
            As in `from_spans`.
        positions : {"tokens", "characters", "frames"}
            What offsets count.

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
        documents = plain(documents, "documents")
        unit = _unit(unit, documents)
        checked_option("positions", positions, POSITIONS)
        spans = {"text": text, "annotator": annotator, "start": start, "end": end, "label": label}
        columns = columns_of_spans(
            spans, lengths, documents, fields, annotated=annotated, annotators=annotators
        )
        corpus = cls(**columns, unit=unit, positions=positions)
        check_spans(corpus)
        return corpus._by_unit()

    @staticmethod
    def joined(_: object) -> NoReturn:
        """Refuse what an earlier version did."""
        raise AttributeError(f"Corpus has no attribute 'joined'; use {NAMES['Corpus.joined']}")

    def annotators_of(self, document: str) -> tuple[str, ...]:
        """Return who annotated a document."""
        number = self._document_number(document)
        first, end = np.searchsorted(self.annotation_document, (number, number + 1))
        return tuple(self.annotators[i] for i in self.annotation_annotator[first:end].tolist())

    def spans(self, document: str, annotator: str) -> list[Span]:
        """Return what an annotator marked in a document, text by text, by start.

        Offsets count from the beginning of the span's own text. A discontinuous span is there from
        its first to its last position.
        """
        annotators = self.annotators_of(document)
        if annotator not in annotators:
            found = ("document ", Quote(document), " was not annotated by ", Quote(annotator))
            raise DataError(*found, ", but by ", *quotes(annotators, none="no annotator"))
        order, owner = self._spans_by_owner
        mine = self._document_number(document) * len(self.annotators)
        mine += self.annotators.index(annotator)
        first, end = np.searchsorted(owner, (mine, mine + 1))
        return [self.span(i) for i in order[first:end].tolist()]

    @cached_property
    def text_begin(self) -> Ints:
        """Return where each text begins if all of them lie end to end."""
        return np.cumsum(self.text_length) - self.text_length

    def number_in_document(self, text: Ints) -> Ints:
        """Return the number of each text in its document, from 0 on."""
        return text - np.searchsorted(self.text_document, self.text_document[text])

    @cached_property
    def motif(self) -> Ints:
        """Return the motif of each span, 0 if it is of one piece."""
        return np.zeros_like(self.span_start) if self.span_motif is None else self.span_motif

    @cached_property
    def shape(self) -> Ints:
        """Return what spans that start together are equal by: their length, or their motif."""
        length = self.span_end - self.span_start
        if self.span_motif is None:
            return length
        return np.where(self.motif > 0, largest(length) + self.motif, length)

    def parts(self, index: int) -> list[tuple[int, int]]:
        """Return where the parts of a span begin and end."""
        start, end = int(self.span_start[index]), int(self.span_end[index])
        own = self.motifs[self.motif[index]] or ((0, end - start),)
        return [(start + low, start + high) for low, high in own]

    @property
    def extent(self) -> Extent:
        """Return how many documents and texts there are, and the unit."""
        return Extent(len(self.documents), len(self.text_length), self.unit)

    @property
    def knows_characters(self) -> bool:
        """Whether the characters of positions are known."""
        if self.texts is None or self.positions == "frames":
            return False
        return self.positions != "tokens" or self.token_end is not None

    def characters(self, text: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Convert starts and ends to characters, if these are known."""
        if self.positions != "tokens" or self.token_start is None or self.token_end is None:
            return start, end
        first = self.text_begin[text]
        return self.token_start[first + start], self.token_end[first + end - 1]

    def words(self, text: Ints, start: Ints, end: Ints) -> list[Any]:
        """Return what stretches of texts cover; None where that is not known."""
        if not self.knows_characters or self.texts is None:
            return [None] * len(text)
        columns = (text, *self.characters(text, start, end))
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [self.texts[i][low:high] for i, low, high in rows]

    @cached_property
    def _spans_by_owner(self) -> tuple[Ints, Ints]:
        """Sort the spans by document, annotator, text, start and end.

        Return their order, and for each its document and annotator in one number, ascending.
        """
        document = self.text_document[self.span_text]
        owner = document * len(self.annotators) + self.span_annotator
        order = np.lexsort((self.span_end, self.span_start, self.span_text, owner))
        return order, owner[order]

    @cached_property
    def _document_numbers(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self.documents)}

    def _document_number(self, document: str) -> int:
        try:
            return self._document_numbers[document]
        except (KeyError, TypeError):
            found = ("no document ", Quote(document), f" among {len(self.documents)}")
            raise DataError(*found) from None

    def span(self, index: int) -> Span:
        """Return the span at `index` of the columns."""
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
        """Return the part of the corpus with some documents, annotators and labels.

        The order stays that of the corpus. Leaving out a label leaves out its
        spans; the texts stay. A choice of labels or annotators becomes part of the
        signature.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"anna": [["B-PER"], ["O"]], "ben": [["O"], ["O"]]})
        >>> corpus.select(documents=["1"]).documents
        ('1',)
        """
        keep = {
            "document": membership("document", self.documents, documents),
            "annotator": membership("annotator", self.annotators, annotators),
            "label": membership("label", self.labels, labels),
        }
        names: dict[str, Any]
        names = {f"{kind}s": kept(getattr(self, f"{kind}s"), rows) for kind, rows in keep.items()}
        chosen = [] if annotators is None else ["annotators"]
        chosen += [] if labels is None else ["labels"]
        keep["text"] = keep["document"][self.text_document]
        numbers = {kind: np.cumsum(rows) - 1 for kind, rows in keep.items()}
        keep["token"] = np.repeat(keep["text"], self.text_length)
        keep["annotation"] = keep["document"][self.annotation_document]
        keep["annotation"] &= keep["annotator"][self.annotation_annotator]
        for of in "span", "missing":
            owners = (getattr(self, f"{of}_{what}") for what in _OWNERS)
            keep[of] = np.all([keep[x][y] for x, y in zip(_OWNERS, owners, strict=True)], axis=0)
        return replace(
            self,
            **renumbered(self, numbers, keep),
            **names,
            options={**self.options, **{name: names[name] for name in chosen}},
            fields={name: kept(values, keep["document"]) for name, values in self.fields.items()},
            texts=None if self.texts is None else kept(self.texts, keep["text"]),
            gold=self.gold if self.gold in names["annotators"] else None,
        )

    def rename_labels(self, names: Mapping[str, str], *, duplicates: str = "skip") -> Self:
        """Rename some labels; two that get one name become one.

        The new names become part of the signature. Of spans that become equal the second is
        left out and counted; with ``duplicates="error"`` they stay, to be refused when they
        are scored.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"anna": [["B-PERSON"]], "ben": [["B-PER"]]})
        >>> corpus.rename_labels({"PERSON": "PER"}).labels
        ('PER',)
        """
        membership("label", self.labels, tuple(names))
        labels, code = coded("label", [names.get(label, label) for label in self.labels])
        signed = tuple(f"{old}={new}" for old, new in sorted(names.items()))
        renamed_corpus = replace(
            self,
            labels=labels,
            span_label=code[self.span_label],
            missing_label=code[self.missing_label],
            options={**self.options, "rename_label": signed},
        )
        return renamed_corpus._by_duplicates(duplicates)

    def rename_annotators(self, names: Mapping[str, str]) -> Self:
        """Rename some annotators.

        Two who get one name become one, if no document was annotated by both.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"ada@example.org": [["O"]], "ben": [["O"]]})
        >>> corpus.rename_annotators({"ada@example.org": "ada"}).annotators
        ('ada', 'ben')
        """
        membership("annotator", self.annotators, tuple(names))
        renamed = [names.get(name, name) for name in self.annotators]
        kept_names = tuple(distinct_names("annotator", renamed))
        code = numbered(renamed, kept_names)
        columns = with_sorted_annotations(renumbered(self, {"annotator": code}))
        document, annotator = columns["annotation_document"], columns["annotation_annotator"]
        twice = np.flatnonzero(repeats(document, annotator))
        if len(twice):
            name = Quote(kept_names[int(annotator[twice[0]])])
            where = ("document ", Quote(self.documents[int(document[twice[0]])]))
            several = " was annotated by two annotators who would both be called "
            raise DataError(*where, several, name, expected="distinct names")
        return replace(
            self,
            **columns,
            annotators=kept_names,
            gold=None if self.gold is None else names.get(self.gold, self.gold),
            options={
                key: _with_names(value, names) if key == "annotators" else value
                for key, value in self.options.items()
            },
            notes=tuple(replace(note, who=names.get(note.who, note.who)) for note in self.notes),
        )

    def with_pseudonyms(self, names: Mapping[str, str] | None = None) -> Self:
        """Replace the names of annotators and files by numbers.

        Annotators become ``annotator 1``, ``annotator 2`` and so on, in their order; next to a
        gold standard, which becomes ``gold``, they become ``system 1`` and so on. Files become
        ``file 1`` and so on, because they are often named after annotators. Notes change with
        them, and documents that are called as an annotator is. What else holds a name stays:
        other names of documents, and texts.

        Parameters
        ----------
        names : mapping of str to str, optional
            Other pseudonyms, one for each annotator.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"anna": [["O"]], "ben": [["O"]], "expert": [["O"]]})
        >>> corpus.with_gold("expert").with_pseudonyms().annotators
        ('system 1', 'system 2', 'gold')
        """
        new = self.pseudonyms() if names is None else names
        files = {item.name: f"file {i}" for i, item in enumerate(self.inputs, start=1)}
        documents = [_with_name_in_front(name, new) for name in self.documents]
        is_distinct = len(set(documents)) == len(documents)
        return replace(
            self.rename_annotators({name: new[name] for name in self.annotators}),
            documents=tuple(documents) if is_distinct else self.documents,
            options={key: _with_names(value, new) for key, value in self.options.items()},
            notes=tuple(renamed(note, new, partial(_place, files)) for note in self.notes),
            inputs=tuple(replace(item, name=files[item.name]) for item in self.inputs),
        )

    def anonymous(
        self, names: Mapping[str, str] | None = None, *, fields: Collection[str] = ()
    ) -> Self:
        """Leave out texts, and replace the names of annotators, documents and files by numbers.

        Labels and SHA-256 sums of files stay. Other fields of documents than those that are
        named, attributes and identifiers of spans, and what notes quote are left out.

        Parameters
        ----------
        names : mapping of str to str, optional
            Other pseudonyms (see `with_pseudonyms`).
        fields : collection of str
            Fields of documents to keep.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"anna": [["O"]], "ben": [["O"]]}, documents=["letter"])
        >>> corpus.anonymous().documents, corpus.anonymous().annotators
        (('document 1',), ('annotator 1', 'annotator 2'))
        """
        numbered = self.with_pseudonyms(names)
        return replace(
            numbered,
            documents=tuple(f"document {i}" for i in range(1, len(self.documents) + 1)),
            fields={name: values for name, values in self.fields.items() if name in fields},
            texts=None,
            token_start=None,
            token_end=None,
            span_id=None,
            span_fields=None,
            origin={},
            notes=tuple(
                replace(note, text=tuple(map(hidden, pieces(note.text)))) for note in numbered.notes
            ),
        )

    def pseudonyms(self) -> dict[str, str]:
        """Return a name for each annotator that says only the role, and the place among others."""
        others = [name for name in self.annotators if name != self.gold]
        role = "annotator" if self.gold is None else "system"
        found = {name: f"{role} {number}" for number, name in enumerate(others, start=1)}
        return found if self.gold is None else {**found, self.gold: "gold"}

    def _by_unit(self) -> Self:
        """Join the texts of each document, if that is the unit."""
        return with_whole_documents(self) if self.unit == "document" else self  # type: ignore[return-value]

    def _by_duplicates(self, duplicates: str = "skip") -> Self:
        """Return the corpus with each span once, unless duplicates are to be refused later."""
        if checked_option("duplicates", duplicates, ("skip", "error")) == "error":
            return self
        again = repeated_spans(self)
        number = int(again.sum())
        if not number:
            return self
        what = mended("spans marked twice, second left out")
        return replace(
            self,
            **renumbered(self, {}, {"span": ~again}),
            options={**self.options, "duplicates": "skip"},
            skipped={**self.skipped, what: self.skipped.get(what, 0) + number},
        )

    def with_quotes_at(self, occurrences: Literal["first", "last"]) -> Self:
        """Return the corpus with quotes at the first, or at the last, occurrences of their words.

        This concerns words that were quoted without offsets and occur more often than they were
        quoted; all other spans stay. Both scores show how much depends on where the quotes are.

        Examples
        --------
        >>> text = "Ada met Bo. Ada left, and Bo met Ada."
        >>> from beyondchance import read
        >>> corpus = read([{"text": text, "entities": {"PER": ["Ada"]}}])
        >>> [corpus.with_quotes_at(end).span_start.tolist() for end in ("first", "last")]
        [[0], [10]]
        """
        checked_option("occurrences", occurrences, ("first", "last"))
        if self.elsewhere is None:
            return self
        text, start, end = self.elsewhere[("first", "last").index(occurrences)]
        moved = replace(
            self, span_text=text, span_start=start, span_end=end, span_id=None, elsewhere=None
        )
        return moved._by_duplicates()

    def with_weights(self, weights: ArrayLike) -> Self:
        """Return the corpus with a weight for each of its tokens, for ``chance="weights"``.

        Random arrangements of spans are then as probable as the product of the weights of the
        tokens that they cover; a token of weight 0 is never covered.

        Parameters
        ----------
        weights : array of float
            One for each token, in the order of the texts.

        Examples
        --------
        The first token is nine times as likely as the second.

        >>> from beyondchance import agreement
        >>> corpus = Corpus.from_tags({"anna": [["B-P", "O"]], "ben": [["B-P", "O"]]})
        >>> round(agreement(corpus.with_weights([0.9, 0.1]), chance="weights").chance, 2)
        0.82
        """
        try:
            weight = np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("weights are no numbers", expected="an array of numbers") from None
        n_tokens = int(self.text_length.sum())
        if self.positions != "tokens" or weight.shape != (n_tokens,):
            found = f"weights have the shape {weight.shape}, positions are {self.positions}"
            raise DataError(found, expected=f"a number for each of {n_tokens:,} tokens")
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise DataError("a weight is negative or no number", expected="0 or more")
        return replace(self, token_weight=weight)

    def with_gold(self, name: str) -> Self:
        """Make one of the annotators the gold standard.

        Examples
        --------
        >>> corpus = Corpus.from_tags({"anna": [["O"]], "gold": [["O"]]})
        >>> corpus.with_gold("gold").gold
        'gold'
        """
        if name not in self.annotators:
            found = ("gold standard ", Quote(name, is_given=True), " is not among the annotators")
            raise DataError(*found, remedy=("found: ", *quotes(self.annotators)))
        return replace(self, gold=name)

    def describe_span(self, index: int) -> tuple[Piece, ...]:
        """Name a span for a message, in pieces: its place, offsets and label."""
        span = self.span(index)
        return (
            *self.describe_text(int(self.span_text[index])),
            ", annotator ",
            Quote(self.annotators[int(self.span_annotator[index])]),
            f", span {' + '.join(f'[{start}, {end})' for start, end in self.parts(index))} ",
            Quote(span.label),
        )

    def describe_text(self, text: int) -> tuple[Piece, ...]:
        """Name a text for a message, in pieces."""
        return named_text(text, self.documents, self.text_document)


def only(
    corpus: Corpus, annotators: Collection[str], documents: Collection[str] | None = None
) -> Corpus:
    """Return the work of some annotators, with the options of the corpus in its signature."""
    part = corpus.select(annotators=annotators, documents=documents)
    return replace(part, options=corpus.options)


IN_ONE_PIECE = (
    *(Use("discontinuous", "join"), " takes all from first to last, "),
    *(Use("discontinuous", "split"), " takes each fragment for a span"),
)
"""How to read discontinuous spans where they do not do."""


def check_in_one_piece(corpus: Corpus) -> None:
    """Refuse discontinuous spans, where they are not understood.

    Raises
    ------
    SpanError
    """
    if corpus.span_motif is not None and corpus.motif.any():
        found = corpus.describe_span(int(np.argmax(corpus.motif > 0)))
        expected = (
            "spans of one piece, except for agreement, rankings and difficulty by token or exact, "
            "and not with unit corpus, chance shapes or model overlapping"
        )
        raise SpanError(*found, " is discontinuous", expected=expected, remedy=IN_ONE_PIECE)


def _unit(unit: str | None, documents: Sequence[str] | None) -> str:
    """Return the unit asked for, or the one that suits the documents of texts."""
    if unit is not None:
        return checked_option("unit", unit, UNITS)
    is_split = is_list(documents) and len(set(map(str, documents or ()))) < len(documents or ())
    return "sentence" if is_split else "document"


def _with_names(value: str | tuple[str, ...], names: Mapping[str, str]) -> str | tuple[str, ...]:
    """Rename annotators in the value of an option, which may list them with commas."""
    if isinstance(value, tuple):
        return tuple(names.get(item, item) for item in value)
    return ",".join(names.get(item.strip(), item) for item in value.split(","))


def _with_name_in_front(document: str, names: Mapping[str, str]) -> str:
    """Rename a document that is called as an annotator is, or as something of an annotator."""
    name, slash, rest = document.partition("/")
    return f"{names.get(name, name)}{slash}{rest}"


def _place(files: Mapping[str, str], where: str) -> str:
    """Return the place of a note by the new name of its file."""
    for end in range(len(where), 0, -1):
        if where[:end] in files:
            return f"{files[where[:end]]}{where[end:]}"
    return "files" if where else ""
