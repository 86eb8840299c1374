"""What a diagnosis holds: causes of the loss, patterns, and merges of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from math import nan
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus, Span
from beyondchance.checks import checked_option
from beyondchance.diagnosis.details import Detail
from beyondchance.diagnosis.deviations import ALONE, KINDS, MISSED, Deviations
from beyondchance.diagnosis.loss import Losses
from beyondchance.diagnosis.periods import Periods
from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.results.agreement import Agreement
from beyondchance.results.intervals import ConfidenceInterval
from beyondchance.results.printed import Named, Printed
from beyondchance.results.resampling import resampling_of
from beyondchance.scoring.marks import ANY
from beyondchance.settings import Settings
from beyondchance.types import Ints

TAKES_IN, DIVIDES = "takes in", "divides"
"""Kinds of patterns that join several kinds of deviations with one root."""
PATTERN_KINDS = (TAKES_IN, DIVIDES, *KINDS)
HABIT = 0.05
"""The adjusted p-value up to which a pattern is called a habit."""
_FEW = 6
"""Disagreements of all annotators below which it cannot be told whose habit a pattern is."""
N_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One disagreement of a pattern, in its text.

    Attributes
    ----------
    document : str
    text : int
        The number of the text in its document, from 0 on.
    who : str
        The annotator who differs.
    own, theirs : Span, optional
        What the annotator marked and what others did, in positions of the text. None where nothing
        was marked.
    content : str, optional
        The characters of the text, where they are known.
    own_characters, their_characters : tuple of (int, int), optional
        The same spans in characters.
    """

    document: str
    text: int
    who: str
    own: Span | None
    theirs: Span | None
    content: str | None = None
    own_characters: tuple[int, int] | None = None
    their_characters: tuple[int, int] | None = None

    def __str__(self) -> str:
        """Return the text with [ ] around one's own span and { } around what others marked."""
        return str(import_module(_ROOM).shown_example(self))


_ROOM = "beyondchance.reporting.commands.diagnose"
"""What says patterns in words; above this, and loaded when they are said."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pattern:
    """Disagreements of one kind, and what agreement would be without them.

    A habit is a pattern of one annotator. What is a habit of none is one pattern of all who do it.

    Attributes
    ----------
    times : mapping of str to int
        How often each annotator who differs from the others does.
    others : tuple of str
        All other annotators, or the gold standard.
    is_error : bool
        Whether the other one is a gold standard, which is right.
    label : str
        Of the annotator's spans; of those that were missed.
    kind : str
        ``starts earlier``, ``starts later``, ``ends earlier``, ``ends later``, ``marked alone``,
        ``missed`` or ``other label``. Two kinds join several of these, because they have one
        root: ``takes in``, if spans of the label cover what others mark as something else, and
        ``divides``, if the annotator marks a part of them as something else.
    about : Detail
        What it is about: a label, a word or a text.
    other_way : int
        How often all others together did the same, in the same documents.
    others_each : float
        How often one of them did, on average.
    before, after : float
        The corrected score as it is, and without these disagreements.
    together : float
        The same without these and all patterns that are listed before, of the same system if
        there are several; nan for late ones.
    p_values : mapping of str to float
        Of each annotator in `times`, by exchanging the names of annotators within documents.
    adjusted : float
        The smallest of them, adjusted for their number over all patterns.
    parts : mapping of (str, str) to int
        How often which annotator deviates in which way.
    """

    times: Mapping[str, int]
    others: tuple[str, ...]
    is_error: bool = False
    label: str
    kind: str
    about: Detail
    other_way: int
    others_each: float
    before: float
    after: float
    together: float = nan
    p_values: Mapping[str, float]
    adjusted: float
    parts: Mapping[tuple[str, str], int]
    _corpus: Corpus = field(repr=False)
    _found: Deviations = field(repr=False)
    _whose: Ints = field(repr=False)
    _there: Ints = field(repr=False)

    def __repr__(self) -> str:
        return f"Pattern({self.sentence!r})"

    @property
    def who(self) -> str:
        """The annotator who differs from the others, or several, joined by "or"."""
        return " or ".join(self.times)

    @property
    def count(self) -> int:
        """How often it occurs."""
        return sum(self.times.values())

    @property
    def p(self) -> float:
        """The p-value; of several annotators, the smallest."""
        return min(self.p_values.values())

    @property
    def gain(self) -> float:
        """What the corrected score would rise by."""
        return self.after - self.before

    @property
    def is_labelled(self) -> bool:
        """Whether labels count."""
        return self.label != ANY

    @property
    def is_habit(self) -> bool:
        """Whether it is a habit of the annotator."""
        return self.adjusted <= HABIT

    @property
    def is_open(self) -> bool:
        """Whether there are too few disagreements, or documents, to tell whose habit it is."""
        is_single = len(self.times) == 1 and not self.other_way
        return not self.is_habit and (is_single or self.count + self.other_way < _FEW)

    @property
    def detail(self) -> str:
        """What it is about, in a few words; empty where there is nothing to say."""
        return self.about.name or self.about.about

    @property
    def sentence(self) -> str:
        """The pattern in words, with its numbers."""
        return str(import_module(_ROOM).pattern_sentence(self))

    @property
    def advice(self) -> str:
        """Whether it is a habit or the guideline is unclear, in words."""
        return str(import_module(_ROOM).pattern_advice(self))

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """Up to three disagreements, from different documents if possible.

        Of patterns with one root, ``own`` is the span of the annotator that covers, or the part
        that the annotator marks, and ``theirs`` what others mark there.
        """
        own, theirs = self._sides
        found = self._found
        _, place = np.unique(
            np.stack([found.text, np.maximum(own, theirs)]), axis=1, return_index=True
        )
        document = found.document[place]
        _, first = np.unique(document, return_index=True)
        rest = np.setdiff1d(np.arange(len(place)), first)
        chosen = place[np.r_[np.sort(first), rest][:N_EXAMPLES]]
        shown = replace(found, who=self._whose, span=own, theirs=theirs)[chosen]
        return tuple(_examples(self._corpus, shown))

    @property
    def n_places(self) -> int:
        """In how many places it occurs: a span that covers two of another label is one of them."""
        if self.kind not in {TAKES_IN, DIVIDES}:
            return self.count
        outer = self._sides[0 if self.kind == TAKES_IN else 1]
        return len(np.unique(np.stack([self._found.text, outer]), axis=1).T)

    @property
    def _sides(self) -> tuple[Ints, Ints]:
        """What the annotator and what others marked in each row, by the number of the span."""
        found, there = self._found, self._there
        if self.kind not in {TAKES_IN, DIVIDES}:
            return found.span, found.theirs
        is_alone, is_missed = found.kind == ALONE, found.kind == MISSED
        if self.kind == TAKES_IN:
            # The covering span, of the annotator; and what it takes in.
            own = np.where(is_alone | is_missed, there, found.span)
            return own, np.select([is_alone, is_missed], [found.span, found.theirs], there)
        # The part, of the annotator; and the span that others have around it.
        return np.where(is_alone, found.span, there), np.where(is_alone, there, found.theirs)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every disagreement, as a dictionary: where, what was marked, and what others marked."""
        corpus, found = self._corpus, self._found
        kinds = [KINDS[kind] for kind in found.kind.tolist()]
        rows = []
        for number, (kind, example) in enumerate(zip(kinds, _examples(corpus, found), strict=True)):
            row: dict[str, Any] = {
                "document": example.document,
                "text": example.text,
                "who": example.who,
                "deviation": kind,
            }
            theirs = example.theirs
            if kind == KINDS[MISSED]:
                # As most of the others have it, who may differ from one another.
                label = corpus.labels[found.to_label[number]]
                theirs = Span(int(found.start[number]), int(found.end[number]), label)
            for side, span in (("", example.own), ("_others", theirs)):
                start, end, label = (None, None, None) if span is None else span
                row |= {f"start{side}": start, f"end{side}": end, f"label{side}": label}
            rows.append({**row, "in_text": str(example) if example.content is not None else None})
        return rows

    @property
    def places(self) -> list[tuple[str, int]]:
        """The document and the text of each disagreement."""
        corpus, text = self._corpus, self._found.text
        number = corpus.number_in_document(text)
        names = (corpus.documents[i] for i in self._found.document.tolist())
        return list(zip(names, number.tolist(), strict=True))


def _examples(corpus: Corpus, found: Deviations) -> Iterator[Example]:
    """Put the rows of a table of deviations into their texts."""
    texts = corpus.texts if corpus.knows_characters else None
    numbers = corpus.number_in_document(found.text)
    columns = (numbers, found.document, found.who, found.text, found.span, found.theirs)
    for number, document, who, text, *spans in zip(*(x.tolist() for x in columns), strict=True):
        (own, own_characters), (theirs, their_characters) = (
            _side(corpus, text, span) for span in spans
        )
        yield Example(
            document=corpus.documents[document],
            text=number,
            who=corpus.annotators[who],
            own=own,
            theirs=theirs,
            content=None if texts is None else texts[text],
            own_characters=own_characters,
            their_characters=their_characters,
        )


def _side(corpus: Corpus, text: int, number: int) -> tuple[Span | None, tuple[int, int] | None]:
    """Return a span and its characters, where there is one and these are known."""
    span = None if number < 0 else corpus.span(number)
    if span is None or not corpus.knows_characters:
        return span, None
    low, high = corpus.characters(*map(np.array, (text, span.start, span.end)))
    return span, (int(low), int(high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Two labels as one, and what agreement would be.

    Attributes
    ----------
    labels : tuple of (str, str)
    before, after : float
        The corrected score with two labels, and with one.
    """

    labels: tuple[str, str]
    before: float
    after: float

    @property
    def gain(self) -> float:
        """What the corrected score would rise by."""
        return self.after - self.before


@dataclass(frozen=True, eq=False, kw_only=True)
class Diagnosis(Printed):
    """Where agreement is lost, and what mending it would bring.

    Attributes
    ----------
    agreement : Agreement
        What is diagnosed.
    corpus : Corpus
    patterns : tuple of Pattern
        The most costly first; last those that are too few to tell whose habit they are.
    notes : tuple of Note
    periods : Periods, optional
        Agreement over time, if it was asked for.
    """

    agreement: Agreement
    corpus: Corpus
    patterns: tuple[Pattern, ...]
    notes: tuple[Note, ...] = ()
    periods: Periods | None = None
    _losses: Losses | None = field(default=None, repr=False)
    _make_merges: Callable[[], Sequence[Merge]] = field(default=tuple, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: merges, but not what computes them."""
        return {**self.__dict__, "merges": self.merges, "_make_merges": tuple}

    def __repr__(self) -> str:
        corrected = in_digits(self.agreement.corrected)
        return f"Diagnosis(corrected={corrected}, {len(self.patterns):,} patterns)"

    @property
    def settings(self) -> Settings:
        """How it was computed."""
        return self.agreement.settings

    @property
    def corrected(self) -> float:
        """The corrected score."""
        return self.agreement.corrected

    @property
    def gold(self) -> str | None:
        """The gold standard that systems were compared with, if there is one."""
        return self.agreement.gold

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        """Labels that are confused, by what one label for both would bring."""
        return tuple(self._make_merges())

    @cached_property
    def loss(self) -> Mapping[str, float]:
        """What is short of full agreement, by cause; adds up to 1 - corrected.

        One of two annotators marks ``more overall``, ``more in some texts``, within a text ``more
        of some labels`` (at the same place or not), ``other lengths`` (measure ``exact``),
        or as much ``elsewhere in the text``. Empty for measures whose match the sizes do not limit
        (``dice`` and one's own).
        """
        return self._by("all", Losses.shares)[""]

    @cached_property
    def loss_by_label(self) -> Mapping[str, Mapping[str, float]]:
        """The same of each label; adds up to 1 minus its corrected score."""
        return self._by("label", Losses.shares)

    @cached_property
    def loss_by_pair(self) -> Mapping[tuple[str, str], Mapping[str, float]]:
        """The same of each pair of annotators."""
        return self._by("pair", Losses.shares)

    def loss_intervals(
        self, by: str = "all", *, confidence: float = 0.95
    ) -> Mapping[Any, Mapping[str, ConfidenceInterval]]:
        """Compute confidence intervals of causes, for other documents of this kind.

        By the method ``expanded``, from leaving out each document (see `Agreement.interval`).

        Parameters
        ----------
        by : {"all", "label", "pair"}
            Of all, under the name ``""``; or of each label or pair.
        confidence : float
        """
        options = resampling_of(self.settings, {"confidence": confidence})
        checked_option("by", by, ("all", "label", "pair"))
        unit = f"{self.agreement.extent.noun}s"
        return self._by(by, partial(Losses.intervals, options=options, unit=unit))

    def _by(self, by: str, of: Callable[..., Sequence[Any]]) -> Mapping[Any, Mapping[str, Any]]:
        """Compute something of losses of each group of rows, by the name of the group."""
        counts = self.agreement.counts
        names: Sequence[Any] = [""]
        group = np.zeros(len(counts), dtype=np.int64)
        if by == "label":
            names, group = counts.labels, counts.label
        elif by == "pair":
            names, group = list(counts.by_pair()), counts.pair
        known = self._losses
        found = [{}] * len(names) if known is None else of(known, group, len(names))
        return Named(zip(names, found, strict=True))

    @cached_property
    def by_label_and_kind(self) -> Mapping[str, Mapping[str, int]]:
        """How many disagreements each label has of each kind of pattern."""
        found: dict[str, Counter[str]] = {}
        for pattern in self.patterns:
            found.setdefault(pattern.label, Counter())[pattern.kind] += pattern.count
        return found
