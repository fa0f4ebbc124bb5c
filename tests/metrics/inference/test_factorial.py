"""Main effects and interactions: against t tests, sums of squares, and by chance."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from virsci_society.metrics.inference.comparisons import paired as paired_test
from virsci_society.metrics.inference.comparisons import welch
from virsci_society.metrics.inference.factorial import factorial_effects

LEVELS = {"p": ["0", "1"], "q": ["low", "mid", "high"]}


def cells_of(values):
    """Cells of the grid from an array of shape (2, 3, replicates)."""
    return {
        cell: pd.Series(values[place], index=range(values.shape[-1]))
        for cell, place in zip(product(*LEVELS.values()), np.ndindex(2, 3), strict=True)
    }


def test_two_arms_are_a_t_test():
    rng = np.random.default_rng(0)
    one, other = rng.normal(0, 1, 8), rng.normal(0.5, 3, 8)
    cells = {("a",): pd.Series(one), ("b",): pd.Series(other)}
    for paired, test in ((True, paired_test), (False, welch)):
        (found,) = factorial_effects({"k": ["a", "b"]}, cells, paired)
        told = test(one, other)
        assert found.statistic == pytest.approx(told.t**2)
        assert found.p == pytest.approx(told.p)
        assert found.freedom == pytest.approx((1, told.degrees_of_freedom))
        assert found.size == pytest.approx(abs(told.difference.value) / 2)
        assert found.share == pytest.approx(1.0)


def by_sums_of_squares(values):
    """Analysis of variance with repeated measures, from marginal means, as textbooks have it."""
    a, b, n = values.shape
    grand = values.mean()
    m = {axes: values.mean(axis=axes, keepdims=True) for axes in ((0,), (1,), (2,), (0, 1))}
    m_a, m_b, m_s = (values.mean(axis=axes, keepdims=True) for axes in ((1, 2), (0, 2), (0, 1)))
    cells, m_as, m_bs = m[(2,)], m[(1,)], m[(0,)]
    squares = {
        "p": (b * n * ((m_a - grand) ** 2).sum(), b * ((m_as - m_a - m_s + grand) ** 2).sum()),
        "q": (a * n * ((m_b - grand) ** 2).sum(), a * ((m_bs - m_b - m_s + grand) ** 2).sum()),
    }
    both = cells - m_a - m_b + grand
    rest = values - cells - m_as - m_bs + m_a + m_b + m_s - grand
    squares["p x q"] = n * (both**2).sum(), (rest**2).sum()
    freedom = {"p": a - 1, "q": b - 1, "p x q": (a - 1) * (b - 1)}
    return {
        name: (effect / freedom[name]) / (error / (freedom[name] * (n - 1)))
        for name, (effect, error) in squares.items()
    }


@pytest.mark.parametrize("seed", range(3))
def test_seeds_in_common_are_repeated_measures(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, (2, 3, 7)) + rng.normal(0, 2, 7) + np.arange(3)[None, :, None]
    found = {" x ".join(one.keys): one for one in factorial_effects(LEVELS, cells_of(values), True)}
    for name, statistic in by_sums_of_squares(values).items():
        assert found[name].statistic == pytest.approx(statistic)
    # Greenhouse and Geisser's epsilon of the three levels of q, from their covariance.
    cov = np.cov(values.mean(axis=0))
    centre = np.eye(3) - 1 / 3
    double = centre @ cov @ centre
    epsilon = np.trace(double) ** 2 / (2 * np.trace(double @ double))
    assert found["q"].freedom == pytest.approx((2 * epsilon, 2 * epsilon * 6))
    assert sum(one.share for one in found.values()) == pytest.approx(1)


def test_sizes_by_hand():
    """Means 0 and 4 at the levels of p, and 1 more for one cell that p and q make together."""
    means = np.array([[0.0, 0, 0], [4, 4, 4]])
    means[1] += [-1, 0, 1]
    means[0] += [1, 0, -1]
    values = means[:, :, None] + np.array([-1.0, 0, 1])
    p, q, both = factorial_effects(LEVELS, cells_of(values), False)
    assert p.size == pytest.approx(2)
    assert q.size == pytest.approx(0)
    assert both.size == pytest.approx(np.sqrt(4 / 6))
    assert p.share == pytest.approx(24 / 28)


def test_replicates_that_a_cell_lacks_are_left_out_of_pairs_only():
    cells = cells_of(np.random.default_rng(0).normal(0, 1, (2, 3, 6)))
    cells[("0", "low")] = cells[("0", "low")].drop(index=[2])
    assert {one.n for one in factorial_effects(LEVELS, cells, True)} == {5}
    assert {one.n for one in factorial_effects(LEVELS, cells, False)} == {5}


def test_what_cannot_be_estimated_says_why():
    cells = cells_of(np.zeros((2, 3, 6)))
    assert all("do not vary" in one.note for one in factorial_effects(LEVELS, cells, True))
    del cells[("1", "mid")]
    assert all("fewer than two" in one.note for one in factorial_effects(LEVELS, cells, False))


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_it_is_wrong_as_often_as_it_says(paired):
    """Cells of one mean and unequal variances, one of them zero: p below 0.05 in about 5 %."""
    rng = np.random.default_rng(1)
    spread = np.array([[0.0, 1, 3], [1, 2, 1]])[:, :, None]
    small = np.zeros(3)
    for _ in range(800):
        values = spread * rng.normal(0, 1, (2, 3, 10))
        effects = factorial_effects(LEVELS, cells_of(values), paired)
        small += [one.p <= 0.05 for one in effects]
    assert ((small / 800 > 0.02) & (small / 800 < 0.085)).all(), small / 800
