import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from virsci_society.metrics.inference.two_lines import inverted_u, logistic_regression

SIZES = np.repeat([2.0, 3, 4, 5, 6, 8], 20)


def noise(seed, scale=0.3, like=SIZES):
    return np.random.default_rng(seed).normal(0, scale, len(like))


def test_a_hand_worked_pair_of_lines():
    """Up 1 a step to x = 3, down 2 a step from there; HC3 of residuals 0.1, by hand for one."""
    x = np.repeat([1.0, 2, 3, 4, 5], 2)
    y = np.repeat([0.0, 1, 2, 0, -2], 2) + np.tile([0.1, -0.1], 5)
    found = inverted_u(x, y)
    assert found.break_point == 3
    assert found.first.slope == pytest.approx(1)
    assert found.second.slope == pytest.approx(-2)
    assert (found.first.n, found.second.n) == (6, 6)
    # Leverages 5/12 at the ends: sum (gap x 0.1 / (7/12))^2 = 4 (0.12/0.7)^2, over spread 4.
    error = math.sqrt(4 * (0.1 * 12 / 7) ** 2) / 4
    half = stats.t.ppf(0.975, 4) * error
    assert found.first.high - found.first.slope == pytest.approx(half)
    assert found.first.p == pytest.approx(2 * stats.t.sf(1 / error, 4))
    assert found.p == max(found.first.p, found.second.p)
    assert found.note == "rises, then falls"


def test_a_tent_is_found_and_a_saturating_curve_is_not():
    tent = inverted_u(SIZES, -np.abs(SIZES - 4.5) + noise(0))
    assert tent.p < 0.001
    assert 3 <= tent.break_point <= 6
    for seed in range(5):
        flat = inverted_u(SIZES, np.log(SIZES) + noise(seed))
        assert flat.p > 0.05


def test_a_u_is_no_inverted_u():
    found = inverted_u(SIZES, np.abs(SIZES - 4.5) + noise(0))
    assert found.p == 1.0


def test_many_places_are_smoothed_by_a_spline():
    x = np.random.default_rng(0).uniform(0, 10, 300)
    y = -((x - 6) ** 2) / 5 + noise(1, 0.8, x)
    found = inverted_u(x, y)
    assert found.break_point == pytest.approx(6, abs=1)
    assert found.note == "rises, then falls"
    shifted = inverted_u(1000 + 3 * x, y)
    assert shifted.break_point == pytest.approx(1000 + 3 * found.break_point)
    assert shifted.first.p == pytest.approx(found.first.p)


def test_the_break_gives_more_of_the_data_to_the_weaker_line():
    """A broad top from 3 to 7, a steep rise and a weak fall: the break moves left of its middle."""
    x = np.repeat(np.arange(1.0, 10), 8)
    curve = np.interp(x, [1, 3, 7, 9], [0, 3, 3, 2.4]) + 0.5 * np.tile([1, -1], 36)
    found = inverted_u(x, curve)
    assert abs(found.first.slope) > abs(found.second.slope)
    assert 3 <= found.break_point < 5
    assert inverted_u(10 - x, curve).break_point == pytest.approx(10 - found.break_point)


def test_chance_alone_is_seldom_called_an_inverted_u():
    found = [inverted_u(SIZES, noise(seed, 1.0)).p < 0.05 for seed in range(200)]
    assert np.mean(found) <= 0.05


def test_three_sizes_are_enough_and_two_are_not():
    x = np.repeat([2.0, 4, 8], 10)
    assert inverted_u(x, -np.abs(x - 4) + noise(0, 0.3, x)).p < 0.05
    two = inverted_u(x[:20], noise(0, 0.3, x[:20]))
    assert two.note == "not estimable: 2 distinct values, three are needed"
    assert math.isnan(two.p)
    one_each = inverted_u([2.0, 4, 8], [1.0, 2, 1])
    assert one_each.note == "not estimable: a line rests on too few replicates"


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
