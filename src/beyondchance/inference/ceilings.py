"""How high a score can get: people among each other, and the best that their work allows.

A perfect model does not agree with people more than they allow. The *upper* ceiling is the
agreement of the team with its own consensus, of which no annotation agrees better by what is
observed; it is too high, because the consensus was made from the very same people. The *lower*
one leaves each person out: the consensus of the others, scored on the one left out. A perfect model
lies between them, if people err independently of one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from beyondchance.adjudication.added import with_annotator
from beyondchance.adjudication.consensus import FRESH, MEASURES, Consensus, consensus
from beyondchance.annotations.corpus import Corpus, only
from beyondchance.core.resampling import influences, student
from beyondchance.results.adding import numbered
from beyondchance.results.agreement import Agreement
from beyondchance.results.resampling import jackknifed
from beyondchance.scoring.api import agreement
from beyondchance.types import Floats


@dataclass(frozen=True, slots=True)
class Share:
    """A model's score as a share of a ceiling.

    Attributes
    ----------
    value : float
        Nan where the ceiling is not positive.
    interval : tuple of (float, float)
        Nan where documents do not tell.
    """

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """How high a model's score can get.

    Attributes
    ----------
    model : float
        The corrected agreement of the model with all people.
    human : float
        That of people among each other.
    lower, upper : float
        Of the consensus of the others with each person, and of all with their own consensus. A
        perfect model lies between, if people err independently. Nan for measures other than
        ``token`` and ``exact``, for which no consensus is the best.
    about : float
        With two people, about what a perfect model reaches: the root of `human`; nan otherwise.
    share : mapping of str to Share
        The model's share of ``human``, ``lower`` and ``upper``; with two people, of ``about`` too.
    """

    model: float
    human: float
    lower: float = nan
    upper: float = nan
    about: float = nan
    share: Mapping[str, Share]


def ceiling_of(sums: Mapping[str, Floats], n_humans: int, confidence: float) -> Ceiling:
    """Compute the ceilings of a model.

    Parameters
    ----------
    sums : mapping of str to array of float, shape (documents, 4)
        Of ``model``, ``human``, ``lower`` and ``upper``.
    n_humans : int
    confidence : float
    """
    is_marked = np.any([table[:, 2] > 0 for table in sums.values()], axis=0)
    scores = {name: jackknifed(table[is_marked]) for name, table in sums.items()}
    if n_humans == 2:
        scores["about"] = np.sqrt(np.maximum(scores["human"], 0))
    own = scores["model"]
    shares = {name: _share(own, x, confidence) for name, x in scores.items() if name != "model"}
    return Ceiling(**{name: float(x[0]) for name, x in scores.items()}, share=shares)


def _share(model: Floats, ceiling: Floats, confidence: float) -> Share:
    """Compute the model's share of a ceiling, with its interval by leaving out each document."""
    if not ceiling[0] > 0:
        return Share(nan, (nan, nan))
    with np.errstate(divide="ignore", invalid="ignore"):
        value, *others = (model / ceiling).tolist()
    left_out = np.array(others)
    if len(left_out) < 2 or not np.isfinite(left_out).all():
        return Share(value, (nan, nan))
    return Share(value, student(value, [influences(left_out)], confidence) or (value, value))


def ceiling_sums(
    corpus: Corpus, humans: Sequence[str], documents: Sequence[str], scoring: Mapping[str, Any]
) -> dict[str, Floats]:
    """Sum up ``human``, ``lower`` and ``upper`` of some people in some documents.

    Parameters
    ----------
    corpus : Corpus
    humans : sequence of str
    documents : sequence of str
    scoring : mapping
        How annotations are scored.
    """
    people = replace(only(corpus, humans, documents), gold=None)
    sums = {"human": sums_of(agreement(people, **scoring), documents)}
    measure = str(scoring.get("measure", "token"))
    if measure in MEASURES:

        def voted(part: Corpus) -> Consensus:
            return consensus(part, method="best", measure=measure, name=FRESH)

        sums["lower"] = np.zeros((len(documents), 4))
        for name in humans:
            others = voted(only(people, [other for other in humans if other != name]))
            one = only(people, [name])
            pair = with_annotator(one, FRESH, others.chosen, others.documents)
            if np.isin(one.annotation_document, others.documents).any():
                sums["lower"] += sums_of(agreement(pair, **scoring), documents)
        upper = agreement(voted(people).corpus, gold=FRESH, **scoring)
        sums["upper"] = sums_of(upper, documents)
    return sums


def sums_of(result: Agreement, documents: Sequence[str]) -> Floats:
    """Sum matched, expected, size and freedom by document; 0 of those not compared."""
    counts, place = result.counts, numbered(documents)
    group = np.array([place.get(name, -1) for name in counts.documents], dtype=np.int64)
    return counts.sums_of(group[counts.document], len(documents))
