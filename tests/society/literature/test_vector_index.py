"""VectorIndex: the nearest visible rows, exactly."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.agents.errors import ProtocolError
from virsci_society.society.literature import vector_index as index_module
from virsci_society.society.literature.columns import Ids
from virsci_society.society.literature.vector_index import VectorIndex


def brute(rows, ids, query, k, visible, exclude=frozenset()):
    ranked = sorted(
        (float(np.sqrt(np.square(rows[i].astype(np.float64) - query).sum())), ids[i], i)
        for i in range(visible)
        if ids[i] not in exclude
    )
    return [(i, distance) for distance, _, i in ranked[:k]]


def filled(rows, ids):
    index = VectorIndex(rows.shape[1])
    index.add(ids, rows)
    return index


def shuffled_ids(count, rng):
    return [f"p{number:05d}" for number in rng.permutation(count)]


def test_true_distances_not_squares():
    rows = np.array([[0.0, 0.0], [3.0, 4.0]], dtype=np.float32)
    assert filled(rows, ["a", "b"]).search(np.zeros(2, np.float32), 2, 2) == [(0, 0.0), (1, 5.0)]


def test_ties_far_beyond_the_proposals_are_still_ordered_by_id():
    rng = np.random.default_rng(0)
    rows = np.ones((1500, 8), dtype=np.float32)
    ids = shuffled_ids(1500, rng)
    hits = filled(rows, ids).search(np.zeros(8, np.float32), 3, 1400)
    assert [ids[row] for row, _ in hits] == sorted(ids[:1400])[:3]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    k=st.integers(0, 7),
    share=st.floats(0, 1),
    coarse=st.booleans(),
    hidden=st.integers(0, 12),
)
def test_search_is_brute_force(seed, k, share, coarse, hidden):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 900))
    rows = rng.normal(size=(count, 6)).astype(np.float32)
    if coarse:
        rows = np.round(rows)
    ids = shuffled_ids(count, rng)
    visible = int(share * count)
    query = rows[rng.integers(count)] if coarse else rng.normal(size=6).astype(np.float32)
    exclude = frozenset(ids[:hidden])
    found = filled(rows, ids).search(query, k, visible, exclude)
    assert found == brute(rows, ids, query, k, visible, exclude)


def test_a_search_does_not_see_what_is_added_meanwhile():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(3000, 8)).astype(np.float32)
    ids = shuffled_ids(3000, rng)
    index = filled(rows[:600], ids[:600])
    query = rng.normal(size=8).astype(np.float32)
    expected = index.search(query, 5, 600)
    seen = []

    def add():
        for start in range(600, 3000, 40):
            index.add(ids[start : start + 40], rows[start : start + 40])

    writer = threading.Thread(target=add)
    writer.start()
    while writer.is_alive():
        seen.append(index.search(query, 5, 600))
    writer.join()
    seen.append(index.search(query, 5, 600))
    assert all(found == expected for found in seen)
    assert len(index) == 3000


@pytest.mark.parametrize(
    ("ids", "shape"), [(["a"], (1, 2)), (["x", "x"], (2, 2)), (["x"], (1, 3)), (["x"], (2, 2))]
)
def test_rows_that_do_not_fit_are_refused_and_nothing_is_added(ids, shape):
    index = filled(np.zeros((1, 2), np.float32), ["a"])
    with pytest.raises(ProtocolError):
        index.add(ids, np.zeros(shape, np.float32))
    assert len(index) == 1


@pytest.mark.parametrize(("k", "visible"), [(-1, 1), (1, 2), (1, -1)])
def test_a_search_outside_the_index_is_refused(k, visible):
    index = filled(np.zeros((1, 2), np.float32), ["a"])
    with pytest.raises(ProtocolError, match="visible"):
        index.search(np.zeros(2, np.float32), k, visible)


def test_rows_of_the_past_and_added_ones_are_read_together(monkeypatch):
    """A past that is searched by cells lies apart from what is added."""
    monkeypatch.setattr(index_module, "EXACT_UP_TO", 50)
    rows = np.random.default_rng(4).normal(size=(90, 3)).astype(np.float32)
    ids = [f"p{number:05d}" for number in range(90)]
    apart = VectorIndex(3, Ids(ids[:60]), rows[:60])
    apart.add(ids[60:], rows[60:])
    wanted = np.array([88, 3, 59, 60, 3, 71])
    for index in (apart, filled(rows, ids)):
        assert np.array_equal(index.rows(wanted), rows[wanted])
        assert index.rows(wanted[:0]).shape == (0, 3)
