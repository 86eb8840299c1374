"""The range of scores over all places where quotes without offsets may be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from beyondchance.annotations.pairs import shared_documents
from beyondchance.options import ScoredOptions, ScoringOptions, documented
from beyondchance.results.totals import counts_by_document
from beyondchance.scoring.answers import without_gold
from beyondchance.scoring.api import agreement
from beyondchance.scoring.data import scored_data
from beyondchance.scoring.joint_placements import PlacementRange, extremes
from beyondchance.scoring.options import scoring_of


@documented(ScoringOptions)
def placement_range(
    data: Any, other: Any = None, **options: Unpack[ScoredOptions]
) -> PlacementRange:
    """How much scores depend on where quotes without offsets are.

    Words that an annotator quoted without offsets may occur more often than they were quoted. The
    range is that of all joint placements in which quotes that were found at the same places are
    at different ones of these, and no two spans of an annotator cross unless they do so where
    they were put. If there are more such quotes than places, the quotes of each label are at
    different ones.

    Parameters
    ----------
    data, other
        Quotes without offsets, as in `agreement`, or a corpus that was read from some.
    gold : str or path, optional
        As in `agreement`.
    {options}
    names, texts, scheme, repair, ... : optional
        How `data` and `other` become a corpus (see `corpus`).

    Returns
    -------
    PlacementRange

    Examples
    --------
    The model quotes one of two mentions of Ada; the annotator marked the second.

    >>> model = [{"text": "Ada met Bo, and Ada left.", "entities": {"PER": ["Ada", "Bo"]}}]
    >>> person = [{"text": "Ada met Bo, and Ada left.", "entities": {"PER": ["Ada", "Ada"]}}]
    >>> found = placement_range(model, person, measure="exact")
    >>> found.n_ambiguous, found.observed
    (1, (0.5, 0.5))
    """
    given, gold, scoring = scored_data(data, other, options)
    result = agreement(replace(given, alternatives=None), gold=gold, **scoring)
    compared = without_gold(given) if gold is None else given.with_gold(gold)
    number = None if gold is None else compared.annotators.index(gold)
    shared = shared_documents(compared, gold=number)
    found = extremes(compared, shared, scoring_of(scoring), counts_by_document(result.counts))
    if found is not None:
        return found
    observed, corrected = (result.observed,) * 2, (result.corrected,) * 2
    return PlacementRange(observed, corrected, n_ambiguous=0, is_exact=True)
