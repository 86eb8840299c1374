r"""Gamma, gamma-cat and gamma-k: disorder of the best alignment against random continua.

Mathet, Widlöcher & Métivier (2015), "The unified and holistic method gamma (γ) for
inter-annotator agreement measure and alignment", *Computational Linguistics* 41(3);
Mathet (2017), "The agreement measure γ_cat, a complement to γ focused on
categorization of a continuum", *Computational Linguistics* 43(3).

For units u and v that are :math:`b_u` and :math:`b_v` long:

.. math::
    d_{pos}(u, v) &= \Delta_\emptyset \left(\frac{|start_u - start_v| + |end_u - end_v|}
                                    {b_u + b_v}\right)^2 \\
    d_{cat}(u, v) &= \Delta_\emptyset \cdot [label_u \ne label_v] \\
    d(u, v) &= α\, d_{pos}(u, v) + β\, d_{cat}(u, v), \qquad d(u, \emptyset) = \Delta_\emptyset

The disorder of a unitary alignment is the mean of d over all pairs of annotators, two
empty places included, so that a unit alone costs Δ∅. The disorder of a text is the least
sum over its unitary alignments divided by the mean number of units per annotator, and
:math:`γ = 1 - δ_{observed} / δ_{expected}`, expected being the mean over random texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import ceil, inf, nan, sqrt
from statistics import NormalDist

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import (
    Within,
    checked_generator,
    checked_number,
    checked_share,
    checked_whole,
)
from beyondchance.core.ragged import total
from beyondchance.errors import OptionError
from beyondchance.other_coefficients.alignment import Dissimilarity, best_alignment
from beyondchance.other_coefficients.coefficient import (
    NOTHING_MARKED,
    Coefficient,
    Task,
)
from beyondchance.other_coefficients.continua import Units, compared_texts, random_corpora
from beyondchance.types import Floats

_FINITE = Within(is_high_open=True)
PILOT = 30
"""Random corpora to estimate from how many are needed."""

ALONE = "no text was annotated by two annotators"
ONE_BY_ONE = "gamma-k is a value for each label; for all of them together see gamma-cat"
_REASONS = (
    NOTHING_MARKED,
    "nothing is marked in the random texts drawn: draw more samples",
    "random annotations would agree completely: the disorder of all of them is 0",
)
_CATEGORIAL_REASONS = (
    "no two units that overlap are aligned",
    "no two units that overlap are aligned in random annotations",
    "units that are aligned in random annotations never differ in label",
)


def gamma(
    corpus: Corpus,
    *,
    alpha: float = 3.0,
    beta: float = 1.0,
    delta: float = 1.0,
    precision: float = 0.02,
    confidence: float = 0.95,
    samples: int | None = None,
    seed: int | np.random.Generator | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Coefficient]:
    r"""Compute gamma, gamma-cat and gamma-k of a corpus.

    Parameters
    ----------
    corpus : Corpus
        Any number of texts, labels and annotators; units may overlap.
    alpha, beta : float
        How much positions and labels weigh. The authors' program weighs positions
        three times, hence the default.
    delta : float
        Δ∅, the cost of a unit that is aligned with nothing. It is the unit of measurement
        of disorders; no coefficient depends on it.
    precision, confidence : float
        Random corpora are drawn until the expected disorder of gamma is known within this
        share of itself, with this confidence: (1.96·CV/precision)² of them at 95 %, with
        CV their coefficient of variation, and 30 at least.
    samples : int, optional
        How many random corpora to draw, whatever the precision.
    seed : int or Generator, optional
        Where random numbers begin, or a generator; by default the seed 0, so that a corpus
        always has the same gamma.
    progress : callable, optional
        Called as ``progress(done, total)``, in random corpora; the total may grow.

    Returns
    -------
    dict of str to Coefficient
        ``gamma``, ``gamma-cat`` and ``gamma-k``, whose `observed` and `expected` are
        disorders. The value of gamma-k is that of its labels taken one by one, in
        `by_label`; it has none for all labels together, which would be gamma-cat.
        `interval` is where the value would lie if random corpora were drawn without end.

    Raises
    ------
    OptionError
        For an option out of its range.
    MissingLibraryError
        Without scipy.

    Notes
    -----
    *Random texts* are made in the authors' way: each annotator of a random text gets what
    one of the annotators marked, drawn anew with replacement, shifted cyclically to begin
    at a random position, the pivot. Pivots of one text are kept apart by half the mean
    length of its units, as in the authors' program (their article says by the mean length),
    as long as the text has room. A unit across the end of the text keeps its length.
    Random texts without any unit have no disorder and are left out.

    *Several texts* are pooled: costs are added over texts, mean numbers of units are added
    over texts, then divided, in the corpus observed as in every random corpus. So a text
    counts by what is marked in it, units are never aligned across texts, and one text
    alone gives the definition of the article, which has no other case.

    *Gamma-cat* looks at the pairs of units that the best alignment puts together. Their
    distances in label are averaged, a pair among k aligned units weighing
    max(0, 1 - d_pos/Δ∅) / (k - 1): only units that overlap count. *Gamma-k* takes only pairs in
    which one unit at least has the label k. Where several alignments are best, which
    one is taken can move these two; where two units can as well be left alone, they are.

    Examples
    --------
    Two annotators agree on one of two units. The other two cost 1 each, and each
    annotator has two units, so that the disorder is 2/2 = 1.

    >>> corpus = Corpus.from_spans(
    ...     {"anna": [[(0, 2, "PER"), (5, 6, "LOC")]], "ben": [[(0, 2, "PER"), (8, 9, "LOC")]]},
    ...     lengths=[10],
    ... )
    >>> found = gamma(corpus)
    >>> found["gamma"].observed
    1.0
    >>> found["gamma-cat"].observed
    0.0
    >>> found["gamma-k"].by_label["LOC"].reason
    'no two units that overlap are aligned'
    """
    dissimilarity = Dissimilarity(
        alpha=checked_number("alpha", alpha, _FINITE),
        beta=checked_number("beta", beta, _FINITE),
    )
    if alpha == beta == 0:
        raise OptionError("alpha and beta are both 0", expected="one of them to be positive")
    scale = checked_number("delta", delta, replace(_FINITE, is_low_open=True))
    share = checked_share("precision", precision)
    quantile = NormalDist().inv_cdf(0.5 + checked_share("confidence", confidence) / 2)
    if samples is not None:
        checked_whole("samples", samples, least=2)
    rng = checked_generator(0 if seed is None else seed)
    settings = {
        "alpha": f"{alpha:g}",
        "beta": f"{beta:g}",
        "delta": f"{delta:g}",
        "sampler": "shuffle",
        "samples": "0",
        **({} if samples is not None else {"precision": f"{precision:g}"}),
        "confidence": f"{confidence:g}",
        "seed": "of the generator" if isinstance(seed, np.random.Generator) else str(seed or 0),
    }

    texts = compared_texts(corpus)
    if texts is None or not len(texts[0]):
        why = ALONE if texts is None else NOTHING_MARKED
        nothing = Coefficient(value=nan, why=why, settings=settings)
        return _by_name([nothing] * (2 + len(corpus.labels)), corpus.labels)

    disorders = partial(_disorders, dissimilarity=dissimilarity, n_labels=len(corpus.labels))
    observed = disorders(texts[0], 1)[0]
    drawn = partial(random_corpora, *texts, rng=rng)
    random = _sampled(drawn, disorders, samples=samples, factor=quantile / share, progress=progress)
    settings["samples"] = str(len(random))
    reasons = [_REASONS, *[_CATEGORIAL_REASONS] * (1 + len(corpus.labels))]
    values = [
        _coefficient(scale * observed[i], scale * random[:, i], quantile, why, settings)
        for i, why in enumerate(reasons)
    ]
    return _by_name(values, corpus.labels)


# --- Disorder -----------------------------------------------------------------


def _disorders(units: Units, n_corpora: int, dissimilarity: Dissimilarity, n_labels: int) -> Floats:
    """Compute the disorders of corpora of equally many texts, which lie end to end.

    Returns
    -------
    array of float, shape (n_corpora, 2 + labels)
        For gamma, nan where nothing is marked; then for gamma-cat and for the gamma-k of
        each label, nan where no units that overlap are aligned.
    """
    aligned, cost = best_alignment(units, dissimilarity)
    n_units = np.bincount(units.continuum, minlength=len(units.team)) / units.team
    overall = _ratio(*(part.reshape(n_corpora, -1).sum(axis=1) for part in (cost, n_units)))
    # Weights of pairs of aligned units: of all, and of those with each label.
    corpus, width = units.continuum // (len(units.team) // n_corpora), 1 + n_labels
    cells, distances, weights = [np.zeros(0, dtype=np.int64)], [np.zeros(0)], [np.zeros(0)]
    for unitary in aligned:
        n_units_here = unitary.members.shape[1]
        for i, j in combinations(range(n_units_here), 2):
            u, v = unitary.members[:, i], unitary.members[:, j]
            weight = np.maximum(0, 1 - dissimilarity.position(units, u, v)) / (n_units_here - 1)
            row, differ = corpus[u] * width, units.label[u] != units.label[v]
            cells += [row, row + 1 + units.label[u], (row + 1 + units.label[v])[differ]]
            distances += [weight * differ, weight * differ, weight[differ]]
            weights += [weight, weight, weight[differ]]
    cell = np.concatenate(cells)
    distance, weight = (
        total(cell, np.concatenate(parts), n_corpora * width).reshape(n_corpora, width)
        for parts in (distances, weights)
    )
    return np.column_stack([overall, _ratio(distance, weight)])


def _sampled(
    draw: Callable[[int], Iterator[tuple[Units, int]]],
    disorders: Callable[[Units, int], Floats],
    *,
    samples: int | None,
    factor: float,
    progress: Callable[[int, int], object] | None,
) -> Floats:
    """Compute disorders of random corpora: as many as asked for, or as precision needs."""
    drawn: list[Floats] = []
    done, wanted = 0, PILOT if samples is None else samples
    while done < wanted:
        for units, n_corpora in draw(wanted - done):
            drawn.append(disorders(units, n_corpora))
            done += n_corpora
            if progress is not None:
                progress(done, wanted)
        if samples is None:
            wanted = max(wanted, _needed(np.concatenate(drawn)[:, 0], factor))
    return np.concatenate(drawn)


def _needed(disorders: Floats, factor: float) -> int:
    """Return how many random corpora to draw: (factor · CV)², without those that are empty."""
    known = disorders[~np.isnan(disorders)]
    if len(known) < 2 or not known.mean() > 0:
        return 0
    variation = factor * float(known.std(ddof=1) / known.mean())
    return ceil(variation**2 * len(disorders) / len(known))


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide one by the other; nan where there is nothing."""
    result = np.full(part.shape, nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


# --- Values -------------------------------------------------------------------


def _coefficient(
    observed: float,
    random: Floats,
    quantile: float,
    reasons: tuple[str, str, str],
    settings: Mapping[str, str],
) -> Coefficient:
    """Make a coefficient of disorders, observed and of random corpora.

    Parameters
    ----------
    reasons : tuple of str
        Why it is undefined if there is no disorder observed, none expected, or if the
        expected one is 0.
    """
    known = random[~np.isnan(random)]
    expected = float(known.mean()) if len(known) else nan
    undefined = (np.isnan(observed), not len(known), not (known > 0).any())
    reason = next((why for why, holds in zip(reasons, undefined, strict=True) if holds), "")
    value, interval = nan, None
    if not reason:
        value = 1 - observed / expected
        error = quantile * float(known.std(ddof=1)) / sqrt(len(known)) if len(known) > 1 else inf
        if error < expected:
            low, high = (float(1 - observed / (expected + step)) for step in (-error, error))
            interval = low, high
    return Coefficient(
        value=float(value),
        observed=float(observed),
        expected=expected,
        why=reason,
        settings=settings,
        interval=interval,
    )


def _by_name(values: list[Coefficient], labels: tuple[str, ...]) -> dict[str, Coefficient]:
    """Name the coefficients: gamma, gamma-cat, gamma-k of each label."""
    overall, categorial, *single = values
    by_label = dict(zip(labels, single, strict=True))
    one_by_one = Coefficient(
        value=nan, why=ONE_BY_ONE, by_label=by_label, settings=overall.settings
    )
    return {"gamma": overall, "gamma-cat": categorial, "gamma-k": one_by_one}


def gammas(task: Task) -> dict[str, Coefficient]:
    """Compute gamma, gamma-cat and gamma-k of a task."""
    return gamma(task.corpus, **task.gamma, seed=task.seed, progress=task.progress)
