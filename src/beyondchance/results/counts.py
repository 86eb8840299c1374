"""Counts that add, and the scores that follow from them.

A row of Counts holds what one pair of annotators did with one label in one text, or in all texts
of a unit: a document, or a group of documents where these are many. Every score, at every level,
is a sum of rows followed by one division. Rates are never stored and never averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from heapq import nsmallest
from itertools import chain
from math import nan
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
from beyondchance.results.adding import (
    Columns,
    coded,
    concatenated,
    numbered,
    numbers,
    summed,
    united,
)
from beyondchance.results.named import unknown_name
from beyondchance.results.resampling import SCORES, Levels, Rows, score_of
from beyondchance.results.score import SPANS, SUMS, Score, reason_codes
from beyondchance.results.units import MOST_DOCUMENTS, Units, check_distinct
from beyondchance.settings import Settings, added_settings
from beyondchance.types import Bools, Floats, Ints

Name = TypeVar("Name", bound=Hashable)

FEWEST_GROUPS = 256
"""Groups of documents that there are in any case."""
MOST_ROWS = 2**21
"""Sums by group from which on there are fewer groups."""
MOST_VALUES = 10_000
"""Values of a field of documents whose sums are kept."""
MOST_KEPT = 100
"""Documents that are kept because they stand out."""
BINS = 10
"""Cells of the histogram of difficulty, from 0 to 1."""

_FLAGS = ("certain", "certain_a", "certain_b", "fixed")
_COLUMNS = (
    *("document", "text", "label", "a", "b"),
    *("matched", "expected", "size_a", "size_b", "spans_a", "spans_b"),
    *_FLAGS,
    *("matched_a", "matched_b", "expected_a", "expected_b", "error", "stream"),
    *("rows", "free"),
)
_SIDES = {
    f"{name}{one}": f"{name}{two}"
    for name in ("", "size_", "spans_", "certain_", "matched_", "expected_")
    for one, two in (("a", "b"), ("b", "a"))
}
"""What each column of one side is called on the other."""
_NO_TEXTS = np.zeros(0, dtype=np.int64)
_KEYS = ("label", "a", "b")
_LEVELS: dict[str, tuple[str, ...]] = {
    "all": (),
    "texts": (),
    "label": ("label",),
    "pair": ("a", "b"),
    "annotator": ("a",),
    "lost": ("a",),
    "mark": ("label", "a"),
}
"""What does not add over pairs, each with the keys of its levels; other keys are -1, for all."""
_SIZES = {
    **dict.fromkeys(_LEVELS, ("n_documents", "n_spans")),
    "texts": ("fixed_texts", "marked_texts"),
    "lost": ("lost_n_documents", "lost_n_spans"),
    "mark": ("n_spans", "size"),
}
"""What is known of them."""


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


Kept = tuple[float, float, str, Score]
"""A document that stands out: what it is ordered by, its name, and its score."""


@dataclass(frozen=True, eq=False)
class Added:
    """What rows that were added up do not tell of their documents.

    Attributes
    ----------
    units : Units
        What rows are by: documents, or groups of them.
    sizes : mapping of str to array
        Documents and spans, which do not add over pairs, by ``label``, ``a`` and ``b``, each -1
        for all: of everything, of labels, pairs and annotators (with what is lost without one),
        and how much each annotator marked of each label.
    means : mapping of str to array
        Sums of the scores of documents by ``document``, the number of their unit, and how many
        have none by reason.
    histogram : array of int, shape (BINS + 1,)
        Documents by difficulty; the last are those without one.
    kept : tuple of (float, float, str, Score)
        The documents that stand out: by the lowest corrected score, or the highest difficulty.
    """

    units: Units
    sizes: Columns
    means: Columns = field(default_factory=dict)
    histogram: Ints = field(default_factory=lambda: np.zeros(BINS + 1, dtype=np.int64))
    kept: tuple[Kept, ...] = ()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Counts:
    """The table that everything is summed from; tables add.

    One row for each text, label and pair of annotators, where at least one of the
    two marked something; of many documents, sums of such rows by unit (see `by_unit`).
    Numbers are multiples of 2**-52, which are added exactly, so that the sum does not depend
    on how a corpus is split. A size may be larger than what can match, as that of spans without
    a known place.

    Attributes
    ----------
    documents : tuple of str
        The documents compared, those without a row included; none where units are groups.
    fields : mapping of str to tuple of str
        Values to group documents by. Of rows by unit: counts whose labels are the values, or None
        if these are too many.
    n_texts : int
    labels, annotators : tuple of str
    pairs : array of int, shape (2, pairs)
        The pairs of annotators who share a document compared, with rows or without.
    document, text, label, a, b : arrays of int, shape (rows,)
        Numbers into the above; ``a <= b``, equal only in tables of difficulty. Rows by unit have
        its number as their document, and no text.
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
    rows, free : arrays of int, shape (rows,), optional
        Of rows by unit, how many rows were added, and how many of these are not `fixed`.
    is_corpus_wide : bool
        Whether random spans may be in any text of the corpus. Then every text has rows, and
        chance is not known of single documents.
    is_part : bool
        Whether it has some texts only of a table of which chance is known as a whole.
    of : {"spans", "labels"}
        What was counted: spans, or the labels of what both found.
    n_compared_texts : int
        Texts of the documents compared.
    settings : Settings, optional
        How they were counted, by `count`.
    added : Added, optional
        What is known of documents whose rows were added up.
    """

    documents: tuple[str, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)
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
    rows: Ints | None = None
    free: Ints | None = None
    is_corpus_wide: bool = False
    is_part: bool = False
    of: str = SPANS
    n_compared_texts: int = 0
    settings: Settings | None = None
    added: Added | None = None

    def __len__(self) -> int:
        return len(self.document)

    def __repr__(self) -> str:
        return f"Counts({len(self):,} rows of {self.n_compared:,} documents)"

    def __add__(self, other: Counts) -> Counts:
        """Join two tables of different documents (see `joined`)."""
        return Counts.joined([self, other]) if isinstance(other, Counts) else NotImplemented

    # --- Documents and units ---

    @property
    def is_by_document(self) -> bool:
        """Whether there are rows for every text of every document, and not only their sums."""
        return self.added is None

    def each_document(self) -> Counts:
        """Return the table, refused where only sums of its documents are kept."""
        if self.is_by_document:
            return self
        raise DataError(
            f"of {self.n_compared:,} documents the sums are kept, not the scores of each",
            expected="at most "
            f"{MOST_DOCUMENTS:,} documents, to list them; those that stand out are in `contested`",
            remedy="read the documents in question by themselves",
        )

    @property
    def n_compared(self) -> int:
        """Documents compared, with marks or without."""
        if self.added is None:
            return len(self.documents)
        return int(self.added.units.n_documents.sum())

    @property
    def n_marked_documents(self) -> int:
        """Documents in which somebody marked something."""
        if self.added is None:
            return n_distinct(self.document[self.marked])
        return int(self._sizes("all")["n_documents"][0])

    @property
    def n_groups(self) -> int:
        """Groups of documents that rows are by; 0 where they are by document."""
        return 0 if self.added is None else self.added.units.n_groups

    @property
    def unit_names(self) -> tuple[str, ...]:
        """What is drawn for intervals: the documents, or a name for each group of them."""
        return self.documents if self.added is None else self.added.units.shown

    @cached_property
    def unit_places(self) -> Ints:
        """The place of each unit, by its number, in the order in which units are drawn."""
        return places(self.documents) if self.added is None else self.added.units.place

    @property
    def document_places(self) -> Ints:
        """The place of each of `unit_names` in the order in which units are drawn."""
        return self.unit_places if self.added is None else np.arange(len(self.unit_names))

    @property
    def drawn(self) -> Counts:
        """What intervals and tests draw from: counts by document, or of many by groups of them."""
        is_large = self.n_compared > MOST_DOCUMENTS and not self.is_corpus_wide
        return self.by_unit() if self.is_by_document and is_large else self

    # --- Adding ---

    @staticmethod
    def joined(parts: Iterable[Counts]) -> Counts:
        """Join any number of tables of different documents; names are matched.

        If rows of one are by unit, so are those of all.

        Raises
        ------
        DataError
            If a document is in two tables, or they have different fields or measures.
        """
        tables = [checked_instance(part, Counts, "tables of counts") for part in parts]
        if not tables:
            raise DataError("there is no table", expected="one or more")
        first = tables[0]
        if len(tables) == 1:
            return first
        if any(part.is_corpus_wide for part in tables):
            raise DataError(
                "random spans were placed in the whole corpus of each table",
                expected="one table of all documents",
                remedy="score them together",
            )
        by_document = all(part.is_by_document for part in tables)
        # Where nobody marked anything, nothing tells what was counted.
        filled = tables if by_document else [part for part in tables if len(part)]
        kinds = {(part.matched_a is None, part.error is None, part.of) for part in filled}
        if len(kinds) > 1 or len({part.is_with_self for part in tables if part.pairs.size}) > 1:
            raise DataError("tables of different measures cannot be added", expected="the same")
        if not by_document:
            found = [part.by_unit() for part in tables]
            units, unit_of = Units.together([_added(part).units for part in found])
            return _merged(found, units, unit_of)._bounded()
        for part in tables:
            if part.fields.keys() != first.fields.keys():
                raise DataError(
                    *("tables with the fields ", Quote(sorted(first.fields)), " and "),
                    *(Quote(sorted(part.fields)), " cannot be added"),
                    expected="the same fields",
                )
        documents = tuple(chain.from_iterable(part.documents for part in tables))
        check_distinct(documents)
        ends = np.cumsum([len(part.documents) for part in tables])
        return _merged(tables, documents, np.split(np.arange(len(documents)), ends[:-1]))

    def by_unit(self) -> Counts:
        """Add up the rows of each document, or of each group where documents are many.

        All scores and intervals stay the same, but those of single documents are not kept: of
        these only the ones that stand out.
        """
        if self.added is not None:
            return self
        scores = _Documents.of(self)
        units, unit = Units.of(self.documents)
        document = np.arange(len(self.documents))
        own = Units(self.documents, 0, document, document)
        added = Added(
            units=own,
            sizes=self._all_sizes(),
            means=scores.means(),
            histogram=scores.histogram(),
            kept=tuple(scores.outstanding(MOST_KEPT)),
        )
        fields = {name: self._field_counts(name, own) for name in self.fields}
        part = replace(self, text=_NO_TEXTS, fields=fields, added=added)
        return _merged([part], units, [unit])._bounded()

    def _field_counts(self, name: str, units: Units) -> Counts | None:
        """Counts by unit whose labels are the values of a field."""
        values, number = self.field_values(name)
        if len(values) > MOST_VALUES:
            return None
        n, rows = len(self.documents), self._columns()
        nothing = {
            name: np.zeros(n, column.dtype) for name, column in rows.items() if column.dtype != bool
        }
        # Documents without a row count too.
        found: dict[str, Any] = concatenated([rows, {**nothing, "document": np.arange(n)}])
        del found["text"]
        found["label"] = number[found["document"]]
        found["a"], found["b"] = np.zeros((2, len(found["label"])), dtype=np.int64)
        sizes = self._sizes_by(number, len(values))
        level = {"label": np.arange(len(values)), "a": np.full(len(values), -1)}
        added = Added(units, {**level, "b": level["a"], **sizes})
        return replace(
            self,
            labels=values,
            annotators=("",),
            pairs=np.zeros((2, 1), dtype=np.int64),
            fields={},
            text=_NO_TEXTS,
            added=added,
            **found,
        )

    def grouped(self, n_groups: int) -> Counts:
        """Add up the rows of groups of documents, or of larger groups."""
        found = self.by_unit()
        units, unit = _added(found).units.grouped(n_groups)
        return _merged([found], units, [unit])

    def _bounded(self) -> Counts:
        """The same with fewer groups where there are too many sums; depends on all rows only."""
        found = self
        while len(found) > MOST_ROWS and found.n_groups > FEWEST_GROUPS:
            if n_distinct(coded([found.document, found.label, found.a, found.b])) <= MOST_ROWS:
                break
            found = found.grouped(found.n_groups // 2)
        return found

    @property
    def _free(self) -> NDArray[Any]:
        """How many rows in which chance has freedom each row stands for."""
        return ~self.fixed if self.free is None else self.free

    def _columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the table, those that it has."""
        columns = {name: getattr(self, name) for name in _COLUMNS}
        if self.added is not None:
            del columns["text"]
        return {name: column for name, column in columns.items() if column is not None}

    @property
    def is_with_self(self) -> bool:
        """Whether annotators are paired with themselves too, as difficulty has it."""
        return bool(np.any(self.pairs[0] == self.pairs[1]))

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
        label, number = np.arange(len(self.labels)), numbers(self.annotators, numbered(annotators))
        columns: dict[str, Any] = self._renamed(label, number)
        pairs, added = _distinct_pairs(number[self.pairs], len(annotators)), self.added
        if added is not None:
            added = replace(added, sizes=_renamed_sizes(added, label, number))
        return replace(self, annotators=annotators, pairs=pairs, added=added, **columns)

    # --- Scores ---

    def score(self) -> Score:
        """The sum of all rows."""
        return self._scores("all", ("all",))["all"]

    def by_label(self) -> Mapping[str, Score]:
        """A score for each label."""
        return self._scores("label", self.labels)

    def by_pair(self) -> Mapping[tuple[str, str], Score]:
        """A score for each pair of annotators who share a document compared."""
        one, two = ([self.annotators[i] for i in side] for side in self.pairs.tolist())
        return self._scores("pair", list(zip(one, two, strict=True)))

    def by_annotator(self) -> Mapping[str, Score]:
        """A score for each annotator, as side a, against all others.

        `n_spans` counts the annotator's own spans.
        """
        return self._scores("annotator", self.annotators)

    def by_document(self) -> Mapping[str, Score]:
        """A score for each document compared."""
        counts = self.each_document()
        return counts._by_document(np.arange(len(counts.documents)), counts.documents)

    def _by_document(self, group: Ints, names: Sequence[str]) -> Mapping[str, Score]:
        """A score for each group of documents."""
        rows, sizes = group[self.document], self._sizes_by(group, len(names))
        return self._scores_of(rows, names, sizes, are_parts=self.is_corpus_wide)

    def by_field(self, name: str) -> Mapping[str, Score]:
        """A score for each value of a field of the documents."""
        if self.added is not None:
            counts = self._field(name)
            order = np.argsort(places(counts.labels))
            columns = counts._scores("label", counts.labels).columns
            named = [counts.labels[i] for i in order.tolist()]
            return Scores(named, {n: column[order] for n, column in columns.items()}, self.of)
        values, group = self.field_values(name)
        return self._by_document(group, values)

    def _field(self, name: str) -> Counts:
        """Counts by unit whose labels are the values of a field, which are few enough."""
        known: Counts | None
        known = self.fields[checked_option("field", name, self.fields, are_data=True)]
        if known is None:
            found = ("field ", Quote(name), f" has more than {MOST_VALUES:,} values")
            raise DataError(*found, expected="fewer, to add up each of them")
        return known

    def field_values(self, name: str) -> tuple[tuple[str, ...], Ints]:
        """The values of a field, and the number of each document's among them."""
        checked_option("field", name, self.fields, are_data=True)
        values = tuple(dict.fromkeys(self.fields[name]))
        return values, numbers(self.fields[name], numbered(values))

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
            numbers_of = range(len(self.annotators))
            left = (self.only((self.a != i) & (self.b != i)) for i in numbers_of)
            columns["error"] = np.array([x._errors(np.zeros_like(x.a), 1)[0] for x in left])
        whole, lost = self._sizes("all"), self._sizes("lost")
        for name in whole:
            columns[name] = whole[name][0] - lost[f"lost_{name}"]
        return Scores(self.annotators, columns, self.of)

    def against(self, annotator: str) -> Mapping[str, Score]:
        """A score for each who shares a document with an annotator, who is side a.

        Against a gold standard, precision and recall then are what they are called.
        """
        checked_option("annotator", annotator, self.annotators, are_data=True)
        one = self.annotators.index(annotator)
        pair = np.flatnonzero(np.any(self.pairs == one, axis=0) & (self.pairs[0] != self.pairs[1]))
        others = self.pairs[:, pair].sum(axis=0) - one
        pair, others = pair[np.argsort(others)], np.sort(others)
        sizes = {name: column[pair] for name, column in self._sizes("pair").items()}
        both_ways = self.both_ways()
        rows = both_ways.only(both_ways.a == one)
        names = [self.annotators[other] for other in others.tolist()]
        return rows._scores_of(np.searchsorted(others, rows.b), names, sizes)

    def texts_without_freedom(self) -> tuple[int, int]:
        """Texts in which every random arrangement gives the same match, of those with spans.

        Such are texts of one position, and those in which one of two marked nothing or
        everything.
        """
        sizes = self._sizes("texts")
        return int(sizes["fixed_texts"][0]), int(sizes["marked_texts"][0])

    def size_by_annotator(self) -> dict[str, float]:
        """How much each annotator marked, in the measure's own unit."""
        sizes = self._sizes("mark")["size"].reshape(len(self.annotators), -1)
        who = np.arange(sizes.size) // max(len(self.labels), 1)
        found = exact_total(who, sizes.reshape(-1), len(self.annotators))
        return dict(zip(self.annotators, found.tolist(), strict=True))

    def spans_by_label(self, annotator: str) -> dict[str, int]:
        """How many spans of each label an annotator marked, each counted once."""
        spans = self._sizes("mark")["n_spans"].reshape(len(self.annotators), len(self.labels))
        own = spans[self.annotators.index(annotator)]
        return dict(zip(self.labels, own.tolist(), strict=True))

    def pair_numbers(self) -> Ints:
        """For each row, the number of its pair among `pairs`."""
        return self._numbers_of("pair", self)[0]

    def both_ways(self) -> Counts:
        """The rows of different annotators, followed by the same with the sides changed."""
        rows = np.flatnonzero(self.a != self.b)
        columns: dict[str, Any] = {
            name: np.concatenate([column[rows], getattr(self, _SIDES.get(name, name))[rows]])
            for name, column in self._columns().items()
        }
        return replace(self, **columns)

    def _numbers_of(self, level: str, rows: Counts | Columns) -> tuple[Ints, int]:
        """The number of each row among the levels of a kind, and how many of these there are."""
        label, a, b = (rows[k] if isinstance(rows, Mapping) else getattr(rows, k) for k in _KEYS)
        n_labels, n = len(self.labels), len(self.annotators)
        if level == "label":
            return label, n_labels
        if level == "pair":
            code = self.pairs[0] * n + self.pairs[1]
            return np.searchsorted(code, a * n + b), len(code)
        if level == "mark":
            return a * n_labels + label, n * n_labels
        return (a, n) if _LEVELS[level] else (np.zeros(len(a), dtype=np.int64), 1)

    def _scores(self, level: str, names: Sequence[Name]) -> Scores[Name]:
        """Sum the rows of each level of a kind."""
        rows = self.both_ways() if level == "annotator" else self
        group, _ = self._numbers_of(level, rows)
        return rows._scores_of(group, names, self._sizes(level))

    def _scores_of(
        self,
        group: Ints,
        names: Sequence[Name],
        sizes: Columns,
        *,
        are_parts: bool = False,
    ) -> Scores[Name]:
        """Sum the rows of each group."""
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
        columns |= sizes
        return Scores(names, columns, self.of)

    def _errors(self, group: Ints, n_groups: int, times: Ints | int = 1) -> Floats:
        """Standard error of the sum of each group's estimates.

        Errors of one stream are one and the same error, and add up. Those of different
        streams are independent, and their squares add up.
        """
        if self.error is None or self.stream is None:
            return np.zeros(n_groups)
        order = np.lexsort((self.stream, group))
        group, stream = group[order], self.stream[order]
        begins = (np.diff(group, prepend=-1) != 0) | (np.diff(stream, prepend=-1) != 0)
        number, n = np.cumsum(begins) - 1, int(np.count_nonzero(begins))
        digits = ((times * part)[order] for part in digits_of(rounded(self.error)))
        added = put_together(*(total(number, part, n) for part in digits))
        return np.sqrt(total(group[begins], added**2, n_groups))

    def estimate_error(self, times: Ints) -> float:
        """Standard error of the sum of `times` as much as is expected in each row."""
        return float(self._errors(np.zeros(len(self), dtype=np.int64), 1, times)[0])

    # --- What does not add over pairs ---

    @cached_property
    def marked(self) -> Bools:
        """Rows in which at least one of the two marked something."""
        return np.asarray((self.spans_a > 0) | (self.spans_b > 0))

    def _sizes(self, level: str) -> dict[str, NDArray[Any]]:
        """Documents, spans and the like of each level of a kind."""
        if self.added is not None:
            sizes = self.added.sizes
            own = np.all([(sizes[key] >= 0) == (key in _LEVELS[level]) for key in _KEYS], axis=0)
            number, n = self._numbers_of(level, {key: sizes[key][own] for key in _KEYS})
            return {
                name: exact_total(number, values[own], n).astype(values.dtype)
                for name, values in sizes.items()
                if name in _SIZES[level]
            }
        if level == "texts":
            n_texts, n_free = (
                n_distinct(self.text[rows]) for rows in (self.marked, self.marked & ~self.fixed)
            )
            numbers_of = {"fixed_texts": n_texts - n_free, "marked_texts": n_texts}
            return {name: np.array([number]) for name, number in numbers_of.items()}
        if level == "lost":
            return dict(zip(_SIZES[level], self.lost_with_each(), strict=True))
        group, n = self._numbers_of(level, self)
        if level == "pair":
            spans = total(group, self.spans_a + (self.a != self.b) * self.spans_b, n)
        else:
            number, _ = self._numbers_of(level, {key: self._once(key) for key in _KEYS})
            spans = total(number, self._once("spans_a"), n)
        found: dict[str, NDArray[Any]] = {"n_spans": spans.astype(np.int64)}
        if level == "mark":
            return {**found, "size": exact_total(number, self._once("size_a"), n)}
        document = self.document[self.marked]
        if level == "annotator":
            other = np.flatnonzero(self.marked & (self.a != self.b))
            group = np.concatenate([group[self.marked], self.b[other]])
            document = np.concatenate([document, self.document[other]])
        else:
            group = group[self.marked]
        return {**found, "n_documents": _distinct(group, document, n)}

    def _all_sizes(self) -> Columns:
        """Documents and spans of every level, as a table."""
        n_labels, n = len(self.labels), len(self.annotators)
        tables = []
        for level, keys in _LEVELS.items():
            sizes = self._sizes(level)
            size = len(next(iter(sizes.values())))
            table: dict[str, NDArray[Any]] = {key: np.full(size, -1) for key in _KEYS}
            if level == "pair":
                table["a"], table["b"] = self.pairs
            elif level == "mark":
                table["a"], table["label"] = np.divmod(np.arange(n * n_labels), max(n_labels, 1))
            else:
                table |= {key: np.arange(size) for key in keys}
            tables.append({**table, **sizes})
        return concatenated(tables)

    def _sizes_by(self, group: Ints, n_groups: int) -> dict[str, NDArray[Any]]:
        """Documents with marks, and spans, of each group of documents."""
        documents, _ = distinct(self.document[self.marked])
        spans = total(group[self._once("document")], self._once("spans_a"), n_groups)
        return {
            "n_documents": np.bincount(group[documents], minlength=n_groups),
            "n_spans": spans.astype(np.int64),
        }

    def _once(self, name: str) -> NDArray[Any]:
        """A column of side a, followed by that of side b, without what other rows repeat.

        What an annotator marked of a label in a text is in the rows of all who are compared.
        """
        one, other = self._rows_once
        return np.concatenate(
            [getattr(self, name)[one], getattr(self, _SIDES.get(name, name))[other]]
        )

    @property
    def _is_one_pair(self) -> bool:
        return self.pairs.shape[1] == 1 and not self.is_with_self

    @cached_property
    def _rows_once(self) -> tuple[Ints | slice, Ints | slice]:
        """The rows whose side a tells what an annotator marked, and those whose side b does."""
        if self._is_one_pair:
            return slice(None), slice(None)
        other = np.flatnonzero(self.a != self.b)
        cell = (self.text * max(len(self.labels), 1) + self.label) * max(len(self.annotators), 1)
        code, number = distinct(np.concatenate([cell + self.a, (cell + self.b)[other]]))
        first = np.empty(len(code), dtype=np.int64)
        first[number[::-1]] = np.arange(len(number))[::-1]
        return first[first < len(self)], other[first[first >= len(self)] - len(self)]

    def lost_with_each(self) -> tuple[Ints, Ints]:
        """The documents and the spans that are compared no more without each annotator."""
        n_rows, n_annotators = len(self), max(len(self.annotators), 1)
        if self._is_one_pair:
            whole, is_in = self._sizes("all"), np.isin(np.arange(n_annotators), self.pairs)
            return is_in * whole["n_documents"][0], is_in * whole["n_spans"][0]
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

    # --- Scores of documents ---

    @cached_property
    def _means(self) -> Columns:
        if self.added is not None:
            return self.added.means
        return _Documents.of(self).means()

    def outstanding(self) -> Sequence[Kept]:
        """Documents by the lowest corrected score, or the highest difficulty, where they have one.

        All of them, the first ones where only sums of documents are kept.
        """
        return _Documents.of(self).outstanding() if self.added is None else self.added.kept

    @property
    def histogram(self) -> Ints:
        """How many documents have which difficulty; the last are those without one."""
        return _Documents.of(self).histogram() if self.added is None else self.added.histogram

    def mean_table(self, *, of_all: bool = False) -> Floats:
        """Sums of the scores of documents by unit, and how many: for each of `SCORES`.

        Of the documents that have a corrected score; where none has, or if wanted, of all that
        were marked.
        """
        means, n_units = self._means, len(self.unit_names)
        unit = self.unit_places[means["document"]]
        columns = []
        for name in SCORES:
            wanted = self._averaged(name, of_all=of_all)
            for what in (name, "n"):
                found = [exact_total(unit, means[f"{prefix}{what}"], n_units) for prefix in wanted]
                columns.append(np.sum([np.zeros(n_units), *found], axis=0))
        return np.stack(columns, axis=1)

    def mean_of(self, name: str, *, of_all: bool = False) -> float:
        """The mean of a score of documents; nan if none has it."""
        wanted, means = self._averaged(name, of_all=of_all), self._means
        n = sum(int(means[f"{prefix}n"].sum()) for prefix in wanted)
        values = np.concatenate([np.zeros(0), *(means[f"{prefix}{name}"] for prefix in wanted)])
        return (
            float(exact_total(np.zeros(len(values), dtype=np.int64), values, 1)[0]) / n
            if n
            else nan
        )

    def _averaged(self, name: str, *, of_all: bool) -> list[str]:
        """The documents that a score is averaged over, by the beginnings of columns."""
        if name in {"corrected", "lowest"}:
            return [] if of_all else [""]
        if self.is_corpus_wide and name == "chance":
            return []
        return [""] if self.n_averaged and not of_all else ["", "other_"]

    @property
    def n_averaged(self) -> int:
        """Documents that have a corrected score."""
        return int(self._means["n"].sum())

    def n_by_reason(self) -> dict[int, int]:
        """How many documents have no corrected score, by the number of the reason."""
        n_marked = self.n_averaged + int(self._means["other_n"].sum())
        found = {0: self.n_compared - n_marked}
        found |= {code: int(self._means[f"reason_{code}"].sum()) for code in _REASONS}
        return {code: n for code, n in found.items() if n}

    # --- Intervals ---

    def field_rows(self, name: str) -> dict[str, Rows]:
        """The rows for resampling of each value of a field, over its own documents."""
        if self.added is None:
            values, number = self.field_values(name)
            return {
                value: self.of_documents(number == index).leveled()
                for index, value in enumerate(values)
            }
        counts = self._field(name)
        label = numbered(counts.labels)
        return {value: counts._rows_with(label[value]) for value in _in_order(counts.labels)}

    def _rows_with(self, label: int) -> Rows:
        """The rows of a label, over the units that have it."""
        rows = self.only(self.label == label).leveled()
        units, unit = distinct(rows.document)
        return replace(rows, n_documents=len(units), document=unit)

    def sums_of(self, group: Ints, n_groups: int, times: Ints | None = None) -> Floats:
        """The sums of the columns of `exact` over each group of rows, shape (groups, 4).

        A row of group -1 is in none.
        """
        size, by = self.size_a + self.size_b, 1 if times is None else times
        inside = slice(None) if len(group) and group.min() >= 0 else np.flatnonzero(group >= 0)
        columns = (self.matched, by * self.expected, by * size, self._free.astype(np.float64))
        # Column by column, which takes less memory than all at once.
        sums = [exact_total(group[inside], column[inside], n_groups) for column in columns]
        return np.stack(sums, axis=1)

    def exact(self, times: Ints | None = None) -> ExactColumns:
        """Matched, expected, size of both sides and freedom of each row, as sums need them.

        Expected and size count as often as `times` says.
        """
        size, by = self.size_a + self.size_b, 1 if times is None else times
        return exact_columns(
            np.stack([self.matched, by * self.expected, by * size, self._free], axis=1)
        )

    def leveled(self, levels: Levels | None = None, times: Ints | None = None) -> Rows:
        """The rows for resampling, and the levels that each of them is in; one by default.

        Documents and annotators are numbered by their `places`, and not as they were read.
        """
        annotator = places(self.annotators)
        one, other = annotator[self.a], annotator[self.b]
        return Rows(
            n_documents=len(self.unit_names),
            levels=Levels(len(self)) if levels is None else levels,
            document=self.unit_places[self.document],
            columns=self.exact(times),
            a=np.minimum(one, other),
            b=np.maximum(one, other),
        )

    def document_sums(self) -> Floats:
        """Matched, expected, size and rows in which chance has freedom, of each unit.

        Units come by their places.

        Returns
        -------
        array of float, shape (units, 4)
        """
        rows = self.leveled()
        return rows.sums(rows.document, rows.n_documents, range(1))[:, 0]

    # --- Out and in ---

    def to_arrow(self) -> Any:
        """Make a table of Arrow with one row, which holds these counts by unit.

        Rows of several tables can be concatenated, stored and sent by any engine; `from_arrow`
        adds them. Needs pyarrow; docs/scale.md has an example.
        """
        from beyondchance.results.arrow import table_of  # noqa: PLC0415 - rarely wanted

        return table_of(self)

    @staticmethod
    def from_arrow(table: Any) -> Counts:
        """Add the counts in all rows of a table that `to_arrow` made.

        Raises
        ------
        DataError
            If it is another table, or has the same document twice.
        """
        from beyondchance.results.arrow import counts_in  # noqa: PLC0415 - rarely wanted

        return Counts.joined(counts_in(table))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of plain values, with names instead of numbers.

        Rows by unit have ``unit`` in the place of document and text: a document, or the number of
        a group of documents where there are many. ``rows`` says how many were added up, and
        ``free`` in how many of them chance can vary.
        """
        keys, sums = ("document", *_KEYS), (*SUMS, "spans_a", "spans_b", "error", "rows", "free")
        columns = {n: x for n, x in self._columns().items() if n in (*keys, "text", *sums)}
        if self.added is not None:
            # A sum may take two rows.
            found, number = distinct(coded([columns[name] for name in keys]))
            first = np.empty(len(found), dtype=np.int64)
            first[number] = np.arange(len(number))
            columns = {
                name: exact_total(number, column, len(found)).astype(column.dtype)
                if name in sums
                else column[first]
                for name, column in columns.items()
            }
        names: dict[str, Sequence[Any]] = {
            "document": self.documents or range(len(self.unit_places)),
            "label": self.labels,
            **dict.fromkeys(("a", "b"), self.annotators),
        }
        plain = {name: column.tolist() for name, column in columns.items()}
        plain |= {name: [known[i] for i in plain[name]] for name, known in names.items()}
        return plain if self.added is None else {"unit": plain.pop("document"), **plain}

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary for each row, as any table library takes them."""
        return rows_of(self.to_dict())


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """One dictionary for each row of a table."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


_REASONS = (1, 2, 3, 4)
"""Numbers of reasons why a document with marks has no corrected score."""


@dataclass(frozen=True, eq=False)
class _Documents:
    """The scores of documents, for their means and to find those that stand out.

    Attributes
    ----------
    counts : Counts
    sums : array of float, shape (documents, 4)
    reasons : array of int, shape (documents,)
        Why they have no corrected score: 0 where they have one, or where nothing was marked.
    are_difficulties : bool
        Whether documents stand out by their difficulty, rather than by a low score.
    """

    counts: Counts
    sums: Floats
    reasons: Ints
    are_difficulties: bool

    @staticmethod
    def of(counts: Counts) -> _Documents:
        n, are_difficulties = len(counts.documents), counts.is_with_self
        times = np.where(counts.a == counts.b, 1, 2) if are_difficulties else None
        sums = counts.sums_of(counts.document, n, times)
        is_open = np.zeros(n, dtype=bool)
        is_open[counts.document[~counts.certain]] = True
        reasons = reason_codes(*sums.T, is_certain=~is_open)
        if counts.is_corpus_wide:
            reasons = np.where(sums[:, 2] > 0, _REASONS[-1], 0)
        return _Documents(counts, sums, reasons, are_difficulties)

    @cached_property
    def is_marked(self) -> Bools:
        return np.asarray(self.sums[:, 2] > 0)

    def _score(self, name: str) -> Floats:
        is_known = name == "observed" or not self.counts.is_corpus_wide
        return score_of(self.sums, name) if is_known else np.full(len(self.sums), nan)

    def means(self) -> dict[str, NDArray[Any]]:
        """Scores of each document that enter the means."""
        values = {name: rounded(self._score(name)) for name in SCORES}
        has_all = ~np.isnan(values["corrected"])
        is_other = self.is_marked & ~has_all
        with np.errstate(divide="ignore", invalid="ignore"):
            values["lowest"] = rounded(-values["chance"] / (1 - values["chance"]))
        return {
            "document": np.arange(len(self.sums)),
            "n": has_all.astype(np.int64),
            "other_n": is_other.astype(np.int64),
            **{name: np.where(has_all, column, 0) for name, column in values.items()},
            **{f"other_{n}": np.where(is_other, values[n], 0) for n in ("observed", "chance")},
            **{f"reason_{code}": (self.reasons == code).astype(np.int64) for code in _REASONS},
        }

    def histogram(self) -> Ints:
        """How many documents have which difficulty."""
        values = self._score("difficulty")
        cell = np.full(len(values), BINS)
        known = ~np.isnan(values) & self.are_difficulties
        cell[known] = np.clip((values[known] * BINS + 1e-9).astype(np.int64), 0, BINS - 1)
        return np.bincount(cell, minlength=BINS + 1)

    def outstanding(self, most: int | None = None) -> list[Kept]:
        """The documents that stand out, in their order: all, or the first ones."""
        counts, n_spans = self.counts, np.zeros(len(self.sums))
        if self.are_difficulties:
            values = -self._score("difficulty")
        else:
            corrected = self._score("corrected")
            values = np.where((self.reasons > 0) | np.isnan(corrected), np.inf, corrected)
        chosen = np.flatnonzero(self.is_marked & ~np.isnan(values))
        if most is not None and len(chosen) > most:
            # Up to the last value that can be among them, ties included.
            last = np.partition(values[chosen], most - 1)[most - 1]
            chosen = chosen[values[chosen] <= last]
        if not self.are_difficulties:
            n_spans = total(counts._once("document"), counts._once("spans_a"), len(values))
        ranks = zip(values[chosen].tolist(), (-n_spans[chosen]).tolist(), strict=True)
        documents = counts.documents
        named = ((*rank, documents[i], i) for rank, i in zip(ranks, chosen.tolist(), strict=True))
        first = sorted(named) if most is None else nsmallest(most, named)
        mask = np.zeros(len(values), dtype=bool)
        mask[[i for *_, i in first]] = True
        scores = counts.of_documents(mask).by_document()
        return [(*rank, name, scores[name]) for *rank, name, _ in first]


def _added(counts: Counts) -> Added:
    """What is known of documents whose rows were added up."""
    assert counts.added is not None  # noqa: S101 - rows are by unit
    return counts.added


def _in_order(names: Iterable[str]) -> list[str]:
    """Names in an order of their own: shorter ones first."""
    listed = list(names)
    return [listed[i] for i in np.argsort(places(listed)).tolist()]


def _merged(
    parts: Sequence[Counts], units: Units | tuple[str, ...], unit_of: Sequence[Ints]
) -> Counts:
    """Put tables together, whose units become others: each has its new number in `unit_of`.

    Units may be documents whose rows stay as they are.
    """
    labels = sorted(united([part.labels for part in parts]))
    annotators = list(parts[0].annotators)
    if any(part.annotators != parts[0].annotators for part in parts):
        annotators = united([part.annotators for part in parts])
        # Whatever the order of the parts.
        annotators = _in_order(annotators) if isinstance(units, Units) else annotators
    label, annotator = numbered(labels), numbered(annotators)
    rows, pairs, sizes, means, n_texts = [], [], [], [], 0
    for part, unit in zip(parts, unit_of, strict=True):
        names = numbers(part.labels, label), numbers(part.annotators, annotator)
        columns = {**part._renamed(*names), "document": unit[part.document]}
        pairs.append(names[1][part.pairs])
        n_texts += part.n_texts
        if part.added is None:
            rows.append({**columns, "text": part.text + n_texts - part.n_texts})
            continue
        columns["free"] = part._free.astype(np.int64)
        columns.setdefault("rows", np.ones_like(part.document))
        rows += _without_streams(columns)
        sizes.append(_renamed_sizes(part.added, *names))
        if part.added.means:
            means.append({**part.added.means, "document": unit[part.added.means["document"]]})
    whole: dict[str, Any] = concatenated(rows)
    settings = [part.settings for part in parts if part.settings is not None]
    found = replace(
        parts[0],
        n_texts=n_texts,
        labels=tuple(labels),
        annotators=tuple(annotators),
        pairs=_distinct_pairs(np.concatenate(pairs, axis=1), len(annotators)),
        n_compared_texts=sum(part.n_compared_texts for part in parts),
        settings=added_settings(settings) if len(settings) == len(parts) else None,
    )
    if not isinstance(units, Units):
        values = {
            name: tuple(chain.from_iterable(part.fields[name] for part in parts))
            for name in parts[0].fields
        }
        return replace(found, documents=units, fields=values, **whole)
    known = [_added(part) for part in parts]
    added = Added(
        units=units,
        sizes=summed(concatenated(sizes), _KEYS),
        means=summed(concatenated(means), ["document"]) if means else {},
        histogram=np.sum([each.histogram for each in known], axis=0),
        kept=tuple(nsmallest(MOST_KEPT, chain.from_iterable(x.kept for x in known), key=_rank)),
    )
    whole = dict(summed(whole, [x for x in ("document", *_KEYS, "stream") if x in whole]))
    fields = _merged_fields(parts, units, unit_of)
    return replace(found, documents=units.names, fields=fields, added=added, **whole)


def _renamed_sizes(added: Added, label: Ints, annotator: Ints) -> Columns:
    """Documents and spans of all levels, with other numbers for labels and annotators."""
    one, other = (np.append(annotator, -1)[added.sizes[key]] for key in ("a", "b"))
    is_turned = other >= 0
    return {
        **added.sizes,
        "label": np.append(label, -1)[added.sizes["label"]],
        "a": np.where(is_turned, np.minimum(one, other), one),
        "b": np.where(is_turned, np.maximum(one, other), other),
    }


def _rank(item: Kept) -> tuple[float, float, str]:
    return item[:3]


def _without_streams(columns: dict[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
    """Rows without errors of estimates, and errors by themselves, which are not kept by unit."""
    if "stream" not in columns:
        return [columns]
    own = np.flatnonzero(columns["stream"])
    errors = {name: columns[name][own] for name in (*_KEYS, "error", "stream")}
    errors |= {"document": np.zeros_like(own), "error": rounded(errors["error"])}
    nothing = np.zeros_like(columns["stream"])
    return [{**columns, "error": nothing.astype(np.float64), "stream": nothing}, errors]


def _merged_fields(
    parts: Sequence[Counts], units: Units, unit_of: Sequence[Ints]
) -> dict[str, Counts | None]:
    """Add the counts of the fields that all parts have."""
    found: dict[str, Counts | None] = {}
    for name in parts[0].fields:
        if all(name in part.fields for part in parts):
            known = [part.fields[name] for part in parts]
            every = [item for item in known if item is not None]
            are_few = (
                len(every) == len(known) and len(united([x.labels for x in every])) <= MOST_VALUES
            )
            found[name] = _merged(every, units, unit_of) if are_few else None
    return found


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
