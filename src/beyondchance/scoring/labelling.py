"""Agreement on the labels of what two annotators both found.

Chance permutes the labels of each annotator over the places that both marked, in all
documents that the two share. Observed and expected match are then counts like any others: a
row for each text, label and pair of annotators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.joining import renumbered, repeated_spans
from beyondchance.annotations.names import coded
from beyondchance.annotations.pairs import check_pairs, every_two, every_two_with, shared_documents
from beyondchance.checks import checked_option
from beyondchance.core.exact import rounded
from beyondchance.core.labels import (
    PLACES,
    LabelSets,
    expected_alike,
    label_sets,
    looked_up,
    n_pieces_of,
    offset_pairs,
)
from beyondchance.core.ragged import bounds, distinct, members, total
from beyondchance.errors import OptionError, OverlapError
from beyondchance.messages import Quote, Use
from beyondchance.options import ScoredOptions, ScoringOptions, documented
from beyondchance.results.agreement import Agreement, Labelling
from beyondchance.results.counts import Counts
from beyondchance.results.score import LABELS
from beyondchance.scoring.answers import without_gold
from beyondchance.scoring.api import agreement
from beyondchance.scoring.counting import names_of_rows
from beyondchance.scoring.data import scored_data
from beyondchance.scoring.options import scoring_of
from beyondchance.types import Bools, Floats, Ints

NONE = "(none)"
"""The value of a field that a span does not have."""
SPLIT_MEASURES = tuple(PLACES)
"""The measures by which agreement can be split."""

_MOST_PIECES = 2**22
"""Pieces of spans that are kept however few spans there are."""
_PIECES_FOR_EACH = 64
"""Pieces for each span, on average, beyond which there may be no more than that."""
_MOST_STEPS = 2.0**29
"""Steps that permuting labels may take."""
_REACHED = 1e-12
"""How close, relative to it, an expected match comes to its limit and counts as reached."""


@documented(ScoringOptions)
def labelling(
    data: Any, *others: Any, field: str | None = None, **options: Unpack[ScoredOptions]
) -> Labelling:
    """Split agreement into finding spans and labelling what both found.

    Finding is the agreement of the spans, whatever their labels. Labelling compares the
    labels at the places that both annotators marked, and has a chance of its own: the labels of
    each annotator are permuted over these places, in all documents that the two share. Two
    annotators who mark the same spans and choose labels by dice find everything and label
    nothing better than chance.

    Parameters
    ----------
    data, *others, gold
        As in `agreement`.
    field : str, optional
        What is compared in the place of labels: a field of spans, such as negation, certainty or
        speaker, that the files have. Spans without it have the value ``(none)``.
    {options}
    {others} : optional
        How these become a corpus (see `corpus`), and how large files are counted (see `agreement`).

    Returns
    -------
    Labelling
        With `finding` and `labelling`, an `Agreement` each.

    Raises
    ------
    DataError
        When the annotations cannot be compared, with where and why.
    OptionError
        For another measure than ``token`` and ``exact``, or with a scope.

    Notes
    -----
    A *place* is a position for ``token``, and a pair of offsets for ``exact``. Labels are compared
    at the places where both annotators have spans, and equally many of them (otherwise
    one of them did not find a span there, and which one is not known); a span with two labels
    is one span. If no span has two labels, labelling is Cohen's kappa at these places, added up
    over pairs of annotators; if besides no spans overlap, the observed agreement of scope ``label``
    is that of finding times that of labelling.

    The chance of a label is that of all documents that two annotators share, and is the same in
    each of them: the chance of a document follows from the labels used in it.

    Options of the model concern finding only.

    Examples
    --------
    Both mark the same four tokens; they agree on two of the labels, as chance would.

    >>> a = [["B-PER", "O", "B-PER", "O", "B-LOC", "O", "B-LOC"]]
    >>> b = [["B-PER", "O", "B-LOC", "O", "B-PER", "O", "B-LOC"]]
    >>> split = labelling(a, b)
    >>> split.finding.corrected, split.labelling.observed, split.labelling.corrected
    (1.0, 0.5, 0.0)

    Both find both symptoms; one of them takes one of these to be negated.

    >>> fever = {"start": 0, "end": 5, "label": "SYMPTOM"}
    >>> cough = {"start": 10, "end": 15, "label": "SYMPTOM"}
    >>> a = [{"text": "Fever, no cough", "spans": [fever, cough]}]
    >>> b = [{"text": "Fever, no cough", "spans": [fever, {**cough, "negation": True}]}]
    >>> split = labelling(a, b, field="negation", measure="exact")
    >>> split.finding.observed, split.labelling.observed, list(split.labelling.by_label)
    (1.0, 0.5, ['(none)', 'true'])
    """
    given, gold, scoring = scored_data(data, others, options)
    if "scope" in scoring:
        raise OptionError(
            "labelling takes no scope",
            expected="none, because it scores spans without labels, then the labels",
        )
    measure = scoring.get("measure", "token")
    if not isinstance(measure, str) or measure not in PLACES:
        raise OptionError(
            "measure ",
            Quote(getattr(measure, "name", measure)),
            " does not say where two spans with different labels are the same",
            expected=" or ".join(map(repr, PLACES)),
        )
    scoring["scope"] = "unlabelled"
    scoring_of(scoring)
    compared = without_gold(given) if gold is None else given.with_gold(gold)
    if gold is None:
        check_pairs(compared, compared.annotation_document)
    finding = agreement(given, gold=gold, **scoring)
    settings = finding.settings.replaced(field=field)
    if field is not None:
        fields = [known or {} for known in compared.span_fields or ()]
        names = sorted({name for known in fields for name in known})
        checked_option("field", field, names, are_data=True)
        labels, label = coded("label", [known.get(field, NONE) or NONE for known in fields])
        # A span with two labels says the same of itself twice.
        compared = replace(compared, labels=labels, span_label=label)
        keep = {"span": ~repeated_spans(compared)}
        compared = replace(compared, **renumbered(compared, {}, keep))
    return Labelling(
        finding=finding,
        labelling=Agreement(
            _counted(compared, measure, gold),
            settings.replaced(model="permuted", scope="found"),
            given.skipped,
        ),
        settings=settings.replaced(scope="split"),
    )


# --- Counts -------------------------------------------------------------------


class _Compared(NamedTuple):
    """The places where labels of two annotators are compared.

    Attributes
    ----------
    one, two : arrays of int, shape (places,)
        The sets of labels of the two.
    weight : array of int, shape (places,)
        How much each place counts.
    text_pair : array of int, shape (places,)
        The text with the pair of annotators.
    text, pair : arrays of int, shape (text pairs,)
    pairs : array of int, shape (2, pairs)
        The annotators of each pair.
    """

    one: Ints
    two: Ints
    weight: Ints
    text_pair: Ints
    text: Ints
    pair: Ints
    pairs: Ints


def _counted(corpus: Corpus, measure: str, gold: str | None) -> Counts:
    """Count labels that are alike, observed and expected, of every pair in every text.

    Parameters
    ----------
    corpus : Corpus
    measure : {"token", "exact"}
    gold : str, optional
        The annotator with whom all others are compared; by default with one another.
    """
    number = None if gold is None else corpus.annotators.index(gold)
    n_labels = max(len(corpus.labels), 1)
    offsets = corpus.span_text, corpus.span_start, corpus.span_end
    if measure == "token":
        _check_pieces(offsets)
    span, place, width = PLACES[measure](*offsets)
    sets = label_sets(
        place,
        corpus.span_annotator[span],
        corpus.span_label[span],
        offset_pairs(*offsets)[1][span],
        n_labels,
    )
    text = np.zeros(len(width), dtype=np.int64)
    text[place] = corpus.span_text[span]
    places = _compared(sets, text, width, number)

    # Observed: the labels of either side, and how many of them the other has as well.
    which_a, label_a, count_a, alike = sets.marks(places.one, places.two)
    which_b, label_b, count_b, _ = sets.marks(places.two, places.one)
    both_a, both_b = places.text_pair[which_a], places.text_pair[which_b]
    size_a, size_b = places.weight[which_a] * count_a, places.weight[which_b] * count_b

    # Expected: the pool of each side has all its labels at the places compared. Every text has the
    # share of a label's expected match that it has of the label, so that a label is expected
    # nowhere more often than it is used.
    pools, pool = distinct(
        np.r_[places.pair[both_a], places.pair[both_b]] * n_labels + np.r_[label_a, label_b]
    )
    in_a, in_b = np.split(pool, [len(which_a)])
    pool_sizes = np.array([total(in_a, size_a, len(pools)), total(in_b, size_b, len(pools))])
    expected = _expected(places, sets, pools // n_labels, pool_sizes)
    limits = np.array([pool_sizes.mean(axis=0), *pool_sizes])
    is_certain = limits - expected <= _REACHED * limits
    is_fixed = is_certain[0] | _fixed(places, pools // n_labels, pool_sizes)

    rows, row = distinct(np.r_[both_a, both_b] * n_labels + np.r_[label_a, label_b])
    in_a, in_b = np.split(row, [len(which_a)])
    sizes = np.array([total(in_a, size_a, len(rows)), total(in_b, size_b, len(rows))])
    both, label = np.divmod(rows, n_labels)
    text, pair = places.text[both], places.pair[both]
    a, b = places.pairs[:, pair]
    pool = np.searchsorted(pools, pair * n_labels + label)
    certain = is_certain[:, pool]
    is_found = np.zeros(len(sets.place), dtype=bool)
    is_found[places.one] = is_found[places.two] = True
    found = distinct(span[is_found[sets.of_mark]])[0]
    spans_of = _spans_by_cell(corpus, found)
    shared = shared_documents(corpus, gold=number)
    return Counts(
        **names_of_rows(shared, text),
        labels=corpus.labels,
        label=label,
        a=a,
        b=b,
        matched=total(in_a, places.weight[which_a] * alike, len(rows)),
        expected=rounded(sizes.mean(axis=0) * (expected / limits[0])[pool]),
        size_a=sizes[0],
        size_b=sizes[1],
        spans_a=spans_of(text, label, a),
        spans_b=spans_of(text, label, b),
        certain=certain[0],
        certain_a=certain[1],
        certain_b=certain[2],
        fixed=is_fixed[pool],
        of=LABELS,
    )


def _compared(sets: LabelSets, text: Ints, width: Ints, gold: int | None) -> _Compared:
    """Pair the sets at each place where both have spans, and equally many.

    Parameters
    ----------
    sets : LabelSets
    text, width : arrays of int, shape (places,)
    gold : int, optional
        The annotator with whom all others are compared.
    """
    if gold is None:
        one, two = every_two(sets.place)
    else:
        one, two = every_two_with(sets.place, sets.annotator == gold)
    wanted = sets.n_spans[one] == sets.n_spans[two]
    one, two = one[wanted], two[wanted]
    place, n_annotators = sets.place[one], int(sets.annotator.max(initial=0)) + 1
    pairs, pair = distinct(sets.annotator[one] * n_annotators + sets.annotator[two])
    n_pairs = max(len(pairs), 1)
    text_pairs, text_pair = distinct(text[place] * n_pairs + pair)
    return _Compared(
        one,
        two,
        width[place],
        text_pair,
        *np.divmod(text_pairs, n_pairs),
        pairs=np.stack(np.divmod(pairs, n_annotators)),
    )


def _expected(places: _Compared, sets: LabelSets, pool_pair: Ints, pools: Floats) -> Floats:
    """Compute the expected number of labels that are alike, of each pair and label.

    Places of a pair with as many marks on either side have the same expectation, which is
    computed once.

    Parameters
    ----------
    places : _Compared
    sets : LabelSets
    pool_pair : array of int, shape (pools,)
        The pair whose labels are in each pool, ascending.
    pools : array of float, shape (2, pools)
        How much of either side has the label.
    """
    n_a, n_b = sets.n_marks[places.one], sets.n_marks[places.two]
    most, n_pairs = int(n_b.max(initial=0)) + 1, places.pairs.shape[1]
    kinds, kind = distinct(n_a * most + n_b)
    n_kinds = max(len(kinds), 1)
    problems, problem = distinct(places.pair[places.text_pair] * n_kinds + kind)
    amount = total(problem, places.weight, len(problems))
    # A label that one of the two never uses is never alike.
    common = np.flatnonzero((pools > 0).all(axis=0))
    which, place = members(bounds(pool_pair[common], n_pairs), problems // n_kinds)
    pool = common[place]
    of_all = np.array([total(pool_pair, side, n_pairs) for side in pools])[:, pool_pair[pool]]
    drawn_a, drawn_b = np.divmod(kinds[(problems % n_kinds)[which]], most)
    _check_depth(int(np.maximum(drawn_a, drawn_b).max(initial=0)), drawn_a, drawn_b)
    alike = expected_alike(
        drawn_a,
        drawn_b,
        np.array([pools[0, pool], of_all[0]]),
        np.array([pools[1, pool], of_all[1]]),
    )
    return total(pool, amount[which] * alike, len(pool_pair))


def _check_depth(deepest: int, drawn_a: Ints, drawn_b: Ints) -> None:
    """Refuse spans that lie on top of one another by the hundred, with as many labels.

    Raises
    ------
    OverlapError
    """
    if (
        float((drawn_a.astype(np.float64) ** 2 + drawn_b.astype(np.float64) ** 2).sum())
        > _MOST_STEPS
    ):
        raise OverlapError(
            f"up to {deepest:,} labels lie on top of one another, and permuting them over so many "
            "places takes too long",
            expected="fewer spans that overlap",
            remedy=(Use("measure", "exact"), " compares the labels of equal spans only"),
        )


def _check_pieces(spans: tuple[Ints, Ints, Ints]) -> None:
    """Refuse spans that others cut into more pieces than can be kept.

    Raises
    ------
    OverlapError
    """
    n_spans, n_pieces = len(spans[0]), int(n_pieces_of(*spans).sum())
    if n_pieces > max(_MOST_PIECES, _PIECES_FOR_EACH * n_spans):
        raise OverlapError(
            f"{n_spans:,} spans are cut into {n_pieces:,} pieces where others begin or end",
            expected=f"at most {_MOST_PIECES:,}, or {_PIECES_FOR_EACH} for each span",
            remedy=(Use("measure", "exact"), " compares the labels of equal spans only"),
        )


def _fixed(places: _Compared, pool_pair: Ints, pools: Floats) -> Bools:
    """Return whether all permutations of a pair have as many labels of one name alike.

    So it is where one of the two never uses the label; where there is one place only; and
    where one of the two uses no other label, and every place has one label on either side.
    """
    n_pairs = places.pairs.shape[1]
    of_all = np.array([total(pool_pair, side, n_pairs) for side in pools])
    n_places = total(places.pair[places.text_pair], places.weight, n_pairs)
    has_one_each = (of_all == n_places).all(axis=0)[pool_pair]
    is_only = (pools == of_all[:, pool_pair]).any(axis=0) & has_one_each
    return np.asarray((pools == 0).any(axis=0) | is_only | (n_places == 1)[pool_pair])


def _spans_by_cell(corpus: Corpus, spans: Ints) -> Callable[[Ints, Ints, Ints], Ints]:
    """Return a function that counts these spans by text, label and annotator."""
    n_labels, n_annotators = max(len(corpus.labels), 1), max(len(corpus.annotators), 1)

    def code(text: Ints, label: Ints, annotator: Ints) -> Ints:
        return (text * n_labels + label) * n_annotators + annotator

    columns = corpus.span_text, corpus.span_label, corpus.span_annotator
    known, number = distinct(code(*(column[spans] for column in columns)))
    n_spans = np.bincount(number, minlength=len(known))
    return lambda *cell: looked_up(known, n_spans, code(*cell))
