"""What counts add up to: of a size that follows labels and pairs, not documents.

A table of counts has rows for every document. Its totals have sums by label and pair, in whole
numbers, which add in any order to the same digits: parts of a corpus can be counted one after
the other, in other processes or on other machines. For intervals and tests the sums are kept by
unit: a unit is a document as long as there are few, and a *group* of documents, by a hash of their
names, where there are many. Of single documents, only those that stand out are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import nan
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.hashing import hashed
from beyondchance.checks import checked_instance, checked_option
from beyondchance.core.bootstrap import places
from beyondchance.core.exact import (
    ExactColumns,
    cut_columns,
    exact_total,
    put_together,
    rounded,
)
from beyondchance.core.ragged import total
from beyondchance.errors import DataError
from beyondchance.messages import Quote
from beyondchance.numbers import Extent
from beyondchance.results.counts import (
    Counts,
    Scores,
    numbered,
    other_side,
    pooled_errors,
    rows_of,
)
from beyondchance.results.resampling import SCORES, Levels, Resampling, Rows, score_of
from beyondchance.results.score import SPANS, SUMS, Score, reason_codes
from beyondchance.results.sums import (
    Sums,
    added,
    cut_digits,
    int_totals,
    renumbered,
    summed,
)
from beyondchance.settings import Settings
from beyondchance.types import Bools, Floats, Ints

MOST_DOCUMENTS = 4096
"""Documents that are units by themselves; also the most groups that there are of more."""
FEWEST_GROUPS = 256
"""Groups that there are in any case."""
MOST_ROWS = 2**21
"""Rows of sums by group from which on there are fewer groups."""
MOST_VALUES = 10_000
"""Values of a field of documents whose sums are kept."""
MOST_KEPT = 100
"""Documents that are kept because they stand out."""
BINS = 10
"""Cells of the histogram of difficulty, from 0 to 1."""

_OPEN = {"certain": "open", "certain_a": "open_a", "certain_b": "open_b", "fixed": "free"}
"""What is counted in place of a flag that all rows must have: the rows that do not have it."""
_MEANS = ("observed", "chance", "corrected", "lowest")

_Name = TypeVar("_Name")


# --- Documents that stand out ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Kept:
    """Documents that stand out, the first ones by `ranks`, then by name.

    Attributes
    ----------
    names : tuple of str
    ranks : array of float, shape (2, documents)
        What they are ordered by, ascending.
    columns : mapping of str to array
        Their scores, as in `Scores`.
    """

    names: tuple[str, ...]
    ranks: Floats
    columns: Mapping[str, NDArray[Any]]

    def ordered(self) -> Kept:
        """In their order, no more than are kept."""
        by_name = np.array(sorted(range(len(self.names)), key=self.names.__getitem__), np.int64)
        by_rank = np.lexsort((self.ranks[1][by_name], self.ranks[0][by_name]))
        order = by_name[by_rank[:MOST_KEPT]]
        return Kept(
            tuple(self.names[i] for i in order.tolist()),
            self.ranks[:, order],
            {name: column[order] for name, column in self.columns.items()},
        )

    @staticmethod
    def joined(parts: Sequence[Kept]) -> Kept:
        """The first ones of all parts."""
        filled = [part for part in parts if part.names] or list(parts[:1])
        return Kept(
            tuple(chain.from_iterable(part.names for part in filled)),
            np.concatenate([part.ranks for part in filled], axis=1),
            {
                name: np.concatenate([part.columns[name] for part in filled])
                for name in filled[0].columns
            },
        ).ordered()


# --- Units ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn for intervals: documents, or groups of them.

    Attributes
    ----------
    names : tuple of str
        The documents, in the order in which they are drawn; none where units are groups.
    n_groups : int
        A power of two; 0 where units are documents.
    n_documents : array of int, shape (units,)
        Documents compared in each unit.
    prints : array of int, shape (units,)
        Sums of the hashes of their names, modulo 2**63: equal only for the same documents.
    """

    names: tuple[str, ...]
    n_groups: int
    n_documents: Ints
    prints: Ints

    def __len__(self) -> int:
        return len(self.n_documents)

    @staticmethod
    def of(documents: Sequence[str]) -> tuple[Units, Ints]:
        """The units of some documents, and the unit of each document."""
        hashes = hashed(documents)
        prints = (hashes >> np.uint64(1)).astype(np.int64)
        if len(documents) <= MOST_DOCUMENTS:
            place = places(documents)
            names = np.empty(len(documents), dtype=object)
            names[place] = documents
            ordered = np.empty_like(prints)
            ordered[place] = prints
            return Units(tuple(names), 0, np.ones(len(documents), dtype=np.int64), ordered), place
        unit = group_of(hashes, MOST_DOCUMENTS)
        n_documents, sums = _in_units(unit, np.ones_like(unit), prints, MOST_DOCUMENTS)
        return Units((), MOST_DOCUMENTS, n_documents, sums), unit

    def grouped(self, n_groups: int) -> tuple[Units, Ints]:
        """Groups, or larger groups, and the new unit of each old one."""
        if self.n_groups:
            unit = np.arange(len(self)) // (self.n_groups // n_groups)
        else:
            unit = group_of(hashed(self.names), n_groups)
        n_documents, prints = _in_units(unit, self.n_documents, self.prints, n_groups)
        return Units((), n_groups, n_documents, prints), unit

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """A name for each unit, the same only where the documents are; of those that have any."""
        if not self.n_groups:
            return self.names
        own = np.flatnonzero(self.n_documents)
        columns = (own, self.n_documents[own], self.prints[own])
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(f"{self.n_groups}:{group}:{n}:{code:x}" for group, n, code in rows)


def group_of(hashes: NDArray[np.uint64], n_groups: int) -> Ints:
    """The group of each document, by the first bits of its hash."""
    return (hashes >> np.uint64(65 - n_groups.bit_length())).astype(np.int64)


def _in_units(unit: Ints, n_documents: Ints, prints: Ints, n_units: int) -> tuple[Ints, Ints]:
    sums = np.zeros((2, n_units), dtype=np.uint64)
    for row, values in zip(sums, (n_documents, prints), strict=True):
        np.add.at(row, unit, values.astype(np.uint64))
    sums &= np.uint64(2**63 - 1)
    return sums[0].astype(np.int64), sums[1].astype(np.int64)


@dataclass(frozen=True, eq=False)
class FieldTotals:
    """The sums of each value of a field of documents.

    Attributes
    ----------
    values : tuple of str
        Shorter ones first, then by name.
    rows : Sums
        By unit and value, also with the documents compared (``documents``).
    sizes : Sums
        By value: documents and spans.
    errors : Sums, optional
        By value and stream.
    """

    values: tuple[str, ...]
    rows: Sums
    sizes: Sums
    errors: Sums | None = None


# --- Totals ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Totals:
    """Sums of counts by label and pair; totals add.

    Attributes
    ----------
    units : Units
        What intervals are over.
    labels, annotators : tuple of str
    rows : Sums
        By unit, label and both annotators: the sums of `Counts`, how many rows there are, and in
        how many chance can vary.
    sizes : mapping of str to Sums
        Documents and spans, which do not add over pairs: of ``all``, by ``label``, ``pair`` and
        ``annotator`` (with what is lost without it), and what each annotator marked of each
        label (``marks``).
    fields : mapping of str to FieldTotals or None
        None for a field of too many values.
    errors : Sums, optional
        Standard errors of estimates, by label, annotators and stream.
    kept : Kept
        The documents that stand out: by the lowest corrected score, or the highest difficulty.
    means : Sums
        By unit: sums of the scores of documents, for their mean.
    histogram : array of int, shape (BINS + 1,)
        Documents by difficulty; the last are those without one. Empty for agreement.
    of : {"spans", "labels"}
    """

    units: Units
    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    rows: Sums
    sizes: Mapping[str, Sums]
    fields: Mapping[str, FieldTotals | None] = field(default_factory=dict)
    errors: Sums | None = None
    kept: Kept
    means: Sums
    histogram: Ints
    of: str = SPANS

    is_corpus_wide = False

    def __repr__(self) -> str:
        return f"Totals({self.n_compared:,} documents, {len(self):,} rows)"

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: Totals | Counts) -> Totals:
        """The totals of both, of different documents."""
        if isinstance(other, Counts):
            other = totals_of(other)
        return Totals.joined([self, other]) if isinstance(other, Totals) else NotImplemented

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary for each unit, label and pair, as any table library takes them.

        ``unit`` is a document, or the number of a group of documents where there are many; ``rows``
        says how many texts were added up, and ``free`` in how many of them chance can vary.
        `size_a` and the other sums are those of `Counts`.
        """
        unit, label, a, b = self.rows.keys.tolist()
        units, names = self.units.names or range(len(self.units)), self.annotators
        sums = _score_columns(self.rows.columns, len(self))
        return rows_of(
            {
                "unit": [units[i] for i in unit],
                "label": [self.labels[i] for i in label],
                "a": [names[i] for i in a],
                "b": [names[i] for i in b],
                **{name: sums[name].tolist() for name in SUMS if name in sums},
                **{name: self.rows[name].tolist() for name in ("rows", "free")},
            }
        )

    # --- Adding ---

    @staticmethod
    def joined(parts: Iterable[Totals]) -> Totals:
        """Add any number of totals, of different documents; names are matched."""
        listed = [checked_instance(part, Totals, "totals") for part in parts]
        if not listed:
            raise DataError("there are no totals", expected="one or more")
        first = listed[0]
        if (
            len({_kind(part) for part in listed}) > 1
            or len({_columns(part) for part in listed if len(part.rows)}) > 1
        ):
            raise DataError("totals of different measures cannot be added", expected="the same")
        listed = _by_same_units(listed)
        labels = tuple(sorted({name for part in listed for name in part.labels}))
        annotators = _all_annotators([part.annotators for part in listed])
        parts = [part._renamed(labels, annotators) for part in listed]
        units = _added_units([part.units for part in parts])
        found = Totals(
            units=units,
            labels=labels,
            annotators=annotators,
            rows=added([part.rows for part in parts]),
            sizes={kind: added([part.sizes[kind] for part in parts]) for kind in first.sizes},
            fields=_added_fields([part.fields for part in parts]),
            errors=_added_errors([part.errors for part in parts]),
            kept=Kept.joined([part.kept for part in parts]),
            means=added([part.means for part in parts]),
            histogram=np.sum([part.histogram for part in parts], axis=0),
            of=first.of,
        )
        return found.bounded()

    def bounded(self) -> Totals:
        """With fewer groups where there are too many rows; that depends on their sum only."""
        found = self
        if not found.units.n_groups and len(found.units) > MOST_DOCUMENTS:
            found = found.grouped(MOST_DOCUMENTS)
        while len(found.rows) > MOST_ROWS and found.units.n_groups > FEWEST_GROUPS:
            found = found.grouped(found.units.n_groups // 2)
        return found

    def grouped(self, n_groups: int) -> Totals:
        """The same with groups of documents as units, or with larger groups."""
        units, unit = self.units.grouped(n_groups)
        return self._with_units(units, unit)

    def _with_units(self, units: Units, unit: Ints) -> Totals:
        def moved(sums: Sums) -> Sums:
            return sums.rekeyed(np.concatenate([unit[sums.keys[:1]], sums.keys[1:]]))

        fields = {
            name: known and replace(known, rows=moved(known.rows))
            for name, known in self.fields.items()
        }
        return replace(
            self, units=units, rows=moved(self.rows), means=moved(self.means), fields=fields
        )

    def _renamed(self, labels: tuple[str, ...], annotators: tuple[str, ...]) -> Totals:
        """The same among more labels and annotators, ``a <= b`` again."""
        if (labels, annotators) == (self.labels, self.annotators):
            return self
        label = _numbers(self.labels, labels)
        who = _numbers(self.annotators, annotators)
        unit = np.arange(len(self.units))
        new: dict[str, tuple[Ints, ...]] = {
            "all": (np.zeros(1, dtype=np.int64),),
            "label": (label,),
            "pair": (who, who),
            "annotator": (who,),
            "marks": (who, label),
        }
        errors = self.errors
        if errors is not None:
            keys = np.concatenate([renumbered(errors.keys[:3], (label, who, who)), errors.keys[3:]])
            keys[1:3] = np.sort(keys[1:3], axis=0)
            errors = errors.rekeyed(keys)
        sizes = {kind: renumbered(sums.keys, new[kind]) for kind, sums in self.sizes.items()}
        sizes["pair"] = np.sort(sizes["pair"], axis=0)
        keys = renumbered(self.rows.keys, (unit, label, who, who))
        return replace(
            self,
            labels=labels,
            annotators=annotators,
            rows=_sided(keys, self.rows.columns),
            sizes={kind: self.sizes[kind].rekeyed(keys) for kind, keys in sizes.items()},
            errors=errors,
        )

    def ordered(self, annotators: tuple[str, ...]) -> Totals:
        """The same with the annotators in another order, so with other sides a and b."""
        return self._renamed(self.labels, annotators)

    # --- Scores ---

    @property
    def n_compared(self) -> int:
        """Documents compared, with marks or without."""
        return int(self.units.n_documents.sum())

    @property
    def n_compared_texts(self) -> int:
        """Texts of the documents compared."""
        return int(self.sizes["all"]["texts"].sum())

    @property
    def n_marked_documents(self) -> int:
        """Documents in which somebody marked something."""
        return int(self.sizes["all"]["n_documents"].sum())

    @property
    def pairs(self) -> Ints:
        """The pairs of annotators who share a document compared, shape (2, pairs)."""
        return self.sizes["pair"].keys

    @property
    def label(self) -> Ints:
        """The label of each row."""
        return np.asarray(self.rows.keys[1])

    @property
    def a(self) -> Ints:
        """The first annotator of each row."""
        return np.asarray(self.rows.keys[2])

    @property
    def b(self) -> Ints:
        """The second annotator of each row."""
        return np.asarray(self.rows.keys[3])

    def texts_without_freedom(self) -> tuple[int, int]:
        """Texts in which every random arrangement gives the same match, of those with spans."""
        sizes = self.sizes["all"]
        return int(sizes["fixed_texts"].sum()), int(sizes["marked_texts"].sum())

    def pair_numbers(self) -> Ints:
        """For each row, the number of its pair among `pairs`."""
        n = len(self.annotators)
        return np.searchsorted(self.pairs[0] * n + self.pairs[1], self.a * n + self.b)

    def score(self) -> Score:
        """The sum of all rows."""
        everything = np.zeros(len(self), dtype=np.int64)
        return self._scores(self.rows, everything, ("all",), "all")["all"]

    def by_label(self) -> Mapping[str, Score]:
        """A score for each label."""
        return self._scores(self.rows, self.label, self.labels, "label")

    def by_pair(self) -> Mapping[tuple[str, str], Score]:
        """A score for each pair of annotators who share a document compared."""
        one, two = ([self.annotators[i] for i in side] for side in self.pairs.tolist())
        names = list(zip(one, two, strict=True))
        return self._scores(self.rows, self.pair_numbers(), names, "pair")

    def by_annotator(self) -> Mapping[str, Score]:
        """A score for each annotator, as side a, against all others."""
        rows = _both_ways(self.rows)
        return self._scores(rows, rows.keys[2], self.annotators, "annotator")

    def without_each(self) -> Mapping[str, Score]:
        """A score for the team without each annotator."""
        columns: dict[str, NDArray[Any]] = {}
        rows, n = self.rows, len(self.annotators)
        everything = np.zeros(len(rows), dtype=np.int64)
        own = [everything + self.a, np.where(self.a == self.b, n, self.b)]
        for name, values in rows.columns.items():
            lost = int_totals(np.concatenate(own), np.concatenate([values, values]), n + 1)[:n]
            columns[name] = values.sum() - lost
        scores = _score_columns(columns, n)
        whole, lost_sizes = self.sizes["all"], self._sizes("annotator", n)
        scores["n_documents"] = whole["n_documents"].sum() - lost_sizes["lost_documents"]
        scores["n_spans"] = whole["n_spans"].sum() - lost_sizes["lost_spans"]
        if self.errors is not None:
            errors = self.errors
            scores["error"] = np.array(
                [
                    self._errors(errors.only((errors.keys[1] != i) & (errors.keys[2] != i)), None)
                    for i in range(n)
                ]
            ).reshape(-1)
        return Scores(self.annotators, scores, self.of)

    def by_field(self, name: str) -> Mapping[str, Score]:
        """A score for each value of a field of the documents."""
        known = self._field(name)
        n = len(known.values)
        columns = _score_columns(_level_sums(known.rows, known.rows.keys[1], n), n)
        columns |= {kind: known.sizes[kind] for kind in ("n_documents", "n_spans")}
        if known.errors is not None:
            keys = known.errors.keys
            columns["error"] = pooled_errors(keys[0], keys[1], known.errors.digits("error"), n)
        return Scores(known.values, columns, self.of)

    def _field(self, name: str) -> FieldTotals:
        checked_option("field", name, self.fields, are_data=True)
        known = self.fields[name]
        if known is None:
            found = ("field ", Quote(name), f" has more than {MOST_VALUES:,} values")
            raise DataError(*found, expected="fewer, to add up each of them")
        return known

    def against(self, annotator: str) -> Mapping[str, Score]:
        """A score for each who shares a document with an annotator, who is side a."""
        checked_option("annotator", annotator, self.annotators, are_data=True)
        one = self.annotators.index(annotator)
        pairs = self.sizes["pair"]
        with_one = pairs.only(np.any(pairs.keys == one, axis=0) & (pairs.keys[0] != pairs.keys[1]))
        others = with_one.keys.sum(axis=0) - one
        rows = _both_ways(self.rows)
        rows = rows.only(rows.keys[2] == one)
        order = np.argsort(others)
        names = [self.annotators[other] for other in others[order].tolist()]
        number = np.searchsorted(others[order], rows.keys[3])
        found = self._scores(rows, number, names, None)
        sizes = {kind: with_one[kind][order] for kind in ("n_documents", "n_spans")}
        return Scores(names, {**found.columns, **sizes}, self.of)

    def size_by_annotator(self) -> dict[str, float]:
        """How much each annotator marked, in the measure's own unit."""
        marks, n = self.sizes["marks"], len(self.annotators)
        sizes = put_together(*(total(marks.keys[0], digits, n) for digits in marks.digits("size")))
        return dict(zip(self.annotators, sizes.tolist(), strict=True))

    def spans_by_label(self, annotator: str) -> dict[str, int]:
        """How many spans of each label an annotator marked, each counted once."""
        marks = self.sizes["marks"]
        own = marks.only(marks.keys[0] == self.annotators.index(annotator))
        spans = int_totals(own.keys[1], own["n_spans"], len(self.labels))
        return dict(zip(self.labels, spans.tolist(), strict=True))

    def by_document(self) -> NoReturn:
        """Refused: most documents are not kept."""
        raise DataError(
            f"of {self.n_compared:,} documents the sums are kept, not the scores of each",
            expected="at most "
            f"{MOST_DOCUMENTS:,} documents, to list them; those that stand out are in `contested`",
            remedy="read the documents in question by themselves",
        )

    def contested(self) -> Mapping[str, Score]:
        """The documents with the lowest corrected scores, as far as they are kept."""
        return Scores(self.kept.names, self.kept.columns, self.of)

    def _sizes(self, kind: str, n: int) -> dict[str, Ints]:
        """Documents and spans of a kind of level, whether it has any or not."""
        sums = self.sizes[kind]
        if kind == "pair":  # all of them, in order
            return dict(sums.columns)
        return {name: int_totals(sums.keys[0], column, n) for name, column in sums.columns.items()}

    def _scores(
        self, rows: Sums, level: Ints, names: Sequence[_Name], kind: str | None
    ) -> Scores[_Name]:
        """Scores from the rows of each level."""
        n = len(names)
        columns = _score_columns(_level_sums(rows, level, n), n)
        if kind is not None:
            sizes = self._sizes(kind, n)
            columns |= {name: sizes[name] for name in ("n_documents", "n_spans")}
        if self.errors is not None:
            columns["error"] = self._errors(self.errors, kind, names)
        return Scores(names, columns, self.of)

    def _errors(self, errors: Sums, kind: str | None, names: Sequence[Any] = ("all",)) -> Floats:
        """Standard errors of the levels of a kind; by pair with one annotator, for None."""
        label, a, b, stream = errors.keys
        digits = errors.digits("error")
        n_annotators = len(self.annotators)
        if kind == "label":
            return pooled_errors(label, stream, digits, len(names))
        if kind == "annotator":
            both = (np.concatenate([digit, digit]) for digit in digits)
            who, streams = np.concatenate([a, b]), np.concatenate([stream, stream])
            return pooled_errors(who, streams, tuple(both), len(names))
        if kind == "pair":
            code = self.pairs[0] * n_annotators + self.pairs[1]
            number = np.searchsorted(code, a * n_annotators + b)
            return pooled_errors(number, stream, digits, len(names))
        return pooled_errors(np.zeros_like(label), stream, digits, 1)

    # --- Intervals ---

    @cached_property
    def _place(self) -> Ints:
        """The number of each unit among those that have documents."""
        return np.cumsum(self.units.n_documents > 0) - 1

    @property
    def unit_names(self) -> tuple[str, ...]:
        """A name for each unit that is drawn, in the order in which they are drawn."""
        return self.units.shown

    @property
    def document_places(self) -> Ints:
        """The place of each unit in the order in which units are drawn."""
        return np.arange(len(self.unit_names))

    def exact(self, times: Ints | None = None) -> ExactColumns:
        """Matched, expected, size of both sides and freedom of each row, as sums need them."""
        return _exact(self.rows, times)

    def leveled(self, levels: Levels | None = None, times: Ints | None = None) -> Rows:
        """The rows for resampling, and the levels that each of them is in; one by default."""
        annotator = places(self.annotators)
        one, other = annotator[self.a], annotator[self.b]
        return Rows(
            n_documents=len(self.unit_names),
            levels=Levels(len(self)) if levels is None else levels,
            document=self._place[self.rows.keys[0]],
            columns=self.exact(times),
            a=np.minimum(one, other),
            b=np.maximum(one, other),
        )

    def estimate_error(self, times: Ints) -> float:
        """Standard error of the sum of `times` as much as is expected in each row.

        `times` depends on the two annotators only.
        """
        if self.errors is None:
            return 0.0
        n = len(self.annotators)
        by_pair = np.ones(n * n, dtype=np.int64)
        by_pair[self.a * n + self.b] = times
        own = by_pair[self.errors.keys[1] * n + self.errors.keys[2]]
        digits = [own * part for part in self.errors.digits("error")]
        nothing = np.zeros(len(self.errors), dtype=np.int64)
        return float(pooled_errors(nothing, self.errors.keys[3], digits, 1)[0])

    def field_rows(self, name: str) -> dict[str, Rows]:
        """The rows for resampling of each value of a field, over its own documents."""
        known = self._field(name)
        found = {}
        for number, value in enumerate(known.values):
            own = known.rows.only(known.rows.keys[1] == number)
            nothing = np.zeros(len(own), dtype=np.int64)
            found[value] = Rows(
                n_documents=len(own),
                levels=Levels(len(own)),
                document=np.arange(len(own)),
                columns=_exact(own),
                a=nothing,
                b=nothing,
            )
        return found

    def document_sums(self) -> Floats:
        """Matched, expected, size and rows with freedom of each unit, shape (units, 4)."""
        rows = self.leveled()
        return rows.sums(rows.document, rows.n_documents, range(1))[:, 0]

    def mean_table(self) -> Floats:
        """Sums of the scores of documents by unit, and how many: for each of `SCORES`.

        Of the documents that have a corrected score; where none has, of all that were marked.
        """
        means, n_units = self.means, len(self.unit_names)
        unit = self._place[means.keys[0]]
        prefix = "" if means["n"].any() else "other_"
        numbers = total(unit, means[f"{prefix}n"], n_units)
        columns = []
        for name in SCORES:
            if prefix and name == "corrected":
                columns += [np.zeros(n_units), np.zeros(n_units)]
                continue
            digits = (total(unit, part, n_units) for part in means.digits(f"{prefix}{name}"))
            columns += [put_together(*digits), numbers]
        return np.stack(columns, axis=1)

    def mean_of(self, name: str, *, of_all: bool = False) -> float:
        """The mean of a score of documents; nan if none has it."""
        means = self.means
        wanted = [""] if means["n"].any() and not of_all else ["", "other_"]
        if name in {"corrected", "lowest"}:
            wanted = [] if of_all else [""]
        n = sum(int(means[f"{prefix}n"].sum()) for prefix in wanted)
        if not n:
            return nan
        digits = np.sum(
            [[part.sum() for part in means.digits(f"{prefix}{name}")] for prefix in wanted], axis=0
        )
        return float(put_together(*digits.astype(np.float64)[:, None])[0]) / n

    def n_by_reason(self) -> dict[int, int]:
        """How many documents have no corrected score, by the number of the reason."""
        sizes = self.sizes["all"]
        found = {0: self.n_compared - self.n_marked_documents}
        found |= {code: int(sizes[f"reason_{code}"].sum()) for code in _REASONS}
        return {code: n for code, n in found.items() if n}


AnyCounts = Counts | Totals
"""What a result is summed from: the counts of all documents, or what they add up to."""


def counts_by_document(counts: AnyCounts) -> Counts:
    """The counts of all documents, refused where only their sums were kept."""
    return counts.by_document() if isinstance(counts, Totals) else counts


def drawn_from(counts: AnyCounts, *, are_difficulties: bool = False) -> AnyCounts:
    """What intervals and tests draw from: counts by document, or by groups of many documents."""
    is_large = counts.n_compared > MOST_DOCUMENTS and not counts.is_corpus_wide
    if isinstance(counts, Counts) and is_large:
        return totals_of(counts, are_difficulties=are_difficulties)
    return counts


def n_groups_of(counts: AnyCounts) -> int:
    """How many groups of documents intervals are over; 0 where they are over documents."""
    return counts.units.n_groups if isinstance(counts, Totals) else 0


def extent_of(counts: AnyCounts, settings: Settings) -> Extent:
    """How many documents and texts were compared, and what documents are called."""
    return Extent(counts.n_compared, counts.n_compared_texts, settings.unit)


def units_of(counts: AnyCounts, settings: Settings) -> str:
    """What intervals draw from counts, as a plural: documents, sentences, or groups of them."""
    plural = f"{extent_of(counts, settings).noun}s"
    return f"groups of {plural}" if n_groups_of(counts) else plural


def signed_with(options: Resampling, settings: Settings, counts: AnyCounts) -> Settings:
    """The settings of a result with those of its intervals: over what, and of how many groups."""
    signed = options.sign(settings)
    if signed.over == "documents":
        signed = signed.replaced(over=f"{extent_of(counts, settings).noun}s")
    return signed.replaced(groups=n_groups_of(counts) or None)


class Counted:
    """A result that is summed from counts of documents."""

    counts: AnyCounts
    settings: Settings

    @property
    def extent(self) -> Extent:
        """How many documents and texts were compared, and what documents are called."""
        return extent_of(self.counts, self.settings)

    @cached_property
    def drawn(self) -> AnyCounts:
        """What intervals draw from: the counts, or their totals by groups of documents."""
        return drawn_from(self.counts)

    @property
    def resampled_unit(self) -> str:
        """What intervals draw: documents, sentences where nothing larger is known, or groups."""
        return units_of(self.drawn, self.settings)


_REASONS = (1, 2, 3)
"""Numbers of reasons why a document with marks has no corrected score."""


def _kind(part: Totals) -> tuple[str, bool]:
    """What totals must have in common to be added."""
    return part.of, len(part.histogram) > 0


def _columns(part: Totals) -> tuple[bool, bool]:
    """What those with rows must have in common: where nobody marked anything, nothing tells it."""
    return part.rows.has("matched_a"), part.errors is not None


def _numbers(names: Sequence[str], known: Sequence[str]) -> Ints:
    number = numbered(known)
    return np.array([number[name] for name in names], dtype=np.int64)


def _all_annotators(parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The annotators of all parts: in their order if that is the same in all, else by name."""
    if all(part == parts[0] for part in parts):
        return parts[0]
    names = list(dict.fromkeys(chain.from_iterable(parts)))
    return tuple(names[i] for i in np.argsort(places(names)).tolist())


def _by_same_units(parts: Sequence[Totals]) -> list[Totals]:
    """All parts by documents, if they are few enough in all; else by as many groups."""
    if not any(part.units.n_groups for part in parts):
        names = [name for part in parts for name in part.units.names]
        known = set(names)
        if len(known) < len(names):
            twice = next(name for name in known if names.count(name) > 1)
            raise DataError(
                *("both tables hold the document ", Quote(twice)),
                expected="different documents",
                remedy="give them different names",
            )
        if len(names) <= MOST_DOCUMENTS:
            place = dict(zip(names, places(names).tolist(), strict=True))
            found = []
            for part in parts:
                unit = np.array([place[name] for name in part.units.names], dtype=np.int64)
                # Of the whole: what belongs to others is added later.
                own = np.zeros((2, len(names)), dtype=np.int64)
                own[:, unit] = part.units.n_documents, part.units.prints
                whole = tuple(sorted(place, key=place.__getitem__))
                found.append(part._with_units(Units(whole, 0, *own), unit))
            return found
    n_groups = min((p.units.n_groups for p in parts if p.units.n_groups), default=MOST_DOCUMENTS)
    return [part if part.units.n_groups == n_groups else part.grouped(n_groups) for part in parts]


def _added_units(parts: Sequence[Units]) -> Units:
    first = parts[0]
    prints = np.sum([part.prints.astype(np.uint64) for part in parts], axis=0)
    prints = (prints & np.uint64(2**63 - 1)).astype(np.int64)
    n_documents = np.sum([part.n_documents for part in parts], axis=0)
    return Units(first.names, first.n_groups, n_documents, prints)


def _added_errors(parts: Sequence[Sums | None]) -> Sums | None:
    known = [part for part in parts if part is not None]
    return added(known) if known else None


def _added_fields(
    parts: Sequence[Mapping[str, FieldTotals | None]],
) -> dict[str, FieldTotals | None]:
    """Sums of the values of the fields that all parts have."""
    found: dict[str, FieldTotals | None] = {}
    for name in parts[0]:
        if not all(name in part for part in parts):
            continue
        known = [part[name] for part in parts]
        every = [item for item in known if item is not None]
        names = list(dict.fromkeys(value for item in every for value in item.values))
        if len(every) < len(known) or len(names) > MOST_VALUES:
            found[name] = None
            continue
        values = tuple(names[i] for i in np.argsort(places(names)).tolist())
        renamed = [_with_values(item, values) for item in every]
        found[name] = FieldTotals(
            values,
            added([item.rows for item in renamed]),
            added([item.sizes for item in renamed]),
            _added_errors([item.errors for item in renamed]),
        )
    return found


def _with_values(item: FieldTotals, values: tuple[str, ...]) -> FieldTotals:
    if item.values == values:
        return item
    value = _numbers(item.values, values)
    rows, errors = item.rows, item.errors
    return FieldTotals(
        values,
        rows.rekeyed(np.stack([rows.keys[0], value[rows.keys[1]]])),
        item.sizes.rekeyed(value[item.sizes.keys]),
        errors and errors.rekeyed(np.stack([value[errors.keys[0]], errors.keys[1]])),
    )


def _sided(keys: Ints, columns: Mapping[str, Ints]) -> Sums:
    """Rows with ``a <= b``: where it is the other way round, sides are exchanged."""
    swap = keys[2] > keys[3]
    if not swap.any():
        return summed(keys, columns)
    one, other = np.minimum(keys[2], keys[3]), np.maximum(keys[2], keys[3])
    exchanged = {name: columns.get(_across(name), np.zeros(len(swap))) for name in _named(columns)}
    whole = {
        name: np.where(swap, exchanged[name], columns.get(name, 0)) for name in _named(columns)
    }
    return summed(np.stack([keys[0], keys[1], one, other]), whole)


def _named(columns: Mapping[str, Ints]) -> list[str]:
    """The columns, with those of the other side."""
    return list(dict.fromkeys(chain(columns, map(_across, columns))))


def _across(name: str) -> str:
    """What a column is called on the other side."""
    base, dot, place = name.partition(".")
    if base.startswith("open_"):
        return "open_b" if base == "open_a" else "open_a"
    return other_side(base) + dot + place


def _both_ways(rows: Sums) -> Sums:
    """The rows of different annotators, followed by the same with the sides exchanged."""
    apart = rows.only(rows.keys[2] != rows.keys[3])
    names = _named(apart.columns)
    return Sums(
        np.concatenate([apart.keys, apart.keys[[0, 1, 3, 2]]], axis=1),
        {name: np.concatenate([apart[name], apart[_across(name)]]) for name in names},
    )


def _level_sums(rows: Sums, level: Ints, n: int) -> dict[str, Ints]:
    return {name: int_totals(level, column, n) for name, column in rows.columns.items()}


def _score_columns(sums: Mapping[str, Ints], n: int) -> dict[str, NDArray[Any]]:
    """The columns of scores, from sums of digits and of rows."""
    nothing = np.zeros(n, dtype=np.int64)
    columns: dict[str, NDArray[Any]] = {}
    for name in SUMS:
        if f"{name}.2" in sums:
            digits = (sums.get(f"{name}.{place}", nothing) for place in range(3))
            columns[name] = put_together(*(part.astype(np.float64) for part in digits))
    has_rows = sums.get("rows", nothing) > 0
    for flag, name in _OPEN.items():
        columns[flag] = has_rows & (sums.get(name, nothing) == 0)
    columns["is_part"] = np.zeros(n, dtype=bool)
    return columns


def _exact(rows: Sums, times: Ints | None = None) -> ExactColumns:
    by = 1 if times is None else times
    size = zip(rows.digits("size_a"), rows.digits("size_b"), strict=True)
    nothing = np.zeros(len(rows))
    return cut_columns(
        [
            [part.astype(np.float64) for part in rows.digits("matched")],
            [(by * part).astype(np.float64) for part in rows.digits("expected")],
            [(by * (one + other)).astype(np.float64) for one, other in size],
            [nothing, nothing, rows["free"].astype(np.float64)],
        ],
        len(rows),
    )


# --- From counts ----------------------------------------------------------------------


def totals_of(counts: Counts, *, are_difficulties: bool = False) -> Totals:
    """Add up a table of counts.

    Parameters
    ----------
    counts : Counts
    are_difficulties : bool
        Whether documents stand out by their difficulty, rather than by a low score.
    """
    units, unit = Units.of(counts.documents)
    columns = _sums_of_rows(counts)
    keys = np.stack([unit[counts.document], counts.label, counts.a, counts.b])
    errors = None
    if counts.error is not None and counts.stream is not None:
        keys_of_errors = np.stack([counts.label, counts.a, counts.b, counts.stream])
        errors = summed(keys_of_errors, cut_digits("error", rounded(counts.error)))
    by_document = _Documents.of(counts, are_difficulties=are_difficulties)
    return Totals(
        units=units,
        labels=counts.labels,
        annotators=counts.annotators,
        rows=summed(keys, columns),
        sizes=_sizes_of(counts, by_document),
        fields={name: _field_totals(counts, name, unit, columns) for name in counts.fields},
        errors=errors,
        kept=by_document.kept(),
        means=summed(unit[None], by_document.means()),
        histogram=by_document.histogram(),
        of=counts.of,
    ).bounded()


def _sums_of_rows(counts: Counts) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {"rows": np.ones(len(counts), dtype=np.int64)}
    for name in SUMS:
        values = getattr(counts, name)
        if values is not None:
            columns |= cut_digits(name, values)
    return columns | {name: ~getattr(counts, flag) for flag, name in _OPEN.items()}


def _sizes_of(counts: Counts, by_document: _Documents) -> dict[str, Sums]:
    """Documents and spans of every level."""
    n_rows, n_labels, n = len(counts), len(counts.labels), len(counts.annotators)
    everything = np.zeros(n_rows, dtype=np.int64)
    n_fixed, n_marked = counts.texts_without_freedom()
    whole = counts.sizes_of(everything, 1) | {
        "texts": np.array([counts.n_compared_texts]),
        "marked_texts": np.array([n_marked]),
        "fixed_texts": np.array([n_fixed]),
    }
    whole |= {f"reason_{code}": np.array([by_document.n_by_reason[code]]) for code in _REASONS}
    n_pairs = counts.pairs.shape[1]
    is_one_pair = n_pairs == 1 and counts.pairs[0, 0] != counts.pairs[1, 0]
    of_pairs = (
        {name: whole[name] for name in ("n_documents", "n_spans")}
        if is_one_pair
        else counts.sizes_of(counts.pair_numbers(), n_pairs)
    )
    of_annotators, lost = _sizes_of_annotators(counts, whole if is_one_pair else None)
    return {
        "all": summed(np.zeros((1, 1), dtype=np.int64), whole),
        "label": summed(np.arange(n_labels)[None], counts.sizes_of(counts.label, n_labels)),
        "pair": summed(counts.pairs, of_pairs),
        "annotator": summed(
            np.arange(n)[None],
            {**of_annotators, "lost_documents": lost[0][:n], "lost_spans": lost[1][:n]},
        ),
        "marks": _marks(counts, is_one_pair=bool(is_one_pair)),
    }


def _sizes_of_annotators(
    counts: Counts, of_pair: Mapping[str, Ints] | None
) -> tuple[dict[str, Ints], tuple[Ints, Ints]]:
    """Documents and spans of every annotator, and those that are lost without it.

    `of_pair` are those of the only pair of annotators, if there is one only.
    """
    n = len(counts.annotators)
    if of_pair is None:
        both_ways = counts.both_ways()
        return both_ways.sizes_of(both_ways.a, n, ("a",)), counts.lost_with_each()
    of_each = {name: np.zeros(n, dtype=np.int64) for name in ("n_documents", "n_spans")}
    for who, spans in zip(counts.pairs[:, 0], (counts.spans_a, counts.spans_b), strict=True):
        of_each["n_documents"][who] = of_pair["n_documents"][0]
        of_each["n_spans"][who] = spans.sum()
    is_in = of_each["n_documents"] > 0
    lost = of_pair["n_documents"][0] * is_in, of_pair["n_spans"][0] * is_in
    return of_each, lost


def _marks(counts: Counts, *, is_one_pair: bool) -> Sums:
    """How many spans, and how much, each annotator marked of each label."""
    n_labels, n = len(counts.labels), len(counts.annotators)
    cells = np.stack(np.divmod(np.arange(n * n_labels), max(n_labels, 1)))
    found = {}
    # Two annotators are one row in every text; otherwise each counts once for all others.
    table = counts if is_one_pair else counts.both_ways()
    for what in ("spans", "size"):
        found[what] = np.zeros(n * n_labels)
        for side in ("a", "b") if is_one_pair else ("a",):
            cell = getattr(table, side) * n_labels + table.label
            values = getattr(table, f"{what}_{side}")
            if is_one_pair:
                found[what] += exact_total(cell, values, n * n_labels)
            else:
                found[what] += table.once(cell, n * n_labels, what, (side,))
    return summed(
        cells, {"n_spans": found["spans"].astype(np.int64), **cut_digits("size", found["size"])}
    )


def _field_totals(
    counts: Counts, name: str, unit: Ints, columns: Mapping[str, NDArray[Any]]
) -> FieldTotals | None:
    given, number = counts.field_values(name)
    if len(given) > MOST_VALUES:
        return None
    place = places(given)
    values = tuple(given[i] for i in np.argsort(place).tolist())
    value = place[number]
    own = value[counts.document]
    compared = summed(np.stack([unit, value]), {"documents": np.ones_like(unit)})
    rows = summed(np.stack([unit[counts.document], own]), columns)
    errors = None
    if counts.error is not None and counts.stream is not None:
        errors = summed(np.stack([own, counts.stream]), cut_digits("error", rounded(counts.error)))
    sizes = summed(np.arange(len(values))[None], counts.sizes_of(own, len(values)))
    return FieldTotals(values, added([compared, rows]), sizes, errors)


@dataclass(frozen=True, eq=False)
class _Documents:
    """The documents of a table of counts, of which some are kept and all are averaged.

    Attributes
    ----------
    counts : Counts
    sums : array of float, shape (documents, 4)
    reasons : array of int, shape (documents,)
        Why they have no corrected score: 0 where they have one, or where nothing was marked.
    are_difficulties : bool
    """

    counts: Counts
    sums: Floats
    reasons: Ints
    are_difficulties: bool

    @staticmethod
    def of(counts: Counts, *, are_difficulties: bool) -> _Documents:
        n = len(counts.documents)
        times = np.where(counts.a == counts.b, 1, 2) if are_difficulties else None
        sums = counts.sums_of(counts.document, n, times)
        is_open = np.zeros(n, dtype=bool)
        is_open[counts.document[~counts.certain]] = True
        reasons = reason_codes(*sums.T, is_certain=~is_open)
        return _Documents(counts, sums, reasons, are_difficulties)

    @cached_property
    def n_by_reason(self) -> Ints:
        return np.bincount(self.reasons, minlength=len(_REASONS) + 1)

    @cached_property
    def is_marked(self) -> Bools:
        return np.asarray(self.sums[:, 2] > 0)

    @cached_property
    def corrected(self) -> Floats:
        return score_of(self.sums, "corrected")

    def means(self) -> dict[str, NDArray[Any]]:
        """Scores of each document that enter the means, cut into digits."""
        values = {name: rounded(score_of(self.sums, name)) for name in ("observed", "chance")}
        values["corrected"] = rounded(self.corrected)
        has_all = ~np.isnan(values["corrected"])
        columns: dict[str, NDArray[Any]] = {"n": has_all, "other_n": self.is_marked & ~has_all}
        with np.errstate(divide="ignore", invalid="ignore"):
            values["lowest"] = rounded(-values["chance"] / (1 - values["chance"]))
        for name in _MEANS:
            columns |= cut_digits(name, np.where(has_all, values[name], 0))
        for name in ("observed", "chance"):
            columns |= cut_digits(f"other_{name}", np.where(columns["other_n"], values[name], 0))
        return columns

    def histogram(self) -> Ints:
        """How many documents have which difficulty."""
        if not self.are_difficulties:
            return np.zeros(0, dtype=np.int64)
        values = score_of(self.sums, "difficulty")
        cell = np.full(len(values), BINS)
        known = ~np.isnan(values)
        cell[known] = np.clip((values[known] * BINS + 1e-9).astype(np.int64), 0, BINS - 1)
        return np.bincount(cell, minlength=BINS + 1)

    def kept(self) -> Kept:
        """The documents that stand out, no more than are kept."""
        counts = self.counts
        if self.are_difficulties:
            values = -score_of(self.sums, "difficulty")
        else:
            values = np.where(self.reasons > 0, np.inf, self.corrected)
        chosen = np.flatnonzero(self.is_marked)
        n_spans = np.zeros(len(values))
        if len(chosen) > MOST_KEPT:
            # Up to the last value that can be among them, ties included.
            last = np.partition(values[chosen], MOST_KEPT - 1)[MOST_KEPT - 1]
            chosen = chosen[values[chosen] <= last]
        if not self.are_difficulties:
            mask = np.zeros(len(values), dtype=bool)
            mask[chosen] = True
            near = counts.only(mask[counts.document])
            n_spans = near.once(near.document, len(values), "spans")
        chosen = chosen[np.lexsort((-n_spans[chosen], values[chosen]))]
        if len(chosen) > MOST_KEPT:
            # Of those that are like the last one, the first by name.
            ranks = values[chosen], n_spans[chosen]
            is_like = np.all([rank == rank[MOST_KEPT - 1] for rank in ranks], axis=0)
            first, like = int(np.argmax(is_like)), chosen[is_like].tolist()
            names = sorted(zip(map(counts.documents.__getitem__, like), like, strict=True))
            rest = [number for _, number in names[: MOST_KEPT - first]]
            chosen = np.concatenate([chosen[:first], rest]).astype(np.int64)
        mask = np.zeros(len(values), dtype=bool)
        mask[chosen] = True
        part = counts.of_documents(mask)
        ranks_of = np.stack([values[mask], -n_spans[mask]])
        scores = part.by_document()
        columns = scores.columns if isinstance(scores, Scores) else {}
        return Kept(part.documents, ranks_of, columns).ordered()
