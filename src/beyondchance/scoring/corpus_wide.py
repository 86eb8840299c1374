"""Random spans in any text of a corpus: unit ``corpus``.

The spans of an annotator, those of each label on their own or all together as the scope says, are
placed in all texts that the annotator shares with another. A text of which an annotator marked
nothing can then hold random spans, and agreeing on which texts hold a span is worth something.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.pairs import SharedDocuments
from beyondchance.core.corpus_placement import corpus_draws, corpus_starts
from beyondchance.core.estimates import TRIED, same_or_nan, sampled_match
from beyondchance.core.lengths import tabulate
from beyondchance.core.measures import Measure
from beyondchance.core.observed import Matched
from beyondchance.core.profiles import joined
from beyondchance.core.ragged import distinct, starts
from beyondchance.core.random_places import SpanSets, ranks_of
from beyondchance.errors import OptionError
from beyondchance.messages import Note
from beyondchance.scoring.marks import Marked, check_apart
from beyondchance.scoring.options import Scoring
from beyondchance.types import Floats, Ints

BY_FUGACITIES = Note(
    f"unit {CORPUS!r}: chance is computed by an approximation (fugacities), because there are too "
    "many arrangements to count; its relative error is about 1 divided by the number of spans, or "
    "less"
)
"""What is said where expectations are not exact."""


_FEWEST, _MOST_DRAWN = 8, 2**20
"""Arrangements that are tried in any case, and texts that are filled for it altogether."""


class Ensemble(NamedTuple):
    """The spans of an annotator in some documents, and the texts in which they may be.

    Attributes
    ----------
    texts : array of int, shape (texts,)
        Sizes.
    lengths, labels : arrays of int, shape (spans,)
    """

    texts: Ints
    lengths: Ints
    labels: Ints


class CorpusWide(NamedTuple):
    """What is expected in one text of each size, of each annotator and label.

    Two annotators are compared in the documents that they share: the spans of either are
    placed in these.

    Attributes
    ----------
    pairs : array of int, shape (pairs,)
        ``a * annotators + b``, ascending.
    sides : array of int, shape (2, pairs)
        The ensemble of either annotator.
    ensembles : list of Ensemble
    sets : SpanSets
    number : array of int, shape (ensembles, labels, sizes)
        The set of each; -1 where no span can be.
    size : array of int, shape (texts,)
        The number of the size of each text.
    is_exact : bool
        Whether all expectations are; if not, some come from fugacities.
    is_joint : bool
        Whether all labels are placed together.
    """

    pairs: Ints
    sides: Ints
    ensembles: list[Ensemble]
    sets: SpanSets
    number: Ints
    size: Ints
    is_exact: bool
    is_joint: bool

    def constant_match(self, pair: int, label: int, matched: Matched) -> float:
        """Return the match of two annotators if it is the same in all draws; else nan.

        It is also nan where there are too many arrangements to draw from.
        """
        if not self.is_exact:
            return nan
        rng, sides = np.random.default_rng(0), []
        n_texts = len(self.ensembles[int(self.sides[0, pair])].texts)
        draws = min(max(_MOST_DRAWN // n_texts, _FEWEST), TRIED)
        for which in self.sides[:, pair].tolist():
            placed = self.ensembles[which]
            own = placed.labels == label
            together = np.ones_like(own) if self.is_joint else own
            lengths = placed.lengths[together]
            text, start = corpus_draws(placed.texts, lengths, draws, rng)
            if not len(start):
                return nan
            # Texts one after the other, apart from one another.
            start += starts(placed.texts + 1)[text]
            sides.append((start[:, own[together]], placed.lengths[own]))
        n = int((self.ensembles[int(self.sides[0, pair])].texts + 1).sum())
        return same_or_nan(sampled_match(n, *sides, matched=matched))


def check_corpus_wide(spans: Marked, scoring: Scoring) -> None:
    """Refuse what is not defined for spans in any text of a corpus.

    Raises
    ------
    OptionError, OverlapError
    """
    measure, model = scoring.measure, scoring.model
    if model.is_independent:
        raise OptionError(
            f"unit {CORPUS!r} places spans apart, and model {model.name!r} does not",
            remedy="use model 'auto'",
        )
    if measure.estimate is not None and not measure.adds_up:
        raise OptionError(
            f"measure {measure.name!r} has no exact expectation below theta = 0.5, which unit "
            f"{CORPUS!r} needs",
            remedy="use a larger theta, or another unit",
        )
    check_apart(spans, f"unit {CORPUS!r} places them apart")


def corpus_wide(spans: Marked, shared: SharedDocuments, measure: Measure) -> CorpusWide:
    """Compute where spans of two annotators may be in the texts that both annotated."""
    corpus, is_joint = spans.corpus, spans.scope.is_joint
    n_labels = max(len(spans.labels), 1)
    sizes, size = distinct(corpus.text_length)
    pairs, sides, placed = _placed(spans, shared)
    number = np.full((len(placed), n_labels, len(sizes)), -1)
    parts, is_exact, n_places = [], True, 0
    columns: list[tuple[int, Ints, Ints, Floats]] = []
    values: list[list[list[float]]] = []
    for which, ensemble in enumerate(placed):
        n, times = np.unique(ensemble.texts, return_counts=True)
        for line in [np.unique(ensemble.labels)] if is_joint else np.unique(ensemble.labels):
            own = np.isin(ensemble.labels, line)
            lengths, labels = ensemble.lengths[own], ensemble.labels[own]
            length, count = np.unique(lengths, return_counts=True)
            found = corpus_starts(n[n > 0], times[n > 0], length, count)
            is_exact &= found.is_exact
            known = [column.tolist() for column in (n, times, length, count)]
            for label in np.unique(labels).tolist():
                mine = np.searchsorted(length, lengths[labels == label])
                share = np.bincount(mine, minlength=len(length)) / count
                used = np.flatnonzero(share[found.run] > 0)
                for here in distinct(found.size[used])[0].tolist():
                    members = used[found.size[used] == here]
                    text_size = int(found.n[here])
                    number[which, label, np.searchsorted(sizes, text_size)] = len(columns)
                    runs = found.run[members]
                    columns.append((text_size, n_places + members, length[runs], share[runs]))
                    values.append([[text_size], *known, share.tolist()])
            parts.append(found.starts)
            n_places += len(found.starts)
    # Sets are numbered by what they are, so that it does not matter whose they are.
    order = sorted(range(len(columns)), key=values.__getitem__)
    columns = [columns[i] for i in order]
    number[number >= 0] = np.argsort(np.array(order, dtype=np.int64))[number[number >= 0]]
    nothing = np.zeros(0, dtype=np.int64)
    place, lengths, weight = (
        np.concatenate([nothing, *(column[i] for column in columns)]) for i in (1, 2, 3)
    )
    zero = np.zeros_like(place)
    sets = SpanSets(
        table=tabulate(nothing, nothing, nothing)[0],
        run=nothing,
        parent=nothing,
        n=np.array([n for n, *_ in columns], dtype=np.int64),
        first=np.cumsum([0, *(len(places) for _, places, _, _ in columns)]),
        place=place,
        shift=zero,
        length=lengths,
        is_rigid=zero.astype(bool),
        level=zero + 1,
        kind=lengths if measure.members_of is ranks_of else zero,
        weight=weight,
        starts=joined(*parts) if parts else None,
    )
    return CorpusWide(pairs, sides, placed, sets, number, size, is_exact, is_joint)


def _placed(spans: Marked, shared: SharedDocuments) -> tuple[Ints, Ints, list[Ensemble]]:
    """Return pairs of annotators, and what either marked in the documents they share.

    Where everybody annotated everything, there is one ensemble for each annotator.
    """
    corpus = spans.corpus
    n_annotators = max(len(corpus.annotators), 1)
    who, document = corpus.annotation_annotator, corpus.annotation_document[shared.one]
    pairs, pair = distinct(who[shared.one] * n_annotators + who[shared.two])
    group, length = spans.owner(), spans.end - spans.start
    text, annotator, label = spans.text[group], spans.annotator[group], spans.label[group]
    sides = np.zeros((2, len(pairs)), dtype=np.int64)
    known: dict[tuple[int, bytes], int] = {}
    found: list[Ensemble] = []
    for which, code in enumerate(pairs.tolist()):
        is_shared = np.zeros(len(corpus.documents), dtype=bool)
        is_shared[document[pair == which]] = True
        texts = is_shared[corpus.text_document]
        for side, one in enumerate(divmod(code, n_annotators)):
            key = one, is_shared.tobytes()
            if key not in known:
                known[key] = len(found)
                own = (annotator == one) & texts[text]
                found.append(Ensemble(corpus.text_length[texts], length[own], label[own]))
            sides[side, which] = known[key]
    return pairs, sides, found
