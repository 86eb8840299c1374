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
from math import fsum, nan
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import kept
from beyondchance.annotations.pairs import annotation_numbers
from beyondchance.checks import checked_instance, checked_option
from beyondchance.core.exact import (
    digits_of,
    exact_columns,
    exact_total,
    put_together,
    rounded,
)
from beyondchance.core.ragged import distinct, largest, n_distinct, total
from beyondchance.core.resampling import places
from beyondchance.errors import DataError
from beyondchance.messages import Quote
from beyondchance.results.adding import (
    Columns,
    coded,
    concatenated,
    firsts,
    numbered,
    numbers,
    summed,
    united,
)
from beyondchance.results.printed import unknown_name
from beyondchance.results.resampling import SCORES, Levels, Rows, score_of
from beyondchance.results.score import SPANS, SUMS, Score, reason_codes
from beyondchance.results.units import MOST_DOCUMENTS, Units, check_distinct
from beyondchance.settings import Settings, added_settings
from beyondchance.types import Bools, Floats, Ints
from beyondchance.values import internal

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
    "label": ("label",),
    "pair": ("a", "b"),
    "annotator": ("a",),
    "mark": ("label", "a"),
}
"""What documents and spans, which do not add over pairs, are counted by; other keys are -1."""
_SHOWN = ("n_documents", "n_spans")


@internal
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

    def among(self, numbers: Ints) -> Scores[Name]:
        """Return some of the scores, by their numbers."""
        columns = {name: column[numbers] for name, column in self.columns.items()}
        return Scores([self.names[i] for i in numbers.tolist()], columns, self.of)


Kept = tuple[float, float, str, Score]
"""A document that stands out: what it is ordered by, its name, and its score."""


@internal
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

    @cached_property
    def units(self) -> Units:
        """What rows are by: documents, or groups of them."""
        if self.added is not None:
            return self.added.units
        return Units.single(self.documents, np.arange(len(self.documents)))

    @property
    def n_compared(self) -> int:
        """Documents compared, with marks or without."""
        return int(self.units.n_documents.sum())

    @property
    def n_marked_documents(self) -> int:
        """Documents in which somebody marked something."""
        if self.added is None:
            return n_distinct(self.document[self.marked])
        return int(self._sizes("all")["n_documents"][0])

    @property
    def n_groups(self) -> int:
        """Groups of documents that rows are by; 0 where they are by document."""
        return self.units.n_groups

    @property
    def unit_names(self) -> tuple[str, ...]:
        """What is drawn for intervals: the documents, or a name for each group of them."""
        return self.units.shown

    @property
    def document_places(self) -> Ints:
        """The place of each of `unit_names` in the order in which units are drawn."""
        return self.units.place[self.units.n_documents > 0]

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
            return _merged(found, *Units.together([part.units for part in found]))._bounded()
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
        added = Added(
            units=self.units,
            sizes=self._all_sizes(),
            means=scores.means(),
            histogram=scores.histogram(),
            kept=tuple(scores.outstanding(MOST_KEPT)),
        )
        fields = {name: self._field_counts(name) for name in self.fields}
        part = replace(self, text=_NO_TEXTS, fields=fields, added=added)
        return _merged([part], *Units.of(self.documents))._bounded()

    def _field_counts(self, name: str) -> Counts | None:
        """Make counts by unit whose labels are the values of a field."""
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
        every, none = np.arange(len(values)), np.full(len(values), -1)
        sizes = self._sizes_of(number[self._sided("document")], len(values))
        added = Added(self.units, {"label": every, "a": none, "b": none, **sizes})
        return replace(
            self,
            **found,
            labels=values,
            annotators=("",),
            pairs=np.zeros((2, 1), dtype=np.int64),
            fields={},
            text=_NO_TEXTS,
            settings=None,
            added=added,
        )

    def grouped(self, n_groups: int) -> Counts:
        """Add up the rows of groups of documents, or of larger groups."""
        found = self.by_unit()
        return _merged([found], *Units.together([found.units], n_groups))

    def _bounded(self) -> Counts:
        """Make fewer groups where there are too many sums, whatever the parts were."""
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
        """Return the columns that the table has."""
        columns = {name: getattr(self, name) for name in _COLUMNS}
        if self.added is not None:
            del columns["text"]
        return {name: column for name, column in columns.items() if column is not None}

    @property
    def is_with_self(self) -> bool:
        """Whether annotators are paired with themselves too, as difficulty has it."""
        return bool(np.any(self.pairs[0] == self.pairs[1]))

    def only(self, keep: Bools) -> Counts:
        """Return the table with some of its rows; documents and names stay."""
        rows = np.flatnonzero(keep)
        columns: dict[str, Any] = {n: column[rows] for n, column in self._columns().items()}
        return replace(self, **columns)

    def of_documents(self, keep: Bools) -> Counts:
        """Return the table with some of its documents, chosen by a truth value for each."""
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
        """Return the table with the rows of some texts, chosen by a truth value for each."""
        return replace(self.only(keep[self.text]), is_part=self.is_corpus_wide)

    def without(self, annotator: str) -> Counts:
        """Return the table without the rows of one annotator."""
        number = self._number(annotator)
        others = np.all(self.pairs != number, axis=0)
        rows = self.only((self.a != number) & (self.b != number))
        return replace(rows, pairs=self.pairs[:, others])

    def _number(self, annotator: str) -> int:
        """Look up an annotator."""
        checked_option("annotator", annotator, self.annotators, are_data=True)
        return self.annotators.index(annotator)

    def ordered(self, annotators: tuple[str, ...]) -> Counts:
        """Return the table with the annotators in another order, so with other sides a and b."""
        found = self._renumbered(numbered(self.labels), numbered(annotators))
        return replace(found, annotators=annotators)

    def _renumbered(self, label: Mapping[str, int], annotator: Mapping[str, int]) -> Counts:
        """Return the table with other numbers for its labels and annotators."""
        labels = np.append(numbers(self.labels, label), -1)
        annotators = np.append(numbers(self.annotators, annotator), -1)

        def renamed(table: Columns) -> dict[str, Any]:
            one, other = annotators[table["a"]], annotators[table["b"]]
            found = {**table, "label": labels[table["label"]], "a": one, "b": other}
            return _turned(found, (one > other) & (other >= 0))

        pairs, added = _distinct_pairs(annotators[self.pairs], len(annotator)), self.added
        if added is not None:
            added = replace(added, sizes=renamed(added.sizes))
        return replace(self, pairs=pairs, added=added, **renamed(self._columns()))

    # --- Scores ---

    def score(self) -> Score:
        """Sum all rows."""
        return self._scores("all", ("all",))["all"]

    def by_label(self) -> Scores[str]:
        """Compute a score for each label."""
        return self._scores("label", self.labels)

    @property
    def pair_names(self) -> list[tuple[str, str]]:
        """The names of the pairs of annotators who share a document compared."""
        one, two = (map(self.annotators.__getitem__, side) for side in self.pairs.tolist())
        return list(zip(one, two, strict=True))

    def by_pair(self) -> Scores[tuple[str, str]]:
        """Compute a score for each pair of annotators who share a document compared."""
        return self._scores("pair", self.pair_names)

    def by_annotator(self) -> Mapping[str, Score]:
        """Compute a score for each annotator, as side a, against all others.

        `n_spans` counts the annotator's own spans.
        """
        return self._scores("annotator", self.annotators)

    def by_document(self) -> Mapping[str, Score]:
        """Compute a score for each document compared."""
        counts = self.each_document()
        return counts._by_document(np.arange(len(counts.documents)), counts.documents)

    def _by_document(self, group: Ints, names: Sequence[str]) -> Scores[str]:
        """Compute a score for each group of documents."""
        sizes = self._sizes_of(group[self._sided("document")], len(names))
        return self._scores_of(group[self.document], names, sizes, are_parts=self.is_corpus_wide)

    def by_field(self, name: str) -> Scores[str]:
        """Compute a score for each value of a field of the documents."""
        if self.added is not None:
            counts = self._field(name)
            return counts.by_label().among(np.argsort(places(counts.labels)))
        values, group = self.field_values(name)
        return self._by_document(group, values)

    def _field(self, name: str) -> Counts:
        """Return the counts by unit whose labels are the values of a field."""
        known: Counts | None
        known = self.fields[checked_option("field", name, self.fields, are_data=True)]
        if known is None:
            found = ("field ", Quote(name), f" has more than {MOST_VALUES:,} values")
            raise DataError(*found, expected="fewer, to add up each of them")
        return known

    def field_values(self, name: str) -> tuple[tuple[str, ...], Ints]:
        """List the values of a field, and number that of each document among them."""
        checked_option("field", name, self.fields, are_data=True)
        values = tuple(dict.fromkeys(self.fields[name]))
        return values, numbers(self.fields[name], numbered(values))

    def without_each(self) -> Scores[str]:
        """Compute a score for the team without each annotator, as `without` gives it.

        From the sums of all rows less those of the annotator's rows, in whole numbers, so
        that no digit differs and no table is copied.
        """
        who, other = self._sided("a"), np.flatnonzero(self.a != self.b)

        def left(values: NDArray[Any]) -> Floats:
            own = np.concatenate([values, values[other]])
            return np.asarray(values.sum() - total(who, own, len(self.annotators)))

        columns: dict[str, NDArray[Any]] = {
            name: put_together(*map(left, digits_of(column)))
            for name in SUMS
            if (column := getattr(self, name)) is not None
        }
        has_rows = left(np.ones(len(self))) > 0
        for name in _FLAGS:
            columns[name] = has_rows & (left(~getattr(self, name)) == 0)
        if self.error is not None:
            # Errors do not subtract.
            errors = [self.without(name).estimate_error() for name in self.annotators]
            columns["error"] = np.array(errors)
        whole, lost = self._sizes("all"), self._sizes("annotator")
        columns |= {name: whole[name] - lost[f"lost_{name}"] for name in _SHOWN}
        return Scores(self.annotators, columns, self.of)

    def against(self, annotator: str) -> Scores[str]:
        """Compute a score for each who shares a document with an annotator, who is side a.

        Against a gold standard, precision and recall then are what they are called.
        """
        one = self._number(annotator)
        pair = np.flatnonzero(np.any(self.pairs == one, axis=0) & (self.pairs[0] != self.pairs[1]))
        others = self.pairs[:, pair].sum(axis=0) - one
        order = np.argsort(others)
        found = self.by_pair().among(pair[order])
        columns = _turned(found.columns, self.pairs[1, pair[order]] == one)
        return Scores([self.annotators[i] for i in others[order].tolist()], columns, self.of)

    def texts_without_freedom(self) -> tuple[int, int]:
        """Count texts in which every random arrangement gives the same match, and all with spans.

        Such are texts of one position, and those in which one of two marked nothing or
        everything.
        """
        # To count spans, as all sizes take, is work for crowds.
        sizes = self._texts() if self.added is None else self._sizes("all")
        return int(sizes["fixed_texts"][0]), int(sizes["marked_texts"][0])

    def _texts(self) -> dict[str, Ints]:
        """Count the texts with spans, and those of them without freedom."""
        marked = self.text[self.marked], self.text[self.marked & ~self.fixed]
        n_texts, n_free = (np.array([n_distinct(texts)]) for texts in marked)
        return {"fixed_texts": n_texts - n_free, "marked_texts": n_texts}

    def size_by_annotator(self) -> dict[str, float]:
        """Compute how much each annotator marked, in the measure's own unit."""
        return dict(zip(self.annotators, map(fsum, self._marks("size")), strict=True))

    def spans_by_label(self, annotator: str) -> dict[str, int]:
        """Count the spans of each label that an annotator marked, each once."""
        return dict(zip(self.labels, self._marks("n_spans")[self._number(annotator)], strict=True))

    def _marks(self, name: str) -> list[list[Any]]:
        """List what each annotator marked, by label."""
        sizes = self._sizes("mark")[name]
        return sizes.reshape(len(self.annotators), len(self.labels)).tolist()

    @cached_property
    def pair(self) -> Ints:
        """The number of each row's pair among `pairs`."""
        return self._numbers_of("pair", self._columns())[0]

    def both_ways(self) -> Counts:
        """Return the rows of different annotators, followed by the same with the sides changed."""
        columns = self.only(self.a != self.b)._columns()
        every = np.ones(len(columns["a"]), dtype=bool)
        found: dict[str, Any] = concatenated([columns, _turned(columns, every)])
        return replace(self, **found)

    def _numbers_of(self, level: str, rows: Columns) -> tuple[Ints, int]:
        """Number rows among the levels of a kind, and count these."""
        n, one = len(self.annotators), rows["a"]
        if level == "pair":
            code = self.pairs[0] * n + self.pairs[1]
            own = np.minimum(one, rows["b"]) * n + np.maximum(one, rows["b"])
            return np.searchsorted(code, own), len(code)
        number, n_levels = np.zeros_like(one), 1
        for key, size in (("a", n), ("label", len(self.labels))):
            if key in _LEVELS[level]:
                number, n_levels = number * size + rows[key], n_levels * size
        return number, n_levels

    def _scores(self, level: str, names: Sequence[Name]) -> Scores[Name]:
        """Sum the rows of each level of a kind."""
        rows = self.both_ways() if level == "annotator" else self
        keys = {key: getattr(rows, key) for key in _KEYS}
        group = self.pair if level == "pair" else self._numbers_of(level, keys)[0]
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
            for name in SUMS
            if (column := getattr(self, name)) is not None
        }
        has_rows = np.bincount(group, minlength=n_groups) > 0
        for name in _FLAGS:
            columns[name] = has_rows & (total(group, ~getattr(self, name), n_groups) == 0)
        if self.error is not None:
            columns["error"] = self._errors(group, n_groups)
        columns["is_part"] = np.full(n_groups, are_parts or self.is_part)
        columns |= {name: sizes[name] for name in _SHOWN}
        return Scores(names, columns, self.of)

    def _errors(self, group: Ints, n_groups: int, times: Ints | int = 1) -> Floats:
        """Compute the standard error of the sum of each group's estimates.

        Errors of one stream are one and the same error, and add up. Those of different
        streams are independent, and their squares add up.
        """
        if self.error is None or self.stream is None:
            return np.zeros(n_groups)
        code, number = distinct(coded([group, self.stream]))
        added = exact_total(number, times * rounded(self.error), len(code))
        return np.sqrt(total(group[firsts(number, len(code))], added**2, n_groups))

    def estimate_error(self) -> float:
        """Compute the standard error of the sum of what is expected."""
        return float(self._errors(np.zeros(len(self), dtype=np.int64), 1, self._times)[0])

    @property
    def _times(self) -> Ints | int:
        """How often rows count: of all ordered pairs, those of two annotators twice."""
        return np.where(self.a == self.b, 1, 2) if self.is_with_self else 1

    # --- What does not add over pairs ---

    @cached_property
    def marked(self) -> Bools:
        """Rows in which at least one of the two marked something."""
        return np.asarray((self.spans_a > 0) | (self.spans_b > 0))

    def _sizes(self, level: str) -> dict[str, NDArray[Any]]:
        """Count documents, spans and the like of each level of a kind."""
        if self.added is not None:
            sizes, keys = self.added.sizes, _LEVELS[level]
            own = np.all([(sizes[key] >= 0) == (key in keys) for key in _KEYS], axis=0)
            table = {name: values[own] for name, values in sizes.items()}
            number, n = self._numbers_of(level, table)
            return {
                name: exact_total(number, values, n).astype(values.dtype)
                for name, values in table.items()
            }
        if level == "pair":
            number, n = self._sided("pair"), self.pairs.shape[1]
        else:
            sides = {key: self._sided(key) for key in ("a", *_LEVELS[level])}
            number, n = self._numbers_of(level, sides)
        found = self._sizes_of(number, n, level)
        if level == "mark":
            once = self._once[0]
            size = exact_total(number[once], self._sided("size_a")[once], n)
            return {"n_spans": found["n_spans"], "size": size}
        if level == "annotator":
            return {**self._lost(), **found}
        return found

    def _sizes_of(self, number: Ints, n: int, level: str = "document") -> dict[str, Ints]:
        """Count the spans, and the documents with marks, of each group of sides of rows."""
        once = slice(None) if level == "pair" else self._once[0]
        spans = total(number[once], self._sided("spans_a")[once], n).astype(np.int64)
        marked, document = self.marked, self.document
        if level in {"annotator", "mark"}:
            marked, document = self._sided("marked"), self._sided("document")
        # Both sides of a row are in the same group, unless they are groups of annotators.
        n_documents = _distinct(number[: len(marked)][marked], document[marked], n)
        return {"n_documents": n_documents, "n_spans": spans}

    def _all_sizes(self) -> Columns:
        """Count documents and spans of every level, as a table."""
        tables = []
        for level, keys in _LEVELS.items():
            sizes = {**self._sizes(level), **(self._texts() if level == "all" else {})}
            number = np.arange(len(sizes["n_spans"]))
            table: dict[str, NDArray[Any]] = dict.fromkeys(_KEYS, np.full(len(number), -1))
            for key, names in (("label", self.labels), ("a", self.annotators)):
                if key in keys:
                    number, table[key] = np.divmod(number, max(len(names), 1))
            if level == "pair":
                table["a"], table["b"] = self.pairs
            tables.append({**table, **sizes})
        return concatenated(tables)

    def _sided(self, name: str) -> NDArray[Any]:
        """Return a column of side a, followed by that of side b where it is another annotator."""
        other = getattr(self, _SIDES.get(name, name))
        return np.concatenate([getattr(self, name), other[self._is_other]])

    @cached_property
    def _is_other(self) -> Bools:
        """Rows of two different annotators."""
        return np.asarray(self.a != self.b)

    @cached_property
    def _once(self) -> tuple[Ints | slice, Bools]:
        """Find the sides that tell what each annotator marked of a label in a text, each once.

        These are in the rows of all who are compared; also, whether in those of one other only.
        """
        if self.pairs.shape[1] == 1 and not self.is_with_self:
            return slice(None), np.ones(2 * len(self), dtype=bool)
        code, number = distinct(coded([self._sided(key) for key in ("text", *_KEYS[:2])]))
        return firsts(number, len(code)), np.bincount(number) == 1

    def _lost(self) -> dict[str, Ints]:
        """Count the documents and the spans that are compared no more without each annotator."""
        n, who, (once, is_alone) = len(self.annotators), self._sided("a"), self._once
        # Documents of which all rows are the annotator's are lost.
        marked, n_rows = self._sided("marked"), np.bincount(self.document[self.marked])
        code, number = distinct((self._sided("document") * n + who)[marked])
        lost = code[np.bincount(number) == n_rows[code // n]] % n
        # The annotator's spans are lost, and those that are compared with no one else's.
        own, other, spans = (self._sided(name)[once] for name in ("a", "b", "spans_a"))
        is_alone = is_alone & (own != other)
        lost_spans = total(own, spans, n) + total(other[is_alone], spans[is_alone], n)
        return {
            "lost_n_documents": np.bincount(lost, minlength=n),
            "lost_n_spans": lost_spans.astype(np.int64),
        }

    # --- Scores of documents ---

    @cached_property
    def means(self) -> Columns:
        """Sums of the scores of documents, by document or unit."""
        return self.added.means if self.added is not None else _Documents.of(self).means()

    def outstanding(self) -> Sequence[Kept]:
        """List documents by the lowest corrected score or the highest difficulty.

        All that have one, or the first where only sums of documents are kept.
        """
        if self.added is not None:
            return self.added.kept
        return _Documents.of(self).outstanding(len(self.documents))

    @property
    def histogram(self) -> Ints:
        """How many documents have which difficulty; the last are those without one."""
        return _Documents.of(self).histogram() if self.added is None else self.added.histogram

    def mean_table(self, place: Ints, n: int, *, of_all: bool) -> Floats:
        """Sum the scores of documents by the place of their unit, and count them.

        Of the documents that have a corrected score; where none has, or if wanted, of all that
        were marked.

        Returns
        -------
        array of float, shape (n, 4, 2)
            For each of `SCORES`, and for the lowest that the corrected score could be.
        """
        unit, columns = place[self.means["document"]], []
        for name in (*SCORES, "lowest"):
            kinds = [""] if self.n_averaged and not of_all else ["", "other_"]
            if name in {"corrected", "lowest"}:
                kinds = [] if of_all else [""]
            elif self.is_corpus_wide and name == "chance":
                kinds = []
            for what in (name, "n"):
                values = [np.zeros(0), *(self.means[f"{kind}{what}"] for kind in kinds)]
                owner = np.tile(unit, len(kinds))
                columns.append(exact_total(owner, np.concatenate(values), n))
        return np.stack(columns, axis=1).reshape(n, -1, 2)

    @property
    def n_averaged(self) -> int:
        """Documents that have a corrected score."""
        return int(self.means["n"].sum())

    def n_by_reason(self) -> dict[int, int]:
        """Count documents without a corrected score, by the number of the reason."""
        n_marked = self.n_averaged + int(self.means["other_n"].sum())
        found = {0: self.n_compared - n_marked}
        found |= {code: int(self.means[f"reason_{code}"].sum()) for code in _REASONS}
        return {code: n for code, n in found.items() if n}

    # --- Intervals ---

    def field_rows(self, name: str) -> dict[str, Rows]:
        """Return the rows for resampling of each value of a field, over its own documents."""
        if self.added is None:
            values, number = self.field_values(name)
            return {
                value: self.of_documents(number == index).leveled()
                for index, value in enumerate(values)
            }
        counts = self._field(name)
        label = numbered(counts.labels)
        return {value: counts._rows_with(label[value]) for value in in_order(counts.labels)}

    def _rows_with(self, label: int) -> Rows:
        """Return the rows of a label, over the units that have it."""
        rows = self.only(self.label == label).leveled()
        units, unit = distinct(rows.document)
        return rows._replace(n_documents=len(units), document=unit)

    def sums_of(self, group: Ints, n_groups: int) -> Floats:
        """Sum the statistics of each group of rows but -1, shape (groups, 4)."""
        inside = slice(None) if len(group) and group.min() >= 0 else np.flatnonzero(group >= 0)
        # Column by column, which takes less memory than all at once.
        sums = (exact_total(group[inside], x[inside], n_groups) for x in self._statistics())
        return np.stack(list(sums), axis=1)

    def sums_by_annotation(self, corpus: Corpus) -> Floats:
        """Sum the statistics of each annotation with the others, and of these among themselves.

        Parameters
        ----------
        corpus : Corpus
            What was counted, and perhaps more annotators.

        Returns
        -------
        array of float, shape (annotations, 2, 4)
        """
        counts, where = self.ordered(corpus.annotators), corpus.annotation_document
        sides = [annotation_numbers(corpus, counts.text, x) for x in (counts.a, counts.b)]
        own = sum((counts.sums_of(side, len(where)) for side in sides), np.zeros((1, 4)))
        whole = counts.sums_of(where[sides[0]], len(corpus.documents))
        return np.stack([own, whole[where] - own], axis=1)

    def _statistics(self) -> tuple[Floats, ...]:
        """Return matched, expected, size of both sides and freedom of each row."""
        times, size = self._times, self.size_a + self.size_b
        return self.matched, times * self.expected, times * size, self._free.astype(np.float64)

    def leveled(self, levels: Levels | None = None) -> Rows:
        """Return the rows for resampling, and the levels that each of them is in; one by default.

        Documents and annotators are numbered by their `places`, and not as they were read.
        """
        annotator = places(self.annotators)
        one, other = annotator[self.a], annotator[self.b]
        return Rows(
            n_documents=len(self.unit_names),
            levels=Levels(len(self)) if levels is None else levels,
            document=self.units.place[self.document],
            columns=exact_columns(np.stack(self._statistics(), axis=1)),
            a=np.minimum(one, other),
            b=np.maximum(one, other),
        )

    def document_sums(self) -> Floats:
        """Sum matched, expected, size and rows in which chance has freedom by unit.

        Units come by their places.

        Returns
        -------
        array of float, shape (units, 4)
        """
        return self.sums_of(self.units.place[self.document], len(self.unit_names))

    # --- Out and in ---

    def to_arrow(self) -> Any:
        """Make a table of Arrow with one row, which holds these counts by unit.

        Rows of several tables can be concatenated, stored and sent by any engine; `from_arrow`
        adds them. Needs pyarrow; docs/howto/scale.md has an example.
        """
        from beyondchance.results.packing import table_of  # noqa: PLC0415 - rarely wanted

        return table_of(self)

    @staticmethod
    def from_arrow(table: Any) -> Counts:
        """Add the counts in all rows of a table that `to_arrow` made.

        Raises
        ------
        DataError
            If it is another table, or has the same document twice.
        """
        from beyondchance.results.packing import counts_in  # noqa: PLC0415 - rarely wanted

        return Counts.joined(counts_in(table))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns of plain values, with names instead of numbers.

        Rows by unit have ``unit`` in the place of document and text: a document, or the number of
        a group of documents where there are many. ``rows`` says how many were added up, and
        ``free`` in how many of them chance can vary.
        """
        keys, sums = ("document", *_KEYS), (*SUMS, "spans_a", "spans_b", "error", "rows", "free")
        columns = {n: x for n, x in self._columns().items() if n in (*keys, "text", *sums)}
        if self.added is not None:
            # A sum may take two rows.
            found, number = distinct(coded([columns[name] for name in keys]))
            first = firsts(number, len(found))
            columns = {
                name: exact_total(number, column, len(found)).astype(column.dtype)
                if name in sums
                else column[first]
                for name, column in columns.items()
            }
        names: dict[str, Sequence[Any]] = {
            "document": self.documents or range(len(self.units)),
            "label": self.labels,
            **dict.fromkeys(("a", "b"), self.annotators),
        }
        plain = {name: column.tolist() for name, column in columns.items()}
        plain |= {name: [known[i] for i in plain[name]] for name, known in names.items()}
        return plain if self.added is None else {"unit": plain.pop("document"), **plain}

    def to_rows(self) -> list[dict[str, Any]]:
        """Make a dictionary of each row, as any table library takes them."""
        return rows_of(self.to_dict())


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Make a dictionary of each row of a table."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


_REASONS = (1, 2, 3, 4)
"""Numbers of reasons why a document with marks has no corrected score."""


class _Documents(NamedTuple):
    """The scores of documents, for their means and to find those that stand out.

    Attributes
    ----------
    counts : Counts
    sums : array of float, shape (documents, 4)
    reasons : array of int, shape (documents,)
        Why they have no corrected score: 0 where they have one, or where nothing was marked.
    """

    counts: Counts
    sums: Floats
    reasons: Ints

    @staticmethod
    def of(counts: Counts) -> _Documents:
        n = len(counts.documents)
        sums = counts.sums_of(counts.document, n)
        is_open = np.zeros(n, dtype=bool)
        is_open[counts.document[~counts.certain]] = True
        reasons = reason_codes(*sums.T, is_certain=~is_open)
        if counts.is_corpus_wide:
            reasons = np.where(sums[:, 2] > 0, _REASONS[-1], 0)
        return _Documents(counts, sums, reasons)

    @property
    def is_marked(self) -> Bools:
        """Documents in which something was marked."""
        return np.asarray(self.sums[:, 2] > 0)

    def _score(self, name: str) -> Floats:
        is_known = name == "observed" or not self.counts.is_corpus_wide
        return score_of(self.sums, name) if is_known else np.full(len(self.sums), nan)

    def means(self) -> dict[str, NDArray[Any]]:
        """Compute the scores of each document that enter the means."""
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
        """Count documents by difficulty."""
        values = self._score("difficulty")
        cell = np.full(len(values), BINS)
        known = ~np.isnan(values) & self.counts.is_with_self
        cell[known] = np.clip((values[known] * BINS + 1e-9).astype(np.int64), 0, BINS - 1)
        return np.bincount(cell, minlength=BINS + 1)

    def outstanding(self, most: int) -> list[Kept]:
        """List the documents that stand out by a high difficulty or a low score, in their order."""
        counts, n_spans = self.counts, np.zeros(len(self.sums))
        if counts.is_with_self:
            values = -self._score("difficulty")
        else:
            corrected = self._score("corrected")
            values = np.where((self.reasons > 0) | np.isnan(corrected), np.inf, corrected)
            n_spans += counts._sizes_of(counts._sided("document"), len(values))["n_spans"]
        chosen = np.flatnonzero(self.is_marked & ~np.isnan(values))
        if len(chosen) > most:
            # Up to the last value that can be among them, ties included.
            last = np.partition(values[chosen], most - 1)[most - 1]
            chosen = chosen[values[chosen] <= last]
        ranks = zip(*(x[chosen].tolist() for x in (values, -n_spans)), chosen.tolist(), strict=True)
        first = nsmallest(most, ((*rank, counts.documents[i], i) for *rank, i in ranks))
        is_first = np.isin(np.arange(len(values)), [i for *_, i in first])
        scores = counts.of_documents(is_first).by_document()
        return [(*rank, name, scores[name]) for *rank, name, _ in first]


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names in an order of their own: shorter ones first."""
    listed = list(names)
    return [listed[i] for i in np.argsort(places(listed)).tolist()]


def _merged(
    parts: Sequence[Counts], units: Units | tuple[str, ...], unit_of: Sequence[Ints]
) -> Counts:
    """Put tables together, whose units become others: each has its new number in `unit_of`.

    Units may be documents whose rows stay as they are.
    """
    labels = tuple(sorted(united([part.labels for part in parts])))
    annotators = parts[0].annotators
    if any(part.annotators != annotators for part in parts):
        names = united([part.annotators for part in parts])
        # Whatever the order of the parts.
        annotators = tuple(in_order(names) if isinstance(units, Units) else names)
    known_names = numbered(labels), numbered(annotators)
    parts = [part._renumbered(*known_names) for part in parts]
    rows = [
        {**part._columns(), "document": unit[part.document]}
        for part, unit in zip(parts, unit_of, strict=True)
    ]
    settings = [part.settings for part in parts if part.settings is not None]
    pairs = np.concatenate([part.pairs for part in parts], axis=1)
    ends = np.cumsum([part.n_texts for part in parts]).tolist()
    found = replace(
        parts[0],
        labels=labels,
        annotators=annotators,
        n_texts=ends[-1],
        pairs=_distinct_pairs(pairs, len(annotators)),
        n_compared_texts=sum(part.n_compared_texts for part in parts),
        settings=added_settings(settings) if len(settings) == len(parts) else None,
    )
    if not isinstance(units, Units):
        for columns, part, end in zip(rows, parts, ends, strict=True):
            columns["text"] = part.text + end - part.n_texts
        values = {
            name: tuple(chain.from_iterable(part.fields[name] for part in parts))
            for name in parts[0].fields
        }
        joined: dict[str, Any] = concatenated(rows)
        return replace(found, documents=units, fields=values, **joined)
    known = [part.added for part in parts if part.added is not None]
    means = [
        {**each.means, "document": unit[each.means["document"]]}
        for each, unit in zip(known, unit_of, strict=True)
        if each.means
    ]
    added = Added(
        units=units,
        sizes=summed(concatenated([each.sizes for each in known]), _KEYS),
        means=summed(concatenated(means), ["document"]) if means else {},
        histogram=np.sum([each.histogram for each in known], axis=0),
        kept=tuple(nsmallest(MOST_KEPT, chain.from_iterable(x.kept for x in known), key=_rank)),
    )
    for columns, part in zip(rows, parts, strict=True):
        columns["free"] = part._free.astype(np.int64)
        columns.setdefault("rows", np.ones_like(part.document))
    table = concatenated([piece for columns in rows for piece in _without_streams(columns)])
    keys = [name for name in ("document", *_KEYS, "stream") if name in table]
    whole: dict[str, Any] = summed(table, keys)
    fields = _merged_fields(parts, units, unit_of)
    return replace(found, documents=units.names, fields=fields, added=added, **whole)


def _turned(columns: Columns, swap: Bools) -> dict[str, NDArray[Any]]:
    """Change the sides of some rows."""
    if not swap.any():
        return dict(columns)
    return {
        name: np.where(swap, columns[_SIDES[name]], column) if name in _SIDES else column
        for name, column in columns.items()
    }


def _rank(item: Kept) -> tuple[float, float, str]:
    return item[:3]


def _without_streams(columns: dict[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
    """Separate the errors of estimates, which are not kept by unit, from the rows."""
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
    """Sort pairs, each once, the smaller number first."""
    code = pairs.min(axis=0) * n_annotators + pairs.max(axis=0)
    return np.stack(np.divmod(distinct(code)[0], max(n_annotators, 1)))


def _distinct(group: Ints, value: Ints, n_groups: int) -> Ints:
    """Count the distinct values of each group."""
    width = largest(value) + 1
    return np.bincount(distinct(group * width + value)[0] // width, minlength=n_groups)
