import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special, stats

from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.comparisons import cohen_d, detectable_effect, holm, welch
from virsci_society.metrics.inference.intervals import bca_interval, t_interval
from virsci_society.metrics.inference.two_lines import logistic_regression

SAMPLE = np.random.default_rng(0).lognormal(size=25)


@pytest.mark.parametrize("interval", [t_interval, bca_interval])
def test_too_few_values_have_no_bounds(interval):
    assert math.isnan(interval([]).value)
    one = interval([3.0])
    assert one.value == 3.0
    assert math.isnan(one.low)
    assert math.isnan(one.high)


def test_bca_is_seeded():
    assert bca_interval(SAMPLE, seed=3) == bca_interval(SAMPLE, seed=3)
    assert bca_interval(SAMPLE, seed=3) != bca_interval(SAMPLE, seed=4)


def test_bca_of_equal_values_is_a_point():
    band = bca_interval([2.0, 2.0, 2.0])
    assert (band.value, band.low, band.high) == (2.0, 2.0, 2.0)


def test_intervals_refuse_what_is_no_sample():
    with pytest.raises(InputError, match="finite numbers"):
        t_interval([1.0, math.nan])
    with pytest.raises(InputError, match="flat list"):
        bca_interval(np.ones((2, 2)))


def test_holm_by_hand():
    """0.01 x 4, 0.03 x 3, 0.04 x 2 (raised to 0.09), 0.5 x 1."""
    assert holm([0.03, 0.01, 0.5, 0.04]) == pytest.approx([0.09, 0.04, 0.5, 0.09])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_and_keeps_the_order(values):
    adjusted = holm(values)
    assert all(new >= old for new, old in zip(adjusted, values, strict=True))
    for a in range(len(values)):
        for b in range(len(values)):
            if values[a] < values[b]:
                assert adjusted[a] <= adjusted[b]
    assert adjusted[values.index(min(values))] <= min(1.0, min(values) * len(values)) + 1e-12


def test_effect_sizes_by_hand():
    """Means 3 and 1, both variances 1: d = 2; g shrinks it by 0.8 at 4 degrees of freedom."""
    assert cohen_d([2, 3, 4], [0, 1, 2]) == pytest.approx(2)
    assert welch([0, 1, 2], [2, 3, 4]).effect == pytest.approx(2 * 0.797885, abs=1e-5)
    assert math.isnan(cohen_d([1, 1], [2, 2]))
    assert math.isnan(cohen_d([1], [2, 3]))


def test_the_detectable_effect_has_that_power():
    rng = np.random.default_rng(0)
    effect, n = detectable_effect(20), 20
    found = stats.ttest_ind(rng.normal(effect, 1, (n, 4000)), rng.normal(0, 1, (n, 4000))).pvalue
    assert (found < 0.05).mean() == pytest.approx(0.8, abs=0.02)


def likelihood(weights, x, y):
    score = weights[0] + weights[1] * x
    return -(y * special.log_expit(score) + (1 - y) * special.log_expit(-score)).sum()


@pytest.mark.parametrize("seed", range(4))
def test_the_logistic_slope_is_the_maximum(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, 120).astype(float)
    y = rng.random(120) < special.expit(0.7 - 0.6 * x)
    fit = logistic_regression(x, y)
    best = optimize.minimize(likelihood, [0.0, 0.0], args=(x, y.astype(float)), tol=1e-12)
    assert fit.note == "estimated"
    assert (fit.intercept, fit.slope) == pytest.approx(tuple(best.x), abs=1e-4)
    assert fit.low < fit.slope < fit.high


def test_a_hand_worked_logistic_slope():
    """Two loads: log odds are log(3/1) and log(1/3), the slope their difference, and its error
    the root of the sum of the reciprocal counts."""
    x = [0] * 4 + [1] * 4
    y = [True, True, True, False, True, False, False, False]
    fit = logistic_regression(x, y)
    assert fit.slope == pytest.approx(-2 * math.log(3))
    error = math.sqrt(1 / 3 + 1 + 1 + 1 / 3)
    assert fit.high - fit.slope == pytest.approx(1.959964 * error, abs=1e-5)
    assert fit.intercept == pytest.approx(math.log(3))


@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ([], [], "only 0 observations"),
        ([0, 1, 2], [True, True, True], "every answer is the same"),
        ([1, 1, 1], [True, False, True], "the load never varies"),
        ([0, 1, 2, 3], [True, True, False, False], "separates the answers"),
    ],
)
def test_what_has_no_maximum_is_not_estimable(x, y, why):
    fit = logistic_regression(x, y)
    assert fit.note.startswith("not estimable")
    assert why in fit.note
    assert math.isnan(fit.slope)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=3, max_size=40))
def test_every_sample_is_estimated_or_explained(sample):
    fit = logistic_regression([x for x, _ in sample], [y for _, y in sample])
    if fit.note == "estimated":
        assert math.isfinite(fit.low)
        assert math.isfinite(fit.high)
    else:
        assert math.isnan(fit.slope)
