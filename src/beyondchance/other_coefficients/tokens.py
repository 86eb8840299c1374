r"""Coefficients that look at positions one by one.

Each annotator gives each position a category: the label of the span that covers it,
or none. What was marked is then a list of categories, and the coefficients for lists
of categories apply. They know nothing of spans: a random annotator is one who
shuffles positions, not one who places spans.

Positions are counted by section, never one by one, and pooled over texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import distinct, total
from beyondchance.other_coefficients.coefficient import (
    NOTHING_MARKED,
    Coefficient,
    Function,
    Task,
    UndefinedError,
    computed,
    from_disagreement,
)
from beyondchance.other_coefficients.sections import (
    GAP,
    Meetings,
    Sections,
    cut,
    meetings,
    meetings_of_sections,
    sections,
)
from beyondchance.results.score import SUMS, Score
from beyondchance.types import Floats, Ints

ALL_ALIKE = "all annotators gave all positions the same category: nothing else could be expected"


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairTables:
    """What each pair of annotators made of the positions that both saw.

    The last category is none.

    Attributes
    ----------
    size : array, shape (pairs,)
        Positions.
    one, other, both : arrays, shape (pairs, categories)
        How many of them the one, the other, and both gave each category.
    """

    size: Floats
    one: Floats
    other: Floats
    both: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    """What the annotators of each text made of its positions.

    Attributes
    ----------
    length, team : arrays, shape (texts,)
        Positions, and annotators.
    different : array, shape (texts,)
        Positions, and pairs of annotators, with different categories.
    given : array, shape (texts, categories)
        How often a category was given.
    """

    length: Floats
    team: Floats
    different: Floats
    given: Floats


def token_coefficients(corpus: Corpus) -> dict[str, Coefficient]:
    r"""Cohen's κ, Scott's π, Fleiss' κ, nominal α, S and AC1 of positions.

    With observed agreement :math:`P_o` and expected agreement :math:`P_e`, each is
    :math:`(P_o - P_e) / (1 - P_e)`. They differ in what they expect, and in what counts
    once where teams are unequal. There are q categories, the labels of the corpus and none.

    kappa
        Each annotator has habits of its own: :math:`P_e = \sum_k p_{ik} p_{jk}` for
        annotators i and j. With a team, positions that agree and positions expected to are
        added over all pairs, then divided (Conger's generalisation where all saw the same
        texts). `by_label` has each label against everything else.
    shuffled-f1
        Token F1 corrected as if positions were shuffled, label by label: the same as kappa
        of the label (see `shuffled_tokens`).
    pi
        All annotators share their habits: :math:`P_e = \sum_k p_k^2`. With a team, the tables
        of all pairs are added, so that a text counts by its number of pairs.
    fleiss
        As pi, but each position counts once, with the share of its pairs that agree and the
        shares of its annotators that chose each category; so teams need not be equal. For
        equal teams it is Fleiss' κ, and the same as pi.
    nominal-alpha
        As pi, but a category is not paired with itself:
        :math:`P_e = \sum_k n_k (n_k - 1) / (n (n - 1))` with :math:`n_k` uses of k among n; each
        use counts once.
    s
        All categories are equally likely: :math:`P_e = 1 / q`. Positions as in fleiss.
    ac1
        :math:`P_e = \sum_k p_k (1 - p_k) / (q - 1)`. Positions as in fleiss.

    Parameters
    ----------
    corpus : Corpus

    Returns
    -------
    dict of str to Coefficient
        `observed` and `expected` are agreements, as shares of positions (F1 for
        shuffled-f1). All undefined, with the place as reason, where spans of one annotator
        overlap.

    References
    ----------
    Jacob Cohen (1960); William A. Scott (1955); Joseph L. Fleiss (1971); Klaus
    Krippendorff (2004); E. M. Bennett, R. Alpert and A. C. Goldstein (1954); Kilem L. Gwet
    (2008); Anthony J. Conger (1980).

    Examples
    --------
    Anna marks the first two of four positions, Ben the first: 3 of 4 agree. Habits of
    one half and of one quarter agree by chance in 1/2 * 1/4 + 1/2 * 3/4 = 1/2 of all cases.

    >>> spans = {"anna": [[(0, 2, "X")]], "ben": [[(0, 1, "X")]]}
    >>> found = token_coefficients(Corpus.from_spans(spans, lengths=[4]))
    >>> found["kappa"].observed, found["kappa"].expected, found["kappa"].value
    (0.75, 0.5, 0.5)
    >>> found["s"].value
    0.5
    """
    task = Task(corpus=corpus)
    return {name: computed(name, function, task) for name, function in TOKENS.items()}


def shuffled_tokens(corpus: Corpus) -> dict[str, Score]:
    r"""F1 of each label, and what shuffling the positions of each annotator would give.

    Of n positions in all texts, shuffling makes :math:`n_A n_B / n` meet. The corrected F1
    is then exactly Cohen's κ of the label against everything else. Whole spans, which
    `agreement` shuffles, meet more often or less often than that.

    Parameters
    ----------
    corpus : Corpus

    Returns
    -------
    dict of str to Score
        Without numbers of documents and spans.

    Raises
    ------
    OverlapError
        When spans of one annotator overlap.

    Examples
    --------
    >>> spans = {"anna": [[(0, 2, "X")]], "ben": [[(0, 1, "X")]]}
    >>> score = shuffled_tokens(Corpus.from_spans(spans, lengths=[4]))["X"]
    >>> score.matched, score.expected, score.corrected
    (1.0, 0.5, 0.5)
    """
    parts = cut(corpus, by_label=False)
    return _shuffled(_counted_pairs(parts, meetings(parts), len(corpus.labels)), corpus.labels)


# --- Counting -----------------------------------------------------------------


def _marked_sections(task: Task) -> Sections:
    """The sections of a task in which something is marked."""
    parts = task.once(sections)
    if not parts.is_unit.any():
        raise UndefinedError(NOTHING_MARKED)
    return parts


def _pair_tables(task: Task) -> _PairTables:
    """What pairs of annotators made of the positions of a task."""
    parts = task.once(_marked_sections)
    return _counted_pairs(parts, task.once(meetings_of_sections), len(task.corpus.labels))


def _counted_pairs(parts: Sections, met: Meetings, n_labels: int) -> _PairTables:
    """Add up the positions of each pair of annotators, over all texts."""
    n_categories = n_labels + 1
    annotator = parts.track_annotator[parts.track]
    code = annotator[met.left] * (int(annotator.max(initial=0)) + 1) + annotator[met.right]
    pairs, pair = distinct(code)
    one, other = (_category(parts.label[side], n_labels) for side in (met.left, met.right))

    def counted(category: Ints, shared: Ints) -> Floats:
        cells = total(pair * n_categories + category, shared, len(pairs) * n_categories)
        return cells.reshape(len(pairs), n_categories)

    return _PairTables(
        size=total(pair, met.shared, len(pairs)),
        one=counted(one, met.shared),
        other=counted(other, met.shared),
        both=counted(one, np.where(one == other, met.shared, 0)),
    )


def _texts(task: Task) -> _Texts:
    """Add up the positions of each text of a task, over all annotators."""
    parts, met = task.once(_marked_sections), task.once(meetings_of_sections)
    n_labels = len(task.corpus.labels)
    n_texts, n_categories = len(parts.field_text), n_labels + 1
    differs = parts.label[met.left] != parts.label[met.right]
    cell = parts.field * n_categories + _category(parts.label, n_labels)
    return _Texts(
        length=parts.field_length.astype(np.float64),
        team=parts.field_team.astype(np.float64),
        different=total(parts.field[met.left], np.where(differs, met.shared, 0), n_texts),
        given=total(cell, parts.length, n_texts * n_categories).reshape(n_texts, n_categories),
    )


def _category(label: Ints, n_labels: int) -> Ints:
    return np.where(label == GAP, n_labels, label)


def _against_the_rest(tables: _PairTables, label: int) -> _PairTables:
    """The same tables with two categories: one label, and everything else."""
    one, other, both = (table[:, label] for table in (tables.one, tables.other, tables.both))
    neither = tables.size - one - other + both
    return _PairTables(
        size=tables.size,
        one=np.column_stack([one, tables.size - one]),
        other=np.column_stack([other, tables.size - other]),
        both=np.column_stack([both, neither]),
    )


# --- Coefficients -------------------------------------------------------------


def _from_shares(name: str, different: float, expected: float) -> Coefficient:
    """From shares of positions that differ, observed and expected."""
    coefficient = from_disagreement(name, different, expected, why=ALL_ALIKE)
    return replace(coefficient, observed=1 - different, expected=1 - expected)


def kappa(task: Task) -> Coefficient:
    """Cohen's kappa, of all labels and of each against everything else."""
    tables = task.once(_pair_tables)
    by_label = {
        label: _kappa(_against_the_rest(tables, number))
        for number, label in enumerate(task.corpus.labels)
    }
    return replace(_kappa(tables), by_label=by_label)


def _kappa(tables: _PairTables) -> Coefficient:
    # What differs by chance is a sum of n_k (n - n'_k): exactly zero where all are alike.
    differs = tables.one * (tables.size[:, None] - tables.other) / tables.size[:, None]
    size = fsum(tables.size)
    different = size - fsum(tables.both.ravel())
    coefficient = _from_shares("kappa", different / size, fsum(differs.ravel()) / size)
    is_used = tables.one[:, :-1].any() or tables.other[:, :-1].any()
    return coefficient if is_used else replace(coefficient, why=NOTHING_MARKED)


def shuffled_f1(task: Task) -> Coefficient:
    """Token F1 corrected as if positions were shuffled, and that of each label."""
    scores = _shuffled(task.once(_pair_tables), task.corpus.labels)
    marked = [score for score in scores.values() if score.size_a + score.size_b]
    sums: dict[str, Any] = {
        name: fsum(getattr(score, name) for score in marked) for name in SUMS[:4]
    }
    whole = Score(**sums, certain=all(score.certain for score in marked))
    by_label = {label: from_score("shuffled-f1", score) for label, score in scores.items()}
    return replace(from_score("shuffled-f1", whole), by_label=by_label)


def _shuffled(tables: _PairTables, labels: tuple[str, ...]) -> dict[str, Score]:
    size = tables.size[:, None]
    by_chance = tables.one * tables.other / size
    can_differ = (tables.one * (size - tables.other) + tables.other * (size - tables.one)) > 0
    return {
        label: Score(
            matched=fsum(tables.both[:, number]),
            expected=fsum(by_chance[:, number]),
            size_a=fsum(tables.one[:, number]),
            size_b=fsum(tables.other[:, number]),
            certain=not can_differ[:, number].any(),
        )
        for number, label in enumerate(labels)
    }


def from_score(name: str, score: Score) -> Coefficient:
    """A corrected F1 as a coefficient."""
    return Coefficient(
        name=name,
        value=score.corrected,
        observed=score.observed,
        expected=score.chance,
        why=score.reason or (),
    )


def pi(task: Task) -> Coefficient:
    """Scott's pi."""
    tables = task.once(_pair_tables)
    given = tables.one.sum(axis=0) + tables.other.sum(axis=0)
    size = fsum(tables.size)
    different = size - fsum(tables.both.ravel())
    return _from_shares("pi", different / size, _two_differ(given / (2 * size)))


def fleiss(task: Task) -> Coefficient:
    """Fleiss' kappa."""
    different, share = _by_position(task.once(_texts))
    return _from_shares("fleiss", different, _two_differ(share))


def nominal_alpha(task: Task) -> Coefficient:
    """Krippendorff's nominal alpha."""
    texts = task.once(_texts)
    uses = fsum(texts.length * texts.team)
    given = texts.given.sum(axis=0)
    different = fsum(2 * texts.different / (texts.team - 1)) / uses
    expected = fsum(given * (uses - given)) / (uses * (uses - 1))
    return _from_shares("nominal-alpha", different, expected)


def s(task: Task) -> Coefficient:
    """Bennett's S."""
    different, share = _by_position(task.once(_texts))
    return _from_shares("s", different, (len(share) - 1) / len(share))


def ac1(task: Task) -> Coefficient:
    """Gwet's AC1."""
    different, share = _by_position(task.once(_texts))
    return _from_shares("ac1", different, 1 - _two_differ(share) / (len(share) - 1))


def _by_position(texts: _Texts) -> tuple[float, Floats]:
    """The share of pairs that differ, and of each category, every position counting once."""
    size = fsum(texts.length)
    pairs = texts.team * (texts.team - 1) / 2
    different = fsum(texts.different / pairs) / size
    return different, np.array([fsum(column / texts.team) for column in texts.given.T]) / size


def _two_differ(share: Floats) -> float:
    """The probability that two categories drawn with these probabilities differ."""
    return fsum(share * (1 - share))


TOKENS: Mapping[str, Function] = {
    "kappa": kappa,
    "shuffled-f1": shuffled_f1,
    "pi": pi,
    "fleiss": fleiss,
    "nominal-alpha": nominal_alpha,
    "s": s,
    "ac1": ac1,
}
"""The functions of the coefficients of this module."""
