"""Rank correlation within blocks: by hand, exactly, and how often it is wrong by chance."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from virsci_society.metrics.inference.correlations import Block, rank_trend, spearman


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
