r"""Agreement over time: each annotator with the others, week by week, and who changed.

Let :math:`C` be the corrected agreement of an annotator with the others in the documents before
some period, :math:`C'` that from the period on, and :math:`O` and :math:`O'` those of the others
among themselves in the same documents. The annotator agrees less if :math:`C' - C`, what is left of
it beside the others', :math:`(C' - C) - (O' - O)`, and :math:`C'O - CO'` are all shown to be below
0. One of them alone would name an annotator whose partners got worse, whose documents got harder
for all, or who loses more because of having had more to lose than the others. So p is the largest
of the three (Berger 1982), each by the jackknife over the documents of either side, times the
number of periods and of annotators that were tried (Holm). Where documents get so hard that skill
matters less, the best annotators lose most: nobody is named without :math:`C' < O'`, shown at 5 %
divided by the number of annotators. Who agrees more would agree less if time ran backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.dates import PERIODS, day_of, in_order, period_of
from beyondchance.annotations.names import numbered
from beyondchance.core.exact import exact_total
from beyondchance.core.resampling import effective_number, influences, student_tail
from beyondchance.errors import OptionError
from beyondchance.messages import Quote, quotes
from beyondchance.results.counts import Counts
from beyondchance.results.resampling import jackknifed, score_of
from beyondchance.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class Change:
    """An annotator whose agreement with the others changed.

    Attributes
    ----------
    who : str
        The annotator. Of two it is not known who changed: both, joined by "or".
    since : str
        The first period after the change.
    p_adjusted : float
        Adjusted for all periods since which, and all annotators who, may have changed.
    before, after : float
        The corrected agreement with the others.
    others_before, others_after : float
        That of the others among themselves in the same documents; nan if there are only two.
    """

    who: str
    since: str
    p_adjusted: float
    before: float
    after: float
    others_before: float = nan
    others_after: float = nan


@dataclass(frozen=True, eq=False, kw_only=True)
class Periods:
    """The agreement of each annotator with the others in each period.

    Attributes
    ----------
    field : str
        The field of the documents; or "week" or "month": those of the date of each annotation.
    periods : tuple of str
        In order.
    annotators : tuple of str
        All but a gold standard.
    corrected : array of float, shape (annotators, periods)
        With all others, or with the gold standard, in the documents that the annotator did in the
        period, whenever the others did; nan where it is not defined.
    n_documents : array of int, shape (annotators, periods)
        These documents, without those in which nothing was marked.
    changes : tuple of Change
        The most certain first. Each is found without those that come before.
    n_tested : int
        Annotators with enough documents to be tested for a change.
    n_undated : int
        Annotations without a period, which are left out.
    """

    field: str
    periods: tuple[str, ...]
    annotators: tuple[str, ...]
    corrected: Floats
    n_documents: Ints
    changes: tuple[Change, ...] = ()
    n_tested: int = 0
    n_undated: int = 0


LEVEL = 0.05
"""The adjusted p-value up to which a change is named."""
FEWEST = 5
"""Documents of equal weight that either side of a change is worth."""
_MOST = 500
"""Periods in which changes are looked for."""
_DATED = (
    "export from Label Studio, Prodigy, INCEpTION (the project) or Argilla (responses with "
    "inserted_at), or add a column 'date', such as 2024-05-31, to a table"
)
_NAMED = "add it as a column of a table, or as metadata of the tasks or documents that are exported"


def periods_of(corpus: Corpus, counts: Counts, by: str) -> Periods:
    """Compute the agreement of each annotator in each period, and who changed.

    Parameters
    ----------
    corpus : Corpus
        What was counted; with a gold standard, annotators are compared with this only.
    counts : Counts
    by : str
        A field of the documents, or "week" or "month": those of the date of each annotation.

    Raises
    ------
    OptionError
        If there is no such field, or there are no dates.
    """
    names, number, has_order = _numbered(corpus, by)
    is_tested = has_order and len(names) <= _MOST
    who, annotators = corpus.annotation_annotator, corpus.annotators
    judged = [i for i, name in enumerate(annotators) if name != corpus.gold]
    n, sums = len(names), counts.sums_by_annotation(corpus)[:, 0]
    rows = np.flatnonzero((number >= 0) & (sums[:, 2] > 0))
    cell, size = who[rows] * n + number[rows], len(annotators) * n
    whole = np.stack([exact_total(cell, column, size) for column in sums[rows].T], axis=-1)
    changes, n_tested = _changes(corpus, counts, names, number, judged) if is_tested else ([], 0)
    return Periods(
        field=by,
        periods=names,
        annotators=tuple(annotators[i] for i in judged),
        corrected=score_of(whole, "corrected").reshape(-1, n)[judged],
        n_documents=np.bincount(cell, minlength=size).reshape(-1, n)[judged],
        changes=tuple(changes),
        n_tested=n_tested,
        n_undated=int((number[np.isin(who, judged)] < 0).sum()),
    )


def _numbered(corpus: Corpus, by: str) -> tuple[tuple[str, ...], Ints, bool]:
    """List the periods, number that of each annotation, and say whether they have an order."""
    document, known = corpus.annotation_document, corpus.fields
    is_date = by in PERIODS and by not in known
    if by in known:
        values, own = known[by], document
    elif is_date:
        day = np.array([*map(day_of, known.get("date") or [""] * len(corpus.documents))])[document]
        if corpus.annotation_date is not None:
            day = np.where(corpus.annotation_date > 0, corpus.annotation_date, day)
        days, own = np.unique(day, return_inverse=True)
        values = tuple(period_of(x, by) for x in days.tolist())
    else:
        values, own = (), document
    if not any(values):
        if is_date:
            raise OptionError("no annotation has a date", remedy=_DATED)
        there = (", but ", *quotes(known)) if known else ()
        raise OptionError(
            "documents have no field ", Quote(by, is_given=True), *there, remedy=_NAMED
        )
    names = in_order(values)
    listed = names or tuple(sorted({*values} - {""}))
    number = (numbered(values, ("", *listed)) - 1)[own]
    return listed, number, is_date or names is not None


def _changes(
    corpus: Corpus, counts: Counts, names: Sequence[str], number: Ints, judged: Sequence[int]
) -> tuple[list[Change], int]:
    """Name who changed, one after the other, and say how many could be tested."""
    annotators, who = corpus.annotators, corpus.annotation_annotator
    document = corpus.annotation_document
    is_pair = len(annotators) == 2
    if is_pair and corpus.gold is None:
        # Both are needed for a disagreement: it is of the period of the later one.
        latest = np.full(len(corpus.documents), -1)
        np.maximum.at(latest, document, number)
        number, judged = latest[document], judged[:1]
    changes: list[Change] = []
    stays = np.ones(len(who), dtype=bool)
    n_tested, p_value = 0, 0.0
    while len(changes) < len(judged):
        sums = counts.sums_by_annotation(corpus)
        team = np.bincount(document[stays], minlength=len(corpus.documents))[document]
        is_used = stays & (number >= 0) & (sums[:, 0, 2] > 0) & (team > 2 - is_pair)
        found = []
        for i in judged:
            rows = np.flatnonzero(is_used & (who == i))
            own = sums[rows][:, : 2 - is_pair]
            if tested := [*_tested(own, number[rows], LEVEL / len(judged))]:
                p, since, scores = min(tested)
                found.append((p * len(tested), i, since, scores))
        n_tested = n_tested or len(found)
        if not found:
            break
        p, i, since, scores = min(found)
        p_value = max(p_value, p * len(found))
        if p_value > LEVEL:
            break
        one = " or ".join(annotators) if is_pair and corpus.gold is None else annotators[i]
        changes.append(Change(one, names[since], float(p_value), *scores))
        counts, stays = counts.without(annotators[i]), stays & (who != i)
    return changes, n_tested


def _tested(
    sums: Floats, number: Ints, most: float
) -> Iterator[tuple[float, int, tuple[float, ...]]]:
    """Test one annotator for a change since each period that has documents on both sides.

    Parameters
    ----------
    sums : array of float, shape (documents, 1 or 2, 4)
        Of the annotator with the others, and of these among themselves.
    number : array of int, shape (documents,)
        The period of each, by its place.
    most : float
        The p-value up to which the annotator is shown to agree less than the others on one side.
    """
    for since in np.unique(number)[1:].tolist():
        sides = [sums[number < since], sums[number >= since]]
        worth = min(effective_number(x[:, 0, 2] / 2 - x[:, 0, 1]) for x in sides)
        before, after = map(jackknifed, sides)
        if round(worth, 6) < FEWEST or not np.isfinite([*before, *after]).all():
            continue
        p = min(_p_of_less(before, after, most), _p_of_less(after, before, most))
        yield 2 * p, since, tuple(np.transpose([before[0], after[0]]).ravel().tolist())


def _p_of_less(before: Floats, after: Floats, most: float) -> float:
    """Compute the p-value of an annotator who agrees less (see above).

    Parameters
    ----------
    before, after : array of float, shape (1 + documents, 1 or 2)
        Scores of either side, and then without each of its documents.
    most : float
        As in `_tested`.
    """
    values = _contrasts(before[0], after[0])
    moves = _contrasts(before[1:].T, after[0]), _contrasts(before[0], after[1:].T)
    if len(before[0]) > 1:
        own, other = (side[:, 0] - side[:, 1] for side in (after, before))
        if _share(float(own[0]), _spread(own[1:], other[1:])[:1]) > most:
            return 1.0
    return max(_share(float(value), _spread(*x)) for value, *x in zip(values, *moves, strict=True))


def _contrasts(before: Floats, after: Floats) -> Sequence[Floats]:
    """Compute by how much the annotator agrees more, with the others, and than these do."""
    own = after[0] - before[0]
    if len(before) == 1:
        return (own,)
    return own, own - (after[1] - before[1]), after[0] * before[1] - before[0] * after[1]


def _spread(*left_out: Floats) -> list[Floats]:
    """Compute the influences of the documents of two sides.

    A side in which all documents agree alike is taken for as spread as the other.
    """
    moves = [influences(x) for x in left_out]
    sizes = [float(np.sqrt(np.mean(own * own))) for own in moves]
    return [
        own if size else np.full(len(own), other)
        for own, size, other in zip(moves, sizes, sizes[::-1], strict=True)
    ]


def _share(value: float, effects: Sequence[Floats]) -> float:
    """Compute how often a contrast of 0 would come out as low; 1 where its spread is not known."""
    return student_tail(value, effects) if any(own.any() for own in effects) else 1.0
