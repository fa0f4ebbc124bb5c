"""Proper scores against closed forms."""

import math

import numpy as np
import pytest
import scipy

from virsci_society.scenarios.forecasting.scoring import crps, integral_transform


@pytest.mark.parametrize("observed", [-2.0, 0.0, 0.7, 5.0])
def test_the_score_of_a_normal_distribution(observed):
    """Gneiting and Raftery 2007, equation 20."""
    shares = (np.arange(4000) + 0.5) / 4000
    values = 1 + 2 * scipy.stats.norm.ppf(shares)
    z = (observed - 1) / 2
    density, below = scipy.stats.norm.pdf(z), scipy.stats.norm.cdf(z)
    known = 2 * (z * (2 * below - 1) + 2 * density - 1 / math.sqrt(math.pi))
    assert crps(values, observed) == pytest.approx(known, abs=2e-3)


def test_the_score_of_a_uniform_distribution():
    values = (np.arange(1000) + 0.5) / 1000
    # The integral of (F - step)^2: a^3 / 3 + (1 - a)^3 / 3 at a.
    assert crps(values, 0.3) == pytest.approx(0.3**3 / 3 + 0.7**3 / 3, abs=1e-5)
    assert crps(values[::-1], 0.3) == pytest.approx(crps(values, 0.3))


def test_the_score_of_one_value_is_its_distance():
    assert crps([2.0], 5.0) == 3
    assert crps([2.0, 2.0], 2.0) == 0


def test_the_score_of_two_values():
    # Mean distance 1, less half the mean distance of two draws, 1/2 x (0 + 2 + 2 + 0) / 4.
    assert crps([0.0, 2.0], 1.0) == pytest.approx(0.5)


def test_the_transform_is_uniform_where_the_distribution_is_right():
    values = scipy.stats.norm.ppf((np.arange(100) + 0.5) / 100)
    drawn = np.random.default_rng(4).standard_normal(2000)
    found = [integral_transform(values, one) for one in drawn]
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.01
    assert integral_transform([1.0, 2.0, 2.0, 3.0], 2.0) == 0.5
    assert integral_transform([1.0, 2.0], 9.0) == 1
