"""Which systems of a ranking can be distinguished.

Every two systems are compared on the documents that all of them have, all on the same
resamples, and their p-values are adjusted for the number of comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan
from typing import Unpack

from beyondchance.checks import checked_instance, checked_option
from beyondchance.core.exact import LAST_DIGITS
from beyondchance.inference.compare import (
    TESTS,
    Comparison,
    by_same_units,
    comparison_of,
    shared_sums,
    trials_of,
)
from beyondchance.inference.estimates import adjusted
from beyondchance.options import ResamplingOptions, documented
from beyondchance.results.agreement import Agreement
from beyondchance.results.intervals import ConfidenceInterval, signed_with
from beyondchance.results.printed import Printed
from beyondchance.results.ranking import Ranking
from beyondchance.results.resampling import SCORES, resampling_of
from beyondchance.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings(Printed):
    """Which systems of a ranking can be distinguished.

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
        The p-values of the pairs, adjusted by Holm's method so that all may be read together.
    floored : frozenset of (str, str)
        Pairs whose adjusted p-value comes from the smallest that the test can show, and may
        be smaller.
    groups : tuple of tuples of str
        Systems that cannot be distinguished, as in a compact letter display (Piepho 2004):
        two systems share a group if, and only if, their adjusted p-value is more than
        1 - confidence. A system can be in several groups; no other system fits into one.
        Usually systems can be given ranges on a scale, such that two are distinguished
        where their ranges do not meet; then these are all groups of this kind. Otherwise
        they are as many of them as it takes to hold every pair.
    overtakings : mapping of (str, str) to bool
        Pairs that stand in the other order by the observed score (the first was behind),
        and whether they can be distinguished now.
    n_documents : int
        Documents that all systems have, on which they are compared.
    enumerated : bool
        Whether all ways of exchanging were gone through.
    settings : Settings
    score : {"corrected", "observed", "chance"}
        What was compared.
    test : {"permutation", "bootstrap"}
    against : str, optional
        The system of interest (see `p_against`).
    """

    order: tuple[str, ...]
    intervals: Mapping[str, Mapping[str, ConfidenceInterval]]
    pairs: Mapping[tuple[str, str], Comparison]
    adjusted: Mapping[tuple[str, str], float]
    floored: frozenset[tuple[str, str]]
    groups: tuple[tuple[str, ...], ...]
    overtakings: Mapping[tuple[str, str], bool]
    n_documents: int
    enumerated: bool
    settings: Settings
    score: str = "corrected"
    test: str = "permutation"
    against: str | None = None

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
        >>> found = compare_systems(rank(corpus, gold="gold"), score="observed", seed=1)
        >>> found.order, found.n_documents, found.reversed_pairs
        (('most', 'some'), 2, (('most', 'some'),))
        """
        return tuple(names for names, item in self.pairs.items() if item.difference < -LAST_DIGITS)

    def __repr__(self) -> str:
        groups = "; ".join(map(", ".join, self.groups))
        return f"Standings({len(self.order)} systems, in groups: {groups})"

    def groups_of(self, name: str) -> tuple[int, ...]:
        """Return the numbers of the groups that a system is in."""
        return tuple(number for number, group in enumerate(self.groups) if name in group)

    def p_between(self, one: str, other: str) -> float:
        """Return the adjusted p-value of two systems; nan for a system and itself."""
        return self.adjusted.get((one, other), self.adjusted.get((other, one), nan))

    def is_floored(self, one: str, other: str) -> bool:
        """Return whether the adjusted p-value of two systems may be smaller than shown."""
        return not self.floored.isdisjoint({(one, other), (other, one)})

    def next_below(self, name: str) -> str:
        """Return the next system below; the system itself, if it is the last."""
        return self.order[min(self.order.index(name) + 1, len(self.order) - 1)]

    def p_best(self, name: str) -> float:
        """Return the adjusted p-value of a system against the best; nan for the best itself."""
        return self.p_between(self.order[0], name)

    def p_next(self, name: str) -> float:
        """Return the adjusted p-value of a system against the next one below; nan for the last."""
        return self.p_between(name, self.next_below(name))

    def p_against(self, name: str) -> float:
        """Compute the p-value of a system against `against`, adjusted for these tests only.

        There are fewer of them than of all pairs. Choose the system before you see the scores.
        """
        if name == self.against:
            return nan
        own = {n: pair.p_value for n, pair in self.pairs.items() if self.against in n}
        return next((p for names, p in adjusted(own).items() if name in names), nan)


@documented(ResamplingOptions)
def compare_systems(
    ranking: Ranking,
    *,
    score: str = "corrected",
    test: str = "permutation",
    against: str | None = None,
    **resampling: Unpack[ResamplingOptions],
) -> Standings:
    """Test which systems of a ranking can be distinguished, on the documents that all have.

    Every two systems are compared as `compare` does, all on the same resamples, and their
    p-values are adjusted by Holm's method. Two systems can be distinguished if the adjusted
    p-value is at most 1 - `confidence`.

    Parameters
    ----------
    ranking : Ranking
    score, test
        As in `compare`: the ``bootstrap`` test raises too many false alarms below about 100
        documents. Documents of the same name are the same. Intervals, unlike p-values, are
        not adjusted for the number of comparisons.
    against : str, optional
        A system to compare with the others: `Standings.p_against` has p-values that are adjusted
        for these tests only.
    {options}

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
    >>> found = compare_systems(rank(example(), gold="ada"), resamples=999, seed=1)
    >>> found.order, found.groups
    (('cleo', 'ben'), (('cleo', 'ben'),))
    """
    checked_instance(
        ranking,
        Ranking,
        "a Ranking, as rank() returns; compare() takes two results of agreement()",
    )
    options = resampling_of(ranking.settings, resampling, is_tested=True, over="documents")
    checked_option("score", score, SCORES)
    checked_option("test", test, TESTS)
    if against is not None:
        checked_option("system", against, ranking.systems, are_data=True)
    systems = by_same_units(list(ranking.systems.values()))
    results = dict(zip(ranking.systems, systems, strict=True))
    scores = {name: getattr(result, score) for name, result in results.items()}
    order = tuple(sorted(results, key=lambda name: (isnan(scores[name]), -scores[name])))
    table = shared_sums([results[name] for name in order])
    untouched = deepcopy(options.generator)
    trials = trials_of(table, test, options)
    unit = results[order[0]].resampled_unit
    settings = signed_with(options, ranking.settings, results[order[0]].drawn)

    def intervals(result: Agreement) -> Mapping[str, ConfidenceInterval]:
        """Compute those of a system on all the documents that it has, from the same draws."""
        alone: ResamplingOptions = {**resampling, "seed": deepcopy(untouched)}
        return result.intervals(levels=(), **alone).overall

    pairs = {
        (order[i], order[j]): comparison_of(
            trials.pair(i, j, score), options, unit=unit, settings=settings
        )
        for i, j in combinations(range(len(order)), 2)
    }
    raised = adjusted({names: pair.p_value for names, pair in pairs.items()})
    # 1 - .9 is a little less than .1, and 1 - .95 a little more than .05.
    most = 1 - options.confidence + LAST_DIGITS
    apart = {names for names, p in raised.items() if p <= most}
    observed = {name: result.observed for name, result in results.items()}
    return Standings(
        order=order,
        intervals={name: intervals(results[name]) for name in order},
        pairs=pairs,
        adjusted=raised,
        floored=_floored(pairs, raised),
        groups=_groups(order, apart),
        overtakings={
            (one, other): (one, other) in apart
            for one, other in pairs
            if observed[one] < observed[other]
        },
        n_documents=len(table),
        enumerated=trials.is_enumerated,
        settings=settings,
        score=score,
        test=test,
        against=against,
    )


def _floored(
    pairs: Mapping[tuple[str, str], Comparison], raised: Mapping[tuple[str, str], float]
) -> frozenset[tuple[str, str]]:
    """Return the pairs whose adjusted p-value would be smaller if the floors of the test were."""
    lower = adjusted({n: 0.0 if pair.p_is_floor else pair.p_value for n, pair in pairs.items()})
    return frozenset(names for names, p in raised.items() if lower[names] < p)


def _groups(
    order: Sequence[str], apart: AbstractSet[tuple[str, str]]
) -> tuple[tuple[str, ...], ...]:
    """Group systems, in order, so that groups hold every pair that is not `apart` and no other.

    To list all of the largest groups can take exponential time. Each group here holds a pair
    that those before it do not, so that there are no more groups than pairs. It begins with
    the first system that has such a pair, and takes in whichever system shares most such
    pairs with it, until no other fits.
    """
    alike = {
        name: [x for x in order if x != name and not apart & {(name, x), (x, name)}]
        for name in order
    }
    missing = {name: set(others) for name, others in alike.items()}
    groups: list[tuple[str, ...]] = []
    for first in order:
        while missing[first] or not any(first in group for group in groups):
            group, last = [first], first
            # For each system that fits, its pairs with the group that no group holds yet.
            gains = dict.fromkeys(alike[first], 0)
            while gains:
                gains = {name: n + (name in missing[last]) for name, n in gains.items()}
                last = max(gains, key=gains.__getitem__)
                group.append(last)
                gains = {name: gains[name] for name in alike[last] if name in gains}
            for name in group:
                missing[name].difference_update(group)
            groups.append(tuple(sorted(group, key=order.index)))
    return tuple(sorted(groups, key=lambda group: [order.index(name) for name in group]))
