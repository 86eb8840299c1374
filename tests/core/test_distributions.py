"""Quantiles beside those of SciPy."""

import pytest
from scipy import stats

from beyondchance.core.distributions import (
    chi_square_quantile,
    chi_square_share,
    fisher_share,
    normal_quantile,
    normal_share,
    student_quantile,
    student_share,
)
from each import each

SHARES = (1e-6, 1e-3, 0.025, 0.1, 0.499, 0.5, 0.6, 0.975, 0.9999)
FREEDOMS = (0.4, 1, 1.5, 2, 3.7, 10, 29, 99.5, 1e4)


@each("share", SHARES)
def test_normal_quantile(share):
    assert normal_quantile(share) == pytest.approx(stats.norm.ppf(share), rel=1e-12)
    assert normal_share(normal_quantile(share)) == pytest.approx(share, rel=1e-12)


@each("freedom", FREEDOMS)
@each("share", SHARES)
def test_student_quantile(share, freedom):
    exact = stats.t.ppf(share, freedom)
    assert student_quantile(share, freedom) == pytest.approx(exact, rel=1e-10)


@each("freedom", FREEDOMS)
@each("t", [-40, -3, -1, -0.01, 0, 0.7, 2, 12])
def test_student_share(t, freedom):
    assert student_share(t, freedom) == pytest.approx(stats.t.cdf(t, freedom), rel=1e-10)


@each("freedom", FREEDOMS)
@each("share", SHARES)
def test_chi_square_quantile(share, freedom):
    exact = stats.chi2.ppf(share, freedom)
    assert chi_square_quantile(share, freedom) == pytest.approx(exact, rel=1e-9)


@each("freedom", FREEDOMS)
@each("times", [0, 1e-9, 0.01, 0.7, 0.99, 1, 1.01, 2, 12])
def test_chi_square_share(times, freedom):
    x = times * freedom
    assert chi_square_share(x, freedom) == pytest.approx(stats.chi2.cdf(x, freedom), rel=1e-9)


def test_ends():
    assert normal_quantile(1.0) == -normal_quantile(0.0) == float("inf")
    assert student_quantile(1.0, 3) == -student_quantile(0.0, 3) == float("inf")


@pytest.mark.parametrize("freedom", [1.0, 2.5, 100.3, 1e4, 1e6])
@pytest.mark.parametrize("other", [0.6, 3.3, 20.0, 1e4])
def test_fisher_share(freedom, other):
    for share in (0.01, 0.5, 0.8, 0.99):
        x = stats.f.ppf(share, freedom, other)
        assert fisher_share(x, freedom, other) == pytest.approx(share, abs=1e-8)
