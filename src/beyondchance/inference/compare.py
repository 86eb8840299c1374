"""Whether two results differ by more than the choice of documents explains.

Two systems on the same documents are compared document by document: their rows are
exchanged within documents (the permutation test), and the documents are drawn again with
both systems' rows together (the bootstrap). Two rounds on different documents are compared
by how much each document moves the score of its round (the jackknife).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Unpack

import numpy as np

from beyondchance.checks import checked_instance, checked_option
from beyondchance.core.exact import LAST_DIGITS
from beyondchance.core.resampling import (
    bootstrap_weights,
    effective_number,
    influences,
    least_share,
    stacked,
    student_tail,
    swaps,
    tail_share,
    totals_of,
    variance_of,
)
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import Quote, Text, Use
from beyondchance.numbers import in_digits
from beyondchance.options import ResamplingOptions, documented
from beyondchance.results.agreement import Agreement
from beyondchance.results.intervals import ConfidenceInterval, interval_from, signed_with
from beyondchance.results.printed import Reasoned
from beyondchance.results.resampling import (
    SCORES,
    Resampling,
    resampling_of,
    score_of,
)
from beyondchance.settings import KINDS, Settings
from beyondchance.types import Floats

TESTS = ("permutation", "bootstrap")
FEWEST = 4
"""Effective documents of a round from which on its jackknife is relied on."""
_RESAMPLING = ("confidence", "interval_method", "resamples", "over", "ties")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Reasoned):
    """The difference of two results, and how sure it is.

    Attributes
    ----------
    difference : float
        The first score minus the second.
    interval : ConfidenceInterval
        Of the difference; a rough guide where few documents carry it, which its `caution` says.
    p_value : float
        How often a difference as large would come about if the two were alike; nan where
        it cannot be said (see `reason`).
    p_error : float
        The standard error that `p_value` has from being sampled; 0 where nothing was, or every
        exchange was gone through.
    p_floor : float
        The smallest p-value that so many trials can show; 0 where `p_error` is.
    n_documents : tuple of two int
        Of either result, those that were compared.
    paired : bool
        Whether the documents are the same.
    settings : Settings
        Of both results, with the options and the seed of the comparison.
    why : Text
        Why there is no p-value, in parts; empty where there is one.
    """

    difference: float
    interval: ConfidenceInterval
    p_value: float
    p_error: float
    n_documents: tuple[int, int]
    paired: bool
    settings: Settings
    p_floor: float = 0.0
    why: Text = ()

    def __repr__(self) -> str:
        difference, p = in_digits(self.difference), in_digits(self.p_value)
        return f"Comparison(difference={difference}, p_value={p})"

    @property
    def p_is_floor(self) -> bool:
        """Whether the p-value is the smallest that the test can show, and may be smaller."""
        return 0 < self.p_value <= self.p_floor


@documented(ResamplingOptions)
def compare(
    first: Agreement,
    second: Agreement,
    *,
    score: str = "corrected",
    test: str = "permutation",
    paired: bool | None = None,
    **resampling: Unpack[ResamplingOptions],
) -> Comparison:
    """Compare two results: two systems on the same documents, or two rounds of a project.

    Parameters
    ----------
    first, second : Agreement
        With the same signature.
    score : {"corrected", "observed", "chance"}
    test : {"permutation", "bootstrap"}
        ``permutation`` exchanges the two results within documents; all ways, where there are
        no more than `resamples`. Results on different documents have nothing to exchange: p is
        that of Student's distribution, with the jackknife within either result and
        Satterthwaite's degrees of freedom, and there is none with fewer than four effective
        documents in one of them (see `trend`).
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
    {options}

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
    >>> found = compare(systems["good"], systems["poor"], seed=1)
    >>> found.p_value, found.p_error
    (0.25, 0.0)
    """
    for result in (first, second):
        checked_instance(
            result, Agreement, "two results of agreement(), or of the systems of rank()"
        )
    options = resampling_of(first.settings, resampling, is_tested=True, over="documents")
    checked_option("score", score, SCORES)
    checked_option("test", test, TESTS)
    _check_comparable(first.settings, second.settings)
    first, second = by_same_units([first, second])
    if _is_paired(first, second, paired):
        trials = trials_of(shared_sums([first, second]), test, options)
        difference = trials.pair(0, 1, score)
    else:
        difference = _unpaired([first, second], score, test, options)
        options = options._replace(is_tested=difference.tested is not None)
    settings = signed_with(options, first.settings, first.drawn)
    return comparison_of(difference, options, unit=first.resampled_unit, settings=settings)


# --- What is compared -----------------------------------------------------------------


def _check_comparable(first: Settings, second: Settings) -> None:
    """Refuse results that were computed in different ways."""
    for name in KINDS:
        one, other = getattr(first, name), getattr(second, name)
        # How chance was estimated counts where it was, for both.
        is_estimate = name in {"samples", "seed"} and None in (first.samples, second.samples)
        is_free = name in _RESAMPLING or is_estimate
        if one != other and not is_free:
            raise OptionError(
                f"the results have different signatures: {name} is ",
                Quote(one),
                " in the first and ",
                Quote(other),
                " in the second",
                expected="the same",
                remedy="compute both in the same way",
            )


def _is_paired(first: Agreement, second: Agreement, paired: bool | None) -> bool:
    """Decide whether documents of the same name are the same."""
    names = [set(result.counts.unit_names) for result in (first, second)]
    n_shared = len(names[0] & names[1])
    if paired is None and n_shared and names[0] != names[1]:
        raise DataError(
            f"{n_shared:,} documents are in both results, {len(names[0]) - n_shared:,} in the "
            f"first only and {len(names[1]) - n_shared:,} in the second only",
            expected="the same documents or different ones",
            remedy=(
                Use("paired", True),
                " compares those in both, ",
                Use("paired", False),
                " takes all as different",
            ),
        )
    if paired and not n_shared:
        raise DataError(
            "no document is in both results",
            expected="the same documents",
            remedy=("compare them with ", Use("paired", False)),
        )
    return bool(n_shared) if paired is None else paired


def by_same_units(results: Sequence[Agreement]) -> list[Agreement]:
    """Return results by document, or all by the fewest groups that one of them has."""
    n_groups = [n for result in results if (n := result.drawn.n_groups)]
    if not n_groups:
        return list(results)
    return [replace(result, counts=result.drawn.grouped(min(n_groups))) for result in results]


def shared_sums(results: Sequence[Agreement]) -> Floats:
    """Return the sums of the documents that all have, shape (documents, results, 4)."""
    tables = [result.counts for result in results]
    shared = set.intersection(*(set(counts.unit_names) for counts in tables))
    if not shared:
        raise DataError(
            "no document is in all results",
            expected="at least one to compare them on",
        )
    # The order of units follows from their names.
    orders = [np.argsort(counts.document_places).tolist() for counts in tables]
    return np.stack(
        [
            counts.document_sums()[[counts.unit_names[i] in shared for i in order]]
            for counts, order in zip(tables, orders, strict=True)
        ],
        axis=1,
    )


# --- Trials ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two scores in every trial.

    Attributes
    ----------
    drawn : array of float, shape (resamples,)
        In every resample, for the interval; of none, where it needs none.
    tested : array of float, shape (trials,), optional
        In every permutation, or in every resample less `whole`: what it would be if the two
        were alike. None to test by Student's distribution.
    whole : float
        Of all documents.
    left_out : sequence of arrays of float, shape (documents,)
        Without each document: one array for two results on the same documents, two for
        results on different ones.
    is_enumerated : bool
        Whether `tested` holds every permutation that there is.
    why : str
        Why there is no test; empty if nothing prevents it.
    """

    drawn: Floats
    tested: Floats | None
    whole: float
    left_out: Sequence[Floats]
    is_enumerated: bool = False
    why: str = ""


def why_few(sums: Floats) -> str:
    """Say that the effective documents are too few to rely on their jackknife; else nothing.

    Documents that are few, or of which one is much longer than all others.
    """
    found = effective_number(sums[:, 2] / 2 - sums[:, 1])
    is_few = found < FEWEST * (1 - LAST_DIGITS)
    return f"the effective number of documents is {found:.1f}" if is_few else ""


@dataclass(frozen=True, slots=True)
class Trials:
    """Results on the same documents: their sums in every trial, shape (..., results, 4).

    Attributes
    ----------
    drawn, whole, left_out : arrays of float
        In every resample, if the interval or the test needs them, of all documents, and
        without each document.
    signed : array of float
        In every permutation, with a minus for the documents that are exchanged.
    is_permuted : bool
        Whether results are tested by exchanging them.
    is_enumerated : bool
        Whether all permutations are there.
    """

    drawn: Floats
    whole: Floats
    left_out: Floats
    signed: Floats
    is_permuted: bool
    is_enumerated: bool

    def single(self, i: int, score: str) -> list[Floats]:
        """Compute the score of one result: in every resample, of all, and without each document."""
        return [score_of(x[..., i, :], score) for x in (self.drawn, self.whole, self.left_out)]

    def pair(self, i: int, j: int, score: str) -> Difference:
        """Compute the difference of two results."""
        one, other = self.single(i, score), self.single(j, score)
        drawn, whole, left_out = (x - y for x, y in zip(one, other, strict=True))
        tested = drawn - whole
        if self.is_permuted:
            # With x and y the sums of two results in a document and s its sign, the first gets
            # (x + y)/2 + s (x - y)/2: x where s is 1, and y where it is -1.
            middle = (self.whole[i] + self.whole[j]) / 2
            half = (self.signed[:, i] - self.signed[:, j]) / 2
            tested = score_of(middle + half, score) - score_of(middle - half, score)
        return Difference(drawn, tested, float(whole), [left_out], self.is_enumerated)


def trials_of(table: Floats, test: str, options: Resampling, *, is_paired: bool = True) -> Trials:
    """Draw documents, and exchange results within them if they are paired."""
    n_documents, is_permuted = len(table), test == "permutation"
    totals = totals_of(table)
    whole = totals(np.ones((1, n_documents)))[0]
    exchanges = options.resamples if is_permuted and is_paired else 0
    # With random numbers of their own: a p-value does not depend on how intervals are made.
    signs = swaps(n_documents, exchanges, options.generator.spawn(1)[0])
    n_drawn = options.draws if is_permuted else options.resamples
    weights = bootstrap_weights(n_documents, n_drawn, options.generator)
    return Trials(
        drawn=stacked(map(totals, weights), whole),
        whole=whole,
        left_out=whole - table,
        signed=stacked(map(totals, signs), whole),
        is_permuted=is_permuted,
        is_enumerated=2**n_documents <= exchanges,
    )


def _unpaired(
    results: Sequence[Agreement], score: str, test: str, options: Resampling
) -> Difference:
    """Draw the documents of either result, and leave each of them out."""
    tables = [result.counts.document_sums() for result in results]
    one, other = (
        trials_of(table[:, None], test, options, is_paired=False).single(0, score)
        for table in tables
    )
    drawn, whole = one[0] - other[0], one[1] - other[1]
    return Difference(
        drawn=drawn,
        tested=drawn - whole if test == "bootstrap" else None,
        whole=float(whole),
        left_out=[one[2] - other[1], one[1] - other[2]],
        why=next(filter(None, map(why_few, tables)), ""),
    )


def comparison_of(
    difference: Difference, options: Resampling, *, unit: str, settings: Settings
) -> Comparison:
    """Compute the p-value and the interval of a difference.

    Parameters
    ----------
    difference : Difference
    options : Resampling
    unit : {"documents", "sentences"}
        What the documents are called.
    settings : Settings
        Of the comparison.
    """
    whole, left_out = difference.whole, difference.left_out
    why, p_value, p_error, p_floor = _test(difference, unit)
    return Comparison(
        difference=whole,
        interval=interval_from(
            difference.drawn, whole, left_out, options, kinds=[unit] * len(left_out)
        ),
        p_value=p_value,
        p_error=p_error,
        n_documents=(len(left_out[0]), len(left_out[-1])),
        paired=len(left_out) == 1,
        settings=settings,
        p_floor=p_floor,
        why=why,
    )


def _test(difference: Difference, unit: str) -> tuple[Text, float, float, float]:
    """Return why there is no p-value, or the p-value, its error and the smallest possible one."""
    whole, tested, enumerated = difference.whole, difference.tested, difference.is_enumerated
    why: Text = difference.why and f"{difference.why} in one result, expected {FEWEST} or more"
    if isnan(whole):
        why = "one of the scores is undefined"
    elif tested is None:
        moves = [influences(part) for part in difference.left_out]
        if not why and variance_of(moves) > 0:
            return (), 2 * student_tail(-abs(whole), moves), 0.0, 0.0
        why = why or f"the scores are undefined or the same without any one of the {unit}"
    elif n_undefined := int(np.count_nonzero(np.isnan(tested))):
        why = f"a score is undefined in {n_undefined:,} of {len(tested):,} trials"
    else:
        p, error = tail_share(tested[:, None], np.array([whole]), enumerated=enumerated)
        return (), float(p[0]), float(error[0]), least_share(len(tested), enumerated=enumerated)
    return why, nan, nan, 0.0
