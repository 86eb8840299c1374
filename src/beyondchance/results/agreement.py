"""Agreement, overall and in every breakdown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import nan
from typing import Any, Unpack

import numpy as np

from beyondchance.checks import checked_option
from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.options import ResamplingOptions, documented
from beyondchance.results.averages import AVERAGES, MacroAverage
from beyondchance.results.counts import Counts, Name, Scores, in_order
from beyondchance.results.intervals import (
    ConfidenceInterval,
    Counted,
    Intervals,
    intervals_of,
    intervals_of_few,
)
from beyondchance.results.printed import Measured, Named, Printed
from beyondchance.results.resampling import (
    SCORES,
    SUMS_AT_A_TIME,
    Levels,
    Resampling,
    resampling_of,
)
from beyondchance.results.score import PART, Rate, Rates, Score
from beyondchance.settings import Settings

LEVELS = ("label", "pair", "annotator")
"""What scores are broken down by."""


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Rates, Measured, Counted):
    """Observed, chance and corrected agreement, overall and in every breakdown.

    Attributes
    ----------
    counts : Counts
        The table that all scores are summed from.
    settings : Settings
        How it was computed; ``str(settings)`` is the signature to cite.
    skipped : mapping of str to int
        What was left out, and how often.
    notes : tuple of Note
        What was chosen and why.
    sources : frozenset of str
        Paths and SHA-256 of the files that were read, which `report` does not replace.
    """

    counts: Counts
    settings: Settings
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    sources: frozenset[str] = field(default=frozenset(), repr=False)

    @cached_property
    def score(self) -> Score:
        """The overall score."""
        return self.counts.score()

    def rate(self, name: str = "f1") -> Rate:
        """Return F1, precision or recall of the overall score."""
        return self.score.rate(name)

    @property
    def gold(self) -> str | None:
        """The gold standard that all others were compared with, as side a; None if none was."""
        counts = self.counts
        if self.settings.gold not in counts.annotators:
            return None
        gold = counts.annotators.index(self.settings.gold)
        return self.settings.gold if bool((counts.pairs[0] == gold).all()) else None

    @cached_property
    def support(self) -> Mapping[str, int] | None:
        """Spans of the gold standard by label, each counted once; None if there is none."""
        return None if self.gold is None else self.counts.spans_by_label(self.gold)

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
        return self._knowing("label", self.counts.by_label())

    @cached_property
    def by_document(self) -> Mapping[str, Score]:
        """A score for each document that was compared."""
        return self._knowing("document", self.counts.by_document())

    @cached_property
    def contested(self) -> Mapping[str, Score]:
        """The documents with the lowest corrected scores, the lowest first.

        Documents without marks are not among them; of many documents, 100 are kept.
        """
        known = self.by_document if self.counts.is_by_document else {}
        found = self.counts.outstanding()
        return Named((name, known.get(name, score)) for *_, name, score in found)

    @cached_property
    def by_pair(self) -> Mapping[tuple[str, str], Score]:
        """A score for each pair of annotators."""
        return self._knowing("pair", self.counts.by_pair())

    @cached_property
    def by_annotator(self) -> Mapping[str, Score]:
        """A score for each annotator against all others."""
        return self._knowing("annotator", self.counts.by_annotator())

    @cached_property
    def without(self) -> Mapping[str, Score]:
        """A score for the team without each of the annotators."""
        return self.counts.without_each()

    def against(self, annotator: str) -> Mapping[str, Score]:
        """Compute a score for each of the others against one annotator, who is side a."""
        return self.counts.against(annotator)

    def by_field(self, name: str) -> Mapping[str, Score]:
        """Compute a score for each value of a field of the documents, such as a round."""
        return self._knowing("field", self.counts.by_field(name), name)

    def macro(self, by: str) -> MacroAverage:
        """Average the scores of all labels, or of all documents.

        In the overall score, frequent labels and long documents count more; here all count the
        same. Scores that are undefined are left out.

        Parameters
        ----------
        by : {"label", "document"}

        Returns
        -------
        MacroAverage
            With intervals, and how many were left out and why.

        Examples
        --------
        Both mark the same two P, and L in different places.

        >>> from beyondchance import agreement
        >>> a = [["B-P", "O", "B-P", "O", "O", "B-L"]]
        >>> b = [["B-P", "O", "B-P", "O", "B-L", "O"]]
        >>> result = agreement(a, b)
        >>> round(result.observed, 4), result.macro("label").observed
        (0.6667, 0.5)
        """
        checked_option("by", by, AVERAGES)
        weighted = "" if self.settings.average == "micro" else f"-{self.settings.average}"
        settings = self.settings.replaced(average=f"macro-{by}{weighted}")
        return MacroAverage(self.counts, by, settings)

    @documented(ResamplingOptions)
    def interval(
        self, score: str = "corrected", **resampling: Unpack[ResamplingOptions]
    ) -> ConfidenceInterval:
        """Compute the confidence interval of the overall score, for other documents of this kind.

        A document counts as one, with all its texts, pairs and labels.

        Parameters
        ----------
        score : {"corrected", "observed", "chance"}
        {options}

        Returns
        -------
        ConfidenceInterval
            With a reason where there is none.

        Notes
        -----
        The method ``expanded`` takes Student's distribution on the scale of log odds, with
        the standard error of the jackknife and with fewer degrees of freedom, the fewer
        documents carry the score and the more unlike they are. It draws nothing, so that
        `resamples` and `seed` do not matter. ``percentile`` and ``bca`` (which corrects
        percentiles for bias and skewness; Efron 1987) draw documents with replacement; the
        same seed gives the same digits. Resamples must be enough for the tails: 199 for a
        confidence of .99, 1,999 for .999. Over annotators, to generalise to others who
        might have annotated the same documents; over both, to other annotators of other
        documents.

        Examples
        --------
        Two of three sentences agree completely.

        >>> from beyondchance import agreement
        >>> a = [["B-P", "O"], ["B-P", "O"], ["O", "B-P"]]
        >>> b = [["B-P", "O"], ["B-P", "O"], ["B-P", "O"]]
        >>> found = agreement(a, b).interval("observed")
        >>> round(found.low, 4), round(found.high, 4)
        (0.0031, 0.9992)

        Resamples range from none that agree to all.

        >>> agreement(a, b).interval("observed", method="percentile", seed=1)
        ConfidenceInterval(0.0000 to 1.0000)
        """
        name = checked_option("score", score, SCORES)
        return self.intervals(levels=(), **resampling).overall[name]

    @documented(ResamplingOptions)
    def intervals(
        self,
        *,
        levels: Collection[str] | Mapping[str, Collection[Any] | None] = LEVELS,
        by: Sequence[str] = (),
        **resampling: Unpack[ResamplingOptions],
    ) -> Intervals:
        """Compute the confidence intervals of all scores: overall, labels, pairs and annotators.

        All come from the same resamples, where these are drawn. Over annotators there are
        none for pairs and single annotators.

        Parameters
        ----------
        levels : collection of {"label", "pair", "annotator"}, or mapping of these to names
            What gets intervals besides the overall score. Of a large team, which has many pairs,
            name those that are wanted; None is all.
        by : sequence of str
            Fields of the documents, such as a round, whose values get intervals too, each from
            its own documents.
        {options}

        Examples
        --------
        >>> from beyondchance import example, agreement
        >>> found = agreement(example()).intervals()
        >>> list(found.overall), list(found.by_label)
        (['observed', 'chance', 'corrected'], ['EVENT', 'PERSON', 'PLACE'])
        >>> found.settings.interval_method
        'expanded'
        """
        options = resampling_of(self.settings, resampling)
        chosen = levels if isinstance(levels, Mapping) else dict.fromkeys(levels)
        for level, names in chosen.items():
            checked_option("level", level, LEVELS)
            for name in names or ():
                getattr(self, f"by_{level}")[name]  # refused if there is none
        counts, unit = self.drawn, self.resampled_unit
        is_team = options.over == "documents" and len(counts.annotators) != 2
        wanted, few = self._levels(chosen, options, is_team=is_team)
        rows = counts.leveled(wanted)
        found: dict[str, Any] = wanted.named(intervals_of(rows, SCORES, options, unit=unit))
        if few is not wanted:
            rows = rows._replace(levels=few)
            found = few.named(intervals_of_few(rows, SCORES, options, unit=unit)) | found
        if options.over == "documents" and not is_team:
            # Two annotators are one pair, and each agrees with the other as both do.
            names_of = {"pair": counts.pair_names, "annotator": counts.annotators}
            for level in chosen.keys() & names_of:
                found[f"by_{level}"] = dict.fromkeys(names_of[level], found["overall"][""])
        found["by_field"] = {name: self._field_intervals(name, options) for name in by}
        return self.signed(found, options)

    def _levels(
        self, chosen: Mapping[str, Collection[Any] | None], options: Resampling, *, is_team: bool
    ) -> tuple[Levels, Levels]:
        """Number the levels that get intervals; those of few documents apart, if there are many."""
        counts, pairs = self.drawn, self.drawn.pair_names
        wanted = few = Levels(len(counts))
        if "label" in chosen:
            wanted.add("by_label", counts.labels, counts.label, only=chosen["label"])
        n_sums = (len(pairs) + len(counts.annotators)) * len(counts.unit_names)
        if is_team and n_sums > SUMS_AT_A_TIME and not options.draws:
            few = Levels(len(counts))
        if is_team and "pair" in chosen:
            few.add("by_pair", pairs, counts.pair, only=chosen["pair"])
        if is_team and "annotator" in chosen:
            sides, only = (counts.a, counts.b), chosen["annotator"]
            few.add("by_annotator", counts.annotators, *sides, only=only)
            wanted.add("without", counts.annotators, *sides, only=only, are_complements=True)
        return wanted, few

    def _knowing(self, level: str, scores: Mapping[Name, Score], *of: str) -> Mapping[Name, Score]:
        """Let scores of a level know their intervals."""
        if not isinstance(scores, Scores):
            return scores
        # Without what is cached here: a result that its own scores lead back to is freed late.
        ask = partial(Agreement(self.counts, self.settings)._asked, level, *of)
        return Scores(scores.names, scores.columns, scores.of, ask)

    def _asked(self, level: str, *of: Any, **resampling: Any) -> Mapping[str, ConfidenceInterval]:
        """Compute the intervals of one score, whose name comes last."""
        over: Any = {} if level in {"label", "document"} else {"over": "documents"}
        options = resampling_of(self.settings, resampling, **over)
        if level == "field":
            return self._field_intervals(of[0], options)[of[1]]
        if level == "document":
            counts = self.counts.each_document()
            part = replace(self, counts=counts.of_documents(np.isin(counts.documents, of)))
            return part.intervals(levels=(), **resampling).overall
        found = self.intervals(levels={level: of}, **resampling)
        known: Mapping[Any, Mapping[str, ConfidenceInterval]] = getattr(found, f"by_{level}")
        return known[of[0]]

    def _field_intervals(
        self, name: str, options: Resampling
    ) -> dict[str, dict[str, ConfidenceInterval]]:
        """Compute the intervals of each value of a field, each from its own documents."""
        rows = self.drawn.field_rows(name)
        if self.counts.is_corpus_wide:
            none = ConfidenceInterval(nan, nan, why=PART, method=options.method)
            return {value: dict.fromkeys(SCORES, none) for value in rows}
        unit = self.resampled_unit
        # One after the other from the same random numbers, in an order of their own.
        found = {
            value: intervals_of(rows[value], SCORES, options, unit=unit)[0]
            for value in in_order(rows)
        }
        return {value: found[value] for value in rows}

    def __repr__(self) -> str:
        scores = [f"{name}={in_digits(getattr(self, name))}" for name in SCORES]
        return f"Agreement({', '.join(scores)}, measure={self.settings.measure!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Labelling(Printed):
    """How well annotators agree on where spans are, and on the labels of what both found.

    Attributes
    ----------
    finding : Agreement
        Of the spans, whatever their labels (scope ``unlabelled``).
    labelling : Agreement
        Of the labels at the places that both marked; its chance is that of permuted labels.
        It has a score for each label, document, pair and annotator, and intervals, as any
        other agreement.
    settings : Settings
        How both were computed; ``str(settings)`` is the signature to cite.
    """

    finding: Agreement
    labelling: Agreement
    settings: Settings

    @property
    def parts(self) -> dict[str, Agreement]:
        """Both by name."""
        return {"finding": self.finding, "labelling": self.labelling}

    def __repr__(self) -> str:
        parts = [f"{name}={in_digits(part.corrected)}" for name, part in self.parts.items()]
        return f"Labelling({', '.join(parts)})"
