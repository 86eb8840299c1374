"""Whether intervals and plans hold what they promise, on documents of very unlike length.

Seeded and small; benchmarks/calibration.py does it at length.
"""

import numpy as np
import pytest

from beyondchance import Settings
from beyondchance.core.resampling import influences
from beyondchance.inference.plan import _spread, _spread_range, freedom_of_spread
from beyondchance.results.intervals import interval_from, lowest_of
from beyondchance.results.resampling import resampling_of, score_of
from each import each

CORPORA = 500
EXPANDED = resampling_of(Settings(), {})


def documents(n, rng, errors, *, spread=0.5):
    """The sums of documents whose length is lognormal, by as many systems as there are errors."""
    spans = np.maximum(np.rint(np.exp(rng.normal(np.log(9), 1.2, n))), 1)
    harder = rng.gamma(1 / spread**2, spread**2, n)
    tables = []
    for error in errors:
        matched = rng.binomial(spans.astype(int), np.exp(-error * harder))
        tables.append(np.stack([matched, 0.2 * spans, 2 * spans, np.ones(n)], axis=1))
    return tables


def interval_of(tables):
    """The interval of the corrected score, or of the difference of two."""
    totals = [table.sum(axis=0) for table in tables]
    pairs = zip(totals, tables, strict=True)
    scores = [score_of(np.vstack([whole, whole - table]), "corrected") for whole, table in pairs]
    values = scores[0] - scores[1] if len(scores) == 2 else scores[0]
    lowest = lowest_of(totals[0], "corrected") if len(scores) == 1 else None
    return interval_from(
        np.zeros(0), float(values[0]), [values[1:]], EXPANDED, kinds=["documents"], lowest=lowest
    )


def truth_of(errors, seed=99):
    """What very many documents give."""
    tables = documents(200_000, np.random.default_rng(seed), errors)
    scores = [float(score_of(table.sum(axis=0), "corrected")) for table in tables]
    return scores[0] - scores[1] if len(scores) == 2 else scores[0]


NUMBERS, ERRORS = (8, 15, 40), ((0.1,), (0.5,), (0.1, 0.15))


@pytest.mark.slow
@each(("n", "errors"), zip(NUMBERS, ERRORS, strict=True))
def test_intervals_hold_the_truth(n, errors):
    check_intervals(n, errors)


@pytest.mark.long
@each("n", NUMBERS)
@each("errors", ERRORS)
def test_all_intervals_hold_the_truth(n, errors):
    check_intervals(n, errors)


def check_intervals(n, errors):
    rng = np.random.default_rng(n)
    truth = truth_of(errors)
    found = [interval_of(documents(n, rng, errors)) for _ in range(CORPORA)]
    held = np.mean([item.low <= truth <= item.high for item in found])
    # Four standard errors around 93 to 97 %.
    assert 0.885 <= held <= 0.997


@pytest.mark.slow
@each(("n", "error"), [(30, 0.1)])
def test_plans_hold_the_need(n, error):
    check_plans(n, error)


@pytest.mark.long
@each("n", [10, 30, 100])
@each("error", [0.1, 0.5])
def test_all_plans_hold_the_need(n, error):
    check_plans(n, error)


def check_plans(n, error):
    def spread_of(table):
        whole = table.sum(axis=0)
        moves = influences(score_of(whole - table, "corrected"))
        return _spread(moves), freedom_of_spread(moves, table[:, 2])

    rng = np.random.default_rng(n)
    truth, _ = spread_of(documents(200_000, np.random.default_rng(99), [error])[0])
    held = 0
    for _ in range(CORPORA):
        low, high = _spread_range(*spread_of(documents(n, rng, [error])[0]), 0.95)
        held += low <= truth <= high
    # Four standard errors around 90 to 97 %.
    assert 0.846 <= held / CORPORA <= 0.997
