import math

import numpy as np
import pytest
from scipy import stats

from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.comparisons import (
    NOT_EXERCISED,
    cohen_d,
    detectable_effect,
    detectable_paired,
    holm,
    paired,
    power_sentences,
    welch,
)

rng = np.random.default_rng(1)
FIRST, SECOND = rng.normal(0, 1, 12), rng.normal(0.8, 2, 17)


def test_paired_by_its_definition():
    gaps = SECOND[:12] - FIRST
    error = gaps.std(ddof=1) / math.sqrt(12)
    half = stats.t.ppf(0.975, 11) * error
    found = paired(FIRST, SECOND[:12])
    assert found.p == pytest.approx(2 * stats.t.sf(abs(gaps.mean() / error), 11))
    assert found.effect == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    wanted = (gaps.mean(), gaps.mean() - half, gaps.mean() + half)
    assert _bounds(found) == pytest.approx(wanted, rel=1e-12)
    assert (found.difference.n, found.difference.level) == (12, 0.95)


def test_welch_by_its_definition():
    """Error and degrees of freedom after Welch 1947 and Satterthwaite 1946."""
    own = FIRST.var(ddof=1) / 12, SECOND.var(ddof=1) / 17
    error = math.sqrt(sum(own))
    freedom = sum(own) ** 2 / (own[0] ** 2 / 11 + own[1] ** 2 / 16)
    gap, half = SECOND.mean() - FIRST.mean(), stats.t.ppf(0.95, freedom) * error
    found = welch(FIRST, SECOND, level=0.9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(gap / error), freedom))
    assert _bounds(found) == pytest.approx((gap, gap - half, gap + half), rel=1e-12)
    assert found.difference.n == 29


def _bounds(found):
    return found.difference.value, found.difference.low, found.difference.high


@pytest.mark.parametrize(
    ("test", "first", "second", "note"),
    [
        (paired, [1.0], [2.0], "only one pair"),
        (paired, [1.0, 2.0], [2.0, 3.0], "every pair differs by the same"),
        (paired, [1.0, 1.0], [1.0, 1.0], "every pair is equal"),
        (paired, [1.0, 2.0], [1.0, 2.0], NOT_EXERCISED),
        (welch, [1.0], [2.0, 3.0], "only one value in an arm"),
        (welch, [1.0, 1.0], [2.0, 2.0], "neither arm varies"),
    ],
)
def test_what_cannot_be_compared_says_why(test, first, second, note):
    found = test(first, second)
    assert found.note == note
    assert math.isnan(found.p)
    assert math.isnan(found.effect)


def test_pairs_of_unequal_length_are_refused():
    with pytest.raises(InputError, match="not 1 and 2 values"):
        paired([1.0], [1.0, 2.0])


def test_holm_by_hand():
    """0.01 x 4, 0.03 x 3, 0.04 x 2 (raised to 0.09), 0.5 x 1."""
    assert holm([0.03, 0.01, 0.5, 0.04]) == pytest.approx([0.09, 0.04, 0.5, 0.09])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_a_comparison_that_was_lost_still_counts_as_planned():
    """Three planned, one lost: 0.01 x 3, 0.04 x 2."""
    assert holm([0.04, math.nan, 0.01])[::2] == pytest.approx([0.08, 0.03])
    assert math.isnan(holm([0.04, math.nan, 0.01])[1])


def test_effect_sizes_by_hand():
    """Means 3 and 1, both variances 1: d = 2; g shrinks it by 0.8 at 4 degrees of freedom."""
    assert cohen_d([2, 3, 4], [0, 1, 2]) == pytest.approx(2)
    assert welch([0, 1, 2], [2, 3, 4]).effect == pytest.approx(2 * 0.797885, abs=1e-5)
    assert math.isnan(cohen_d([1, 1], [2, 2]))
    assert math.isnan(cohen_d([1], [2, 3]))


def test_twenty_pairs_find_an_effect_of_two_thirds():
    assert detectable_paired(20) == pytest.approx(0.6604, abs=1e-3)
    assert math.isnan(detectable_paired(1))
    assert detectable_effect(5, alpha=0.001) > detectable_effect(5)
    draws = np.random.default_rng(0).normal(0, 1, (2, 20, 4000))
    one = stats.ttest_1samp(draws[0, :10] + detectable_paired(10), 0).pvalue
    two = stats.ttest_ind(draws[0] + detectable_effect(20), draws[1]).pvalue
    for found in (one, two):
        assert (found < 0.05).mean() == pytest.approx(0.8, abs=0.02)


def test_the_power_of_the_planned_comparison_is_told_first():
    pairs, strict = power_sentences(20, True, 4)
    assert "with 20 pairs of runs: d_z = 0.66 (standard deviations of the" in pairs
    assert strict.endswith("for 4 tests at its strictest: d_z = 0.81.")
    (alone,) = power_sentences(20, False, 1)
    assert " with 20 runs of each arm: d = 0.91 (standard deviations" in alone
    assert power_sentences(1, True, 1) == ["With 1 replicate, no effect can be detected."]
