"""Rates with a slope, and counts that vary more than chance: known truths and cases by hand."""

import math

import numpy as np
import pytest

from virsci_society.scenarios.calibration.parameters import to_link, unlink
from virsci_society.scenarios.calibration.rates import (
    DAMPING,
    fit_beta_binomial,
    fit_gamma_poisson,
    fit_trend,
    share_never_again,
    standard_errors,
)

YEARS = np.arange(12.0)


def test_a_growing_count_is_continued_by_a_damped_trend():
    totals = 100 * np.exp(0.1 * YEARS)
    found = fit_trend(YEARS, totals, np.ones(12), "log", at=14.0)
    assert found.slope == pytest.approx(0.1, abs=1e-6)
    assert found.shrunk_slope == pytest.approx(0.1, rel=0.05)
    # The middle of the years that were counted lies 8.5 years before 14.
    ahead = 0.1 * (1 - DAMPING**8.5) / -math.log(DAMPING)
    assert found.age == pytest.approx(8.5)
    assert found.estimate.value == pytest.approx(100 * math.exp(0.55 + ahead), rel=0.05)
    assert found.estimate.value < 100 * math.exp(0.1 * 14)


def test_the_same_years_give_the_same_trend_in_any_calendar():
    totals = np.random.default_rng(5).poisson(30, 12).astype(float)
    one = fit_trend(YEARS + 0.5, totals, np.ones(12), "log", at=12.0, memory=3.0)
    other = fit_trend(YEARS - 19.5, totals, np.ones(12), "log", at=-8.0, memory=3.0)
    assert one == other


def test_a_falling_share_is_continued():
    shares = 1 / (1 + np.exp(-(0.5 - 0.1 * YEARS)))
    found = fit_trend(YEARS, 1000 * shares, np.full(12, 1000.0), "logit", at=12.0, memory=2.0)
    assert found.slope == pytest.approx(-0.1, abs=1e-6)
    assert 0 < found.estimate.value < shares[-1]


def test_a_slope_within_its_error_moves_nothing():
    rng = np.random.default_rng(3)
    totals = rng.poisson(20, 12).astype(float)
    found = fit_trend(YEARS, totals, np.ones(12), "log", at=40.0)
    assert abs(found.slope) < 2 * found.slope_error
    assert abs(found.shrunk_slope) < abs(found.slope)
    assert found.estimate.value == pytest.approx(totals.mean(), rel=0.6)


def test_two_periods_have_a_level_and_no_slope():
    found = fit_trend(YEARS[:2], np.array([4.0, 6.0]), np.ones(2), "log", at=2.0)
    assert (found.slope, found.shrunk_slope) == (0, 0)
    assert math.isnan(found.slope_error)
    assert found.estimate.value == pytest.approx(5)


@pytest.mark.parametrize("total", [0.0, 30.0])
def test_a_share_of_none_or_all_has_a_finite_level(total):
    found = fit_trend(YEARS[:3], np.full(3, total), np.full(3, 30.0), "logit", at=3.0)
    assert math.isfinite(found.level)
    assert abs(found.estimate.value - total / 30) < 0.01


def test_recent_periods_count_for_more():
    totals = np.where(YEARS < 10, 10.0, 20.0)
    old = fit_trend(YEARS[:2], totals[:2], np.ones(2), "log", at=12.0)
    both = fit_trend(YEARS[[0, 11]], totals[[0, 11]], np.ones(2), "log", at=12.0, memory=2.0)
    assert old.estimate.value == pytest.approx(10)
    assert both.estimate.value > 19


@pytest.mark.parametrize(("link", "value"), [("log", 3.5), ("logit", 0.2), ("identity", -1.0)])
def test_links_and_their_inverses(link, value):
    assert unlink(link, to_link(link, value)) == pytest.approx(value)


def test_a_beta_binomial_is_recovered():
    rng = np.random.default_rng(1)
    trials = rng.integers(1, 8, 4000)
    spread = fit_beta_binomial(rng.binomial(trials, rng.beta(0.4 * 5, 0.6 * 5, 4000)), trials)
    assert spread.value == pytest.approx(5, abs=3 * spread.error)
    assert spread.n == 4000


def test_a_binomial_has_a_large_concentration():
    rng = np.random.default_rng(2)
    trials = np.full(2000, 6)
    assert fit_beta_binomial(rng.binomial(trials, 0.3), trials).value > 50


def test_nothing_is_estimated_of_nothing():
    assert math.isnan(fit_beta_binomial(np.zeros(3, dtype=int), np.zeros(3, dtype=int)).value)
    assert math.isnan(fit_gamma_poisson(np.zeros(4, dtype=int)).value)


def test_a_negative_binomial_is_recovered():
    rng = np.random.default_rng(3)
    found = fit_gamma_poisson(rng.poisson(rng.gamma(2.5, 3 / 2.5, 5000)))
    assert found.value == pytest.approx(2.5, abs=3 * found.error)


def test_kaplan_and_meier_by_hand():
    # Of four, one comes again after a year; one is seen for a year only; one comes after three.
    gaps = np.array([1, np.inf, 3, np.inf])
    observed = np.array([5.0, 1.0, 5.0, 5.0])
    found = share_never_again(gaps, observed, 5)
    assert found.value == pytest.approx((1 - 1 / 4) * (1 - 1 / 2))
    assert found.error > 0


def test_a_horizon_that_nobody_has_reached_is_not_known():
    assert math.isnan(share_never_again(np.array([np.inf]), np.array([2.0]), 5).value)


def test_standard_errors_of_a_normal_likelihood():
    assert standard_errors(lambda x: float(x @ x) / (2 * 0.25), np.zeros(2)) == pytest.approx(
        [0.5, 0.5]
    )
    assert math.isnan(standard_errors(lambda x: -float(x @ x), np.zeros(1))[0])
