"""Places of scientists: by community, apart from each other, the same every time."""

import numpy as np
import pandas as pd
from scipy import sparse

from tests.metrics.html_page import assert_inert
from virsci_society.metrics.network_layout import (
    Communities,
    by_size,
    communities_of,
    find_communities,
)
from virsci_society.metrics.networks import communities
from virsci_society.metrics.report import figures, page
from virsci_society.metrics.report.page import render_page


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
    edges = np.argwhere(np.triu(matrix.toarray()))
    return Communities(names, edges, label, [""] * (label.max() + 1), "Louvain").positions


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


def test_topics_stand_for_communities_of_a_network_that_is_too_large(monkeypatch):
    monkeypatch.setattr(communities, "LARGE", 10)
    monkeypatch.setattr(communities, "find_spec", lambda name: None)
    label, method = find_communities(cliques([12]), ["a"] * 6 + ["b"] * 6, seed=1)
    assert method == "main topic"
    assert np.bincount(label).tolist() == [6, 6]


def network(edges):
    """A network of pairs with a number of joint papers."""
    return communities_of(pd.DataFrame(edges, columns=["source", "target", "papers"]), {})


def test_places_do_not_depend_on_the_order_of_edges():
    edges = [(f"S{n}", f"S{(n * 7 + 1) % 30}", 1) for n in range(30) if n != (n * 7 + 1) % 30]
    first, second = network(edges), network(edges[::-1])
    assert first.names == second.names
    np.testing.assert_array_equal(first.positions, second.positions)


def test_communities_of_one_topic_have_names_that_differ():
    clique = [(f"A{a}", f"A{b}", 1) for a in range(5) for b in range(a)]
    other = [(f"B{a}", f"B{b}", 1) for a in range(4) for b in range(a)]
    third = [("C0", "C1", 1), ("D0", "D1", 1)]
    topics = {f"{letter}{n}": "graphs" for letter in "AB" for n in range(5)} | {"C0": "vision"}
    edges = [*clique, *other, *third, ("A0", "B0", 1)]
    whole = communities_of(pd.DataFrame(edges, columns=["source", "target", "papers"]), topics)
    assert whole.labels == ["graphs around A0", "graphs around B0", "vision", "around D0"]
    assert whole.outside[whole.names.index("A0")].tolist() == [1, 1]
    assert whole.outside.sum() == 4


def test_the_page_of_a_large_network_shows_communities(run, monkeypatch):
    monkeypatch.setattr(figures, "MAX_DRAWN", 3)
    monkeypatch.setattr(page, "MAX_DRAWN", 3)
    html = render_page(run)
    assert_inert(html)
    assert "Each symbol is a community (Louvain)" in html
    assert html.count(">day ") >= 4
