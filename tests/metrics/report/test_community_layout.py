"""Places of scientists: by community, apart from each other, the same every time."""

import numpy as np
import pytest
from scipy import sparse

from virsci_society.metrics.report import network_layout as community_layout
from virsci_society.metrics.report.network_layout import (
    by_size,
    lay_out_communities,
    spread_discs,
)


def cliques(sizes, alone=0):
    """A network of cliques that share no tie, and of scientists without one."""
    count = sum(sizes) + alone
    matrix = sparse.lil_array((count, count))
    start = 0
    for size in sizes:
        matrix[start : start + size, start : start + size] = 1
        start += size
    matrix.setdiag(0)
    return sparse.csr_array(matrix)


def test_cliques_are_communities_with_places_of_their_own():
    matrix = cliques([12, 8, 5], alone=3)
    made = lay_out_communities(matrix, [""] * 28, seed=1)
    assert np.bincount(made.community).tolist() == [12, 8, 5, 3]
    assert made.positions.min() >= 0
    assert made.positions.max() <= 1
    centres = np.array([made.positions[made.community == c].mean(axis=0) for c in range(4)])
    for number, centre in enumerate(centres):
        own = made.community == number
        far = np.linalg.norm(made.positions[own] - centre, axis=1).max()
        others = np.linalg.norm(np.delete(centres, number, axis=0) - centre, axis=1).min()
        assert far < others
    assert len(np.unique(made.positions.round(6), axis=0)) == 28


def test_the_same_every_time():
    matrix = cliques([6, 6, 4])
    one, other = (lay_out_communities(matrix, [""] * 16, seed=3) for _ in range(2))
    assert one.positions.tolist() == other.positions.tolist()
    assert one.community.tolist() == other.community.tolist()


def test_nobody_and_nobody_with_a_tie():
    assert lay_out_communities(cliques([]), [], seed=1).positions.shape == (0, 2)
    alone = lay_out_communities(cliques([], alone=4), list("aabb"), seed=1)
    assert alone.method == "main topic"
    assert set(alone.community) == {0}
    assert len(np.unique(alone.positions, axis=0)) == 4


def test_topics_stand_for_communities_of_a_network_that_is_too_large(monkeypatch):
    monkeypatch.setattr(community_layout, "LARGE", 10)
    monkeypatch.setattr(community_layout, "find_spec", lambda name: None)
    topics = ["a"] * 6 + ["b"] * 6
    made = lay_out_communities(cliques([12]), topics, seed=1)
    assert made.method == "main topic"
    assert np.bincount(made.community).tolist() == [6, 6]


def test_a_large_community_lies_on_a_spiral_with_the_best_connected_inside(monkeypatch):
    monkeypatch.setattr(community_layout, "BY_FORCES", 5)
    star = sparse.lil_array((30, 30))
    star[0, 1:] = star[1:, 0] = 1
    made = lay_out_communities(sparse.csr_array(star), [""] * 30, seed=1)
    middle = made.positions.mean(axis=0)
    far = np.linalg.norm(made.positions - middle, axis=1)
    assert far.argmin() == 0


def test_discs_hardly_overlap():
    rng = np.random.default_rng(1)
    radius = rng.uniform(0.05, 0.3, 30)
    places = spread_discs(rng.uniform(-1, 1, (30, 2)), radius)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(30)
    assert (apart > 0.9 * (radius[:, None] + radius[None])).all()


@pytest.mark.parametrize(
    ("label", "wanted"), [([5, 5, 2, 2, 2], [1, 1, 0, 0, 0]), ([1, 0], [1, 0]), ([7], [0])]
)
def test_the_largest_community_is_the_first(label, wanted):
    assert by_size(np.array(label)).tolist() == wanted
