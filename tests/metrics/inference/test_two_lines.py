import math

import numpy as np
import pytest
from scipy import stats

from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.correlations import pearson, prcc, spearman
from virsci_society.metrics.inference.two_lines import inverted_u

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


def test_correlations_agree_with_scipy():
    x, y = SIZES, SIZES**2 + noise(0, 10)
    ours, theirs = pearson(x, y), stats.pearsonr(x, y)
    band = theirs.confidence_interval()
    assert (ours.r, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert (ours.low, ours.high) == pytest.approx((band.low, band.high))
    ranks, theirs = spearman(x, y), stats.spearmanr(x, y)
    assert (ranks.r, ranks.p) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_a_hand_worked_rank_correlation():
    """Ranks 1 2 3 4 5 against 2 1 4 3 5: sum of squares 4, rho = 1 - 24/120 = 0.8."""
    found = spearman([1, 2, 3, 4, 50], [20, 1, 40, 39, 50])
    assert found.r == pytest.approx(0.8)
    half = 1.959964 * math.sqrt((1 + 0.32) / 2)
    assert found.high == pytest.approx(math.tanh(math.atanh(0.8) + half), abs=1e-6)


def test_correlations_that_are_not_there():
    assert math.isnan(pearson([1, 1, 1, 1], [1, 2, 3, 4]).r)
    assert math.isnan(pearson([1, 2], [1, 2]).p)
    few = pearson([1, 2, 3], [1, 3, 2])
    assert (few.r, math.isnan(few.low)) == (pytest.approx(0.5), True)
    whole = pearson([1, 2, 3, 4], [2, 4, 6, 8])
    assert (whole.r, whole.low, whole.high, whole.p) == (pytest.approx(1), 1, 1, 0)
    with pytest.raises(InputError, match="one length"):
        pearson([1, 2], [1])


def test_a_partial_rank_correlation_takes_the_other_inputs_out():
    random = np.random.default_rng(0)
    cause = random.random(200)
    follower = cause + random.normal(0, 0.3, 200)
    y = np.exp(3 * cause) + random.normal(0, 0.5, 200)
    assert spearman(follower, y).r > 0.5
    found = prcc({"cause": cause, "follower": follower}, y)
    assert found["cause"].r > 0.9
    assert abs(found["follower"].r) < 0.2
    assert found["follower"].low < 0 < found["follower"].high


def test_a_hand_worked_partial_rank_correlation():
    """(r_xy - r_xz r_yz) / sqrt((1 - r_xz^2)(1 - r_yz^2)) of the ranks."""
    random = np.random.default_rng(1)
    x, z, y = random.random((3, 30))
    xy, xz, yz = (spearman(*two).r for two in ((x, y), (x, z), (y, z)))
    wanted = (xy - xz * yz) / math.sqrt((1 - xz**2) * (1 - yz**2))
    found = prcc({"x": x, "z": z}, y)["x"]
    assert found.r == pytest.approx(wanted)
    t = wanted * math.sqrt(27 / (1 - wanted**2))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 27))


def test_an_input_that_the_others_determine_has_no_partial_correlation():
    x = np.arange(10.0)
    assert math.isnan(prcc({"x": x, "twice": 2 * x}, x[::-1])["x"].r)
    with pytest.raises(InputError, match="x has 10 values, the measure 3"):
        prcc({"x": x}, [1, 2, 3])
