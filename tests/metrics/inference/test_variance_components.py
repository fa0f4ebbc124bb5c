"""Components of variance: planted ones are recovered, by hand, and where there are none."""

import numpy as np
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.variance_components import variance_components

PLANTED = (1.0, 0.5, 0.25, 0.1)
"""Variance of wordings, of orders, of seeds, and the rest."""


def crossed(rng, shape, variances):
    """Values of a complete crossing of factors whose levels are drawn."""
    values = rng.normal(3.0, np.sqrt(variances[-1]), shape)
    for axis, variance in enumerate(variances[:-1]):
        effect = rng.normal(0.0, np.sqrt(variance), shape[axis])
        values += effect.reshape([-1 if axis == place else 1 for place in range(len(shape))])
    return values


def test_a_table_of_two_by_three_is_as_a_textbook_has_it():
    # Rows differ by 4; columns by 1; what is left are two cells, one up and one down by 1.
    values = np.array([[1.0, 2.0, 3.0], [5.0, 8.0, 5.0]])
    rows, columns, rest = variance_components(values, ["row", "column"])
    mean = values.mean()
    between_rows = 3 * np.square(values.mean(axis=1) - mean).sum() / 1
    between_columns = 2 * np.square(values.mean(axis=0) - mean).sum() / 2
    total = np.square(values - mean).sum()
    left = (total - between_rows - 2 * between_columns) / 2
    assert rest.variance == pytest.approx(left)
    assert rows.variance == pytest.approx((between_rows - left) / 3)
    assert columns.variance == pytest.approx(max((between_columns - left) / 2, 0.0))
    assert (rows.levels, columns.levels, rest.levels) == (2, 3, 6)
    assert rows.share + columns.share + rest.share == pytest.approx(1.0)


def test_planted_components_are_recovered_and_their_intervals_hold():
    rng, shape, draws = np.random.default_rng(5), (6, 5, 12), 400
    found = [variance_components(crossed(rng, shape, PLANTED), "wos") for _ in range(draws)]
    for place, true in enumerate(PLANTED):
        own = [one[place] for one in found]
        values = np.array([one.variance for one in own])
        # Unbiased, by four standard errors of the mean.
        assert abs(values.mean() - true) < 4 * values.std() / np.sqrt(draws)
        covered = np.mean([one.low <= true <= one.high for one in own])
        assert 0.90 <= covered <= 0.99


def test_factors_that_do_nothing_have_intervals_that_reach_zero():
    rng, draws = np.random.default_rng(6), 300
    nothing = (0.0, 0.0, 0.0, 1.0)
    found = [variance_components(crossed(rng, (4, 3, 10), nothing), "wos") for _ in range(draws)]
    above = np.mean([[one.low > 0 for one in parts[:-1]] for parts in found])
    assert above < 0.06


def test_what_cannot_be_estimated_is_refused_in_words():
    with pytest.raises(InputError, match="two levels of every factor"):
        variance_components(np.ones((1, 5)), ["w", "s"])
    with pytest.raises(InputError, match="every cell"):
        variance_components(np.array([[1.0, np.nan], [1.0, 2.0]]), ["w", "s"])


def test_values_that_do_not_vary_have_no_shares():
    parts = variance_components(np.ones((3, 4)), ["w", "s"])
    assert all(one.variance == 0 and np.isnan(one.share) for one in parts)
