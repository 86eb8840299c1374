"""Random spans in any text of a corpus: unit ``corpus``.

The spans of an annotator, those of each label on their own or all together as the scope says, are
placed in all texts that the annotator annotated. A text of which an annotator marked nothing can
then hold random spans, and agreeing on which texts hold a span is worth something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.core.corpus_placement import corpus_starts
from beyondchance.core.lengths import tabulate
from beyondchance.core.measures import Measure
from beyondchance.core.profiles import joined
from beyondchance.core.ragged import distinct
from beyondchance.core.sets import SpanSets, ranks_of
from beyondchance.errors import OptionError
from beyondchance.messages import Note
from beyondchance.scoring.marks import Marked, check_apart
from beyondchance.scoring.options import Scoring
from beyondchance.types import Floats, Ints

BY_FUGACITIES = Note(
    f"unit {CORPUS!r}: the corpus is too large to count all arrangements; chance is computed by "
    "fugacities, with a relative error of about 1 divided by the number of spans or less"
)
"""What is said where expectations are not exact."""


@dataclass(frozen=True, slots=True)
class CorpusWide:
    """What is expected in one text of each size, of each annotator and label.

    Attributes
    ----------
    sets : SpanSets
    number : array of int, shape (annotators, labels, sizes)
        The set of each; -1 where no span can be.
    size : array of int, shape (texts,)
        The number of the size of each text.
    is_exact : bool
        Whether all expectations are; if not, some come from fugacities.
    """

    sets: SpanSets
    number: Ints
    size: Ints
    is_exact: bool


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


def corpus_wide(spans: Marked, measure: Measure) -> CorpusWide:
    """Where the spans of every annotator may be in the texts of a corpus."""
    corpus, n_labels = spans.corpus, max(len(spans.labels), 1)
    sizes, size = distinct(corpus.text_length)
    n_annotators = max(len(corpus.annotators), 1)
    texts = _texts(corpus.annotation_annotator, corpus.annotation_document, corpus.text_document)
    group, length = spans.owner(), spans.end - spans.start
    who = spans.annotator[group]
    line = who if spans.scope.is_joint else who * n_labels + spans.label[group]
    number = np.full((n_annotators, n_labels, len(sizes)), -1)
    parts, is_exact, n_places = [], True, 0
    columns: list[tuple[int, Ints, Ints, Floats]] = []
    for which in distinct(line)[0].tolist():
        own = np.flatnonzero(line == which)
        annotator = int(who[own[0]])
        times = np.bincount(size[texts[annotator]], minlength=len(sizes))
        has_texts = np.flatnonzero((times > 0) & (sizes > 0))
        table, _ = tabulate(np.zeros(1, dtype=np.int64), np.zeros_like(own), length[own])
        found = corpus_starts(sizes[has_texts], times[has_texts], table.length, table.count)
        is_exact &= found.is_exact
        label = spans.label[group[own]]
        for one in distinct(label)[0].tolist():
            share = np.zeros(len(table.length))
            np.add.at(share, np.searchsorted(table.length, length[own][label == one]), 1.0)
            share /= table.count
            mine = np.flatnonzero(share[found.run] > 0)
            for here in distinct(found.size[mine])[0].tolist():
                members = mine[found.size[mine] == here]
                number[annotator, one, has_texts[here]] = len(columns)
                runs = found.run[members]
                n = int(found.n[here])
                columns.append((n, n_places + members, table.length[runs], share[runs]))
        parts.append(found.starts)
        n_places += len(found.starts)
    first = np.cumsum([0, *(len(place) for _, place, _, _ in columns)])
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
        first=first,
        place=place,
        shift=zero,
        length=lengths,
        is_rigid=zero.astype(bool),
        level=zero + 1,
        kind=lengths if measure.members_of is ranks_of else zero,
        weight=weight,
        starts=joined(*parts) if parts else None,
    )
    return CorpusWide(sets, number, size, is_exact)


def _texts(annotator: Ints, document: Ints, text_document: Ints) -> dict[int, Ints]:
    """The texts that each annotator annotated."""
    return {
        who: np.flatnonzero(np.isin(text_document, document[annotator == who]))
        for who in distinct(annotator)[0].tolist()
    }
