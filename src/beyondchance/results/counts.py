"""Counts that add, and the scores that follow from them.

A row of Counts holds what one pair of annotators did with one label in one text.
Every score, at every level, is a sum of rows followed by one division. Rates are
never stored and never averaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.names import kept
from beyondchance.checks import checked_instance, checked_option
from beyondchance.core.bootstrap import places
from beyondchance.core.exact import (
    ExactColumns,
    digits_of,
    exact_columns,
    exact_total,
    put_together,
    rounded,
)
from beyondchance.core.ragged import distinct, largest, n_distinct, total
from beyondchance.errors import DataError
from beyondchance.messages import Quote
from beyondchance.results.named import unknown_name
from beyondchance.results.resampling import Levels, Rows
from beyondchance.results.score import SPANS, SUMS, Score
from beyondchance.types import Bools, Floats, Ints

Name = TypeVar("Name", bound=Hashable)

_FLAGS = ("certain", "certain_a", "certain_b", "fixed")
_COLUMNS = (
    *("document", "text", "label", "a", "b"),
    *("matched", "expected", "size_a", "size_b", "spans_a", "spans_b"),
    *_FLAGS,
    *("matched_a", "matched_b", "expected_a", "expected_b", "error", "stream"),
)
_SIDES = {
    f"{name}{one}": f"{name}{two}"
    for name in ("", "size_", "spans_", "certain_", "matched_", "expected_")
    for one, two in (("a", "b"), ("b", "a"))
}
"""What each column of one side is called on the other."""


def other_side(name: str) -> str:
    """What a column is called on the other side."""
    return _SIDES.get(name, name)


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Mapping[Name, Score]):
    """Scores by name, in columns: each is made when it is asked for.

    A thousand annotators have tens of thousands of pairs, of which few are asked for. `ask` returns
    the intervals of a name.
    """

    names: Sequence[Name]
    columns: Mapping[str, NDArray[Any]]
    of: str = SPANS
    ask: Callable[..., Any] | None = None

    @cached_property
    def _number(self) -> dict[Name, int]:
        return numbered(self.names)

    def __getitem__(self, name: Name) -> Score:
        if name not in self._number:
            raise unknown_name(name, self.names)
        number = self._number[name]
        values = {key: column[number].item() for key, column in self.columns.items()}
        return Score(**values, of=self.of, ask=self.ask and partial(self.ask, name))

    def __iter__(self) -> Iterator[Name]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Counts:
    """The table that everything is summed from; tables add.

    One row for each text, label and pair of annotators, where at least one of the
    two marked something. `expected` holds multiples of 2**-52, which are added
    exactly, so that the sum does not depend on how a corpus is split.

    Attributes
    ----------
    documents : tuple of str
        The documents compared, those without a row included.
    fields : mapping of str to tuple of str
        Values to group documents by.
    n_texts : int
    labels, annotators : tuple of str
    pairs : array of int, shape (2, pairs)
        The pairs of annotators who share a document compared, with rows or without.
    document, text, label, a, b : arrays of int, shape (rows,)
        Numbers into the above; ``a <= b``, equal only in tables of difficulty.
    matched, expected, size_a, size_b : arrays of float, shape (rows,)
    spans_a, spans_b : arrays of int, shape (rows,)
        How many spans each annotator marked.
    certain, certain_a, certain_b : arrays of bool, shape (rows,)
        Whether every random arrangement agrees completely, or matches all that one side
        marked.
    fixed : array of bool, shape (rows,)
        Whether every random arrangement gives the same match: chance has no freedom, as in a
        text of one position, or one that a side covers completely or not at all.
    matched_a, matched_b, expected_a, expected_b : arrays of float, shape (rows,), optional
        The match of either side, where recall and precision have one of their own.
    error : array of float, shape (rows,), optional
        Standard errors of `expected`, where it was estimated.
    stream : array of int, shape (rows,), optional
        The stream of random numbers of each estimate. Estimates of one stream are the same
        estimate, so that their errors add up; those of different streams are independent.
    is_corpus_wide : bool
        Whether random spans may be in any text of the corpus. Then every text has rows, and
        chance is not known of single documents.
    is_part : bool
        Whether it has some texts only of a table of which chance is known as a whole.
    of : {"spans", "labels"}
        What was counted: spans, or the labels of what both found.
    n_compared_texts : int
        Texts of the documents compared.
    """

    documents: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_texts: int
    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    pairs: Ints
    document: Ints
    text: Ints
    label: Ints
    a: Ints
    b: Ints
    matched: Floats
    expected: Floats
    size_a: Floats
    size_b: Floats
    spans_a: Ints
    spans_b: Ints
    certain: Bools
    certain_a: Bools
    certain_b: Bools
    fixed: Bools
    matched_a: Floats | None = None
    matched_b: Floats | None = None
    expected_a: Floats | None = None
    expected_b: Floats | None = None
    error: Floats | None = None
    stream: Ints | None = None
    is_corpus_wide: bool = False
    is_part: bool = False
    of: str = SPANS
    n_compared_texts: int = 0

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def marked(self) -> Bools:
        """Rows in which at least one of the two marked something."""
        return np.asarray((self.spans_a > 0) | (self.spans_b > 0))

    @property
    def n_compared(self) -> int:
        """Documents compared, with marks or without."""
        return len(self.documents)

    @property
    def n_marked_documents(self) -> int:
        """Documents in which somebody marked something."""
        return n_distinct(self.document[self.marked])

    def texts_without_freedom(self) -> tuple[int, int]:
        """Texts in which every random arrangement gives the same match, of those with spans.

        Such are texts of one position, and those in which one of two marked nothing or
        everything.
        """
        n_texts, n_free = (
            n_distinct(self.text[rows]) for rows in (self.marked, self.marked & ~self.fixed)
        )
        return n_texts - n_free, n_texts

    def __repr__(self) -> str:
        return f"Counts({len(self):,} rows of {len(self.documents):,} documents)"

    def __add__(self, other: Counts) -> Counts:
        """Join two tables of different documents (see `joined`)."""
        return Counts.joined([self, other]) if isinstance(other, Counts) else NotImplemented

    @staticmethod
    def joined(parts: Iterable[Counts]) -> Counts:
        """Join any number of tables of different documents; names are matched.

        Raises
        ------
        DataError
            If a document is in two tables, or they have different fields or measures.
        """
        tables = [checked_instance(part, Counts, "tables of counts") for part in parts]
        if not tables:
            raise DataError("there is no table", expected="one or more")
        first = tables[0]
        if len(tables) > 1 and any(part.is_corpus_wide for part in tables):
            raise DataError(
                "random spans were placed in the whole corpus of each table",
                expected="one table of all documents",
                remedy="score them together",
            )
        for part in tables:
            if part.fields.keys() != first.fields.keys():
                raise DataError(
                    "tables with the fields ",
                    Quote(sorted(first.fields)),
                    " and ",
                    Quote(sorted(part.fields)),
                    " cannot be added",
                    expected="the same fields",
                )
            if part._columns().keys() != first._columns().keys() or part.of != first.of:
                raise DataError("tables of different measures cannot be added", expected="the same")
        documents = tuple(chain.from_iterable(part.documents for part in tables))
        twice = [name for name, times in Counter(documents).items() if times > 1]
        if twice:
            raise DataError(
                "both tables hold the document ",
                Quote(twice[0]),
                expected="different documents",
                remedy="give them different names",
            )
        labels = tuple(sorted({name for part in tables for name in part.labels}))
        annotators = tuple(dict.fromkeys(name for part in tables for name in part.annotators))
        label_number, annotator_number = numbered(labels), numbered(annotators)
        pairs, columns, n_documents, n_texts = [], [], 0, 0
        for part in tables:
            number = _numbers(part.annotators, annotator_number)
            renamed = part._renamed(_numbers(part.labels, label_number), number)
            renamed["document"] = part.document + n_documents
            renamed["text"] = part.text + n_texts
            columns.append(renamed)
            pairs.append(number[part.pairs])
            n_documents += len(part.documents)
            n_texts += part.n_texts
        whole: dict[str, Any] = {
            name: np.concatenate([part[name] for part in columns]) for name in columns[0]
        }
        return Counts(
            documents=documents,
            fields={
                name: tuple(chain.from_iterable(part.fields[name] for part in tables))
                for name in first.fields
            },
            n_texts=n_texts,
            labels=labels,
            annotators=annotators,
            pairs=_distinct_pairs(np.concatenate(pairs, axis=1), len(annotators)),
            n_compared_texts=sum(part.n_compared_texts for part in tables),
            is_corpus_wide=first.is_corpus_wide,
            of=first.of,
            **whole,
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the table, those that it has."""
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return {name: column for name, column in columns.items() if column is not None}

    def _renamed(self, label: Ints, annotator: Ints) -> dict[str, NDArray[Any]]:
        """The columns with other numbers for labels and annotators, ``a <= b`` again."""
        columns = self._columns()
        columns["label"] = label[self.label]
        columns["a"], columns["b"] = annotator[self.a], annotator[self.b]
        swap = columns["a"] > columns["b"]
        if not swap.any():
            return columns
        return {
            name: np.where(swap, columns[_SIDES[name]], column) if name in _SIDES else column
            for name, column in columns.items()
        }

    def only(self, keep: Bools) -> Counts:
        """The table with some of its rows; documents and names stay."""
        rows = np.flatnonzero(keep)
        columns: dict[str, Any] = {n: column[rows] for n, column in self._columns().items()}
        return replace(self, **columns)

    def of_documents(self, keep: Bools) -> Counts:
        """The table with some of its documents, chosen by a truth value for each."""
        part = self.only(keep[self.document])
        return replace(
            part,
            documents=kept(self.documents, keep),
            fields={name: kept(values, keep) for name, values in self.fields.items()},
            document=(np.cumsum(keep) - 1)[part.document],
            is_part=self.is_corpus_wide,
        )

    def weighted(self, weight: Floats) -> Counts:
        """Multiply the sums of each document by its weight.

        Products are rounded one by one, so that they add to the same digits in any order.
        """
        rows = weight[self.document]
        columns: dict[str, Any] = {
            name: rounded(column * rows)
            for name, column in self._columns().items()
            if name in (*SUMS, "error")
        }
        return replace(self, **columns)

    def of_texts(self, keep: Bools) -> Counts:
        """The table with the rows of some texts, chosen by a truth value for each."""
        return replace(self.only(keep[self.text]), is_part=self.is_corpus_wide)

    def without(self, annotator: str) -> Counts:
        """The table without the rows of one annotator."""
        number = self.annotators.index(
            checked_option("annotator", annotator, self.annotators, are_data=True)
        )
        others = np.all(self.pairs != number, axis=0)
        rows = self.only((self.a != number) & (self.b != number))
        return replace(rows, pairs=self.pairs[:, others])

    def ordered(self, annotators: tuple[str, ...]) -> Counts:
        """The same table with the annotators in another order, so with other sides a and b."""
        number = _numbers(self.annotators, numbered(annotators))
        pairs = _distinct_pairs(number[self.pairs], len(annotators))
        columns: dict[str, Any] = self._renamed(np.arange(len(self.labels)), number)
        return replace(self, annotators=annotators, pairs=pairs, **columns)

    def score(self) -> Score:
        """The sum of all rows."""
        return self._scores(np.zeros(len(self), dtype=np.int64), ("all",))["all"]

    def by_label(self) -> Mapping[str, Score]:
        """A score for each label."""
        return self._scores(self.label, self.labels)

    def by_document(self) -> Mapping[str, Score]:
        """A score for each document compared."""
        return self._scores(self.document, self.documents, are_parts=self.is_corpus_wide)

    def by_field(self, name: str) -> Mapping[str, Score]:
        """A score for each value of a field of the documents."""
        values, group = self.field_values(name)
        return self._scores(group[self.document], values, are_parts=self.is_corpus_wide)

    def field_values(self, name: str) -> tuple[tuple[str, ...], Ints]:
        """The values of a field, and the number of each document's among them."""
        checked_option("field", name, self.fields, are_data=True)
        values = tuple(dict.fromkeys(self.fields[name]))
        return values, _numbers(self.fields[name], numbered(values))

    def pair_numbers(self) -> Ints:
        """For each row, the number of its pair among `pairs`."""
        code = self.pairs[0] * len(self.annotators) + self.pairs[1]
        return np.searchsorted(code, self.a * len(self.annotators) + self.b)

    def by_pair(self) -> Mapping[tuple[str, str], Score]:
        """A score for each pair of annotators who share a document compared."""
        group = self.pair_numbers()
        one, two = ([self.annotators[i] for i in side] for side in self.pairs.tolist())
        return self._scores(group, list(zip(one, two, strict=True)))

    def by_annotator(self) -> Mapping[str, Score]:
        """A score for each annotator, as side a, against all others.

        `n_spans` counts the annotator's own spans.
        """
        both_ways = self.both_ways()
        return both_ways._scores(both_ways.a, self.annotators, sides=("a",))

    def without_each(self) -> Mapping[str, Score]:
        """A score for the team without each annotator, as `without` gives it.

        From the sums of all rows less those of the annotator's rows, in whole numbers, so
        that no digit differs and no table is copied.
        """
        n_rows, n_annotators = len(self), max(len(self.annotators), 1)
        # The rows of each annotator: once where it is compared with itself.
        other = np.flatnonzero(self.a != self.b)
        row = np.concatenate([np.arange(n_rows), other])
        who = np.r_[self.a, self.b[other]]
        names = [name for name in self._columns() if name in SUMS]
        table = [getattr(self, name) for name in names] + [~getattr(self, name) for name in _FLAGS]
        sums = exact_columns(np.stack([*table, np.ones(n_rows)], axis=1))
        own = sums.by(who, n_annotators, row)
        *values, n_left = sums.put_together(sums.digits.sum(axis=0) - own).T
        columns: dict[str, NDArray[Any]] = dict(zip((*names, *_FLAGS), values, strict=True))
        for name in _FLAGS:
            columns[name] = (columns[name] == 0) & (n_left > 0)
        if self.error is not None:
            # Errors do not subtract.
            errors = [self.without(name).score().error for name in self.annotators]
            columns["error"] = np.array(errors)
        whole, lost = self.score(), self.lost_with_each()
        columns["n_documents"] = whole.n_documents - lost[0]
        columns["n_spans"] = whole.n_spans - lost[1]
        return Scores(self.annotators, columns, self.of)

    def lost_with_each(self) -> tuple[Ints, Ints]:
        """The documents and the spans that are compared no more without each annotator."""
        n_rows, n_annotators = len(self), max(len(self.annotators), 1)
        other = np.flatnonzero(self.a != self.b)
        row = np.concatenate([np.arange(n_rows), other])
        who, partner = np.r_[self.a, self.b[other]], np.r_[self.b, self.a[other]]
        # Documents of which all rows are the annotator's are lost.
        marked = self.marked
        n_rows_of = np.bincount(self.document[marked], minlength=len(self.documents))
        code, number = distinct((self.document[row] * n_annotators + who)[marked[row]])
        lost = code[np.bincount(number) == n_rows_of[code // n_annotators]] % n_annotators
        n_lost = np.bincount(lost, minlength=n_annotators)
        # The annotator's spans are lost, and those that are compared with no one else's.
        cell = self.text * max(len(self.labels), 1) + self.label
        code, number = distinct(cell[row] * n_annotators + who)
        spans, only = np.zeros(len(code), dtype=np.int64), np.zeros(len(code), dtype=np.int64)
        spans[number], only[number] = np.r_[self.spans_a, self.spans_b[other]], partner
        code %= n_annotators
        is_lost = (np.bincount(number) == 1) & (only != code)
        lost_spans = total(code, spans, n_annotators)
        lost_spans += total(only[is_lost], spans[is_lost], n_annotators)
        return n_lost, lost_spans.astype(np.int64)

    def size_by_annotator(self) -> dict[str, float]:
        """How much each annotator marked, in the measure's own unit."""
        mirrored = self.both_ways()
        sizes = mirrored.once(mirrored.a, len(self.annotators), "size", sides=("a",))
        return dict(zip(self.annotators, sizes.tolist(), strict=True))

    def spans_by_label(self, annotator: str) -> dict[str, int]:
        """How many spans of each label an annotator marked, each counted once."""
        number = self.annotators.index(annotator)
        both_ways = self.both_ways()
        own = both_ways.only(both_ways.a == number)
        spans = own.once(own.label, len(self.labels), "spans", sides=("a",))
        return dict(zip(self.labels, spans.astype(np.int64).tolist(), strict=True))

    def against(self, annotator: str) -> Mapping[str, Score]:
        """A score for each who shares a document with an annotator, who is side a.

        Against a gold standard, precision and recall then are what they are called.
        """
        checked_option("annotator", annotator, self.annotators, are_data=True)
        one = self.annotators.index(annotator)
        others = distinct(self.pairs[::-1][self.pairs == one])[0]
        others = others[others != one]
        both_ways = self.both_ways()
        rows = both_ways.only(both_ways.a == one)
        names = [self.annotators[other] for other in others.tolist()]
        return rows._scores(np.searchsorted(others, rows.b), names)

    def both_ways(self) -> Counts:
        """The rows of different annotators, followed by the same with the sides changed."""
        rows = np.flatnonzero(self.a != self.b)
        columns: dict[str, Any] = {
            name: np.concatenate([column[rows], getattr(self, _SIDES.get(name, name))[rows]])
            for name, column in self._columns().items()
        }
        return replace(self, **columns)

    def _scores(
        self,
        group: Ints,
        names: Sequence[Name],
        *,
        sides: Sequence[str] = ("a", "b"),
        are_parts: bool = False,
    ) -> Scores[Name]:
        """Sum the rows of each group; `n_spans` counts the spans of these sides."""
        n_groups = len(names)
        columns: dict[str, NDArray[Any]] = {
            name: exact_total(group, column, n_groups)
            for name, column in self._columns().items()
            if name in SUMS
        }
        has_rows = np.bincount(group, minlength=n_groups) > 0
        for name in _FLAGS:
            columns[name] = has_rows & (total(group, ~getattr(self, name), n_groups) == 0)
        if self.error is not None:
            columns["error"] = self._errors(group, n_groups)
        columns["is_part"] = np.full(n_groups, are_parts or self.is_part)
        columns |= self.sizes_of(group, n_groups, sides)
        return Scores(names, columns, self.of)

    def sizes_of(
        self, group: Ints, n_groups: int, sides: Sequence[str] = ("a", "b")
    ) -> dict[str, Ints]:
        """How many documents have marks in each group of rows, and how many spans it has.

        Spans are those of these sides, and each counts once.
        """
        marked = np.flatnonzero(self.marked)
        return {
            "n_documents": _distinct(group[marked], self.document[marked], n_groups),
            "n_spans": self.once(group, n_groups, "spans", sides).astype(np.int64),
        }

    def _errors(self, group: Ints, n_groups: int) -> Floats:
        """Standard error of the sum of each group's estimates.

        Errors of one stream are one and the same error, and add up. Those of different
        streams are independent, and their squares add up.
        """
        if self.error is None or self.stream is None:
            return np.zeros(n_groups)
        return pooled_errors(group, self.stream, digits_of(rounded(self.error)), n_groups)

    def once(
        self, group: Ints, n_groups: int, what: str, sides: Sequence[str] = ("a", "b")
    ) -> Floats:
        """Spans or sizes of each group, each counted once however many pairs it is in."""
        n_annotators = max(len(self.annotators), 1)
        values = np.concatenate([getattr(self, f"{what}_{side}") for side in sides])
        # The usual case of two annotators: no row repeats another.
        if len(self) and self.a[0] != self.b[0] and not (np.ptp(self.a) or np.ptp(self.b)):
            return total(np.concatenate([group] * len(sides)), values, n_groups)
        cell = (group * max(self.n_texts, 1) + self.text) * max(len(self.labels), 1) + self.label
        code = np.concatenate([cell * n_annotators + getattr(self, side) for side in sides])
        code, number = distinct(code)
        # Rows that repeat an annotator's spans hold the same value.
        once = np.empty(len(code), dtype=np.int64)
        once[number] = np.arange(len(values))
        values = values[once]
        width = max(self.n_texts, 1) * max(len(self.labels), 1) * n_annotators
        return total(code // width, values, n_groups)

    @cached_property
    def document_places(self) -> Ints:
        """The place of each document in the order in which documents are drawn."""
        return places(self.documents)

    @property
    def unit_names(self) -> tuple[str, ...]:
        """What is drawn: the documents."""
        return self.documents

    def field_rows(self, name: str) -> dict[str, Rows]:
        """The rows for resampling of each value of a field, over its own documents."""
        values, number = self.field_values(name)
        return {
            value: self.of_documents(number == index).leveled()
            for index, value in enumerate(values)
        }

    def estimate_error(self, times: Ints) -> float:
        """Standard error of the sum of `times` as much as is expected in each row."""
        if self.error is None or self.stream is None:
            return 0.0
        everything = np.zeros(len(self), dtype=np.int64)
        digits = [times * part for part in digits_of(rounded(self.error))]
        return float(pooled_errors(everything, self.stream, digits, 1)[0])

    def sums_of(self, group: Ints, n_groups: int, times: Ints | None = None) -> Floats:
        """The sums of the columns of `exact` over each group of rows, shape (groups, 4)."""
        size, by = self.size_a + self.size_b, 1 if times is None else times
        columns = (self.matched, by * self.expected, by * size)
        free = np.bincount(group[~self.fixed], minlength=n_groups)
        return np.stack([*(exact_total(group, each, n_groups) for each in columns), free]).T

    def exact(self, times: Ints | None = None) -> ExactColumns:
        """Matched, expected, size of both sides and freedom of each row, as sums need them.

        Expected and size count as often as `times` says.
        """
        size, by = self.size_a + self.size_b, 1 if times is None else times
        return exact_columns(
            np.stack([self.matched, by * self.expected, by * size, ~self.fixed], axis=1)
        )

    def leveled(self, levels: Levels | None = None, times: Ints | None = None) -> Rows:
        """The rows for resampling, and the levels that each of them is in; one by default.

        Documents and annotators are numbered by their `places`, and not as they were read.
        """
        annotator = places(self.annotators)
        one, other = annotator[self.a], annotator[self.b]
        return Rows(
            n_documents=len(self.documents),
            levels=Levels(len(self)) if levels is None else levels,
            document=self.document_places[self.document],
            columns=self.exact(times),
            a=np.minimum(one, other),
            b=np.maximum(one, other),
        )

    def document_sums(self) -> Floats:
        """Matched, expected, size and rows in which chance has freedom, of each document.

        Documents come by their `places`.

        Returns
        -------
        array of float, shape (documents, 4)
        """
        rows = self.leveled()
        return rows.sums(rows.document, rows.n_documents, range(1))[:, 0]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of plain values, with names instead of numbers."""
        return {
            "document": [self.documents[i] for i in self.document.tolist()],
            "text": self.text.tolist(),
            "label": [self.labels[i] for i in self.label.tolist()],
            "a": [self.annotators[i] for i in self.a.tolist()],
            "b": [self.annotators[i] for i in self.b.tolist()],
            **{
                name: getattr(self, name).tolist()
                for name in (*SUMS[:4], "spans_a", "spans_b", *SUMS[4:], "error")
                if getattr(self, name) is not None
            },
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary for each row, as any table library takes them."""
        return rows_of(self.to_dict())


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """One dictionary for each row of a table."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def numbered(names: Iterable[Name]) -> dict[Name, int]:
    """The number of each name."""
    return {name: number for number, name in enumerate(names)}


def _numbers(names: Sequence[str], number: Mapping[str, int]) -> Ints:
    """For each name, its number."""
    return np.fromiter((number[name] for name in names), dtype=np.int64, count=len(names))


def pooled_errors(
    group: Ints, stream: Ints, digits: Sequence[Floats | Ints], n_groups: int
) -> Floats:
    """Standard error of the sum of each group's estimates, whose errors are cut into digits."""
    order = np.lexsort((stream, group))
    group, stream = group[order], stream[order]
    begins = (np.diff(group, prepend=-1) != 0) | (np.diff(stream, prepend=-1) != 0)
    number, n = np.cumsum(begins) - 1, int(np.count_nonzero(begins))
    added = put_together(*(total(number, part[order], n) for part in digits))
    return np.sqrt(total(group[begins], added**2, n_groups))


def _distinct_pairs(pairs: Ints, n_annotators: int) -> Ints:
    """Pairs sorted, each once, the smaller number first."""
    code = pairs.min(axis=0) * n_annotators + pairs.max(axis=0)
    return np.stack(np.divmod(distinct(code)[0], max(n_annotators, 1)))


def _distinct(group: Ints, value: Ints, n_groups: int) -> Ints:
    """How many distinct values each group has."""
    width = largest(value) + 1
    if n_groups * width > 16 * len(value):
        return np.bincount(distinct(group * width + value)[0] // width, minlength=n_groups)
    occurs = np.zeros(n_groups * width, dtype=bool)
    occurs[group * width + value] = True
    return np.asarray(np.count_nonzero(occurs.reshape(n_groups, width), axis=1))
