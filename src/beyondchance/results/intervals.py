"""Confidence intervals of scores, from resamples or from leaving out units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from beyondchance.core.exact import are_alike
from beyondchance.core.resampling import (
    accelerated,
    degrees_of_freedom,
    few_moments,
    freedom_of,
    influences,
    percentiles,
    student_around,
    variance_of,
)
from beyondchance.messages import Text, Use
from beyondchance.numbers import Extent, in_digits
from beyondchance.options import ResamplingOptions, declared
from beyondchance.results.counts import Counts
from beyondchance.results.printed import Printed, Reasoned
from beyondchance.results.resampling import Resampling, Rows, resampled, score_of, team_of
from beyondchance.settings import Settings
from beyondchance.types import Floats

FEW = 30
"""BCa and percentiles are too narrow where the spread is known no better than from fewer than
this many documents."""

VERY_FEW = 5
"""The expanded interval is a rough guide where it is known no better than from fewer."""

FEW_ANNOTATORS = 10
"""With fewer annotators, resamples of them are too narrow, and the expanded interval is wide
enough only if no annotator of the kind is very unlike those that there are."""

DIGITS = 12
"""Decimals of expanded intervals: further ones depend on the order of the documents, and on the
logarithms of the machine."""

ANNOTATORS = "annotators"
"""The kind of units that annotators are."""


@dataclass(frozen=True, slots=True, repr=False)
class ConfidenceInterval(Reasoned):
    """Where the score of all documents of this kind probably lies.

    Attributes
    ----------
    low, high : float
        Its ends; nan where there is none.
    why : Text
        Why there is none, in parts; empty where there is one.
    units : tuple of (str, int)
        What was drawn or left out, and how many of it: documents, sentences or annotators.
        Documents of two results are listed for each.
    effective : float
        How well its width is known: as well as from this many units, if each had the same
        influence on the score. Few, where most documents have no disagreement at all.
        (Satterthwaite's degrees of freedom plus one, not a number of documents.) Nan where
        there is no interval.
    method : {"expanded", "bca", "percentile"}

    Examples
    --------
    >>> interval = ConfidenceInterval(0.61, 0.82, units=(("documents", 12),), effective=4.4)
    >>> interval.low, interval.high
    (0.61, 0.82)
    >>> interval.caution
    'its width is known only about as well as from 4 documents; take it as a rough guide'
    """

    low: float
    high: float
    why: Text = ()
    units: tuple[tuple[str, int], ...] = (("documents", 0),)
    effective: float = nan
    method: str = "expanded"

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"ConfidenceInterval(none: {self.reason})"
        return f"ConfidenceInterval({in_digits(self.low)} to {in_digits(self.high)})"

    def __iter__(self) -> Iterator[float]:
        """Yield both ends, so that ``low, high = interval``."""
        return iter((self.low, self.high))

    @property
    def over(self) -> str:
        """What was drawn: documents, sentences, annotators, or documents and annotators."""
        return _listed(kind for kind, _ in self.units)

    @property
    def n_units(self) -> int:
        """How many units were drawn, of all kinds."""
        return sum(size for _, size in self.units)

    @property
    def n_annotators(self) -> int:
        """How many of the units are annotators."""
        return sum(size for kind, size in self.units if kind == ANNOTATORS)

    @property
    def has_few_annotators(self) -> bool:
        """Whether it is over annotators, and these are too few for it to hold in any case."""
        return not self.why and 0 < self.n_annotators < FEW_ANNOTATORS

    @property
    def caution_text(self) -> Text:
        """What to know before relying on it, in parts; empty if nothing."""
        expanded = self.method == "expanded"
        known = f"its width is known only about as well as from {self.effective:.0f} {self.over}"
        if self.has_few_annotators:
            few = f"it is over {self.n_annotators} annotators; with fewer than {FEW_ANNOTATORS} it "
            if expanded:
                return f"{few}does not allow for annotators who are unlike these"
            few += "is too narrow, which "
        elif not self.effective < (VERY_FEW if expanded else FEW):
            return ()
        elif expanded:
            return f"{known}; take it as a rough guide"
        else:
            few = f"{known}; with fewer than {FEW} it tends to be too narrow, which "
        return few, _method("expanded"), " allows for"


_ByScore = Mapping[str, ConfidenceInterval]


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Intervals(Printed):
    """Confidence intervals of a result at every level, from the same resamples.

    Attributes
    ----------
    overall : mapping of str to ConfidenceInterval
        By ``observed``, ``chance`` and ``corrected``.
    by_label, by_pair, by_annotator : mapping of name to such mappings
    without : mapping of annotator to such mappings
        Of the team without the annotator, where two are left.
    by_field : mapping of field to mapping of value to such mappings
        Only of the fields of documents that were asked for, whatever they are called: those
        of a field named ``label`` are not those of `by_label`.
    settings : Settings
        How it was computed, with the seed; ``str(settings)`` is the signature to cite.
    """

    overall: _ByScore
    by_label: Mapping[str, _ByScore] = field(default_factory=dict)
    by_pair: Mapping[tuple[str, str], _ByScore] = field(default_factory=dict)
    by_annotator: Mapping[str, _ByScore] = field(default_factory=dict)
    without: Mapping[str, _ByScore] = field(default_factory=dict)
    by_field: Mapping[str, Mapping[str, _ByScore]] = field(default_factory=dict)
    settings: Settings

    def __repr__(self) -> str:
        ends = ", ".join(
            f"{name}={in_digits(low)} to {in_digits(high)}"
            for name, (low, high) in self.overall.items()
        )
        return f"Intervals({ends})"


def intervals_of(
    rows: Rows, names: Sequence[str], options: Resampling, *, unit: str = "documents"
) -> list[dict[str, ConfidenceInterval]]:
    """Compute the interval of each of the scores named for each level.

    Parameters
    ----------
    rows : Rows
    names : sequence of str
        Among ``observed``, ``chance``, ``corrected`` and ``difficulty``.
    options : Resampling
    unit : {"documents", "sentences"}
        What the documents are called.
    """
    team = team_of(rows)
    kinds = [(unit, rows.n_documents, 2)] if options.over != "annotators" else []
    kinds += [(ANNOTATORS, team.n_members, 3)] if options.over != "documents" else []
    if none := too_few(kinds, options):
        return [dict.fromkeys(names, none) for _ in range(len(rows.levels))]
    return [
        {
            name: interval_from(
                score_of(found.drawn[:, place], name),
                float(score_of(found.whole[place], name)),
                [score_of(left_out[:, place], name) for left_out in found.left_out],
                options,
                kinds=[kind for kind, *_ in kinds],
                lowest=float(lowest_of(found.whole[place], name)),
            )
            for name in names
        }
        for levels, found in resampled(rows, options, team)
        for place in range(len(levels))
    ]


def too_few(
    kinds: Sequence[tuple[str, int, int]], options: Resampling
) -> ConfidenceInterval | None:
    """Say that a kind of units is too few: each with its number and the least that is needed."""
    for kind, size, least in kinds:
        if size < least:
            why = f"there are too few {kind}: found {size}, expected {least} or more"
            return _undefined(why, [known[:2] for known in kinds], options)
    return None


def intervals_of_few(
    rows: Rows, names: Sequence[str], options: Resampling, *, unit: str = "documents"
) -> list[dict[str, ConfidenceInterval]]:
    """Compute expanded intervals over documents of levels that have few of them.

    Documents that a level lacks do not change it, and are not left out one by one.
    """
    level, own, whole = rows.present()
    n, units = rows.n_documents, [(unit, rows.n_documents)]
    found: list[dict[str, ConfidenceInterval]] = [{} for _ in range(len(whole))]
    for name in names:
        scores = score_of(whole, name)
        second, fourth = few_moments(scores, score_of(whole[level] - own, name), level, n)
        columns = (scores, lowest_of(whole, name), second, fourth)
        rows_of = zip(found, *(column.tolist() for column in columns), strict=True)
        for intervals, score, lowest, *moments in rows_of:
            freedom, variance = freedom_of(n, *moments), moments[0] / (n - 1)
            is_known = isfinite(score + variance)
            why = () if is_known else _why_none(score, [np.array(moments)], [unit])
            intervals[name] = (
                _undefined(why, units, options)
                if why
                else _expanded(score, variance, freedom, options, units=units, lowest=lowest)
            )
    return found


def _expanded(
    estimate: float,
    variance: float,
    freedom: float,
    options: Resampling,
    *,
    units: Sequence[tuple[str, int]],
    lowest: float | None,
) -> ConfidenceInterval:
    """Make the interval from a variance and its degrees of freedom, or say why there is none."""
    ends = student_around(estimate, variance, freedom, options.confidence, lowest=lowest)
    if ends is None:
        kinds = [kind for kind, _ in units]
        return _undefined(_why_not_by("expanded", variance > 0, kinds), units, options)
    low, high = (round(end, DIGITS) for end in ends)
    return ConfidenceInterval(low, high, units=tuple(units), effective=freedom + 1)


def lowest_of(sums: Floats, name: str) -> Floats:
    """Compute the lowest that a score can be: 0, or below chance where it is corrected.

    Examples
    --------
    Chance is 1/4; where nothing matches, the corrected score is (0 - 1/4)/(1 - 1/4).

    >>> lowest_of(np.array([3.0, 1.0, 8.0, 1.0]), "corrected").round(4).item()
    -0.3333
    """
    chance = score_of(sums, "chance") if name == "corrected" else np.zeros(sums.shape[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(chance < 1, -chance / (1 - chance), -inf)


def interval_from(
    values: Floats,
    estimate: float,
    left_out: Sequence[Floats],
    options: Resampling,
    *,
    kinds: Sequence[str],
    lowest: float | None = None,
) -> ConfidenceInterval:
    """Compute the interval of a score, or say why there is none.

    Parameters
    ----------
    values : array of float, shape (resamples,)
        The score in every resample; of none, where the method needs none.
    estimate : float
        The score itself.
    left_out : sequence of arrays of float, shape (units,)
        The score without each unit, for each sample of units that is drawn.
    options : Resampling
    kinds : sequence of str
        What the units of each sample are.
    lowest : float, optional
        The lowest value of the score; None for a difference.
    """
    units = [(kind, len(part)) for kind, part in zip(kinds, left_out, strict=True)]
    moves = [influences(part) for part in left_out]
    why = _why_none(estimate, left_out, kinds)
    if not why and options.draws:
        why = _why_no_spread(values, kinds)
    if why:
        return _undefined(why, units, options)
    variance, freedom = variance_of(moves), degrees_of_freedom(moves)
    if options.method == "expanded":
        return _expanded(estimate, variance, freedom, options, units=units, lowest=lowest)
    if options.method == "bca":
        ends = accelerated(values, estimate, moves, options.confidence)
    else:
        ends = percentiles(values, options.confidence)
    if ends is None:
        return _undefined(_why_not_by(options.method, variance > 0, kinds), units, options)
    return ConfidenceInterval(
        *ends, units=tuple(units), effective=freedom + 1, method=options.method
    )


def _why_none(estimate: float, left_out: Sequence[Floats], kinds: Sequence[str]) -> Text:
    """Say why there is no interval by any method; empty where there can be one."""
    if not isfinite(estimate):
        return "the score itself is undefined"
    for kind, part in zip(kinds, left_out, strict=True):
        if np.isnan(part).any():
            return f"without one of the {kind} it is undefined"
    return ()


def _why_no_spread(values: Floats, kinds: Sequence[str]) -> Text:
    """Say why resamples give no interval; empty where they can."""
    if n_missing := int(np.count_nonzero(np.isnan(values))):
        share = f"{n_missing:,} of {len(values):,} resamples"
        return f"it is undefined in {share}: too few of the {_listed(kinds)} have it"
    if are_alike(values):
        return "every resample gives the same value, so its spread is unknown"
    return ()


def _why_not_by(method: str, has_moved: bool, kinds: Sequence[str]) -> Text:
    """Say why a method gives no interval."""
    over = _listed(kinds)
    if method == "expanded":
        cause = "nothing matches" if has_moved else f"it is the same without any one of the {over}"
        return f"{cause}, so its spread is unknown"
    cause = f"too few {over} carry" if has_moved else f"none of the {over} moves"
    rough = "; ", _method("percentile"), " gives a rough one"
    return f"{cause} the score for ", _method(method), *rough


def _undefined(
    why: Text, units: Iterable[tuple[str, int]], options: Resampling
) -> ConfidenceInterval:
    return ConfidenceInterval(nan, nan, why=why, units=tuple(units), method=options.method)


def _method(name: str) -> Use:
    return Use("method", name, flag=declared(ResamplingOptions)["method"].signed_name)


def _listed(kinds: Iterable[str]) -> str:
    """List what units are called, each kind once."""
    return " and ".join(dict.fromkeys(kinds))


def extent_of(counts: Counts, settings: Settings) -> Extent:
    """Count the documents and texts compared, and name what documents are called."""
    return Extent(counts.n_compared, counts.n_compared_texts, settings.unit)


def units_of(counts: Counts, settings: Settings) -> str:
    """Name what intervals draw from counts: documents, sentences, or groups of them."""
    plural = f"{extent_of(counts, settings).noun}s"
    return f"groups of {plural}" if counts.n_groups else plural


def signed_with(options: Resampling, settings: Settings, counts: Counts) -> Settings:
    """Add to the settings of a result how its intervals were made; resamples, if there are any."""
    is_drawn = options.is_tested or options.draws > 0
    is_by_document = options.over == "documents"
    return settings.replaced(
        confidence=options.confidence,
        interval_method=options.method,
        resamples=options.resamples if is_drawn else None,
        seed=options.seed if is_drawn and options.seed is not None else settings.seed,
        over=f"{extent_of(counts, settings).noun}s" if is_by_document else options.over,
        groups=counts.n_groups or None,
    )


class Counted:
    """A result that is summed from counts of documents."""

    counts: Counts
    settings: Settings

    @property
    def extent(self) -> Extent:
        """How many documents and texts were compared, and what documents are called."""
        return extent_of(self.counts, self.settings)

    @cached_property
    def drawn(self) -> Counts:
        """What intervals draw from: the counts, or of many documents those by group."""
        return self.counts.drawn

    @property
    def resampled_unit(self) -> str:
        """What intervals draw: documents, sentences where nothing larger is known, or groups."""
        return units_of(self.drawn, self.settings)

    def signed(self, found: dict[str, Any], options: Resampling) -> Intervals:
        """Put intervals of all levels together, those of the overall score without a name."""
        overall = found.pop("overall")[""]
        settings = signed_with(options, self.settings, self.drawn)
        return Intervals(overall=overall, settings=settings, **found)
