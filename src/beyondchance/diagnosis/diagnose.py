"""Diagnose annotations: what annotators do otherwise, and what that costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isnan, nan
from typing import Any, NamedTuple, Unpack

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import shared_documents
from beyondchance.core.ragged import bounds, distinct, rows_by_value, spread, total
from beyondchance.core.resampling import holm
from beyondchance.diagnosis.details import Detail, details
from beyondchance.diagnosis.deviations import (
    ALONE,
    EARLIER,
    KINDS,
    LABEL,
    LONGER,
    MISSED,
    Deviations,
    deviations,
)
from beyondchance.diagnosis.diagnosis import (
    DIVIDES,
    HABIT,
    PATTERN_KINDS,
    TAKES_IN,
    Diagnosis,
    Merge,
    Pattern,
)
from beyondchance.diagnosis.loss import as_compared, losses
from beyondchance.diagnosis.periods import periods_of
from beyondchance.errors import OptionError
from beyondchance.messages import Note, Use
from beyondchance.options import ScoredOptions, ScoringOptions, documented
from beyondchance.results.adding import numbered, numbers
from beyondchance.results.agreement import Agreement
from beyondchance.results.score import Score
from beyondchance.scoring.answers import Question, agreement_from, answer
from beyondchance.scoring.data import scored_data
from beyondchance.scoring.edits import Base, Edits, scores_of
from beyondchance.scoring.options import Scoring, scoring_of
from beyondchance.types import Bools, Floats, Ints

_TOGETHER = 20
"""Patterns with a score of all before them together."""
_MOST_MERGES = 100
"""Pairs of labels that are scored as one, the most often confused."""
_MOST_COUNTED = 2**24
"""Spans that are counted again, over all patterns."""
_FIRST_OF_TWO = (EARLIER, LONGER, ALONE)
"""Kinds that name a disagreement of two annotators, by who marks more."""
_CHANGES_WITH = "chance of unit 'corpus' depends on all texts at once"
_WITHOUT_VALUE = (
    "patterns have no value: the score without them is undefined, or they are rare and texts so "
    "long that counting them again would take minutes"
)
_NO_CAUSES = Note(
    "causes of the loss are for measures by which a match is at most the smaller size"
)


@documented(ScoringOptions)
def diagnose(
    data: Any, *others: Any, by: str | None = None, **options: Unpack[ScoredOptions]
) -> Diagnosis:
    """Find where agreement is lost, and what mending each pattern of disagreement would bring.

    A pattern is a set of one annotator's disagreements that share a label and a kind; what is a
    habit of none of those who do it is one pattern of all of them. Its gain is what the corrected
    score would rise by, chance included, if those who differ did as the others do, in these
    disagreements and nowhere else: a span that starts earlier would start where the others' does,
    one with another label would have theirs, one that is marked alone would not be marked. With
    several others, what most of them do counts. Patterns that are too few to tell whose habit they
    are come last.

    Parameters
    ----------
    data, *others
        As in `agreement`.
    gold : str or path, optional
        Compare each annotator with this one only, who is right: the patterns of each are its
        errors, and their gain is that of its own score.
    by : str, optional
        Also compute the agreement of each annotator over time, and who changed (`periods`): by
        "week" or "month" of the date of each annotation, or a field of the documents.
    {options}
    {others} : optional
        How these become a corpus (see `corpus`), and how large files are counted (see `agreement`).

    Returns
    -------
    Diagnosis

    Raises
    ------
    DataError
        When the annotations cannot be compared.
    OptionError
        For files that are read in parts, and for unit ``corpus``, whose chance cannot be
        divided among texts.

    Notes
    -----
    Of two annotators it is not known who is right. A disagreement is named by the one who marks
    more: who starts earlier, ends later or marks a span that the other does not; of labels, by
    that of the second. Whether it is a habit is told by exchanging the names of the two within
    documents: if the other does the same as often, the guideline is unclear.

    Examples
    --------
    Ben takes the article in, twice.

    >>> from beyondchance import diagnose
    >>> ada = [["O", "B-PER", "I-PER", "O"], ["O", "B-PER", "O", "O"]]
    >>> ben = [["B-PER", "I-PER", "I-PER", "O"], ["B-PER", "I-PER", "O", "O"]]
    >>> found = diagnose({"ada": ada, "ben": ben})
    >>> [(p.who, p.label, p.kind, p.count, p.after) for p in found.patterns]
    [('ben', 'PER', 'starts earlier', 2, 1.0)]
    >>> round(sum(found.loss.values()) + found.corrected, 9)
    1.0
    """
    given, gold, asked = scored_data(data, others, options)
    if given.unit == CORPUS:
        raise OptionError(
            _CHANGES_WITH, remedy=("read them with ", Use("unit", "sentence"), " or document")
        )
    result = agreement_from(answer(given, Question("agreement", gold, asked)))
    return diagnosis_of(result, given, scoring_of(asked), gold=gold, by=by)


def diagnosis_of(
    result: Agreement,
    given: Corpus,
    scoring: Scoring,
    *,
    gold: str | None = None,
    by: str | None = None,
) -> Diagnosis:
    """Diagnose a result, from the corpus that it was computed from."""
    corpus = as_compared(given, scoring, gold)
    known = None if result.gold is None else corpus.annotators.index(result.gold)
    base = Base(corpus, result.counts.ordered(corpus.annotators), scoring, known)
    shared = shared_documents(corpus, gold=known)
    document = corpus.annotation_document[shared.one]
    a, b = (corpus.annotation_annotator[side] for side in (shared.one, shared.two))
    found = deviations(corpus, document, a, b, known)
    cases = _Cases(corpus, found, *details(corpus, found, known), known)
    cause = losses(corpus, base.counts, scoring)
    patterns = tuple(_patterns(base, cases, result.score))
    n_open = sum(isnan(pattern.after) and not isnan(pattern.before) for pattern in patterns)
    return Diagnosis(
        agreement=result,
        corpus=corpus,
        patterns=patterns,
        periods=None if by is None else periods_of(corpus, result.counts, by),
        notes=(
            *result.notes,
            *([_NO_CAUSES] if cause is None else []),
            *([Note(f"{n_open:,} {_WITHOUT_VALUE}")] if n_open else []),
        ),
        _losses=cause,
        _make_merges=partial(_merges, base, cases, result.score)
        if scoring.scope.labelled
        else tuple,
    )


class _Key(NamedTuple):
    """What the disagreements of a pattern have in common; the kind by its number."""

    panel: int
    who: int
    label: int
    kind: int
    detail: Detail


@dataclass(frozen=True, eq=False)
class _Cases:
    """Deviations, and the pattern that each of them belongs to.

    Attributes
    ----------
    corpus : Corpus
    found : Deviations
    about : sequence of Detail
    there : array of int, shape (deviations,)
        Of details about an overlap, a span that is marked there; otherwise -1.
    gold : int, optional
    """

    corpus: Corpus
    found: Deviations
    about: Sequence[Detail]
    there: Ints
    gold: int | None

    @cached_property
    def is_named(self) -> Bools:
        """Deviations by which something is named, so that a disagreement of two is named once.

        Labels of two annotators are named by either, to tell whose habit it is.
        """
        found = self.found
        several = (found.n_others > 1) | (self.gold is not None)
        return np.asarray(several | np.isin(found.kind, (*_FIRST_OF_TWO, LABEL)))

    @cached_property
    def is_listed(self) -> Bools:
        """Those that are in a pattern: of systems; of labels of two, those of the second."""
        found = self.found
        if self.gold is not None:
            return np.asarray(found.who != self.gold)
        is_twin = (found.kind == LABEL) & (found.n_others == 1) & (found.other > found.who)
        return np.asarray(self.is_named & ~is_twin)

    @cached_property
    def keys(self) -> list[_Key]:
        """The pattern of every deviation.

        What takes in spans of another label, and these spans that the annotator misses or another
        one has alone, have one root.
        """
        found, kind, is_there = self.found, self.found.kind, self.there >= 0
        is_whole = is_there & (kind > LONGER)
        # Of two, who marks around it takes in what the other has alone.
        is_other = is_whole & (kind == ALONE) & (found.n_others == 1) & (self.gold is None)
        is_more = np.isin(kind, (EARLIER, LONGER, MISSED)) | is_other
        marked = self.corpus.span_label[self.there]
        label = np.select([is_whole, is_there & ~is_more], [marked, found.to_label], found.label)
        takes_in, divides, first = map(PATTERN_KINDS.index, (TAKES_IN, DIVIDES, KINDS[0]))
        joined = np.where(is_more, takes_in, divides)
        columns = (
            found.panel,
            np.where(is_other, found.other, found.who),
            label,
            np.where(is_there, joined, kind + first),
        )
        rows = zip(*(column.tolist() for column in columns), self.about, strict=True)
        return [_Key(*row) for row in rows]

    def counted(self) -> dict[_Key, dict[int, dict[int, int]]]:
        """Count disagreements by what they have in common, document and annotator of it."""
        corpus, documents = self.corpus, self.found.document.tolist()
        first = bounds(corpus.annotation_document, len(corpus.documents)).tolist()
        annotators = corpus.annotation_annotator.tolist()
        found: dict[_Key, dict[int, dict[int, int]]] = {}
        for row in np.flatnonzero(self.is_named).tolist():
            key, document = self.keys[row], documents[row]
            counts = found.setdefault(_thing(key), {}).setdefault(document, {})
            if not counts:
                team = annotators[first[document] : first[document + 1]]
                counts |= dict.fromkeys(team if self.gold is None else (self.gold, key.panel), 0)
            counts[key.who] += 1
        return found


def _patterns(base: Base, cases: _Cases, score: Score) -> list[Pattern]:
    """List all patterns, the most costly first; last those that are too few to tell."""
    corpus, found = cases.corpus, cases.found
    rows = np.flatnonzero(cases.is_listed)
    if not len(rows):
        return []
    keys = [cases.keys[row] for row in rows.tolist()]
    counted = cases.counted()
    p = {key: of_annotator(counted[_thing(key)], key.who) for key in dict.fromkeys(keys)}
    values = holm(np.array(list(p.values()))).tolist()
    adjusted = dict(zip(p, values, strict=True))
    # What several do is one pattern, apart from those of whom it is a habit.
    roots = [key if adjusted[key] <= HABIT else _thing(key) for key in keys]
    known = list(dict.fromkeys(roots))
    pattern = numbers(roots, numbered(known))
    own_rows = [rows[own] for own in rows_by_value(pattern)]
    who = np.array([_only(found.who[own]) for own in own_rows], dtype=np.int64)
    chosen = _affordable(corpus, found.text[rows], pattern, len(known))
    number_of = np.cumsum(chosen) - 1
    few = chosen[pattern]
    edits = found.edits(corpus, rows[few], number_of[pattern[few]])
    scored = iter(base.scores(edits, int(np.count_nonzero(chosen)), who[chosen]))
    scores = [next(scored) if is_chosen else Score() for is_chosen in chosen.tolist()]
    names, gold = corpus.annotators, cases.gold
    of_system = {} if gold is None else base.counts.against(names[gold])
    made = []
    for root, own, after in zip(known, own_rows, scores, strict=True):
        whose = np.array([cases.keys[row].who for row in own.tolist()], dtype=np.int64)
        times = Counter(sorted(whose.tolist()))
        own_keys = {i: root._replace(who=i) for i in times}
        others = set(range(len(names))).difference(times) if gold is None else {gold}
        other_way, others_each = of_others(counted[_thing(root)], times)
        did = zip(found.who[own].tolist(), found.kind[own].tolist(), strict=True)
        made.append(
            Pattern(
                times={names[i]: count for i, count in times.items()},
                others=tuple(names[i] for i in sorted(others)),
                is_error=gold is not None,
                label=corpus.labels[root.label],
                kind=PATTERN_KINDS[root.kind],
                about=root.detail,
                other_way=other_way,
                others_each=others_each,
                before=of_system.get(names[root.panel], score).corrected,
                after=after.corrected,
                p_values={names[i]: p[key] for i, key in own_keys.items()},
                adjusted=min(adjusted[key] for key in own_keys.values()),
                parts=Counter((names[i], KINDS[kind]) for i, kind in did),
                _corpus=corpus,
                _found=found[own],
                _whose=whose,
                _there=cases.there[own],
            )
        )

    def rank(i: int) -> tuple[Any, ...]:
        gain = made[i].gain
        return isnan(gain), made[i].is_open, -np.nan_to_num(gain), known[i]

    ranked = sorted(range(len(made)), key=rank)
    valued = [i for i in ranked if chosen[i]]
    scores_so_far = _together(base, cases, [(known[i].panel, own_rows[i]) for i in valued])
    together = dict(zip(valued, scores_so_far, strict=True))
    return [replace(made[i], together=together.get(i, nan)) for i in ranked]


def _thing(key: _Key) -> _Key:
    """Return a key without the annotator."""
    return key._replace(who=-1)


def _affordable(corpus: Corpus, text: Ints, pattern: Ints, n: int) -> Bools:
    """Choose the patterns that are valued, the most frequent, so that it does not take minutes.

    All of them, unless texts are very long and patterns very many: each text that a pattern changes
    is counted again.
    """
    n_texts = len(corpus.text_length)
    n_spans = np.bincount(corpus.span_text, minlength=n_texts)
    changed = distinct(pattern * n_texts + text)[0]
    cost = total(changed // n_texts, n_spans[changed % n_texts], n)
    order = np.argsort(-np.bincount(pattern, minlength=n), kind="stable")
    found = np.zeros(n, dtype=bool)
    found[order[np.cumsum(cost[order]) <= _MOST_COUNTED]] = True
    return found


def _only(values: Ints) -> int:
    """Return the value that all have, or -1."""
    return int(values[0]) if np.all(values == values[0]) else -1


def _together(base: Base, cases: _Cases, ranked: Sequence[tuple[int, Ints]]) -> list[float]:
    """Compute the scores without the first patterns of each panel; nan for later ones.

    A text is counted again after each pattern that changes it, and not after others.
    """
    found, n_texts = cases.found, len(cases.corpus.text_length)
    scores = [nan] * len(ranked)
    if not ranked:
        return scores
    every = np.array([number for number, _ in ranked])
    steps = np.concatenate([own[:_TOGETHER] for own in rows_by_value(every)])
    panel = every[steps]
    changed = [ranked[place][1] for place in steps.tolist()]
    row = np.concatenate(changed)
    step = np.repeat(np.arange(len(steps)), list(map(len, changed)))
    stretch = panel[step] * n_texts + found.text[row]
    keys, variant = distinct(stretch * len(steps) + step)
    texts, text = distinct(keys // len(steps))
    # What was changed once stays so in all later variants of the text.
    owner, later = spread(bounds(text, len(texts))[text + 1][variant] - variant)
    edits = found.edits(cases.corpus, row[owner], variant[owner] + later)
    at_step = keys % len(steps)
    who = panel if base.gold is not None else np.full_like(panel, -1)
    changes = base.changes(edits, who[at_step])
    changes[:, 1:] -= np.where(text[1:] == text[:-1], changes[:, :-1].copy(), 0)
    by_step = np.stack([total(at_step, piece, len(steps)) for piece in changes])
    first = np.searchsorted(panel, panel)
    so_far = np.cumsum(by_step, axis=1)
    so_far -= np.concatenate([np.zeros((len(so_far), 1)), so_far], axis=1)[:, first]
    for place, score in zip(steps.tolist(), scores_of(base.sums(who) + so_far), strict=True):
        scores[place] = score.corrected
    return scores


def _merges(base: Base, cases: _Cases, score: Score) -> list[Merge]:
    """List pairs of confused labels, by what one label for both would bring."""
    corpus = cases.corpus
    labels = numbered(corpus.labels)
    confused = Counter(
        tuple(sorted((key.label, labels[key.detail.name])))
        for key, listed in zip(cases.keys, cases.is_listed.tolist(), strict=True)
        if listed and key.detail.about in {"label", "overlap"}
    )
    pairs = [(i, j) for (i, j), _ in confused.most_common(_MOST_MERGES) if i != j]
    if not pairs:
        return []
    found = [
        Merge(
            labels=(corpus.labels[one], corpus.labels[two]),
            before=score.corrected,
            after=after.corrected,
        )
        for (one, two), after in zip(
            pairs, base.scores(_as_one(corpus, pairs), len(pairs)), strict=True
        )
    ]
    return sorted(found, key=lambda merge: (isnan(merge.gain), -merge.gain, merge.labels))


def _as_one(corpus: Corpus, pairs: Sequence[tuple[int, int]]) -> Edits:
    """Make the second label of each pair the first, in the texts that have both.

    In other texts nothing changes but the name.
    """
    by_label = [np.flatnonzero(corpus.span_label == i) for i in range(len(corpus.labels))]
    found = [
        by_label[two][np.isin(corpus.span_text[by_label[two]], corpus.span_text[by_label[one]])]
        for one, two in pairs
    ]
    span = np.concatenate(found)
    variant = np.repeat(np.arange(len(pairs)), list(map(len, found)))
    return Edits(
        removed_from=variant,
        removed=span,
        variant=variant,
        text=corpus.span_text[span],
        annotator=corpus.span_annotator[span],
        label=np.array(pairs, dtype=np.int64)[variant, 0],
        start=corpus.span_start[span],
        end=corpus.span_end[span],
    )


_SMALLEST = 1e-15
"""What is left of rounding in probabilities; a p-value is not known to be smaller."""


def exchange_p(documents: Iterable[Sequence[int]], own: int) -> float:
    """Compute how often exchanged names would give an annotator as much, or more.

    In every document any of those who annotated it may have been this annotator. All exchanges
    count alike, and those that give just as much count half (the mid-p-value), so that in
    the long run a share p of all patterns that mean nothing has a p-value below p.

    Parameters
    ----------
    documents : iterable of sequences of int
        How often each of those who annotated a document did something in it.
    own : int
        How often the annotator did it, in all of them.

    Examples
    --------
    In four documents one of two did it, and it was always the same: one exchange of 16 gives as
    much.

    >>> exchange_p([(1, 0)] * 4, 4)
    0.03125
    """
    kinds = Counter(tuple(sorted(counts)) for counts in documents)
    total = sum(max(counts) * n for counts, n in kinds.items())
    size = 1 << (total + 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    for counts, n in kinds.items():
        product *= np.fft.rfft(np.bincount(counts) / len(counts), size) ** n
    share: Floats = np.clip(np.fft.irfft(product, size)[: total + 1], 0, None)
    p = float(share[own + 1 :].sum() + share[own] / 2)
    return min(max(p, _SMALLEST), 1.0)


def of_annotator(by_document: Mapping[int, Mapping[int, int]], who: int) -> float:
    """Compute the p-value of an annotator, from how often each did something in each document."""
    documents = [counts for counts in by_document.values() if who in counts]
    own = sum(counts[who] for counts in documents)
    return exchange_p((list(counts.values()) for counts in documents), own)


def of_others(
    by_document: Mapping[int, Mapping[int, int]], whose: Collection[int]
) -> tuple[int, float]:
    """Count how often others did it in the documents of some, and each of them on average."""
    sums: Counter[int] = Counter()
    for counts in by_document.values():
        others = [count for who, count in counts.items() if who not in whose]
        if len(others) < len(counts):
            sums[len(others)] += sum(others)
    # Divided last, so that the order of documents does not matter.
    return sums.total(), sum(sums[size] / size for size in sorted(sums) if size)
