"""Documents with so many annotators that their pairs are not listed: sums over all pairs at once.

Let x_i(t) tell whether annotator i covers position t, and N(t) how many do. All pairs together have
the sum over t of N (N - 1) / 2 positions in common, and annotator i has the sum of x_i (N - 1) in
common with the others. The same holds of the probabilities c_i(t) of random spans, with C(t) their
sum: half the sum of C squared, less all c_i squared, is expected of all pairs. This is for
positions that both cover, and for spans of one annotator that lie apart.
"""

from __future__ import annotations

import numpy as np

from beyondchance.annotations.pairs import MOST_PAIRS, PARTNERS, SharedDocuments, annotation_numbers
from beyondchance.core.lengths import tabulate
from beyondchance.core.measures import MEASURES
from beyondchance.core.placement import coverage_profiles
from beyondchance.core.profiles import joined, summed
from beyondchance.core.ragged import bounds, distinct, starts, total
from beyondchance.messages import Note
from beyondchance.results.crowd import Crowd
from beyondchance.scoring.counting import names_of_rows
from beyondchance.scoring.marks import Marked, check_apart
from beyondchance.scoring.options import Scoring
from beyondchance.types import Floats, Ints

NOT_LISTED = Note(
    "annotators are so many that their pairs are not listed: scores are overall, by label, by "
    "document and by annotator"
)


def is_crowd(team: Ints, scoring: Scoring) -> bool:
    """Whether pairs of annotators are too many to be listed, and need not be.

    Parameters
    ----------
    team : array of int, shape (documents,)
        How many annotators each document has.
    scoring : Scoring
    """
    n_pairs = int(team.dot(team - 1)) // 2
    can_be_summed = (
        scoring.measure is MEASURES["token"]
        and "average" not in scoring.options
        and not scoring.scope.is_joint
        and not scoring.model.is_independent
    )
    return can_be_summed and n_pairs > MOST_PAIRS and n_pairs > PARTNERS * int(team.sum())


def crowd(spans: Marked, team: Ints) -> Crowd:
    """Sums over all pairs of annotators, for each text and label.

    Raises
    ------
    OverlapError
        Where spans of one annotator overlap.
    """
    check_apart(spans, "there are too many annotators to compare them pair by pair")
    corpus, n_labels = spans.corpus, max(len(spans.labels), 1)
    cells, cell = distinct(spans.text * n_labels + spans.label)
    text, label = np.divmod(cells, n_labels)
    n_cells, n_people = len(cells), len(corpus.annotators)
    n_team = team[corpus.text_document[text]]
    size = total(spans.owner(), spans.end - spans.start, len(spans.text))
    n_spans = np.diff(spans.first)
    annotation = annotation_numbers(corpus, spans.text, spans.annotator)
    # Annotators of a document are compared in their order: so many come before each of them.
    before = (
        annotation
        - bounds(corpus.annotation_document, len(corpus.documents))[
            corpus.text_document[spans.text]
        ]
    )
    matched, own_matched = _matched(spans, cell, n_cells)
    expected, own_expected = _expected(spans, cell, n_cells)
    is_full = size == corpus.text_length[spans.text]
    n_groups = np.bincount(cell, minlength=n_cells)
    n_full = np.bincount(cell[is_full], minlength=n_cells)
    is_certain = (n_full == n_team) & (n_team > 0)
    # Chance varies where two of them mark something and leave something.
    is_fixed = n_groups - n_full < 2
    nobody = np.zeros(n_cells, dtype=np.int64)
    shared = SharedDocuments(corpus, *_two_of_each(corpus.annotation_document))
    sizes = total(cell, size, n_cells)
    # Of each annotator: what it marked times all others, and what all others marked.
    who, document = corpus.annotation_annotator, corpus.annotation_document
    by_document = total(corpus.text_document[text], sizes, len(corpus.documents))
    marked_there = total(annotation, size, len(document))
    spans_there = total(annotation, n_spans, len(document)).astype(np.int64)
    # Without one of two nobody is left to compare, and without the only one who marked anything
    # nothing is left.
    spans_in = total(document, spans_there, len(corpus.documents)).astype(np.int64)[document]
    is_last = team[document] == 2
    is_lost = (spans_in > 0) & (is_last | (spans_there == spans_in))
    return Crowd(
        **names_of_rows(shared, text),
        labels=spans.labels,
        label=label,
        a=nobody,
        b=nobody + 1,
        matched=matched,
        expected=expected,
        size_a=total(cell, size * (n_team[cell] - 1 - before), n_cells),
        size_b=total(cell, size * before, n_cells),
        spans_a=total(cell, n_spans, n_cells).astype(np.int64),
        spans_b=nobody,
        certain=is_certain,
        certain_a=is_certain,
        certain_b=is_certain,
        fixed=is_fixed,
        own={
            "matched": total(spans.annotator, own_matched, n_people),
            "expected": total(spans.annotator, own_expected, n_people),
            "size_a": total(who, marked_there * (team[document] - 1), n_people),
            "size_b": total(who, by_document[document] - marked_there, n_people),
            "n_documents": np.bincount(who[by_document[document] > 0], minlength=n_people),
            "n_spans": total(spans.annotator, n_spans, n_people).astype(np.int64),
        },
        lost=(
            np.bincount(who[is_lost], minlength=n_people),
            total(who, np.where(is_last, spans_in, spans_there), n_people).astype(np.int64),
        ),
        spans_of=total(spans.annotator * n_labels + spans.label, n_spans, n_people * n_labels)
        .astype(np.int64)
        .reshape(n_people, n_labels),
        size_of=total(spans.annotator, size, n_people),
    )


def _two_of_each(document: Ints) -> tuple[Ints, Ints]:
    """The first two annotations of every document that has two, which stand for all pairs."""
    n = np.bincount(document, minlength=1)
    first = starts(n)[n > 1]
    return first, first + 1


def _matched(spans: Marked, cell: Ints, n_cells: int) -> tuple[Floats, Floats]:
    """Positions that pairs have in common: of each cell, and of each group with all others."""
    n = spans.corpus.text_length[spans.text]
    # All cells end to end, so that boundaries of different ones do not meet.
    size = np.zeros(n_cells, dtype=np.int64)
    size[cell] = n
    begin = starts(size + 1)[cell[spans.owner()]]
    start, end = begin + spans.start, begin + spans.end
    places, number = distinct(np.concatenate([start, end]))
    change = np.bincount(number[: len(start)], minlength=len(places))
    change = change - np.bincount(number[len(start) :], minlength=len(places))
    # How many cover the positions from each boundary to the next.
    cover = np.cumsum(change)
    width = np.diff(places, append=places[-1:])
    covered = np.concatenate([[0], np.cumsum(cover * width)])
    by_span = covered[number[len(start) :]] - covered[number[: len(start)]]
    own = total(spans.owner(), by_span - (spans.end - spans.start), len(cell))
    return total(cell, own, n_cells) / 2, own


def _expected(spans: Marked, cell: Ints, n_cells: int) -> tuple[Floats, Floats]:
    """The same of random spans."""
    n = spans.corpus.text_length[spans.text]
    table, entry = tabulate(n, spans.owner(), spans.end - spans.start)
    sets, kind = distinct(entry)
    code, problem = distinct(cell * len(sets) + kind)
    where, which = np.divmod(code, len(sets))
    profiles = coverage_profiles(table, sets)
    together = summed(profiles.take(which), np.bincount(problem).astype(np.float64), where, n_cells)
    both = joined(profiles, together)
    alone = profiles.dot(np.arange(len(sets)), np.arange(len(sets)))
    with_all = both.dot(which, len(sets) + where) - alone[which]
    own = with_all[problem]
    return total(cell, own, n_cells) / 2, own
