"""Counts that add, and the scores that follow from them.

A row of Counts holds what one pair of annotators did with one label in one text.
Every score, at every level, is a sum of rows followed by one division. Rates are
never stored and never averaged.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from beyondchance.checks import checked_option
from beyondchance.core.ragged import distinct, exact_total, total
from beyondchance.errors import DataError
from beyondchance.numbers import in_digits
from beyondchance.settings import Settings
from beyondchance.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from beyondchance.results.intervals import ConfidenceInterval, Intervals, Resampling, Rows

Name = TypeVar("Name", bound=Hashable)

NOTHING_MARKED = "nothing was marked by either"
LEVELS = ("label", "pair", "annotator")
"""What scores are broken down by."""
NO_ROOM = "random annotations would agree wholly: chance is 1"

_COLUMNS = (
    *("document", "text", "label", "a", "b"),
    *("matched", "expected", "size_a", "size_b", "spans_a", "spans_b"),
    *("certain", "certain_a", "certain_b"),
    *("matched_a", "matched_b", "expected_a", "expected_b", "error", "stream"),
)
_SUMS = (
    *("matched", "expected", "size_a", "size_b"),
    *("matched_a", "matched_b", "expected_a", "expected_b"),
)
_SIDES = {
    f"{name}{one}": f"{name}{two}"
    for name in ("", "size_", "spans_", "certain_", "matched_", "expected_")
    for one, two in (("a", "b"), ("b", "a"))
}
"""What each column of one side is called on the other."""


@dataclass(frozen=True, slots=True)
class _Rate:
    """A share: what matched, and what random annotations would match, of how much."""

    matched: float
    expected: float
    size: float
    certain: bool
    nothing: str = NOTHING_MARKED

    @property
    def observed(self) -> float:
        return self.matched / self.size if self.size else nan

    @property
    def chance(self) -> float:
        return self.expected / self.size if self.size else nan

    @property
    def corrected(self) -> float:
        if self.reason is not None:
            return nan
        return (self.matched - self.expected) / (self.size - self.expected)

    @property
    def reason(self) -> str | None:
        if not self.size:
            return self.nothing
        return NO_ROOM if self.certain else None

    def to_dict(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in ("observed", "chance", "corrected")}
        result = {name: None if isnan(value) else value for name, value in values.items()}
        return result if self.reason is None else {**result, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A sum of rows of Counts, and what follows from it.

    Attributes
    ----------
    matched, expected : float
        Observed match, and the match expected of random annotations.
    size_a, size_b : float
        How much each side marked, in the measure's own unit.
    certain, certain_a, certain_b : bool
        Whether random annotations could not help agreeing wholly: both, or in what
        one side marked.
    matched_a, matched_b, expected_a, expected_b : float, optional
        The match of either side, where it is not the same for recall and precision.
    error : float
        Standard error of `expected`, where that was estimated; 0 where it is exact.
    n_documents, n_spans : int
        Documents in which something was marked, and spans marked in them (of one
        annotator against the others: that annotator's spans).

    Examples
    --------
    Two annotators mark 4 tokens each and share 3; by chance they would share 1.

    >>> score = Score(matched=3, expected=1, size_a=4, size_b=4)
    >>> score.observed, score.chance, round(score.corrected, 4)
    (0.75, 0.25, 0.6667)
    """

    matched: float = 0.0
    expected: float = 0.0
    size_a: float = 0.0
    size_b: float = 0.0
    certain: bool = False
    certain_a: bool = False
    certain_b: bool = False
    matched_a: float | None = None
    matched_b: float | None = None
    expected_a: float | None = None
    expected_b: float | None = None
    error: float = 0.0
    n_documents: int = 0
    n_spans: int = 0

    @property
    def _f1(self) -> _Rate:
        return _Rate(self.matched, self.expected, (self.size_a + self.size_b) / 2, self.certain)

    @property
    def _recall(self) -> _Rate:
        return _Rate(
            self.matched if self.matched_a is None else self.matched_a,
            self.expected if self.expected_a is None else self.expected_a,
            self.size_a,
            self.certain_a,
            nothing="nothing was marked by side a",
        )

    @property
    def _precision(self) -> _Rate:
        return _Rate(
            self.matched if self.matched_b is None else self.matched_b,
            self.expected if self.expected_b is None else self.expected_b,
            self.size_b,
            self.certain_b,
            nothing="nothing was marked by side b",
        )

    @property
    def observed(self) -> float:
        """F1 of the two sides; nan where neither marked anything."""
        return self._f1.observed

    @property
    def chance(self) -> float:
        """F1 that random annotations of the same lengths would reach."""
        return self._f1.chance

    @property
    def chance_error(self) -> float:
        """Standard error of `chance`, where it was estimated; 0 where it is exact."""
        size = (self.size_a + self.size_b) / 2
        return self.error / size if size else nan

    @property
    def corrected(self) -> float:
        """Share of the agreement beyond chance that was attained; nan if chance is 1."""
        return self._f1.corrected

    @property
    def reason(self) -> str | None:
        """Why `corrected` is undefined, where it is."""
        return self._f1.reason

    @property
    def precision(self) -> float:
        """Share of what side b marked that matches side a."""
        return self._precision.observed

    @property
    def chance_precision(self) -> float:
        """Share of what side b marked that random annotations would match."""
        return self._precision.chance

    @property
    def corrected_precision(self) -> float:
        """Precision beyond chance; nan if chance is 1, or side b marked nothing."""
        return self._precision.corrected

    @property
    def recall(self) -> float:
        """Share of what side a marked that is matched by side b."""
        return self._recall.observed

    @property
    def chance_recall(self) -> float:
        """Share of what side a marked that random annotations would match."""
        return self._recall.chance

    @property
    def corrected_recall(self) -> float:
        """Recall beyond chance; nan if chance is 1, or side a marked nothing."""
        return self._recall.corrected

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None where undefined, with the reason."""
        return {
            **self._f1.to_dict(),
            **({"chance_error": self.chance_error} if self.error else {}),
            "precision": self._precision.to_dict(),
            "recall": self._recall.to_dict(),
            "counts": {
                name: getattr(self, name) for name in _SUMS if getattr(self, name) is not None
            },
            "n_documents": self.n_documents,
            "n_spans": self.n_spans,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Mapping[Name, Score]):
    """Scores by name, in columns: each is made when it is asked for.

    A thousand annotators have tens of thousands of pairs, of which hardly anybody asks for
    more than a few.
    """

    names: Sequence[Name]
    columns: Mapping[str, NDArray[Any]]

    @cached_property
    def _number(self) -> dict[Name, int]:
        return {name: number for number, name in enumerate(self.names)}

    def __getitem__(self, name: Name) -> Score:
        number = self._number[name]
        return Score(**{key: column[number].item() for key, column in self.columns.items()})

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
        Whether random annotations could not help agreeing wholly, or matching all that
        one side marked.
    matched_a, matched_b, expected_a, expected_b : arrays of float, shape (rows,), optional
        The match of either side, where recall and precision have one of their own.
    error : array of float, shape (rows,), optional
        Standard errors of `expected`, where it was estimated.
    stream : array of int, shape (rows,), optional
        Where the random numbers came from. Estimates of one stream are one and the same,
        so that their errors add up; those of different streams are independent.
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
    matched_a: Floats | None = None
    matched_b: Floats | None = None
    expected_a: Floats | None = None
    expected_b: Floats | None = None
    error: Floats | None = None
    stream: Ints | None = None

    def __len__(self) -> int:
        return len(self.document)

    def __repr__(self) -> str:
        return f"Counts({len(self):,} rows of {len(self.documents):,} documents)"

    def __add__(self, other: Counts) -> Counts:
        """Put two tables together, of different documents; names are matched."""
        if not isinstance(other, Counts):
            return NotImplemented
        shared = next((name for name in other.documents if name in set(self.documents)), None)
        if shared is not None:
            raise DataError(
                f"both tables hold the document {shared!r}; expected different documents: give "
                "them different names"
            )
        if self.fields.keys() != other.fields.keys():
            raise DataError(
                f"tables with the fields {sorted(self.fields)} and {sorted(other.fields)} "
                "cannot be added; expected the same fields"
            )
        if self._columns().keys() != other._columns().keys():
            raise DataError("tables of different measures cannot be added; expected the same")
        labels = tuple(sorted({*self.labels, *other.labels}))
        annotators = tuple(dict.fromkeys(self.annotators + other.annotators))
        parts = [part._renamed(labels, annotators) for part in (self, other)]
        columns: dict[str, Any] = {
            name: np.concatenate([part[name] for part in parts]) for name in parts[0]
        }
        columns["document"][len(self) :] += len(self.documents)
        columns["text"][len(self) :] += self.n_texts
        return Counts(
            documents=self.documents + other.documents,
            fields={name: self.fields[name] + other.fields[name] for name in self.fields},
            n_texts=self.n_texts + other.n_texts,
            labels=labels,
            annotators=annotators,
            pairs=_distinct_pairs(
                np.concatenate(
                    [
                        _renumbering(part.annotators, annotators)[part.pairs]
                        for part in (self, other)
                    ],
                    axis=1,
                ),
                len(annotators),
            ),
            **columns,
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the table, those that it has."""
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return {name: column for name, column in columns.items() if column is not None}

    def _renamed(
        self, labels: tuple[str, ...], annotators: tuple[str, ...]
    ) -> dict[str, NDArray[Any]]:
        """The columns with other numbers for labels and annotators, ``a <= b`` again."""
        columns = self._columns()
        columns["label"] = _renumbering(self.labels, labels)[self.label]
        number = _renumbering(self.annotators, annotators)
        columns["a"], columns["b"] = number[self.a], number[self.b]
        swap = columns["a"] > columns["b"]
        return {
            name: np.where(swap, columns[_SIDES[name]], column) if name in _SIDES else column
            for name, column in columns.items()
        }

    def only(self, keep: Bools) -> Counts:
        """The table with some of its rows; documents and names stay."""
        return self._rows(np.flatnonzero(keep))

    def of_documents(self, keep: Bools) -> Counts:
        """The table with some of its documents, chosen by a truth value for each."""
        part = self.only(keep[self.document])
        return replace(
            part,
            documents=tuple(name for name, kept in zip(self.documents, keep, strict=True) if kept),
            fields={
                name: tuple(value for value, kept in zip(values, keep, strict=True) if kept)
                for name, values in self.fields.items()
            },
            document=(np.cumsum(keep) - 1)[part.document],
        )

    def without(self, annotator: str) -> Counts:
        """The table without the rows of one annotator."""
        number = self.annotators.index(checked_option("annotator", annotator, self.annotators))
        others = np.all(self.pairs != number, axis=0)
        rows = self.only((self.a != number) & (self.b != number))
        return replace(rows, pairs=self.pairs[:, others])

    def ordered(self, annotators: tuple[str, ...]) -> Counts:
        """The same table with the annotators in another order, so with other sides a and b."""
        number = _renumbering(self.annotators, annotators)
        pairs = _distinct_pairs(number[self.pairs], len(annotators))
        columns: dict[str, Any] = self._renamed(self.labels, annotators)
        return replace(self, annotators=annotators, pairs=pairs, **columns)

    def score(self) -> Score:
        """The sum of all rows."""
        return self._scores(np.zeros(len(self), dtype=np.int64), ("all",))["all"]

    def by_label(self) -> Mapping[str, Score]:
        """A score for each label."""
        return self._scores(self.label, self.labels)

    def by_document(self) -> Mapping[str, Score]:
        """A score for each document compared."""
        return self._scores(self.document, self.documents)

    def by_field(self, name: str) -> Mapping[str, Score]:
        """A score for each value of a field of the documents."""
        values, group = self.field_values(name)
        return self._scores(group[self.document], values)

    def field_values(self, name: str) -> tuple[tuple[str, ...], Ints]:
        """The values of a field, and the number of each document's among them."""
        checked_option("field", name, self.fields)
        values = tuple(dict.fromkeys(self.fields[name]))
        return values, _renumbering(self.fields[name], values)

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
        both_ways = self._both_ways()
        return both_ways._scores(both_ways.a, self.annotators, sides=("a",))

    def size_by_annotator(self) -> dict[str, float]:
        """How much each annotator marked, in the measure's own unit."""
        mirrored = self._both_ways()
        sizes = mirrored._once(mirrored.a, len(self.annotators), "size", sides=("a",))
        return dict(zip(self.annotators, sizes.tolist(), strict=True))

    def against(self, annotator: str) -> Mapping[str, Score]:
        """A score for each who shares a document with an annotator, who is side a.

        Against a gold standard, precision and recall then are what they are called.
        """
        checked_option("annotator", annotator, self.annotators)
        one = self.annotators.index(annotator)
        others = distinct(self.pairs[::-1][self.pairs == one])[0]
        others = others[others != one]
        both_ways = self._both_ways()
        rows = both_ways._rows(np.flatnonzero(both_ways.a == one))
        names = [self.annotators[other] for other in others.tolist()]
        return rows._scores(np.searchsorted(others, rows.b), names)

    def _both_ways(self) -> Counts:
        """The rows of different annotators, followed by the same with the sides changed."""
        rows = np.flatnonzero(self.a != self.b)
        columns: dict[str, Any] = {
            name: np.concatenate([column[rows], getattr(self, _SIDES.get(name, name))[rows]])
            for name, column in self._columns().items()
        }
        return replace(self, **columns)

    def _rows(self, rows: Ints) -> Counts:
        """Some of the rows."""
        columns: dict[str, Any] = {n: column[rows] for n, column in self._columns().items()}
        return replace(self, **columns)

    def _scores(
        self, group: Ints, names: Sequence[Name], *, sides: Sequence[str] = ("a", "b")
    ) -> Scores[Name]:
        """Sum the rows of each group; `n_spans` counts the spans of these sides."""
        n_groups = len(names)
        columns: dict[str, NDArray[Any]] = {
            name: exact_total(group, column, n_groups)
            for name, column in self._columns().items()
            if name in _SUMS
        }
        has_rows = np.bincount(group, minlength=n_groups) > 0
        for name in ("certain", "certain_a", "certain_b"):
            columns[name] = has_rows & (total(group, ~getattr(self, name), n_groups) == 0)
        if self.error is not None:
            columns["error"] = self._errors(group, n_groups)
        columns["n_documents"] = _distinct(group, self.document, n_groups)
        columns["n_spans"] = self._once(group, n_groups, "spans", sides).astype(np.int64)
        return Scores(names, columns)

    def _errors(self, group: Ints, n_groups: int) -> Floats:
        """Standard error of the sum of each group's estimates.

        Errors of one stream are one and the same error, and add up. Those of different
        streams are independent, and their squares add up.
        """
        if self.error is None or self.stream is None:
            return np.zeros(n_groups)
        order = np.lexsort((self.stream, group))
        group, stream = group[order], self.stream[order]
        begins = np.ones(len(order), dtype=bool)
        begins[1:] = (group[1:] != group[:-1]) | (stream[1:] != stream[:-1])
        added = total(np.cumsum(begins) - 1, self.error[order], int(np.count_nonzero(begins)))
        return np.sqrt(total(group[begins], added**2, n_groups))

    def _has_one_pair(self) -> bool:
        """Whether all rows are of the same two annotators, so that none repeats a span."""
        return bool(
            len(self)
            and self.a[0] != self.b[0]
            and np.all(self.a == self.a[0])
            and np.all(self.b == self.b[0])
        )

    def _once(
        self, group: Ints, n_groups: int, what: str, sides: Sequence[str] = ("a", "b")
    ) -> Floats:
        """Spans or sizes of each group, each counted once however many pairs it is in."""
        n_annotators = max(len(self.annotators), 1)
        cell = (group * max(self.n_texts, 1) + self.text) * max(len(self.labels), 1) + self.label
        code = np.concatenate([cell * n_annotators + getattr(self, side) for side in sides])
        values = np.concatenate([getattr(self, f"{what}_{side}") for side in sides])
        if not self._has_one_pair():
            found, number = distinct(code)
            # Rows that repeat an annotator's spans hold the same value.
            once = np.empty(len(found), dtype=np.int64)
            once[number] = np.arange(len(code))
            code, values = found, values[once]
        width = max(self.n_texts, 1) * max(len(self.labels), 1) * n_annotators
        return total(code // width, values, n_groups)

    def leveled(self, levels: Sequence[Ints], n_levels: int) -> Rows:
        """The rows for resampling, and the levels that each of them is in."""
        from beyondchance.results.intervals import Rows  # noqa: PLC0415 - only for those who ask

        return Rows(
            n_documents=len(self.documents),
            n_levels=n_levels,
            document=self.document,
            levels=levels,
            matched=self.matched,
            expected=self.expected,
            size=self.size_a + self.size_b,
            certain=self.certain,
            a=self.a,
            b=self.b,
        )

    def document_sums(self) -> Floats:
        """Matched, expected, size and rows that are not certain, of each document.

        Returns
        -------
        array of float, shape (documents, 4)
        """
        rows = self.leveled([np.zeros(len(self), dtype=np.int64)], 1)
        return rows.sums(self.document, len(self.documents), range(1))[:, 0]

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
                for name in (*_SUMS[:4], "spans_a", "spans_b", *_SUMS[4:], "error")
                if getattr(self, name) is not None
            },
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary for each row, as any table library takes them."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _renumbering(names: Sequence[str], onto: Sequence[str]) -> Ints:
    """For each name, its number in `onto`."""
    number = {name: index for index, name in enumerate(onto)}
    return np.fromiter((number[name] for name in names), dtype=np.int64, count=len(names))


def _distinct_pairs(pairs: Ints, n_annotators: int) -> Ints:
    """Pairs sorted, each once, the smaller number first."""
    code = pairs.min(axis=0) * n_annotators + pairs.max(axis=0)
    return np.stack(np.divmod(distinct(code)[0], max(n_annotators, 1)))


def _distinct(group: Ints, value: Ints, n_groups: int) -> Ints:
    """How many distinct values each group has."""
    width = int(value.max(initial=0)) + 1
    return np.bincount(distinct(group * width + value)[0] // width, minlength=n_groups)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Observed, chance and corrected agreement, overall and in every breakdown.

    Attributes
    ----------
    counts : Counts
        The table that all scores are summed from.
    settings : Settings
        How it was computed; ``str(settings)`` is the signature to cite.
    skipped : mapping of str to int
        What was left out, and how often.
    notes : tuple of str
        What was chosen and why, for people.
    """

    counts: Counts
    settings: Settings
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def score(self) -> Score:
        """The overall score."""
        return self.counts.score()

    @property
    def observed(self) -> float:
        """Observed agreement (F1)."""
        return self.score.observed

    @property
    def chance(self) -> float:
        """Agreement that random annotations of the same lengths would reach."""
        return self.score.chance

    @property
    def corrected(self) -> float:
        """Agreement beyond chance; nan where it is undefined (see `reason`)."""
        return self.score.corrected

    @property
    def reason(self) -> str | None:
        """Why `corrected` is undefined, where it is."""
        return self.score.reason

    @property
    def n_documents(self) -> int:
        """Documents in which something was marked."""
        return self.score.n_documents

    @property
    def n_spans(self) -> int:
        """Spans that were compared."""
        return self.score.n_spans

    @cached_property
    def by_label(self) -> Mapping[str, Score]:
        """A score for each label."""
        return self.counts.by_label()

    @cached_property
    def by_document(self) -> Mapping[str, Score]:
        """A score for each document that was compared."""
        return self.counts.by_document()

    @cached_property
    def by_pair(self) -> Mapping[tuple[str, str], Score]:
        """A score for each pair of annotators."""
        return self.counts.by_pair()

    @cached_property
    def by_annotator(self) -> Mapping[str, Score]:
        """A score for each annotator against all others."""
        return self.counts.by_annotator()

    def against(self, annotator: str) -> Mapping[str, Score]:
        """A score for each of the others against one annotator, who is side a."""
        return self.counts.against(annotator)

    def by_field(self, name: str) -> Mapping[str, Score]:
        """A score for each value of a field of the documents, such as a round."""
        return self.counts.by_field(name)

    def interval(
        self,
        score: str = "corrected",
        *,
        confidence: float = 0.95,
        resamples: int = 9999,
        method: str = "bca",
        rng: np.random.Generator | int | None = None,
        over: str = "documents",
    ) -> ConfidenceInterval:
        """The confidence interval of the overall score, by the bootstrap.

        Documents are drawn with replacement, each with all its texts, pairs and labels.

        Parameters
        ----------
        score : {"corrected", "observed", "chance"}
        confidence : float
            How sure to be, between 0 and 1.
        resamples : int
            How often to draw: at least 99, and often enough for the tails (199 times for a
            confidence of .99, 1,999 for .999).
        method : {"bca", "percentile", "expanded"}
            ``bca`` corrects percentiles for bias and skewness (Efron 1987). ``expanded``
            also allows for how roughly the spread is known where few documents disagree.
        rng : numpy.random.Generator or int, optional
            The source of randomness, or its seed; the same seed gives the same digits.
        over : {"documents", "annotators", "both"}
            What to draw. Annotators, to speak of others who might have annotated the same
            documents; both, to speak of other annotators of other documents.

        Returns
        -------
        ConfidenceInterval
            With a reason where there is none.

        Examples
        --------
        Two of three sentences agree wholly, so resamples reach from none to all.

        >>> from beyondchance import agreement
        >>> a = [["B-P", "O"], ["B-P", "O"], ["O", "B-P"]]
        >>> b = [["B-P", "O"], ["B-P", "O"], ["B-P", "O"]]
        >>> agreement(a, b).interval("observed", method="percentile", rng=1)
        ConfidenceInterval(low=0.0, high=1.0, reason=None)
        """
        from beyondchance.results import intervals as uncertainty  # noqa: PLC0415 - only for those who ask

        options = uncertainty.checked_resampling(
            self.settings,
            confidence=confidence,
            resamples=resamples,
            method=method,
            rng=rng,
            over=over,
        )
        name = checked_option("score", score, uncertainty.SCORES)
        rows = self.counts.leveled([np.zeros(len(self.counts), dtype=np.int64)], 1)
        (found,) = uncertainty.intervals_of(rows, [name], options, unit=self.resampled_unit)
        return found[name]

    def intervals(
        self,
        *,
        levels: Collection[str] = LEVELS,
        by: Sequence[str] = (),
        confidence: float = 0.95,
        resamples: int = 9999,
        method: str = "bca",
        rng: np.random.Generator | int | None = None,
        over: str = "documents",
    ) -> Intervals:
        """The confidence intervals of all scores: overall, labels, pairs and annotators.

        All come from the same resamples. Over annotators there are none for pairs and
        single annotators.

        Parameters
        ----------
        levels : collection of {"label", "pair", "annotator"}
            What gets intervals beside the overall score; a large team has many pairs.
        by : sequence of str
            Fields of the documents, such as a round, whose values get intervals too, each from
            its own documents.
        confidence, resamples, method, rng, over
            As in `interval`.

        Examples
        --------
        >>> from beyondchance import example, agreement
        >>> found = agreement(example()).intervals(resamples=999, rng=1)
        >>> list(found.overall), list(found.by_label)
        (['observed', 'chance', 'corrected'], ['EVENT', 'PERSON', 'PLACE'])
        >>> found.settings.seed
        1
        """
        from beyondchance.results import intervals as uncertainty  # noqa: PLC0415 - only for those who ask

        options = uncertainty.checked_resampling(
            self.settings,
            confidence=confidence,
            resamples=resamples,
            method=method,
            rng=rng,
            over=over,
        )
        for level in levels:
            checked_option("level", level, LEVELS)
        counts = self.counts
        wanted = uncertainty.Levels()
        wanted.add("all", [""], np.zeros(len(counts), dtype=np.int64))
        if "label" in levels:
            wanted.add("label", counts.labels, counts.label)
        alone = len(counts.annotators) == 2
        if over == "documents" and not alone:
            if "pair" in levels:
                wanted.add("pair", list(self.by_pair), counts.pair_numbers())
            if "annotator" in levels:
                wanted.add("annotator", counts.annotators, counts.a, counts.b)
                for who, name in enumerate(counts.annotators):
                    inside = (counts.a == who) | (counts.b == who)
                    wanted.add("without", [name], np.where(inside, -1, 0))
        rows = counts.leveled(wanted.members, len(wanted))
        found = wanted.named(
            uncertainty.intervals_of(rows, uncertainty.SCORES, options, unit=self.resampled_unit)
        )
        overall = found["all"][""]
        if over == "documents" and alone:
            # Two annotators are one pair, and each agrees with the other as both do.
            if "pair" in levels:
                found["pair"] = dict.fromkeys(self.by_pair, overall)
            if "annotator" in levels:
                found["annotator"] = dict.fromkeys(counts.annotators, overall)
        return uncertainty.Intervals(
            overall=overall,
            by_label=found.get("label", {}),
            by_pair=found.get("pair", {}),
            by_annotator=found.get("annotator", {}),
            without=found.get("without", {}),
            by_field={name: self._field_intervals(name, options) for name in by},
            settings=options.sign(self.settings),
        )

    def _field_intervals(
        self, name: str, options: Resampling
    ) -> dict[str, dict[str, ConfidenceInterval]]:
        """Of each value of a field, whose documents are drawn by themselves."""
        from beyondchance.results import intervals as uncertainty  # noqa: PLC0415 - only for those who ask

        values, number = self.counts.field_values(name)
        found = {}
        for index, value in enumerate(values):
            part = self.counts.of_documents(number == index)
            rows = part.leveled([np.zeros(len(part), dtype=np.int64)], 1)
            (found[value],) = uncertainty.intervals_of(
                rows, uncertainty.SCORES, options, unit=self.resampled_unit
            )
        return found

    @property
    def resampled_unit(self) -> str:
        """What intervals draw: documents, or sentences where nothing larger is known.

        A file that knows only sentences makes each a document of its own.
        """
        counts = self.counts
        n_marked = len(distinct(counts.text)[0])
        alone = n_marked == len(distinct(counts.document)[0])
        return "sentences" if self.settings.unit == "sentence" and alone else "documents"

    def __repr__(self) -> str:
        return (
            f"Agreement(observed={self.observed:.4f}, chance={self.chance:.4f}, "
            f"corrected={self.corrected:.4f}, settings='{self.settings}')"
        )

    def __str__(self) -> str:
        """A table for people: overall, then labels, pairs and annotators."""
        sections: list[tuple[str, Mapping[str, Score]]] = [
            ("", {"all": self.score}),
            ("label", self.by_label),
        ]
        if len(self.counts.annotators) > 2:
            pairs = {" and ".join(pair): score for pair, score in self.by_pair.items()}
            sections += [("pair", pairs), ("annotator, against the others", self.by_annotator)]
        names = [title for title, _ in sections]
        names += [f"  {name}" for _, scores in sections for name in scores]
        width = max(map(len, names))
        lines = [f"{'':{width}}  observed    chance  corrected   spans"]
        for title, scores in sections:
            if title:
                lines += ["", title]
            lines += [_line(f"  {name}", width, score) for name, score in scores.items()]
        lines += [f"skipped: {count} {reason}" for reason, count in self.skipped.items()]
        if self.score.error:
            error = in_digits(self.score.chance_error)
            lines += [f"chance was estimated, with a standard error of {error}"]
        return "\n".join([*lines, "", *self.notes, str(self.settings)])


def _line(name: str, width: int, score: Score) -> str:
    numbers = f"{in_digits(score.observed):>8}  {in_digits(score.chance):>8}  "
    note = f"  ({score.reason})" if score.reason else ""
    return f"{name:{width}}  {numbers}{in_digits(score.corrected):>9}  {score.n_spans:>6}{note}"


@dataclass(frozen=True, eq=False)
class Ranking:
    """Systems against one gold standard, before and after correction.

    Attributes
    ----------
    gold : str
        The gold standard: side a of every score, the system is side b.
    systems : mapping of str to Agreement
        The agreement of each system with it, in the order of the corpus.
    settings : Settings
        How it was computed; ``str(settings)`` is the signature to cite.
    notes : tuple of str
        What was decided on the way, for people.
    """

    gold: str
    systems: Mapping[str, Agreement]
    settings: Settings
    notes: tuple[str, ...] = ()

    def ranks(self, by: str) -> dict[str, int | None]:
        """The rank of each system by ``observed`` or ``corrected``; 1 is the highest.

        Equal scores share a rank, and the next one is skipped. None where the score
        is undefined.
        """
        checked_option("by", by, ("observed", "corrected"))
        scores = {name: getattr(system, by) for name, system in self.systems.items()}
        return {
            name: None if isnan(score) else 1 + sum(other > score for other in scores.values())
            for name, score in scores.items()
        }

    def among(self, texts: Bools) -> Ranking:
        """The ranking by some of the texts, chosen by a truth value for each."""
        systems = {
            name: replace(system, counts=system.counts.only(texts[system.counts.text]))
            for name, system in self.systems.items()
        }
        return replace(self, systems=systems)

    def __repr__(self) -> str:
        return (
            f"Ranking({len(self.systems)} systems, gold={self.gold!r}, settings='{self.settings}')"
        )


@dataclass(frozen=True, eq=False)
class Difficulty:
    """How unlikely luck is: 1 minus the agreement of random annotations.

    Attributes
    ----------
    counts : Counts
        With a gold standard its rows against itself; without one the rows of all
        pairs of annotators, each with itself included.
    settings : Settings
    skipped : mapping of str to int
        What was left out, and how often.
    notes : tuple of str
        What was chosen and why, for people.
    """

    counts: Counts
    settings: Settings
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def overall(self) -> float:
        """Difficulty of the corpus; nan where nothing was marked."""
        return float(self._of(np.zeros(len(self.counts), dtype=np.int64), 1)[0])

    @cached_property
    def error(self) -> float:
        """Standard error of `overall`, where chance was estimated; 0 where it is exact."""
        counts, times = self.counts, self._times()
        size = float((times * (counts.size_a + counts.size_b)).sum())
        if counts.error is None or not size:
            return 0.0 if size else nan
        weighted = replace(counts, error=times * counts.error)
        return 2 * float(weighted._errors(np.zeros(len(counts), dtype=np.int64), 1)[0]) / size

    @cached_property
    def by_document(self) -> dict[str, float]:
        """Difficulty of each document; nan where nothing was marked."""
        values = self._of(self.counts.document, len(self.counts.documents))
        return dict(zip(self.counts.documents, values.tolist(), strict=True))

    @cached_property
    def by_text(self) -> Floats:
        """Difficulty of each text; nan where nothing was marked."""
        return self._of(self.counts.text, self.counts.n_texts)

    @cached_property
    def by_label(self) -> dict[str, float]:
        """Difficulty of each label; nan where nothing was marked."""
        values = self._of(self.counts.label, len(self.counts.labels))
        return dict(zip(self.counts.labels, values.tolist(), strict=True))

    @cached_property
    def by_annotator(self) -> dict[str, float]:
        """Difficulty of what each annotator marked, by chance agreement with itself."""
        own = replace(self, counts=self.counts.only(self.counts.a == self.counts.b))
        values = own._of(own.counts.a, len(own.counts.annotators))
        return dict(zip(own.counts.annotators, values.tolist(), strict=True))

    def interval(
        self,
        *,
        confidence: float = 0.95,
        resamples: int = 9999,
        method: str = "bca",
        rng: np.random.Generator | int | None = None,
    ) -> ConfidenceInterval:
        """The confidence interval of the overall difficulty, by the bootstrap over documents.

        Parameters
        ----------
        confidence, resamples, method, rng
            As in `Agreement.interval`.

        Examples
        --------
        >>> from beyondchance import difficulty
        >>> tags = [["B-P", "O"], ["B-P", "O"], ["B-P", "O", "O", "O"]]
        >>> found = difficulty(tags, tags)
        >>> round(found.overall, 4)
        0.5833
        >>> found.interval(method="percentile", rng=1)
        ConfidenceInterval(low=0.5, high=0.75, reason=None)
        """
        found = self.intervals(confidence=confidence, resamples=resamples, method=method, rng=rng)
        return found.overall["difficulty"]

    def intervals(
        self,
        *,
        confidence: float = 0.95,
        resamples: int = 9999,
        method: str = "bca",
        rng: np.random.Generator | int | None = None,
    ) -> Intervals:
        """The same, of all labels and annotators too; each interval is under ``difficulty``."""
        from beyondchance.results import intervals as uncertainty  # noqa: PLC0415 - only for those who ask

        options = uncertainty.checked_resampling(
            self.settings,
            confidence=confidence,
            resamples=resamples,
            method=method,
            rng=rng,
            over="documents",
        )
        counts, times = self.counts, self._times()
        levels = uncertainty.Levels()
        levels.add("all", [""], np.zeros(len(counts), dtype=np.int64))
        levels.add("label", counts.labels, counts.label)
        levels.add("annotator", counts.annotators, np.where(counts.a == counts.b, counts.a, -1))
        rows = counts.leveled(levels.members, len(levels))
        rows = replace(rows, expected=times * rows.expected, size=times * rows.size)
        unit = Agreement(counts, self.settings).resampled_unit
        found = levels.named(uncertainty.intervals_of(rows, ["difficulty"], options, unit=unit))
        return uncertainty.Intervals(
            overall=found["all"][""],
            by_label=found.get("label", {}),
            by_annotator=found.get("annotator", {}),
            settings=options.sign(self.settings),
        )

    def _times(self) -> Ints:
        """Over all ordered pairs, two annotators count twice, one with itself once."""
        return np.where(self.counts.a == self.counts.b, 1, 2)

    def _of(self, group: Ints, n_groups: int) -> Floats:
        """Difficulty of each group of rows."""
        counts, times = self.counts, self._times()
        expected = exact_total(group, times * counts.expected, n_groups)
        size = total(group, times * (counts.size_a + counts.size_b), n_groups)
        with np.errstate(invalid="ignore"):
            return 1 - 2 * expected / size

    def __repr__(self) -> str:
        return f"Difficulty(overall={self.overall:.4f}, settings='{self.settings}')"
