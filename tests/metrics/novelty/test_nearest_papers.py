import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from virsci_society.metrics.novelty.nearest_papers import VectorSpace, mean_pairwise_distance


def plain(points, papers, k):
    """Distances by the definition, ties by row number."""
    table = np.sqrt(((points[:, None] - papers[None]) ** 2).sum(axis=2))
    hits = np.argsort(table, axis=1, kind="stable")[:, :k]
    return table, hits


def ids(count):
    return np.array([f"P{n:04d}" for n in range(count)], dtype=object)


@given(
    arrays(np.float64, (12, 3), elements=st.floats(-5, 5, width=32)),
    arrays(np.float64, (4, 3), elements=st.floats(-5, 5, width=32)),
    st.integers(1, 12),
)
def test_neighbours_by_the_definition(papers, points, k):
    year_of = np.arange(12) % 3
    search = VectorSpace(papers, unit=False, squared=False).nearest(points, k, ids(12), year_of)
    table, _ = plain(points, papers, k)
    nearest = np.sort(table, axis=1)[:, :k]
    np.testing.assert_allclose(search.distances, nearest, atol=1e-9)
    chosen = np.take_along_axis(table, search.hits, axis=1)
    np.testing.assert_allclose(chosen, search.distances, atol=1e-12)
    for year in range(3):
        expected = table[:, year_of == year].sum(axis=1)
        np.testing.assert_allclose(search.year_sums[:, year], expected, atol=1e-5)


def test_close_papers_are_told_apart_far_from_the_origin():
    """The expanded square loses eight digits here; the hits are measured again."""
    papers = np.array([[1e4, 0.0], [1e4, 1e-4], [1e4, 3e-4], [0.0, 0.0]])
    point = np.array([[1e4, 2.1e-4]])
    search = VectorSpace(papers, unit=False, squared=False).nearest(
        point, 2, ids(4), np.zeros(4, int)
    )
    assert search.hits.tolist() == [[2, 1]]
    np.testing.assert_allclose(search.distances, [[0.9e-4, 1.1e-4]], rtol=1e-6)


def test_equal_papers_come_in_the_order_of_their_ids():
    papers = np.ones((6, 4))
    names = np.array(list("fedcba"), dtype=object)
    search = VectorSpace(papers, unit=True, squared=False).nearest(
        papers[:1], 3, names, np.zeros(6, int)
    )
    assert [names[hit] for hit in search.hits[0]] == ["a", "b", "c"]
    assert search.distances.tolist() == [[0.0, 0.0, 0.0]]
    assert search.year_sums.tolist() == [[0.0]]


def test_own_neighbours_leave_the_paper_itself_out():
    papers = np.array([[0.0], [1.0], [3.0]])
    space = VectorSpace(papers, unit=False, squared=False)
    assert space.mean_neighbour_distance(np.arange(3), 1, ids(3)) == pytest.approx((1 + 1 + 2) / 3)
    assert space.mean_neighbour_distance(np.arange(3), 9, ids(3)) == pytest.approx(
        (2 + 1.5 + 2.5) / 3
    )
    assert np.isnan(
        VectorSpace(papers[:1], False, False).mean_neighbour_distance(np.arange(1), 1, ids(1))
    )


def test_mean_pairwise_distance_by_hand():
    assert mean_pairwise_distance(np.array([[0.0], [1.0], [3.0]]), squared=False) == pytest.approx(
        2.0
    )
    assert mean_pairwise_distance(np.array([[0.0], [1.0], [3.0]]), squared=True) == pytest.approx(
        (1 + 9 + 4) / 3
    )
    assert np.isnan(mean_pairwise_distance(np.ones((1, 2)), squared=False))
    assert mean_pairwise_distance(np.ones((3, 2)), squared=False) == 0.0
