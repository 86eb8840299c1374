"""The range of scores over all places where quotes without offsets may be."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import shared_documents
from beyondchance.checks import checked_instance
from beyondchance.options import ScoringOptions, documented
from beyondchance.scoring.api import agreement, without_gold
from beyondchance.scoring.joint_placements import PlacementRange, extremes
from beyondchance.scoring.options import scoring_of


@documented(ScoringOptions)
def placement_range(
    corpus: Corpus, *, gold: str | None = None, **scoring: Unpack[ScoringOptions]
) -> PlacementRange:
    """How much scores depend on where quotes without offsets are.

    Words that an annotator quoted without offsets may occur more often than they were quoted. The
    range is that of all joint placements in which the quotes of one string are at different
    occurrences of it, and no two spans of an annotator cross unless they do so where they
    were put.

    Parameters
    ----------
    corpus : Corpus
        As `read` makes one of quotes without offsets.
    gold : str, optional
        As in `agreement`.
    {options}

    Returns
    -------
    PlacementRange

    Examples
    --------
    The model quotes one of two mentions of Ada; the annotator marked the second.

    >>> from beyondchance import read
    >>> model = [{"text": "Ada met Bo, and Ada left.", "entities": {"PER": ["Ada", "Bo"]}}]
    >>> person = [{"text": "Ada met Bo, and Ada left.", "entities": {"PER": ["Ada", "Ada"]}}]
    >>> corpus = read(model, person)
    >>> found = placement_range(corpus, measure="exact")
    >>> found.n_ambiguous, found.observed
    (1, (0.5, 0.5))
    """
    given = checked_instance(corpus, Corpus, "a Corpus")
    result = agreement(replace(given, alternatives=None), gold=gold, **scoring)
    compared = without_gold(given) if gold is None else given.with_gold(gold)
    number = None if gold is None else compared.annotators.index(gold)
    shared = shared_documents(compared, gold=number)
    found = extremes(compared, shared, scoring_of(scoring), result.counts)
    if found is not None:
        return found
    observed, corrected = (result.observed,) * 2, (result.corrected,) * 2
    return PlacementRange(observed, corrected, n_ambiguous=0, is_exact=True)
