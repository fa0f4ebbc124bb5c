"""Beta-binomial, negative binomial and Kaplan-Meier, against known truths and by hand."""

import math

import numpy as np
import pytest

from virsci_society.scenarios.calibration.estimation.count_models import (
    fit_beta_binomial,
    fit_gamma_poisson,
    share_never_again,
    standard_errors,
)


def test_a_beta_binomial_is_recovered():
    rng = np.random.default_rng(1)
    trials = rng.integers(1, 8, 4000)
    mean, spread = fit_beta_binomial(rng.binomial(trials, rng.beta(0.4 * 5, 0.6 * 5, 4000)), trials)
    assert mean.value == pytest.approx(0.4, abs=3 * mean.error)
    assert spread.value == pytest.approx(5, abs=3 * spread.error)
    assert 0 < mean.error < 0.02
    assert spread.n == 4000


def test_a_binomial_has_a_large_concentration():
    rng = np.random.default_rng(2)
    trials = np.full(2000, 6)
    assert fit_beta_binomial(rng.binomial(trials, 0.3), trials)[1].value > 50


def test_nothing_is_estimated_of_nothing():
    mean, spread = fit_beta_binomial(np.zeros(3, dtype=int), np.zeros(3, dtype=int))
    assert math.isnan(mean.value)
    assert math.isnan(spread.value)
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
