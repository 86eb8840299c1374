"""Where two annotators differ: their spans aligned one to one, and what each pair is.

The alignment takes pairs of overlapping spans, one span of either annotator, in a fixed
order, and skips a pair of which one span has been taken already:

1. equal spans with equal labels, then equal spans with different labels, then spans of one
   label with different offsets, then those in which both differ;
2. among those, the pair that shares most positions first;
3. then the one that covers fewest positions in all, so that the closer one comes first;
4. then, of two pairs with a span in common, the one whose other span comes first in the text,
   by start, end and label.

No step asks which annotator is which, so exchanging them mirrors the result; none asks for
the order of spans, documents or annotators. What is left over has no partner. Greedy is
what a reader can retrace with a pencil: a pair stays apart only because one of the two
has a partner that comes before it in this order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_option
from beyondchance.core.ragged import bounds, distinct, spread, starts
from beyondchance.errors import DataError, NothingSharedError, OptionError
from beyondchance.settings import Settings
from beyondchance.types import Bools, Ints

KINDS = ("agree", "label", "boundary", "both", "missed", "extra")
"""Kinds of rows. The first four are in the order in which spans are aligned."""
_MISSED, _EXTRA = KINDS.index("missed"), KINDS.index("extra")
_NOT_SIGNED = ("measure", "model", "scope", "average")
"""What a signature has of settings that do not matter here."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Disagreements:
    """The spans of pairs of annotators, aligned one to one, as columns.

    A row is a pair of aligned spans, or a span without a partner. Its kind:

    ========  ==========================================================
    agree     equal offsets, equal label
    label     equal offsets, different labels
    boundary  overlapping with different offsets, equal label
    both      overlapping with different offsets, different labels
    missed    marked by annotator a only, so that b missed it
    extra     marked by annotator b only, as an extra beside what a marked
    ========  ==========================================================

    Rows are in reading order: by text and by where the first of their spans starts, then by
    annotators.

    Attributes
    ----------
    corpus : Corpus
        Where the spans are from.
    pairs : tuple of (str, str)
        The annotators a and b who were compared.
    documents : tuple of str
        Those in which somebody was compared.
    a, b : arrays of int, shape (rows,)
        The annotators of each row, by their number in the corpus.
    kind : array of int, shape (rows,)
        The kind of each row, by its number in `KINDS`.
    span_a, span_b : arrays of int, shape (rows,)
        The spans, by their number in the columns of the corpus; -1 where there is none.
    """

    corpus: Corpus
    pairs: tuple[tuple[str, str], ...]
    documents: tuple[str, ...]
    a: Ints
    b: Ints
    kind: Ints
    span_a: Ints
    span_b: Ints

    def __len__(self) -> int:
        return len(self.kind)

    def __repr__(self) -> str:
        found = ", ".join(f"{name}={number}" for name, number in self.by_kind().items())
        return f"Disagreements({len(self.pairs)} pairs of annotators: {found})"

    @property
    def text(self) -> Ints:
        """The text of each row, by its number in the corpus."""
        return self.corpus.span_text[np.maximum(self.span_a, self.span_b)]

    @property
    def n_spans(self) -> int:
        """How many spans are in the rows, each counted once, however many pairs it is in."""
        seen = np.zeros(len(self.corpus.span_start), dtype=bool)
        for span in (self.span_a, self.span_b):
            seen[span[span >= 0]] = True
        return int(np.count_nonzero(seen))

    @property
    def signature(self) -> str:
        """Everything that moves a count, to cite."""
        settings = Settings(
            unit=self.corpus.unit,
            positions=self.corpus.positions,
            gold=self.corpus.gold,
            **self.corpus.options,
        )
        parts = str(settings).split("|")
        return "|".join(part for part in parts if part.partition(":")[0] not in _NOT_SIGNED)

    def by_kind(self) -> dict[str, int]:
        """How many rows there are of each kind.

        ``2 * (agree + label + boundary + both) + missed + extra`` is the number of spans
        of both annotators, added over pairs.
        """
        counts = np.bincount(self.kind, minlength=len(KINDS))
        return dict(zip(KINDS, counts.tolist(), strict=True))

    def by_pair(self) -> dict[tuple[str, str], dict[str, int]]:
        """How many rows there are of each kind, for each pair of annotators."""
        number = {name: index for index, name in enumerate(self.corpus.annotators)}
        n = max(len(number), 1)
        pair = np.array([number[a] * n + number[b] for a, b in self.pairs], dtype=np.int64)
        order = np.argsort(pair)
        row = order[np.searchsorted(pair[order], self.a * n + self.b)]
        counts = np.bincount(row * len(KINDS) + self.kind, minlength=len(pair) * len(KINDS))
        return {
            names: dict(zip(KINDS, found, strict=True))
            for names, found in zip(
                self.pairs, counts.reshape(-1, len(KINDS)).tolist(), strict=True
            )
        }

    def label_table(self) -> dict[tuple[str | None, str | None], int]:
        """How often a label of annotator a met a label of annotator b.

        None stands for no span: ``(label, None)`` counts what b missed, ``(None, label)``
        what b has in addition. Pairs of labels that do not occur are left out.
        """
        names = [*self.corpus.labels, None]
        code_a, code_b = (
            np.where(label >= 0, label, len(names) - 1)
            for label in (self._label(self.span_a), self._label(self.span_b))
        )
        cells, number = distinct(code_a * len(names) + code_b)
        counts = np.bincount(number, minlength=len(cells))
        return {
            (names[cell // len(names)], names[cell % len(names)]): count
            for cell, count in zip(cells.tolist(), counts.tolist(), strict=True)
        }

    def only(
        self, *, kinds: Collection[str] | None = None, labels: Collection[str] | None = None
    ) -> Self:
        """The rows of some kinds, and those in which either span has one of some labels."""
        keep = np.ones(len(self), dtype=bool)
        if kinds is not None:
            wanted = _listed(kinds)
            keep &= _members(
                self.kind, [KINDS.index(checked_option("kind", kind, KINDS)) for kind in wanted]
            )
        if labels is not None:
            known = self.corpus.labels
            codes = [
                known.index(checked_option("label", label, known)) for label in _listed(labels)
            ]
            keep &= _members(self._label(self.span_a), codes) | _members(
                self._label(self.span_b), codes
            )
        return self[np.flatnonzero(keep)]

    def __getitem__(self, rows: slice | Ints) -> Self:
        """Some of the rows."""
        columns = ("a", "b", "kind", "span_a", "span_b")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def characters(self) -> tuple[Ints, Ints, Ints, Ints] | None:
        """Start and end in its text of the spans of a, then of b, counted in characters.

        -1 where there is no span; None where the texts are not known.
        """
        corpus = self.corpus
        if corpus.texts is None or corpus.positions == "frames":
            return None
        start, end = corpus.span_start, corpus.span_end
        if corpus.positions == "tokens":
            if corpus.token_start is None or corpus.token_end is None:
                return None
            first = starts(corpus.text_length)[corpus.span_text]
            start, end = corpus.token_start[first + start], corpus.token_end[first + end - 1]
        start_a, start_b = (_of(start, span) for span in (self.span_a, self.span_b))
        end_a, end_b = (_of(end, span) for span in (self.span_a, self.span_b))
        return start_a, end_a, start_b, end_b

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of plain values; None where there is no span or no text.

        ``text`` is the number of the text in its document, from 0 on. Offsets count
        positions from the beginning of the text, and ``surface`` is what they cover.
        """
        corpus, text = self.corpus, self.text
        document = corpus.text_document[text]
        first_text = bounds(corpus.text_document, len(corpus.documents))[document]
        columns: dict[str, list[Any]] = {
            "document": [corpus.documents[i] for i in document.tolist()],
            "text": (text - first_text).tolist(),
            "kind": [KINDS[i] for i in self.kind.tolist()],
            "a": [corpus.annotators[i] for i in self.a.tolist()],
            "b": [corpus.annotators[i] for i in self.b.tolist()],
        }
        characters = self.characters()
        for number, (side, span) in enumerate((("a", self.span_a), ("b", self.span_b))):
            there = (span >= 0).tolist()
            columns[f"start_{side}"] = _known(_of(corpus.span_start, span).tolist(), there)
            columns[f"end_{side}"] = _known(_of(corpus.span_end, span).tolist(), there)
            names = (*corpus.labels, None)  # the last for -1
            columns[f"label_{side}"] = [names[i] for i in self._label(span).tolist()]
            surface: list[Any] = [None] * len(self)
            if characters is not None and corpus.texts is not None:
                low, high = characters[2 * number : 2 * number + 2]
                places = zip(text.tolist(), low.tolist(), high.tolist(), strict=True)
                surface = _known([corpus.texts[t][i:j] for t, i, j in places], there)
            columns[f"surface_{side}"] = surface
        return columns

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary for each row, as any table library takes them."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _label(self, span: Ints) -> Ints:
        """The label of each span; -1 where there is none."""
        return _of(self.corpus.span_label, span)


def _of(column: Ints, span: Ints) -> Ints:
    """The value of each span; -1 for the span -1."""
    return np.append(column, -1)[span]


def _known(values: Sequence[Any], there: Sequence[bool]) -> list[Any]:
    return [value if known else None for value, known in zip(values, there, strict=True)]


def _listed(names: Collection[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _members(codes: Ints, wanted: Sequence[int]) -> Bools:
    return np.isin(codes, np.array(wanted, dtype=np.int64))


def disagreements(
    corpus: Corpus, *, pairs: Iterable[tuple[str, str]] | None = None
) -> Disagreements:
    """Align the spans of pairs of annotators one to one, and say how each pair differs.

    Overlapping spans are aligned: equal ones first, then those with equal offsets, then
    those with equal labels, then the rest; within each of these steps the pair that
    shares most positions comes first, then the one that covers fewest, then the first in
    the text. Spans may overlap one another and occur twice. Where no annotator marked a
    span twice with one label, the rows of kind ``agree`` are the equal spans that
    ``agreement(corpus, measure="exact")`` counts as matched, whatever the model.

    The result does not depend on the order of spans, documents or annotators; exchanging
    a and b exchanges ``missed`` and ``extra``. Time follows the number of pairs of spans
    that overlap, which is at most that of spans where those of one annotator do not
    overlap one another.

    Parameters
    ----------
    corpus : Corpus
    pairs : iterable of (str, str), optional
        The annotators to compare, as (a, b). By default all who annotated a document
        together, in the order of the corpus. A gold standard that the corpus names is left
        out where there are two annotators or more; beside one, it is annotator a.

    Returns
    -------
    Disagreements

    Raises
    ------
    NothingSharedError
        When no document was annotated by two annotators, or by both of a given pair.
    OptionError
        For a pair that is none, or names somebody who is not in the corpus.

    Examples
    --------
    Ben's first span is shorter than Anna's, and he overlooked the place::

        anna  PPP..LL
        ben   .PP....

    >>> corpus = Corpus.from_tags(
    ...     {
    ...         "anna": [["B-P", "I-P", "I-P", "O", "O", "B-L", "I-L"]],
    ...         "ben": [["O", "B-P", "I-P", "O", "O", "O", "O"]],
    ...     }
    ... )
    >>> found = disagreements(corpus)
    >>> for row in found.to_rows():
    ...     print(row["kind"], row["start_a"], row["end_a"], row["start_b"], row["end_b"])
    boundary 0 3 1 3
    missed 5 7 None None
    >>> found.by_kind()["boundary"], found.label_table()
    (1, {('L', None): 1, ('P', 'P'): 1})
    """
    if not isinstance(corpus, Corpus):
        raise DataError(f"found one {type(corpus).__name__}; expected a Corpus")
    document, a, b = _everybody(corpus) if pairs is None else _chosen(corpus, pairs)
    if not len(document):
        raise NothingSharedError(_nothing_shared(corpus))
    line = _Line.of(corpus)
    comparison, kind, x, y = _aligned(line, line.side(document, a), line.side(document, b))
    a_of, b_of = a[comparison], b[comparison]
    first_start = np.minimum(line.start[np.where(x >= 0, x, y)], line.start[np.where(y >= 0, y, x)])
    order = np.lexsort((y, x, b_of, a_of, first_start))
    return Disagreements(
        corpus=corpus,
        pairs=_distinct_pairs(corpus, a, b),
        documents=tuple(corpus.documents[i] for i in distinct(document)[0].tolist()),
        a=a_of[order],
        b=b_of[order],
        kind=kind[order],
        span_a=_of(line.span, x[order]),
        span_b=_of(line.span, y[order]),
    )


def _everybody(corpus: Corpus) -> tuple[Ints, Ints, Ints]:
    """Every document with every pair who annotated it: document, a, b."""
    is_gold = np.array([name == corpus.gold for name in corpus.annotators], dtype=bool)
    if np.count_nonzero(~is_gold) < 2:
        chosen = np.ones(len(corpus.annotation_annotator), dtype=bool)
    else:
        chosen = ~is_gold[corpus.annotation_annotator]
    document = corpus.annotation_document[chosen]
    annotator = corpus.annotation_annotator[chosen]
    end = bounds(document, len(corpus.documents))[document + 1]
    one, place = spread(end - np.arange(len(document)) - 1)
    a, b = annotator[one], annotator[one + 1 + place]
    gold_second = is_gold[b]
    return document[one], np.where(gold_second, b, a), np.where(gold_second, a, b)


def _chosen(corpus: Corpus, pairs: Iterable[tuple[str, str]]) -> tuple[Ints, Ints, Ints]:
    """The documents that each of some pairs share: document, a, b."""
    by_annotator = np.argsort(corpus.annotation_annotator, kind="stable")
    documents = np.split(
        corpus.annotation_document[by_annotator],
        bounds(corpus.annotation_annotator, len(corpus.annotators))[1:-1],
    )
    parts = []
    for a, b in _validated_pairs(corpus, pairs):
        shared = documents[a][np.isin(documents[a], documents[b])]
        if not len(shared):
            raise NothingSharedError(
                f"no document was annotated by both {corpus.annotators[a]!r} and "
                f"{corpus.annotators[b]!r}; expected pairs who share a document"
            )
        parts.append((shared, np.full(len(shared), a), np.full(len(shared), b)))
    document, left, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return document, left, right


def _validated_pairs(corpus: Corpus, pairs: object) -> list[tuple[int, int]]:
    """Pairs of different annotators, each once, by their numbers."""
    if not isinstance(pairs, Iterable):
        raise OptionError(f"pairs are {pairs!r}; expected a list of annotators (a, b)")
    number = {name: index for index, name in enumerate(corpus.annotators)}
    found: dict[tuple[int, int], None] = {}
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise OptionError(f"pairs hold {pair!r}; expected two annotators, as (a, b)")
        a, b = (number[checked_option("annotator", name, corpus.annotators)] for name in pair)
        if a == b:
            raise OptionError(f"pairs hold {pair!r}; expected two different annotators")
        if (a, b) in found or (b, a) in found:
            raise OptionError(f"pairs hold {pair!r} twice; expected each pair once")
        found[a, b] = None
    if not found:
        raise OptionError("pairs are empty; expected at least one, as (a, b)")
    return list(found)


def _distinct_pairs(corpus: Corpus, a: Ints, b: Ints) -> tuple[tuple[str, str], ...]:
    """The names of those who are compared somewhere."""
    n = len(corpus.annotators)
    names = corpus.annotators
    return tuple((names[i // n], names[i % n]) for i in distinct(a * n + b)[0].tolist())


def _nothing_shared(corpus: Corpus) -> str:
    counts = np.bincount(corpus.annotation_annotator, minlength=len(corpus.annotators)).tolist()
    found = {name: n for name, n in zip(corpus.annotators, counts, strict=True) if n}
    if not found:
        return "no document was annotated by anybody; expected at least one"
    if len(found) == 1:
        only = f"only one annotator found: {next(iter(found))}"
        return f"{only}; expected at least two who annotated the same document"
    shown = ", ".join(f"{name!r} annotated {n}" for name, n in list(found.items())[:10])
    return (
        f"no document was annotated by two annotators to compare ({shown}); expected documents in "
        "common: check that all use the same document names, or read them with match='text' or "
        "'order'"
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """What one of the annotators marked: an entry for each span in each comparison.

    Attributes
    ----------
    annotator : array of int, shape (comparisons,)
    first, entry : arrays of int, shape (comparisons,)
        The first span and the first entry of each comparison; others follow.
    comparison, span : arrays of int, shape (entries,)
    """

    annotator: Ints
    first: Ints
    entry: Ints
    comparison: Ints
    span: Ints


@dataclass(frozen=True, slots=True)
class _Line:
    """All spans with their texts laid end to end, so that an offset tells the text too.

    Spans are sorted by annotator, start, end and label.

    Attributes
    ----------
    span : array of int
        Its number in the columns of the corpus.
    start, end, label : arrays of int
    place : array of int
        All starts that occur, ascending.
    key : array of int
        The annotator and the place of the start in one number, ascending.
    document : array of int, shape (documents + 1,)
        Where the documents begin, and where the last one ends.
    """

    span: Ints
    start: Ints
    end: Ints
    label: Ints
    place: Ints
    key: Ints
    document: Ints

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """The spans of a corpus."""
        text = np.concatenate([[0], np.cumsum(corpus.text_length)])
        start = text[corpus.span_text] + corpus.span_start
        end = text[corpus.span_text] + corpus.span_end
        order = np.lexsort((corpus.span_label, end, start, corpus.span_annotator))
        place, number = distinct(start[order])
        return cls(
            span=order,
            start=start[order],
            end=end[order],
            label=corpus.span_label[order],
            place=place,
            key=corpus.span_annotator[order] * (len(place) + 1) + number,
            document=text[bounds(corpus.text_document, len(corpus.documents))],
        )

    def at(self, annotator: Ints, offset: Ints) -> Ints:
        """The first span of an annotator that starts at an offset or later."""
        place = np.searchsorted(self.place, offset)
        return np.searchsorted(self.key, annotator * (len(self.place) + 1) + place)

    def side(self, document: Ints, annotator: Ints) -> _Side:
        """What annotators marked in documents, one of each for each comparison."""
        first = self.at(annotator, self.document[document])
        n_spans = self.at(annotator, self.document[document + 1]) - first
        comparison, place = spread(n_spans)
        return _Side(annotator, first, starts(n_spans), comparison, first[comparison] + place)


def _aligned(line: _Line, left: _Side, right: _Side) -> tuple[Ints, Ints, Ints, Ints]:
    """All rows, in no order: comparison, kind, span of a, span of b; -1 where there is none."""
    entry_a, entry_b = _overlapping(line, left, right)
    x, y = left.span[entry_a], right.span[entry_b]
    moved = (line.start[x] != line.start[y]) | (line.end[x] != line.end[y])
    kind = 2 * moved + (line.label[x] != line.label[y])
    taken = _one_to_one(line, (entry_a, entry_b), (x, y), kind)
    alone_a = np.delete(np.arange(len(left.span)), entry_a[taken])
    alone_b = np.delete(np.arange(len(right.span)), entry_b[taken])
    none_a, none_b = np.full(len(alone_b), -1), np.full(len(alone_a), -1)
    in_both = left.comparison[entry_a[taken]]
    missed, extra = np.full(len(alone_a), _MISSED), np.full(len(alone_b), _EXTRA)
    return (
        np.concatenate([in_both, left.comparison[alone_a], right.comparison[alone_b]]),
        np.concatenate([kind[taken], missed, extra]),
        np.concatenate([x[taken], left.span[alone_a], none_a]),
        np.concatenate([y[taken], none_b, right.span[alone_b]]),
    )


def _overlapping(line: _Line, left: _Side, right: _Side) -> tuple[Ints, Ints]:
    """All pairs of entries whose spans overlap.

    Of two spans that overlap, one starts within the other. Spans that start together are
    found from the left.
    """

    def starting_within(side: _Side, other: _Side, after: int) -> tuple[Ints, Ints]:
        """Each entry with those of the other side that start within it."""
        whose = other.annotator[side.comparison]
        first = line.at(whose, line.start[side.span] + after)
        entry, place = spread(line.at(whose, line.end[side.span]) - first)
        comparison = side.comparison[entry]
        span = first[entry] + place
        return entry, other.entry[comparison] + span - other.first[comparison]

    a, later_b = starting_within(left, right, 0)
    b, later_a = starting_within(right, left, 1)
    return np.concatenate([a, later_a]), np.concatenate([later_b, b])


def _one_to_one(
    line: _Line, entries: tuple[Ints, Ints], spans: tuple[Ints, Ints], kind: Ints
) -> Ints:
    """Of pairs that overlap, those that are aligned: the first ones, each entry once.

    A pair neither of whose spans overlaps anything else needs no order.
    """
    is_single = [np.bincount(entry)[entry] == 1 for entry in entries]
    undisputed = is_single[0] & is_single[1]
    disputed = np.flatnonzero(~undisputed)
    x, y = spans[0][disputed], spans[1][disputed]
    overlap = np.minimum(line.end[x], line.end[y]) - np.maximum(line.start[x], line.start[y])
    covered = np.maximum(line.end[x], line.end[y]) - np.minimum(line.start[x], line.start[y])
    # Pairs without a common span do not compete. Of two that have one, the others are spans
    # of one annotator, and those are sorted by start, end and label.
    disputed = disputed[np.lexsort((y, x, covered, -overlap, kind[disputed]))]

    taken_a: set[int] = set()
    taken_b: set[int] = set()
    aligned = []
    columns = (disputed, entries[0][disputed], entries[1][disputed])
    for number, a, b in zip(*(column.tolist() for column in columns), strict=True):
        if a not in taken_a and b not in taken_b:
            taken_a.add(a)
            taken_b.add(b)
            aligned.append(number)
    return np.concatenate([np.flatnonzero(undisputed), np.array(aligned, dtype=np.int64)])
