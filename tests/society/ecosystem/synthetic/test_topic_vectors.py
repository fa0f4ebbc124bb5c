"""Vectors drawn from terms lie where embedded texts with these terms lie."""

import numpy as np
import pytest

from virsci_society.society.ecosystem.synthetic.large import TopicVectors


def sample(noise, count=4000, dim=32, seed=1):
    """Papers with two of six terms, whose vectors are the terms' sum and noise."""
    rng = np.random.default_rng(seed)
    axes = np.eye(dim)[:6]
    terms = np.array([rng.permutation(6)[:2] for _ in range(count)])
    rows = axes[terms].sum(axis=1) / np.sqrt(2) + noise * rng.standard_normal(
        (count, dim)
    ) / np.sqrt(dim)
    return terms, (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.5])
def test_what_is_drawn_is_as_near_to_its_like_as_the_sample(noise):
    terms, vectors = sample(noise)
    drawn = TopicVectors.of(terms, vectors, 6).draw(terms, np.random.default_rng(2))
    assert drawn.dtype == np.float32
    assert np.allclose(np.linalg.norm(drawn, axis=1), 1, atol=1e-3)
    alike = (np.sort(terms[:400])[:, None] == np.sort(terms[:400])[None]).all(axis=2)
    np.fill_diagonal(alike, False)
    ours, theirs = ((rows[:400] @ rows[:400].T)[alike].mean() for rows in (drawn, vectors))
    assert ours == pytest.approx(theirs, abs=0.08)


def test_a_term_that_the_sample_does_not_have_adds_nothing():
    terms, vectors = sample(0.2)
    mixture = TopicVectors.of(terms, vectors, 8)
    assert np.allclose(mixture.directions[6:], 0)
    drawn = mixture.draw(np.array([[0, 7], [6, 7]]), np.random.default_rng(3))
    assert drawn[0] @ mixture.directions[0] > 0.5
    assert np.linalg.norm(drawn[1]) == pytest.approx(1, abs=1e-3)


def test_the_same_stream_draws_the_same():
    terms, vectors = sample(0.5)
    mixture = TopicVectors.of(terms, vectors, 6)
    one, two, other = (mixture.draw(terms[:9], np.random.default_rng(seed)) for seed in (4, 4, 5))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
