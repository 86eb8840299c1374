"""Whether two results differ by more than the choice of documents explains.

Two systems on the same documents are compared document by document: their rows are
exchanged within documents (the permutation test), and the documents are drawn again with
both systems' rows together (the bootstrap). Two rounds on different documents are compared
by dealing all documents out anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np

from beyondchance.checks import checked_option
from beyondchance.core.bootstrap import bootstrap_weights
from beyondchance.core.exact import LAST_DIGITS, exact_columns
from beyondchance.core.permutation import divisions, holm, n_divisions, swaps, tail_share
from beyondchance.errors import DataError, OptionError
from beyondchance.results.agreement import Agreement
from beyondchance.results.intervals import ConfidenceInterval, interval_from
from beyondchance.results.ranking import Ranking
from beyondchance.results.resampling import SCORES, Resampling, checked_resampling, score_of
from beyondchance.settings import KINDS, Settings
from beyondchance.types import Floats

TESTS = ("permutation", "bootstrap")
_RESAMPLING = ("confidence", "interval_method", "resamples", "over", "ties")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The difference of two results, and how sure it is.

    Attributes
    ----------
    difference : float
        The first score minus the second.
    interval : ConfidenceInterval
        Of the difference; too narrow where few documents carry it, which its `caution` says.
    p_value : float
        How often a difference as large would come about if the two were alike; nan where
        it cannot be said (see `reason`).
    p_error : float
        The standard error that `p_value` has from being sampled; 0 where every exchange was
        gone through.
    n_documents : tuple of two int
        Of either result, those that were compared.
    paired : bool
        Whether the documents are the same.
    settings : Settings
        Of both results, with the options and the seed of the comparison.
    reason : str, optional
        Why there is no p-value.
    """

    difference: float
    interval: ConfidenceInterval
    p_value: float
    p_error: float
    n_documents: tuple[int, int]
    paired: bool
    settings: Settings
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """Which systems of a ranking can be told apart.

    Scores, their order and their intervals are from all documents that a system has;
    systems are compared on the documents that all of them have. Where these are not the
    same, two systems can stand in the other order there (see `reversed_pairs`).

    Attributes
    ----------
    order : tuple of str
        The systems, the highest score first; undefined ones last. By all documents of each.
    intervals : mapping of str to mapping of str to ConfidenceInterval
        For each system, of ``observed``, ``chance`` and ``corrected``; over all documents
        that it has, whose number is the interval's `n_units`.
    pairs : mapping of (str, str) to Comparison
        Every two systems, in the order above, on the documents that all have.
    adjusted : mapping of (str, str) to float
        The p-values of the pairs, raised by Holm's method so that all may be read together.
    groups : tuple of tuples of str
        Systems that cannot be told apart: of no two is the adjusted p-value at most
        1 - confidence. A system can be in several groups.
    overtakings : mapping of (str, str) to bool
        Pairs that stand in the other order by the observed score (the first was behind),
        and whether they can be told apart now.
    n_documents : int
        Documents that all systems have, on which they are compared.
    enumerated : bool
        Whether all ways of exchanging were gone through.
    settings : Settings
    """

    order: tuple[str, ...]
    intervals: Mapping[str, Mapping[str, ConfidenceInterval]]
    pairs: Mapping[tuple[str, str], Comparison]
    adjusted: Mapping[tuple[str, str], float]
    groups: tuple[tuple[str, ...], ...]
    overtakings: Mapping[tuple[str, str], bool]
    n_documents: int
    enumerated: bool
    settings: Settings

    @property
    def reversed_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of which the second is ahead on the documents that all systems have.

        By all documents that either has, the first is ahead. None, where all systems have
        the same documents. A p-value of such a pair speaks for the second.

        Examples
        --------
        One system got the easy document too; on the other documents it is behind.

        >>> from beyondchance import Corpus, rank
        >>> corpus = Corpus.from_tags(
        ...     {
        ...         "gold": [["B-P", "O", "O"], ["B-P", "O", "O"], ["B-P", "B-P", "B-P", "O"]],
        ...         "most": [["B-P", "O", "O"], ["O", "O", "B-P"], ["B-P", "B-P", "B-P", "O"]],
        ...         "some": [["B-P", "O", "O"], ["B-P", "O", "B-P"], None],
        ...     }
        ... )
        >>> found = compare_systems(rank(corpus, gold="gold"), score="observed", rng=1)
        >>> found.order, found.n_documents, found.reversed_pairs
        (('most', 'some'), 2, (('most', 'some'),))
        """
        return tuple(names for names, item in self.pairs.items() if item.difference < -LAST_DIGITS)

    def p_between(self, one: str, other: str) -> float:
        """The adjusted p-value of two systems; nan for a system and itself."""
        return self.adjusted.get((one, other), self.adjusted.get((other, one), nan))

    def p_best(self, name: str) -> float:
        """The adjusted p-value of a system against the best; nan for the best itself."""
        return self.p_between(self.order[0], name)

    def p_next(self, name: str) -> float:
        """The adjusted p-value of a system against the next one below; nan for the last."""
        place = self.order.index(name) + 1
        return self.p_between(name, self.order[place]) if place < len(self.order) else nan


def compare(
    first: Agreement,
    second: Agreement,
    *,
    score: str = "corrected",
    test: str = "permutation",
    paired: bool | None = None,
    confidence: float = 0.95,
    resamples: int = 9999,
    method: str = "bca",
    rng: np.random.Generator | int | None = None,
) -> Comparison:
    """Compare two results: two systems on the same documents, or two rounds of a project.

    Parameters
    ----------
    first, second : Agreement
        With the same signature.
    score : {"corrected", "observed", "chance"}
    test : {"permutation", "bootstrap"}
        ``permutation`` exchanges the two results within documents (or deals the documents
        out anew, where they differ); all ways, where there are no more than `resamples`.
        ``bootstrap`` draws documents and asks how often the difference departs from itself
        by as much as it departs from 0; below about 100 documents it raises too many false
        alarms.
    paired : bool, optional
        Whether documents of the same name are the same. By default they are if both
        results have the same names, and are not if no name is in both. True compares the
        documents that both have; False takes all of them as different. Tag lists without
        names of documents are named 0, 1, 2, ..., so that two rounds of as many documents
        are taken as paired: name the documents of different rounds differently, or pass
        False.
    confidence, resamples, method, rng
        As in `Agreement.interval`.

    Returns
    -------
    Comparison

    Raises
    ------
    OptionError
        If the two were not computed in the same way.
    DataError
        If one of them is no result of `agreement`; if some of the documents are the same and
        `paired` does not say what to do, or none are left.

    Examples
    --------
    Three documents can be exchanged in eight ways; in two of them, none exchanged or all,
    the difference is as large as it is here.

    >>> from beyondchance import Corpus, rank
    >>> corpus = Corpus.from_tags(
    ...     {
    ...         "gold": [["B-P", "O", "O"], ["B-P", "O", "O", "O"], ["O", "B-P", "O"]],
    ...         "good": [["B-P", "O", "O"], ["B-P", "O", "O", "O"], ["O", "B-P", "O"]],
    ...         "poor": [["O", "B-P", "O"], ["O", "B-P", "O", "O"], ["O", "O", "B-P"]],
    ...     }
    ... )
    >>> systems = rank(corpus, gold="gold").systems
    >>> found = compare(systems["good"], systems["poor"], rng=1)
    >>> found.p_value, found.p_error
    (0.25, 0.0)
    """
    for result in (first, second):
        if not isinstance(result, Agreement):
            raise DataError(
                f"found one {type(result).__name__}; expected two results of agreement(), or of "
                "the systems of rank()"
            )
    options = checked_resampling(
        first.settings,
        confidence=confidence,
        resamples=resamples,
        method=method,
        rng=rng,
        over="documents",
    )
    checked_option("score", score, SCORES)
    checked_option("test", test, TESTS)
    _check_comparable(first.settings, second.settings)
    if _is_paired(first, second, paired):
        table = _shared_sums([first, second])
        found = _paired_trials(table, options).pair(0, 1, score)
        sizes = (len(table), len(table))
    else:
        one, other = first.counts.document_sums(), second.counts.document_sums()
        found = _unpaired_trials(one, other, options).difference(score)
        sizes = (len(one), len(other))
    return _comparison(
        found,
        test=test,
        options=options,
        unit=first.resampled_unit,
        n_documents=sizes,
        settings=first.settings,
    )


def compare_systems(
    ranking: Ranking,
    *,
    score: str = "corrected",
    test: str = "permutation",
    confidence: float = 0.95,
    resamples: int = 9999,
    method: str = "bca",
    rng: np.random.Generator | int | None = None,
) -> Standings:
    """Which systems of a ranking can be told apart, on the documents that all of them have.

    Every two systems are compared as `compare` does, all on the same resamples, and their
    p-values are raised by Holm's method. Two systems can be told apart if what results is
    at most 1 - `confidence`.

    Parameters
    ----------
    ranking : Ranking
    score, test, confidence, resamples, method, rng
        As in `compare`: the ``bootstrap`` test raises too many false alarms below about 100
        documents. Documents of the same name are the same. Intervals, unlike p-values, are
        not adjusted for the number of comparisons.

    Returns
    -------
    Standings

    Raises
    ------
    DataError
        If it is no ranking, or no document was annotated by all systems.

    Examples
    --------
    >>> from beyondchance import example, rank
    >>> found = compare_systems(rank(example(), gold="ada"), resamples=999, rng=1)
    >>> found.order, found.groups
    (('cleo', 'ben'), (('cleo', 'ben'),))
    """
    if not isinstance(ranking, Ranking):
        raise DataError(
            f"found one {type(ranking).__name__}; expected a Ranking, as rank() gives; compare() "
            "takes two results of agreement()"
        )
    options = checked_resampling(
        ranking.settings,
        confidence=confidence,
        resamples=resamples,
        method=method,
        rng=rng,
        over="documents",
    )
    checked_option("score", score, SCORES)
    checked_option("test", test, TESTS)
    results = ranking.systems
    scores = {name: getattr(result, score) for name, result in results.items()}
    order = tuple(sorted(results, key=lambda name: (isnan(scores[name]), -scores[name])))
    table = _shared_sums([results[name] for name in order])
    untouched = deepcopy(options.generator)
    trials = _paired_trials(table, options)
    unit = results[order[0]].resampled_unit

    def intervals(i: int, name: str) -> Mapping[str, ConfidenceInterval]:
        """Of a system on all the documents that it has, from the same draws if it can be."""
        if len(results[name].counts.documents) == len(table):
            return {
                kind: interval_from(*trials.single(i, kind), options, over=unit) for kind in SCORES
            }
        alone: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "method": method}
        return results[name].intervals(rng=deepcopy(untouched), **alone).overall

    pairs = {
        (order[i], order[j]): _comparison(
            trials.pair(i, j, score),
            test=test,
            options=options,
            unit=unit,
            n_documents=(len(table), len(table)),
            settings=ranking.settings,
        )
        for i, j in combinations(range(len(order)), 2)
    }
    adjusted = _adjusted({names: item.p_value for names, item in pairs.items()})
    # 1 - .9 is a little less than .1, and 1 - .95 a little more than .05.
    most = 1 - options.confidence + LAST_DIGITS
    apart = {names for names, p in adjusted.items() if p <= most}
    observed = {name: result.observed for name, result in results.items()}
    return Standings(
        order=order,
        intervals={name: intervals(i, name) for i, name in enumerate(order)},
        pairs=pairs,
        adjusted=adjusted,
        groups=_groups(order, apart),
        overtakings={
            (one, other): (one, other) in apart
            for one, other in pairs
            if observed[one] < observed[other]
        },
        n_documents=len(table),
        enumerated=trials.enumerated and test == "permutation",
        settings=options.sign(ranking.settings),
    )


# --- What is compared -----------------------------------------------------------------


def _check_comparable(first: Settings, second: Settings) -> None:
    """Refuse results that were computed in different ways."""
    for name in KINDS:
        one, other = getattr(first, name), getattr(second, name)
        # A seed counts where chance was estimated with it.
        is_free = name in _RESAMPLING or (name == "seed" and first.samples is None)
        if one != other and not is_free:
            raise OptionError(
                f"the results have different signatures: {name} is {one!r} in the first and "
                f"{other!r} in the second; expected the same: compute both in the same way"
            )


def _is_paired(first: Agreement, second: Agreement, paired: bool | None) -> bool:
    """Whether documents of the same name are to be taken as the same."""
    names = [set(result.counts.documents) for result in (first, second)]
    n_shared = len(names[0] & names[1])
    if paired is None and n_shared and names[0] != names[1]:
        raise DataError(
            f"{n_shared:,} documents are in both results, {len(names[0]) - n_shared:,} in the "
            f"first only and {len(names[1]) - n_shared:,} in the second only; expected the same "
            "documents or different ones: paired=True compares those in both, paired=False takes "
            "all as different"
        )
    if paired and not n_shared:
        raise DataError(
            "no document is in both results; expected the same documents: compare them with "
            "paired=False"
        )
    return bool(n_shared) if paired is None else paired


def _shared_sums(results: Sequence[Agreement]) -> Floats:
    """The sums of the documents that all have, shape (documents, results, 4)."""
    numbers = [
        {name: number for number, name in enumerate(result.counts.documents)} for result in results
    ]
    shared = [name for name in numbers[0] if all(name in known for known in numbers)]
    if not shared:
        raise DataError(
            "no document was annotated by all systems; expected at least one to compare them on"
        )
    rows = [np.array([known[name] for name in shared]) for known in numbers]
    sums = [result.counts.document_sums() for result in results]
    return np.stack([own[row] for own, row in zip(sums, rows, strict=True)], axis=1)


# --- Trials ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Difference:
    """Two scores in every trial.

    Attributes
    ----------
    drawn, permuted : arrays of float, shape (trials,)
        Their difference in every resample, and in every permutation.
    whole : float
        As it is.
    left_out : sequence of arrays
        Without each document.
    enumerated : bool
        Whether the permutations are all that there are.
    paired : bool
    """

    drawn: Floats
    permuted: Floats
    whole: float
    left_out: Sequence[Floats]
    enumerated: bool
    paired: bool


@dataclass(frozen=True, slots=True)
class _PairedTrials:
    """Systems on the same documents: their sums in every trial, shape (..., systems, 4)."""

    drawn: Floats
    signed: Floats
    whole: Floats
    left_out: Floats
    enumerated: bool

    def single(self, i: int, score: str) -> tuple[Floats, float, list[Floats]]:
        """The score of one system: in every resample, as it is, and without each document."""
        left_out = score_of(self.left_out[:, i], score)
        return score_of(self.drawn[:, i], score), float(score_of(self.whole[i], score)), [left_out]

    def pair(self, i: int, j: int, score: str) -> _Difference:
        """The difference of two systems."""
        one, other = self.single(i, score), self.single(j, score)
        # Half of the sums stay where they are; the rest goes with the signs.
        stay = (self.whole[i] + self.whole[j]) / 2
        go = (self.signed[:, i] - self.signed[:, j]) / 2
        return _Difference(
            drawn=one[0] - other[0],
            permuted=score_of(stay + go, score) - score_of(stay - go, score),
            whole=one[1] - other[1],
            left_out=[one[2][0] - other[2][0]],
            enumerated=self.enumerated,
            paired=True,
        )


def _paired_trials(table: Floats, options: Resampling) -> _PairedTrials:
    """Draw documents, and exchange systems within them."""
    n_documents, rng = len(table), options.generator
    columns = exact_columns(table.reshape(n_documents, -1))

    def totals(weights: Floats) -> Floats:
        return columns.totals(weights).reshape(-1, *table.shape[1:])

    drawn = [totals(w) for w in bootstrap_weights(n_documents, options.resamples, rng)]
    signed = [totals(signs) for signs in swaps(n_documents, options.resamples, rng)]
    whole = totals(np.ones((1, n_documents)))[0]
    return _PairedTrials(
        drawn=np.concatenate(drawn),
        signed=np.concatenate(signed),
        whole=whole,
        left_out=whole - table,
        enumerated=n_documents < 64 and 2**n_documents <= options.resamples,
    )


@dataclass(frozen=True, slots=True)
class _UnpairedTrials:
    """Two results on different documents: their sums in every trial."""

    drawn: tuple[Floats, Floats]
    dealt: tuple[Floats, Floats]
    whole: tuple[Floats, Floats]
    left_out: tuple[Floats, Floats]
    enumerated: bool

    def difference(self, score: str) -> _Difference:
        """The difference of the two."""

        def difference(sums: tuple[Floats, Floats]) -> Floats:
            return score_of(sums[0], score) - score_of(sums[1], score)

        return _Difference(
            drawn=difference(self.drawn),
            permuted=difference(self.dealt),
            whole=float(difference(self.whole)),
            left_out=[
                difference((self.left_out[0], self.whole[1])),
                difference((self.whole[0], self.left_out[1])),
            ],
            enumerated=self.enumerated,
            paired=False,
        )


def _unpaired_trials(first: Floats, second: Floats, options: Resampling) -> _UnpairedTrials:
    """Draw the documents of either result, and deal all of them out anew."""
    rng = options.generator
    drawn, whole = [], []
    for part in (first, second):
        columns = exact_columns(part)
        weights = bootstrap_weights(len(part), options.resamples, rng)
        drawn.append(np.concatenate([columns.totals(block) for block in weights]))
        whole.append(columns.totals(np.ones((1, len(part))))[0])
    pooled = exact_columns(np.concatenate([first, second]))
    n_first, n_documents = len(first), len(first) + len(second)
    hands = [
        (pooled.totals(hand), pooled.totals(1 - hand))
        for hand in divisions(n_first, n_documents, options.resamples, rng)
    ]
    return _UnpairedTrials(
        drawn=(drawn[0], drawn[1]),
        dealt=(
            np.concatenate([one for one, _ in hands]),
            np.concatenate([two for _, two in hands]),
        ),
        whole=(whole[0], whole[1]),
        left_out=(whole[0] - first, whole[1] - second),
        enumerated=n_divisions(n_first, n_documents) <= options.resamples,
    )


# --- What follows ---------------------------------------------------------------------


def _comparison(
    found: _Difference,
    *,
    test: str,
    options: Resampling,
    unit: str,
    n_documents: tuple[int, int],
    settings: Settings,
) -> Comparison:
    by_permutation = test == "permutation"
    trials = found.permuted if by_permutation else found.drawn - found.whole
    reason = None
    p_value = p_error = nan
    if isnan(found.whole):
        reason = "one of the scores is undefined"
    elif np.isnan(trials).any():
        n_undefined = int(np.count_nonzero(np.isnan(trials)))
        reason = f"a score is undefined in {n_undefined:,} of {len(trials):,} trials"
    else:
        enumerated = found.enumerated and by_permutation
        p, error = tail_share(trials[:, None], np.array([found.whole]), enumerated=enumerated)
        p_value, p_error = float(p[0]), float(error[0])
    return Comparison(
        difference=found.whole,
        interval=interval_from(found.drawn, found.whole, found.left_out, options, over=unit),
        p_value=p_value,
        p_error=p_error,
        n_documents=n_documents,
        paired=found.paired,
        settings=options.sign(settings),
        reason=reason,
    )


def _adjusted(p_values: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Holm's p-values; undefined ones stay so, and are not counted."""
    defined = [names for names, p in p_values.items() if not isnan(p)]
    raised = holm(np.array([p_values[names] for names in defined])).tolist()
    return {**dict.fromkeys(p_values, nan), **dict(zip(defined, raised, strict=True))}


def _groups(
    order: Sequence[str], apart: AbstractSet[tuple[str, str]]
) -> tuple[tuple[str, ...], ...]:
    """The largest sets of systems of which no two can be told apart, in order.

    All systems are one group at first. Every pair that can be told apart splits the groups
    that hold both, into one without either; groups within others are dropped.
    """
    groups = [frozenset(order)]
    for one, other in sorted(apart, key=lambda pair: tuple(map(order.index, pair))):
        split = [
            part
            for group in groups
            for part in ((group - {one}, group - {other}) if {one, other} <= group else (group,))
        ]
        groups = [
            group
            for i, group in enumerate(split)
            if not any(group < rival or (group == rival and j < i) for j, rival in enumerate(split))
        ]
    listed = [tuple(sorted(group, key=order.index)) for group in groups]
    return tuple(sorted(listed, key=lambda group: [order.index(name) for name in group]))
