"""Counts that add, and the scores that follow from them.

A row of Counts holds what one pair of annotators did with one label in one text.
Every score, at every level, is a sum of rows followed by one division. Rates are
never stored and never averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.arrays import Bools, Floats, Ints
from beyondchance.core.ragged import distinct, exact_total, total
from beyondchance.errors import DataError, checked_option
from beyondchance.rounding import in_digits
from beyondchance.settings import Settings

_SIDES = (("a", "b"), ("size_a", "size_b"), ("spans_a", "spans_b"))

NOTHING_MARKED = "nothing was marked by either"
NO_ROOM = "random annotations would agree wholly: chance is 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A sum of rows of Counts, and what follows from it.

    Attributes
    ----------
    matched, expected : float
        Observed match, and the match expected of random annotations.
    size_a, size_b : float
        How much each side marked, in the measure's own unit.
    certain : bool
        Whether random annotations could not help agreeing wholly.
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
    n_documents: int = 0
    n_spans: int = 0

    @property
    def observed(self) -> float:
        """F1 of the two sides; nan where neither marked anything."""
        size = self.size_a + self.size_b
        return 2 * self.matched / size if size else nan

    @property
    def chance(self) -> float:
        """F1 that random annotations of the same lengths would reach."""
        size = self.size_a + self.size_b
        return 2 * self.expected / size if size else nan

    @property
    def corrected(self) -> float:
        """Share of the agreement beyond chance that was attained; nan if chance is 1."""
        if self.reason is not None:
            return nan
        return (self.matched - self.expected) / ((self.size_a + self.size_b) / 2 - self.expected)

    @property
    def precision(self) -> float:
        """Share of what side b marked that matches side a."""
        return self.matched / self.size_b if self.size_b else nan

    @property
    def recall(self) -> float:
        """Share of what side a marked that is matched by side b."""
        return self.matched / self.size_a if self.size_a else nan

    @property
    def reason(self) -> str | None:
        """Why `corrected` is undefined, where it is."""
        if not self.size_a + self.size_b:
            return NOTHING_MARKED
        return NO_ROOM if self.certain else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None where undefined, with the reason."""
        result: dict[str, Any] = {
            name: None if isnan(value) else value
            for name, value in (
                ("observed", self.observed),
                ("chance", self.chance),
                ("corrected", self.corrected),
            )
        }
        if self.reason is not None:
            result["reason"] = self.reason
        result["counts"] = {
            "matched": self.matched,
            "expected": self.expected,
            "size_a": self.size_a,
            "size_b": self.size_b,
        }
        result["n_documents"] = self.n_documents
        result["n_spans"] = self.n_spans
        return result


@dataclass(frozen=True, eq=False, kw_only=True)
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
    document, text, label, a, b : arrays of int, shape (rows,)
        Numbers into the above; ``a <= b``, equal only in tables of difficulty.
    matched, expected, size_a, size_b : arrays of float, shape (rows,)
    spans_a, spans_b : arrays of int, shape (rows,)
        How many spans each annotator marked.
    certain : array of bool, shape (rows,)
        Whether random annotations could not help agreeing wholly.
    """

    documents: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_texts: int
    labels: tuple[str, ...]
    annotators: tuple[str, ...]
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

    def __len__(self) -> int:
        return len(self.document)

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
            **columns,
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the table."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    def _renamed(
        self, labels: tuple[str, ...], annotators: tuple[str, ...]
    ) -> dict[str, NDArray[Any]]:
        """The columns with other numbers for labels and annotators, ``a <= b`` again."""
        columns = self._columns()
        columns["label"] = _renumbering(self.labels, labels)[self.label]
        number = _renumbering(self.annotators, annotators)
        columns["a"], columns["b"] = number[self.a], number[self.b]
        swap = columns["a"] > columns["b"]
        for one, two in _SIDES:
            columns[one], columns[two] = (
                np.where(swap, columns[two], columns[one]),
                np.where(swap, columns[one], columns[two]),
            )
        return columns

    def only(self, keep: Bools) -> Counts:
        """The table with some of its rows; documents and names stay."""
        rows = np.flatnonzero(keep)
        return replace(self, **{name: column[rows] for name, column in self._columns().items()})  # type: ignore[arg-type]

    def without(self, annotator: str) -> Counts:
        """The table without the rows of one annotator."""
        number = self.annotators.index(checked_option("annotator", annotator, self.annotators))
        return self.only((self.a != number) & (self.b != number))

    def ordered(self, annotators: tuple[str, ...]) -> Counts:
        """The same table with the annotators in another order, so with other sides a and b."""
        return replace(self, annotators=annotators, **self._renamed(self.labels, annotators))  # type: ignore[arg-type]

    def score(self) -> Score:
        """The sum of all rows."""
        (score,) = self._scores(np.zeros(len(self), dtype=np.int64), 1)
        return score

    def by_label(self) -> dict[str, Score]:
        """A score for each label."""
        return dict(zip(self.labels, self._scores(self.label, len(self.labels)), strict=True))

    def by_document(self) -> dict[str, Score]:
        """A score for each document compared."""
        scores = self._scores(self.document, len(self.documents))
        return dict(zip(self.documents, scores, strict=True))

    def by_field(self, name: str) -> dict[str, Score]:
        """A score for each value of a field of the documents."""
        checked_option("field", name, self.fields)
        values = tuple(dict.fromkeys(self.fields[name]))
        group = _renumbering(self.fields[name], values)
        return dict(zip(values, self._scores(group[self.document], len(values)), strict=True))

    def by_pair(self) -> dict[tuple[str, str], Score]:
        """A score for each pair of annotators with a row."""
        code = self.a * len(self.annotators) + self.b
        pairs, group = distinct(code)
        names = [
            (
                self.annotators[pair // len(self.annotators)],
                self.annotators[pair % len(self.annotators)],
            )
            for pair in pairs.tolist()
        ]
        return dict(zip(names, self._scores(group, len(names)), strict=True))

    def by_annotator(self) -> dict[str, Score]:
        """A score for each annotator, as side a, against all others.

        `n_spans` counts the annotator's own spans.
        """
        mirrored = self._both_ways()
        scores = mirrored._scores(mirrored.a, len(self.annotators))
        own = mirrored._once(mirrored.a, len(self.annotators), "spans", sides=("a",)).tolist()
        return {
            name: replace(score, n_spans=int(n_spans))
            for name, score, n_spans in zip(self.annotators, scores, own, strict=True)
        }

    def size_by_annotator(self) -> dict[str, float]:
        """How much each annotator marked, in the measure's own unit."""
        mirrored = self._both_ways()
        sizes = mirrored._once(mirrored.a, len(self.annotators), "size", sides=("a",))
        return dict(zip(self.annotators, sizes.tolist(), strict=True))

    def _both_ways(self) -> Counts:
        """The table with each row of two annotators once more, its sides exchanged."""
        rows = np.flatnonzero(self.a != self.b)
        mirror = {**dict(_SIDES), **{two: one for one, two in _SIDES}}
        columns: dict[str, Any] = {
            name: np.concatenate([column[rows], getattr(self, mirror.get(name, name))[rows]])
            for name, column in self._columns().items()
        }
        return replace(self, **columns)

    def _scores(self, group: Ints, n_groups: int) -> list[Score]:
        """Sum the rows of each group."""
        certain = total(group, ~self.certain, n_groups) == 0
        columns = (
            total(group, self.matched, n_groups),
            exact_total(group, self.expected, n_groups),
            total(group, self.size_a, n_groups),
            total(group, self.size_b, n_groups),
            certain & (np.bincount(group, minlength=n_groups) > 0),
            _distinct(group, self.document, n_groups),
            self._once(group, n_groups, "spans").astype(np.int64),
        )
        return [
            Score(
                matched=matched,
                expected=expected,
                size_a=size_a,
                size_b=size_b,
                certain=is_certain,
                n_documents=n_documents,
                n_spans=n_spans,
            )
            for matched, expected, size_a, size_b, is_certain, n_documents, n_spans in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]

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
                for name in ("matched", "expected", "size_a", "size_b", "spans_a", "spans_b")
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
    """

    counts: Counts
    settings: Settings
    skipped: Mapping[str, int] = field(default_factory=dict)

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
    def by_label(self) -> dict[str, Score]:
        """A score for each label."""
        return self.counts.by_label()

    @cached_property
    def by_document(self) -> dict[str, Score]:
        """A score for each document that was compared."""
        return self.counts.by_document()

    @cached_property
    def by_pair(self) -> dict[tuple[str, str], Score]:
        """A score for each pair of annotators."""
        return self.counts.by_pair()

    @cached_property
    def by_annotator(self) -> dict[str, Score]:
        """A score for each annotator against all others."""
        return self.counts.by_annotator()

    def by_field(self, name: str) -> dict[str, Score]:
        """A score for each value of a field of the documents, such as a round."""
        return self.counts.by_field(name)

    def __repr__(self) -> str:
        return (
            f"Agreement(observed={self.observed:.4f}, chance={self.chance:.4f}, "
            f"corrected={self.corrected:.4f}, settings='{self.settings}')"
        )

    def __str__(self) -> str:
        """A table for people: overall, then labels, pairs and annotators."""
        sections = [("", {"all": self.score}), ("label", self.by_label)]
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
        return "\n".join([*lines, "", str(self.settings)])


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
    """

    gold: str
    systems: Mapping[str, Agreement]
    settings: Settings

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
    """

    counts: Counts
    settings: Settings
    skipped: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def overall(self) -> float:
        """Difficulty of the corpus; nan where nothing was marked."""
        return float(self._of(np.zeros(len(self.counts), dtype=np.int64), 1)[0])

    @cached_property
    def by_document(self) -> dict[str, float]:
        """Difficulty of each document; nan where nothing was marked."""
        values = self._of(self.counts.document, len(self.counts.documents))
        return dict(zip(self.counts.documents, values.tolist(), strict=True))

    @cached_property
    def by_text(self) -> Floats:
        """Difficulty of each text; nan where nothing was marked."""
        return self._of(self.counts.text, self.counts.n_texts)

    def _of(self, group: Ints, n_groups: int) -> Floats:
        """Over all ordered pairs: two annotators count twice, one with itself once."""
        counts = self.counts
        times = np.where(counts.a == counts.b, 1, 2)
        expected = exact_total(group, times * counts.expected, n_groups)
        size = total(group, times * (counts.size_a + counts.size_b), n_groups)
        with np.errstate(invalid="ignore"):
            return 1 - 2 * expected / size

    def __repr__(self) -> str:
        return f"Difficulty(overall={self.overall:.4f}, settings='{self.settings}')"
