"""Maximal marginal relevance: the formula by hand, its ends, ties, and its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virsci_society.society.literature.literature import maximal_marginal_relevance

# Two alike, one between them and the fourth: the cosines are 1, 0.6 and 0.8, or 0.
VECTORS = np.array([[1.0, 0.0], [1.0, 0.0], [0.6, 0.8], [0.0, 1.0]], dtype=np.float32)
RELEVANCE = np.array([1.0, 0.9, 0.7, 0.6])


def test_the_choice_by_hand():
    """First 0.7 of each relevance; then less 0.3 of the greatest cosine with one chosen before.

    After 0: item 1 has 0.63 - 0.3, item 2 0.49 - 0.18, item 3 0.42 - 0. After 3: item 1 has 0.33,
    item 2 0.49 - 0.3 x max(0.6, 0.8) = 0.25. A sum in place of the greatest would give it 0.07.
    """
    assert maximal_marginal_relevance(RELEVANCE, VECTORS, 4, 0.3) == [0, 3, 1, 2]
    assert maximal_marginal_relevance(RELEVANCE, VECTORS, 2, 0.3) == [0, 3]


def test_the_greatest_cosine_counts_and_not_the_sum():
    """Item 2 is a little like both that are chosen first; item 3 is very like one of them."""
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.6, 0.53], [0.9, 0, 0.44]], dtype=np.float32)
    relevance = np.array([1.0, 1.0, 0.5, 0.6])
    # 0.25 - 0.5 x 0.6 = -0.05 and 0.3 - 0.5 x 0.9 = -0.15; with sums it would be -0.35.
    assert maximal_marginal_relevance(relevance, vectors, 3, 0.5) == [0, 1, 2]


def test_sums_that_differ_in_their_last_bits_are_ties():
    """0.1 + 0.2 is greater than 0.3 in floating point."""
    relevance = np.array([0.3, 0.1 + 0.2])
    assert relevance[1] > relevance[0]
    assert maximal_marginal_relevance(relevance, np.eye(2, dtype=np.float32), 1, 0.0) == [0]


def test_a_row_of_zeros_is_like_no_other():
    vectors = np.array([[1, 0], [1, 0], [0, 0]], dtype=np.float32)
    assert maximal_marginal_relevance(np.array([1.0, 0.5, 0.1]), vectors, 2, 0.5) == [0, 2]


@given(
    seed=st.integers(0, 9999),
    items=st.integers(1, 12),
    count=st.integers(0, 13),
    diversity=st.floats(0, 1),
)
def test_every_choice_is_the_best_of_those_that_are_left(seed, items, count, diversity):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(items, 5))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    relevance = rng.random(items)
    chosen = maximal_marginal_relevance(relevance, vectors, count, diversity)
    assert len(chosen) == len(set(chosen)) == min(items, count)
    wide = vectors.astype(np.float64)

    def score(item, before):
        likeness = max((float(wide[item] @ wide[one]) for one in before), default=0.0)
        return (1 - diversity) * relevance[item] - diversity * likeness

    for place, item in enumerate(chosen):
        left = [one for one in range(items) if one not in chosen[:place]]
        best = max(score(one, chosen[:place]) for one in left)
        assert score(item, chosen[:place]) == pytest.approx(best, abs=1e-8)
