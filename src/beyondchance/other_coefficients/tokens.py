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

import numpy as np

from beyondchance.core.ragged import distinct, total
from beyondchance.messages import Text
from beyondchance.other_coefficients.coefficient import (
    NOTHING_MARKED,
    Coefficient,
    Task,
    UndefinedError,
    from_disagreement,
)
from beyondchance.other_coefficients.sections import GAP, sections
from beyondchance.results.score import Score, pooled
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


def token_coefficients(task: Task) -> dict[str, Coefficient]:
    r"""Compute Cohen's κ, Scott's π, Fleiss' κ, nominal α, S and AC1 of positions.

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
    task : Task

    Returns
    -------
    dict of str to Coefficient
        `observed` and `expected` are agreements, as shares of positions (F1 for
        shuffled-f1).

    Raises
    ------
    OverlapError
        When spans of one annotator overlap.
    UndefinedError
        When nothing is marked.

    References
    ----------
    Jacob Cohen (1960); William A. Scott (1955); Joseph L. Fleiss (1971); Klaus
    Krippendorff (2004); E. M. Bennett, R. Alpert and A. C. Goldstein (1954); Kilem L. Gwet
    (2008); Anthony J. Conger (1980).

    Examples
    --------
    Anna marks the first two of four positions, Ben the first: 3 of 4 agree. Habits of
    one half and of one quarter agree by chance in 1/2 * 1/4 + 1/2 * 3/4 = 1/2 of all cases.

    >>> from beyondchance import Corpus
    >>> spans = {"anna": [[(0, 2, "X")]], "ben": [[(0, 1, "X")]]}
    >>> found = token_coefficients(Task(corpus=Corpus.from_spans(spans, lengths=[4])))
    >>> found["kappa"].observed, found["kappa"].expected, found["kappa"].value
    (0.75, 0.5, 0.5)
    >>> found["s"].value
    0.5
    """
    parts = task.once(sections)
    if not parts.is_unit.any():
        raise UndefinedError(NOTHING_MARKED)
    met, n_texts, n_labels = parts.meetings, len(parts.field_text), len(task.corpus.labels)
    team, length = parts.sizes
    differs = parts.label[met.left] != parts.label[met.right]
    different = total(parts.field[met.left], np.where(differs, met.shared, 0), n_texts)
    cell = parts.field * (n_labels + 1) + _category(parts.label, n_labels)
    given = total(cell, parts.length, n_texts * (n_labels + 1)).reshape(n_texts, -1)

    # Every position counts once.
    n_positions = fsum(length)
    by_position = fsum(different / (team * (team - 1) / 2)) / n_positions
    share = np.array([fsum(column / team) for column in given.T]) / n_positions
    # Every use of a category counts once.
    uses, used = fsum(length * team), given.sum(axis=0)
    by_use = fsum(2 * different / (team - 1)) / uses
    # Every position counts once for each pair of annotators.
    tables = task.once(_pair_tables)
    size = fsum(tables.size)
    by_pair = (size - fsum(tables.both.ravel())) / size
    habits = (tables.one.sum(axis=0) + tables.other.sum(axis=0)) / (2 * size)
    return {
        "kappa": _kappa(tables, task.corpus.labels),
        "shuffled-f1": _shuffled_f1(shuffled_tokens(task)),
        "pi": _from_shares(by_pair, _two_differ(habits)),
        "fleiss": _from_shares(by_position, _two_differ(share)),
        "nominal-alpha": _from_shares(by_use, fsum(used * (uses - used)) / (uses * (uses - 1))),
        "s": _from_shares(by_position, n_labels / (n_labels + 1)),
        "ac1": _from_shares(by_position, 1 - _two_differ(share) / n_labels),
    }


def _category(label: Ints, n_labels: int) -> Ints:
    return np.where(label == GAP, n_labels, label)


def _two_differ(share: Floats) -> float:
    """Compute the probability that two categories drawn with these probabilities differ."""
    return fsum(share * (1 - share))


def _from_shares(different: float, expected: float, why: Text = ALL_ALIKE) -> Coefficient:
    """Make a coefficient of shares of positions that differ, observed and expected."""
    coefficient = from_disagreement(different, expected, why=why)
    return replace(coefficient, observed=1 - different, expected=1 - expected)


# --- Pairs of annotators ------------------------------------------------------


def _pair_tables(task: Task) -> _PairTables:
    """Add up the positions of each pair of annotators, over all texts."""
    parts, n_labels = task.once(sections), len(task.corpus.labels)
    met, n_categories = parts.meetings, n_labels + 1
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


def _kappa(tables: _PairTables, labels: tuple[str, ...]) -> Coefficient:
    """Compute Cohen's kappa, of all labels and of each against everything else."""
    n, one, other = tables.size[:, None], tables.one, tables.other
    size = fsum(tables.size)
    # What differs by chance is a sum of n_k (n - n'_k): exactly zero where all are alike.
    differs, turned = one * (n - other) / n, other * (n - one) / n
    by_label = {
        label: _from_shares(
            fsum(one[:, k] + other[:, k] - 2 * tables.both[:, k]) / size,
            fsum([*differs[:, k], *turned[:, k]]) / size,
            ALL_ALIKE if one[:, k].any() or other[:, k].any() else NOTHING_MARKED,
        )
        for k, label in enumerate(labels)
    }
    different = size - fsum(tables.both.ravel())
    whole = _from_shares(different / size, fsum(differs.ravel()) / size)
    return replace(whole, by_label=by_label)


def shuffled_tokens(task: Task) -> dict[str, Score]:
    r"""Compute F1 of each label, and what shuffling the positions of each annotator would give.

    Of n positions in all texts, shuffling makes :math:`n_A n_B / n` meet. The corrected F1
    is then exactly Cohen's κ of the label against everything else. Whole spans, which
    `agreement` shuffles, meet more often or less often than that.

    Parameters
    ----------
    task : Task

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
    >>> from beyondchance import Corpus
    >>> spans = {"anna": [[(0, 2, "X")]], "ben": [[(0, 1, "X")]]}
    >>> score = shuffled_tokens(Task(corpus=Corpus.from_spans(spans, lengths=[4])))["X"]
    >>> score.matched, score.expected, score.corrected
    (1.0, 0.5, 0.5)
    """
    tables = task.once(_pair_tables)
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
        for number, label in enumerate(task.corpus.labels)
    }


def _shuffled_f1(scores: dict[str, Score]) -> Coefficient:
    """Add up the scores of labels, as if positions were shuffled."""
    return from_score(pooled(scores.values()), scores)


def from_score(score: Score, by_label: Mapping[str, Score]) -> Coefficient:
    """Make a coefficient of a corrected F1 and those of single labels."""
    return Coefficient(
        value=score.corrected,
        observed=score.observed,
        expected=score.chance,
        why=score.reason or (),
        by_label={label: from_score(one, {}) for label, one in by_label.items()},
    )
