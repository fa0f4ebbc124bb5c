"""Places of scientists: by community, apart from each other, the same every time."""

import numpy as np
import pytest
from scipy import sparse

from virsci_society.metrics.report import network_layout as community_layout
from virsci_society.metrics.report.network_layout import (
    Communities,
    by_size,
    find_communities,
    spread_discs,
)


def cliques(sizes):
    """A network of cliques that share no tie."""
    count = sum(sizes)
    matrix = sparse.lil_array((count, count))
    start = 0
    for size in sizes:
        matrix[start : start + size, start : start + size] = 1
        start += size
    matrix.setdiag(0)
    return sparse.csr_array(matrix)


def laid_out(matrix, topics=None, seed=1):
    """Community and place of each scientist."""
    label = by_size(find_communities(matrix, topics or [""] * matrix.shape[0], seed)[0])
    return label, placed(matrix, label)


def placed(matrix, label):
    """Places of the scientists of a network by their communities."""
    names = [f"S{row:03d}" for row in range(matrix.shape[0])]
    return Communities(names, matrix, label, [""] * (label.max() + 1), "louvain").positions


def test_cliques_are_communities_with_places_of_their_own():
    community, positions = laid_out(cliques([12, 8, 5]))
    assert np.bincount(community).tolist() == [12, 8, 5]
    assert positions.min() >= 0
    assert positions.max() <= 1
    centres = np.array([positions[community == c].mean(axis=0) for c in range(3)])
    for number, centre in enumerate(centres):
        own = community == number
        far = np.linalg.norm(positions[own] - centre, axis=1).max()
        others = np.linalg.norm(np.delete(centres, number, axis=0) - centre, axis=1).min()
        assert far < others
    assert len(np.unique(positions.round(6), axis=0)) == 25


def test_the_same_every_time():
    one, other = (laid_out(cliques([6, 6, 4]), seed=3) for _ in range(2))
    assert one[1].tolist() == other[1].tolist()
    assert one[0].tolist() == other[0].tolist()


def test_topics_stand_for_communities_of_a_network_that_is_too_large(monkeypatch):
    monkeypatch.setattr(community_layout, "LARGE", 10)
    monkeypatch.setattr(community_layout, "find_spec", lambda name: None)
    label, method = find_communities(cliques([12]), ["a"] * 6 + ["b"] * 6, seed=1)
    assert method == "main topic"
    assert np.bincount(label).tolist() == [6, 6]


def test_a_large_community_lies_on_a_spiral_with_the_best_connected_inside(monkeypatch):
    monkeypatch.setattr(community_layout, "BY_FORCES", 5)
    star = sparse.lil_array((30, 30))
    star[0, 1:] = star[1:, 0] = 1
    positions = placed(sparse.csr_array(star), np.zeros(30, dtype=np.int64))
    far = np.linalg.norm(positions - positions.mean(axis=0), axis=1)
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
