"""Correlations by hand and beside scipy, and rank correlation within blocks of runs."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.correlations import (
    BONETT_WRIGHT,
    FISHER,
    Block,
    pearson,
    rank_trend,
    spearman,
)


def block(x, y, unit=0):
    return Block(np.array(x, dtype=float), np.array(y, dtype=float), unit)


def test_a_seed_that_lifts_all_its_arms_does_not_hide_the_trend():
    """Within each seed the measure rises; between seeds it lies far apart."""
    blocks = [block([1, 2, 3, 4], [10 * seed + k for k in range(4)], seed) for seed in range(5)]
    pooled = spearman(
        np.concatenate([one.x for one in blocks]), np.concatenate([one.y for one in blocks])
    )
    assert pooled.r < 0.3
    found = rank_trend(blocks)
    assert found.r == 1.0
    assert found.p < 0.001
    assert found.n == 20
    # All seeds say the same: nothing is known of how far another one would be off.
    assert np.isnan(found.low)


def test_rho_and_interval_by_hand():
    """Blocks of three with rho 1, 0.5 and 0.5, and one of two with rho -1, of half the weight."""
    blocks = [
        block([1, 2, 3], [1, 2, 3], 0),
        block([1, 2, 3], [1, 3, 2], 1),
        block([1, 2, 3], [2, 1, 3], 2),
        block([1, 2], [2, 1], 2),
    ]
    found = rank_trend(blocks)
    assert found.r == pytest.approx((2 * 1 + 2 * 0.5 + 2 * 0.5 - 1) / 7)
    # Seeds: 1, 0.5 and (2 x 0.5 - 1) / 3 = 0.
    half = stats.t.ppf(0.975, 2) * 0.5 / np.sqrt(3)
    assert found.low == pytest.approx(max(0.5 - half, -1))
    assert found.high == pytest.approx(min(0.5 + half, 1))


def test_p_is_that_of_all_permutations():
    blocks = [block([1, 2, 3], [1, 2, 4], 0), block([1, 2, 3], [5, 9, 7], 1)]
    observed = sum(stats.spearmanr(one.x, one.y).statistic for one in blocks)
    every = [
        sum(stats.spearmanr(one.x, y).statistic for one, y in zip(blocks, order, strict=True))
        for order in product(*(permutations(one.y) for one in blocks))
    ]
    exact = np.mean(np.abs(every) >= abs(observed) - 1e-9)
    assert rank_trend(blocks).p == pytest.approx(exact, abs=0.015)


def test_blocks_without_variance_are_left_out_and_counted():
    zero = [block([1, 2, 3], [0, 0, 0], seed) for seed in range(5)]
    rising = [block([1, 2, 3], [1, 2 + seed % 2, 2.5], seed) for seed in range(5)]
    both = rank_trend([*zero, *rising])
    assert both.r == rank_trend(rising).r
    assert both.n == 15
    assert both.note.startswith("left out: 5 of 10 blocks")
    nothing = rank_trend(zero)
    assert np.isnan([nothing.r, nothing.p, nothing.low]).all()
    assert nothing.note.startswith("not estimable")


@pytest.mark.slow
def test_it_is_wrong_as_often_as_it_says():
    """Five seeds that differ a lot, four arms that do not: p below 0.05 in 5 % of studies."""
    rng = np.random.default_rng(0)
    small = 0
    for study in range(600):
        lifts = rng.normal(0, 3, 5)
        blocks = [block([1, 2, 3, 4], lifts[seed] + rng.normal(0, 1, 4), seed) for seed in range(5)]
        small += rank_trend(blocks, permutations=199, seed=study).p <= 0.05
    assert 0.025 < small / 600 < 0.08


def test_correlations_agree_with_scipy():
    x = np.repeat([2.0, 3, 4, 5, 6, 8], 20)
    y = x**2 + np.random.default_rng(0).normal(0, 10, len(x))
    ours, theirs = pearson(x, y), stats.pearsonr(x, y)
    band = theirs.confidence_interval()
    assert (ours.r, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert (ours.low, ours.high) == pytest.approx((band.low, band.high))
    ranks, theirs = spearman(x, y), stats.spearmanr(x, y)
    assert (ranks.r, ranks.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert [one.test for one in (ours, ranks)] == ["Pearson", "Spearman"]
    assert [one.method for one in (ours, ranks)] == [FISHER, BONETT_WRIGHT]
    assert pearson([1.0], [1.0]).method == ""


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
